"""Semantic role labelling: the shared task of CoNLL 2005, Carreras & Marquez (2005), whose test part is public."""
from __future__ import annotations

import gzip
import io
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, short
from wherry_train.data_files import LARGEST, Archive, file_of, readable
from wherry_train.io.dataset import Dataset

__all__ = ["Conll05st"]

_URL = "http://paddlemodels.bj.bcebos.com/conll05st"
_FILES = {
    "data_file": ("/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"),
    "word_dict_file": ("%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"),
    "verb_dict_file": ("%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"),
    "target_dict_file": ("%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"),
    "emb_file": ("%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
}
_UNKNOWN = 0  # the number of words that are not in the dictionary
_AROUND = (-2, -1, 0, 1, 2)  # positions around the verb that a sample shows


class Conll05st(Dataset):
    r"""Sentences of the Wall Street Journal, once for each verb whose roles are marked.

    Args:
        data_file: the path of conll05st-tests.tar.gz; None downloads it.
        word_dict_file: the path of the words that have numbers, one in a line; None downloads it.
        verb_dict_file: the path of the verbs that have numbers; None downloads it.
        target_dict_file: the path of the labels; None downloads it.
        emb_file: the path of word vectors, which are not read; None downloads them.
        download: whether files that are not given may be downloaded.

    Returns:
        Of an index nine arrays of int64, as long as the sentence: its words; the words two and one before the verb, the verb, and those one
        and two after it, each repeated; the verb in its basic form, repeated; 1 at these five places and 0 elsewhere; the labels.

    Raises:
        AssertionError: a file is not given and must not be downloaded (also a ValueError).
        ValueError: a file is damaged or another one.
        RuntimeError: a file cannot be downloaded.

    Source:
        `paddle.text.Conll05st`.

    Examples:
        >>> import gzip, io, pathlib, tarfile, tempfile
        >>> columns = {"words": b"Cats\nsleep\n\n", "props": b"-\t(A0*)\nsleep\t(V*)\n\n"}
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of one sentence
        ...     with tarfile.open(folder + "/conll05st-tests.tar.gz", "w:gz") as archive:
        ...         for name, text in columns.items():
        ...             member = tarfile.TarInfo(f"conll05st-release/test.wsj/{name}/test.wsj.{name}.gz")
        ...             member.size = len(gzip.compress(text))
        ...             archive.addfile(member, io.BytesIO(gzip.compress(text)))
        ...     files = {"words": "<unk>\nCats\nsleep\n", "verbs": "sleep\n", "labels": "B-A0\nI-A0\nB-V\nI-V\nO\n", "vectors": ""}
        ...     paths = [pathlib.Path(folder, name) for name in files]
        ...     for path, text in zip(paths, files.values()):
        ...         _ = path.write_text(text)
        ...     data = wherry.text.Conll05st(folder + "/conll05st-tests.tar.gz", *paths)
        >>> words, *_, labels = data[0]
        >>> words.tolist(), labels.tolist()
        ([1, 2], [0, 2])
    """

    def __init__(
        self,
        data_file: Any = None,
        word_dict_file: Any = None,
        verb_dict_file: Any = None,
        target_dict_file: Any = None,
        emb_file: Any = None,
        download: bool = True,
    ) -> None:
        given = (data_file, word_dict_file, verb_dict_file, target_dict_file, emb_file)
        self.data_file, self.word_dict_file, self.verb_dict_file, self.target_dict_file, self.emb_file = (
            None if name == "emb_file" and path is None and not download
            else file_of("Conll05st", name, path, _URL + _FILES[name][0], _FILES[name][1], "conll05st", download)
            for name, path in zip(_FILES, given, strict=True)
        )  # fmt: skip
        self.word_dict = _numbers(_lines(self.word_dict_file))
        self.predicate_dict = _numbers(_lines(self.verb_dict_file))
        self.label_dict = _labels(_lines(self.target_dict_file))
        self.sentences: list[list[str]] = []
        self.predicates: list[str] = []
        self.labels: list[list[str]] = []
        with readable("Conll05st", str(self.data_file)):
            self._load(Archive("Conll05st", str(self.data_file)))

    def _load(self, archive: Archive) -> None:
        words, props = (_blocks(archive, f"conll05st-release/test.wsj/{name}/test.wsj.{name}.gz") for name in ("words", "props"))
        if [len(block) for block in words] != [len(block) for block in props]:
            raise InvalidArgumentError("its words and its labels are not of the same sentences")
        for sentence, rows in zip(words, props, strict=True):
            columns = [row.split() for row in rows]
            verbs = [row[0] for row in columns if row[0] != "-"]
            if any(len(row) != 1 + len(verbs) for row in columns):
                raise InvalidArgumentError(f"the sentence {short(' '.join(sentence))} has {len(verbs)} verbs and other columns of labels")
            for number, verb in enumerate(verbs, 1):
                self.sentences.append(sentence)
                self.predicates.append(verb)
                self.labels.append(_opened([row[number] for row in columns]))

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The numbers of words, verbs and labels."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str | None:
        """The path of the word vectors."""
        return self.emb_file

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        sentence, verb, labels = self.sentences[idx], self.predicates[idx], self.labels[idx]
        if "B-V" not in labels:
            raise InvalidArgumentError(f"Conll05st: the sentence {idx} has no verb. Got {short(' '.join(labels))}, expected one B-V, from (V*).")
        length, at = len(sentence), labels.index("B-V")
        places = [at + step for step in _AROUND]
        beside = ["bos" if place < 0 else "eos" if place >= length else sentence[place] for place in places]
        with readable("Conll05st", str(self.data_file)):
            columns = [
                [self.word_dict.get(word, _UNKNOWN) for word in sentence],
                *([self.word_dict.get(word, _UNKNOWN)] * length for word in beside),
                [self.predicate_dict[verb]] * length,
                [int(place in places) for place in range(length)],
                [self.label_dict[label] for label in labels],
            ]
        return tuple(np.array(column, np.int64) for column in columns)

    def __len__(self) -> int:
        return len(self.sentences)


def _lines(path: Any) -> list[str]:
    with readable("Conll05st", path):
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise InvalidArgumentError(f"it is larger than {LARGEST} bytes")
        return [line.strip() for line in data.decode("utf-8").removesuffix("\n").split("\n")]


def _numbers(lines: list[str]) -> dict[str, int]:
    return {line: number for number, line in enumerate(lines)}


def _labels(lines: list[str]) -> dict[str, int]:
    """The numbers of labels: for each role its beginning and its inside, in the order of the file, and last "O"."""
    roles = dict.fromkeys(line[2:] for line in lines if line.startswith(("B-", "I-")))
    return _numbers([*(f"{mark}-{role}" for role in roles for mark in "BI"), "O"])


def _blocks(archive: Archive, name: str) -> list[list[str]]:
    """The sentences of a packed member, each a list of lines; an empty line ends one."""
    with gzip.open(io.BytesIO(archive.read(name))) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InvalidArgumentError(f"{name} unpacks to more than {LARGEST} bytes")
    blocks: list[list[str]] = [[]]
    for line in data.decode("utf-8").split("\n"):
        if word := line.strip():
            blocks[-1].append(word)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _opened(column: list[str]) -> list[str]:
    """Brackets around parts, as `(A0*`, `*` and `*)`, as labels: `B-A0`, `I-A0` and `O`."""
    labels, role = [], ""
    for part in column:
        name, star, rest = part.partition("*")
        if not star or rest not in ("", ")") or (name and not name.startswith("(")):
            raise InvalidArgumentError(f"it has the label {short(part)}, expected one as (A0*, *, *) or (A0*)")
        role = name[1:] or role
        labels.append(f"{'B' if name else 'I'}-{role}" if role else "O")
        if rest:
            role = ""
    return labels
