"""Recomputation: a part of a model keeps its inputs alone, and computes the rest once more when gradients are asked for."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wherry
from wherry._inside.framework import in_dynamic_mode
from wherry._inside.modes import amp_state
from wherry._inside.structures import flatten, is_sequence, pack_sequence_as
from wherry_autograd import PyLayer, backward, enable_grad, no_grad
from wherry_tensor import Tensor
from wherry_tensor.tracebacks import warn

__all__ = ["check_recompute_necessary", "recompute", "recompute_sequential"]


def recompute(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """What a function gives; what it computes in between is not kept for the gradient, but computed once more.

    Args:
        function: a layer, or a function.
        args: what it takes; tensors also in lists and dicts.
        use_reentrant: no effect.
        preserve_rng_state: draw the same random numbers the second time, for dropout.
        kwargs: what it takes by name.

    Returns:
        What `function` returns.

    Source:
        `paddle.distributed.fleet.utils.recompute`; Chen et al., Training deep nets with sublinear memory cost (2016).
    """
    flat = flatten([list(args), kwargs])
    at = [i for i, each in enumerate(flat) if isinstance(each, Tensor)]
    recorded = wherry.is_grad_enabled() and in_dynamic_mode()
    if not recorded or all(flat[i].stop_gradient for i in at):
        return function(*args, **kwargs)  # nothing is recorded, or nothing would reach the parameters through the inputs

    def again(tensors: Sequence[Tensor]) -> Any:
        filled = list(flat)
        for i, x in zip(at, tensors):
            filled[i] = x
        given, named = pack_sequence_as([list(args), kwargs], filled)
        return function(*given, **named)

    form: list[Any] = []
    out = _Again.apply(again, preserve_rng_state, form, *(flat[i] for i in at))
    outs = list(out) if isinstance(out, tuple) else [out]
    whole, places = form
    filled = flatten(whole) if is_sequence(whole) else [whole]
    for i, x in zip(places, outs):
        filled[i] = x
    return pack_sequence_as(whole, filled) if is_sequence(whole) else filled[0]


class _Again(PyLayer):
    """Runs without recording, and once more with it."""

    @staticmethod
    def forward(ctx: Any, again: Any, keeps_random: bool, form: list[Any], *tensors: Tensor) -> Any:
        ctx.again, ctx.tensors = again, tensors
        ctx.random = wherry.get_rng_state() if keeps_random else None
        ctx.amp = amp_state()
        with no_grad():
            whole = again(tensors)
        flat = flatten(whole) if is_sequence(whole) else [whole]
        ctx.places = [i for i, each in enumerate(flat) if isinstance(each, Tensor)]
        form[:] = [whole, ctx.places]
        outs = tuple(flat[i] for i in ctx.places)
        return outs[0] if len(outs) == 1 else outs

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        now = wherry.get_rng_state()
        inputs = []
        for x in ctx.tensors:
            alone = x.detach()
            alone.stop_gradient = x.stop_gradient
            inputs.append(alone)
        if ctx.random is not None:
            wherry.set_rng_state(ctx.random)
        try:
            with enable_grad(), wherry.amp.auto_cast(**(ctx.amp or {"enable": False})):
                whole = ctx.again(inputs)
        finally:
            if ctx.random is not None:
                wherry.set_rng_state(now)
        flat = flatten(whole) if is_sequence(whole) else [whole]
        pairs = [(flat[i], g) for i, g in zip(ctx.places, cotangents) if not flat[i].stop_gradient and g is not None]
        if pairs:
            backward([out for out, _ in pairs], [g for _, g in pairs])
        grads = tuple(None if x.stop_gradient else x.grad for x in inputs)
        return grads[0] if len(grads) == 1 else grads


def recompute_sequential(ctx: dict[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Any:
    """`recompute` for each segment of a sequence of layers. `ctx["segments"]` says how many there are."""
    layers = list(functions)
    count = max(int(ctx.get("segments", 1)), 1)
    size = max(len(layers) // count, 1)
    for begin in range(0, len(layers), size):
        part = layers[begin:begin + size]

        def run(*given: Any, part: Sequence[Any] = part) -> Any:
            for layer in part:
                given = layer(*given)
                given = given if isinstance(given, tuple) else (given,)
            return given[0] if len(given) == 1 else given

        out = recompute(run, *args, preserve_rng_state=ctx.get("preserve_rng_state", True), **kwargs)
        args = out if isinstance(out, tuple) else (out,)
    return args[0] if len(args) == 1 else args


def check_recompute_necessary(inputs: Any) -> None:
    """Warn where no input asks for gradients, so that nothing will be computed again. Source: `paddle.distributed.fleet.recompute`."""
    if not any(isinstance(one, Tensor) and not one.stop_gradient for one in inputs):
        warn("recompute: no input asks for gradients, so nothing is computed again. Set stop_gradient=False, or call the function.", UserWarning)
