"""Training with several processes: `paddle.distributed`."""
from wherry_distributed import stream
from wherry_distributed.auto_parallel import dtensor_from_fn, reshard, shard_layer, shard_optimizer, shard_tensor
from wherry_distributed.board import CollectiveError
from wherry_distributed.checkpoint import load_state_dict, save_state_dict, training_state
from wherry_distributed.collective import (
    P2POp,
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    irecv,
    isend,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    wait,
)
from wherry_distributed.datasets import InMemoryDataset, QueueDataset
from wherry_distributed.deterministic import backward_of_shards
from wherry_distributed.environment import ParallelEnv
from wherry_distributed.parallel import DataParallel, sync_params_buffers
from wherry_distributed.placement import Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard
from wherry_distributed.ps.entries import CountFilterEntry, ProbabilityEntry, ShowClickEntry
from wherry_distributed.ranks import (
    get_backend,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
)
from wherry_distributed.sequence_parallel import ring_attention
from wherry_distributed.spawning import spawn
from wherry_distributed.world import Group, destroy_process_group, get_group, new_group

__version__ = "0.3.0"

__all__ = [
    "CollectiveError", "CountFilterEntry", "DataParallel", "Group", "InMemoryDataset", "P2POp", "ParallelEnv", "Partial", "Placement",
    "ProbabilityEntry", "ProcessMesh", "QueueDataset", "ReduceOp", "ReduceType", "Replicate", "Shard", "ShowClickEntry", "all_gather",
    "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "backward_of_shards", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "destroy_process_group", "dtensor_from_fn", "gather", "gather_object", "get_backend", "get_group", "get_rank",
    "get_world_size", "init_parallel_env", "irecv", "is_available", "is_initialized", "isend", "load_state_dict", "new_group", "recv", "reduce",
    "reduce_scatter", "reshard", "ring_attention", "save_state_dict", "scatter", "scatter_object_list", "send", "shard_layer", "shard_optimizer",
    "shard_tensor", "spawn", "stream", "sync_params_buffers", "training_state", "wait",
]
