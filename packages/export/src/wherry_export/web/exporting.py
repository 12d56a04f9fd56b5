"""`export`: from a layer or a saved program to a folder that runs in browsers."""
from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import wherry_tensor as api
from wherry_export.web.calibration import calibrated, is_rounding
from wherry_export.web.checking import TOLERANCE, TOLERANCE_OF_INT8, Checked, check
from wherry_export.web.engine_files import built
from wherry_export.web.int8 import int8_weights, quantized_inputs
from wherry_export.web.optional import needed
from wherry_export.web.program import Description, for_pages
from wherry_export.web.single import filled, is_single, page, template
from wherry_export.web.wasm import custom_section
from wherry_export.web.weights import PRECISIONS, Stored, bytes_of, stored
from wherry_export.web.wheels import found
from wherry_nn import Layer
from wherry_paddle_files.models import load_model
from wherry_paddle_files.sequences import feed_offsets
from wherry_program.program.ir import Program, Variable
from wherry_program.run.executor import compiled
from wherry_tensor import _core
from wherry_tensor._core import DType, Tensor
from wherry_tensor.arguments import path_of
from wherry_tensor.errors import short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["Exported", "export"]

HERE = Path(__file__).parent
SCRIPTS = ("wherry.js", "core.js", "worker.js", "digest.js", "pool.js", "thread.js", "training.js")
ENGINES = ("predict", "train")
POLICY = "; ".join((
    "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
))
MARK = "manifest.json"
FORMAT = 3  # version of the manifest, which wherry.js checks
PROGRAM = "wherry.program"  # the custom section of the module with the digest of its program
SUFFIXES = (".pdmodel", ".pdiparams", ".pdiparams.info")
LARGE = 1 << 20  # bytes
SAMPLES, SAMPLE = 32, 1 << 14  # pieces of a large file, and their bytes, from which it is told how much smaller it gets
LONG = 48 << 20  # bytes of weights from which on an export says what it does, and what its size means
NO_TITLES = {"TranslatedLayer", "Sequential", "LayerList", "Layer", "Model", "Net", "Network", "forward", "<lambda>", "model", "inference"}
NO_FOLDERS = {"site", "web", "page", "pages", "build", "dist", "public", "docs", "out", "output", "export", "bundle", "www", "html"}
OPEN_SIDE = 96  # the same for a side of a picture
OPEN = 2  # stands for a size that is open, where an example is made up: two of a batch


class Exported:
    """The result of `export`.

    Attributes:
        folder: the folder; with `single_file` the path of the file.
        files: bytes of each file by its name in the folder.
        compressed: bytes of the files before the first prediction, as a server sends them compressed (with brotli where that package is
            installed, else gzip); of large files told from pieces of them.
        compression: "brotli" or "gzip".
        losses: with a lower precision and examples, of each weight that is stored smaller: its name, and how far the outputs move, as a share of
            the largest output, if it alone is, and what is multiplied with it is quantized where the page does so.
        checked: what the comparison in Node found; None where Node is not installed.
        report: with `quantize`, the `wherry.quant.Report` of the layer on the first batch: what runs in integers, and how far it is from floats.
    """

    def __init__(
        self, folder: Path, files: dict[str, int], compressed: int, compression: str, losses: list[tuple[str, float]], checked: Checked | None,
        report: Any = None,
    ) -> None:
        self.folder, self.files, self.compressed, self.compression = folder, files, compressed, compression
        self.losses, self.checked, self.report = losses, checked, report

    @property
    def is_single(self) -> bool:
        """Whether it is one file."""
        return MARK not in self.files

    @property
    def command(self) -> str:
        """The command that serves the folder, or that of a single file."""
        folder = self.folder.parent if self.is_single else self.folder
        return f"python -m http.server --bind 127.0.0.1 --directory {folder} 8000"

    def __str__(self) -> str:
        lines = [
            f"{self.folder}: {'one file' if self.is_single else f'{len(self.files)} files'}, {_bytes(sum(self.files.values()))}; "
            f"{_bytes(self.compressed)} with {self.compression} before the first prediction"
        ]
        if self.losses:
            worst = sorted(self.losses, key=lambda one: -one[1])
            lines.append("what the precision costs, weight by weight (largest change of the outputs, as a share of the largest output):")
            lines += [f"  {name:<40} {share:.2e}" for name, share in worst[:-1]]
            lines.append(f"  {worst[-1][0]:<40} {worst[-1][1]:.2e}")
        if self.report is not None:
            lines += ["what runs in integers, and the ratio of signal to noise against floats:", str(self.report)]
        if self.compressed > LONG:
            lines.append(f"every visitor downloads {_bytes(self.compressed)}: precision='float16' halves the weights, 'int8' quarters them")
        lines.append("not checked: Node is not installed (apt install nodejs)" if self.checked is None else str(self.checked))
        if self.is_single:
            lines.append(f"look at it:  {self.folder.resolve().as_uri()}")
        else:
            lines.append(f"look at it:  {self.command}   then http://127.0.0.1:8000/")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<bundle in {self.folder}>"


