"""Margin losses: predictions that are right by a margin cost nothing, or little.

They compare scores (ranking, hinge, softmax with margins) or distances of embeddings (cosine, triplet,
N-pair).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_nn.functional._losses import (
    reduced,
    require_floating,
    require_one_process,
    require_same_shape,
    unknown_reduction,
)
from wherry_nn.functional.distance import pairwise_distance
from wherry_nn.functional.loss import cross_entropy
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int64
from wherry_tensor.arguments import at_hand, flag, number, require_tensor, to_dtype
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError
from wherry_tensor.explained import explained
from wherry_tensor.functions.reduction import mean
from wherry_tensor.sizes import same_shapes
from wherry_tensor.spellings import spelled

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_cross_entropy",
    "margin_ranking_loss",
    "multi_label_soft_margin_loss",
    "multi_margin_loss",
    "npair_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


# Scores.


def margin_ranking_loss(
    input: Tensor, other: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Margin ranking loss of two scores, `max(0, margin - label * (input - other))`.

    Args:
        input: floating.
        other: any dtype; shapes broadcast.
        label: 1 where `input` should be the larger one, -1 where `other` should; any dtype.
        margin: by how much it should be larger.
        reduction: "mean", "sum" or "none".

    Returns:
        The widest of the floating dtypes.

    Shape:
        The result is 0-d, or with "none" the broadcast shape.

    Raises:
        ValueError: an unknown reduction, or shapes that do not broadcast.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.margin_ranking_loss`.

    Examples:
        >>> one = wherry.ones([1])
        >>> print(wherry.nn.functional.margin_ranking_loss(one * 2, one * 5, one).numpy())
        3.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("margin_ranking_loss", reduction)
    require_floating("margin_ranking_loss", input)
    require_tensor(other, "margin_ranking_loss", "other")
    require_tensor(label, "margin_ranking_loss", "label")
    dtype = promote_floating(input.dtype, other.dtype) if other.dtype.is_floating else input.dtype
    if dtype is float32 and label.dtype is float64:  # as in Paddle; 1 and -1 are exact in 16 bits too
        dtype = float64
    loss = (to_dtype(other, dtype) - to_dtype(input, dtype)) * to_dtype(label, dtype)
    margin = number(margin, "margin_ranking_loss", "margin")
    return reduced(ops.relu(loss + margin if margin else loss), reduction)


def hinge_embedding_loss(
    input: Tensor, label: Tensor, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Hinge embedding loss: distances of similar pairs, and `max(0, margin - distance)` of dissimilar ones.

    Args:
        input: floating; usually distances.
        label: 1 for similar, -1 for dissimilar pairs; other labels cost nothing. Broadcasts to `input`; any dtype.
        margin: the distance from which on dissimilar pairs cost nothing.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`.

    Shape:
        The result is 0-d, or with "none" the broadcast shape.

    Raises:
        ValueError: an unknown reduction, or shapes that do not broadcast.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.hinge_embedding_loss`.

    Examples:
        >>> loss = wherry.nn.functional.hinge_embedding_loss(
        ...     wherry.to_tensor([0.25, 0.25]), wherry.to_tensor([1, -1]), reduction="none")
        >>> print(loss.numpy())
        [0.25 0.75]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("hinge_embedding_loss", reduction)
    require_floating("hinge_embedding_loss", input)
    require_tensor(label, "hinge_embedding_loss", "label")
    apart = ops.relu(number(margin, "hinge_embedding_loss", "margin") - input)
    return reduced(_by_sign(label, input, apart), reduction)


def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Soft margin loss (logistic loss), `log(1 + exp(-label * input))`.

    Args:
        input: floating.
        label: 1 or -1, in the shape of `input`; any dtype.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats; finite for finite inputs.

    Shape:
        The result is 0-d, or with "none" the shape of `input`.

    Raises:
        ValueError: an unknown reduction, or shapes that differ.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.soft_margin_loss` (Paddle 2.4), which overflows.

    Examples:
        >>> loss = wherry.nn.functional.soft_margin_loss(wherry.to_tensor([0.0, -500.0]), wherry.to_tensor([1, 1]), "none")
        >>> print(loss.numpy().round(4))
        [  0.6931 500.    ]
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("soft_margin_loss", reduction)
    require_floating("soft_margin_loss", input)
    label = to_dtype(require_tensor(label, "soft_margin_loss", "label"), input.dtype)
    require_same_shape("soft_margin_loss", input, label)
    return reduced(-ops.log_sigmoid(label * input), reduction)


def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Multi-label soft margin loss: binary cross entropy of logits, averaged over the classes that an example can
    have at once.

    Args:
        input: floating, `[..., classes]`; logits.
        label: 0 or 1, in the shape of `input`; any dtype.
        weight: broadcasts to `input`; multiplies the loss of each class.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`, in nats.

    Shape:
        The result is 0-d, or with "none" the shape of `input` without its last axis.

    Raises:
        ValueError: an unknown reduction, or shapes that differ.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.multi_label_soft_margin_loss` (Paddle 2.4).

    Examples:
        >>> loss = wherry.nn.functional.multi_label_soft_margin_loss(wherry.zeros([1, 2]), wherry.to_tensor([[1, 0]]))
        >>> print(loss.numpy().round(4))
        0.6931
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("multi_label_soft_margin_loss", reduction)
    require_floating("multi_label_soft_margin_loss", input)
    label = to_dtype(require_tensor(label, "multi_label_soft_margin_loss", "label"), input.dtype)
    require_same_shape("multi_label_soft_margin_loss", input, label)
    loss = ops.binary_cross_entropy_logits(input, label)
    if weight is not None:
        loss = loss * to_dtype(require_tensor(weight, "multi_label_soft_margin_loss", "weight"), loss.dtype)
    return reduced(mean(loss, axis=-1), reduction)


def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Multi-margin loss: hinge loss of every other class against the score of the right one.

    It is the sum of `max(0, margin - right + other) ** p` over the other classes, divided by their number
    and one.

    Args:
        input: floating, `[N, classes]`.
        label: integers, `[N]`.
        p: the power.
        margin: by how much the score of the right class should exceed the others.
        weight: floating, `[classes]`; multiplies the loss of the examples of each class.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`.

    Shape:
        The result is 0-d, or with "none" `[N]`.

    Raises:
        ValueError: an unknown reduction, or shapes that do not fit.
        IndexError: a label is not a class (also a ValueError).
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.multi_margin_loss` (Paddle 2.4), which mixes the examples up where there is a weight.

    Examples:
        >>> loss = wherry.nn.functional.multi_margin_loss(wherry.to_tensor([[0.5, 2.0, 0.0]]), wherry.to_tensor([1]))
        >>> print(loss.numpy())
        0.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("multi_margin_loss", reduction)
    require_floating("multi_margin_loss", input)
    require_tensor(label, "multi_margin_loss", "label")
    if not label.dtype.is_integer:
        raise InvalidTypeError(
            f"multi_margin_loss: labels are the numbers of classes. Got dtype {label.dtype.name}, expected int64. "
            f"Cast them with label.astype('int64')."
        )
    if input.ndim != 2 or not same_shapes(label.shape, [input.shape[0]]):
        raise InvalidArgumentError(
            f"multi_margin_loss: input and label do not fit. Got shapes {input.shape} and {label.shape}, expected "
            f"[N, classes] and [N]. Flatten or reshape them."
        )
    classes = input.shape[1]
    column = ops.unsqueeze(label, axes=(1,))
    try:
        right = -ops.nll_loss(input, column, None, ignore_index=-1, axis=1)
        if weight is not None:
            require_tensor(weight, "multi_margin_loss", "weight")
            if not same_shapes(weight.shape, [classes]):
                raise InvalidArgumentError(
                    f"multi_margin_loss: the weight needs one number for each class. Got shape {weight.shape}, expected "
                    f"[{classes}]. Check the number of classes."
                )
            weight = to_dtype(ops.gather(weight, column, axis=0), input.dtype)
    except IndexError as error:
        raise InvalidIndexError(str(error).replace("nll_loss", "multi_margin_loss")) from None
    near = ops.relu(input - right + number(margin, "multi_margin_loss", "margin"))
    # The right class is left out.
    rival = ops.not_equal(ops.cast(column, dtype=int64), ops.arange(start=0, step=1, length=classes, dtype=int64))
    near = ops.where(rival, near if p == 1 else near ** number(p, "multi_margin_loss", "p"), ops.full_like(near, value=0, dtype=near.dtype))
    if weight is not None:
        near = near * weight
    return reduced(mean(near, axis=1), reduction)


def margin_cross_entropy(
    logits: Tensor,
    label: Tensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Margin cross entropy (ArcFace, CosFace, SphereFace): softmax cross entropy of cosines, with a margin for the right class.

    The cosine of the right class becomes `cos(margin1 * angle + margin2) - margin3`; then all are multiplied
    by `scale`.

    Args:
        logits: floating, `[N, classes]`; cosines in [-1, 1].
        label: integers, `[N]` or `[N, 1]`.
        margin1: multiplies the angle.
        margin2: added to the angle, in radians.
        margin3: subtracted from the cosine.
        scale: the inverse temperature.
        group: None or False. Classes that are spread over processes need the distributed package.
        return_softmax: return `(loss, softmax)`.
        reduction: "mean", "sum", "none" or None.

    Returns:
        The loss in the dtype of `logits`, in nats; with `return_softmax` also the probabilities.

    Shape:
        The loss is 0-d, or `[N, 1]` without a reduction; the softmax is `[N, classes]`.

    Raises:
        ValueError: an unknown reduction, or shapes that do not fit.
        IndexError: a label is not a class.
        NotImplementedError: a group of processes.
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.margin_cross_entropy`, which needs a GPU; Deng et al., "ArcFace" (2019).

    Examples:
        >>> loss = wherry.nn.functional.margin_cross_entropy(
        ...     wherry.to_tensor([[1.0, 0.0]]), wherry.to_tensor([0]), margin2=0.0, scale=1.0)
        >>> print(loss.numpy().round(4))
        0.3133
    """
    op_name = "margin_cross_entropy"
    if reduction not in ("mean", "sum", "none", None):
        raise unknown_reduction(op_name, reduction, "'mean', 'sum', 'none' or None")
    require_one_process(op_name, group)
    require_floating(op_name, logits, "logits")
    require_tensor(label, op_name, "label")
    if logits.ndim != 2 or label.shape not in ([logits.shape[0]], [logits.shape[0], 1]):
        raise InvalidArgumentError(
            f"margin_cross_entropy: logits and label do not fit. Got shapes {logits.shape} and {label.shape}, expected "
            f"[N, classes] and [N, 1]. Flatten or reshape them."
        )
    if not label.dtype.is_integer:
        raise InvalidTypeError(
            f"margin_cross_entropy: labels are the numbers of classes. Got dtype {label.dtype.name}, expected int64. "
            f"Cast them with label.astype('int64')."
        )
    first, second, third, factor = (
        number(value, op_name, name)
        for name, value in (("margin1", margin1), ("margin2", margin2), ("margin3", margin3), ("scale", scale))
    )
    if label.ndim == 1:
        label = ops.unsqueeze(label, axes=(1,))
    cosine = -ops.nll_loss(logits, label, None, ignore_index=-1, axis=1)
    target = cosine
    if first != 1 or second != 0:
        # At 1 the angle has an infinite slope, and rounding can leave a cosine beyond it.
        limit = ops.full(shape=(), value=1 - (1e-12 if logits.dtype is float64 else 1e-6), dtype=float64)
        limit = ops.cast(limit, dtype=logits.dtype)
        target = ops.cos(ops.acos(ops.clip(cosine, -limit, limit)) * first + second)
    change = target - third - cosine if third else target - cosine
    classes = ops.arange(start=0, step=1, length=logits.shape[1], dtype=int64)
    right = ops.equal(ops.cast(label, dtype=int64), classes)
    changed = ops.where(right, logits + change, logits) * factor
    loss, softmax = ops.cross_entropy(changed, label, None, soft_label=False, ignore_index=-1, axis=1)
    loss = reduced(loss, reduction or "none")
    return (loss, softmax) if flag(return_softmax, op_name, "return_softmax") else loss


