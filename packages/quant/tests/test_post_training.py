"""Calibration of saved models in static mode: `static.quantization.PostTrainingQuantization`."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_graph import jit, static
from wherry_graph.static import disable_static, enable_static
from wherry_quant.post_training import PostTrainingQuantization
from wherry_quant.post_training_program import PostTrainingQuantizationProgram
from wherry_quant.reporting import report
from wherry_tensor import seed, to_tensor

wherry_ops_cpu.column.register()

FILES = dict(model_filename="model.pdmodel", params_filename="model.pdiparams")
BATCHES = [{"x": np.random.RandomState(i).standard_normal((8, 1, 8, 8)).astype("float32")} for i in range(3)]


@pytest.fixture
def folder(tmp_path):
    seed(1)
    net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Conv2D(4, 4, 3, groups=4), nn.Flatten(), nn.Linear(64, 3))
    net.eval()
    net[1]._mean.set_value(to_tensor([0.1, -0.2, 0.3, 0.0]))
    jit.save(net, str(tmp_path / "model"), input_spec=[static.InputSpec([None, 1, 8, 8], "float32", "x")])
    return tmp_path


def tool(folder, **options):
    options.setdefault("data_loader", BATCHES)
    return PostTrainingQuantization(static.Executor(), str(folder), **FILES, **options)


def answers(folder):
    return jit.load(str(folder / "model"))(to_tensor(BATCHES[0]["x"])).numpy()


def quantized_nodes(program):
    return [node.type for node in program.nodes if node.inputs and node.inputs[0] is not None and node.inputs[0].name.endswith("dequantized")]


def test_products_run_in_integers_and_stay_near(folder):
    one = tool(folder, algo="abs_max", optimize_model=True)
    one.quantize()
    one.save_quantized_model(str(folder / "int8"))
    expected, found = answers(folder), answers(folder / "int8")
    assert 0 < np.abs(expected - found).max() < 0.03 * np.abs(expected).max()
    rows = report(str(folder / "int8" / "model"), to_tensor(BATCHES[0]["x"])).rows
    assert [row.runs_in for row in rows] == ["int8"] * 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["conv2d", "conv2d", "matmul"]), ({"quantizable_op_type": ["depthwise_conv2d"]}, ["conv2d"]),
        ({"is_full_quantize": True}, ["conv2d", "add", "relu", "conv2d", "add", "matmul", "add"]),
    ],
)
def test_types_of_operators_are_chosen(folder, options, expected):
    assert quantized_nodes(tool(folder, algo="abs_max", optimize_model=True, **options).quantize()) == expected


def test_every_source_of_data_gives_the_same(folder):
    def batches():
        return ([batch["x"]] for batch in BATCHES)

    def samples():
        return ((sample,) for batch in BATCHES for sample in batch["x"])

    found = []
    for i, data in enumerate((
        {"data_loader": BATCHES}, {"data_loader": None, "batch_generator": batches}, {"data_loader": None, "sample_generator": samples}
    )):
        one = tool(folder, algo="avg", batch_size=8, **data)
        one.quantize()
        one.save_quantized_model(str(folder / str(i)))
        found.append(answers(folder / str(i)))
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


def test_adaround_is_nearer_than_rounding_to_nearest(folder):
    errors = []
    for kind in "round", "adaround":
        one = tool(folder, algo="abs_max", weight_bits=4, round_type=kind)
        one.quantize()
        one.save_quantized_model(str(folder / kind))
        errors.append(np.square(answers(folder / kind) - answers(folder)).mean())
    assert errors[1] < 0.9 * errors[0]


def test_scales_are_shared_and_given(folder):
    def scales(**options):
        program = tool(folder, algo="abs_max", **options).quantize()
        return {x.name: x.bound.item() * 127 for x in program.bound_variables() if x.name.endswith("@scale") and not x.shape}

    plain = scales()
    (first, *_, last) = names = [name.removesuffix("@scale") for name in plain]
    assert plain["x@scale"] == pytest.approx(max(np.abs(batch["x"]).max() for batch in BATCHES))
    assert set(scales(same_scale_tensor_list=[names]).values()) == {max(plain.values())}
    assert scales(scale_dict={last: 2.5})[f"{last}@scale"] == pytest.approx(2.5)
    assert first not in {name.removesuffix("@scale") for name in scales(skip_tensor_list=[first])}
    with pytest.raises(ValueError, match="no quantized operator has an input of this name"):
        scales(scale_dict={"nothing": 1.0})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"algo": "max"}, AssertionError, "algo is not one of those"), ({"algo": "hist", "hist_percent": 2.0}, ValueError, "percent=2.0"),
        ({"weight_quantize_type": "x"}, AssertionError, "weight_quantize_type"), ({"round_type": "up"}, AssertionError, "round_type"),
        ({"quantizable_op_type": ["conv3d"]}, AssertionError, "quantizable_op_type"), ({"data_loader": None}, AssertionError, "come from data"),
        ({"weight_bits": 40}, ValueError, "so many bits"), ({"bias_correction": True}, NotImplementedError, "bias_correction"),
    ],
)
def test_arguments_that_are_refused(folder, options, error, message):
    with pytest.raises(error, match=message):
        tool(folder, **options)


def test_data_that_does_not_fit(folder):
    for data, message in ([], "no batch"), ([{"y": 1}], "lacks inputs"), ([[1, 2]], "2 values"):
        with pytest.raises(ValueError, match=message):
            tool(folder, data_loader=data).quantize()
    with pytest.raises(AssertionError, match="nothing is quantized"):
        tool(folder).save_quantized_model(str(folder / "none"))
    with pytest.raises(FileNotFoundError):
        PostTrainingQuantization(static.Executor(), str(folder / "none"), data_loader=BATCHES)


@pytest.fixture
def built():
    """A program of static mode that trains, its copy for tests, and an executor."""
    enable_static()
    try:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = static.data("x", [None, 1, 8, 8], "float32")
            y = static.nn.fc(nn.functional.relu(static.nn.conv2d(x, 4, 3)), 3)
        executor = static.Executor()
        executor.run(startup)
        yield main.clone(for_test=True), x, y, executor
    finally:
        disable_static()


@pytest.mark.parametrize("named", [False, True])
def test_programs_are_calibrated_as_saved_models_are(built, tmp_path, named):
    program, x, y, executor = built
    before = [node.type for node in program.nodes]
    given = dict(data_loader=BATCHES, algo="hist")
    tool = PostTrainingQuantizationProgram(executor, program, ["x"] if named else [x], [y], return_graph=False, **given)
    quantized = tool.quantize()
    found = executor.run(quantized, feed=BATCHES[0], fetch_list=quantized.fetches)[0]
    assert [node.type for node in program.nodes] == before
    assert [node.type for node in quantized.nodes].count("quantize_linear") == 2
    tool.save_quantized_model(str(tmp_path / "int8"))
    static.save_inference_model(str(tmp_path / "model"), [x], [y], executor, program=program)
    saved = PostTrainingQuantization(executor, str(tmp_path), **FILES, **given)
    saved.quantize()
    saved.save_quantized_model(str(tmp_path / "saved"))
    disable_static()
    plain = answers(tmp_path)
    assert 0 < np.abs(found - plain).max() < 0.03 * np.abs(plain).max()
    assert (answers(tmp_path / "int8") == answers(tmp_path / "saved")).all()
    np.testing.assert_allclose(found, answers(tmp_path / "int8"), rtol=1e-6, atol=1e-6)


def test_programs_become_graphs_unless_told_otherwise(built):
    program, x, y, executor = built
    graph = PostTrainingQuantizationProgram(executor, program, [x], [y], data_loader=BATCHES, algo="abs_max").quantize()
    assert "quantize_linear" in [node.type for node in graph.to_program().nodes]


@pytest.mark.parametrize("missing", ["program", "feed_list", "fetch_list"])
def test_programs_need_their_inputs_and_results(built, missing):
    program, x, y, executor = built
    given = {"program": program, "feed_list": [x], "fetch_list": [y]} | {missing: None}
    with pytest.raises(AssertionError, match=f"{missing} should not be None"):
        PostTrainingQuantizationProgram(executor, **given, data_loader=BATCHES)
