"""Hooks on gradients, and on what is kept for the backward pass."""
import pytest

from small_tensors import make, total
from wherry_autograd import enable_grad, grad, saved_tensors_hooks
from wherry_tensor import _core, ops


def test_a_leaf_hook_sees_the_complete_gradient_once(x):
    seen = []
    x.register_hook(lambda g: seen.append(g.numpy().tolist()))
    total(x * 2 + x * 3).backward()
    assert seen == [[5, 5, 5]]
    assert x.grad.numpy().tolist() == [5, 5, 5]


def test_a_hook_replaces_the_gradient(x):
    x.register_hook(lambda g: g * 10)
    y = x * 2
    y.register_hook(lambda g: g * 100)
    total(y).backward()
    assert x.grad.numpy().tolist() == [2000, 2000, 2000]


def test_hooks_run_in_order_and_can_be_removed(x):
    seen = []
    first = x.register_hook(lambda g: seen.append("first"))
    x.register_hook(lambda g: seen.append("second"))
    total(x * 2).backward()
    assert first.remove() is True
    total(x * 2).backward()
    assert seen == ["first", "second", "second"]
    with pytest.warns(RuntimeWarning, match="removed already"):
        assert first.remove() is False


def test_a_retained_gradient_is_that_after_the_hooks(x):
    y = x * 2
    y.retain_grads()
    y.register_hook(lambda g: g * 3)
    total(y).backward()
    assert y.grad.numpy().tolist() == [3, 3, 3]


def test_a_hook_may_keep_the_gradient(x):
    kept = []
    x.register_hook(kept.append)
    total(x * 2).backward()
    total(x * 2).backward()
    assert kept[0].numpy().tolist() == [2, 2, 2]
    assert x.grad.numpy().tolist() == [4, 4, 4]


def test_hooks_of_inputs_do_not_run_in_grad_but_those_of_intermediates_do(x):
    x.register_hook(lambda g: g * 7)
    y = x * 2
    y.register_hook(lambda g: g * 100)
    assert grad(total(y), x)[0].numpy().tolist() == [200, 200, 200]


def test_a_hook_may_run_a_backward_pass_of_its_own(x, y):
    @x.register_hook
    def pass_of_its_own(g):
        with enable_grad():
            total(y * y).backward()

    total(x * 2).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]
    assert y.grad.numpy().tolist() == (2 * y.numpy()).tolist()


def test_bad_hooks_are_refused(x):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that stops gradients"):
        make([1.0]).register_hook(print)
    with pytest.raises(TypeError, match="Got int, expected a function"):
        x.register_hook(3)
    x.register_hook(lambda g: "text")
    with pytest.raises(TypeError, match="Got str, expected a Tensor, or None"):
        total(x).backward()


def test_kept_tensors_go_through_the_hooks(x):
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.shape)
        return t.numpy()

    def unpack(values):
        unpacked.append(values.shape)
        return make(values)

    with saved_tensors_hooks(pack, unpack):
        y = ops.exp(x)
        z = x * y
    assert packed == [[3], [3], [3]]
    w = x * x  # outside of the block
    total(z + w).backward()
    assert len(unpacked) == 3
    e = [2.7182817, 7.389056, 20.085537]
    assert x.grad.numpy().tolist() == pytest.approx([v * (1 + n) + 2 * n for n, v in zip([1, 2, 3], e)], rel=1e-6)


def test_unpack_must_give_a_tensor(x):
    with saved_tensors_hooks(lambda t: t, lambda t: None):
        y = x * x
    with pytest.raises(TypeError, match=r"unpack_hook gave no tensor back for 'multiply'. Got NoneType"):
        total(y).backward()


def test_packing_to_fewer_bytes_saves_memory(x):
    before = _core.memory_stats()["allocated"]
    with saved_tensors_hooks(lambda t: None, lambda t: make([0.0, 0.0, 0.0])):
        y = x
        for _ in range(100):
            y = ops.exp(y)
    assert _core.memory_stats()["allocated"] - before < 1024
