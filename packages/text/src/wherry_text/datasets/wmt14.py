"""French and English sentences: the translation task of WMT 2014, Bojar et al. (2014), in the selection that Paddle publishes."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wherry_tensor.errors import InvalidArgumentError
from wherry_text.datasets.parallel import END, START, UNKNOWN, Parallel, checked_size, pairs_of
from wherry_train.data_files import Archive, file_of, mode_of, readable

__all__ = ["WMT14"]

_LONGEST = 80  # words of the target, and of the source with its marks


class WMT14(Parallel):
    r"""Pairs of sentences as numbers of words. Pairs with a longer side than 80 words are left out.

    Args:
        data_file: the path of wmt14.tgz; None downloads it.
        mode: "train", "test" or "gen".
        dict_size: how many words of each dictionary have numbers, with the three marks "<s>", "<e>" and "<unk>"; it must be given.
        download: whether the archive may be downloaded.

    Returns:
        Of an index: the source between its marks, the target after "<s>", and the target up to "<e>", as int64.

    Raises:
        AssertionError: the file is not given and must not be downloaded, `dict_size` is not given, or `mode` is unknown (also a
            ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.WMT14`.

    Examples:
        >>> import io, tarfile, tempfile
        >>> marks = b"<s>\n<e>\n<unk>\n"
        >>> members = {"src.dict": marks + b"le\nchat\n", "trg.dict": marks + b"the\ncat\n", "train/train": b"le chat\tthe cat\n"}
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of one pair
        ...     with tarfile.open(folder + "/wmt14.tgz", "w:gz") as archive:
        ...         for name, text in members.items():
        ...             member = tarfile.TarInfo("wmt14/" + name)
        ...             member.size = len(text)
        ...             archive.addfile(member, io.BytesIO(text))
        ...     data = wherry.text.WMT14(folder + "/wmt14.tgz", dict_size=5)
        >>> [sentence.tolist() for sentence in data[0]]
        [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]]
    """

    def __init__(self, data_file: Any = None, mode: str = "train", dict_size: int = -1, download: bool = True) -> None:
        self.mode = mode_of("WMT14", mode, ("train", "test", "gen"))
        self.dict_size = checked_size("WMT14", "dict_size", dict_size)
        self.data_file = file_of(
            "WMT14", "data_file", data_file, "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz",
            "0791583d57d5beb693b9414c5b36798c", "wmt14", download,
        )  # fmt: skip
        archive = Archive("WMT14", self.data_file)
        self.src_dict, self.trg_dict = (_dictionary(archive, f"{side}.dict", dict_size) for side in ("src", "trg"))
        self._take(_short_pairs(archive, f"{self.mode}/{self.mode}"), self.src_dict, self.trg_dict)

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The dictionaries of source and target: numbers by words.

        Args:
            reverse: whether to give words by numbers.
        """
        if reverse:
            return {number: word for word, number in self.src_dict.items()}, {number: word for word, number in self.trg_dict.items()}
        return self.src_dict, self.trg_dict


def _names(archive: Archive, end: str) -> list[str]:
    names = [name for name in archive.members if name.endswith(end)]
    if not names:
        raise InvalidArgumentError(f"WMT14: {archive.path} is another file. Got no member {end}, expected that of the data set.")
    return names


def _dictionary(archive: Archive, end: str, size: int) -> dict[str, int]:
    """The first words of a dictionary with their numbers."""
    name, *_ = _names(archive, end)
    with readable("WMT14", archive.path):
        words = [line.strip() for line in archive.read(name).decode("utf-8").removesuffix("\n").split("\n")[:size]]
        if not {START, END, UNKNOWN} <= set(words):
            raise InvalidArgumentError(f"{name} begins with {words[:3]}, expected {[START, END, UNKNOWN]}")
    return {word: number for number, word in enumerate(words)}


def _short_pairs(archive: Archive, end: str) -> Iterator[tuple[list[str], list[str]]]:
    for name in _names(archive, end):
        with readable("WMT14", archive.path):
            pairs = [(source.split(), target.split()) for source, target in pairs_of(archive.read(name))]
        yield from ((source, target) for source, target in pairs if len(source) <= _LONGEST - 2 and len(target) <= _LONGEST)
