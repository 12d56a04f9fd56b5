"""`LayerHelper`: how Paddle's functions make parameters and add operators to a program."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import wherry
from wherry_graph.static import default_main_program, default_startup_program
from wherry_nn import ParamAttr, create_parameter, unique_name
from wherry_tensor import Tensor, get_default_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = ["LayerHelper"]


class LayerHelper:
    """Makes what a layer needs.

    Args:
        layer_type: the name of the layer, which names of its parameters begin with.
        kwargs: the arguments of the layer; `name`, `param_attr`, `bias_attr`, `act`, `input` and `dtype` are looked at.

    Source:
        `paddle.common_ops_import.LayerHelper`.
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type, self.kwargs = layer_type, kwargs
        name = kwargs.get("name")
        self.name = unique_name.generate(layer_type) if name is None else name

    main_program = property(lambda self: default_main_program())
    startup_program = property(lambda self: default_startup_program())
    param_attr = property(lambda self: ParamAttr._to_attr(self.kwargs.get("param_attr")))
    bias_attr = property(lambda self: ParamAttr._to_attr(self.kwargs.get("bias_attr")))

    def multiple_input(self, input_param_name: str = "input") -> list[Tensor]:
        """The inputs of the layer."""
        given = self.kwargs.get(input_param_name, [])
        return list(given) if isinstance(given, (list, tuple)) else [given]

    def input(self, input_param_name: str = "input") -> Tensor:
        """The only input of the layer."""
        (one, *others) = self.multiple_input(input_param_name)
        if others:
            raise InvalidArgumentError(
                f"{self.layer_type}: only one input is expected. Got {1 + len(others)}, expected 1. Pass a single tensor as {input_param_name!r}."
            )
        return one

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The dtype that all inputs have."""
        dtypes = {x.dtype for x in self.multiple_input(input_param_name)}
        if len(dtypes) != 1:
            raise InvalidArgumentError(
                f"{self.layer_type}: the inputs differ in dtype. Got {', '.join(sorted(map(str, dtypes)))}, expected one dtype. Cast them."
            )
        return dtypes.pop()

    def get_default_dtype(self) -> str:
        """The dtype of parameters for which none is given."""
        return get_default_dtype()

    def create_parameter(
        self, attr: Any, shape: Any, dtype: Any = None, is_bias: bool = False, default_initializer: Any = None, stop_gradient: bool = False,
        **ignored: Any,
    ) -> Any:
        """A parameter, named after the layer; None where `attr` is False."""
        attr = ParamAttr._to_attr(attr)
        if attr is False:
            return None
        name = attr.name or unique_name.generate(f"{self.name}.{'b' if is_bias else 'w'}")
        out: Any = create_parameter(shape, dtype or get_default_dtype(), name, _named(attr, name), is_bias, default_initializer)
        if stop_gradient:
            out.stop_gradient = True
        return out

    def create_variable_for_type_inference(self, dtype: Any, stop_gradient: bool = False, shape: Any = None) -> Tensor:
        """A place for a result of `append_op`."""
        out = Tensor.create_tensor(dtype)
        out.stop_gradient = stop_gradient
        return out

    def create_variable(self, *args: Any, dtype: Any = None, name: str | None = None, persistable: bool = False, **kwargs: Any) -> Tensor:
        """A variable to be filled."""
        return Tensor.create_tensor(dtype or get_default_dtype(), name, persistable)

    def create_global_variable(
        self, persistable: bool = False, *, shape: Any = None, dtype: Any = None, name: str | None = None, **kwargs: Any
    ) -> Tensor:
        """A variable that lives between runs."""
        return wherry.static.create_global_var(shape or [1], 0.0, dtype or get_default_dtype(), persistable, name=name)

    def append_op(
        self, type: str, inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None, attrs: Mapping[str, Any] | None = None,
        **ignored: Any,
    ) -> None:
        """Compute an operator of Paddle, in dynamic mode into tensors that exist.

        Raises:
            NotImplementedError: in static mode, or the operator is not known.
        """
        if not wherry.in_dynamic_mode():
            raise UnimplementedError(
                f"append_op: adding {short(type)} to a program by its name is not there. Got static mode, expected a function of the library. "
                f"Call paddle._legacy_C_ops.{type}(...), which is recorded."
            )
        from wherry_paddle_files import operators

        found = operators.run(type, {slot: _listed(x) for slot, x in (inputs or {}).items()}, dict(attrs or {}))
        for slot, wanted in (outputs or {}).items():
            for out, value in zip(_listed(wanted), _listed(found.get(slot, []))):
                out._share_data_with(value)

    def append_activation(self, input_var: Tensor) -> Tensor:
        """The result, through the activation that the layer was given."""
        act = self.kwargs.get("act")
        return input_var if act is None else getattr(wherry.nn.functional, act["type"] if isinstance(act, dict) else act)(input_var)

    def append_bias_op(self, input_var: Tensor, dim_start: int = 1, dim_end: int | None = None) -> Tensor:
        """The result and a bias along axis `dim_start`; without one where `bias_attr` is False."""
        attr = self.bias_attr
        if attr is False:
            return input_var
        shape = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(attr, shape, input_var.dtype, is_bias=True)
        return input_var + bias.reshape([*shape, *[1] * (input_var.ndim - dim_start - len(shape))])


def _listed(x: Any) -> Sequence[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _named(attr: ParamAttr, name: str) -> ParamAttr:
    if attr.name is not None:
        return attr
    made = ParamAttr()
    vars(made).update(vars(attr), name=name)
    return made
