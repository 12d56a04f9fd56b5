"""Builds models of a library, runs them, differentiates and saves them, and writes down what came out.

    python worker.py JOB.json FOLDER

The same file runs under `wherry run` and under real Paddle; it imports nothing but `paddle` and what the job names. Each model has a
process of its own, so that one which crashes or hangs ends itself alone.
"""
# It runs under real Paddle too, whose types nobody knows.
# mypy: allow-untyped-defs, allow-untyped-calls, ignore-errors
from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import random
import re
import signal
import sys
import traceback
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np

NOISE = 1e-6
paddle = None  # Wherry or real Paddle: `main` imports it


def flat(value):
    """The floating tensors of a result, one after the other."""
    if isinstance(value, paddle.Tensor):
        return [value] if value.dtype in (paddle.float32, paddle.float64, paddle.float16, paddle.bfloat16) else []
    if isinstance(value, dict):
        return [x for key in sorted(value, key=str) for x in flat(value[key])]
    if isinstance(value, (list, tuple)):
        return [x for each in value for x in flat(each)]
    return []


def tensor_of(text, seed):
    """A tensor from a text such as "float32[2, 3, 64, 64]" or "int64[2, 16] < 100"."""
    dtype, shape, end = re.fullmatch(r"(\w+)\[([\d, ]*)\](?: ?< ?(\d+))?", text).groups()
    sizes, draws = [int(n) for n in shape.split(",") if n.strip()], np.random.default_rng(seed)
    if dtype.startswith(("int", "uint")):
        return paddle.to_tensor(draws.integers(0, int(end or 2), sizes).astype(dtype))
    if dtype == "bool":
        return paddle.to_tensor(draws.random(sizes) < 0.8)
    return paddle.to_tensor(draws.standard_normal(sizes).astype(dtype))


def discovered(places):
    """Names and expressions of the layers that the modules make without arguments: classes, and functions that give one."""
    found = {}
    for place in places:
        module = importlib.import_module(place)
        for name in getattr(module, "__all__", None) or sorted(n for n in dir(module) if not n.startswith("_")):
            made = getattr(module, name, None)
            if not callable(made) or not str(getattr(made, "__module__", "")).startswith(place.split(".")[0]):
                continue
            if inspect.isclass(made) and not issubclass(made, paddle.nn.Layer):
                continue
            with contextlib.suppress(TypeError, ValueError):
                parameters = inspect.signature(made).parameters.values()
                if not any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
                    found[name] = f"{name}()"
    return found


def attempt(stages, stage, function):
    """Note what a stage gave, or why it ended; gives whether it went well."""
    try:
        stages[stage] = function()
        return True
    except Exception as error:
        lines = traceback.extract_tb(error.__traceback__)
        where = next((f"{Path(line.filename).name}:{line.lineno}" for line in reversed(lines) if "site-packages" in line.filename), "")
        stages[stage] = {"error": f"{type(error).__name__}: {str(error).strip()[:400]}", "where": where}
        return False


