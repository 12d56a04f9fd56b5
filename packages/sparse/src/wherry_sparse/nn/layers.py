"""Layers on sparse tensors."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import BatchNorm1D, Layer
from wherry_nn.initializer import Normal
from wherry_nn.layers.documented import documented_by
from wherry_sparse.nn import functional as F
from wherry_sparse.tensors import SparseCooTensor, SparseTensor, require_sparse
from wherry_tensor.arguments import flag, integer
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short


@documented_by(F.relu)
class ReLU(Layer):
    """ReLU of the elements that are stored, max(x, 0).

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.ReLU()(x).values().numpy())
        [0. 8.]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.relu(x)


@documented_by(F.relu6)
class ReLU6(Layer):
    """ReLU6 of the elements that are stored, min(max(x, 0), 6).

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.ReLU6()(x).values().numpy())
        [0. 6.]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.relu6(x)


@documented_by(F.leaky_relu)
class LeakyReLU(Layer):
    """Leaky ReLU of the elements that are stored.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.LeakyReLU(0.5)(x).values().numpy())
        [-1.  8.]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.leaky_relu(x, self._negative_slope)


@documented_by(F.softmax)
class Softmax(Layer):
    """Softmax along an axis, among the elements that are stored; the others stay 0.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 2, 3], [0, 1, 0], [1.0, 1.0, 5.0], [2, 2])
        >>> print(wherry.sparse.nn.Softmax()(x).values().numpy())
        [0.5 0.5 1. ]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis

    def forward(self, x: SparseTensor) -> SparseTensor:
        """Softmax of x."""
        return F.softmax(x, self._axis)


class BatchNorm(BatchNorm1D):
    """Batch normalization of the channels of a sparse tensor: `nn.BatchNorm1D` of its values.

    Args:
        num_features: the number of channels.
        momentum: the weight of the old running statistics in an update.
        epsilon: is added to the variance.
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False leaves the weight out.
        bias_attr: likewise; None starts with zeros.
        data_format: no effect: the channels are the dense axis.
        use_global_stats: True always uses the running statistics, False always those of the batch.

    Shape:
        `[batch, ..., channels]` with dense channels, to the same.

    Raises:
        NotImplementedError: when called: the input is not sparse.
        ValueError: when called: the number of channels differs from `num_features`.

    Source:
        `paddle.sparse.nn.BatchNorm`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [3.0]], [1, 2, 2, 2, 1])
        >>> print(wherry.sparse.nn.BatchNorm(1)(x).values().numpy().ravel().round(3))
        [-1.  1.]
    """

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None, bias_attr: Any = None,
        data_format: str = "NDHWC", use_global_stats: bool | None = None, name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, "NC", use_global_stats, name)

    def forward(self, input: Any) -> Any:
        """The normalized points."""
        sparse = require_sparse(input, "BatchNorm")
        return sparse._with(super().forward(sparse.values()))


class SyncBatchNorm(BatchNorm):
    """Batch normalization over the batches of all processes; there is one process here, so it computes what `BatchNorm` does.

    Args:
        num_features: the number of channels.
        momentum: the weight of the old running statistics in an update.
        epsilon: is added to the variance.
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False leaves the weight out.
        bias_attr: likewise; None starts with zeros.
        data_format: no effect: the channels are the dense axis.

    Shape:
        `[batch, ..., channels]` with dense channels, to the same.

    Raises:
        NotImplementedError: when called: the input is not sparse.
        ValueError: when called: the number of channels differs from `num_features`.

    Source:
        `paddle.sparse.nn.SyncBatchNorm`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [3.0]], [1, 2, 2, 2, 1])
        >>> print(wherry.sparse.nn.SyncBatchNorm(1)(x).values().numpy().ravel().round(3))
        [-1.  1.]
    """

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None, bias_attr: Any = None,
        data_format: str = "NCHW", name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer, with a SyncBatchNorm in place of each BatchNorm of sparse tensors."""
        if not isinstance(layer, Layer):
            raise InvalidTypeError(
                f"convert_sync_batchnorm: 'layer' is not a Layer. Got {type(layer).__name__}, expected Layer. Pass the model itself."
            )
        if isinstance(layer, BatchNorm) and not isinstance(layer, SyncBatchNorm):
            made = cls(layer._num_features, layer._momentum, layer._epsilon)
            made.set_state_dict(layer.state_dict())
            return made
        for name, below in layer.named_children():
            setattr(layer, name, cls.convert_sync_batchnorm(below))
        return layer


