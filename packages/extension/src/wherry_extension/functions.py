"""The functions for operators in C++: `paddle::matmul(x, y)` is the framework's own `matmul`.

`paddle/phi/api/include/api.h` declares them with Paddle's parameters in Paddle's order, which is that of Python for most. The rest is
said here. What operators.h declares are Paddle's operators, with their parameters: `wherry_paddle_files.operators`.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import wherry_nn.functional as F
import wherry_tensor as api
from wherry_nn.functional import language
from wherry_tensor._core import Tensor
from wherry_tensor.functions import factorization

__all__ = ["function_of"]

_NN = ("gumbel_softmax", "hardswish", "label_smooth", "log_softmax", "maxout", "one_hot", "relu", "relu6", "sigmoid", "silu", "softmax", "swish")
_FACTORIZATION = ("cholesky", "cholesky_solve", "det", "matrix_power", "qr", "triangular_solve")


def _argsort(x: Tensor, axis: int, descending: bool) -> tuple[Tensor, Tensor]:
    return api.sort(x, axis, descending), api.argsort(x, axis, descending)


def _cross(x: Tensor, y: Tensor, axis: int) -> Tensor:
    return api.cross(x, y) if axis == 9 else api.cross(x, y, axis)


def _flatten(x: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
    return api.flatten(x, start, stop), api.zeros([0, *x.shape], "int64")


def _unsqueeze(x: Tensor, axis: list[int]) -> tuple[Tensor, Tensor]:
    return api.unsqueeze(x, axis), api.zeros([0, *x.shape], "int64")


def _slice(x: Tensor, axes: list[int], starts: list[int], ends: list[int], dropped: list[int]) -> Tensor:
    part = api.slice(x, axes, starts, ends)
    return api.squeeze(part, dropped) if dropped else part


def _split(x: Tensor, parts: list[int], axis: int) -> list[Tensor]:
    return api.split(x, parts[0] if len(parts) == 1 else parts, axis)


def _unique(
    x: Tensor, return_index: bool, return_inverse: bool, return_counts: bool, axis: Sequence[int], dtype: Any
) -> tuple[Tensor, ...]:
    found = api.unique(x, True, True, True, axis[0] if axis else None, dtype)
    wanted = (True, return_index, return_inverse, return_counts)
    kept = [one for one, want in zip(found, wanted) if want]
    return tuple([*kept, *(api.zeros([0], dtype) for _ in range(3 - len(kept)))][:3])


def _nll_loss(x: Tensor, label: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> tuple[Tensor, Tensor]:
    out = F.nll_loss(x, label, weight, ignore_index, reduction)
    counted = api.cast(api.not_equal(label, api.full_like(label, ignore_index)), x.dtype)
    if weight is not None:
        counted = counted * api.gather(weight, api.clip(label, 0, x.shape[1] - 1).flatten()).reshape(label.shape)
    return out, counted.sum()


def _scale(x: Tensor, scale: float, bias: float, bias_after_scale: bool) -> Tensor:
    return api.scale(x, scale, bias, bias_after_scale)


_OWN: dict[str, Callable[..., Any]] = {
    "argsort": _argsort,
    "cross": _cross,
    "elu": lambda x, alpha: F.elu(x, alpha),
    "flatten": _flatten,
    "full": lambda shape, value, dtype: api.full(shape, value, dtype),
    "gelu": lambda x, approximate: F.gelu(x, approximate),
    "hardtanh": lambda x, least, most: F.hardtanh(x, least, most),
    "increment": lambda x, value: x + value,
    "index_select": lambda x, index, axis: api.index_select(x, index, axis),
    "kthvalue": lambda x, k, axis, keepdim: api.kthvalue(x, k, axis, keepdim),
    "max": lambda x, axis, keepdim: api.max(x, axis or None, keepdim),
    "mean": lambda x, axis, keepdim: api.mean(x, axis or None, keepdim),
    "min": lambda x, axis, keepdim: api.min(x, axis or None, keepdim),
    "nll_loss": _nll_loss,
    "pixel_shuffle": lambda x, factor, data_format: F.pixel_shuffle(x, factor, data_format),
    "put_along_axis": lambda x, i, values, axis, reduce, include_self: api.put_along_axis(x, i, values, axis, reduce, include_self, False),
    "roll": lambda x, shifts, axis: api.roll(x, shifts, axis or None),
    "cumsum": lambda x, axis, flatten, exclusive, reverse: _cumsum(x, axis, flatten, exclusive, reverse),
    "scale": _scale,
    "selu": lambda x, scale, alpha: F.selu(x, scale, alpha),
    "slice": _slice,
    "split": _split,
    "squeeze": lambda x, axis: api.squeeze(x, axis or None),
    "sum": lambda x, axis, dtype, keepdim: api.sum(x, axis or None, dtype, keepdim),
    "thresholded_relu": lambda x, threshold: F.thresholded_relu(x, threshold),
    "unique": _unique,
    "unsqueeze": _unsqueeze,
}


def _cumsum(x: Tensor, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> Tensor:
    if flatten:
        x, axis = x.flatten(), 0
    if reverse:
        x = api.flip(x, [axis])
    out = api.cumsum(x, axis)
    if exclusive:
        out = out - x
    return api.flip(out, [axis]) if reverse else out


def _normed(x: Tensor, z: Tensor | None, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, *rest: Any) -> Any:
    """Batch norm in training with a summand and an activation after it."""
    from wherry_paddle_files import operators

    momentum, epsilon, act = rest
    out, *others = operators.call("batch_norm", x, mean, variance, scale, bias, False, momentum, epsilon, "NCHW", False, False)
    out = out if z is None else out + z
    return getattr(F, act)(out) if act else out, *others


def _batch_norm(*args: Any) -> Any:
    from wherry_paddle_files import operators

    return operators.call("batch_norm", *args)


def _set_value(x: Tensor, values: Tensor, starts: Any, ends: Any, steps: Any, axes: Any, dropped: Any, new: Any) -> Tensor:
    from wherry_paddle_files import operators

    attrs = {"starts": starts, "ends": ends, "steps": steps, "axes": axes, "decrease_axes": dropped, "none_axes": new, "shape": []}
    return operators.run("set_value", {"Input": [x], "ValueTensor": [values]}, attrs)["Out"]


def _embedding_part(weight: Tensor, x: Tensor, first: int, size: int) -> Tensor:
    """Rows of a part of a table; those that other parts have are zeros."""
    rows = x - first
    here = api.logical_and(rows >= 0, rows < weight.shape[0])
    found = F.embedding(api.clip(rows, 0, weight.shape[0] - 1), weight)
    return found * api.cast(here, weight.dtype).unsqueeze(-1)


def _embedding_gradient(x: Tensor, weight: Tensor, grad: Tensor, padding: int, sparse: bool) -> Tensor:
    rows, part = x.reshape([-1, 1]), grad.reshape([-1, weight.shape[1]])
    if padding >= 0:
        part = part * api.cast(api.not_equal(rows, api.full_like(rows, padding)), part.dtype)
    return api.scatter_nd_add(api.zeros_like(weight), rows, part)


def _linear_gradient(x: Tensor, grad: Tensor, weight: Tensor | None, bias: Tensor | None, wide: bool, has_bias: bool) -> tuple[Tensor, Tensor]:
    x, grad = x.reshape([-1, x.shape[-1]]), grad.reshape([-1, grad.shape[-1]])
    of_weight, of_bias = api.matmul(x, grad, True), grad.sum(0)
    return of_weight if weight is None else weight + of_weight, of_bias if bias is None else bias + of_bias


def _bytes(name: str, dtype: Any) -> Tensor:
    return api.to_tensor(list(Path(name).read_bytes()), "uint8")


def _check_nan_inf(x: Tensor, flag: int) -> Tensor:
    api.set_flags({"FLAGS_check_nan_inf": bool(flag)})
    return x


# Operators whose parameters are others in the table, or that have no rule and are functions here.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "assign_out": lambda x, out: x,
    "assign_value": lambda out, shape, dtype, values: api.to_tensor(values, dtype).reshape(shape),
    "c_embedding": _embedding_part,
    "copy_to": lambda x, blocking: x,
    "disable_check_model_nan_inf": _check_nan_inf,
    "embedding_grad_dense": _embedding_gradient,
    "enable_check_model_nan_inf": _check_nan_inf,
    "fused_batch_norm_act": lambda x, *rest: _normed(x, None, *rest),
    "fused_bn_add_activation": _normed,
    "fused_linear_param_grad_add": _linear_gradient,
    "masked_multihead_attention": lambda *args: (*language.masked_multihead_attention(*args), None),
    "merge_selected_rows": lambda x: x,
    "read_file": _bytes,
    "set_value_with_tensor": _set_value,
    "sync_batch_norm": _batch_norm,
    "trans_layout": lambda x, axes: api.transpose(x, axes),
    "arange": lambda start, end, step, dtype: api.arange(start.item(), end.item(), step.item(), dtype),
    "fill": lambda x, value: api.full_like(x, value),
    "full_batch_size_like": lambda x, shape, dtype, value, at, to: api.full([*shape[:to], x.shape[at], *shape[to + 1 :]], value, dtype),
    "full_with_tensor": lambda shape, value, dtype: api.full(shape.tolist(), value, dtype),
    "linspace": lambda start, stop, number, dtype: api.linspace(start.item(), stop.item(), number.item(), dtype),
    "logspace": lambda start, stop, number, base, dtype: api.logspace(start.item(), stop.item(), number.item(), base.item(), dtype),
    "npu_identity": lambda x, format: x,
    "repeat_interleave_with_tensor_index": lambda x, repeats, axis: api.repeat_interleave(x, repeats, axis),
    "split_with_num": lambda x, number, axis: api.split(x, number, int(axis)),
    "view_shape": lambda x, shape: api.reshape(x, shape),
}


def _operator(name: str) -> Callable[..., Any]:
    """An operator of operators.h; in place, its result is that of the other form."""
    from wherry_paddle_files import operators  # which loads the rules of all of them

    base = name.removesuffix("_")
    if base in _OPERATORS:
        return _OPERATORS[base]
    known = operators.names(True)
    if name not in known and base not in known and base != name:
        return function_of(base)
    return functools.partial(operators.call, name)


def function_of(name: str) -> Callable[..., Any]:
    """The function of the framework that `paddle::name` stands for, with the parameters of api.h; of `op:name` the operator, with those of
    operators.h.

    Raises:
        NotImplementedError: there is no such function.
    """
    if name.startswith("op:"):
        return _operator(name[3:])
    found = _OWN.get(name)
    if found is None:
        found = getattr(F if name in _NN else factorization if name in _FACTORIZATION else api, name, None)
    if found is None:
        raise NotImplementedError(f"there is no function of this name. Got {name!r}, expected one that paddle/phi/api/include/api.h declares.")
    return found
