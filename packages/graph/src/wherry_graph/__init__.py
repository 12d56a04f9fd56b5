"""`paddle.jit` and `paddle.static`: programs captured from Python code, and static programs."""
from wherry_graph import members

__all__: list[str] = []

__version__ = "0.16.0"

members.attach()
