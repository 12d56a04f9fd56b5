"""The cases of the core: what each framework runs, side by side.

A case is a name and, for each framework, a function without arguments that does the work once.
`make(framework)` gives `{case: function}`; a case that a framework lacks is left out.
"""
from __future__ import annotations

import re

import numpy as np

TINY = [2, 3]
LARGE = [4096, 1024]
CONVOLUTIONS = {
    # name: (input, weight, stride, padding, groups)
    "3x3": ([8, 64, 56, 56], [64, 64, 3, 3], 1, 1, 1),
    "1x1": ([8, 64, 56, 56], [256, 64, 1, 1], 1, 0, 1),
    "depthwise": ([8, 128, 56, 56], [128, 1, 3, 3], 1, 1, 128),
    "depthwise, batch 1": ([1, 128, 56, 56], [128, 1, 3, 3], 1, 1, 128),
    "3x3/2": ([8, 64, 56, 56], [128, 64, 3, 3], 2, 1, 1),
    "7x7/2": ([8, 3, 224, 224], [64, 3, 7, 7], 2, 3, 1),
    "7x7/2, batch 2": ([2, 3, 224, 224], [64, 3, 7, 7], 2, 3, 1),
}
NORMS = {"[8, 64, 56, 56]": [8, 64, 56, 56], "[8, 256, 14, 14]": [8, 256, 14, 14], "[2, 320, 64, 64]": [2, 320, 64, 64]}  # of 32 groups
SIZES = (256, 512, 1024, 2048)


PASSES = {  # of a tensor of LARGE through memory
    "add": 3, "add a row": 2, "add a column": 2, "exp": 2, "tanh": 2, "gelu": 2, "softmax": 2, "layer_norm": 2, "sum all": 1, "sum axis 0": 1,
    "sum axis 1": 1, "transposed copy": 2, "embedding": 2, "dropout + residual": 3,
}


def work(case: str) -> dict[str, float] | None:
    """What a case cannot do without, for `Limits.seconds`. A convolution counts its direct form, three times with its gradients."""
    if case in PASSES:
        return {"size": PASSES[case] * 4 * LARGE[0] * LARGE[1]}
    if found := re.fullmatch(r"matmul (\d+)", case):
        return {"multiply_adds": int(found[1]) ** 3, "size": 3 * 4 * int(found[1]) ** 2}
    name = case.removeprefix("conv2d ").removesuffix(", forward+backward")
    times = 3 if case.endswith(", forward+backward") else 1
    if name not in CONVOLUTIONS:
        return None
    (n, c, h, w), (out, inside, kh, kw), stride, padding, _ = CONVOLUTIONS[name]
    rows, columns = (h + 2 * padding - kh) // stride + 1, (w + 2 * padding - kw) // stride + 1
    return {"multiply_adds": times * n * out * rows * columns * inside * kh * kw, "size": times * 4 * n * (c * h * w + out * rows * columns)}


