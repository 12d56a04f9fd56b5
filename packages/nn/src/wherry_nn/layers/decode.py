"""Decoding: the loop that feeds predictions into the next step, and beam search."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wherry_nn.functional.sampling import gather_tree
from wherry_nn.layers.rnn import _map, _tensors
from wherry_nn.loops import collected
from wherry_tensor import ops
from wherry_tensor._core import Tensor, bool_, float32, float64, int64, is_symbolic
from wherry_tensor.arguments import integer, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import Size
from wherry_tensor.spellings import spelled

__all__ = ["BeamSearchDecoder", "dynamic_decode"]

_IMPOSSIBLE = -1e9  # Paddle's log probability of impossible tokens; sums of it stay finite


class Decoder:
    """Base of decoders for `dynamic_decode`: a subclass defines how decoding begins and one step of it.

    Source:
        `paddle.nn.decode.Decoder`, which `paddle.nn` does not export either.
    """

    def initialize(self, inits: Any) -> tuple[Any, Any, Tensor]:
        """The first inputs, the first states, and a bool tensor that says which sequences are finished already.

        Raises:
            NotImplementedError: a subclass did not define it.
        """
        raise NotImplementedError(_undefined(self, "initialize(inits)"))

    def step(self, time: Tensor, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        """One step: outputs, next states, next inputs, and which sequences are finished.

        Raises:
            NotImplementedError: a subclass did not define it.
        """
        raise NotImplementedError(_undefined(self, "step(time, inputs, states)"))

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Tensor) -> tuple[Any, Any]:
        """Final outputs, from the outputs of all steps stacked along a new first axis. Optional.

        Raises:
            NotImplementedError: a subclass did not define it; then the outputs stay as they are.
        """
        raise NotImplementedError(_undefined(self, "finalize(outputs, final_states, sequence_lengths)"))

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` itself keeps track of finished sequences (a beam search reorders them)."""
        return False


class _Output(NamedTuple):
    scores: Any
    predicted_ids: Any
    parent_ids: Any


class _State(NamedTuple):
    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


