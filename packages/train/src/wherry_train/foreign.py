"""Files of other frameworks: PyTorch, safetensors and NumPy; and names for the formats that are not read.

The pickles in PyTorch's files go through the same reader as ours, which runs nothing. It learns a handful of names
here, all of which make tensors of numbers that stand elsewhere in the file.
"""
from __future__ import annotations

import io
import json
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wherry_tensor import as_strided
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_train.pickle_reader import Deferred, FileFormatError, PickleReader, StoredArray, StoredDtype, resolved

__all__ = ["entry_of", "named_format", "read_foreign", "read_legacy_torch"]

_MAX_HEADER = 100_000_000  # bytes of the JSON of a safetensors file, as its own reader has it


def read_foreign(file: Any, size: int, return_numpy: bool) -> Any:
    """The contents of a file of PyTorch (a zip), of safetensors or of NumPy, which lies at the place of `file`.

    Raises:
        FileFormatError: it is damaged, or holds more than data.
    """
    start = file.tell()
    head = file.read(16)
    file.seek(start)
    if head[:6] == b"\x93NUMPY":
        return _finished(_npy(file.read(size)), return_numpy)
    if _is_safetensors(head, size):
        return _safetensors(file, size, return_numpy)
    try:
        archive = zipfile.ZipFile(_Part(file, start, size))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error, EOFError) as error:
        raise FileFormatError(f"load: the file is a damaged zip: {error}. It was cut off, or changed.") from error
    return _zip(archive, size, return_numpy)


def named_format(head: bytes) -> str | None:
    """The name of a format that is not read, and how to convert it; None if it is unknown."""
    if head[4:8] == b"TFL3":
        return f"TensorFlow Lite. {_BY_ONNX}"
    if head.startswith(b"{") and b'"modelTopology"' in head:
        return f"TensorFlow.js. {_BY_ONNX}"
    for start, text in _OTHER_FORMATS:
        if head.startswith(start):
            return text
    if head[257:262] == b"ustar":
        return "a tar archive, as PyTorch before 0.1.10 wrote. Save it again with torch.save(state, path) of a newer PyTorch"
    return None


_BY_ONNX = "Make ONNX of the model, with python -m tf2onnx.convert, and read that with onnx.load or InferenceSession"
_OTHER_FORMATS = (
    (b"\x89HDF\r\n\x1a\n", "HDF5 (.h5), as Keras writes. Convert it: {name: numpy.array(value)} of h5py, then numpy.savez"),
    (b"\x08", "protocol buffers, as ONNX has (.onnx). Take the weights out with onnx.numpy_helper.to_array, then numpy.savez"),
    (b"GGUF", "GGUF, as llama.cpp writes. Convert it to safetensors"),
    (b"\x1f\x8b", "gzip. Unpack it first, with gzip.open(path).read() for instance"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip. Unpack it first"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself. Fetch it with `git lfs pull`"),
    (b"<!DOCTYPE", "a web page, perhaps the error of a download. Download the file again"),
    (b"<html", "a web page, perhaps the error of a download. Download the file again"),
    (b"{", "text (JSON). Read it with json.load"),
    (b"(", "a pickle of protocol 0 or 1. Write it again with pickle protocol 2 to 4"),
    (b"c", "a pickle of protocol 0 or 1. Write it again with pickle protocol 2 to 4"),
    (b"\xac\xed\x00\x05", "objects of Java. Save plain arrays"),
)


class _Part(io.RawIOBase):
    """A part of a file as a file."""

    def __init__(self, file: Any, start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, at: int, whence: int = 0) -> int:
        self._at = max(at + (0, self._at, self._size)[whence], 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, target: Any) -> int:
        self._file.seek(self._start + self._at)
        data = self._file.read(max(min(len(target), self._size - self._at), 0))
        target[: len(data)] = data
        self._at += len(data)
        return len(data)


def _finished(array: StoredArray, return_numpy: bool) -> Any:
    return array.numpy() if return_numpy else array.value()


