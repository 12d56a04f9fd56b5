"""A stand-in for TensorRT's Python module: what its documentation says of the calls that wherry_infer makes, and what it refuses.

Engines compute with the reference evaluator of the package `onnx`, on the memory of the GPU, in the order of the stream they are given: nothing
but that stream is waited for, so that a missing dependency reads what is not there yet. `log` has what the real one would write.
"""
import ctypes
import enum
import hashlib
import json
import os
import types

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

ALIGNMENT = 256  # of addresses, in bytes
log: list[str] = []
built: list["Engine"] = []
refused_ops: set[str] = set()


class Logger:
    VERBOSE, INFO, WARNING, ERROR, INTERNAL_ERROR = range(5)

    def __init__(self, min_severity=2):
        self.min_severity = min_severity


class MemoryPoolType(enum.Enum):
    WORKSPACE = 0


class BuilderFlag(enum.Enum):
    GPU_FALLBACK = 3


class DeviceType(enum.Enum):
    GPU, DLA = 0, 1


class TensorIOMode(enum.Enum):
    NONE, INPUT, OUTPUT = 0, 1, 2


class TensorLocation(enum.Enum):
    DEVICE, HOST = 0, 1


class DataType(enum.Enum):
    FLOAT, HALF, INT8, INT32, BOOL, UINT8, BF16, INT64 = 0, 1, 2, 3, 4, 5, 7, 8

    def __str__(self):
        return f"DataType.{self.name}"


_OF_ONNX = {
    onnx.TensorProto.FLOAT: (DataType.FLOAT, np.float32), onnx.TensorProto.FLOAT16: (DataType.HALF, np.float16),
    onnx.TensorProto.INT32: (DataType.INT32, np.int32), onnx.TensorProto.INT64: (DataType.INT64, np.int64),
    onnx.TensorProto.BOOL: (DataType.BOOL, np.bool_), onnx.TensorProto.INT8: (DataType.INT8, np.int8),
}
# Quantization is said by Q and DQ; sums of integers are TensorRT's own matter.
_NOT_THERE = {"MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv", "DynamicQuantizeLinear"}


class Network:
    def __init__(self, flags):
        self.flags, self.model = flags, None


class ParserError:
    def __init__(self, text):
        self.text = text

    def desc(self):
        return self.text


class OnnxParser:
    def __init__(self, network, logger):
        assert isinstance(network, Network) and isinstance(logger, Logger)
        self.network, self.errors = network, []

    @property
    def num_errors(self):
        return len(self.errors)

    def get_error(self, i):
        return self.errors[i]

    def parse(self, model, path=None):
        parsed = onnx.ModelProto.FromString(bytes(model))
        onnx.checker.check_model(parsed, full_check=True)
        for node in parsed.graph.node:
            if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
                self._check_rounding(node, {x.name: onnx.numpy_helper.to_array(x) for x in parsed.graph.initializer})
            if node.op_type in refused_ops | _NOT_THERE:
                self.errors.append(ParserError(f"In node {node.name}: UNSUPPORTED_NODE: No importer registered for op: {node.op_type}"))
        self.network.model = parsed
        return not self.errors


    def _check_rounding(self, node, constants):
        scale, zero = (constants.get(name) for name in node.input[1:3])
        if scale is None or zero is None:
            self.errors.append(ParserError(f"In node {node.name}: scale and zero point must be initializers"))
        elif zero.dtype != np.int8 or zero.any():
            self.errors.append(ParserError(f"In node {node.name}: only symmetric quantization to INT8, got {zero.dtype} {zero}"))
        elif (scale <= 0).any():
            self.errors.append(ParserError(f"In node {node.name}: scale coefficients must all be positive"))


class Profile:
    def __init__(self):
        self.shapes = {}

    def set_shape(self, input, min, opt, max):
        if not len(min) == len(opt) == len(max) or any(not a <= b <= c for a, b, c in zip(min, opt, max)):
            raise ValueError(f"set_shape: {min} {opt} {max} of {input}")
        self.shapes[input] = tuple(min), tuple(opt), tuple(max)


class Config:
    def __init__(self):
        self.pools, self.flags, self.profiles = {}, set(), []
        self.builder_optimization_level, self.default_device_type, self.DLA_core = 3, DeviceType.GPU, -1

    def set_memory_pool_limit(self, pool, pool_size):
        self.pools[MemoryPoolType(pool)] = int(pool_size)

    def set_flag(self, flag):
        self.flags.add(BuilderFlag(flag))

    def add_optimization_profile(self, profile):
        self.profiles.append(profile)
        return len(self.profiles) - 1


