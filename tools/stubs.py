"""Writes the type stubs of what is compiled or put together at run time, and checks that they are up to date.

    python tools/stubs.py          write them beside the sources
    python tools/stubs.py --check  exit 1, naming them, when some differ from what the installed packages say

They are: `wherry_tensor/_core.pyi` (the compiled core, with the methods that other modules give to Tensor),
`wherry_tensor/ops/__init__.pyi` (the vocabulary), and a stub for each module that takes its names from others by a star or
looks them up when they are asked for: a checker cannot follow either, so the stub says of each public name where it comes from.
"""
from __future__ import annotations

import builtins
import difflib
import functools
import importlib
import inspect
import keyword
import pkgutil
import re
import sys
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from package_table import needed, packages  # noqa: E402

import wherry  # noqa: E402  with it come all methods of Tensor
from wherry_tensor import _core, ops  # noqa: E402
from wherry_tensor.spellings import others_of  # noqa: E402

CORE = packages()["tensor"].source.parent
SPECIAL = {  # what introspection cannot say: attributes of Tensor
    "shape": "list[int]", "strides": "list[int]", "ndim": "int", "size": "int", "dtype": "DType", "itemsize": "int", "nbytes": "int",
    "stop_gradient": "bool", "persistable": "bool", "name": "str", "is_leaf": "bool", "grad": "Tensor | None", "inplace_version": "int",
    "node": "Any", "hooks": "Any", "T": "Tensor", "data": "Tensor", "place": "Any", "layout": "str", "type": "Any", "grad_fn": "Any",
    "block": "Any",
}
SETTABLE = {"stop_gradient", "persistable", "name", "grad", "data", "node", "hooks"}
RESULTS = {"numpy": "np.ndarray[Any, Any]", "tolist": "Any", "item": "Any", "element_size": "int"}  # of compiled methods
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
IN_OTHER_ORDER = ("gather", "index_add", "index_add_", "index_select", "scatter", "scatter_")  # PyTorch's calls of them begin with the axis
OTHER_NAMES = {"pow": "exponent", "bmm": "mat2", "mm": "mat2", "outer": "vec2", "dot": "tensor", "arange": "end", "range": "end", "isin": "elements"}
OTHER_NAMES |= dict.fromkeys("concat cat stack hstack vstack dstack column_stack row_stack block_diag cartesian_prod".split(), "tensors")
PRIVATE_METHODS = ("_bump_inplace_version", "_is_initialized", "_shares_memory_with", "_share_data_with")


# ---- signatures -----------------------------------------------------------------------------------


