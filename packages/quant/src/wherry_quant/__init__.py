"""Quantization: training for it, calibrating for it, and weights of few bits (`paddle.quantization`, `paddle.nn.quant`)."""
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherry_quant.base import BaseObserver, BaseQuanter
    from wherry_quant.config import QuantConfig
    from wherry_quant.factory import quanter
    from wherry_quant.imperative import (
        SUPPORT_ACT_QUANTIZERS,
        SUPPORT_WT_QUANTIZERS,
        AbsmaxQuantizer,
        BaseQuantizer,
        HistQuantizer,
        ImperativePTQ,
        ImperativeQuantAware,
        KLQuantizer,
        PerChannelAbsmaxQuantizer,
        PTQConfig,
        default_ptq_config,
    )
    from wherry_quant.quantizing import PTQ, QAT

__all__ = [
    "PTQ", "QAT", "SUPPORT_ACT_QUANTIZERS", "SUPPORT_WT_QUANTIZERS", "AbsmaxQuantizer", "BaseObserver", "BaseQuanter", "BaseQuantizer",
    "HistQuantizer", "ImperativePTQ", "ImperativeQuantAware", "KLQuantizer", "PTQConfig", "PerChannelAbsmaxQuantizer", "QuantConfig",
    "default_ptq_config", "quanter",
]

__version__ = "0.9.0"

# Where a name comes from, if not from `imperative`: modules are imported when one of their names is first used, for they need NumPy.
_MODULE_OF = {
    "PTQ": "quantizing", "QAT": "quantizing", "BaseObserver": "base", "BaseQuanter": "base", "QuantConfig": "config", "quanter": "factory",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'imperative')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
