"""The WebAssembly engine of this installation: its kernels, and the part that a program needs."""
from __future__ import annotations

import base64
import functools
import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wherry_export.web.wasm import Module, shaken
from wherry_tensor._core import DType, Op
from wherry_tensor.columns import VOCABULARY_VERSION

__all__ = ["Built", "Kernel", "bring", "built", "missing"]

FOLDER = Path(__file__).parent / "engine"
FORMAT = 3  # of engine.json
EVERY_DTYPE = -1  # a row that serves the dtypes without a row of their own
USES_RANDOM = 8  # of wherry/abi.h


class Kernel(NamedTuple):
    """A kernel of the engine: WRY_* flags, its place in the table of functions, the address of its data."""

    flags: int
    place: int
    data: int


def missing() -> str | None:
    """Why bundles cannot be made here; None if they can."""
    if not (FOLDER / "engine.wasm").exists() or not (FOLDER / "engine.json").exists():
        return (
            f"the engine for browsers is not part of this installation. Got no engine.wasm in {FOLDER}, expected it. In a checkout `make engine` "
            f"builds it; wheels that were made after it bring it along."
        )
    return None


def bring(module: bytes, facts: bytes) -> None:
    """Put the engine's two files where `built` looks for them; for pages, whose wheels lack them.

    Args:
        module: the content of engine.wasm.
        facts: of engine.json.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "engine.wasm").write_bytes(module)
    (FOLDER / "engine.json").write_bytes(facts)
    built.cache_clear()


@functools.cache
def built() -> Built:
    """The engine of this installation.

    Raises:
        RuntimeError: there is none, or it belongs to other ops than this installation has.
    """
    why = missing()
    if why is not None:
        raise RuntimeError(f"web: {why}")
    return Built((FOLDER / "engine.wasm").read_bytes(), json.loads((FOLDER / "engine.json").read_text(encoding="utf-8")))


class Built:
    """The engine: a module with all kernels, and the facts that tools/wasm/engine.py noted of it.

    Attributes:
        memory: for the manifest: "memory", the pages of it that any bundle's module begins with, and "shared", the place of the byte in the
            module that says whether others share it.
    """

    def __init__(self, module: bytes, facts: dict[str, Any]) -> None:
        if facts["format"] != FORMAT or facts["vocabulary"] != VOCABULARY_VERSION:
            raise RuntimeError(
                f"web: the engine for browsers belongs to another version of Wherry. Got format {facts['format']} and vocabulary "
                f"{facts['vocabulary']}, expected {FORMAT} and {VOCABULARY_VERSION}. Build it anew: make engine"
            )
        self.module, self.facts = module, facts
        memory = Module(module).memory
        assert memory is not None, "built by tools/wasm/engine.py"
        self.memory = dict(zip(("memory", "shared"), (memory[0], memory[2]), strict=True))
        self.rows: dict[tuple[str, int], Kernel] = {}
        for op, dtype, *row in facts["rows"]:
            self.rows[op, dtype] = Kernel(*row)

    def kernel(self, op: Op, dtype: DType) -> Kernel | None:
        """The kernel of an op for the dtype of its first input (without inputs: first output); None where there is none, or where it draws."""
        found = self.rows.get((op.name, dtype.code)) or self.rows.get((op.name, EVERY_DTYPE))
        return None if found is None or found.flags & USES_RANDOM else found

    def int8_kernel(self, op: Op, dtype: DType, relaxed: bool = False) -> Kernel | None:
        """The integer kernel of an op with int8 weights; None if there is none."""
        return self.rows.get((f"{op.name}:int8{':relaxed' if relaxed else ''}", dtype.code))

    def with_only(self, kernels: Iterable[Kernel], instead: Mapping[int, Kernel] | None = None) -> bytes:
        """The module with only the parts that these kernels need.

        Args:
            kernels: what a program calls.
            instead: for places in the table of functions, the kernel with relaxed SIMD that stands there.
        """
        facts, module = self.facts, Module(self.module)
        if instead:
            for number, body in facts["relaxed"].items():
                module.bodies[int(number) - module.n_imported] = base64.b64decode(body)
            for place, kernel in instead.items():
                module.elements[place - facts["first_element"]] = module.elements[kernel.place - facts["first_element"]]
        content = module.written()
        n_functions = facts["imported"] + facts["functions"]
        spans = sorted((facts["addresses"][segment] + offset, size, i) for i, (segment, offset, size) in enumerate(facts["data"]))
        begins = [begin for begin, _size, _i in spans]
        waiting = list(facts["roots"])
        for kernel in kernels:
            waiting.append(module.elements[kernel.place - facts["first_element"]])
            if kernel.data:
                begin, size, i = spans[bisect_right(begins, kernel.data) - 1]
                if not begin <= kernel.data < begin + size:
                    raise RuntimeError(f"web: the engine's facts do not fit it. Got data at {kernel.data}, expected it among them. make engine")
                waiting.append(n_functions + i)
        needed: set[int] = set()
        while waiting:
            at = waiting.pop()
            if at not in needed:
                needed.add(at)
                waiting.extend(facts["needs"][at])
        data = [tuple(facts["data"][i - n_functions]) for i in needed if i >= n_functions]
        return shaken(content, [f for f in needed if f < n_functions], data)
