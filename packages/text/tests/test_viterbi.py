"""Viterbi decoding against all sequences of tags, one by one."""
import itertools

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.run.executor import compiled
from wherry_text import ViterbiDecoder, viterbi_decode


def best_of_all(scores, transitions, length, ends):
    """The largest sum and its tags, by trying every sequence."""
    def total(tags):
        inner = sum(scores[place, tag] for place, tag in enumerate(tags)) + sum(transitions[pair] for pair in itertools.pairwise(tags))
        return inner + (transitions[-1, tags[0]] + transitions[-2, tags[-1]] if ends else 0)

    tags = max(itertools.product(range(scores.shape[1]), repeat=length), key=total)
    return total(tags), [*tags]


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tags", [2, 4])
def test_the_best_of_all_sequences_is_found(ends, dtype, tags):
    random = np.random.default_rng(3)
    scores, transitions = random.standard_normal((4, 5, tags)).astype(dtype), random.standard_normal((tags, tags)).astype(dtype)
    lengths = [4, 1, 3, 2]
    best, path = ViterbiDecoder(wt.to_tensor(transitions), ends)(wt.to_tensor(scores), wt.to_tensor(lengths))
    assert str(best.dtype).endswith(dtype) and path.dtype == wt.int64 and path.shape == [4, 4]
    for row, length in enumerate(lengths):
        expected, sequence = best_of_all(scores[row], transitions, length, ends)
        assert best.numpy()[row] == pytest.approx(expected, rel=1e-5)
        assert path.numpy()[row].tolist() == sequence + [0] * (4 - length)


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("time", [-1, 5])
def test_a_program_finds_the_same(ends, time):
    program = Program()
    feeds = [program.feed(shape, dtype, name) for name, shape, dtype in (
        ("scores", [-1, time, 4], wt.float32), ("transitions", [4, 4], wt.float32), ("lengths", [-1], wt.int64))]  # fmt: skip
    with capture(program):
        program.fetches = list(viterbi_decode(*feeds, ends))
    run, random = compiled(program), np.random.default_rng(5)
    for lengths in ([5], [1, 4, 3], [2, 0, 2, 1]):
        given = [random.standard_normal((len(lengths), 5, 4)), random.standard_normal((4, 4))]
        given = [*(wt.to_tensor(x.astype("float32")) for x in given), wt.to_tensor(lengths)]
        for found, expected in zip(run(*given), viterbi_decode(*given, ends), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_no_gradients_go_through_it_and_transitions_are_no_state():
    transitions = wt.ones([3, 3])
    transitions.stop_gradient = False
    decoder = ViterbiDecoder(transitions)
    assert all(one.stop_gradient for one in decoder(wt.ones([1, 2, 3]), wt.to_tensor([2])))
    assert not decoder.state_dict()


@pytest.mark.parametrize(
    ("scores", "transitions", "lengths", "error", "said"),
    [
        (np.ones((2, 3)), np.ones((3, 3)), [1, 1], ValueError, "potentials has the wrong shape. Got .2, 3., expected 3 axes"),
        (np.ones((1, 2, 3)), np.ones((3, 2)), [1], ValueError, "shapes do not fit"),
        (np.ones((1, 2, 3)), np.ones((3, 3)), [1, 1], ValueError, "shapes do not fit"),
        (np.ones((1, 2, 1)), np.ones((1, 1)), [1], ValueError, "two tags at least"),
        (np.ones((0, 2, 3)), np.ones((3, 3)), np.ones(0, np.int64), ValueError, "none of them empty"),
        (np.ones((1, 2, 3)), np.ones((3, 3)), [3], ValueError, "Got lengths from 3 to 3, expected them from 0 to 2"),
        (np.ones((1, 2, 3)), np.ones((3, 3)), [-1], ValueError, "lengths do not fit"),
        (np.ones((1, 2, 3)), np.ones((3, 3)), [0], ValueError, "one above 0"),
        (np.ones((1, 2, 3)), np.ones((3, 3)), [1.0], TypeError, "expected int64"),
        (np.ones((1, 2, 3)), np.ones((3, 3), np.float32), [1], TypeError, "both float32 or both float64"),
        (np.ones((1, 2, 3), np.int64), np.ones((3, 3), np.int64), [1], TypeError, "both float32 or both float64"),
    ],
)
def test_what_does_not_fit_is_named(scores, transitions, lengths, error, said):
    with pytest.raises(error, match=said):
        viterbi_decode(*map(wt.to_tensor, (scores, transitions, lengths)))


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match=r"lengths is not a Tensor. Got \[1\] \(list\)"):
        viterbi_decode(wt.ones([1, 2, 3]), wt.ones([3, 3]), [1])
