"""Predictors of saved programs."""
import subprocess
import sys
import sysconfig
import threading
import weakref
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_infer import (
    Config,
    DataType,
    PlaceType,
    PrecisionType,
    PredictorPool,
    convert_to_mixed_precision,
    create_predictor,
    get_num_bytes_of_data_type,
    get_version,
)
from wherry_infer import predictor as predictors
from wherry_infer.native import get_include, get_source
from wherry_paddle_files.models import save_model
from wherry_paddle_files.testing.model_files import as_paddle_writes
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_tensor import device, float32


@pytest.fixture(scope="module")
def net():
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 2), nn.Softmax())
    net.eval()
    return net


@pytest.fixture(scope="module")
def model(net, tmp_path_factory):
    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        program.fetches = [net(x)]
    prefix = str(tmp_path_factory.mktemp("model") / "net")
    save_model(prefix, program)
    return prefix


def config_of(model):
    """On the device that the tests are for."""
    config = Config(f"{model}.pdmodel", f"{model}.pdiparams")
    kind, _, number = wt.get_device().partition(":")
    if kind == "gpu":
        config.enable_use_gpu(100, int(number))
    elif kind != "cpu":
        config.enable_custom_device(kind, int(number))
    return config


def batch(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3)).astype("float32")


def answer(predictor, x):
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def test_a_predictor_gives_what_the_layer_gives_for_batches_of_any_size(model, net):
    predictor = create_predictor(config_of(model))
    assert predictor.get_input_names() == ["x"]
    for n in (1, 4, 2):
        np.testing.assert_allclose(answer(predictor, batch(n)), net(wt.to_tensor(batch(n))).numpy(), rtol=1e-5)


def test_tensors_go_in_and_come_out_of_run(model, net):
    predictor = create_predictor(config_of(model))
    (y,) = predictor.run([wt.to_tensor(batch(2))])
    np.testing.assert_allclose(y.numpy(), net(wt.to_tensor(batch(2))).numpy(), rtol=1e-5)


def test_without_passes_the_answer_is_that_of_the_layer_bit_for_bit(model, net):
    config = config_of(model)
    config.switch_ir_optim(False)
    np.testing.assert_array_equal(answer(create_predictor(config), batch(3)), net(wt.to_tensor(batch(3))).numpy())


def test_a_pass_that_is_deleted_does_not_run(tmp_path):
    net = nn.Sequential(nn.Conv2D(3, 4, 3, bias_attr=False), nn.BatchNorm2D(4))
    net.eval()
    program = Program()
    x = program.feed([-1, 3, 8, 8], float32, "x")
    with capture(program):
        program.fetches = [net(x)]
    model = str(tmp_path / "conv")
    save_model(model, program)
    config = config_of(model)
    config.delete_pass("batch_norm")
    kept, folded = create_predictor(config), create_predictor(config_of(model))
    assert any(node.type == "batch_norm_infer" for node in kept._model.program.nodes)
    assert not any(node.type == "batch_norm_infer" for node in folded._model.program.nodes)
    with pytest.raises(ValueError, match="the pass is unknown"):
        config.pass_builder().append_pass("conv_bn_fuse_pass")


def test_a_model_that_is_saved_behind_the_passes_is_one_that_paddle_reads(tmp_path):
    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        program.fetches = [(x * 2.0 + 1.0).tanh() * x]  # a chain, which runs as one node
    save_model(str(tmp_path / "net"), program)
    config = config_of(str(tmp_path / "net"))
    config.enable_save_optim_model(True)
    values = answer(create_predictor(config), batch(2))
    again = answer(create_predictor(config_of(str(tmp_path / "net_optimized"))), batch(2))
    np.testing.assert_array_equal(values, again)


def test_a_model_in_memory(model, net):
    config = Config(config_of(model))
    program, params = (Path(f"{model}.{suffix}").read_bytes() for suffix in ("pdmodel", "pdiparams"))
    config.set_model_buffer(program, len(program), params, len(params))
    assert config.model_from_memory()
    np.testing.assert_allclose(answer(create_predictor(config), batch(2)), net(wt.to_tensor(batch(2))).numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="shorter than its size"):
        config.set_model_buffer(program, len(program) + 1, params, len(params))


def test_a_folder_with_one_model(model, net):
    config = Config(str(Path(model).parent))
    np.testing.assert_allclose(answer(create_predictor(config), batch(2)), net(wt.to_tensor(batch(2))).numpy(), rtol=1e-5)


