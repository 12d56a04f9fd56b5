"""Training: optimizers, mixed precision, data loading, metrics and `Model`."""
# ruff: noqa: F401  imports for checkers
from importlib import import_module as _import_module
from typing import Any

__version__ = "0.18.0"

_LATER = {  # each loads its module when it is first used
    "Checkpoint": "checkpoint",
    "Model": "model",
    "doctor": "diagnosis",
    "flops": "tables",
    "load": "serialization",
    "random_state": "state",
    "save": "serialization",
    "seed_everything": "state",
    "set_random_state": "state",
    "summary": "tables",
}

__all__ = [*_LATER]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(_import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
