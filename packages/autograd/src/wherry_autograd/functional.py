"""Jacobians, Hessians and products with them.

`jacobian` and `hessian` (paddle.autograd) start from tensors, those of `incubate` from a function.
All are computed row by row with `grad`, and a row only when it is asked for.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd.backward_mode import grad
from wherry_autograd.grad_mode import enable_grad
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import short
from wherry_tensor.explained import explained

__all__ = ["Hessian", "Jacobian", "hessian", "jacobian", "jvp", "vjp"]


class Jacobian:
    """The derivatives of every element of `ys` by every element of `xs`; rows are computed when needed.

    Indexing gives Tensors. Every other attribute and operator is that of the whole matrix, so
    `J.numpy()` and `J + 1` work.

    Shape:
        ys `[M]` or `[]`, xs `[N]` or `[]`: `[M, N]`, without the axes that are not there. With a
        batch axis, ys `[B, M]` or `[B]`, xs `[B, N]` or `[B]`: `[B, M, N]` likewise.
    """

    def __init__(self, ys: Tensor, xs: Tensor, is_batched: bool = False) -> None:
        first = 1 if is_batched else 0
        for name, x in (("ys", ys), ("xs", xs)):
            require_tensor(x, "jacobian", name)
            if not first <= x.ndim <= first + 1:
                raise ValueError(
                    f"jacobian: {name}.ndim should be {first} or {first + 1} when is_batched={is_batched} but got "
                    f"{x.ndim}. Got shape {x.shape}, expected {'[B] or [B, N]' if is_batched else '[] or [N]'}. "
                    f"Flatten it with reshape."
                )
        self._ys = ys
        self._xs = xs
        self._first = first
        self._rows: dict[int, Tensor] = {}

    @property
    def shape(self) -> list[int]:
        """Sizes of the axes."""
        return self._ys.shape + self._xs.shape[self._first :]

    def __getitem__(self, index: Any) -> Tensor:
        parts = index if isinstance(index, tuple) else (index,)
        first = self._first
        if self._ys.ndim > first and len(parts) > first and all(isinstance(p, (int, slice)) for p in parts):
            # Only the rows that are named.
            part, count = parts[first], self._ys.shape[first]
            if isinstance(part, slice):
                named = range(count)[part]
                if len(named):
                    return _indexed(self._stacked(named), (*parts[:first], slice(None), *parts[first + 1 :]))
            elif -count <= part < count:
                return _indexed(self._row(part % count), (*parts[:first], *parts[first + 1 :]))
        return _indexed(self._whole(), parts)

    def _whole(self) -> Tensor:
        if self._ys.ndim == self._first:
            return self._row(0)
        return self._stacked(range(self._ys.shape[self._first]))

    def _stacked(self, rows: Sequence[int]) -> Tensor:
        parts = [ops.unsqueeze(self._row(i), axes=(self._first,)) for i in rows]
        return parts[0] if len(parts) == 1 else ops.concat(*parts, axis=self._first)

    def _row(self, i: int) -> Tensor:
        """Derivatives of element `i` of ys, of every member of the batch at once: they do not mix."""
        if i not in self._rows:
            with enable_grad():
                y = self._ys
                if y.ndim > self._first:
                    y = ops.select(y, axis=self._first, index=i)
                (row,) = grad(y, self._xs, create_graph=True, retain_graph=True, allow_unused=True)
            self._rows[i] = zeros_like(self._xs) if row is None else row
        return self._rows[i]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._whole(), name)


class Hessian(Jacobian):
    """The second derivatives of a scalar; what it offers is what Jacobian offers."""


def _indexed(x: Tensor, parts: tuple[Any, ...]) -> Tensor:
    return x if all(part == slice(None) for part in parts) and len(parts) <= x.ndim else x[parts]


def _delegate(name: str) -> Callable[..., Any]:
    def operator(self: Jacobian, *args: Any) -> Any:
        return getattr(self._whole(), name)(*args)

    operator.__name__ = name
    return operator


# Python looks operators up on the class, past __getattr__.
for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "matmul", "rmatmul", "mod",
    "floordiv", "neg", "eq", "ne", "lt", "le", "gt", "ge", "len", "float", "int", "bool", "array",
):
    setattr(Jacobian, f"__{_name}__", _delegate(f"__{_name}__"))
Jacobian.__hash__ = object.__hash__  # type: ignore[method-assign]


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The derivatives of `ys` by `xs`.

    Args:
        ys: a Tensor or a tuple of them, computed from `xs`.
        xs: a Tensor or a tuple of them, with stop_gradient=False.
        batch_axis: None, or 0: the first axis of all tensors counts members of a batch.

    Returns:
        A lazy `Jacobian`; a tuple of them for several xs or several ys, of tuples for several of both.

    Shape:
        `ys` `[M]`, `xs` `[N]`: `[M, N]`. With a batch axis `ys` `[B, M]`, `xs` `[B, N]`: `[B, M, N]`.

    Raises:
        ValueError: a tensor has too many axes, or `batch_axis` is neither None nor 0.

    Source:
        `paddle.autograd.jacobian`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> J = wherry.autograd.jacobian(x * x, x)
        >>> print(J.shape, J[1].numpy())
        [2, 2] [0. 4.]
    """
    batched = _check_batch_axis("jacobian", batch_axis)
    if isinstance(ys, (tuple, list)) and isinstance(xs, (tuple, list)):
        return tuple(tuple(Jacobian(y, x, batched) for x in xs) for y in ys)
    if isinstance(ys, (tuple, list)):
        return tuple(Jacobian(y, xs, batched) for y in ys)
    if isinstance(xs, (tuple, list)):
        return tuple(Jacobian(ys, x, batched) for x in xs)
    return Jacobian(ys, xs, batched)


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """The second derivatives of the scalar `ys` by `xs`.

    Args:
        ys: one element; with a batch axis one element for each member.
        xs: a Tensor or a tuple of them, with stop_gradient=False.
        batch_axis: None, or 0: the first axis of all tensors counts members of a batch.

    Returns:
        A lazy `Hessian`, or a tuple of tuples of them for several xs.

    Shape:
        `ys` `[]` or `[1]`, `xs` `[N]`: `[N, N]`. With a batch axis `ys` `[B]` or `[B, 1]`, `xs` `[B, N]`: `[B, N, N]`.

    Raises:
        ValueError: `ys` is not a scalar, a tensor has too many axes, or `batch_axis` is neither None nor 0.

    Source:
        `paddle.autograd.hessian`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> print(wherry.autograd.hessian((x * x * x).sum(), x).numpy())
        [[ 6.  0.]
         [ 0. 12.]]
    """
    batched = _check_batch_axis("hessian", batch_axis)
    require_tensor(ys, "hessian", "ys")
    scalars = ys.shape[0] if batched and ys.ndim else 1
    if ys.size != scalars or (batched and not ys.ndim):
        raise ValueError(
            f"hessian: only one element can be differentiated twice"
            f"{' for each member of the batch' if batched else ''}. Got ys of shape {ys.shape}, expected "
            f"{'[B] or [B, 1]' if batched else '[] or [1]'}. Sum or pick one first."
        )
    with enable_grad():
        y = ops.reshape(ys, shape=(ys.shape[0],) if batched else ())
    firsts = jacobian(y, xs, batch_axis)
    if not isinstance(firsts, tuple):
        return Hessian(firsts._whole(), xs, batched)
    return tuple(tuple(Hessian(first._whole(), x, batched) for x in xs) for first in firsts)


