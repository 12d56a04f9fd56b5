"""Draws, initializers and a training run that begins from a seed alone; see programs.py."""
import contextlib
import json

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

with contextlib.suppress(ValueError):  # Paddle, which has its numbers without asking, has no such flag
    paddle.set_flags({"FLAGS_paddle_random": True})

one = paddle.ones([13])
rows = paddle.to_tensor([[0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 2.0, 1.0, 0.5, 0.5]])


def printing_nothing(function, *arguments):
    net = nn.Sequential(nn.Flatten(), *([] if "int64" in arguments else [nn.Linear(7, 2), nn.Dropout(0.5)]))
    paddle.seed(42)
    with contextlib.redirect_stdout(None):
        function(net, *arguments)
    return one


DRAWS = {
    "rand": lambda: paddle.rand([7]),
    "rand float64": lambda: paddle.rand([7], dtype="float64"),
    "uniform": lambda: paddle.uniform([2, 5], min=-3.0, max=5.0),
    "uniform with a seed": lambda: paddle.uniform([5], seed=5),
    "randn": lambda: paddle.randn([3, 3]),
    "standard_normal": lambda: paddle.standard_normal([8], dtype="float64"),
    "normal": lambda: paddle.normal(1.0, 2.0, [7]),
    "normal of tensors": lambda: paddle.normal(paddle.zeros([4]), paddle.ones([4])),
    "randint": lambda: paddle.randint(-5, 1000, [12]),
    "randint int32": lambda: paddle.randint(0, 7, [12], dtype="int32"),
    "randint_like": lambda: paddle.randint_like(one, 0, 10),
    "randperm": lambda: paddle.randperm(12),
    "randperm odd": lambda: paddle.randperm(1001, dtype="int32"),
    "randperm one": lambda: paddle.randperm(1),
    "bernoulli": lambda: paddle.bernoulli(one * 0.4),
    "multinomial": lambda: paddle.multinomial(rows, 9, replacement=True),
    "multinomial, each once": lambda: paddle.multinomial(rows, 4),
    "poisson": lambda: paddle.poisson(one * 3.5),
    "uniform_": lambda: paddle.zeros([6]).uniform_(0.0, 1.0),
    "normal_": lambda: paddle.zeros([6]).normal_(),
    "exponential_": lambda: paddle.zeros([6]).exponential_(2.0),
    "cauchy_": lambda: paddle.zeros([6]).cauchy_(),
    "geometric_": lambda: paddle.zeros([6]).geometric_(0.3),
    "dropout": lambda: F.dropout(one, 0.3),
    "dropout float64": lambda: F.dropout(one.astype("float64"), 0.3),
    "dropout downscale": lambda: F.dropout(one, 0.3, mode="downscale_in_infer"),
    "dropout of rows": lambda: F.dropout(paddle.ones([6, 4]), 0.5, axis=0),
    "dropout2d": lambda: F.dropout2d(paddle.ones([2, 5, 2, 2]), 0.5),
    "dropout3d": lambda: F.dropout3d(paddle.ones([2, 5, 1, 2, 2]), 0.5),
    "alpha_dropout": lambda: F.alpha_dropout(one, 0.4),
    "gumbel_softmax": lambda: F.gumbel_softmax(paddle.zeros([4, 3])),
    "rrelu": lambda: F.rrelu(-one, 0.1, 0.9),
    "summary": lambda: printing_nothing(paddle.summary, (3, 7)),
    "summary of integers": lambda: printing_nothing(paddle.summary, (3, 7), "int64"),
    "flops": lambda: printing_nothing(paddle.flops, [3, 7]),
}
for name in ("Normal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "KaimingNormal", "KaimingUniform", "Orthogonal"):
    DRAWS[name] = lambda name=name: paddle.create_parameter(
        [4, 6], "float32", default_initializer=getattr(nn.initializer, name)())
LAYERS = {
    "Linear": lambda: nn.Linear(4, 3),
    "Conv2D": lambda: nn.Conv2D(3, 4, 3),
    "Conv2DTranspose": lambda: nn.Conv2DTranspose(3, 4, 3),
    "Embedding": lambda: nn.Embedding(5, 4),
    "LSTM": lambda: nn.LSTM(3, 4, 2, direction="bidirect"),
    "GRU": lambda: nn.GRU(3, 4),
    "spectral_norm": lambda: nn.utils.spectral_norm(nn.Linear(5, 3)),
    "spectral_norm of a convolution": lambda: nn.utils.spectral_norm(nn.Conv2D(2, 3, 3)),
    "SpectralNorm": lambda: nn.SpectralNorm([3, 5]),
    "weight_norm": lambda: nn.utils.weight_norm(nn.Linear(4, 3)),
    "MultiHeadAttention": lambda: nn.MultiHeadAttention(8, 2),
    "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
    "BatchNorm, PReLU, Bilinear": lambda: nn.Sequential(nn.BatchNorm2D(3), nn.PReLU(), nn.Bilinear(2, 3, 4)),
}


def numbers(x):
    return [float(value) for value in x.numpy().ravel()]


result = {"losses": []}
for name, draw in DRAWS.items():
    paddle.seed(42)
    result[name] = numbers(draw()) + numbers(paddle.rand([2]))  # as much of the stream was used
for name, make in LAYERS.items():
    paddle.seed(7)
    result[name] = [value for p in make().parameters() for value in numbers(p)] + numbers(paddle.rand([2]))

paddle.seed(3)
np.random.seed(3)
x = paddle.randn([64, 1, 8, 8])
y = paddle.randint(0, 3, [64])
net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(144, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 3))
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
loader = paddle.io.DataLoader(paddle.io.TensorDataset([x, y]), batch_size=16, shuffle=True)
for _ in range(4):
    for images, labels in loader:
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        result["losses"].append(float(loss))
print("RESULT " + json.dumps(result))
