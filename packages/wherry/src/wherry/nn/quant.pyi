"""Stub of wherry.nn.quant, written by tools/stubs.py: where each public name comes from."""
from wherry_quant.layers import Stub as Stub
from wherry_quant.weight_only import llm_int8_linear as llm_int8_linear
from wherry_quant.weight_only import weight_dequantize as weight_dequantize
from wherry_quant.weight_only import weight_only_linear as weight_only_linear
from wherry_quant.weight_only import weight_quantize as weight_quantize
__all__: list[str]
