"""How each operator of ONNX is read; one module for each family."""
from wherry_tensor.columns import load_families

load_families(__name__, (
    "activation", "attention", "classical", "contraction", "control", "convolution", "creation", "detection", "elementwise", "fused", "indexing",
    "loss", "movement", "normalization", "pooling", "quantization", "recurrent", "reduction", "resampling", "sequence", "spectral",
))
