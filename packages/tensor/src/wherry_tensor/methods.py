"""Tensor methods: every function that is one, in one table.

A function of `paddle.*` whose first argument is a tensor is also a method. What only exists as a
method is written below. `bind` is called once, when the package is imported.
"""
from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterable, Mapping
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
        matrix_power pca_lowrank pinv qr slogdet solve triangular_solve""",
    "functions.draws": "bernoulli_ log_normal_ random_",
    "functions.elementary": "*",
    "functions.inplace": "*",
    "functions.joining": "*",
    "functions.logic": """allclose bitwise_and bitwise_not bitwise_or bitwise_xor equal equal_all greater_equal greater_than
        is_empty is_tensor isclose isfinite isinf isnan less_equal less_than logical_and logical_not logical_or
        logical_xor not_equal where""",
    "functions.math": "*",
    "functions.matrices": "corrcoef cov renorm renorm_ vander",
    "functions.norms": "cholesky_inverse ormqr svd_lowrank",
    "functions.other_names": "*",
    "functions.products": "*",
    "functions.random": "cauchy_ exponential_ geometric_ multinomial normal_ uniform_",
    "functions.reduction": "*",
    "functions.einsum": "tensordot",
    "functions.linalg": "*",
    "functions.movement": "*",
    "functions.positions": "*",
    "functions.search": "*",
    "functions.scattering": "*",
    "functions.sequences": "*",
    "functions.signal": "istft stft",
    "functions.special": "*",
}
_NOT_METHODS = frozenset(("complex", "broadcast_shape", "einsum", "manual_seed", "meshgrid", "cartesian_prod", "pdist"))


def table() -> dict[str, Any]:
    """Names and functions (or properties) of all methods that this package gives to Tensor."""
    methods: dict[str, Any] = {}
    own = vars(Tensor)  # what the core has itself (tolist, ...) stays: the functions call it
    for module_name, names in _METHODS.items():
        module = importlib.import_module(f"wherry_tensor.{module_name}")
        for name in module.__all__ if names == "*" else names.split():
            if name not in _NOT_METHODS and name not in own:
                methods[name] = getattr(module, name)
    from wherry_tensor import shared_methods

    return methods | shared_methods.table() | _only_methods


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

    Args:
        dtype: any name of a dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `dtype` is not a known dtype.

    Source:
        `paddle.Tensor.astype`.

    Examples:
        >>> wherry.to_tensor([1.5]).astype("int64").numpy()
        array([1]...)
    """
    return ops.cast(self, as_dtype(dtype, "astype"))


@_method
def clone(self: Tensor) -> Tensor:
    """A copy that gradients pass through.

    Shape:
        `[...]` to the same.

    Source:
        `paddle.Tensor.clone`.

    Examples:
        >>> x = wherry.ones([2], "float32")
        >>> x.clone().add_(x).tolist(), x.tolist()
        ([2.0, 2.0], [1.0, 1.0])
    """
    return ops.copy(self)


@_method
def top_p_sampling(self: Tensor, ps: Tensor, threshold: Tensor | None = None, seed: int | None = None, name: str | None = None) -> Any:
    """Refused: Paddle 2.6.2 samples so on GPUs alone, and has no such operator for the CPU.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.Tensor.top_p_sampling`.

    Examples:
        >>> probabilities = wherry.to_tensor([[0.5, 0.3, 0.2]])
        >>> kept = wherry.where(probabilities < 0.25, wherry.zeros_like(probabilities), probabilities)
        >>> wherry.multinomial(kept).shape
        [1, 1]
    """
    raise UnimplementedError(
        f"top_p_sampling: Paddle has this operator for GPUs alone. Got x of shape {self.shape} on the cpu, expected a GPU. Sort the "
        f"probabilities (sort, argsort), clear those after the share (cumsum, where) and draw with multinomial."
    )


@_method
def detach(self: Tensor) -> Tensor:
    """A tensor on the same memory without gradient history: stop_gradient is True.

    Shape:
        `[...]` to the same.

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
    """Cut the tensor off from what made it: stop_gradient becomes True.

    Returns:
        The tensor itself.

    Shape:
        `[...]` to the same.

    Source:
        `paddle.Tensor.detach_`.

    Examples:
        >>> x = wherry.to_tensor([1.0], stop_gradient=False)
        >>> (x * 2).detach_().stop_gradient
        True
    """
    _core.detach_in_place(self)
    return self


def on_device(x: Tensor, code: int, blocking: bool = True) -> Tensor:
    """`x` on a device: itself when it is there already, else a copy (differentiable).

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
    """The tensor on the CPU: itself when it is there, else a copy (differentiable).

    Shape:
        `[...]` to the same.

    Source:
        `paddle.Tensor.cpu`.

    Examples:
        >>> x = wherry.ones([2])
        >>> x.cpu() is x  # where the current device is the CPU
        True
    """
    return on_device(self, 0)


