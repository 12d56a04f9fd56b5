"""Line search for the strong Wolfe conditions, by bracketing and cubic interpolation.

Nocedal and Wright, "Numerical Optimization" (2006), algorithms 3.5 and 3.6.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from wherry_tensor._core import Tensor

_DECREASE = 1e-4  # c1, of the sufficient decrease condition
_FLATNESS = 0.9   # c2, of the curvature condition
_MARGIN = 0.1     # of an interval: no two trials in a row nearer to its ends


@dataclass(slots=True)
class Trial:
    """A point on the line: the step length, the value, the slope along the line, the gradient."""

    step: float
    value: float
    slope: float
    grad: Tensor

    def is_finite(self) -> bool:
        return math.isfinite(self.value) and math.isfinite(self.slope)


def cubic_minimum(one: Trial, other: Trial, low: float, high: float) -> float:
    """The minimum between `low` and `high` of the cubic through two trials and their slopes; the middle if there is none."""
    middle = (low + high) / 2
    if one.step == other.step or not (one.is_finite() and other.is_finite()):
        return middle
    left, right = sorted((one, other), key=lambda trial: trial.step)
    mean = left.slope + right.slope - 3 * (left.value - right.value) / (left.step - right.step)
    square = mean * mean - left.slope * right.slope
    if square < 0:
        return middle
    root = math.sqrt(square)
    below = right.slope - left.slope + 2 * root
    if below == 0:
        return middle
    place = right.step - (right.step - left.step) * (right.slope + root - mean) / below
    return min(max(place, low), high)


def strong_wolfe(
    evaluate: Callable[[float], Trial], start: Trial, step: float, length: float, tolerance: float = 1e-9, most: int = 25
) -> tuple[Trial, int]:
    """A trial that meets both conditions, or the best after `most` of them; and the number of trials.

    `length` is the largest entry of the direction: an interval that moves nothing by more than `tolerance` is searched no further.
    """

    def too_high(trial: Trial) -> bool:
        return not trial.is_finite() or trial.value > start.value + _DECREASE * trial.step * start.slope

    def is_flat(trial: Trial) -> bool:
        return abs(trial.slope) <= -_FLATNESS * start.slope

    before, trial, count = start, evaluate(step), 1
    while True:  # until the minimum is between two trials
        if too_high(trial) or (count > 1 and trial.value >= before.value):
            low, high = (before, trial) if not trial.is_finite() or before.value <= trial.value else (trial, before)
            break
        if is_flat(trial):
            return trial, count
        if trial.slope >= 0:
            low, high = (before, trial) if before.value <= trial.value else (trial, before)
            break
        if count >= most:
            return trial, count
        further = cubic_minimum(before, trial, trial.step + 0.01 * (trial.step - before.step), trial.step * 10)
        before, trial = trial, evaluate(further)
        count += 1
    was_near = False
    while count < most and abs(high.step - low.step) * length >= tolerance:
        left, right = sorted((low.step, high.step))
        place = cubic_minimum(low, high, left, right)
        margin = _MARGIN * (right - left)
        is_near = min(right - place, place - left) < margin
        if is_near and (was_near or place >= right or place <= left):
            place, is_near = (right - margin if right - place < place - left else left + margin), False
        was_near = is_near
        trial = evaluate(place)
        count += 1
        if too_high(trial) or trial.value >= low.value:
            high = trial
            continue
        if is_flat(trial):
            return trial, count
        if trial.slope * (high.step - low.step) >= 0:
            high = low
        low = trial
    return low, count
