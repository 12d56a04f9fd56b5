"""`paddle.dataset`: readers of data sets from before `paddle.io`, which give the samples one by one."""
from __future__ import annotations

import glob
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wherry
from wherry_train.download import fetched, md5_of

__all__ = ["DATA_HOME", "cluster_files_reader", "download", "md5file", "must_mkdirs", "split"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")
Reader = Callable[[], Iterator[Any]]

md5file = md5_of


def must_mkdirs(path: str) -> None:
    """Make a folder and those above, where they are missing."""
    os.makedirs(path, exist_ok=True)


def download(url: str, module_name: str, md5sum: str, save_name: str | None = None) -> str:
    """The path of a file of a data set, which is downloaded when it is not there."""
    path = fetched(url, os.path.join(DATA_HOME, module_name), md5sum)
    if save_name is None:
        return path
    named = os.path.join(os.path.dirname(path), save_name)
    os.replace(path, named)
    return named


def split(reader: Reader, line_count: int, suffix: str = "%05d.pickle", dumper: Callable[..., Any] = pickle.dump) -> None:
    """Write the samples of a reader into files of `line_count` each."""
    lines: list[Any] = []
    number = 0
    for sample in reader():
        lines.append(sample)
        if len(lines) == line_count:
            with open(suffix % number, "wb") as file:
                dumper(lines, file)
            lines, number = [], number + 1
    if lines:
        with open(suffix % number, "wb") as file:
            dumper(lines, file)


def cluster_files_reader(files_pattern: str, trainer_count: int, trainer_id: int, loader: Callable[..., Any] = pickle.load) -> Reader:
    """A reader of the files of one trainer of several, which `split` wrote."""

    def reader() -> Iterator[Any]:
        for i, name in enumerate(sorted(glob.glob(files_pattern))):
            if i % trainer_count == trainer_id:
                with open(name, "rb") as file:
                    yield from loader(file)

    return reader


def _samples(make: Callable[[], Any], change: Callable[[Any], Any] = tuple) -> Reader:
    def reader() -> Iterator[Any]:
        data = make()
        for i in range(len(data)):
            yield change(data[i])

    return reader


def _digit(sample: Any) -> Any:
    image, label = sample
    return np.asarray(image, "float32").reshape(-1) / 127.5 - 1.0, int(np.asarray(label).item())


def mnist_train() -> Reader:
    """Digits to train with: 784 numbers from -1 to 1, and the label."""
    return _samples(lambda: wherry.vision.datasets.MNIST(mode="train", backend="cv2"), _digit)


def mnist_test() -> Reader:
    """Digits to test with."""
    return _samples(lambda: wherry.vision.datasets.MNIST(mode="test", backend="cv2"), _digit)


def _picture(sample: Any) -> Any:
    image, label = sample
    return np.asarray(image, "float32").transpose(2, 0, 1).reshape(-1) / 255.0, int(np.asarray(label).item())


def cifar_train10(cycle: bool = False) -> Reader:
    """Pictures of ten classes: 3072 numbers from 0 to 1, and the label."""
    return _cycled(_samples(lambda: wherry.vision.datasets.Cifar10(mode="train", backend="cv2"), _picture), cycle)


def cifar_test10(cycle: bool = False) -> Reader:
    """Pictures of ten classes to test with."""
    return _cycled(_samples(lambda: wherry.vision.datasets.Cifar10(mode="test", backend="cv2"), _picture), cycle)


def cifar_train100() -> Reader:
    """Pictures of a hundred classes."""
    return _samples(lambda: wherry.vision.datasets.Cifar100(mode="train", backend="cv2"), _picture)


def cifar_test100() -> Reader:
    """Pictures of a hundred classes to test with."""
    return _samples(lambda: wherry.vision.datasets.Cifar100(mode="test", backend="cv2"), _picture)


def _cycled(reader: Reader, cycle: bool) -> Reader:
    def again() -> Iterator[Any]:
        while True:
            yield from reader()

    return again if cycle else reader


def housing_train() -> Reader:
    """Houses to train with: 13 numbers, and the price."""
    return _samples(lambda: wherry.text.UCIHousing(mode="train"))


def housing_test() -> Reader:
    """Houses to test with."""
    return _samples(lambda: wherry.text.UCIHousing(mode="test"))


def imdb_word_dict() -> dict[Any, int]:
    """The words of the reviews and their numbers."""
    return wherry.text.Imdb(mode="train").word_idx


def _review(sample: Any) -> Any:
    words, label = sample
    return list(np.asarray(words).reshape(-1).tolist()), int(np.asarray(label).item())


def imdb_train(word_idx: Any) -> Reader:
    """Reviews to train with: numbers of words, and whether it is a bad one."""
    return _samples(lambda: wherry.text.Imdb(mode="train"), _review)


def imdb_test(word_idx: Any) -> Reader:
    """Reviews to test with."""
    return _samples(lambda: wherry.text.Imdb(mode="test"), _review)


def imikolov_build_dict(min_word_freq: int = 50) -> dict[Any, int]:
    """The words of the texts and their numbers."""
    return wherry.text.Imikolov(mode="train", data_type="NGRAM", window_size=2, min_word_freq=min_word_freq).word_idx


def imikolov_train(word_idx: Any, n: int, data_type: int = 1) -> Reader:
    """Pieces of `n` words to train with."""
    return _samples(lambda: wherry.text.Imikolov(mode="train", data_type="NGRAM" if data_type == 1 else "SEQ", window_size=n))


def imikolov_test(word_idx: Any, n: int, data_type: int = 1) -> Reader:
    """Pieces of `n` words to test with."""
    return _samples(lambda: wherry.text.Imikolov(mode="test", data_type="NGRAM" if data_type == 1 else "SEQ", window_size=n))
