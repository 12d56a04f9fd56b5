"""Commands that work on files: `wherry graph`, `inspect`, `convert`, `export-web` and `predict` on saved programs, `wherry trace`."""
from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

__all__ = ["COMMANDS", "add_commands"]


def add_commands(commands: Any) -> None:
    """Add the commands to the parser."""
    graph = commands.add_parser(
        "graph", help="a saved program as text or as a picture",
        description="Print a program of Wherry or Paddle (.pdmodel), or draw it: wherry graph lenet.pdmodel -o lenet.svg",
    )
    graph.add_argument("model", help="the program, .pdmodel, .json (of Paddle 3), .onnx or .pt2; parameters are not needed")
    graph.add_argument("-o", "--output", metavar="FILE", help="an .svg file to draw it into; without it the program is printed")

    inspect = commands.add_parser(
        "inspect", help="what a file of a model or of weights holds",
        description="Say what a file holds: inputs, outputs, operators, parameters, and what of it is not supported: wherry inspect lenet.onnx",
    )
    inspect.add_argument("file", help="a program (.pdmodel, .json of Paddle 3, .onnx, .pt2, a folder of Paddle 1) or weights (.pdparams, .pth, ...)")
    inspect.add_argument("--json", action="store_true", help="all of it as JSON")
    inspect.add_argument("-o", "--output", metavar="FILE", help="an .svg file to draw the program into")

    convert = commands.add_parser(
        "convert", help="a saved program in another format",
        description="Write a program of Wherry, Paddle or ONNX in another of these formats: wherry convert lenet.pdmodel lenet.onnx",
    )
    convert.add_argument("model", help="the program, .pdmodel or .json (of Paddle 3) with its .pdiparams beside it, .onnx or .pt2")
    convert.add_argument("output", help="the file to write: .onnx, .pdmodel or .json (of Paddle 3)")
    convert.add_argument("--params", metavar="FILE", help="the parameters, where they have another name")
    convert.add_argument("--output-params", metavar="FILE", help="where its parameters go (default: beside it, .pdiparams, which both formats share)")
    convert.add_argument("--opset", type=int, default=13, help="of ONNX's operators, 11 to 19 (default: 13)")

    web = commands.add_parser(
        "export-web", help="a saved program as a page that any file server hosts",
        description="Write a folder in which a program answers in browsers, without Python: wherry export-web lenet.pdmodel site",
    )
    web.add_argument("model", help="the program, .pdmodel, with its .pdiparams beside it")
    web.add_argument("folder", help="where it goes: a new or empty folder, or one of an earlier export")
    web.add_argument("--title", help="of the page (default: the name of the file)")
    web.add_argument("--labels", metavar="FILE", help="names of the classes, one in each line")
    web.add_argument("--precision", choices=("float32", "float16", "int8"), default="float32", help="of the stored weights (default: float32)")
    web.add_argument("--compute", choices=("float32", "int8"), help="with --precision int8 (default: int8)")
    web.add_argument("--mean", type=float, nargs="+", metavar="M", help="of each channel: pictures become (value / 255 - mean) / std")
    web.add_argument("--std", type=float, nargs="+", metavar="S", help="of each channel")
    web.add_argument("--invert", action="store_true", help="the network learned light ink on dark")
    web.add_argument(
        "--example", metavar="FILE", action="append", default=[],
        help="a .npy file for each input, in order: checked, measured and shown first (default: made-up numbers)",
    )

    web.add_argument("--engine", choices=("predict", "train"), default="predict", help="train: the model also trains in the page (default: predict)")
    web.add_argument("--wheels", metavar="DIR", help="for --engine train: the wheels for the browser (default: wheelhouse/wasm)")
    web.add_argument("--pyodide", metavar="DIR", help="for --engine train: the npm package pyodide, unpacked (default: .cache/wasm/pyodide)")
    web.add_argument("--single-file", action="store_true", help="one HTML file, lenet.html say, in place of the folder")

    predict = commands.add_parser(
        "predict", help="what a saved program answers, and how fast",
        description="Run a saved program: wherry predict lenet.pdmodel --input x.npy --repeat 100",
    )
    predict.add_argument("model", help="the program, .pdmodel, with its .pdiparams beside it")
    predict.add_argument("--params", metavar="FILE", help="the parameters, where they have another name")
    predict.add_argument(
        "--input", metavar="[NAME=]FILE", action="append", default=[],
        help="a .npy file for an input, by name or in order; random numbers stand in for those that are not given (sizes left open: 1)",
    )
    predict.add_argument("--output", metavar="FILE", help="an .npz file for the answers")
    predict.add_argument("--repeat", type=int, default=1, metavar="N", help="run so often, and say how long it took")
    predict.add_argument("--threads", type=int, metavar="N", help="how many threads kernels use (default: all cores)")
    predict.add_argument("--profile", action="store_true", help="say where the time went, op by op")

    trace = commands.add_parser(
        "trace", help="a profiler's trace as a page to look at",
        description="Make one page of HTML of a trace that wherry.profiler wrote: wherry trace run.paddle_trace.json",
    )
    trace.add_argument("trace", help="the trace, .json or .pb")
    trace.add_argument("-o", "--output", metavar="FILE", help="where the page goes (default: beside the trace, .html)")