def export(
    model: Any, folder: str | os.PathLike[str], input_spec: Sequence[Any] | None = None, title: str | None = None,
    labels: Sequence[str] | None = None, preprocess: Mapping[str, Any] | None = None, precision: str = "float32", example: Any = None,
    engine: str = "predict", wheels: str | os.PathLike[str] | None = None, pyodide: str | os.PathLike[str] | None = None,
    compute: str | None = None, single_file: bool = False, quantize: Any = None, data: Any = None,
    columns: Mapping[str, Sequence[str] | None] | None = None,
) -> Exported:
    """Write a folder in which a model answers in browsers, without Python and without a server of its own.

    The folder holds the program, the weights, the kernels that this program needs as one WebAssembly module, `wherry.js` to use them from other
    pages, and a finished page that works offline after the first visit. Before this returns, the bundle was run in Node and compared with
    what the model answers here; a bundle that answers otherwise is not written.

    Args:
        model: a Layer, a function, the path of a `.pdmodel` (of Wherry or Paddle, with its `.pdiparams` beside it), or a program.
        folder: where it goes: new, empty, or one that an earlier export wrote, which is replaced in one piece.
        input_spec: an InputSpec or Tensor for each argument of a Layer or function; sizes of None stay open. A `.pdmodel` says it itself.
        title: of the page; default: the name of the layer or file where that says something, else that of the folder.
        labels: names of the classes, where the last axis of the first output is classes; of one number its name.
        preprocess: what the page does to pictures: "mean" and "std", of each channel (they become `(value / 255 - mean) / std`), and
            "invert", for networks that learned light ink on dark.
        precision: of the stored weights: "float32", "float16" (half the download) or "int8" (a quarter; a factor for each channel).
        example: an input for each argument, arrays or Tensors: what the bundle is checked with, what the losses of a lower precision are
            measured with, and what the page shows first. Default: made-up numbers.
        engine: "predict", or "train" for a bundle whose model also trains in the page: it brings Pyodide and our wheels along, which load when
            `train` is called first. The model is then a Layer or a `.pdmodel`, with the batch left open.
        wheels: for "train", the folder with the wheels for the browser; default: $WHERRY_WASM_WHEELS, else wheelhouse/wasm, where `make wasm`
            puts them.
        pyodide: for "train", the npm package of this name, unpacked; default: $WHERRY_PYODIDE, else .cache/wasm/pyodide.
        compute: "int8", the default where precision is: convolutions of many channels quantize their inputs to 7 bits as they come,
            each pixel or image with a step of its own, which is faster and moves the outputs more (see `losses`); or "float32".
        single_file: one HTML file in place of the folder: the page with everything in it, which answers from a disk or a mail too, with one
            thread, and asks for nothing. `folder` is then its path, "digits.html".
        quantize: "int8", or a QuantConfig: a copy of the layer is calibrated on `data`, and products of int8 weights and int8 activations run in
            integers in the page, to the same whole numbers as in a predictor here. `wherry.quant.calibrate` does it; a layer that `convert` has
            made, and a `.pdmodel` with `quantize_linear` in it, run in integers without this. `precision` is that of what stays in floats.
        data: for `quantize`, a DataLoader, a Dataset, or batches: `(inputs, labels)`, or inputs alone. Some hundred samples suffice.

        columns: names of the columns, where the one input is rows of a table: `[None, columns]` in float32. The page then has a field for
            each. A column of words stands with its list of them, of which the model takes the place; others with None.

    Returns:
        What was written; printed, it says how large it is, what was checked and how to look at it.

    Of a large model, lines on stderr say what goes on.

    Raises:
        NotImplementedError: the program has an op that the engine for browsers does not run; the message names it and its line.
        ValueError: an argument does not fit; the bundle answered otherwise than the model.
        RuntimeError: the engine is not part of this installation.
        FileNotFoundError: there is no such `.pdmodel`, or no Pyodide and wheels where they were looked for.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 8), wherry.nn.ReLU(), wherry.nn.Linear(8, 3))
        >>> spec = [wherry.static.InputSpec([None, 4], "float32", "x")]
        >>> site = wherry.export.web(net, "build/site", input_spec=spec, labels=["a", "b", "c"])  # doctest: +SKIP
        >>> print(site)  # doctest: +SKIP
    """
    kernels = built()
    target = Path(path_of(folder, "web"))
    if single_file:
        _check_file(target, engine)
    else:
        _check_folder(target)
    if precision not in PRECISIONS:
        raise ValueError(f"web: there is no such precision. Got {short(precision)}, expected one of {', '.join(PRECISIONS)}.")
    if engine not in ENGINES:
        raise ValueError(f"web: there is no such engine. Got {short(engine)}, expected one of {', '.join(ENGINES)}.")
    trains = engine == "train"
    if compute not in (None, "float32", "int8") or (compute == "int8" and (precision != "int8" or trains)):
        raise ValueError(
            f"web: it cannot compute so. Got compute={short(compute)} with precision={precision!r} and engine={engine!r}, expected 'float32', or "
            f"'int8' with precision='int8' and engine='predict'."
        )
    if (quantize is None and data is not None) or (quantize is not None and trains):
        raise ValueError(
            f"web: calibration makes a model that predicts. Got quantize={short(quantize)} and {'no ' if data is None else ''}data with "
            f"engine={engine!r}, expected both with engine='predict', or neither."
        )
    python = (found("wheels", wheels), found("pyodide", pyodide)) if trains else None
    report = None
    if quantize is not None:
        model, report = calibrated(model, quantize, data)
    program, name, saved = _program_of(model, input_spec, trains)
    say = _teller(program)
    program = for_pages(program)
    examples = _examples(program, example)
    if trains:
        _jit("engine='train'")
        from wherry_export.web import training_files as training

        training.check_training(saved, examples)
    quantized = int8_weights(program) if precision == "int8" and compute != "float32" and not trains else set()
    description = Description(program, kernels, quantized)
    weights, shards = stored(description.weights, precision)
    say(f"{_bytes(sum(map(len, shards)))} of weights as {precision}; comparing and packing")
    wanted = _answers(program, examples)
    _check_labels(labels, wanted)
    _check_columns(columns, program)
    losses = _losses(program, weights, examples, wanted) if example is not None and precision != "float32" else []
    expected = _answers(program, examples, weights) if precision != "float32" else wanted
    files = _files(description, weights, shards, {
        "title": title or _title(name, target), "labels": None if labels is None else [str(label) for label in labels],
        "preprocess": _preprocess(preprocess, program),
        "precision": precision,
        **({} if columns is None else {"columns": [{"name": name, "words": words and [*words]} for name, words in columns.items()]}),
    }, examples if example is not None else None, training.training_files(description, precision, saved, *python) if python is not None else {})
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / "site"
        for at, content in files.items():
            (made / at).parent.mkdir(parents=True, exist_ok=True)
            (made / at).write_bytes(content)
        say(f"{len(files)} files written, {_bytes(sum(map(len, files.values())))}; running them in Node")
        tolerance = TOLERANCE_OF_INT8 if quantized or is_rounding(program) else TOLERANCE
        checked = check(made, {x.name: value for x, value in zip(program.feeds, examples)}, expected, tolerance)
        if single_file:
            files = {target.name: filled(files)}
            made = Path(scratch) / "single.html"
            made.write_bytes(files[target.name])
        elif target.exists():
            shutil.rmtree(target)
        os.replace(made, target)
    later = () if single_file else ("data/example", "data/train", "data/engine-relaxed", "data/single", "sw.js")
    compressed, how = _compressed([content for at, content in files.items() if not at.startswith(later)])
    say(f"done: {_bytes(compressed)} with {how} before the first prediction, for every visitor")
    return Exported(target, {at: len(content) for at, content in files.items()}, compressed, how, losses, checked, report)


