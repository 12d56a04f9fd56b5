"""Parts of programs that TensorRT runs, with a stand-in for it (fake_tensorrt), against the CPU and against programs without it."""
import importlib.util
import logging
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_infer import Config, PrecisionType, PredictorPool, create_predictor, get_trt_runtime_version
from wherry_infer.tensorrt import engines_of, ranges_of_file
from wherry_paddle_files.models import load_model, save_model
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.run.interpreter import Interpreter
from wherry_quant.rounded_programs import Calibration
from wherry_tensor import cuda, float32, int8, int64, ops
from wherry_tensor.errors import ExternalError

_spec = importlib.util.spec_from_file_location("fake_tensorrt", Path(__file__).with_name("fake_tensorrt.py"))
fake = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fake)


pytestmark = pytest.mark.usefixtures("emulator")  # the stand-in copies by the emulator's runtime


@pytest.fixture(params=["11.4.0.106", "10.3.0"])
def either(request, monkeypatch):
    """The module in one of two versions, which make networks differently."""
    monkeypatch.setitem(sys.modules, "tensorrt", fake.as_module(request.param))
    yield fake
    assert not fake.log


@pytest.fixture
def trt(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorrt", fake.as_module())
    return fake


def _saved(record, folder, shape=(-1, 3), dtype=float32):
    program = Program()
    x = program.feed(list(shape), dtype, "x")
    with capture(program):
        result = record(x)
        program.fetches = list(result) if isinstance(result, tuple) else [result]
    save_model(str(folder / "net"), program)
    return str(folder / "net")


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    wt.seed(3)
    net = nn.Sequential(
        nn.Conv2D(2, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(36, 6), nn.LayerNorm(6), nn.Linear(6, 3),
        nn.Softmax(),
    )
    net.eval()
    return _saved(net, tmp_path_factory.mktemp("layers"), (-1, 2, 8, 8))


def _config(prefix, trt=True, **options):
    config = Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    config.enable_use_gpu(100, 0)
    if trt:
        config.enable_tensorrt_engine(**{"max_batch_size": 4, "min_subgraph_size": 2, **options})
    return config


def _answers(predictor, x):
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def _expected(prefix, x):
    return _answers(create_predictor(Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")), x)


def _batch(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def test_a_network_is_one_engine_for_batches_up_to_the_largest(gpu, either, layers):
    predictor = create_predictor(_config(layers))
    (engine,) = engines_of(predictor._model.program)
    assert [node.type for node in predictor._model.program.nodes] == ["tensorrt_engine"]
    assert fake.built[0].head["workspace"] == 1 << 30
    for n in (4, 1, 3):
        x = _batch(n, 2, 8, 8, seed=n)
        np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)
    assert get_trt_runtime_version()[0] in (10, 11)
    assert "TensorRT engine of" in repr(engine)


def test_a_batch_that_is_larger_is_refused_before_anything_runs(gpu, trt, layers):
    predictor = create_predictor(_config(layers))
    with pytest.raises(ValueError, match=r"'x' has a shape that its engine was not built for. Got \[5, 2, 8, 8\], expected sizes from "
                       r"\[1, 2, 8, 8\] to \[4, 2, 8, 8\]. Widen max_batch_size"):
        _answers(predictor, _batch(5, 2, 8, 8))
    assert not trt.log


def test_an_engine_is_built_anew_for_other_shapes_where_that_is_allowed(gpu, trt, layers):
    config = _config(layers)
    config.enable_tuned_tensorrt_dynamic_shape("", allow_build_at_runtime=True)
    predictor = create_predictor(config)
    for n in (5, 2, 6):
        x = _batch(n, 2, 8, 8, seed=n)
        np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)
    assert len(trt.built) == 3


def test_without_tensorrt_one_line_says_so_and_the_kernels_of_wherry_run(gpu, layers, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "tensorrt", None)
    with caplog.at_level(logging.INFO, "wherry.inference"):
        predictor = create_predictor(_config(layers))
    (line,) = [record.getMessage() for record in caplog.records]
    assert "TensorRT is not installed, the program runs on Wherry's own kernels" in line
    assert "pip install tensorrt" in line
    assert not engines_of(predictor._model.program)
    x = _batch(7, 2, 8, 8)
    np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)
    assert get_trt_runtime_version() == (0, 0, 0)
    config = _config(layers)
    config.disable_glog_info()
    caplog.clear()
    create_predictor(config)
    assert not caplog.records


def test_what_onnx_cannot_say_stays_between_two_engines(gpu, either, tmp_path):
    def record(x):
        a = (x * 2.0 + 1.0).tanh()
        b = wt.unique(a.flatten()).sum()  # how much there is depends on values
        return ((a + b).exp() * a - 1.0).sigmoid(), a

    prefix = _saved(record, tmp_path)
    predictor = create_predictor(_config(prefix))
    kinds = [node.type for node in predictor._model.program.nodes]
    assert kinds.count("tensorrt_engine") == 2
    assert "unique" in kinds
    x = _batch(3, 3)
    for one, other in zip(_answers(predictor, x), _expected(prefix, x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_branches_that_do_not_meet_share_an_engine(gpu, either, tmp_path):
    def record(x):
        a, b = x.exp(), x.tanh()
        c = wt.masked_select(b, b > 0).sum()
        return a * 2.0, (a - b).sum(axis=1), b * c

    prefix = _saved(record, tmp_path)
    predictor = create_predictor(_config(prefix, min_subgraph_size=3))
    assert len(engines_of(predictor._model.program)) == 1  # and the last product alone is too little
    x = _batch(2, 3)
    for one, other in zip(_answers(predictor, x), _expected(prefix, x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_parts_that_are_too_small_and_ops_that_were_excluded_are_not_handed_over(gpu, trt, layers):
    assert not engines_of(create_predictor(_config(layers, min_subgraph_size=50))._model.program)
    config = _config(layers)
    config.exp_disable_tensorrt_ops(["softmax", "conv2d"])
    predictor = create_predictor(config)
    kinds = [node.type for node in predictor._model.program.nodes]
    assert "softmax" in kinds
    assert "conv2d" in kinds
    assert kinds.count("tensorrt_engine") == 1
    x = _batch(2, 2, 8, 8)
    np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)


def test_what_the_parser_refuses_stays_with_wherry_and_the_log_says_why(gpu, trt, layers, caplog):
    trt.refused_ops.add("Conv")
    with caplog.at_level(logging.INFO, "wherry.inference"):
        predictor = create_predictor(_config(layers))
    assert not engines_of(predictor._model.program)
    assert "its parser refuses them (In node" in caplog.text
    assert "No importer registered for op: Conv" in caplog.text
    x = _batch(2, 2, 8, 8)
    np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)


def test_shapes_that_are_free_are_given_by_name(gpu, either, tmp_path, caplog):
    prefix = _saved(lambda x: (x.exp().sum(axis=1, keepdim=True) + x).tanh(), tmp_path, (-1, -1))
    with caplog.at_level(logging.INFO, "wherry.inference"):
        assert not engines_of(create_predictor(_config(prefix))._model.program)
    assert "sizes of ['x'] are free. Say which they may have with set_trt_dynamic_shape_info" in caplog.text
    config = _config(prefix)
    config.set_trt_dynamic_shape_info({"x": [1, 2]}, {"x": [4, 9]}, {"x": [2, 3]})
    assert config.tensorrt_dynamic_shape_enabled()
    predictor = create_predictor(config)
    assert fake.built[-1].head["profiles"] == [{"x": [[1, 2], [2, 3], [4, 9]]}]
    for shape in ((1, 2), (4, 9), (3, 5)):
        np.testing.assert_allclose(_answers(predictor, _batch(*shape))[0], _expected(prefix, _batch(*shape))[0], rtol=0, atol=1e-5)


def test_shapes_that_do_not_fit_are_refused(gpu, trt, layers):
    config = _config(layers)
    config.set_trt_dynamic_shape_info({"x": [1, 2, 8, 8]}, {"x": [2, 2, 8, 8]}, {"x": [3, 2, 8, 8]})
    with pytest.raises(ValueError, match=r"shapes of 'x' do not fit. Got min \[1, 2, 8, 8\], optim \[3, 2, 8, 8\] and max \[2, 2, 8, 8\]"):
        create_predictor(config)
    with pytest.raises(ValueError, match=r"Got not all three for \['x'\]"):
        config.set_trt_dynamic_shape_info({"x": [1]}, {}, {})
    with pytest.raises(TypeError, match="shapes is not a dict of lists of ints. Got 3"):
        config.set_trt_dynamic_shape_info(3)
    with pytest.raises(ValueError, match="got max_batch_size=0, expected a number >= 1"):
        config.enable_tensorrt_engine(max_batch_size=0)


def test_shapes_that_were_collected_are_taken(gpu, either, tmp_path):
    prefix = _saved(lambda x: (x.exp().sum(axis=1, keepdim=True) + x).tanh(), tmp_path, (-1, -1))
    file = str(tmp_path / "shapes.pbtxt")
    config = _config(prefix, trt=False)
    config.collect_shape_range_info(file)
    predictor = create_predictor(config)
    for shape in ((1, 2), (4, 5), (3, 3), (3, 3)):
        _answers(predictor, _batch(*shape))
    predictor._model.write_shapes()
    assert ranges_of_file(file)["x"] == ((1, 2), (3, 3), (4, 5))
    config = _config(prefix)
    config.enable_tuned_tensorrt_dynamic_shape(file, False)
    predictor = create_predictor(config)
    np.testing.assert_allclose(_answers(predictor, _batch(4, 5))[0], _expected(prefix, _batch(4, 5))[0], rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="Got \\[5, 5\\], expected sizes from \\[1, 2\\] to \\[4, 5\\]"):
        _answers(predictor, _batch(5, 5))
    (tmp_path / "other").write_text("no shapes")
    with pytest.raises(ValueError, match="this is not a file of shapes"):
        ranges_of_file(str(tmp_path / "other"))


def test_engines_are_kept_in_files_and_damaged_ones_are_built_anew(gpu, either, layers, tmp_path):
    def made():
        config = _config(layers, use_static=True)
        config.set_optim_cache_dir(str(tmp_path / "cache"))
        return create_predictor(config)

    x = _batch(2, 2, 8, 8)
    expected = _expected(layers, x)[0]
    np.testing.assert_allclose(_answers(made(), x)[0], expected, rtol=0, atol=1e-5)
    (file,) = (tmp_path / "cache").iterdir()
    content, stamp = file.read_bytes(), file.stat().st_mtime_ns
    np.testing.assert_allclose(_answers(made(), x)[0], expected, rtol=0, atol=1e-5)
    assert file.stat().st_mtime_ns == stamp
    file.write_bytes(content[:-5])
    np.testing.assert_allclose(_answers(made(), x)[0], expected, rtol=0, atol=1e-5)
    assert file.read_bytes() == content
    assert [one.name for one in (tmp_path / "cache").iterdir()] == [file.name]
    assert fake.log == ["deserialize: the plan is damaged"]
    fake.log.clear()


def test_16_bits_are_those_of_the_program(gpu, either, layers):
    predictor = create_predictor(_config(layers, precision_mode=PrecisionType.Half))
    (engine,) = fake.built
    kinds = {x.data_type for x in engine.model.graph.initializer if np.prod(x.dims) >= 18}  # weights of products, and not the smaller biases
    assert kinds == {fake.onnx.TensorProto.FLOAT16}
    x = _batch(2, 2, 8, 8)
    # Probabilities from numbers of three digits.
    np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=2e-2)


@pytest.fixture(scope="module")
def quantized(layers, tmp_path_factory):
    """The layers as a model that says where its values are rounded."""
    program = load_model(layers)
    found = Calibration(program)
    batches = [wt.to_tensor(_batch(4, 2, 8, 8, seed=seed)) for seed in range(4)]
    for x in batches:
        found.see(Interpreter(found.program, fetches=found.observed)(x))
    prefix = str(tmp_path_factory.mktemp("int8") / "net")
    save_model(prefix, found.rounded(found.scales()))
    return prefix


def _rounds(engine):
    return [node.op_type for node in onnx.ModelProto.FromString(engine.model).graph.node if node.op_type.endswith("uantizeLinear")]


def _near(found, expected):
    """Within what a few whole numbers that fall otherwise change in probabilities."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


def test_models_that_are_quantized_say_so_to_tensorrt(gpu, either, layers, quantized, caplog):
    with caplog.at_level(logging.WARNING, "wherry.inference"):
        predictor = create_predictor(_config(quantized, precision_mode=PrecisionType.Int8, use_calib_mode=False))
    assert not caplog.text
    assert [node.type for node in predictor._model.program.nodes] == ["tensorrt_engine"]
    (engine,) = engines_of(predictor._model.program)
    assert sorted(_rounds(engine)) == ["DequantizeLinear"] * 6 + ["QuantizeLinear"] * 3  # three products, each of an input and a weight
    x = _batch(3, 2, 8, 8)
    _near(_answers(predictor, x)[0], _expected(quantized, x)[0])
    _near(_answers(predictor, x)[0], _expected(layers, x)[0])


def test_models_in_floats_are_calibrated_and_then_handed_over(gpu, either, layers, tmp_path):
    config = _config(layers, precision_mode=PrecisionType.Int8)
    config.set_optim_cache_dir(str(tmp_path / "cache"))
    config.set_calibration_batches(2)
    predictor = create_predictor(config)
    for seed in range(2):
        assert not engines_of(predictor._model.program)
        x = _batch(4, 2, 8, 8, seed=seed)
        np.testing.assert_allclose(_answers(predictor, x)[0], _expected(layers, x)[0], rtol=0, atol=1e-5)
    x = _batch(3, 2, 8, 8, seed=9)
    for one in predictor, create_predictor(config):
        assert [node.type for node in one._model.program.nodes] == ["tensorrt_engine"]
        assert len(_rounds(engines_of(one._model.program)[0])) == 9
        _near(_answers(one, x)[0], _expected(layers, x)[0])


def test_steps_with_a_zero_point_stay_with_wherry(gpu, either, tmp_path):
    step, zero = wt.to_tensor(0.05), wt.to_tensor(3, dtype="int8")

    def record(x):
        q = ops.quantize_linear(x, step, zero, axis=None, group=None, low=-128, high=127, dtype=int8)
        y = ops.dequantize_linear(q, step, zero, axis=None, group=None, dtype=float32)
        return (y * 2 + 1).tanh()

    prefix = _saved(record, tmp_path)
    predictor = create_predictor(_config(prefix))
    (engine,) = engines_of(predictor._model.program)
    assert not _rounds(engine)
    np.testing.assert_allclose(_answers(predictor, _batch(3, 3))[0], _expected(prefix, _batch(3, 3))[0], rtol=0, atol=1e-5)


def test_inputs_that_others_compute_or_that_are_views_are_in_order_and_aligned(gpu, either, tmp_path):
    prefix = _saved(lambda x: (x.exp() + x).tanh(), tmp_path)
    predictor = create_predictor(_config(prefix))
    x = _batch(4, 3)
    late = wt.to_tensor(np.concatenate([x / 2, x / 2])) * 2.0  # which the current stream has still to compute
    (y,) = predictor.run([late[3:7]])
    expected = _expected(prefix, np.concatenate([x, x])[3:7])[0]
    np.testing.assert_allclose((y * 1.0).numpy(), expected, rtol=0, atol=1e-5)
    (y,) = predictor.run([wt.to_tensor(np.ascontiguousarray(x[:3].T)).T])
    np.testing.assert_allclose(y.numpy(), _expected(prefix, x[:3])[0], rtol=0, atol=1e-5)


def test_indices_go_in_as_they_are(gpu, either, tmp_path):
    wt.seed(5)
    net = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 2))
    prefix = _saved(net, tmp_path, (-1, 3), int64)
    predictor = create_predictor(_config(prefix))
    assert len(engines_of(predictor._model.program)) == 1
    ids = np.array([[0, 6, 3], [1, 1, 2]])
    np.testing.assert_allclose(_answers(predictor, ids)[0], _expected(prefix, ids)[0], rtol=0, atol=1e-5)


def test_threads_run_an_engine_each_on_a_stream_and_in_a_context_of_its_own(gpu, either, layers):
    pool = PredictorPool(_config(layers), 3)
    expected = [_expected(layers, _batch(1 + i, 2, 8, 8, seed=i))[0] for i in range(3)]
    wrong = []

    def work(i):
        for _ in range(3):
            if not np.allclose(_answers(pool.retrive(i), _batch(1 + i, 2, 8, 8, seed=i))[0], expected[i], atol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    (engine,) = fake.built
    assert [len(context.streams) for context in engine.contexts] == [1, 1, 1]
    assert 0 not in set().union(*(context.streams for context in engine.contexts))  # on the default stream TensorRT waits for the whole GPU


def test_switches_reach_the_builder(gpu, either, layers):
    config = _config(layers, workspace_size=1 << 20)
    config.set_tensorrt_optimization_level(5)
    config.enable_tensorrt_dla(1)
    create_predictor(config)
    assert {k: v for k, v in fake.built[0].head.items() if k in ("workspace", "level", "dla")} == {"workspace": 1 << 20, "level": 5, "dla": 1}


@pytest.mark.parametrize(("call", "said"), [
    (lambda c: c.set_tensor_address("y", 256), "there is no tensor y"), (lambda c: c.set_input_shape("y", (1, 3)), "there is no input y"),
    (lambda c: c.set_input_shape("x", (9, 3)), "out of the profile"), (lambda c: c.set_input_shape("x", (1, 4)), "does not fit"),
    (lambda c: c.execute_async_v3(0), "no address for"), (lambda c: c.set_tensor_address("x", 8), "not aligned"),
])
def test_the_stand_in_refuses_what_tensorrt_refuses(gpu, trt, tmp_path, call, said):
    prefix = _saved(lambda x: (x.exp() + x).tanh(), tmp_path)
    create_predictor(_config(prefix))
    context = trt.built[0].create_execution_context()
    assert not call(context)
    assert said in trt.log[-1]


def test_a_run_that_tensorrt_refuses_says_so(gpu, trt, layers):
    predictor = create_predictor(_config(layers))
    trt.built[0].infos["more"] = trt.built[0].infos["x"]  # which nobody gives an address
    with pytest.raises(ExternalError, match="TensorRT: execute_async_v3 failed"):
        _answers(predictor, _batch(2, 2, 8, 8))
    cuda.synchronize()
