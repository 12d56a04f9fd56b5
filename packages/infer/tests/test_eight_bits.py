"""Predictors that are asked for 8 bits: calibration on the inputs they run or on data at hand, the file of scales, and what the log says."""
import json
import logging
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_infer import Config, PrecisionType, create_predictor
from wherry_paddle_files.models import save_model
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_tensor import float32

INTEGERS = {"quantized_conv2d", "quantized_linear"}


@pytest.fixture
def model(tmp_path):
    """A convolutional network of floats, saved in a folder of its own."""
    wt.seed(5)
    net = nn.Sequential(
        nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(128, 4),
    )
    net(wt.to_tensor(images(64)))  # statistics of the normalization
    net.eval()
    return saved(net, tmp_path / "model" / "net", [-1, 3, 6, 6])


def saved(layer, prefix, sizes):
    prefix.parent.mkdir(exist_ok=True)
    program = Program()
    x = program.feed(sizes, float32, "x")
    with capture(program):
        program.fetches = [layer(x)]
    save_model(str(prefix), program)
    return str(prefix)


def images(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3, 6, 6)).astype("float32")


def plain(model):
    """A configuration for the device that the tests are for."""
    config = Config(f"{model}.pdmodel", f"{model}.pdiparams")
    kind, _, number = wt.get_device().partition(":")
    if kind == "gpu":
        config.enable_use_gpu(100, int(number))
    return config


def calibrating(model, batches=3, **options):
    """As TensorRT is asked, where it is not installed, on any device: tests with a stand-in for TensorRT are in ops-cuda."""
    config = plain(model)
    config.enable_tensorrt_engine(precision_mode=PrecisionType.Int8, **options)
    config.set_calibration_batches(batches)
    return config


@pytest.fixture(autouse=True)
def no_tensorrt(monkeypatch):
    import wherry_infer.predictor as module

    monkeypatch.setitem(sys.modules, "tensorrt", None)
    monkeypatch.setattr(module, "_refuse_hardware", lambda config: None)


def kinds(predictor):
    return {node.type for node in predictor._model.program.nodes}


def run(predictor, x):
    [y] = predictor.run([wt.to_tensor(x)])
    return y.numpy()


def table_of(model):
    [path] = (Path(model).parent / "_opt_cache").glob("calibration_*.json")
    return path


def test_the_first_runs_find_scales_and_the_next_are_integers(model):
    exact = create_predictor(plain(model))
    predictor = create_predictor(calibrating(model))
    for i in range(3):
        assert not INTEGERS & kinds(predictor)
        np.testing.assert_allclose(run(predictor, images(8, i)), run(exact, images(8, i)), rtol=1e-4, atol=1e-5)
    assert kinds(predictor) >= INTEGERS
    x = images(8, 9)
    error = run(predictor, x) - run(exact, x)
    assert 0 < np.square(error).sum() < 0.002 * np.square(run(exact, x)).sum()
    found = json.loads(table_of(model).read_text())
    assert found["batches"] == 3 and len(found["scales"]) == 3
    later = create_predictor(calibrating(model))
    assert kinds(later) >= INTEGERS
    np.testing.assert_array_equal(run(later, x), run(predictor, x))


def test_scales_are_those_of_the_values_of_all_batches(model):
    predictor = create_predictor(calibrating(model))
    batches = [images(4, i) * (i + 1) for i in range(3)]
    for x in batches:
        run(predictor, x)
    scales = json.loads(table_of(model).read_text())["scales"]
    assert scales["x"] == pytest.approx(np.quantile(np.abs(np.concatenate(batches)), 0.9999), rel=0.02)


