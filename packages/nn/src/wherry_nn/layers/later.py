"""Layers that came with Paddle 3: one class for each kind of padding, power average pooling, pooling of drawn windows, two losses."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.activation import Silu
from wherry_nn.layers.conv import Conv1D, Conv2D, Conv3D
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_nn.layers.padding import _Pad
from wherry_nn.layers.pooling import AdaptiveMaxPool1D, AdaptiveMaxPool2D, AdaptiveMaxPool3D
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, integers_of, real_number
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat
from wherry_tensor.spellings import spelled

__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "CircularPad1D", "CircularPad1d",
    "CircularPad2D", "CircularPad2d", "CircularPad3D", "CircularPad3d", "ConstantPad1D", "ConstantPad1d", "ConstantPad2D", "ConstantPad2d",
    "ConstantPad3D", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d", "FeatureAlphaDropout", "FractionalMaxPool2D", "FractionalMaxPool3D",
    "LPPool1D", "LPPool1d", "LPPool2D", "LPPool2d", "MultiLabelMarginLoss", "ReflectionPad1D", "ReflectionPad1d", "ReflectionPad2D",
    "ReflectionPad2d", "ReflectionPad3D", "ReflectionPad3d", "ReplicationPad1D", "ReplicationPad1d", "ReplicationPad2D", "ReplicationPad2d",
    "ReplicationPad3D", "ReplicationPad3d", "SiLU", "ZeroPad1D", "ZeroPad3D",
]


class ConstantPad1D(_Pad):
    """Padding of sequences by one number.

    Args:
        padding: `[left, right]`, or one int for all.
        value: the number.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ConstantPad1D`.

    Examples:
        >>> wherry.nn.ConstantPad1D(1)(wherry.ones([1, 2, 4])).shape
        [1, 2, 6]
    """

    def __init__(self, padding: Any, value: float = 0.0, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, 1, "constant", value, data_format, name)


class ConstantPad2D(_Pad):
    """Padding of images by one number.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all.
        value: the number.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ConstantPad2D`.

    Examples:
        >>> wherry.nn.ConstantPad2D(1)(wherry.ones([1, 2, 4, 4])).shape
        [1, 2, 6, 6]
    """

    def __init__(self, padding: Any, value: float = 0.0, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, 2, "constant", value, data_format, name)


class ConstantPad3D(_Pad):
    """Padding of volumes by one number.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all.
        value: the number.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ConstantPad3D`.

    Examples:
        >>> wherry.nn.ConstantPad3D(1)(wherry.ones([1, 2, 4, 4, 4])).shape
        [1, 2, 6, 6, 6]
    """

    def __init__(self, padding: Any, value: float = 0.0, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, 3, "constant", value, data_format, name)


class CircularPad1D(_Pad):
    """Padding of sequences by the elements from the other end.

    Args:
        padding: `[left, right]`, or one int for all.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.CircularPad1D`.

    Examples:
        >>> wherry.nn.CircularPad1D(1)(wherry.ones([1, 2, 4])).shape
        [1, 2, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, 1, "circular", 0.0, data_format, name)


class CircularPad2D(_Pad):
    """Padding of images by the elements from the other end.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.CircularPad2D`.

    Examples:
        >>> wherry.nn.CircularPad2D(1)(wherry.ones([1, 2, 4, 4])).shape
        [1, 2, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, 2, "circular", 0.0, data_format, name)


class CircularPad3D(_Pad):
    """Padding of volumes by the elements from the other end.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.CircularPad3D`.

    Examples:
        >>> wherry.nn.CircularPad3D(1)(wherry.ones([1, 2, 4, 4, 4])).shape
        [1, 2, 6, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, 3, "circular", 0.0, data_format, name)


class ReplicationPad1D(_Pad):
    """Padding of sequences by the element at the edge.

    Args:
        padding: `[left, right]`, or one int for all.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReplicationPad1D`.

    Examples:
        >>> wherry.nn.ReplicationPad1D(1)(wherry.ones([1, 2, 4])).shape
        [1, 2, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, 1, "replicate", 0.0, data_format, name)


class ReplicationPad2D(_Pad):
    """Padding of images by the element at the edge.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReplicationPad2D`.

    Examples:
        >>> wherry.nn.ReplicationPad2D(1)(wherry.ones([1, 2, 4, 4])).shape
        [1, 2, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, 2, "replicate", 0.0, data_format, name)


class ReplicationPad3D(_Pad):
    """Padding of volumes by the element at the edge.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReplicationPad3D`.

    Examples:
        >>> wherry.nn.ReplicationPad3D(1)(wherry.ones([1, 2, 4, 4, 4])).shape
        [1, 2, 6, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, 3, "replicate", 0.0, data_format, name)


class ReflectionPad1D(_Pad):
    """Padding of sequences by a mirror image, without the edge.

    Args:
        padding: `[left, right]`, or one int for all.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReflectionPad1D`.

    Examples:
        >>> wherry.nn.ReflectionPad1D(1)(wherry.ones([1, 2, 4])).shape
        [1, 2, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, 1, "reflect", 0.0, data_format, name)


