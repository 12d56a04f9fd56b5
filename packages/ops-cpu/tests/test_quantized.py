"""What the samples cannot say about integers: the same bits with every instruction set and number of threads, every size, sums that wrap."""
import os
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor
from wherry_ops_cpu import supported_isas
from wherry_tensor import _core, ops
from wherry_tensor.ops import quantized, weight_only

_PRINT_BITS = """
import hashlib
import numpy as np
from wherry_ops_cpu import column
from wherry_tensor import _core, ops, to_tensor
from wherry_tensor.ops import quantized

column.register()
rng = np.random.default_rng(3)
def some(*shape, dtype=np.int8):
    return to_tensor(rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype))
def show(x):
    print(hashlib.sha256(x.numpy().tobytes()).hexdigest())

for dtype in np.int8, np.uint8:
    zero = to_tensor(np.array(77, dtype))
    show(ops.matmul_int8(some(37, 131, dtype=dtype), some(131, 53), zero, None, transpose_x=False, transpose_y=False))
    show(ops.conv2d_int8(some(1, 9, 20, 17, dtype=dtype), some(35, 9, 3, 3), zero, None, strides=(1, 2), paddings=(1, 0, 2, 1), dilations=(1, 1),
                         groups=1, data_format="NCHW"))
    epilogue = dict(x_zero_point=5, residual_scale=0.013, residual_zero_point=-3, activation="relu", out_scale=0.37, out_zero_point=-7, low=None,
                  high=None, dtype=_core.int8)
    def scale(n):
        return to_tensor(rng.uniform(1e-4, 2e-4, n).astype("float32"))
    bias = to_tensor(rng.standard_normal(35).astype("float32"))
    show(ops.quantized_linear(some(61, 130, dtype=dtype), quantized.packed_linear_weight(some(130, 35)), scale(35), bias, some(61, 35), **epilogue))
    window = dict(strides=(1, 1), paddings=(1, 1, 1, 1), dilations=(1, 1))
    weight, residual = quantized.packed_conv_weight(some(35, 20, 3, 3)), some(2, 13, 15, 35)
    show(ops.quantized_conv2d(some(2, 13, 15, 20, dtype=dtype), weight, scale(35), bias, residual, **window, **epilogue))
    show(ops.quantized_depthwise_conv2d(some(2, 13, 15, 20, dtype=dtype), some(3, 3, 20), scale(20), None, None, **window, **epilogue))
    for n in 40, 100:
        each = to_tensor(rng.standard_normal(n).astype("float32"))
        show(ops.quantized_depthwise_conv2d(some(2, 9, 7, n, dtype=dtype), some(3, 5, n), scale(n), each, None, **epilogue,
                                            strides=(2, 1), paddings=(1, 0, 2, 1), dilations=(1, 1)))
    # Without a residual, in steps of the result; and floats after a residual of floats.
    counted = {**epilogue, "out_scale": None, "low": -90, "high": 101}
    show(ops.quantized_linear(some(61, 130, dtype=dtype), quantized.packed_linear_weight(some(130, 75)), scale(75), None, None, **counted))
    whole = {**counted, "dtype": _core.float32, "activation": "none"}
    summand = to_tensor(rng.standard_normal((61, 35)).astype("float32"))
    show(ops.quantized_linear(some(61, 130, dtype=dtype), quantized.packed_linear_weight(some(130, 35)), scale(35), bias, summand, **whole))
    for step in 1, 2, 3:
        show(ops.quantized_depthwise_conv2d(some(2, 9, 13, 75, dtype=dtype), some(3, 3, 75), scale(75), None, None, **counted,
                                            strides=(step, step), paddings=(1, 1, 1, 1), dilations=(1, 1)))
x = to_tensor(rng.standard_normal((29, 67)).astype("float32"))
show(ops.quantized_linear(x, quantized.packed_linear_weight(some(67, 35)), scale(35), bias, None, **{**epilogue, "x_zero_point": 0}))
show(ops.quantized_linear(x, quantized.packed_linear_weight(some(67, 35)), scale(35), bias, None, **{**whole, "x_zero_point": 0}))
show(ops.quantize_linear(x, to_tensor(rng.uniform(0.01, 0.02, 67).astype("float32")), None, axis=1, group=None, low=-128, high=127, dtype=_core.int8))
show(ops.fake_quantize(x, to_tensor(rng.uniform(0.01, 0.02, (29, 3)).astype("float32")), None, axis=1, group=32, low=-8, high=7))
show(ops.dequantize_linear(some(9, 40), to_tensor(np.float32(0.37)), None, axis=None, group=None, dtype=_core.float16))
"""


