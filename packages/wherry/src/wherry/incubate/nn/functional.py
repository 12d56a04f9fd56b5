"""`paddle.incubate.nn.functional`: fused functions of transformers."""
# ruff: noqa: F403  their own lists say what
from wherry import _absent
from wherry_nn.functional.fused import *
from wherry_nn.functional.fused import __all__ as _transformers
from wherry_nn.functional.language import *
from wherry_nn.functional.language import __all__ as _language

__all__ = [*_transformers, *_language]

_absent.explain(__name__)
