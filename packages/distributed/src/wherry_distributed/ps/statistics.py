"""Shows and clicks of the rows of a sparse table: which rows are worth their memory.

A row counts how often its id was shown and clicked, both fading from day to day; its score says whether it stays. This is what Paddle's
`CtrCommonAccessor` keeps, with its settings and their defaults.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short

__all__ = ["SETTINGS", "Statistics", "checked_settings"]

Array = np.ndarray[Any, Any]
PREFIX = "sparse_"
SETTINGS = {
    "nonclk_coeff": 0.1, "click_coeff": 1.0, "show_click_decay_rate": 0.98, "delete_threshold": 0.8, "delete_after_unseen_days": 30.0,
}
SHOW, CLICK, UNSEEN = range(3)


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
        self.values = np.zeros((0, 3))  # shows, clicks, days without a show

    def grow(self, rows: int) -> None:
        """Begin to count for new rows, so that there are so many."""
        if rows > len(self.values):
            self.values = np.concatenate([self.values, np.zeros((max(rows - len(self.values), len(self.values)), 3))])

    def count(self, slots: Array, shows: Array, clicks: Array) -> None:
        """Add shows and clicks; a row may occur several times."""
        np.add.at(self.values[:, SHOW], slots, shows)
        np.add.at(self.values[:, CLICK], slots, clicks)
        self.values[slots, UNSEEN] = 0

    def scores(self, rows: int) -> Array:
        """How much each of the first rows is worth."""
        shows, clicks = self.values[:rows, SHOW], self.values[:rows, CLICK]
        return np.asarray((shows - clicks) * self.settings["nonclk_coeff"] + clicks * self.settings["click_coeff"])

    def end_of_day(self, rows: int, threshold: float | None) -> Array:
        """Let counts fade, and say which of the first rows stay."""
        self.values[:rows, : CLICK + 1] *= self.settings["show_click_decay_rate"]
        self.values[:rows, UNSEEN] += 1
        least = self.settings["delete_threshold"] if threshold is None else threshold
        return np.asarray((self.scores(rows) >= least) & (self.values[:rows, UNSEEN] <= self.settings["delete_after_unseen_days"]))

    def keep(self, kept: Array) -> None:
        """Forget all rows but these, which lie at the beginning now."""
        self.values = self.values[kept].copy()
