"""Further names of dtypes, at the top of Paddle 3: `paddle.float` is float32. In a module of their own, since they hide Python's `float`."""
from wherry_tensor._core import bfloat16, complex64, complex128, float16, float32, float64

__all__ = ["cdouble", "cfloat", "double", "float", "half", "uint16"]

half, float, double = float16, float32, float64
cfloat, cdouble = complex64, complex128
uint16 = bfloat16  # under whose name NumPy carries its bits
