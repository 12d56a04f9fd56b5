"""A bundle in one HTML file: what is in it, what its policy allows, and what is refused. Browsers open it in tests/browser."""
import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest

import wherry_nn as nn
from wherry_export.web import engine_files, export, single
from wherry_program.program.input_spec import InputSpec

pytestmark = pytest.mark.skipif(engine_files.missing() is not None, reason=str(engine_files.missing()))
SPEC = [InputSpec([None, 4], "float32", "x")]


class Page(HTMLParser):
    """The elements of a page: (tag, attributes, text)."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        self.elements.append([f"/{tag}", {}, ""])

    def handle_data(self, data):
        if self.elements:
            self.elements[-1][2] += data

    def of(self, tag):
        return [(attributes, text) for name, attributes, text in self.elements if name == tag]


@pytest.fixture(scope="module")
def net():
    return nn.Linear(4, 3)


def source(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_one_file_holds_the_bundle_and_names_nothing_elsewhere(tmp_path, net):
    made = export(net, tmp_path / "one.html", input_spec=SPEC, title='</script><b>"&', example=[[[1.0, 2.0, 3.0, 4.0]]], single_file=True)
    assert [path.name for path in tmp_path.iterdir()] == ["one.html"]
    content = made.folder.read_bytes()
    assert made.is_single and made.files == {"one.html": len(content)} and made.compressed < len(content)
    assert str(made).startswith(f"{made.folder}: one file, ") and made.folder.as_uri() in str(made)

    page = Page(content.decode())
    held = {at["data-file"]: base64.b64decode(text) for at, text in page.of("script") if "data-file" in at}
    manifest = json.loads(held["manifest.json"])
    told = [manifest["engine"], manifest["program"], *manifest["weights"], *manifest["example"]]
    assert manifest["title"] == '</script><b>"&' and held.keys() == {"manifest.json", *(one["url"] for one in told)}
    for one in told:
        assert (len(held[one["url"]]), hashlib.sha256(held[one["url"]]).hexdigest()) == (one["bytes"], one["sha256"])
    for tag, attributes, _ in page.elements:
        for name in ("src", "href", "action", "srcset"):
            assert name not in attributes or attributes[name].startswith(("data:", "#")), (tag, attributes)
    visible = b"".join(part.partition(b"</script>")[2] for part in content.split(b'data-file="'))
    assert b"http://" not in visible and b"https://" not in content and b"<b>" not in content


def test_its_policy_allows_the_script_and_the_style_in_it_and_no_request(tmp_path, net):
    export(net, tmp_path / "one.html", input_spec=SPEC, single_file=True)
    page = Page((tmp_path / "one.html").read_text(encoding="utf-8"))
    (script,) = [text for at, text in page.of("script") if "data-file" not in at]
    ((_, style),) = page.of("style")
    (policy,) = [at["content"] for at, _ in page.of("meta") if at.get("http-equiv") == "Content-Security-Policy"]
    rules = {words[0]: words[1:] for words in (rule.split() for rule in policy.split("; "))}
    assert rules == {
        "default-src": ["'none'"], "script-src": [source(script), "'wasm-unsafe-eval'"], "worker-src": ["blob:"], "style-src": [source(style)],
        "img-src": ["data:", "blob:"], "base-uri": ["'none'"], "form-action": ["'none'"],
    }
    assert not any(name.startswith("on") or name == "style" for _, attributes, _ in page.elements for name in attributes)
    assert script == single.script() and "import.meta" not in script


def test_the_folder_has_the_page_that_becomes_the_same_file(tmp_path, net):
    export(net, tmp_path / "site", input_spec=SPEC, title="one")
    export(net, tmp_path / "one.html", input_spec=SPEC, title="one", single_file=True)
    files = {path.relative_to(tmp_path / "site").as_posix(): path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert single.filled(files) == (tmp_path / "one.html").read_bytes()


def test_one_file_replaces_an_earlier_one_and_nothing_else(tmp_path, net):
    for title in ("first", "again"):
        export(net, tmp_path / "one.html", input_spec=SPEC, title=title, single_file=True)
    assert "<title>again</title>" in (tmp_path / "one.html").read_text()
    for other in ("letter.html", "folder.html"):
        if other.startswith("letter"):
            (tmp_path / other).write_text("dear")
        else:
            (tmp_path / other).mkdir()
        with pytest.raises(ValueError, match=f"{other} is something else. Got a path in use, expected a new one"):
            export(net, tmp_path / other, input_spec=SPEC, single_file=True)
    assert (tmp_path / "letter.html").read_text() == "dear"


@pytest.mark.parametrize(("name", "options", "message"), [
    ("site", {}, "with single_file the path is that of an HTML file. Got '.*site', expected '.*site.html'"),
    ("one.html", {"engine": "train"}, "a bundle that trains loads Pyodide .* Got single_file=True with engine='train', expected engine='predict'"),
])
def test_what_one_file_cannot_be_is_refused(tmp_path, net, name, options, message):
    with pytest.raises(ValueError, match=message):
        export(net, tmp_path / name, input_spec=SPEC, single_file=True, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_cannot_be_inlined_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(single, "HERE", tmp_path)
    for module in (*single.MODULES, *single.ENDS):
        (tmp_path / module).parent.mkdir(exist_ok=True)
        (tmp_path / module).write_text("export const value = 1;\n")
    for line, message in ('import "./core.js";', "a form that is not known"), ('const end = "</script>";', "ends a script element"):
        (tmp_path / single.MODULES[0]).write_text(f"{line}\n")
        with pytest.raises(AssertionError, match=message):
            single.script()
