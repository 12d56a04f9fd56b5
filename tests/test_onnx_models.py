"""Models of `paddle.vision` as ONNX: ONNX Runtime gives what they give, for batches of any size."""
from __future__ import annotations

import numpy as np
import pytest

import wherry as paddle

onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime compares; `pip install onnxruntime`")

MODELS = {
    "resnet18": {}, "mobilenet_v1": {"scale": 0.5}, "mobilenet_v2": {"scale": 0.5}, "mobilenet_v3_small": {}, "resnet50": {}, "vgg11": {},
}  # fmt: skip
LARGE = ("resnet50", "vgg11")


@pytest.mark.parametrize("opset", [11, 13, 15, 18])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in MODELS])
def test_a_model_of_vision_gives_the_same_in_onnx_runtime(name, opset, tmp_path):
    paddle.seed(1)
    net = getattr(paddle.vision.models, name)(num_classes=10, **MODELS[name])
    net.eval()
    file = paddle.onnx.export(
        net, str(tmp_path / name), input_spec=[paddle.static.InputSpec([None, 3, 64, 64], "float32", "image")], opset_version=opset
    )
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    for batch in (1, 3):
        x = np.random.default_rng(batch).standard_normal((batch, 3, 64, 64)).astype("float32")
        (got,) = session.run(None, {"image": x})
        # Both sum in float32, in orders of their own, through some fifty layers.
        np.testing.assert_allclose(got, net(paddle.to_tensor(x)).numpy(), rtol=1e-3, atol=1e-4)
