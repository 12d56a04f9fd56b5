"""Fourier transforms."""
from __future__ import annotations

from wherry_export.onnx.column import cannot
from wherry_tensor import ops

for _name in ("fft_c2c", "fft_r2c", "fft_c2r"):
    cannot(getattr(ops, _name), "ONNX's operators do not take complex tensors")
