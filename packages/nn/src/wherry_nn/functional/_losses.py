"""Reductions of losses, and checks of their arguments."""
from __future__ import annotations

from typing import Any

from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor, to_dtype
from wherry_tensor.errors import (
    AssertedArgumentError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    short,
)
from wherry_tensor.functions.reduction import mean, sum
from wherry_tensor.sizes import same_shapes


def unknown_reduction(op_name: str, reduction: Any, expected: str = "'mean', 'sum' or 'none'") -> Exception:
    """The error for a reduction that does not exist: Paddle's losses raise it or assert."""
    return AssertedArgumentError(
        f"{op_name}: there is no such reduction. Got reduction={short(reduction)}, expected {expected}. "
        f"'none' gives the loss of each example."
    )


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean, the sum or the loss itself; `reduction` was checked before."""
    return mean(loss) if reduction == "mean" else sum(loss) if reduction == "sum" else loss


def require_same_shape(op_name: str, input: Tensor, label: Tensor, name: str = "input") -> None:
    """Refuse a label of another shape."""
    if not same_shapes(input.shape, label.shape):
        raise InvalidArgumentError(
            f"{op_name}: {name} and label must have the same shape. Got {input.shape} and {label.shape}, expected equal shapes. "
            f"Reshape or expand one of them."
        )


def data_like(op_name: str, input: Any, label: Any, name: str = "input") -> Tensor:
    """The labels as data in the dtype of `input`, which must be floating, and in its shape."""
    require_floating(op_name, input, name)
    require_tensor(label, op_name, "label")
    if label.dtype.is_complex:
        raise complex_label(op_name, label)
    require_same_shape(op_name, input, label, name)
    return to_dtype(label, input.dtype).detach()


def require_floating(op_name: str, input: Any, name: str = "input") -> None:
    """Refuse what is not a floating tensor."""
    if not require_tensor(input, op_name, name).dtype.is_floating:
        raise InvalidTypeError(
            f"{op_name}: {name} is not floating. Got dtype {input.dtype.name}, expected a floating one. "
            f"Cast it with {name}.astype('float32')."
        )


def complex_label(op_name: str, label: Tensor) -> Exception:
    """The error for labels that are complex numbers."""
    return InvalidTypeError(
        f"{op_name}: a complex number is not a label. Got {label.dtype.name}, expected a floating or integer dtype. "
        f"Take label.real() if that is what is meant."
    )


def require_one_process(op_name: str, group: Any) -> None:
    """Refuse a group of several processes."""
    if group is None or group is False or getattr(group, "nranks", 1) == 1:
        return
    raise UnimplementedError(
        f"{op_name}: classes spread over processes are not supported yet. Got group={short(group)}, expected None or False. "
        f"Keep all classes in one process until the distributed package exists."
    )
