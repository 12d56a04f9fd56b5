"""Writes the type stubs of what is compiled or made at run time, and checks that they are up to date.

    python tools/stubs.py          write packages/tensor/src/wherry_tensor/_core.pyi and ops/__init__.pyi
    python tools/stubs.py --check  exit 1 when they differ from what the installed packages say

Each method has its parameters and the first line of its docstring.
"""
from __future__ import annotations

import inspect
import sys
from pathlib import Path

import wherry_autograd  # noqa: F401  gives Tensor its methods for gradients
import wherry_tensor
from wherry_tensor import _core, ops

ROOT = Path(__file__).parent.parent / "packages/tensor/src/wherry_tensor"
SPECIAL = {  # what introspection cannot say
    "shape": "list[int]", "strides": "list[int]", "ndim": "int", "size": "int", "dtype": "DType", "itemsize": "int", "nbytes": "int",
    "stop_gradient": "bool", "persistable": "bool", "name": "str", "is_leaf": "bool", "grad": "Tensor | None", "inplace_version": "int",
    "node": "Any", "hooks": "Any", "T": "Tensor", "data": "Tensor", "place": "Any", "layout": "str", "type": "Any", "grad_fn": "Any",
}
SETTABLE = {"stop_gradient", "persistable", "name", "grad", "data", "node", "hooks"}
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")


def signature(function) -> str:
    """Parameters as a stub writes them: defaults become `...`."""
    parts, keyword_only = [], False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            keyword_only = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not keyword_only:
                parts.append("*")
                keyword_only = True
            bare = p.name in ("self", "cls")
            parts.append(p.name + ("" if bare else ": Any") + ("" if p.default is p.empty else " = ..."))
    return ", ".join(parts)


def first_line(thing) -> str:
    text = inspect.getdoc(thing) or ""
    lines = [line for line in text.splitlines() if line and not line.startswith(("Tensor.", "Op.", thing.__name__ + "("))]
    return lines[0].replace('"""', "'''").replace("\\", "\\\\") if lines else ""


def method(name: str, function, indent: str = "    ") -> list[str]:
    doc = first_line(function)
    result = "Tensor" if getattr(function, "__annotations__", {}).get("return") == "Tensor" else "Any"
    head = f"{indent}def {name}({signature(function)}) -> {result}:"
    return [f'{head} ...' if not doc else f'{head}\n{indent}    """{doc}"""']


def tensor_class() -> list[str]:
    body: list[str] = []
    for name in sorted(dir(_core.Tensor)):
        if name.startswith("_") and name not in ("_bump_inplace_version", "_is_initialized", "_shares_memory_with", "_share_data_with"):
            continue
        value = inspect.getattr_static(_core.Tensor, name)
        if name in SPECIAL:
            body.append(f"    @property\n    def {name}(self) -> {SPECIAL[name]}: ...")
            if name in SETTABLE:
                body.append(f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...")
        elif isinstance(value, property):
            body.append(f"    @property\n    def {name}(self) -> Any: ...")
        else:
            body += method(name, value)
    for op in OPERATORS:
        for form in ("", "r"):
            body.append(f"    def __{form}{op}__(self, other: Any) -> Tensor: ...")
    for op in ("lt", "le", "gt", "ge"):
        body.append(f"    def __{op}__(self, other: Any) -> Tensor: ...")
    for op in ("eq", "ne"):
        body.append(f"    def __{op}__(self, other: Any) -> Tensor: ...  # type: ignore[override]")
    for op in ("neg", "pos", "abs", "invert"):
        body.append(f"    def __{op}__(self) -> Tensor: ...")
    results = {"bool": "bool", "int": "int", "float": "float", "complex": "complex", "index": "int", "len": "int", "hash": "int"}
    for op, result in results.items():
        body.append(f"    def __{op}__(self) -> {result}: ...")
    body += ["    def __getitem__(self, index: Any) -> Tensor: ...", "    def __setitem__(self, index: Any, value: Any) -> None: ...",
             "    def __iter__(self) -> Iterator[Tensor]: ...", "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
             "    def __getattr__(self, name: str) -> Any: ...  # attributes that programs set, and methods of upper packages"]
    return body


def core_stub() -> str:
    lines = ['"""Stub of the compiled core, written by tools/stubs.py."""', "from collections.abc import Iterator", "from typing import Any", ""]
    lines += ["VOCABULARY_VERSION: int", "ABI_VERSION: int", "MAX_RANK: int", "registry: dict[str, Op]", "host: object", ""]
    lines += ["class DType:", '    """The type of a tensor\'s elements."""', "    name: str", "    code: int", "    itemsize: int",
              "    is_floating: bool", "    is_complex: bool", "    is_integer: bool", "    is_bool: bool", ""]
    lines += [f"{name}: DType" for name in sorted(vars(_core)) if isinstance(getattr(_core, name), _core.DType)]
    lines += ["", "class Scalar: ...", "", "class Op:", '    """A primitive; calling it applies it."""', "    name: str", "    input_spec: str",
              "    inputs: tuple[tuple[str, bool, bool], ...]", "    attr_names: tuple[str, ...]", "    attr_types: tuple[Any, ...]",
              "    outputs: tuple[str, ...]", "    view: bool", "    differentiable: int", "    vjp_rule: Any",
              "    def __init__(self, name: str, input_spec: str, attr_names: tuple[str, ...], attr_types: tuple[Any, ...],",
              "                 outputs: tuple[str, ...], view: bool) -> None: ...",
              "    def __call__(self, *inputs: Any, **attrs: Any) -> Any: ..."]
    for name in sorted(vars(_core.Op)):
        if not name.startswith("_") and callable(getattr(_core.Op, name)):
            lines += method(name, getattr(_core.Op, name))
    lines += ["", "class Generator:"]
    for name in ("__init__", *sorted(n for n in vars(_core.Generator) if not n.startswith("_"))):
        value = inspect.getattr_static(_core.Generator, name)
        if name == "__init__":
            lines.append("    def __init__(self, seed: int = ...) -> None: ...")
        elif callable(value):
            lines += method(name, value)
        else:
            lines.append(f"    {name}: int")
    lines += ["", "class Tensor:", '    """An n-dimensional array of one dtype on one device."""', *tensor_class(), ""]
    for name in sorted(vars(_core)):
        value = getattr(_core, name)
        if not name.startswith("_") and type(value).__name__ in ("cython_function_or_method", "builtin_function_or_method"):
            lines += method(name, value, "")
    return "\n".join(lines) + "\n"


def ops_stub() -> str:
    lines = ['"""Stub of the vocabulary, written by tools/stubs.py: every op with its inputs and attributes."""',
             "from wherry_tensor._core import VOCABULARY_VERSION as VOCABULARY_VERSION", "from wherry_tensor._core import Op as Op",
             "from wherry_tensor._core import registry as registry", ""]
    lines += [f"{name}: Op  # {repr(op)[3:]}" for name, op in sorted(ops.registry.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    out_of_date = []
    for path, text in ((ROOT / "_core.pyi", core_stub()), (ROOT / "ops/__init__.pyi", ops_stub())):
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                out_of_date.append(path.name)
        else:
            path.write_text(text)
    if out_of_date:
        raise SystemExit(f"out of date: {', '.join(out_of_date)} (of wherry-tensor {wherry_tensor.__version__}). Run python tools/stubs.py")


main()
