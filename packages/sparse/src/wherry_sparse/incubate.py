"""The graph functions of `paddle.incubate`, from which those of `paddle.geometric` came."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_sparse import geometric
from wherry_sparse.geometric import segment_max, segment_mean, segment_min, segment_sum
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.functions.movement import reshape

__all__ = [
    "graph_khop_sampler",
    "graph_reindex",
    "graph_sample_neighbors",
    "graph_send_recv",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
]


def graph_send_recv(
    x: Tensor, src_index: Tensor, dst_index: Tensor, pool_type: str = "sum", out_size: Any = None, name: str | None = None
) -> Tensor:
    """`geometric.send_u_recv` under its earlier name.

    Args:
        x: `[nodes, ...]`.
        src_index: int32 or int64 `[edges]`: where each edge begins.
        dst_index: the same: where it ends.
        pool_type: "sum", "mean", "max" or "min".
        out_size: how many rows the result has; None (or 0) for as many as x.
        name: accepted for compatibility; unused.

    Source:
        `paddle.incubate.graph_send_recv`.

    Examples:
        >>> x = wherry.to_tensor([[1.0], [2.0]])
        >>> print(wherry.incubate.graph_send_recv(x, wherry.to_tensor([0, 1]), wherry.to_tensor([1, 1]), "max").tolist())
        [[0.0], [2.0]]
    """
    return geometric._reduced("graph_send_recv", "pool_type", require_tensor(x, "graph_send_recv"), src_index, dst_index, pool_type, out_size)


def graph_reindex(
    x: Tensor, neighbors: Tensor, count: Tensor, value_buffer: Tensor | None = None, index_buffer: Tensor | None = None,
    flag_buffer_hashtable: bool = False, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`geometric.reindex_graph` under its earlier name; the buffers are accepted for compatibility.

    Raises:
        ValueError: `flag_buffer_hashtable` without buffers, or counts that do not add up.

    Source:
        `paddle.incubate.graph_reindex`.
    """
    if flag_buffer_hashtable and (value_buffer is None or index_buffer is None):
        raise InvalidArgumentError("graph_reindex: flag_buffer_hashtable says that there are buffers. Got None. Pass value_buffer and index_buffer.")
    return geometric._reindexed("graph_reindex", x, [neighbors], [count])


def graph_sample_neighbors(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, eids: Tensor | None = None, perm_buffer: Tensor | None = None, sample_size: int = -1,
    return_eids: bool = False, flag_perm_buffer: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:
    """`geometric.sample_neighbors` under its earlier name; the buffer is accepted for compatibility.

    Raises:
        ValueError: `return_eids` without `eids`, or `flag_perm_buffer` without a buffer.

    Source:
        `paddle.incubate.graph_sample_neighbors`.
    """
    if flag_perm_buffer and perm_buffer is None:
        raise InvalidArgumentError("graph_sample_neighbors: flag_perm_buffer says that there is a buffer. Got None. Pass perm_buffer.")
    return geometric._sampled("graph_sample_neighbors", row, colptr, None, input_nodes, sample_size, eids, return_eids)


def graph_khop_sampler(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_sizes: Sequence[int], sorted_eids: Tensor | None = None,
    return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:
    """Neighbours of neighbours: in each round those of the nodes that the last one found.

    Args:
        row: neighbours of all nodes, one node after another.
        colptr: `[nodes + 1]`: where those of each node begin.
        input_nodes: where to begin.
        sample_sizes: how many neighbours of each node to take, one number for each round; -1 for all.
        sorted_eids: numbers of the edges, as `row`.
        return_eids: give those of the edges that were taken, too.
        name: accepted for compatibility; unused.

    Returns:
        New numbers of where the edges begin and end, `[edges, 1]`, the old numbers of all nodes, the new ones of `input_nodes`, and with
        `return_eids` the numbers of the edges.

    Raises:
        ValueError: `return_eids` without `sorted_eids`.

    Source:
        `paddle.incubate.graph_khop_sampler`.

    Examples:
        >>> row, colptr = wherry.to_tensor([1, 2, 0]), wherry.to_tensor([0, 2, 3, 3])
        >>> source, target, nodes, begin = wherry.incubate.graph_khop_sampler(row, colptr, wherry.to_tensor([0]), [2])
        >>> print(source.tolist(), target.tolist(), nodes.tolist(), begin.tolist())
        [[1], [2]] [[0], [0]] [0, 1, 2] [0]
    """
    if return_eids and sorted_eids is None:
        raise InvalidArgumentError("graph_khop_sampler: the numbers of edges are asked for. Got sorted_eids=None. Pass sorted_eids.")
    dtype = require_tensor(row, "graph_khop_sampler", "row").dtype
    for name, given in (("row", row), ("colptr", colptr), ("input_nodes", input_nodes)):
        given = require_tensor(given, "graph_khop_sampler", name)
        if given.dtype.name not in ("int32", "int64") or not (given.ndim == 1 or given.ndim == 2 and given.shape[1] == 1):
            raise InvalidArgumentError(
                f"graph_khop_sampler: {name} is no row of numbers of nodes. Got {given.dtype.name}{given.shape}, expected int32 or int64 "
                f"and [n] or [n, 1]."
            )
    nodes: list[int] = list(dict.fromkeys(input_nodes.flatten().tolist()))
    number = {node: at for at, node in enumerate(nodes)}
    start, first = [number[node] for node in input_nodes.flatten().tolist()], 0
    source: list[int] = []
    target: list[int] = []
    edges: list[int] = []
    for size in sample_sizes:
        asked = nodes[first:]
        first = len(nodes)
        at = to_tensor(asked, dtype=int64)
        found, count, *numbers = geometric._sampled("graph_khop_sampler", row, colptr, None, at, size, sorted_eids, return_eids)
        for node in found.tolist():
            if node not in number:
                number[node] = len(nodes)
                nodes.append(node)
        source += [number[node] for node in found.tolist()]
        target += [number[node] for node, n in zip(asked, count.tolist(), strict=True) for _ in range(n)]
        edges += numbers[0].tolist() if numbers else []
    made = [to_tensor(values, dtype=dtype) for values in (source, target, nodes, start)]
    result = (reshape(made[0], [-1, 1]), reshape(made[1], [-1, 1]), made[2], made[3])
    return (*result, to_tensor(edges, dtype=dtype)) if return_eids else result
