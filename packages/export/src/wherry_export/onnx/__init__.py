"""ONNX: a column of rules that write ops of the vocabulary as ONNX nodes, and the exporter that makes a model of a program.

The package `onnx`, which writes the files, is loaded when something is exported.
"""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherry_tensor.columns import load_families

if TYPE_CHECKING:
    import onnx

    from wherry_program.program.ir import Program, Variable

__all__ = ["export", "load_rules", "to_model"]


def load_rules() -> None:
    """Fill the column.

    Raises:
        ModuleNotFoundError: the package `onnx` is not installed.
    """
    try:
        importlib.import_module("onnx")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "onnx: the package that writes ONNX files is not installed. Got no module 'onnx', expected it. pip install onnx", name="onnx"
        ) from error
    load_families("wherry_export.onnx.rules", (
        "activation", "contraction", "convolution", "creation", "detection", "elementwise", "indexing", "linalg", "movement", "normalization",
        "quantization", "random", "recurrent", "reduction", "sequence", "sparse", "spectral",
    ))


def export(layer: Any, path: str, input_spec: Sequence[Any] | None = None, opset_version: int = 9, **configs: Any) -> str:
    """Write a layer as an ONNX file.

    Args:
        layer: a Layer or a function, or what `to_static` made of one; it is exported as it is in `eval()`. Where wherry-graph is installed,
            `if`, `while` and `for` on tensors become part of the model.
        path: of the file, without the suffix `.onnx`.
        input_spec: an InputSpec or a Tensor for each argument of `forward`; sizes of None stay free in the model.
        opset_version: of ONNX's operators, at most 19. Below 11 it is raised to 11, as Paddle raises it where an operator needs it; with a
            warning, unless it is the default.
        configs: `output_spec`, the outputs to keep, by position or name; others of Paddle's are accepted and have no effect.

    Returns:
        The path of the file.

    Raises:
        ValueError: `input_spec` is missing, or does not fit.
        NotImplementedError: an op that ONNX has nothing for.

    Source:
        `paddle.onnx.export`.

    Examples:
        >>> net = wherry.nn.Linear(3, 2)
        >>> wherry.onnx.export(net, "build/linear", input_spec=[wherry.static.InputSpec([None, 3], "float32")], opset_version=13)
        'build/linear.onnx'
    """
    load_rules()
    from wherry_export.onnx.model import export_layer

    return export_layer(layer, path, input_spec, opset_version, **configs)


def to_model(
    program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *, opset: int = 13,
    name: str = "wherry",
) -> onnx.ModelProto:
    """A program as an ONNX model in memory; see `wherry_export.onnx.model.to_model`."""
    load_rules()
    from wherry_export.onnx import model as written

    return written.to_model(program, feeds, fetches, opset=opset, name=name)