def tried(model, names, folder, stem):
    """All stages of one model, as plain data; arrays go into files."""
    stages, arrays = {}, {}
    inputs = [tensor_of(text, i) for i, text in enumerate(model["inputs"])]
    scope = {**names, "paddle": paddle, "inputs": inputs, "np": np}

    def build():
        paddle.seed(7)
        np.random.seed(7)  # noqa: NPY002  libraries draw from it
        random.seed(7)
        exec(model.get("before", ""), scope)
        built = eval(model["build"], scope)
        if not isinstance(built, paddle.nn.Layer):
            raise TypeError(f"{model['build']} gives {type(built).__name__}, expected a Layer")
        scope["model"] = built
        built.eval()
        weights = folder / f"{stem}.pdparams"
        if model["weights"] == "write":
            paddle.save(built.state_dict(), str(weights))
        elif weights.exists():
            built.set_state_dict(paddle.load(str(weights)))
        return {"parameters": int(sum(np.prod(p.shape) for p in built.parameters()))}

    def call():
        np.random.seed(8)  # noqa: NPY002
        return eval(model.get("call", "model(*inputs)"), scope)

    def forward():
        outs = flat(call())
        arrays.update({f"forward{i}": out.astype("float32").numpy() for i, out in enumerate(outs)})
        return {"outputs": len(outs)}

    def found_gradients():
        loss = 0
        for i, out in enumerate(flat(call())):
            weight = np.cos(np.arange(int(np.prod(out.shape))) + i).reshape(out.shape).astype("float32")
            loss = loss + (out.astype("float32") * paddle.to_tensor(weight)).mean()
        loss.backward()
        return {name: p.grad.astype("float32").numpy() for name, p in scope["model"].named_parameters() if p.grad is not None}

    def gradients():
        found, moved = found_gradients(), 0.0
        arrays.update({f"gradient {name}": grad for name, grad in found.items()})
        if model["framework"] == "paddle":  # how far its own gradients move with the last bits of the inputs
            draws, given = np.random.default_rng(1), list(inputs)
            for i, x in enumerate(given):
                if x.dtype in (paddle.float32, paddle.float64):
                    noise = 1 + NOISE * draws.standard_normal(x.shape)
                    inputs[i] = paddle.to_tensor((x.numpy() * noise).astype(str(x.dtype).split(".")[-1]))
            scope["model"].clear_gradients()
            again = found_gradients()
            scale = max((float(np.abs(grad).max(initial=0)) for grad in found.values()), default=0.0)
            moved = max((float(np.abs(again[name] - grad).max(initial=0)) for name, grad in found.items()), default=0.0) / max(scale, 1e-6)
            inputs[:] = given
        return {"gradients": len(found), "moved": moved}

    def saved():
        path = str(folder / f"{stem}-{os.getpid()}" / "model")
        specs = [paddle.static.InputSpec([None, *x.shape[1:]], str(x.dtype).split(".")[-1]) for x in inputs]
        if model.get("fixed"):
            specs = [paddle.static.InputSpec.from_tensor(x) for x in inputs]
        with paddle.no_grad():
            expected = flat(scope["model"](*inputs))
            paddle.jit.save(paddle.jit.to_static(scope["model"], input_spec=specs), path)
            outs = flat(paddle.jit.load(path)(*inputs))
        if len(outs) != len(expected):
            raise ValueError(f"{len(outs)} outputs after loading, {len(expected)} before")
        apart = 0.0
        for out, want in zip(outs, expected):
            apart = max(apart, float(np.abs(out.numpy() - want.numpy()).max(initial=0) / max(np.abs(want.numpy()).max(initial=0), 1e-6)))
        return {"apart": apart}

    if attempt(stages, "builds", build) and attempt(stages, "forward", forward):
        attempt(stages, "gradients", gradients)
        if "call" not in model:
            attempt(stages, "saved", saved)
    np.savez(folder / f"{stem}-{model['framework']}.npz", **arrays)
    return stages


def main():
    global paddle
    paddle = importlib.import_module("paddle")
    job, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    warnings.simplefilter("ignore")
    sys.path += job["path"]
    for place in reversed(job["first"]):  # folders that a library puts on the path itself
        found = importlib.util.find_spec(place.split("/")[0])
        if found is not None and found.submodule_search_locations:
            sys.path.insert(0, str(Path(found.submodule_search_locations[0], *place.split("/")[1:])))
    result, names = {"models": {}}, {}
    try:
        for place in job["imports"]:
            module = importlib.import_module(place)
            names.update({name: getattr(module, name) for name in dir(module) if not name.startswith("__")})
            names[place.split(".")[0]] = importlib.import_module(place.split(".")[0])
        models = {**{name: {"build": build, "inputs": job["inputs"]} for name, build in discovered(job["discover"]).items()}, **job["models"]}
    except BaseException as error:
        lines = [line for line in traceback.extract_tb(error.__traceback__) if "site-packages" in line.filename]
        where = f" ({Path(lines[-1].filename).name}:{lines[-1].lineno})" if lines else ""
        result["error"] = f"{type(error).__name__}: {str(error).strip()[:400]}{where}"
        models = {}
    for i, (name, model) in enumerate(models.items()):
        if job["only"] and not any(re.search(pattern, name) for pattern in job["only"]):
            continue
        model = {**model, "framework": job["framework"], "weights": job["weights"]}
        note = folder / f"note-{os.getpid()}-{i}.json"
        child = os.fork()
        if not child:
            os.setsid()
            signal.alarm(job["limit"])
            if not job["verbose"]:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
            with contextlib.suppress(BaseException):
                note.write_text(json.dumps(tried(model, names, folder, re.sub(r"\W", "_", name))))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if note.exists() and note.stat().st_size:
            result["models"][name] = json.loads(note.read_text())
            note.unlink()
        else:
            number = status & 0x7F
            why = f"no answer within {job['limit']} s" if number == signal.SIGALRM else f"the process died of signal {number}"
            result["models"][name] = {"builds": {"error": why, "where": ""}}
    (folder / f"result-{job['framework']}.json").write_text(json.dumps(result))
    os._exit(0)  # threads of frameworks may hang at exit


if __name__ == "__main__":
    main()
