"""The executor: planned programs give what eager code gives, bit for bit, and what surrounds a run."""
import sys
import threading

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_program import Program
from wherry_program.program.backward import gradients
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, py_func, while_loop
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_program.testing.random_programs import check
from wherry_tensor import _core, float32, ops
from wherry_tensor.testing.kit import array_of, specs, tensor_of


def tensor(*shape, seed=0):
    return wt.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


def recorded(f, *shapes, dtype=float32):
    program = Program()
    feeds = [program.feed(shape, dtype, f"x{i}") for i, shape in enumerate(shapes)]
    with capture(program):
        results = f(*feeds)
        program.fetches = list(results) if isinstance(results, (list, tuple)) else [results]
    return program


def bits(values):
    return [(tuple(x.shape), x.dtype.name, array_of(x).tobytes()) for x in values]


# Every op.

FLOATS = {"float64": ("float32", "float16")}


def calls_of(spec):
    """Inputs and attributes of each sample, as they are and with floats of other widths."""
    for case in spec.cases():
        if any(x is not None and x.size > 20_000 for x in case.inputs):
            continue
        kinds = [None if x is None else x.dtype.name for x in case.inputs]
        for dtypes in [kinds, *([other if k == "float64" else k for k in kinds] for other in FLOATS["float64"])]:
            if dtypes is kinds or dtypes != kinds:
                yield [None if x is None else tensor_of(x.astype(k), k) for x, k in zip(case.inputs, dtypes)], case.attrs


@pytest.mark.parametrize("spec", specs.values(), ids=lambda spec: spec.op.name)
def test_a_planned_op_gives_what_the_op_gives(spec):
    op = spec.op
    for inputs, attrs in calls_of(spec):
        values = tuple(attrs[name] for name in op.attr_names)
        try:
            with np.errstate(all="ignore"):
                wt.seed(7)
                expected = op.run(tuple(inputs), values)
        except Exception:  # this dtype is not taken: the kit says which are
            continue
        expected = bits(expected if isinstance(expected, tuple) else (expected,))
        for unknown in (True, False):
            program = Program()
            feeds = [
                None if x is None else program.feed([-1, *x.shape[1:]] if unknown and x.ndim else x.shape, x.dtype) for x in inputs
            ]
            try:
                with capture(program):
                    results = op.apply(tuple(feeds), values)
            except Exception:
                if unknown:
                    continue  # it has to know the size
                raise
            program.fetches = list(results) if isinstance(results, tuple) else [results]
            run = compiled(program)
            given = [x for x in inputs if x is not None]
            for _ in range(2):
                wt.seed(7)
                assert bits(run(*given)) == expected, (op, [x.shape for x in given], attrs)


def test_most_ops_are_planned():
    net = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Softmax())
    run = compiled(recorded(net, [-1, 8]))
    run(tensor(2, 8))
    (segment,) = run.segments
    assert segment.plans[0].n_kernels == 4 and not segment.plans[0].interpreted


# Random programs.

@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_programs_give_what_the_interpreter_gives(first):
    for number in range(first, first + 50):
        check(number)


# Shapes.

def test_plans_are_kept_for_shapes_that_come_again():
    run = compiled(recorded(nn.Linear(3, 2), [-1, 3]))
    for batch in (1, 2, 3, 2, 1, 3):
        run(tensor(batch, 3))
    (segment,) = run.segments
    assert segment.replanned == 3
    for batch in range(4, 80):
        run(tensor(batch, 3))
    assert len(segment.plans) <= 32


def test_sizes_may_be_values_that_are_fed():
    program = Program()
    x, n = program.feed([-1, 3], float32, "x"), program.feed([], wt.int64, "n")
    with capture(program):
        program.fetches = [ops.full(shape=(ops_size(n), 3), value=2.0, dtype=float32) + x[:1]]
    run = compiled(program)
    for rows in (2, 5, 2):
        (value,) = run(tensor(4, 3), wt.to_tensor(rows))
        assert value.shape == [rows, 3]


def ops_size(n):
    from wherry_tensor.sizes import Size

    return Size("value", n)


