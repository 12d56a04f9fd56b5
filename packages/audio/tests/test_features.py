"""Spectrograms against NumPy, and their gradients against differences."""
import numpy as np
import pytest

import wherry_autograd  # noqa: F401  gives tensors their backward
import wherry_tensor as wt
from wherry_audio.features import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram
from wherry_audio.functional import compute_fbank_matrix, create_dct, get_window

WAVES = np.sin(np.arange(400) / 7)[None] + 0.1 * np.random.default_rng(0).standard_normal((2, 400))


def spectra(waves, n_fft, hop, window):
    """Absolute values of the Fourier transforms of pieces around each multiple of `hop`."""
    padded = np.pad(waves, ((0, 0), (n_fft // 2, n_fft // 2)), mode="reflect")
    pieces = np.stack([padded[:, at : at + n_fft] for at in range(0, waves.shape[1] + 1, hop)], axis=-1)
    return np.abs(np.fft.rfft(pieces * window[:, None], axis=1))


def test_each_layer_adds_a_step():
    window = get_window("hann", 64).numpy()
    amplitudes = spectra(WAVES, 64, 16, window)
    bank = compute_fbank_matrix(8000, 64, 8, 50.0, dtype="float64").numpy()
    mels = bank @ amplitudes**2
    decibels = 10 * np.log10(np.maximum(mels, 1e-10))
    decibels = np.maximum(decibels, decibels.max() - 40)
    cosines = create_dct(5, 8, dtype="float64").numpy()
    x = wt.to_tensor(WAVES)
    common = {"n_fft": 64, "hop_length": 16, "dtype": "float64"}
    np.testing.assert_allclose(Spectrogram(**common)(x).numpy(), amplitudes, atol=1e-11)
    np.testing.assert_allclose(MelSpectrogram(8000, n_mels=8, **common)(x).numpy(), mels, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(LogMelSpectrogram(8000, n_mels=8, top_db=40.0, **common)(x).numpy(), decibels, rtol=1e-9)
    np.testing.assert_allclose(MFCC(8000, 5, n_mels=8, top_db=40.0, **common)(x).numpy(), cosines.T @ decibels, rtol=1e-9, atol=1e-9)


def test_one_waveform_needs_no_axis_for_a_batch():
    for layer in (Spectrogram(64), MelSpectrogram(8000, 64, n_mels=8), LogMelSpectrogram(8000, 64, n_mels=8), MFCC(8000, 5, 64, n_mels=8)):
        both = layer(wt.to_tensor(WAVES, dtype="float32"))
        np.testing.assert_allclose(layer(wt.to_tensor(WAVES[1], dtype="float32")).numpy(), both.numpy()[1], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("layer", [
    Spectrogram(16, 8, dtype="float64"), MelSpectrogram(8000, 16, 8, n_mels=4, dtype="float64"), MFCC(8000, 3, 16, 8, n_mels=4, dtype="float64"),
], ids=["Spectrogram", "MelSpectrogram", "MFCC"])  # fmt: skip
def test_gradients_reach_the_waveform(layer):
    waves = WAVES[:, :40]
    x = wt.to_tensor(waves)
    x.stop_gradient = False
    layer(x).sum().backward()
    step = 1e-6
    for at in (0, 13, 39):
        moved = [waves + sign * step * (np.arange(40) == at) for sign in (1, -1)]
        slope = (layer(wt.to_tensor(moved[0])).sum() - layer(wt.to_tensor(moved[1])).sum()) / (2 * step)
        assert float(x.grad[0, at] + x.grad[1, at]) == pytest.approx(float(slope), rel=1e-4, abs=1e-6)  # central differences of 1e-6


def test_windows_and_matrices_are_in_the_state_under_the_names_of_paddle():
    state = MFCC(8000, 5, 64, n_mels=8).state_dict()
    assert {name: value.shape for name, value in state.items()} == {
        "dct_matrix": [8, 5], "_log_melspectrogram._melspectrogram.fbank_matrix": [8, 33],
        "_log_melspectrogram._melspectrogram._spectrogram.fft_window": [64],
    }  # fmt: skip


@pytest.mark.parametrize(("make", "error", "match"), [
    (lambda: Spectrogram(power=0), AssertionError, "must be > 0"), (lambda: Spectrogram(window="other"), ValueError, "Unknown window type"),
    (lambda: MFCC(n_mfcc=80, n_mels=64), AssertionError, "cannot be larger than n_mels"),
    (lambda: Spectrogram(n_fft=16, win_length=32)(wt.ones([64])), AssertionError, "window is longer"),
    (lambda: Spectrogram(n_fft=64)(wt.ones([10])), AssertionError, "longer than the signal"),
])  # fmt: skip
def test_wrong_arguments_are_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()
