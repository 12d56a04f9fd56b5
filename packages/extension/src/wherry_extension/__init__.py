"""Extensions: Paddle's custom operators in C++, and device plug-ins for Paddle's C interface.

`cpp_extension` builds and loads operators, `plugins` loads devices, `sysconfig` says where the headers are. Loading this package
loads none of them.
"""
from __future__ import annotations

import os

__all__ = ["get_include"]

__version__ = "0.8.0"


def get_include() -> str:
    """The folder that holds `paddle/extension.h`."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
