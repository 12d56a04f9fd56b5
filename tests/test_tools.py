"""The programs in tools/ that check the repository itself."""
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tools"))
import commit_subject  # noqa: E402
import sizes  # noqa: E402


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Short\n\nand a body that may be as long as it likes, " + "x" * 200 + "\n", []),
        ("x" * 72 + "\n", []),
        ("x" * 73, ["Got 73 characters, expected at most 72"]),
        ("Two\nlines\n", ["the second line is not empty"]),
        ("# only what git says\n", ["the message is empty"]),
        ("Kept\n# a comment of git, " + "x" * 90, []),
    ],
)
def test_subjects_of_commits_have_at_most_72_characters(message, expected):
    found = commit_subject.faults(message)
    assert len(found) == len(expected)
    assert all(part in fault for part, fault in zip(expected, found))


def test_lines_of_python_are_counted_without_docstrings_comments_and_empty_lines():
    text = '"""Of the\n\nmodule."""\nimport os\n\n# why\ndef f():\n    """What."""\n    return """a\nb"""  # said\n\nx = [\n    1,\n]\n'
    assert sizes.python_lines(text) == 7  # import; def; return, two lines; the list, three


def test_lines_of_cython_are_counted_without_docstrings_and_comments():
    assert sizes.cython_lines('"""Of the\nmodule."""\ncdef int f() except -1:\n    """What."""\n    # why\n    return 0\n') == 2


def test_lines_of_c_and_javascript_are_counted_without_comments():
    assert sizes.c_lines('/* of the\n file */\nint a; // why\n// alone\n\nconst char *s = "// no comment";\n') == 2
    assert sizes.c_lines("const s = `/* text\n*/`;\n") == 2


def wheel_of(folder, name, version="1.0", requires=(), extras=(), files=None, scripts=""):
    """A wheel as pip installs it."""
    info = f"{name}-{version}.dist-info"
    contents = {f"{name}/__init__.py": f"VERSION = {version!r}\n", **(files or {})}
    contents[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires)
        + "".join(f"Provides-Extra: {one}\n" for one in extras)
    )
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if scripts:
        contents[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}\n"
    contents[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*contents, f"{info}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name_of_file, text in contents.items():
            archive.writestr(name_of_file, text)
    return path


INSTALL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import wheels
wheels.CACHE = Path(sys.argv[2])
wheels.install([Path(path) for path in sys.argv[4:]], set(filter(None, sys.argv[3].split(","))))
"""


@pytest.fixture
def shelf(tmp_path):
    """Two packages of ours, and what they need of others, as wheels; nothing is asked of an index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    return SimpleNamespace(
        folder=folder,
        below=wheel_of(folder, "wherry_below", requires=["other>=1"]),
        above=wheel_of(folder, "wherry_above", requires=["wherry-below[more]>=1", "tester>=1; extra == 'test'"], extras=["test"]),
        others=[
            wheel_of(folder, "other"), wheel_of(folder, "tester", requires=["other"], scripts="say = tester:say",
                                                files={"tester/__init__.py": "def say(): print('said')\n"}),
        ],
    )


def environment(tmp_path, name, shelf):
    """An empty virtual environment, and a function that installs there as tox does."""
    venv.create(tmp_path / name, with_pip=True)
    python = tmp_path / name / "bin" / "python"

    def install(*packages, tests_of=""):
        variables = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf.folder)}
        variables.pop("PYTHONPATH", None)
        return subprocess.run([python, "-c", INSTALL, ROOT / "tools", tmp_path / "cache", tests_of, *packages],
                              capture_output=True, text=True, env=variables)

    def run(code):
        return subprocess.run([python, "-c", code], capture_output=True, text=True, env={}).stdout.strip()

    return SimpleNamespace(install=install, run=run, bin=python.parent)


@pytest.mark.slow
def test_environments_hold_what_is_declared_and_share_what_was_installed_once(tmp_path, shelf):
    first, second = (environment(tmp_path, name, shelf) for name in ("first", "second"))
    assert first.install(shelf.below, tests_of="wherry-below").returncode == 0
    assert first.run("import other; print(other.VERSION)") == "1.0"
    assert first.run("import importlib.util as u; print([u.find_spec(name) for name in ('tester', 'wherry_above')])") == "[None, None]"

    for one in (first, second):
        done = one.install(shelf.below, shelf.above, tests_of="wherry-above")
        assert done.returncode == 0, done.stderr
        assert one.run("import wherry_above, wherry_below, other, tester; print(wherry_below.VERSION)") == "1.0"
        assert one.run("import importlib.metadata as m; print(m.version('wherry-above'))") == "1.0"
        assert subprocess.run([one.bin / "say"], capture_output=True, text=True).stdout == "said\n"
        assert (one.bin / "say").read_text().startswith(f"#!{one.bin / 'python'}")
    files = [one.run("import other, os; print(os.stat(other.__file__).st_ino)") for one in (first, second)]
    assert files[0] == files[1]
    assert first.run("import other, os; print(os.path.exists(other.__cached__))") == "True"

    # A new version takes the place of the old one.
    newer = wheel_of(shelf.folder, "wherry_below", "1.1", requires=["other>=1"], files={"wherry_below/added.py": ""})
    assert first.install(newer, tests_of="wherry-below").returncode == 0
    assert first.run("import wherry_below.added; print(wherry_below.VERSION)") == "1.1"
    assert first.run("import importlib.metadata as m; print([d.version for d in m.distributions() if d.name == 'wherry_below'])") == "['1.1']"
    assert second.run("import wherry_below; print(wherry_below.VERSION)") == "1.0"

    # What pip has installed is replaced where it is ours, and left where it is not.
    pip = [second.bin / "python", "-m", "pip", "install", "-qq", "--no-index", "--no-deps", "--force-reinstall"]
    later = wheel_of(shelf.folder, "extra_tool")
    subprocess.run([*pip, shelf.below, later], check=True)
    assert second.install(newer, tests_of="wherry-below").returncode == 0
    assert second.run("import wherry_below.added, extra_tool, other; print(wherry_below.VERSION)") == "1.1"
    assert second.run("import importlib.metadata as m; print([d.version for d in m.distributions() if d.name == 'wherry_below'])") == "['1.1']"

    # Wheels that do not fit to each other are refused.
    above = wheel_of(shelf.folder, "wherry_above", "2.0", requires=["wherry-below>=2"])
    done = second.install(shelf.below, above, tests_of="wherry-above")
    assert done.returncode == 1
    assert "wherry-above does not fit. It requires wherry-below>=2, and wherry-below here is 1.0" in done.stderr
