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


def test_blocks_with_a_way_around_keep_their_layout():
    w1, w2 = weight(8, 8, 3, 3, axis=0), weight(8, 8, 3, 3, axis=0)

    def build(x):
        x = F.relu(F.conv2d(rounded(x, 0.021), w1(), padding=1))
        y = F.relu(F.conv2d(rounded(x, 0.052), w1(), padding=1))
        x = F.relu(F.conv2d(rounded(y, 0.11), w2(), padding=1) + x)
        return F.conv2d(rounded(x, 0.13), w1(), padding=1)

    program = program_of(build, -1, 8, 6, 6)
    fast = passes.default(program, passes.INFERENCE)
    assert [node.type for node in fast.nodes].count("transpose") == 2 and not any(node.type in ("add", "relu") for node in fast.nodes)
    x = tensor(2, 8, 6, 6)
    expected, found = compiled(program)(x)[0].numpy(), compiled(fast)(x)[0].numpy()
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_rows_with_a_way_around():
    w = weight(24, 24, axis=1)

    def build(x):
        return F.relu(F.linear(rounded(x, 0.021), w()) + x)

    assert agree(program_of(build, 5, 24), 5, 24, step=0.0) == ["quantize_linear", "quantized_linear"]


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


def test_one_step_for_a_whole_weight():
    w = weight(24, 40, axis=1, steps=to_tensor(np.float32(0.01)))
    assert agree(program_of(lambda x: F.linear(rounded(x, 0.02), w()), 3, 24), 3, 24, step=0.0) == ["quantize_linear", "quantized_linear"]


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


def test_products_of_two_values_that_change():
    def build(x):
        q = rounded(x.reshape([2, 7, 3, 8]).transpose([0, 2, 1, 3]), 0.021)
        k = rounded(x.reshape([2, 7, 3, 8]).transpose([0, 2, 1, 3]), 0.019, 119, _core.uint8)
        weights = rounded(F.softmax(ops.matmul(q, k, transpose_x=False, transpose_y=True) * 0.3), 1 / 255, 0, _core.uint8)
        return rounded(ops.matmul(weights, q, transpose_x=False, transpose_y=False), 0.02)

    found = agree(program_of(build, 2, 7, 24), 2, 7, 24, step=0.02)
    assert found.count("matmul_int8") == 2 and "requantize" in found and not {"matmul", "attention"} & set(found)


def test_concatenated_whole_numbers():
    w1, w2, w3 = weight(4, 4, 1, 1, axis=0), weight(8, 8, 1, 1, axis=0), weight(4, 4, 1, 1, axis=0)

    def build(step):
        def of(x):
            x = rounded(x, 0.021)
            y = rounded(F.conv2d(x, w1()), step)
            z = ops.concat(rounded(F.conv2d(x, w3()), 0.031), y, axis=1)
            return F.conv2d(z if step == 0.031 else rounded(z, 0.044), w2())

        return of

    alike = agree(program_of(build(0.031), 2, 4, 6, 6), 2, 4, 6, 6, step=0.031 * 4)
    assert alike.count("transpose") == 2 and "dequantize_linear" not in alike
    others = agree(program_of(build(0.0391), 2, 4, 6, 6), 2, 4, 6, 6, step=0.044 * 4)
    assert others.count("quantized_conv2d") == 3


@pytest.mark.parametrize("pool", [
    lambda x: F.avg_pool2d(x, 3, 2), lambda x: F.avg_pool2d(x, 3, 1, padding=1, exclusive=False), lambda x: F.adaptive_avg_pool2d(x, 1),
    lambda x: x.mean([2, 3]), lambda x: x.mean([2, 3], keepdim=True),
])
def test_averages_are_sums_of_whole_numbers(pool):
    w = weight(20, 4, 1, 1, axis=0)

    def build(x):
        x = rounded(F.conv2d(rounded(x, 0.021), w()), 0.031, 7, _core.uint8)
        return rounded(pool(x), 0.013)

    found = agree(program_of(build, 16, 4, 8, 8), 16, 4, 8, 8, step=0.013)  # many, of which few lie between whole numbers
    assert "quantized_depthwise_conv2d" in found and not {"avg_pool2d", "adaptive_avg_pool2d", "reduce_mean"} & set(found)


