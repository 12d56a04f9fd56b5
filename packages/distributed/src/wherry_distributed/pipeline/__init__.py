"""Models in stages: each process has some layers, and small batches follow one another through them."""
from wherry_distributed.pipeline.layers import LayerDesc, PipelineLayer, SharedLayerDesc
from wherry_distributed.pipeline.training import PipelineParallel, PipelineParallelWithInterleave

__all__ = ["LayerDesc", "PipelineLayer", "PipelineParallel", "PipelineParallelWithInterleave", "SharedLayerDesc"]
