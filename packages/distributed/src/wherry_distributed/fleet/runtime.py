"""`fleet`: the job that this process belongs to, and what makes models and optimizers part of it."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wherry_distributed import grid, pipeline, wrappers
from wherry_distributed.environment import place
from wherry_distributed.fleet import servers
from wherry_distributed.fleet.compression import DGCOptimizer, LarsMomentum, exchange_narrow
from wherry_distributed.fleet.optimizers import (
    GradientMergeOptimizer,
    HybridParallelGradScaler,
    HybridParallelOptimizer,
    LocalSGDOptimizer,
    Wrapped,
)
from wherry_distributed.fleet.programs import StaticOptimizer
from wherry_distributed.fleet.roles import PaddleCloudRoleMaker
from wherry_distributed.fleet.strategy import DistributedStrategy
from wherry_distributed.fleet.utility import UtilBase
from wherry_distributed.parallel import DataParallel
from wherry_distributed.ps.server import Server
from wherry_distributed.ps.statistics import checked_mode
from wherry_distributed.ps.worker import ParameterServers
from wherry_distributed.ranks import get_rank, get_world_size, init_parallel_env, is_initialized
from wherry_distributed.topology import DEGREES, CommunicateTopology, HybridCommunicateGroup, degrees_of
from wherry_nn import Layer, SyncBatchNorm
from wherry_tensor.arguments import require
from wherry_tensor.errors import InvalidTypeError, PreconditionNotMetError, UnimplementedError, short
from wherry_tensor.static_builder import building
from wherry_train.optimizer import Adam, AdamW, Lamb, Momentum


class Fleet:
    """The job that this process belongs to. `paddle.distributed.fleet` has its methods as functions.

    Source:
        `paddle.distributed.fleet.Fleet`.

    Examples:
        >>> fleet = wherry.distributed.fleet
        >>> _ = fleet.init(is_collective=True)
        >>> fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()
        (0, 1, True)
    """

    def __init__(self) -> None:
        self._role_maker: PaddleCloudRoleMaker | None = None
        self._user_defined_strategy = DistributedStrategy()
        self._is_collective = False
        self._hybrid: HybridCommunicateGroup | None = None
        self._optimizer: Any = None
        self._servers: ParameterServers | None = None
        self._server: Server | None = None
        self.util = UtilBase()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None, log_level: Any = "INFO"
    ) -> Fleet:
        """Join the processes, and number them along the kinds of parallelism.

        Args:
            role_maker: says what this process is; None reads it from the environment.
            is_collective: all processes train.
            strategy: its `hybrid_configs` have the degrees.
            log_level: accepted for compatibility.

        Raises:
            TypeError: `strategy` is not a DistributedStrategy.
            ValueError: the degrees do not fit the number of processes.
        """
        if strategy is not None and not isinstance(strategy, DistributedStrategy):
            raise InvalidTypeError(
                f"fleet.init: strategy is not a strategy. Got {short(strategy)} ({type(strategy).__name__}), expected a DistributedStrategy. Make "
                f"one."
            )
        strategy = strategy or DistributedStrategy()
        made = PaddleCloudRoleMaker(is_collective) if role_maker is None else role_maker
        self._role_maker = require(made, PaddleCloudRoleMaker, "fleet.init", "role_maker", "Leave it out to read the environment.")
        job = getattr(self._role_maker, "_job", None)
        self._servers = servers.joined(job)
        if job is not None:
            self._is_collective, self._user_defined_strategy = False, strategy
            return self
        dims = degrees_of(strategy, place().size)
        if place().size > 1 and not is_initialized():
            init_parallel_env()
        names = [DEGREES[name] for name in strategy.hybrid_parallel_order]
        known = grid.current()
        if known is None or (known.topology().get_hybrid_group_names(), known.topology()._dims) != (names, dims):
            grid.set_current(HybridCommunicateGroup(CommunicateTopology(names, dims)))
        self._is_collective = is_collective
        self._user_defined_strategy = strategy
        self._hybrid = grid.current()
        return self

    @property
    def _hcg(self) -> HybridCommunicateGroup:
        """The groups; made for data parallelism where `init` has not been called."""
        if grid.current() is None:
            grid.set_current(HybridCommunicateGroup())
        return grid.current()  # type: ignore[no-any-return]

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """The groups of this process."""
        return self._hcg

    def get_hybrid_parallel_topology(self) -> CommunicateTopology:
        """How processes are numbered."""
        return self._hcg.topology()

    def _own_exchange(self) -> bool:
        """Does the optimizer exchange gradients in a way of its own, not `DataParallel`?"""
        s = self._user_defined_strategy
        return bool(
            s.dgc or s.localsgd or s.adaptive_localsgd or s.fp16_allreduce or s.gradient_scale_configs["scale_strategy"] != "avg")

    def distributed_model(self, model: Any) -> Any:
        """The model as the processes train it: in DataParallel, or divided as `hybrid_configs` says.

        In one process it is the model itself. Mixed precision, recomputation and synchronised batch normalization are as the strategy says.

        Raises:
            TypeError: `model` is not a Layer (also a ValueError), or there are stages and it is not a PipelineLayer.
            NotImplementedError: static mode.
        """
        if building.builder is not None:
            raise UnimplementedError(
                "fleet.distributed_model: it is for eager training. Got a call in static mode, expected one outside of it. In static mode "
                "distributed_optimizer(optimizer).minimize(loss) does all."
            )
        require(model, Layer, "distributed_model", "model", "Pass the model itself.")
        strategy, hcg = self._user_defined_strategy, self._hcg
        if strategy.sync_batch_norm and hcg.nranks > 1:
            model = SyncBatchNorm.convert_sync_batchnorm(model)
        if strategy.recompute:
            wrappers.with_recomputation(model, list(strategy.recompute_configs["checkpoints"]))
        if strategy.amp:
            model = wrappers.with_mixed_precision(model, strategy.amp_configs)
        if hcg.nranks == 1 and not isinstance(model, pipeline.PipelineLayer):
            return model
        if hcg.get_pipe_parallel_world_size() > 1 or isinstance(model, pipeline.PipelineLayer):
            return pipeline.PipelineParallel.of(model, hcg, strategy)
        if hcg.get_model_parallel_world_size() > 1:
            return wrappers.TensorParallel(model, hcg, strategy)
        if hcg.get_sep_parallel_world_size() > 1:
            return wrappers.SegmentParallel(model, hcg, strategy)
        if hcg.get_sharding_parallel_world_size() > 1:
            return wrappers.ShardingParallel(model, hcg, strategy)
        if self._own_exchange():
            return wrappers.ReplicatedModel(model, hcg, strategy)
        size = strategy.fuse_grad_size_in_MB if strategy.fuse_all_reduce_ops else 1e-6
        return DataParallel(
            model, comm_buffer_size=size, last_comm_buffer_size=min(size, strategy.last_comm_group_size_MB),
            find_unused_parameters=strategy.find_unused_parameters)

    def distributed_optimizer(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
        """The optimizer as the processes use it: itself, where `DataParallel` or one process needs nothing else.

        Raises:
            TypeError: `optimizer` is not an optimizer, `strategy` is not a DistributedStrategy, or it asks for another kind of optimizer.
        """
        if not hasattr(optimizer, "minimize"):
            raise InvalidTypeError(
                f"fleet.distributed_optimizer: 'optimizer' is not an optimizer. Got {short(optimizer)}, expected one of paddle.optimizer."
            )
        if strategy is not None:
            remedy = "Make one with fleet.DistributedStrategy()."
            self._user_defined_strategy = require(strategy, DistributedStrategy, "fleet.distributed_optimizer", "strategy", remedy)
        self._optimizer = self._made_of(optimizer, self._user_defined_strategy)
        return self._optimizer

    def minimize(self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None) -> Any:
        """`minimize` of the optimizer that `distributed_optimizer` has made last.

        Raises:
            RuntimeError: there is none.

        Source:
            `paddle.distributed.fleet.Fleet.minimize`.
        """
        if self._optimizer is None:
            raise PreconditionNotMetError(
                "fleet.minimize: there is no optimizer. Got a call before distributed_optimizer(optimizer), expected one after it. Call it first.")
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def _made_of(self, optimizer: Any, chosen: DistributedStrategy) -> Any:
        if self._servers is not None:
            return servers.ServerOptimizer(optimizer, self._servers, chosen)
        optimizer = _replaced(optimizer, chosen)
        if building.builder is not None:
            return StaticOptimizer(optimizer, self._hcg, chosen)
        hcg = self._hcg
        divided = any(hcg._degree(name) > 1 for name in ("pipe", "model", "sharding", "sep"))
        made = optimizer
        if divided and (chosen.localsgd or chosen.adaptive_localsgd):
            raise UnimplementedError(
                f"strategy: localsgd is for models that are divided in no other way. Got degrees {hcg.topology()._dims} along "
                f"{hcg.topology().get_hybrid_group_names()}, expected 1 for all but data. Switch it off."
            )
        if chosen.dgc:
            made = DGCOptimizer(optimizer, hcg, chosen)
        elif chosen.localsgd or chosen.adaptive_localsgd:
            adaptive = chosen.adaptive_localsgd
            configs = chosen.adaptive_localsgd_configs if adaptive else chosen.localsgd_configs
            made = LocalSGDOptimizer(
                optimizer, hcg.get_data_parallel_group(), configs["init_k_steps" if adaptive else "k_steps"], configs["begin_step"], adaptive)
        elif chosen.fp16_allreduce:
            made = HybridParallelOptimizer(optimizer, hcg, chosen, exchange_narrow)
        elif divided or (self._own_exchange() and hcg.nranks > 1):
            made = HybridParallelOptimizer(optimizer, hcg, chosen)
        if chosen.gradient_merge and chosen.gradient_merge_configs["k_steps"] > 1:
            made = GradientMergeOptimizer(made, chosen.gradient_merge_configs["k_steps"], chosen.gradient_merge_configs["avg"])
        return made

    def distributed_scaler(self, scaler: Any) -> Any:
        """The GradScaler as the processes use it: all skip the same steps."""
        return HybridParallelGradScaler(scaler, self._hcg) if self._hcg.nranks > 1 else scaler

    # Who this process is.

    def _role(self) -> PaddleCloudRoleMaker:
        return self._role_maker or PaddleCloudRoleMaker(True)

    def worker_index(self) -> int:
        """Which worker this is; -1 on a server."""
        return self._role()._worker_index()

    def worker_num(self) -> int:
        """How many workers there are."""
        return self._role()._worker_num()

    def node_num(self) -> int:
        """How many machines there are."""
        return int(os.environ.get("PADDLE_NNODES", "1"))

    def is_first_worker(self) -> bool:
        """Is this the first worker?"""
        return self._role()._is_first_worker()

    def is_worker(self) -> bool:
        """Does this process train?"""
        return self._role()._is_worker()

    def is_server(self) -> bool:
        """Does it hold parameters for others?"""
        return self._role()._is_server()

    def is_coordinator(self) -> bool:
        """Does it lead others?"""
        return False

    def worker_endpoints(self, to_string: bool = False) -> Any:
        """Addresses of the workers."""
        found = self._role()._get_trainer_endpoints()
        return ",".join(found) if to_string else found

    def server_num(self) -> int:
        """How many servers there are."""
        return self._role()._server_num()

    def server_index(self) -> int:
        """Which server this is; -1 on a worker."""
        return self._role()._server_index()

    def server_endpoints(self, to_string: bool = False) -> Any:
        """Addresses of the servers."""
        found = self._role()._get_pserver_endpoints()
        return ",".join(found) if to_string else found

    def local_rank(self) -> int:
        """Which process of this machine this is."""
        return place().local_rank

    def local_device_ids(self) -> list[int]:
        """The devices of this process."""
        return [int(each) for each in os.environ.get("FLAGS_selected_gpus", "0").split(",")]  # noqa: SIM112  Paddle's name

    def world_device_ids(self) -> list[list[int]]:
        """The devices of all processes."""
        return self.util.all_gather(self.local_device_ids())

    def rank(self) -> int:
        """Which process this is."""
        return get_rank()

    def world_size(self) -> int:
        """How many processes there are."""
        return get_world_size()

    nranks = world_size

    def barrier_worker(self) -> None:
        """Wait for the other workers."""
        self.util.barrier()

    def init_worker(self, scopes: Any = None) -> None:
        """Meet the parameter servers, after the startup program. Without servers nothing is to be done.

        Raises:
            RuntimeError: the servers do not answer, or have another program.
        """
        if self._servers is not None:
            self._servers.join()

    def stop_worker(self) -> None:
        """Send what is left and end; servers end with their last worker. Without servers nothing is to be done."""
        if self._servers is not None:
            self._servers.leave()

    def init_server(self, dirname: str | None = None, var_names: Sequence[Any] | None = None, **kwargs: Any) -> None:
        """Make the tables of this server.

        Args:
            dirname: a folder of `save_persistables`, from which parameters and the state of their optimizer are taken.
            var_names: variables, or their names, of which to take them; None: all.
            kwargs: no effect.

        Raises:
            RuntimeError: this process is not a server, or `minimize` was not called.
            ValueError: a table is not in the folder.
        """
        self._server = self._required("init_server").serve(dirname, servers.names_of(var_names))

    def run_server(self) -> None:
        """Answer workers until the last of them has ended.

        Raises:
            RuntimeError: `init_server` was not called, or the address is taken.
        """
        if self._server is None:
            raise PreconditionNotMetError("fleet.run_server: the server has no tables. Got no fleet.init_server(), expected it before.")
        self._server.run()

    def shrink(self, threshold: float | None = None) -> None:
        """Let shows and clicks of tables with `ShowClickEntry` fade, and rows go that are not worth their memory. All workers call it.

        A row goes by its score, or when nobody has seen it for `sparse_delete_after_unseen_days`: a day is a save with `mode=3`.

        Args:
            threshold: rows of a lower score go; None takes `sparse_delete_threshold` of `strategy.fleet_desc_configs`, 0.8.

        Raises:
            RuntimeError: there are no parameter servers.

        Source:
            `paddle.distributed.fleet.Fleet.shrink`.
        """
        servers = self._required_servers("shrink")
        self._by_first_worker(servers, lambda: servers.shrink(threshold))

    def _required(self, what: str) -> ParameterServers:
        if self._servers is None or not self.is_server():
            raise PreconditionNotMetError(
                f"fleet.{what}: this process is not a parameter server. Got the role "
                f"{'TRAINER' if self._servers else 'of training without servers'}, expected PSERVER. "
                f"Start the program with python -m wherry.distributed.launch --server_num 1 --worker_num 2, and ask fleet.is_server() first."
            )
        return self._servers

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """The sum, minimum or maximum of what all have."""
        return self.util.all_reduce(input, mode)

    # Files. The first worker writes what all have, and others need not call it; those of a pipeline have to.

    def save(self, dirname: str, feed: Sequence[Any] = (), fetch: Sequence[Any] = (), **configs: Any) -> None:
        """Write the program of static mode: with `feed` and `fetch` as a model for inference, without them its parameters.

        Args:
            dirname: the folder.
            feed, fetch: inputs, by name, and results.
            configs: `program`, `executor`; with parameter servers `mode`.

        Source:
            `paddle.distributed.fleet.save`.
        """
        program = configs.get("program")
        if feed or fetch:
            names = [each if isinstance(each, str) else each.name for each in feed]
            self.save_inference_model(configs.get("executor"), dirname, names, list(fetch), program, mode=configs.get("mode", 0))
        else:
            self.save_persistables(configs.get("executor"), dirname, program, configs.get("mode", 0))

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Write the parameters of a program of static mode, as `model.pdparams` and its relatives in a folder.

        Parameter servers write their tables into the folder, with the state of the optimizer: `init_server(folder)` takes them, on any number
        of servers, and `load_model(folder)` on top of what is there. Updates of other workers are in it that they have flushed: call
        `fleet.barrier_worker()` before, where they all have to be.

        Args:
            executor: no effect.
            dirname: the folder.
            main_program: None takes the default main program.
            mode: which rows of tables with `ShowClickEntry`. 0: all. 1: those of a score of `sparse_base_threshold` or more that has grown by
                `sparse_delta_threshold` since it was saved. 2: the same, grown or not. 3: all, and a day has passed, of which `shrink` forgets
                rows that were not seen for long. Other tables are saved whole.

        Raises:
            ValueError: there is no such mode, or some rows would replace files that have all.
            NotImplementedError: a mode without parameter servers.

        Source:
            `paddle.distributed.fleet.save_persistables`.
        """
        mode = checked_mode(mode, "fleet.save_persistables")
        if self._servers is not None:
            self._servers.flush()
            if self.is_first_worker():
                self._servers.save(dirname, mode)
            return
        _whole(mode, "save_persistables")
        static = _static("save_persistables")
        program = main_program or static.default_main_program()
        with self._brought_together(program, "save_persistables") as others:
            if self.is_first_worker():
                import_module("wherry_graph.static.files").save_values(program, os.path.join(dirname, "model"), others)

    def load_model(self, path: str, mode: int = 0) -> None:
        """Let parameter servers take what `save_persistables` wrote, on top of what they have: rows that are there are replaced. All workers call it.

        Args:
            path: the folder.
            mode: that of the save; the files know themselves.

        Raises:
            RuntimeError: there are no parameter servers, or a table is not in the folder.

        Source:
            `paddle.distributed.fleet.Fleet.load_model`.
        """
        checked_mode(mode, "fleet.load_model")
        servers = self._required_servers("load_model")
        self._by_first_worker(servers, lambda: servers.load(path))

    def save_one_table(self, table_id: int, path: str, mode: int = 0) -> None:
        """Let parameter servers save one table, as `save_persistables` saves all.

        Args:
            table_id: 0 and up: sparse tables in the order of the program, after them all parameters as one table.
            path: the folder.
            mode: that of `save_persistables`.

        Source:
            `paddle.distributed.fleet.Fleet.save_one_table`.
        """
        servers, mode = self._required_servers("save_one_table"), checked_mode(mode, "fleet.save_one_table")
        names = servers.names_of_table(table_id, "fleet.save_one_table")
        self._by_first_worker(servers, lambda: servers.save(path, mode, names))

    def load_one_table(self, table_id: int, path: str, mode: int = 0) -> None:
        """Let parameter servers take one table, as `load_model` takes all.

        Source:
            `paddle.distributed.fleet.Fleet.load_one_table`.
        """
        servers = self._required_servers("load_one_table")
        checked_mode(mode, "fleet.load_one_table")
        names = servers.names_of_table(table_id, "fleet.load_one_table")
        self._by_first_worker(servers, lambda: servers.load(path, names))

    def _required_servers(self, what: str) -> ParameterServers:
        if self._servers is None:
            raise PreconditionNotMetError(
                f"fleet.{what}: there are no parameter servers. Got a job without, expected launch --server_num 1 --worker_num 2. Leave it out.")
        return self._servers

    def _by_first_worker(self, servers: ParameterServers, work: Any) -> None:
        """Let the first worker do something that the others wait for, with the updates of all; all workers call it."""
        servers.flush()
        self.barrier_worker()
        if self.is_first_worker():
            work()
        self.barrier_worker()

    def save_inference_model(
        self, executor: Any, dirname: str, feeded_var_names: Sequence[str], target_vars: Sequence[Any], main_program: Any = None,
        export_for_deployment: bool = True, mode: int = 0,
    ) -> None:
        """Write a program of static mode for inference, as `model.pdmodel` and `model.pdiparams` in a folder.

        Rows of `sparse_embedding` become a parameter, and so do their ids; others read as zeros. The files need no servers. `mode` says which rows,
        as that of `save_persistables`; it does not count as a save of them.

        Source:
            `paddle.distributed.fleet.save_inference_model`.
        """
        static = _static("save_inference_model")
        program = main_program or static.default_main_program()
        servers, mode = self._servers, checked_mode(mode, "fleet.save_inference_model")
        if servers is None:
            _whole(mode, "save_inference_model")
        else:
            servers.flush()
        with self._brought_together(program, "save_inference_model"):
            if not self.is_first_worker():
                return
            if servers is not None and servers.look_ups.get(program):
                targets = [x.name for x in target_vars]
                program = servers.with_tables(program, mode)
                target_vars = [program.global_block().var(name) for name in targets]
            block = program.global_block()
            static.save_inference_model(
                os.path.join(dirname, "model"), [block.var(name) for name in feeded_var_names], list(target_vars), executor or static.Executor(),
                program=program)

    @contextmanager
    def _brought_together(self, program: Any, what: str) -> Iterator[dict[str, Any]]:
        """The state of optimizers that other processes have, by name, after which the first worker writes. Where there is some all call it."""
        if not (isinstance(self._optimizer, StaticOptimizer) and self._optimizer.is_divided):
            yield {}
            return
        yield self._optimizer.bring_together(program, f"fleet.{what}")
        self.barrier_worker()


