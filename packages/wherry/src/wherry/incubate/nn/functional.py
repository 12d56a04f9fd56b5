"""`paddle.incubate.nn.functional`: parts of transformers."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_nn.functional.fused import *
from wherry_nn.functional.fused import __all__ as __all__

_absent.explain(__name__)
