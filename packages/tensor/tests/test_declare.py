import copy
import pickle
import re

import pytest

import wherry_tensor
from wherry_tensor import _core, columns, ops
from wherry_tensor._core import float32, float64
from wherry_tensor.ops import declare
from wherry_tensor.ops.declare import Meta, Scalar
from wherry_tensor.sizes import Size


def test_op_knows_its_inputs_attributes_and_outputs():
    assert ops.layer_norm.inputs == (("x", False, False), ("scale", True, False), ("bias", True, False))
    assert ops.layer_norm.attr_names == ("epsilon", "begin_axis")
    assert ops.layer_norm.attr_types == (float, int)
    assert ops.layer_norm.outputs == ("out", "mean", "rstd")
    assert ops.concat.inputs == (("xs", False, True),)
    assert ops.full.attr_types[1] is Scalar
    assert ops.reshape.view and not ops.add.view


def test_every_op_is_in_the_registry_under_its_name_and_pickles_to_itself():
    for name, op in ops.registry.items():
        assert op.name == name
        assert getattr(ops, name) is op
        assert pickle.loads(pickle.dumps(op)) is op


def test_declaration_is_found_again():
    assert re.search(r"ops/normalization\.py:\d+$", declare.where_declared(ops.softmax).replace("\\", "/"))
    assert declare.family_of(ops.softmax) == "normalization"


def test_second_declaration_of_a_name_is_refused():
    with pytest.raises(ValueError, match=r"op 'add' is declared already.*elementwise\.py:\d+"):
        declare.op("add", "x, y")


def test_attribute_that_is_not_plain_data_is_refused():
    with pytest.raises(TypeError, match="attribute 'weights' cannot be of this type"):
        declare.op("no_such_op", "x", weights=list)
    assert "no_such_op" not in ops.registry


def test_meta_compares_hashes_and_prints_by_value():
    meta = Meta([2, -1], float32)
    assert meta == Meta((2, -1), float32) != Meta((2, -1), float64)
    assert len({meta, Meta((2, -1), float32)}) == 1
    assert repr(meta) == "Meta([2, -1], float32)"
    assert (meta.rank, meta.size, Meta((2, 3), float32).size) == (2, -1, 6)
    assert copy.deepcopy(meta) == pickle.loads(pickle.dumps(meta)) == meta


def test_meta_is_immutable():
    with pytest.raises(AttributeError, match="Meta is immutable"):
        Meta((), float32).shape = (1,)


def test_an_op_of_a_newer_package_names_what_to_upgrade():
    with pytest.raises(AttributeError, match=r"no op 'add_of_tomorrow'.*pip install --upgrade wherry-tensor"):
        ops.add_of_tomorrow  # noqa: B018  asking for it is the point


@pytest.fixture
def undeclared():
    """Names of ops that a test declares, taken back afterwards."""
    names = []
    yield names
    for name in names:
        made = ops.registry.pop(name)
        for column in columns.registry.values():
            column.rules.pop(made, None)
        declare._declared.pop(made)


def test_view_op_of_another_package_shares_memory_and_copies_where_it_cannot(undeclared):
    pairs = declare.op("pairs_of_tests", "x", view=True)
    undeclared.append("pairs_of_tests")
    with pytest.raises(NotImplementedError, match="no view rule for 'pairs_of_tests'.*column 'view'"):
        pairs(wherry_tensor.arange(6))

    @declare.infer.rule(pairs)
    def infer_pairs(x):
        return Meta((x.shape[0] // 2, 2), x.dtype)

    @declare.view.rule(pairs)
    def view_pairs(x):
        return ((x.shape[0] // 2, 2), (2, 1), 0) if x.strides == (1,) else None

    x = wherry_tensor.arange(6)
    y = pairs(x)
    assert y.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert y._shares_memory_with(x)
    backwards = x[::-1]
    assert pairs(backwards).tolist() == [[5, 4], [3, 2], [1, 0]]
    assert not pairs(backwards)._shares_memory_with(x)


def test_view_rule_that_leaves_the_memory_is_refused(undeclared):
    beyond = declare.op("beyond_of_tests", "x", view=True)
    undeclared.append("beyond_of_tests")
    declare.infer.rule(beyond)(lambda x: x)
    declare.view.rule(beyond)(lambda x: ((4,), (1,), 1))
    with pytest.raises(ValueError, match="outside of the memory of x"):
        beyond(wherry_tensor.arange(4))


def test_a_rule_that_lets_a_negative_size_pass_does_not_reach_the_kernel(monkeypatch):
    monkeypatch.setitem(declare.infer.rules, ops.eye, lambda *, rows, columns, dtype: Meta((rows, columns), dtype))
    with pytest.raises(ValueError, match="eye: a size of the result is negative"):
        ops.eye(rows=-1, columns=37, dtype=float32)


def test_what_a_shape_rule_gave_is_given_again_for_the_same_question_only():
    x, y = (_core.symbolic((-1, n), _core.float32) for n in (4, 5))
    first = ops.reduce_sum.infer((x,), ((1,), True))
    assert first[0].shape == (-1, 1) and ops.reduce_sum.infer((x,), ((1,), True)) is first
    assert ops.reduce_sum.infer((x,), ((1,), False))[0].shape == (-1,)
    assert ops.concat.infer((x, y), (1,))[0].shape == (-1, 9) and ops.concat.infer((x, x), (1,))[0].shape == (-1, 8)
    with pytest.raises(TypeError, match="keepdim"):  # equal to True, and no bool
        ops.reduce_sum.infer((x,), ((1,), 1.0))
    with pytest.raises(ValueError, match="axis"):
        ops.concat.infer((x, y), (2,))


def test_attributes_with_open_sizes_are_asked_each_time():
    x = _core.symbolic((-1, 4), _core.float32)
    n = Size("axis", x, 0)
    assert _core.hold_sizes(((n, 4),)) and _core.hold_sizes((n,)) and not _core.hold_sizes(((1, 2), 3, "NCHW", None))
    assert ops.reshape.infer((x,), ((n, 2, 2),))[0].shape == (-1, 2, 2)
    assert ops.reshape.infer((x,), ((-1, 2, 2),))[0].shape == (-1, 2, 2)
