"""Normalizations: by batch, by layer, by instance, by group, by neighbouring channels."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_nn.functional._windows import sizes
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, bfloat16, float16, float32
from wherry_tensor.arguments import integer, number, real_number, refused, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.sizes import equals, same_shapes, uneven
from wherry_tensor.spellings import spelled

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm"]

# Of a layout only the position of the channels matters here.
_LAYOUTS = {
    "NC": "NCHW", "NCL": "NCHW", "NCHW": "NCHW", "NCDHW": "NCHW", "NLC": "NHWC", "NHWC": "NHWC", "NDHWC": "NHWC"
}


def layout_of(data_format: Any, op_name: str) -> str:
    """ "NCHW" if the channels are axis 1, "NHWC" if they come last."""
    found = _LAYOUTS.get(data_format) if isinstance(data_format, str) else None
    if found is None:
        raise InvalidArgumentError(
            f"{op_name}: data_format is not known. Got {short(data_format)}, expected one of {', '.join(_LAYOUTS)}. "
            f"They name the axes of the input in their order."
        )
    return found


def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Batch normalization: normalize each channel by mean and variance, over all other axes.

    The result is `(x - mean) / sqrt(variance + epsilon) * weight + bias`, with the statistics of the batch or the running
    ones. Those of the batch also update the running ones in place: `running = momentum * running + (1 - momentum) * batch`.
    The running variance is that of the batch without Bessel's correction, as in Paddle.

    Args:
        x: float16, bfloat16, float32 or float64, rank 2 or more.
        running_mean: `[C]`, float32 (float64 for float64). It is written where the batch's statistics are used.
        running_var: as `running_mean`.
        weight: `[C]`, of the dtype of `x` or float32 beside 16 bits; None is 1.
        bias: as `weight`; None is 0.
        training: whether `use_global_stats=None` means the batch's statistics.
        momentum: the weight of the old running statistics in an update.
        epsilon: is added to the variance.
        data_format: "NC", "NCL", "NCHW", "NCDHW", or with the channels last "NLC", "NHWC", "NDHWC".
        use_global_stats: True takes the running statistics, False the batch's; None is `not training`.

    Shape:
        That of `x`.

    Raises:
        ValueError: the shapes do not fit, or the batch is empty where its statistics are wanted.
        TypeError: the dtypes do not fit, or something is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.batch_norm`; Ioffe & Szegedy (2015).

    Examples:
        >>> x = wherry.to_tensor([[1.0], [3.0]])
        >>> mean, variance = wherry.zeros([1]), wherry.ones([1])
        >>> print(wherry.nn.functional.batch_norm(x, mean, variance, training=True).numpy().ravel())
        [-0.999995  0.999995]
        >>> print(mean.numpy(), variance.numpy())
        [0.2] [1.]
    """
    layout = (type(data_format) is str and _LAYOUTS.get(data_format)) or layout_of(data_format, "batch_norm")
    if use_global_stats is None:
        use_global_stats = not training
    try:
        if use_global_stats:
            return ops.batch_norm_infer(x, running_mean, running_var, weight, bias, epsilon, layout)
        if x.size == 0:
            raise InvalidArgumentError(
                f"batch_norm: the batch is empty. Got x of shape {x.shape}, expected at least one element. "
                f"Skip the batch, or use the running statistics with use_global_stats=True."
            )
        if isinstance(x.size, int) and x.ndim > 1 and x.size == running_mean.size == x.shape[1 if layout == "NCHW" else -1]:
            return _alone(x, weight, bias, layout)
        out, mean, variance = ops.batch_norm(x, weight, bias, epsilon, layout)
        if not same_shapes(running_mean.shape, mean.shape) or not same_shapes(running_var.shape, mean.shape):
            raise InvalidArgumentError(
                f"batch_norm: the running statistics do not fit x. Got running_mean of shape {running_mean.shape} and "
                f"running_var of shape {running_var.shape} for x of shape {x.shape}, expected {mean.shape}. Give one number for "
                f"each channel, and check data_format."
            )
        if not running_mean.stop_gradient:  # made trainable along with everything else; it is updated nevertheless
            running_mean = running_mean.detach()
        if not running_var.stop_gradient:
            running_var = running_var.detach()
        device = _core.device_of(running_mean)
        share = _constants.get((1.0 - momentum, running_mean.dtype, device))
        if share is None:
            share = _constant(1.0 - momentum, running_mean.dtype, device)
        if _core.is_symbolic(mean):
            mean, variance = mean.detach(), variance.detach()
        else:
            mean, variance = _core.alias(mean), _core.alias(variance)  # as detach, without a call of Python
        ops.lerp.into((running_mean,), running_mean, mean, share)
        ops.lerp.into((running_var,), running_var, variance, share)
        return out
    except (TypeError, AttributeError) as error:
        for argument, value in ("x", x), ("running_mean", running_mean), ("running_var", running_var):
            require_tensor(value, "batch_norm", argument)
        _check_channels(x, running_mean, layout)
        if not (running_mean.dtype is running_var.dtype and running_mean.dtype in _NARROW):
            raise _affine_error("batch_norm", error, x, weight, bias, epsilon=epsilon, momentum=momentum) from None
    except ValueError:
        for argument, value in ("x", x), ("running_mean", running_mean), ("running_var", running_var):
            require_tensor(value, "batch_norm", argument)
        _check_channels(x, running_mean, layout)
        raise
    # Running statistics of 16 bits, as in a layer that was cast: update them in float32.
    wide = [ops.cast(one.detach(), float32) for one in (running_mean, running_var)]
    mean, variance = wide
    out = batch_norm(x, mean, variance, weight, bias, training, momentum, epsilon, data_format, use_global_stats)
    if not use_global_stats:
        ops.cast.into((running_mean.detach(),), wide[0], dtype=running_mean.dtype)
        ops.cast.into((running_var.detach(),), wide[1], dtype=running_var.dtype)
    return out


