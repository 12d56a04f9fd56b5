"""Python's control flow on tensors, converted so that a program can hold it."""
from wherry_graph.jit.convert.function import (
    converted,
    converted_function,
    ignore_modules,
    keep_as_is,
    text_of,
    why_not,
)

__all__ = ["converted", "converted_function", "ignore_modules", "keep_as_is", "text_of", "why_not"]
