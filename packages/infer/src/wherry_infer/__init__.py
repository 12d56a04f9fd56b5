"""`paddle.inference`: saved programs that answer.

A `Config` says which program and how, `create_predictor` loads and prepares it, and a `Predictor` runs it.
"""
from wherry_infer.config import Config, PassBuilder, XpuConfig
from wherry_infer.kinds import (
    DataType,
    PlaceType,
    PrecisionType,
    get_num_bytes_of_data_type,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)
from wherry_infer.native import get_include
from wherry_infer.precision import convert_to_mixed_precision
from wherry_infer.predictor import Predictor, PredictorPool, Tensor, create_predictor

__all__ = [
    "Config",
    "DataType",
    "PassBuilder",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
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

__version__ = "0.4.0"