@_method
def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor on a GPU (differentiable).

    Args:
        device_id: which GPU; None is the current one, or the first.
        blocking: False lets a copy out of pinned memory run beside the program: until the GPU has passed it, leave `self` as it is.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `device_id` is not an int (also a ValueError).
        ValueError: the GPU does not exist.

    Source:
        `paddle.Tensor.cuda`.

    Examples:
        >>> x = wherry.ones([2])
        >>> if wherry.device.cuda.device_count():
        ...     x = x.cuda()
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

    Shape:
        `[...]` to the same.

    Raises:
        ValueError: no device here has pinned memory.

    Source:
        `paddle.Tensor.pin_memory`.

    Examples:
        >>> x = wherry.ones([2])
        >>> if wherry.device.cuda.device_count():
        ...     x = x.pin_memory()
    """
    return on_device(self, device_code("gpu_pinned", "Tensor.pin_memory"))


@_method
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor on a device and in a dtype.

    Called as `to(device, dtype=None, blocking=None)`, `to(dtype, blocking=None)` or
    `to(other, blocking=None)`, which takes device and dtype from another tensor. `blocking=False` is that of `cuda`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: an argument is not the name of a device, a place, a dtype or a Tensor, or is called by another name.
        ValueError: the device does not exist.

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
        raise TypeError(f"{error} It is not the name of a device either: {absent('to', args[0])}") from None
    return out if dtype is out.dtype else ops.cast(out, dtype)


@_method
def dim(self: Tensor) -> int:
    """The number of axes.

    Shape:
        `[a, b, c]` gives 3, and `[]` 0.

    Source:
        `paddle.Tensor.dim`.

    Examples:
        >>> wherry.ones([2, 3]).dim()
        2
    """
    return self.ndim


@_method
def ndimension(self: Tensor) -> int:
    """The number of axes.

    Shape:
        `[a, b, c]` gives 3, and `[]` 0.

    Source:
        `paddle.Tensor.ndimension`.

    Examples:
        >>> wherry.ones([2, 3]).ndimension()
        2
    """
    return self.ndim


@_method
def element_size(self: Tensor) -> int:
    """The bytes of one element.

    Source:
        `paddle.Tensor.element_size`.

    Examples:
        >>> wherry.ones([2], "float64").element_size()
        8
    """
    return self.itemsize


@_method
def get_strides(self: Tensor) -> list[int]:
    """The distance between neighbours along each axis, in elements.

    Shape:
        `[a, b]`, contiguous, gives `[b, 1]`.

    Source:
        `paddle.Tensor.get_strides`.

    Examples:
        >>> wherry.ones([2, 3]).get_strides()
        [3, 1]
    """
    return self.strides


def _same_for_all(name: str, answer: bool, why: str) -> None:
    """A question of Paddle's that every tensor of this class answers alike."""

    def constant(self: Tensor) -> bool:
        return answer

    constant.__name__, constant.__qualname__ = name, f"Tensor.{name}"
    constant.__doc__ = (
        f"{answer}: {why}.\n\nSource:\n    `paddle.Tensor.{name}`.\n\nExamples:\n    >>> wherry.ones([2]).{name}()\n    {answer}\n"
    )
    _only_methods[name] = constant


_SPARSE = "sparse tensors have a class of their own"
for _name, _answer, _why in (
    ("is_dense", True, _SPARSE), ("is_sparse", False, _SPARSE), ("is_sparse_coo", False, _SPARSE), ("is_sparse_csr", False, _SPARSE),
    ("is_selected_rows", False, "sparse gradients have a class of their own"), ("is_dist", False, "tensors live in one process"),
):
    _same_for_all(_name, _answer, _why)


@_method
def to_dense(self: Tensor) -> Tensor:
    """The tensor itself: all of its elements are stored.

    Shape:
        `[...]` to the same.

    Source:
        `paddle.Tensor.to_dense`.

    Examples:
        >>> x = wherry.ones([2])
        >>> x.to_dense() is x
        True
    """
    return self


def _of_sparse(name: str, what: str, of: str, example: str) -> None:
    """A method that sparse tensors have; on others it refuses and says which do."""

    def refused(self: Tensor) -> Any:
        raise UnimplementedError(
            f"{name}: {what} are those of {of}. Got a dense tensor of shape {self.shape}, expected {of}. {_MAKES[of]}"
        )

    refused.__name__, refused.__qualname__ = name, f"Tensor.{name}"
    refused.__doc__ = (
        f"Refused: {what} are those of {of}.\n\nRaises:\n    NotImplementedError: always; the tensor is dense.\n\n"
        f"Source:\n    `paddle.Tensor.{name}`.\n\nExamples:\n    {example}\n"
    )
    _only_methods[name] = refused