def test_averages_over_the_border_run_in_floats():
    found = agree(program_of(lambda x: rounded(F.avg_pool2d(rounded(x, 0.021), 3, 1, padding=1), 0.02), 2, 4, 8, 8), 2, 4, 8, 8, step=0.02)
    assert "avg_pool2d" in found


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_rows_of_a_table_stay_whole_numbers(axis):
    steps = to_tensor(np.float32(0.01)) if axis is None else None
    table = weight(30, 8, axis=axis or 0, steps=steps)
    program = Program()
    index = program.feed([-1, 3], _core.int64, "index")
    with capture(program):
        program.fetches = [ops.embedding(index, table(), padding_index=2)]
    notes = []
    fast = passes.default(program, passes.INFERENCE)
    integers(passes.packed_constants(program), notes)
    assert [note.runs_in for note in notes] == ["weight"]
    assert any(x is not None and x.bound is not None and x.bound.dtype is _core.int8 for node in fast.nodes for x in node.inputs)
    at = to_tensor(RNG.integers(0, 30, (5, 3)))
    np.testing.assert_allclose(compiled(fast)(at)[0].numpy(), compiled(program)(at)[0].numpy(), rtol=1e-6)


def test_layers_that_share_an_input_share_its_whole_numbers():
    weights = [weight(24, 8, axis=1) for _ in range(3)]

    def build(x):
        return ops.concat(*(F.linear(rounded(x, step), w()) for w, step in zip(weights, (0.02, 0.02, 0.03), strict=True)), axis=1)

    found = agree(program_of(build, 5, 24), 5, 24, step=0.0)
    assert found.count("quantize_linear") == 2 and found.count("quantized_linear") == 3


def recurrent(gates, op, reads_gates=False, whole=True):
    """A program of a recurrent layer whose weights are dequantized in it."""
    rng, hidden, width = np.random.default_rng(gates), 20, 12
    program = Program()
    x = program.feed([-1, -1, width], _core.float32, "x")
    with capture(program):
        weights = []
        for inside in (width, hidden):
            q = to_tensor(rng.integers(-127, 128, (gates * hidden, inside)).astype(np.int8 if whole else np.int16))
            scale = to_tensor(rng.uniform(0.2, 1, gates * hidden).astype(np.float32) / 127)
            weights.append(ops.dequantize_linear(q, scale, None, axis=0, group=None, dtype=_core.float32))
        states = [ops.full(shape=(x.shape[1], hidden), value=0.5, dtype=_core.float32)] * (2 if gates == 4 else 1)
        biases = [to_tensor(rng.standard_normal(gates * hidden).astype(np.float32)) for _ in range(2)]
        found = op(x, *states, *weights, *biases, None, reverse=True)
    program.fetches = list(found) if reads_gates else list(found[: len(states) + 1])
    return program


@pytest.mark.parametrize(("gates", "op", "small"), [(4, ops.lstm, "weight_only_lstm"), (3, ops.gru, "weight_only_gru")])
def test_recurrent_layers_keep_their_weights_whole(gates, op, small):
    program = recurrent(gates, op)
    better = passes.default(program, passes.INFERENCE)
    kinds = [node.type for node in better.walk()]
    assert kinds.count(small) == 1 and "dequantize_linear" not in kinds and op.name not in kinds
    assert {x.bound.dtype.name for x in better.bound_variables() if x.bound is not None and x.bound.size > 1000} == {"int8"}
    for time, batch in (5, 3), (2, 9), (0, 2):
        x = to_tensor(np.random.default_rng(0).standard_normal((time, batch, 12)).astype(np.float32))
        for got, wanted in zip(compiled(better)(x), compiled(program)(x), strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("options", "why"), [({"reads_gates": True}, "its gates are read"), ({"whole": False}, "not constants of int8")])
def test_recurrent_layers_that_stay_floats_say_why(options, why):
    notes = []
    program = passes.through(recurrent(4, ops.lstm, **options), [passes.packed_constants, lambda program: integers(program, notes)])
    assert [(note.runs_in, why in note.why) for note in notes] == [("float", True)]
    assert "lstm" in [node.type for node in program.walk()]


