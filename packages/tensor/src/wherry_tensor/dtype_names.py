"""Further names of dtypes, at the top of Paddle 3: `paddle.float` is float32. In a module of their own, since they hide Python's `float`."""
from wherry_tensor._core import bfloat16, complex64, complex128, float16, float32, float64

__all__ = [
    "cdouble", "cfloat", "double", "float", "float8_e4m3fn", "float8_e5m2", "half", "pstring", "raw", "uint16", "uint32", "uint64",
]


class AbsentDType:
    """An element type of Paddle 3 that tensors do not have here: it can be named, compared and be in tables, and no tensor of it made.

    Attributes:
        name: as "float8_e4m3fn".

    Examples:
        >>> wherry.float8_e4m3fn == wherry.float32
        False
        >>> wherry.zeros([2], wherry.float8_e4m3fn)
        Traceback (most recent call last):
        TypeError: zeros: unknown dtype. Got paddle.float8_e4m3fn, expected one of ...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.name,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsentDType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


half = float16
float = float32
double = float64
cfloat = complex64
cdouble = complex128
uint16 = bfloat16  # under whose name NumPy carries its bits
float8_e4m3fn = AbsentDType("float8_e4m3fn")
float8_e5m2 = AbsentDType("float8_e5m2")
pstring = AbsentDType("pstring")
raw = AbsentDType("raw")
uint32 = AbsentDType("uint32")
uint64 = AbsentDType("uint64")
