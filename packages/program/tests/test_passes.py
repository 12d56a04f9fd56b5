"""Passes: what each does to a program, and that the program means the same afterwards."""
import sys

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_program import Program, passes
from wherry_program.program.backward import gradients
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, print_tensor, while_loop
from wherry_program.program.ir import tensors_of_attrs
from wherry_program.run import _recording, planner
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_program.testing.random_programs import Drawn, check
from wherry_tensor import _core, float32, float64, ops
from wherry_tensor.ops.declare import family_of
from wherry_tensor.testing.kit import specs, tensor_of


def tensor(*shape, seed=0):
    return wt.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


def recorded(f, *shapes, dtype=float32):
    program = Program()
    feeds = [program.feed(shape, dtype, f"x{i}") for i, shape in enumerate(shapes)]
    with capture(program), no_grad():
        results = f(*feeds)
        program.fetches = list(results) if isinstance(results, (list, tuple)) else [results]
    return program


def types(program):
    return [node.type for node in program.nodes]


def same(program, changed, *values, rtol=0.0, atol=0.0):
    for a, b in zip(Interpreter(program)(*values), compiled(changed)(*values), strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=rtol, atol=atol)


@pytest.mark.parametrize("change", [*passes.KEEP_BITS, passes.default], ids=lambda change: change.__name__)
def test_random_programs_keep_every_bit(change):
    for number in range(1000, 1060):
        check(number, change)


def test_random_programs_keep_every_bit_tile_by_tile(monkeypatch):
    monkeypatch.setattr(planner, "TILE", 2)
    for number in range(2000, 2100):
        check(number, passes.default)


def test_compiled_looks_at_a_program_see_what_its_nodes_say():
    inner = 0
    for number in range(3000, 3060):
        program = Drawn(number).program
        main, nodes = program.blocks[0], list(program.walk())
        inner += len(nodes) > len(main.nodes)
        assert [*map(id, _recording.nodes_of(main))] == [*map(id, nodes)]
        state = [part for node in nodes for part in (node, node.op, node.inputs, node.attrs)]
        assert [*map(id, _recording.state_of(main))] == [*map(id, state)]
        reads = [(node, [x for x in node.inputs if x is not None] + tensors_of_attrs(node.attrs)) for node in nodes]
        written = {id(x) for node in nodes if node.in_place for x in node.outputs}
        made = {id(x) for node in nodes for x in node.outputs}
        assert _recording.ids_written(main) == written
        assert _recording.ids_used(main) - {id(None)} == made | {id(x) for _, read in reads for x in read}
        expected = {}
        for node, read in reads:
            for x in [*read, *(node.outputs if node.in_place else ())]:
                expected.setdefault(id(x), []).append(id(node))
        assert {at: [*map(id, found)] for at, found in _recording.readers_in(main).items()} == expected
        kinds = {node.op for node in nodes}
        assert all(_recording.has_op(main, (op,)) for op in kinds) and not _recording.has_op(main, (ops.sort, ops.conv2d))
    assert inner


def test_constants_are_looked_for_where_there_may_be_some():
    one = tensor(3)
    program = recorded(lambda x: x + one, [-1, 3])
    main = program.blocks[0]
    known = {id(x): x.bound for x in program.bound_variables()}
    assert known and not _recording.may_compute(main, known)  # x is fed
    assert _recording.may_compute(main, known | {id(program.feeds[0]): wt.ones([1, 3])})
    assert _recording.may_compute(recorded(lambda x: ops.full_like(x, value=2.0, dtype=float32), [2, 3]).blocks[0], {})  # only its shape counts
    assert not _recording.may_compute(recorded(lambda x: ops.full_like(x, value=2.0, dtype=float32), [-1, 3]).blocks[0], {})


def test_a_pass_leaves_the_program_as_it_is():
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Conv2D(2, 2, 3), nn.BatchNorm2D(2))
    net.eval()
    program = recorded(lambda x: net(x).reshape([-1, 8]).reshape([-1, 4]) + net(x).sum(), [-1, 1, 6, 6])
    before = str(program)
    for level in (passes.EXACT, passes.INFERENCE):
        assert str(passes.default(program, level)) != before
    assert str(program) == before


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="Got 7, expected 0"):
        passes.default(Program(), 7)


def test_passes_are_asked_for_where_a_program_is_compiled():
    program = recorded(lambda x: (x.exp(), x.exp() * 2.0, x.tanh()), [-1])
    run = compiled(program, program.feeds, program.fetches[1:2], level=passes.EXACT)
    assert [node.type for node in run.program.walk()] == ["fused_elementwise", "exp", "multiply"]
    same(program, program, tensor(3))
    np.testing.assert_array_equal(run(tensor(3))[0].numpy(), (tensor(3).exp() * 2.0).numpy())


def test_what_is_fed_in_place_of_a_constant_is_used():
    program = recorded(lambda x: x * wt.to_tensor(np.full(3, 2.0, "float32")), [3])
    (constant,) = program.bound_variables()
    run = compiled(program, [program.feeds[0], constant], program.fetches, level=passes.INFERENCE)
    assert run(tensor(3), wt.zeros([3]))[0].numpy().tolist() == [0, 0, 0]


def test_writes_to_what_is_fed_stay():
    def f(x):
        ops.add.into((x,), x, x)
        return x.sum()

    run = compiled(recorded(f, [-1]), level=passes.EXACT)
    x = wt.ones([3])
    run(x)
    assert x.numpy().tolist() == [2, 2, 2]


# Dead code.

def test_what_nothing_needs_is_left_out():
    program = recorded(lambda x: [x.exp(), x.tanh()][0], [-1])
    changed = passes.dead_code(program)
    assert types(changed) == ["exp"]
    same(program, changed, tensor(3))