def draw(chosen: argparse.Namespace) -> int:
    """`wherry graph`."""
    from wherry._inspect import program_of

    if chosen.output is None:
        print(program_of(chosen.model))
        return 0
    print(f"{chosen.output}: {_drawn(chosen.model, chosen.output)} ops")
    return 0


def _drawn(model: str, output: str) -> int:
    """Draw the program of a file; gives the number of its ops."""
    from wherry._inspect import program_of
    from wherry_program.program.picture import to_svg

    if not output.endswith(".svg"):
        raise ValueError(f"pictures are SVG files. Got {output}, expected a name that ends in .svg. Choose such a name.")
    program = program_of(model)
    _write(output, to_svg(program, os.path.splitext(os.path.basename(model))[0]).encode())
    return len(program.nodes)


def inspect(chosen: argparse.Namespace) -> int:
    """`wherry inspect`."""
    from wherry._inspect import as_json, as_text, inspected

    found = inspected(chosen.file)
    if chosen.output is not None:
        _drawn(found["file"], chosen.output)
    print(as_json(found) if chosen.json else as_text(found))
    return 0


def convert(chosen: argparse.Namespace) -> int:
    """`wherry convert`."""
    from wherry_paddle_files.models import save_model, save_program_beside

    stem, ending = os.path.splitext(chosen.output)
    if ending in (".pdmodel", ".json"):
        params = chosen.output_params or f"{stem}.pdiparams"
        shared = os.path.realpath(params) == os.path.realpath(_files(chosen)[1])
        program = _loaded(chosen)
        if not shared:
            save_model(stem, program, model_path=chosen.output, params_path=params, for_prediction=True)
        elif not save_program_beside(chosen.output, program, params):
            raise ValueError(
                f"both models would have one file of parameters, and it does not hold what the new one needs. Got {chosen.output} beside "
                f"{chosen.model}, expected parameters of its own. Choose another name or folder, or pass --output-params {stem}-converted.pdiparams."
            )
        print(f"{chosen.output}: {len(program.nodes)} ops" + (f", parameters in {params} as before" if shared else ""))
        return 0
    if ending != ".onnx":
        raise ValueError(f"models are written as .onnx, .pdmodel or .json. Got {chosen.output}, expected a name that ends so. Choose such a name.")
    from wherry_export.onnx import to_model

    model = to_model(_loaded(chosen), opset=chosen.opset, name=os.path.splitext(os.path.basename(chosen.model))[0])
    data = model.SerializeToString()
    _write(chosen.output, data)
    print(f"{chosen.output}: opset {chosen.opset}, {len(model.graph.node)} nodes, {len(data) / 2**20:.2f} MiB")
    return 0


def export_web(chosen: argparse.Namespace) -> int:
    """`wherry export-web`."""
    import numpy as np

    from wherry_export.web import export

    labels = None
    if chosen.labels is not None:
        with open(chosen.labels, encoding="utf-8") as file:
            labels = file.read().splitlines()
    preprocess = {name: value for name in ("mean", "std") if (value := getattr(chosen, name)) is not None}
    if chosen.invert:
        preprocess["invert"] = True
    examples = [np.load(path, allow_pickle=False) for path in chosen.example]
    print(export(
        chosen.model, chosen.folder, title=chosen.title, labels=labels, preprocess=preprocess or None, precision=chosen.precision,
        example=examples or None, engine=chosen.engine, wheels=chosen.wheels, pyodide=chosen.pyodide,
        compute=chosen.compute, single_file=chosen.single_file,
    ))
    return 0


