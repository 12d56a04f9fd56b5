"""Calls and layers as ONNX: ONNX Runtime gives what they give, at several sizes of an open axis 0, or says that it has no kernel.

The cases are those of `tests/parity/saved_cases.py`, which Paddle's own files are compared with; the marker `slow` asks for all.
"""
from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime compares; `pip install onnxruntime`")

HERE = Path(__file__).parent / "parity"
sys.path.insert(0, str(HERE))
from saved_cases import cases  # noqa: E402
from saved_judge import answer, brief, close  # noqa: E402

# What a model is refused with: ONNX has no such operator (said by the export), or ONNX Runtime no kernel for the dtype.
REFUSED = ("NotImplementedError", "NOT_IMPLEMENTED", "does not support double", "data type is not supported")


@pytest.mark.parametrize("step", [200, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_onnx_runtime_gives_the_same(step, tmp_path):
    found = {}
    for what in ("make", "onnx"):
        command = [sys.executable, "saved_worker.py", "wherry", tmp_path / what, what, tmp_path, str(step)]
        subprocess.run(command, cwd=HERE, check=True, capture_output=True, timeout=2 * 3600)
        found[what] = pickle.loads((tmp_path / what).read_bytes())  # noqa: S301  our own file
    counts, wrong = Counter(), []
    for number, case in enumerate(cases(step)):
        feeds = case.feeds()
        eager = {what: value for what, value in found["make"][number, False].items() if what in feeds and isinstance(value, list) and value}
        sizes = [what for what in eager if all(x.size for x in feeds[what].values())]  # of no elements ONNX Runtime dies in recurrent layers
        if not sizes:
            continue
        told = {what: answer(found["onnx"], number, "onnx", what) for what in sizes}
        differs = [what for what in sizes if not close(told[what], eager[what], case.random)]
        kind = "same" if not differs else "refused" if any(word in str(told[differs[0]]) for word in REFUSED) else "differs"
        counts[kind] += 1
        if kind == "differs":
            wrong.append(f"{case.name}: {differs[0]}: got {brief(told[differs[0]])[:300]}; here {brief(eager[differs[0]])[:120]}")
    print("\n", dict(counts))
    assert counts["same"] > 40 and counts["differs"] <= 0.01 * (counts["same"] + counts["differs"]), f"{counts}\n" + "\n".join(wrong)
