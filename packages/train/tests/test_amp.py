"""auto_cast, decorate, GradScaler: which dtype where, gradients, what is skipped, how the factor moves."""
import threading
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_nn import functional as F
from wherry_nn.functional.flash_attention import flash_attn_unpadded
from wherry_nn.functional.fused import fused_dropout_add
from wherry_tensor import _core, columns, ops
from wherry_train import amp, optimizer
from wherry_train.amp import casting, lists


@pytest.fixture
def x():
    return wt.to_tensor(np.random.default_rng(0).standard_normal((4, 4)).astype("float32"))


def dtypes(function, **options):
    with amp.auto_cast(**options):
        result = function()
    return result.dtype.name


# What runs in which dtype.

CASES = {
    # name: function, dtype in O1, in O2, in OD; "half" for that of the block
    "matmul": (lambda x: x @ x, "half", "half", "half"),
    "einsum": (lambda x: wt.einsum("ij,jk->ik", x, x), "half", "half", "half"),
    "conv2d": (lambda x: F.conv2d(x.reshape([1, 1, 4, 4]), wt.ones([1, 1, 2, 2])), "half", "half", "half"),
    "linear": (lambda x: F.linear(x, x), "half", "half", "half"),
    "linear with bias": (lambda x: F.linear(x, x, wt.ones([4])), "float32", "float32", "float32"),
    "add": (lambda x: x + x, "float32", "float32", "float32"),
    "add halves": (lambda x: x @ x + x @ x, "half", "half", "float32"),
    "add half and float32": (lambda x: x @ x + x, "float32", "float32", "float32"),
    "relu of half": (lambda x: F.relu(x @ x), "half", "half", "float32"),
    "exp of half": (lambda x: wt.exp(x @ x), "float32", "half", "float32"),
    "softmax of half": (lambda x: F.softmax(x @ x), "float32", "half", "float32"),
    "mean of half": (lambda x: (x @ x).mean(), "float32", "half", "float32"),
    "layer_norm of half": (lambda x: nn.LayerNorm(4)(x @ x), "float32", "half", "float32"),
    "batch_norm of half": (lambda x: nn.BatchNorm1D(4)(x @ x), "half", "half", "float32"),
    "cross_entropy of half": (
        lambda x: F.cross_entropy(x @ x, wt.to_tensor([0, 1, 2, 3])), "float32", "half", "float32",
    ),
    "attention of different lengths": (
        lambda x: flash_attn_unpadded(*[x.unsqueeze(1)] * 3, *[wt.to_tensor([0, 1, 4])] * 2, 3, 3, 1.0)[0], "half", "half", "float32",
    ),
    "half times a number": (lambda x: (x @ x) * 2.0, "half", "half", "float32"),
    "index of half": (lambda x: (x @ x)[0], "half", "half", "float32"),
    "float64": (lambda x: x.astype("float64") @ x.astype("float64"), "float64", "float64", "float64"),
    "integers": (lambda x: wt.arange(3) + 1, "int64", "int64", "int64"),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "OD"])
@pytest.mark.parametrize("name", CASES)
def test_dtypes_of_results(name, level, dtype, x):
    function, *expected = CASES[name]
    at = {"O1": 0, "O2": 1, "OD": 2}.get(level)
    wanted = function(x).dtype.name if at is None else expected[at].replace("half", dtype)
    assert dtypes(lambda: function(x), level=level, dtype=dtype) == wanted


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_dropout_with_a_residual_computes_in_the_dtype_of_the_block(level, dtype, x):
    def call():
        wt.seed(1)
        return fused_dropout_add(x @ x, x @ x, 0.5)

    def apart():
        wt.seed(1)
        return F.dropout(x @ x, 0.5) + x @ x

    assert dtypes(call, level=level, dtype=dtype) == dtype
    assert dtypes(call, level=level, dtype=dtype, custom_black_list=["fused_dropout_add"]) == "float32"
    with amp.auto_cast(level=level, dtype=dtype):
        assert call().tolist() == apart().tolist()


