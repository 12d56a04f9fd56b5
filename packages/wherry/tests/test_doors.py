"""Paths inside Paddle that libraries import from."""
from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import wherry
from wherry import _doors

REFUSED = {(path, name) for _, table in _doors.REFUSED for path, names, _ in _doors._lines(table) for name in names}


def marked(path, *more):
    """A case; those of compilers are left out in a browser."""
    skip = pytest.mark.skipif(sys.platform == "emscripten" and "cpp_extension" in path, reason="there is no compiler in a browser")
    return pytest.param(path, *more, marks=skip)


@pytest.mark.parametrize("module", map(marked, _doors.modules()))
def test_every_path_can_be_imported(module):
    importlib.import_module(module)


NAMED = [(path, name.partition("=")[0]) for path, names, _ in _doors._lines(_doors.NAMES) for name in names]


@pytest.mark.parametrize(("path", "name"), [marked(*each) for each in NAMED])
def test_every_name_of_the_table_is_behind_its_door(path, name):
    module = importlib.import_module(f"wherry.{path}".rstrip("."))
    assert getattr(module, name) is _doors.find(path, name)


def test_modules_offer_the_names_of_their_package():
    names: dict[str, object] = {}
    exec("from wherry.nn.layer.norm import *", names)
    assert names["BatchNorm2D"] is wherry.nn.BatchNorm2D
    assert wherry.optimizer.adam.Adam is wherry.optimizer.Adam
    assert wherry.vision.datasets.cifar.Cifar10 is wherry.vision.datasets.Cifar10
    assert "Cifar10" in dir(wherry.vision.datasets.cifar)


@pytest.mark.parametrize(("path", "name"), sorted(REFUSED))
def test_what_is_not_there_says_so_when_it_is_called(path, name):
    kind = getattr(importlib.import_module(f"wherry.{path}"), name)
    with pytest.raises(NotImplementedError, match=rf"paddle\..*\.{name} is not there\. Got .*, expected "):
        kind()


def test_what_is_not_there_can_be_a_base_and_be_asked_for():
    class Reader(wherry.distributed.BoxPSDataset):
        pass

    assert not isinstance(wherry.nn.Linear(2, 2), wherry.distributed.fleet.meta_parallel.PipelineLayer)
    with pytest.raises(NotImplementedError, match="BoxPSDataset"):
        Reader()


def test_a_module_leaves_the_function_of_its_name():
    program = (
        "import wherry.alias, paddle, paddle.amp.auto_cast, paddle.tensor.einsum\n"
        "from paddle.amp.auto_cast import amp_state\n"
        "assert not isinstance(paddle.amp.auto_cast, type(paddle)) and not isinstance(paddle.tensor.einsum, type(paddle))\n"
        "with paddle.amp.auto_cast(level='O2', dtype='bfloat16'):\n"
        "    state = amp_state()\n"
        "print(state['level'], state['dtype'], amp_state())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "O2 bfloat16 None\n", done.stderr


def test_the_tables_are_not_read_by_the_facade():
    program = "import sys, wherry; x = wherry.ones([2]) + 1; print('wherry._doors' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"


def test_dtypes_stand_where_paddles_enumeration_has_them():
    types = wherry.framework.core.VarDesc.VarType
    assert types.FP32 is wherry.float32 and types(5) is wherry.float32 and isinstance(wherry.int8, types)
    assert int(types.LOD_TENSOR) == 7 and isinstance(types.LOD_TENSOR, types)
    with pytest.raises(AttributeError, match="there is no FP8"):
        types.FP8  # noqa: B018


def test_operators_are_called_by_name():
    x, y = wherry.to_tensor([[1.0, 2.0]]), wherry.to_tensor([[3.0, 4.0]])
    assert wherry._C_ops.matmul(x, y, False, True).tolist() == [[11.0]]
    assert wherry._legacy_C_ops.matmul_v2(x, y, "trans_y", True).tolist() == [[11.0]]
    assert "matmul" in dir(wherry._C_ops) and len(dir(wherry._C_ops)) > 300
    with pytest.raises(NotImplementedError, match="Did you mean 'matmul'"):
        wherry._C_ops.matmull(x, y)
    with pytest.raises(TypeError, match="it takes 4 arguments. Got 5"):
        wherry._C_ops.matmul(x, y, False, True, 3)
    with pytest.raises(TypeError, match="Y is not a Tensor"):
        wherry._C_ops.matmul(x, 3)
    with pytest.raises(TypeError, match="an attribute has no value"):
        wherry._legacy_C_ops.matmul_v2(x, y, "trans_y")


def test_operators_in_place_write_over_what_they_are_given():
    x = wherry.to_tensor([-1.0, 4.0])
    assert wherry._C_ops.relu_(x) is x and x.tolist() == [0.0, 4.0]
    assert wherry._C_ops.sqrt_(x) is x and x.tolist() == [0.0, 2.0]
    assert wherry._C_ops.unsqueeze_(x, [0]) is x and x.shape == [1, 2]


def test_operators_in_place_have_the_gradient_of_the_values_before():
    x = wherry.to_tensor([0.5, 2.0], stop_gradient=False)
    y = x * 1.0
    wherry._C_ops.square_(y)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]
    with pytest.raises(ValueError, match="leaf"):
        wherry._C_ops.square_(x)


