"""Importing this module makes `paddle` mean `wherry`: `import wherry.alias`, or `pytest -p wherry.alias`."""
from wherry._alias import alias_paddle

__all__ = ["alias_paddle"]

alias_paddle()
