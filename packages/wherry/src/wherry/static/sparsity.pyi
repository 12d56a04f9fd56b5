"""Stub of wherry.static.sparsity, written by tools/stubs.py: where each public name comes from."""
from wherry_graph.static.sparsity.masks import CheckMethod as CheckMethod
from wherry_graph.static.sparsity.masks import MaskAlgo as MaskAlgo
from wherry_graph.static.sparsity.masks import calculate_density as calculate_density
from wherry_graph.static.sparsity.masks import check_mask_1d as check_mask_1d
from wherry_graph.static.sparsity.masks import check_mask_2d as check_mask_2d
from wherry_graph.static.sparsity.masks import check_sparsity as check_sparsity
from wherry_graph.static.sparsity.masks import create_mask as create_mask
from wherry_graph.static.sparsity.masks import get_mask_1d as get_mask_1d
from wherry_graph.static.sparsity.masks import get_mask_2d_best as get_mask_2d_best
from wherry_graph.static.sparsity.masks import get_mask_2d_greedy as get_mask_2d_greedy
from wherry_graph.static.sparsity.pruning import OptimizerWithSparsityGuarantee as OptimizerWithSparsityGuarantee
from wherry_graph.static.sparsity.pruning import add_supported_layer as add_supported_layer
from wherry_graph.static.sparsity.pruning import decorate as decorate
from wherry_graph.static.sparsity.pruning import prune_model as prune_model
from wherry_graph.static.sparsity.pruning import reset_excluded_layers as reset_excluded_layers
from wherry_graph.static.sparsity.pruning import set_excluded_layers as set_excluded_layers
__all__: list[str]
