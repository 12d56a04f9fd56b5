"""Fused operators, as Paddle's inference passes write them into optimized programs. They are only read, never written.

What a fused operator computes is told by the attributes that the passes left: an activation with its two numbers, a factor, a summand.
"""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_nn.functional import language
from wherry_nn.functional.fused import fused_dropout_add
from wherry_paddle_files.column import READS, reads
from wherry_paddle_files.ops.contraction import rows_of
from wherry_tensor import ops

# An activation by the name that the passes give it, with the two numbers of the attributes (a, b).
_ACTIVATIONS = {
    "relu": lambda x, a, b: ops.relu(x), "relu6": lambda x, a, b: ops.relu6(x), "leaky_relu": lambda x, a, b: ops.leaky_relu(x, negative_slope=a),
    "swish": lambda x, a, b: ops.silu(x) if a == 1.0 else x * ops.sigmoid(x * a), "hard_swish": lambda x, a, b: x * api.clip(x * a + b, 0.0, 1.0),
    "hard_sigmoid": lambda x, a, b: ops.hardsigmoid(x, slope=a, offset=b), "sigmoid": lambda x, a, b: ops.sigmoid(x),
    "tanh": lambda x, a, b: ops.tanh(x), "mish": lambda x, a, b: ops.mish(x), "gelu": lambda x, a, b: ops.gelu(x, approximate=False),
    "gelu_erf": lambda x, a, b: ops.gelu(x, approximate=False), "gelu_tanh": lambda x, a, b: ops.gelu(x, approximate=True),
    "abs": lambda x, a, b: ops.abs(x), "clip": lambda x, a, b: api.clip(x, a, b), "sqrt": lambda x, a, b: ops.sqrt(x),
}  # fmt: skip
_NUMBERS = {"swish": (1.0, 0.0), "hard_swish": (1 / 6, 0.5), "hard_sigmoid": (0.2, 0.5)}  # where a file leaves them out


def activated(o, x, attr="fuse_activation"):
    """`x` after the activation that an attribute names, times the factor of the result."""
    name = o.text(attr, "")
    if name not in ("", "identity"):
        rule = _ACTIVATIONS.get(name)
        if rule is None:
            raise o.bad(f"attribute {attr!r} is {name!r}", f"one of {', '.join(_ACTIVATIONS)}")
        alpha, beta = _NUMBERS.get(name, (0.0, 0.0))
        x = rule(x, o.number("fuse_alpha", alpha), o.number("fuse_beta", beta))
    factor = o.number("fused_output_scale", 1.0)
    return x if factor == 1.0 else x * factor


@reads("fused_conv2d", "fused_conv2d_add_act", "conv2d_fusion", "fused_depthwise_conv2d", out="Output")
def read_fused_conv2d(o):
    out = READS["conv2d"].rule(o)
    more = o.maybe("ResidualData")
    return activated(o, out if more is None else out + more, "activation" if o.text("activation", "") else "fuse_activation")


@reads("fused_elementwise_add", "fused_elementwise_sub", "fused_elementwise_mul", "fused_elementwise_div", "fused_softplus")
def read_fused_elementwise(o):
    return activated(o, READS[o.type.removeprefix("fused_")].rule(o))


@reads("fc")
def read_fc(o):
    x, weight, bias, axes = o.x("Input"), o.x("W"), o.maybe("Bias"), o.integer("in_num_col_dims", 1)
    out = api.reshape(api.matmul(rows_of(x, axes), weight), [*x.shape[:axes], weight.shape[1]])
    out = out if bias is None else out + api.reshape(bias, [-1])
    return activated(o, out, "activation_type" if o.text("activation_type", "") else "fuse_activation")


def _operand(o, slot, letter):
    """An operand of a product: its shape, then the order of its axes, may be changed on the way."""
    x = o.x(slot)
    shape, order = o.integers(f"fused_reshape_{letter}"), o.integers(f"fused_transpose_{letter}")
    x = api.reshape(x, shape) if shape else x
    return api.transpose(x, order) if order else x


@reads("fused_matmul")
def read_fused_matmul(o):
    out = api.matmul(_operand(o, "X", "X"), _operand(o, "Y", "Y"), o.flag("trans_x"), o.flag("trans_y"))
    factor, more = o.number("matmul_alpha", 1.0), o.maybe("ResidualData")
    out = out if factor == 1.0 else out * factor
    out = activated(o, out if more is None else out + more)
    order, shape = o.integers("fused_transpose_Out"), o.integers("fused_reshape_Out")
    out = api.transpose(out, order) if order else out
    return api.reshape(out, shape) if shape else out


@reads("fusion_repeated_fc_relu")
def read_repeated_fc_relu(o):
    x, weights, biases = o.x("X"), o.xs("W"), o.xs("Bias")
    if not weights or len(weights) != len(biases):
        raise o.bad(f"it has {len(weights)} weights and {len(biases)} biases", "as many of one as of the other")
    between = []
    for weight, bias in zip(weights, biases):
        x = ops.relu(F.linear(x, weight, api.reshape(bias, [-1])))
        between.append(x)
    return {"Out": x, "ReluOut": between[:-1]}


