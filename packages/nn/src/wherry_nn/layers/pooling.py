"""Pooling layers."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional import pooling as F
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]


class _Pool(Layer):
    """Base of the pooling layers with fixed windows."""

    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        kernel = self.kernel_size if "kernel_size" in self.__dict__ else self.ksize
        return f"kernel_size={kernel}, stride={self.stride}, padding={self.padding}"


@documented_by(F.avg_pool1d)
class AvgPool1D(_Pool):
    """Average pooling: averages of windows.

    Examples:
        >>> wherry.nn.AvgPool1D(3, stride=2, padding=1)(wherry.ones([2, 3, 8])).shape
        [2, 3, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.exclusive = ceil_mode, exclusive
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool1d(x, self.kernel_size, self.stride, self.padding, self.exclusive, self.ceil_mode)


@documented_by(F.avg_pool2d)
class AvgPool2D(_Pool):
    """Average pooling: averages of windows.

    Examples:
        >>> wherry.nn.AvgPool2D(3, stride=2, padding=1)(wherry.ones([2, 3, 8, 8])).shape
        [2, 3, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.exclusive, self.divisor = ceil_mode, exclusive, divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool2d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.exclusive, self.divisor, self.data_format)


@documented_by(F.avg_pool3d)
class AvgPool3D(_Pool):
    """Average pooling: averages of windows.

    Examples:
        >>> wherry.nn.AvgPool3D(3, stride=2, padding=1)(wherry.ones([2, 3, 8, 8, 8])).shape
        [2, 3, 4, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.exclusive, self.divisor = ceil_mode, exclusive, divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.exclusive, self.divisor, self.data_format)


@documented_by(F.max_pool1d)
class MaxPool1D(_Pool):
    """Max pooling: maxima of windows.

    Examples:
        >>> wherry.nn.MaxPool1D(3, stride=2, padding=1)(wherry.ones([2, 3, 8])).shape
        [2, 3, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.name = name

    def forward(self, x: Tensor) -> Any:
        return F.max_pool1d(x, self.kernel_size, self.stride, self.padding, self.return_mask, self.ceil_mode)


@documented_by(F.max_pool2d)
class MaxPool2D(_Pool):
    """Max pooling: maxima of windows.

    Examples:
        >>> wherry.nn.MaxPool2D(3, stride=2, padding=1)(wherry.ones([2, 3, 8, 8])).shape
        [2, 3, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Any:
        return F.max_pool2d(x, self.ksize, self.stride, self.padding, self.return_mask, self.ceil_mode, self.data_format)


@documented_by(F.max_pool3d)
class MaxPool3D(_Pool):
    """Max pooling: maxima of windows.

    Examples:
        >>> wherry.nn.MaxPool3D(3, stride=2, padding=1)(wherry.ones([2, 3, 8, 8, 8])).shape
        [2, 3, 4, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Any:
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, self.return_mask, self.ceil_mode, self.data_format)


@documented_by(F.adaptive_avg_pool1d)
class AdaptiveAvgPool1D(Layer):
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveAvgPool1D(3)(wherry.ones([2, 3, 8])).shape
        [2, 3, 3]
    """

    def __init__(self, output_size: Any, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(x, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@documented_by(F.adaptive_avg_pool2d)
class AdaptiveAvgPool2D(Layer):
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveAvgPool2D(3)(wherry.ones([2, 3, 8, 8])).shape
        [2, 3, 3, 3]
    """

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


@documented_by(F.adaptive_avg_pool3d)
class AdaptiveAvgPool3D(Layer):
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveAvgPool3D(3)(wherry.ones([2, 3, 8, 8, 8])).shape
        [2, 3, 3, 3, 3]
    """

    def __init__(self, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(x, self._output_size, self._data_format)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


@documented_by(F.adaptive_max_pool1d)
class AdaptiveMaxPool1D(Layer):
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveMaxPool1D(3)(wherry.ones([2, 3, 8])).shape
        [2, 3, 3]
    """

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_mask = return_mask
        self.name = name

    def forward(self, x: Tensor) -> Any:
        return F.adaptive_max_pool1d(x, self.output_size, self.return_mask)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, return_mask={self.return_mask}"


@documented_by(F.adaptive_max_pool2d)
class AdaptiveMaxPool2D(Layer):
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveMaxPool2D(3)(wherry.ones([2, 3, 8, 8])).shape
        [2, 3, 3, 3]
    """

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    def forward(self, x: Tensor) -> Any:
        return F.adaptive_max_pool2d(x, self._output_size, self._return_mask)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


@documented_by(F.adaptive_max_pool3d)
class AdaptiveMaxPool3D(Layer):
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Examples:
        >>> wherry.nn.AdaptiveMaxPool3D(3)(wherry.ones([2, 3, 8, 8, 8])).shape
        [2, 3, 3, 3, 3]
    """

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    def forward(self, x: Tensor) -> Any:
        return F.adaptive_max_pool3d(x, self._output_size, self._return_mask)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


@documented_by(F.max_unpool1d)
class MaxUnPool1D(Layer):
    """Max unpooling: each maximum at its index, zeros elsewhere.

    Examples:
        >>> out, mask = wherry.nn.MaxPool1D(2, return_mask=True)(wherry.ones([2, 3, 8]))
        >>> wherry.nn.MaxUnPool1D(2)(out, mask).shape
        [2, 3, 8]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCL",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.data_format, self.output_size, self.name = data_format, output_size, name

    def forward(self, x: Tensor, indices: Tensor) -> Tensor:
        return F.max_unpool1d(x, indices, self.ksize, self.stride, self.padding, self.data_format, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@documented_by(F.max_unpool2d)
class MaxUnPool2D(Layer):
    """Max unpooling: each maximum at its index, zeros elsewhere.

    Examples:
        >>> out, mask = wherry.nn.MaxPool2D(2, return_mask=True)(wherry.ones([2, 3, 8, 8]))
        >>> wherry.nn.MaxUnPool2D(2)(out, mask).shape
        [2, 3, 8, 8]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.data_format, self.output_size, self.name = data_format, output_size, name

    def forward(self, x: Tensor, indices: Tensor) -> Tensor:
        return F.max_unpool2d(x, indices, self.ksize, self.stride, self.padding, self.data_format, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@documented_by(F.max_unpool3d)
class MaxUnPool3D(Layer):
    """Max unpooling: each maximum at its index, zeros elsewhere.

    Examples:
        >>> out, mask = wherry.nn.MaxPool3D(2, return_mask=True)(wherry.ones([2, 3, 8, 8, 8]))
        >>> wherry.nn.MaxUnPool3D(2)(out, mask).shape
        [2, 3, 8, 8, 8]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCDHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.data_format, self.output_size, self.name = data_format, output_size, name

    def forward(self, x: Tensor, indices: Tensor) -> Tensor:
        return F.max_unpool3d(x, indices, self.ksize, self.stride, self.padding, self.data_format, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


explained(globals())
spelled(globals())