def bytes_of(program, x):
    """What a program gives, as written and after passes: exactly the same. Returns the ops."""
    fast = passes.default(program, passes.INFERENCE)
    np.testing.assert_array_equal(compiled(fast)(x)[0].numpy(), compiled(program)(x)[0].numpy())
    return [node.type for node in fast.nodes]


def gelu_of_rounded(x):
    """As a quantizer writes it that rounds after every operator."""
    half = ops.dequantize_linear(
        to_tensor(np.array(64, np.int8)), to_tensor(np.float32(0.5 / 64)), None, axis=None, group=None, dtype=_core.float32
    )
    inner = rounded(ops.erf(rounded(ops.multiply(x, to_tensor(np.float32(0.70710677))), 0.02)), 1 / 127)
    return rounded(ops.multiply(rounded(ops.multiply(x, half), 0.012), rounded(ops.add(inner, to_tensor(np.ones(1, np.float32))), 0.016)), 0.011)


@pytest.mark.parametrize("dtype", [_core.int8, _core.uint8])
@pytest.mark.parametrize("follow", [
    gelu_of_rounded, F.hardswish, ops.exp, lambda x: ops.where(ops.isnan(x), x, ops.cast(ops.cast(x, dtype=_core.float16), dtype=_core.float32)),
])
def test_what_follows_from_one_byte_is_looked_up(dtype, follow):
    for shape in (3, 70), (2, 5, 4, 9):
        x = tensor(*shape)
        program = program_of(lambda x: rounded(follow(rounded(x, 0.021, 3, dtype)), 0.013, 5, _core.uint8), -1, *shape[1:])
        assert bytes_of(program, x) == ["quantize_linear", "mapped_bytes", "dequantize_linear"]


def test_what_is_looked_up_keeps_the_layout_of_images():
    w1, w2 = weight(20, 4, 3, 3, axis=0), weight(8, 20, 1, 1, axis=0)

    def build(x):
        x = rounded(F.conv2d(rounded(x, 0.021), w1(), padding=1), 0.031, 7, _core.uint8)
        return F.conv2d(rounded(F.hardswish(x), 0.02, 20, _core.uint8), w2())

    found = agree(program_of(build, 2, 4, 8, 8), 2, 4, 8, 8, step=0)
    at = found.index("mapped_bytes")
    assert found[at - 1 : at + 2] == ["quantized_conv2d", "mapped_bytes", "quantized_conv2d"]


def test_what_is_looked_up_may_change_its_shape_before_it_is_rounded():
    def build(x):
        return rounded(ops.transpose(ops.reshape(ops.tanh(rounded(x, 0.021)), shape=(4, 5, 6)), perm=(1, 0, 2)), 0.01)

    found = bytes_of(program_of(build, 4, 30), tensor(4, 30))
    assert "mapped_bytes" in found and "tanh" not in found


def test_what_else_reads_a_function_of_bytes_gets_it():
    def build(x):
        q = rounded(x, 0.021)
        y = ops.tanh(q)
        return ops.add(ops.reduce_mean(y, axes=(1,), keepdim=True), ops.add(rounded(y, 0.01), q))

    found = bytes_of(program_of(build, 4, 30), tensor(4, 30))
    assert "mapped_bytes" in found


@pytest.mark.parametrize("other", [lambda x: tensor(30), lambda x: rounded(ops.exp(x), 0.03), lambda x: to_tensor(np.ones((1, 1, 1), np.float32))])
def test_functions_of_more_than_a_byte_run_in_floats(other):
    found = bytes_of(program_of(lambda x: rounded(ops.multiply(rounded(x, 0.021), other(x)), 0.02), 4, 30), tensor(4, 30))
    assert "mapped_bytes" not in found


def test_numbers_that_change_are_not_put_into_tables():
    def build(x):
        largest = ops.reduce_max(x, axes=(0, 1), keepdim=True)
        return rounded(ops.multiply(rounded(x, 0.021), largest), 0.03)

    assert "mapped_bytes" not in bytes_of(program_of(build, 4, 30), tensor(4, 30))
