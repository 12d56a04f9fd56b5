"""Arithmetic on bytes: integers are those of the cpu to the bit, by tensor cores, past what float32 holds and past 31 bits."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import ops
from wherry_tensor.testing import kit

RNG = np.random.default_rng(0)


def product(x, y, zeros=(None, None), **turned):
    turned = {"transpose_x": False, "transpose_y": False, **turned}
    return ops.matmul_int8(*(None if a is None else wt.to_tensor(a) for a in (x, y, *zeros)), **turned).numpy()


@pytest.mark.parametrize("signs", [(a, b) for a in (np.int8, np.uint8) for b in (np.int8, np.uint8)])
def test_sums_of_the_largest_numbers_are_exact(gpu, signs):
    """Each product is 255 * 255 where zero points are at the other end: 256 of them are just below 2^24."""
    x, y = (np.full(shape, np.iinfo(dtype).max, dtype) for shape, dtype in zip(((3, 777), (777, 70)), signs, strict=True))
    zeros = [np.array(np.iinfo(dtype).min, dtype) for dtype in signs]
    x[1, 5], y[6, 2] = zeros
    expected = (x.astype(np.int64) - int(zeros[0])) @ (y.astype(np.int64) - int(zeros[1]))
    assert expected.max() == 777 * 255 * 255
    np.testing.assert_array_equal(product(x, y, zeros), expected)


def test_sums_past_31_bits_wrap(gpu):
    x, y = np.full((2, 40000), 255, np.uint8), np.full((40000, 3), 255, np.uint8)
    np.testing.assert_array_equal(product(x, y), np.full((2, 3), (40000 * 255 * 255 + 2**31) % 2**32 - 2**31))


@pytest.mark.parametrize("shapes", [((1, 1), (1, 1)), ((65, 33), (33, 130)), ((2, 3, 70, 40), (3, 40, 9)), ((5, 7, 40), (40, 9)), ((4, 0), (0, 5))])
@pytest.mark.parametrize("turned", [{}, {"transpose_x": True}, {"transpose_y": True}])
def test_batches_turned_operands_and_a_zero_point_for_each_line(gpu, two_blocks, shapes, turned):
    x, y = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    zeros = [RNG.integers(-128, 128, n).astype(np.int8) for n in (x.shape[-2], y.shape[-1])]
    expected = (x.astype(np.int64) - zeros[0][:, None]) @ (y.astype(np.int64) - zeros[1])
    for name, at in ("transpose_x", 0), ("transpose_y", 1):
        if name in turned:
            x, y = (np.ascontiguousarray(one.swapaxes(-1, -2)) if i == at else one for i, one in enumerate((x, y)))
    with two_blocks():
        np.testing.assert_array_equal(product(x, y, zeros, **turned), expected)


@pytest.mark.filterwarnings("ignore:.*has no kernel for it.*")  # the library of tests leaves dtypes out that GPUs have
@pytest.mark.parametrize("op", [
    ops.quantized_linear, ops.quantized_conv2d, ops.quantized_depthwise_conv2d, ops.quantized_add, ops.quantized_max_pool2d, ops.mapped_bytes,
    ops.conv2d_int8, ops.requantize,
])
def test_what_stands_behind_products_is_that_of_the_cpu_to_the_bit(gpu, op):
    count = 0
    for typed in list(kit.typed_cases(kit.specs[op], kit.specs[op].dtypes))[::7]:
        results = []
        for place in "cpu", "gpu":
            wt.set_device(place)
            results.append(op(*typed.tensors(), **typed.case.attrs).numpy())
        if results[0].dtype.kind in "iu":
            np.testing.assert_array_equal(results[1], results[0], err_msg=repr(typed))
            count += 1
    assert count
