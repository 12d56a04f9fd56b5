"""Errors of wrong arguments in our words, where a function leaves the checks to Python.

A check of each argument costs every call, and `'NoneType' object is not iterable` names neither function nor argument. So modules whose
functions are not called thousands of times a second end with `explained(globals())`: when Python itself raises inside of such a function,
the arguments are compared with the annotations, and the first that does not fit is named. An error that no argument explains stays
as it is: it is a mistake of ours, or of code that the caller passed.
"""
from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wherry_tensor._core import Tensor
from wherry_tensor.errors import EnforceNotMet, InvalidTypeError, raised_on_purpose, short
from wherry_tensor.sizes import Size

__all__ = ["explained"]

_RAW = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError)
_MOST = 64  # elements of a sequence that are looked at


def explained(names: dict[str, Any]) -> None:
    """Let the public functions of a module, and the classes' `__init__`, say which argument does not fit.

    Args:
        names: the module's `globals()`, at its end. Without `__all__` all names are public that do not begin with an underscore.
    """
    for name in names.get("__all__") or [name for name in names if not name.startswith("_")]:
        value = names.get(name)
        if getattr(value, "__module__", None) != names["__name__"]:
            continue
        init = vars(value).get("__init__") if isinstance(value, type) else None
        if isinstance(value, types.FunctionType) and not hasattr(value, "is_explained"):
            telling = _telling(value, value.__name__)
            names.update({other: telling for other, one in names.items() if one is value})  # other names of it stay such
        elif isinstance(value, type) and isinstance(init, types.FunctionType) and not hasattr(init, "is_explained"):
            setattr(value, "__init__", _telling(init, value.__name__))  # noqa: B010


def _telling(function: Any, name: str) -> Any:
    told = _told

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            found = told(error, function, name, args, kwargs)
            if found is None:
                raise
            raise found from None

    # With the globals of its module, so that tools which ask where a function comes from find it there.
    own = types.FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    functools.update_wrapper(own, function)
    setattr(own, "is_explained", True)  # noqa: B010  another name of it is not wrapped again
    return own


def _told(error: Exception, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """The error that names an argument; None where the one that was raised should stay."""
    if not isinstance(error, _RAW) or isinstance(error, EnforceNotMet) or _is_meant(error):
        return None
    import inspect  # takes long to import, and a page that makes no mistake has no use for it

    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None  # Python says well what is missing
    for key, value in given.items():
        wanted = function.__annotations__.get(key)
        if key in ("self", "args", "kwargs") or wanted is None:
            continue
        try:
            fits = _fits(value, _hint(wanted, function))
        except Exception:  # of an argument that answers no questions, or an annotation for type checkers alone
            continue
        if not fits:
            return InvalidTypeError(
                f"{name}: argument '{key}' is of another kind. Got {short(value)} ({type(value).__name__}), expected {wanted}. help({name}) shows "
                f"what it takes."
            )
    return None


def _is_meant(error: Exception) -> bool:
    """Whether somebody raised it with a text of his own, or code that the caller passed went wrong."""
    at = error.__traceback__.tb_next if error.__traceback__ is not None else None
    if at is None or at.tb_next is None and at.tb_frame.f_code.co_name == "call" or raised_on_purpose(error):
        return True
    while at is not None:
        root = str(at.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if not (root.startswith("wherry") or root == "numpy" or root in sys.stdlib_module_names) or root == "__main__":
            return True
        at = at.tb_next
    return False


def _hint(annotation: Any, function: Any) -> Any:
    """What an annotation means."""
    return eval(annotation, {**vars(typing), **function.__globals__}) if isinstance(annotation, str) else annotation  # of our own source


# In one piece: a table of kinds.
def _fits(value: Any, hint: Any) -> bool:
    """Whether a value may be of this kind; where that is not known, it may."""
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if hint is None or hint is type(None):
        return value is None
    if kind is typing.Literal:
        return any(value is one or value == one for one in inner)
    if hint in (int, float, complex, bool):
        if isinstance(value, (int, Size, int if hint in (int, bool) else float, complex if hint is complex else int)):
            return True
        kind = getattr(getattr(value, "dtype", None), "kind", "f")  # of an array; a tensor's dtype has none
        return getattr(value, "size", 0) == 1 and kind in "biufc" and hasattr(value, "__index__" if hint is int else "__float__")
    if kind is type:
        return isinstance(value, type)
    if Callable in (kind, hint):
        return callable(value)
    each, kind = kind is not None, kind or hint
    if not isinstance(kind, type) or kind in (Any, object):
        return True
    several = issubclass(kind, Iterable) and not issubclass(kind, (str, bytes, Mapping, Tensor))
    if several and hasattr(value, "ndim"):  # tensors and arrays are sequences in all but name
        return bool(value.ndim > 0)
    if not isinstance(value, kind) or each and isinstance(value, (str, bytes)):  # a str is not a list of strs
        return False
    if several and inner and isinstance(value, (list, tuple)) and (kind is not tuple or inner[-1] is ...):
        return all(_fits(one, inner[0]) for one in value[:_MOST])
    return True
