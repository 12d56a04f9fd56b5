"""Recomputation: a part of a model keeps its inputs alone, and computes the rest once more when gradients are asked for."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wherry_autograd import PyLayer, backward, enable_grad, is_grad_enabled, no_grad, saved_tensors_hooks
from wherry_distributed.random_states import get_rng_state_tracker
from wherry_program.program.capture import current_capture
from wherry_program.program.structure import flatten, pack
from wherry_tensor import Tensor, get_rng_state, set_rng_state
from wherry_tensor.arguments import integer, require
from wherry_tensor.errors import InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.static_builder import building
from wherry_tensor.tracebacks import warn
from wherry_train import amp
from wherry_train.amp.casting import current_arguments

__all__ = ["check_recompute_necessary", "recompute", "recompute_hybrid", "recompute_sequential"]


def recompute(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """What a function gives; what it computes in between is not kept for the gradient, but computed once more.

    In a function of `to_static`, and in static mode, the function becomes a part of the program like any other: programs plan their memory
    as a whole.

    Args:
        function: a layer, or a function.
        args: what it takes; tensors also in lists and dicts.
        use_reentrant: True records it as one operation, which needs an input that asks for gradients. False leaves its operations where
            they are and forgets what they keep: it works also where parameters alone ask for gradients.
        preserve_rng_state: draw the same random numbers the second time, for dropout; those under names, too.
        kwargs: what it takes by name.

    Returns:
        What `function` returns.

    Source:
        `paddle.distributed.fleet.utils.recompute`; Chen et al., Training deep nets with sublinear memory cost (2016).
    """
    if not callable(function):
        raise InvalidTypeError(f"recompute: 'function' cannot be called. Got {short(function)}, expected a layer or a function. Pass it without ().")
    if not is_grad_enabled() or building.builder is not None or current_capture() is not None:
        return function(*args, **kwargs)
    if not use_reentrant:
        return _forgetting(function, args, kwargs, preserve_rng_state)
    flat = flatten([list(args), kwargs])
    at = [i for i, each in enumerate(flat) if isinstance(each, Tensor)]
    if all(flat[i].stop_gradient for i in at):
        return function(*args, **kwargs)  # nothing would reach the parameters through the inputs

    def again(tensors: Sequence[Tensor]) -> Any:
        filled = list(flat)
        for i, x in zip(at, tensors, strict=True):
            filled[i] = x
        given, named = pack([list(args), kwargs], filled)
        return function(*given, **named)

    form: list[Any] = []
    out = _Again.apply(again, preserve_rng_state, form, *(flat[i] for i in at))
    outs = list(out) if isinstance(out, tuple) else [out]
    whole, places = form
    filled = flatten(whole)
    for i, x in zip(places, outs, strict=True):
        filled[i] = x
    return pack(whole, filled)


class _Moment:
    """What decides the numbers of a computation besides its inputs: random states and mixed precision."""

    def __init__(self, keeps_random: bool) -> None:
        self.random = (get_rng_state(), get_rng_state_tracker().get_states_tracker()) if keeps_random else None
        self.amp = current_arguments()

    @contextmanager
    def again(self) -> Iterator[None]:
        """As it was, and afterwards as it is."""
        tracker = get_rng_state_tracker()
        now = get_rng_state(), tracker.get_states_tracker()
        if self.random is not None:
            set_rng_state(self.random[0])
            tracker.set_states_tracker(dict(self.random[1]))
        try:
            with enable_grad(), amp.auto_cast(**(self.amp or {"enable": False})):
                yield
        finally:
            if self.random is not None:
                set_rng_state(now[0])
                tracker.set_states_tracker(now[1])


def _forgetting(function: Callable[..., Any], args: Any, kwargs: Any, keeps_random: bool) -> Any:
    """The operations stay; what they keep is a number, and the first one asked for has all computed once more."""
    moment, kept, count = _Moment(keeps_random), {}, 0

    def pack_hook(x: Tensor) -> int:
        nonlocal count
        count += 1
        return count - 1

    def compute() -> None:
        place = 0

        def keep(x: Tensor) -> Tensor:
            nonlocal place
            kept[place] = x.detach()
            place += 1
            return x

        with moment.again(), saved_tensors_hooks(keep, lambda x: x):
            function(*args, **kwargs)
        if place != count:
            raise PreconditionNotMetError(
                f"recompute: the function keeps other tensors the second time. Got {place}, expected {count}. It must not depend on what changes "
                f"between forward and backward."
            )

    def unpack_hook(place: int) -> Tensor:
        if place not in kept:
            compute()
        return kept.pop(place)

    with saved_tensors_hooks(pack_hook, unpack_hook):
        return function(*args, **kwargs)


class _Again(PyLayer):
    """Runs without recording, and once more with it."""

    @staticmethod
    def forward(ctx: Any, again: Any, keeps_random: bool, form: list[Any], *tensors: Tensor) -> Any:
        ctx.again, ctx.tensors, ctx.moment = again, tensors, _Moment(keeps_random)
        with no_grad():
            whole = again(tensors)
        flat = flatten(whole)
        ctx.places = [i for i, each in enumerate(flat) if isinstance(each, Tensor)]
        form[:] = [whole, ctx.places]
        outs = tuple(flat[i] for i in ctx.places)
        return outs[0] if len(outs) == 1 else outs

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        inputs = []
        for x in ctx.tensors:
            alone = x.detach()
            alone.stop_gradient = x.stop_gradient
            inputs.append(alone)
        with ctx.moment.again():
            whole = ctx.again(inputs)
        flat = flatten(whole)
        pairs = [(flat[i], g) for i, g in zip(ctx.places, cotangents, strict=True) if not flat[i].stop_gradient and g is not None]
        if pairs:
            backward([out for out, _ in pairs], [g for _, g in pairs])
        grads = tuple(None if x.stop_gradient else x.grad for x in inputs)
        return grads[0] if len(grads) == 1 else grads


def recompute_sequential(ctx: dict[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Any:
    """`recompute` for each segment of a sequence of layers. `ctx["segments"]` says how many there are.

    Source:
        `paddle.distributed.fleet.recompute_sequential`.
    """
    require(ctx, dict, "recompute_sequential", "ctx", "Write {'segments': 2}.")
    if not isinstance(functions, Iterable):
        raise InvalidTypeError(
            f"recompute_sequential: 'functions' are not several. Got {short(functions)}, expected a Sequential or a list of layers."
        )
    layers = list(functions)
    count = max(integer(ctx.get("segments", 1), "recompute_sequential", "ctx['segments']"), 1)
    size = max(len(layers) // count, 1)
    for begin in range(0, len(layers), size):
        out = recompute(_chain(layers[begin : begin + size]), *args, preserve_rng_state=ctx.get("preserve_rng_state", True), **kwargs)
        args = out if isinstance(out, tuple) else (out,)
    return args[0] if len(args) == 1 else args


def _chain(layers: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        for layer in layers:
            given = layer(*given)
            given = given if isinstance(given, tuple) else (given,)
        return given[0] if len(given) == 1 else given

    return run


def recompute_hybrid(ctx: dict[str, Any], function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`recompute` in a model that is divided among processes.

    Args:
        ctx: `mp_group`, and `offload` and `partition`, which have no effect: what is kept is a process's own part.

    Source:
        `paddle.distributed.fleet.recompute_hybrid`.
    """
    require(ctx, dict, "recompute_hybrid", "ctx", "Write {'mp_group': group}.")
    return recompute(function, *args, preserve_rng_state=ctx.get("preserve_rng_state", True), **kwargs)


def check_recompute_necessary(inputs: Any) -> None:
    """Warn where no input asks for gradients, so that nothing will be computed again. Source: `paddle.distributed.fleet.recompute`."""
    if not any(isinstance(one, Tensor) and not one.stop_gradient for one in inputs):
        warn("recompute: no input asks for gradients, so nothing is computed again. Set stop_gradient=False, or call the function.", UserWarning)
