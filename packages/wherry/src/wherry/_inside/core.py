"""`paddle.framework.core` and `paddle.base.core`: what libraries take from Paddle's compiled module.

Paddle's dtypes are members of an enumeration that also has the kinds of variables, `VarDesc.VarType`: here a dtype stands
where it does, and kinds are numbers as in Paddle's files.
"""
from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import wherry
from wherry import _absent
from wherry_graph.static import LoDTensor, Program, Scope
from wherry_paddle_files.desc import AttrType, VarKind
from wherry_tensor import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    DType,
    Generator,
    IPUPlace,
    Tensor,
    XPUPlace,
    _core,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from wherry_train.io.generator_loader import EOFException

__all__ = [
    "AttrType", "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "EOFException", "Generator", "IPUPlace", "LoDTensor", "Place",
    "ProgramDesc", "Scope",
    "VarDesc", "XPUPlace", "avx_supported", "default_cpu_generator", "eager", "get_cuda_device_count", "globals", "is_bfloat16_supported",
    "is_compiled_with_brpc", "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_dist",
    "is_compiled_with_ipu", "is_compiled_with_mkldnn", "is_compiled_with_nccl", "is_compiled_with_rocm", "is_compiled_with_xpu",
    "is_float16_supported", "op_proto_and_checker_maker", "set_prim_eager_enabled",
]

_DTYPES = {
    "BOOL": "bool", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "FP16": "float16", "BF16": "bfloat16",
    "FP32": "float32", "FP64": "float64", "COMPLEX64": "complex64", "COMPLEX128": "complex128",
}


class _VarType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, (DType, VarKind))

    def __getattr__(cls, name: str) -> Any:
        if name in _DTYPES:
            return getattr(wherry, _DTYPES[name])
        if name in VarKind.__members__:
            return VarKind[name]
        raise AttributeError(f"VarType: there is no {name}. Got {name!r}, expected one of {', '.join([*_DTYPES, *VarKind.__members__])}.")

    def __call__(cls, code: Any) -> Any:
        """The dtype or kind of a number of the format."""
        if isinstance(code, (DType, VarKind)):
            return code
        from wherry_paddle_files.desc import dtype_name

        return VarKind(code) if code in list(VarKind) else getattr(wherry, dtype_name(code, "VarType"))


class VarDesc:
    """The description of a variable, of which its type is asked."""

    class VarType(metaclass=_VarType):
        """Dtypes, and kinds of variables."""


class _Place(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, (CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, IPUPlace, XPUPlace))

    def __call__(cls) -> Any:
        return CPUPlace()


class Place(metaclass=_Place):
    """Any place."""


ProgramDesc = Program


class _OpRole(IntEnum):
    Forward, Backward, Optimize, RPC, Dist, LRSched, Loss = 0, 1, 2, 4, 8, 16, 256


op_proto_and_checker_maker = SimpleNamespace(
    OpRole=_OpRole, kOpRoleAttrName=lambda: "op_role", kOpRoleVarAttrName=lambda: "op_role_var", kOpDeviceAttrName=lambda: "op_device",
    kOpNameScopeAttrName=lambda: "op_namescope",
)


def default_cpu_generator() -> Generator:
    """The generator of the process."""
    return _core.get_default_generator(0)


def get_cuda_device_count() -> int:
    """How many GPUs there are."""
    return wherry.device.cuda.device_count()


def is_compiled_with_dist() -> bool:
    return False


def is_compiled_with_nccl() -> bool:
    return False


def is_compiled_with_mkldnn() -> bool:
    return False


def is_compiled_with_brpc() -> bool:
    return False


def avx_supported() -> bool:
    """No kernel of ours needs to be chosen by this answer."""
    return True


def is_float16_supported(place: Any) -> bool:
    return wherry.amp.is_float16_supported()


def is_bfloat16_supported(place: Any) -> bool:
    return wherry.amp.is_bfloat16_supported()


def set_prim_eager_enabled(on: bool) -> None:
    """No effect: whether gradients go through primitive ops is not a choice here."""


_set_prim_all_enabled = _set_prim_forward_enabled = _set_prim_backward_enabled = set_prim_eager_enabled


def _is_fwd_prim_enabled() -> bool:
    return False


_is_bwd_prim_enabled = _is_all_prim_enabled = _is_eager_prim_enabled = _is_fwd_prim_enabled


def globals() -> dict[str, Any]:  # noqa: A001  Paddle's name
    """The flags of the process."""
    from wherry_tensor.flags import FLAGS

    return wherry.get_flags(list(FLAGS))


def _run_custom_op(name: str, *args: Any) -> Any:
    from wherry._inside import extensions

    return extensions.run_custom_op(name, *args)


class _Ops:
    """`core.eager.ops`: the operators by name."""

    def __getattr__(self, name: str) -> Any:
        if name == "legacy":
            from wherry._inside import legacy_c_ops

            return legacy_c_ops
        from wherry._inside import c_ops

        return getattr(c_ops, name)


eager = SimpleNamespace(Tensor=Tensor, ops=_Ops(), _run_custom_op=_run_custom_op)
VarBase = Tensor

__getattr__ = _absent.looked_up("wherry.base.core")