def _teller(program: Program) -> Callable[[str], None]:
    """What says how far an export is: on stderr for a large model, nothing for others, which are ready at once."""
    started, size = time.monotonic(), sum(x.bound.nbytes for x in program.bound_variables() if x.bound is not None)
    if size < LONG:
        return lambda text: None

    def say(text: str) -> None:
        print(f"web: {time.monotonic() - started:5.1f} s  {text}", file=sys.stderr, flush=True)

    say(f"the model has {_bytes(size)} of parameters and buffers")
    return say


def _title(name: str, folder: Path) -> str:
    """What a page is called that was given no title: the names of classes such as Sequential say nothing to its visitors."""
    if name not in NO_TITLES and len(name) > 2:
        return name
    words = re.sub(r"[-_.\s]+", " ", folder.resolve().name).strip()
    return "Model" if words.lower() in NO_FOLDERS or len(words) < 3 else words[:1].upper() + words[1:]


# The program.

def _program_of(model: Any, input_spec: Sequence[Any] | None, trains: bool) -> tuple[Program, str, dict[str, bytes]]:
    """The inference program, a name for it, and its files by suffix."""
    if isinstance(model, Program):
        if trains:
            raise TypeError("web: a program alone is not trained. Got a Program with engine='train', expected a Layer or the path of a .pdmodel.")
        return model, "model", {}
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        stem = path.removesuffix(".pdmodel")
        if input_spec is not None:
            raise ValueError("web: a .pdmodel says itself what it takes. Got input_spec with a path, expected it with a layer. Leave it out.")
        program = load_model(stem, training=False if trains else None)
        feed_offsets(program)  # of sequences: inputs as others, of integers
        return program, os.path.basename(stem), _files_at(stem)
    if not callable(model):
        raise TypeError(f"web: this is not a model. Got {type(model).__name__}, expected a Layer, a function, a program or the path of a .pdmodel.")
    layers = list(model.sublayers(include_self=True)) if isinstance(model, Layer) else []
    modes = [layer.training for layer in layers]
    if layers and not trains:
        model.eval()
    elif layers and not any(modes):  # saved as it trains; else with the parts that its owner keeps in eval()
        model.train()
    try:
        with tempfile.TemporaryDirectory() as folder:  # a file says in one form what layers, functions and to_static say
            jit = _jit("a layer or function")
            captured = None
            if not isinstance(model, jit.TranslatedLayer):
                function = model.forward if isinstance(model, Layer) else model
                captured = function if isinstance(function, jit.StaticFunction) else jit.StaticFunction(function, full_graph=True)
            jit.save(captured or model, f"{folder}/model", input_spec=input_spec)
            program = load_model(f"{folder}/model", training=False if trains else None)
            if captured is not None:
                _take_lines(program, captured.concrete_program_specify_input_spec(input_spec))
            return program, getattr(model, "__name__", type(model).__name__), _files_at(f"{folder}/model")
    finally:
        for layer, mode in zip(layers, modes, strict=True):
            layer.training = mode


