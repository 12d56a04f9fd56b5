"""Types of elements: those that tensors have, and those that are held in another dtype.

A float8 is held as the float32 of the same value, a number of 2 or 4 bits as 8 bits, an unsigned one that tensors do not have as
the next larger integer. Casts round to the type, so values are always ones that it has.
"""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wherry_onnx_files.errors import OnnxFileError, UnreadableOp
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, from_buffer

__all__ = [
    "BFLOAT16", "CODES", "FLOAT8", "HELD", "NAMES", "STRING", "decoded", "dtype_of", "held_array", "limits", "name_of", "round_to", "tensor_of_array",
    "wrapped",
]

STRING, BFLOAT16 = 8, 16
NAMES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool", 10: "float16", 11: "float64",
    12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
    20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}
CODES = {name: code for code, name in NAMES.items()}
HELD = {  # types that tensors do not have, and what holds them
    4: "int32", 12: "int64", 13: "int64", 17: "float32", 18: "float32", 19: "float32", 20: "float32", 21: "uint8", 22: "int8", 23: "float32",
    24: "float32", 25: "uint8", 26: "int8",
}
FLOAT8 = (17, 18, 19, 20, 23, 24)
_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
_SIGNED = (22, 26)
# Exponent bits, mantissa bits, bias, whether the pattern of a negative zero is NaN, whether the last exponent has numbers, whether it has infinity.
_FORMS = {17: (4, 3, 7, False), 18: (4, 3, 8, True), 19: (5, 2, 15, False), 20: (5, 2, 16, True), 23: (2, 1, 1, False)}


def name_of(code: int) -> str:
    """The name of a type, for messages."""
    return NAMES.get(code, f"type {code}")


def dtype_of(code: int, what: str) -> DType:
    """The dtype of the tensors that hold a type.

    Raises:
        OnnxFileError: there is no such type.
        UnreadableOp: text.
    """
    if code == STRING:
        raise UnreadableOp(f"onnx: tensors hold numbers. Got {what} of strings, expected numbers. Turn text into numbers before the model.")
    if code not in NAMES:
        raise OnnxFileError(f"onnx: {what} has elements of an unknown type. Got type {code}, expected 1 to {max(NAMES)}. Save the model again.")
    name = HELD.get(code, NAMES[code])
    return getattr(_core, "bool_" if name == "bool" else name)  # type: ignore[no-any-return]


@functools.cache
def _table(code: int) -> np.ndarray:
    """The value of each pattern of bits of a small float."""
    if code == 24:
        return np.append(np.exp2(np.arange(255, dtype=np.float64) - 127), np.nan).astype(np.float32)
    exponents, mantissas, bias, zero_is_nan = _FORMS[code]
    n = 1 << (exponents + mantissas)
    values = np.empty(2 * n)
    for i in range(n):
        exponent, mantissa = i >> mantissas, i & ((1 << mantissas) - 1)
        fraction = mantissa / (1 << mantissas)
        values[i] = 2.0 ** (exponent - bias) * (1 + fraction) if exponent else 2.0 ** (1 - bias) * fraction
    if code == 17:
        values[n - 1] = np.nan
    if code == 19:
        values[n - 4 : n] = [np.inf, np.nan, np.nan, np.nan]
    values[n:] = -values[:n]
    if zero_is_nan:
        values[n] = np.nan
    return values.astype(np.float32)


def limits(code: int) -> tuple[float, float]:
    """The smallest and the largest number of a type."""
    if code in FLOAT8:
        finite = _table(code)[np.isfinite(_table(code))]
        return float(finite.min()), float(finite.max())
    bits = _BITS.get(code)
    if bits is not None:
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if code in _SIGNED else (0, (1 << bits) - 1)
    if code in (1, 10, 11, 16):
        return -np.inf, np.inf
    info = np.iinfo(NAMES[code])
    return int(info.min), int(info.max)


def decoded(raw: Any, code: int, count: int) -> np.ndarray:
    """The numbers of little-endian bytes, as an array of what holds them (bits, uint16, for bfloat16)."""
    bits = _BITS.get(code)
    if bits is not None:
        packed = np.frombuffer(raw, np.uint8)
        parts = np.stack([packed >> shift & ((1 << bits) - 1) for shift in range(0, 8, bits)], axis=-1).reshape(-1)[:count]
        return _unpacked(parts, code)
    if code in FLOAT8:
        return _unpacked(np.frombuffer(raw, np.uint8), code)
    return held_array(np.frombuffer(raw, _stored(code)), code)