def test_updates_are_operators_in_place_of_parameters_that_ask_for_gradients():
    param = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
    wherry._C_ops.sgd_(param, wherry.to_tensor(0.5), wherry.to_tensor([1.0, -2.0]), None, False)
    assert param.tolist() == [0.5, 3.0]


def test_an_update_in_float16_keeps_the_digits_of_its_copy():
    param, master = wherry.to_tensor([1.0], "float16"), wherry.to_tensor([1.0])
    for _ in range(3):
        wherry._C_ops.sgd_(param, wherry.to_tensor(1e-4), wherry.to_tensor([1.0], "float16"), master, True)
    assert master.item() == pytest.approx(0.9997) and param.dtype == wherry.float16



def test_layer_helper_makes_parameters_and_computes():
    helper = wherry.common_ops_import.LayerHelper("my", input=wherry.ones([2, 3]), act="relu")
    weight = helper.create_parameter(None, [3, 2])
    assert weight.name.startswith("my_") and weight.shape == [3, 2] and helper.input_dtype() == wherry.float32
    out = helper.create_variable_for_type_inference("float32")
    helper.append_op(type="matmul_v2", inputs={"X": helper.input(), "Y": weight}, outputs={"Out": out}, attrs={"trans_x": False})
    assert out.shape == [2, 2] and (helper.append_activation(out) >= 0).all()
    assert wherry.nn.Linear(2, 2)._helper.get_default_dtype() == "float32"


def test_recompute_gives_the_gradients_and_the_random_numbers_of_the_first_time():
    wherry.seed(3)
    layer = wherry.nn.Sequential(wherry.nn.Linear(4, 4), wherry.nn.Dropout(0.5), wherry.nn.Linear(4, 4))
    x = wherry.rand([5, 4])
    x.stop_gradient = False
    state, grads = wherry.get_rng_state(), []
    for call in (layer, lambda x: wherry.distributed.fleet.utils.recompute(layer, x)):
        wherry.set_rng_state(state)
        call(x).square().sum().backward()
        grads.append([x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())])
        x.clear_grad()
        layer.clear_gradients()
    assert all((a == b).all() for a, b in zip(*grads))


def test_collectives_of_one_process_give_what_it_has():
    x, found = wherry.to_tensor([1.0, 2.0]), []
    distributed = wherry.distributed
    distributed.all_reduce(x)
    distributed.all_gather(found, x)
    assert x.tolist() == [1.0, 2.0] and [y.tolist() for y in found] == [[1.0, 2.0]]
    objects: list[object] = []
    distributed.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    distributed.barrier()
    with pytest.raises(ValueError, match="dst is not a rank of the group"):
        distributed.send(x, 1)


def test_collectives_of_several_processes_want_them_joined(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(RuntimeError, match="Call paddle.distributed.init_parallel_env\\(\\) first"):
        wherry.distributed.all_reduce(wherry.ones([1]))


def test_fleet_of_one_process_leaves_model_and_optimizer():
    fleet = wherry.distributed.fleet
    strategy = fleet.DistributedStrategy()
    strategy.amp = True
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1}
    fleet.init(is_collective=True, strategy=strategy)
    layer = wherry.nn.Linear(2, 2)
    optimizer = wherry.optimizer.SGD(parameters=layer.parameters())
    assert fleet.distributed_model(layer) is layer and fleet.distributed_optimizer(optimizer) is optimizer
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()) == (0, 1, True)
    assert fleet.get_hybrid_communicate_group().get_model_parallel_world_size() == 1
    strategy.hybrid_configs = {"mp_degree": 2}
    with pytest.raises(ValueError, match="mp_degree=2|mp=2"):
        fleet.init(is_collective=True, strategy=strategy)


