"""Walks of several threads that meet at one leaf."""
import threading

import numpy as np
import pytest

import wherry_tensor as w


@pytest.mark.parametrize("size", [64, 2_000_000])  # below and above the size from which additions let go of the GIL
def test_threads_that_share_a_leaf_lose_no_gradient(size):
    leaf = w.ones([size])
    leaf.stop_gradient = False
    threads, turns = 4, 10
    start = threading.Barrier(threads)

    def walk():
        start.wait()
        for _ in range(turns):
            (leaf * 2).sum().backward()

    workers = [threading.Thread(target=walk) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    np.testing.assert_array_equal(leaf.grad.numpy(), 2.0 * threads * turns)


def test_a_gradient_that_cannot_be_added_to_stays():
    leaf = w.ones([3])
    leaf.stop_gradient = False
    (leaf * 2).sum().backward()
    leaf.grad = w.ones([5])  # of another shape: nothing can be added to it
    with pytest.raises(ValueError):
        (leaf * 2).sum().backward()
    assert leaf.grad.shape == [5]
