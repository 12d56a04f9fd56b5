"""Samples and references of parameter updates."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

_LR = np.array([0.1])
_SHAPES = (), (3,), (2, 0), (3, 5, 7), (40, 33)
_SCALE = np.array([0.25])
# Moments of half types lose digits before they are divided by each other.
_TOLERANCE = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}


def _scaled(grad, scale):
    return grad if scale is None else grad * scale.item()


@spec(
    ops.sgd, differentiable=False,
    reference=lambda param, grad, lr, scale=None, *, weight_decay: (
        param - lr.item() * (_scaled(grad, scale) + weight_decay * param)
    ),
)
def spec_sgd(rng):
    for shape in _SHAPES:
        yield case(rng.standard_normal(shape), rng.standard_normal(shape), _LR, weight_decay=0.0)
    yield case(rng.standard_normal(5), rng.standard_normal(5), np.array(0.5), weight_decay=0.25)
    yield case(rng.standard_normal(40), rng.standard_normal(40), _LR, np.array(0.5), weight_decay=0.25)
    yield bad(np.zeros(2), np.zeros(3), _LR, weight_decay=0.0, error=ValueError, match=r"`grad` and `param`.*\[3\] and \[2\]")
    yield bad(np.zeros(2), np.zeros(2, np.float32), _LR, weight_decay=0.0, error=TypeError, match="different dtypes")
    yield bad(np.zeros(2), np.zeros(2), np.zeros(2), weight_decay=0.0, error=ValueError, match="`lr` must hold one number")
    yield bad(
        np.zeros(2), np.zeros(2), _LR, np.zeros(2), weight_decay=0.0, error=ValueError, match="`scale` must hold one number"
    )


def _momentum_reference(param, velocity, grad, lr, scale=None, *, mu, nesterov, weight_decay):
    grad = _scaled(grad, scale) + weight_decay * param
    velocity = mu * velocity + grad
    return param - lr.item() * (grad + mu * velocity if nesterov else velocity), velocity


@spec(ops.momentum, reference=_momentum_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_momentum(rng):
    for shape in _SHAPES:
        for nesterov in False, True:
            yield case(
                *rng.standard_normal((3, *shape)), _LR, *([_SCALE] if nesterov else []), mu=0.9, nesterov=nesterov,
                weight_decay=0.1 if nesterov else 0.0
            )


def _adam_reference(decoupled):
    def reference(
        param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay
    ):
        grad = _scaled(grad, scale)
        if decoupled:
            param = param * (1 - lr.item() * weight_decay)
        else:
            grad = grad + weight_decay * param
        moment1 = beta1 * moment1 + (1 - beta1) * grad
        moment2 = beta2 * moment2 + (1 - beta2) * grad**2
        corrected1, corrected2 = moment1 / (1 - beta1_power.item()), moment2 / (1 - beta2_power.item())
        param = param - lr.item() * corrected1 / (np.sqrt(corrected2) + epsilon)
        return param, moment1, moment2, beta1_power * beta1, beta2_power * beta2

    return reference


def _adam_cases(rng):
    for shape in _SHAPES:
        param, moment1, grad = rng.standard_normal((3, *shape))
        yield case(
            param, moment1, rng.random(shape) + 0.1, np.array([0.75]), np.array([0.9375]), grad, _LR,
            beta1=0.5, beta2=0.75, epsilon=0.125, weight_decay=0.0,
        )
        yield case(
            param, moment1, rng.random(shape) + 0.1, np.array([0.5]), np.array([0.5]), grad, _LR, _SCALE,
            beta1=0.75, beta2=0.75, epsilon=1e-3, weight_decay=0.5,
        )
    yield bad(
        np.zeros(2), np.zeros(3), np.zeros(2), _LR, _LR, np.zeros(2), _LR, beta1=0.9, beta2=0.9, epsilon=0.1,
        weight_decay=0.0, error=ValueError, match="`moment1` and `param` must have one shape",
    )


@spec(ops.adam, reference=_adam_reference(False), differentiable=False, tolerance=_TOLERANCE)
def spec_adam(rng):
    yield from _adam_cases(rng)


@spec(ops.adamw, reference=_adam_reference(True), differentiable=False, tolerance=_TOLERANCE)
def spec_adamw(rng):
    yield from _adam_cases(rng)


def _adagrad_reference(param, moment, grad, lr, scale=None, *, epsilon, weight_decay):
    grad = _scaled(grad, scale) + weight_decay * param
    moment = moment + grad**2
    return param - lr.item() * grad / (np.sqrt(moment) + epsilon), moment


@spec(ops.adagrad, reference=_adagrad_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_adagrad(rng):
    for shape in _SHAPES:
        param, grad = rng.standard_normal((2, *shape))
        yield case(param, rng.random(shape) + 0.1, grad, _LR, epsilon=0.125, weight_decay=0.0)
        yield case(param, rng.random(shape) + 0.1, grad, _LR, _SCALE, epsilon=0.0, weight_decay=0.5)
    yield bad(
        np.zeros(2), np.zeros(3), np.zeros(2), _LR, epsilon=0.1, weight_decay=0.0, error=ValueError,
        match="`moment` and `param` must have one shape",
    )


def _adadelta_reference(
    param, avg_squared_grad, avg_squared_update, grad, lr, scale=None, *, rho, epsilon, weight_decay
):
    grad = _scaled(grad, scale) + weight_decay * param
    avg_squared_grad = rho * avg_squared_grad + (1 - rho) * grad**2
    step = np.sqrt((avg_squared_update + epsilon) / (avg_squared_grad + epsilon)) * grad
    return param - lr.item() * step, avg_squared_grad, rho * avg_squared_update + (1 - rho) * step**2


@spec(ops.adadelta, reference=_adadelta_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_adadelta(rng):
    for shape in _SHAPES:
        param, grad = rng.standard_normal((2, *shape))
        yield case(
            param, rng.random(shape) + 0.1, rng.random(shape), grad, _LR, rho=0.75, epsilon=0.125, weight_decay=0.0
        )
        yield case(param, rng.random(shape) + 0.1, np.zeros(shape), grad, _LR, _SCALE, rho=0.5, epsilon=1e-2, weight_decay=0.5)
    yield bad(
        np.zeros(2), np.zeros(2), np.zeros(3), np.zeros(2), _LR, rho=0.5, epsilon=0.1, weight_decay=0.0, error=ValueError,
        match="`avg_squared_update` and `param` must have one shape",
    )


def _adamax_reference(
    param, moment, inf_norm, beta1_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay
):
    grad = _scaled(grad, scale) + weight_decay * param
    moment = beta1 * moment + (1 - beta1) * grad
    inf_norm = np.maximum(np.abs(grad), beta2 * inf_norm + epsilon)
    return param - lr.item() / (1 - beta1_power.item()) * moment / inf_norm, moment, inf_norm, beta1_power * beta1


@spec(ops.adamax, reference=_adamax_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_adamax(rng):
    for shape in _SHAPES:
        param, moment, grad = rng.standard_normal((3, *shape))
        yield case(
            param, moment, rng.random(shape), np.array([0.75]), grad, _LR, beta1=0.75, beta2=0.5, epsilon=0.125,
            weight_decay=0.0,
        )
        yield case(
            param, moment, np.zeros(shape), np.array([0.5]), grad, _LR, _SCALE, beta1=0.5, beta2=0.75, epsilon=1e-2,
            weight_decay=0.5,
        )
    yield bad(
        np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), _LR, beta1=0.5, beta2=0.5, epsilon=0.1,
        weight_decay=0.0, error=ValueError, match="`beta1_power` must hold one number",
    )


def _nadam_reference(
    param, moment1, moment2, decay_power, beta2_power, mu_product, grad, lr, scale=None, *, beta1, beta2, epsilon, momentum_decay, weight_decay
):
    grad = _scaled(grad, scale) + weight_decay * param
    moment1, moment2 = beta1 * moment1 + (1 - beta1) * grad, beta2 * moment2 + (1 - beta2) * grad**2
    decay_power, beta2_power = decay_power * 0.96, beta2_power * beta2
    mu, next_mu = (beta1 * (1 - 0.5 * (decay_power.item() * more) ** momentum_decay) for more in (1, 0.96))
    mu_product = mu_product * mu
    step = next_mu * moment1 / (1 - mu_product.item() * next_mu) + (1 - mu) * grad / (1 - mu_product.item())
    param = param - lr.item() * step / (np.sqrt(moment2 / (1 - beta2_power.item())) + epsilon)
    return param, moment1, moment2, decay_power, beta2_power, mu_product


@spec(ops.nadam, reference=_nadam_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_nadam(rng):
    settings = {"beta1": 0.75, "beta2": 0.5, "epsilon": 0.125, "momentum_decay": 0.004}
    for shape in _SHAPES:
        param, moment, grad = rng.standard_normal((3, *shape))
        yield case(param, moment, rng.random(shape), np.array([1.0]), np.array([1.0]), np.array([1.0]), grad, _LR, weight_decay=0.0, **settings)
        yield case(
            param, moment, rng.random(shape), np.array([0.75]), np.array([0.5]), np.array([0.25]), grad, _LR, _SCALE, weight_decay=0.5, **settings
        )
    yield bad(
        np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), np.ones(1), np.ones(1), np.zeros(2), _LR, weight_decay=0.0, **settings,
        error=ValueError, match="`decay_power` must hold one number",
    )


def _radam_reference(
    param, moment1, moment2, beta1_power, beta2_power, rho, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay
):
    grad = _scaled(grad, scale) + weight_decay * param
    moment1, moment2 = beta1 * moment1 + (1 - beta1) * grad, beta2 * moment2 + (1 - beta2) * grad**2
    beta1_power, beta2_power = beta1_power * beta1, beta2_power * beta2
    rho = (rho * (beta2 - beta2_power) + beta2_power) / (1 - beta2_power)
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * rho.item()
    step = moment1 / (1 - beta1_power.item())
    if length > 5:
        rectified = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        step = step * np.sqrt(rectified * (1 - beta2_power.item())) / (np.sqrt(moment2) + epsilon)
    return param - lr.item() * step, moment1, moment2, beta1_power, beta2_power, rho


@spec(ops.radam, reference=_radam_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_radam(rng):
    for shape in _SHAPES:
        param, moment, grad = rng.standard_normal((3, *shape))
        yield case(  # the first step
            param, moment, rng.random(shape), np.array([1.0]), np.array([1.0]), np.array([0.0]), grad, _LR, beta1=0.75, beta2=0.875, epsilon=0.125,
            weight_decay=0.0,
        )
        yield case(  # late enough for the variance
            param, moment, rng.random(shape), np.array([0.25]), np.array([0.125]), np.array([1.5]), grad, _LR, _SCALE, beta1=0.75, beta2=0.875,
            epsilon=0.125, weight_decay=0.5,
        )
    yield bad(
        np.zeros(2), np.zeros(2), np.zeros(2), np.ones(1), np.ones(1), np.zeros(2), np.zeros(2), _LR, beta1=0.5, beta2=0.5, epsilon=0.1,
        weight_decay=0.0, error=ValueError, match="`rho` must hold one number",
    )


def _rprop_reference(param, prevs, learning_rates, grad, lr, scale=None, *, least, most, eta_negative, eta_positive, weight_decay):
    grad = _scaled(grad, scale) + weight_decay * param
    product = grad * prevs
    rates = np.where(learning_rates == 0, lr.item(), learning_rates)
    rates = np.clip(rates * np.where(product > 0, eta_positive, np.where(product < 0, eta_negative, 1.0)), least, most)
    grad = np.where(product < 0, 0, grad)
    return param - np.sign(grad) * rates, grad, rates


@spec(ops.rprop, reference=_rprop_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_rprop(rng):
    settings = {"least": 0.0625, "most": 0.5, "eta_negative": 0.5, "eta_positive": 1.25}
    for shape in _SHAPES:
        # Signs of either kind, none near zero: rounding must not change them.
        param, prevs, grad = (np.where(rng.random(shape) < 0.5, -1.0, 1.0) * rng.uniform(0.5, 1.0, shape) for _ in range(3))
        yield case(param, prevs, np.zeros(shape), grad, _LR, weight_decay=0.0, **settings)
        yield case(param, prevs, rng.uniform(0.1, 0.4, shape), grad, _LR, _SCALE, weight_decay=0.0, **settings)
    yield bad(np.zeros(2), np.zeros(3), np.zeros(2), np.zeros(2), _LR, weight_decay=0.0, **settings, error=ValueError, match="`prevs` and `param`")


def _rmsprop_reference(
    param, momentum, mean_square, mean_grad, grad, lr, scale=None, *, rho, epsilon, mu, centered, weight_decay
):
    grad = _scaled(grad, scale) + weight_decay * param
    mean_square = rho * mean_square + (1 - rho) * grad**2
    spread = mean_square
    if centered:
        mean_grad = rho * mean_grad + (1 - rho) * grad
        spread = mean_square - mean_grad**2
    momentum = mu * momentum + lr.item() * grad / np.sqrt(spread + epsilon)
    return param - momentum, momentum, mean_square, mean_grad


@spec(ops.rmsprop, reference=_rmsprop_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_rmsprop(rng):
    for shape in _SHAPES:
        param, momentum, grad = rng.standard_normal((3, *shape))
        for centered in False, True:
            yield case(
                param, momentum, rng.random(shape) + 1.0, rng.random(shape) / 4, grad, _LR, *([_SCALE] if centered else []), rho=0.75, epsilon=0.125,
                mu=0.5, centered=centered, weight_decay=0.5 if centered else 0.0,
            )
    yield bad(
        np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(3), np.zeros(2), _LR, rho=0.5, epsilon=0.1, mu=0.0, centered=True,
        weight_decay=0.0, error=ValueError, match="`mean_grad` and `param` must have one shape",
    )


def _lamb_reference(
    param, moment1, moment2, beta1_power, beta2_power, grad, lr, scale=None, *, beta1, beta2, epsilon, weight_decay, adapt
):
    grad = _scaled(grad, scale)
    moment1 = beta1 * moment1 + (1 - beta1) * grad
    moment2 = beta2 * moment2 + (1 - beta2) * grad**2
    corrected1, corrected2 = moment1 / (1 - beta1_power.item()), moment2 / (1 - beta2_power.item())
    step = corrected1 / (np.sqrt(corrected2) + epsilon) + weight_decay * param
    length, of_step = np.sqrt((param**2).sum()), np.sqrt((step**2).sum())
    ratio = length / of_step if adapt and length > 0 and of_step > 0 else 1.0
    return param - lr.item() * ratio * step, moment1, moment2, beta1_power * beta1, beta2_power * beta2


@spec(ops.lamb, reference=_lamb_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_lamb(rng):
    for shape in (*_SHAPES, (20000,)):
        param, moment1, grad = rng.standard_normal((3, *shape))
        for adapt in True, False:
            yield case(
                param, moment1, rng.random(shape) + 0.1, np.array([0.75]), np.array([0.9375]), grad, _LR, *([_SCALE] if adapt else []),
                beta1=0.5, beta2=0.75, epsilon=0.125, weight_decay=0.25 if adapt else 0.0, adapt=adapt,
            )
    # Without length there is nothing to adapt to.
    yield case(
        np.zeros(3), np.zeros(3), np.ones(3), np.array([0.5]), np.array([0.5]), np.ones(3), _LR, beta1=0.5, beta2=0.5,
        epsilon=0.125, weight_decay=0.25, adapt=True,
    )
    yield bad(
        np.zeros(2), np.zeros(3), np.zeros(2), _LR, _LR, np.zeros(2), _LR, beta1=0.9, beta2=0.9, epsilon=0.1,
        weight_decay=0.0, adapt=True, error=ValueError, match="`moment1` and `param` must have one shape",
    )


def _some(rng):
    yield [rng.standard_normal(5)]
    yield [np.array(-2.0)]
    yield [rng.standard_normal((2, 0, 3))]
    yield [rng.standard_normal((3, 40)), np.array(0.5), rng.standard_normal((2, 3, 4)), np.zeros((0, 2))]
    yield [rng.standard_normal(70000)]  # longer than what is summed at once


@spec(
    ops.sum_of_squares, reference=lambda *xs: np.asarray(sum((x.astype(np.float64) ** 2).sum() for x in xs)),
    differentiable=False, tolerance={"float16": (5e-3, 5e-3), "bfloat16": (3e-2, 3e-2)},
)
def spec_sum_of_squares(rng):
    for xs in _some(rng):
        yield case(*xs)
    yield bad(error=ValueError, match="nothing to look at")
    yield bad(np.zeros(2), np.zeros(2, np.int64), error=TypeError, match="sum_of_squares")


@spec(ops.all_finite, reference=lambda *xs: np.asarray(all(np.isfinite(x).all() for x in xs)), differentiable=False)
def spec_all_finite(rng):
    for xs in _some(rng):
        yield case(*xs)
    yield case(np.array([1.0, np.inf]), np.zeros(2))
    yield case(np.zeros(2), np.array([[1.0, np.nan], [0.0, 0.0]]))
    yield case(np.append(np.zeros(70000), -np.inf))
    yield bad(error=ValueError, match="nothing to look at")
