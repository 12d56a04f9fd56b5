"""What Paddle 3.3.1 and wherry are both asked: names that came with Paddle 3, and the spellings that it shares with PyTorch."""
from __future__ import annotations

import numpy as np
from calls import Call, bools, distinct, inside, integers, normal, positive

CALLS: list[Call] = []


def call(expression, dtypes=("float32",), grad=False, **inputs):
    CALLS.append(Call(expression, tuple(dtypes), grad, inputs))


FLOATS = ("float32", "float64")
GIVEN = ("as given",)

# Other names of arguments.
for expression in (
    "paddle.sum(input=x, dim=1)", "paddle.sum(x, dim=[0, 1], keepdim=True)", "x.sum(dim=0)", "paddle.mean(input=x, dim=1, keepdim=True)", "paddle.prod(input=x, dim=0)",
    "paddle.amax(input=x, dim=1)", "paddle.amin(x, dim=1)", "paddle.logsumexp(input=x, dim=1)", "paddle.add(input=x, other=y)", "paddle.subtract(input=x, other=y, alpha=3)",
    "paddle.add(x, y, alpha=0.5)", "x.add(other=y, alpha=2)", "paddle.multiply(input=x, other=y)", "paddle.divide(input=x, other=y)", "paddle.maximum(input=x, other=y)",
    "paddle.matmul(input=x, other=y.t())", "paddle.cumsum(input=x, dim=1)", "paddle.cumprod(x, dim=1)", "paddle.flatten(input=x, start_dim=0, end_dim=1)",
    "paddle.squeeze(input=x.unsqueeze(0), dim=0)", "paddle.unsqueeze(input=x, dim=1)", "paddle.concat(tensors=[x, y], dim=1)", "paddle.stack(tensors=[x, y], dim=1)",
    "paddle.topk(input=x, k=2, dim=1)", "paddle.quantile(input=x, q=0.5, dim=1)", "paddle.clip(input=x, min=-0.5, max=0.5)", "paddle.tile(input=x, dims=[2, 1])",
    "paddle.roll(input=x, shifts=1, dims=0)", "paddle.chunk(input=x, chunks=2, dim=1)", "paddle.unbind(input=x, dim=0)", "paddle.unflatten(input=x, dim=1, sizes=[2, 2])",
    "paddle.diagonal(input=x, offset=0, dim1=0, dim2=1)", "paddle.outer(input=x[0], vec2=y[0])", "paddle.pow(input=x.abs() + 1, exponent=2.0)",
    "paddle.take_along_axis(input=x, indices=(x > 9).astype('int64'), dim=1)", "paddle.linalg.norm(input=x, dim=1)", "paddle.diff(input=x, dim=1)",
    "paddle.expand(input=x.unsqueeze(0), size=[2, 3, 4])", "paddle.broadcast_to(input=x, size=[2, 3, 4])", "paddle.sigmoid(input=x)", "paddle.exp(input=x)",
    "F.softmax(input=x, dim=1)", "F.normalize(input=x, p=2.0, dim=1, eps=1e-6)", "F.cosine_similarity(x, y, dim=1)", "F.layer_norm(input=x, normalized_shape=[4], eps=1e-5)",
    "F.hardshrink(input=x, lambd=0.4)", "F.softshrink(input=x, lambd=0.4)", "F.pad(input=x, pad=[0, 0, 1, 1])", "x.std(unbiased=True, axis=0)",
):
    call(expression, FLOATS, grad=True, x=normal(3, 4), y=positive(3, 4, seed=1))
call("F.cross_entropy(x, target=label)", grad=True, x=normal(3, 4), label=integers(3, low=0, high=4))
call("F.conv2d(input=x, weight=w)", grad=True, x=normal(1, 2, 4, 4), w=normal(3, 2, 2, 2))
call("F.embedding(input=i, weight=w)", grad=True, i=integers(5, low=0, high=4), w=normal(4, 3))
call("paddle.argmax(input=x, dim=1, keepdim=True)", x=distinct(3, 4))
call("paddle.argsort(input=x, dim=1, descending=True)", x=distinct(3, 4))
call("paddle.bucketize(input=x, boundaries=b)", x=normal(5), b=np.array([-1.0, 0.0, 1.0]))
call("paddle.searchsorted(b, input=x)", x=normal(5), b=np.array([-1.0, 0.0, 1.0]))
call("paddle.linspace(0, end=3, steps=4)")
call("paddle.eye(n=3, m=2)")
call("paddle.where(condition=x > 0, input=x, other=x * 2)", grad=True, x=normal(3, 4))
call("paddle.equal(input=x, other=x)", x=integers(3))

