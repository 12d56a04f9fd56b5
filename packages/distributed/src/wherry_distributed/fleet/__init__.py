"""`paddle.distributed.fleet`: one strategy for a job of several processes."""
from wherry_distributed.data_generator import DataGenerator, MultiSlotDataGenerator, MultiSlotStringDataGenerator
from wherry_distributed.datasets import DatasetBase, InMemoryDataset, QueueDataset
from wherry_distributed.fleet import metrics
from wherry_distributed.fleet.files import HDFSClient, LocalFS
from wherry_distributed.fleet.roles import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from wherry_distributed.fleet.runtime import Fleet
from wherry_distributed.fleet.strategy import DistributedStrategy
from wherry_distributed.fleet.utility import UtilBase
from wherry_distributed.random_states import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from wherry_distributed.recomputing import recompute, recompute_hybrid, recompute_sequential
from wherry_distributed.topology import CommunicateTopology, HybridCommunicateGroup, ParallelMode

fleet = Fleet()
util = fleet.util
init, distributed_model, minimize = fleet.init, fleet.distributed_model, fleet.minimize
distributed_optimizer, distributed_scaler = fleet.distributed_optimizer, fleet.distributed_scaler
get_hybrid_communicate_group, get_hybrid_parallel_topology = fleet.get_hybrid_communicate_group, fleet.get_hybrid_parallel_topology
worker_index, worker_num, is_first_worker, worker_endpoints = fleet.worker_index, fleet.worker_num, fleet.is_first_worker, fleet.worker_endpoints
is_worker, is_server, server_num, is_coordinator = fleet.is_worker, fleet.is_server, fleet.server_num, fleet.is_coordinator
server_index, server_endpoints, init_server, run_server = fleet.server_index, fleet.server_endpoints, fleet.init_server, fleet.run_server
local_rank, rank, nranks, world_size, node_num = fleet.local_rank, fleet.rank, fleet.nranks, fleet.world_size, fleet.node_num
local_device_ids, world_device_ids = fleet.local_device_ids, fleet.world_device_ids
barrier_worker, init_worker, stop_worker = fleet.barrier_worker, fleet.init_worker, fleet.stop_worker
save, save_persistables, save_inference_model, all_reduce = fleet.save, fleet.save_persistables, fleet.save_inference_model, fleet.all_reduce
shrink, load_model, save_one_table, load_one_table = fleet.shrink, fleet.load_model, fleet.save_one_table, fleet.load_one_table

__all__ = [
    "CommunicateTopology", "DataGenerator", "DatasetBase", "DistributedStrategy", "Fleet", "HDFSClient", "HybridCommunicateGroup", "InMemoryDataset",
    "LocalFS", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator", "PaddleCloudRoleMaker", "ParallelMode", "QueueDataset", "RNGStatesTracker",
    "Role", "UserDefinedRoleMaker", "UtilBase", "all_reduce", "barrier_worker", "distributed_model", "distributed_optimizer", "distributed_scaler",
    "fleet", "get_hybrid_communicate_group", "get_hybrid_parallel_topology", "get_rng_state_tracker", "init", "init_server", "init_worker",
    "is_coordinator", "is_first_worker", "is_server", "is_worker", "load_model", "load_one_table", "local_device_ids", "local_rank", "metrics",
    "minimize", "model_parallel_random_seed", "node_num", "nranks", "rank", "recompute", "recompute_hybrid", "recompute_sequential", "run_server",
    "save", "save_inference_model", "save_one_table", "save_persistables", "server_endpoints", "server_index", "server_num", "shrink", "stop_worker",
    "util", "worker_endpoints", "worker_index", "worker_num", "world_device_ids", "world_size",
]
