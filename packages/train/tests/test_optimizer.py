"""Optimizers against their definitions in NumPy; groups, penalties, clipping, state."""
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import unique_name
from wherry_tensor import _core
from wherry_train import optimizer as opt
from wherry_train.regularizer import L1Decay, L2Decay

ALL = ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam", "AdamW", "Adamax", "RMSProp", "Lamb")


def parameter(values, **attr):
    values = np.asarray(values)
    made = nn.create_parameter(list(values.shape), str(values.dtype), attr=nn.ParamAttr(**attr))
    made.set_value(values)
    return made


def pair(rng, dtype="float32", **attr):
    return [parameter(rng.standard_normal((3, 4)).astype(dtype), **attr), parameter(rng.standard_normal(4).astype(dtype))]


def give(params, grads):
    for param, grad in zip(params, grads, strict=True):
        param.grad = wt.to_tensor(grad)


def gradients(params, step):
    rng = np.random.default_rng(step)
    return [rng.standard_normal(p.shape).astype(p.dtype.name) for p in params]


def make(name, params, **options):
    return getattr(opt, name)(learning_rate=0.1, parameters=params, **options)


# Each: (p, g, t, s) -> p, with the state in the dict s; t counts from 1.


def _sgd(p, g, t, s):
    return p - 0.1 * g


def _momentum(p, g, t, s):
    s["v"] = 0.9 * s.get("v", 0) + g
    return p - 0.1 * s["v"]


def _nesterov(p, g, t, s):
    s["v"] = 0.9 * s.get("v", 0) + g
    return p - 0.1 * (g + 0.9 * s["v"])


def _adagrad(p, g, t, s):
    s["m"] = s.get("m", 0) + g**2
    return p - 0.1 * g / (np.sqrt(s["m"]) + 1e-6)


def _adadelta(p, g, t, s):
    s["g"] = 0.95 * s.get("g", 0) + 0.05 * g**2
    step = np.sqrt((s.get("u", 0) + 1e-6) / (s["g"] + 1e-6)) * g
    s["u"] = 0.95 * s.get("u", 0) + 0.05 * step**2
    return p - 0.1 * step


def _adam_direction(g, t, s, epsilon=1e-8):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g**2
    return s["m"] / (1 - 0.9**t) / (np.sqrt(s["v"] / (1 - 0.999**t)) + epsilon)


def _adam(p, g, t, s):
    return p - 0.1 * _adam_direction(g, t, s)


def _adamw(p, g, t, s):
    return p * (1 - 0.1 * 0.01) - 0.1 * _adam_direction(g, t, s)


def _adamax(p, g, t, s):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["n"] = np.maximum(np.abs(g), 0.999 * s.get("n", 0) + 1e-8)
    return p - 0.1 / (1 - 0.9**t) * s["m"] / s["n"]


def _rmsprop(p, g, t, s):
    s["s"] = 0.95 * s.get("s", 0) + 0.05 * g**2
    return p - 0.1 * g / np.sqrt(s["s"] + 1e-6)


def _rmsprop_centered(p, g, t, s):
    s["s"] = 0.95 * s.get("s", 0) + 0.05 * g**2
    s["g"] = 0.95 * s.get("g", 0) + 0.05 * g
    s["v"] = 0.5 * s.get("v", 0) + 0.1 * g / np.sqrt(s["s"] - s["g"] ** 2 + 1e-6)
    return p - s["v"]


def _lamb(p, g, t, s):
    step = _adam_direction(g, t, s, 1e-6) + 0.01 * p
    return p - 0.1 * np.sqrt((p**2).sum()) / np.sqrt((step**2).sum()) * step


