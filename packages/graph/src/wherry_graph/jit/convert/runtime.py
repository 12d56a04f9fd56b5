"""The run time of converted code.

Each function asks whether what decides is symbolic. If not, it does what the Python statement does; if it is, the construct goes
into the program (`choices`, `loops`, `values`). So converted code that runs on tensors with data behaves as it was written.
"""
from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from wherry_graph.jit.convert import choices, loops, values
from wherry_graph.jit.convert.function import converted
from wherry_graph.jit.convert.optional import inverted, is_none, joined, present
from wherry_graph.jit.convert.symbolic import Counted, TensorList, decides_at_run_time, is_unknown_iterable
from wherry_program.program.capture import current_capture
from wherry_tensor._core import Tensor
from wherry_tensor.functions import movement
from wherry_tensor.sizes import Size, largest, smallest

__all__ = [
    "and_", "assertion", "call", "choose", "compare", "decided", "for_", "go_on", "if_", "is_none", "iterated", "not_", "or_", "truth", "while_",
]

Names = tuple[str, ...]
Thunk = Callable[[], Any]


# Statements.

def if_(test: Any, yes: Thunk, no: Thunk, names: Names, changed: Names) -> None:
    """`if test: yes() else: no()`; they bind `names` and change the values of `changed` in place."""
    if decides_at_run_time(test):
        choices.branch(test, yes, no, names, changed)
    elif test:
        yes()
    else:
        no()


def while_(test: Thunk, body: Thunk, names: Names, changed: Names, stops: Thunk | None = None) -> None:
    """`while test(): body()`; it ends before if one of the flags that `stops` gives is set."""
    while True:
        stopped = stops is not None and _any(stops())
        if decides_at_run_time(stopped):
            return loops.loop(test, body, names, changed, stops)
        if stopped:
            return None
        going_on = values.tried(test)
        if decides_at_run_time(going_on):
            return loops.loop(test, body, names, changed, stops)
        if not going_on:
            return None
        body()


def for_(items: Any, body: Callable[[Any], None], names: Names, changed: Names, stops: Thunk | None = None) -> None:
    """`for item in items: body(item)`; it ends before if one of the flags that `stops` gives is set."""
    if is_unknown_iterable(items):
        return loops.counted_loop(Counted.over(items), body, names, changed, stops)
    remaining = iter(items)
    for item in remaining:
        body(item)
        if stops is not None:
            stopped = _any(stops())
            if decides_at_run_time(stopped):
                for one in remaining:  # each round happens if no flag was set until then
                    choices.branch(go_on(*stops()), functools.partial(body, one), _nothing, names, changed, of=body)
                return None
            if stopped:
                return None
    return None


def go_on(*flags: Any) -> Any:
    """Whether none of the flags is set."""
    return not_(_any(flags))


def _any(flags: tuple[Any, ...]) -> Any:
    return or_(flags[0], *(lambda flag=flag: flag for flag in flags[1:]))


def _nothing() -> None:
    pass


# Tests.

def and_(first: Any, *rest: Thunk) -> Any:
    """`first and rest[0]() and ...`"""
    value = first
    for i, following in enumerate(rest):
        if decides_at_run_time(value):
            with present(value, 0):
                others = [thunk() for thunk in rest[i:]]
            return joined(values.logical("and", value, others), value, 0)
        if not value:
            return value
        value = following()
    return value


def or_(first: Any, *rest: Thunk) -> Any:
    """`first or rest[0]() or ...`"""
    value = first
    for i, following in enumerate(rest):
        if decides_at_run_time(value):
            with present(value, 1):
                others = [thunk() for thunk in rest[i:]]
            return joined(values.logical("or", value, others), value, 1)
        if value:
            return value
        value = following()
    return value


def not_(value: Any) -> Any:
    """`not value`"""
    return inverted(values.negated(value), value) if decides_at_run_time(value) else not value


_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def compare(a: Any, symbol: str, b: Any, *rest: Any) -> Any:
    """`a < b`, and `a < b < c` with `"<", lambda: c` in `rest`: `b` is computed once, `c` only if it is needed."""
    if (type(a) is Size or type(b) is Size) and not (type(a) is int and a == -1 or type(b) is int and b == -1):
        result = values.compared(symbol, a, b)  # == -1 is how code asks whether a size is known
    else:
        result = _COMPARE[symbol](a, b)
    if not rest:
        return result
    following, thunk, *others = rest
    return and_(result, lambda: compare(b, following, thunk(), *others))


def choose(test: Any, yes: Thunk, no: Thunk) -> Any:
    """`yes() if test else no()`"""
    if decides_at_run_time(test):
        return choices.choose(test, yes, no)
    return yes() if test else no()


