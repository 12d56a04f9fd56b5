"""`paddle.inference`: running saved programs.

A `Config` names the program and how to run it, `create_predictor` loads and prepares it, and a `Predictor` runs it.
"""
from wherry_infer._version import __version__ as __version__
from wherry_infer.config import Config, PassBuilder, QuantizerConfig, XpuConfig
from wherry_infer.kinds import (
    DataType,
    PlaceType,
    PrecisionType,
    get_num_bytes_of_data_type,
    get_version,
)
from wherry_infer.native import get_include
from wherry_infer.precision import convert_to_mixed_precision
from wherry_infer.predictor import Predictor, PredictorPool, Tensor, create_predictor
from wherry_infer.tensorrt import get_trt_compile_version, get_trt_runtime_version

__all__ = [
    "Config",
    "DataType",
    "PassBuilder",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "QuantizerConfig",
    "Tensor",
    "XpuConfig",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_include",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
