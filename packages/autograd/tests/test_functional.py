"""Jacobians, Hessians and products with them, against what can be written down."""
import numpy as np
import pytest

import wherry_tensor as w
from small_tensors import make, total
from wherry_autograd import Jacobian, grad, hessian, incubate, jacobian
from wherry_tensor import ops


def test_jacobian_of_a_vector(x):
    J = jacobian(x * x, x)
    assert isinstance(J, Jacobian)
    assert J.shape == [3, 3]
    assert J.numpy().tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert (J + 1).numpy().tolist() == [[3, 1, 1], [1, 5, 1], [1, 1, 7]]


def test_jacobian_of_a_scalar_is_the_gradient(x):
    J = jacobian(total(x * x), x)
    assert J.shape == [3]
    assert J.numpy().tolist() == [2, 4, 6]


def test_jacobian_of_a_batch():
    x = make([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    J = jacobian(x * x, x, batch_axis=0)
    assert J.shape == [3, 2, 2]
    assert J.numpy().tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]], [[10, 0], [0, 12]]]
    sums = ops.reduce_sum(x * x, axes=(1,), keepdim=False)
    assert jacobian(sums, x, batch_axis=0).numpy().tolist() == [[2, 4], [6, 8], [10, 12]]


def test_jacobians_of_tuples(x):
    z = make([1.0, 2.0], requires_grad=True)
    J = jacobian((x * 2, z * z), (x, z))
    assert [[block.shape for block in row] for row in J] == [[[3, 3], [3, 2]], [[2, 3], [2, 2]]]
    assert J[0][1].numpy().tolist() == [[0, 0]] * 3
    assert J[1][1].numpy().tolist() == [[2, 0], [0, 4]]
    assert isinstance(jacobian(x * 2, (x,)), tuple)


def test_rows_are_computed_when_they_are_needed(x):
    J = jacobian(x * x, x)
    assert J._rows == {}
    assert J[1].numpy().tolist() == [0, 4, 0]
    assert list(J._rows) == [1]


def test_indexing(x):
    J = jacobian(x * x, x)
    assert J[-1, 2].numpy() == 6
    assert J[0:2, 0:1].numpy().tolist() == [[2], [0]]
    assert sorted(J._rows) == [0, 1, 2]
    assert J[:, 1].numpy().tolist() == [0, 4, 0]
    with pytest.raises(IndexError):
        J[5]
    with pytest.raises(IndexError):
        J[0, 0, 0]


def test_jacobians_differentiate_again(x):
    total(jacobian(x * x * x, x)[:]).backward()
    assert x.grad.numpy().tolist() == [6, 12, 18]


def test_hessian(x):
    H = hessian(total(x * x * x), x)
    assert H.shape == [3, 3]
    assert H.numpy().tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]


