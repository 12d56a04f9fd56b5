"""What real Paddle and wherry are both asked: expressions over named inputs.

Floating inputs are written in float64 and cast to each dtype of the call. Statements before the last
one are separated by "; ". `grad=True` compares the gradients of the first result too.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Call(NamedTuple):
    expression: str
    dtypes: tuple
    grad: bool
    inputs: dict


CALLS: list[Call] = []


def call(expression, dtypes=("float32",), grad=False, **inputs):
    CALLS.append(Call(expression, tuple(dtypes), grad, inputs))


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).round(3)


def positive(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 2.0, shape).round(3)


def inside(*shape, seed=0):
    """Within (-1, 1)."""
    return np.random.default_rng(seed).uniform(-0.9, 0.9, shape).round(3)


def distinct(*shape, seed=0):
    """No ties, none near zero: safe for max, sort, abs."""
    n = int(np.prod(shape))
    return ((np.random.default_rng(seed).permutation(n) + 1.0) / 4 * np.where(np.arange(n) % 2, 1, -1)).reshape(shape)


def integers(*shape, low=-5, high=6, seed=0, dtype="int64"):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def bools(*shape, seed=0):
    return np.random.default_rng(seed).random(shape) < 0.5


FLOATS = ("float32", "float64")

# Element-wise, one input.
for name in ("exp", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "atan", "asinh", "erf", "square", "abs", "neg", "floor",
             "ceil", "trunc", "sign", "tan", "round", "frac"):
    call(f"paddle.{name}(x)", FLOATS, grad=True, x=normal(3, 4))
for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma"):
    call(f"paddle.{name}(x)", FLOATS, grad=True, x=positive(3, 4))
for name in ("i0", "i0e", "i1", "i1e"):
    call(f"paddle.{name}(x)", FLOATS, grad=True, x=normal(3, 4))
    call(f"paddle.{name}(x)", FLOATS, x=np.linspace(-30, 30, 13))
for n in (0, 1, 2, 5):
    call(f"paddle.polygamma(x, {n})", FLOATS, grad=True, x=positive(3, 4))
call("paddle.polygamma(x, 2)", FLOATS, x=np.array([0.0, -1.0, -0.5, 0.3, -2.7, 50.0]))
call("paddle.nextafter(x, y)", FLOATS, x=np.array([0.0, 0.0, 1.0, np.inf, np.nan]), y=np.array([1.0, -1.0, 1.0, 0.0, 1.0]))
call("paddle.frexp(x)", FLOATS, x=np.array([0.0, 0.5, -3.0, 1e30, np.inf, np.nan]))
for name in ("trapezoid", "cumulative_trapezoid"):
    call(f"paddle.{name}(x)", FLOATS, x=normal(3, 4))  # Paddle's gradient gives every row that of the first one
    call(f"paddle.{name}(x, y, axis=0)", FLOATS, grad=True, x=normal(3, 4), y=np.array([1.0, 3.0, 4.0]))
    call(f"paddle.{name}(x, dx=0.5)", FLOATS, x=normal(4))
for name in ("x", "x, 3", "x, 2, True", "x, 0", "x, 6"):
    call(f"paddle.combinations({name})", x=integers(5, low=0, high=9))
for name in ("asin", "acos", "atanh", "erfinv"):
    call(f"paddle.{name}(x)", FLOATS, grad=True, x=inside(3, 4))
call("paddle.acosh(x)", FLOATS, grad=True, x=positive(3, 4) + 1.5)
call("paddle.logit(x, eps=0.1)", FLOATS, grad=True, x=np.abs(inside(3, 4)))
for name in ("isnan", "isinf", "isfinite"):
    call(f"paddle.{name}(x)", FLOATS, x=np.array([1.0, np.nan, np.inf, -np.inf]))
for name in ("exp", "sin", "sqrt", "floor", "tanh", "reciprocal", "abs", "square", "sign"):
    call(f"paddle.{name}(x)", x=integers(3, low=1, high=5))
call("paddle.round(x)", FLOATS, x=np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4]))
for name in ("conj", "real", "imag", "angle", "abs"):
    call(f"paddle.{name}(x)", ("complex64", "complex128"), x=normal(3) + 1j * normal(3, seed=1))
call("paddle.nan_to_num(x)", FLOATS, x=np.array([1.0, np.nan, np.inf, -np.inf]))
call("paddle.rad2deg(x)", FLOATS, x=normal(3))
call("paddle.deg2rad(x)", FLOATS, x=normal(3))
call("paddle.scale(x, scale=2.0, bias=1.0)", FLOATS, grad=True, x=normal(3))
call("paddle.scale(x, scale=2.0, bias=1.0, bias_after_scale=False)", FLOATS, grad=True, x=normal(3))
call("paddle.stanh(x)", FLOATS, grad=True, x=normal(3))
call("paddle.increment(x, 2.0)", x=normal(1))
call("paddle.clip(x, -0.5, 0.5)", FLOATS, grad=True, x=normal(3, 4))
call("paddle.clip(x, min=0.25)", FLOATS, x=normal(3, 4))
call("paddle.clip(x, -2, 2)", x=integers(5))

# Element-wise, two inputs; broadcasting; dtypes; Python numbers.
for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "atan2"):
    call(f"paddle.{name}(x, y)", FLOATS, grad=True, x=distinct(3, 4), y=positive(4, seed=1))
call("paddle.pow(x, y)", FLOATS, grad=True, x=positive(3, 4), y=normal(3, 1, seed=1))
call("paddle.pow(x, 2)", FLOATS, grad=True, x=normal(3))
call("paddle.pow(x, 2)", x=integers(3))
call("paddle.pow(x, 0.5)", x=integers(3, low=1, high=9))
for name in ("mod", "remainder", "floor_mod", "floor_divide"):
    call(f"paddle.{name}(x, y)", FLOATS, x=normal(6) * 5, y=np.array([2.0, -2.0, 1.5, -1.5, 3.0, 0.7]))
    call(f"paddle.{name}(x, y)", x=np.array([7, -7, 7, -7]), y=np.array([3, 3, -3, -3]))
for name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    call(f"paddle.{name}(x, y)", FLOATS, x=normal(3, 4).round(0), y=normal(4, seed=1).round(0))
    call(f"paddle.{name}(x, y)", x=integers(3, 4), y=integers(4, seed=1))
for name in ("logical_and", "logical_or", "logical_xor"):
    call(f"paddle.{name}(x, y)", x=bools(3, 4), y=bools(4, seed=1))
    call(f"paddle.{name}(x, y)", x=integers(3), y=integers(3, seed=1))
call("paddle.logical_not(x)", x=bools(3))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    call(f"paddle.{name}(x, y)", x=integers(6), y=integers(6, seed=1))
    call(f"paddle.{name}(x, y)", x=bools(6), y=bools(6, seed=1))
call("paddle.bitwise_not(x)", x=integers(6))
call("paddle.gcd(x, y)", x=np.array([12, -18, 0]), y=np.array([8, 12, 5]))
call("paddle.lcm(x, y)", x=np.array([12, -18, 0]), y=np.array([8, 12, 5]))
call("paddle.heaviside(x, y)", FLOATS, x=np.array([-1.0, 0.0, 2.0]), y=np.array([0.5, 0.25, 0.5]))
call("paddle.lerp(x, y, 0.3)", FLOATS, grad=True, x=normal(3, 4), y=normal(3, 4, seed=1))
call("paddle.complex(x, y)", FLOATS, x=normal(3), y=normal(3, seed=1))
call("paddle.allclose(x, x + 1e-9)", FLOATS, x=normal(3))
call("paddle.isclose(x, x + 1e-3)", FLOATS, x=normal(3))
call("paddle.equal_all(x, x)", x=integers(3))
call("paddle.add_n([x, y])", FLOATS, grad=True, x=normal(3), y=normal(3, seed=1))
call("paddle.outer(x, y)", FLOATS, grad=True, x=normal(3), y=normal(4, seed=1))
call("paddle.multiplex([x, y], i)", FLOATS, x=normal(3, 2), y=normal(3, 2, seed=1), i=integers(3, 1, low=0, high=2, dtype="int32"))
for operator in ("+", "-", "*", "/", "//", "%", "**"):
    call(f"x {operator} y", FLOATS, grad=operator in "+-*/**", x=positive(3), y=positive(3, seed=1))
    call(f"x {operator} 2", FLOATS, x=positive(3))
    call(f"x {operator} 2.5", FLOATS, x=positive(3))
    call(f"2 {operator} x", FLOATS, x=positive(3))
    call(f"x {operator} y", x=integers(3, low=1), y=integers(3, low=1, high=4, seed=1))
    call(f"x {operator} 2", x=integers(3, low=1))
    call(f"x {operator} 2.5", x=integers(3, low=1))
    call(f"2.5 {operator} x", x=integers(3, low=1))
    call(f"x {operator} y", x=positive(3), y=integers(3, low=1, seed=1))
    call(f"y {operator} x", x=positive(3), y=integers(3, low=1, seed=1))
    call(f"x {operator} y.astype('float64')", x=positive(3), y=positive(3, seed=1))
    call(f"x {operator} y.astype('int32')", x=integers(3, low=1), y=integers(3, low=1, seed=1))
for operator in ("<", "<=", ">", ">=", "==", "!="):
    call(f"x {operator} y", FLOATS, x=normal(3), y=normal(3))
    call(f"x {operator} 1", x=integers(5))
    call(f"x {operator} 0.5", FLOATS, x=normal(5))
for expression in ("-x", "abs(x)", "x @ y", "x.T", "~(x > 0)", "(x > 0) & (x < 1)", "(x > 0) | (x < 1)", "(x > 0) ^ (x < 1)"):
    call(expression, FLOATS, x=normal(3, 3), y=normal(3, 3, seed=1))

# Reductions and scans.
for name in ("sum", "mean", "max", "min", "prod", "logsumexp", "amax", "amin", "std", "var"):
    for arguments in ("", ", axis=0", ", axis=-1, keepdim=True", ", axis=[0, 2]"):
        call(f"paddle.{name}(x{arguments})", FLOATS, grad=True, x=distinct(2, 3, 4) / 8)
for name in ("nansum", "nanmean"):
    call(f"paddle.{name}(x, axis=1)", FLOATS, x=np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]))
call("paddle.sum(x)", x=integers(3, 4))
call("paddle.sum(x)", x=bools(3, 4))
call("paddle.sum(x, dtype='float64')", x=normal(3, 4))
call("paddle.max(x, axis=0)", x=integers(3, 4))
call("paddle.prod(x)", x=integers(3))
call("paddle.mean(x)", x=integers(3))
call("paddle.max(x)", FLOATS, grad=True, x=np.array([1.0, 3.0, 3.0]))
call("paddle.amax(x)", FLOATS, grad=True, x=np.array([1.0, 3.0, 3.0]))
for name in ("all", "any"):
    for arguments in ("", ", axis=0", ", axis=-1, keepdim=True"):
        call(f"paddle.{name}(x{arguments})", x=bools(3, 4))
for name in ("argmax", "argmin"):
    for arguments in ("", ", axis=0", ", axis=-1, keepdim=True", ", axis=0, dtype='int32'"):
        call(f"paddle.{name}(x{arguments})", FLOATS, x=distinct(3, 4))
call("paddle.median(x)", FLOATS, x=distinct(3, 3))
call("paddle.median(x, axis=1)", FLOATS, x=distinct(3, 4))
call("paddle.median(x, axis=1, keepdim=True)", FLOATS, x=distinct(3, 5))
call("paddle.count_nonzero(x, axis=0)", x=integers(3, 4, low=0, high=2))
for name in ("cumsum", "logcumsumexp"):
    for arguments in ("", ", axis=0", ", axis=-1"):
        call(f"paddle.{name}(x{arguments})", FLOATS, grad=True, x=normal(3, 4))
call("paddle.cumprod(x, dim=1)", FLOATS, grad=True, x=positive(3, 4))
call("paddle.cumsum(x)", x=integers(3, 4))
call("paddle.cummax(x, axis=1)", FLOATS, x=distinct(3, 4))
call("paddle.cummin(x, axis=1)", FLOATS, x=distinct(3, 4))
for p in ("'fro'", "1", "2", "3", "np.inf", "-np.inf", "0"):
    call(f"paddle.norm(x, p={p}, axis={'[0, 1]' if p == chr(39) + 'fro' + chr(39) else '1'})", FLOATS, x=normal(3, 4))
call("paddle.norm(x)", FLOATS, grad=True, x=normal(3, 4))
call("paddle.dist(x, y, 2)", FLOATS, x=normal(3), y=normal(3, seed=1))
call("paddle.quantile(x, 0.3, axis=0)", FLOATS, x=distinct(5, 2))
call("paddle.diff(x)", FLOATS, grad=True, x=normal(3, 4))

# Creation.
for expression in (
    "paddle.zeros([2, 3])", "paddle.ones([2, 3], 'int32')", "paddle.full([2], 3)", "paddle.full([2], 3.5, 'float64')",
    "paddle.full([2], True)", "paddle.arange(5)", "paddle.arange(1, 5)", "paddle.arange(1, 5, 0.5)", "paddle.arange(5, 1, -2)",
    "paddle.arange(3.0)", "paddle.arange(0, 1, 0.1, dtype='float64')", "paddle.linspace(0, 10, 5)", "paddle.linspace(0, 10, 5, 'int32')",
    "paddle.logspace(0, 3, 4)", "paddle.logspace(0, 3, 4, base=2.0)", "paddle.eye(3)", "paddle.eye(2, 3, 'int64')", "paddle.to_tensor(3)",
    "paddle.to_tensor(3.5)", "paddle.to_tensor(True)", "paddle.to_tensor([1, 2])", "paddle.to_tensor([1, 2.5])",
    "paddle.to_tensor([[1 + 1j]])", "paddle.to_tensor([[1, 2], [3, 4]], dtype='float64')", "paddle.to_tensor(np.float64(2))",
    "paddle.to_tensor(np.arange(3, dtype='int16'))", "paddle.to_tensor([])", "paddle.to_tensor(())", "paddle.tril_indices(3, 3, 0)",
    "paddle.triu_indices(3, 4, 1)", "paddle.empty([0, 3])", "paddle.diag(paddle.arange(3), offset=1)", "paddle.meshgrid(paddle.arange(2), paddle.arange(3))",
    "paddle.diagflat(paddle.arange(4).reshape([2, 2]))", "paddle.assign([1, 2])", "paddle.assign(np.ones([2]))",
):
    call(expression)
for name in ("zeros_like", "ones_like"):
    call(f"paddle.{name}(x)", FLOATS, x=normal(2, 3))
    call(f"paddle.{name}(x, dtype='int32')", x=normal(2, 3))
call("paddle.full_like(x, 2.5)", FLOATS, x=normal(2))
for name in ("tril", "triu"):
    for diagonal in (-1, 0, 1):
        call(f"paddle.{name}(x, {diagonal})", FLOATS, grad=True, x=normal(3, 4))
call("paddle.diag(x)", FLOATS, grad=True, x=normal(3, 4))
call("paddle.diag(x, padding_value=2)", FLOATS, x=normal(3))
call("paddle.clone(x)", FLOATS, grad=True, x=normal(3))
for target in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"):
    call(f"paddle.cast(x, '{target}')", x=np.array([0.0, 1.0, 2.7, 100.0]))
    call(f"x.astype('{target}')", x=np.array([0, 1, 2, 100]))

# Manipulation.
for shape in ("[4, 3]", "[-1]", "[2, -1]", "[0, 4]", "[3, 2, 2]", "[5, 2]", "[-1, -1]", "[3, 1, 4, 1]"):
    call(f"paddle.reshape(x, {shape})", FLOATS, grad="5" not in shape and shape != "[-1, -1]", x=normal(3, 4))
call("paddle.transpose(x, [1, 0, 2])", FLOATS, grad=True, x=normal(2, 3, 4))
call("paddle.transpose(x, [0, 0, 1])", x=normal(2, 3, 4))
call("paddle.moveaxis(x, 0, -1)", FLOATS, grad=True, x=normal(2, 3, 4))
call("paddle.t(x)", x=normal(2, 3))
for arguments in ("", ", 1", ", 0, 1", ", -2, -1", ", 2, 1"):
    call(f"paddle.flatten(x{arguments})", x=normal(2, 3, 4))
for arguments in ("", ", 0", ", [0, 2]", ", 1", ", 5"):
    call(f"paddle.squeeze(x{arguments})", x=normal(1, 3, 1))
for arguments in ("0", "-1", "[0, 2]", "7"):
    call(f"paddle.unsqueeze(x, {arguments})", x=normal(3, 4))
call("paddle.concat([x, y], axis=1)", FLOATS, grad=True, x=normal(2, 3), y=normal(2, 1, seed=1))
call("paddle.concat([x, y])", x=normal(2, 3), y=normal(2, 4, seed=1))
call("paddle.stack([x, y], axis=1)", FLOATS, grad=True, x=normal(2, 3), y=normal(2, 3, seed=1))
for arguments in ("2", "[1, 3]", "[1, -1]", "3"):
    call(f"paddle.split(x, {arguments}, axis=1)", x=normal(3, 4))
call("paddle.chunk(x, 2, axis=1)", x=normal(3, 4))
call("paddle.unbind(x, 1)", FLOATS, grad=True, x=normal(2, 3))
call("paddle.unstack(x, 1)", x=normal(2, 3))
call("paddle.vsplit(x, 2)", x=normal(4, 3))
call("paddle.expand(x, [2, 3, 4])", FLOATS, grad=True, x=normal(3, 1))
call("paddle.expand(x, [2, -1, 4])", x=normal(3, 1))
call("paddle.expand(x, [4, 4])", x=normal(3, 4))
call("paddle.expand_as(x, y)", FLOATS, x=normal(1, 4), y=normal(3, 4))
call("paddle.broadcast_to(x, [2, 3])", x=normal(3))
call("paddle.broadcast_tensors([x, y])", x=normal(3, 1), y=normal(4))
call("paddle.broadcast_shape([2, 1, 3], [4, 1])")
call("paddle.tile(x, [2, 2])", FLOATS, grad=True, x=normal(2, 3))
call("paddle.tile(x, [2])", x=normal(2, 3))
call("paddle.flip(x, [0, 1])", FLOATS, grad=True, x=normal(2, 3))
call("paddle.reverse(x, [0])", x=normal(2, 3))
for arguments in ("1", "1, 0", "[1, 2], [0, 1]", "-1, 1"):
    call(f"paddle.roll(x, {arguments})", FLOATS, grad=True, x=normal(3, 4))
call("paddle.rot90(x, 1, [0, 1])", x=normal(3, 4))
call("paddle.repeat_interleave(x, 2, axis=1)", FLOATS, grad=True, x=normal(2, 3))
call("paddle.repeat_interleave(x, y, axis=1)", x=normal(2, 3), y=np.array([1, 0, 2]))
call("paddle.slice(x, [0, 1], [0, 1], [2, 3])", FLOATS, grad=True, x=normal(3, 4))
call("paddle.strided_slice(x, [1], [0], [4], [2])", FLOATS, grad=True, x=normal(3, 4))
call("paddle.crop(x, [2, 2], [1, 1])", x=normal(3, 4))
call("paddle.as_complex(x)", x=normal(3, 2))
call("paddle.as_real(x)", ("complex64",), x=normal(3) + 1j * normal(3, seed=1))
call("paddle.tensordot(x, y, axes=1)", x=normal(2, 3), y=normal(3, 4))
call("paddle.tensordot(x, y, axes=[[0], [1]])", x=normal(2, 3), y=normal(4, 2))
call("paddle.diagonal(x, offset=1)", FLOATS, grad=True, x=normal(3, 4))
call("paddle.shape(x)", x=normal(2, 3))
call("paddle.numel(x)", x=normal(2, 3))
call("paddle.rank(x)", x=normal(2, 3))
call("paddle.tolist(x)", x=integers(2, 3))
call("paddle.shard_index(x, 20, 2, 0)", x=np.array([[16], [1]]))

# Indexing.
for index in ("0", "-1", "1:", ":2", "::2", "1, 2", "..., 1", ":, None", "[0, 2]", "[[0], [2]]", "x > 0", "..., [1, 0]", "[0, 1], [1, 2]",
              "1:, [0, 2]", "paddle.to_tensor([2, 0])", "[True, False, True]", "::-1", "5", "0, 0, 0", "None, 1, ..., None", "1:1"):
    call(f"x[{index}]", FLOATS, grad=index not in ("5", "0, 0, 0", "::-1", "1:1"), x=normal(3, 4))
for statement in ("x[0] = 1.5", "x[1:] = y", "x[:, 1] = 2", "x[x > 0] = 0", "x[[0, 2]] = 3.0", "x[..., -1] = paddle.ones([3])", "x[0, 1] = 9",
                  "x[::2] = 0", "x[paddle.to_tensor([1])] = 7.0"):
    call(f"{statement}; x", FLOATS, x=normal(3, 4), y=normal(2, 4, seed=1))
call("paddle.gather(x, i)", FLOATS, grad=True, x=normal(4, 3), i=np.array([0, 2, 2]))
call("paddle.gather(x, i, axis=1)", x=normal(4, 3), i=np.array([0, 2]))
call("paddle.gather_nd(x, i)", FLOATS, grad=True, x=normal(4, 3), i=np.array([[0, 1], [2, 2]]))
call("paddle.scatter(x, i, y)", FLOATS, x=normal(4, 3), i=np.array([1, 3]), y=normal(2, 3, seed=1))
call("paddle.scatter(x, i, y, overwrite=False)", FLOATS, x=normal(4, 3), i=np.array([1, 1]), y=normal(2, 3, seed=1))
call("paddle.scatter_nd(i, y, [4, 3])", FLOATS, x=normal(4, 3), i=np.array([[1], [1]]), y=normal(2, 3, seed=1))
call("paddle.scatter_nd_add(x, i, y)", FLOATS, grad=True, x=normal(4, 3), i=np.array([[1], [1]]), y=normal(2, 3, seed=1))
call("paddle.index_select(x, i, axis=1)", FLOATS, grad=True, x=normal(4, 3), i=np.array([0, 2, 2]))
call("paddle.index_sample(x, i)", FLOATS, x=normal(2, 4), i=np.array([[0, 2], [3, 1]]))
call("paddle.take_along_axis(x, i, 1)", FLOATS, grad=True, x=normal(2, 4), i=np.array([[0, 2], [3, 1]]))
call("paddle.put_along_axis(x, i, 1.5, 1)", FLOATS, x=normal(2, 4), i=np.array([[0], [3]]))
call("paddle.put_along_axis(x, i, y, 1, reduce='add')", FLOATS, x=normal(2, 4), i=np.array([[0], [3]]), y=normal(2, 1))
call("paddle.masked_select(x, m)", FLOATS, grad=True, x=normal(2, 4), m=bools(2, 4))
call("paddle.nonzero(x)", x=integers(2, 4, low=0, high=2))
call("paddle.nonzero(x, as_tuple=True)", x=integers(2, 4, low=0, high=2))
call("paddle.where(x > 0, x, y)", FLOATS, grad=True, x=normal(3, 4), y=normal(3, 4, seed=1))
call("paddle.where(x > 0)", x=normal(3, 4))
call("paddle.index_add(x, i, 0, y)", FLOATS, x=normal(4, 3), i=np.array([1, 3]), y=normal(2, 3, seed=1))

# Order.
for arguments in ("2", "2, axis=0", "2, largest=False", "1"):
    call(f"paddle.topk(x, {arguments})", FLOATS, x=distinct(3, 4))
for name in ("sort", "argsort"):
    for arguments in ("", ", axis=0", ", descending=True"):
        call(f"paddle.{name}(x{arguments})", FLOATS, x=distinct(3, 4))
call("paddle.kthvalue(x, 2)", FLOATS, x=distinct(3, 4))
call("paddle.mode(x)", FLOATS, x=np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 1.0]]))
call("paddle.searchsorted(x, y)", x=np.sort(distinct(5)), y=distinct(2, 2))
call("paddle.searchsorted(x, y, right=True)", x=np.array([1, 2, 2, 3]), y=np.array([2, 0, 5]))
call("paddle.bucketize(y, x)", x=np.sort(distinct(5)), y=distinct(2, 2))
call("paddle.bincount(x)", x=np.array([1, 2, 2, 5]))
call("paddle.bincount(x, w, minlength=8)", x=np.array([1, 2, 2, 5]), w=normal(4))
call("paddle.histogram(x, bins=4, min=0, max=3)", FLOATS, x=np.array([1.0, 2.0, 1.0, 3.0, 5.0]))
call("paddle.histogram(x, bins=4)", FLOATS, x=np.array([1.0, 2.0, 1.0, 3.0]))
call("paddle.unique(x)", x=np.array([2, 3, 3, 1, 5, 3]))
call("paddle.unique(x, return_index=True, return_inverse=True, return_counts=True)", x=np.array([2, 3, 3, 1, 5, 3]))
call("paddle.unique(x, axis=0)", x=np.array([[2, 1], [2, 1], [0, 3]]))
call("paddle.unique_consecutive(x, return_inverse=True, return_counts=True)", x=np.array([1, 1, 2, 2, 3, 1]))

# Products.
for x, y in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 4)), ((2, 3), (4, 5))):
    call("paddle.matmul(x, y)" + f"  # {x} {y}", FLOATS, grad=y != (4, 5), x=normal(*x), y=normal(*y, seed=1))
call("paddle.matmul(x, y, transpose_x=True)", FLOATS, grad=True, x=normal(3, 2), y=normal(3, 4, seed=1))
call("paddle.matmul(x, y, transpose_y=True)", FLOATS, grad=True, x=normal(2, 3), y=normal(4, 3, seed=1))
for name, x, y in (("mm", (2, 3), (3, 4)), ("bmm", (2, 2, 3), (2, 3, 4)), ("mv", (2, 3), (3,)), ("dot", (3,), (3,)), ("dot", (2, 3), (2, 3)), ("inner", (2, 3), (4, 3)),
                   ("kron", (2, 2), (3, 2)), ("cross", (2, 3), (2, 3))):
    call(f"paddle.{name}(x, y)" + f"  # {x} {y}", FLOATS, grad=True, x=normal(*x), y=normal(*y, seed=1))
call("paddle.addmm(x, y, z, beta=0.5, alpha=2.0)", FLOATS, grad=True, x=normal(2, 4), y=normal(2, 3), z=normal(3, 4))
call("paddle.trace(x, offset=1)", FLOATS, grad=True, x=normal(3, 4))
for equation in ("ij,jk->ik", "ij,ij->", "ii->i", "ii", "ij->ji", "bij,bjk->bik", "...ij,...jk->...ik", "i,j->ij", "ij,j", "ijk->j"):
    shapes = {"bij,bjk->bik": ((2, 3, 3), (2, 3, 4)), "...ij,...jk->...ik": ((2, 3, 3), (2, 3, 4)), "i,j->ij": ((3,), (4,)), "ij,j": ((2, 3), (3,)),
              "ijk->j": ((2, 3, 4),), "ij->ji": ((2, 3),), "ii": ((3, 3),), "ii->i": ((3, 3),)}.get(equation, ((3, 3), (3, 3)))
    call(f"paddle.einsum('{equation}', x{', y' if len(shapes) > 1 else ''})", FLOATS, grad=True, x=normal(*shapes[0]), y=normal(*shapes[-1], seed=1))

# Errors: the type that Paddle raises.
for expression in ("x + y", "paddle.add(x, y)", "paddle.concat([x, y], axis=5)", "paddle.stack([x, y])", "paddle.matmul(x, y)", "x.reshape([7])",
                   "paddle.sum(x, axis=5)", "paddle.argmax(x, axis=3)", "paddle.to_tensor([[1, 2], [3]])", "x[10]", "paddle.split(x, 5, axis=1)",
                   "paddle.transpose(x, [0])", "x.item()", "bool(x)", "paddle.zeros([-2])", "paddle.full(None, 1)", "paddle.cast(x, 'float31')",
                   "paddle.ones('a')", "paddle.gather(x, paddle.to_tensor([9]))", "paddle.topk(x, 9)", "paddle.expand(x, [1])", "paddle.arange('a')",
                   "paddle.eye(-1)", "paddle.tile(x, [-1])", "paddle.cumsum(x, axis=4)", "len(paddle.to_tensor(1.0))",
                   "paddle.logical_and(x, None)", "paddle.exp(None)", "paddle.exp([1.0])", "paddle.set_default_dtype('int32')", "paddle.set_device('abc')"):
    call(expression, x=normal(2, 3), y=normal(4, 5))

# Text: every kind of number in shapes that are wrapped, summarised, empty. `kind` makes numbers that are alike, mixed in
# magnitude, whole, or not finite.
def numbers(kind, shape, seed=0):
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    values = {
        "alike": lambda: rng.random(n),
        "mixed": lambda: rng.standard_normal(n) * 10.0 ** rng.integers(-6, 5, n),
        "whole": lambda: rng.integers(-5, 50, n).astype("float64"),
        "special": lambda: np.where(rng.random(n) < 0.3, rng.choice([np.nan, np.inf, -np.inf, -0.0], n), rng.standard_normal(n)),
    }[kind]()
    return values.astype("float32").astype("float64").reshape(shape)  # powers differ in the last bit among NumPys


PRINTED = [(), (0,), (1,), (7,), (30,), (200,), (1001,), (2, 3), (3, 0), (2, 0, 2), (1, 30), (2, 3, 4), (2, 2, 2, 2), (8, 200), (300, 5), (4, 1, 300)]
for shape in PRINTED:
    for kind in ("alike", "mixed", "whole", "special"):
        call("str(x)", FLOATS, x=numbers(kind, shape))
        call("str(x)", x=numbers(kind, shape).astype("float16"))  # here, as casts round differently
        pairs = np.stack([numbers(kind, shape), numbers(kind, shape, 1)], -1)
        for dtype in ("complex64", "complex128"):
            call("str(x)", (dtype,), x=pairs.astype(dtype.replace("complex64", "float32").replace("complex128", "float64")).view(dtype)[..., 0])
    for dtype, low, high in (("uint8", 0, 255), ("int8", -128, 127), ("int16", -9, 9), ("int32", 0, 10**9), ("int64", -(10**12), 10**12)):
        call("str(x)", x=np.random.default_rng(0).integers(low, high, shape).astype(dtype))
    call("str(x)", x=np.random.default_rng(0).random(shape) < 0.5)
for options in ("precision=3", "sci_mode=True", "linewidth=20", "threshold=5, edgeitems=1"):
    restore = "paddle.set_printoptions(precision=8, sci_mode=False, linewidth=80, threshold=1000, edgeitems=3)"
    for shape in ((), (9,), (4, 9), (3, 4, 5)):
        call(f"paddle.set_printoptions({options}); y = str(x); {restore}; y", x=numbers("mixed", shape))
