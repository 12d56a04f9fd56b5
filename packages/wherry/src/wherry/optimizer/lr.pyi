"""Stub of wherry.optimizer.lr, written by tools/stubs.py: where each public name comes from."""
from wherry_train.optimizer.lr import CosineAnnealingDecay as CosineAnnealingDecay
from wherry_train.optimizer.lr import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from wherry_train.optimizer.lr import CyclicLR as CyclicLR
from wherry_train.optimizer.lr import ExponentialDecay as ExponentialDecay
from wherry_train.optimizer.lr import InverseTimeDecay as InverseTimeDecay
from wherry_train.optimizer.lr import LRScheduler as LRScheduler
from wherry_train.optimizer.lr import LambdaDecay as LambdaDecay
from wherry_train.optimizer.lr import LinearLR as LinearLR
from wherry_train.optimizer.lr import LinearWarmup as LinearWarmup
from wherry_train.optimizer.lr import MultiStepDecay as MultiStepDecay
from wherry_train.optimizer.lr import MultiplicativeDecay as MultiplicativeDecay
from wherry_train.optimizer.lr import NaturalExpDecay as NaturalExpDecay
from wherry_train.optimizer.lr import NoamDecay as NoamDecay
from wherry_train.optimizer.lr import OneCycleLR as OneCycleLR
from wherry_train.optimizer.lr import PiecewiseDecay as PiecewiseDecay
from wherry_train.optimizer.lr import PolynomialDecay as PolynomialDecay
from wherry_train.optimizer.lr import ReduceOnPlateau as ReduceOnPlateau
from wherry_train.optimizer.lr import StepDecay as StepDecay
__all__: list[str]
