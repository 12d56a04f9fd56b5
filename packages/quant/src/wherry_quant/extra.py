"""What `wherry.quant` offers beside Paddle's names."""
from wherry_quant.adaptive import adaround
from wherry_quant.aware import awq
from wherry_quant.calibrating import calibrate
from wherry_quant.corrections import correct_biases, smooth
from wherry_quant.files.gguf import GGUFFile, GGUFTensor, load_gguf
from wherry_quant.files.packed import quantized_weights
from wherry_quant.files.weights import QuantizedWeight
from wherry_quant.folding import fold_batch_norms
from wherry_quant.hurry import Choice, quantize
from wherry_quant.reporting import Report, report
from wherry_quant.rounding import gptq
from wherry_quant.weight_only import WeightOnlyLinear, quantize_weights

__all__ = [
    "Choice", "GGUFFile", "GGUFTensor", "QuantizedWeight", "Report", "WeightOnlyLinear", "adaround", "awq", "calibrate", "correct_biases",
    "fold_batch_norms", "gptq", "load_gguf", "quantize", "quantize_weights", "quantized_weights", "report", "smooth",
]
