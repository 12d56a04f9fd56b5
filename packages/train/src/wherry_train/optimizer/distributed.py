"""Stubs of distributed optimizers: they raise until distributed training exists."""
from __future__ import annotations

from typing import Any, NoReturn

from wherry_train.optimizer.optimizer import Optimizer

__all__ = ["DistributedFusedLamb"]


class DistributedFusedLamb(Optimizer):
    """Not available: it would train one model on several GPUs in a static program.

    Raises:
        NotImplementedError: always. `paddle.optimizer.Lamb` does the same on one device.

    Source:
        `paddle.incubate.DistributedFusedLamb`.

    Examples:
        >>> wherry.incubate.DistributedFusedLamb()
        Traceback (most recent call last):
        NotImplementedError: DistributedFusedLamb: it trains on several GPUs at once, which is not available. ...
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:  # type: ignore[misc]
        raise NotImplementedError(
            "DistributedFusedLamb: it trains on several GPUs at once, which is not available. Got a call of it, expected an "
            "optimizer for one device. Use paddle.optimizer.Lamb."
        )
