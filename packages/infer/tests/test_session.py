"""`InferenceSession`, beside ONNX Runtime itself."""
import threading

import numpy as np
import pytest

onnxruntime = pytest.importorskip("onnxruntime")  # not to be had in the browser
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from wherry_infer import session as ours  # noqa: E402
from wherry_train.pickle_reader import FileFormatError  # noqa: E402

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def file_of(nodes, inputs, outputs, constants=(), opset=17):
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info(*x) for x in inputs], [helper.make_tensor_value_info(*x) for x in outputs],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in dict(constants).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="tests")
    return model.SerializeToString()


@pytest.fixture(scope="module")
def mlp():
    rng = np.random.default_rng(0)
    constants = {f"w{i}": rng.standard_normal((4, 4)).astype(np.float32) for i in range(2)}
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["h"]), helper.make_node("Relu", ["h"], ["r"]), helper.make_node("MatMul", ["r", "w1"], ["y"]),
        helper.make_node("ArgMax", ["y"], ["best"], axis=1, keepdims=0),
    ]
    return file_of(nodes, [("x", FLOAT, ["batch", 4])], [("y", FLOAT, ["batch", 4]), ("best", INT, ["batch"])], constants)


def test_a_session_says_and_computes_what_onnx_runtime_does(mlp, tmp_path):
    (tmp_path / "mlp.onnx").write_bytes(mlp)
    theirs = onnxruntime.InferenceSession(mlp, providers=["CPUExecutionProvider"])
    for mine in ours.InferenceSession(mlp), ours.InferenceSession(str(tmp_path / "mlp.onnx"), providers=["CPUExecutionProvider"]):
        for a, b in zip((*mine.get_inputs(), *mine.get_outputs()), (*theirs.get_inputs(), *theirs.get_outputs()), strict=True):
            assert (a.name, a.type, a.shape) == (b.name, b.type, b.shape)
        assert mine.get_providers() == theirs.get_providers()
        assert mine.get_modelmeta().producer_name == "tests" and mine.get_modelmeta().graph_name == "graph"
        for n in (1, 7):
            feed = {"x": np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)}
            for names in None, ["best"], ["best", "y"]:
                for got, want in zip(mine.run(names, feed), theirs.run(names, feed), strict=True):
                    assert got.dtype == want.dtype
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("level", list(ours.GraphOptimizationLevel))
def test_every_level_gives_the_same_result(mlp, level):
    options = ours.SessionOptions()
    options.graph_optimization_level, options.intra_op_num_threads = level, 1
    x = np.ones((2, 4), np.float32)
    want = ours.InferenceSession(mlp).run(["y"], {"x": x})[0]
    np.testing.assert_allclose(ours.InferenceSession(mlp, options).run(["y"], {"x": x})[0], want, rtol=1e-5)


@pytest.mark.parametrize(("options", "part"), [(ours.SessionOptions, "session"), (ours.RunOptions, "run")])
def test_entries_of_a_configuration_that_are_not_there_are_named(options, part):
    made = options()
    getattr(made, f"add_{part}_config_entry")("a", "b")
    get = getattr(made, f"get_{part}_config_entry")
    assert get("a") == "b"
    for key in "c", ["a"]:
        with pytest.raises(RuntimeError, match=f"{options.__name__} does not have configuration with key: .*{key[0]}"):
            get(key)


def calls():
    x = np.zeros((2, 4), np.float32)
    return {
        "missing": (None, {}), "other name": (None, {"z": x}), "one more": (None, {"x": x, "z": x}), "output": (["zz"], {"x": x}),
        "dtype": (None, {"x": x.astype("float64")}), "size": (None, {"x": x[:, :3]}), "rank": (None, {"x": x[0]}), "text": (None, {"x": "abc"}),
    }


@pytest.mark.parametrize("what", calls())
def test_wrong_calls_are_refused_in_onnx_runtimes_words(mlp, what):
    with pytest.raises(Exception) as theirs:
        onnxruntime.InferenceSession(mlp).run(*calls()[what])
    with pytest.raises((ValueError, RuntimeError)) as mine:
        ours.InferenceSession(mlp).run(*calls()[what])
    assert str(theirs.value) in str(mine.value) or str(theirs.value).rstrip(")") in str(mine.value)


