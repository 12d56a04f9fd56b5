"""Beam search against an exhaustive search, its parts, and the loop that drives decoders."""
import itertools
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn.layers.decode import Decoder
from wherry_tensor.errors import InvalidTypeError

END, TOKENS = 1, 5
rng = np.random.default_rng(5)
TABLE = rng.normal(size=(TOKENS, TOKENS)) * 2  # logits of the next token, given the last one
LOG = TABLE - np.log(np.exp(TABLE).sum(1, keepdims=True))


def chain(tokens, states):
    """A cell of which the next token depends on the last one, and on the example by a factor."""
    return wt.to_tensor(TABLE, dtype=states.dtype)[tokens] * states, states


def search(beams, cell=chain, **functions):
    return nn.BeamSearchDecoder(cell, start_token=0, end_token=END, beam_size=beams, **functions)


def best_sequences(steps, factor):
    """All sequences of so many steps that end or do not, the best first: (score, tokens, length)."""
    table = TABLE * factor
    log = table - np.log(np.exp(table).sum(1, keepdims=True))
    found = []
    for tokens in itertools.product(range(TOKENS), repeat=steps):
        score, last, length = 0.0, 0, 0
        for token in tokens:
            if last == END and length:
                if token != END:
                    break  # what is finished can only end
                continue
            score += log[last, token]
            last, length = token, length + 1
        else:
            found.append((score, tokens, length))
    return sorted(found, reverse=True)


def test_a_wide_beam_finds_the_best_sequences():
    factors = wt.to_tensor([[1.0], [0.3]], dtype="float64")
    tokens, states, lengths = nn.dynamic_decode(search(40), factors, max_step_num=2, return_length=True)
    assert tokens.shape == [2, 3, 40] and tokens.dtype is wt.int64
    for b, factor in enumerate((1.0, 0.3)):
        expected = best_sequences(3, factor)[:10]
        assert tokens.numpy()[b].T[:10].tolist() == [list(sequence) for _, sequence, _ in expected]
        np.testing.assert_allclose(states.log_probs.numpy()[b, :10], [score for score, _, _ in expected])
        assert lengths.numpy()[b, :10].tolist() == [length for _, _, length in expected]


def test_one_beam_is_greedy():
    greedy, last = [], 0
    while last != END or not greedy:
        last = int(LOG[last].argmax())
        greedy.append(last)
        if len(greedy) == 6:
            break
    tokens, _ = nn.dynamic_decode(search(1), wt.ones([1, 1]), max_step_num=5)
    assert tokens.numpy()[0, :, 0].tolist()[: len(greedy)] == greedy


def test_decoding_ends_when_all_beams_have_ended_or_the_steps_are_used_up():
    sure = wt.full([1, TOKENS], 0.0)
    sure[:, END] = 50.0

    def cell(tokens, states):
        return wt.expand(sure, [tokens.shape[0], TOKENS]), states

    tokens, states, lengths = nn.dynamic_decode(search(1, cell), wt.ones([3, 1]), return_length=True)
    assert tokens.shape == [3, 1, 1] and (tokens.numpy() == END).all()
    assert lengths.numpy().tolist() == [[1]] * 3 and states.finished.numpy().all()
    assert nn.dynamic_decode(search(2), wt.ones([3, 1]), max_step_num=0)[0].shape == [3, 1, 2]  # one step more, as in Paddle
    assert nn.dynamic_decode(search(2), wt.ones([3, 1]), max_step_num=3, output_time_major=True)[0].shape[1:] == [3, 2]


@pytest.mark.parametrize("make", [nn.SimpleRNNCell, nn.GRUCell, nn.LSTMCell])
def test_cells_embeddings_and_output_layers_work_together(make):
    cell, embedding, output = make(4, 6), nn.Embedding(TOKENS, 4), nn.Linear(6, TOKENS)
    decoder = search(3, cell, embedding_fn=embedding, output_fn=output)
    state = wt.randn([2, 6])
    states = (state, wt.randn([2, 6])) if make is nn.LSTMCell else state
    tokens, final = nn.dynamic_decode(decoder, states, max_step_num=4)
    # The score of a beam is what its tokens cost when they are fed in one by one.
    for b, beam in np.ndindex(2, 3):
        total, last, at = 0.0, 0, [s[b : b + 1] for s in (states if isinstance(states, tuple) else (states,))]
        for token in tokens.numpy()[b, :, beam]:
            out, new = cell(embedding(wt.to_tensor([last])), tuple(at) if len(at) > 1 else at[0])
            at = list(new) if isinstance(new, tuple) else [new]
            total += nn.functional.log_softmax(output(out)).numpy()[0, token]
            last = int(token)
            if token == END:
                break
        assert final.log_probs.numpy()[b, beam] == pytest.approx(total, rel=1e-4)
    final.log_probs.sum().backward()
    assert cell.weight_hh.grad is not None and embedding.weight.grad is not None


def test_the_search_stays_exact_with_16_bit_states():
    decoder = search(2, lambda tokens, states: (chain(tokens, wt.ones([tokens.shape[0], 1]))[0].astype("float16"), states))
    _, states = nn.dynamic_decode(decoder, wt.ones([1, 1], "float16"), max_step_num=2)
    assert states.log_probs.dtype is wt.float32


# The parts.


