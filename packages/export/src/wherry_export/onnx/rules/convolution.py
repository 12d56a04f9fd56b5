"""Convolution and pooling of images and volumes."""
from __future__ import annotations

from types import SimpleNamespace

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops
from wherry_tensor._core import int32
from wherry_tensor.sizes import is_unknown


def _is_last(data_format):
    return data_format[-1] == "C"


def _first(g, x, data_format):
    """Channels first, as ONNX has them."""
    return g.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)]) if _is_last(data_format) else x


def _back(g, name, rank, data_format):
    return g.transpose(name, [0, *range(2, rank), 1]) if _is_last(data_format) else name


def _pads(paddings):
    """(top, bottom, left, right) as ONNX writes it: all beginnings, then all ends."""
    return [*paddings[0::2], *paddings[1::2]]


def _image(x, data_format):
    return x.shape[1:-1] if _is_last(data_format) else x.shape[2:]


def _convolution(op):
    @to_onnx.rule(op)
    def onnx_convolution(g, x, weight, bias, *, strides, paddings, dilations, groups, data_format):
        out = g.op(
            "Conv", _first(g, x, data_format), weight, bias, strides=list(strides), pads=_pads(paddings),
            dilations=list(dilations), group=groups,
        )
        return _back(g, out, x.rank, data_format)


_convolution(ops.conv2d)
_convolution(ops.conv3d)


def _transposed_convolution(op):
    @to_onnx.rule(op)
    def onnx_transposed_convolution(
        g, x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format
    ):
        open_ends = []
        for axis, (size, wanted, kernel) in enumerate(zip(_image(x, data_format), output_size, weight.shape[2:], strict=True)):
            def least(n, axis=axis, kernel=kernel):
                reach = dilations[axis] * (kernel - 1) + 1
                return (n - 1) * strides[axis] - paddings[2 * axis] - paddings[2 * axis + 1] + reach

            open_ends.append(_difference(wanted, least, size))
        if None in open_ends:
            raise NotImplementedError(
                f"onnx: a transposed convolution whose result has a size that does not follow from its input. Got output_size="
                f"{output_size} for an input of shape {list(x.shape)}, expected known sizes, or an output_padding. Fix the size of the input."
            )
        out = g.op(
            "ConvTranspose", _first(g, x, data_format), weight, bias, strides=list(strides), pads=_pads(paddings),
            dilations=list(dilations), group=groups, output_padding=open_ends,
        )
        return _back(g, out, x.rank, data_format)


def _difference(wanted, least, size):
    """By how much the result is larger than the least it can be; None where that depends on the input."""
    if not is_unknown(wanted):
        return None if size < 0 else wanted - least(size)

    # The same for two sizes of the input means for all: both sides are linear in it.
    def at(n):
        class Sizes(dict):
            def __missing__(self, _axis):
                return n

        return wanted.value(lambda _x: SimpleNamespace(shape=Sizes())) - least(n)

    return at(24) if at(24) == at(37) else None


_transposed_convolution(ops.conv2d_transpose)
_transposed_convolution(ops.conv3d_transpose)


@to_onnx.rule(ops.max_pool2d)
def onnx_max_pool2d(g, x, *, kernel, strides, paddings, ceil_mode, data_format):
    if not _plain_windows(x, kernel, paddings, data_format) or (ceil_mode and _starts_outside(x, kernel, strides, paddings, data_format)):
        return NotImplemented
    values = g.op(
        "MaxPool", _first(g, x, data_format), outputs=2 if g.wanted[1] else 1, kernel_shape=list(kernel), strides=list(strides),
        pads=_pads(paddings), ceil_mode=int(ceil_mode),
    )
    if not g.wanted[1]:
        return _back(g, values, x.rank, data_format), None
    h, w = _image(x, data_format)
    if -1 in (h, w):
        return NotImplemented
    out, index = values  # counted through the whole tensor; ours inside each plane
    inside = g.op("Mod", index, g.constant(h * w, "int64"))
    return _back(g, out, x.rank, data_format), _back(g, g.cast(inside, int32), x.rank, data_format)


def _plain_windows(x, kernel, paddings, data_format):
    """Whether every window is smaller than the padded input, and the padding smaller than the window, as ONNX requires."""
    image = _image(x, data_format)
    for axis, size in enumerate(image):
        before, after = paddings[2 * axis], paddings[2 * axis + 1]
        if before >= kernel[axis] or after >= kernel[axis] or (size >= 0 and size + before + after < kernel[axis]):
            return False
    return True


def _starts_outside(x, kernel, strides, paddings, data_format):
    """Whether the last window of `ceil_mode` may begin beyond the image. ONNX leaves such a window out."""
    for axis, size in enumerate(_image(x, data_format)):
        before, after = paddings[2 * axis], paddings[2 * axis + 1]
        if size < 0:
            if strides[axis] + after > kernel[axis]:
                return True
            continue
        room = size + before + after - kernel[axis]
        if -(-room // strides[axis]) * strides[axis] >= size + before:
            return True
    return False


@to_onnx.rule(ops.avg_pool2d)
def onnx_avg_pool2d(g, x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    if ceil_mode or divisor is not None or not _plain_windows(x, kernel, paddings, data_format):
        return NotImplemented  # runtimes disagree about windows that end outside
    out = g.op(
        "AveragePool", _first(g, x, data_format), kernel_shape=list(kernel), strides=list(strides), pads=_pads(paddings),
        count_include_pad=int(not exclusive),
    )
    return _back(g, out, x.rank, data_format)


@to_onnx.rule(ops.adaptive_avg_pool2d)
def onnx_adaptive_avg_pool2d(g, x, *, output_size, data_format):
    image = _first(g, x, data_format)
    if tuple(output_size) == (1, 1):
        return _back(g, g.op("GlobalAveragePool", image), x.rank, data_format)
    sizes = _image(x, data_format)
    if any(s < 0 or n < 1 or s % n for s, n in zip(sizes, output_size, strict=True)):
        return NotImplemented
    steps = [s // n for s, n in zip(sizes, output_size, strict=True)]
    return _back(g, g.op("AveragePool", image, kernel_shape=steps, strides=steps), x.rank, data_format)


