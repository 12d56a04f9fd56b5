"""What the samples cannot say about convolution: threads, special values, the size of Winograd's error."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops
from wherry_tensor.testing.samples import convolution as samples


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _tensor(rng, *shape, dtype=np.float32):
    return wherry_tensor.to_tensor(rng.standard_normal(shape).astype(dtype))


def _window(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format="NCHW"):
    return dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)


SHAPES = {
    "Winograd, in blocks": ((3, 32, 30, 31), (40, 32, 3, 3), _window(paddings=(1, 1, 1, 1))),
    "Winograd, in stages": ((2, 320, 9, 9), (320, 320, 3, 3), _window(paddings=(1, 1, 1, 1))),
    "Winograd, step 2": ((3, 35, 30, 31), (40, 35, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1))),
    "Winograd, step 2, many channels": ((2, 200, 29, 30), (220, 200, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1))),
    "Winograd, along rows": ((3, 3, 40, 61), (37, 3, 7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),
    "small images, joined": ((4, 160, 3, 2), (100, 160, 3, 3), _window(paddings=(1, 1, 1, 1))),
    "small images with step 2, joined": ((5, 128, 9, 8), (130, 128, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1))),
    "1x1": ((3, 40, 20, 30), (70, 40, 1, 1), _window()),
    "1x1, small images": ((7, 70, 5, 9), (40, 70, 1, 1), _window()),
    "1x1, small images, joined": ((4, 400, 5, 5), (370, 400, 1, 1), _window()),
    "1x1 with step 2, joined": ((3, 400, 9, 8), (370, 400, 1, 1), _window(strides=(2, 2))),
    "1x1, groups": ((3, 24, 20, 31), (108, 8, 1, 1), _window(groups=3)),
    "strided": ((3, 20, 31, 30), (30, 20, 5, 3), _window(strides=(2, 3), paddings=(2, 2, 1, 1))),
    "depthwise": ((3, 40, 31, 30), (40, 1, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1), groups=40)),
    "neighbours of single channels": ((3, 40, 31, 70), (40, 1, 3, 3), _window(paddings=(1, 1, 1, 1), groups=40)),
    "groups": ((3, 24, 20, 30), (36, 8, 3, 3), _window(paddings=(1, 1, 1, 1), groups=3)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_convolutions_do_not_depend_on_the_number_of_threads(threads, name, data_format, dtype):
    rng = np.random.default_rng(0)
    x_shape, weight_shape, window = SHAPES[name]
    window = {**window, "data_format": data_format}
    if data_format == "NHWC":
        x_shape = (x_shape[0], *x_shape[2:], x_shape[1])
    given = _tensor(rng, *x_shape), _tensor(rng, *weight_shape), _tensor(rng, weight_shape[0])
    x, weight, bias = (ops.cast(t, dtype=getattr(wherry_tensor, dtype)) for t in given)
    results = []
    for count in 1, 2, 3, 5:
        threads(count)
        out = ops.conv2d(x, weight, bias, **window)
        gradients = ops.conv2d_input_vjp(out, weight, x, **window), ops.conv2d_weight_vjp(out, x, weight, **window)
        results.append(b"".join(t.numpy().tobytes() for t in (out, *gradients)))
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "images, size, kernel, window",
    [
        (4, (2, 2), 3, _window(paddings=(1, 1, 1, 1))), (1, (4, 3), 3, _window(paddings=(1, 1, 1, 1))),
        (5, (7, 5), 3, _window(strides=(2, 1), paddings=(1, 0, 2, 1))),
        (9, (6, 6), 3, _window(strides=(2, 2), dilations=(2, 1), paddings=(2, 2, 1, 1))),
        (3, (9, 9), 5, _window(strides=(3, 2), paddings=(2, 2, 2, 2))), (12, (5, 6), 2, _window()),
    ],
)
def test_small_images_of_many_channels(images, size, kernel, window, dtype):
    rng = np.random.default_rng(3)
    cin, cout = 192, 176
    x, weight, bias = rng.standard_normal((images, cin, *size)), rng.standard_normal((cout, cin, kernel, kernel)), rng.standard_normal(cout)
    x, weight, bias = (t.astype(dtype).astype("float64") for t in (x, weight, bias))
    exact = samples._conv2d(x, weight, bias, **window)
    ct = rng.standard_normal(exact.shape).astype(dtype).astype("float64")
    give = lambda t: wherry_tensor.to_tensor(t.astype(dtype))  # noqa: E731
    found = {
        "forward": (ops.conv2d(give(x), give(weight), give(bias), **window), exact),
        "input": (ops.conv2d_input_vjp(give(ct), give(weight), give(x), **window), samples._conv2d_input_vjp(ct, weight, x, **window)),
        "weight": (ops.conv2d_weight_vjp(give(ct), give(x), give(weight), **window), samples._conv2d_weight_vjp(ct, x, weight, **window)),
    }
    for name, (got, expected) in found.items():
        near = 1e-3 if dtype == "float16" else 1e-5 if dtype == "float32" else 1e-13  # of the largest: sums of 800 to 4400 products
        assert np.abs(got.numpy().astype("float64") - expected).max() < near * np.abs(expected).max(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    "images, cin, cout, size, kernel, window",
    [
        (2, 40, 70, (20, 30), (1, 1), _window()), (2, 70, 40, (20, 30), (1, 1), _window()), (7, 64, 64, (5, 9), (1, 1), _window()),
        (3, 32, 96, (16, 17), (1, 1), _window()), (2, 8, 36, (33, 17), (1, 1), _window(groups=3)), (11, 400, 370, (5, 5), (1, 1), _window()),
        (2, 40, 70, (1, 700), (1, 1), _window()), (3, 400, 370, (9, 8), (1, 1), _window(strides=(2, 2))),
        (2, 20, 30, (13, 14), (1, 1), _window(strides=(2, 2))), (2, 20, 30, (13, 14), (1, 1), _window(strides=(3, 2), paddings=(1, 1, 1, 1))),
        (2, 20, 30, (13, 14), (2, 1), _window(strides=(3, 2), paddings=(1, 0, 0, 0))), (1, 6, 5, (7, 1), (1, 1), _window(strides=(2, 2))),
    ],
)
def test_windows_of_one_pixel_and_outputs_that_none_reaches(images, cin, cout, size, kernel, window, data_format, dtype):
    rng = np.random.default_rng(4)
    window = {**window, "data_format": data_format}
    x, weight = rng.standard_normal((images, cin * window["groups"], *size)), rng.standard_normal((cout * window["groups"], cin, *kernel))
    if data_format == "NHWC":
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    x, weight = (t.astype(dtype).astype("float64") for t in (x, weight))
    exact = samples._conv2d(x, weight, None, **window)
    ct = rng.standard_normal(exact.shape).astype(dtype).astype("float64")
    give = lambda t: wherry_tensor.to_tensor(t.astype(dtype))  # noqa: E731
    found = {
        "forward": (ops.conv2d(give(x), give(weight), None, **window), exact),
        "input": (ops.conv2d_input_vjp(give(ct), give(weight), give(x), **window), samples._conv2d_input_vjp(ct, weight, x, **window)),
        "weight": (ops.conv2d_weight_vjp(give(ct), give(x), give(weight), **window), samples._conv2d_weight_vjp(ct, x, weight, **window)),
    }
    for name, (got, expected) in found.items():
        near = 1e-5 if dtype == "float32" else 1e-13  # of the largest
        assert np.abs(got.numpy().astype("float64") - expected).max() < near * np.abs(expected).max(), name


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("channels", [16, 64, 200])
def test_winograd_is_as_accurate_as_a_sum_of_three_times_the_length(channels, step):
    rng = np.random.default_rng(1)
    x, weight = rng.standard_normal((2, channels, 18 * step, 19 * step)), rng.standard_normal((32, channels, 3, 3))
    x, weight = x.astype(np.float32), weight.astype(np.float32)
    window = _window(strides=(step, step), paddings=(1, 1, 1, 1))
    got = ops.conv2d(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(weight), None, **window).numpy()
    # float64 has no Winograd.
    exact = ops.conv2d(
        wherry_tensor.to_tensor(x.astype(np.float64)), wherry_tensor.to_tensor(weight.astype(np.float64)), None, **window
    ).numpy()
    error = np.sqrt(np.mean((got - exact) ** 2)) / np.sqrt(np.mean(exact**2))
    assert error < np.finfo(np.float32).eps * np.sqrt(3 * 9 * channels) / 2


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_every_image_size_around_the_tiles_of_winograd(step, data_format):
    rng = np.random.default_rng(2)
    weight = rng.standard_normal((17, 19, 3, 3))
    for h in range(3, 16 * step - 2):
        w = 16 * step - h
        x = rng.standard_normal((9, 19, h, w) if data_format == "NCHW" else (9, h, w, 19))
        window = _window(strides=(step, step), paddings=(h % 3, 1, 0, 2), data_format=data_format)
        wide, narrow = (
            ops.conv2d(wherry_tensor.to_tensor(x.astype(t)), wherry_tensor.to_tensor(weight.astype(t)), None, **window).numpy()
            for t in (np.float64, np.float32)
        )
        assert np.abs(wide - narrow).max() < 1e-4, (h, w)


@pytest.mark.parametrize("dtype, digits", [("bfloat16", 8), ("float16", 11)])
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_images_of_16_bits_around_the_tiles_of_winograd_are_rounded_once(data_format, dtype, digits):
    rng = np.random.default_rng(6)
    short = lambda *shape: ops.cast(_tensor(rng, *shape), dtype=getattr(wherry_tensor, dtype))  # noqa: E731
    exact = lambda t: ops.cast(t, dtype=wherry_tensor.float64)  # noqa: E731
    weight, bias = short(35, 21, 3, 3), short(35)
    for h in range(3, 30):
        w = 33 - h
        x = short(3, 21, h, w) if data_format == "NCHW" else short(3, h, w, 21)
        window = _window(paddings=(h % 3, 1, 0, 2), data_format=data_format)
        out = ops.conv2d(x, weight, bias, **window)
        back = ops.conv2d_input_vjp(out, weight, x, **window)
        out_exact = ops.conv2d(exact(x), exact(weight), exact(bias), **window)
        for got, expected in (out, out_exact), (back, ops.conv2d_input_vjp(exact(out), exact(weight), exact(x), **window)):
            got, expected = exact(got).numpy(), expected.numpy()
            assert (np.abs(got - expected) <= 2.0**-digits * 1.001 * np.abs(expected) + 1e-5 * np.abs(expected).max()).all(), (h, w)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("height, step", [(7, 2), (7, 1), (3, 3)])
def test_rows_of_every_width_by_windows_of_seven_columns(channels, height, step):
    rng = np.random.default_rng(5)
    weight = rng.standard_normal((21, channels, height, 7))
    for w in range(46, 70):
        x = rng.standard_normal((3, channels, 23, w))
        window = _window(strides=(step, 2), paddings=(w % 4, 2, 3, w % 5))
        wide, narrow = (
            ops.conv2d(wherry_tensor.to_tensor(x.astype(t)), wherry_tensor.to_tensor(weight.astype(t)), None, **window).numpy()
            for t in (np.float64, np.float32)
        )
        assert np.abs(wide - narrow).max() < 1e-4, w


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_nan_stays_in_its_image(name, data_format):
    rng = np.random.default_rng(3)
    x_shape, weight_shape, window = SHAPES[name]
    window = {**window, "data_format": data_format}
    x = rng.standard_normal(x_shape).astype(np.float32)
    x[0] = np.nan
    if data_format == "NHWC":
        x = x.transpose(0, 2, 3, 1).copy()
    out = ops.conv2d(wherry_tensor.to_tensor(x), _tensor(rng, *weight_shape), None, **window).numpy()
    assert np.isnan(out[0]).any()
    assert np.isfinite(out[1:]).all()


def test_nan_stays_in_its_channel_when_depthwise():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((1, 20, 9, 37)).astype(np.float32)
    x[0, 7] = np.nan
    window = _window(paddings=(1, 1, 1, 1), groups=20)
    weight = _tensor(rng, 20, 1, 3, 3)
    out = ops.conv2d(wherry_tensor.to_tensor(x), weight, None, **window)
    assert np.isnan(out.numpy()[0, 7]).all()
    assert np.isfinite(np.delete(out.numpy(), 7, axis=1)).all()
    ct = _tensor(rng, 1, 20, 9, 37)
    gradient = ops.conv2d_weight_vjp(ct, wherry_tensor.to_tensor(x), weight, **window).numpy()
    assert np.isfinite(np.delete(gradient, 7, axis=0)).all()


def test_pooling_gradients_add_up_where_windows_overlap():
    x = wherry_tensor.to_tensor(np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5))
    out, mask = ops.max_pool2d(x, kernel=(3, 3), strides=(1, 1), paddings=(1, 1, 1, 1), ceil_mode=False, data_format="NCHW")
    ones = wherry_tensor.to_tensor(np.ones(out.shape, np.float32))
    gradient = ops.max_pool2d_vjp(ones, mask, x, data_format="NCHW").numpy()[0, 0]
    # The last value is the largest of the four windows that reach it; inner ones win one window each.
    assert gradient[4, 4] == 4
    assert gradient[4, 1] == 2
    assert gradient[2, 2] == 1
    assert gradient[0].sum() == 0


@pytest.mark.parametrize("dtype, digits", [("float16", 2.0**-11), ("bfloat16", 2.0**-8)])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("images", [1, 9])  # all threads at each, or whole ones to each thread
def test_windows_of_one_point_in_16_bits_are_rounded_once(dtype, digits, layout, images):
    rng = np.random.default_rng(8)
    half, single = getattr(wherry_tensor, dtype), wherry_tensor.float32

    def halves(*shape):
        x = ops.cast(wherry_tensor.to_tensor(rng.standard_normal(shape).astype(np.float32)), dtype=half)
        return x, ops.cast(x, dtype=single).numpy().astype(np.float64)

    x, array = halves(images, *((70, 9, 11) if layout == "NCHW" else (9, 11, 70)))
    weight, matrix = halves(40, 70, 1, 1)
    bias, row = halves(40)
    attrs = dict(strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format=layout)
    got = ops.cast(ops.conv2d(x, weight, bias, **attrs), dtype=single).numpy()
    points = array if layout == "NHWC" else np.moveaxis(array, 1, -1)
    exact = points @ matrix[:, :, 0, 0].T + row
    exact = exact if layout == "NHWC" else np.moveaxis(exact, -1, 1)
    assert got.shape == exact.shape
    assert np.all(np.abs(got - exact) <= digits * np.abs(exact) + 1e-4)


@pytest.mark.parametrize("x_shape, weight_shape, window", [
    ((2, 20, 31, 30), (37, 20, 3, 3), _window(paddings=(1, 1, 1, 1))),
    ((2, 20, 31, 29), (37, 20, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1))),
    ((3, 3, 37, 41), (17, 3, 7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),  # an odd number of products
    ((2, 6, 13, 11), (10, 6, 3, 2), _window(strides=(3, 1), paddings=(1, 0, 2, 1), dilations=(2, 3))),
    ((2, 12, 15, 7), (36, 3, 3, 3), _window(paddings=(1, 1, 1, 1), groups=4)),
    ((1, 2048, 7, 7), (70, 2048, 1, 1), _window()),  # rows of the weight 4 KiB apart
    ((9, 33, 5, 9), (40, 33, 1, 1), _window()),
    ((2, 16, 15, 15), (32, 16, 1, 1), _window(strides=(2, 2))),
    ((2, 33, 11, 9), (9, 33, 3, 3), _window(strides=(2, 2), paddings=(1, 1, 1, 1))),  # panels from the planes: an odd number of taps
    ((1, 32, 7, 81), (17, 32, 3, 5), _window(strides=(2, 2), paddings=(2, 3, 3, 4))),
    ((3, 68, 6, 7), (12, 34, 2, 4), _window(strides=(1, 2), paddings=(0, 2, 3, 4), dilations=(2, 3), groups=2)),
    ((2, 33, 5, 3), (6, 33, 1, 3), _window(strides=(3, 2), paddings=(1, 1, 2, 2))),
    ((2, 33, 9, 5), (40, 33, 3, 3), _window(paddings=(1, 1, 1, 1))),
    ((1, 64, 5, 70), (66, 32, 2, 2), _window(strides=(2, 1), paddings=(1, 0, 2, 1), dilations=(1, 3), groups=2)),
    ((4, 40, 6, 1), (48, 40, 3, 2), _window(paddings=(1, 1, 1, 1))),
    ((2, 3, 17, 81), (17, 3, 7, 7), _window(strides=(2, 2), paddings=(3, 3, 3, 3))),
    ((1, 5, 1, 100), (3, 5, 1, 3), _window()),
    ((2, 5, 9, 33), (5, 1, 3, 3), _window(paddings=(1, 1, 1, 1), groups=5)),
])
def test_bfloat16_is_summed_in_floats_and_rounded_once(x_shape, weight_shape, window):
    rng = np.random.default_rng(9)

    def both(*shape):
        x = ops.cast(_tensor(rng, *shape), dtype=wherry_tensor.bfloat16)
        return x, ops.cast(ops.cast(x, dtype=wherry_tensor.float32), dtype=wherry_tensor.float64)

    x, weight, bias = both(*x_shape), both(*weight_shape), both(weight_shape[0])
    ct = both(*ops.conv2d(x[0], weight[0], bias[0], **window).shape)
    results = [
        (ops.conv2d(x[i], weight[i], bias[i], **window), ops.conv2d_input_vjp(ct[i], weight[i], x[i], **window),
         ops.conv2d_weight_vjp(ct[i], x[i], weight[i], **window))
        for i in (0, 1)
    ]
    for got, exact in zip(*results):
        got, exact = ops.cast(got, dtype=wherry_tensor.float32).numpy().astype(np.float64), exact.numpy()
        assert got.shape == exact.shape
        assert np.all(np.abs(got - exact) <= 2.0**-8 * np.abs(exact) + 2e-6 * np.abs(exact).max())


@pytest.mark.parametrize("dtype, digits", [("float32", 2.0**-22), ("bfloat16", 2.0**-8)])
@pytest.mark.parametrize("paddings", [(1, 1, 1, 1), (0, 0, 0, 0), (2, 1, 0, 2), (5, 5, 5, 5)])
@pytest.mark.parametrize("side, step, size", [
    (3, 1, (3, 3)), (3, 1, (4, 31)), (3, 1, (9, 32)), (3, 1, (70, 65)), (3, 2, (3, 4)), (3, 2, (31, 65)), (3, 2, (66, 130)),
    (5, 1, (5, 7)), (5, 1, (14, 14)), (5, 1, (30, 49)), (5, 2, (5, 6)), (5, 2, (28, 33)), (5, 2, (57, 100)),
    (7, 1, (7, 7)), (7, 1, (15, 16)), (7, 1, (56, 57)), (7, 2, (8, 7)), (7, 2, (33, 30)), (7, 2, (61, 99)),
])
def test_neighbours_of_single_channels_read_nothing_beside_their_plane(dtype, digits, paddings, side, step, size):
    rng = np.random.default_rng(10)
    x, weight, bias = (ops.cast(_tensor(rng, *shape), dtype=getattr(wherry_tensor, dtype)) for shape in ((2, 3, *size), (3, 1, side, side), (3,)))
    wide = [ops.cast(ops.cast(t, dtype=wherry_tensor.float32), dtype=wherry_tensor.float64) for t in (x, weight, bias)]
    window = _window(strides=(step, step), paddings=paddings, groups=3)
    got = ops.cast(ops.conv2d(x, weight, bias, **window), dtype=wherry_tensor.float32).numpy()
    exact = ops.conv2d(*wide, **window).numpy()
    assert np.all(np.abs(got - exact) <= digits * np.abs(exact) + 1e-6 * side**2)


@pytest.mark.parametrize("kernel, step, dilation", [
    ((3, 3), 1, 1), ((5, 5), 1, 1), ((7, 7), 1, 1), ((5, 5), 2, 1), ((1, 7), 1, 1), ((7, 1), 3, 1), ((3, 3), 1, 2),
])
@pytest.mark.parametrize("dtype, digits", [("float32", 1e-5), ("float64", 1e-12)])
def test_windows_of_single_channels_are_sums_of_shifted_images(dtype, digits, kernel, step, dilation):
    rng = np.random.default_rng(11)
    height, width = kernel
    x, weight = rng.standard_normal((2, 5, 23, 37)).astype(dtype), rng.standard_normal((5, 1, *kernel)).astype(dtype)
    window = _window(strides=(step, step), dilations=(dilation, dilation), groups=5)
    out = ops.conv2d(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(weight), None, **window).numpy()
    expected = np.zeros(out.shape)
    for i in range(height):
        for j in range(width):
            rows, columns = (slice(at * dilation, at * dilation + (n - 1) * step + 1, step) for at, n in zip((i, j), out.shape[2:]))
            expected += weight[:, 0, i, j, None, None] * x[:, :, rows, columns]
    assert np.all(np.abs(out - expected) <= digits * height * width)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(8, 1, 6, 36), (2, 3, 40, 1), (2, 3, 20, 20)])
def test_a_step_that_leads_nowhere_may_be_of_any_size(dtype, shape):
    x = wherry_tensor.to_tensor(np.ones(shape, np.float32)).astype(dtype)
    weight = wherry_tensor.to_tensor(np.ones((6, shape[1], 4, 1), np.float32)).astype(dtype)
    out = ops.conv2d(x, weight, None, strides=(1 << 62, 1 << 62), paddings=(0,) * 4, dilations=(1, 1), groups=1, data_format="NCHW")
    assert out.shape == [shape[0], 6, 1, 1]
    assert (out.astype("float32").numpy() == 4 * shape[1]).all()
    back = ops.conv2d_weight_vjp(out, x, weight, strides=(1 << 62, 1 << 62), paddings=(0,) * 4, dilations=(1, 1), groups=1, data_format="NCHW")
    assert (back.astype("float32").numpy() == 4 * shape[0] * shape[1]).all()
