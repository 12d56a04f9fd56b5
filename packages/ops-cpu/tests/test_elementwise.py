"""Element-wise kernels: results that no cache holds, inputs that lie otherwise than the result, division with a rest, choice."""
import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor import ops


def test_results_past_the_caches_are_written_whole():
    """They are stored past the caches in whole vectors; rows begin anywhere in one here, and the last vectors are partial."""
    rng = np.random.default_rng(0)
    x, row, column = (rng.standard_normal(shape).astype("float32") for shape in ((6501, 1003), (1003,), (6501, 1)))
    left, right, below = w.to_tensor(x), w.to_tensor(row), w.to_tensor(column)
    assert np.array_equal((left + right).numpy(), x + row)
    assert np.array_equal((left * below).numpy(), x * column)
    assert np.array_equal((left - left.flip(0)).numpy(), x - x[::-1])
    assert np.array_equal(ops.add(left, left).numpy(), x + x)
    frame = np.zeros((6503, 1008), "float32")
    inner = w.to_tensor(frame)
    inner[1:6502, 3:1006] = left + right
    inner[1:6502, 3:1006].multiply_(left)
    expected = frame.copy()
    expected[1:6502, 3:1006] = (x + row) * x
    assert np.array_equal(inner.numpy(), expected)


@pytest.mark.parametrize("shape, order", [
    ((1024, 130), (1, 0)), ((7, 300), (1, 0)), ((8, 8), (1, 0)), ((9, 33, 70), (2, 1, 0)), ((3, 65, 40, 2), (0, 2, 3, 1)), ((5, 66, 31), (1, 0, 2)),
])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "int8", "bool", "complex128"])
def test_inputs_along_another_axis_than_the_result(dtype, shape, order):
    """They are turned tile by tile."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 100, shape).astype(dtype) for _ in range(2))
    turned, other = (w.to_tensor(a).transpose(order) for a in (x, y))
    straight = w.to_tensor(np.ascontiguousarray(y.transpose(order)))
    a, b = x.transpose(order), y.transpose(order)
    assert np.array_equal(ops.not_equal(turned, other).numpy(), a != b)
    assert np.array_equal(ops.cast(turned, dtype=w.complex128).numpy(), a.astype("complex128"))
    assert np.array_equal(ops.where(ops.not_equal(turned, straight), turned, other).numpy(), np.where(a != b, a, b))
    if dtype != "bool":
        assert np.array_equal((turned + other).numpy(), a + b)
        assert np.array_equal((straight - turned).numpy(), b - a)
        assert np.array_equal((turned * straight[0]).numpy(), a * b[0])
        straight.subtract_(turned)
        assert np.array_equal(straight.numpy(), b - a)


def floor_division(x, y):
    """The quotient rounded down and the remainder with the divisor's sign, as C's exact fmod has them."""
    with np.errstate(all="ignore"):
        rest = np.fmod(x, y)
        turns = (rest != 0) & ((y < 0) != (rest < 0))
        whole = np.rint((x - rest) / y) - turns
        whole = np.where(whole == 0, np.copysign(0.0, x / y), whole)
        return np.where(y == 0, x / y, whole), np.where(turns, rest + y, rest)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_divide_into_a_whole_number_and_a_rest(dtype):
    rng, n = np.random.default_rng(0), 5000
    special = np.array([0, 1, 2, 3, 0.1, 0.3, 7, 1e-40, 16777217, 2.0**29, 2.0**51, 1e30, 3e38, np.inf, np.nan])
    special = np.concatenate([special, -special])
    x, y = (np.ldexp(rng.uniform(1, 2, n), rng.integers(-40, 40, n)) * rng.choice([-1, 1], n) for _ in range(2))
    whole = y.astype(dtype) * rng.integers(-(10**6), 10**6, n)  # quotients that round to an integer, or are one
    x = np.concatenate([x, whole, np.nextafter(whole.astype(dtype), np.array(np.inf, dtype)), np.repeat(special, len(special))])
    y = np.concatenate([y, y, y, np.tile(special, len(special))])
    x, y = x.astype(dtype), y.astype(dtype)
    quotient, rest = floor_division(x.astype("float64"), y.astype("float64"))
    left, right = w.to_tensor(x), w.to_tensor(y)
    with np.errstate(over="ignore"):
        quotient, rest = quotient.astype(dtype), rest.astype(dtype)
    for op, expected in ((ops.floor_divide, quotient), (ops.remainder, rest)):
        found = op(left, right).numpy()
        some = np.abs(expected) < 2.0**51 if op is ops.floor_divide else slice(None)  # larger quotients need not be exact here
        np.testing.assert_array_equal(found[some], expected[some])
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))
        for m in range(1, 40):  # a value does not depend on where it stands
            assert op(left[:m], right[:m]).numpy().tobytes() == found[:m].tobytes()
            assert op(left[:m], right[3:4]).numpy().tobytes() == op(left, right[3:4]).numpy()[:m].tobytes()
        np.testing.assert_array_equal(op(left[: 2 * n].reshape([n, 2]).t(), right[: 2 * n].reshape([2, n])).numpy(),
                                      op(w.to_tensor(x[: 2 * n].reshape(n, 2).T.copy()), right[: 2 * n].reshape([2, n])).numpy())


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_divide_as_numpy_divides_them(dtype):
    rng, info = np.random.default_rng(1), np.iinfo(dtype)
    special = np.array([info.min, info.min + 1, 1, 2, 3, 7, info.max - 1, info.max] + [-1, -2] * (info.min < 0), dtype)
    special = special[special != 0]
    x, y = (rng.integers(info.min, info.max, 4001, dtype, endpoint=True) for _ in range(2))
    x = np.concatenate([x, rng.integers(0, 100, 4001).astype(dtype), np.repeat(special, len(special))])
    y = np.concatenate([y, rng.integers(1, 50, 4001).astype(dtype), np.tile(special, len(special))])
    y[y == 0] = 1
    left, right = w.to_tensor(x), w.to_tensor(y)
    for op, reference in ((ops.floor_divide, np.floor_divide), (ops.remainder, np.remainder)):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(op(left, right).numpy(), reference(x, y))
            np.testing.assert_array_equal(op(left, right[5:6]).numpy(), reference(x, y[5:6]))
            np.testing.assert_array_equal(op(left[5:6], right).numpy(), reference(x[5:6], y))
            np.testing.assert_array_equal(op(left[:8000:2], right[1:8000:2]).numpy(), reference(x[:8000:2], y[1:8000:2]))
        x_zero = w.to_tensor(np.append(y[:40], np.array(0, dtype)))
        with pytest.raises(ValueError, match=f"{op.name}.*by zero"):
            op(left[:41], x_zero)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "int32", "float32", "int64", "float64", "complex128"])
def test_where_and_logical_not_of_any_length_and_layout(dtype):
    rng = np.random.default_rng(2)
    condition, x, y = rng.integers(0, 2, (67, 83)).astype(bool), rng.integers(-9, 9, (67, 83)), rng.integers(-9, 9, (67, 83))
    choose, left, right = w.to_tensor(condition), *(w.to_tensor(v).astype(dtype) for v in (x, y))
    x, y = (v.astype("float32").numpy() if dtype == "bfloat16" else v.numpy() for v in (left, right))

    def same(found, expected):
        np.testing.assert_array_equal(found.astype("float32").numpy() if dtype == "bfloat16" else found.numpy(), expected)

    same(ops.where(choose, left, right), np.where(condition, x, y))
    same(ops.where(choose.t(), left.t(), right.t()), np.where(condition, x, y).T)
    same(ops.where(choose[:, ::2], left[:, ::2], right[:, 1::2][:, :1]), np.where(condition[:, ::2], x[:, ::2], y[:, 1:2]))
    same(ops.where(choose[0], left, right[0, 0]), np.where(condition[0], x, y[0, 0]))
    same(ops.where(choose[:, :1], left[0], right), np.where(condition[:, :1], x[0], y))
    np.testing.assert_array_equal(ops.logical_not(left).numpy(), x == 0)
    for n in range(70):
        same(ops.where(choose[0, :n], left[0, :n], right[0, :n]), np.where(condition[0, :n], x[0, :n], y[0, :n]))
        np.testing.assert_array_equal(ops.logical_not(left[1, :n]).numpy(), x[1, :n] == 0)


def test_where_past_the_caches():
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(5_000_003).astype("float32") for _ in range(2))
    condition = rng.integers(0, 2, 5_000_003).astype(bool)
    found = ops.where(*(w.to_tensor(v)[1:] for v in (condition, x, y)))
    np.testing.assert_array_equal(found.numpy(), np.where(condition, x, y)[1:])


@pytest.mark.parametrize("dtype", ["bool", "int32", "bfloat16", "float32", "float64", "complex64"])
def test_a_number_that_repeats_is_cast_once_and_everywhere(dtype):
    for source in ("bool", "int64", "float16", "bfloat16", "float32", "float64"):
        one = w.to_tensor(-2.5).astype(source)
        view = ops.unreduce_like(one, w.to_tensor(np.zeros((3, 37), "float32")), axes=(0, 1), keepdim=False)
        found = ops.cast(view, dtype=getattr(w, dtype))
        assert found.shape == [3, 37] and bool((found == ops.cast(one, dtype=getattr(w, dtype))).all())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_to_num_of_any_length_and_layout(dtype):
    x = np.tile(np.array([np.nan, np.inf, -np.inf, -0.0, 1.5, np.finfo(dtype).max, -1e-7], dtype), (11, 13))
    given = w.to_tensor(x)
    for values in ({}, {"nan": 0.5, "posinf": 2.0, "neginf": -np.inf}):
        expected = np.nan_to_num(x, **values)
        for n in range(1, 40):
            found = w.nan_to_num(given[0, :n], **values).numpy()
            assert found.dtype == x.dtype and found.tobytes() == expected[0, :n].tobytes()
        np.testing.assert_array_equal(w.nan_to_num(given.t(), **values).numpy(), expected.T)
