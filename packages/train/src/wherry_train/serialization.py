"""`save` and `load`: files that Paddle reads, and Paddle's files.

A file is a pickle. The state of a layer or an optimizer is a dict of arrays, with the names of the
tensors under a key of its own; in any other object each tensor is the pair of its name and an array.
"""
from __future__ import annotations

import errno
import os
import stat
import struct
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO

from wherry_nn import Layer
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, ResourceExhaustedError, short
from wherry_tensor.static_builder import at_once
from wherry_train.atomic_files import replace_file
from wherry_train.pickle_reader import FileFormatError, PickleReader, StoredArray, StoredDtype, resolved
from wherry_train.pickle_writer import TENSOR_CODES, BareTensor, PickleWriter, bytes_of

__all__ = ["load", "save"]

_NAMES = "StructuredToParameterName@@"
_PARTS = "UnpackBigParamInfor@@"
_PART_BYTES = (1 << 30) - 1
_TORCH_MAGIC = 0x1950A86A20F9469CFC6C  # the first pickle of PyTorch's files before 1.6


def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Write an object to a file, for `load` or for Paddle.

    A file under a path appears when it is complete: what was there before stays until then, and stays if
    anything goes wrong. Where the file system knows no files without a name (outside Linux, on some network
    drives), a process that is killed while it writes leaves `.<name>.<host>.<process>.<random>.tmp` behind, which may be
    deleted.

    Args:
        obj: the state of a layer, optimizer or scheduler; a tensor; or list, tuple, dict and OrderedDict of tensors,
            arrays, numbers and text, nested as deep as 200, and sets of numbers and text. Whether a tensor asks for
            gradients is not kept. Or a `static.Program` by itself, which is written as a `.pdmodel`, without values.
        path: where to; missing folders are made. Nothing is added to the name. Or a file object, open for writing
            bytes, such as BytesIO.
        protocol: of the pickle, 2, 3 or 4.
        use_binary_format: True writes one tensor as Paddle's static graphs do, without its name.

    Raises:
        TypeError: `obj` holds something else, an object of a class for instance.
        ValueError: `obj` is a Layer or contains itself; `protocol` or an option is unknown; `path` names no file.
        NotImplementedError: `use_binary_format` for anything but a tensor, or a program with an op that Paddle's files do not know.
        OSError: the file cannot be written.

    Source:
        `paddle.save`.

    Examples:
        >>> import io
        >>> layer = wherry.nn.Linear(2, 3)
        >>> file = io.BytesIO()
        >>> wherry.save(layer.state_dict(), file)
        >>> _ = file.seek(0)
        >>> sorted(wherry.load(file))
        ['bias', 'weight']
    """
    options = _options("save", configs, use_binary_format=False, pickle_protocol=None)
    if options["pickle_protocol"] is not None:
        warnings.warn("'pickle_protocol' is a deprecated argument. Please use 'protocol' instead.", stacklevel=2)
        protocol = options["pickle_protocol"]
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise InvalidTypeError(
            f"save: The 'protocol' MUST be `int`. Got {short(protocol)} ({type(protocol).__name__}), expected 2, 3 or 4. "
            f"Leave it out for 4."
        )
    if not 1 < protocol < 5:
        raise InvalidArgumentError(
            f"save: Expected 1<'protocol'<5, but received protocol={protocol}. Protocols 0 and 1 cannot hold bytes, and "
            f"Paddle does not read newer ones. Leave it out for 4."
        )
    with at_once():
        _save(obj, path, protocol, options["use_binary_format"])


def _save(obj: Any, path: Any, protocol: int, use_binary_format: bool) -> None:
    write = writer_of(obj, protocol, use_binary_format)
    if isinstance(path, (str, os.PathLike)):
        write_file(os.fspath(path), write)
    elif hasattr(path, "write"):
        if isinstance(getattr(path, "mode", "b"), str) and "b" not in getattr(path, "mode", "b"):
            raise InvalidArgumentError(
                f"save: the file is open for text. Got mode {path.mode!r}, expected a binary one. Open it with 'wb'."
            )
        write(path)
    else:
        raise InvalidTypeError(
            f"save: only supports saving objects to file and `BytesIO`. Got {type(path).__name__}, expected a path, or a file "
            f"that is open for writing bytes. Pass the name of the file."
        )


def writer_of(obj: Any, protocol: int = 4, use_binary_format: bool = False) -> Callable[[Any], None]:
    """What writes the content of a file of `save` into a file that is open; the arguments are those of `save`.

    Raises:
        TypeError, ValueError, NotImplementedError: as `save`.
    """
    if use_binary_format:
        if not isinstance(obj, Tensor):
            raise NotImplementedError(
                f"save: When use_binary_format = True, `paddle.save` expected Tensor, but received {type(obj)}. The format has "
                f"room for one tensor. Leave use_binary_format out."
            )
        return partial(_write_binary, obj)
    if _is_program(obj):
        content = import_module("wherry_graph.static.files").content_of(obj)
        return lambda file: file.write(content)
    saved = _as_saved(obj, protocol)
    return lambda file: PickleWriter(file, protocol).write(saved)


def load(path: Any, **configs: Any) -> Any:
    """Read what `save` or Paddle wrote, or what PyTorch, safetensors or NumPy did. No code of the file is run.

    Read are, whatever they are called: files of `paddle.save`; of `torch.save` (of tensors and plain data, not of
    objects of classes), new ones and those before PyTorch 1.6; `.safetensors`; `.npz` and `.npy` (not of objects).
    `wherry.nn.utils.from_torch` puts the weights of PyTorch's layers into ours. Of a model that `jit.save` or
    `save_inference_model` wrote, named by what its files begin with, the parameters are read, as arrays, under the names
    that its layers know them by. A `.pdmodel` by its whole name gives its program. The folder of `distributed.save_state_dict`
    gives its tensors whole.

    Args:
        path: of the file; or a file object, open for reading bytes, such as BytesIO; or the beginning of a model's files.
        return_numpy: True gives NumPy arrays instead of tensors.
        model_filename, params_filename: of a model in the folder `path`; without the second it has a file for each parameter.
        keep_name_table: True keeps the names of the tensors, under "StructuredToParameterName@@".

    Returns:
        What was saved. Tensors are on the current device, have their names again, and do not ask for gradients. An array
        comes back as a tensor if there was no tensor in the object, as Paddle has it; one that no tensor can hold (of
        uint32, uint64, text, longdouble) stays an array.

    Raises:
        ValueError: there is no such file, it is damaged, or it holds more than plain data (also a
            pickle.UnpicklingError); an option is unknown.
        TypeError: `path` is neither path nor file.
        MemoryError: the current device has no room; `return_numpy=True` needs none of it.

    Source:
        `paddle.load`.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> wherry.save({"epoch": 3, "best": wherry.to_tensor([1.0, 2.0])}, file)
        >>> _ = file.seek(0)
        >>> wherry.load(file, return_numpy=True)
        {'epoch': 3, 'best': array([1., 2.], dtype=float32)}
    """
    options = _options("load", configs, return_numpy=False, keep_name_table=False, model_filename=None, params_filename=None)
    with at_once():
        return _load(path, options)


def _load(path: Any, options: dict[str, Any]) -> Any:
    if isinstance(path, (str, os.PathLike)):
        name = os.fspath(path)
        if options["model_filename"] is not None or options["params_filename"] is not None:
            return _state_of_model(
                name, model_path=os.path.join(name, options["model_filename"] or "__model__"),
                params_path=name if options["params_filename"] is None else os.path.join(name, options["params_filename"]),
            )
        if not os.path.isfile(name) and any(os.path.exists(name + ending) for ending in (".pdmodel", ".json")):
            return _state_of_model(name)
        if os.path.isfile(os.path.join(name, "metadata.json")):
            return _from_above("wherry_distributed.checkpoint", repr(name), "checkpoints").load_whole(name, options["return_numpy"])
        if os.path.isdir(name) and (files := sorted(entry.name for entry in os.scandir(name) if entry.is_file())):
            return _state_of_folder(name, files)
        with _opened(name) as file:
            return _read(file, os.fstat(file.fileno()).st_size, options, repr(name))
    if hasattr(path, "read"):
        if not (hasattr(path, "seekable") and path.seekable() and hasattr(path, "readinto")):
            data = path.read()
            if not isinstance(data, (bytes, bytearray)):
                raise InvalidTypeError("load: the file is open for text. Got str, expected bytes. Open it with 'rb'.")
            return _read(BytesIO(data), len(data), options, "the file")
        start = path.tell()
        size = path.seek(0, os.SEEK_END) - start
        path.seek(start)
        return _read(path, size, options, "the file")
    raise InvalidTypeError(
        f"load: this is not a file. Got {type(path).__name__}, expected a path, or a file that is open for reading bytes. "
        f"Pass the name of the file."
    )


def _options(op_name: str, given: dict[str, Any], **known: Any) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise InvalidArgumentError(
                f"{op_name}: The additional config ({name}) of `paddle.{op_name}` is not supported. Got {name}, expected one of "
                f"{', '.join(known)}. Leave it out."
            )
    return {**known, **given}


# Saving.


def _as_saved(obj: Any, protocol: int) -> Any:
    if isinstance(obj, Layer):
        raise InvalidTypeError(
            f"save: paddle do not support saving `paddle.nn.Layer` object. Got {type(obj).__name__}, expected its state. "
            f"Write save(layer.state_dict(), path)."
        )
    if isinstance(obj, Mapping) and _is_state(obj):
        if not obj:
            warnings.warn("The input state dict is empty, no need to save.", stacklevel=3)
        return _state_as_saved(obj, protocol)
    return obj


def _is_state(obj: Mapping[Any, Any]) -> bool:
    """Whether this is saved as a state: its values are tensors, and dicts without tensors."""
    return all(
        isinstance(value, Tensor) or (isinstance(value, Mapping) and not _has_tensor(value)) for value in obj.values()
    )


def _has_tensor(value: Any) -> bool:
    waiting, seen = [value], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Tensor):
            return True
        if isinstance(part, (Mapping, list, tuple)) and id(part) not in seen:
            seen.add(id(part))
            waiting += part.values() if isinstance(part, Mapping) else part
    return False


def _state_as_saved(state: Mapping[Any, Any], protocol: int) -> dict[Any, Any]:
    saved: dict[Any, Any] = {}
    names: dict[Any, str] = {}
    parts: dict[Any, Any] = {}
    for key, value in state.items():
        if not isinstance(value, Tensor):
            saved[key] = value
            continue
        names[key] = value.name
        most = _PART_BYTES // value.dtype.itemsize
        if protocol < 4 and value.size > most:
            # Older protocols cannot hold more than 4 GiB in one piece; Paddle cuts at 1 GiB.
            flat = ops.reshape(value.detach(), (value.size,))
            keys = []
            for i, start in enumerate(range(0, value.size, most)):
                keys.append(f"{key}@@.{i}")
                saved[keys[-1]] = BareTensor(flat[start : start + most])
            parts[key] = {"OriginShape": tuple(value.shape), "slices": keys}
        else:
            saved[key] = BareTensor(value)
    saved[_NAMES] = names
    if parts:
        saved[_PARTS] = parts
    return saved


def write_file(path: str, write: Callable[[Any], None]) -> None:
    folder, name = os.path.split(path)
    if not name:
        raise InvalidArgumentError(
            f"save: The input path MUST be format of dirname/filename, but received filename is empty string. Got {path!r}, "
            f"expected the name of a file. Add one."
        )
    if folder:
        os.makedirs(folder, exist_ok=True)
    if os.path.isdir(path):
        raise IsADirectoryError(f"save: {path!r} is a folder. Got a folder, expected a file. Add the name of a file to it.")
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):  # a device or a pipe, which cannot be replaced
        with open(path, "wb") as file:
            write(file)
        return
    target = os.path.realpath(path)  # a link stays a link
    if os.path.islink(target):
        raise OSError(
            errno.ELOOP, f"save: the path leads in a circle of links. Got {path!r}, expected a file at its end. Remove the link", path
        )
    replace_file(target, write)


# Loading.


def _state_of_model(prefix: str, **paths: str) -> dict[str, Any]:
    """The values of a program with its parameters, which another package reads."""
    if not paths and os.path.exists(prefix + ".pdparams") and not os.path.exists(prefix + ".pdiparams"):
        raise InvalidArgumentError(
            f"load: {prefix!r} is the prefix of what static.save wrote. Got {prefix + '.pdmodel'!r} without .pdiparams, expected one file. "
            f"Load {prefix + '.pdparams'!r}."
        )
    models = _from_above("wherry_paddle_files.models", repr(prefix))
    return models.load_state(prefix, **paths)  # type: ignore[no-any-return]


def _state_of_folder(folder: str, files: list[str]) -> dict[str, Any]:
    """What Paddle 1 saved in a folder: a program with its parameters, or each of them in a file of its name."""
    if "__model__" in files:
        return _state_of_model(folder)
    params = _from_above("wherry_paddle_files.params", repr(folder))
    try:
        return {name: value.numpy() for name, value in params.load_params(folder, files).items()}
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"load: {folder!r} is a folder, and not one of Paddle 1. Got {short(files)}, expected __model__, or a file for each parameter. "
            f"Name a file in it. {error}"
        ) from error


def _from_above(module: str, name: str, reads: str = "programs") -> Any:
    """A module of a package that reads what this one does not, for the file of this name."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"load: {package.replace('_', '-')}, which reads {reads}, is not installed. Got {name}, which is part of one, "
            f"expected the package. pip install {package.replace('_', '-')}", name=error.name
        ) from error


