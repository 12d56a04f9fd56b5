"""Gradients and updates of programs in static mode."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wherry_graph.static.mode import (
    default_main_program,
    default_startup_program,
    paused,
    program_guard,
    recording_into,
)
from wherry_nn import Parameter, unique_name
from wherry_program.program import backward
from wherry_program.program.ir import OPTIMIZE, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["append_backward", "gradients", "minimize", "parameter_gradients"]


def append_backward(
    loss: Tensor, parameter_list: Sequence[Any] | None = None, no_grad_set: Iterable[Any] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None, checkpoints: Sequence[Any] | None = None, distop_context: Any = None,
) -> list[tuple[Any, Tensor]]:
    """Add the computation of the gradients of parameters to the program of `loss`.

    Args:
        loss: a variable of one element.
        parameter_list: variables or names; None takes all parameters of the program that train.
        no_grad_set: variables or names through which no gradient flows.
        callbacks: called as `callback(block, {"grad": gradient, "param": parameter})` for each gradient.
        checkpoints: no effect; gradients keep what they need.
        distop_context: no effect.

    Returns:
        Pairs of a parameter and its gradient, for the parameters that the loss depends on. The gradient of `w` is named `w@GRAD`.

    Shape:
        loss: `[]` or `[1]`. A gradient has the shape of its parameter.

    Raises:
        TypeError: `loss` is not a variable of a program.
        ValueError: it has more than one element, or a name is not in the program.

    Source:
        `paddle.static.append_backward`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 2])
        ...     loss = wherry.static.nn.fc(x, 1, weight_attr="w", bias_attr=False).mean()
        ...     pairs = wherry.static.append_backward(loss)
        >>> [(p.name, g.name, g.shape) for p, g in pairs]
        [('w', 'w@GRAD', [2, 1])]
        >>> wherry.disable_static()
    """
    x = _variable("append_backward", loss)
    sizes = x.sizes
    if any(n != 1 for n in sizes):
        raise InvalidArgumentError(
            f"append_backward: The loss.shape should be (1L,) or (), but the current loss.shape is {sizes}. Got '{x.name}', expected one "
            f"number. Maybe you should call paddle.mean to process the current loss."
        )
    program = x.program
    if parameter_list is None:
        params = [p for p in program.all_parameters() if not p.stop_gradient]
    else:
        params = [_named(program, p, "append_backward") for p in parameter_list]
    blocked = [_named(program, one, "append_backward") for one in no_grad_set or ()]
    ids = {id(one) for one in blocked}
    params = [p for p in params if id(p) not in ids]
    found = _gradients([x], params, None, blocked)
    pairs = [(p if p.bound is None else p.bound, g) for p, g in zip(params, found, strict=True) if g is not None]
    for callback in callbacks or ():
        for p, g in pairs:
            callback(block=x.block, context={"grad": g, "param": p})
    return pairs


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Iterable[Any] | None = None
) -> list[Tensor | None]:
    """Add the computation of the gradients of the sum of `targets` with respect to `inputs` to the program.

    Args:
        targets: a variable, or several.
        inputs: a variable, or several.
        target_gradients: the gradient of each target, of its shape; None is ones.
        no_grad_set: variables or names through which no gradient flows.

    Returns:
        The gradient of each input; None where the targets do not depend on it.

    Shape:
        A gradient has the shape of its input, `[...]`.

    Raises:
        TypeError: an argument is not a variable of a program.
        ValueError: the number of target gradients is not that of targets.

    Source:
        `paddle.static.gradients`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [3])
        ...     x.stop_gradient = False
        ...     (dx,) = wherry.static.gradients([x * x], [x])
        >>> wherry.static.Executor().run(dx.program, feed={"x": [1.0, 2.0, 3.0]}, fetch_list=[dx])[0].tolist()
        [2.0, 4.0, 6.0]
        >>> wherry.disable_static()
    """
    ends = [_variable("gradients", x) for x in _listed(targets)]
    if not ends:
        raise InvalidArgumentError("gradients: there is nothing to differentiate. Got no targets, expected one or more. Pass the loss.")
    begins = [_variable("gradients", x, ends[0].program) for x in _listed(inputs)]
    given = [None if x is None else _variable("gradients", x, ends[0].program) for x in _listed(target_gradients)]
    if given and len(given) != len(ends):
        raise InvalidArgumentError(
            f"gradients: Should have the same number of target_gradients as targets. Got {len(given)}, expected {len(ends)}."
        )
    for x, ct in zip(ends, given):
        if ct is not None and list(ct.sizes) != list(x.sizes):
            raise InvalidArgumentError(
                f"gradients: The shapes of grad and y are different. Got {list(ct.sizes)} for '{x.name}', expected {list(x.sizes)}."
            )
    blocked = [_named(ends[0].program, one, "gradients") for one in no_grad_set or ()]
    return _gradients(ends, begins, given or None, blocked)


def _gradients(
    targets: list[Variable], inputs: list[Variable], given: list[Variable | None] | None, blocked: list[Variable]
) -> list[Any]:
    block = targets[0].block
    fed = [x for x in block.vars.values() if x.is_data and not x.stop_gradient and all(x is not one for one in (*inputs, *blocked))]
    between: dict[Variable, Variable] = {}
    with paused():
        found = backward.gradients(targets, [*inputs, *fed], given, blocked, between)
        between.update((x, g) for x, g in zip(fed, found[len(inputs) :], strict=True) if g is not None)
        del found[len(inputs) :]
        taken: set[int] = set()
        for i, (x, g) in enumerate(zip(inputs, found, strict=True)):
            if g is None:
                continue
            if id(g) in taken or g.made_by is None or g.made_by.in_place or g.block is not block or g.name.endswith("@GRAD"):
                with recording_into(block.program, backward.BACKWARD) as recording, recording.inside(block):
                    g = found[i] = recording.variable_of(ops.copy(g))
            taken.add(id(g))
            name = f"{x.name}@GRAD"
            while name in block.vars:
                name = unique_name.generate(f"{x.name}@GRAD")
            block.rename(g, name)
    for x, g in between.items():
        name = f"{x.name}@GRAD"
        if g.block is block and name not in block.vars:
            if g.name.endswith("@GRAD") or g.made_by is None or g.made_by.in_place:
                block.other_names[name] = g.name
            else:
                block.rename(g, name)
    return found


def parameter_gradients(optimizer: Any, loss: Any, parameters: Any, no_grad_set: Any, callbacks: Any = None) -> list[tuple[Any, Any]]:
    """`append_backward` for the parameters of an optimizer, or, if it has none, for all of the program."""
    program = _variable("minimize", loss).program
    chosen = parameters
    if chosen is None:
        chosen = list(optimizer._all_parameters()) or None
    if chosen is not None:
        present = {id(x.bound) for x in program.bound_variables()}
        chosen = [
            p for p in chosen
            if isinstance(p, str) or (not p.stop_gradient and (isinstance(p, Variable) or id(p) in present))
        ]
    return append_backward(loss, chosen, no_grad_set, callbacks)


def minimize(
    optimizer: Any, loss: Any, startup_program: Program | None, parameters: Any, no_grad_set: Any
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Add gradients and the update of parameters to the program of `loss`."""
    program = _variable("minimize", loss).program
    with program_guard(program, default_startup_program() if startup_program is None else startup_program):
        pairs = optimizer.backward(loss, startup_program, parameters, no_grad_set)
        mark = len(program.blocks[0].nodes)
        optimizer.apply_gradients(pairs)
        return program.blocks[0].nodes[mark:], pairs


