"""Random states under names: parts of a model that draw the same numbers in all processes, or others in each."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import wherry_tensor as wt
from wherry_distributed import grid
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError, short

MODEL_PARALLEL_RNG = "model_parallel_rng"


class RNGStatesTracker:
    """Random states under names.

    Source:
        `paddle.distributed.fleet.meta_parallel.RNGStatesTracker`.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all."""
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def add(self, name: str, seed: int) -> None:
        """A state, as it is after `seed(seed)`.

        Raises:
            ValueError: the name or the seed is there already.
        """
        if seed in self.seeds_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: seed {seed} already exists. Got {seed}, expected another. Each state has a seed of its own."
            )
        if name in self.states_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: state {name} already exists. Got {short(name)}, expected a new name. Call reset() before."
            )
        before = wt.get_rng_state()
        wt.seed(seed)
        self.states_[name] = wt.get_rng_state()
        self.seeds_.add(seed)
        wt.set_rng_state(before)

    def get_states_tracker(self) -> dict[str, Any]:
        """The states by name."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Take these states."""
        self.states_ = states

    @contextmanager
    def rng_state(self, name: str = MODEL_PARALLEL_RNG) -> Iterator[None]:
        """Draw from a state inside of the block; it goes on where it was left.

        Raises:
            ValueError: there is no such state.
        """
        if name not in self.states_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: state {name} does not exist. Got {short(name)}, expected one of {list(self.states_)}. Call add(name, seed)."
            )
        before = wt.get_rng_state()
        wt.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = wt.get_rng_state()
            wt.set_rng_state(before)


_tracker = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The tracker of the process.

    Source:
        `paddle.distributed.fleet.meta_parallel.get_rng_state_tracker`.
    """
    return _tracker


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Begin with a seed: alike in processes that divide layers and differ in nothing else, and one of its own for what is divided.

    Source:
        `paddle.distributed.fleet.meta_parallel.model_parallel_random_seed`.
    """
    hcg = grid.current()
    base = 1024 if seed is None else integer(seed, "model_parallel_random_seed", "seed")
    own, stage = (hcg.get_model_parallel_rank(), hcg.get_stage_id()) if hcg is not None else (0, 0)
    width = hcg.get_model_parallel_world_size() if hcg is not None else 1
    _tracker.reset()
    _tracker.add(MODEL_PARALLEL_RNG, base + 1024 + stage * width + own)
    wt.seed(base + 100 * stage)
