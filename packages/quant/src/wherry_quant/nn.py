"""`paddle.nn.quant`."""
from wherry_quant.layers import Stub
from wherry_quant.weight_only import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = ["Stub", "llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize"]
