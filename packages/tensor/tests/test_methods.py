"""Methods that only Tensor has, or that only sparse tensors answer."""
import pytest

import wherry_tensor as w


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
