"""All parameters as one vector, and back."""
from __future__ import annotations

from collections.abc import Iterable

from wherry_nn.parameter import Parameter
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.explained import explained

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Parameter], name: str | None = None) -> Tensor:
    """All values of `parameters`, in order, in one vector. Gradients flow back to the parameters.

    Args:
        parameters: at least one, all of one dtype.

    Shape:
        `[n]`, where n counts the elements of all.

    Raises:
        ValueError: `parameters` is empty.
        TypeError: something is not a Tensor, or the dtypes differ (also a ValueError).

    Source:
        `paddle.nn.utils.parameters_to_vector`.

    Examples:
        >>> layer = wherry.nn.Linear(2, 3)
        >>> wherry.nn.utils.parameters_to_vector(layer.parameters()).shape
        [9]
    """
    found = _listed(parameters, "parameters_to_vector")
    if not found:
        raise InvalidArgumentError(
            "parameters_to_vector: parameters is empty. Got no parameters, expected at least one. "
            "Pass layer.parameters()."
        )
    try:
        return ops.concat(*(ops.reshape(parameter, (parameter.size,)) for parameter in found), axis=0)
    except TypeError as error:
        raise InvalidTypeError(f"parameters_to_vector: {error}") from None


def vector_to_parameters(vec: Tensor, parameters: Iterable[Parameter], name: str | None = None) -> None:
    """Write the values of a vector into `parameters`, in order: the way back from `parameters_to_vector`.

    Args:
        vec: `[n]`, where n counts the elements of all parameters, in their dtype.
        parameters: are written in place, without a record for gradients.

    Raises:
        ValueError: the sizes do not fit; then nothing is written.
        TypeError: something is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.utils.vector_to_parameters`.

    Examples:
        >>> layer = wherry.nn.Linear(2, 1)
        >>> wherry.nn.utils.vector_to_parameters(wherry.to_tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> print(layer.weight.numpy().ravel(), layer.bias.numpy())
        [1. 2.] [3.]
    """
    require_tensor(vec, "vector_to_parameters", "vec")
    found = _listed(parameters, "vector_to_parameters")
    total = sum(parameter.size for parameter in found)
    if vec.shape != [total]:
        raise InvalidArgumentError(
            f"vector_to_parameters: vec does not hold these parameters. Got shape {vec.shape}, expected [{total}], one element "
            f"for each of theirs. Pass the parameters in the order of parameters_to_vector."
        )
    vec = vec.detach()
    start = 0
    for parameter in found:
        part = ops.slice(vec, (0,), (start,), (start + parameter.size,), (1,))
        parameter.set_value(ops.reshape(part, tuple(parameter.shape)))
        start += parameter.size


def _listed(parameters: Iterable[Parameter], op_name: str) -> list[Parameter]:
    if isinstance(parameters, Tensor):
        raise InvalidTypeError(
            f"{op_name}: argument 'parameters' is not a list. Got one Tensor, expected a list. Write [parameter]."
        )
    found = list(parameters)
    for i, parameter in enumerate(found):
        require_tensor(parameter, op_name, f"parameters[{i}]")
    return found


explained(globals())
