"""Tensors, the op vocabulary, and the functions of `paddle.*` on tensors: an n-d array library.

Kernels come with the package of a device (`pip install wherry-ops-cpu`), gradients with
`wherry-autograd`. Importing this package imports no NumPy.
"""
from typing import Any as _Any

from wherry_tensor import _core, ops

_core.start()  # the vocabulary is declared now

# ruff: noqa: E402, F403
from wherry_tensor import (
    creation,
    device,
    errors,
    flags,
    inplace,
    linalg,
    logic,
    manipulation,
    math,
    methods,
    padding,
    random,
    reduction,
    search,
)
from wherry_tensor._core import (
    DType,
    Tensor,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    set_num_threads,
    uint8,
)
from wherry_tensor.creation import *
from wherry_tensor.device import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    IPUPlace,
    NPUPlace,
    XPUPlace,
    get_cudnn_version,
    get_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_npu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    set_device,
)
from wherry_tensor.dtype import (
    finfo,
    get_default_dtype,
    iinfo,
    is_complex,
    is_floating_point,
    is_integer,
    set_default_dtype,
)
from wherry_tensor.einsum import einsum
from wherry_tensor.flags import get_flags, set_flags
from wherry_tensor.inplace import *
from wherry_tensor.linalg import *
from wherry_tensor.logic import *
from wherry_tensor.manipulation import *
from wherry_tensor.math import *
from wherry_tensor.padding import *
from wherry_tensor.printing import set_printoptions
from wherry_tensor.random import *
from wherry_tensor.reduction import *
from wherry_tensor.search import *

# Paddle's names. `wherry_tensor.dtype` is this class from now on; the module of that name is only
# reached by `from wherry_tensor.dtype import ...`.
bool = bool_
dtype = DType

methods.bind()
flags.read_environment()


def get_include() -> str:
    """The folder of the C headers, for compiling kernels: `wherry/abi.h` is below it.

    Examples:
        >>> import os, wherry_tensor
        >>> os.path.exists(os.path.join(wherry_tensor.get_include(), "wherry", "abi.h"))
        True
    """
    import os

    return os.path.join(os.path.dirname(__file__), "include")


def in_dynamic_mode() -> _Any:
    """Whether operations run at once: True.

    Source:
        `paddle.in_dynamic_mode`.
    """
    return True


__all__ = [  # noqa: PLE0604
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "DType", "IPUPlace", "NPUPlace", "Tensor", "XPUPlace",
    "bfloat16", "bool", "complex64", "complex128", "device", "dtype", "einsum", "errors", "finfo",
    "float16", "float32", "float64", "get_cudnn_version", "get_default_dtype", "get_device", "get_flags", "get_num_threads",
    "iinfo", "in_dynamic_mode", "int8", "int16", "int32", "int64",
    "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_custom_device",
    "is_compiled_with_distribute", "is_compiled_with_ipu", "is_compiled_with_npu", "is_compiled_with_rocm",
    "is_compiled_with_xpu", "is_complex", "is_floating_point", "is_integer", "ops",
    "set_default_dtype", "set_device", "set_flags", "set_num_threads", "set_printoptions", "uint8",
    *creation.__all__, *inplace.__all__, *linalg.__all__, *logic.__all__, *manipulation.__all__, *math.__all__,
    *padding.__all__, *random.__all__, *reduction.__all__, *search.__all__,
]
