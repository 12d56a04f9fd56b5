"""Samples and references of region pooling, deformable sampling and non-maximum suppression."""
import itertools

import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

_FLOATS = ("float32", "float64")


def _read(plane, y, x, beyond):
    """A value between the pixels; up to `beyond` outside of the border it is that of the border, or falls to 0."""
    height, width = plane.shape
    if beyond == "border":
        if y < -1 or y > height or x < -1 or x > width:
            return 0.0
        y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    low_y, low_x = int(np.floor(y)), int(np.floor(x))
    total = 0.0
    for row, column in itertools.product((low_y, low_y + 1), (low_x, low_x + 1)):
        if 0 <= row < height and 0 <= column < width:
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * plane[row, column]
    return total


def _roi_align(x, boxes, image, height, width, scale, ratio, aligned):
    out = np.zeros((len(boxes), x.shape[1], height, width))
    shift = 0.5 if aligned else 0.0
    for r, (left, top, right, bottom) in enumerate(boxes * scale - shift):
        wide, high = right - left, bottom - top
        if not aligned:
            wide, high = max(wide, 1), max(high, 1)
        down, along = (ratio, ratio) if ratio > 0 else (int(np.ceil(high / height)), int(np.ceil(wide / width)))
        for c, i, j in np.ndindex(*out.shape[1:]):
            samples = [
                _read(x[image[r], c], top + (i + (a + 0.5) / down) * high / height, left + (j + (b + 0.5) / along) * wide / width, "border")
                for a in range(down) for b in range(along)
            ]  # fmt: skip
            out[r, c, i, j] = np.mean(samples) if samples else 0
    return out


def _transposed(function, ct, boxes, image, like, **attrs):
    """What a linear function of images multiplies them by, the other way."""
    out = np.zeros(like.shape)
    for at in np.ndindex(*like.shape):
        unit = np.zeros(like.shape)
        unit[at] = 1
        out[at] = (function(unit, boxes, image, **attrs) * ct).sum()
    return out


def _roi_align_vjp(ct, boxes, image, like, **attrs):
    return _transposed(_roi_align, ct, boxes, image, like, **attrs)