class ReflectionPad2D(_Pad):
    """Padding of images by a mirror image, without the edge.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReflectionPad2D`.

    Examples:
        >>> wherry.nn.ReflectionPad2D(1)(wherry.ones([1, 2, 4, 4])).shape
        [1, 2, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, 2, "reflect", 0.0, data_format, name)


class ReflectionPad3D(_Pad):
    """Padding of volumes by a mirror image, without the edge.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ReflectionPad3D`.

    Examples:
        >>> wherry.nn.ReflectionPad3D(1)(wherry.ones([1, 2, 4, 4, 4])).shape
        [1, 2, 6, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, 3, "reflect", 0.0, data_format, name)


class ZeroPad1D(_Pad):
    """Padding of sequences by zeros.

    Args:
        padding: `[left, right]`, or one int for all.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ZeroPad1D`.

    Examples:
        >>> wherry.nn.ZeroPad1D(1)(wherry.ones([1, 2, 4])).shape
        [1, 2, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, 1, "constant", 0.0, data_format, name)


class ZeroPad3D(_Pad):
    """Padding of volumes by zeros.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to the same, each size with its paddings.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input has another rank, an unknown layout (also an AssertionError), or a wrong number of paddings.

    Source:
        `paddle.nn.ZeroPad3D`.

    Examples:
        >>> wherry.nn.ZeroPad3D(1)(wherry.ones([1, 2, 4, 4, 4])).shape
        [1, 2, 6, 6, 6]
    """

    def __init__(self, padding: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, 3, "constant", 0.0, data_format, name)


