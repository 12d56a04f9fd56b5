"""The graph functions of `paddle.incubate`: earlier names of those in `paddle.geometric`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_sparse import geometric
from wherry_sparse.geometric import segment_max, segment_mean, segment_min, segment_sum
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained
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
    """Message passing: the earlier name of `geometric.send_u_recv`.

    Args:
        x: `[nodes, ...]`.
        src_index: int32 or int64 `[edges]`: the source of each edge.
        dst_index: the same: its target.
        pool_type: "sum", "mean", "max" or "min".
        out_size: the number of rows of the result; None (or 0) takes that of x.

    Shape:
        `[nodes, ...]` to `[out_size, ...]`.

    Raises:
        TypeError: `x` is not a Tensor, or an index is not int32 or int64 (also a ValueError).
        ValueError: an unknown reduction, or different numbers of sources and targets.
        IndexError: an index is out of range.

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
    """Reindex a sampled graph: the earlier name of `geometric.reindex_graph`.

    Args:
        x: int32 or int64 `[nodes]`: nodes whose neighbours were sampled.
        neighbors: their neighbours, one node after another, `[edges]`.
        count: int32 `[nodes]`: the number of neighbours of each.
        value_buffer: no effect.
        index_buffer: no effect.
        flag_buffer_hashtable: no effect; True needs both buffers.

    Returns:
        The new numbers of the sources and of the targets of all edges, and the old numbers of all nodes.

    Shape:
        `[edges]`, `[edges]` and `[all nodes]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `flag_buffer_hashtable` without buffers, or counts that do not add up.

    Source:
        `paddle.incubate.graph_reindex`.

    Examples:
        >>> count = wherry.to_tensor([1, 1], dtype="int32")
        >>> source, target, nodes = wherry.incubate.graph_reindex(wherry.to_tensor([0, 1]), wherry.to_tensor([8, 0]), count)
        >>> print(source.tolist(), target.tolist(), nodes.tolist())
        [2, 0] [0, 1] [0, 1, 8]
    """
    if flag_buffer_hashtable and (value_buffer is None or index_buffer is None):
        raise InvalidArgumentError(
            "graph_reindex: flag_buffer_hashtable needs buffers. Got None, expected two Tensors. Pass value_buffer and index_buffer."
        )
    return geometric._reindexed("graph_reindex", x, [neighbors], [count])


def graph_sample_neighbors(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, eids: Tensor | None = None, perm_buffer: Tensor | None = None, sample_size: int = -1,
    return_eids: bool = False, flag_perm_buffer: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:
    """Sample neighbours of each node: the earlier name of `geometric.sample_neighbors`.

    Args:
        row: neighbours of all nodes, one node after another, `[edges]`.
        colptr: `[nodes + 1]`: where those of each node begin.
        input_nodes: the nodes to sample for, `[n]`.
        eids: ids of the edges, `[edges]`.
        perm_buffer: no effect.
        sample_size: how many for each; -1 takes all.
        return_eids: whether to return those of the sampled edges, too.
        flag_perm_buffer: no effect; True needs `perm_buffer`.

    Returns:
        The neighbours, how many each node has (int32), and with `return_eids` the ids of their edges.

    Shape:
        `[sampled]`, `[n]` and `[sampled]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `return_eids` without `eids`, or `flag_perm_buffer` without a buffer.
        IndexError: a node is out of range.

    Source:
        `paddle.incubate.graph_sample_neighbors`.

    Examples:
        >>> row, colptr = wherry.to_tensor([1, 2, 0]), wherry.to_tensor([0, 2, 3, 3])
        >>> neighbors, count = wherry.incubate.graph_sample_neighbors(row, colptr, wherry.to_tensor([0, 2]))
        >>> print(neighbors.tolist(), count.tolist())
        [1, 2] [2, 0]
    """
    if flag_perm_buffer and perm_buffer is None:
        raise InvalidArgumentError("graph_sample_neighbors: flag_perm_buffer needs a buffer. Got None, expected a Tensor. Pass perm_buffer.")
    return geometric._sampled("graph_sample_neighbors", row, colptr, None, input_nodes, sample_size, eids, return_eids)


def graph_khop_sampler(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_sizes: Sequence[int], sorted_eids: Tensor | None = None,
    return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:
    """Sample neighbours of neighbours: in each round those of the nodes found in the last one.

    Args:
        row: neighbours of all nodes, one node after another, `[edges]`.
        colptr: `[nodes + 1]`: where those of each node begin.
        input_nodes: the nodes to begin with.
        sample_sizes: how many neighbours of each node to sample, one number for each round; -1 takes all.
        sorted_eids: ids of the edges, `[edges]`.
        return_eids: whether to return those of the sampled edges, too.

    Returns:
        The new numbers of the sources and of the targets of the edges, the old numbers of all nodes, the new ones of `input_nodes`, and with
        `return_eids` the ids of the edges.

    Shape:
        `[edges, 1]`, `[edges, 1]`, `[nodes]`, the shape of `input_nodes` flattened, and `[edges]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: `return_eids` without `sorted_eids`, or an argument is not 1-D int32 or int64.
        IndexError: a node is out of range.

    Source:
        `paddle.incubate.graph_khop_sampler`.

    Examples:
        >>> row, colptr = wherry.to_tensor([1, 2, 0]), wherry.to_tensor([0, 2, 3, 3])
        >>> source, target, nodes, begin = wherry.incubate.graph_khop_sampler(row, colptr, wherry.to_tensor([0]), [2])
        >>> print(source.tolist(), target.tolist(), nodes.tolist(), begin.tolist())
        [[1], [2]] [[0], [0]] [0, 1, 2] [0]
    """
    if return_eids and sorted_eids is None:
        raise InvalidArgumentError(
            "graph_khop_sampler: return_eids needs sorted_eids. Got sorted_eids=None, expected the ids of the edges. Pass sorted_eids."
        )
    dtype = require_tensor(row, "graph_khop_sampler", "row").dtype
    for name, given in (("row", row), ("colptr", colptr), ("input_nodes", input_nodes)):
        given = require_tensor(given, "graph_khop_sampler", name)
        if given.dtype.name not in ("int32", "int64") or not (given.ndim == 1 or given.ndim == 2 and given.shape[1] == 1):
            raise InvalidArgumentError(
                f"graph_khop_sampler: {name} is not a 1-D tensor of numbers of nodes. Got {given.dtype.name}{given.shape}, expected int32 or int64 "
                f"and [n] or [n, 1]. Cast or flatten it."
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


explained(globals())
