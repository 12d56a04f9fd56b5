"""Inputs that are longer than the kit's samples: kernels that go another way then, held against the cpu's."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import _core, ops


def both(op, *arrays, **attrs):
    """The results of a call on the GPU, and on the cpu."""
    answers = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        out = op(*(None if x is None else wherry_tensor.to_tensor(x) for x in arrays), **attrs)
        answers.append([one.numpy() for one in (out if isinstance(out, (tuple, list)) else [out])])
    return zip(*answers, strict=True)


def same(op, *arrays, **attrs):
    for gpu, cpu in both(op, *arrays, **attrs):
        np.testing.assert_array_equal(gpu, cpu)


def close(op, *arrays, rtol=1e-6, **attrs):
    for gpu, cpu in both(op, *arrays, **attrs):
        np.testing.assert_allclose(gpu, cpu, rtol=rtol, atol=rtol)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_long_lines_are_sorted_and_equal_values_keep_their_order(gpu, rng, dtype):
    same(ops.sort, rng.integers(-300, 300, (2, 5000)).astype(dtype), axis=1, descending=False)
    same(ops.sort, rng.integers(-300, 300, (1500, 2)).astype(dtype), axis=0, descending=True)


def test_lines_that_a_block_holds_are_sorted_whichever_way_they_lie(gpu, rng):
    for n in 1, 2, 33, 1000, 1024:
        x = rng.integers(-99, 99, (3, n, 2)).astype("float64")
        x[1, n // 2], x[2, n // 3] = np.nan, -0.0
        for descending in False, True:
            same(ops.sort, x, axis=1, descending=descending)
            same(ops.sort, x[:, :, 0].astype("float16"), axis=1, descending=descending)
            same(ops.topk, x.astype("float32"), k=(n + 2) // 3, axis=1, largest=descending, sorted=True)


def test_the_best_of_long_lines_are_chosen_by_their_digits(gpu, rng):
    x = rng.integers(0, 40, (3, 3000)).astype("float32")
    x[1, 7] = np.nan
    same(ops.topk, x, k=100, axis=1, largest=True, sorted=True)
    same(ops.topk, x, k=100, axis=1, largest=False, sorted=True)
    same(ops.topk, rng.integers(-2**40, 2**40, 2000), k=1, axis=0, largest=True, sorted=True)


def test_long_arrays_have_their_unique_values(gpu, rng):
    same(ops.unique, rng.integers(0, 700, 5000), axis=None)
    same(ops.unique, rng.integers(0, 3, (1200, 3)), axis=0)
    same(ops.unique_consecutive, rng.integers(0, 2, 5000), axis=None)


def test_many_updates_of_one_place_are_added_in_their_order(gpu, rng):
    index = rng.integers(0, 37, 3000)
    same(ops.embedding_vjp, rng.standard_normal((3000, 4)).astype("float32"), index, np.zeros((37, 4), "float32"), padding_index=-1)
    x, updates = np.zeros((37, 4), "float32"), rng.standard_normal((3000, 4)).astype("float32")
    same(ops.scatter, x, index, updates, overwrite=True)
    same(ops.put_along_axis, np.zeros((37, 2), "float32"), rng.integers(0, 37, (900, 2)), np.array(1.5, "float32"), axis=0, reduce="add")


def test_long_lines_are_scanned_in_pieces(gpu, rng):
    x = rng.standard_normal((2, 20000))
    close(ops.cumsum, x, axis=1, reverse=False, rtol=1e-10)
    close(ops.cumsum, x.astype("float32"), axis=1, reverse=True)
    same(ops.cumsum, rng.integers(-9, 9, 9000), axis=0, reverse=False)
    close(ops.logcumsumexp, 100 * x, axis=1, rtol=1e-10)
    x[0, 15000] = np.nan
    same(ops.cummax, x.round(1), axis=1)
    same(ops.cummin, x.round(1).T.copy(), axis=0)


def test_a_product_that_began_with_zero_stays_zero(gpu):
    x = np.full(300, 1e200)
    x[0] = 0
    same(ops.cumprod, x, axis=0)


# Rows and columns, wide and narrow, that fill tiles and do not, in one piece and in several.
@pytest.mark.parametrize(
    ("shape", "axis"), [((40, 70), 1), ((5, 300, 3), 1), ((3, 70, 12), 1), ((2, 33, 45), 1), ((700, 40), 0), ((3, 1500, 2), 1), ((9, 4, 1), 1)]
)
def test_lines_are_scanned_whichever_way_they_lie(gpu, rng, shape, axis):
    x = rng.standard_normal(shape)
    for reverse in False, True:
        close(ops.cumsum, x.astype("float32"), axis=axis, reverse=reverse, rtol=1e-5)
        close(ops.linear_scan, x, x, axis=axis, reverse=reverse, rtol=1e-10)
    close(ops.cumprod, 1 + x / 8, axis=axis, rtol=1e-10)
    close(ops.logcumsumexp, 100 * x, axis=axis, rtol=1e-10)
    same(ops.cummin, x.round(1), axis=axis)


@pytest.mark.parametrize("width", [9, 66])
def test_attention_of_several_tiles_and_its_gradient(gpu, rng, width):
    q, k, v, ct = (rng.standard_normal((1, 1, time, width)).astype("float32") for time in (70, 68, 68, 70))
    attrs = {"scale": width**-0.5, "causal": True}
    close(ops.attention, q, k, v, None, rtol=1e-5, **attrs)
    wherry_tensor.set_device("cpu")
    out, lse = ops.attention(*map(wherry_tensor.to_tensor, (q, k, v)), None, **attrs)
    close(ops.attention_vjp, ct, q, k, v, None, out.numpy(), lse.numpy(), rtol=1e-5, **attrs)


def test_dropped_weights_are_those_of_the_cpu(gpu, rng):
    q, k, v, ct = (rng.standard_normal((2, 1, 6, 4)).astype("float32") for _ in range(4))
    attrs = {"scale": 0.5, "causal": True, "p": 0.5}
    kept = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        wherry_tensor.seed(5)
        answers = ops.attention_dropout(*map(wherry_tensor.to_tensor, (q, k, v)), None, **attrs)
        kept.append([one.numpy() for one in answers])
    np.testing.assert_array_equal(kept[0][2], kept[1][2])
    np.testing.assert_allclose(kept[0][0], kept[1][0], rtol=1e-5, atol=1e-6)
    close(ops.attention_dropout_vjp, ct, q, k, v, None, *kept[1], rtol=1e-5, **attrs)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
def test_triangles_are_solved_from_either_side(gpu, rng, upper, transpose):
    x = rng.standard_normal((2, 5, 5)) + 4 * np.eye(5)
    close(ops.triangular_solve, x, rng.standard_normal((2, 5, 34)), upper=upper, transpose=transpose, unitriangular=False, rtol=1e-9)


def misaligned(x):
    """The same values from a place on that is not a multiple of 16 bytes: a view of the current device."""
    flat = wherry_tensor.to_tensor(np.concatenate([np.zeros(1, x.dtype), x.ravel()]))
    return flat[1:].reshape(list(x.shape))


# Rows that packs of 16 bytes fill, that they do not, that registers do not hold; and columns, some of which a block shares.
ROWS = [((3, 4), 1), ((3, 77), 1), ((2, 9000), 1), ((2, 4201), 1), ((2, 5, 3), 1), ((2, 300, 33), 1), ((900, 5), 0)]


@pytest.mark.parametrize(("shape", "axis"), ROWS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_softmax_of_rows_of_any_length(gpu, rng, shape, axis, dtype):
    rtol = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    x, ct = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    x.flat[::7] = -np.inf
    for op in ops.softmax, ops.log_softmax:
        close(op, x, axis=axis, rtol=rtol)
    x = x.clip(-3, 0)
    for op in ops.softmax_vjp, ops.log_softmax_vjp:
        close(op, ct, x, axis=axis, rtol=20 * rtol)


def test_rows_of_nothing_but_minus_infinity_and_rows_with_nan(gpu, rng):
    x = rng.standard_normal((4, 9001)).astype("float32")
    x[0], x[1, 8999], x[2, 3] = -np.inf, np.nan, np.inf
    close(ops.softmax, x, axis=1, rtol=1e-5)


@pytest.mark.parametrize(("shape", "axis"), ROWS)
@pytest.mark.parametrize("soft", [False, True])
def test_cross_entropy_of_rows_of_any_length(gpu, rng, shape, axis, soft):
    x = rng.standard_normal(shape).astype("float32")
    one = [1 if i == axis else n for i, n in enumerate(shape)]
    label = rng.random(shape).astype("float32") if soft else rng.integers(0, shape[axis], one)
    weight, ct = rng.random(shape[axis]).astype("float32"), rng.standard_normal(one).astype("float32")
    attrs = {"soft_label": soft, "ignore_index": -100, "axis": axis}
    if soft:
        close(ops.cross_entropy, x, label / label.sum(axis, keepdims=True), None, rtol=1e-4, **attrs)
        close(ops.cross_entropy_vjp, ct, x, label, weight, rtol=1e-3, **attrs)
    else:
        close(ops.cross_entropy, x, label, weight, rtol=1e-4, **attrs)
        close(ops.cross_entropy_vjp, ct, x, label, None, rtol=1e-5, **attrs)


@pytest.mark.parametrize(("rows", "n"), [(300, 8), (70, 6), (3, 9000), (2100, 32), (2, 4097)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_layer_norm_of_rows_of_any_length_and_its_gradient(gpu, rng, rows, n, dtype):
    rtol = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-11}[dtype]
    x, ct = (rng.standard_normal((rows, n)).astype(dtype) + 3 for _ in range(2))
    scale, bias = rng.random((2, n)).astype("float32" if dtype == "float16" else dtype)
    mean, rstd = (value.astype(scale.dtype) for value in (x.mean(1), 1 / np.sqrt(x.astype("float64").var(1) + 1e-5)))
    close(ops.layer_norm, x, scale, bias, epsilon=1e-5, begin_axis=1, rtol=rtol)
    close(ops.layer_norm, x, None, None, epsilon=1e-5, begin_axis=1, rtol=rtol)
    added = 1, rows, rows  # values that each gradient is a sum of
    for (gpu_, cpu_), n_added in zip(both(ops.layer_norm_vjp, ct, x, scale, mean, rstd, begin_axis=1), added, strict=True):
        np.testing.assert_allclose(gpu_, cpu_, rtol=10 * rtol, atol=10 * rtol * n_added**0.5)


def test_rows_that_begin_in_the_middle_of_a_pack(gpu, rng):
    x = rng.standard_normal((5, 64)).astype("float32")
    ones, zeros = np.ones(64, "float32"), np.zeros(64, "float32")
    answers = []
    for make in misaligned, wherry_tensor.to_tensor:
        values = make(x), make(ones), make(zeros)
        dropped = ops.dropout_vjp(values[0], make((x > 0).astype("uint8")), scale=2.0)
        answers.append((ops.softmax(values[0], axis=1), ops.layer_norm(*values, epsilon=1e-5, begin_axis=1)[0], dropped))
    for own, other in zip(*answers, strict=True):
        np.testing.assert_allclose(own.numpy(), other.numpy(), rtol=1e-6, atol=1e-6)


# Channels that a block keeps, that are cut into pieces, and those that are last, in packs and not.
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("batch", "channels", "size"), [(2, 4, (4, 4)), (3, 5, (3, 5)), (5, 4, (48, 48)), (5, 3, (47, 47)), (70, 40, (9, 9))])
def test_batch_norm_of_channels_of_any_size_and_its_gradient(gpu, rng, data_format, batch, channels, size):
    shape = (batch, channels, *size) if data_format == "NCHW" else (batch, *size, channels)
    x, ct = (rng.standard_normal(shape).astype("float32") + 5 for _ in range(2))
    x.flat[:channels] = 1e3  # what distances are measured from may be far from the rest
    scale, bias, mean = rng.random((3, channels)).astype("float32")
    variance = scale + 1
    attrs = {"epsilon": 1e-5, "data_format": data_format}
    close(ops.batch_norm, x, scale, bias, rtol=2e-4, **attrs)
    close(ops.batch_norm_infer, x, mean, variance, scale, bias, rtol=1e-4, **attrs)
    for gpu_, cpu_ in both(ops.batch_norm_vjp, ct, x, scale, mean + 5, variance, **attrs):
        np.testing.assert_allclose(gpu_, cpu_, rtol=1e-4, atol=1e-4 * abs(cpu_).max())


@pytest.mark.parametrize("shape", [(2, 6, 4, 4), (2, 4, 5, 5), (1, 4, 80, 80)])
def test_group_norm_of_groups_of_any_size(gpu, rng, shape):
    x = rng.standard_normal(shape).astype("float32") + 4
    scale, bias = rng.random((2, shape[1])).astype("float32")
    close(ops.group_norm, x, scale, bias, epsilon=1e-5, groups=2, rtol=1e-4)


# Groups that a block keeps, in packs and value by value, with short and long channels, and groups that are read twice.
@pytest.mark.parametrize("shape", [(3, 6, 4, 4), (2, 4, 5, 5), (2, 40), (2, 4, 40, 48), (1, 300, 7, 7), (1, 4, 47, 47), (1, 4, 80, 80)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_of_group_norm_of_groups_of_any_size(gpu, rng, shape, dtype):
    x, ct = ((rng.standard_normal(shape) + 1).astype(dtype) for _ in range(2))
    scale = rng.random(shape[1]).astype(dtype)
    mean, rstd = rng.random((2, shape[0], 2)).astype("float64" if dtype == "float64" else "float32") + 0.5
    for gpu_, cpu_ in both(ops.group_norm_vjp, ct, x, scale, mean, rstd, groups=2):
        tolerance = 2e-3 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(gpu_, cpu_, rtol=tolerance, atol=tolerance * abs(cpu_).max())


@pytest.mark.parametrize("n", [3, 64, 1001])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_keeps_what_the_cpu_keeps(gpu, n, dtype):
    answers = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        wherry_tensor.seed(9)
        out, mask = ops.dropout(wherry_tensor.to_tensor(np.arange(n).astype(dtype)), p=0.4, upscale=True)
        answers.append((out.numpy(), mask.numpy(), ops.dropout_vjp(out, mask, scale=2.0).numpy()))
    for gpu_, cpu_ in zip(*answers, strict=True):
        np.testing.assert_array_equal(gpu_, cpu_)


@pytest.mark.parametrize("n", [3, 64, 4099])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_with_a_summand_has_the_bits_of_the_cpu_and_of_two_ops(gpu, rng, n, dtype):
    x, y = (rng.standard_normal(n + 1).astype(dtype) for _ in range(2))
    for begin in 0, 1:  # packs, and single elements where memory is not aligned
        answers = []
        for device, together in ("gpu", True), ("cpu", True), ("cpu", False):
            wherry_tensor.set_device(device)
            wherry_tensor.seed(9)
            a, b = (wherry_tensor.to_tensor(each)[begin : begin + n] for each in (x, y))
            out, mask = ops.dropout_add(a, b, p=0.4, upscale=True) if together else ops.dropout(a, p=0.4, upscale=True)
            answers.append(((out if together else out + b).numpy(), mask.numpy()))
        for gpu_, cpu_, apart in zip(*answers, strict=True):
            np.testing.assert_array_equal(gpu_, cpu_)
            np.testing.assert_array_equal(gpu_, apart)


@pytest.mark.parametrize("n", [5 * 11 * 41, 2**11 * 3 * 5])
def test_long_lines_are_transformed_in_several_launches(gpu, rng, n):
    z = rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))
    close(ops.fft_c2c, z.astype("complex64"), rtol=2e-4, axes=(1,), normalization="none", forward=True)
    close(ops.fft_c2c, z.T, rtol=1e-9, axes=(0,), normalization="n", forward=False)
    close(ops.fft_r2c, z.real, rtol=1e-9, axes=(1,), normalization="sqrt", forward=False)
    close(ops.fft_c2r, z[:, : n // 2 + 1], rtol=1e-9, axes=(1,), normalization="none", forward=True, size=n)


def test_a_line_beyond_two_launches_takes_three(gpu, rng):
    close(ops.fft_c2c, rng.standard_normal((1, 2**17)) + 0j, rtol=1e-9, axes=(1,), normalization="none", forward=True)


def test_more_boxes_than_words_of_bits_hold_are_struck_as_on_the_cpu(gpu, rng):
    corner = rng.integers(0, 200, (900, 2)) / 2
    boxes = np.concatenate([corner, corner + rng.integers(1, 60, (900, 2)) / 2], 1).astype("float32")
    same(ops.suppress, boxes, rng.integers(0, 3, 900), threshold=0.3, offset=0.0)


def test_pixels_of_many_boxes_are_gathered_in_their_order(gpu, rng):
    low = rng.uniform(-2, 12, (70, 2))
    boxes, image = np.concatenate([low, low + rng.uniform(0, 9, (70, 2))], 1), rng.integers(0, 2, 70)
    like = rng.standard_normal((2, 5, 17, 19))
    attrs = {"height": 3, "width": 2, "scale": 0.9}
    close(ops.roi_align, like, boxes, image, rtol=1e-9, ratio=2, aligned=True, **attrs)
    close(ops.roi_align_vjp, rng.standard_normal((70, 5, 3, 2)), boxes, image, like, rtol=1e-9, ratio=2, aligned=True, **attrs)
    close(ops.psroi_pool_vjp, rng.standard_normal((70, 1, 5, 1)), boxes, image, like, rtol=1e-9, height=5, width=1, scale=0.9)


def test_many_edges_meet_at_their_rows(gpu, rng):
    x, source, target = rng.standard_normal((40, 3)), rng.integers(0, 40, 3000), rng.integers(0, 50, 3000)
    for op, attrs in ((ops.edge_sum, {"mean": True}), (ops.edge_extreme, {"largest": True})):
        close(op, x, source, target, rtol=1e-10, count=50, sorted=False, **attrs)
        close(op, x, source, np.sort(target), rtol=1e-10, count=50, sorted=True, **attrs)


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-9, -1e-300, 1e300, 800.0, -25.0, np.inf, -np.inf, np.nan, 1 + 1e-9, np.pi / 2)


@pytest.mark.parametrize("name", "exp log log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split())
def test_functions_of_complex_numbers_agree_at_zeros_infinities_and_cuts(gpu, name):
    z = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL])
    with np.errstate(all="ignore"):
        ((got, expected),) = both(getattr(ops, name), z)
        undefined = np.isnan(got) & np.isnan(expected)
        for part in np.real, np.imag:
            a, b = part(got)[~undefined], part(expected)[~undefined]
            assert np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-14 * np.abs(b)))


def test_labels_that_repeat_their_symbols_have_one_gradient_for_each_class(gpu, rng):
    x = np.log(rng.dirichlet(np.ones(4), (30, 2))).astype("float32")
    labels, times, lengths = np.array([[1, 1, 2, 1, 1, 3, 1], [2, 2, 2, 2, 2, 2, 2]]), np.array([30, 25]), np.array([7, 5])
    attrs = {"blank": 0, "norm_by_times": False}
    wherry_tensor.set_device("cpu")
    alpha = ops.ctc_loss(*(wherry_tensor.to_tensor(one) for one in (x, labels, times, lengths)), **attrs)[1].numpy()
    ct = rng.standard_normal(2).astype("float32")
    close(ops.ctc_loss, x, labels, times, lengths, rtol=1e-5, **attrs)
    close(ops.ctc_loss_vjp, ct, x, labels, times, lengths, alpha, rtol=1e-5, **attrs)
    close(ops.ctc_loss_curvature, x, ct, x, labels, times, lengths, alpha, rtol=1e-4, **attrs)


@pytest.mark.parametrize("n", [1, 3, 4, 31, 64, 1027, 70001])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64", "complex64", "bool"])
def test_packs_and_what_is_left_of_them_are_computed(gpu, rng, n, dtype):
    x, y = ((rng.random(n) * 5 - 1).astype(dtype) for _ in range(2))
    same(ops.bitwise_xor if dtype == "bool" else ops.add, x, y)
    same(ops.equal, x, y)
    same(ops.cast, x, dtype=_core.complex128 if dtype == "complex64" else _core.float32)
    same(ops.where, rng.random(n) < 0.5, x, y)


@pytest.mark.parametrize(
    ("shape", "other"),
    [((37, 64), (64,)), ((37, 64), (37, 1)), ((3, 5, 48), (5, 1)), ((3, 5, 48), (3, 1, 48)), ((2, 3, 4, 8), (3, 1, 8)), ((9, 7), (7,)), ((6, 64), ()),
     ((3000, 8), (8,)), ((5, 1, 16), (1, 6, 1))],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rows_of_one_operand_serve_all_rows_of_another(gpu, rng, shape, other, dtype):
    x, y = rng.standard_normal(shape).astype(dtype), rng.standard_normal(other).astype(dtype)
    same(ops.add, x, y)
    same(ops.subtract, y, x)
    same(ops.where, x > 0, x, y)


def test_operands_that_begin_in_the_middle_of_a_pack_are_read_one_by_one(gpu, rng):
    x, y = rng.standard_normal((2, 4, 64)).astype("float32")
    expected = x + y
    for make, other in (misaligned, wherry_tensor.to_tensor), (wherry_tensor.to_tensor, misaligned), (misaligned, misaligned):
        np.testing.assert_array_equal(ops.add(make(x), other(y)).numpy(), expected)
    whole = wherry_tensor.to_tensor(np.zeros(257, "float32"))
    ops.add.into((whole[1:].reshape([4, 64]),), wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y))
    np.testing.assert_array_equal(whole.numpy(), np.concatenate([[0], expected.ravel()]))


@pytest.mark.parametrize("shape", [(64, 80), (3, 64, 96), (65, 63)])
def test_turned_operands_are_added(gpu, rng, shape):
    x, y = rng.standard_normal(shape).astype("float32"), rng.standard_normal((*shape[:-2], shape[-1], shape[-2])).astype("float32")
    perm = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    own, turned = wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y).transpose(perm)
    np.testing.assert_array_equal(ops.add(own, turned).numpy(), x + y.swapaxes(-1, -2))
    np.testing.assert_array_equal(ops.subtract(turned, own).numpy(), y.swapaxes(-1, -2) - x)
    np.testing.assert_array_equal(ops.multiply(turned, turned).numpy(), (y * y).swapaxes(-1, -2))
    np.testing.assert_array_equal(ops.copy(own[..., 4:36]).numpy(), x[..., 4:36])


@pytest.mark.parametrize(
    ("shape", "axes"), [((70, 40), (0,)), ((3000, 9), (0,)), ((5, 90, 33), (1,)), ((5, 40, 3, 16), (0, 1)), ((40, 6, 64), (0, 2))]
)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_columns_are_reduced(gpu, rng, shape, axes, dtype):
    x = (rng.standard_normal(shape) * 9).astype(dtype)
    close(ops.reduce_sum, x, axes=axes, keepdim=False, rtol=1e-5)
    same(ops.reduce_max, x, axes=axes, keepdim=True)
    same(ops.reduce_any, x > 20, axes=axes, keepdim=False)
    if len(axes) == 1:
        same(ops.argmin, x, axis=axes[0], keepdim=False)
    if dtype == "float32":
        close(ops.variance, x, axes=axes, keepdim=False, correction=1, rtol=1e-5)
        close(ops.logsumexp, x, axes=axes, keepdim=False, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 45, 45), pytest.param((2, 70, 20), marks=pytest.mark.slow), (1, 9, 60)])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_factors_of_larger_matrices_are_orthogonal_and_give_the_matrix_back(gpu, rng, shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    x[0, :, 3] = x[0, :, 1]  # a rank that is not full
    tolerance = 1e-12 if dtype == "float64" else 2e-5

    def gram(q):
        return np.conj(np.swapaxes(q, 1, 2)) @ q - np.eye(q.shape[2])

    q, r = (one.numpy() for one in ops.qr(wherry_tensor.to_tensor(x), complete=False))
    assert abs(q @ r - x).max() < tolerance and abs(gram(q)).max() < tolerance and not np.tril(r, -1).any()
    u, s, vh = (one.numpy() for one in ops.svd(wherry_tensor.to_tensor(x), full_matrices=True))
    k = s.shape[1]
    assert abs((u[:, :, :k] * s[:, None]) @ vh[:, :k] - x).max() < 10 * tolerance
    assert abs(gram(u)).max() < tolerance and abs(gram(np.conj(np.swapaxes(vh, 1, 2)))).max() < tolerance
    assert (np.diff(s) <= 0).all()
    h = x @ np.conj(np.swapaxes(x, 1, 2))
    w, v = (one.numpy() for one in ops.eigh(wherry_tensor.to_tensor(h), upper=True))
    assert abs((v * w[:, None]) @ np.conj(np.swapaxes(v, 1, 2)) - h).max() < 100 * tolerance and abs(gram(v)).max() < 10 * tolerance


def test_eigenvalues_that_are_equal_or_far_apart_are_found(gpu):
    x = np.stack([np.eye(5), np.ones((5, 5)), np.diag([1e200, 1.0, -1e-200, 0.0, 2.0]), np.zeros((5, 5))])
    w = ops.eigh(wherry_tensor.to_tensor(x), upper=False)[0].numpy()
    np.testing.assert_allclose(w, [[1] * 5, [0, 0, 0, 0, 5], [-1e-200, 0, 1, 2, 1e200], [0] * 5], atol=1e-14, rtol=1e-14)
    s = ops.svd(wherry_tensor.to_tensor(x), full_matrices=False)[1].numpy()
    np.testing.assert_allclose(s[0], 1)
    np.testing.assert_allclose(s[1], [5, 0, 0, 0, 0], atol=1e-14)
    assert not s[3].any()


def _matched(values, expected):
    """The largest distance of values to those that are expected, each of which serves once."""
    left, most = list(expected), 0.0
    for value in values:
        nearest = int(np.argmin(np.abs(np.array(left) - value)))
        most = max(most, abs(left.pop(nearest) - value))
    return most


MATRICES = {
    "large": lambda rng: rng.standard_normal((33, 33)),
    "zeros": lambda rng: np.zeros((4, 4)),
    "equal values": lambda rng: np.eye(5),
    "one vector": lambda rng: 2 * np.eye(30) + np.eye(30, k=1),
    "nilpotent": lambda rng: np.eye(6, k=1),
    "rotation": lambda rng: np.array([[0.0, 1.0], [-1.0, 0.0]]),
    "a circle": lambda rng: np.roll(np.eye(32), 1, 0),
    "triangle": lambda rng: np.triu(rng.standard_normal((9, 9))),
    "symmetric": lambda rng: np.add(*(lambda x: (x, x.T))(rng.standard_normal((9, 9)))),
    "graded": lambda rng: np.diag(10.0 ** np.arange(-12, 0)) @ rng.standard_normal((12, 12)),
    "large numbers": lambda rng: 1e200 * rng.standard_normal((4, 4)),
    "small numbers": lambda rng: 1e-200 * rng.standard_normal((4, 4)),
    # Two real values near each other, whose roundings point away from the real line on both sides.
    "polynomial": lambda rng: np.diag(np.ones(7), -1) - np.outer(np.eye(8)[0], np.poly([-1.144, -1.13, 1.1, -0.5, 0.5, 0.7, -0.7, 0.2])[1:]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_of_any_matrix_are_those_of_lapack(gpu, rng, name):
    x = MATRICES[name](rng)
    size = abs(x).max() or 1.0
    for given in (x, np.stack([x / size, 1j * x.T / size])):
        w, v = (one.numpy() for one in ops.eig(wherry_tensor.to_tensor(given)))
        norm = abs(given).max() or 1.0
        assert abs(given / norm @ v - v * (w / norm)[..., None, :]).max() < 1e-13
        assert abs(np.sqrt((abs(v) ** 2).sum(-2)) - 1).max() < 1e-14
        tolerance = 1e-9 if name in ("polynomial", "graded") else 1e-12
        for one, expected in zip(w.reshape(-1, w.shape[-1]), np.linalg.eigvals(given).reshape(-1, w.shape[-1])):
            assert _matched(one / norm, expected / norm) < tolerance
    w, v = (one.numpy() for one in ops.eig(wherry_tensor.to_tensor(x)))
    assert (np.sort_complex(w) == np.sort_complex(w.conj())).all()  # pairs are exact
    assert (v[:, w.imag == 0].imag == 0).all()
    if name in ("symmetric", "triangle", "polynomial"):
        assert (w.imag == 0).all()


@pytest.mark.parametrize("name", ["eigh", "svd", "eig"])
def test_a_matrix_with_nan_is_reported_by_its_number(gpu, name):
    x = np.zeros((3, 2, 2))
    x[1, 0, 0] = np.nan
    with pytest.raises(ValueError, match=f"{name}: the iteration did not converge. Got matrix 1 of the batch with values that are not finite"):
        getattr(ops, name)(wherry_tensor.to_tensor(x), **{"eigh": {"upper": False}, "svd": {"full_matrices": False}, "eig": {}}[name])
        wherry_tensor.device.synchronize("gpu")


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_permutations_are_those_of_the_cpu(gpu, n):
    drawn = []
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        wherry_tensor.seed(5)
        drawn.append(ops.randperm(n=n, dtype=wherry_tensor.int64).numpy())
    np.testing.assert_array_equal(*drawn)
    np.testing.assert_array_equal(np.sort(drawn[0]), np.arange(n))


# Planes of which a block takes several, bands of rows, lines that are longer than shared memory, one window for all; in both layouts.
POOLED = [
    ((3, 700, 6, 7), (2, 2), (2, 2), (0, 0)),
    ((2, 3, 90, 70), (3, 3), (2, 2), (1, 1)),
    ((1, 2, 5, 9000), (3, 3), (1, 2), (1, 1)),
    ((1, 1, 2, 14000), (1, 4), (1, 4), (0, 0)),
    ((2, 5, 33, 31), (5, 3), (1, 3), (2, 0)),
]


@pytest.mark.parametrize(("shape", "kernel", "strides", "padding"), POOLED)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_windows_of_large_images_and_their_gradients(gpu, rng, shape, kernel, strides, padding, data_format, dtype):
    x = rng.integers(-50, 50, shape).astype(dtype)  # ties, and sums that are exact
    x[0, 0, 0, :3] = np.nan
    if data_format == "NHWC":
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    attrs = {"kernel": kernel, "strides": strides, "paddings": (padding[0],) * 2 + (padding[1],) * 2, "ceil_mode": False, "data_format": data_format}
    same(ops.max_pool2d, x, **attrs)
    out, mask = (np.asarray(one) for one in next(zip(*both(ops.max_pool2d, x, **attrs), strict=True)))
    ct = rng.integers(-9, 9, out.shape).astype(dtype)
    same(ops.max_pool2d_vjp, ct, mask, x, data_format=data_format)
    close(ops.avg_pool2d, x, rtol=1e-3 if dtype == "float16" else 1e-6, exclusive=False, divisor=None, **attrs)
    close(ops.adaptive_avg_pool2d, x, rtol=1e-3 if dtype == "float16" else 1e-5, output_size=(1, 1), data_format=data_format)
    close(ops.adaptive_avg_pool2d, x, rtol=1e-3 if dtype == "float16" else 1e-5, output_size=(2, 3), data_format=data_format)
    same(ops.adaptive_max_pool2d, x, output_size=(2, 5), data_format=data_format)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_many_values_of_one_place_are_added_in_their_order(gpu, rng, data_format):
    shape, outputs = ((2, 3, 80, 80), (2, 3, 40, 50)) if data_format == "NCHW" else ((2, 80, 80, 3), (2, 40, 50, 3))
    mask = rng.choice([-1, 0, 7, 4095, 4096, 6399], outputs)
    same(ops.max_pool2d_vjp, rng.standard_normal(outputs).astype("float32"), mask, np.zeros(shape, "float32"), data_format=data_format)


def test_a_position_outside_of_a_plane_that_is_cut_into_bands_is_reported(gpu):
    values = np.ones((1, 1, 40, 50), "float32"), np.full((1, 1, 40, 50), 6400), np.ones((1, 1, 80, 80), "float32")
    ct, mask, like = (wherry_tensor.to_tensor(x) for x in values)
    ops.max_pool2d_vjp(ct, mask, like, data_format="NCHW")
    with pytest.raises(wherry_tensor.errors.InvalidArgumentError, match="position 6400 lies outside of its plane"):
        wherry_tensor.device.synchronize("gpu")


@pytest.mark.parametrize("shape", [(19, 6, 5), (8, 7), (3, 2, 9, 4)])
def test_places_are_sampled_in_several_outer_ones_at_once(gpu, rng, shape):
    x, axis = rng.standard_normal(shape), len(shape) - 2 + (len(shape) == 2)
    index, weight = rng.integers(0, shape[axis], (11, 3)), rng.integers(-1, 2, (11, 3)).astype("float64")
    close(ops.resample, x, index, weight, axis=axis, rtol=1e-12)
