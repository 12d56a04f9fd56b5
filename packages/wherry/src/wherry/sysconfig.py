"""`paddle.sysconfig`: where headers and libraries are."""
from wherry import _absent
from wherry_extension.sysconfig import get_include, get_lib

__all__ = ["get_include", "get_lib"]

_absent.explain(__name__)