def test_a_write_through_a_view_is_needed_where_its_base_is():
    def f(x):
        y = x * 2.0
        ops.tanh.into((y[1:],), y[1:])
        return y

    program = recorded(f, [4])
    changed = passes.dead_code(program)
    assert "tanh" in types(changed)
    same(program, changed, tensor(4))


def test_prints_and_writes_to_what_lasts_stay():
    state = wt.to_tensor(np.zeros(2, "float32"))

    def f(x):
        print_tensor(x.exp())
        ops.add.into((state,), state, x)
        return x * 2.0

    assert types(passes.dead_code(recorded(f, [2]))) == ["exp", "print", "add", "multiply"]


def test_blocks_of_dropped_choices_are_dropped():
    program = recorded(lambda x: [x.exp(), cond(x.sum() > 0, lambda: x + 1.0, lambda: x)][0], [-1])
    changed = passes.dead_code(program)
    assert types(changed) == ["exp"] and len(changed.blocks) == 1
    passes.default(changed)


def test_dead_code_inside_a_loop_is_left_out():
    def f(x):
        def body(i, y):
            y.exp()
            return [i + 1, y * 2.0]

        return while_loop(lambda i, y: i < 3, body, [wt.to_tensor(0), x])[1]

    program = recorded(f, [-1])
    changed = passes.dead_code(program)
    assert "exp" not in [node.type for node in changed.walk()]
    same(program, changed, tensor(2))


# Common subexpressions.

def test_what_is_computed_twice_is_computed_once():
    program = recorded(lambda x: x.exp() * 2.0 + x.exp().reshape([x.shape[0], 1]).reshape([-1]), [-1])
    changed = passes.common_subexpressions(program)
    assert types(changed).count("exp") == 1
    same(program, changed, tensor(3))


def test_random_ops_and_different_zeros_are_not_merged():
    def f(x):
        a, b = (ops.dropout(x, p=0.5, upscale=True)[0] for _ in range(2))
        c, d = (ops.full(shape=(), value=value, dtype=float32) for value in (0.0, -0.0))
        return a + b + (x / c) + (x / d)

    assert types(passes.common_subexpressions(recorded(f, [-1]))).count("dropout") == 2
    assert types(passes.common_subexpressions(recorded(f, [-1]))).count("full") == 2


def test_two_results_that_are_handed_out_stay_two():
    program = recorded(lambda x: (x.exp(), x.exp()), [-1])
    a, b = compiled(passes.common_subexpressions(program))(tensor(2))
    a.add_(wt.to_tensor(1.0))
    assert a.numpy().tolist() != b.numpy().tolist()


def test_values_that_are_written_over_are_not_merged():
    def f(x):
        a, b = x.exp(), x.exp()
        ops.tanh.into((a,), a)
        return a + b

    program = recorded(f, [-1])
    same(program, passes.default(program), tensor(3))


# Constants.

def test_what_depends_on_nothing_is_computed_now():
    program = recorded(lambda x: x + ops.full(shape=(3,), value=2.0, dtype=float32).exp(), [-1, 3])
    changed = passes.constants(program)
    assert types(changed) == ["add"]
    same(program, changed, tensor(2, 3))


def test_parameters_are_constants_for_inference_alone():
    net = nn.Linear(3, 3)
    program = recorded(lambda x: ops.matmul(x, net.weight.transpose([1, 0]).exp(), transpose_x=False, transpose_y=False), [-1, 3])
    assert types(passes.default(program, passes.EXACT)) == ["transpose", "exp", "matmul"]
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed) == ["matmul"]
    same(program, changed, tensor(2, 3))


def test_a_declared_size_is_no_value_that_folding_may_spend():
    """What follows from the shape of an input is computed when it is small, whatever size the program declares for that input."""
    large = recorded(lambda x: ops.full_like(x, value=0.0, dtype=float32).exp() + x, [1 << 40])
    assert types(passes.constants(large)) == ["full_like", "exp", "add"]
    assert types(passes.constants(recorded(lambda x: ops.full_like(x, value=0.0, dtype=float32).exp() + x, [3]))) == ["add"]


def test_values_that_are_there_allow_results_as_large():
    weight = nn.Linear(100, 100).weight
    program = recorded(lambda x: ops.matmul(x, weight.exp(), transpose_x=False, transpose_y=False), [-1, 100])
    assert types(passes.frozen_constants(program)) == ["matmul"]


def test_many_results_of_one_weight_are_not_all_kept():
    """A thousand nodes after one parameter would take a thousand times its memory."""
    weight = nn.Linear(1024, 512).weight

    def f(x):
        y = weight
        for _ in range(100):
            y = y.exp()
        return x + y

    left = types(passes.frozen_constants(recorded(f, [1024, 512])))
    assert 80 < len(left) < 100, "the first are computed, the rest stay in the program"


# What changes nothing.

def test_casts_transposes_reshapes_and_copies_that_change_nothing_go():
    def f(x):
        y = x.transpose([1, 0, 2]).transpose([1, 0, 2])
        y = ops.cast(ops.cast(y, dtype=float64), dtype=float32)
        y = ops.copy(ops.cast(y, dtype=float32))
        return ops.reshape(ops.reshape(y, shape=(2, 12)), shape=(2, 3, 4)).exp()

    program = recorded(f, [2, 3, 4])
    changed = passes.dead_code(passes.redundant(program))
    assert types(changed) == ["exp"]
    same(program, changed, tensor(2, 3, 4))


def test_a_cast_that_loses_digits_stays():
    program = recorded(lambda x: ops.cast(ops.cast(x, dtype=wt.float16), dtype=float32) * 1.0, [-1])
    assert types(passes.redundant(program)).count("cast") == 2


# Batch norm.

