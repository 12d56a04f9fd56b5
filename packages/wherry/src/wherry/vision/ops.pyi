"""Stub of wherry.vision.ops, written by tools/stubs.py: where each public name comes from."""
from wherry_vision.blocks import ConvNormActivation as ConvNormActivation
from wherry_vision.ops.boxes import box_coder as box_coder
from wherry_vision.ops.boxes import distribute_fpn_proposals as distribute_fpn_proposals
from wherry_vision.ops.boxes import generate_proposals as generate_proposals
from wherry_vision.ops.boxes import matrix_nms as matrix_nms
from wherry_vision.ops.boxes import nms as nms
from wherry_vision.ops.boxes import prior_box as prior_box
from wherry_vision.ops.files import decode_jpeg as decode_jpeg
from wherry_vision.ops.files import read_file as read_file
from wherry_vision.ops.regions import DeformConv2D as DeformConv2D
from wherry_vision.ops.regions import PSRoIPool as PSRoIPool
from wherry_vision.ops.regions import RoIAlign as RoIAlign
from wherry_vision.ops.regions import RoIPool as RoIPool
from wherry_vision.ops.regions import deform_conv2d as deform_conv2d
from wherry_vision.ops.regions import psroi_pool as psroi_pool
from wherry_vision.ops.regions import roi_align as roi_align
from wherry_vision.ops.regions import roi_pool as roi_pool
from wherry_vision.ops.yolo import yolo_box as yolo_box
from wherry_vision.ops.yolo import yolo_loss as yolo_loss
__all__: list[str]
