"""Makes data/paddle3.zip: what Paddle 3 saves of small models and single functions, with inputs and answers.

    python3.11 -m venv paddle3 && paddle3/bin/pip install paddlepaddle==3.3.1 setuptools
    paddle3/bin/python packages/paddle-files/tests/make_paddle3.py packages/paddle-files/tests/data/paddle3.zip
"""
import os
import sys
import tempfile
import zipfile
import zlib  # noqa: F401  Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.quantization import PTQ, QAT, QuantConfig
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
from paddle.static import InputSpec

rng = np.random.RandomState(0)
A, B = (rng.rand(2, 3, 4) + 0.2).astype("float32"), (rng.rand(2, 3, 4) + 0.1).astype("float32")
IMAGE, SQUARE = rng.rand(2, 3, 8, 8).astype("float32"), (rng.rand(3, 3) + np.eye(3) * 2).astype("float32")
IDS, BOOLS = rng.randint(0, 3, (2, 3)).astype("int64"), rng.rand(2, 3) > 0.5


class One(nn.Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Two(One):
    def forward(self, x, y):
        return self.function(x, y)


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(20, 8), nn.Linear(8, 3)
        self.lstm, self.gru = nn.LSTM(8, 16, num_layers=2, direction="bidirect"), nn.GRU(32, 8)

    def forward(self, x):
        return self.out(self.gru(self.lstm(self.words(x))[0])[0][:, -1])


class Flow(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        if y.mean() > 0:
            y = y * 2
        else:
            y = y - 1
        i = paddle.zeros([1], "int64")
        while i < 3:
            y = y + self.linear(y)
            i = i + 1
        return y


def assigned(x, y):
    z = x * 1.0
    z[:, 1] = y[:, 0]
    return z


def names_of(module, names):
    return [(name, getattr(module, name)) for name in names.split()]


of_one = [
    *((name, f, A * 0.7) for name, f in names_of(
        paddle, "abs acos asin atan ceil cos cosh erf exp expm1 floor log log10 log1p log2 reciprocal round rsqrt sigmoid sign sin sinh sqrt square "
        "tan tanh digamma lgamma neg trunc cumsum norm nansum isnan isfinite tril triu rot90 numel shape nonzero")),
    *((f"functional {name}", f, A - 0.5) for name, f in names_of(
        F, "relu relu6 silu swish gelu elu selu celu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish "
        "softplus softshrink softsign "
        "tanhshrink softmax log_softmax thresholded_relu glu normalize")),
    *((f"{name} along 1", lambda x, f=f: f(x, axis=1), A) for name, f in names_of(
        paddle, "sum mean max min prod logsumexp std var amax amin median argmax argmin argsort sort unbind unstack flip squeeze")
      if name != "squeeze"),
    *((f"{name} along 1", lambda x, f=f: f(x, axis=1), BOOLS) for name, f in names_of(paddle, "any all")),
    ("cumprod", lambda x: paddle.cumprod(x, 1), A), ("sum of all", paddle.sum, A), ("sum keeps", lambda x: x.sum([0, 2], keepdim=True), A),
    ("split", lambda x: paddle.split(x, [1, 3], axis=2), A), ("chunk", lambda x: paddle.chunk(x, 2, axis=2), A),
    ("tile", lambda x: x.tile([2, 1, 1]), A),
    ("reshape", lambda x: x.reshape([0, -1]), A), ("flatten", lambda x: x.flatten(1), A), ("unsqueeze", lambda x: x.unsqueeze([0, 2]), A),
    ("squeeze", lambda x: x[:, :1].squeeze(1), A), ("transpose", lambda x: x.transpose([2, 0, 1]), A), ("roll", lambda x: x.roll(1, 2), A),
    ("expand", lambda x: x[:, :, None].expand([-1, -1, 2, -1]), A), ("slices", lambda x: x[:, 1:3, ::2], A),
    ("cast", lambda x: (x * 3).astype("int32"), A),
    ("strided_slice", lambda x: paddle.strided_slice(x, [1, 2], [0, 0], [3, 4], [2, 2]), A), ("diag", lambda x: paddle.diag(x[0, 0]), A),
    ("gather", lambda x: paddle.gather(x, paddle.to_tensor([2, 0]), axis=1), A), ("clip", lambda x: x.clip(0.3, 0.8), A),
    ("gather_nd", lambda x: paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 2]])), A), ("trace", lambda x: paddle.trace(x, axis1=1, axis2=2), A),
    ("index_select", lambda x: paddle.index_select(x, paddle.to_tensor([0, 2]), axis=2), A), ("triu 1", lambda x: paddle.triu(x, 1), A),
    ("diagonal", lambda x: paddle.diagonal(x, axis1=1, axis2=2), A), ("full_like", lambda x: paddle.full_like(x, 2.5), A),
    ("arange", lambda x: paddle.arange(0, 4, dtype="float32") + x, A), ("linspace", lambda x: paddle.linspace(0, 1, 4) * x, A),
    ("eye", lambda x: paddle.eye(3, 4) * x, A), ("topk", lambda x: paddle.topk(x, 2, axis=2), A), ("kthvalue", lambda x: paddle.kthvalue(x, 2), A),
    ("unique", lambda x: paddle.unique(paddle.round(x * 3)), A), ("scale", lambda x: paddle.scale(x, 2.0, 1.0), A), ("2 - x", lambda x: 2.0 - x, A),
    ("1 over x", lambda x: 1.0 / x, A), ("x ** 3", lambda x: x**3, A), ("histogram", lambda x: paddle.histogram(x, bins=4, min=0, max=1), A),
    ("repeat_interleave", lambda x: paddle.repeat_interleave(x, 2, 1), A), ("unfold", lambda x: F.unfold(x.unsqueeze(1), 2), A),
    ("pad", lambda x: F.pad(x, [1, 2], data_format="NCL", mode="reflect"), A), ("one_hot", lambda x: F.one_hot(paddle.argmax(x, 1), 3), A),
    ("broadcast_to", lambda x: paddle.broadcast_to(x[:1], [4, 3, 4]), A), ("ones_like", lambda x: paddle.ones_like(x) + paddle.zeros_like(x), A),
    ("open sizes", lambda x: paddle.zeros([paddle.shape(x)[0], 2]) + x.mean([1, 2]).unsqueeze(1), A),
]
of_two = [
    *names_of(paddle, "add subtract multiply divide maximum minimum pow floor_divide remainder atan2 fmax fmin equal "
              "not_equal greater_than less_than "
              "greater_equal less_equal allclose"),
    *((f"functional {name}", f) for name, f in names_of(F, "mse_loss smooth_l1_loss binary_cross_entropy_with_logits kl_div")),
    ("cross", lambda x, y: paddle.cross(x, y, axis=1)),
    ("matmul", lambda x, y: paddle.matmul(x, y, transpose_y=True)), ("bmm", lambda x, y: paddle.bmm(x, y.transpose([0, 2, 1]))),
    ("einsum", lambda x, y: paddle.einsum("bij,bkj->bik", x, y)), ("dot", lambda x, y: paddle.dot(x[0, 0], y[0, 0])),
    ("concat", lambda x, y: paddle.concat([x, y], -1)), ("stack", lambda x, y: paddle.stack([x, y], 1)),
    ("where", lambda x, y: paddle.where(x > y, x, y)),
    ("take_along_axis", lambda x, y: paddle.take_along_axis(x, paddle.argsort(y, axis=1), 1)), ("assigned", assigned),
    ("put_along_axis", lambda x, y: paddle.put_along_axis(x, paddle.argsort(y, axis=1), y, 1)), ("lerp", lambda x, y: paddle.lerp(x, y, 0.3)),
    ("masked_fill", lambda x, y: paddle.masked_fill(x, x > y, 0.5)), ("meshgrid", lambda x, y: paddle.meshgrid(x[0, 0], y[0, 1])),
    ("searchsorted", lambda x, y: paddle.searchsorted(paddle.sort(x[0, 0]), y)), ("kron", lambda x, y: paddle.kron(x[0], y[0])),
    ("scatter", lambda x, y: paddle.scatter(x[0], paddle.to_tensor([0, 2]), y[0, :2])), ("outer", lambda x, y: paddle.outer(x[0, 0], y[0, 0])),
    ("index_add", lambda x, y: paddle.index_add(x, paddle.to_tensor([0, 2]), 1, y[:, :2])),
    ("logic", lambda x, y: paddle.logical_xor(x > 0.5, y > 0.5)),
    ("cross_entropy", lambda x, y: F.cross_entropy(x, paddle.argmax(y, -1))), ("cosine", lambda x, y: F.cosine_similarity(x, y, axis=2)),
]
of_squares = names_of(paddle.linalg, "det inv slogdet pinv cond") + [
    ("cholesky", lambda x: paddle.linalg.cholesky(x @ x.T)), ("matrix_power", lambda x: paddle.linalg.matrix_power(x, 3)),
    ("singular values", lambda x: paddle.linalg.svd(x)[1]), ("eigh", lambda x: paddle.linalg.eigh(x + x.T)[0]),
    ("solve", lambda x: paddle.linalg.solve(x, x[:, :1])), ("triangular_solve", lambda x: paddle.linalg.triangular_solve(x, x[:, :1])),
]
layers = [
    ("conv2d", nn.Conv2D(3, 4, 3, padding=1, stride=2), IMAGE), ("conv2d same", nn.Conv2D(3, 6, 3, padding="SAME", groups=3), IMAGE),
    ("conv2d_transpose", nn.Conv2DTranspose(3, 2, 3, stride=2, output_padding=1), IMAGE), ("conv1d", nn.Conv1D(3, 4, 2), A),
    ("conv3d", nn.Conv3D(3, 2, 2), IMAGE[:, :, :4, :4, None].repeat(4, -1)), ("max_pool", nn.MaxPool2D(3, 2, 1, ceil_mode=True), IMAGE),
    ("avg_pool", nn.AvgPool2D(2), IMAGE), ("adaptive_avg", nn.AdaptiveAvgPool2D(3), IMAGE), ("adaptive_max", nn.AdaptiveMaxPool2D(2), IMAGE),
    ("max_pool1d", nn.MaxPool1D(2), A), ("batch_norm", nn.BatchNorm2D(3), IMAGE), ("instance_norm", nn.InstanceNorm2D(3), IMAGE),
    ("group_norm", nn.GroupNorm(3, 3), IMAGE), ("layer_norm", nn.LayerNorm([8, 8]), IMAGE), ("prelu", nn.PReLU(3), IMAGE),
    ("local_response", nn.LocalResponseNorm(3), IMAGE), ("nearest", nn.Upsample(scale_factor=2), IMAGE), ("dropout", nn.Dropout(0.3), A),
    ("bilinear", nn.Upsample(size=[5, 7], mode="bilinear", align_corners=True), IMAGE), ("channel_shuffle", nn.ChannelShuffle(3), IMAGE),
    ("bicubic", nn.Upsample(scale_factor=2, mode="bicubic"), IMAGE), ("embedding", nn.Embedding(5, 4), IDS), ("linear", nn.Linear(4, 2), A),
    ("lstm", nn.LSTM(4, 5), A), ("gru", nn.GRU(4, 5, direction="bidirect"), A), ("rnn", nn.SimpleRNN(4, 3), A),
    ("attention", nn.MultiHeadAttention(4, 2), A),
    ("transformer", nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2), A),
    ("recurrent", Recurrent(), rng.randint(0, 20, (2, 5)).astype("int64")),
    ("control flow", Flow(), A[:, 0]),
]


