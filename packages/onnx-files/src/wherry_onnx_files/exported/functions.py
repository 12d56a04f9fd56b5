"""How ATen's less common operators are read (see `aten`)."""
from __future__ import annotations

from typing import Any

import wherry_nn.functional as F
import wherry_tensor as api
from wherry_onnx_files.exported.aten import VIEWS, _axes, _both, _promoted, _unbiased, reads
from wherry_tensor.functions import fft

VIEWS |= {"movedim", "diagonal", "view_as_real", "view_as_complex", "unfold"}

# Element-wise.

for _name in ("frac", "deg2rad", "rad2deg", "i0", "angle", "signbit", "sgn"):
    reads(_name)(lambda self, _name=_name: getattr(api, _name)(self))
reads("nan_to_num")(lambda self, nan=None, posinf=None, neginf=None: api.nan_to_num(self, nan or 0.0, posinf, neginf))
for _names, _function in (
    (("__and__", "__iand__"), api.bitwise_and), (("__or__", "__ior__"), api.bitwise_or), (("__xor__", "__ixor__"), api.bitwise_xor),
    (("fmax",), api.fmax), (("fmin",), api.fmin), (("hypot",), api.hypot), (("copysign",), api.copysign), (("heaviside",), api.heaviside),
):
    reads(*_names)(lambda self, other=None, values=None, _f=_function: _f(*_both(self, values if other is None else other)))
reads("logaddexp")(_promoted(api.logaddexp))
reads("fmod")(_promoted(lambda x, y: x - api.trunc(x / y) * y))
reads("erfc")(lambda self: 1.0 - api.erf(self))
reads("exp2")(lambda self: api.pow(api.full([], 2.0, self.dtype), self))
reads("log_sigmoid")(lambda self: F.log_sigmoid(self))
reads("celu")(lambda self, alpha=1.0: F.celu(self, alpha))
reads("hardshrink")(lambda self, lambd=0.5: F.hardshrink(self, lambd))
reads("softshrink")(lambda self, lambd=0.5: F.softshrink(self, lambd))
reads("threshold")(lambda self, threshold, value: api.where(self > threshold, self, api.full([], value, self.dtype)))
reads("clamp_max")(lambda self, max: api.minimum(*_both(self, max)))
reads("addcmul")(lambda self, tensor1, tensor2, value=1: self + tensor1 * tensor2 * value)
reads("addcdiv")(lambda self, tensor1, tensor2, value=1: self + tensor1 / tensor2 * value)
reads("complex")(lambda real, imag: api.complex(real, imag))
reads("polar")(lambda abs, angle: api.complex(abs * api.cos(angle), abs * api.sin(angle)))
reads("view_as_real")(lambda self: api.as_real(self))
reads("view_as_complex")(lambda self: api.as_complex(self))
reads("zero_", "zero")(lambda self: api.zeros_like(self))


@reads("logit")
def read_logit(self, eps=None):
    return api.logit(self) if eps is None else api.logit(self, eps)


@reads("copy", "copy_")
def read_copy(self, src, non_blocking=False):
    return api.expand(api.cast(src, self.dtype), list(self.shape))


# Products and norms.

reads("outer", "ger")(lambda self, vec2: api.outer(self, vec2))
reads("dot")(lambda self, tensor: api.dot(self, tensor))
reads("mv")(lambda self, vec: api.mv(self, vec))
reads("kron")(lambda self, other: api.kron(self, other))
reads("linalg_cross")(lambda self, other, dim=-1: api.cross(self, other, dim))
reads("cosine_similarity")(lambda x1, x2, dim=1, eps=1e-8: F.cosine_similarity(x1, x2, dim, eps))


@reads("_weight_norm")
def read_weight_norm(v, g, dim=0):
    axes = [axis for axis in range(v.ndim) if axis != dim]
    return v * (g / api.sqrt(api.sum(v * v, axes, keepdim=True)))


@reads("native_group_norm")
def read_native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    rows = api.reshape(input, [N, group, -1])
    mean, variance = api.mean(rows, 2), api.var(rows, 2, unbiased=False)
    return F.group_norm(input, group, eps, weight, bias), mean, api.rsqrt(variance + eps)


# Reductions and sums along an axis.


@reads("diff")
def read_diff(self, n=1, dim=-1, prepend=None, append=None):
    return api.diff(self, n, dim, prepend, append)


@reads("cumprod")
def read_cumprod(self, dim, dtype=None):
    return api.cumprod(self if dtype is None else api.cast(self, dtype), dim)


reads("cummax")(lambda self, dim: api.cummax(self, dim))
reads("cummin")(lambda self, dim: api.cummin(self, dim))
reads("logcumsumexp")(lambda self, dim: api.logcumsumexp(self, dim))
reads("trace")(lambda self: api.trace(self))