def assertion(test: Any, message: Thunk | None = None) -> Any:
    """What `assert` is to look at: what is symbolic becomes a part of the program, and holds for now."""
    if not decides_at_run_time(test):
        return test
    values.asserted(test, None if message is None else message())
    return True


def truth(test: Any) -> Any:
    """The test of an `if` or `while` that is not converted."""
    if decides_at_run_time(test):
        raise values.refused(
            "the test of this statement depends on a tensor of a captured program, and the statement cannot be captured: it yields or "
            "awaits, jumps out of `finally`, or binds names inside of an expression"
        )
    return test


decided = truth


def iterated(items: Any) -> Any:
    """The items of a `for` that is not converted."""
    if is_unknown_iterable(items):
        raise values.refused(
            "how often this loop runs depends on a tensor of a captured program, and the loop cannot be captured: it yields or awaits, or "
            "jumps out of `finally`"
        )
    return items


# Calls.

def call(callee: Any) -> Any:
    """The function to call in place of `callee`."""
    special = _BUILTINS.get(id(callee))
    return converted(callee) if special is None else special


def _print(*items: Any, **options: Any) -> None:
    if current_capture() is not None and any(map(decides_at_run_time, items)):
        values.printed(items, options)
    else:
        print(*items, **options)


def _len(x: Any) -> Any:
    if isinstance(x, Tensor) and current_capture() is not None and x.ndim:
        return x.shape[0]
    size = getattr(type(x), "symbolic_len", None)
    return len(x) if size is None else size(x)


def _cast(kind: type, dtype: str) -> Callable[..., Any]:
    @functools.wraps(kind, updated=())
    def cast(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options and decides_at_run_time(args[0]):
            return values.cast(args[0], dtype)
        return kind(*args, **options)

    return cast


def _range(*args: Any) -> Any:
    return Counted.range(*args) if 1 <= len(args) <= 3 and any(map(decides_at_run_time, args)) else range(*args)


def _enumerate(*args: Any, **options: Any) -> Any:
    if args and is_unknown_iterable(args[0]):
        return Counted.enumerate(*args, **options)
    return enumerate(*args, **options)


def _zip(*args: Any, **options: Any) -> Any:
    return Counted.zip(*args) if args and any(map(is_unknown_iterable, args)) else zip(*args, **options)


def _reversed(x: Any) -> Any:
    return Counted.over(x).reversed() if is_unknown_iterable(x) else reversed(x)


def _extreme(plain: Callable[..., Any], of_sizes: Callable[[Any, Any], Any], op: str) -> Callable[..., Any]:
    @functools.wraps(plain)
    def extreme(*args: Any, **options: Any) -> Any:
        items = args
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            items = tuple(args[0])
        if options or len(items) < 2 or not any(map(decides_at_run_time, items)):
            return plain(*args, **options)
        if all(isinstance(v, (int, Size)) for v in items):
            return functools.reduce(of_sizes, items)
        return functools.reduce(functools.partial(values.extreme, op), items)

    return extreme


def _folded(plain: Callable[..., Any], fold: Callable[..., Any], empty: bool) -> Callable[..., Any]:
    @functools.wraps(plain)
    def folded(items: Iterable[Any]) -> Any:
        if current_capture() is None:
            return plain(items)
        result: Any = empty
        for item in items:
            result = fold(result, lambda item=item: item)
            if not decides_at_run_time(result):
                result = bool(result)
                if result is not empty:
                    return result
        return result

    return folded


def _with_converted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`map` and others that are given the function to call."""
    @functools.wraps(plain, updated=())
    def of(function: Any, *args: Any, **options: Any) -> Any:
        return plain(call(function) if callable(function) else function, *args, **options)

    return of


def _joining(plain: Callable[..., Any], stacked: bool) -> Callable[..., Any]:
    """`stack` and `concat`, of lists too whose length the program knows."""
    @functools.wraps(plain)
    def joining(x: Any, axis: Any = 0, name: Any = None) -> Any:
        if isinstance(x, TensorList) and isinstance(axis, int):
            return x.joined(axis, stacked)
        return plain(x, axis, name)

    return joining


_BUILTINS: dict[int, Callable[..., Any]] = {
    id(print): _print,
    id(len): _len,
    id(int): _cast(int, "int32"),
    id(float): _cast(float, "float32"),
    id(bool): _cast(bool, "bool"),
    id(range): _range,
    id(enumerate): _enumerate,
    id(zip): _zip,
    id(reversed): _reversed,
    id(builtins.min): _extreme(min, smallest, "minimum"),
    id(builtins.max): _extreme(max, largest, "maximum"),
    id(any): _folded(any, or_, False),
    id(all): _folded(all, and_, True),
    id(movement.stack): _joining(movement.stack, True),
    id(movement.concat): _joining(movement.concat, False),
    id(map): _with_converted(map),
    id(filter): _with_converted(filter),
    id(functools.reduce): _with_converted(functools.reduce),
}
