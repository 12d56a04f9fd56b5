"""`paddle.device.cuda.graphs`."""
from wherry_graph.jit.cuda_graphs import wrap_cuda_graph
from wherry_tensor.cuda_graphs import *  # noqa: F403
from wherry_tensor.cuda_graphs import __all__ as _names

__all__ = [*_names, "wrap_cuda_graph"]  # noqa: PLE0604
