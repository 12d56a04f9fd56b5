"""Methods of Tensor that belong to packages which load when they are first used: these load them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wherry_tensor import in_dynamic_mode
from wherry_tensor._core import Tensor, add_methods

if TYPE_CHECKING:
    from wherry_program.program.ir import Block
    from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor


def to_sparse_coo(self: Tensor, sparse_dim: int) -> SparseCooTensor:
    """The elements that are not 0, with their places along the first `sparse_dim` axes.

    Source:
        `paddle.Tensor.to_sparse_coo`.
    """
    from wherry_sparse.tensors import tensor_to_sparse_coo

    return tensor_to_sparse_coo(self, sparse_dim)


def to_sparse_csr(self: Tensor) -> SparseCsrTensor:
    """The elements of a matrix, or of a batch of matrices, that are not 0, row by row.

    Source:
        `paddle.Tensor.to_sparse_csr`.
    """
    from wherry_sparse.tensors import tensor_to_sparse_csr

    return tensor_to_sparse_csr(self)


def create_parameter(
    shape: Any, dtype: Any, name: str | None = None, attr: Any = None, is_bias: bool = False, default_initializer: Any = None
) -> Any:
    """`paddle.create_parameter`, which Paddle has on Tensor, though it takes none.

    Raises:
        As `paddle.create_parameter`.

    Source:
        `paddle.Tensor.create_parameter`.

    Examples:
        >>> wherry.Tensor.create_parameter([2, 3], "float32").shape
        [2, 3]
    """
    from wherry_nn import create_parameter

    return create_parameter(shape, dtype, name, attr, is_bias, default_initializer)


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Tensor:
    """A 0-d tensor whose value is set later; in static mode a variable of the program.

    Raises:
        TypeError: `dtype` is unknown.

    Source:
        `paddle.Tensor.create_tensor`.

    Examples:
        >>> wherry.Tensor.create_tensor("float32").shape
        []
    """
    from wherry_tensor.functions.creation import zeros

    if not in_dynamic_mode():
        from wherry_program.program.ir import Variable

        return Variable.create_tensor(dtype, name, persistable)
    out = zeros([], dtype)
    out.persistable = persistable
    if name is not None:
        out.name = name
    return out


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """`paddle.softmax`.

    Raises:
        As `paddle.softmax`.

    Source:
        `paddle.Tensor.softmax`.

    Examples:
        >>> wherry.zeros([2]).softmax(0).tolist()
        [0.5, 0.5]
    """
    from wherry_nn.compat import softmax

    return softmax(input, dim, dtype)


def to(self: Tensor, device: Any = None, dtype: Any = None, blocking: Any = None) -> Tensor:
    """`Tensor.to` by the name that libraries replace it under. Source: `paddle.Tensor._to`."""
    return self.to(device, dtype, blocking)


class _Block:
    """`paddle.Tensor.block`: eager tensors belong to no block of their own, and Paddle names that which a static program begins with.

    Not a property: variables of programs have an attribute of this name, which goes before.
    """

    def __get__(self, x: Tensor | None, kind: type | None = None) -> Block:
        from wherry_graph.static.mode import default_main_program

        return default_main_program().global_block()


def install() -> None:
    """Give Tensor these methods."""
    add_methods(
        {
            "_to": to,
            "block": _Block(),
            "create_parameter": staticmethod(create_parameter),
            "create_tensor": staticmethod(create_tensor),
            "softmax": softmax,
            "to_sparse_coo": to_sparse_coo,
            "to_sparse_csr": to_sparse_csr,
        }
    )