def test_sizes_may_be_values_that_the_program_computes():
    program = Program()
    x = program.feed([-1], float32, "x")
    with capture(program):
        count = ops.cast(ops.reduce_sum(ops.cast(x > 0, dtype=wt.int64), axes=(0,), keepdim=False), dtype=wt.int64)
        program.fetches = [ops.full(shape=(ops_size(count),), value=1.0, dtype=float32) * 3.0]
    run = compiled(program)
    for positive in (1, 3, 0):
        (value,) = run(wt.to_tensor(np.array([1.0] * positive + [-1.0] * 2, "float32")))
        assert value.shape == [positive]


def test_shapes_that_depend_on_data_divide_a_program():
    program = recorded(lambda x: (ops.nonzero(x * 2.0).sum(), (x + 1.0).exp()), [-1, 3])
    run, plain = compiled(program), Interpreter(program)
    for values in ([[0.0, 1.0, 0.0]], [[1.0, 1.0, 1.0], [0.0, 0.0, 2.0]]):
        x = wt.to_tensor(np.array(values, "float32"))
        assert bits(run(x)) == bits(plain(x))
    assert len(run.segments) >= 2


def test_shape_arithmetic_is_done_when_planning():
    run = compiled(recorded(lambda x: x.reshape([x.shape[0] * 3]) + float(1), [-1, 3]))
    run(tensor(4, 3))
    assert run.segments[0].plans[0].n_kernels == 1


# Memory.

def test_results_stay_as_they_are_when_the_program_runs_again():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    run = compiled(recorded(lambda x: (net(x), net[0](x).transpose([1, 0])), [-1, 4]))
    first = run(tensor(3, 4, seed=1))
    before = bits(first)
    run(tensor(3, 4, seed=2))
    assert bits(first) == before


def test_values_that_are_not_needed_together_share_memory():
    def chain(x):
        for _ in range(20):
            x = ops.softmax(x, axis=1)
        return x

    run = compiled(recorded(chain, [-1, 256]))
    run(tensor(64, 256))
    assert run.segments[0].plans[0].arena_bytes <= 2 * 64 * 256 * 4


def test_strided_inputs_are_taken_as_they_are():
    program = recorded(lambda x: ops.softmax(x, axis=1) + x, [-1, -1])
    run, plain = compiled(program), Interpreter(program)
    x = tensor(6, 4)
    for y in (x, x.transpose([1, 0]), x[::2], ops.flip(x, axes=(0,))):
        assert bits(run(y)) == bits(plain(y))


def test_a_fetched_feed_is_the_tensor_itself():
    program = recorded(lambda x: (x, x * 2.0), [-1])
    x = tensor(3)
    assert compiled(program)(x)[0] is x


def test_memory_that_a_tensor_is_given_later_is_used():
    net = nn.Linear(2, 2)
    run = compiled(recorded(net, [-1, 2]))
    x = tensor(1, 2)
    run(x)
    net.weight.set_value(np.eye(2, dtype="float32"))
    net.bias._share_data_with(wt.to_tensor(np.ones(2, "float32")))
    np.testing.assert_allclose(run(x)[0].numpy(), x.numpy() + 1)


def test_in_place_nodes_write_into_the_tensor_and_bump_its_version():
    state = wt.to_tensor(np.zeros(3, "float32"))
    program = Program()
    x = program.feed([3], float32, "x")
    with capture(program), no_grad():
        ops.add.into((state,), state, x)
        program.fetches = [state * 2.0]
    run = compiled(program)
    version = state.inplace_version
    for n in (1, 2):
        (value,) = run(wt.to_tensor(np.ones(3, "float32")))
        assert state.numpy().tolist() == [n] * 3 and value.numpy().tolist() == [2 * n] * 3
        assert state.inplace_version == version + n