@pytest.mark.parametrize("bias", [None, False])
def test_batch_norm_goes_into_the_convolution_before_it(bias):
    net = nn.Sequential(nn.Conv2D(2, 4, 3, bias_attr=bias), nn.BatchNorm2D(4), nn.ReLU())
    for _ in range(3):
        net(tensor(4, 2, 8, 8))  # moves mean and variance
    net.eval()
    program = recorded(net, [-1, 2, 8, 8])
    weight = net[0].weight.numpy().copy()
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed) == ["conv2d", "relu"]
    # One rounding of each weight, then sums of 18 products in float32.
    same(program, changed, tensor(2, 2, 8, 8, seed=1), rtol=1e-5, atol=2e-6)
    np.testing.assert_array_equal(net[0].weight.numpy(), weight)


def test_batch_norm_goes_into_the_linear_layer_before_it():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4))
    net(tensor(8, 3))
    net.eval()
    program = recorded(net, [-1, 3])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed) == ["linear"]
    same(program, changed, tensor(5, 3, seed=1), rtol=1e-5, atol=2e-6)


def test_batch_norm_of_what_others_read_stays():
    conv, norm = nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2)
    norm.eval()

    def f(x):
        y = conv(x)
        return norm(y) + y

    assert "batch_norm_infer" in types(passes.default(recorded(f, [-1, 1, 5, 5]), passes.INFERENCE))


def test_a_summand_behind_a_convolution_is_folded_with_the_norm_behind_it():
    conv, norm = nn.Conv2D(2, 4, 3, bias_attr=False), nn.BatchNorm2D(4)
    shift = tensor(4, seed=5)
    norm(conv(tensor(4, 2, 8, 8)))
    norm.eval()
    for groups in (1, 2):
        conv = nn.Conv2D(2, 4, 3, bias_attr=False, groups=groups)
        program = recorded(lambda x, conv=conv: norm(conv(x) + shift.reshape([1, 4, 1, 1])), [-1, 2, 8, 8])
        changed = passes.default(program, passes.INFERENCE)
        assert types(changed) == ["conv2d"]
        same(program, changed, tensor(2, 2, 8, 8, seed=1), rtol=1e-5, atol=2e-6)


def test_a_product_with_a_constant_matrix_and_a_summand_is_a_linear_layer():
    weight, bias = tensor(3, 4), tensor(4, seed=1)
    for shape in ([-1, 3], [-1, 5, 3]):
        program = recorded(lambda x: bias + F_matmul(x, weight), shape)
        changed = passes.biases(program)
        assert types(changed) == ["linear"]
        same(program, changed, tensor(*(2 if n < 0 else n for n in shape)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("summand", [(4, 1), (1, 1), (2, 1, 4), (4, 4)])
def test_a_summand_that_is_no_bias_stays(summand):
    program = recorded(lambda x: F_matmul(x, tensor(3, 4)) + tensor(*summand), [4, 3])
    assert "add" in types(passes.biases(program))


# Blocks of channels.

def images(*layers, size=(20, 20), channels=3, batch=-1):
    """A program of layers whose norms have seen something, and an image."""
    net = nn.Sequential(*layers)
    net(tensor(2, channels, *size))
    net.eval()
    return recorded(net, [batch, channels, *size]), tensor(2, channels, *size, seed=1)


def close(program, changed, *values):
    # Sums of some hundred products in float32, and Winograd's transforms.
    for a, b in zip(Interpreter(program)(*values), compiled(changed)(*values), strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=0, atol=1e-5 * float(np.abs(a.numpy()).max(initial=1e-3)))


def test_a_chain_of_convolutions_runs_in_blocks():
    program, x = images(
        nn.Conv2D(3, 32, 7, 2, 3), nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(3, 2, 1), nn.Conv2D(32, 40, 3, padding=1), nn.BatchNorm2D(40),
        nn.Hardswish(), nn.Conv2D(40, 40, 5, 2, 2, groups=40), nn.ReLU6(), nn.Conv2D(40, 48, 1, 2), nn.Sigmoid(), nn.AdaptiveAvgPool2D(1),
        nn.Flatten(), nn.Linear(48, 5),
        size=(70, 66),
    )
    changed = passes.default(program, passes.INFERENCE)
    assert [node.attr("activation") for node in changed.nodes if node.type.endswith("conv2d_blocked")] == ["relu", "hardswish", "relu6", "sigmoid"]
    assert not {"conv2d", "max_pool2d", "batch_norm_infer", "relu", "hardswish", "pad"} & set(types(changed))
    close(program, changed, x)
    close(program, changed, tensor(0, 3, 70, 66))


def test_windows_of_3_by_3_over_many_outputs_are_computed_by_winograd():
    program, x = images(nn.Conv2D(16, 32, 3), nn.Conv2D(32, 16, 3, dilation=2), nn.Conv2D(16, 16, 3, 2), channels=16)
    changed = passes.default(program, passes.INFERENCE)
    assert [name for name in types(changed) if "conv2d" in name] == ["winograd_conv2d_blocked", "conv2d_blocked", "conv2d_blocked"]
    close(program, changed, x)
    small = passes.blocked(program, winograd=False)  # weights keep their size
    assert [name for name in types(small) if "conv2d" in name] == ["conv2d_blocked"] * 3
    close(program, small, x)


def test_the_sum_of_two_paths_is_computed_where_one_of_them_ends():
    a, b, c = nn.Conv2D(16, 16, 3, padding=1), nn.Conv2D(16, 16, 3, padding=1), nn.Conv2D(16, 16, 1)
    program = recorded(lambda x: F.relu(b(F.relu(a(x))) + c(x)) + x, [-1, 16, 9, 9])
    changed = passes.default(program, passes.INFERENCE)
    found = [(node.attr("activation"), node.inputs[3] is not None) for node in changed.nodes if "conv2d" in node.type]
    assert sorted(found) == [("none", False), ("relu", False), ("relu", True)]
    close(program, changed, tensor(3, 16, 9, 9))


def test_an_image_that_is_added_to_every_one_of_a_batch_stays_a_sum():
    a, b = nn.Conv2D(16, 16, 1), nn.Conv2D(16, 16, 1)
    program = recorded(lambda x, y: a(x) + b(y), [-1, 16, 5, 5], [-1, 16, 5, 5])
    changed = passes.default(program, passes.INFERENCE)
    close(program, changed, tensor(3, 16, 5, 5), tensor(1, 16, 5, 5))


def test_what_stays_planar_finds_planes():
    first, second, grouped = nn.Conv2D(3, 16, 3), nn.Conv2D(16, 24, 3), nn.Conv2D(24, 24, 3, groups=4)

    def f(x):
        y = second(F.relu(first(x)))
        return y, grouped(y).mean(axis=[2, 3]), y.exp(), y.log(), F.pixel_shuffle(y[:, :16], 2), y.transpose([0, 2, 3, 1])

    program = recorded(f, [-1, 3, 12, 12])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed).count("conv2d_blocked") == 2 and types(changed).count("conv2d") == 1
    assert [x.sizes for x in changed.fetches] == [x.sizes for x in program.fetches]
    assert [x.name for x in changed.fetches] == [x.name for x in program.fetches]
    same(program, changed, tensor(2, 3, 12, 12), rtol=2e-3, atol=1e-4)


def test_channels_are_weighted_and_joined_in_blocks():
    first, narrow, wide, other = nn.Conv2D(3, 32, 3, 2), nn.Conv2D(32, 16, 1), nn.Conv2D(16, 32, 1), nn.Conv2D(64, 16, 3)

    def f(x):
        y = F.hardswish(first(x))
        weights = F.hardsigmoid(wide(F.relu(narrow(F.adaptive_avg_pool2d(y, 1)))))
        both = wt.concat([y * weights, F.avg_pool2d(y, 3, 1, 1)], axis=1)
        return other(both * y.mean(axis=1, keepdim=True)[:, :, :1, :1] * 2.0)

    program = recorded(f, [-1, 3, 17, 17])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed).count("conv2d_blocked") == 4 and "concat" in types(changed)
    assert "reduce_mean" in types(changed) and "adaptive_avg_pool2d" not in types(changed)  # of whole images: one node, not three
    close(program, changed, tensor(2, 3, 17, 17))


