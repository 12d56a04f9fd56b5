"""save and load: files of Paddle 2.6.2, what comes back, damaged and malicious files, and what a crash leaves behind."""
import collections
import contextlib
import io
import os
import pickle
import pickletools
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_train import load, save
from wherry_train.pickle_reader import FileFormatError

DATA = Path(__file__).parent / "data"  # written by Paddle 2.6.2


def again(value, protocol=4, **options):
    file = io.BytesIO()
    save(value, file, protocol)
    file.seek(0)
    return load(file, **options)


def named(values, name, dtype="float32"):
    x = wt.to_tensor(values, dtype)
    x.name = name
    return x


# Files of Paddle.


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_paddles_states_of_layers_are_read(protocol):
    state = load(DATA / f"linear_protocol_{protocol}.pdparams")
    assert list(state) == ["weight", "bias"]
    assert state["weight"].tolist() == [[0.0, 0.25, 0.5], [0.75, 1.0, 1.25]] and state["bias"].tolist() == [1.0, 2.0, 3.0]
    assert state["weight"].name == "linear_0.w_0" and state["weight"].stop_gradient
    layer = nn.Linear(2, 3)
    assert layer.set_state_dict(state) == ([], [])
    assert layer(wt.ones([1, 2])).tolist() == [[1.75, 3.25, 4.75]]
    table = load(DATA / f"linear_protocol_{protocol}.pdparams", keep_name_table=True, return_numpy=True)
    assert table["StructuredToParameterName@@"] == {"weight": "linear_0.w_0", "bias": "linear_0.b_0"}
    assert isinstance(table["weight"], np.ndarray)


def test_paddles_states_of_optimizers_are_read():
    state = load(str(DATA / "adam.pdopt"))
    assert state["LR_Scheduler"] == {"last_epoch": 1, "last_lr": 0.5}
    assert state["linear_0.w_0_moment1_0"].shape == [2, 3] and state["linear_0.b_0_beta1_pow_acc_0"].shape == [1]


def test_paddles_nested_objects_are_read():
    found = load(DATA / "checkpoint.pdparams")
    assert (found["epoch"], found["set"], found["none"], found["text"]) == (3, {1, 2}, None, "é")
    assert found["tensor"].name == "pair" and found["tensor"].tolist() == [1.0, 2.0]
    assert found["list"][0].dtype is wt.bfloat16 and found["list"][0].tolist() == [1.0, 2.0] and found["list"][1].shape == []
    assert isinstance(found["array"], np.ndarray)  # beside tensors an array stays one
    assert load(DATA / "checkpoint.pdparams", return_numpy=True)["tensor"].tolist() == [1.0, 2.0]
    assert load(DATA / "pair.binary").tolist() == [1.0, 2.0]


def test_the_state_of_a_layer_is_written_as_paddle_writes_it():
    layer = nn.Linear(2, 3)
    layer.set_state_dict(load(DATA / "linear_protocol_4.pdparams"))
    file = io.BytesIO()
    save(layer.state_dict(), file)
    raw = pickle.loads(file.getvalue())  # without this package: arrays, and the names of the parameters
    assert raw["StructuredToParameterName@@"] == {"weight": layer.weight.name, "bias": layer.bias.name}
    assert raw["weight"].dtype == np.float32 and raw["weight"].tolist() == layer.weight.tolist()
    globals_of = {name for op, name, _ in pickletools.genops(file.getvalue()) if op.name in ("SHORT_BINUNICODE",)}
    assert "numpy.core.multiarray" in globals_of and "numpy._core.multiarray" not in globals_of  # also old NumPys read it


# What comes back.


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("dtype", sorted(["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
                                          "float64", "complex64", "complex128"]))  # fmt: skip
@pytest.mark.parametrize("shape", [[], [0], [3], [2, 0, 3], [2, 3], [300, 400]])
def test_every_tensor_comes_back(protocol, dtype, shape):
    x = (wt.arange(int(np.prod(shape))).reshape(shape) % 2 * 3).astype(dtype)
    for found in (again(x, protocol), again({"x": x}, protocol)["x"], again([x], protocol)[0]):
        assert found.dtype is x.dtype and found.shape == x.shape and found.name == x.name
        assert bytes(memoryview(found)) == bytes(memoryview(x))


