"""Memory of large tensors: neighbours that are free are one, so that what lies between blocks in use does not add up."""
import random

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import _core

MIB = 1 << 20
pytestmark = pytest.mark.skipif(__import__("sys").platform != "linux", reason="large blocks lie in segments on Linux")


def block(mib, value=None):
    x = _core.uninitialized((int(mib * MIB) // 4 - 16,), _core.float32)  # 64 bytes before the data
    if value is not None:
        w.assign(np.full(x.shape, value, "float32"), x)
    return x


@pytest.fixture(autouse=True)
def nothing_kept():
    _core.release_memory_cache()
    yield
    _core.release_memory_cache()
    stats = _core.memory_stats()
    assert stats["reserved"] == stats["allocated"]


def test_neighbours_that_are_free_are_given_out_as_one_block():
    held = [block(4) for _ in range(16)]
    before = _core.memory_stats()["reserved"]
    end = held.pop()
    held.clear()
    large = block(56)
    assert _core.memory_stats()["reserved"] <= before
    del large, end


def test_blocks_of_other_sizes_are_cut_out_of_what_is_free():
    large = block(60)
    before = _core.memory_stats()["reserved"]
    del large
    held = [block(7) for _ in range(8)]
    assert _core.memory_stats()["reserved"] <= before
    del held


def test_gaps_between_blocks_in_use_give_their_pages_back():
    held = [block(2) for _ in range(200)]
    del held[::2]
    larger = [block(6) for _ in range(30)]
    stats = _core.memory_stats()
    assert stats["reserved"] < 1.1 * max(stats["allocated"], 400 * MIB) + 16 * MIB
    del held, larger


def test_a_block_larger_than_a_segment():
    x = block(300, 3.0)
    assert x.numpy()[-1] == 3.0
    del x
    y = block(310, 4.0)
    assert y.numpy()[0] == 4.0


def test_no_block_lies_on_another():
    choose = random.Random(0)
    held = {}
    before = _core.memory_stats()["allocated"]
    for step in range(600):
        if held and choose.random() < 0.48 or sum(x.size for x in held.values()) > 100 * MIB:
            value = choose.choice(list(held))
            x = held.pop(value)
            numbers = x.numpy()
            assert numbers[0] == numbers[-1] == numbers[len(numbers) // 2] == value
            del numbers, x
        else:
            held[float(step)] = block(choose.choice([1, 1.1, 2, 3.3, 5, 8, 13]), float(step))
    for value, x in held.items():
        assert (x.numpy() == value).all()
    del x
    held.clear()
    assert _core.memory_stats()["allocated"] == before


def test_what_a_step_comes_back_to_is_kept_and_given_back_after_a_while():
    held = [block(20) for _ in range(40)]  # more than the 512 MiB that are always kept
    most = _core.memory_stats()["reserved"]
    held.clear()
    assert _core.memory_stats()["reserved"] <= 600 * MIB  # needed once, as far as anybody knows
    held = [block(20) for _ in range(40)]
    held.clear()
    kept = _core.memory_stats()["reserved"]
    assert kept >= most - 40 * MIB
    held = [block(20) for _ in range(40)]
    assert _core.memory_stats()["reserved"] == max(kept, most)
    held.clear()
    for _ in range(2000):
        x = block(20)
        del x
    assert _core.memory_stats()["reserved"] <= 600 * MIB


def test_without_a_cache_nothing_is_kept():
    _core.set_memory_cache_limit(0)
    try:
        x = block(8)
        allocated = _core.memory_stats()["allocated"]
        del x
        stats = _core.memory_stats()
        assert stats["allocated"] < allocated and stats["reserved"] == stats["allocated"]
    finally:
        _core.set_memory_cache_limit(512 * MIB)
