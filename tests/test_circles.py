"""tools/circles.py: which files import each other."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import circles  # noqa: E402


@pytest.fixture
def package(tmp_path):
    """A repository of one package, and a function that runs the program on files given by name and text."""

    def run(**texts: str) -> int:
        folder = tmp_path / "packages" / "tree" / "src" / "wherry_tree"
        (folder / "inner").mkdir(parents=True)
        (tmp_path / "packages" / "tree" / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\n[project]\nname = "wherry-tree"\nversion = "1"\n'
        )
        (tmp_path / "web").mkdir()
        for name, text in {"__init__": "", "inner/__init__": "", **{k.replace("__of__", "/"): v for k, v in texts.items()}}.items():
            (folder / f"{name}.py").write_text(text)
        return circles.main(tmp_path)

    return run


def test_an_import_inside_a_function_closes_a_circle_and_is_named(package, capsys):
    assert package(leaf="def f():\n    from wherry_tree import root\n", root="import wherry_tree.leaf\n") == 1
    said = capsys.readouterr().err
    assert "2 files import each other: wherry_tree.leaf, wherry_tree.root" in said
    assert "packages/tree/src/wherry_tree/leaf.py:2: imports wherry_tree.root inside a function" in said and "root.py" not in said


def test_a_circle_at_import_time_is_shown_all_the_way_round(package, capsys):
    assert package(a="from wherry_tree.b import x\n", b="from . import c\n", c="from wherry_tree import a\n") == 1
    assert [line.strip() for line in capsys.readouterr().err.splitlines()[1:]] == [
        "packages/tree/src/wherry_tree/a.py:1: imports wherry_tree.b",
        "packages/tree/src/wherry_tree/b.py:1: imports wherry_tree.c",
        "packages/tree/src/wherry_tree/c.py:1: imports wherry_tree.a",
    ]


def test_an_import_from_a_folder_counts_for_what_the_folder_imports(package, capsys):
    assert package(leaf="from wherry_tree.inner.part import x\n", inner__of__part="x = 1\n", inner__of____init__="import wherry_tree.leaf\n") == 1
    assert "2 files import each other: wherry_tree.inner, wherry_tree.leaf" in capsys.readouterr().err


def test_imports_for_type_checkers_close_nothing(package):
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from wherry_tree.root import R\n"
    assert package(leaf=text, root="from wherry_tree.leaf import f\n") == 0
