"""Static programs in one framework, the same code for both.

    python static_worker.py wherry|paddle train MODEL RESULT.npz
    python static_worker.py wherry|paddle layers RESULT.npz
    python static_worker.py wherry|paddle save FOLDER RESULT.npz
    python static_worker.py wherry|paddle load FOLDER RESULT.npz

`train` gives losses, trained parameters and predictions of the program cloned for test; `layers` the values and gradients of the functions of
`static.nn`; `save` and `load` exchange files. First values are set by name, so the names must be the same. `test_static.py` compares.
"""
from __future__ import annotations

import importlib
import os
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np

warnings.simplefilter("ignore")


def values(shape, seed, low=-0.5, high=0.5):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def perceptron(paddle):
    x, y = paddle.static.data("x", [None, 6]), paddle.static.data("y", [None, 1])
    hidden = paddle.static.nn.fc(x, 8, activation="tanh", weight_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.01)))
    hidden = paddle.static.nn.batch_norm(hidden, momentum=0.8)
    out = paddle.static.nn.fc(hidden, 1)
    loss = paddle.nn.functional.square_error_cost(out, y).mean()
    schedule = paddle.optimizer.lr.StepDecay(0.02, step_size=3, gamma=0.5)
    optimizer = paddle.optimizer.Adam(schedule, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))
    return {"x": values((16, 6), 1), "y": values((16, 1), 2)}, out, loss, optimizer, schedule


def convolutions(paddle):
    nn = paddle.static.nn
    x, label = paddle.static.data("x", [None, 3, 8, 8]), paddle.static.data("label", [None, 1], "int64")
    y = nn.conv2d(x, 4, 3, padding=1, act="relu")
    y = nn.batch_norm(y, act="relu")
    y = paddle.nn.functional.max_pool2d(y, 2, 2)
    y = nn.conv2d(y, 4, 3, groups=2, bias_attr=False)
    out = nn.fc(y, 5, activation="softmax")
    loss = paddle.nn.functional.cross_entropy(out, label, use_softmax=False)
    optimizer = paddle.optimizer.Momentum(0.1, 0.9, weight_decay=1e-3)
    return {"x": values((8, 3, 8, 8), 1), "label": np.arange(8).reshape(8, 1) % 5}, out, loss, optimizer, None


def layers_of_nn(paddle):
    x, y = paddle.static.data("x", [None, 5, 6]), paddle.static.data("y", [None, 1])
    net = paddle.nn.Sequential(
        paddle.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), paddle.nn.LayerNorm(6), paddle.nn.Flatten(), paddle.nn.Linear(30, 1),
    )
    out = net(x)
    loss = paddle.nn.functional.mse_loss(out, y)
    return {"x": values((4, 5, 6), 1), "y": values((4, 1), 2)}, out, loss, paddle.optimizer.Momentum(0.05, use_nesterov=True), None


def control_flow(paddle):
    nn = paddle.static.nn
    ids, n = paddle.static.data("ids", [None, 4], "int64"), paddle.static.data("n", [1], "int64")
    x = nn.embedding(ids, [10, 6]).sum(axis=1)
    w = paddle.static.create_parameter([6, 6], "float32", name="w")
    i = paddle.full([1], 0, "int64")
    _, x = nn.while_loop(lambda i, x: i < n, lambda i, x: [i + 1, paddle.tanh(paddle.matmul(x, w))], [i, x])
    out = nn.cond(x.sum() > 0, lambda: x * 2.0, lambda: x - 1.0)
    return {"ids": np.arange(12).reshape(3, 4) % 10, "n": np.array([3])}, out, (out**2).mean(), paddle.optimizer.SGD(0.2), None


MODELS = {"perceptron": perceptron, "convolutions": convolutions, "layers_of_nn": layers_of_nn, "control_flow": control_flow}


def started(paddle, startup, program):
    """An executor, with first values that both frameworks have."""
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup)
    for k, p in enumerate(program.all_parameters()):
        if not p.stop_gradient:
            paddle.static.global_scope().find_var(p.name).get_tensor().set(values(p.shape, k + 10), paddle.CPUPlace())
    return exe


def train(paddle, model):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        feed, out, loss, optimizer, schedule = MODELS[model](paddle)
        test = main.clone(for_test=True)
        optimizer.minimize(loss)
    exe = started(paddle, startup, main)
    losses = []
    for _ in range(8):
        losses.append(exe.run(main, feed=feed, fetch_list=[loss])[0])
        if schedule is not None:
            schedule.step()
    found = {"losses": np.array(losses), "evaluated": exe.run(test, feed=feed, fetch_list=[out.name])[0]}
    for p in main.all_parameters():
        found[f"parameter {p.name}"] = np.array(paddle.static.global_scope().find_var(p.name).get_tensor())
    return found