def flat(results):
    if isinstance(results, (list, tuple)):
        return [x for each in results for x in flat(each)]
    return [] if results is None else [results]


def cases():
    yield from ((name, One(f), (x,), [None]) for name, f, x in of_one)
    yield from ((name, Two(f), (A, B), [None]) for name, f in of_two)
    yield from ((f"linalg {name}", One(f), (SQUARE,), [3]) for name, f in of_squares)
    yield from ((f"layer {name}", layer, (x,), [None]) for name, layer, x in layers)


class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2D(1, 2, 3), nn.Linear(8, 3)

    def forward(self, x):
        return self.linear(F.relu(self.conv(x)).flatten(1))


def quantized():
    """Cases of both ways to quantize. Whole batches: what calibration gives is saved with them alone."""
    x = rng.randn(4, 1, 4, 4).astype("float32")
    config = QuantConfig(activation=AbsmaxObserver(), weight=AbsmaxObserver())
    net = PTQ(config).quantize(Small().eval())
    net(paddle.to_tensor(x))
    yield "quantized after training", PTQ(config).convert(net), [x], [4]
    quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    net = QAT(QuantConfig(activation=quanter, weight=quanter)).quantize(Small())
    net(paddle.to_tensor(x))
    yield "quantized in training", net, [x], [None]


with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, net, arrays, first in (*cases(), *quantized()):
        net.eval()
        answers = [x.numpy() for x in flat(net(*map(paddle.to_tensor, arrays)))]
        spec = [InputSpec(first + list(x.shape[1:]), str(x.dtype), n) for x, n in zip(arrays, "xy")]
        path = os.path.join(folder, "model")
        paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), path)
        saved = {f"x{i}": x for i, x in enumerate(arrays)} | {f"y{i}": y for i, y in enumerate(answers)}
        np.savez_compressed(os.path.join(folder, "case.npz"), **saved)
        for file in ("model.json", "model.pdiparams", "case.npz"):
            if os.path.exists(os.path.join(folder, file)):
                archive.write(os.path.join(folder, file), f"{name}/{file}")
                os.remove(os.path.join(folder, file))
