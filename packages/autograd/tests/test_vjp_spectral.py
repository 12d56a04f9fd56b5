import numpy as np

import wherry_tensor as paddle
from wherry_autograd import grad
from wherry_tensor._core import float64, symbolic
from wherry_tensor.functions import fft, signal
from wherry_tensor.testing.capture import Program


def leaf(values):
    x = paddle.to_tensor(np.asarray(values, "float64"))
    x.stop_gradient = False
    return x


def test_the_energy_of_a_spectrum_is_that_of_the_signal_and_so_is_its_gradient():
    x = leaf(np.random.default_rng(0).standard_normal(10))
    spectrum = fft.fft(x, norm="ortho")
    (found,) = grad((spectrum.real() ** 2 + spectrum.imag() ** 2).sum(), [x], create_graph=True)
    np.testing.assert_allclose(found.numpy(), 2 * x.numpy(), atol=1e-12)
    (second,) = grad((found * found).sum(), [x])
    np.testing.assert_allclose(second.numpy(), 8 * x.numpy(), atol=1e-12)


def test_spectra_of_frames_have_gradients_that_lead_back():
    x = leaf(np.random.default_rng(1).standard_normal((2, 40)))
    back = signal.istft(signal.stft(x, 8), 8)
    weights = np.random.default_rng(2).standard_normal((2, 40))
    (found,) = grad((back * paddle.to_tensor(weights)).sum(), [x])
    np.testing.assert_allclose(found.numpy(), weights, atol=1e-10)


def test_transforms_are_captured_for_unknown_sizes():
    def model(x):
        y = fft.rfft(x, norm="ortho")
        z = fft.irfft(y, n=x.shape[-1])
        frames = signal.stft(x, 4, center=False)
        return (y.real() ** 2).sum() + (z * z * z).sum() + (frames.imag() ** 2).sum()

    x = symbolic((-1, -1), float64)
    x.stop_gradient = False
    with Program() as program:
        loss = model(x)
        (ct,) = grad(loss, [x])
    for shape in (2, 8), (3, 9):
        data = leaf(np.random.default_rng(3).standard_normal(shape))
        expected = model(data)
        (expected_ct,) = grad(expected, [data])
        got = program.replay([(x, data.detach())], [loss, ct])
        np.testing.assert_allclose(got[0].numpy(), expected.numpy(), rtol=1e-10)
        np.testing.assert_allclose(got[1].numpy(), expected_ct.numpy(), atol=1e-10)
