"""Losses: how far predictions are from labels, as one number or one for each example.

Labels are data: no gradient flows into class labels, nor into those of binary cross entropy and
`kl_div`; it flows into both sides of distances such as `mse_loss`, as in Paddle.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wherry_nn.functional._clipping import clipping
from wherry_nn.functional._losses import (
    complex_label,
    data_like,
    reduced,
    require_floating,
    require_same_shape,
    unknown_reduction,
)
from wherry_tensor import flags, ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.arguments import (
    MAX_RANK,
    at_hand,
    integer,
    number,
    one_axis,
    promoted,
    real_number,
    refused,
    require_rank,
    require_tensor,
    to_dtype,
)
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError, LossyCastWarning
from wherry_tensor.functions.reduction import mean, sum
from wherry_tensor.ops.loss import kept_labels, label_divisor
from wherry_tensor.ops.normalization import label_weight
from wherry_tensor.sizes import equals, same_shapes
from wherry_tensor.spellings import spelled
from wherry_tensor.tracebacks import warn

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "gaussian_nll_loss",
    "kl_div",
    "l1_loss",
    "log_loss",
    "mse_loss",
    "nll_loss",
    "poisson_nll_loss",
    "sigmoid_focal_loss",
    "smooth_l1_loss",
    "softmax_with_cross_entropy",
    "square_error_cost",
]

_cross_entropy: Callable[..., Any] = ops.cross_entropy
_label_mean = ops.label_mean
_unsqueeze = ops.unsqueeze
_IGNORED = -100  # the default of ignore_index


def _clip(wanted: Any) -> None:
    global _cross_entropy
    _cross_entropy = clipping(ops.cross_entropy) if wanted else ops.cross_entropy


flags.when_set("FLAGS_paddle_clip", _clip)


# Class labels.


def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cross entropy: negative logarithm of the probability that `input` gives to `label`.

    Args:
        input: floating; logits along `axis`, or probabilities with `use_softmax=False`.
        label: classes as integers (also whole numbers of a floating dtype), or with `soft_label` a
            probability for each class.
        weight: floating, `[classes]`; multiplies the losses of each class. For a soft label it is the mean
            of the weights under the label.
        ignore_index: examples of this class count nothing. Only beside hard labels.
        reduction: "mean", "sum" or "none". The mean divides by the number of examples that are not ignored,
            or by the sum of their weights; it is 0 where there are none.
        soft_label: `label` holds probabilities.
        axis: where the classes are, in `[-rank, rank)`.
        use_softmax: False takes `input` as probabilities.
        label_smoothing: this share of each label is spread evenly over the classes; in [0, 1].

    Returns:
        The dtype of `input`, in nats.

    Shape:
        `input` `[..., classes, ...]`; a hard `label` has this shape without `axis`, or with size 1 there; a
        soft one has the shape of `input`. The result is 0-d; with "none" it has the shape of a hard label, and
        size 1 at `axis` for a soft or smoothed one.

    Raises:
        ValueError: an unknown reduction, shapes that do not fit, `axis` out of range, `ignore_index`
            beside soft labels, `label_smoothing` outside of [0, 1].
        IndexError: a label is neither a class nor `ignore_index`.
        TypeError: an argument is not a tensor or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.cross_entropy`.

    Examples:
        >>> logits = wherry.to_tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        >>> loss = wherry.nn.functional.cross_entropy(logits, wherry.to_tensor([0, 2]), reduction="none")
        >>> print(loss.numpy().round(4))
        [0.2395 0.5514]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("cross_entropy", reduction)
    if type(ignore_index) is not int:
        ignore_index = integer(ignore_index, "cross_entropy", "ignore_index")
    if soft_label or label_smoothing or not use_softmax:
        return _rare_cross_entropy(
            input, label, weight, ignore_index, reduction, soft_label, axis, use_softmax, label_smoothing
        )
    try:
        rank = input.ndim
        if not (type(axis) is int and -rank <= axis < rank):
            axis = one_axis(axis, rank, "cross_entropy")
        elif axis < 0:
            axis += rank
        bare = label.ndim < rank
        labels = _unsqueeze(label, (axis,)) if bare else label
        loss, _ = _cross_entropy(input, labels, weight, False, ignore_index, axis)
        if reduction == "mean":
            return _label_mean(loss, labels, weight, ignore_index)[0]
    except (AttributeError, TypeError) as error:
        input, label, weight = _classified("cross_entropy", input, label, weight, error)
        return cross_entropy(input, label, weight, ignore_index, reduction, axis=axis)
    except ValueError:
        if not isinstance(label, Tensor) or rank - 1 <= label.ndim <= rank:
            raise
        wanted = [*input.shape[:axis], *input.shape[axis + 1:]]
        raise InvalidArgumentError(
            f"cross_entropy: a label has the shape of the input without the axis of the classes, {axis}. Got a label of shape {label.shape} for "
            f"input of shape {input.shape}, expected {wanted}. Check the axis, or pass probabilities with soft_label=True."
        ) from None
    if reduction == "sum":
        return sum(loss)
    return ops.squeeze(loss, axes=(axis,)) if bare else loss


def _rare_cross_entropy(
    input: Any, label: Any, weight: Any, ignore_index: int, reduction: str, soft_label: bool, axis: int,
    use_softmax: bool, label_smoothing: float,
) -> Tensor:
    """Cross entropy of soft or smoothed labels, or of probabilities."""
    require_floating("cross_entropy", input)
    require_tensor(label, "cross_entropy", "label")
    require_rank(input, "cross_entropy", 1, MAX_RANK, "input", "one of which is that of the classes")
    axis = one_axis(axis, input.ndim, "cross_entropy")
    smoothing = number(label_smoothing, "cross_entropy", "label_smoothing")
    if not 0 <= smoothing <= 1:
        raise InvalidArgumentError(
            f"cross_entropy: label_smoothing is a share. Got {smoothing}, expected a number in [0, 1]. "
            f"With 0 labels stay as they are."
        )
    if soft_label and ignore_index != _IGNORED:
        raise InvalidArgumentError(
            f"cross_entropy: ignore_index does not go with soft labels. Got ignore_index={ignore_index} with "
            f"soft_label=True, expected {_IGNORED}. Leave ignore_index out, or give the example weight 0."
        )
    if weight is not None:
        weight = to_dtype(require_tensor(weight, "cross_entropy", "weight"), input.dtype)
        if not same_shapes(weight.shape, [input.shape[axis]]):
            raise InvalidArgumentError(
                f"cross_entropy: the weight needs one number for each class. Got shape {weight.shape}, expected "
                f"[{input.shape[axis]}], the size of axis {axis} of the input. Check the number of classes."
            )
    kept = None  # the hard labels, of which some may be ignored
    if not soft_label:
        if not label.dtype.is_integer:
            label = ops.cast(label, dtype=int64)
        bare = label.ndim < input.ndim
        kept = ops.unsqueeze(label, axes=(axis,)) if bare else label
        if not smoothing:  # so these are probabilities
            chosen = -ops.nll_loss(input, kept, None, ignore_index=ignore_index, axis=axis)
            loss = -ops.log(chosen)  # chosen first: in log(input) the zeros of other classes would spoil the gradient
            if weight is not None:
                loss = loss * ops.gather(weight, kept_labels(kept, ignore_index)[1], axis=0)
            if reduction == "mean":
                return ops.label_mean(loss, kept, weight, ignore_index=ignore_index)[0]
            loss = ops.where(kept_labels(kept, ignore_index)[0], loss, ops.full_like(loss, value=0, dtype=loss.dtype))
            return sum(loss) if reduction == "sum" else ops.squeeze(loss, axes=(axis,)) if bare else loss
        label = _one_hot(input, kept, ignore_index, axis)
    label = to_dtype(label, input.dtype).detach()
    if smoothing:
        label = label * (1.0 - smoothing) + smoothing / input.shape[axis]
    if kept is not None:
        # Ignored rows get a label of zeros, so that their loss and their weight are 0.
        label = ops.where(
            kept_labels(kept, ignore_index)[0], label, ops.full(shape=(), value=0, dtype=label.dtype)
        )
    if use_softmax:
        loss, _ = _cross_entropy(input, label, weight, True, _IGNORED, axis)
    else:
        loss = _cross_entropy_of_probability(input, label, weight, axis)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return sum(loss)
    if weight is not None:
        return sum(loss) / label_divisor(sum(label_weight(label, weight, axis)))
    if kept is not None:
        return ops.label_mean(loss, kept, None, ignore_index=ignore_index)[0]
    return mean(loss)


def _one_hot(input: Tensor, label: Tensor, ignore_index: int, axis: int) -> Tensor:
    """1 at the class of each label; ignored ones are at class 0."""
    _, safe = kept_labels(label, ignore_index)
    if not same_shapes(label.shape, [*input.shape[:axis], 1, *input.shape[axis + 1:]]):
        raise InvalidArgumentError(
            f"cross_entropy: a class label has the shape of the input without axis {axis}, or with size 1 there. "
            f"Got {label.shape} and {input.shape}, expected a label of {[*input.shape[:axis], 1, *input.shape[axis + 1:]]}. "
            f"Check the axis of the classes."
        )
    try:
        hot = ops.one_hot(ops.squeeze(safe, axes=(axis,)), num_classes=input.shape[axis])
    except ValueError as error:
        raise InvalidIndexError(str(error).replace("one_hot", "cross_entropy")) from None
    rank = input.ndim
    return hot if axis == rank - 1 else ops.transpose(hot, perm=(*range(axis), rank - 1, *range(axis, rank - 1)))


def _cross_entropy_of_probability(input: Tensor, label: Tensor, weight: Tensor | None, axis: int) -> Tensor:
    if not same_shapes(label.shape, input.shape):
        raise InvalidArgumentError(
            f"cross_entropy: a soft label needs one probability for each class. Got label of shape {label.shape}, "
            f"expected {input.shape}, the shape of input. Pass classes with soft_label=False."
        )
    # Where the label is 0 the loss is 0, also for a probability of 0: 0 * log(0) and its gradient would be NaN.
    present = label != 0.0
    zeros = ops.full_like(input, value=0, dtype=input.dtype)
    logarithm = ops.log(ops.where(present, input, ops.full_like(input, value=1, dtype=input.dtype)))
    loss = -ops.reduce_sum(ops.where(present, label * logarithm, zeros), axes=(axis,), keepdim=True)
    return loss if weight is None else loss * label_weight(label, weight, axis)


def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """Cross entropy of each example; with `return_softmax` also the softmax.

    Args:
        logits: floating, along `axis`.
        label: classes as integers, or with `soft_label` a probability for each class.
        soft_label: `label` holds probabilities.
        ignore_index: hard labels of this class have loss 0.
        numeric_stable_mode: no effect; it is always stable.
        return_softmax: return `(loss, softmax)`.
        axis: where the classes are, in `[-rank, rank)`.

    Returns:
        The loss, in the dtype of `logits`; or the loss and the softmax. Gradients flow through both.

    Shape:
        `logits` `[..., classes, ...]`; a hard `label` has this shape with size 1 at `axis`, or without it; a
        soft one has the shape of `logits`. The loss has size 1 at `axis`, the softmax the shape of `logits`.

    Raises:
        ValueError: shapes that do not fit, or `axis` out of range.
        IndexError: a label is neither a class nor `ignore_index`.
        TypeError: an argument is not a tensor or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.softmax_with_cross_entropy`.

    Examples:
        >>> logits = wherry.to_tensor([[0.0, 0.0]])
        >>> F = wherry.nn.functional
        >>> loss, softmax = F.softmax_with_cross_entropy(logits, wherry.to_tensor([[1]]), return_softmax=True)
        >>> print(loss.numpy().round(4), softmax.numpy())
        [[0.6931]] [[0.5 0.5]]
    """
    require_floating("softmax_with_cross_entropy", logits, "logits")
    require_tensor(label, "softmax_with_cross_entropy", "label")
    axis = one_axis(axis, logits.ndim, "softmax_with_cross_entropy")
    if soft_label:
        label = to_dtype(label, logits.dtype)
    elif not label.dtype.is_integer:
        label = ops.cast(label, dtype=int64)
    if label.ndim < logits.ndim:
        label = ops.unsqueeze(label, axes=(axis,))
    loss, softmax = _cross_entropy(
        logits, label, None, bool(soft_label), integer(ignore_index, "softmax_with_cross_entropy", "ignore_index"), axis
    )
    return (loss, softmax) if return_softmax else loss


def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Negative log likelihood: minus the log probability at the label: cross entropy after `log_softmax`.

    Args:
        input: floating; log probabilities along axis 1.
        label: integer classes.
        weight: floating, `[classes]`; multiplies the losses of each class.
        ignore_index: examples of this class count nothing.
        reduction: "mean", "sum" or "none". The mean divides by the sum of the weights (or the number) of
            the examples that are not ignored; it is 0 where there are none.

    Returns:
        The dtype of `input`.

    Shape:
        `input` `[N, classes, *]`, `label` `[N, *]`. The result is 0-d, or with "none" the shape of `label`.

    Raises:
        ValueError: an unknown reduction, or shapes that do not fit.
        IndexError: a label is neither a class nor `ignore_index` (also a ValueError).
        TypeError: an argument is not a tensor or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.nll_loss`, which takes only int64 labels.

    Examples:
        >>> log_probability = wherry.log(wherry.to_tensor([[0.25, 0.75], [0.5, 0.5]]))
        >>> loss = wherry.nn.functional.nll_loss(log_probability, wherry.to_tensor([1, 0]), reduction="none")
        >>> print(loss.numpy().round(4))
        [0.2877 0.6931]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("nll_loss", reduction)
    ignore_index = integer(ignore_index, "nll_loss", "ignore_index")
    require_tensor(input, "nll_loss", "input")
    require_tensor(label, "nll_loss", "label")
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"nll_loss: the classes are in axis 1 of the input. Got shape {input.shape}, expected [N, classes] or "
            f"[N, classes, ...]. For one example add an axis with input.unsqueeze(0)."
        )
    column = input.ndim == 2 and label.ndim == 2  # [N, 1], as cross_entropy takes it
    labels = label if column else ops.unsqueeze(label, axes=(1,)) if label.ndim == input.ndim - 1 else label
    if reduction == "mean" and not is_symbolic(labels):
        labels = labels.contiguous()  # once for both ops
    try:
        loss = ops.nll_loss(input, labels, weight, ignore_index=ignore_index, axis=1)
        if reduction == "mean":
            return ops.label_mean(loss, labels, weight, ignore_index=ignore_index)[0]
    except IndexError as error:
        raise InvalidIndexError(str(error)) from None
    except TypeError as error:
        input, label, weight = _classified("nll_loss", input, label, weight, error)
        return nll_loss(input, label, weight, ignore_index, reduction)
    if reduction == "sum":
        return sum(loss)
    return ops.squeeze(loss, axes=(1,))


