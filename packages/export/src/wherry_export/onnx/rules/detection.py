"""Regions of images, and choices among boxes."""
from __future__ import annotations

from wherry_export.onnx.column import cannot
from wherry_tensor import ops

for _name in ("roi_align", "roi_align_vjp"):
    cannot(getattr(ops, _name), "ONNX's operator computes another mean where a box is empty or turned over")
for _name in ("roi_pool", "psroi_pool", "psroi_pool_vjp"):
    cannot(getattr(ops, _name), "ONNX's operator rounds the borders of parts in another way, or there is none")
cannot(ops.suppress, "ONNX's operator also limits how many boxes remain, and gives their places in an order of its own")