def values(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def make(framework: str):
    return {"torch": torch_cases, "paddle": paddle_cases, "wherry": wherry_cases, "numpy": numpy_cases}[framework]()


def numpy_cases():
    x, y, w = values(TINY), values(TINY, 1), values([3, 4], 2)
    cases = {"tiny add": lambda: x + y, "tiny matmul": lambda: x @ w, "tiny sum": lambda: x.sum(),
             "tiny reshape": lambda: x.reshape(3, 2), "tiny getitem": lambda: x[0]}
    for n in SIZES:
        a, b = values([n, n]), values([n, n], 1)
        cases[f"matmul {n}"] = lambda a=a, b=b: a @ b
    return cases


def torch_cases():
    import torch
    import torch.nn.functional as F

    t = lambda shape, seed=0: torch.from_numpy(values(shape, seed))  # noqa: E731
    x, y, w, z = t(TINY), t(TINY, 1), t([3, 4], 2), t(TINY, 3)
    cases = tiny(x, y, w, torch.relu, lambda a: a.sum(), lambda a: a.reshape(3, 2))
    gx, gy, gw, gz = (a.clone().requires_grad_() for a in (x, y, w, z))
    cases |= {f"{name}, recording": f for name, f in
              tiny(gx, gy, gw, torch.relu, lambda a: a.sum(), lambda a: a.reshape(3, 2)).items()}

    def backward():
        gx.grad = gy.grad = gz.grad = None
        (gx * gy + gz).sum().backward()

    cases["tiny (x*y+z).sum().backward()"] = backward
    a, b = t(LARGE), t(LARGE, 1)
    gain, bias, column, table = t([1024]), t([1024], 1), t([4096, 1]), t([10000, 1024])
    index = torch.from_numpy(np.random.default_rng(0).integers(0, 10000, 4096))
    cases |= {
        "add": lambda: a + b, "add a row": lambda: a + bias, "add a column": lambda: a + column,
        "exp": lambda: torch.exp(a), "tanh": lambda: torch.tanh(a), "gelu": lambda: F.gelu(a),
        "softmax": lambda: F.softmax(a, -1), "layer_norm": lambda: F.layer_norm(a, [1024], gain, bias),
        "sum all": lambda: a.sum(), "sum axis 0": lambda: a.sum(0), "sum axis 1": lambda: a.sum(1),
        "transposed copy": lambda: a.t().contiguous(), "embedding": lambda: F.embedding(index, table),
        "dropout + residual": lambda: F.dropout(a, 0.1) + b, "dropout + residual, two ops": lambda: F.dropout(a, 0.1) + b,
    }
    for n in SIZES:
        p, q = t([n, n]), t([n, n], 1)
        cases[f"matmul {n}"] = lambda p=p, q=q: p @ q
    for name, (shape, weight, stride, padding, groups) in CONVOLUTIONS.items():
        image, kernel = t(shape), t(weight, 1) * 0.05
        cases[f"conv2d {name}"] = lambda i=image, k=kernel, s=stride, p=padding, g=groups: F.conv2d(i, k, None, s, p, 1, g)
        gi, gk = image.clone().requires_grad_(), kernel.clone().requires_grad_()

        def both(i=gi, k=gk, s=stride, p=padding, g=groups):
            i.grad = k.grad = None
            F.conv2d(i, k, None, s, p, 1, g).sum().backward()

        cases[f"conv2d {name}, forward+backward"] = both
    for name, shape in NORMS.items():
        image, scale, shift = t(shape), t([shape[1]], 1), t([shape[1]], 2)
        cases[f"group_norm {name}, 32 groups"] = lambda i=image, g=scale, b=shift: F.group_norm(i, 32, g, b)
        leaves = tuple(leaf.clone().requires_grad_() for leaf in (image, scale, shift))

        def both_of_norm(leaves=leaves):
            for leaf in leaves:
                leaf.grad = None
            F.group_norm(leaves[0], 32, *leaves[1:]).sum().backward()

        cases[f"group_norm {name}, 32 groups, forward+backward"] = both_of_norm
    return cases


def tiny(x, y, w, relu, total, reshape):
    return {"tiny add": lambda: x + y, "tiny matmul": lambda: x @ w, "tiny relu": lambda: relu(x),
            "tiny sum": lambda: total(x), "tiny reshape": lambda: reshape(x), "tiny getitem": lambda: x[0]}


def paddle_cases():
    import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

    import paddle
    import paddle.nn.functional as F

    paddle.set_device("cpu")
    layers = {"relu": F.relu, "gelu": F.gelu, "softmax": lambda a: F.softmax(a, -1),
              "layer_norm": lambda a, g, b: F.layer_norm(a, [1024], g, b), "embedding": F.embedding,
              "conv2d": lambda i, k, s, p, g: F.conv2d(i, k, None, s, p, 1, g),
              "transposed copy": lambda a: paddle.assign(a.t()), "dropout": F.dropout, "dropout_add": lambda a, b, p: F.dropout(a, p) + b}
    return shared(paddle, layers)


def wherry_cases():
    import wherry
    from wherry_tensor import ops

    none = {"dilations": (1, 1), "data_format": "NCHW"}
    layers = {
        "relu": ops.relu, "gelu": lambda a: ops.gelu(a, approximate=False), "softmax": lambda a: ops.softmax(a, axis=1),
        "layer_norm": lambda a, g, b: ops.layer_norm(a, g, b, epsilon=1e-5, begin_axis=1)[0],
        "embedding": lambda i, w: ops.embedding(i, w, padding_index=-1),
        "conv2d": lambda i, k, s, p, g: ops.conv2d(i, k, None, strides=(s, s), paddings=(p,) * 4, groups=g, **none),
        "transposed copy": lambda a: a.t().contiguous(), "dropout": lambda a, p: ops.dropout(a, p=p, upscale=True)[0],
        "dropout_add": lambda a, b, p: ops.dropout_add(a, b, p=p, upscale=True)[0],
    }
    cases = shared(wherry, layers)
    t = lambda shape, seed=0: wherry.to_tensor(values(shape, seed))  # noqa: E731
    x, y, scale, shift = t(TINY), t(TINY, 1), t([3], 2), t([3], 3)
    written, pairs = t(TINY), [(t(shape), t(shape, 1)) for shape in ([2, 3], [3, 2], [6])]
    gx, gy = t(TINY), t(TINY, 1)
    gx.stop_gradient = gy.stop_gradient = False

    def backward():
        gx.clear_gradient(False)
        gy.clear_gradient(False)
        (gx * gy + gy).sum().backward()

    # Ways through the dispatcher that PyTorch and Paddle do not have in this form.
    cases |= {
        "tiny `ops.add(x, y)`": lambda: ops.add(x, y), "tiny `x * 2.0`": lambda: x * 2.0, "tiny softmax": lambda: ops.softmax(x, axis=1),
        "tiny layer_norm": lambda: wherry.nn.functional.layer_norm(x, 3, scale, shift), "tiny `x.add_(y)`": lambda: written.add_(y),
        "tiny `ops.add`, recording": lambda: ops.add(gx, gy), "tiny (x*y+y).sum().backward()": backward,
        "tiny adds of three shapes in turn": lambda: [a + b for a, b in pairs],
    }
    for name, shape in NORMS.items():
        image, scale, shift = t(shape), t([shape[1]], 1), t([shape[1]], 2)
        cases[f"group_norm {name}, 32 groups"] = lambda i=image, g=scale, b=shift: wherry.nn.functional.group_norm(i, 32, weight=g, bias=b)
        leaves = t(shape), t([shape[1]], 1), t([shape[1]], 2)
        for leaf in leaves:
            leaf.stop_gradient = False

        def both(leaves=leaves):
            for leaf in leaves:
                leaf.clear_gradient(False)
            wherry.nn.functional.group_norm(leaves[0], 32, weight=leaves[1], bias=leaves[2]).sum().backward()

        cases[f"group_norm {name}, 32 groups, forward+backward"] = both
    return cases


def shared(paddle, layers):
    """The cases of real Paddle and of wherry: one API."""
    t = lambda shape, seed=0: paddle.to_tensor(values(shape, seed))  # noqa: E731
    x, y, w = t(TINY), t(TINY, 1), t([3, 4], 2)
    total, reshape = (lambda a: a.sum()), (lambda a: a.reshape([3, 2]))
    cases = tiny(x, y, w, layers["relu"], total, reshape)
    gx, gy, gw, gz = t(TINY), t(TINY, 1), t([3, 4], 2), t(TINY, 3)
    for leaf in (gx, gy, gw, gz):
        leaf.stop_gradient = False
    cases |= {f"{name}, recording": f for name, f in tiny(gx, gy, gw, layers["relu"], total, reshape).items()}

    def backward():
        for leaf in (gx, gy, gz):
            leaf.clear_gradient(False)
        (gx * gy + gz).sum().backward()

    cases["tiny (x*y+z).sum().backward()"] = backward
    a, b = t(LARGE), t(LARGE, 1)
    gain, bias, column, table = t([1024]), t([1024], 1), t([4096, 1]), t([10000, 1024])
    index = paddle.to_tensor(np.random.default_rng(0).integers(0, 10000, 4096))
    cases |= {
        "add": lambda: a + b, "add a row": lambda: a + bias, "add a column": lambda: a + column,
        "exp": lambda: paddle.exp(a), "tanh": lambda: paddle.tanh(a),
        "gelu": lambda: layers["gelu"](a), "softmax": lambda: layers["softmax"](a),
        "layer_norm": lambda: layers["layer_norm"](a, gain, bias),
        "sum all": lambda: a.sum(), "sum axis 0": lambda: a.sum(0), "sum axis 1": lambda: a.sum(1),
        "transposed copy": lambda: layers["transposed copy"](a), "embedding": lambda: layers["embedding"](index, table),
        "dropout + residual": lambda: layers["dropout_add"](a, b, 0.1), "dropout + residual, two ops": lambda: layers["dropout"](a, 0.1) + b,
    }
    for n in SIZES:
        p, q = t([n, n]), t([n, n], 1)
        cases[f"matmul {n}"] = lambda p=p, q=q: p @ q
    for name, (shape, weight, stride, padding, groups) in CONVOLUTIONS.items():
        image, kernel = t(shape), t(weight, 1) * 0.05
        cases[f"conv2d {name}"] = lambda i=image, k=kernel, s=stride, p=padding, g=groups: layers["conv2d"](i, k, s, p, g)
        gi, gk = t(shape), t(weight, 1) * 0.05
        gi.stop_gradient = gk.stop_gradient = False

        def both(i=gi, k=gk, s=stride, p=padding, g=groups):
            i.clear_gradient(False)
            k.clear_gradient(False)
            layers["conv2d"](i, k, s, p, g).sum().backward()

        cases[f"conv2d {name}, forward+backward"] = both
    return cases