def _whole(mode: int, what: str) -> None:
    if mode:
        raise UnimplementedError(f"fleet.{what}: modes choose rows of parameter servers. Got mode={mode} without servers, expected 0. Leave it out.")


def _static(what: str) -> Any:
    """`paddle.static`, of a package above this one."""
    if building.builder is None:
        raise UnimplementedError(
            f"fleet.{what}: it writes programs of static mode. Got a call outside of it, expected paddle.enable_static(). Eager models are written "
            f"with paddle.save, or paddle.distributed.save_state_dict where they are divided."
        )
    return import_module("wherry_graph.static")


def _replaced(optimizer: Any, strategy: DistributedStrategy) -> Any:
    """LARS in place of Momentum, Lamb in place of Adam, where the strategy asks for it."""
    if isinstance(optimizer, Wrapped) or not (strategy.lars or strategy.lamb):
        return optimizer
    parameters = list(optimizer._all_parameters()) or None
    common = {"grad_clip": optimizer._grad_clip, "name": optimizer._name}
    if strategy.lars:
        if type(optimizer) is not Momentum:
            raise InvalidTypeError(
                f"strategy: lars is for Momentum. Got {type(optimizer).__name__}, expected a paddle.optimizer.Momentum. Switch lars off.")
        configs = strategy.lars_configs
        return LarsMomentum(
            optimizer._learning_rate, optimizer._momentum, configs["lars_coeff"], configs["lars_weight_decay"], parameters,
            exclude_from_weight_decay=configs["exclude_from_weight_decay"], epsilon=configs["epsilon"],
            multi_precision=optimizer._multi_precision, **common)
    if type(optimizer) not in (Adam, AdamW):
        raise InvalidTypeError(f"strategy: lamb is for Adam. Got {type(optimizer).__name__}, expected a paddle.optimizer.Adam. Switch lamb off.")
    configs = strategy.lamb_configs
    excluded = tuple(configs["exclude_from_weight_decay"])
    return Lamb(
        optimizer._learning_rate, configs["lamb_weight_decay"], optimizer._beta1, optimizer._beta2, optimizer._epsilon, parameters,
        exclude_from_weight_decay_fn=(lambda p: any(part in p.name for part in excluded)) if excluded else None, **common)