def test_images_of_unknown_size_run_in_blocks():
    program = recorded(nn.Sequential(nn.Conv2D(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2D(16, 16, 3, padding=1)), [-1, 3, -1, -1])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed).count("conv2d_blocked") == 2
    for size in (5, 8), (13, 30):
        close(program, changed, tensor(2, 3, *size))


def test_convolutions_of_a_branch_run_in_blocks():
    first, second, third = nn.Conv2D(3, 16, 3, padding=1), nn.Conv2D(16, 24, 3, padding=1), nn.Conv2D(24, 16, 1)

    def f(x):
        y = second(F.relu(first(x)))
        z = cond(x.sum() > 0, lambda: third(y) + F.relu(third(F.relu(y))), lambda: third(y))
        return z * 2.0

    program = recorded(f, [-1, 3, 9, 11])
    changed = passes.default(program, passes.INFERENCE)
    inner = [node for block in changed.blocks[1:] for node in block.nodes]
    assert types(changed).count("conv2d_blocked") == 2
    assert [node.type for node in inner if "conv" in node.type] == ["conv2d_blocked", "conv2d_blocked", "conv2d"]
    for sign in 1.0, -1.0:
        close(program, changed, ops.abs(tensor(2, 3, 9, 11)) * sign)


def test_weights_that_a_program_writes_to_or_is_fed_stay_as_they_are():
    layers = nn.Conv2D(3, 16, 3), nn.Conv2D(16, 16, 3)

    def f(x):
        ops.add.into((layers[0].weight,), layers[0].weight, layers[0].weight)
        return layers[1](layers[0](x))

    assert types(passes.default(recorded(f, [-1, 3, 8, 8]), passes.INFERENCE)).count("conv2d") == 2
    double = recorded(nn.Sequential(nn.Conv2D(3, 16, 3), nn.Conv2D(16, 16, 3)).astype("float64"), [-1, 3, 8, 8], dtype=float64)
    assert types(passes.default(double, passes.INFERENCE)).count("conv2d") == 2


def test_a_single_convolution_is_not_turned_round():
    program, _ = images(nn.Conv2D(16, 16, 3), nn.ReLU(), channels=16)
    assert types(passes.default(program, passes.INFERENCE)) == ["conv2d", "relu"]


def test_each_pass_of_images_can_be_used_alone():
    program, x = images(nn.Conv2D(16, 32, 3), nn.ReLU(), nn.Conv2D(32, 24, 1), channels=16)
    turned = passes.blocked(program)
    close(program, turned, x)
    ended = passes.epilogues(turned)
    assert "relu" in types(turned) and "relu" not in types(ended)
    same(turned, ended, x)  # the same sums in the same order


def excited(first, last, channels=32):
    """A convolution whose result is multiplied by a gate for each channel before the next one."""
    gate = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(channels, channels, 1), nn.Sigmoid())

    def f(x):
        y = first(x)
        return last(y * gate(y))

    return f


