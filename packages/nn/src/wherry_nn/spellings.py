"""What constructors of layers take besides, as Paddle 3 shares it with PyTorch: `Conv2D(3, 8, 3, bias=False)`, `LayerNorm(8, "
"elementwise_affine=False)`."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor.arguments import flag, integers_of, real_number
from wherry_tensor.errors import UnimplementedError, short
from wherry_tensor.functions.creation import full_like
from wherry_tensor.functions.logic import where
from wherry_tensor.spellings import Call, added

__all__: list[str] = []

_IN_PLACE = """AlphaDropout CELU Dropout Dropout2D Dropout3D ELU FeatureAlphaDropout Hardsigmoid Hardswish Hardtanh LeakyReLU Mish RReLU
    ReLU ReLU6 SELU Silu ThresholdedReLU alpha_dropout celu dropout dropout2d dropout3d elu gelu hardsigmoid hardswish
    hardtanh leaky_relu mish relu relu6 rrelu selu silu thresholded_relu""".split()


@added("bias", needs="bias_attr")
def _bias(call: Call, bias: Any) -> Call:
    if not flag(bias, call.owner, "bias"):
        call.kwargs["bias_attr"] = False
    return call


@added("affine", needs="weight_attr")
@added("elementwise_affine", needs="weight_attr")
def _affine(call: Call, affine: Any) -> Call:
    if not flag(affine, call.owner, "affine"):
        call.kwargs["weight_attr"] = False
        if "bias_attr" in call.names:
            call.kwargs["bias_attr"] = False
    return call


@added("device", needs="weight_attr")
def _device(call: Call, device: Any) -> Call:
    if device is not None:
        call.after.append(lambda result: call.args[0].to(device=device) and result)
    return call


@added("dtype", needs="weight_attr")
def _dtype(call: Call, dtype: Any) -> Call:
    if dtype is not None:
        call.after.append(lambda result: call.args[0].to(dtype=dtype) and result)
    return call


@added("inplace", _IN_PLACE)
def _in_place(call: Call, inplace: Any) -> Call:
    """The result is a new tensor, in place or not: what gradients need is not overwritten."""
    flag(inplace, call.owner, "inplace")
    return call


@added("keep_vars", ("state_dict", "to_static_state_dict"))
def _keep_vars(call: Call, keep_vars: Any) -> Call:
    """Tensors of a state are those of the layer."""
    flag(keep_vars, call.owner, "keep_vars")
    return call


def _refused(call: Call, name: str, value: Any, why: str) -> UnimplementedError:
    return UnimplementedError(f"{call.owner}: {why}. Got {name}={short(value)}, expected it to be left out. Compute it beside the call.")


@added("max_norm", ("embedding",))
def _max_norm(call: Call, value: Any) -> Call:
    if value is not None:
        raise _refused(call, "max_norm", value, "rows of the table are not scaled while they are looked up")
    return call


@added("antialias", ("interpolate",))
@added("scale_grad_by_freq", ("embedding",))
@added("zero_infinity", ("ctc_loss",))
def _only_false(call: Call, value: Any) -> Call:
    if value:
        raise _refused(call, "the argument", value, "only the way without it is there")
    return call


@added("backend", ("scaled_dot_product_attention",))
@added("enable_gqa", ("scaled_dot_product_attention",))
@added("norm_type", ("embedding",))
@added("recompute_scale_factor", ("interpolate",))
@added("non_blocking", ("to",))
@added("remove_duplicate", ("named_buffers", "named_parameters"))
def _without_effect(call: Call, value: Any) -> Call:
    return call


@added("log_target", ("kl_div",))
def _log_target(call: Call, log_target: Any) -> Call:
    return call.replaced("label", ops.exp) if flag(log_target, call.owner, "log_target") else call


@added("scale", ("scaled_dot_product_attention",))
@added("softmax_scale", ("flash_attention",))
def _scale(call: Call, scale: Any) -> Call:
    if scale is None:
        return call
    factor = real_number(scale, call.owner, "scale")
    return call.replaced("query", lambda query: query * (factor * query.shape[-1] ** 0.5))


@added("value", ("thresholded_relu", "thresholded_relu_"))
def _below(call: Call, value: Any) -> Call:
    number = real_number(value, call.owner, "value")
    if number:
        x, threshold = (call.kwargs.get(name, call.args[at] if at < len(call.args) else 1.0) for at, name in enumerate(("x", "threshold")))
        below = x <= threshold
        call.after.insert(0, lambda result: where(below, full_like(result, number), result))
    return call


@added("pad_from_left_axis", ("pad",))
def _from_left(call: Call, from_left: Any) -> Call:
    if not flag(from_left, call.owner, "pad_from_left_axis"):
        def reversed_pairs(counts: Any) -> Any:
            values = list(integers_of(counts, "pad", "pad"))
            return [n for pair in list(zip(values[::2], values[1::2]))[::-1] for n in pair]

        return call.replaced("pad", reversed_pairs)
    return call


@added("is_huber", ("smooth_l1_loss",))
def _is_huber(call: Call, is_huber: Any) -> Call:
    """The loss of Huber is that of PyTorch's smooth_l1_loss times delta."""
    if not flag(is_huber, call.owner, "is_huber"):
        delta = real_number(call.kwargs.get("delta", call.args[3] if len(call.args) > 3 else 1.0), call.owner, "delta")
        call.after.insert(0, lambda result: result / delta)
    return call
