"""Sequences of different lengths in programs: a variable that holds their rows knows the variables that hold their offsets.

`static.data(lod_level=1)` makes both, and an Executor feeds both from a LoDTensor. Functions that work row by row hand the offsets on
(`keeps_offsets`); those of `static.nn.sequence_*` use them.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from wherry_program.program.ir import Variable
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["keeps_offsets", "offsets_of", "with_offsets"]

Function = TypeVar("Function", bound=Callable[..., Any])


def offsets_of(x: Any, what: str) -> tuple[Tensor, ...]:
    """The variables with the offsets of the sequences in `x`, from the outermost level in.

    Raises:
        ValueError: `x` holds no sequences.
    """
    found = known_offsets(x)
    if not found:
        name = getattr(x, "name", None)
        raise InvalidArgumentError(
            f"{what}: the input holds no sequences. Got '{name}' without offsets, expected rows of sequences. Declare "
            f"static.data(..., lod_level=1) and feed static.create_lod_tensor(array, [lengths]). What other functions than those of static.nn "
            f"compute from it loses the offsets: static.nn.sequence_expand_as and sequence_unpad give them back."
        )
    return found


def known_offsets(x: Any) -> tuple[Tensor, ...]:
    """The same, () where there are none. Element-wise functions of one input hand on what it has."""
    while isinstance(x, Variable):
        found = x.__dict__.get("offsets")
        if found:
            return found
        node = x.made_by
        if node is None or not node.inputs or node.op.name not in _ROW_BY_ROW:
            return ()
        x = next((one for one in node.inputs if isinstance(one, Variable) and one.ndim == x.ndim and one.bound is None and not one.persistable), None)
    return ()


_ROW_BY_ROW = frozenset(
    "abs add cast ceil copy cos divide dropout dropout_add elu exp floor gelu leaky_relu linear log multiply negate relu relu6 round rsqrt sigmoid "
    "sign silu sin softplus sqrt square subtract swish tanh maximum minimum softmax".split()
)


def with_offsets(x: Tensor, offsets: tuple[Tensor, ...]) -> Tensor:
    """`x` as rows of sequences with these offsets."""
    if isinstance(x, Variable) and offsets:
        x.__dict__["offsets"] = tuple(offsets)
        x.lod_level = len(offsets)
    return x


def keeps_offsets(function: Function) -> Function:
    """A function whose result has a row for each row of its first argument."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        first = args[0] if args else next(iter(kwargs.values()), None)
        first = first[0] if isinstance(first, (list, tuple)) and first else first
        if isinstance(out, Variable) and isinstance(first, Variable):
            found = known_offsets(first)
            if found:
                with_offsets(out, found)
        return out

    return called  # type: ignore[return-value]


explained(globals())
