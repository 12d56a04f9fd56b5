"""The archive of a `.pt2`: a zip with a program as JSON and each weight as the bytes of its storage. Nothing in it is run or unpickled."""
from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any, BinaryIO

import numpy as np

from wherry_onnx_files.errors import ExportedFileError
from wherry_tensor import _core, to_tensor
from wherry_tensor._core import Tensor
from wherry_train.foreign import entry_of
from wherry_train.pickle_reader import FileFormatError

__all__ = ["DTYPES", "Archive"]

# As `torch.export` numbers dtypes; found by exporting a tensor of each.
DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 10: "complex64", 11: "complex128",
    12: "bool", 13: "bfloat16",
}  # fmt: skip
_STRIDED = 7  # the layout of plain tensors


class Archive:
    """An open `.pt2`.

    Args:
        source: a path, bytes, or a file that is open for reading bytes.

    Raises:
        ExportedFileError: it is not an archive of one program.
    """

    def __init__(self, source: str | bytes | BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, (bytes, bytearray, memoryview)) else source)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
            raise ExportedFileError(f"pt2: the file is not an archive: {error}. Expected what torch.export.save wrote. Save it again.") from error
        names = self._zip.namelist()
        models = [name for name in names if name.count("/") == 2 and name.split("/")[1] == "models" and name.endswith(".json")]
        if len(models) != 1:
            raise ExportedFileError(f"pt2: the archive has {len(models)} programs. Expected one, as torch.export.save writes. Save one alone.")
        self.folder, self.model = models[0].split("/")[0], models[0].split("/")[-1].removesuffix(".json")
        if f"{self.folder}/byteorder" in names and self._bytes(f"{self.folder}/byteorder").strip() != b"little":
            raise ExportedFileError("pt2: the file has the bytes of numbers in the other order. Expected little. Save it on another machine.")

    def _bytes(self, name: str) -> bytes:
        try:
            return entry_of(self._zip, name)
        except KeyError:
            raise ExportedFileError(f"pt2: the archive has no {name!r}. Expected one. Save it again.") from None
        except FileFormatError as error:
            raise ExportedFileError(f"pt2: {error}") from error

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._bytes(name))
        except (ValueError, RecursionError) as error:
            raise ExportedFileError(f"pt2: {name!r} is not JSON ({type(error).__name__}: {error}). Save the program again.") from error

    def program(self) -> dict[str, Any]:
        """The program as it was written."""
        found = self._json(f"{self.folder}/models/{self.model}.json")
        if not isinstance(found, dict) or not isinstance(found.get("graph_module"), dict):
            raise ExportedFileError("pt2: the program has no graph. Expected one, of torch.export.save. Save it again.")
        return found

    def tensors(self, kind: str) -> dict[str, Tensor]:
        """The weights or the constants of the program, by name.

        Args:
            kind: "weights" or "constants".
        """
        path = f"{self.folder}/data/{kind}/{self.model}_{kind}_config.json"
        try:
            return {name: self._tensor(kind, name, each) for name, each in self._json(path)["config"].items()}
        except ExportedFileError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ExportedFileError(f"pt2: the list of {kind} is damaged: {type(error).__name__}: {error}. Save the program again.") from error

    def _tensor(self, kind: str, name: str, described: dict[str, Any]) -> Tensor:
        if described["use_pickle"]:
            raise ExportedFileError(f"pt2: the tensor {name!r} is pickled. Expected a plain one. Export the model with plain tensors.")
        meta = described["tensor_meta"]
        sizes, strides = ([number["as_int"] for number in meta[key]] for key in ("sizes", "strides"))
        offset = meta["storage_offset"]["as_int"]
        dtype = DTYPES.get(meta["dtype"])
        if dtype is None or meta["layout"] != _STRIDED:
            raise ExportedFileError(f"pt2: the tensor {name!r} has dtype {meta['dtype']} and layout {meta['layout']}. Expected a plain tensor.")
        numbers = [*sizes, *strides, offset]
        if len(sizes) != len(strides) or len(sizes) > _core.MAX_RANK or not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers):
            raise ExportedFileError(f"pt2: the tensor {name!r} has sizes {sizes} and strides {strides}. Expected sizes of 0 or more.")
        path = described["path_name"]
        if not isinstance(path, str) or "/" in path:
            raise ExportedFileError(f"pt2: the tensor {name!r} is stored at {path!r}. Expected a name. The file is not one to trust.")
        data = self._bytes(f"{self.folder}/data/{kind}/{path}")
        stored = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        last = offset + sum((n - 1) * step for n, step in zip(sizes, strides)) if math.prod(sizes) else offset - 1
        if (last + 1) * stored.itemsize > len(data) or math.prod(sizes) > max(1, len(data)):
            raise ExportedFileError(f"pt2: the tensor {name!r} of sizes {sizes} has {len(data)} bytes. Expected more. Save the program again.")
        flat = np.frombuffer(data, stored, len(data) // stored.itemsize)
        steps = [step * stored.itemsize for step in strides]
        array = np.lib.stride_tricks.as_strided(flat[offset:], sizes, steps) if math.prod(sizes) else np.empty(sizes, stored)
        if dtype == "bfloat16":
            return to_tensor((array.astype("uint32") << 16).view("float32")).astype("bfloat16")
        return to_tensor(np.ascontiguousarray(array).reshape(sizes))
