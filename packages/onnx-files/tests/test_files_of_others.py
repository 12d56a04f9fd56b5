"""Files that PyTorch, scikit-learn and Paddle wrote (tests/data; make.py there says how): they give what those computed. Needs no `onnx`."""
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as api
from wherry_onnx_files.errors import ExportedFileError, OnnxFileError
from wherry_onnx_files.exported import read_exported
from wherry_onnx_files.models import read_model
from wherry_program.run.executor import compiled

DATA = Path(__file__).parents[3] / "tests" / "data"
ONNX, PT2 = sorted((DATA / "onnx").glob("*.onnx")), sorted((DATA / "pt2").glob("*.pt2"))


def named(file):
    return file.stem


def close(found, expected):
    for got, y in zip(found, expected, strict=True):
        got = got.numpy()
        assert got.dtype == y.dtype
        # Sums of float32 in orders of their own. A distance of k-means is the root of what remains of three sums 3000 times as large.
        np.testing.assert_allclose(got, y, rtol=1e-4, atol=5e-5)


@pytest.mark.parametrize("file", ONNX, ids=named)
def test_a_model_of_onnx_node_by_node_and_as_a_program(file):
    model = read_model(str(file))
    with np.load(file.with_suffix(".npz")) as data:
        x, want = data["x"], [data[name] for name in sorted(set(data.files) - {"x"})]
    (port,) = model.inputs
    held = model.held(port, x)
    close(model.run({port.name: held}), want)
    close(compiled(model.program(), level=2)(held), want)


@pytest.mark.parametrize("file", [file for file in PT2 if file.with_suffix(".npz").exists() and file.stem != "shared"], ids=named)
def test_a_program_of_torch_export(file):
    with np.load(file.with_suffix(".npz")) as data:
        given, want = ([data[f"{kind}{i}"] for i in range(sum(name.startswith(kind) for name in data.files))] for kind in "xy")
    close(compiled(read_exported(str(file)), level=2)(*map(api.to_tensor, given)), want)


def test_files_that_are_cut_off_are_refused():
    for file, read, error in (ONNX[0], read_model, OnnxFileError), (PT2[0], read_exported, ExportedFileError):
        data = file.read_bytes()
        with pytest.raises(error):
            read(data[: len(data) // 2])
