"""Programs of other frameworks, rewritten: of Paddle 1.x for 2.x, of PyTorch for Wherry. Sources are read and never run."""

from wherry_migrate.paddle1 import upgrade
from wherry_migrate.pytorch import from_torch
from wherry_migrate.rewriting import Result, Warning_

__version__ = "0.3.0"
__all__ = ["Result", "Warning_", "from_torch", "upgrade"]