def _alone(x: Tensor, weight: Tensor | None, bias: Tensor | None, layout: str) -> Tensor:
    """One value for each channel has no variance: as in Paddle it stays, and the parameters have gradients of 0."""
    out = x
    for parameter in (weight, bias):
        if parameter is not None:
            zero = ops.cast(ops.reshape(parameter, shape=tuple(x.shape)), dtype=x.dtype) * 0.0
            out = out + zero
    return out if out is not x else ops.copy(x)


def _check_channels(x: Tensor, running_mean: Tensor, layout: str) -> None:
    """Refuse running statistics of another number of channels, in the layer's terms."""
    channels = x.shape[1 if layout == "NCHW" else -1] if x.ndim > 1 else -1
    if running_mean.ndim == 1 and isinstance(channels, int) and channels >= 0 and running_mean.size not in (channels, -1):
        raise InvalidArgumentError(
            f"batch_norm: num_features={running_mean.size}, input has {channels} channels. Got running_mean of shape "
            f"{running_mean.shape} for x of shape {x.shape} with its channels {'on axis 1' if layout == 'NCHW' else 'last'}, "
            f"expected [{channels}]. Make the layer with num_features={channels}, or check data_format."
        )


_NARROW = (float16, bfloat16)


_constants: dict[tuple[float, DType, int], Tensor] = {}


