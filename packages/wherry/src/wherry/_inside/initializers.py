"""Initializers by the names and arguments that they have inside of Paddle."""
from __future__ import annotations

from typing import Any

from wherry_nn import initializer as init

__all__ = ["MSRAInitializer", "XavierInitializer"]


def XavierInitializer(uniform: bool = True, fan_in: Any = None, fan_out: Any = None, seed: int = 0, gain: float = 1.0) -> Any:  # noqa: N802
    """`XavierUniform` or `XavierNormal`."""
    return (init.XavierUniform if uniform else init.XavierNormal)(fan_in, fan_out)


def MSRAInitializer(  # noqa: N802
    uniform: bool = True, fan_in: Any = None, seed: int = 0, negative_slope: float = 0, nonlinearity: str = "relu"
) -> Any:
    """`KaimingUniform` or `KaimingNormal`."""
    return (init.KaimingUniform if uniform else init.KaimingNormal)(fan_in, negative_slope, nonlinearity)
