"""Edges of graphs: what decomposes is written so."""
from wherry_graph.paddle_files.column import paddle
from wherry_tensor import ops

paddle.exempt(ops.edge_extreme, "Paddle's operators of graphs are not translated yet")
