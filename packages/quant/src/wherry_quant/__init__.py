"""Quantization: training for it, calibrating for it, and weights of few bits (`paddle.quantization`, `paddle.nn.quant`)."""
from wherry_quant.base import BaseObserver, BaseQuanter
from wherry_quant.config import QuantConfig
from wherry_quant.factory import quanter
from wherry_quant.quantizing import PTQ, QAT

__all__ = ["PTQ", "QAT", "BaseObserver", "BaseQuanter", "QuantConfig", "quanter"]

__version__ = "0.1.0"
