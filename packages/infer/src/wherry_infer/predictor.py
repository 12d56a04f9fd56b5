"""`Predictor`: a loaded program, its inputs and outputs."""
from __future__ import annotations

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import wherry_tensor
from wherry_autograd import no_grad
from wherry_infer import eight_bits, tensorrt
from wherry_infer.config import Config
from wherry_infer.first_run import Once
from wherry_infer.kinds import DataType, PrecisionType
from wherry_infer.precision import mixed
from wherry_paddle_files.models import have_other_ranks, load_model, params_from_bytes, save_model
from wherry_paddle_files.sequences import FedOffsets, fault_of_offsets, feed_offsets
from wherry_program.passes import Steps, blocked, elementwise, integers, packed_integers, packed_recurrent, unfused
from wherry_program.program.ir import Program, Variable
from wherry_program.run.executor import Executor, compiled
from wherry_program.run.interpreter import Interpreter
from wherry_program.run.products import Report, report_of
from wherry_tensor import Tensor as WherryTensor
from wherry_tensor import _core
from wherry_tensor._core import set_thread_budget
from wherry_tensor.arguments import integer, require
from wherry_tensor.device import Stream, absent, current_stream, device_code, is_known
from wherry_tensor.errors import InvalidArgumentError, NotFoundError, PreconditionNotMetError, UnavailableError, short
from wherry_tensor.explained import explained
from wherry_tensor.interop import from_dlpack

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Predictor", "PredictorPool", "Tensor", "create_predictor"]

_DTYPES = {
    "float32": DataType.FLOAT32, "int64": DataType.INT64, "int32": DataType.INT32, "uint8": DataType.UINT8, "int8": DataType.INT8,
    "float16": DataType.FLOAT16, "bool": DataType.BOOL, "float64": DataType.FLOAT64,
}


