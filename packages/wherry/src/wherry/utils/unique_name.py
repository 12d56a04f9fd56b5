"""`paddle.utils.unique_name`: names that no other layer or parameter has."""
from wherry_nn.unique_name import generate, guard, switch

__all__ = ["generate", "guard", "switch"]
