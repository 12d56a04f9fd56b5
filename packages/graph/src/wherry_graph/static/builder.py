"""Persistable values in static mode: variables in the main program, initial values in the startup program."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.static import training
from wherry_graph.static.mode import default_main_program, default_startup_program, paused, recording_into
from wherry_nn import Parameter, WeightNormParamAttr, unique_name
from wherry_program.program.ir import Program, StaticParameter, Variable
from wherry_tensor import ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["StaticBuilder", "lasting_variable"]


class StaticBuilder:
    """The builder of a thread in static mode; see `wherry_tensor.static_builder`."""

    def parameter(
        self, shape: tuple[int, ...], dtype: DType, name: str, fill: Callable[[Any], object], given: bool, *, attr: Any = None, **options: Any
    ) -> Any:
        """A parameter of the default main program, filled in the default startup program; the one there is if a user names it again."""
        if isinstance(attr, WeightNormParamAttr):
            return self._weight_norm(shape, dtype, name, fill, attr, options)
        main, startup = default_main_program(), default_startup_program()
        known = main.blocks[0].vars.get(name)
        if known is not None:
            if list(known.sizes) != list(shape) or known.dtype is not dtype or not known.is_parameter:
                raise InvalidArgumentError(
                    f"create_parameter: the name belongs to something else. Got name='{name}' for shape {list(shape)} and {dtype.name}, "
                    f"expected {known.shape} and {known.dtype.name} as the variable of this name has. Choose another name."
                )
            return known
        x = _parameter_of(main, shape, dtype, name, options)
        if name not in startup.blocks[0].vars:
            twin = _parameter_of(startup, shape, dtype, name, options)
            with recording_into(startup):
                fill(twin)
        return x

    def _weight_norm(
        self, shape: tuple[int, ...], dtype: DType, name: str, fill: Callable[[Any], object], attr: Any, options: dict[str, Any]
    ) -> Tensor:
        """`g * v / norm(v)`: v as the layer would have its weight, g its length along `attr.dim` (None: the whole of it) at the beginning."""
        v = self.parameter(shape, dtype, f"{name}_v", fill, False, **options)

        def fill_with_norm(g: Any) -> None:
            twin = default_startup_program().blocks[0].vars[v.name]
            with no_grad():
                ops.copy.into((g,), _length(twin, attr.dim))

        sizes = tuple(1 if attr.dim is None or i != attr.dim else n for i, n in enumerate(shape))
        g = self.parameter(sizes, dtype, f"{name}_g", fill_with_norm, False, **options)
        return ops.multiply(v, ops.divide(g, _length(v, attr.dim)))

    def lasting(self, name: str, make: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Tensor:
        """A persistable variable of the main program, which `make` fills in the startup program."""
        return lasting_variable(name, make, inputs)

    def first_value(self, x: Tensor) -> Tensor:
        """The variable of the startup program that the parameter `x` of the main program has its first value from."""
        return _in_startup(default_startup_program(), x)

    def minimize(
        self, optimizer: Any, loss: Tensor, startup_program: Any, parameters: Any, no_grad_set: Any
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Let the program of `loss` take the steps of `optimizer`. Returns the nodes of the update, and the pairs (parameter, gradient)."""
        return training.minimize(optimizer, loss, startup_program, parameters, no_grad_set)

    def updating(self, optimizer: Any) -> Any:
        """A context: the ops recorded inside are the update of `optimizer`."""
        return training.updating(optimizer)

    def paused(self) -> Any:
        """A context: the ops inside run at once."""
        return paused()

    def backward(
        self, optimizer: Any, loss: Tensor, startup_program: Any, parameters: Any, no_grad_set: Any, callbacks: Any
    ) -> list[tuple[Any, Any]]:
        """Let the program of `loss` compute the gradients of the parameters."""
        return training.parameter_gradients(optimizer, loss, parameters, no_grad_set, callbacks)


def _length(v: Tensor, dim: int | None) -> Tensor:
    """The Euclidean norm over all axes but `dim`, which keep size 1."""
    return ops.sqrt(ops.reduce_sum(ops.square(v), tuple(i for i in range(v.ndim) if i != dim), True))


def _parameter_of(program: Program, shape: tuple[int, ...], dtype: DType, name: str, options: dict[str, Any]) -> Any:
    block = program.blocks[0]
    x = StaticParameter.of(block, shape, dtype, name, persistable=True, stop_gradient=not options["trainable"])
    x.__dict__.update({key: value for key, value in options.items() if key != "trainable"}, is_distributed=False)
    block.add(x)
    return x


def lasting_variable(
    name: str, make: Callable[..., Tensor], inputs: tuple[Tensor, ...] = (), persistable: bool = True, main: Program | None = None,
    startup: Program | None = None,
) -> Any:
    """A variable of a main program with this name, which a startup program gives the value of `make(*inputs)`."""
    main = default_main_program() if main is None else main
    startup = default_startup_program() if startup is None else startup
    while name in main.blocks[0].vars or name in startup.blocks[0].vars:
        name = unique_name.generate(name)
    with recording_into(startup) as recording:
        first = make(*(_in_startup(startup, x) for x in inputs))
        if not isinstance(first, Variable) or first.made_by is None or first.made_by.in_place or first.block is not startup.blocks[0]:
            first = ops.copy(first)
        twin = recording.variable_of(first)
        startup.blocks[0].rename(twin, name)
        twin.persistable = persistable
    return main.blocks[0].variable(twin.sizes, twin.dtype, name, persistable=persistable)


def _in_startup(startup: Program, x: Tensor) -> Tensor:
    """The counterpart of `x`, of a main program, in its startup program."""
    if not isinstance(x, Variable):
        return x
    if x.bound is not None:
        return x.bound
    twin = startup.blocks[0].vars.get(x.name)
    if twin is None:
        kind = StaticParameter if isinstance(x, Parameter) else Variable
        twin = kind.of(startup.blocks[0], x.sizes, x.dtype, x.name, persistable=True, stop_gradient=True)
        startup.blocks[0].add(twin)
    return twin


def fill_in_startup(x: Variable, initializer: Any) -> None:
    """Let the default startup program initialize a persistable variable."""
    startup = default_startup_program()
    twin = _in_startup(startup, x)
    with recording_into(startup):
        initializer(twin)


explained(globals())
