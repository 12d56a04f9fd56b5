"""Meshes of processes, and how a tensor lies on one: cut along an axis, whole in each process, or as terms of a sum."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_distributed.world import Group, group_of, new_group, world
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = ["Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard"]

_groups: dict[tuple[int, ...], Group] = {}


class ProcessMesh:
    """Processes in a grid with named axes.

    Args:
        mesh: their ranks, as nested lists or an array.
        dim_names: a name for each axis; None calls them d0, d1, ...
        shape, process_ids: in place of `mesh`: the sizes, and the ranks one after another.

    Raises:
        ValueError: ranks repeat, do not exist, or names do not fit.

    Source:
        `paddle.distributed.ProcessMesh`.

    Examples:
        >>> mesh = wherry.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
        >>> mesh.shape, mesh.process_ids, mesh.get_dim_size("y")
        ([2, 2], [0, 1, 2, 3], 2)
    """

    def __init__(
        self, mesh: Any = None, dim_names: Sequence[str] | None = None, shape: Sequence[int] | None = None, process_ids: Sequence[int] | None = None
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise InvalidArgumentError(
                    "ProcessMesh: no processes are named. Got neither mesh nor shape and process_ids, expected one. Pass [0, 1]."
                )
            mesh = np.array(list(process_ids)).reshape(list(shape))
        array = np.array(mesh)
        if array.dtype.kind not in "iu" or array.ndim == 0 or array.size == 0 or array.min() < 0 or len(np.unique(array)) < array.size:
            raise InvalidArgumentError(
                f"ProcessMesh: mesh is not a grid of ranks. Got {short(mesh)}, expected distinct ranks of at least 0, in lists of equal lengths. "
                f"Pass [[0, 1], [2, 3]]."
            )
        names = [f"d{i}" for i in range(array.ndim)] if dim_names is None else list(dim_names)
        if len(names) != array.ndim or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise InvalidArgumentError(
                f"ProcessMesh: names do not fit. Got {short(dim_names)} for {array.ndim} axes, expected a name of its own for each. Leave them out."
            )
        self.mesh, self.dim_names = array, names

    @property
    def shape(self) -> list[int]:
        """The sizes of the axes."""
        return list(self.mesh.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return int(self.mesh.ndim)

    @property
    def process_ids(self) -> list[int]:
        """The ranks, one after another."""
        return [int(rank) for rank in self.mesh.ravel()]

    @property
    def size(self) -> int:
        """How many processes there are."""
        return int(self.mesh.size)

    def get_dim_size(self, dim_name: str) -> int:
        """The size of an axis."""
        return self.shape[self._axis(dim_name)]

    def contains(self, process_id: int) -> bool:
        """Is a rank among them?"""
        return process_id in self.process_ids

    def get_mesh_with_dim(self, dim_name: str) -> ProcessMesh:
        """The same processes with another axis first.

        Source:
            `paddle.distributed.ProcessMesh.get_mesh_with_dim`.
        """
        axis = self._axis(dim_name)
        names = [dim_name, *(name for name in self.dim_names if name != dim_name)]
        return ProcessMesh(np.moveaxis(self.mesh, axis, 0), names)

    def _axis(self, name: str) -> int:
        if name not in self.dim_names:
            raise InvalidArgumentError(f"ProcessMesh: no axis has this name. Got {short(name)}, expected one of {self.dim_names}. Take one of them.")
        return self.dim_names.index(name)

    def coordinate(self) -> list[int] | None:
        """Where this process stands; None where it is not a member."""
        found = np.argwhere(self.mesh == world.rank)
        return [int(i) for i in found[0]] if len(found) else None

    def groups(self) -> list[Group]:
        """For each axis the processes along it, this one among them. All processes call it, members or not.

        Raises:
            ValueError: a rank does not exist.
        """
        if max(self.process_ids) >= world.size:
            raise InvalidArgumentError(
                f"ProcessMesh: there are not so many processes. Got {short(self.process_ids)}, expected ranks below {world.size}. Start more with "
                f"python -m wherry.distributed.launch, or call init_parallel_env() first."
            )
        group_of("ProcessMesh", None)
        found: list[Group] = []
        for axis in range(self.ndim):
            for line in np.moveaxis(self.mesh, axis, -1).reshape(-1, self.shape[axis]):
                ranks = tuple(int(rank) for rank in line)
                if ranks not in _groups:
                    _groups[ranks] = new_group(ranks)
                if world.rank in ranks:
                    found.append(_groups[ranks])
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessMesh) and self.dim_names == other.dim_names and np.array_equal(self.mesh, other.mesh)

    def __hash__(self) -> int:
        return hash((tuple(self.process_ids), tuple(self.shape)))

    def __deepcopy__(self, memo: Any) -> ProcessMesh:
        return self  # parameters name it, and models are copied

    def __getitem__(self, index: Any) -> ProcessMesh:
        found = self.mesh[index]
        whole = index if isinstance(index, tuple) else (index,)
        names = [name for i, name in enumerate(self.dim_names) if i >= len(whole) or not isinstance(whole[i], (int, np.integer))]
        return ProcessMesh(found if found.ndim else found.reshape([1]), names if found.ndim else None)

    def __repr__(self) -> str:
        return f"ProcessMesh(shape={self.shape}, process_ids={self.process_ids}, dim_names={self.dim_names})"


class ReduceType:
    """What terms of a `Partial` become a value by.

    Source:
        `paddle.distributed.ReduceType`.
    """

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)


class Placement:
    """How a tensor lies along an axis of a mesh: `Shard`, `Replicate` or `Partial`.

    Source:
        `paddle.distributed.Placement`.
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it cut, along axis `dim` where that is named?"""
        return False

    def is_replicated(self) -> bool:
        """Has each process the whole?"""
        return False

    def is_partial(self) -> bool:
        """Has each process a term of it?"""
        return False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self).__name__, *vars(self).values()))


class Shard(Placement):
    """Each process has a piece, cut along an axis of the tensor.

    Source:
        `paddle.distributed.Shard`.

    Examples:
        >>> wherry.distributed.Shard(1)
        Shard(dim=1)
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim

    def get_dim(self) -> int:
        """The axis that is cut."""
        return self._dim

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self._dim

    def __repr__(self) -> str:
        return f"Shard(dim={self._dim})"


class Replicate(Placement):
    """Each process has the whole.

    Source:
        `paddle.distributed.Replicate`.
    """

    def is_replicated(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """Each process has a term, and the value is their sum.

    Args:
        reduce_type: ReduceType.kRedSum.

    Source:
        `paddle.distributed.Partial`.
    """

    def __init__(self, reduce_type: int = ReduceType.kRedSum) -> None:
        if reduce_type != ReduceType.kRedSum:
            raise InvalidArgumentError(
                f"Partial: only sums can be held as terms here. Got reduce_type={short(reduce_type)}, expected ReduceType.kRedSum. Leave it out."
            )
        self._reduce_type = reduce_type

    def reduce_type(self) -> int:
        """What makes a value of the terms."""
        return self._reduce_type

    def is_partial(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Partial(reduce_type=SUM)"


explained(globals())
