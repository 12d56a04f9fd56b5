"""Quantized products in integers: what becomes which op, and that results stay within rounding."""
import numpy as np
import pytest

import wherry_ops_cpu.column
from wherry_nn import functional as F
from wherry_program import Program, passes
from wherry_program.passes.integers import integers
from wherry_program.program.capture import capture
from wherry_program.run.executor import compiled
from wherry_tensor import _core, ops, to_tensor

wherry_ops_cpu.column.register()

RNG = np.random.default_rng(0)
INT8 = dict(axis=None, group=None, low=-128, high=127, dtype=_core.int8)


def tensor(*shape, scale=1.0):
    return to_tensor((RNG.standard_normal(shape) * scale).astype(np.float32))


def rounded(x, step, zero=None, dtype=_core.int8):
    """Whole numbers and back."""
    low, high = (0, 255) if dtype is _core.uint8 else (-128, 127)
    step = to_tensor(np.float32(step))
    zero = None if zero is None else to_tensor(np.array(zero, dtype.name))
    q = ops.quantize_linear(x, step, zero, axis=None, group=None, low=low, high=high, dtype=dtype)
    return ops.dequantize_linear(q, step, zero, axis=None, group=None, dtype=_core.float32)


def weight(*shape, axis, steps=None):
    """A function that dequantizes a constant of whole numbers, with a step for each output: to be called while a program is captured."""
    q = to_tensor(RNG.integers(-127, 128, shape).astype(np.int8))
    steps = to_tensor((RNG.random(shape[axis]) * 0.01 + 0.001).astype(np.float32)) if steps is None else steps
    return lambda: ops.dequantize_linear(q, steps, None, axis=axis if steps.ndim else None, group=None, dtype=_core.float32)


def program_of(build, *shape):
    program = Program()
    x = program.feed(list(shape), _core.float32, "x")
    with capture(program):
        program.fetches = [build(x)]
    return program


def agree(program, *shape, step):
    """Run as written and in integers; results differ by a step of the last rounding at most. Returns the ops."""
    fast = passes.default(program, passes.INFERENCE)
    x = tensor(*shape)
    expected, found = compiled(program)(x)[0].numpy(), compiled(fast)(x)[0].numpy()
    assert expected.shape == found.shape
    difference = np.abs(expected - found)
    assert difference.max() <= step * 1.001 + 1e-4 * np.abs(expected).max()
    assert (difference > 1e-4 * np.abs(expected).max()).mean() < 0.01  # only what lay between two whole numbers
    return [node.type for node in fast.nodes]


def test_linear_layers_hand_whole_numbers_on():
    w1, w2, bias = weight(24, 40, axis=1), weight(40, 5, axis=1), tensor(40)

    def build(x):
        y = F.relu(F.linear(rounded(x, 0.02), w1(), bias))
        return F.linear(rounded(y, 0.05), w2())

    assert agree(program_of(build, -1, 24), 7, 24, step=0.05) == ["quantize_linear", "quantized_linear", "quantized_linear"]


@pytest.mark.parametrize("form", ["NCHW", "NHWC"])
def test_images_keep_their_layout_between_convolutions(form):
    w1, w2, bias = weight(8, 3, 3, 3, axis=0), weight(6, 8, 3, 3, axis=0), tensor(8)

    def build(x):
        y = F.relu(F.conv2d(rounded(x, 0.02), w1(), bias, padding=1, data_format=form))
        y = F.max_pool2d(y, 2, 2, data_format=form)
        return F.conv2d(rounded(y, 0.1), w2(), stride=2, data_format=form)

    shape = (2, 3, 12, 12) if form == "NCHW" else (2, 12, 12, 3)
    found = agree(program_of(build, *shape), *shape, step=0.1)
    assert [name for name in found if name.startswith("quantized")] == ["quantized_conv2d", "quantized_max_pool2d", "quantized_conv2d"]
    assert found.count("transpose") == (2 if form == "NCHW" else 0)


def test_norms_and_depthwise_convolutions():
    w, mean, variance, gamma, beta = weight(8, 1, 3, 3, axis=0), tensor(8), tensor(8).abs() + 0.5, tensor(8), tensor(8)

    def build(x):
        y = F.conv2d(rounded(x, 0.02), w(), padding=1, groups=8)
        return rounded(F.relu6(F.batch_norm(y, mean, variance, gamma, beta)), 0.03)

    found = agree(program_of(build, 2, 8, 6, 6), 2, 8, 6, 6, step=0.03)
    assert "quantized_depthwise_conv2d" in found and not {"batch_norm_infer", "relu6", "conv2d"} & set(found)


def test_zero_points_and_sums():
    w = weight(4, 4, 1, 1, axis=0)

    def build(x):
        x = rounded(x, 0.0301, 120, _core.uint8)
        y = rounded(F.conv2d(x, w()), 0.0517, 110, _core.uint8)
        return rounded(F.relu(x + y), 0.0613, 3, _core.uint8)

    found = agree(program_of(build, 2, 4, 6, 6), 2, 4, 6, 6, step=0.0613)
    assert "quantized_add" in found and "quantized_conv2d" in found


def test_shapes_with_open_sizes_change_in_whole_numbers():
    w1, w2 = weight(4, 2, 3, 3, axis=0), weight(64, 3, axis=1)

    def build(x):
        y = F.conv2d(rounded(x, 0.02), w1())
        return F.linear(rounded(y.flatten(1), 0.05), w2())

    found = agree(program_of(build, -1, 2, 6, 6), 3, 2, 6, 6, step=0.05)
    assert found.count("quantize_linear") == 1 and "dequantize_linear" not in found


def test_products_with_their_addition_in_a_node_of_its_own():
    w, bias = weight(6, 8, axis=0), tensor(8)  # transposed below: [out, in] would be steps along rows
    turned = weight(8, 6, axis=0)

    def build(x):
        return ops.add(ops.matmul(rounded(x, 0.02), turned(), transpose_x=False, transpose_y=True), bias)

    assert agree(program_of(build, 5, 6), 5, 6, step=0.0) == ["quantize_linear", "quantized_linear"]

    def along_inputs(x):
        return ops.matmul(rounded(x, 0.02), w(), transpose_x=False, transpose_y=False)

    notes = []
    integers(passes.packed_constants(program_of(along_inputs, 5, 6)), notes)
    assert [(note.runs_in, "along its outputs" in note.why) for note in notes] == [("float", True)]


def test_floats_by_whole_weights_read_them_as_they_lie():
    w = weight(24, 40, axis=1)
    assert agree(program_of(lambda x: F.linear(x, w()), 3, 24), 3, 24, step=0.0) == ["weight_only_linear"]


def test_what_others_read_stays():
    w = weight(24, 24, axis=1)

    def build(x):
        x = rounded(x, 0.02)
        y = F.linear(x, w())
        return F.relu(y) + y + x

    found = agree(program_of(build, 3, 24), 3, 24, step=0.0)
    assert "quantized_linear" in found and ("dequantize_linear" in found or "fused_elementwise" in found)


def test_steps_that_change_run_in_floats():
    w = weight(24, 8, axis=1)

    def build(x):
        step = ops.reduce_max(ops.abs(x), axes=(0, 1), keepdim=False) * (1 / 127)
        q = ops.quantize_linear(x, step, None, **INT8)
        return F.linear(ops.dequantize_linear(q, step, None, axis=None, group=None, dtype=_core.float32), w())

    program = program_of(build, 3, 24)
    x = tensor(3, 24)
    assert np.allclose(compiled(program)(x)[0].numpy(), compiled(passes.default(program, passes.INFERENCE))(x)[0].numpy(), atol=1e-4)
