"""Runs every call of `calls.py`, or of another table, in one framework and writes down what came out.

    python worker.py wherry|paddle RESULT.pickle [calls|functional_calls|training_calls]

The same file runs under real Paddle's interpreter and under ours; `test_parity.py` and
`test_functional_calls.py` compare.
"""
from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import os
import pickle
import re
import signal
import sys
import threading
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np

AS_GIVEN = "as given"  # of the dtypes of a call: inputs keep theirs
LIMIT = 30  # seconds of the processor for one case
WAITING = 4  # times as long by the clock: beside other work, or for what waits and does not compute
STILL = 8  # seconds in which a process that hangs takes none of the processor


def describe(value):
    """A result as plain data: kind, dtype, shape and values."""
    if isinstance(value, (list, tuple)):
        return ["list", [describe(item) for item in value]]
    if isinstance(value, dict):
        return ["list", [describe([key, value[key]]) for key in value]]
    if hasattr(value, "stop_gradient"):
        dtype = str(value.dtype).split(".")[-1].lower()
        array = value.astype("float32") if dtype in ("bfloat16", "float16") else value
        return ["tensor", dtype, list(value.shape), array.numpy()]
    if isinstance(value, np.generic):
        return ["value", value.item()]
    if isinstance(value, (bool, int, float, complex, str, np.ndarray)) or value is None:
        return ["value", value]
    return ["value", str(value)]


def said(function):
    """What a function prints, and its result. Modules of classes are their own affair."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = function()
    return [re.sub(r"<class '[^']*\.(\w+)'>", r"<class \1>", text.getvalue()), result]


def run(paddle, call, dtype):
    names = {"paddle": paddle, "np": np, "F": paddle.nn.functional, "said": said}
    leaves = []
    for name, array in call.inputs.items():
        array = np.asarray(array)
        if dtype != AS_GIVEN and (array.dtype == np.float64 or array.dtype == np.complex128):
            tensor = paddle.to_tensor(array.astype("float64" if array.dtype == np.float64 else "complex128"))
            tensor = tensor.astype(dtype)
        else:
            tensor = paddle.to_tensor(array)
        if call.grad and tensor.is_floating_point():
            tensor.stop_gradient = False
            leaves.append(tensor)
        names[name] = tensor
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lines = call.expression.split("; ")
            for line in lines[:-1]:
                exec(line, names)
            result = eval(lines[-1], names)
            outcome = {"result": describe(result)}
            if call.grad:
                first = result[0] if isinstance(result, (list, tuple)) else result
                # A cotangent that differs from element to element finds transposed gradients.
                weight = paddle.to_tensor(np.linspace(0.5, 1.5, max(int(np.prod(first.shape)), 1)).reshape(first.shape))
                (first * weight.astype(first.dtype)).sum().backward()
                outcome["grads"] = [describe(leaf.grad) for leaf in leaves]
    except Exception as error:
        outcome = {"error": [kind.__name__ for kind in type(error).__mro__], "text": f"{type(error).__name__}: {error}"[:300]}
    return outcome


def in_children(framework, target, items, outcome, name, limit=LIMIT):
    """Pickle the outcome of each item into `target`, by item.

    In a child: what kills the framework (drawn calls do) or keeps it forever ends one item and not the others.
    """
    results: dict = {}
    hung: set = set()
    while len(results) < len(items):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "wb") as file:
                for item in items[len(results):]:
                    print(name(item), file=sys.stderr, flush=True)  # the last one crashed
                    signal.setitimer(signal.ITIMER_PROF, limit)
                    signal.alarm(WAITING * limit)
                    pickle.dump(outcome(item), file, protocol=4)
                    file.flush()
            os._exit(0)
        os.close(writing)
        ended = threading.Event()
        watch = threading.Thread(target=end_when_still, args=(child, ended))
        watch.start()
        with os.fdopen(reading, "rb") as file, contextlib.suppress(EOFError, pickle.UnpicklingError):
            while len(results) < len(items):
                results[items[len(results)]] = pickle.load(file)
        ended.set()
        watch.join()
        _, status = os.waitpid(child, 0)
        if len(results) < len(items):
            item, number = items[len(results)], status & 0x7F
            late = number in (signal.SIGALRM, signal.SIGPROF)
            if framework == "paddle" and late and item not in hung:
                hung.add(item)  # real Paddle hangs now and then where it crashes otherwise, in its own handler
                continue
            text = f"no answer within {limit} s" if late else f"the process died of signal {number}"
            results[item] = {"error": ["Crash"], "text": text}
    with open(target, "wb") as file:
        pickle.dump(results, file, protocol=4)
    if framework == "paddle":
        os._exit(0)  # its threads may hang at exit as well


def end_when_still(child, ended):
    """As its alarm does, but sooner where it computes nothing: the handler of a crash may wait for ever."""
    seconds, before = 0, None
    while not ended.wait(1):
        with open(f"/proc/{child}/stat") as file:
            now = file.read().rpartition(")")[2].split()[11:13]  # its time, and the system's for it
        seconds, before = seconds + 1 if now == before else 0, now
        if seconds >= STILL:
            os.kill(child, signal.SIGALRM)
            return


def main() -> None:
    faulthandler.enable()
    framework, target, *table = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.set_device("cpu")
    calls = importlib.import_module(table[0] if table else "calls").CALLS

    def outcome(item):
        paddle.seed(7)
        return run(paddle, calls[item[0]], item[1])

    items = [(number, dtype) for number, call in enumerate(calls) for dtype in call.dtypes]
    in_children(framework, target, items, outcome, lambda item: f"{item[1]} {calls[item[0]].expression}")


if __name__ == "__main__":
    main()
