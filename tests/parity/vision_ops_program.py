"""Calls of `paddle.vision.ops` on random boxes and images. Run by either framework:

    vision_ops_program.py SEED

It prints `RESULT` and a JSON object: of each call its results and gradients, or the classes of its error. `test_vision_ops.py` compares.
"""
# ruff: noqa: B023  lambdas run before the loop goes on
import json
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
from paddle.vision import ops


def tensor(values, dtype="float32", learned=False):
    return paddle.to_tensor(np.asarray(values).astype(dtype), stop_gradient=not learned)


def some_boxes(rng, count, size=30.0):
    corner = rng.uniform(-2, size, (count, 2))
    return np.concatenate([corner, corner + rng.uniform(-1, size / 2, (count, 2))], 1)


def plain(x):
    if isinstance(x, (list, tuple)):
        return [plain(part) for part in x]
    if x is None:
        return None
    return [str(x.dtype).rpartition(".")[2].replace("FP32", "float32").replace("INT32", "int32"), list(x.shape), x.numpy().ravel().tolist()]


def calls(rng):
    """Names of calls, what they call, and what is learned in them."""
    for i in range(6):
        boxes = some_boxes(rng, 12)
        boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 0.5)
        scores, classes = rng.permutation(12) / 12, rng.integers(0, 3, 12)
        t = float(rng.uniform(0.1, 0.7))
        yield f"nms {i}", lambda boxes=boxes, t=t: ops.nms(tensor(boxes), t)
        yield f"nms scores {i}", lambda boxes=boxes, t=t, scores=scores: ops.nms(tensor(boxes), t, tensor(scores))
        yield f"nms classes {i}", lambda boxes=boxes, t=t, scores=scores, classes=classes, i=i: ops.nms(
            tensor(boxes), t, tensor(scores), tensor(classes, "int64"), [0, 1, 2][: 1 + i % 3], None if i % 2 else 4)  # fmt: skip
    yield "nms without categories", lambda: ops.nms(tensor(boxes), 0.3, tensor(scores), tensor(classes, "int64"))
    yield "nms of too many", lambda: ops.nms(tensor(boxes), 0.3, tensor(scores), tensor(classes, "int64"), [0, 1, 2], 13)
    for i in range(6):
        x, boxes, counts = rng.normal(size=(2, 12, 9, 11)), some_boxes(rng, 5), [[2, 3], [5, 0]][i % 2]
        # Smaller ones than a pixel are widened to it by Paddle's gradient, and not by what it computes.
        boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 4)
        size, scale = [(2, 3), 2, (1, 2)][i % 3], [1.0, 0.5, 0.3][i % 3]
        for name, how in (
            ("roi_align", {"aligned": bool(i % 2)}), ("roi_align", {"sampling_ratio": 2}), ("roi_pool", {}), ("psroi_pool", {}),
        ):  # fmt: skip
            yield f"{name} {how} {i}", lambda x=x, boxes=boxes, counts=counts, size=size, scale=scale, name=name, how=how: with_gradients(
                [tensor(x, learned=True)], lambda a: getattr(ops, name)(a, tensor(boxes), tensor(counts, "int32"), size, scale, **how))  # fmt: skip
    for i in range(6):
        groups, offsets, stride, padding, dilation = [(1, 1, 1, 1, 1), (2, 1, 2, 0, 1), (2, 2, 1, (1, 0), (1, 2))][i % 3]
        x, weight = rng.normal(size=(2, 4, 7, 8)), rng.normal(size=(6, 4 // groups, 3, 2))
        pair = lambda v: v if isinstance(v, tuple) else (v, v)  # noqa: E731
        high, wide = ((n + 2 * p - d * (k - 1) - 1) // stride + 1 for n, k, p, d in zip((7, 8), (3, 2), pair(padding), pair(dilation)))
        offset, mask = rng.normal(size=(2, 12 * offsets, high, wide)), rng.uniform(size=(2, 6 * offsets, high, wide))
        learned = [tensor(v, learned=True) for v in (x, offset, weight, rng.normal(size=6))]
        yield f"deform_conv2d {i}", lambda learned=learned, mask=mask, i=i, stride=stride, padding=padding, dilation=dilation, g=groups, o=offsets: (
            with_gradients([*learned, tensor(mask, learned=True)],
                           lambda x, offset, weight, bias, m: ops.deform_conv2d(x, offset, weight, bias, stride, padding, dilation, o, g, m))
            if i % 2 else
            with_gradients(learned, lambda x, offset, weight, bias: ops.deform_conv2d(x, offset, weight, bias, stride, padding, dilation, o, g))
        )  # fmt: skip
    for i in range(4):
        x = rng.normal(size=(2, 2 * (5 + 3), 3, 3))
        aware = rng.normal(size=(2, 2 * (6 + 3), 3, 4))
        size = [[90, 60], [33, 120]]
        yield f"yolo_box {i}", lambda x=x, i=i, size=size: ops.yolo_box(
            tensor(x), tensor(size, "int32"), [10, 13, 16, 30], 3, 0.4, 32, clip_bbox=bool(i % 2), scale_x_y=1.0 + i / 10)  # fmt: skip
        yield f"yolo_box aware {i}", lambda x=aware, size=size: ops.yolo_box(
            tensor(x), tensor(size, "int32"), [10, 13, 16, 30], 3, 0.3, 32, iou_aware=True, iou_aware_factor=0.4)  # fmt: skip
        # At places of their own: of several boxes at one, Paddle's gradient has the last alone.
        cells = np.stack([np.stack(np.divmod(rng.permutation(9)[:5], 3), 1) for _ in range(2)])
        given = np.concatenate([(cells + rng.uniform(0.05, 0.95, (2, 5, 2))) / 3, rng.uniform(0.05, 0.6, (2, 5, 2))], 2)
        given[0, 3:] = 0
        labels, weights = rng.integers(0, 3, (2, 5)), rng.uniform(0.2, 1, (2, 5))
        yield f"yolo_loss {i}", lambda x=x, i=i, given=given, labels=labels, weights=weights: with_gradients(
            [tensor(x, learned=True)],
            lambda a: ops.yolo_loss(a, tensor(given), tensor(labels, "int32"), [10, 13, 16, 30, 33, 23], [0, 2], 3, 0.3, 16,
                                    tensor(weights) if i % 2 else None, use_label_smooth=i < 2, scale_x_y=1.0 + i / 20))  # fmt: skip
    for i in range(4):
        prior, target = some_boxes(rng, 3), some_boxes(rng, 4)
        prior[:, 2:], target[:, 2:] = prior[:, :2] + rng.uniform(1, 9, (3, 2)), target[:, :2] + rng.uniform(1, 9, (4, 2))
        spread = rng.uniform(0.1, 0.3, (3, 4))
        variance = (lambda spread=spread: tensor(spread)) if i % 2 else (lambda: [0.1, 0.1, 0.2, 0.2])
        yield f"box_coder {i}", lambda prior=prior, target=target, variance=variance, i=i: ops.box_coder(
            tensor(prior), variance(), tensor(target), box_normalized=i < 2)  # fmt: skip
        moved = rng.normal(size=(4, 3, 4) if i % 2 else (3, 4, 4))
        yield f"box_coder back {i}", lambda prior=prior, moved=moved, variance=variance, i=i: ops.box_coder(
            tensor(prior), variance(), tensor(moved), "decode_center_size", i < 2, axis=0 if i % 2 else 1)  # fmt: skip
        yield f"prior_box {i}", lambda i=i: ops.prior_box(
            paddle.zeros([1, 3, 2, 3]), paddle.zeros([1, 3, 20, 30]), [4.0, 8.0], [10.0, 12.0] if i else None, [1.0, 2.0, 3.0], flip=bool(i % 2),
            clip=i > 1, steps=[0.0, 0.0] if i < 2 else [8.0, 9.0], min_max_aspect_ratios_order=i == 3)  # fmt: skip
        rois = some_boxes(rng, 9, 400)
        yield f"distribute {i}", lambda rois=rois, i=i: ops.distribute_fpn_proposals(
            tensor(rois), 2, 5, 4, 224, pixel_offset=bool(i % 2), rois_num=tensor([4, 5], "int32"))  # fmt: skip
        many, marks = np.stack([some_boxes(rng, 8) for _ in range(2)]), rng.permutation(48).reshape(2, 3, 8) / 48
        many[:, :, 2:] = many[:, :, :2] + rng.uniform(5, 20, (2, 8, 2))
        yield f"matrix_nms {i}", lambda many=many, marks=marks, i=i: ops.matrix_nms(
            tensor(many), tensor(marks), 0.2, 0.05, [6, -1][i % 2], [7, -1][i % 2], use_gaussian=i > 1, background_label=[0, -1][i % 2],
            normalized=i != 1, return_index=True)  # fmt: skip
        at = some_boxes(rng, 18).reshape(2, 3, 3, 4)
        at[..., 2:] = at[..., :2] + rng.uniform(2, 20, (2, 3, 3, 2))
        offered, deltas = rng.permutation(36).reshape(2, 3, 2, 3) / 36, rng.normal(size=(2, 12, 2, 3)) * 0.3
        yield f"generate_proposals {i}", lambda offered=offered, deltas=deltas, at=at, i=i: ops.generate_proposals(
            tensor(offered), tensor(deltas), tensor([[30, 25], [20, 31]]), tensor(at), tensor(np.full(at.shape, 0.5)), [6000, 12][i % 2],
            [1000, 4][i % 2], 0.6, [0.1, 3.0][i // 2], [1.0, 0.9][i % 2], pixel_offset=i > 1, return_rois_num=True)  # fmt: skip
    yield "distribute without numbers", lambda: ops.distribute_fpn_proposals(tensor(rois), 2, 5, 4, 224)
    yield "proposals without numbers", lambda: ops.generate_proposals(
        tensor(offered), tensor(deltas), tensor([[30, 25], [20, 31]]), tensor(at), tensor(at))  # fmt: skip
    yield "roi_align of text", lambda: ops.roi_align(tensor(x), tensor(rois), tensor([9], "int32"), "2")


def with_gradients(learned, function):
    out = function(*learned)
    ct = np.random.default_rng(1).normal(size=out.shape)
    (out * tensor(ct)).sum().backward()
    return [out, *(x.grad for x in learned)]


def main(seed):
    found = {}
    for name, call in calls(np.random.default_rng(int(seed))):
        try:
            found[name] = plain(call())
        except Exception as error:
            found[name] = ["error", *(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"), str(error)[-300:]]
    return found


if __name__ == "__main__":
    print("RESULT", json.dumps(main(*sys.argv[1:])))
