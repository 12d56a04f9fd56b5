"""`paddle.distributed.fleet` for data parallel training: scripts that are written for a cluster run alone and in several processes.

`init` joins the processes, `distributed_model` is DataParallel. Degrees of other kinds of parallelism above one are refused.
"""
from __future__ import annotations

import copy
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import wherry
from wherry import _absent
from wherry._inside.alone import ParallelMode
from wherry_distributed import (
    DataParallel,
    Group,
    all_gather_object,
    barrier,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_initialized,
    sync_params_buffers,
)
from wherry_distributed.environment import place
from wherry_distributed.parallel import fused_allreduce_gradients_with_group
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = [
    "CommunicateTopology", "DistributedStrategy", "Fleet", "HybridCommunicateGroup", "LocalFS", "PaddleCloudRoleMaker", "ParallelMode",
    "RNGStatesTracker", "Role", "UserDefinedRoleMaker", "UtilBase", "barrier_worker", "distributed_model", "distributed_optimizer",
    "distributed_scaler", "fleet", "get_hybrid_communicate_group", "get_rng_state_tracker", "init", "init_worker", "is_first_worker", "is_server",
    "is_worker", "local_rank", "model_parallel_random_seed", "nranks", "rank", "server_endpoints", "server_num", "stop_worker", "util",
    "worker_endpoints", "worker_index", "worker_num", "world_size",
]

_DEGREES = ("dp_degree", "mp_degree", "pp_degree", "sharding_degree", "sep_degree")


class _Configs(dict[str, Any]):
    """Settings of a strategy, also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"strategy: there is no setting {name!r}. Got {name!r}, expected one of {', '.join(self) or 'none'}.") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class DistributedStrategy:
    """How a model is trained by several processes. It keeps what it is told; in one process only `hybrid_configs` is looked at.

    Source: `paddle.distributed.fleet.DistributedStrategy`.
    """

    def __init__(self) -> None:
        degrees = _Configs({"dp_degree": -1, **dict.fromkeys(_DEGREES[1:], 1)})
        degrees.update(mp_configs=_Configs(), pp_configs=_Configs(), sharding_configs=_Configs())
        vars(self).update(_settings={}, _hybrid=degrees)

    @property
    def hybrid_configs(self) -> dict[str, Any]:
        """The degrees of parallelism, and settings of their kinds."""
        found: dict[str, Any] = self.__dict__["_hybrid"]
        return found

    @hybrid_configs.setter
    def hybrid_configs(self, configs: dict[str, Any]) -> None:
        for name, value in configs.items():
            known = self.hybrid_configs.get(name)
            if isinstance(known, dict):
                known.update(value)
            else:
                self.hybrid_configs[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "hybrid_configs":
            type(self).hybrid_configs.__set__(self, value)  # type: ignore[attr-defined]
        elif name.endswith("_configs"):
            getattr(self, name).update(value)
        else:
            self.__dict__["_settings"][name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        settings = self.__dict__["_settings"]
        if name not in settings:
            settings[name] = _Configs() if name.endswith("_configs") else False
        return settings[name]

    def __deepcopy__(self, memo: Any) -> DistributedStrategy:
        made = DistributedStrategy()
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made


class Role:
    """What a process of a cluster does."""

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """Reads from the environment what this process is: a worker."""

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs

    def _worker_index(self) -> int:
        return get_rank()

    def _worker_num(self) -> int:
        return get_world_size()

    def _is_first_worker(self) -> bool:
        return get_rank() == 0

    def _is_worker(self) -> bool:
        return True

    def _is_server(self) -> bool:
        return False

    def _barrier(self, comm_world: Any = None) -> None:
        barrier()

    def _all_gather(self, input: Any, comm_world: Any = "worker") -> list[Any]:
        return UtilBase().all_gather(input)

    def _all_reduce(self, input: Any, mode: str = "sum", comm_world: Any = "worker") -> Any:
        return UtilBase().all_reduce(input, mode)


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Is told what this process is: the only worker."""

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        if kwargs.get("worker_num", 1) not in (0, 1, get_world_size()):
            raise InvalidArgumentError(
                f"UserDefinedRoleMaker: other processes were started. Got worker_num={kwargs['worker_num']}, expected {get_world_size()}. "
                f"Start as many with python -m wherry.distributed.launch."
            )
        super().__init__(is_collective, **kwargs)


