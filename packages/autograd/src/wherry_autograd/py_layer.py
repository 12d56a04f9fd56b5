"""`PyLayer`: an operation whose forward and backward are Python functions of the user."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from wherry_autograd import _engine
from wherry_autograd.grad_mode import no_grad
from wherry_tensor import ops
from wherry_tensor._core import Tensor, alias, detach_in_place, is_grad_enabled, is_symbolic, set_grad_mode
from wherry_tensor.sizes import is_unknown

__all__ = ["PyLayer", "PyLayerContext", "once_differentiable"]


class PyLayerContext:
    """What `forward` and `backward` of one application share. Any further attribute may be set on it.

    Source:
        `paddle.autograd.PyLayerContext`.

    Examples:
        >>> class Square(wherry.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         (x,) = ctx.saved_tensor()
        ...         return dy * 2 * x
        >>> x = wherry.to_tensor([3.0], stop_gradient=False)
        >>> Square.apply(x).backward()
        >>> print(x.grad.numpy())
        [6.]
    """

    def __init__(self) -> None:
        self._saved: Any = None
        self._not_inplace: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or anything else) for `backward`. A second call replaces what the first one kept."""
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """What `save_for_backward` kept, a tuple; None where nothing was."""
        if isinstance(self._saved, _Saved):
            return self._saved.restore()
        return self._saved

    def mark_not_inplace(self, *args: Tensor) -> None:
        """Inputs that `forward` returns without having changed them: the result is a tensor of its own."""
        self._not_inplace = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Outputs that stop gradients."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """False: `backward` gets None, not zeros, for an output that no gradient reaches."""
        self._materialize = value


class PyLayer:
    """An operation with a gradient of its own. Subclass it and call `apply`.

    `forward(ctx, *args, **kwargs)` takes what `apply` was given and returns a Tensor, or a tuple or
    list that holds at least one; it is not recorded. `backward(ctx, *grads)` takes one gradient for
    each Tensor that forward returned and returns one for each Tensor that it was given: None where
    that one stops gradients.

    Raises:
        NotImplementedError: `forward` is not overridden, or `backward` where a gradient is asked for.
        ValueError: `forward` returns no Tensor, or `backward` not one gradient, of its shape, for each Tensor.

    Source:
        `paddle.autograd.PyLayer`.

    Examples:
        >>> class Double(wherry.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         return dy * 2
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> Double.apply(x).sum().backward()
        >>> print(x.grad.numpy())
        [2. 2.]
    """

    _is_written = True  # whether a captured program keeps it, with its backward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: what a PyLayer computes is asked of its class."""
        name = type(self).__name__
        raise TypeError(f"{name}: a PyLayer is not called. Got an object of it that is, expected apply of the class. Write {name}.apply(x).")

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Compute the result. To be overridden."""
        raise NotImplementedError(
            "PyLayer: you must implement the forward function. Got a subclass without one, expected a static method "
            "forward(ctx, *args, **kwargs). Define it."
        )

    @staticmethod
    def backward(ctx: PyLayerContext, *grads: Any) -> Any:
        """Compute the gradients of the inputs. To be overridden."""
        raise NotImplementedError(
            "PyLayer: you must implement the backward function. Got a subclass without one, expected a static method "
            "backward(ctx, *grads). Define it."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it.

        Raises:
            NotImplementedError: forward is not overridden (backward: when gradients pass).
            ValueError: forward returns no Tensor, or returns an input, changed in place, that is a leaf
                and requires gradients.
        """
        ctx = PyLayerContext()
        inputs = list(_tensors_of((*args, *kwargs.values())))
        before = set_grad_mode(False)
        try:
            result = cls.forward(ctx, *args, **kwargs)
        finally:
            set_grad_mode(before)
        single = not isinstance(result, (tuple, list))
        items = [result] if single else list(result)
        if next(_tensors_of(items), None) is None:
            raise ValueError(
                f"{cls.__name__}.apply: at least one output of `PyLayer.forward` must be a Tensor. "
                f"Got {_kinds(items)}, expected a Tensor among them. Return the result as a Tensor."
            )
        if not is_grad_enabled() or all(x.stop_gradient for x in inputs):
            return result
        if _written is not None and cls._is_written and any(is_symbolic(x) for x in _tensors_of(items)):
            return cls._write(ctx, inputs, result, _written)

        replaced: dict[int, Tensor] = {}
        outputs: list[Tensor] = []
        for i, item in enumerate(items):
            if isinstance(item, Tensor):
                items[i] = _output(cls, ctx, item, inputs, outputs, replaced)
            elif isinstance(item, (tuple, list)) and any(isinstance(x, Tensor) for x in item):
                items[i] = type(item)(
                    [_output(cls, ctx, x, inputs, outputs, replaced) if isinstance(x, Tensor) else x for x in item]
                )
        non_differentiable = {id(replaced.get(id(x), x)) for x in ctx._non_differentiable}
        rule = _Backward(cls, ctx, inputs, outputs)
        _engine.record_custom(rule, inputs, outputs)
        if ctx._saved is not None:
            ctx._saved = rule.saved = _Saved(cls.__name__, ctx._saved, outputs, replaced)
        for x in outputs:
            if id(x) in non_differentiable:
                detach_in_place(x)
        return items[0] if single else type(result)(items)


    @classmethod
    def _write(cls, ctx: PyLayerContext, inputs: list[Tensor], result: Any, record: Callable[..., list[Tensor]]) -> Any:
        """What `apply` gives where `forward` was written into a program: tensors whose gradients are what `backward` computes there."""
        outputs = list(_tensors_of([result] if isinstance(result, Tensor) else result))
        rule = _Backward(cls, ctx, inputs, outputs)
        if ctx._saved is not None:
            ctx._saved = rule.saved = _Saved(cls.__name__, ctx._saved, outputs, {})
        constant = [x for x in outputs if any(x is other for other in ctx._non_differentiable)]
        fresh = iter(record(inputs, outputs, lambda cotangents: rule(None, cotangents), constant))

        def instead(x: Any) -> Any:
            return next(fresh) if isinstance(x, Tensor) else type(x)(map(instead, x)) if isinstance(x, (tuple, list)) else x

        return instead(result)


_written: Callable[..., list[Tensor]] | None = None


def layers_in_programs(record: Callable[..., list[Tensor]]) -> None:
    """Set what is done with a PyLayer whose forward is captured in a program.

    Args:
        record: called with the inputs, the outputs, a function from the cotangents of the outputs to those of the inputs, and the outputs
            that no gradient passes; gives tensors that stand for the outputs.
    """
    global _written
    _written = record


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a `backward` whose own computation cannot be differentiated: doing so raises."""

    @functools.wraps(backward)
    def wrapped(ctx: PyLayerContext, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        if not is_grad_enabled():
            return results
        single = isinstance(results, Tensor)
        given = [x for x in grads if isinstance(x, Tensor)]
        outputs = [alias(x) for x in ([results] if single else results) if isinstance(x, Tensor)]
        # Also where no gradient is asked for yet: saved tensors may depend on something.
        _engine.record_custom(_Refuse(backward), given, outputs)
        if single:
            return outputs[0]
        fresh = iter(outputs)
        return tuple(next(fresh) if isinstance(x, Tensor) else x for x in results)

    return wrapped


class _Refuse:
    """In place of a rule: the second derivative of what `once_differentiable` decorates."""

    def __init__(self, backward: Callable[..., Any]) -> None:
        self.name = getattr(backward, "__qualname__", "backward")

    def __call__(self, node: Any, cotangents: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(
            f"{self.name}: it is marked with @once_differentiable. Got a second derivative to compute, expected only "
            f"the first. Remove the decorator if backward is made of differentiable operations."
        )


class _Backward:
    """What the engine calls: the user's backward, with its results checked."""

    def __init__(self, layer: type[PyLayer], ctx: PyLayerContext, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        self.layer = layer
        self.ctx = ctx
        self.name = layer.__name__
        self.saved: _Saved | None = None
        self.wanted = [not x.stop_gradient for x in inputs]
        self.input_shapes = [x.shape for x in inputs]
        # A symbolic output is kept itself: only it stands for its unknown sizes.
        self.like = [x if is_symbolic(x) else (tuple(x.shape), x.dtype) for x in outputs]

    def __call__(self, node: Any, cotangents: list[Tensor | None]) -> list[Tensor | None]:
        if self.ctx._materialize:
            cotangents = [_zeros(like) if ct is None else ct for ct, like in zip(cotangents, self.like)]
        if self.saved is not None:
            self.saved.node = node
        try:
            returned = self.layer.backward(self.ctx, *cotangents)
        finally:
            if self.saved is not None:
                self.saved.node = None
        results = list(_flat(returned if isinstance(returned, (tuple, list)) else (returned,)))
        if len(results) != len(self.wanted):
            raise ValueError(
                f"{self.name}.backward: the number of outputs of `PyLayer.backward` should be {len(self.wanted)}, but "
                f"received {len(results)}. Expected one for each Tensor that forward was given. "
                f"Return None for those that need no gradient."
            )
        for i, (result, wanted) in enumerate(zip(results, self.wanted)):
            self.check(i, result, wanted)
        return results

    def check(self, i: int, result: Any, wanted: bool) -> None:
        """Refuse what cannot be the gradient of input `i`."""
        if result is None:
            return
        if not isinstance(result, Tensor):
            raise ValueError(
                f"{self.name}.backward: only a Tensor or None can be a gradient. Got {type(result).__name__} at "
                f"position {i}, expected a Tensor. Convert it with to_tensor."
            )
        if not wanted:
            raise ValueError(
                f"{self.name}.backward: it should return None at position {i}, because that forward Tensor's "
                f"stop_gradient is True. Got a Tensor, expected None. Return None there."
            )
        if not _may_be(result.shape, self.input_shapes[i]):
            raise ValueError(
                f"{self.name}.backward: the gradient at position {i} has the wrong shape. Got {result.shape}, expected "
                f"{self.input_shapes[i]}, that of the Tensor forward was given. Reshape it, or sum what was broadcast."
            )


class _Saved:
    """What `save_for_backward` kept, without keeping alive the node that keeps it.

    An output refers to its node, the node to the context: so of an output only an alias is kept,
    and `restore` gives it its history back where somebody may differentiate again.
    """

    def __init__(self, name: str, values: Iterable[Any], outputs: list[Tensor], replaced: dict[int, Tensor]) -> None:
        self.name = name
        self.node: Any = None
        self.entries: list[tuple[Any, int, int | None]] = []  # value, version, index of the output
        hooks = _engine.current_saved_tensors_hooks()
        self.unpack = None if hooks is None else hooks[1]
        position = {id(x): i for i, x in enumerate(outputs)}
        for value in values:
            if not isinstance(value, Tensor):
                self.entries.append((value, -1, None))
                continue
            index = position.get(id(replaced.get(id(value), value)))
            version = value.inplace_version
            if index is not None and not is_symbolic(value):
                value = alias(value)
            if hooks is not None and not is_symbolic(value):
                with no_grad():
                    self.entries.append((_Packed(hooks[0](value)), -1, index))
            else:
                self.entries.append((value, version, index))

    def restore(self) -> tuple[Any, ...]:
        """The values again."""
        return tuple(self._restored(*entry) for entry in self.entries)

    def _restored(self, value: Any, version: int, index: int | None) -> Any:
        if isinstance(value, _Packed):
            assert self.unpack is not None
            value = self.unpack(value.content)
        elif version >= 0 and value.inplace_version != version:
            raise RuntimeError(
                f"{self.name}.backward: a saved tensor was modified in place. Got version {value.inplace_version} of "
                f"its memory, expected version {version}. Save a copy: ctx.save_for_backward(x.clone())."
            )
        if index is not None and self.node is not None and is_grad_enabled() and not is_symbolic(value):
            return _engine.with_history(value, self.node, index)
        return value


class _Packed:
    """What a pack hook returned."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _output(
    layer: type[PyLayer], ctx: PyLayerContext, x: Tensor, inputs: list[Tensor], outputs: list[Tensor],
    replaced: dict[int, Tensor],
) -> Tensor:
    """The tensor to record for output `x`, added to `outputs`."""
    is_input = any(x is other for other in inputs)
    if not is_input or any(x is other for other in ctx._not_inplace) or any(x is other for other in outputs):
        # Fresh from no_grad, it is a leaf without history. Whatever has one keeps it.
        out = x if not is_input and x.is_leaf and x.stop_gradient and not any(x is o for o in outputs) else alias(x)
    elif x.is_leaf and not x.stop_gradient:
        raise ValueError(
            f"{layer.__name__}.apply: a leaf Tensor ({x.name}) that doesn't stop gradient can't use inplace strategy. "
            f"Got it as an output of forward, expected a tensor of its own. "
            f"Return x.clone(), or call ctx.mark_not_inplace(x) if forward left it unchanged."
        )
    else:
        out = x
    if out is not x:
        replaced.setdefault(id(x), out)
    outputs.append(out)
    return out


def _may_be(shape: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether the shapes are the same, as far as a captured program knows them."""
    return len(shape) == len(other) and all(is_unknown(m) or is_unknown(n) or m == n for m, n in zip(shape, other))


def _zeros(like: Any) -> Tensor:
    if isinstance(like, Tensor):
        return ops.full_like(like, value=0, dtype=like.dtype)
    shape, dtype = like
    return ops.full(shape=shape, value=0, dtype=dtype)


def _tensors_of(items: Iterable[Any]) -> Iterator[Tensor]:
    """The Tensors among `items`, and those one level down in lists and tuples."""
    for item in items:
        if isinstance(item, Tensor):
            yield item
        elif isinstance(item, (tuple, list)):
            yield from (x for x in item if isinstance(x, Tensor))


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, (tuple, list)):
            yield from item
        else:
            yield item


def _kinds(items: Iterable[Any]) -> str:
    return ", ".join(type(item).__name__ for item in items) or "nothing"
