"""Other spellings of arguments: which are understood, what they cost, and what stays as it was."""
import copy
import inspect
import pickle

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import _core, spellings
from wherry_tensor._core import Spelled, Tensor


def matrix():
    return w.arange(6, dtype="float32").reshape([2, 3])


def test_names_of_another_library_are_those_of_the_function():
    x = matrix()
    assert w.sum(input=x, dim=1).tolist() == x.sum(axis=1).tolist() == x.sum(dim=1).tolist() == [3.0, 12.0]
    assert w.add(x, other=x, alpha=2).tolist() == (3 * x).tolist()
    assert w.linspace(0, end=1, steps=3).tolist() == [0.0, 0.5, 1.0]


def test_an_argument_that_is_given_under_both_names_is_refused():
    with pytest.raises(TypeError, match="'dim' is another name of 'axis'. Got both"):
        w.sum(matrix(), axis=0, dim=0)
    with pytest.raises(TypeError, match="'input' is another name of 'x'. Got both"):
        w.sum(matrix(), input=matrix())


def test_what_nobody_knows_is_refused_by_python_with_a_hint():
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'axes'") as caught:
        w.sum(matrix(), axes=1)
    assert "Did you mean 'axis'" in str(caught.value)


def test_functions_whose_results_differ_in_the_other_library_say_so():
    for function in (w.max, w.min, w.sort, w.split):
        with pytest.raises(TypeError, match=r"compat\."):
            function(matrix(), dim=1)


def test_sizes_may_be_written_one_by_one():
    x = matrix()
    assert w.ones(2, 3).shape == w.zeros(2, 3, dtype="int32").shape == [2, 3]
    assert x.reshape(3, -1).shape == x.view(3, 2).shape == x.transpose(0, 1).shape == x.permute(1, 0).shape == [3, 2]
    assert x.expand(4, 2, 3).shape == [4, 2, 3] and x.view(6).shape == [6]
    assert w.ones([2, 3], "int32").dtype is w.int32, "the second argument is a dtype"


def test_pytorchs_order_of_axis_and_index_is_told_from_paddles():
    x, index = matrix(), w.to_tensor([[0], [2]])
    assert x.gather(1, index).tolist() == [[0.0], [5.0]]
    assert w.gather(x, w.to_tensor([1])).tolist() == [[3.0, 4.0, 5.0]]
    assert w.gather(x, w.to_tensor([1]), 1).tolist() == [[1.0], [4.0]]
    assert w.index_select(x, 1, w.to_tensor([0])).tolist() == [[0.0], [3.0]]


def test_results_go_into_out():
    x, out = matrix(), w.zeros([1])
    assert w.exp(x, out=out) is out and out.shape == [2, 3]
    values, places = w.zeros([1]), w.zeros([1], "int64")
    w.topk(x, 2, out=(values, places))
    assert places.tolist() == [[2, 1], [2, 1]]
    with pytest.raises(TypeError, match="'out' must be a Tensor"):
        w.exp(x, out=[1])
    with pytest.raises(TypeError, match="'out' must hold 2 tensors"):
        w.topk(x, 2, out=(values,))


def test_new_tensors_may_ask_for_gradients_and_name_a_device():
    assert not w.ones(2, requires_grad=True, device="cpu").stop_gradient
    with pytest.raises(ValueError, match="device|nowhere"):
        w.ones(2, device="nowhere")


def test_signature_help_and_names_are_those_of_the_function():
    assert list(inspect.signature(w.sum).parameters) == ["x", "axis", "dtype", "keepdim", "name"]
    assert w.sum.__name__ == "sum" and w.sum.__module__ == "wherry_tensor.functions.reduction" and "Sum of elements" in w.sum.__doc__
    assert inspect.isfunction(w.sum) and "function sum" in repr(w.sum)
    assert {"dim": "axis", "input": "x", "out": "out"}.items() <= spellings.others_of(w.sum).items()
    assert spellings.takes(w.sum, "dim") and not spellings.takes(w.sum, "zork")


