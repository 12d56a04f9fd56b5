"""The arithmetic of boxes, beside loops that are written to be read."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_nn.utils import boxes


def some(rng, *shape):
    corner = rng.uniform(0, 20, (*shape, 2))
    return np.concatenate([corner, corner + rng.uniform(1, 15, (*shape, 2))], -1).astype("float32")


def share(a, b):
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = float(np.prod(np.maximum(sides, 0)))
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


def one_by_one(bboxes, scores, score_threshold, nms_threshold, nms_top_k, keep_top_k, background, eta=1.0):
    found, counts = [], []
    for image, (places, said) in enumerate(zip(bboxes, scores, strict=True)):
        mine = []
        for label, row in enumerate(said):
            kept, threshold = [], nms_threshold
            order = [i for i in np.argsort(-row, kind="stable") if row[i] > score_threshold and label != background]
            for i in order[: nms_top_k if nms_top_k > -1 else None]:
                if all(share(places[i], places[j]) <= threshold for j in kept):
                    kept.append(i)
                    threshold *= eta if threshold > 0.5 else 1
            mine += [(label, row[i], *places[i], image * len(places) + i) for i in kept]
        if keep_top_k > -1:
            mine = sorted(sorted(mine, key=lambda each: -each[1])[:keep_top_k], key=lambda each: each[0])
        found += mine
        counts.append(len(mine))
    return np.array(found, "float64").reshape(-1, 7), counts


@pytest.mark.parametrize("limits", [(-1, -1, -1), (3, -1, 0), (-1, 4, -1), (5, 6, 2), (-1, 0, -1)])
def test_the_best_of_each_class_and_image_are_found_together(limits):
    rng = np.random.default_rng(0)
    bboxes, scores = some(rng, 3, 14), rng.uniform(0, 1, (3, 4, 14)).astype("float32")
    top, keep, background = limits
    out, counts, index = boxes.multiclass_nms(wt.to_tensor(bboxes), wt.to_tensor(scores), None, 0.2, 0.3, top, keep, background, True)
    expected, numbers = one_by_one(bboxes, scores, 0.2, 0.3, top, keep, background)
    np.testing.assert_allclose(out.numpy(), expected[:, :6], rtol=1e-6)
    assert counts.tolist() == numbers
    assert index.numpy()[:, 0].tolist() == expected[:, 6].tolist()


def test_each_box_that_is_kept_may_lower_the_threshold():
    rng = np.random.default_rng(0)
    bboxes = some(rng, 1, 40)
    bboxes[0, 20:] = bboxes[0, :20] + rng.uniform(0, 3, (20, 4)).astype("float32")
    bboxes[..., 2:] += 4
    scores = rng.uniform(0, 1, (1, 2, 40)).astype("float32")
    numbers = set()
    for eta in 1.0, 0.97, 0.5:
        out, counts, index = boxes.multiclass_nms(wt.to_tensor(bboxes), wt.to_tensor(scores), None, 0.1, 0.9, -1, -1, -1, True, eta)
        expected, number = one_by_one(bboxes, scores, 0.1, 0.9, -1, -1, -1, eta)
        assert counts.tolist() == number and index.numpy()[:, 0].tolist() == expected[:, 6].tolist()
        np.testing.assert_allclose(out.numpy(), expected[:, :6], rtol=1e-6)
        numbers.add(number[0])
    assert len(numbers) == 3


def test_no_box_above_the_threshold_gives_nothing_for_each_image():
    out, counts, index = boxes.multiclass_nms(wt.ones([2, 5, 4]), wt.zeros([2, 3, 5]), None, 0.5, 0.3, -1, -1, -1, True)
    assert (out.shape, counts.tolist(), index.shape) == ([0, 6], [0, 0], [0, 1])


def test_boxes_come_back_from_what_they_differ_by():
    rng = np.random.default_rng(1)
    prior, target = wt.to_tensor(some(rng, 4)), wt.to_tensor(some(rng, 3))
    for one in 0.0, 1.0:
        back = boxes.decoded(prior, boxes.coded(prior, target, one), one)
        # The middle of a box is a half beside itself, where boxes end at pixels: Paddle's two directions differ by it.
        np.testing.assert_allclose(back.numpy(), np.repeat(target.numpy()[:, None], 4, 1) - one / 2, atol=1e-4)


def test_boxes_know_their_image_from_how_many_each_has():
    assert boxes.image_of(wt.to_tensor([2, 0, 3], dtype="int32"), 5).tolist() == [0, 0, 2, 2, 2]
