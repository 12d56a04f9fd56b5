"""Stub of wherry.quant, written by tools/stubs.py: where each public name comes from."""
from wherry_program.run.products import Report as Report
from wherry_quant.adaptive import adaround as adaround
from wherry_quant.aware import awq as awq
from wherry_quant.calibrating import calibrate as calibrate
from wherry_quant.corrections import correct_biases as correct_biases
from wherry_quant.corrections import smooth as smooth
from wherry_quant.files.gguf import GGUFFile as GGUFFile
from wherry_quant.files.gguf import GGUFTensor as GGUFTensor
from wherry_quant.files.gguf import load_gguf as load_gguf
from wherry_quant.files.packed import quantized_weights as quantized_weights
from wherry_quant.files.weights import QuantizedWeight as QuantizedWeight
from wherry_quant.folding import fold_batch_norms as fold_batch_norms
from wherry_quant.hurry import Choice as Choice
from wherry_quant.hurry import quantize as quantize
from wherry_quant.reporting import report as report
from wherry_quant.rounding import gptq as gptq
from wherry_quant.weight_only import WeightOnlyLinear as WeightOnlyLinear
from wherry_quant.weight_only import quantize_weights as quantize_weights
__all__: list[str]
