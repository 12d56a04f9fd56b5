"""The check at the end of an export: runs the bundle in Node and compares with the model."""
from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherry_tensor._core import Tensor

if TYPE_CHECKING:
    import numpy as np  # imported only where Node is: a page that exports has neither

__all__ = ["TOLERANCE", "TOLERANCE_OF_INT8", "Checked", "check", "node", "predicted"]

TOLERANCE = 1e-5  # of the largest output: sums in another order, and products without fused rounding
# Where inputs are quantized: one that lies between two integers becomes this one or that one, which the next layers pass on.
TOLERANCE_OF_INT8 = 3e-2
SCRIPT = Path(__file__).parent / "js" / "check.js"
LONGEST = 600  # seconds: a timeout


class Checked:
    """The result of the comparison.

    Attributes:
        apart: the largest difference, as a share of the largest output.
        load_ms, first_ms, later_ms: how long reading and compiling, the first prediction, and later ones took in Node.
        memory: bytes of the module's memory afterwards.
    """

    def __init__(self, apart: float, load_ms: float, first_ms: float, later_ms: float, memory: int) -> None:
        self.apart, self.load_ms, self.first_ms, self.later_ms, self.memory = apart, load_ms, first_ms, later_ms, memory

    def __str__(self) -> str:
        return (
            f"checked in Node: outputs within {self.apart:.1e} of native; first prediction after {self.load_ms + self.first_ms:.0f} ms from files on "
            f"this machine, later ones {self.later_ms:.3g} ms, {self.memory / 1e6:.0f} MB of memory"
        )


def node() -> str | None:
    """The path of Node, if it is installed."""
    return shutil.which("node")


def check(folder: Path, inputs: Mapping[str, Tensor], expected: Sequence[Tensor], tolerance: float = TOLERANCE) -> Checked | None:
    """Run the bundle in Node and compare; None where there is no Node.

    Args:
        folder: the bundle.
        inputs: of its program.
        expected: what the program answers here.
        tolerance: how far outputs may be apart, as a share of the largest.

    Raises:
        ValueError: it answers otherwise, or not at all.
    """
    if node() is None:
        return None
    import numpy as np

    found, times = predicted(folder, {name: tensor.numpy() for name, tensor in inputs.items()})
    apart = 0.0
    for (name, got), wanted in zip(found.items(), (tensor.numpy() for tensor in expected), strict=True):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            raise ValueError(
                f"web: output '{name}' of the bundle is another. "
                f"Got {got.dtype} {list(got.shape)} in Node, expected {wanted.dtype} {list(wanted.shape)}."
            )
        if not wanted.size:
            continue
        if wanted.dtype.kind in "fc":
            if not (np.isfinite(got) == np.isfinite(wanted)).all():
                raise ValueError(f"web: output '{name}' of the bundle is finite elsewhere than here. Expected the same places.")
            finite = np.isfinite(wanted)
            scale = max(float(np.abs(wanted[finite]).max(initial=0.0)), 1e-30)
            apart = max(apart, float(np.abs(got[finite] - wanted[finite]).max(initial=0.0)) / scale)
        elif (got != wanted).any():
            raise ValueError(
                f"web: output '{name}' of the bundle is another. "
                f"Got {int((got != wanted).sum())} other values of {wanted.size}, expected none."
            )
    if not apart <= tolerance:
        raise ValueError(
            f"web: the bundle answers otherwise than the model. Got outputs {apart:.1e} apart (of the largest), expected at most {tolerance:.0e}. "
            f"Nothing was written. Please report it with the model."
        )
    return Checked(apart, times["load"], times["first"], times["later"], int(times["memory"]))


def predicted(folder: Path, inputs: Mapping[str, np.ndarray], repeat: int = 5) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """The outputs of a bundle in Node, by name, and how long it took.

    Raises:
        ValueError: it failed; the message is that of wherry.js.
    """
    import numpy as np

    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        job: dict[str, Any] = {"folder": str(folder.resolve()), "inputs": {}, "repeat": repeat, "out": str(work / "out.bin")}
        for i, (name, array) in enumerate(inputs.items()):
            (work / f"in{i}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
            job["inputs"][name] = {"file": str(work / f"in{i}.bin"), "shape": list(array.shape), "dtype": array.dtype.name}
        (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
        try:
            done = subprocess.run([node() or "node", SCRIPT, work / "job.json"], capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise ValueError(f"web: the bundle did not answer in Node. Got nothing in {LONGEST} s, expected an answer.") from None
        if done.returncode:
            raise ValueError(f"web: the bundle does not run in Node. Got: {done.stderr.strip()[-2000:]}")
        report = json.loads(done.stdout)
        data, at, found = (work / "out.bin").read_bytes(), 0, {}
        for name, dtype, shape in report["outputs"]:
            kind = np.dtype(dtype)
            size = kind.itemsize * int(np.prod(shape))
            found[name] = np.frombuffer(data[at : at + size], kind).reshape(shape)
            at += size
        return found, report["times"]
