"""How processes are numbered along the kinds of parallelism, and the groups that follow from it.

Processes fill a grid with one axis for each kind, the last axis fastest: with 2 x data, 2 x pipe and 2 x model the ranks 0 and 1 divide a
layer, 0 and 2 are two stages, 0 and 4 see different samples.
"""
from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherry_distributed import world as worlds
from wherry_distributed.environment import place
from wherry_distributed.world import Group, new_group
from wherry_tensor.arguments import integers_of, require
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

AXES = ("data", "pipe", "sharding", "sep", "model")
DEGREES = {"dp": "data", "pp": "pipe", "sharding": "sharding", "sep": "sep", "mp": "model"}  # as `hybrid_configs` calls them


class ParallelMode:
    """How a model is divided.

    Source:
        `paddle.distributed.ParallelMode`.
    """

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


class CommunicateTopology:
    """The grid of processes.

    Args:
        hybrid_group_names: the axes, the last one fastest.
        dims: how many processes lie along each.

    Source:
        `paddle.distributed.fleet.CommunicateTopology`.

    Examples:
        >>> grid = wherry.distributed.fleet.CommunicateTopology(["data", "pipe", "model"], [2, 1, 2])
        >>> grid.get_comm_list("model"), grid.get_coord(2)
        ([[0, 1], [2, 3]], Coordinate(data=1, pipe=0, model=0))
    """

    def __init__(self, hybrid_group_names: Sequence[str] = AXES, dims: Sequence[int] = (1, 1, 1, 1, 1)) -> None:
        if isinstance(hybrid_group_names, str) or not isinstance(hybrid_group_names, Sequence):
            raise InvalidTypeError(
                f"CommunicateTopology: 'hybrid_group_names' must be a list of names. Got {short(hybrid_group_names)}, expected such as "
                f"['data', 'model']."
            )
        self._parallel_names, self._dims = list(hybrid_group_names), list(integers_of(dims, "CommunicateTopology", "dims"))
        if len(self._parallel_names) != len(self._dims) or min(self._dims, default=1) < 1:
            raise InvalidArgumentError(
                f"CommunicateTopology: sizes do not fit. Got {self._dims} along {self._parallel_names}, expected one size of at least 1 for each "
                f"name. Set the other degrees to 1."
            )
        kind: Any = collections.namedtuple  # noqa: PYI024  axes are not known before
        self.coordinate: Any = kind("Coordinate", self._parallel_names)
        self._coords = [self.coordinate(*at) for at in itertools.product(*map(range, self._dims))]
        self._ranks = {coord: rank for rank, coord in enumerate(self._coords)}

    def get_hybrid_group_names(self) -> list[str]:
        """The axes."""
        return self._parallel_names

    def get_dim(self, axis_name: str) -> int:
        """How many processes lie along an axis."""
        return self._dims[self._axis(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """How many processes there are."""
        return math.prod(self._dims)

    def get_rank(self, **args: int) -> int:
        """The process at a place of the grid."""
        try:
            return self._ranks[self.coordinate(**args)]
        except (KeyError, TypeError):
            raise InvalidArgumentError(
                f"CommunicateTopology.get_rank: there is no such place. Got {args}, expected a number for each of {self._parallel_names}, below "
                f"{self._dims}. Ask get_coord(rank)."
            ) from None

    def get_coord(self, rank: int) -> Any:
        """Where a process stands."""
        if not 0 <= rank < self.world_size():
            raise InvalidArgumentError(
                f"CommunicateTopology.get_coord: there is no such process. Got rank={short(rank)}, expected one below {self.world_size()}. Ask "
                f"world_size()."
            )
        return self._coords[rank]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The processes whose place along an axis is `index`."""
        axis = self._axis(axis_name)
        return [rank for rank, coord in enumerate(self._coords) if coord[axis] == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The processes that differ along an axis alone, all such lists."""
        return self._lists([self._axis(axis_name)])

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """The processes that differ along some axes alone, all such lists."""
        return self._lists([self._axis(name) for name in fused_axis])

    def get_rank_from_stage(self, global_rank: int, **kwargs: int) -> int:
        """The process that stands where `global_rank` does but for some axes."""
        return self.get_rank(**(self.get_coord(global_rank)._asdict() | kwargs))

    def _axis(self, name: str) -> int:
        if name not in self._parallel_names:
            raise InvalidArgumentError(
                f"CommunicateTopology: there is no such axis. Got {short(name)}, expected one of {', '.join(self._parallel_names)}. Choose one."
            )
        return self._parallel_names.index(name)

    def _lists(self, axes: Sequence[int]) -> list[list[int]]:
        found: dict[Any, list[int]] = {}
        for rank, coord in enumerate(self._coords):
            found.setdefault(tuple(at for axis, at in enumerate(coord) if axis not in axes), []).append(rank)
        return list(found.values())


class HybridCommunicateGroup:
    """The groups that this process belongs to, one for each kind of parallelism. All processes make it together.

    Args:
        topology: the grid; None has all processes along data.

    Raises:
        ValueError: the grid is not of as many processes as were started.

    Source:
        `paddle.distributed.fleet.HybridCommunicateGroup`.
    """

    def __init__(self, topology: CommunicateTopology | None = None) -> None:
        here = place()
        self.nranks, self.global_rank = here.size, here.rank
        given = CommunicateTopology(AXES, (here.size, 1, 1, 1, 1)) if topology is None else topology
        self._topo = require(given, CommunicateTopology, "HybridCommunicateGroup", "topology", "Make one of the degrees.")
        if self._topo.world_size() != here.size:
            raise InvalidArgumentError(
                f"HybridCommunicateGroup: the degrees do not fit the processes. Got {self._topo._dims} along "
                f"{self._topo.get_hybrid_group_names()}, whose product is {self._topo.world_size()}, expected a product of {here.size}, as many as "
                f"were "
                f"started. Start as many with --nproc_per_node, or set dp_degree to -1."
            )
        self._coord = self._topo.get_coord(self.global_rank)
        self._groups: dict[tuple[str, ...], Group] = {}
        for name in self._topo.get_hybrid_group_names():
            self._group(name)
        names = set(self._topo.get_hybrid_group_names())
        for fused in (("data", "sep"), ("pipe", "model"), ("pipe", "sharding", "model"), ("pipe", "model", "sep")):
            if names.issuperset(fused):
                self._group(*fused)

    if TYPE_CHECKING:  # get_data_parallel_rank, get_model_parallel_group and so on, which `_add_axes` makes

        def __getattr__(self, name: str) -> Any: ...

    def _group(self, *names: str) -> Group:
        """The group along some axes. Where another one has the same processes, that one; all processes ask in the same order."""
        axes = self._topo.get_hybrid_group_names()
        wide = tuple(name for name in axes if name in names and self._topo.get_dim(name) > 1)
        if wide not in self._groups:
            if not wide:
                group = Group(0, -(10**6) - self.global_rank, [self.global_rank], name="_alone")
            elif math.prod(self._topo.get_dim(name) for name in wide) == self.nranks:
                group = worlds.world.groups[0]
            else:
                made = [new_group(ranks) for ranks in self._topo.get_fused_ranks(wide)]
                group = next(each for each in made if each.is_member())
            self._groups[wide] = group
        return self._groups[wide]

    def create_fuse_group(self, fused_strategy_list: Sequence[str]) -> tuple[list[list[int]], Group]:
        """The group along several axes, and the lists of all such groups. All processes call it."""
        return self._topo.get_fused_ranks(fused_strategy_list), self._group(*fused_strategy_list)

    def topology(self) -> CommunicateTopology:
        """The grid."""
        return self._topo

    def get_parallel_mode(self) -> int | None:
        """What the model wrapper does, as in Paddle: pipeline before tensor before sharding before data; None in one process."""
        size = self._degree
        if self.nranks == 1:
            return None
        if size("pipe") > 1:
            return ParallelMode.PIPELINE_PARALLEL
        if size("model") > 1:
            return ParallelMode.TENSOR_PARALLEL
        if size("sep") > 1:
            return ParallelMode.SEGMENT_PARALLEL
        return ParallelMode.SHARDING_PARALLEL if size("sharding") > 1 else ParallelMode.DATA_PARALLEL

    def _degree(self, name: str) -> int:
        return self._topo.get_dim(name) if name in self._topo.get_hybrid_group_names() else 1

    def _index(self, name: str) -> int:
        return int(getattr(self._coord, name, 0))

    def get_global_rank(self) -> int:
        """The number of this process among all."""
        return self.global_rank

    def get_stage_id(self) -> int:
        """The stage of the pipeline that this process is."""
        return self._index("pipe")

    @property
    def is_first_stage(self) -> bool:
        """Does it begin the pipeline?"""
        return self.get_stage_id() == 0

    @property
    def is_last_stage(self) -> bool:
        """Does it end the pipeline?"""
        return self.get_stage_id() == self._degree("pipe") - 1

    def get_rank_from_stage(self, stage_id: int, **kwargs: int) -> int:
        """The process of another stage that stands where this one does else."""
        return self._topo.get_rank_from_stage(self.global_rank, pipe=stage_id, **kwargs)

    def get_p2p_groups(self) -> tuple[Group, Group, Group, Group]:
        """Groups for messages to and from the neighbours: that of the pipeline, four times."""
        group = self._group("pipe")
        return group, group, group, group

    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        """The processes that together hold one copy of the model."""
        return self._group("pipe", "sharding", "model") if sharding else self._group("pipe", "model")

    def get_dp_sep_parallel_group(self) -> Group:
        """The processes over which gradients are averaged: data and sequence."""
        return self._group("data", "sep")

    def get_pp_mp_parallel_group(self) -> Group:
        """The processes of one copy of the model."""
        return self._group("pipe", "model")

    def get_pipe_parallel_rank(self) -> int:
        """The stage of the pipeline that this process is."""
        return self.get_stage_id()


def _add_axes() -> None:
    def add(kind: str) -> None:
        methods: dict[str, tuple[Any, str]] = {
            "rank": (lambda self: self._index(kind), f"The place of this process along {kind}."),
            "world_size": (lambda self: self._degree(kind), f"How many processes lie along {kind}."),
            "group": (lambda self: self._group(kind), f"The processes that differ from this one along {kind} alone."),
            "group_src_rank": (lambda self: self._group(kind).ranks[0], "The first process of that group."),
        }
        for what, (get, doc) in methods.items():
            get.__doc__ = doc
            setattr(HybridCommunicateGroup, f"get_{kind}_parallel_{what}", get)

    for kind in AXES:
        add(kind)


_add_axes()


def degrees_of(strategy: Any, size: int) -> list[int]:
    """The sizes of the grid's axes by `hybrid_configs`, in the order of `hybrid_parallel_order`; dp_degree of -1 is what is left.

    Raises:
        ValueError: they do not multiply to `size`.
    """
    configs = strategy.hybrid_configs
    found = {name: int(configs[f"{name}_degree"]) for name in DEGREES}
    if strategy.sharding and found["sharding"] == 1:
        found["sharding"] = min(int(strategy.sharding_configs["sharding_degree"]), size)
    if strategy.tensor_parallel and found["mp"] == 1:
        found["mp"] = int(strategy.tensor_parallel_configs["tensor_parallel_degree"])
    others = math.prod(degree for name, degree in found.items() if name != "dp")
    if others < 1 or size % others:
        raise InvalidArgumentError(
            f"fleet.init: the degrees do not divide the processes. Got {', '.join(f'{name}_degree={n}' for name, n in found.items())} for {size} "
            f"processes, expected degrees whose product divides {size}. Start more processes, or make degrees smaller."
        )
    if found["dp"] == -1:
        found["dp"] = size // others
    if found["dp"] * others != size:
        raise InvalidArgumentError(
            f"fleet.init: the degrees do not fit the processes. Got {', '.join(f'{name}_degree={n}' for name, n in found.items())}, product "
            f"{found['dp'] * others}, expected {size}. Set dp_degree to -1 to have it computed, or start {found['dp'] * others} processes."
        )
    return [found[name] for name in strategy.hybrid_parallel_order]
