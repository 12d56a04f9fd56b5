"""Files of PyTorch, safetensors and NumPy, written by these (data/make_foreign.py), and the names of those that are not read."""
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_train import load
from wherry_train.pickle_reader import FileFormatError

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["torch_zip.pth", "torch_legacy.pth"])
def test_files_of_pytorch_are_read(name):
    found = load(DATA / name)
    assert list(found) == ["state_dict", "epoch", "shape", "dtype", "note"]
    assert found["epoch"] == 3 and found["shape"] == (2, 3) and found["dtype"] is wt.float16 and found["note"] == "äö"
    state = found["state_dict"]
    whole = np.arange(12, dtype="float32").reshape(3, 4)
    for key, value, dtype in (
        ("whole", whole, "float32"), ("transposed", whole.T, "float32"), ("part", [2, 5, 8], "float32"), ("tied", [[0.5, -1.5]], "float32"),
        ("parameter", [1, 2], "float32"), ("scalar", 7, "int64"), ("empty", np.zeros((0, 3)), "float32"), ("flags", [True, False], "bool"),
        ("half", [0.5], "float16"), ("brain", [1.5, -2], "bfloat16"), ("bytes", [1, 255], "uint8"), ("double", [1e300], "float64"),
        ("complex", [1 + 2j], "complex64"),
    ):
        assert state[key].dtype.name == dtype and state[key].stop_gradient, key
        np.testing.assert_array_equal(state[key].astype("float32").numpy() if dtype == "bfloat16" else state[key].numpy(), value)
    assert state["tied"] is state["tied_too"]
    state["whole"][0, 0] = 100.0
    assert state["transposed"][0, 0] == 0.0
    arrays = load(DATA / name, return_numpy=True)["state_dict"]
    np.testing.assert_array_equal(arrays["transposed"], whole.T)
    assert isinstance(arrays["part"], np.ndarray) and arrays["brain"].dtype == np.uint16


def test_files_of_safetensors_are_read():
    found = load(DATA / "model.safetensors")
    assert list(found) == ["weight", "count", "empty", "brain"]
    assert found["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and found["count"].item() == 7 and found["empty"].shape == [0, 3]
    assert found["brain"].dtype == wt.bfloat16 and found["brain"].astype("float32").tolist() == [1.5, -2.0]
    assert load(DATA / "model.safetensors", return_numpy=True)["weight"].dtype == np.float32


def test_files_of_numpy_are_read():
    found = load(DATA / "arrays.npz")
    assert found["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and found["names"].tolist() == ["a", "b"]
    found = load(DATA / "compressed.npz", return_numpy=True)
    assert found["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and found["zeros"].shape == (50, 50)
    assert load(DATA / "array.npy").shape == [2, 3]
    file = io.BytesIO()
    np.save(file, np.array([1, 2], ">i4"))
    file.seek(0)
    assert load(file).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch_module.pth", r"asks for torch.nn.modules.linear.Linear.*torch.save\(model.state_dict\(\), path\)"),
        ("torch_script.pt", "TorchScript archive, which holds a program"),
        ("objects.npz", "array of records or objects"),
    ],
)
def test_programs_and_objects_are_refused(name, message):
    with pytest.raises(FileFormatError, match=message):
        load(DATA / name)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89HDF\r\n\x1a\n" + bytes(8), r"HDF5 \(\.h5\).*numpy.savez"),
        (b"\x08\x09\x12\x07pytorch", r"protocol buffers, as ONNX has"),
        (b"GGUF\x03", "GGUF"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS.*git lfs pull"),
        (b"<!DOCTYPE html>", "web page"),
        (b'{"a": 1}', "JSON"),
        (b"(dp0\nS'a'\n", "pickle of protocol 0 or 1"),
        (b"a" * 257 + b"ustar", "tar archive"),
        (b"PK\x03\x04", "damaged zip"),
    ],
)
def test_other_formats_are_named(data, message):
    with pytest.raises(FileFormatError, match=message):
        load(io.BytesIO(data))


