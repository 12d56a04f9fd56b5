"""Samples and references of parameter updates."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

_LR = np.array([0.1])
_SHAPES = (), (3,), (2, 0), (3, 5, 7), (40, 33)
# Moments of half types lose digits before they are divided by each other.
_TOLERANCE = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}


@spec(
    ops.sgd, reference=lambda param, grad, lr, weight_decay: param - lr.item() * (grad + weight_decay * param),
    differentiable=False,
)
def spec_sgd(rng):
    for shape in _SHAPES:
        yield case(rng.standard_normal(shape), rng.standard_normal(shape), _LR, weight_decay=0.0)
    yield case(rng.standard_normal(5), rng.standard_normal(5), np.array(0.5), weight_decay=0.25)
    yield bad(np.zeros(2), np.zeros(3), _LR, weight_decay=0.0, error=ValueError, match=r"`grad` and `param`.*\[3\] and \[2\]")
    yield bad(np.zeros(2), np.zeros(2, np.float32), _LR, weight_decay=0.0, error=TypeError, match="different dtypes")
    yield bad(np.zeros(2), np.zeros(2), np.zeros(2), weight_decay=0.0, error=ValueError, match="`lr` must hold one number")


def _momentum_reference(param, velocity, grad, lr, mu, nesterov, weight_decay):
    grad = grad + weight_decay * param
    velocity = mu * velocity + grad
    return param - lr.item() * (grad + mu * velocity if nesterov else velocity), velocity


@spec(ops.momentum, reference=_momentum_reference, differentiable=False, tolerance=_TOLERANCE)
def spec_momentum(rng):
    for shape in _SHAPES:
        for nesterov in False, True:
            yield case(
                *rng.standard_normal((3, *shape)), _LR, mu=0.9, nesterov=nesterov, weight_decay=0.1 if nesterov else 0.0
            )


def _adam_reference(decoupled):
    def reference(param, moment1, moment2, beta1_power, beta2_power, grad, lr, beta1, beta2, epsilon, weight_decay):
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
            param, moment1, rng.random(shape) + 0.1, np.array([0.5]), np.array([0.5]), grad, _LR,
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