def _take_lines(program: Program, captured: Any) -> None:
    """Give the nodes of a program that went through a file the lines of the user's code, which files do not hold.

    Values keep their names in a file, all but those that are handed out. What writes an op as several gives the last of them
    the name of the result.
    """
    lines = {x.name: node.line for node in captured.main_program.walk() for x in node.outputs}
    lines |= {x.name: lines[y.name] for x, y in zip(program.fetches, captured.fetches) if y.name in lines}
    line = ""
    for node in reversed(list(program.walk())):
        line = next((lines[x.name] for x in node.outputs if x.name in lines), line)
        node.line = line or node.line


def _jit(what: str) -> Any:
    """The module that captures, saves and loads layers; programs are written without it."""
    return needed("wherry_graph.jit", "Python code is captured", what, ", or a program or the path of a .pdmodel that predicts")


def _files_at(stem: str) -> dict[str, bytes]:
    """The files of a model by suffix, where they can be read here."""
    return {suffix: Path(stem + suffix).read_bytes() for suffix in SUFFIXES if os.path.exists(stem + suffix)}


def _closed(sizes: Sequence[int]) -> list[int]:
    """A shape of these sizes, with numbers for unknown ones."""
    return [n if n >= 0 else OPEN_SIDE if axis >= 2 and len(sizes) == 4 else OPEN for axis, n in enumerate(sizes)]


