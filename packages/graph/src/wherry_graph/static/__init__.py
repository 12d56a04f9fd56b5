"""`paddle.static`: programs that are built first and run later."""
from wherry_graph.static import amp as amp
from wherry_graph.static import nn as nn
from wherry_graph.static.averages import ExponentialMovingAverage
from wherry_graph.static.executor import CompiledProgram, Executor, ParallelExecutor
from wherry_graph.static.files import (
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
)
from wherry_graph.static.lod import LoDTensor, create_lod_tensor
from wherry_graph.static.metrics import accuracy, auc, ctr_metric_bundle
from wherry_graph.static.mode import (
    default_main_program,
    default_startup_program,
    device_guard,
    in_static_mode,
    name_scope,
    program_guard,
)
from wherry_graph.static.places import (
    IpuCompiledProgram,
    IpuStrategy,
    cpu_places,
    cuda_places,
    ipu_shard_guard,
    mlu_places,
    npu_places,
    set_ipu_shard,
    xpu_places,
)
from wherry_graph.static.scope import Scope, global_scope, scope_guard
from wherry_graph.static.strategies import BuildStrategy, ExecutionStrategy
from wherry_graph.static.switching import disable_static, enable_static
from wherry_graph.static.training import append_backward, gradients
from wherry_graph.static.variables import Print, create_global_var, create_parameter, data, py_func
from wherry_nn import WeightNormParamAttr
from wherry_program.program.input_spec import InputSpec
from wherry_program.program.ir import Program, Variable

__all__ = [
    "BuildStrategy", "CompiledProgram", "ExecutionStrategy", "Executor", "ExponentialMovingAverage", "InputSpec", "IpuCompiledProgram", "IpuStrategy",
    "LoDTensor", "ParallelExecutor", "Print", "Program", "Scope", "Variable", "WeightNormParamAttr", "accuracy", "append_backward", "auc",
    "cpu_places", "create_global_var", "create_lod_tensor", "create_parameter", "ctr_metric_bundle", "cuda_places", "data", "default_main_program",
    "default_startup_program", "deserialize_persistables", "deserialize_program", "device_guard", "disable_static", "enable_static", "global_scope",
    "gradients", "in_static_mode", "ipu_shard_guard", "load", "load_from_file", "load_inference_model", "load_program_state", "mlu_places",
    "name_scope", "normalize_program", "npu_places", "program_guard", "py_func", "save", "save_inference_model", "save_to_file", "scope_guard",
    "serialize_persistables", "serialize_program", "set_ipu_shard", "set_program_state", "xpu_places",
]