class _Home:
    """The device and stream of a predictor; a stream of None is the current one."""

    __slots__ = ("code", "name", "stream")

    def __init__(self, name: str, stream: Stream | None = None) -> None:
        self.name, self.stream = name, stream
        self.code = device_code(name, "create_predictor")

    @property
    def is_current(self) -> bool:
        """Whether it is the current device and stream of this thread."""
        return self.stream is None and int(_core.get_current_device()) == self.code

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A context in which it is the current device and stream of this thread."""
        device = _core.set_thread_current_device(self.code)
        stream = None if self.stream is None else _core.set_stream(self.stream.stream_base)
        try:
            yield
        finally:
            if stream is not None:
                _core.set_stream(stream)
            _core.set_thread_current_device(device)

    def waits(self) -> None:
        """Make this stream wait for the current one."""
        if self.stream is not None:
            self.stream.wait_stream(current_stream(self.stream.device))

    def is_waited_for(self) -> None:
        """Make the current stream wait for this one."""
        if self.stream is not None:
            current_stream(self.stream.device).wait_stream(self.stream)


_CPU = _Home("cpu")


class Tensor:
    """A handle of an input or output of a predictor: data is copied in before a run, and out after it.

    Args:
        name: its name in the program.
        dtype: of its elements.
        shape: of the program; -1 for any size.
        is_input: whether it is an input.

    Raises:
        TypeError: `name` or `dtype` is not a str.

    Source:
        `paddle.inference.Tensor`.

    Examples:
        >>> import tempfile
        >>> from wherry.inference import Config, create_predictor
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(wherry.nn.ReLU(), folder + "/net", input_spec=[wherry.static.InputSpec([None, 2], name="x")])
        ...     predictor = create_predictor(Config(folder + "/net.pdmodel", folder + "/net.pdiparams"))
        >>> predictor.get_input_handle("x").copy_from_cpu(np.array([[-1.0, 2.0]], "float32"))
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        array([[0., 2.]], dtype=float32)
    """

    def __init__(self, name: str, dtype: str, shape: Sequence[int], is_input: bool, home: _Home = _CPU) -> None:
        if not isinstance(name, str) or not isinstance(dtype, str):
            raise TypeError(f"inference.Tensor: name or dtype is not a str. Got name {short(name)}, expected a str. Call get_input_handle(name).")
        self._name = name
        self._dtype = dtype
        self._shape = list(shape)  # of the program; -1: any
        self._value: WherryTensor | None = None
        self._given: list[int] | None = None  # set by reshape
        self._is_input = is_input
        self._home = home
        self._shared = False  # its values are shared with the caller
        self._fitting: tuple[Any, list[int] | None] = None, None  # dtype and shape of the last input
        self._plain: tuple[Any, Any, Any] = None, None, None  # the type of array, dtype and shape of one that was copied as it is
        self._lod: list[list[int]] = []  # of an input, as it was set
        self._levels: list[Tensor] = []  # of a program with sequences: what holds each level of the offsets
        self._needs_offsets = False

    def name(self) -> str:
        """Its name in the program."""
        return self._name

    def copy_from_cpu(self, data: Any) -> None:
        """Take a copy of an array as the input, on the device that the program runs on.

        Raises:
            TypeError: it is not a NumPy array.
            ValueError: its dtype or shape is not that of the program, or this is an output.
        """
        kind, dtype, shape = self._plain
        # What fitted in the call before does so again; of a program on the CPU alone, whose memory this always is.
        if type(data) is kind and data.dtype is dtype and data.shape == shape:  # type: ignore[union-attr]
            self._value, self._shared, self._given = _core.from_buffer(data), False, self._fitting[1]
        else:
            self._take("copy_from_cpu", data, copy=True)

    def share_external_data(self, data: Any) -> None:
        """Take an array or Tensor as the input without a copy (of a read-only array there is one): it must stay as it is until the run is over.

        A run on a GPU reads a Tensor of that GPU where it lies, after what the current stream has to do with it; anything else is copied there
        by each run.

        Raises:
            TypeError, ValueError: as `copy_from_cpu`.
        """
        self._take("share_external_data", data, copy=False)

    def _take(self, what: str, data: Any, copy: bool) -> None:
        if not self._is_input:
            raise InvalidArgumentError(
                f"{what}: '{self._name}' is an output. Got data for it, expected them for an input. Take a handle of get_input_handle."
            )
        import numpy as np  # imported late: a page without a predictor does not need it

        if not isinstance(data, (np.ndarray, WherryTensor)):
            raise TypeError(
                f"{what}: '{self._name}' did not get an array. Got {type(data).__name__}, expected numpy.ndarray{'' if copy else ' or Tensor'}. "
                f"np.asarray(...) makes one."
            )
        kind, shape = data.dtype, list(data.shape)
        if kind is not self._fitting[0] or shape != self._fitting[1]:  # NumPy takes microseconds for the name of a dtype
            self._require_fitting(what, kind.name, shape)
            self._fitting = kind, shape
        self._shared = not copy
        if not copy:
            self._value = data if isinstance(data, WherryTensor) else from_dlpack(data)
        elif isinstance(data, WherryTensor):
            self._value = data.clone()
        elif self._home.is_current:
            self._value = wherry_tensor.to_tensor(data)
            plain: Any = data.dtype
            if self._home.code == 0 and plain.kind in "fib" and plain.isnative:
                self._plain = type(data), plain, data.shape
        else:
            with self._home.entered():
                self._value = wherry_tensor.to_tensor(data)
        self._given = shape

    def _require_fitting(self, what: str, dtype: str, shape: list[int]) -> None:
        if dtype != self._dtype:
            raise InvalidArgumentError(
                f"{what}: the dtype of '{self._name}' does not fit the program. Got {dtype}, expected {self._dtype} as the program has it. "
                f"Convert it: x.astype('{self._dtype}')"
            )
        if len(shape) != len(self._shape) or any(n not in (-1, m) for n, m in zip(self._shape, shape)):
            raise InvalidArgumentError(
                f"{what}: the shape of '{self._name}' does not fit the program. Got {shape}, expected {self._shape} (-1: any). Reshape the data."
            )

    def copy_to_cpu(self) -> np.ndarray:
        """Copy the values into a new array.

        Raises:
            RuntimeError: nothing was copied in, or no run has been made.
        """
        if self._value is None:
            raise RuntimeError(
                f"copy_to_cpu: '{self._name}' has no values yet. Got no {'copy_from_cpu' if self._is_input else 'run()'}, expected one before. "
                f"Call it first."
            )
        if self._home.stream is None:
            return self._value.numpy()
        with self._home.entered():  # which waits for that stream
            return self._value.numpy()

    def reshape(self, shape: Sequence[int] | int) -> None:
        """Set the shape of the next input. Copying an array in sets it too, so this may be left out."""
        sizes = [shape] if isinstance(shape, int) else list(shape)
        if len(sizes) != len(self._shape) or any(n not in (-1, m) for n, m in zip(self._shape, sizes)):
            raise InvalidArgumentError(
                f"reshape: the shape of '{self._name}' does not fit the program. Got {sizes}, expected {self._shape} (-1: any)."
            )
        if any(n < 0 for n in sizes):
            raise InvalidArgumentError(
                f"reshape: the sizes of '{self._name}' are those of the values that come next. Got {sizes}, expected none below 0. "
                f"Put the number of examples in place of -1."
            )
        self._given = sizes

    def shape(self) -> list[int]:
        """The shape of its values; before there are any, that of `reshape` or of the program."""
        return list(self._value.shape) if self._value is not None else list(self._given or self._shape)

    def type(self) -> DataType:
        """The DataType of its elements."""
        found = _DTYPES.get(self._dtype)
        if found is None:
            raise NotImplementedError(f"type: there is no DataType for {self._dtype}. Got '{self._name}', expected one of {', '.join(_DTYPES)}.")
        return found

    def lod(self) -> list[list[int]]:
        """The offsets of its sequences (level of detail): of an input as given to `set_lod`; of an output as the last run found them, [] if it
        has none."""
        if self._is_input or not self._levels:
            return [list(level) for level in self._lod]
        found = [[] if level._value is None else level._value.tolist() for level in self._levels]
        return found if all(found) else []

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Set the offsets of its sequences (level of detail): `[[0, 2, 5]]` for one of two rows and one of three.

        Args:
            lod: for each level its offsets, from the outermost in; [] takes them away.

        Raises:
            ValueError: a level does not begin with 0 or does not grow, the levels do not fit each other, or the program has more or fewer.
        """
        if not isinstance(lod, (list, tuple)) or not all(isinstance(level, (list, tuple)) for level in lod):
            raise InvalidArgumentError(f"set_lod: offsets come by level. Got {short(lod)}, expected a list of lists of ints. Write [[0, 2, 5]].")
        levels = [[integer(n, "set_lod", "lod") for n in level] for level in lod]
        if (fault := fault_of_offsets(levels, None)) is not None:
            raise InvalidArgumentError(f"set_lod: the offsets of '{self._name}' do not fit. Got {short(levels)}, expected {fault}.")
        if levels and self._levels and len(levels) != len(self._levels):
            raise InvalidArgumentError(
                f"set_lod: '{self._name}' has sequences of another depth. Got {len(levels)} levels, expected {len(self._levels)} as the program has."
            )
        self._lod = levels
        for level, offsets in zip(self._levels, levels or [[]] * len(self._levels)):
            level._value = wherry_tensor.to_tensor(offsets, dtype="int64")

    def _require_offsets(self) -> None:
        """Refuse offsets that do not fit the rows, or that are missing."""
        if self._needs_offsets and not self._lod:
            raise InvalidArgumentError(
                f"run: '{self._name}' holds sequences. Got no offsets, expected {len(self._levels)} levels of them. "
                f"predictor.get_input_handle({self._name!r}).set_lod([[0, 2, 5]]) says that the first sequence has two rows and the second one three."
            )
        rows = None if self._value is None else self._value.shape[0]
        if self._levels and (fault := fault_of_offsets(self._lod, rows)) is not None:
            raise InvalidArgumentError(
                f"run: the offsets of '{self._name}' do not fit. Got {short(self._lod)}, expected {fault}. Call set_lod with those of these rows."
            )

    def __repr__(self) -> str:
        return f"<{'input' if self._is_input else 'output'} '{self._name}' {self.shape()} {self._dtype}>"


