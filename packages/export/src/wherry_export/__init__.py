"""Export of programs: `onnx` writes ONNX models, `web` folders that run in browsers."""

__all__: list[str] = []

__version__ = "0.13.0"