def test_tensors_that_overlap_are_written_in_order():
    whole = wt.to_tensor(np.arange(6, dtype="float32"))
    program = Program()
    x, y = program.feed([4], float32, "x"), program.feed([4], float32, "y")
    with capture(program), no_grad():
        ops.add.into((x,), x, y)
        program.fetches = [x * 1.0]
    run = compiled(program)
    (value,) = run(whole[:4], whole[1:5])
    assert value.numpy().tolist() == [1, 3, 5, 7]
    assert whole.numpy().tolist() == [1, 3, 5, 7, 4, 5]


def test_bool_feeds_may_hold_any_byte():
    array = np.array([0, 1, 2, 255], "uint8").view("bool")
    program = recorded(lambda x: ops.cast(x, dtype=float32), [-1], dtype=wt.bool)
    (value,) = compiled(program)(wt.from_numpy(array) if hasattr(wt, "from_numpy") else wt.to_tensor(array))
    assert value.numpy().tolist() == [0, 1, 1, 1]


# What surrounds a run.

@pytest.mark.skipif(sys.platform == "emscripten", reason="there are no threads there")
def test_eight_threads_run_one_program_at_once():
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 8))
    run = compiled(recorded(net, [-1, 16]))
    inputs = [tensor(1 + i % 5, 16, seed=i) for i in range(8)]
    with no_grad():
        expected = [bits([net(x)]) for x in inputs]
    wrong = []

    def work(i):
        wrong.extend(i for _ in range(300) if bits(run(inputs[i])) != expected[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_random_numbers_are_those_of_eager_code():
    def noisy(x):
        return ops.dropout(x, p=0.5, upscale=True)[0] + ops.uniform(shape=(3,), min=0.0, max=1.0, dtype=float32)

    run = compiled(recorded(noisy, [-1, 3]))
    x = tensor(4, 3)
    wt.seed(5)
    expected = [noisy(x), noisy(x)]
    state = _core.get_default_generator().get_state()
    wt.seed(5)
    assert bits(run(x) + run(x)) == bits(expected)
    assert _core.get_default_generator().get_state() == state


def test_kernels_that_are_registered_later_are_used():
    run = compiled(recorded(lambda x: x * 2.0, [-1]))
    run(tensor(3))
    plan = run.segments[0].plans[0]
    kernels = pytest.importorskip("wherry_ops_cpu._kernels")
    kernels.register(_core.host, kernels.supported_isas()[0])
    run(tensor(3))
    assert run.segments[0].plans[0] is not plan


def test_an_error_of_a_kernel_names_the_op_and_the_line():
    program = recorded(lambda x: ops.index_get(x, ops.full(shape=(1,), value=7, dtype=wt.int64), axes=(0,)), [-1])
    run = compiled(program)
    with pytest.raises(IndexError, match=r"index_get.*recorded at .*test_executor.py:\d+"):
        run(tensor(3))


def test_an_error_of_a_shape_names_the_line():
    run = compiled(recorded(lambda x, y: x + y, [-1], [-1]))
    with pytest.raises(ValueError, match="add") as caught:
        run(tensor(3), tensor(4))
    assert any("test_executor.py" in note for note in caught.value.__notes__)


def test_a_wrong_number_of_values_is_refused():
    run = compiled(recorded(lambda x: x * 2.0, [-1]))
    with pytest.raises(ValueError, match="got 2 values, expected 1"):
        run(tensor(1), tensor(1))


def test_nothing_is_recorded_for_gradients():
    net = nn.Linear(2, 2)
    (value,) = compiled(recorded(lambda x: cond(x.sum() > 0, lambda: net(x), lambda: x), [-1, 2]))(wt.ones([1, 2]))
    assert value.stop_gradient


def test_a_layer_sees_the_ops_of_a_program():
    seen = []

    class Watch:
        def __call__(self, op, inputs, attrs):
            seen.append(op.name)
            return op.run(inputs, attrs)

    run = compiled(recorded(lambda x: (x * 2.0).exp(), [-1]))
    run(tensor(2))
    watch = Watch()
    _core.push_layer(watch)
    try:
        run(tensor(2))
    finally:
        _core.pop_layer(watch)
    assert seen == ["multiply", "exp"]


# Control flow and Python.

def test_a_loop_runs_the_plans_of_its_body():
    def f(x):
        _i, y = while_loop(lambda i, y: i < 5, lambda i, y: [i + 1, ops.tanh(y * 1.5) + x], [wt.to_tensor(0), x])
        return y.exp()

    program = recorded(f, [-1, 3])
    run, plain = compiled(program), Interpreter(program)
    for batch in (1, 4):
        assert bits(run(tensor(batch, 3))) == bits(plain(tensor(batch, 3)))


def test_python_is_called_between_segments():
    def f(x):
        (y,) = py_func(lambda v: v * 3.0, [x + 1.0], [([-1, 3], float32)])
        return y.exp()

    program = recorded(f, [-1, 3])
    assert bits(compiled(program)(tensor(2, 3))) == bits(Interpreter(program)(tensor(2, 3)))


def test_a_training_step_gives_the_same_parameters():

    steps = []
    for make in (Interpreter, compiled):
        wt.seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))
        program = Program()
        x = program.feed([-1, 4], float32, "x")
        with capture(program):
            loss = net(x).square().mean()
        parameters = program.parameters()
        found = gradients([loss], parameters)
        with capture(program), no_grad():
            for p, g in ((p, g) for p, g in zip(parameters, found, strict=True) if g is not None):
                ops.subtract.into((p.bound,), p.bound, g * 0.1)
        run = make(program, [x], [loss])
        losses = []
        for i in range(4):
            with no_grad():
                losses += bits(run(tensor(6, 4, seed=i)))
        steps.append((losses, bits(net.parameters()), bits(net.buffers())))
    assert steps[0] == steps[1]