DEFINITIONS = [
    ("SGD", {}, _sgd),
    ("Momentum", {}, _momentum),
    ("Momentum", {"use_nesterov": True}, _nesterov),
    ("Adagrad", {}, _adagrad),
    ("Adadelta", {}, _adadelta),
    ("Adam", {}, _adam),
    ("AdamW", {}, _adamw),
    ("Adamax", {}, _adamax),
    ("RMSProp", {}, _rmsprop),
    ("RMSProp", {"centered": True, "momentum": 0.5}, _rmsprop_centered),
    ("Lamb", {}, _lamb),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options", "definition"), DEFINITIONS)
def test_ten_steps_follow_the_definition(name, options, definition, dtype):
    params = pair(np.random.default_rng(0), dtype)
    expected, states = [p.numpy().astype("float64") for p in params], [{}, {}]
    optimizer = make(name, params, **options)
    for t in range(1, 11):
        grads = gradients(params, t)
        give(params, grads)
        optimizer.step()
        expected = [definition(p, g.astype("float64"), t, s) for p, g, s in zip(expected, grads, states, strict=True)]
    # Ten steps of rounding; epsilon's place in Adam moves a few ulp.
    tolerance = 2e-5 if dtype == "float32" else 1e-9
    for param, value in zip(params, expected, strict=True):
        np.testing.assert_allclose(param.numpy(), value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ALL)
def test_a_step_writes_in_place_and_records_nothing(name):
    param = parameter(np.ones(3, "float32"))
    optimizer, address = make(name, [param]), param.data_ptr()
    (param * param).sum().backward()
    version = param.inplace_version
    optimizer.step()
    assert param.data_ptr() == address
    assert param.inplace_version > version  # so that a backward through the old values is refused
    assert not param.stop_gradient and param.is_leaf


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "Adamax", "RMSProp", "Adagrad", "Adadelta"])
def test_weight_decay_is_the_gradient_of_an_l2_penalty(name):
    rng = np.random.default_rng(1)
    values, grad = rng.standard_normal(5).astype("float32"), rng.standard_normal(5).astype("float32")
    decayed, by_hand = parameter(values), parameter(values)
    for optimizer, param, g in (
        (make(name, [decayed], weight_decay=0.5), decayed, grad),
        (make(name, [by_hand]), by_hand, grad + 0.5 * values),
    ):
        give([param], [g])
        optimizer.step()
    np.testing.assert_allclose(decayed.numpy(), by_hand.numpy(), rtol=1e-5, atol=1e-6)


def test_a_parameter_keeps_its_own_regularizer():
    values = np.array([1.0, -2.0], "float32")
    own, other = parameter(values, regularizer=L1Decay(0.5)), parameter(values)
    optimizer = make("SGD", [own, other], weight_decay=L2Decay(0.25))
    give([own, other], [np.zeros(2, "float32")] * 2)
    optimizer.step()
    np.testing.assert_allclose(own.numpy(), [1 - 0.1 * 0.5, -2 + 0.1 * 0.5], rtol=1e-6)
    np.testing.assert_allclose(other.numpy(), values * (1 - 0.1 * 0.25), rtol=1e-6)


def test_append_regularization_ops_adds_penalties_to_gradients():
    own, other = parameter(np.ones(2, "float32"), regularizer=L1Decay(0.5)), parameter(np.full(2, 2.0, "float32"))
    optimizer = make("SGD", [own, other])
    zero = wt.zeros([2])
    pairs = optimizer.append_regularization_ops([(own, zero), (other, zero)], L2Decay(0.25))
    assert [g.tolist() for _, g in pairs] == [[0.5, 0.5], [0.5, 0.5]]
    assert optimizer.append_regularization_ops([(other, zero)])[0][1] is zero


def test_a_regularizer_that_changes_later_is_seen():
    param = parameter(np.ones(2, "float32"))
    optimizer = make("SGD", [param])
    give([param], [np.zeros(2, "float32")])
    optimizer.step()
    assert param.tolist() == [1.0, 1.0]
    param.regularizer = L2Decay(1.0)
    param.optimize_attr = {"learning_rate": 0.5}
    optimizer.step()
    np.testing.assert_allclose(param.numpy(), 0.95, rtol=1e-6)


def test_parameters_without_gradient_or_frozen_stay_as_they_are():
    params = [parameter(np.ones(2, "float32")) for _ in range(3)]
    params[2].stop_gradient = True
    optimizer = make("Adam", params)
    params[0].grad = wt.ones([2])
    params[2].grad = wt.ones([2])
    optimizer.step()
    assert [p.tolist() == [1.0, 1.0] for p in params] == [False, True, True]
    assert {key.split("_moment")[0] for key in optimizer.state_dict() if "_moment1" in key} == {params[0].name}
    params[1].grad = wt.ones([2])
    optimizer.step()
    assert params[1].tolist() != [1.0, 1.0]


