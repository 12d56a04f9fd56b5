"""Sampled classes and followed beams."""
import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_tensor.errors import InvalidTypeError

rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("samples", [0, 2, 4, 9, 20])
def test_classes_that_occur_come_first_and_others_fill_up(dtype, samples):
    label = wt.to_tensor([11, 5, 1, 11, 0], dtype=dtype)
    found, chosen = F.class_center_sample(label, 20, samples)
    assert found.dtype.name == chosen.dtype.name == dtype
    classes = chosen.numpy()
    assert classes[:4].tolist() == [0, 1, 5, 11]
    assert len(classes) == max(samples, 4) == len(set(classes.tolist()))
    assert ((classes >= 0) & (classes < 20)).all()
    assert classes[found.numpy()].tolist() == [11, 5, 1, 11, 0]


def test_the_choice_follows_the_seed():
    def choice(seed):
        wt.seed(seed)
        return F.class_center_sample(wt.to_tensor([3]), 100, 50)[1].numpy().tolist()

    assert choice(1) == choice(1) != choice(2)
    # Every other class has its chance.
    wt.seed(0)
    counts = np.zeros(6)
    for _ in range(300):
        counts[F.class_center_sample(wt.to_tensor([2]), 6, 3)[1].numpy()] += 1
    assert counts[2] == 300 and (abs(np.delete(counts, 2) - 120) < 45).all()  # 2 of 5, deviation 8.5


def test_no_labels_sample_only_others():
    found, chosen = F.class_center_sample(wt.zeros([0], "int64"), 5, 3)
    assert found.shape == [0] and chosen.shape == [3]


def followed(ids, parents):
    out = np.empty_like(ids)
    for b, beam in np.ndindex(ids.shape[1:]):
        at = beam
        for t in range(len(ids) - 1, -1, -1):
            out[t, b, beam] = ids[t, b, at]
            at = parents[t, b, at]
    return out


@pytest.mark.parametrize("shape", [(5, 2, 3), (1, 1, 1), (7, 3, 1), (0, 2, 2), (3, 0, 2)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_gather_tree_follows_each_beam_back(shape, dtype):
    ids = rng.integers(0, 50, shape).astype(dtype)
    parents = rng.integers(0, shape[2], shape).astype(dtype)
    out = F.gather_tree(wt.to_tensor(ids), wt.to_tensor(parents))
    assert out.dtype.name == dtype
    assert out.numpy().tolist() == followed(ids, parents).tolist()


IDS = wt.zeros([2, 1, 2], "int64")
LABEL = wt.to_tensor([1, 2])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: F.gather_tree(IDS, IDS + 2), IndexError, r"Got 2, expected beams in \[0, 2\)"),
        (lambda: F.gather_tree(IDS, IDS - 1), IndexError, "Got -1"),
        (lambda: F.gather_tree(IDS, IDS[:1]), ValueError, "of the same shape"),
        (lambda: F.gather_tree(IDS[0], IDS[0]), ValueError, r"expected \[T, B, beams\]"),
        (lambda: F.gather_tree(IDS, IDS.astype("int32")), InvalidTypeError, "Got int64 and int32"),
        (lambda: F.gather_tree(IDS, None), InvalidTypeError, "'parents' must be a Tensor"),
        (lambda: F.class_center_sample(LABEL, 2, 1), IndexError, r"Got 2, expected labels in \[0, 2\)"),
        (lambda: F.class_center_sample(LABEL, 5, 6), ValueError, "num_samples=6"),
        (lambda: F.class_center_sample(LABEL[None], 5, 2), ValueError, "label has the wrong rank"),
        (lambda: F.class_center_sample(LABEL.astype("float32"), 5, 2), InvalidTypeError, "float32"),
        (lambda: F.class_center_sample(LABEL, 5.0, 2), InvalidTypeError, "num_classes"),
        (lambda: F.class_center_sample(LABEL, 5, 2, group=type("Group", (), {"nranks": 4})()), NotImplementedError, "one process"),
    ],
)
def test_wrong_arguments_are_refused(call, error, match):
    if wt.get_device() != "cpu" and "expected labels in" in match:
        pytest.skip("a device is not waited for: what is in the labels is not known when the call returns")
    with pytest.raises(error, match=match):
        call()
