"""`paddle.onnx`, and models of ONNX as layers."""
from wherry import _absent
from wherry_export.onnx import export
from wherry_graph.jit.onnx_loading import load

__all__ = ["export", "load"]

_absent.explain(__name__)
