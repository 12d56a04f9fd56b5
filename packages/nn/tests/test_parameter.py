"""Parameter, ParamAttr and unique names."""
import copy
import pickle

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import unique_name
from wherry_nn.param_attr import as_param_attr


def test_parameter_asks_for_gradients_and_is_persistable():
    parameter = nn.create_parameter([2], "float32")
    assert isinstance(parameter, wt.Tensor)
    assert parameter.trainable and not parameter.stop_gradient and parameter.persistable and parameter.is_leaf
    assert parameter.optimize_attr == {"learning_rate": 1.0}
    assert (parameter.regularizer, parameter.need_clip, parameter.is_distributed) == (None, True, False)


def test_trainable_is_the_opposite_of_stop_gradient():
    parameter = nn.create_parameter([2], "float32")
    parameter.trainable = False
    assert parameter.stop_gradient
    parameter.stop_gradient = False
    assert parameter.trainable
    with pytest.raises(ValueError, match="trainable: the value is not a bool. Got 3"):
        parameter.trainable = 3


def test_results_of_operations_are_tensors():
    parameter = nn.create_parameter([2, 2], "float32")
    for result in (parameter * 1, parameter.detach(), parameter.clone(), parameter.T, parameter[0], parameter.astype("float64")):
        assert type(result) is wt.Tensor


def test_text_of_a_parameter_says_that_it_is_one():
    parameter = nn.Parameter(wt.to_tensor([1.0, 2.0]), name="x")
    assert repr(parameter) == str(parameter) == (
        "Parameter containing:\n"
        f"Tensor(shape=[2], dtype=float32, place={parameter.place}, stop_gradient=False,\n"
        "       [1., 2.])"
    )


def test_parameter_shares_the_memory_of_its_data():
    data = wt.ones([2])
    parameter = nn.Parameter(data)
    assert parameter._shares_memory_with(data)
    assert data.stop_gradient and not parameter.stop_gradient


def test_copies_have_a_name_of_their_own_and_the_same_options():
    parameter = nn.create_parameter([2], "float32", attr=nn.ParamAttr(learning_rate=0.5, trainable=False))
    (parameter * 2).sum()
    other = copy.deepcopy(parameter)
    assert other.name.startswith(f"{parameter.name}_deepcopy_")
    assert (other.tolist(), other.optimize_attr, other.trainable) == (parameter.tolist(), {"learning_rate": 0.5}, False)
    assert other.optimize_attr is not parameter.optimize_attr


def test_deep_copy_takes_the_gradient_along():
    parameter = nn.create_parameter([2], "float32")
    (parameter * 3).sum().backward()
    assert copy.deepcopy(parameter).grad.tolist() == [3, 3]


def test_pickled_parameter_is_the_same():
    parameter = nn.create_parameter([2], "bfloat16")
    other = pickle.loads(pickle.dumps(parameter))
    assert type(other) is nn.Parameter
    assert (other.name, other.tolist(), other.trainable) == (parameter.name, parameter.tolist(), True)


# ParamAttr.


def test_attributes_default_to_those_of_paddle():
    assert vars(nn.ParamAttr()) == {
        "name": None, "initializer": None, "learning_rate": 1.0, "regularizer": None, "trainable": True,
        "do_model_average": True, "need_clip": True,
    }


def test_short_forms_of_an_attribute():
    class Penalty(nn.WeightDecayRegularizer):
        pass

    attr, initializer, penalty = nn.ParamAttr(), nn.initializer.Constant(1.0), Penalty()
    assert as_param_attr(attr) is attr
    assert as_param_attr("name").name == "name"
    assert as_param_attr(initializer).initializer is initializer
    assert as_param_attr(penalty).regularizer is penalty
    assert as_param_attr(None).name is as_param_attr(True).name is None
    assert as_param_attr(False) is None
    assert nn.create_parameter([1], "float32", attr=penalty).regularizer is penalty


@pytest.mark.parametrize("arguments", [dict(name=3), dict(initializer=3), dict(regularizer=3), dict(learning_rate="a")])
def test_attribute_of_the_wrong_type_is_refused(arguments):
    with pytest.raises(TypeError, match=f"ParamAttr: argument '{next(iter(arguments))}' has another type. Got "):
        nn.ParamAttr(**arguments)


def test_weight_norm_by_attribute_says_what_to_use():
    with pytest.raises(NotImplementedError, match="nn.utils.weight_norm"):
        nn.WeightNormParamAttr(dim=0)


# Names.


def test_names_are_counted_for_each_key():
    with unique_name.guard():
        assert [unique_name.generate(key) for key in ("fc", "fc", "x", "fc")] == ["fc_0", "fc_1", "x_0", "fc_2"]


def test_guard_counts_anew_and_restores():
    with unique_name.guard():
        unique_name.generate("fc")
        with unique_name.guard():
            assert unique_name.generate("fc") == "fc_0"
        with unique_name.guard("A"):
            assert unique_name.generate("fc") == "Afc_0"
            assert nn.Layer().create_parameter([1]).name == "AAlayer_0.w_0"  # twice, as in Paddle
        with unique_name.guard(b"B"):
            assert unique_name.generate("fc") == "Bfc_0"
        with pytest.raises(RuntimeError), unique_name.guard():
            raise RuntimeError
        assert unique_name.generate("fc") == "fc_1"


def test_switch_returns_what_counted_before():
    with unique_name.guard():
        unique_name.generate("fc")
        before = unique_name.switch()
        assert unique_name.generate("fc") == "fc_0"
        unique_name.switch(*before)
        assert unique_name.generate("fc") == "fc_1"


def test_names_refuse():
    with pytest.raises(TypeError, match="key is not a str. Got 3"):
        unique_name.generate(3)
    with pytest.raises(TypeError, match="new_generator is not a generator. Got 3"), unique_name.guard(3):
        pass


def test_parameters_of_a_lazy_guard_wait_for_their_values():
    with nn.LazyGuard():
        with nn.LazyGuard():
            layer = nn.Linear(3, 2)
        counted = nn.create_parameter([2], "int64", default_initializer=nn.initializer.Constant(7))
    assert nn.Linear(3, 2).bias.tolist() == [0, 0]
    assert np.isnan(layer.weight.numpy()).all() and counted.tolist() == [0, 0]
    for parameter in (*layer.parameters(), counted):
        parameter.initialize()
    assert np.isfinite(layer.weight.numpy()).all() and layer.weight.numpy().any() and counted.tolist() == [7, 7]
    assert layer.weight.trainable and layer.weight.is_leaf
    with pytest.raises(AssertionError, match="has its values already"):
        layer.weight.initialize()


def test_weights_may_be_loaded_into_parameters_that_wait():
    with nn.LazyGuard():
        layer = nn.Linear(3, 2)
    other = nn.Linear(3, 2)
    layer.set_state_dict(other.state_dict())
    np.testing.assert_array_equal(layer.weight.numpy(), other.weight.numpy())
