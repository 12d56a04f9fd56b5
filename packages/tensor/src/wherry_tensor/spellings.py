"""Other spellings of arguments, those that Paddle 3 shares with PyTorch: `sum(input=x, dim=1)`, `ones(2, 3)`, `add(x, y, out=z)`.

One table for all functions, so that none knows of it: a module ends with `spelled(globals())`, and its public functions become `Spelled`.
Calls in Paddle 2's spelling pass by in C; any other comes to `respell`, which translates it and calls the function. What no table knows
arrives as it was written, and Python says what is wrong.
"""
from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from wherry_tensor import _core
from wherry_tensor._core import Op, Spelled, Tensor
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["NEW", "Call", "added", "listed", "others_of", "spelled", "takes"]

# What an argument may be called besides: the names of those that it may stand for, of which a function has one.
NAMES: dict[str, tuple[str, ...]] = {
    "boundaries": ("sorted_sequence",),
    "dim": ("axis", "axes"),
    "dim1": ("axis1",),
    "dim2": ("axis2",),
    "dimension": ("axis",),
    "dims": ("perm", "repeat_times", "axis"),
    "elements": ("x",),
    "end": ("stop", "y"),
    "end_dim": ("stop_axis",),
    "eps": ("epsilon",),
    "exponent": ("y",),
    "from": ("min",),
    "from_": ("min",),
    "indices_or_sections": ("num_or_indices", "num_or_sections"),
    "input": ("x", "arr", "values"),
    "lambd": ("threshold", "lam"),
    "m": ("num_columns",),
    "mat1": ("x",),
    "mat2": ("y",),
    "module": ("layer", "sublayer"),
    "modules": ("sublayers",),
    "n": ("num_rows",),
    "num_or_indices": ("num_or_sections",),
    "obj": ("x",),
    "other": ("y",),
    "persistent": ("persistable",),
    "recurse": ("include_sublayers",),
    "return_indices": ("return_mask",),
    "size": ("shape",),
    "sizes": ("shape",),
    "start_dim": ("start_axis",),
    "steps": ("num",),
    "target": ("label",),
    "tensor": ("y",),
    "tensors": ("x",),
    "test_elements": ("test_x",),
    "to": ("max",),
    "vec2": ("y",),
}
# Of one function, before the general names.
OF: dict[str, dict[str, str]] = {
    "solve": {"A": "x", "B": "y"},
    "to_tensor": {"device": "place"},
    "swapaxes": {"perm": "axis0"},
    "state_dict": {"prefix": "structured_name_prefix"},
    "view": {"dtype": "shape_or_dtype", "size": "shape_or_dtype"},
}
# Where PyTorch's function of the name gives something else, its spelling is an error and says so.
_ELSEWHERE = {
    **dict.fromkeys(("max", "min", "median", "nanmedian"), "compat.{} gives the values and their positions along one axis"),
    "sort": "compat.sort gives the values and their positions",
    "split": "compat.split takes the size of a part, and not their number",
    "unique": "compat.unique sorts, and counts its results otherwise",
}
_REFUSED = frozenset(("input", "dim", "other", "tensor"))


class Call(NamedTuple):
    """A call while it is translated."""

    owner: str  # the function's name; of a constructor, that of the class
    function: Callable[..., Any]
    names: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    after: list[Callable[[Any], Any]]  # what becomes of the result, in order

    def has(self, name: str) -> bool:
        """Whether the call gives this argument of the function."""
        return name in self.kwargs or name in self.names[: len(self.args)]

    def replaced(self, name: str, change: Callable[[Any], Any]) -> Call:
        """The call with another value for an argument that it gives."""
        if name in self.kwargs:
            self.kwargs[name] = change(self.kwargs[name])
            return self
        at = self.names.index(name)
        if at >= len(self.args):
            return self  # the function itself says what is missing
        return self._replace(args=(*self.args[:at], change(self.args[at]), *self.args[at + 1 :]))


_Added = Callable[[Call, Any], Call]
_added: dict[str, dict[str, _Added]] = {}  # by argument and owner
_added_by_need: dict[str, tuple[str, _Added]] = {}  # by argument: whoever has the parameter
# The position of the argument of a function that may be written as several; what that means stands with `listed`.
_LISTS: dict[str, int] = {
    **dict.fromkeys("empty ones rand randn zeros".split(), 0),
    **dict.fromkeys("broadcast_to expand flip new_empty new_ones new_zeros permute repeat reshape reshape_ tile view".split(), 1),
    **dict.fromkeys("gather index_add index_add_ index_select scatter scatter_ transpose transpose_".split(), 1),
}
_listed: dict[str, Callable[[Call, int], Call]] = {}


