"""paddle.hub of folders on this machine."""
import zipfile

import pytest

from wherry_train import hub


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "beside.py").write_text("scale = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\nimport beside as _beside\ndef _hidden(): pass\n"
        "def line(a, b=2):\n    'a line'\n    return a * _beside.scale, b\n"
    )
    return str(tmp_path)


def test_models_are_listed_described_and_made(folder):
    assert hub.list(folder, source="local") == ["line"]
    assert hub.help(folder, "line", source="local") == "a line"
    assert hub.load(folder, "line", source="local", a=5) == (15, 2)


def test_what_is_not_there_is_named(folder, tmp_path):
    with pytest.raises(RuntimeError, match="Cannot find callable nope in hubconf.*expected one of line"):
        hub.load(folder, "nope", source="local")
    with pytest.raises(ValueError, match="model should be a str"):
        hub.load(folder, 3, source="local")
    with pytest.raises(RuntimeError, match="there is no hubconf.py"):
        hub.list(str(tmp_path / "none"), source="local")
    with pytest.raises(ValueError, match='Unknown source: "x"'):
        hub.list(folder, source="x")
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="Unknown source"):
        hub.list(folder, source=deep)
    with pytest.raises(ValueError, match="expected owner/name"):
        hub.list("../../etc", source="github")


def test_missing_packages_are_named(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package']\ndef one(): pass\n")
    assert hub.list(str(tmp_path), source="local") == ["one"]
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        hub.load(str(tmp_path), "one", source="local")


def test_an_archive_is_one_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as file:
        file.writestr("name-main/hubconf.py", "")
    assert hub.unpack(str(tmp_path / "good.zip"), str(tmp_path / "a")) == str(tmp_path / "a" / "name-main")
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(RuntimeError, match="cannot be unpacked"):
        hub.unpack(str(tmp_path / "bad.zip"), str(tmp_path / "b"))
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as file:
        file.writestr("a/x", "")
        file.writestr("b/x", "")
    with pytest.raises(RuntimeError, match="expected one folder"):
        hub.unpack(str(tmp_path / "two.zip"), str(tmp_path / "c"))
