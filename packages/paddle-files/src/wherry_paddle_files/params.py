"""Parameters as Paddle keeps them: tensors one after the other in one file, or each in a file of its name.

A tensor is a version (0), the number of its levels of detail with the levels, a second version (0), a message with dtype
and sizes, and the values. Names are not in it: the tensors of a `.pdiparams` are in the order of the sorted names of the
program that they belong to.

Sizes are compared with what is left of the file before memory is taken. Values go from the file straight into memory of
the tensor. Mapping the file instead does not pay: the messages have odd lengths, so that values lie at any address, and
kernels would copy them to aligned ones again and again.
"""
from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from wherry_paddle_files.desc import DTYPES, dtype_code, dtype_name
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.protobuf import Field, ModelFileError, Schema
from wherry_train.atomic_files import finish_replacing, replace_files
from wherry_train.pickle_writer import bytes_of

__all__ = ["load_params", "mark_of", "params_of", "save_params", "save_separate_params", "write_params"]

_HEAD = struct.Struct("<IQ")
_TENSOR = struct.Struct("<Ii")
_TENSOR_HEAD = struct.Struct("<IQIi")  # both, of a tensor without levels of detail
_LENGTH = struct.Struct("<Q")
_LONGEST_MESSAGE = 1 << 16  # bytes; a message takes some thirty


@dataclass(slots=True)
class _Described:
    """The header of a tensor in a file."""

    dtype: int | None = None
    dims: list[int] = field(default_factory=list)
    mark: bytes | None = None
    unknown: bytes = b""


_described = Schema(
    _Described, "a tensor", Field(1, "dtype", "int32", required=True), Field(2, "dims", "int", repeated=True), Field(7291, "mark", "bytes")
)


# Reading.


def load_params(path: str, names: Iterable[str]) -> dict[str, Tensor]:
    """Read the parameters of a program.

    Args:
        path: a `.pdiparams`, or a folder with a file for each parameter, as old programs have them.
        names: of the parameters, in any order.

    Returns:
        The tensors by their names, on the cpu.

    Raises:
        ModelFileError: the file is damaged, or has more or fewer tensors than there are names.
        OSError: it cannot be read.
    """
    if os.path.isdir(path):
        if names := sorted(names):
            _refuse_outside(path, names[0])
            finish_replacing(os.path.join(path, names[0]))
        return {name: _from_folder(path, name) for name in sorted(names)}
    with open(path, "rb") as file:
        return params_of(file, os.fstat(file.fileno()).st_size, names, path)[0]


