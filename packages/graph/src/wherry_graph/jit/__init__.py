"""`paddle.jit`: functions and layers as programs."""
from wherry_graph.jit.api import ProgramTranslator, ignore_module, not_to_static, to_static
from wherry_graph.jit.loading import TranslatedLayer, load
from wherry_graph.jit.logs import set_code_level, set_verbosity
from wherry_graph.jit.saving import save
from wherry_graph.jit.static_function import StaticFunction, enable_to_static
from wherry_graph.jit.traced_layer import TracedLayer
from wherry_program.program.input_spec import InputSpec

__all__ = [
    "InputSpec",
    "ProgramTranslator",
    "StaticFunction",
    "TracedLayer",
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
