"""Converted functions, with the closure, globals, defaults, file and lines of the original."""
from __future__ import annotations
import __future__

import ast
import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from wherry_graph.jit import logs
from wherry_graph.jit.convert.source import source_of
from wherry_graph.jit.convert.transform import Refused, transformed
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["converted", "converted_function", "ignore_modules", "is_generated", "keep_as_is", "text_of", "why_not"]

_FUTURE = functools.reduce(int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))

# Modules whose functions run as they are: they hold no control flow on the user's tensors, or none that could be converted.
_IGNORED = {
    "wherry", "paddle", "numpy", "scipy", "torch", "matplotlib", "PIL", "pandas", "sklearn", "cv2", "tqdm", "pytest", "_pytest", "pluggy",
    "hypothesis", "IPython", "onnx", "onnxruntime", *sys.stdlib_module_names,
} - {"__main__", "this", "antigravity"}
_ignored_modules: set[str] = set()  # those of ignore_module, by full name

# By code: its conversion. Code is freed with its functions.
_known: weakref.WeakKeyDictionary[CodeType, _Converted] = weakref.WeakKeyDictionary()
_kept: weakref.WeakKeyDictionary[CodeType, bool] = weakref.WeakKeyDictionary()  # marked with not_to_static
_codes: weakref.WeakKeyDictionary[CodeType, bool] = weakref.WeakKeyDictionary()  # converted code -> was it made, or is it the user's function?
_runtime: list[ModuleType] = []  # the run time of converted code, which imports this module
_MARK = "_wherry_converted"  # in the dict of a function: (its code, its defaults, the converted function)


class _Converted(NamedTuple):
    """The conversion of a function's code: other code, or a reason why there is none."""

    filename: str  # equal code in two files is one key
    reason: str | None
    code: CodeType
    text: str = ""
    runtime: str = ""  # the name of the run time in the code


def converted(callee: Any) -> Any:
    """The function to call in place of `callee` while a program is captured: its converted form, or itself."""
    if isinstance(callee, FunctionType):
        return callee if _stays(callee) else converted_function(callee)
    if isinstance(callee, MethodType):
        function = callee.__func__
        if isinstance(function, FunctionType) and not _stays(function):
            return MethodType(converted_function(function), callee.__self__)
        return callee
    if isinstance(callee, functools.partial):
        function = converted(callee.func)
        return callee if function is callee.func else functools.partial(function, *callee.args, **callee.keywords)
    if isinstance(callee, (type, types.BuiltinFunctionType, types.MethodWrapperType)):
        return callee
    call = getattr(type(callee), "__call__", None)  # noqa: B004  the function itself, to look at
    if isinstance(call, FunctionType) and not _stays(call):
        return MethodType(converted_function(call), callee)
    return callee


def converted_function(function: FunctionType) -> FunctionType:
    """`function` with its control flow asked at run time; itself if it cannot be converted (`why_not`)."""
    code, defaults, known = function.__dict__.get(_MARK, (None, None, None))
    if code is function.__code__ and defaults is function.__defaults__:
        return known  # type: ignore[no-any-return]
    found = _converted_code(function)
    if found.reason is not None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[found.runtime] = types.CellType(_runtime[0])
    closure = tuple(cells[name] for name in found.code.co_freevars)
    out = FunctionType(found.code, function.__globals__, function.__name__, function.__defaults__, closure)
    functools.update_wrapper(out, function)
    del out.__wrapped__  # type: ignore[attr-defined]
    out.__dict__.pop(_MARK, None)
    out.__kwdefaults__ = function.__kwdefaults__
    function.__dict__[_MARK] = function.__code__, function.__defaults__, out
    return out


def calls_into(runtime: ModuleType) -> None:
    """Set the run time of converted code; called by `convert`."""
    _runtime[:] = [runtime]


def why_not(function: Callable[..., Any]) -> str | None:
    """Why a function cannot be converted; None if it can."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return f"it is not a Python function but {type(function).__name__}"
    return _converted_code(function).reason


def text_of(function: Callable[..., Any]) -> str:
    """The converted code, as text.

    Raises:
        ValueError: it cannot be converted.
    """
    function = getattr(function, "__func__", function)
    reason = why_not(function)
    if reason is not None:
        name = getattr(function, "__qualname__", None) or short(function)
        raise ValueError(f"code: {name} has no converted form: {reason}. Expected a Python function whose source can be read.")
    return _converted_code(function).text  # type: ignore[arg-type]


def keep_as_is(function: Callable[..., Any]) -> None:
    """Never convert this function (`not_to_static`)."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if isinstance(code, CodeType):
        _kept[code] = True