def added(argument: str, owners: Iterable[str] = (), needs: str = "") -> Callable[[_Added], _Added]:
    """Declare an argument that functions take besides their own: `function(call, value)` gives the call in their spelling.

    Args:
        argument: its name.
        owners: names of the functions, or of the classes whose constructors they are.
        needs: all that have this parameter take it.
    """

    def decorate(function: _Added) -> _Added:
        _added.setdefault(argument, {}).update(dict.fromkeys(owners, function))
        if needs:
            _added_by_need[argument] = needs, function
        return function

    return decorate


def _besides(owner: str, names: tuple[str, ...], argument: str) -> _Added | None:
    """What understands an argument that is none of the function's own, nor another name of one."""
    found = _added.get(argument, {}).get(owner)
    if found is None and argument in _added_by_need:
        needs, function = _added_by_need[argument]
        return function if needs in names else None
    return found


def listed(*owners: str) -> Callable[[Callable[[Call, int], Call]], Callable[[Call, int], Call]]:
    """Declare what calls mean in which an argument is written as several: `function(call, at)` gives the call in the function's spelling.

    Where nothing is declared, the arguments from there on are one list.
    """

    def decorate(function: Callable[[Call, int], Call]) -> Callable[[Call, int], Call]:
        _listed.update(dict.fromkeys(owners, function))
        return function

    return decorate


def spelled(names: dict[str, Any], methods: dict[type, str] | None = None, ops_of: dict[str, Op] | None = None) -> None:
    """Let the public functions of a module, and the constructors of its classes, take other spellings.

    Args:
        names: the module's `globals()`, at its end.
        methods: names of methods that do, too, by class.
        ops_of: ops that functions are, by name: `Spelled` calls them without a detour.
    """
    for name in names["__all__"]:
        value = names.get(name)
        if getattr(value, "__module__", None) != names["__name__"] or type(value) is Spelled:
            continue
        if isinstance(value, types.FunctionType):
            made = _spelled(value, (ops_of or {}).get(name))
            names.update({other: made for other, one in names.items() if one is value})  # other names of it stay such
        elif isinstance(value, type) and type(init := vars(value).get("__init__")) is types.FunctionType:
            value.__init__ = _spelled(init)  # type: ignore[misc]
    for kind, listed_methods in (methods or {}).items():
        for name in listed_methods.split():
            setattr(kind, name, _spelled(vars(kind)[name]))


def _spelled(function: Any, op: Op | None = None) -> Spelled:
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = inner.__code__
    return Spelled(function, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], _LISTS.get(function.__name__, -1), op)


def _owner_of(function: Any) -> str:
    """Under which name the tables have a function: its own, or that of the class that it makes."""
    path = function.__qualname__.split(".")
    return path[-2] if path[-1] == "__init__" and len(path) > 1 else path[-1]


def takes(function: Any, name: str) -> bool:
    """Whether a function, or constructor, takes an argument of this name besides its own."""
    return type(function) is Spelled and (
        _meant(_owner_of(function), function.names, name) is not None or _besides(_owner_of(function), function.names, name) is not None
    )


def others_of(function: Any) -> dict[str, str]:
    """The other names of a function's arguments, with those they stand for; an argument that it takes besides stands for itself."""
    if type(function) is not Spelled:
        return {}
    owner, names = _owner_of(function), function.names
    found = {name: meant for name in (*OF.get(owner, ()), *NAMES) if (meant := _meant(owner, names, name)) is not None}
    return found | {name: name for name in (*_added, *_added_by_need) if name not in names and _besides(owner, names, name) is not None}


def _meant(owner: str, names: tuple[str, ...], name: str) -> str | None:
    of = OF.get(owner, {})
    if name in of:
        return of[name]
    if owner in _ELSEWHERE and name in _REFUSED:
        return None
    return next((one for one in NAMES.get(name, ()) if one in names), None)