class HostMemory:
    """Takes part in the buffer protocol, as far as `bytes` asks."""

    def __init__(self, data):
        self.data = data

    def __bytes__(self):
        return self.data

    @property
    def nbytes(self):
        return len(self.data)


def _sizes(info):
    return tuple(d.dim_value if d.HasField("dim_value") else -1 for d in info.type.tensor_type.shape.dim)


class Builder:
    def __init__(self, logger):
        assert isinstance(logger, Logger)

    def create_network(self, flags=0):
        known = sum(1 << flag.value for flag in NetworkDefinitionCreationFlag)
        if flags & ~known:
            raise ValueError(f"create_network: flags {flags}")
        return Network(flags)

    def create_builder_config(self):
        return Config()

    def create_optimization_profile(self):
        return Profile()

    def build_serialized_network(self, network, config):
        if network.model is None:
            log.append("build: the network has no outputs")
            return None
        for info in network.model.graph.input:
            sizes = _sizes(info)
            given = [profile.shapes[info.name] for profile in config.profiles if info.name in profile.shapes]
            if -1 in sizes and not given:
                log.append(f"build: dynamic input {info.name} has no profile")
                return None
            for shapes in given:
                if any(len(shape) != len(sizes) or any(m not in (-1, n) for n, m in zip(shape, sizes)) for shape in shapes):
                    log.append(f"build: profile of {info.name} does not fit {sizes}")
                    return None
        head = json.dumps({
            "version": __version__, "profiles": [profile.shapes for profile in config.profiles],
            "workspace": config.pools.get(MemoryPoolType.WORKSPACE), "level": config.builder_optimization_level,
            "dla": config.DLA_core if config.default_device_type is DeviceType.DLA else -1,
        }).encode()
        data = len(head).to_bytes(8, "little") + head + network.model.SerializeToString()
        return HostMemory(hashlib.sha256(data).digest() + data)


class Runtime:
    def __init__(self, logger):
        assert isinstance(logger, Logger)

    def deserialize_cuda_engine(self, plan):
        data = bytes(plan)
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            log.append("deserialize: the plan is damaged")
            return None
        n = int.from_bytes(data[32:40], "little")
        engine = Engine(json.loads(data[40 : 40 + n]), onnx.ModelProto.FromString(data[40 + n :]))
        built.append(engine)
        return engine


def _evaluated(model):
    """A model that the evaluator knows: its DequantizeLinear begins with 19, which says of int8 what 13 says."""
    if not any(node.op_type == "DequantizeLinear" for node in model.graph.node):
        return model
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.opset_import[0].version = max(19, made.opset_import[0].version)
    return made


class Engine:
    def __init__(self, head, model):
        self.head, self.model = head, model
        self.infos = {x.name: x for x in (*model.graph.input, *model.graph.output)}
        self.inputs = [x.name for x in model.graph.input]
        self.outputs = [x.name for x in model.graph.output]
        self.contexts = []

    @property
    def num_io_tensors(self):
        return len(self.infos)

    def get_tensor_name(self, i):
        return list(self.infos)[i]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self.inputs else TensorIOMode.OUTPUT if name in self.outputs else TensorIOMode.NONE

    def get_tensor_dtype(self, name):
        return _OF_ONNX[self.infos[name].type.tensor_type.elem_type][0]

    def get_tensor_shape(self, name):
        return _sizes(self.infos[name])

    def get_tensor_location(self, name):
        return TensorLocation.DEVICE

    def create_execution_context(self):
        context = Context(self)
        self.contexts.append(context)
        return context