def _constant(value: float, dtype: DType, device: int) -> Tensor:
    """A 0-d constant on a device. They are cached: momentums are few."""
    found = _constants.get((value, dtype, device))
    if found is None:
        if len(_constants) > 64:
            _constants.clear()
        # Made by the core and not by an op, so that a capture does not record it.
        found = _constants[value, dtype, device] = _core.to_device(_core.scalar(value, dtype), device)
    return found


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Tensor:
    """Layer normalization: normalize the last axes by their own mean and variance:
    `(x - mean) / sqrt(variance + epsilon) * weight + bias`.

    Args:
        x: float16, bfloat16, float32 or float64.
        normalized_shape: the sizes of the axes to normalize, the last ones of `x`; an int for one axis.
        weight: one number for each normalized position, flat as Paddle has it or of shape `normalized_shape`;
            of the dtype of `x` or float32 beside 16 bits. None is 1.
        bias: as `weight`; None is 0.
        epsilon: is added to the variance, which is without Bessel's correction.

    Shape:
        That of `x`.

    Raises:
        ValueError: the shape of `x` does not end in `normalized_shape`, or `weight` or `bias` does not fit it.
        TypeError: the dtypes do not fit, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.layer_norm`; Ba, Kiros & Hinton (2016).

    Examples:
        >>> x = wherry.to_tensor([[1.0, 3.0], [2.0, 6.0]])
        >>> print(wherry.nn.functional.layer_norm(x, 2).numpy())
        [[-0.999995   0.999995 ]
         [-0.9999988  0.9999988]]
    """
    try:
        shape = x.shape
        wanted = [normalized_shape] if type(normalized_shape) is int else normalized_shape
        if type(wanted) is not list or not wanted:
            wanted = normalized_sizes(normalized_shape, "layer_norm")
        begin = len(shape) - len(wanted)
        if shape[begin:] != wanted or begin < 0:
            raise InvalidArgumentError(
                f"layer_norm: Given normalized_shape is {short(wanted)}, expected input with shape [*, {short(wanted)[1:]}. "
                f"Got x of shape {shape}, expected it to end so. Check the order of the axes."
            )
        if len(wanted) > 1:
            weight, bias = _unflattened(weight, wanted), _unflattened(bias, wanted)
        return ops.layer_norm(x, weight, bias, epsilon, begin)[0]
    except (TypeError, AttributeError) as error:
        raise _affine_error("layer_norm", error, x, weight, bias, epsilon=epsilon) from None


def normalized_sizes(normalized_shape: Any, op_name: str) -> list[int]:
    """The argument `normalized_shape` as a list."""
    if isinstance(normalized_shape, (list, tuple)) and normalized_shape:
        return list(sizes(normalized_shape, len(normalized_shape), op_name, "normalized_shape"))
    if hasattr(normalized_shape, "__index__") and not isinstance(normalized_shape, bool):
        return [integer(normalized_shape, op_name, "normalized_shape")]
    raise InvalidArgumentError(
        f"{op_name}: `normalized_shape` should be int, list of ints or tuple of ints. Got {short(normalized_shape)}, expected "
        f"the sizes of the last axes. Write 64 for a last axis of 64."
    )


def _unflattened(parameter: Tensor | None, shape: list[int]) -> Tensor | None:
    if parameter is None or parameter.shape == shape or parameter.size != math.prod(shape):
        return parameter  # which the op refuses if it does not fit
    return ops.reshape(parameter, tuple(shape))


