"""Tensors beside other libraries' habits: NumPy's functions, Pillow, round, notebooks."""
import numpy as np
import pytest

import wherry_tensor as wt


@pytest.mark.parametrize(
    "call",
    [
        np.mean, np.sum, np.std, np.round, np.median, np.argsort, np.shape, np.ndim, lambda x: np.concatenate([x, x]),
        lambda x: np.stack((x, x), axis=1), lambda x: np.mean(x, axis=0, keepdims=True), lambda x: np.where(np.ones((2, 3), bool), x, x),
        lambda x: np.einsum("ij,kj->ik", x, x), lambda x: np.linalg.norm(x),
    ],
)
def test_numpys_functions_take_tensors(call):
    x = wt.to_tensor([[1.5, -2.0, 3.25], [0.0, 1.0, 9.0]])
    found = call(x)
    assert not isinstance(found, wt.Tensor)
    np.testing.assert_array_equal(found, call(x.numpy()))
    x.stop_gradient = False
    np.testing.assert_array_equal(call(x), found)


def test_round_takes_digits():
    x = wt.to_tensor([1.25, -2.375, 17.0])
    assert round(x).tolist() == [1.0, -2.0, 17.0]
    np.testing.assert_allclose(round(x, 1).numpy(), [1.3, -2.4, 17.0], rtol=1e-6)
    assert round(x, -1).tolist() == [0.0, 0.0, 20.0]
    assert round(wt.to_tensor([3]), 1).tolist() == [3]


def test_numpy_takes_what_paddles_code_gives_it():
    x = wt.to_tensor([1.0])
    assert x.numpy(False).tolist() == x.numpy(blocking=True).tolist() == [1.0]


def test_the_older_interface_of_arrays_tells_how_the_values_lie():
    x = wt.to_tensor(np.arange(6, dtype="uint8").reshape(2, 3))
    told = x.__array_interface__
    assert told["shape"] == (2, 3) and told["typestr"] == "|u1" and told["strides"] is None
    turned = x.transpose([1, 0])
    assert turned.__array_interface__["strides"] == (1, 3) and turned.tobytes() == x.numpy().T.tobytes()
    assert not hasattr(x.astype("bfloat16"), "__array_interface__")


def test_pillow_makes_images_of_tensors():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    x = wt.to_tensor(np.random.default_rng(0).integers(0, 256, (3, 4, 5), dtype="uint8"))
    np.testing.assert_array_equal(np.asarray(image.fromarray(x[0])), x[0].numpy())
    turned = x.transpose([1, 2, 0])
    np.testing.assert_array_equal(np.asarray(image.fromarray(turned)), turned.numpy())


def test_notebooks_show_a_table():
    page = wt.to_tensor([[1.5, 2.0], [3.0, -4.0]])._repr_html_()
    assert "Tensor [2, 2], float32, Place(cpu)" in page and "<tr><td>1.50000000</td><td>2.</td></tr>" in page
    page = wt.arange(10**6)._repr_html_()
    assert page.count("<td>") < 20 and "<td>999999</td>" in page and "…" in page
    page = wt.zeros([500, 500])._repr_html_()
    assert page.count("<tr>") == 21 and len(page) < 10_000
    for other in (wt.zeros([2, 2, 2]), wt.to_tensor(1.0), wt.zeros([0, 3])):
        assert other._repr_html_().startswith("<pre>Tensor(shape=")
