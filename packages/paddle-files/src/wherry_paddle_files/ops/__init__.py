"""How each op of the vocabulary is written as Paddle's operators, and how Paddle's operators are read; one module for each family."""
from wherry_tensor.columns import load_families

load_families(__name__, (
    "activation", "attention", "collective", "contraction", "control", "convolution", "convolution3d", "creation", "detection", "elementwise",
    "fused", "indexing", "linalg", "loss", "movement", "normalization", "optimizer", "quantization", "random", "recurrent", "reduction",
    "resampling", "sequence", "sparse", "spectral",
))
