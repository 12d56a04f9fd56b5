"""Running parts of a program by TensorRT, where its Python module `tensorrt` is installed.

    program = with_engines(program, config, device)

The nodes that ONNX can say are put together in as few parts as their order allows. Each part becomes an ONNX model, TensorRT builds an engine of
it, and a node that calls the engine takes its place; what TensorRT refuses stays with Wherry's own kernels, and the log says so. Written for
TensorRT 10 and 11 by their documentation: networks have an explicit batch, and the types of their values are those of the model ("strongly
typed"), so 16 bits are a matter of the program (`precision.mixed`) and not of TensorRT's choice, and so are 8: where a program rounds values to
int8 the model has QuantizeLinear and DequantizeLinear ("explicit quantization").
"""
from __future__ import annotations

import hashlib
import importlib
import logging
import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wherry_program.passes.rewriting import is_pure, volatile
from wherry_program.program.ir import ControlOp, Node, Program, Variable
from wherry_program.program.node_rules import RUN
from wherry_program.run.executor import compiled
from wherry_tensor import _core, cuda, ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import ExternalError, InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.ops.declare import decompose
from wherry_tensor.sizes import Size
from wherry_train.atomic_files import replace_file

if TYPE_CHECKING:
    from wherry_infer.config import Config

__all__ = [
    "Engine", "available", "engines_of", "get_trt_compile_version", "get_trt_runtime_version", "module", "ranges_of_file", "version", "with_engines",
]

Shape = tuple[int, ...]
_ALIGNMENT = 256  # bytes: what TensorRT asks of addresses, and CUDA gives to memory of its own


class Range(NamedTuple):
    """Shapes that an input may have, and the one that kernels are chosen for."""

    least: Shape
    best: Shape
    most: Shape

    def holds(self, shape: Sequence[int]) -> bool:
        """Whether a shape is in the range."""
        return len(shape) == len(self.least) and all(a <= n <= b for a, n, b in zip(self.least, shape, self.most))

    def with_shape(self, shape: Sequence[int]) -> Range:
        """The range, extended to one more shape."""
        return Range(tuple(map(min, self.least, shape)), self.best, tuple(map(max, self.most, shape)))


def module() -> Any:
    """TensorRT's Python module.

    Raises:
        ImportError: it is not installed, or its libraries cannot be loaded.
    """
    return importlib.import_module("tensorrt")


def version() -> tuple[int, int, int]:
    """The version of TensorRT that is installed; (0, 0, 0) where there is none."""
    try:
        numbers = [int(n) for n in re.findall(r"\d+", str(module().__version__))[:3]]
    except (ImportError, OSError):
        return 0, 0, 0
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch


def get_trt_compile_version() -> tuple[int, int, int]:
    """The version of TensorRT at build time: (0, 0, 0), as it is only looked for at run time.

    Source:
        `paddle.inference.get_trt_compile_version`.

    Examples:
        >>> wherry.inference.get_trt_compile_version()
        (0, 0, 0)
    """
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """The version of TensorRT that is installed; (0, 0, 0) if there is none.

    Source:
        `paddle.inference.get_trt_runtime_version`.

    Examples:
        >>> len(wherry.inference.get_trt_runtime_version())
        3
    """
    return version()


# Nodes that call an engine.

ENGINE = ControlOp("tensorrt_engine", ("engine",))


def _run(run: Any, node: Node, env: dict[int, Any]) -> None:
    results = node.attr("engine")([run.value_of(x, env) for x in node.inputs])
    for x, value in zip(node.outputs, results, strict=True):
        env[id(x)] = value


RUN[ENGINE.name] = _run


# Choosing nodes.

_TYPES = {  # of TensorRT, by their names
    "FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16", "INT32": "int32", "INT64": "int64", "INT8": "int8", "UINT8": "uint8", "BOOL": "bool",
}
# How much they give depends on values, for which no engine can be prepared.
_SIZES_FROM_VALUES = ("nonzero", "unique", "unique_consecutive", "masked_select")


