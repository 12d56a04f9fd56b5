"""tools/release.py: what it writes beside the wheels, and what it refuses."""
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import package_table  # noqa: E402
import release  # noqa: E402
import wheels  # noqa: E402

TEXT = package_table.packages()["text"]
METADATA = """Metadata-Version: 2.4
Name: wherry-text
Version: 0.1.0
Summary: texts
License-Expression: Apache-2.0
License-File: LICENSE
Project-URL: Homepage, https://pypi.org/project/wherry-text/
Requires-Python: >=3.11
Requires-Dist: wherry-train>=0.9
Requires-Dist: numpy>=1.26
Requires-Dist: pytest>=8; extra == 'test'
"""


@pytest.fixture
def dist(tmp_path, monkeypatch):
    """An empty dist/, and a function that puts a wheel there."""
    monkeypatch.setattr(release, "DIST", tmp_path)

    def put(name="wherry_text-0.1.0-py3-none-any.whl", text=METADATA, files=("wherry_text-0.1.0.dist-info/licenses/LICENSE",)) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            wheel.writestr("wherry_text-0.1.0.dist-info/METADATA", text)
            wheel.writestr("wherry_text-0.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            for file in files:
                wheel.writestr(file, "")
        return tmp_path / name

    return put


def test_a_package_that_changed_needs_a_new_version_and_no_other_gets_one():
    before = {name: {"version": "1.0", "digest": "a"} for name in ("same", "changed", "moved", "both")}
    now = {
        "same": {"version": "1.0", "digest": "a"}, "changed": {"version": "1.0", "digest": "b"}, "moved": {"version": "1.1", "digest": "a"},
        "both": {"version": "1.1", "digest": "b"}, "new": {"version": "0.1", "digest": "c"},
    }
    faults = release.unmoved_versions(before, now)
    assert [fault.split()[0] for fault in faults] == ["changed", "moved"]
    assert "Give it a new version" in faults[0] and "leave the version" in faults[1]


def test_what_a_version_is_made_of_does_not_depend_on_its_number():
    made = release.made_of()
    assert set(made) == {package.project for package in package_table.packages().values()}
    text = (TEXT.folder / "pyproject.toml").read_bytes()
    strip = re.compile(rb'(?m)^(__version__|version) = ".*"$')
    assert strip.sub(b"", text) == strip.sub(b"", text.replace(f'version = "{TEXT.version}"'.encode(), b'version = "9.9"'))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (dict(files=()), "has no licence"),
        (dict(text=METADATA.replace("Project-URL", "X-URL")), "has no Project-URL"),
        (dict(text=METADATA.replace("wherry-train>=0.9", "wherry-train @ file:///here")), "asks for a folder of this machine"),
        (dict(name="wherry_text-0.1.0-cp311-abi3-linux_x86_64.whl"), "has a tag that no index takes"),
        (dict(name="wherry_text-0.1.0-cp314-cp314-emscripten_5_0_3_wasm32.whl"), "has a tag that no index takes"),
        (dict(name="wherry_text-0.1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl"), None),
        (dict(name="wherry_text-0.1.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"), None),
        (dict(), None),
    ],
    ids=["licence", "url", "folder", "tag", "emscripten", "pyodide", "manylinux", "whole"],
)
def test_what_an_index_would_refuse_is_refused(dist, change, fault):
    wheel = dist(**change)
    assert release.faults_of(wheel) == ([f"{wheel.name} {fault}"] if fault else [])


