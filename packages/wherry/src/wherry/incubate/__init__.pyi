"""Stub of wherry.incubate, written by tools/stubs.py: where each public name comes from."""
from wherry.incubate import asp as asp
from wherry.incubate import autograd as autograd
from wherry.incubate import autotune as autotune
from wherry.incubate import nn as nn
from wherry.incubate import optimizer as optimizer
from wherry_nn.incubate import identity_loss as identity_loss
from wherry_nn.incubate import softmax_mask_fuse as softmax_mask_fuse
from wherry_nn.incubate import softmax_mask_fuse_upper_triangle as softmax_mask_fuse_upper_triangle
from wherry_sparse.geometric import segment_max as segment_max
from wherry_sparse.geometric import segment_mean as segment_mean
from wherry_sparse.geometric import segment_min as segment_min
from wherry_sparse.geometric import segment_sum as segment_sum
from wherry_sparse.incubate import graph_khop_sampler as graph_khop_sampler
from wherry_sparse.incubate import graph_reindex as graph_reindex
from wherry_sparse.incubate import graph_sample_neighbors as graph_sample_neighbors
from wherry_sparse.incubate import graph_send_recv as graph_send_recv
from wherry_train.optimizer.averages import LookAhead as LookAhead
from wherry_train.optimizer.averages import ModelAverage as ModelAverage
from wherry_train.optimizer.distributed import DistributedFusedLamb as DistributedFusedLamb
__all__: list[str]
