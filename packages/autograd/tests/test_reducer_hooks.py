"""What a reducer of gradients needs: hooks after accumulation, the end of a pass, buffers, memory."""
import numpy as np
import pytest

import wherry_autograd as ag
import wherry_tensor as wt
from wherry_tensor import _core, ops


def leaf(*values):
    x = wt.to_tensor(list(values))
    x.stop_gradient = False
    return x


def test_a_post_accumulate_hook_sees_the_sum_once_a_pass():
    x, seen = leaf(1.0, 2.0), []
    x.register_post_accumulate_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    (x * 2 + x * 3).sum().backward()
    (x * 1).sum().backward()
    assert seen == [(True, [5.0, 5.0]), (True, [6.0, 6.0])]


def test_hooks_before_and_after_accumulation_keep_their_order():
    x, seen = leaf(1.0), []
    x.register_post_accumulate_hook(lambda p: seen.append(("after", p.grad.tolist())))
    x.register_hook(lambda g: seen.append(("before", g.tolist())) or g * 10)
    (x * 2).sum().backward()
    assert seen == [("before", [2.0]), ("after", [20.0])]


def test_a_removed_hook_is_not_called_and_paddles_name_takes_no_argument():
    x, seen = leaf(1.0), []
    handle = x.register_post_accumulate_hook(lambda p: seen.append("gone"))
    assert handle.remove()
    assert isinstance(x._register_backward_hook(lambda: seen.append("paddle")), int)
    x.backward()
    assert seen == ["paddle"]


def test_grad_calls_no_hooks():
    x, seen = leaf(1.0), []
    x.register_post_accumulate_hook(seen.append)
    ag.grad(x * 2, x)
    assert not seen


@pytest.mark.parametrize("make", [lambda: wt.to_tensor([1.0]), lambda: leaf(1.0) * 2])
def test_only_leaves_that_ask_for_gradients_take_such_hooks_and_buffers(make):
    with pytest.raises(RuntimeError, match="only a leaf"):
        make().register_post_accumulate_hook(print)
    with pytest.raises(RuntimeError, match="only a leaf"):
        make().set_grad_buffer(wt.ones([1]))


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="function of the tensor"):
        leaf(1.0).register_post_accumulate_hook(3)
    with pytest.raises(TypeError, match="function of the error"):
        ag.at_end_of_backward(None)


def test_the_end_of_a_pass_is_told_once_also_where_it_fails():
    ends = []
    handle = ag.at_end_of_backward(ends.append)
    try:
        x = leaf(1.0)
        y = leaf(2.0)

        @y.register_post_accumulate_hook
        def pass_inside_of_a_pass(p):
            with ag.enable_grad():
                (leaf(3.0) * 1).sum().backward()

        (x * y).sum().backward()
        assert ends == [None]

        def fails(p):
            raise ArithmeticError("a rank is gone")

        x.register_post_accumulate_hook(fails)
        with pytest.raises(ArithmeticError, match="rank"):
            (x * 2).sum().backward()
        assert len(ends) == 2 and isinstance(ends[1], ArithmeticError)
        used = leaf(1.0)
        loss = (used * used).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="used already"):
            loss.backward()
        assert isinstance(ends[-1], RuntimeError)
        ag.grad((y * 2).sum(), y)
        assert len(ends) == 4
    finally:
        assert handle.remove()
    leaf(1.0).backward()
    assert len(ends) == 4


def test_what_the_end_raises_reaches_the_caller():
    def ends(error):
        raise TimeoutError("a bucket did not come")

    handle = ag.at_end_of_backward(ends)
    try:
        with pytest.raises(TimeoutError, match="bucket"):
            leaf(1.0).backward()
    finally:
        handle.remove()


