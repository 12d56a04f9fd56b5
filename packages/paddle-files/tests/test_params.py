"""Parameters come back as they were, from one file or many; damaged ones are refused before memory is taken."""
import io
import struct

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_paddle_files import params
from wherry_tensor.protobuf import ModelFileError

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def some(dtype, shape=(2, 3)):
    return wt.to_tensor(np.arange(6).reshape(shape) % 2 if dtype == "bool" else np.arange(6.0).reshape(shape)).astype(dtype)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.astype("complex128").numpy().tolist() == b.astype("complex128").numpy().tolist()


def written(values, mark=None):
    file = io.BytesIO()
    params.write_params(file, values, mark)
    return file.getvalue()


def test_every_dtype_and_shape_comes_back(tmp_path):
    values = {dtype: some(dtype) for dtype in DTYPES}
    values |= {"zero": wt.to_tensor(3.5), "empty": wt.zeros([0, 3]), "turned": some("float32").T}
    path = str(tmp_path / "folder" / "x.pdiparams")
    params.save_params(path, values)
    found = params.load_params(path, values)
    assert sorted(found) == sorted(values)
    assert all(same(found[name], values[name]) for name in values)
    found["float32"][0] = 9.0  # memory of its own
    params.save_separate_params(str(tmp_path / "each"), values)
    again = params.load_params(str(tmp_path / "each"), values)
    assert all(same(again[name], values[name]) for name in values)


def test_the_bytes_are_those_of_the_format():
    data = written({"b": wt.to_tensor([1.0]), "a": wt.to_tensor([[2]], dtype="int64")})
    first = struct.pack("<IQIi", 0, 0, 0, 6) + b"\x08\x03\x10\x01\x10\x01" + struct.pack("<q", 2)
    second = struct.pack("<IQIi", 0, 0, 0, 4) + b"\x08\x05\x10\x01" + struct.pack("<f", 1.0)
    assert data == first + second


def test_bytes_and_files_read_the_same_and_give_the_mark():
    values = {"a": some("float32"), "b": some("int32")}
    mark = params.mark_of(values)
    data = written(values, mark)
    assert len(mark) == 16
    for source in (data, io.BytesIO(data)):
        found, its_mark = params.params_of(source, len(data), values)
        assert its_mark == mark
        assert same(found["b"], values["b"])
    assert params.params_of(written(values), None, values)[1] is None


def test_marks_differ_where_names_values_or_shapes_do():
    a = some("float32")
    marks = {params.mark_of(v) for v in ({"a": a}, {"b": a}, {"a": a + 1}, {"a": a.reshape([3, 2])}, {"a": a.astype("float64")})}
    assert len(marks) == 5
    assert params.mark_of({}) is None


def test_levels_of_detail_are_passed_over():
    levels = struct.pack("<Q", 2) + (struct.pack("<Q", 16) + bytes(16)) * 2
    data = struct.pack("<I", 0) + levels + written({"a": some("float32")})[12:]
    assert same(params.params_of(data, None, ["a"])[0]["a"], some("float32"))


def test_bytes_that_are_no_bool_become_true():
    data = bytearray(written({"a": some("bool", (6,))}))
    data[-1] = 77
    assert params.params_of(bytes(data), None, ["a"])[0]["a"].numpy().tolist() == [False, True, False, True, False, True]


def test_a_file_that_was_cut_off_anywhere_is_refused():
    data = written({"a": some("float32"), "b": some("int64")}, b"m" * 16)
    for end in range(len(data)):
        with pytest.raises(ModelFileError):
            params.params_of(data[:end], None, ["a", "b"])


def test_too_few_and_too_many_parameters_are_told():
    data = written({"a": some("float32"), "b": some("int64")})
    with pytest.raises(ModelFileError, match=r"too few parameters. Got 2, expected 3: 'c' is the first"):
        params.params_of(data, None, ["a", "b", "c"])
    with pytest.raises(ModelFileError, match="more parameters than the program has"):
        params.params_of(data, None, ["a"])


@pytest.mark.parametrize(
    ("dims", "message"),
    [([2**40], "ends too early"), ([-1], r"shape \[-1\]"), ([2**62, 0], "shape"), ([1] * 20, "shape"), ([2**31, 2**31, 4], "shape")],
)
def test_sizes_are_compared_with_the_file_before_memory_is_taken(dims, message):
    head = params._described.write(params._Described(5, dims))
    data = struct.pack("<IQIi", 0, 0, 0, len(head)) + head + bytes(24)
    with pytest.raises(ModelFileError, match=message):
        params.params_of(data, None, ["a"])


@pytest.mark.parametrize(
    "data",
    [struct.pack("<IQ", 1, 0) + bytes(40), struct.pack("<IQ", 0, 2**60) + bytes(40), struct.pack("<IQIi", 0, 0, 0, -5) + bytes(40),
     struct.pack("<IQIi", 0, 0, 3, 5) + bytes(40), struct.pack("<IQIi", 0, 0, 0, 2) + b"\x08\x07" + bytes(9)],
)  # fmt: skip
def test_other_files_are_refused(data):
    with pytest.raises(ModelFileError):
        params.params_of(data, None, ["a"])


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", ".", "a/../../x", "x\0y"])
def test_names_do_not_lead_out_of_the_folder(tmp_path, name):
    with pytest.raises(ModelFileError, match="out of the folder"):
        params.load_params(str(tmp_path), [name])
    with pytest.raises(ModelFileError, match="out of the folder"):
        params.save_separate_params(str(tmp_path), {name: some("float32")})
