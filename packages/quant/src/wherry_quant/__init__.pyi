"""Stub of wherry_quant, written by tools/stubs.py: where each public name comes from."""
from wherry_quant.base import BaseObserver as BaseObserver
from wherry_quant.base import BaseQuanter as BaseQuanter
from wherry_quant.config import QuantConfig as QuantConfig
from wherry_quant.factory import quanter as quanter
from wherry_quant.imperative import AbsmaxQuantizer as AbsmaxQuantizer
from wherry_quant.imperative import BaseQuantizer as BaseQuantizer
from wherry_quant.imperative import HistQuantizer as HistQuantizer
from wherry_quant.imperative import ImperativePTQ as ImperativePTQ
from wherry_quant.imperative import ImperativeQuantAware as ImperativeQuantAware
from wherry_quant.imperative import KLQuantizer as KLQuantizer
from wherry_quant.imperative import PTQConfig as PTQConfig
from wherry_quant.imperative import PerChannelAbsmaxQuantizer as PerChannelAbsmaxQuantizer
from wherry_quant.imperative import SUPPORT_ACT_QUANTIZERS as SUPPORT_ACT_QUANTIZERS
from wherry_quant.imperative import SUPPORT_WT_QUANTIZERS as SUPPORT_WT_QUANTIZERS
from wherry_quant.imperative import default_ptq_config as default_ptq_config
from wherry_quant.quantizing import PTQ as PTQ
from wherry_quant.quantizing import QAT as QAT
__all__: list[str]
__version__: str
