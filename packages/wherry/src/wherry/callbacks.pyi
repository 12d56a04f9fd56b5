"""Stub of wherry.callbacks, written by tools/stubs.py: where each public name comes from."""
from wherry_train.callbacks import Callback as Callback
from wherry_train.callbacks import EarlyStopping as EarlyStopping
from wherry_train.callbacks import LRScheduler as LRScheduler
from wherry_train.callbacks import ModelCheckpoint as ModelCheckpoint
from wherry_train.callbacks import ProgBarLogger as ProgBarLogger
from wherry_train.callbacks import ReduceLROnPlateau as ReduceLROnPlateau
from wherry_train.callbacks import ResumeTraining as ResumeTraining
from wherry_train.callbacks import VisualDL as VisualDL
from wherry_train.callbacks import WandbCallback as WandbCallback
__all__: list[str]
