"""Paddle's model files: programs and parameters, read and written. Begin with `models`."""

__all__: list[str] = []

__version__ = "0.12.0"
