"""`paddle.framework`: what programs of Paddle import from there. The same names are at the top of the package."""
from wherry import _absent
from wherry.distributed import DataParallel
from wherry_autograd import grad, is_grad_enabled, no_grad, set_grad_enabled
from wherry_nn import ParamAttr, Parameter
from wherry_tensor import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    XPUPlace,
    get_default_dtype,
    get_flags,
    in_dynamic_mode,
    seed,
    set_default_dtype,
    set_flags,
)
from wherry_train import load, save

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "DataParallel",
    "ParamAttr",
    "Parameter",
    "XPUPlace",
    "get_default_dtype",
    "get_flags",
    "grad",
    "in_dynamic_mode",
    "is_grad_enabled",
    "load",
    "no_grad",
    "save",
    "seed",
    "set_default_dtype",
    "set_flags",
    "set_grad_enabled",
]

_absent.explain(__name__)
