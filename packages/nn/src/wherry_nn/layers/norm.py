"""Normalization layers."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wherry_nn import functional
from wherry_nn.functional import norm as F
from wherry_nn.initializer import Constant, Normal
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import documented_by
from wherry_nn.param_attr import ParamAttr
from wherry_nn.power_iteration import as_matrix, largest_singular_value, power_iteration
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, name_of, repeats, require, require_tensor, sizes_of
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled

__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]

_one = Constant(1.0)


def _require_rank(layer: Layer, x: Tensor, ranks: tuple[int, ...]) -> None:
    if require_tensor(x, type(layer).__name__, "input").ndim not in ranks:
        wanted = " or ".join(f"{rank}D" for rank in ranks)
        raise InvalidArgumentError(
            f"{type(layer).__name__}: expected {wanted} input (got {x.ndim}D input). Got shape {x.shape}, expected {wanted}. "
            f"Add a missing batch axis with unsqueeze(0), or use the layer of the other dimension."
        )


def _require_format(layer: Layer, data_format: Any, allowed: tuple[str, ...]) -> str:
    if data_format not in allowed:
        raise InvalidArgumentError(
            f"{type(layer).__name__}: data_format is not known. Got {short(data_format)}, expected {' or '.join(allowed)}. "
            f"They name the axes of the input in their order."
        )
    return data_format


class _BatchNormBase(Layer):
    """Base of the batch normalizations.

    Args:
        num_features: the number of channels, C.
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False leaves the weight out.
        bias_attr: likewise; None starts with zeros.
        use_global_stats: True always uses the running statistics, False always those of the batch. None uses those of the batch
            in training, where the running ones follow them, and the running ones in evaluation.
        name: begins the names of the running statistics; None numbers them.

    Attributes:
        weight: `[C]`.
        bias: `[C]`.

    Raises:
        ValueError: there is no such `data_format`.
    """

    weight: Any
    bias: Any
    _mean: Any
    _variance: Any
    _ranks: tuple[int, ...] = ()
    _formats: tuple[str, ...] = ()

    def __init__(
        self,
        num_features: int,
        momentum: float,
        epsilon: float,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
        use_global_stats: bool | None,
        name: str | None,
    ) -> None:
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._use_global_stats, self._name = use_global_stats, name
        self._data_format = _require_format(self, data_format, self._formats)
        name = name_of(name, type(self).__name__)
        shape = [num_features]
        self.weight = self.create_parameter(shape, attr=weight_attr, default_initializer=_one)
        self.bias = self.create_parameter(shape, attr=bias_attr, is_bias=True)
        self._mean = _statistic(self, shape, 0.0, None if name is None else f"{name}_mean")
        self._variance = _statistic(self, shape, 1.0, None if name is None else f"{name}_variance")

    def forward(self, input: Tensor) -> Tensor:
        if self._ranks and getattr(input, "ndim", None) not in self._ranks:
            _require_rank(self, input, self._ranks)
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training, self._momentum, self._epsilon,
            self._data_format, self._use_global_stats,
        )

    def extra_repr(self) -> str:
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text if self._name is None else f"{text}, name={self._name}"


def _statistic(layer: Layer, shape: list[int], value: float, name: str | None, dtype: Any = None) -> Any:
    """A running statistic: a parameter that does not train, so that files have it under Paddle's name."""
    attr = ParamAttr(name=name, initializer=Constant(value), trainable=False, do_model_average=True)
    return layer.create_parameter(shape, attr=attr, dtype=dtype)