_KEPT = 8  # models for other sizes


class _Model:
    """The program, weights and plans that a predictor and its clones share."""

    def __init__(self, config: Config, sizes: Mapping[str, Sequence[int]] | None = None) -> None:
        _refuse_hardware(config)
        self.config, self.sizes = Config(config), sizes
        self.others: dict[tuple[tuple[int, ...], ...], _Model] = {}  # by sizes
        self.saved = False
        kind, number = config._device
        self.home = _CPU if kind == "cpu" and config._stream is None else _Home("cpu" if kind == "cpu" else f"{kind}:{number}", config._stream)
        self.hands_over = config.tensorrt_engine_enabled() and tensorrt.available(config)
        if self.hands_over and config._stream is None:
            self.home = _Home(self.home.name, Stream(self.home.name))  # TensorRT waits for the whole GPU on the default one
        self.times: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self.shapes: dict[str, Counter[tuple[int, ...]]] = {}
        self._ready: Once[Program] | None = None
        self.lock = threading.Lock()
        device = _core.set_thread_current_device(_CPU.code)  # whatever the current device is
        try:
            self._begin()
        finally:
            _core.set_thread_current_device(device)

    def _begin(self) -> None:
        """Load the program, and make it ready unless that may wait."""
        config, program = self.config, self._loaded()
        self.calibrating = eight_bits.calibrating(program, config)
        first = None if self.calibrating is None else self.calibrating.program
        if first is None:
            program = self.in_whole_numbers(program)
            if self._may_wait:
                self.feeds, self.fetches = program.feeds, program.fetches
                self._waiting: Program | None = program
                me = weakref.ref(self)  # no cycle; whoever calls it holds the model
                self._ready = Once(lambda: me()._prepared(program), "create_predictor")  # type: ignore[union-attr]
                return
            program = self._prepared(program)
        else:
            program = first
        self.feeds, self.fetches = program.feeds, program.fetches
        self._take(program)
        if self.calibrating is not None and first is not None:
            me = weakref.ref(self)  # no cycle: tables are written when the last predictor goes
            self.run = lambda *values: me().watched(values)  # type: ignore[method-assign, union-attr]  # whoever calls it holds the model
            self._keeps = weakref.finalize(self, self.calibrating.keep)  # before the process ends, too

    @property
    def _may_wait(self) -> bool:
        """Whether passes may wait for the first run: on the CPU, where nobody asked to see what they do."""
        config = self.config
        return not (self.home.code or self.hands_over or config._save_optimized or config._ir_debug or config.pass_builder()._debug)

    @no_grad()
    def run(self, *values: Any) -> list[Any]:
        """The first run, if passes have waited for it; `_take` puts that of the program in its place."""
        _ = self.program
        return self.run(*values)

    @property
    def program(self) -> Program:
        """The program as it runs."""
        if self._ready is not None:
            with _CPU.entered():
                program = self._ready()
            with self.lock:
                if self._ready is not None:
                    self._take(program)
        return self._program

    def in_whole_numbers(self, program: Program) -> Program:
        """A program that was loaded, rounded by scales that were found for it."""
        found = self.calibrating
        return program if found is None or found.scales is None else found.rounded(program)

    def report(self, inputs: Sequence[Any], reference: _Model | None) -> Report:
        """What `Predictor.report` says."""
        with _CPU.entered():
            program, compared = self.in_whole_numbers(self._loaded()), None
            if reference is not None:
                compared = reference.in_whole_numbers(reference._loaded())
            elif inputs and self.calibrating is not None and self.calibrating.scales is not None:
                compared = self.calibrating.in_floats(self._loaded())
        for one in program, compared:
            self._bring(one)
        return report_of(program, inputs, compared, "report")

    def _bring(self, program: Program | None) -> None:
        """Bring the values of a program to the device."""
        if program is not None and self.home.code:
            for x in program.bound_variables():
                x.bound = _core.to_device(x.bound, self.home.code)
            _core.synchronize(self.home.code)  # runs on any stream find them

    def _take(self, program: Program) -> None:
        """Run this program from now on."""
        self._bring(program)
        if self.home.code:
            _keep_memory(self.home.code, self.config)
        self._program = program
        self.run = compiled(program)  # type: ignore[method-assign]
        self._ready = self._waiting = None

    @no_grad()
    def watched(self, values: Sequence[Any], hooks: Sequence[Callable[..., Any]] = ()) -> list[Any]:
        """A run op by op: for hooks, to measure, and to calibrate."""
        found = self.calibrating
        program = None if found is None else found.program
        if found is None or program is None:
            return _Watching(self, hooks)(*values)
        seen = _Watching(self, hooks, program, [*program.fetches, *found.observed])(*values)
        count = len(program.fetches)
        if found.see(seen[count:]):
            self._keeps.detach()
            with _CPU.entered():
                program = self._prepared(self.in_whole_numbers(self._loaded()))
            self._take(program)
        return seen[:count]

    def _loaded(self) -> Program:
        """The program of the files, in the precision that was asked for."""
        config = self.config
        if config._buffers is not None:
            program = params_from_bytes(*config._buffers, self.sizes)
        else:
            model, params = config.files()
            program = load_model("", model_path=model, params_path=params, sizes=self.sizes, info=False)
        self.ranks = program.__dict__["ranks"]
        program.__dict__.pop("described", None)  # other sizes are read from the files again
        self.offsets: FedOffsets | None = feed_offsets(program)
        narrow = config.tensorrt_precision_mode() if self.hands_over else config._mixed
        if narrow in (PrecisionType.Half, PrecisionType.Bfloat16) and not eight_bits.are_wanted(config):
            program = mixed(program, narrow, not config._low_precision_io, config._mixed_off)
        return program

    def _prepared(self, program: Program) -> Program:
        """The program after all passes, on the CPU."""
        config, hands_over = self.config, self.hands_over
        if config._ir_optim:
            # Chains would hide their ops from TensorRT, and so would products of integers those that say where values are rounded.
            last = integers if eight_bits.is_quantized(program) else elementwise
            builder = config.pass_builder()
            program.in_passes = True
            steps, weights = Steps(), program.bound_variables()
            for one in builder.functions():
                if one is blocked:  # from here on it is made for the kernels of this machine
                    self._save(program)
                    if self.home.code:
                        continue  # of its CPU
                    _let_go(program, weights)
                    weights = program.bound_variables()
                if one in (packed_recurrent, packed_integers) and self.home.code:
                    continue
                if one is last and hands_over:
                    hands_over = self._handed_over(program)
                program = steps.after(one, program)
                if builder._debug or config._ir_debug:
                    print(f"--- after {one.__name__}\n{program}")
            program.in_passes = False
            _let_go(program, weights)
            _core.release_memory_cache()
        if hands_over:
            self._handed_over(program)
        self._save(program)
        return program

    def at(self, sizes: Mapping[str, Sequence[int]]) -> _Model:
        """The model for inputs of these sizes: another one where the program has other ranks for them."""
        if not have_other_ranks(self.ranks, sizes):
            return self
        key = tuple(map(tuple, sizes.values()))
        with self.lock:
            if key not in self.others:
                if len(self.others) >= _KEPT:
                    del self.others[next(iter(self.others))]
                self.others[key] = _Model(self.config, sizes)
            return self.others[key]

    def _handed_over(self, program: Program) -> bool:
        """Put engines of TensorRT into the program; returns False if none can follow."""
        self._save(program)
        tensorrt.with_engines(program, self.config, self.home.code)
        return False

    def _save(self, program: Program) -> None:
        """Write what passes made of the program, once, where that was asked for."""
        config = self.config
        if config._save_optimized and config._buffers is None and not self.saved:
            name = os.path.splitext(os.path.basename(config.files()[0]))[0]
            folder = config._cache_dir or os.path.dirname(config.files()[0]) or "."
            save_model(os.path.join(folder, f"{name}_optimized"), unfused(program.copy()[0]))
            self.saved = True

    def __del__(self) -> None:
        # Weights and plans are parts of cycles, which would keep them until garbage is collected.
        if isinstance(run := self.__dict__.get("run"), Executor):
            run.close()
        elif (waiting := self.__dict__.get("_waiting")) is not None:
            waiting.dissolve()
        if getattr(self, "shapes", None) and self.config._shape_file:
            self.write_shapes()
        if getattr(self, "times", None) and self.config._profile:
            print(self.summary())

    def summary(self) -> str:
        """Time per op as a table."""
        total = sum(self.times.values()) or 1.0
        lines = [f"{'op':<24} {'calls':>8} {'total ms':>10} {'mean us':>10} {'share':>7}"]
        for name, spent in sorted(self.times.items(), key=lambda each: -each[1]):
            calls = self.calls[name]
            lines.append(f"{name:<24} {calls:>8} {spent * 1e3:>10.3f} {spent / calls * 1e6:>10.2f} {spent / total:>7.1%}")
        return "\n".join(lines)

    def write_shapes(self) -> None:
        """Write the shapes that were seen."""
        with open(self.config._shape_file, "w", encoding="utf-8") as file:
            for name, seen in self.shapes.items():
                columns = list(zip(*seen)) or [()]
                file.write(f'shape_range_info {{\n  name: "{name}"\n')
                for word, values in (
                    ("min_shape", [min(c) for c in columns if c]), ("max_shape", [max(c) for c in columns if c]),
                    ("opt_shape", list(seen.most_common(1)[0][0])),
                ):
                    file.writelines(f"  {word}: {n}\n" for n in values)
                file.write("}\n")


