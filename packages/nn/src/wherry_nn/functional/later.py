"""Functions of layers that came with Paddle 3: gated activations, root mean square normalization, dropout of channels, two losses."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_nn.functional import common
from wherry_nn.functional.activation import log_sigmoid, log_softmax, silu
from wherry_nn.functional.common import linear
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, at_hand, flag, integers_of, real_number, require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions import creation, logic, movement, positions, reduction
from wherry_tensor.sizes import same_shapes
from wherry_tensor.spellings import spelled

__all__ = [
    "adaptive_log_softmax_with_loss", "dropout1d", "feature_alpha_dropout", "logsigmoid", "multi_label_margin_loss", "rms_norm", "swiglu",
]

logsigmoid = log_sigmoid


def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """`silu(x) * y`: the gate of many language models.

    Args:
        x: floating.
        y: of the shape of `x`; None takes the second half of the last axis of `x`.

    Shape:
        `[..., n]` and `[..., n]` to `[..., n]`; alone `[..., 2 * n]` to `[..., n]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the last axis of `x` alone is odd, or the shapes do not broadcast.

    Source:
        `paddle.nn.functional.swiglu`; Shazeer (2020), GLU variants improve Transformer.

    Examples:
        >>> wherry.nn.functional.swiglu(wherry.to_tensor([0.0, 2.0])).tolist()
        [0.0]
    """
    if y is None:
        require_rank(x, "swiglu", 1, MAX_RANK)
        if x.shape[-1] % 2:
            raise InvalidArgumentError(f"swiglu: the last axis has no halves. Got x of shape {x.shape}, expected an even size. Give y as well.")
        x, y = movement.split(x, 2, -1)
    return silu(x) * require_tensor(y, "swiglu", "y")


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int] | int, weight: Tensor | None = None, eps: float = 1e-5, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Normalization by the root of the mean of squares, without a mean that is subtracted.

    Args:
        input: floating.
        normalized_shape: the last sizes of the input, over which the mean is taken.
        weight: of that shape, a factor of each element.
        eps: added to the mean of squares.

    Returns:
        The result, and the reciprocal of the root in float32.

    Shape:
        `[..., *normalized_shape]` to the same, and `[...]`.

    Raises:
        TypeError: `input` is not a floating Tensor (also a ValueError).
        ValueError: the sizes do not fit.

    Source:
        `paddle.nn.functional.rms_norm`; Zhang and Sennrich (2019).

    Examples:
        >>> out, scale = wherry.nn.functional.rms_norm(wherry.to_tensor([[3.0, 4.0]]), [2])
        >>> print(out.numpy(), scale.shape)
        [[0.8485... 1.1313...]] [1]
    """
    require_tensor(input, "rms_norm", "input")
    if not input.dtype.is_floating:
        raise InvalidTypeError(f"rms_norm: the input must be floating. Got {input.dtype.name}, expected float32, say. Cast it.")
    sizes = list(integers_of(normalized_shape, "rms_norm", "normalized_shape"))
    if weight is not None:
        require_tensor(weight, "rms_norm", "weight")
    if not sizes or input.shape[-len(sizes) :] != sizes or weight is not None and weight.shape != sizes:
        raise InvalidArgumentError(
            f"rms_norm: the sizes do not fit. Got normalized_shape={short(sizes)} for an input of shape {input.shape}"
            f"{'' if weight is None else f' and a weight of {weight.shape}'}, expected the last sizes of the input."
        )
    axes = list(range(-len(sizes), 0))
    wide = input.astype("float32") if input.dtype.itemsize < 4 else input
    scale = ops.rsqrt(reduction.mean(ops.square(wide), axes, True) + real_number(eps, "rms_norm", "eps"))
    out = (wide * scale).astype(input.dtype)
    return out if weight is None else out * weight, movement.reshape(scale, input.shape[: -len(sizes)]).astype("float32")


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Channel dropout of sequences: set whole channels to zero at random, and divide the others by `1 - p`.

    Args:
        input: floating, with two or three axes.
        p: in [0, 1], the probability of a channel to be dropped.
        training: False drops nothing.
        inplace: write the result into the input.

    Shape:
        `[N, C, L]` or `[C, L]` to the same.

    Raises:
        TypeError: `input` is not a floating Tensor (also a ValueError).
        ValueError: `p` is not a probability, or the input has another rank.

    Source:
        `paddle.nn.functional.dropout1d`.

    Examples:
        >>> wherry.nn.functional.dropout1d(wherry.ones([2, 3, 4]), training=False).shape
        [2, 3, 4]
    """
    require_rank(input, "dropout1d", 2, 3, "input", "[N, C, L]")
    out = common.dropout(input, p, axis=[0, 1] if input.ndim == 3 else [0], training=training)
    return input.copy_(out) if flag(inplace, "dropout1d", "inplace") else out


def feature_alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Alpha dropout of whole channels, for SELU: they are set to its lower limit, and mean 0 and variance 1 are kept.

    Args:
        x: floating, with two axes at least.
        p: in [0, 1].
        training: False drops nothing.

    Shape:
        `[N, C, ...]` to the same.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: `p` is not a probability.

    Source:
        `paddle.nn.functional.feature_alpha_dropout`.

    Examples:
        >>> wherry.nn.functional.feature_alpha_dropout(wherry.ones([2, 3, 4]), training=False).shape
        [2, 3, 4]
    """
    require_rank(x, "feature_alpha_dropout", 2, MAX_RANK)
    chance = real_number(p, "feature_alpha_dropout", "p")
    if not 0 <= chance <= 1:
        raise InvalidArgumentError(f"feature_alpha_dropout: p is not a probability. Got {chance}, expected a number in [0, 1]. Divide percents.")
    if not flag(training, "feature_alpha_dropout", "training") or chance == 0:
        return x
    if chance == 1:
        return creation.zeros_like(x)
    limit = -1.6732632423543772 * 1.0507009873554805
    kept = ops.bernoulli(creation.full([*x.shape[:2], *[1] * (x.ndim - 2)], 1 - chance, "float32")).astype(x.dtype)
    a = ((1 - chance) * (1 + chance * limit**2)) ** -0.5
    return (x * kept + limit * (1 - kept)) * a - a * chance * limit


def multi_label_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Margin loss of several right classes: the mean over classes of `max(0, 1 - (input[right] - input[wrong]))`, for each right one.

    Args:
        input: scores, floating.
        label: for each sample its right classes, and -1 after the last one.
        reduction: "mean", "sum" or "none".

    Shape:
        `[N, C]` and `[N, C]` to `[]`, or `[N]` with "none".

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the shapes differ, a class is out of range, or the reduction is unknown.

    Source:
        `paddle.nn.functional.multi_label_margin_loss`.

    Examples:
        >>> scores, label = wherry.to_tensor([[0.1, 0.2, 0.4, 0.8]]), wherry.to_tensor([[3, 0, -1, 1]])
        >>> print(wherry.nn.functional.multi_label_margin_loss(scores, label).numpy())
        0.85...
    """
    require_rank(input, "multi_label_margin_loss", 2, name="input")
    require_tensor(label, "multi_label_margin_loss", "label")
    if reduction not in ("mean", "sum", "none"):
        raise InvalidArgumentError(f"multi_label_margin_loss: unknown reduction. Got {short(reduction)}, expected 'mean', 'sum' or 'none'.")
    if not same_shapes(label.shape, input.shape) or not label.dtype.is_integer:
        raise InvalidArgumentError(
            f"multi_label_margin_loss: the labels do not fit. Got {label.dtype.name} of shape {label.shape}, expected integers of {input.shape}."
        )
    classes = input.shape[1]
    if at_hand(label) and label.size and not -1 <= int(label.min()) <= int(label.max()) < classes:
        raise InvalidArgumentError(f"multi_label_margin_loss: a class is out of range. Got one, expected classes in [0, {classes}), or -1 for none.")
    ended = ops.cumsum((label < 0).astype("int64"), axis=1, reverse=False) > 0  # what stands after the first -1 does not count
    right = logic.where(ended, creation.zeros_like(label), label)
    counts = logic.logical_not(ended).astype(input.dtype)
    is_right = ops.put_along_axis(creation.zeros_like(input), right.astype("int64"), counts, axis=1, reduce="add") > 0
    wrong = logic.logical_not(is_right).astype(input.dtype)
    scores = positions.take_along_axis(input, right.astype("int64"), 1)
    margins = ops.maximum(1 - (movement.unsqueeze(scores, 2) - movement.unsqueeze(input, 1)), creation.zeros([], input.dtype))
    losses = (margins * movement.unsqueeze(counts, 2) * movement.unsqueeze(wrong, 1)).sum([1, 2]) / classes
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


def adaptive_log_softmax_with_loss(
    input: Tensor, label: Tensor, head_weight: Tensor, tail_weights: Sequence[Sequence[Tensor]], cutoffs: Sequence[int],
    head_bias: Tensor | None = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Cross entropy of very many classes in clusters: the rarer ones get fewer numbers.

    Args:
        input: features, floating.
        label: the class of each sample.
        head_weight: `[in_features, cutoffs[0] + number of clusters]`.
        tail_weights: two matrices for each cluster: of the features to fewer, and of these to the classes.
        cutoffs: where each cluster ends; the last is the number of classes.
        head_bias: `[cutoffs[0] + number of clusters]`.

    Returns:
        The logarithm of the probability of each sample's class, and the mean of its negative.

    Shape:
        `[N, in_features]` and `[N]` to `[N]` and `[]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: a class is out of range, or the shapes do not fit.

    Source:
        `paddle.nn.functional.adaptive_log_softmax_with_loss`; Grave et al. (2017).

    Examples:
        >>> x, label = wherry.ones([2, 4]), wherry.to_tensor([0, 2])
        >>> tails = [[wherry.ones([4, 2]), wherry.ones([2, 1])]]
        >>> output, loss = wherry.nn.functional.adaptive_log_softmax_with_loss(x, label, wherry.ones([4, 3]), tails, [2, 3])
        >>> print(loss.numpy())
        1.0986...
    """
    single = require_tensor(label, "adaptive_log_softmax_with_loss", "label").ndim == 0
    label = movement.reshape(label, [1]) if single else label
    input = movement.unsqueeze(input, 0) if single else require_rank(input, "adaptive_log_softmax_with_loss", 2, name="input")
    ends = [0, *integers_of(cutoffs, "adaptive_log_softmax_with_loss", "cutoffs")]
    if not label.dtype.is_integer:
        raise InvalidTypeError(f"adaptive_log_softmax_with_loss: labels are classes. Got {label.dtype.name}, expected int64 or int32. Cast them.")
    if at_hand(label) and label.size and not 0 <= int(label.min()) <= int(label.max()) < ends[-1]:
        raise InvalidArgumentError(f"adaptive_log_softmax_with_loss: a class is out of range. Got one, expected classes in [0, {ends[-1]}).")
    if not same_shapes(label.shape, input.shape[:1]):
        raise InvalidArgumentError(
            f"adaptive_log_softmax_with_loss: the labels do not fit. Got {label.shape} for an input of {input.shape}, expected {input.shape[:1]}."
        )
    head = log_softmax(linear(input, head_weight, head_bias), 1)
    # All samples go through all clusters, so that the shapes do not depend on the labels.
    output = creation.zeros(label.shape, input.dtype)
    for i, (low, high) in enumerate(zip(ends, ends[1:])):
        mine = logic.logical_and(label >= low, label < high)
        at = movement.unsqueeze(logic.where(mine, label - low, creation.zeros_like(label)), 1)
        if i == 0:
            found = positions.take_along_axis(head, at, 1)
        else:
            tail = log_softmax(linear(linear(input, tail_weights[i - 1][0]), tail_weights[i - 1][1]), 1)
            found = positions.take_along_axis(tail, at, 1) + head[:, ends[1] + i - 1 : ends[1] + i]
        output = logic.where(mine, movement.squeeze(found, 1), output)
    mean = -output.mean()
    return (movement.squeeze(output, 0) if single else output), mean


spelled(globals())
