"""Rounding in programs of static mode: training with it, testing with the same scales, and whole numbers of it."""
import numpy as np
import pytest

import wherry_ops_cpu.column
from wherry_graph import static
from wherry_nn import functional as F
from wherry_quant.transforming import IrGraph, QuantizationFreezePass, QuantizationTransformPass
from wherry_tensor import seed
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
