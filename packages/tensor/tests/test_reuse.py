"""Tensor objects that nobody holds serve for the next tensor: nothing of the old one may show in the new one."""
import gc
import weakref

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import _core, ops


@pytest.fixture
def x():
    return w.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))


def address_of_a_dead_one(x, mark) -> int:
    """Where a tensor lay that `mark` was done to."""
    y = ops.add(x, x)
    mark(y)
    return id(y)


@pytest.mark.parametrize("mark", [
    lambda y: None,
    lambda y: setattr(y, "note", "mine"),
    lambda y: setattr(y, "name", "first"),
    lambda y: setattr(y, "stop_gradient", False),
    lambda y: setattr(y, "persistable", True),
    lambda y: setattr(y, "grad", ops.add(y, y)),
    lambda y: weakref.ref(y),
])
def test_new_tensors_carry_nothing_of_those_whose_place_they_take(x, mark):
    addresses = {address_of_a_dead_one(x, mark) for _ in range(200)}
    fresh = [ops.add(x, x) for _ in range(300)]
    assert len(addresses) < 100
    for t in fresh:
        assert t.__dict__ == {} and t.stop_gradient and not t.persistable and t.grad is None
        assert t.name != "first" and weakref.getweakrefcount(t) == 0
        assert t.shape == [2, 3] and (t.numpy() == 2 * x.numpy()).all()


def test_attributes_of_a_result_live_as_long_as_the_result(x):
    y = ops.add(x, x)
    assert y.__dict__ == {}
    y.note = [1]
    assert y.note == [1] and vars(y) == {"note": [1]}
    held = weakref.ref(y)
    del y
    assert held() is None
    with pytest.raises(AttributeError, match="note"):
        ops.add(x, x).note  # noqa: B018


def test_results_are_seen_by_the_garbage_collector_again_and_again(x):
    for _ in range(300):
        y = ops.add(x, x)
        y.me = y
        held = weakref.ref(y)
        del y
    gc.collect()
    assert held() is None


def test_instances_of_subclasses_do_not_serve_for_plain_tensors(x):
    class Mine(w.Tensor):
        pass

    for _ in range(300):
        mine = Mine()
        mine._share_data_with(x)
        assert type(ops.add(mine, mine)) is w.Tensor
    assert all(type(ops.add(x, x)) is w.Tensor for _ in range(300))


def test_memory_that_was_lent_goes_back_although_an_exception_is_on_its_way(x):
    lent = [np.zeros(4, dtype="float32")]
    held = weakref.ref(lent[0])

    def failing():
        y = _core.share_buffer(lent.pop())
        assert y.shape == [4]
        raise ZeroDivisionError("on its way")

    with pytest.raises(ZeroDivisionError, match="on its way"):
        failing()
    gc.collect()
    assert held() is None


def test_the_plan_used_last_is_not_taken_for_other_shapes_dtypes_or_attributes(x):
    row, column = x[0], w.to_tensor(np.ones((2, 1), dtype="float32"))
    whole = w.to_tensor(np.arange(6, dtype="int64").reshape(2, 3))
    for _ in range(3):
        assert ops.add(x, x).shape == [2, 3]
        assert ops.add(x, row).shape == [2, 3] and ops.add(row, row).shape == [3] and ops.add(row, column).shape == [2, 3]
        assert ops.add(whole, whole).dtype.name == "int64"
        assert ops.softmax(x, axis=0).numpy().sum(0) == pytest.approx([1, 1, 1], rel=1e-6)
        assert ops.softmax(x, axis=1).numpy().sum(1) == pytest.approx([1, 1], rel=1e-6)
        assert ops.reduce_sum(x, axes=(1,), keepdim=True).shape == [2, 1]
        assert ops.reduce_sum(x, axes=(1,), keepdim=False).shape == [2]
        assert ops.clip(x, None, x).shape == ops.clip(x, x, None).shape == [2, 3]
        assert (ops.clip(x, None, column).numpy() == np.minimum(x.numpy(), 1)).all()
        assert (ops.clip(x, column, None).numpy() == np.maximum(x.numpy(), 1)).all()
        assert ops.concat(x, x, axis=0).shape == [4, 3] and ops.concat(x, x, x, axis=0).shape == [6, 3]