def test_the_gradient_after_clear_grad_is_zero_and_still_a_gradient():
    param = parameter(np.ones(2, "float32"))
    optimizer = make("Momentum", [param])
    param.sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    after = param.numpy()
    assert param.grad.tolist() == [0.0, 0.0]
    optimizer.step()  # by the velocity alone
    np.testing.assert_allclose(param.numpy(), after - 0.1 * 0.9, rtol=1e-6)
    optimizer.clear_grad(set_to_zero=False)
    assert param.grad is None
    optimizer.clear_gradients()
    assert param.grad is None


def test_clear_grad_is_seen_by_who_holds_the_gradient():
    param = parameter(np.ones(2, "float32"))
    param.sum().backward()
    held = param.grad
    make("SGD", [param]).clear_grad()
    assert held.tolist() == [0.0, 0.0]
    param.sum().backward()
    assert param.grad is held and held.tolist() == [1.0, 1.0]


def test_gradients_accumulate_again_after_clear_grad():
    param = parameter(np.ones(2, "float32"))
    optimizer = make("SGD", [param])
    for _ in range(2):
        optimizer.clear_grad()
        (param * 3).sum().backward()
        (param * 2).sum().backward()
        assert param.grad.tolist() == [5.0, 5.0]


# Learning rates.


def test_the_factor_of_a_parameter_multiplies_the_rate():
    slow, fast = parameter(np.ones(1, "float32"), learning_rate=0.5), parameter(np.ones(1, "float32"))
    optimizer = opt.SGD(0.5, [slow, fast])
    give([slow, fast], [np.ones(1, "float32")] * 2)
    optimizer.step()
    assert (slow.item(), fast.item()) == (0.75, 0.5)
    optimizer.set_lr(0.25)
    optimizer.step()
    assert (slow.item(), fast.item()) == (0.625, 0.25)


def test_a_scheduler_gives_the_rate():
    param = parameter(np.ones(1, "float32"))
    scheduler = opt.lr.StepDecay(0.5, step_size=1, gamma=0.5)
    optimizer = opt.SGD(scheduler, [param])
    give([param], [np.ones(1, "float32")])
    optimizer.step()
    scheduler.step()
    optimizer.step()
    assert param.item() == 0.25 and optimizer.get_lr() == 0.25
    with pytest.raises(RuntimeError, match="set_lr: .* StepDecay is in use"):
        optimizer.set_lr(0.1)
    optimizer.set_lr_scheduler(opt.lr.LambdaDecay(2.0, lambda epoch: 1.0))
    assert optimizer.get_lr() == 2.0


# Groups.


def test_groups_have_options_of_their_own():
    a, b = parameter(np.ones(2, "float32")), parameter(np.ones(2, "float32"))
    optimizer = opt.SGD(
        0.1,
        [{"params": [a], "learning_rate": 0.5, "weight_decay": 0.5}, {"params": b, "grad_clip": nn.ClipGradByValue(0.5)}],
        weight_decay=0.25,
    )
    give([a, b], [np.ones(2, "float32")] * 2)
    optimizer.step()
    np.testing.assert_allclose(a.numpy(), 1 - 0.05 * (1 + 0.5), rtol=1e-6)
    np.testing.assert_allclose(b.numpy(), 1 - 0.1 * (0.5 + 0.25), rtol=1e-6)
    assert a.optimize_attr == {"learning_rate": 0.5}
    assert str(b.regularizer) == "L2Decay, coeff=0.250000"


def test_groups_of_adam_may_have_other_betas():
    a, b = parameter(np.ones(1, "float32")), parameter(np.ones(1, "float32"))
    optimizer = opt.Adam(0.1, parameters=[{"params": [a], "beta1": 0.5, "beta2": 0.25, "epsilon": 1.0}, {"params": [b]}])
    give([a, b], [np.ones(1, "float32")] * 2)
    optimizer.step()
    np.testing.assert_allclose(a.numpy(), 1 - 0.1 / 2, rtol=1e-6)
    state = {key: value.item() for key, value in optimizer.state_dict().items()}
    assert state[f"{a.name}_beta1_pow_acc_0"] == 0.25
    np.testing.assert_allclose(state[f"{b.name}_beta1_pow_acc_0"], 0.81, rtol=1e-6)


