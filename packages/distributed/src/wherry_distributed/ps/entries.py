"""Which ids get a row in a sparse table: `CountFilterEntry`, `ProbabilityEntry`, `ShowClickEntry`."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["CountFilterEntry", "Entry", "ProbabilityEntry", "ShowClickEntry"]


class Entry:
    """A rule that admits ids to a table."""

    def admits(self, ids: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Which of these ids, without repetitions and met `counts` times in this request, get a row."""
        raise NotImplementedError


class CountFilterEntry(Entry):
    """An id gets a row when it has been asked for so many times; before that its row is zero and gradients of it are dropped.

    Args:
        count_filter: how many times.

    Raises:
        ValueError: it is not a positive int.

    Source:
        `paddle.distributed.CountFilterEntry`.

    Examples:
        >>> wherry.distributed.CountFilterEntry(10)._to_attr()
        'count_filter_entry:10'
    """

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int) or isinstance(count_filter, bool) or count_filter <= 0:
            raise InvalidArgumentError(f"CountFilterEntry: count_filter must be a positive int. Got {short(count_filter)}, expected one such as 10.")
        self._count = count_filter
        self._seen: dict[int, int] = {}

    def _to_attr(self) -> str:
        return f"count_filter_entry:{self._count}"

    def admits(self, ids: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """See `Entry`."""
        if not isinstance(ids, np.ndarray) or not isinstance(counts, np.ndarray) or ids.shape != counts.shape:
            raise InvalidTypeError(f"admits: ids and counts are arrays [n]. Got {short(ids)} and {short(counts)}, expected as many counts as ids.")
        chosen = np.zeros(len(ids), bool)
        for i, (key, count) in enumerate(zip(ids.tolist(), counts.tolist(), strict=True)):
            seen = self._seen.pop(key, 0) + count
            if seen >= self._count:
                chosen[i] = True
            else:
                self._seen[key] = seen
        return chosen


class ProbabilityEntry(Entry):
    """An id gets a row with a probability each time that it is asked for without having one.

    Args:
        probability: in (0, 1).

    Raises:
        ValueError: it is not.

    Source:
        `paddle.distributed.ProbabilityEntry`.

    Examples:
        >>> wherry.distributed.ProbabilityEntry(0.1)._to_attr()
        'probability_entry:0.1'
    """

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise InvalidArgumentError(
                f"ProbabilityEntry: probability must be a float in (0, 1). Got {short(probability)}, expected one such as 0.1."
            )
        self._probability = probability
        self._random = np.random.default_rng(0)

    def _to_attr(self) -> str:
        return f"probability_entry:{self._probability}"

    def admits(self, ids: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """See `Entry`."""
        return self._random.random(len(ids)) < self._probability


class ShowClickEntry(Entry):
    """Every id gets a row, whose shows and clicks are counted: `fleet.shrink()` ends a day and drops rows that are not worth their memory.

    Args:
        show_name, click_name: variables of the program, `[N, 1]`, that say how often each sample was shown and clicked.

    Raises:
        ValueError: a name is not a str.

    Source:
        `paddle.distributed.ShowClickEntry`.

    Examples:
        >>> wherry.distributed.ShowClickEntry("show", "click")._to_attr()
        'show_click_entry:show:click'
    """

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise InvalidArgumentError(
                f"ShowClickEntry: names must be str. Got {short(show_name)} and {short(click_name)}, expected names of variables."
            )
        self._show_name, self._click_name = show_name, click_name

    def _to_attr(self) -> str:
        return f"show_click_entry:{self._show_name}:{self._click_name}"

    def admits(self, ids: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """See `Entry`."""
        return np.ones(len(ids), bool)
