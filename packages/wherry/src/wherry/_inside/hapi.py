"""What libraries take from `paddle.hapi.model` and `paddle.hapi.progressbar`."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor import Tensor
from wherry_train import progress_bar

__all__ = ["ProgressBar", "extract_args", "flatten_list", "restore_flatten_list", "to_list", "to_numpy"]


class ProgressBar(progress_bar.ProgressBar):
    """The bar of `Model.fit`. Source: `paddle.hapi.progressbar.ProgressBar`."""

    def __init__(self, num: int | None = None, width: int = 30, verbose: int = 1, start: bool = True, file: Any = None, name: str = "step") -> None:
        super().__init__(num, verbose, file)
        self.name = name

    def start(self) -> None:
        """Begin a line: the first `update` does."""

    def update(self, current_num: int, values: Any = None) -> None:
        """Show that `current_num` steps are done, with named values."""
        super().update(current_num, values.items() if isinstance(values, dict) else values or ())


def _all_gather(x: Tensor) -> Tensor:
    """What all processes have, one below the other: what this one has."""
    return x


def to_list(value: Any) -> Any:
    """None stays, a list or tuple is a list, all else a list of one."""
    return value if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def to_numpy(var: Any) -> Any:
    """The numbers of a tensor; numbers stay."""
    return var.numpy() if isinstance(var, Tensor) else var


def flatten_list(items: Sequence[Sequence[Any]]) -> tuple[list[Any], list[int]]:
    """Lists one after the other, and how long each was."""
    return [each for part in items for each in part], [len(part) for part in items]


def restore_flatten_list(items: Sequence[Any], splits: Sequence[int]) -> list[list[Any]]:
    """`flatten_list` back."""
    found, at = [], 0
    for length in splits:
        found.append(list(items[at:at + length]))
        at += length
    return found


def extract_args(func: Callable[..., Any]) -> list[str]:
    """Names of the arguments of a function."""
    return inspect.getfullargspec(func).args
