"""Dtypes by any of their names, the default dtype, and the limits of each dtype."""
from __future__ import annotations

from typing import Any, NamedTuple

from wherry_tensor._core import (
    DType,
    Tensor,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = [
    "as_dtype",
    "default_complex_dtype",
    "default_dtype",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "is_complex",
    "is_floating_point",
    "is_integer",
    "promote_floating",
    "set_default_dtype",
]

_ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)

# What `as_dtype` knows, by hash: DTypes, their names, and Python's own number types. "float" and
# "int" mean what they mean to NumPy; "uint16" is the name under which NumPy carries bfloat16 bits.
_known: dict[Any, DType] = {dtype: dtype for dtype in _ALL}
_known |= {dtype.name: dtype for dtype in _ALL}
_known |= {
    "float": float64, "double": float64, "half": float16, "int": int64, "complex": complex128, "uint16": bfloat16,
    bool: bool_, int: int64, float: float64, complex: complex128,
}

_default = float32


def as_dtype(dtype: Any, op_name: str = "dtype") -> DType:
    """The DType that `dtype` names.

    Args:
        dtype: a DType, a name as in "float32", a NumPy dtype or scalar type, or bool, int, float, complex.
        op_name: the function that asks, for the error message.

    Raises:
        TypeError: it is not a dtype that tensors have.
    """
    try:
        return _known[dtype]
    except (KeyError, TypeError):
        pass
    # numpy.dtype has .name, and numpy.float32 (a class) __name__; neither needs NumPy imported here.
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    if isinstance(name, str) and type(dtype).__module__.partition(".")[0] in ("numpy", "builtins", "ml_dtypes"):
        found = _known.get(name.rstrip("_"))
        if found is not None:
            return found
    remedy = "Check the spelling."
    if type(dtype) is int:  # as PyTorch takes them
        remedy = f"Sizes stand in one list, as in {op_name}([2, 3])."
    elif type(dtype) is bool:
        remedy = "Give further arguments by name, as in keepdim=True."
    elif isinstance(dtype, str) and dtype.partition(":")[0] == "cuda":
        remedy = "Devices are 'cpu' and 'gpu:0', and arguments of their own."
    raise TypeError(
        f"{op_name}: unknown dtype. Got {short(dtype)}, expected one of {', '.join(d.name for d in _ALL)} "
        f"(a name, a NumPy dtype, or wherry.float32 and the like). {remedy}"
    )


def default_dtype() -> DType:
    """The dtype that Python floats become."""
    return _default


def default_complex_dtype() -> DType:
    """The dtype that Python complex numbers become: complex128 when the default dtype is float64."""
    return complex128 if _default is float64 else complex64


def set_default_dtype(d: Any) -> None:
    """Set the dtype that Python floats become, and that `zeros`, `rand`, ... make when none is named.

    Args:
        d: float16, bfloat16, float32 or float64, in any form that names a dtype.

    Raises:
        TypeError: anything else.

    Source:
        `paddle.set_default_dtype`.

    Examples:
        >>> wherry.set_default_dtype("float64")
        >>> print(wherry.to_tensor(1.5).dtype)
        paddle.float64
        >>> wherry.set_default_dtype("float32")
    """
    global _default
    try:
        dtype = as_dtype(d, "set_default_dtype")
    except TypeError:
        dtype = None
    if dtype is None or not dtype.is_floating:
        raise TypeError(
            f"set_default_dtype: only a floating dtype can be the default. Got {short(d)}, expected float16, bfloat16, "
            f"float32 or float64. Integers are int64 whatever the default is."
        ) from None
    _default = dtype


def get_default_dtype() -> str:
    """Name of the dtype that Python floats become, "float32" unless it was set.

    Source:
        `paddle.get_default_dtype`.

    Examples:
        >>> wherry.get_default_dtype()
        'float32'
    """
    return _default.name


class _FloatLimits(NamedTuple):
    bits: int
    eps: float
    max: float
    tiny: float
    resolution: float


_float_limits = {
    float16: _FloatLimits(16, 2.0**-10, 65504.0, 2.0**-14, 1e-3),
    bfloat16: _FloatLimits(16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 1e-2),
    float32: _FloatLimits(32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126, 1e-6),
    float64: _FloatLimits(64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022, 1e-15),
}