def with_engines(program: Program, config: Config, device: int) -> Program:
    """The program with parts of it run by TensorRT, as `Config.enable_tensorrt_engine` asks, where that is `available`.

    Args:
        program: with its parameters on the CPU. It is changed.
        config: says what to hand over, and where engines are kept.
        device: the GPU, by the core's number.

    Raises:
        ValueError: shapes that were given for an input do not fit it, or each other.
    """
    builder = _Builder(module(), config, device)
    parts = _parts(program, config)
    ranges = _ranges(program, config)
    shapes = _shapes_inside(program, [x for part in parts for x in part.inputs], ranges) if parts else {}
    taken: dict[int, Part] = {}
    for part in parts:
        engine = builder.engine_of(program, part, shapes)
        if engine is not None:
            part.engine = engine
            taken[part.number] = part
    _put(program, taken)
    count = sum(len(part.nodes) for part in taken.values())
    config._say(logging.INFO, f"TensorRT {module().__version__} runs {count} ops in {len(taken)} engines.")
    return program


def available(config: Config) -> bool:
    """Whether TensorRT and the packages that write ONNX are installed. If not, logs what to install."""
    try:
        module()
    except (ImportError, OSError) as error:
        config._say(logging.WARNING, (
            f"enable_tensorrt_engine: TensorRT is not installed, the program runs on Wherry's own kernels. "
            f"Got {type(error).__name__}: {error}. pip install tensorrt"
        ))
        return False
    try:
        importlib.import_module("onnx")
        importlib.import_module("wherry_export.onnx")
    except ImportError as error:
        config._say(logging.WARNING, (
            f"enable_tensorrt_engine: programs are handed to TensorRT as ONNX, the program runs on Wherry's own kernels. "
            f"Got {type(error).__name__}: {error}. pip install wherry-infer[tensorrt]"
        ))
        return False
    return True


class Part:
    """Nodes that become one engine, with what they read from outside and what is read of them."""

    engine: Engine | None = None

    def __init__(self, number: int, nodes: list[Node], at: list[int]) -> None:
        self.number, self.nodes, self.at = number, nodes, at
        self.inputs: list[Variable] = []
        self.outputs: list[Variable] = []


def _takes(node: Node, changing: set[int], off: set[str]) -> bool:
    if node.type in off or node.type in _SIZES_FROM_VALUES or not is_pure(node, changing) or not node.outputs or _has_size_of_value(node.attrs):
        return False
    if node.op in (ops.quantize_linear, ops.dequantize_linear) and not _is_symmetric(node):
        return False
    from wherry_export.onnx.column import to_onnx

    if to_onnx.get(node.op) is None and decompose.get(node.op) is None:
        return False
    return all(x.dtype.name in _TYPES.values() and not x.is_array for x in (*node.reads(), *node.outputs))


def _is_symmetric(node: Node) -> bool:
    """Does a node round to int8, or back, by constant steps and without zero points, as all of TensorRT's layers that do?"""
    x, step, zero = node.inputs
    whole = x if node.op is ops.dequantize_linear else node.outputs[0]
    if whole is None or whole.dtype is not _core.int8 or node.attr("group") is not None or step is None or step.bound is None:
        return False
    return zero is None or (zero.bound is not None and not zero.bound.numpy().any())


def _has_size_of_value(attrs: Any) -> bool:
    """Is a size among the attributes a number that the program computes?"""
    if isinstance(attrs, tuple):
        return any(map(_has_size_of_value, attrs))
    return type(attrs) is Size and (attrs.source[0] == "value" or _has_size_of_value(attrs.source[1:]))


def _sized_by_values(nodes: list[Node]) -> set[int]:
    """ids of the variables with a size that follows from values, and not from the shapes of the inputs."""
    found: set[int] = set()
    for node in nodes:
        begins = node.is_control or node.type in _SIZES_FROM_VALUES or _has_size_of_value(node.attrs)
        if begins or any(id(x) in found for x in node.reads()):
            found.update(id(x) for x in node.outputs if -1 in x.sizes)
    return found