def zipped(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return io.BytesIO(file.getvalue())


def test_other_zips_are_named():
    with pytest.raises(FileFormatError, match=r"Keras model \(\.keras\)"):
        load(zipped(**{"config.json": "{}", "model.weights.h5": "x"}))
    with pytest.raises(FileFormatError, match=r"a zip with a.txt"):
        load(zipped(**{"a.txt": "x"}))


def global_of(name):
    module, _, name = name.rpartition(".")
    return f"c{module}\n{name}\n".encode()


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def storage(count, key="0", kind="torch.FloatStorage"):
    return b"(" + text("storage") + global_of(kind) + text(key) + text("cpu") + b"J" + struct.pack("<i", count) + b"tQ"


def tensor(place, offset, shape, strides):
    def numbers(values):
        return b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", n) for n in values) + b"t"

    return global_of("torch._utils._rebuild_tensor_v2") + b"(" + place + b"J" + struct.pack("<i", offset) + numbers(shape) + numbers(
        strides) + b"\x89}tR"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (tensor(storage(4), 0, [5], [1]), "reaches beyond its storage"),
        (tensor(storage(4), -1, [2], [1]), "without its parts"),
        (tensor(storage(4), 0, [2], [-1]), "without its parts"),
        (tensor(storage(4), 0, [2, 2], [1]), "without its parts"),
        (tensor(storage(4), 0, [1 << 40], [0]), "more memory than its size explains"),
        (tensor(storage(4), 0, [1 << 59] * 2, [0, 0]), "more memory than its size explains"),
        (tensor(storage(5), 0, [2], [1]), "has 16 bytes, expected 20"),
        (tensor(storage(4, "../../etc/passwd"), 0, [2], [1]), "are missing"),
        (tensor(storage(4, kind="os.system"), 0, [2], [1]), "asks for os.system"),
        (tensor(b"N", 0, [2], [1]), "without its parts"),
        (text("storage") + b"Q", "names a storage in another way"),
        (global_of("torch.nn.Linear") + b")R", "an object of PyTorch"),
        (global_of("builtins.eval") + text("1") + b"\x85R", "asks for builtins.eval"),
        (global_of("torch._utils._rebuild_parameter") + b"K\x01\x85R", "not a tensor"),
    ],
)
def test_hostile_files_of_pytorch_are_refused(body, message):
    with pytest.raises(FileFormatError, match=message):
        load(zipped(**{"a/data.pkl": b"\x80\x02" + body + b".", "a/data/0": bytes(16), "a/version": "3"}))


def test_a_zip_that_unpacks_to_far_more_than_it_says_is_refused():
    head = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + b"\n"
    with pytest.raises(FileFormatError, match="expected 4398046511104"):
        load(zipped(**{"a.npy": head + bytes(16)}))


@pytest.mark.parametrize(
    "header",
    [
        {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 9]}}, {"w": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}},
        {"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, {"w": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [2**62, 4, 0], "data_offsets": [0, 0]}}, {"w": 3}, {"w": {"dtype": ["F32"], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}}, {"w": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}},
        {name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} for name in "ab"},
    ],
)
def test_damaged_files_of_safetensors_are_refused(header):
    import json

    text = json.dumps(header).encode()
    with pytest.raises(FileFormatError):
        load(io.BytesIO(struct.pack("<Q", len(text)) + text + bytes(8)))


@pytest.mark.parametrize("name", ["torch_zip.pth", "torch_legacy.pth", "model.safetensors", "arrays.npz", "compressed.npz", "array.npy"])
def test_damaged_files_are_refused_or_read_but_nothing_else_happens(name):
    data = (DATA / name).read_bytes()
    rng = np.random.default_rng(0)
    for i in range(400):
        changed = bytearray(data)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        if i % 4 == 0:
            changed = changed[: rng.integers(1, len(data))]
        try:
            load(io.BytesIO(bytes(changed)), return_numpy=i % 2 == 0)
        except FileFormatError:
            continue


def test_a_file_behind_others_is_read_to_its_end():
    file = io.BytesIO(b"before" + (DATA / "model.safetensors").read_bytes())
    file.seek(6)
    assert load(file)["count"].item() == 7