def test_a_profiler_sees_the_steps_of_a_planned_program():
    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        y = wt.matmul(x, wt.ones([3, 3])).tanh()
    run = compiled(program, [x], [y])
    (plain,) = run(wt.ones([2, 3]))
    _core.trace_start()
    (traced,) = run(wt.ones([2, 3]))
    events, lost = _core.trace_stop()
    names = [name for kind, name, *_ in events]
    assert lost == 0
    assert any("matmul" in name for name in names)
    assert any("tanh" in name for name in names)
    assert all(begin <= ready <= end for _, _, begin, ready, end, *_ in events if ready)
    np.testing.assert_array_equal(traced.numpy(), plain.numpy())


def test_a_loop_whose_sizes_grow_stops_planning_each_round():
    program = Program()
    x = program.feed([-1], wt.float32, "x")
    with capture(program):
        n = ops.full(shape=(), value=0, dtype=wt.int64)
        _, grown = while_loop(lambda i, _y: i < 40, lambda i, y: [i + 1, ops.concat(y, y[:1] * 2.0 + 1.0, axis=0)], [n, x])
    program.fetches = [grown]
    run = compiled(program)
    given = wt.to_tensor([1.0, 2.0])
    expected = Interpreter(program)(given)[0].numpy()
    for _ in range(3):
        np.testing.assert_array_equal(run(given)[0].numpy(), expected)
    made = [part.made for parts in run.parts.values() for part in parts.known.values()]
    assert sum(made) < 40


def test_a_loop_that_grew_plans_again_when_sizes_stay():
    program = Program()
    x, rounds = program.feed([-1], wt.float32, "x"), program.feed([], wt.int64, "rounds")
    with capture(program):
        n = ops.full(shape=(), value=0, dtype=wt.int64)

        def body(i, y):
            return [i + 1, cond(i < 20, lambda: ops.concat(y, y[:1] + 1.0, axis=0), lambda: y * 1.0)]

        _, grown = while_loop(lambda i, _y: i < rounds, lambda i, y: [z * 1 for z in body(i, y)], [n, x])
    program.fetches = [grown]
    run = compiled(program)
    for count in (30, 5, 40):
        given = [wt.to_tensor([1.0, 2.0]), wt.to_tensor(count, dtype="int64")]
        np.testing.assert_array_equal(run(*given)[0].numpy(), Interpreter(program)(*given)[0].numpy())
    parts = [part for parts in run.parts.values() for part in parts.known.values() if part.inner]
    assert any(part.in_a_row == 0 for part in parts)