def test_custom_lists_move_ops(x):
    assert dtypes(lambda: x + x, dtype="bfloat16", custom_white_list={"elementwise_add"}) == "bfloat16"
    assert dtypes(lambda: x + x, dtype="bfloat16", custom_white_list=["add"]) == "bfloat16"
    assert dtypes(lambda: x @ x, dtype="bfloat16", custom_black_list=["matmul_v2"]) == "float32"
    assert dtypes(lambda: wt.exp(x @ x), dtype="bfloat16", custom_white_list=["exp"]) == "bfloat16"
    assert dtypes(lambda: F.relu(x @ x), level="O2", dtype="bfloat16", custom_black_list=["relu"]) == "float32"
    assert dtypes(lambda: x @ x, dtype="bfloat16", custom_white_list=["c_softmax"]) == "bfloat16"  # unknown: no effect
    # Only with a white add does a whole Linear run in 16 bits.
    linear = nn.Linear(4, 4)
    assert dtypes(lambda: linear(x), dtype="bfloat16", custom_white_list={"elementwise_add"}) == "bfloat16"
    assert dtypes(lambda: linear(x), dtype="bfloat16") == "float32"


def test_without_promotion_o2_runs_in_16_bits(x):
    assert dtypes(lambda: x + x, level="O2", dtype="bfloat16", use_promote=False) == "bfloat16"
    assert dtypes(lambda: x @ x + x, level="O2", dtype="bfloat16") == "float32"


def test_blocks_nest_and_end(x):
    with amp.auto_cast(dtype="bfloat16"):
        assert (x @ x).dtype.name == "bfloat16"
        with amp.auto_cast(enable=False):
            assert (x @ x).dtype.name == "float32"
            with amp.auto_cast(dtype="float16"):
                assert (x @ x).dtype.name == "float16"
            assert (x @ x).dtype.name == "float32"
        assert (x @ x).dtype.name == "bfloat16"
        with pytest.raises(RuntimeError, match="on purpose"), amp.auto_cast(level="O0"):
            raise RuntimeError("on purpose")
        assert (x @ x).dtype.name == "bfloat16"
    assert (x @ x).dtype.name == "float32"

    @amp.auto_cast(dtype="bfloat16")
    def product():
        return x @ x

    assert product().dtype.name == "bfloat16" and product().dtype.name == "bfloat16"


def test_a_layer_that_is_pushed_inside_a_block_may_outlive_it(x):
    class Counting:
        seen = 0

        def __call__(self, op, inputs, attrs):
            self.seen += 1
            return op.apply(inputs, attrs)

    counting = Counting()
    with amp.auto_cast(dtype="bfloat16"):
        _core.push_layer(counting, "outer")
    assert (x @ x).dtype.name == "float32" and counting.seen == 1
    _core.pop_layer(counting, "outer")
    assert dtypes(lambda: x @ x, dtype="bfloat16") == "bfloat16"
    assert (x @ x).dtype.name == "float32"


def test_a_block_belongs_to_its_thread(x):
    seen = []
    with amp.auto_cast(dtype="bfloat16"):
        other = threading.Thread(target=lambda: seen.append((x @ x).dtype.name))
        other.start()
        other.join()
    assert seen == ["float32"]


def test_calls_in_place_are_left_alone(x):
    y = x.clone()
    with amp.auto_cast(dtype="bfloat16"):
        y.add_(x)
    assert y.dtype.name == "float32"
    np.testing.assert_array_equal(y.numpy(), 2 * x.numpy())


@pytest.mark.parametrize("inside", [False, True])
def test_gradients_arrive_in_the_dtype_of_the_parameter(inside, x):
    layer = nn.Linear(4, 4)
    with amp.auto_cast(dtype="bfloat16"):
        loss = layer(x).sum()
        if inside:
            loss.backward()
    if not inside:
        loss.backward()
    assert layer.weight.grad.dtype.name == "float32" and layer.bias.grad.dtype.name == "float32"
    np.testing.assert_allclose(layer.weight.grad.numpy(), np.tile(x.numpy().sum(0)[:, None], 4), rtol=2e-2, atol=2e-2)


def test_rules_of_backward_are_not_cast(x):
    """Backward inside the block gives the bits of backward outside: its products run as the forward pass chose."""
    def gradient(inside):
        w = wt.to_tensor(np.random.default_rng(1).standard_normal((4, 4)).astype("float32"), stop_gradient=False)
        with amp.auto_cast(dtype="bfloat16", custom_black_list=["matmul"]):
            loss = wt.exp(w @ x).sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        return w.grad.numpy()

    np.testing.assert_array_equal(gradient(True), gradient(False))

    def after_the_block():
        with amp.auto_cast(dtype="bfloat16"):
            w = wt.ones([4, 4])
            w.stop_gradient = False
            (w * 2).sum().backward()
            return (x @ x).dtype.name  # the layer is back in its place

    assert after_the_block() == "bfloat16"


