"""In-place writes: what they do to the tape, and what is refused."""
import pytest

from small_tensors import make, total
from wherry_autograd import no_grad
from wherry_tensor import ops


def test_a_leaf_that_requires_gradients_cannot_be_written(x):
    with pytest.raises(ValueError, match=r"add: a leaf Tensor \(.*\) that doesn't stop gradient can't use inplace strategy"):
        ops.add.into((x,), x, make([1.0]))
    with pytest.raises(ValueError, match="add_: a leaf that asks for gradients cannot be written in place"):
        x.add_(make([1.0]))
    with no_grad():
        x.add_(make([1.0]))
    assert x.numpy().tolist() == [2, 3, 4]


def test_in_place_on_an_intermediate_is_recorded(x):
    y = x * 2
    y.add_(make([1.0]))
    total(y * y).backward()
    assert x.grad.numpy().tolist() == [12, 20, 28]


def test_in_place_with_a_tensor_that_requires_gradients(x):
    data = make([10.0, 20.0, 30.0])
    data.add_(x)
    assert not data.stop_gradient
    total(data).backward()
    assert x.grad.numpy().tolist() == [1, 1, 1]


def test_in_place_op_whose_rule_keeps_its_output(x):
    y = x * 2
    ops.exp.into((y,), y)
    total(y).backward()
    assert x.grad.numpy().tolist() == pytest.approx([2 * 7.389056, 2 * 54.59815, 2 * 403.4288], rel=1e-6)


def test_a_kept_input_that_was_written_is_noticed(x):
    y = x * 2
    z = ops.exp(y) * y
    y.add_(make([1.0]))
    with pytest.raises(RuntimeError, match=r"backward of 'multiply'.*modified in place.*version 1.*version 0.*clone"):
        total(z).backward()


def test_a_kept_output_that_was_written_is_noticed(x):
    y = ops.exp(x)
    y.add_(make([1.0]))
    with pytest.raises(RuntimeError, match="backward of 'exp': its output was modified in place"):
        total(y).backward()


def test_an_op_may_overwrite_what_its_own_gradient_needs(x, y):
    z = x * 2
    z.multiply_(y)
    total(z).backward()
    assert x.grad.numpy().tolist() == [8, 10, 12]
    assert y.grad.numpy().tolist() == [2, 4, 6]


def test_data_may_be_overwritten_by_what_needs_its_old_values(x):
    data = make([10.0, 20.0, 30.0])
    data.multiply_(x)
    total(data).backward()
    assert x.grad.numpy().tolist() == [10, 20, 30]


def test_writing_an_input_whose_values_no_rule_needs_is_fine(x):
    y = x * 2
    z = y + 1
    w = y * 3  # keeps the 3, not y: nobody wants a gradient of 3
    y.add_(make([1.0]))
    total(z + w).backward()
    assert x.grad.numpy().tolist() == [8, 8, 8]


def test_overwriting_with_a_constant_cuts_the_history(x):
    y = x * 2
    ops.full_like.into((y,), y, value=1.0, dtype=y.dtype)
    assert y.stop_gradient and y.is_leaf


def test_a_failed_in_place_write_leaves_the_tape_alone(x):
    y = x * 2
    with pytest.raises((ValueError, TypeError)):
        ops.add.into((y,), y, make([[1.0, 2.0], [3.0, 4.0]]))
    total(y).backward()
    assert x.grad.numpy().tolist() == [2, 2, 2]
