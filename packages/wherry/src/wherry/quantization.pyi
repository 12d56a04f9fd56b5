"""Stub of wherry.quantization, written by tools/stubs.py: where each public name comes from."""
from wherry_quant.base import BaseObserver as BaseObserver
from wherry_quant.base import BaseQuanter as BaseQuanter
from wherry_quant.config import QuantConfig as QuantConfig
from wherry_quant.factory import quanter as quanter
from wherry_quant.quantizing import PTQ as PTQ
from wherry_quant.quantizing import QAT as QAT
__all__: list[str]
