"""Linear maps, dropout, embedding, similarities."""
from __future__ import annotations

import math
from typing import Any

from wherry_autograd.selected_rows import embedding_by_rows
from wherry_nn.functional._windows import channels_last, require_rank
from wherry_tensor import ops
from wherry_tensor._core import Tensor, bool_, float32, int32, int64, is_grad_enabled, is_symbolic
from wherry_tensor.arguments import integer, one_axis, real_number, refused, require_tensor
from wherry_tensor.errors import (
    InvalidArgumentError,
    InvalidIndexError,
    InvalidTypeError,
    UnimplementedError,
    short,
)
from wherry_tensor.functions.linalg import norm
from wherry_tensor.functions.math import multiply
from wherry_tensor.functions.reduction import sum as sum_
from wherry_tensor.sizes import is_unknown, known
from wherry_tensor.spellings import spelled
from wherry_tensor.static_builder import building

__all__ = [
    "alpha_dropout",
    "bilinear",
    "cosine_similarity",
    "dropout",
    "dropout2d",
    "dropout3d",
    "embedding",
    "label_smooth",
    "linear",
    "normalize",
    "one_hot",
]


# Linear maps.


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """Linear transformation: `x @ weight + bias`.

    Args:
        x: floating, integer or complex.
        weight: `[in, out]`, in the dtype of `x`. Further axes before these are a batch of weights.
        bias: `[out]`, or any shape that broadcasts to the result; None adds nothing.

    Shape:
        `[..., in]` to `[..., out]`.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.nn.functional.linear`. The weight is `[in, out]`, the transpose of PyTorch's.

    Examples:
        >>> x, weight = wherry.ones([1, 2]), wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.nn.functional.linear(x, weight, wherry.to_tensor([10.0, 20.0])).numpy())
        [[14. 26.]]
    """
    try:
        return ops.linear(x, weight, bias)
    except (TypeError, ValueError) as error:
        if type(x) is tuple and x and isinstance(x[0], Tensor):  # as Paddle takes it: layers of libraries hand their results on whole
            return linear(x[0], weight, bias)
        tensors = {"x": x, "weight": weight}
        if bias is not None:
            tensors["bias"] = bias
        for key, tensor in tensors.items():
            require_tensor(tensor, "linear", key)
        plain = weight.ndim == 2 and (bias is None or (bias.ndim == 1 and bias.size != 1))
        if plain or weight.ndim < 1 or x.ndim == 0:
            raise refused("linear", error, **tensors) from None
        try:
            product = ops.matmul(x, weight, False, False)
            return product if bias is None else ops.add(product, bias)
        except TypeError as other:
            raise refused("linear", other, **tensors) from None


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """Bilinear form of two vectors, one for each output: `out[n, k] = x1[n] @ weight[k] @ x2[n] + bias[0, k]`.

    Args:
        x1: `[N, in1]`, floating.
        x2: `[N, in2]`, in the dtype of `x1`.
        weight: `[out, in1, in2]`.
        bias: `[1, out]`; None adds nothing.

    Shape:
        `[N, out]`.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.nn.functional.bilinear`.

    Examples:
        >>> x1, x2 = wherry.to_tensor([[1.0, 2.0]]), wherry.to_tensor([[3.0]])
        >>> print(wherry.nn.functional.bilinear(x1, x2, wherry.ones([2, 2, 1])).numpy())
        [[9. 9.]]
    """
    tensors = {"x1": x1, "x2": x2, "weight": weight}
    if bias is not None:
        tensors["bias"] = bias
    for key, x in tensors.items():
        require_tensor(x, "bilinear", key)
    a, b, w = x1.shape, x2.shape, weight.shape
    fits = len(a) == 2 and len(b) == 2 and len(w) == 3 and a[0] == b[0] and (a[1], b[1]) == (w[1], w[2])
    if not fits or (bias is not None and bias.shape != [1, w[0]]):
        raise InvalidArgumentError(
            f"bilinear: the shapes do not fit. Got x1 {a}, x2 {b}, weight {w}, bias {None if bias is None else bias.shape}, "
            f"expected [N, in1], [N, in2], [out, in1, in2], [1, out]. Reshape x1 and x2 to matrices."
        )
    try:
        # One matrix product with all pairs of x1 and x2, instead of one for each output.
        pairs = ops.reshape(
            ops.multiply(ops.unsqueeze(x1, (2,)), ops.unsqueeze(x2, (1,))), (a[0], a[1] * b[1])
        )
        out = ops.matmul(pairs, ops.reshape(weight, (w[0], w[1] * w[2])), False, True)
        return out if bias is None else ops.add(out, bias)
    except TypeError as error:
        raise refused("bilinear", error, **tensors) from None


