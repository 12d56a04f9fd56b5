"""`Config`: which program to run, and how.

It has all of Paddle's switches. Asking for hardware that is not there raises no error yet, as a
configuration is often written before it is known where it runs; `create_predictor` refuses it and names the switch and what is
missing. Switches of libraries that Wherry does not use (oneDNN, Lite, the executors of Paddle) are stored and have no effect.
"""
from __future__ import annotations

import copy
import functools
import inspect
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import wherry_tensor
from wherry_infer.kinds import PrecisionType
from wherry_program import passes as graph_passes
from wherry_tensor import cuda
from wherry_tensor.arguments import integer, require
from wherry_tensor.device import Stream, is_known
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.explained import explained

__all__ = ["Config", "PassBuilder", "QuantizerConfig", "XpuConfig"]

_log = logging.getLogger("wherry.inference")


class PassBuilder:
    """The passes that a program goes through before it runs, in order; `Config.pass_builder` gives it.

    Names are those of `wherry_program.passes`. Those of Paddle's own are accepted by `delete_pass`, where there is nothing to delete.

    Raises:
        ValueError: in `append_pass`, `insert_pass` and `set_passes`, a name is not that of a pass.

    Source:
        `paddle.inference.PassBuilder`.

    Examples:
        >>> from wherry.inference import Config
        >>> passes = Config().pass_builder()
        >>> passes.set_passes(["constants", "dead_code"])
        >>> passes.delete_pass("constants")
        >>> passes.all_passes()
        ['dead_code']
    """

    def __init__(self) -> None:
        self._names = list(_INFERENCE)
        self._debug = False

    def __deepcopy__(self, memo: dict[int, Any]) -> PassBuilder:
        out = type(self).__new__(type(self))
        out._names, out._debug = list(self._names), self._debug
        return out

    def all_passes(self) -> list[str]:
        """The names of the passes, in order."""
        return list(self._names)

    analysis_passes = all_passes

    def append_pass(self, name: str) -> None:
        """Add a pass at the end."""
        self.insert_pass(len(self._names), name)

    append_analysis_pass = append_pass

    def insert_pass(self, index: int, name: str) -> None:
        """Insert a pass before position `index`."""
        _pass_named(name)
        self._names.insert(index, name)

    def delete_pass(self, name: str) -> None:
        """Remove a pass, at all of its positions."""
        self._names = [one for one in self._names if one != name]

    def set_passes(self, names: Sequence[str]) -> None:
        """Replace all passes."""
        for name in names:
            _pass_named(name)
        self._names = list(names)

    def turn_on_debug(self) -> None:
        """Print the program after each pass."""
        self._debug = True

    def debug_string(self) -> str:
        """The names as text."""
        return "Passes to apply:\n" + "\n".join(f"  - {name}" for name in self._names)

    def functions(self) -> list[Callable[[Any], Any]]:
        """The passes as functions of a program."""
        return [_pass_named(name) for name in self._names]


_INFERENCE = [one.__name__ for one in graph_passes.pipeline(graph_passes.INFERENCE)]


def _pass_named(name: str) -> Callable[[Any], Any]:
    found = getattr(graph_passes, name, None) if isinstance(name, str) and name in graph_passes.__all__ and name.islower() else None
    if found is None or name in ("default", "pipeline"):
        known = [n for n in graph_passes.__all__ if n.islower() and n not in ("default", "pipeline")]
        raise InvalidArgumentError(
            f"pass_builder: the pass is unknown. Got {short(name)}, expected one of {', '.join(known)}. Paddle's own do not exist here."
        )
    return found


_Switch = TypeVar("_Switch", bound=Callable[..., None])


def _without_effect(switch: _Switch) -> _Switch:
    """A method that keeps its arguments under its name, without `enable_`, `disable_` or `set_`; they change nothing."""
    signature, name = inspect.signature(switch), re.sub("^(exp_)?(enable|disable|set)_", "", switch.__name__)
    on = not switch.__name__.startswith("disable_")

    @functools.wraps(switch)
    def keep(self: Config, *args: Any, **kwargs: Any) -> None:
        switch(self, *args, **kwargs)  # which refuses arguments that it does not have
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        self._other[name] = given.args[1:] or on

    keep.__doc__ = "Stored, without effect."
    return keep  # type: ignore[return-value]  # the same signature


