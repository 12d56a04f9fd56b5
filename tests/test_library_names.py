"""Every name that libraries of others take from Paddle, private ones too, is here.

data/library-names.tsv has one line for each: how it is asked for, the name, and how many of 19 libraries do so.
"""
from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import wherry

TABLE = Path(__file__).parent / "data" / "library-names.tsv"


def rows() -> list[tuple[str, str]]:
    header, *lines = TABLE.read_text().splitlines()
    assert header == "kind\tname\tlibraries"
    return [tuple(line.split("\t")[:2]) for line in lines]  # type: ignore[misc]


@pytest.mark.parametrize(("kind", "name"), [pytest.param(kind, name, id=f"{kind} {name}") for kind, name in rows()])
def test_name_is_here(kind, name):
    path = "wherry" + name.removeprefix("paddle")
    if kind == "import":
        importlib.import_module(path)
    elif kind == "from-import":
        module, what = path.split(" ")
        exec(f"from {module} import {what}")
    else:
        found = wherry
        for part in path.split(".")[1:]:
            found = getattr(found, part)


@pytest.mark.parametrize("name", [
    "pir.core program_guard", "pir Value", "pir_utils IrGuard", "framework.random seed", "framework.core VarDesc", "decomposition decompose",
    "jit.sot symbolic_translate", "autograd.ir_backward grad", "jit.dy2static convert_to_static",
    "jit.dy2static.program_translator StaticFunction", "jit.dy2static.program_translator ConcreteProgram",
])  # fmt: skip
def test_inner_paths_of_programs_are_here(name):
    module, what = name.split(" ")
    assert getattr(importlib.import_module(f"wherry.{module}"), what) is not None
