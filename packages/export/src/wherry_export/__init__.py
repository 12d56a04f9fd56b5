"""Programs in the formats of others. `onnx` writes ONNX models, `web` folders that answer in browsers."""

__all__: list[str] = []

__version__ = "0.4.2"
