"""Rounding in programs of static mode: training with it, testing with the same scales, and whole numbers of it."""
import numpy as np
import pytest

import wherry_ops_cpu.column
from wherry_graph import static
from wherry_nn import functional as F
from wherry_quant.post_training import PostTrainingQuantization
from wherry_quant.transforming import Graph, IrGraph, QuantizationFreezePass, QuantizationTransformPass
from wherry_quant.transforming_others import (
    AddQuantDequantForInferencePass,
    AddQuantDequantPass,
    AddQuantDequantPassV2,
    ConvertToInt8Pass,
    OutScaleForInferencePass,
    OutScaleForTrainingPass,
    QuantizationTransformPassV2,
    QuantWeightPass,
)
from wherry_quant.weights_of_files import WeightQuantization
from wherry_tensor import seed
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, UnimplementedError
from wherry_train.optimizer import SGD

wherry_ops_cpu.column.register()

OPTIONS = dict(activation_quantize_type="moving_average_abs_max", weight_quantize_type="channel_wise_abs_max",
               quantizable_op_type=["conv2d", "depthwise_conv2d", "mul"])


@pytest.fixture(autouse=True)
def in_static_mode():
    static.enable_static()
    with static.scope_guard(static.Scope()):
        yield
    static.disable_static()


def network(rate=0.05):
    """A program that learns, one that tests, and what they hand out."""
    seed(5)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 1, 8, 8], "float32"), static.data("y", [None, 1], "int64")
        h = static.nn.conv2d(x, 4, 3, act="relu")
        scores = static.nn.fc(h, 3)
        test = main.clone(for_test=True)
        loss = F.cross_entropy(scores, y).mean()
        SGD(rate).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    return executor, main, test, loss, scores


def batch(rng):
    """Images whose class is where they are bright."""
    y = rng.integers(0, 3, (16, 1))
    x = rng.standard_normal((16, 1, 8, 8)).astype(np.float32) * 0.3
    for i, k in enumerate(y[:, 0]):
        x[i, 0, 2 * k : 2 * k + 3] += 1
    return {"x": x, "y": y}


@pytest.mark.parametrize("kind", ["moving_average_abs_max", "range_abs_max", "abs_max"])
def test_programs_train_with_rounding_and_become_whole_numbers(kind):
    executor, main, test, loss, scores = network()
    options = {**OPTIONS, "activation_quantize_type": kind}
    graph = IrGraph(main)
    assert QuantizationTransformPass(**options).apply(graph) is graph and graph.to_program() is main
    QuantizationTransformPass(**options).apply(IrGraph(test, for_test=True))
    rng = np.random.default_rng(0)
    losses = [float(executor.run(main, feed=batch(rng), fetch_list=[loss])[0]) for _ in range(60)]
    assert np.mean(losses[-5:]) < 0.3 * np.mean(losses[:5])

    scale = static.global_scope().find_var("x@scale").get_tensor()
    before, feed = np.array(scale).copy(), batch(rng)
    expected = executor.run(test, feed=feed, fetch_list=[scores])[0]
    assert before[0] > 1 and np.array_equal(np.array(scale), before)  # a test changes no scale
    assert (expected.argmax(1) == feed["y"][:, 0]).mean() > 0.9

    QuantizationFreezePass(None, None, weight_quantize_type="channel_wise_abs_max").apply(test)
    names = [node.type for node in test.nodes]
    assert names.count("quantize_linear") == 2 and names.count("dequantize_linear") == 4 and "round" not in names
    found = executor.run(test, feed=feed, fetch_list=[scores])[0]
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_gradients_are_those_of_rounded_weights():
    executor, main, _test, _loss, _scores = network(rate=1.0)
    QuantizationTransformPass(**OPTIONS).apply(main)
    weight = next(x for x in main.list_vars() if x.name.startswith("fc") and x.name.endswith(".w_0"))
    old = static.global_scope().value(weight.name).numpy().copy()
    feed = batch(np.random.default_rng(1))
    rounded = next(x for x in main.list_vars() if x.name == f"{weight.name}.quantized.dequantized")
    given = next(node for node in main.nodes if node.role == "forward" and any(x is rounded for x in node.inputs))
    wanted = [given.inputs[0], f"{weight.name}@GRAD", f"{given.outputs[0].name}@GRAD"]
    inputs, gradient, hidden = executor.run(main, feed=feed, fetch_list=wanted)
    np.testing.assert_allclose(gradient, inputs.reshape(16, -1).T @ hidden, rtol=1e-4, atol=1e-5)  # by the rounded input
    new = static.global_scope().value(weight.name).numpy()
    np.testing.assert_allclose(new, old - gradient, rtol=1e-5, atol=1e-6)  # and it moves the weight itself


def test_inputs_that_are_shared_are_rounded_once_and_scopes_of_names_are_left_alone():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [4, 8], "float32")
        with static.name_scope("skip_quant"):
            plain = static.nn.fc(x, 2)
        static.nn.fc(x, 2), static.nn.fc(x, 2), plain.mean()
    QuantizationTransformPass(**OPTIONS).apply(main)
    names = [x.name for x in main.list_vars() if x.name.endswith(".quantized.dequantized")]
    assert names.count("x.quantized.dequantized") == 1 and len(names) == 3


def test_wrong_arguments_are_explained():
    with pytest.raises(ValueError, match="weight_quantize_type is not one of those. Got 'kl'"):
        QuantizationTransformPass(weight_quantize_type="kl")
    with pytest.raises(NotImplementedError, match="act_quantize_func"):
        QuantizationTransformPass(act_quantize_func=abs)
    with pytest.raises(TypeError, match="not a program. Got 3"):
        QuantizationTransformPass().apply(3)
    with pytest.raises(ValueError, match="nothing is rounded"):
        QuantizationFreezePass(None, None).apply(static.Program())
    with pytest.raises(NotImplementedError, match="bias_correction"):
        QuantizationFreezePass(None, None, bias_correction=True)