@pytest.mark.parametrize(("kernel", "out", "stride"), [(1, 16, 1), (3, 24, 2)])
def test_gates_of_single_images_are_in_the_weight(kernel, out, stride):
    net = excited(nn.Conv2D(3, 32, 3, padding=1), nn.Conv2D(32, out, kernel, stride, padding=kernel // 2))
    program = recorded(net, [1, 3, 20, 20])
    changed = passes.default(program, passes.INFERENCE)
    (product,) = [node for node in changed.nodes if node.op is ops.multiply]
    assert len(product.outputs[0].sizes) == 6
    close(program, changed, tensor(1, 3, 20, 20))


def test_gates_stay_where_a_weight_is_larger_than_an_image_or_others_read_it():
    first, small = nn.Conv2D(3, 32, 3, padding=1), nn.Conv2D(32, 16, 1)
    for net, sizes in (
        (excited(first, nn.Conv2D(32, 64, 1)), [1, 3, 7, 7]),  # 49 outputs of 64 channels
        (excited(first, small), [2, 3, 20, 20]),  # two images have two gates
        (excited(first, small), [-1, 3, 20, 20]),
        (excited(first, lambda y: small(y) + y.mean()), [1, 3, 20, 20]),
    ):
        program = recorded(net, sizes)
        changed = passes.default(program, passes.INFERENCE)
        assert not any(node.op is ops.multiply and len(node.outputs[0].sizes) == 6 for node in changed.walk())
        close(program, changed, tensor(*(2 if n < 0 else n for n in sizes)))


# Attention.

def written_out(q, k, v, mask=None, before=False):
    scale = 0.25
    if before:
        scores = F_matmul(q * scale, k.transpose([0, 1, 3, 2]))
    else:
        scores = ops.matmul(q, k, transpose_x=False, transpose_y=True) * scale
    if mask is not None:
        scores = scores + mask
    return F_matmul(F.softmax(scores, axis=-1), v)


def F_matmul(a, b):
    return ops.matmul(a, b, transpose_x=False, transpose_y=False)


@pytest.mark.parametrize("before", [False, True])
def test_attention_that_is_written_out_becomes_one_op(before):
    program = recorded(lambda q, k, v: written_out(q, k, v, before=before), *[[-1, 2, 5, 4]] * 3)
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed) == ["attention"]
    same(program, changed, *(tensor(3, 2, 5, 4, seed=i) for i in range(3)), rtol=1e-5, atol=1e-6)


def test_attention_takes_the_mask_along():
    program = recorded(written_out, *[[-1, 2, 5, 4]] * 3, [-1, 1, 5, 5])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed) == ["attention"]
    values = [tensor(3, 2, 5, 4, seed=i) for i in range(3)]
    same(program, changed, *values, tensor(3, 1, 5, 5, seed=4), rtol=1e-5, atol=1e-6)


def test_attention_whose_weights_are_wanted_stays_written_out():
    def f(q, k, v):
        weights = F.softmax(ops.matmul(q, k, transpose_x=False, transpose_y=True), axis=-1)
        return F_matmul(weights, v), weights

    assert "softmax" in types(passes.default(recorded(f, *[[-1, 2, 5, 4]] * 3), passes.INFERENCE))


# Dropout with a residual.


def same_draws(program, changed, *values):
    results = []
    for run in Interpreter(program), compiled(changed):
        wt.seed(5)
        results.append([x.astype("float64").numpy() for x in (*run(*values), wt.rand([2]))])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def kept(x):
    return ops.dropout(x, p=0.4, upscale=True)[0]


@pytest.mark.parametrize("dtype", [float32, wt.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: kept(x) + y,
        lambda x, y: y + kept(x.exp()),
        lambda x, y: (lambda dropped: dropped + y.exp())(kept(x)),  # the summand comes later than the dropout
        lambda x, y: kept(x) + kept(y),
    ],
)
def test_dropout_and_the_sum_behind_it_are_one_op(f, dtype):
    program = recorded(f, [4, 6], [4, 6], dtype=dtype)
    changed = types(passes.residuals(program))
    assert changed.count("dropout_add") == 1 and "add" not in changed
    same_draws(program, passes.default(program), tensor(4, 6).astype(dtype), tensor(4, 6, seed=1).astype(dtype))


def test_sizes_that_are_not_known_are_the_same_where_they_come_from_one_place():
    weight, bias = tensor(6, 6, seed=2), tensor(6, seed=3)

    def f(x):
        y = F.relu(x * 2.0 + bias).reshape([x.shape[0], 2, 3]).transpose([1, 0, 2]).transpose([1, 0, 2])
        return x + kept(F.linear(y.reshape([x.shape[0], 6]), weight, bias))

    program = recorded(f, [-1, 6])
    assert types(passes.residuals(program))[-1] == "dropout_add"
    same_draws(program, passes.default(program), tensor(4, 6))


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: kept(x) + y[0],  # is broadcast
        lambda x, y: (lambda dropped: [dropped + x, dropped])(kept(x)),  # others read what is kept
        lambda x, y: (lambda dropped: [dropped + x, dropped.exp()])(kept(x)),
        lambda x, y: (lambda dropped: dropped + ops.bernoulli(y))(kept(x)),  # would draw its numbers first
        lambda x, y: (lambda dropped: dropped[0] + ops.cast(dropped[1], dtype=float32))(ops.dropout(x, p=0.4, upscale=True)),
        lambda x, y: (lambda dropped: dropped + print_tensor(y.exp()))(kept(x)),  # calls Python in between, which may draw
        lambda x, y: ((x.exp() + kept(y)) * 2.0).tanh(),  # one loop with what is before and behind
    ],
)
def test_dropout_stays_apart_from_sums_that_it_cannot_take(f):
    program = recorded(f, [4, 6], [4, 6])
    assert "dropout_add" not in types(passes.residuals(program))
    same_draws(program, passes.default(program), tensor(4, 6), tensor(4, 6, seed=1).sigmoid())


def test_a_sum_whose_shapes_may_differ_in_some_run_is_left_alone():
    program = recorded(lambda x, y: kept(x) + y, [-1, 3], [-1, 3])
    changed = passes.residuals(program)
    assert types(changed) == ["dropout", "add"]
    for rows in 4, 1:
        same_draws(program, changed, tensor(4, 3), tensor(rows, 3, seed=1))


@pytest.mark.parametrize("shape", [[-1, -1, 16], [-1, 5, 16]])
@pytest.mark.parametrize("before", [False, True])
def test_residuals_of_transformers_are_added_by_their_dropout(shape, before):
    layer = nn.TransformerEncoderLayer(16, 2, 32, normalize_before=before)
    program = recorded(layer, shape)
    assert types(passes.default(program)).count("dropout_add") == 2
    same_draws(program, passes.default(program), tensor(3, 5, 16))


