"""Normalization, probability and attention: the fused ops of layers."""
from wherry_tensor.ops.declare import op

softmax = op("softmax", "x", axis=int)
log_softmax = op("log_softmax", "x", axis=int)
softmax_vjp = op("softmax_vjp", "ct, out", axis=int)
log_softmax_vjp = op("log_softmax_vjp", "ct, out", axis=int)

# Normalizes the axes from begin_axis on; scale and bias have their shape. mean and rstd (1 / sqrt(
# variance + epsilon)) have the shape of the leading axes, in float32 (float64 for float64).
layer_norm = op("layer_norm", "x, scale?, bias?", epsilon=float, begin_axis=int, outputs="out, mean, rstd")
layer_norm_vjp = op("layer_norm_vjp", "ct, x, scale?, mean, rstd", begin_axis=int,
                    outputs="x_ct, scale_ct, bias_ct")

# The channel axis is 1 ("NCHW": any rank >= 2) or the last ("NHWC"). variance is the biased one.
batch_norm = op("batch_norm", "x, scale?, bias?", epsilon=float, data_format=str, outputs="out, mean, variance")
batch_norm_infer = op("batch_norm_infer", "x, mean, variance, scale?, bias?", epsilon=float, data_format=str)
batch_norm_vjp = op("batch_norm_vjp", "ct, x, scale?, mean, variance", epsilon=float, data_format=str,
                    outputs="x_ct, scale_ct, bias_ct")

dropout = op("dropout", "x", p=float, upscale=bool, outputs="out, mask")  # mask uint8: 1 kept

# Softmax and cross entropy together along `axis`. Hard labels: int, the shape of logits with size 1
# at axis; soft labels: the shape and dtype of logits. weight: [classes]. loss has size 1 at axis and
# is 0 where the label is ignore_index.
cross_entropy = op("cross_entropy", "logits, label, weight?", soft_label=bool, ignore_index=int, axis=int,
                   outputs="loss, softmax")
cross_entropy_vjp = op("cross_entropy_vjp", "ct, softmax, label, weight?", soft_label=bool, ignore_index=int,
                       axis=int)

# q [B, heads, Tq, D], k and v [B, heads, Tk, D], mask broadcastable to [B, heads, Tq, Tk]: bool
# (True attends) or added. lse, [B, heads, Tq], is the logarithm of the softmax's denominator.
attention = op("attention", "q, k, v, mask?", scale=float, causal=bool, outputs="out, lse")
attention_vjp = op("attention_vjp", "ct, q, k, v, mask?, out, lse", scale=float, causal=bool,
                   outputs="q_ct, k_ct, v_ct")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(softmax))]
