"""What `wherry.quant` offers beside Paddle's names."""
from wherry_quant.folding import fold_batch_norms

__all__ = ["fold_batch_norms"]
