"""Gradient rule of products with weights of few bits: for the inputs, behind which something is trained, and for the scales."""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops
from wherry_tensor.ops.quantization import computed_in
from wherry_tensor.ops.weight_only import spread, steps_of

for _op in (ops.weight_only_lstm, ops.weight_only_gru):
    not_differentiable(_op, "for inference: passes make it of a layer with dequantized weights, which has gradients")


@vjp.rule(ops.weight_only_linear, keep_for={"x": "scale"})
def vjp_weight_only_linear(ct, _out, x, weight, scale, zero_point, _bias, *, group, needs):
    dtype, n = computed_in(x.dtype), x.shape[-1]
    x_ct = scale_ct = bias_ct = None
    ct = ops.cast(ct, dtype=dtype)
    if needs[0] or needs[2]:
        steps = steps_of(weight, zero_point, n, scale.shape[1], group, dtype)
    if needs[0]:
        whole = steps * spread(scale, n, group, dtype)
        x_ct = ops.cast(ops.matmul(ct, whole, transpose_x=False, transpose_y=True), dtype=x.dtype)
    if needs[2]:
        each = ops.outer_sum(ops.cast(x, dtype=dtype), ct) * steps
        rows = (group or max(n, 1)) * scale.shape[0]
        if rows != n:
            each = ops.pad(each, paddings=(0, rows - n, 0, 0), value=0.0)
        scale_ct = ops.reduce_sum(ops.reshape(each, shape=(scale.shape[0], -1, scale.shape[1])), axes=(1,), keepdim=False)
    if _bias is not None and needs[4]:
        bias_ct = ops.reduce_sum(ct, axes=tuple(range(ct.ndim - 1)), keepdim=False)
    return x_ct, None, scale_ct, None, bias_ct
