"""`paddle.utils.cpp_extension`: operators in C++."""
from typing import TYPE_CHECKING, Any

from wherry import _absent
from wherry_extension.cpp_extension import (
    CppExtension,
    CUDAExtension,
    get_build_directory,
    load,
    load_op_meta_info_and_register_op,
    setup,
)

if TYPE_CHECKING:
    from wherry_extension.cpp_extension import BuildExtension

__all__ = [
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "get_build_directory",
    "load",
    "load_op_meta_info_and_register_op",
    "setup",
]

__path__: list[str] = []  # modules below it are doors
_no_such_name = _absent.looked_up(__name__)


def __getattr__(name: str) -> Any:
    if name == "BuildExtension":  # needs setuptools
        from wherry_extension import cpp_extension

        return cpp_extension.BuildExtension
    return _no_such_name(name)
