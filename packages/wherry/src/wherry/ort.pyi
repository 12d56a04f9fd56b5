"""Stub of wherry.ort, written by tools/stubs.py: where each public name comes from."""
from wherry_infer.session import ExecutionMode as ExecutionMode
from wherry_infer.session import GraphOptimizationLevel as GraphOptimizationLevel
from wherry_infer.session import IOBinding as IOBinding
from wherry_infer.session import IOBinding as _IOBinding
from wherry_infer.session import InferenceSession as InferenceSession
from wherry_infer.session import InvalidArgument as InvalidArgument
from wherry_infer.session import InvalidGraph as InvalidGraph
from wherry_infer.session import InvalidProtobuf as InvalidProtobuf
from wherry_infer.session import ModelMetadata as ModelMetadata
from wherry_infer.session import NoSuchFile as NoSuchFile
from wherry_infer.session import NodeArg as NodeArg
from wherry_infer.session import NotImplemented as NotImplemented
from wherry_infer.session import RunOptions as RunOptions
from wherry_infer.session import SessionOptions as SessionOptions
from wherry_infer.session import get_all_providers as get_all_providers
from wherry_infer.session import get_available_providers as get_available_providers
from wherry_infer.session import get_device as get_device
from wherry_infer.session import set_default_logger_severity as set_default_logger_severity
from wherry_infer.session import set_seed as set_seed
from wherry_infer.session_values import OrtValue as OrtValue
SessionIOBinding = _IOBinding
__all__: list[str]