def _parts(program: Program, config: Config) -> list[Part]:
    """The parts, in the order in which they run: as few as the order of the nodes between allows, none of fewer nodes than was asked for."""
    from wherry_export.onnx import load_rules

    load_rules()
    changing, off = volatile(program), set(config._other.get("trt_off", ()))
    nodes = program.blocks[0].nodes
    unforeseen = _sized_by_values(nodes)
    takes = [_takes(node, changing, off) and not any(id(x) in unforeseen for x in (*node.reads(), *node.outputs)) for node in nodes]
    while True:
        parts = _grouped(nodes, takes, program)
        least = config._trt["min_subgraph_size"]
        small = [part for part in parts if len(part.nodes) < least]
        wrong = {i for part in parts if len(part.nodes) >= least for i in _not_written(program, part)}
        if not wrong:
            for part in small:
                parts.remove(part)
            return parts
        for i in wrong:
            takes[i] = False


def _grouped(nodes: list[Node], takes: list[bool], program: Program) -> list[Part]:
    """Nodes by levels: a level has what TensorRT may run and then what it may not, and reads what lies before."""
    level: dict[int, tuple[int, bool]] = {}  # of a variable: the level of the node that makes it, and may TensorRT run that?
    least, groups = 0, dict[int, list[int]]()
    for i, node in enumerate(nodes):
        before = [level[id(x)] for x in node.reads() if id(x) in level]
        if takes[i]:
            mine = max([n if fits else n + 1 for n, fits in before], default=0)
            groups.setdefault(mine, []).append(i)
        else:  # these keep their order: they may write, print, or draw numbers
            mine = least = max([least, *(n for n, _ in before)])
        for x in (*node.outputs, *node.writes()):
            level[id(x)] = mine, takes[i]
    parts = [Part(n, [nodes[i] for i in at], at) for n, at in sorted(groups.items())]
    kept = {id(x) for block in program.blocks for x in block.outputs} | {id(x) for x in program.fetches}
    for part in parts:
        made = {id(x) for node in part.nodes for x in node.outputs}
        inside = {id(node) for node in part.nodes}
        outside = kept | {id(x) for node in nodes if id(node) not in inside for x in node.reads()}
        reads = {id(x): x for node in part.nodes for x in node.reads() if id(x) not in made and x.bound is None}
        part.inputs = list(reads.values())
        part.outputs = [x for node in part.nodes for x in node.outputs if id(x) in outside]
    return parts


def _not_written(program: Program, part: Part) -> list[int]:
    """The nodes of a part that ONNX cannot say after all, by position in the program; looked for one by one only where the whole fails."""
    if _model_of(program, part) is not None:
        return []
    wrong = []
    for i, node in zip(part.at, part.nodes, strict=True):
        alone = Part(0, [node], [i])
        alone.inputs = [x for x in node.reads() if x.bound is None]
        alone.outputs = list(node.outputs)
        if _model_of(program, alone) is None:
            wrong.append(i)
    return wrong or part.at


def _model_of(program: Program, part: Part) -> bytes | None:
    """A part as an ONNX model; None if ONNX cannot express it."""
    from wherry_export.onnx import to_model

    copy, new = program.copy()
    block = copy.blocks[0]
    chosen = set(part.at)
    block.nodes[:] = [node for i, node in enumerate(block.nodes) if i in chosen]
    try:
        model = to_model(copy, [new[id(x)] for x in part.inputs], [new[id(x)] for x in part.outputs], opset=17, name="part")
    except (NotImplementedError, ValueError):
        return None
    return bytes(model.SerializeToString())


