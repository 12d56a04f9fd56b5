"""Stub of wherry_train, written by tools/stubs.py: where each public name comes from."""
from wherry_train.checkpoint import Checkpoint as Checkpoint
from wherry_train.diagnosis import doctor as doctor
from wherry_train.model import Model as Model
from wherry_train.serialization import load as load
from wherry_train.serialization import save as save
from wherry_train.state import random_state as random_state
from wherry_train.state import seed_everything as seed_everything
from wherry_train.state import set_random_state as set_random_state
from wherry_train.tables import flops as flops
from wherry_train.tables import summary as summary
__all__: list[str]
__version__: str
