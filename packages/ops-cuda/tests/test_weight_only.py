"""Products with weights of few bits: one row, some, and tiles of tensor cores, beside the definition in float64."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import ops
from wherry_tensor.ops.weight_only import packed_int4, packed_int8

RNG = np.random.default_rng(0)
NEAR = {"float32": 1e-6, "float16": 2e-3}  # of the largest result


def product(dtype, rows, inside, out, group, bits, zeros=False, bias=False, scales="float32", offset=0):
    """The result of the op and of its definition."""
    groups = 1 if not group else -(-inside // group)
    x = RNG.standard_normal((rows, inside)).astype(dtype)
    low, high = (-128, 128) if bits == 8 else (0, 16)
    kind = np.int8 if bits == 8 else np.uint8
    q = RNG.integers(low, high, (inside, out)).astype(kind)
    scale = (RNG.uniform(0.5, 1.5, (groups, out)) / (high - low)).astype(scales)
    zero = RNG.integers(low, high, (groups, out)).astype(kind) if zeros else None
    added = RNG.standard_normal(out).astype("float32") if bias else None

    def spread(given):
        return np.repeat(given.astype(np.float64), group or inside, 0)[:inside]

    shift = spread(zero) if zeros else 0 if bits == 8 else 8
    expected = x.astype(np.float64) @ ((q.astype(np.float64) - shift) * spread(scale)) + (0 if added is None else added)
    device = wt.get_device()
    wt.set_device("cpu")  # where weights are put in order
    weight = (packed_int8 if bits == 8 else packed_int4)(wt.to_tensor(q)).numpy()
    wt.set_device(device)
    weight = wt.to_tensor(np.concatenate([np.zeros(offset, kind), weight.reshape(-1)]))[offset:].reshape(weight.shape)
    found = ops.weight_only_linear(
        wt.to_tensor(x), weight, wt.to_tensor(scale), *(None if one is None else wt.to_tensor(one) for one in (zero, added)), group=group,
    )
    assert found.dtype.name == dtype
    return found.numpy(), expected


def check(dtype, *args, **options):
    found, expected = product(dtype, *args, **options)
    np.testing.assert_allclose(found, expected, rtol=0, atol=NEAR[dtype] * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("group", [0, 8, 32, 64, 128])
@pytest.mark.parametrize("rows", [1, 2, 4, 9, 15, 16, 65])
def test_rows_and_groups(gpu, rows, group, bits, dtype):
    check(dtype, rows, 264, 72, group, bits)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize(("rows", "inside", "out", "group"), [
    (1, 1, 1, 0), (1, 7, 17, 0), (3, 333, 5, 64), (5, 1030, 33, 128), (20, 37, 66, 8), (70, 100, 130, 32), (17, 8, 1, 8), (16, 65, 63, 0),
])
def test_edges_with_zero_points_and_a_bias(gpu, two_blocks, rows, inside, out, group, bits, dtype):
    with two_blocks():
        check(dtype, rows, inside, out, group, bits, zeros=True, bias=True)


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("scales", ["float16", "float64"])
def test_scales_of_other_dtypes(gpu, scales, bits, rows):
    check("float16", rows, 96, 40, 32, bits, scales=scales)


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("bits", [8, 4])
def test_a_weight_that_begins_anywhere(gpu, bits, rows):
    check("float16", rows, 96, 40, 32, bits, offset=3)


@pytest.mark.parametrize("bits", [8, 4])
def test_a_row_by_itself_has_the_bits_that_it_has_among_few(gpu, bits):
    """Each row is added up in one order, however many stand beside it."""
    wt.seed(0)
    x = wt.to_tensor(RNG.standard_normal((4, 200)).astype("float32"))
    q = RNG.integers(0, 16, (200, 40))
    wt.set_device("cpu")
    weight = (packed_int8(wt.to_tensor(q.astype(np.int8))) if bits == 8 else packed_int4(wt.to_tensor(q.astype(np.uint8)))).numpy()
    wt.set_device("gpu")
    weight, scale = wt.to_tensor(weight), wt.to_tensor(RNG.uniform(0.1, 1, (7, 40)).astype("float32"))
    together = ops.weight_only_linear(x, weight, scale, None, None, group=32).numpy()
    for i in range(4):
        np.testing.assert_array_equal(ops.weight_only_linear(x[i : i + 1], weight, scale, None, None, group=32).numpy()[0], together[i])


def test_what_is_not_a_number_stays_in_its_row(gpu):
    x = np.zeros((20, 64), "float16")
    x[3, 5], x[7, 9] = np.nan, np.inf
    weight, scale = wt.to_tensor(np.ones((1, 64, 16), np.int8)), wt.to_tensor(np.ones((1, 16), np.float32))
    found = ops.weight_only_linear(wt.to_tensor(x), weight, scale, None, None, group=0).numpy()
    assert np.isnan(found[3]).all() and np.isposinf(found[7]).all()
    assert not found[[i for i in range(20) if i not in (3, 7)]].any()
