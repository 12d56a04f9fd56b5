"""Operators for detection: what is refused, pictures from files, capture. Values are compared with Paddle in tests/parity."""
import io

import numpy as np
import pytest

import wherry_tensor as wt
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
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, "2"), TypeError, "output_size is a number or a pair. Got '2'"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), COUNT, (2, 0)), ValueError, "expected two positive numbers"),
        (lambda: ops.roi_align(X, wt.to_tensor(BOXES), wt.to_tensor([1]), 2), ValueError, "a number for each image. Got 1 for 2 images"),
        (lambda: ops.roi_pool(X, wt.to_tensor(BOXES[:2]), COUNT, 2), ValueError, "each box lies in an image"),
        (lambda: ops.psroi_pool(X, wt.to_tensor(BOXES), COUNT, 3), ValueError, "4 channels for 3 x 3 parts"),
        (lambda: ops.roi_pool([1], wt.to_tensor(BOXES), COUNT, 2), TypeError, "`x` is no tensor"),
        (lambda: ops.roi_align(X[0], wt.to_tensor(BOXES), COUNT, 2), ValueError, "images have four axes"),
        (lambda: ops.deform_conv2d(X, wt.zeros([2, 18, 3, 3]), wt.zeros([4, 3, 3, 3])), ValueError, "4 channels and weight"),
        (lambda: ops.deform_conv2d(X, wt.zeros([2, 17, 3, 3]), wt.zeros([4, 4, 3, 3])), ValueError, "of two numbers for each tap"),
        (lambda: ops.DeformConv2D(4, 6, 3, weight_attr=False), ValueError, "weight_attr should not be False"),
        (lambda: ops.nms(BOXES), TypeError, "`boxes` is no tensor"),
        (lambda: ops.nms(wt.to_tensor(BOXES), 0.3, wt.ones([3]), wt.zeros([3], "int64")), AssertionError, "categories which is a list"),
        (lambda: ops.yolo_box(X, wt.ones([2, 2], "int32"), [1, 2], 3, 0.1, 32), ValueError, "each anchor has 8 channels"),
        (lambda: ops.box_coder(wt.to_tensor(BOXES), None, wt.to_tensor(BOXES), "code"), ValueError, "code_type is not known"),
        (lambda: ops.prior_box(X, X, [4.0], [3.0]), ValueError, "max_size should be greater"),
        (lambda: ops.distribute_fpn_proposals(wt.to_tensor(BOXES), 2, 5, 4, 224), AssertionError, "rois_num should not be None"),
        (lambda: ops.generate_proposals(X, X, X, X, X), AssertionError, "return_rois_num should be True"),
        (lambda: ops.matrix_nms(X, X, 0.1, 0.1, 1, 1), ValueError, "a score for each box"),
        (lambda: ops.decode_jpeg(wt.zeros([3], "uint8"), "bgr"), ValueError, "mode is not known"),
        (lambda: ops.decode_jpeg(wt.zeros([3])), TypeError, r"Got float32\[3\]"),
        (lambda: ops.decode_jpeg(wt.zeros([3], "uint8")), ValueError, "the bytes are no picture"),
        (lambda: ops.read_file(3), TypeError, "a path is text"),
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
    with pytest.raises(ValueError, match="the bytes are no picture"):
        ops.decode_jpeg(data[: data.shape[0] // 2])


def test_other_formats_are_not_decoded():
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.new("RGB", (4, 4)).save(out, "PNG")
    with pytest.raises(ValueError, match="expected a whole JPEG file"):
        ops.decode_jpeg(wt.to_tensor(np.frombuffer(out.getvalue(), np.uint8)))
