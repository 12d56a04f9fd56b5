"""`paddle.static.nn`: functions that create their parameters, with Paddle's names (`fc_0.w_0`)."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_graph.static.nn.making import Maker, activated
from wherry_nn import ParamAttr, unique_name
from wherry_nn import functional as F  # noqa: N812
from wherry_nn.initializer import Constant, Normal
from wherry_nn.param_attr import as_param_attr
from wherry_paddle_files.sequences import keeps_offsets, windows
from wherry_program.program.remote_rows import remote_look_up
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, integer, require_rank, require_tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.explained import explained

__all__ = [
    "batch_norm", "bilinear_tensor_product", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "data_norm", "deform_conv2d", "embedding",
    "fc", "group_norm", "instance_norm", "layer_norm", "nce", "prelu", "row_conv", "sparse_embedding", "spectral_norm",
]

_MOST_STEPS = 1000  # of spectral_norm: each is recorded


@keeps_offsets
def fc(
    x: Any, size: int, num_flatten_dims: int = 1, weight_attr: Any = None, bias_attr: Any = None, activation: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A linear layer: `activation(x @ weight + bias)`, where `x` is seen as a matrix.

    Args:
        x: floating, or several of them, which are added after their products.
        size: the width of the result.
        num_flatten_dims: how many axes in front count rows; those after them make one row.
        weight_attr: of the weight `[in, size]`.
        bias_attr: of the bias `[size]`; False leaves it out.
        activation: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.

    Shape:
        `[*rows, ...]` to `[*rows, size]`.

    Raises:
        TypeError: `x` is not a Tensor.
        ValueError: `num_flatten_dims` is out of range, or the size of a row is not known.

    Source:
        `paddle.static.nn.fc`.

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program(), wherry.static.Program()):
        ...     y = wherry.static.nn.fc(wherry.static.data("x", [None, 4]), 3, name="first")
        >>> [p.name for p in y.program.all_parameters()], y.shape
        (['first.w_0', 'first.b_0'], [-1, 3])
        >>> wherry.disable_static()
    """
    make = Maker("fc", name)
    total: Tensor | None = None
    inputs = list(x) if isinstance(x, (list, tuple)) else [x]
    attrs = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    if len(attrs) != len(inputs):
        raise InvalidArgumentError(
            f"fc: there are not as many attributes as inputs. Got {len(attrs)} for {len(inputs)}, expected one ParamAttr for each. Pass one for all."
        )
    for one, attr in zip(inputs, attrs, strict=True):
        require_tensor(one, "fc")
        axes = num_flatten_dims if num_flatten_dims >= 0 else one.ndim + num_flatten_dims
        if not 0 < axes < max(one.ndim, 2):
            raise InvalidArgumentError(
                f"fc: num_flatten_dims is out of range. Got {num_flatten_dims} for x of shape {one.shape}, expected one in [1, {one.ndim})."
            )
        width: Any = 1
        for n in one.shape[axes:]:
            width = width * n
        rows = one if axes == one.ndim - 1 else ops.reshape(one, shape=(*one.shape[:axes], width))
        product = ops.matmul(rows, make.parameter([width, size], attr, one.dtype), False, False)
        total = product if total is None else ops.add(total, product)
    assert total is not None
    bias = make.parameter([size], bias_attr, total.dtype, is_bias=True)
    return activated(total if bias is None else ops.add(total, bias), activation, "fc")


def _several(value: Any, n: int, kind: str, name: str) -> list[int]:
    """`n` numbers, given as such or as one for all."""
    if not isinstance(value, (list, tuple)):
        return [integer(value, kind, name)] * n
    if len(value) != n:
        raise InvalidArgumentError(f"{kind}: '{name}' has one number for each of {n} axes. Got {short(value)}, expected {n} ints, or one for all.")
    return [integer(one, kind, name) for one in value]


