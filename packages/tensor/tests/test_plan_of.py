"""Plans for executors: what a call needs to know, without tensors."""
import pytest

import wherry_tensor as wt
from wherry_tensor import ops
from wherry_tensor._core import float32, int64, kernel_generation, plan_of, set_number
from wherry_tensor.ops.declare import Meta
from wherry_tensor.sizes import Size

column = pytest.importorskip("wherry_ops_cpu.column", reason="plans need kernels")


def meta(*shape, dtype=float32):
    return Meta(shape, dtype)


@pytest.fixture(autouse=True)
def kernels():
    if not ops.add.kernel_dtypes():
        column.register()


def test_a_plan_knows_outputs_and_kernel():
    plan = plan_of(ops.add, (meta(2, 3), meta(3)), ())
    assert plan.outputs == (((2, 3), float32),)
    assert plan.kernel_address != 0
    assert plan.elements == 6
    assert plan.op is ops.add
    assert plan.generation == kernel_generation()
    assert "add" in repr(plan)


def test_a_kernel_that_decides_the_shape_leaves_it_open():
    assert plan_of(ops.nonzero, (meta(2, 3),), ()).outputs[0][0] is None


def test_an_op_that_only_decomposes_and_a_view_have_no_kernel():
    assert plan_of(ops.reshape, (meta(2, 3),), ((6,),)).kernel_address == 0


def test_absent_inputs_and_attributes_are_part_of_the_call():
    plan = plan_of(ops.linear, (meta(2, 3), meta(3, 4), None), ())
    assert plan.outputs == (((2, 4), float32),)
    assert plan_of(ops.full, (), ((2, 5), 1.0, int64)).outputs == (((2, 5), int64),)


@pytest.mark.parametrize(("metas", "attrs", "error", "match"), [
    ((meta(-1, 3), meta(3)), (), ValueError, "unknown size"),
    ((meta(2, 3),), (), TypeError, "inputs"),
    ((meta(2, 3), meta(4)), (), ValueError, "add"),
])
def test_what_cannot_be_planned_says_why(metas, attrs, error, match):
    with pytest.raises(error, match=match):
        plan_of(ops.add, metas, attrs)


def test_sizes_of_a_capture_have_to_be_replaced_first():
    with pytest.raises(RuntimeError, match="sizes.resolved"):
        plan_of(ops.full, (), ((Size("value", wt.ones([1])),), 1.0, float32))


def test_an_unknown_device_is_refused():
    with pytest.raises(ValueError, match="quantum"):
        plan_of(ops.add, (meta(1), meta(1)), (), "quantum")


def test_a_number_is_written_in_place():
    x = wt.to_tensor(1.5)
    version, address = x.inplace_version, x.data_ptr()
    set_number(x, 2.5)
    assert x.item() == 2.5 and x.data_ptr() == address and x.inplace_version == version + 1
    with pytest.raises(ValueError, match="0-d"):
        set_number(wt.ones([2]), 1.0)


def test_ops_declare_effects_and_inputs_of_which_only_the_shape_is_used():
    assert ops.dropout.effects == ("random",) and ops.uniform.random and not ops.add.effects
    assert ops.adam.effects == ("in-place",)
    assert ops.full_like.uses_shape_only(0)
    assert ops.embedding_vjp.uses_shape_only(2) and not ops.embedding_vjp.uses_shape_only(1)
    assert ops.reshape.size_attrs == ("shape",)


@pytest.mark.parametrize("effects", ["speed", "random, noise"])
def test_unknown_effects_are_refused(effects):
    from wherry_tensor.ops.declare import op

    with pytest.raises(ValueError, match="effect"):
        op("never_declared", "x", effects=effects)


class Bound:
    def __init__(self, address):
        self.address = address


def test_a_bound_kernel_serves_the_calls_that_it_is_bound_for():
    from wherry_tensor import _core
    from wherry_tensor.ops.declare import op

    probe = op("bound_probe", "x", axis=int)

    @wt.ops.declare.infer.rule(probe)
    def infer_bound_probe(x, *, axis):
        return x

    asked = []

    def bind(inputs, outputs, attrs):
        asked.append((inputs, outputs, attrs))
        return Bound(64) if attrs["axis"] == 0 else None

    _core.register_bound_kernel("cpu", probe, [float32], plan_of(ops.exp, (meta(2),), ()).kernel_address, bind)
    assert plan_of(probe, (meta(2, 3),), (0,)).kernel_address != 0
    assert asked == [((meta(2, 3),), (meta(2, 3),), {"axis": 0})]
    with pytest.raises(NotImplementedError, match="no float32 kernel for 'bound_probe'"):
        plan_of(probe, (meta(2, 3),), (1,))
    with pytest.raises(NotImplementedError, match="no int64 kernel"):
        plan_of(probe, (meta(2, dtype=int64),), (0,))
    assert len(asked) == 2
