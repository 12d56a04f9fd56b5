"""tools/wasm/build.py: what wheels for a tab go without, and that an index holds one state."""
from __future__ import annotations

import base64
import csv
import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TAG = "pyemscripten_2099_0_wasm32"


@pytest.fixture
def build(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "wasm"))
    before = set(sys.modules)
    import build

    yield build
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def target(build):
    one = build.Target("99", "99.0.0", "3.99", "9")
    one.__dict__["tag"] = TAG  # else Pyodide's own list says it
    return one


def wheel_of(folder: Path, name: str, *files: str) -> Path:
    facts = "some-1.0.dist-info"
    content = {file: file.encode() for file in files}
    content[f"{facts}/WHEEL"] = f"Wheel-Version: 1.0\nTag: {name.removesuffix('.whl').split('-', 2)[2]}\n".encode()
    rows = [f"{file},sha256=0,{len(data)}" for file, data in content.items()]
    content[f"{facts}/RECORD"] = "\n".join([*rows, f"{facts}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(folder / name, "w") as archive:
        for file, data in content.items():
            archive.writestr(file, data)
    return folder / name


def test_headers_and_stubs_stay_behind(build, target, tmp_path):
    slim = build.slim(wheel_of(tmp_path, "some-1.0-py3-none-any.whl", "some/a.py", "some/a.pyi", "some/include/a.h", "some/py.typed"), target)
    assert [path.name for path in tmp_path.iterdir()] == [slim.name] == [f"some-1.0-py3-none-{TAG}.whl"]
    with zipfile.ZipFile(slim) as archive:
        assert set(archive.namelist()) == {"some/a.py", "some/py.typed", "some-1.0.dist-info/WHEEL", "some-1.0.dist-info/RECORD"}
        facts = archive.read("some-1.0.dist-info/WHEEL")
        rows = {name: (digest, size) for name, digest, size in csv.reader(archive.read("some-1.0.dist-info/RECORD").decode().splitlines())}
    assert f"Tag: py3-none-{TAG}\n".encode() in facts
    assert set(rows) == {"some/a.py", "some/py.typed", "some-1.0.dist-info/WHEEL", "some-1.0.dist-info/RECORD"}
    digest = base64.urlsafe_b64encode(hashlib.sha256(facts).digest()).rstrip(b"=").decode()
    assert rows["some-1.0.dist-info/WHEEL"] == (f"sha256={digest}", str(len(facts)))


def test_a_wheel_that_is_whole_keeps_its_name(build, target, tmp_path):
    wheel = wheel_of(tmp_path, "some-1.0-py3-none-any.whl", "some/a.py")
    before = wheel.read_bytes()
    assert build.slim(wheel, target) == wheel and wheel.read_bytes() == before


def test_a_wheel_of_another_pyodide_gets_this_ones_name(build, target, tmp_path):
    assert build.slim(wheel_of(tmp_path, "some-1.0-py3-none-pyemscripten_2025_0_wasm32.whl", "some/a.py"), target).name.endswith(f"-{TAG}.whl")


def test_one_index_holds_one_state(build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    for target, version in ((build.PAGES, "2"), (build.NEXT, "1")):
        target.wheelhouse.mkdir(parents=True)
        (target.wheelhouse / f"wherry_tensor-{version}-py3-none-any.whl").touch()
    (fault,) = build.unlike()
    assert "not of the same state: wherry_tensor 2 and 1. Type  python tools/wasm/build.py; python tools/wasm/build.py --for 314" in fault
    (build.NEXT.wheelhouse / "wherry_tensor-1-py3-none-any.whl").rename(build.NEXT.wheelhouse / "wherry_tensor-2-py3-none-any.whl")
    assert not build.unlike()


def test_libcst_comes_without_what_is_compiled(build, target, tmp_path, monkeypatch):
    import libcst_wheel

    def download(command, **_):
        folder = Path(command[command.index("-d") + 1])
        wheel = wheel_of(folder, "libcst-1.0-cp39-cp39-manylinux.whl", "libcst/a.py", "libcst/a.pyi", "libcst/native.cpython.so", "libcst/tests/b.py",
                         "libcst/codemod/c.py", "libcst/_nodes/tests/d.py", "libcst/tool.py", "libcst/_parser/e.py")
        assert "libcst==" in command[-1] and wheel.exists()

    monkeypatch.setattr(build, "run", download)
    target.__dict__["host"] = tmp_path
    monkeypatch.setattr(build.Target, "kept", lambda self, name: tmp_path / name)
    libcst_wheel.make(target)
    (made,) = (tmp_path / "libcst").glob("libcst-*-py3-none-any.whl")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        assert [name for name in names if name.startswith("libcst/")] == ["libcst/a.py", "libcst/_parser/e.py"]
        (record,) = (name for name in names if name.endswith("/RECORD"))
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert [row[0] for row in rows] == names
        assert all(row[1] == f"sha256={libcst_wheel.digest(archive.read(row[0]))}" for row in rows if row[1])
