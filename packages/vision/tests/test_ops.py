"""Operators for detection: what is refused, pictures from files, capture. Values are compared with Paddle in tests/parity."""
import io

import numpy as np
import pytest

import wherry_tensor as wt
import wherry_vision
from wherry_vision import ops

BOXES = [[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]]


def test_nms_of_no_boxes_is_empty():
    assert ops.nms(wt.zeros([0, 4]), 0.5).tolist() == []


def test_nms_decides_on_each_class_by_itself():
    boxes, scores = wt.to_tensor(BOXES), wt.to_tensor([0.1, 0.9, 0.5])
    assert ops.nms(boxes, 0.3, scores, wt.to_tensor([0, 0, 0]), [0]).tolist() == [1, 2]
    assert ops.nms(boxes, 0.3, scores, wt.to_tensor([0, 1, 0]), [0, 1]).tolist() == [1, 2, 0]
    assert ops.nms(boxes, 0.3, scores, wt.to_tensor([0, 1, 0]), [0, 1], top_k=1).tolist() == [1]


def test_nms_of_many_boxes_is_that_of_a_simple_loop():
    rng = np.random.default_rng(0)
    corner = rng.uniform(0, 100, (3000, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(1, 20, (3000, 2))], 1)
    kept: list[int] = []
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    for i, box in enumerate(boxes):
        sides = np.minimum(box[2:], boxes[kept, 2:]) - np.maximum(box[:2], boxes[kept, :2])
        common = np.maximum(sides, 0).prod(1)
        if not (common / (area[i] + area[kept] - common) > 0.4).any():
            kept.append(i)
    assert ops.nms(wt.to_tensor(boxes), 0.4).tolist() == kept


@pytest.mark.parametrize("layer", [ops.RoIAlign(2, 0.5), ops.RoIPool((2, 2), 0.5), ops.PSRoIPool(2, 0.5)])
def test_regions_as_layers(layer):
    x, boxes, count = wt.randn([2, 8, 6, 6]), wt.to_tensor([[0.0, 0.0, 8.0, 8.0], [1.0, 2.0, 9.0, 10.0]]), wt.to_tensor([1, 1], dtype="int32")
    out = layer(x, boxes, count)
    assert out.shape == [2, 2 if isinstance(layer, ops.PSRoIPool) else 8, 2, 2]
    assert "spatial_scale=0.5" in repr(layer)


def test_deform_conv2d_without_offsets_is_a_convolution():
    from wherry_nn import functional as F

    layer = ops.DeformConv2D(4, 6, 3, stride=2, padding=1, deformable_groups=2, groups=2)
    x = wt.randn([2, 4, 7, 8])
    out = layer(x, wt.zeros([2, 36, 4, 4]))
    np.testing.assert_allclose(out.numpy(), F.conv2d(x, layer.weight, layer.bias, 2, 1, groups=2).numpy(), rtol=1e-4, atol=1e-5)
    halved = layer(x, wt.zeros([2, 36, 4, 4]), wt.full([2, 18, 4, 4], 0.5))
    bias = layer.bias.reshape([1, -1, 1, 1])
    np.testing.assert_allclose((halved - bias).numpy(), (out - bias).numpy() / 2, rtol=1e-3, atol=1e-5)


