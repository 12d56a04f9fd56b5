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


def test_onnx_runtime_moves_our_dequantizations_past_changes_of_shape(tmp_path):
    """Its optimizers make Reshape and Gemm of a linear layer on three axes, and move what dequantizes after the Reshape."""
    nn, x = paddle.nn, paddle.randn([2, 5, 16])
    net = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 8), nn.GELU(), nn.Linear(8, 4))
    net.eval()
    model = paddle.quant.calibrate(net, [x])
    spec = [paddle.static.InputSpec([2, 5, 16], "float32", "x")]
    paddle.onnx.export(model, str(tmp_path / "net"), input_spec=spec, opset_version=13)
    found = onnx.load(str(tmp_path / "net.onnx"))
    assert {len(node.input) for node in found.graph.node if node.op_type == "DequantizeLinear"} == {3}
    expected = model(x).numpy()
    fast = onnxruntime.InferenceSession(str(tmp_path / "net.onnx")).run(None, {"x": x.numpy()})[0]
    assert np.abs(fast - expected).max() < 0.03 * np.abs(expected).max()


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


def recurrent_file(path, kind, directions, steps=None):
    """A layer of random weights: floats, or whole numbers with a step for each ("tensor") or for each output of a gate ("channel")."""
    gates, inside, hidden = {"LSTM": 4, "GRU": 3}[kind], 24, 32
    rng = np.random.default_rng(gates + directions)
    constants = {"B": (rng.standard_normal((directions, 2 * gates * hidden)) * 0.1).astype(np.float32)}
    nodes = []
    for name, width in ("W", inside), ("R", hidden):
        weight = (rng.standard_normal((directions, gates * hidden, width)) * 0.2).astype(np.float32)
        if steps is None:
            constants[name] = weight
            continue
        axes = (0, 1, 2) if steps == "tensor" else (0, 2)
        scale = np.abs(weight).max(axes, keepdims=True) / np.float32(127)
        constants[f"{name}_q"] = np.rint(weight / scale).astype(np.int8)
        constants[f"{name}_scale"] = scale.reshape(() if steps == "tensor" else -1)
        nodes.append(onnx.helper.make_node("DequantizeLinear", [f"{name}_q", f"{name}_scale"], [name], axis=1))
    outputs = ["out", "last", "cell"][: 3 if kind == "LSTM" else 2]
    options = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward"}
    options |= {"linear_before_reset": 1} if kind == "GRU" else {}
    nodes.append(onnx.helper.make_node(kind, ["x", "W", "R", "B"], outputs, **options))
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "layer", [tensor("x", onnx.TensorProto.FLOAT, [7, 3, inside])], [tensor(y, onnx.TensorProto.FLOAT, None) for y in outputs],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 14)], ir_version=8), path)
    return rng.standard_normal((7, 3, inside)).astype(np.float32)


def keeps_whole(path, op, directions):
    """What it computes, floats or not, with as many ops that read weights of int8."""
    program = read_model(path).program()
    fast = passes.default(program, passes.INFERENCE)
    kinds = [node.type for node in fast.walk()]
    assert kinds.count(op) == directions and "dequantize_linear" not in kinds
    assert {y.bound.dtype.name for y in fast.bound_variables() if y.bound is not None and y.bound.size > 1000} == {"int8"}
    return lambda x: [[y.numpy() for y in compiled(one)(paddle.to_tensor(x))] for one in (program, fast)]


@pytest.mark.parametrize("steps", ["tensor", "channel"])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize(("kind", "op"), [("LSTM", "weight_only_lstm"), ("GRU", "weight_only_gru")])
def test_recurrent_layers_behind_dequantized_weights_keep_them_whole(tmp_path, kind, op, directions, steps):
    path = str(tmp_path / "layer.onnx")
    x = recurrent_file(path, kind, directions, steps)
    expected = onnxruntime.InferenceSession(path).run(None, {"x": x})
    for found in keeps_whole(path, op, directions)(x):
        for y, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
def test_lstms_that_onnx_runtime_quantized_keep_their_weights_whole(tmp_path, directions, per_channel):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain, small = str(tmp_path / "float.onnx"), str(tmp_path / "small.onnx")
    x = recurrent_file(plain, "LSTM", directions)
    quantize_dynamic(plain, small, weight_type=QuantType.QInt8, per_channel=per_channel)
    model, whole = onnx.load(plain), onnx.load(small).graph
    assert [node.op_type for node in whole.node] == ["DynamicQuantizeLSTM"]
    constants = {one.name: onnx.numpy_helper.to_array(one) for one in whole.initializer}
    for one in model.graph.initializer:
        if one.name in ("W", "R"):
            scale = constants[f"{one.name}_scale"].reshape(directions, 1, -1)
            one.CopyFrom(onnx.numpy_helper.from_array((constants[f"{one.name}_quantized"] * scale).transpose(0, 2, 1).copy(), one.name))
    # The same weights in floats; ONNX Runtime's own rounds inputs and states as well.
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    beside = onnxruntime.InferenceSession(small).run(None, {"x": x})
    for found in keeps_whole(small, "weight_only_lstm", directions)(x):
        for y, wanted, rounded in zip(found, expected, beside, strict=True):
            np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(y, rounded, atol=0.03)


def test_lstms_with_weights_of_other_shapes_are_refused(tmp_path):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain, small = str(tmp_path / "float.onnx"), str(tmp_path / "small.onnx")
    recurrent_file(plain, "LSTM", 1)
    quantize_dynamic(plain, small, weight_type=QuantType.QInt8)
    model = onnx.load(small)
    for constant in model.graph.initializer:
        if constant.name == "W_quantized":
            constant.dims[:] = [1, 24 * 128]
    with pytest.raises(FileFormatError, match="three axes"):
        read_model(model.SerializeToString()).program()


@pytest.mark.parametrize("switch", [lambda config: None, lambda config: config.enable_mkldnn_int8({"conv2d"})])
def test_predictors_compute_quantized_models_in_integers_with_the_switch_and_without(tmp_path, switch):
    net = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.GELU(), paddle.nn.Linear(32, 4))
    net.eval()
    x = paddle.randn([8, 16])
    small = paddle.quant.calibrate(net, [x])
    paddle.jit.save(small, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, 16], "float32", "x")])
    config = paddle.inference.Config(str(tmp_path / "net.pdmodel"), str(tmp_path / "net.pdiparams"))
    switch(config)
    config.enable_profile()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x.numpy())
    predictor.run()
    found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    assert "quantized_linear" in str(predictor.profile_summary())
    assert np.abs(found - net(x).numpy()).max() < 0.05 * np.abs(found).max()
