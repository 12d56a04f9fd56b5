"""Stub of wherry.inference, written by tools/stubs.py: where each public name comes from."""
from wherry_infer.config import Config as Config
from wherry_infer.config import PassBuilder as PassBuilder
from wherry_infer.config import QuantizerConfig as QuantizerConfig
from wherry_infer.config import XpuConfig as XpuConfig
from wherry_infer.kinds import DataType as DataType
from wherry_infer.kinds import PlaceType as PlaceType
from wherry_infer.kinds import PrecisionType as PrecisionType
from wherry_infer.kinds import get_num_bytes_of_data_type as get_num_bytes_of_data_type
from wherry_infer.kinds import get_version as get_version
from wherry_infer.native import get_include as get_include
from wherry_infer.precision import convert_to_mixed_precision as convert_to_mixed_precision
from wherry_infer.predictor import Predictor as Predictor
from wherry_infer.predictor import PredictorPool as PredictorPool
from wherry_infer.predictor import Tensor as Tensor
from wherry_infer.predictor import create_predictor as create_predictor
from wherry_infer.tensorrt import get_trt_compile_version as get_trt_compile_version
from wherry_infer.tensorrt import get_trt_runtime_version as get_trt_runtime_version
__all__: list[str]
