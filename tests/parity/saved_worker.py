"""Saves the functions and layers of `saved_cases.py` in one framework, or loads what the other has saved, in every way that a file can be used.

    saved_worker.py wherry|paddle RESULT make FOLDER STEP [TABLE...]
    saved_worker.py wherry|paddle RESULT load FOLDER STEP [TABLE...]     each file FOLDER/NUMBER.pdmodel, or .json of Paddle 3
    saved_worker.py wherry RESULT onnx FOLDER STEP [TABLE...]            exports each as ONNX, and runs it in ONNX Runtime

`make` writes down what the calls give eagerly at each size, and whether they were saved; `load` what the files give. `test_saved_files.py` compares.
"""
from __future__ import annotations

import importlib
import linecache
import os
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
from saved_cases import cases
from worker import in_children

ENDINGS = (".pdmodel", ".json")  # with FLAGS_enable_pir_api in the environment programs are Paddle 3's
WAYS = ("jit.load", "predictor", "load_inference_model")


def tensors_in(value):
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_in(item)]
    return [value] if hasattr(value, "stop_gradient") else []


def failed(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if "Error" in line and "Message" not in line and ":" in line), lines[-1] if lines else "")
    return f"{type(error).__name__}: {said}"[:400]


def fed(paddle, feed):
    return [paddle.to_tensor(x) for x in feed.values()]


def built(paddle, case, number):
    """The function or layer; its source has lines, which conversions of Python's control flow read."""
    file = f"<case {number}>"
    linecache.cache[file] = (len(case.source), None, case.source.splitlines(True), file)
    names = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional, "np": np, "__name__": f"case_{number}"}
    exec(compile(case.source, file, "exec"), names)
    if not isinstance(names["made"], type):
        return names["made"]
    paddle.set_default_dtype(case.dtype)
    paddle.seed(7)
    try:
        layer = names["made"]()
    finally:
        paddle.set_default_dtype("float32")
    layer.eval()
    return layer


def arrays(results):
    return [np.asarray(x.astype("float32")) if "bfloat16" in str(x.dtype).lower() else np.asarray(x) for x in results]


def specs_of(paddle, case):
    return [paddle.static.InputSpec(case.sizes(x), str(x.dtype), name) for name, x in case.inputs.items()]


def make(paddle, case, number, folder, zero):
    """The eager results of each size; the file. At size 0 only results: there real Paddle may die."""
    found = {}
    try:
        made = built(paddle, case, number)
    except Exception as error:
        return {"error": failed(error)}
    for what, feed in case.feeds().items():
        if (what == "zero") == zero:
            try:
                found[what] = arrays(tensors_in(made(*fed(paddle, feed))))
            except Exception as error:
                found[what] = failed(error)
    if not zero and any(isinstance(found[what], list) and found[what] for what in found):
        try:
            paddle.jit.save(built(paddle, case, number), f"{folder}/{number}", input_spec=specs_of(paddle, case))
            found["saved"] = True
        except Exception as error:
            paddle.disable_static()
            found["saved"] = failed(error)
    return found


def by_jit(paddle, path):
    layer = paddle.jit.load(path)
    layer.eval()
    return lambda feed: arrays(tensors_in(layer(*fed(paddle, feed))))


def by_predictor(paddle, path):
    program = next(file for ending in ENDINGS if os.path.exists(file := path + ending))
    config = paddle.inference.Config(program, f"{path}.pdiparams")
    config.disable_glog_info()
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)

    def run(feed):
        for name in predictor.get_input_names():
            predictor.get_input_handle(name).copy_from_cpu(feed[name].copy())
        predictor.run()
        return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]

    return run


def by_program(paddle, path):
    scope, executor = paddle.static.Scope(), paddle.static.Executor(paddle.CPUPlace())
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(scope):
            program, names, fetches = paddle.static.load_inference_model(path, executor)
    finally:
        paddle.disable_static()

    def run(feed):
        paddle.enable_static()
        try:
            with paddle.static.scope_guard(scope):
                return [np.asarray(x) for x in executor.run(program, feed={name: feed[name] for name in names}, fetch_list=fetches)]
        finally:
            paddle.disable_static()

    return run


def by_onnx(paddle, case, number, folder):
    """What ONNX Runtime gives; opset 18 has sums in scattering, which older ones lack."""
    import onnxruntime

    file = paddle.onnx.export(built(paddle, case, number), f"{folder}/{number}", input_spec=specs_of(paddle, case), opset_version=18)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    os.unlink(file)
    names = [x.name for x in session.get_inputs()]
    return lambda feed: session.run(None, {name: feed[name] for name in names})


LOADERS = dict(zip(WAYS, (by_jit, by_predictor, by_program), strict=True))


def answers(case, open_file, zero):
    """What a file gives at each size."""
    try:
        run = open_file()
    except Exception as error:
        return {"error": failed(error)}
    found = {}
    for what, feed in case.feeds().items():
        if (what == "zero") == zero:
            try:
                found[what] = run(feed)
            except Exception as error:
                found[what] = failed(error)
    return found


def main() -> None:
    framework, target, what, folder, step, *tables = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.set_device("cpu")
    warnings.simplefilter("ignore")
    every = cases(step, *[tuple(tables)] if tables else [])
    if what == "make":
        items = [(number, zero) for number, case in enumerate(every) for zero in (False, True) if not zero or "zero" in case.feeds()]
        one = lambda item: make(paddle, every[item[0]], item[0], folder, item[1])  # noqa: E731
    elif what == "onnx":
        items = [(number, what, zero) for number, case in enumerate(every) for zero in (False, True) if not zero or "zero" in case.feeds()]
        one = lambda item: answers(every[item[0]], lambda: by_onnx(paddle, every[item[0]], item[0], folder), item[2])  # noqa: E731
    else:
        files = set(os.listdir(folder))
        items = [
            (number, way, zero) for number, case in enumerate(every) if any(f"{number}{ending}" in files for ending in ENDINGS) for way in WAYS
            for zero in (False, True) if (not zero or ("zero" in case.feeds() and way != "predictor"))
            and (way != "predictor" or f"{number}.pdiparams" in files)
        ]  # fmt: skip
        one = lambda item: answers(every[item[0]], lambda: LOADERS[item[1]](paddle, f"{folder}/{item[0]}"), item[2])  # noqa: E731
    in_children(framework, target, items, one, lambda item: f"{item[1:]} {every[item[0]].name}", limit=10)


if __name__ == "__main__":
    main()