_kept: dict[int, int] = {}  # the bytes of freed memory that predictors want kept, by device


def _keep_memory(device: int, config: Config) -> None:
    wanted = config.memory_pool_init_size_mb() << 20
    if config.use_gpu() and wanted > _kept.get(device, 512 << 20):  # the core's default
        _kept[device] = wanted
        _core.set_memory_cache_limit(wanted, device)


def _let_go(program: Program, weights: Sequence[Variable]) -> None:
    """Drop those weights that the program no longer has: variables are parts of cycles, so that they would stay until garbage is collected."""
    kept = set(map(id, program.bound_variables()))
    for x in weights:
        if id(x) not in kept:
            x.bound = None


class _Watching(Interpreter):
    """Runs op by op: for hooks, and to measure."""

    def __init__(
        self, model: _Model, hooks: Sequence[Callable[..., Any]], program: Program | None = None, fetches: Sequence[Variable] | None = None
    ) -> None:
        super().__init__(program or model.program, fetches=fetches)
        self.model, self.hooks = model, hooks

    def run_node(self, node: Any, env: dict[int, Any]) -> None:
        begun = time.perf_counter()
        super().run_node(node, env)
        if self.model.config._profile:
            if self.model.home.code:
                _core.get_stream(self.model.home.code).synchronize()
            spent = time.perf_counter() - begun
            with self.model.lock:
                self.model.times[node.type] = self.model.times.get(node.type, 0.0) + spent
                self.model.calls[node.type] = self.model.calls.get(node.type, 0) + 1
        for hook in self.hooks:
            for x in node.outputs:
                hook(node.type, x.name, env.get(id(x)))