class Annotations:
    """Annotations of functions as a stub may repeat them, and the imports that they then need."""

    def __init__(self, here: str) -> None:
        self.here = here
        self.imports: set[str] = set()

    def of(self, function: Any, name: str) -> str:
        """The annotation of a parameter or of `return`; Any where there is none, or one that cannot be named here."""
        text = getattr(function, "__annotations__", {}).get(name)
        if text is None:
            return "Any"
        text = text if isinstance(text, str) else inspect.formatannotation(text)
        scope = getattr(inspect.unwrap(function), "__globals__", {})
        for word in set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", re.sub(r"(['\"]).*?\1", "", text))):
            if hasattr(builtins, word) or word == "Any":
                continue
            home = home_of(word, scope.get(word))
            if home is None or (self.here == "wherry_tensor._core" and home.startswith("wherry_") and not home.startswith("wherry_tensor")):
                return "Any"  # what stands above the core is not known to it
            if home != self.here:
                self.imports.add(f"from {home} import {word}")
        return text

    def signature(self, function: Any, of_method: bool = False) -> str:
        """Parameters as a stub writes them: defaults become `...`. The first one of a method is `self`."""
        parts, keyword_only = [], False
        for p in inspect.signature(function).parameters.values():
            kind = self.of(function, p.name)
            if of_method and not parts and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                parts.append("self")
            elif p.kind is p.VAR_POSITIONAL:
                parts.append(f"*{p.name}: {kind}")
                keyword_only = True
            elif p.kind is p.VAR_KEYWORD:
                parts.append(f"**{p.name}: {kind}")
            else:
                if p.kind is p.KEYWORD_ONLY and not keyword_only:
                    parts.append("*")
                    keyword_only = True
                parts.append(f"{p.name}: {kind}" + ("" if p.default is p.empty else " = ..."))
        return ", ".join(parts)

    def method(self, name: str, function: Any, indent: str = "    ", result: str | None = None, of_method: bool | None = None) -> str:
        """`def name(...) -> ...:` with the first line of the docstring; where there are other spellings, one of several."""
        of_method = bool(indent) if of_method is None else of_method
        signature = self.signature(function, of_method)
        result = result or self.of(function, "return")
        doc = first_line(function)
        body = f'\n{indent}    """{doc}"""' if doc else " ..."
        others = [f"{indent}def {name}({one}) -> {result}: ..." for one in self.spellings(function, of_method)]
        if not others:
            return f"{indent}def {name}({signature}) -> {result}:{body}"
        self.imports.add("from typing import overload")
        return "\n".join(f"{indent}@overload\n{one}" for one in [f"{indent}def {name}({signature}) -> {result}:{body}", *others])

    def spellings(self, function: Any, of_method: bool) -> list[str]:
        """The parameters in the other spellings of a function (`wherry_tensor.spellings`): by other names, and a list as several arguments."""
        others = others_of(function)
        parameters = list(inspect.signature(function).parameters.values())
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
            return []  # anything goes
        first, rest = (["self"], parameters[1:]) if of_method else ([], parameters)
        own = {p.name for p in rest}
        found_names: dict[str, list[str]] = {}
        for other, meant in others.items():
            if meant in own and other not in own and other.isidentifier() and not keyword.iskeyword(other):
                found_names.setdefault(meant, []).append(other)
        names = {meant: other_name(function, self.of(function, meant), found) for meant, found in found_names.items()}
        besides = [other for other, meant in others.items() if other == meant and other not in own]

        def written(p: inspect.Parameter, name: str, optional: bool = False) -> str:
            return f"{name}: {self.of(function, p.name)}" + ("" if p.default is p.empty and not optional else " = ...")

        extra, found = [f"{name}: Any = ..." for name in besides], []
        if names or besides:
            ordered = [p for p in rest if p.kind is not p.KEYWORD_ONLY]
            by_name = [p for p in rest if p.kind is p.KEYWORD_ONLY]
            head = [written(p, names.get(p.name, p.name)) for p in ordered]
            last = [written(p, p.name) for p in ordered if p.name in names and p.default is not p.empty]  # the own name does as well
            last += [written(p, name) for p in by_name for name in (p.name, names.get(p.name)) if name]
            found.append(", ".join([*first, *head, *(["*", *last, *extra] if last or extra else [])]))
        at = getattr(function, "list_at", -1) - of_method
        if 0 <= at < len(rest):
            kind = "Any" if function.__name__ in IN_OTHER_ORDER else "int | Tensor"
            last = [written(p, name, True) for p in rest[at + 1 :] for name in (p.name, names.get(p.name)) if name]
            if kind != "Any" and self.here != "wherry_tensor._core":
                self.imports.add("from wherry_tensor._core import Tensor")
            found.append(", ".join([*first, *(written(p, p.name) for p in rest[:at]), f"*{rest[at].name}: {kind}", *last, *extra]))
        return found


def other_name(function: Any, kind: str, names: list[str]) -> str:
    """Of the other names of a parameter, the one that PyTorch's function has."""
    special = OTHER_NAMES.get(function.__name__)
    order = ("tensors", "input") if kind.startswith(("Sequence[Tensor", "list[Tensor")) else ("input", "other", "dim", "dims", "size", "tensor")
    return next((name for name in (special, *order) if name in names), names[0])


@functools.cache
def text_of(module: str) -> str:
    """The source of a module; empty for those that are compiled."""
    file = getattr(sys.modules[module], "__file__", None) or ""
    return Path(file).read_text() if file.endswith(".py") else ""


def home_of(name: str, value: Any) -> str | None:
    """The module in which `value` is defined as `name`; None where none of ours or of the standard library says so."""
    module = getattr(value, "__module__", None)
    if module == "wherry_tensor._core":
        return module
    if isinstance(module, str) and getattr(sys.modules.get(module), name, None) is value and not isinstance(value, types.UnionType):
        return module
    if name in ("Callable", "Sequence", "Iterator", "Iterable", "Mapping", "Generator") and value is not None:
        return "collections.abc" if value is getattr(importlib.import_module("collections.abc"), name) else None
    if isinstance(value, _core.DType):
        return "wherry_tensor._core" if hasattr(_core, name) else None
    defined = re.compile(rf"(?m)^{re.escape(name)}\s*(:[^=]+)?=")
    for module in sorted(m for m in sys.modules if m.partition(".")[0].partition("_")[0] == "wherry"):
        if name in vars(sys.modules[module]) and vars(sys.modules[module])[name] is value and defined.search(text_of(module)):
            return module
    return None


def first_line(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    lines = [line for line in text.splitlines() if line and not line.startswith(("Tensor.", "Op.", thing.__name__ + "("))]
    return lines[0].replace('"""', "'''").replace("\\", "\\\\") if lines else ""


# ---- the core -------------------------------------------------------------------------------------


def tensor_class(known: Annotations) -> list[str]:
    body: list[str] = []
    for name in sorted(dir(_core.Tensor)):
        if name.startswith("_") and name not in PRIVATE_METHODS:
            continue
        value = inspect.getattr_static(_core.Tensor, name)
        if not hasattr(_core.Tensor, name):
            continue  # a name of another library, which only says what it is called here
        if isinstance(value, staticmethod):
            body.append("    @staticmethod\n" + known.method(name, value.__func__, of_method=False))
            continue
        if name in SPECIAL:
            body.append(f"    @property\n    def {name}(self) -> {SPECIAL[name]}: ...")
            if name in SETTABLE:
                body.append(f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...")
        elif isinstance(value, property):
            body.append(f"    @property\n    def {name}(self) -> {known.of(value.fget, 'return')}: ...")
            if value.fset is not None:
                body.append(f"    @{name}.setter\n    def {name}(self, value: {known.of(value.fget, 'return')}) -> None: ...")
        else:
            body.append(known.method(name, value, result=RESULTS.get(name)))
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
             "    def __array__(self, dtype: Any = ..., copy: Any = ...) -> np.ndarray[Any, Any]: ...",
             "    def __buffer__(self, flags: int, /) -> memoryview: ...",
             "    def __dlpack__(self, **options: Any) -> Any: ...", "    def __dlpack_device__(self) -> tuple[int, int]: ...",
             "    def __deepcopy__(self, memo: Any) -> Tensor: ..."]
    return body


def core_stub() -> str:
    known = Annotations("wherry_tensor._core")
    lines = ["VOCABULARY_VERSION: int", "ABI_VERSION: int", "MAX_RANK: int", "registry: dict[str, Op]", "host: object", ""]
    lines += ["class DType:", '    """The type of a tensor\'s elements."""', "    name: str", "    code: int", "    itemsize: int",
              "    is_floating: bool", "    is_complex: bool", "    is_integer: bool", "    is_bool: bool", ""]
    lines += [f"{name}: DType" for name in sorted(vars(_core)) if isinstance(getattr(_core, name), _core.DType)]
    lines += ["", *op_class(known)]
    for name, value in sorted(vars(_core).items()):
        if isinstance(value, type) and value.__module__ == _core.__name__ and value not in (_core.DType, _core.Op, _core.Tensor):
            lines += ["", *other_class(name, value, known)]
    lines += ["", "class Tensor:", '    """An n-dimensional array of one dtype on one device."""', *map(with_builtins, tensor_class(known)), ""]
    for name in sorted(vars(_core)):
        value = getattr(_core, name)
        if not name.startswith("_") and type(value).__name__ in ("cython_function_or_method", "builtin_function_or_method"):
            lines.append(known.method(name, value, ""))
    head = ['"""Stub of the compiled core, written by tools/stubs.py."""']
    imports = sorted({*known.imports, "from collections.abc import Iterator", "from typing import Any", "import builtins", "import numpy as np"})
    return "\n".join([*head, *imports, "", *lines]) + "\n"


def with_builtins(line: str) -> str:
    """A line of a stub in which `int`, `float` or `bool` are other things than the types of these names."""
    return line if line.lstrip().startswith('"') else re.sub(r"(?<![\w.])(bool|int|float)(?=[\s,|=:)\]]|$)", r"builtins.\1", line)


def other_class(name: str, kind: type, known: Annotations) -> list[str]:
    """A small class: its parameters, methods and numbers."""
    lines = [f"class {name}:", f'    """{first_line(kind)}"""' if kind.__doc__ else ""]
    lines += ["    def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]
    for public in sorted(n for n in vars(kind) if not n.startswith("_")):
        value = inspect.getattr_static(kind, public)
        lines.append(known.method(public, value) if callable(value) else f"    {public}: Any")
    return [line for line in lines if line]


def op_class(known: Annotations) -> list[str]:
    """Op as it is: its parameters by the signature of the compiled class, its attributes as `vars` lists them."""
    kinds = {
        "name": "str", "input_spec": "str", "inputs": "tuple[tuple[str, bool, bool], ...]", "attr_names": "tuple[str, ...]",
        "attr_types": "tuple[Any, ...]", "outputs": "tuple[str, ...]", "view": "bool", "differentiable": "int",
    }
    members = {name: inspect.getattr_static(_core.Op, name) for name in sorted(vars(_core.Op)) if not name.startswith("_")}
    lines = ["class Op:", '    """A primitive; calling it applies it."""']
    lines += [f"    {name}: {kinds.get(name, 'Any')}" for name, member in members.items() if not callable(member)]
    parameters = "self, *args: Any, **kwargs: Any"
    if _core.Op.__init__.__doc__ and "Initialize self" not in _core.Op.__init__.__doc__:
        parameters = known.signature(_core.Op.__init__, of_method=True)
    lines.append(f"    def __init__({parameters}) -> None: ...")
    lines.append("    def __call__(self, *inputs: Any, **attrs: Any) -> Any: ...")
    return lines + [known.method(name, member) for name, member in members.items() if callable(member)]


def ops_stub() -> str:
    lines = ['"""Stub of the vocabulary, written by tools/stubs.py: every op with its inputs and attributes."""',
             "from wherry_tensor._core import VOCABULARY_VERSION as VOCABULARY_VERSION", "from wherry_tensor._core import Op as Op",
             "from wherry_tensor._core import registry as registry", ""]
    lines += [f"{name}: Op  # {repr(op)[3:]}" for name, op in sorted(ops.registry.items())]
    return "\n".join(lines) + "\n"


# ---- modules that are put together ----------------------------------------------------------------


def collected() -> list[tuple[str, Path]]:
    """Modules with `__all__` that a checker cannot read, and their sources; `ops` has a stub of its own."""
    found = []
    for package in (packages()[name] for name in needed(["wherry"])):
        top = importlib.import_module(package.module)
        names = [package.module, *(m.name for m in pkgutil.walk_packages(top.__path__, f"{package.module}."))]
        for name in names:
            if "testing" in name or name.endswith(("__main__", ".alias")) or name == "wherry_tensor.ops":  # importing alias acts
                continue
            module = importlib.import_module(name)
            path = package.folder / "src" / Path(module.__file__ or "").relative_to(Path(top.__file__ or "").parent.parent)
            own = path.name == "__init__.py" or package.name == "wherry"
            if own and hasattr(module, "__all__") and re.search(r"(?m)^from \S+ import \*|^def __getattr__", text_of(name)):
                found.append((name, path))
    return found


def collected_stub(name: str, spelled: dict[tuple[str, int], str]) -> str:
    """The stub of a module; `spelled` says which one has the spellings of a function, by its name and id."""
    module = importlib.import_module(name)
    known = Annotations(name)
    lines = [f"__all__: {'Any' if hasattr(module, 'list') else 'list[str]'}", *(["__version__: str"] if hasattr(module, "__version__") else [])]
    for public in sorted(set(module.__all__)):
        value = getattr(module, public)
        if isinstance(value, types.ModuleType) and not getattr(value, "__file__", None):
            lines.append(f"{public}: Any")  # made at run time, for a path that Paddle has
        elif isinstance(value, types.ModuleType):
            parent, _, last = value.__name__.rpartition(".")
            lines.append(f"from {parent} import {last} as {public}" if parent else f"import {last} as {public}")
        elif type(value) is _core.Spelled and spelled.setdefault((public, id(value)), name) != name:
            lines.append(f"from {spelled[public, id(value)]} import {public} as {public}")
        elif (getattr(value, "__module__", None) == name and inspect.isfunction(value)) or (
            type(value) is _core.Spelled and known.spellings(value, False)
        ):
            lines.append(known.method(public, value, ""))
        else:
            called = getattr(value, "__name__", public)
            called = called if home_of(called, value) else public
            home = home_of(called, value)
            if isinstance(value, _core.DType):
                home, called = "wherry_tensor._core", f"{value.name}_" if value.name == "bool" else value.name
            if home in (None, name):
                raise SystemExit(f"stubs: {name}.{public} is defined nowhere that a stub could name. Move it into a module of its own")
            if called == public:
                lines.append(f"from {home} import {public} as {public}")
            else:  # a stub hands on only what keeps its name
                lines += [f"from {home} import {called} as _{called}", f"{public} = _{called}"]
    lines = list(dict.fromkeys(lines))
    if hasattr(module, "bool"):  # a dtype, which hides the type of the name
        lines = ["\n".join(with_builtins(one) if one.startswith("def ") else one for one in line.split("\n")) for line in lines]
        if any("builtins." in line for line in lines):
            known.imports.add("import builtins")
    head = [f'"""Stub of {name}, written by tools/stubs.py: where each public name comes from."""']
    handed_on = {line.rpartition(" as ")[0] for line in lines}  # "import x as x", which does for the module itself
    imports = sorted({*known.imports, *(["from typing import Any"] if any("Any" in line for line in lines) else [])} - handed_on)
    lines.sort(key=lambda line: (not line.startswith(("from ", "import ")), line))
    return "\n".join([*head, *imports, *lines]) + "\n"


def main() -> int:
    texts = {CORE / "_core.pyi": core_stub(), CORE / "ops/__init__.pyi": ops_stub()}
    spelled: dict[tuple[str, int], str] = {}
    for name, path in collected():
        texts[path.with_suffix(".pyi")] = collected_stub(name, spelled)
    faults = 0
    for path, text in texts.items():
        before = path.read_text() if path.exists() else ""
        if "--check" not in sys.argv:
            path.write_text(text)
        elif before != text:
            faults += 1
            print(f"stubs: {path.relative_to(packages()['tensor'].folder.parent.parent)} is out of date (wherry {wherry.__version__}):")
            changes = difflib.unified_diff(before.splitlines(), text.splitlines(), "written", "now", lineterm="", n=0)
            print("\n".join(list(changes)[:12]))
    if faults:
        print("stubs: build the packages, then run  python tools/stubs.py")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
