"""RNN-T loss (recurrent neural network transducer), for labels that are not aligned with the steps of the input."""
from __future__ import annotations

from wherry_nn.functional._losses import reduced, unknown_reduction
from wherry_tensor import (
    arange,
    cast,
    concat,
    expand,
    full_like,
    gather_nd,
    ops,
    reshape,
    stack,
    take_along_axis,
    where,
)
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import at_hand, integer, number, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions.math import logaddexp
from wherry_tensor.spellings import spelled

__all__ = ["rnnt_loss"]

_NEVER = -1e30  # the logarithm of probability 0: finite, since the gradient of two infinities is NaN


def rnnt_loss(
    input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = 0, fastemit_lambda: float = 0.001,
    reduction: str = "mean", name: str | None = None,
) -> Tensor:
    """RNN-T loss (recurrent neural network transducer): the negative log probability of a label, over all its alignments with the input.

    Args:
        input: floating, `[B, T, U + 1, classes]`: log probabilities, as `log_softmax` gives them, of what follows at step t of the
            input after u symbols of the label: the next symbol, or the blank, which goes on to the next step.
        label: integers, `[B, U]`; what lies beyond the label lengths is ignored.
        input_lengths: integers, `[B]`; how many steps of each example are used.
        label_lengths: integers, `[B]`; how many symbols each label has.
        blank: the index of the blank among the classes.
        fastemit_lambda: gradients of symbols are multiplied by `1 + fastemit_lambda`, so that the model learns to emit them early.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats.

    Shape:
        The result is 0-d, or `[B]` with "none".

    Raises:
        ValueError: an unknown reduction, shapes that do not fit, a length that is too large, no steps, or a blank or symbol out of range.
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.rnnt_loss`; Graves, "Sequence transduction with recurrent neural networks" (2012); Yu et al., "FastEmit"
        (2021). States with the same t + u form a diagonal, which depends only on the one before: T + U steps over
        `[B, U + 1]`, composed of ops.

    Examples:
        >>> scores = wherry.nn.functional.log_softmax(wherry.zeros([1, 2, 2, 3]))  # two steps, each class equally likely
        >>> one = wherry.to_tensor([1])
        >>> loss = wherry.nn.functional.rnnt_loss(scores, wherry.to_tensor([[1]]), one * 2, one)
        >>> print(loss.numpy().round(4))  # two ways, of three choices each
        2.6027
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("rnnt_loss", reduction)
    batch, steps, rows, _ = _checked(input, label, input_lengths, label_lengths)
    _check_values(input, label, input_lengths, label_lengths, integer(blank, "rnnt_loss", "blank"))
    favour = number(fastemit_lambda, "rnnt_loss", "fastemit_lambda")
    scores = cast(input, "float32") if input.dtype.itemsize == 2 else input

    # Diagonal d holds the states (d - u, u), after u symbols; those outside have probability 0.
    diagonals = steps + rows - 1
    step = reshape(arange(diagonals), [-1, 1]) - arange(rows)
    inside = ops.logical_and(step >= 0, step < steps)
    places = expand(reshape(where(inside, step, full_like(step, 0)), [1, diagonals, rows]), [batch, diagonals, rows])
    read = _on_diagonals(scores[..., blank], places, inside)
    written = None
    if rows > 1:
        counted = arange(rows - 1, dtype="int64") < reshape(cast(label_lengths, "int64"), [-1, 1])
        symbols = where(counted, cast(label, "int64"), full_like(counted, 0, dtype="int64"))  # the padding of labels need not be a class
        symbols = expand(reshape(symbols, [batch, 1, rows - 1, 1]), [batch, steps, rows - 1, 1])
        next_symbol = reshape(take_along_axis(scores[:, :, :-1], symbols, 3, broadcast=False), [batch, steps, rows - 1])
        if favour:
            next_symbol = next_symbol + (next_symbol - next_symbol.detach()) * favour  # adds 0, and to the gradient `favour` times itself
        written = _on_diagonals(next_symbol, places[..., :-1], inside[:, :-1])

    never = ops.full(shape=(batch, 1), value=_NEVER, dtype=scores.dtype)
    state = full_like(read[:, 0], _NEVER)
    state = where(arange(rows) == 0, full_like(state, 0.0), state)
    states = [state]
    for d in range(diagonals - 1):
        came = state + read[:, d]
        if written is not None:
            came = logaddexp(came, concat([never, state[:, :-1] + written[:, d]], 1))
        state = came
        states.append(state)
    # The last symbol is the blank after the last step.
    u = cast(label_lengths, "int64")
    ends = stack([arange(batch), cast(input_lengths, "int64") - 1 + u, u], 1)
    loss = -gather_nd(stack(states, 1) + read, ends)
    return reduced(cast(loss, input.dtype), reduction)


def _on_diagonals(x: Tensor, places: Tensor, inside: Tensor) -> Tensor:
    """`[B, T, rows]` as `[B, diagonals, rows]`."""
    found = take_along_axis(x, places, 1, broadcast=False)
    return where(inside, found, full_like(found, _NEVER))


def _checked(input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> list[int]:
    given = {"input": input, "label": label, "input_lengths": input_lengths, "label_lengths": label_lengths}
    for name, x in given.items():
        require_tensor(x, "rnnt_loss", name)
        floats = name == "input"
        if not (x.dtype.is_floating if floats else x.dtype.is_integer):
            raise InvalidTypeError(
                f"rnnt_loss: {name} has the wrong dtype. Got {x.dtype.name}, expected {'a floating' if floats else 'an integer'} one. "
                f"Cast it with {name}.astype('{'float32' if floats else 'int32'}')."
            )
    shape = input.shape
    expected = [shape[:1], shape[:1]] if len(shape) == 4 else []
    if len(shape) != 4 or label.shape != [shape[0], shape[2] - 1] or [input_lengths.shape, label_lengths.shape] != expected:
        raise InvalidArgumentError(
            f"rnnt_loss: shapes do not fit. Got {', '.join(f'{name} {x.shape}' for name, x in given.items())}, expected "
            f"[B, T, U + 1, classes], [B, U], [B] and [B]. The third axis of input counts the symbols written, from 0 to U."
        )
    return shape


def _check_values(input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int) -> None:
    """What only the values can tell, where they can be looked at without waiting for a device."""
    _, steps, rows, classes = input.shape
    if not 0 <= blank < classes:
        raise InvalidArgumentError(
            f"rnnt_loss: blank is out of range. Got blank={blank} for {classes} classes, expected 0 to {classes - 1}. Classes count from 0."
        )
    if not all(map(at_hand, (label, input_lengths, label_lengths))):
        return
    for name, x, least, most in (("input_lengths", input_lengths, 1, steps), ("label_lengths", label_lengths, 0, rows - 1)):
        for length in x.tolist():
            if not least <= length <= most:
                raise InvalidArgumentError(
                    f"rnnt_loss: {name} do not fit. Got {length}, expected {least} to {most}, for input of shape {input.shape}. Cut the data."
                )
    for symbols, length in zip(label.tolist(), label_lengths.tolist()):
        for symbol in symbols[:length]:
            if not 0 <= symbol < classes:
                raise InvalidArgumentError(
                    f"rnnt_loss: a symbol is out of range. Got {symbol} in label, expected 0 to {classes - 1}. Check the vocabulary."
                )


spelled(globals())
