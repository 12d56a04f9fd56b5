"""Stub of wherry.device.cuda.graphs, written by tools/stubs.py: where each public name comes from."""
from wherry_graph.jit.cuda_graphs import wrap_cuda_graph as wrap_cuda_graph
from wherry_tensor.cuda_graphs import ALL_MODES as ALL_MODES
from wherry_tensor.cuda_graphs import CUDAGraph as CUDAGraph
from wherry_tensor.cuda_graphs import is_cuda_graph_supported as is_cuda_graph_supported
__all__: list[str]