# Embeddings.


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, label: Tensor, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Cosine embedding loss: `1 - cos` of similar pairs, and `max(0, cos - margin)` of dissimilar ones.

    Args:
        input1: floating, `[N, D]` or `[D]`.
        input2: the same shape and dtype.
        label: 1 for similar, -1 for dissimilar pairs; other labels cost nothing. `[N]`, or `[1]` beside `[D]`; any dtype.
        margin: the cosine up to which dissimilar pairs cost nothing; in [-1, 1].
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input1`.

    Shape:
        The result is 0-d, or with "none" the shape of `label`.

    Raises:
        ValueError: an unknown reduction, or shapes that do not fit.
        TypeError: an argument is not a tensor, or the inputs are not floating (also a ValueError).

    Source:
        `paddle.nn.functional.cosine_embedding_loss` (Paddle 2.4).

    Examples:
        >>> x, y = wherry.to_tensor([[1.0, 0.0]]), wherry.to_tensor([[0.0, 1.0]])
        >>> print(wherry.nn.functional.cosine_embedding_loss(x, y, wherry.to_tensor([1])).numpy())
        1.0
    """
    op_name = "cosine_embedding_loss"
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction(op_name, reduction)
    for argument, tensor in ("input1", input1), ("input2", input2):
        require_floating(op_name, tensor, argument)
    require_tensor(label, op_name, "label")
    fits = input1.ndim in (1, 2) and same_shapes(input1.shape, input2.shape)
    if not fits or not same_shapes(label.shape, input1.shape[:1] if input1.ndim == 2 else [1]):
        raise InvalidArgumentError(
            f"cosine_embedding_loss: the shapes do not fit. Got {input1.shape}, {input2.shape} and a label of "
            f"{label.shape}, expected [N, D], [N, D] and [N], or [D], [D] and [1]. Reshape them."
        )
    input2 = to_dtype(input2, input1.dtype)
    last = (input1.ndim - 1,)
    # Rows of zeros have cosine 0 and a finite gradient.
    tiny = 1e-11
    length1, length2 = (ops.reduce_sum(ops.square(x), axes=last, keepdim=False) + tiny for x in (input1, input2))
    cosine = ops.reduce_sum(input1 * input2, axes=last, keepdim=False) / (ops.sqrt(length1) * ops.sqrt(length2))
    apart = ops.relu(cosine - number(margin, op_name, "margin"))
    return reduced(_by_sign(label, 1.0 - cosine, apart), reduction)


def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Triplet margin loss with a distance function: `max(0, d(input, positive) - d(input, negative) + margin)`.

    Args:
        input: floating, `[N, D]`; the anchors.
        positive: the same shape; the examples that should be near.
        negative: the same shape; the examples that should be farther away, by `margin`.
        distance_function: takes two tensors and gives distances, which are not negative; None is the
            Euclidean distance.
        margin: not negative.
        swap: take the distance of positive and negative where that is smaller than the one of anchor and negative.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`.

    Shape:
        The result is 0-d, or with "none" that of the distances.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or a negative margin or distance.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.triplet_margin_with_distance_loss` (Paddle 2.4); Balntas et al., "Learning local
        feature descriptors with triplets" (2016).

    Examples:
        >>> anchor, near, far = wherry.zeros([1, 1]), wherry.ones([1, 1]), wherry.ones([1, 1]) * 4
        >>> square = lambda x, y: ((x - y) ** 2).sum(-1)
        >>> print(wherry.nn.functional.triplet_margin_with_distance_loss(anchor, near, far, square, margin=20.0).numpy())
        5.0
    """
    return _triplet(
        "triplet_margin_with_distance_loss", input, positive, negative, distance_function or pairwise_distance, margin, swap,
        reduction,
    )


def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Triplet margin loss: anchors should be nearer to positive examples than to negative ones, by a margin.

    It is `max(0, d(input, positive) - d(input, negative) + margin)` with the `p`-norm of `x - y + epsilon`.

    Args:
        input: floating, `[N, D]`; the anchors.
        positive: the same shape; the examples that should be near.
        negative: the same shape; the examples that should be farther away.
        margin: not negative.
        p: of the norm, as in `norm`.
        epsilon: keeps the gradient of a distance of 0 finite.
        swap: take the distance of positive and negative where that is smaller than the one of anchor and negative.
        reduction: "mean", "sum" or "none".

    Returns:
        The dtype of `input`.

    Shape:
        The result is 0-d, or with "none" `[N]`.

    Raises:
        ValueError: an unknown reduction, shapes that differ, or a negative margin.
        TypeError: an argument is not a tensor, or `input` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.triplet_margin_loss` (Paddle 2.4).

    Examples:
        >>> anchor, near, far = wherry.zeros([1, 1]), wherry.ones([1, 1]), wherry.ones([1, 1]) * 4
        >>> print(wherry.nn.functional.triplet_margin_loss(anchor, near, far, margin=5.0).numpy().round(4))
        2.0
    """

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, epsilon)

    return _triplet("triplet_margin_loss", input, positive, negative, distance, margin, swap, reduction)


def _triplet(
    op_name: str, input: Any, positive: Any, negative: Any, distance: Callable[[Tensor, Tensor], Tensor], margin: Any,
    swap: bool, reduction: str,
) -> Tensor:
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction(op_name, reduction)
    for argument, tensor in ("input", input), ("positive", positive), ("negative", negative):
        require_floating(op_name, tensor, argument)
        if not same_shapes(tensor.shape, input.shape):
            raise InvalidArgumentError(
                f"{op_name}: the three tensors must have the same shape. Got {argument} of shape {tensor.shape} and input of "
                f"shape {input.shape}, expected equal shapes. Give each anchor one positive and one negative."
            )
    margin = number(margin, op_name, "margin")
    if margin < 0:
        raise InvalidArgumentError(
            f"{op_name}: the margin is negative. Got margin={margin}, expected a number >= 0. The default is 1.0."
        )
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    for name, found in ("positive", near), ("negative", far):
        if found.size and at_hand(found) and ops.reduce_any(found < 0.0, axes=tuple(range(found.ndim)), keepdim=False).item():
            raise InvalidArgumentError(
                f"{op_name}: the distance function gives negative numbers. Got one for the {name} examples, expected "
                f"distances >= 0. Pass a distance, not a similarity."
            )
    return reduced(ops.relu(near - far + margin), reduction)


def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """N-pair loss: cross entropy of the dot products of each anchor with all positives; those of its class are the targets.

    Args:
        anchor: floating, `[N, D]`.
        positive: the same shape; row i belongs to anchor i.
        labels: `[N]`, the classes of the rows; any dtype.
        l2_reg: multiplies a quarter of the mean squared lengths of both.

    Returns:
        The dtype of `anchor`, 0-d.

    Shape:
        `anchor` and `positive` `[B, D]`, `labels` `[B]`, to `[]`.

    Raises:
        ValueError: shapes that do not fit.
        TypeError: an argument is not a tensor, or `anchor` is not floating (also a ValueError).

    Source:
        `paddle.nn.functional.npair_loss`; Sohn, "Improved deep metric learning with multi-class N-pair loss
        objective" (2016).

    Examples:
        >>> x = wherry.to_tensor([[10.0, 0.0], [0.0, 10.0]])
        >>> print(wherry.nn.functional.npair_loss(x, x, wherry.to_tensor([0, 1]), l2_reg=0.0).numpy().round(4))
        0.0
    """
    for argument, tensor in ("anchor", anchor), ("positive", positive):
        require_floating("npair_loss", tensor, argument)
    require_tensor(labels, "npair_loss", "labels")
    if anchor.ndim != 2 or not same_shapes(positive.shape, anchor.shape) or not same_shapes([labels.size], anchor.shape[:1]):
        raise InvalidArgumentError(
            f"npair_loss: the shapes do not fit. Got {anchor.shape}, {positive.shape} and labels of {labels.shape}, expected "
            f"[N, D], [N, D] and [N]. Each anchor has one positive and one label."
        )
    n = anchor.shape[0]
    column, row = ops.reshape(labels, shape=(n, 1)), ops.reshape(labels, shape=(1, n))
    same = to_dtype(ops.equal(column, row), anchor.dtype)
    share = same / ops.reduce_sum(same, axes=(1,), keepdim=True)
    lengths = mean(ops.reduce_sum(ops.square(anchor), axes=(1,), keepdim=False))
    lengths = lengths + mean(ops.reduce_sum(ops.square(positive), axes=(1,), keepdim=False))
    products = ops.matmul(anchor, positive, transpose_x=False, transpose_y=True)
    loss = cross_entropy(products, share, reduction="none", soft_label=True)
    # As in Paddle each column of `share` weights the loss of all rows.
    spread = mean(ops.reduce_sum(share * loss, axes=(0,), keepdim=False))
    return spread + lengths * (0.25 * number(l2_reg, "npair_loss", "l2_reg"))


# Helpers.


def _by_sign(label: Tensor, alike: Tensor, apart: Tensor) -> Tensor:
    """`alike` where the label is 1, `apart` where it is -1, else 0."""
    zero = ops.full(shape=(), value=0, dtype=alike.dtype)
    return ops.where(label == 1, alike, zero) + ops.where(label == -1, apart, zero)


explained(globals())
spelled(globals())
