"""Fold batch normalization in inference into the weight and bias of the convolution before it."""
from __future__ import annotations

from wherry_program.passes.rewriting import (
    OF_OUTPUTS,
    Uses,
    bound_constant,
    drop,
    is_pure,
    put_instead,
    to_change,
    volatile,
)
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import DType, Op, Tensor, float32, float64, scalar

__all__ = ["batch_norm"]


def batch_norm(program: Program) -> Program:
    """Fold `batch_norm_infer` into the weight and the bias of a `conv2d`, `conv2d_transpose` or `linear` that only it reads.

    Parameters are taken as they are now; those of the program stay as they were.
    """
    out = to_change(program)
    norms = [node for node in out.walk() if node.op is ops.batch_norm_infer]
    if not norms:
        return out
    changing, uses = volatile(out), Uses(out)
    folded = []
    for node in norms:
        if not is_pure(node, changing):
            continue
        x = node.inputs[0]
        product = None if x is None else x.made_by
        if x is None or product is None or product.op not in OF_OUTPUTS or uses.only(x) is not node:
            continue
        parameters = (*node.inputs[1:], *product.inputs[1:])
        if is_pure(product, changing) and all(y is None or y.bound is not None for y in parameters) and _same_channels(product, node):
            _fold(out, product, node)
            folded.append(product)
    drop(folded)
    return out


def _same_channels(product: Node, node: Node) -> bool:
    """Whether the channels of the norm are the outputs of the product."""
    channels_last = node.attr("data_format").endswith("C") or len(node.inputs[0].sizes) == 2  # type: ignore[union-attr]
    if product.op is ops.linear:
        return channels_last
    if product.op is ops.conv2d_transpose and product.attr("groups") != 1:
        return False
    return product.attr("data_format") == node.attr("data_format")


def _fold(program: Program, product: Node, norm: Node) -> None:
    _x, mean, variance, scale, shift = [*norm.inputs, None, None][:5]
    x, weight, bias = [*product.inputs, None][:3]
    assert weight is not None and weight.bound is not None and mean is not None

    def wide(y: Variable | None) -> Tensor | None:
        return None if y is None or y.bound is None else _as(y.bound, float64)

    factor = _run(ops.rsqrt, _run(ops.add, wide(variance), scalar(norm.attr("epsilon"), float64)))
    if scale is not None:
        factor = _run(ops.multiply, factor, wide(scale))
    summand = _run(ops.negative, wide(mean)) if bias is None else _run(ops.subtract, wide(bias), wide(mean))
    summand = _run(ops.multiply, summand, factor)
    if shift is not None:
        summand = _run(ops.add, summand, wide(shift))
    # Of weights in 16 bits the products too are computed in 64, which takes time and memory of those that are large.
    exact = weight.dtype if weight.dtype in (float32, float64) else float64
    scales = _as(ops.reshape.run((factor,), (OF_OUTPUTS[product.op],)), exact)
    folded = _run(ops.multiply, _as(weight.bound, exact), scales)
    new_weight = bound_constant(program, _as(folded, weight.dtype), weight)
    new_bias = bound_constant(program, _as(summand, weight.dtype), mean if shift is None else shift)
    put_instead(norm, product.op, (x, new_weight, new_bias), product.attrs)


def _as(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype is dtype else ops.cast.run((x,), (dtype,))  # type: ignore[no-any-return]


def _run(op: Op, *inputs: Tensor | None) -> Tensor:
    return op.run(inputs, ())  # type: ignore[no-any-return]
