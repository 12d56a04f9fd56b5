"""`fleet` in static mode: what a strategy asks for, written into the programs.

`minimize` lets the program compute gradients, adds nodes that exchange them, and the update; the startup program gets nodes that make
parameters equal. A node calls Python when the program runs (`py_func`), so all nodes of a kind are one.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from wherry_autograd import no_grad
from wherry_distributed import grid
from wherry_distributed.collective import ReduceOp, all_gather_object, all_reduce
from wherry_distributed.fleet.compression import Compressed, exchange_narrow
from wherry_distributed.fleet.optimizers import ClipByNormOfAll, Wrapped, owners_of
from wherry_distributed.fleet.sections import sections_of, write_section
from wherry_distributed.gradients import broadcast_tensors, buckets, flattened, reduce_gradients, write_back
from wherry_distributed.model_parallel import reduced
from wherry_distributed.sequence_parallel import is_sequence_parallel_parameter
from wherry_distributed.topology import CommunicateTopology, HybridCommunicateGroup
from wherry_distributed.world import Group
from wherry_nn.clip import ClipGradByGlobalNorm
from wherry_program.program.control import py_func
from wherry_tensor import Tensor, ops, to_tensor, where
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from wherry_tensor.static_builder import at_once, building, lasting
from wherry_train.optimizer import SGD, Momentum


class _Held:
    """A gradient of a program while it runs, as the functions that exchange gradients of parameters take it."""

    stop_gradient = False

    def __init__(self, name: str, grad: Tensor) -> None:
        self.name, self.grad = name, grad
        self.size, self.shape = grad.size, grad.shape


class StaticOptimizer(Wrapped):
    """An optimizer whose `minimize` writes the strategy into the program of the loss.

    Gradients are averaged over all processes that see different samples (or summed, or sent in 16 bits, or only the largest of them, as the
    strategy says); with `sharding` each process updates some parameters; with `localsgd` parameters are averaged, not gradients; with
    `gradient_merge` every k-th run updates.
    """

    def __init__(self, optimizer: Any, hcg: HybridCommunicateGroup, strategy: Any) -> None:
        if strategy.amp:
            amp = import_module("wherry_graph.static.amp")
            configs = strategy.amp_configs
            lists = amp.AutoMixedPrecisionLists(configs["custom_white_list"] or None, configs["custom_black_list"] or None)
            optimizer = amp.decorate(
                optimizer, lists, init_loss_scaling=configs["init_loss_scaling"], use_dynamic_loss_scaling=configs["use_dynamic_loss_scaling"],
                use_pure_fp16=configs["use_pure_fp16"])
        super().__init__(optimizer)
        self._hcg, self._strategy = hcg, strategy
        self._mixed = hasattr(optimizer, "get_loss_scaling")
        if self._mixed:
            optimizer._agreed = self._agreed
        self._compressed: Compressed | None = None
        self._shared: dict[str, Group] = {}  # parameters that several sections of a pipeline use, and the processes of these
        self._keepers: dict[str, int] = {}   # of a pipeline: the section whose process has the value of a variable that lasts
        if strategy.dgc:
            if type(optimizer) is not Momentum:
                raise InvalidTypeError(f"strategy: dgc is for Momentum. Got {type(optimizer).__name__}, expected a paddle.optimizer.Momentum.")
            configs = strategy.dgc_configs
            if configs["rampup_begin_step"]:
                raise UnimplementedError(
                    "strategy: in static mode dgc chooses values from the first step on. Got rampup_begin_step above 0, expected 0. Train eagerly, "
                    "or "
                    "leave it out."
                )
            self._compressed = Compressed(optimizer._momentum, configs["sparsity"], 0, configs["rampup_step"])
            self._inner_opt = SGD(
                optimizer._learning_rate, list(optimizer._all_parameters()) or None, weight_decay=optimizer.regularization,
                grad_clip=optimizer._grad_clip)

    @property
    def _groups_of_samples(self) -> list[Group]:
        """Groups of processes that see different samples."""
        return [each for each in (self._hcg.get_dp_sep_parallel_group(), self._hcg.get_sharding_parallel_group()) if each.nranks > 1]

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Let the program of `loss` take steps, with the other processes."""
        assert building.builder is not None
        result: tuple[list[Any], list[tuple[Any, Any]]] = building.builder.minimize(self, loss, startup_program, parameters, no_grad_set)
        self._make_equal_at_start([p for p, _ in result[1]], startup_program)
        return result

    def backward(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None, callbacks: Any = None
    ) -> list[tuple[Any, Any]]:
        """Gradients, averaged over the processes; of a pipeline those of this process's section, which alone is left in the program."""
        pairs: list[tuple[Any, Any]]
        p: Any
        if self._has_sections(loss):
            chosen = parameters or list(self._inner_opt._all_parameters()) or None
            loss = self._inner_opt._scaled(loss) if self._mixed else loss
            pairs, self._shared, self._keepers = write_section(loss, self._hcg, self._strategy.pipeline_configs, chosen, no_grad_set)
            for p, _ in pairs:  # a norm over all processes counts it once
                p.is_firstly_shared = p.name not in self._shared or self._shared[p.name].rank == 0
        else:
            pairs = self._inner_opt.backward(loss, startup_program, parameters, no_grad_set, callbacks)
        pairs = [(p, self._of_whole_sequence(p, g)) for p, g in pairs]
        if not pairs or not self._groups_of_samples or self._strategy.localsgd or self._strategy.adaptive_localsgd:
            return pairs
        names = [p.name for p, _ in pairs]
        exchange = self._exchange()

        def exchanged(*grads: Tensor) -> list[Tensor]:
            held = [_Held(name, g.clone()) for name, g in zip(names, grads, strict=True)]
            for group in self._groups_of_samples:
                exchange(held, group)
            if self._compressed is not None:
                self._compressed.steps += 1
            return [each.grad for each in held]

        found = py_func(exchanged, [g for _, g in pairs], [(g.sizes, g.dtype) for _, g in pairs])
        return [(p, g) for (p, _), g in zip(pairs, found, strict=True)]

    def _agreed(self, finite: Any) -> Any:
        """Of a mixed precision optimizer: are the gradients of all parts of the model finite? All processes take the same steps."""
        hcg = self._hcg
        groups = [hcg.get_model_parallel_group(), hcg.get_pipe_parallel_group(), hcg.get_sharding_parallel_group()]
        for group in groups:
            if group.nranks > 1:
                finite = reduced(ops.full(shape=(), value=True, dtype=as_dtype("bool")) if finite is None else finite, group, ReduceOp.MIN)
        return finite

    def _of_whole_sequence(self, p: Any, g: Any) -> Any:
        """A gradient, added up over the processes that divide the sequence between divided layers, where a parameter is used there."""
        group = self._hcg.get_model_parallel_group()
        return reduced(g, group) if group.nranks > 1 and is_sequence_parallel_parameter(p) else g

    def _has_sections(self, loss: Any) -> bool:
        """Is the program a pipeline? Where the strategy says so without `pp_degree`, there are as many stages as the program has sections."""
        stages = self._hcg.get_pipe_parallel_world_size()
        if stages > 1 or not self._strategy.pipeline:
            return stages > 1
        names, dims = self._hcg.topology().get_hybrid_group_names(), list(self._hcg.topology()._dims)
        count, data, pipe = max(sections_of(loss.program), default=0) + 1, names.index("data"), names.index("pipe")
        if count == 1:
            return False
        if dims[data] % count:
            raise InvalidArgumentError(
                f"strategy: the sections of a pipeline do not divide the processes. Got {count} sections (device_guard) for {dims[data]} processes, "
                f"expected a divisor of {dims[data]}. Start more processes."
            )
        dims[data], dims[pipe] = dims[data] // count, count
        grid.set_current(HybridCommunicateGroup(CommunicateTopology(names, dims)))
        self._hcg = grid.current()
        return True

    @property
    def is_divided(self) -> bool:
        """Have processes values of the program that others have not?"""
        return bool(self._keepers) or self._hcg.get_sharding_parallel_world_size() > 1

    def bring_together(self, program: Any, op_name: str) -> dict[str, Tensor]:
        """Give all processes the values that the sections of a pipeline have, to be saved by one of them. All call it.

        Returns:
            The state of the optimizers of the other processes, by name: of other sections, or of parameters that others update.

        Raises:
            NotImplementedError: layers are divided, so that no process has the whole of their parameters.
        """
        divided = [p.name for p in program.all_parameters() if getattr(p, "is_distributed", False)]
        if divided:
            raise UnimplementedError(
                f"{op_name}: a process has a part of a divided layer's parameter. Got '{divided[0]}', expected parameters that are whole. Let every "
                f"process write its own with paddle.static.save(program, path), each to another path."
            )
        scope, group = import_module("wherry_graph.static").global_scope(), self._hcg.get_pipe_parallel_group()
        with at_once():
            for section in sorted(set(self._keepers.values())):
                held = [scope.value(name) for name, at in sorted(self._keepers.items()) if at == section]
                broadcast_tensors([x for x in held if x is not None], group.ranks[section], group)
            mine = {x.name: scope.value(x.name) for x in program.list_vars() if x.persistable and not (x.is_parameter or x.is_data)}
            found = {name: value.numpy() for name, value in mine.items() if value is not None}
            for along in (group, self._hcg.get_sharding_parallel_group()):
                if along.nranks > 1:
                    parts: list[dict[str, Any]] = []
                    all_gather_object(parts, found, along)
                    for part in parts:
                        found = part | found
            return {name: to_tensor(value) for name, value in found.items() if name not in mine}

    def _exchange(self) -> Callable[[list[Any], Group], None]:
        if self._compressed is not None:
            return self._compressed.exchange
        if self._strategy.fp16_allreduce:
            return exchange_narrow
        scale = 1.0 if self._strategy.gradient_scale_configs["scale_strategy"] == "sum" else None
        return lambda held, group: reduce_gradients(held, group, scale)

    def apply_gradients(self, params_grads: Any) -> list[Any]:
        """The update, as the strategy divides it."""
        pairs = list(params_grads)
        merge = self._strategy.gradient_merge_configs["k_steps"] if self._strategy.gradient_merge else 1
        with no_grad():
            if any(group.nranks > 1 for group in (self._hcg.get_model_parallel_group(), self._hcg.get_pipe_parallel_group())):
                for options in self._inner_opt._groups:
                    if isinstance(options.grad_clip, ClipGradByGlobalNorm):
                        options.grad_clip = ClipByNormOfAll(options.grad_clip, self._hcg)
            if merge > 1:
                self._merged_update(pairs, merge)
            else:
                self._update_own(pairs)
            self._average_parameters([p for p, _ in pairs])
        return []

    def _update_own(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        sharding = self._hcg.get_sharding_parallel_group()
        if sharding.nranks == 1:
            self._inner_opt.apply_gradients(pairs)
            return
        owners = owners_of([_Sized(p) for p, _ in pairs], sharding.nranks)
        places = list(owners.values())  # by size, which is the same order in all processes
        order = sorted(range(len(pairs)), key=lambda i: -_Sized(pairs[i][0]).size)
        owner = dict(zip(order, places, strict=True))
        clip = self._inner_opt._groups[0].grad_clip
        if clip is not None:  # its norm is of all gradients, of which this process has all
            pairs = clip(pairs)
            for group in self._inner_opt._groups:
                group.grad_clip = None
        self._inner_opt.apply_gradients([pair for i, pair in enumerate(pairs) if owner[i] == sharding.rank])

        def sent(*values: Tensor) -> list[Tensor]:
            copies = [x.clone() for x in values]
            for place, rank in enumerate(sharding.ranks):
                broadcast_tensors([x for i, x in enumerate(copies) if owner[i] == place], rank, sharding)
            return copies

        _replace([p for p, _ in pairs], sent)

    def _average_parameters(self, params: list[Any]) -> None:
        strategy = self._strategy
        group = self._hcg.get_data_parallel_group()
        if strategy.adaptive_localsgd:
            raise UnimplementedError(
                "strategy: adaptive_localsgd looks at losses of steps, which eager training has. Got it in static mode, expected localsgd. Use that."
            )
        if not strategy.localsgd or group.nranks == 1:
            return
        configs, count = strategy.localsgd_configs, [0, 0]

        def averaged(*values: Tensor) -> list[Tensor]:
            copies = [x.clone() for x in values]
            count[0] += 1
            if count[0] < configs["begin_step"] or count[0] - count[1] >= configs["k_steps"]:
                count[1] = count[0]
                for some in buckets(copies):
                    flat = flattened(some)
                    all_reduce(flat, ReduceOp.AVG, group)
                    write_back(flat, some)
            return copies

        _replace(params, averaged)

    def _merged_update(self, pairs: Sequence[tuple[Any, Any]], k: int) -> None:
        """Gradients are added up; the update is computed each time, and taken where it is time."""
        step = lasting("gradient_merge_step", lambda: ops.full(shape=(1,), value=0.0, dtype=pairs[0][1].dtype))
        ops.copy.into((step,), ops.add(step, ops.full(shape=(1,), value=1.0, dtype=step.dtype)))
        due = step >= float(k)
        average = self._strategy.gradient_merge_configs["avg"]
        totals, given = [], []
        for p, g in pairs:
            total = lasting(f"{p.name}@GRAD@MERGED", lambda x: ops.full_like(x, value=0, dtype=x.dtype), p)
            ops.copy.into((total,), ops.add(total, g))
            totals.append(total)
            given.append((p, total * (1.0 / k) if average else ops.copy(total)))
        for group in self._inner_opt._groups or []:
            for p, _ in pairs:
                self._inner_opt._create_accumulators(p, group.options)
        targets = [p for p, _ in pairs] + [x for of_params in self._inner_opt._accumulators.values() for x in of_params.values()]
        olds = [ops.copy(x) for x in targets]
        self._update_own(given)

        def chosen(new: Any, old: Any) -> Any:
            return where(due.expand(new.sizes) if new.sizes else due.reshape([]), new, old)

        for x, old in zip(targets, olds, strict=True):
            ops.copy.into((x,), chosen(x, old))
        for total in totals:
            ops.copy.into((total,), chosen(ops.full_like(total, value=0, dtype=total.dtype), total))
        ops.copy.into((step,), where(due, ops.full(shape=(1,), value=0.0, dtype=step.dtype), step))

    def _make_equal_at_start(self, params: list[Any], startup_program: Any) -> None:
        """The startup program gives all processes the first values of one; of layers that are divided each keeps its part."""
        static = import_module("wherry_graph.static")
        startup = static.default_startup_program() if startup_program is None else startup_program
        for groups, divided in ((self._groups_of_samples, (True, False)), ([self._hcg.get_model_parallel_group()], (False,))):
            self._equal([p for p in params if getattr(p, "is_distributed", False) in divided], [g for g in groups if g.nranks > 1], startup)
        for name, group in sorted(self._shared.items()):
            self._equal([p for p in params if p.name == name], [group], startup)

    def _equal(self, params: list[Any], groups: list[Group], startup: Any) -> None:
        held = [startup.blocks[0].vars[p.name] for p in params if p.name in startup.blocks[0].vars]

        def equal(*values: Tensor) -> list[Tensor]:
            copies = [x.clone() for x in values]
            for group in groups:
                broadcast_tensors(copies, group.ranks[0], group)
            return copies

        if held and groups:
            with import_module("wherry_graph.static").program_guard(startup), no_grad():
                _replace(held, equal)


class _Sized:
    """The number of elements of a parameter of a program."""

    def __init__(self, p: Any) -> None:
        self.size = 1
        for n in getattr(p, "sizes", None) or p.shape:
            self.size *= int(n)


def _replace(variables: Sequence[Any], function: Callable[..., list[Tensor]]) -> None:
    """Nodes that write what a function of values gives over them when the program runs."""
    found = py_func(function, list(variables), [(getattr(x, "sizes", None) or x.shape, x.dtype) for x in variables])
    for x, new in zip(variables, found, strict=True):
        ops.copy.into((x,), new)
