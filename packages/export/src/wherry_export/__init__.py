"""Programs in the formats of others. `onnx` writes ONNX models."""

__all__: list[str] = []

__version__ = "0.2.0"
