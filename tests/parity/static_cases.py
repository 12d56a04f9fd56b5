"""Static mode as other people write it, in one framework: each case's fetches, or the error, are pickled. `test_static_cases.py` compares.

    static_cases.py wherry|paddle RESULT FOLDER
"""
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np

framework, result, folder = sys.argv[1:4]
if framework == "wherry":
    import wherry

    wherry.alias_paddle()
warnings.simplefilter("ignore")
import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402

FILLED = nn.initializer.Constant(0.5)
rng = np.random.default_rng(1)
FEEDS = {
    "x": rng.standard_normal((2, 4)).astype("float32"),
    "steps": rng.standard_normal((2, 4, 8)).astype("float32"),
    "image": rng.standard_normal((2, 4, 8, 8)).astype("float32"),
    "theta": rng.standard_normal((2, 2, 3)).astype("float32"),
    "times": np.array([2, 3], "int32"),
    "sizes": np.array([2, 4, 8, 8], "int32"),
}
CASES = {}


def case(*feeds):
    """Registers a function of variables that are fed, the first size open, which returns what is fetched."""

    def register(function):
        CASES[function.__name__] = function, feeds
        return function

    return register


def run(function, feeds):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = [
            paddle.static.data(name, list(FEEDS[name].shape) if FEEDS[name].ndim == 1 else [-1, *FEEDS[name].shape[1:]], str(FEEDS[name].dtype))
            for name in feeds
        ]
        exe = paddle.static.Executor(paddle.CPUPlace())
        given = function(*x, exe, startup) if "exe" in function.__code__.co_varnames[: function.__code__.co_argcount] else function(*x)
        if given and isinstance(given[0], np.ndarray):
            return list(given)
        exe.run(startup)
        return exe.run(main, feed={name: FEEDS[name] for name in feeds}, fetch_list=list(given))


# Forms with an underscore.


def add_in_place(name, form):
    def function(x):
        return form(x), x, x + 1

    CASES[name] = function, ("x",)


for name, form in {
    "reshape_": lambda x: paddle.reshape_(x, [-1, 2]), "unsqueeze_": lambda x: x.unsqueeze_([0, 2]), "tanh_": paddle.tanh_,
    "squeeze_": lambda x: paddle.squeeze_(x.unsqueeze(0), 0), "add_": lambda x: x.add_(x), "clip_": lambda x: x.clip_(0, 1), "relu_": F.relu_,
    "softmax_": F.softmax_, "scale_": lambda x: x.scale_(2.0), "cast_": lambda x: x.cast_("float64"), "exp_": lambda x: x.exp_(),
    "setitem": lambda x: paddle.static.setitem(x, 0, 1.0),
    "scatter_": lambda x: paddle.scatter_(x, paddle.to_tensor([1]), paddle.ones([1, 4])),
}.items():  # fmt: skip
    add_in_place(name, form)


# Initializers, weights.


@case("x")
def linear(x):
    return [nn.Linear(4, 3, weight_attr=FILLED, bias_attr=paddle.ParamAttr(initializer=FILLED))(x)]


@case("x")
def cells(x):
    given = dict.fromkeys(("weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr"), FILLED)
    return [nn.LSTMCell(4, 3, **given)(x)[0], nn.GRUCell(4, 3, **given)(x)[0], nn.SimpleRNNCell(4, 3, **given)(x)[0]]


@case("steps")
def convolution_1d(x):
    return [layer(4, 3, 3, weight_attr=FILLED, bias_attr=FILLED)(x) for layer in (nn.Conv1D, nn.Conv1DTranspose)]


@case("image")
def convolution_2d(x):
    return [layer(4, 3, 3, weight_attr=FILLED, bias_attr=FILLED)(x) for layer in (nn.Conv2D, nn.Conv2DTranspose)]


@case("image")
def normalizations(x):
    given = {"weight_attr": FILLED, "bias_attr": FILLED}
    return [layer(x) for layer in (nn.LayerNorm(8, **given), nn.GroupNorm(2, 4, **given), nn.InstanceNorm2D(4, **given), nn.BatchNorm2D(4, **given))]


@case("steps")
def attention(x):
    return [nn.MultiHeadAttention(8, 2, weight_attr=FILLED, bias_attr=FILLED)(x)]


