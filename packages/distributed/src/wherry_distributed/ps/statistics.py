"""Shows and clicks of the rows of a sparse table: which rows are worth their memory.

A row counts how often its id was shown and clicked, both fading from day to day; its score says whether it stays, and how much the score has
grown whether it is worth to be saved again. This is what Paddle's `CtrCommonAccessor` keeps, with its settings and their defaults.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short

__all__ = ["ALL", "CHANGED", "END_OF_DAY", "SETTINGS", "WORTHY", "Statistics", "checked_mode", "checked_settings"]

Array = np.ndarray[Any, Any]
PREFIX = "sparse_"
SETTINGS = {
    "nonclk_coeff": 0.1, "click_coeff": 1.0, "show_click_decay_rate": 0.98, "delete_threshold": 0.8, "delete_after_unseen_days": 30.0,
    "base_threshold": 1.5, "delta_threshold": 0.25, "delta_keep_days": 16.0,
}
SHOW, CLICK, UNSEEN, DELTA = range(4)
COLUMNS = 4
ALL, CHANGED, WORTHY, END_OF_DAY = range(4)  # what is saved: Paddle's modes


def checked_mode(mode: Any, op_name: str) -> int:
    """Which rows of tables are saved.

    Raises:
        ValueError: there is no such mode.
    """
    if isinstance(mode, bool) or mode not in (ALL, CHANGED, WORTHY, END_OF_DAY):
        raise InvalidArgumentError(
            f"{op_name}: there is no such mode. Got {short(mode)}, expected 0 (all rows), 1 (rows whose score has grown since they were saved), "
            "2 (rows of a high score) or 3 (all, at the end of a day)."
        )
    return int(mode)


def checked_settings(value: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """`strategy.fleet_desc_configs`: for each table, settings by Paddle's names (`sparse_nonclk_coeff`, ...).

    Raises:
        TypeError: it is not a dict of dicts, or a value is not a number.
        ValueError: a rate or coefficient is negative, or the rate is above 1.
        NotImplementedError: a setting is not one of these.
    """
    found: dict[str, dict[str, float]] = {}
    for table, settings in value.items():
        if not isinstance(settings, Mapping):
            raise InvalidTypeError(
                f"strategy: fleet_desc_configs has settings for each table. Got {short(settings)} for '{table}', expected a dict. Write "
                f"{{'{table}': {{'sparse_delete_threshold': 0.8}}}}."
            )
        found[table] = {}
        for name, number in settings.items():
            short_name = name.removeprefix(PREFIX)
            if not name.startswith(PREFIX) or short_name not in SETTINGS:
                raise UnimplementedError(
                    f"strategy: fleet_desc_configs has no such setting. Got '{name}' for '{table}', expected some of "
                    f"{', '.join(PREFIX + each for each in SETTINGS)}. Leave it out."
                )
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InvalidTypeError(f"strategy: {name} is a number. Got {short(number)}, expected one such as {SETTINGS[short_name]}.")
            if number < 0 or (short_name == "show_click_decay_rate" and number > 1):
                raise InvalidArgumentError(f"strategy: {name} is out of range. Got {number}, expected one such as {SETTINGS[short_name]}.")
            found[table][short_name] = float(number)
    return found


class Statistics:
    """Of the rows of one table, in the order in which they lie.

    Args:
        settings: those of `SETTINGS` that are other than there.
    """

    def __init__(self, settings: Mapping[str, float] | None = None) -> None:
        self.settings = SETTINGS | dict(settings or {})
        self.values = np.zeros((0, COLUMNS))  # shows, clicks, days without a show, growth of the score since it was saved

    def grow(self, rows: int) -> None:
        """Begin to count for new rows, so that there are so many."""
        if rows > len(self.values):
            self.values = np.concatenate([self.values, np.zeros((max(rows - len(self.values), len(self.values)), COLUMNS))])

    def count(self, slots: Array, shows: Array, clicks: Array) -> None:
        """Add shows and clicks; a row may occur several times."""
        np.add.at(self.values[:, SHOW], slots, shows)
        np.add.at(self.values[:, CLICK], slots, clicks)
        np.add.at(self.values[:, DELTA], slots, self._score(shows, clicks))
        self.values[slots, UNSEEN] = 0

    def scores(self, rows: int) -> Array:
        """How much each of the first rows is worth."""
        return self._score(self.values[:rows, SHOW], self.values[:rows, CLICK])

    def _score(self, shows: Array, clicks: Array) -> Array:
        return np.asarray((shows - clicks) * self.settings["nonclk_coeff"] + clicks * self.settings["click_coeff"])

    def chosen(self, rows: int, mode: int) -> Array:
        """Which of the first rows are saved."""
        if mode in (ALL, END_OF_DAY):
            return np.arange(rows)
        grown = self.values[:rows, DELTA] >= (self.settings["delta_threshold"] if mode == CHANGED else 0.0)
        seen = self.values[:rows, UNSEEN] <= self.settings["delta_keep_days"]
        return np.flatnonzero(grown & seen & (self.scores(rows) >= self.settings["base_threshold"]))

    def saved(self, slots: Array, values: Array, mode: int) -> None:
        """Rows have been saved with these counts: what their scores have grown until then does not count any more, or another day has passed."""
        if mode in (CHANGED, WORTHY):
            self.values[slots, DELTA] -= values[:, DELTA]
        elif mode == END_OF_DAY:
            self.values[slots, UNSEEN] += 1

    def set(self, slots: Array, values: Array) -> None:
        """Counts that were saved, by Wherry 0.5 without growth."""
        self.values[slots] = 0
        self.values[slots, : values.shape[1]] = values

    def fade(self, rows: int, threshold: float | None) -> Array:
        """Let counts fade, and say which of the first rows stay."""
        self.values[:rows, : CLICK + 1] *= self.settings["show_click_decay_rate"]
        least = self.settings["delete_threshold"] if threshold is None else threshold
        return np.asarray((self.scores(rows) >= least) & (self.values[:rows, UNSEEN] <= self.settings["delete_after_unseen_days"]))

    def keep(self, kept: Array) -> None:
        """Forget all rows but these, which lie at the beginning now."""
        self.values = self.values[kept].copy()