# Lists that are written out.
for expression in (
    "x.view(4, 3)", "x.view(12)", "x.reshape(2, -1)", "x.permute(1, 0)", "x.transpose(0, 1)", "x.transpose(-1, 0)", "x.expand(2, 3, 4)", "x.tile(2, 1)", "x.repeat(2, 3)",
    "x.swapaxes(0, 1)", "x.permute(dims=[1, 0])", "paddle.reshape(x, 4, 3)", "paddle.permute(x, [1, 0])", "x.unflatten(1, [2, 2])",
):
    call(expression, grad=True, x=normal(3, 4))
for expression in (
    "paddle.ones(2, 3)", "paddle.zeros(2, 3, dtype='int32')", "paddle.ones(size=[2])", "paddle.full(size=[2], fill_value=3)", "paddle.ones(2, requires_grad=True).stop_gradient",
    "list(paddle.rand(2, 3).shape)", "list(paddle.randn(4, 2).shape)", "list(paddle.empty(2, 3).shape)", "paddle.zeros_like(paddle.ones([2]), requires_grad=True).stop_gradient",
    "paddle.tensor([1.0, 2.0], requires_grad=True)", "paddle.as_tensor([1, 2])", "paddle.asarray([1.5])", "paddle.from_numpy(np.ones([2], 'int64'))", "paddle.range(0, 3)",
    "paddle.FloatTensor([1, 2])", "list(paddle.IntTensor(2, 3).shape)", "paddle.Size([2, 3]).numel()", "paddle.arange(end=3)", "paddle.broadcast_shapes([2, 1], [3], [4, 1, 1])",
):
    call(expression)
call("x.size(0), x.size(-1), x.size + 0", x=normal(3, 4))
call("list(x.size())", x=normal(3, 4))
call("x.new_zeros([2]), x.new_ones(2, 3), x.new_full([2], 5)", FLOATS, x=normal(3, 4))
call("x.float(), x.double(), x.int(), x.long(), x.bool(), x.half(), x.float32(), x.int64()", x=normal(3, 4))
call("x.type_as(y), x.mT, x.requires_grad, x.is_cuda, x.get_device(), x.stride()", x=normal(3, 4), y=integers(3))
call("o = paddle.zeros([1]); r = paddle.add(x, x, out=o); o", x=normal(3, 4))
call("o = paddle.zeros([1]); r = paddle.sum(x, axis=0, out=o); o", x=normal(3, 4))
call("paddle.divide(x, y, rounding_mode='floor')", x=normal(3, 4), y=positive(3, 4, seed=1))
call("paddle.divide(x, y, rounding_mode='trunc')", x=normal(3, 4), y=positive(3, 4, seed=1))
for expression in (
    "paddle.gather(x, 1, i)", "x.gather(1, i)", "paddle.gather(input=x, dim=1, index=i)", "x.scatter(1, i, y)", "paddle.scatter(x, dim=1, index=i, src=y)",
    "paddle.scatter_add(x, 1, i, y)", "paddle.scatter_reduce(x, 1, i, y, 'sum')", "paddle.scatter_reduce(x, 1, i, y, 'amax')", "paddle.scatter_reduce(x, 1, i, y, 'mean')",
    "paddle.scatter_reduce(x, 1, i, y, 'prod', include_self=False)", "paddle.take_along_dim(x, i, 1)", "paddle.index_select(x, 1, i[0])",
):
    call(expression, grad="reduce" not in expression, x=distinct(3, 4), y=positive(3, 2), i=np.array([[0, 3], [1, 2], [2, 0]]))

