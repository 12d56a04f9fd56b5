"""English and German descriptions of pictures: Multi30K of WMT 2016, Elliott et al. (2016)."""
from __future__ import annotations

from collections import Counter
from typing import Any

from wherry_tensor.errors import AssertedArgumentError, short
from wherry_text.datasets.parallel import END, START, UNKNOWN, Parallel, checked_size, pairs_of
from wherry_train.data_files import Archive, file_of, mode_of, readable

__all__ = ["WMT16"]

_SIZES = {"en": 11250, "de": 19220}  # words of each language


class WMT16(Parallel):
    r"""Pairs of sentences as numbers of words. Dictionaries hold the words of the training part, the most frequent first.

    Args:
        data_file: the path of wmt16.tar.gz; None downloads it.
        mode: "train", "test" or "val".
        src_dict_size: how many words of the source have numbers, with the three marks "<s>", "<e>" and "<unk>"; it must be given.
        trg_dict_size: how many words of the target have numbers; it must be given.
        lang: the source, "en" or "de"; the target is the other.
        download: whether the archive may be downloaded.

    Returns:
        Of an index: the source between its marks, the target after "<s>", and the target up to "<e>", as int64.

    Raises:
        AssertionError: the file is not given and must not be downloaded, a size is not given, or `mode` or `lang` is unknown (also a
            ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.WMT16`.

    Examples:
        >>> import io, tarfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of one pair in each part
        ...     with tarfile.open(folder + "/wmt16.tar.gz", "w:gz") as archive:
        ...         for part in ("train", "val", "test"):
        ...             member = tarfile.TarInfo("wmt16/" + part)
        ...             member.size = len(b"a dog\tein Hund\n")
        ...             archive.addfile(member, io.BytesIO(b"a dog\tein Hund\n"))
        ...     data = wherry.text.WMT16(folder + "/wmt16.tar.gz", src_dict_size=5, trg_dict_size=5)
        >>> data.get_dict("de")
        {'<s>': 0, '<e>': 1, '<unk>': 2, 'ein': 3, 'Hund': 4}
        >>> [sentence.tolist() for sentence in data[0]]
        [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]]
    """

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        self.mode = mode_of("WMT16", mode, ("train", "test", "val"))
        self.lang = _language(lang)
        other = "de" if lang == "en" else "en"
        self.src_dict_size = min(checked_size("WMT16", "src_dict_size", src_dict_size), _SIZES[lang])
        self.trg_dict_size = min(checked_size("WMT16", "trg_dict_size", trg_dict_size), _SIZES[other])
        self.data_file = file_of(
            "WMT16", "data_file", data_file, "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz",
            "0c38be43600334966403524a40dcd81e", "wmt16", download,
        )  # fmt: skip
        archive = Archive("WMT16", self.data_file)
        with readable("WMT16", self.data_file):
            training = _sentences(archive, "train", lang)
            self.src_dict = _dictionary([source for source, _ in training], self.src_dict_size)
            self.trg_dict = _dictionary([target for _, target in training], self.trg_dict_size)
            self._take(training if self.mode == "train" else _sentences(archive, self.mode, lang), self.src_dict, self.trg_dict)

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The dictionary of a language: numbers by words.

        Args:
            lang: "en" or "de".
            reverse: whether to give words by numbers.

        Raises:
            AssertionError: `lang` is neither "en" nor "de" (also a ValueError).
        """
        numbers = self.src_dict if _language(lang) == self.lang else self.trg_dict
        return {number: word for word, number in numbers.items()} if reverse else numbers


def _language(lang: Any) -> str:
    if lang not in ("en", "de"):
        raise AssertedArgumentError(f"WMT16: the language is unknown. Got {short(lang)}, expected 'en' or 'de'.")
    return str(lang)


def _sentences(archive: Archive, part: str, lang: str) -> list[tuple[list[str], list[str]]]:
    """Words of source and target; English stands first in the file."""
    pairs = [(first.split(), second.split()) for first, second in pairs_of(archive.read(f"wmt16/{part}"))]
    return pairs if lang == "en" else [(second, first) for first, second in pairs]


def _dictionary(sentences: list[list[str]], size: int) -> dict[str, int]:
    """The marks, then the most frequent words; of equally frequent words, the first one first."""
    counts = Counter(word for words in sentences for word in words)
    words = sorted(counts, key=lambda word: -counts[word])
    return {word: number for number, word in enumerate([START, END, UNKNOWN, *words[: size - 3]])}
