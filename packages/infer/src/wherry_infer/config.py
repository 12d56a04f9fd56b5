"""`Config`: which program, and how it is to run.

Every switch of Paddle's exists. Those that can change something here do. Hardware that is not there is asked for without an error, as a
configuration is often written before anybody knows where it will run, and refused by `create_predictor`, which names the switch and what is
missing. Switches of libraries that Wherry has no use for (oneDNN, Lite, the executors of Paddle) are remembered and have no effect.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import wherry_tensor
from wherry_graph import passes as graph_passes
from wherry_infer.kinds import PrecisionType
from wherry_tensor import cuda
from wherry_tensor.arguments import require
from wherry_tensor.device import Stream, is_known
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short

__all__ = ["Config", "PassBuilder", "XpuConfig"]


class PassBuilder:
    """The passes that a program goes through before it runs, in order; `Config.pass_builder` gives it.

    Names are those of `wherry_graph.passes`. Those of Paddle's own are accepted by `delete_pass`, where there is nothing to delete.
    """

    def __init__(self) -> None:
        self._names = [one.__name__ for one in graph_passes.pipeline(graph_passes.INFERENCE)]
        self._debug = False

    def all_passes(self) -> list[str]:
        """Their names."""
        return list(self._names)

    analysis_passes = all_passes

    def append_pass(self, name: str) -> None:
        """Add one at the end."""
        self.insert_pass(len(self._names), name)

    append_analysis_pass = append_pass

    def insert_pass(self, index: int, name: str) -> None:
        """Add one in front of position `index`."""
        _pass_named(name)
        self._names.insert(index, name)

    def delete_pass(self, name: str) -> None:
        """Leave one out, wherever it stands."""
        self._names = [one for one in self._names if one != name]

    def set_passes(self, names: Sequence[str]) -> None:
        """Take these instead."""
        for name in names:
            _pass_named(name)
        self._names = list(names)

    def turn_on_debug(self) -> None:
        """Print the program behind each pass."""
        self._debug = True

    def debug_string(self) -> str:
        """The names as text."""
        return "Passes to apply:\n" + "\n".join(f"  - {name}" for name in self._names)

    def functions(self) -> list[Callable[[Any], Any]]:
        """The passes themselves."""
        return [_pass_named(name) for name in self._names]


def _pass_named(name: str) -> Callable[[Any], Any]:
    found = getattr(graph_passes, name, None) if isinstance(name, str) and name in graph_passes.__all__ and name.islower() else None
    if found is None or name in ("default", "pipeline"):
        known = [n for n in graph_passes.__all__ if n.islower() and n not in ("default", "pipeline")]
        raise InvalidArgumentError(
            f"pass_builder: there is no such pass. Got {short(name)}, expected one of {', '.join(known)}. Paddle's own do not exist here."
        )
    return found


class XpuConfig:
    """Settings of Kunlun devices, kept and not used. Source: `paddle.inference.XpuConfig`."""

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


class Config:
    """Which program to run, and how.

    Args:
        prog: the program's file (`.pdmodel`) or, without a second argument, a folder with `__model__` or one `.pdmodel` in it; another
            Config is copied.
        params: the parameters' file (`.pdiparams`).

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
        self._hardware: dict[str, str] = {}  # a device that was asked for -> the switch that asked
        self._device = ("cpu", 0)
        self._gpu = (0, 100)  # device, MB of its pool
        self._stream: Stream | None = None
        self._trt: dict[str, Any] = {}
        self._other: dict[str, Any] = {"mkldnn": True, "mkldnn_cache_capacity": 10}  # remembered, without effect
        self._xpu = XpuConfig()
        if prog is not None:
            self.set_model(prog, params) if params is not None else self.set_model(prog)

    def _copy(self, other: Config) -> None:
        import copy

        self.__dict__.update(copy.deepcopy({k: v for k, v in other.__dict__.items() if k not in ("_buffers", "_stream")}))
        self._buffers, self._stream = other._buffers, other._stream

    # Which program.

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
                    f"set_model_buffer: {name} is shorter than said. Got {len(raw)} bytes and a size of {size}, expected at most "
                    f"{len(raw)}. Pass len() of the contents."
                )
            contents.append(raw[:size])
        self._buffers = (contents[0], contents[1])

    def model_dir(self) -> str:
        """The folder, "" where files were named."""
        return self._model_dir

    def prog_file(self) -> str:
        """The program's file."""
        return self._prog_file

    def params_file(self) -> str:
        """The parameters' file."""
        return self._params_file

    def model_from_memory(self) -> bool:
        """Was the model given as buffers?"""
        return self._buffers is not None

    # What changes how it runs.

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """How many threads kernels use, at least 1. Until then as many as the process does (Paddle: 1)."""
        if not isinstance(count, int) or count < 1:
            raise InvalidArgumentError(f"set_cpu_math_library_num_threads: got {short(count)}, expected a number of threads >= 1.")
        self._threads = count

    def cpu_math_library_num_threads(self) -> int:
        """How many threads kernels use."""
        return self._threads or wherry_tensor.get_num_threads()

    def switch_ir_optim(self, x: int = True) -> None:
        """Whether the program goes through the passes of `pass_builder()`."""
        self._ir_optim = bool(x)

    def ir_optim(self) -> bool:
        """Does the program go through passes?"""
        return self._ir_optim

    def switch_ir_debug(self, x: int = True) -> None:
        """Print the program behind each pass."""
        self._ir_debug = bool(x)

    def pass_builder(self) -> PassBuilder:
        """The passes, to be changed."""
        return self._passes

    def delete_pass(self, name: str) -> None:
        """Leave a pass out."""
        self._passes.delete_pass(name)

    def enable_memory_optim(self, x: bool = True) -> None:
        """Values whose lives do not overlap share memory. They always do here; the switch is remembered."""
        self._memory_optim = bool(x)

    def enable_profile(self) -> None:
        """Measure each op; the predictor prints a table when it goes, or `profile_summary()` gives it."""
        self._profile = True

    def disable_glog_info(self) -> None:
        """Say nothing while a model is loaded."""
        self._log = False

    def glog_info_disabled(self) -> bool:
        """Is nothing said?"""
        return not self._log

    def enable_save_optim_model(self, save_optimized_model: bool = False) -> None:
        """Save the program behind the passes, as `_optimized.pdmodel` and `.pdiparams` in `set_optim_cache_dir`, or beside the model."""
        self._save_optimized = bool(save_optimized_model)

    def set_optim_cache_dir(self, path: str) -> None:
        """Where the optimized model is saved."""
        _texts("set_optim_cache_dir", path=path)
        self._cache_dir = path

    def switch_specify_input_names(self, x: bool = True) -> None:
        """Remembered; inputs have names here in any case."""
        self._specify_names = bool(x)

    def specify_input_name(self) -> bool:
        """What was said."""
        return self._specify_names

    def switch_use_feed_fetch_ops(self, x: int = True) -> None:
        """Remembered; handles give and take the data in any case."""
        self._feed_fetch = bool(x)

    def use_feed_fetch_ops_enabled(self) -> bool:
        """What was said."""
        return self._feed_fetch

    def collect_shape_range_info(self, path: str) -> None:
        """Note the smallest, largest and most frequent shape of each input and output, and write them to a file when the predictor goes."""
        _texts("collect_shape_range_info", path=path)
        self._shape_file = path

    def shape_range_info_path(self) -> str:
        """The file of `collect_shape_range_info`."""
        return self._shape_file

    def shape_range_info_collected(self) -> bool:
        """Are shapes noted?"""
        return bool(self._shape_file)

    def exp_disable_mixed_precision_ops(self, names: Iterable[str]) -> None:
        """Ops that stay in float32 when the program computes in 16 bits."""
        self._mixed_off = set(names)

    def exp_enable_mixed_precision_ops(self, names: Iterable[str]) -> None:
        """Remembered; what may run in 16 bits does."""
        self._other["mixed_on"] = set(names)

    def enable_low_precision_io(self, x: bool = True) -> None:
        """Whether inputs and outputs are of 16 bits too, when the program computes in them."""
        self._low_precision_io = bool(x)

    # Devices.

    def enable_use_gpu(self, memory_pool_init_size_mb: int, device_id: int = 0, precision_mode: PrecisionType = PrecisionType.Float32) -> None:
        """Run on a GPU, whatever device the process has set.

        Args:
            memory_pool_init_size_mb: megabytes of freed memory that are kept for later runs, where that is more than the device keeps by
                itself. None is taken before it is needed.
            device_id: which one.
            precision_mode: Half or Bfloat16 computes in 16 bits; weights are cast once, while the program is loaded.

        Raises:
            ValueError: a number is negative, or the precision is Int8, which kernels do not have.

        Source:
            `paddle.inference.Config.enable_use_gpu`.
        """
        for name, value in (("memory_pool_init_size_mb", memory_pool_init_size_mb), ("device_id", device_id)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidArgumentError(f"enable_use_gpu: got {name}={short(value)}, expected a number >= 0. enable_use_gpu(100, 0), say.")
        self._mixed = self._narrow("enable_use_gpu", precision_mode)
        self._gpu, self._device = (device_id, memory_pool_init_size_mb), ("gpu", device_id)
        self._hardware["gpu"] = "enable_use_gpu"

    def _narrow(self, what: str, precision: PrecisionType) -> PrecisionType:
        kind = PrecisionType(precision)
        if kind is PrecisionType.Int8:
            raise InvalidArgumentError(
                f"{what}: there are no kernels for 8 bits. Got Int8, expected Float32, Half or Bfloat16. TensorRT has them: enable_tensorrt_engine."
            )
        return kind

    def disable_gpu(self) -> None:
        """Run on the CPU, whatever device the process has set."""
        if self._hardware.pop("gpu", None):
            self._mixed = PrecisionType.Float32  # 16 bits were asked for there
        self._device, self._stream = ("cpu", 0), None

    def use_gpu(self) -> bool:
        """Was a GPU asked for?"""
        return "gpu" in self._hardware

    def gpu_device_id(self) -> int:
        """Which GPU."""
        return self._gpu[0]

    def memory_pool_init_size_mb(self) -> int:
        """What was said to `enable_use_gpu`."""
        return self._gpu[1]

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """`memory_pool_init_size_mb()` by the memory of the GPU; 0 without one."""
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
        """Does it compute in float16 on the GPU?"""
        return self.use_gpu() and self._mixed is PrecisionType.Half

    def set_exec_stream(self, stream: Stream) -> None:
        """Run on this stream of the GPU. What a run reads and returns is ordered with the stream that is current where `run` is called.

        Args:
            stream: of the GPU that was asked for; `paddle.device.cuda.Stream(0)`.

        Raises:
            RuntimeError: no GPU was asked for.
            ValueError: the stream is one of another device.

        Source:
            `Config::SetExecStream` of Paddle's C++ interface.
        """
        self._require_gpu("set_exec_stream")
        place = require(stream, Stream, "set_exec_stream", "stream", "Make one with paddle.device.cuda.Stream().").device
        if repr(place) != f"Place(gpu:{self._gpu[0]})":
            raise InvalidArgumentError(
                f"set_exec_stream: the stream is one of another device. Got one of {place}, expected one of gpu:{self._gpu[0]}, on which the "
                f"program runs."
            )
        self._stream = stream

    def get_exec_stream(self) -> Stream | None:
        """The stream of `set_exec_stream`; None: that which is current where `run` is called."""
        return self._stream

    def external_stream_enabled(self) -> bool:
        """Was a stream given?"""
        return self._stream is not None

    def _require_gpu(self, what: str) -> None:
        if not self.use_gpu():
            raise PreconditionNotMetError(f"{what}: no GPU was asked for. Got a configuration for the cpu. Call enable_use_gpu(100, 0) first.")

    def exp_enable_use_cutlass(self) -> None:
        """Remembered, without effect."""
        self._other["cutlass"] = True

    def enable_custom_device(self, device_type: str, device_id: int = 0, precision: PrecisionType = PrecisionType.Float32) -> None:
        """Run on a device that a package brings (`wherry.devices`)."""
        self._hardware[device_type] = "enable_custom_device"
        self._device, self._mixed = (device_type, device_id), self._narrow("enable_custom_device", precision)

    def enable_xpu(
        self, l3_size: int = 16777216, l3_locked: bool = False, conv_autotune: bool = False, conv_autotune_file: str = "",
        transformer_encoder_precision: str = "int16", transformer_encoder_adaptive_seqlen: bool = False, enable_multi_stream: bool = False,
    ) -> None:
        """Run on a Kunlun device: `create_predictor` refuses."""
        self._hardware["xpu"] = "enable_xpu"

    def use_xpu(self) -> bool:
        """Was a Kunlun device asked for?"""
        return "xpu" in self._hardware

    def set_xpu_device_id(self, device_id: int = 0) -> None:
        """Which Kunlun device."""
        self._xpu.device_id = device_id

    def xpu_device_id(self) -> int:
        """Which Kunlun device."""
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

    def set_ipu_config(
        self, ipu_enable_fp16: bool = False, ipu_replica_num: int = 1, ipu_available_memory_proportion: float = 1.0,
        ipu_enable_half_partial: bool = False, ipu_enable_model_runtime_executor: bool = False,
    ) -> None:
        """Remembered, without effect."""
        self._other["ipu"] = ipu_replica_num

    def set_ipu_custom_info(
        self, ipu_custom_ops_info: Sequence[Sequence[str]] = (), ipu_custom_patterns: Mapping[str, bool] | None = None
    ) -> None:
        """Remembered, without effect."""
        self._other["ipu_custom"] = (ipu_custom_ops_info, ipu_custom_patterns)

    def load_ipu_config(self, config_path: str) -> None:
        """Remembered, without effect."""
        self._other["ipu_config"] = config_path

    def enable_opencl(self) -> None:
        """Run on OpenCL: `create_predictor` refuses."""
        self._hardware["opencl"] = "enable_opencl"

    def use_opencl(self) -> bool:
        """Was OpenCL asked for?"""
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
            precision_mode: Half or Bfloat16 computes in 16 bits where `enable_use_gpu` with it would; Int8 as Float32, with a line in the log.
            use_static: keep engines in files, in `set_optim_cache_dir` or in `_opt_cache` beside the model, and take them from there.
            use_calib_mode: accepted for compatibility; TensorRT no longer calibrates.
            use_cuda_graph: accepted for compatibility; unused.

        Raises:
            ValueError: a number is less than 1.

        Source:
            `paddle.inference.Config.enable_tensorrt_engine`.
        """
        for name, value in (("workspace_size", workspace_size), ("max_batch_size", max_batch_size), ("min_subgraph_size", min_subgraph_size)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidArgumentError(f"enable_tensorrt_engine: got {name}={short(value)}, expected a number >= 1. Leave it out.")
        self._trt = {
            "workspace_size": workspace_size, "max_batch_size": max_batch_size, "min_subgraph_size": min_subgraph_size,
            "precision_mode": PrecisionType(precision_mode), "use_static": use_static, "use_calib_mode": use_calib_mode,
            "use_cuda_graph": use_cuda_graph,
        }

    def tensorrt_engine_enabled(self) -> bool:
        """Was TensorRT asked for?"""
        return bool(self._trt)

    def tensorrt_precision_mode(self) -> PrecisionType:
        """What TensorRT computes in."""
        found: PrecisionType = self._trt.get("precision_mode", PrecisionType.Float32)
        return found

    def set_trt_dynamic_shape_info(
        self, min_input_shape: Mapping[str, Sequence[int]] | None = None, max_input_shape: Mapping[str, Sequence[int]] | None = None,
        optim_input_shape: Mapping[str, Sequence[int]] | None = None, disable_trt_plugin_fp16: bool = False,
    ) -> None:
        """Shapes that TensorRT prepares for, by the names of the program's inputs.

        Args:
            min_input_shape: the smallest.
            max_input_shape: the largest.
            optim_input_shape: those that it chooses its kernels for.
            disable_trt_plugin_fp16: accepted for compatibility; unused.

        Raises:
            TypeError: no dicts of lists of ints.
            ValueError: an input has not all three. Whether they fit it is checked by `create_predictor`.
        """
        given = [min_input_shape or {}, max_input_shape or {}, optim_input_shape or {}]
        for shapes in given:
            if not isinstance(shapes, Mapping) or not all(
                isinstance(shape, Sequence) and not isinstance(shape, str) and all(isinstance(n, int) for n in shape) for shape in shapes.values()
            ):
                raise InvalidTypeError(
                    f"set_trt_dynamic_shape_info: shapes are given by name. Got {short(shapes)}, expected a dict such as {{'x': [1, 3, 224, 224]}}."
                )
        partly = set().union(*given) - (given[0].keys() & given[1].keys() & given[2].keys())
        if partly:
            raise InvalidArgumentError(
                f"set_trt_dynamic_shape_info: an input has a smallest, a largest and a usual shape. Got not all three for {sorted(partly)}, expected "
                f"each name in all three dicts."
            )
        self._other["trt_shapes"] = tuple({name: list(shape) for name, shape in shapes.items()} for shapes in given)

    def tensorrt_dynamic_shape_enabled(self) -> bool:
        """Were sizes given?"""
        return any(self._other.get("trt_shapes", ()))

    def enable_tuned_tensorrt_dynamic_shape(self, shape_range_info_path: str = "", allow_build_at_runtime: bool = True) -> None:
        """Take the shapes that `collect_shape_range_info` noted.

        Args:
            shape_range_info_path: its file.
            allow_build_at_runtime: may a run with other shapes build an engine anew? It takes as long as the first time.
        """
        self._other["trt_tuned"] = (shape_range_info_path, allow_build_at_runtime)

    def tuned_tensorrt_dynamic_shape(self) -> bool:
        """Are noted sizes taken?"""
        return "trt_tuned" in self._other

    def trt_allow_build_at_runtime(self) -> bool:
        """May TensorRT prepare for new sizes while it runs?"""
        return bool(self._other.get("trt_tuned", ("", False))[1])

    def set_tensorrt_optimization_level(self, level: int) -> None:
        """How long TensorRT looks for better kernels, 0 to 5."""
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
        """What was said."""
        return "trt_dla" in self._other

    def enable_tensorrt_varseqlen(self) -> None:
        """Remembered, without effect."""
        self._other["trt_varseqlen"] = True

    def tensorrt_varseqlen_enabled(self) -> bool:
        """What was said."""
        return "trt_varseqlen" in self._other

    def enable_tensorrt_inspector(self, inspector_serialize: bool = False) -> None:
        """Remembered, without effect."""
        self._other["trt_inspector"] = inspector_serialize

    def tensorrt_inspector_enabled(self) -> bool:
        """What was said."""
        return "trt_inspector" in self._other

    def enable_tensorrt_explicit_quantization(self) -> None:
        """Remembered, without effect."""
        self._other["trt_quantization"] = True

    def tensorrt_explicit_quantization_enabled(self) -> bool:
        """What was said."""
        return "trt_quantization" in self._other

    def enable_tensorrt_memory_optim(self, engine_memory_sharing: bool = True, sharing_identifier: int = 0) -> None:
        """Remembered, without effect."""
        self._other["trt_memory"] = (engine_memory_sharing, sharing_identifier)

    def exp_disable_tensorrt_ops(self, names: Sequence[str]) -> None:
        """Ops that are not handed to TensorRT, by their names in `predictor.profile_summary()`."""
        self._other["trt_off"] = list(names)

    def mark_trt_engine_outputs(self, output_tensor_names: Sequence[str] = ()) -> None:
        """Remembered, without effect."""
        self._other["trt_outputs"] = list(output_tensor_names)

    # Libraries that Wherry has no use for.

    def enable_mkldnn(self) -> None:
        """Remembered, without effect: the kernels are Wherry's own."""
        self._other["mkldnn"] = True

    def disable_mkldnn(self) -> None:
        """Remembered, without effect."""
        self._other["mkldnn"] = False

    def mkldnn_enabled(self) -> bool:
        """What was said."""
        return bool(self._other["mkldnn"])

    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None:
        """Remembered, without effect."""
        self._other["mkldnn_cache_capacity"] = capacity

    def set_mkldnn_op(self, names: Iterable[str]) -> None:
        """Remembered, without effect."""
        self._other["mkldnn_ops"] = set(names)

    def disable_mkldnn_fc_passes(self) -> None:
        """Remembered, without effect."""
        self._other["mkldnn_fc"] = False

    def enable_mkldnn_bfloat16(self) -> None:
        """Compute in bfloat16 where `amp` would."""
        self._mixed = PrecisionType.Bfloat16

    def set_bfloat16_op(self, names: Iterable[str]) -> None:
        """Remembered; what may run in 16 bits does."""
        self._other["bfloat16_ops"] = set(names)

    def enable_mkldnn_int8(self, mkldnn_int8_enabled_op_types: Iterable[str] = ()) -> None:
        """Compute in 8 bits: `create_predictor` refuses, there are no such kernels yet."""
        self._hardware["int8"] = "enable_mkldnn_int8"

    def mkldnn_int8_enabled(self) -> bool:
        """Were 8 bits asked for?"""
        return "int8" in self._hardware

    def enable_quantizer(self) -> None:
        """Quantize while loading: `create_predictor` refuses."""
        self._hardware["int8"] = "enable_quantizer"

    def quantizer_config(self) -> Any:
        """Settings of the quantizer.

        Raises:
            RuntimeError: it was not enabled; nor could it run.
        """
        raise PreconditionNotMetError("quantizer_config: there is no quantizer here. Got no enabled one, expected enable_quantizer(). Leave it out.")

    def enable_onnxruntime(self) -> None:
        """Remembered, without effect: our own engine runs."""
        self._other["onnxruntime"] = True

    def disable_onnxruntime(self) -> None:
        """Remembered, without effect."""
        self._other["onnxruntime"] = False

    def onnxruntime_enabled(self) -> bool:
        """What was said."""
        return bool(self._other.get("onnxruntime"))

    def enable_ort_optimization(self) -> None:
        """Remembered, without effect."""
        self._other["ort_optimization"] = True

    def enable_lite_engine(
        self, precision_mode: PrecisionType = PrecisionType.Float32, zero_copy: bool = False, passes_filter: Sequence[str] = (),
        ops_filter: Sequence[str] = (),
    ) -> None:
        """Remembered, without effect."""
        self._other["lite"] = True

    def lite_engine_enabled(self) -> bool:
        """What was said."""
        return bool(self._other.get("lite"))

    def nnadapter(self) -> Any:
        """Settings of Lite's adapters.

        Raises:
            NotImplementedError: there are none.
        """
        raise NotImplementedError("nnadapter: Paddle Lite is no part of Wherry. Got a call, expected none. Leave it out.")

    def enable_dlnne(self, *_args: Any, **_kwargs: Any) -> None:
        """Run on DLNNE: `create_predictor` refuses."""
        self._hardware["dlnne"] = "enable_dlnne"

    def enable_new_executor(self, x: bool = True) -> None:
        """Remembered, without effect: there is one executor."""
        self._other["new_executor"] = bool(x)

    def set_dist_config(self, config: Any) -> None:
        """Remembered, without effect."""
        self._other["dist"] = config

    def dist_config(self) -> Any:
        """What was set; None where nothing was."""
        return self._other.get("dist")

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
            FileNotFoundError: the folder holds none.
        """
        if self._prog_file:
            return self._prog_file, self._params_file or os.path.dirname(self._prog_file) or "."
        if not self._model_dir:
            raise InvalidArgumentError(
                "create_predictor: no model was named. Got an empty Config, expected files. Config('net.pdmodel', 'net.pdiparams')"
            )
        folder = self._model_dir
        if not os.path.isdir(folder) and os.path.exists(f"{folder}.pdmodel"):  # a prefix
            return f"{folder}.pdmodel", f"{folder}.pdiparams"
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        if "__model__" in names:
            return os.path.join(folder, "__model__"), os.path.join(folder, "__params__") if "__params__" in names else folder
        programs = [name for name in names if name.endswith(".pdmodel")]
        if len(programs) != 1:
            raise FileNotFoundError(
                f"create_predictor: this folder does not hold one model. Got {folder!r} with {programs or names[:8]}, expected __model__ or one "
                f"file .pdmodel. Name the files: Config('net.pdmodel', 'net.pdiparams')"
            )
        return os.path.join(folder, programs[0]), os.path.join(folder, programs[0][: -len(".pdmodel")] + ".pdiparams")

    def __repr__(self) -> str:
        return f"Config({self._prog_file or self._model_dir!r})"


def _truth(x: bool) -> str:
    return "true" if x else "false"


def _texts(what: str, **values: Any) -> None:
    for name, value in values.items():
        if value is not None and not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"{what}: {name} is not a path. Got {type(value).__name__}, expected str.")
