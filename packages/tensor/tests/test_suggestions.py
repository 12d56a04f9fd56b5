"""What is said to somebody who uses a name that is not here."""
import traceback

import pytest

import wherry_tensor
from wherry_tensor import Tensor, ones, suggestions
from wherry_tensor.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("name", "candidates", "said"),
    [
        ("Conv2d", ["Conv2D", "Conv1D"], " Did you mean 'Conv2D'?"),
        ("expand_dims", ["unsqueeze", "cast"], " Did you mean 'unsqueeze'?"),
        ("sofmax", ["softmax", "softmax_", "max"], " Did you mean 'softmax'?"),
        ("dim", ["x", "axis", "keepdim"], " Did you mean 'axis'?"),
        ("keepdims", ["x", "axis", "keepdim"], " Did you mean 'keepdim'?"),
        ("input", ["label", "x"], " Did you mean 'x'?"),
        ("relu", ["abs"], " Did you mean 'nn.functional.relu'?"),
        ("fliplr", ["abs"], " Use flip(x, axis=1)."),
        ("zork", ["abs"], ""),
        ("reshpae", ["reshape", "_reshape"], " Did you mean 'reshape'?"),
    ],
)
def test_what_was_meant(name, candidates, said):
    assert did_you_mean(name, candidates) == said


def test_paths_that_do_not_exist_are_not_suggested():
    assert did_you_mean("relu", ["abs"], reaches=lambda path: False) == ""


def test_every_single_name_of_the_table_differs_from_what_it_stands_for():
    assert not [name for name, meant in suggestions.FOREIGN.items() if name == meant]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("movedim", "Did you mean 'moveaxis'"),
        ("arccos", "Did you mean 'acos'"),
        ("clamp_min", r"Use clip\(x, max|Use clip\(x, min"),
        ("new_tensor", "Did you mean 'to_tensor'|'Tensor' object has no attribute 'new_tensor'"),
        ("relu", "nn.functional.relu"),
    ],
)
def test_methods_of_other_libraries_say_what_they_are_called_here(name, said):
    x = ones([2])
    with pytest.raises(AttributeError, match=f"'Tensor' object has no attribute '{name}'.*{said}"):
        getattr(x, name)
    assert not hasattr(x, name)
    assert name not in dir(x), "completion must not offer it"


def test_a_gradient_is_asked_for_by_the_name_of_another_library():
    x = ones([2])
    x.requires_grad = True
    assert not x.stop_gradient and x.requires_grad
    with pytest.raises(TypeError, match="requires_grad: got 1 .*True or False"):
        x.requires_grad = 1


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda x: x.sum(axes=0), "Did you mean 'axis'?"),
        (lambda x: wherry_tensor.sum(x, keepdims=True), "Did you mean 'keepdim'?"),
        (lambda x: x.max(dim=0), "Did you mean 'axis'? compat.max gives"),
        (lambda x: wherry_tensor.concat([x], zork=1), "It takes x, axis, name."),
        (lambda x: x.squeeze(0, 1, 2, 3), "'axis' is one list: squeeze([2, 3]) and not squeeze(2, 3)."),
    ],
)
def test_texts_of_calls_that_python_refuses_say_what_was_meant(call, hint):
    with pytest.raises(TypeError) as caught:
        call(ones([2, 3]))
    assert str(caught.value).count(hint) == 1
    assert hint in "".join(traceback.format_exception(caught.value))


def test_texts_of_other_peoples_errors_stay_as_they_are():
    def summed(x, axis):
        return x

    class Mine(TypeError):
        pass

    with pytest.raises(TypeError) as caught:
        summed(1, dim=2)
    assert str(caught.value).endswith("unexpected keyword argument 'dim'")
    text = "sum() got an unexpected keyword argument 'dim'"
    assert str(TypeError(text)) == text, "never raised"
    assert str(Mine(text)) == text
    assert str(TypeError()) == "" and str(TypeError(1, 2)) == "(1, 2)"
    with pytest.raises(TypeError) as caught:
        exec("def sum(x): return x\nsum(1, dim=2)", {})
    assert str(caught.value) == text, "nothing of ours is in sight of that call"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: wherry_tensor.full(2, 3, 4), r"Got 4.*one list, as in full\(\[2, 3\]\)"),
        (lambda: ones([2, 3]).reshape(-1), r"Write reshape\(\[-1\]\)"),
        (lambda: wherry_tensor.prod(ones([2, 3]), 0, False, True), r"by name, as in keepdim=True"),
        (lambda: ones([2, 3]).to("cuda"), r"'gpu:0'"),
    ],
)
def test_sizes_one_by_one_are_refused_with_the_list(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_class_tensor_is_what_it_was():
    assert Tensor.reshape and "reshape" in dir(ones([1]))
