"""`backward`, `grad` and the gradient methods of Tensor."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from wherry_autograd import _engine
from wherry_tensor import ops
from wherry_tensor._core import Tensor, add_methods, clear_gradients, is_symbolic
from wherry_tensor.arguments import require_tensor, truth
from wherry_tensor.errors import short
from wherry_tensor.tracebacks import warn

if TYPE_CHECKING:
    import numpy

__all__ = ["at_end_of_backward", "backward", "grad"]

Tensors: TypeAlias = "Tensor | Sequence[Tensor]"


def backward(
    tensors: Tensors, grad_tensors: Tensor | Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> None:
    """Accumulate the gradients of `tensors` into the `.grad` of the leaves that they depend on.

    Args:
        tensors: where to start, one Tensor or several different ones.
        grad_tensors: the cotangent of each, of its shape; None stands for ones.
        retain_graph: keep what the graph saved, so that it can be walked again.

    Shape:
        Each of `grad_tensors` has the shape of its tensor, `[...]`; a `.grad` that of its leaf.

    Raises:
        AssertionError: an argument is not a Tensor, repeated, or of the wrong shape or number.
        RuntimeError: the graph was freed by an earlier walk, or a saved tensor was modified in place.

    Source:
        `paddle.autograd.backward`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
        >>> y = wherry.matmul(x, x)
        >>> wherry.autograd.backward([y], [wherry.ones([2, 2])])
        >>> print(x.grad.numpy())
        [[ 7. 11.]
         [ 9. 13.]]
    """
    roots = _tensors("backward", "tensors", tensors)
    if len({id(root) for root in roots}) != len(roots):
        raise AssertionError(
            f"backward: the argument `tensors` contains a tensor twice. Got {len(roots)} tensors, expected "
            f"different ones. Name each once; scale its grad_tensor instead."
        )
    _engine.run_backward(roots, _cotangents("backward", "grad_tensors", "tensors", grad_tensors, roots), retain_graph)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
) -> list[Tensor | None]:
    """Gradients of `outputs` with respect to `inputs`; no `.grad` changes.

    Args:
        outputs: one Tensor or several.
        inputs: one Tensor or several, leaves or not.
        grad_outputs: the cotangent of each output, of its shape; None stands for ones.
        retain_graph: False frees what the graph saved. None, the default, keeps it: in Paddle 2.6 a
            graph can be walked again after `grad`.
        create_graph: record the computation of the gradients, so that they can be differentiated.
        only_inputs: must be True.
        allow_unused: give None for an input that no output depends on, instead of raising.
        no_grad_vars: tensors that no gradient passes.

    Returns:
        One gradient for each input, with its shape and dtype.

    Shape:
        `grad_outputs` have the shapes of `outputs`, results those of `inputs`, `[...]`.

    Raises:
        AssertionError: an argument is not a Tensor, empty, or of the wrong shape or number.
        ValueError: no output depends on one of the inputs, and `allow_unused` is False.
        RuntimeError: the graph was freed by an earlier walk, or a saved tensor was modified in place.

    Source:
        `paddle.grad`.

    Examples:
        >>> x = wherry.to_tensor([3.0], stop_gradient=False)
        >>> y = x * x * x
        >>> (dx,) = wherry.grad(y, x, create_graph=True)
        >>> (ddx,) = wherry.grad(dx, x)
        >>> print(dx.numpy(), ddx.numpy())
        [27.] [18.]
    """
    roots = _tensors("grad", "outputs", outputs)
    wanted = _tensors("grad", "inputs", inputs)
    if only_inputs is not True:
        raise AssertionError(
            f"grad: only_inputs=False is not supported, as in Paddle. Got only_inputs={short(only_inputs)}, expected True. "
            f"Call backward() to fill the .grad of every leaf."
        )
    blocked = [] if no_grad_vars is None else _tensors("grad", "no_grad_vars", no_grad_vars, may_be_empty=True)
    cotangents = _cotangents("grad", "grad_outputs", "outputs", grad_outputs, roots)
    frees = retain_graph is False and not create_graph
    results: list[Tensor | None] = _engine.run_grad(roots, wanted, cotangents, not frees, create_graph, blocked)
    if not allow_unused:
        for i, result in enumerate(results):
            if result is None:
                raise ValueError(
                    f"grad: input {i} does not appear in the backward graph of the outputs. "
                    f"Got a Tensor of shape {wanted[i].shape} with stop_gradient={wanted[i].stop_gradient}, expected "
                    f"one that the outputs were computed from. "
                    f"Check it, or pass allow_unused=True to get None for it."
                )
    return results


def _tensors(function: str, argument: str, value: Any, may_be_empty: bool = False) -> list[Tensor]:
    """The argument as a list of Tensors."""
    items = [value] if isinstance(value, Tensor) else value
    if not isinstance(items, (list, tuple, set)) or not all(isinstance(item, Tensor) for item in items):
        kinds = type(value).__name__
        if isinstance(value, (list, tuple, set)):
            kinds += " of " + ", ".join(sorted({type(item).__name__ for item in value}))
        raise AssertionError(
            f"{function}: `{argument}` must be a Tensor or a list of Tensors. Got {kinds}, expected Tensors. "
            f"Convert values with to_tensor; pick the tensors out of other structures."
        )
    if not items and not may_be_empty:
        raise AssertionError(f"{function}: `{argument}` is empty. Got no tensor, expected at least one. Name one.")
    return list(items)


def _cotangents(
    function: str, argument: str, roots_name: str, value: Any, roots: list[Tensor]
) -> list[Tensor | None] | None:
    if value is None:
        return None
    items = [value] if isinstance(value, Tensor) else value
    if not isinstance(items, (list, tuple)):
        raise AssertionError(
            f"{function}: `{argument}` must be a Tensor or a list. Got {type(value).__name__}, expected Tensors, or "
            f"None for ones. Convert values with to_tensor."
        )
    if len(items) != len(roots):
        raise AssertionError(
            f"{function}: the length of `{argument}` must be equal to that of `{roots_name}`. "
            f"Got {len(items)}, expected {len(roots)}. Pass None where ones are meant."
        )
    return [None if item is None else _cotangent(function, argument, item, root) for item, root in zip(items, roots)]


def _cotangent(function: str, argument: str, value: Any, root: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        raise AssertionError(
            f"{function}: the type of {argument} must be Tensor. Got {type(value).__name__}, expected a Tensor of shape "
            f"{root.shape}. Convert it with to_tensor."
        )
    if not is_symbolic(root) and value.shape != root.shape:
        raise AssertionError(
            f"{function}: the shape of {argument} does not match. Got {value.shape}, expected {root.shape}, that of "
            f"the tensor it belongs to. Reshape or broadcast it."
        )
    return value if value.dtype == root.dtype else ops.cast(value, dtype=root.dtype)


# Methods of Tensor. Their first parameter is the tensor.


def tensor_backward(self: Tensor, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
    """Accumulate the gradients of this tensor into the `.grad` of the leaves that it depends on.

    Args:
        grad_tensor: the cotangent of this tensor, of its shape; None stands for ones, also where it
            has several elements.
        retain_graph: keep what the graph saved, so that it can be walked again.

    Shape:
        `grad_tensor` has the shape of the tensor, `[...]`; a `.grad` that of its leaf.

    Raises:
        AssertionError: `grad_tensor` is not a Tensor, or has another shape.
        RuntimeError: the graph was freed by an earlier walk, or a saved tensor was modified in place.

    Source:
        `paddle.Tensor.backward`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> print(x.grad.numpy())
        [2. 4.]
    """
    require_tensor(self, "backward")
    retain_graph = truth(retain_graph, "backward", "retain_graph")
    if grad_tensor is None:
        if self.stop_gradient and self.is_leaf:
            _warn_of_nothing(self)
        _engine.run_backward((self,), None, retain_graph)
    else:
        _engine.run_backward((self,), (_cotangent("backward", "grad_tensor", grad_tensor, self),), retain_graph)


def _warn_of_nothing(root: Tensor) -> None:
    warn(
        f"backward: nothing leads to this tensor, so no gradient is computed, as in Paddle. Got a tensor of shape {root.shape} with "
        f"stop_gradient=True, expected the result of ops on one with stop_gradient=False. Was it made under no_grad(), from "
        f"detach() or numpy(), or with all parameters frozen?"
    )


def tensor_gradient(self: Tensor) -> numpy.ndarray | None:
    """The gradient as a NumPy array, or None.

    Shape:
        That of the tensor, `[...]`.

    Source:
        `paddle.Tensor.gradient`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.gradient()
        array([2., 4.], dtype=float32)
    """
    require_tensor(self, "gradient")
    return None if self.grad is None else self.grad.numpy()


def tensor_clear_gradient(self: Tensor, set_to_zero: bool = True) -> None:
    """Clear the gradient: fill it with zeros, or make it None. Where there is none, nothing happens.

    Args:
        set_to_zero: True fills it with zeros; False makes `.grad` None.

    Shape:
        Zeros have the shape of the tensor, `[...]`.

    Source:
        `paddle.Tensor.clear_gradient`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.clear_gradient()
        >>> print(x.grad.numpy())
        [0. 0.]
    """
    clear_gradients([self], set_to_zero)


def tensor_clear_grad(self: Tensor, set_to_zero: bool = True) -> None:
    """As `clear_gradient`: fill the gradient with zeros, or make it None. Where there is none, nothing happens.

    Args:
        set_to_zero: True fills it with zeros; False makes `.grad` None. (Paddle's has no argument here.)

    Shape:
        Zeros have the shape of the tensor, `[...]`.

    Source:
        `paddle.Tensor.clear_grad`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.clear_grad()
        >>> print(x.grad.numpy())
        [0. 0.]
    """
    tensor_clear_gradient(self, set_to_zero)


class TensorHookRemoveHelper:
    """What `register_hook` returns: `remove()` takes the hook away."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> bool:
        """Take the hook away.

        Returns:
            True if it was there; otherwise False, with a RuntimeWarning.
        """
        if self._hooks.pop(self._key, None) is not None:
            return True
        warnings.warn("the hook has been removed already", RuntimeWarning, stacklevel=2)
        return False


def tensor_register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> TensorHookRemoveHelper:
    """Call `hook` with the gradient of this tensor whenever a backward pass has completed it.

    Args:
        hook: takes the gradient and returns one to go on with, or None to leave it. Hooks run in the
            order of their registration.

    Returns:
        A handle; `handle.remove()` takes the hook away.

    Shape:
        The hook takes a gradient of the shape of the tensor, `[...]`, and returns one of that shape.

    Raises:
        RuntimeError: the tensor stops gradients.
        TypeError: `hook` cannot be called.

    Source:
        `paddle.Tensor.register_hook`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (x * 2).sum().backward()
        >>> print(x.grad.numpy(), handle.remove())
        [20. 20.] True
    """
    require_tensor(self, "register_hook")
    if self.stop_gradient:
        raise RuntimeError(
            f"register_hook: cannot register a hook on a tensor that stops gradients. "
            f"Got stop_gradient=True on a Tensor of shape {self.shape}, expected False. "
            f"Set x.stop_gradient = False before it is used."
        )
    if not callable(hook):
        raise TypeError(
            f"register_hook: the hook cannot be called. Got {type(hook).__name__}, expected a function of the "
            f"gradient. Pass a function."
        )
    return TensorHookRemoveHelper(*_engine.add_hook(self, hook))


def tensor_register_post_accumulate_hook(self: Tensor, hook: Callable[[Tensor], None]) -> TensorHookRemoveHelper:
    """Call `hook(x)` each time a backward pass has added its gradient of the leaf `x` to `x.grad`.

    The pass calls it once, when the sum of all contributions is in `.grad`. Leaves come in the order in which their
    gradients are complete: mostly those of the last layers first. What the hook returns is ignored; it may write `.grad`.

    Args:
        hook: takes the leaf.

    Returns:
        A handle; `handle.remove()` takes the hook away.

    Shape:
        `.grad` has the shape of the leaf, `[...]`.

    Raises:
        RuntimeError: the tensor stops gradients, or an op made it.
        TypeError: `hook` cannot be called.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> handle = x.register_post_accumulate_hook(lambda x: print(x.grad.numpy()))
        >>> (x * 2).sum().backward()
        [2. 2.]
    """
    _require_leaf(self, "register_post_accumulate_hook")
    if not callable(hook):
        raise TypeError(
            f"register_post_accumulate_hook: the hook cannot be called. Got {type(hook).__name__}, expected a function of "
            f"the tensor. Pass a function."
        )
    return TensorHookRemoveHelper(*_engine.add_after_hook(self, hook))


def tensor_register_backward_hook(self: Tensor, hook: Callable[[], None]) -> int:
    """As `register_post_accumulate_hook`, with a hook without arguments; returns a number. Paddle's name for it."""
    _require_leaf(self, "_register_backward_hook")
    return _engine.add_after_hook(self, lambda _: hook())[1]


def _require_leaf(x: Tensor, function: str) -> None:
    if x.stop_gradient or x.node is not None:
        raise RuntimeError(
            f"{function}: only a leaf that asks for gradients accumulates them. Got a Tensor of shape {x.shape} with "
            f"stop_gradient={x.stop_gradient}{', made by an op' if x.node is not None else ''}, expected a parameter. "
            f"Set x.stop_gradient = False before it is used."
        )


def tensor_set_grad_buffer(self: Tensor, buffer: Tensor | None) -> None:
    """Let backward write the gradient of this leaf into `buffer`, a view of a larger memory, say.

    The first gradient is written over what the buffer holds, and `.grad` is the buffer then; later ones are added in
    place. The op that computes the first gradient writes it there by itself where the buffer has 256 KiB or more; a smaller one
    takes a copy. `clear_grad(set_to_zero=False)`, of the tensor or of an optimizer, makes `.grad` None and keeps the buffer for the
    next pass; `clear_grad()` fills the buffer with zeros, which the next gradient is added to.

    Args:
        buffer: contiguous, of the shape and dtype of this tensor; None gives gradients memory of their own again.

    Shape:
        `buffer` has the shape of the tensor, `[...]`.

    Raises:
        RuntimeError: the tensor stops gradients, or an op made it.
        ValueError: the buffer has another shape or dtype, or gaps, or asks for gradients itself through an op.

    Examples:
        >>> bucket = wherry.zeros([4])
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> x.set_grad_buffer(bucket[2:])
        >>> (x * 3).sum().backward()
        >>> print(bucket.numpy())
        [0. 0. 3. 3.]
    """
    _require_leaf(self, "set_grad_buffer")
    if buffer is not None and (
        not isinstance(buffer, Tensor) or buffer.shape != self.shape or buffer.dtype is not self.dtype
        or not buffer.is_contiguous() or buffer.node is not None
    ):
        got = f"shape {buffer.shape}, dtype {buffer.dtype.name}, contiguous={buffer.is_contiguous()}" if isinstance(
            buffer, Tensor
        ) else type(buffer).__name__
        raise ValueError(
            f"set_grad_buffer: the buffer does not fit. Got {got}, expected a contiguous Tensor of shape {self.shape} and "
            f"dtype {self.dtype.name} that no op with gradients made. Slice it out of a 1-D tensor and reshape it."
        )
    _engine.set_buffer(self, buffer)


def tensor_grad_buffer(self: Tensor) -> Tensor | None:
    """The tensor that `set_grad_buffer` has set, or None.

    Shape:
        That of the tensor, `[...]`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> x.set_grad_buffer(wherry.zeros([2]))
        >>> x.grad_buffer().shape
        [2]
    """
    return _engine.get_buffer(self)


def at_end_of_backward(callback: Callable[[BaseException | None], None]) -> TensorHookRemoveHelper:
    """Call `callback(error)` whenever an outermost `backward` of this thread ends, also when it fails.

    Leaves that the pass did not reach have had no hook by then: this is the place to wait for what hooks have started.
    Passes inside of hooks and of `PyLayer`s are part of the outermost one. `grad` does not call it. Set by a hook, while a pass
    runs, the callback belongs to that pass: it is called at its end and then no more. Passes of other threads do not call it.

    Args:
        callback: takes the exception that ended the pass, or None. All callbacks run, whatever others of them raise; the caller of
            `backward` gets what failed first, the pass or a callback, and notes about the others.

    Returns:
        A handle; `handle.remove()` takes the callback away.

    Raises:
        TypeError: `callback` cannot be called.

    Examples:
        >>> import wherry_autograd
        >>> handle = wherry_autograd.at_end_of_backward(lambda error: print("done", error))
        >>> wherry.to_tensor([1.0], stop_gradient=False).backward()
        done None
        >>> handle.remove()
        True
    """
    if not callable(callback):
        raise TypeError(
            f"at_end_of_backward: the callback cannot be called. Got {type(callback).__name__}, expected a function of the "
            f"error. Pass a function."
        )
    return TensorHookRemoveHelper(*_engine.add_at_end(callback))


def tensor_retain_grads(self: Tensor) -> None:
    """Keep the gradient of this tensor in `.grad` although it is not a leaf. For a leaf nothing changes.

    Shape:
        `.grad` has the shape of the tensor, `[...]`.

    Source:
        `paddle.Tensor.retain_grads`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> y = x * 2
        >>> y.retain_grads()
        >>> (y * y).sum().backward()
        >>> print(y.grad.numpy())
        [4. 8.]
    """
    _engine.retain_grad(self)


def tensor_grad_fn(self: Tensor) -> Any:
    """The record of the op that made this tensor, with a method `name()`; None for a leaf."""
    return self.node


_METHODS = {
    "backward": tensor_backward,
    "gradient": tensor_gradient,
    "clear_grad": tensor_clear_grad,
    "clear_gradient": tensor_clear_gradient,
    "register_hook": tensor_register_hook,
    "register_post_accumulate_hook": tensor_register_post_accumulate_hook,
    "_register_backward_hook": tensor_register_backward_hook,
    "set_grad_buffer": tensor_set_grad_buffer,
    "grad_buffer": tensor_grad_buffer,
    "retain_grads": tensor_retain_grads,
}
for _name, _method in _METHODS.items():
    _method.__name__, _method.__qualname__ = _name, f"Tensor.{_name}"
add_methods({**_METHODS, "grad_fn": property(tensor_grad_fn)})
