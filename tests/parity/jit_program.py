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


class Difference(paddle.nn.Layer):
    """Inputs whose order can be told from the result."""

    def forward(self, b, a):
        return a - b


class Nested(paddle.nn.Layer):
    """Tensors in lists and dicts, in and out."""

    def forward(self, x, more, factor=3):
        out = x * factor + more["z"] * 10 + more["b"][0] * 100 - more["b"][1]
        return {"z": out, "b": [out * 2, {"f": out * 3, "d": out * 4}]}


class Tested(paddle.nn.Layer):
    """Nothing but bool."""

    def forward(self, x):
        return x > 0


class Pooled(paddle.nn.Layer):
    """Areas of different sizes."""

    def __init__(self, size):
        super().__init__()
        self.pool = paddle.nn.AdaptiveMaxPool2D(size)

    def forward(self, x):
        return self.pool(x)


class Merged(paddle.nn.Layer):
    """A reshape to sizes that are open."""

    def forward(self, x):
        rows = paddle.reshape(x, [x.shape[0] * x.shape[1], x.shape[2]])
        return paddle.reshape(rows, [x.shape[0], x.shape[1], x.shape[2]]).reshape(x.shape)


class Resized(paddle.nn.Layer):
    """Half of the size, and back to what a tensor or a list of tensors of one element says."""

    def __init__(self, listed, mode, align_corners=False):
        super().__init__()
        self.listed, self.mode, self.align_corners = listed, mode, align_corners

    def forward(self, x):
        shape = paddle.shape(x)
        size = [shape[2], shape[3]] if self.listed else shape[2:]
        half = paddle.nn.functional.avg_pool2d(x, 2)
        return paddle.nn.functional.interpolate(half, size, mode=self.mode, align_corners=self.align_corners)


class Doubled(paddle.nn.Layer):
    """A scale of what may be open."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return paddle.nn.functional.interpolate(x, scale_factor=self.scale, mode="bilinear")


class Normed(paddle.nn.Layer):
    """Rows of length 1, captured with one number of rows."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([4], default_initializer=paddle.nn.initializer.Constant(2.0))

    def forward(self, x):
        y = x * self.weight + 1
        return y / paddle.norm(y, axis=1, keepdim=True)


class Broken(paddle.nn.Layer):
    """A loop that ends early."""

    def forward(self, x):
        total = paddle.zeros([4])
        for i in range(paddle.shape(x)[0]):
            if x[i].sum() > 1.5:
                break
            total = total + x[i]
        return total


class OneSided(paddle.nn.Layer):
    """A variable of one branch only, read where it has a value."""

    def forward(self, x):
        if x.sum() > 3:
            y = x * 2
            z = y + 1
        else:
            z = x
        if x.sum() > 3:
            z = z + y
        return z


class Early(paddle.nn.Layer):
    """A return in a branch."""

    def forward(self, x):
        if x.sum() > 3:
            return x * 10
        x = x + 1
        return x


class Overwritten(paddle.nn.Layer):
    """Elements that are replaced, up to an open size."""

    def forward(self, x):
        y = x * 1
        y[:, : x.shape[1] - 1] = 5.0
        return y


class InputOverwritten(paddle.nn.Layer):
    """The same in the input itself, where a tensor says and by a mask."""

    def forward(self, x):
        x[:, : x.shape[1] - 1] = 5.0
        x[paddle.to_tensor([0, 2])] = x[1]
        x[x < 0] = 0
        return x * 2


class Grown(paddle.nn.Layer):
    """A list of items of open size."""

    def forward(self, x):
        rows = []
        for i in range(paddle.shape(x)[0]):
            rows.append(x[i] * 2)
        return paddle.stack(rows)


def values(*shape):
    return paddle.to_tensor(np.random.default_rng(7).standard_normal(shape).astype("float32"))


def row(name):
    return InputSpec([None, 4], "float32", name)


# Layers with what they are saved for, and the tensors that what is loaded takes, one after the other.
LAYERS = {
    "order": (Difference(), [row("b"), row("a")], [values(2, 4), values(2, 4) * 3]),
    "nested": (Nested(), [row("x"), {"z": row("z"), "b": [row("p"), row("q")]}], [values(2, 4) + n for n in range(4)]),
    "bool": (Tested(), [row("x")], [values(2, 4)]),
    "broken": (Broken(), [row("x")], [values(6, 4)]),
    "one_sided": (OneSided(), [row("x")], [values(6, 4)]),
    "one_sided_yes": (OneSided(), [row("x")], [values(6, 4) + 1]),
    "early": (Early(), [row("x")], [values(6, 4)]),
    "early_yes": (Early(), [row("x")], [values(6, 4) + 1]),
    "overwritten": (Overwritten(), [InputSpec([None, None], "float32", "x")], [values(3, 4)]),
    "input_overwritten": (InputOverwritten(), [InputSpec([None, None], "float32", "x")], [values(3, 4)]),
    "instance_norm": (paddle.nn.InstanceNorm2D(2), [InputSpec([None, 2, 4, 4], "float32", "x")], [values(3, 2, 4, 4)]),
    "grown": (Grown(), [InputSpec([None, None, 4], "float32", "x")], [values(3, 2, 4)]),
    "normed": (Normed(), [InputSpec([3, 4], "float32", "x")], [values(5, 4)]),
    "merged": (Merged(), [InputSpec([2, None, 4], "float32", "x")], [values(2, 3, 4)]),
    "pooled": (Pooled(3), [InputSpec([None, 2, 8, 8], "float32", "x")], [values(2, 2, 8, 8)]),
    "pooled_open": (Pooled((3, 5)), [InputSpec([None, 2, None, None], "float32", "x")], [values(2, 2, 8, 7)]),
}
for which, sizes in ("open", [None, 2, None, None]), ("known", [None, 2, 6, 8]):
    for mode in "bilinear", "nearest", "bicubic":
        for name, layer in ("shape", Resized(False, mode)), ("list", Resized(True, mode, mode != "nearest")):
            LAYERS[f"resized_{which}_{mode}_{name}"] = layer, [InputSpec(sizes, "float32", "x")], [values(2, 2, 6, 8)]
    for scale in 2, 1.5, 0.5, [1, 0.25]:
        LAYERS[f"scaled_{which}_{scale}"] = Doubled(scale), [InputSpec(sizes, "float32", "x")], [values(2, 2, 6, 8)]


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
        for name, (layer, specs, _) in LAYERS.items():
            paddle.jit.save(layer, f"{sys.argv[2]}/{name}", input_spec=specs)
        paddle.jit.save(net, path, input_spec=[InputSpec([None, 1, 6, 6], "float32", "image")])
    else:
        net = paddle.jit.load(path)
        found["parameters"] = sorted([list(x.shape) for x in net.parameters()])
        found["inputs"] = described(net._input_spec())
    for name, (_, _, inputs) in LAYERS.items():
        outputs = paddle.jit.load(f"{sys.argv[2]}/{name}")(*inputs)
        found[name] = [described(x) for x in (outputs if isinstance(outputs, list) else [outputs])]
    found["outputs"] = [described(net(x)) for x in images()]
print("RESULT", json.dumps(found))
