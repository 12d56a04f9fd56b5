"""Programs in mixed precision."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph import static
from wherry_nn import functional as F
from wherry_nn import unique_name
from wherry_train import amp, optimizer


@pytest.fixture(autouse=True)
def static_mode():
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 1))


def eager(level, dtype, steps=5):
    static.disable_static()
    with unique_name.guard():
        net = network()
        for i, p in enumerate(net.parameters()):
            p.set_value(wt.to_tensor(values(*p.shape, seed=i + 3)))
        opt = optimizer.Adam(0.01, parameters=net.parameters(), multi_precision=level == "O2")
        if level == "O2":
            net, opt = amp.decorate(net, opt, level="O2", dtype=dtype)
        scaler = amp.GradScaler(init_loss_scaling=128.0, enable=dtype == "float16")
        losses = []
        for _ in range(steps):
            with amp.auto_cast(level=level, dtype=dtype):
                loss = F.mse_loss(net(wt.to_tensor(values(16, 4))).astype("float32"), wt.to_tensor(values(16, 1, seed=1)))
            scaled = scaler.scale(loss)
            scaled.backward()
            scaler.step(opt)
            scaler.update()
            opt.clear_grad()
            losses.append(float(loss))
    static.enable_static()
    return losses


@pytest.mark.parametrize(("level", "dtype"), [("O1", "float16"), ("O1", "bfloat16"), ("O2", "float16"), ("O2", "bfloat16")])
def test_decorated_training_gives_the_losses_of_eager_code(level, dtype):
    expected = eager(level, dtype)
    net = network()
    loss = F.mse_loss(net(static.data("x", [None, 4])).astype("float32"), static.data("y", [None, 1]))
    opt = static.amp.decorate(optimizer.Adam(0.01), level=level, dtype=dtype, init_loss_scaling=128.0, use_promote=True)
    opt.minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for i, p in enumerate(net.parameters()):
        static.global_scope().var(p.name).get_tensor().set(values(*p.shape, seed=i + 3))
    masters = opt._optimizer._master_weights
    opt.amp_init(None)
    for name, master in masters.items():  # eager code rounds before it copies
        rounded = static.global_scope().value(name)
        with static.mode.paused():
            static.global_scope().var(master.name).get_tensor().set(rounded.astype("float32").numpy())
    assert bool(masters) == (level == "O2")
    got = [float(exe.run(feed={"x": values(16, 4), "y": values(16, 1, seed=1)}, fetch_list=[loss])[0]) for _ in range(5)]
    np.testing.assert_allclose(got, expected, rtol=2e-3)
    kinds = {op.outputs[0].dtype.name for op in static.default_main_program().global_block().ops if op.type in ("matmul", "linear")}
    assert kinds == {dtype}


def test_a_step_with_gradients_that_are_not_finite_is_left_out_and_the_factor_shrinks():
    x = static.data("x", [None, 2])
    loss = static.nn.fc(x, 1, weight_attr="w", bias_attr=False).mean()
    opt = static.amp.decorate(optimizer.Adam(0.1), init_loss_scaling=1024.0, incr_every_n_steps=2)
    opt.minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    scope = static.global_scope()

    def step(value):
        (scale,) = exe.run(feed={"x": np.full((1, 2), value, "float32")}, fetch_list=[opt.get_loss_scaling()])
        return float(scale[0]), np.array(scope.var("w").get_tensor()).ravel().tolist()

    before = np.array(scope.var("w").get_tensor()).ravel().tolist()
    assert step(np.inf) == (512.0, before)
    factor, weights = step(1.0)
    assert factor == 512.0 and weights != before
    assert step(1.0)[0] == 1024.0


def test_the_guard_says_what_is_cast():
    x = static.data("x", [None, 4])
    first = static.nn.fc(x, 4)
    with static.amp.fp16_guard():
        second = static.nn.fc(first, 4)
    static.amp.cast_model_to_fp16(static.default_main_program(), use_fp16_guard=True)
    assert first.dtype is wt.float32 and second.dtype is wt.float16


def test_ops_and_variables_of_the_black_list_stay():
    x = static.data("x", [None, 4])
    y = static.nn.fc(x, 4, weight_attr="w")
    z = static.nn.fc(x, 4, weight_attr="v")
    lists = static.amp.CustomOpLists(custom_black_varnames={"w"})
    static.amp.cast_model_to_fp16(static.default_main_program(), lists, use_fp16_guard=False, level="O1")
    kinds = [op.outputs[0].dtype.name for op in static.default_main_program().global_block().ops if op.type == "matmul"]
    assert kinds == ["float32", "float16"] and y.dtype is wt.float32 and z.dtype is wt.float32
    with pytest.raises(ValueError, match="overlap"):
        static.amp.CustomOpLists({"matmul_v2"}, {"matmul_v2"})


def test_choices_and_loops_are_cast_inside():
    x, n = static.data("x", [None, 4]), static.data("n", [], "int64")
    w = static.create_parameter([4, 4], "float32", name="w")
    y = static.nn.cond(x.sum() > 0, lambda: x @ w, lambda: x)
    _, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y @ w), [wt.full([], 0, "int64"), y])
    static.amp.cast_model_to_fp16(static.default_main_program(), use_fp16_guard=False, level="O1")
    assert y.dtype is wt.float32
    exe = static.Executor()
    exe.run(static.default_startup_program())
    (got,) = exe.run(feed={"x": np.ones((1, 4), "float32"), "n": 2}, fetch_list=[y])
    weight = np.array(static.global_scope().var("w").get_tensor())
    np.testing.assert_allclose(got, np.ones((1, 4)) @ weight @ weight @ weight, rtol=2e-2, atol=2e-3)