def test_gradients_are_written_into_a_buffer_and_stay_there():
    bucket = wt.zeros([5])
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0, 5.0)
    x.set_grad_buffer(bucket[:2])
    y.set_grad_buffer(bucket[2:])
    for factor in (3.0, 7.0):
        bucket.fill_(99.0)
        ((x * factor).sum() + (y * 2).sum()).backward()
        assert bucket.tolist() == [factor, factor, 2.0, 2.0, 2.0]
        assert x.grad._shares_memory_with(bucket)
        x.clear_gradient(set_to_zero=False)
        y.clear_gradient(set_to_zero=False)
        assert x.grad is None and x.grad_buffer() is not None
    (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert bucket.tolist()[:2] == [2.0, 2.0]
    x.clear_gradient()
    assert bucket.tolist()[:2] == [0.0, 0.0] and x.grad.tolist() == [0.0, 0.0]
    (x * 4).sum().backward()
    assert bucket.tolist()[:2] == [4.0, 4.0]
    x.set_grad_buffer(None)
    x.clear_gradient(set_to_zero=False)
    (x * 5).sum().backward()
    assert bucket.tolist()[:2] == [4.0, 4.0] and x.grad.tolist() == [5.0, 5.0]


def test_a_broadcast_gradient_fills_a_buffer():
    buffer = wt.ones([2, 3])
    x = wt.ones([2, 3])
    x.stop_gradient = False
    x.set_grad_buffer(buffer)
    x.sum().backward()
    x.sum().backward()
    assert buffer.tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize("buffer", [
    lambda: wt.ones([3]), lambda: wt.ones([2], "float64"), lambda: wt.ones([4])[::2], lambda: [1.0, 2.0],
    lambda: leaf(1.0, 2.0) * 1,
])
def test_a_buffer_that_does_not_fit_is_refused(buffer):
    with pytest.raises(ValueError, match="contiguous Tensor of shape \\[2\\]"):
        leaf(1.0, 2.0).set_grad_buffer(buffer())


def test_second_derivatives_do_not_touch_buffers():
    x = leaf(3.0)
    x.set_grad_buffer(wt.zeros([1]))
    (dx,) = ag.grad(x * x * x, x, create_graph=True)
    (ddx,) = ag.grad(dx, x)
    assert ddx.tolist() == [18.0] and x.grad is None


def test_memory_says_where_elements_lie_and_writes_from_outside_are_told():
    x = wt.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    memory = x.memory()
    assert (memory.address, memory.count, memory.contiguous, memory.nbytes) == (x.data_ptr(), 6, True, 24)
    assert memory.shape == (2, 3) and memory.strides == (3, 1) and memory.dtype is wt.float32
    assert not ops.transpose(x, perm=(1, 0)).memory().contiguous
    y = leaf(2.0)
    z = y * y
    y.mark_written()
    with pytest.raises(RuntimeError, match="modified in place"):
        z.backward()


def test_a_gradient_that_was_set_by_hand_is_added_and_moves_into_the_buffer():
    x, buffer = leaf(1.0, 2.0), wt.zeros([2])
    x.set_grad_buffer(buffer)
    x.grad = wt.to_tensor([10.0, 20.0])
    (x * 3).sum().backward()
    assert buffer.tolist() == [13.0, 23.0] and x.grad is buffer


def test_passes_of_several_threads_add_up_in_the_buffer():
    import threading

    x, buffer = wt.ones([300_000]), wt.zeros([300_000])
    x.stop_gradient = False
    x.set_grad_buffer(buffer)
    passes = [threading.Thread(target=lambda: [(x * 2).sum().backward() for _ in range(5)]) for _ in range(4)]
    for one in passes:
        one.start()
    for one in passes:
        one.join()
    assert x.grad is buffer and buffer.min().item() == buffer.max().item() == 40.0

def test_every_callback_runs_and_the_first_error_is_raised():
    seen = []

    def fails(name):
        def end(error):
            seen.append((name, type(error).__name__))
            raise OSError(name)
        return end

    handles = [ag.at_end_of_backward(fails("one")), ag.at_end_of_backward(fails("two")), ag.at_end_of_backward(lambda e: seen.append("last"))]
    try:
        with pytest.raises(OSError, match="one") as caught:
            leaf(1.0).backward()
        assert seen == [("one", "NoneType"), ("two", "NoneType"), "last"]
        assert "raised OSError: two" in caught.value.__notes__[0]
        x = leaf(1.0)
        x.register_post_accumulate_hook(lambda p: 1 / 0)
        with pytest.raises(ZeroDivisionError) as caught:
            x.backward()
        assert seen[3:] == [("one", "ZeroDivisionError"), ("two", "ZeroDivisionError"), "last"] and len(caught.value.__notes__) == 2
    finally:
        for handle in handles:
            handle.remove()


def test_a_callback_belongs_to_its_thread():
    import threading

    here, there = [], []
    handle = ag.at_end_of_backward(here.append)

    def other():
        ag.at_end_of_backward(there.append)
        leaf(1.0).backward()

    try:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert there == [None] and not here
        leaf(1.0).backward()
        assert there == [None] and here == [None]
    finally:
        handle.remove()


def test_a_callback_that_a_hook_sets_belongs_to_the_pass():
    x, ends = leaf(1.0), []
    hook = x.register_post_accumulate_hook(lambda p: ag.at_end_of_backward(ends.append))
    (x * 2).sum().backward()
    assert ends == [None]
    hook.remove()
    (x * 2).sum().backward()
    assert ends == [None]
    other = leaf(2.0)

    @other.register_post_accumulate_hook
    def a_pass_inside(p):
        x.register_post_accumulate_hook(lambda p: ag.at_end_of_backward(ends.append))
        with ag.enable_grad():
            (x * 3).sum().backward()
        assert ends == [None]  # it is part of the outer one

    (other * 2).sum().backward()
    assert ends == [None, None]



def square(n=320):
    x = wt.to_tensor(np.random.default_rng(n).standard_normal((n, n), dtype=np.float32))
    x.stop_gradient = False
    return x


@pytest.fixture
def on_the_cpu():
    """Of its memory statistics say what was made, and its addresses can be written to."""
    device = wt.get_device()
    wt.set_device("cpu")
    yield
    wt.set_device(device)


def made_by(backward):
    """Bytes that a backward pass had beside what was there before, at most."""
    _core.reset_peak_memory_stats()
    before = _core.memory_stats()["allocated"]
    backward()
    return _core.memory_stats()["peak_allocated"] - before


def test_the_kernel_writes_the_first_gradient_into_the_buffer(on_the_cpu):
    w, bucket = square(), wt.zeros([2 * 320 * 320])
    w.set_grad_buffer(bucket[320 * 320:].reshape([320, 320]))
    x = wt.ones([4, 320]) * 0.5
    expected = (x.numpy().T @ np.ones((4, 320), np.float32))
    made = []
    for _ in range(3):
        y = (x @ w).sum()
        bucket.fill_(np.nan)
        made.append(made_by(y.backward))
        np.testing.assert_array_equal(w.grad.numpy(), expected)
        assert w.grad is w.grad_buffer()
        w.clear_grad(set_to_zero=False)
        assert w.grad is None and w.grad_buffer() is not None
    assert made[0] >= 4 * 320 * 320 > made[1] == made[2]  # the first call learns which op it is


@pytest.mark.parametrize("case", ["both", "shared", "hook", "chain", "buffer is read", "turned", "first of two", "graph"])
def test_gradients_in_buffers_equal_those_without(case):
    side = 320 if wt.get_device() == "cpu" else 48  # an emulated device takes seconds for the larger one

    def gradients(slots):
        a, b = square(side), square(side) * 0.5
        b = b.detach()
        b.stop_gradient = False
        bucket = wt.zeros([2 * side * side])
        buffers = bucket[:side * side].reshape([side, side]), bucket[side * side:].reshape([side, side])
        if slots:
            a.set_grad_buffer(buffers[0])
            if case not in ("first of two", "buffer is read"):
                b.set_grad_buffer(buffers[1])
        if case == "hook":
            a.register_hook(lambda g: g * 3)
        found = []
        for turn in range(3):
            if a.grad is None:
                bucket.fill_(0.25)
            if case == "shared":
                loss = ((a @ b) @ a).sum()
            elif case == "chain":
                loss = (a / b).sum()
            elif case == "buffer is read":
                loss = (buffers[0] @ a @ b).sum()
            elif case == "turned":
                loss = (ops.matmul(a, b, transpose_x=turn == 1, transpose_y=turn == 2)).sum()
            else:
                loss = (a @ b).sum()
            loss.backward(retain_graph=case == "graph")
            if case == "graph":
                loss.backward()
            found += [a.grad.numpy().copy(), b.grad.numpy().copy()]
            assert not slots or a.grad is buffers[0]
            a.clear_grad(set_to_zero=turn == 1 and case != "buffer is read")
            b.clear_grad(set_to_zero=turn == 1 and case != "buffer is read")
        return found

    for got, expected in zip(gradients(True), gradients(False), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)  # where two gradients are added, their order may differ


def test_a_pass_that_fails_leaves_the_buffer_usable():
    a, b = square(), leaf(2.0)
    a.set_grad_buffer(wt.zeros([320, 320]))
    handle = b.register_hook(lambda g: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            ((a @ wt.ones([320, 4])).sum() * b).sum().backward()
        a.clear_grad(set_to_zero=False)
    handle.remove()
    ((a @ wt.ones([320, 4])).sum() * b).sum().backward()
    assert a.grad is a.grad_buffer() and a.grad.min().item() == a.grad.max().item() == 8.0


def test_buffers_and_memory_on_another_device(on_the_cpu):
    from wherry_tensor.testing import reference

    if reference.compiler() is None:
        pytest.skip("the reference device needs a C compiler")
    reference.register()
    ends = []
    handle = ag.at_end_of_backward(ends.append)
    try:
        w = square().detach().to("reference")
        w.stop_gradient = False
        bucket = wt.zeros([320 * 320]).to("reference")
        w.set_grad_buffer(bucket.reshape([320, 320]))
        assert bucket.memory().device == "reference:0" and wt.ones([1]).memory().device == "cpu"
        for _ in range(3):
            (wt.ones([4, 320]).to("reference") @ w).sum().backward()
            assert bucket.numpy().min() == bucket.numpy().max() == 4.0 and w.grad is w.grad_buffer()
            w.clear_grad(set_to_zero=False)
    finally:
        handle.remove()
    assert ends == [None] * 3


def test_memory_marks_bools_as_written_from_outside(on_the_cpu):
    import ctypes

    x = wt.to_tensor([True, False, False])
    ctypes.memset(x.memory().address + 1, 2, 1)
    x.mark_written()
    assert x.astype("int32").tolist() == [1, 1, 0]
