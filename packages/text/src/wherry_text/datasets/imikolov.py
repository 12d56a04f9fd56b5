"""The Penn Treebank as Mikolov prepared it for language models: Marcus et al. (1993), Mikolov et al. (2010)."""
from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_tensor.errors import AssertedArgumentError, short
from wherry_train.data_files import Archive, file_of, mode_of
from wherry_train.io.dataset import Dataset

__all__ = ["Imikolov"]

_FILES = {part: f"simple-examples/data/ptb.{part}.txt" for part in ("train", "valid", "test")}


class Imikolov(Dataset):
    r"""Sentences of the Penn Treebank as numbers of words.

    Words are bytes. Those that come more than `min_word_freq` times in the parts to train and to validate have numbers, the most frequent
    first, together with the marks "<s>" and "<e>" of a sentence; "<unk>" has the last number and stands for all others.

    Args:
        data_file: the path of simple-examples.tgz; None downloads it.
        data_type: "NGRAM" gives windows of `window_size` words, "SEQ" whole sentences.
        window_size: words of a window; of "SEQ", the longest sentence with its mark, where it is above 0.
        mode: "train" or "test".
        min_word_freq: words that come at most so often are unknown.
        download: whether the archive may be downloaded.

    Returns:
        Of an index: for "NGRAM" as many arrays without axes as the window has words, for "SEQ" the sentence after its "<s>"
        and the sentence up to its "<e>", as int64.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode`, `data_type` or `window_size` is wrong (also a ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.Imikolov`.

    Examples:
        >>> import io, tarfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of one sentence in each part
        ...     with tarfile.open(folder + "/simple-examples.tgz", "w:gz") as archive:
        ...         for part in ("train", "valid", "test"):
        ...             member = tarfile.TarInfo(f"./simple-examples/data/ptb.{part}.txt")
        ...             member.size = len(b" a cat sat \n")
        ...             archive.addfile(member, io.BytesIO(b" a cat sat \n"))
        ...     data = wherry.text.Imikolov(folder + "/simple-examples.tgz", data_type="NGRAM", window_size=3, min_word_freq=1)
        >>> len(data), len(data[0])
        (3, 3)
    """

    def __init__(
        self,
        data_file: Any = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        if not isinstance(data_type, str) or data_type.upper() not in ("NGRAM", "SEQ"):
            raise AssertedArgumentError(
                f"Imikolov: data type should be 'NGRAM', 'SEQ', but got {data_type if isinstance(data_type, str) else short(data_type)}. "
                f"Expected one of these."
            )
        self.data_type = data_type.upper()
        self.mode = mode_of("Imikolov", mode, ("train", "test"))
        if not isinstance(window_size, int) or (self.data_type == "NGRAM" and window_size < 1):
            raise AssertedArgumentError(f"Imikolov: Invalid gram length. Got {short(window_size)}, expected window_size=2 or more words.")
        self.window_size = window_size
        self.min_word_freq = min_word_freq
        self.data_file = file_of(
            "Imikolov", "data_file", data_file, "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz",
            "30177ea32e27c525793142b6bf2c8e2d", "imikolov", download,
        )  # fmt: skip
        archive = Archive("Imikolov", self.data_file)
        counts: dict[Any, int] = defaultdict(int)
        for part in ("train", "valid"):
            self.word_count(io.BytesIO(archive.read(_FILES[part])), counts)
        kept = [(word, count) for word, count in counts.items() if count > min_word_freq]
        kept.sort(key=lambda one: (-one[1], one[0] if isinstance(one[0], bytes) else one[0].encode()))
        self.word_idx: dict[Any, int] = {word: number for number, (word, _) in enumerate(kept)}
        self.word_idx["<unk>"] = len(kept)
        self.data = self._samples(archive.read(_FILES[self.mode]))

    def word_count(self, f: Iterable[bytes], word_freq: dict[Any, int] | None = None) -> dict[Any, int]:
        """How often each word comes in the lines of a file; each line counts for one "<s>" and one "<e>".

        Args:
            f: the lines.
            word_freq: counts of other files, which are added to in place.
        """
        counts = defaultdict(int) if word_freq is None else word_freq
        for line in f:
            for word in ("<s>", *line.split(), "<e>"):
                counts[word] = counts.get(word, 0) + 1
        return counts

    def _samples(self, text: bytes) -> list[Any]:
        unknown = self.word_idx["<unk>"]
        start, end = (self.word_idx.get(mark, unknown) for mark in ("<s>", "<e>"))
        samples: list[Any] = []
        size = self.window_size
        for line in io.BytesIO(text):
            numbers = [start, *(self.word_idx.get(word, unknown) for word in line.split()), end]
            if self.data_type == "NGRAM":
                samples += (tuple(numbers[at : at + size]) for at in range(len(numbers) - size + 1))
            elif not 0 < size < len(numbers) - 1:
                samples.append((numbers[:-1], numbers[1:]))
        return samples

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        return tuple(np.array(one) for one in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