def test_hessian_of_tuples_and_batches(x):
    z = make([1.0, 2.0], requires_grad=True)
    H = hessian(total(x) * total(z * z), (x, z))
    assert [[block.shape for block in row] for row in H] == [[[3, 3], [3, 2]], [[2, 3], [2, 2]]]
    assert H[0][1].numpy().tolist() == [[2, 4]] * 3
    b = make([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    per_row = ops.reduce_sum(b * b * b, axes=(1,), keepdim=False)
    assert hessian(per_row, b, batch_axis=0).numpy().tolist() == [[[6, 0], [0, 12]], [[18, 0], [0, 24]]]


def test_what_has_no_jacobian_or_hessian_is_refused(x):
    matrix = ops.reshape(x, shape=(3, 1))
    with pytest.raises(ValueError, match=r"ys.ndim should be 0 or 1 when is_batched=False but got 2"):
        jacobian(matrix, x)
    with pytest.raises(ValueError, match="batch_axis should be None or 0, but got 1"):
        jacobian(x * 2, x, batch_axis=1)
    with pytest.raises(ValueError, match=r"only one element can be differentiated twice. Got ys of shape \[3\]"):
        hessian(x * 2, x)


def outer(x):
    return ops.unsqueeze(x, axes=(1,)) * ops.unsqueeze(x, axes=(0,))


def test_vjp_and_jvp_agree_with_the_jacobian():
    x, v, u = make([1.0, 2.0]), make([[1.0, 2.0], [3.0, 4.0]]), make([5.0, 7.0])
    J = np.array([[2, 0], [2, 1], [2, 1], [0, 4]], dtype=float)
    ys, product = incubate.vjp(outer, x, v)
    assert ys.numpy().tolist() == [[1, 2], [2, 4]]
    assert product.numpy().tolist() == (v.numpy().ravel() @ J).tolist()
    _, tangent = incubate.jvp(outer, x, u)
    assert tangent.numpy().ravel().tolist() == (J @ u.numpy()).tolist()
    assert x.stop_gradient and x.grad is None


@pytest.mark.parametrize("function", [incubate.vjp, incubate.jvp, incubate.Jacobian, incubate.Hessian])
def test_other_things_than_functions_and_tensors_are_refused_by_name(function):
    name = function.__name__
    with pytest.raises(TypeError, match=rf"{name}: func cannot be called\. Got 3, expected a function"):
        function(3, [1.0])
    with pytest.raises(TypeError, match=rf"{name}: xs must be a Tensor or a sequence of them\. Got float"):
        function(lambda x: x, 1.0)


def test_vjp_and_jvp_of_several_tensors_begin_with_ones():
    x = make([1.0, 2.0])
    both = lambda a, b: (a * b, a)  # noqa: E731
    _, (da, db) = incubate.vjp(both, [x, x])
    assert da.numpy().tolist() == [2, 3] and db.numpy().tolist() == [1, 2]
    _, (ta, tb) = incubate.jvp(both, [x, x])
    assert ta.numpy().tolist() == [2, 4] and tb.numpy().tolist() == [1, 1]


def test_functions_that_ignore_their_arguments_give_zeros():
    x = make([1.0, 2.0])
    assert incubate.vjp(lambda a: make([1.0]), x)[1].numpy().tolist() == [0, 0]
    assert incubate.jvp(lambda a: make([1.0]), x)[1].numpy().tolist() == [0]


def test_vectors_that_do_not_fit_are_refused():
    x = make([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"v\[0\] has invalid shape: should be \[2\] but got \[1\]"):
        incubate.vjp(lambda a: a * a, x, make([1.0]))
    with pytest.raises(RuntimeError, match="invalid length: should be 2 but got 1"):
        incubate.vjp(lambda a: (a, a), x, x)


def test_matrices_of_functions_flatten_their_arguments():
    x = make([[1.0, 2.0], [3.0, 4.0]])
    J = incubate.Jacobian(lambda a, b: a * b, [x, x])
    assert J.shape == (4, 8)
    assert J[:].numpy().tolist() == np.hstack([np.diag([1.0, 2, 3, 4])] * 2).tolist()
    batched = incubate.Jacobian(lambda a: a * a, x, is_batched=True)
    assert batched.shape == (2, 2, 2)
    H = incubate.Hessian(lambda a: total(a * a * a), x)
    assert H[:].numpy().tolist() == np.diag([6.0, 12, 18, 24]).tolist()
    with pytest.raises(RuntimeError, match="should return one element"):
        incubate.Hessian(lambda a: a * a, x)


@pytest.mark.parametrize("name", ["enable_prim", "disable_prim", "prim_enabled"])
def test_switches_of_static_graphs_say_what_is_missing(name):
    with pytest.raises(AssertionError, match=f"{name}: Paddle offers it for static graphs only"):
        getattr(incubate, name)()
    with pytest.raises(AssertionError, match="jvp"):
        incubate.forward_grad(None, None)
    with pytest.raises(AssertionError, match=r"wherry.grad"):
        incubate.grad(None, None)


def test_gradients_of_mantissas_integrals_and_combinations():
    x = w.to_tensor([0.0, 1.0, 3.0, -5.0], dtype="float64", stop_gradient=False)
    mantissa, exponent = w.frexp(x)
    assert exponent.stop_gradient
    mantissa.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 0.5, 0.25, 0.125])  # 2 ** -exponent
    x.clear_gradient(False)
    w.cumulative_trapezoid(x, dx=2.0).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 5, 3, 1])
    x.clear_gradient(False)
    w.combinations(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 3, 3, 3])


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e"])
def test_gradients_of_bessel_functions_at_zero_and_of_their_gradients(name):
    x = w.to_tensor([0.0, 1.5], dtype="float64", stop_gradient=False)
    (first,) = grad(getattr(w, name)(x).sum(), x, create_graph=True)
    assert first[0].item() == (0.5 if name.startswith("i1") else 0)
    (second,) = grad(first.sum(), x)
    h = 1e-5
    y = w.to_tensor([1.5 - h, 1.5, 1.5 + h], dtype="float64")
    low, middle, high = getattr(w, name)(y).tolist()
    assert abs(second[1].item() - (low - 2 * middle + high) / h**2) < 1e-4
