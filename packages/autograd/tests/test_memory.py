"""Deep graphs, leaks, threads."""
import gc
import sys
import threading
import tracemalloc

import pytest

from small_tensors import make, total
from wherry_autograd import PyLayer, grad
from wherry_tensor import _core, get_device, ops


def test_a_chain_of_100000_ops_goes_back_and_away():
    x = make([1.0], requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + x
    y.backward()
    assert x.grad.numpy().tolist() == [100_001]


def test_a_long_chain_is_released_without_backward():
    x = make([1.0], requires_grad=True)
    gc.collect()  # what earlier tests left goes now, not in between
    before = _core.memory_stats()["allocated"]
    y = x
    for _ in range(200_000 if get_device() == "cpu" else 20_000):
        y = ops.exp(y) if _ % 2 else y * x
    del y
    assert _core.memory_stats()["allocated"] == before


def test_a_long_chain_of_second_derivatives():
    x = make([1.0], requires_grad=True)
    y = x
    for _ in range(2_000):
        y = y * x
    (g,) = grad(y, x, create_graph=True)
    total(g).backward()
    assert x.grad.numpy().tolist() == [2001 * 2000]


def test_a_long_chain_in_a_cycle_is_collected():
    x = make([1.0], requires_grad=True)
    gc.collect()  # what earlier tests left goes now, not in between
    before = _core.memory_stats()["allocated"]
    y = first = x * 2
    for _ in range(20_000):
        y = ops.exp(y)
    first.end = y
    del y, first
    gc.collect()
    assert _core.memory_stats()["allocated"] == before


class Square(PyLayer):
    """Saves its input and its output."""

    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, _ = ctx.saved_tensor()
        return dy * x * 2


def step(weight, data):
    weight.clear_grad()
    hidden = ops.tanh(data * weight + weight)
    hidden.register_hook(lambda g: g * 2)
    hidden.retain_grads()
    loss = total(Square.apply(hidden) * hidden)
    loss.backward()
    grad(total(ops.exp(weight)), weight, create_graph=True)


def test_10000_steps_leak_nothing():
    weight, data = make([[0.5, 0.25]], requires_grad=True), make([[1.0, 2.0]])
    gc.disable()
    try:
        for _ in range(5_000):  # Python's own free lists fill up
            step(weight, data)
        allocated, blocks = _core.memory_stats()["allocated"], sys.getallocatedblocks()
        for _ in range(10_000):
            step(weight, data)
        # Without the collector: nothing here may be a cycle.
        assert _core.memory_stats()["allocated"] == allocated
        assert sys.getallocatedblocks() - blocks < 500
    finally:
        gc.enable()


def test_python_memory_does_not_grow():
    weight, data = make([[0.5, 0.25]], requires_grad=True), make([[1.0, 2.0]])
    for _ in range(100):
        step(weight, data)
    tracemalloc.start()
    try:
        spare = [(i, i) for i in range(2_000)]  # so many dead tuples of each length does Python keep
        del spare
        for _ in range(100):
            step(weight, data)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1_000):
            step(weight, data)
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


def test_failed_backward_leaks_nothing(x):
    def fail():
        y = ops.exp(x * 2)
        y.register_hook(lambda g: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            total(y * x).backward()

    fail()
    gc.collect()
    before = _core.memory_stats()["allocated"]
    for _ in range(100):
        fail()
    gc.collect()
    assert _core.memory_stats()["allocated"] == before


def test_threads_go_through_graphs_of_their_own_at_once():
    errors = []
    shared = make([2.0, 3.0])
    rounds = 300 if get_device() == "cpu" else 60

    def work(seed):
        try:
            weight = make([float(seed), 1.0], requires_grad=True)
            for _ in range(rounds):
                weight.clear_gradient(False)
                y = weight
                for _ in range(20):
                    y = ops.tanh(y * shared)
                total(y).backward()
                first = weight.grad.numpy().tolist()
                (g,) = grad(total(weight * weight * weight), weight, create_graph=True)
                total(g).backward()
                expected = [a + 6 * b for a, b in zip(first, [float(seed), 1.0])]
                assert weight.grad.numpy().tolist() == pytest.approx(expected, rel=1e-6)
        except BaseException as error:  # noqa: BLE001  reported by the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_threads_may_go_back_through_one_graph_when_it_is_retained():
    x = make([1.0, 2.0], requires_grad=True)
    y = total(ops.exp(x * x))
    results = []

    def work():
        for _ in range(200):
            results.append(grad(y, x)[0].numpy().tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 800
    assert all(r == results[0] for r in results)