def test_hooks_and_layers_inside_backward_do_not_disturb_the_block(x):
    w = wt.ones([4, 4])
    w.stop_gradient = False
    seen = []

    def hook(grad):
        seen.append((x @ x).dtype.name)
        with amp.auto_cast(dtype="float16"):
            seen.append((x @ x).dtype.name)

    w.register_hook(hook)
    with amp.auto_cast(dtype="bfloat16"):
        (w @ x).sum().backward()
        assert (x @ x).dtype.name == "bfloat16"
    assert (x @ x).dtype.name == "float32"
    assert seen == ["float32", "float16"]


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"level": "O3"}, ValueError, "level should be O0, OD, O1 or O2. Got 'O3'"),
        ({"dtype": "float32"}, ValueError, "dtype should be 'float16' or 'bfloat16'"),
        ({"custom_white_list": ["relu"], "custom_black_list": ["relu"]}, ValueError, "white list overlap custom black list"),
        ({"custom_white_list": "relu"}, TypeError, "custom_white_list must be a collection of names"),
    ],
)
def test_wrong_arguments_of_auto_cast(options, error, match):
    with pytest.raises(error, match=match), amp.auto_cast(**options):
        pass


def test_the_column_knows_every_op_that_it_names():
    assert {"matmul", "conv2d"} <= lists.white_list()
    assert {"softmax", "cross_entropy", "exp", "reduce_mean", "scatter"} <= lists.black_list()
    assert not lists.white_list() & lists.black_list()
    assert lists.named("matmul_v2") == (ops.matmul, ops.linear) and lists.named("relu") == (ops.relu,)
    assert lists.named("infer_meta") == lists.named("no_such_op") == ()
    assert amp.is_float16_supported() and amp.is_bfloat16_supported()


# decorate.


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1D(8)
        self.last = nn.Linear(8, 2)
        self.register_buffer("count", wt.zeros([1], "int64"))

    def forward(self, x):
        return self.last(F.relu(self.norm(self.first(x))))


def of(model):
    return {name: p.dtype.name for name, p in model.named_parameters()}


def test_decorate_casts_all_but_normalizations():
    model = Model()
    assert amp.decorate(model, level="O1") is model
    assert set(of(model).values()) == {"float32"}
    weight = model.first.weight
    assert amp.decorate(model, level="O2", dtype="bfloat16") is model
    assert model.first.weight is weight  # optimizers hold it
    statistics = {"norm._mean", "norm._variance"}
    assert {name: dtype for name, dtype in of(model).items() if name not in statistics} == {
        "first.weight": "bfloat16", "first.bias": "bfloat16", "norm.weight": "float32", "norm.bias": "float32",
        "last.weight": "bfloat16", "last.bias": "bfloat16",
    }
    assert {model.norm._mean.dtype.name, model.norm._variance.dtype.name} == {"float32"}
    assert model.count.dtype.name == "int64"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.SimpleRNN])
def test_recurrent_layers_run_as_their_weights_are(kind, dtype, x):
    """Paddle's lists name them neither white nor black: float32 in O1, 16 bits once `decorate` has cast them."""
    linear, layer = nn.Linear(4, 4), kind(4, 3)
    for level, wanted in ("O1", "float32"), ("O2", dtype):
        models = [linear, layer]
        if level == "O2":
            models = amp.decorate(models, level=level, dtype=dtype)
        with amp.auto_cast(level=level, dtype=dtype):
            out = models[1](models[0](x).unsqueeze(0))[0]
        assert out.dtype.name == wanted
        out.astype("float32").sum().backward()
        assert {p.grad.dtype.name for p in models[1].parameters()} == {wanted}
        layer.clear_gradients()


def test_decorate_leaves_excluded_layers():
    model = Model()
    amp.decorate(model, level="O2", excluded_layers=[model.last])
    assert of(model)["first.weight"] == "float16" and of(model)["last.weight"] == "float32"
    model = Model()
    amp.decorate(model, level="O2", excluded_layers=nn.Linear)
    assert set(of(model).values()) == {"float32"}


@pytest.mark.parametrize("master_weight", [None, True, False])
def test_decorate_lets_optimizers_keep_master_weights(master_weight):
    model = nn.Linear(2, 2)
    made = optimizer.Adam(parameters=model.parameters())
    models, optimizers = amp.decorate([model], [made], level="O2", dtype="bfloat16", master_weight=master_weight)
    assert models == [model] and optimizers == [made]
    assert made._multi_precision is (master_weight is not False)


