"""Programs of `torch.export` (tests/data/pt2, which PyTorch wrote): they give what PyTorch computed, and go out in other formats."""
import io
import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import wherry
from wherry.__main__ import main
from wherry_onnx_files.errors import ExportedFileError, UnreadableAten
from wherry_onnx_files.exported import read_exported, summary
from wherry_train.pickle_reader import FileFormatError

DATA = Path(__file__).parent / "data" / "pt2"
NAMES = sorted(path.stem for path in DATA.glob("*.pt2") if path.stem != "shared")


def arrays(name, kind):
    with np.load(DATA / f"{name}.npz") as found:
        return [found[f"{kind}{i}"] for i in range(sum(key.startswith(kind) for key in found))]


def close(found, expected):
    found = found if isinstance(found, (list, tuple)) else [found]
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        x = x.numpy() if hasattr(x, "numpy") else x
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_what_pytorch_computed(name):
    layer = wherry.jit.load(str(DATA / f"{name}.pt2"))
    close(layer(*map(wherry.to_tensor, arrays(name, "x"))), arrays(name, "y"))


@pytest.mark.parametrize("name", ["images", "words"])
def test_a_batch_that_was_left_open_is_open(name):
    layer = wherry.jit.load(str(DATA / f"{name}.pt2"))
    [x], [y] = arrays(name, "x"), arrays(name, "y")
    close(layer(wherry.to_tensor(np.concatenate([x, x, x]))), [np.concatenate([y, y, y])])


@pytest.mark.parametrize("ending", ["pdmodel", "json", "onnx"])
def test_it_goes_out_in_other_formats(ending, tmp_path):
    target = tmp_path / f"net.{ending}"
    if ending == "onnx":
        pytest.importorskip("onnx")  # writes the file
    assert main(["convert", str(DATA / "images.pt2"), str(target)]) == 0
    [x] = arrays("images", "x")
    if ending == "onnx":
        close(wherry.InferenceSession(str(target)).run(None, {"x": x}), arrays("images", "y"))
    else:
        close(wherry.jit.load(str(tmp_path / "net"))(wherry.to_tensor(x)), arrays("images", "y"))


def test_its_parameters_are_trained():
    layer = wherry.jit.load(str(DATA / "words.pt2"))
    layer.train()
    layer(wherry.to_tensor(arrays("words", "x")[0])).sum().backward()
    assert layer.parameters() and all(p.grad is not None for p in layer.parameters())


def test_it_is_inspected(capsys):
    assert main(["inspect", str(DATA / "images.pt2"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == [{"name": "x", "dtype": "float32", "shape": [None, 3, 12, 12]}] and found["unsupported"] == []
    assert found["operators"]["conv2d.default"] == 2 and "f" not in found["totals"]["dtypes"]


def changed(name, change, entry="/models/"):
    """The bytes of a program after `change` has been made to one of its entries."""
    out = io.BytesIO()
    with zipfile.ZipFile(DATA / f"{name}.pt2") as archive, zipfile.ZipFile(out, "w") as target:
        for each in archive.namelist():
            data = archive.read(each)
            target.writestr(each, change(data) if entry in each else data)
    return out.getvalue()


def test_what_is_not_read_is_named():
    with pytest.raises(UnreadableAten, match=r"Got 'torch.ops.aten.reloo_.default'"):
        read_exported(changed("images", lambda data: data.replace(b"aten.relu_.default", b"aten.reloo_.default")))
    assert summary(changed("images", lambda data: data.replace(b"aten.relu_.default", b"aten.reloo_.default")))["unsupported"] == ["reloo_.default"]


def test_a_write_in_place_that_a_view_would_see_is_refused():
    with pytest.raises(UnreadableAten, match=r"'relu_' writes in place what 'slice_1' shares"):
        read_exported(str(DATA / "shared.pt2"))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"{}", b"\x80\x02."])
def test_what_is_no_archive_is_refused(data):
    with pytest.raises(ExportedFileError):
        read_exported(data)


def test_pickled_weights_are_refused():
    with pytest.raises(ExportedFileError, match="is pickled"):
        read_exported(changed("images", lambda data: data.replace(b'"use_pickle": false', b'"use_pickle": true'), "weights_config"))


def test_weights_that_are_smaller_than_their_sizes_are_refused():
    for change in (lambda data: data.replace(b'"as_int": 8', b'"as_int": 800000'), lambda data: data.replace(b'"as_int": 8', b'"as_int": -8')):
        with pytest.raises(ExportedFileError):
            read_exported(changed("images", change, "weights_config"))


def test_damaged_programs_are_refused_as_damaged():
    rng = random.Random(5)
    refused = 0
    for _ in range(150):
        entry = rng.choice(["/models/", "/models/", "weights_config"])

        def damage(data):
            at, data = rng.randrange(len(data)), bytearray(data)
            for _ in range(rng.choice([1, 1, 3])):
                at = rng.randrange(len(data))
                data[at : at + rng.choice([0, 1, 1, 5])] = rng.choice([b"", b"9", b"-", b"}", b"null", b"x", bytes([data[at]]) * 3])
            return bytes(data)

        try:
            read_exported(changed(rng.choice(["images", "in_place", "functions"]), damage, entry))
        except FileFormatError:
            refused += 1
    assert 50 < refused < 150