@case("x")
def weight_norm(x):
    layer = nn.utils.weight_norm(nn.Linear(4, 3, weight_attr=nn.initializer.Assign(FEEDS["steps"][0, :, :3])))
    return [layer(x), nn.utils.weight_norm(nn.Linear(4, 3, weight_attr=FILLED), dim=None)(x), layer.weight_g, layer.weight_v]


@case("x")
def shared_by_name(x):
    shared = paddle.ParamAttr(name="shared", initializer=FILLED)
    y = nn.Linear(4, 4, weight_attr=shared, bias_attr=False)(paddle.static.nn.fc(x, 4, weight_attr=shared, bias_attr=False))
    loss = y.mean()
    paddle.optimizer.SGD(0.1).minimize(loss)
    return [y, loss, "shared@GRAD"]


# Gradients by name.


@case("x")
def gradients_by_name(x):
    x.stop_gradient = False
    h = nn.Linear(4, 3, weight_attr=paddle.ParamAttr(name="w", initializer=FILLED))(x)
    loss = (h * h).mean()
    paddle.static.append_backward(loss)
    block = paddle.static.default_main_program().global_block()
    assert block.var("w@GRAD").name == "w@GRAD"
    assert block.has_var("x@GRAD")
    assert not block.has_var("y@GRAD")
    return ["w@GRAD", "x@GRAD", block.var("x@GRAD"), f"{h.name}@GRAD", f"{loss.name}@GRAD"]


@case("x")
def gradients_of_optimizers(x):
    y = paddle.static.nn.fc(x, 3, weight_attr=paddle.ParamAttr(name="w", initializer=FILLED))
    paddle.optimizer.Adam(0.1).minimize(y.mean())
    return ["w@GRAD", f"{y.name}@GRAD"]


@case("x")
def computing_with_a_gradient(x):
    x.stop_gradient = False
    paddle.static.append_backward((x**3).sum())
    g = paddle.static.default_main_program().global_block().var("x@GRAD")
    return [(g * g).sum(), g]


@case("x")
def gradients_of_static(x):
    x.stop_gradient = False
    y = x * x
    paddle.static.gradients([(y * 3).sum()], [x])
    return ["x@GRAD", f"{y.name}@GRAD"]


# Sizes that are open.


@case("theta", "image", "sizes")
def affine_grids(theta, x, sizes):
    grid = F.affine_grid(theta, paddle.shape(x))
    return [grid, F.affine_grid(theta, sizes), F.affine_grid(theta, [2, 4, 8, 8], align_corners=False), F.grid_sample(x, grid)]


@case("x", "times")
def tiles(x, times):
    return [paddle.tile(x, times), paddle.tile(x, [times[0], 2]), paddle.tile(x, [1, 2, 1]), paddle.expand(x, [3, -1, 4])]


@case("x")
def extremes(x):
    return [paddle.argmax(x, -1), paddle.argmax(x, axis=0), paddle.argmax(x), paddle.argmin(x, 0, keepdim=True)]


@case("x")
def arrays(x):
    array = paddle.tensor.create_array("float32")
    i = paddle.zeros([1], "int64")
    array = paddle.tensor.array_write(x, i, array)
    array = paddle.tensor.array_write(x * 2, i + 1, array)
    return [paddle.tensor.array_read(array, i + 1), paddle.tensor.array_length(array)]


# Files.


@case("x")
def saved_inside(x, exe, startup):
    net = nn.Linear(4, 3, weight_attr=paddle.ParamAttr(name="w", initializer=FILLED), bias_attr=False)
    y = net(x)
    exe.run(startup)
    main = paddle.static.default_main_program()
    path = f"{folder}/{framework}.pdparams"
    paddle.save(main.state_dict(), path)
    state = paddle.load(path)
    main.set_state_dict(state)
    value = main.global_block().var("w").get_value()
    paddle.save(value, path)
    paddle.save(main, f"{folder}/{framework}.pdmodel")
    other = paddle.load(f"{folder}/{framework}.pdmodel")
    return [np.array(state["w"]), np.array(paddle.load(path)), *exe.run(other, feed={"x": FEEDS["x"]}, fetch_list=[y.name])]


found = {}
for name, (function, feeds) in CASES.items():
    try:
        found[name] = run(function, feeds)
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
    finally:
        paddle.disable_static()
Path(result).write_bytes(pickle.dumps(found))
