"""Columns: what is known about ops, one table per question.

A column answers one question about every op (its shape, its gradient, its decomposition). It belongs
to one package, which fills it with rules. The core and the tools find every column by its name in
`registry`, so a new kind of knowledge needs no change here.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from wherry_tensor._core import VOCABULARY_VERSION, Op

__all__ = ["Column", "load_families", "no_faster", "registry", "require_vocabulary"]

registry: dict[str, Column] = {}

no_faster: dict[tuple[str, str], str] = {}
"""Devices ("cpu") and dtypes of 16 bits whose products take as long as those of float32, and why: kernels say so when they are registered."""


class Column:
    """A table from ops to rules.

    Args:
        name: one word; rules are called `<name>_<op>`.
        owner: the distribution that fills the column, as pip spells it.
        when_absent: what happens to an op without a rule, as a phrase for people.
        serves: the VOCABULARY_VERSION that the rules were written for: a number in the package's own
            source, so that rules and a wherry-tensor of different ages find out that they are.
        optional: whether "no rule" is an answer like any other, rather than a gap.

    Raises:
        ImportError: the rules were written for another vocabulary.
        ValueError: the name is taken.
    """

    name: str
    owner: str
    when_absent: str
    rules: dict[Op, Callable[..., Any]]
    optional: bool
    exemptions: dict[Op, str]  # ops that need no rule here, and why

    def __init__(self, name: str, owner: str, when_absent: str, *, serves: int, optional: bool = False) -> None:
        require_vocabulary(f"the column '{name}' of {owner}", owner, serves)
        if name in registry:
            raise ValueError(
                f"column '{name}' of {owner}: the name is taken. "
                f"Got a second column '{name}', expected one; {registry[name].owner} owns it. "
                f"Add rules to that column, or choose another name."
            )
        self.name = name
        self.owner = owner
        self.when_absent = when_absent
        self.optional = optional
        self.rules = {}
        self.seldom: set[Op] = set()
        self.exemptions = {}
        registry[name] = self

    def rule(self, op: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: the function becomes this column's rule for `op`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._refuse_second_answer(op, place_of(function))
            self.rules[op] = function
            return function

        return register

    def exempt(self, op: Op, reason: str, *, seldom: bool = False) -> None:
        """State that `op` has no rule here and needs none, and why. Few programs run one that is `seldom` used."""
        self._refuse_second_answer(op, repr(reason))
        self.exemptions[op] = reason
        if seldom:
            self.seldom.add(op)

    def get(self, op: Op) -> Callable[..., Any] | None:
        """The rule for `op`, or None."""
        return self.rules.get(op)

    def where(self, op: Op) -> str | None:
        """`file:line` of the rule for `op`, or None."""
        rule = self.rules.get(op)
        return None if rule is None else place_of(rule)

    def _refuse_second_answer(self, op: Op, newcomer: str) -> None:
        first = self.where(op) or self.exemptions.get(op)
        if first is not None:
            raise ValueError(
                f"column '{self.name}' already has a rule for '{op.name}'. "
                f"Got a second one at {newcomer}, expected none beside the one at {first}. "
                f"Remove one of the two."
            )

    def __contains__(self, op: Op) -> bool:
        return op in self.rules

    def __repr__(self) -> str:
        return f"<Column '{self.name}' of {self.owner}: {len(self.rules)} rules>"


def load_families(package: str, names: Iterable[str]) -> None:
    """Import the modules of op families, each of which registers what it holds: declarations, or rules of a column.

    Args:
        package: where they stand, as `__name__` of its `__init__.py`.
        names: of the modules.
    """
    for name in names:
        import_module(f"{package}.{name}")


def require_vocabulary(what: str, owner: str, serves: int) -> None:
    """Refuse rules or kernels that were written for another vocabulary, and name the older package.

    Args:
        what: what is refused, as the error begins.
        owner: the distribution that brings it, as pip spells it.
        serves: the VOCABULARY_VERSION it was written for.

    Raises:
        ImportError: that is not the version of this wherry-tensor.
    """
    if serves != VOCABULARY_VERSION:
        outdated = owner if serves < VOCABULARY_VERSION else "wherry-tensor"
        raise ImportError(
            f"{what} does not fit this wherry-tensor. "
            f"Got op vocabulary {serves}, expected {VOCABULARY_VERSION}. "
            f"Bring both to the same version: pip install --upgrade {outdated}"
        )


def place_of(function: Callable[..., Any]) -> str:
    """`file:line` where a function is written, without importing `inspect` (it is slow to load)."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None:  # compiled
        return f"{getattr(function, '__module__', None) or 'a compiled module'} (compiled)"
    return f"{code.co_filename}:{code.co_firstlineno}"
