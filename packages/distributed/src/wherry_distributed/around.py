"""A layer around another one, whose state it has."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer

__all__ = ["AroundLayer"]


class AroundLayer(Layer):
    """Calls `self._layers`, which a subclass sets, and has its state."""

    _layers: Layer

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of the inner layer."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
        """Set the state of the inner layer."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = load_dict = set_state_dict
