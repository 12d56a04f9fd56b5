"""Operators of `paddle::experimental` in C++, each beside what the same source gives with Paddle 2.6.2 (tools/extension_values.py)."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_extension.cpp_extension import load
from wherry_extension.functions import function_of
from wherry_extension.sysconfig import get_include

DATA = Path(__file__).parent / "data"
VALUES = json.loads((DATA / "operator_calls.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("calls"))
    return load("wherry_test_calls", [DATA / "operator_calls.cc"], extra_cxx_cflags=["-O0"], build_directory=folder)


@pytest.mark.parametrize("name", VALUES)
def test_a_call_gives_what_paddle_gives(ops, name):
    x = paddle.ones([1], "float64")
    np.testing.assert_allclose(ops.operator_call(x, x, name).numpy(), VALUES[name], rtol=1e-4, atol=1e-5)  # sums in another order


def test_every_call_has_its_values():
    assert re.findall(r'(?:CALL|INTO)\("([^"]*)"', (DATA / "operator_calls.cc").read_text()) == list(VALUES)


def test_every_name_that_the_headers_of_paddle_declare_is_declared(tmp_path):
    names = (DATA / "declared-2.6.txt").read_text().split()  # what a program that includes paddle/extension.h finds, and macros
    assert len(names) > 720
    lines = [
        f"#ifndef {name[1:]}\n#error {name[1:]}\n#endif" if name.startswith("#") else f"namespace probe_{i} {{ using {name}; }}"
        for i, name in enumerate(names)
    ]
    (tmp_path / "names.cc").write_text("\n".join(['#include "paddle/extension.h"', *lines, ""]))
    command = [shutil.which("c++") or "g++", "-std=c++17", "-fsyntax-only", f"-I{get_include()}", str(tmp_path / "names.cc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_operator_without_a_rule_says_so():
    header = (Path(get_include()) / "paddle" / "phi" / "api" / "include" / "operators.h").read_text()
    assert '"op:coalesce_tensor"' in header
    with pytest.raises(NotImplementedError, match="there is no such operator here. Got 'coalesce_tensor'"):
        function_of("op:coalesce_tensor")(paddle.ones([1]))