class finfo:  # noqa: N801  Paddle's name
    """Limits of a floating dtype; a complex one has those of its parts.

    Args:
        dtype: float16, bfloat16, float32, float64, complex64 or complex128.

    Attributes:
        bits: size of one number in bits.
        dtype: its name.
        eps: the difference between 1 and the next larger number.
        max: the largest finite number.
        min: the smallest (most negative) finite number.
        tiny: the smallest positive number at full precision.
        smallest_normal: the same as `tiny`.
        resolution: 10 to the minus number of decimal digits that are precise.

    Raises:
        TypeError: `dtype` is not a known dtype.
        ValueError: it is not floating or complex.

    Source:
        `paddle.finfo`.

    Examples:
        >>> wherry.finfo("float32").eps
        1.1920928955078125e-07
        >>> wherry.finfo(wherry.float16).max
        65504.0
    """

    def __init__(self, dtype: Any) -> None:
        known = as_dtype(dtype, "finfo")
        part = {complex64: float32, complex128: float64}.get(known, known)
        if part not in _float_limits:
            raise InvalidArgumentError(
                f"finfo: only floating dtypes have these limits. Got {known.name}, expected float16, bfloat16, "
                f"float32, float64, complex64 or complex128. Use iinfo for integers."
            )
        limits = _float_limits[part]
        self.bits = limits.bits
        self.dtype = part.name
        self.eps = limits.eps
        self.max = limits.max
        self.min = -limits.max
        self.tiny = self.smallest_normal = limits.tiny
        self.resolution = limits.resolution

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, resolution={self.resolution:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, bits={self.bits}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801  Paddle's name
    """Limits of an integer dtype.

    Args:
        dtype: uint8, int8, int16, int32 or int64.

    Attributes:
        bits: size of one number in bits.
        dtype: its name.
        max: the largest number.
        min: the smallest number.

    Raises:
        TypeError: `dtype` is not a known dtype.
        ValueError: it is not an integer dtype.

    Source:
        `paddle.iinfo`.

    Examples:
        >>> wherry.iinfo("int8").min, wherry.iinfo("int8").max
        (-128, 127)
    """

    def __init__(self, dtype: Any) -> None:
        known = as_dtype(dtype, "iinfo")
        if not known.is_integer:
            raise InvalidArgumentError(
                f"iinfo: only integer dtypes have these limits. Got {known.name}, expected uint8, int8, int16, "
                f"int32 or int64. Use finfo for floating dtypes."
            )
        self.bits = known.itemsize * 8
        self.dtype = known.name
        self.min = 0 if known is uint8 else -(1 << (self.bits - 1))
        self.max = self.min + (1 << self.bits) - 1

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


def promote_floating(a: DType, b: DType) -> DType:
    """The dtype in which two floating or complex dtypes meet: float16 and bfloat16 in float32."""
    if a is b:
        return a
    if a.is_complex or b.is_complex:
        wide = any(d in (float64, complex128) for d in (a, b))
        return complex128 if wide else complex64
    if a.itemsize == b.itemsize:
        return float32
    return a if a.itemsize > b.itemsize else b


def is_floating_point(x: Tensor) -> bool:
    """Whether the dtype of `x` is float16, bfloat16, float32 or float64.

    Shape:
        `x` of any shape, `[...]`; only its dtype is asked.

    Raises:
        TypeError: `x` is not a Tensor.

    Source:
        `paddle.is_floating_point`.

    Examples:
        >>> wherry.is_floating_point(wherry.to_tensor([1.0]))
        True
    """
    return _dtype_of(x, "is_floating_point").is_floating


def is_complex(x: Tensor) -> bool:
    """Whether the dtype of `x` is complex64 or complex128.

    Shape:
        `x` of any shape, `[...]`; only its dtype is asked.

    Raises:
        TypeError: `x` is not a Tensor.

    Source:
        `paddle.is_complex`.

    Examples:
        >>> wherry.is_complex(wherry.to_tensor([1j]))
        True
    """
    return _dtype_of(x, "is_complex").is_complex


def is_integer(x: Tensor) -> bool:
    """Whether the dtype of `x` is an integer one; bool is not.

    Shape:
        `x` of any shape, `[...]`; only its dtype is asked.

    Raises:
        TypeError: `x` is not a Tensor.

    Source:
        `paddle.is_integer`.

    Examples:
        >>> wherry.is_integer(wherry.to_tensor([1])), wherry.is_integer(wherry.to_tensor([True]))
        (True, False)
    """
    return _dtype_of(x, "is_integer").is_integer


def _dtype_of(x: Any, op_name: str) -> DType:
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{op_name}: x is not a Tensor. Got {type(x).__name__}, expected a Tensor. Make one with to_tensor(x)."
        )
    return x.dtype
