"""`paddle.static`: programs that are described first and run then."""
from wherry_graph.input_spec import InputSpec
from wherry_graph.ir import Program, Variable
from wherry_graph.static import nn
from wherry_graph.static.executor import CompiledProgram, Executor, ParallelExecutor
from wherry_graph.static.lod import LoDTensor, create_lod_tensor
from wherry_graph.static.mode import (
    default_main_program,
    default_startup_program,
    device_guard,
    disable_static,
    enable_static,
    in_static_mode,
    name_scope,
    program_guard,
)
from wherry_graph.static.scope import Scope, global_scope, scope_guard
from wherry_graph.static.strategies import BuildStrategy, ExecutionStrategy
from wherry_graph.static.training import append_backward, gradients
from wherry_graph.static.variables import Print, create_global_var, create_parameter, data, py_func
from wherry_nn import WeightNormParamAttr

__all__ = [
    "BuildStrategy", "CompiledProgram", "ExecutionStrategy", "Executor", "InputSpec", "LoDTensor", "ParallelExecutor", "Print", "Program",
    "Scope", "Variable", "WeightNormParamAttr", "append_backward", "create_global_var", "create_lod_tensor", "create_parameter", "data",
    "default_main_program", "default_startup_program", "device_guard", "disable_static", "enable_static", "global_scope", "gradients",
    "in_static_mode", "name_scope", "nn", "program_guard", "py_func", "scope_guard",
]