def _round(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def _pixels(start, part, i, size):
    return range(*(int(np.clip(n, 0, size)) for n in (np.floor(i * part + start), np.ceil((i + 1) * part + start))))


def _roi_pool(x, boxes, image, height, width, scale):
    shape = (len(boxes), x.shape[1], height, width)
    out, index = np.zeros(shape), np.full(shape, -1)
    for r, (left, top, right, bottom) in enumerate(_round(boxes * scale)):
        high, wide = max(bottom - top + 1, 1) / height, max(right - left + 1, 1) / width
        for c, i, j in np.ndindex(*shape[1:]):
            rows, columns = _pixels(top, high, i, x.shape[2]), _pixels(left, wide, j, x.shape[3])
            places = [(y, k) for y in rows for k in columns]
            if places:
                y, k = max(places, key=lambda place: x[image[r], c, place[0], place[1]])  # noqa: B023  used at once
                out[r, c, i, j], index[r, c, i, j] = x[image[r], c, y, k], y * x.shape[3] + k
    return out, index


def _psroi_pool(x, boxes, image, height, width, scale):
    channels = x.shape[1] // (height * width)
    out = np.zeros((len(boxes), channels, height, width))
    for r, box in enumerate(_round(boxes)):
        left, top, right, bottom = (box + [0, 0, 1, 1]) * scale
        high, wide = max(bottom - top, 0.1) / height, max(right - left, 0.1) / width
        for c, i, j in np.ndindex(*out.shape[1:]):
            part = x[image[r], (c * height + i) * width + j][np.ix_(_pixels(top, high, i, x.shape[2]), _pixels(left, wide, j, x.shape[3]))]
            out[r, c, i, j] = part.mean() if part.size else 0
    return out


def _psroi_pool_vjp(ct, boxes, image, like, **attrs):
    return _transposed(_psroi_pool, ct, boxes, image, like, **attrs)


_BOXES = np.array([[0.3, 0.6, 4.2, 3.1], [2.2, 1.4, 9.1, 5.3], [-1.7, -2.3, 1.4, 20.3], [3.2, 3.2, 3.4, 3.3], [4.1, 3.3, 2.2, 1.4]])
_IMAGE = np.array([0, 1, 1, 0, 1])


@spec(ops.roi_align, reference=_roi_align, dtypes=_FLOATS, grad_of=(0,))
def spec_roi_align(rng):
    x = rng.standard_normal((2, 3, 5, 6))
    for height, width, scale, ratio, aligned in ((2, 3, 1.0, 2, True), (3, 2, 0.5, -1, True), (2, 2, 0.7, -1, False), (1, 1, 1.0, 1, False)):
        yield case(x, _BOXES, _IMAGE, height=height, width=width, scale=scale, ratio=ratio, aligned=aligned)
    attrs = {"height": 2, "width": 2, "scale": 1.0, "ratio": -1, "aligned": True}
    yield case(x, _BOXES[:0], _IMAGE[:0], **attrs)
    yield case(x[:, :0], _BOXES, _IMAGE, **attrs)
    yield bad(x, _BOXES, _IMAGE + 1, error=IndexError, match="lies in no image. Got image 2", **attrs)
    yield bad(x, _BOXES[:, :3], _IMAGE, error=ValueError, match="boxes need four coordinates", **attrs)
    yield bad(x, _BOXES, _IMAGE[:2], error=ValueError, match="`image` needs one number for each box", **attrs)
    yield bad(x, _BOXES, _IMAGE, error=ValueError, match="height and width must be positive", **{**attrs, "height": 0})
    yield bad(x, _BOXES, _IMAGE, error=ValueError, match="too many samples", **{**attrs, "ratio": 1 << 40})
    yield bad(x[0], _BOXES, _IMAGE, error=ValueError, match="`x` has 3 axes", **attrs)


@spec(ops.roi_align_vjp, reference=_roi_align_vjp, dtypes=_FLOATS, grad_of=(0,))
def spec_roi_align_vjp(rng):
    like = np.zeros((2, 2, 4, 5))
    for height, width, scale, ratio, aligned in ((2, 3, 1.0, 2, True), (1, 2, 0.6, -1, False)):
        ct = rng.standard_normal((5, 2, height, width))
        yield case(ct, _BOXES, _IMAGE, like, height=height, width=width, scale=scale, ratio=ratio, aligned=aligned)
    attrs = {"height": 2, "width": 2, "scale": 1.0, "ratio": -1, "aligned": True}
    yield case(np.zeros((0, 2, 2, 2)), _BOXES[:0], _IMAGE[:0], like, **attrs)
    yield bad(np.zeros((5, 3, 2, 2)), _BOXES, _IMAGE, like, error=ValueError, match="what was cut out", **attrs)
    yield bad(np.zeros((5, 2, 2, 2)), _BOXES, _IMAGE - 1, like, error=IndexError, match="Got image -1", **attrs)


@spec(ops.roi_pool, reference=_roi_pool, dtypes=_FLOATS, grad_of=(0,), grad_through=(0,))
def spec_roi_pool(rng):
    x = rng.permutation(2 * 3 * 5 * 6).reshape(2, 3, 5, 6) / 4  # gaps wider than the difference step
    for height, width, scale in ((2, 3, 1.0), (3, 2, 0.5), (1, 1, 1.0)):
        yield case(x, _BOXES, _IMAGE, height=height, width=width, scale=scale)
    yield case(x, _BOXES[:0], _IMAGE[:0], height=2, width=2, scale=1.0)
    yield bad(x, _BOXES, _IMAGE + 1, error=IndexError, match="Got image 2", height=2, width=2, scale=1.0)


@spec(ops.psroi_pool, reference=_psroi_pool, dtypes=_FLOATS, grad_of=(0,))
def spec_psroi_pool(rng):
    x = rng.standard_normal((2, 12, 5, 6))
    for height, width, scale in ((2, 3, 1.0), (3, 2, 0.5), (1, 1, 1.0)):
        yield case(x, _BOXES, _IMAGE, height=height, width=width, scale=scale)
    yield case(x, _BOXES[:0], _IMAGE[:0], height=2, width=2, scale=1.0)
    yield bad(x[:, :11], _BOXES, _IMAGE, error=ValueError, match="11 channels for 2 x 3 parts", height=2, width=3, scale=1.0)
    yield bad(x, _BOXES, _IMAGE + 1, error=IndexError, match="Got image 2", height=2, width=2, scale=1.0)


@spec(ops.psroi_pool_vjp, reference=_psroi_pool_vjp, dtypes=_FLOATS, grad_of=(0,))
def spec_psroi_pool_vjp(rng):
    yield case(rng.standard_normal((5, 2, 2, 1)), _BOXES, _IMAGE, np.zeros((2, 4, 4, 5)), height=2, width=1, scale=0.8)
    wrong = np.zeros((5, 3, 2, 1))
    yield bad(wrong, _BOXES, _IMAGE, np.zeros((2, 4, 4, 5)), error=ValueError, match="what was cut out", height=2, width=1, scale=1.0)


def _deform_columns(x, offset, mask, kernel, strides, paddings, dilations, groups):
    n, channels, _, _ = x.shape
    taps, (high, wide) = kernel[0] * kernel[1], offset.shape[2:]
    moved = offset.reshape(n, groups, taps, 2, high, wide)
    shares = np.ones((n, groups, taps, high, wide)) if mask is None else mask.reshape(n, groups, taps, high, wide)
    out = np.zeros((n, channels, taps, high, wide))
    for b, c, tap, i, j in np.ndindex(*out.shape):
        g = c * groups // channels
        y = i * strides[0] - paddings[0] + tap // kernel[1] * dilations[0] + moved[b, g, tap, 0, i, j]
        along = j * strides[1] - paddings[1] + tap % kernel[1] * dilations[1] + moved[b, g, tap, 1, i, j]
        out[b, c, tap, i, j] = _read(x[b, c], y, along, "zero") * shares[b, g, tap, i, j]
    return out.reshape(n, channels * taps, high * wide)


def _deform_cases(rng):
    """Inputs and attributes."""
    for kernel, strides, paddings, dilations, groups, masked in (
        ((2, 3), (1, 1), (0, 1), (1, 1), 1, True),
        ((2, 2), (2, 1), (1, 0), (1, 2), 2, True),
        ((1, 2), (1, 2), (0, 0), (1, 1), 2, False),
    ):
        x = rng.standard_normal((2, 4, 4, 5))
        high, wide = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip((4, 5), kernel, strides, paddings, dilations, strict=True))
        taps = kernel[0] * kernel[1]
        # Away from whole numbers, where the derivative is not defined.
        offset = rng.integers(-2, 3, (2, 2 * groups * taps, high, wide)) + rng.uniform(0.1, 0.9, (2, 2 * groups * taps, high, wide))
        mask = rng.uniform(0, 1, (2, groups * taps, high, wide)) if masked else None
        yield x, offset, mask, {"kernel": kernel, "strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


@spec(ops.deform_columns, reference=_deform_columns, dtypes=_FLOATS, tolerance={"float32": (1e-4, 1e-5)})
def spec_deform_columns(rng):
    for x, offset, mask, attrs in _deform_cases(rng):
        yield case(x, offset, mask, **attrs)
    attrs = {"kernel": (1, 1), "strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "groups": 1}
    x, offset = rng.standard_normal((1, 1, 3, 3)), np.zeros((1, 2, 3, 3))
    yield case(x, offset - 1e4, None, differentiable=False, **attrs)
    yield case(x[:0], offset[:0], None, **attrs)
    yield bad(x, offset[:, :1], None, error=ValueError, match="of two numbers for each tap", **attrs)
    yield bad(x, offset, np.zeros((1, 2, 3, 3)), error=ValueError, match="of a number for each tap", **attrs)
    yield bad(x, offset, None, error=ValueError, match="groups do not divide the channels", **{**attrs, "groups": 2})
    yield bad(x, offset, None, error=ValueError, match="kernel has two numbers", **{**attrs, "kernel": (0, 1)})
    yield bad(x, offset, None, error=ValueError, match="larger than the image", **{**attrs, "kernel": (9, 1)})


@spec(ops.deform_columns_vjp, dtypes=_FLOATS, tolerance={"float32": (1e-4, 1e-5)})
def spec_deform_columns_vjp(rng):
    for x, offset, mask, attrs in _deform_cases(rng):
        taps = attrs["kernel"][0] * attrs["kernel"][1]
        yield case(rng.standard_normal((2, 4 * taps, offset.shape[2] * offset.shape[3])), x, offset, mask, **attrs)
    attrs = {"kernel": (1, 1), "strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "groups": 1}
    x, offset = rng.standard_normal((1, 1, 3, 3)), np.zeros((1, 2, 3, 3))
    yield bad(np.zeros((1, 1, 8)), x, offset, None, error=ValueError, match="the columns", **attrs)


def _suppress(boxes, group, threshold, offset):
    kept = np.ones(len(boxes), bool)
    for i, j in itertools.combinations(range(len(boxes)), 2):
        a, b = boxes[i], boxes[j]
        sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
        sides = np.where(sides >= 0, sides + offset, 0)
        both = sum(np.prod(box[2:] - box[:2] + offset) for box in (a, b)) - np.prod(sides)
        if kept[i] and group[i] == group[j] and both != 0 and np.prod(sides) / both > threshold:
            kept[j] = False
    return kept


@spec(ops.suppress, reference=_suppress, dtypes=_FLOATS, differentiable=False)
def spec_suppress(rng):
    for count, threshold, offset in ((0, 0.5, 0.0), (1, 0.5, 0.0), (40, 0.3, 0.0), (40, 0.5, 1.0), (200, 0.2, 0.0)):
        corner = rng.integers(0, 40, (count, 2)) / 2
        boxes = np.concatenate([corner, corner + rng.integers(1, 30, (count, 2)) / 2], 1)
        for groups in 1, 3:
            yield case(boxes, rng.integers(0, groups, count), threshold=threshold, offset=offset)
    yield case(np.zeros((3, 4)), np.zeros(3, "int64"), threshold=0.5, offset=0.0)  # boxes without area strike none
    yield bad(np.zeros((3, 3)), np.zeros(3, "int64"), threshold=0.5, offset=0.0, error=ValueError, match="boxes need four coordinates")
    yield bad(np.zeros((3, 4)), np.zeros(2, "int64"), threshold=0.5, offset=0.0, error=ValueError, match="`group` needs one number for each box")
    yield bad(np.zeros((3, 4)), np.zeros(3), threshold=0.5, offset=0.0, error=TypeError, match="`group` has dtype float64")