class UtilBase:
    """Collectives of objects. Source: `paddle.distributed.fleet.UtilBase`."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The sum, minimum or maximum of what all have."""
        if mode not in ("sum", "min", "max"):
            raise InvalidArgumentError(f"all_reduce: mode is not known. Got {short(mode)}, expected 'sum', 'min' or 'max'. Choose one.")
        mine = np.asarray(input)
        found = getattr(np, mode)([np.asarray(each) for each in self.all_gather(mine)], axis=0) if get_world_size() > 1 else mine
        return found if isinstance(input, (list, tuple, np.ndarray)) else type(input)(found)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """What all have, in a list."""
        found: list[Any] = []
        all_gather_object(found, input)
        return found

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait for the others."""
        barrier()

    def get_file_shard(self, files: Sequence[str]) -> list[str]:
        """The files of a list that this process reads: a part of them, of the same length but for one."""
        if not isinstance(files, list):
            raise TypeError(f"get_file_shard: files should be a list of file need to be read. Got {short(files)}, expected a list. Pass [file].")
        share, rest = divmod(len(files), get_world_size())
        begin = get_rank() * share + min(get_rank(), rest)
        return files[begin : begin + share + (get_rank() < rest)]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print where the rank is this one."""
        if rank_id == get_rank():
            print(message)


class CommunicateTopology:
    """How processes are numbered along the kinds of parallelism: all along the first, data parallelism."""

    def __init__(
        self, hybrid_group_names: Sequence[str] = ("data", "pipe", "sharding", "sep", "model"), dims: Sequence[int] = (1, 1, 1, 1, 1)
    ) -> None:
        self._names, self._dims = list(hybrid_group_names), [int(dim) for dim in dims]
        others = [dim for name, dim in zip(self._names, self._dims, strict=True) if name != "data"]
        if any(dim != 1 for dim in others):
            raise UnimplementedError(
                f"CommunicateTopology: models that are divided among processes are not there yet. Got {self._dims} along {self._names}, expected 1 "
                f"for all but data. Set the other degrees to 1."
            )

    def get_hybrid_group_names(self) -> list[str]:
        """The kinds of parallelism."""
        return self._names

    def get_dim(self, axis_name: str) -> int:
        """How many there are along a kind."""
        return self._dims[self._names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """How many processes there are."""
        return math.prod(self._dims)

    def get_rank(self, **coordinates: int) -> int:
        """The number of a process."""
        return coordinates.get("data", 0)

    def get_coord(self, rank: int) -> tuple[int, ...]:
        """Where a process stands."""
        return tuple(rank if name == "data" else 0 for name in self._names)


class HybridCommunicateGroup:
    """The groups that a process belongs to: all for data parallelism, else itself. Source: `paddle.distributed.fleet.HybridCommunicateGroup`."""

    def __init__(self, topology: CommunicateTopology | None = None) -> None:
        self.nranks, self.global_rank = get_world_size(), get_rank()
        self._topo = topology or CommunicateTopology(dims=(self.nranks, 1, 1, 1, 1))

    def topology(self) -> CommunicateTopology:
        """The numbers of the processes."""
        return self._topo

    def get_parallel_mode(self) -> None:
        """No kind is in use."""
        return

    def get_global_rank(self) -> int:
        """The number of this process."""
        return self.global_rank

    def get_stage_id(self) -> int:
        """The stage of the pipeline."""
        return 0

    def get_rank_from_stage(self, stage_id: int, **kwargs: Any) -> int:
        """The process of a stage."""
        return 0


def _add_kinds() -> None:
    def constant(value: Any, doc: str) -> Any:
        def get(self: HybridCommunicateGroup, *args: Any, **kwargs: Any) -> Any:
            return Group(0, -1, [self.global_rank], name="_alone") if value is Group else value

        get.__doc__ = doc
        return get

    for kind in ("data", "model", "pipe", "sharding", "sep", "check", "dp_sep"):
        for what, value, doc in (
            ("_parallel_rank", 0, "The place of this process."), ("_parallel_world_size", 1, "How many there are."),
            ("_parallel_group", Group, "The group."), ("_parallel_group_src_rank", 0, "The first process of the group."),
        ):
            setattr(HybridCommunicateGroup, f"get_{kind}{what}", constant(value, doc))
    for what, doc, get in (
        ("_parallel_rank", "The place of this process.", lambda self: self.global_rank),
        ("_parallel_world_size", "How many there are.", lambda self: self.nranks),
        ("_parallel_group", "The group of all.", lambda self: get_group(0)),
    ):
        get.__doc__ = doc
        setattr(HybridCommunicateGroup, f"get_data{what}", get)
    HybridCommunicateGroup.is_first_stage = HybridCommunicateGroup.is_last_stage = property(lambda self: True)  # type: ignore[attr-defined]


_add_kinds()


class RNGStatesTracker:
    """Random states under names: parts of a model that draw the same numbers in all processes, or others. Source: `get_rng_state_tracker`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all."""
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def add(self, name: str, seed: int) -> None:
        """A state, as it is after `seed(seed)`.

        Raises:
            ValueError: the name or the seed is there already.
        """
        if seed in self.seeds_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: seed {seed} already exists. Got {seed}, expected another. Each state has a seed of its own."
            )
        if name in self.states_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: state {name} already exists. Got {short(name)}, expected a new name. Call reset() before."
            )
        before = wherry.get_rng_state()
        wherry.seed(seed)
        self.states_[name] = wherry.get_rng_state()
        self.seeds_.add(seed)
        wherry.set_rng_state(before)

    def get_states_tracker(self) -> dict[str, Any]:
        """The states by name."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Take these states."""
        self.states_ = states

    @contextmanager
    def rng_state(self, name: str = "model_parallel_rng") -> Iterator[None]:
        """Draw from a state inside of the block; it goes on where it was left.

        Raises:
            ValueError: there is no such state.
        """
        if name not in self.states_:
            raise InvalidArgumentError(
                f"RNGStatesTracker: state {name} does not exist. Got {short(name)}, expected one of {list(self.states_)}. Call add(name, seed)."
            )
        before = wherry.get_rng_state()
        wherry.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = wherry.get_rng_state()
            wherry.set_rng_state(before)