class Context:
    def __init__(self, engine):
        self.engine = engine
        self.shapes, self.addresses, self.streams = {}, {}, set()
        self.cuda = ctypes.CDLL(os.environ["WHERRY_CUDA_LIBRARY"])

    def _refuse(self, text):
        log.append(text)
        return False

    def set_input_shape(self, name, shape):
        engine = self.engine
        if name not in engine.inputs:
            return self._refuse(f"set_input_shape: there is no input {name}")
        sizes = engine.get_tensor_shape(name)
        if len(shape) != len(sizes) or any(m not in (-1, n) for n, m in zip(shape, sizes)):
            return self._refuse(f"set_input_shape: {shape} does not fit {sizes} of {name}")
        if -1 in sizes:
            least, _, most = engine.head["profiles"][0][name]
            if any(not a <= n <= b for a, n, b in zip(least, shape, most)):
                return self._refuse(f"set_input_shape: {shape} of {name} is out of the profile")
        self.shapes[name] = tuple(shape)
        return True

    def set_tensor_address(self, name, memory):
        if name not in self.engine.infos:
            return self._refuse(f"set_tensor_address: there is no tensor {name}")
        if memory % ALIGNMENT:
            return self._refuse(f"set_tensor_address: {memory:#x} of {name} is not aligned")
        self.addresses[name] = memory
        return True

    def infer_shapes(self):
        return [name for name in self.engine.inputs if name not in self.shapes and -1 in self.engine.get_tensor_shape(name)]

    def _shape_of_input(self, name):
        return self.shapes.get(name, self.engine.get_tensor_shape(name))

    def get_tensor_shape(self, name):
        if name in self.engine.inputs:
            return self._shape_of_input(name)
        if -1 not in self.engine.get_tensor_shape(name):
            return self.engine.get_tensor_shape(name)
        model = onnx.ModelProto()
        model.CopyFrom(self.engine.model)
        for info in model.graph.input:
            for dim, n in zip(info.type.tensor_type.shape.dim, self._shape_of_input(info.name)):
                dim.dim_value = n
        for info in model.graph.output:
            info.type.tensor_type.ClearField("shape")
        found = onnx.shape_inference.infer_shapes(model, data_prop=True)
        return next(_sizes(info) for info in found.graph.output if info.name == name)

    def execute_async_v3(self, stream_handle):
        engine = self.engine
        missing = [name for name in engine.infos if not self.addresses.get(name)]
        if missing or self.infer_shapes():
            return self._refuse(f"execute_async_v3: no address for {missing}, no shape for {self.infer_shapes()}")
        self.streams.add(stream_handle)
        if len(self.streams) > 1:
            return self._refuse("execute_async_v3: one context on two streams")
        stream = ctypes.c_void_p(stream_handle)
        feeds = {}
        for name in engine.inputs:
            kind = _OF_ONNX[engine.infos[name].type.tensor_type.elem_type][1]
            feeds[name] = np.empty(self._shape_of_input(name), kind)
            self._copy(feeds[name], self.addresses[name], 2, stream)
        for name, value in zip(engine.outputs, ReferenceEvaluator(_evaluated(engine.model)).run(None, feeds)):
            kind = _OF_ONNX[engine.infos[name].type.tensor_type.elem_type][1]
            assert np.asarray(value).dtype == kind, name
            assert np.shape(value) == tuple(self.get_tensor_shape(name)), name
            self._copy(np.ascontiguousarray(value), self.addresses[name], 1, stream)
        return True

    def _copy(self, array, address, kind, stream):
        if array.size == 0:
            return
        to, at = (array.ctypes.data, address) if kind == 2 else (address, array.ctypes.data)
        status = self.cuda.cudaMemcpyAsync(ctypes.c_void_p(to), ctypes.c_void_p(at), ctypes.c_size_t(array.nbytes), ctypes.c_int(kind), stream)
        status = status or self.cuda.cudaStreamSynchronize(stream)
        if status:
            raise RuntimeError(f"cuda: {status}")


class NetworkDefinitionCreationFlag(enum.Enum):
    STRONGLY_TYPED = 0

    def __int__(self):
        return self.value


class _OfTen(enum.Enum):
    EXPLICIT_BATCH, STRONGLY_TYPED = 0, 1

    def __int__(self):
        return self.value


__version__ = "11.4.0.106"


def as_module(version="11.4.0.106"):
    """The module `tensorrt` in a version, with nothing in its log."""
    made = types.ModuleType("tensorrt")
    made.__dict__.update({k: v for k, v in globals().items() if not k.startswith("_") or k == "__version__"})
    globals()["__version__"] = made.__version__ = version
    globals()["NetworkDefinitionCreationFlag"] = made.NetworkDefinitionCreationFlag = _OfTen if version.startswith("10") else _Eleven
    log.clear()
    built.clear()
    refused_ops.clear()
    return made


_Eleven = NetworkDefinitionCreationFlag