# Dropout.


def dropout(
    x: Tensor,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """Dropout: set elements to zero at random, each with probability `p`.

    Args:
        x: floating.
        p: in [0, 1].
        axis: one axis or several along which decisions are independent; along the others, whole slices are
            dropped. None decides for every element.
        training: False drops nothing.
        mode: "upscale_in_train" divides what is kept by `1 - p`; "downscale_in_infer" leaves it and multiplies
            by `1 - p` where not training.

    Returns:
        The shape of `x`; `x` itself where there is nothing to do.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, `p` is not a number or `axis` is not a list of axes (also a ValueError), or `x` is not floating.
        ValueError: `p` is not in [0, 1], an axis is out of range (negative ones too, as in Paddle), or there is no
            such mode.

    Source:
        `paddle.nn.functional.dropout`; Srivastava et al. (2014).

    Examples:
        >>> x = wherry.nn.functional.dropout(wherry.ones([1000]), p=0.5)
        >>> sorted(set(x.tolist()))
        [0.0, 2.0]
    """
    found = p if isinstance(p, Tensor) and is_symbolic(p) else None  # by a program
    if found is None and (type(p) is not float or not 0.0 <= p <= 1.0):
        p = _probability(p, "dropout")
    upscale = mode == "upscale_in_train"
    if not upscale and mode != "downscale_in_infer":
        raise InvalidArgumentError(
            f"dropout: mode argument should be 'downscale_in_infer' or 'upscale_in_train'. Got mode={short(mode)}, expected one of "
            f"them. 'upscale_in_train' is the usual one."
        )
    require_tensor(x, "dropout")
    if found is not None:
        found = ops.cast(ops.reshape(found, shape=()), x.dtype)
        return _dropped_by(x, found, list(range(x.ndim)) if axis is None else _dropped_axes(axis, x.shape), training, upscale)
    if not training:
        if building.for_file and axis is None and p and is_symbolic(x):
            return ops.dropout(x, p, upscale)[0]
        return x if upscale or p == 0 else x * (1.0 - p)
    if p == 0:
        return x
    if axis is None:
        return ops.dropout(x, p, upscale)[0]
    shape = x.shape
    axes = _dropped_axes(axis, shape)
    ones = ops.full(shape=tuple(n if i in axes else 1 for i, n in enumerate(shape)), value=1, dtype=x.dtype)
    return ops.multiply(x, ops.dropout(ones, p, upscale)[0])


def _dropped_by(x: Tensor, p: Tensor, axes: list[int], training: bool, upscale: bool) -> Tensor:
    """Dropout by a probability that a program finds: what the op does, from draws."""
    kept = 1.0 - p
    if not training:
        return x if upscale else x * kept
    shape = tuple(n if i in axes else 1 for i, n in enumerate(x.shape))
    mask = ops.greater_equal(ops.uniform(shape=shape, min=0.0, max=1.0, dtype=float32), ops.cast(p, float32))
    factor = ops.cast(mask, x.dtype)
    if upscale:  # with a probability of 1 nothing is left to be divided
        factor = factor / ops.maximum(kept, ops.full(shape=(), value=1e-6, dtype=x.dtype))
    return x * factor


def _probability(p: Any, op_name: str) -> float:
    if not isinstance(p, (int, float, Tensor)):
        raise InvalidTypeError(
            f"{op_name}: p argument should be a number or Variable. Got {short(p)} ({type(p).__name__}), expected a number in "
            f"[0, 1]. Write p=0.5."
        )
    found = real_number(p, op_name, "p")
    if not 0 <= found <= 1:
        raise InvalidArgumentError(
            f"{op_name}: p argument should between 0 and 1. Got p={found}, expected a probability: that of setting an "
            f"element to zero. Divide percent by 100."
        )
    return found


def _dropped_axes(axis: Any, shape: list[int]) -> list[int]:
    if not isinstance(axis, (int, list, tuple)) or not all(isinstance(a, int) for a in _listed(axis)):
        raise InvalidTypeError(
            f"dropout: datatype of axis argument should be int or list. Got axis={short(axis)} ({type(axis).__name__}), expected an "
            f"int or a list of ints. None drops single elements."
        )
    axes = _listed(axis)
    if not axes or not all(0 <= a < len(shape) for a in axes):
        raise InvalidArgumentError(
            f"dropout: axis value should be greater than or equal to 0 and less than dimensions of x:{len(shape)}. Got "
            f"axis={axis} for x of shape {shape}, expected axes in [0, {len(shape)}). Count from 0, not from the end."
        )
    return axes


def _listed(axis: Any) -> list[Any]:
    return list(axis) if isinstance(axis, (list, tuple)) else [axis]


def dropout2d(
    x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Channel dropout: set whole channels of images to zero at random, and divide the others by `1 - p`.

    Args:
        x: floating, 4-D.
        p: in [0, 1], the probability of a channel to be dropped.
        training: False drops nothing.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (or channels last) to the same.

    Raises:
        TypeError: `x` is not a Tensor or `p` is not a number (also a ValueError), or `x` is not floating.
        ValueError: `p` is not in [0, 1], `x` is not 4-D, or there is no such layout.

    Source:
        `paddle.nn.functional.dropout2d`; Tompson et al. (2014).

    Examples:
        >>> x = wherry.nn.functional.dropout2d(wherry.ones([2, 8, 3, 3]))
        >>> bool((x == x[:, :, :1, :1]).all())
        True
    """
    require_rank(require_tensor(x, "dropout2d"), 2, "dropout2d")
    return dropout(x, p, [0, 3] if channels_last(data_format, 2, "dropout2d") else [0, 1], training)


def dropout3d(
    x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """Channel dropout: set whole channels of volumes to zero at random, and divide the others by `1 - p`.

    Args:
        x: floating, 5-D.
        p: in [0, 1], the probability of a channel to be dropped.
        training: False drops nothing.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` (or channels last) to the same.

    Raises:
        TypeError: `x` is not a Tensor or `p` is not a number (also a ValueError), or `x` is not floating.
        ValueError: `p` is not in [0, 1], `x` is not 5-D, or there is no such layout.

    Source:
        `paddle.nn.functional.dropout3d`.

    Examples:
        >>> x = wherry.nn.functional.dropout3d(wherry.ones([2, 8, 3, 3, 3]))
        >>> bool((x == x[:, :, :1, :1, :1]).all())
        True
    """
    require_rank(require_tensor(x, "dropout3d"), 3, "dropout3d")
    return dropout(x, p, [0, 4] if channels_last(data_format, 3, "dropout3d") else [0, 1], training)


# The limit of SELU for large negative numbers: -scale * alpha.
_SELU_FLOOR = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Alpha dropout, for SELU: elements are set to its lower limit, and mean 0 and variance 1 are kept.

    Args:
        x: floating.
        p: in [0, 1].
        training: False drops nothing.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `p` is not a number (also a ValueError), or `x` is not floating.
        ValueError: `p` is not in [0, 1].

    Source:
        `paddle.nn.functional.alpha_dropout`; Klambauer et al. (2017).

    Examples:
        >>> x = wherry.nn.functional.alpha_dropout(wherry.randn([10000]), p=0.3)
        >>> abs(float(x.mean())) < 0.1, abs(float(x.std()) - 1) < 0.1
        (True, True)
    """
    if type(p) is not float or not 0.0 <= p <= 1.0:
        p = _probability(p, "alpha_dropout")
    require_tensor(x, "alpha_dropout")
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0.0
    # a * x + b has mean 0 and variance 1 again, where x is replaced by the floor with probability p.
    a = 1.0 / math.sqrt((1.0 - p) * (1.0 + p * _SELU_FLOOR**2))
    b = -a * _SELU_FLOOR * p
    kept, mask = ops.dropout(x, p, False)
    floor = ops.full(shape=(), value=a * _SELU_FLOOR + b, dtype=x.dtype)
    return ops.where(ops.cast(mask, bool_), kept * a + b, floor)


# Embedding and one-hot vectors.


def embedding(
    x: Tensor, weight: Tensor, padding_idx: int | None = None, sparse: bool = False, name: str | None = None
) -> Tensor:
    """Embedding lookup: rows of `weight` by their indices.

    Args:
        x: int32 or int64, any shape: each in `[0, rows)`.
        weight: `[rows, size]`, floating.
        padding_idx: the result is zeros where `x` is this number, and no gradient goes there; in `[-rows, rows)`.
        sparse: the gradient of `weight`, where that is a leaf, is a `SelectedRows`, which holds only the rows that were
            looked up. In a program that is captured (static graph, `to_static`) it is dense.

    Shape:
        `[...]` to `[..., size]`.

    Raises:
        TypeError: an argument is not a Tensor, or `padding_idx` is not an int (also a ValueError).
        NotImplementedError: `x` is neither int32 nor int64.
        ValueError: `weight` is not a matrix, or `padding_idx` is out of range.
        IndexError: a number in `x` is out of range (also a ValueError).

    Source:
        `paddle.nn.functional.embedding`.

    Examples:
        >>> weight = wherry.to_tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        >>> print(wherry.nn.functional.embedding(wherry.to_tensor([2, 0]), weight).numpy())
        [[4. 5.]
         [0. 1.]]
    """
    try:
        padding = -1 if padding_idx is None else _padding_index(padding_idx, weight, "embedding")
        if sparse and isinstance(x, Tensor) and not weight.stop_gradient and weight.node is None and is_grad_enabled() \
                and not (is_symbolic(x) or is_symbolic(weight)):
            return embedding_by_rows(x, weight, padding)
        return ops.embedding(x, weight, padding)
    except IndexError as error:
        raise InvalidIndexError(str(error)) from None
    except (TypeError, AttributeError):
        require_tensor(x, "embedding")
        require_tensor(weight, "embedding", "weight")
        if x.dtype is int32 or x.dtype is int64:
            raise
        raise UnimplementedError(
            f"embedding: the indices are neither int32 nor int64. Got x of dtype {x.dtype.name}, expected int64. "
            f"Cast it with x.astype('int64')."
        ) from None


def _padding_index(padding_idx: Any, weight: Any, op_name: str) -> int:
    at = integer(padding_idx, op_name, "padding_idx")
    rows = require_tensor(weight, op_name, "weight").shape[0]
    if is_unknown(rows):
        return at if at >= 0 else known(rows, f"{op_name}: padding_idx={at} counts from the end of the weight")
    if not -rows <= at < rows:
        raise InvalidArgumentError(
            f"{op_name}: padding_idx must be within [-{rows}, {rows}). Got padding_idx={at} for {rows} rows, expected the "
            f"number of a row. None pads nothing."
        )
    return at % rows


def one_hot(x: Tensor, num_classes: Any, name: str | None = None) -> Tensor:
    """One-hot vectors: rows with 1 at the index of the class and 0 elsewhere.

    Args:
        x: int32 or int64, each in `[0, num_classes)`.
        num_classes: an int, or a tensor of one.

    Returns:
        float32.

    Shape:
        `[...]` to `[..., num_classes]`.

    Raises:
        TypeError: `x` is not a Tensor or `num_classes` is not an int (also a ValueError), or `x` is not an integer tensor.
        ValueError: a class is out of range.

    Source:
        `paddle.nn.functional.one_hot`.

    Examples:
        >>> print(wherry.nn.functional.one_hot(wherry.to_tensor([1, 0]), 3).numpy())
        [[0. 1. 0.]
         [1. 0. 0.]]
    """
    require_tensor(x, "one_hot")
    if isinstance(num_classes, float) and num_classes.is_integer():
        num_classes = int(num_classes)  # accepted, as in Paddle
    return ops.one_hot(x, integer(num_classes, "one_hot", "num_classes"))


def label_smooth(
    label: Tensor, prior_dist: Tensor | None = None, epsilon: float = 0.1, name: str | None = None
) -> Tensor:
    """Label smoothing: `(1 - epsilon) * label + epsilon * prior`.

    Args:
        label: floating: `[..., classes]`, mostly one-hot.
        prior_dist: `[1, classes]`, or another shape that broadcasts to `label`; None takes `1 / classes` for each.
        epsilon: in [0, 1].

    Shape:
        `[..., classes]` to the same.

    Raises:
        TypeError: `label` is not a Tensor (also a ValueError), or not floating, or dtypes differ.
        ValueError: `epsilon` is not in [0, 1], or `prior_dist` does not fit.

    Source:
        `paddle.nn.functional.label_smooth`; Szegedy et al. (2015).

    Examples:
        >>> print(wherry.nn.functional.label_smooth(wherry.to_tensor([[0.0, 1.0]])).numpy())
        [[0.05 0.95]]
    """
    epsilon = real_number(epsilon, "label_smooth", "epsilon")
    if not 0 <= epsilon <= 1:
        raise InvalidArgumentError(
            f"label_smooth: The value of epsilon must be between 0 and 1. Got epsilon={epsilon}, expected a share in [0, 1]. "
            f"The usual value is 0.1."
        )
    require_tensor(label, "label_smooth")
    if not label.dtype.is_floating:
        raise InvalidTypeError(
            f"label_smooth: label is not floating. Got label of dtype {label.dtype.name}, expected a floating dtype. "
            f"Use one_hot first, or cast it with astype('float32')."
        )
    if prior_dist is None:
        classes = label.shape[-1] if label.ndim else 1
        return label * (1.0 - epsilon) + (epsilon / classes if classes else 0.0)
    require_tensor(prior_dist, "label_smooth", "prior_dist")
    try:
        return ops.add(label * (1.0 - epsilon), prior_dist * epsilon)
    except TypeError as error:
        raise refused("label_smooth", error, label=label, prior_dist=prior_dist) from None


# Norms and cosines.


def normalize(x: Tensor, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """Normalization by a norm: `x` divided by its `p`-norm along `axis`, or by `epsilon` where that is larger.

    Args:
        x: floating.
        p: the order of the norm, also 0, negative or infinite.
        axis: in `[-rank, rank)`. A 1-D `x` needs 0 or -1.
        epsilon: avoids division by 0.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, `p` is not a number or `axis` is not an int (also a ValueError), or `x` is not floating.
        ValueError: `axis` is out of range.

    Source:
        `paddle.nn.functional.normalize`.

    Examples:
        >>> print(wherry.nn.functional.normalize(wherry.to_tensor([[3.0, 4.0]])).numpy())
        [[0.6 0.8]]
    """
    require_tensor(x, "normalize")
    rank = x.ndim
    if rank == 0:
        raise InvalidArgumentError(
            "normalize: a 0-d tensor has no axis. Got x of shape [], expected rank 1 or more. Reshape x to [1]."
        )
    length = norm(x, real_number(p, "normalize", "p"), one_axis(axis, rank, "normalize"), True)
    return ops.divide(x, ops.maximum(length, ops.full(shape=(), value=real_number(epsilon, "normalize", "epsilon"), dtype=x.dtype)))


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """Cosine similarity: the dot product of vectors, divided by their norms.

    Args:
        x1: floating.
        x2: floating; broadcasts with `x1`. The result has the wider of the two dtypes.
        axis: along which the vectors lie.
        eps: the smallest product of norms to divide by.

    Shape:
        The broadcast shape, without `axis`.

    Raises:
        TypeError: an argument is not a Tensor, or not floating (also a ValueError).
        ValueError: `axis` is out of range, or the shapes do not broadcast.

    Source:
        `paddle.nn.functional.cosine_similarity`.

    Examples:
        >>> x1, x2 = wherry.to_tensor([[1.0, 0.0]]), wherry.to_tensor([[3.0, 4.0]])
        >>> print(wherry.nn.functional.cosine_similarity(x1, x2).numpy())
        [0.6]
    """
    require_tensor(x1, "cosine_similarity", "x1")
    require_tensor(x2, "cosine_similarity", "x2")
    if not (x1.dtype.is_floating and x2.dtype.is_floating):
        raise InvalidTypeError(
            f"cosine_similarity: x1 or x2 is not floating. Got {x1.dtype.name} and {x2.dtype.name}, expected "
            f"floating dtypes. Cast them with astype('float32')."
        )
    products = sum_(multiply(x1, x2), axis)
    squares = multiply(sum_(ops.square(x1), axis), sum_(ops.square(x2), axis))
    least = ops.full(shape=(), value=_squared(eps), dtype=squares.dtype)
    return ops.divide(products, ops.sqrt(ops.clip(squares, least, None)))


def _squared(eps: Any) -> float:
    given = real_number(eps, "cosine_similarity", "eps")
    return given * given  # without the error of `**` for what is too large


spelled(globals())
