"""Training: optimizers, mixed precision, data loading, metrics and `Model`."""
__version__ = "0.1.0"