def _conv(
    kind: str, x: Tensor, num_filters: int, filter_size: Any, n: int, groups: int | None, param_attr: Any, bias_attr: Any, data_format: str,
    name: str | None, transposed: bool,
) -> tuple[Any, Any, int]:
    """Weight, bias and groups of a convolution."""
    require_rank(x, kind, n + 2, name="input", layout=data_format if isinstance(data_format, str) else "")
    last = data_format in ("NHWC", "NDHWC")
    channels = x.shape[-1 if last else 1]
    many = 1 if groups is None else integer(groups, kind, "groups")
    integer(num_filters, kind, "num_filters")
    if type(channels) is not int or channels <= 0:
        raise InvalidArgumentError(f"{kind}: the number of channels must be known. Got shape {x.shape}, expected a number > 0 in {data_format}'s C.")
    if many <= 0 or channels % many or num_filters % many:
        raise InvalidArgumentError(
            f"{kind}: the groups do not divide the channels. Got groups={groups} for {channels} channels and {num_filters} filters, expected a "
            f"divisor of both."
        )
    kernel = _several(filter_size, n, kind, "filter_size")
    make = Maker(kind, name)
    if transposed:
        weight = make.parameter([channels, num_filters // many, *kernel], param_attr, x.dtype)
    else:
        default = Normal(0.0, math.sqrt(2.0 / (channels * math.prod(kernel))))
        weight = make.parameter([num_filters, channels // many, *kernel], param_attr, x.dtype, default=default)
    return weight, make.parameter([num_filters], bias_attr, x.dtype, is_bias=True), many


def conv2d(
    input: Tensor, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int | None = None,
    param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """Convolution of images, as `nn.functional.conv2d`, with parameters of its own.

    Args:
        input: floating, 4-D.
        num_filters: channels of the result.
        filter_size: size of the kernel, or one for each axis.
        stride, padding, dilation: as `nn.functional.conv2d`.
        groups: the number of groups of channels; None is 1.
        param_attr: of the weight `[num_filters, C / groups, *filter_size]`.
        bias_attr: of the bias `[num_filters]`; False leaves it out.
        use_cudnn: no effect.
        act: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.
        data_format: "NCHW" or "NHWC".

    Raises:
        TypeError, ValueError: as `nn.functional.conv2d`; the number of channels is not known.

    Source:
        `paddle.static.nn.conv2d`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 8, 8])
        ...     y = wherry.static.nn.conv2d(x, num_filters=4, filter_size=3)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 6, 6)
        >>> wherry.disable_static()
    """
    weight, bias, many = _conv("conv2d", input, num_filters, filter_size, 2, groups, param_attr, bias_attr, data_format, name, False)
    return activated(F.conv2d(input, weight, bias, stride, padding, dilation, many, data_format), act, "conv2d")


def conv3d(
    input: Tensor, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int | None = None,
    param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None,
    data_format: str = "NCDHW",
) -> Tensor:
    """Convolution of volumes; arguments as `conv2d`.

    Shape:
        `[N, C, D, H, W]` to `[N, num_filters, D', H', W']`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` does not have five axes, the groups do not divide the channels, or the number of channels is not known.

    Source:
        `paddle.static.nn.conv3d`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 4, 8, 8])
        ...     y = wherry.static.nn.conv3d(x, num_filters=4, filter_size=3)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 4, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 2, 6, 6)
        >>> wherry.disable_static()
    """
    weight, bias, many = _conv("conv3d", input, num_filters, filter_size, 3, groups, param_attr, bias_attr, data_format, name, False)
    return activated(F.conv3d(input, weight, bias, stride, padding, dilation, many, data_format), act, "conv3d")


def deform_conv2d(
    x: Tensor, offset: Tensor, mask: Tensor | None, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, deformable_groups: int = 1, im2col_step: int = 1, weight_attr: Any = None, bias_attr: Any = None, name: str | None = None,
) -> Tensor:
    """Deformable convolution: reads its taps at given offsets for each position, between the pixels.

    Args:
        x: images, `[N, C, H, W]`.
        offset: of each tap at each position, y and x alternating: `[N, 2 * deformable_groups * taps, H', W']`.
        mask: a factor for each tap at each position (version 2), `[N, deformable_groups * taps, H', W']`; None has none.
        num_filters: channels of the result.
        filter_size: size of the kernel, or one for each axis.
        stride: a number, or (height, width).
        padding: a number, or (height, width), of zeros.
        dilation: a number, or (height, width).
        groups: into how many groups the channels are divided.
        deformable_groups: into how many groups with offsets of their own they are divided.
        im2col_step: no effect.
        weight_attr: of the weight `[num_filters, C / groups, *filter_size]`.
        bias_attr: of the bias `[num_filters]`; False leaves it out.
        name: begins the names of the parameters.

    Shape:
        `[N, C, H, W]` to `[N, num_filters, H', W']`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the groups do not divide the channels, or shapes do not fit.

    Source:
        `paddle.static.nn.deform_conv2d`; Dai et al. (2017), Zhu, Hu, Lin & Dai (2018).

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 8, 8])
        ...     offset = wherry.static.data("offset", [None, 18, 6, 6])
        ...     y = wherry.static.nn.deform_conv2d(x, offset, None, num_filters=4, filter_size=3)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 8, 8], "float32"), "offset": np.zeros([2, 18, 6, 6], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 6, 6)
        >>> wherry.disable_static()
    """
    name = unique_name.generate("deformable_conv") if name is None else name
    weight, bias, many = _conv("deform_conv2d", x, num_filters, filter_size, 2, groups, weight_attr, bias_attr, "NCHW", name, False)
    require_rank(offset, "deform_conv2d", 4, name="offset", layout="[N, 2 * deformable_groups * taps, H', W']")
    kernel = (weight.shape[2], weight.shape[3])
    strides, paddings, dilations = (
        tuple(_several(value, 2, "deform_conv2d", what)) for value, what in ((stride, "stride"), (padding, "padding"), (dilation, "dilation"))
    )
    columns = ops.deform_columns(x, offset, mask, kernel=kernel, strides=strides, paddings=paddings, dilations=dilations, groups=deformable_groups)
    n, high, wide = offset.shape[0], offset.shape[2], offset.shape[3]
    taps = weight.shape[1] * kernel[0] * kernel[1]
    out = weight.reshape([many, num_filters // many, taps]) @ columns.reshape([n, many, taps, high * wide])
    out = out.reshape([n, num_filters, high, wide])
    return out if bias is None else out + bias.reshape([1, -1, 1, 1])


def _kernel_of(kind: str, x: Tensor, output_size: Any, filter_size: Any, n: int, stride: Any, padding: Any, dilation: Any, last: bool) -> list[int]:
    if filter_size is not None:
        return _several(filter_size, n, kind, "filter_size")
    if output_size is None:
        raise InvalidArgumentError(f"{kind}: output_size and filter_size cannot both be None. Got neither, expected one. Give filter_size.")
    require_rank(x, kind, n + 2, name="input", layout=f"{'channels last' if last else 'channels first'}")
    sizes = x.shape[1:-1] if last else x.shape[2:]
    wanted, steps, pads, spread = (
        _several(value, n, kind, name)
        for name, value in (("output_size", output_size), ("stride", stride), ("padding", padding), ("dilation", dilation))
    )
    return [
        (wanted[i] - (sizes[i] - 1) * steps[i] + 2 * pads[i] - 1) // spread[i] + 1 for i in range(n)
    ]


def conv2d_transpose(
    input: Tensor, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0, stride: Any = 1, dilation: Any = 1,
    groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None,
    name: str | None = None, data_format: str = "NCHW",
) -> Tensor:
    """Transposed convolution of images, as `nn.functional.conv2d_transpose`, with parameters of its own.

    Args:
        input: floating, 4-D.
        num_filters: channels of the result.
        output_size: of the result; None computes it.
        filter_size: size of the kernel, or one for each axis; None computes it from `output_size`.
        padding, stride, dilation, groups: as `nn.functional.conv2d_transpose`.
        param_attr: of the weight `[C, num_filters / groups, *filter_size]`.
        bias_attr: of the bias `[num_filters]`; False leaves it out.
        use_cudnn: no effect.
        act: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.
        data_format: "NCHW" or "NHWC".

    Raises:
        TypeError, ValueError: as `nn.functional.conv2d_transpose`; neither `output_size` nor `filter_size` is given.

    Source:
        `paddle.static.nn.conv2d_transpose`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 8, 8])
        ...     y = wherry.static.nn.conv2d_transpose(x, num_filters=4, filter_size=2, stride=2)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 16, 16)
        >>> wherry.disable_static()
    """
    kernel = _kernel_of("conv2d_transpose", input, output_size, filter_size, 2, stride, padding, dilation, data_format == "NHWC")
    weight, bias, many = _conv("conv2d_transpose", input, num_filters, kernel, 2, groups, param_attr, bias_attr, data_format, name, True)
    out = F.conv2d_transpose(
        input, weight, bias, stride, padding, dilation=dilation, groups=many, output_size=output_size, data_format=data_format
    )
    return activated(out, act, "conv2d_transpose")


def conv3d_transpose(
    input: Tensor, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0, stride: Any = 1, dilation: Any = 1,
    groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None,
    name: str | None = None, data_format: str = "NCDHW",
) -> Tensor:
    """Transposed convolution of volumes; arguments as `conv2d_transpose`.

    Shape:
        `[N, C, D, H, W]` to `[N, num_filters, D', H', W']`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` does not have five axes; neither `output_size` nor `filter_size` is given.

    Source:
        `paddle.static.nn.conv3d_transpose`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 4, 8, 8])
        ...     y = wherry.static.nn.conv3d_transpose(x, num_filters=4, filter_size=2, stride=2)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 4, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 8, 16, 16)
        >>> wherry.disable_static()
    """
    kernel = _kernel_of("conv3d_transpose", input, output_size, filter_size, 3, stride, padding, dilation, data_format == "NDHWC")
    weight, bias, many = _conv("conv3d_transpose", input, num_filters, kernel, 3, groups, param_attr, bias_attr, data_format, name, True)
    out = F.conv3d_transpose(
        input, weight, bias, stride, padding, groups=many, dilation=dilation, output_size=output_size, data_format=data_format
    )
    return activated(out, act, "conv3d_transpose")


def _channels(x: Tensor, data_layout: str, kind: str) -> int:
    require_rank(x, kind, 2, MAX_RANK, "input", data_layout if isinstance(data_layout, str) else "")
    if data_layout not in ("NCHW", "NHWC", "NCDHW", "NDHWC", "AnyLayout"):
        raise InvalidArgumentError(f"{kind}: there is no such layout. Got data_layout={short(data_layout)}, expected 'NCHW' or 'NHWC'.")
    return x.shape[-1 if data_layout in ("NHWC", "NDHWC") else 1]


def _statistic(make: Maker, n: int, value: float, name: str | None, dtype: Any) -> Any:
    attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
    return make.parameter([n], attr, dtype)


@keeps_offsets
def batch_norm(
    input: Tensor, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-5, param_attr: Any = None,
    bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False, name: str | None = None, moving_mean_name: str | None = None,
    moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False,
) -> Tensor:
    """Batch normalization, as `nn.functional.batch_norm`, with parameters and running statistics of its own.

    Args:
        input: floating, 2-D to 5-D.
        act: the name of a function of `paddle.nn.functional`.
        is_test: use the running statistics.
        momentum: the part of the running statistics that is kept at each step.
        epsilon: is added to the variance.
        param_attr: of the scale `[C]`; None starts with ones.
        bias_attr: of the shift `[C]`; None starts with zeros.
        data_layout: "NCHW" or "NHWC".
        in_place: no effect; the executor decides where results are stored.
        name: begins the names of the parameters.
        moving_mean_name: of the running mean.
        moving_variance_name: of the running variance.
        do_model_average_for_mean_and_var: no effect.
        use_global_stats: use the running statistics in training too.

    Raises:
        TypeError, ValueError: as `nn.functional.batch_norm`.

    Source:
        `paddle.static.nn.batch_norm`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 8, 8])
        ...     y = wherry.static.nn.batch_norm(x, act="relu")
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 3, 8, 8)
        >>> wherry.disable_static()
    """
    n = _channels(input, data_layout, "batch_norm")
    make = Maker("batch_norm", name)
    dtype = _core.float32 if input.dtype in (_core.float16, _core.bfloat16) else input.dtype
    scale = make.parameter([n], param_attr, dtype, default=Constant(1.0))
    shift = make.parameter([n], bias_attr, dtype, is_bias=True)
    mean = _statistic(make, n, 0.0, moving_mean_name, dtype)
    variance = _statistic(make, n, 1.0, moving_variance_name, dtype)
    out = F.batch_norm(
        input, mean, variance, scale, shift, not is_test, momentum, epsilon, "NHWC" if data_layout in ("NHWC", "NDHWC") else "NCHW",
        True if use_global_stats or is_test else None,
    )
    return activated(out, act, "batch_norm")


@keeps_offsets
def layer_norm(
    input: Tensor, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-5, param_attr: Any = None,
    bias_attr: Any = None, act: str | None = None, name: str | None = None,
) -> Tensor:
    """Layer normalization over the axes from `begin_norm_axis` on, with parameters of its own.

    Args:
        input: floating.
        scale: whether to multiply by a parameter.
        shift: whether to add a parameter.
        begin_norm_axis: the first axis that is normalized.
        epsilon: is added to the variance.
        param_attr: of the scale, `[product of the normalized sizes]`; None starts with ones.
        bias_attr: of the shift, of the same shape; None starts with zeros.
        act: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `begin_norm_axis` is out of range, or a normalized size is not known.

    Source:
        `paddle.static.nn.layer_norm`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.layer_norm(x)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.array([[1.0, 3.0]], "float32")}, fetch_list=[y])
        >>> print(out.round(3))
        [[-1.  1.]]
        >>> wherry.disable_static()
    """
    require_tensor(input, "layer_norm", "input")
    if not 0 < begin_norm_axis < input.ndim:
        raise InvalidArgumentError(
            f"layer_norm: begin_norm_axis is out of range. Got {begin_norm_axis} for input of shape {input.shape}, expected one in "
            f"[1, {input.ndim})."
        )
    sizes = input.shape[begin_norm_axis:]
    make = Maker("layer_norm", name)
    many: Any = 1
    for n in sizes:
        many = many * n
    weight = make.parameter([many], param_attr, input.dtype, default=Constant(1.0)) if scale and param_attr is not False else None
    bias = make.parameter([many], bias_attr, input.dtype, is_bias=True) if shift and bias_attr is not False else None
    if len(sizes) > 1:
        weight, bias = (None if p is None else ops.reshape(p, shape=tuple(sizes)) for p in (weight, bias))
    return activated(F.layer_norm(input, sizes, weight, bias, epsilon), act, "layer_norm")


def group_norm(
    input: Tensor, groups: int, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None, act: str | None = None,
    data_layout: str = "NCHW", name: str | None = None,
) -> Tensor:
    """Group normalization, as `nn.functional.group_norm`.

    Args:
        input: floating.
        groups: into how many groups the channels are divided.
        epsilon: is added to the variance.
        param_attr: of the scale `[C]`; None leaves it out, as in Paddle.
        bias_attr: of the shift `[C]`; None leaves it out, as in Paddle.
        act: the name of a function of `paddle.nn.functional`.
        data_layout: "NCHW" or "NHWC".
        name: begins the names of the parameters.

    Raises:
        TypeError, ValueError: as `nn.functional.group_norm`.

    Source:
        `paddle.static.nn.group_norm`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 4, 8, 8])
        ...     y = wherry.static.nn.group_norm(x, groups=2)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 4, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 4, 8, 8)
        >>> wherry.disable_static()
    """
    n = _channels(input, data_layout, "group_norm")
    make = Maker("group_norm", name)
    weight = make.parameter([n], param_attr, input.dtype, default=Constant(1.0)) if param_attr else None
    bias = make.parameter([n], bias_attr, input.dtype, is_bias=True) if bias_attr else None
    return activated(F.group_norm(input, groups, epsilon, weight, bias, data_layout), act, "group_norm")


def instance_norm(
    input: Tensor, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Tensor:
    """Instance normalization, as `nn.functional.instance_norm`.

    Args:
        input: floating, 2-D to 5-D.
        epsilon: is added to the variance.
        param_attr: of the scale `[C]`; None leaves it out, as in Paddle.
        bias_attr: of the shift `[C]`; None leaves it out, as in Paddle.
        name: begins the names of the parameters.

    Raises:
        TypeError, ValueError: as `nn.functional.instance_norm`; one attribute is False and the other is not.

    Source:
        `paddle.static.nn.instance_norm`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 8, 8])
        ...     y = wherry.static.nn.instance_norm(x)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 3, 8, 8], "float32")}, fetch_list=[y])
        >>> out.shape
        (2, 3, 8, 8)
        >>> wherry.disable_static()
    """
    require_rank(input, "instance_norm", 2, 5, "input", "[N, C, ...]")
    if (param_attr is False) != (bias_attr is False):
        raise InvalidArgumentError(
            f"instance_norm: param_attr and bias_attr must be set to False at the same time. Got {short(param_attr)} and {short(bias_attr)}."
        )
    make = Maker("instance_norm", name)
    weight = bias = None
    if param_attr and bias_attr:
        weight = make.parameter([input.shape[1]], param_attr, input.dtype, default=Constant(1.0))
        bias = make.parameter([input.shape[1]], bias_attr, input.dtype, is_bias=True, default=Constant(0.0))
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


@keeps_offsets
def embedding(
    input: Tensor, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False, padding_idx: int | None = None,
    param_attr: Any = None, dtype: Any = "float32",
) -> Tensor:
    """Embedding: the rows of a table that is a parameter.

    Args:
        input: integers, the indices of rows.
        size: `[rows, width]` of the table.
        is_sparse: no effect; gradients in programs are dense.
        is_distributed: must be False: tables lie in one process.
        padding_idx: the row that is zero and is not trained; negative ones count from the end.
        param_attr: of the table.
        dtype: of the table.

    Shape:
        `[...]` to `[..., width]`.

    Raises:
        TypeError, ValueError: as `nn.functional.embedding`.
        NotImplementedError: `is_distributed`.

    Source:
        `paddle.static.nn.embedding`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None], "int64")
        ...     y = wherry.static.nn.embedding(x, size=[10, 4], padding_idx=0)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.array([0, 3], "int64")}, fetch_list=[y])
        >>> out.shape, out[0].tolist()
        ((2, 4), [0.0, 0.0, 0.0, 0.0])
        >>> wherry.disable_static()
    """
    require_tensor(input, "embedding", "input")
    if is_distributed:
        raise UnimplementedError("embedding: tables lie in one process. Got is_distributed=True, expected False.")
    table = Maker("embedding").parameter(list(size), param_attr, dtype)
    return F.embedding(input, table, padding_idx)


@keeps_offsets
def sparse_embedding(
    input: Tensor, size: Sequence[int], padding_idx: int | None = None, is_test: bool = False, entry: Any = None,
    table_class: str = "MemorySparseTable", param_attr: Any = None, dtype: Any = "float32", slot: Any = None,
) -> Tensor:
    """As `embedding`, with a table on parameter servers where `fleet.init` has joined some; alone it is in the process.

    Args:
        input: integers, the indices of rows.
        size: `[rows, width]` of the table.
        padding_idx: the row that is zero and is not trained.
        is_test: no effect.
        entry: which ids get a row: `distributed.CountFilterEntry` or `ProbabilityEntry`; None: all. For servers only.
        table_class: "MemorySparseTable", "SSDSparseTable" or "MemorySparseGeoTable".
        param_attr: of the table.
        dtype: of the table.
        slot: no effect.

    Raises:
        ValueError: `table_class` is unknown.
        NotImplementedError: `entry` without parameter servers.

    Source:
        `paddle.static.nn.sparse_embedding`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None], "int64")
        ...     y = wherry.static.nn.sparse_embedding(x, size=[10, 4])
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.array([0, 3], "int64")}, fetch_list=[y])
        >>> out.shape
        (2, 4)
        >>> wherry.disable_static()
    """
    if table_class not in ("CommonSparseTable", "SSDSparseTable", "MemorySparseTable", "MemorySparseGeoTable"):
        raise InvalidArgumentError(
            f"sparse_embedding: table_class must be in [CommonSparseTable, SSDSparseTable, MemorySparseTable]. Got {short(table_class)}."
        )
    look_up = remote_look_up()
    if look_up is not None:
        attr = as_param_attr(param_attr, "sparse_embedding") or ParamAttr()
        name = attr.name or unique_name.generate("sparse_embedding.w")
        rows, width = size
        return look_up(input, name, rows, width, as_dtype(dtype, "sparse_embedding").name, attr.initializer, entry, padding_idx)
    if entry is not None:
        raise UnimplementedError(
            f"sparse_embedding: there are no parameter servers. Got entry={short(entry)}, expected None in a process that is alone. Leave "
            "it out, or call "
            f"fleet.init(is_collective=False) under the launcher."
        )
    return embedding(input, size, padding_idx=padding_idx, param_attr=param_attr, dtype=dtype)


@keeps_offsets
def prelu(x: Tensor, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """`x` where it is positive, else `alpha * x`, with a parameter alpha.

    Args:
        x: floating.
        mode: "all": one alpha; "channel": one for each channel; "element": one for each element of a sample.
        param_attr: of alpha; None starts with 0.25.
        data_format: "NCHW" or "NHWC".
        name: begins the name of the parameter.

    Shape:
        `[...]` to the same shape. alpha: `[1]`, `[1, C, 1, ...]` or `[1, ...]` by `mode`.

    Raises:
        TypeError: `x` is not a Tensor.
        ValueError: another mode or layout, or a size that alpha needs is not known.

    Source:
        `paddle.static.nn.prelu`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.prelu(x, mode="all")
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.array([[-4.0, 4.0]], "float32")}, fetch_list=[y])
        >>> print(out)
        [[-1.  4.]]
        >>> wherry.disable_static()
    """
    require_tensor(x, "prelu")
    if mode not in ("all", "channel", "element"):
        raise InvalidArgumentError(f"prelu: mode should be one of all, channel, element. Got {short(mode)}, expected one of these.")
    last = data_format in ("NHWC", "NLC", "NDHWC", "NC") and data_format[-1] == "C" and data_format != "NC"
    shape: list[Any] = [1]
    if mode == "channel":
        if x.ndim < 2:
            raise InvalidArgumentError(f"prelu: the size of input shape should be equal or larger than 2 if mode is 'channel'. Got {x.shape}.")
        n = x.shape[-1 if last else 1]
        shape = [1] * (x.ndim - 1) + [n] if last else [1, n] + [1] * (x.ndim - 2)
    elif mode == "element":
        if x.ndim < 1:
            raise InvalidArgumentError(f"prelu: the size of input shape should be equal or larger than 1 if mode is 'element'. Got {x.shape}.")
        shape = [1, *x.shape[1:]]
    alpha = Maker("prelu", name).parameter(shape, param_attr, x.dtype, default=Constant(0.25))
    zero = ops.full(shape=(), value=0, dtype=x.dtype)
    return ops.add(ops.maximum(x, zero), ops.multiply(alpha, ops.minimum(x, zero)))


def spectral_norm(weight: Tensor, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Tensor:
    """A weight divided by its largest singular value, which power iterations approach from run to run.

    Args:
        weight: floating, 2-D to 5-D.
        dim: the axis that makes the rows of the matrix.
        power_iters: how many iterations each run does.
        eps: keeps divisions finite.
        name: begins the names of the two vectors.

    Raises:
        TypeError: `weight` is not a Tensor.
        ValueError: `dim` is out of range, or a size is not known.

    Source:
        `paddle.static.nn.spectral_norm`; Miyato et al. (2018).

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [2, 2])
        ...     y = wherry.static.nn.spectral_norm(x, power_iters=20)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.diag([4.0, 1.0]).astype("float32")}, fetch_list=[y])
        >>> print(out.round(3))
        [[1.   0.  ]
         [0.   0.25]]
        >>> wherry.disable_static()
    """
    require_tensor(weight, "spectral_norm", "weight")
    dim, power_iters = integer(dim, "spectral_norm", "dim"), integer(power_iters, "spectral_norm", "power_iters")
    if not -weight.ndim <= dim < weight.ndim or not 0 <= power_iters <= _MOST_STEPS:
        raise InvalidArgumentError(
            f"spectral_norm: an argument is out of range. Got dim={dim} and power_iters={power_iters} for a weight of shape {weight.shape}, "
            f"expected an axis of it and 0 to {_MOST_STEPS}: each is eight operations of the program."
        )
    dim %= weight.ndim
    rows = weight.shape[dim]
    order = (dim, *(i for i in range(weight.ndim) if i != dim))
    columns: Any = 1
    for i in order[1:]:
        columns = columns * weight.shape[i]
    make = Maker("spectral_norm", name)
    vectors = [make.parameter([n], ParamAttr(initializer=Normal(0.0, 1.0), trainable=False), weight.dtype) for n in (rows, columns)]
    matrix = ops.reshape(ops.transpose(weight, perm=order), shape=(rows, columns))
    fixed = matrix.detach()
    u, v = vectors
    small = ops.full(shape=(), value=eps, dtype=weight.dtype)

    def scaled(x: Tensor) -> Tensor:
        return x / (ops.sqrt(ops.reduce_sum(ops.square(x), (0,), False)) + small)

    before = _core.set_grad_mode(False)
    try:
        for _ in range(power_iters):
            v = scaled(ops.matmul(ops.reshape(u, shape=(1, rows)), fixed, False, False).reshape([columns]))
            u = scaled(ops.matmul(fixed, ops.reshape(v, shape=(columns, 1)), False, False).reshape([rows]))
        if power_iters:
            u, v = ops.copy(u), ops.copy(v)
            ops.copy.into((vectors[0],), u)
            ops.copy.into((vectors[1],), v)
    finally:
        _core.set_grad_mode(before)
    sigma = ops.reduce_sum(ops.multiply(ops.matmul(matrix, ops.reshape(v, shape=(columns, 1)), False, False).reshape([rows]), u), (0,), False)
    return weight / sigma


def bilinear_tensor_product(
    x: Tensor, y: Tensor, size: int, act: str | None = None, name: str | None = None, param_attr: Any = None, bias_attr: Any = None
) -> Tensor:
    """`x @ weight[i] @ y + bias[i]` for each row and each i, as `nn.functional.bilinear`, with parameters of its own.

    Args:
        x: floating, `[N, M]`.
        y: floating, `[N, K]`.
        size: the width of the result.
        act: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.
        param_attr: of the weight `[size, M, K]`.
        bias_attr: of the bias `[1, size]`; False leaves it out.

    Shape:
        `[N, M]`, `[N, K]` to `[N, size]`.

    Raises:
        TypeError: `x` or `y` is not a Tensor (also a ValueError).
        ValueError: `x` or `y` does not have two axes, or `size` is not positive.

    Source:
        `paddle.static.nn.bilinear_tensor_product`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     a, b = wherry.static.data("a", [None, 3]), wherry.static.data("b", [None, 4])
        ...     y = wherry.static.nn.bilinear_tensor_product(a, b, size=2)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"a": np.ones([5, 3], "float32"), "b": np.ones([5, 4], "float32")}, fetch_list=[y])
        >>> out.shape
        (5, 2)
        >>> wherry.disable_static()
    """
    require_rank(x, "bilinear_tensor_product", 2, layout="[N, M]")
    require_rank(y, "bilinear_tensor_product", 2, name="y", layout="[N, K]")
    make = Maker("bilinear_tensor_product", name)
    weight = make.parameter([size, x.shape[1], y.shape[1]], param_attr, x.dtype)
    bias = make.parameter([1, size], bias_attr, x.dtype, is_bias=True)
    return activated(F.bilinear(x, y, weight, bias), act, "bilinear_tensor_product")


@keeps_offsets
def row_conv(input: Tensor, future_context_size: int, param_attr: Any = None, act: str | None = None) -> Tensor:
    """Row convolution: each step of a sequence is combined with the next `future_context_size` steps, channel by channel.

    Args:
        input: floating, `[B, T, D]`; or rows `[T, D]` of sequences whose offsets were fed.
        future_context_size: how many steps of the future.
        param_attr: of the weight `[future_context_size + 1, D]`.
        act: the name of a function of `paddle.nn.functional`.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `input` has neither three axes nor offsets.

    Source:
        `paddle.static.nn.row_conv`; Amodei et al., "Deep Speech 2" (2016).

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 3, 2])
        ...     y = wherry.static.nn.row_conv(x, future_context_size=1)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([1, 3, 2], "float32")}, fetch_list=[y])
        >>> out.shape
        (1, 3, 2)
        >>> wherry.disable_static()
    """
    require_tensor(input, "row_conv", "input")
    if input.ndim not in (2, 3):
        raise InvalidArgumentError(f"row_conv: sequences have three axes. Got input of shape {input.shape}, expected [B, T, D].")
    weight = Maker("row_conv").parameter([future_context_size + 1, input.shape[-1]], param_attr, input.dtype)
    if input.ndim == 2:
        parts = windows(input, 0, future_context_size + 1, "row_conv")
    else:
        steps = input.shape[1]
        behind = ops.full(shape=(input.shape[0], future_context_size, input.shape[2]), value=0, dtype=input.dtype)
        long = ops.concat(input, behind, axis=1) if future_context_size else input
        parts = [long[:, i : i + steps] for i in range(future_context_size + 1)]
    out = parts[0] * weight[0]
    for i in range(1, len(parts)):
        out = out + parts[i] * weight[i]
    return activated(out, act, "row_conv")


def data_norm(
    input: Tensor, act: str | None = None, epsilon: float = 1e-5, param_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, slot_dim: int = -1, sync_stats: bool = False, summary_decay_rate: float = 0.9999999,
    enable_scale_and_shift: bool = False,
) -> Tensor:
    """Normalize columns by sums over all data seen: `(x - sum / size) * sqrt(size / square_sum)`.

    The three sums are parameters that begin as `param_attr` says; no gradient passes to them.

    Args:
        input: floating, `[N, C]`.
        act: the name of a function of `paddle.nn.functional`.
        epsilon: no effect; Paddle uses it only where its servers update the sums.
        param_attr: a dict with the first values "batch_size" (1e4), "batch_sum" (0), "batch_square" (1e4).
        data_layout: "NCHW".
        in_place: no effect.
        name: begins the names of the sums.
        moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var: no effect.
        slot_dim: must be -1: the columns that show that a row has no data.
        sync_stats: must be False: sums over several processes.
        summary_decay_rate: no effect; used by Paddle's servers.
        enable_scale_and_shift: multiply by a parameter and add one.

    Raises:
        NotImplementedError: `slot_dim` or `sync_stats` is set.

    Source:
        `paddle.static.nn.data_norm`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.data_norm(x)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.array([[1.0, 3.0]], "float32")}, fetch_list=[y])
        >>> print(out)
        [[1. 3.]]
        >>> wherry.disable_static()
    """
    n = _channels(input, data_layout, "data_norm")
    if slot_dim != -1 or sync_stats:
        raise UnimplementedError(
            f"data_norm: it belongs to parameter servers. Got slot_dim={short(slot_dim)} and sync_stats={short(sync_stats)}, expected -1 and False."
        )
    first = {"batch_size": 1e4, "batch_sum": 0.0, "batch_square": 1e4, "scale_w": 1.0, "bias": 0.0}
    if isinstance(param_attr, dict):
        first.update({key: value for key, value in param_attr.items() if key in first})
    base = "dn" if name is None else name
    make = Maker("data_norm", base)

    def summed(part: str, key: str) -> Any:
        attr = ParamAttr(name=f"{base}.{part}", initializer=Constant(float(first[key])), trainable=False)
        return make.parameter([n], attr, input.dtype)

    size, total, squares = (
        summed(part, key) for part, key in (("batch_size", "batch_size"), ("batch_sum", "batch_sum"), ("batch_square_sum", "batch_square"))
    )
    out = (input - total / size) * ops.sqrt(size / squares)
    if enable_scale_and_shift:
        scale = make.parameter([n], ParamAttr(name=f"{base}.scale_w", initializer=Constant(float(first["scale_w"]))), input.dtype)
        shift = make.parameter([n], ParamAttr(name=f"{base}.bias", initializer=Constant(float(first["bias"]))), input.dtype)
        out = out * scale + shift
    return activated(out, act, "data_norm")


def nce(
    input: Tensor, label: Tensor, num_total_classes: int, sample_weight: Any = None, param_attr: Any = None, bias_attr: Any = None,
    num_neg_samples: int | None = None, name: str | None = None, sampler: str = "uniform", custom_dist: Any = None, seed: int = 0,
    is_sparse: bool = False,
) -> Tensor:
    """Noise contrastive estimation: a loss for very many classes that samples a few of them.

    With o the sigmoid of a class's score, and b how often the sampler draws the class: `-log(o / (o + b))` for the classes of the label,
    `-log(b / (o + b))` for the drawn ones; their sum is divided by one more than there are drawn ones.

    Args:
        input: floating, `[N, D]`.
        label: int64, `[N, T]`: the classes of each row.
        num_total_classes: how many classes there are.
        sample_weight: floating, `[N, 1]`: multiplies the loss of each row.
        param_attr: of the weight `[num_total_classes, D]`.
        bias_attr: of the bias `[num_total_classes, 1]`; False leaves it out.
        num_neg_samples: how many classes are drawn for each row; None is 10.
        name: begins the names of the parameters.
        sampler: "uniform", "log_uniform" or "custom_dist".
        custom_dist: the probability of each class, for "custom_dist".
        seed: no effect; numbers come from the generator of the process (or the program's seed).
        is_sparse: no effect; gradients in programs are dense.

    Returns:
        The loss of each row.

    Shape:
        `[N, D]` to `[N, 1]`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: another sampler, or `custom_dist` does not fit.

    Source:
        `paddle.static.nn.nce`; Gutmann & Hyvärinen (2010).

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x, label = wherry.static.data("x", [None, 4]), wherry.static.data("label", [None, 1], "int64")
        ...     y = wherry.static.nn.nce(x, label, num_total_classes=100, num_neg_samples=5)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed={"x": np.ones([2, 4], "float32"), "label": np.array([[7], [3]], "int64")}, fetch_list=[y])
        >>> out.shape
        (2, 1)
        >>> wherry.disable_static()
    """
    require_rank(input, "nce", 2, name="input", layout="[N, D]")
    require_rank(label, "nce", 1, 2, "label", "[N, T]")
    if sampler not in ("uniform", "log_uniform", "custom_dist"):
        raise InvalidArgumentError(f"nce: Unsupported sampler type. Got {short(sampler)}, expected 'uniform', 'log_uniform' or 'custom_dist'.")
    if sampler == "custom_dist" and (custom_dist is None or len(custom_dist) != num_total_classes):
        raise InvalidArgumentError(
            f"nce: custom_dist has one probability for each class. Got {None if custom_dist is None else len(custom_dist)}, expected "
            f"{num_total_classes}."
        )
    from wherry_tensor import to_tensor

    drawn = 10 if num_neg_samples is None else int(num_neg_samples)
    make = Maker("nce", name)
    weight = make.parameter([num_total_classes, input.shape[1]], param_attr, input.dtype)
    bias = make.parameter([num_total_classes, 1], bias_attr, input.dtype, is_bias=True)
    rows = input.shape[0]
    if label.ndim == 1:
        label = ops.reshape(label, shape=(rows, 1))
    true = label.shape[1]
    if sampler == "uniform":
        chance = [1.0 / num_total_classes] * num_total_classes
        negative = ops.randint(shape=(rows, drawn), low=0, high=num_total_classes, dtype=_core.int64)
    else:
        whole = math.log(num_total_classes + 1)
        chance = [math.log((k + 2) / (k + 1)) / whole for k in range(num_total_classes)] if sampler == "log_uniform" else list(custom_dist)
        sums, total = [], 0.0
        for p in chance:
            total += float(p)
            sums.append(total)
        at = ops.uniform(shape=(rows, drawn), min=0.0, max=total, dtype=_core.float32)
        found = ops.searchsorted(to_tensor(sums, dtype="float32"), at, right=True)
        negative = ops.minimum(found, ops.full(shape=(), value=num_total_classes - 1, dtype=_core.int64))
    classes = ops.concat(ops.cast(label, dtype=_core.int64), negative, axis=1)
    often = F.embedding(classes, to_tensor([[float(p) * drawn] for p in chance], dtype=input.dtype)).squeeze(-1)
    chosen = F.embedding(classes, weight)
    scores = ops.reduce_sum(chosen * ops.unsqueeze(input, (1,)), (2,), False)
    if bias is not None:
        scores = scores + F.embedding(classes, bias).squeeze(-1)
    o = F.sigmoid(scores)
    cost = -ops.concat(ops.log(o[:, :true] / (o[:, :true] + often[:, :true])), ops.log(often[:, true:] / (o[:, true:] + often[:, true:])), axis=1)
    loss = ops.reduce_sum(cost, (1,), True) / (drawn + 1)
    return loss if sample_weight is None else loss * ops.reshape(sample_weight, shape=(rows, 1))


explained(globals())
