"""Parameters: the tensors of a layer that training changes."""
from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import count
from typing import Any

from wherry_nn import unique_name
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedArgumentError, short
from wherry_tensor.printing import tensor_to_string

__all__ = ["Parameter"]

_copies = count()


class Parameter(Tensor):
    """Trainable tensor: has gradients and is saved with its layer.

    `Layer.create_parameter` and `create_parameter` make them; a layer registers those that are
    assigned to its attributes. The result of an operation on a parameter is an ordinary Tensor.

    Args:
        data: the values; the parameter shares their memory.
        name: by which optimizers and files know it; None numbers it `parameter_0`, `parameter_1`, ...
        trainable: whether gradients are computed for it.
        optimize_attr: `{"learning_rate": factor}`, by which optimizers multiply their learning rate.
        regularizer: overrides that of the optimizer.
        do_model_average: no effect.
        need_clip: whether gradient clipping applies to it.
        is_distributed: whether each process holds a part of it.

    Shape:
        That of `data`, `[...]`.

    Raises:
        TypeError: `data` is not a Tensor, or `name` is not a str.

    Source:
        `paddle.base.framework.EagerParamBase`, which Paddle does not export either.

    Examples:
        >>> weight = wherry.create_parameter([2, 3], "float32")
        >>> weight.trainable, weight.persistable, weight.shape
        (True, True, [2, 3])
    """

    optimize_attr: dict[str, float]
    regularizer: Any
    do_model_average: bool
    need_clip: bool
    is_distributed: bool

    def __init__(
        self,
        data: Tensor,
        *,
        name: str | None = None,
        trainable: bool = True,
        optimize_attr: dict[str, float] | None = None,
        regularizer: Any = None,
        do_model_average: bool = True,
        need_clip: bool = True,
        is_distributed: bool = False,
    ) -> None:
        self._share_data_with(data)
        self.name = unique_name.generate("parameter") if name is None else name
        self.stop_gradient = not trainable
        self.persistable = True
        self.optimize_attr = {"learning_rate": 1.0} if optimize_attr is None else optimize_attr
        self.regularizer = regularizer
        self.do_model_average = do_model_average
        self.need_clip = need_clip
        self.is_distributed = is_distributed

    @property
    def trainable(self) -> bool:
        """Whether training changes it: the opposite of `stop_gradient`."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        if not isinstance(trainable, bool):
            raise ValueError(  # Paddle's class
                f"trainable: the value is not a bool. Got {short(trainable)} ({type(trainable).__name__}), expected True or False. "
                f"Set False to freeze the parameter."
            )
        self.stop_gradient = not trainable

    def fill_later(self, initializer: Callable[[Parameter], Any]) -> None:
        """Hold NaN, or 0 for dtypes without NaN, until `initialize()` runs `initializer`."""
        self._share_data_with(ops.full(shape=tuple(self.shape), value=math.nan if self.dtype.is_floating else 0, dtype=self.dtype))
        self.__dict__["_initializer"] = initializer

    def initialize(self) -> None:
        """Give a parameter that was made within `LazyGuard` its values.

        Raises:
            AssertionError: it was made outside of one, or has its values already (also a ValueError).

        Source:
            `initialize` of the parameters of Paddle.
        """
        initializer = self.__dict__.pop("_initializer", None)
        if initializer is None:
            raise AssertedArgumentError(
                f"initialize: '{self.name}' has its values already. Got a parameter that was made outside of LazyGuard or filled before, "
                f"expected one that was made within and not filled. set_value changes values."
            )
        initializer(self)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{tensor_to_string(self)}"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A parameter with a copy of the values and a name of its own."""
        if id(self) in memo:
            return memo[id(self)]
        x = Parameter.__new__(type(self))
        memo[id(self)] = x
        x._share_data_with(ops.copy(_core.alias(self)))
        x.name = f"{self.name}_deepcopy_{next(_copies)}"
        x.stop_gradient, x.persistable = self.stop_gradient, self.persistable
        if self.grad is not None:
            x.grad = copy.deepcopy(self.grad.detach(), memo)
        x.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return x