class XpuConfig:
    """Settings of Kunlun devices, stored and not used.

    Source:
        `paddle.inference.XpuConfig`.

    Examples:
        >>> from wherry.inference import Config, XpuConfig
        >>> settings = XpuConfig()
        >>> settings.device_id = 1
        >>> config = Config()
        >>> config.set_xpu_config(settings)
        >>> config.xpu_config().device_id
        1
    """

    def __init__(self) -> None:
        self.device_id = 0
        self.l3_size = 0
        self.l3_ptr: Any = None
        self.l3_autotune_size = 0
        self.context: Any = None
        self.context_gm_size = -1
        self.stream: Any = None
        self.conv_autotune_level = 0
        self.conv_autotune_file = ""
        self.conv_autotune_file_writeback = False
        self.fc_autotune_level = 0
        self.fc_autotune_file = ""
        self.fc_autotune_file_writeback = False
        self.gemm_compute_precision = 1
        self.transformer_softmax_optimize_level = 0
        self.transformer_encoder_adaptive_seqlen = True
        self.quant_post_static_gelu_out_threshold = 10.0
        self.quant_post_dynamic_activation_method = 0
        self.quant_post_dynamic_weight_precision = 1
        self.quant_post_dynamic_op_types: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> XpuConfig:
        out = type(self).__new__(type(self))
        out.__dict__.update(self.__dict__, quant_post_dynamic_op_types=list(self.quant_post_dynamic_op_types))
        return out


class QuantizerConfig:
    """How a model in floats is quantized while it is loaded; `Config.quantizer_config` gives it.

    Source:
        `paddle.base.core.MkldnnQuantizerConfig`, what `paddle.inference.Config.quantizer_config` returns.

    Examples:
        >>> from wherry.inference import QuantizerConfig
        >>> settings = QuantizerConfig()
        >>> settings.set_quant_data([np.zeros([32, 3], "float32")])
        >>> settings.data[0].shape
        (32, 3)
    """

    def __init__(self) -> None:
        self.data: list[Any] | None = None

    def set_quant_data(self, data: Sequence[Any]) -> None:
        """Set the inputs of one run, on which scales are found: an array or a Tensor for each input of the model, in order.

        Raises:
            TypeError: it is not a list of arrays.
        """
        if isinstance(data, (str, bytes)) or not isinstance(data, Sequence) or not all(hasattr(x, "shape") for x in data):
            raise InvalidTypeError(
                f"set_quant_data: these are no inputs of a model. Got {short(data)} ({type(data).__name__}), expected a list of arrays, one for "
                f"each input."
            )
        self.data = list(data)

    def set_quant_batch_size(self, size: int) -> None:
        """Stored: the data say how many examples they are."""
        self.batch_size = integer(size, "set_quant_batch_size", "size")

    def set_enabled_op_types(self, names: Iterable[str]) -> None:
        """Stored: convolutions and matrix products are quantized."""
        self.enabled_op_types = set(names)


_WHOLE = frozenset((str, int, bool, float, type(None), tuple, PrecisionType))  # what cannot change takes longer to walk over than all the rest


