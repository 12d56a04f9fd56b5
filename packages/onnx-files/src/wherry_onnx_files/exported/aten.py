"""How ATen's operators are read: a function for each, whose parameters have the names that the schema of the operator gives them.

    @reads("relu", "relu_")
    def read_relu(self):
        return F.relu(self)

Overloads (`add.Tensor`, `add.Scalar`) share a rule. In-place forms give the new value, under whose name that of the old one goes on.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wherry_nn.functional as F
import wherry_tensor as api
from wherry_tensor import ops
from wherry_tensor._core import Tensor

__all__ = ["READS", "VIEWS", "reads"]

READS: dict[str, Callable[..., Any]] = {}
# Operators whose result may share the memory of what they take.
VIEWS = {
    "view", "reshape", "flatten", "unflatten", "permute", "transpose", "t", "numpy_T", "squeeze", "unsqueeze", "expand", "expand_as", "slice",
    "select", "narrow", "split", "split_with_sizes", "chunk", "unbind", "detach", "alias", "contiguous", "to", "real", "imag", "swapaxes", "dropout",
}


def reads(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function reads the operators of these names, of all overloads."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            if name in READS:
                raise ValueError(f"aten.{name} is read already. Got a second rule, expected none beside the first. Remove one of the two.")
            READS[name] = function
        return function

    return register


# Element-wise.

for _name in (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfinv", "exp", "expm1", "floor", "isfinite", "isinf",
    "isnan", "lgamma", "digamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan",
    "trunc", "sigmoid", "tanh", "logical_not", "bitwise_not", "real", "imag", "conj",
):
    _function = getattr(api, _name, None) or getattr(F, _name)
    reads(_name, f"{_name}_")(lambda self, _f=_function: _f(self))
for _name in ("relu", "relu6", "silu", "mish", "selu", "hardswish", "hardsigmoid", "softsign"):
    _function = getattr(F, _name)
    reads(_name, f"{_name}_")(lambda self, _f=_function: _f(self))
for _name, _function in (
    ("eq", api.equal), ("ne", api.not_equal), ("lt", api.less_than), ("le", api.less_equal), ("gt", api.greater_than), ("ge", api.greater_equal),
    ("maximum", api.maximum), ("minimum", api.minimum), ("atan2", api.atan2), ("logical_and", api.logical_and), ("logical_or", api.logical_or),
    ("logical_xor", api.logical_xor), ("remainder", api.remainder), ("bitwise_and", api.bitwise_and),
    ("bitwise_or", api.bitwise_or), ("bitwise_xor", api.bitwise_xor),
):
    reads(_name)(lambda self, other, _f=_function: _f(*_both(self, other)))


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of one dtype, as PyTorch promotes them: a number takes the dtype of the tensor if it can."""
    if not isinstance(y, Tensor):
        return x, api.full([], y, _dtype_with(x, y))
    if not isinstance(x, Tensor):
        return api.full([], x, _dtype_with(y, x)), y
    if x.dtype == y.dtype:
        return x, y
    dtype = _wider(x, y)
    return api.cast(x, dtype), api.cast(y, dtype)


def _dtype_with(x: Tensor, number: Any) -> Any:
    if isinstance(number, float) and not (x.dtype.is_floating or x.dtype.is_complex):
        return api.get_default_dtype()
    return "int64" if x.dtype.is_bool and not isinstance(number, bool) else x.dtype


def _wider(x: Tensor, y: Tensor) -> Any:
    """The dtype of both: floats before integers, tensors with axes before those without."""

    def rank(t: Tensor) -> tuple[int, bool, int]:
        kind = 3 if t.dtype.is_complex else 2 if t.dtype.is_floating else 0 if t.dtype.is_bool else 1
        return kind, t.ndim > 0, t.dtype.itemsize

    return max((x, y), key=rank).dtype