def test_state_is_saved_in_save_dtype():
    model = amp.decorate(Model(), level="O2", dtype="bfloat16", save_dtype="float32")
    state = model.state_dict()
    assert {v.dtype.name for v in state.values()} == {"float32", "int64"}
    assert state["first.weight"].name == model.first.weight.name
    assert model.first.weight.dtype.name == "bfloat16"
    assert model.set_state_dict({k: v.astype(model.state_dict(use_hook=False)[k].dtype) for k, v in state.items()}) == ([], [])


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"level": "O3"}, ValueError, "level should be O1 or O2"),
        ({"dtype": "float32"}, ValueError, "dtype only support float16 or bfloat16"),
        ({"save_dtype": "int8"}, ValueError, "save_dtype can only be"),
        ({"models": 3}, TypeError, "models must be one layer"),
        ({"optimizers": 3}, TypeError, "optimizers must be one optimizer"),
        ({"level": "O2", "excluded_layers": 3}, TypeError, "excluded_layers must be layers"),
    ],
)
def test_wrong_arguments_of_decorate(options, error, match):
    with pytest.raises(error, match=match):
        amp.decorate(**{"models": nn.Linear(2, 2), **options})


# GradScaler.


def scaler_and_parameter(**options):
    param = nn.create_parameter([2], "float32")
    return amp.GradScaler(**{"init_loss_scaling": 8.0, **options}), param, optimizer.SGD(1.0, [param])


def one_step(scaler, param, sgd, bad=False):
    before = param.numpy()
    param.grad = wt.to_tensor([np.inf if bad else 8.0, 16.0])
    scaler.step(sgd)
    scaler.update()
    return (before - param.numpy()).tolist()


def test_a_scaled_loss_gives_the_gradient_of_the_loss():
    scaler, param, sgd = scaler_and_parameter()
    before = param.numpy()
    scaled = scaler.scale((param * wt.to_tensor([1.0, 2.0])).sum())
    scaled.backward()
    assert param.grad.tolist() == [8.0, 16.0]
    scaler.step(sgd)
    assert param.grad.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(before - param.numpy(), [1.0, 2.0], rtol=1e-6)


def test_a_loss_of_16_bits_is_scaled_in_float32():
    loss = wt.to_tensor(2.0).astype("float16")
    scaled = amp.GradScaler().scale(loss)
    assert scaled.dtype.name == "float32" and scaled.item() == 2.0 * 65536
    with pytest.raises(TypeError, match="the loss must be a Tensor"):
        amp.GradScaler().scale(3.0)


def test_the_factor_follows_the_steps(capsys):
    scaler, param, sgd = scaler_and_parameter(incr_every_n_steps=2, decr_every_n_nan_or_inf=2)
    seen = []
    for letter in "ggbggbbgbg":
        moved = one_step(scaler, param, sgd, letter == "b")
        assert (moved == [0.0, 0.0]) == (letter == "b")  # a bad step is skipped
        state = scaler.state_dict()
        seen.append((state["scale"].item(), state["incr_count"], state["decr_count"]))
    assert seen == [
        (8, 1, 0), (16, 0, 0), (16, 0, 1), (16, 1, 0), (32, 0, 0), (32, 0, 1), (16, 0, 0), (16, 1, 0), (16, 0, 1), (16, 1, 0),
    ]
    assert capsys.readouterr().out == "Found inf or nan, current scale is: 32.0, decrease to: 32.0*0.5\n"


def test_a_fixed_factor_stays():
    scaler, param, sgd = scaler_and_parameter(use_dynamic_loss_scaling=False, decr_every_n_nan_or_inf=1)
    one_step(scaler, param, sgd, bad=True)
    assert not scaler.is_use_dynamic_loss_scaling()
    assert scaler.state_dict()["scale"].tolist() == [8.0]
    scaler.step(sgd)
    scaler.step(sgd)  # no update() is needed


def test_unscale_once_then_step():
    scaler, param, sgd = scaler_and_parameter()
    param.grad = wt.to_tensor([8.0, 16.0])
    scaler.unscale_(sgd)
    assert param.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(sgd)
    scaler.step(sgd)
    assert param.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step"):
        scaler.unscale_(sgd)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(sgd)
    scaler.update()
    scaler.step(sgd)


