"""ONNX models, read: files become programs. Begin with `models`."""

__all__: list[str] = []

__version__ = "0.8.0"
