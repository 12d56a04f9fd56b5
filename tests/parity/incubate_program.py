"""Functions, optimizers and derivatives of `paddle.incubate` that real Paddle has on CPUs. Run by either framework, it prints `RESULT` and a
JSON object: values, gradients or the classes of errors. Segments and edges of graphs are drawn by graph_calls.py.

    incubate_program.py
"""
import json
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
import paddle.incubate.nn.functional as IF
from paddle import incubate

found = {}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).round(3)


def described(x):
    if isinstance(x, paddle.Tensor):
        return ["tensor", str(x.dtype).rpartition(".")[2], list(x.shape), x.astype("float64").numpy().ravel().tolist()]
    if isinstance(x, (list, tuple)):
        return [described(value) for value in x]
    return repr(x)


def note(name, function):
    try:
        found[name] = described(function())
    except Exception as error:  # noqa: BLE001  which class it is of is what is asked
        found[name] = ["error", [kind.__name__ for kind in type(error).__mro__]]


# Functions, and the gradients of their inputs.


def with_gradients(function, *shapes):
    inputs = [paddle.to_tensor(normal(*shape, seed=i).astype("float32"), stop_gradient=False) for i, shape in enumerate(shapes)]
    out = function(*inputs)
    paddle.sum(out * out).backward()
    return [out, *(x.grad for x in inputs)]


CALLS = {
    "mask": (incubate.softmax_mask_fuse, (2, 3, 4, 4), (2, 1, 4, 4)),
    "mask of one": (incubate.softmax_mask_fuse, (1, 1, 2, 5), (1, 1, 2, 5)),
    "matmul_bias": (IF.fused_matmul_bias, (2, 3, 4), (4, 5), (5,)),
    "matmul_bias turned": (lambda x, y, b: IF.fused_matmul_bias(x, y, b, True, True), (4, 3), (5, 4), (5,)),
    "matmul_bias without bias": (IF.fused_matmul_bias, (3, 4), (4, 5)),
    "linear": (IF.fused_linear, (2, 3, 4), (4, 5), (5,)),
    "linear turned": (lambda x, w: IF.fused_linear(x, w, None, True), (3, 4), (5, 4)),
    **{f"identity_loss {kind}": (lambda x, kind=kind: incubate.identity_loss(x, kind), (3, 4)) for kind in ("sum", "mean", "none", 0, 1, 2)},
    "identity_loss of another kind": (lambda x: incubate.identity_loss(x, "x"), (3, 4)),
}
for name, (function, *shapes) in CALLS.items():
    note(name, lambda f=function, s=shapes: with_gradients(f, *s))
LAYER = paddle.incubate.nn.FusedLinear(4, 5)
note("FusedLinear", lambda: [list(p.shape) for p in LAYER.parameters()] + [sorted(LAYER.state_dict())])
for wrong in ("incubate.softmax_mask_fuse(3, 4)", "incubate.identity_loss(3)", "IF.fused_linear(3, 4)", "incubate.LookAhead(3)",
              "incubate.LookAhead(None)", "incubate.ModelAverage('x')", "paddle.incubate.optimizer.LBFGS()"):
    note(wrong, lambda w=wrong: eval(w))

# Optimizers around others.


def problem():
    x = paddle.to_tensor(normal(8, 3, seed=5).astype("float32"))
    layer = paddle.nn.Linear(3, 1)
    layer.weight.set_value(paddle.to_tensor(normal(3, 1, seed=6).astype("float32")))
    layer.bias.set_value(paddle.zeros([1]))
    return layer, lambda: ((layer(x) - 1.0) ** 2).mean()


def steps(make, count, look=lambda optimizer, layer, step: []):
    layer, loss = problem()
    optimizer = make(layer.parameters())
    seen = []
    for step in range(count):
        value = loss()
        value.backward()
        optimizer.step()
        optimizer.clear_grad()
        seen += [value, layer.weight.clone(), *look(optimizer, layer, step)]
    return seen


def sgd(parameters):
    return paddle.optimizer.SGD(0.1, parameters=parameters)


for alpha, k in ((0.5, 3), (0.2, 1), (1.0, 2), (0.0, 2)):
    note(f"LookAhead {alpha} {k}", lambda a=alpha, k=k: steps(lambda p: incubate.LookAhead(sgd(p), alpha=a, k=k), 7))
