"""Weights of few bits as other tools lay them out in `.safetensors`: GPTQ, AWQ and compressed-tensors.

Each weight is several tensors whose names begin alike. Whatever their shapes say is checked against each other before a bit is unpacked; the
bits of a weight follow from the shapes, so no other file is needed.

Sources: the layouts of AutoGPTQ (`qweight`, `qzeros`, `scales`, `g_idx`), AutoAWQ (its "gemm" version) and compressed-tensors
("pack-quantized", "int-quantized" and "naive-quantized").
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wherry_quant.files.weights import QuantizedWeight
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidTypeError, short
from wherry_train.pickle_reader import FileFormatError

__all__ = ["quantized_weights"]

Array = np.ndarray[Any, Any]
_AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)  # where column i of eight lies in an int32
_SUFFIXES = ("qweight", "weight_packed", "weight_scale")


def quantized_weights(state: Mapping[str, Any], zeros_are_less_one: bool = True) -> tuple[dict[str, QuantizedWeight], dict[str, Any]]:
    """Find the weights of few bits among the tensors of a file.

    Args:
        state: tensors or arrays by name, as `wherry.load("model.safetensors")` gives them.
        zeros_are_less_one: zero points of GPTQ are stored less one, as AutoGPTQ does it; its version 2 (`checkpoint_format` "gptq_v2") does not.

    Returns:
        The weights by the name of their layer, and all other tensors by theirs.

    Raises:
        FileFormatError: tensors of a weight are missing, or their shapes contradict each other.

    Examples:
        >>> state = {"fc.weight": np.array([[1, -2]], np.int8), "fc.weight_scale": np.array([[0.5]], np.float32)}
        >>> weights, others = wherry.quant.quantized_weights(state)
        >>> print(weights["fc"].numpy())
        [[ 0.5]
         [-1. ]]
    """
    if not isinstance(state, Mapping):
        raise InvalidTypeError(
            f"quantized_weights: not tensors by name. Got {short(state)} ({type(state).__name__}), expected a dict as load() gives it."
        )
    others = dict(state)
    found: dict[str, QuantizedWeight] = {}
    for key in state:
        layer, _, suffix = key.rpartition(".")
        if suffix not in _SUFFIXES or layer in found:
            continue

        def part(name: str, needed: bool = False, layer: str = layer) -> Array | None:
            value = others.pop(f"{layer}.{name}", None)
            if value is None and needed:
                raise _damaged(layer, f"it has no {name}")
            return None if value is None else np.asarray(value.numpy() if isinstance(value, Tensor) else value)

        if suffix == "qweight":
            needed = [part("qweight", True), part("qzeros", True), part("scales", True)]
            found[layer] = _gptq_or_awq(layer, *needed, order=part("g_idx"), less_one=zeros_are_less_one)  # type: ignore[arg-type]
        elif suffix == "weight_packed" or f"{layer}.weight_packed" in state:
            parts = [part("weight_packed", True), part("weight_scale", True), part("weight_shape"), part("weight_zero_point"), part("weight_g_idx")]
            found[layer] = _pack_quantized(layer, *parts)  # type: ignore[arg-type]
        elif f"{layer}.weight" in state and np.dtype(_dtype(state[f"{layer}.weight"])) == np.int8:
            found[layer] = _int_quantized(layer, *[part("weight"), part("weight_scale"), part("weight_zero_point")])  # type: ignore[arg-type]
    return found, others


def _dtype(value: Any) -> Any:
    return value.dtype if isinstance(value, np.ndarray) else value.dtype.name if value.dtype.name in ("int8", "uint8", "float32") else "float16"


def _gptq_or_awq(layer: str, weight: Array, zeros: Array, scales: Array, *, order: Array | None, less_one: bool) -> QuantizedWeight:
    _check(layer, weight=(weight, np.int32), qzeros=(zeros, np.int32))
    _check_floats(layer, scales)
    groups, columns = scales.shape
    if not weight.size or not zeros.size or len(zeros) != groups or not columns or zeros.shape[1] * 32 % columns:
        raise _damaged(layer, f"qzeros {list(zeros.shape)} do not fit scales {list(scales.shape)}")
    bits = zeros.shape[1] * 32 // columns
    if bits not in (4, 8):
        raise _damaged(layer, f"{bits} bits: 4 and 8 are read")
    each = 32 // bits
    if weight.shape[1] == columns:  # GPTQ: rows are packed
        codes = _unpacked(weight, bits, 0)
        points = _unpacked(zeros, bits, 1).astype(np.int16) + bool(less_one)
    elif weight.shape[1] * each == columns and bits == 4:  # AWQ: columns are packed, in an order of their own
        codes, points = (_unpacked(x, 4, 1).reshape(len(x), -1, 8)[:, :, _AWQ_ORDER].reshape(len(x), -1) for x in (weight, zeros))
    else:
        raise _damaged(layer, f"qweight {list(weight.shape)} does not fit scales {list(scales.shape)}")
    rows = len(codes)
    if rows % groups:
        raise _damaged(layer, f"{rows} rows are not {groups} groups")
    group = rows // groups
    if order is not None:
        if order.shape != (rows,) or order.dtype.kind not in "iu" or (rows and not 0 <= int(order.min()) <= int(order.max()) < groups):
            raise _damaged(layer, f"g_idx {list(order.shape)} does not say the group of each of {rows} rows")
        order = None if np.array_equal(order, np.arange(rows) // group) else order.astype(np.int64)
    if bits == 8:
        whole, zero = (codes.astype(np.int16) - 128).astype(np.int8), (points.astype(np.int16) - 128).clip(-128, 127).astype(np.int8)
        return QuantizedWeight(whole, scales, zero, 8, group, order)
    return QuantizedWeight(codes, scales, points.astype(np.uint8), 4, group, order)


def _pack_quantized(layer: str, packed: Array, scales: Array, shape: Array | None, zeros: Array | None, order: Array | None) -> QuantizedWeight:
    _check(layer, weight_packed=(packed, np.int32))
    _check_floats(layer, scales)
    if shape is None or shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise _damaged(layer, "weight_shape does not say two sizes")
    columns, rows = (int(n) for n in shape)
    if columns < 1 or rows < 1 or len(packed) != columns or len(scales) != columns or packed.shape[1] < 1:
        raise _damaged(layer, f"weight_packed {list(packed.shape)} and weight_scale {list(scales.shape)} do not fit weight_shape {[columns, rows]}")
    bits = next((b for b in (4, 8) if packed.shape[1] == -(-rows * b // 32)), 0)
    if not bits:
        raise _damaged(layer, f"weight_packed {list(packed.shape)} has neither 4 nor 8 bits for each of {rows} columns")
    groups = scales.shape[1]
    if not 1 <= groups <= rows or rows % groups:
        raise _damaged(layer, f"{rows} columns are not {groups} groups")
    half = 1 << (bits - 1)
    codes = (_unpacked(packed, bits, 1)[:, :rows].astype(np.int16) - half).astype(np.int8)
    points = None
    if zeros is not None:
        _check(layer, weight_zero_point=(zeros, None))
        if zeros.dtype == np.int32 and zeros.shape != scales.shape:
            zeros = _unpacked(zeros, bits, 0)[:columns].astype(np.int16) - half
        if zeros.shape != scales.shape:
            raise _damaged(layer, f"weight_zero_point {list(zeros.shape)} does not fit weight_scale {list(scales.shape)}")
        points = zeros.astype(np.int8).T
    group = rows // groups
    if order is not None:
        if order.shape != (rows,) or order.dtype.kind not in "iu" or not (-1 <= int(order.min()) <= int(order.max()) < groups):
            raise _damaged(layer, f"weight_g_idx {list(order.shape)} does not say the group of each of {rows} columns")
        order = None if int(order.min()) < 0 or np.array_equal(order, np.arange(rows) // group) else order.astype(np.int64)
    return QuantizedWeight(np.ascontiguousarray(codes.T), np.ascontiguousarray(scales.T), points, bits, group, order)


def _int_quantized(layer: str, weight: Array, scales: Array, zeros: Array | None) -> QuantizedWeight:
    scales = scales.reshape(-1, 1) if scales.ndim < 2 else scales
    _check(layer, weight=(weight, np.int8))
    _check_floats(layer, scales)
    columns, rows = weight.shape
    if len(scales) == 1 and columns != 1:
        scales = np.repeat(scales, columns, axis=0)
    groups = scales.shape[1]
    if len(scales) != columns or not 1 <= groups <= max(1, rows) or rows % groups:
        raise _damaged(layer, f"weight_scale {list(scales.shape)} does not fit weight {list(weight.shape)}")
    points = None
    if zeros is not None:
        zeros = zeros.reshape(-1, 1) if zeros.ndim < 2 else zeros
        zeros = np.repeat(zeros, columns, axis=0) if len(zeros) == 1 and columns != 1 else zeros
        if zeros.shape != scales.shape or zeros.dtype.kind not in "iu":
            raise _damaged(layer, f"weight_zero_point {list(zeros.shape)} does not fit weight_scale {list(scales.shape)}")
        points = np.ascontiguousarray(zeros.astype(np.int8).T)
    return QuantizedWeight(np.ascontiguousarray(weight.T), np.ascontiguousarray(scales.T), points, 8, max(1, rows // groups))


def _unpacked(packed: Array, bits: int, axis: int) -> Array:
    """Whole numbers of int32s along an axis, the lowest bits first: uint8."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    wide = packed.view(np.uint32) if packed.flags.c_contiguous else np.ascontiguousarray(packed).view(np.uint32)
    if axis:
        return (wide[:, :, None] >> shifts & (2**bits - 1)).astype(np.uint8).reshape(len(packed), packed.shape[1] * len(shifts))
    return (wide[:, None, :] >> shifts[:, None] & (2**bits - 1)).astype(np.uint8).reshape(len(packed) * len(shifts), packed.shape[1])


def _check(layer: str, **parts: tuple[Array, Any]) -> None:
    for name, (value, dtype) in parts.items():
        if value.ndim != 2 or (dtype is not None and value.dtype != dtype) or value.dtype.kind not in "iu":
            raise _damaged(layer, f"{name} is {value.dtype} {list(value.shape)}, and not a matrix of {np.dtype(dtype or np.int32)}")


def _check_floats(layer: str, scales: Array) -> None:
    if scales.ndim != 2 or scales.dtype.kind != "f" or not np.isfinite(scales).all() or (scales < 0).any():
        raise _damaged(layer, f"scales are {scales.dtype} {list(scales.shape)}, or negative or not finite, and not a matrix of positive floats")


def _damaged(layer: str, why: str) -> FileFormatError:
    return FileFormatError(
        f"quantized_weights: the weight of {layer!r} is damaged: {why}. Got such tensors, expected those of GPTQ, AWQ or compressed-tensors."
    )
