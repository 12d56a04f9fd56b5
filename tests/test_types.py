"""What checkers of types say of right and wrong programs: mypy and pyright, over tests/types."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "types"
PROGRAMS = [HERE / "right.py", HERE / "wrong.py"]


def wrong_lines() -> set[int]:
    lines = (HERE / "wrong.py").read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


@pytest.fixture(scope="module")
def by_mypy(tmp_path_factory) -> dict[str, set[int]]:
    """The lines of each program that mypy finds wrong."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    folder = tmp_path_factory.mktemp("mypy")
    # A folder of their own and an empty configuration: as a user has it, the packages installed.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={folder}", "--follow-imports=silent", "--output=json",
         *map(str, PROGRAMS)],
        capture_output=True, text=True, cwd=folder,
        # mypy reads no PYTHONPATH: folders of sources, where the packages are found by their path.
        env={**os.environ, "MYPYPATH": os.pathsep.join(path for path in sys.path if Path(path).name == "src")},
    )
    found: dict[str, set[int]] = {"right.py": set(), "wrong.py": set()}
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["severity"] == "error":
            found[Path(message["file"]).name].add(message["line"])
    assert done.returncode < 2 and not done.stderr, done.stdout + done.stderr
    return found


@pytest.fixture(scope="module")
def by_pyright(tmp_path_factory) -> dict[str, set[int]]:
    """The lines of each program that pyright finds wrong."""
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        pytest.skip("pyright from PyPI, and Node, are not installed")
    folder = tmp_path_factory.mktemp("pyright")
    for program in PROGRAMS:
        shutil.copy(program, folder)
    where = {"extraPaths": [path for path in sys.path if path and Path(path).is_dir()], "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(where))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)],
        capture_output=True, text=True, env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )
    assert done.stdout.lstrip().startswith("{"), done.stdout + done.stderr
    found: dict[str, set[int]] = {"right.py": set(), "wrong.py": set()}
    for message in json.loads(done.stdout)["generalDiagnostics"]:
        if message["severity"] == "error":
            found[Path(message["file"]).name].add(message["range"]["start"]["line"] + 1)
    return found


@pytest.mark.parametrize("checker", ["by_mypy", "by_pyright"])
def test_checkers_find_nothing_wrong_with_right_programs_and_know_their_types(checker, request):
    assert request.getfixturevalue(checker)["right.py"] == set()


@pytest.mark.parametrize("checker", ["by_mypy", "by_pyright"])
def test_checkers_find_each_wrong_line_and_no_other(checker, request):
    assert request.getfixturevalue(checker)["wrong.py"] == wrong_lines()


def test_completion_offers_names_of_paddle_and_no_helpers():
    import wherry

    names = {name for name in dir(wherry) if not name.startswith("__")}
    assert names == {name for name in wherry.__all__ if not name.startswith("__")}
    assert not names & {"accumulate", "annotations", "TYPE_CHECKING", "Any"}
