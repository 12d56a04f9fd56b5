"""`Model.save(training=False)`: the network as a program."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph import jit
from wherry_program.program.input_spec import InputSpec
from wherry_train import Model


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))


def test_a_model_is_saved_as_a_program_for_the_inputs_that_were_described(tmp_path):
    model = Model(net(), inputs=[InputSpec([None, 3], "float32", "x")])
    model.save(str(tmp_path / "net"), training=False)
    program = jit.load(str(tmp_path / "net"))
    program.eval()
    x = wt.to_tensor(np.random.default_rng(0).standard_normal((5, 3)).astype("float32"))
    np.testing.assert_allclose(program(x).numpy(), model.predict_batch([x])[0], rtol=1e-6)
    assert (tmp_path / "net.pdmodel").exists() and (tmp_path / "net.pdiparams").exists()
    assert not (tmp_path / "net.pdparams").exists()


def test_without_a_description_the_inputs_that_came_last_say_what_it_takes(tmp_path):
    model = Model(net())
    with pytest.raises(RuntimeError, match="what the network takes is not known"):
        model.save(str(tmp_path / "net"), training=False)
    model.predict_batch([np.ones((2, 3), "float32")])
    model.save(str(tmp_path / "net"), training=False)
    assert jit.load(str(tmp_path / "net"))(wt.ones([7, 3])).shape == [7, 2]
