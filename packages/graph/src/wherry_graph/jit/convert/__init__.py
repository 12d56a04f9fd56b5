"""Conversion of Python's control flow on tensors into control nodes of a program."""
from wherry_graph.jit.convert import runtime
from wherry_graph.jit.convert.function import (
    calls_into,
    converted,
    converted_function,
    ignore_modules,
    keep_as_is,
    text_of,
    why_not,
)

__all__ = ["converted", "converted_function", "ignore_modules", "keep_as_is", "text_of", "why_not"]

calls_into(runtime)
