import numpy as np
import pytest

import wherry_tensor as paddle
from wherry_tensor.functions import signal as S

rng = np.random.default_rng(0)
HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(16) / 16)


def t(values):
    return paddle.to_tensor(np.asarray(values))


def test_spectra_are_those_of_windowed_frames():
    x = rng.standard_normal((2, 40))
    wide = np.pad(x, ((0, 0), (8, 8)), mode="reflect")
    expected = np.stack([np.fft.rfft(wide[:, i : i + 16] * HANN) for i in range(0, 41, 4)], -1)
    np.testing.assert_allclose(S.stft(t(x), 16, window=t(HANN)).numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(S.stft(t(x[0]), 16, 4, window=t(HANN)).numpy(), expected[0], atol=1e-12)


@pytest.mark.parametrize("attrs", [
    {}, {"hop_length": 3}, {"normalized": True}, {"onesided": False}, {"win_length": 12, "window": np.linspace(0.5, 1.5, 12)},
    {"center": False, "hop_length": 8}, {"window": HANN + 0.1, "hop_length": 5},
])
def test_a_signal_comes_back_from_its_spectra(attrs):
    given = {key: t(value) if isinstance(value, np.ndarray) else value for key, value in attrs.items()}
    x = rng.standard_normal((2, 64))
    back = S.istft(S.stft(t(x), 16, **given), 16, **given).numpy()
    np.testing.assert_allclose(back, x[:, : back.shape[-1]], atol=1e-12)
    assert back.shape[-1] >= 60


def test_a_complex_signal_has_whole_spectra():
    x = rng.standard_normal(32) + 1j * rng.standard_normal(32)
    y = S.stft(t(x), 8, onesided=False)
    assert y.shape == [8, 17]
    np.testing.assert_allclose(S.istft(y, 8, onesided=False, return_complex=True).numpy(), x, atol=1e-12)


def test_precision_follows_the_wider_of_signal_and_window():
    x = rng.standard_normal(32).astype("float32")
    assert S.stft(t(x), 16).dtype.name == "complex64"
    assert S.stft(t(x), 16, window=t(HANN)).dtype.name == "complex128"
    assert S.istft(S.stft(t(x), 16), 16).dtype.name == "float32"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x: S.stft(x, 100), AssertionError, "stft: a frame is longer than the signal. Got n_fft=100"),
        (lambda x: S.stft(x, 16, hop_length=0), AssertionError, "stft: frames do not advance"),
        (lambda x: S.stft(x, 16, win_length=17), AssertionError, "stft: the window is longer than a frame"),
        (lambda x: S.stft(x, 16, window=x[:8]), AssertionError, "stft: the window has another length"),
        (lambda x: S.stft(x, 16, pad_mode="edge"), AssertionError, "stft: unknown mode"),
        (lambda x: S.stft(x.astype("complex128"), 16), AssertionError, "stft: a complex signal has no half spectrum"),
        (lambda x: S.stft(x.numpy(), 16), TypeError, "stft: argument 'x' must be a Tensor"),
        (lambda x: S.istft(S.stft(x, 16), 14), AssertionError, "istft: spectra have another size"),
        (lambda x: S.istft(S.stft(x, 16), 16, hop_length=17), AssertionError, "istft: there are gaps between the windows"),
        (lambda x: S.istft(S.stft(x, 16), 16, return_complex=True), AssertionError, "istft: a half spectrum"),
        (lambda x: S.istft(S.stft(x, 16), 16, window=t(np.zeros(16))), ValueError, "istft: the windows leave elements unsaid"),
        (lambda x: S.frame(x, 65, 1), ValueError, "frame: the frame does not fit into the axis"),
        (lambda x: S.frame(x, 0, 1), ValueError, "frame: frame_length must be positive. Got frame_length=0"),
        (lambda x: S.frame(x, 4, 1, axis=1), ValueError, "frame: the signal must lie along the first axis or the last"),
        (lambda x: S.overlap_add(x, 1), ValueError, "overlap_add: `x` has no frames"),
    ],
)
def test_wrong_calls_are_explained(call, error, said):
    with pytest.raises(error, match=said):
        call(t(rng.standard_normal(64)))
