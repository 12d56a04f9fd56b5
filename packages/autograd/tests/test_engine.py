"""The engine: values, accumulation, freeing, what keeps gradients and what does not."""
import gc

import numpy as np
import pytest

from small_tensors import make, total
from wherry_autograd import backward, grad, is_grad_enabled
from wherry_tensor import _core, ops


def test_backward_through_sum_and_products(x, y):
    total(x * y + x).backward()
    assert x.grad.numpy().tolist() == [5, 6, 7]
    assert y.grad.numpy().tolist() == [1, 2, 3]


def test_backward_of_a_non_scalar_starts_from_ones(x):
    (x * x).backward()
    assert x.grad.numpy().tolist() == [2, 4, 6]


def test_backward_from_a_given_cotangent(x):
    (x * x).backward(make([1.0, 10.0, 100.0]))
    assert x.grad.numpy().tolist() == [2, 40, 600]


def test_a_cotangent_of_another_dtype_is_cast(x):
    (x * x).backward(make([1.0, 1.0, 1.0], dtype="float64"))
    assert x.grad.dtype.name == "float32"


def test_backward_of_a_leaf_is_ones(x):
    x.backward()
    assert x.grad.numpy().tolist() == [1, 1, 1]


def test_backward_of_a_tensor_that_stops_gradients_does_nothing(x):
    make([1.0]).backward()
    (x.detach() * 2).backward()
    assert x.grad is None


def test_gradients_accumulate_over_backward_calls(x):
    (x * 2).backward()
    held = x.grad
    (x * 3).backward()
    assert x.grad.numpy().tolist() == [5, 5, 5]
    assert held.numpy().tolist() == [5, 5, 5]  # in place, as in Paddle


def test_a_tensor_used_twice_gets_the_sum(x):
    total(x + x).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]


def test_gradients_of_two_leaves_never_share_memory(x, y):
    (x + y).backward()
    assert not x.grad._shares_memory_with(y.grad)
    (x * 2).backward()
    assert y.grad.numpy().tolist() == [1, 1, 1]


def test_a_gradient_does_not_share_memory_with_the_given_cotangent(x):
    ct = make([1.0, 1.0, 1.0])
    (x + 0).backward(ct)
    (x + 0).backward(ct)
    assert ct.numpy().tolist() == [1, 1, 1]
    assert x.grad.numpy().tolist() == [2, 2, 2]


def test_broadcast_axes_are_summed_back():
    row = make([1.0, 2.0], requires_grad=True)
    column = make([[1.0], [2.0], [3.0]], requires_grad=True)
    scalar = make(2.0, requires_grad=True)
    total(row * column * scalar).backward()
    assert row.grad.numpy().tolist() == [12, 12]
    assert column.grad.numpy().tolist() == [[6], [6], [6]]
    assert scalar.grad.numpy().tolist() == 18


def test_cotangents_take_the_dtype_of_the_input():
    x = make([1.0, 2.0], requires_grad=True)
    wide = ops.cast(x, dtype=_core.float64)
    total(wide * wide).backward()
    assert x.grad.dtype.name == "float32"
    assert x.grad.numpy().tolist() == [2, 4]


def test_gradients_pass_an_integer_cast_as_in_paddle():
    x = make([1.5, 2.0], requires_grad=True)
    total(ops.cast(x, dtype=_core.int32)).backward()
    assert x.grad.numpy().tolist() == [1, 1]


def test_intermediate_gradients_are_kept_only_on_request(x):
    middle = x * 2
    kept = middle * 3
    kept.retain_grads()
    total(kept).backward()
    assert middle.grad is None
    assert kept.grad.numpy().tolist() == [1, 1, 1]
    assert x.grad.numpy().tolist() == [6, 6, 6]


def test_retain_grads_of_a_tensor_that_is_gone_is_harmless(x):
    middle = x * 2
    middle.retain_grads()
    loss = total(middle)
    del middle
    loss.backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]


def test_the_gradient_does_not_stop_gradients_as_in_paddle(x):
    total(x).backward()
    assert x.grad.stop_gradient is False
    assert x.grad.is_leaf


def test_second_backward_needs_retain_graph(x):
    loss = total(x * x)
    loss.backward()
    with pytest.raises(RuntimeError, match=r"reduce_sum.*freed.*retain_graph=True"):
        loss.backward()