def _is_program(obj: Any) -> bool:
    """Whether this is a program; without the package above this one that makes them there are none."""
    ir = sys.modules.get("wherry_program.program.ir")
    return ir is not None and isinstance(obj, ir.Program)


def _opened(path: str) -> Any:
    if os.path.isfile(path):
        return open(path, "rb", buffering=0)  # it is read in whole blocks
    if os.path.isdir(path):
        raise InvalidArgumentError(
            f"load: {path!r} is a folder. Got a folder, as paddle.save of 1.x and models of static graphs have, expected one "
            f"file. Name a file in it."
        )
    raise InvalidArgumentError(
        f"load: The ``path`` ({path}) to load model not exists. Got {path!r}, expected the name of a file. Suffixes such as "
        f".pdparams are part of the name."
    )


def _read(file: Any, size: int, options: dict[str, Any], name: str) -> Any:
    start = file.tell()
    head = file.read(512)
    file.seek(start)
    try:
        if _is_foreign(head, size):
            from wherry_train.foreign import read_foreign

            return _checked(read_foreign, file, size, options["return_numpy"])
        if head[:1] == b"\x00":
            tensor = _read_binary(file, size)
            return tensor.numpy() if options["return_numpy"] else tensor
        if head[:1] == b"\n":  # a program: its blocks are the first field
            programs = _from_above("wherry_graph.static.files", name)
            return _checked(programs.deserialize_program, file.read(size))
        if not head:
            raise FileFormatError("load: the file is empty.")
        if head[:1] != b"\x80":
            from wherry_train.foreign import named_format

            kind = named_format(head)
            if kind is not None:
                raise FileFormatError(f"load: files of this format are not read. Got {kind}.")
        reader = PickleReader(file, size)
        found = None
        try:
            value = reader.read()
            if type(value) is int and value == _TORCH_MAGIC:
                from wherry_train.foreign import read_legacy_torch

                file.seek(start + reader.consumed)
                return _checked(read_legacy_torch, file, size - reader.consumed, options["return_numpy"])
            found = _checked(_finished, value, options)
        finally:
            reader.forget(found)
        file.seek(start + reader.consumed)
        return found
    except FileFormatError as error:
        raise FileFormatError(f"{error} `paddle.load` can not parse the file: {name}.") from error.__cause__


