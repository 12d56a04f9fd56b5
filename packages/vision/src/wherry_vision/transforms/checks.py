"""Types of the arguments of transforms: a name means the same in all of them."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import Check, check_arguments, flag, integer, number, text
from wherry_tensor.explained import explained

__all__ = ["check"]

_MOST = 1 << 20  # pixels on a side


def _is_number(value: Any) -> bool:
    return number[0](value) and math.isfinite(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_number, value))


def _fills(value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) and value else [value]
    return all(_is_number(v) and abs(v) < 1 << 31 for v in values)


def _are_numbers(value: Any) -> bool:
    try:
        return np.asarray(value.numpy() if isinstance(value, Tensor) else value).dtype.kind in "biuf"
    except ValueError:  # rows of different length
        return False


def _is_small(value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    return all(not isinstance(v, (int, float)) or v <= _MOST for v in values)


def _orders(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(integer[0](v) for v in value) and len(value) >= 2 and sorted(value) == list(range(len(value)))


def _are_functions(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(callable, value))


_size: Check = (_is_small, f"at most {_MOST} pixels on a side")
_finite: Check = (_is_number, "a number")
_KINDS: dict[str, Check] = {
    **dict.fromkeys(("top", "left", "height", "width", "num_output_channels"), integer),
    **dict.fromkeys(("padding_mode", "interpolation", "data_format"), text),
    **dict.fromkeys(("expand", "to_rgb", "pad_if_needed", "inplace"), flag),
    **dict.fromkeys(("size", "output_size", "padding"), _size),
    **dict.fromkeys(("angle", "hue_factor", "prob"), _finite),
    **dict.fromkeys(("ratio", "scale"), (_is_pair, "two numbers, the smaller one first")),  # type: ignore[dict-item]
    **dict.fromkeys(("mean", "std"), (_are_numbers, "a number, or one for each channel")),  # type: ignore[dict-item]
    "fill": (_fills, "a number, or one for each channel"),
    "center": (lambda value: value is None or _is_pair(value), "(x, y), or None"),
    "order": (_orders, "each axis once, as (2, 0, 1)"),
    "transforms": (_are_functions, "a list of transforms or functions"),
}


def check(owner: str, given: Mapping[str, Any], **others: Check) -> None:
    """Raise an error for arguments of the wrong type.

    Args:
        owner: the transform or function.
        given: its `locals()`.
        others: checks in place of the usual ones.
    """
    check_arguments(owner, given, **{**_KINDS, **others})


explained(globals())
