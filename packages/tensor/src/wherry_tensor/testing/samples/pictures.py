"""Samples and references of pictures of bytes."""
import numpy as np

from wherry_tensor import ops
from wherry_tensor.testing import bad, case, spec

_GIVEN = dict(dtypes="float32", cast=(), differentiable=False)  # samples come in the dtypes that they are meant for

_SHARES = tuple(float(np.float32(share)) for share in (0.54, 0.46))
_FILTERS = {
    "box": (0.5, lambda x: 1.0 * ((x > -0.5) & (x <= 0.5))),
    "bilinear": (1, lambda x: np.maximum(1 - abs(x), 0)),
    "hamming": (1, lambda x: np.where(x == 0, 1, np.sinc(x) * (_SHARES[0] + _SHARES[1] * np.cos(np.pi * x)) * (abs(x) < 1))),
    "bicubic": (2, lambda x: np.where(abs(x) < 1, (1.5 * abs(x) - 2.5) * x * x + 1, ((2.5 - 0.5 * abs(x)) * abs(x) - 4) * abs(x) + 2) * (abs(x) < 2)),
    "lanczos": (3, lambda x: np.sinc(x) * np.sinc(x / 3) * (x >= -3) * (x < 3)),
}


def _resample_bytes(x, axis, size, method):
    lines, places = np.moveaxis(x, axis, 0), x.shape[axis]
    reach, weight = _FILTERS[method]
    wide = max(places / size, 1)
    out = []
    for i in range(size):
        center = (i + 0.5) * (places / size)
        near = np.arange(max(int(center - reach * wide + 0.5), 0), min(int(center + reach * wide + 0.5), places))
        shares = weight((near - center + 0.5) / wide)
        fixed = np.round(shares / shares.sum() * 2**22).astype(np.int64)
        out.append(np.clip((np.tensordot(fixed, lines[near].astype(np.int64), 1) + 2**21) >> 22, 0, 255))
    return np.moveaxis(np.array(out), 0, axis).astype(np.uint8)


@spec(ops.resample_bytes, reference=_resample_bytes, **_GIVEN)
def spec_resample_bytes(rng):
    for method in _FILTERS:
        for shape, axis, size in (
            ((5,), 0, 7), ((7, 3), 0, 3), ((3, 7), 1, 5), ((1, 1), 0, 4), ((40,), 0, 1), ((9, 6, 4), 0, 5), ((21, 9, 4), 1, 30), ((5, 33, 3), 1, 9),
            ((35, 17), 1, 8), ((3, 2, 65), 1, 5), ((2, 50, 7, 5), 1, 12), ((0, 4), 1, 3), ((4, 0), 0, 3),
        ):  # fmt: skip
            yield case(rng.integers(0, 256, shape).astype(np.uint8), axis=axis, size=size, method=method)
        edges = np.where(rng.random((70, 90, 4)) < 0.5, 0, 255).astype(np.uint8)  # beyond which cubics go
        yield case(edges, axis=0, size=31, method=method)
        yield case(edges, axis=1, size=131, method=method)
        yield case(edges[:, ::2].transpose(1, 0, 2), axis=1, size=50, method=method)
    x = np.zeros((2, 3), np.uint8)
    yield bad(x.astype(np.float32), axis=0, size=2, method="box", error=TypeError, match="`x` has dtype float32")
    yield bad(x, axis=2, size=2, method="box", error=ValueError, match="axis 2")
    yield bad(x, axis=0, size=2, method="nearest", error=ValueError, match="the method is unknown")
    yield bad(x, axis=0, size=0, method="box", error=ValueError, match="nothing can be resized")
    yield bad(x[:0], axis=0, size=2, method="box", error=ValueError, match="nothing can be resized")


def _recolor(x, factor, kind):
    colors, f = x[..., :3].astype(np.int64), np.float32
    if kind == "hue":
        changed = _with_hue(colors, int(factor))
    else:
        gray = (colors @ [19595, 38470, 7471] + 2**15) >> 16
        if kind == "contrast":
            gray = np.array(np.floor(gray.mean() + 0.5) if gray.size else 0)
        base = gray[..., None].astype(f) if kind != "brightness" else f(0)
        changed = np.clip(base + f(factor) * (colors.astype(f) - base), 0, 255)
    return np.concatenate([changed.astype(np.uint8), x[..., 3:]], -1)


def _with_hue(colors, step):
    """As colorsys has it, in float32 and bytes."""
    f = np.float32
    out = np.empty_like(colors)
    for at in np.ndindex(colors.shape[:-1]):
        red, green, blue = colors[at].tolist()
        most, spread = max(red, green, blue), max(red, green, blue) - min(red, green, blue)
        hue = share = 0
        if spread:
            r, g, b = (float(f(most - channel) / f(spread)) for channel in (red, green, blue))
            sixths = f(b - g if red == most else 2 + r - b if green == most else 4 + g - r)
            hue, share = int(f((float(sixths / f(6)) + 1) % 1) * f(255)), int(f(spread) / f(most) * f(255))
        at_hue, share, most_f = f((hue + step) % 256) * f(6) / f(255), f(share) / f(255), f(most)
        part, one = int(at_hue), f(1)
        rest = at_hue - f(part)
        low, falling, rising = (int(np.floor(float(most_f * (one - share * x)) + 0.5)) for x in (one, rest, one - rest))
        rows = (most, rising, low), (falling, most, low), (low, most, rising), (low, falling, most), (rising, low, most), (most, low, falling)
        out[at] = rows[part % 6]
    return out


@spec(ops.recolor, reference=_recolor, **_GIVEN)
def spec_recolor(rng):
    grays, levels = np.repeat(np.arange(0, 256, 5), 4).reshape(-1, 4), (0, 9, 255)
    pure = np.array([[r, g, b, 7] for r in levels for g in levels for b in levels])
    for kind, factors in (("brightness", (0, 0.3, 1, 2.7)), ("contrast", (0, 0.7, 1.3)), ("saturation", (0, 0.5, 1, 1.9)), ("hue", (0, 1, 77, 255))):
        for factor in factors:
            for x in rng.integers(0, 256, (9, 13, 4)), grays, pure, rng.integers(0, 256, 4):
                yield case(x.astype(np.uint8), np.array(factor, np.float32), kind=kind)
        yield case(np.zeros((0, 4), np.uint8), np.array(1, np.float32), kind=kind)
        yield case(rng.integers(0, 256, (8, 4, 6)).astype(np.uint8).transpose(0, 2, 1), np.array(factor, np.float32), kind=kind)
    x, factor = np.zeros((2, 4), np.uint8), np.array(1, np.float32)
    yield bad(x.astype(np.float32), factor, kind="hue", error=TypeError, match="`x` has dtype float32")
    yield bad(x, factor.astype(np.float64), kind="hue", error=TypeError, match="`factor` has dtype float64")
    yield bad(x, factor.reshape(1), kind="hue", error=ValueError, match="`factor` has 1 ax")
    yield bad(x[:, :3], factor, kind="hue", error=ValueError, match="no pixels of 4 bytes")
    yield bad(x, factor, kind="sepia", error=ValueError, match="the kind is unknown")