note("LookAhead of Adam", lambda: steps(lambda p: incubate.LookAhead(paddle.optimizer.Adam(0.05, parameters=p), 0.4, 2), 5))


def averaged(rate, least, most, count):
    layer, loss = problem()
    optimizer = sgd(layer.parameters())
    average = incubate.ModelAverage(rate, parameters=layer.parameters(), min_average_window=least, max_average_window=most)
    seen = []
    for _ in range(count):
        loss().backward()
        optimizer.step()
        average.step()
        optimizer.clear_grad()
        with average.apply(need_restore=True):
            seen.append(layer.weight.clone())
        seen.append(layer.weight.clone())
    return seen


for window in ((0.15, 2, 10), (0.5, 2, 4), (1.0, 1, 3), (0.15, 100, 100)):
    note(f"ModelAverage {window}", lambda w=window: averaged(*w, 8))


def bowl(x):
    return ((x - paddle.to_tensor([1.0, -2.0, 0.5], x.dtype)) ** 2 * paddle.to_tensor([1.0, 4.0, 0.5], x.dtype)).sum()


for kind in ("minimize_bfgs", "minimize_lbfgs"):
    for dtype in ("float32", "float64"):
        minimize = getattr(paddle.incubate.optimizer.functional, kind)
        # whether it came to an end, and where: the way there is the line search's own
        note(f"{kind} {dtype}", lambda m=minimize, d=dtype: [(r := m(bowl, paddle.zeros([3], d), dtype=d))[0], (r[2] * 100.0).round()])
    note(f"{kind} without object", lambda m=minimize: m(3, paddle.zeros([3])))
    note(f"{kind} of integers", lambda m=minimize: m(bowl, paddle.zeros([3]), dtype="int32"))


def lbfgs(**options):
    layer, loss = problem()
    optimizer = paddle.incubate.optimizer.LBFGS(parameters=layer.parameters(), **options)

    def closure():
        optimizer.clear_grad()
        value = loss()
        value.backward()
        return value

    return [optimizer.step(closure) for _ in range(3)] + [layer.weight]


note("LBFGS", lambda: lbfgs(learning_rate=0.5, max_iter=3))
note("LBFGS of one", lambda: lbfgs(learning_rate=0.1, max_iter=1, history_size=2))

# Derivatives.


def cubes(x):
    return x * x * x


def product(x, y):
    return paddle.matmul(x, y)


def matrix(*shape, seed=0):
    return paddle.to_tensor(normal(*shape, seed=seed).astype("float64"), stop_gradient=False)


A = paddle.incubate.autograd
note("vjp", lambda: A.vjp(cubes, matrix(3)))
note("vjp along v", lambda: A.vjp(product, [matrix(2, 3), matrix(3, 2, seed=1)], matrix(2, 2, seed=2)))
note("jvp", lambda: A.jvp(cubes, matrix(3)))
note("jvp along v", lambda: A.jvp(product, [matrix(2, 3), matrix(3, 2, seed=1)], [matrix(2, 3, seed=2), matrix(3, 2, seed=3)]))
note("Jacobian", lambda: A.Jacobian(cubes, matrix(3))[:])
note("Jacobian of two", lambda: A.Jacobian(lambda x, y: x * y, [matrix(3), matrix(3, seed=1)])[:])
note("Jacobian rows", lambda: A.Jacobian(cubes, matrix(3))[0])
note("Jacobian of a batch", lambda: A.Jacobian(cubes, matrix(2, 3), is_batched=True)[:])
note("Hessian", lambda: A.Hessian(lambda x: cubes(x).sum(), matrix(3))[:])
note("Hessian of two", lambda: A.Hessian(lambda x, y: (x * y * y).sum(), [matrix(2), matrix(2, seed=1)])[:])
note("Hessian of a batch", lambda: A.Hessian(lambda x: cubes(x).sum(-1, keepdim=True), matrix(2, 3), is_batched=True)[:])
note("Hessian of more", lambda: A.Hessian(cubes, matrix(3))[:])
for wrong in ("A.forward_grad(3, 4)", "A.vjp(3, 4)", "A.Jacobian(3, 4)[:]", "A.grad(matrix(3), matrix(3))", "incubate.autotune.set_config(3)"):
    note(wrong, lambda w=wrong: eval(w))
note("autotune", lambda: incubate.autotune.set_config({"kernel": {"enable": False}}))
print("RESULT", json.dumps(found))
