"""Viterbi decoding as a program with loops, for any number of steps: what captured calls and files of Paddle run."""
from __future__ import annotations

import wherry_tensor as api
from wherry_program.program.control.arrays import array_append, array_read, array_stack, create_array
from wherry_program.program.control.loops import while_loop
from wherry_program.program.ir import Variable
from wherry_tensor import _core
from wherry_tensor._core import Tensor

__all__ = ["best_paths"]


def best_paths(x: Tensor, transitions: Tensor, lengths: Tensor, with_ends: bool) -> tuple[Tensor, Tensor]:
    """A forward pass that finds the best path to each tag, then backtracking along the best one.

    Args:
        x: the score of each tag at each step, `[batch, time, tags]`.
        transitions: `[i, j]` is the score of tag j right after tag i.
        lengths: the number of steps of each row, int64.
        with_ends: whether the last tag stands for the start and the last but one for the end.

    Returns:
        The sums `[batch]`, and the tags `[batch, longest length]`, 0 after the end of a row.
    """
    end = api.max(lengths)
    score = x[:, 0]
    if with_ends:
        score = score + transitions[-1]

    def onwards(place: Tensor, score: Tensor, before: Variable) -> list[Tensor]:
        ways = api.unsqueeze(score, 2) + transitions
        said = api.squeeze(api.gather(x, api.reshape(place, [1]), 1), 1)
        score = api.where(api.unsqueeze(lengths > place, 1), api.max(ways, 1) + said, score)
        return [place + 1, score, array_append(before, api.argmax(ways, 1))]

    begin = [api.ones([], "int64"), score, create_array(_core.int64)]
    _, score, before = while_loop(lambda place, _score, _before: place < end, onwards, begin)
    if with_ends:
        score = api.where(api.unsqueeze(lengths > 0, 1), score + transitions[-2], score)
    tag = api.argmax(score, 1)
    none = api.zeros_like(tag)

    def back(place: Tensor, tag: Tensor, tags: Variable) -> list[Tensor]:
        tags = array_append(tags, api.where(lengths > place, tag, none))
        step = array_read(before, place - 1, [x.shape[0], x.shape[2]])
        step = api.squeeze(api.take_along_axis(step, api.unsqueeze(tag, 1), 1), 1)
        return [place - 1, api.where(lengths > place, step, tag), tags]

    _, tag, tags = while_loop(lambda place, _tag, _tags: place > 0, back, [end - 1, tag, create_array(_core.int64)])
    tags = array_stack(array_append(tags, api.where(lengths > 0, tag, none)), [-1, tag.shape[0]])
    return api.max(score, 1), api.transpose(api.flip(tags, 0), [1, 0])