# Zips: of NumPy, of PyTorch, of others.


def _zip(archive: zipfile.ZipFile, size: int, return_numpy: bool) -> Any:
    names = archive.namelist()
    if sum(entry.compress_size for entry in archive.infolist()) > size:
        raise FileFormatError("load: the file is a damaged zip: its entries are larger than the file.")
    if names and all(name.endswith(".npy") for name in names):
        return {name.removesuffix(".npy"): _finished(_npy(entry_of(archive, name)), return_numpy) for name in names}
    pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(pickles) == 1:
        folder = pickles[0].removesuffix("data.pkl")
        if folder + "constants.pkl" in names:
            raise FileFormatError(
                "load: the file is a TorchScript archive, which holds a program. Got code beside the weights, expected weights alone. "
                "Write torch.save(torch.jit.load(path).state_dict(), new_path)."
            )
        return _torch_zip(archive, folder, size, return_numpy)
    what = "a Keras model (.keras)" if "config.json" in names and "model.weights.h5" in names else "a zip"
    raise FileFormatError(
        f"load: the file is {what} with {', '.join(names[:5]) or 'nothing'}{', ...' if len(names) > 5 else ''}. Got that, expected the "
        f"zip of torch.save or numpy.savez. Unpack it, or save its arrays with numpy.savez."
    )