def test_views_are_saved_by_their_values():
    x = wt.arange(12).reshape([3, 4])
    for view in (x.transpose([1, 0]), x[:, ::2], x[1], x[2, 3]):
        assert again(view).tolist() == view.tolist()


def test_what_is_loaded_is_writable_and_its_own():
    layer = nn.Linear(300, 400)
    found = again(layer.weight)
    found[0, 0] = 10.0
    assert found[0, 0].item() == 10.0 and layer.weight[0, 0].item() != 10.0 and found.stop_gradient


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, 255, 256, 65535, 65536, -1, 2**31, -(2**31) - 1, 2**70, -(2**4000), 0.5, float("inf"), 1j, "", "é" * 300,
        "\ud800", b"", b"x" * 300, bytearray(b"ab"), [], (), {}, set(), [1] * 2500, (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4),
        {i: str(i) for i in range(2500)}, {1, "a", (2, 3)}, frozenset({1, 2}), slice(1, None, 2), range(2, 9, 3),
        collections.OrderedDict(a=1, b=[2]), {"a": {"b": {"c": (1, [2, {3}])}}},
    ],
)  # fmt: skip
def test_plain_data_comes_back(value, protocol, recwarn):
    found = again([value], protocol)[0]
    assert type(found) is type(value) and found == value


def test_nan_comes_back():
    assert np.isnan(again(float("nan")))


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_arrays_and_scalars_of_numpy_come_back(protocol):
    arrays = [np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(4, dtype=">i4"),
              np.array(["a", "bc"]), np.array([b"ab"]), np.zeros((0, 2)), np.array(3.5), np.arange(10)[::3],
              np.arange(3, dtype="uint32"), np.asfortranarray(np.ones((300, 200)))]  # fmt: skip
    for array in arrays:
        found = again([array], protocol, return_numpy=True)[0]
        assert found.dtype == array.dtype.newbyteorder("=") and found.shape == array.shape and (found == array).all()
        found[...] = found  # writable
    for scalar in (np.float32(2.5), np.int64(-3), np.bool_(True), np.str_("ab")):
        found = again([scalar], protocol)[0]
        assert type(found) is type(scalar) and found == scalar
    assert again([np.dtype("float32")])[0] == np.dtype("float32")


def test_arrays_without_tensors_come_back_as_tensors_as_in_paddle():
    found = again({"a": np.ones(2), "b": [np.arange(3), 3]})
    assert isinstance(found["a"], wt.Tensor) and isinstance(found["b"][0], wt.Tensor)
    assert isinstance(again(np.ones(2)), wt.Tensor)
    assert again(("name", np.ones(2))).name == "name"  # just as a tensor is written


