"""Edges of graphs: what decomposes is written so."""
from wherry_export.onnx.column import cannot
from wherry_tensor import ops

cannot(ops.edge_extreme, "the elements of rows that meet are compared at places that are data")
