"""`InferenceSession`: saved models, called as ONNX Runtime calls them.

    session = InferenceSession("net.onnx")
    [y] = session.run(None, {"x": x})          # NumPy arrays in and out

Names, signatures and the texts of errors are those of `onnxruntime`'s Python interface, so that a program changes one import.
"""
from __future__ import annotations

import enum
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import wherry_tensor
from wherry_autograd import no_grad
from wherry_infer.first_run import Once
from wherry_infer.session_values import NP_NAMES, UNSIGNED, OrtValue, array_at, array_of, element_name, held, type_name
from wherry_paddle_files.models import load_model
from wherry_paddle_files.sequences import feed_offsets
from wherry_program.program.ir import Program
from wherry_program.run.executor import Executor, compiled
from wherry_tensor import Tensor
from wherry_tensor._core import from_buffer, set_thread_budget
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, UnimplementedError, short
from wherry_tensor.protobuf import ModelFileError
from wherry_train.pickle_reader import FileFormatError

if TYPE_CHECKING:
    import numpy as np

    from wherry_onnx_files.models import OnnxModel

__all__ = [
    "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelMetadata",
    "NoSuchFile", "NodeArg", "NotImplemented", "OrtValue", "RunOptions", "SessionIOBinding", "SessionOptions", "get_all_providers",
    "get_available_providers", "get_device", "set_default_logger_severity", "set_seed",
]  # fmt: skip

_CPU = "CPUExecutionProvider"
_SHAPES_KEPT = 16  # programs for shapes of a model whose sizes have to be known
_NUMBERS_OF_A_VALUE = 16  # of an input of integers, at most, that branches and sizes may follow from
_MADE_FOR_NUMBERS = 64  # programs for such numbers


# What the classes of errors put in front of their texts.
_KINDS = ("(InvalidArgument) ", "(Unimplemented) ", "onnx: ")


def _without_kind(text: Any) -> str:
    """A text that becomes a part of another error's, without what marks it as one."""
    out = str(text)
    while out.startswith(_KINDS):
        out = out.split(" ", 1)[1]
    return out


class InvalidArgument(InvalidArgumentError):
    """What `run` was given does not fit the model. A ValueError."""


class NoSuchFile(NotFoundError, FileNotFoundError):
    """There is no such file. A FileNotFoundError."""


class InvalidProtobuf(FileFormatError):
    """The file is not a model. A FileFormatError."""


class InvalidGraph(FileFormatError):
    """The nodes of the model do not fit together. A FileFormatError."""


class NotImplemented(UnimplementedError, FileFormatError):
    """The model has an operator that is not read. A NotImplementedError."""


def _failed(kind: type[Exception], number: int, name: str, text: str) -> Exception:
    return kind(f"[ONNXRuntimeError] : {number} : {name} : {_without_kind(text)}")


def _invalid(text: str) -> Exception:
    return _failed(InvalidArgument, 2, "INVALID_ARGUMENT", text)


class GraphOptimizationLevel(enum.IntEnum):
    """How far a model is rewritten: not at all, with every bit kept, or folded for inference."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Whether parts of a model run side by side. Here one runs after the other in either."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


def _entry(options: Any, entries: dict[str, str], key: str) -> str:
    try:
        return entries[key]
    except (KeyError, TypeError):  # TypeError: a key that cannot be one
        raise RuntimeError(f"{type(options).__name__} does not have configuration with key: {key if isinstance(key, str) else short(key)}") from None


class SessionOptions:
    """How a model runs.

    Attributes:
        intra_op_num_threads: threads of a kernel; 0 is the number of the process.
        graph_optimization_level: a GraphOptimizationLevel.

    Others of ONNX Runtime's are kept and have no effect.

    Source:
        `onnxruntime.SessionOptions`.

    Examples:
        >>> from wherry.ort import GraphOptimizationLevel, SessionOptions
        >>> options = SessionOptions()
        >>> options.intra_op_num_threads = 1
        >>> options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_BASIC
    """

    __slots__ = (
        "_entries", "_sizes", "enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode",
        "execution_order", "graph_optimization_level", "inter_op_num_threads", "intra_op_num_threads", "log_severity_level",
        "log_verbosity_level", "logid", "optimized_model_filepath", "profile_file_prefix", "use_deterministic_compute", "use_per_session_threads",
    )  # fmt: skip

    def __init__(self) -> None:
        self.intra_op_num_threads = self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode, self.execution_order = ExecutionMode.ORT_SEQUENTIAL, 0
        self.enable_cpu_mem_arena = self.enable_mem_pattern = self.enable_mem_reuse = self.use_per_session_threads = True
        self.enable_profiling = self.use_deterministic_compute = False
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.optimized_model_filepath, self.profile_file_prefix = "", "onnxruntime_profile_"
        self._entries: dict[str, str] = {}
        self._sizes: dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keep an entry of the configuration."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """An entry of the configuration.

        Raises:
            RuntimeError: there is none.
        """
        return _entry(self, self._entries, key)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fix a size that the model leaves open under this name."""
        self._sizes[name] = int(size)


