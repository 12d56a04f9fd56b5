"""Files that belong together are replaced together, whatever happens in between."""
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from wherry_graph.paddle_files import store


def put(text):
    return lambda file: file.write(text.encode())


def content(folder):
    return {name: (folder / name).read_text() for name in sorted(os.listdir(folder)) if not name.startswith(".")}


def test_files_appear_together_and_nothing_stays_behind(tmp_path):
    paths = [str(tmp_path / name) for name in ("m", "p", "i")]
    store.replace_files([(path, put("1")) for path in paths])
    store.replace_files([(paths[0], put("2")), (paths[1], put("2")), (paths[2], None)])
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"m": "2", "p": "2"}


def test_an_error_leaves_what_was_there(tmp_path, monkeypatch):
    paths = [str(tmp_path / name) for name in ("m", "p")]
    store.replace_files([(path, put("1")) for path in paths])

    def fail(file):
        file.write(b"half")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        store.replace_files([(paths[0], put("2")), (paths[1], fail)])
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"m": "1", "p": "1"}

    real, calls = os.rename, []

    def rename(a, b):
        calls.append(b)
        if len(calls) == 4:  # the last: the program
            raise OSError("gone")
        real(a, b)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OSError, match="gone"):
        store.replace_files([(paths[0], put("2")), (paths[1], put("2"))])
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"m": "1", "p": "1"}


@pytest.mark.parametrize("at", range(1, 8))
def test_a_process_that_dies_anywhere_leaves_no_pair_of_different_saves(tmp_path, at):
    for name in ("m", "p", "i"):
        (tmp_path / name).write_text("1")
    program = textwrap.dedent(f"""
        import os, sys
        sys.path.insert(0, {os.path.dirname(store.__file__)!r})
        import store
        real, calls = os.rename, []
        def rename(a, b):
            calls.append(b)
            if len(calls) == {at}:
                os._exit(9)
            real(a, b)
        os.rename = rename
        store.replace_files([(os.path.join({str(tmp_path)!r}, name), lambda file: file.write(b"2")) for name in "mpi"])
    """)
    done = subprocess.run([sys.executable, "-c", program], timeout=60)
    assert done.returncode == (9 if at < 7 else 0)
    found = content(tmp_path)
    assert "m" not in found or set(found.values()) in ({"1"}, {"2"}), found
    if "m" not in found:
        (old,) = store.left_behind(str(tmp_path / "m"))
        assert Path(old).read_text() == "1"


def test_rights_and_links_stay(tmp_path):
    target, link = tmp_path / "there", tmp_path / "link"
    target.write_text("1")
    target.chmod(0o640)
    link.symlink_to(target)
    store.replace_files([(str(link), put("2"))])
    assert link.is_symlink()
    assert target.read_text() == "2"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match="folder"):
        store.replace_files([(str(tmp_path), put("1"))])