def test_integers_and_what_follows_are_the_same_bits_with_every_instruction_set():
    outputs = set()
    for isa in supported_isas():
        run = subprocess.run([sys.executable, "-c", _PRINT_BITS], env={**os.environ, "WHERRY_CPU_ISA": isa},
                             capture_output=True, text=True, check=True)
        outputs.add(run.stdout)
    assert len(outputs) == 1 and outputs.pop().count("\n") == 29


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _bytes(rng, *shape, dtype=np.int8):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


_EPILOGUE = dict(residual_scale=1.0, residual_zero_point=0, activation="none", out_scale=None, out_zero_point=0, low=None, high=None)


@pytest.mark.parametrize("image, kernel", [((1, 30, 40, 24), 3), ((3, 17, 9, 16), 1), ((1, 5, 6, 70), 3)])
def test_convolutions_do_not_depend_on_the_number_of_threads(threads, image, kernel):
    rng = np.random.default_rng(0)
    x = wherry_tensor.to_tensor(_bytes(rng, *image, dtype=np.uint8))
    weight = quantized.packed_conv_weight(wherry_tensor.to_tensor(_bytes(rng, 100, image[3], kernel, kernel)))
    scale = wherry_tensor.to_tensor(np.full(100, 1e-3, np.float32))
    results = set()
    for count in 1, 2, 3, 7:
        threads(count)
        results.add(ops.quantized_conv2d(
            x, weight, scale, None, None, strides=(1, 1), paddings=(kernel // 2,) * 4, dilations=(1, 1), x_zero_point=9, dtype=_core.int8, **_EPILOGUE
        ).numpy().tobytes())
    assert len(results) == 1


def test_every_size_around_the_tiles():
    rng = np.random.default_rng(1)
    for m in (*range(1, 17), 28, 29, 43):
        for n in (1, 15, 16, 17, 31, 32, 33, 49):
            for k in (1, 3, 4, 5, 16, 67):
                x, weight = _bytes(rng, m, k, dtype=np.uint8), _bytes(rng, k, n)
                expected = (x.astype(np.int64) - 3) @ weight.astype(np.int64)
                packed = quantized.packed_linear_weight(wherry_tensor.to_tensor(weight))
                scale = wherry_tensor.to_tensor(np.ones(n, np.float32))
                got = ops.quantized_linear(
                    wherry_tensor.to_tensor(x), packed, scale, None, None, x_zero_point=3, dtype=_core.float32, **_EPILOGUE
                )
                np.testing.assert_array_equal(got.numpy(), expected.astype(np.float32), err_msg=f"{m} x {k} x {n}")


@pytest.mark.parametrize("rows", [1, 3, 4, 7, 33])
@pytest.mark.parametrize(("dtype", "zero", "low", "high"), [("int8", -7, None, None), ("uint8", 130, 120, 200), ("int8", 0, -3, 90)])
def test_scales_of_one_output_change_no_other(rows, dtype, zero, low, high):
    """Where a sum times its scale may be larger than any integer, bytes are limited as floats; else as bytes."""
    rng = np.random.default_rng(rows)
    x, weight = wherry_tensor.to_tensor(_bytes(rng, rows, 20)), _bytes(rng, 20, 70)
    bias, epilogue = rng.standard_normal(70).astype(np.float32), {**_EPILOGUE, "out_zero_point": zero, "low": low, "high": high}
    packed = quantized.packed_linear_weight(wherry_tensor.to_tensor(weight))
    results, first = [], rng.uniform(1e-3, 0.2, 69)
    for last in 0.002, 3e37:
        scale = np.append(first, last).astype(np.float32)
        results.append(ops.quantized_linear(
            x, packed, wherry_tensor.to_tensor(scale), wherry_tensor.to_tensor(bias), None, x_zero_point=4, dtype=getattr(_core, dtype), **epilogue
        ).numpy())
    sums = (x.numpy().astype(np.int32) - 4) @ weight.astype(np.int32)
    values = np.rint((sums[:, :69].astype(np.float32) * scale[:69] + bias[:69]).astype(np.float64)) + zero
    limits = np.iinfo(dtype)
    expected = np.clip(values, limits.min if low is None else low, limits.max if high is None else high)
    for result in results:
        np.testing.assert_array_equal(result[:, :69], expected)


def test_sums_that_pass_31_bits_wrap():
    x, y = np.full((1, 70000), 255, np.uint8), np.full((70000, 1), 127, np.int8)
    got = ops.matmul_int8(wherry_tensor.to_tensor(x), wherry_tensor.to_tensor(y), None, None, transpose_x=False, transpose_y=False)
    assert got.numpy().item() == (70000 * 255 * 127 + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("group", [32, 64, 128, 0])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 40])
