"""Gradients of large tables of which few rows are used: dense for whoever looks, written out in parts by the optimizer."""
import copy

import numpy as np
import pytest

from wherry_autograd.selected_rows import TableGradient
from wherry_nn import ClipGradByGlobalNorm, Linear
from wherry_nn.functional import embedding
from wherry_tensor import _core, to_tensor
from wherry_train import optimizer as o

HEIGHT, WIDTH = 70_001, 64  # 17.9 MB


def table(seed=0):
    values = np.random.default_rng(seed).standard_normal((HEIGHT, WIDTH)).astype("float32")
    return to_tensor(values, stop_gradient=False)


def words(seed=1, n=300):
    found = np.random.default_rng(seed).integers(0, HEIGHT, n)
    found[:9] = [0, 0, HEIGHT - 1, HEIGHT - 1, 5, 5, 5, 16383, 16384]
    return to_tensor(found)


def pull(weight, index, times=1.0, **options):
    out = embedding(index, weight, **options)
    return (out * out * times).sum()


def optimizers():

    return {
        "SGD": lambda p: o.SGD(0.1, parameters=p), "Momentum": lambda p: o.Momentum(0.1, 0.9, parameters=p, use_nesterov=True),
        "Adam": lambda p: o.Adam(0.1, parameters=p), "Adam with decay": lambda p: o.Adam(0.1, parameters=p, weight_decay=0.1),
        "AdamW": lambda p: o.AdamW(0.1, parameters=p), "Adagrad": lambda p: o.Adagrad(0.1, parameters=p),
        "RMSProp": lambda p: o.RMSProp(0.1, parameters=p), "Lamb": lambda p: o.Lamb(0.1, parameters=p),
        "clipped": lambda p: o.AdamW(0.1, parameters=p, grad_clip=ClipGradByGlobalNorm(1.0)),
    }


@pytest.mark.parametrize("name", optimizers())
def test_a_step_gives_the_bits_of_a_dense_gradient(name):
    def trained(look):
        weight, layer = table(), Linear(4, 4)
        layer.weight.set_value(np.eye(4, dtype="float32"))
        update = optimizers()[name]([weight, *layer.parameters()])
        for step in range(3):
            (pull(weight, words(step), padding_idx=5) + layer(to_tensor(np.ones((2, 4), "float32"))).sum()).backward()
            assert isinstance(weight._grad_as_left, TableGradient) == weight.place.is_cpu_place()  # elsewhere it is written at once
            if look:
                assert type(weight.grad) is not TableGradient and weight.grad.shape == [HEIGHT, WIDTH]
            update.step()
            update.clear_grad()
        return weight.numpy(), layer.weight.numpy(), update.state_dict()

    plain, other, states = trained(True)
    got, got_other, got_states = trained(False)
    assert (got == plain).all() and (got_other == other).all()
    for mine, theirs in zip(got_states.values(), states.values(), strict=True):
        if hasattr(mine, "numpy"):
            assert (mine.numpy() == theirs.numpy()).all()


def test_no_memory_is_taken_for_the_gradient():
    weight = table()
    update = o.AdamW(0.1, parameters=[weight])
    pull(weight, words()).backward()
    update.step()
    update.clear_grad()
    _core.reset_peak_memory_stats()
    before = _core.memory_stats()["allocated"]
    pull(weight, words()).backward()
    update.step()
    assert _core.memory_stats()["peak_allocated"] - before < HEIGHT * WIDTH * 4 * 0.8


def test_what_is_read_is_dense_and_stays_so():
    weight, index = table(), words()
    pull(weight, index).backward()
    index.set_value(np.zeros(index.shape, "int64"))  # what was looked up then counts
    expected = np.zeros((HEIGHT, WIDTH), "float32")
    rows = words().numpy()
    np.add.at(expected, rows, 2 * weight.numpy()[rows])
    np.testing.assert_allclose(weight.grad.numpy(), expected, rtol=1e-5, atol=1e-5)
    assert weight.grad is weight.grad and not weight.grad.stop_gradient


def test_gradients_of_several_calls_are_summed():
    both, one, other = table(), table(), table()
    (pull(both, words(1)) + pull(both, words(2))).backward()
    pull(one, words(1)).backward()
    pull(one, words(2)).backward()
    pull(other, words(1)).backward()
    first = other.grad.numpy().copy()
    other.clear_grad()
    pull(other, words(2)).backward()
    for found in (both.grad, one.grad):
        np.testing.assert_allclose(found.numpy(), first + other.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_a_table_that_is_also_a_factor_of_a_product():
    weight = table()
    (pull(weight, words()) + (weight * 2.0).sum()).backward()
    assert weight.grad.numpy().min() < 2.0 and (weight.grad.numpy() == 2.0).any()


def test_hooks_see_a_dense_gradient():
    weight, seen = table(), []
    weight.register_hook(lambda g: seen.append((type(g) is TableGradient, g.shape)))
    pull(weight, words()).backward()
    assert seen == [(False, [HEIGHT, WIDTH])]


def test_a_copy_of_the_table_has_the_gradient():
    weight = table()
    pull(weight, words()).backward()
    assert (copy.deepcopy(weight._grad_as_left).to_dense().numpy() == weight.grad.numpy()).all()
