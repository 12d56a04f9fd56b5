"""Files that belong together are replaced together, whatever happens in between."""
import json
import os
import subprocess
import sys
import textwrap

import pytest

from wherry_train import atomic_files as files


def put(text):
    return lambda file: file.write(text.encode())


def content(folder):
    return {name: (folder / name).read_text() for name in sorted(os.listdir(folder)) if not name.startswith(".")}


def test_files_appear_together_and_nothing_stays_behind(tmp_path):
    paths = [str(tmp_path / name) for name in ("m", "p", "i")]
    files.replace_files([(path, put("1")) for path in paths])
    files.replace_files([(paths[0], put("2")), (paths[1], put("2")), (paths[2], None)])
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"m": "2", "p": "2"}


@pytest.mark.skipif(not hasattr(os, "link"), reason="the system has no links: there the next reader finishes what is decided, as the next test asks")
@pytest.mark.parametrize("call", ["write", "link", "replace"])
@pytest.mark.parametrize("at", range(1, 5))
def test_an_error_leaves_what_was_there(tmp_path, monkeypatch, call, at):
    paths = [str(tmp_path / name) for name in ("m", "p")]
    files.replace_files([(path, put("1")) for path in paths])
    calls = []

    def failing(real):
        def wrapped(*args, **kwargs):
            calls.append(args)
            if len(calls) == at:
                raise OSError("no room")
            return real(*args, **kwargs)
        return wrapped

    def write(file):
        failing(file.write)(b"2")

    if call != "write":
        monkeypatch.setattr(os, call, failing(getattr(os, call)))
    raised = None
    try:
        files.replace_files([(path, write if call == "write" else put("2")) for path in paths])
    except OSError as error:
        raised = error
    found = {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)}
    assert found == ({"m": "2", "p": "2"} if raised is None else {"m": "1", "p": "1"}), (raised, calls)
    assert (raised is not None) or call == "link" or len(calls) < at  # where there are no links, it writes without them


@pytest.mark.parametrize("known", [True, False], ids=["refused", "unknown to the system"])
def test_without_links_what_is_decided_is_finished_by_the_next_reader(tmp_path, monkeypatch, known):
    paths = [str(tmp_path / name) for name in ("m", "p")]
    files.replace_files([(path, put("1")) for path in paths])
    calls = []

    def no_links(*args, **kwargs):
        raise OSError("no links")

    def replace(a, b, real=os.replace):
        calls.append(b)
        if len(calls) == 3:  # after the journal and the first file
            raise OSError("gone")
        real(a, b)

    with monkeypatch.context() as patch:
        if known:
            patch.setattr(os, "link", no_links, raising=False)
        else:
            patch.delattr(os, "link", raising=False)
        patch.setattr(os, "replace", replace)
        with pytest.raises(OSError, match="gone"):
            files.replace_files([(path, put("2")) for path in paths])
    files.finish_replacing(paths[0])
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"m": "2", "p": "2"}


CALLS = ("open", "link", "replace", "rename", "unlink", "fsync", "fchmod", "stat", "listdir", "makedirs")


@pytest.mark.parametrize("before", [True, False])
def test_a_process_that_dies_at_any_call_leaves_the_old_files_or_the_new_ones(tmp_path, before):
    """The program counts its calls of the system and ends itself at each of them in turn."""
    program = textwrap.dedent(f"""
        import os, sys
        at, folder = int(sys.argv[1]), sys.argv[2]
        from wherry_train import atomic_files as files
        count = 0
        def dying(real):
            def wrapped(*args, **kwargs):
                global count
                count += 1
                if count == at:
                    os._exit(9)
                return real(*args, **kwargs)
            return wrapped
        for name in {CALLS!r}:
            setattr(os, name, dying(getattr(os, name)))
        files.replace_files([(os.path.join(folder, name), lambda file: file.write(b"2")) for name in "mpi"])
    """)
    # One interpreter that forks is many times as fast as one for each call.
    runner = textwrap.dedent(f"""
        import os, sys
        import wherry_train.atomic_files
        source = {program!r}
        root, before = sys.argv[1], sys.argv[2] == "True"
        at = 0
        while True:
            at += 1
            folder = os.path.join(root, str(at))
            os.mkdir(folder)
            if before:
                for name in "mpi":
                    with open(os.path.join(folder, name), "w") as file:
                        file.write("1")
            child = os.fork()
            if child == 0:
                sys.argv = ["-c", str(at), folder]
                exec(compile(source, "program", "exec"), {{}})
                os._exit(0)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
                break
        print(at)
    """)
    done = subprocess.run([sys.executable, "-c", runner, str(tmp_path), str(before)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 20
    seen = set()
    for at in range(1, steps + 1):
        folder = tmp_path / str(at)
        files.finish_replacing(str(folder / "m"))
        found = content(folder)
        allowed = [dict.fromkeys("imp", text) for text in ("1", "2")] if before else [{}, dict.fromkeys("imp", "2")]
        assert found in allowed, (at, found)
        seen.add(json.dumps(found))
        files.replace_files([(str(folder / name), put("3")) for name in "mpi"])  # the next save is not in its way
        assert set(content(folder).values()) == {"3"}
    assert len(seen) == 2


def test_what_killed_saves_left_goes_with_a_later_save(tmp_path, monkeypatch):
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    dead, alive = f"{files._HOST}.{child.stdout.strip()}.01234567", f"{files._HOST}.{os.getpid()}.01234567"
    names = [f".m.{dead}.tmp", f".m.{dead}.old", f".m.{alive}.tmp", f".other.{dead}.tmp", ".m.abcdef.1.01234567.tmp", ".m.tmp"]
    for name in names:
        (tmp_path / name).write_text("left")
    monkeypatch.setattr(files, "_LITTER_AGE", -1)
    files.replace_files([(str(tmp_path / "m"), put("1")), (str(tmp_path / "p"), put("1"))])
    assert sorted(os.listdir(tmp_path)) == sorted([*names[2:], "m", "p"])


@pytest.mark.parametrize("wrong", [
    {"files": {"../m": None}}, {"files": {"m": "../x"}}, {"files": {".hidden": None}}, {"files": {"m": "secret"}}, {"files": {"": None}},
    {"files": {"m": ".m.x.tmp"}}, {"files": [1]}, [], {"files": {"m": 3}}, {"files": {"a/b": None}},
])
def test_a_journal_from_elsewhere_moves_nothing(tmp_path, wrong):
    (tmp_path / "sub").mkdir()
    for name in ("m", "x", "secret", ".hidden", ".m.x.tmp"):
        (tmp_path / name).write_text(name)
    (tmp_path / "sub" / "m").write_text("m")
    (tmp_path / "sub" / ".m.journal").write_text(json.dumps(wrong))
    (tmp_path / ".m.journal").write_text(json.dumps(wrong))
    before = {str(path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    files.finish_replacing(str(tmp_path / "m"))
    files.finish_replacing(str(tmp_path / "sub" / "m"))
    assert {str(path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_rights_and_links_stay(tmp_path):
    target, link = tmp_path / "there", tmp_path / "link"
    target.write_text("1")
    target.chmod(0o640)
    link.symlink_to(target)
    files.replace_files([(str(link), put("2"))])
    assert link.is_symlink()
    assert target.read_text() == "2"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_folder_is_not_replaced_and_two_folders_are_not_one(tmp_path):
    with pytest.raises(IsADirectoryError, match="folder"):
        files.replace_files([(str(tmp_path), put("1"))])
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="lie in one folder"):
        files.replace_files([(str(tmp_path / "m"), put("1")), (str(tmp_path / "other" / "p"), put("1"))])
