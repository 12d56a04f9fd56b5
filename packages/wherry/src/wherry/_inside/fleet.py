"""`paddle.distributed.fleet`, with the modules below it and what is not there."""
from wherry import _absent
from wherry_distributed import fleet as _fleet
from wherry_distributed.fleet import *  # noqa: F403

__all__ = _fleet.__all__.copy()

__getattr__ = _absent.looked_up("wherry.distributed.fleet")