def test_random_states_have_names():
    tracker = wherry.distributed.fleet.meta_parallel.get_rng_state_tracker()
    tracker.reset()
    tracker.add("a", 3)
    with tracker.rng_state("a"):
        first = wherry.rand([2]).tolist()
    with tracker.rng_state("a"):
        second = wherry.rand([2]).tolist()
    wherry.seed(3)
    assert wherry.rand([4]).tolist()[:2] == first != second
    with pytest.raises(ValueError, match="state b does not exist"), tracker.rng_state("b"):
        pass
    tracker.reset()


def test_archives_are_unpacked_beside_themselves(tmp_path):
    import tarfile
    import zipfile

    from wherry.utils.download import _decompress

    (tmp_path / "inside.txt").write_text("text")
    with tarfile.open(tmp_path / "one.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "inside.txt", "folder/inside.txt")
    assert (tmp_path / "folder" / "inside.txt").exists() is False
    assert _decompress(str(tmp_path / "one.tar.gz")) == str(tmp_path / "folder")
    assert (tmp_path / "folder" / "inside.txt").read_text() == "text"
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.txt", "a")
        archive.writestr("b.txt", "b")
    assert _decompress(str(tmp_path / "two.zip")) == str(tmp_path / "two")
    assert (tmp_path / "two" / "b.txt").read_text() == "b"
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        archive.add(tmp_path / "inside.txt", "../outside.txt")
    with pytest.raises(ValueError, match="what an archive of data has not"):
        _decompress(str(tmp_path / "bad.tar"))


def test_arrays_of_tensors_grow_by_one():
    array = wherry.tensor.create_array("float32")
    array = wherry.tensor.array_write(wherry.ones([2]), wherry.to_tensor(0), array)
    array = wherry.tensor.array_write(wherry.zeros([2]), wherry.to_tensor(1), array)
    assert wherry.tensor.array_length(array) == 2 and wherry.tensor.array_read(array, wherry.to_tensor(0)).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="Got 5, expected at most 2"):
        wherry.tensor.array_write(wherry.ones([2]), wherry.to_tensor(5), array)


def test_variables_of_a_program_go_into_files_and_back(tmp_path):
    wherry.enable_static()
    try:
        main, startup = wherry.static.Program(), wherry.static.Program()
        with wherry.static.program_guard(main, startup):
            x = wherry.static.data("x", [None, 2])
            out = wherry.nn.Linear(2, 3)(x)
        feed = {"x": np.ones([1, 2], "float32")}
        executor = wherry.static.Executor()
        executor.run(startup)
        (before,) = executor.run(main, feed=feed, fetch_list=[out])
        for filename in (None, "all"):
            wherry.static.save_vars(executor, str(tmp_path), main, filename=filename)
            main.set_state_dict({name: np.zeros(value.shape, "float32") for name, value in main.state_dict().items()})
            assert (executor.run(main, feed=feed, fetch_list=[out])[0] == 0).all()
            wherry.static.load_vars(executor, str(tmp_path), main, filename=filename)
            assert (executor.run(main, feed=feed, fetch_list=[out])[0] == before).all()
    finally:
        wherry.disable_static()


def test_path_whose_late_names_need_setuptools_can_be_imported_without_it():
    program = """
import sys
sys.modules["setuptools"] = None  # as where it is not installed
import wherry.utils.cpp_extension.cpp_extension as path
assert path.load is wherry.utils.cpp_extension.load
try:
    path.BuildExtension
except ModuleNotFoundError as error:
    assert error.name.startswith("setuptools"), error.name
else:
    raise SystemExit("BuildExtension was made without setuptools")
"""
    subprocess.run([sys.executable, "-c", "import wherry\n" + program], check=True)


def test_what_files_of_paddle_import_themselves_is_found_in_each():
    import wherry
    from wherry import vision
    from wherry.device import core, framework
    from wherry.nn.functional.common import LayerHelper, check_variable_and_dtype, in_dynamic_mode
    from wherry.tensor.manipulation import Variable

    assert vision.ops._C_ops is wherry._C_ops and framework.Parameter is wherry.base.framework.Parameter and core is wherry.base.core
    assert in_dynamic_mode() and Variable is wherry.static.Variable and LayerHelper and check_variable_and_dtype
    for package in (wherry.nn, wherry.nn.functional, wherry.vision.models, wherry.static):  # whose __init__ imports none of them
        assert not hasattr(package, "LayerHelper") and not hasattr(package, "in_dygraph_mode"), package
