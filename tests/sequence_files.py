"""What packages/paddle-files/tests/make_sequences.py makes, through an Executor and through a predictor, as programs of Paddle use both."""
from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import wherry as paddle

HERE = Path(__file__).parent
MAKER = HERE.parent / "packages/paddle-files/tests/make_sequences.py"
ARCHIVE = MAKER.parent / "data/sequences.zip"


def unpacked(archive: Path, folder: Path) -> list[str]:
    """Unpacks the cases; returns their names."""
    with zipfile.ZipFile(archive) as found:
        found.extractall(folder)
        return sorted({name.partition("/")[0] for name in found.namelist()})


def parts(found: dict[str, Any], kind: str) -> list[tuple[Any, list[list[int]]]]:
    """The inputs or outputs of a case, each with the lengths of its sequences by level."""
    arrays = [found[f"{kind}{i}"] for i in range(sum(key[0] == kind and "_" not in key for key in found))]
    return [(array, [found[key].tolist() for key in sorted(found) if key.startswith(f"{kind}{i}_")]) for i, array in enumerate(arrays)]


def case(folder: Path) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Inputs and outputs of a case."""
    with np.load(io.BytesIO((folder / "case.npz").read_bytes()), allow_pickle=False) as found:
        return parts(dict(found), "x"), parts(dict(found), "y")


def by_executor(folder: Path, inputs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """What static mode gives."""
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe = paddle.static.Executor()
            program, names, fetches = paddle.static.load_inference_model(f"{folder}/model", exe)
            feed = {name: paddle.static.create_lod_tensor(x, lengths) if lengths else x for name, (x, lengths) in zip(names, inputs, strict=True)}
            return [(x.numpy(), x.recursive_sequence_lengths()) for x in exe.run(program, feed=feed, fetch_list=fetches, return_numpy=False)]
    finally:
        paddle.disable_static()


def predictor_of(folder: Path) -> Any:
    """A predictor of a case."""
    params = folder / "model.pdiparams"
    return paddle.inference.create_predictor(paddle.inference.Config(str(folder / "model.pdmodel"), str(params) if params.exists() else ""))


def by_predictor(predictor: Any, inputs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """What handles give."""
    for name, (x, lengths) in zip(predictor.get_input_names(), inputs, strict=True):
        handle = predictor.get_input_handle(name)
        handle.copy_from_cpu(x)
        handle.set_lod([[0, *np.cumsum(level).tolist()] for level in lengths])
    predictor.run()
    handles = [predictor.get_output_handle(name) for name in predictor.get_output_names()]
    return [(x.copy_to_cpu(), [np.diff(level).tolist() for level in x.lod()]) for x in handles]


def require_same(found: list[tuple[Any, Any]], wanted: list[tuple[Any, Any]]) -> None:
    """Equal values, shapes, dtypes, and lengths of sequences."""
    for (mine, lengths), (theirs, their_lengths) in zip(found, wanted, strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
        assert lengths == their_lengths


def save_again(folder: Path, target: Path) -> None:
    """Saves what a file of Paddle was read as, for Paddle."""
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe = paddle.static.Executor()
            program, names, fetches = paddle.static.load_inference_model(f"{folder}/model", exe)
            feeds = [program.global_block().var(name) for name in names]
            paddle.static.save_inference_model(f"{target}/model", feeds, fetches, exe, program=program)
    finally:
        paddle.disable_static()
