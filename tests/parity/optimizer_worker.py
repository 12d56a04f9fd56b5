"""Runs every optimizer and scheduler of `optimizer_calls.py` in one framework and writes down what came out.

    python optimizer_worker.py wherry|paddle RESULT.pickle
"""
from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np

STEPS, RATES = 10, 30


def network(paddle, sparse, width):
    nn = paddle.nn

    class Net(nn.Layer):
        """An embedding whose rows are not all used, two layers, one that gets no gradient, one that is frozen."""

        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(6, 4, sparse=sparse)
            self.first, self.second = nn.Linear(4, width), nn.Linear(width, 3)
            self.unused, self.frozen = nn.Linear(2, 2), nn.Linear(3, 3)
            for parameter in self.frozen.parameters():
                parameter.stop_gradient = True

        def forward(self, ids):
            return self.frozen(self.second(paddle.tanh(self.first(self.table(ids)))))

    net = Net()
    rng = np.random.default_rng(0)
    for parameter in net.parameters():
        scale = 0.5 if width not in parameter.shape[:1] else 0.5 * (5 / width) ** 0.5
        parameter.set_value((rng.standard_normal(parameter.shape) * scale).astype(str(parameter.dtype).split(".")[-1].replace("FP", "float")))
    return net


def plain(value):
    """A state dictionary as plain data."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "numpy"):
        return ["tensor", str(value.dtype).split(".")[-1].lower(), list(value.shape), value.numpy()]
    return value


def train(paddle, row, dtype):
    names = {"paddle": paddle, "nn": paddle.nn, "optimizer": paddle.optimizer, "lr": paddle.optimizer.lr, "np": np}
    try:
        paddle.set_default_dtype(dtype)
        with paddle.utils.unique_name.guard():
            names["net"] = net = network(paddle, row.sparse, row.width)
            names["parameters"] = net.parameters()
            exec(row.before, names)
            update = eval(row.how, names)
            ids = paddle.to_tensor(np.array([0, 1, 2, 1, 4]))
            target = paddle.to_tensor(np.linspace(-1, 1, 15).reshape(5, 3).astype(dtype))
            found = {"losses": [], "rates": []}
            for step in range(STEPS):
                loss = ((net(ids if step % 3 else ids[:3]) - (target if step % 3 else target[:3])) ** 2).mean()
                loss.backward()
                found["losses"].append(float(loss))
                found["rates"].append(float(update.get_lr()))
                update.step()
                update.clear_grad()
                if "rate" in names and hasattr(names["rate"], "step"):
                    names["rate"].step()
            found["state"] = {key: plain(value) for key, value in update.state_dict().items()}
            found["parameters"] = {name: plain(p) for name, p in net.named_parameters()}
            return found
    except Exception as error:
        return {"error": [kind.__name__ for kind in type(error).__mro__], "text": f"{type(error).__name__}: {error}"[:300]}
    finally:
        paddle.set_default_dtype("float32")


def schedule(paddle, row):
    names = {"paddle": paddle, "lr": paddle.optimizer.lr, "np": np}
    try:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            names["s"] = scheduler = eval(row.how, names)
            rates = [(float(scheduler.last_lr), float(scheduler()), scheduler.last_epoch)]
            for i in range(RATES):
                names["i"] = i
                exec(row.step, names)
                rates.append((float(scheduler.last_lr), float(scheduler()), scheduler.last_epoch))
        return {"rates": rates, "state": plain(scheduler.state_dict()), "said": said.getvalue()}
    except Exception as error:
        return {"error": [kind.__name__ for kind in type(error).__mro__], "text": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    faulthandler.enable()
    framework, target = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.set_device("cpu")
    from optimizer_calls import OPTIMIZERS, SCHEDULERS

    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, row in enumerate(OPTIMIZERS):
            for dtype in row.dtypes:
                print(dtype, row.how, row.before, file=sys.stderr, flush=True)  # the last one crashed
                results["optimizer", number, dtype] = train(paddle, row, dtype)
        for number, row in enumerate(SCHEDULERS):
            print(row.how, row.step, file=sys.stderr, flush=True)
            results["scheduler", number] = schedule(paddle, row)
    with open(target, "wb") as file:
        pickle.dump(results, file, protocol=4)


if __name__ == "__main__":
    main()