@contextmanager
def updating(optimizer: Any) -> Iterator[None]:
    """A context: the ops recorded inside are the update of `optimizer`, whose learning rate follows its schedule."""
    with recording_into(default_main_program(), OPTIMIZE) as recording:
        if optimizer._refresh_rates not in recording.program.before_run:
            recording.program.before_run.append(optimizer._refresh_rates)
        yield


def _variable(what: str, x: Any, program: Program | None = None) -> Variable:
    if isinstance(x, Variable):
        return x.current
    if program is not None and isinstance(x, Tensor):
        return program.bind(x)  # a parameter of a layer that was made before static mode
    raise AssertedTypeError(
        f"{what}: this is not a variable of a program. Got {short(x)} ({type(x).__name__}), expected what was computed under "
        f"paddle.enable_static()."
    )


def _named(program: Program, x: Any, what: str) -> Variable:
    if isinstance(x, Variable):
        return x
    if isinstance(x, str):
        found = program.blocks[0].find(x)
        if found is None:
            raise InvalidArgumentError(f"{what}: the program has no variable of this name. Got {short(x)}, expected a name of list_vars().")
        return found
    if isinstance(x, Parameter):
        return program.bind(x)
    raise InvalidTypeError(f"{what}: this is not a variable. Got {short(x)} ({type(x).__name__}), expected a variable or its name.")


def _listed(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]


explained(globals())
