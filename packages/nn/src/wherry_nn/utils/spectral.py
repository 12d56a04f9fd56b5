"""Spectral normalization of weights."""
from __future__ import annotations

import re
from typing import Any

from wherry_autograd import no_grad
from wherry_nn.layer import Layer
from wherry_nn.power_iteration import as_matrix, largest_singular_value, normalized, power_iteration
from wherry_nn.utils._hooks import parameter_of, refuse_second
from wherry_tensor import ops, paddle_random
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import repeats
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions.random import normal, uniform

__all__ = ["spectral_norm"]


class _SpectralNorm:
    """The hook that computes the weight before each forward."""

    def __init__(self, name: str, dim: int, power_iterations: int, epsilon: float) -> None:
        self.name, self.dim = name, dim
        self.power_iterations, self.epsilon = power_iterations, epsilon

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.weight(layer, layer.training))

    def weight(self, layer: Layer, iterate: bool) -> Tensor:
        weight = getattr(layer, self.name + "_orig")
        u, v = getattr(layer, self.name + "_u"), getattr(layer, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if iterate:
            better = power_iteration(matrix, u, v, self.power_iterations, self.epsilon)
            u.set_value(better[0])
            v.set_value(better[1])
            u, v = better
        return weight / largest_singular_value(matrix, u, v)


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Spectral normalization: divide a weight by its largest singular value, as power iteration approximates it.

    Each forward in training improves the approximation by `n_power_iterations` steps.

    Args:
        layer: is changed: parameter `name_orig` holds the weight, buffers `name_u` and `name_v` the singular vectors, and
            `name` becomes a tensor that is computed before each forward.
        name: of the parameter.
        n_power_iterations: positive.
        eps: the least length by which vectors are divided.
        dim: the axis that makes the rows of the matrix; None is 1 for Linear and transposed convolutions, else 0.

    Returns:
        The layer.

    Raises:
        KeyError: the layer has no such parameter.
        ValueError: `n_power_iterations` is not positive, or `dim` is out of range.
        RuntimeError: the parameter is under spectral_norm already.

    Source:
        `paddle.nn.utils.spectral_norm`; Miyato et al. (2018).

    Examples:
        >>> layer = wherry.nn.Linear(2, 2)
        >>> layer.weight.set_value(wherry.to_tensor([[4.0, 0.0], [0.0, 1.0]]))
        >>> layer = wherry.nn.utils.spectral_norm(layer, n_power_iterations=50)
        >>> print(layer(wherry.to_tensor([[0.0, 1.0]])).numpy())
        [[0.   0.25]]
    """
    refuse_second(layer, name, _SpectralNorm, "spectral_norm")
    if n_power_iterations <= 0:
        raise InvalidArgumentError(
            f"spectral_norm: Expected n_power_iterations to be positive. Got n_power_iterations={n_power_iterations}, expected "
            f"at least 1. One is enough in training, where each forward goes on."
        )
    n_power_iterations = repeats(n_power_iterations, "spectral_norm", "n_power_iterations", 1, "two products in each forward")
    weight = parameter_of(layer, name, "spectral_norm")
    if dim is None:
        dim = 1 if re.fullmatch(r"Linear|Conv[123]DTranspose", type(layer).__name__) else 0
    if not -weight.ndim <= dim < weight.ndim:
        raise AssertedArgumentError(
            f"spectral_norm: dim is out of range. Got dim={dim} for a weight of shape {weight.shape}, expected one in "
            f"[{-weight.ndim}, {weight.ndim}). It makes the rows of the matrix."
        )
    hook = _SpectralNorm(name, dim % weight.ndim, n_power_iterations, eps)
    rows, columns = as_matrix(weight.detach(), hook.dim).shape
    del layer._parameters[name]
    layer.add_parameter(name + "_orig", weight)
    vectors = []
    for size in rows, columns:
        if paddle_random.enabled():
            uniform([size])  # Paddle fills a parameter by default first, and writes the vector over it
        vectors.append(normalized(ops.cast(normal(0.0, 1.0, [size]), dtype=weight.dtype), eps))
    layer.register_buffer(name, weight.detach(), persistable=False)
    layer.register_buffer(name + "_u", vectors[0])
    layer.register_buffer(name + "_v", vectors[1])
    with no_grad():  # until the first forward: so the layer can be copied deeply
        setattr(layer, name, hook.weight(layer, False))
    layer.register_forward_pre_hook(hook)
    return layer


explained(globals())