def _put(program: Program, taken: Mapping[int, Part]) -> None:
    """Put the nodes of engines into the program: each stands after what it reads, and before what reads it."""
    block = program.blocks[0]
    replaced = {i for part in taken.values() for i in part.at}
    rest = [(i, node) for i, node in enumerate(block.nodes) if i not in replaced]
    made: dict[int, Node] = {}
    for part in taken.values():
        node = Node(ENGINE, tuple(part.inputs), (part.engine,), tuple(part.outputs), block=block)
        for x in part.outputs:
            x.made_by = node
        made[part.number] = node
    # By what each needs: engines come as soon as their inputs are there, the others in their order.
    makers = {id(x): ("engine", number) for number, node in made.items() for x in node.outputs}
    makers.update((id(x), ("node", i)) for i, node in rest for x in node.outputs if id(x) not in makers)
    done: set[tuple[str, int]] = set()
    order: list[Node] = []

    def place(what: tuple[str, int], node: Node) -> None:
        stack = [(what, node)]
        while stack:
            now, one = stack[-1]
            if now in done:
                stack.pop()
                continue
            missing = [makers[id(x)] for x in one.reads() if id(x) in makers and makers[id(x)] not in done and makers[id(x)] != now]
            if not missing:
                done.add(now)
                order.append(one)
                stack.pop()
            else:
                stack += [(m, made[m[1]] if m[0] == "engine" else block.nodes[m[1]]) for m in missing]

    for i, node in rest:
        place(("node", i), node)
    for number, node in made.items():
        place(("engine", number), node)
    block.nodes[:] = order


# Shapes.


def _ranges(program: Program, config: Config) -> dict[str, Range]:
    """Shapes of the inputs of the program whose sizes are free, as far as they were said."""
    least, most, best = config._other.get("trt_shapes", ({}, {}, {}))
    tuned = config._other.get("trt_tuned", ("", False))[0]
    found = ranges_of_file(tuned) if tuned else {}
    batch = config._trt["max_batch_size"]
    for x in program.feeds:
        if x.name in least or x.name in most or x.name in best:
            given = [tuple(int(n) for n in shapes.get(x.name, ())) for shapes in (least, best, most)]
            found[x.name] = Range(*given)
        elif x.name not in found and x.sizes and x.sizes[0] < 0 and -1 not in x.sizes[1:]:
            found[x.name] = Range((1, *x.sizes[1:]), (batch, *x.sizes[1:]), (batch, *x.sizes[1:]))
        if x.name in found:
            _check_range(x, found[x.name])
    return found


def _check_range(x: Variable, given: Range) -> None:
    fits = all(len(shape) == len(x.sizes) and all(m in (-1, n) for n, m in zip(shape, x.sizes)) for shape in given)
    if not fits or any(not a <= b <= c for a, b, c in zip(*given)):
        raise InvalidArgumentError(
            f"set_trt_dynamic_shape_info: the shapes of '{x.name}' do not fit. Got min {list(given.least)}, optim {list(given.best)} and max "
            f"{list(given.most)}, expected shapes of {list(x.sizes)} (-1: any), none larger than the next. Give all three for this input."
        )


