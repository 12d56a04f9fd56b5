"""Viterbi decoding: Viterbi (1967), over a batch, step by step in time."""
from __future__ import annotations

import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_nn import Layer
from wherry_program.program.best_paths import best_paths
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["ViterbiDecoder", "viterbi_decode"]


def viterbi_decode(
    potentials: Tensor, transition_params: Tensor, lengths: Tensor, include_bos_eos_tag: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Viterbi decoding: for each row of a batch, the sequence of tags with the largest sum of scores. It has no gradient.

    Args:
        potentials: the score of each tag at each step, float32 or float64.
        transition_params: `[i, j]` is the score of tag j right after tag i; dtype as `potentials`.
        lengths: the number of steps of each row, int64.
        include_bos_eos_tag: whether the last tag stands for the start and the last but one for the end: the last row of the transitions
            is added at the first step, the last but one at the last step.
        name: accepted for compatibility.

    Returns:
        The sums, and the tags as int64; after the end of a row they are 0. A row of length 0 has the best score of its first place.

    Shape:
        potentials: `[batch, time, tags]`
        transition_params: `[tags, tags]`
        lengths: `[batch]`
        output: `[batch]` and `[batch, longest length]`

    Raises:
        TypeError: an argument is not a Tensor, or has another dtype.
        ValueError: shapes do not fit, lengths are all 0, or a length is negative or larger than the time.

    Source:
        `paddle.text.viterbi_decode`.

    Examples:
        >>> emission = wherry.to_tensor([[[0.0, 1.0], [0.5, 0.4], [0.0, 0.3]]])
        >>> transition = wherry.to_tensor([[0.2, 0.0], [0.0, 0.2]])
        >>> scores, tags = wherry.text.viterbi_decode(emission, transition, wherry.to_tensor([3]), False)
        >>> tags.numpy()
        array([[1, 1, 1]])
    """
    _check(potentials, transition_params, lengths, include_bos_eos_tag)
    with no_grad():
        if any(_core.is_symbolic(x) for x in (potentials, transition_params, lengths)):
            return best_paths(potentials, transition_params, lengths, include_bos_eos_tag)
        longest = _longest(lengths, potentials.shape[1])
        score = potentials[:, 0]
        if include_bos_eos_tag:
            score = score + transition_params[-1]
        steps = []  # of each place but the first: the best tag before each tag
        for place in range(1, longest):
            ways = wt.unsqueeze(score, 2) + transition_params
            steps.append(wt.argmax(ways, axis=1))
            score = wt.where(wt.unsqueeze(lengths > place, 1), wt.max(ways, axis=1) + potentials[:, place], score)
        if include_bos_eos_tag:
            score = wt.where(wt.unsqueeze(lengths > 0, 1), score + transition_params[-2], score)
        tag = wt.argmax(score, axis=1)
        none = wt.zeros_like(tag)
        tags = []
        for place in range(longest - 1, -1, -1):
            tags.append(wt.where(lengths > place, tag, none))
            if place:
                before = wt.squeeze(wt.take_along_axis(steps[place - 1], wt.unsqueeze(tag, 1), 1), 1)
                tag = wt.where(lengths > place, before, tag)
        return wt.max(score, axis=1), wt.stack(tags[::-1], axis=1)


class ViterbiDecoder(Layer):
    """`viterbi_decode` with transitions that stay the same.

    Args:
        transitions: `[i, j]` is the score of tag j right after tag i.
        include_bos_eos_tag: whether the last tag stands for the start and the last but one for the end.
        name: accepted for compatibility.

    Shape:
        transitions: `[tags, tags]`
        potentials: `[batch, time, tags]`
        lengths: `[batch]`
        output: `[batch]` and `[batch, longest length]`

    Raises:
        When called, as `viterbi_decode`.

    Source:
        `paddle.text.ViterbiDecoder`.

    Examples:
        >>> decoder = wherry.text.ViterbiDecoder(wherry.zeros([2, 2]), include_bos_eos_tag=False)
        >>> scores, tags = decoder(wherry.to_tensor([[[0.0, 1.0], [0.5, 0.0]]]), wherry.to_tensor([2]))
        >>> scores.item(), tags.numpy()
        (1.5, array([[1, 0]]))
    """

    def __init__(self, transitions: Tensor, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag
        self.name = name

    def forward(self, potentials: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The sums of the scores, and the tags."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)


def _check(potentials: Tensor, transitions: Tensor, lengths: Tensor, with_ends: bool) -> None:
    given = (("potentials", potentials, 3), ("transition_params", transitions, 2), ("lengths", lengths, 1))
    for name, value, axes in given:
        if not isinstance(value, Tensor):
            raise InvalidTypeError(f"viterbi_decode: {name} is not a Tensor. Got {short(value)} ({type(value).__name__}). Try wherry.to_tensor.")
        if len(value.shape) != axes:
            raise InvalidArgumentError(f"viterbi_decode: {name} has the wrong shape. Got {list(value.shape)}, expected {axes} axes.")
    if potentials.dtype not in (wt.float32, wt.float64) or transitions.dtype != potentials.dtype:
        raise InvalidTypeError(
            f"viterbi_decode: scores need one floating dtype. Got potentials of {potentials.dtype} and transition_params of {transitions.dtype}, "
            f"expected both float32 or both float64. Try .astype('float32')."
        )
    if lengths.dtype != wt.int64:
        raise InvalidTypeError(f"viterbi_decode: lengths have the wrong dtype. Got {lengths.dtype}, expected int64. Try .astype('int64').")
    batch, time, tags = potentials.shape
    if list(transitions.shape) != [tags, tags] or list(lengths.shape) != [batch] or not batch or not time or tags < (2 if with_ends else 1):
        raise InvalidArgumentError(
            f"viterbi_decode: shapes do not fit. Got potentials {list(potentials.shape)}, transition_params {list(transitions.shape)} and lengths "
            f"{list(lengths.shape)}, expected [batch, time, tags], [tags, tags] and [batch], none of them empty"
            f"{', with two tags at least' if with_ends else ''}."
        )


def _longest(lengths: Tensor, time: int) -> int:
    """The largest length."""
    largest, smallest = int(wt.max(lengths).item()), int(wt.min(lengths).item())
    if smallest < 0 or not 0 < largest <= time:
        raise InvalidArgumentError(
            f"viterbi_decode: lengths do not fit. Got lengths from {smallest} to {largest}, expected them from 0 to {time}, one above 0 at least."
        )
    return largest


explained(globals())