@reads("skip_layernorm")
def read_skip_layernorm(o):
    return _normed(o, o.x("X") + o.x("Y"), o.maybe("Scale"), o.maybe("Bias"), -1)


@reads("fused_fc_elementwise_layernorm")
def read_fused_fc_elementwise_layernorm(o):
    bias, y = o.maybe("Bias0"), o.x("Y")
    out = api.matmul(rows_of(o.x("X"), o.integer("x_num_col_dims", 1)), o.x("W"))
    out = activated(o, out if bias is None else out + api.reshape(bias, [-1]), "activation_type")
    return _normed(o, api.reshape(out, y.shape) + y, o.maybe("Scale"), o.maybe("Bias1"), 1)


@reads("fused_dropout_add")
def read_fused_dropout_add(o):
    training, mode = not o.flag("is_test"), o.text("mode", "upscale_in_train")
    return {"out": fused_dropout_add(o.x("x"), o.x("y"), o.number("p", 0.5), training, mode)}


def _normed(o, x, scale, bias, begin):
    begin = o.integer("begin_norm_axis", begin)
    begin = x.ndim + begin if begin < 0 else begin
    return F.layer_norm(x, x.shape[begin:], scale, bias, o.number("epsilon", 1e-5))


@reads("fused_softmax_mask")
def read_fused_softmax_mask(o):
    return F.softmax(o.x("X") + o.x("Mask"))


@reads("fused_softmax_mask_upper_triangle")
def read_fused_softmax_mask_upper_triangle(o):
    """Each row up to the diagonal."""
    x = o.x("X")
    seen = api.tril(api.ones([x.shape[-2], x.shape[-1]], "bool"))
    return F.softmax(api.where(seen, x, api.full([], float("-inf"), x.dtype)))


def _rows_normed(o, function, **more):
    """A normalization of rows with what is added in front of it."""
    names = ("epsilon", "begin_norm_axis", "quant_scale", "quant_round_type", "quant_max_bound", "quant_min_bound")
    attrs = {name: o.attr(name) for name in names if o.attr(name) is not None}
    given = {slot: o.maybe(slot) for slot in ("bias", "residual")}
    out, summed = function(o.x("x"), o.maybe("norm_weight"), o.maybe("norm_bias"), **attrs, **given, **more)
    return {"out": out, "residual_out": summed}


reads("rms_norm", out="out")(lambda o: _rows_normed(o, language.fused_rms_norm))
reads("fused_bias_residual_layernorm", out="out")(
    lambda o: _rows_normed(o, language.fused_layer_norm, residual_alpha=o.number("residual_alpha", 1.0))
)


@reads("fused_rotary_position_embedding", out="out_q")
def read_rotary(o):
    given = [o.maybe(slot) for slot in ("q", "k", "v", "sin", "cos", "position_ids")]
    found = language.fused_rotary_position_embedding(*given, o.flag("use_neox_rotary_style", True))
    return dict(zip(("out_q", "out_k", "out_v"), found))


@reads("fused_bias_act", out="out")
def read_bias_act(o):
    """An activation after a bias; of gated ones the second half of the last axis is the factor."""
    if o.maybe("dequant_scales") is not None or o.maybe("smooth") is not None or o.number("quant_scale", -1.0) > 0:
        raise o.bad("it computes in int8", "floating numbers")
    x, bias, kind = o.x("x"), o.maybe("bias"), o.text("act_method", "gelu")
    x = x if bias is None else x + bias
    gated = {"geglu": "gelu", "swiglu": "swish"}.get(kind)
    if gated:
        x, factor = api.chunk(x, 2, -1)
        return _activation(o, gated)(x, 1.0, 0.0) * factor
    return _activation(o, kind)(x, 1.0, 0.0)


def _activation(o, kind):
    if kind not in _ACTIVATIONS:
        raise o.bad(f"its activation is {kind!r}", ", ".join(_ACTIVATIONS))
    return _ACTIVATIONS[kind]


@reads("memory_efficient_attention", out="output")
def read_memory_efficient_attention(o):
    """Attention over `[batch, time, heads, width]`."""
    if any(o.maybe(slot) is not None for slot in ("cu_seqlens_q", "cu_seqlens_k", "causal_diagonal", "seqlen_k")):
        raise o.bad("it has the beginnings of sequences", "whole sequences: use variable_length_memory_efficient_attention")
    query, scale = o.x("query"), o.number("scale", -1.0)
    usual = query.shape[-1] ** -0.5
    query = query if scale <= 0 or scale == usual else query * (scale / usual)
    dropped = 0.0 if o.flag("is_test") else o.number("dropout_p")
    return F.scaled_dot_product_attention(query, o.x("key"), o.x("value"), o.maybe("bias"), dropped, o.flag("causal"), not o.flag("is_test"))
