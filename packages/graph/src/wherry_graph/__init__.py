"""Programs for Wherry: what eager code computes, recorded, changed, run, differentiated and saved."""
from wherry_graph.ir import Block, Node, Program, Variable

__all__ = ["Block", "Node", "Program", "Variable"]

__version__ = "0.6.0"
