"""`paddle.nn.functional.flash_attention`: attention by the path that programs for GPUs import it from."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_nn.functional.flash_attention import *
from wherry_nn.functional.flash_attention import __all__ as __all__

_absent.explain(__name__)
