"""`TracedLayer`: a layer captured for example inputs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_graph.jit.partial import OUTPUT, PartialProgram
from wherry_graph.jit.static_function import StaticFunction
from wherry_nn import Layer
from wherry_program.program.ir import Program, Variable
from wherry_program.program.structure import flatten
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require
from wherry_tensor.dtype import is_floating_point
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, short
from wherry_tensor.explained import explained

__all__ = ["TracedLayer"]


class TracedLayer:
    """A layer captured for the shapes of example inputs. `trace` makes it; use `to_static` in new code.

    Args:
        program: the captured program.
        parameters: the tensors that it uses.
        feed_names: of the variables that a call gives values to.
        fetch_names: of the variables that a call returns.

    Raises:
        TypeError: `program` is not a Program (also a ValueError).
        ValueError: a call has another number of inputs than the layer was traced with.

    Source:
        `paddle.jit.TracedLayer` (2.3); later versions have `to_static` alone.

    Examples:
        >>> net = wherry.nn.Linear(4, 2)
        >>> out, traced = wherry.jit.TracedLayer.trace(net, inputs=[wherry.ones([3, 4])])
        >>> bool((traced([wherry.ones([3, 4])])[0] == out).all())
        True
    """

    def __init__(self, program: Program, parameters: Sequence[Tensor], feed_names: Sequence[str], fetch_names: Sequence[str]) -> None:
        block = require(program, Program, "TracedLayer", "program", "TracedLayer.trace(layer, inputs) makes one.").blocks[0]
        for role, names in ("feed_names", feed_names), ("fetch_names", fetch_names):
            for name in require(names, Sequence, "TracedLayer", role, "Pass names of program.list_vars()."):  # type: ignore[type-abstract]
                if not isinstance(name, str) or name not in block.vars:
                    raise NotFoundError(
                        f"TracedLayer: the program has no variable of this name. Got {short(name)} in {role}, expected a name of "
                        f"program.list_vars(). Use TracedLayer.trace, which knows them."
                    )
        self.program = program
        self._parameters = list(parameters)
        program.feeds = [block.vars[name] for name in feed_names]
        program.fetches = [block.vars[name] for name in fetch_names]
        fetches = program.fetches
        self._run = PartialProgram(program, [OUTPUT] * len(fetches), fetches, [is_floating_point(x) for x in fetches])

    @staticmethod
    def trace(layer: Layer, inputs: Sequence[Tensor]) -> tuple[Any, TracedLayer]:
        """Run a layer, and capture it.

        Args:
            layer: it.
            inputs: what `forward` takes.

        Returns:
            What the layer returns, and the TracedLayer.

        Raises:
            TypeError: `layer` is not a layer, or an input is not a Tensor.
        """
        if not isinstance(layer, Layer):
            raise InvalidTypeError(
                f"TracedLayer.trace: this is not a layer. Got {type(layer).__name__}, expected an nn.Layer. Use to_static for functions."
            )
        inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        for x in inputs:
            if not isinstance(x, Tensor):
                raise InvalidTypeError(f"TracedLayer.trace: inputs are tensors. Got {type(x).__name__}, expected a list of Tensors. Use to_tensor.")
        outputs = layer(*inputs)
        forward = layer.forward.dygraph_function if isinstance(layer.forward, StaticFunction) else layer.forward
        concrete = StaticFunction(forward, full_graph=True).get_concrete_program(*inputs)[0]
        program = concrete.main_program
        fetches = [x.name for x in concrete.outputs]
        return outputs, TracedLayer(program, concrete.parameters, [x.name for x in program.feeds], fetches)

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Run the program with a list of tensors; the list of what it returns."""
        inputs = [inputs] if isinstance(inputs, Tensor) else flatten(inputs)
        if len(inputs) != len(self.program.feeds):
            raise InvalidArgumentError(
                f"TracedLayer: got {len(inputs)} inputs, expected {len(self.program.feeds)}, as the layer was traced with. Pass a list of them."
            )
        return self._run(inputs)  # type: ignore[no-any-return]

    def set_strategy(self, build_strategy: Any = None, exec_strategy: Any = None) -> None:
        """Accepted for compatibility: programs are planned without them.

        Args:
            build_strategy: a static.BuildStrategy.
            exec_strategy: a static.ExecutionStrategy.
        """

    def save_inference_model(self, path: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None, **kwargs: Any) -> None:
        """Save the program and its parameters as `path.pdmodel` and `path.pdiparams`.

        Args:
            path: what the names of the files begin with.
            feed: which inputs, by position; None takes all.
            fetch: which outputs, by position; None takes all.
            **kwargs: `clip_extra`, accepted for compatibility.

        Raises:
            ValueError: a position is out of range.
        """
        from wherry_paddle_files.models import save_model

        chosen: list[list[Variable]] = []
        for what, positions, variables in ("feed", feed, self.program.feeds), ("fetch", fetch, self.program.fetches):
            for i in positions or ():
                if type(i) is not int or not 0 <= i < len(variables):
                    raise InvalidArgumentError(
                        f"save_inference_model: {what} holds positions. Got {short(i)}, expected ints from 0 to {len(variables) - 1}. Take it out."
                    )
            chosen.append(variables if positions is None else [variables[i] for i in positions])
        save_model(path, self.program, chosen[0], chosen[1])


explained(globals())