X, COUNT = wt.zeros([2, 4, 5, 5]), wt.to_tensor([1, 2], dtype="int32")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, "2"), TypeError, "output_size is neither an int nor a pair. Got '2'"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, (2, 0)), ValueError, "expected two positive numbers"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), wt.to_tensor([1]), 2), ValueError, "boxes_num does not fit the images. Got 1 for 2 images"),
        (lambda: ops.roi_pool(X, wt.to_tensor(BOXES[:2]), COUNT, 2), ValueError, "`image` needs one number for each box"),
        (lambda: ops.psroi_pool(X, wt.to_tensor(BOXES), COUNT, 3), ValueError, "4 channels for 3 x 3 parts"),
        (lambda: ops.roi_pool([1], wt.to_tensor(BOXES), COUNT, 2), TypeError, "argument 'x' must be a Tensor"),
        (lambda: ops.roi_align(X[0], wt.to_tensor(BOXES), COUNT, 2), ValueError, "x does not have four axes"),
        (lambda: ops.deform_conv2d(X, wt.zeros([2, 18, 3, 3]), wt.zeros([4, 3, 3, 3])), ValueError, "4 channels and weight"),
        (lambda: ops.deform_conv2d(X, wt.zeros([2, 17, 3, 3]), wt.zeros([4, 4, 3, 3])), ValueError, "of two numbers for each tap"),
        (lambda: ops.DeformConv2D(4, 6, 3, weight_attr=False), ValueError, "weight_attr should not be False"),
        (lambda: ops.nms(BOXES), TypeError, "argument 'boxes' must be a Tensor"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 0.3, wt.ones([3]), wt.zeros([3], "int64")), AssertionError, "categories which is a list"),
        (lambda: ops.yolo_box(X, wt.ones([2, 2], "int32"), [1, 2], 3, 0.1, 32), ValueError, "x does not have 8 channels for each anchor"),
        (lambda: ops.box_coder(wt.to_tensor(BOXES), None, wt.to_tensor(BOXES), "code"), ValueError, "code_type is not known"),
        (lambda: ops.prior_box(X, X, [4.0], [3.0]), ValueError, "max_size should be greater"),
        (lambda: ops.distribute_fpn_proposals(wt.to_tensor(BOXES), 2, 5, 4, 224), AssertionError, "rois_num should not be None"),
        (lambda: ops.generate_proposals(X, X, X, X, X), AssertionError, "return_rois_num should be True"),
        (lambda: ops.matrix_nms(X[0], X[0], 0.1, 0.1, 1, 1), ValueError, "boxes and scores do not fit"),
        (lambda: ops.decode_jpeg(wt.zeros([3], "uint8"), "bgr"), ValueError, "mode is not known"),
        (lambda: ops.decode_jpeg(wt.zeros([3])), TypeError, r"Got float32\[3\]"),
        (lambda: ops.read_file(3), TypeError, "must be a file name"),
        (lambda: ops.read_file("\ud800"), ValueError, "is not a valid file name"),
        (lambda: wherry_vision.image.image_load("\ud800"), ValueError, "image_load: 'path' is not a valid file name"),
        (lambda: wherry_vision.datasets.DatasetFolder("\ud800"), ValueError, "DatasetFolder: 'root' is not a valid file name"),
        (lambda: wherry_vision.datasets.ImageFolder(None), TypeError, "ImageFolder: 'root' must be a file name"),
        (lambda: ops.decode_jpeg(wt.zeros([3], "uint8"), []), ValueError, r"mode is not known. Got \[\]"),
        (lambda: ops.nms(wt.ones([])), ValueError, r"nms: 'boxes' has the wrong number of axes. Got shape \[\], expected 2 axes, \[N, 4\]"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 1j), TypeError, "'iou_threshold' is not a real number"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 10**400), ValueError, "'iou_threshold' is too large"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 0.3, wt.ones([])), ValueError, "'scores' has the wrong number of axes"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 0.3, wt.ones([3]), [0], [0]), TypeError, "'category_idxs' must be a Tensor"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 0.3, wt.ones([3]), COUNT, [0], "2"), TypeError, "'top_k' must be one integer"),
        (lambda: ops.matrix_nms([1], X, 0.1, 0.1, 1, 1), TypeError, "'bboxes' must be a Tensor"),
        (lambda: ops.matrix_nms(X[0], X[0], None, 0.1, 1, 1), TypeError, "'score_threshold' must be one number"),
        (lambda: ops.generate_proposals([1], X, X, X, X, return_rois_num=True), TypeError, "'scores' must be a Tensor"),
        (lambda: ops.generate_proposals(wt.ones([]), X, X, X, X, return_rois_num=True), ValueError, "'scores' has the wrong number of axes"),
        (lambda: ops.distribute_fpn_proposals(wt.ones([]), 2, 5, 4, 224), ValueError, "'fpn_rois' has the wrong number of axes"),
        (lambda: ops.distribute_fpn_proposals(wt.to_tensor(BOXES), 2, "5", 4, 224), TypeError, "'max_level' must be one integer"),
        (lambda: ops.box_coder(wt.to_tensor(BOXES), [0.1], wt.to_tensor(BOXES)), ValueError, r"'prior_box_var' does not have 4 numbers. Got \[0.1\]"),
        (lambda: ops.prior_box(wt.ones([1, 1, 0, 0]), X, [4.0]), ValueError, "'input' has no pixels"),
        (lambda: ops.prior_box([1], X, [4.0]), TypeError, "'input' must be a Tensor"),
        (lambda: ops.prior_box(X, X, [0.0]), ValueError, "a side is not positive"),
        (lambda: ops.prior_box(X, X, [4.0], aspect_ratios=[0.0]), ValueError, "an aspect ratio is not positive"),
        (lambda: ops.prior_box(X, X, [4.0], steps=8.0), TypeError, "'steps' does not have 2 numbers"),
        (lambda: ops.yolo_box(range(3), COUNT.reshape([1, 2]), [1, 2], 3, 0.1, 32), TypeError, "'x' must be a Tensor"),
        (lambda: ops.yolo_box(X, COUNT.reshape([1, 2]), [1, 2, 3], 3, 0.1, 32), ValueError, "pairs of a width and a height"),
        (lambda: ops.yolo_loss(X, X, X, [1, 2], [1], 3, 0.1, 32), ValueError, r"anchor_mask is out of range. Got \[1\] for 1 anchors"),
        (lambda: ops.yolo_loss(X, X, X, [1, 2], [0], 0, 0.1, 32), ValueError, "'class_num' is out of range. Got 0"),
        (lambda: ops.yolo_loss(X, X, X, [1, 2], [0], 1, 0.1, 0), ValueError, "'downsample_ratio' is out of range. Got 0"),
        (lambda: ops.yolo_loss(X, X, X, [1, 2], [0], 1, 0.1, 32), ValueError, "'gt_box' has the wrong number of axes"),
        (lambda: ops.DeformConv2D(4, 6, 3, groups=0), ValueError, "DeformConv2D: 'groups' is out of range. Got 0, expected an int >= 1"),
        (lambda: ops.DeformConv2D(0, 6, 3), ValueError, "'in_channels' is out of range"),
        (lambda: ops.deform_conv2d(X, wt.zeros([2, 18, 3, 3]), wt.zeros([4, 4, 3, 3]), mask=3), TypeError, "'mask' must be a Tensor"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, 2**70), ValueError, "two positive numbers of at most 31 bits"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, 2, "1"), TypeError, "'spatial_scale' must be one number"),
    ],
)
def test_wrong_arguments_are_named(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_jpeg_file_becomes_a_tensor(tmp_path):
    image = pytest.importorskip("PIL.Image")
    picture = image.fromarray(np.tile(np.arange(32, dtype="uint8") * 8, (16, 1)))
    picture.convert("RGB").save(tmp_path / "x.jpg", quality=95)
    data = ops.read_file(str(tmp_path / "x.jpg"))
    assert data.dtype == wt.uint8 and data.shape == [(tmp_path / "x.jpg").stat().st_size]
    assert ops.decode_jpeg(data).shape == [3, 16, 32]
    gray = ops.decode_jpeg(data, "gray")
    assert gray.shape == [1, 16, 32] and np.abs(gray.numpy()[0].astype(int) - np.asarray(picture)).max() < 8
    for damaged in data[: data.shape[0] // 2], wt.zeros([3], "uint8"):
        with pytest.raises(ValueError, match="the data is not a JPEG image"):
            ops.decode_jpeg(damaged)


def test_other_formats_are_not_decoded():
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.new("RGB", (4, 4)).save(out, "PNG")
    with pytest.raises(ValueError, match="expected a whole JPEG file"):
        ops.decode_jpeg(wt.to_tensor(np.frombuffer(out.getvalue(), np.uint8)))
