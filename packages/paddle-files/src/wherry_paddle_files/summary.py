"""What a program of Paddle holds, without running or even understanding it."""
from __future__ import annotations

from collections import Counter
from typing import Any

import wherry_paddle_files.ops  # noqa: F401  the rules: what has none is not supported
from wherry_paddle_files import desc, pir
from wherry_paddle_files.column import READS

__all__ = ["summary"]

_FRAME = {"feed", "fetch"}


def summary(data: bytes) -> dict[str, Any]:
    """What the content of a `.pdmodel` or a `.json` of Paddle 3 says.

    Returns:
        format: words for it.
        inputs, outputs, parameters: lists of {"name", "dtype", "shape"}; -1 is a size that is open.
        operators: how many there are of each type.
        unsupported: the types that no rule reads.

    Raises:
        ModelFileError: it is not a program, or one that does not hold together.
    """
    of_3 = pir.is_program(data)
    program = pir.parse(data) if of_3 else desc.parse(data)
    first = program.blocks[0]
    known = {var.name: var for block in program.blocks for var in block.vars}
    ports: dict[str, list[tuple[int, str]]] = {"feed": [], "fetch": []}
    for op in first.ops:
        if op.type in ports:
            names = op.output("Out") if op.type == "feed" else op.input("X")
            ports[op.type].append((int(op.attr("col", 0)), names[0] if names else ""))
    types = Counter(op.type or "" for block in program.blocks for op in block.ops if op.type not in _FRAME)
    version = program.version.version if program.version is not None else None
    return {
        "format": "Paddle 3 program" if of_3 else "Paddle program" + (f", written by {_version(version)}" if version else ""),
        "inputs": [_tensor(known.get(name), name) for _, name in sorted(ports["feed"])],
        "outputs": [_tensor(known.get(name), name) for _, name in sorted(ports["fetch"])],
        "operators": dict(types.most_common()),
        "unsupported": sorted(type_ for type_ in types if type_ not in READS),
        "parameters": [
            _tensor(var, var.name or "") for var in first.vars
            if var.persistable and var.type is not None and var.type.kind == desc.VarKind.LOD_TENSOR
        ],
    }


def _version(number: int) -> str:
    return f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"


def _tensor(var: desc.VarDesc | None, name: str) -> dict[str, Any]:
    tensor = None if var is None else var.tensor
    if tensor is None or tensor.dtype is None:
        return {"name": name, "dtype": None, "shape": None}
    return {"name": name, "dtype": desc.dtype_name(tensor.dtype, repr(name)), "shape": list(tensor.dims)}
