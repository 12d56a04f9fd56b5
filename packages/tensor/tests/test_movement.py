"""Shapes, joins, cuts, repeats: against NumPy where it has the same function."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wherry_tensor as w
from compared import array, equal
from wherry_tensor import _core, arange, ones, to_tensor, zeros

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


# Shapes.


@given(st.permutations([2, 3, 4, 1]), st.integers(0, 3), st.booleans())
def test_reshape(shape, unknown, strided):
    a = array(4, 6)
    x = to_tensor(a)
    if strided:
        a, x = a.T, x.T
    shape[unknown] = -1
    equal(w.reshape(x, shape), a.reshape(shape))


def test_reshape_shares_memory_where_strides_allow():
    x = arange(24).reshape([2, 3, 4])
    assert x.reshape([6, 4])._shares_memory_with(x)
    assert x[:, :, ::2].reshape([6, 2])._shares_memory_with(x)
    assert not x.transpose([1, 0, 2]).reshape([6, 4])._shares_memory_with(x)


def test_reshape_reads_zeros_tensors_and_tuples():
    x = arange(24).reshape([2, 3, 4])
    assert x.reshape([0, -1]).shape == [2, 12]
    assert x.reshape([to_tensor(6), 4]).shape == x.reshape(to_tensor([6, 4])).shape == x.reshape((6, 4)).shape == [6, 4]
    assert ones([1]).reshape([]).shape == []
    assert zeros([0, 3]).reshape([-1]).shape == [0]


@pytest.mark.parametrize(
    ("shape", "error", "match"),
    [
        ([5, 5], ValueError, r"Got x of shape \[2, 3, 4\] \(24 elements\)"),
        ([-1, -1], ValueError, "at most one -1"),
        ([-2, 12], ValueError, "-2"),
        ([2, 3, 4, 0], ValueError, "a 0 at place 3"),
        ([], ValueError, "24 elements"),
        (24, ValueError, r"Write reshape\(\[24\]\)"),
        (24, TypeError, "list of sizes"),
        ("a", TypeError, "'a'"),
        (None, TypeError, "None"),
        ([6.0, 4], TypeError, r"shape\[0\]"),
        ([True, 24], TypeError, "True"),
        ([10**30, 1], ValueError, "10000000"),
    ],
)
def test_reshape_refuses(shape, error, match):
    with pytest.raises(error, match=match):
        arange(24).reshape([2, 3, 4]).reshape(shape)


@given(shapes, st.data())
def test_flatten_squeeze_unsqueeze(shape, data):
    a = array(*shape)
    x = to_tensor(a)
    rank = len(shape)
    if rank:
        start = data.draw(st.integers(0, rank - 1))
        stop = data.draw(st.integers(start, rank - 1))
        equal(w.flatten(x, start, stop - rank), a.reshape(*shape[:start], int(np.prod(shape[start : stop + 1])), *shape[stop + 1 :]))
    equal(w.squeeze(x), a.squeeze())
    axis = data.draw(st.integers(-rank - 1, rank))
    equal(w.unsqueeze(x, axis), np.expand_dims(a, axis))
    equal(w.squeeze(w.unsqueeze(x, axis), axis), a)


def test_squeeze_leaves_longer_axes_and_unsqueeze_counts_step_by_step():
    x = ones([1, 2, 1])
    assert w.squeeze(x, 1).shape == [1, 2, 1]
    assert w.squeeze(x, [0, -1]).shape == w.squeeze(x, to_tensor([0, 2])).shape == w.squeeze(x, []).shape == [2]
    y = ones([2, 3])
    assert w.unsqueeze(y, [0, 0]).shape == [1, 1, 2, 3]
    assert w.unsqueeze(y, [2, 0]).shape == [1, 2, 3, 1]
    assert w.unsqueeze(y, [-1, 0]).shape == [1, 2, 3, 1]
    assert w.unsqueeze(y, to_tensor([0, 1])).shape == [1, 1, 2, 3]


@pytest.mark.parametrize("name", ["reshape", "flatten", "squeeze", "unsqueeze", "transpose", "t"])
def test_in_place_forms_change_the_tensor_itself(name):
    arguments = {"reshape": [[3, 2, 1]], "unsqueeze": [0], "transpose": [[2, 1, 0]]}.get(name, [])
    x = arange(6).reshape([1, 2, 3]) if name != "t" else arange(6).reshape([2, 3])
    before = x.name, x.inplace_version
    expected = getattr(w, name)(x, *arguments).tolist()
    assert getattr(w, name + "_")(x, *arguments) is x
    assert x.tolist() == expected
    assert (x.name, x.inplace_version) == (before[0], before[1] + 1)


def test_in_place_forms_refuse_leaves_that_ask_for_gradients():
    x = ones([2])
    x.stop_gradient = False
    with pytest.raises(ValueError, match="reshape_: a leaf that asks for gradients cannot be written in place.* Use the form without underscore"):
        w.reshape_(x, [2, 1])


def test_view_shares_memory_or_refuses():
    x = ones([2, 3])
    assert w.view(x, [3, 2])._shares_memory_with(x)
    assert w.view_as(x, zeros([6])).shape == [6]
    with pytest.raises(ValueError, match="Use reshape, which copies"):
        w.view(x.T, [6])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32", "int64", "complex64"])
def test_view_reads_bytes_anew(dtype):
    a = np.arange(8, dtype="float32").reshape(2, 4)
    x = w.view(to_tensor(a), dtype)
    equal(x, a.view(dtype))
    equal(w.view(x, "float32"), a)
    with pytest.raises(ValueError, match="do not make"):
        w.view(to_tensor(a)[:, :3], "float64")


def test_unflatten_and_at_least():
    assert w.unflatten(ones([4, 6]), 1, [2, -1]).shape == w.unflatten(ones([4, 6]), -1, to_tensor([2, 3])).shape == [4, 2, 3]
    assert [x.shape for x in w.atleast_1d(to_tensor(1.0), ones([2]))] == [[1], [2]]
    assert [w.atleast_2d(ones(s)).shape for s in ([], [3], [2, 3])] == [[1, 1], [1, 3], [2, 3]]
    assert [w.atleast_3d(ones(s)).shape for s in ([], [3], [2, 3])] == [[1, 1, 1], [1, 3, 1], [2, 3, 1]]


def test_shape_rank_numel():
    x = ones([2, 3])
    assert (w.shape(x).tolist(), w.shape(x).dtype) == ([2, 3], w.int32)
    assert (w.rank(x).item(), w.rank(x).dtype) == (2, w.int32)
    assert (w.numel(x).item(), w.numel(x).dtype) == (6, w.int64)


# The order of axes.


@given(st.permutations(range(4)))
def test_transpose(perm):
    a = array(2, 3, 4, 1)
    x = to_tensor(a)
    equal(w.transpose(x, perm), a.transpose(perm))
    equal(w.transpose(x, [p - 4 for p in perm]), a.transpose(perm))
    assert w.transpose(x, perm)._shares_memory_with(x)


@given(st.permutations(range(3)), st.permutations(range(3)), st.integers(0, 3))
def test_moveaxis(source, destination, n):
    a = array(2, 3, 4)
    equal(w.moveaxis(to_tensor(a), source[:n], destination[:n]), np.moveaxis(a, source[:n], destination[:n]))


@given(shapes, st.data())
def test_flip_and_roll(shape, data):
    a = array(*shape)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True)) if shape else []
    equal(w.flip(to_tensor(a), axes), np.flip(a, axes) if axes else a)
    shifts = [data.draw(st.integers(-9, 9)) for _ in axes]
    if axes:
        equal(w.roll(to_tensor(a), shifts, axes), np.roll(a, shifts, axes))
    equal(w.roll(to_tensor(a), 2), np.roll(a, 2))


@pytest.mark.parametrize("k", range(-3, 6))
def test_rot90(k):
    a = array(2, 3, 4)
    equal(w.rot90(to_tensor(a), k), np.rot90(a, k))
    equal(w.rot90(to_tensor(a), k, [2, 0]), np.rot90(a, k, (2, 0)))


# Joining and cutting.


@given(st.integers(-3, 2), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_concat(axis, sizes):
    shape = [2, 3, 4]
    parts = []
    for i, n in enumerate(sizes):
        shape[axis] = n
        parts.append(array(*shape, seed=i))
    equal(w.concat([to_tensor(p) for p in parts], axis), np.concatenate(parts, axis))


@given(st.integers(-4, 3), st.integers(1, 4))
def test_stack(axis, n):
    parts = [array(2, 3, 4, seed=i) for i in range(n)]
    equal(w.stack([to_tensor(p) for p in parts], axis), np.stack(parts, axis))


def test_concat_skips_empty_vectors():
    assert w.concat([zeros([0]), ones([2, 2])]).shape == [2, 2]


@given(st.integers(-2, 1), st.data())
def test_split(axis, data):
    a = array(6, 4)
    size = a.shape[axis]
    n = data.draw(st.sampled_from([k for k in range(1, size + 1) if size % k == 0]))
    for ours in (w.split(to_tensor(a), n, axis), w.chunk(to_tensor(a), n, axis)):
        for mine, theirs in zip(ours, np.split(a, n, axis), strict=True):
            equal(mine, theirs)
    cut = data.draw(st.integers(0, size))
    for sections in ([cut, size - cut], [cut, -1], [-1, size - cut]):
        for mine, theirs in zip(w.split(to_tensor(a), sections, axis), np.split(a, [cut], axis), strict=True):
            equal(mine, theirs)


def test_split_copies_and_unbind_views():
    x = arange(6).reshape([2, 3])
    assert not any(part._shares_memory_with(x) for part in w.split(x, 3, axis=1) + w.unstack(x) + w.vsplit(x, 2))
    assert all(part._shares_memory_with(x) for part in w.unbind(x))
    assert [row.tolist() for row in w.unbind(x, -1)] == [[0, 3], [1, 4], [2, 5]]
    assert [row.tolist() for row in w.unstack(x, 1, 3)] == [[0, 3], [1, 4], [2, 5]]


@given(st.integers(-4, 4), st.integers(-4, 4), st.integers(-3, 3).filter(bool))
def test_slices(start, end, step):
    a = array(3, 4)
    equal(w.slice(to_tensor(a), [1], [start], [end]), a[:, start:end])
    equal(w.strided_slice(to_tensor(a), [-1], [start], [end], [step]), a[:, start:end:step])


def test_slices_read_tensors():
    x = arange(6)
    assert w.slice(x, [0], to_tensor([1]), [to_tensor(3)]).tolist() == [1, 2]
    assert w.slice(x, [0], 1, 3).tolist() == [1, 2]


def test_crop():
    a = array(2, 3, 4)
    equal(w.crop(to_tensor(a), [1, -1, 2], [1, 1, 0]), a[1:2, 1:, :2])
    equal(w.crop(to_tensor(a)), a)


@pytest.mark.parametrize("n", [1, 2])
def test_diff(n):
    a = array(3, 5)
    equal(w.diff(to_tensor(a), n), np.diff(a, n))
    equal(w.diff(to_tensor(a), n, 0, prepend=to_tensor(a[:1])), np.diff(a, n, 0, prepend=a[:1]))


# Repeating.


@given(shapes, st.lists(st.integers(1, 3), max_size=3).map(tuple))
def test_expand(shape, lead):
    a = array(*shape)
    target = (*lead, *shape)
    equal(w.expand(to_tensor(a), [*lead, *[-1] * len(shape)]), np.broadcast_to(a, target))
    equal(w.broadcast_to(to_tensor(a), target), np.broadcast_to(a, target))
    equal(w.expand_as(to_tensor(a), zeros(target)), np.broadcast_to(a, target))
    x = w.expand(to_tensor(a), target)
    x.fill_(1) if hasattr(x, "fill_") else None
    equal(w.expand(to_tensor(a), target), np.broadcast_to(a, target))


def test_broadcast_tensors_and_shape():
    x, y = w.broadcast_tensors([ones([2, 1]), zeros([3])])
    assert x.shape == y.shape == [2, 3] == w.broadcast_shape([2, 1], [3])
    assert w.broadcast_shape([-1, 1], [1, 3]) == [-1, 3]


@given(shapes, st.lists(st.integers(1, 3), max_size=4))
def test_tile(shape, times):
    a = array(*shape)
    equal(w.tile(to_tensor(a), times), np.tile(a, times))


@given(st.integers(-2, 1), st.data())
def test_repeat_interleave(axis, data):
    a = array(2, 3)
    x = to_tensor(a)
    n = data.draw(st.integers(1, 3))
    equal(w.repeat_interleave(x, n, axis), a.repeat(n, axis))
    equal(w.repeat_interleave(x, n), a.repeat(n))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=a.shape[axis], max_size=a.shape[axis]))
    equal(w.repeat_interleave(x, to_tensor(counts), axis), a.repeat(counts, axis))


# Reading at positions.


# Writing at positions.


# Sets, classes, shards.


# Dtypes and memory.


def test_complex_numbers_and_their_parts_share_memory():
    x = to_tensor([[1.0, 2.0], [3.0, 4.0]])
    z = w.as_complex(x)
    assert z.tolist() == [1 + 2j, 3 + 4j]
    assert w.as_real(z).tolist() == x.tolist()
    assert z._shares_memory_with(x)
    assert w.as_real(z)._shares_memory_with(x)


@pytest.mark.parametrize("arguments", [
    ([2, 2], [2**61, 2**61]),   # 1 * 2^61 * 4 bytes is 2^63
    ([2], [2**61]),
    ([3], [2**62 // 4]),
    ([2**33, 2**33], [0, 0]),   # 2^66 elements
    ([2**40, 2], [2**40, 1]),
    ([2], [-(2**61)]),
    ([2], [1], 2**62),
])
def test_as_strided_beyond_64_bits_is_outside_of_the_memory(arguments):
    for stop_gradient in True, False:
        x = w.arange(4).astype("float32")
        x.stop_gradient = stop_gradient
        with pytest.raises(ValueError, match="reaches outside"):
            w.as_strided(x, *arguments)


def test_as_strided_reads_the_same_memory_with_and_without_gradients():
    whole = w.arange(12, dtype="float32").reshape([3, 4])
    for x, arguments in (whole.t(), ([2, 3], [1, 4])), (whole[:, ::2], ([3], [4])), (whole[1:], ([2, 2], [-4, 1])):
        if arguments == ([2, 2], [-4, 1]):
            x = x[::-1]
        expected = w.as_strided(x, *arguments)
        leaf = x.detach()
        leaf.stop_gradient = False
        assert w.as_strided(leaf, *arguments).tolist() == expected.tolist()


def test_as_strided_has_no_gradient_between_elements():
    x = w.arange(12, dtype="float32").reshape([3, 4])[:, ::2]
    assert w.as_strided(x, [4], [1]).tolist() == [0, 1, 2, 3]
    x.stop_gradient = False
    with pytest.raises(ValueError, match="between the elements of x"):
        w.as_strided(x, [4], [1])


def test_as_strided_stays_inside_of_the_memory():
    x = arange(6)
    assert w.as_strided(x, [2, 2], [1, 3], offset=8).tolist() == [[1, 4], [2, 5]]
    assert w.as_strided(x[4:], [2], [-2]).tolist() == [4, 2]
    for arguments in (([7], [1]), ([2], [-1]), ([2, 2], [5, 1]), ([1], [1], 48), ([1], [1], -8)):
        with pytest.raises(ValueError, match="outside of the memory"):
            w.as_strided(x, *arguments)


@pytest.mark.parametrize(("size", "step"), [(1, 1), (2, 1), (2, 3), (5, 1), (0, 2)])
def test_unfold(size, step):
    a = array(2, 5)
    x = to_tensor(a)
    equal(w.unfold(x, -1, size, step), np.lib.stride_tricks.sliding_window_view(a, size, 1)[:, ::step] if size else np.zeros((2, 3, 0)))
    x.stop_gradient = False
    y = w.unfold(x, 1, size, step)
    assert y.tolist() == w.unfold(x.detach(), 1, size, step).tolist()


def test_symbolic_shapes_pass_through():
    """A size that is not known stays so."""
    x = _core.symbolic((-1, 3, 4), _core.float32)

    def layer(op, inputs, attrs):
        outs = tuple(_core.symbolic(m.shape, m.dtype) for m in op.infer(inputs, attrs))
        return outs[0] if len(outs) == 1 else outs

    _core.push_layer(layer)
    try:
        assert x.reshape([0, -1]).shape[0] == -1
        assert x.reshape([-1, 4]).shape == [-1, 4]
        assert x.flatten(1).shape == [-1, 12]
        assert x.flatten().shape == [-1]
        assert x.transpose([1, 0, 2]).shape == [3, -1, 4]
        assert x.unsqueeze(0).squeeze(0).shape == [-1, 3, 4]
        assert w.concat([x, x], 1).shape == [-1, 6, 4]
        assert w.stack([x, x]).shape == [2, -1, 3, 4]
        assert [part.shape for part in w.split(x, [1, 2], 1)] == [[-1, 1, 4], [-1, 2, 4]]
        assert w.tile(x, [1, 2, 1]).shape == [-1, 6, 4]
        assert w.expand(x, [-1, 3, 4]).shape == [-1, 3, 4]
        assert w.matmul(x, _core.symbolic((4, 5), _core.float32)).shape == [-1, 3, 5]
        assert w.einsum("bij,jk->bik", x, _core.symbolic((4, 5), _core.float32)).shape == [-1, 3, 5]
        assert w.norm(x, 2, 1).shape == [-1, 4]
        assert w.topk(x, 2)[0].shape == [-1, 3, 2]
    finally:
        _core.pop_layer(layer)


# Bad input.


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: w.reshape([1, 2], [2]), TypeError, "must be a Tensor. Got list"),
        (lambda x: w.transpose(x, [0, 0]), ValueError, "perm"),
        (lambda x: w.transpose(x, [0, 2]), ValueError, "perm 2"),
        (lambda x: w.transpose(x, [0]), ValueError, "every axis"),
        (lambda x: w.transpose(x, None), TypeError, "perm"),
        (lambda x: w.transpose(5, [0]), TypeError, "Tensor"),
        (lambda x: w.t(x.unsqueeze(0)), ValueError, r"\[1, 2, 3\]"),
        (lambda x: w.moveaxis(x, [0, 1], [0]), ValueError, "equally many"),
        (lambda x: w.moveaxis(x, [0, 0], [0, 1]), ValueError, "different"),
        (lambda x: w.moveaxis(x, 3, 0), ValueError, "source 3"),
        (lambda x: w.flatten(x, 1, 0), ValueError, "end before they start"),
        (lambda x: w.flatten(x, 0.5), TypeError, "start_axis"),
        (lambda x: w.squeeze(x, 2), ValueError, "axis 2"),
        (lambda x: w.squeeze(x, "a"), TypeError, "'axis'"),
        (lambda x: w.unsqueeze(x, 4), ValueError, r"\[-3, 2\]"),
        (lambda x: w.unsqueeze(x, 1.5), TypeError, "'axis'"),
        (lambda x: w.concat([]), ValueError, "empty list"),
        (lambda x: w.concat(x), TypeError, "one Tensor"),
        (lambda x: w.concat([x, 1]), TypeError, r"x\[1\]"),
        (lambda x: w.concat([x, x.astype("int64")]), TypeError, "one dtype"),
        (lambda x: w.concat([x, x[:, :2]]), ValueError, "axis 0"),
        (lambda x: w.concat([x, x], 2), ValueError, "axis 2"),
        (lambda x: w.concat([x.sum(), x.sum()]), ValueError, "Use stack"),
        (lambda x: w.stack([x, x[0]]), ValueError, "one shape"),
        (lambda x: w.stack([x, x], 3), ValueError, "axis 3"),
        (lambda x: w.stack([x, x.astype("int64")]), TypeError, "one dtype"),
        (lambda x: w.split(x, 2, 1), ValueError, "divides 3"),
        (lambda x: w.split(x, 0), ValueError, "0 parts"),
        (lambda x: w.split(x, [1, 1], 1), ValueError, "sum 3"),
        (lambda x: w.split(x, [-1, -1]), ValueError, "One of them"),
        (lambda x: w.split(x, 2.0), TypeError, "float"),
        (lambda x: w.split(x, 2, 2), ValueError, "axis 2"),
        (lambda x: w.chunk(x, 2, 1), ValueError, "divides 3"),
        (lambda x: w.vsplit(x[0], 1), ValueError, "rows"),
        (lambda x: w.unbind(x, 2), ValueError, "axis 2"),
        (lambda x: w.unstack(x, 0, 3), ValueError, "num=3"),
        (lambda x: w.slice(x, 0, [0], [1]), TypeError, "axes"),
        (lambda x: w.slice(x, [0, 1], [0], [1]), ValueError, "equally many"),
        (lambda x: w.slice(x, [0], [1.0], [2]), TypeError, r"starts\[0\]"),
        (lambda x: w.strided_slice(x, [0], [0], [1], [0]), ValueError, "no step of 0"),
        (lambda x: w.crop(x, [3, 3]), ValueError, "does not lie in x"),
        (lambda x: w.crop(x, [1, 1], [-1, 0]), ValueError, "offset >= 0"),
        (lambda x: w.crop(x, [1]), ValueError, "each of the 2 axes"),
        (lambda x: w.expand(x, [3, 3]), ValueError, r"shape \[2, 3\] and shape=\[3, 3\]"),
        (lambda x: w.expand(x, [3]), ValueError, "at least 2 sizes"),
        (lambda x: w.expand(x, [10**30, 2, 3]), ValueError, "too large"),
        (lambda x: w.expand(x, [10**13, 2, 3]), MemoryError, "memory"),
        (lambda x: w.expand(x, [-1, 2, 3]), ValueError, "-1"),
        (lambda x: w.expand_as(x, x[0]), ValueError, "broadcast"),
        (lambda x: w.broadcast_tensors([x, x[:, :2]]), ValueError, "broadcast"),
        (lambda x: w.broadcast_shape([2], [3]), ValueError, "broadcast"),
        (lambda x: w.tile(x, [0]), ValueError, ">= 1"),
        (lambda x: w.tile(x, [2.0]), TypeError, "repeat_times"),
        (lambda x: w.flip(x, [0, 0]), ValueError, "twice"),
        (lambda x: w.flip(x, 2), ValueError, "axis 2"),
        (lambda x: w.roll(x, [1, 2], 0), ValueError, "shifts"),
        (lambda x: w.roll(x, [1, 2]), ValueError, "one shift"),
        (lambda x: w.roll(x, 1.5), TypeError, "shifts"),
        (lambda x: w.rot90(x[0]), ValueError, "rank 2"),
        (lambda x: w.rot90(x, 1, [0, 0]), ValueError, "different"),
        (lambda x: w.repeat_interleave(x, 0), ValueError, "1 or more"),
        (lambda x: w.repeat_interleave(x, 1, 2), IndexError, "axis 2"),
        (lambda x: w.repeat_interleave(x, to_tensor([1, 2, 3]), 0), ValueError, "one count"),
        (lambda x: w.repeat_interleave(x, to_tensor([1, -2]), 0), ValueError, "-2"),
        (lambda x: w.repeat_interleave(x, to_tensor([1.0, 2.0]), 0), TypeError, "float32"),
        (lambda x: w.as_complex(x), ValueError, "size 2"),
        (lambda x: w.as_complex(x.astype("int32")), TypeError, "int32"),
        (lambda x: w.as_real(x), TypeError, "float32"),
        (lambda x: w.as_strided(x, [1], [1], 1), ValueError, "multiple of 4"),
        (lambda x: w.unfold(x, 1, 5, 1), ValueError, "size=5"),
        (lambda x: w.unfold(x, 1, 1, 0), ValueError, "step=0"),
        (lambda x: w.view(x, 5), ValueError, r"shape \[5\]"),
        (lambda x: w.unflatten(x, 2, [1]), ValueError, "axis 2"),
        (lambda x: w.unflatten(x, 1, [2, 2]), ValueError, "reshape"),
        (lambda x: w.diff(x, 0), ValueError, "n=0"),
        (lambda x: w.tolist([1]), TypeError, "list"),
        (lambda x: w.cast_(x, "foo"), TypeError, "foo"),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))


@pytest.mark.parametrize("axis", [2**32 + 1, 2**63, 10**30, -(2**33)])
def test_axes_that_no_tensor_has_are_refused(axis):
    # 2 ** 32 + 1 is 1 in 32 bits.
    with pytest.raises(ValueError, match="transpose"):
        ones([2, 3]).transpose([axis, 0])
    with pytest.raises(ValueError):
        _core.op_of_name("squeeze")(ones([1, 1]), (axis,))
    with pytest.raises(ValueError):
        _core.op_of_name("slice")(ones([2, 3]), (axis,), (0,), (1,), (1,))


def test_results_that_no_machine_holds_and_numbers_of_no_tensor_are_refused():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(MemoryError, match=r"repeat_interleave: no machine holds the result. Got shape \[\d+\]"):
        ones([4]).repeat_interleave(2**62)
    with pytest.raises(MemoryError, match=r"zeros: no machine holds such a tensor"):
        zeros([10**30, 0])
    with pytest.raises(TypeError, match=r"transpose.*Got \(?\["):
        ones([2, 3]).transpose(deep)
    with pytest.raises(ValueError, match="attribute 'strides' is too large"):
        _core.op_of_name("avg_pool2d")(ones([1, 1, 2, 2]), (1, 1), (2**63, 1), (0, 0, 0, 0), False, False, None, "NCHW")
    with pytest.raises(ValueError, match="tensordot: x has no axes"):
        w.tensordot(ones([]), ones([]), axes=[0])


def test_an_offset_beyond_64_bits_is_refused():
    with pytest.raises(ValueError, match="the view reaches outside of the memory of x. Got offset=.*within that of x"):
        w.as_strided(ones([4]), [2], [1], 2**72)
