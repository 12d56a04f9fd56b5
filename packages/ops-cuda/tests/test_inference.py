"""`paddle.inference` on the GPU: predictors whose programs run there, against those of the CPU."""
import ast
import gc
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_infer import Config, PlaceType, PrecisionType, PredictorPool, convert_to_mixed_precision, create_predictor
from wherry_paddle_files.models import save_model
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_tensor import cuda, device, float32, ops

pytestmark = pytest.mark.filterwarnings("error:.*has no kernel for it.*")


def _saved(net, shape, folder):
    net.eval()
    program = Program()
    x = program.feed(shape, float32, "x")
    with capture(program):
        program.fetches = [net(x)]
    prefix = str(folder / "net")
    save_model(prefix, program)
    return prefix


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A small network of images, with what conversions look for: normalization after a convolution, and an activation."""
    wt.seed(3)
    net = nn.Sequential(
        nn.Conv2D(2, 16, 3), nn.BatchNorm2D(16), nn.ReLU(), nn.Conv2D(16, 16, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(),
        nn.Linear(64, 5), nn.Softmax(),
    )
    return _saved(net, [-1, 2, 8, 8], tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    wt.seed(4)
    return _saved(nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)), [-1, 3], tmp_path_factory.mktemp("rows"))


def _config(prefix, gpu=True, **options):
    config = Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    if gpu:
        config.enable_use_gpu(100, 0, **options)
    return config


def _answer(predictor, x):
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def _batch(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def _on_cpu(prefix, x):
    return _answer(create_predictor(_config(prefix, gpu=False)), x)


@pytest.mark.parametrize("current", ["cpu", "gpu"])
def test_a_predictor_runs_where_its_configuration_says_whatever_the_current_device_is(gpu, images, current):
    wt.set_device(current)
    x = _batch(3, 2, 8, 8)
    on_gpu, on_cpu = create_predictor(_config(images)), create_predictor(_config(images, gpu=False))
    np.testing.assert_allclose(_answer(on_gpu, x), _answer(on_cpu, x), rtol=0, atol=1e-5)
    for predictor, place in ((on_gpu, "Place(gpu:0)"), (on_cpu, "Place(cpu)")):
        assert {repr(w.bound.place) for w in predictor._model.program.bound_variables()} == {place}
        (y,) = predictor.run([wt.to_tensor(x)])
        assert repr(y.place) == place
    assert wt.get_device().partition(":")[0] == current


def test_what_a_program_makes_of_nothing_is_made_on_its_device(gpu, tmp_path):
    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        program.fetches = [x + wt.arange(3, dtype="float32") + wt.zeros([x.shape[0], 3]), wt.full([2], 7.0)]
    save_model(str(tmp_path / "net"), program)
    wt.set_device("cpu")
    config = _config(str(tmp_path / "net"))
    config.switch_ir_optim(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # sizes in files are int32, for which few dtypes have no kernel
        y, sevens = create_predictor(config).run([wt.ones([2, 3])])
    assert y.numpy().tolist() == [[1, 2, 3], [1, 2, 3]]
    assert sevens.numpy().tolist() == [7, 7]
    assert repr(sevens.place) == "Place(gpu:0)"


def test_a_tensor_of_the_gpu_is_read_where_it_lies(gpu, rows):
    predictor = create_predictor(_config(rows))
    x = wt.to_tensor(_batch(2, 3))
    handle = predictor.get_input_handle("x")
    handle.share_external_data(x)
    predictor.run()
    assert handle._value is x
    first = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    x.multiply_(wt.to_tensor(2.0))  # seen by the next run
    predictor.run()
    again = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(first, _on_cpu(rows, _batch(2, 3)), rtol=0, atol=1e-5)
    np.testing.assert_allclose(again, _on_cpu(rows, 2 * _batch(2, 3)), rtol=0, atol=1e-5)


def test_run_waits_for_nobody_and_copy_to_cpu_waits(gpu, emulator, rows):
    predictor = create_predictor(_config(rows))
    predictor.get_input_handle("x").copy_from_cpu(_batch(2, 3))
    cuda.synchronize()
    before = emulator.counts.launches
    predictor.run()
    assert emulator.counts.launches == before
    predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    assert emulator.counts.launches > before


def test_a_stream_that_is_given_runs_the_program_in_order_with_the_current_one(gpu, rows):
    stream = cuda.Stream(0)
    config = _config(rows)
    config.set_exec_stream(stream)
    assert config.external_stream_enabled()
    assert Config(config).get_exec_stream() is stream
    predictor = create_predictor(config)
    x = _batch(2, 3)
    expected = _on_cpu(rows, x)
    np.testing.assert_allclose(_answer(predictor, x), expected, rtol=0, atol=1e-5)
    (y,) = predictor.run([wt.to_tensor(x / 4) * 4.0])  # which the current stream has still to compute
    np.testing.assert_allclose((y + 0).numpy(), expected, rtol=0, atol=1e-5)  # and then it goes on with the result
    assert device.current_stream("gpu:0") != stream


def test_a_stream_of_nothing_that_was_asked_for_is_refused(gpu, rows):
    config = _config(rows, gpu=False)
    with pytest.raises(RuntimeError, match="set_exec_stream: enable_use_gpu was not called"):
        config.set_exec_stream(cuda.Stream(0))
    config = _config(rows)
    with pytest.raises(TypeError, match="set_exec_stream: argument 'stream' must be of the class Stream"):
        config.set_exec_stream(3)
    config.enable_use_gpu(100, 7)
    with pytest.raises(ValueError, match="Got one of Place\\(gpu:0\\), expected one of gpu:7"):
        config.set_exec_stream(cuda.Stream(0))
    with pytest.raises(ValueError, match=r"create_predictor: there is no such device. Got 'gpu:7', expected a number in \[0, 1\)"):
        create_predictor(config)


def test_threads_answer_from_a_pool_each_on_a_stream_of_its_own(gpu, rows):
    pool = PredictorPool(_config(rows), 3)
    assert len({pool.retrive(i)._home.stream for i in range(3)}) == 3
    expected = [_on_cpu(rows, _batch(1 + i, 3, seed=i)) for i in range(3)]
    wrong = []

    def work(i):
        for _ in range(4):
            if not np.allclose(_answer(pool.retrive(i), _batch(1 + i, 3, seed=i)), expected[i], atol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_clone_takes_a_stream_and_outlives_the_predictor_that_it_comes_from(gpu, rows):
    predictor = create_predictor(_config(rows))
    stream = cuda.Stream(0)
    clone = predictor.clone(stream)
    del predictor
    assert clone._home.stream is stream
    np.testing.assert_allclose(_answer(clone, _batch(2, 3)), _on_cpu(rows, _batch(2, 3)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("precision", [PrecisionType.Half, PrecisionType.Bfloat16])
def test_a_program_in_16_bits_has_weights_that_were_cast_once(gpu, images, precision):
    if precision is PrecisionType.Bfloat16 and "bfloat16" not in ops.exp.kernel_dtypes("gpu"):
        pytest.skip("these kernels were compiled without bfloat16, which is computed as float16 is: WHERRY_CUDA_ALL_DTYPES=1 compiles it")
    predictor = create_predictor(_config(images, precision_mode=precision))
    x = _batch(2, 2, 8, 8)
    near = _answer(predictor, x)
    # Probabilities from sums of some hundred products, of numbers of three digits.
    np.testing.assert_allclose(near, _on_cpu(images, x), rtol=0, atol=2e-2)
    assert near.dtype == np.float32
    nodes = predictor._model.program.nodes
    narrow = "float16" if precision is PrecisionType.Half else "bfloat16"
    products = [node for node in nodes if node.type in ("conv2d", "matmul", "linear")]
    assert len(products) == 3
    assert {node.inputs[1].bound.dtype.name for node in products} == {narrow}
    assert not any(node.type == "cast" and node.inputs[0].bound is not None for node in nodes)


def test_ops_of_the_black_list_stay_in_float32(gpu, images):
    config = _config(images)
    config.exp_enable_use_gpu_fp16({"matmul"})
    assert config.gpu_fp16_enabled()
    predictor = create_predictor(config)
    kinds = {node.type: node.inputs[1].bound.dtype.name for node in predictor._model.program.nodes if node.type in ("conv2d", "matmul", "linear")}
    assert kinds.pop("conv2d") == "float16"
    assert set(kinds.values()) == {"float32"}
    np.testing.assert_allclose(_answer(predictor, _batch(2, 2, 8, 8)), _on_cpu(images, _batch(2, 2, 8, 8)), rtol=0, atol=2e-2)


def test_inputs_and_outputs_of_16_bits(gpu, rows):
    config = _config(rows, precision_mode=PrecisionType.Half)
    config.enable_low_precision_io()
    predictor = create_predictor(config)
    x = _batch(2, 3)
    y = _answer(predictor, x.astype("float16"))
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype("float32"), _on_cpu(rows, x), rtol=0, atol=2e-2)


def test_a_model_that_was_converted_to_16_bits_runs_there(gpu, rows, tmp_path):
    files = [str(tmp_path / name) for name in ("half.pdmodel", "half.pdiparams")]
    convert_to_mixed_precision(f"{rows}.pdmodel", f"{rows}.pdiparams", *files, PrecisionType.Half, PlaceType.GPU)
    config = Config(*files)
    config.enable_use_gpu(100, 0)
    np.testing.assert_allclose(_answer(create_predictor(config), _batch(4, 3)), _on_cpu(rows, _batch(4, 3)), rtol=0, atol=2e-2)


def test_time_per_op_is_that_of_the_kernels(gpu, rows):
    config = _config(rows)
    config.enable_profile()
    predictor = create_predictor(config)
    _answer(predictor, _batch(2, 3))
    assert "layer_norm" in predictor.profile_summary()


def test_what_a_configuration_says_of_the_gpu(gpu, rows):
    config = _config(rows)
    config.enable_use_gpu(256, 0)
    assert (config.use_gpu(), config.gpu_device_id(), config.memory_pool_init_size_mb()) == (True, 0, 256)
    assert config.fraction_of_gpu_memory_for_pool() == 256 * 2**20 / cuda.get_device_properties(0).total_memory
    assert "gpu:0" in config.summary()
    config.exp_enable_use_gpu_fp16()
    config.disable_gpu()
    assert (config.use_gpu(), config.fraction_of_gpu_memory_for_pool(), config.gpu_fp16_enabled()) == (False, 0.0, False)
    assert "Float32" in config.summary()


def test_memory_that_a_predictor_keeps_is_given_back_on_request(gpu, rows):
    gc.collect()  # variables of a program are parts of cycles
    before = cuda.memory_allocated()
    predictor = create_predictor(_config(rows))
    _answer(predictor, _batch(2, 3))
    assert predictor.try_shrink_memory() >= 0
    del predictor
    gc.collect()
    assert cuda.memory_allocated() == before


_SECOND = """
import sys
import numpy as np
import wherry_tensor as wt
import wherry_ops_cpu.column, wherry_ops_cuda.column
from wherry_infer import Config, create_predictor
wherry_ops_cpu.column.register()
wherry_ops_cuda.column.register()
wt.set_device("gpu:0")
config = Config(f"{sys.argv[1]}.pdmodel", f"{sys.argv[1]}.pdiparams")
config.enable_use_gpu(100, 1)
first = create_predictor(config)
for predictor in (first, first.clone()):
    (y,) = predictor.run([wt.ones([2, 3])])  # of the first GPU
    print(y.place, y.numpy().tolist())
print(wt.ones([1]).place)
"""


def test_a_predictor_runs_on_the_second_gpu_while_the_first_is_the_current_one(emulator, rows):
    environment = {**os.environ, "CUDA_EMULATOR_DEVICES": "2"}
    done = subprocess.run([sys.executable, "-c", _SECOND, rows], capture_output=True, text=True, env=environment, check=True)
    *answers, last = done.stdout.splitlines()
    expected = _on_cpu(rows, np.ones((2, 3), "float32"))
    for line in answers:
        place, _, values = line.partition(" ")
        assert place == "Place(gpu:1)"
        np.testing.assert_allclose(ast.literal_eval(values), expected, rtol=0, atol=1e-5)
    assert len(answers) == 2
    assert last == "Place(gpu:0)"
