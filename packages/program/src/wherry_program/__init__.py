"""Programs: recorded computations, their gradients, passes and executor.

    program     the representation, capture, gradients, control flow
    passes      functions from a program to a program
    run         the interpreter, the planner, the executor
"""
from wherry_program.program.ir import Block, Node, Program, Variable

__all__ = ["Block", "Node", "Program", "Variable"]

__version__ = "0.14.0"