def test_functions_are_pickled_and_copied_by_their_names():
    assert pickle.loads(pickle.dumps(w.sum)) is w.sum
    assert copy.deepcopy(w.sum) is w.sum


def test_a_function_that_is_an_op_gives_what_the_function_gives():
    x = matrix()
    np.testing.assert_allclose(w.exp(x).numpy(), np.exp(np.arange(6, dtype="float32").reshape(2, 3)), rtol=1e-6)
    assert w.exp(w.to_tensor([0])).dtype is w.float32, "integers go the longer way"
    with pytest.raises(TypeError, match="add: 'x' and 'y' must have one dtype"):
        w.add(x, w.to_tensor([1]))
    with pytest.raises(ValueError, match="do not broadcast"):
        w.add(x, w.ones([5]))


def test_names_of_a_call_that_are_made_anew_are_understood_each_time():
    for name in ("axis", "dim", "axis", "dim"):
        assert w.sum(matrix(), **{"".join(name): 0}).tolist() == [3.0, 5.0, 7.0]


def test_methods_of_objects_that_are_none_are_refused():
    with pytest.raises(TypeError):
        Spelled(3, ())
    with pytest.raises(TypeError):
        Spelled(len, (), -1, 3)
    with pytest.raises(TypeError, match="second __init__"):
        w.sum.__class__.__init__  # noqa: B018  shows itself as a function
        Spelled.__init__(w.sum, len, ())
    with pytest.raises(ValueError, match="without attributes"):
        Spelled(len, (), -1, w.ops.softmax)


def test_size_is_a_number_and_a_call():
    x = matrix()
    assert x.size == 6 and isinstance(x.size, int) and repr(x.size) == "6" and type(pickle.loads(pickle.dumps(x.size))) is int
    assert x.reshape(x.size, -1).shape == [6, 1] == w.ones([x.size, 1]).shape
    assert x.size() == [2, 3] and x.size(0) == 2 and x.size(dim=-1) == 3
    for call, error in (
        (lambda: x.size(5), IndexError), (lambda: x.size("a"), TypeError), (lambda: x.size(0, 1), TypeError), (lambda: x.size(zork=0), TypeError),
    ):
        with pytest.raises(error, match="size"):
            call()
    with pytest.raises(AttributeError, match="cannot be set"):
        x.size = 3
    assert "number of elements" in vars(Tensor)["size"].__doc__


def test_under_a_version_results_are_those_of_paddle_3():
    w.set_flags({"FLAGS_paddle_version": "3.3"})
    try:
        x = matrix()
        assert x.shape.numel() == 6 and x.shape == (2, 3) and repr(x.shape) == "paddle.Size([2, 3])" and x.shape[1:] == [3]
        with pytest.raises(TypeError, match=r"Type promotion .* Got int64 and float32"):
            w.to_tensor([1]) + x
        assert (w.ones([1]) / w.ones([1], "float64")).dtype is w.float64
        assert w.round(w.to_tensor([0.5, 1.5, -2.5])).tolist() == [0.0, 2.0, -2.0]
        assert w.full([1], True).dtype is w.bool and w.shape(x).dtype is w.int64
        assert [part.shape for part in w.nonzero(x, as_tuple=True)] == [[5], [5]]
    finally:
        w.set_flags({"FLAGS_paddle_version": "2.6"})
    assert type(matrix().shape) is list
    with pytest.raises(ValueError, match="no such version decides"):
        w.set_flags({"FLAGS_paddle_version": "4"})
    assert w.get_flags("FLAGS_paddle_version") == {"FLAGS_paddle_version": "2.6"}


def test_the_core_understands_nothing_without_the_table():
    understood = spellings.respell
    _core.set_respell(lambda function, args, kwargs: (args, kwargs))
    try:
        assert w.sum(1, dim=2) == ((1,), {"dim": 2})
    finally:
        _core.set_respell(understood)
