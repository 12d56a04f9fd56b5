"""Functions one by one: what each takes with a million elements ([1024, 1024] float32 unless the name says otherwise), and with its gradient.

`python benchmarks/run.py functions --torch TORCH --seconds 0.05 --rounds 3` finds functions that are slower than elsewhere; `--only backward`
those of gradients.
"""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np

SIDE = 1024
# Of these there is no gradient, or nobody asks for one.
WITHOUT_GRADIENT = {
    "a > b", "a == b, int64", "logical_and", "logical_not", "floor_divide", "floor_divide, int64", "a + b, int64", "a * b, int32",
    "astype int64", "int64 to float32", "bool to float32", "isnan", "argmax 0", "argmax 1", "any", "all 1", "sum, bool", "sum, int64",
    "sort, int64", "argsort", "unique", "nonzero", "one_hot", "rand", "randn", "bernoulli", "randperm", "zeros", "full", "arange", "linspace",
    "searchsorted", "bincount", "histogram", "isclose", "allclose", "heaviside", "bitwise_and", "bitwise_not", "mode", "equal_all",
}


def make(framework: str):
    return {"torch": torch_cases, "paddle": paddle_cases, "wherry": wherry_cases}.get(framework, dict)()


def data(tensor):
    """The same values for each framework; `tensor` makes its tensors of arrays."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype("float32")

    matrix = normal(200, 200)
    arrays = {
        "a": normal(SIDE, SIDE),
        "b": normal(SIDE, SIDE),
        "positive": rng.uniform(0.1, 4, (SIDE, SIDE)).astype("float32"),
        "ints": rng.integers(0, 100, (SIDE, SIDE)),
        "ints32": rng.integers(0, 100, (SIDE, SIDE)).astype("int32"),
        "mask": rng.uniform(size=(SIDE, SIDE)) < 0.5,
        "labels": rng.integers(0, 100, SIDE),
        "images": normal(8, 32, 64, 64),
        "targets": rng.uniform(size=(SIDE, SIDE)).astype("float32"),
        "sorted": np.sort(normal(SIDE)),
        "grid": rng.uniform(-1, 1, (8, 64, 64, 2)).astype("float32"),
        "signal": normal(8, 64, 512),
        "signal_filter": normal(64, 64, 3),
        "up_filter": normal(32, 32, 4, 4),
        "volume": normal(2, 16, 16, 32, 32),
        "volume_filter": normal(16, 16, 3, 3, 3),
        "stack": normal(16, 128, 128),
        "matrix": matrix,
        "definite": matrix @ matrix.T + 200 * np.eye(200, dtype="float32"),
        "upper": np.triu(matrix) + 20 * np.eye(200, dtype="float32"),
        "small": normal(32, 32),
        "slope": np.full(1, 0.25, "float32"),
        "zeros32": np.zeros(32, "float32"),
        "ones32": np.ones(32, "float32"),
    }
    return SimpleNamespace(**{name: tensor(array) for name, array in arrays.items()})


def common(t, f, v):
    """What is spelt alike. `t`: the module, `f`: its functions of layers, `v`: `data`."""
    a, b, positive, ints = v.a, v.b, v.positive, v.ints
    return {
        "where": lambda: t.where(v.mask, a, b),
        "a > b": lambda: a > b,
        "a == b, int64": lambda: ints == ints,
        "logical_and": lambda: t.logical_and(v.mask, v.mask),
        "logical_not": lambda: t.logical_not(v.mask),
        "clip": lambda: a.clip(-1, 1),
        "abs": lambda: a.abs(),
        "neg": lambda: -a,
        "sqrt": lambda: positive.sqrt(),
        "rsqrt": lambda: positive.rsqrt(),
        "log": lambda: positive.log(),
        "log1p": lambda: positive.log1p(),
        "expm1": lambda: a.expm1(),
        "sin": lambda: a.sin(),
        "erf": lambda: a.erf(),
        "a ** 2": lambda: a**2,
        "a ** 2.5": lambda: positive**2.5,
        "a ** b": lambda: t.pow(positive, b),
        "a / b": lambda: a / b,
        "maximum": lambda: t.maximum(a, b),
        "floor": lambda: a.floor(),
        "round": lambda: a.round(),
        "sign": lambda: a.sign(),
        "trunc": lambda: a.trunc(),
        "isnan": lambda: t.isnan(a),
        "a % b": lambda: a % b,
        "a + b, int64": lambda: ints + ints,
        "a * b, int32": lambda: v.ints32 * v.ints32,
        "floor_divide, int64": lambda: ints // 7,
        "atan2": lambda: t.atan2(a, b),
        "lerp": lambda: t.lerp(a, b, 0.3),
        "digamma": lambda: t.digamma(positive),
        "lgamma": lambda: t.lgamma(positive),
        "logaddexp": lambda: t.logaddexp(a, b),
        "nan_to_num": lambda: t.nan_to_num(a),
        "heaviside": lambda: t.heaviside(a, b),
        "bitwise_and": lambda: t.bitwise_and(ints, ints),
        "bitwise_not": lambda: t.bitwise_not(ints),
        "isclose": lambda: t.isclose(a, b),
        "allclose": lambda: t.allclose(a, a),
        "relu": lambda: f.relu(a),
        "leaky_relu": lambda: f.leaky_relu(a),
        "elu": lambda: f.elu(a),
        "selu": lambda: f.selu(a),
        "celu": lambda: f.celu(a),
        "softplus": lambda: f.softplus(a),
        "hardswish": lambda: f.hardswish(a),
        "hardsigmoid": lambda: f.hardsigmoid(a),
        "hardtanh": lambda: f.hardtanh(a),
        "mish": lambda: f.mish(a),
        "silu": lambda: f.silu(a),
        "sigmoid": lambda: f.sigmoid(a),
        "softsign": lambda: f.softsign(a),
        "tanhshrink": lambda: f.tanhshrink(a),
        "glu": lambda: f.glu(a),
        "prelu": lambda: f.prelu(a, v.slope),
        "sum 0": lambda: a.sum(0),
        "sum 1": lambda: a.sum(1),
        "mean": lambda: a.mean(),
        "max": lambda: a.max(),
        "argmax 0": lambda: a.argmax(0),
        "argmax 1": lambda: a.argmax(1),
        "prod": lambda: a.prod(),
        "std 1": lambda: a.std(1),
        "var 0": lambda: a.var(0),
        "norm": lambda: a.norm(),
        "logsumexp 1": lambda: t.logsumexp(a, 1),
        "any": lambda: v.mask.any(),
        "all 1": lambda: v.mask.all(1),
        "sum, bool": lambda: v.mask.sum(),
        "sum, int64": lambda: ints.sum(),
        "cumsum 0": lambda: a.cumsum(0),
        "cumsum 1": lambda: a.cumsum(1),
        "cumprod 1": lambda: a.cumprod(1),
        "logcumsumexp 1": lambda: t.logcumsumexp(a, 1),
        "cummax 1": lambda: t.cummax(a, 1),
        "softmax 0": lambda: f.softmax(a, 0),
        "topk 10": lambda: a.topk(10, 1),
        "argsort": lambda: a.argsort(1),
        "sort, int64": lambda: ints.sort(1),
        "unique": lambda: t.unique(ints),
        "nonzero": lambda: v.mask.nonzero(),
        "masked_select": lambda: t.masked_select(a, v.mask),
        "searchsorted": lambda: t.searchsorted(v.sorted, a),
        "bincount": lambda: t.bincount(ints.flatten()),
        "mode": lambda: t.mode(ints, 1),
        "kthvalue": lambda: t.kthvalue(a, 5, 1),
        "stack -1": lambda: t.stack([a, b], -1),
        "roll": lambda: t.roll(a, 3, 1),
        "flip 0": lambda: t.flip(a, [0]),
        "flip 1": lambda: t.flip(a, [1]),
        "tril": lambda: t.tril(a),
        "rot90": lambda: t.rot90(a),
        "take": lambda: t.take(a, ints),
        "diag": lambda: t.diag(a[0]),
        "diff": lambda: t.diff(a),
        "repeat_interleave": lambda: t.repeat_interleave(a, 2, 0),
        "a[::2, ::2]": lambda: a[::2, ::2].contiguous(),
        "kron": lambda: t.kron(v.small, v.small),
        "rows [4, 1024] of a table": lambda: f.embedding(ints[:4], a),
        "randperm 100000": lambda: t.randperm(100_000),
        "arange": lambda: t.arange(SIDE * SIDE),
        "linspace": lambda: t.linspace(0, 1, SIDE * SIDE),
        "bernoulli": lambda: t.bernoulli(v.targets),
        "dropout": lambda: f.dropout(a, 0.5),
        "max_pool2d 2": lambda: f.max_pool2d(v.images, 2),
        "max_pool2d 3/2": lambda: f.max_pool2d(v.images, 3, 2, 1),
        "avg_pool2d 2": lambda: f.avg_pool2d(v.images, 2),
        "max_pool1d 2": lambda: f.max_pool1d(v.signal, 2),
        "max_pool3d 2": lambda: f.max_pool3d(v.volume, 2),
        "adaptive_avg_pool2d 1": lambda: f.adaptive_avg_pool2d(v.images, 1),
        "adaptive_avg_pool2d 7": lambda: f.adaptive_avg_pool2d(v.images, 7),
        "adaptive_max_pool2d 7": lambda: f.adaptive_max_pool2d(v.images, 7),
        "pixel_shuffle 2": lambda: f.pixel_shuffle(v.images, 2),
        "interpolate nearest": lambda: f.interpolate(v.images, scale_factor=2),
        "interpolate bilinear": lambda: f.interpolate(v.images, scale_factor=2, mode="bilinear"),
        "interpolate bicubic": lambda: f.interpolate(v.images, scale_factor=2, mode="bicubic"),
        "instance_norm": lambda: f.instance_norm(v.images),
        "grid_sample": lambda: f.grid_sample(v.images, v.grid, align_corners=True),
        "conv1d": lambda: f.conv1d(v.signal, v.signal_filter, padding=1),
        "conv3d": lambda: f.conv3d(v.volume, v.volume_filter, padding=1),
        "batch_norm, answer": lambda: f.batch_norm(v.images, v.zeros32, v.ones32, v.ones32, v.zeros32),
        "batch_norm, training": lambda: f.batch_norm(v.images, v.zeros32, v.ones32, training=True),
        "cross_entropy": lambda: f.cross_entropy(a, v.labels),
        "nll_loss": lambda: f.nll_loss(a, v.labels),
        "mse_loss": lambda: f.mse_loss(a, b),
        "l1_loss": lambda: f.l1_loss(a, b),
        "smooth_l1_loss": lambda: f.smooth_l1_loss(a, b),
        "kl_div": lambda: f.kl_div(a, positive, reduction="sum"),
        "binary_cross_entropy_with_logits": lambda: f.binary_cross_entropy_with_logits(a, v.targets),
        "normalize": lambda: f.normalize(a),
        "cosine_similarity": lambda: f.cosine_similarity(a, b),
        "a @ row": lambda: a @ b[0],
        "outer": lambda: t.outer(a[0], b[0]),
        "trace": lambda: t.trace(a),
        "einsum": lambda: t.einsum("bij,bjk->bik", v.stack, v.stack),
        "fft": lambda: t.fft.fft(a),
        "rfft2": lambda: t.fft.rfft2(a),
        "inv 200": lambda: t.linalg.inv(v.matrix),
        "solve 200": lambda: t.linalg.solve(v.matrix, v.matrix),
        "det 200": lambda: t.linalg.det(v.matrix),
        "qr 200": lambda: t.linalg.qr(v.matrix),
        "svd 200": lambda: t.linalg.svd(v.matrix),
        "eigh 200": lambda: t.linalg.eigh(v.definite),
        "cholesky 200": lambda: t.linalg.cholesky(v.definite),
        "cdist 200": lambda: t.cdist(v.matrix, v.matrix),
        "complex": lambda: t.complex(a, b),
    }


def with_gradients(cases, leaves, clear, real, no_grad):
    """Each case without, and where it has one with, the gradient for the sum of its first result."""
    def forward(function):
        def call():
            with no_grad():
                function()
        return call

    def step(function):
        def call():
            result = function()
            result = result[0] if isinstance(result, (tuple, list)) else result
            (real(result) if result.is_complex() else result).sum().backward()
            for leaf in leaves:
                clear(leaf)
        return call

    return {name: forward(function) for name, function in cases.items()} | {
        f"{name}, backward": step(function) for name, function in cases.items() if name.removesuffix(" 100000") not in WITHOUT_GRADIENT}


def leaves_of(v):
    """What gradients are asked for."""
    given = {"ints", "ints32", "mask", "labels", "targets", "sorted", "grid", "zeros32", "ones32"}
    return [value for name, value in vars(v).items() if name not in given]


def torch_cases():
    import torch as t
    import torch.nn.functional as f

    v = data(lambda x: t.from_numpy(np.ascontiguousarray(x)))
    a, b, ints = v.a, v.b, v.ints
    cases = common(t, f, v) | {
        "floor_divide": lambda: t.div(a, b, rounding_mode="floor"),
        "astype int64": lambda: a.to(t.int64),
        "astype float64": lambda: a.double(),
        "astype bfloat16": lambda: a.bfloat16(),
        "int64 to float32": lambda: ints.float(),
        "bool to float32": lambda: v.mask.float(),
        "max 0": lambda: a.amax(0),
        "max 1": lambda: a.amax(1),
        "norm 1": lambda: a.norm(dim=1),
        "sort 0": lambda: a.sort(0),
        "sort 1": lambda: a.sort(1),
        "median 1": lambda: a.median(1),
        "quantile 1": lambda: t.quantile(a, 0.3, dim=1),
        "masked_fill": lambda: a.masked_fill(v.mask, 1.0),
        "take_along_axis 1": lambda: t.gather(a, 1, ints),
        "index_select 1": lambda: t.index_select(a, 1, ints[0]),
        "put_along_axis 1": lambda: a.scatter(1, ints, b),
        "put_along_axis 1, add": lambda: a.scatter_add(1, ints, b),
        "concat 0": lambda: t.cat([a, b], 0),
        "concat 1": lambda: t.cat([a, b], 1),
        "tile": lambda: a.repeat(2, 2),
        "pad": lambda: f.pad(a, (1, 1, 1, 1)),
        "transpose": lambda: a.t().contiguous(),
        "images to NHWC": lambda: v.images.permute(0, 2, 3, 1).contiguous(),
        "expand": lambda: a[0].expand(SIDE, SIDE).contiguous(),
        "rand": lambda: t.rand(SIDE, SIDE),
        "randn": lambda: t.randn(SIDE, SIDE),
        "zeros": lambda: t.zeros(SIDE, SIDE),
        "full": lambda: t.full((SIDE, SIDE), 2.0),
        "one_hot": lambda: f.one_hot(ints[:64], 100).float(),
        "histogram": lambda: t.histc(a, 100),
        "group_norm": lambda: f.group_norm(v.images, 8, v.ones32, v.zeros32),
        "unfold 3": lambda: f.unfold(v.images, 3, padding=1),
        "conv2d_transpose 4/2": lambda: f.conv_transpose2d(v.images, v.up_filter, stride=2, padding=1),
        "log_sigmoid": lambda: f.logsigmoid(a),
        "equal_all": lambda: t.equal(a, a),
        "renorm": lambda: t.renorm(a, 2, 0, 1.0),
        "triangular_solve 200": lambda: t.linalg.solve_triangular(v.upper, v.matrix, upper=True),
    }
    leaves = leaves_of(v)
    for leaf in leaves:
        leaf.requires_grad_()

    def clear(leaf):
        leaf.grad = None

    return with_gradients(cases, leaves, clear, t.view_as_real, t.no_grad)


def cases_of(t, f):
    """Paddle's names, of either framework."""
    v = data(lambda x: t.to_tensor(np.ascontiguousarray(x)))
    a, b, ints, groups, one = v.a, v.b, v.ints, t.nn.GroupNorm(8, 32), t.to_tensor(1.0)
    cases = common(t, f, v) | {
        "floor_divide": lambda: t.floor_divide(a, b),
        "astype int64": lambda: a.astype("int64"),
        "astype float64": lambda: a.astype("float64"),
        "astype bfloat16": lambda: a.astype("bfloat16"),
        "int64 to float32": lambda: ints.astype("float32"),
        "bool to float32": lambda: v.mask.astype("float32"),
        "max 0": lambda: a.max(0),
        "max 1": lambda: a.max(1),
        "norm 1": lambda: t.norm(a, axis=1),
        "sort 0": lambda: a.sort(0),
        "sort 1": lambda: a.sort(1),
        "median 1": lambda: a.median(1),
        "quantile 1": lambda: t.quantile(a, 0.3, axis=1),
        "masked_fill": lambda: t.where(v.mask, one, a),
        "take_along_axis 1": lambda: t.take_along_axis(a, ints, 1),
        "index_select 1": lambda: t.index_select(a, ints[0], 1),
        "put_along_axis 1": lambda: t.put_along_axis(a, ints, b, 1),
        "put_along_axis 1, add": lambda: t.put_along_axis(a, ints, b, 1, "add"),
        "concat 0": lambda: t.concat([a, b], 0),
        "concat 1": lambda: t.concat([a, b], 1),
        "tile": lambda: t.tile(a, [2, 2]),
        "pad": lambda: f.pad(a, [1, 1, 1, 1]),
        "transpose": lambda: a.t().contiguous(),
        "images to NHWC": lambda: v.images.transpose([0, 2, 3, 1]).contiguous(),
        "expand": lambda: t.expand(a[0], [SIDE, SIDE]).contiguous(),
        "rand": lambda: t.rand([SIDE, SIDE]),
        "randn": lambda: t.randn([SIDE, SIDE]),
        "zeros": lambda: t.zeros([SIDE, SIDE]),
        "full": lambda: t.full([SIDE, SIDE], 2.0),
        "one_hot": lambda: f.one_hot(ints[:64], 100),
        "histogram": lambda: t.histogram(a, 100),
        "group_norm": lambda: groups(v.images),
        "unfold 3": lambda: f.unfold(v.images, 3, paddings=1),
        "conv2d_transpose 4/2": lambda: f.conv2d_transpose(v.images, v.up_filter, stride=2, padding=1),
        "log_sigmoid": lambda: f.log_sigmoid(a),
        "equal_all": lambda: t.equal_all(a, a),
        "renorm": lambda: t.renorm(a, 2.0, 0, 1.0),
        "triangular_solve 200": lambda: t.linalg.triangular_solve(v.upper, v.matrix, upper=True),
    }
    leaves = leaves_of(v)
    for leaf in leaves:
        leaf.stop_gradient = False
    return with_gradients(cases, leaves, lambda leaf: leaf.clear_grad(), t.as_real, t.no_grad)


def paddle_cases():
    import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

    import paddle

    cases = cases_of(paddle, paddle.nn.functional)
    del cases["qr 200, backward"]  # Paddle 2.6.2 crashes
    return cases


def wherry_cases():
    import wherry

    return cases_of(wherry, wherry.nn.functional)