@pytest.mark.parametrize("return_numpy", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        np.array([1, 2], "uint32"), np.array([2**63 + 1], "uint64"), np.array([7], "uint16"), np.array(["a", "bc"]),
        np.array([b"a"]), np.array([1.5], "longdouble"), np.array([1j], "clongdouble"), np.zeros([1] * 20, "float32"),
    ],
    ids=lambda array: f"{array.dtype}-{array.ndim}",
)
def test_what_no_tensor_can_hold_comes_back_as_an_array(array, return_numpy):
    if array.dtype == np.uint16:  # Paddle's bfloat16, for which there are no other bits
        assert again({"x": array}, return_numpy=return_numpy)["x"].dtype in (wt.bfloat16, np.uint16)
        return
    for found in (again({"x": array}, return_numpy=return_numpy)["x"], again([array, wt.ones([1])])[0]):
        assert isinstance(found, np.ndarray) and found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_keys_are_numbers_text_and_tuples(protocol):
    value = {
        np.int64(3): 1, np.str_("a"): 2, np.float32(0.5): 3, range(3): 4, (1, ("b", np.int8(2))): 5, frozenset({1, 2}): 6, 2**70: 7,
        tuple(range(990)): 8,
    }
    assert again(value, protocol) == value
    assert again({1, np.int64(4), "x", (2, 3)}, protocol) == {1, 4, "x", (2, 3)}
    assert again(frozenset({(1, 2)}), protocol) == frozenset({(1, 2)})


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({wt.ones([1])}, "item of a set .* Got a Tensor.* as a list"),
        (frozenset({wt.ones([1])}), "item of a frozenset"),
        ({tuple(range(2000)): 1}, "key of a dict .* fewer than 1000 parts"),
        ({wt.ones([1]): 1}, "key of a dict .* Got a Tensor"),
        ({np.dtype("float32"): 1}, "key of a dict"),
        ({("a", print): 1}, "key of a dict .* Got a tuple"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(value, message, protocol):
    with pytest.raises(TypeError, match=message):
        save([value], io.BytesIO(), protocol)


def test_shared_and_repeated_parts_come_back():
    x, part = named([1.0], "x"), [1, 2]
    found = again([part, part, x, x, {"p": part}])
    assert found[0] == found[1] == [1, 2] and found[2].tolist() == found[3].tolist() == [1.0]
    large = wt.ones([100_000])
    a, b = again({"a": large, "b": large}).values()
    a[0] = 5.0
    assert b[0].item() == 1.0


def test_a_mixture_keeps_arrays_apart_from_tensors():
    found = again({"t": named([1.0], "t"), "a": np.ones(1)})
    assert isinstance(found["t"], wt.Tensor) and isinstance(found["a"], np.ndarray)


def test_empty_state_warns():
    with pytest.warns(UserWarning, match="empty"):
        assert again({}) == {}


def test_large_tensors_are_cut_for_old_protocols(monkeypatch):
    monkeypatch.setattr("wherry_train.serialization._PART_BYTES", 40)
    state = {"a": wt.arange(60).reshape([3, 20]), "b": wt.ones([2]), "c": wt.arange(7, dtype="int16")}
    file = io.BytesIO()
    save(state, file, 2)
    raw = pickle.loads(file.getvalue(), encoding="latin1")
    assert raw["UnpackBigParamInfor@@"] == {"a": {"OriginShape": (3, 20), "slices": [f"a@@.{i}" for i in range(12)]}}
    assert raw["a@@.11"].tolist() == [55, 56, 57, 58, 59] and "a" not in raw
    file.seek(0)
    found = load(file)
    assert {key: x.tolist() for key, x in found.items()} == {key: x.tolist() for key, x in state.items()}
    file.seek(0)
    assert load(file, return_numpy=True)["a"].shape == (3, 20)


def test_the_old_name_of_protocol_works():
    file = io.BytesIO()
    with pytest.warns(UserWarning, match="use 'protocol'"):
        save([1], file, pickle_protocol=2)
    assert file.getvalue()[:2] == b"\x80\x02"


def test_binary_format_holds_one_tensor():
    for x in (wt.ones([2, 3]), wt.to_tensor(5), wt.zeros([0, 2]), wt.ones([300]).astype("bfloat16")):
        file = io.BytesIO()
        save(x, file, use_binary_format=True)
        file.seek(0)
        found = load(file)
        assert found.dtype is x.dtype and found.shape == x.shape and found.tolist() == x.tolist()
    assert file.getvalue()[16:26] == b"\x05\x00\x00\x00\x08\x16\x10\xac\x02\x80"  # as Paddle writes it
    with pytest.raises(NotImplementedError, match="expected Tensor"):
        save({"x": x}, file, use_binary_format=True)


# Where it is written to.


def test_several_objects_follow_each_other_in_a_file():
    file = io.BytesIO(b"head")
    file.seek(4)
    save(named([1.0], "x"), file)
    save([1], file)
    file.seek(4)
    assert load(file).tolist() == [1.0] and load(file) == [1]


def test_open_files_and_pipes(tmp_path):
    with open(tmp_path / "f", "wb") as file:
        save({"x": wt.ones([100_000])}, file)
    with open(tmp_path / "f", "rb") as file:
        assert load(file)["x"].shape == [100_000]
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        save([1, named([2.0], "x")], file)
    with open(reading, "rb") as file:
        assert load(file)[1].tolist() == [2.0]
    with open(tmp_path / "t", "w") as file, pytest.raises(ValueError, match="open for text"):
        save([1], file)


def test_folders_are_made_and_links_stay(tmp_path):
    save([1], tmp_path / "a" / "b" / "model.pdparams")
    assert load(tmp_path / "a" / "b" / "model.pdparams") == [1]
    (tmp_path / "latest").symlink_to("a/b/model.pdparams")
    save([2], tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink() and load(tmp_path / "a" / "b" / "model.pdparams") == [2]
    save([3], "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(sys.platform == "emscripten", reason="files have no owner and no rights there")
def test_a_file_has_the_usual_rights_and_keeps_its_own(tmp_path):
    mask = os.umask(0o027)
    try:
        save([1], tmp_path / "new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
        (tmp_path / "new").chmod(0o600)
        save([2], tmp_path / "new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(mask)


def test_a_circle_of_links_is_left_as_it_is(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="circle of links"):
        save([1], tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"] and (tmp_path / "a").is_symlink()


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs Linux's files without a name")
def test_a_killed_process_leaves_no_unfinished_file(tmp_path):
    try:
        os.close(os.open(tmp_path, os.O_WRONLY | os.O_TMPFILE, 0o600))
    except OSError as error:
        pytest.skip(f"this file system has no files without a name: {error}")
    program = (
        "import os, sys, wherry_tensor as wt\nfrom wherry_train import serialization\n"
        "def kill(descriptor): os.kill(os.getpid(), 9)\n"
        "serialization.os.fsync = kill\n"  # everything is written, nothing renamed
        "serialization.save({'w': wt.ones([100_000])}, sys.argv[1])\n"
    )
    (tmp_path / "model.pdparams").write_bytes(b"before")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "model.pdparams")], check=False)
    assert done.returncode == -9
    assert os.listdir(tmp_path) == ["model.pdparams"] and (tmp_path / "model.pdparams").read_bytes() == b"before"


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_appears_when_it_is_complete(tmp_path, monkeypatch, nameless):
    if not nameless and hasattr(os, "O_TMPFILE"):
        monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "model.pdparams"
    save([1], path)
    with pytest.raises(TypeError):
        save([wt.ones([100_000]), object()], path)
    assert load(path) == [1]

    def no_room(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        with pytest.raises(OSError, match="No space left"):
            save([2], path)
    assert load(path) == [1] and os.listdir(tmp_path) == ["model.pdparams"]
    save([3], path)
    assert load(path) == [3] and os.listdir(tmp_path) == ["model.pdparams"]


# What is refused.


class Mine:
    pass


def circle():
    value = []
    value.append(value)
    return value


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "options", "error", "message"),
    [
        (nn.Linear(1, 1), {}, ValueError, "do not support saving `paddle.nn.Layer`"),
        (Mine(), {}, TypeError, "test_serialization.Mine, expected tensors"),
        ([{"f": print}], {}, TypeError, "builtin_function_or_method"),
        (collections.namedtuple("N", "a")(1), {}, TypeError, "not plain data"),
        (np.array([None]), {}, TypeError, "dtype object"),
        (np.zeros(1, "datetime64[s]"), {}, TypeError, "datetime64"),
        (circle(), {}, ValueError, "contains itself"),
        (deep(1000), {}, ValueError, "nested too deeply"),
        (1, {"protocol": 1}, ValueError, "1<'protocol'<5"),
        (1, {"protocol": 5}, ValueError, "1<'protocol'<5"),
        (1, {"protocol": "4"}, ValueError, "MUST be `int`"),
        (1, {"protocol": None}, ValueError, "MUST be `int`"),
        (1, {"level": 1}, ValueError, r"additional config \(level\)"),
    ],
)
def test_what_cannot_be_saved_is_named(value, options, error, message):
    with pytest.raises(error, match=message):
        save(value, io.BytesIO(), **options)


@pytest.mark.parametrize("path", [None, 3, ["a"]])
def test_a_path_is_a_path(path):
    with pytest.raises((TypeError, ValueError), match="only supports saving objects to file"):
        save([1], path)
    with pytest.raises((TypeError, ValueError), match="this is not a file"):
        load(path)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(ValueError, match="filename is empty"):
        save([1], f"{tmp_path}/")
    with pytest.raises(IsADirectoryError):
        save([1], tmp_path)
    with pytest.raises(ValueError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ValueError, match="not exists"):
        load(tmp_path / "absent")
    with pytest.raises(ValueError, match=r"additional config \(mmap\)"):
        load(tmp_path / "absent", mmap=True)


def test_a_program_is_read_by_a_package_above(tmp_path, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    (tmp_path / "net.pdmodel").touch()
    monkeypatch.setattr("wherry_train.serialization.import_module", absent)
    with pytest.raises(ModuleNotFoundError, match="expected the package. pip install wherry-paddle-files"):
        load(tmp_path / "net")
    (tmp_path / "net.pdparams").touch()
    with pytest.raises(ValueError, match=r"what static\.save wrote.* Load .*net\.pdparams"):
        load(tmp_path / "net")


# Malicious files.


class Calls:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


MARKER = []
STRING = b"\x8c\x01a"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def global_of(module, name):
    return f"c{module}\n{name}\n".encode()


ARRAY = global_of("numpy.core.multiarray", "_reconstruct") + global_of("numpy", "ndarray") + b"K\x00\x85C\x01b\x87R"
FLOATS = global_of("numpy", "dtype") + text("f4") + b"\x89\x88\x87R(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (os.system, ("echo harmed",), "system"),
        (eval, ("MARKER.append(1)",), "eval"),
        (exec, ("MARKER.append(1)",), "exec"),
        (getattr, (os, "system"), "getattr"),
        (__import__, ("antigravity",), "__import__"),
        (io.open, ("harmed", "w"), "open"),
        (np.load, ("x",), "load"),
        (pickle.loads, (b"",), "loads"),
        (collections.Counter, ("a",), "Counter"),
        (Mine, (), "Mine"),
    ],
)
def test_code_is_never_run(function, arguments, name, protocol, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = tuple(arg if isinstance(arg, (str, bytes)) else str(arg) for arg in arguments)
    for value in (Calls(function, *arguments), [{"a": Calls(function, *arguments)}]):
        with pytest.raises(FileFormatError, match=rf"asks for \S*{name}.*not plain data"):
            load(io.BytesIO(pickle.dumps(value, protocol)))
    assert not MARKER and not os.listdir(tmp_path)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_objects_of_classes_are_refused_even_where_the_class_is_known(protocol):
    for value in (Mine(), collections.OrderedDict.fromkeys("ab").items, ValueError("x"), np.random.RandomState(0)):
        with pytest.raises(FileFormatError):
            load(io.BytesIO(pickle.dumps(value, protocol)))


@pytest.mark.parametrize(
    "body",
    [
        global_of("os", "system") + text("echo harmed") + b"\x85R.",
        global_of("builtins", "list") + b".",  # a function that data needs is not data itself
        global_of("builtins", "list") + global_of("builtins", "tuple") + b"\x85R.",
        global_of("builtins", "list") + b"}b.",  # BUILD on it
        b"}" + STRING + b"K\x01}b.",
        global_of("numpy.core.multiarray", "_reconstruct") + global_of("builtins", "list") + b"K\x00\x85C\x01b\x87R.",
        global_of("collections", "OrderedDict") + b")\x81.",  # NEWOBJ
        b"(" + STRING + b"i__main__\nMine\n.",  # INST
        b"\x82\x01.",  # EXT1
        STRING + b"Q.",  # a persistent id
        global_of("_codecs", "encode") + text("x") + text("zlib") + b"\x86R.",
        b"\x97.",  # a buffer outside of the file
    ],
)
def test_other_ways_into_code_are_closed(body):
    with pytest.raises(FileFormatError):
        load(io.BytesIO(b"\x80\x04" + body))


@pytest.mark.parametrize(
    "body",
    [
        b"B\xff\xff\xff\xffabc.",  # 4 GiB that are not there
        b"\x8e" + struct.pack("<Q", 1 << 60) + b"abc.",
        b"\x8d" + struct.pack("<Q", 1 << 60) + b"abc.",
        b"\x96" + struct.pack("<Q", 1 << 40) + b"abc.",
        b"X\xff\xff\xff\xffabc.",
        b"\x8b\xff\xff\xff\x7fabc.",
        b"\x95" + struct.pack("<Q", 1 << 62) + b"Nr\xff\xff\xff\xff.",  # a place far out in the memo
        global_of("builtins", "bytearray") + b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85R.",
        global_of("builtins", "list") + global_of("builtins", "range") + b"K\x00\x8a\x05\x00\x00\x00\x00\x01\x86R\x85R.",
        global_of("builtins", "tuple") + text("a" * 100) + b"\x85R.",
        ARRAY + b"(K\x01\x8a\x05\x00\x00\x00\x00\x01\x85" + FLOATS + b"\x89C\x04abcdtb.",  # a shape that the bytes do not fill
        ARRAY + b"(K\x01J\xff\xff\xff\xff\x85" + FLOATS + b"\x89C\x04abcdtb.",
        ARRAY.replace(b"K\x00\x85", b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85") + b".",
        global_of("numpy", "dtype") + text("S9999999999") + b"\x89\x88\x87R.",
        global_of("numpy", "dtype") + text("O8") + b"\x89\x88\x87R.",
        b"(" * 100_000 + b".",
        b"]" * 100_000 + b"a" * 99_999 + b".",  # deeply nested lists
        b")" + b"\x85" * 100_000 + b".",
        b"}" + b")" + b"\x85" * 100_000 + b"K\x01s.",  # ... as a key
        b"]\x94" + b"".join(b"]\x94a0j" + struct.pack("<I", i) for i in range(1, 50_000)) + b".",  # ... from the outside in
        b"}" + b")\x94" + b"".join(b"h\x00\x86\x94" if i == 0 else b"h" + bytes([i]) + b"\x86\x94" for i in range(60)) + b"K\x01s.",
    ],
)
def test_bombs_do_not_go_off(body):
    start = time.process_time()  # of the processors: a loaded machine takes its time
    with little_memory():
        try:
            load(io.BytesIO(b"\x80\x04" + body))
        except FileFormatError as error:
            assert "parse the file" in str(error) and len(str(error)) < 1000
    assert time.process_time() - start < 3


@contextlib.contextmanager
def little_memory():
    """200 MB more than now, where that can be said."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


BLOB = b"B" + struct.pack("<I", 60_000) + bytes(60_000) + b"\x94"  # memoised: the first


def uses_of_one(count):
    """Arrays that all name the same bytes."""
    head = b"(" + BLOB + b"0"
    one = ARRAY + b"(K\x01M" + struct.pack("<H", 15_000) + b"\x85" + FLOATS + b"\x89h\x00tb"
    return b"\x80\x04" + head + one * count + b"t."


def calls_on_one(module, name, count):
    return b"\x80\x04(" + BLOB + b"0" + (global_of(module, name) + b"h\x00\x85R") * count + b"t."


def copies_of_a_list(count):
    return b"\x80\x04(]\x94(" + b"N" * 50_000 + b"e0" + (global_of("builtins", "list") + b"h\x00\x85R") * count + b"t."


@pytest.mark.parametrize(
    "body",
    [uses_of_one(3000), calls_on_one("builtins", "bytearray", 5000), copies_of_a_list(5000),
     b"\x80\x04(X" + struct.pack("<I", 60_000) + b"a" * 60_000 + b"\x940"
     + (global_of("_codecs", "encode") + b"h\x00" + text("latin1") + b"\x86R") * 5000 + b"t."],
    ids=["arrays", "bytearrays", "lists", "texts"],
)
def test_one_piece_that_is_used_again_and_again_does_not_fill_the_memory(body):
    with little_memory(), pytest.raises(FileFormatError, match="more memory than its size explains"):
        load(io.BytesIO(body))


def test_a_few_uses_of_one_piece_are_fine():
    shared = wt.ones([1000])
    assert len(again([shared] * 500)) == 500  # one array in the file
    assert [x.shape for x in load(io.BytesIO(uses_of_one(3)))] == [[15_000]] * 3


@pytest.mark.parametrize("key", [lambda k: k * sys.hash_info.modulus, lambda k: complex(1000003 * k, -k)], ids=["ints", "complex numbers"])
def test_keys_that_collide_are_refused_before_they_take_long(key):
    file = io.BytesIO()
    save([{key(k): 0} for k in range(1, 3001)], file)  # in one dict, making them would take as long as reading them
    with pytest.raises(FileFormatError, match="chosen to be slow"):
        load(io.BytesIO(file.getvalue()))
    file = io.BytesIO()
    save({2.0 ** (61 * k): 0 for k in range(16)}, file)  # a few are not an attack
    assert len(load(io.BytesIO(file.getvalue()))) == 16


def test_colliding_keys_are_named():
    file = io.BytesIO()
    save({k * sys.hash_info.modulus: 0 for k in range(1, 100)}, file)
    with pytest.raises(FileFormatError, match="chosen to be slow"):
        load(io.BytesIO(file.getvalue()))


def test_lists_in_lists_many_times_are_few_lists():
    value = [wt.ones([2])]
    for _ in range(60):
        value = [value, value]
    found = again(value)  # 2 ** 60 leaves, 61 lists
    for _ in range(60):
        assert found[0] is found[1]
        found = found[0]
    assert found[0].tolist() == [1.0, 1.0]


def test_cut_off_files_are_damaged_files():
    file = io.BytesIO()
    save({"w": wt.ones([40, 50]), "large": wt.ones([200, 300]), "n": {"a": [1, 2.5, "text"]}}, file)
    data = file.getvalue()
    for end in {*range(0, len(data), 997), *range(300), *range(len(data) - 300, len(data))}:
        with pytest.raises(FileFormatError):
            load(io.BytesIO(data[:end]))


def test_damaged_files_are_refused_or_read_but_nothing_else_happens():
    file = io.BytesIO()
    save({"w": wt.ones([2, 3]), "b": {"x": np.arange(3), "t": (1, 2.5, "text", {3})}}, file)
    arrays = io.BytesIO()
    save({"a": np.ones([2, 1, 3], "float32"), "b": [np.array(["text"]), np.float64(2), np.zeros([0, 3])]}, arrays)
    rng = np.random.default_rng(0)
    for i in range(3000):
        data = bytearray((file if i % 2 else arrays).getvalue())
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(256)
        try:
            load(io.BytesIO(bytes(data)), return_numpy=i % 3 == 0)
        except FileFormatError:
            continue


@pytest.mark.parametrize("return_numpy", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        b"(K\x01(" + b"K\x01" * 13 + b"t" + b"%s" + b"\x89C\x04abcdtb.",  # more axes than a tensor has
        b"(K\x01(" + b"K\x01" * 33 + b"t" + b"%s" + b"\x89C\x04abcdtb.",  # ... than an array
        b"(K\x01K\x00\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x86%s\x89C\x00tb.",  # no elements, sizes beyond 64 bits
        b"(K\x01(K\x00" + b"J\xff\xff\xff\x7f" * 4 + b"t%s\x89C\x00tb.",
    ],
    ids=["13 axes", "33 axes", "a size", "sizes"],
)
def test_arrays_beyond_all_bounds_are_damaged_files(array, return_numpy):
    body = b"\x80\x04" + ARRAY + array.replace(b"%s", FLOATS)
    try:
        found = load(io.BytesIO(body), return_numpy=return_numpy)
    except FileFormatError:
        return
    assert found.shape == (1,) * 13


@pytest.mark.parametrize("code", ["f1", "f3", "c4", "i16", "b2", "U0", "S", "V4", "f-4", "u9"])
def test_dtypes_that_there_are_not_are_damaged_files(code):
    with pytest.raises(FileFormatError, match="an array of dtype"):
        load(io.BytesIO(b"\x80\x04" + global_of("numpy", "dtype") + text(code) + b"\x89\x88\x87R."), return_numpy=True)


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x00" * 10, b"\x00" * 40, b"\x80", b"\x80\x02", b"\x80\x07N.", b"PK\x03\x04", b"I1\n."])
def test_other_files_are_refused(data, tmp_path):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileFormatError, match="can not parse the file"):
        load(tmp_path / "file")


def test_a_bool_of_a_file_is_zero_or_one():
    file = io.BytesIO()
    save({"x": wt.to_tensor([True, False])}, file)
    data = file.getvalue().replace(b"C\x02\x01\x00", b"C\x02\x07\x00")
    assert (load(io.BytesIO(data))["x"].astype("int64") + 1).tolist() == [2, 1]