def test_handles_clones_and_threads_calibrate_together(model):
    predictor = create_predictor(calibrating(model, batches=8))
    exact = create_predictor(plain(model))
    answers = {}

    def work(one, at):
        for i in range(2):
            one.get_input_handle("x").copy_from_cpu(images(2, 10 * at + i))
            one.run()
            answers[at, i] = one.get_output_handle(one.get_output_names()[0]).copy_to_cpu()

    threads = [threading.Thread(target=work, args=(predictor.clone(), at)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert json.loads(table_of(model).read_text())["batches"] == 8
    assert kinds(predictor) >= INTEGERS
    for (at, i), answer in answers.items():
        np.testing.assert_allclose(answer, run(exact, images(2, 10 * at + i)), atol=0.1)


def test_a_predictor_that_ends_before_keeps_what_it_has(model):
    predictor = create_predictor(calibrating(model))
    run(predictor, images(8))
    assert not (Path(model).parent / "_opt_cache").exists()
    del predictor
    assert json.loads(table_of(model).read_text())["batches"] == 1
    assert kinds(create_predictor(calibrating(model))) >= INTEGERS


def test_a_process_that_ends_before_keeps_what_it_has(model):
    code = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); sys.modules["tensorrt"] = None
import wherry_infer.predictor as module
module._refuse_hardware = lambda config: None
from test_eight_bits import *
predictor = create_predictor(calibrating({model!r}))
run(predictor, images(8))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert json.loads(table_of(model).read_text())["batches"] == 1


def test_other_weights_are_another_table(model, tmp_path):
    predictor = create_predictor(calibrating(model, batches=1))
    run(predictor, images(8))
    params = Path(f"{model}.pdiparams")
    data = bytearray(params.read_bytes())
    data[-2] ^= 1  # of the last number
    params.write_bytes(bytes(data))
    assert not INTEGERS & kinds(create_predictor(calibrating(model, batches=1)))


@pytest.mark.parametrize("content", ["", "[1]", '{"format": "x"}', "[" * 100000, '{"scales": {"x": NaN}}', b"\xff\xfe"])
def test_a_damaged_table_is_said_and_made_anew(model, caplog, content):
    run(create_predictor(calibrating(model, batches=1)), images(8))
    table_of(model).write_bytes(content if isinstance(content, bytes) else content.encode())
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(calibrating(model, batches=1))
    assert "the calibration table cannot be read, inputs are counted anew" in caplog.text
    run(predictor, images(8))
    assert json.loads(table_of(model).read_text())["batches"] == 1


@pytest.mark.parametrize("scales", [{"x": 1.0}, {}, {"x": -1.0}, {"x": "1"}, {"x": float("inf")}, [1.0]])
def test_scales_that_contradict_the_program_are_not_taken(model, caplog, scales):
    run(create_predictor(calibrating(model, batches=1)), images(8))
    found = json.loads(table_of(model).read_text())
    table_of(model).write_text(json.dumps({**found, "scales": scales}))
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        assert not INTEGERS & kinds(create_predictor(calibrating(model, batches=1)))
    assert "the calibration table cannot be read, inputs are counted anew" in caplog.text


def test_a_folder_that_cannot_be_written_is_said_and_integers_follow(model, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    config = calibrating(model, batches=1)
    config.set_optim_cache_dir(str(tmp_path / "file" / "inside"))
    predictor = create_predictor(config)
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        run(predictor, images(8))
    assert "the calibration table is not kept" in caplog.text
    assert kinds(predictor) >= INTEGERS


def test_a_model_in_floats_without_calibration_is_said_to_stay_so(model, caplog):
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(calibrating(model, use_calib_mode=False))
    lines = [record.getMessage() for record in caplog.records if "8 bits" in record.getMessage()]
    assert len(lines) == 1 and "Got a model in floats, used Float32" in lines[0] and "use_calib_mode=False" in lines[0]
    assert not INTEGERS & kinds(predictor)


def test_without_wherry_quant_one_line_says_what_to_install(model, caplog, monkeypatch):
    monkeypatch.setitem(sys.modules, "wherry_quant.rounded_programs", None)
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(calibrating(model))
    assert "pip install wherry-infer[quantize]" in caplog.text
    assert not INTEGERS & kinds(predictor)


def test_a_program_without_products_stays_in_floats(tmp_path, caplog):
    prefix = saved(nn.Softmax(), tmp_path / "model" / "net", [-1, 3])
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        create_predictor(calibrating(prefix))
    assert "no convolutions and no products by weights" in caplog.text


@pytest.mark.parametrize("ask", ["enable_tensorrt_engine", "enable_mkldnn_int8", "enable_quantizer"])
def test_a_quantized_model_runs_in_integers_whoever_asks(model, caplog, tmp_path, ask):
    from wherry_paddle_files.models import load_model
    from wherry_quant.rounded_programs import Calibration

    program = load_model(model)
    found = Calibration(program)
    found.see([wt.to_tensor(images(4))] * len(found.observed))
    prefix = str(tmp_path / "model" / "quantized")
    save_model(prefix, found.rounded(found.scales()))
    config = calibrating(prefix, use_calib_mode=False) if ask == "enable_tensorrt_engine" else plain(prefix)
    if ask != "enable_tensorrt_engine":
        getattr(config, ask)()
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(config)
    assert kinds(predictor) >= INTEGERS
    assert "8 bits" not in caplog.text


def test_data_at_hand_quantize_while_the_model_is_loaded(model):
    config = plain(model)
    config.enable_quantizer()
    config.quantizer_config().set_quant_data([images(32)])
    predictor = create_predictor(config)
    assert kinds(predictor) >= INTEGERS
    exact = create_predictor(plain(model))
    error = run(predictor, images(8, 9)) - run(exact, images(8, 9))
    assert 0 < np.square(error).sum() < 0.002 * np.square(run(exact, images(8, 9))).sum()


def test_data_that_do_not_fit_are_refused(model):
    config = plain(model)
    with pytest.raises(RuntimeError, match="Got no enable_quantizer"):
        config.quantizer_config()
    config.enable_quantizer()
    with pytest.raises(TypeError, match="expected a list of arrays"):
        config.quantizer_config().set_quant_data("x")
    config.quantizer_config().set_quant_data([images(2), images(2)])
    with pytest.raises(ValueError, match="Got 2 arrays, expected one for each of \\['x'\\]"):
        create_predictor(config)
    with pytest.raises(ValueError, match="expected a number >= 1"):
        config.set_calibration_batches(0)


def test_floats_with_the_switch_of_the_cpu_are_told_what_to_do(model, caplog):
    config = plain(model)
    config.enable_mkldnn_int8()
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(config)
    assert "enable_mkldnn_int8: 8 bits need a model that says" in caplog.text and "set_quant_data" in caplog.text
    assert not INTEGERS & kinds(predictor)


def test_a_report_says_of_each_layer_what_runs_in_integers(model):
    config = plain(model)
    config.enable_quantizer()
    config.quantizer_config().set_quant_data([images(32)])
    predictor = create_predictor(config)
    found = predictor.report([images(8)])
    assert [row.runs_in for row in found.rows] == ["int8"] * 3
    assert [row.weight_bytes for row in found.rows] == [8 * 3 * 9, 8 * 8 * 9, 128 * 4]
    assert all(row.float_bytes == 4 * row.weight_bytes and row.milliseconds > 0 and 25 < row.snr < 60 for row in found.rows)
    assert "3 of 3 products run in integers." in str(found)
    short = predictor.report()
    assert [row.runs_in for row in short.rows] == ["int8"] * 3
    assert all(row.snr is None and row.milliseconds is None for row in short.rows)
    again = predictor.report([wt.to_tensor(images(8))])
    assert [row.snr for row in again.rows] == [row.snr for row in found.rows]


def test_a_report_follows_calibration(model):
    predictor = create_predictor(calibrating(model, batches=1))
    before = predictor.report([images(4)])
    assert [(row.runs_in, row.snr) for row in before.rows] == [("float", None)] * 3
    assert all(row.why for row in before.rows)
    run(predictor, images(32))
    assert [row.runs_in for row in predictor.report([images(4)]).rows] == ["int8"] * 3


def test_a_report_takes_a_predictor_in_floats_as_its_reference(model):
    predictor = create_predictor(plain(model))
    assert all(row.snr == float("inf") for row in predictor.report([images(4)], reference=predictor).rows)
    with pytest.raises(ValueError, match="Got a reference and no inputs"):
        predictor.report(reference=predictor)
    with pytest.raises(TypeError, match="reference"):
        predictor.report([images(4)], reference=model)
    with pytest.raises(ValueError, match="got 2 inputs, expected 1"):
        predictor.report([images(4), images(4)])
    with pytest.raises(ValueError, match="'x'"):
        predictor.report([images(4)[0]])
