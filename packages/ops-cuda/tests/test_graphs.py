"""CUDA graphs: captured by hand, and programs that run as one by themselves."""
import gc

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor
from wherry_graph import jit
from wherry_graph.jit.cuda_graphs import wrap_cuda_graph
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.run.executor import compiled
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import _core, cuda, ops, set_flags, to_tensor
from wherry_tensor.cuda_graphs import CUDAGraph
from wherry_train import optimizer


@pytest.fixture
def warm(gpu):
    """Kernels that have run once, so that what CUDA prepares is not part of a capture; no garbage whose memory a test would see go."""
    gc.collect()
    yield
    cuda.synchronize()


def test_a_graph_computes_with_what_lies_in_its_inputs(warm):
    x, w = to_tensor(np.arange(6, dtype="float32").reshape(2, 3)), to_tensor(np.ones((3, 2), "float32"))
    before = cuda.memory_allocated()
    graph = CUDAGraph()
    graph.capture_begin()
    y = ops.exp(x * 0.5) @ w + 1
    graph.capture_end()
    for step in range(3):
        value = np.full((2, 3), step, "float32")
        ops.copy.into((x,), to_tensor(value))
        graph.replay()
        np.testing.assert_allclose(y.numpy(), np.exp(value * 0.5) @ np.ones((3, 2)) + 1, rtol=1e-6)
    graph.reset()
    assert cuda.memory_allocated() - before == 16  # what y holds
    assert y.numpy().shape == (2, 2)  # a tensor keeps its memory beyond the graph
    with pytest.raises(RuntimeError, match="replay: this graph holds nothing"):
        graph.replay()
    graph.capture_begin()  # once more
    z = x + x
    graph.capture_end()
    graph.replay()
    assert z.numpy().tolist() == [[4.0] * 3] * 2


def test_nothing_runs_while_it_is_captured(warm, emulator):
    x = to_tensor(np.ones(8, "float32"))
    (x * 2).numpy()
    before = emulator.counts.launches
    graph = CUDAGraph()
    graph.capture_begin()
    y = (x * 2).exp()
    graph.capture_end()
    cuda.synchronize()
    assert emulator.counts.launches == before
    graph.replay()
    cuda.synchronize()
    assert emulator.counts.launches > before
    np.testing.assert_allclose(y.numpy(), np.exp(2), rtol=1e-6)


def test_a_training_step_is_captured_and_replayed(warm):
    def train(captured):
        rng = np.random.default_rng(0)
        layer = nn.Linear(4, 2)
        layer.weight.set_value(to_tensor(rng.normal(size=(4, 2)).astype("float32")))
        sgd = optimizer.SGD(learning_rate=0.1, parameters=layer.parameters())
        x = to_tensor(np.zeros((3, 4), "float32"))

        def step():
            loss = (layer(x) ** 2).mean()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        graph, losses = None, []
        for i in range(4):
            ops.copy.into((x,), to_tensor(rng.normal(size=(3, 4)).astype("float32")))
            if not captured or i == 0:
                losses.append(float(step()))
                continue
            if graph is None:
                graph = CUDAGraph()
                graph.capture_begin()
                loss = step()
                graph.capture_end()
            graph.replay()
            losses.append(float(loss))
        return losses, layer.weight.numpy()

    (losses, weight), (expected, expected_weight) = train(True), train(False)
    assert losses == expected
    np.testing.assert_array_equal(weight, expected_weight)


def test_updates_that_wait_to_be_put_together_are_not_captured_late_nor_lost(warm):
    p = nn.Linear(2, 2)
    p.weight.set_value(to_tensor(np.zeros((2, 2), "float32")))
    sgd = optimizer.SGD(learning_rate=1.0, parameters=[p.weight])

    def step():
        p.weight.grad = to_tensor(np.ones((2, 2), "float32"))
        sgd.step()

    step()  # belongs before the capture
    gradient = to_tensor(np.full((2, 2), 2.0, "float32"))
    p.weight.grad = gradient
    graph = CUDAGraph()
    graph.capture_begin()
    sgd.step()  # the last of it
    graph.capture_end()
    assert p.weight.numpy().tolist() == [[-1.0] * 2] * 2
    graph.replay()
    graph.replay()
    assert p.weight.numpy().tolist() == [[-5.0] * 2] * 2


