"""Models that are put together here, as exporters write them."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")  # not to be had in the browser
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import wherry_tensor as api  # noqa: E402
from wherry_onnx_files.errors import NeedsValue, OnnxFileError, UnreadableOp  # noqa: E402
from wherry_onnx_files.models import read_model  # noqa: E402
from wherry_program.run.executor import compiled  # noqa: E402
from wherry_train.pickle_reader import FileFormatError  # noqa: E402

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def model_of(nodes, inputs, outputs, constants=(), opset=17, **more):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(*x) for x in inputs], [helper.make_tensor_value_info(*x) for x in outputs],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in dict(constants).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def data_of(*args, **kwargs):
    return model_of(*args, **kwargs).SerializeToString()


def linear(opset=17):
    rng = np.random.default_rng(0)
    constants = {"w": rng.standard_normal((4, 3)).astype(np.float32), "b": rng.standard_normal(3).astype(np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    return data_of(nodes, [("x", FLOAT, ["batch", 4])], [("y", FLOAT, ["batch", 3])], constants, opset), constants


def test_a_model_with_an_open_batch_is_one_program_for_every_batch():
    data, c = linear()
    program = read_model(data).program()
    assert [x.sizes for x in program.feeds] == [(-1, 4)]
    run = compiled(program, level=2)
    for n in (1, 5):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        np.testing.assert_allclose(run(api.to_tensor(x))[0].numpy(), np.maximum(x @ c["w"] + c["b"], 0), rtol=1e-5, atol=1e-6)


def test_weights_are_parameters_and_statistics_are_not():
    ones = np.ones(2, np.float32)
    data = data_of(
        [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])], [("x", FLOAT, [1, 2, 3])], [("y", FLOAT, [1, 2, 3])],
        {"s": ones, "b": ones, "m": ones, "v": ones},
    )
    program = read_model(data).program()
    assert {x.name for x in program.parameters()} == {"s", "b"}
    assert {x.name for x in program.bound_variables() if x.persistable} == {"s", "b", "m", "v"}


def test_shapes_that_are_computed_from_shapes_stay_open_in_the_program():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]), helper.make_node("Concat", ["n1", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    constants = {"zero": np.int64(0), "axis": np.array([0]), "rest": np.array([-1])}
    program = read_model(data_of(nodes, [("x", FLOAT, ["n", 3, 4])], [("y", FLOAT, ["n", 12])], constants)).program()
    assert [node.type for node in program.nodes] == ["reshape"]
    assert program.fetches[0].sizes == (-1, 12)


def test_an_expand_as_exporters_write_it_needs_no_values():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]), helper.make_node("ConstantOfShape", ["two"], ["ones"], value=helper.make_tensor("v", INT, [1], [1])),
        helper.make_node("Mul", ["ones", "minus"], ["negative"]), helper.make_node("Equal", ["s", "negative"], ["same"]),
        helper.make_node("Where", ["same", "ones", "s"], ["to"]), helper.make_node("Expand", ["w", "to"], ["y"]),
    ]
    constants = {"two": np.array([2]), "minus": np.int64(-1), "w": np.ones((1, 3), np.float32)}
    run = compiled(read_model(data_of(nodes, [("x", FLOAT, ["n", 3])], [("y", FLOAT, ["n", 3])], constants)).program())
    assert run(api.zeros([5, 3]))[0].shape == [5, 3]


def test_a_shape_that_follows_from_a_fed_value_runs_node_by_node():
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    model = read_model(data_of(nodes, [("x", FLOAT, [2, 3]), ("axes", INT, [1])], [("y", FLOAT, None)]))
    with pytest.raises(NeedsValue, match="the axes from input 1, 'axes', which only a run knows"):
        model.program()
    (y,) = model.run({"x": api.ones([2, 3]), "axes": api.to_tensor([1])})
    assert y.numpy().tolist() == [3, 3]


def test_a_loop_with_an_open_number_of_rounds_is_a_loop_of_the_program():
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "x"], ["out"]), helper.make_node("Identity", ["c"], ["go"]), helper.make_node("Identity", ["out"], ["scan"])],
        "body", [helper.make_tensor_value_info("i", INT, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, [2])],
        [helper.make_tensor_value_info("go", TensorProto.BOOL, []), helper.make_tensor_value_info("out", FLOAT, [2]),
         helper.make_tensor_value_info("scan", FLOAT, [2])],
    )  # fmt: skip
    nodes = [helper.make_node("Loop", ["n", "", "zero"], ["last", "all"], body=body)]
    model = read_model(data_of(
        nodes, [("x", FLOAT, [2]), ("n", INT, [])], [("last", FLOAT, [2]), ("all", FLOAT, ["k", 2])], {"zero": np.zeros(2, np.float32)}
    ))
    run = compiled(model.program())
    for n in (1, 4):
        last, whole = run(api.to_tensor(np.array([1, 2], np.float32)), api.to_tensor(np.int64(n)))
        assert last.numpy().tolist() == [n, 2 * n]
        assert whole.numpy().tolist() == [[k, 2 * k] for k in range(1, n + 1)]


def test_a_loop_hands_on_what_its_body_does_not_read_and_bools_of_any_rank():
    """As Paddle2ONNX writes a block: all its variables are carried, those that a round makes first as one number."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "x"], ["out"]), helper.make_node("Less", ["out", "limit"], ["below"]),
            helper.make_node("ReduceMin", ["flag"], ["least"], keepdims=1), helper.make_node("Cast", ["least"], ["go"], to=TensorProto.BOOL),
            helper.make_node("Cast", ["below"], ["flag"], to=TensorProto.FLOAT), helper.make_node("Unsqueeze", ["out", "first"], ["row"]),
            helper.make_node("Reshape", ["go", "one"], ["seen"]),
        ],
        "body", [helper.make_tensor_value_info("i", INT, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, [2]), helper.make_tensor_value_info("unread", FLOAT, []),
                 helper.make_tensor_value_info("before", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("go", TensorProto.BOOL, [1]), helper.make_tensor_value_info("out", FLOAT, [2]),
         helper.make_tensor_value_info("row", FLOAT, [1, 2]), helper.make_tensor_value_info("seen", TensorProto.BOOL, [1])],
    )  # fmt: skip
    order = [0, 1, 4, 2, 3, 5, 6]
    body_nodes = [body.node[k] for k in order]
    del body.node[:]
    body.node.extend(body_nodes)
    model = read_model(data_of(
        [helper.make_node("Loop", ["most", "on", "zero", "nothing", "on"], ["last", "row", "seen"], body=body)], [("x", FLOAT, [2])],
        [("last", FLOAT, [2]), ("row", FLOAT, [1, 2]), ("seen", TensorProto.BOOL, [1])],
        {"zero": np.zeros(2, np.float32), "most": np.int64(1 << 40), "on": np.array(True), "nothing": np.float32(0), "limit": np.float32(5),
         "first": np.array([0]), "one": np.array([1])},
    ))  # fmt: skip
    last, row, seen = compiled(model.program())(api.to_tensor(np.array([1, 2], np.float32)))
    assert last.numpy().tolist() == [3, 6] and row.numpy().tolist() == [[3, 6]] and seen.numpy().tolist() == [False]