def test_groups_of_adamw_decay_each_by_its_own():
    a, b, c = (parameter(np.ones(1, "float32"), name=f"group_{n}") for n in "abc")
    optimizer = opt.AdamW(
        0.5, parameters=[{"params": [a, c], "weight_decay": 0.5}, {"params": [b]}], weight_decay=0.25,
        apply_decay_param_fun=lambda name: name != "group_c", lr_ratio=lambda p: 0.5 if p is b else 1.0,
    )
    give([a, b, c], [np.zeros(1, "float32")] * 3)
    optimizer.step()
    assert (a.item(), b.item(), c.item()) == (0.75, 1 - 0.5 * 0.5 * 0.25, 1.0)


def test_lamb_leaves_excluded_parameters_undecayed_and_unadapted():
    param = parameter(np.full(2, 3.0, "float32"))
    optimizer = opt.Lamb(0.1, parameters=[param], exclude_from_weight_decay_fn=lambda p: True)
    give([param], [np.ones(2, "float32")])
    optimizer.step()
    np.testing.assert_allclose(param.numpy(), 2.9, rtol=1e-5)
    always = opt.Lamb(0.1, parameters=[param], exclude_from_weight_decay_fn=lambda p: True, always_adapt=True)
    before = param.numpy()
    always.step()
    np.testing.assert_allclose(param.numpy(), before * 0.9, rtol=1e-5)


def test_momentum_rescales_gradients():
    param = parameter(np.ones(2, "float32"))
    optimizer = opt.Momentum(1.0, parameters=[param], rescale_grad=0.25, weight_decay=0.5)
    give([param], [np.full(2, 2.0, "float32")])
    optimizer.step()
    assert param.tolist() == [0.0, 0.0]


# Clipping.


@pytest.mark.parametrize(
    ("clip", "expected"),
    [
        (nn.ClipGradByValue(0.5), [[0.5, 0.0], [0.5]]),
        (nn.ClipGradByNorm(1.0), [[1.0, 0.0], [1.0]]),
        (nn.ClipGradByGlobalNorm(1.0), [[0.6, 0.0], [0.8]]),
    ],
)
def test_gradients_are_clipped_before_the_update_and_left_as_they_are(clip, expected):
    params = [parameter(np.zeros(2, "float32")), parameter(np.zeros(1, "float32"))]
    grads = [np.array([3.0, 0.0], "float32"), np.array([4.0], "float32")]
    give(params, grads)
    opt.SGD(1.0, params, grad_clip=clip).step()
    for param, grad, value in zip(params, grads, expected, strict=True):
        np.testing.assert_allclose(-param.numpy(), value, rtol=1e-6)
        assert param.grad.numpy().tolist() == grad.tolist()


# minimize and apply_gradients.


def test_minimize_uses_the_gradients_that_backward_left():
    a, b = parameter(np.ones(2, "float32")), parameter(np.ones(2, "float32"))
    optimizer = opt.SGD(0.5, [a, b])
    loss = (a * 2 + b).sum()
    loss.backward()
    nothing, pairs = optimizer.minimize(loss, no_grad_set=[b])
    assert nothing == [] and [p is a for p, _ in pairs] == [True]
    assert a.tolist() == [0.0, 0.0] and b.tolist() == [1.0, 1.0]
    with pytest.raises((TypeError, AssertionError), match="the loss should be a Tensor"):
        optimizer.minimize(3.0)


def test_apply_gradients_takes_any_gradients():
    a, b = parameter(np.ones(1, "float32")), parameter(np.ones(1, "float32"))
    optimizer = opt.SGD(0.5, [{"params": [a]}, {"params": [b], "learning_rate": 0.5}])
    assert optimizer.apply_gradients([(a, wt.ones([1])), (b, wt.ones([1])), (a, None)]) == []
    assert (a.item(), b.item()) == (0.5, 0.75)


def test_plain_tensors_can_be_trained():
    x = wt.to_tensor([1.0, 2.0], stop_gradient=False)
    optimizer = opt.Adam(0.5, parameters=[x])
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() == [0.5, 1.5]
    assert next(iter(optimizer.state_dict())) == f"{x.name}_moment1_0"