class BeamSearchDecoder(Decoder):
    """Beam search: in each step keep the best continuations of the best sequences so far.

    Sequences are ranked by the sum of the logarithms of their tokens' probabilities. One that has reached the
    end token stays as it is, and is still ranked with the others.

    Args:
        cell: called as `cell(inputs, states)`; gives outputs and new states. An RNN cell, for example.
        start_token: the token that every sequence begins after.
        end_token: the token that ends a sequence.
        beam_size: how many sequences are kept for each example.
        embedding_fn: makes the next inputs of the cell from tokens `[B, beam_size]`; None passes the tokens.
        output_fn: makes logits from the outputs of the cell; None takes these as logits.

    Raises:
        ValueError: `beam_size` is below 1.
        TypeError: `cell` or a function cannot be called, or a token is not an integer (also a ValueError).

    Source:
        `paddle.nn.BeamSearchDecoder`.

    Examples:
        >>> import numpy as np
        >>> logits = wherry.to_tensor(np.log([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]]), "float32")
        >>> def cell(tokens, states):  # what comes next depends on the last token alone
        ...     return logits[tokens], states
        >>> decoder = wherry.nn.BeamSearchDecoder(cell, start_token=0, end_token=1, beam_size=2)
        >>> tokens, states = wherry.nn.dynamic_decode(decoder, wherry.zeros([1, 1]), max_step_num=4)
        >>> print(tokens.numpy()[0].T)
        [[2 1]
         [1 1]]
        >>> print(wherry.exp(states.log_probs).numpy().round(2))
        [[0.56 0.2 ]]
    """

    class OutputWrapper(_Output):
        """Output of a step: `scores`, `predicted_ids` and `parent_ids`, each `[B, beam_size]`."""

    class StateWrapper(_State):
        """State after a step: `cell_states`, and `log_probs`, `finished` and `lengths`, each `[B, beam_size]`."""

    def __init__(
        self,
        cell: Callable[..., Any],
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Tensor], Any] | None = None,
        output_fn: Callable[[Any], Tensor] | None = None,
    ) -> None:
        for name, function in ("cell", cell), ("embedding_fn", embedding_fn), ("output_fn", output_fn):
            if not callable(function) and (function is not None or name == "cell"):
                raise InvalidTypeError(
                    f"BeamSearchDecoder: {name} is not callable. Got {short(function)} ({type(function).__name__}), expected a layer or "
                    f"function{'' if name == 'cell' else ' or None'}. Pass the function itself, not its result."
                )
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = integer(start_token, "BeamSearchDecoder", "start_token")
        self.end_token = integer(end_token, "BeamSearchDecoder", "end_token")
        self.beam_size = integer(beam_size, "BeamSearchDecoder", "beam_size")
        if self.beam_size < 1:
            raise InvalidArgumentError(
                f"BeamSearchDecoder: beam_size is too small. Got beam_size={beam_size}, expected at least 1. "
                f"1 is greedy search."
            )

    @staticmethod
    def tile_beam_merge_with_batch(x: Tensor, beam_size: int) -> Tensor:
        """Repeat each example for its beams, `[B, ...]` to `[B * beam_size, ...]`: for tensors that the cell uses besides its states.

        Raises:
            TypeError: `x` is not a tensor, or `beam_size` is not an int (also a ValueError).

        Source:
            `paddle.nn.BeamSearchDecoder.tile_beam_merge_with_batch`.

        Examples:
            >>> print(wherry.nn.BeamSearchDecoder.tile_beam_merge_with_batch(wherry.to_tensor([[1], [2]]), 2).numpy().T)
            [[1 1 2 2]]
        """
        require_tensor(x, "tile_beam_merge_with_batch")
        beams = integer(beam_size, "tile_beam_merge_with_batch", "beam_size")
        return ops.reshape(_repeated(x, beams), shape=(x.shape[0] * beams, *x.shape[1:]))

    def _split_batch_beams(self, x: Tensor) -> Tensor:
        """`[B * beam_size, ...]` to `[B, beam_size, ...]`."""
        return ops.reshape(x, shape=(x.shape[0] // self.beam_size, self.beam_size, *x.shape[1:]))

    def _merge_batch_beams(self, x: Tensor) -> Tensor:
        """`[B, beam_size, ...]` to `[B * beam_size, ...]`."""
        return ops.reshape(x, shape=(x.shape[0] * x.shape[1], *x.shape[2:]))

    def _expand_to_beam_size(self, x: Tensor) -> Tensor:
        """`[B, ...]` to `[B, beam_size, ...]`, each example repeated."""
        return _repeated(x, self.beam_size)

    def _mask_probs(self, probs: Tensor, finished: Tensor) -> Tensor:
        """Log probabilities `[B, beam_size, tokens]` in which finished sequences can only end, at no cost."""
        tokens = ops.arange(start=0, step=1, length=probs.shape[-1], dtype=int64)
        impossible = ops.full_like(tokens, value=_IMPOSSIBLE, dtype=probs.dtype)
        only_end = ops.where(tokens == self.end_token, ops.full_like(tokens, value=0, dtype=probs.dtype), impossible)
        return ops.where(ops.unsqueeze(finished, axes=(2,)), only_end, probs)

    def _gather(self, x: Tensor, indices: Tensor, batch_size: Any) -> Tensor:
        """Beams `indices` `[B, beam_size]` of `x` `[B, beam_size, ...]`. `batch_size` is known from `x`."""
        rows = ops.arange(start=0, step=1, length=x.shape[0], dtype=indices.dtype)
        return ops.index_get(x, ops.unsqueeze(rows, axes=(1,)), indices, axes=(0, 1))

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Tensor]:
        """The first inputs and the first state of the search.

        Args:
            initial_cell_states: a tensor `[B, ...]`, or a nest of such.

        Returns:
            The first inputs of the cell, a StateWrapper, and which sequences are finished: none. All but the
            first beam of an example are impossible, because they would be the same sequence.

        Raises:
            ValueError: the states hold no tensor with a batch axis.

        Source:
            `paddle.nn.BeamSearchDecoder.initialize`.
        """
        states = list(_tensors(initial_cell_states))
        if not states or states[0].ndim == 0:
            raise InvalidArgumentError(
                f"BeamSearchDecoder: the batch size is not known. Got states {short(initial_cell_states)}, expected a tensor "
                f"[B, ...] or a nest of such. For a cell without states pass a tensor of zeros, [B, 1]."
            )
        shape = (states[0].shape[0], self.beam_size)
        dtype = float64 if any(state.dtype is float64 for state in states) else float32
        first = ops.equal(ops.arange(start=0, step=1, length=self.beam_size, dtype=int64), ops.full(shape=(), value=0, dtype=int64))
        log_probs = ops.where(first, ops.full(shape=shape, value=0, dtype=dtype), ops.full(shape=(), value=_IMPOSSIBLE, dtype=dtype))
        inputs = ops.full(shape=shape, value=self.start_token, dtype=int64)
        finished = ops.full(shape=shape, value=False, dtype=bool_)
        state = self.StateWrapper(
            _map(self._expand_to_beam_size, initial_cell_states), log_probs, finished,
            ops.full(shape=shape, value=0, dtype=int64),
        )
        return self._embedded(inputs), state, finished

    def _beam_search_step(self, time: Any, logits: Tensor, next_cell_states: Any, beam_state: Any) -> tuple[Any, Any]:
        """Choose the best continuations.

        Args:
            time: the step; unused.
            logits: `[B, beam_size, tokens]`.
            next_cell_states: those after this step, still in the order of the old beams.
            beam_state: the StateWrapper before this step.

        Returns:
            An OutputWrapper and the next StateWrapper.
        """
        if logits.ndim != 3:
            raise InvalidArgumentError(
                f"BeamSearchDecoder: logits are [B, beam_size, tokens]. Got shape {logits.shape}, expected rank 3. "
                f"output_fn (or the cell) gives one number for each token in the last axis."
            )
        tokens = logits.shape[2]
        # In a wide dtype: sums of many logarithms differ by less than float16 resolves.
        wide = logits if logits.dtype.itemsize > 2 else ops.cast(logits, dtype=float32)
        each = self._mask_probs(ops.log_softmax(wide, axis=2), beam_state.finished)
        log_probs = each + ops.unsqueeze(beam_state.log_probs, axes=(2,))
        flat = ops.reshape(log_probs, shape=(logits.shape[0], self.beam_size * tokens))
        scores, places = ops.topk(flat, k=self.beam_size, axis=1, largest=True, sorted=True)
        size = ops.full(shape=(), value=tokens, dtype=int64)
        beam, token = ops.floor_divide(places, size), ops.remainder(places, size)
        batch = logits.shape[0]
        finished = self._gather(beam_state.finished, beam, batch)
        # The end token is part of the length: sequences that were unfinished before this step grow by one.
        lengths = self._gather(beam_state.lengths, beam, batch) + ops.cast(ops.logical_not(finished), dtype=int64)
        state = self.StateWrapper(
            _map(lambda x: self._gather(x, beam, batch), next_cell_states),
            scores,
            ops.logical_or(finished, token == self.end_token),
            lengths,
        )
        return self.OutputWrapper(scores, token, beam), state

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        """One step for all beams.

        Args:
            time: the number of the step, a tensor `[1]`.
            inputs: of the cell, `[B, beam_size, ...]`, or a nest of such.
            states: a StateWrapper.
            kwargs: passed on to the cell.

        Returns:
            An OutputWrapper, the next StateWrapper, the next inputs, and which sequences are finished.

        Source:
            `paddle.nn.BeamSearchDecoder.step`.
        """
        if not isinstance(states, self.StateWrapper):
            raise InvalidTypeError(
                f"BeamSearchDecoder.step: these are not states of the search. Got {short(states)} ({type(states).__name__}), expected a "
                f"StateWrapper. Take that of initialize() or of the step before."
            )
        outputs, cell_states = self.cell(
            _map(self._merge_batch_beams, inputs), _map(self._merge_batch_beams, states.cell_states), **kwargs
        )
        outputs, cell_states = _map(self._split_batch_beams, outputs), _map(self._split_batch_beams, cell_states)
        if self.output_fn is not None:
            outputs = self.output_fn(outputs)
        output, state = self._beam_search_step(time, outputs, cell_states, states)
        return output, state, self._embedded(output.predicted_ids), state.finished

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Tensor) -> tuple[Tensor, Any]:
        """Trace each beam back to its beginning.

        Args:
            outputs: an OutputWrapper of `[T, B, beam_size]`.
            final_states: the last StateWrapper.
            sequence_lengths: unused.

        Returns:
            The tokens `[T, B, beam_size]`, the best sequence first, and `final_states`.

        Source:
            `paddle.nn.BeamSearchDecoder.finalize`.
        """
        if not hasattr(outputs, "predicted_ids") or not hasattr(outputs, "parent_ids"):
            raise InvalidTypeError(
                f"BeamSearchDecoder.finalize: these are not outputs of the search. Got {short(outputs)} ({type(outputs).__name__}), expected an "
                f"OutputWrapper. Stack those of step()."
            )
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """True: sequences change their beams, so that only the search knows which are finished."""
        return True

    def _embedded(self, tokens: Tensor) -> Any:
        return tokens if self.embedding_fn is None else self.embedding_fn(tokens)


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """Call `decoder.step` until all sequences are finished.

    Args:
        decoder: has `initialize`, `step` and `finalize`, as BeamSearchDecoder.
        inits: passed to `initialize`.
        max_step_num: stop after `max_step_num + 1` steps; None goes on until all sequences are finished. A program that is captured holds all of
            these steps, and without a number a loop.
        output_time_major: leave the steps in the first axis of the outputs, instead of the second.
        impute_finished: keep the states of finished sequences as they were. For decoders without
            `tracks_own_finished`.
        is_test: no effect.
        return_length: return the lengths of the sequences too.
        kwargs: passed to `step`.

    Returns:
        `(outputs, final_states)`, or with `return_length` also `sequence_lengths`, to which the step that ends a sequence belongs. Outputs
        are what `finalize` makes of them; of a BeamSearchDecoder the tokens `[B, T, beam_size]`.

    Raises:
        ValueError: all sequences are finished at the beginning, or `max_step_num` is negative.
        TypeError: `decoder` has no `initialize` or `step`, or `max_step_num` is not an int (also a ValueError).

    Source:
        `paddle.nn.dynamic_decode`.

    Examples:
        >>> def cell(tokens, states):  # token 2 always follows
        ...     return wherry.nn.functional.one_hot(tokens * 0 + 2, 4) * 9, states
        >>> decoder = wherry.nn.BeamSearchDecoder(cell, start_token=0, end_token=2, beam_size=1)
        >>> tokens, _, lengths = wherry.nn.dynamic_decode(decoder, wherry.zeros([3, 1]), return_length=True)
        >>> print(tokens.numpy().tolist(), lengths.numpy().tolist())
        [[[2]], [[2]], [[2]]] [[1], [1], [1]]
    """
    for name in ("initialize", "step"):
        if not callable(getattr(decoder, name, None)):
            raise InvalidTypeError(
                f"dynamic_decode: decoder is not a decoder. Got {type(decoder).__name__} without {name}(), expected an object with "
                f"initialize, step and perhaps finalize. Use BeamSearchDecoder, or write these methods."
            )
    if max_step_num is not None and integer(max_step_num, "dynamic_decode", "max_step_num") < 0:
        raise InvalidArgumentError(
            f"dynamic_decode: max_step_num is negative. Got max_step_num={max_step_num}, expected 0 or more. "
            f"Leave it out to decode until all sequences are finished."
        )
    inputs, states, finished = decoder.initialize(inits)
    lengths = ops.full_like(finished, value=0, dtype=int64)
    own = bool(getattr(decoder, "tracks_own_finished", False))

    def step(time: Tensor, now: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
        inputs, states, finished, lengths = now
        outputs, next_states, inputs, next_finished = decoder.step(time, inputs, states, **kwargs)
        if own:
            lengths = getattr(next_states, "lengths", lengths)
        else:
            lengths = lengths + ops.cast(ops.logical_not(finished), dtype=int64)
            if impute_finished:
                next_states = _map(_kept_where(finished), states, next_states)
            next_finished = ops.logical_or(next_finished, finished)
        return outputs, (inputs, next_states, next_finished, lengths), _all(next_finished)

    outputs, (_inputs, states, _finished, lengths) = _until_over(step, (inputs, states, finished, lengths), _all(finished), max_step_num)
    # Catching NotImplementedError instead would hide one that finalize itself raises.
    finalize = getattr(type(decoder), "finalize", None)
    if finalize is not None and finalize is not Decoder.finalize:
        outputs, states = decoder.finalize(outputs, states, lengths)
    if not output_time_major:
        outputs = _map(lambda x: ops.transpose(x, perm=(1, 0, *range(2, x.ndim))), outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


# Helpers.

_Step = Callable[[Tensor, tuple[Any, ...]], tuple[Any, tuple[Any, ...], Any]]

def _until_over(step: _Step, now: tuple[Any, ...], over: Any, max_step_num: int | None) -> tuple[Any, tuple[Any, ...]]:
    """The outputs of all steps along a new first axis, and the state after the last one.

    Args:
        step: gives outputs, the next state, and whether it was the last step.
        now: the state: inputs, states, which sequences are finished, and lengths.
        over: whether there is nothing to do; of a program not known.
        max_step_num: the number of the last step at most, or None.
    """
    steps: list[Any] = []
    kept: Any = 1  # how many steps count, which a captured program learns when it runs
    while over is not True:
        outputs, after, next_over = step(ops.full(shape=(1,), value=len(steps), dtype=int64), now)
        steps.append(outputs)
        if isinstance(next_over, Tensor) and max_step_num is None:
            return collected(step, outputs, after, next_over)
        if over is not False and len(steps) > 1:
            kept = ops.cast(ops.logical_not(over), dtype=int64) + kept
            after = (after[0], *(_map(lambda old, new, over=over: ops.where(over, old, new), *pair) for pair in zip(now[1:], after[1:], strict=True)))
            next_over = _all(after[2])
        now, over = after, next_over
        if max_step_num is not None and len(steps) > max_step_num:
            break
    if not steps:
        raise InvalidArgumentError(
            "dynamic_decode: there is nothing to decode. Got sequences that are all finished at the beginning, expected one "
            "that is not. Check what initialize() returns."
        )
    outputs = _map(lambda *each: ops.concat(*(ops.unsqueeze(x, axes=(0,)) for x in each), axis=0), *steps)
    if isinstance(kept, Tensor):
        outputs = _map(lambda x: ops.slice(x, axes=(0,), starts=(0,), ends=(Size("value", kept),), steps=(1,)), outputs)
    return outputs, now


def _all(flags: Tensor) -> Any:
    """Whether all are true; in a captured program a tensor that says it."""
    found = ops.reduce_all(flags, axes=tuple(range(flags.ndim)), keepdim=False)
    return found if is_symbolic(found) else bool(found.item())


def _repeated(x: Tensor, beams: int) -> Tensor:
    """`[B, ...]` to `[B, beams, ...]`."""
    return ops.broadcast_to(ops.unsqueeze(x, axes=(1,)), shape=(x.shape[0], beams, *x.shape[1:]))


def _kept_where(finished: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """A choice of the old state where a sequence is finished."""

    def choose(old: Tensor, new: Tensor) -> Tensor:
        more = tuple(range(finished.ndim, new.ndim))
        return ops.where(ops.unsqueeze(finished, axes=more) if more else finished, old, new)

    return choose


def _undefined(decoder: Decoder, method: str) -> str:
    return (
        f"{type(decoder).__name__}: the decoder does not say what to do. Got a class without {method}, expected one that "
        f"defines it. Write the method, or use BeamSearchDecoder."
    )


explained(globals())
spelled(globals())