def test_functions_of_the_model_run_with_the_attributes_of_their_call():
    relu = helper.make_node("LeakyRelu", ["a"], ["b"])
    relu.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    f = helper.make_function("mine", "Soft", ["a"], ["b"], [relu], [helper.make_opsetid("", 17)], attributes=["slope"])
    model = model_of(
        [helper.make_node("Soft", ["x"], ["y"], domain="mine", slope=0.5)], [("x", FLOAT, [2])], [("y", FLOAT, [2])], functions=[f], ir_version=9
    )
    model.opset_import.append(helper.make_opsetid("mine", 1))
    (y,) = read_model(model.SerializeToString()).run({"x": api.to_tensor(np.array([-2, 2], np.float32))})
    assert y.numpy().tolist() == [-1, 2]


def test_weights_in_a_file_beside_the_model_are_read_from_its_folder_only(tmp_path):
    data, c = linear()
    onnx.save_model(
        onnx.load_from_string(data), tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    x = np.ones((2, 4), np.float32)
    (y,) = read_model(tmp_path / "m.onnx").run({"x": api.to_tensor(x)})
    np.testing.assert_allclose(y.numpy(), np.maximum(x @ c["w"] + c["b"], 0), rtol=1e-5)
    with pytest.raises(OnnxFileError, match="beside the model, and the model came as bytes"):
        read_model((tmp_path / "m.onnx").read_bytes()).program()
    (tmp_path / "other").mkdir()
    (tmp_path / "weig.bin").write_bytes((tmp_path / "weights.bin").read_bytes())
    (tmp_path / "other" / "m.onnx").write_bytes((tmp_path / "m.onnx").read_bytes().replace(b"weights.bin", b"../weig.bin"))
    with pytest.raises(OnnxFileError, match="lies in a file that is not there"):
        read_model(tmp_path / "other" / "m.onnx").program()


def test_mapped_weights_lie_in_their_file_and_writing_to_one_does_not_change_it(tmp_path):
    data, c = linear()
    onnx.save_model(
        onnx.load_from_string(data), tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    before = (tmp_path / "weights.bin").read_bytes()
    model, plain = read_model(tmp_path / "m.onnx", mapped=True), read_model(tmp_path / "m.onnx")
    program = model.program()
    (y,) = compiled(program)(api.ones([1, 4]))
    np.testing.assert_allclose(y.numpy(), np.maximum(c["w"].sum(0, keepdims=True) + c["b"], 0), rtol=1e-5)
    w = model.constants["w"].detach()
    w[0, 0] = 7.0
    assert model.constants["w"].numpy()[0, 0] == 7 and plain.constants["w"].numpy()[0, 0] == c["w"][0, 0]
    assert (tmp_path / "weights.bin").read_bytes() == before
    (tmp_path / "m.onnx").write_bytes(b"")
    with pytest.raises(OnnxFileError):
        read_model(tmp_path / "m.onnx", mapped=True)


def test_an_operator_that_is_not_read_is_named_with_its_node():
    data = data_of([helper.make_node("Rellu", ["x"], ["y"], name="first")], [("x", FLOAT, [2])], [("y", FLOAT, [2])])
    with pytest.raises(UnreadableOp, match=r"node 'first' \(Rellu\).*opset 17.*Did you mean 'Relu'"):
        read_model(data).program()


def test_strings_are_refused_by_name():
    data = data_of([helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, [2])], [("y", TensorProto.STRING, [2])])
    with pytest.raises(UnreadableOp, match="input 'x' of strings, expected numbers"):
        read_model(data).program()


def test_a_node_whose_inputs_do_not_fit_is_named():
    data = data_of([helper.make_node("Add", ["x", "z"], ["y"], name="sum")], [("x", FLOAT, [2])], [("y", FLOAT, [2])], {"z": np.zeros(3, np.float32)})
    with pytest.raises(OnnxFileError, match=r"node 'sum' \(Add\) cannot be read"):
        read_model(data).program()


@pytest.mark.parametrize("data", [b"", b"not a model", b"\x08\x07" * 100, linear()[0][:-20]])
def test_what_is_no_model_is_a_file_format_error(data):
    with pytest.raises(FileFormatError):
        read_model(data).program()


def test_a_file_may_not_ask_for_a_constant_that_it_does_not_hold():
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[1 << 20, 1 << 19], raw_data=b"1234")
    model = model_of([helper.make_node("Relu", ["w"], ["y"])], [], [("y", FLOAT, None)])
    model.graph.initializer.append(tensor)
    with pytest.raises(OnnxFileError, match="too few or too many bytes"):
        read_model(model.SerializeToString()).program()