def test_many_parameters_of_several_dtypes():
    params = [parameter(np.full(3, i, "float32" if i % 2 else "float64")) for i in range(40)]
    give(params, [np.ones(3, p.dtype.name) for p in params])
    opt.SGD(0.5, params, grad_clip=nn.ClipGradByGlobalNorm(1e6)).step()
    assert [p.tolist() for p in params] == [[i - 0.5] * 3 for i in range(40)]


# 16 bits.


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamW", "Lamb"])
def test_master_weights_keep_steps_that_16_bits_would_lose(name, dtype):
    half = parameter(np.ones(2, "float32"))
    half._share_data_with(half.detach().astype(dtype))
    full = parameter(half.detach().astype("float32").numpy())
    kept = getattr(opt, name)(learning_rate=1e-5, parameters=[half], multi_precision=True)
    exact = getattr(opt, name)(learning_rate=1e-5, parameters=[full])
    for _ in range(5):
        half.grad, full.grad = wt.ones([2]).astype(dtype), wt.ones([2])
        kept.step()
        exact.step()
    assert half.dtype.name == dtype and half.tolist() == full.astype(dtype).tolist()
    masters = kept.state_dict()["master_weights"]
    assert list(masters) == [half.name] and masters[half.name].name == f"{half.name}_fp32_master_0"
    np.testing.assert_array_equal(masters[half.name].numpy(), full.numpy())
    others = [v for k, v in kept.state_dict().items() if k != "master_weights"]
    assert all(v.dtype is _core.float32 for v in others)


def test_16_bits_without_master_weights_warn():
    half = parameter(np.ones(2, "float32"))
    half._share_data_with(half.detach().astype("float16"))
    half.grad = wt.ones([2]).astype("float16")
    optimizer = opt.Adam(0.5, parameters=[half])
    with pytest.warns(UserWarning, match="Consider using multi_precision=True"):
        optimizer.step()
    assert half.tolist() == [0.5, 0.5]
    assert "master_weights" not in optimizer.state_dict()


# State.

NAMES = {
    "SGD": [],
    "Momentum": ["velocity"],
    "Adagrad": ["moment"],
    "Adadelta": ["_avg_squared_grad", "_avg_squared_update"],
    "Adam": ["moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"],
    "AdamW": ["moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"],
    "Adamax": ["moment", "inf_norm", "beta1_pow_acc"],
    "RMSProp": ["momentum", "mean_square", "mean_grad"],
    "Lamb": ["moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"],
}


@pytest.mark.parametrize("name", ALL)
def test_state_has_the_names_and_shapes_of_paddle(name):
    with unique_name.guard():
        params = [nn.create_parameter([2, 3], "float32", name="w"), nn.create_parameter([3], "float32", name="b")]
        optimizer = make(name, params)
        assert optimizer.state_dict() == {}
        give(params, gradients(params, 0))
        optimizer.step()
        state = optimizer.state_dict()
        assert list(state) == [f"{p}_{n}_0" for n in NAMES[name] for p in "wb"]
        assert optimizer.get_opti_var_name_list() == [f"{p}_{n}_0" for p in "wb" for n in NAMES[name]]
        for key, tensor in state.items():
            assert tensor.shape == ([1] if "_pow_acc" in key else [2, 3] if key[0] == "w" else [3])
    unique_name.switch()


@pytest.fixture(autouse=True)
def _names_are_free():
    before = unique_name.switch()
    yield
    unique_name.switch(*before)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("stepped", [False, True])
def test_a_resumed_optimizer_makes_the_same_steps(name, stepped):
    def run(optimizer, params, steps):
        for t in steps:
            give(params, gradients(params, t))
            optimizer.step()
            optimizer._learning_rate.step()

    params = pair(np.random.default_rng(0))
    whole = getattr(opt, name)(learning_rate=opt.lr.StepDecay(0.1, 2), parameters=params)
    run(whole, params, range(3))
    saved = {k: v.numpy() if isinstance(v, wt.Tensor) else v for k, v in whole.state_dict().items()}
    values = [p.numpy() for p in params]
    run(whole, params, range(3, 6))
    expected = [p.numpy() for p in params]

    for param, value in zip(params, values, strict=True):
        param.set_value(value)
    resumed = getattr(opt, name)(learning_rate=opt.lr.StepDecay(0.1, 2), parameters=params)
    if stepped:  # its accumulators exist already
        give(params, gradients(params, 9))
        resumed.step()
        for param, value in zip(params, values, strict=True):
            param.set_value(value)
    resumed.set_state_dict(saved)
    assert {k: np.asarray(v).tolist() for k, v in resumed.state_dict().items() if k != "LR_Scheduler"}.keys() >= (
        set() if stepped else saved.keys() - {"LR_Scheduler"}
    )
    run(resumed, params, range(3, 6))
    for param, value in zip(params, expected, strict=True):
        np.testing.assert_array_equal(param.numpy(), value)


