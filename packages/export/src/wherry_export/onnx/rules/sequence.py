"""Losses over sequences."""
from __future__ import annotations

from wherry_export.onnx.column import cannot
from wherry_tensor import ops

for _name in ("ctc_loss", "ctc_loss_vjp", "ctc_loss_curvature"):
    cannot(getattr(ops, _name), "ONNX has no operator that sums over alignments")
