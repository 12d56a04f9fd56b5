"""Schedulers against their formulas; epochs given by hand; state; output; arguments."""
import math

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_train.optimizer import lr

CYCLE = [0.1 + 0.4 * x for x in (0, 1 / 3, 2 / 3, 1, 2 / 3, 1 / 3)]

# name, how to make one (last_epoch, verbose), the rate at an epoch.
SCHEDULERS = {
    "LambdaDecay": (lambda **k: lr.LambdaDecay(0.5, lambda e: 0.9**e, **k), lambda e: 0.5 * 0.9**e),
    "NoamDecay": (
        lambda **k: lr.NoamDecay(8, 5, learning_rate=2.0, **k),
        lambda e: 0.0 if e == 0 else 2 * 8**-0.5 * min(e**-0.5, e * 5**-1.5),
    ),
    "PiecewiseDecay": (
        lambda **k: lr.PiecewiseDecay([3, 6], [0.1, 0.2, 0.3], **k), lambda e: 0.1 if e < 3 else 0.2 if e < 6 else 0.3,
    ),
    "NaturalExpDecay": (lambda **k: lr.NaturalExpDecay(0.5, 0.1, **k), lambda e: 0.5 * math.exp(-0.1 * e)),
    "InverseTimeDecay": (lambda **k: lr.InverseTimeDecay(0.5, 0.1, **k), lambda e: 0.5 / (1 + 0.1 * e)),
    "PolynomialDecay": (
        lambda **k: lr.PolynomialDecay(0.5, 4, end_lr=0.1, power=2.0, **k),
        lambda e: 0.4 * (1 - min(e, 4) / 4) ** 2 + 0.1,
    ),
    "PolynomialDecay, cycle": (
        lambda **k: lr.PolynomialDecay(0.5, 4, end_lr=0.1, cycle=True, **k),
        lambda e: 0.4 * (1 - e / (4 * max(1, math.ceil(e / 4)))) + 0.1,
    ),
    "LinearWarmup": (lambda **k: lr.LinearWarmup(0.5, 4, 0.1, 0.3, **k), lambda e: 0.1 + 0.05 * e if e < 4 else 0.5),
    "LinearWarmup, StepDecay": (
        lambda **k: lr.LinearWarmup(lr.StepDecay(0.5, 2), 4, 0.1, 0.3, **k),
        lambda e: 0.1 + 0.05 * e if e < 4 else 0.5 * 0.1 ** ((e - 4) // 2),
    ),
    "ExponentialDecay": (lambda **k: lr.ExponentialDecay(0.5, 0.9, **k), lambda e: 0.5 * 0.9**e),
    "MultiStepDecay": (
        lambda **k: lr.MultiStepDecay(0.5, [2, 5], **k), lambda e: 0.5 * 0.1 ** sum(e >= m for m in (2, 5)),
    ),
    "StepDecay": (lambda **k: lr.StepDecay(0.5, 3, gamma=0.5, **k), lambda e: 0.5 * 0.5 ** (e // 3)),
    "CosineAnnealingDecay": (
        lambda **k: lr.CosineAnnealingDecay(0.5, 4, eta_min=0.1, **k),
        lambda e: 0.1 + 0.4 * (1 + math.cos(math.pi * e / 4)) / 2,
    ),
    "CosineAnnealingWarmRestarts": (
        lambda **k: lr.CosineAnnealingWarmRestarts(0.5, 3, eta_min=0.1, **k),
        lambda e: 0.1 + 0.4 * (1 + math.cos(math.pi * (e % 3) / 3)) / 2,
    ),
    "MultiplicativeDecay": (
        lambda **k: lr.MultiplicativeDecay(0.5, lambda e: 1 - e / 10, **k),
        lambda e: 0.5 * math.prod(1 - i / 10 for i in range(1, e + 1)),
    ),
    "LinearLR": (
        lambda **k: lr.LinearLR(0.5, 4, start_factor=0.5, end_factor=1.0, **k), lambda e: 0.5 * (0.5 + 0.125 * min(e, 4)),
    ),
    "CyclicLR": (lambda **k: lr.CyclicLR(0.1, 0.5, 3, **k), lambda e: CYCLE[e % 6]),
    "CyclicLR, triangular2": (
        lambda **k: lr.CyclicLR(0.1, 0.5, 3, mode="triangular2", **k),
        lambda e: 0.1 + (CYCLE[e % 6] - 0.1) / 2 ** (e // 6),
    ),
    "CyclicLR, exp_range": (
        lambda **k: lr.CyclicLR(0.1, 0.5, 3, mode="exp_range", exp_gamma=0.9, **k),
        lambda e: 0.1 + (CYCLE[e % 6] - 0.1) * 0.9**e,
    ),
    "OneCycleLR": (
        lambda **k: lr.OneCycleLR(0.5, 11, divide_factor=5.0, end_learning_rate=0.02, phase_pct=6 / 11, **k),
        lambda e: 0.1 + 0.4 * (1 - math.cos(math.pi * e / 5)) / 2 if e <= 5
        else 0.02 + 0.48 * (1 + math.cos(math.pi * (e - 5) / 5)) / 2,
    ),
    "OneCycleLR, three phases": (
        lambda **k: lr.OneCycleLR(
            0.5, 12, divide_factor=5.0, end_learning_rate=0.02, phase_pct=0.25, three_phase=True, anneal_strategy="linear", **k
        ),
        lambda e: np.interp(e, [0, 2, 4, 11], [0.1, 0.5, 0.1, 0.02]),
    ),
}
each = pytest.mark.parametrize("name", SCHEDULERS)


@each
def test_rates_follow_the_formula(name):
    make, formula = SCHEDULERS[name]
    scheduler = make()
    for epoch in range(11):
        assert scheduler.last_epoch == epoch
        np.testing.assert_allclose(scheduler(), formula(epoch), rtol=1e-12, atol=1e-15)
        scheduler.step()


@each
def test_an_epoch_can_be_named(name):
    if name == "LinearLR":
        pytest.skip("its rate is made from the one before, as in Paddle")
    make, formula = SCHEDULERS[name]
    scheduler = make()
    for epoch in 5, 2, 7, 0:
        scheduler.step(epoch)
        assert scheduler.last_epoch == epoch
        np.testing.assert_allclose(scheduler(), formula(epoch), rtol=1e-12, atol=1e-15)


@each
def test_a_resumed_scheduler_goes_on_with_the_same_rates(name):
    make, _ = SCHEDULERS[name]
    whole = make()
    for _ in range(6):
        whole.step()
    resumed = make()
    resumed.set_state_dict(whole.state_dict())
    for _ in range(4):
        assert resumed() == whole() and resumed.last_epoch == whole.last_epoch
        whole.step()
        resumed.step()


def test_warm_restarts_with_longer_periods_resume_within_a_period():
    whole = lr.CosineAnnealingWarmRestarts(0.5, 2, T_mult=2)
    for _ in range(4):
        whole.step()
    resumed = lr.CosineAnnealingWarmRestarts(0.5, 2, T_mult=2)
    resumed.set_state_dict(whole.state_dict())
    resumed.step()
    np.testing.assert_allclose(resumed(), 0.5 * (1 + math.cos(math.pi * 3 / 4)) / 2, rtol=1e-12)
    resumed.step(2.5)
    np.testing.assert_allclose(resumed(), 0.5 * (1 + math.cos(math.pi * 0.5 / 4)) / 2, rtol=1e-12)
    assert resumed.last_epoch == 2


@each
def test_last_epoch_starts_in_the_middle(name):
    if name in ("CosineAnnealingDecay", "LinearLR"):
        pytest.skip("its rate is made from the one before, as in Paddle")
    make, formula = SCHEDULERS[name]
    np.testing.assert_allclose(make(last_epoch=3)(), formula(4), rtol=1e-12)


def test_verbose_prints_every_rate(capsys):
    lr.StepDecay(0.5, 1, gamma=0.5, verbose=True).step()
    assert capsys.readouterr().out == (
        "Epoch 0: StepDecay set learning rate to 0.5.\nEpoch 1: StepDecay set learning rate to 0.25.\n"
    )


def test_state_of_a_warmup_holds_that_of_the_scheduler_after_it():
    scheduler = lr.LinearWarmup(lr.StepDecay(0.5, 2), 2, 0.0, 0.5)
    for _ in range(4):
        scheduler.step()
    state = scheduler.state_dict()
    assert state["LinearWarmup_LR"] == {"last_epoch": 2, "last_lr": 0.05}
    assert state["last_epoch"] == 4


def test_own_state_keys_are_saved():
    class Own(lr.LRScheduler):
        def __init__(self, rate):
            self.scale = 2.0
            super().__init__(rate)

        def get_lr(self):
            return self.base_lr * self.scale

        def state_keys(self):
            self.keys = ["last_epoch", "last_lr", "scale"]

    scheduler = Own(0.5)
    assert scheduler.state_dict() == {"last_epoch": 0, "last_lr": 1.0, "scale": 2.0}
    scheduler.set_dict({"last_epoch": 3, "last_lr": 4.0, "scale": 8.0})
    scheduler.step()
    assert scheduler() == 4.0
    with pytest.raises(RuntimeError, match=r"Can't find \[ scale \] in state_dict"):
        scheduler.set_state_dict({"last_epoch": 3, "last_lr": 4.0})
    with pytest.raises(TypeError, match="expected a dict"):
        scheduler.set_state_dict(3)
    with pytest.warns(UserWarning, match="unused values"):
        scheduler.set_state_dict({**scheduler.state_dict(), "other": 1})


# ReduceOnPlateau.


def rates(scheduler, measures):
    out = []
    for measure in measures:
        scheduler.step(measure)
        out.append(scheduler())
    return out


def test_plateau_waits_for_patience_then_reduces():
    assert rates(lr.ReduceOnPlateau(1.0, factor=0.5, patience=1), [3, 2, 2, 2, 2, 2, 1]) == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]


def test_plateau_counts_nothing_while_it_cools_down():
    scheduler = lr.ReduceOnPlateau(1.0, factor=0.5, patience=0, cooldown=2)
    assert rates(scheduler, [2, 2, 2, 2, 2]) == [1, 0.5, 0.5, 0.5, 0.25]


@pytest.mark.parametrize(
    ("options", "measures", "expected"),
    [
        ({"mode": "max"}, [1, 2, 1, 1], [1, 1, 0.5, 0.25]),
        ({"threshold": 0.5}, [4, 3, 1], [1, 0.5, 0.5]),  # 3 is better than 4, yet not by half
        ({"threshold": 0.5, "threshold_mode": "abs"}, [4, 3.6, 3.4], [1, 0.5, 0.5]),
        ({"min_lr": 0.4}, [1, 1, 1], [1, 0.5, 0.4]),
        ({"epsilon": 0.3}, [1, 1, 1], [1, 0.5, 0.5]),
    ],
)
def test_plateau_options(options, measures, expected):
    assert rates(lr.ReduceOnPlateau(1.0, factor=0.5, patience=0, **options), measures) == expected


@pytest.mark.parametrize("of", [wt.to_tensor, lambda x: wt.to_tensor([x]), np.float32, lambda x: np.array([x])])
def test_plateau_takes_tensors_and_arrays(of):
    scheduler = lr.ReduceOnPlateau(1.0, factor=0.5, patience=0)
    assert rates(scheduler, [of(2.0), of(2.0)]) == [1, 0.5]
    assert scheduler.state_dict() == {
        "cooldown_counter": 0, "best": 2.0, "num_bad_epochs": 0, "last_epoch": 2, "last_lr": 0.5,
    }


def test_plateau_says_what_it_reduces_to(capsys):
    rates(lr.ReduceOnPlateau(1.0, factor=0.5, patience=0, verbose=True), [1, 1])
    assert capsys.readouterr().out == "Epoch 2: ReduceOnPlateau set learning rate to 0.5.\n"


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: lr.StepDecay("a", 3), TypeError, "learning rate must be a number"),
        (lambda: lr.StepDecay(-0.1, 3), ValueError, "Invalid learning rate"),
        (lambda: lr.StepDecay(0.1, 3.0), TypeError, "'step_size' must be an int"),
        (lambda: lr.StepDecay(0.1, 0), AssertionError, "'step_size' must be a positive integer"),
        (lambda: lr.StepDecay(0.1, 3, gamma=1.0), ValueError, "gamma should be < 1.0"),
        (lambda: lr.StepDecay(0.1, 3, last_epoch="a"), TypeError, "last_epoch is not a number"),
        (lambda: lr.MultiStepDecay(0.1, 3), TypeError, r"Write milestones=\[3\]"),
        (lambda: lr.MultiStepDecay(0.1, [3, 2]), ValueError, "must be incremented"),
        (lambda: lr.LambdaDecay(0.1, 0.3), TypeError, "'lr_lambda' must be a function"),
        (lambda: lr.MultiplicativeDecay(0.1, 0.3), TypeError, "'lr_lambda' must be a function"),
        (lambda: lr.CosineAnnealingDecay(0.1, 4.5), TypeError, "'T_max' must be an int"),
        (lambda: lr.CosineAnnealingDecay(0.1, 0), AssertionError, "'T_max' must be a positive integer"),
        (lambda: lr.CosineAnnealingDecay(0.1, 4, eta_min="a"), TypeError, "'eta_min' must be 'float' or 'int'"),
        (lambda: lr.PolynomialDecay(0.1, 4.0), AssertionError, "'decay_steps' must be a positive integer"),
        (lambda: lr.PolynomialDecay(0.1, 4, power=-1.0), AssertionError, "'power' must be greater than 0.0"),
        (lambda: lr.LinearWarmup("a", 3, 0.0, 1.0), TypeError, "int, float or LRScheduler"),
        (lambda: lr.LinearWarmup(0.1, 3, 1.0, 0.5), AssertionError, "end_lr must be greater than start_lr"),
        (lambda: lr.LinearWarmup(0.1, 0, 0.0, 0.5), AssertionError, "'warmup_steps' must be a positive integer"),
        (lambda: lr.NoamDecay(0, 3), ValueError, "d_model should be greater than 0"),
        (lambda: lr.PiecewiseDecay([1, 2], [0.1, 0.2]), ValueError, "one more element than boundaries"),
        (lambda: lr.ExponentialDecay(0.1, 1.5), AssertionError, r"interval \(0.0, 1.0\)"),
        (lambda: lr.NaturalExpDecay(0.1, 0.0), AssertionError, "must be a positive number"),
        (lambda: lr.LRScheduler(0.1), NotImplementedError, "define get_lr"),
        (lambda: lr.ReduceOnPlateau(0.1, mode="x"), ValueError, "mode: x is unknown"),
        (lambda: lr.ReduceOnPlateau(0.1, threshold_mode="x"), ValueError, "threshold mode: x is unknown"),
        (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), ValueError, "factor should be < 1.0"),
        (lambda: lr.ReduceOnPlateau("a"), TypeError, "learning rate must be a number"),
        (lambda: lr.ReduceOnPlateau(0.1).step("a"), TypeError, "metrics must be a number"),
        (lambda: lr.ReduceOnPlateau(0.1).step(wt.zeros([2])), AssertionError, "size of metrics must be 1"),
        (lambda: lr.OneCycleLR(0.1, 0), ValueError, "must be a positive integer"),
        (lambda: lr.OneCycleLR(0.1, 4, phase_pct=2.0), ValueError, "between 0 and 1"),
        (lambda: lr.OneCycleLR(0.1, 4, phase_pct=0.7, three_phase=True), ValueError, "less than 0.5"),
        (lambda: lr.OneCycleLR(0.1, 4, anneal_strategy="x"), ValueError, "'cos' or 'linear'"),
        (lambda: lr.OneCycleLR(0.1, 4, end_learning_rate=-1.0), ValueError, "must not be negative"),
        (lambda: lr.OneCycleLR(0.1, 4).step(5), ValueError, "number of total steps is 4"),
        (lambda: lr.CyclicLR("a", 0.1, 3), TypeError, "'base_learning_rate' must be"),
        (lambda: lr.CyclicLR(0.1, 0.5, 0), ValueError, "'step_size_up' must be a positive integer"),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, mode="x"), ValueError, "'mode' is invalid"),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, scale_mode="x"), ValueError, "'scale_mode' must be one of"),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, scale_fn=3), TypeError, "'scale_fn' must be a function"),
        (lambda: lr.LinearLR(0.1, 3, start_factor=0.0), ValueError, "`start_factor`"),
        (lambda: lr.LinearLR(0.1, 3, end_factor=2.0), ValueError, "`end_factor`"),
        (lambda: lr.LinearLR(0.1, 0), ValueError, "`total_steps` must be greater than 0"),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 2.5), ValueError, "T_0 is not a number of epochs"),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 2, 0), ValueError, "T_mult is not a number of epochs"),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 2).step(-1), ValueError, "non-negative epoch"),
    ],
)
def test_wrong_arguments_say_what_was_expected(make, error, match):
    with pytest.raises(error, match=match):
        make()
