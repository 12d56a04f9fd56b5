"""`paddle.inference`: running saved programs."""
from wherry import _absent
from wherry_infer import *  # noqa: F403
from wherry_infer import __all__ as __all__

_absent.explain(__name__)
