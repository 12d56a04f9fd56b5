"""Side effects of programs: print, assert, calls of Python."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_nn import unique_name
from wherry_program.program.capture import current_capture
from wherry_program.program.control.conditions import check_condition
from wherry_program.program.control.recording import recording_of, rules, with_gradient
from wherry_program.program.ir import ControlOp, Node, Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor, is_symbolic
from wherry_tensor.functions.creation import to_tensor

__all__ = ["assert_true", "print_tensor", "py_func"]

PRINT = ControlOp("print", ("message", "summarize", "first_n"), ("io",))
ASSERT = ControlOp("assert", ("message",), ("io",))
PY_FUNC = ControlOp("py_func", ("function", "backward"), ("io",))


def print_tensor(x: Tensor, message: str = "", summarize: int = 20, first_n: int = -1) -> Tensor:
    """Print a tensor when the program runs; gives `x` back. `first_n` bounds how often (-1: always)."""
    recording = current_capture()
    if recording is None:
        print(_printed(x, message))
        return x
    recording.record(PRINT, (x,), (message, summarize, first_n), ())
    return x


def assert_true(condition: Tensor | bool, message: str = "", data: Sequence[Tensor] = ()) -> None:
    """Raise an error, when the program runs, unless the one element of `condition` is true."""
    recording = current_capture()
    if recording is None or not (isinstance(condition, Tensor) and is_symbolic(condition)):
        assert bool(condition), message
        return
    check_condition("assert", condition)
    recording.record(ASSERT, (condition, *data), (message,), ())


def py_func(
    function: Callable[..., Any], inputs: Sequence[Tensor], outputs: Sequence[tuple[Sequence[int], Any] | Variable],
    backward: Callable[..., Any] | None = None,
) -> list[Tensor]:
    """In a capture: call Python when the program runs.

    Args:
        function: takes a Tensor for each input, returns one for each output.
        inputs: tensors.
        outputs: shape and dtype of each result, or a variable of the program that nothing has made yet.
        backward: takes inputs, outputs and cotangents of the outputs, returns the cotangent of each input; None: no gradient passes.
    """
    recording = recording_of("py_func")
    names = unique_name.generate("py_func")
    outs = tuple(
        x if isinstance(x, Variable) else recording.block.variable(*x, f"{names}.tmp_{i}") for i, x in enumerate(outputs)
    )
    node = recording.record(PY_FUNC, tuple(inputs), (function, backward), outs)
    return with_gradient(recording, node, outs, recording.tensor_of)


def _py_func_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    backward = node.attr("backward")
    if backward is None:
        return [None] * len(wanted)
    cts = [
        ops.full_like(x, value=0, dtype=x.dtype) if ct is None else ct for x, ct in zip(node.outputs, cotangents)
    ]
    inputs = [x for x in node.inputs if x is not None]
    found = py_func(backward, [*inputs, *node.outputs, *cts], [(x.sizes, x.dtype) for x in inputs])
    by_input = {id(x): g for x, g in zip(inputs, found)}
    return [by_input.get(id(x)) for x in wanted]


_printed_times: dict[int, int] = {}


def _run_print(run: Any, node: Node, env: dict[int, Any]) -> None:
    message, _summarize, first_n = node.attrs
    times = _printed_times[id(node)] = _printed_times.get(id(node), 0) + 1
    if first_n < 0 or times <= first_n:
        print(_printed(run.value_of(node.inputs[0], env), message))


def _printed(x: Any, message: str) -> str:
    return f"{message.encode(errors='backslashreplace').decode()} {x}" if message else str(x)  # any text can be printed


def _run_assert(run: Any, node: Node, env: dict[int, Any]) -> None:
    if not bool(run.value_of(node.inputs[0], env)):
        data = "".join(f"\n{x.name}: {run.value_of(x, env)}" for x in node.inputs[1:] if x is not None)
        raise AssertionError(f"{node.attr('message') or 'the condition of an assert does not hold'} ({node.line}){data}")


def _run_py_func(run: Any, node: Node, env: dict[int, Any]) -> None:
    result = node.attr("function")(*(run.value_of(x, env) for x in node.inputs))
    results = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != len(node.outputs):
        raise ValueError(f"py_func: got {len(results)} results, expected {len(node.outputs)}, one for each variable in `out`.")
    for x, value in zip(node.outputs, results):
        env[id(x)] = value if isinstance(value, Tensor) else to_tensor(value)


rules(PRINT, _run_print)
rules(ASSERT, _run_assert)
rules(PY_FUNC, _run_py_func, gradient=_py_func_gradient)