def _promoted(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def rule(self: Any, other: Any, alpha: Any = 1) -> Any:
        x, y = _both(self, other)
        x = api.cast(x, y.dtype) if x.dtype != y.dtype else x
        return function(x, y if alpha == 1 else y * alpha)

    return rule


reads("add", "add_")(_promoted(lambda x, y: x + y))
reads("sub", "sub_")(_promoted(lambda x, y: x - y))
reads("mul", "mul_")(_promoted(lambda x, y: x * y))
reads("rsub")(_promoted(lambda x, y: y - x))


@reads("div", "div_", "true_divide")
def read_div(self, other, rounding_mode=None):
    x, y = _both(self, other)
    if rounding_mode is None and not (x.dtype.is_floating or x.dtype.is_complex):
        x, y = (api.cast(t, api.get_default_dtype()) for t in (x, y))
    x = api.cast(x, y.dtype) if x.dtype != y.dtype else x
    if rounding_mode == "floor":
        return api.floor_divide(x, y) if not x.dtype.is_floating else api.floor(x / y)
    return x / y if rounding_mode is None else api.trunc(x / y) if x.dtype.is_floating else api.cast(
        api.trunc(api.cast(x, "float64") / api.cast(y, "float64")), x.dtype)


@reads("floor_divide")
def read_floor_divide(self, other):
    return read_div(self, other, "floor")


@reads("pow")
def read_pow(self, exponent):
    return api.pow(*_both(self, exponent))


@reads("clamp", "clamp_", "clip")
def read_clamp(self, min=None, max=None):
    x = self if min is None else api.maximum(*_both(self, min))
    return x if max is None else api.minimum(*_both(x, max))


@reads("clamp_min")
def read_clamp_min(self, min):
    return read_clamp(self, min)


@reads("hardtanh", "hardtanh_")
def read_hardtanh(self, min_val=-1.0, max_val=1.0):
    return read_clamp(self, min_val, max_val)


@reads("leaky_relu", "leaky_relu_")
def read_leaky_relu(self, negative_slope=0.01):
    return F.leaky_relu(self, negative_slope)


@reads("elu", "elu_")
def read_elu(self, alpha=1.0, scale=1.0, input_scale=1.0):
    if scale != 1 or input_scale != 1:
        raise ValueError(f"elu has scale {scale} and input_scale {input_scale}. Expected 1.")
    return F.elu(self, alpha)


@reads("gelu")
def read_gelu(self, approximate="none"):
    return F.gelu(self, approximate == "tanh")


@reads("softplus")
def read_softplus(self, beta=1.0, threshold=20.0):
    return F.softplus(self, beta, threshold)


@reads("prelu")
def read_prelu(self, weight):
    return F.prelu(self, weight)


@reads("glu")
def read_glu(self, dim=-1):
    return F.glu(self, dim)


@reads("round")
def read_round(self, decimals=0):
    return api.round(self) if decimals == 0 else api.round(self * 10.0**decimals) / 10.0**decimals


@reads("lerp")
def read_lerp(self, end, weight):
    return api.lerp(self, end, weight)


@reads("where")
def read_where(condition, self, other):
    return api.where(condition, *_both(self, other))


@reads("masked_fill", "masked_fill_")
def read_masked_fill(self, mask, value):
    value = value if isinstance(value, Tensor) else api.full([], value, self.dtype)
    return api.where(mask, api.cast(value, self.dtype), self)


@reads("to", "_to_copy", "type_as")
def read_to(self, dtype=None, other=None, **rest):
    dtype = other.dtype if isinstance(other, Tensor) else dtype
    return self if dtype is None else api.cast(self, dtype)


# What changes nothing in a prediction.


@reads("contiguous", "clone", "detach", "detach_", "alias", "lift_fresh_copy", "lift_fresh")
def read_same(self, **rest):
    return self


@reads("dropout", "dropout_", "feature_dropout", "alpha_dropout")
def read_dropout(p, train, input=None, self=None):
    x = self if input is None else input
    return F.dropout(x, p, training=True) if train else x


@reads("fill_", "fill")
def read_fill(self, value):
    return api.full_like(self, value.item() if isinstance(value, Tensor) else value)


# Shapes.


@reads("view", "_unsafe_view")
def read_view(self, size=None, dtype=None):
    if size is None:
        raise ValueError("view changes the dtype. Expected a shape.")
    return api.reshape(self, size)


@reads("reshape")
def read_reshape(self, shape):
    return api.reshape(self, shape)


@reads("flatten")
def read_flatten(self, start_dim=0, end_dim=-1):
    return api.flatten(self, start_dim, end_dim)


@reads("unflatten")
def read_unflatten(self, dim, sizes):
    dim %= self.ndim
    return api.reshape(self, [*self.shape[:dim], *sizes, *self.shape[dim + 1 :]])


@reads("permute")
def read_permute(self, dims):
    return api.transpose(self, [n % self.ndim for n in dims])


@reads("transpose", "transpose_", "swapaxes")
def read_transpose(self, dim0, dim1):
    perm = list(range(self.ndim))
    perm[dim0], perm[dim1] = perm[dim1], perm[dim0]
    return api.transpose(self, perm)


@reads("t", "numpy_T")
def read_t(self):
    return api.transpose(self, list(range(self.ndim))[::-1])


@reads("squeeze")
def read_squeeze(self, dim=None):
    return api.squeeze(self) if dim is None else api.squeeze(self, dim)


@reads("unsqueeze", "unsqueeze_")
def read_unsqueeze(self, dim):
    return api.unsqueeze(self, dim)


@reads("expand")
def read_expand(self, size, implicit=False):
    return api.expand(self, size)


@reads("expand_as")
def read_expand_as(self, other):
    return api.expand(self, list(other.shape))


@reads("repeat")
def read_repeat(self, repeats):
    return api.tile(self, repeats)


@reads("cat", "concat")
def read_cat(tensors, dim=0):
    return api.concat([t for t in tensors if t.ndim != 1 or t.shape[0] != 0] or tensors, dim)


@reads("stack")
def read_stack(tensors, dim=0):
    return api.stack(tensors, dim)


@reads("split", "split_with_sizes")
def read_split(self, split_size=None, split_sizes=None, dim=0):
    sizes = split_sizes if split_sizes is not None else split_size
    if isinstance(sizes, int):
        whole = int(self.shape[dim])
        sizes = [min(sizes, whole - i) for i in range(0, whole, sizes)]
    return api.split(self, list(sizes), dim)


@reads("chunk")
def read_chunk(self, chunks, dim=0):
    return read_split(self, math.ceil(int(self.shape[dim]) / chunks), dim=dim)


@reads("unbind")
def read_unbind(self, dim=0):
    return api.unbind(self, dim)


@reads("slice")
def read_slice(self, dim=0, start=None, end=None, step=1):
    whole = (0 if start is None else start, (1 << 31) - 1 if end is None or (type(end) is int and end > 1 << 31) else end)
    return api.strided_slice(self, [dim % self.ndim], [whole[0]], [whole[1]], [step]) if step != 1 else api.slice(
        self, [dim % self.ndim], [whole[0]], [whole[1]])


@reads("select")
def read_select(self, dim, index):
    return api.squeeze(read_slice(self, dim, index, None if index == -1 else index + 1), dim)


@reads("narrow")
def read_narrow(self, dim, start, length):
    return read_slice(self, dim, start, start + length)


@reads("flip")
def read_flip(self, dims):
    return api.flip(self, dims)


@reads("roll")
def read_roll(self, shifts, dims=()):
    return api.roll(self, list(shifts), list(dims)) if len(dims) else api.roll(self, shifts[0])


@reads("tril")
def read_tril(self, diagonal=0):
    return api.tril(self, diagonal)


@reads("triu")
def read_triu(self, diagonal=0):
    return api.triu(self, diagonal)


@reads("sym_size")
def read_sym_size(self, dim):
    return self.shape[dim]


@reads("sym_numel")
def read_sym_numel(self):
    return math.prod(self.shape)


@reads("pad", "constant_pad_nd")
def read_pad(self, pad, mode="constant", value=None):
    if mode == "constant":
        outer = [0, 0] * (self.ndim - len(pad) // 2)
        pairs = [*outer, *(n for i in range(len(pad) - 2, -1, -2) for n in pad[i : i + 2])]
        return F.pad(self, pairs, value=value or 0.0)
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[self.ndim]
    return F.pad(self, pad, mode, data_format=layout)


# Making tensors.


@reads("zeros", "new_zeros")
def read_zeros(size, self=None, dtype=None, **rest):
    return api.zeros(size, dtype or (None if self is None else self.dtype))


@reads("ones", "new_ones")
def read_ones(size, self=None, dtype=None, **rest):
    return api.ones(size, dtype or (None if self is None else self.dtype))


@reads("full", "new_full")
def read_full(size, fill_value, self=None, dtype=None, **rest):
    kind = "bool" if isinstance(fill_value, bool) else "int64" if isinstance(fill_value, int) else None
    return api.full(size, fill_value, dtype or (kind if self is None else self.dtype))


@reads("zeros_like")
def read_zeros_like(self, dtype=None, **rest):
    return api.zeros_like(self, dtype)


@reads("ones_like")
def read_ones_like(self, dtype=None, **rest):
    return api.ones_like(self, dtype)


@reads("full_like")
def read_full_like(self, fill_value, dtype=None, **rest):
    return api.full_like(self, fill_value, dtype)


@reads("scalar_tensor")
def read_scalar_tensor(s, dtype=None, **rest):
    return api.full([], s, dtype)


@reads("arange")
def read_arange(end, start=0, step=1, dtype=None, **rest):
    whole = all(not isinstance(n, float) for n in (start, end, step))
    return api.arange(start, end, step, dtype or ("int64" if whole else None))


# Reductions.


def _axes(dim: Any) -> Any:
    return None if dim is None or dim == [] else dim


def _summed(x: Any, dtype: Any) -> Any:
    """Sums of whole numbers are int64."""
    return api.cast(x, dtype) if dtype is not None else x if x.dtype.is_floating or x.dtype.is_complex else api.cast(x, "int64")


@reads("sum")
def read_sum(self, dim=None, keepdim=False, dtype=None):
    return api.sum(_summed(self, dtype), _axes(dim), keepdim=keepdim)


@reads("mean")
def read_mean(self, dim=None, keepdim=False, dtype=None):
    return api.mean(self if dtype is None else api.cast(self, dtype), _axes(dim), keepdim)


@reads("prod")
def read_prod(self, dim=None, keepdim=False, dtype=None):
    return api.prod(_summed(self, dtype), _axes(dim), keepdim)


@reads("amax")
def read_amax(self, dim=None, keepdim=False):
    return api.max(self, _axes(dim), keepdim)


@reads("amin")
def read_amin(self, dim=None, keepdim=False):
    return api.min(self, _axes(dim), keepdim)


@reads("max")
def read_max(self, dim=None, keepdim=False, other=None):
    if other is not None:
        return api.maximum(*_both(self, other))
    return api.max(self) if dim is None else (api.max(self, dim, keepdim), api.argmax(self, dim, keepdim))


@reads("min")
def read_min(self, dim=None, keepdim=False, other=None):
    if other is not None:
        return api.minimum(*_both(self, other))
    return api.min(self) if dim is None else (api.min(self, dim, keepdim), api.argmin(self, dim, keepdim))


@reads("argmax")
def read_argmax(self, dim=None, keepdim=False):
    return api.argmax(self, dim, keepdim)


@reads("argmin")
def read_argmin(self, dim=None, keepdim=False):
    return api.argmin(self, dim, keepdim)


@reads("any")
def read_any(self, dim=None, keepdim=False):
    return api.any(api.cast(self, "bool"), _axes(dim), keepdim)


@reads("all")
def read_all(self, dim=None, keepdim=False):
    return api.all(api.cast(self, "bool"), _axes(dim), keepdim)


def _unbiased(unbiased: bool, correction: Any) -> bool:
    if correction not in (None, 0, 1):
        raise ValueError(f"a variance with correction {correction}. Expected 0 or 1.")
    return unbiased if correction is None else bool(correction)


@reads("var")
def read_var(self, dim=None, unbiased=True, keepdim=False, correction=None):
    return api.var(self, _axes(dim), _unbiased(unbiased, correction), keepdim)


@reads("std")
def read_std(self, dim=None, unbiased=True, keepdim=False, correction=None):
    return api.std(self, _axes(dim), _unbiased(unbiased, correction), keepdim)


@reads("norm", "linalg_vector_norm")
def read_norm(self, p=None, dim=None, keepdim=False, ord=2, dtype=None):
    return api.norm(self, float(ord if p is None else p), _axes(dim), keepdim)


@reads("logsumexp")
def read_logsumexp(self, dim, keepdim=False):
    return api.logsumexp(self, dim, keepdim)


@reads("cumsum")
def read_cumsum(self, dim, dtype=None):
    return api.cumsum(_summed(self, dtype), dim)


@reads("softmax", "_softmax")
def read_softmax(self, dim, dtype=None, half_to_float=False):
    return F.softmax(self if dtype is None else api.cast(self, dtype), dim)


@reads("log_softmax", "_log_softmax")
def read_log_softmax(self, dim, dtype=None, half_to_float=False):
    return F.log_softmax(self if dtype is None else api.cast(self, dtype), dim)


@reads("topk")
def read_topk(self, k, dim=-1, largest=True, sorted=True):
    return api.topk(self, k, dim, largest, sorted)


@reads("sort")
def read_sort(self, dim=-1, descending=False, stable=None):
    order = api.argsort(self, dim, descending)
    return api.take_along_axis(self, order, dim), order


@reads("argsort")
def read_argsort(self, dim=-1, descending=False, stable=None):
    return api.argsort(self, dim, descending)


# Indices.


@reads("embedding")
def read_embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(indices, weight)


@reads("gather")
def read_gather(self, dim, index, sparse_grad=False):
    return api.take_along_axis(self, index, dim)


@reads("index_select")
def read_index_select(self, dim, index):
    return api.index_select(self, index, dim)


@reads("index")
def read_index(self, indices):
    return self[tuple(slice(None) if i is None else i for i in indices)]


@reads("scatter", "scatter_src")
def read_scatter(self, dim, index, src=None, value=None):
    source = src if src is not None else api.full(list(index.shape), value, self.dtype)
    return api.put_along_axis(self, index, source, dim)


@reads("one_hot")
def read_one_hot(self, num_classes=-1):
    if num_classes < 0:
        raise ValueError("one_hot counts its classes. Expected num_classes.")
    return api.cast(F.one_hot(self, num_classes), "int64")


# Products.


@reads("linear")
def read_linear(input, weight, bias=None):
    return F.linear(input, api.transpose(weight, [1, 0]), bias)


@reads("addmm")
def read_addmm(self, mat1, mat2, beta=1, alpha=1):
    product = api.matmul(mat1, mat2)
    return (self if beta == 1 else self * beta) + (product if alpha == 1 else product * alpha)


@reads("mm", "bmm")
def read_mm(self, mat2):
    return api.matmul(self, mat2)


@reads("matmul")
def read_matmul(self, other):
    return api.matmul(self, other)


@reads("baddbmm")
def read_baddbmm(self, batch1, batch2, beta=1, alpha=1):
    return read_addmm(self, batch1, batch2, beta, alpha)


@reads("einsum")
def read_einsum(equation, tensors, path=None):
    return api.einsum(equation, *tensors)


@reads("scaled_dot_product_attention")
def read_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa or dropout_p:
        raise ValueError("attention has groups of queries or dropout. Expected neither.")
    scores = api.matmul(query, api.transpose(key, [*range(key.ndim - 2), key.ndim - 1, key.ndim - 2]))
    scores = scores * (scale if scale is not None else 1 / math.sqrt(int(query.shape[-1])))
    if is_causal:
        kept = api.tril(api.ones([query.shape[-2], key.shape[-2]], "float32")) > 0
        scores = api.where(kept, scores, api.full([], -math.inf, scores.dtype))
    if attn_mask is not None:
        masked = attn_mask.dtype.is_bool
        scores = api.where(attn_mask, scores, api.full([], -math.inf, scores.dtype)) if masked else scores + attn_mask
    return api.matmul(F.softmax(scores, -1), value)


# Convolutions, pooling, resampling.

_LAYOUTS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def _several(n: Any, rank: int) -> list[int]:
    n = [n] if isinstance(n, int) else list(n)
    return n * rank if len(n) == 1 else n


def _convolved(rank: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    if isinstance(padding, str):
        padding = padding.upper()
    else:
        padding = _several(padding, rank)
    function = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    stride, dilation = _several(stride, rank), _several(dilation, rank)
    return function(x, weight, bias, stride, padding, dilation, groups, data_format=_LAYOUTS[rank])


@reads("conv1d")
def read_conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolved(1, input, weight, bias, stride, padding, dilation, groups)


@reads("conv2d")
def read_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolved(2, input, weight, bias, stride, padding, dilation, groups)


@reads("conv3d")
def read_conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _convolved(3, input, weight, bias, stride, padding, dilation, groups)


@reads("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def read_conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    rank = input.ndim - 2
    function = (F.conv1d_transpose, F.conv2d_transpose, F.conv3d_transpose)[rank - 1]
    numbers = (_several(n, rank) for n in (stride, padding, output_padding))
    return function(input, weight, bias, *numbers, groups=groups, dilation=_several(dilation, rank), data_format=_LAYOUTS[rank])


@reads("convolution")
def read_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return read_conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolved(input.ndim - 2, input, weight, bias, stride, padding, dilation, groups)


@reads("max_pool1d", "max_pool2d", "max_pool3d")
def read_max_pool(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    rank = self.ndim - 2
    if set(_several(dilation, rank)) != {1}:
        raise ValueError(f"a pooling with dilation {dilation}. Expected 1.")
    kernel = _several(kernel_size, rank)
    stride = _several(stride, rank) if stride else kernel
    return (F.max_pool1d, F.max_pool2d, F.max_pool3d)[rank - 1](self, kernel, stride, _several(padding, rank), ceil_mode=ceil_mode)


@reads("avg_pool1d", "avg_pool2d", "avg_pool3d")
def read_avg_pool(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    rank = self.ndim - 2
    kernel = _several(kernel_size, rank)
    stride = _several(stride, rank) if stride else kernel
    function = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[rank - 1]
    more = {} if divisor_override is None else {"divisor_override": divisor_override}
    return function(self, kernel, stride, _several(padding, rank), ceil_mode=ceil_mode, exclusive=not count_include_pad, **more)


@reads("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def read_adaptive_avg_pool(self, output_size):
    rank = self.ndim - 2
    function = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[rank - 1]
    return function(self, output_size[0] if rank == 1 else list(output_size))


for _name, _mode in (("upsample_nearest2d", "nearest"), ("upsample_bilinear2d", "bilinear"), ("upsample_bicubic2d", "bicubic")):

    def _upsampled(input, output_size=None, align_corners=False, scale_factors=None, _mode=_mode):
        size = None if output_size is None else list(output_size)
        return F.interpolate(input, size, None if size else scale_factors, _mode, align_corners)

    reads(_name)(_upsampled)


@reads("pixel_shuffle")
def read_pixel_shuffle(self, upscale_factor):
    return F.pixel_shuffle(self, upscale_factor)


# Normalization.


@reads("batch_norm", "_native_batch_norm_legit_no_training")
def read_batch_norm(input, weight, bias, running_mean, running_var, training=False, momentum=0.1, eps=1e-5, cudnn_enabled=False):
    """As it predicts; the momentum of PyTorch is that of the new value."""
    weight = api.ones_like(running_mean) if weight is None else weight
    bias = api.zeros_like(running_mean) if bias is None else bias
    layout = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[input.ndim]
    return F.batch_norm(input, running_mean, running_var, weight, bias, False, 1 - momentum, eps, data_format=layout)


@reads("layer_norm")
def read_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=False):
    return F.layer_norm(input, list(normalized_shape), weight, bias, eps)


@reads("native_layer_norm")
def read_native_layer_norm(input, normalized_shape, weight, bias, eps):
    return read_layer_norm(input, normalized_shape, weight, bias, eps), None, None


@reads("group_norm")
def read_group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=False):
    return F.group_norm(input, num_groups, eps, weight, bias)


@reads("instance_norm")
def read_instance_norm(
    input, weight=None, bias=None, running_mean=None, running_var=None, use_input_stats=True, momentum=0.1, eps=1e-5, cudnn_enabled=False
):
    if not use_input_stats:
        return read_batch_norm(input, weight, bias, running_mean, running_var, eps=eps)
    return F.instance_norm(input, weight=weight, bias=bias, eps=eps)


@reads("rms_norm")
def read_rms_norm(input, normalized_shape, weight=None, eps=None):
    axes = list(range(-len(normalized_shape), 0))
    scaled = input * api.rsqrt(api.mean(input * input, axes, keepdim=True) + (eps if eps is not None else 1.1920929e-07))
    return scaled if weight is None else scaled * weight


# Recurrent networks: layers, then directions; the weights of each are those of input, of state, and their biases.


def _recurrent(cell: Callable[..., Any], x: Any, states: list[Any], params: list[Any], biases: bool, layers: int, two: bool, first: bool) -> Any:
    x = api.transpose(x, [1, 0, 2]) if first else x
    directions, each = 2 if two else 1, 4 if biases else 2
    lasts: list[list[Any]] = [[] for _ in states]
    for layer in range(layers):
        outs = []
        for direction in range(directions):
            i = layer * directions + direction
            weights = [*params[each * i : each * (i + 1)], *([] if biases else [None, None])]
            out, *last = cell(x, *(state[i] for state in states), *weights, None, reverse=direction == 1)
            outs.append(out)
            for kept, state in zip(lasts, last):
                kept.append(state)
        x = outs[0] if directions == 1 else api.concat(outs, -1)
    return (api.transpose(x, [1, 0, 2]) if first else x, *(api.stack(kept, 0) for kept in lasts))


@reads("lstm")
def read_lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _recurrent(lambda *a, **k: ops.lstm(*a, **k)[:3], input, hx, params, has_biases, num_layers, bidirectional, batch_first)


@reads("gru")
def read_gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _recurrent(lambda *a, **k: ops.gru(*a, **k)[:2], input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


@reads("rnn_tanh")
def read_rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    def cell(*a: Any, **k: Any) -> Any:
        return ops.simple_rnn(*a, relu=False, **k)

    return _recurrent(cell, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


@reads("rnn_relu")
def read_rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    def cell(*a: Any, **k: Any) -> Any:
        return ops.simple_rnn(*a, relu=True, **k)

    return _recurrent(cell, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)
