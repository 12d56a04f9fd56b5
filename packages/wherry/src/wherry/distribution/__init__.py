"""`paddle.distribution`: distributions, transforms between them, and divergences."""
from wherry import _absent
from wherry.distribution import constraint as constraint
from wherry.distribution import transform as transform
from wherry.distribution import variable as variable
from wherry_distribution import *  # noqa: F403
from wherry_distribution import __all__ as __all__

_absent.explain(__name__)