@pytest.mark.parametrize("second", [False, True])
def test_the_passes_that_paddleslim_calls_train_and_make_whole_numbers(second):
    executor, main, test, loss, scores = network()
    products = QuantizationTransformPassV2 if second else QuantizationTransformPass
    others = AddQuantDequantPassV2 if second else AddQuantDequantPass
    programs = []
    for program, for_test in (main, False), (test, True):
        graph = IrGraph(Graph(program.desc), for_test=for_test)
        for part in graph.all_sub_graphs():
            products(**OPTIONS, is_test=for_test).apply(part)
            others(quantizable_op_type=["relu"], is_test=for_test).apply(part)
            OutScaleForTrainingPass(is_test=for_test).apply(part)
        programs.append(graph.to_program())
    assert "round" not in [node.type for node in main.nodes]  # a Graph is a copy
    train, rounded = programs
    rng = np.random.default_rng(0)
    compiled = static.CompiledProgram(train)
    losses = [float(executor.run(compiled, feed=batch(rng), fetch_list=[loss])[0]) for _ in range(60)]
    assert np.mean(losses[-5:]) < 0.3 * np.mean(losses[:5])

    feed = batch(rng)
    expected = executor.run(rounded, feed=feed, fetch_list=[scores])[0]
    if second:
        QuantWeightPass(None, None).apply(rounded)
        AddQuantDequantForInferencePass().apply(rounded)
    else:
        OutScaleForInferencePass().apply(rounded)
        QuantizationFreezePass(None, None, weight_quantize_type="channel_wise_abs_max").apply(rounded)
        ConvertToInt8Pass().apply(rounded)
    names = [node.type for node in rounded.nodes]
    assert names.count("quantize_linear") == 3 and names.count("dequantize_linear") == 5 and "round" not in names
    weights = [x for x in rounded.list_vars() if x.name.endswith("w_0.whole.quantized")]
    steps = [x for x in rounded.list_vars() if x.name.endswith("w_0.whole@scale")]
    assert [x.dtype.name for x in weights] == ["int8"] * 2 and sorted(x.size for x in steps) == [3, 4]
    found = executor.run(rounded, feed=feed, fetch_list=[scores.name])[0]
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_operators_that_read_parameters_stay_as_they_are():
    program = static.Program()
    with static.program_guard(program, static.Program()):
        x = static.data("x", [4, 3], "float32")
        static.nn.fc(x, 2) + static.create_parameter([2], "float32")
        x + x.tanh()
    AddQuantDequantPass().apply(program)
    rounded = [name for name in program.blocks[0].vars if name.endswith(".quant_dequant")]
    assert sorted(name.split(".")[0] for name in rounded) == ["tanh", "x"]
    with pytest.raises(AssertedArgumentError, match="quantizable_op_type"):
        AddQuantDequantPass(quantizable_op_type=["conv2d"])
    with pytest.raises(InvalidTypeError, match="program"):
        OutScaleForTrainingPass().apply("program")
    with pytest.raises(InvalidTypeError, match="Graph"):
        Graph("program")


def saved(folder):
    """A model in a folder, its executor, input and result."""
    executor, _, test, _, scores = network()
    x = next(x for x in test.list_vars() if x.name == "x")
    static.save_inference_model(f"{folder}/float/model", [x], [scores], executor, program=test)  # `scores` is of the other program
    feed = batch(np.random.default_rng(0))["x"]
    return executor, feed, executor.run(test, feed={"x": feed}, fetch_list=[scores])[0]


def test_weights_of_saved_models_become_whole_numbers(tmp_path):
    executor, feed, expected = saved(tmp_path)
    tool = WeightQuantization(f"{tmp_path}/float", "model.pdmodel", "model.pdiparams")
    tool.quantize_weight_to_int(f"{tmp_path}/small", "m.pdmodel", "m.pdiparams", generate_test_model=True)
    results = []
    for name in "quantized_model", "test_model":
        with static.scope_guard(static.Scope()):
            program, feeds, fetches = static.load_inference_model(f"{tmp_path}/small/{name}/m", executor)
            results.append(executor.run(program, feed={feeds[0]: feed}, fetch_list=fetches)[0])
            dtypes = {x.dtype.name for x in program.list_vars() if x.bound is not None and x.bound.size > 30}
            assert dtypes == ({"int8"} if name == "quantized_model" else {"float32"})
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
    assert 0 < np.abs(results[0] - expected).max() < 0.02 * np.abs(expected).max()
    with pytest.raises(AssertedArgumentError, match="nothing is rounded"):
        tool.quantize_weight_to_int(f"{tmp_path}/small", quantizable_op_type=["conv2d_transpose"])
    with pytest.raises(UnimplementedError, match="threshold_rate"):
        tool.quantize_weight_to_int(f"{tmp_path}/small", threshold_rate=0.1)


def test_batches_of_a_loader_of_static_mode_are_lists_of_one_dict(tmp_path):
    executor, feed, expected = saved(tmp_path)
    files = dict(model_filename="model.pdmodel", params_filename="model.pdiparams")
    tools = [PostTrainingQuantization(executor, f"{tmp_path}/float", data_loader=[data], **files) for data in ({"x": feed}, [{"x": feed}])]
    for tool in tools:
        program = tool.quantize()
        found = executor.run(program, feed={"x": feed}, fetch_list=list(program.fetches))[0]
        assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
