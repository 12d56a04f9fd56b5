"""Runs `conversion_cases` in one framework and pickles what they give, or the error.

    conversion_worker.py wherry|paddle RESULT run FOLDER STEP     every STEP-th called, captured, saved into FOLDER, loaded again
    conversion_worker.py wherry|paddle RESULT load FOLDER STEP    what was saved there by either
"""
import contextlib
import io
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np

framework, result, what, folder, step = sys.argv[1:6]
if framework == "wherry":
    import wherry

    wherry.alias_paddle()
warnings.simplefilter("ignore")
import paddle  # noqa: E402
from conversion_cases import CASES, filled  # noqa: E402

folder = Path(folder)
CHOSEN = dict(list(CASES.items())[:: int(step)])


def plain(x):
    """Arrays, numbers and None, in lists: tuples and lists are one, as a loaded program makes no difference."""
    if isinstance(x, paddle.Tensor):
        return x.numpy()
    if isinstance(x, dict):
        return [plain(x[key]) for key in sorted(x)]
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    return np.asarray(x)


def flat(x):
    """What a loaded program gives: its tensors one after the other. (Numbers of Python are not outputs of a program.)"""
    found = []

    def collect(value):
        if isinstance(value, paddle.Tensor):
            found.append(value.numpy())
        elif isinstance(value, dict):
            for key in sorted(value):
                collect(value[key])
        elif isinstance(value, (list, tuple)):
            for one in value:
                collect(one)

    collect(x)
    return found


def tried(function):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def gradients(function, arrays):
    """Of the sum of all floating results, by the floating inputs and the parameters."""
    inputs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    results = []

    def collect(value):
        if isinstance(value, paddle.Tensor) and "float" in str(value.dtype):
            results.append(value.astype("float32").sum())
        elif isinstance(value, dict):
            collect(list(value.values()))
        elif isinstance(value, (list, tuple)):
            for one in value:
                collect(one)

    collect(function(*inputs))
    sum(results).backward()
    wanted = [x for x in inputs if not x.stop_gradient]
    if isinstance(function, paddle.nn.Layer):
        wanted += [p for p in function.parameters() if not p.stop_gradient]
    return [np.zeros(x.shape, "float32") if x.grad is None else x.grad.numpy() for x in wanted]


def by_framework(function):
    """Ours alone: what Paddle captures has gradients of its own in loops, and none where a layer evaluates."""
    return tried(function) if framework == "wherry" else "not asked"


def made(one):
    if not isinstance(one, type):
        return one
    layer = filled(one())
    layer.eval()
    return layer


def tensors(arrays):
    return [paddle.to_tensor(a) for a in arrays]


def run_all():
    found = {}
    for name, (one, calls, specs) in CHOSEN.items():
        found |= {(name, key): value for key, value in outcomes(name, one, calls, specs).items()}
    return found


def outcomes(name, one, calls, specs):
    def results(function):
        return [plain(function(*tensors(call))) for call in calls]

    def save():
        to_save = paddle.jit.to_static(made(one), input_spec=specs, full_graph=True)
        paddle.jit.save(to_save, str(folder / name), input_spec=specs if isinstance(one, type) else None)
        return "saved"

    return {
        "eager": tried(lambda: results(made(one))),
        "captured": tried(lambda: results(paddle.jit.to_static(made(one), full_graph=True))),
        "gradients": by_framework(lambda: [gradients(paddle.jit.to_static(made(one), full_graph=True), call) for call in calls]),
        "eager gradients": by_framework(lambda: [gradients(made(one), call) for call in calls]),
        "saved": tried(save),
        "loaded": loaded(name, calls),
    }


def loaded(name, calls):
    if not (folder / f"{name}.pdmodel").exists():
        return "nothing saved"
    return tried(lambda: [flat(paddle.jit.load(str(folder / name))(*tensors(call))) for call in calls])


if what == "run":
    answer = run_all()
else:
    answer = {(name, "loaded"): loaded(name, calls) for name, (_, calls, _) in CHOSEN.items()}
Path(result).write_bytes(pickle.dumps(answer))