# Binary labels.


def binary_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Binary cross entropy of probabilities, `-label * log(input) - (1 - label) * log(1 - input)`.

    Args:
        input: floating; probabilities in [0, 1], as from sigmoid. The logarithm of 0 counts as -100.
        label: numbers in [0, 1], in the shape of `input`; any dtype.
        weight: broadcasts to `input`; multiplies the loss of each element.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or an input outside of [0, 1].
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.binary_cross_entropy`.

    Examples:
        >>> loss = wherry.nn.functional.binary_cross_entropy(
        ...     wherry.to_tensor([0.5, 0.25]), wherry.to_tensor([1.0, 0.0]), reduction="none")
        >>> print(loss.numpy().round(4))
        [0.6931 0.2877]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("binary_cross_entropy", reduction)
    try:
        loss = ops.binary_cross_entropy(input, label)
    except TypeError as error:
        loss = ops.binary_cross_entropy(input, _labels_like("binary_cross_entropy", "input", input, label, error))
    if weight is not None:
        loss = loss * to_dtype(require_tensor(weight, "binary_cross_entropy", "weight"), loss.dtype)
    return reduced(loss, reduction)


def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Binary cross entropy of `sigmoid(logit)`, exact also where the sigmoid is 0 or 1.

    Args:
        logit: floating.
        label: numbers in [0, 1], in the shape of `logit`; any dtype.
        weight: broadcasts to `logit`; multiplies the loss of each element.
        reduction: "mean", "sum" or "none".
        pos_weight: broadcasts to `logit`; multiplies the loss of positive labels.

    Returns:
        The dtype of `logit`, in nats.

    Shape:
        The result is 0-d, or with "none" the shape of `logit`.

    Raises:
        ValueError: an unknown reduction, or shapes that differ.
        TypeError: an argument is not a tensor, or `logit` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.binary_cross_entropy_with_logits`.

    Examples:
        >>> loss = wherry.nn.functional.binary_cross_entropy_with_logits(
        ...     wherry.to_tensor([0.0, -1000.0]), wherry.to_tensor([1.0, 1.0]), reduction="none")
        >>> print(loss.numpy().round(4))
        [6.931e-01 1.000e+03]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("binary_cross_entropy_with_logits", reduction)
    op_name = "binary_cross_entropy_with_logits"
    if pos_weight is not None:
        loss = _weighted_logits(op_name, logit, label, pos_weight)
    else:
        try:
            loss = ops.binary_cross_entropy_logits(logit, label)
        except TypeError as error:
            loss = ops.binary_cross_entropy_logits(logit, _labels_like(op_name, "logit", logit, label, error))
    if weight is not None:
        loss = loss * to_dtype(require_tensor(weight, op_name, "weight"), loss.dtype)
    return reduced(loss, reduction)


