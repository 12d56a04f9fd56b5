"""Calls whose programs hold operators that the other tables do not: `test_models.py` reads the programs that Paddle makes of them."""
from __future__ import annotations

import numpy as np
from calls import Call, integers, normal, positive

CALLS: list[Call] = []


def call(expression, **inputs):
    CALLS.append(Call(expression, ("float32",), False, inputs))


# Graphs and segments.
SEGMENTS = np.array([0, 0, 1, 3, 3])
for kind in ("sum", "mean", "max", "min"):
    call(f"paddle.geometric.segment_{kind}(x, s)", x=normal(5, 3), s=SEGMENTS)
    call(f"paddle.incubate.segment_{kind}(x, s)", x=normal(5), s=SEGMENTS.astype("int32"))
    call(f"paddle.geometric.send_u_recv(x, a, b, '{kind}')", x=normal(4, 3), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))
    call(f"paddle.geometric.send_u_recv(x, a, b, '{kind}', 6)", x=normal(4, 3), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))
    call(f"paddle.geometric.send_ue_recv(x, y, a, b, 'add', '{kind}')", x=normal(4, 3), y=normal(4, 1, seed=1), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))
    call(f"paddle.geometric.send_ue_recv(x, y, a, b, 'mul', '{kind}')", x=normal(4, 3), y=normal(4, 3, seed=1), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))
for kind in ("add", "sub", "mul", "div"):
    call(f"paddle.geometric.send_uv(x, y, a, b, '{kind}')", x=normal(4, 3), y=positive(4, 3, seed=1), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))
call("paddle.incubate.graph_send_recv(x, a, b, 'mean')", x=normal(4, 3), a=np.array([0, 1, 2, 0]), b=np.array([1, 2, 1, 0]))

# Sequences of labels.
call("paddle.text.viterbi_decode(x, t, n, True)", x=normal(2, 5, 4), t=normal(4, 4, seed=1), n=np.array([5, 3]))
call("paddle.text.viterbi_decode(x, t, n, False)", x=normal(2, 5, 4), t=normal(4, 4, seed=1), n=np.array([5, 3]))
call("F.gather_tree(i, p)", i=integers(4, 2, 3, low=0, high=9), p=integers(4, 2, 3, low=0, high=3, seed=1))
call("F.rnnt_loss(x, y, n, m, blank=0, fastemit_lambda=0.0, reduction='none')", x=normal(2, 4, 3, 5), y=integers(2, 2, low=1, high=5, dtype="int32"), n=np.array([4, 3], "int32"), m=np.array([2, 1], "int32"))

# Functions of static.nn, whose parameters are constants.
ONE = "paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.3))"
call(f"paddle.static.nn.row_conv(x, 2, {ONE})", x=normal(2, 5, 3))
call("paddle.static.nn.spectral_norm(x, dim=1, power_iters=2)", x=normal(3, 4))
call("paddle.static.nn.data_norm(x)", x=normal(4, 3))
call(f"paddle.static.nn.bilinear_tensor_product(x, y, 3, param_attr={ONE})", x=normal(4, 3), y=normal(4, 2, seed=1))
call("paddle.vision.ops.deform_conv2d(x, o, w, stride=2, padding=1, deformable_groups=2, groups=2, mask=m)", x=normal(2, 4, 5, 6), o=normal(2, 36, 3, 3, seed=1), w=normal(2, 2, 3, 3, seed=2), m=positive(2, 18, 3, 3))