def ranges_of_file(path: str) -> dict[str, Range]:
    """What `Config.collect_shape_range_info` has written.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is another file.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = {}
    for name, body in re.findall(r'shape_range_info\s*\{\s*name:\s*"([^"]*)"(.*?)\}', text, re.DOTALL):
        shapes = {
            word: tuple(int(n) for n in re.findall(rf"{word}_shape:\s*(-?\d+)", body)) for word in ("min", "opt", "max")
        }
        found[name] = Range(shapes["min"], shapes["opt"], shapes["max"])
    if not found and text.strip():
        raise InvalidArgumentError(
            f"enable_tuned_tensorrt_dynamic_shape: this is not a file of shapes. Got {path!r}, expected what collect_shape_range_info wrote. "
            f"Write it anew."
        )
    return found


def _shapes_inside(program: Program, wanted: list[Variable], ranges: dict[str, Range]) -> dict[int, Range]:
    """Ranges of variables by id: the program runs on zeros of the smallest, the usual and the largest inputs."""
    variables = list({id(x): x for x in wanted}.values())
    fixed = {id(x): Range(x.sizes, x.sizes, x.sizes) for x in variables if -1 not in x.sizes}
    free = [x for x in variables if id(x) not in fixed]
    if not free or any(-1 in x.sizes and x.name not in ranges for x in program.feeds):
        return fixed
    run = compiled(program, program.feeds, free, prune=True)
    seen = []
    for at in range(3):
        zeros = [ops.full(shape=ranges[x.name][at] if x.name in ranges else x.sizes, value=0, dtype=x.dtype) for x in program.feeds]
        seen.append([tuple(value.shape) for value in run(*zeros)])
    for x, shapes in zip(free, zip(*seen, strict=True), strict=True):
        if all(a <= b <= c for a, b, c in zip(*shapes)):
            fixed[id(x)] = Range(*shapes)
    return fixed


# Engines.


class _Builder:
    """Makes engines, or takes them from files."""

    def __init__(self, trt: Any, config: Config, device: int) -> None:
        self.trt, self.config, self.device = trt, config, device
        self.logger = trt.Logger(trt.Logger.ERROR if config.glog_info_disabled() else trt.Logger.WARNING)

    def engine_of(self, program: Program, part: Part, shapes: Mapping[int, Range]) -> Engine | None:
        """The engine of a part; None, and a line in the log, where there can be none."""
        free = [x.name for x in part.inputs if id(x) not in shapes]
        if free:
            self._leave(part, (
                f"sizes of {free} are free. Say which they may have with set_trt_dynamic_shape_info, for each input of the program, or with "
                f"collect_shape_range_info and enable_tuned_tensorrt_dynamic_shape"
            ))
            return None
        model = _model_of(program, part)
        assert model is not None
        engine = Engine(self, model, part, [shapes[id(x)] for x in part.inputs])
        why = engine.prepare()
        if why:
            self._leave(part, why)
            return None
        return engine

    def _leave(self, part: Part, why: str) -> None:
        kinds = ", ".join(dict.fromkeys(node.type for node in part.nodes))
        kinds = kinds if len(kinds) <= 200 else kinds[:197] + "..."
        self.config._say(logging.WARNING, f"TensorRT does not run {len(part.nodes)} ops ({kinds}), Wherry's own kernels do: {why}.")

    def plan(self, model: bytes, names: Sequence[str], ranges: Sequence[Range]) -> tuple[bytes | None, str]:
        """An engine as bytes, and "" or what was wrong; from the file, where there is one."""
        path = self._path(model, names, ranges) if self.config._trt["use_static"] else None
        if path is not None and os.path.exists(path):
            with open(path, "rb") as file:
                return file.read(), ""
        built, why = self.build(model, names, ranges)
        if built is not None and path is not None:
            self.keep(path, built)
        return built, why

    def build(self, model: bytes, names: Sequence[str], ranges: Sequence[Range]) -> tuple[bytes | None, str]:
        """Have TensorRT build an engine."""
        trt = self.trt
        _core.get_stream(self.device).synchronize()  # the calling thread works on this GPU from here on
        builder = trt.Builder(self.logger)
        kinds = trt.NetworkDefinitionCreationFlag
        flags = [getattr(kinds, name) for name in ("EXPLICIT_BATCH", "STRONGLY_TYPED") if hasattr(kinds, name)]
        network = builder.create_network(sum(1 << int(flag) for flag in flags))
        parser = trt.OnnxParser(network, self.logger)
        if not parser.parse(model):
            said = "; ".join(str(parser.get_error(i).desc()) for i in range(parser.num_errors))
            return None, f"its parser refuses them ({said or 'without a reason'})"
        options = builder.create_builder_config()
        options.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, int(self.config._trt["workspace_size"]))
        options.builder_optimization_level = self.config.tensorrt_optimization_level()
        if self.config.tensorrt_dla_enabled():
            options.default_device_type, options.DLA_core = trt.DeviceType.DLA, int(self.config._other["trt_dla"])
            options.set_flag(trt.BuilderFlag.GPU_FALLBACK)
        if any(one.least != one.most for one in ranges):
            profile = builder.create_optimization_profile()
            for name, one in zip(names, ranges, strict=True):
                profile.set_shape(name, one.least, one.best, one.most)
            if options.add_optimization_profile(profile) < 0:
                return None, "it refuses the shapes"
        made = builder.build_serialized_network(network, options)
        return (None, "it builds no engine, and its own log says why") if made is None else (bytes(made), "")

    def _path(self, model: bytes, names: Sequence[str], ranges: Sequence[Range]) -> str:
        """The file of an engine: another one for another model, shape, GPU, or version."""
        config = self.config
        told = cuda.get_device_properties(int(_core.name_of_device(self.device).partition(":")[2]))
        what = (
            str(self.trt.__version__), told.name, told.major, told.minor, tuple(names), tuple(ranges), config._trt["workspace_size"],
            config.tensorrt_optimization_level(), config._other.get("trt_dla"),
        )
        key = hashlib.sha256(model + repr(what).encode()).hexdigest()[:32]
        return os.path.join(config._cache_folder(), f"trt_serialized_{key}.engine")

    def keep(self, path: str, plan: bytes) -> None:
        """Write a file that appears when it is complete: other processes may be looking for it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(os.path.realpath(path), lambda file: file.write(plan))

    def forget(self, model: bytes, names: Sequence[str], ranges: Sequence[Range]) -> None:
        """Remove a file that TensorRT does not read."""
        path = self._path(model, names, ranges)
        if self.config._trt["use_static"] and os.path.exists(path):
            os.unlink(path)


