"""`paddle.base.framework`: modes, places, parameters and programs by the names that Paddle's own modules use."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import wherry
from wherry import _absent
from wherry._inside import core
from wherry._inside.modes import in_pir_mode, in_to_static_mode
from wherry_graph.static import (
    Program,
    Variable,
    cpu_places,
    cuda_places,
    default_main_program,
    default_startup_program,
    device_guard,
    name_scope,
    program_guard,
)
from wherry_nn import Parameter, unique_name
from wherry_program.program.ir import Block
from wherry_tensor import (
    Tensor,
    get_flags,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    set_flags,
    to_tensor,
)
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import PreconditionNotMetError

__all__ = [
    "Block", "EagerParamBase", "OpProtoHolder", "Parameter", "Program", "Variable", "convert_np_dtype_to_dtype_", "core", "cpu_places",
    "cuda_places", "default_main_program", "default_startup_program", "deprecate_stat_dict", "device_guard", "dygraph_not_support",
    "dygraph_only", "get_flags", "in_dygraph_mode", "in_dynamic_mode", "in_dynamic_or_pir_mode", "in_pir_mode", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_rocm", "is_compiled_with_xpu", "is_parameter", "is_persistable", "name_scope", "non_static_only",
    "program_guard", "set_flags", "static_only", "to_variable", "unique_name", "use_pir_api",
]

EagerParamBase = Parameter
GRAD_VAR_SUFFIX, EMPTY_VAR_NAME = "@GRAD", "@EMPTY@"


def in_dynamic_mode() -> bool:
    """Whether ops run at once: neither a static program nor one of `to_static` is recorded, as Paddle's inner code asks."""
    return wherry.in_dynamic_mode() and not in_to_static_mode()


in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode


def use_pir_api() -> bool:
    """Programs of Paddle 3's kind: there are none."""
    return False


def _only(function: Callable[..., Any], wanted: bool, mode: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if wherry.in_dynamic_mode() is not wanted:
            raise PreconditionNotMetError(
                f"{function.__name__}: it is for {mode} mode. Got a call in the other one, expected {mode} mode. "
                f"Call paddle.{'disable' if wanted else 'enable'}_static() before."
            )
        return function(*args, **kwargs)

    return checked


def dygraph_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: refuse calls in static mode."""
    return _only(function, True, "dynamic")


non_static_only = dygraph_only


def static_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: refuse calls outside of static mode."""
    return _only(function, False, "static")


dygraph_not_support = static_only


def convert_np_dtype_to_dtype_(np_dtype: Any) -> Any:
    """The dtype of a name, of NumPy's or of ours."""
    return as_dtype(np_dtype, "convert_np_dtype_to_dtype_")


def _current_expected_place() -> Any:
    """The place where tensors are made."""
    return wherry.framework.CPUPlace() if wherry.get_device() == "cpu" else _get_paddle_place(wherry.get_device())


_current_expected_place_ = _current_expected_place


def _get_paddle_place(place: Any) -> Any:
    """A place from its name, such as "gpu:0"; None and places stay."""
    if not isinstance(place, str):
        return place
    kind, _, index = place.lower().partition(":")
    if kind == "cpu":
        return wherry.CPUPlace()
    if kind in ("gpu", "cuda"):
        return wherry.CUDAPlace(int(index or 0))
    if kind == "gpu_pinned":
        return wherry.CUDAPinnedPlace()
    return wherry.XPUPlace(int(index or 0)) if kind == "xpu" else wherry.CustomPlace(kind, int(index or 0))


_convert_to_place = _get_paddle_place


def _set_expected_place(place: Any) -> None:
    """Make tensors at a place from now on."""
    if isinstance(place, wherry.CPUPlace):
        wherry.set_device("cpu")
    elif isinstance(place, wherry.CUDAPlace):
        wherry.set_device(f"gpu:{place.get_device_id()}")
    elif isinstance(place, wherry.CustomPlace):
        wherry.set_device(str(place).removeprefix("Place(").rstrip(")"))


def _global_flags() -> dict[str, Any]:
    return core.globals()


def _dygraph_tracer() -> Any:
    """None: ops are not traced by an object here. Libraries ask it whether mixed precision is on."""
    return _Tracer() if wherry.in_dynamic_mode() else None


class _Tracer:
    """What can be asked of Paddle's tracer."""

    @property
    def _amp_level(self) -> int:
        from wherry._inside.modes import AMP_LEVEL, amp_state

        state = amp_state()
        return AMP_LEVEL.O0 if state is None else getattr(AMP_LEVEL, state["level"])

    @property
    def _amp_dtype(self) -> str:
        from wherry._inside.modes import amp_global_state

        return amp_global_state().amp_dtype

    @property
    def _has_grad(self) -> bool:
        return wherry.is_grad_enabled()

    @_has_grad.setter
    def _has_grad(self, on: bool) -> None:
        from wherry_tensor._core import set_grad_mode

        set_grad_mode(on)


def _create_tensor(
    type: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None, persistable: bool | None = None, **kwargs: Any
) -> Tensor:
    """A tensor to be filled."""
    out = Tensor.create_tensor("float32" if dtype is None else dtype, name, bool(persistable))
    return out if shape is None else wherry.zeros(shape, out.dtype)


def to_variable(value: Any, name: str | None = None, zero_copy: bool | None = None, dtype: Any = None) -> Tensor:
    """A tensor of an array. Source: `paddle.base.dygraph.to_variable`."""
    return value if isinstance(value, Tensor) and dtype is None else to_tensor(value, dtype)


def is_parameter(var: Any) -> bool:
    """Is it a parameter?"""
    return isinstance(var, Parameter)


def is_persistable(var: Any) -> bool:
    """Does it outlive a run of its program?"""
    return bool(var.persistable)


def deprecate_stat_dict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: `stat_dict` is the old name of the argument `state_dict`."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        if "stat_dict" in kwargs:
            kwargs["state_dict"] = kwargs.pop("stat_dict")
        return function(*args, **kwargs)

    return renamed


@contextmanager
def _dygraph_guard(tracer: Any = None) -> Iterator[None]:
    """Dynamic mode inside of the block."""
    static = not wherry.in_dynamic_mode()
    if static:
        wherry.disable_static()
    try:
        yield
    finally:
        if static:
            wherry.enable_static()


@contextmanager
def _stride_in_no_check_dy2st_diff() -> Iterator[None]:
    """No effect: views are captured as they are."""
    yield


def _no_check_dy2st_diff(*args: Any) -> Any:
    """No effect, as a decorator and in a `with` block."""
    return args[0] if args and callable(args[0]) else _stride_in_no_check_dy2st_diff()


class OpProtoHolder:
    """What is known of Paddle's operators. Source: `paddle.base.framework.OpProtoHolder`."""

    _only: OpProtoHolder | None = None

    @classmethod
    def instance(cls) -> OpProtoHolder:
        """The only one."""
        cls._only = cls._only or cls()
        return cls._only

    @property
    def op_proto_map(self) -> dict[str, Any]:
        """Operators that can be read, by name."""
        from wherry_paddle_files.operators import legacy

        return dict(legacy())

    def has_op_proto(self, type: str) -> bool:
        """Is there an operator of this name?"""
        return type in self.op_proto_map

    def get_op_proto(self, type: str) -> Any:
        """The slots of an operator."""
        return self.op_proto_map[type]


__getattr__ = _absent.looked_up("wherry.base.framework")