def layer_outputs(paddle):
    nn, one = paddle.static.nn, paddle.nn.initializer.Constant(0.7)
    image, volume = paddle.static.data("image", [None, 4, 6, 6]), paddle.static.data("volume", [None, 2, 4, 4, 4])
    rows, other = paddle.static.data("rows", [None, 4]), paddle.static.data("other", [None, 3])
    steps = paddle.static.data("steps", [2, 5, 4])
    for x in (image, volume, rows, other, steps):
        x.stop_gradient = False
    outs = {
        "conv2d_transpose": nn.conv2d_transpose(image, 3, filter_size=3, stride=2),
        "conv2d_transpose by size": nn.conv2d_transpose(image, 3, output_size=[13, 13], stride=2),
        "conv3d": nn.conv3d(volume, 3, 3, padding=1, act="tanh"),
        "conv3d_transpose": nn.conv3d_transpose(volume, 2, filter_size=2, stride=2),
        "layer_norm": nn.layer_norm(image, begin_norm_axis=2),
        "group_norm": nn.group_norm(image, 2, param_attr=one, bias_attr=one),
        "instance_norm": nn.instance_norm(image, param_attr=one, bias_attr=one),
        "prelu all": nn.prelu(image, "all"),
        "prelu channel": nn.prelu(image, "channel"),
        "prelu element": nn.prelu(image, "element"),
        "data_norm": nn.data_norm(rows),
        "bilinear": nn.bilinear_tensor_product(rows, other, 5, act="sigmoid"),
        "row_conv": nn.row_conv(steps, 2),
        "fc of rows": nn.fc(steps, 3, num_flatten_dims=2, activation="relu"),
        "fc of two": nn.fc([rows, other], 3),
        "switch_case": nn.switch_case(paddle.full([1], 2, "int32"), {1: lambda: rows * 1.0, 2: lambda: rows * 2.0}),
        "case": nn.case([(rows.sum() > 1e6, lambda: rows + 1.0), (rows.sum() < 1e6, lambda: rows + 2.0)]),
    }
    total = sum(out.mean() for out in outs.values())
    grads = paddle.static.gradients([total], [image, volume, rows, other, steps])
    feed = {
        "image": values((2, 4, 6, 6), 1), "volume": values((2, 2, 4, 4, 4), 2), "rows": values((3, 4), 3), "other": values((3, 3), 4),
        "steps": values((2, 5, 4), 5),
    }
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup)
    for k, p in enumerate(main.all_parameters()):
        if not p.name.startswith("dn."):
            paddle.static.global_scope().find_var(p.name).get_tensor().set(values(p.shape, k + 10), paddle.CPUPlace())
    found = exe.run(main, feed=feed, fetch_list=[*outs.values(), *grads])
    return dict(zip([*outs, "d image", "d volume", "d rows", "d other", "d steps"], found, strict=True))


def save(paddle, folder):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        feed, out, loss, optimizer, _ = convolutions(paddle)
        optimizer.minimize(loss)
    exe = started(paddle, startup, main)
    exe.run(main, feed=feed)
    x = main.global_block().var("x")
    paddle.static.save_inference_model(os.path.join(folder, "model"), [x], [out], exe, program=main)
    paddle.static.save(main, os.path.join(folder, "checkpoint"))
    program, names, targets = paddle.static.load_inference_model(os.path.join(folder, "model"), exe)
    (predicted,) = exe.run(program, feed={names[0]: feed["x"]}, fetch_list=targets)
    return {"predicted": predicted, "next": exe.run(main, feed=feed, fetch_list=[loss])[0]}


def load(paddle, folder):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        feed, _, loss, optimizer, _ = convolutions(paddle)
        optimizer.minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup)
    program, names, targets = paddle.static.load_inference_model(os.path.join(folder, "model"), exe)
    (predicted,) = exe.run(program, feed={names[0]: feed["x"]}, fetch_list=targets)
    paddle.static.set_program_state(main, paddle.static.load_program_state(os.path.join(folder, "checkpoint")))
    return {"predicted": predicted, "next": exe.run(main, feed=feed, fetch_list=[loss])[0]}


def main():
    framework, what, *arguments, result = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.enable_static()
    found = {"train": train, "layers": layer_outputs, "save": save, "load": load}[what](paddle, *arguments)
    np.savez(result, **found)


if __name__ == "__main__":
    main()