def test_weights_of_few_bits_give_what_their_floats_give(group, rows):
    rng = np.random.default_rng(2)
    inside, out = 390, 70
    x = wherry_tensor.to_tensor(rng.standard_normal((rows, inside)).astype(np.float32))
    groups = -(-inside // group) if group else 1
    scale, whole = rng.uniform(0.01, 0.02, (groups, out)).astype(np.float32), np.repeat
    for pack, q, middle in (
        (weight_only.packed_int8, _bytes(rng, inside, out), 0), (weight_only.packed_int4, rng.integers(0, 16, (inside, out)).astype(np.uint8), 8)
    ):
        weight = (q.astype(np.float64) - middle) * whole(scale, group or inside, 0)[:inside]
        got = ops.weight_only_linear(x, pack(wherry_tensor.to_tensor(q)), wherry_tensor.to_tensor(scale), None, None, group=group)
        np.testing.assert_allclose(got.numpy(), x.numpy() @ weight, rtol=1e-4, atol=1e-4 * np.abs(weight).max() * inside**0.5)


@pytest.mark.parametrize("channels", [16, 24, 33, 64, 100, 130])
@pytest.mark.parametrize(
    ("kernel", "strides", "dilations"),
    [((3, 3), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((5, 2), (1, 2), (1, 2)), ((3, 3), (1, 1), (2, 2))],
)
@pytest.mark.parametrize(("dtype", "out", "activation"), [("int8", "uint8", "relu6"), ("uint8", "int8", "none"), ("int8", "int8", "relu")])
def test_many_channels_by_themselves_are_as_few_of_them(channels, kernel, strides, dilations, dtype, out, activation):
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (2, 11, 9, channels)).astype(np.uint8).view(dtype)
    weight = _bytes(rng, *kernel, channels)
    scale, bias = rng.uniform(1e-3, 2e-2, channels).astype(np.float32), rng.standard_normal(channels).astype(np.float32) * 9
    scale[0], bias[1] = 3e37, np.nan  # beyond every integer, and no number

    def run(part, whole):
        b = (bias if whole else np.arange(channels, dtype=np.int32) * 7 - 99)[part]
        return ops.quantized_depthwise_conv2d(
            *(wherry_tensor.to_tensor(np.ascontiguousarray(a)) for a in (x[..., part], weight[..., part], scale[part], b)), None, strides=strides,
            paddings=(1, 2, 0, 1), dilations=dilations, x_zero_point=3, residual_scale=1.0, residual_zero_point=0, activation=activation,
            out_scale=0.37 if whole else None, out_zero_point=5, low=None if whole else 2, high=None if whole else 100,
            dtype=getattr(_core, out),
        ).numpy()

    for whole in True, False:
        parts = [run(slice(i, min(i + 8, channels)), whole) for i in range(0, channels, 8)]
        assert np.array_equal(run(slice(None), whole), np.concatenate(parts, -1))
