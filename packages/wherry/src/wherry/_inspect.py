"""`wherry inspect FILE`: what a file of a model or of weights holds, and what of it is not supported."""
from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["as_json", "as_text", "check_format", "inspected", "program_of"]

_MOST_SHOWN = 12  # parameters and types of operators in the text
_SIZES = {"bool": 1, "int4": 0.5, "uint4": 0.5, "bfloat16": 2, "float4e2m1": 0.5, "int2": 0.25, "uint2": 0.25, "complex64": 8, "complex128": 16}
_OTHERS = {
    ".tflite": "TensorFlow Lite", ".pb": "TensorFlow", ".h5": "Keras", ".keras": "Keras",
}  # fmt: skip


def inspected(path: str) -> dict[str, Any]:
    """What a file holds.

    Args:
        path: of a program (`.pdmodel`, `__model__`, `.json` of Paddle 3, `.onnx`, `.pt2`), or of weights (`.pdparams`, `.pdopt`, `.pth`,
            `.safetensors`, `.npz`, `.gguf`); of a folder as Paddle 1 saved models.

    Returns:
        file, bytes: its name and size. format: words for it. inputs, outputs, parameters: lists of {"name", "dtype", "shape"}, of parameters in
        blocks with their "bytes". operators: how many there are of each type. unsupported: types that are not read. totals: of the parameters:
        tensors, elements, bytes, and tensors by dtype.

    Raises:
        ValueError: the file is damaged, or of a format that is not read; the error says the way around.
        OSError: there is no such file.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "__model__")
    size = os.path.getsize(path)
    found = {**_reader_of(path)(path)}
    return {"file": path, "bytes": size, **found, "totals": _totals(found["parameters"])}


def program_of(path: str) -> Any:
    """The program of a file, to be drawn or converted; parameters need not be there.

    Raises:
        ValueError: it cannot be read, or is not a program.
    """
    check_format(path)
    if path.lower().endswith(".onnx"):
        from wherry_onnx_files.models import read_model

        return read_model(path).program()
    if path.lower().endswith(".pt2"):
        from wherry_onnx_files.exported import read_exported

        return read_exported(path)
    from wherry_paddle_files.models import read_program

    with open(path, "rb") as file:
        return read_program(file.read())


def _reader_of(path: str) -> Callable[[str], dict[str, Any]]:
    check_format(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".onnx":
        return _of_onnx
    if ending == ".pt2":
        return _of_torch
    if ending in (".pdmodel", ".json") or os.path.basename(path) == "__model__":
        return _of_paddle
    return _of_gguf if ending == ".gguf" else _of_weights


def check_format(path: str) -> None:
    """Refuse formats that are not read by their names and first bytes, with the way around.

    Raises:
        ValueError: the file is one of TensorFlow's.
        OSError: there is no such file.
    """
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    ending = os.path.splitext(path)[1].lower()
    of_page = head.lstrip()[:1] == b"{" and b'"modelTopology"' in head
    kind = "TensorFlow.js" if of_page else "TensorFlow Lite" if head[4:8] == b"TFL3" else _OTHERS.get(ending)
    if kind is not None:
        raise ValueError(
            f"files of {kind} are not read. Got {path!r}, expected a program of Paddle, ONNX or PyTorch, or weights. Make ONNX of it: python -m "
            f"tf2onnx.convert (for a page of TensorFlow.js: of the model that it was made from)."
        )


def _of_onnx(path: str) -> dict[str, Any]:
    from wherry_onnx_files.summary import summary

    return summary(path)


def _of_torch(path: str) -> dict[str, Any]:
    from wherry_onnx_files.exported import summary

    return summary(path)


def _of_paddle(path: str) -> dict[str, Any]:
    from wherry_paddle_files.summary import summary

    with open(path, "rb") as file:
        data = file.read()
    return summary(data)


def _of_weights(path: str) -> dict[str, Any]:
    import wherry

    found = wherry.load(path, return_numpy=True)
    return {
        "format": f"weights ({os.path.splitext(path)[1] or 'without ending'})", "inputs": [], "outputs": [], "operators": {}, "unsupported": [],
        "parameters": [
            {"name": name, "dtype": str(value.dtype), "shape": [int(n) for n in value.shape]} for name, value in _arrays("", found)
        ],
    }


def _of_gguf(path: str) -> dict[str, Any]:
    from wherry_quant.extra import GGUFFile

    file = GGUFFile(path)
    kind = file.settings.get("general.architecture")
    return {
        "format": "weights (.gguf)" + (f" of a model of the kind {kind!r}" if isinstance(kind, str) else ""),
        "inputs": [], "outputs": [], "operators": {}, "unsupported": [],
        "parameters": [{"name": name, "dtype": x.dtype, "shape": list(x.shape), "bytes": x.nbytes} for name, x in file.items()],
    }


def _arrays(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays in dicts and lists, with the way to each."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        yield prefix, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _arrays(f"{prefix}.{key}" if prefix else str(key), each)
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from _arrays(f"{prefix}[{i}]", each)


def _totals(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    elements = [max(0, math.prod(each["shape"] or ())) for each in parameters]
    return {
        "tensors": len(parameters), "elements": sum(elements),
        "bytes": int(sum(each["bytes"] if "bytes" in each else n * _bytes_of(each["dtype"]) for n, each in zip(elements, parameters))),
        "dtypes": dict(Counter(each["dtype"] for each in parameters).most_common()),
    }


def _bytes_of(dtype: str | None) -> float:
    if dtype is None:
        return 0
    digits = "".join(c for c in dtype.partition("e")[0] if c.isdigit())
    return _SIZES[dtype] if dtype in _SIZES else int(digits) / 8 if digits else 0


def as_text(found: Mapping[str, Any]) -> str:
    """What `inspected` gave, for people."""
    totals = found["totals"]
    lines = [f"{found['file']}: {found['format']}, {_amount(found['bytes'])}"]
    for what in ("inputs", "outputs"):
        lines += [f"{what}:", *(f"  {_shown(each)}" for each in found[what])] if found[what] else []
    if found["operators"]:
        kinds = list(found["operators"].items())
        lines.append(f"operators: {sum(found['operators'].values())} of {len(kinds)} types")
        lines += [f"  {count:5d}  {name}" for name, count in kinds[:_MOST_SHOWN]]
        lines += [f"  and {len(kinds) - _MOST_SHOWN} more types"] if len(kinds) > _MOST_SHOWN else []
    dtypes = ", ".join(f"{count} {name}" for name, count in totals["dtypes"].items())
    count = f"{totals['tensors']} tensors, {totals['elements']:,} numbers, {_amount(totals['bytes'])}"
    lines.append(f"parameters: {count}{f' ({dtypes})' if dtypes else ''}")
    largest = sorted(found["parameters"], key=lambda each: -math.prod(each["shape"] or ()))
    lines += [f"  {_shown(each)}" for each in largest[:_MOST_SHOWN]]
    lines += [f"  and {len(largest) - _MOST_SHOWN} smaller ones"] if len(largest) > _MOST_SHOWN else []
    if found["unsupported"]:
        lines.append(f"not supported: {', '.join(found['unsupported'])}")
    elif found["operators"]:
        lines.append("all operators are supported")
    return "\n".join(lines)


def as_json(found: Mapping[str, Any]) -> str:
    """What `inspected` gave, for programs."""
    return json.dumps(found, indent=1)


def _shown(each: Mapping[str, Any]) -> str:
    return f"{each['name']}: {each['dtype'] or 'of a type that the file does not say'} {_shape(each['shape'])}".rstrip()


def _shape(shape: list[Any] | None) -> str:
    return "" if shape is None else "[" + ", ".join("?" if n in (-1, None) else str(n) for n in shape) + "]"


def _amount(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.2f} GiB"
