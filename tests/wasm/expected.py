"""Makes every call of the conformance kit natively and writes down what came out, for agree.py.

    python tests/wasm/expected.py FILE
"""
from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import agree  # noqa: E402

from wherry_tensor import _core  # noqa: E402
from wherry_tensor.testing import kit  # noqa: E402

DTYPES = ("float32", "int64", "bool")
TOLERANCE = (1e-5, 1e-6)


class Arrays:
    """Bytes of arrays, each kept once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0
        self.known: dict[bytes, int] = {}

    def add(self, dtype: str, shape: Any, values: bytes) -> list[Any]:
        if values not in self.known:
            self.known[values] = self.length
            self.parts.append(values + bytes(-len(values) % 8))
            self.length += len(self.parts[-1])
        return [dtype, list(shape), self.known[values]]


def content() -> bytes:
    """The file, as agree.py describes it."""
    arrays = Arrays()
    calls = [
        call_of(spec, typed, arrays)
        for _, spec in sorted(kit.specs.items(), key=lambda item: item[0].name)
        for dtype in DTYPES if dtype in spec.dtypes
        for typed in kit.typed_cases(spec, (dtype,))
    ]
    text = json.dumps({"calls": calls}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return zlib.compress(len(text).to_bytes(8, "little") + text + b"".join(arrays.parts), 6)


def call_of(spec: Any, typed: Any, arrays: Arrays) -> dict[str, Any]:
    attrs = typed.case.attrs
    outputs = agree.run(spec.op.name, typed.tensors(), attrs)
    # Where an op has a tolerance of its own it is for a reason, and the reason holds between machines as well.
    own = spec.tolerance.get("float32", TOLERANCE)
    stored = [None if x is None else np.ascontiguousarray(x, agree.STORED_AS.get(x.dtype.name, x.dtype.name)) for x in typed.arrays]
    return {
        "op": spec.op.name,
        "inputs": [None if x is None else arrays.add(x.dtype.name, x.shape, values.tobytes()) for x, values in zip(typed.arrays, stored)],
        "attrs": {name: encoded(value) for name, value in attrs.items()},
        "outputs": [arrays.add(dtype, x.shape, values) for x in outputs for dtype, values in [agree.bytes_of(x)]],
        "tolerance": [max(pair) for pair in zip(own, TOLERANCE)],
    }


def encoded(value: Any) -> Any:
    """An attribute as JSON; `agree.decoded` is the way back."""
    if isinstance(value, (tuple, list)):
        return {"tuple": [encoded(item) for item in value]}
    if isinstance(value, _core.DType):
        return {"dtype": value.name}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    return value


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(content())