class Predictor:
    """A loaded program, ready to run. Made by `create_predictor`.

    One predictor belongs to one thread at a time; `clone()` gives another one with the same weights for another thread. On a GPU a clone has
    a stream of its own, so that threads do not wait for each other.

    Args:
        config: which program, and how to run it.

    Raises:
        TypeError: `config` is not a Config.
        As `create_predictor`.

    Source:
        `paddle.inference.Predictor`.

    Examples:
        >>> import tempfile
        >>> from wherry.inference import Config, create_predictor
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(wherry.nn.ReLU(), folder + "/net", input_spec=[wherry.static.InputSpec([None, 2], name="x")])
        ...     predictor = create_predictor(Config(folder + "/net.pdmodel", folder + "/net.pdiparams"))
        >>> predictor.get_input_names()
        ['x']
        >>> [y] = predictor.run([wherry.to_tensor([[-1.0, 2.0]])])
        >>> print(y.numpy())
        [[0. 2.]]
    """

    def __init__(self, config: Config) -> None:
        if not isinstance(config, Config):
            raise TypeError(f"create_predictor: got {type(config).__name__}, expected a Config. Config('net.pdmodel', 'net.pdiparams')")
        model = _Model(config)
        self._start(model, model.home)

    def _start(self, model: _Model, home: _Home) -> None:
        self._model, self._home = model, home
        ins = [Tensor(x.name, x.dtype.name, x.sizes, True, home) for x in model.feeds]
        self._handles = ins, [Tensor(x.name, x.dtype.name, x.sizes, False, home) for x in model.fetches]
        counts = [len(handles) for handles in self._handles]
        self._sequences: list[Tensor] = []  # the inputs with offsets
        if model.offsets is not None:
            counts = self._attach_levels(model.offsets)
        self._inputs, self._outputs = ({x.name(): x for x in handles[:n]} for handles, n in zip(self._handles, counts))
        self._hooks: list[Callable[..., Any]] = []
        config = model.config
        # Runs on the CPU that nobody watches, of one program for all shapes.
        self._plain = not (home.code or home.stream or model.ranks or config._profile or config._shape_file)
        self._threads = config._threads

    def _attach_levels(self, offsets: FedOffsets) -> list[int]:
        """Give handles those of their offsets, which stand after all others; returns how many others there are."""
        ins, outs = self._handles
        fed, fetched = ins[len(offsets.fed) :], outs[len(offsets.fetched) :]
        known, rest = [*fed, *fetched], list(fed)
        for handle, count, needed in zip(ins, offsets.fed, offsets.needed):
            handle._levels, rest = rest[:count], rest[count:]
            handle._needs_offsets = needed and bool(count)
            handle.set_lod([])
            if count:
                self._sequences.append(handle)
        for handle, places in zip(outs, offsets.fetched):
            handle._levels = [known[i] for i in places]
        return [len(offsets.fed), len(offsets.fetched)]

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """The input of this name.

        Raises:
            RuntimeError: the program has no such input.
        """
        return _named("get_input_handle", "input", name, self._inputs)

    def get_output_handle(self, name: str) -> Tensor:
        """The output of this name.

        Raises:
            RuntimeError: the program has no such output.
        """
        return _named("get_output_handle", "output", name, self._outputs)

    def run(self, inputs: Sequence[Any] | None = None) -> Any:
        """Run the program.

        Args:
            inputs: a Tensor or array for each input, in order; None takes what was copied into the handles.

        Returns:
            With `inputs`, a list of Tensors, one for each output; else None: take them from the handles.

        Raises:
            ValueError: an input is missing, or does not fit.
        """
        handles, results = self._handles
        if self._sequences and inputs is None:
            self._require_all_offsets()
        if inputs is None and self._plain and not self._hooks and not _core.get_current_device():
            given: list[Any] = [handle._value for handle in handles]
            for value in given:
                if value is None or _core.device_of(value):
                    break  # the rest says what is missing, or copies it here
            else:
                before = set_thread_budget(self._threads)
                try:
                    values = self._model.run(*given)  # which records no gradients
                finally:
                    set_thread_budget(before)
                for handle, value in zip(results, values, strict=True):
                    handle._value = value
                return None
        if inputs is not None:
            if len(inputs) != len(self._inputs):
                raise InvalidArgumentError(f"run: got {len(inputs)} inputs, expected {len(self._inputs)}: {list(self._inputs)}.")
            for handle, data in zip(handles, inputs):
                handle._take("run", data, copy=False)
            self._require_all_offsets()
        given = [handle._value for handle in handles]
        if any([value is None for value in given]):  # noqa: C419  a generator takes longer than the rest
            missing = [handle._name for handle in handles if handle._value is None]
            raise InvalidArgumentError(
                f"run: inputs have no values. Got none for {missing}, expected copy_from_cpu for each. "
                f"predictor.get_input_handle({missing[0]!r}).copy_from_cpu(array)"
            )
        home = self._home
        if home.is_current:
            values = self._answered(given)
        else:
            if any(handle._shared for handle in handles):
                home.waits()
            with home.entered():
                values = self._answered(given)
            if inputs is not None:
                home.is_waited_for()
        for handle, value in zip(results, values, strict=True):
            handle._value = value
        if self._model.config._shape_file:
            with self._model.lock:
                for handle in (*handles, *results):
                    self._model.shapes.setdefault(handle._name, Counter())[tuple(handle.shape())] += 1
        return list(values[: len(self._outputs)]) if inputs is not None else None

    def _require_all_offsets(self) -> None:
        for handle in self._sequences:
            handle._require_offsets()

    def _answered(self, values: list[Any]) -> list[Any]:
        model, config, code = self._model, self._model.config, self._home.code
        if model.ranks:
            model = model.at({handle._name: value.shape for handle, value in zip(self._handles[0], values)})
        for value in values:
            if _core.device_of(value) != code:
                values = [_core.to_device(value, code) for value in values]
                break
        before = set_thread_budget(config._threads)
        try:
            if self._hooks or config._profile:
                return model.watched(values, self._hooks)
            return model.run(*values)
        finally:
            set_thread_budget(before)

    def clone(self, stream: Stream | None = None) -> Predictor:
        """Another predictor of the same program and weights, with inputs and outputs of its own. It may outlive this one.

        Args:
            stream: of the GPU that the program runs on; None makes one. Elsewhere there are none.

        Raises:
            ValueError: the stream belongs to another device.
        """
        home = self._model.home
        if stream is not None:
            place = require(stream, Stream, "clone", "stream", "Make one with paddle.device.cuda.Stream(), or leave it out.").device
            if repr(place) != f"Place({home.name})":
                raise InvalidArgumentError(f"clone: the stream belongs to another device. Got one of {place}, expected one of {home.name}.")
        elif home.name.startswith("gpu:"):
            stream = Stream(home.name)
        other = Predictor.__new__(Predictor)
        other._start(self._model, home if stream is None else _Home(home.name, stream))
        return other

    def register_output_hook(self, hook: Callable[[str, str, Any], None]) -> None:
        """Call `hook(op_type, variable_name, tensor)` for each value that the program computes. It then runs op by op."""
        if not callable(hook):
            raise TypeError(f"register_output_hook: got {type(hook).__name__}, expected a function of (op_type, variable_name, tensor).")
        self._hooks.append(hook)

    def clear_intermediate_tensor(self) -> None:
        """Free what is kept between runs."""
        if self._model.calibrating is None or self._model.calibrating.scales is not None:
            self._model.run = compiled(self._model.program)  # type: ignore[method-assign]

    def try_shrink_memory(self) -> int:
        """Return memory that is kept for later runs to the system; returns the number of bytes."""
        device = self._home.code
        before = _core.memory_stats(device)["reserved"]
        self.clear_intermediate_tensor()
        _core.release_memory_cache(device)
        return max(0, int(before - _core.memory_stats(device)["reserved"]))

    def profile_summary(self) -> str:
        """With `Config.enable_profile`, time per op so far as a table."""
        return self._model.summary()

    def report(self, inputs: Sequence[Any] | None = None, reference: Predictor | None = None) -> Report:
        """Say of each product of the program whether it runs in integers and why not, how long it takes, how large its weight is, and its error.

        It is what `wherry.quant.report` says of models: of Wherry's own kernels, each product with what was fused into it. (`profile_summary` has
        the times of all ops.)

        Args:
            inputs: a Tensor or array for each input, in order, for times and errors.
            reference: a predictor of the float model, for the ratios of signal to noise. A program that this predictor calibrated needs none.

        Returns:
            A report; as text, a table.

        Raises:
            ValueError: inputs are missing or do not fit, or the reference has other products.
            TypeError: the reference is not a predictor.

        Examples:
            >>> import tempfile
            >>> from wherry.inference import Config, create_predictor
            >>> x = np.random.rand(8, 16).astype("float32")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     wherry.jit.save(wherry.nn.Linear(16, 4), folder + "/net", input_spec=[wherry.static.InputSpec([None, 16], name="x")])
            ...     config = Config(folder + "/net.pdmodel", folder + "/net.pdiparams")
            ...     config.enable_quantizer()
            ...     config.quantizer_config().set_quant_data([x])
            ...     found = create_predictor(config).report([x])
            >>> [(row.op, row.runs_in, row.snr > 25) for row in found.rows]
            [('linear', 'int8', True)]
        """
        if reference is not None:
            require(reference, Predictor, "report", "reference", "create_predictor(config) of the float model.")
        given = [] if inputs is None else list(inputs)
        if inputs is not None and len(given) != len(self._inputs):
            raise InvalidArgumentError(f"report: got {len(given)} inputs, expected {len(self._inputs)}: {list(self._inputs)}.")
        handles = [Tensor(x._name, x._dtype, x._shape, True, self._home) for x in self._handles[0]]
        for handle, data in zip(handles, given):
            handle._take("report", data, copy=False)
        if given and self._sequences:  # with the offsets that were set
            for handle, own in zip(handles[len(given) :], self._handles[0][len(given) :]):
                handle._value = own._value
        model = self._model
        if model.ranks and given:
            model = model.at({handle._name: handle.shape() for handle in handles})
        before = set_thread_budget(model.config._threads)
        try:
            with self._home.entered():
                values = [_core.to_device(handle._value, self._home.code) for handle in handles if handle._value is not None]
                return model.report(values, None if reference is None else reference._model)
        finally:
            set_thread_budget(before)

    def __repr__(self) -> str:
        return f"<Predictor of {self.get_input_names()} -> {self.get_output_names()}>"


