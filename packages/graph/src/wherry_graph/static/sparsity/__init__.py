"""`paddle.incubate.asp`, in Paddle 2.3 `paddle.static.sparsity`: n:m sparsity of weights, in training and inference."""
from wherry_graph.static.sparsity.masks import (
    CheckMethod,
    MaskAlgo,
    calculate_density,
    check_mask_1d,
    check_mask_2d,
    check_sparsity,
    create_mask,
    get_mask_1d,
    get_mask_2d_best,
    get_mask_2d_greedy,
)
from wherry_graph.static.sparsity.pruning import (
    OptimizerWithSparsityGuarantee,
    add_supported_layer,
    decorate,
    prune_model,
    reset_excluded_layers,
    set_excluded_layers,
)

__all__ = [
    "CheckMethod", "MaskAlgo", "OptimizerWithSparsityGuarantee", "add_supported_layer", "calculate_density", "check_mask_1d", "check_mask_2d",
    "check_sparsity", "create_mask", "decorate", "get_mask_1d", "get_mask_2d_best", "get_mask_2d_greedy", "prune_model",
    "reset_excluded_layers", "set_excluded_layers",
]
