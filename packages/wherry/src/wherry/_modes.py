"""How programs run: op by op."""
from __future__ import annotations

from typing import Any

from wherry_tensor.device import set_device
from wherry_tensor.errors import UnimplementedError

__all__ = ["disable_signal_handler", "disable_static", "enable_static"]

def disable_static(place: Any = None) -> None:
    """Run op by op, which is how Wherry runs.

    Args:
        place: where to run from now on, as `set_device` takes it; None changes nothing.

    Source:
        `paddle.disable_static`.

    Examples:
        >>> wherry.disable_static()
        >>> wherry.in_dynamic_mode()
        True
    """
    if place is not None:
        set_device(place)


def enable_static() -> None:
    """Record programs instead of running op by op: not available yet.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.enable_static`.

    Examples:
        >>> wherry.enable_static()
        Traceback (most recent call last):
        wherry_tensor.errors.UnimplementedError: (Unimplemented) enable_static: programs are not recorded yet. ...
    """
    raise UnimplementedError(
        "enable_static: programs are not recorded yet. Got a call, expected none: Wherry runs op by op. "
        "Leave it out, and call layers and functions with tensors."
    )


def disable_signal_handler() -> None:
    """Give back signal handlers: Wherry takes none, so there is nothing to do.

    Source:
        `paddle.disable_signal_handler`.
    """