class Engine:
    """A part of a program that TensorRT runs: called with Tensors on the GPU, it gives Tensors, on the stream of the calling thread."""

    def __init__(self, builder: _Builder, model: bytes, part: Part, ranges: list[Range]) -> None:
        import onnx

        self.builder, self.model, self.ranges = builder, model, ranges
        graph = onnx.ModelProto.FromString(model).graph
        self.names, self.results = [x.name for x in graph.input], [x.name for x in graph.output]
        self.called = [x.name for x in part.inputs]  # as the program has them, for messages
        self.gives = [x.dtype for x in part.outputs]
        self.ops = len(part.nodes)
        self.lock = threading.Lock()
        self.engine: Any = None
        self.contexts: dict[int, Any] = {}  # by stream: what one computes with serves one run at a time
        self.types: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<TensorRT engine of {self.ops} ops>"

    def prepare(self) -> str:
        """Build it, or read its file; returns "" or why it cannot be used."""
        trt, builder = self.builder.trt, self.builder
        plan, why = builder.plan(self.model, self.names, self.ranges)
        if plan is None:
            return why
        self.runtime = trt.Runtime(builder.logger)
        engine = self.runtime.deserialize_cuda_engine(plan)
        if engine is None:  # the file of another driver, or half of one
            builder.forget(self.model, self.names, self.ranges)
            plan, why = builder.plan(self.model, self.names, self.ranges)
            engine = None if plan is None else self.runtime.deserialize_cuda_engine(plan)
        if engine is None:
            return why or "it does not read the engine that it has built"
        found = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
        if sorted(found) != sorted([*self.names, *self.results]):
            return f"its engine has other inputs and outputs. Got {found}, expected {[*self.names, *self.results]}"
        if any(engine.get_tensor_location(name) != trt.TensorLocation.DEVICE for name in found):
            return "it wants an input in memory of the host, as the sizes of something"
        for name in found:
            kind = _TYPES.get(str(engine.get_tensor_dtype(name)).rpartition(".")[2])
            if kind is None:
                return f"its engine computes '{name}' in {engine.get_tensor_dtype(name)}"
            self.types[name] = getattr(_core, "bool_" if kind == "bool" else kind)
        self.engine, self.contexts = engine, {}
        return ""

    def __call__(self, values: Sequence[Tensor]) -> list[Tensor]:
        device = self.builder.device
        stream = _core.get_stream(device)
        for at, x in enumerate(values):
            if not self.ranges[at].holds(x.shape):
                self._widen(at, values)
        with self.lock:
            context = self._context(stream)
            kept = []
            for name, x in zip(self.names, values, strict=True):
                x = ops.cast(x, dtype=self.types[name]) if x.dtype is not self.types[name] else x
                if not x.is_contiguous() or x.data_ptr() % _ALIGNMENT:  # a view
                    x = ops.copy(x)
                _core.used_by_others(x)
                kept.append(x)
                self._done(context.set_input_shape(name, tuple(x.shape)), "set_input_shape", name)
                self._done(context.set_tensor_address(name, x.data_ptr()), "set_tensor_address", name)
            missing = context.infer_shapes()
            self._done(not missing, "infer_shapes", ", ".join(missing))
            outs = []
            for name in self.results:
                shape = tuple(int(n) for n in context.get_tensor_shape(name))
                self._done(all(n >= 0 for n in shape), "get_tensor_shape", name)
                out = _core.uninitialized(shape, self.types[name], device)
                self._done(context.set_tensor_address(name, out.data_ptr()), "set_tensor_address", name)
                outs.append(out)
            self._here(stream)
            self._done(context.execute_async_v3(stream.handle), "execute_async_v3", "")
        return [ops.cast(x, dtype=kind) if x.dtype is not kind else x for x, kind in zip(outs, self.gives, strict=True)]

    def _context(self, stream: Any) -> Any:
        found = self.contexts.get(stream.handle)
        if found is None:
            self._here(stream)
            found = self.contexts[stream.handle] = self.engine.create_execution_context()
            self._done(found is not None, "create_execution_context", "")
        return found

    def _here(self, stream: Any) -> None:
        """Let this thread's calls of CUDA go to the GPU of the engine: TensorRT takes the current one."""
        if cuda.device_count() > 1:
            _core.DeviceEvent(self.builder.device).record(stream)

    def _done(self, ok: Any, what: str, name: str) -> None:
        if not ok:
            raise ExternalError(
                f"TensorRT: {what}{f' of {name!r}' if name else ''} failed. Got False, expected True: its own log says why. "
                f"Without enable_tensorrt_engine the program runs on Wherry's own kernels."
            )

    def _widen(self, at: int, values: Sequence[Tensor]) -> None:
        """Build the engine anew for shapes that it was not built for, where that is allowed."""
        one, shape = self.ranges[at], list(values[at].shape)
        if not self.builder.config.trt_allow_build_at_runtime():
            raise InvalidArgumentError(
                f"TensorRT: '{self.called[at]}' has a shape that its engine was not built for. Got {shape}, expected sizes from "
                f"{list(one.least)} to {list(one.most)}. Widen max_batch_size of enable_tensorrt_engine, or set_trt_dynamic_shape_info; "
                f"enable_tuned_tensorrt_dynamic_shape(allow_build_at_runtime=True) builds it anew."
            )
        with self.lock:
            wider = [one.with_shape(x.shape) for one, x in zip(self.ranges, values, strict=True)]
            if wider == self.ranges:
                return
            _core.synchronize(self.builder.device)  # runs of the old one
            before, self.ranges = self.ranges, wider
            why = self.prepare()
            if why:
                self.ranges = before
                raise ExternalError(f"TensorRT: the engine cannot be built for {shape}: {why}.")


def engines_of(program: Program) -> list[Engine]:
    """The engines of a program, in order."""
    return [node.attr("engine") for node in program.blocks[0].nodes if node.op is ENGINE]


explained(globals())
