"""Attributes of parameters: what `weight_attr` and `bias_attr` of layers take."""
from __future__ import annotations

from typing import Any

from wherry_nn.initializer.initializer import Initializer
from wherry_tensor.errors import InvalidTypeError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.static_builder import building

__all__ = ["ParamAttr", "WeightDecayRegularizer", "WeightNormParamAttr", "as_param_attr"]


class WeightDecayRegularizer:
    """Base of the classes of `paddle.regularizer`: a penalty on the size of a parameter.

    Examples:
        >>> isinstance(wherry.regularizer.L2Decay(1e-4), wherry.nn.WeightDecayRegularizer)
        True
    """


class ParamAttr:
    """Attributes of a parameter: name, initializer and training options.

    Args:
        name: of the parameter; None lets the layer number it.
        initializer: gives the initial values; None leaves that to the layer.
        learning_rate: the factor by which optimizers multiply their learning rate.
        regularizer: overrides that of the optimizer.
        trainable: whether gradients are computed for it.
        do_model_average: no effect.
        need_clip: whether gradient clipping applies to it.

    Raises:
        TypeError: `name`, `initializer`, `learning_rate` or `regularizer` has another type (also a ValueError).

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
        if isinstance(initializer, type) and issubclass(initializer, Initializer):
            initializer = initializer()  # Paddle takes the class as well
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

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """What a layer's argument says, as libraries ask it: a ParamAttr, a list of them, or False."""
        if arg is False:
            return False
        return [ParamAttr._to_attr(each) for each in arg] if isinstance(arg, (list, tuple)) else as_param_attr(arg)


def _check(name: str, value: Any, kind: Any, expected: str) -> None:
    if not (value is None or isinstance(value, kind)):
        raise InvalidTypeError(
            f"ParamAttr: argument '{name}' has another type. Got {short(value)} ({type(value).__name__}), expected {expected}, "
            f"or None. Leave it out for the default."
        )


class WeightNormParamAttr(ParamAttr):
    """Attributes of a weight-normalized parameter, `g * v / norm(v)`, in static mode; training changes both parts.

    Args:
        dim: the axis that has a length for each index; None is one length for all.
        name: of the parameter; its parts are `name_v` and `name_g`.
        initializer: fills the direction; the initial lengths are its norms.
        learning_rate: the factor by which optimizers multiply their learning rate.
        regularizer: overrides that of the optimizer.
        trainable: whether gradients are computed for it.
        do_model_average: no effect.
        need_clip: whether gradient clipping applies to it.

    Raises:
        NotImplementedError: outside of static mode.

    Source:
        `paddle.static.WeightNormParamAttr`; Salimans & Kingma (2016).

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 4])
        ...     y = wherry.static.nn.fc(x, 3, weight_attr=wherry.static.WeightNormParamAttr(dim=1))
        >>> wherry.disable_static()
        >>> y.shape
        [-1, 3]
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
    """The ParamAttr that a layer's argument stands for; None for False, which is "no parameter".

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
        f"{op_name}: attr is not an attribute of a parameter. Got {short(attr)} ({type(attr).__name__}), expected a ParamAttr, "
        f"a name, an initializer, a regularizer, None for the defaults, or False for no parameter. "
        f"Write ParamAttr(...)."
    )


explained(globals())