def params_of(
    source: BinaryIO | bytes, size: int | None, names: Iterable[str], what: str = "the parameters"
) -> tuple[dict[str, Tensor], bytes | None]:
    """Read the content of a `.pdiparams`.

    Args:
        source: bytes, or a file that has `size` bytes left.
        size: see there; not used for bytes.
        names: of the parameters.
        what: how errors call the file.

    Returns:
        The tensors, and the mark by which a program knows them; None in files of Paddle.

    Raises:
        ModelFileError: as for `load_params`.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        size = len(source)
        source = io.BytesIO(source)
    reader = _Reader(source, size or 0, what)
    found: dict[str, Tensor] = {}
    mark = None
    wanted = sorted(names)
    for name in wanted:
        if not reader.left:
            raise ModelFileError(
                f"{what}: there are too few parameters. Got {len(found)}, expected {len(wanted)}: {name!r} is the first that is "
                f"missing. Take the file that was saved together with the program."
            )
        found[name], its_mark = reader.tensor(name)
        mark = mark or its_mark
    if reader.left:
        raise ModelFileError(
            f"{what}: there are more parameters than the program has. Got {reader.left} bytes after the {len(wanted)} of the "
            f"program, expected none. Take the file that was saved together with the program."
        )
    return found, mark


def _from_folder(folder: str, name: str) -> Tensor:
    _refuse_outside(folder, name)
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        return params_of(file, os.fstat(file.fileno()).st_size, [name], path)[0][name]


def _refuse_outside(folder: str, name: str) -> None:
    inside = os.path.normpath(name)
    if not name or "\0" in name or os.path.isabs(name) or inside.split(os.sep)[0] in (os.pardir, os.curdir):
        raise ModelFileError(
            f"a parameter's name leads out of the folder of the model. Got {name!r} for {folder!r}, expected a name of a file. The "
            f"model is not one to trust."
        )


class _Reader:
    """Takes tensors from a file, of which `left` bytes are left."""

    def __init__(self, file: BinaryIO, size: int, what: str) -> None:
        self._file, self.left, self._what = file, size, what
        self._seen: dict[bytes, tuple[DType, tuple[int, ...], int, bytes | None]] = {}  # by what describes a tensor

    def _take(self, count: int, name: str) -> bytes:
        data = self._file.read(count) if count <= self.left else b""
        if len(data) < count:
            raise ModelFileError(
                f"{self._what}: the file ends too early, in the parameter {name!r}. Got {self.left} bytes, expected {count} more. "
                f"Copy or save the model again."
            )
        self.left -= count
        return data

    def _damaged(self, name: str, got: str, expected: str) -> ModelFileError:
        return ModelFileError(
            f"{self._what}: the file is damaged, or holds no parameters, at {name!r}. Got {got}, expected {expected}. Copy or save "
            f"the model again."
        )

    def tensor(self, name: str) -> tuple[Tensor, bytes | None]:
        message = self._message(name)
        known = self._seen.get(message)
        if known is None:  # others are of the same dtype and shape
            known = self._seen[message] = self._kind(message, name)
        dtype, shape, count, mark = known
        if count > self.left:
            raise ModelFileError(
                f"{self._what}: the file ends too early, in the parameter {name!r}. Got {self.left} bytes, expected {count} for shape "
                f"{list(shape)} and dtype {dtype.name}. Copy or save the model again."
            )
        values = _core.uninitialized(shape, _core.uint8 if dtype.is_bool else dtype)
        if count:
            at = self._file.readinto(values)  # type: ignore[attr-defined]
            while at < count:  # rarely
                got = self._file.readinto(memoryview(values).cast("B")[at:])  # type: ignore[attr-defined]
                if not got:
                    raise ModelFileError(f"{self._what}: the file has become shorter while it was read. Read it again.")
                at += got
            self.left -= count
        # A byte of the file may be anything, a bool is 0 or 1.
        return ops.cast(values, dtype) if dtype.is_bool else values, mark

    def _message(self, name: str) -> bytes:
        """The bytes that say dtype and sizes of the next tensor."""
        head = self._take(_TENSOR_HEAD.size, name)
        version, levels, second, length = _TENSOR_HEAD.unpack(head)
        if version or levels > (self.left + 8) // 8:
            raise self._damaged(name, f"version {version} and {levels} levels of detail", "version 0 and a few levels")
        if levels:  # they have no meaning for parameters
            (count,) = _LENGTH.unpack(head[-8:])
            for _ in range(levels - 1):
                self._take(count, name)
                (count,) = _LENGTH.unpack(self._take(8, name))
            self._take(count, name)
            second, length = _TENSOR.unpack(self._take(_TENSOR.size, name))
        if second or not 0 <= length <= _LONGEST_MESSAGE:
            raise self._damaged(name, f"version {second} and a description of {length} bytes", "version 0 and some 30 bytes")
        return self._take(length, name)

    def _kind(self, message: bytes, name: str) -> tuple[DType, tuple[int, ...], int, bytes | None]:
        """Dtype and shape of a tensor, the bytes of its values, and the mark."""
        found = _described.read(message)
        if found.dtype not in DTYPES:
            dtype_name(found.dtype, f"{self._what}: the parameter {name!r}")
        dtype = as_dtype(DTYPES[found.dtype], "load")
        count, reach = dtype.itemsize, dtype.itemsize
        for size in found.dims:
            count *= size
            reach *= size or 1
        if len(found.dims) > _core.MAX_RANK or min(found.dims, default=0) < 0 or reach >= 1 << 62:
            raise self._damaged(name, f"shape {found.dims[:20]}", f"at most {_core.MAX_RANK} sizes of 0 or more")
        return dtype, tuple(found.dims), count, found.mark


# Writing.


def save_params(path: str, params: Mapping[str, Tensor]) -> None:
    """Write parameters to a `.pdiparams`, which is replaced atomically.

    Args:
        path: of the file.
        params: the tensors by their names.
    """
    replace_files([(path, partial(write_params, params=params))])


def save_separate_params(folder: str, params: Mapping[str, Tensor]) -> None:
    """Write each parameter to a file of its name, as old programs have them. The files are replaced when all are complete."""
    for name in params:
        _refuse_outside(folder, name)
    replace_files([(os.path.join(folder, name), partial(write_params, params={name: params[name]})) for name in sorted(params)])


def write_params(file: BinaryIO, params: Mapping[str, Tensor], mark: bytes | None = None) -> None:
    """Write the content of a `.pdiparams` to a file that is open for writing bytes."""
    for name in sorted(params):
        tensor = params[name]
        head = _described.write(_Described(dtype_code(tensor.dtype.name), list(tensor.shape), mark))
        mark = None  # once, in the first
        file.write(_HEAD.pack(0, 0) + _TENSOR.pack(0, len(head)) + head)
        file.write(bytes_of(tensor))


def mark_of(params: Mapping[str, Tensor]) -> bytes | None:
    """16 bytes that tell these parameters from others: a digest of names, dtypes, shapes and values. None if there are none."""
    digest = hashlib.sha256()
    for name in sorted(params):
        tensor = params[name]
        digest.update(f"{name}\0{tensor.dtype.name}{list(tensor.shape)}\0".encode())
        digest.update(bytes_of(tensor))
    return digest.digest()[:16] if params else None
