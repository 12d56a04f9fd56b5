"""Put the op itself in the place of activations and layer normalization that a program writes out, as files of many exporters do."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wherry_program.passes.rewriting import (
    Uses,
    bound_constant,
    drop,
    has_op,
    inferred,
    is_pure,
    number_of,
    put_before,
    put_instead,
    to_change,
    volatile,
)
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import Op

__all__ = ["composed"]

# A polynomial of the image `x` and of one function `y` of it: (power of x, power of y) -> coefficient.
Polynomial = dict[tuple[int, int], float]

_ARITHMETIC = (ops.add, ops.subtract, ops.multiply, ops.divide, ops.power, ops.square, ops.negative)
# What each of them has a node of: a function, a mean, a border.
_MARKS = (
    ops.sigmoid, ops.erf, ops.tanh, ops.relu6, ops.hardsigmoid, ops.clip, ops.minimum, ops.reduce_mean, ops.pad,
)  # fmt: skip
_DEEPEST, _DEGREE = 8, 4  # nodes between x and the result; the highest power
_LARGEST = 1000.0  # number: by larger ones, added and subtracted, programs round
_READERS = 5  # nodes from the function to the result


def composed(program: Program) -> Program:
    """Replace what is equal to `silu`, `hardswish`, `hardsigmoid`, `gelu`, `mish` or `layer_norm` by the op itself.

    A border of zeros becomes that of the convolution which reads it. However sums and products are arranged, an activation is known by the
    polynomial that it is of `x` and of a sigmoid, tanh, erf or bounded value of it. Numbers may differ by 10^-5 of themselves. Nodes that nothing
    reads any more stay (see `dead_code`).
    """
    out = to_change(program)
    if not has_op(out, *_MARKS):
        return out
    changing, uses = volatile(out), Uses(out)
    for node in list(out.walk()):
        if not is_pure(node, changing) or len(node.outputs) != 1 or not node.outputs[0].dtype.is_floating:
            continue
        if node.op is ops.conv2d:
            _border(node, changing)
        elif node.op is ops.reduce_mean:
            _layer_norm(out, node, uses, changing)
        else:
            _activation(node, uses, changing)
    return out


def _border(node: Node, changing: set[int]) -> None:
    x = node.inputs[0]
    padded = None if x is None else x.made_by
    if padded is None or padded.op is not ops.pad or not is_pure(padded, changing) or node.attr("data_format") != "NCHW":
        return
    around, value = padded.attrs
    if value != 0 or len(around) != 8 or any(around[:4]) or any(type(n) is not int or n < 0 for n in around):
        return
    strides, paddings, *rest = node.attrs
    node.inputs = (padded.inputs[0], *node.inputs[1:])
    node.attrs = (strides, tuple(a + b for a, b in zip(paddings, around[4:])), *rest)


# Activations.


def _activation(node: Node, uses: Uses, changing: set[int]) -> None:
    argument, forms = _function(node)
    if argument is None:
        return
    y = node.outputs[0]
    for x in reversed(_sources(argument)):  # the farthest first, so that nothing is left before a `hardsigmoid`
        inside = _polynomial(argument, {id(x): (1, 0)})
        if inside is None or x.sizes != y.sizes or x.dtype is not y.dtype:
            continue
        for root in reversed([*_readers(node, uses, changing)]):
            around = _polynomial(root.outputs[0], {id(x): (1, 0), id(y): (0, 1)})
            if around is None or root.outputs[0].sizes != x.sizes:
                continue
            for form in forms:
                made = form(inside, around)
                if made is not None:
                    put_instead(root, made[0], (x,), made[1])
                    return


def _readers(node: Node, uses: Uses, changing: set[int]) -> Iterator[Node]:
    """The node, what alone reads it, what alone reads that ..."""
    for _ in range(_READERS):
        yield node
        reader = uses.only(node.outputs[0])
        if reader is None or reader.op not in _ARITHMETIC or not is_pure(reader, changing):
            return
        node = reader


def _sources(x: Variable) -> list[Variable]:
    """A variable, and what it is made of by sums and products: one of them is what the activation is of."""
    found = [x]
    for y in found:
        if y.made_by is not None and y.made_by.op in _ARITHMETIC and y.made_by.block is x.block and len(found) < _DEEPEST:
            found += [z for z in y.made_by.inputs if z is not None and number_of(z) is None and not any(z is other for other in found)]
    return found


def _polynomial(x: Variable | None, of: dict[int, tuple[int, int]], deepest: int = _DEEPEST) -> Polynomial | None:
    if x is None or not deepest:
        return None
    if id(x) in of:
        return {of[id(x)]: 1.0}
    number, node = number_of(x), x.made_by
    if number is not None:
        return {(0, 0): number} if abs(number) < _LARGEST else None
    if node is None or node.op not in _ARITHMETIC or node.in_place:
        return None
    parts = [_polynomial(y, of, deepest - 1) for y in node.inputs]
    a, b = (*parts, None)[:2]
    if a is None or (b is None and len(parts) == 2):
        return None
    if node.op is ops.negative:
        return _times(a, {(0, 0): -1.0})
    if node.op is ops.square:
        return _times(a, a)
    assert b is not None
    if node.op is ops.multiply:
        return _times(a, b)
    if node.op in (ops.divide, ops.power):
        if b.keys() != {(0, 0)}:
            return None
        n = b[0, 0]
        if node.op is ops.divide:
            return _times(a, {(0, 0): 1 / n}) if n else None
        return _times(a, a) if n == 2 else _times(a, _times(a, a)) if n == 3 else None
    sign = -1.0 if node.op is ops.subtract else 1.0
    return {key: a.get(key, 0.0) + sign * b.get(key, 0.0) for key in a.keys() | b.keys()}


def _times(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return None
    out: Polynomial = {}
    for (i, j), p in a.items():
        for (k, m), q in b.items():
            out[i + k, j + m] = out.get((i + k, j + m), 0.0) + p * q
    return None if any(sum(key) > _DEGREE for key in out) else out


def _equal(a: Polynomial, b: Polynomial) -> bool:
    return all(math.isclose(a.get(key, 0.0), b.get(key, 0.0), rel_tol=1e-5, abs_tol=1e-9) for key in a.keys() | b.keys())


_X, _XY, _Y = (1, 0), (1, 1), (0, 1)
_SIXTH = 1 / 6
_TANH_GELU = {_X: math.sqrt(2 / math.pi), (3, 0): 0.044715 * math.sqrt(2 / math.pi)}
Made = tuple[Op, tuple[Any, ...]] | None
Form = Callable[[Polynomial, Polynomial], Made]


def _form(inside: Polynomial, around: Polynomial, op: Op, *attrs: Any) -> Form:
    def match(p: Polynomial, r: Polynomial) -> Made:
        return (op, attrs) if _equal(p, inside) and _equal(r, around) else None

    return match


def _any_hardsigmoid(p: Polynomial, r: Polynomial) -> Made:
    """A line that is cut off at 0 and 1."""
    linear = p.keys() <= {(0, 0), _X} and p.get(_X, 0.0) > 0
    return (ops.hardsigmoid, (p[_X], p.get((0, 0), 0.0))) if linear and _equal(r, {_Y: 1.0}) else None


_SIGMOID = (_form({_X: 1.0}, {_XY: 1.0}, ops.silu),)
_ERF = (_form({_X: math.sqrt(0.5)}, {_X: 0.5, _XY: 0.5}, ops.gelu, False),)
_TANH = (_form(_TANH_GELU, {_X: 0.5, _XY: 0.5}, ops.gelu, True),)
_MISH = (_form({_X: 1.0}, {_XY: 1.0}, ops.mish),)
_TO_SIX = (
    _form({_X: 1.0, (0, 0): 3.0}, {_XY: _SIXTH}, ops.hardswish), _form({_X: 1.0, (0, 0): 3.0}, {_Y: _SIXTH}, ops.hardsigmoid, _SIXTH, 0.5),
)  # fmt: skip
_TO_ONE = (_form({_X: _SIXTH, (0, 0): 0.5}, {_XY: 1.0}, ops.hardswish), _any_hardsigmoid)
_HARD_SIGMOID = (_form({_X: 1.0}, {_XY: 1.0}, ops.hardswish),)


def _function(node: Node) -> tuple[Variable | None, Sequence[Form]]:
    """What a node is a function of, and what may be made of that function; None where nothing may."""
    x = node.inputs[0] if node.inputs else None
    if node.op is ops.sigmoid:
        return x, _SIGMOID
    if node.op is ops.erf:
        return x, _ERF
    if node.op is ops.tanh:
        inner = None if x is None else x.made_by
        if inner is not None and inner.op is ops.softplus and inner.attr("beta") == 1.0:
            return inner.inputs[0], _MISH
        return x, _TANH
    if node.op is ops.relu6:
        return x, _TO_SIX
    if node.op is ops.hardsigmoid:
        exact = math.isclose(node.attr("slope"), _SIXTH, rel_tol=1e-5) and node.attr("offset") == 0.5
        return (x, _HARD_SIGMOID) if exact else (None, ())
    bounded, low, high = _bounded(node)
    return (bounded, _TO_SIX if high == 6 else _TO_ONE) if low == 0 and high in (1, 6) else (None, ())


def _bounded(node: Node) -> tuple[Variable | None, float | None, float | None]:
    """What lies between two numbers, as `clip` or as `minimum` of `maximum`."""
    if node.op is ops.clip:
        x, low, high = (*node.inputs, None, None)[:3]
        return x, None if low is None else number_of(low), None if high is None else number_of(high)
    if node.op is not ops.minimum or node.inputs[0] is None or node.inputs[1] is None:
        return None, None, None
    inner = node.inputs[0].made_by
    if inner is None or inner.op is not ops.maximum or inner.inputs[1] is None:
        return None, None, None
    return inner.inputs[0], number_of(inner.inputs[1]), number_of(node.inputs[1])


# Layer normalization: the mean, what differs from it, the mean of its square, and the quotient.


def _layer_norm(program: Program, mean: Node, uses: Uses, changing: set[int]) -> None:
    x = mean.inputs[0]
    last = len(x.sizes) - 1 if x is not None else -1
    if x is None or last < 1 or x.sizes[last] < 1 or not mean.attr("keepdim") or mean.attr("axes") != (last,):
        return
    for centred in uses.of.get(id(mean.outputs[0]), []):
        if centred.op is not ops.subtract or centred.inputs[0] is not x or centred.inputs[1] is not mean.outputs[0]:
            continue
        for square in uses.of.get(id(centred.outputs[0]), []):
            found = _quotient(square, centred, last, uses)
            if found is not None and all(is_pure(node, changing) and node.block is mean.block for node in (centred, square, found[0])):
                _put_layer_norm(program, x, *found, uses, changing)
                return


def _is_square(node: Node, x: Variable) -> bool:
    if node.op is ops.square or (node.op is ops.multiply and node.inputs[0] is node.inputs[1]):
        return True
    return node.op is ops.power and node.inputs[0] is x and node.inputs[1] is not None and number_of(node.inputs[1]) == 2


def _quotient(square: Node, centred: Node, last: int, uses: Uses) -> tuple[Node, float] | None:
    """The node that divides by the root of the mean of squares, and what was added to that mean."""
    d = centred.outputs[0]
    variance = uses.only(square.outputs[0]) if _is_square(square, d) else None
    if variance is None or variance.op is not ops.reduce_mean or not variance.attr("keepdim") or variance.attr("axes") != (last,):
        return None
    plus = uses.only(variance.outputs[0])
    if plus is None or plus.op is not ops.add:
        return None
    epsilon = next((n for n in map(number_of, plus.inputs) if n is not None), None)
    root = uses.only(plus.outputs[0])
    if epsilon is None or root is None:
        return None
    reader, by = uses.only(root.outputs[0]), root.outputs[0]
    if root.op is ops.sqrt and reader is not None and reader.op is ops.reciprocal:
        root, by = reader, reader.outputs[0]
        reader = uses.only(by)
    elif root.op is ops.sqrt:
        return (reader, epsilon) if reader is not None and reader.op is ops.divide and reader.inputs[0] is d and reader.inputs[1] is by else None
    if root.op not in (ops.rsqrt, ops.reciprocal) or reader is None or reader.op is not ops.multiply:
        return None
    return (reader, epsilon) if any(a is d and b is by for a, b in (reader.inputs, reader.inputs[::-1])) else None


def _put_layer_norm(program: Program, x: Variable, node: Node, epsilon: float, uses: Uses, changing: set[int]) -> None:
    columns, parameters = x.sizes[-1], []
    for op in (ops.multiply, ops.add):
        reader = uses.only(node.outputs[0])
        found = None
        if reader is not None and reader.op is op and is_pure(reader, changing):
            found = _row(program, reader, node.outputs[0], columns)
        parameters.append(found)
        if reader is not None and found is not None:
            node = reader
    out, inputs, attrs = node.outputs[0], (x, *parameters), (epsilon, len(x.sizes) - 1)
    _out, *metas = inferred(ops.layer_norm, inputs, attrs)
    statistics = [node.block.variable(meta.shape, meta.dtype, f"{out.name}.{what}") for meta, what in zip(metas, ("mean", "rstd"))]
    put_before(node, ops.layer_norm, inputs, attrs, (out, *statistics))
    drop([node])


def _row(program: Program, reader: Node, normalized: Variable, columns: int) -> Variable | None:
    """The other input of a node, as a constant with a number for each column."""
    other = reader.inputs[1] if reader.inputs[0] is normalized else reader.inputs[0]
    if other is None or other is normalized or other.bound is None or other.dtype is not normalized.dtype:
        return None
    if other.sizes == (columns,):
        return other
    if other.sizes[-1:] != (columns,) or other.bound.size != columns or len(other.sizes) > len(normalized.sizes):
        return None
    return bound_constant(program, ops.reshape.run((other.bound,), ((columns,),)), other)
