"""`paddle.static`: programs that are described first and run then."""
from typing import TYPE_CHECKING

from wherry.static import amp as amp
from wherry.static import nn as nn
from wherry_graph.static import *  # noqa: F403
from wherry_graph.static import __all__ as __all__

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
