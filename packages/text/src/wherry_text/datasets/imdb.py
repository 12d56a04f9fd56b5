"""IMDB movie reviews, positive and negative: Maas et al. (2011)."""
from __future__ import annotations

import re
import string
from collections import Counter
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError
from wherry_train.data_files import Archive, file_of, mode_of
from wherry_train.io.dataset import Dataset

__all__ = ["Imdb"]

_REVIEW = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt")
_LARGEST = 1 << 24  # bytes of a review
_PUNCTUATION = string.punctuation.encode()


class Imdb(Dataset):
    """Reviews as numbers of words, 25,000 to train and 25,000 to test, half of them good.

    Words are bytes in small letters without punctuation. Those that come more than `cutoff` times in all reviews have numbers, the most
    frequent first; "<unk>" has the last one and stands for all others.

    Args:
        data_file: the path of aclImdb_v1.tar.gz; None downloads it.
        mode: "train" or "test".
        cutoff: words that come at most so often are unknown.
        download: whether the archive may be downloaded.

    Returns:
        Of an index: the numbers of the words `[n]`, and the label `[1]`, 0 of a good review and 1 of a bad one, as int64.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.Imdb`.

    Examples:
        >>> import io, tarfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of two reviews
        ...     with tarfile.open(folder + "/aclImdb_v1.tar.gz", "w:gz") as archive:
        ...         for name, text in (("pos/0_9.txt", b"A good film, a good plot."), ("neg/0_2.txt", b"A bad film.")):
        ...             member = tarfile.TarInfo("aclImdb/train/" + name)
        ...             member.size = len(text)
        ...             archive.addfile(member, io.BytesIO(text))
        ...     data = wherry.text.Imdb(folder + "/aclImdb_v1.tar.gz", cutoff=1)
        >>> data.word_idx
        {b'a': 0, b'film': 1, b'good': 2, '<unk>': 3}
        >>> data[0]
        (array([0, 2, 1, 0, 2, 3]), array([0]))
    """

    def __init__(self, data_file: Any = None, mode: str = "train", cutoff: int = 150, download: bool = True) -> None:
        self.mode = mode_of("Imdb", mode, ("train", "test"))
        self.data_file = file_of(
            "Imdb", "data_file", data_file, "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz",
            "7c2ac02c03563afcf9b574c7e56c153a", "imdb", download,
        )  # fmt: skip
        archive = Archive("Imdb", self.data_file)
        counts: Counter[bytes] = Counter()
        reviews: dict[str, list[list[bytes]]] = {"pos": [], "neg": []}
        for name in archive.members:  # in their order, so that the archive is unpacked once
            if (found := _REVIEW.fullmatch(name)) is not None:
                words = archive.read(name, _LARGEST).translate(None, _PUNCTUATION).lower().split()
                counts.update(words)
                if found[1] == self.mode:
                    reviews[found[2]].append(words)
        if not counts:
            raise InvalidArgumentError(f"Imdb: {self.data_file} is another file. Got no reviews, expected aclImdb/train/pos/*.txt and its like.")
        kept = sorted((-count, word) for word, count in counts.items() if count > cutoff)
        self.word_idx: dict[Any, int] = {word: number for number, (_, word) in enumerate(kept)}
        unknown = self.word_idx["<unk>"] = len(kept)
        # Lists, as in Paddle: programs lengthen them, `docs[i] + [0] * n`.
        self.docs = [[self.word_idx.get(word, unknown) for word in words] for kind in reviews.values() for words in kind]
        self.labels = [label for label, kind in enumerate(reviews.values()) for _ in kind]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        return np.array(self.docs[idx], np.int64), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)
