"""Fold a constant per channel, or a number, that a convolution or matrix product is multiplied by or that is added to it."""
from __future__ import annotations

from typing import Any

from wherry_program.passes.rewriting import (
    OF_OUTPUTS,
    Uses,
    bound_constant,
    drop,
    has_op,
    is_pure,
    number_of,
    put_instead,
    to_change,
    volatile,
)
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float32, float64

__all__ = ["biases"]


def biases(program: Program) -> Program:
    """Turn the `add` of a constant after `conv2d`, `conv2d_transpose` and `matmul` into a bias, as programs in Paddle's files have it as an op
    of its own, and a `multiply` by a constant after them, or `linear`, into other weights.

    `matmul` becomes `linear` where its second factor is a constant matrix. One number that the input of `conv2d` or `linear` is multiplied by
    goes into the weight as well, and one that is added to it into the bias, where nothing is padded.
    """
    out = to_change(program)
    if not has_op(out, *_FOLDS):
        return out
    changing, uses = volatile(out), Uses(out)
    gone = []
    for node in list(out.walk()):
        if node.op not in _FOLDS or not is_pure(node, changing):
            continue
        for x, constant in (node.inputs, node.inputs[::-1]):
            product = None if x is None else x.made_by
            if x is None or constant is None or product is None or uses.only(x) is not node or not is_pure(product, changing):
                continue
            fits = x.sizes == node.outputs[0].sizes and x.dtype is constant.dtype and constant.bound is not None
            if fits and _FOLDS[node.op](out, product, node, constant):
                gone.append(product)
                break
    drop(gone)
    gone, uses = [], Uses(out)
    for node in list(out.walk()):
        if node.op in (ops.conv2d, ops.linear) and is_pure(node, changing):
            while (made := _number_before(out, node, uses, changing)) is not None:
                gone.append(made)
    drop(gone)
    return out


def _number_before(program: Program, product: Node, uses: Uses, changing: set[int]) -> Node | None:
    """The node of a sum or product with a number that was folded into the product that reads it; None where there is none."""
    x, weight, bias = (*product.inputs, None)[:3]
    made = None if x is None else x.made_by
    if x is None or made is None or made.op not in _FOLDS or uses.only(x) is not product or not is_pure(made, changing):
        return None
    if weight is None or weight.bound is None or weight.dtype not in (float32, float64) or (bias is not None and bias.bound is None):
        return None
    for y, other in (made.inputs, made.inputs[::-1]):
        number = number_of(other)
        if y is None or number is None or y.sizes != x.sizes or y.dtype is not x.dtype:
            continue
        if made.op is ops.multiply:
            factor = _core.scalar(number, weight.dtype)
            product.inputs = (y, bound_constant(program, _times(weight.bound, factor), weight), bias)
        else:
            if product.op is ops.conv2d and any(product.attr("paddings")):
                return None
            axes = (0,) if product.op is ops.linear else (1, 2, 3)
            sums = ops.reduce_sum.run((ops.cast.run((weight.bound.detach(),), (float64,)),), (axes, False))
            total = _times(sums, _core.scalar(number, float64))
            if bias is not None:
                assert bias.bound is not None
                total = ops.add.run((total, ops.cast.run((bias.bound.detach(),), (float64,))), ())
            product.inputs = (y, weight, bound_constant(program, ops.cast.run((total,), (weight.dtype,)), weight if bias is None else bias))
        uses.of[id(y)] = [product if node is made else node for node in uses.of[id(y)]]
        return made
    return None


def _add(program: Program, product: Node, node: Node, constant: Variable) -> bool:
    found = _form(product, node)
    if found is None:
        return False
    (x, weight, bias), axis, channels, op, attrs = found
    summand = _per_channel(program, constant, len(node.outputs[0].sizes), axis, channels, bias is not None)
    if summand is None:
        return False
    if bias is not None:
        assert bias.bound is not None and summand.bound is not None
        summand = bound_constant(program, ops.add.run((bias.bound, summand.bound), ()), bias)
    put_instead(node, op, (x, weight, summand), attrs)
    return True


def _multiply(program: Program, product: Node, node: Node, constant: Variable) -> bool:
    found = _form(product, node)
    if found is None:
        return False
    (x, weight, bias), axis, channels, op, attrs = found
    if weight.dtype not in (float32, float64):
        return False
    factor = _per_channel(program, constant, len(node.outputs[0].sizes), axis, channels, True)
    if factor is None:
        return False
    assert factor.bound is not None and weight.bound is not None
    scaled = [bound_constant(program, _times(weight.bound, ops.reshape.run((factor.bound,), (OF_OUTPUTS[op],))), weight)]
    if bias is not None:
        assert bias.bound is not None
        scaled.append(bound_constant(program, _times(bias.bound, factor.bound), bias))
    put_instead(node, op, (x, *scaled), attrs)
    return True


_FOLDS = {ops.add: _add, ops.multiply: _multiply}


def _times(x: Tensor, factor: Tensor) -> Tensor:
    return ops.multiply.run((x.detach(), factor.detach()), ())  # type: ignore[no-any-return]


def _form(product: Node, node: Node) -> tuple[Any, ...] | None:
    """Input, weight and bias of a product whose weight is a constant, the axis and number of its channels, and what it is with a bias."""
    if product.op not in OF_OUTPUTS and product.op is not ops.matmul:
        return None
    x, weight, bias = (*product.inputs, None)[:3]
    if weight is None or weight.bound is None or (bias is not None and bias.bound is None):
        return None
    rank = len(node.outputs[0].sizes)
    if product.op in (ops.conv2d, ops.conv2d_transpose):
        if product.op is ops.conv2d_transpose and product.attr("groups") != 1:
            return None
        channels = weight.sizes[OF_OUTPUTS[product.op].index(-1)]
        return (x, weight, bias), 1 if product.attr("data_format") == "NCHW" else 3, channels, product.op, product.attrs
    if product.op is ops.linear or (product.attrs == (False, False) and len(weight.sizes) == 2 and rank > 1):
        return (x, weight, bias), rank - 1, weight.sizes[1], ops.linear, ()
    return None


def _per_channel(program: Program, constant: Variable, rank: int, axis: int, channels: int, numbers: bool) -> Variable | None:
    """The constant as a vector with an element for each channel; one number too, if that may be repeated."""
    assert constant.bound is not None
    shape = constant.sizes
    wanted = tuple(channels if a == axis else 1 for a in range(rank))
    if len(shape) > rank:
        return None
    if (*(1,) * (rank - len(shape)), *shape) == wanted:
        return constant if len(shape) == 1 else bound_constant(program, ops.reshape.run((constant.bound,), ((channels,),)), constant)
    if numbers and constant.bound.size == 1:
        return bound_constant(program, ops.broadcast_to.run((ops.reshape.run((constant.bound,), ((1,),)),), ((channels,),)), constant)
    return None
