"""What constructors of layers take besides, as Paddle 3 shares it with PyTorch: `Conv2D(3, 8, 3, bias=False)`, `LayerNorm(8, elementwise_affine=False)`."""
from __future__ import annotations

from typing import Any

from wherry_tensor.arguments import flag
from wherry_tensor.spellings import Call, added

__all__: list[str] = []

_IN_PLACE = """AlphaDropout CELU Dropout Dropout2D Dropout3D ELU FeatureAlphaDropout Hardsigmoid Hardswish Hardtanh LeakyReLU Mish RReLU ReLU ReLU6 SELU
    Silu ThresholdedReLU alpha_dropout celu dropout dropout2d dropout3d elu gelu hardsigmoid hardswish hardtanh leaky_relu mish relu relu6 rrelu selu
    silu thresholded_relu""".split()


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
