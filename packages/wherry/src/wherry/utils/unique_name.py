"""`paddle.utils.unique_name`: names that no other layer or parameter has."""
from wherry import _absent
from wherry_nn.unique_name import generate, guard, switch

__all__ = ["generate", "guard", "switch"]

_absent.explain(__name__)
