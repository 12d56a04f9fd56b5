"""Layers of sparse tensors."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import BatchNorm1D, Layer
from wherry_nn.initializer import Normal
from wherry_sparse.nn import functional as F
from wherry_sparse.tensors import SparseCooTensor, SparseTensor, require_sparse
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short


class ReLU(Layer):
    """`functional.relu` as a layer. Source: `paddle.sparse.nn.ReLU`."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.relu(x)


class ReLU6(Layer):
    """`functional.relu6` as a layer. Source: `paddle.sparse.nn.ReLU6`."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.relu6(x)


class LeakyReLU(Layer):
    """`functional.leaky_relu` as a layer. Source: `paddle.sparse.nn.LeakyReLU`."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The activation of x."""
        return F.leaky_relu(x, self._negative_slope)


class Softmax(Layer):
    """`functional.softmax` as a layer. Source: `paddle.sparse.nn.Softmax`."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis

    def forward(self, x: SparseTensor) -> SparseTensor:
        """Softmax of x."""
        return F.softmax(x, self._axis)


class BatchNorm(BatchNorm1D):
    """Batch normalization of the channels of points: `nn.BatchNorm1D` of the values.

    Args:
        num_features: how many channels.
        momentum: how much of the running statistics stays.
        epsilon: added to the variance.
        weight_attr: of the factor.
        bias_attr: of the shift.
        data_format: "NDHWC" or "NHWC".
        use_global_stats: take the running statistics also while training.
        name: accepted for compatibility; unused.

    Source:
        `paddle.sparse.nn.BatchNorm`.
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
    """Batch normalization whose statistics are those of all processes; of one process those of `BatchNorm`.

    Source:
        `paddle.sparse.nn.SyncBatchNorm`.
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
            raise InvalidTypeError(f"convert_sync_batchnorm: 'layer' has the wrong type. Got {type(layer).__name__}, expected Layer.")
        if isinstance(layer, BatchNorm) and not isinstance(layer, SyncBatchNorm):
            made = cls(layer._num_features, layer._momentum, layer._epsilon)
            made.set_state_dict(layer.state_dict())
            return made
        for name, below in layer.named_children():
            setattr(layer, name, cls.convert_sync_batchnorm(below))
        return layer


class _Conv(Layer):
    _rank = 3
    _submanifold = False

    def _make(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int, padding_mode: str,
        weight_attr: Any, bias_attr: Any, data_format: str,
    ) -> None:
        owner = type(self).__name__
        if padding_mode != "zeros" or groups != 1:
            raise InvalidArgumentError(
                f"{owner}: what is not stored is 0. Got padding_mode={short(padding_mode)} and groups={short(groups)}, expected 'zeros' and 1."
            )
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if integer(channels, owner, name) < 1:
                raise InvalidArgumentError(f"{owner}: '{name}' counts channels. Got {short(channels)}, expected an int >= 1. Check their order.")
        kernel = F._each(owner, "kernel_size", kernel_size, self._rank)
        self._stride, self._padding, self._dilation, self._data_format = stride, padding, dilation, data_format
        deviation = math.sqrt(2.0 / (math.prod(kernel) * in_channels))
        self.weight = self.create_parameter([*kernel, in_channels, out_channels], weight_attr, default_initializer=Normal(0.0, deviation))
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: SparseTensor) -> SparseCooTensor:
        """The convolution of x."""
        return F._convolved(type(self).__name__, x, self.weight, self.bias, self._stride, self._padding, self._dilation, 1, self._data_format,
                            self._rank, self._submanifold)


class Conv2D(_Conv):
    """Convolution of points in a plane: `functional.conv2d`. Source: `paddle.sparse.nn.Conv2D`."""

    _rank = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


class Conv3D(_Conv):
    """Convolution of points in space: `functional.conv3d`. Source: `paddle.sparse.nn.Conv3D`."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NDHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


class SubmConv2D(_Conv):
    """Submanifold convolution of points in a plane: `functional.subm_conv2d`. Source: `paddle.sparse.nn.SubmConv2D`."""

    _rank, _submanifold = 2, True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", key: str | None = None, weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


class SubmConv3D(_Conv):
    """Submanifold convolution of points in space: `functional.subm_conv3d`. Source: `paddle.sparse.nn.SubmConv3D`."""

    _submanifold = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        padding_mode: str = "zeros", key: str | None = None, weight_attr: Any = None, bias_attr: Any = None, data_format: str = "NDHWC",
    ) -> None:
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format)


class MaxPool3D(Layer):
    """The largest of the elements that are stored in each window: `functional.max_pool3d`. Source: `paddle.sparse.nn.MaxPool3D`."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False, ceil_mode: bool = False,
        data_format: str = "NDHWC", name: str | None = None,
    ) -> None:
        super().__init__()
        if return_mask:
            raise UnimplementedError("MaxPool3D: there are no masks of sparse tensors. Got return_mask=True.")
        self._arguments = (kernel_size, stride, padding, ceil_mode, data_format)

    def forward(self, x: SparseTensor) -> SparseCooTensor:
        """The pooled points."""
        return F.max_pool3d(x, *self._arguments)