class PredictorPool:
    """Predictors of one program for several threads. They share the weights.

    Args:
        config: the configuration of all of them.
        size: the number of predictors, at least 1.

    Raises:
        ValueError: `size` is not an int of 1 or more.
        As `create_predictor`.

    Source:
        `paddle.inference.PredictorPool`.

    Examples:
        >>> import tempfile
        >>> from wherry.inference import Config, PredictorPool
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(wherry.nn.ReLU(), folder + "/net", input_spec=[wherry.static.InputSpec([None, 2], name="x")])
        ...     pool = PredictorPool(Config(folder + "/net.pdmodel", folder + "/net.pdiparams"), size=2)
        >>> [y] = pool.retrieve(1).run([wherry.to_tensor([[-1.0, 2.0]])])
        >>> print(y.numpy())
        [[0. 2.]]
    """

    def __init__(self, config: Config, size: int) -> None:
        if not isinstance(size, int) or size < 1:
            raise InvalidArgumentError(f"PredictorPool: got a size of {short(size)}, expected a number >= 1.")
        first = create_predictor(config)
        self._all = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, index: int) -> Predictor:
        """The predictor at a position. (The spelling is Paddle's.)

        Raises:
            ValueError: `index` is out of range.
        """
        index = integer(index, "retrive", "index")
        if not 0 <= index < len(self._all):
            raise InvalidArgumentError(f"retrive: got index {index}, expected one in [0, {len(self._all)}).")
        return self._all[index]

    retrieve = retrive


