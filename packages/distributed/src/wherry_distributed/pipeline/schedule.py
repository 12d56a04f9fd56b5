"""In which order a stage computes small batches forwards and backwards.

One forward, one backward (Narayanan et al., "PipeDream-2BW", 2021) keeps at most as many small batches as there are stages after; with
several parts of the model in each stage (interleaving; Narayanan et al., "Efficient large-scale language model training", 2021) stages wait
less and send more.
"""
from __future__ import annotations

from dataclasses import dataclass

from wherry_tensor.errors import InvalidArgumentError


@dataclass(frozen=True)
class Step:
    """One small batch through one part of the model."""

    forward: bool
    micro: int
    chunk: int


def one_forward_one_backward(stage: int, stages: int, micros: int) -> list[Step]:
    """The order of a stage that has one part of the model."""
    warm = min(stages - stage - 1, micros)
    order = [Step(True, i, 0) for i in range(warm)]
    for i in range(micros - warm):
        order += [Step(True, warm + i, 0), Step(False, i, 0)]
    return order + [Step(False, i, 0) for i in range(micros - warm, micros)]


def all_forward_then_backward(stage: int, stages: int, micros: int, chunks: int = 1) -> list[Step]:
    """The order that keeps everything: all forwards, all backwards."""
    order = [Step(True, i, chunk) for chunk in range(chunks) for i in range(micros)]
    return order + [Step(False, i, chunk) for chunk in reversed(range(chunks)) for i in range(micros)]


def interleaved(stage: int, stages: int, micros: int, chunks: int) -> list[Step]:
    """The order of a stage that has several parts of the model: groups of as many small batches as there are stages go through each in turn.

    Raises:
        ValueError: the small batches do not divide into such groups.
    """
    if micros % stages:
        raise InvalidArgumentError(
            f"PipelineParallelWithInterleave: small batches do not divide by the stages. Got accumulate_steps={micros} for {stages} stages, "
            f"expected a "
            f"multiple of {stages}. Change pipeline_configs."
        )
    total, round_ = micros * chunks, stages * chunks

    def step(k: int, forward: bool) -> Step:
        chunk = k % round_ // stages
        return Step(forward, k // round_ * stages + k % stages, chunk if forward else chunks - 1 - chunk)

    warm = total if micros == stages else min((stages - stage - 1) * 2 + (chunks - 1) * stages, total)
    order = [step(k, True) for k in range(warm)]
    for k in range(total - warm):
        order += [step(warm + k, True), step(k, False)]
    return order + [step(k, False) for k in range(total - warm, total)]
