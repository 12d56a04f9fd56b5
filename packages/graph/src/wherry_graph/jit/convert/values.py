"""Values of converted code in the program: tests, comparisons, casts, `print`, `assert`."""
from __future__ import annotations

from typing import Any

from wherry_graph.jit.convert.state import Thunk, common_dtype, described, is_number
from wherry_graph.jit.convert.symbolic import decides_at_run_time, scalar
from wherry_program.program import control
from wherry_program.program.capture import Capture, current_capture
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_floating_point
from wherry_tensor.sizes import Size, user_line

__all__ = [
    "asserted", "cast", "compared", "condition", "extreme", "logical", "negated", "printed", "recording_now", "refused", "tried",
]


def refused(what: str) -> RuntimeError:
    """The error for something that a program cannot hold."""
    return RuntimeError(
        f"to_static: {what}. Got it at {user_line()}, expected a plain `if`, `while` or `for`. Rewrite the statement, or keep the function "
        f"out of the program with not_to_static."
    )


def condition(what: str, x: Any) -> Tensor:
    """A test as one bool of the program."""
    if type(x) is Size:
        return ops.not_equal(x.tensor(), scalar(0))
    if not isinstance(x, Tensor):
        return scalar(bool(x))
    if any(type(n) is not Size and n != 1 for n in x.shape):
        raise ValueError(
            f"{what}: a condition is one true or false. Got a tensor of shape {x.shape} at {user_line()}, expected one element. "
            f"Reduce it with paddle.all or paddle.any."
        )
    if x.ndim:
        x = ops.reshape(x, shape=())
    x = x if x.dtype is _core.bool_ else ops.not_equal(x, scalar(0, x.dtype))
    return x if _core.is_symbolic(x) else recording_now().variable_of(x)  # a buffer: its value at the time of a run


def negated(x: Any) -> Tensor:
    """`not x`"""
    return ops.logical_not(_as_bool(x))


def logical(name: str, first: Any, rest: list[Any]) -> Any:
    """`first and second and ...`, all of which are computed."""
    result: Any = first
    for value in rest:
        if not decides_at_run_time(value):
            if not isinstance(value, (Tensor, bool, int, float)):
                raise TypeError(
                    f"{name}: a tensor of a captured program stands beside something else. Got {described(value)} at {user_line()}, expected "
                    f"a tensor or a bool. Write an `if` for each."
                )
            if isinstance(value, Tensor):
                value = bool(value)
            if bool(value) is (name == "and"):
                continue
            return scalar(bool(value))
        if not decides_at_run_time(result):
            if bool(result) is (name == "and"):
                result = value
                continue
            return result
        result = (ops.logical_and if name == "and" else ops.logical_or)(_as_bool(result), _as_bool(value))
    return result


def _as_bool(x: Any) -> Tensor:
    if type(x) is Size:
        return condition("not", x)
    return x if x.dtype is _core.bool_ else ops.not_equal(x, scalar(0, x.dtype))


_COMPARED = {
    "<": ops.less_than, "<=": ops.less_equal, ">": ops.greater_than, ">=": ops.greater_equal, "==": ops.equal, "!=": ops.not_equal,
}


def compared(symbol: str, a: Any, b: Any) -> Any:
    """A comparison with a size."""
    if not (is_number(a) and is_number(b)):
        return symbol == "!="  # with None or text
    if current_capture() is None:
        raise refused("a size of a captured program is compared outside of it")
    a, b = (scalar(v) if not isinstance(v, Tensor) else v for v in (a, b))
    if a.dtype is not b.dtype:
        a, b = (v if is_floating_point(v) else ops.cast(v, dtype=(b if v is a else a).dtype) for v in (a, b))
    return _COMPARED[symbol](a, b)


def cast(x: Any, dtype: str) -> Any:
    """`int(x)`, `float(x)`, `bool(x)`"""
    if type(x) is Size:
        return x if dtype == "int32" else scalar(x).astype(dtype) if dtype != "bool" else condition("bool", x)
    return x.astype(dtype)


def extreme(name: str, a: Any, b: Any) -> Tensor:
    """`max(a, b)` or `min(a, b)`"""
    dtype = common_dtype(a, b)
    if dtype is None:
        raise TypeError(
            f"{name}: the values have different dtypes. Got {described(a)} and {described(b)} at {user_line()}, expected one dtype. "
            f"Cast one of them."
        )
    values = [v if isinstance(v, Tensor) else scalar(v, dtype) for v in (a, b)]
    return getattr(ops, name)(*values)


def asserted(test: Any, message: Any) -> None:
    """Record `assert test, message`."""
    control.assert_true(condition("assert", test), "" if message is None else str(message))


def printed(values: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Record `print(*values)`: each tensor with the text before it."""
    text: list[str] = []
    for value in values:
        if isinstance(value, Size):
            value = value.tensor()
        if isinstance(value, Tensor):
            control.print_tensor(value, " ".join(text))
            text = []
        else:
            text.append(str(value))
    if text:
        print(*text, **options)


def tried(test: Thunk) -> Any:
    """What a test gives; if that is symbolic, what it recorded is forgotten, since the loop records it in its own place."""
    recording = current_capture()
    if recording is None:
        return test()
    mark = len(recording.block.nodes)
    value = test()
    if decides_at_run_time(value):
        recording.block.forget(mark)
    return value


def recording_now() -> Capture:
    recording = current_capture()
    if recording is None:
        raise refused("a symbolic tensor decides something while no program is captured")
    return recording