def ignore_modules(modules: Iterable[ModuleType | str]) -> None:
    """Never convert functions of these modules and their submodules."""
    for module in modules:
        if not isinstance(module, (str, ModuleType)):
            raise InvalidTypeError(
                f"ignore_module: this is not a module. Got {short(module)}, expected modules or their names. Write [json, 'numpy']."
            )
        _ignored_modules.add(module if isinstance(module, str) else module.__name__)


def is_generated(code: CodeType) -> bool:
    """Whether it is the code of a function that the conversion made, for the body of a loop say."""
    return _codes.get(code, False)


def _stays(function: FunctionType) -> bool:
    code = function.__code__
    if code in _codes or code in _kept:
        return True
    module = function.__globals__.get("__name__") or ""
    root = module.partition(".")[0]
    if root in _IGNORED or root.startswith("wherry_"):
        return True
    return any(module == one or module.startswith(f"{one}.") for one in _ignored_modules)


def _converted_code(function: FunctionType) -> _Converted:
    code = function.__code__
    if code in _kept:
        return _Converted(code.co_filename, "it is marked with not_to_static", code)
    known = _known.get(code)
    if known is None or known.filename != code.co_filename:
        made = _make(function)
        known = _Converted(code.co_filename, made, code) if isinstance(made, str) else made
        _known[code] = known
        logs.converted(function, known.text, known.reason)
    return known


def _make(function: FunctionType) -> _Converted | str:
    code = function.__code__
    source = source_of(function)
    if source is None:
        return f"its source cannot be read from {code.co_filename!r}, line {code.co_firstlineno}; write it in a file"
    node, class_name, filename = source
    try:
        node, runtime = transformed(node, class_name, code.co_freevars)
    except Refused as refused:
        return str(refused)
    name = getattr(node, "name", "<lambda>")
    where = node.body if isinstance(node, ast.Lambda) else node.body[0]
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    for arg in ast.walk(node.args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    if isinstance(node, ast.Lambda):
        inner: ast.stmt = ast.Return(node)
        text = ast.unparse(node)
    else:
        decorators, node.decorator_list, node.returns = node.decorator_list, [], None
        inner = node
        text = ast.unparse(node)
        # The first line of the code is the decorator's, as of the original: that is how the source is found again. (It is not run.)
        node.decorator_list = [ast.copy_location(ast.Constant(None), one) for one in decorators[:1]]
    around = [*code.co_freevars, runtime]
    body = [inner]
    if not isinstance(node, ast.Lambda) and name not in around:
        body.insert(0, ast.Global([name]))  # the function that calls itself means the one outside
    outer: Any = ast.FunctionDef(
        name="around", args=ast.arguments([], [ast.arg(n) for n in around], None, [], [], None, []), body=body, decorator_list=[],
    )
    if class_name is not None:
        outer = ast.ClassDef(name=class_name, bases=[], keywords=[], body=[outer], decorator_list=[])
    for one in ast.walk(outer):
        if "type_params" in one._fields and not hasattr(one, "type_params"):
            setattr(one, "type_params", [])  # noqa: B010  Python 3.12 wants it, 3.11 does not know it
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([ast.copy_location(outer, where)], []), where))
    compiled = compile(module, filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    found = _find(compiled, ["around"] if class_name is None else [class_name, "around"], name)
    found = _renamed(found, found.co_qualname, code.co_qualname, found.co_name, set(_own_names(node)))
    return _Converted(filename, None, found, text, runtime)


def _find(code: CodeType, path: list[str], name: str) -> CodeType:
    for part in [*path, name]:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code


def _own_names(node: ast.AST) -> Iterable[str]:
    """Names of functions that the user wrote inside of this one."""
    return {n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and not getattr(n, "made", False)}


def _renamed(code: CodeType, before: str, after: str, user: str, own: set[str], made: bool = False) -> CodeType:
    """The code with qualified names as if no function had been made around it; functions that were made bear the user's name."""
    consts = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            mine = one.co_name in own or one.co_name.startswith("<")
            one = _renamed(one, before, after, one.co_name if mine else user, own, not mine)
        consts.append(one)
    qualname = after + code.co_qualname[len(before):] if code.co_qualname.startswith(before) else code.co_qualname
    out = code.replace(co_consts=tuple(consts), co_qualname=qualname if not made else f"{user}", co_name=user if made else code.co_name)
    _codes[out] = made
    return out

