"""Layers whose activations are int8 in pages too: `export(quantize=, data=)` calibrates them with wherry-quant before they are captured.

What comes out is an ordinary program with quantize_linear and dequantize_linear in it, as a converted layer or a file of Paddle's gives one, and
the passes compute it in integers: by the kernels that a predictor has, to the same whole numbers.
"""
from __future__ import annotations

from typing import Any

from wherry_export.web.optional import needed
from wherry_nn import Layer
from wherry_program.program.ir import Program
from wherry_tensor.errors import short

__all__ = ["calibrated", "is_rounding"]


def is_rounding(program: Program) -> bool:
    """Whether a program rounds values as it runs: one that lies between two whole numbers may become this one or that one."""
    return any(node.type in ("quantize_linear", "fake_quantize") or node.type.startswith("quantized_") for node in program.walk())


def calibrated(model: Any, quantize: Any, data: Any) -> tuple[Layer, Any]:
    """A copy of a layer with int8 weights and activations, and the report of wherry.quant about it.

    Raises:
        TypeError: `quantize` or `model` is of another kind.
        ValueError: data are missing, or `quantize` is another word.
        ModuleNotFoundError: wherry-quant is not installed.
    """
    if data is None:
        raise ValueError("web: scales of activations are found on inputs. Got quantize without data, expected data=batches of inputs.")
    if isinstance(quantize, str) and quantize != "int8":
        raise ValueError(f"web: it cannot quantize so. Got quantize={short(quantize)}, expected 'int8' or a QuantConfig.")
    calibrating = needed("wherry_quant.calibrating", "layers are calibrated", "quantize=")
    plain, found, inputs = calibrating.calibrated(model, data, None if isinstance(quantize, str) else quantize, "web")
    return found, needed("wherry_quant.reporting", "layers are calibrated", "quantize=").report(found, *inputs, reference=plain)