# Boxes.
BOXES = np.array([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 32], [21, 20, 30, 31], [5, 5, 9, 30]])
SCORES = np.array([0.9, 0.8, 0.3, 0.95, 0.5])
call("paddle.vision.ops.nms(x, 0.3)", x=BOXES)
call("paddle.vision.ops.nms(x, 0.5, s)", x=BOXES, s=SCORES)
call("paddle.vision.ops.nms(x, 0.5, s, c, [0, 1, 2], 3)", x=BOXES, s=SCORES, c=np.array([0, 0, 1, 2, 1]))
call("paddle.vision.ops.matrix_nms(x, s, 0.05, 0.0, 4, 3, return_index=True)", x=BOXES[None], s=positive(1, 3, 5) / 2)
call("paddle.vision.ops.matrix_nms(x, s, 0.05, 0.2, 4, 3, use_gaussian=True, background_label=-1)", x=BOXES[None] / 32, s=positive(1, 3, 5) / 2)
for aligned in (True, False):
    call(f"paddle.vision.ops.roi_align(x, b, n, 3, 0.5, 2, {aligned})", x=normal(2, 3, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
call("paddle.vision.ops.roi_align(x, b, n, (2, 3), aligned=True)", x=normal(2, 3, 8, 9), b=BOXES[:4] / 4, n=np.array([3, 1], "int32"))
call("paddle.vision.ops.roi_pool(x, b, n, 2, 0.5)", x=normal(2, 3, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
call("paddle.vision.ops.psroi_pool(x, b, n, 2, 0.5)", x=normal(2, 8, 8, 9), b=BOXES[:4], n=np.array([3, 1], "int32"))
call("paddle.vision.ops.yolo_box(x, s, [10, 13, 16, 30], 2, 0.01, 32)", x=normal(2, 14, 3, 4), s=np.array([[96, 128], [100, 90]], "int32"))
call("paddle.vision.ops.yolo_box(x, s, [10, 13, 16, 30], 2, 0.4, 32, clip_bbox=False, scale_x_y=1.1)", x=normal(2, 14, 3, 4), s=np.array([[96, 128], [100, 90]], "int32"))
call("paddle.vision.ops.yolo_box(x, s, [10, 13, 16, 30], 2, 0.01, 32, iou_aware=True, iou_aware_factor=0.4)", x=normal(2, 16, 3, 4), s=np.array([[96, 128], [100, 90]], "int32"))
call("paddle.vision.ops.prior_box(x, y, [4.0, 8.0], [8.0, 16.0], [2.0], flip=True, clip=True)", x=normal(1, 2, 3, 4), y=normal(1, 3, 24, 32))
call("paddle.vision.ops.box_coder(p, [0.1, 0.1, 0.2, 0.2], t, 'encode_center_size')", p=BOXES, t=BOXES[1:4] + 1)
call("paddle.vision.ops.box_coder(p, v, t, 'decode_center_size', axis=1)", p=BOXES[:3], v=positive(3, 4), t=normal(3, 5, 4) / 4)
call("paddle.vision.ops.box_coder(p, v, t, 'decode_center_size', box_normalized=False)", p=BOXES, v=positive(5, 4), t=normal(3, 5, 4) / 4)
call("paddle.vision.ops.distribute_fpn_proposals(x, 2, 5, 4, 8)[2]", x=BOXES)
call("paddle.vision.ops.generate_proposals(s, d, i, a, v, 6, 4, 0.5, 0.1, 1.0)[0]", s=positive(1, 3, 2, 2), d=normal(1, 12, 2, 2) / 4, i=np.array([[32.0, 32.0]]), a=np.abs(normal(2, 2, 3, 4)).cumsum(-1) * 4, v=positive(2, 2, 3, 4))

# What is rarely used by itself.
call("paddle.logspace(0, 3, 4)")
call("paddle.logspace(x, 3, 5, 2.0)", x=np.array([1.0]))
call("F.class_center_sample(i, 20, 20)[0]", i=integers(6, low=0, high=20))
call("F.max_unpool3d(*F.max_pool3d(x, 2, 2, return_mask=True), 2)", x=normal(1, 2, 4, 4, 4))
call("paddle.incubate.identity_loss(x, 'mean')", x=normal(3, 4))
call("paddle.index_fill(x, i, 0, 0.5)", x=normal(3, 4), i=np.array([0, 2]))
call("paddle.masked_fill(x, m, 2.0)", x=normal(3, 4), m=normal(3, 4) > 0)
call("paddle.i0(x) + paddle.i0e(x) + paddle.i1(x) + paddle.i1e(x)", x=normal(3, 4))
call("paddle.polygamma(x, 2)", x=positive(3, 4))
call("paddle.nextafter(x, y)", x=normal(3), y=normal(3, seed=1))
call("paddle.renorm(x, 2.0, 0, 1.0)", x=normal(3, 4))
call("paddle.nanmedian(x, 1)", x=np.array([[1.0, np.nan, 3, 2], [4, 5, 6, 7]]))

# What detectors end with, an operator that no function calls. Boxes of all sides, scores of three classes.
MANY = np.random.default_rng(3).uniform(0, 20, (2, 12, 2))
MANY = np.concatenate([MANY, MANY + np.random.default_rng(4).uniform(1, 15, (2, 12, 2))], 2)
for attrs in (
    "background_label=-1", "background_label=0, keep_top_k=5", "background_label=2, nms_top_k=4", "normalized=False, background_label=-1, keep_top_k=7",
    "nms_eta=0.8, nms_threshold=0.7, background_label=-1", "score_threshold=0.9, background_label=-1", "keep_top_k=0, background_label=-1",
):
    how = f"dict(dict(score_threshold=0.1, nms_threshold=0.3, nms_top_k=-1, keep_top_k=-1, nms_eta=1.0, normalized=True), {attrs})"
    outs = "'Out float32', 'Index int32', 'NmsRoisNum int32'"
    call(f"operator('multiclass_nms3', {{'BBoxes': x, 'Scores': s}}, {how}, {outs})", x=MANY, s=positive(2, 3, 12) / 2)
    call(f"operator('multiclass_nms3', {{'BBoxes': x, 'Scores': s, 'RoisNum': n}}, {how}, {outs})", x=np.concatenate([MANY, MANY + 3, MANY / 2], 2).reshape(24, 3, 4),
         s=positive(24, 3) / 2, n=np.array([11, 13], "int32"))
call("operator('iou_similarity', {'X': x, 'Y': y}, {'box_normalized': False}, 'Out float32')", x=BOXES, y=BOXES[1:4] + 1)
call("operator('fused_softmax_mask', {'X': x, 'Mask': m}, {}, 'Out float32')", x=normal(2, 2, 4, 32), m=normal(2, 1, 4, 32))
call("paddle.vision.ops.generate_proposals(s, d, i, a, v, 6, 4, 0.7, 0.1, 0.9, pixel_offset=True, return_rois_num=True)", s=positive(2, 3, 2, 2), d=normal(2, 12, 2, 2) / 4,
     i=np.array([[32.0, 32.0], [20, 32]]), a=np.abs(normal(2, 2, 3, 4)).cumsum(-1) * 4, v=positive(2, 2, 3, 4))
call("paddle.vision.ops.distribute_fpn_proposals(x, 2, 5, 4, 8, rois_num=n)[2]", x=BOXES, n=np.array([2, 3], "int32"))
call("paddle.vision.ops.distribute_fpn_proposals(x, 2, 5, 4, 8, pixel_offset=True, rois_num=n)[0]", x=BOXES, n=np.array([2, 0, 3], "int32"))
call("paddle.vision.ops.matrix_nms(x, s, 0.2, 0.1, 6, 9, background_label=-1, normalized=False, return_index=True)", x=MANY, s=positive(2, 3, 12) / 2)