def _is_foreign(head: bytes, size: int) -> bool:
    """Whether this is a zip, a file of NumPy or one of safetensors; whose reader is loaded only then."""
    return (
        head[:4] == b"PK\x03\x04" or head[:6] == b"\x93NUMPY"
        or (head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= size - 8)
    )


def _checked(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function on what a file holds: whatever goes wrong with it is the file's fault."""
    try:
        return function(*arguments)
    except (FileFormatError, ResourceExhaustedError):  # an error of a full device stays what it is
        raise
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError, struct.error) as error:
        raise FileFormatError(f"load: the file is damaged: {error}") from error


def _finished(value: Any, options: dict[str, Any]) -> Any:
    if options["return_numpy"]:
        return _without_table(resolved(_joined(value), StoredArray.numpy, lambda name, array: array.numpy()), options)
    if isinstance(value, dict) and _NAMES in value:
        value = _joined(value)
        names = value[_NAMES] if isinstance(value[_NAMES], dict) else {}
        tensors = {key: _named(names.get(key), item) for key, item in value.items() if type(item) is StoredArray}
        rest = {key: item for key, item in value.items() if key not in tensors}
        rest = resolved(rest, StoredArray.numpy, _named)
        return _without_table({key: tensors[key] if key in tensors else rest[key] for key in value}, options)
    return resolved(value, StoredArray.numpy if _has_pair(value) else StoredArray.value, _named)


