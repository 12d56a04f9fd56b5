"""Control flow of static programs. With tensors that have data, these functions do what Python's `if` and `while` do."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_program.program import control
from wherry_program.program.capture import current_capture
from wherry_program.program.structure import flatten, map_structure
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_complex, is_floating_point
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["case", "cond", "static_pylayer", "switch_case", "while_loop"]


def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None,
    return_names: Any = None,
) -> Any:
    """What `true_fn()` returns if `pred`, else what `false_fn()` returns; in a program both are recorded, and it chooses when it runs.

    Args:
        pred: one element, true or false.
        true_fn: called without arguments; None returns None.
        false_fn: as well. Both return the same structure, of tensors of the same rank and dtype.
        return_names: no effect.

    Raises:
        TypeError: a branch is not a function, or what the branches return does not fit.
        ValueError: the shapes or dtypes do not fit.

    Source:
        `paddle.static.nn.cond`.

    Examples:
        >>> wherry.static.nn.cond(wherry.to_tensor(True), lambda: 1, lambda: 2)
        1
    """
    for what, branch in ("true_fn", true_fn), ("false_fn", false_fn):
        if branch is not None and not callable(branch):
            raise InvalidTypeError(f"cond: The {what} in cond must be callable. Got {short(branch)} ({type(branch).__name__}), expected a function.")
    return control.cond(pred, true_fn or _nothing, false_fn or _nothing)


def _nothing() -> None:
    return None


def case(pred_fn_pairs: Sequence[Any], default: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """What the function of the first pair `(pred, function)` returns whose `pred` is true, else what `default()` returns.

    Args:
        pred_fn_pairs: pairs of one element and a function.
        default: None is the function of the last pair.

    Raises:
        TypeError: this is not a list of pairs of a Tensor and a function.
        ValueError: there is no pair.

    Source:
        `paddle.static.nn.case`.

    Examples:
        >>> x = wherry.to_tensor(2.0)
        >>> wherry.static.nn.case([(x < 1.0, lambda: "small"), (x < 3.0, lambda: "middle")], lambda: "large")
        'middle'
    """
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise InvalidTypeError(f"case: The type of 'pred_fn_pairs' must be list or tuple. Got {type(pred_fn_pairs).__name__}.")
    if not pred_fn_pairs:
        raise InvalidArgumentError("case: there is nothing to choose from. Got an empty list, expected pairs (pred, function).")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Tensor) or not callable(pair[1]):
            raise InvalidTypeError(
                f"case: The element of pred_fn_pairs must be a tuple of a Tensor and a function. Got {short(pair)}, expected (pred, function)."
            )
    if default is not None and not callable(default):
        raise InvalidTypeError(f"case: The default must be callable. Got {short(default)} ({type(default).__name__}), expected a function.")
    *pairs, (last, otherwise) = pred_fn_pairs
    if default is not None:
        pairs, otherwise = [*pairs, (last, otherwise)], default

    def chosen(i: int) -> Any:
        if i == len(pairs):
            return otherwise()
        return control.cond(pairs[i][0], pairs[i][1], lambda: chosen(i + 1))

    return chosen(0)


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """What the function with number `branch_index` returns, else what `default()` returns.

    Args:
        branch_index: an integer of one element.
        branch_fns: functions by number: a dict, a list of pairs, or a list of functions, which are numbered from 0.
        default: None is the function with the largest number.

    Raises:
        TypeError: `branch_index` is not an integer Tensor, or an argument is not a function.
        ValueError: a number stands twice, or there is no function.

    Source:
        `paddle.static.nn.switch_case`.

    Examples:
        >>> wherry.static.nn.switch_case(wherry.to_tensor(1), [lambda: "zero", lambda: "one"])
        'one'
    """
    if not isinstance(branch_index, Tensor) or not branch_index.dtype.is_integer:
        got = branch_index.dtype.name if isinstance(branch_index, Tensor) else type(branch_index).__name__
        raise InvalidTypeError(f"switch_case: branch_index must be an integer Tensor. Got {got}, expected uint8, int32 or int64.")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise InvalidTypeError(f"switch_case: The type of 'branch_fns' must be list, tuple or dict. Got {type(branch_fns).__name__}.")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if pairs and all(callable(one) for one in pairs):
        pairs = list(enumerate(pairs))
    if not pairs:
        raise InvalidArgumentError("switch_case: there is nothing to choose from. Got no function, expected one or more.")
    functions: dict[int, Callable[[], Any]] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise InvalidTypeError(f"switch_case: a branch is a number with a function. Got {short(pair)}, expected (1, function), say.")
        if pair[0] in functions:
            raise InvalidArgumentError(f"switch_case: The key in 'branch_fns' must be unique. Got {pair[0]} twice.")
        functions[pair[0]] = pair[1]
    if default is not None and not callable(default):
        raise InvalidTypeError(f"switch_case: The default must be callable. Got {short(default)} ({type(default).__name__}), expected a function.")
    numbers = sorted(functions)
    otherwise = functions[numbers.pop()] if default is None else default

    def chosen(i: int) -> Any:
        if i == len(numbers):
            return otherwise()
        number = ops.full(shape=(), value=numbers[i], dtype=branch_index.dtype)
        return control.cond(ops.equal(branch_index, number), functions[numbers[i]], lambda: chosen(i + 1))

    return chosen(0)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], is_test: bool = False, name: str | None = None
) -> list[Any]:
    """Replace `loop_vars` by what `body(*loop_vars)` returns while `cond(*loop_vars)` holds.

    Args:
        cond: gives one element, true or false.
        body: gives as many values as there are `loop_vars`, of the same structure, rank and dtype.
        loop_vars: tensors, or nested lists, tuples and dicts of them.
        is_test: no effect; what only gradients need is kept only where there are any.

    Returns:
        The last values.

    Raises:
        TypeError: `cond` or `body` is not a function, or `loop_vars` is not a list or tuple.
        ValueError: `loop_vars` is empty, or the body returns what does not fit.

    Source:
        `paddle.static.nn.while_loop`.

    Examples:
        >>> i, total = wherry.static.nn.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + i), [wherry.to_tensor(0), wherry.to_tensor(0)])
        >>> int(total)
        6
    """
    for what, function in ("cond", cond), ("body", body):
        if not callable(function):
            raise InvalidTypeError(f"while_loop: {what} in while_loop should be callable. Got {short(function)} ({type(function).__name__}).")
    if not isinstance(loop_vars, (list, tuple)):
        raise InvalidTypeError(f"while_loop: loop_vars in while_loop should be a list or tuple. Got {type(loop_vars).__name__}.")
    if not loop_vars:
        raise InvalidArgumentError("while_loop: loop_vars in while_loop should not be empty. Got none, expected what changes from round to round.")
    return control.while_loop(cond, body, list(loop_vars))


def static_pylayer(
    forward_fn: Callable[..., Any], inputs: Sequence[Tensor], backward_fn: Callable[..., Any] | None = None, name: str | None = None,
) -> Any:
    """Call `forward_fn(*inputs)`, with gradients by `backward_fn` in place of those of its ops.

    Args:
        forward_fn: takes the inputs, returns tensors: one, or a nested structure of them.
        inputs: variables of the program.
        backward_fn: takes the gradient of each tensor that `forward_fn` returns, returns the gradient of each input, None for one that
            needs none. It is recorded at once. None: no gradient passes.

    Shape:
        inputs: `[...]` each, as `forward_fn` takes them.

    Raises:
        RuntimeError: nothing is being recorded; `PyLayer` is for eager code.
        TypeError: a function cannot be called, or an input is not a tensor.
        ValueError: without `backward_fn` an input asks for gradients, or `backward_fn` returns another number of gradients than there are inputs.

    Source:
        `paddle.static.nn.static_pylayer`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     y = wherry.static.nn.static_pylayer(lambda a: a * 2, [x], lambda dy: dy * 10)
        ...     (dx,) = wherry.static.gradients([y], [x])
        >>> wherry.static.Executor().run(y.program, feed={"x": [1.0, 2.0]}, fetch_list=[y, dx])
        [array([2., 4.], dtype=float32), array([10., 10.], dtype=float32)]
        >>> wherry.disable_static()
    """
    for what, function in ("forward_fn", forward_fn), ("backward_fn", backward_fn):
        if not callable(function) and not (function is None and what == "backward_fn"):
            raise InvalidTypeError(
                f"static_pylayer: {what} has to be callable. Got {short(function)} ({type(function).__name__}), expected a function."
            )
    if current_capture() is None:
        raise RuntimeError(
            "static_pylayer: please use PyLayer instead of static_pylayer in dygraph mode. Got a call outside of a program, expected one in static "
            "mode or in a function of to_static. Define a subclass of paddle.autograd.PyLayer."
        )
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise InvalidTypeError(f"static_pylayer: input {i} is not a tensor. Got {short(x)} ({type(x).__name__}), expected a variable.")
        if backward_fn is None and not x.stop_gradient:
            raise InvalidArgumentError(
                f"static_pylayer: ``stop_gradient`` attr of all inputs to ``forward_fn`` are expected to be True, when ``backward_fn == None``, "
                f"but {x.name}.stop_gradient got False. Set it, or give a backward_fn."
            )
    with no_grad():
        returned = forward_fn(*inputs)
    results = [leaf for leaf in flatten(returned) if isinstance(leaf, Tensor)]
    floating = [i for i, x in enumerate(results) if is_floating_point(x) or is_complex(x)]

    def backward(cotangents: list[Tensor | None]) -> list[Tensor | None]:
        assert backward_fn is not None
        found = backward_fn(*(cotangents[i] for i in floating))
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) != len(inputs):
            raise InvalidArgumentError(
                f"static_pylayer: needs to keep the number of inputs to ``forward_fn`` the same as the number of outputs to ``backward_fn``, but "
                f"got {len(inputs)} and {len(found)}. Return a gradient, or None, for each input."
            )
        return found

    fresh = iter(control.own_gradient(inputs, results, None if backward_fn is None else backward))
    return map_structure(lambda leaf: next(fresh) if isinstance(leaf, Tensor) else leaf, returned)


explained(globals())
