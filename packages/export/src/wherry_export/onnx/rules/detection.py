"""Regions of interest, and non-maximum suppression."""
from __future__ import annotations

from wherry_export.onnx.column import LOOP, cannot, to_onnx
from wherry_tensor import ops
from wherry_tensor._core import int64


@to_onnx.rule(ops.roi_align)
def onnx_roi_align(g, x, boxes, image, *, height, width, scale, ratio, aligned):
    if aligned and g.opset < 16:
        raise NotImplementedError(
            f"onnx: boxes moved by half a pixel came with opset 16. Got 'roi_align' with aligned=True for opset {g.opset}, expected opset 16 or "
            f"later. Export with opset_version=16."
        )
    more = {} if g.opset < 16 else {"coordinate_transformation_mode": "half_pixel" if aligned else "output_half_pixel"}
    return g.op(
        "RoiAlign", x, boxes, g.cast(image, int64), mode="avg", output_height=height, output_width=width, sampling_ratio=max(ratio, 0),
        spatial_scale=float(scale), **more,
    )


cannot(ops.roi_align_vjp, "ONNX has no operators of gradients, and which pixels a part reads follows from its box")
for _name in ("roi_pool", "psroi_pool", "psroi_pool_vjp"):
    cannot(getattr(ops, _name), "ONNX's operator rounds the borders of parts in another way, or there is none")
cannot(ops.suppress, LOOP)
