"""Stub of wherry.distribution.transform, written by tools/stubs.py: where each public name comes from."""
from wherry_distribution.transform import AbsTransform as AbsTransform
from wherry_distribution.transform import AffineTransform as AffineTransform
from wherry_distribution.transform import ExpTransform as ExpTransform
from wherry_distribution.transform import IndependentTransform as IndependentTransform
from wherry_distribution.transform import PowerTransform as PowerTransform
from wherry_distribution.transform import ReshapeTransform as ReshapeTransform
from wherry_distribution.transform import SigmoidTransform as SigmoidTransform
from wherry_distribution.transform import SoftmaxTransform as SoftmaxTransform
from wherry_distribution.transform import StackTransform as StackTransform
from wherry_distribution.transform import StickBreakingTransform as StickBreakingTransform
from wherry_distribution.transform import TanhTransform as TanhTransform
from wherry_distribution.transformed import ChainTransform as ChainTransform
from wherry_distribution.transformed import Transform as Transform
__all__: list[str]
