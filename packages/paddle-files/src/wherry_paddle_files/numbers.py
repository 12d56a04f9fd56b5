"""Numbers that a file gives as tensors, if they are known while it is read."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wherry_program.program.ir import Variable
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_floating_point
from wherry_tensor.protobuf import ModelFileError
from wherry_tensor.sizes import Size

__all__ = ["constant_parts", "known_number", "number_of"]


def number_of(x: Tensor) -> Any:
    """The one number of a tensor, if it is known when the file is read; for an unknown integer a Size."""
    if not _core.is_symbolic(x):
        return x.item()
    found = known_number(x)
    if found is not None:
        return found
    if is_floating_point(x):
        raise ModelFileError("the file cannot be read: a number that shapes depend on is computed. Expected a constant. Save the model again.")
    return Size("value", x)


def known_number(x: Tensor) -> Any:
    """The number of a tensor that a program makes of a constant; None if it is not known."""
    if not isinstance(x, Variable):
        return None
    bound = x.__dict__.get("folded", None if x.persistable else x.bound)
    if bound is not None:
        return bound.item() if bound.size == 1 else None
    node = x.made_by
    if node is None:
        return None
    if node.type == "full" and all(type(n) is int and n == 1 for n in node.attr("shape")):
        return node.attr("value")
    if node.type in ("reshape", "copy", "cast", "squeeze", "unsqueeze") and node.inputs[0] is not None:
        found = known_number(node.inputs[0])
        return int(found) if found is not None and node.type == "cast" and not is_floating_point(x) else found
    return None


def constant_parts(x: Tensor, values: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """The constants that a tensor is a product or quotient of, as far as a program says: numbers of the file, values of its parameters by name."""
    stack, seen = [x], set()
    while stack:
        y = stack.pop()
        if id(y) in seen:
            continue
        seen.add(id(y))
        node = y.made_by if isinstance(y, Variable) else None
        if node is None:
            known = values.get(y.name) if isinstance(y, Variable) and y.bound is None else y.bound if isinstance(y, Variable) else y
            if known is not None and not _core.is_symbolic(known) and is_floating_point(known):
                yield known
        elif node.type == "full" and is_floating_point(y):
            yield _core.scalar(float(node.attr("value")), _core.float64)
        elif node.type in ("multiply", "divide", "reshape", "copy", "cast", "squeeze", "unsqueeze"):
            stack.extend(z for z in node.inputs if z is not None)
