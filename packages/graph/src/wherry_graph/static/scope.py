"""Scopes: the values of variables between runs, by name."""
from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wherry_graph.static.lod import LoDTensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require, require_tensor
from wherry_tensor.errors import InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["Scope", "ScopeVariable", "chosen_scope", "global_scope", "scope_guard"]


class Scope:
    """The values of variables by name. Scopes nest: names that an inner scope does not have are looked up in its parents.

    Args:
        parent: the scope around it; None if there is none.

    Raises:
        TypeError: `parent` is not a Scope (also a ValueError).

    Source:
        `paddle.static.global_scope` returns one.

    Examples:
        >>> scope = wherry.static.Scope()
        >>> scope.var("w").get_tensor().set([1.0, 2.0])
        >>> scope.find_var("w").get_tensor().shape()
        [2]
        >>> scope.find_var("other") is None
        True
    """

    def __init__(self, parent: Scope | None = None) -> None:
        if parent is not None:
            require(parent, Scope, "Scope", "parent", "Leave it out, or use scope.new_scope().")
        self._parent = parent
        self._values: dict[str, LoDTensor] = {}
        self._kids: list[Scope] = []

    def var(self, name: str) -> ScopeVariable:
        """The variable of this name, made if there is none."""
        if name not in self._values:
            self._values[name] = LoDTensor()
        return ScopeVariable(name, self._values[name])

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of this name, here or in the scopes around; None if there is none."""
        if name in self._values:
            return ScopeVariable(name, self._values[name])
        return None if self._parent is None else self._parent.find_var(name)

    def value(self, name: str) -> Tensor | None:
        """The Tensor of this name, here or in the scopes around; None if there is none."""
        found = self._values.get(name)
        if found is not None and found.tensor is not None:
            return found.tensor
        return None if self._parent is None else self._parent.value(name)

    def put(self, name: str, value: Tensor) -> None:
        """Set the value of this name."""
        require_tensor(value, "Scope.put", "value")
        value.name, value.persistable = name, True
        self._values.setdefault(name, LoDTensor()).tensor = value

    def erase(self, names: Iterable[str]) -> None:
        """Drop variables by name."""
        for name in names:
            self._values.pop(name, None)

    def local_var_names(self) -> list[str]:
        """The names of the variables of this scope."""
        return list(self._values)

    def new_scope(self) -> Scope:
        """A scope in this one."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Remove the scopes in this one."""
        self._kids.clear()


class ScopeVariable:
    """A variable of a scope: a name and a LoDTensor with its value."""

    def __init__(self, name: str, held: LoDTensor) -> None:
        self._name, self._held = name, held

    def name(self) -> str:
        """Its name."""
        return self._name

    def get_tensor(self) -> LoDTensor:
        """What holds its value; `get_tensor().set(array)` changes it, `numpy.array(get_tensor())` copies it."""
        return self._held

    def is_initialized(self) -> bool:
        """Whether it has a value."""
        return self._held.tensor is not None


_global = Scope()
_thread = threading.local()


def global_scope() -> Scope:
    """The scope that is used if none is given.

    Source:
        `paddle.static.global_scope`.

    Examples:
        >>> wherry.static.global_scope().find_var("nothing") is None
        True
    """
    return getattr(_thread, "scope", _global)


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """A context: inside, another scope is the global one.

    Raises:
        TypeError: `scope` is not a Scope.

    Source:
        `paddle.static.scope_guard`.

    Examples:
        >>> scope = wherry.static.Scope()
        >>> with wherry.static.scope_guard(scope):
        ...     wherry.static.global_scope() is scope
        True
    """
    if not isinstance(scope, Scope):
        raise InvalidTypeError(
            f"scope_guard: this is not a scope. Got {short(scope)} ({type(scope).__name__}), expected a Scope. Write static.Scope()."
        )
    before = global_scope()
    _thread.scope = scope
    try:
        yield
    finally:
        _thread.scope = before


def chosen_scope(scope: Any) -> Scope:
    """`scope`, or the global one where it is None."""
    if scope is None:
        return global_scope()
    if not isinstance(scope, Scope):
        raise InvalidTypeError(f"scope: this is not a scope. Got {short(scope)} ({type(scope).__name__}), expected a Scope or None.")
    return scope


def names_of(variables: Sequence[Any]) -> list[str]:
    """The names of variables, given as variables or names."""
    return [x if isinstance(x, str) else x.name for x in variables]


explained(globals())
