"""Static mode: programs that are described first and run then."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph import static
from wherry_graph.static import arrays
from wherry_nn import functional as F
from wherry_nn import unique_name
from wherry_train import amp, load, optimizer, regularizer, save


@pytest.fixture(autouse=True)
def static_mode():
    """Every test has programs, names and a scope of its own."""
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def started():
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe


def run(feed, *fetches):
    return started().run(feed=feed, fetch_list=list(fetches))


def test_a_program_runs_with_what_is_fed():
    x = static.data("x", [None, 3])
    y = static.nn.fc(x, 4, weight_attr=nn.initializer.Constant(0.5), activation="relu")
    for batch in (1, 5):
        (value,) = run({"x": np.ones((batch, 3), "float32")}, y)
        np.testing.assert_array_equal(value, np.full((batch, 4), 1.5))


def test_nothing_runs_while_a_program_is_described():
    x = static.data("x", [2])
    y = x + 1
    assert isinstance(y, static.Variable) and not wt.in_dynamic_mode()
    assert [op.type for op in static.default_main_program().global_block().ops] == ["add"]
    static.disable_static()
    assert wt.in_dynamic_mode()
    assert (wt.ones([2]) + 1).tolist() == [2.0, 2.0]


def test_fetches_by_name_and_of_parameters():
    y = static.nn.fc(static.data("x", [None, 2]), 1, name="last")
    out, weight = run({"x": np.zeros((1, 2), "float32")}, y.name, "last.w_0")
    assert out.shape == (1, 1) and weight.shape == (2, 1)


def network(kind):
    if kind == "layers":
        return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 1))
    return nn.Sequential(nn.Embedding(10, 4), nn.LSTM(4, 3))


OPTIMIZERS = {
    "SGD": lambda **k: optimizer.SGD(0.1, **k),
    "Momentum": lambda **k: optimizer.Momentum(0.05, use_nesterov=True, **k),
    "Adam": lambda **k: optimizer.Adam(0.01, weight_decay=0.01, **k),
    "AdamW": lambda **k: optimizer.AdamW(0.01, **k),
    "Adamax": lambda **k: optimizer.Adamax(0.01, **k),
    "Adagrad": lambda **k: optimizer.Adagrad(0.05, **k),
    "Adadelta": lambda **k: optimizer.Adadelta(0.5, **k),
    "RMSProp": lambda **k: optimizer.RMSProp(0.01, momentum=0.5, centered=True, **k),
    "Lamb": lambda **k: optimizer.Lamb(0.01, **k),
    "clipped": lambda **k: optimizer.SGD(0.1, grad_clip=nn.ClipGradByGlobalNorm(0.5), **k),
    "clipped by norm": lambda **k: optimizer.Momentum(0.1, grad_clip=nn.ClipGradByNorm(0.2), weight_decay=regularizer.L1Decay(0.01), **k),
    "clipped by value": lambda **k: optimizer.Adam(0.02, grad_clip=nn.ClipGradByValue(0.05), **k),
    "scheduled": lambda **k: optimizer.Adam(optimizer.lr.StepDecay(0.05, step_size=2, gamma=0.3), **k),
    "warmed up": lambda **k: optimizer.SGD(optimizer.lr.LinearWarmup(0.1, 3, 0.0, 0.1), **k),
}


def losses_of(make, eager, context=None):
    """The losses of six steps on the same data from the same initial weights, and the weights afterwards."""
    x, y = values(16, 4), values(16, 1, seed=1)
    weights = {}

    def start(name, shape):
        return weights.setdefault(name, values(*shape, seed=len(weights) + 7))

    def loss_of(net, x, y):
        with context() if context else amp.auto_cast(enable=False):
            return F.mse_loss(net(x), y).mean()

    if eager:
        static.disable_static()
        net = network("layers")
        for p in net.parameters():
            p.set_value(wt.to_tensor(start(p.name, p.shape)))
        opt = make(parameters=net.parameters())
        losses = []
        for _ in range(6):
            loss = loss_of(net, wt.to_tensor(x), wt.to_tensor(y))
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
            if not isinstance(opt._learning_rate, float):
                opt._learning_rate.step()
        static.enable_static()
        return losses, {p.name: p.numpy() for p in net.parameters()}
    net = network("layers")
    loss = loss_of(net, static.data("x", [None, 4]), static.data("y", [None, 1]))
    opt = make()
    opt.minimize(loss)
    exe = started()
    for p in net.parameters():
        p.set_value(start(p.name, p.shape))
    losses = []
    for _ in range(6):
        losses.append(float(exe.run(feed={"x": x, "y": y}, fetch_list=[loss])[0]))
        if not isinstance(opt._learning_rate, float):
            opt._learning_rate.step()
    return losses, {p.name: p.get_value().numpy() for p in net.parameters()}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_gives_the_numbers_of_eager_code_bit_for_bit(name):
    with unique_name.guard():
        expected, weights = losses_of(OPTIMIZERS[name], eager=True)
    with unique_name.guard():
        got, trained = losses_of(OPTIMIZERS[name], eager=False)
    assert got == expected
    assert trained.keys() == weights.keys()
    for key, value in weights.items():
        np.testing.assert_array_equal(trained[key], value)


def test_training_in_mixed_precision_gives_the_losses_of_eager_code():
    def context():
        return amp.auto_cast(dtype="bfloat16")

    with unique_name.guard():
        expected, _ = losses_of(OPTIMIZERS["SGD"], True, context)
    with unique_name.guard():
        got, _ = losses_of(OPTIMIZERS["SGD"], False, context)
    assert got == expected


def test_layers_that_were_made_before_train_in_a_program():
    static.disable_static()
    net = nn.Linear(3, 1)
    before = net.weight.numpy().copy()
    static.enable_static()
    x = static.data("x", [None, 3])
    loss = net(x).mean()
    _, pairs = optimizer.SGD(0.5, parameters=net.parameters()).minimize(loss)
    assert [p is q for (p, _), q in zip(pairs, net.parameters(), strict=True)] == [True, True]
    run({"x": np.ones((2, 3), "float32")}, loss)
    np.testing.assert_allclose(net.weight.numpy(), before - 0.5, rtol=1e-6)


def test_one_name_is_one_parameter():
    x = static.data("x", [None, 3])
    a = static.nn.fc(x, 3, weight_attr=nn.ParamAttr(name="shared"), bias_attr=False)
    static.nn.fc(a, 3, weight_attr=nn.ParamAttr(name="shared"), bias_attr=False)
    assert [p.name for p in static.default_main_program().all_parameters()] == ["shared"]
    with pytest.raises(ValueError, match="shared.*expected \\[3, 3\\]"):
        static.nn.fc(x, 5, weight_attr=nn.ParamAttr(name="shared"))


def test_a_clone_for_test_evaluates():
    x = static.data("x", [None, 4])
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.Dropout(0.5, mode="downscale_in_infer"))
    y = net(x)
    test = static.default_main_program().clone(for_test=True)
    optimizer.SGD(0.1).minimize(y.mean())
    assert {op.role for op in static.default_main_program().global_block().ops} == {"forward", "backward", "optimize"}
    exe = started()
    data = values(8, 4)
    exe.run(feed={"x": data})
    before = [p.get_value().numpy().copy() for p in static.default_main_program().all_parameters()]
    (got,) = exe.run(test, feed={"x": data}, fetch_list=[y])
    w, b, scale, shift, mean, variance = before
    expected = ((data @ w + b - mean) / np.sqrt(variance + 1e-5) * scale + shift) * 0.5
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert all((p.get_value().numpy() == old).all() for p, old in zip(static.default_main_program().all_parameters(), before))


def test_gradients_with_respect_to_data_and_their_gradients():
    x = static.data("x", [3])
    x.stop_gradient = False
    (dx,) = static.gradients((x**3).sum(), x)
    (ddx,) = static.gradients([dx], [x])
    assert dx.name == "x@GRAD"
    first, second = run({"x": [1.0, 2.0, 3.0]}, dx, ddx)
    np.testing.assert_allclose(first, [3, 12, 27], rtol=1e-6)
    np.testing.assert_allclose(second, [6, 12, 18], rtol=1e-6)


def test_what_stops_gradients_stops_them():
    x = static.data("x", [3])
    x.stop_gradient = False
    stopped = x * 2.0
    stopped.stop_gradient = True
    (a,) = static.gradients((stopped * x).sum(), x)
    (b,) = static.gradients((x.detach() * x).sum(), x)
    middle = x * 2.0
    (c,) = static.gradients((middle * x).sum(), x, no_grad_set=[middle])
    (d,) = static.gradients((x * x).sum(), x, target_gradients=None)
    got = run({"x": [1.0, 2.0, 3.0]}, a, b, c, d)
    for value, factor in zip(got, (2, 1, 2, 2)):
        np.testing.assert_allclose(value, [factor, 2 * factor, 3 * factor], rtol=1e-6)


def test_only_a_number_has_gradients_of_parameters():
    y = static.nn.fc(static.data("x", [None, 2]), 3)
    with pytest.raises(ValueError, match="paddle.mean"):
        static.append_backward(y)


def test_a_choice_and_a_loop_train():
    x = static.data("x", [None, 3])
    w = static.create_parameter([3], "float32", name="w", default_initializer=nn.initializer.Constant(2.0))
    n = static.data("n", [], "int64")
    y = static.nn.cond(x.sum() > 0, lambda: x * w, lambda: x - w)
    _, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * w), [wt.full([], 0, "int64"), y])
    loss = y.sum()
    ((p, g),) = static.append_backward(loss)
    ones = np.ones((1, 3), "float32")
    exe = started()
    for data, rounds, expected in ((ones, 2, 3 * 2.0**2), (-ones, 1, (-1 - 2 * 2.0))):
        (got,) = exe.run(feed={"x": data, "n": rounds}, fetch_list=[g])
        np.testing.assert_allclose(got, np.full(3, expected), rtol=1e-6)
    assert p.name == "w" and g.name == "w@GRAD"


def test_switch_case_and_case_choose_when_the_program_runs():
    i = static.data("i", [], "int64")
    a = static.nn.switch_case(i, {1: lambda: wt.full([1], 10.0), 3: lambda: wt.full([1], 30.0)}, lambda: wt.full([1], -1.0))
    b = static.nn.case([(i < 1, lambda: wt.full([1], 0.0)), (i < 3, lambda: wt.full([1], 1.0))])
    for number, expected in ((0, (-1, 0)), (1, (10, 1)), (3, (30, 1))):
        got = run({"i": np.int64(number)}, a, b)
        assert [float(v[0]) for v in got] == list(expected)


def test_a_function_of_python_is_called_with_a_gradient_of_its_own():
    x = static.data("x", [None, 2])
    x.stop_gradient = False
    y = static.default_main_program().current_block().create_var(name="y", shape=[-1, 2], dtype="float32")
    static.py_func(lambda a: np.tanh(a.numpy()), x, y, lambda a, out, g: g.numpy() * (1 - out.numpy() ** 2))
    (dx,) = static.gradients(y.sum(), x)
    data = values(3, 2)
    got, gradient = run({"x": data}, y, dx)
    np.testing.assert_allclose(got, np.tanh(data), rtol=1e-6)
    np.testing.assert_allclose(gradient, 1 - np.tanh(data) ** 2, rtol=1e-5)


def test_what_a_function_computes_has_the_gradient_of_another():
    x, w = static.data("x", [2]), static.data("w", [2])
    x.stop_gradient = w.stop_gradient = False
    y, total = static.nn.static_pylayer(lambda a, b: (a * b, (a * b).sum()), [x, w], lambda dy, ds: (dy * 10 + ds, None))
    loss = (y * y).sum() + total * 3
    dx, dw = static.gradients(loss, [x, w])
    assert dw is None
    got, gradient = run({"x": np.float32([1, 2]), "w": np.float32([3, 4])}, loss, dx)
    assert got == 9 + 64 + 33
    np.testing.assert_array_equal(gradient, [60 + 3, 160 + 3])


def test_a_static_pylayer_without_backward_passes_no_gradient():
    x = static.data("x", [2])
    y = static.nn.static_pylayer(lambda a: {"double": a * 2}, [x])
    assert run({"x": np.float32([1, 2])}, y["double"])[0].tolist() == [2.0, 4.0]


def test_static_pylayer_refuses_what_does_not_fit():
    x = static.data("x", [2])
    x.stop_gradient = False
    for arguments, error, match in [
        ((3, [x]), TypeError, "forward_fn has to be callable"),
        ((lambda a: a, [x], 5), TypeError, "backward_fn has to be callable"),
        ((lambda a: a * 2, [x]), ValueError, "expected to be True, when ``backward_fn == None``"),
        ((lambda a: a * 2, [x], lambda d: (d, d)), ValueError, "got 1 and 2"),
        ((lambda a, b: a * b, [x, 3.0], lambda d: (d, d)), TypeError, "input 1 is not a tensor"),
    ]:
        with pytest.raises(error, match=match):
            static.nn.static_pylayer(*arguments)
    static.disable_static()
    with pytest.raises(RuntimeError, match="use PyLayer instead"):
        static.nn.static_pylayer(lambda a: a, [wt.ones([2])], lambda d: d)


def test_the_loss_of_drawn_classes_is_paddles():
    """Of real Paddle 2.6.2; the sampler can draw class 2 alone."""
    x, label = static.data("x", [3, 4]), static.data("label", [3, 1], "int64")
    x.stop_gradient = False
    weight = nn.ParamAttr(initializer=nn.initializer.Assign(np.arange(20, dtype="float32").reshape(5, 4) / 10 - 1))
    bias = nn.ParamAttr(initializer=nn.initializer.Assign(np.arange(5, dtype="float32").reshape(5, 1) / 5))
    loss = static.nn.nce(
        x, label, 5, param_attr=weight, bias_attr=bias, num_neg_samples=3, sampler="custom_dist", custom_dist=[0.0, 0.0, 1.0, 0.0, 0.0]
    )
    (dx,) = static.gradients([loss], [x])
    got, gradient = run({"x": np.arange(12, dtype="float32").reshape(3, 4) / 12, "label": np.array([[0], [2], [4]], "int64")}, loss, dx)
    np.testing.assert_allclose(got, [[0.13730043], [0.58659583], [0.13054131]], rtol=1e-5)
    np.testing.assert_allclose(gradient[:, 0], [-0.009969885, 0.0071467767, -0.01029513], rtol=1e-4)


def test_a_deformable_convolution_without_offsets_is_a_convolution():
    x, offset = static.data("x", [None, 4, 5, 5]), static.data("offset", [None, 36, 3, 3])
    mask = static.data("mask", [None, 18, 3, 3])
    x.stop_gradient = offset.stop_gradient = mask.stop_gradient = False
    weight = nn.ParamAttr("w", initializer=nn.initializer.Assign(values(6, 2, 3, 3, seed=1)))
    out = static.nn.deform_conv2d(x, offset, mask, 6, 3, 2, 1, 1, 2, 2, weight_attr=weight)
    plain = static.nn.conv2d(x, 6, 3, 2, 1, 1, 2, param_attr=nn.ParamAttr("w"), bias_attr=False)
    gradients = static.gradients([out], [x, offset, mask])
    names = [p.name for p in static.default_main_program().all_parameters()]
    feed = {"x": values(2, 4, 5, 5), "offset": np.zeros((2, 36, 3, 3), "float32"), "mask": np.ones((2, 18, 3, 3), "float32")}
    got, expected, *found = run(feed, out, plain, *gradients)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert [g.shape for g in found] == [v.shape for v in feed.values()] and all(np.abs(g).max() > 0 for g in found)
    assert names == ["w", "deformable_conv_0.b_0"]
    with pytest.raises(ValueError, match="the groups do not divide the channels"):
        static.nn.deform_conv2d(x, offset, mask, 6, 3, groups=3)


def test_values_lie_in_scopes_by_name():
    y = static.nn.fc(static.data("x", [None, 2]), 2, name="f")
    exe, one, two = static.Executor(), static.Scope(), static.Scope()
    for scope in (one, two):
        exe.run(static.default_startup_program(), scope=scope)
    one.find_var("f.w_0").get_tensor().set(np.eye(2, dtype="float32"), None)
    feed = {"x": np.array([[1.0, 2.0]], "float32")}
    np.testing.assert_array_equal(exe.run(feed=feed, fetch_list=[y], scope=one)[0], [[1, 2]])
    assert not np.array_equal(exe.run(feed=feed, fetch_list=[y], scope=two)[0], [[1, 2]])
    assert np.array(one.var("f.w_0").get_tensor()).shape == (2, 2) and static.global_scope().find_var("f.w_0") is None
    with static.scope_guard(one):
        np.testing.assert_array_equal(exe.run(feed=feed, fetch_list=[y])[0], [[1, 2]])


def test_a_fetched_parameter_does_not_change_afterwards():
    loss = static.nn.fc(static.data("x", [None, 2]), 1, name="f").mean()
    optimizer.SGD(1.0).minimize(loss)
    exe = started()
    feed = {"x": np.ones((1, 2), "float32")}
    first = exe.run(feed=feed, fetch_list=["f.w_0"])[0]
    kept = first.copy()
    tensor = exe.run(feed=feed, fetch_list=["f.w_0"], return_numpy=False)[0]
    held = np.array(tensor).copy()
    exe.run(feed=feed)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(np.array(tensor), held)


def test_without_the_startup_program_the_error_says_so():
    y = static.nn.fc(static.data("x", [None, 2]), 1)
    with pytest.raises(ValueError, match="Run the startup program"):
        static.Executor().run(feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])


@pytest.mark.parametrize(
    ("feed", "message"),
    [({"x": np.ones((2, 3), "float32")}, "should have dimensions"), ({"x": np.ones((2, 2), "float64")}, "must be 'float32'"), ({}, "Feed it")],
)
def test_feeds_that_do_not_fit_are_refused(feed, message):
    y = static.data("x", [None, 2]) * 2.0
    with pytest.raises(ValueError, match=message):
        static.Executor().run(feed=feed, fetch_list=[y])


def test_a_misspelled_fetch_is_named():
    y = static.nn.fc(static.data("x", [None, 2]), 1, name="last")
    with pytest.raises(ValueError, match="last.w_0"):
        run({"x": np.ones((1, 2), "float32")}, y, "last.w0")


def test_pruning_runs_what_the_fetches_need_alone():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1])
    out = static.nn.fc(x, 1, name="f")
    loss = F.mse_loss(out, y)
    optimizer.SGD(0.1).minimize(loss)
    exe = started()
    before = np.array(static.global_scope().var("f.w_0").get_tensor()).copy()
    exe.run(feed={"x": np.ones((1, 2), "float32")}, fetch_list=[out], use_prune=True)
    np.testing.assert_array_equal(np.array(static.global_scope().var("f.w_0").get_tensor()), before)
    (value,) = exe.run(feed={out.name: np.zeros((1, 1), "float32"), "y": np.ones((1, 1), "float32")}, fetch_list=[loss], use_prune=True)
    assert float(value) == 1.0


def test_a_seed_of_a_program_repeats_its_numbers():
    drawn = wt.rand([4])
    exe = static.Executor()
    static.default_main_program().random_seed = 7
    a, b = (exe.run(fetch_list=[drawn])[0] for _ in range(2))
    np.testing.assert_array_equal(a, b)
    static.default_main_program().random_seed = 0
    a, b = (exe.run(fetch_list=[drawn])[0] for _ in range(2))
    assert not np.array_equal(a, b)


def test_a_global_variable_counts_runs():
    step = static.create_global_var([1], 0, "int64", persistable=True, name="step")
    wt.assign(step + 1, step)
    exe = started()
    for expected in (1, 2, 3):
        assert exe.run(fetch_list=[step])[0].tolist() == [expected]


def test_states_of_programs_are_set_and_given():
    loss = static.nn.fc(static.data("x", [None, 2]), 1, name="f").mean()
    optimizer.Adam(0.1).minimize(loss)
    main = static.default_main_program()
    with pytest.raises(RuntimeError, match="startup"):
        main.state_dict()
    exe = started()
    assert list(main.state_dict("param")) == ["f.w_0", "f.b_0"]
    state = {name: value.numpy().copy() for name, value in main.state_dict().items()}
    assert "f.w_0_moment1_0" in state and "f.w_0_moment1_0" in main.state_dict("opt")
    exe.run(feed={"x": np.ones((1, 2), "float32")})
    assert not np.array_equal(main.state_dict()["f.w_0"].numpy(), state["f.w_0"])
    main.set_state_dict(state)
    for name, value in main.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), state[name])
    with pytest.warns(UserWarning, match="other"):
        main.set_state_dict({"other": np.ones(2)})


def test_a_weight_is_a_length_times_a_direction():
    attr = static.WeightNormParamAttr(dim=1, name="w", initializer=nn.initializer.Constant(3.0))
    y = static.nn.fc(static.data("x", [None, 2]), 3, weight_attr=attr, bias_attr=False)
    assert [p.name for p in static.default_main_program().all_parameters()] == ["w_v", "w_g"]
    (value,) = run({"x": np.ones((1, 2), "float32")}, y)
    np.testing.assert_allclose(value, np.full((1, 3), 6.0), rtol=1e-6)


def test_blocks_and_operators_tell_what_they_are():
    x = static.data("x", [None, 2])
    y = wt.clip(x * 2.0, 0.0, 1.0)
    block = static.default_main_program().global_block()
    multiply = block.ops[0]
    assert multiply.type == "multiply" and multiply.input_arg_names[0] == "x" and multiply.input("x") == ["x"]
    assert multiply.output_arg_names == [multiply.output("out")[0]] and block.has_var("x") and block.var("x") is x
    assert block.idx == 0 and block.parent_idx == -1 and multiply.idx == 0 and y.block is block
    with pytest.raises(ValueError, match="not in this block"):
        block.var("z")
    total = static.nn.fc(x, 2).sum(axis=[0])
    assert total.made_by.attr("axes") == (0,) and total.made_by.has_attr("keepdim") and total.attr("keepdim") is False


def test_append_op_adds_an_operator_of_the_vocabulary():
    block = static.default_main_program().global_block()
    x = static.data("x", [None, 2])
    out = block.create_var(name="out", shape=[-1, 2], dtype="float32")
    block.append_op(type="exp", inputs={"x": x}, outputs={"out": out}, attrs={})
    np.testing.assert_allclose(run({"x": np.zeros((1, 2), "float32")}, out)[0], [[1, 1]])
    with pytest.raises(ValueError, match="Did you mean 'exp'"):
        block.append_op(type="expp", inputs={"x": x}, outputs={"out": out})


def test_name_scopes_are_noted_on_operators():
    x = static.data("x", [2])
    for _ in range(2):
        with static.name_scope("encoder"), static.name_scope("layer"):
            x = x + 1.0
    assert [op.scope for op in static.default_main_program().global_block().ops] == ["encoder/layer/", "encoder_1/layer/"]


def test_other_threads_run_at_once():
    from threading import Thread

    seen = []
    thread = Thread(target=lambda: seen.append((wt.ones([2]) + 1).tolist()))
    thread.start()
    thread.join()
    assert seen == [[2.0, 2.0]]


def test_averages_stand_in_for_parameters():
    x = static.data("x", [None, 2])
    one = nn.initializer.Constant(1.0)
    loss = static.nn.fc(x, 1, weight_attr=nn.ParamAttr(name="w", initializer=one), bias_attr=False).mean()
    optimizer.SGD(0.5).minimize(loss)
    average = static.ExponentialMovingAverage(0.9)
    average.update()
    exe = started()
    held = static.global_scope().var("w").get_tensor()
    # Paddle's numbers of the same program.
    for mean, value in ((0.5, 0.5), (0.23684208, 0.0), (-0.03505535, -0.5)):
        exe.run(feed={"x": np.ones((1, 2), "float32")})
        with average.apply(exe):
            np.testing.assert_allclose(np.array(held).ravel(), mean, rtol=1e-5)
        np.testing.assert_allclose(np.array(held).ravel(), value, atol=1e-7)
    with average.apply(exe, need_restore=False):
        pass
    np.testing.assert_allclose(np.array(held).ravel(), -0.03505535, rtol=1e-5)
    average.restore(exe)
    np.testing.assert_allclose(np.array(held).ravel(), -0.5)


def test_metrics_of_programs_are_paddles():
    x, label = static.data("x", [None, 2]), static.data("l", [None, 1], "int64")
    share = static.accuracy(F.softmax(x), label)
    whole, recent, counts = static.auc(F.softmax(x), label, num_thresholds=200, slide_steps=2)
    clicks, score = static.data("c", [None, 1]), static.data("q", [None, 1])
    sums = static.ctr_metric_bundle(F.sigmoid(score), clicks)
    assert len(counts) == 4
    exe, rng = started(), np.random.default_rng(0)
    expected = [  # of Paddle
        (0.25, 0.16666667, 0.16666667, 1.4361478, 3.0152667, 3.3344448, 4.8125124, 4, 8),
        (0.25, 0.26666667, 0.26666667, 3.2795486, 6.6841516, 6.8441477, 9.6722012, 10, 16),
        (0.625, 0.38461538, 0.42857143, 5.5163803, 10.4391051, 11.3974686, 14.7673168, 16, 24),
        (0.625, 0.42156863, 0.61111111, 8.7016687, 15.1670055, 16.8107681, 20.0639114, 18, 32),
    ]
    for numbers in expected:
        data = rng.standard_normal((8, 2)).astype("float32")
        feed = {"x": data, "l": rng.integers(0, 2, (8, 1)), "q": data[:, :1], "c": (data[:, 1:2] > 0).astype("float32")}
        got = exe.run(feed=feed, fetch_list=[share, whole, recent, *sums])
        np.testing.assert_allclose([float(v.reshape(())) for v in got], numbers, rtol=1e-5)


def test_devices_that_are_not_there_are_refused_by_name():
    assert len(static.cpu_places(3)) == 3
    for call in (static.mlu_places, static.IpuStrategy, lambda: static.npu_places(0), lambda: static.set_ipu_shard(None)):
        with pytest.raises((ValueError, RuntimeError)):
            call()


def test_wishes_are_kept_and_misspelled_ones_refused():
    build, run_ = static.BuildStrategy(), static.ExecutionStrategy()
    build.fuse_bn_act_ops, run_.num_threads = True, 2
    build.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce
    assert build.fuse_bn_act_ops and run_.num_threads == 2
    with pytest.raises(AttributeError, match="Did you mean 'fuse_bn_act_ops'"):
        build.fuse_bn_act_op = True
    y = static.data("x", [2]) * 2.0
    program = static.CompiledProgram(static.default_main_program(), build).with_data_parallel(places=[wt.CPUPlace()])
    assert static.Executor().run(program, feed={"x": [1.0, 2.0]}, fetch_list=[y])[0].tolist() == [2.0, 4.0]
    old = static.ParallelExecutor(False, main_program=static.default_main_program())
    assert old.run([y.name], {"x": [1.0, 2.0]})[0].tolist() == [2.0, 4.0]


def test_what_happens_without_one_tensor_is_refused_clearly():
    x = static.data("x", [None, 2])
    with pytest.raises(ValueError, match="num_flatten_dims"):
        static.nn.fc(x, 3, num_flatten_dims=2)
    with pytest.raises(ValueError, match="known before the program runs"):
        static.nn.fc(static.data("z", [2, None]), 3)
    with pytest.raises(ValueError, match="mode should be one of"):
        static.nn.prelu(x, "some")
    with pytest.raises(ValueError, match="groups"):
        static.nn.conv2d(static.data("i", [None, 3, 8, 8]), 4, 3, groups=2)
    with pytest.raises(ValueError, match="another variable"):
        static.data("x", [None, 3])
    with pytest.raises(RuntimeError, match="closed"):
        exe = static.Executor()
        exe.close()
        exe.run()


def test_a_data_loader_feeds_a_program():
    from wherry_train.io import DataLoader, TensorDataset

    x, label = static.data("x", [None, 2]), static.data("label", [None, 1], "int64")
    out = x * 2.0 + label.astype("float32")
    data = TensorDataset([wt.to_tensor(values(6, 2)), wt.to_tensor(np.arange(6, dtype="int64")[:, None])])
    before = len(static.default_main_program().global_block().ops)
    exe, seen = static.Executor(), []
    for feed in DataLoader(data, feed_list=[x, label], batch_size=3, return_list=False):
        seen.append(exe.run(feed=feed, fetch_list=[out])[0])
    np.testing.assert_allclose(np.concatenate(seen), values(6, 2) * 2 + np.arange(6)[:, None], rtol=1e-6)
    assert len(static.default_main_program().global_block().ops) == before


@pytest.mark.parametrize("size", [None, 5])
def test_integrals_combinations_and_parts_of_numbers_of_described_sequences(size):
    x = static.data("x", [size])
    fetches = [x.trapezoid(), x.cumulative_trapezoid(dx=2.0), x.combinations(), *x.frexp(), x.i0(), x.nextafter(x + 1.0), x.polygamma(1)]
    fed = np.abs(values(5)) + 0.5
    eager = wt.to_tensor(fed)
    static.disable_static()
    expected = [
        eager.trapezoid(), eager.cumulative_trapezoid(dx=2.0), eager.combinations(), *eager.frexp(), eager.i0(), eager.nextafter(eager + 1.0),
        eager.polygamma(1),
    ]  # fmt: skip
    static.enable_static()
    for found, wanted in zip(run({"x": fed}, *fetches), expected, strict=True):
        np.testing.assert_array_equal(found, wanted.numpy())


@pytest.mark.parametrize(("level", "error"), [(2**48, ValueError), (-1, ValueError), (17, ValueError), ("1", TypeError)])
def test_data_refuses_levels_that_no_sequence_has(level, error):
    with static.program_guard(static.Program()), pytest.raises(error, match="lod_level"):
        static.data("deep", [None, 2], "float32", level)


def test_a_variable_has_sizes_of_62_bits():
    with static.program_guard(static.Program()), pytest.raises(ValueError, match="no tensor has such a size"):
        static.default_main_program().global_block().create_var(shape=[2**70])


@pytest.mark.parametrize("dim", [0, 1])
def test_spectral_norm_divides_by_the_largest_singular_value(dim):
    x = static.data("x", [4, 3, 2])
    found = static.nn.spectral_norm(x, dim=dim, power_iters=60)
    assert found.shape == [4, 3, 2]
    data = values(4, 3, 2)
    largest = np.linalg.svd(np.moveaxis(data, dim, 0).reshape(data.shape[dim], -1))[1][0]
    np.testing.assert_allclose(run({"x": data}, found)[0], data / largest, rtol=1e-4)


def test_sparse_embedding_is_an_embedding_whose_rows_are_trained():
    ids = static.data("ids", [None, 2], "int64")
    rows = static.nn.sparse_embedding(ids, [10, 4], param_attr=nn.ParamAttr(initializer=nn.initializer.Constant(1.0)))
    optimizer.SGD(1.0).minimize(rows.sum())
    exe = started()
    exe.run(feed={"ids": np.array([[1, 3]], "int64")})
    (table,) = (static.global_scope().value(p.name).numpy() for p in static.default_main_program().all_parameters())
    np.testing.assert_array_equal(table[:, 0], [1, 0, 1, 0, 1, 1, 1, 1, 1, 1])


def test_gradients_are_found_by_name():
    x = static.data("x", [None, 2])
    x.stop_gradient = False
    h = static.nn.fc(x, 3, weight_attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(0.5)), bias_attr=False)
    loss = (h * h).sum()
    static.append_backward(loss)
    block = static.default_main_program().global_block()
    assert block.has_var("x@GRAD") and not block.has_var("y@GRAD") and block.var("w@GRAD").name == "w@GRAD"
    data = values(3, 2)
    dw, dx, dh, dloss = run({"x": data}, "w@GRAD", block.var("x@GRAD"), f"{h.name}@GRAD", f"{loss.name}@GRAD")
    made = data @ np.full((2, 3), 0.5, "float32")
    np.testing.assert_allclose(dh, 2 * made, rtol=1e-6)
    np.testing.assert_allclose(dx, 2 * made @ np.full((3, 2), 0.5), rtol=1e-5)
    np.testing.assert_allclose(dw, data.T @ (2 * made), rtol=1e-5)
    assert dloss == 1.0


def test_a_clone_knows_the_names_of_gradients():
    x = static.data("x", [2])
    x.stop_gradient = False
    static.gradients([x + x * 1.0], [x])
    again = static.default_main_program().clone()
    assert started().run(again, feed={"x": np.ones(2, "float32")}, fetch_list=["x@GRAD"])[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(("form", "expected"), [
    (lambda x: x.reshape_([-1, 2]), [[1, -2], [3, 4]]),
    (lambda x: wt.unsqueeze_(x, 0), [[[1, -2, 3, 4]]]),
    (F.relu_, [[1, 0, 3, 4]]),
    (lambda x: x.add_(x), [[2, -4, 6, 8]]),
    (lambda x: x.scatter_(wt.to_tensor([0]), wt.zeros([1, 4])), [[0, 0, 0, 0]]),
    (lambda x: x.cumsum_(1), [[1, -1, 2, 6]]),
])  # fmt: skip
def test_forms_with_an_underscore_leave_a_variable_as_it_is(form, expected):
    x = static.data("x", [None, 4])
    found, after = run({"x": np.array([[1, -2, 3, 4]], "float32")}, form(x), x * 1)
    assert found.tolist() == expected and after.tolist() == [[1, -2, 3, 4]]


def test_a_startup_program_replaces_a_variable_of_another_shape():
    for width in (3, 5):
        with static.program_guard(static.Program(), static.Program()):
            y = static.nn.fc(static.data("x", [None, 2]), width, weight_attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(1.0)))
            assert run({"x": np.ones((1, 2), "float32")}, y)[0].tolist() == [[2.0] * width]


def test_weight_norm_begins_with_the_weight():
    given = values(4, 3)
    layer = nn.utils.weight_norm(nn.Linear(4, 3, weight_attr=nn.initializer.Assign(given)), dim=1)
    x = values(2, 4, seed=1)
    y, length = run({"x": x}, layer(static.data("x", [None, 4])), layer.weight_g)
    np.testing.assert_allclose(y, x @ given, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(length, np.linalg.norm(given, axis=0), rtol=1e-6)


def test_values_are_saved_while_a_program_is_described(tmp_path):
    static.nn.fc(static.data("x", [None, 2]), 1, name="last")
    started()
    program = static.default_main_program()
    count = len(program.nodes)
    save(program.state_dict(), str(tmp_path / "state"))
    assert sorted(load(str(tmp_path / "state"))) == ["last.b_0", "last.w_0"] and len(program.nodes) == count


def test_a_loop_and_a_choice_read_the_lists_that_they_hand_on():
    x = static.data("x", [2, 3])

    def doubled(i, array):
        last = arrays.array_read(array, i)
        return i + 1, arrays.array_write(last * 2, i + 1, array)

    i, array = static.nn.while_loop(lambda i, _array: i < 4, doubled, [wt.zeros([1], "int64"), arrays.array_write(x, wt.zeros([1], "int64"))])
    last = arrays.array_read(array, i)
    chosen = static.nn.cond(x.sum() > 0, lambda: array, lambda: arrays.array_write(x, wt.zeros([1], "int64")))
    assert last.shape == [2, 3]
    ones = np.ones((2, 3), "float32")
    assert [a.tolist() for a in run({"x": ones}, last, arrays.array_read(chosen, i))] == [(ones * 16).tolist()] * 2


def test_lists_of_tensors_are_written_and_read():
    x = static.data("x", [None, 2])
    i = wt.zeros([1], "int64")
    array = arrays.array_write(x, i)
    arrays.array_write(x * 2, i + 1, array)
    second, length = run({"x": np.ones((1, 2), "float32")}, arrays.array_read(array, i + 1), arrays.array_length(array))
    assert second.tolist() == [[2.0, 2.0]] and length.tolist() == [2]
    array.append(x * 3)
    assert run({"x": np.ones((1, 2), "float32")}, arrays.array_read(array, i + 2))[0].tolist() == [[3.0, 3.0]]
    with pytest.raises(TypeError, match="array_read: array should be tensor array variable"):
        arrays.array_read(x, i)
    with pytest.raises(ValueError, match="nothing was written to the list"):
        arrays.array_read(arrays.create_array("float32"), i)
    with pytest.raises(ValueError, match="the list was made outside of the loop or choice"):
        static.nn.cond(x.sum() > 0, lambda: arrays.array_length(arrays.array_write(x, i, array)), lambda: arrays.array_length(array))
