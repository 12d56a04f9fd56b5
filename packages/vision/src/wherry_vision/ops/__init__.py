"""Ops for detection: boxes, regions of interest, YOLO; and reading images."""
from wherry_vision.blocks import ConvNormActivation
from wherry_vision.ops.boxes import box_coder, distribute_fpn_proposals, generate_proposals, matrix_nms, nms, prior_box
from wherry_vision.ops.files import decode_jpeg, read_file
from wherry_vision.ops.regions import (
    DeformConv2D,
    PSRoIPool,
    RoIAlign,
    RoIPool,
    deform_conv2d,
    psroi_pool,
    roi_align,
    roi_pool,
)
from wherry_vision.ops.yolo import yolo_box, yolo_loss

__all__ = [
    "ConvNormActivation", "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder", "decode_jpeg", "deform_conv2d",
    "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "nms", "prior_box", "psroi_pool", "read_file", "roi_align", "roi_pool",
    "yolo_box", "yolo_loss",
]  # fmt: skip