REFUSED = {
    "numpy": (lambda x: x.numpy(), r"gpu:0: reading a value, as numpy\(\), item\(\) and print do, cannot be captured into a graph"),
    "synchronize": (lambda x: cuda.current_stream().synchronize(), "gpu:0: waiting for the GPU, .* cannot be captured into a graph"),
    "nonzero": (ops.nonzero, "nonzero: this cannot be captured into a graph on gpu:0: the shape of its result depends on data"),
    "random": (lambda x: ops.dropout(x, p=0.5, upscale=True), "dropout: this cannot be captured .*: each run would draw the same numbers"),
    "fallback": (
        lambda x: ops.exp(_core.reinterpreted(x, wherry_tensor.bfloat16)),
        "exp: this cannot be captured .*: it has no kernel there and runs on the cpu",
    ),
    "data": (lambda x: x + to_tensor(np.ones(2000, "float32"))[:8], "gpu:0: a copy of the host's memory cannot be captured into a graph"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_captured_is_refused_by_name_and_the_capture_goes_on(warm, name):
    function, words = REFUSED[name]
    if name == "fallback" and "bfloat16" in ops.exp.kernel_dtypes("gpu"):
        pytest.skip("these kernels were compiled with bfloat16, without which exp runs on the cpu: nothing does with all dtypes")
    x = to_tensor(np.ones(8, "float32"))
    (x + 1).numpy()
    graph = CUDAGraph()
    graph.capture_begin()
    try:
        y = x + 1
        with pytest.raises(RuntimeError, match=words):
            function(x)
        z = y * 3
    finally:
        graph.capture_end()
    graph.replay()
    assert z.numpy().tolist() == [6.0] * 8


def test_mistakes_of_the_order_are_said(warm):
    graph, other = CUDAGraph(), CUDAGraph()
    with pytest.raises(RuntimeError, match="capture_end: nothing is being captured"):
        graph.capture_end()
    graph.capture_begin()
    try:
        with pytest.raises(RuntimeError, match="capture_begin: something is being captured on gpu:0"):
            other.capture_begin()
        with pytest.raises(RuntimeError, match="capture_begin: this graph was captured already"):
            graph.capture_begin()
        with pytest.raises(RuntimeError, match="reset: the graph is being captured"):
            graph.reset()
    finally:
        graph.capture_end()
    with pytest.raises(ValueError, match="CUDAGraph: unknown mode. Got 'local', expected one of global, thread_local, relaxed"):
        CUDAGraph(mode="local")


def test_a_graph_is_drawn(warm, tmp_path):
    x = to_tensor(np.ones(8, "float32"))
    graph = CUDAGraph()
    with pytest.raises(RuntimeError, match="print_to_dot_files: this graph holds nothing"):
        graph.print_to_dot_files(str(tmp_path))
    graph.capture_begin()
    ops.exp(x)
    graph.capture_end()
    graph.print_to_dot_files(str(tmp_path / "drawn"))
    text = (tmp_path / "drawn" / "graph.dot").read_text()
    assert text.startswith("digraph")


def test_memory_that_a_graph_reads_and_nobody_kept_is_found(warm, emulator):
    x = to_tensor(np.ones(8, "float32"))
    graph = CUDAGraph()
    graph.capture_begin()
    y = x + 1
    graph.capture_end()
    del x  # the graph reads it
    cuda.synchronize()
    graph.replay()
    with pytest.raises(RuntimeError, match="in a FREED allocation of 32 bytes"):
        y.numpy()
    emulator.clear()


# ---- programs ----


def program_of(function, *shapes):
    program = Program()
    feeds = [program.feed(list(shape), wherry_tensor.float32, f"x{i}") for i, shape in enumerate(shapes)]
    with capture(program):
        found = function(*feeds)
    program.feeds, program.fetches = feeds, list(found) if isinstance(found, tuple) else [found]
    return program


def two_results(x, bias):
    y = ops.softmax(x @ x + bias, axis=1)
    return y, y.sum(axis=0) * 3


def plans_of(run):
    return run.segments[0].plans[0]


def test_a_program_runs_as_a_graph_from_its_second_run_on_and_gives_the_same_bits(gpu):
    program = program_of(two_results, [4, 4], [4])
    run, plain = compiled(program), Interpreter(program)
    bias = to_tensor(np.ones(4, "float32"))
    rng = np.random.default_rng(0)
    held = []
    for step in range(8):
        x = to_tensor(rng.normal(size=(4, 4)).astype("float32"))  # at an address of its own
        got = run(x, bias)
        for one, other in zip(got, plain(x, bias), strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        if step in (2, 5):
            held.append((got, [one.numpy() for one in got]))
    plan = plans_of(run)
    assert plan.launches == 7
    assert plan.captures <= 6
    for tensors, values in held:  # a result that somebody holds is not written over
        for one, value in zip(tensors, values):
            np.testing.assert_array_equal(one.numpy(), value)


def test_when_all_graphs_results_are_held_the_kernels_run_one_by_one(gpu):
    program = program_of(two_results, [4, 4], [4])
    run, bias = compiled(program), to_tensor(np.ones(4, "float32"))
    x = to_tensor(np.eye(4, dtype="float32"))
    results = [run(x, bias) for _ in range(8)]
    plan = plans_of(run)
    assert len(plan.graphs) == 4
    assert plan.launches == 4
    values = [[one.numpy() for one in result] for result in results]
    assert all((one == other).all() for value in values for one, other in zip(value, values[0]))


def test_views_of_results_keep_them(gpu):
    run = compiled(program_of(lambda x: ((x * 2).exp() + 1)[1:3], [4, 4]))
    x = to_tensor(np.arange(16, dtype="float32").reshape(4, 4) / 8)
    first = [run(x)[0] for _ in range(3)]
    later = run(to_tensor(np.zeros((4, 4), "float32")))[0]
    assert later.numpy().tolist() == [[2.0] * 4] * 2
    for one in first:
        np.testing.assert_array_equal(one.numpy(), first[0].numpy())


def test_what_draws_or_waits_is_not_run_as_a_graph(gpu):
    def drops(x):
        return ops.dropout(x, p=0.5, upscale=True)[0] * 2 + x

    run = compiled(program_of(drops, [64]))
    x = to_tensor(np.ones(64, "float32"))
    wherry_tensor.seed(7)
    drawn = [run(x)[0].numpy() for _ in range(4)]
    assert not all((one == drawn[0]).all() for one in drawn)
    assert plans_of(run).launches == 0


def test_flags_turn_graphs_off(gpu):
    run, x = compiled(program_of(lambda x: (x @ x) + 1, [4, 4])), to_tensor(np.eye(4, dtype="float32"))
    for flag, value in (("FLAGS_new_executor_use_cuda_graph", False), ("FLAGS_benchmark", True)):
        set_flags({flag: value})
        try:
            for _ in range(3):
                run(x)
            assert plans_of(run).launches == 0
        finally:
            set_flags({flag: not value})
    run(x)
    assert plans_of(run).launches == 1


def test_a_layer_trains_as_a_captured_program_as_it_does_on_the_cpu(gpu):
    def train(device):
        wherry_tensor.set_device(device)
        rng = np.random.default_rng(2)
        layer = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
        for p in layer.parameters():
            p.set_value(to_tensor(rng.normal(0, 0.4, p.shape).astype("float32")))
        program = jit.to_static(layer)
        adam = optimizer.Adam(learning_rate=0.01, parameters=layer.parameters())
        losses = []
        for _ in range(6):
            x, label = to_tensor(rng.normal(size=(5, 6)).astype("float32")), to_tensor(rng.integers(0, 3, (5, 1)))
            loss = nn.functional.cross_entropy(program(x), label)
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(float(loss))
        return losses, [p.numpy() for p in layer.parameters()]

    (losses, weights), (expected, expected_weights) = train("gpu"), train("cpu")
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-5)
    for one, other in zip(weights, expected_weights):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_a_wrapped_function_runs_as_a_graph(gpu):
    wrapped = wrap_cuda_graph(lambda x: (x @ x).exp() + 1)
    x = to_tensor(np.eye(3, dtype="float32"))
    for _ in range(3):
        np.testing.assert_array_equal(wrapped(x).numpy(), ((x @ x).exp() + 1).numpy())
    with pytest.raises(ValueError, match="wrap_cuda_graph: unknown mode. Got 'local'"):
        wrap_cuda_graph(lambda x: x, mode="local")


def test_a_fault_in_the_data_of_a_graph_is_reported(gpu):
    run = compiled(program_of(lambda x: ops.gather(x, ops.cast(x[:, 0], dtype=wherry_tensor.int64), axis=0) + 1, [4, 4]))
    good, bad = (to_tensor(np.full((4, 4), n, "float32")) for n in (1, 9))
    for _ in range(3):
        run(good)
    assert plans_of(run).launches == 2
    (out,) = run(bad)
    with pytest.raises(IndexError, match="gather"):
        out.numpy()
    assert not _core.is_capturing(1)
