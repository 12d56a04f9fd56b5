"""What runs in integers: `wherry.quant.report`."""
from __future__ import annotations

from typing import Any

from wherry_program.run.products import Report, Row, report_of
from wherry_quant.programs import program_of
from wherry_tensor._core import Tensor

__all__ = ["Report", "Row", "report"]


def report(model: Any, *inputs: Tensor, reference: Any = None) -> Report:
    """Say of each product of a model whether it runs in integers, how far it is from the float model, how long it takes and how large it is.

    Args:
        model: a converted Layer, a program, or the path of a saved model without its ending.
        inputs: of one call. Layers need them; for others they may be left out, and with them times and errors.
        reference: the float model, for the ratio of signal to noise of each result: as `model`, with the same products in the same order.

    Raises:
        TypeError: not a model.
        ValueError: a reference without inputs, or with other products.

    Examples:
        >>> from wherry.quantization import PTQ, QuantConfig
        >>> from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 16), wherry.nn.ReLU(), wherry.nn.Linear(16, 4))
        >>> net.eval()
        >>> config = QuantConfig(activation=None, weight=None)
        >>> config.add_type_config(wherry.nn.Linear, activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())
        >>> observed = PTQ(config).quantize(net)
        >>> x = wherry.randn([8, 16])
        >>> _ = observed(x)
        >>> found = wherry.quant.report(PTQ(config).convert(observed), x, reference=net)
        >>> [(row.op, row.runs_in, row.snr > 25) for row in found.rows]
        [('linear', 'int8', True), ('linear', 'int8', True)]
    """
    return report_of(
        program_of(model, inputs, "report"), inputs, None if reference is None else program_of(reference, inputs, "report"), "report"
    )
