"""`wherry.onnx.load`: a model of ONNX as a layer that runs, trains and goes out again."""
import numpy as np
import pytest

pytest.importorskip("onnx")  # not to be had in the browser
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import wherry_tensor as api  # noqa: E402
from wherry_graph.jit import InputSpec, TranslatedLayer, load, save  # noqa: E402
from wherry_graph.jit.onnx_loading import OnnxLayer  # noqa: E402
from wherry_graph.jit.onnx_loading import load as load_onnx  # noqa: E402
from wherry_train.optimizer import SGD  # noqa: E402
from wherry_train.pickle_reader import FileFormatError  # noqa: E402

FLOAT = TensorProto.FLOAT


def file_of(nodes, inputs, outputs, constants):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(*x) for x in inputs], [helper.make_tensor_value_info(*x) for x in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def classifier():
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.standard_normal((4, 3)).astype(np.float32), "s": np.ones(3, np.float32), "b": np.zeros(3, np.float32),
        "m": np.zeros(3, np.float32), "v": np.ones(3, np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("BatchNormalization", ["h", "s", "b", "m", "v"], ["n"], epsilon=1e-5),
        helper.make_node("Dropout", ["n"], ["y"]),
    ]
    return file_of(nodes, [("x", FLOAT, ["n", 4])], [("y", FLOAT, ["n", 3])], constants), constants


def test_a_model_is_a_layer_that_predicts_and_is_saved_and_loaded(tmp_path):
    data, c = classifier()
    net = load_onnx(data)
    assert isinstance(net, TranslatedLayer)
    x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    want = x @ c["w"] / np.sqrt(1 + 1e-5)
    np.testing.assert_allclose(net(api.to_tensor(x)).numpy(), want, rtol=1e-5, atol=1e-6)
    save(net, str(tmp_path / "net"))
    np.testing.assert_allclose(load(str(tmp_path / "net"))(api.to_tensor(x)).numpy(), want, rtol=1e-5, atol=1e-6)


def test_a_loaded_model_trains_and_its_statistics_move():
    net = load_onnx(classifier()[0])
    assert len(net.parameters()) == 3 and len(net.buffers()) == 2
    before = [b.numpy().copy() for b in net.buffers()]
    net.train()
    optimizer = SGD(0.1, parameters=net.parameters())
    x = api.to_tensor(np.random.default_rng(1).standard_normal((64, 4)).astype(np.float32))
    losses = []
    for _ in range(8):
        loss = ((net(x) - 1) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    assert all((b.numpy() != old).any() for b, old in zip(net.buffers(), before))
    net.eval()
    assert net(x).numpy().tolist() == net(x).numpy().tolist()  # nothing is dropped


def test_a_model_whose_shapes_follow_from_values_runs_node_by_node_and_trains():
    nodes = [helper.make_node("Mul", ["x", "w"], ["h"]), helper.make_node("ReduceSum", ["h", "axes"], ["y"], keepdims=0)]
    data = file_of(nodes, [("x", FLOAT, [2, 3]), ("axes", TensorProto.INT64, [1])], [("y", FLOAT, None)], {"w": np.ones(3, np.float32)})
    net = load_onnx(data)
    assert isinstance(net, OnnxLayer) and len(net.parameters()) == 1
    for axis, shape in (0, [3]), (1, [2]):
        assert net(api.ones([2, 3]), api.to_tensor([axis])).shape == shape
    net(api.ones([2, 3]), api.to_tensor([0])).sum().backward()
    assert net.parameters()[0].grad.numpy().tolist() == [2, 2, 2]


def test_shapes_may_be_given_for_what_the_model_leaves_open():
    nodes = [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"])]
    data = file_of(nodes, [("x", FLOAT, [1, 1, "h", "w"])], [("y", FLOAT, None)], {"sizes": np.array([1, 1, 4, 4])})
    assert isinstance(load_onnx(data), OnnxLayer)
    net = load_onnx(data, shapes={"x": [1, 1, 2, 2]})
    assert isinstance(net, TranslatedLayer) and net(api.ones([1, 1, 2, 2])).shape == [1, 1, 4, 4]


def test_what_is_no_model_is_a_file_format_error(tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    with pytest.raises(FileFormatError):
        load_onnx(tmp_path / "a.onnx")
    with pytest.raises(FileNotFoundError):
        load_onnx(tmp_path / "none.onnx")


def test_inputs_are_described_as_those_of_other_loaded_layers():
    assert load_onnx(classifier()[0])._input_spec() == [InputSpec([-1, 4], "float32", "x")]
