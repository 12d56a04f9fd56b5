"""Stub of wherry.jit, written by tools/stubs.py: where each public name comes from."""
from wherry_graph.jit.api import ProgramTranslator as ProgramTranslator
from wherry_graph.jit.api import ignore_module as ignore_module
from wherry_graph.jit.api import not_to_static as not_to_static
from wherry_graph.jit.api import to_static as to_static
from wherry_graph.jit.loading import TranslatedLayer as TranslatedLayer
from wherry_graph.jit.loading import load as load
from wherry_graph.jit.logs import set_code_level as set_code_level
from wherry_graph.jit.logs import set_verbosity as set_verbosity
from wherry_graph.jit.saving import save as save
from wherry_graph.jit.static_function import StaticFunction as StaticFunction
from wherry_graph.jit.static_function import enable_to_static as enable_to_static
from wherry_graph.jit.traced_layer import TracedLayer as TracedLayer
from wherry_program.program.input_spec import InputSpec as InputSpec
__all__: list[str]
