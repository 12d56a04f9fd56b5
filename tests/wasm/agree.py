"""Do the ops give here what they gave on another machine? Runs without NumPy, in Pyodide too.

`expected.py` writes one file of calls: inputs, attributes and what came out natively. Here each call is made
again. The file is compressed by zlib and then holds

    8 bytes   length of the text that follows, little endian
    JSON      {"calls": [...]}, see `Call` below; arrays are named by where they lie
    bytes     the arrays themselves, each in C order and at a multiple of 8

An array is `[dtype, shape, offset]`; a call is `{"op", "inputs": [array or null], "attrs": {name: value},
"outputs": [array], "tolerance": [relative, absolute]}`. Values that JSON lacks are written as `{"tuple": [...]}`,
`{"dtype": name}` and `{"complex": [real, imaginary]}`; floats may be NaN and Infinity, as Python writes them.
"""
from __future__ import annotations

import importlib.util
import json
import math
import zlib
from collections.abc import Callable
from typing import Any

import wherry_tensor
from wherry_tensor import _core, ops

FORMATS = {"float32": "f", "float64": "d", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "?"}
# Stored as another dtype that holds each of their values and that `memoryview` can read.
STORED_AS = {"float16": "float32", "bfloat16": "float32"}
SEED = 7


def disagreements(content: bytes, progress: Callable[[int, int], None] | None = None) -> tuple[int, list[str]]:
    """Make every call of the file again.

    Args:
        content: the file that `expected.py` writes.
        progress: called with the calls made and their number, now and then.

    Returns:
        How many calls were made, and a text for each that gave something else.
    """
    calls, arrays = read(content)
    wrong = []
    for made, call in enumerate(calls):
        if progress and made % 200 == 0:
            progress(made, len(calls))
        try:
            inputs = [None if x is None else tensor_of(x, arrays) for x in call["inputs"]]
            attrs = {name: decoded(value) for name, value in call["attrs"].items()}
            problem = difference(run(call["op"], inputs, attrs), call, arrays)
        except Exception as error:  # reported with the others, whatever it is
            problem = f"{type(error).__name__}: {error}"
            if "its kernel computes with NumPy" in problem and importlib.util.find_spec("numpy") is None:
                continue  # eigenvalues and the like: here the message is what is promised
        if problem:
            shapes = [None if x is None else f"{x[0]}{x[1]}" for x in call["inputs"]]
            wrong.append(f"{call['op']}({shapes}, {call['attrs']}): {problem}"[:500])
    return len(calls), wrong


def read(content: bytes) -> tuple[list[dict[str, Any]], memoryview]:
    """The calls of a file, and the bytes of their arrays."""
    plain = memoryview(zlib.decompress(content))
    length = int.from_bytes(plain[:8], "little")
    return json.loads(bytes(plain[8:8 + length]))["calls"], plain[8 + length:]


def run(op: str, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    wherry_tensor.seed(SEED)
    results = ops.registry[op](*inputs, **attrs)
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def tensor_of(array: list[Any], arrays: memoryview) -> Any:
    """The tensor of an array in the file."""
    dtype, shape, offset = array
    stored = STORED_AS.get(dtype, dtype)
    values = arrays[offset:offset + math.prod(shape) * _core_dtype(stored).itemsize]
    x = ops.reshape(wherry_tensor.to_tensor(values.cast(FORMATS[stored])), shape=tuple(shape))
    return x if stored == dtype else ops.cast(x, dtype=_core_dtype(dtype))


def bytes_of(x: Any) -> tuple[str, bytes]:
    """The dtype under which a tensor is stored, and its values in C order."""
    dtype = STORED_AS.get(x.dtype.name, x.dtype.name)
    if dtype != x.dtype.name:
        x = ops.cast(x, dtype=_core_dtype(dtype))
    return dtype, memoryview(x).tobytes()


def decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind == "tuple":
        return tuple(map(decoded, content))
    return _core_dtype(content) if kind == "dtype" else complex(*content)


def difference(got: tuple[Any, ...], call: dict[str, Any], arrays: memoryview) -> str | None:
    """What is wrong with the results of a call; None if nothing is."""
    if len(got) != len(call["outputs"]):
        return f"{len(got)} results, expected {len(call['outputs'])}"
    relative, absolute = call["tolerance"]
    for index, (x, (dtype, shape, offset)) in enumerate(zip(got, call["outputs"])):
        stored, values = bytes_of(x)
        if (stored, list(x.shape)) != (dtype, shape):
            return f"result {index} is {stored}{list(x.shape)}, expected {dtype}{shape}"
        wanted = arrays[offset:offset + len(values)]
        if values == wanted:
            continue
        exact = not (x.dtype.is_floating or x.dtype.is_complex)
        letter = {"complex64": "f", "complex128": "d"}.get(dtype) or FORMATS[dtype]
        for at, (a, b) in enumerate(zip(memoryview(values).cast(letter), wanted.cast(letter))):
            if a != b and (exact or not close(a, b, relative, absolute)):
                return f"element {at} of result {index} is {a!r}, expected {b!r} (relative tolerance {relative:g}, absolute {absolute:g})"
    return None


def close(a: float, b: float, relative: float, absolute: float) -> bool:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (a != a and b != b)
    return abs(a - b) <= absolute + relative * abs(b)


def _core_dtype(name: str) -> Any:
    return getattr(_core, "bool_" if name == "bool" else name)
