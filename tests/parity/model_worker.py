"""Programs in Paddle's format, made and run by real Paddle.

    model_worker.py make RESULT START TABLE...  the calls of tables, as programs with inputs and results; TABLE/4 takes every fourth
    model_worker.py run RESULT START CASES      runs programs that wherry wrote

Both begin with number START and add two pickles to RESULT for each: the number, then what came out. A program that takes down the
process, or does not come back, leaves its number alone; `test_models.py` goes on behind it.
"""
import importlib
import os
import pickle
import signal
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle

PATIENCE = 20  # seconds for one program


def each(target, start, items, outcome):
    """Write down what comes out of each item."""
    with open(target, "ab") as out:
        for number, item in enumerate(items):
            if number >= start:
                pickle.dump(number, out)
                out.flush()
                signal.alarm(PATIENCE)
                found = outcome(item)
                signal.alarm(0)
                pickle.dump(found, out, protocol=4)


def made(item):
    name, call = item
    try:
        return name, *program_of(call)
    except Exception as error:  # what a static graph cannot do is not a program
        return name, str(error)[:200]


def operator(kind, inputs, attrs, *outputs):
    """An operator that no function calls; outputs are slots with dtypes, "Index int32"."""
    helper = paddle.base.layer_helper.LayerHelper(kind)
    found = {slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in map(str.split, outputs)}
    helper.append_op(type=kind, inputs=inputs, attrs=attrs, outputs=found)
    return list(found.values())


def program_of(call):
    dtype = next((dtype for dtype in ("float32", *call.dtypes) if dtype in call.dtypes and dtype != "as given"), None)
    main, startup = paddle.static.Program(), paddle.static.Program()
    names = {"paddle": paddle, "np": np, "F": paddle.nn.functional, "operator": operator}
    feed = {}
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, array in call.inputs.items():
            array = np.asarray(array)
            if array.dtype == np.float64 and dtype:
                array = array.astype(dtype)
            names[name] = paddle.static.data(name, list(array.shape), str(array.dtype))
            feed[name] = array
        lines = call.expression.split("; ")
        for line in lines[:-1]:
            exec(line, names)
        result = eval(lines[-1], names)
        results = [x for x in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(x, paddle.static.Variable)]
        if not results or any(n == 0 for array in feed.values() for n in array.shape):
            raise ValueError("nothing to compare")
        given = {name for op in main.global_block().ops for name in op.input_arg_names} | {x.name for x in results}
        used = [names[name] for name in feed if name in given]
        data = paddle.static.serialize_program(used, results, program=main)
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(startup)
        params = paddle.static.serialize_persistables(used, results, executor, program=main)
        values = executor.run(main, feed=feed, fetch_list=results)
    return data, params, {x.name: feed[x.name] for x in used}, [plain(np.asarray(value)) for value in values]


def plain(array):
    """bfloat16, which Paddle gives to NumPy as bits, as numbers."""
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def ran(executor, case):
    data, feed, expected, random = case
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            program, _, fetches = paddle.static.load_inference_model(None, executor, model_filename=data, params_filename=b"")
            found = executor.run(program, feed=feed, fetch_list=fetches)
        return "; ".join(filter(None, (differs(np.asarray(a), b, random) for a, b in zip(found, expected, strict=True)))) or "same"
    except Exception as error:
        text = str(error)
        return "no kernel" if "There are no kernels" in text else f"{type(error).__name__}: {text[-400:]}"


def differs(found, expected, random):
    found = plain(found)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"got {found.dtype}{list(found.shape)}, wherry has {expected.dtype}{list(expected.shape)}"
    if not random and not np.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
        return f"got {found.ravel()[:6]}, wherry has {expected.ravel()[:6]}"
    return ""


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    paddle.enable_static()
    what, target, start = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "make":
        tables = [table.partition("/") for table in sys.argv[4:]]
        calls = [(name, i, call) for name, _, step in tables for i, call in enumerate(importlib.import_module(name).CALLS) if i % int(step or 1) == 0]
        each(target, start, [(f"{table}[{i}] {call.expression}", call) for table, i, call in calls], made)
    else:
        with open(sys.argv[4], "rb") as file:
            cases = pickle.load(file)  # noqa: S301  our own file
        each(target, start, cases, lambda case: ran(paddle.static.Executor(paddle.CPUPlace()), case))