def _has_pair(value: Any) -> bool:
    """Whether there is a tensor with its name in it: then arrays without one were arrays."""
    waiting, seen = [value], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, (dict, list, tuple)) and id(part) not in seen:
            seen.add(id(part))
            if type(part) is tuple and len(part) == 2 and type(part[0]) is str and type(part[1]) is StoredArray:
                return True
            waiting += part.values() if isinstance(part, dict) else part
    return False


def _named(name: Any, array: StoredArray) -> Any:
    tensor = array.value()
    if type(name) is str and isinstance(tensor, Tensor):
        tensor.name = name
    return tensor


def _without_table(value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, dict) and not options["keep_name_table"]:
        value.pop(_NAMES, None)
    return value


def _joined(value: Any) -> Any:
    """A state whose large arrays are whole again."""
    parts = value.get(_PARTS) if isinstance(value, dict) else None
    if not isinstance(parts, dict):
        return value
    value = {key: item for key, item in value.items() if key != _PARTS}
    used: dict[int, Any] = {}
    for key, entry in parts.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("slices"), list):
            raise FileFormatError("load: the file is damaged: a large array without the list of its parts.")
        pieces = [value.pop(piece, None) for piece in entry["slices"]]
        if not pieces or not all(type(piece) is StoredArray and piece.dtype.code == pieces[0].dtype.code for piece in pieces):
            raise FileFormatError(f"load: the file is damaged: parts of the large array {key!r} are missing.")
        for piece in pieces:
            if id(piece) in used:
                raise FileFormatError(f"load: the file is damaged: a part of the large array {key!r} is used twice.")
            used[id(piece)] = piece
        whole = StoredArray()
        data = bytearray().join(bytes(piece.data) for piece in pieces)
        whole.set_state((1, entry.get("OriginShape"), pieces[0].dtype, False, data))
        value[key] = whole
    return value


