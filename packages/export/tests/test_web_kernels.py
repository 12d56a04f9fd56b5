"""The engine for browsers, op by op: each of the kit's samples in Node beside the same call here."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_export.web import checking, engine_files, program
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_tensor.testing.kit import array_of, specs, tensor_of

HERE = Path(__file__).parent
LARGE = 20_000  # elements
# Sums in another order, no fused products, polynomials in place of the C library's functions: as the kit allows between devices.
TOLERANCE = {
    "float16": (4e-3, 2e-3), "float32": (2e-5, 4e-6), "float64": (1e-9, 1e-10), "complex64": (4e-5, 4e-6), "complex128": (1e-9, 1e-10),
}
# Not determined by the inputs: signs or order of vectors, pivots among equals.
FREE = {"eigh", "svd", "qr"}

lack = (
    engine_files.missing() or (None if checking.node() else "Node is not installed")
    or (None if sys.version_info < (3, 12) else "Python 3.11 runs these: the kernels do not know who asks")
)
pytestmark = [pytest.mark.skipif(lack is not None, reason=str(lack)), pytest.mark.filterwarnings("ignore::UserWarning")]


def calls():
    """(op, tensors, attributes) of the samples, as they are and in float32."""
    for spec in specs.values():
        for case in spec.cases():
            if any(x is not None and x.size > LARGE for x in case.inputs):
                continue
            kinds = [None if x is None else x.dtype.name for x in case.inputs]
            for dtypes in {tuple(kinds), tuple("float32" if k == "float64" else k for k in kinds)}:
                yield spec.op, [None if x is None else tensor_of(x.astype(k), k) for x, k in zip(case.inputs, dtypes)], case.attrs


def described(op, inputs, attrs, engine):
    recorded = Program()
    feeds = [None if x is None else recorded.feed(x.shape, x.dtype, f"x{i}") for i, x in enumerate(inputs)]
    with capture(recorded):
        results = op.apply(tuple(feeds), tuple(attrs[name] for name in op.attr_names))
    recorded.fetches = list(results) if isinstance(results, tuple) else [results]
    found = program.Description(recorded, engine)
    if found.weights:  # constants of a decomposition
        return None
    return {**found.content, "weights": []}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Per op: how many calls were compared, and what went wrong; the ops that the engine does not run, and why."""
    engine = engine_files.built()
    folder = tmp_path_factory.mktemp("kit")
    cases, expected, left_out, data = [], [], {}, bytearray()
    for op, inputs, attrs in calls():
        values = tuple(attrs[name] for name in op.attr_names)
        try:
            with np.errstate(all="ignore"):
                wanted = op.run(tuple(inputs), values)
        except Exception:  # this dtype is not taken, or the call is one that is refused: the kit says which
            continue
        try:
            content = described(op, inputs, attrs, engine)
        except NotImplementedError as error:
            left_out.setdefault(op.name, str(error))
            continue
        if content is None:
            continue
        rows = []
        for i, x in enumerate(inputs):
            if x is not None:
                raw = x.numpy().tobytes() if x.dtype is not wt.bfloat16 else None
                rows.append([f"x{i}", x.dtype.name, list(x.shape), len(data), len(raw)])
                data += raw
        cases.append({"program": content, "inputs": rows})
        expected.append((op, wanted if isinstance(wanted, tuple) else (wanted,), [list(x.shape) for x in inputs if x is not None], attrs))
    (folder / "data.bin").write_bytes(data)
    job = {
        "core": str(Path(checking.__file__).parent / "js" / "core.js"), "module": str(engine_files.FOLDER / "engine.wasm"),
        "memory": engine.memory["memory"], "data": str(folder / "data.bin"), "out": str(folder / "out.bin"), "cases": cases,
    }
    (folder / "job.json").write_text(json.dumps(job))
    done = subprocess.run(["node", HERE / "kit.mjs", folder / "job.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    raw, at = (folder / "out.bin").read_bytes(), 0
    counts, wrong = {}, {}
    for found, (op, wanted, shapes, attrs) in zip(json.loads(done.stdout), expected, strict=True):
        counts[op.name] = counts.get(op.name, 0) + 1
        if isinstance(found, str):
            wrong.setdefault(op.name, []).append(f"{shapes} {attrs}: {found}")
            continue
        for (dtype, shape, size), value in zip(found, wanted, strict=True):
            got = np.frombuffer(raw[at : at + size], np.dtype("uint16" if dtype == "bfloat16" else dtype))
            at += size
            if (dtype, shape) != (value.dtype.name, list(value.shape)):
                wrong.setdefault(op.name, []).append(f"{shapes} {attrs}: got {dtype} {shape}, expected {value.dtype.name} {list(value.shape)}")
            elif dtype != "bfloat16" and op.name not in FREE:
                difference = compare(got.reshape(shape), array_of(value))
                if difference:
                    wrong.setdefault(op.name, []).append(f"{dtype} {shapes} {attrs}: {difference}")
    return counts, wrong, left_out


def compare(got, wanted):
    if wanted.dtype.kind not in "fc":
        return f"{int((got != wanted).sum())} other values" if (got != wanted).any() else ""
    relative, absolute = TOLERANCE[wanted.dtype.name]
    with np.errstate(all="ignore"):
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        same = np.isclose(got, wanted, rtol=relative, atol=absolute + relative * scale, equal_nan=True)
    return "" if same.all() else f"{int((~same).sum())} of {same.size} apart, {got[~same].ravel()[:3]} in place of {wanted[~same].ravel()[:3]}"


def test_every_op_that_the_engine_runs_answers_as_here(compared):
    counts, wrong, _ = compared
    assert not wrong, "\n".join(f"{name} ({len(found)} of {counts[name]}): {found[0]}" for name, found in wrong.items())
    assert len(counts) >= 268 and sum(counts.values()) >= 5000


def test_ops_that_the_engine_does_not_run_are_few_and_named(compared):
    _, _, left_out = compared
    for name, message in left_out.items():
        assert message.startswith("web: "), (name, message)
    assert len(left_out) < 32, sorted(left_out)
