"""Message passing on graphs: ops with decompositions are written as these."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import to_onnx
from wherry_tensor import ops
from wherry_tensor._core import int64


@to_onnx.rule(ops.edge_extreme)
def onnx_edge_extreme(g, x, source, target, *, count, largest, sorted):
    if g.opset < 18:
        raise NotImplementedError(
            f"onnx: scattering with a maximum came with opset 18. Got 'edge_extreme' for opset {g.opset}, expected opset 18. "
            f"Export with opset_version=18."
        )
    if not x.is_floating and not x.dtype.name.startswith("int"):
        return NotImplemented
    target = g.cast(target, int64)
    places = g.unsqueeze(target, [1])
    sent = x if source is None else g.op("Gather", x, source, axis=0)
    limits = np.finfo(x.dtype.name) if x.is_floating else np.iinfo(x.dtype.name)
    least = (-np.inf if largest else np.inf) if x.is_floating else limits.min if largest else limits.max
    rest = g.op("Slice", g.shape_of(x), g.ints([1]), g.ints([1 << 31]))
    rows = g.size(count)
    begin = g.op("Expand", g.number(least, x), g.op("Concat", rows, rest, axis=0))
    found = g.op("ScatterND", begin, places, sent, reduction="max" if largest else "min")
    zeros, ones = (g.op("Expand", g.constant(n, "int64"), size) for n, size in ((0, rows), (1, g.shape_of(target))))
    arrived = g.op("Greater", g.op("ScatterND", zeros, places, ones, reduction="add"), g.constant(0, "int64"))
    return g.op("Where", g.unsqueeze(arrived, list(range(1, x.rank))), found, g.number(0, x))
