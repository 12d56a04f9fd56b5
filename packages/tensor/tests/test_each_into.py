"""Op.each_into: many groups of tensors in one call, in place."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import _core, ops


def tensors(*sizes):
    return [wt.arange(n, dtype="float32") for n in sizes]


def test_every_group_is_written_in_place():
    params, grads = tensors(3, 5, 1), tensors(3, 5, 1)
    addresses, versions = [p.data_ptr() for p in params], [p.inplace_version for p in params]
    ops.sgd.each_into((params,), (params, grads, wt.full([], 0.5, "float32")), (0.0,))
    for param, grad, address, version in zip(params, grads, addresses, versions, strict=True):
        np.testing.assert_array_equal(param.numpy(), grad.numpy() * 0.5)
        assert param.data_ptr() == address and param.inplace_version == version + 1


def test_several_outputs_and_inputs_of_their_own():
    params, velocities, grads = tensors(3, 4), [wt.ones([3]), wt.ones([4])], tensors(3, 4)
    rates = [wt.full([], 1.0, "float32"), wt.full([], 2.0, "float32")]
    ops.momentum.each_into((params, velocities), (params, velocities, grads, rates), (0.5, False, 0.0))
    for n, rate, param, velocity in zip((3, 4), (1.0, 2.0), params, velocities, strict=True):
        step = 0.5 + np.arange(n)
        np.testing.assert_array_equal(velocity.numpy(), step.astype("float32"))
        np.testing.assert_array_equal(param.numpy(), (np.arange(n) - rate * step).astype("float32"))


def test_a_result_of_another_layout_is_copied_into_its_place():
    whole = wt.zeros([3, 2])
    ops.cast.each_into(([whole[:, 1], whole[:, 0]],), (tensors(3, 3),), (_core.float32,))
    assert whole.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_nothing_is_recorded_and_leaves_may_be_written():
    (param,) = tensors(2)
    param.stop_gradient = False
    ops.multiply.each_into(([param],), ([param], wt.full([], 2.0, "float32")), ())
    assert param.is_leaf and not param.stop_gradient and param.tolist() == [0.0, 2.0]
    assert _core.is_grad_enabled()


def test_no_groups_are_no_work():
    ops.multiply.each_into(([],), ([], []), ())


def test_layers_below_see_each_op():
    seen = []

    class Layer:
        def __call__(self, op, inputs, attrs):
            return op.run(inputs, attrs)

        def into(self, op, outs, inputs, attrs):
            seen.append((op.name, [x.shape for x in inputs]))
            return outs

    layer = Layer()
    params = tensors(2, 3)
    rate = wt.full([], 1.0, "float32")
    _core.push_layer(layer)
    try:
        ops.sgd.each_into((params,), (params, params, rate), (0.0,))
    finally:
        _core.pop_layer(layer)
    assert seen == [("sgd", [[2], [2], []]), ("sgd", [[3], [3], []])]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda p, r: ops.sgd.each_into((p,), (p, p), (0.0,)), TypeError, "expected the outputs .param_out."),
        (lambda p, r: ops.sgd.each_into((p,), (p, p, r), ()), TypeError, "0 attributes"),
        (lambda p, r: ops.sgd.each_into((p,), (p, p[:1], r), (0.0,)), TypeError, "got 1 tensors as input 'grad'"),
        (lambda p, r: ops.sgd.each_into((p,), (p, [3, 4], r), (0.0,)), TypeError, "'grad' must be a Tensor"),
        (lambda p, r: ops.sgd.each_into(([1, 2],), (p, p, r), (0.0,)), TypeError, "got int to write to"),
        (lambda p, r: ops.sgd.each_into((p[0],), (p, p, r), (0.0,)), TypeError, "needs lists of one length"),
        (lambda p, r: ops.momentum.each_into((p, p[:1]), (p, p, p, r), (0.5, False, 0.0)), TypeError, "lists of one length"),
        (lambda p, r: ops.sgd.each_into((p,), (p, p[::-1], r), (0.0,)), ValueError, "`grad` and `param` must have one shape"),
        (lambda p, r: ops.sgd.each_into((p[::-1],), (p, p, r), (0.0,)), ValueError, "does not fit the tensor"),
    ],
)
def test_wrong_calls_say_what_was_expected(call, error, match):
    with pytest.raises(error, match=match):
        call(tensors(2, 3), wt.full([], 0.5, "float32"))
    assert _core.is_grad_enabled()