def test_retain_graph_allows_a_second_backward(x):
    loss = total(x * x)
    loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.numpy().tolist() == [4, 8, 12]


def test_a_shared_part_cannot_be_walked_after_it_was_freed(x):
    shared = x * x
    first, second = total(shared), total(shared * 2)
    first.backward()
    with pytest.raises(RuntimeError, match="multiply"):
        second.backward()


def test_saved_tensors_are_freed_by_backward(x):
    before = _core.memory_stats()["allocated"]
    loss = total(ops.exp(x * 2) * x)
    loss.backward()
    x.grad = None
    assert _core.memory_stats()["allocated"] - before <= 64  # the loss itself


def test_stopping_a_leaf_after_its_use_changes_nothing(x):
    y = x * 2
    x.stop_gradient = True
    y.backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]


def test_stopping_an_intermediate_cuts_what_is_computed_from_it(x):
    middle = x * 2
    middle.stop_gradient = True
    assert (middle * 3).stop_gradient
    assert not middle.is_leaf


def test_detach_shares_memory_and_history_ends(x):
    y = x * 2
    z = y.detach()
    assert z.stop_gradient and z.is_leaf and z._shares_memory_with(y)
    assert y.detach_() is y
    assert y.stop_gradient and y.is_leaf


def test_grad_fn_names_the_op(x):
    assert (x * 2).grad_fn.name() == "multiply"
    assert x.grad_fn is None


def test_gradient_is_a_numpy_array_or_none(x):
    assert x.gradient() is None
    total(x).backward()
    assert isinstance(x.gradient(), np.ndarray)
    x.clear_grad()
    assert x.gradient().tolist() == [0, 0, 0]


def test_clear_grad_fills_with_zeros_and_clear_gradient_may_forget(x):
    x.clear_grad()
    assert x.grad is None
    total(x).backward()
    x.clear_gradient()
    assert x.grad.numpy().tolist() == [0, 0, 0]
    x.clear_gradient(False)
    assert x.grad is None


@pytest.mark.parametrize(
    ("cotangent", "match"),
    [(np.ones(3), r"must be Tensor\. Got ndarray"), (make([1.0]), r"does not match\. Got \[1\], expected \[3\]")],
)
def test_backward_refuses_a_bad_cotangent(x, cotangent, match):
    with pytest.raises(AssertionError, match=match):
        (x * 2).backward(cotangent)


# backward() of several tensors.


def test_backward_of_several_roots(x):
    backward([x * 2, x * 3], [None, make([1.0, 2.0, 3.0])])
    assert x.grad.numpy().tolist() == [5, 8, 11]


def test_a_root_may_lead_to_another_root(x):
    inner = x * 2
    backward([inner * 3, inner])
    assert x.grad.numpy().tolist() == [8, 8, 8]


def test_backward_refuses_what_is_not_a_list_of_different_tensors(x):
    y = x * 2
    with pytest.raises(AssertionError, match=r"must be a Tensor or a list of Tensors. Got int"):
        backward(3)
    with pytest.raises(AssertionError, match="contains a tensor twice"):
        backward([y, y])
    with pytest.raises(AssertionError, match=r"length of `grad_tensors`.*Got 1, expected 2"):
        backward([x * 2, x * 3], [None])


# grad().


def test_grad_leaves_grad_alone(x):
    (g,) = grad(total(x * x), x)
    assert g.numpy().tolist() == [2, 4, 6]
    assert g.stop_gradient
    assert x.grad is None


def test_grad_keeps_the_graph_unless_told_otherwise(x):
    loss = total(x * x)
    grad(loss, x)
    grad(loss, x, retain_graph=False)
    with pytest.raises(RuntimeError, match="freed"):
        grad(loss, x)


def test_grad_of_intermediates_and_leaves(x):
    y = x * 2
    gy, gx = grad(total(y * y), [y, x])
    assert gy.numpy().tolist() == [4, 8, 12]
    assert gx.numpy().tolist() == [8, 16, 24]


def test_grad_with_cotangents(x):
    (g,) = grad([x * x, x * 3], x, [None, make([3.0, 3.0, 3.0])])
    assert g.numpy().tolist() == [11, 13, 15]


def test_grad_of_a_tensor_by_itself_is_ones(x):
    (g,) = grad(x, x)
    assert g.numpy().tolist() == [1, 1, 1]


def test_grad_results_do_not_share_memory(x, y):
    first, second = grad(x + y, [x, y])
    assert not first._shares_memory_with(second)


