"""Products of 16-bit floats: each way that operands can lie goes through tensor cores, and gives what float32 gives, rounded once."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops

# float16 alone where the library was made of few dtypes; bfloat16 differs in one instruction.
DTYPES = ("float16", "bfloat16")


@pytest.fixture(params=DTYPES)
def dtype(request, gpu):
    if request.param not in ops.matmul.kernel_dtypes("gpu"):
        pytest.skip("this library was compiled without bfloat16: tox -e cuda-slow has it")
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tensor(array, dtype):
    return wherry_tensor.to_tensor(array.astype("float32")).astype(dtype)


def run(op, *inputs, dtype, **attrs):
    """The result on the GPU, and what float64 makes of the same inputs on the cpu."""
    answers = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        there = [None if x is None else tensor(x, dtype) for x in inputs]
        out = op(*there, **attrs) if device == "gpu" else op(*(None if x is None else x.astype("float64") for x in there), **attrs)
        answers.append([one.astype("float64").numpy() for one in (out if isinstance(out, (tuple, list)) else [out])])
    wherry_tensor.set_device("gpu")
    return zip(*answers, strict=True)


def close(op, *inputs, dtype, **attrs):
    # Half of a unit in the last place, and what float32 loses on the way.
    unit = 2.0**-10 if dtype == "float16" else 2.0**-7
    for gpu, exact in run(op, *inputs, dtype=dtype, **attrs):
        np.testing.assert_allclose(gpu, exact, rtol=0.6 * unit, atol=0.6 * unit * np.abs(exact).max(initial=0) * 2**-3)


def products(emulator, call):
    """Instructions of tensor cores that a call takes."""
    with emulator.measure() as found:
        call()
        wherry_tensor.device.synchronize("gpu")
    return sum(one.products for one in found)


@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(33, 72, 40), (5, 3, 7), (66, 37, 71), (72, 64, 136), (130, 33, 129)])
def test_matrices_of_any_size_and_side(rng, dtype, m, k, n, transpose_x, transpose_y):
    x = rng.standard_normal((k, m) if transpose_x else (m, k))
    y = rng.standard_normal((n, k) if transpose_y else (k, n))
    close(ops.matmul, x, y, dtype=dtype, transpose_x=transpose_x, transpose_y=transpose_y)


def test_batches_vectors_and_one_matrix_for_all(rng, dtype):
    attrs = {"dtype": dtype, "transpose_x": False, "transpose_y": False}
    close(ops.matmul, rng.standard_normal((2, 1, 9, 20)), rng.standard_normal((3, 20, 11)), **attrs)
    close(ops.matmul, rng.standard_normal((3, 9, 24)), rng.standard_normal((24, 8)), **attrs)
    close(ops.matmul, rng.standard_normal(40), rng.standard_normal((40, 5)), **attrs)
    close(ops.matmul, rng.standard_normal((5, 40)), rng.standard_normal(40), **attrs)
    close(ops.matmul, rng.standard_normal(40), rng.standard_normal(40), **attrs)
    close(ops.matmul, rng.standard_normal((40, 1)), rng.standard_normal((1, 9)), **attrs)


def test_linear_adds_its_bias_before_it_rounds(rng, dtype):
    close(ops.linear, rng.standard_normal((2, 35, 48)), rng.standard_normal((48, 70)), rng.standard_normal(70), dtype=dtype)
    close(ops.linear, rng.standard_normal((35, 48)), rng.standard_normal((48, 8)), None, dtype=dtype)


def test_gradient_of_a_weight_sums_over_the_batch(rng, dtype):
    close(ops.outer_sum, rng.standard_normal((3, 50, 24)), rng.standard_normal((3, 50, 70)), dtype=dtype)


def test_parts_of_tensors_whose_rows_begin_anywhere(rng, dtype):
    x, y = tensor(rng.standard_normal((20, 45)), dtype), tensor(rng.standard_normal((45, 30)), dtype)
    got = ops.matmul(x[3:, 1:34], y[2:35, 5:18], transpose_x=False, transpose_y=False)
    exact = x.astype("float64").numpy()[3:, 1:34] @ y.astype("float64").numpy()[2:35, 5:18]
    np.testing.assert_allclose(got.astype("float64").numpy(), exact, rtol=0.01, atol=0.02)


def test_infinities_stay_in_their_rows(dtype):
    x = np.zeros((3, 5))
    x[1] = np.inf
    (gpu, exact), = run(ops.matmul, x, np.ones((5, 3)), dtype=dtype, transpose_x=False, transpose_y=False)
    np.testing.assert_array_equal(gpu, exact)


def test_the_same_bits_each_time(rng, dtype):
    x, y = tensor(rng.standard_normal((70, 200)), dtype), tensor(rng.standard_normal((200, 70)), dtype)
    first, second = (ops.matmul(x, y, transpose_x=False, transpose_y=False).astype("float32").numpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("transpose_x", "transpose_y"), [(False, False), (True, False), (False, True), (True, True)])
def test_tensor_cores_take_no_more_instructions_than_the_product_has(rng, emulator, gpu, transpose_x, transpose_y):
    x, y = tensor(rng.standard_normal((128, 128)), "float16"), tensor(rng.standard_normal((128, 128)), "float16")
    assert products(emulator, lambda: ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)) == 8 * 16 * 8


def test_what_has_gaps_and_float32_go_another_way(rng, emulator, gpu):
    x, y = tensor(rng.standard_normal((16, 64)), "float16"), tensor(rng.standard_normal((16, 16)), "float16")
    gaps = x[:, ::4]
    assert products(emulator, lambda: ops.matmul(gaps, y, transpose_x=False, transpose_y=False)) == 0
    wide = y.astype("float32")
    assert products(emulator, lambda: ops.matmul(wide, wide, transpose_x=False, transpose_y=False)) == 0


def test_shared_memory_has_no_conflicts_of_banks(rng, emulator, gpu):
    x, y = tensor(rng.standard_normal((128, 64)), "float16"), tensor(rng.standard_normal((64, 128)), "float16")
    for transpose in False, True:
        a, b = (x, y) if not transpose else (tensor(rng.standard_normal((64, 128)), "float16"), tensor(rng.standard_normal((128, 64)), "float16"))
        with emulator.measure() as found:
            ops.matmul(a, b, transpose_x=transpose, transpose_y=transpose)
            wherry_tensor.device.synchronize("gpu")
        (one,) = found
        assert one.shared_passes == one.shared_least
        assert one.loads.sectors == one.loads.least
        assert one.stores.sectors == one.stores.least


# ---- attention -----------------------------------------------------------------------------------


def attend(rng, dtype, batch, heads, queries, keys, width, value_width=None, mask=None, p=0.0, lengths=None, **attrs):
    """Results and gradients on the GPU in `dtype`, and in float64 on the cpu from the same inputs: out, lse, the three gradients.

    `lengths` are those of queries and keys, and None or the diagonals; after them is NaN.
    """
    attrs = {"scale": width**-0.5, **({} if lengths else {"causal": False}), **attrs}
    shapes = [(queries, width), (keys, width), (keys, value_width or width), (queries, value_width or width)]
    arrays = [rng.standard_normal((batch, heads, *shape)) for shape in shapes]
    answers = []
    for b, (rows, columns) in enumerate(zip(*lengths[:2], strict=True) if lengths else ()):
        for x, count in zip(arrays, (rows, columns, columns, rows), strict=True):
            x[b, :, count:] = np.nan
    for device, kind in ("gpu", dtype), ("cpu", "float64"):
        wherry_tensor.set_device(device)
        q, k, v, ct = (tensor(x, dtype).astype(kind) for x in arrays)
        m = None if mask is None else wherry_tensor.to_tensor(mask) if mask.dtype == bool else tensor(mask, dtype).astype(kind)
        if p:
            wherry_tensor.seed(3)
            out, lse, keep = ops.attention_dropout(q, k, v, m, p=p, **attrs)
            gradients = ops.attention_dropout_vjp(ct, q, k, v, m, out, lse, keep, p=p, **attrs)
        elif lengths:
            each = [None if x is None else wherry_tensor.to_tensor(np.array(x, "int32")) for x in lengths]
            out, lse = ops.attention_lengths(q, k, v, m, *each, **attrs)
            gradients = ops.attention_lengths_vjp(ct, q, k, v, m, *each, out, lse, **attrs)
        else:
            out, lse = ops.attention(q, k, v, m, **attrs)
            gradients = ops.attention_vjp(ct, q, k, v, m, out, lse, **attrs)
        answers.append([one.astype("float64").numpy() for one in (out, lse, *gradients)])
    wherry_tensor.set_device("gpu")
    return answers


def check_attention(*arguments, **attrs):
    dtype = arguments[1]
    unit = 2.0**-10 if dtype == "float16" else 2.0**-7
    for name, gpu, exact in zip(("out", "lse", "q", "k", "v"), *attend(*arguments, **attrs), strict=True):
        # Weights are rounded to 16 bits between the two products, and out once more before the gradients.
        largest = np.abs(exact[np.isfinite(exact)]).max(initial=0)
        np.testing.assert_allclose(gpu, exact, rtol=2 * unit, atol=2 * unit * largest if name != "lse" else 1e-5, err_msg=name)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys", "width"), [(5, 7, 8), (70, 70, 64), (150, 130, 32), (33, 100, 128), (20, 80, 72), (17, 40, 9)])
def test_attention_and_its_gradients(rng, dtype, queries, keys, width, causal):
    check_attention(rng, dtype, 1, 2, queries, keys, width, causal=causal)


def test_attention_of_values_of_another_width(rng, dtype):
    check_attention(rng, dtype, 1, 1, 40, 50, 16, value_width=100)


@pytest.mark.parametrize("kind", ["bool", "float", "row"])
def test_attention_with_masks(rng, dtype, kind):
    if kind == "bool":
        mask = rng.random((2, 1, 37, 70)) < 0.6
        mask[1, 0, 5] = False  # a query that sees nothing
    else:
        mask = np.where(rng.random((1, 1, 37 if kind == "float" else 1, 70)) < 0.5, 0.0, -1e4)
    check_attention(rng, dtype, 2, 2, 37, 70, 16, mask=mask)
    if kind == "bool":
        check_attention(rng, dtype, 2, 2, 37, 70, 16, mask=mask, causal=True)


def test_attention_drops_the_weights_that_the_cpu_drops(rng, dtype):
    check_attention(rng, dtype, 2, 1, 37, 70, 64, p=0.3)


# Lengths 0 and 1, at the ends of tiles, beside them, and of whole blocks that have nothing to do.
LENGTHS = [[0, 1, 16, 63, 64, 65, 150], [140, 65, 1, 64, 128, 0, 63]]


@pytest.mark.parametrize("diagonal", [None, [0, 1, -3, 1, 64, 0, -87]])
@pytest.mark.parametrize("width", [64, 72])
def test_attention_of_sequences_of_different_lengths_leaves_padding_alone(rng, dtype, width, diagonal):
    check_attention(rng, dtype, 7, 1, 150, 140, width, lengths=[*LENGTHS, diagonal])


def test_attention_of_different_lengths_with_a_mask(rng, dtype):
    check_attention(rng, dtype, 2, 2, 37, 70, 16, mask=rng.random((2, 1, 37, 70)) < 0.6, lengths=[[37, 20], [33, 70], [0, 60]])


def test_tiles_behind_the_lengths_take_no_products(rng, emulator, gpu):
    q, k, v, ct = (tensor(rng.standard_normal((3, 1, 128, 64)), "float16") for _ in range(4))
    lengths = [wherry_tensor.to_tensor(np.array(x, "int32")) for x in ([128, 64, 0], [64, 128, 128])]
    one = 4 * 8 * 4  # 64 x 64 x 64, of which two sequences have two
    kept = []
    assert products(emulator, lambda: kept.extend(ops.attention_lengths(q, k, v, None, *lengths, None, scale=0.125))) == 2 * 4 * one
    with emulator.measure() as found:
        ops.attention_lengths_vjp(ct, q, k, v, None, *lengths, None, *kept, scale=0.125)
        wherry_tensor.device.synchronize("gpu")
    assert sum(kernel.products for kernel in found) == 7 * 4 * one


def test_attention_that_sees_nothing_gives_zeros(rng, dtype):
    out, lse, *_ = attend(rng, dtype, 1, 1, 40, 8, 16, causal=True)[0]  # the first 32 queries come before all keys
    assert not out[:, :, :32].any()
    assert np.isneginf(lse[:, :, :32]).all()
    assert np.isfinite(out).all()


def test_nan_in_a_query_stays_in_its_row(dtype):
    q = np.ones((1, 1, 20, 16))
    q[0, 0, 3, 5] = np.nan
    k = tensor(np.ones((1, 1, 9, 16)), dtype)
    out, _ = ops.attention(tensor(q, dtype), k, k, None, scale=1.0, causal=False)
    got = np.isnan(out.astype("float32").numpy()[0, 0]).any(axis=1)
    assert got.tolist() == [i == 3 for i in range(20)]


def test_attention_gives_the_same_bits_each_time(dtype):
    first, second = (attend(np.random.default_rng(1), dtype, 1, 1, 70, 70, 64, causal=True)[0] for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_attention_takes_two_products_forward_and_seven_backward(rng, emulator, gpu):
    q, k, v, ct = (tensor(rng.standard_normal((1, 1, 64, 64)), "float16") for _ in range(4))
    attrs = {"scale": 0.125, "causal": False}
    one = 4 * 8 * 4  # 64 x 64 x 64
    kept = []
    assert products(emulator, lambda: kept.extend(ops.attention(q, k, v, None, **attrs))) == 2 * one
    out, lse = kept
    with emulator.measure() as found:
        ops.attention_vjp(ct, q, k, v, None, out, lse, **attrs)
        wherry_tensor.device.synchronize("gpu")
    assert sum(kernel.products for kernel in found) == 7 * one
    for kernel in found:
        assert kernel.shared_passes == kernel.shared_least


# ---- convolution ---------------------------------------------------------------------------------

CONVOLUTIONS = {
    "plain": ((2, 16, 9, 10), 24, (3, 3), {}),
    "odd channels": ((2, 3, 12, 11), 10, (5, 3), {"strides": (2, 1), "paddings": (2, 1, 1, 1)}),
    "strided and dilated": ((1, 8, 13, 14), 16, (3, 2), {"strides": (2, 3), "paddings": (1, 2, 0, 1), "dilations": (2, 1)}),
    "groups": ((1, 16, 8, 8), 24, (3, 3), {"groups": 2, "paddings": (1, 1, 1, 1)}),
    "groups of odd width": ((1, 18, 7, 8), 20, (2, 2), {"groups": 2}),
    "one by one, several tiles": ((2, 40, 12, 12), 72, (1, 1), {}),
    "more taps and channels than are turned at once": ((1, 72, 9, 10), 8, (9, 9), {}),
    "no images": ((0, 8, 6, 6), 8, (3, 3), {}),
    "narrow groups": ((1, 8, 6, 6), 8, (3, 3), {"groups": 4}),  # not in tensor cores
}


def convolution(name, layout):
    shape, o, kernel, changes = CONVOLUTIONS[name]
    attrs = {"strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1, **changes}
    padded = [shape[2] + sum(attrs["paddings"][:2]), shape[3] + sum(attrs["paddings"][2:])]
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded, kernel, attrs["strides"], attrs["dilations"], strict=True)]
    out = (shape[0], o, *sizes)
    turn = (lambda s: s) if layout == "NCHW" else (lambda s: (s[0], s[2], s[3], s[1]))
    return turn(shape), (o, shape[1] // attrs["groups"], *kernel), turn(out), {**attrs, "data_format": layout}


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution_and_its_gradients(rng, dtype, name, layout):
    x, weight, out, attrs = convolution(name, layout)
    close(ops.conv2d, rng.standard_normal(x), rng.standard_normal(weight), rng.standard_normal(weight[0]), dtype=dtype, **attrs)
    ct = rng.standard_normal(out)
    close(ops.conv2d_input_vjp, ct, rng.standard_normal(weight), np.zeros(x), dtype=dtype, **attrs)
    close(ops.conv2d_weight_vjp, ct, rng.standard_normal(x), np.zeros(weight), dtype=dtype, **attrs)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_convolution_takes_no_more_instructions_than_its_products_have(rng, emulator, gpu, layout):
    shape = (1, 64, 8, 16) if layout == "NCHW" else (1, 8, 16, 64)
    x, ct, weight = (tensor(rng.standard_normal(s), "float16") for s in (shape, shape, (64, 64, 1, 1)))
    attrs = {"strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1, "data_format": layout}
    for call, least in (
        (lambda: ops.conv2d(x, weight, None, **attrs), 8 * 8 * 4),  # 128 places, 64 channels of 64
        (lambda: ops.conv2d_input_vjp(ct, weight, x, **attrs), 8 * 8 * 4),
        (lambda: ops.conv2d_weight_vjp(ct, x, weight, **attrs), 2 * 4 * 8 * 8),  # rows of a tile are 128 of which 64 are there
    ):
        with emulator.measure() as found:
            call()
            wherry_tensor.device.synchronize("gpu")
        assert sum(kernel.products for kernel in found) == least
        for kernel in found:
            assert kernel.shared_passes == kernel.shared_least, kernel.kernel
