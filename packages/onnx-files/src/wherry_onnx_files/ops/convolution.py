"""Convolution, and its transpose, in one, two and three dimensions."""
from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import is_known
from wherry_tensor import ops


def paddings_of(o, x, kernel, strides, dilations):
    """What is added before and after each spatial axis; `auto_pad` may leave it to the sizes."""
    rank, how = len(kernel), o.text("auto_pad", "NOTSET")
    if how in ("NOTSET", ""):
        pads = o.ints_of("pads", [0] * 2 * rank)
        if len(pads) != 2 * rank:
            raise o.bad(f"it has {len(pads)} pads", f"{2 * rank}, two for each spatial axis")
        return pads[:rank], pads[rank:]
    if how == "VALID":
        return [0] * rank, [0] * rank
    if how not in ("SAME_UPPER", "SAME_LOWER"):
        raise o.bad(f"its auto_pad is {how!r}", "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    before, after = [], []
    for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations):
        span = d * (k - 1) + 1
        if s == 1:
            total = span - 1
        elif is_known(n):
            total = max((-(-n // s) - 1) * s + span - n, 0)
        else:
            raise o.open_size("the sizes that it pads")
        small, large = total // 2, total - total // 2
        before.append(small if how == "SAME_UPPER" else large)
        after.append(large if how == "SAME_UPPER" else small)
    return before, after


def window_of(o, x, kernel=None):
    """The kernel, strides and dilations of a window over the spatial axes."""
    rank = x.ndim - 2
    if rank < 1:
        raise o.bad(f"its input has shape {list(x.shape)}", "a batch, channels and spatial axes")
    kernel = o.ints_of("kernel_shape", kernel)
    strides, dilations = o.ints_of("strides", [1] * rank), o.ints_of("dilations", [1] * rank)
    if kernel is None or not len(kernel) == len(strides) == len(dilations) == rank or min(*kernel, *strides, *dilations) < 1:
        raise o.bad(f"it has kernel {kernel}, strides {strides} and dilations {dilations} for {rank} spatial axes", "positive numbers, one for each")
    o.bound(max(*kernel, *strides, *dilations), 1 << 16, "a kernel, stride or dilation")
    return kernel, strides, dilations


def _kernel_of(o, weight):
    sizes = weight.shape[2:]
    if not all(map(is_known, sizes)):
        raise o.open_size("the size of the kernel")
    return [int(n) for n in sizes]


def _pairs(before, after):
    return tuple(n for both in zip(before, after) for n in both)


def convolved(o, x, weight, bias, zeros=None):
    """The convolution that the attributes of a node describe; of bytes with their zero points, the sums in int32."""
    own = _kernel_of(o, weight)
    kernel, strides, dilations = window_of(o, x, own)
    if kernel != own:
        raise o.bad(f"its kernel_shape is {kernel}", f"{own}, as its weight has it")
    before, after = paddings_of(o, x, kernel, strides, dilations)
    groups = o.integer("group", 1)
    if min(*before, *after) < 0:  # of which nothing is filled in
        x = ops.pad(x, paddings=(0, 0, 0, 0, *_pairs([min(n, 0) for n in before], [min(n, 0) for n in after])), value=0.0)
        before, after = [max(n, 0) for n in before], [max(n, 0) for n in after]
    rank = len(kernel)
    if rank > 3:
        raise o.unsupported(f"{rank} spatial axes", "one to three")
    if rank == 3:
        return ops.conv3d(
            x, weight, bias, strides=tuple(strides), paddings=_pairs(before, after), dilations=tuple(dilations), groups=groups, data_format="NCDHW"
        )
    if zeros is not None:
        attrs = dict(strides=tuple(strides), paddings=_pairs(before, after), dilations=tuple(dilations), groups=groups, data_format="NCHW")
        return ops.conv2d_int8(x, weight, *zeros, **attrs)
    flat = rank == 1
    if flat:
        x, weight = ops.unsqueeze(x, axes=(2,)), ops.unsqueeze(weight, axes=(2,))
        strides, dilations, before, after = [1, *strides], [1, *dilations], [0, *before], [0, *after]
    out = ops.conv2d(
        x, weight, bias, strides=tuple(strides), paddings=_pairs(before, after), dilations=tuple(dilations), groups=groups, data_format="NCHW"
    )
    return ops.squeeze(out, axes=(2,)) if flat else out


@reads("Conv")
def read_conv(o):
    return convolved(o, o.x(0), o.x(1), o.maybe(2))


# In one piece: the sizes of the result follow from each other.
@reads("ConvTranspose")
def read_conv_transpose(o):
    x, weight, bias = o.x(0), o.x(1), o.maybe(2)
    kernel, strides, dilations = window_of(o, x, _kernel_of(o, weight))
    rank = len(kernel)
    extra, target = o.ints_of("output_padding", [0] * rank), o.ints_of("output_shape")
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilations)]
    how = o.text("auto_pad", "NOTSET")
    if target is not None or how in ("SAME_UPPER", "SAME_LOWER"):
        before, after = [], []
        for i, (n, s, span) in enumerate(zip(x.shape[2:], strides, spans)):
            if target is None:
                total = extra[i] + span - s  # so that the result has n * s
            elif is_known(n):
                total = s * (n - 1) + extra[i] + span - target[len(target) - rank + i]
            else:
                raise o.open_size("the sizes that it pads")
            half = total // 2
            before.append(half if how == "SAME_UPPER" else total - half)
            after.append(total - half if how == "SAME_UPPER" else half)
    else:
        before, after = paddings_of(o, x, kernel, strides, dilations)
    attrs = {"strides": strides, "dilations": dilations}
    flat = rank == 1
    if rank > 3:
        raise o.unsupported(f"{rank} spatial axes", "one to three")
    if flat:
        x, weight = ops.unsqueeze(x, axes=(2,)), ops.unsqueeze(weight, axes=(2,))
        attrs = {name: [1, *values] for name, values in attrs.items()}
        before, after, extra, spans = [0, *before], [0, *after], [0, *extra], [1, *spans]
    shaped = any(extra) or min(*before, *after) < 0
    size = [(n - 1) * s + span - (0 if shaped else b + a) for n, s, span, b, a in zip(x.shape[2:], attrs["strides"], spans, before, after)]
    op, layout = (ops.conv3d_transpose, "NCDHW") if rank == 3 else (ops.conv2d_transpose, "NCHW")
    zeros = [0] * len(size)
    out = op(
        x, weight, None if shaped else bias, strides=tuple(attrs["strides"]), paddings=_pairs(zeros, zeros) if shaped else _pairs(before, after),
        dilations=tuple(attrs["dilations"]), groups=o.integer("group", 1), output_size=tuple(size), data_format=layout,
    )
    if shaped:
        out = ops.pad(out, paddings=(0, 0, 0, 0, *_pairs([-n for n in before], [e - n for n, e in zip(after, extra)])), value=0.0)
        if bias is not None:
            out = ops.add(out, ops.reshape(bias, shape=(-1, *[1] * len(size))))
    return ops.squeeze(out, axes=(2,)) if flat else out


@reads("DeformConv")
def read_deform_conv(o):
    x, weight, offset, bias, mask = o.x(0), o.x(1), o.x(2), o.maybe(3), o.maybe(4)
    kernel, strides, dilations = window_of(o, x, _kernel_of(o, weight))
    before, after = paddings_of(o, x, kernel, strides, dilations)
    if len(kernel) != 2:
        raise o.unsupported(f"{len(kernel)} spatial axes", "two")
    if before != after:  # beyond the border lies 0 in any case
        x, before = ops.pad(x, paddings=(0, 0, 0, 0, *_pairs(before, after)), value=0.0), [0, 0]
    columns = ops.deform_columns(
        x, offset, mask, kernel=tuple(kernel), strides=tuple(strides), paddings=tuple(before), dilations=tuple(dilations),
        groups=o.integer("offset_group", 1),
    )
    n, groups = x.shape[0], o.integer("group", 1)
    out_channels = weight.shape[0]
    height, width = offset.shape[2], offset.shape[3]
    rows = ops.reshape(columns, shape=(n, groups, x.shape[1] // groups * kernel[0] * kernel[1], height * width))
    matrix = ops.reshape(weight, shape=(groups, out_channels // groups, weight.shape[1] * kernel[0] * kernel[1]))
    out = ops.reshape(ops.matmul(matrix, rows, transpose_x=False, transpose_y=False), shape=(n, out_channels, height, width))
    return out if bias is None else ops.add(out, ops.reshape(bias, shape=(-1, 1, 1)))


@reads("CausalConvWithState")
def read_causal_conv_with_state(o):
    """A depthwise convolution over time that begins where the one before ended; it hands the end of its input on."""
    x, weight, bias = o.x(0), o.x(1), o.maybe(2)
    k = int(weight.shape[2])
    state = o.maybe(3)
    if state is None:
        state = ops.full(shape=(x.shape[0], x.shape[1], k - 1), value=0, dtype=x.dtype)
    whole = ops.concat(state, x, axis=2)
    out = ops.squeeze(
        ops.conv2d(
            ops.unsqueeze(whole, axes=(2,)), ops.unsqueeze(weight, axes=(2,)), bias, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1),
            groups=int(weight.shape[0]), data_format="NCHW",
        ), axes=(2,),
    )  # fmt: skip
    if o.text("activation", "none") in ("silu", "swish"):
        out = ops.silu(out)
    end = whole.shape[2]
    return out, ops.slice(whole, axes=(2,), starts=(end - (k - 1),), ends=(end,), steps=(1,))