class FeatureAlphaDropout(Layer):
    """Alpha dropout of whole channels, for SELU, while training.

    Args:
        p: in [0, 1], the probability of a channel to be dropped.

    Shape:
        `[N, C, ...]` to the same.

    Raises:
        TypeError: when called: the input is not a floating Tensor (also a ValueError).
        ValueError: when called: `p` is not a probability.

    Source:
        `paddle.nn.FeatureAlphaDropout`.

    Examples:
        >>> layer = wherry.nn.FeatureAlphaDropout(0.5)
        >>> layer.eval()
        >>> layer(wherry.ones([2, 3, 4])).shape
        [2, 3, 4]
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return described(self.name, p=self.p)


class MultiLabelMarginLoss(Layer):
    """Margin loss of several right classes for each sample.

    Args:
        reduction: "mean", "sum" or "none".

    Shape:
        scores `[N, C]` and labels `[N, C]`, -1 after the last right class, to `[]`, or `[N]` with "none".

    Raises:
        ValueError: the reduction is unknown; when called: the shapes differ, or a class is out of range.
        TypeError: when called: an argument is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.MultiLabelMarginLoss`.

    Examples:
        >>> scores, label = wherry.to_tensor([[0.1, 0.2, 0.4, 0.8]]), wherry.to_tensor([[3, 0, -1, 1]])
        >>> print(wherry.nn.MultiLabelMarginLoss()(scores, label).numpy())
        0.85...
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise InvalidArgumentError(f"MultiLabelMarginLoss: unknown reduction. Got {short(reduction)}, expected 'mean', 'sum' or 'none'.")
        self.reduction, self.name = reduction, name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.multi_label_margin_loss(input, label, self.reduction)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Cross entropy of very many classes in clusters: the rarer ones get fewer numbers.

    Args:
        in_features: the number of features.
        n_classes: the number of classes, the most frequent first.
        cutoffs: where clusters end, ascending; the first stays in the head, the last class ends the last cluster.
        weight_attr, bias_attr: of the parameters, as those of `Linear`.
        div_value: each cluster has fewer features than the one before by this factor.
        head_bias: whether the head has a bias.

    Attributes:
        head_weight: `[in_features, cutoffs[0] + clusters]`.
        head_bias: `[cutoffs[0] + clusters]`, or None.
        tail_weights: two matrices for each cluster.

    Shape:
        `[N, in_features]` and labels `[N]` to the logarithms of their probabilities `[N]` and their mean loss `[]`.

    Raises:
        ValueError: the cutoffs do not ascend below `n_classes`; when called: a class is out of range, or the shapes do not fit.
        TypeError: an argument is not an int (also a ValueError).

    Source:
        `paddle.nn.AdaptiveLogSoftmaxWithLoss`; Grave et al. (2017).

    Examples:
        >>> layer = wherry.nn.AdaptiveLogSoftmaxWithLoss(4, 10, [2, 5], div_value=2.0)
        >>> output, loss = layer(wherry.ones([3, 4]), wherry.to_tensor([0, 4, 9]))
        >>> output.shape, loss.shape
        ([3], [])
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], weight_attr: Any = None, bias_attr: Any = None, div_value: float = 4.0,
        head_bias: bool = False, name: str | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.n_classes = (
            integer(value, "AdaptiveLogSoftmaxWithLoss", name) for value, name in ((in_features, "in_features"), (n_classes, "n_classes"))
        )
        ends = list(integers_of(cutoffs, "AdaptiveLogSoftmaxWithLoss", "cutoffs"))
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or ends[-1] >= self.n_classes:
            raise InvalidArgumentError(
                f"AdaptiveLogSoftmaxWithLoss: the cutoffs do not fit. Got {short(ends)} for {n_classes} classes, expected ascending numbers from 1 "
                "to "
                f"{self.n_classes - 1}."
            )
        div_value = real_number(div_value, "AdaptiveLogSoftmaxWithLoss", "div_value")
        if not div_value > 0:
            raise InvalidArgumentError(f"AdaptiveLogSoftmaxWithLoss: 'div_value' divides sizes. Got {div_value}, expected a number above 0.")
        self.cutoffs, self.div_value, self.name = [*ends, self.n_classes], div_value, name
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight: Any = self.create_parameter([self.in_features, self.head_size], attr=weight_attr)
        self.head_bias = self.create_parameter([self.head_size], attr=bias_attr, is_bias=True) if head_bias else None
        self.tail_weights: list[list[Any]] = []
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inner = max(int(self.in_features // div_value ** (i + 1)), 1)
            pair = [self.create_parameter([self.in_features, inner], attr=weight_attr), self.create_parameter([inner, high - low], attr=weight_attr)]
            for which, parameter in enumerate(pair):
                self.add_parameter(f"tail_weights_{i}_{which}", parameter)
            self.tail_weights.append(pair)

    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        return F.adaptive_log_softmax_with_loss(input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes, `[N, n_classes]`. Source: `paddle.nn.AdaptiveLogSoftmaxWithLoss.log_prob`."""
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, (inner, outer) in enumerate(self.tail_weights):
            tail = F.log_softmax(F.linear(F.linear(input, inner), outer), 1)
            parts.append(tail + head[:, self.shortlist_size + i].unsqueeze(1))
        return concat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each sample, `[N]`. Source: `paddle.nn.AdaptiveLogSoftmaxWithLoss.predict`."""
        return self.log_prob(input).argmax(1)


@documented_by(F.lp_pool1d)
class LPPool1D(Layer):
    """Power average pooling: the root of the sum of powers of each window.

    Examples:
        >>> wherry.nn.LPPool1D(2, 2)(wherry.ones([1, 2, 4])).shape
        [1, 2, 2]
    """

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.padding = norm_type, kernel_size, stride, padding
        self.ceil_mode, self.data_format, self.name = ceil_mode, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@documented_by(F.lp_pool2d)
class LPPool2D(Layer):
    """Power average pooling: the root of the sum of powers of each window.

    Examples:
        >>> wherry.nn.LPPool2D(2, 2)(wherry.ones([1, 2, 4, 4])).shape
        [1, 2, 2, 2]
    """

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.padding = norm_type, kernel_size, stride, padding
        self.ceil_mode, self.data_format, self.name = ceil_mode, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@documented_by(F.fractional_max_pool2d)
class FractionalMaxPool2D(Layer):
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor.

    Examples:
        >>> wherry.nn.FractionalMaxPool2D(3)(wherry.ones([1, 2, 7, 7])).shape
        [1, 2, 3, 3]
    """

    def __init__(
        self, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.random_u, self.return_mask, self.name = output_size, kernel_size, random_u, return_mask, name

    def forward(self, x: Tensor) -> Any:
        return F.fractional_max_pool2d(x, self.output_size, self.kernel_size, self.random_u, self.return_mask)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, return_mask={self.return_mask}"


@documented_by(F.fractional_max_pool3d)
class FractionalMaxPool3D(Layer):
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor.

    Examples:
        >>> wherry.nn.FractionalMaxPool3D(3)(wherry.ones([1, 2, 7, 7, 7])).shape
        [1, 2, 3, 3, 3]
    """

    def __init__(
        self, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.random_u, self.return_mask, self.name = output_size, kernel_size, random_u, return_mask, name

    def forward(self, x: Tensor) -> Any:
        return F.fractional_max_pool3d(x, self.output_size, self.kernel_size, self.random_u, self.return_mask)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, return_mask={self.return_mask}"


# In the spelling of PyTorch.
ConstantPad1d = ConstantPad1D
ConstantPad2d = ConstantPad2D
ConstantPad3d = ConstantPad3D
CircularPad1d = CircularPad1D
CircularPad2d = CircularPad2D
CircularPad3d = CircularPad3D
ReplicationPad1d = ReplicationPad1D
ReplicationPad2d = ReplicationPad2D
ReplicationPad3d = ReplicationPad3D
ReflectionPad1d = ReflectionPad1D
ReflectionPad2d = ReflectionPad2D
ReflectionPad3d = ReflectionPad3D
LPPool1d = LPPool1D
LPPool2d = LPPool2D
Conv1d = Conv1D
Conv2d = Conv2D
Conv3d = Conv3D
AdaptiveMaxPool1d = AdaptiveMaxPool1D
AdaptiveMaxPool2d = AdaptiveMaxPool2D
AdaptiveMaxPool3d = AdaptiveMaxPool3D
SiLU = Silu


explained(globals())
spelled(globals())
