"""Folders as Paddle 1 saved models: `__model__`, with a file for each parameter or one for all."""
import numpy as np
import pytest

import wherry
from wherry.inference import Config, create_predictor
from wherry_paddle_files.models import load_model
from wherry_paddle_files.params import save_separate_params


@pytest.fixture(params=[None, "__params__"], ids=["a file for each", "one file"])
def folder(request, tmp_path):
    """The folder of a small network, what the file of its parameters is called, and the network."""
    net = wherry.nn.Sequential(wherry.nn.Linear(3, 4), wherry.nn.ReLU(), wherry.nn.Linear(4, 2))
    wherry.jit.save(net, str(tmp_path / "net"), input_spec=[wherry.static.InputSpec([None, 3], "float32", "x")])
    where = tmp_path / "folder"
    where.mkdir()
    program = load_model(str(tmp_path / "net"))
    (tmp_path / "net.pdmodel").rename(where / "__model__")
    if request.param is None:
        # The mark of the program belongs to the file that it was saved with.
        wherry.static.save_to_file(str(where / "__model__"), _unmarked((where / "__model__").read_bytes()))
        save_separate_params(str(where), {x.name: x.bound for x in program.bound_variables() if x.persistable})
    else:
        (tmp_path / "net.pdiparams").rename(where / request.param)
    return str(where), request.param, net


def _unmarked(data):
    from wherry_paddle_files import desc

    program = desc.parse(data)
    program.params_mark = None
    return desc.serialize(program)


def test_it_is_loaded_as_a_layer_by_a_predictor_and_as_a_program(folder):
    where, params, net = folder
    x = wherry.randn([2, 3])
    options = {} if params is None else {"params_filename": params}
    np.testing.assert_allclose(wherry.jit.load(where, **options)(x).numpy(), net(x).numpy(), rtol=1e-5)
    [y] = create_predictor(Config(where)).run([x])
    np.testing.assert_allclose(y.numpy(), net(x).numpy(), rtol=1e-5)
    expected = net(x).numpy()
    wherry.enable_static()
    try:
        executor = wherry.static.Executor()
        for more in ({}, {"model_filename": "__model__"}):
            program, [name], fetches = wherry.static.load_inference_model(where, executor, **options, **more)
            np.testing.assert_allclose(executor.run(program, {name: x.numpy()}, fetches)[0], expected, rtol=1e-5)
    finally:
        wherry.disable_static()


def test_its_values_are_loaded_by_name(folder):
    where, params, net = folder
    found = wherry.load(where, **({} if params is None else {"params_filename": params}))
    expected = {value.name: value.numpy() for value in net.state_dict().values()}
    assert {name: value.shape for name, value in found.items()} == {name: value.shape for name, value in expected.items()}


def test_a_folder_of_parameters_alone_is_loaded(tmp_path):
    save_separate_params(str(tmp_path), {"w": wherry.ones([2, 3]), "b": wherry.zeros([3])})
    found = wherry.load(str(tmp_path))
    assert sorted(found) == ["b", "w"] and found["w"].shape == (2, 3)
    (tmp_path / "notes.txt").write_text("not a parameter")
    with pytest.raises(ValueError, match="is a folder, and not one of Paddle 1"):
        wherry.load(str(tmp_path))