def predict(chosen: argparse.Namespace) -> int:
    """`wherry predict`."""
    import numpy as np

    from wherry_infer import Config, create_predictor

    if chosen.repeat < 1:
        raise ValueError(f"--repeat: got {chosen.repeat}, expected at least 1. Leave it out for one run.")
    config = Config(*_files(chosen))
    if chosen.threads is not None:
        config.set_cpu_math_library_num_threads(chosen.threads)
    predictor = create_predictor(config)
    names = predictor.get_input_names()
    given = _inputs(chosen.input, names)
    for name in names:
        handle = predictor.get_input_handle(name)
        handle.copy_from_cpu(given[name] if name in given else _random(np, handle))
    begun = time.perf_counter()
    predictor.run()
    first = time.perf_counter() - begun
    answers: dict[str, Any] = {}
    for name in predictor.get_output_names():
        answers[name] = predictor.get_output_handle(name).copy_to_cpu()
        print(_described(np, name, answers[name]))
    if chosen.repeat > 1:
        times = []
        for _ in range(chosen.repeat):
            begun = time.perf_counter()
            predictor.run()
            times.append(time.perf_counter() - begun)
        times.sort()
        p50, p99 = (times[min(len(times) - 1, int(len(times) * q))] for q in (0.5, 0.99))
        print(f"latency of {chosen.repeat} runs: p50 {p50 * 1e3:.3f} ms, p99 {p99 * 1e3:.3f} ms (first {first * 1e3:.3f} ms)")
    if chosen.profile:
        config.enable_profile()
        profiled = create_predictor(config)
        for name in names:
            profiled.get_input_handle(name).share_external_data(predictor.get_input_handle(name).copy_to_cpu())
        for _ in range(max(1, min(chosen.repeat, 100))):
            profiled.run()  # its table is printed when it goes
        del profiled
    if chosen.output is not None:
        if not chosen.output.endswith(".npz"):
            raise ValueError(f"--output: answers are written as .npz. Got {chosen.output}, expected a name that ends in .npz.")
        np.savez(chosen.output, **answers)
    return 0


def trace(chosen: argparse.Namespace) -> int:
    """`wherry trace`."""
    from wherry_train.profiler import load_profiler_result
    from wherry_train.profiler.page import as_page

    name = os.path.basename(chosen.trace)
    result = load_profiler_result(chosen.trace)
    output = chosen.output or os.path.splitext(chosen.trace)[0] + ".html"
    _write(output, as_page(result, name).encode())
    print(f"{output}: {len(result.events)} events. Open it in a browser.")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "graph": draw, "inspect": inspect, "convert": convert, "export-web": export_web, "predict": predict, "trace": trace,
}


def run(chosen: argparse.Namespace) -> int:
    """Run one of the commands; what goes wrong is one line on the screen, and status 1."""
    try:
        return COMMANDS[chosen.command](chosen)
    except BrokenPipeError:
        raise  # nobody reads any more: the caller knows what to do
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        print(f"wherry {chosen.command}: {error}", file=sys.stderr)
        return 1


def _files(chosen: argparse.Namespace) -> tuple[str, str]:
    """The program's file, and that of its parameters."""
    stem = chosen.model.removesuffix(".pdmodel").removesuffix(".json")
    return chosen.model if os.path.exists(chosen.model) else f"{stem}.pdmodel", chosen.params or f"{stem}.pdiparams"


def _loaded(chosen: argparse.Namespace) -> Any:
    from wherry._inspect import check_format, program_of

    check_format(_files(chosen)[0])
    if chosen.model.endswith((".onnx", ".pt2")):
        return program_of(chosen.model)
    from wherry_paddle_files.models import load_model
    from wherry_paddle_files.sequences import feed_offsets

    model, params = _files(chosen)
    program = load_model("", model_path=model, params_path=params)
    feed_offsets(program)  # of sequences: inputs as others, of integers
    return program


def _inputs(options: list[str], names: list[str]) -> dict[str, Any]:
    import numpy as np

    given: dict[str, Any] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals:
            free = [n for n in names if n not in given]
            if not free:
                raise ValueError(f"--input: there are more files than inputs. Got {option}, expected files for {names}.")
            name, path = free[0], option
        if name not in names:
            raise ValueError(f"--input: the program has no such input. Got {name}, expected one of {names}.")
        given[name] = np.load(path, allow_pickle=False)
    return given


def _random(np: Any, handle: Any) -> Any:
    shape = [1 if n < 0 else n for n in handle.shape()]
    rng = np.random.default_rng(0)
    dtype = np.dtype(handle._dtype)
    return rng.standard_normal(shape).astype(dtype) if dtype.kind == "f" else np.zeros(shape, dtype)


def _described(np: Any, name: str, value: Any) -> str:
    text = f"{name}: {list(value.shape)} {value.dtype}"
    if not value.size:
        return text
    if value.ndim and value.dtype.kind == "f" and 1 < value.shape[-1] <= 100_000:
        rows = value.reshape(-1, value.shape[-1])
        for row in rows[:4]:
            best = np.argsort(-row)[:5]
            text += "\n  largest: " + ", ".join(f"[{i}] {row[i]:.5g}" for i in best)
        if len(rows) > 4:
            text += f"\n  and {len(rows) - 4} more rows"
        return text
    return f"{text}\n  {np.array2string(value.ravel()[:8], precision=5)}"


def _write(path: str, data: bytes) -> None:
    """All of a file or nothing."""
    from wherry_train.atomic_files import replace_files

    replace_files([(path, lambda file: file.write(data))])