def test_set_state_dict_refuses_what_does_not_fit_and_changes_nothing():
    param = parameter(np.ones(2, "float32"))
    optimizer = make("Momentum", [param])
    give([param], [np.ones(2, "float32")])
    optimizer.step()
    (key,) = optimizer.state_dict()
    for state, message in (
        ({}, "should be in the state dict"),
        ({key: np.zeros(3, "float32")}, r"shape .* \[3\], expected \[2\]"),
        ({key: np.zeros(2, "float64")}, "dtype .* float64, expected float32"),
    ):
        with pytest.raises(AssertionError, match=message):
            optimizer.set_state_dict(state)
        with pytest.raises(ValueError, match=message):
            optimizer.set_state_dict(state)
    assert optimizer.state_dict()[key].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="expected a dict"):
        optimizer.set_state_dict(3)
    with pytest.raises(KeyError, match="says nothing about the scheduler"):
        opt.SGD(opt.lr.StepDecay(0.1, 2), [param]).set_state_dict({})


def test_master_weights_are_saved_and_loaded():
    half = parameter(np.ones(2, "float32"))
    half._share_data_with(half.detach().astype("float16"))
    first = opt.SGD(1e-5, [half], multi_precision=True)
    half.grad = wt.ones([2]).astype("float16")
    first.step()
    second = opt.SGD(1e-5, [half], multi_precision=True)
    saved = first.state_dict()["master_weights"][half.name].numpy()
    second.set_state_dict({"master_weights": {half.name: saved}})
    assert second.state_dict()["master_weights"][half.name].tolist() == saved.tolist()
    first.step()
    second.step()
    a, b = (o.state_dict()["master_weights"][half.name].numpy() for o in (first, second))
    np.testing.assert_array_equal(a, b)


# Arguments.


@pytest.mark.parametrize(
    ("make_one", "error", "match"),
    [
        (lambda p: opt.SGD(0.1), AttributeError, "parameters argument given to the Optimizer should not be None"),
        (lambda p: opt.SGD(0.1, p), TypeError, "should be an iterable of tensors"),
        (lambda p: opt.SGD(0.1, {"params": [p]}), TypeError, "should not get dict type"),
        (lambda p: opt.SGD(0.1, [3]), TypeError, "Got 3 .int. among the parameters"),
        (lambda p: opt.SGD(0.1, [{"learning_rate": 0.1}]), AssertionError, "params should be set"),
        (lambda p: opt.SGD(0.1, [{"params": [p]}, p]), TypeError, "mixed"),
        (lambda p: opt.SGD(0.1, [{"params": [p]}, {"params": [p]}]), ValueError, "more than one parameter group"),
        (lambda p: opt.SGD(None, [p]), ValueError, "learning_rate is not set"),
        (lambda p: opt.SGD(1, [p]), TypeError, "learning rate should be float or LRScheduler"),
        (lambda p: opt.SGD("0.1", [p]), TypeError, "learning rate should be float or LRScheduler"),
        (lambda p: opt.SGD(0.1, [p], grad_clip=1.0), TypeError, "'grad_clip' should be an instance"),
        (lambda p: opt.SGD(0.1, [p], weight_decay="a"), TypeError, "weight_decay should be float or a regularizer"),
        (lambda p: opt.Adam(beta1=1.0, parameters=[p]), ValueError, r"beta1, expected a number in \[0, 1\)"),
        (lambda p: opt.Adam(beta2=None, parameters=[p]), ValueError, "beta2 is not set"),
        (lambda p: opt.Adam(epsilon=-1.0, parameters=[p]), ValueError, "epsilon, expected a number >= 0"),
        (lambda p: opt.AdamW(weight_decay=None, parameters=[p]), TypeError, "weight_decay should be float or Tensor"),
        (lambda p: opt.AdamW(apply_decay_param_fun=3, parameters=[p]), TypeError, "apply_decay_param_fun must be a function"),
        (lambda p: opt.Momentum(momentum=None, parameters=[p]), ValueError, "momentum is not set"),
        (lambda p: opt.RMSProp(0.1, momentum=-1.0, parameters=[p]), ValueError, "momentum, expected a number >= 0"),
        (lambda p: opt.Adagrad(0.1, epsilon=None, parameters=[p]), ValueError, "epsilon is not set"),
        (lambda p: opt.SGD(0.1, [p]).set_lr("a"), TypeError, "set_lr: the learning rate must be a number"),
        (lambda p: opt.SGD(0.1, [p]).set_lr_scheduler(0.1), TypeError, "this is not a scheduler"),
    ],
)
def test_wrong_arguments_say_what_was_expected(make_one, error, match):
    with pytest.raises(error, match=match):
        make_one(parameter(np.ones(2, "float32")))