def _weighted_logits(op_name: str, logit: Any, label: Any, pos_weight: Any) -> Tensor:
    """Binary cross entropy with `pos_weight`: two terms, each of which is exact."""
    label = data_like(op_name, logit, label, "logit")
    pos_weight = to_dtype(require_tensor(pos_weight, op_name, "pos_weight"), logit.dtype)
    return -(label * pos_weight * ops.log_sigmoid(logit) + (1.0 - label) * ops.log_sigmoid(-logit))


def log_loss(input: Tensor, label: Tensor, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """Log loss: binary cross entropy of each probability, with `epsilon` added so that logarithms stay finite.

    It is `-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)`.

    Args:
        input: floating; probabilities, usually `[N, 1]`.
        label: numbers in [0, 1], in the shape of `input`; any dtype.
        epsilon: added to both probabilities.

    Returns:
        The dtype and shape of `input`, in nats.

    Shape:
        `[N, 1]` twice to `[N, 1]`.

    Raises:
        ValueError: the shapes differ.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.log_loss`, which takes `[N, 1]` only.

    Examples:
        >>> print(wherry.nn.functional.log_loss(wherry.to_tensor([[0.5]]), wherry.to_tensor([[1.0]])).numpy().round(4))
        [[0.6929]]
    """
    label = data_like("log_loss", input, label)
    epsilon = number(epsilon, "log_loss", "epsilon")
    return -(label * ops.log(input + epsilon)) - (1.0 - label) * ops.log(1.0 - input + epsilon)


def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: Tensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """Focal loss: binary cross entropy with less weight on examples that are classified well.

    With q the predicted probability of the wrong class, it is `q ** gamma` times the cross entropy, times `alpha` for
    positive labels and `1 - alpha` for negative ones.

    Args:
        logit: floating.
        label: numbers in [0, 1], in the shape of `logit`; any dtype.
        normalizer: a tensor of one number, 0-d or `[1]`, that divides the loss; usually the count of positives.
        alpha: the weight of positive labels.
        gamma: how strongly examples that are classified well are weighted down; 0 is plain cross entropy.
        reduction: "sum", "mean" or "none".

    Returns:
        The dtype of `logit`.

    Shape:
        The result is 0-d, or with "none" the shape of `logit`.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or a normalizer of several numbers.
        TypeError: an argument is not a tensor, or `logit` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.sigmoid_focal_loss`; Lin et al., "Focal Loss for Dense Object Detection" (2017).

    Examples:
        >>> loss = wherry.nn.functional.sigmoid_focal_loss(
        ...     wherry.to_tensor([0.0, 5.0]), wherry.to_tensor([1.0, 1.0]), reduction="none")
        >>> print(loss.numpy().round(6))
        [0.043322 0.      ]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("sigmoid_focal_loss", reduction)
    data_like("sigmoid_focal_loss", logit, label, "logit")  # the checks; as in Paddle the weights have a gradient for the label
    label = to_dtype(label, logit.dtype)
    alpha, gamma = number(alpha, "sigmoid_focal_loss", "alpha"), number(gamma, "sigmoid_focal_loss", "gamma")
    no = 1.0 - label
    # Not 1 - p: the sigmoid of -logit keeps its digits where p is near 1.
    wrong = ops.sigmoid(logit) * no + ops.sigmoid(-logit) * label
    loss = ops.binary_cross_entropy_logits(logit, label) * (label * alpha + no * (1.0 - alpha))
    loss = loss * wrong**gamma
    if normalizer is not None:
        if require_tensor(normalizer, "sigmoid_focal_loss", "normalizer").ndim > 1 or normalizer.size != 1:
            raise InvalidArgumentError(
                f"sigmoid_focal_loss: the normalizer is one number. Got shape {normalizer.shape}, expected [] or [1]. "
                f"Sum it first."
            )
        loss = loss / to_dtype(normalizer, loss.dtype)
    return reduced(loss, reduction)


# Distances.


def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """Squares of the differences of two tensors.

    Args:
        input: any numbers.
        label: the same dtype (or another floating one); shapes broadcast.

    Returns:
        The wider of the dtypes, in the broadcast shape.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        ValueError: the shapes do not broadcast.
        TypeError: an argument is not a tensor, or the dtypes do not fit (also a ValueError).

    Source:
        `paddle.nn.functional.square_error_cost`.

    Examples:
        >>> print(wherry.nn.functional.square_error_cost(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.5, 0.0])).numpy())
        [0.25 4.  ]
    """
    return ops.square(_of_both("square_error_cost", ops.subtract, input, label))


def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Mean squared error: mean of the squared differences.

    Args:
        input: any numbers.
        label: the same dtype (or another floating one); shapes broadcast.
        reduction: "mean", "sum" or "none".

    Returns:
        The wider of the dtypes.

    Shape:
        The result is 0-d, or with "none" the broadcast shape.

    Raises:
        ValueError: an unknown reduction, or shapes that do not broadcast.
        TypeError: an argument is not a tensor, or the dtypes do not fit (also a ValueError).

    Source:
        `paddle.nn.functional.mse_loss`.

    Examples:
        >>> print(wherry.nn.functional.mse_loss(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0, 0.0])).item())
        2.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("mse_loss", reduction)
    if reduction != "none" and _alike(input, label):
        return ops.difference_loss(input, label, kind="squared", delta=0.0, mean=reduction == "mean")
    return reduced(ops.square(_of_both("mse_loss", ops.subtract, input, label)), reduction)


def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """L1 loss: mean of the absolute differences.

    Args:
        input: any numbers.
        label: the same dtype (or another floating one); shapes broadcast.
        reduction: "mean", "sum" or "none".

    Returns:
        The wider of the dtypes. Where both are equal the gradient is 0.

    Shape:
        The result is 0-d, or with "none" the broadcast shape.

    Raises:
        ValueError: an unknown reduction, or shapes that do not broadcast.
        TypeError: an argument is not a tensor, or the dtypes do not fit (also a ValueError).

    Source:
        `paddle.nn.functional.l1_loss`.

    Examples:
        >>> print(wherry.nn.functional.l1_loss(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0, 0.0])).item())
        1.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("l1_loss", reduction)
    if reduction != "none" and _alike(input, label):
        return ops.difference_loss(input, label, kind="absolute", delta=0.0, mean=reduction == "mean")
    return reduced(ops.abs(_of_both("l1_loss", ops.subtract, input, label)), reduction)


