"""Names of Paddle that are not here yet, names of other libraries, and misspelled ones."""
import importlib
import inspect
import subprocess
import sys
import warnings

import pytest

import wherry


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("wherry.nn.BatchNorm2d", "module 'wherry.nn' has no attribute 'BatchNorm2d'. Did you mean 'BatchNorm2D'?"),
        ("wherry.movedim", "Did you mean 'moveaxis'?"),
        ("wherry.matmull", "Did you mean 'matmul'?"),
        ("wherry.relu", "Did you mean 'nn.functional.relu'?"),
        ("wherry.optimizer.lr.StepLR", "Did you mean 'StepDecay'?"),
        ("wherry.nn.initializer.kaiming_normal_", "Did you mean 'KaimingNormal'?"),
        ("wherry.async_save", "wherry.async_save: Paddle has it, but no package of Wherry"),
        ("wherry.static.Progam", "Did you mean 'Program'?"),
        ("wherry.async_save", "Use wherry.save"),
        ("wherry.optim", "Did you mean 'optimizer'?"),
        ("wherry.utils.data", "Use wherry.io: DataLoader, Dataset"),
        ("wherry.vmap", "There is none: write the function for a whole batch"),
        ("wherry.inference_mode", "Did you mean 'no_grad'?"),
        ("wherry.compile", "Did you mean 'jit.to_static'?"),
        ("wherry.jit.script", "Did you mean 'to_static'?"),
        ("wherry.nn.Dense", "Did you mean 'Linear'?"),
        ("wherry.optimizer.SGD(parameters=[wherry.ones([1])]).zero_grad", "Did you mean 'clear_grad'?"),
        ("wherry.zork", "module 'wherry' has no attribute 'zork'."),
    ],
)
def test_a_missing_attribute_is_explained(expression, said):
    with pytest.raises(AttributeError) as caught:
        eval(expression)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("from wherry import async_save", "wherry.async_save: Paddle has it"),
        ("from wherry.nn import BatchNorm2d", "Did you mean 'BatchNorm2D'?"),
        ("import wherry.fluid", "Use wherry.nn"),
        ("import wherry.zork", "No module named 'wherry.zork'"),
        ("from wherry.linalg import nrom", "module 'wherry.linalg' has no attribute 'nrom'. Did you mean 'norm'?"),
        ("from wherry.vision.models import LeNt", "Did you mean 'LeNet'?"),
        ("from wherry.utils.dlpack import from_dlpac", "Did you mean 'from_dlpack'"),
        ("from wherry.tensor.math import ad", "module 'wherry.tensor.math' has no attribute 'ad'"),
        ("from wherry import zork", "cannot import name 'zork' from 'wherry'"),
    ],
)
def test_a_missing_import_is_explained(statement, said):
    with pytest.raises(ImportError) as caught:
        exec(statement)
    assert said in str(caught.value)


def test_the_screen_says_it_once():
    done = subprocess.run([sys.executable, "-c", "from wherry import async_save"], capture_output=True, text=True)
    assert done.stderr.count("wherry.async_save: Paddle has it") == 1


def test_what_is_not_there_can_be_tried():
    with pytest.raises(AttributeError):
        _ = wherry.async_save
    assert not hasattr(wherry, "async_save") and getattr(wherry, "async_save", None) is None


def test_the_module_of_tensors_makes_one_when_it_is_called():
    assert wherry.tensor([1, 2]).tolist() == [1, 2]
    assert not wherry.tensor([1.0], requires_grad=True).stop_gradient
    with pytest.raises(TypeError, match="unexpected keyword argument 'zork'"):
        wherry.tensor([1], zork=2)


def test_paths_inside_paddle_lead_to_the_same_names():
    from wherry.framework import seed
    from wherry.nn.layer.norm import LayerNorm
    from wherry.tensor.linalg import norm
    from wherry.tensor.math import add

    assert add is wherry.add and LayerNorm is wherry.nn.LayerNorm and seed is wherry.seed and norm is wherry.linalg.norm


