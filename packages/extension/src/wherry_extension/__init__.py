"""Operators written in C++: Paddle's custom operators, compiled, loaded and made members of the vocabulary.

`cpp_extension` builds and loads them, `sysconfig` says where the headers are. Loading this package loads neither.
"""
from __future__ import annotations

import os

__all__ = ["get_include"]

__version__ = "0.1.0"


def get_include() -> str:
    """The folder that holds `paddle/extension.h`."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