@functools.cache
def _stored(code: int) -> np.dtype[Any]:
    """What the bytes of a file are."""
    return np.dtype("uint16" if code == BFLOAT16 else NAMES[code]).newbyteorder("<")


def bytes_of(code: int, count: int) -> int:
    """How many bytes `count` numbers take."""
    bits = _BITS.get(code)
    if bits is not None:
        return (count * bits + 7) // 8
    return count if code in FLOAT8 else count * _stored(code).itemsize


def _unpacked(codes: np.ndarray, code: int) -> np.ndarray:
    if code in FLOAT8:
        return _table(code)[codes]
    bits = _BITS[code]
    return (codes ^ (1 << (bits - 1))).astype(np.int8) - np.int8(1 << (bits - 1)) if code in _SIGNED else codes


def from_codes(codes: np.ndarray, code: int) -> np.ndarray:
    """The numbers that int32 fields hold as patterns of bits."""
    if code in (10, 16):
        bits = codes.astype(np.uint16)
        return bits.view(np.float16) if code == 10 else bits
    if code in FLOAT8 and code != 23:
        return _unpacked(codes.astype(np.uint8), code)
    return held_array(codes.astype(NAMES[code]), code)


def held_array(x: np.ndarray, code: int) -> np.ndarray:
    """An array in the dtype that holds its type."""
    held = HELD.get(code)
    if held is not None:
        return x.astype(np.float32).astype(held) if code in FLOAT8 else x.astype(held)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def tensor_of_array(x: np.ndarray, code: int) -> Tensor:
    """A tensor with a copy of an array that `decoded` or `held_array` gave."""
    return from_buffer(x, _core.bfloat16 if code == BFLOAT16 else None)  # type: ignore[no-any-return]


def round_to(x: Tensor, code: int, saturate: bool = True, up: bool = False) -> Tensor:
    """`x`, any float, as the nearest number of a small float, to even at ties.

    Args:
        x: floating.
        code: of the type.
        saturate: whether numbers beyond the largest become it; otherwise infinity, or NaN where there is none.
        up: powers of two only: round up, not to the nearest.
    """
    x = ops.cast(x, dtype=_core.float32)
    table = _table(code)
    if code == 24:
        values = table[:-1].astype(np.float64)
        between = values[:-1] if up else (values[:-1] + values[1:]) / 2
    else:
        values = np.sort(table[: len(table) // 2][np.isfinite(table[: len(table) // 2])]).astype(np.float64)
        values = np.append(values, 2 * values[-1] - values[-2])
        between = (values[:-1] + values[1:]) / 2
    size = ops.abs(x)
    points = tensor_of_array(between, 11)
    size64 = ops.reshape(ops.cast(size, dtype=_core.float64), shape=(-1,))
    low, high = (ops.searchsorted(points, size64, right=right) for right in (False, True))
    even = ops.equal(ops.bitwise_and(low, _core.scalar(1, _core.int64)), _core.scalar(0, _core.int64))
    at = low if up and code == 24 else ops.where(even, low, high)
    if code != 24:
        last = values[-2] if saturate or code == 23 else np.inf if code == 19 else np.nan
        values[-1] = last
    found = ops.reshape_like(ops.gather(tensor_of_array(values.astype(np.float32), 1), at, axis=0), x)
    if code != 24:
        found = ops.where(ops.less_than(x, _zero(x)), ops.negative(found), found)
        infinite = ops.isinf(x)
        beyond = float(values[-2]) if saturate or code == 23 else float(np.inf if code == 19 else np.nan)
        limit = _core.scalar(beyond, _core.float32)
        found = ops.where(infinite, ops.where(ops.less_than(x, _zero(x)), ops.negative(limit), limit), found)
    nothing = -0.0 if code == 23 else float("nan")  # four bits have no NaN
    return ops.where(ops.isnan(x), ops.full_like(x, value=nothing, dtype=x.dtype), found)


def _zero(x: Tensor) -> Tensor:
    return _core.scalar(0.0, x.dtype)


def wrapped(x: Tensor, code: int) -> Tensor:
    """An integer as its type keeps it: the bits that it has no room for are gone."""
    bits = {4: 16, 12: 32, **_BITS}.get(code)
    if bits is None or code in FLOAT8 or code == 13:
        return x
    wide = ops.cast(x, dtype=_core.int64)
    mask = _core.scalar((1 << bits) - 1, _core.int64)
    kept = ops.bitwise_and(wide, mask)
    if code in _SIGNED:
        half = _core.scalar(1 << (bits - 1), _core.int64)
        kept = ops.subtract(ops.bitwise_xor(kept, half), half)
    return ops.cast(kept, dtype=dtype_of(code, "a number"))
