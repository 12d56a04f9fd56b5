"""Training with n:m sparsity: weights are pruned once, and an optimizer keeps what was pruned at zero.

    optimizer = decorate(optimizer)     # each weight that can be pruned has a mask of ones now
    prune_model(net)                    # masks and weights become sparse
    ...                                 # optimizer.step() multiplies by the masks

A mask of dynamic mode belongs to its parameter. In static mode it is a variable of the program, `<parameter>.asp_mask`, whose value lies in
the scope.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np

from wherry_autograd import no_grad
from wherry_graph.static.builder import lasting_variable
from wherry_graph.static.mode import (
    default_main_program,
    default_startup_program,
    paused,
    program_guard,
    recording_into,
)
from wherry_graph.static.scope import global_scope
from wherry_graph.static.sparsity.masks import MaskAlgo, create_mask
from wherry_nn import Layer, Parameter
from wherry_program.program.ir import OPTIMIZE, Program, Variable
from wherry_tensor import _core, ops, to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, names_of, require
from wherry_tensor.errors import (
    AssertedArgumentError,
    InvalidArgumentError,
    InvalidTypeError,
    PreconditionNotMetError,
    short,
)
from wherry_tensor.static_builder import building

__all__ = [
    "OptimizerWithSparsityGuarantee", "add_supported_layer", "decorate", "prune_model", "reset_excluded_layers", "set_excluded_layers",
]

Pruner = Callable[[Any, int, int, MaskAlgo, str], tuple[Any, Any]]

_ALGORITHMS = {"mask_1d": MaskAlgo.MASK_1D, "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY, "mask_2d_best": MaskAlgo.MASK_2D_BEST}
_MASK = ".asp_mask"  # after the name of a parameter


class NotDecoratedError(PreconditionNotMetError, AssertionError):
    """`decorate` was not called; also an AssertionError, as in Paddle."""


def _pruned_along_inputs(weight: Any, m: int, n: int, algorithm: MaskAlgo, name: str) -> tuple[Any, Any]:
    """Groups lie along what a product sums over; a weight with fewer inputs than a group is not pruned."""
    inputs = weight.shape[1 if weight.ndim == 4 else 0]
    if inputs < m:
        return weight, np.ones_like(weight)
    mask = create_mask(weight.T, algorithm, n, m).T
    return weight * mask, mask


_supported: dict[str, Pruner] = dict.fromkeys(("fc", "linear", "conv2d"), _pruned_along_inputs)
_programs: WeakSet[Program] = WeakSet()  # those with excluded layers


def add_supported_layer(layer: str | Layer | type[Layer], pruning_func: Pruner | None = None) -> None:
    """Add a kind of layer whose weights are pruned, or change how they are pruned.

    Args:
        layer: a layer or its class; or its name as names of parameters have it ("conv1d", "conv1d_0"); or the name of a parameter.
        pruning_func: called as `pruning_func(weight, m, n, algorithm, name)` with an array, two ints, a `MaskAlgo` and the name of the
            parameter; returns the pruned weight and its mask, arrays of the same shape. None prunes along the inputs, as of `Linear`.

    Raises:
        TypeError: `layer` is none of these, or `pruning_func` cannot be called.

    Source:
        `paddle.incubate.asp.add_supported_layer`.

    Examples:
        >>> def smallest_columns(weight, m, n, algorithm, name):
        ...     mask = np.ones_like(weight)
        ...     mask[:, np.argsort(np.abs(weight).sum(0))[: weight.shape[1] * n // m]] = 0
        ...     return weight * mask, mask
        >>> wherry.incubate.asp.add_supported_layer("embedding", smallest_columns)
    """
    if isinstance(layer, Layer):
        layer = re.sub(r"_\d+$", "", layer.full_name())
    elif isinstance(layer, type) and issubclass(layer, Layer):
        layer = re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", layer.__name__)).lower()
    if not isinstance(layer, str):
        raise InvalidTypeError(
            f"add_supported_layer: The type of layer should be string or Layer. Got {short(layer)} ({type(layer).__name__}), expected "
            f"'conv1d', nn.Conv1D or such a layer."
        )
    if pruning_func is not None and not callable(pruning_func):
        raise InvalidTypeError(
            f"add_supported_layer: pruning_func cannot be called. Got {short(pruning_func)} ({type(pruning_func).__name__}), expected a "
            f"function of (weight, m, n, algorithm, name) or None."
        )
    _supported[layer] = _pruned_along_inputs if pruning_func is None else pruning_func


def set_excluded_layers(param_names: Iterable[str], main_program: Program | None = None) -> None:
    """Exclude weights from pruning. Call it before the optimizer is decorated (dynamic mode) or minimizes (static mode).

    Args:
        param_names: names of layers (`layer.full_name()`), of kinds of layers ("conv2d") or of parameters.
        main_program: whose layers; None is `default_main_program()`, to which layers of dynamic mode count.

    Raises:
        TypeError: `param_names` are not names, or `main_program` is not a Program.

    Source:
        `paddle.incubate.asp.set_excluded_layers`.

    Examples:
        >>> layer = wherry.nn.Linear(4, 4)
        >>> wherry.incubate.asp.set_excluded_layers([layer.full_name()])
        >>> wherry.incubate.asp.reset_excluded_layers()
    """
    names = names_of(param_names, "set_excluded_layers", "param_names")
    program = _program_of(main_program, "set_excluded_layers")
    program.__dict__["asp_excluded"] = program.__dict__.get("asp_excluded", frozenset()) | names
    _programs.add(program)


def reset_excluded_layers(main_program: Program | None = None) -> None:
    """Remove all exclusions of `set_excluded_layers`.

    Args:
        main_program: whose layers; None means those of all programs.

    Raises:
        TypeError: `main_program` is not a Program.

    Source:
        `paddle.incubate.asp.reset_excluded_layers`.

    Examples:
        >>> wherry.incubate.asp.reset_excluded_layers()
    """
    chosen = list(_programs) if main_program is None else [_program_of(main_program, "reset_excluded_layers")]
    for program in chosen:
        program.__dict__.pop("asp_excluded", None)


def _program_of(program: Any, what: str) -> Program:
    if program is None:
        return default_main_program()
    return require(program, Program, what, "main_program", "Leave it out for default_main_program().")


def _pruner_of(param: Tensor, program: Program) -> Pruner | None:
    """The pruning function of a parameter; None if it is not pruned."""
    name = param.name
    layer, _, rest = name.partition(".")
    kind = re.sub(r"_\d+$", "", layer)
    if {name, layer, kind} & program.__dict__.get("asp_excluded", frozenset()):
        return None
    found = _supported.get(name)
    if found is None and rest.startswith("w_"):
        found = _supported.get(layer) or _supported.get(kind)
    return found


def decorate(optimizer: Any) -> OptimizerWithSparsityGuarantee:
    """An optimizer that keeps pruned weights at zero: after each step it multiplies weights by their masks.

    In dynamic mode each weight that can be pruned gets a mask of ones now; in static mode `minimize` puts masks into the program.

    Args:
        optimizer: of `paddle.optimizer`, or what `static.amp.decorate` returned.

    Returns:
        An object with the methods of the optimizer; `state_dict()` has the masks too, as `<parameter>.asp_mask`.

    Raises:
        TypeError: `optimizer` is not an optimizer.

    Source:
        `paddle.incubate.asp.decorate`; Mishra et al., "Accelerating sparse deep neural networks" (2021).

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(8, 16), wherry.nn.ReLU(), wherry.nn.Linear(16, 4))
        >>> optimizer = wherry.optimizer.SGD(0.1, parameters=net.parameters())
        >>> optimizer = wherry.incubate.asp.decorate(optimizer)
        >>> masks = wherry.incubate.asp.prune_model(net)
        >>> net(wherry.ones([2, 8])).sum().backward()
        >>> optimizer.step()
        >>> wherry.incubate.asp.calculate_density(net[0].weight)
        0.5
    """
    if isinstance(optimizer, OptimizerWithSparsityGuarantee):
        return optimizer
    return OptimizerWithSparsityGuarantee(optimizer)


class OptimizerWithSparsityGuarantee:
    """An optimizer that keeps pruned weights at zero; made by `decorate`.

    Raises:
        TypeError: `optimizer` is not an optimizer (also a ValueError).

    Examples:
        >>> net = wherry.nn.Linear(32, 32)
        >>> optimizer = wherry.incubate.asp.decorate(wherry.optimizer.SGD(0.1, parameters=net.parameters()))
        >>> masks = wherry.incubate.asp.prune_model(net)  # two of four numbers are zero
        >>> net(wherry.ones([1, 32])).sum().backward()
        >>> optimizer.step()
        >>> wherry.incubate.asp.calculate_density(net.weight)
        0.5
    """

    def __init__(self, optimizer: Any) -> None:
        if not all(callable(getattr(optimizer, name, None)) for name in ("step", "minimize", "_all_parameters")):
            raise InvalidTypeError(
                f"asp.decorate: this is not an optimizer. Got {short(optimizer)} ({type(optimizer).__name__}), expected one of paddle.optimizer. "
                f"Write asp.decorate(paddle.optimizer.SGD(parameters=net.parameters()))."
            )
        self._optimizer = optimizer
        if building.builder is None:
            for param in optimizer._all_parameters():
                if isinstance(param, Parameter) and _pruner_of(param, default_main_program()) is not None and not hasattr(param, "asp_mask"):
                    param.__dict__["asp_mask"] = ops.full(shape=tuple(param.shape), value=1, dtype=param.dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_optimizer":  # while it is being copied
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def _masked(self) -> list[Any]:
        return [param for param in self._optimizer._all_parameters() if getattr(param, "asp_mask", None) is not None]

    @no_grad()
    def _multiply(self, param: Any, mask: Any) -> None:
        """Multiply a weight by its mask in place, and the float32 copy of one of 16 bits too."""
        for weight in (param, getattr(self._optimizer, "_master_weights", {}).get(param.name)):
            if weight is not None:
                ops.multiply.into((weight,), weight, mask if mask.dtype is weight.dtype else ops.cast(mask, dtype=weight.dtype))

    def _mask(self) -> None:
        for param in self._masked():
            self._multiply(param, param.asp_mask)

    def step(self) -> None:
        """Take a step, and set pruned weights to zero again."""
        self._optimizer.step()
        self._mask()

    def minimize(
        self, loss: Tensor, startup_program: Program | None = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """As `Optimizer.minimize`, with the masks applied after the update."""
        done, pairs = self._optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        if building.builder is None:
            self._mask()
            return done, pairs
        program = require(loss, Variable, "minimize", "loss", "Compute it under paddle.enable_static().").program
        startup = default_startup_program() if startup_program is None else startup_program
        chosen = [param for param, _ in pairs if _pruner_of(param, program) is not None]
        with program_guard(program, startup), recording_into(program, OPTIMIZE):
            for param in chosen:
                ones = partial(ops.full, shape=tuple(param.shape), value=1, dtype=param.dtype)
                self._multiply(param, lasting_variable(f"{param.name}{_MASK}", ones))
        return done, pairs

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer, and the masks as `<parameter>.asp_mask`."""
        return {**self._optimizer.state_dict(), **{f"{param.name}{_MASK}": param.asp_mask for param in self._masked()}}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where `state_dict()` was taken, with its masks.

        Names count the layers of a process: masks of a network that was built alike are taken in their order.

        Raises:
            TypeError: `state_dict` is not a dict.
            ValueError: a mask is missing or has another shape (also an AssertionError).
        """
        require(state_dict, Mapping, "set_state_dict", "state_dict", "paddle.load or state_dict() returns one.")  # type: ignore[type-abstract]
        given = {key.removesuffix(_MASK): value for key, value in state_dict.items() if isinstance(key, str) and key.endswith(_MASK)}
        params = self._masked()
        if not {param.name for param in params} & given.keys() and len(given) == len(params):
            given = {param.name: value for param, value in zip(params, given.values(), strict=True)}
        for param in params:
            found = given.get(param.name)
            if found is None or list(found.shape) != param.shape:
                got = "nothing" if found is None else f"shape {list(found.shape)}"
                raise AssertedArgumentError(
                    f"set_state_dict: The {param.name}{_MASK} is not found. Got {got}, expected the mask of shape {param.shape}. Load what the "
                    f"state_dict() of a decorated optimizer gave."
                )
        self._optimizer.set_state_dict({key: value for key, value in state_dict.items() if not str(key).endswith(_MASK)})
        for param in params:
            value = given[param.name]
            value = _core.to_device((value if isinstance(value, Tensor) else to_tensor(value)).detach(), _core.device_of(param))
            param.asp_mask = ops.cast(value, dtype=param.dtype)

    set_dict = set_state_dict


def prune_model(
    model: Program | Layer, n: int = 2, m: int = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[str, Any]:
    """Set the smallest weights of linear layers and convolutions to zero: `n` of each `m` along their inputs.

    Args:
        model: a layer, or a program whose startup program has run.
        n: how many of `m` are zero.
        m: the size of a group.
        mask_algo: "mask_1d", or so that transposed weights are sparse too: "mask_2d_greedy", which is fast, or "mask_2d_best".
        with_mask: also set the masks that a decorated optimizer multiplies by. False is for inference.

    Returns:
        The mask of each pruned parameter by its name, as an array. A weight with fewer than `m` inputs stays whole.

    Raises:
        TypeError: `model` is neither.
        ValueError: there is no such algorithm (also an AssertionError), not `0 <= n <= m`, or a function of `add_supported_layer` returned
            something else.
        RuntimeError: `with_mask`, and the optimizer was not decorated (also an AssertionError); a parameter has no value.

    Source:
        `paddle.incubate.asp.prune_model`; Mishra et al., "Accelerating sparse deep neural networks" (2021).

    Examples:
        >>> net = wherry.nn.Linear(8, 8)
        >>> masks = wherry.incubate.asp.prune_model(net, n=1, m=4, with_mask=False)
        >>> wherry.incubate.asp.calculate_density(net.weight)
        0.75
    """
    if not isinstance(model, (Program, Layer)):
        raise InvalidTypeError(
            f"prune_model: model should be paddle.nn.Layer or paddle.static.Program. Got {short(model)} ({type(model).__name__})."
        )
    n, m, with_mask = integer(n, "prune_model", "n"), integer(m, "prune_model", "m"), flag(with_mask, "prune_model", "with_mask")
    algorithm = _ALGORITHMS.get(mask_algo) if isinstance(mask_algo, str) else None
    if algorithm is None:
        raise AssertedArgumentError(
            f"prune_model: The mask_algo should be one of {', '.join(map(repr, _ALGORITHMS))}. Got {short(mask_algo)}."
        )
    if m < 1 or not 0 <= n <= m:
        raise InvalidArgumentError(f"prune_model: n of m weights are zero. Got n={n}, m={m}, expected 0 <= n <= m and m above 0. Usual is 2 of 4.")
    found: list[tuple[Tensor, Tensor, Tensor | None, Pruner]] = []
    with paused():
        for param in model.all_parameters() if isinstance(model, Program) else model.parameters():
            program = param.program if isinstance(param, Variable) else model if isinstance(model, Program) else default_main_program()
            pruner = _pruner_of(param, program)
            if pruner is not None:
                found.append((param, _value_of(param), _mask_of(param) if with_mask else None, pruner))
        changes = [(param, value, mask, *_applied(pruner, value, m, n, algorithm, param.name)) for param, value, mask, pruner in found]
        for _, value, kept, weight, mask in changes:
            ops.copy.into((value,), ops.cast(to_tensor(weight), dtype=value.dtype))
            if kept is not None:
                ops.copy.into((kept,), ops.cast(to_tensor(mask), dtype=kept.dtype))
    return {param.name: mask for param, _, _, _, mask in changes}


def _value_of(param: Any) -> Tensor:
    value = param if not isinstance(param, Variable) else param.bound if param.bound is not None else global_scope().value(param.name)
    if value is None:
        raise PreconditionNotMetError(
            f"prune_model: '{param.name}' has no value. Got a scope without it, expected one in which the startup program has run. "
            f"Run exe.run(static.default_startup_program()) first."
        )
    return value.detach() if isinstance(value, Parameter) else value  # type: ignore[no-any-return]


def _mask_of(param: Any) -> Tensor:
    held = global_scope().value(f"{param.name}{_MASK}") if isinstance(param, Variable) else getattr(param, "asp_mask", None)
    if held is None:
        raise NotDecoratedError(
            f"prune_model: Cannot find {param.name}{_MASK} variable, please call asp.decorate() to decorate your optimizer first! Got a model "
            f"whose masks nobody keeps. For inference pass with_mask=False; in static mode minimize and the startup program come first."
        )
    return held  # type: ignore[no-any-return]


def _applied(pruner: Pruner, value: Tensor, m: int, n: int, algorithm: MaskAlgo, name: str) -> tuple[Any, Any]:
    wide = value if value.dtype in (_core.float32, _core.float64) else ops.cast(value, dtype=_core.float32)
    result = pruner(wide.numpy(), m, n, algorithm, name)
    if isinstance(result, tuple) and len(result) == 2:
        weight, mask = (np.asarray(one) for one in result)
        if list(weight.shape) == list(mask.shape) == value.shape:
            return weight, mask.astype(wide.numpy().dtype)
    raise InvalidArgumentError(
        f"prune_model: the function that prunes '{name}' returns the pruned weight and its mask. Got {short(result)}, expected two arrays of "
        f"shape {value.shape}."
    )
