"""Random draws: the published Philox numbers, one seed one result, and the distributions themselves.

The samples of the vocabulary already compare every draw with Philox in NumPy. Statistics here use a
fixed seed and bounds of 5 standard deviations, so they either always pass or always fail.
"""
import os
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor
from wherry_ops_cpu import supported_isas
from wherry_tensor import float32, float64, int32, int64, ops
from wherry_tensor.testing.samples.random import philox

N = 400_000


def draw(op, seed=1234, *inputs, **attrs):
    wherry_tensor.seed(seed)
    return op(*inputs, **attrs).numpy()


# ---- Philox -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counter, attempt, seed, expected",
    [
        (0, 0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**64 - 1, 2**64 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (0x85A308D3243F6A88, 0x0370734413198A2E, 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_reference_gives_the_published_numbers(counter, attempt, seed, expected):
    words = philox(counter, seed, attempt)
    assert " ".join(f"{int(w):08x}" for w in words) == expected


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 3])
def test_kernel_draws_those_words(seed):
    got = draw(ops.uniform, seed, shape=(1003,), min=0.0, max=1.0, dtype=float32)
    words = philox(np.arange(251), seed).reshape(-1)[:1003]
    assert (got == (words >> np.uint64(8)) * 2.0**-24).all()


# ---- determinism ------------------------------------------------------------------------------------

DRAWS = {
    "uniform": lambda: ops.uniform(shape=(50_001,), min=-1.0, max=2.0, dtype=float32),
    "normal": lambda: ops.normal(shape=(50_001,), mean=0.5, std=2.0, dtype=float32),
    "normal64": lambda: ops.normal(shape=(20_001,), mean=0.5, std=2.0, dtype=float64),
    "randint": lambda: ops.randint(shape=(50_001,), low=-7, high=100, dtype=int64),
    "bernoulli": lambda: ops.bernoulli(ops.full(shape=(50_001,), value=0.3, dtype=float32)),
    "poisson": lambda: ops.poisson(ops.full(shape=(5_001,), value=12.5, dtype=float32)),
    "randperm": lambda: ops.randperm(n=5_001, dtype=int64),
    "multinomial": lambda: ops.multinomial(ops.arange(start=1, step=1, length=99, dtype=float32), num_samples=50, replacement=False),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_do_not_depend_on_the_number_of_threads(name):
    before = wherry_tensor.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            wherry_tensor.set_num_threads(threads)
            wherry_tensor.seed(99)
            results.append(DRAWS[name]().numpy().tobytes())
    finally:
        wherry_tensor.set_num_threads(before)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("name", DRAWS)
def test_next_draw_differs_and_the_seed_brings_the_first_back(name):
    wherry_tensor.seed(5)
    first, second = DRAWS[name]().numpy(), DRAWS[name]().numpy()
    wherry_tensor.seed(5)
    assert (DRAWS[name]().numpy() == first).all()
    assert (first != second).any()


_PRINT_BITS = """
import hashlib, sys
import wherry_tensor
from wherry_tensor import float32, int64, ops
wherry_tensor.seed(11)
for x in (ops.uniform(shape=(5001,), min=-1.0, max=2.0, dtype=float32), ops.normal(shape=(5001,), mean=0.5, std=2.0, dtype=float32),
          ops.randint(shape=(5001,), low=-7, high=100, dtype=int64)):
    print(hashlib.sha256(x.numpy().tobytes()).hexdigest())
"""


def test_float32_draws_are_the_same_bits_with_every_instruction_set():
    outputs = set()
    for isa in supported_isas():
        run = subprocess.run([sys.executable, "-c", _PRINT_BITS], env={**os.environ, "WHERRY_CPU_ISA": isa},
                             capture_output=True, text=True, check=True)
        outputs.add(run.stdout)
    assert len(outputs) == 1 and outputs.pop().count("\n") == 3


# ---- distributions ----------------------------------------------------------------------------------


def assert_mean(values, mean, deviation):
    error = abs(values.mean() - mean) / (deviation / np.sqrt(values.size))
    assert error < 5, f"the mean is {error:.1f} standard errors off"


def assert_even(counts):
    """Chi-squared test of counts that should all be alike."""
    expected = counts.sum() / counts.size
    chi2 = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - 1
    assert abs(chi2 - freedom) < 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("dtype", [float32, float64])
def test_uniform_fills_its_interval_evenly(dtype):
    x = draw(ops.uniform, shape=(N,), min=-3.0, max=5.0, dtype=dtype).astype(np.float64)
    assert x.min() >= -3 and x.max() < 5
    assert_mean(x, 1.0, 8 / np.sqrt(12))
    assert_even(np.histogram(x, 64, (-3, 5))[0])
    # Neighbours, which share a block, must not know each other.
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.parametrize("dtype", [float32, float64])
def test_normal_has_the_moments_and_tails_of_a_normal_variable(dtype):
    x = (draw(ops.normal, shape=(N,), mean=2.0, std=3.0, dtype=dtype).astype(np.float64) - 2) / 3
    assert_mean(x, 0, 1)
    assert_mean(x**2, 1, np.sqrt(2))
    assert_mean(x**3, 0, np.sqrt(15))
    assert_mean(x**4, 3, np.sqrt(96))
    assert_mean((np.abs(x) > 3) * 1.0, 0.0026998, np.sqrt(0.0026998))
    assert np.abs(x).max() > 4.2
    assert abs(np.corrcoef(x[::2], x[1::2])[0, 1]) < 5 / np.sqrt(N / 2)  # the two coordinates of one point


@pytest.mark.parametrize("dtype", [int32, int64])
def test_randint_draws_every_value_alike(dtype):
    x = draw(ops.randint, shape=(N,), low=-3, high=97, dtype=dtype)
    assert x.min() == -3 and x.max() == 96
    assert_even(np.bincount(x + 3, minlength=100))


def test_bernoulli_hits_as_often_as_its_probability_says():
    p = np.repeat(np.float32([0, 0.1, 0.5, 0.9, 1]), N // 5)
    x = draw(ops.bernoulli, 1234, wherry_tensor.to_tensor(p)).reshape(5, -1)
    for row, probability in zip(x, [0, 0.1, 0.5, 0.9, 1]):
        if probability in (0, 1):
            assert (row == probability).all()
        else:
            assert_mean(row.astype(np.float64), probability, np.sqrt(probability * (1 - probability)))


@pytest.mark.parametrize("rate", [0.3, 4.0, 9.99, 10.0, 55.0, 1e4])
def test_poisson_has_its_rate_as_mean_and_variance(rate):
    x = draw(ops.poisson, 1234, wherry_tensor.to_tensor(np.full(100_000, rate))).astype(np.float64)
    assert (x == np.floor(x)).all() and x.min() >= 0
    assert_mean(x, rate, np.sqrt(rate))
    assert_mean((x - rate) ** 2, rate, np.sqrt(rate + 2 * rate**2))


def test_randperm_puts_every_value_everywhere():
    counts = np.zeros((6, 6))
    wherry_tensor.seed(3)
    for _ in range(3000):
        counts[np.arange(6), ops.randperm(n=6, dtype=int64).numpy()] += 1
    assert_even(counts.reshape(-1))
    assert (np.sort(draw(ops.randperm, n=10_000, dtype=int32)) == np.arange(10_000)).all()


def test_multinomial_with_replacement_follows_the_weights():
    weights = np.float32([1, 0, 2, 3, 4])
    x = draw(ops.multinomial, 1234, wherry_tensor.to_tensor(weights), num_samples=N, replacement=True)
    counts = np.bincount(x, minlength=5)
    assert counts[1] == 0
    assert_even(counts[[0, 2, 3, 4]] / weights[[0, 2, 3, 4]])


def test_multinomial_without_replacement_draws_like_one_after_another():
    weights = np.float64([1, 2, 3, 4])
    x = draw(ops.multinomial, 1234, wherry_tensor.to_tensor(np.tile(weights, (50_000, 1))), num_samples=2, replacement=False)
    assert (x[:, 0] != x[:, 1]).all()
    p = weights / weights.sum()
    for first in range(4):
        assert_mean((x[:, 0] == first) * 1.0, p[first], np.sqrt(p[first]))
        for second in range(4):
            if second != first:
                both = p[first] * p[second] / (1 - p[first])
                assert_mean(((x[:, 0] == first) & (x[:, 1] == second)) * 1.0, both, np.sqrt(both))