# New functions of one or two tensors.
for expression in (
    "paddle.sinc(x)", "paddle.copysign(x, y)", "paddle.positive(x)", "paddle.negative(x)", "paddle.ravel(x)", "paddle.hstack([x, y])", "paddle.vstack([x, y])",
    "paddle.dstack([x, y])", "paddle.column_stack([x, y])", "paddle.row_stack([x, y])", "paddle.block_diag([x, y])", "paddle.swapaxes(x, 0, 1)", "paddle.matrix_transpose(x)",
    "paddle.tensor_split(x, 3, axis=1)[0]", "paddle.tensor_split(x, [1, 3], axis=1)[1]", "paddle.hsplit(x, 2)[1]", "paddle.dsplit(x.unsqueeze(0), 2)[1]", "paddle.narrow(x, 1, 1, 2)",
    "paddle.slice_scatter(x, y[:, :2], [1], [0], [4], [2])", "paddle.reduce_as(x, y[0])", "paddle.vecdot(x, y)", "paddle.clamp(x, -0.5, 0.5)", "paddle.mul(x, y)",
    "paddle.sub(x, y)", "paddle.div(x, y)", "paddle.true_divide(x, y)", "paddle.cat([x, y])", "paddle.msort(x)", "paddle.pdist(x)", "paddle.pdist(x, 1.0)",
    "paddle.cartesian_prod([x[0], y[0]])", "paddle.gammaln(y)", "paddle.ger(x[0], y[0])", "F.swiglu(x, y)", "F.swiglu(x)", "F.logsigmoid(x)",
    "paddle.softmax(x, dim=1)", "paddle.special.expm1(x)", "paddle.special.logsumexp(x, 1)", "paddle.linalg.vector_norm(x, 3.0, axis=1)",
    "paddle.linalg.vector_norm(x, axis=[0, 1], keepdim=True)", "paddle.linalg.matrix_norm(x)", "paddle.linalg.matrix_norm(x, p=1)",
    "paddle.linalg.matrix_norm(x, p=float('inf'))", "paddle.linalg.matrix_norm(x, p='nuc')", "x.split_with_sizes([1, 3], 1)[1]",
):
    call(expression, FLOATS, grad=True, x=normal(3, 4), y=positive(3, 4, seed=1))
for expression in ("paddle.gammainc(y, x)", "paddle.gammaincc(y, x)", "paddle.gammainc(y * 20, x * 20)", "paddle.gammaincc(y * 20, x * 20)"):
    call(expression, FLOATS, x=positive(3, 4), y=positive(3, 4, seed=1))
for expression in (
    "paddle.isneginf(x)", "paddle.isposinf(x)", "paddle.isreal(x)", "paddle.signbit(x)", "paddle.isin(x, y)", "paddle.isin(x, y, invert=True)",
    "paddle.histogram_bin_edges(x[:2], 4)", "paddle.argwhere(x)",
):
    call(expression, x=np.array([1.0, -2.0, np.inf, -np.inf, 0.0]), y=np.array([0.0, -2.0, 5.0]))
for expression in (
    "paddle.bitwise_left_shift(x, y)", "paddle.bitwise_right_shift(x, y)", "paddle.bitwise_left_shift(x, y, False)", "paddle.bitwise_right_shift(x, y, False)",
    "paddle.bitwise_invert(x)", "paddle.eq(x, y)", "paddle.ne(x, y)", "paddle.lt(x, y)", "paddle.le(x, y)", "paddle.gt(x, y)", "paddle.ge(x, y)", "paddle.less(x, y)",
    "paddle.greater(x, y)",
):
    for dtype in ("int32", "int64"):
        call(expression, GIVEN, x=integers(6, low=-40, high=40, dtype=dtype), y=integers(6, low=0, high=9, seed=1, dtype=dtype))
call("paddle.masked_scatter(x, m, v)", grad=True, x=normal(3, 4), m=bools(3, 4), v=normal(12, seed=2))
call("paddle.baddbmm(c, a, b, beta=0.5, alpha=2.0)", FLOATS, grad=True, a=normal(2, 3, 4), b=normal(2, 4, 5), c=normal(2, 3, 5))
call("paddle.histogramdd(x, bins=[2, 3])", FLOATS, x=normal(9, 2))
call("paddle.histogramdd(x, bins=2, ranges=[-1.0, 1.0, -2.0, 2.0], density=True, weights=w)", x=normal(9, 2), w=positive(9))
call("paddle.linalg.svdvals(x)", FLOATS, grad=True, x=normal(3, 4))
call("paddle.linalg.cholesky_inverse(paddle.linalg.cholesky(x))", FLOATS, x=np.array([[4.0, 1.0], [1.0, 3.0]]))
call("l, p = paddle.linalg.lu(x); paddle.linalg.lu_solve(b, l, p)", FLOATS, x=normal(3, 3), b=normal(3, 2))
call("l, p = paddle.linalg.lu(x); paddle.linalg.lu_solve(b, l, p, 'T')", FLOATS, x=normal(3, 3), b=normal(3, 2))
call("paddle.linalg.ormqr(x, t, y)", FLOATS, x=normal(3, 3), t=inside(3), y=normal(3, 2))
call("paddle.linalg.ormqr(x, t, y)", FLOATS, x=normal(4, 3), t=inside(3), y=normal(3, 2))
call("paddle.linalg.ormqr(x, t, y, left=False, transpose=True)", FLOATS, x=normal(3, 3), t=inside(3), y=normal(2, 3))
call("x.sum(1, True)", x=normal(3, 4))

