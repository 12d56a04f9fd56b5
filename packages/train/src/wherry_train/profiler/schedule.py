"""Which steps a profiler records."""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["ProfilerState", "from_steps", "make_scheduler"]


class ProfilerState(Enum):
    """What a profiler does during a step.

    Source:
        `paddle.profiler.ProfilerState`.
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3  # record; what was recorded since READY or CLOSED is handed out when the step ends


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Callable[[int], ProfilerState]:
    """A schedule that repeats: `closed` steps of nothing, `ready` steps of warming up, `record` steps recorded.

    Args:
        closed: how many steps are left alone, at least 0.
        ready: how many steps come before recording, at least 0. Nothing is recorded in them.
        record: how many steps are recorded, at least 1.
        repeat: how often that happens; 0 repeats it until the profiler stops.
        skip_first: how many steps at the beginning are left alone.

    Returns:
        A function from the number of a step to its state.

    Raises:
        ValueError: a number is too small (also an AssertionError).

    Source:
        `paddle.profiler.make_scheduler`.

    Examples:
        >>> from wherry import profiler
        >>> scheduler = profiler.make_scheduler(closed=1, ready=1, record=2)
        >>> [scheduler(step).name for step in range(4)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """
    least = {"closed": 0, "ready": 0, "record": 1, "repeat": 0, "skip_first": 0}
    given = {"closed": closed, "ready": ready, "record": record, "repeat": repeat, "skip_first": skip_first}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least[name]:
            raise AssertedArgumentError(
                f"make_scheduler: Invalid profiler scheduler arguments. Got {name}={short(value)}, expected an int >= {least[name]}."
            )
    length = closed + ready + record

    def state(step: int) -> ProfilerState:
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * length):
            return ProfilerState.CLOSED
        at %= length
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD_AND_RETURN if at == length - 1 else ProfilerState.RECORD

    return state


def from_steps(scheduler: Any) -> Callable[[int], ProfilerState]:
    """What `Profiler(scheduler=...)` takes, as a function: None records every step, `(a, b)` the steps from a up to b."""
    if scheduler is None:
        return lambda step: ProfilerState.RECORD
    if callable(scheduler):
        return scheduler  # type: ignore[no-any-return]
    if not isinstance(scheduler, (tuple, list)) or any(isinstance(x, bool) or not isinstance(x, int) for x in scheduler):
        raise InvalidTypeError(
            f"Profiler: scheduler is not a range of steps or a function. Got {short(scheduler)}, expected (first, end), two ints, or a function from "
            f"the number of a step to a ProfilerState. Write scheduler=(3, 14), or use make_scheduler()."
        )
    if len(scheduler) != 2 or scheduler[1] <= max(scheduler[0], 0):
        raise AssertedArgumentError(
            f"Profiler: scheduler is not a valid range of steps. Got {short(scheduler)}, expected two ints with "
            f"first < end and end > 0, such as (3, 14)."
        )
    first, end = max(scheduler[0], 0), scheduler[1]
    return make_scheduler(closed=max(first - 1, 0), ready=min(first, 1), record=end - first, repeat=1)


explained(globals())
