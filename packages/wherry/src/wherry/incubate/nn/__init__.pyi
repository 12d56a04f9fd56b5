"""Stub of wherry.incubate.nn, written by tools/stubs.py: where each public name comes from."""
from wherry.incubate.nn import functional as functional
from wherry_nn.layers.fused import FusedBiasDropoutResidualLayerNorm as FusedBiasDropoutResidualLayerNorm
from wherry_nn.layers.fused import FusedDropoutAdd as FusedDropoutAdd
from wherry_nn.layers.fused import FusedEcMoe as FusedEcMoe
from wherry_nn.layers.fused import FusedFeedForward as FusedFeedForward
from wherry_nn.layers.fused import FusedLinear as FusedLinear
from wherry_nn.layers.fused import FusedMultiHeadAttention as FusedMultiHeadAttention
from wherry_nn.layers.fused import FusedMultiTransformer as FusedMultiTransformer
from wherry_nn.layers.fused import FusedTransformerEncoderLayer as FusedTransformerEncoderLayer
__all__: list[str]