def test_betas_may_be_tensors():
    param = parameter(np.ones(1, "float32"))
    optimizer = opt.Adam(0.1, beta1=wt.to_tensor(0.5), parameters=[param])
    give([param], [np.ones(1, "float32")])
    optimizer.step()
    assert optimizer.state_dict()[f"{param.name}_beta1_pow_acc_0"].item() == 0.25


def test_the_base_class_says_what_is_missing():
    param = parameter(np.ones(2, "float32"))
    give([param], [np.ones(2, "float32")])
    with pytest.raises(NotImplementedError, match="it does not define an update"):
        opt.Optimizer(0.1, [param]).step()


@pytest.mark.parametrize("clip", [nn.ClipGradByValue(0.5), nn.ClipGradByNorm(0.5), nn.ClipGradByGlobalNorm(0.5)])
def test_penalties_are_added_to_clipped_gradients(clip):
    params = [parameter(np.ones(1, "float32"), regularizer=r) for r in (L1Decay(2.0), L2Decay(2.0))]
    for param in params:
        give([param], [np.full(1, 8.0, "float32")])
        opt.SGD(1.0, [param], grad_clip=clip).step()
        np.testing.assert_allclose(param.numpy(), 1 - 0.5 - 2.0, rtol=1e-6)


def test_clipping_spares_parameters_that_need_none():
    clips, free = parameter(np.zeros(1, "float32")), parameter(np.zeros(1, "float32"), need_clip=False)
    give([clips, free], [np.full(1, 8.0, "float32")] * 2)
    opt.Momentum(1.0, parameters=[clips, free], grad_clip=nn.ClipGradByGlobalNorm(2.0), rescale_grad=0.5).step()
    np.testing.assert_allclose([clips.item(), free.item()], [-1.0, -4.0], rtol=1e-6)


def network_and(kind, **options):
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3), nn.LayerNorm(3))
    return net, kind(parameters=net.parameters(), **options)


@pytest.mark.parametrize("kind", [opt.Adam, opt.Momentum, opt.Adagrad])
def test_a_network_that_is_built_again_takes_the_state_of_the_first(kind):
    # As a cell of a notebook that runs again: the layers have the next numbers, and nothing else differs.
    def step(net, updater):
        net(wt.ones([4, 2])).square().sum().backward()
        updater.step()
        updater.clear_grad()

    first, before = network_and(kind, learning_rate=0.1)
    step(first, before)
    again, after = network_and(kind, learning_rate=0.1)
    again.set_state_dict(first.state_dict())
    state = dict(reversed(before.state_dict().items()))  # the order says nothing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after.set_state_dict({name: value.numpy() if hasattr(value, "numpy") else value for name, value in state.items()})
    step(first, before)
    step(again, after)
    for p, q in zip(first.parameters(), again.parameters()):
        np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_a_state_that_belongs_elsewhere_is_told():
    _, adam = network_and(opt.Adam)
    with pytest.warns(UserWarning, match="nothing in this state belongs to Adam. Got x, expected names such as linear_"):
        adam.set_state_dict({"x": 1})
    other = nn.Linear(5, 5)
    theirs = opt.Adam(parameters=other.parameters())
    other(wt.ones([1, 5])).sum().backward()
    theirs.step()
    with pytest.warns(UserWarning, match="this state is of other parameters. Got those of linear_"):
        adam.set_state_dict(theirs.state_dict())