def smooth_l1_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Tensor:
    """Smooth L1 loss (Huber): half the square of a small difference, `delta * (|d| - delta / 2)` of one
    beyond `delta`.

    Args:
        input: floating.
        label: the same dtype (or another floating one) and shape.
        reduction: "mean", "sum" or "none".
        delta: the difference from which on the loss is linear; at least 0.

    Returns:
        The wider of the dtypes.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or a negative delta.
        TypeError: an argument is not a tensor, or the dtypes do not fit (also a ValueError).

    Source:
        `paddle.nn.functional.smooth_l1_loss`. Its `delta` does not divide the loss, unlike PyTorch's `beta`.

    Examples:
        >>> loss = wherry.nn.functional.smooth_l1_loss(
        ...     wherry.to_tensor([0.5, 3.0]), wherry.to_tensor([0.0, 0.0]), reduction="none")
        >>> print(loss.numpy())
        [0.125 2.5  ]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("smooth_l1_loss", reduction)
    delta = number(delta, "smooth_l1_loss", "delta")
    if not delta >= 0:
        raise InvalidArgumentError(
            f"smooth_l1_loss: delta is negative. Got delta={delta}, expected a number >= 0. The default is 1.0."
        )
    require_floating("smooth_l1_loss", input)
    require_tensor(label, "smooth_l1_loss", "label")
    require_same_shape("smooth_l1_loss", input, label)
    if reduction != "none" and _alike(input, label):
        return ops.difference_loss(input, label, kind="smooth", delta=float(delta), mean=reduction == "mean")
    loss = _of_both("smooth_l1_loss", lambda x, y: ops.smooth_l1_loss(x, y, delta=float(delta)), input, label)
    return reduced(loss, reduction)


# Distributions.


def kl_div(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Kullback-Leibler divergence, `label * (log(label) - input)`, with log probabilities as `input`.

    Args:
        input: floating; logarithms of probabilities.
        label: probabilities, in the shape of `input`; any dtype. Where one is not positive the loss is 0.
        reduction: "mean" (over all elements), "batchmean" (the sum divided by the size of axis 0), "sum" or
            "none".

    Returns:
        The dtype of `input`, in nats.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, or shapes that differ.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.kl_div`.

    Examples:
        >>> log_probability = wherry.log(wherry.to_tensor([[0.5, 0.5]]))
        >>> loss = wherry.nn.functional.kl_div(log_probability, wherry.to_tensor([[0.25, 0.75]]), reduction="batchmean")
        >>> print(loss.numpy().round(4))
        0.1308
    """
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise unknown_reduction("kl_div", reduction, "'mean', 'batchmean', 'sum' or 'none'")
    label = data_like("kl_div", input, label)
    loss = ops.kl_div(input, label)
    if reduction == "batchmean":
        return sum(loss) / input.shape[0] if input.ndim else sum(loss)
    return reduced(loss, reduction)


