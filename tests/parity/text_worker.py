"""Reads small archives with the data sets of `paddle.text`, decodes drawn sequences, and writes down what came out.

    python text_worker.py wherry|paddle RESULT.pickle FOLDER
"""
from __future__ import annotations

import importlib
import os
import pickle
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "packages" / "text" / "tests"))
import archives_of_text as archives  # noqa: E402


def kinds(data):
    """What a data set gives of each index, and what programs read of its numbers of words."""
    names = ("word_idx", "src_dict", "label_dict", "word_dict", "predicate_dict", "movie_title_dict", "categories_dict")
    samples = [[(type(one).__name__, str(one.dtype), one.shape, one.tolist()) for one in data[index]] for index in range(len(data))]
    return {"samples": samples, **{name: getattr(data, name) for name in names if hasattr(data, name)}}


def data_sets(text, folder):
    housing, imdb, imikolov = archives.housing(folder), archives.imdb(folder), archives.imikolov(folder)
    movielens, wmt14, wmt16, conll05 = archives.movielens(folder), archives.wmt14(folder), archives.wmt16(folder), archives.conll05(folder)
    yield from ((f"UCIHousing {mode}", kinds(text.UCIHousing(housing, mode))) for mode in ("train", "test"))
    yield from ((f"Imdb {mode} {cutoff}", kinds(text.Imdb(imdb, mode, cutoff))) for mode in ("train", "TEST") for cutoff in (0, 3, 15))
    for mode in ("train", "test"):
        for least in (0, 5, 15):
            for window in (1, 2, 5):
                yield f"Imikolov NGRAM {mode} {least} {window}", kinds(text.Imikolov(imikolov, "NGRAM", window, mode, least))
            for window in (-1, 0, 4):
                yield f"Imikolov SEQ {mode} {least} {window}", kinds(text.Imikolov(imikolov, "seq", window, mode, least))
        for ratio, seed in ((0.1, 0), (0.5, 3), (0, 1), (1, 1)):
            yield f"Movielens {mode} {ratio} {seed}", kinds(text.Movielens(movielens, mode, ratio, seed))
    for mode in ("train", "test", "gen"):
        for size in (4, 7, 99):
            data = text.WMT14(wmt14, mode, size)
            yield f"WMT14 {mode} {size}", [kinds(data), data.get_dict(), data.get_dict(reverse=True)]
    for mode in ("train", "test", "val"):
        for size in (5, 8, 99):
            for lang in ("en", "de"):
                data = text.WMT16(wmt16, mode, size, 10, lang)
                yield f"WMT16 {mode} {size} {lang}", [kinds(data), data.get_dict(lang)]
    data = text.Conll05st(**conll05)
    yield "Conll05st", [kinds(data), data.get_embedding(), list(data.get_dict())]


def decoded(paddle, count=120):
    random = np.random.default_rng(14)
    for number in range(count):
        batch, time, tags = random.integers(1, 5), random.integers(1, 8), random.integers(3, 7)  # Paddle fails with two
        dtype = ("float32", "float64")[number % 2]
        draw = random.standard_normal if number % 3 else (lambda shape: random.integers(0, 3, shape))  # numbers with ties
        scores, transitions = (paddle.to_tensor(np.asarray(draw(shape), dtype)) for shape in ((batch, time, tags), (tags, tags)))
        lengths = random.integers(0, time + 1, batch)
        lengths[random.integers(batch)] = random.integers(1, time + 1)
        ends = bool(number % 4 < 2)
        try:
            if number % 5:
                results = paddle.text.viterbi_decode(scores, transitions, paddle.to_tensor(lengths), ends)
            else:
                results = paddle.text.ViterbiDecoder(transitions, ends)(scores, paddle.to_tensor(lengths))
        except ValueError as error:
            yield [str(error), scores.shape, transitions.shape, lengths]
            continue
        yield [(str(one.dtype).rpartition(".")[2], one.stop_gradient, one.numpy()) for one in results]


def main() -> None:
    framework, target, folder = sys.argv[1:]
    os.environ["HOME"] = folder
    os.makedirs(f"{folder}/.cache/paddle/dataset/wmt16", exist_ok=True)  # where Paddle writes dictionaries
    paddle = importlib.import_module(framework)
    outcome = {"data": dict(data_sets(paddle.text, Path(folder))), "decoded": list(decoded(paddle))}
    Path(target).write_bytes(pickle.dumps(outcome))


if __name__ == "__main__":
    main()
