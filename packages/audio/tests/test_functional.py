"""Mel scales, filter banks, decibels and cosine transforms against NumPy."""
import numpy as np
import pytest

import wherry_autograd  # noqa: F401  gives tensors their backward
import wherry_tensor as wt
from wherry_audio import functional as F  # noqa: N812

HZ = [0.0, 3.0, 200.0, 999.0, 1000.0, 1001.0, 8000.0, -30.0]


def mels(hz):
    return np.where(hz >= 1000, 15 + 27 * np.log(np.maximum(hz, 1000) / 1000) / np.log(6.4), hz * 3 / 200)


@pytest.mark.parametrize("htk", [False, True])
@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-5), ("float64", 1e-12)])  # of float32: ten roundings
def test_mels_of_tensors_and_of_numbers_and_back(htk, dtype, near):
    expected = 2595 * np.log10(1 + np.array(HZ) / 700) if htk else mels(np.array(HZ))
    found = F.hz_to_mel(wt.to_tensor(HZ, dtype=dtype), htk)
    assert str(found.dtype).endswith(dtype)
    np.testing.assert_allclose(found.numpy(), expected, rtol=near, atol=near)
    np.testing.assert_allclose(F.mel_to_hz(found, htk).numpy(), HZ, rtol=10 * near, atol=100 * near)
    np.testing.assert_allclose([F.hz_to_mel(hz, htk) for hz in HZ], expected, rtol=1e-12)
    np.testing.assert_allclose([F.mel_to_hz(F.hz_to_mel(hz, htk), htk) for hz in HZ], HZ, rtol=1e-12, atol=1e-12)


def test_frequencies_beyond_all_numbers_are_infinite():
    assert [F.mel_to_hz(1e7, htk) for htk in (True, False)] == [float("inf")] * 2


def test_integers_become_floating():
    found = F.hz_to_mel(wt.to_tensor([200, 1000]))
    assert found.dtype == wt.float32 and found.tolist() == pytest.approx([3.0, 15.0])


def test_gradients_of_both_halves_of_the_scale_are_finite():
    x = wt.to_tensor([0.0, 100.0, 2000.0])
    x.stop_gradient = False
    F.hz_to_mel(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [3 / 200, 3 / 200, 27 / np.log(6.4) / 2000], rtol=1e-6)


def test_frequencies_are_evenly_spread():
    np.testing.assert_allclose(F.fft_frequencies(16000, 8, "float64").numpy(), [0, 2000, 4000, 6000, 8000])
    found = F.mel_frequencies(5, 100.0, 8000.0, dtype="float64").numpy()
    np.testing.assert_allclose(mels(found), np.linspace(mels(100.0), mels(8000.0), 5))


@pytest.mark.parametrize("norm", ["slaney", None, 1, 2.0, float("inf")])
def test_triangles_rise_and_fall_between_their_neighbours(norm):
    edges = F.mel_frequencies(6, 50.0, 4000.0, dtype="float64").numpy()
    hz = np.linspace(0, 4000, 65)
    expected = np.array([np.interp(hz, edges[i : i + 3], [0, 1, 0], left=0, right=0) for i in range(4)])
    if norm == "slaney":
        expected *= (2 / (edges[2:] - edges[:-2]))[:, None]
    elif norm is not None:
        expected /= np.linalg.norm(expected, norm, axis=1, keepdims=True)
    found = F.compute_fbank_matrix(8000, 128, 4, 50.0, norm=norm, dtype="float64")
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_decibels():
    x = np.array([1.0, 1e-12, 100.0, 0.0, 1e-3])
    np.testing.assert_allclose(F.power_to_db(wt.to_tensor(x), 2.0, 1e-10, None).numpy(), 10 * np.log10(np.maximum(x, 1e-10) / 2), rtol=1e-12)
    assert F.power_to_db(wt.to_tensor(x)).numpy().min() == pytest.approx(20 - 80)
    assert float(F.power_to_db(wt.to_tensor(100))) == 20.0


@pytest.mark.parametrize("norm", ["ortho", None])
def test_cosine_transforms(norm):
    expected = np.array([[2 * np.cos(np.pi / 5 * (row + 0.5) * k) for k in range(3)] for row in range(5)])
    if norm:
        expected *= np.sqrt([0.25 / 5, 0.5 / 5, 0.5 / 5])
    np.testing.assert_allclose(F.create_dct(3, 5, norm, "float64").numpy(), expected, atol=1e-14)


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda: F.create_dct(3, 5, "other"), AssertionError, "norm is unknown"),
    (lambda: F.compute_fbank_matrix(8000, 64, 4, norm="other"), ValueError, "expected 'slaney'"),
    (lambda: F.compute_fbank_matrix(8000, 64, 0), ValueError, "n_mels=0"),
    (lambda: F.power_to_db(wt.ones([2]), ref_value=0.0), ValueError, "ref_value must be strictly positive"),
    (lambda: F.power_to_db(wt.ones([2]), amin=-1.0), ValueError, "amin must be strictly positive"),
    (lambda: F.power_to_db(wt.ones([2]), top_db=-1.0), ValueError, "top_db must be non-negative"),
    (lambda: F.power_to_db(3.0), TypeError, "must be a Tensor"),
    (lambda: F.hz_to_mel("a"), TypeError, "one number"),
])  # fmt: skip
def test_wrong_arguments_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_no_bands_have_no_transform():
    with pytest.raises(ValueError, match="create_dct: there are no bands to transform. Got n_mels=0"):
        F.create_dct(2, 0)