def _examples(program: Program, example: Any) -> list[Tensor]:
    """A tensor for each feed: what was given, or made-up numbers."""
    if example is None:
        return [_made_up(_closed(x.sizes), x.dtype) for x in program.feeds]
    given = list(example) if isinstance(example, (list, tuple)) else [example]
    if len(given) != len(program.feeds):
        raise ValueError(
            "web: example has an array for each input. "
            f"Got {len(given)}, expected {len(program.feeds)}: {[x.name for x in program.feeds]}."
        )
    tensors = []
    for x, value in zip(program.feeds, given, strict=True):
        tensor = to_tensor(value).detach().astype(x.dtype)
        if tensor.ndim != len(x.sizes) or any(n not in (-1, m) for n, m in zip(x.sizes, tensor.shape)):
            raise ValueError(f"web: the example for '{x.name}' does not fit. Got shape {list(tensor.shape)}, expected {list(x.sizes)} (-1: any).")
        tensors.append(tensor)
    return tensors


def _made_up(shape: Sequence[int], dtype: DType) -> Tensor:
    """Ones for integers; else reproducible numbers of mean 0 and variance 1."""
    if not (dtype.is_floating or dtype.is_complex):
        return api.ones(shape, dtype)
    far = api.sin(api.arange(math.prod(shape), dtype="float64") * 12.9898 + 1) * 43758.5453
    return api.reshape((far - api.floor(far) - 0.5) * math.sqrt(12), shape).astype(dtype)


def _answers(program: Program, examples: Sequence[Tensor], weights: Sequence[Stored] = ()) -> list[Tensor]:
    """The outputs of the program, with weights as they are stored."""
    by_tensor = {id(one.weight.tensor): one for one in weights if one.is_smaller}
    quantized = {at for at, one in by_tensor.items() if one.weight.is_quantized}
    if quantized:
        program = quantized_inputs(program, quantized)
    changed: list[tuple[Variable, Tensor]] = []
    for x in program.bound_variables():
        one = by_tensor.get(id(x.bound))
        if one is not None:
            changed.append((x, x.bound))  # type: ignore[arg-type]
            x.bound = one.values
    before = _core.set_grad_mode(False)
    try:
        return list(compiled(program)(*examples))
    finally:
        _core.set_grad_mode(before)
        for x, tensor in changed:
            x.bound = tensor


def _losses(program: Program, weights: Sequence[Stored], examples: Sequence[Tensor], wanted: Sequence[Tensor]) -> list[tuple[str, float]]:
    """The error of the outputs when one weight alone is stored in fewer bits."""
    found = []
    for one in weights:
        if one.is_smaller:
            got = _answers(program, examples, [one])
            name = one.weight.name.split(".folded")[0]  # the model's word for it: passes fold constants into weights
            found.append((name, max((_apart(a, b) for a, b in zip(got, wanted, strict=True)), default=0.0)))
    return found


def _apart(got: Tensor, wanted: Tensor) -> float:
    """The largest difference, as a share of the largest value."""
    if not wanted.size or not (wanted.dtype.is_floating or wanted.dtype.is_complex):
        return float(bool(api.any(api.not_equal(got, wanted))))
    return float(api.max(api.abs(got - wanted))) / max(float(api.max(api.abs(wanted))), 1e-30)


# Files.

def _check_folder(target: Path) -> None:
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not _is_ours(target))):
        raise ValueError(
            f"web: {target} holds something else. "
            "Got a path in use, expected a new or empty folder, or one of an earlier export. Choose another."
        )


