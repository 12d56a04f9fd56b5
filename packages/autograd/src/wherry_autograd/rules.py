"""The vjp column: how the cotangent of an op's output becomes cotangents of its inputs.

    @vjp.rule(ops.divide)
    def vjp_divide(ct, out, x, y):
        return ct / y, -ct * out / y

A rule takes the cotangent of the output, the output, the inputs, and the attributes by keyword. It
is written with ops alone, so it differentiates again and can be captured. Of an op with several
outputs, `ct` and `out` are tuples, with None where no cotangent arrives. It returns one cotangent
for each input, None where there is none; the engine sums broadcast axes back, casts to the input's
dtype and accumulates.

What the signature says is kept in memory from the forward pass until the backward pass:

- a parameter whose name begins with an underscore (`_x`, `_out`, `*_xs`) is not kept: the rule gets
  a tensor without data, good for its shape and dtype;
- a keyword-only parameter `needs` receives one bool for each input: whether anybody wants its
  cotangent. A rule that asks for it can return None for the others instead of computing in vain.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from wherry_tensor._core import Op
from wherry_tensor.columns import Column, place_of

__all__ = ["Signature", "not_differentiable", "vjp"]

_HAS_RULE, _NOT_DIFFERENTIABLE = 1, 2  # values of Op.differentiable; 0 says nothing
_HAS_VARARGS, _HAS_VARKEYWORDS = 4, 8  # bits of co_flags


class Signature(NamedTuple):
    """What the engine must know about a rule before it calls it."""

    function: Callable[..., Any]
    kept_inputs: tuple[bool, ...]  # one for each declared input; a variadic one is a single entry
    kept_for: tuple[tuple[int, ...] | None, ...]  # keep the input only if one of these needs a cotangent; None: always
    kept_outputs: tuple[bool, ...]
    wants_needs: bool
    again: bool = False  # the first output is computed once more where later ops would keep it


class VjpColumn(Column):
    """The table from ops to rules. A rule is read once, when it is registered."""

    def rule(  # type: ignore[override]
        self,
        op: Op,
        *,
        keep_outputs: Iterable[str] | None = None,
        keep_for: Mapping[str, str] | None = None,
        again: bool = False,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: the function becomes the gradient rule of `op`.

        Args:
            op: the op.
            keep_outputs: the outputs to keep, by their declared names, where not all are used.
            keep_for: an input, and the inputs ("a, b") whose cotangents use it. Where none of these
                is wanted, the input is not kept, and the rule gets it without data.
            again: computing the first output is cheap beside what later ops do with it: those that would keep a large one
                call the op once more in the backward pass instead, with inputs that this rule keeps or that are parameters.
        """
        register = super().rule(op)

        def read_and_register(function: Callable[..., Any]) -> Callable[..., Any]:
            signature = _read(op, function, keep_outputs, keep_for or {})._replace(again=again)
            register(function)
            op.vjp_rule = signature
            op.differentiable = _HAS_RULE
            return function

        return read_and_register

    def exempt(self, op: Op, reason: str, *, seldom: bool = False) -> None:
        super().exempt(op, reason, seldom=seldom)
        op.differentiable = _NOT_DIFFERENTIABLE


SERVES_VOCABULARY = 5  # what the rules of this package were written for

vjp = VjpColumn("vjp", "wherry-autograd", "the VJP of its decomposition", serves=SERVES_VOCABULARY)


def not_differentiable(op: Op, reason: str) -> None:
    """State that `op` is not differentiable, and why: its outputs stop gradients."""
    vjp.exempt(op, reason)


def _read(
    op: Op, function: Callable[..., Any], keep_outputs: Iterable[str] | None, keep_for: Mapping[str, str]
) -> Signature:
    # Read from the code object: `inspect` is slow to load, and there are hundreds of rules.
    code = function.__code__
    keywords = set(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    given = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & _HAS_VARARGS:
        given.append("*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    wants_needs = "needs" in keywords
    names = [name for name, _optional, _variadic in op.inputs]
    expected = ["ct", "out", *(f"*{name}" if variadic else name for name, _optional, variadic in op.inputs)]
    if len(given) != len(expected) or any(g.startswith("*") != e.startswith("*") for g, e in zip(given, expected)):
        raise TypeError(
            f"vjp rule of '{op.name}' at {place_of(function)} does not take what the op has. "
            f"Got parameters ({', '.join(given)}), expected ({', '.join(expected)}), each perhaps with an "
            f"underscore in front. Change the rule's signature."
        )
    if keywords - {"needs"} != set(op.attr_names) or code.co_flags & _HAS_VARKEYWORDS:
        raise TypeError(
            f"vjp rule of '{op.name}' at {place_of(function)} does not take the op's attributes. "
            f"Got keyword-only parameters {sorted(keywords - {'needs'})}, expected {sorted(op.attr_names)}. "
            f"Put them after a `*`."
        )
    for word in (*keep_for, *(keep_outputs or ())):
        if word not in (*names, *op.outputs):
            raise TypeError(
                f"vjp rule of '{op.name}' at {place_of(function)} says how to keep '{word}', which the op does not "
                f"have. Got '{word}', expected one of {', '.join((*names, *op.outputs))}. Check the spelling."
            )

    kept_inputs = tuple(not name.lstrip("*").startswith("_") for name in given[2:])
    kept_for = tuple(
        tuple(names.index(word.strip()) for word in keep_for[name].split(",")) if name in keep_for else None
        for name in names
    )
    keeps_out = not given[1].startswith("_")
    kept_outputs = tuple(keeps_out and (keep_outputs is None or name in keep_outputs) for name in op.outputs)
    return Signature(function, kept_inputs, kept_for, kept_outputs, wants_needs)