_COO, _CSR, _EITHER, _ROWS = "a tensor in COO form", "a tensor in CSR form", "a sparse tensor", "the gradient of Embedding(sparse=True)"
_MAKES = {
    _COO: "x.to_sparse_coo(sparse_dim) makes one.",
    _CSR: "x.to_sparse_csr() makes one.",
    _EITHER: "x.to_sparse_coo(sparse_dim) and x.to_sparse_csr() make one.",
    _ROWS: "Its rows are those of the table that were asked for.",
}
_ROWS_EXAMPLE = """>>> table = wherry.nn.Embedding(4, 2, sparse=True)
    >>> table(wherry.to_tensor([1, 3])).sum().backward()
    >>> table.weight.grad.rows()
    [1, 3]"""
for _name, _what, _of, _example in (
    ("coalesce", "places that repeat", _COO, ">>> wherry.eye(2).to_sparse_coo(2).coalesce().nnz()\n    2"),
    ("indices", "places", _COO, ">>> wherry.eye(2).to_sparse_coo(2).indices().tolist()\n    [[0, 1], [0, 1]]"),
    ("crows", "beginnings of rows", _CSR, ">>> wherry.eye(2).to_sparse_csr().crows().tolist()\n    [0, 1, 2]"),
    ("cols", "columns", _CSR, ">>> wherry.eye(2).to_sparse_csr().cols().tolist()\n    [0, 1]"),
    ("values", "stored values", _EITHER, ">>> wherry.eye(2).to_sparse_coo(2).values().tolist()\n    [1.0, 1.0]"),
    ("sparse_dim", "axes of places", _EITHER, ">>> wherry.eye(2).to_sparse_coo(2).indices().shape[0]\n    2"),
    ("dense_dim", "axes of stored values", _EITHER, ">>> wherry.eye(2).to_sparse_coo(2).values().ndim - 1\n    0"),
    ("is_coalesced", "places that repeat", _COO, ">>> wherry.eye(2).to_sparse_coo(2).coalesce().nnz()\n    2"),
    ("nnz", "counts of stored values", _EITHER, ">>> wherry.eye(2).to_sparse_coo(2).nnz()\n    2"),
    ("rows", "rows", _ROWS, _ROWS_EXAMPLE),
):
    _of_sparse(_name, _what, _of, _example)


@_property
def grad_(self: Tensor) -> Tensor | None:
    """The gradient, as `grad`.

    Source:
        `paddle.Tensor.grad_`.

    Examples:
        >>> wherry.ones([2]).grad_ is None
        True
    """
    return self.grad