def test_the_gradient_reads_the_mask_of_dropout_with_a_residual():
    program = Program()
    x, y = (program.feed([4, 6], float32, name) for name in "xy")
    x.stop_gradient = y.stop_gradient = False
    with capture(program):
        out = (kept(x * 2.0) + y).square().sum()
        program.fetches = [out, *gradients([out], [x, y])]
    changed = passes.default(program)
    assert types(changed).count("dropout_add") == types(changed).count("dropout_vjp") == 1
    same_draws(program, changed, tensor(4, 6), tensor(4, 6, seed=1))


# Batch normalization and relu.


def normalized(x, scale=None, bias=None):
    return ops.batch_norm(x, scale, bias, epsilon=1e-5, data_format="NCHW")


def trained(f, *shapes, dtype=float32):
    """f's result and its gradients by all of its arguments."""
    program = Program()
    feeds = [program.feed(shape, dtype, f"x{i}") for i, shape in enumerate(shapes)]
    for x in feeds:
        x.stop_gradient = False
    with capture(program):
        result = f(*feeds)
        program.fetches = [result, *gradients([result.square().sum()], feeds)]
    return program


@pytest.mark.parametrize("shape", [(3, 4, 5, 6), (2, 40, 7, 3), (5, 6)])
def test_relu_is_in_the_pass_of_the_batch_normalization_before_it_and_in_that_of_its_gradient(shape):
    values = tensor(*shape), tensor(shape[1], seed=1), tensor(shape[1], seed=2)
    program = trained(lambda x, scale, bias: ops.relu(normalized(x, scale, bias)[0]), [-1, *shape[1:]], [shape[1]], [shape[1]])
    changed = passes.rectified(program)
    assert {"batch_norm_relu", "batch_norm_relu_vjp"} <= set(types(changed))
    assert not {"relu", "relu_vjp", "batch_norm", "batch_norm_vjp"} & set(types(changed))
    same(program, changed, *values)
    same(program, passes.default(program), *values)


def test_a_norm_without_parameters_takes_relu_and_gives_its_statistics():
    program = recorded(lambda x: (lambda norm: [ops.relu(norm[0]), *norm[1:]])(normalized(x)), [-1, 3, 4])
    changed = passes.rectified(program)
    assert types(changed) == ["batch_norm_relu"]
    same(program, changed, tensor(2, 3, 4))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (lambda norm: ops.relu(norm) + norm)(normalized(x)[0]),  # others read what is normalized
        lambda x: ops.relu(normalized(x)[1]),  # of the means
        lambda x: ops.relu(normalized(x)[0] + x),
    ],
)
def test_relu_stays_apart_from_norms_that_it_does_not_belong_to(f):
    program = trained(f, [3, 4, 5])
    assert "batch_norm_relu" not in types(passes.rectified(program))
    same(program, passes.rectified(program), tensor(3, 4, 5))


def test_float64_has_no_such_kernels_and_is_left_alone():
    program = trained(lambda x: ops.relu(normalized(x)[0]), [3, 4, 5], dtype=float64)
    assert types(passes.rectified(program)) == types(program)


def test_a_gradient_of_relu_that_others_read_stays():
    def f(x, ct):
        norm, mean, variance = normalized(x)
        out = ops.relu(norm)
        below = ops.relu_vjp(ct, out)
        return [out, below, *ops.batch_norm_vjp(below, x, None, mean, variance, epsilon=1e-5, data_format="NCHW")]

    program = recorded(f, [3, 4, 5], [3, 4, 5])
    assert types(passes.rectified(program)) == ["batch_norm_relu", "relu_vjp", "batch_norm_vjp"]
    same(program, passes.rectified(program), tensor(3, 4, 5), tensor(3, 4, 5, seed=1))


def test_a_gradient_with_another_epsilon_stays():
    def f(x, ct):
        norm, mean, variance = normalized(x)
        out = ops.relu(norm)
        return [out, *ops.batch_norm_vjp(ops.relu_vjp(ct, out), x, None, mean, variance, epsilon=0.5, data_format="NCHW")]

    program = recorded(f, [3, 4, 5], [3, 4, 5])
    assert types(passes.rectified(program)) == ["batch_norm_relu", "relu_vjp", "batch_norm_vjp"]


def test_devices_without_such_kernels_keep_the_two_ops(monkeypatch):
    monkeypatch.setattr(sys.modules["wherry_program.passes.rectified"], "_has_kernels", lambda: False)
    program = recorded(lambda x: ops.relu(normalized(x)[0]), [3, 4, 5])
    assert types(passes.rectified(program)) == ["batch_norm", "relu"]


# Element-wise chains.

def test_ops_of_these_families_compute_each_element_alone():
    for op, spec in specs.items():
        if op.view or op.random or len(op.outputs) != 1 or not (family_of(op) in ("elementwise", "activation") or op is ops.cast):
            continue
        for case in spec.cases():
            arrays = [x for x in case.inputs if x is not None]
            try:
                (out,) = op.infer(tuple(None if x is None else tensor_of(x) for x in case.inputs), tuple(case.attrs.values()))
            except Exception:
                continue  # of another dtype
            assert out.shape == np.broadcast_shapes(*(x.shape for x in arrays)), op


def test_a_chain_becomes_one_loop(monkeypatch):
    program = recorded(lambda x, y: ((x * 2.0 + y).tanh() * x, x.sum()), [-1, 7], [-1, 7])
    changed = passes.elementwise(program)
    assert types(changed).count("fused_elementwise") == 1
    assert [node.type for node in changed.blocks[1].nodes] == ["multiply", "add", "tanh", "multiply"]
    monkeypatch.setattr(planner, "TILE", 5)
    x, y = tensor(9, 7), tensor(9, 7, seed=1)
    same(program, changed, x, y)
    same(program, changed, x, tensor(1, 7))  # broadcasts: one by one
    same(program, changed, x.transpose([1, 0]).reshape([9, 7]), y)


