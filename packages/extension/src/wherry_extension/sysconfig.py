"""`paddle.sysconfig`: where headers and libraries are."""
from __future__ import annotations

import os

import wherry_extension

__all__ = ["get_include", "get_lib"]


def get_include() -> str:
    """The folder of the headers: `paddle/extension.h` for operators in C++, `paddle/phi/extension.h` and `paddle/phi/backends/device_ext.h` for
    device plug-ins, `wherry/abi.h` for kernels in C.

    Returns:
        An absolute path.

    Source:
        `paddle.sysconfig.get_include`.

    Examples:
        >>> import os
        >>> os.path.isfile(os.path.join(wherry.sysconfig.get_include(), "paddle", "extension.h"))
        True
    """
    return wherry_extension.get_include()


def get_lib() -> str:
    """The folder to link from. Libraries of operators and plug-ins need nothing of it; it has the names that Paddle's would link
    (`core_avx.so`, `libpaddle.so`), with nothing in them.

    Returns:
        An absolute path.

    Source:
        `paddle.sysconfig.get_lib`.

    Examples:
        >>> import os
        >>> os.path.isdir(wherry.sysconfig.get_lib())
        True
    """
    return os.path.join(os.path.dirname(os.path.abspath(wherry_extension.__file__)), "lib")