def respell(function: Spelled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call that is not written as the function has its arguments: what the core asks."""
    owner, names, at = _owner_of(function), function.names, function.list_at
    inner: Any = function.__wrapped__  # type: ignore[attr-defined]
    call = Call(owner, inner, names, args, kwargs, [])
    if at >= 0 and len(args) > at + 1:
        call = _listed[inner.__name__](call, at) if inner.__name__ in _listed else call._replace(args=(*args[:at], list(args[at:])))
    for name in [one for one in kwargs if one not in names]:
        special = _added.get(name, {}).get(owner)
        meant = None if special is not None else _meant(owner, names, name)
        if meant is not None:
            if call.has(meant):
                raise TypeError(
                    f"{owner}: '{name}' is another name of '{meant}'. Got both, expected one of them. Leave {name}= out."
                )
            kwargs[meant] = kwargs.pop(name)
        elif (one := _besides(owner, names, name)) is not None:
            call = one(call, kwargs.pop(name))
        elif owner in _ELSEWHERE and name in _REFUSED:
            near = {"input": "x", "dim": "axis"}.get(name)
            raise TypeError(
                f"{owner}() got an unexpected keyword argument {name!r}. {'Did you mean ' + repr(near) + '? ' if near in names else ''}"
                f"{_ELSEWHERE[owner].format(owner)}, as PyTorch's {owner} does."
            )
    try:
        result = call.function(*call.args, **call.kwargs)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        raise TypeError(*error.args) from None  # Python refused the call, which is the user's: so it is raised on purpose
    for change in call.after:
        result = change(result)
    return result


# ---- arguments besides ---------------------------------------------------------------------------------------------------------------------

_OUT = """abs acos acosh add all amax amin any arange argmax argmin asin asinh atan atan2 atanh baddbmm bitwise_and bitwise_left_shift
    bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm bucketize cat ceil cholesky clip complex concat cos cosh cross
    cumprod cumsum diag diff divide dot empty equal erf erfinv exp expm1 eye fft fft2 fftfreq fftn fftshift floor floor_divide
    frac full gather gcd greater_equal greater_than hfft hfft2 hfftn hypot ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn
    index_add index_select inverse irfft irfft2 irfftn isfinite lcm lerp less_equal less_than lgamma linspace log log10 log1p log2
    log_softmax logaddexp logical_and logical_not logical_or logical_xor logspace logsumexp masked_select matmul maximum mean
    median minimum mm msort multinomial multiply mv neg nonzero norm normal normalize not_equal ones outer polar pow prod quantile
    rand randn randperm range reciprocal relu remainder rfft rfft2 rfftfreq rfftn round rsqrt scatter searchsorted sigmoid sign
    silu sin sinh slogdet softmax solve sqrt square stack standard_normal std subtract sum svd take_along_axis tan tanh topk tril
    triu trunc uniform var vector_norm where zeros""".split()
NEW = """arange empty empty_like eye fftfreq full full_like linspace logspace new_empty new_full new_ones new_zeros ones ones_like rand
    rand_like randint randint_like randn randn_like randperm range rfftfreq standard_normal uniform zeros zeros_like""".split()


@added("out", _OUT)
def _out(call: Call, out: Any) -> Call:
    """The tensors in `out` become the results, with their shapes and history, as in Paddle 3."""
    if out is None:
        return call

    def become(target: Any, value: Any) -> Any:
        if isinstance(value, Tensor):
            if not isinstance(target, Tensor):
                raise InvalidTypeError(f"{call.owner}: 'out' must be a Tensor. Got {short(target)}, expected a tensor for the result. Leave it out.")
            return _core.rebind(target, value)
        if not isinstance(target, (list, tuple)) or len(target) != len(value):
            raise InvalidTypeError(f"{call.owner}: 'out' must hold {len(value)} tensors. Got {short(target)}, expected one for each result.")
        return tuple(become(one, part) for one, part in zip(target, value))

    call.after.append(lambda result: become(out, result))
    return call


@added("pin_memory", NEW)
def _pin_memory(call: Call, pin_memory: Any) -> Call:
    if pin_memory:
        call.after.append(lambda result: result.pin_memory())
    return call


@added("requires_grad", NEW)
def _requires_grad(call: Call, requires_grad: Any) -> Call:
    def asked(result: Tensor) -> Tensor:
        result.stop_gradient = not requires_grad
        return result

    call.after.append(asked)
    return call


_core.set_respell(respell)
