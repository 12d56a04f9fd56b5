"""`paddle.sysconfig`: where headers and libraries are."""
from __future__ import annotations

import os

import wherry_extension
import wherry_tensor

__all__ = ["get_include", "get_lib"]


def get_include() -> str:
    """The folder of the headers: `paddle/extension.h` for operators in C++, `wherry/abi.h` for kernels in C.

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
    """The folder of the compiled modules. Libraries of operators need none of them to link.

    Returns:
        An absolute path.

    Source:
        `paddle.sysconfig.get_lib`.

    Examples:
        >>> import os
        >>> os.path.isdir(wherry.sysconfig.get_lib())
        True
    """
    return os.path.dirname(os.path.abspath(wherry_tensor.__file__))
