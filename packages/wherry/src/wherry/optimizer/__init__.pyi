"""Stub of wherry.optimizer, written by tools/stubs.py: where each public name comes from."""
from wherry.optimizer import lr as lr
from wherry_train.optimizer.adam import Adam as Adam
from wherry_train.optimizer.adam import AdamW as AdamW
from wherry_train.optimizer.adam import Adamax as Adamax
from wherry_train.optimizer.adam import Lamb as Lamb
from wherry_train.optimizer.adaptive import Adadelta as Adadelta
from wherry_train.optimizer.adaptive import Adagrad as Adagrad
from wherry_train.optimizer.adaptive import RMSProp as RMSProp
from wherry_train.optimizer.descent import Momentum as Momentum
from wherry_train.optimizer.descent import SGD as SGD
from wherry_train.optimizer.later import NAdam as NAdam
from wherry_train.optimizer.later import RAdam as RAdam
from wherry_train.optimizer.later import Rprop as Rprop
from wherry_train.optimizer.lbfgs import LBFGS as LBFGS
from wherry_train.optimizer.optimizer import Optimizer as Optimizer
__all__: list[str]
