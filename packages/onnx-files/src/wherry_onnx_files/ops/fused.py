"""Operators that ONNX Runtime fuses (`com.microsoft`)."""
from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.ops.contraction import read_gemm
from wherry_onnx_files.ops.convolution import read_conv
from wherry_onnx_files.ops.elementwise import scalar
from wherry_onnx_files.ops.normalization import rms
from wherry_tensor import ops


def activated(o, x, name):
    """`x` after an activation that a fused operator names."""
    given = o.floats_of("activation_params") or []
    if name in ("", "Identity"):
        return x
    if name == "LeakyRelu":
        return ops.leaky_relu(x, negative_slope=given[0] if given else o.number("leaky_relu_alpha", 0.01))
    if name == "Clip":
        low, high = given or (o.number("activation_alpha"), o.number("activation_beta"))
        return ops.minimum(ops.maximum(x, scalar(x, low)), scalar(x, high))
    if name == "HardSigmoid":
        return ops.hardsigmoid(x, slope=given[0], offset=given[1])
    plain = {"Relu": ops.relu, "Tanh": ops.tanh, "Sigmoid": ops.sigmoid, "Softsign": ops.softsign}
    if name not in plain:
        raise o.unsupported(f"activation {name!r}", f"one of {sorted(plain)}, Clip, HardSigmoid, LeakyRelu")
    return plain[name](x)


@reads("FusedConv", domain=MICROSOFT)
def read_fused_conv(o):
    out = read_conv(o)
    if o.has(3):
        out = ops.add(out, o.x(3))
    return activated(o, out, o.text("activation"))


reads("FusedGemm", domain=MICROSOFT)(lambda o: activated(o, read_gemm(o), o.text("activation")))


def _sum_of_skip(o, bias):
    x = ops.add(o.x(0), o.x(1))
    return ops.add(x, o.x(bias)) if o.has(bias) else x


@reads("SkipLayerNormalization", domain=MICROSOFT)
def read_skip_layer_normalization(o):
    x = _sum_of_skip(o, 4)
    gamma = o.x(2)
    out = ops.layer_norm(x, gamma, o.maybe(3), epsilon=o.number("epsilon", 1e-12), begin_axis=x.ndim - 1)[0]
    return out, None, None, x


@reads("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def read_skip_simplified_layer_normalization(o):
    x = _sum_of_skip(o, 3)
    return rms(x, o.x(2), (x.ndim - 1,), o.number("epsilon", 1e-12)), None, None, x


@reads("EmbedLayerNormalization", domain=MICROSOFT)
def read_embed_layer_normalization(o):
    words, segments = o.x(0), o.maybe(1)
    x = ops.gather(o.x(2), words, axis=0)
    length = words.shape[1]
    x = ops.add(x, ops.slice(o.x(3), axes=(0,), starts=(0,), ends=(length,), steps=(1,)))
    if segments is not None and o.has(4):
        x = ops.add(x, ops.gather(o.x(4), segments, axis=0))
    out = ops.layer_norm(x, o.x(5), o.x(6), epsilon=o.number("epsilon", 1e-12), begin_axis=2)[0]
    mask = o.maybe(7)
    counts = ops.reduce_sum(mask, axes=(1,), keepdim=False) if mask is not None else ops.full(shape=(words.shape[0],), value=0, dtype=words.dtype)
    return out, counts, x
