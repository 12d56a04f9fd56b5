"""`LookAhead` and `ModelAverage`: values of Paddle 2.6.2, state, errors."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_train import optimizer as opt
from wherry_train.optimizer.averages import LookAhead, ModelAverage
from wherry_train.optimizer.distributed import DistributedFusedLamb


def ones(dtype="float32"):
    made = nn.create_parameter([2], dtype)
    made.set_value(np.ones(2, dtype))
    return made


def descend(param, optimizer, count=1):
    seen = []
    for _ in range(count):
        (param * param).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        seen.append(float(param[0]))
    return seen


def test_look_ahead_takes_the_steps_of_paddle():
    param = ones()
    ahead = LookAhead(opt.SGD(0.1, parameters=[param]), alpha=0.2, k=3)
    expected = [0.8, 0.64, 0.7424, 0.59392, 0.475136, 0.66994184, 0.53595346, 0.42876276]
    np.testing.assert_allclose(descend(param, ahead, 8), expected, rtol=1e-6)


def test_look_ahead_in_float64_keeps_its_dtype():
    param = ones("float64")
    descend(param, LookAhead(opt.SGD(0.1, parameters=[param]), k=1), 2)
    assert param.dtype.name == "float64"


def test_look_ahead_goes_on_from_its_state():
    first, second = ones(), ones()
    ahead = LookAhead(opt.SGD(0.1, parameters=[first]), alpha=0.2, k=3)
    descend(first, ahead, 2)
    again = LookAhead(opt.SGD(0.1, parameters=[second]), alpha=0.2, k=3)
    state = {key.replace(first.name, second.name): value for key, value in ahead.state_dict().items()}
    second.set_value(first)
    again.set_state_dict(state)
    assert descend(second, again, 4) == descend(first, ahead, 4)


def test_minimize_of_look_ahead_is_a_step_and_gives_the_pairs():
    param = ones()
    ahead = LookAhead(opt.SGD(0.1, parameters=[param]))
    loss = (param * param).sum()
    loss.backward()
    made, pairs = ahead.minimize(loss)
    assert made == [] and pairs[0][0] is param
    np.testing.assert_allclose(param.numpy(), 0.8, rtol=1e-6)


def test_rate_and_scheduler_are_those_of_the_inner_optimizer():
    inner = opt.SGD(0.1, parameters=[ones()])
    ahead = LookAhead(inner)
    ahead.set_lr(0.5)
    assert inner.get_lr() == ahead.get_lr() == 0.5
    ahead.set_lr_scheduler(opt.lr.StepDecay(0.25, 2))
    assert inner.get_lr() == ahead.get_lr() == 0.25
    ahead.set_state_dict(ahead.state_dict())


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((None,), AssertionError, "inner optimizer can not be None"), ((3,), TypeError, "inner_optimizer"),
        (("sgd", 2.0), AssertionError, "alpha should be larger"), (("sgd", -1.0), AssertionError, "alpha should be larger"),
        (("sgd", "a"), TypeError, "alpha must be a number"), (("sgd", 0.5, 0), AssertionError, "k should be a positive integer"),
        (("sgd", 0.5, 2.5), AssertionError, "k should be a positive integer"),
    ],
)
def test_look_ahead_names_a_wrong_argument(arguments, error, text):
    inner, *others = arguments
    with pytest.raises(error, match=text):
        LookAhead(opt.SGD(parameters=[ones()]) if inner == "sgd" else inner, *others)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((0.15, 2, 10), [0.8, 0.72, 0.65067, 0.4608, 0.41643, 0.29491, 0.26651, 0.18874, 0.17057, 0.1208, 0.10916, 0.07731]),
        ((0.5, 1, 3), [0.8, 0.64, 0.512, 0.4608, 0.36864, 0.33314, 0.30228, 0.21321, 0.19346, 0.17624, 0.10916, 0.09905]),
        ((1.0, 4, 4), [0.8, 0.72, 0.65067, 0.5904, 0.53786, 0.4919, 0.45159, 0.24183, 0.22031, 0.20148, 0.18497, 0.09905]),
    ],
)
def test_averages_are_those_of_paddle_and_parameters_come_back(arguments, expected):
    param = ones()
    rate, least, most = arguments
    average = ModelAverage(rate, [param], min_average_window=least, max_average_window=most)
    sgd, seen = opt.SGD(0.1, parameters=[param]), []
    for _ in expected:
        (now,) = descend(param, sgd)
        average.step()
        with average.apply():
            seen.append(float(param[0]))
        assert float(param[0]) == now
    np.testing.assert_allclose(seen, expected, atol=1e-5)


def test_without_restore_the_average_stays_until_restore_is_called():
    param = ones()
    average = ModelAverage(0.15, [param], 2, 10)
    average.step()
    param.set_value(np.zeros(2, "float32"))
    with average.apply(need_restore=False):
        pass
    assert param.tolist() == [1.0, 1.0]
    average.restore()
    assert param.tolist() == [0.0, 0.0]


def test_model_average_goes_on_from_its_state():
    param = ones()
    average, again = ModelAverage(0.15, [param], 2, 10), ModelAverage(0.15, [param], 2, 10)
    for value in (1.0, 2.0, 3.0):
        param.set_value(np.full(2, value, "float32"))
        average.step()
    state = average.state_dict()
    assert {key[len(param.name):]: value.tolist() for key, value in state.items() if "num" in key} == {
        "_num_accumulates_0": [1], "_old_num_accumulates_0": [2], "_num_updates_0": [3],
    }
    again.set_state_dict(state)
    with again.apply():
        assert param.tolist() == [2.0, 2.0]


def test_an_average_of_nothing_is_an_error():
    average = ModelAverage(0.15, [ones()])
    with pytest.raises(RuntimeError, match="no average yet"), average.apply():
        pass
    with pytest.raises(RuntimeError, match="nothing to put back"):
        average.restore()
    with pytest.raises(AttributeError, match="parameters argument"):
        ModelAverage(0.15)
    with pytest.raises(TypeError, match="average_window_rate"):
        ModelAverage("a", [ones()])
    with pytest.raises(AssertionError, match="should be in the state dict"):
        average.set_state_dict({"other": wt.ones([2])})


def test_the_optimizer_for_many_gpus_says_what_to_use():
    with pytest.raises(NotImplementedError, match="Lamb"):
        DistributedFusedLamb(0.1)