def test_the_bill_of_materials_is_cyclonedx_with_the_digest_of_each_file(dist):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    wheel = dist()
    bill = release.bill_of_materials([wheel])
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill))
    assert fault is None, fault
    assert bill["components"][0]["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert [component["name"] for component in bill["components"]] == ["wherry-text", "numpy"]  # pytest is for tests only
    assert bill == release.bill_of_materials([wheel])


def test_an_index_in_a_folder_serves_pip(dist, tmp_path):
    dist()
    release.write_index(tmp_path / "simple", release.archives())
    page = (tmp_path / "simple" / "wherry-text" / "index.html").read_text()
    assert "sha256=" in page and 'data-requires-python="&gt;=3.11"' in page
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--isolated", "--index-url", (tmp_path / "simple").as_uri()]
    done = subprocess.run([*command, "-d", tmp_path / "got", "wherry-text"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "got").glob("wherry_text-0.1.0-py3-none-any.whl"))


def test_the_same_sources_make_the_same_bytes(tmp_path, monkeypatch):
    """Of an sdist and of a wheel, built twice; the sdist holds the package alone and nothing that is compiled."""
    digests = []
    for at in ("first", "second"):
        monkeypatch.setattr(release, "DIST", tmp_path / at)
        monkeypatch.setattr(wheels, "WHEELHOUSE", tmp_path / at)
        release.build_sdist(TEXT)
        wheels.build_one(sys.executable, "text", "d", native=False)
        assert all(release.faults_of(file) == [] for file in release.archives())
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in release.archives()])
    assert len(digests[0]) == 2 and digests[0] == digests[1]


def test_changelogs_are_joined(monkeypatch):
    said = release.changelogs([TEXT])
    assert said.startswith("# What is new\n\n## wherry-text ")


def test_beside_the_wheels_stands_which_pythons_they_are_for(tmp_path):
    for tag in ("cp311-cp311-manylinux_2_27_x86_64", "cp312-cp312-manylinux_2_27_x86_64", "py3-none-any"):
        (tmp_path / f"wherry_tensor-1-{tag}.whl").touch()
    assert "CPython 3.11, 3.12, on manylinux_2_27_x86_64." in wheels.readme(tmp_path)


def test_tools_are_pinned_by_digest():
    for pins in (ROOT / "tools" / "pins").glob("*.txt"):
        requirements = re.findall(r"(?m)^\S.*(?:\n    .*)*", pins.read_text())
        assert requirements and all("==" in one and "--hash=sha256:" in one for one in requirements), pins.name


PIP_AUDIT = """#!/usr/bin/env python3
import json, sys
print(json.dumps({{"dependencies": {pinned!r} if "-r" in sys.argv else {installed!r}}})) if {answers} else sys.exit("no route to host")
"""
FINE = {"name": "hatchling", "version": "1.33.0", "vulns": []}
FAULTY = {"name": "numpy", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
UNHEARD = {"name": "ninja", "skip_reason": "Dependency not found on PyPI and could not be audited: ninja (1.13.2)"}
OF_THE_ENVIRONMENT = {"name": "pip", "version": "1.0", "vulns": [{"id": "PYSEC-2", "fix_versions": []}]}


@pytest.mark.parametrize(("pinned", "installed", "status", "said"), [
    ([FINE], [FINE, OF_THE_ENVIRONMENT], 0, "no known faults in 1 packages"),
    ([FINE], [FAULTY], 1, "numpy (1.0) has a known fault: PYSEC-1, mended in 1.1"),
    ([FINE, UNHEARD], [], 1, "whether ninja (1.13.2) have known faults is not known, as 1 of 2 got no answer"),
])
def test_an_audit_tells_faults_and_what_nobody_knows(pinned, installed, status, said, tmp_path, monkeypatch, capsys):
    program = pip_audit(tmp_path, monkeypatch)
    program.write_text(PIP_AUDIT.format(pinned=pinned, installed=installed, answers=True))
    assert release.audit() == status
    assert said in capsys.readouterr().out


def test_an_audit_without_a_network_says_so(tmp_path, monkeypatch):
    program = pip_audit(tmp_path, monkeypatch)
    program.write_text(PIP_AUDIT.format(pinned=[], installed=[], answers=False))
    with pytest.raises(SystemExit, match="could not tell whether there are known faults: no route to host"):
        release.audit()


def pip_audit(folder: Path, monkeypatch) -> Path:
    """Where a program is to be written that release.audit takes for pip-audit."""
    monkeypatch.setattr(release, "tool_environment", lambda *_: folder)
    program = folder / "bin" / "pip-audit"
    program.parent.mkdir()
    program.touch(mode=0o755)
    return program
