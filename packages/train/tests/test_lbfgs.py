"""`LBFGS`, `minimize_bfgs`, `minimize_lbfgs`: values of Paddle 2.6.2, minima, state, errors."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_train.optimizer.lbfgs import LBFGS, minimize_bfgs, minimize_lbfgs

BOTH = pytest.mark.parametrize("minimize", [minimize_bfgs, minimize_lbfgs])


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def begun(**options):
    """An optimizer, its closure, the parameter, and the losses that were computed."""
    param = nn.create_parameter([2], "float64")
    param.set_value(np.array([-1.2, 1.0]))
    optimizer, losses = LBFGS(parameters=[param], **options), []

    def closure():
        optimizer.clear_grad()
        loss = rosenbrock(param)
        loss.backward()
        losses.append(float(loss))
        return loss

    return optimizer, closure, param, losses


@pytest.mark.parametrize(
    ("options", "calls", "place", "evaluations"),
    [
        ({"line_search_fn": "strong_wolfe", "max_iter": 5}, 4, [0.34184236067537865, 0.09925827373850268], 27),
        ({"max_iter": 5, "learning_rate": 1e-3}, 4, [-1.1968945987637307, 1.0022665885892468], 20),
        ({"line_search_fn": "strong_wolfe", "max_iter": 1}, 6, [-0.9970310351680055, 0.9755913846740083], 13),
        ({"line_search_fn": "strong_wolfe", "max_iter": 5, "history_size": 1}, 4, [0.621434847960102, 0.37569099335117684], 25),
        ({"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 3}, 4, [-0.9431278012083247, 0.8529662725410928], 12),
    ],
)
def test_the_way_is_that_of_paddle(options, calls, place, evaluations):
    optimizer, closure, param, losses = begun(**options)
    firsts = [float(optimizer.step(closure)) for _ in range(calls)]
    np.testing.assert_allclose(param.numpy(), place, rtol=1e-9)
    assert len(losses) == evaluations
    assert firsts[0] == losses[0]


def test_it_goes_on_from_its_state_also_from_arrays():
    options = {"line_search_fn": "strong_wolfe", "max_iter": 3}
    optimizer, closure, param, _ = begun(**options)
    optimizer.step(closure)
    again, other, second, _ = begun(**options)
    second.set_value(param)
    again.set_state_dict({"state": {k: v.numpy() if hasattr(v, "numpy") else v for k, v in optimizer.state_dict()["state"].items()}})
    for _ in range(3):
        optimizer.step(closure)
        again.step(other)
    assert param.tolist() == second.tolist()


def test_several_parameters_are_one_vector_and_those_without_gradient_stay():
    one, other, still = (wt.to_tensor(v, stop_gradient=False) for v in ([[3.0, 1.0]], 2.0, [7.0]))
    optimizer = LBFGS(line_search_fn="strong_wolfe", parameters=[one, other, still])

    def closure():
        optimizer.clear_grad()
        loss = ((one - 1) ** 2).sum() + (other - 5) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(one.numpy(), [[1.0, 1.0]], atol=1e-5)
    np.testing.assert_allclose(other.numpy(), 5.0, atol=1e-5)
    assert still.tolist() == [7.0]


def test_the_rate_may_be_an_int():
    weight = wt.to_tensor([2.0], stop_gradient=False)
    assert LBFGS(learning_rate=1, parameters=[weight]).get_lr() == 1.0


def test_lbfgs_names_a_wrong_argument():
    param = wt.ones([2])
    param.stop_gradient = False
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        LBFGS(line_search_fn="armijo", parameters=[param])
    with pytest.raises(AttributeError, match="parameters argument"):
        LBFGS()
    with pytest.raises(ValueError, match="history_size"):
        LBFGS(history_size=0, parameters=[param])
    with pytest.warns(UserWarning, match="no effect"):
        LBFGS(weight_decay=0.1, parameters=[param])
    optimizer = LBFGS(parameters=[param])
    with pytest.raises(TypeError, match="expected a function"):
        optimizer.step(None)
    with pytest.raises(TypeError, match="must return the loss"):
        optimizer.step(lambda: None)
    with pytest.raises(NotImplementedError, match="step\\(closure\\)"):
        optimizer.minimize(param.sum())
    with pytest.raises(ValueError, match="this is not its state"):
        optimizer.set_state_dict({"a": 1})


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_minimum_of_the_valley_is_found(minimize, dtype):
    converged, calls, place, value, grad, *estimate = minimize(rosenbrock, wt.to_tensor([-1.2, 1.0], dtype=dtype), dtype=dtype, tolerance_grad=1e-4)
    assert (converged.dtype.name, converged.tolist(), calls.dtype.name, calls.shape) == ("bool", [True], "int64", [1])
    np.testing.assert_allclose(place.numpy(), 1.0, atol=1e-3)
    assert place.dtype.name == dtype and value.shape == [] and float(value) < 1e-6 and grad.shape == [2]
    assert [e.shape for e in estimate] == ([[2, 2]] if minimize is minimize_bfgs else [])


def test_a_parabola_gives_the_numbers_of_paddle():
    found = minimize_bfgs(lambda x: (x * x).sum(), wt.to_tensor([3.0, -2.0]))
    assert [t.tolist() for t in found[:5]] == [[True], [3], [0.0, 0.0], 0.0, [0.0, 0.0]]
    np.testing.assert_allclose(found[5].numpy(), [[17 / 26, 6 / 26], [6 / 26, 22 / 26]], rtol=1e-5)
    one = minimize_lbfgs(lambda x: (x * x).sum(), wt.to_tensor([3.0, -2.0]), max_iters=1, initial_step_length=0.1)
    np.testing.assert_allclose(one[2].numpy(), [2.4, -1.6], rtol=1e-6)
    assert one[0].tolist() == [False]


@BOTH
def test_an_estimate_of_the_inverse_hessian_makes_one_step_enough(minimize):
    scale = wt.to_tensor([1.0, 100.0])
    found = minimize(lambda x: (scale * x * x).sum() / 2, wt.to_tensor([3.0, -2.0]), initial_inverse_hessian_estimate=wt.diag(1 / scale))
    assert int(found[1]) == 2
    np.testing.assert_allclose(found[2].numpy(), 0.0, atol=1e-6)


@BOTH
def test_nothing_to_gain_ends_the_search(minimize):
    at = wt.zeros([2])
    assert [t.tolist() for t in minimize(lambda x: (x * x).sum(), at)[:3]] == [[True], [1], [0.0, 0.0]]
    assert minimize(lambda x: (x * float("nan")).sum(), at)[0].tolist() == [False]
    assert minimize(lambda x: (x * x).sum(), at + 1, max_iters=0)[2].tolist() == [1.0, 1.0]


@BOTH
@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"dtype": "float16"}, ValueError, "dtype must be"), ({"dtype": "float64"}, ValueError, "initial_position does not fit"),
        ({"line_search_fn": "armijo"}, NotImplementedError, "strong_wolfe"),
        ({"initial_inverse_hessian_estimate": wt.to_tensor([[1.0, 2.0], [0.0, 1.0]])}, ValueError, "symmetric and positive definite"),
        ({"initial_inverse_hessian_estimate": wt.to_tensor([[-1.0, 0.0], [0.0, 1.0]])}, ValueError, "symmetric and positive definite"),
        ({"initial_position": wt.ones([2, 2])}, ValueError, "expected a vector"),
        ({"initial_position": np.ones(2, "float32")}, ValueError, "must be a tensor"),
        ({"objective_func": lambda x: x * x}, AssertionError, "must return one number"), ({"max_iters": "a"}, TypeError, "max_iters"),
    ],
)
def test_minimization_names_a_wrong_argument(minimize, options, error, text):
    with pytest.raises(error, match=text):
        minimize(**{"objective_func": lambda x: (x * x).sum(), "initial_position": wt.to_tensor([3.0, -2.0]), **options})