def create_predictor(config: Config) -> Predictor:
    """Load a program. On the CPU its first run makes it ready, which takes longer than those after it.

    Args:
        config: which program, and how to run it.

    Raises:
        FileNotFoundError: there are no such files.
        ValueError: they are damaged, or do not belong together.
        NotImplementedError: the program has an op that cannot be read; the message names it.
        RuntimeError: the configuration asks for hardware that is not there.

    Source:
        `paddle.inference.create_predictor`.

    Examples:
        >>> import tempfile
        >>> from wherry.inference import Config, create_predictor
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(wherry.nn.ReLU(), folder + "/net", input_spec=[wherry.static.InputSpec([None, 2], name="x")])
        ...     predictor = create_predictor(Config(folder + "/net.pdmodel", folder + "/net.pdiparams"))
        >>> [y] = predictor.run([wherry.to_tensor([[-1.0, 2.0]])])
        >>> print(y.numpy())
        [[0. 2.]]
    """
    return Predictor(config)


def _refuse_hardware(config: Config) -> None:
    for device, switch in config._hardware.items():
        if not is_known(device):
            raise UnavailableError(
                f"create_predictor: {switch} asks for what is not there, {absent(switch, device)} Without the switch the program runs on the cpu."
            )
    if config.tensorrt_engine_enabled() and not config.use_gpu():
        raise PreconditionNotMetError(
            "create_predictor: enable_tensorrt_engine asks for TensorRT, which runs on GPUs. Got a configuration for the cpu. "
            "Call enable_use_gpu(100, 0) too, or leave the switch out."
        )


def _named(what: str, kind: str, name: str, handles: dict[str, Tensor]) -> Tensor:
    if not isinstance(name, str) or name not in handles:
        raise NotFoundError(f"{what}: the program has no such {kind}. Got {short(name)}, expected one of {list(handles)}.")
    return handles[name]


explained(globals())