# One tensor in the format of static graphs: three versions and a count that are zero, then a message of protocol
# buffers with the dtype (field 1) and the sizes (field 2), then the values.

_BINARY_HEAD = struct.Struct("<IQIi")
_BINARY_DTYPES = {
    "bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6, "uint8": 20, "int8": 21,
    "bfloat16": 22, "complex64": 23, "complex128": 24,
}  # fmt: skip


def _write_binary(tensor: Tensor, file: BinaryIO) -> None:
    head = b"\x08" + _varint(_BINARY_DTYPES[tensor.dtype.name])
    for size in tensor.shape:
        head += b"\x10" + _varint(size)
    file.write(_BINARY_HEAD.pack(0, 0, 0, len(head)) + head)
    file.write(bytes_of(tensor))


def _read_binary(file: BinaryIO, size: int) -> Tensor:
    start = file.read(_BINARY_HEAD.size)
    if len(start) < _BINARY_HEAD.size:
        raise FileFormatError("load: the file ends too early, in the head of a tensor.")
    version, levels, inner, length = _BINARY_HEAD.unpack(start)
    if version or levels or inner or not 2 <= length <= 1000 or length > size - len(start):
        raise FileFormatError("load: this is not a file of save, neither a pickle nor a tensor in binary format.")
    head = file.read(length)
    dtype, shape, at = None, [], 0
    while at < len(head):
        field, at = head[at], at + 1
        number, at = _number(head, at)
        if field == 0x08:
            dtype = next((name for name, code in _BINARY_DTYPES.items() if code == number), None)
        elif field == 0x10:
            shape.append(number)
    if dtype is None or len(shape) > _core.MAX_RANK:
        raise FileFormatError("load: the file is damaged: a tensor without a dtype that is known.")
    known = as_dtype(dtype, "load")
    count = known.itemsize
    for axis in shape:
        count *= axis
    if count > size - len(start) - length:
        raise FileFormatError(
            f"load: the file ends too early. Got {size - len(start) - length} bytes, expected {count} for shape {shape} and dtype "
            f"{dtype}."
        )
    array = StoredArray()
    array.set_state((1, tuple(shape), StoredDtype(TENSOR_CODES[dtype]), False, file.read(count)))
    return array.tensor()


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 62:
            raise FileFormatError("load: the file is damaged: a size without an end.")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
