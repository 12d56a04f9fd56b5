"""Rules of the column `plugin`, by family, and in `unserved` the ops that need none."""
from wherry_tensor.columns import load_families

load_families(__name__, (
    "activation", "contraction", "convolution", "elementwise", "indexing", "loss", "movement", "normalization", "optimizer", "reduction",
    "unserved",
))
