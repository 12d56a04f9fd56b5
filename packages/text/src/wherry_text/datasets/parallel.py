"""The base of translation data sets."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from wherry_tensor.errors import AssertedArgumentError, short
from wherry_train.io.dataset import Dataset

__all__ = ["END", "START", "UNKNOWN", "Parallel", "checked_size", "pairs_of"]

START, END, UNKNOWN = "<s>", "<e>", "<unk>"  # the first words of each dictionary


class Parallel(Dataset):
    """Sentences as numbers: the source between its marks, the target after its start, and the target up to its end."""

    def _take(self, pairs: Iterable[tuple[list[str], list[str]]], source: dict[str, int], target: dict[str, int]) -> None:
        self.src_ids: list[Any] = []
        self.trg_ids: list[Any] = []
        self.trg_ids_next: list[Any] = []
        for words, answer in pairs:
            numbers = [target.get(word, target[UNKNOWN]) for word in answer]
            self.src_ids.append(np.array([source.get(word, source[UNKNOWN]) for word in (START, *words, END)], np.int64))
            self.trg_ids.append(np.array([target[START], *numbers], np.int64))
            self.trg_ids_next.append(np.array([*numbers, target[END]], np.int64))

    def __getitem__(self, idx: int) -> tuple[Any, Any, Any]:
        return self.src_ids[idx].copy(), self.trg_ids[idx].copy(), self.trg_ids_next[idx].copy()

    def __len__(self) -> int:
        return len(self.src_ids)


def checked_size(kind: str, name: str, size: Any) -> int:
    """A size of a dictionary: as large as the marks at least."""
    if not isinstance(size, int) or size < 3:
        raise AssertedArgumentError(
            f"{kind}: {name} should be set as positive number. Got {short(size)}, expected 3 or more: three words are <s>, <e> and <unk>."
        )
    return size


def pairs_of(text: bytes) -> Iterator[tuple[str, str]]:
    """Both sentences of each line that has two."""
    for line in text.decode("utf-8").split("\n"):
        parts = line.strip().split("\t")
        if len(parts) == 2:
            yield parts[0], parts[1]