_tracker = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The tracker of the process."""
    return _tracker


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Begin with a seed, and one of its own for what is divided."""
    seed = 1024 if seed is None else seed
    _tracker.reset()
    _tracker.add("model_parallel_rng", seed + 1024)
    wherry.seed(seed)


class Fleet:
    """The cluster: one process. Source: `paddle.distributed.fleet.Fleet`."""

    def __init__(self) -> None:
        self._role_maker: PaddleCloudRoleMaker | None = None
        self._user_defined_strategy = DistributedStrategy()
        self._hcg = HybridCommunicateGroup()
        self.util = UtilBase()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None, log_level: Any = "INFO"
    ) -> Fleet:
        """Begin.

        Raises:
            NotImplementedError: a degree of parallelism other than that of data is above one.
        """
        strategy = strategy or DistributedStrategy()
        for name in _DEGREES:
            if strategy.hybrid_configs.get(name, 1) not in ((-1, 1) if name != "dp_degree" else (-1, 1, get_world_size())):
                raise UnimplementedError(
                    f"fleet.init: models that are divided among processes are not there yet. Got {name}={strategy.hybrid_configs[name]}, expected "
                    f"{get_world_size() if name == 'dp_degree' else 1}. Set the degrees to 1; data parallel training takes all processes."
                )
        if place().size > 1 and not is_initialized():
            init_parallel_env()
        self._hcg = HybridCommunicateGroup()
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective)
        self._user_defined_strategy = strategy
        return self

    def distributed_model(self, model: Any) -> Any:
        """The model, in DataParallel where there are several processes."""
        return DataParallel(model) if get_world_size() > 1 else model

    def distributed_optimizer(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
        """The optimizer as it is."""
        return optimizer

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler as it is."""
        return scaler

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """The groups of this process."""
        return self._hcg

    def worker_index(self) -> int:
        """Which worker this is."""
        return get_rank()

    def worker_num(self) -> int:
        """How many workers there are."""
        return get_world_size()

    def node_num(self) -> int:
        """How many machines there are."""
        return int(os.environ.get("PADDLE_NNODES", "1"))

    def is_first_worker(self) -> bool:
        """Is this the first worker?"""
        return get_rank() == 0

    def is_worker(self) -> bool:
        """Does this process train?"""
        return True

    def is_server(self) -> bool:
        """Does it hold parameters for others?"""
        return False

    def is_coordinator(self) -> bool:
        """Does it lead others?"""
        return False

    def worker_endpoints(self, to_string: bool = False) -> Any:
        """Addresses of the workers."""
        found = os.environ.get("PADDLE_TRAINER_ENDPOINTS", os.environ.get("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6170"))
        return found if to_string else found.split(",")

    def server_num(self) -> int:
        """How many servers there are."""
        return 0

    def server_index(self) -> int:
        """Which server this is."""
        return 0

    def server_endpoints(self, to_string: bool = False) -> Any:
        """Addresses of the servers."""
        return "" if to_string else []

    def local_rank(self) -> int:
        """Which process of this machine this is."""
        return place().local_rank

    def rank(self) -> int:
        """Which process this is."""
        return get_rank()

    def world_size(self) -> int:
        """How many processes there are."""
        return get_world_size()

    nranks = world_size

    def barrier_worker(self) -> None:
        """Wait for the other workers."""
        barrier()

    def init_worker(self, scopes: Any = None) -> None:
        """Begin as a worker."""

    def stop_worker(self) -> None:
        """End as a worker."""

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """The sum, minimum or maximum of what all have."""
        return self.util.all_reduce(input, mode)

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Save the parameters of a program."""
        wherry.static.save(main_program or wherry.static.default_main_program(), os.path.join(dirname, "model"))


fleet = Fleet()
util = fleet.util
init, distributed_model = fleet.init, fleet.distributed_model
distributed_optimizer, distributed_scaler = fleet.distributed_optimizer, fleet.distributed_scaler
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
worker_index, worker_num, is_first_worker, worker_endpoints = fleet.worker_index, fleet.worker_num, fleet.is_first_worker, fleet.worker_endpoints
is_worker, is_server, server_num = fleet.is_worker, fleet.is_server, fleet.server_num
server_index, server_endpoints = fleet.server_index, fleet.server_endpoints
local_rank, rank, nranks, world_size, node_num = fleet.local_rank, fleet.rank, fleet.nranks, fleet.world_size, fleet.node_num
barrier_worker, init_worker, stop_worker, is_coordinator = fleet.barrier_worker, fleet.init_worker, fleet.stop_worker, fleet.is_coordinator
save_persistables, all_reduce = fleet.save_persistables, fleet.all_reduce


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Average the gradients of all processes."""
    fused_allreduce_gradients_with_group(parameter_list, None)


def broadcast_parameters(model: Any, hcg: Any) -> None:
    """Give all processes the parameters of rank 0."""
    sync_params_buffers(model)


def obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """All parameters of an optimizer, those of groups too."""
    found = []
    for each in optimizer._parameter_list:
        found += list(each["params"]) if isinstance(each, dict) else [each]
    return found


class LocalFS:
    """Files of this machine. Source: `paddle.distributed.fleet.utils.LocalFS`."""

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Folders and files in a folder."""
        if not self.is_exist(fs_path):
            return [], []
        names = sorted(os.listdir(fs_path))
        return [n for n in names if os.path.isdir(os.path.join(fs_path, n))], [n for n in names if not os.path.isdir(os.path.join(fs_path, n))]

    def list_dirs(self, fs_path: str) -> list[str]:
        """Folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def is_exist(self, fs_path: str) -> bool:
        """Is there such a path?"""
        return os.path.exists(fs_path)

    def is_dir(self, fs_path: str) -> bool:
        """Is it a folder?"""
        return os.path.isdir(fs_path)

    def is_file(self, fs_path: str) -> bool:
        """Is it a file?"""
        return os.path.isfile(fs_path)

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder and those above."""
        os.makedirs(fs_path, exist_ok=True)

    def delete(self, fs_path: str) -> None:
        """Remove a file or a folder."""
        if os.path.isdir(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.exists(fs_path):
            os.remove(fs_path)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a path another name."""
        os.rename(fs_src_path, fs_dst_path)

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Move a path.

        Raises:
            FileExistsError: the new one exists, and `overwrite` is False.
        """
        if os.path.exists(dst_path):
            if not overwrite:
                raise FileExistsError(f"LocalFS.mv: {dst_path} exists. Got it, expected a new path. Pass overwrite=True.")
            self.delete(dst_path)
        os.rename(src_path, dst_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file."""
        with open(fs_path, "a" if exist_ok else "x"):
            pass

    def upload(self, local_path: str, fs_path: str) -> None:
        """Copy a file: both lie on this machine."""
        shutil.copy(local_path, fs_path)

    download = upload

    def need_upload_download(self) -> bool:
        """Are files elsewhere?"""
        return False

    def cat(self, fs_path: str) -> str:
        """What a file holds."""
        with open(fs_path, encoding="utf-8") as file:
            return file.read()


class _Timer:
    """Measures what lies between `start` and `stop`."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Begin."""
        self._since = time.perf_counter()

    def stop(self) -> None:
        """End."""
        if self._since is not None:
            self._sum += time.perf_counter() - self._since
            self._since = None

    def reset(self) -> None:
        """Back to 0."""
        self._sum = 0.0

    def elapsed(self, reset: bool = True) -> float:
        """Seconds so far."""
        running = self._since is not None
        self.stop()
        found = self._sum
        if reset:
            self.reset()
        if running:
            self.start()
        return found


class _Timers:
    def __init__(self) -> None:
        self.timers: dict[str, _Timer] = {}

    def __call__(self, name: str) -> _Timer:
        return self.timers.setdefault(name, _Timer())

    def info(self, names: Sequence[str], normalizer: float = 1.0, reset: bool = True) -> str:
        """Milliseconds of timers, as text."""
        return "time (ms)" + "".join(f" | {n}: {self.timers[n].elapsed(reset) * 1e3 / normalizer:.2f}" for n in names)

    log = info


_timers: _Timers | None = None


def get_timers() -> _Timers | None:
    """The timers of the process; None before `set_timers`."""
    return _timers


def set_timers() -> None:
    """Make timers."""
    global _timers
    _timers = _Timers()


__getattr__ = _absent.looked_up("wherry.distributed.fleet")