class Config:
    """Which program to run, and how.

    Args:
        prog: the program's file (`.pdmodel`) or, without a second argument, a folder with `__model__` or one `.pdmodel` in it; another
            Config is copied.
        params: the parameters' file (`.pdiparams`).

    Raises:
        TypeError: `prog` or `params` is not a str.

    Source:
        `paddle.inference.Config`.

    Examples:
        >>> from wherry.inference import Config
        >>> config = Config("lenet.pdmodel", "lenet.pdiparams")
        >>> config.set_cpu_math_library_num_threads(2)
        >>> config.prog_file(), config.cpu_math_library_num_threads(), config.ir_optim()
        ('lenet.pdmodel', 2, True)
    """

    Precision = PrecisionType
    Float32, Int8, Half, Bfloat16 = PrecisionType.Float32, PrecisionType.Int8, PrecisionType.Half, PrecisionType.Bfloat16

    def __init__(self, prog: str | Config | None = None, params: str | None = None) -> None:
        if isinstance(prog, Config):
            self._copy(prog)
            return
        self._model_dir = ""
        self._prog_file = ""
        self._params_file = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._threads = 0  # 0: as many as the process uses
        self._ir_optim = True
        self._ir_debug = False
        self._memory_optim = False
        self._profile = False
        self._log = True
        self._save_optimized = False
        self._cache_dir = ""
        self._specify_names = False
        self._feed_fetch = False
        self._passes = PassBuilder()
        self._shape_file = ""
        self._mixed: PrecisionType = PrecisionType.Float32
        self._mixed_off: set[str] = set()
        self._low_precision_io = False
        self._int8 = False
        self._quantizer: QuantizerConfig | None = None
        self._calibration_batches = 32
        self._hardware: dict[str, str] = {}  # a device that was asked for -> the switch that asked
        self._device = ("cpu", 0)
        self._gpu = (0, 100)  # device, MB of its pool
        self._stream: Stream | None = None
        self._trt: dict[str, Any] = {}
        self._other: dict[str, Any] = {}  # settings of TensorRT, and what `_without_effect` keeps
        self._xpu = XpuConfig()
        if prog is not None:
            self.set_model(prog, params) if params is not None else self.set_model(prog)

    def _copy(self, other: Config) -> None:
        own = self.__dict__
        own.update(other.__dict__)
        for name, value in other.__dict__.items():
            kind = type(value)
            if kind in _WHOLE or name in ("_buffers", "_stream"):
                continue
            if kind in (PassBuilder, XpuConfig):
                own[name] = value.__deepcopy__({})
            elif kind in (dict, list, set) and not value:
                own[name] = kind()
            else:
                own[name] = copy.deepcopy(value)

    # The program.

    def set_model(self, prog: str, params: str | None = None) -> None:
        """The files: a folder, or the program's file and the parameters' file."""
        _texts("set_model", prog=prog, params=params)
        if params is None:
            self._model_dir, self._prog_file, self._params_file = prog, "", ""
        else:
            self._model_dir, self._prog_file, self._params_file = "", prog, params
        self._buffers = None

    def set_prog_file(self, path: str) -> None:
        """The program's file."""
        _texts("set_prog_file", path=path)
        self._prog_file = path

    def set_params_file(self, path: str) -> None:
        """The parameters' file."""
        _texts("set_params_file", path=path)
        self._params_file = path

    def set_model_buffer(self, prog: bytes | str, prog_size: int, params: bytes | str, params_size: int) -> None:
        """A model in memory: the contents of both files and their lengths in bytes.

        Raises:
            ValueError: a length is larger than what is given.
        """
        contents = []
        for name, data, size in (("prog", prog, prog_size), ("params", params, params_size)):
            raw = data if isinstance(data, bytes) else data.encode("latin-1") if isinstance(data, str) else bytes(data)
            if not 0 <= size <= len(raw):
                raise InvalidArgumentError(
                    f"set_model_buffer: {name} is shorter than its size. Got {len(raw)} bytes and a size of {size}, expected at most "
                    f"{len(raw)}. Pass len() of the contents."
                )
            contents.append(raw[:size])
        self._buffers = (contents[0], contents[1])

    def model_dir(self) -> str:
        """The folder; "" if files were named."""
        return self._model_dir

    def prog_file(self) -> str:
        """The program's file."""
        return self._prog_file

    def params_file(self) -> str:
        """The parameters' file."""
        return self._params_file

    def model_from_memory(self) -> bool:
        """Whether the model was given as buffers."""
        return self._buffers is not None

    # How it runs.

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """Set how many threads kernels use, at least 1. The default is that of the process (in Paddle 1)."""
        if not isinstance(count, int) or count < 1:
            raise InvalidArgumentError(f"set_cpu_math_library_num_threads: got {short(count)}, expected a number of threads >= 1.")
        self._threads = count

    def cpu_math_library_num_threads(self) -> int:
        """How many threads kernels use."""
        return self._threads or wherry_tensor.get_num_threads()

    def switch_ir_optim(self, x: int = True) -> None:
        """Set whether the program goes through the passes of `pass_builder()`."""
        self._ir_optim = bool(x)

    def ir_optim(self) -> bool:
        """Whether the program goes through passes."""
        return self._ir_optim

    def switch_ir_debug(self, x: int = True) -> None:
        """Print the program after each pass."""
        self._ir_debug = bool(x)

    def pass_builder(self) -> PassBuilder:
        """The passes, which can be changed."""
        return self._passes

    def delete_pass(self, name: str) -> None:
        """Remove a pass."""
        self._passes.delete_pass(name)

    def enable_memory_optim(self, x: bool = True) -> None:
        """Let values whose lifetimes do not overlap share memory. They always do here; the switch is stored."""
        self._memory_optim = bool(x)

    def enable_profile(self) -> None:
        """Measure each op; the predictor prints a table when it is deleted, or `profile_summary()` gives it."""
        self._profile = True

    def disable_glog_info(self) -> None:
        """Print nothing while a model is loaded."""
        self._log = False

    def glog_info_disabled(self) -> bool:
        """Whether loading prints nothing."""
        return not self._log

    def enable_save_optim_model(self, save_optimized_model: bool = False) -> None:
        """Save the program after the passes, as `_optimized.pdmodel` and `.pdiparams` in `set_optim_cache_dir`, or beside the model."""
        self._save_optimized = bool(save_optimized_model)

    def set_optim_cache_dir(self, path: str) -> None:
        """Where the optimized model, engines of TensorRT and scales of calibration are kept."""
        _texts("set_optim_cache_dir", path=path)
        self._cache_dir = path

    def _cache_folder(self) -> str:
        """Where engines and tables of scales are kept."""
        if self._cache_dir:
            return self._cache_dir
        return os.path.join("." if self.model_from_memory() else os.path.dirname(self.files()[0]) or ".", "_opt_cache")

    def _say(self, level: int, text: str) -> None:
        """Write a line into the log."""
        if self._log:
            _log.log(level, text)

    def switch_specify_input_names(self, x: bool = True) -> None:
        """Stored; inputs always have names here."""
        self._specify_names = bool(x)

    def specify_input_name(self) -> bool:
        """Whether `switch_specify_input_names` is on."""
        return self._specify_names

    def switch_use_feed_fetch_ops(self, x: int = True) -> None:
        """Stored; data always goes through handles here."""
        self._feed_fetch = bool(x)

    def use_feed_fetch_ops_enabled(self) -> bool:
        """Whether `switch_use_feed_fetch_ops` is on."""
        return self._feed_fetch

    def collect_shape_range_info(self, path: str) -> None:
        """Record the smallest, largest and most frequent shape of each input and output, and write them to a file when the predictor is deleted."""
        _texts("collect_shape_range_info", path=path)
        self._shape_file = path

    def shape_range_info_path(self) -> str:
        """The file of `collect_shape_range_info`."""
        return self._shape_file

    def shape_range_info_collected(self) -> bool:
        """Whether shapes are recorded."""
        return bool(self._shape_file)

    def exp_disable_mixed_precision_ops(self, names: Iterable[str]) -> None:
        """Ops that stay in float32 when the program computes in 16 bits."""
        self._mixed_off = set(names)

    @_without_effect
    def exp_enable_mixed_precision_ops(self, names: Iterable[str]) -> None: ...

    def enable_low_precision_io(self, x: bool = True) -> None:
        """Set whether inputs and outputs have 16 bits too, when the program computes in them."""
        self._low_precision_io = bool(x)

    # Devices.

    def enable_use_gpu(self, memory_pool_init_size_mb: int, device_id: int = 0, precision_mode: PrecisionType = PrecisionType.Float32) -> None:
        """Run on a GPU, whatever device the process has set.

        Args:
            memory_pool_init_size_mb: megabytes of freed memory that are kept for later runs, where that is more than the device keeps by
                itself. No memory is allocated before it is needed.
            device_id: which one.
            precision_mode: Half or Bfloat16 computes in 16 bits; weights are cast once, while the program is loaded.

        Raises:
            ValueError: a number is negative, or the precision is Int8, which is a matter of the model.

        Source:
            `paddle.inference.Config.enable_use_gpu`.
        """
        _counts("enable_use_gpu", 0, "enable_use_gpu(100, 0), say.", memory_pool_init_size_mb=memory_pool_init_size_mb, device_id=device_id)
        self._mixed = self._narrow("enable_use_gpu", precision_mode)
        self._gpu, self._device = (device_id, memory_pool_init_size_mb), ("gpu", device_id)
        self._hardware["gpu"] = "enable_use_gpu"

    def _narrow(self, what: str, precision: PrecisionType) -> PrecisionType:
        kind = PrecisionType(precision)
        if kind is PrecisionType.Int8:
            raise InvalidArgumentError(
                f"{what}: 8 bits are a matter of the model. Got Int8, expected Float32, Half or Bfloat16. Quantized models run in integers without "
                f"it; enable_tensorrt_engine(precision_mode=PrecisionType.Int8) and enable_quantizer() calibrate others."
            )
        return kind

    def disable_gpu(self) -> None:
        """Run on the CPU, whatever device the process has set."""
        if self._hardware.pop("gpu", None):
            self._mixed = PrecisionType.Float32  # 16 bits were asked for there
        self._device, self._stream = ("cpu", 0), None

    def use_gpu(self) -> bool:
        """Whether `enable_use_gpu` was called."""
        return "gpu" in self._hardware

    def gpu_device_id(self) -> int:
        """The number of the GPU."""
        return self._gpu[0]

    def memory_pool_init_size_mb(self) -> int:
        """The megabytes given to `enable_use_gpu`."""
        return self._gpu[1]

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """`memory_pool_init_size_mb()` divided by the memory of the GPU; 0 without one."""
        if not (self.use_gpu() and is_known("gpu") and self._gpu[0] < cuda.device_count()):
            return 0.0
        total = cuda.get_device_properties(self._gpu[0]).total_memory
        return self._gpu[1] * 2**20 / total if total else 0.0

    def exp_enable_use_gpu_fp16(self, gpu_fp16_disabled_op_types: Iterable[str] = ()) -> None:
        """Compute in float16 on the GPU, but for these ops.

        Raises:
            RuntimeError: no GPU was asked for.

        Source:
            `paddle.inference.Config.exp_enable_use_gpu_fp16` of Paddle 2.3 and 2.4; later it is `precision_mode` of `enable_use_gpu`.
        """
        self._require_gpu("exp_enable_use_gpu_fp16")
        self._mixed = PrecisionType.Half
        self.exp_disable_mixed_precision_ops(gpu_fp16_disabled_op_types)

    def gpu_fp16_enabled(self) -> bool:
        """Whether it computes in float16 on the GPU."""
        return self.use_gpu() and self._mixed is PrecisionType.Half

    def set_exec_stream(self, stream: Stream) -> None:
        """Run on this stream of the GPU. What a run reads and returns is ordered with the stream that is current where `run` is called.

        Args:
            stream: of the GPU that was asked for; `paddle.device.cuda.Stream(0)`.

        Raises:
            RuntimeError: no GPU was asked for.
            ValueError: the stream belongs to another device.

        Source:
            `Config::SetExecStream` of Paddle's C++ interface.
        """
        self._require_gpu("set_exec_stream")
        place = require(stream, Stream, "set_exec_stream", "stream", "Make one with paddle.device.cuda.Stream().").device
        if repr(place) != f"Place(gpu:{self._gpu[0]})":
            raise InvalidArgumentError(
                f"set_exec_stream: the stream belongs to another device. Got one of {place}, expected one of gpu:{self._gpu[0]}, on which the "
                f"program runs."
            )
        self._stream = stream

    def get_exec_stream(self) -> Stream | None:
        """The stream of `set_exec_stream`; None means the current stream where `run` is called."""
        return self._stream

    def external_stream_enabled(self) -> bool:
        """Whether `set_exec_stream` was called."""
        return self._stream is not None

    def _require_gpu(self, what: str) -> None:
        if not self.use_gpu():
            raise PreconditionNotMetError(
                f"{what}: enable_use_gpu was not called. Got a configuration for the cpu. Call enable_use_gpu(100, 0) first."
            )

    @_without_effect
    def exp_enable_use_cutlass(self) -> None: ...

    def enable_custom_device(self, device_type: str, device_id: int = 0, precision: PrecisionType = PrecisionType.Float32) -> None:
        """Run on a device that another package provides (entry point `wherry.devices`)."""
        self._hardware[device_type] = "enable_custom_device"
        self._device, self._mixed = (device_type, device_id), self._narrow("enable_custom_device", precision)

    def enable_xpu(
        self, l3_size: int = 16777216, l3_locked: bool = False, conv_autotune: bool = False, conv_autotune_file: str = "",
        transformer_encoder_precision: str = "int16", transformer_encoder_adaptive_seqlen: bool = False, enable_multi_stream: bool = False,
    ) -> None:
        """Run on a Kunlun device: `create_predictor` refuses."""
        self._hardware["xpu"] = "enable_xpu"

    def use_xpu(self) -> bool:
        """Whether `enable_xpu` was called."""
        return "xpu" in self._hardware

    def set_xpu_device_id(self, device_id: int = 0) -> None:
        """The number of the Kunlun device."""
        self._xpu.device_id = device_id

    def xpu_device_id(self) -> int:
        """The number of the Kunlun device."""
        return self._xpu.device_id

    def set_xpu_config(self, config: XpuConfig) -> None:
        """Settings of Kunlun devices."""
        self._xpu = config

    def xpu_config(self) -> XpuConfig:
        """Settings of Kunlun devices."""
        return self._xpu

    def enable_ipu(
        self, ipu_device_num: int = 1, ipu_micro_batch_size: int = 1, ipu_enable_pipelining: bool = False, ipu_batches_per_step: int = 1
    ) -> None:
        """Run on a Graphcore device: `create_predictor` refuses."""
        self._hardware["ipu"] = "enable_ipu"

    @_without_effect
    def set_ipu_config(
        self, ipu_enable_fp16: bool = False, ipu_replica_num: int = 1, ipu_available_memory_proportion: float = 1.0,
        ipu_enable_half_partial: bool = False, ipu_enable_model_runtime_executor: bool = False,
    ) -> None: ...

    @_without_effect
    def set_ipu_custom_info(
        self, ipu_custom_ops_info: Sequence[Sequence[str]] = (), ipu_custom_patterns: Mapping[str, bool] | None = None
    ) -> None: ...

    @_without_effect
    def load_ipu_config(self, config_path: str) -> None: ...

    def enable_opencl(self) -> None:
        """Run on OpenCL: `create_predictor` refuses."""
        self._hardware["opencl"] = "enable_opencl"

    def use_opencl(self) -> bool:
        """Whether `enable_opencl` was called."""
        return "opencl" in self._hardware

    # TensorRT.

    def enable_tensorrt_engine(
        self, workspace_size: int = 1 << 30, max_batch_size: int = 1, min_subgraph_size: int = 3,
        precision_mode: PrecisionType = PrecisionType.Float32, use_static: bool = False, use_calib_mode: bool = True,
        use_cuda_graph: bool = False,
    ) -> None:
        """Run parts by TensorRT, on the GPU that `enable_use_gpu` names. Without TensorRT (`pip install tensorrt`) Wherry's own kernels run all.

        Args:
            workspace_size: bytes that TensorRT may use for intermediate values.
            max_batch_size: of inputs of which the first size alone is free, where nothing else is said of them.
            min_subgraph_size: parts of fewer ops stay with Wherry's own kernels.
            precision_mode: Half or Bfloat16 computes in 16 bits where `enable_use_gpu` with it would. Int8: quantized models run in integers (those
                say which values are rounded, and do so by themselves, TensorRT's engines too); models in floats are calibrated.
            use_static: keep engines in files, in `set_optim_cache_dir` or in `_opt_cache` beside the model, and take them from there.
            use_calib_mode: with Int8 and a model in floats, the first runs (32, or `set_calibration_batches`) compute in floats and find the scales
                of inputs of convolutions and products. Those are kept where engines are, and this predictor goes on in integers, as the next one
                begins; so does a predictor that ends before, with the scales that it has. False: such a model stays in floats, and the log says so.
            use_cuda_graph: no effect.

        Raises:
            ValueError: a number is less than 1.

        Source:
            `paddle.inference.Config.enable_tensorrt_engine`.
        """
        _counts(
            "enable_tensorrt_engine", 1, "Leave it out.", workspace_size=workspace_size, max_batch_size=max_batch_size,
            min_subgraph_size=min_subgraph_size,
        )
        self._trt = {
            "workspace_size": workspace_size, "max_batch_size": max_batch_size, "min_subgraph_size": min_subgraph_size,
            "precision_mode": PrecisionType(precision_mode), "use_static": use_static, "use_calib_mode": use_calib_mode,
            "use_cuda_graph": use_cuda_graph,
        }

    def tensorrt_engine_enabled(self) -> bool:
        """Whether `enable_tensorrt_engine` was called."""
        return bool(self._trt)

    def tensorrt_precision_mode(self) -> PrecisionType:
        """The precision of TensorRT."""
        found: PrecisionType = self._trt.get("precision_mode", PrecisionType.Float32)
        return found

    def set_calibration_batches(self, count: int) -> None:
        """Set how many runs find scales, before those are kept and used. (Beyond Paddle, where all runs of a predictor do.)

        Raises:
            ValueError: `count` is not an int of 1 or more.
        """
        _counts("set_calibration_batches", 1, "32 is the default.", count=count)
        self._calibration_batches = count

    def calibration_batches(self) -> int:
        """How many runs find scales."""
        return self._calibration_batches

    def set_trt_dynamic_shape_info(
        self, min_input_shape: Mapping[str, Sequence[int]] | None = None, max_input_shape: Mapping[str, Sequence[int]] | None = None,
        optim_input_shape: Mapping[str, Sequence[int]] | None = None, disable_trt_plugin_fp16: bool = False,
    ) -> None:
        """Shapes that TensorRT prepares for, by the names of the program's inputs.

        Args:
            min_input_shape: the smallest.
            max_input_shape: the largest.
            optim_input_shape: those that it chooses its kernels for.
            disable_trt_plugin_fp16: no effect.

        Raises:
            TypeError: an argument is not a dict of lists of ints.
            ValueError: an input is not in all three dicts. Whether they fit it is checked by `create_predictor`.
        """
        given = [min_input_shape or {}, max_input_shape or {}, optim_input_shape or {}]
        for shapes in given:
            if not isinstance(shapes, Mapping) or not all(
                isinstance(shape, Sequence) and not isinstance(shape, str) and all(isinstance(n, int) for n in shape) for shape in shapes.values()
            ):
                raise InvalidTypeError(
                    f"set_trt_dynamic_shape_info: shapes is not a dict of lists of ints. Got {short(shapes)}, expected a dict such as "
                    f"{{'x': [1, 3, 224, 224]}}."
                )
        partly = set().union(*given) - (given[0].keys() & given[1].keys() & given[2].keys())
        if partly:
            raise InvalidArgumentError(
                f"set_trt_dynamic_shape_info: an input is not in all three dicts. Got not all three for {sorted(partly)}, expected "
                f"each name in all three dicts."
            )
        self._other["trt_shapes"] = tuple({name: list(shape) for name, shape in shapes.items()} for shapes in given)

    def tensorrt_dynamic_shape_enabled(self) -> bool:
        """Whether shapes were given for TensorRT."""
        return any(self._other.get("trt_shapes", ()))

    def enable_tuned_tensorrt_dynamic_shape(self, shape_range_info_path: str = "", allow_build_at_runtime: bool = True) -> None:
        """Use the shapes that `collect_shape_range_info` recorded.

        Args:
            shape_range_info_path: its file.
            allow_build_at_runtime: whether a run with other shapes may build a new engine, which takes as long as the first time.
        """
        self._other["trt_tuned"] = (shape_range_info_path, allow_build_at_runtime)

    def tuned_tensorrt_dynamic_shape(self) -> bool:
        """Whether `enable_tuned_tensorrt_dynamic_shape` was called."""
        return "trt_tuned" in self._other

    def trt_allow_build_at_runtime(self) -> bool:
        """Whether TensorRT may build engines for new shapes while it runs."""
        return bool(self._other.get("trt_tuned", ("", False))[1])

    def set_tensorrt_optimization_level(self, level: int) -> None:
        """Set how long TensorRT looks for better kernels, 0 to 5."""
        if not isinstance(level, int) or not 0 <= level <= 5:
            raise InvalidArgumentError(f"set_tensorrt_optimization_level: got {short(level)}, expected a level of 0 to 5.")
        self._other["trt_level"] = level

    def tensorrt_optimization_level(self) -> int:
        """How long TensorRT looks for better kernels."""
        return int(self._other.get("trt_level", 3))

    def enable_tensorrt_dla(self, dla_core: int = 0) -> None:
        """Run on a core of the DLA, where the device has one, and on the GPU what that cannot do."""
        self._other["trt_dla"] = dla_core

    def tensorrt_dla_enabled(self) -> bool:
        """Whether `enable_tensorrt_dla` was called."""
        return "trt_dla" in self._other

    @_without_effect
    def enable_tensorrt_varseqlen(self) -> None: ...

    def tensorrt_varseqlen_enabled(self) -> bool:
        """Whether `enable_tensorrt_varseqlen` was called."""
        return "tensorrt_varseqlen" in self._other

    @_without_effect
    def enable_tensorrt_inspector(self, inspector_serialize: bool = False) -> None: ...

    def tensorrt_inspector_enabled(self) -> bool:
        """Whether `enable_tensorrt_inspector` was called."""
        return "tensorrt_inspector" in self._other

    @_without_effect
    def enable_tensorrt_explicit_quantization(self) -> None: ...

    def tensorrt_explicit_quantization_enabled(self) -> bool:
        """Whether `enable_tensorrt_explicit_quantization` was called."""
        return "tensorrt_explicit_quantization" in self._other

    @_without_effect
    def enable_tensorrt_memory_optim(self, engine_memory_sharing: bool = True, sharing_identifier: int = 0) -> None: ...

    def exp_disable_tensorrt_ops(self, names: Sequence[str]) -> None:
        """Set the ops that TensorRT does not run, by their names in `predictor.profile_summary()`."""
        self._other["trt_off"] = list(names)

    @_without_effect
    def mark_trt_engine_outputs(self, output_tensor_names: Sequence[str] = ()) -> None: ...

    # Libraries that Wherry does not use.

    @_without_effect
    def enable_mkldnn(self) -> None: ...

    @_without_effect
    def disable_mkldnn(self) -> None: ...

    def mkldnn_enabled(self) -> bool:
        """Whether oneDNN is enabled."""
        return bool(self._other.get("mkldnn", True))

    @_without_effect
    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None: ...

    @_without_effect
    def set_mkldnn_op(self, names: Iterable[str]) -> None: ...

    @_without_effect
    def disable_mkldnn_fc_passes(self) -> None: ...

    def enable_mkldnn_bfloat16(self) -> None:
        """Compute in bfloat16 where `amp` would."""
        self._mixed = PrecisionType.Bfloat16

    @_without_effect
    def set_bfloat16_op(self, names: Iterable[str]) -> None: ...

    def enable_mkldnn_int8(self, mkldnn_int8_enabled_op_types: Iterable[str] = ()) -> None:
        """Compute quantized models in integers, which predictors do by themselves. A model in floats stays so, and the log says how to change that.

        Args:
            mkldnn_int8_enabled_op_types: not needed; every product whose steps the model says runs in integers.
        """
        self._int8 = True

    def mkldnn_int8_enabled(self) -> bool:
        """Whether `enable_mkldnn_int8` was called."""
        return self._int8

    def enable_quantizer(self) -> None:
        """Quantize a model in floats while it is loaded, by data that `quantizer_config().set_quant_data` gives.

        Source:
            `paddle.inference.Config.enable_quantizer`.

        Examples:
            >>> from wherry.inference import Config
            >>> config = Config("net.pdmodel", "net.pdiparams")
            >>> config.enable_quantizer()
            >>> config.quantizer_config().set_quant_data([np.zeros([32, 3], "float32")])  # for create_predictor
        """
        if self._quantizer is None:
            self._quantizer = QuantizerConfig()

    def quantizer_enabled(self) -> bool:
        """Whether `enable_quantizer` was called."""
        return self._quantizer is not None

    def quantizer_config(self) -> QuantizerConfig:
        """Settings of the quantizer.

        Raises:
            RuntimeError: `enable_quantizer` was not called.
        """
        if self._quantizer is None:
            raise PreconditionNotMetError("quantizer_config: there is no quantizer. Got no enable_quantizer(), expected one before. Call it first.")
        return self._quantizer

    @_without_effect
    def enable_onnxruntime(self) -> None: ...

    @_without_effect
    def disable_onnxruntime(self) -> None: ...

    def onnxruntime_enabled(self) -> bool:
        """Whether `enable_onnxruntime` was called."""
        return bool(self._other.get("onnxruntime"))

    @_without_effect
    def enable_ort_optimization(self) -> None: ...

    @_without_effect
    def enable_lite_engine(
        self, precision_mode: PrecisionType = PrecisionType.Float32, zero_copy: bool = False, passes_filter: Sequence[str] = (),
        ops_filter: Sequence[str] = (),
    ) -> None: ...

    def lite_engine_enabled(self) -> bool:
        """Whether `enable_lite_engine` was called."""
        return bool(self._other.get("lite_engine"))

    def nnadapter(self) -> Any:
        """Settings of Lite's adapters.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("nnadapter: Paddle Lite is not part of Wherry. Got a call, expected none. Leave it out.")

    def enable_dlnne(self, *_args: Any, **_kwargs: Any) -> None:
        """Run on DLNNE: `create_predictor` refuses."""
        self._hardware["dlnne"] = "enable_dlnne"

    @_without_effect
    def enable_new_executor(self, x: bool = True) -> None: ...

    @_without_effect
    def set_dist_config(self, config: Any) -> None: ...

    def dist_config(self) -> Any:
        """The configuration of `set_dist_config`; None if there is none."""
        return self._other.get("dist_config", (None,))[0]

    def to_native_config(self) -> Config:
        """A copy: there is one kind of configuration."""
        return Config(self)

    # As text.

    def summary(self) -> str:
        """The switches as a table."""
        rows: list[tuple[str, str] | None] = [None]
        if self._buffers is not None:
            rows.append(("model", "from memory"))
        elif self._model_dir:
            rows.append(("model_dir", self._model_dir))
        elif self._prog_file:
            rows += [("model_file", self._prog_file), ("params_file", self._params_file)]
        rows += [
            None, ("cpu_math_thread", str(self.cpu_math_library_num_threads())), None,
            ("device", f"{self._device[0]}:{self._device[1]}" if self._device[0] != "cpu" else "cpu"), ("precision", self._mixed.name), None,
            ("ir_optim", _truth(self._ir_optim)), ("ir_debug", _truth(self._ir_debug)), ("memory_optim", _truth(self._memory_optim)),
            ("enable_profile", _truth(self._profile)), ("enable_log", _truth(self._log)),
            ("save_optimized_model", _truth(self._save_optimized)), ("collect_shape_range_info", self._shape_file or "false"), None,
        ]
        shown = [("Option", "Value"), *(row for row in rows if row is not None)]
        wide = [max(len(row[i]) for row in shown) for i in (0, 1)]
        rule = f"+-{'-' * wide[0]}-+-{'-' * wide[1]}-+"
        lines = [rule, f"| {'Option':<{wide[0]}} | {'Value':<{wide[1]}} |"]
        for row in rows:
            text = rule if row is None else f"| {row[0]:<{wide[0]}} | {row[1]:<{wide[1]}} |"
            if text != lines[-1]:
                lines.append(text)
        return "\n".join(lines)

    def files(self) -> tuple[str, str]:
        """The program's file and the parameters' file (or folder).

        Raises:
            ValueError: no model was named.
            FileNotFoundError: the folder holds no model.
        """
        if self._prog_file:
            return self._prog_file, self._params_file or os.path.dirname(self._prog_file) or "."
        if not self._model_dir:
            raise InvalidArgumentError(
                "create_predictor: the Config names no model. Got an empty Config, expected files. Config('net.pdmodel', 'net.pdiparams')"
            )
        folder = self._model_dir
        if not os.path.isdir(folder):  # a prefix
            for ending in _PROGRAMS:
                if os.path.exists(folder + ending):
                    return folder + ending, f"{folder}.pdiparams"
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        if "__model__" in names:
            return os.path.join(folder, "__model__"), os.path.join(folder, "__params__") if "__params__" in names else folder
        programs = next((found for ending in _PROGRAMS if (found := [name for name in names if name.endswith(ending)])), [])
        if len(programs) != 1:
            raise FileNotFoundError(
                f"create_predictor: this folder does not hold one model. Got {folder!r} with {programs or names[:8]}, expected __model__ or one "
                f"file .pdmodel (or .json, of Paddle 3). Name the files: Config('net.pdmodel', 'net.pdiparams')"
            )
        return os.path.join(folder, programs[0]), os.path.join(folder, os.path.splitext(programs[0])[0] + ".pdiparams")

    def __repr__(self) -> str:
        return f"Config({self._prog_file or self._model_dir!r})"


_PROGRAMS = (".pdmodel", ".json")  # of Paddle 2, of Paddle 3


def _truth(x: bool) -> str:
    return "true" if x else "false"


def _counts(what: str, least: int, advice: str, **values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidArgumentError(f"{what}: got {name}={short(value)}, expected a number >= {least}. {advice}")


def _texts(what: str, **values: Any) -> None:
    for name, value in values.items():
        if value is not None and not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"{what}: {name} is not a path. Got {type(value).__name__}, expected str.")


explained(globals())
