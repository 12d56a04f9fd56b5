"""Calls whose answer differs from real Paddle 2.6.2 on purpose: expression -> reason.

Each kind of difference has a row in docs/compatibility.md.
"""

_INTEGERS = "an extension: integers are cast to float32 (floor: kept) where Paddle has no kernel for them"
_ROUNDED = "Paddle rounds the attribute to float32 also for float64 data; we keep it in float64"
_PYTHON = "an extension: Python's operator works where Paddle's Tensor lacks the slot"
_STANDARD = "the class that Python's own containers raise; Paddle raises AssertionError"

DIFFERENCES: dict[str, str] = {
    "paddle.sin(x)": _INTEGERS,
    "paddle.sqrt(x)": _INTEGERS,
    "paddle.floor(x)": _INTEGERS,
    "paddle.tanh(x)": _INTEGERS,
    "paddle.reciprocal(x)": _INTEGERS,
    "paddle.logit(x, eps=0.1)": _ROUNDED,
    "paddle.stanh(x)": _ROUNDED,
    "paddle.norm(x, p=3, axis=1)": _ROUNDED,
    "2 // x": _PYTHON,
    "2.5 // x": _PYTHON,
    "2 % x": _PYTHON,
    "2.5 % x": _PYTHON,
    "abs(x)": _PYTHON,
    "bool(x)": _STANDARD,
    "len(paddle.to_tensor(1.0))": _STANDARD,
    "paddle.atan2(x, y)": "an extension: inputs of different rank broadcast, as in every other binary function",
    "y / x": "Paddle truncates the floating divisor of an integer tensor: 3 / 1.5 gives 3; we divide",
    "paddle.put_along_axis(x, i, 1.5, 1)": "an extension: the number takes the dtype of x; Paddle makes it float32 and fails",
    "paddle.matmul(x, y)  # (4, 1, 2, 3) (5, 3, 4)": "an extension: the gradient of batches of different rank; Paddle fails",
    "paddle.transpose(x, [0])": "a perm that leaves out axes is refused; Paddle takes it for the leading axes",
    "paddle.full(None, 1)": "None is not a shape; Paddle takes it for []",
}
