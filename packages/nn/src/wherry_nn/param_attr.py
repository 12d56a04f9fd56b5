"""What a layer's arguments `weight_attr` and `bias_attr` say about a parameter."""
from __future__ import annotations

from typing import Any

from wherry_nn.initializer.initializer import Initializer
from wherry_tensor.building import building
from wherry_tensor.errors import InvalidTypeError, UnimplementedError, short

__all__ = ["ParamAttr", "WeightDecayRegularizer", "WeightNormParamAttr", "as_param_attr"]


class WeightDecayRegularizer:
    """What the classes of `paddle.regularizer` have in common: a penalty on the size of a parameter."""


class ParamAttr:
    """Name, first values and training options of a parameter.

    Args:
        name: of the parameter; None lets the layer number it.
        initializer: fills the first values; None leaves that to the layer.
        learning_rate: the factor by which optimizers multiply their learning rate.
        regularizer: takes precedence over that of the optimizer.
        trainable: whether it asks for gradients.
        do_model_average: accepted for compatibility; unused.
        need_clip: whether gradient clipping looks at it.

    Source:
        `paddle.ParamAttr`.

    Examples:
        >>> attr = wherry.ParamAttr(initializer=wherry.nn.initializer.Constant(2.0), learning_rate=0.5)
        >>> weight = wherry.create_parameter([1, 2], "float32", attr=attr)
        >>> print(weight.numpy(), weight.optimize_attr)
        [[2. 2.]] {'learning_rate': 0.5}
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        _check("name", name, str, "a str")
        _check("initializer", initializer, Initializer, "an initializer, such as nn.initializer.Constant(0.5)")
        _check("regularizer", regularizer, WeightDecayRegularizer, "a regularizer, such as regularizer.L2Decay(1e-4)")
        _check("learning_rate", learning_rate, (int, float), "a number")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = bool(trainable)
        self.do_model_average = do_model_average
        self.need_clip = bool(need_clip)


def _check(name: str, value: Any, kind: Any, expected: str) -> None:
    if not (value is None or isinstance(value, kind)):
        raise InvalidTypeError(
            f"ParamAttr: argument '{name}' has another type. Got {short(value)} ({type(value).__name__}), expected {expected}, "
            f"or None. Leave it out for the default."
        )


class WeightNormParamAttr(ParamAttr):
    """A parameter that is a length times a direction, `g * v / norm(v)`, in static mode; training changes both.

    Args:
        dim: the axis that has a length for each index; None has one length for all.
        name: of the parameter; its parts are `name_v` and `name_g`.
        initializer: fills the direction; the lengths begin as those that it has.
        learning_rate: the factor by which optimizers multiply their learning rate.
        regularizer: takes precedence over that of the optimizer.
        trainable: whether it asks for gradients.
        do_model_average: accepted for compatibility; unused.
        need_clip: whether gradient clipping looks at it.

    Raises:
        NotImplementedError: outside of static mode.

    Source:
        `paddle.static.WeightNormParamAttr`; Salimans & Kingma (2016).
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        if building.builder is None:
            raise UnimplementedError(
                f"WeightNormParamAttr: it works in static programs only. Got dim={short(dim)} for a layer that runs at once, "
                f"expected a ParamAttr. Use nn.utils.weight_norm(layer, dim={short(dim)}) on the finished layer."
            )
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip)
        self.dim = dim


def as_param_attr(attr: Any, op_name: str = "ParamAttr") -> ParamAttr | None:
    """The ParamAttr that a layer's argument means; None where it says False, which is "no parameter".

    Args:
        attr: None, a ParamAttr, a name, an initializer, a regularizer, or a bool.
        op_name: the function that asks, for the error message.

    Raises:
        TypeError: it is none of these.
    """
    if attr is None or attr is True:
        return ParamAttr()
    if attr is False:
        return None
    if isinstance(attr, ParamAttr):
        return attr
    if isinstance(attr, str):
        return ParamAttr(name=attr)
    if isinstance(attr, Initializer):
        return ParamAttr(initializer=attr)
    if isinstance(attr, WeightDecayRegularizer):
        return ParamAttr(regularizer=attr)
    raise TypeError(
        f"{op_name}: this says nothing about a parameter. Got {short(attr)} ({type(attr).__name__}), expected a ParamAttr, "
        f"a name, an initializer, a regularizer, None for the defaults, or False for no parameter. "
        f"Write ParamAttr(...)."
    )