def _affine_error(op_name: str, error: Exception, x: Any, weight: Any, bias: Any, **numbers: Any) -> Exception:
    for name, value in numbers.items():
        if not isinstance(value, (int, float)):
            real_number(value, op_name, name)  # raises, but for what is a number in another dress
            return InvalidTypeError(
                f"{op_name}: argument '{name}' must be a number of Python. Got {short(value)}, expected a float. Convert it with float()."
            )
    tensors = {"x": x, "weight": weight, "bias": bias}
    given = {name: value for name, value in tensors.items() if name == "x" or value is not None}
    for name, value in given.items():
        require_tensor(value, op_name, name)
    return error if x.dtype.itemsize == 2 else refused(op_name, error, **given)


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Instance normalization: normalize each channel of each sample by its own mean and variance.

    Args:
        x: float16, bfloat16, float32 or float64, rank 2 or more.
        running_mean: no effect, as in Paddle.
        running_var: likewise.
        weight: `[C]`, of the dtype of `x` or float32 beside 16 bits; None is 1.
        bias: as `weight`; None is 0.
        use_input_stats: no effect, as in Paddle: the statistics are always those of `x`.
        momentum: no effect.
        eps: is added to the variance.
        data_format: "NC", "NCL", "NCHW", "NCDHW", or with the channels last "NLC", "NHWC", "NDHWC" (which Paddle
            accepts and then takes axis 1 for the channels nevertheless).

    Shape:
        That of `x`.

    Raises:
        ValueError: the shapes do not fit.
        TypeError: the dtypes do not fit, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.instance_norm`; Ulyanov, Vedaldi & Lempitsky (2016).

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 3.0], [2.0, 6.0]]])
        >>> print(wherry.nn.functional.instance_norm(x).numpy())
        [[[-0.999995   0.999995 ]
          [-0.9999988  0.9999988]]]
    """
    last = layout_of(data_format, "instance_norm") == "NHWC"
    try:
        shape = _batched(x, "instance_norm")
        if last:
            x, shape = _channels_second(x)
        n, channels = shape[:2]
        for parameter in weight, bias:
            if parameter is not None and not same_shapes(parameter.shape, [channels]):
                raise _misfit("instance_norm", parameter, channels)
        # As batch norm of one sample with the channels of all.
        rows = ops.reshape(x, (1, n * channels, math.prod(shape[2:])))
        out = ops.batch_norm(rows, _repeated(weight, n), _repeated(bias, n), eps, "NCHW")[0]
        out = ops.reshape(out, tuple(shape))
        return _channels_last(out) if last else out
    except (TypeError, AttributeError) as error:
        raise _affine_error("instance_norm", error, x, weight, bias, eps=eps) from None


def _repeated(parameter: Tensor | None, times: int) -> Tensor | None:
    if parameter is None or equals(times, 1):
        return parameter
    channels = parameter.shape[0]
    return ops.reshape(ops.broadcast_to(parameter, (times, channels)), (times * channels,))


def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Group normalization: normalize groups of channels of each sample by their own mean and variance.

    Args:
        x: float16, bfloat16, float32 or float64, rank 2 or more.
        num_groups: into how many groups the channels are split; it divides their number.
        epsilon: is added to the variance.
        weight: `[C]`, of the dtype of `x` or float32 beside 16 bits; None is 1.
        bias: as `weight`; None is 0.
        data_format: "NC", "NCL", "NCHW", "NCDHW", or with the channels last "NLC", "NHWC", "NDHWC".

    Shape:
        That of `x`.

    Raises:
        ValueError: the shapes do not fit, or `num_groups` does not divide the channels.
        TypeError: the dtypes do not fit, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.group_norm`, which came after 2.6; Wu & He (2018).

    Examples:
        >>> x = wherry.to_tensor([[[1.0], [3.0], [2.0], [6.0]]])
        >>> print(wherry.nn.functional.group_norm(x, 2).numpy().ravel())
        [-0.999995   0.999995  -0.9999988  0.9999988]
    """
    last = layout_of(data_format, "group_norm") == "NHWC"
    try:
        shape = _batched(x, "group_norm")
        if last:
            x, shape = _channels_second(x)
        channels = shape[1]
        if not isinstance(num_groups, int) or num_groups < 1 or uneven(channels, num_groups):
            raise InvalidArgumentError(
                f"group_norm: num_groups does not divide the channels. Got num_groups={short(num_groups)} for x with {channels} "
                f"channels, expected a divisor of {channels}. 1 normalizes them together, {channels} each alone."
            )
        for parameter in weight, bias:
            if parameter is not None and not same_shapes(parameter.shape, [channels]):
                raise _misfit("group_norm", parameter, channels)
        out = ops.group_norm(x, weight, bias, epsilon, num_groups)[0]
        return _channels_last(out) if last else out
    except (TypeError, AttributeError) as error:
        raise _affine_error("group_norm", error, x, weight, bias, epsilon=epsilon) from None


def _batched(x: Tensor, op_name: str) -> list[int]:
    """The shape of `x`, which has a batch and a channel axis."""
    shape = x.shape
    if len(shape) < 2:
        raise InvalidArgumentError(
            f"{op_name}: x needs a batch and a channel axis. Got shape {shape}, expected rank 2 or more. "
            f"Add the missing axis with unsqueeze."
        )
    return shape


def _channels_second(x: Tensor) -> tuple[Tensor, list[int]]:
    x = ops.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))
    return x, x.shape


def _channels_last(x: Tensor) -> Tensor:
    return ops.transpose(x, (0, *range(2, x.ndim), 1))


def _misfit(op_name: str, parameter: Tensor, channels: int) -> Exception:
    return InvalidArgumentError(
        f"{op_name}: weight or bias does not fit the channels. Got shape {parameter.shape} for x with {channels} channels, "
        f"expected [{channels}]. Check data_format."
    )


def local_response_norm(
    x: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Local response normalization: divide by a power of the mean square of neighbouring channels:
    `x / (k + alpha * mean(x ** 2)) ** beta`.

    The mean is over `size` channels, of which `size // 2` lie before; channels that do not exist count as zeros.

    Args:
        x: float16, bfloat16, float32 or float64, rank 3 or more.
        size: how many channels the mean is taken over.
        alpha: factor of the mean.
        beta: exponent of the divisor.
        k: is added to the mean before the power.
        data_format: "NCL", "NCHW", "NCDHW", or with the channels last "NLC", "NHWC", "NDHWC".

    Shape:
        That of `x`.

    Raises:
        ValueError: an argument is out of range, or `x` has less than 3 axes.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.local_response_norm`, after Krizhevsky, Sutskever & Hinton (2012).

    Examples:
        >>> x = wherry.to_tensor([[[1.0], [2.0], [3.0]]])
        >>> print(wherry.nn.functional.local_response_norm(x, 2, alpha=1.0, beta=1.0).numpy().ravel())
        [0.6666667 0.5714286 0.4      ]
    """
    if not isinstance(data_format, str) or data_format == "NC" or data_format not in _LAYOUTS:
        raise InvalidArgumentError(
            f"local_response_norm: data_format should be in one of [NCL, NCHW, NCDHW, NLC, NHWC, NDHWC]. Got {short(data_format)}, "
            f"expected one of them. They name the axes of the input in their order."
        )
    require_tensor(x, "local_response_norm")
    shape = x.shape
    if len(shape) < 3:
        raise InvalidArgumentError(
            f"local_response_norm: Expected 3D or higher dimensionality input. Got {len(shape)} dimensions, shape {shape}, "
            f"expected batch, channels and at least one more. Add an axis with unsqueeze."
        )
    (taps,) = sizes(size, 1, "local_response_norm", "size")
    alpha, beta, k = (
        number(value, "local_response_norm", given) for given, value in (("alpha", alpha), ("beta", beta), ("k", k))
    )
    if 0 in shape:
        return ops.copy(x)
    before, after = taps // 2, (taps - 1) // 2
    squares = ops.square(x)
    if _LAYOUTS[data_format] == "NHWC":
        rows = ops.reshape(squares, (1, 1, math.prod(shape[:-1]), shape[-1]))
        mean = ops.avg_pool2d(rows, (1, taps), (1, 1), (0, 0, before, after), False, False, None, "NCHW")
    else:
        rows = ops.reshape(squares, (shape[0], shape[1], 1, math.prod(shape[2:])))
        mean = ops.avg_pool2d(rows, (taps, 1), (1, 1), (before, after, 0, 0), False, False, None, "NHWC")
    return x / (ops.reshape(mean, tuple(shape)) * alpha + k) ** beta


spelled(globals())
