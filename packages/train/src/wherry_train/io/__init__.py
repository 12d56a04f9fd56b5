"""Data sets, samplers and DataLoader."""
# ruff: noqa: F401, F403, F405  each module lists its names
from wherry_train.io import dataset, sampler
from wherry_train.io.dataloader import DataLoader
from wherry_train.io.dataset import *
from wherry_train.io.sampler import *
from wherry_train.io.worker_info import get_worker_info

__all__ = ["DataLoader", "get_worker_info"]
__all__ += dataset.__all__
__all__ += sampler.__all__
