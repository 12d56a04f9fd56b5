"""Stub of wherry.static.amp, written by tools/stubs.py: where each public name comes from."""
from wherry_graph.static.amp import AutoMixedPrecisionLists as AutoMixedPrecisionLists
from wherry_graph.static.amp import AutoMixedPrecisionLists as _AutoMixedPrecisionLists
from wherry_graph.static.amp import OptimizerWithMixedPrecision as OptimizerWithMixedPrecision
from wherry_graph.static.amp import cast_model_to_fp16 as cast_model_to_fp16
from wherry_graph.static.amp import cast_parameters_to_fp16 as cast_parameters_to_fp16
from wherry_graph.static.amp import decorate as decorate
from wherry_graph.static.amp import fp16_guard as fp16_guard
CustomOpLists = _AutoMixedPrecisionLists
__all__: list[str]
