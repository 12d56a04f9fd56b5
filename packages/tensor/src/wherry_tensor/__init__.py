"""Tensors, the op vocabulary, and the functions of `paddle.*` on tensors: an n-d array library.

Kernels come with the package of a device (`pip install wherry-ops-cpu`), gradients with
`wherry-autograd`. Importing this package imports no NumPy.
"""
from typing import Any as _Any

from wherry_tensor import _core, ops

_core.start()  # the vocabulary is declared now

# ruff: noqa: E402, F403
from wherry_tensor import (
    device,
    errors,
    flags,
    later_arguments,  # noqa: F401  spellings knows them from then on
    methods,
    nan_inf_check,  # noqa: F401  it serves its flag
    threads,
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
from wherry_tensor.flags import get_flags, set_flags
from wherry_tensor.functions import (
    conversions,
    creation,
    draws,
    elementary,
    inplace,
    joining,
    linalg,
    logic,
    math,
    movement,
    norms,  # noqa: F401  what paddle.linalg has
    other_names,
    padding,
    positions,
    products,
    random,
    reduction,
    scattering,
    search,
    sequences,
    special,
)
from wherry_tensor.functions import (
    einsum as contractions,
)
from wherry_tensor.functions.conversions import *
from wherry_tensor.functions.creation import *
from wherry_tensor.functions.draws import *
from wherry_tensor.functions.einsum import *
from wherry_tensor.functions.elementary import *
from wherry_tensor.functions.factorization import cholesky, eigvalsh, inverse
from wherry_tensor.functions.inplace import *
from wherry_tensor.functions.joining import *
from wherry_tensor.functions.linalg import *
from wherry_tensor.functions.logic import *
from wherry_tensor.functions.math import *
from wherry_tensor.functions.matrices import renorm, renorm_, vander
from wherry_tensor.functions.movement import *
from wherry_tensor.functions.other_names import *
from wherry_tensor.functions.padding import *
from wherry_tensor.functions.positions import *
from wherry_tensor.functions.products import *
from wherry_tensor.functions.random import *
from wherry_tensor.functions.reduction import *
from wherry_tensor.functions.scattering import *
from wherry_tensor.functions.search import *
from wherry_tensor.functions.sequences import *
from wherry_tensor.functions.special import *
from wherry_tensor.printing import set_printoptions

# Paddle's names. `wherry_tensor.dtype` is this class from now on; the module of that name is only
# reached by `from wherry_tensor.dtype import ...`.
bool = bool_
dtype = DType

methods.bind()
threads.start()
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
    """Whether operations run at once: not under `enable_static()`.

    Source:
        `paddle.in_dynamic_mode`.

    Examples:
        >>> wherry.in_dynamic_mode()
        True
    """
    from wherry_tensor.static_builder import building

    return building.builder is None


def __getattr__(name: str) -> _Any:
    from wherry_tensor.names_of_other_packages import absent

    raise absent(name)


__all__ = [  # noqa: PLE0604
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "DType", "IPUPlace", "NPUPlace", "Tensor", "XPUPlace",
    "bfloat16", "bool", "cholesky", "complex64", "complex128", "device", "dtype", "eigvalsh", "errors", "finfo",
    "float16", "float32", "float64", "get_cudnn_version", "get_default_dtype", "get_device", "get_flags", "get_num_threads",
    "iinfo", "in_dynamic_mode", "inverse", "int8", "int16", "int32", "int64",
    "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_custom_device",
    "is_compiled_with_distribute", "is_compiled_with_ipu", "is_compiled_with_npu", "is_compiled_with_rocm",
    "is_compiled_with_xpu", "is_complex", "is_floating_point", "is_integer", "ops",
    "renorm", "renorm_",
    "set_default_dtype", "set_device", "set_flags", "set_num_threads", "set_printoptions", "uint8", "vander",
    *creation.__all__, *contractions.__all__, *inplace.__all__, *linalg.__all__, *logic.__all__, *math.__all__, *movement.__all__,
    *conversions.__all__, *draws.__all__, *elementary.__all__, *joining.__all__, *other_names.__all__, *products.__all__, *scattering.__all__,
    *padding.__all__, *positions.__all__, *random.__all__, *reduction.__all__, *search.__all__,
    *sequences.__all__, *special.__all__,
]
__version__ = "0.24.0"
