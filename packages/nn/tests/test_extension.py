"""Masks and diagonals."""
import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as wt


@pytest.mark.parametrize("lengths", [[3, 1, 0], [[3, 1], [0, 2]], 2, [2.5, 1.0]])
@pytest.mark.parametrize("maxlen", [None, 4, 2, -1])
def test_sequence_mask_marks_positions_before_the_length(lengths, maxlen):
    lengths = np.array(lengths)
    count = int(lengths.max()) if maxlen is None or maxlen < 0 else maxlen
    expected = np.arange(count) < lengths[..., None]
    out = F.sequence_mask(wt.to_tensor(lengths), maxlen)
    assert out.dtype is wt.int64
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float16", "float32"])
def test_sequence_mask_has_the_dtype_asked_for(dtype):
    assert F.sequence_mask(wt.to_tensor([1, 2]), dtype=dtype).dtype is getattr(wt, dtype)


def test_sequence_mask_of_no_positions():
    assert F.sequence_mask(wt.zeros([0], "int64")).shape == [0, 0]
    assert F.sequence_mask(wt.to_tensor([0, -2])).shape == [2, 0]
    assert F.sequence_mask(wt.to_tensor([3]), wt.to_tensor(4)).tolist() == [[1, 1, 1, 0]]


def test_sequence_mask_refuses():
    with pytest.raises(ValueError, match="maxlen=0"):
        F.sequence_mask(wt.to_tensor([1]), 0)
    with pytest.raises(ValueError, match="'maxlen' must be one integer"):
        F.sequence_mask(wt.to_tensor([1]), 2.5)
    with pytest.raises(ValueError, match="must be a Tensor"):
        F.sequence_mask([1])
    with pytest.raises(TypeError):
        F.sequence_mask(wt.to_tensor([1]), dtype="x")


def test_diag_embed_puts_the_last_axis_on_diagonals():
    x = np.arange(6.0).reshape(2, 3)
    out = F.diag_embed(wt.to_tensor(x), offset=1).numpy()
    np.testing.assert_array_equal(out, np.stack([np.diag(row, 1) for row in x]))