def test_reading_computes_no_constant_that_is_large():
    nodes = [helper.make_node("ConstantOfShape", ["n"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    program = read_model(data_of(nodes, [], [("y", FLOAT, None)], {"n": np.array([1 << 20, 1 << 16])})).program()
    assert [node.type for node in program.nodes][:2] == ["full", "relu"]


def test_functions_that_call_each_other_end():
    ids = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    f = helper.make_function("mine", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="mine")], ids)
    model = model_of([helper.make_node("F", ["x"], ["y"], domain="mine")], [("x", FLOAT, [2])], [("y", FLOAT, [2])], functions=[f], ir_version=9)
    with pytest.raises(OnnxFileError, match="run each other"):
        read_model(model.SerializeToString()).program()


@pytest.mark.parametrize("code, value, want", [
    (TensorProto.FLOAT8E4M3FN, 0.3, 0.3125), (TensorProto.FLOAT8E5M2, 1000.0, 1024.0), (TensorProto.BFLOAT16, 1.001, 1.0),
    (TensorProto.INT4, 9.0, -7.0), (TensorProto.UINT16, 65537.0, 1.0),
])
def test_types_that_tensors_do_not_have_are_rounded_to(code, value, want):
    nodes = [helper.make_node("Cast", ["x"], ["c"], to=code), helper.make_node("Cast", ["c"], ["y"], to=FLOAT)]
    model = read_model(data_of(nodes, [("x", FLOAT, [1])], [("y", FLOAT, [1])], opset=21))
    (y,) = model.run({"x": api.to_tensor(np.array([value], np.float32))})
    assert y.item() == want


def test_quantized_weights_are_held_in_few_bytes_and_run():
    nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0), helper.make_node("MatMul", ["x", "w"], ["y"])]
    constants = {"q": np.array([[1, 2], [3, 4]], np.int8), "s": np.array([0.5, 2], np.float32), "z": np.array([0, 1], np.int8)}
    program = read_model(data_of(nodes, [("x", FLOAT, [1, 2])], [("y", FLOAT, [1, 2])], constants)).program()
    (y,) = compiled(program, level=1)(api.to_tensor(np.array([[1, 1]], np.float32)))
    assert y.numpy().tolist() == [[4.5, 7]]


