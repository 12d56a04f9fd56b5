"""Runs programs with sequences that were saved for Paddle, in Paddle.

    sequence_program.py FOLDER      # each of FOLDER/*/model with the inputs of FOLDER/*/case.npz, into FOLDER/*/answers.npz
"""
from __future__ import annotations

import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np
import paddle


def answered(folder: Path) -> dict[str, np.ndarray]:
    exe = paddle.static.Executor(paddle.CPUPlace())
    program, names, fetches = paddle.static.load_inference_model(f"{folder}/model", exe)
    with np.load(folder / "case.npz") as found:
        feed = {}
        for i, name in enumerate(names):
            lengths = [found[key].tolist() for key in sorted(found) if key.startswith(f"x{i}_")]
            feed[name] = paddle.base.create_lod_tensor(found[f"x{i}"], lengths, paddle.CPUPlace()) if lengths else found[f"x{i}"]
    out = {}
    for i, y in enumerate(exe.run(program, feed=feed, fetch_list=fetches, return_numpy=False)):
        out[f"y{i}"] = np.array(y)
        out |= {f"y{i}_{level}": np.array(lengths, "int64") for level, lengths in enumerate(y.recursive_sequence_lengths())}
    return out


if __name__ == "__main__":
    paddle.enable_static()
    for case in sorted(Path(sys.argv[1]).iterdir()):
        try:
            np.savez(case / "answers.npz", **answered(case))
        except Exception as error:
            lines = [line for line in str(error).splitlines() if "Error" in line or "Hint" in line or "(at" in line]
            (case / "error.txt").write_text("\n".join(lines[-4:]) or str(error)[-300:])
