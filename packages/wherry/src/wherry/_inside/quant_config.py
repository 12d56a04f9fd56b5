"""`paddle.static.quantization.quant_config`: which operators have weights and inputs that Paddle quantizes."""
from __future__ import annotations

from wherry._inside.refused import refused

_PRODUCT = [["X", "Y"], ["Out"]]
_CONVOLUTION = [["Input", "Filter"], ["Output"]]

SUPPORT_WEIGHT_QUANTIZATION_OP_DICT = {
    **dict.fromkeys(("conv2d", "depthwise_conv2d", "conv2d_transpose"), _CONVOLUTION), **dict.fromkeys(("mul", "matmul", "matmul_v2"), _PRODUCT),
}
SUPPORT_ACT_QUANTIZATION_OP_DICT: dict[str, list[list[str]]] = {**SUPPORT_WEIGHT_QUANTIZATION_OP_DICT}
SUPPORT_QUANTIZATION_OP_DICT = {**SUPPORT_WEIGHT_QUANTIZATION_OP_DICT, **SUPPORT_ACT_QUANTIZATION_OP_DICT}

_ADVICE = (
    "what a device quantizes is not set by classes here. Name the operators in quantizable_op_type of "
    "paddle.static.quantization.PostTrainingQuantization, or layers in paddle.quantization.QuantConfig"
)
BaseQuantizer, TensorRTQuantizer, MKLDNNQuantizer, ARMCPUQuantizer = (
    refused(f"paddle.static.quantization.quant_config.{name}", _ADVICE)
    for name in ("BaseQuantizer", "TensorRTQuantizer", "MKLDNNQuantizer", "ARMCPUQuantizer")
)
