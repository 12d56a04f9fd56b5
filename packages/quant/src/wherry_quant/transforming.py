"""Rounding in the programs of static mode: `QuantizationTransformPass` puts it in for training, `QuantizationFreezePass` makes whole numbers of it.

Scales of activations lie in the scope under Paddle's names (`x@scale`), so that a program for training and one for testing have the same ones.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_graph.static import Program, global_scope
from wherry_graph.static.mode import paused
from wherry_nn.parameter import Parameter
from wherry_program.passes.rewriting import forget_unused
from wherry_program.program.capture import capture
from wherry_program.program.ir import BACKWARD, Block, Node, Variable
from wherry_quant.numbers import holder
from wherry_quant.post_training import among
from wherry_quant.quanters import rounded
from wherry_quant.rounded_programs import (
    PRODUCTS,
    inputs_of_product,
    is_product,
    kinds_of,
    output_axis_of,
    round_value,
    round_weight,
)
from wherry_tensor import ops
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["Graph", "IrGraph", "QuantizationFreezePass", "QuantizationTransformPass"]

_ROUNDED = ".quantized.dequantized"  # after the name of what was rounded, as in Paddle
BESIDE = ".quant_dequant"  # the same, of inputs of other operators than products
_WHOLE = ".whole"  # between the name of what is rounded for good and that
_ACTIVATIONS = ("abs_max", "range_abs_max", "moving_average_abs_max")
_WEIGHTS = ("abs_max", "channel_wise_abs_max")
_OF_GRADIENTS = (ops.matmul, ops.linear, ops.conv2d_input_vjp, ops.conv2d_weight_vjp, ops.conv2d, ops.conv2d_transpose)


def Graph(desc: Any) -> Program:  # noqa: N802  Paddle's name of a class
    """A copy of a program, for passes to change.

    Args:
        desc: `program.desc`, which is the program.

    Source:
        `paddle.framework.core.Graph`.
    """
    if not isinstance(desc, Program):
        raise InvalidTypeError(
            f"Graph: not a program. Got {short(desc)} ({type(desc).__name__}), expected a paddle.static.Program. Pass program.desc."
        )
    return desc.clone()  # type: ignore[no-any-return]


class IrGraph:
    """A program, as Paddle's passes of quantization take it.

    Args:
        graph: a `static.Program`, which passes change; `core.Graph(program.desc)` is a copy of one.
        for_test: it tests: scales of activations stay as they are.

    Attributes:
        program: the program.
        out_node_mapping_table: names of variables that passes replace, by those that they had; empty here, where names stay.

    Source:
        `paddle.framework.IrGraph`.
    """

    def __init__(self, graph: Any, for_test: bool = False) -> None:
        if not isinstance(graph, Program):
            raise InvalidTypeError(
                f"IrGraph: not a program. Got {short(graph)} ({type(graph).__name__}), expected a paddle.static.Program. Pass the program itself."
            )
        self.program, self._for_test = graph, for_test
        self.out_node_mapping_table: dict[str, str] = {}

    @property
    def graph(self) -> Program:
        """The program, for `static.CompiledProgram`."""
        return self.program

    def all_sub_graphs(self) -> list[IrGraph]:
        """What passes go through: itself; they look at the first block alone."""
        return [self]

    def is_test(self) -> bool:
        """Whether it was made for a test."""
        return self._for_test

    def to_program(self) -> Program:
        """The program."""
        return self.program

    def clone(self) -> IrGraph:
        """The same of a copy of the program."""
        return IrGraph(self.program.clone(), self._for_test)


class QuantizationTransformPass:
    """Puts rounding before the products of a program, so that training gets used to it.

    Inputs that several operators share are rounded once, with one scale. A program may have gradients already: rounding hands them on as they are.

    Args:
        scope: where scales are kept; None for the global one.
        place: no effect.
        weight_bits: of weights.
        activation_bits: of inputs.
        activation_quantize_type: "abs_max", the largest magnitude of the batch at hand; "moving_average_abs_max"; or "range_abs_max", the
            largest of all.
        weight_quantize_type: "abs_max", or "channel_wise_abs_max" for a scale for each output.
        window_size: no effect: "range_abs_max" forgets nothing.
        moving_rate: by what the weight of a batch shrinks with each that follows.
        skip_pattern: parts of names of `name_scope`: operators inside stay as they are.
        quantizable_op_type: types of operators.
        weight_quantize_func, act_quantize_func, weight_preprocess_func, act_preprocess_func, optimizer_func: refused.
        executor: no effect.
        is_test: scales stay as they are; None: as the graph says.

    Raises:
        ValueError: an argument is not one of these (also an AssertionError).
        NotImplementedError: an argument that is refused.

    Source:
        `paddle.static.quantization.QuantizationTransformPass`.

    Examples:
        >>> from wherry.static.quantization import QuantizationFreezePass, QuantizationTransformPass
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [8, 4], "float32")
        ...     loss = wherry.static.nn.fc(x, 2).square().mean()
        ...     test = main.clone(for_test=True)
        ...     _ = wherry.optimizer.SGD(0.1).minimize(loss)
        >>> options = dict(activation_quantize_type="moving_average_abs_max", weight_quantize_type="channel_wise_abs_max")
        >>> _ = QuantizationTransformPass(quantizable_op_type=["mul"], **options).apply(main)
        >>> _ = QuantizationTransformPass(quantizable_op_type=["mul"], is_test=True, **options).apply(test)
        >>> executor = wherry.static.Executor()
        >>> _ = executor.run(startup)
        >>> _ = executor.run(main, feed={"x": np.ones([8, 4], "float32")}, fetch_list=[loss])
        >>> whole = QuantizationFreezePass(None, None, weight_quantize_type="channel_wise_abs_max").apply(test)
        >>> [node.type for node in whole.nodes][:3]
        ['quantize_linear', 'dequantize_linear', 'dequantize_linear']
        >>> wherry.disable_static()
    """

    _mark = _ROUNDED

    def __init__(
        self, scope: Any = None, place: Any = None, weight_bits: int = 8, activation_bits: int = 8, activation_quantize_type: str = "abs_max",
        weight_quantize_type: str = "abs_max", window_size: int = 10000, moving_rate: float = 0.9, skip_pattern: Sequence[str] = ("skip_quant",),
        quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul"), weight_quantize_func: Any = None,
        act_quantize_func: Any = None, weight_preprocess_func: Any = None, act_preprocess_func: Any = None, optimizer_func: Any = None,
        executor: Any = None, is_test: bool | None = None,
    ) -> None:
        what = "QuantizationTransformPass"
        for name, value in (
            ("weight_quantize_func", weight_quantize_func), ("act_quantize_func", act_quantize_func), ("optimizer_func", optimizer_func),
            ("weight_preprocess_func", weight_preprocess_func), ("act_preprocess_func", act_preprocess_func),
        ):
            if value is not None:
                raise UnimplementedError(
                    f"{what}: {name} is not there. Got {short(value)}, expected None. Layers take quanters of your own: paddle.quantization.quanter."
                )
        among(what, "activation_quantize_type", activation_quantize_type, _ACTIVATIONS)
        among(what, "weight_quantize_type", weight_quantize_type, _WEIGHTS)
        for kind in quantizable_op_type:
            among(what, "quantizable_op_type", kind, PRODUCTS)
        holder(weight_bits), holder(activation_bits)
        self._scope, self._bits, self._weight_bits = scope, activation_bits, weight_bits
        self._kind, self._each, self._rate = activation_quantize_type, weight_quantize_type == "channel_wise_abs_max", moving_rate
        skipped = [skip_pattern] if isinstance(skip_pattern, str) else skip_pattern
        self._skipped, self._kinds, self._is_test = tuple(skipped), frozenset(quantizable_op_type), is_test

    def apply(self, graph: Any) -> Any:
        """Put the rounding in.

        Args:
            graph: a program, or an IrGraph; it is changed.

        Returns:
            The same.
        """
        program = program_of(graph, "QuantizationTransformPass.apply")
        tests = self._is_test if self._is_test is not None else isinstance(graph, IrGraph) and graph.is_test()
        main, done = program.blocks[0], dict[int, Variable]()
        nodes, recording = list(main.nodes), capture(main)
        main.nodes[:] = []
        with paused():
            for node in nodes:
                if node.role == BACKWARD:
                    if node.op in _OF_GRADIENTS:
                        node.inputs = tuple(x if x is None else done.get(id(x), x) for x in node.inputs)
                elif self._takes(node):
                    recording.take_place_of(node)
                    inputs = inputs_of_product(node)
                    with recording:
                        node.inputs = (*(self._rounded(main, node, x, done, tests) for x in inputs), *node.inputs[len(inputs) :])
                main.nodes.append(node)
        return graph

    def _takes(self, node: Node) -> bool:
        return bool(kinds_of(node) & self._kinds) and not any(part in node.scope for part in self._skipped)

    def _rounded(self, block: Block, node: Node, x: Variable | None, done: dict[int, Variable], tests: bool) -> Variable | None:
        if x is None or not x.dtype.is_floating or id(x) in done:
            return x if x is None else done.get(id(x), x)
        if is_product(node) and x is node.inputs[1] and is_parameter(x):
            axis = output_axis_of(node) % x.ndim
            with no_grad():
                largest = ops.reduce_max(ops.abs(x.detach()), axes=tuple(i for i in range(x.ndim) if not self._each or i != axis), keepdim=True)
                scale = ops.maximum(largest, to_tensor(1e-7, dtype=x.dtype.name))
            block.rename(capture(block).variable_of(scale), f"{x.name}@scale")
            found = rounded(x, scale, self._weight_bits)
        else:
            found = rounded(x, self._scale(x, tests), self._bits)
        made = found if isinstance(found, Variable) else capture(block).variable_of(found)
        block.rename(made, f"{x.name}{self._mark}")
        done[id(x)] = made
        return made

    def _scale(self, x: Variable, tests: bool) -> Any:
        scope, name = self._scope or global_scope(), _scaled(x, self._mark)
        scale = _kept(scope, f"{name}@scale", 0.001)
        if tests:
            return scale
        with no_grad():
            largest = ops.reshape(ops.reduce_max(ops.abs(x.detach()), axes=tuple(range(x.ndim)), keepdim=False), shape=(1,))
            if self._kind == "abs_max":
                ops.copy.into((scale,), largest)
            elif self._kind == "range_abs_max":
                ops.copy.into((scale,), ops.maximum(scale, largest))
            else:
                state, accum = (_kept(scope, f"{name}@{part}", 1.0) for part in ("state", "accum"))
                ops.copy.into((state,), state * self._rate + 1.0)
                ops.copy.into((accum,), accum * self._rate + largest)
                ops.copy.into((scale,), accum / state)
        return scale


class QuantizationFreezePass:
    """Makes whole numbers of what `QuantizationTransformPass` rounds: int8 weights, and inputs that are quantized by the scales that training found.

    Args:
        scope: where the scales are; None for the global one.
        place: no effect.
        bias_correction: refused.
        weight_bits: of weights.
        activation_bits: of inputs.
        round_type: "round".
        weight_quantize_type: as of the transform pass.
        quantizable_op_type: no effect: everything that is rounded.

    Raises:
        ValueError: an argument is not one of these.
        NotImplementedError: an argument that is refused.

    Source:
        `paddle.static.quantization.QuantizationFreezePass`. Its weights stay float32 there, and a `fake_dequantize_max_abs` follows the product.
    """

    def __init__(
        self, scope: Any, place: Any, bias_correction: bool = False, weight_bits: int = 8, activation_bits: int = 8, round_type: str = "round",
        weight_quantize_type: str = "abs_max", quantizable_op_type: Any = None,
    ) -> None:
        if bias_correction:
            raise UnimplementedError(
                "QuantizationFreezePass: bias_correction is not there. Got True, expected False. Layers have paddle.quant.correct_biases."
            )
        among("QuantizationFreezePass", "round_type", round_type, ("round",))
        among("QuantizationFreezePass", "weight_quantize_type", weight_quantize_type, _WEIGHTS)
        holder(weight_bits), holder(activation_bits)
        self._scope, self._weight_bits, self._bits = scope, weight_bits, activation_bits
        self._each: bool | None = weight_quantize_type == "channel_wise_abs_max"  # None: as the transform pass did

    def apply(self, graph: Any) -> Any:
        """Round for good.

        Args:
            graph: a program for tests, or an IrGraph; it is changed.

        Returns:
            The same.

        Raises:
            ValueError: nothing is rounded, or the scope lacks a scale.
        """
        program = program_of(graph, "QuantizationFreezePass.apply")
        variables = {x.name: x for x in program.list_vars()}
        done: dict[str, Variable] = {}
        with paused(), no_grad():
            for node in list(program.blocks[0].nodes):
                if node.role == BACKWARD:
                    continue
                for x in node.inputs:
                    mark = "" if x is None else next((mark for mark in (_ROUNDED, BESIDE) if x.name.endswith(mark)), "")
                    if x is not None and mark and x.name not in done:
                        done[x.name] = self._whole(program, node, variables[x.name[: -len(mark)]], mark)
                node.inputs = tuple(x if x is None else done.get(x.name, x) for x in node.inputs)
        if not done:
            raise InvalidArgumentError(
                "QuantizationFreezePass.apply: nothing is rounded. Got a program without rounding, expected one that the transform pass changed."
            )
        _drop_rounding(program, [variables[name] for name in done])
        forget_unused(program)
        return graph

    def _whole(self, program: Program, node: Node, origin: Variable, mark: str) -> Variable:
        scope, name = self._scope or global_scope(), _scaled(origin, mark)
        if mark == _ROUNDED and is_parameter(origin):
            value = scope.value(origin.name) if origin.bound is None else origin.bound
            if value is None:
                raise InvalidArgumentError(
                    f"QuantizationFreezePass.apply: a weight has no value. Got no '{origin.name}' in the scope, expected that of training. "
                    f"Run the startup program, or load the weights, before."
                )
            each = self._each if self._each is not None else program.blocks[0].vars[f"{origin.name}@scale"].size > 1
            return round_weight(program, node, origin, self._weight_bits, each, mark=_WHOLE, value=value)
        scale = scope.value(f"{name}@scale")
        if scale is None:
            raise InvalidArgumentError(
                f"QuantizationFreezePass.apply: the scope has no scale of an input. Got no '{name}@scale' in it, expected that of training. "
                f"Pass the scope that QuantizationTransformPass had."
            )
        largest = float(np.asarray(scale.numpy()).reshape(-1)[0])
        return round_value(program, node, origin, largest, self._bits, _WHOLE + (BESIDE if mark == BESIDE else ""))


def _scaled(x: Variable, mark: str) -> str:
    """The name that the scale of a rounded input goes by, as in Paddle."""
    return x.name + (BESIDE if mark == BESIDE else "")


def is_parameter(x: Variable) -> bool:
    """Whether a variable is a weight, whose value the program or the scope has."""
    return x.made_by is None and not x.is_data and x.ndim >= 2


def _drop_rounding(program: Program, results: list[Variable]) -> None:
    """Remove the nodes that made these and that nothing else needs."""
    made: set[int] = set()
    while results:
        node = results.pop().made_by
        if node is not None and id(node) not in made and not node.in_place:
            made.add(id(node))
            results += [x for x in node.inputs if x is not None and x.bound is None]
    kept: list[Node] = []
    used = {id(x) for x in program.fetches}
    for node in reversed(program.blocks[0].nodes):
        if id(node) not in made or any(id(x) in used for x in node.outputs):
            kept.append(node)
            used.update(id(x) for x in node.reads())
    program.blocks[0].nodes[:] = kept[::-1]


def _kept(scope: Any, name: str, start: float) -> Any:
    """The state of this name, of one element."""
    found = scope.value(name)
    if found is None:
        found = Parameter(to_tensor([start], dtype="float32"), name=name, trainable=False)
        scope.put(name, found)
    return found


def program_of(graph: Any, what: str) -> Program:
    program = graph.program if isinstance(graph, IrGraph) else graph
    if not isinstance(program, Program):
        raise InvalidTypeError(f"{what}: not a program. Got {short(graph)} ({type(graph).__name__}), expected a paddle.static.Program or an IrGraph.")
    return program
