"""Methods that only Tensor has, or that only sparse tensors answer."""
import copy
import inspect
import pickle

import pytest

import wherry_tensor as w
from wherry_tensor import Tensor


def test_a_dense_tensor_is_its_own_dense_form():
    x = w.to_tensor([[1.0, 0.0], [0.0, 2.0]])
    assert x.to_dense() is x


@pytest.mark.parametrize("name", ["coalesce", "cols", "crows", "indices", "nnz", "rows", "values"])
def test_what_only_sparse_tensors_have_is_refused_with_what_makes_one(name):
    with pytest.raises(RuntimeError, match=rf"{name}: .*dense tensor of shape \[2\], expected .*(to_sparse|table)"):
        getattr(w.ones([2]), name)()


def test_other_names_of_methods():
    x = w.to_tensor([[2.0, 0.0], [0.0, 4.0]])
    assert x.inv().tolist() == x.inverse().tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert x[0, 0].__div__(4).item() == x[0, 0].__rdiv__(1.0).item() == 0.5
    assert x[1, 1].__long__() == 4 and x[1, 1].__nonzero__()
    assert w.Tensor.broadcast_shape([2, 1], [3]) == [2, 3]


class _Sub(Tensor):
    pass


@pytest.fixture
def restored():
    """What Tensor has, and again afterwards."""
    before = dict(vars(Tensor))
    yield before
    for name in {*vars(Tensor), *before}:
        if name not in before:
            delattr(Tensor, name)
        elif vars(Tensor)[name] is not before[name]:
            setattr(Tensor, name, before[name])
    assert dict(vars(Tensor)) == before


def test_programs_give_tensor_methods_which_instances_have(restored):
    x, sub = w.ones([2]), _Sub()
    Tensor.my_half = lambda self: self.astype("float16")
    assert x.my_half().dtype.name == "float16" and _Sub.my_half is Tensor.my_half and hasattr(sub, "my_half")
    Tensor.twice = property(lambda self: self * 2)
    assert x.twice.tolist() == [2, 2] and {"my_half", "twice"} <= set(dir(Tensor)) & set(dir(x))
    del Tensor.my_half
    delattr(Tensor, "twice")
    assert not hasattr(x, "my_half") and not hasattr(Tensor, "twice")
    with pytest.raises(AttributeError, match="my_half"):
        del Tensor.my_half


def test_programs_replace_methods_and_operators(restored):
    x = w.ones([2])
    Tensor.sum, Tensor.__add__, Tensor.__len__ = lambda self: "sum", lambda self, y: "added", lambda self: 7
    assert (x.sum(), x + x, x + 1, len(x)) == ("sum", "added", "added", 7)
    for name in ("sum", "__add__", "__len__"):
        setattr(Tensor, name, restored[name])
    assert x.sum().item() == 2 and (x + x).tolist() == [2, 2] and (1 + x).tolist() == [2, 2] and len(x) == 2


def test_a_name_that_only_says_what_was_meant_can_be_given_a_meaning(restored):
    x = w.ones([2])
    assert not hasattr(x, "movedim")
    Tensor.movedim = lambda self: "moved"
    assert x.movedim() == "moved" and "movedim" in dir(Tensor) and "movedim" in dir(x)
    Tensor.movedim = restored["movedim"]
    assert "movedim" not in dir(Tensor) and "movedim" not in dir(x)


def test_what_python_computes_of_the_type_stays(restored):
    for name in ("__name__", "__qualname__", "__bases__", "__module__", "__mro__", "__dict__"):
        with pytest.raises((TypeError, AttributeError)):
            setattr(Tensor, name, "x")
    _Sub.__name__, _Sub.__qualname__ = "Other", "Other"  # a class written in Python takes them as before
    assert _Sub.__name__ == "Other" and Tensor.__name__ == "Tensor"


def test_dir_lists_what_there_is():
    class Own(Tensor):
        movedim = property(lambda self: "own")

    assert all(hasattr(Tensor, name) for name in dir(Tensor))
    assert not {"relu", "movedim", "in_dim"} & set(dir(Tensor)) and "movedim" in dir(Own) and "movedim" in dir(Own())
    assert {"sum", "shape", "__add__"} <= set(dir(Tensor))
    x = w.ones([1, 1])  # whose class has one attribute that is for GPUs alone; mT is for matrices
    assert {name for name in dir(x) if not hasattr(x, name)} == {"__cuda_array_interface__"}


def test_the_class_is_a_class_like_any_other():
    class Claims:
        __class__ = Tensor

    class Refuses:
        @property
        def __class__(self):
            raise AttributeError("no class")

    x, sub = w.ones([2]), _Sub()
    assert isinstance(Tensor, type) and repr(Tensor) == "<class 'wherry_tensor._core.Tensor'>"
    assert isinstance(x, Tensor) and isinstance(sub, Tensor) and isinstance(sub, _Sub) and not isinstance(x, _Sub)
    assert not isinstance(2.0, Tensor) and not isinstance(None, Tensor) and not isinstance(Refuses(), Tensor) and isinstance(Claims(), Tensor)
    assert issubclass(_Sub, Tensor) and not issubclass(Tensor, _Sub) and isinstance(x, (int, Tensor))
    assert pickle.loads(pickle.dumps(Tensor)) is copy.copy(Tensor) is copy.deepcopy(Tensor) is Tensor
    assert inspect.isclass(Tensor) and Tensor.__doc__.startswith("An n-dimensional array")