def _broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape of the result of an element-wise operation on two shapes; as `paddle.broadcast_shape`.

    Args:
        x_shape, y_shape: lists or tuples of sizes.

    Shape:
        `[2, 1]` and `[3]` give `[2, 3]`.

    Raises:
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.Tensor.broadcast_shape`.

    Examples:
        >>> wherry.Tensor.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    from wherry_tensor.functions.movement import broadcast_shape

    return broadcast_shape(x_shape, y_shape)


_only_methods["broadcast_shape"] = staticmethod(_broadcast_shape)


@_method
def is_same_shape(self: Tensor, y: Tensor) -> bool:
    """Whether `y` has the same shape.

    Shape:
        `[2, 3]` and `[3, 2]` are not the same.

    Raises:
        TypeError: `y` is not a Tensor (also a ValueError).

    Source:
        `paddle.Tensor.is_same_shape`.

    Examples:
        >>> wherry.ones([2]).is_same_shape(wherry.zeros([2]))
        True
    """
    return self.shape == require_tensor(y, "is_same_shape", "y").shape


@_method
def value(self: Tensor) -> Tensor:
    """The tensor itself.

    Shape:
        `[...]` to the same.

    Source:
        `paddle.Tensor.value`.

    Examples:
        >>> x = wherry.ones([2])
        >>> x.value() is x
        True
    """
    return self


@_method
def get_tensor(self: Tensor) -> Tensor:
    """The tensor itself, in Paddle the holder of its memory.

    Source:
        `paddle.Tensor.get_tensor`.

    Examples:
        >>> x = wherry.ones([2])
        >>> x.get_tensor() is x
        True
    """
    return self


@_method
def set_value(self: Tensor, value: Any) -> None:
    """Overwrite the values, without any record for gradients.

    Args:
        value: a tensor or array of the same shape; it is cast to the dtype of this tensor.

    Shape:
        `value` has the shape of the tensor, `[...]`.

    Raises:
        TypeError: a tensor cannot be made from `value` (also a ValueError).
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
    before = _core.set_grad_mode(False)  # not into detach(self): in a program that is another variable
    try:
        ops.copy.into((self,), ops.cast(source, self.dtype) if source.dtype is not self.dtype else source)
    finally:
        _core.set_grad_mode(before)


@_method
def copy_(self: Tensor, other: Tensor, blocking: bool = True) -> Tensor:
    """Overwrite the values with those of `other`, as `set_value`.

    Returns:
        The tensor itself.

    Shape:
        `other` has the shape of the tensor, `[...]`.

    Raises:
        TypeError: a tensor cannot be made from `other` (also a ValueError).
        ValueError: `other` has another shape.

    Source:
        `paddle.Tensor.copy_`.

    Examples:
        >>> print(wherry.zeros([2]).copy_(wherry.to_tensor([1.0, 2.0])).numpy())
        [1. 2.]
    """
    set_value(self, other)
    return self


@_property
def place(self: Tensor) -> Place:
    """Where the memory is: `Place(cpu)`.

    Source:
        `paddle.Tensor.place`.

    Examples:
        >>> wherry.ones([2]).place
        Place(cpu)
    """
    return place_of(self)


@_property
def data(self: Tensor) -> Tensor:
    """The tensor itself. Assigning shares the memory of another one.

    Source:
        `paddle.Tensor.data`.

    Examples:
        >>> x, y = wherry.zeros([2]), wherry.ones([2])
        >>> x.data = y
        >>> print(x.numpy())
        [1. 1.]
    """
    return self


def _set_data(self: Tensor, other: Tensor) -> None:
    self._share_data_with(require_tensor(other, "data"))


_only_methods["data"] = property(data, _set_data, doc=data.__doc__)


@_property
def type(self: Tensor) -> str:
    """The kind of tensor: "DENSE_TENSOR".

    Source:
        `paddle.Tensor.type`.

    Examples:
        >>> wherry.ones([2]).type
        'DENSE_TENSOR'
    """
    return "DENSE_TENSOR"


@_property
def layout(self: Tensor) -> str:
    """The order of axes in memory as Paddle counts it: "NCHW".

    Source:
        `paddle.Tensor.layout`.

    Examples:
        >>> wherry.ones([2]).layout
        'NCHW'
    """
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
    """A method by its PyTorch or NumPy name: reading it raises an AttributeError with its name here, so `hasattr` is False.

    Python asks `__getattr__` only in exchange for slower attributes that are there, so each name has an entry.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, kind: Any) -> Any:
        hint = did_you_mean(self._name, dir(kind))
        raise AttributeError(f"'Tensor' object has no attribute {self._name!r}.{hint}")


class _AbsentSwitch(_Absent):
    """An absent attribute that programs assign: without an error they would set one that nobody reads."""

    def __set__(self, tensor: Any, value: Any) -> None:
        self.__get__(tensor, tensor.__class__)


def add_device_method(kind: str) -> None:
    """Give Tensor a method named after a device that was registered: `x.npu()`. Existing methods stay."""
    name = kind.lower()
    if name in dir(Tensor):
        return

    def to_device(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
        number = "" if device_id is None else f":{integer(device_id, f'Tensor.{name}', 'device_id')}"
        return on_device(self, device_code(f"{kind}{number}", f"Tensor.{name}"), bool(blocking))

    to_device.__name__, to_device.__qualname__ = name, f"Tensor.{name}"
    to_device.__doc__ = f"The tensor on a device of {kind}, by number; None: the one that set_device({kind!r}) takes (differentiable)."
    _core.add_methods({name: to_device})


def _without_absent(kind: builtins.type, names: Iterable[str], absent: Mapping[str, _Absent]) -> list[str]:
    """`names` without those that only say what was meant; a class below Tensor, or a program, may have given them a meaning since."""

    def is_absent(name: str) -> bool:
        return isinstance(next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None), _Absent)

    return sorted(name for name in set(names) if name not in absent or not is_absent(name))


def bind() -> None:
    """Give Tensor its methods, and the core the functions it falls back on."""
    import wherry_tensor.functions.indexing  # noqa: F401  answers x[...]
    import wherry_tensor.interop  # noqa: F401  adds __array__, __dlpack__, ...
    import wherry_tensor.shapes  # noqa: F401  what x.size is
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
    _core.add_methods({**absent, "__dir__": lambda self: _without_absent(self.__class__, object.__dir__(self), absent)})
    _core.set_dir_of_classes(lambda kind: _without_absent(kind, builtins.type.__dir__(kind), absent))
    _core.explain_type_errors(hint_for)
    _core.set_fallback("binary", binary)
    _core.set_fallback("to_tensor", to_tensor)
    _core.set_fallback("repr", tensor_to_string)
