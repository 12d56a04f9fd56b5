"""FLAGS_paddle_random: the numbers below were printed by Paddle 2.6.2 after `paddle.seed(42)`."""
import numpy as np
import pytest

import wherry_tensor as wherry
from wherry_tensor import paddle_random
from wherry_tensor._core import Mersenne


@pytest.fixture(autouse=True)
def paddles_numbers():
    wherry.set_flags({"FLAGS_paddle_random": True})
    wherry.seed(42)
    yield
    wherry.set_flags({"FLAGS_paddle_random": False})


SEEN = {
    "rand": (lambda: wherry.rand([6]), [0.8496643, 0.82754964, 0.6830854, 0.9954831, 0.20079066, 0.15758793]),
    "randn": (
        lambda: wherry.randn([7]),
        [0.28241217, 0.30147934, -0.463997, -0.4054537, 0.2737082, -0.23090385, 0.18119779],
    ),
    "randint": (lambda: wherry.randint(0, 10, [12]), [8, 8, 6, 9, 2, 1, 8, 9, 1, 8, 8, 5]),
    "randperm": (lambda: wherry.randperm(12), [0, 10, 5, 4, 1, 2, 6, 7, 11, 3, 8, 9]),
    "randperm odd": (lambda: wherry.randperm(1001)[:8], [57, 138, 960, 449, 397, 226, 293, 711]),
    "bernoulli": (lambda: wherry.bernoulli(wherry.full([12], 0.5)), [0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0]),
    "dropout mask": (
        lambda: wherry.ops.dropout(wherry.ones([12]), p=0.3, upscale=True)[1], [1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1],
    ),
    "multinomial": (
        lambda: wherry.multinomial(wherry.to_tensor([0.1, 0.2, 0.3, 0.4]), 10, replacement=True),
        [3, 3, 3, 3, 1, 1, 3, 3, 1, 3],
    ),
    "multinomial, each once": (
        lambda: wherry.multinomial(wherry.to_tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), 6), [7, 6, 4, 5, 1, 2],
    ),
    "poisson": (lambda: wherry.poisson(wherry.full([8], 3.0)), [5, 6, 7, 4, 2, 6, 5, 3]),
    "uniform with a seed": (
        lambda: wherry.uniform([4], seed=5), [0.34612978, -0.92301077, -0.54942286, 0.35186434],
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_draws_are_those_that_paddle_printed(name):
    draw, seen = SEEN[name]
    np.testing.assert_allclose(draw().numpy(), seen, rtol=1e-6)


def test_draws_follow_each_other_in_one_stream():
    whole = wherry.rand([6]).numpy()
    wherry.seed(42)
    assert np.concatenate([wherry.rand([2]).numpy(), wherry.rand([4]).numpy()]).tolist() == whole.tolist()


def test_dropout_with_a_summand_draws_what_dropout_draws():
    x, y = wherry.ones([12]), wherry.arange(12, dtype="float32")
    out, mask = wherry.ops.dropout_add(x, y, p=0.3, upscale=True)
    assert mask.tolist() == SEEN["dropout mask"][1]
    wherry.seed(42)
    np.testing.assert_array_equal(out.numpy(), (wherry.ops.dropout(x, p=0.3, upscale=True)[0] + y).numpy())


def test_only_the_low_32_bits_of_a_seed_count():
    first = wherry.rand([3]).tolist()
    wherry.seed(42 + (1 << 32))
    assert wherry.rand([3]).tolist() == first


def test_a_seed_of_its_own_leaves_the_stream_alone():
    wherry.uniform([4], seed=5)
    assert wherry.rand([1]).item() == pytest.approx(0.8496643)


def test_a_state_goes_back_in_the_stream():
    wherry.rand([5])
    state = wherry.get_rng_state()
    first = wherry.randn([400]).tolist()
    wherry.set_rng_state(state)
    assert wherry.randn([400]).tolist() == first


def test_a_broken_state_is_refused():
    with pytest.raises(ValueError, match="Got 2 numbers, expected the 313"):
        Mersenne().set_state((1, 2))


def test_writing_in_place_draws_the_same():
    assert wherry.zeros([3]).uniform_(0.0, 1.0).tolist() == pytest.approx([0.8496643, 0.82754964, 0.6830854])


def test_what_is_wrong_is_said_as_without_the_flag():
    with pytest.raises(IndexError):
        wherry.bernoulli(wherry.to_tensor([1.5]))
    with pytest.raises(ValueError, match="weight"):
        wherry.multinomial(wherry.to_tensor([1.0, -1.0]), 1)
    with pytest.raises(ValueError, match="range is empty|high"):
        wherry.randint(3, 3, [2])


def test_without_the_flag_numbers_are_philoxs():
    drawn = wherry.rand([3]).tolist()
    wherry.set_flags({"FLAGS_paddle_random": False})
    assert not paddle_random.enabled()
    wherry.seed(42)
    assert wherry.rand([3]).tolist() != drawn