def vjp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of the cotangents `v` with its Jacobian.

    Args:
        func: takes the tensors of `xs`, returns a Tensor or a sequence of them.
        xs: a Tensor or a sequence of them.
        v: of the structure and shapes of the result; None stands for ones.

    Returns:
        (what func gives, one gradient for each of `xs`, zeros where there is none).

    Raises:
        TypeError: `func` cannot be called, or `xs`, `v` or what it returns is not a Tensor or a sequence of them.
        RuntimeError: `v` does not fit the result.

    Source:
        `paddle.incubate.autograd.vjp`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> _, g = wherry.incubate.autograd.vjp(lambda x: wherry.matmul(x, x), x)
        >>> print(g.numpy())
        [[ 7. 11.]
         [ 9. 13.]]
    """
    with enable_grad():
        inputs = separate("vjp", func, xs)
        ys = func(*inputs)
        outputs = _sequence("vjp", "what func returns", ys)
        cotangents = _vectors("vjp", v, outputs)
        results = grad(outputs, inputs, cotangents, create_graph=True, allow_unused=True)
        results = [zeros_like(x) if r is None else r for x, r in zip(inputs, results)]
    return ys, _like_argument(results, xs)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of its Jacobian with the tangents `v`.

    Args:
        func: takes the tensors of `xs`, returns a Tensor or a sequence of them.
        xs: a Tensor or a sequence of them.
        v: of the structure and shapes of `xs`; None stands for ones.

    Returns:
        (what func gives, one tangent for each of its results, zeros where there is none).

    Raises:
        TypeError: `func` cannot be called, or `xs`, `v` or what it returns is not a Tensor or a sequence of them.
        RuntimeError: `v` does not fit `xs`.

    Source:
        `paddle.incubate.autograd.jvp`; by two reverse passes: the product with the Jacobian is linear
        in the cotangents, and its own transpose is the product wanted.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> _, t = wherry.incubate.autograd.jvp(lambda x: wherry.matmul(x, x), x)
        >>> print(t.numpy())
        [[ 7.  9.]
         [11. 13.]]
    """
    with enable_grad():
        inputs = separate("jvp", func, xs)
        ys = func(*inputs)
        outputs = _sequence("jvp", "what func returns", ys)
        tangents = _vectors("jvp", v, inputs)
        cotangents = [zeros_like(y) for y in outputs]
        for ct in cotangents:
            ct.stop_gradient = False
        products = grad(outputs, inputs, cotangents, create_graph=True, allow_unused=True)
        used = [(p, t) for p, t in zip(products, tangents) if p is not None and not p.stop_gradient]
        if used:
            results = grad([p for p, _ in used], cotangents, [t for _, t in used], create_graph=True, allow_unused=True)
        else:
            results = [None] * len(outputs)
        results = [zeros_like(y) if r is None else r for y, r in zip(outputs, results)]
    return ys, _like_argument(results, ys)


