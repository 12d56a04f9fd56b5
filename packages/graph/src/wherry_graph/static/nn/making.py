"""Shared by the functions of `paddle.static.nn`: creating parameters, and activations."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_nn import functional as F  # noqa: N812
from wherry_nn import unique_name
from wherry_nn.layer import new_parameter
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import name_of
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = ["Maker", "activated"]


class Maker:
    """Makes the parameters of one call.

    Attributes:
        name: the prefix of their names: the user's, or a numbered name of the function.
    """

    def __init__(self, kind: str, name: str | None = None) -> None:
        self.kind = kind
        given = name_of(name, kind)
        self.name = unique_name.generate(kind) if given is None else given

    def parameter(self, shape: Sequence[Any], attr: Any, dtype: Any, is_bias: bool = False, default: Any = None) -> Any:
        """A parameter; None where `attr` is False."""
        for n in shape:
            if type(n) is not int:
                raise InvalidArgumentError(
                    f"{self.kind}: the shape of a parameter is known before the program runs. Got the sizes {short(list(shape))}, expected ints. "
                    f"Give static.data a number in place of None where the parameter depends on it."
                )
        return new_parameter(self.name, list(shape), attr, dtype, is_bias, default)


def activated(x: Tensor, act: str | None, what: str) -> Tensor:
    """`x` after the activation of this name."""
    if act is None:
        return x
    function: Callable[..., Tensor] | None = getattr(F, act, None) or getattr(Tensor, act, None)
    if not isinstance(act, str) or function is None:
        raise InvalidArgumentError(f"{what}: there is no activation of this name. Got {short(act)}, expected 'relu', 'tanh', 'softmax', ...")
    return function(x)


explained(globals())