def poisson_nll_loss(
    input: Tensor,
    label: Tensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Poisson negative log likelihood: of counts, given their predicted mean, without the term that depends on the
    label alone.

    Args:
        input: floating; the predicted means, or their logarithms.
        label: the counts, in the shape of `input`.
        log_input: `input` is a logarithm: the loss is `exp(input) - label * input`. Otherwise it is
            `input - label * log(input + epsilon)`.
        full: add Stirling's approximation of log(label!) where the label is above 1.
        epsilon: above 0; keeps the logarithm of `input` finite.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or an epsilon that is not positive.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.poisson_nll_loss` (Paddle 2.5).

    Examples:
        >>> loss = wherry.nn.functional.poisson_nll_loss(wherry.to_tensor([0.0]), wherry.to_tensor([2.0]))
        >>> print(loss.numpy())
        1.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("poisson_nll_loss", reduction)
    require_floating("poisson_nll_loss", input)
    label = to_dtype(require_tensor(label, "poisson_nll_loss", "label"), input.dtype)
    require_same_shape("poisson_nll_loss", input, label)
    if not number(epsilon, "poisson_nll_loss", "epsilon") > 0:
        raise InvalidArgumentError(
            f"poisson_nll_loss: epsilon is not positive. Got epsilon={epsilon}, expected a number above 0. "
            f"The default is 1e-8."
        )
    loss = ops.exp(input) - label * input if log_input else input - label * ops.log(input + epsilon)
    if full:
        one = ops.full_like(label, value=1, dtype=label.dtype)
        many = ops.greater_than(label, one)
        count = ops.where(many, label, one)
        stirling = count * ops.log(count) - count + 0.5 * ops.log(count * (2 * math.pi))
        loss = loss + ops.where(many, stirling, ops.full_like(label, value=0, dtype=label.dtype))
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Gaussian negative log likelihood: of `label`, given predicted means and variances.

    It is `(log(v) + (input - label) ** 2 / v) / 2`, where v is `variance`, at least `epsilon`.

    Args:
        input: floating; the predicted means.
        label: in the shape of `input`.
        variance: not negative; the shape of `input`, or this without its last axis or with size 1 there.
        full: add the constant log(2 pi) / 2.
        epsilon: smaller variances count as this.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats. Gradients flow into all three tensors, also into a variance below
        `epsilon`, as if it were `epsilon`.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, shapes that do not fit, or a negative variance.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.gaussian_nll_loss` (Paddle 2.5), which gives the variance no gradient.

    Examples:
        >>> loss = wherry.nn.functional.gaussian_nll_loss(wherry.zeros([1]), wherry.ones([1]), wherry.ones([1]))
        >>> print(loss.numpy())
        0.5
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("gaussian_nll_loss", reduction)
    require_floating("gaussian_nll_loss", input)
    label = to_dtype(require_tensor(label, "gaussian_nll_loss", "label"), input.dtype)
    require_same_shape("gaussian_nll_loss", input, label)
    variance = to_dtype(require_tensor(variance, "gaussian_nll_loss", "variance"), input.dtype)
    if input.ndim and same_shapes(variance.shape, input.shape[:-1]):
        variance = ops.unsqueeze(variance, axes=(variance.ndim,))
    elif not same_shapes(variance.shape, input.shape) and not (
        variance.ndim and equals(variance.shape[-1], 1) and same_shapes(variance.shape[:-1], input.shape[:-1])
    ):
        raise InvalidArgumentError(
            f"gaussian_nll_loss: the variance does not fit the input. Got shapes {variance.shape} and {input.shape}, "
            f"expected {input.shape}, the same with 1 at the end, or without the last axis. Expand it."
        )
    if variance.size and at_hand(variance) and ops.reduce_any(variance < 0.0, axes=tuple(range(variance.ndim)), keepdim=False).item():
        raise InvalidArgumentError(
            "gaussian_nll_loss: a variance is negative. Got a number below 0, expected numbers >= 0. "
            "Predict its logarithm and pass exp of it, or use softplus."
        )
    # What lifts the variance to epsilon is added as a constant, so that the gradient is as without it.
    least = real_number(epsilon, "gaussian_nll_loss", "epsilon")
    variance = variance + (ops.maximum(variance, ops.full(shape=(), value=least, dtype=variance.dtype)) - variance).detach()
    loss = 0.5 * (ops.log(variance) + ops.square(input - label) / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


# Helpers.


def _alike(input: Any, label: Any) -> bool:
    """Whether both are floating tensors of one dtype and one shape, which is known."""
    if not (isinstance(input, Tensor) and isinstance(label, Tensor) and input.dtype is label.dtype and input.dtype.is_floating):
        return False
    return not (is_symbolic(input) or is_symbolic(label)) and input.shape == label.shape


def _of_both(op_name: str, op: Callable[[Any, Any], Tensor], input: Any, label: Any) -> Tensor:
    """`op(input, label)`, computed in the wider dtype where both are floating."""
    try:
        out = op(input, label)
        if not is_symbolic(out) and out.size > input.size and out.size > label.size:
            warn(
                f"{op_name}: input and label broadcast to more numbers than either has. Got {input.shape} and {label.shape}, "
                f"which give {out.shape}, expected equal shapes. Reshape one, as in label.reshape(input.shape)."
            )
        return out
    except TypeError as error:
        if isinstance(input, Tensor) and isinstance(label, Tensor) and input.dtype.is_floating and label.dtype.is_floating:
            return promoted(op_name, op, input, label, error)
        raise refused(op_name, error, input=input, label=label) from None


def _classified(op_name: str, input: Any, label: Any, weight: Any, error: Exception) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arguments after `error`, with labels as integers and weights in the dtype of the input."""
    require_tensor(input, op_name, "input")
    require_tensor(label, op_name, "label")
    if weight is not None:
        require_tensor(weight, op_name, "weight")
    require_floating(op_name, input)
    wrong_label = not label.dtype.is_integer and not label.dtype.is_complex
    wrong_weight = weight is not None and weight.dtype.is_floating and weight.dtype is not input.dtype
    if wrong_label and label.dtype.is_floating and not is_symbolic(label) and not (label == ops.floor(label)).all():
        warn(
            f"{op_name}: class labels with fractions are cut to integers, as in Paddle. Got a label of {label.dtype.name}, "
            f"expected whole numbers. Use soft_label=True for probabilities, and mse_loss for numbers.",
            LossyCastWarning,
        )
    if not wrong_label and not wrong_weight:
        raise InvalidTypeError(str(error)) from None
    return input, ops.cast(label, dtype=int64) if wrong_label else label, to_dtype(weight, input.dtype) if wrong_weight else weight


def _labels_like(op_name: str, name: str, input: Any, label: Any, error: Exception) -> Tensor:
    """The labels in the dtype of the input, after an op refused them with `error`."""
    require_tensor(input, op_name, name)
    require_tensor(label, op_name, "label")
    if label.dtype.is_complex:
        raise complex_label(op_name, label) from None
    if not input.dtype.is_floating or label.dtype is input.dtype:
        raise InvalidTypeError(str(error)) from None
    return to_dtype(label, input.dtype)


spelled(globals())
