"""Passes of quantization that stand beside those of transforming.py: rounding before other operators than products, and what only says something."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wherry_program.program.ir import Node
from wherry_quant.post_training import among
from wherry_quant.rounded_programs import OTHERS
from wherry_quant.transforming import (
    BESIDE,
    QuantizationFreezePass,
    QuantizationTransformPass,
    is_parameter,
    program_of,
)

__all__ = [
    "AddQuantDequantForInferencePass", "AddQuantDequantPass", "AddQuantDequantPassV2", "ConvertToInt8Pass", "OutScaleForInferencePass",
    "OutScaleForTrainingPass", "QuantWeightPass", "QuantizationTransformPassV2",
]


class AddQuantDequantPass(QuantizationTransformPass):
    """Puts rounding before operators other than products, with moving averages of the largest magnitude; what reads a parameter stays as it is.

    Args:
        scope: where scales are kept; None for the global one.
        place: no effect.
        moving_rate: by what the weight of a batch shrinks with each that follows.
        quant_bits: of inputs.
        skip_pattern: parts of names of `name_scope`: operators inside stay as they are.
        quantizable_op_type: types of operators.
        is_full_quantized: take every type that there is.
        is_test: scales stay as they are; None: as the graph says.
        scale_dict: no effect: scales come from training.

    Raises:
        ValueError: an argument is not one of these (also an AssertionError).

    Source:
        `paddle.static.quantization.AddQuantDequantPass`.

    Examples:
        >>> from wherry.static.quantization import AddQuantDequantPass
        >>> wherry.enable_static()
        >>> program = wherry.static.Program()
        >>> with wherry.static.program_guard(program):
        ...     x = wherry.static.data("x", [2, 3], "float32")
        ...     y = x + x * 2.0
        >>> _ = AddQuantDequantPass(quantizable_op_type=["elementwise_add"]).apply(program)
        >>> [v.name for v in program.nodes[-1].inputs][0]
        'x.quant_dequant'
        >>> wherry.disable_static()
    """

    _mark = BESIDE

    def __init__(
        self, scope: Any = None, place: Any = None, moving_rate: float = 0.9, quant_bits: int = 8, skip_pattern: Sequence[str] = ("skip_quant",),
        quantizable_op_type: Sequence[str] = ("elementwise_add", "pool2d"), is_full_quantized: bool = False, is_test: bool | None = None,
        scale_dict: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            scope, place, activation_bits=quant_bits, activation_quantize_type="moving_average_abs_max", moving_rate=moving_rate,
            skip_pattern=skip_pattern, quantizable_op_type=(), is_test=is_test,
        )
        for kind in quantizable_op_type:
            among("AddQuantDequantPass", "quantizable_op_type", kind, OTHERS)
        self._kinds = frozenset(OTHERS if is_full_quantized else quantizable_op_type)

    def _takes(self, node: Node) -> bool:
        return super()._takes(node) and not any(x is not None and (is_parameter(x) or x.is_parameter) for x in node.inputs)


class QuantizationTransformPassV2(QuantizationTransformPass):
    """`QuantizationTransformPass`, for `QuantWeightPass` to finish. Paddle's puts `quantize_linear` and `dequantize_linear` in, which round to even.

    Source:
        `paddle.static.quantization.QuantizationTransformPassV2`.
    """


class AddQuantDequantPassV2(AddQuantDequantPass):
    """`AddQuantDequantPass`, for `QuantWeightPass` to finish.

    Source:
        `paddle.static.quantization.AddQuantDequantPassV2`.
    """


class QuantWeightPass(QuantizationFreezePass):
    """Makes whole numbers of what the V2 passes round: weights, with as many scales as they have, and inputs by the scales that training found.

    Args:
        scope: where the scales are; None for the global one.
        place: no effect.
        bias_correction: refused.
        quant_bits: of weights and inputs.
        save_int_weight: no effect: weights are stored as whole numbers.

    Raises:
        ValueError: nothing is rounded, or an argument is not one of these.
        NotImplementedError: an argument that is refused.

    Source:
        `paddle.static.quantization.QuantWeightPass`.

    Examples:
        >>> from wherry.static.quantization import QuantizationTransformPassV2, QuantWeightPass
        >>> wherry.enable_static()
        >>> program, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(program, startup):
        ...     y = wherry.static.nn.fc(wherry.static.data("x", [8, 4], "float32"), 2)
        >>> _ = wherry.static.Executor().run(startup)
        >>> _ = QuantizationTransformPassV2(quantizable_op_type=["mul"], is_test=True).apply(program)
        >>> [node.type for node in QuantWeightPass(None, None).apply(program).nodes][:3]
        ['quantize_linear', 'dequantize_linear', 'dequantize_linear']
        >>> wherry.disable_static()
    """

    def __init__(self, scope: Any, place: Any, bias_correction: bool = False, quant_bits: int = 8, save_int_weight: bool = True) -> None:
        super().__init__(scope, place, bias_correction, quant_bits, quant_bits)
        self._each = None


class _Says:
    """A pass that leaves programs as they are: what Paddle's keeps in an attribute, or in a type, they have already."""

    def apply(self, graph: Any) -> Any:
        """Look whether it is a program.

        Args:
            graph: a program, or an IrGraph.

        Returns:
            The same.

        Raises:
            TypeError: it is neither.
        """
        program_of(graph, f"{type(self).__name__}.apply")
        return graph


class OutScaleForTrainingPass(_Says):
    """Nothing: Paddle's finds scales of results (`out_threshold`) for engines; here `quantize_linear` says by what something is rounded.

    Args:
        scope, place, moving_rate, is_test, scale_dict: no effect.

    Source:
        `paddle.static.quantization.OutScaleForTrainingPass`.
    """

    def __init__(
        self, scope: Any = None, place: Any = None, moving_rate: float = 0.9, is_test: bool | None = None,
        scale_dict: Mapping[str, Any] | None = None,
    ) -> None: ...


class OutScaleForInferencePass(_Says):
    """Nothing: Paddle's writes what `OutScaleForTrainingPass` found into attributes.

    Args:
        scope: no effect.

    Source:
        `paddle.static.quantization.OutScaleForInferencePass`.
    """

    def __init__(self, scope: Any = None) -> None: ...


class AddQuantDequantForInferencePass(_Says):
    """Nothing: `QuantWeightPass` has put `quantize_linear` and `dequantize_linear` before every operator that was rounded.

    Args:
        scope, place, quant_bits, quantizable_op_type, calibration_range_dict, only_observer: no effect.

    Source:
        `paddle.static.quantization.AddQuantDequantForInferencePass`.
    """

    def __init__(
        self, scope: Any = None, place: Any = None, quant_bits: int = 8, quantizable_op_type: Sequence[str] = (),
        calibration_range_dict: Mapping[str, Any] | None = None, only_observer: bool = True,
    ) -> None: ...


class ConvertToInt8Pass(_Says):
    """Nothing: `QuantizationFreezePass` stores weights in int8 already; Paddle's keeps them in float32 until this pass.

    Args:
        scope, place: no effect.
        quantizable_op_type: no effect.

    Source:
        `paddle.static.quantization.ConvertToInt8Pass`.
    """

    def __init__(self, scope: Any = None, place: Any = None, quantizable_op_type: Sequence[str] | None = None) -> None: ...
