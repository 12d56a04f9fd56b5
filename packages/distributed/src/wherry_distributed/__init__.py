"""Training with several processes: `paddle.distributed`."""
from importlib import import_module as _import_module

__version__ = "0.9.0"

# Each module is imported when one of its names is first used: a launcher needs none of them, a rank few before it has joined the others.
_LATER = {
    "auto_parallel": "dtensor_from_fn reshard shard_layer shard_optimizer shard_tensor",
    "board": "CollectiveError",
    "checkpoint": "load_state_dict save_state_dict training_state",
    "collective": """
        P2POp ReduceOp all_gather all_gather_object all_reduce alltoall alltoall_single barrier batch_isend_irecv broadcast broadcast_object_list
        gather gather_object irecv isend recv reduce reduce_scatter scatter scatter_object_list send wait
    """,
    "datasets": "InMemoryDataset QueueDataset",
    "deterministic": "backward_of_shards",
    "environment": "ParallelEnv",
    "parallel": "DataParallel sync_params_buffers",
    "placement": "Partial Placement ProcessMesh ReduceType Replicate Shard",
    "ps.entries": "CountFilterEntry ProbabilityEntry ShowClickEntry",
    "ranks": "get_backend get_rank get_world_size init_parallel_env is_available is_initialized",
    "sequence_parallel": "ring_attention",
    "spawning": "spawn",
    "stream": "",
    "world": "Group destroy_process_group get_group new_group",
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = sorted(["stream", *_MODULE_OF])


def __getattr__(name: str) -> object:
    if name == "stream":
        return _import_module(f"{__name__}.stream")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(f"{__name__}.{_MODULE_OF[name]}"), name)  # a collective is not looked up again
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