@pytest.mark.parametrize("nodes, inputs, constants", [
    ([helper.make_node("Split", ["x"], ["y"], num_outputs=1 << 40)], [("x", FLOAT, [1 << 38])], {}),
    ([helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[1 << 30], pads=[1 << 29, 1 << 29])], [("x", FLOAT, [1, 1, 9])], {}),
    ([helper.make_node("MelWeightMatrix", ["a", "b", "c", "d", "d"], ["y"])], [],
     {"a": np.int64(4096), "b": np.int64(1 << 20), "c": np.int64(8000), "d": np.float32(5)}),
    ([helper.make_node("LinearAttention", ["x", "x", "x"], ["y"], q_num_heads=1, kv_num_heads=1, update_rule="linear")],
     [("x", FLOAT, [1, 1 << 30, 4])], {}),
    ([helper.make_node("Resize", ["x", "", "s"], ["y"], mode="cubic", antialias=1)], [("x", FLOAT, [1 << 39])], {"s": np.array([1e-9], np.float32)}),
])  # fmt: skip
def test_numbers_that_no_table_should_be_as_long_as_are_refused(nodes, inputs, constants):
    with pytest.raises(OnnxFileError):
        read_model(data_of(nodes, inputs, [("y", FLOAT, None)], constants, opset=18)).program()


# Encoders of `ai.onnx.ml`, as skl2onnx writes them.


def encoded(kind, x, out, **attrs):
    code = FLOAT if x.dtype == np.float32 else INT
    nodes = [helper.make_node(kind, ["x"], ["y"], domain="ai.onnx.ml", **attrs)]
    model = model_of(nodes, [("x", code, [None, x.shape[1]])], [("y", out, None)])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return compiled(read_model(model.SerializeToString()).program(), level=2)(api.to_tensor(x))[0].numpy()


def test_categories_become_zeros_and_ones():
    for dtype in (np.int64, np.float32):
        found = encoded("OneHotEncoder", np.array([[5, 1], [2, 9]], dtype), FLOAT, cats_int64s=[1, 2, 5])
        assert found.dtype == np.float32 and found.tolist() == [[[0, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize(("attrs", "expected", "dtype"), [
    ({"keys_int64s": [1, 2], "values_int64s": [10, 20], "default_int64": 7}, [[20, 7], [10, 7]], np.int64),
    ({"keys_floats": [1.0, 2.0], "values_floats": [0.5, 1.5]}, [[1.5, 0.0], [0.5, 0.0]], np.float32),
    ({"keys_int64s": [1, 2], "values_floats": [0.5, 1.5], "default_float": -1.0}, [[1.5, -1.0], [0.5, -1.0]], np.float32),
])  # fmt: skip
def test_labels_are_looked_up(attrs, expected, dtype):
    keys = np.float32 if "keys_floats" in attrs else np.int64
    found = encoded("LabelEncoder", np.array([[2, 3], [1, 9]], keys), INT if dtype is np.int64 else FLOAT, **attrs)
    assert found.dtype == dtype and found.tolist() == expected


@pytest.mark.parametrize(("kind", "attrs", "what"), [
    ("OneHotEncoder", {"cats_strings": ["a"]}, "categories that are strings"),
    ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "keys that are"),
    ("LabelEncoder", {"keys_int64s": [1, 2], "values_int64s": [1]}, "2 keys and 1 values"),
])  # fmt: skip
def test_encoders_of_strings_are_refused(kind, attrs, what):
    with pytest.raises(OnnxFileError, match=what):
        encoded(kind, np.array([[2, 3]]), INT, **attrs)