class RunOptions:
    """Options of a run; they are kept and have no effect.

    Source:
        `onnxruntime.RunOptions`.
    """

    __slots__ = ("_entries", "log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "terminate")

    def __init__(self) -> None:
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.only_execute_path_to_fetches = self.terminate = False
        self._entries: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Keep an entry of the configuration."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """An entry of the configuration.

        Raises:
            RuntimeError: there is none.
        """
        return _entry(self, self._entries, key)


class NodeArg:
    """An input or output of a model.

    Attributes:
        name: of it.
        shape: sizes; the name of an open one, or None.
        type: "tensor(float)" and the like.

    Source:
        `onnxruntime.NodeArg`.
    """

    __slots__ = ("name", "shape", "type")

    def __init__(self, name: str, type: str, shape: list[Any]) -> None:
        self.name, self.type, self.shape = name, type, shape

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class ModelMetadata:
    """What a model says of itself.

    Source:
        `onnxruntime.ModelMetadata`.
    """

    def __init__(self, model: OnnxModel | None) -> None:
        if model is not None and not hasattr(model, "proto"):
            raise InvalidTypeError(f"ModelMetadata: a session makes it. Got {type(model).__name__}, expected a model. Call session.get_modelmeta().")
        proto = None if model is None else model.proto
        self.producer_name = "" if proto is None else proto.producer_name
        self.graph_name = "" if proto is None or proto.graph is None else proto.graph.name
        self.domain = "" if proto is None else proto.domain
        self.description = "" if proto is None else proto.doc
        self.graph_description = ""
        self.version = 0 if proto is None else proto.model_version
        self.custom_metadata_map = {} if proto is None else {entry.key: entry.value for entry in proto.metadata}


def _compiled(program: Program, level: int) -> Callable[..., list[Any]]:
    program.in_passes = True  # it is its session's alone
    return compiled(program, level=0 if level <= 0 else 1 if level == 1 else 2)


class _Input:
    """What a run checks an input against."""

    __slots__ = ("code", "dtype", "is_tensor", "last", "name", "shape", "taken", "type")

    def __init__(self, name: str, code: int, shape: list[Any] | None, type: str) -> None:
        self.name, self.code, self.shape, self.type = name, code, shape, type
        self.is_tensor = type.startswith("tensor(")
        self.dtype = NP_NAMES.get(code)
        self.last: tuple[Any, Any] = (None, None)  # dtype and shape that fitted last
        self.taken: tuple[Any, Any, Any] = (None, None, None)  # the type of array besides, where its memory is the input as it is


class InferenceSession:
    """A model that runs, with the interface of ONNX Runtime. Its first run makes it ready, which takes longer than those after it.

    Args:
        path_or_bytes: of an ONNX model (`.onnx`), or of a program of Paddle (`.pdmodel` with `.pdiparams` beside it, `.json`).
        sess_options: how it runs.
        providers: where it runs; there is "CPUExecutionProvider".
        provider_options: accepted, unused.
        **kwargs: accepted, unused.

    Shape:
        As the model has it: `[...]` of each input and output.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: it is damaged, or no model.
        NotImplementedError: the model has an operator that is not read.

    Source:
        `onnxruntime.InferenceSession`.

    Examples:
        >>> net = wherry.nn.Linear(3, 2)
        >>> path = wherry.onnx.export(net, "build/linear", input_spec=[wherry.static.InputSpec([None, 3], "float32", "x")], opset_version=13)
        >>> session = wherry.InferenceSession(path)
        >>> [x] = session.get_inputs()
        >>> x.name, x.type
        ('x', 'tensor(float)')
        >>> [y] = session.run(None, {"x": np.ones((5, 3), "float32")})
        >>> y.shape
        (5, 2)
    """

    def __init__(
        self, path_or_bytes: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None, **kwargs: Any,
    ) -> None:
        self._options = sess_options if sess_options is not None else SessionOptions()
        if not isinstance(path_or_bytes, (str, bytes, bytearray, os.PathLike)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        self._model: OnnxModel | None = None  # where runs need it
        self._metadata = ModelMetadata(None)
        self._by_shape: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()
        path = path_or_bytes if isinstance(path_or_bytes, (bytes, bytearray)) else os.fspath(path_or_bytes)
        if isinstance(path, str):
            self._require_file(path)
        of_paddle = isinstance(path, str) and path.endswith((".pdmodel", ".json"))
        program = self._program = self._open_program(str(path)) if of_paddle else self._open_onnx(path)
        self._names = [x.name for x in self._outputs]
        plain = {0, *NP_NAMES} - UNSIGNED.keys()  # numbers of dtypes whose arrays are results as they are
        self._plain = all(x.type.startswith("tensor(") and "bfloat16" not in x.type and code in plain for x, code in zip(self._outputs, self._codes))
        self._run: Callable[..., list[Any]] | None = None
        # Passes wait for the first run, as plans do: who only asks what a model is does not pay for them.
        level = int(self._options.graph_optimization_level)
        self._ready = None if program is None else Once(lambda: _compiled(program, level), "InferenceSession")
        self._threads = int(self._options.intra_op_num_threads)

    def __del__(self) -> None:
        # Weights and plans are parts of cycles, which would keep them until garbage is collected.
        for run in (self.__dict__.get("_run"), *self.__dict__.get("_by_shape", {}).values()):
            if isinstance(run, Executor):
                run.close()
        if (program := self.__dict__.get("_program")) is not None:
            program.dissolve()

    @staticmethod
    def _require_file(path: str) -> None:
        if not os.path.isfile(path):
            raise _failed(NoSuchFile, 3, "NO_SUCHFILE", f"Load model from {path} failed:Load model {path} failed. File doesn't exist")

    def _open_program(self, path: str) -> Program:
        program = load_model(os.path.splitext(path)[0], model_path=path, info=False)
        feed_offsets(program)  # of sequences: inputs as others, of integers
        self._inputs = [
            _Input(x.name, 0, [n if n >= 0 else None for n in x.sizes], type_name(x.dtype.name)) for x in program.feeds
        ]
        for x, feed in zip(self._inputs, program.feeds, strict=True):
            x.dtype = NP_NAMES[element_name(feed.dtype.name)]
        self._outputs = [NodeArg(x.name, type_name(x.dtype.name), [n if n >= 0 else None for n in x.sizes]) for x in program.fetches]
        self._codes = [0] * len(self._outputs)
        return program

    def _open_onnx(self, path: Any) -> Program | None:
        from wherry_onnx_files.errors import NeedsValue, UnreadableOp
        from wherry_onnx_files.models import read_model

        where = "" if isinstance(path, (bytes, bytearray)) else f"Load model from {path} failed:"
        try:
            model = read_model(path, mapped=True)
        except ModelFileError as error:
            text = f"{where}Failed to load model because protobuf parsing failed: {_without_kind(error)}"
            raise _failed(InvalidProtobuf, 7, "INVALID_PROTOBUF", text) from error
        self._fix_sizes(model)
        self._metadata = ModelMetadata(model)
        self._inputs = [_Input(p.name, p.code, p.shape, _type_of(p)) for p in model.inputs]
        self._outputs = [NodeArg(p.name, _type_of(p), p.shape if p.shape is not None else []) for p in model.outputs]
        self._codes = [p.code for p in model.outputs]
        try:
            return model.program()
        except NeedsValue:
            self._by_node, self._made_for_numbers = False, 0  # a shape of the call may be enough
            self._model = read_model(path)  # not in a file that others may write to meanwhile
            self._fix_sizes(self._model)
            return None
        except UnreadableOp as error:
            raise _failed(NotImplemented, 9, "NOT_IMPLEMENTED", f"{where}{_without_kind(error)}") from error
        except ModelFileError as error:
            raise _failed(InvalidGraph, 10, "INVALID_GRAPH", f"{where}{_without_kind(error)}") from error

    def _fix_sizes(self, model: OnnxModel) -> None:
        sizes = self._options._sizes
        for port in (*model.inputs, *model.outputs):
            if port.shape is not None and sizes:
                port.shape = [sizes.get(n, n) if isinstance(n, str) else n for n in port.shape]

    # What it is.

    def get_inputs(self) -> list[NodeArg]:
        """The inputs of the model."""
        return [NodeArg(x.name, x.type, x.shape if x.shape is not None else []) for x in self._inputs]

    def get_outputs(self) -> list[NodeArg]:
        """The outputs of the model."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Weights that `run` may be given; there are none."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself."""
        return self._metadata

    def get_session_options(self) -> SessionOptions:
        """How it runs."""
        return self._options

    def get_providers(self) -> list[str]:
        """Where it runs."""
        return [_CPU]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Options of where it runs."""
        return {_CPU: {}}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None) -> None:
        """Accepted: it runs on the processor."""

    def disable_fallback(self) -> None:
        """Accepted: there is no other provider."""

    def enable_fallback(self) -> None:
        """Accepted: there is no other provider."""

    # Running.

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None) -> list[Any]:
        """Run the model.

        Args:
            output_names: the outputs that are wanted, in order; None or an empty list takes all.
            input_feed: an array (or Tensor, or OrtValue) for each input, by name.
            run_options: accepted, unused.

        Returns:
            A NumPy array for each output; a list of them for a sequence, None for an empty optional. bfloat16 and float8 come as float32.

        Raises:
            ValueError: an input is missing, or its dtype or shape does not fit; there is no such output.
        """
        if len(input_feed) == len(self._inputs):
            given = []
            for x in self._inputs:  # most calls give what the call before gave
                data = input_feed.get(x.name)
                kind, dtype, shape = x.taken
                fits = type(data) is kind and data.dtype is dtype and data.shape == shape  # type: ignore[union-attr]
                given.append(from_buffer(data) if fits else self._taken(x, input_feed))
        else:
            given = self._given(input_feed)
        threads = set_thread_budget(self._threads)
        try:
            values = self._first(given) if self._run is None else self._run(*given)
        finally:
            set_thread_budget(threads)
        if not output_names:
            if self._plain:
                return [y.numpy() for y in values]
            return [array_of(y, code) for y, code in zip(values, self._codes)]
        return [array_of(values[at], self._codes[at]) for at in map(self._place, output_names)]

    def _place(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise _invalid(f"Invalid output name:{name}. Expected one of {self._names}.") from None

    def _given(self, feed: Mapping[str, Any]) -> list[Any]:
        names = [x.name for x in self._inputs]
        missing = [name for name in names if name not in feed]
        optional = {x.name for x in self._inputs if x.type.startswith("optional(")}
        if any(name not in optional for name in missing):
            raise InvalidArgument(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
        for name in feed:
            if name not in names:
                raise _invalid(f"Invalid input name: {name}. Expected one of {names}.")
        return [self._taken(x, feed) if x.name in feed else None for x in self._inputs]

    def _taken(self, x: _Input, feed: Mapping[str, Any]) -> Any:
        """An input as a tensor. NumPy's dtypes and shapes are compared only where they are others than in the call before."""
        try:
            data = feed[x.name]
        except KeyError:
            return self._given(feed)  # which says what is missing
        if type(data) is OrtValue:
            data = data._value
        if not x.is_tensor:
            return None if data is None else held(data, x.code)
        try:
            kind, shape = data.dtype, data.shape
        except AttributeError:
            import numpy as np

            if data is None or isinstance(data, (str, bytes)):
                raise RuntimeError(f"Input must be a list of dictionaries or a single numpy array for input '{x.name}'.") from None
            data = np.asarray(data)
            if data.dtype.name != x.dtype and data.dtype.kind in "iuf":  # of numbers of Python
                data = data.astype(x.dtype)
            kind, shape = data.dtype, data.shape
        if kind is not x.last[0] or shape != x.last[1]:
            _require_fitting(x, kind.name, list(shape))
            x.last = kind, shape
        if type(data) is Tensor or isinstance(data, Tensor):
            return data
        if x.code not in UNSIGNED:
            x.taken = type(data), kind, shape
        return held(data, x.code)

    def _first(self, values: list[Any]) -> list[Any]:
        """The first run of a program, and each of a model without one."""
        with no_grad():
            if self._ready is None:
                return self._without_program(values)
            self._run = run = self._ready()
            self._program = None  # its run has it
            return run(*values)

    def _without_program(self, values: list[Any]) -> list[Any]:
        """A program for these shapes, or for these shapes and numbers, if that is enough; else the model runs node by node."""
        model = self._model
        assert model is not None
        call = None
        if not self._by_node and all(isinstance(v, Tensor) for v in values):
            shapes = tuple(tuple(v.shape) for v in values)
            with self._lock:
                call = self._program_for(model, shapes, {})
                if call is None and not self._by_node:
                    numbers = {x.name: v for x, v in zip(self._inputs, values) if not v.dtype.is_floating and v.size <= _NUMBERS_OF_A_VALUE}
                    call = self._program_for(model, shapes, numbers) if numbers else None
                    self._by_node = call is None
        if call is not None:
            return call(*values)  # type: ignore[no-any-return]
        return model.run({x.name: v for x, v in zip(self._inputs, values)})

    def _program_for(self, model: OnnxModel, shapes: tuple[tuple[int, ...], ...], numbers: dict[str, Any]) -> Callable[..., list[Any]] | None:
        from wherry_onnx_files.errors import NeedsValue

        key = (shapes, *((name, tuple(v.flatten().tolist())) for name, v in numbers.items()))
        if key not in self._by_shape:
            if numbers:
                self._made_for_numbers += 1
                if self._made_for_numbers > _MADE_FOR_NUMBERS:  # they change from run to run
                    return None
            try:
                sizes = {x.name: list(shape) for x, shape in zip(self._inputs, shapes)}
                fixed = {name: v.clone() for name, v in numbers.items()}
                self._by_shape[key] = _compiled(model.program(sizes, values=fixed), int(self._options.graph_optimization_level))
            except NeedsValue:
                self._by_shape[key] = None
            while len(self._by_shape) > _SHAPES_KEPT:
                del self._by_shape[next(iter(self._by_shape))]
        return self._by_shape[key]  # type: ignore[no-any-return]

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: RunOptions | None = None
    ) -> list[OrtValue]:
        """As `run`, from OrtValues to OrtValues."""
        return [OrtValue.ortvalue_from_numpy(y) for y in self.run(output_names, input_dict_ort_values, run_options)]

    def run_async(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], callback: Callable[[list[Any], Any, str], Any], user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """As `run`, in another thread, which calls `callback(results, user_data, error)`."""

        def work() -> None:
            try:
                found, error = self.run(output_names, input_feed, run_options), ""
            except Exception as wrong:
                found, error = [], str(wrong)
            callback(found, user_data, error)

        threading.Thread(target=work, daemon=True).start()

    def io_binding(self) -> IOBinding:
        """Inputs and outputs that stay bound from run to run."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Run the model with what is bound."""
        iobinding._fill(self.run(iobinding._wanted() or None, iobinding._bound, run_options))


def _type_of(port: Any) -> str:
    return "map" if port.kind == "map" else str(port.form.format(type_name(port.type)))


def _require_fitting(x: _Input, dtype: str, shape: list[int]) -> None:
    if x.dtype is not None and dtype != x.dtype:
        raise _invalid(f"Unexpected input data type. Actual: ({type_name(dtype)}) , expected: ({x.type}) for input: {x.name}")
    if x.shape is None:
        return
    if len(shape) != len(x.shape):
        raise _invalid(
            f"Invalid rank for input: {x.name} Got: {len(shape)} Expected: {len(x.shape)} Please fix either the inputs/outputs or the model."
        )
    wrong = [(i, n, m) for i, (n, m) in enumerate(zip(shape, x.shape)) if type(m) is int and m >= 0 and n != m]
    if wrong:
        lines = "".join(f"\n index: {i} Got: {n} Expected: {m}" for i, n, m in wrong)
        raise _invalid(
            f"Got invalid dimensions for input: {x.name} for the following indices{lines}\n Please fix either the inputs/outputs or the model."
        )


class IOBinding:
    """Inputs and outputs of a session that stay bound from run to run.

    Args:
        session: that it belongs to.

    Source:
        `onnxruntime.IOBinding`.
    """

    def __init__(self, session: InferenceSession) -> None:
        if not isinstance(session, InferenceSession):
            raise InvalidTypeError(f"IOBinding: it belongs to a session. Got {type(session).__name__}, expected InferenceSession.")
        self._session = session
        self._bound: dict[str, Any] = {}
        self._targets: dict[str, OrtValue | None] = {}
        self._found: dict[str, Any] = {}

    def _require(self, name: str, names: Iterable[str]) -> None:
        if name not in names:
            raise RuntimeError(f"Failed to find NodeArg with name: {name} in the def list")

    @staticmethod
    def _require_value(value: Any) -> None:
        if not isinstance(value, OrtValue):
            raise InvalidTypeError(f"IOBinding: only an OrtValue is bound so. Got {type(value).__name__}, expected an OrtValue.")

    def bind_cpu_input(self, name: str, arr_on_cpu: np.ndarray) -> None:
        """Bind an array to an input."""
        self._require(name, [x.name for x in self._session._inputs])
        self._bound[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Bind an OrtValue to an input."""
        self._require_value(ortvalue)
        self.bind_cpu_input(name, ortvalue._value)

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None:
        """Bind memory of the processor to an input."""
        self.bind_cpu_input(name, array_at(buffer_ptr, element_type, shape, device_type))

    def bind_output(
        self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None, shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Want an output; with `buffer_ptr` it is written to that memory."""
        self._require(name, self._session._names)
        target = None
        if buffer_ptr is not None:
            target = OrtValue(array_at(buffer_ptr, element_type, shape or (), device_type))
        self._targets[name] = target

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Write an output to an OrtValue."""
        self._require_value(ortvalue)
        self._require(name, self._session._names)
        self._targets[name] = ortvalue

    def _wanted(self) -> list[str]:
        return list(self._targets)

    def _fill(self, results: list[Any]) -> None:
        names = self._wanted() or self._session._names
        self._found = dict(zip(names, results, strict=True))
        for name, target in self._targets.items():
            if target is not None:
                target.update_inplace(self._found[name])

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """What the last run gave for the bound outputs."""
        return [self._found[name] for name in self._wanted() or self._session._names]

    def get_outputs(self) -> list[OrtValue]:
        """What the last run gave for the bound outputs, as OrtValues."""
        return [OrtValue(x) for x in self.copy_outputs_to_cpu()]

    def clear_binding_inputs(self) -> None:
        """Forget what is bound to inputs."""
        self._bound.clear()

    def clear_binding_outputs(self) -> None:
        """Forget which outputs are wanted."""
        self._targets.clear()

    def synchronize_inputs(self) -> None:
        """Accepted: memory of the processor needs no waiting."""

    def synchronize_outputs(self) -> None:
        """Accepted: memory of the processor needs no waiting."""


SessionIOBinding = IOBinding


def get_available_providers() -> list[str]:
    """Where sessions run."""
    return [_CPU]


def get_all_providers() -> list[str]:
    """Where sessions run."""
    return [_CPU]


def get_device() -> str:
    """What sessions run on."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Accepted: sessions write no log."""


def set_seed(seed: int) -> None:
    """Seed the generator of random operators."""
    wherry_tensor.seed(integer(seed, "set_seed", "seed"))