@documented_by(F.batch_norm)
class BatchNorm1D(_BatchNormBase):
    """Batch normalization: normalize each channel of sequences or vectors by its statistics.

    Args:
        data_format: "NC", "NCL" or "NLC".

    Shape:
        `[N, C]` or `[N, C, L]` (`[N, L, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> norm = wherry.nn.BatchNorm1D(3)
        >>> norm(wherry.ones([2, 3, 4])).shape
        [2, 3, 4]
    """

    _ranks = (2, 3)
    _formats = ("NC", "NCL", "NLC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


@documented_by(F.batch_norm)
class BatchNorm2D(_BatchNormBase):
    """Batch normalization: normalize each channel of images by its statistics.

    Args:
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (`[N, H, W, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> norm = wherry.nn.BatchNorm2D(3)
        >>> list(norm.state_dict())
        ['weight', 'bias', '_mean', '_variance']
        >>> norm(wherry.ones([2, 3, 4, 4])).shape
        [2, 3, 4, 4]
    """

    _ranks = (4,)
    _formats = ("NCHW", "NHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


@documented_by(F.batch_norm)
class BatchNorm3D(_BatchNormBase):
    """Batch normalization: normalize each channel of volumes by its statistics.

    Args:
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` (`[N, D, H, W, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> wherry.nn.BatchNorm3D(3)(wherry.ones([2, 3, 4, 4, 4])).shape
        [2, 3, 4, 4, 4]
    """

    _ranks = (5,)
    _formats = ("NCDHW", "NDHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


@documented_by(F.batch_norm)
class SyncBatchNorm(_BatchNormBase):
    """Batch normalization over the batches of all processes that `paddle.distributed.init_parallel_env` has joined; alone as BatchNorm1D to 3D.

    Args:
        data_format: "NC", "NCL", "NCHW", "NCDHW", or with the channels last "NLC", "NHWC", "NDHWC".

    Shape:
        Rank 2 or more, and the result likewise.

    Source:
        `paddle.nn.SyncBatchNorm`, which does not run on a CPU in Paddle. The running variance is that of the batches of all processes.

    Examples:
        >>> wherry.nn.SyncBatchNorm(3)(wherry.ones([2, 3, 4, 4])).shape
        [2, 3, 4, 4]
    """

    _formats = tuple(F._LAYOUTS)
    # The forward pass of several processes, of a layer and its input: set by the package that joins them, which stands above this one.
    _of_all: ClassVar[Callable[[Any, Tensor], Tensor] | None] = None

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    def forward(self, input: Tensor) -> Tensor:
        batch = self.training if self._use_global_stats is None else not self._use_global_stats
        return super().forward(input) if self._of_all is None or not batch else self._of_all(input)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """Replace the BatchNorm1D to 3D inside `layer` by SyncBatchNorms, which take over their parameters.

        Args:
            layer: a model, which is changed; or one of those layers.

        Returns:
            `layer`, or the SyncBatchNorm in its place.

        Source:
            `paddle.nn.SyncBatchNorm.convert_sync_batchnorm`.

        Examples:
            >>> model = wherry.nn.Sequential(wherry.nn.Conv2D(3, 5, 3), wherry.nn.BatchNorm2D(5))
            >>> wherry.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
            SyncBatchNorm(num_features=5, momentum=0.9, epsilon=1e-05)
        """
        require(layer, Layer, "convert_sync_batchnorm", "layer", "Pass the model itself.")
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            # Made without parameters: it takes over those of `layer`, whose names are in use.
            sync = cls(
                layer._num_features, layer._momentum, layer._epsilon, False, False, layer._data_format
            )
            sync._name, sync._use_global_stats, sync.training = layer._name, layer._use_global_stats, layer.training
            sync._parameters.clear()
            for name in ("weight", "bias", "_mean", "_variance"):
                setattr(sync, name, getattr(layer, name))
            return sync
        for name, inside in list(layer.named_children()):
            layer.add_sublayer(name, cls.convert_sync_batchnorm(inside))
        return layer


# Activations under the names of Paddle's operators, with the attributes that these have by themselves.
_OPERATORS: dict[str, Callable[[Tensor], Tensor]] = {
    "abs": lambda x: ops.abs(x),
    "brelu": lambda x: functional.hardtanh(x, 0.0, 24.0),
    "exp": lambda x: ops.exp(x),
    "hard_shrink": lambda x: functional.hardshrink(x),
    "hard_sigmoid": lambda x: functional.hardsigmoid(x, 0.2),
    "hard_swish": lambda x: functional.hardswish(x),
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.02),
    "logsigmoid": lambda x: functional.log_sigmoid(x),
    "soft_relu": lambda x: functional.softplus(functional.hardtanh(x, -40.0, 40.0)),
    "sqrt": lambda x: ops.sqrt(x),
    "square": lambda x: x * x,
    "stanh": lambda x: 1.7159 * ops.tanh(x * 0.67),
    "tanh_shrink": lambda x: functional.tanhshrink(x),
}


class BatchNorm(Layer):
    """Batch normalization in Paddle's older form, for inputs of any rank, with an activation.

    Args:
        num_channels: the number of channels, C.
        act: the name of a function of `nn.functional`, or of an operator of Paddle such as "hard_swish", that is applied to the result.
        is_test: no effect; call `eval()`.
        momentum: the weight of the old running statistics in an update.
        epsilon: is added to the variance.
        param_attr: a ParamAttr, an initializer, or None to start with ones; False leaves the weight out.
        bias_attr: likewise; None starts with zeros.
        dtype: of the parameters.
        data_layout: "NCHW" if the channels are axis 1, "NHWC" if they come last, whatever the rank.
        in_place: no effect.
        moving_mean_name: of the running mean; None numbers it.
        moving_variance_name: of the running variance; None numbers it.
        do_model_average_for_mean_and_var: no effect.
        use_global_stats: use the running statistics in training, too.
        trainable_statistics: use those of the batch in evaluation, too.

    Attributes:
        weight: `[C]`.
        bias: `[C]`.

    Shape:
        Rank 2 or more, and the result likewise.

    Raises:
        ValueError: `act` or `data_layout` is not known.

    Source:
        `paddle.nn.BatchNorm`.

    Examples:
        >>> norm = wherry.nn.BatchNorm(3, act="relu")
        >>> norm(wherry.to_tensor([[-1.0, 0.0, 1.0], [1.0, 0.0, -1.0]])).min().item()
        0.0
    """

    weight: Any
    bias: Any
    _mean: Any
    _variance: Any

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__()
        if act is not None and act not in _OPERATORS and act not in functional.__all__:  # type: ignore[attr-defined]
            raise InvalidArgumentError(
                f"BatchNorm: act is not a function. Got {short(act)}, expected a name in nn.functional, such as 'relu'. "
                f"Leave it out and call the function on the result."
            )
        self._act, self._momentum, self._epsilon = act, momentum, epsilon
        self._data_layout = _require_format(self, data_layout, ("NCHW", "NHWC"))
        self._use_global_stats, self._trainable_statistics = use_global_stats, trainable_statistics
        shape = [num_channels]
        self.weight = self.create_parameter(shape, attr=param_attr, dtype=dtype, default_initializer=_one)
        self.bias = self.create_parameter(shape, attr=bias_attr, dtype=dtype, is_bias=True)
        self._mean = _statistic(self, shape, 0.0, moving_mean_name, dtype)
        self._variance = _statistic(self, shape, 1.0, moving_variance_name, dtype)

    def forward(self, input: Tensor) -> Tensor:
        running = self._use_global_stats or not (self.training or self._trainable_statistics)
        out = F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training, self._momentum, self._epsilon,
            self._data_layout, running,
        )
        if self._act is None:
            return out
        return (_OPERATORS.get(self._act) or getattr(functional, self._act))(out)


@documented_by(F.layer_norm)
class LayerNorm(Layer):
    """Layer normalization: normalize the last axes by their own mean and variance.

    Args:
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False leaves the weight out.
        bias_attr: likewise; None starts with zeros.

    Attributes:
        weight: flat, `[product of normalized_shape]`, as in Paddle.
        bias: likewise.

    Shape:
        Any that ends in `normalized_shape`, and the result likewise.

    Raises:
        ValueError: `normalized_shape` is neither an int nor a list of them.

    Examples:
        >>> norm = wherry.nn.LayerNorm([3, 4])
        >>> norm(wherry.ones([2, 3, 4])).shape, norm.weight.shape
        ([2, 3, 4], [12])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._normalized_shape = F.normalized_sizes(normalized_shape, "LayerNorm")
        self._epsilon = epsilon
        elements = 1
        for size in self._normalized_shape:
            elements *= size
        self.weight = self.create_parameter([elements], attr=weight_attr, default_initializer=_one)
        self.bias = self.create_parameter([elements], attr=bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


@documented_by(F.group_norm)
class GroupNorm(Layer):
    """Group normalization: normalize groups of channels of each sample by their own mean and variance.

    Args:
        num_channels: the number of channels, C.
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False keeps them fixed.
        bias_attr: likewise; None starts with zeros.
        data_format: "NCHW" if the channels are axis 1, "NHWC" if they come last, whatever the rank.

    Attributes:
        weight: `[C]`.
        bias: `[C]`.

    Shape:
        Rank 2 or more, and the result likewise.

    Raises:
        ValueError: there is no such `data_format`.

    Source:
        `paddle.nn.GroupNorm`; Wu & He (2018).

    Examples:
        >>> norm = wherry.nn.GroupNorm(num_groups=2, num_channels=6)
        >>> norm(wherry.ones([2, 6, 4, 4])).shape
        [2, 6, 4, 4]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._data_format = _require_format(self, data_format, ("NCHW", "NHWC"))
        # Paddle makes parameters that do not train where others make none; files have them.
        fixed = ParamAttr(trainable=False)
        self.weight = self.create_parameter(
            [num_channels], attr=fixed if weight_attr is False else weight_attr, default_initializer=_one
        )
        self.bias = self.create_parameter([num_channels], attr=fixed if bias_attr is False else bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNorm(Layer):
    """Base of the instance normalizations.

    Args:
        num_features: the number of channels, C.
        epsilon: is added to the variance.
        weight_attr: a ParamAttr, an initializer, or None to start with ones; False leaves it out, with the bias.
        bias_attr: likewise; None starts with zeros.

    Attributes:
        scale: `[C]`.
        bias: `[C]`.

    Raises:
        ValueError: there is no such `data_format`, or only one of both attributes is False (also an AssertionError).
    """

    scale: Any
    bias: Any
    _ranks: tuple[int, ...] = ()
    _formats: tuple[str, ...] = ()

    def __init__(
        self, num_features: int, epsilon: float, momentum: float, weight_attr: Any, bias_attr: Any, data_format: str
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise AssertedArgumentError(
                f"{type(self).__name__}: weight_attr and bias_attr must be set to False at the same time. Got "
                f"weight_attr={short(weight_attr)} and bias_attr={short(bias_attr)}, expected False for both or for neither. "
                f"Freeze one with ParamAttr(trainable=False) instead."
            )
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._data_format = _require_format(self, data_format, self._formats)
        self.scale = self.create_parameter([num_features], attr=weight_attr, default_initializer=_one)
        self.bias = self.create_parameter([num_features], attr=bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        _require_rank(self, input, self._ranks)
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, momentum=self._momentum, eps=self._epsilon, data_format=self._data_format
        )

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


@documented_by(F.instance_norm)
class InstanceNorm1D(_InstanceNorm):
    """Instance normalization: normalize each channel of each sample in a batch of sequences by its own statistics.

    Args:
        data_format: "NC", "NCL" or "NLC".

    Shape:
        `[N, C]` or `[N, C, L]` (`[N, L, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> wherry.nn.InstanceNorm1D(3)(wherry.ones([2, 3, 4])).shape
        [2, 3, 4]
    """

    _ranks = (2, 3)
    _formats = ("NC", "NCL", "NLC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format)


@documented_by(F.instance_norm)
class InstanceNorm2D(_InstanceNorm):
    """Instance normalization: normalize each channel of each sample in a batch of images by its own statistics.

    Args:
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (`[N, H, W, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> wherry.nn.InstanceNorm2D(3)(wherry.ones([2, 3, 4, 4])).shape
        [2, 3, 4, 4]
    """

    _ranks = (4,)
    _formats = ("NCHW", "NHWC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format)


@documented_by(F.instance_norm)
class InstanceNorm3D(_InstanceNorm):
    """Instance normalization: normalize each channel of each sample in a batch of volumes by its own statistics.

    Args:
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` (`[N, D, H, W, C]`), and the result likewise.

    Raises:
        ValueError: when called: the input has another rank.

    Examples:
        >>> wherry.nn.InstanceNorm3D(3)(wherry.ones([2, 3, 4, 4, 4])).shape
        [2, 3, 4, 4, 4]
    """

    _ranks = (5,)
    _formats = ("NCDHW", "NDHWC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format)


@documented_by(F.local_response_norm)
class LocalResponseNorm(Layer):
    """Local response normalization: divide by a power of the mean square of neighbouring channels.

    Examples:
        >>> wherry.nn.LocalResponseNorm(size=5)(wherry.ones([2, 3, 4, 4])).shape
        [2, 3, 4, 4]
    """

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        if self.data_format != "NCHW":
            text += f", data_format={self.data_format}"
        return text if self.name is None else f"{text}, name={self.name}"


class SpectralNorm(Layer):
    """Spectral normalization: divide a weight by its largest singular value, as power iteration approximates it.

    The iteration begins at the same vectors each time, as in Paddle; `nn.utils.spectral_norm` continues from the
    last ones.

    Args:
        weight_shape: shape of the weights.
        dim: the axis that makes the rows of the matrix.
        power_iters: steps of the iteration.
        eps: the least length by which vectors are divided.
        dtype: of the weights.

    Attributes:
        weight_u: `[weight_shape[dim]]`; does not train.
        weight_v: `[product of the other sizes]`; does not train.

    Shape:
        `weight_shape`, and the result likewise.

    Raises:
        ValueError: `dim` is out of range or a size is 0 (also an AssertionError), or a weight has another shape.

    Source:
        `paddle.nn.SpectralNorm`; Miyato et al. (2018).

    Examples:
        >>> norm = wherry.nn.SpectralNorm([2, 2], power_iters=50)
        >>> print(norm(wherry.to_tensor([[4.0, 0.0], [0.0, 1.0]])).numpy())
        [[1.   0.  ]
         [0.   0.25]]
    """

    def __init__(
        self, weight_shape: Sequence[int], dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: Any = "float32"
    ) -> None:
        super().__init__()
        shape = list(sizes_of(weight_shape, "SpectralNorm", "weight_shape"))
        dim = integer(dim, "SpectralNorm", "dim")
        if not -len(shape) <= dim < len(shape) or 0 in shape:
            raise AssertedArgumentError(
                f"SpectralNorm: The input `dim` should be less than the length of `weight_shape`, whose sizes are positive. Got "
                f"dim={dim} and weight_shape={shape}, expected an axis of such a shape. Axes count from 0."
            )
        steps = repeats(power_iters, "SpectralNorm", "power_iters", 0, "two products in each forward")
        self._weight_shape, self._dim, self._power_iters, self._eps = shape, dim % len(shape), steps, eps
        rows = shape[self._dim]
        columns = 1
        for size in shape:
            columns *= size
        for name, size in ("weight_u", rows), ("weight_v", columns // rows):
            attr = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
            setattr(self, name, self.create_parameter([size], attr=attr, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        sizes = require_tensor(x, "SpectralNorm").shape
        if len(sizes) == len(self._weight_shape) and any(map(is_unknown, sizes)):
            x = ops.reshape(x, shape=tuple(self._weight_shape))  # of a capture: when it runs, no other shape will do
        elif sizes != self._weight_shape:
            raise InvalidArgumentError(
                f"SpectralNorm: the weight has another shape. Got {x.shape}, expected {self._weight_shape}. "
                f"Make a layer for each shape."
            )
        matrix = as_matrix(x, self._dim)
        u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._eps, added=True)
        return x / largest_singular_value(matrix, u, v)


explained(globals())
spelled(globals())
