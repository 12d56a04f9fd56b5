"""Programs on the GPU: static mode, `to_static`, and saved layers, against the CPU."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import grad
from wherry_graph import jit, static
from wherry_tensor import CPUPlace, CUDAPlace, _core
from wherry_train import optimizer


@pytest.fixture
def static_mode():
    static.enable_static()
    yield
    static.disable_static()


def _trained(place, guard=None, steps=3):
    """Losses and weights of a small network that an Executor trains."""
    main, startup = static.Program(), static.Program()
    rng = np.random.default_rng(0)
    weights = [rng.normal(0, 0.3, shape).astype("float32") for shape in ((6, 8), (8, 3))]
    with static.program_guard(main, startup), static.device_guard(guard):
        x, label = static.data("x", [None, 6]), static.data("label", [None, 1], "int64")
        hidden = static.nn.fc(x, 8, activation="relu", weight_attr=nn.ParamAttr(initializer=nn.initializer.Assign(weights[0])))
        logits = static.nn.fc(hidden, 3, weight_attr=nn.ParamAttr(initializer=nn.initializer.Assign(weights[1])))
        loss = nn.functional.cross_entropy(logits, label)
        optimizer.Adam(learning_rate=0.01).minimize(loss)
    scope = static.Scope()
    exe = static.Executor(place)
    losses = []
    with static.scope_guard(scope):
        exe.run(startup)
        for _ in range(steps):
            feed = {"x": rng.normal(size=(5, 6)).astype("float32"), "label": rng.integers(0, 3, (5, 1))}
            losses.append(float(exe.run(main, feed=feed, fetch_list=[loss])[0]))
        names = [p.name for p in main.all_parameters()]
        values = [scope.find_var(name).get_tensor() for name in names]
    return losses, [np.array(value) for value in values], [repr(scope.value(name).place) for name in names]


@pytest.mark.parametrize("guard", [None, "gpu:0", "cpu"])
def test_an_executor_trains_on_its_place_whatever_the_current_device_is(gpu, static_mode, guard):
    wt.set_device("cpu")
    losses, weights, places = _trained(CUDAPlace(0), guard)
    wt.set_device("gpu")
    expected, expected_weights, expected_places = _trained(CPUPlace())
    assert (set(places), set(expected_places)) == ({"Place(gpu:0)"}, {"Place(cpu)"})
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-5)
    for one, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_a_schedule_and_constants_that_change_are_seen_by_later_runs(gpu, static_mode):
    wt.set_device("cpu")
    shift = wt.to_tensor(np.zeros(1, "float32"))  # somebody's tensor, which the program reads
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        y = static.nn.fc(x, 1, weight_attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(0.0)), bias_attr=False) + shift
        rate = optimizer.lr.StepDecay(1.0, step_size=1, gamma=0.1)
        optimizer.SGD(rate).minimize(y.mean())
    seen = []
    with static.scope_guard(static.Scope()):
        exe = static.Executor(CUDAPlace(0))
        exe.run(startup)
        for step in range(3):
            static.disable_static()
            shift.fill_(float(step))
            static.enable_static()
            exe.run(main, feed={"x": np.ones((1, 2), "float32")})
            (value,) = exe.run(main.clone(for_test=True), feed={"x": np.zeros((1, 2), "float32")}, fetch_list=[y])
            seen.append((np.array(static.global_scope().find_var("w").get_tensor())[0, 0], value.item()))
            rate.step()
    np.testing.assert_allclose(seen, [(-1.0, 0.0), (-1.1, 1.0), (-1.11, 2.0)], rtol=1e-6)
    assert repr(shift.place) == "Place(cpu)"


def test_an_executor_goes_on_with_what_one_of_another_device_left(gpu, static_mode):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 4])
        y = static.nn.fc(x, 2, weight_attr=nn.ParamAttr(initializer=nn.initializer.Constant(0.5)))
    with static.scope_guard(static.Scope()):
        static.Executor(CPUPlace()).run(startup)
        feed = {"x": wt.to_tensor(np.ones((3, 4), "float32"), place=CPUPlace())}
        for place in (CUDAPlace(0), CPUPlace(), CUDAPlace(0)):
            (value,) = static.Executor(place).run(main, feed=feed, fetch_list=[y], return_numpy=False)
            assert repr(value._value().place) == repr(place)
            assert np.array(value).tolist() == [[2.0, 2.0]] * 3


def test_a_guard_may_name_a_section_of_a_pipeline_for_which_there_is_no_device(gpu, static_mode):
    with static.program_guard(static.Program()), static.device_guard("gpu:3"):
        x = static.data("x", [2]) * 2
    assert x.made_by.device == "gpu:3"
    with pytest.raises(ValueError, match="device_guard"), static.device_guard("gup:3"):
        pass


def test_a_thread_may_work_on_another_device_than_the_process(gpu):
    wt.set_device("cpu")
    before = _core.set_thread_current_device(_core.device_code("gpu"))
    try:
        assert before == -1
        assert repr(wt.ones([2]).place) == "Place(gpu:0)"
    finally:
        _core.set_thread_current_device(before)
    assert repr(wt.ones([2]).place) == "Place(cpu)"
    with pytest.raises(ValueError, match="got -2, expected the code of a device, or -1"):
        _core.set_thread_current_device(-2)
    with pytest.raises(ValueError, match="no such device"):
        _core.set_thread_current_device(1 << 20)


class Choosing(nn.Layer):
    """A layer whose program has a choice that depends on values."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", wt.ones([4]))

    def forward(self, x):
        y = self.linear(x) + self.shift
        return y * 2 if y.sum() > 0 else y - 1


def _same_weights(layer):
    rng = np.random.default_rng(1)
    for p in layer.parameters():
        p.set_value(wt.to_tensor(rng.normal(0, 0.5, p.shape).astype("float32")))
    return layer


def test_a_layer_as_a_program_computes_and_differentiates_as_on_the_cpu(gpu):
    def run(device):
        wt.set_device(device)
        layer = jit.to_static(_same_weights(Choosing()))
        x = wt.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4), stop_gradient=False)
        y = layer(x)
        y.square().sum().backward()
        return [y.numpy(), x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())]

    for one, other in zip(run("gpu"), run("cpu"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_second_derivatives_of_a_program_draw_what_it_drew(gpu):
    x = wt.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4), stop_gradient=False)
    found = []
    for captured in (False, True):
        wt.seed(5)
        net = nn.Sequential(_same_weights(nn.Linear(4, 6)), nn.Tanh(), nn.Dropout(0.5))
        run = jit.to_static(net) if captured else net
        penalty = (grad(run(x).square().sum(), [x], create_graph=True)[0] ** 2).sum()
        penalty.backward()
        found.append(net[0].weight.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("written", "read"), [("cpu", "gpu"), ("gpu", "cpu"), ("gpu", "gpu")])
def test_a_layer_that_was_saved_on_one_device_runs_on_another(gpu, tmp_path, written, read):
    wt.set_device(written)
    layer = _same_weights(Choosing())
    layer.eval()
    x = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    expected = layer(wt.to_tensor(x)).numpy()
    jit.save(layer, str(tmp_path / "layer"), input_spec=[static.InputSpec([None, 4], "float32", "x")])
    wt.set_device(read)
    again = jit.load(str(tmp_path / "layer"))
    y = again(wt.to_tensor(x))
    assert repr(y.place) == f"Place({wt.get_device()})"
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)
