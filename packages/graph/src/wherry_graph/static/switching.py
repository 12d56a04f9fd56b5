"""`enable_static` and `disable_static`, which install the capture of static mode, and the builder for its startup program."""
from __future__ import annotations

from typing import Any

from wherry_graph.static.builder import StaticBuilder
from wherry_graph.static.mode import capture_of, default_main_program, in_static_mode, switch
from wherry_tensor.device import set_device
from wherry_tensor.explained import explained
from wherry_tensor.static_builder import building

__all__ = ["disable_static", "enable_static"]


def enable_static() -> None:
    """Enter static mode: ops of this thread are recorded into `static.default_main_program()` instead of running.

    Source:
        `paddle.enable_static`.

    Examples:
        >>> wherry.enable_static()
        >>> wherry.in_dynamic_mode()
        False
        >>> wherry.disable_static()
    """
    if not in_static_mode():
        building.builder = StaticBuilder()
        switch(capture_of(default_main_program()))


def disable_static(place: Any = None) -> None:
    """Leave static mode: run op by op, which is the default.

    Args:
        place: where to run from now on, as `set_device` takes it; None changes nothing.

    Raises:
        TypeError: `place` is neither a place nor a str.
        ValueError: no package for this device is installed.

    Source:
        `paddle.disable_static`.

    Examples:
        >>> wherry.disable_static()
        >>> wherry.in_dynamic_mode()
        True
    """
    if place is not None:
        set_device(place)
    if in_static_mode():
        switch(None)
        building.builder = None


explained(globals())