def test_eight_threads_get_their_own_answers(model, net):
    pool = PredictorPool(config_of(model), 8)
    expected = [net(wt.to_tensor(batch(1 + i % 3, seed=i))).numpy() for i in range(8)]
    wrong = []

    def work(i):
        for _ in range(50):
            got = answer(pool.retrive(i), batch(1 + i % 3, seed=i))
            if not np.allclose(got, expected[i], rtol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_clone_outlives_the_predictor_that_it_comes_from(model, net):
    predictor = create_predictor(config_of(model))
    clone = predictor.clone()
    assert clone._model is predictor._model
    del predictor
    np.testing.assert_allclose(answer(clone, batch(2)), net(wt.to_tensor(batch(2))).numpy(), rtol=1e-5)


def test_what_does_not_fit_is_refused_before_anything_runs(model):
    predictor = create_predictor(config_of(model))
    handle = predictor.get_input_handle("x")
    with pytest.raises(ValueError, match=r"Got no|Got none for \['x'\]"):
        predictor.run()
    with pytest.raises(ValueError, match="Got float64, expected float32"):
        handle.copy_from_cpu(np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"Got \[1, 4\], expected \[-1, 3\]"):
        handle.copy_from_cpu(np.ones((1, 4), "float32"))
    with pytest.raises(TypeError, match="Got list"):
        handle.copy_from_cpu([[1.0, 2.0, 3.0]])
    with pytest.raises(RuntimeError, match="no such input"):
        predictor.get_input_handle("y")
    with pytest.raises(RuntimeError, match="has no values yet"):
        predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def test_shared_data_are_not_copied(model):
    predictor = create_predictor(config_of(model))
    handle = predictor.get_input_handle("x")
    data = wt.to_tensor(batch(2))
    handle.share_external_data(data)
    assert handle._value is data
    assert handle.shape() == [2, 3] and handle.type() is DataType.FLOAT32
    array = batch(2)
    handle.share_external_data(array)
    before = predictor.run() or predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    array *= 2  # the predictor sees it
    predictor.run()
    after = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    assert not np.allclose(before, after)


@pytest.mark.parametrize(("ask", "word"), [
    (lambda c: c.enable_xpu(), "enable_xpu"), (lambda c: c.enable_custom_device("nowhere"), "enable_custom_device"),
])
def test_hardware_that_is_not_there_is_refused_by_the_name_of_the_switch(model, ask, word):
    config = config_of(model)
    ask(config)
    with pytest.raises(RuntimeError, match=word):
        create_predictor(config)


@pytest.mark.skipif(device.is_known("gpu"), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused_with_what_is_missing(model):
    config = config_of(model)
    config.enable_use_gpu(100, 0)
    with pytest.raises(RuntimeError, match="enable_use_gpu asks for what is not there.*(?i:gpu)"):
        create_predictor(config)
    assert config.fraction_of_gpu_memory_for_pool() == 0.0


def test_switches_of_gpus_need_one_that_was_asked_for(model):
    config = Config(f"{model}.pdmodel", f"{model}.pdiparams")
    with pytest.raises(RuntimeError, match="exp_enable_use_gpu_fp16: enable_use_gpu was not called.*Call enable_use_gpu"):
        config.exp_enable_use_gpu_fp16()
    config.enable_tensorrt_engine()
    with pytest.raises(RuntimeError, match="enable_tensorrt_engine asks for TensorRT, which runs on GPUs.*Call enable_use_gpu"):
        create_predictor(config)
    with pytest.raises(ValueError, match="got device_id=-1, expected a number >= 0"):
        config.enable_use_gpu(100, -1)
    with pytest.raises(ValueError, match="Got Int8, expected Float32, Half or Bfloat16"):
        config.enable_use_gpu(100, 0, PrecisionType.Int8)
    assert not config.use_gpu()


def test_a_gpu_that_was_taken_back_is_not_asked_for(model):
    config = Config(f"{model}.pdmodel", f"{model}.pdiparams")
    config.enable_use_gpu(100, 0)
    assert config.use_gpu()
    config.disable_gpu()
    create_predictor(config)


def test_the_number_of_threads_holds_for_the_run_alone(model):
    config = config_of(model)
    config.set_cpu_math_library_num_threads(1)
    before = wt.get_num_threads()
    answer(create_predictor(config), batch(2))
    assert wt.get_num_threads() == before
    with pytest.raises(ValueError, match=">= 1"):
        config.set_cpu_math_library_num_threads(0)


def test_time_per_op_is_measured_on_request(model):
    config = config_of(model)
    config.enable_profile()
    predictor = create_predictor(config)
    answer(predictor, batch(2))
    summary = predictor.profile_summary()
    assert "softmax" in summary and "calls" in summary


def test_a_hook_sees_every_value(model):
    predictor = create_predictor(config_of(model))
    seen = []
    predictor.register_output_hook(lambda op, name, value: seen.append((op, value.shape)))
    answer(predictor, batch(2))
    assert ("softmax", [2, 2]) in seen


def test_shapes_are_noted_on_request(model, tmp_path):
    config = config_of(model)
    file = tmp_path / "shapes.pbtxt"
    config.collect_shape_range_info(str(file))
    predictor = create_predictor(config)
    for n in (1, 4, 4):
        answer(predictor, batch(n))
    predictor._model.write_shapes()
    text = file.read_text()
    assert "min_shape: 1" in text and "max_shape: 4" in text and "opt_shape: 4" in text


def test_a_program_in_16_bits_is_near_and_its_weights_are_half(model, net, tmp_path):
    files = [str(tmp_path / name) for name in ("half.pdmodel", "half.pdiparams")]
    convert_to_mixed_precision(f"{model}.pdmodel", f"{model}.pdiparams", *files, PrecisionType.Half, PlaceType.GPU)
    predictor = create_predictor(Config(*files))
    np.testing.assert_allclose(answer(predictor, batch(4)), net(wt.to_tensor(batch(4))).numpy(), atol=5e-3)
    assert Path(files[1]).stat().st_size < Path(f"{model}.pdiparams").stat().st_size


def test_a_missing_file_and_an_empty_configuration_say_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        create_predictor(Config(str(tmp_path / "a.pdmodel"), str(tmp_path / "a.pdiparams")))
    with pytest.raises(ValueError, match="the Config names no model"):
        create_predictor(Config())
    with pytest.raises(FileNotFoundError, match="does not hold one model"):
        create_predictor(Config(str(tmp_path)))


def test_a_configuration_is_copied_and_shown(model):
    config = config_of(model)
    other = Config(config)
    other.switch_ir_optim(False)
    assert config.ir_optim() and not other.ir_optim()
    assert "net.pdmodel" in config.summary() and "ir_optim" in config.summary()
    create_predictor(config)


def test_kinds_have_the_numbers_of_paddle():
    assert [(kind.name, int(kind)) for kind in DataType][:3] == [("FLOAT32", 0), ("INT64", 1), ("INT32", 2)]
    assert PrecisionType.Half == 2 and PlaceType.CUSTOM == 4 and Config.Precision.Int8 == 1
    assert get_num_bytes_of_data_type(DataType.INT64) == 8
    assert get_version().startswith("version: ")


HERE = Path(__file__).parent


def compiled(source, target):
    """A C program, with the interpreter inside."""
    includes, library = sysconfig.get_paths()["include"], sysconfig.get_config_var("LIBDIR")
    libraries = [*sysconfig.get_config_var("LIBS").split(), *sysconfig.get_config_var("SYSLIBS").split()]
    subprocess.run([
        *sysconfig.get_config_var("CC").split(), "-O1", "-Wall", "-Werror", "-pthread", "-o", str(target), str(source), get_source(),
        f"-I{get_include()}", f"-I{includes}", f"-L{library}", f"-Wl,-rpath,{library}", "-rdynamic",
        f"-lpython{sysconfig.get_config_var('LDVERSION')}", *libraries, "-lm",
    ], check=True)
    return target


def run(*command):
    # The interpreter inside has to find the packages as this one does.
    paths = ":".join(p for p in sys.path if p)
    environment = {"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "PYTHONHOME": sys.base_prefix}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment, timeout=120)


def test_a_program_in_c_loads_a_model_and_predicts(model, net, tmp_path):
    program = compiled(HERE.parent / "examples" / "predict.c", tmp_path / "predict")
    done = run(program, f"{model}.pdmodel", f"{model}.pdiparams", "2,3")
    assert done.returncode == 0, done.stderr
    got = np.array(done.stdout.split(), "float32").reshape(2, 2)
    np.testing.assert_allclose(got, net(wt.ones([2, 3])).numpy(), atol=2e-6)
    for sizes in ("2,-13", "0,3", "2;3", "x", "99999999999", ",".join(["60000"] * 5)):
        refused = run(program, f"{model}.pdmodel", f"{model}.pdiparams", sizes)
        assert refused.returncode == 2 and "sizes do not fit" in refused.stderr, (sizes, refused)
    failed = run(program, "nowhere.pdmodel", "nowhere.pdiparams", "2,3")
    assert failed.returncode == 1 and "FileNotFoundError" in failed.stderr and "nowhere.pdmodel" in failed.stderr


def test_a_program_in_c_finds_the_packages_of_an_active_virtual_environment(model, tmp_path):
    program = compiled(HERE.parent / "examples" / "predict.c", tmp_path / "predict")
    import venv  # not a part of Python in the browser

    venv.create(tmp_path / "environment", with_pip=False)
    packages = next((tmp_path / "environment" / "lib").glob("python3*")) / "site-packages"
    (packages / "here.pth").write_text("\n".join(p for p in sys.path if p))
    entry_points = metadata.entry_points(group="wherry.kernels")
    (packages / "kernels-0.dist-info").mkdir()
    (packages / "kernels-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: kernels\nVersion: 0\n")
    lines = "".join(f"{one.name} = {one.value}\n" for one in entry_points)
    (packages / "kernels-0.dist-info" / "entry_points.txt").write_text(f"[wherry.kernels]\n{lines}")
    environment = {"VIRTUAL_ENV": str(tmp_path / "environment"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([program, f"{model}.pdmodel", f"{model}.pdiparams", "2,3"], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0 and len(done.stdout.split()) == 4, done.stderr


def test_four_threads_of_a_program_in_c_answer_from_clones(model, net, tmp_path):
    program = compiled(HERE.parent / "examples" / "threads.c", tmp_path / "threads")
    done = run(program, f"{model}.pdmodel", f"{model}.pdiparams", "2,3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1", "2", "3"]
    for t, line in enumerate(lines):
        got = np.array(line.split()[1:], "float32").reshape(2, 2)
        np.testing.assert_allclose(got, net(wt.full([2, 3], t / 2)).numpy(), atol=2e-6)
    failed = run(program, f"{model}.pdmodel", f"{model}.pdiparams", "2,4")
    assert failed.returncode == 1 and failed.stderr.count("[2, 4]") == 4


def test_errors_of_the_c_interface_say_what_is_wrong_and_belong_to_their_thread(model, tmp_path):
    program = compiled(HERE / "errors.c", tmp_path / "errors")
    done = run(program, f"{model}.pdmodel", f"{model}.pdiparams")
    assert done.returncode == 0, done.stderr
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    expected = {
        "8 bits on a gpu": "Got Int8", "no such gpu": "device_id=-1", "gpu and back": "worked",
        "threads": ">= 1", "create of nothing": "the Config names no model", "create without a configuration": "the configuration is missing",
        "create": "worked", "run without inputs": "Got none for ['x']", "handle of another name": "no such input",
        "handle without a name": "no such input", "another shape": "[2, 7]", "no shape": "the shape is missing",
        "no data": "the data is missing", "no tensor": "the tensor is missing", "another type": "int64", "another thread": "[]",
        "run without a predictor": "the object is missing", "input": "worked", "run": "worked",
    }
    assert told.keys() == expected.keys()
    for what, part in expected.items():
        assert part in told[what], (what, told[what])


@pytest.mark.parametrize("optimized", [True, False])
def test_a_squeezed_axis_stays_where_its_size_is_not_one(tmp_path, optimized):
    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        program.fetches = [wt.squeeze(x, 0) * nn.Linear(1, 3).bias + 1]
    save_model(str(tmp_path / "net"), program)
    as_paddle_writes(str(tmp_path / "net.pdmodel"))
    config = config_of(tmp_path / "net")
    config.switch_ir_optim(optimized)
    predictor = create_predictor(config)
    twin = predictor.clone()
    for n in (2, 1, 2, 3):
        for one in (predictor, twin):
            assert answer(one, batch(n)).tolist() == np.ones([3] if n == 1 else [n, 3]).tolist()


def test_passes_of_a_predictor_wait_for_the_first_run_of_any_clone(model, net, monkeypatch):
    made = []  # on the cpu, wherever tests run: elsewhere a predictor is made ready at once
    prepared = predictors._Model._prepared
    monkeypatch.setattr(predictors._Model, "_prepared", lambda self, program: made.append(program) or prepared(self, program))
    predictor = create_predictor(Config(f"{model}.pdmodel", f"{model}.pdiparams"))
    clones = [predictor.clone() for _ in range(4)]
    assert predictor.get_input_names() == ["x"] and not made
    found = {}
    threads = [threading.Thread(target=lambda i=i, one=one: found.update({i: answer(one, batch(3))})) for i, one in enumerate(clones)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(found) == 4
    for y in found.values():
        np.testing.assert_allclose(y, net(wt.to_tensor(batch(3))).numpy(), atol=2e-6)
    config = Config(f"{model}.pdmodel", f"{model}.pdiparams")
    config.switch_ir_debug(True)  # who wants to see what passes do sees it at once
    create_predictor(config)
    assert len(made) == 2


def test_a_predictor_that_never_runs_goes_with_its_last_name(model):
    predictor = create_predictor(config_of(model))
    seen = weakref.ref(predictor._model)
    del predictor
    assert seen() is None
