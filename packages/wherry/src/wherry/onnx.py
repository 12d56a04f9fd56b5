"""`paddle.onnx`."""
from wherry import _absent
from wherry_export.onnx import export

__all__ = ["export"]

_absent.explain(__name__)
