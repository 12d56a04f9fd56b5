"""Compiles packages/extension/tests/data/operator_calls.cc with real Paddle 2.6.2, and prints what each of its calls gives, as JSON.

    $(python tools/paddle_environment.py) tools/extension_values.py > packages/extension/tests/data/operator_calls.json
"""
from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
import zlib  # noqa: F401  before Paddle, which brings another one
from pathlib import Path

import paddle
from paddle.utils.cpp_extension import load

SOURCE = Path(__file__).parent.parent / "packages" / "extension" / "tests" / "data" / "operator_calls.cc"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):  # Paddle says that it compiles
        ops = load(name="operator_calls", sources=[str(SOURCE)], extra_cxx_cflags=["-O0", "-w"], build_directory=folder)
    x = paddle.ones([1], "float64")
    names = re.findall(r'(?:CALL|INTO)\("([^"]*)"', SOURCE.read_text(encoding="utf-8"))
    rows, refused = [], []
    for name in names:
        try:
            found = ops.operator_call(x, x, name).numpy()
        except Exception as error:
            refused.append(f"{name}: {str(error).strip()[-300:]}")
        else:
            rows.append(f"{json.dumps(name)}: {json.dumps([float(f'{v:.8g}') for v in found])}")
    if refused:
        sys.exit("\n".join(["Paddle refuses", *refused]))
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
