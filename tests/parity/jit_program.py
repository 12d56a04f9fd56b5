"""Functions of `to_static`, and a layer that is saved or loaded. Run by either framework, it prints `RESULT` and a JSON object.

    jit_program.py run                what captured functions give
    jit_program.py save FOLDER        a layer saved as FOLDER/net and what it gives
    jit_program.py load FOLDER        what the layer gives that was saved there

`test_jit.py` compares.
"""
import json
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
from paddle.static import InputSpec

found = {}


def described(x):
    if isinstance(x, paddle.Tensor):
        return ["tensor", str(x.dtype).rpartition(".")[2], x.shape, x.astype("float32").numpy().ravel().tolist()]
    if isinstance(x, dict):
        return {key: described(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [described(value) for value in x]]
    return repr(x)


def choice(x):
    if x.mean() > 5.0:
        out = x - 1
    elif x.sum() < 0:
        out = -x
    else:
        out = x * 2
    return out


def numbers_in_branches(x):
    if x.sum() > 1:
        y = 2
    else:
        y = 3
    return y, x


def loop(x):
    i = 0
    while x.sum() < 50:
        x = x * 2
        i += 1
    return x, i


def skipping(x):
    total = paddle.zeros([])
    for i in range(paddle.shape(x)[0]):
        if x[i] < 2:
            continue
        total = total + x[i] * i
    return total


def early(x):
    if x.sum() > 3:
        return x * 10
    x = x + 1
    return x


def tests(x):
    a = x.sum()
    if a > 0 and not a > 3 or a < -5:
        return x * 10
    return x


def casts(x):
    return int(x.sum()), float(x.sum() > 1), bool(x.sum()), len(x)


def appended(x):
    rows = []
    for i in range(paddle.shape(x)[0]):
        rows.append(x[i] * 2)
    return paddle.stack(rows)


def structures(x):
    return {"a": x, "b": [x * 2, 2, None, "q"]}


def lambdas(x):
    square = lambda v: v * v  # noqa: E731
    return square(x) if x.sum() > 0 else -square(x)


def gradients():
    static = paddle.jit.to_static(choice, full_graph=True)
    out = []
    for values in ([1.0, 1.0], [-3.0, 1.0], [9.0, 9.0]):
        x = paddle.to_tensor(values, stop_gradient=False)
        static(x).sum().backward()
        out.append(x.grad)
    return out


def specs():
    a = InputSpec([None, 784], "float32", "x")
    return [repr(a), a == InputSpec([-1, 784], "float32", "x"), repr(InputSpec.from_numpy(np.ones([2, 2]))), a.shape]


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(1, 3, 3)
        self.norm = paddle.nn.BatchNorm2D(3)
        self.out = paddle.nn.Linear(12, 2)

    def forward(self, x):
        x = paddle.nn.functional.relu(self.norm(self.conv(x)))
        x = paddle.nn.functional.max_pool2d(x, 2).flatten(1)
        if x.mean() > 0.3:
            x = x * 2
        else:
            x = x - 1
        return self.out(x)


def images():
    rng = np.random.default_rng(0)
    return [paddle.to_tensor((rng.standard_normal((n, 1, 6, 6)) * s).astype("float32")) for n, s in ((1, 1), (4, 5), (3, 0.1))]


if sys.argv[1] == "run":
    for function in (choice, numbers_in_branches, loop, skipping, early, tests, casts, appended, structures, lambdas):
        static = paddle.jit.to_static(function, full_graph=True)
        for values in ([1.0, 2.0], [9.0, 9.0], [-3.0, 1.0], [2.0, 2.0]):
            if function is loop and sum(values) <= 0:
                continue
            found[f"{function.__name__} {values}"] = described(static(paddle.to_tensor(values)))
    found["gradients"] = described(gradients())
    found["specs"] = described(specs())
else:
    path = f"{sys.argv[2]}/net"
    if sys.argv[1] == "save":
        net = Net()
        net.eval()
        paddle.jit.save(net, path, input_spec=[InputSpec([None, 1, 6, 6], "float32", "image")])
    else:
        net = paddle.jit.load(path)
        found["parameters"] = sorted([list(x.shape) for x in net.parameters()])
        found["inputs"] = described(net._input_spec())
    found["outputs"] = [described(net(x)) for x in images()]
print("RESULT", json.dumps(found))