def _check_file(target: Path, engine: str) -> None:
    if engine == "train":
        raise ValueError(
            "web: a bundle that trains loads Pyodide and wheels from its folder. Got single_file=True with engine='train', expected "
            "engine='predict'. Leave single_file out to export a folder."
        )
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"web: with single_file the path is that of an HTML file. Got {str(target)!r}, expected {str(target) + '.html'!r}.")
    if target.exists() and not is_single(target):
        raise ValueError(f"web: {target} is something else. Got a path in use, expected a new one, or a file of an earlier export. Choose another.")


def _is_ours(target: Path) -> bool:
    try:
        return "wherry" in json.loads((target / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _check_labels(labels: Sequence[str] | None, answers: Sequence[Tensor]) -> None:
    if labels is None:
        return
    shape = list(answers[0].shape) if answers else []
    if not shape or shape[-1] != len(labels):
        raise ValueError(
            "web: labels name the last axis of the first output. "
            f"Got {len(labels)} labels, expected {shape[-1] if shape else 'an output'} for shape {shape}."
        )


def _check_columns(columns: Mapping[str, Sequence[str] | None] | None, program: Program) -> None:
    if columns is None:
        return
    taken = [(x.dtype.name, *x.sizes[1:]) for x in program.feeds]
    if taken != [("float32", len(columns))]:
        shown = ", ".join(f"{x.dtype.name}{list(x.sizes)}" for x in program.feeds)
        raise ValueError(
            f"web: columns are those of one input of float32. Got {len(columns)} columns, expected as many as a row has of {shown or 'no input'}."
        )


def _preprocess(given: Mapping[str, Any] | None, program: Program) -> dict[str, Any] | None:
    if given is None:
        return None
    unknown = sorted(set(given) - {"mean", "std", "invert"})
    if unknown:
        raise ValueError(f"web: preprocess has no {', '.join(unknown)}. Got {short(given)}, expected mean, std and invert.")
    channels = program.feeds[0].sizes[1] if program.feeds and len(program.feeds[0].sizes) == 4 else None
    found: dict[str, Any] = {}
    for name in ("mean", "std"):
        if name in given:
            value = given[name]
            found[name] = [float(v) for v in (value if isinstance(value, (list, tuple)) else [value] * (channels or 1))]
            if channels is None or len(found[name]) != channels:
                raise ValueError(
                    f"web: preprocess[{name!r}] has a number for each channel. "
                    f"Got {short(value)}, expected {channels or 'a model of pictures [N, C, H, W]'}."
                )
    if 0.0 in found.get("std", ()):
        raise ValueError(f"web: preprocess['std'] divides. Got {short(given['std'])}, expected no zero.")
    if "invert" in given:
        found["invert"] = bool(given["invert"])
    return found


def _files(
    description: Description, weights: Sequence[Stored], shards: Sequence[bytes], facts: dict[str, Any], examples: Sequence[Tensor] | None,
    training: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Every file of the folder by its name."""
    program = {**description.content, "weights": [one.facts for one in weights]}
    files: dict[str, bytes] = {}

    def add(stem: str, suffix: str, content: bytes) -> dict[str, Any]:
        name = f"data/{stem}.{_digest(content)}.{suffix}"
        files[name] = content
        return _facts_of(name, content)

    scripts = {name: (HERE / "js" / name).read_bytes() for name in SCRIPTS}
    scripts |= {name: (HERE / "page" / name).read_bytes() for name in ("page.js", "shapes.js", "single.js", "site.css", "icon.svg")}
    static = f"static/{_digest(b''.join(scripts.values()))}"
    files |= {f"{static}/{name}": content for name, content in scripts.items()}
    files["wherry.js"] = f'// The address without a digest, for pages elsewhere.\nexport * from "./{static}/wherry.js";\n'.encode()
    text = json.dumps(program, separators=(",", ":")).encode()
    # The kernels trust what the program says of sizes and attributes, so they carry its digest: no other one runs on them.
    mark = custom_section(PROGRAM, hashlib.sha256(text).hexdigest().encode())
    relaxed = description.relaxed_module()
    manifest = {
        "wherry": "train" if training else "predict", "format": FORMAT, **facts,
        "inputs": [{"name": x["name"], "dtype": x["dtype"], "shape": x["shape"]} for x in description.content["inputs"]],
        "outputs": [
            {"name": x["name"], "dtype": x["dtype"], "shape": _named_shape(x["shape"], [*description.sizes, *description.floors])}
            for x in description.content["outputs"]
        ],
        "engine": {**add("engine", "wasm", description.module() + mark), **description.engine.memory},
        "relaxed": None if relaxed is None else {**add("engine-relaxed", "wasm", relaxed + mark), **description.engine.memory},
        "program": add("program", "json", text),
        "weights": [add(f"weights-{i}", "bin", shard) for i, shard in enumerate(shards)],
        "example": None if examples is None else [
            {**add(f"example-{i}", "bin", bytes_of(tensor)), "shape": list(tensor.shape)} for i, tensor in enumerate(examples)
        ],
        **({} if training else {"single": add("single", "html", template(facts["title"]))}),
        **_training_part(files, training, add),
    }
    files[MARK] = json.dumps(manifest, indent=1).encode()
    files["index.html"] = page(facts["title"], POLICY, "\n  ".join((
        f'<link rel="stylesheet" href="{static}/site.css">', f'<link rel="icon" href="{static}/icon.svg" type="image/svg+xml">',
        f'<script type="module" src="{static}/page.js"></script>',
    ))).encode()
    worker = (HERE / "page" / "sw.js").read_text(encoding="utf-8")
    kept = ["./", MARK, *files]
    version = _digest(b"".join(hashlib.sha256(files[name]).digest() for name in sorted(files)))
    files["sw.js"] = worker.replace("{{VERSION}}", version).replace("{{ADDRESSES}}", json.dumps(list(dict.fromkeys(kept)))).encode()
    return files


def _facts_of(name: str, content: bytes) -> dict[str, Any]:
    """The entry of a file in the manifest."""
    return {"url": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _training_part(files: dict[str, bytes], training: Mapping[str, bytes], add: Callable[[str, str, bytes], dict[str, Any]]) -> dict[str, Any]:
    """The entry of training in the manifest; adds its files."""
    if not training:
        return {}
    ours: dict[str, Any] = {}
    pyodide, of_pyodide = "", []
    for name, content in training.items():
        if "/" in name:  # Pyodide asks for its files by their names
            pyodide = f"data/train-{name.partition('/')[0]}/"
            files[f"data/train-{name}"] = content
            of_pyodide.append(_facts_of(f"data/train-{name}", content))
        else:
            stem, _, suffix = name.partition(".")
            ours[name] = add(f"train-{stem}", suffix, content)
    return {"train": {"pyodide": {"url": pyodide, "files": of_pyodide}, "files": ours}}


def _named_shape(shape: Sequence[Any], sizes: Sequence[str]) -> list[Any]:
    """A readable shape, with polynomials as text."""
    def text(n: Any) -> Any:
        if not isinstance(n, dict):
            return n
        terms = []
        for factor, powers in n["poly"]:
            names = [name if power == 1 else f"{name}^{power}" for name, power in zip(sizes, powers) if power]
            terms.append("*".join(([str(factor)] if factor != 1 or not names else []) + names))
        return " + ".join(terms)

    return [text(n) for n in shape]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _compressed(contents: Sequence[bytes]) -> tuple[int, str]:
    """About their size in bytes when each is compressed, as a server does it."""
    squeeze: Callable[[bytes], bytes]
    try:
        import brotli

        how, squeeze = "brotli", functools.partial(brotli.compress, quality=11)
        fast: Callable[[bytes], bytes] = functools.partial(brotli.compress, quality=4)  # weights hardly get smaller
    except ModuleNotFoundError:
        import gzip

        how, squeeze, fast = "gzip", gzip.compress, gzip.compress
    total = 0
    for content in contents:
        if len(content) < LARGE:
            total += len(squeeze(content))
        else:  # all of it would take seconds for each 10 MB
            step = len(content) // SAMPLES
            sample = b"".join(content[at * step : at * step + SAMPLE] for at in range(SAMPLES))
            total += round(len(content) * len(fast(sample)) / len(sample))
    return total, how


def _bytes(n: int) -> str:
    return f"{n / 1e6:.2f} MB" if n >= 1e6 else f"{n / 1e3:.0f} kB"
