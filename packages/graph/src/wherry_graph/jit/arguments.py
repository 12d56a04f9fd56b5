"""Arguments of captured functions: tensors and other values."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from wherry_program.program.input_spec import InputSpec
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import numpy_module
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions.creation import to_tensor

__all__ = ["FunctionSpec", "is_array", "specified", "split"]


class FunctionSpec:
    """The parameters of a function, and their InputSpecs.

    Attributes:
        function: it.
        input_spec: what the user declared, or None.
        names: of its parameters, without `self`.
    """

    def __init__(self, function: Callable[..., Any], input_spec: Any, is_method: bool) -> None:
        self.function = function
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise InvalidTypeError(
                f"to_static: The type(input_spec) should be one of (tuple, list), but received {type(input_spec).__name__}. Expected one entry "
                f"for each argument. Write input_spec=[...]."
            )
        self.input_spec = None if input_spec is None else list(input_spec)
        parameters = list(inspect.signature(function).parameters.values())
        if is_method:
            parameters = parameters[1:]
        self._parameters = parameters
        self._positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._simple = len(self._positional) == len(parameters)
        self._signature = inspect.Signature(parameters)
        self.names = [p.name for p in parameters]

    def __repr__(self) -> str:
        return f"function: {self.function.__name__}({','.join(self.names)}), input_spec: {self.input_spec}"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call with defaults filled in.

        Raises:
            ValueError: one is missing.
            TypeError: there are too many, or an unknown one.
        """
        if self._simple and not kwargs and len(args) == len(self._positional):
            return args, kwargs
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            if "missing" in str(error):
                raise InvalidArgumentError(
                    f"`{self.function.__name__}()` {str(error).replace('missing a required', 'requires the')}, but not found in input `args`: "
                    f"{len(args)} values and `kwargs`: {kwargs}. Expected a value for each of ({', '.join(self.names)}). Pass it."
                ) from None
            raise TypeError(f"{self.function.__name__}(): {error}. Expected arguments for ({', '.join(self.names)}).") from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def from_spec(self, spec: Sequence[Any] | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments made of the declared entries: InputSpecs stand in the places of tensors.

        Raises:
            ValueError: an argument without default has no entry, or there are too many entries.
        """
        entries = list(self.input_spec if spec is None else spec)  # type: ignore[arg-type]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in self._parameters)
        if len(entries) > len(self._positional) and not variadic:
            raise InvalidArgumentError(
                f"to_static: {self.function.__name__} takes {len(self._positional)} arguments {self.names}, but received {len(entries)} with "
                f"input_spec {entries}. Expected at most one entry for each. Take the others out."
            )
        return self.bind(tuple(entries), {})

    def names_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """The names of bound arguments, in order."""
        names = [p.name for p in self._positional[: len(args)]]
        rest = next((p.name for p in self._parameters if p.kind is p.VAR_POSITIONAL), "args")
        names += [f"{rest}_{i}" for i in range(len(args) - len(names))]
        return [*names, *kwargs]


def is_array(x: Any) -> bool:
    """Whether it is a NumPy array."""
    numpy = numpy_module()
    return numpy is not None and isinstance(x, numpy.ndarray)


def split(value: Any, tensors: list[Tensor], keep: list[Any]) -> Any:
    """What a captured function is chosen by: dtypes and shapes of the tensors in `value`, and all other values.

    Args:
        value: an argument.
        tensors: those in it are added, in order.
        keep: values that are told apart by who they are are added, so that they stay who they are.
    """
    if isinstance(value, Tensor):
        tensors.append(value)
        return tuple(value.shape), value.dtype, value.stop_gradient
    kind = type(value)
    if kind in (int, float, bool, str) or value is None:
        return kind, value
    if isinstance(value, (list, tuple)):
        return kind, *[split(item, tensors, keep) for item in value]
    if isinstance(value, dict):
        return kind, *[(key, split(item, tensors, keep)) for key, item in value.items()]
    if is_array(value):
        return split(to_tensor(value), tensors, keep)
    if hasattr(kind, "tensor_parts"):
        return kind, value.beside_tensor_parts(), *[split(part, tensors, keep) for part in value.tensor_parts()]
    try:
        hash(value)
    except TypeError:
        keep.append(value)
        return kind, id(value)
    return kind, value


def specified(value: Any, spec: Any) -> Any:
    """`value` with what is declared of it in place of its tensors, where that fits."""
    if isinstance(spec, InputSpec) and isinstance(value, Tensor):
        return spec if fits(value, spec) else value
    if isinstance(spec, (list, tuple)) and isinstance(value, (list, tuple)) and len(spec) == len(value):
        return type(value)(specified(v, s) for v, s in zip(value, spec, strict=True)) if not hasattr(value, "_fields") else value
    if isinstance(spec, dict) and isinstance(value, dict):
        return {key: specified(item, spec.get(key)) for key, item in value.items()}
    return value


def fits(x: Tensor, spec: InputSpec) -> bool:
    """Whether `x` fits the spec."""
    return x.dtype is spec.dtype and x.ndim == len(spec.shape) and all(s in (-1, n) for n, s in zip(x.shape, spec.shape, strict=True))