@reads("var_mean")
def read_var_mean(self, dim=None, unbiased=True, keepdim=False, correction=None):
    return api.var(self, _axes(dim), _unbiased(unbiased, correction), keepdim), api.mean(self, _axes(dim), keepdim)


@reads("std_mean")
def read_std_mean(self, dim=None, unbiased=True, keepdim=False, correction=None):
    return api.std(self, _axes(dim), _unbiased(unbiased, correction), keepdim), api.mean(self, _axes(dim), keepdim)


@reads("count_nonzero")
def read_count_nonzero(self, dim=None):
    return api.sum(api.cast(self != 0, "int64"), _axes(dim))


# Shapes.


@reads("movedim", "moveaxis")
def read_movedim(self, source, destination):
    return api.moveaxis(self, source, destination)


reads("tile")(lambda self, dims: api.tile(self, [*[1] * (self.ndim - len(dims)), *dims]))
reads("rot90")(lambda self, k=1, dims=(0, 1): api.rot90(self, k, list(dims)))
reads("diagonal")(lambda self, offset=0, dim1=0, dim2=1: api.diagonal(self, offset, dim1, dim2))
reads("diag")(lambda self, diagonal=0: api.diag(self, diagonal))
reads("diag_embed")(lambda self, offset=0, dim1=-2, dim2=-1: F.diag_embed(self, offset, dim1, dim2))
reads("pixel_unshuffle")(lambda self, downscale_factor: F.pixel_unshuffle(self, downscale_factor))
reads("channel_shuffle")(lambda self, groups: F.channel_shuffle(self, groups))
reads("im2col")(lambda self, kernel_size, dilation, padding, stride: F.unfold(self, kernel_size, stride, padding, dilation))
reads("unfold")(lambda self, dimension, size, step: api.unfold(self, dimension % self.ndim, size, step))


@reads("repeat_interleave")
def read_repeat_interleave(self, repeats, dim=None, output_size=None):
    return api.repeat_interleave(self, repeats, dim)


@reads("empty", "new_empty", "empty_like")
def read_empty(size=None, self=None, dtype=None, **rest):
    return api.zeros(list(self.shape) if size is None else size, dtype or (None if self is None else self.dtype))


# Images.

_MODES, _BORDERS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@reads("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def read_grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    if interpolation_mode == 2:
        raise ValueError("grid_sampler is bicubic. Expected bilinear or nearest.")
    return F.grid_sample(input, grid, _MODES[interpolation_mode], _BORDERS[padding_mode], align_corners)


reads("affine_grid_generator")(lambda theta, size, align_corners: F.affine_grid(theta, size, align_corners))
reads("adaptive_max_pool2d")(lambda self, output_size: F.adaptive_max_pool2d(self, output_size, return_mask=True))


# Indices.


@reads("searchsorted")
def read_searchsorted(sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None:
        raise ValueError("searchsorted has an order of its own (sorter). Expected sorted numbers.")
    return api.searchsorted(sorted_sequence, self, out_int32, right or side == "right")


@reads("bucketize")
def read_bucketize(self, boundaries, out_int32=False, right=False):
    return api.searchsorted(boundaries, self, out_int32, right)


@reads("index_add", "index_add_")
def read_index_add(self, dim, index, source, alpha=1):
    return api.index_add(self, index, dim, source if alpha == 1 else source * alpha)


@reads("index_put", "index_put_")
def read_index_put(self, indices, values, accumulate=False):
    if any(index is None for index in indices) or any(index.dtype.is_bool for index in indices):
        raise ValueError("index_put has whole axes or masks among its indices. Expected whole numbers for the first axes.")
    return api.index_put(self, tuple(indices), api.cast(values, self.dtype), accumulate)


@reads("slice_scatter")
def read_slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    whole = self.shape[dim]
    end = whole if end is None or (type(end) is int and end > 1 << 31) else end
    return api.slice_scatter(self, src, [dim % self.ndim], [0 if start is None else start], [end], [step])


@reads("select_scatter")
def read_select_scatter(self, src, dim, index):
    return api.select_scatter(self, src, dim % self.ndim, index)


# Fourier transforms.


def _normed(norm: Any) -> str:
    return "backward" if norm is None else str(norm)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    reads(f"fft_{_name}")(lambda self, n=None, dim=-1, norm=None, _name=_name: getattr(fft, _name)(self, n, dim, _normed(norm)))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    reads(f"fft_{_name}")(lambda self, s=None, dim=None, norm=None, _name=_name: getattr(fft, _name)(self, s, dim, _normed(norm)))
