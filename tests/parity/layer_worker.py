"""Builds every layer of `layer_calls.py` in one framework, runs and trains it, and writes down what came out.

    python layer_worker.py paddle RESULT.pickle
    python layer_worker.py wherry RESULT.pickle PADDLES_RESULT.pickle

The second form starts each layer from the weights that Paddle's had. `test_layer_calls.py` compares.
"""
from __future__ import annotations

import faulthandler
import importlib
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
from worker import describe

STEPS = 5


def tensors_in(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif hasattr(value, "stop_gradient"):
        yield value


def is_floating(tensor):
    return "float" in str(tensor.dtype).lower() or "FP" in str(tensor.dtype)


def weighted_sum(paddle, result):
    """A loss whose gradient differs from element to element, so that transposed gradients are found."""
    total = None
    for tensor in tensors_in(result):
        if is_floating(tensor) and not tensor.stop_gradient:
            size = int(np.prod(tensor.shape))
            weight = paddle.to_tensor(np.linspace(0.5, 1.5, size).reshape(tensor.shape)).astype(tensor.dtype)
            part = (tensor * weight).sum() / max(size, 1) ** 0.5
            total = part if total is None else total + part
    return total


def state_of(layer):
    return {key: value.numpy() for key, value in layer.state_dict().items()}


def make_inputs(paddle, row, dtype):
    inputs = {}
    for name, array in row.inputs.items():
        array = np.asarray(array)
        if array.dtype.kind == "f":
            inputs[name] = paddle.to_tensor(array.astype(dtype))
            inputs[name].stop_gradient = name in row.constant
        else:
            inputs[name] = paddle.to_tensor(array)
    return inputs


def run(paddle, row, dtype, mode, weights):
    names = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional, "np": np}
    found = {}
    try:
        paddle.set_default_dtype(dtype)
        paddle.seed(7)  # the same weights in every run of the tests
        with paddle.utils.unique_name.guard():
            for line in row.layer.split("; ")[:-1]:
                exec(line, names)
            layer = names["layer"] = eval(row.layer.split("; ")[-1], names)
        found["layer"] = repr(layer)
        (layer.train if mode == "train" else layer.eval)()
        described = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
        found["state"] = {
            key: [value.name, list(value.shape), str(value.dtype).split(".")[-1].lower(), value.stop_gradient]
            for key, value in layer.state_dict().items()
        }
        found["tensors"] = {key: list(value.shape) for key, value in described.items()}
        found["initial"] = state_of(layer)
        if weights:
            layer.set_state_dict(weights)
        if row.call is None:
            return found
        names |= make_inputs(paddle, row, dtype)
        lines = row.call.split("; ")
        for line in lines[:-1]:
            exec(line, names)
        result = eval(lines[-1], names)
        found["result"] = describe(result)
        loss = weighted_sum(paddle, result) if row.backward else None
        if loss is None:
            return found
        loss.backward()
        leaves = [names[name] for name in row.inputs if not names[name].stop_gradient]
        found["input gradients"] = ["list", [["value", None] if t.grad is None else describe(t.grad) for t in leaves]]
        found["gradients"] = {
            key: ["value", None] if p.grad is None else describe(p.grad) for key, p in layer.named_parameters()
        }
        trained = [p for p in layer.parameters() if not p.stop_gradient]
        if not trained:
            return found
        optimizer = paddle.optimizer.SGD(0.01, parameters=trained)
        for _ in range(STEPS):
            optimizer.clear_grad()
            for line in lines[:-1]:
                exec(line, names)
            weighted_sum(paddle, eval(lines[-1], names)).backward()
            optimizer.step()
        found["trained"] = state_of(layer)
    except Exception as error:
        found |= {"error": [kind.__name__ for kind in type(error).__mro__], "text": f"{type(error).__name__}: {error}"[:300]}
    finally:
        paddle.set_default_dtype("float32")
    return found


def main() -> None:
    faulthandler.enable()
    framework, target, *weights = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.set_device("cpu")
    from layer_calls import LAYERS, cases

    paddles = {}
    if weights:
        with open(weights[0], "rb") as file:
            paddles = pickle.load(file)  # noqa: S301  our own file
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, dtype, mode in cases(LAYERS):
            key = number, dtype, mode
            print(dtype, mode, LAYERS[number].layer, LAYERS[number].call, sep="  ", file=sys.stderr, flush=True)  # the last one crashed
            results[key] = run(paddle, LAYERS[number], dtype, mode, paddles.get(key, {}).get("initial"))
    with open(target, "wb") as file:
        pickle.dump(results, file, protocol=4)


if __name__ == "__main__":
    main()