def test_examples_are_repeated_merged_and_split():
    decoder, x = search(3), wt.arange(4).reshape([2, 2])
    expanded = decoder._expand_to_beam_size(x)
    assert expanded.numpy().tolist() == [[[0, 1]] * 3, [[2, 3]] * 3]
    merged = decoder._merge_batch_beams(expanded)
    assert merged.numpy().tolist() == decoder.tile_beam_merge_with_batch(x, 3).numpy().tolist() == [[0, 1]] * 3 + [[2, 3]] * 3
    assert decoder._split_batch_beams(merged).numpy().tolist() == expanded.numpy().tolist()
    assert nn.BeamSearchDecoder.tile_beam_merge_with_batch(wt.arange(2), 2).numpy().tolist() == [0, 0, 1, 1]


def test_beams_are_gathered_within_their_example():
    x = wt.arange(12).reshape([2, 3, 2])
    found = search(3)._gather(x, wt.to_tensor([[2, 0, 0], [1, 1, 2]]), 2)
    assert found.numpy().tolist() == [[[4, 5], [0, 1], [0, 1]], [[8, 9], [8, 9], [10, 11]]]


def test_what_is_finished_can_only_end():
    probs = wt.full([1, 2, 3], -0.5)
    masked = search(2)._mask_probs(probs, wt.to_tensor([[True, False]]))
    assert masked.numpy().tolist() == [[[-1e9, 0, -1e9], [-0.5] * 3]]


def test_the_first_beam_alone_is_possible_at_first():
    decoder = search(3, embedding_fn=lambda tokens: tokens.astype("float32") + 0.5)
    inputs, state, finished = decoder.initialize([wt.ones([2, 4]), {"more": wt.zeros([2, 1, 5])}])
    assert (inputs.numpy() == 0.5).all() and inputs.shape == [2, 3]
    assert state.log_probs.numpy().tolist() == [[0, -1e9, -1e9]] * 2
    assert not finished.numpy().any() and (state.lengths.numpy() == 0).all()
    assert [x.shape for x in (state.cell_states[0], state.cell_states[1]["more"])] == [[2, 3, 4], [2, 3, 1, 5]]
    assert decoder.tracks_own_finished is True
    assert type(state) is nn.BeamSearchDecoder.StateWrapper


# Decoders of one's own.


class Countdown(Decoder):
    """Sequences that count down from their state; finished at 0."""

    def initialize(self, inits):
        return inits, {"left": inits}, inits == 0

    def step(self, time, inputs, states, by=1):
        assert time.shape == [1]
        left = states["left"] - by
        return (left, time.item() + inputs * 0), {"left": left}, left, left == 0


def test_a_decoder_of_ones_own():
    outputs, states, lengths = nn.dynamic_decode(Countdown(), wt.to_tensor([3, 1]), return_length=True)
    assert outputs[0].numpy().tolist() == [[2, 1, 0], [0, -1, -2]]
    assert outputs[1].numpy().tolist() == [[0, 1, 2]] * 2
    assert lengths.numpy().tolist() == [3, 1]
    assert states["left"].numpy().tolist() == [0, -2]
    kept, states = nn.dynamic_decode(Countdown(), wt.to_tensor([3, 1]), impute_finished=True, output_time_major=True)
    assert states["left"].numpy().tolist() == [0, 0]
    assert kept[0].shape == [3, 2]
    assert nn.dynamic_decode(Countdown(), wt.to_tensor([4, 2]), by=2)[0][0].shape == [2, 2]


def test_finalize_of_ones_own_may_fail():
    class Failing(Countdown):
        def finalize(self, outputs, final_states, sequence_lengths):
            raise NotImplementedError("of something inside")

    with pytest.raises(NotImplementedError, match="of something inside"):
        nn.dynamic_decode(Failing(), wt.to_tensor([1]))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: nn.BeamSearchDecoder(None, 0, 1, 2), InvalidTypeError, "cell is not callable. Got None"),
        (lambda: search(2, output_fn=3), InvalidTypeError, "output_fn is not callable"),
        (lambda: search(0), ValueError, "beam_size=0"),
        (lambda: search(1.5), InvalidTypeError, "beam_size"),
        (lambda: nn.BeamSearchDecoder(chain, "a", 1, 2), InvalidTypeError, "start_token"),
        (lambda: search(2).initialize(None), ValueError, "the batch size is not known"),
        (lambda: search(2).initialize([]), ValueError, "the batch size is not known"),
        (lambda: search(2).initialize(wt.to_tensor(1.0)), ValueError, "the batch size is not known"),
        (lambda: nn.dynamic_decode(search(2, output_fn=lambda x: x.sum(-1)), wt.ones([1, 1])), ValueError, "expected rank 3"),
        (lambda: nn.dynamic_decode(object()), InvalidTypeError, r"without initialize\(\)"),
        (lambda: search(2).finalize(range(3), None, None), InvalidTypeError, "these are not outputs of the search"),
        (lambda: nn.dynamic_decode(search(2), wt.ones([1, 1]), max_step_num=-1), ValueError, "max_step_num=-1"),
        (lambda: nn.dynamic_decode(search(2), wt.ones([1, 1]), max_step_num=2.5), InvalidTypeError, "max_step_num"),
        (lambda: nn.dynamic_decode(Countdown(), wt.to_tensor([0])), ValueError, "nothing to decode"),
        (lambda: nn.dynamic_decode(Decoder()), NotImplementedError, r"without initialize\(inits\)"),
        (lambda: search(2).tile_beam_merge_with_batch([1], 2), InvalidTypeError, "must be a Tensor"),
    ],
)
def test_wrong_arguments_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_scores_of_wide_logits_stay_finite():
    decoder = search(2, lambda tokens, states: (chain(tokens, states)[0] * 1e4, states))
    _, states = nn.dynamic_decode(decoder, wt.ones([1, 1]), max_step_num=3)
    assert all(map(math.isfinite, states.log_probs.numpy().ravel()))
