"""Tensor methods: every function that is one, in one table.

A function of `paddle.*` whose first argument is a tensor is also a method. What only exists as a
method is written below. `bind` is called once, when the package is imported.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, require_tensor
from wherry_tensor.device import Place, absent, device_code, get_device, names_absent_device, names_device, place_of
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.suggestions import FOREIGN, did_you_mean, hint_for

# Functions of these modules that are methods under their own name.
_METHODS = {
    "dtype": "is_complex is_floating_point is_integer",
    "functions.creation": "cast diag diag_embed diagflat polar tril triu",
    "functions.factorization": """cholesky cholesky_solve cond eig eigvals eigvalsh householder_product inverse lstsq lu lu_unpack
        matrix_power pca_lowrank pinv qr solve triangular_solve""",
    "functions.inplace": "*",
    "functions.logic": """allclose bitwise_and bitwise_not bitwise_or bitwise_xor equal equal_all greater_equal greater_than
        is_empty is_tensor isclose isfinite isinf isnan less_equal less_than logical_and logical_not logical_or
        logical_xor not_equal where""",
    "functions.math": "*",
    "functions.matrices": "corrcoef cov renorm renorm_ vander",
    "functions.random": "cauchy_ exponential_ geometric_ multinomial normal_ uniform_",
    "functions.reduction": "*",
    "functions.einsum": "tensordot",
    "functions.linalg": "*",
    "functions.movement": "*",
    "functions.positions": "*",
    "functions.search": "*",
    "functions.sequences": "*",
    "functions.signal": "istft stft",
    "functions.special": "*",
}
_NOT_METHODS = frozenset(("complex", "broadcast_shape", "einsum", "meshgrid"))


def table() -> dict[str, Any]:
    """Names and functions (or properties) of all methods that this package gives to Tensor."""
    methods: dict[str, Any] = {}
    own = vars(Tensor)  # what the core has itself (tolist, ...) stays: the functions call it
    for module_name, names in _METHODS.items():
        module = importlib.import_module(f"wherry_tensor.{module_name}")
        for name in module.__all__ if names == "*" else names.split():
            if name not in _NOT_METHODS and name not in own:
                methods[name] = getattr(module, name)
    return methods | _only_methods


_only_methods: dict[str, Any] = {}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    _only_methods[function.__name__] = function
    return function


def _property(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    _only_methods[function.__name__] = property(function, doc=function.__doc__)
    return function


@_method
def astype(self: Tensor, dtype: Any) -> Tensor:
    """The tensor in another dtype, as `cast`.

    Raises:
        TypeError: `dtype` names no dtype.

    Source:
        `paddle.Tensor.astype`.

    Examples:
        >>> wherry.to_tensor([1.5]).astype("int64").numpy()
        array([1]...)
    """
    return ops.cast(self, as_dtype(dtype, "astype"))


@_method
def clone(self: Tensor) -> Tensor:
    """A copy that gradients pass through. Source: `paddle.Tensor.clone`."""
    return ops.copy(self)


@_method
def top_p_sampling(self: Tensor, ps: Tensor, threshold: Tensor | None = None, seed: int | None = None, name: str | None = None) -> Any:
    """Refused: Paddle 2.6.2 samples so on GPUs alone, and has no such operator for the CPU.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.Tensor.top_p_sampling`.
    """
    raise UnimplementedError(
        f"top_p_sampling: Paddle has this operator for GPUs alone. Got x of shape {self.shape} on the cpu, expected a GPU. Sort the "
        f"probabilities (sort, argsort), clear those behind the share (cumsum, where) and draw with multinomial."
    )


@_method
def detach(self: Tensor) -> Tensor:
    """A tensor on the same memory without gradient history: stop_gradient is True.

    Source:
        `paddle.Tensor.detach`.

    Examples:
        >>> x = wherry.to_tensor([1.0], stop_gradient=False)
        >>> x.detach().stop_gradient
        True
    """
    if not _core.is_symbolic(self):
        return _core.alias(self)
    before = _core.set_grad_mode(False)
    try:
        return ops.reshape_like(self, self)  # an op, so that a captured program knows the result
    finally:
        _core.set_grad_mode(before)


@_method
def detach_(self: Tensor) -> Tensor:
    """Cut the tensor off from what made it: stop_gradient becomes True. Source: `paddle.Tensor.detach_`."""
    _core.detach_in_place(self)
    return self


def on_device(x: Tensor, code: int, blocking: bool = True) -> Tensor:
    """`x` on a device: itself when it is there. Gradients find the way back.

    A copy out of page-locked memory that is not `blocking` may read it until the device's stream has passed the copy.
    """
    here = _core.device_of(x)
    if code == here:
        return x
    before = _core.set_copies_later(not blocking)
    try:
        return ops.copy_to(x, _core.name_of_device(code), _core.name_of_device(here))
    finally:
        _core.set_copies_later(before)


@_method
def cpu(self: Tensor) -> Tensor:
    """The tensor on the CPU: itself when it is there, else a copy (differentiable). Source: `paddle.Tensor.cpu`."""
    return on_device(self, 0)


@_method
def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor on a GPU (differentiable).

    Args:
        device_id: which GPU; None is the current one, or the first.
        blocking: False lets a copy out of pinned memory run beside the program: until the GPU has passed it, leave `self` as it is.

    Raises:
        ValueError: there is no such GPU.

    Source:
        `paddle.Tensor.cuda`.
    """
    if device_id is None:
        current = get_device()
        name = current if current.startswith("gpu:") else "gpu:0"
    else:
        name = f"gpu:{short(integer(device_id, 'Tensor.cuda', 'device_id'))}"
    return on_device(self, device_code(name, "Tensor.cuda"), bool(blocking))


@_method
def pin_memory(self: Tensor, blocking: bool = True) -> Tensor:
    """The tensor in pinned memory, from which a GPU copies faster.

    Ops on it run on the cpu. A copy from there that should run beside the program is `cuda(blocking=False)`.

    Args:
        blocking: accepted for compatibility: the copy is complete when the call returns.

    Raises:
        ValueError: no device here has pinned memory.

    Source:
        `paddle.Tensor.pin_memory`.
    """
    return on_device(self, device_code("gpu_pinned", "Tensor.pin_memory"))


@_method
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor on a device and in a dtype.

    Called as `to(device, dtype=None, blocking=None)`, `to(dtype, blocking=None)` or
    `to(other, blocking=None)`, which takes device and dtype from another tensor. `blocking=False` is that of `cuda`.

    Raises:
        TypeError: an argument is none of these.
        ValueError: there is no such device.

    Source:
        `paddle.Tensor.to`.

    Examples:
        >>> wherry.to_tensor([1.0]).to("float64").dtype.name
        'float64'
    """
    given = dict(zip(("device", "dtype", "blocking"), args)) if args and names_device(args[0]) else {}
    if args and not given:
        if isinstance(args[0], Tensor):
            given = {"dtype": args[0].dtype, "device": place_of(args[0])}
        else:
            given = {"dtype": args[0]}
    given |= kwargs
    other = given.pop("other", None)
    if isinstance(other, Tensor):
        given |= {"dtype": other.dtype, "device": place_of(other)}
    unknown = given.keys() - {"device", "dtype", "blocking"}
    if unknown:
        raise TypeError(f"to: unknown arguments. Got {', '.join(unknown)}, expected device, dtype, blocking or other.")
    out = self if given.get("device") is None else on_device(
        self, device_code(given["device"], "to"), given.get("blocking") is not False
    )
    if given.get("dtype") is None:
        return out
    try:
        dtype = as_dtype(given["dtype"], "to")
    except TypeError as error:
        if not args or not names_absent_device(args[0]):
            raise
        raise TypeError(f"{error} It names no device either: {absent('to', args[0])}") from None
    return out if dtype is out.dtype else ops.cast(out, dtype)


@_method
def dim(self: Tensor) -> int:
    """Number of axes. Source: `paddle.Tensor.dim`."""
    return self.ndim


@_method
def ndimension(self: Tensor) -> int:
    """Number of axes. Source: `paddle.Tensor.ndimension`."""
    return self.ndim


@_method
def element_size(self: Tensor) -> int:
    """Bytes of one element. Source: `paddle.Tensor.element_size`."""
    return self.itemsize


@_method
def get_strides(self: Tensor) -> list[int]:
    """Elements from one index to the next along each axis. Source: `paddle.Tensor.get_strides`."""
    return self.strides


@_method
def is_dense(self: Tensor) -> bool:
    """True: sparse tensors have a class of their own. Source: `paddle.Tensor.is_dense`."""
    return True


@_method
def is_dist(self: Tensor) -> bool:
    """False: tensors live in one process. Source: `paddle.Tensor.is_dist`."""
    return False


@_method
def is_sparse(self: Tensor) -> bool:
    """False: sparse tensors have a class of their own. Source: `paddle.Tensor.is_sparse`."""
    return False


@_method
def is_sparse_coo(self: Tensor) -> bool:
    """False: sparse tensors have a class of their own. Source: `paddle.Tensor.is_sparse_coo`."""
    return False


@_method
def is_sparse_csr(self: Tensor) -> bool:
    """False: sparse tensors have a class of their own. Source: `paddle.Tensor.is_sparse_csr`."""
    return False


@_method
def is_selected_rows(self: Tensor) -> bool:
    """False: such gradients have a class of their own. Source: `paddle.Tensor.is_selected_rows`."""
    return False


@_method
def to_dense(self: Tensor) -> Tensor:
    """The tensor itself: all of its elements are stored. Source: `paddle.Tensor.to_dense`."""
    return self


def _of_sparse(name: str, what: str, of: str) -> None:
    """A method that sparse tensors have, and that says so on others."""

    def refused(self: Tensor) -> Any:
        raise UnimplementedError(
            f"{name}: {what} are those of {of}. Got a dense tensor of shape {self.shape}, expected {of}. {_MAKES[of]}"
        )

    refused.__name__, refused.__qualname__ = name, f"Tensor.{name}"
    refused.__doc__ = f"Refused: {what} are those of {of}. Raises NotImplementedError. Source: `paddle.Tensor.{name}`."
    _only_methods[name] = refused


_COO, _CSR, _EITHER, _ROWS = "a tensor in COO form", "a tensor in CSR form", "a sparse tensor", "the gradient of Embedding(sparse=True)"
_MAKES = {
    _COO: "x.to_sparse_coo(sparse_dim) makes one.",
    _CSR: "x.to_sparse_csr() makes one.",
    _EITHER: "x.to_sparse_coo(sparse_dim) and x.to_sparse_csr() make one.",
    _ROWS: "Its rows are those of the table that were asked for.",
}
for _name, _what, _of in (
    ("coalesce", "places that repeat", _COO), ("indices", "places", _COO), ("crows", "beginnings of rows", _CSR), ("cols", "columns", _CSR),
    ("values", "stored values", _EITHER), ("nnz", "counts of stored values", _EITHER), ("rows", "rows", _ROWS),
):
    _of_sparse(_name, _what, _of)


@_property
def grad_(self: Tensor) -> Tensor | None:
    """The gradient, as `grad`. Source: `paddle.Tensor.grad_`."""
    return self.grad


def _broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """`paddle.broadcast_shape`, which Paddle has on Tensor, though it takes none."""
    from wherry_tensor.functions.movement import broadcast_shape

    return broadcast_shape(x_shape, y_shape)


_only_methods["broadcast_shape"] = staticmethod(_broadcast_shape)


@_method
def is_same_shape(self: Tensor, y: Tensor) -> bool:
    """Whether `y` has the same shape. Source: `paddle.Tensor.is_same_shape`."""
    return self.shape == require_tensor(y, "is_same_shape", "y").shape


@_method
def value(self: Tensor) -> Tensor:
    """The tensor itself. Source: `paddle.Tensor.value`."""
    return self


@_method
def set_value(self: Tensor, value: Any) -> None:
    """Overwrite the values, without any record for gradients.

    Args:
        value: a tensor or array of the same shape; it is cast to the dtype of this tensor.

    Raises:
        TypeError: `value` makes no tensor.
        ValueError: it has another shape.

    Source:
        `paddle.Tensor.set_value`.

    Examples:
        >>> x = wherry.zeros([2])
        >>> x.set_value(wherry.to_tensor([1.0, 2.0]))
        >>> print(x.numpy())
        [1. 2.]
    """
    from wherry_tensor.functions.creation import to_tensor

    given = value if isinstance(value, Tensor) else to_tensor(value)
    if given.shape != self.shape:
        raise InvalidArgumentError(
            f"set_value: the value has another shape. Got {given.shape}, expected {self.shape}. Reshape it first."
        )
    source = _core.to_device(detach(given), _core.device_of(self))
    target = detach(self)
    ops.copy.into((target,), ops.cast(source, self.dtype) if source.dtype is not self.dtype else source)


@_method
def copy_(self: Tensor, other: Tensor, blocking: bool = True) -> Tensor:
    """Overwrite the values with those of `other`, as `set_value`. Source: `paddle.Tensor.copy_`."""
    set_value(self, other)
    return self


@_property
def place(self: Tensor) -> Place:
    """Where the memory is: `Place(cpu)`."""
    return place_of(self)


@_property
def data(self: Tensor) -> Tensor:
    """The tensor itself. Assigning shares the memory of another one. Source: `paddle.Tensor.data`."""
    return self


def _set_data(self: Tensor, other: Tensor) -> None:
    self._share_data_with(require_tensor(other, "data"))


_only_methods["data"] = property(data, _set_data, doc=data.__doc__)


@_property
def type(self: Tensor) -> str:
    """Kind of tensor, "DENSE_TENSOR". Source: `paddle.Tensor.type`."""
    return "DENSE_TENSOR"


@_property
def layout(self: Tensor) -> str:
    """Order of axes in memory as Paddle counts it, "NCHW". Source: `paddle.Tensor.layout`."""
    return "NCHW"


def _of_autograd(name: str) -> Callable[..., Any]:
    """A method that wherry-autograd replaces by its own; until then it says what to install."""

    def missing(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{name}: gradients are not part of wherry-tensor. Got a call of Tensor.{name}, expected the package "
            f"wherry-autograd to be imported before. Install it with pip install wherry-autograd, then import "
            f"wherry_autograd."
        )

    missing.__name__ = missing.__qualname__ = name
    missing.__doc__ = f"`Tensor.{name}` of wherry-autograd, which is not imported."
    return missing


for _name in ("backward", "gradient", "clear_grad", "clear_gradient", "register_hook", "retain_grads"):
    _only_methods[_name] = _of_autograd(_name)


# NumPy asks the tensor first in `array + tensor`, so that the result is a tensor.
_only_methods["__array_priority__"] = 100


class _Absent:
    """A method as PyTorch or NumPy names it: asking for it says what it is called here, and `hasattr` says no.

    Python asks `__getattr__` only in exchange for slower attributes that are there, so each name has an entry.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, kind: Any) -> Any:
        hint = did_you_mean(self._name, (one for one in dir(kind) if not isinstance(vars(Tensor).get(one), _Absent)))
        raise AttributeError(f"'Tensor' object has no attribute {self._name!r}.{hint}")


class _AbsentSwitch(_Absent):
    """One that programs set: without an error they would set an attribute that nobody reads."""

    def __set__(self, tensor: Any, value: Any) -> None:
        self.__get__(tensor, type(tensor))


def add_device_method(kind: str) -> None:
    """Give Tensor a method named after a device that has come: `x.npu()`. What Tensor has already stays."""
    name = kind.lower()
    if name in dir(Tensor):
        return

    def to_device(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
        number = "" if device_id is None else f":{integer(device_id, f'Tensor.{name}', 'device_id')}"
        return on_device(self, device_code(f"{kind}{number}", f"Tensor.{name}"), bool(blocking))

    to_device.__name__, to_device.__qualname__ = name, f"Tensor.{name}"
    to_device.__doc__ = f"The tensor on a device of {kind}, by number; None: the one that set_device({kind!r}) takes (differentiable)."
    _core.add_methods({name: to_device})


def bind() -> None:
    """Give Tensor its methods, and the core the functions it falls back on."""
    import wherry_tensor.functions.indexing  # noqa: F401  answers x[...]
    import wherry_tensor.interop  # noqa: F401  adds __array__, __dlpack__, ...
    from wherry_tensor.functions.creation import to_tensor
    from wherry_tensor.functions.operators import binary
    from wherry_tensor.printing import tensor_to_string

    methods = table()
    methods["inv"] = methods["inverse"]
    # Names of operators in Python 2, which Paddle has as well.
    methods |= {"__div__": Tensor.__truediv__, "__rdiv__": Tensor.__rtruediv__, "__nonzero__": Tensor.__bool__, "__long__": Tensor.__int__}
    _core.add_methods(methods)
    known = {*dir(Tensor), *methods}
    absent = {name: (_AbsentSwitch if name == "requires_grad" else _Absent)(name) for name in FOREIGN if name not in known and name.isidentifier()}
    _core.add_methods({**absent, "__dir__": lambda self: sorted(set(object.__dir__(self)) - absent.keys())})
    _core.explain_type_errors(hint_for)
    _core.set_fallback("binary", binary)
    _core.set_fallback("to_tensor", to_tensor)
    _core.set_fallback("repr", tensor_to_string)