def test_one_process_is_the_whole_world(monkeypatch):
    distributed = wherry.distributed
    assert (distributed.get_rank(), distributed.get_world_size(), distributed.is_initialized()) == (0, 1, False)
    environment = distributed.ParallelEnv()
    assert (environment.rank, environment.nranks, environment.local_rank) == (0, 1, 0)
    with pytest.warns(UserWarning, match="nothing is to be done"):
        distributed.init_parallel_env()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    assert (distributed.get_rank(), distributed.get_world_size(), distributed.ParallelEnv().rank) == (2, 4, 2)


def test_data_parallel_of_one_process_has_the_state_of_its_layer():
    layer = wherry.nn.Linear(3, 2)
    with pytest.warns(UserWarning, match="one process alone"):
        parallel = wherry.DataParallel(layer, find_unused_parameters=True)
    x = wherry.ones([1, 3])
    assert (parallel(x) == layer(x)).all() and list(parallel.state_dict()) == ["weight", "bias"]
    assert parallel.set_state_dict(layer.state_dict()) == ([], [])
    with parallel.no_sync():
        loss = parallel(x).sum()
    assert parallel.scale_loss(loss) is loss


def test_functions_are_kept_out_of_graphs_and_made_into_them():
    @wherry.jit.not_to_static
    def plain(x):
        return x

    @wherry.jit.not_to_static()
    def called(x):
        return x

    assert plain(1) == called(1) == 1
    assert wherry.jit.to_static(lambda x: plain(x) * 2)(wherry.ones([])).item() == 2.0


def test_input_specs_are_paddles():
    spec = wherry.static.InputSpec([None, 3], "float32", "x")
    assert repr(spec) == "InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)"
    assert spec == wherry.static.InputSpec((-1, 3), name="x") and hash(spec) == hash(wherry.static.InputSpec((-1, 3), name="x"))
    assert wherry.static.InputSpec([3]).batch(4).shape == (4, 3) and wherry.static.InputSpec([4, 3]).unbatch().shape == (3,)
    x = wherry.ones([2, 3])
    assert wherry.static.InputSpec.from_tensor(x, "y").name == "y" and wherry.static.InputSpec.from_tensor(x).shape == (2, 3)
    assert wherry.static.InputSpec.from_numpy(x.numpy()).dtype is wherry.float32


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: wherry.static.InputSpec(3), "Write \\[None, 3\\]"),
        (lambda: wherry.static.InputSpec(["a"]), "not a size"),
        (lambda: wherry.static.InputSpec([]).unbatch(), "no first axis"),
        (lambda: wherry.static.InputSpec([2]).batch("a"), "an int"),
        (lambda: wherry.static.InputSpec.from_tensor(3), "to_tensor"),
    ],
)
def test_wrong_specs_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_alias_of_wherry_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import wherry.framework
        import wherry.nn.layer  # noqa: F401


@pytest.mark.parametrize(
    "call",
    [
        lambda: wherry.DataParallel(3),
        lambda: wherry.static.InputSpec.from_numpy(3),
    ],
)
def test_an_argument_of_another_kind_is_a_type_error(call):
    with pytest.raises(TypeError, match=r"Got 3 \(int\), expected"):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: wherry.io.DataLoader([1], pin_memory=True), "Leave it out: with a GPU"),
        (lambda: wherry.nn.Linear(2, 2).train(False, 1), "write layer.eval()"),
        (lambda: wherry.optimizer.SGD(momentum=0.9), "Use optimizer.Momentum"),
    ],
)
def test_arguments_of_other_libraries_are_explained(call, said):
    with pytest.raises(TypeError) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize("path", ["sparse.nn", "sparse.nn.functional", "distribution.transform", "nn.functional"])
def test_a_module_of_the_facade_is_its_own(path):
    module = importlib.import_module(f"wherry.{path}")
    parent, _, name = module.__name__.rpartition(".")
    assert getattr(sys.modules[parent], name) is module
    functions = {name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert functions <= set(module.__all__)