def test_files_that_are_missing_or_damaged_are_refused(mlp, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"3 : NO_SUCHFILE : Load model from .*nope.onnx failed"):
        ours.InferenceSession(str(tmp_path / "nope.onnx"))
    with pytest.raises(FileFormatError, match="7 : INVALID_PROTOBUF"):
        ours.InferenceSession(b"abc")
    with pytest.raises(FileFormatError, match="INVALID_GRAPH"):
        ours.InferenceSession(file_of([helper.make_node("Relu", ["nothing"], ["y"])], [], [("y", FLOAT, [1])]))
    with pytest.raises(NotImplementedError, match="9 : NOT_IMPLEMENTED : .*'Nonsense'"):
        ours.InferenceSession(file_of([helper.make_node("Nonsense", ["x"], ["y"])], [("x", FLOAT, [1])], [("y", FLOAT, [1])]))
    with pytest.raises(TypeError, match="Unable to load from type"):
        ours.InferenceSession(3)


def test_inputs_and_outputs_stay_bound(mlp):
    session = ours.InferenceSession(mlp)
    binding = session.io_binding()
    x, out = np.ones((2, 4), np.float32), np.zeros((2, 4), np.float32)
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    binding.bind_output("best")
    session.run_with_iobinding(binding)
    want = session.run(None, {"x": x})
    np.testing.assert_array_equal(out, want[0])
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[1], want[1])
    x[...] = 2  # the memory is bound, not its numbers
    session.run_with_iobinding(binding)
    np.testing.assert_allclose(out, 2 * want[0], rtol=1e-5)
    assert binding.get_outputs()[0].data_type() == "tensor(float)"
    with pytest.raises(RuntimeError, match="Failed to find NodeArg with name: z"):
        binding.bind_cpu_input("z", x)
    for call in (
        lambda: ours.IOBinding(3), lambda: binding.bind_ortvalue_input("x", x), lambda: binding.bind_ortvalue_output("y", x),
        lambda: ours.OrtValue(x).update_inplace([1]), lambda: ours.ModelMetadata(3),
    ):
        with pytest.raises(TypeError, match="Got (int|ndarray|list)"):
            call()
    for call in lambda: ours.OrtValue([1]).shape(), lambda: ours.OrtValue((1,)).data_type(), lambda: ours.set_seed(float("inf")):
        with pytest.raises(ValueError, match=r"Got (\[1\]|\(1,\)|inf), expected"):
            call()


def test_values_of_sessions_are_arrays_with_a_type(mlp):
    x = np.ones((2, 4), np.float32)
    value = ours.OrtValue.ortvalue_from_numpy(x)
    assert value.shape() == [2, 4] and value.device_name() == "cpu" and value.is_tensor()
    [best] = ours.InferenceSession(mlp).run_with_ort_values(["best"], {"x": value})
    assert best.data_type() == "tensor(int64)" and best.numpy().shape == (2,)


def test_sizes_that_have_to_be_known_are_those_of_the_call():
    data = file_of([helper.make_node("Resize", ["x", "", "two"], ["y"])], [("x", FLOAT, [1, 1, "h", "w"])], [("y", FLOAT, None)],
                   {"two": np.array([1, 1, 2, 2], np.float32)})  # fmt: skip
    mine, theirs = ours.InferenceSession(data), onnxruntime.InferenceSession(data)
    for h, w in (2, 3), (4, 4), (2, 3):
        x = np.random.default_rng(h).standard_normal((1, 1, h, w)).astype(np.float32)
        np.testing.assert_allclose(mine.run(None, {"x": x})[0], theirs.run(None, {"x": x})[0], rtol=1e-5)


def test_values_that_decide_on_shapes_may_be_fed():
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    data = file_of(nodes, [("x", FLOAT, [2, 3]), ("axes", INT, [1])], [("y", FLOAT, None)])
    session = ours.InferenceSession(data)
    for axis, shape in (0, (3,)), (1, (2,)), (0, (3,)):
        assert session.run(None, {"x": np.ones((2, 3), np.float32), "axes": np.array([axis])})[0].shape == shape


def branches(n):
    """A matrix for each rate: only one of them fits the input, as in files for several sampling rates."""

    def branch(name):
        product, made = helper.make_node("MatMul", ["x", name], [f"y{name}"]), helper.make_tensor_value_info(f"y{name}", FLOAT, None)
        return helper.make_graph([product], name, [], [made])

    nodes = [
        helper.make_node("Equal", ["rate", "sixteen"], ["fast"]),
        helper.make_node("If", ["fast"], ["y"], then_branch=branch("w16"), else_branch=branch("w8")),
    ]
    rng = np.random.default_rng(0)
    constants = {"sixteen": np.int64(16), **{f"w{n}": rng.standard_normal((n, 2)).astype(np.float32) for n in (8, 16)}}
    return file_of(nodes, [("x", FLOAT, [1, n]), ("rate", INT, [])], [("y", FLOAT, None)], constants), constants