def test_minimize_steps_and_updates():
    scaler, param, sgd = scaler_and_parameter(incr_every_n_steps=1, decr_every_n_nan_or_inf=1)
    before = param.numpy()
    loss = scaler.scale(param.sum())
    loss.backward()
    _, pairs = scaler.minimize(sgd, loss)
    np.testing.assert_allclose(before - param.numpy(), 1.0, rtol=1e-6)
    assert pairs[0][0] is param and scaler.state_dict()["scale"].item() == 16.0
    param.grad = wt.to_tensor([np.nan, 0.0])
    assert scaler.minimize(sgd, loss) == (None, None)
    assert scaler.state_dict()["scale"].item() == 8.0


def test_gradients_of_several_dtypes_and_none_at_all():
    params = [nn.create_parameter([2], d) for d in ("float32", "float64")] + [nn.create_parameter([2], "float32")]
    half = nn.create_parameter([2], "float32")
    half._share_data_with(half.detach().astype("float16"))
    sgd = optimizer.SGD(1.0, [*params, half], multi_precision=True)
    scaler = amp.GradScaler(init_loss_scaling=8.0)
    for param in (*params[:2], half):
        param.grad = wt.to_tensor([8.0, 16.0]).astype(param.dtype)
    scaler.unscale_(sgd)
    for param in (*params[:2], half):
        assert param.grad.tolist() == [1.0, 2.0] and param.grad.dtype is param.dtype
    scaler.step(sgd)
    scaler.update()
    sgd.clear_grad(set_to_zero=False)
    scaler.step(sgd)


def test_master_grad_keeps_what_float16_would_lose():
    layer = nn.Linear(1, 1, bias_attr=False)
    sgd = optimizer.SGD(1.0, layer.parameters())
    amp.decorate(layer, sgd, level="O2", master_grad=True)
    layer.weight.set_value(wt.zeros([1, 1]).astype("float16"))
    layer.weight.grad = wt.to_tensor([[2.0**-10]]).astype("float16")
    amp.GradScaler(init_loss_scaling=2.0**16).step(sgd)
    assert sgd.state_dict()["master_weights"][layer.weight.name].item() == -(2.0**-26)  # float16 ends at 2^-24


def test_a_disabled_scaler_does_nothing():
    scaler, param, sgd = scaler_and_parameter(enable=False)
    loss = param.sum()
    assert scaler.scale(loss) is loss and not scaler.is_enable() and scaler.state_dict() == {}
    before = param.numpy()
    param.grad = wt.ones([2])
    scaler.unscale_(sgd)
    scaler.step(sgd)
    scaler.update()
    scaler.minimize(sgd, loss)
    scaler.load_state_dict({})
    np.testing.assert_allclose(before - param.numpy(), 2.0, rtol=1e-6)


def test_settings_and_state_of_a_scaler():
    scaler = amp.GradScaler()
    assert (
        scaler.get_init_loss_scaling(), scaler.get_incr_ratio(), scaler.get_decr_ratio(), scaler.get_incr_every_n_steps(),
        scaler.get_decr_every_n_nan_or_inf(),
    ) == (65536.0, 2.0, 0.5, 2000, 1)
    scaler.set_init_loss_scaling(4)
    scaler.set_incr_ratio(3.0)
    scaler.set_decr_ratio(0.25)
    scaler.set_incr_every_n_steps(5)
    scaler.set_decr_every_n_nan_or_inf(6)
    state = scaler.state_dict()
    assert state == {
        "scale": np.array([4.0], "float32"), "incr_ratio": 3.0, "decr_ratio": 0.25, "incr_every_n_steps": 5,
        "decr_every_n_nan_or_inf": 6, "incr_count": 0, "decr_count": 0, "use_dynamic_loss_scaling": True,
    }
    other = amp.GradScaler(use_dynamic_loss_scaling=False)
    other.load_state_dict({**state, "incr_count": 4})
    assert other.state_dict() == {**state, "incr_count": 4} and other.is_use_dynamic_loss_scaling()
    with pytest.raises(RuntimeError, match="The input state dict is empty"):
        other.load_state_dict({})
    with pytest.raises(KeyError, match="scale"):
        other.load_state_dict({"incr_ratio": 2.0})
    for change, match in (scaler.set_incr_ratio, "must be > 1.0"), (scaler.set_decr_ratio, "must be < 1.0"):
        with pytest.raises(AssertionError, match=match):
            change(1.0)


# All together.