class _Conv(Layer):
    """Base of convolutions of sparse tensors.

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: an int, or one for each axis.
        padding_mode: "zeros".
        weight_attr: a ParamAttr, an initializer, or None for a normal distribution of variance
            `2 / (in_channels * kernel elements)`.
        bias_attr: likewise; None starts with zeros, False leaves the bias out.

    Raises:
        TypeError: a number of channels is not an int (also a ValueError).
        ValueError: a number of channels is not positive, or `padding_mode` or `groups` is not available.
    """

    _rank = 3
    _submanifold = False

    def _make(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int, padding_mode: str,
        weight_attr: Any, bias_attr: Any, data_format: str,
    ) -> None:
        owner = type(self).__name__
        if not isinstance(padding_mode, str) or padding_mode != "zeros" or integer(groups, owner, "groups") != 1:
            raise InvalidArgumentError(
                f"{owner}: padding_mode or groups is not available for sparse tensors. Got padding_mode={short(padding_mode)} and "
                f"groups={short(groups)}, expected 'zeros' and 1. Leave them out."
            )
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if integer(channels, owner, name) < 1:
                raise InvalidArgumentError(f"{owner}: '{name}' is not positive. Got {short(channels)}, expected an int >= 1. Check their order.")
        kernel = F._each(owner, "kernel_size", kernel_size, self._rank)
        self._stride, self._padding, self._dilation, self._data_format = stride, padding, dilation, data_format
        deviation = math.sqrt(2.0 / (math.prod(kernel) * in_channels))
        self.weight = self.create_parameter([*kernel, in_channels, out_channels], weight_attr, default_initializer=Normal(0.0, deviation))
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: SparseTensor) -> SparseCooTensor:
        """The convolution of x."""
        return F._convolved(type(self).__name__, x, self.weight, self.bias, self._stride, self._padding, self._dilation, 1, self._data_format,
                            self._rank, self._submanifold)


@documented_by(F.conv2d)
class Conv2D(_Conv):
    """2-D convolution of a sparse tensor; the result is stored wherever an element of the input reaches.

    Shape:
        `[batch, height, width, in_channels]` to `[batch, height', width', out_channels]`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 1])
        >>> wherry.sparse.nn.Conv2D(1, 4, kernel_size=3, padding=1)(x).shape
        [1, 2, 2, 4]
    """

    _rank = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


@documented_by(F.conv3d)
class Conv3D(_Conv):
    """3-D convolution of a sparse tensor; the result is stored wherever an element of the input reaches.

    Shape:
        `[batch, depth, height, width, in_channels]` to `[batch, depth', height', width', out_channels]`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> wherry.sparse.nn.Conv3D(1, 4, kernel_size=3, padding=1)(x).shape
        [1, 2, 2, 2, 4]
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NDHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


@documented_by(F.subm_conv2d)
class SubmConv2D(_Conv):
    """2-D submanifold convolution: the result is stored where the input is.

    Shape:
        `[batch, height, width, in_channels]` to `[batch, height, width, out_channels]`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 1])
        >>> wherry.sparse.nn.SubmConv2D(1, 4, kernel_size=3, padding=1)(x).shape
        [1, 2, 2, 4]
    """

    _rank, _submanifold = 2, True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", key: str | None = None, weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


@documented_by(F.subm_conv3d)
class SubmConv3D(_Conv):
    """3-D submanifold convolution: the result is stored where the input is.

    Shape:
        `[batch, depth, height, width, in_channels]` to `[batch, depth, height, width, out_channels]`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> wherry.sparse.nn.SubmConv3D(1, 4, kernel_size=3, padding=1)(x).shape
        [1, 2, 2, 2, 4]
    """

    _submanifold = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", key: str | None = None, weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NDHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


@documented_by(F.max_pool3d)
class MaxPool3D(Layer):
    """3-D max pooling of a sparse tensor: the largest of the elements that are stored in each window.

    Args:
        return_mask: False.

    Raises:
        NotImplementedError: `return_mask` is True.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> wherry.sparse.nn.MaxPool3D(2)(x).values().tolist()
        [[2.0]]
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False, ceil_mode: bool = False,
        data_format: str = "NDHWC", name: str | None = None,
    ) -> None:
        super().__init__()
        if flag(return_mask, "MaxPool3D", "return_mask"):
            raise UnimplementedError("MaxPool3D: return_mask is not available for sparse tensors. Got True, expected False. Leave it out.")
        self._arguments = (kernel_size, stride, padding, ceil_mode, data_format)

    def forward(self, x: SparseTensor) -> SparseCooTensor:
        """The pooled points."""
        return F.max_pool3d(x, *self._arguments)