def test_a_branch_that_fits_other_shapes_is_in_nobodys_way():
    for rate in (16, 8):
        data, weights = branches(rate)
        mine = ours.InferenceSession(data)
        for seed in range(3):
            feed = {"x": np.random.default_rng(seed).standard_normal((1, rate)).astype(np.float32), "rate": np.array(rate)}
            np.testing.assert_allclose(mine.run(None, feed)[0], feed["x"] @ weights[f"w{rate}"], rtol=1e-5, atol=1e-6)
        assert not mine._by_node
        with pytest.raises(FileFormatError, match=r"node .*\(MatMul\).*axes that are summed differ"):
            mine.run(None, {**feed, "rate": np.array(24 - rate)})


def test_numbers_that_change_in_every_run_do_not_make_a_program_each():
    nodes = [helper.make_node("Equal", ["k", "k"], ["same"]), helper.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0)]
    nodes.append(helper.make_node("Mul", ["s", "k"], ["y"]))
    data = file_of(nodes, [("x", INT, [2, 3]), ("axes", INT, [1]), ("k", INT, [])], [("y", INT, None), ("same", TensorProto.BOOL, None)])
    session = ours.InferenceSession(data)
    for k in range(80):
        y, same = session.run(None, {"x": np.ones((2, 3), np.int64), "axes": np.array([1]), "k": np.array(k)})
        assert y.tolist() == [3 * k, 3 * k] and same
    assert session._by_node and len(session._by_shape) <= 16


def test_a_programs_numbers_are_a_copy_of_what_was_fed():
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    session = ours.InferenceSession(file_of(nodes, [("x", FLOAT, [2, 3]), ("axes", INT, [1])], [("y", FLOAT, None)]))
    axes, shapes = np.array([0]), []
    for axis in (0, 1, 0, 1):
        axes[0] = axis
        shapes.append(session.run(None, {"x": np.ones((2, 3), np.float32), "axes": axes})[0].shape)
    assert shapes == [(3,), (2,), (3,), (2,)]


def test_unsigned_numbers_keep_their_dtype():
    data = file_of([helper.make_node("Add", ["x", "x"], ["y"])], [("x", TensorProto.UINT16, [2])], [("y", TensorProto.UINT16, [2])])
    [y] = ours.InferenceSession(data).run(None, {"x": np.array([40000, 3], np.uint16)})
    assert y.dtype == np.uint16 and y.tolist() == [80000 % 65536, 6]


def test_sequences_are_lists():
    t = helper.make_tensor_sequence_value_info("s", FLOAT, None)
    graph = helper.make_graph([helper.make_node("SequenceInsert", ["s", "x"], ["y"])], "g", [t, helper.make_tensor_value_info("x", FLOAT, [2])],
                              [helper.make_tensor_sequence_value_info("y", FLOAT, None)])  # fmt: skip
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    one = np.ones(2, np.float32)
    [y] = ours.InferenceSession(data).run(None, {"s": [one], "x": 2 * one})
    assert [z.tolist() for z in y] == [[1, 1], [2, 2]]
    assert ours.InferenceSession(data).get_inputs()[0].type == onnxruntime.InferenceSession(data).get_inputs()[0].type


def test_passes_wait_for_the_first_run_and_run_once(mlp, monkeypatch):
    made = []
    compiled = ours.compiled
    monkeypatch.setattr(ours, "compiled", lambda *args, **kwargs: made.append(args) or compiled(*args, **kwargs))
    session = ours.InferenceSession(mlp)
    assert [x.name for x in session.get_inputs()] == ["x"] and not made
    x = np.ones((3, 4), np.float32)
    found = []
    threads = [threading.Thread(target=lambda: found.append(session.run(None, {"x": x})[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(found) == 4
    for y in found:
        np.testing.assert_array_equal(y, session.run(None, {"x": x})[0])


@pytest.mark.parametrize(("wrong", "later"), [(MemoryError("no room"), "no room"), (KeyboardInterrupt(), "half ready")])
def test_a_first_run_that_fails_leaves_no_half_ready_program(mlp, monkeypatch, wrong, later):
    def failing(*args, **kwargs):
        raise wrong

    session = ours.InferenceSession(mlp)
    with monkeypatch.context() as patch:
        patch.setattr(ours, "compiled", failing)
        with pytest.raises(type(wrong)):
            session.run(None, {"x": np.ones((3, 4), np.float32)})
    with pytest.raises((MemoryError, RuntimeError), match=later):
        session.run(None, {"x": np.ones((3, 4), np.float32)})
