"""The gradient rules, family by family; importing this package fills the vjp column."""
from wherry_tensor.columns import load_families

load_families(__name__, (
    "activation", "attention", "contraction", "convolution", "convolution3d", "creation", "detection", "elementwise", "indexing", "linalg", "loss",
    "movement", "normalization", "optimizer", "pictures", "quantization", "quantized", "random", "recurrent", "reduction", "resampling", "sequence",
    "sparse", "spectral", "weight_only",
))