def entry_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of an entry of a zip, which is refused where it claims more than its bytes can hold."""
    info = archive.getinfo(name)
    # Deflate makes at most 1032 of one byte: a file that asks for more is damaged.
    if info.file_size > 1040 * info.compress_size + 64:
        raise FileFormatError(f"load: the file is a damaged zip: {name!r} claims to have {info.file_size} bytes.")
    try:
        with archive.open(info) as file:
            data = file.read(info.file_size)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, struct.error) as error:
        raise FileFormatError(f"load: the file is a damaged zip, at {name!r}: {error}") from error
    except Exception as error:  # zlib.error, lzma.LZMAError, which are not classes of ours to import in a browser
        raise FileFormatError(f"load: the file is a damaged zip, at {name!r}: {error}") from error
    if len(data) != info.file_size:
        raise FileFormatError(f"load: the file is a damaged zip: {name!r} has {len(data)} bytes, expected {info.file_size}.")
    return data


# NumPy: a magic, two bytes of a version, a dict written as Python writes it, the values.


def _npy(data: bytes) -> StoredArray:
    import ast

    version = data[6:8]
    prefix = {b"\x01\x00": "<H", b"\x02\x00": "<I", b"\x03\x00": "<I"}.get(version)
    if data[:6] != b"\x93NUMPY" or prefix is None or len(data) < 12:
        raise FileFormatError("load: the file is a damaged array of NumPy: it has no head.")
    (length,) = struct.unpack_from(prefix, data, 8)
    at = 8 + struct.calcsize(prefix)
    if length > 10_000 or at + length > len(data):
        raise FileFormatError("load: the file is a damaged array of NumPy: its head is cut off.")
    try:
        head = ast.literal_eval(data[at : at + length].decode("utf-8" if version == b"\x03\x00" else "latin1").strip())
        order, code, shape, fortran = head["descr"][0], head["descr"][1:], head["shape"], head["fortran_order"]
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, MemoryError) as error:
        raise FileFormatError("load: the file is a damaged array of NumPy: its head is not a dict of descr, shape and order.") from error
    if isinstance(head["descr"], list) or code.startswith("O") or order not in "<>|=":
        raise FileFormatError(
            f"load: the file holds an array of records or objects, which is not plain data. Got dtype {head['descr']!r}, expected "
            f"numbers or text. Save its fields, or the objects' numbers, as arrays of their own."
        )
    dtype = StoredDtype.of(code)
    dtype.order = "<" if order in "|=" else order
    array = StoredArray()
    array.set_state((1, shape, dtype, fortran is True, data[at + length :]))
    return array


# safetensors: the length of a JSON, the JSON, the values.

_SAFE_CODES = {
    "BOOL": "b1", "U8": "u1", "I8": "i1", "I16": "i2", "U16": "u2", "F16": "f2", "BF16": "u2", "I32": "i4", "U32": "u4", "F32": "f4",
    "I64": "i8", "U64": "u8", "F64": "f8", "C64": "c8",
}


def _is_safetensors(head: bytes, size: int) -> bool:
    length = int.from_bytes(head[:8], "little")
    return len(head) > 8 and 2 <= length <= min(size - 8, _MAX_HEADER) and head[8:9] == b"{"


def _safetensors(file: Any, size: int, return_numpy: bool) -> dict[str, Any]:
    length = int.from_bytes(file.read(8), "little")
    try:
        header = json.loads(file.read(length))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"load: the file is a damaged safetensors file: {error}.") from error
    left = size - 8 - length
    data = file.read(left)
    if not isinstance(header, dict) or len(data) != left:
        raise FileFormatError("load: the file is a damaged safetensors file: its head is not a dict, or it is cut off.")
    found, used = {}, 0
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        code = entry.get("dtype") if isinstance(entry, dict) else None
        place = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(place, list) and len(place) == 2 and all(type(at) is int and 0 <= at <= left for at in place)):
            raise FileFormatError(f"load: the file is a damaged safetensors file: {name!r} has no place in its {left} bytes.")
        used += place[1] - place[0]
        if used > left or place[0] > place[1]:
            raise FileFormatError("load: the file is a damaged safetensors file: its tensors lie on each other.")
        if not isinstance(code, str) or code not in _SAFE_CODES:
            raise FileFormatError(
                f"load: {name!r} has a dtype that nothing here can hold. Got {code!r}, expected one of {', '.join(_SAFE_CODES)}. "
                f"Convert it where the file was made."
            )
        array = StoredArray()
        shape = entry.get("shape")
        array.set_state((1, tuple(shape) if isinstance(shape, list) else shape, StoredDtype.of(_SAFE_CODES[code]), False,
                         data[place[0] : place[1]]))
        # NumPy has no bfloat16; its bits are what Paddle's files have for it.
        found[name] = array.numpy() if return_numpy or code == "U16" else array.value()
    return found


# PyTorch. A tensor is a view of a storage; the storages stand outside of the pickle, which names them.

_STORAGES = {
    "FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "BFloat16Storage": "u2", "LongStorage": "i8", "IntStorage": "i4",
    "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "b1", "ComplexFloatStorage": "c8",
    "ComplexDoubleStorage": "c16", "UntypedStorage": "u1",
}
_DTYPES = {
    "float32": "f4", "float64": "f8", "float16": "f2", "bfloat16": "u2", "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1",
    "uint8": "u1", "bool": "b1", "complex64": "c8", "complex128": "c16",
}


class _Kind:
    """A class of storages or a dtype, which the pickle names."""

    __slots__ = ("code",)

    def __init__(self, code: str) -> None:
        self.code = code


class _Storage:
    """Numbers in a row, of one dtype; the bytes may come later."""

    __slots__ = ("code", "count", "data")

    def __init__(self, code: str, count: int) -> None:
        self.code, self.count = code, count
        self.data: Any = None

    @property
    def bytes_(self) -> int:
        return self.count * int(self.code[1:])


class _View(Deferred):
    """A tensor: a place in a storage."""

    __slots__ = ("made", "offset", "shape", "source", "storage", "strides")

    def __init__(self, source: _TorchFile, storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.source, self.storage, self.offset, self.shape, self.strides = source, storage, offset, shape, strides

    def value(self) -> Any:
        return self.source.tensor(self)


class _TorchFile:
    """The storages of one file, and what its pickle may call."""

    def __init__(self, size: int, return_numpy: bool) -> None:
        self.return_numpy = return_numpy
        self.storages: dict[str, _Storage] = {}
        self._left = 4 * size + 65536  # bytes that its tensors may take; each storage has its own in the file
        self._made: dict[Any, Any] = {}  # tensors that are the same view, as tied weights are, are one

    def names(self) -> dict[tuple[str, str], Any]:
        def rebuilt(reader: PickleReader, storage: Any, offset: Any, shape: Any, strides: Any, *rest: Any) -> _View:
            return self._view(storage, offset, shape, strides)

        def parameter(reader: PickleReader, data: Any, *rest: Any) -> Any:
            if not isinstance(data, _View):
                raise FileFormatError("load: the file is damaged: a parameter of PyTorch that is not a tensor.")
            return data

        def size(reader: PickleReader, sizes: Any = ()) -> Any:
            return sizes if isinstance(sizes, tuple) else tuple(sizes) if isinstance(sizes, list) else ()

        def device(reader: PickleReader, *where: Any) -> str:
            return ":".join(map(str, where[:2]))

        found: dict[tuple[str, str], Any] = {
            ("torch._utils", "_rebuild_tensor_v2"): rebuilt,
            ("torch._utils", "_rebuild_tensor"): rebuilt,
            ("torch._utils", "_rebuild_parameter"): parameter,
            ("torch._utils", "_rebuild_parameter_with_state"): parameter,
            ("torch", "Size"): size,
            ("torch", "device"): device,
        }
        found |= {("torch", name): _Kind(code) for name, code in _STORAGES.items()}
        found["torch.storage", "UntypedStorage"] = _Kind("u1")
        # A dtype by itself, as in the settings of a training.
        found |= {("torch", name): as_dtype(name) for name in _DTYPES}
        return found

    def persistent(self, place: Any) -> _Storage:
        if not (isinstance(place, tuple) and len(place) >= 5 and place[0] == "storage" and isinstance(place[1], _Kind)
                and type(place[4]) is int and 0 <= place[4] < 1 << 60 and isinstance(place[2], str)):
            raise FileFormatError("load: the file is damaged: PyTorch names a storage in another way.")
        if len(place) > 5 and place[5] is not None:
            raise FileFormatError("load: the file is of a PyTorch before 0.4, whose storages share memory. Save it again with a newer one.")
        known = self.storages.get(place[2])
        if known is None:
            known = self.storages[place[2]] = _Storage(place[1].code, place[4])
        return known

    def _view(self, storage: Any, offset: Any, shape: Any, strides: Any) -> _View:
        def counts(values: Any) -> bool:
            return isinstance(values, tuple) and all(type(n) is int and 0 <= n < 1 << 60 for n in values)

        if not (isinstance(storage, _Storage) and counts((offset,)) and counts(shape) and counts(strides) and len(shape) == len(strides)):
            raise FileFormatError("load: the file is damaged: a tensor of PyTorch without its parts.")
        last = offset + sum((n - 1) * step for n, step in zip(shape, strides))
        if 0 not in shape and last >= storage.count:
            raise FileFormatError(
                f"load: the file is damaged: a tensor of PyTorch reaches beyond its storage. Got element {last}, expected one below "
                f"{storage.count}."
            )
        return _View(self, storage, offset, shape, strides)

    def tensor(self, view: _View) -> Any:
        key = (id(view.storage), view.offset, view.shape, view.strides)
        if key not in self._made:
            self._made[key] = self._new(view)
        return self._made[key]

    def _new(self, view: _View) -> Any:
        storage = view.storage
        width = int(storage.code[1:])
        count = 1
        for n in view.shape:
            count *= n
        self._left -= count * width
        if self._left < 0:
            raise FileFormatError(
                "load: the file asks for more memory than its size explains. Got tensors that use the same numbers again and again, "
                "expected each to have its own. Save them with tensor.clone()."
            )
        array = StoredArray()
        dense = _dense(view.shape)
        if count and view.strides != dense and any(n > 1 and a != b for n, a, b in zip(view.shape, view.strides, dense)):
            array.set_state((1, (storage.count,), StoredDtype.of(storage.code), False, storage.data))
            whole: Tensor = array.tensor()
            found = as_strided(whole, list(view.shape), list(view.strides), view.offset * width).clone()
            return found.numpy() if self.return_numpy else found
        data = memoryview(storage.data)[view.offset * width : (view.offset + count) * width] if count else b""
        array.set_state((1, view.shape, StoredDtype.of(storage.code), False, bytes(data)))
        return _finished(array, self.return_numpy)


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _torch_zip(archive: zipfile.ZipFile, folder: str, size: int, return_numpy: bool) -> Any:
    names = set(archive.namelist())
    if folder + "byteorder" in names and entry_of(archive, folder + "byteorder") != b"little":
        raise FileFormatError("load: the file was written on a machine with another byte order. Save it on a usual one.")
    source = _TorchFile(size, return_numpy)

    def storage(place: Any) -> _Storage:
        found = source.persistent(place)
        if found.data is None:
            name = f"{folder}data/{place[2]}"
            if name not in names:
                raise FileFormatError(f"load: the file is damaged: the numbers {name!r} are missing.")
            found.data = entry_of(archive, name)
            if len(found.data) != found.bytes_:
                raise FileFormatError(f"load: the file is damaged: {name!r} has {len(found.data)} bytes, expected {found.bytes_}.")
        return found

    content = entry_of(archive, folder + "data.pkl")
    return _marked(_read(PickleReader(io.BytesIO(content), len(content), source.names(), storage)))


def read_legacy_torch(file: Any, size: int, return_numpy: bool) -> Any:
    """What follows that first pickle: a version, facts about the machine, the object, a list of storages, their numbers."""
    source = _TorchFile(size, return_numpy)
    start, at = file.tell(), 0

    def pickled(names: dict[tuple[str, str], Any], persistent: Callable[[Any], Any] | None) -> tuple[PickleReader, Any]:
        nonlocal at
        file.seek(start + at)
        reader = PickleReader(file, size - at, names, persistent)
        value = reader.read()
        at += reader.consumed
        return reader, value

    version = pickled({}, None)[1]
    machine = pickled({}, None)[1]
    if version != 1001 or not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise FileFormatError(f"load: the file is of a PyTorch that is not known. Got version {version!r}, expected 1001, little-endian.")
    reader, value = pickled(source.names(), source.persistent)
    keys = pickled({}, None)[1]
    if not isinstance(keys, list) or len(keys) != len(set(map(str, keys))):
        raise FileFormatError("load: the file is damaged: the list of storages is missing.")
    file.seek(start + at)
    for key in keys:
        storage = source.storages.get(key) if isinstance(key, str) else None
        head = file.read(8)
        count = int.from_bytes(head, "little")
        if storage is None or len(head) < 8 or count != storage.count or storage.bytes_ > size - at - 8:
            raise FileFormatError(f"load: the file is damaged: the numbers of storage {key!r} are cut off or others than said.")
        storage.data = file.read(storage.bytes_)
        at += 8 + storage.bytes_
    if any(storage.data is None for storage in source.storages.values()):
        raise FileFormatError("load: the file is damaged: the numbers of a tensor are missing.")
    found = None
    try:
        found = resolved(value, StoredArray.numpy, lambda name, array: (name, array.numpy()))
    finally:
        reader.forget(found)
    return _marked(found)


class TorchState(OrderedDict[Any, Any]):
    """A dict that torch.save wrote: `set_state_dict` refuses it, since layouts differ. Whoever puts values into it has converted it."""

    written_by: str | None = "PyTorch"

    def __setitem__(self, key: Any, value: Any) -> None:
        self.written_by = None
        super().__setitem__(key, value)


def _marked(value: Any) -> Any:
    """The same with the dicts of a file of PyTorch marked, the outer one and those in it."""
    if not isinstance(value, dict):
        return value
    found = TorchState((key, _marked(inner)) for key, inner in value.items())
    found.written_by = "PyTorch"
    return found


def _read(reader: PickleReader) -> Any:
    found = None
    try:
        found = resolved(reader.read(), StoredArray.numpy, lambda name, array: (name, array.numpy()))
    finally:
        reader.forget(found)
    return found
