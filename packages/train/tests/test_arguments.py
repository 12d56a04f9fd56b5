"""Arguments of no use, over everything that has a constructor here: it works, or the error says what was got."""
import inspect
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_tensor import errors
from wherry_train import amp, io, regularizer
from wherry_train import optimizer as opt
from wherry_train.optimizer import lr

DEEP: list = []  # its repr fails
for _ in range(5000):
    DEEP = [DEEP]
HOSTILE = [
    None, "x", -1, 0, 1.5, math.nan, math.inf, 10**30, [], {}, object(), (1, 2, 3), [None], np.zeros(3), wt.zeros([2]), b"a", [-1.0], DEEP,
]
OWN = tuple(kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception))
DATA = [1, 2, 3, 4]
GIVEN = {
    "learning_rate": 0.1, "d_model": 64, "warmup_steps": 10, "boundaries": [1, 2], "values": [0.1, 0.2, 0.3], "gamma": 0.5, "decay_steps": 5,
    "end_lr": 0.1, "start_lr": 0.0, "step_size": 3, "milestones": [1, 2], "lr_lambda": lambda epoch: 1.0, "T_max": 5, "T_0": 3,
    "max_learning_rate": 0.1, "total_steps": 10, "base_learning_rate": 0.05, "step_size_up": 2,
    "data_source": DATA, "indices": [0, 1], "weights": [0.1, 0.2], "num_samples": 2, "dataset": DATA, "batch_size": 2,
}
SCHEDULES = {name: getattr(lr, name) for name in lr.__all__ if name != "LRScheduler"}
OPTIMIZERS = {name: getattr(opt, name) for name in opt.__all__ if inspect.isclass(getattr(opt, name)) and name not in ("Optimizer", "lr")}
SAMPLERS = {
    name: getattr(io, name)
    for name in ("SequenceSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "BatchSampler", "DistributedBatchSampler")
}


def use_schedule(made):
    for _ in range(3):
        made.step(*[1.0] * isinstance(made, lr.ReduceOnPlateau))
    repr(made)


def use_sampler(made):
    for i, _ in enumerate(made):
        if i > 3:
            break
    len(made)
    repr(made)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "use"),
    [*((kind, use_schedule) for kind in SCHEDULES.values()), *((kind, use_sampler) for kind in SAMPLERS.values()),
     *((kind, repr) for kind in OPTIMIZERS.values()), (amp.GradScaler, repr)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_no_argument_ends_in_an_error_of_python(kind, use):
    parameters = inspect.signature(kind).parameters
    needed = {name: GIVEN[name] for name, p in parameters.items() if p.default is p.empty}
    if kind in OPTIMIZERS.values():
        needed["parameters"] = nn.Linear(2, 2).parameters()
    elif kind is io.BatchSampler:
        needed["dataset"] = DATA
    skipped = {"verbose"}  # which prints
    for name in parameters.keys() - skipped:
        for value in HOSTILE:
            try:
                use(kind(**{**needed, name: value}))
            except OWN as error:
                assert "ot " in str(error)
            except Exception as error:
                assert "Got" in str(error), f"{kind.__name__}({name}={errors.short(value)}): {type(error).__name__}: {error}"


def test_rates_are_not_divided_by_zero():
    decay = lr.InverseTimeDecay(0.1, -1.0)
    with pytest.raises(ValueError, match="no value at epoch 1, where 1 \\+ gamma \\* epoch is 0. Got gamma=-1.0"):
        decay.step()
    with pytest.raises(ValueError, match="divide_factor should be greater than 0"):
        lr.OneCycleLR(0.1, 10, divide_factor=0)
    short = lr.OneCycleLR(0.1, 2, phase_pct=0.5)
    short.step()
    assert math.isfinite(short())


@pytest.mark.parametrize(
    "call",
    [
        lambda: amp.GradScaler().step(3),
        lambda: amp.GradScaler(enable=False).step(3),
        lambda: amp.AmpScaler().unscale_(3),
        lambda: regularizer.L1Decay(0.1)(3, wt.zeros([2])),
        lambda: regularizer.L2Decay(0.1)(wt.zeros([2]), 3),
        lambda: lr.LinearWarmup(0.1, 3, 0.0, 0.1).set_state_dict("x"),
    ],
)
def test_methods_say_what_they_got(call):
    with pytest.raises(TypeError, match="Got (3|int|str)"):
        call()


def test_a_cosine_of_a_very_long_period_has_a_rate_everywhere():
    decay = lr.CosineAnnealingDecay(0.1, T_max=10**9)
    decay.last_epoch = 10**9 + 1  # cos(pi * (1 - 1e-9)) is -1 in float64
    decay.step()
    assert 0 <= decay() < 1e-9
