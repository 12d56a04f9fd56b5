"""Writes files of many kinds of objects, or tells what is in them; trains on from a checkpoint. Run by either framework:

    file_program.py save FOLDER
    file_program.py load FOLDER
    file_program.py train FOLDER        writes a checkpoint after three steps
    file_program.py resume FOLDER       and trains on from it

Each prints `RESULT` and a JSON object. `test_files.py` compares.
"""
import collections
import json
import os
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle

PROTOCOLS = (2, 3, 4)
DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def named(values, name):
    x = paddle.to_tensor(values)
    x.name = name
    return x


def objects():
    pair = named(np.array([1.0, 2.0], "float32"), "pair")
    weight = named(np.arange(6, dtype="float32").reshape(2, 3), "linear_0.w_0")
    yield "state", collections.OrderedDict(weight=weight, bias=pair)
    yield "optimizer", {"linear_0.w_0_moment1_0": weight, "LR_Scheduler": {"last_epoch": 0, "last_lr": 0.1, "best": None}}
    yield "checkpoint", {"model": collections.OrderedDict(weight=weight, bias=pair), "epoch": 3, "history": [1.0, 2.0]}
    yield "nested", [pair, {"a": weight, "b": (1, "x", None, 2.5, {3})}, True, -5, 70000, 2**40, -(2**70), "é" * 300]
    yield "mixed", {"tensor": pair, "array": np.arange(3), "number": 3}
    yield "arrays", {"a": np.arange(3), "b": [np.float32(2), np.int64(3)], "f": np.asfortranarray(np.arange(6.0).reshape(2, 3))}
    yield "pair", ("name", np.ones(2))
    yield "containers", [slice(1, 2), 1j, (1, 2, 3, 4), ((),), {1, 2}, {"q": {}}, [], list(range(2500))]
    yield "large", {"x": named(np.arange(200000, dtype="float32").reshape(2, -1), "x"), "y": pair}
    yield "zero", named(np.float32(3.5), "zero")
    yield "empty", named(np.zeros((0, 3), "float32"), "empty")
    yield "none", None
    for dtype in DTYPES:
        x = pair.astype(dtype)
        x.name = dtype
        yield f"one_{dtype}", x
        yield f"state_{dtype}", {"x": x}


def described(x):
    if isinstance(x, paddle.Tensor):
        values = x.astype("float32").numpy()
        kept = values.tolist() if values.size < 20 else values.ravel()[::9999].tolist()
        name = "" if x.name.startswith(("generated_tensor", "eager_tmp")) else x.name
        return ["tensor", name, str(x.dtype).rpartition(".")[2], x.shape, kept]
    if isinstance(x, np.ndarray):
        return ["array", str(x.dtype), list(x.shape), repr(x.ravel()[::9999].tolist() if x.size > 20 else x.tolist())]
    if isinstance(x, np.generic):
        return [type(x).__name__, repr(x.item())]
    if isinstance(x, dict):
        return [type(x).__name__, [[repr(key), described(value)] for key, value in x.items()]]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [described(value) for value in x]]
    return repr(x)


def save(folder):
    for name, value in objects():
        for protocol in PROTOCOLS:
            paddle.save(value, f"{folder}/{name}.{protocol}", protocol=protocol)
        if name.startswith("one_"):
            paddle.save(value, f"{folder}/{name}.binary", use_binary_format=True)
    return sorted(os.listdir(folder))


def load(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        for options in ({}, {"return_numpy": True}, {"keep_name_table": True}):
            if not options or not name.endswith(".binary"):
                found[f"{name} {options}"] = described(paddle.load(f"{folder}/{name}", **options))
    return found


def trained(folder, resumed):
    model = paddle.vision.models.LeNet()
    scheduler = paddle.optimizer.lr.StepDecay(0.001, 2)
    optimizer = paddle.optimizer.Adam(scheduler, parameters=model.parameters(), weight_decay=0.01)
    rng = np.random.RandomState(0)
    images, labels = rng.rand(6, 8, 1, 28, 28).astype("float32"), rng.randint(0, 10, (6, 8))

    def step(i):
        loss = paddle.nn.functional.cross_entropy(model(paddle.to_tensor(images[i])), paddle.to_tensor(labels[i]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        scheduler.step()
        return float(loss)

    if resumed:
        found = paddle.load(f"{folder}/checkpoint")
        model.set_state_dict(found["model"])
        optimizer.set_state_dict(found["optimizer"])
    else:
        for i in range(3):
            step(i)
        paddle.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, f"{folder}/checkpoint")
    return [step(i) for i in range(3, 6)] + [optimizer.get_lr()]


if __name__ == "__main__":
    what, folder = sys.argv[1:]
    if what in ("save", "load"):
        result = save(folder) if what == "save" else load(folder)
    else:
        result = trained(folder, what == "resume")
    print("RESULT", json.dumps(result))
