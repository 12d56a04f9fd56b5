"""Training: optimizers, mixed precision, data loading, metrics and `Model`."""
from importlib import import_module as _import_module

__version__ = "0.1.0"

_LATER = {  # each loads its module when it is first used
    "Checkpoint": "checkpoint",
    "Model": "model",
    "flops": "tables",
    "load": "serialization",
    "random_state": "state",
    "save": "serialization",
    "set_random_state": "state",
    "summary": "tables",
}

__all__ = [*_LATER]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(_import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