def separate(function: str, func: Any, xs: Any) -> list[Tensor]:
    """`xs`, the arguments of `func`, as tensors that nothing else was computed from."""
    if not callable(func):
        raise TypeError(f"{function}: func cannot be called. Got {short(func)}, expected a function of xs. Pass a function.")
    out = []
    for x in _sequence(function, "xs", xs):
        # One that requires gradients stays connected, so that the result can be differentiated by it.
        x = x.detach() if x.stop_gradient else ops.copy(x)
        x.stop_gradient = False
        out.append(x)
    return out


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of the shape and dtype of `x`."""
    return ops.full_like(x, value=0, dtype=x.dtype)


def _sequence(function: str, what: str, value: Any) -> list[Tensor]:
    items = [value] if isinstance(value, Tensor) else value
    if not isinstance(items, (tuple, list)) or not all(isinstance(item, Tensor) for item in items):
        raise TypeError(
            f"{function}: {what} must be a Tensor or a sequence of them. Got {type(value).__name__}, expected a Tensor, list or "
            f"tuple. Convert values with to_tensor."
        )
    return list(items)


def _like_argument(results: list[Any], argument: Any) -> Any:
    return results[0] if isinstance(argument, Tensor) else tuple(results)


def _vectors(function: str, v: Any, like: list[Tensor]) -> list[Tensor]:
    if v is None:
        return [ops.full_like(x, value=1, dtype=x.dtype) for x in like]
    vectors = _sequence(function, "v", v)
    if len(vectors) != len(like):
        raise RuntimeError(
            f"{function}: the argument v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}. "
            f"Pass one tensor for each, or None for ones."
        )
    for i, (one, x) in enumerate(zip(vectors, like)):
        if one.shape != x.shape:
            raise RuntimeError(
                f"{function}: the v[{i}] has invalid shape: should be {x.shape} but got {one.shape}. "
                f"Reshape or broadcast it."
            )
    return vectors


def _check_batch_axis(function: str, batch_axis: int | None) -> bool:
    if batch_axis is not None and batch_axis != 0:
        raise ValueError(
            f"{function}: batch_axis should be None or 0, but got {short(batch_axis)}. "
            f"Expected the batch in front. Transpose the tensors first."
        )
    return batch_axis == 0


explained(globals())