@pytest.mark.parametrize(
    ("level", "dtype", "scaling"),
    [("O1", "float16", True), ("O1", "bfloat16", False), ("O2", "float16", True), ("O2", "bfloat16", False)],
)
def test_a_model_trains_about_as_in_float32(level, dtype, scaling):
    rng = np.random.default_rng(0)
    inputs, labels = wt.to_tensor(rng.standard_normal((32, 4)).astype("float32")), wt.to_tensor(rng.integers(0, 2, 32))

    def train(level, scaling):
        wt.seed(0)
        model = Model()
        adam = optimizer.Adam(1e-2, parameters=model.parameters())
        if level == "O2":
            amp.decorate(model, adam, level="O2", dtype=dtype)
        scaler = amp.GradScaler(enable=scaling, init_loss_scaling=1024.0)
        losses = []
        for _ in range(15):
            with amp.auto_cast(level=level, dtype=dtype):
                loss = F.cross_entropy(model(inputs), labels)
            scaler.scale(loss).backward()
            scaler.step(adam)
            scaler.update()
            adam.clear_grad()
            losses.append(float(loss))
        assert model.first.weight.dtype is (_core.float32 if level != "O2" else getattr(_core, dtype))
        return losses

    exact, mixed = train("O0", False), train(level, scaling)
    assert mixed[-1] < 0.9 * mixed[0]
    np.testing.assert_allclose(mixed, exact, rtol=0.05)


def test_a_step_after_an_interrupted_unscaling_is_skipped(monkeypatch):
    scaler, param, optimizer = scaler_and_parameter()
    scaler.scale((param * 3).sum()).backward()

    def interrupt(optimizer):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scaler, "_divide", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scaler.step(optimizer)
    before = param.tolist()
    scaler.step(optimizer)
    scaler.update()
    assert param.tolist() == before  # nobody knows which of its gradients were divided
    optimizer.clear_grad()
    scaler.scale((param * 3).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    np.testing.assert_array_equal(param.numpy(), np.array(before, "float32") - 3)


# Casts that are kept, and what is said where 16 bits gain nothing.

@pytest.fixture
def counted():
    names = []

    def layer(op, inputs, attrs):
        names.append(op.name)
        return op.apply(inputs, attrs)

    _core.push_layer(layer, "outer")
    yield names
    _core.pop_layer(layer, "outer")


def test_casts_of_parameters_are_kept_in_a_block_that_records_nothing(x, counted):
    model = nn.Linear(4, 4)
    x = x.astype("bfloat16")
    with no_grad(), amp.auto_cast(dtype="bfloat16"):
        expected = F.linear(x, model.weight)
        calls = len(counted)
        again = F.linear(x, model.weight)
        assert len(counted) == calls + 1  # the product alone
        assert np.array_equal(again.astype("float32").numpy(), expected.astype("float32").numpy())
        model.weight.set_value(np.zeros((4, 4), "float32"))
        assert not F.linear(x, model.weight).astype("float32").numpy().any()
        with amp.auto_cast(False):
            assert F.linear(x.astype("float32"), model.weight).dtype is _core.float32


def test_casts_that_are_recorded_are_made_again(x):
    model = nn.Linear(4, 4)
    with amp.auto_cast(dtype="bfloat16"):
        for _ in range(2):  # the first backward uses up the graph of its cast
            F.linear(x, model.weight).sum().backward()
        twice = model.weight.grad.numpy()
        model.clear_gradients()
        with no_grad():
            F.linear(x, model.weight)
        F.linear(x, model.weight).sum().backward()  # not with the cast that has no history
    assert np.allclose(twice, 2 * model.weight.grad.numpy())
    model.weight.stop_gradient = True
    with amp.auto_cast(dtype="bfloat16"):
        assert F.linear(x, model.weight) is not None and F.linear(x, model.weight).stop_gradient


def test_a_block_says_once_that_16_bits_gain_no_time(monkeypatch):
    here = wt.get_device().partition(":")[0], "bfloat16"
    monkeypatch.setattr(casting, "_told", set())
    monkeypatch.setitem(columns.no_faster, here, "the reason")
    with pytest.warns(UserWarning, match="training in bfloat16 takes no less time than in float32 here: the reason") as told:
        for _ in range(2):
            with amp.auto_cast(dtype="bfloat16"):
                pass
    assert len(told) == 1 and told[0].filename == __file__
    monkeypatch.delitem(columns.no_faster, here)
    monkeypatch.setattr(casting, "_told", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with amp.auto_cast(dtype="bfloat16"):
            pass
