"""Quantized models as ONNX: ONNX Runtime computes what we write, and we compute in integers what is read back."""
import numpy as np
import onnx
import onnxruntime
import pytest

import wherry as paddle
from wherry.quantization import PTQ, QuantConfig
from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
from wherry_onnx_files.models import read_model
from wherry_program import passes
from wherry_program.run.executor import compiled
from wherry_tensor import ops
from wherry_tensor.protobuf import ModelFileError
from wherry_train.pickle_reader import FileFormatError


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A converted network, an input, and its file."""
    nn, x = paddle.nn, paddle.randn([4, 1, 16, 16])
    net = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(392, 16), nn.ReLU(), nn.Linear(16, 4))
    net.eval()
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([nn.Conv2D, nn.Linear], activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())
    observed = PTQ(config).quantize(net)
    observed(x)
    model = PTQ(config).convert(observed)
    path = tmp_path_factory.mktemp("onnx") / "net"
    paddle.onnx.export(model, str(path), input_spec=[paddle.static.InputSpec([None, 1, 16, 16], "float32", "x")], opset_version=13)
    return model, x, f"{path}.onnx"


def test_onnx_runtime_computes_the_same(written):
    model, x, file = written
    found = onnx.load(file)
    onnx.checker.check_model(found, full_check=True)
    kinds = [node.op_type for node in found.graph.node]
    assert kinds.count("QuantizeLinear") == 3 and kinds.count("DequantizeLinear") == 6
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    expected = model(x).numpy()
    exact = onnxruntime.InferenceSession(file, plain).run(None, {"x": x.numpy()})[0]
    np.testing.assert_allclose(exact, expected, rtol=1e-5, atol=1e-5)
    # In integers of its own, whole numbers that lie between two may become the other one.
    fast = onnxruntime.InferenceSession(file).run(None, {"x": x.numpy()})[0]
    assert np.abs(fast - expected).max() < 0.02 * np.abs(expected).max()


def test_what_is_read_back_runs_in_integers(written):
    model, x, file = written
    program = read_model(file).program()
    fast = passes.default(program, passes.INFERENCE)
    assert [node.type for node in fast.nodes if node.type.startswith("quantized")] == [
        "quantized_conv2d", "quantized_max_pool2d", "quantized_linear", "quantized_linear",
    ]
    expected = model(x).numpy()
    np.testing.assert_allclose(compiled(program)(x)[0].numpy(), expected, rtol=1e-5, atol=1e-5)
    assert np.abs(compiled(fast)(x)[0].numpy() - expected).max() < 0.02 * np.abs(expected).max()


def test_models_of_onnx_runtimes_own_quantizer(written, tmp_path):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    nn = paddle.nn
    net = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1568, 4))
    net.eval()
    paddle.onnx.export(net, str(tmp_path / "float"), input_spec=[paddle.static.InputSpec([None, 1, 16, 16], "float32", "x")], opset_version=13)
    x = paddle.randn([4, 1, 16, 16])

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = [x.numpy()]

        def get_next(self):
            return {"x": self.left.pop()} if self.left else None

    quantize_static(str(tmp_path / "float.onnx"), str(tmp_path / "small.onnx"), Reader(), quant_format=QuantFormat.QDQ, per_channel=True)
    expected = onnxruntime.InferenceSession(str(tmp_path / "small.onnx")).run(None, {"x": x.numpy()})[0]
    fast = passes.default(read_model(str(tmp_path / "small.onnx")).program(), passes.INFERENCE)
    assert sum(node.type.startswith("quantized_") for node in fast.nodes) >= 2
    assert np.abs(compiled(fast)(x)[0].numpy() - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.25])
def test_scales_that_no_scale_is_are_refused_by_node(written, tmp_path, value):
    _model, _x, file = written
    damaged = onnx.load(file)
    node = next(node for node in damaged.graph.node if node.op_type == "DequantizeLinear")
    for reader in damaged.graph.node:
        if node.input[1] in reader.input:
            reader.name = "the_node"
    scale = next(x for x in damaged.graph.initializer if x.name == node.input[1])
    array = onnx.numpy_helper.to_array(scale).copy()
    array.reshape(-1)[-1] = value
    scale.CopyFrom(onnx.numpy_helper.from_array(array, scale.name))
    onnx.save(damaged, tmp_path / "net.onnx")
    for load in (paddle.onnx.load, paddle.InferenceSession):
        with pytest.raises(FileFormatError, match=f"'the_node'.*its scale .* has {value}"):
            load(str(tmp_path / "net.onnx"))


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("value", [float("nan"), -0.25])
@pytest.mark.parametrize("kept", [False, True])
def test_scales_of_paddles_files_are_refused_by_operator(tmp_path, value, newer, kept):
    """Scales that are constants of the program, and such that are kept with the parameters."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", paddle.to_tensor([0.5, value, 0.25]))

        def forward(self, x):
            scale = self.scale if kept else paddle.to_tensor([0.5, value, 0.25])
            return quantize(x, scale, axis=1)

    before = paddle.get_flags("FLAGS_enable_pir_api")
    paddle.set_flags({"FLAGS_enable_pir_api": newer})
    try:
        paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([2, 3], "float32", "x")])
    finally:
        paddle.set_flags(before)
    assert (tmp_path / ("net.json" if newer else "net.pdmodel")).exists()
    with pytest.raises(ModelFileError, match="quantize_linear.*its scale"):
        paddle.jit.load(str(tmp_path / "net"))


def quantize(x, scale, axis):
    q = ops.quantize_linear(x, scale, None, axis=axis, group=None, low=-128, high=127, dtype=paddle.int8)
    return ops.dequantize_linear(q, scale, None, axis=axis, group=None, dtype=paddle.float32)