def test_unused_inputs(x, y):
    with pytest.raises(ValueError, match=r"input 1 does not appear.*allow_unused=True"):
        grad(total(x * x), [x, y])
    assert grad(total(x * x), [x, y], allow_unused=True)[1] is None
    assert grad(make([1.0]), x, allow_unused=True) == [None]


def test_no_grad_vars_block_a_path(x):
    y = x * x
    (g,) = grad(total(y * x), x, no_grad_vars=[y])
    assert g.numpy().tolist() == [1, 4, 9]
    with pytest.raises(ValueError, match="input 0 does not appear"):
        grad(total(x * x), x, no_grad_vars=x)


def test_grad_runs_only_rules_on_the_way_to_the_inputs(x, y):
    calls = []
    other = y * 2
    other.register_hook(lambda g: calls.append("other"))
    (g,) = grad(total(x * other), x)
    assert g.numpy().tolist() == [8, 10, 12]
    assert calls == []


def test_grad_refuses_bad_arguments(x):
    y = total(x * x)
    with pytest.raises(AssertionError, match="`outputs` must be"):
        grad(3, x)
    with pytest.raises(AssertionError, match="`inputs` is empty"):
        grad(y, [])
    with pytest.raises(AssertionError, match="only_inputs=False"):
        grad(y, x, only_inputs=False)
    with pytest.raises(AssertionError, match="length of `grad_outputs`"):
        grad([x * x, x * 3], x, [make([1.0, 1.0, 1.0])])


def test_second_and_third_derivatives(x):
    (first,) = grad(total(x * x * x), x, create_graph=True)
    (second,) = grad(total(first), x, create_graph=True)
    (third,) = grad(total(second), x)
    assert first.numpy().tolist() == [3, 12, 27]
    assert second.numpy().tolist() == [6, 12, 18]
    assert third.numpy().tolist() == [6, 6, 6]


def test_second_derivative_through_a_kept_output(x):
    (first,) = grad(total(ops.exp(x)), x, create_graph=True)
    (second,) = grad(total(first * first), x)
    assert np.allclose(second.numpy(), 2 * np.exp(2 * np.array([1, 2, 3])), rtol=1e-6)


def test_backward_through_a_gradient_penalty(x):
    (g,) = grad(total(x * x * x), x, create_graph=True)
    total(g * g).backward()
    assert np.allclose(x.grad.numpy(), [36, 288, 972])


def test_complex_gradients_are_conjugated_as_in_paddle():
    z = make([1 + 2j], requires_grad=True, dtype="complex64")
    (z * z).backward()
    assert z.grad.numpy().tolist() == [2 - 4j]


def test_a_real_input_gets_the_real_part():
    x = make([1.0, 2.0], requires_grad=True)
    (ops.cast(x, dtype=_core.complex64) * make([1j, 2 + 1j], dtype="complex64")).backward()
    assert x.grad.numpy().tolist() == [0, 2]


def test_zero_size_and_zero_rank():
    empty = make(np.zeros((0, 3)), requires_grad=True)
    (empty * 2).backward()
    assert empty.grad.shape == [0, 3]
    scalar = make(2.0, requires_grad=True)
    (scalar * scalar).backward()
    assert scalar.grad.numpy().tolist() == 4


def test_an_error_in_a_rule_leaves_the_engine_usable(x):
    y = x * 2
    handle = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        total(y).backward()
    assert is_grad_enabled()
    handle.remove()
    total(x * 2).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]


def test_cycles_through_hooks_are_collected(x):
    gc.collect()
    before = _core.memory_stats()["allocated"]
    for _ in range(10):
        y = ops.exp(x)
        y.register_hook(lambda g, y=y: g * y)
    del y
    gc.collect()
    assert _core.memory_stats()["allocated"] == before


def test_a_rule_that_asks_for_needs_survives_blocked_inputs(x, y):
    z = y * 2
    (g,) = grad(total(x * z), x, no_grad_vars=[z])
    assert g.numpy().tolist() == [8, 10, 12]


def test_the_gradient_can_be_set_to_a_tensor_or_none(x):
    x.grad = make([1.0, 1.0, 1.0])
    total(x).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]
    x.grad = None
    assert x.grad is None
    with pytest.raises(ValueError, match=r"must be a Tensor\. Got int"):
        x.grad = 3