def test_a_fused_program_comes_apart_again():
    program = recorded(lambda x, y: [(x * 2.0 + y).tanh() * x, x.sum()], [-1, 7], [-1, 7])
    changed = passes.unfused(passes.elementwise(program))
    assert sorted(types(changed)) == sorted(types(program)) and len(changed.blocks) == 1
    same(program, changed, tensor(9, 7), tensor(9, 7, seed=1))


def test_a_chain_that_others_read_ends_there(monkeypatch):
    monkeypatch.setattr(planner, "TILE", 5)

    def f(x):
        y = x.exp() + 1.0
        return y.sum(axis=1, keepdim=True) * y.tanh() + y, y

    program = recorded(f, [-1, 7])
    changed = passes.elementwise(program)
    same(program, changed, tensor(9, 7))


def test_large_chains_run_tile_by_tile():
    program = recorded(lambda x, y: [(x * 2.0 + y).tanh() * x - y, (x > y)], [-1], [-1])
    changed = passes.default(program)
    n = 4 * planner.TILE * _core.get_num_threads() + 77
    run = compiled(changed)
    x, y = tensor(n), tensor(n, seed=1)
    for a, b in zip(Interpreter(program)(x, y), run(x, y), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert run.segments[0].plans[0].arena_bytes < n * 4


def test_a_fused_program_is_recorded_and_differentiated_like_any_other():
    program = recorded(lambda x: (x * 2.0).tanh().sum(), [-1])
    changed = passes.elementwise(program)
    (found,) = gradients(changed.fetches, changed.feeds)
    (value,) = compiled(changed, changed.feeds, [found])(tensor(3))
    np.testing.assert_allclose(value.numpy(), 2 * (1 - np.tanh(2 * tensor(3).numpy()) ** 2), rtol=1e-5)


# What files of other exporters write out.


def _erf_gelu(x):
    return x * 0.5 * (wt.erf(x / 1.41421356) + 1.0)


def _tanh_gelu(x):
    return 0.5 * x * (1.0 + wt.tanh(0.7978845608 * (x + 0.044715 * wt.pow(x, 3))))


def _clipped(x, low, high):
    return ops.minimum(ops.maximum(x, _core.scalar(low, float32)), _core.scalar(high, float32))


@pytest.mark.parametrize(
    "function, op",
    [
        (lambda x: x * F.sigmoid(x), "silu"),
        (lambda x: x * F.relu6(x + 3.0) / 6.0, "hardswish"),
        (lambda x: F.relu6(3.0 + x) * 0.16666667 * x, "hardswish"),
        (lambda x: x * (F.relu6(x + 3.0) / 6.0), "hardswish"),
        (lambda x: x * F.hardsigmoid(x), "hardswish"),
        (lambda x: x * _clipped(x / 6.0 + 0.5, 0.0, 1.0), "hardswish"),
        (lambda x: F.relu6(x + 3.0) / 6.0, "hardsigmoid"),
        (lambda x: _clipped(x * 0.2 + 0.5, 0.0, 1.0), "hardsigmoid"),
        (lambda x: wt.clip(x * 0.2 + 0.5, 0.0, 1.0), "hardsigmoid"),
        (_erf_gelu, "gelu"),
        (lambda x: 0.5 * x + 0.5 * x * wt.erf(x * 0.70710678), "gelu"),
        (_tanh_gelu, "gelu"),
        (lambda x: x * wt.tanh(F.softplus(x)), "mish"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_activation_that_is_written_out_is_the_op(function, op):
    program = recorded(lambda x: function(x.floor()), [-1, 5])
    changed = passes.dead_code(passes.composed(program))
    assert types(changed)[-1] == op
    assert len(types(changed)) == 2
    same(program, changed, tensor(40, 5) * 4.0, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * F.sigmoid(x * 1.702),
        lambda x: x * F.relu6(x + 3.0) / 6.1,
        lambda x: x * F.relu6(x + 2.0) / 6.0,
        lambda x: 0.5 * x * (1.0 + wt.erf(x)),
        lambda x: x * F.sigmoid((x + 12582912.0) - 12582912.0),  # which rounds
        lambda x: x.reshape([-1, 1]) * F.sigmoid(x),
    ],
)
def test_what_only_resembles_an_activation_stays(function):
    program = recorded(function, [5])
    before = types(program)
    assert types(passes.composed(program)) == before


def test_a_border_of_zeros_is_that_of_the_convolution():
    conv = nn.Conv2D(3, 4, 3, stride=2, padding=[1, 0, 0, 2])

    def net(x, value, around=(0, 1, 2, 0)):
        return conv(F.pad(x, list(around), value=value))

    program = recorded(lambda x: net(x, 0.0), [-1, 3, 8, 8])
    changed = passes.dead_code(passes.composed(program))
    assert types(changed) == ["conv2d"]
    same(program, changed, tensor(2, 3, 8, 8), rtol=1e-5, atol=1e-5)
    for other in (lambda x: net(x, 1.0), lambda x: net(x, 0.0, (0, 0, -1, 0))):
        program = recorded(other, [-1, 3, 8, 8])
        assert types(passes.composed(program)) == types(program)


@pytest.mark.parametrize("root", ["sqrt", "rsqrt", "reciprocal"])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_normalization_that_is_written_out_is_the_op(root, affine):
    scale, shift = tensor(6, seed=1), tensor(1, 1, 6, seed=2)

    def net(x):
        d = x - x.mean(-1, keepdim=True)
        variance = wt.mean(d * d if root == "rsqrt" else wt.pow(d, 2.0), -1, keepdim=True) + 1e-5
        y = d / variance.sqrt() if root == "sqrt" else d * variance.rsqrt() if root == "rsqrt" else variance.sqrt().reciprocal() * d
        return y * scale + shift if affine else y

    program = recorded(net, [-1, 4, 6])
    changed = passes.dead_code(passes.composed(program))
    assert types(changed) == ["layer_norm"]
    same(program, changed, tensor(3, 4, 6), rtol=1e-5, atol=1e-5)


def test_constants_around_products_fold_into_them():
    conv, one, linear = nn.Conv2D(3, 4, 3, padding=1), nn.Conv2D(4, 5, 1, bias_attr=False), nn.Linear(5, 2)
    factors = wt.to_tensor(np.array([1.0, -2.0, 0.5, 3.0], "float32").reshape(1, 4, 1, 1))

    def net(x):
        y = F.relu((conv(x * 2.0) + 0.5) * factors)
        y = one(y * 0.25 + 1.0).mean([2, 3])
        return (linear(3.0 * y + 2.0) + 1.0) * 4.0

    program = recorded(net, [-1, 3, 6, 6])
    changed = passes.dead_code(passes.biases(program))
    assert [kind for kind in types(changed) if kind not in ("relu", "reduce_mean")] == ["conv2d", "conv2d", "linear"]
    same(program, changed, tensor(2, 3, 6, 6), rtol=1e-5, atol=1e-5)


def test_a_number_that_is_added_before_a_border_stays():
    conv = nn.Conv2D(3, 4, 3, padding=1)
    program = recorded(lambda x: conv(x + 1.0), [-1, 3, 6, 6])
    assert types(passes.biases(program)) == types(program)


@pytest.mark.parametrize("sizes", [(6, 5), (-1, -1)])
@pytest.mark.parametrize("channels", [1, 24, 32])
def test_transposed_convolutions_without_overlap_are_products_in_blocks(channels, sizes):
    first, up, last = nn.Conv2D(16, 32, 3, padding=1), nn.Conv2DTranspose(32, channels, 2, stride=2), nn.Conv2D(channels, 8, 3, padding=1)
    norm = nn.BatchNorm2D(channels)
    norm.eval()
    program = recorded(lambda x: last(F.relu(norm(up(F.relu(first(x)))))), [-1, 16, *sizes])
    changed = passes.default(program, passes.INFERENCE)
    assert not {"conv2d_transpose", "batch_norm_infer"} & {*types(changed)}
    same(program, changed, tensor(2, 16, 6, 5), rtol=1e-4, atol=1e-4)


def test_a_parameter_beside_an_image_leaves_convolutions_as_they_are():
    slope = nn.Parameter(tensor(1, 16, 1, 1))
    layers = [nn.Conv2D(16, 16, 3, padding=1) for _ in range(3)]

    def net(x):
        for layer in layers:
            x = layer(x) * slope + F.relu(x)
        return x

    changed = passes.default(recorded(net, [-1, 16, 12, 12]), passes.INFERENCE)
    assert sum("conv2d_blocked" in kind for kind in types(changed)) == 3


def test_halves_of_images_and_larger_ones_stay_in_blocks():
    first, second = nn.Conv2D(16, 32, 1), nn.Conv2D(16, 16, 1)
    index = wt.to_tensor(np.array([0, 0, 1, 1, 2, 2, 3, 3]))

    def net(x):
        y = first(x)
        return second(wt.gather(y[:, 16:], index, axis=3)) + wt.gather(y[:, :16], index, axis=3)

    program = recorded(net, [-1, 16, 4, 4])
    changed = passes.default(program, passes.INFERENCE)
    assert types(changed).count("transpose") == 2  # into blocks and out of them
    same(program, changed, tensor(2, 16, 4, 4), rtol=1e-5, atol=1e-5)


def _flat(k):
    n, heads, length, width = k.shape
    return k.reshape([n * heads, length, width]).transpose([0, 2, 1]).reshape([n, heads, width, length])


@pytest.mark.parametrize(
    "turned",
    [
        lambda k: k.transpose([0, 2, 1, 3]).transpose([0, 1, 3, 2]) * 0.5, lambda k: (k * 0.5).transpose([0, 2, 3, 1]),
        lambda k: _flat(k.transpose([0, 2, 1, 3])) * 0.5,
    ],
)  # fmt: skip
def test_attention_as_exporters_write_it(turned):
    """q and k are scaled both, k is transposed in one go or as three axes, and rows that a mask hides wholly give zeros."""
    def net(q, k, v, mask):
        weights = F.softmax(wt.matmul(q.transpose([0, 2, 1, 3]) * 0.5, turned(k)) + mask, axis=-1)
        weights = wt.where(wt.isnan(weights), wt.zeros([]), weights)
        return wt.matmul(weights, v.transpose([0, 2, 1, 3]))

    program = recorded(net, [2, 5, 3, 4], [2, 6, 3, 4], [2, 6, 3, 4], [2, 1, 5, 6])
    changed = passes.default(program, passes.INFERENCE)
    assert "attention" in types(changed) and "softmax" not in types(changed)
    mask = np.zeros((2, 1, 5, 6), "float32")
    mask[0, 0, 2], mask[1, 0, :, 3:] = -np.inf, -np.inf
    values = [tensor(2, 5, 3, 4), tensor(2, 6, 3, 4, seed=1), tensor(2, 6, 3, 4, seed=2), wt.to_tensor(mask)]
    same(program, changed, *values, rtol=1e-5, atol=1e-6)


def test_attention_by_a_key_of_another_rank_stays():
    def net(q, k, v):
        return wt.matmul(F.softmax(wt.matmul(q, k.transpose([0, 2, 1])), axis=-1), v)

    program = recorded(net, [2, 3, 5, 4], [3, 6, 4], [2, 3, 6, 4])
    changed = passes.attention(program)
    assert types(changed) == types(program)
