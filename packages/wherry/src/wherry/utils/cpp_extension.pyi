"""Stub of wherry.utils.cpp_extension, written by tools/stubs.py: where each public name comes from."""
from wherry_extension.cpp_extension import BuildExtension as BuildExtension
from wherry_extension.cpp_extension import CUDAExtension as CUDAExtension
from wherry_extension.cpp_extension import CppExtension as CppExtension
from wherry_extension.cpp_extension import get_build_directory as get_build_directory
from wherry_extension.cpp_extension import load as load
from wherry_extension.cpp_extension import setup as setup
from wherry_extension.operators import load_op_meta_info_and_register_op as load_op_meta_info_and_register_op
__all__: list[str]
