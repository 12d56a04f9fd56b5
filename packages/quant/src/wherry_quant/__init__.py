"""Quantization: training for it, calibrating for it, and weights of few bits (`paddle.quantization`, `paddle.nn.quant`)."""
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

__version__ = "0.7.0"
