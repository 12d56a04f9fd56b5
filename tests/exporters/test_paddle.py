"""Models of real Paddle 3 through paddle2onnx: they give here what ONNX Runtime and Paddle give."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("paddle2onnx", reason="tox run -e exporters-paddle")

from agreement import agree  # noqa: E402

# Paddle has a process of its own: two frameworks with kernels, threads and signal handlers do not share one.
MAKE = '''
import sys, numpy as np, paddle, paddle2onnx
from paddle import nn
F = nn.functional

class Of(nn.Layer):
    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.function(self, x)

V = paddle.vision.models
rng = np.random.default_rng(0)
floats = lambda *shape: rng.standard_normal(shape).astype("float32")
MODELS = {
    "mlp": (nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), nn.Softmax()), floats(3, 4)),
    "conv": (nn.Sequential(nn.Conv2D(3, 4, 3, 2, 1), nn.BatchNorm2D(4), nn.Hardswish(), nn.Conv2DTranspose(4, 2, 2, 2)), floats(2, 3, 8, 8)),
    "pools": (nn.Sequential(nn.MaxPool2D(2), nn.AvgPool2D(2, padding=1, exclusive=False), nn.AdaptiveAvgPool2D(1), nn.Flatten()), floats(2, 3, 9, 9)),
    "norms": (nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm2D(4), nn.PReLU(4), nn.Swish()), floats(2, 4, 5, 5)),
    "lstm": (Of(lambda s, x: s.r(x)[0], r=nn.LSTM(4, 3, 2, direction="bidirect")), floats(2, 5, 4)),
    "gru": (Of(lambda s, x: s.r(x)[0].mean(1), r=nn.GRU(4, 3)), floats(2, 5, 4)),
    "transformer": (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 1), floats(2, 5, 8)),
    "words": (nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(24, 2)), rng.integers(0, 9, (3, 6))),
    "resized": (Of(lambda s, x: F.interpolate(x, size=[8, 10], mode="bilinear")), floats(2, 3, 4, 5)),
    "indices": (Of(lambda s, x: paddle.topk(x, 2)[0] + paddle.argsort(x)[:, :2].astype("float32") + paddle.cumsum(x, 1)[:, 1:3]), floats(3, 5)),
    "shapes": (Of(lambda s, x: paddle.concat([x.transpose([0, 2, 1]), x.flip([1]).reshape([0, 4, 5])], 2).squeeze().unsqueeze(1)), floats(3, 5, 4)),
    "mobilenet_v3_small": (V.mobilenet_v3_small(num_classes=5, scale=0.5), floats(1, 3, 32, 32)),
    "resnet18": (V.resnet18(num_classes=5), floats(1, 3, 32, 32)),
}
if __name__ == "__main__":
    folder = sys.argv[1]
    paddle.seed(0)
    for name, (net, x) in MODELS.items():
        print(name, file=sys.stderr, flush=True)  # which one it was that ended the process
        net.eval()
        paddle.jit.save(net, f"{folder}/{name}", input_spec=[paddle.static.InputSpec([None, *x.shape[1:]], str(x.dtype), "x")])
        paddle2onnx.export(f"{folder}/{name}.json", f"{folder}/{name}.pdiparams", f"{folder}/{name}.onnx", opset_version=15)
        np.savez(f"{folder}/{name}.npz", x=x, y=net(paddle.to_tensor(x)).numpy())
'''
NAMES = [line.split('"')[1] for line in MAKE.splitlines() if line.startswith('    "')]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "make.py").write_text(MAKE)
    done = subprocess.run([sys.executable, folder / "make.py", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_model_gives_what_paddle_gives(made, name):
    with np.load(made / f"{name}.npz") as data:
        agree((made / f"{name}.onnx").read_bytes(), [data["x"]], [data["y"]])
