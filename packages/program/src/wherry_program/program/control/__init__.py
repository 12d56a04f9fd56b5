"""Control nodes, which are not ops of the vocabulary: choices, loops, lists, print, assert, calls of Python.

The functions here record nodes where a capture is on and their condition is symbolic; otherwise they do what they say at once. A module
holds a kind of node with its rules (`node_rules`): how it runs, its gradient, how it is recorded once more elsewhere.
"""
from wherry_program.program.control.arrays import (
    array_append,
    array_length,
    array_read,
    array_stack,
    array_write,
    create_array,
)
from wherry_program.program.control.calls import assert_true, print_tensor, py_func
from wherry_program.program.control.choices import cond, record_cond
from wherry_program.program.control.collecting import collected
from wherry_program.program.control.loops import while_loop
from wherry_program.program.control.own_gradients import own_gradient

__all__ = [
    "array_append", "array_length", "array_read", "array_stack", "array_write", "assert_true", "collected", "cond", "create_array",
    "own_gradient", "print_tensor", "py_func", "record_cond", "while_loop",
]