# Layers and what they compute with.
image, volume = normal(2, 3, 6, 6), normal(1, 2, 5, 5, 5)
for expression in (
    "F.lp_pool2d(x.abs(), 2.0, 2)", "F.lp_pool2d(x.abs(), 3.0, [2, 3], stride=1)", "F.fractional_max_pool2d(x, 3, random_u=0.3)",
    "F.fractional_max_pool2d(x, [3, 4], kernel_size=2, random_u=0.6, return_mask=True)", "paddle.nn.ConstantPad2D(1, 2.0)(x)", "paddle.nn.CircularPad2D(1)(x)",
    "paddle.nn.ReflectionPad2D([1, 0, 2, 1])(x)", "paddle.nn.ReplicationPad2d(2)(x)", "paddle.nn.LPPool2D(2, 2)(x.abs())", "paddle.conv2d(x, paddle.ones([1, 3, 2, 2]))",
    "paddle.layer_norm(x, [6])", "paddle.group_norm(x, 3)",
):
    call(expression, grad=True, x=image)
call("F.fractional_max_pool3d(x, 2, random_u=0.3)", grad=True, x=volume)
call("paddle.nn.ZeroPad3D(1)(x)", grad=True, x=volume)
call("F.lp_pool1d(x.abs(), 2.0, 2)", grad=True, x=normal(2, 3, 8))
call("paddle.nn.ZeroPad1D(1)(x), paddle.nn.ConstantPad1D([1, 2], 3.0)(x)", x=normal(2, 3, 8))
for reduction in ("mean", "sum", "none"):
    call(f"F.multi_label_margin_loss(x, l, reduction='{reduction}')", FLOATS, grad=True, x=normal(2, 4), l=np.array([[3, 0, -1, 1], [0, 2, 1, -1]]))
call(
    "F.adaptive_log_softmax_with_loss(x, l, h, [[a, b]], [2, 5])", grad=True, x=normal(3, 4), l=np.array([0, 4, 2]), h=normal(4, 3, seed=1),
    a=normal(4, 2, seed=2), b=normal(2, 3, seed=3),
)
for expression in (
    "paddle.nn.Conv2D(3, 4, 3, bias=False).bias", "paddle.nn.LayerNorm(4, eps=1e-3, elementwise_affine=False).weight", "paddle.nn.GroupNorm(3, 3, affine=False).bias",
    "paddle.nn.Embedding(3, 4, dtype='float64').weight.dtype.name.lower()", "[name for name, _ in paddle.nn.Sequential(paddle.nn.ReLU()).named_modules()]",
    "paddle.nn.Linear(1, 1).double().weight.dtype.name.lower()", "paddle.nn.Linear(2, 3).get_parameter('weight').shape == [2, 3]", "str(paddle.nn.Linear(1, 1).load_state_dict(paddle.nn.Linear(1, 1).state_dict()))",
    "paddle.nn.Linear(1, 1).requires_grad_(False).weight.stop_gradient", "paddle.autograd.Function is paddle.autograd.PyLayer", "paddle.nn.Module is paddle.nn.Layer",
    "paddle.is_autocast_enabled(), paddle.get_autocast_dtype()", "paddle.pi, paddle.e, paddle.inf, paddle.newaxis",
):
    call(expression)

# paddle.compat.
for expression in (
    "paddle.compat.max(x)", "paddle.compat.max(x, 1)", "paddle.compat.max(x, dim=0, keepdim=True)", "paddle.compat.max(x, y)", "paddle.compat.min(x, 1)", "paddle.compat.min(x, other=y)",
    "paddle.compat.sort(x, 1, descending=True)", "paddle.compat.split(x, 2, dim=1)", "paddle.compat.split(x, [1, 3], 1)", "paddle.compat.median(x, 1)", "paddle.compat.median(x)",
    "paddle.compat.nanmedian(x, 1, True)", "paddle.compat.equal(x, y)", "paddle.compat.slogdet(x[:, :3])", "paddle.compat.unique(x)",
    "paddle.compat.unique(x, return_inverse=True, return_counts=True)",
):
    call(expression, FLOATS, x=distinct(3, 4), y=normal(3, 4, seed=1))

# What is an error there is one here.
for expression in ("paddle.max(x, dim=1)", "paddle.sort(x, dim=1)", "paddle.split(x, 2, dim=1)", "paddle.nn.Conv2D(1, 1, 1, foo=2)", "x.view(5, 5)"):
    call(expression, x=normal(3, 4))
