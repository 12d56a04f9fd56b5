"""Stub of wherry_train.io, written by tools/stubs.py: where each public name comes from."""
from wherry_train.io.dataloader import DataLoader as DataLoader
from wherry_train.io.dataset import ChainDataset as ChainDataset
from wherry_train.io.dataset import ComposeDataset as ComposeDataset
from wherry_train.io.dataset import ConcatDataset as ConcatDataset
from wherry_train.io.dataset import Dataset as Dataset
from wherry_train.io.dataset import IterableDataset as IterableDataset
from wherry_train.io.dataset import Subset as Subset
from wherry_train.io.dataset import TensorDataset as TensorDataset
from wherry_train.io.dataset import random_split as random_split
from wherry_train.io.sampler import BatchSampler as BatchSampler
from wherry_train.io.sampler import DistributedBatchSampler as DistributedBatchSampler
from wherry_train.io.sampler import RandomSampler as RandomSampler
from wherry_train.io.sampler import Sampler as Sampler
from wherry_train.io.sampler import SequenceSampler as SequenceSampler
from wherry_train.io.sampler import SubsetRandomSampler as SubsetRandomSampler
from wherry_train.io.sampler import WeightedRandomSampler as WeightedRandomSampler
from wherry_train.io.worker_info import get_worker_info as get_worker_info
__all__: list[str]
