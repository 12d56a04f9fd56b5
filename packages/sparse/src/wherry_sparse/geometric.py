"""`paddle.geometric`: message passing on graphs, segment reductions, neighbour sampling."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, float64, int32, int64, is_symbolic
from wherry_tensor.arguments import (
    MAX_RANK,
    at_hand,
    integer,
    never_from_the_end,
    require_rank,
    require_tensor,
    to_dtype,
)
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.functions.movement import reshape

__all__ = [
    "reindex_graph",
    "reindex_heter_graph",
    "sample_neighbors",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
    "weighted_sample_neighbors",
]

_MESSAGES = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y}


# Segments.


def segment_sum(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """Segment sum: the sum of the rows of each segment. Segments without rows are zeros.

    Args:
        data: `[n, ...]`, float or integer.
        segment_ids: int32 or int64 `[n]`: the segment of each row, ascending.

    Shape:
        `[n, ...]` to `[segments, ...]`, where the last id is `segments - 1`.

    Raises:
        TypeError: `data` is not a Tensor, or `segment_ids` is not int32 or int64 (also a ValueError).
        ValueError: the ids are not sorted, or not as many as rows.
        IndexError: an id is negative.

    Source:
        `paddle.geometric.segment_sum`.

    Examples:
        >>> data = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> print(wherry.geometric.segment_sum(data, wherry.to_tensor([0, 0, 2])).tolist())
        [[4.0, 6.0], [0.0, 0.0], [5.0, 6.0]]
    """
    data, ids, count = _segments("segment_sum", data, segment_ids)
    return ops.edge_sum(data, None, ids, count=count, mean=False, sorted=True)


def segment_mean(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """Segment mean: the mean of the rows of each segment. Segments without rows are zeros.

    Args:
        data: `[n, ...]`, float or integer.
        segment_ids: int32 or int64 `[n]`: the segment of each row, ascending.

    Shape:
        `[n, ...]` to `[segments, ...]`, where the last id is `segments - 1`.

    Raises:
        TypeError: `data` is not a Tensor, or `segment_ids` is not int32 or int64 (also a ValueError).
        ValueError: the ids are not sorted, or not as many as rows.
        IndexError: an id is negative.

    Source:
        `paddle.geometric.segment_mean`.

    Examples:
        >>> data = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.geometric.segment_mean(data, wherry.to_tensor([0, 0])).tolist())
        [[2.0, 3.0]]
    """
    data, ids, count = _segments("segment_mean", data, segment_ids)
    return ops.edge_sum(data, None, ids, count=count, mean=True, sorted=True)


def segment_min(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """Segment minimum: the smallest elements of the rows of each segment. Segments without rows are zeros.

    Args:
        data: `[n, ...]`, float or integer.
        segment_ids: int32 or int64 `[n]`: the segment of each row, ascending.

    Shape:
        `[n, ...]` to `[segments, ...]`, where the last id is `segments - 1`.

    Raises:
        TypeError: `data` is not a Tensor, or `segment_ids` is not int32 or int64 (also a ValueError).
        ValueError: the ids are not sorted, or not as many as rows.
        IndexError: an id is negative.

    Source:
        `paddle.geometric.segment_min`.

    Examples:
        >>> data = wherry.to_tensor([[1.0, 4.0], [3.0, 2.0]])
        >>> print(wherry.geometric.segment_min(data, wherry.to_tensor([0, 0])).tolist())
        [[1.0, 2.0]]
    """
    data, ids, count = _segments("segment_min", data, segment_ids)
    return ops.edge_extreme(data, None, ids, count=count, largest=False, sorted=True)


def segment_max(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """Segment maximum: the largest elements of the rows of each segment. Segments without rows are zeros.

    Args:
        data: `[n, ...]`, float or integer.
        segment_ids: int32 or int64 `[n]`: the segment of each row, ascending.

    Shape:
        `[n, ...]` to `[segments, ...]`, where the last id is `segments - 1`.

    Raises:
        TypeError: `data` is not a Tensor, or `segment_ids` is not int32 or int64 (also a ValueError).
        ValueError: the ids are not sorted, or not as many as rows.
        IndexError: an id is negative.

    Source:
        `paddle.geometric.segment_max`.

    Examples:
        >>> data = wherry.to_tensor([[1.0, 4.0], [3.0, 2.0]])
        >>> print(wherry.geometric.segment_max(data, wherry.to_tensor([0, 0])).tolist())
        [[3.0, 4.0]]
    """
    data, ids, count = _segments("segment_max", data, segment_ids)
    return ops.edge_extreme(data, None, ids, count=count, largest=True, sorted=True)


def _segments(owner: str, data: Any, segment_ids: Any) -> tuple[Tensor, Tensor, int]:
    data, ids = require_tensor(data, owner, "data"), _indices(owner, segment_ids, "segment_ids")
    if ids.ndim != 1:
        raise InvalidArgumentError(f"{owner}: segment_ids is not 1-D. Got shape {ids.shape}, expected [n], one for each row of data. Flatten it.")
    if ids.size == 0 and not is_symbolic(ids):
        return data, ids, 0
    last = ops.select(ids, axis=0, index=ids.shape[0] - 1)
    count = integer(last + 1, owner, "segment_ids")
    if not is_symbolic(ids) and int(ops.select(ids, axis=0, index=0).item()) < 0:
        raise InvalidIndexError(
            f"{owner}: a segment id is negative. Got {int(ids[0].item())} as the first of segment_ids, expected ids >= 0. Add to all."
        )
    return data, ids, count if is_symbolic(ids) else max(count, 0)


# Messages.


def send_u_recv(
    x: Tensor, src_index: Tensor, dst_index: Tensor, reduce_op: str = "sum", out_size: Any = None, name: str | None = None
) -> Tensor:
    """Message passing: send rows of `x` along edges and reduce them at the targets. Targets without messages are zeros.

    Args:
        x: `[nodes, ...]`, float or integer.
        src_index: int32 or int64 `[edges]`: the source of each edge.
        dst_index: the same: its target.
        reduce_op: "sum", "mean", "max" or "min".
        out_size: the number of rows of the result, an int or a tensor; None (or 0) takes that of x.

    Shape:
        `[nodes, ...]` to `[out_size, ...]`.

    Raises:
        TypeError: `x` is not a Tensor, or an index is not int32 or int64 (also a ValueError).
        ValueError: an unknown reduction, or different numbers of sources and targets.
        IndexError: an index is out of range.

    Source:
        `paddle.geometric.send_u_recv`.

    Examples:
        >>> x = wherry.to_tensor([[0.0, 2.0], [1.0, 4.0], [2.0, 6.0]])
        >>> source, target = wherry.to_tensor([0, 1, 2, 0]), wherry.to_tensor([1, 2, 1, 0])
        >>> print(wherry.geometric.send_u_recv(x, source, target).tolist())
        [[0.0, 2.0], [2.0, 8.0], [1.0, 4.0]]
    """
    return _reduced("send_u_recv", "reduce_op", require_tensor(x, "send_u_recv"), src_index, dst_index, reduce_op, out_size)


def _reduced(owner: str, parameter: str, x: Tensor, source: Any, target: Any, how: Any, out_size: Any, rows: Any = None) -> Tensor:
    if not isinstance(how, str) or how not in ("sum", "mean", "max", "min"):
        raise InvalidArgumentError(
            f"{owner}: there is no such reduction. Got {parameter}={short(how)}, expected 'sum', 'mean', 'max' or 'min'. The default is 'sum'."
        )
    if x.ndim == 0:
        raise InvalidArgumentError(f"{owner}: x has no rows. Got a tensor of shape [], expected [nodes, ...]. Give it an axis of nodes.")
    source = None if source is None else _indices(owner, source, "src_index")
    target = _indices(owner, target, "dst_index")
    count = rows if rows is not None else x.shape[0]
    if out_size is not None:
        given = integer(out_size, owner, "out_size")
        if is_symbolic(out_size) or not isinstance(given, int) or given > 0:
            count = given
    if how in ("sum", "mean"):
        return ops.edge_sum(x, source, target, count=count, mean=how == "mean", sorted=False)
    return ops.edge_extreme(x, source, target, count=count, largest=how == "max", sorted=False)


def send_ue_recv(
    x: Tensor, y: Tensor, src_index: Tensor, dst_index: Tensor, message_op: str = "add", reduce_op: str = "sum", out_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Message passing with edge features: combine rows of `x` with those of their edges, send them, and reduce them at the targets.

    Args:
        x: `[nodes, ...]`.
        y: `[edges, ...]`; its other axes broadcast with those of x.
        src_index: int32 or int64 `[edges]`: the source of each edge.
        dst_index: the same: its target.
        message_op: "add", "sub", "mul" or "div".
        reduce_op: "sum", "mean", "max" or "min".
        out_size: the number of rows of the result; None (or 0) takes that of x.

    Shape:
        `[nodes, ...]` and `[edges, ...]` to `[out_size, ...]`.

    Raises:
        TypeError: `x` or `y` is not a Tensor, or an index is not int32 or int64 (also a ValueError).
        ValueError: an unknown message or reduction, or shapes that do not broadcast.
        IndexError: an index is out of range.

    Source:
        `paddle.geometric.send_ue_recv`.

    Examples:
        >>> x, y = wherry.to_tensor([[1.0], [2.0]]), wherry.to_tensor([[10.0], [20.0]])
        >>> print(wherry.geometric.send_ue_recv(x, y, wherry.to_tensor([0, 1]), wherry.to_tensor([0, 0]), "mul").tolist())
        [[50.0], [0.0]]
    """
    x = require_tensor(x, "send_ue_recv")
    sent = _gathered("send_ue_recv", x, src_index, "src_index")
    return _reduced("send_ue_recv", "reduce_op", _joined("send_ue_recv", sent, require_tensor(y, "send_ue_recv", "y"), message_op), None,
                    dst_index, reduce_op, out_size, x.shape[0])


def send_uv(x: Tensor, y: Tensor, src_index: Tensor, dst_index: Tensor, message_op: str = "add", name: str | None = None) -> Tensor:
    """Edge features: for each edge, the row of `x` at its source combined with the row of `y` at its target.

    Args:
        x: `[nodes, ...]`.
        y: `[nodes, ...]`; other axes broadcast.
        src_index: int32 or int64 `[edges]`: the source of each edge.
        dst_index: the same: its target.
        message_op: "add", "sub", "mul" or "div".

    Shape:
        `[nodes, ...]` twice to `[edges, ...]`.

    Raises:
        TypeError: `x` or `y` is not a Tensor, or an index is not int32 or int64 (also a ValueError).
        ValueError: an unknown message, or shapes that do not broadcast.
        IndexError: an index is out of range.

    Source:
        `paddle.geometric.send_uv`.

    Examples:
        >>> x, y = wherry.to_tensor([[1.0], [2.0]]), wherry.to_tensor([[10.0], [20.0]])
        >>> print(wherry.geometric.send_uv(x, y, wherry.to_tensor([0, 1]), wherry.to_tensor([1, 1])).tolist())
        [[21.0], [22.0]]
    """
    left = _gathered("send_uv", require_tensor(x, "send_uv"), src_index, "src_index")
    right = _gathered("send_uv", require_tensor(y, "send_uv", "y"), dst_index, "dst_index")
    return _joined("send_uv", left, right, message_op)


def _gathered(owner: str, x: Tensor, index: Any, name: str) -> Tensor:
    index = _indices(owner, index, name)
    if at_hand(index) and index.size and int(index.min().item()) < 0:
        raise InvalidIndexError(
            f"{owner}: an index is negative. Got {int(index.min().item())} in {name}, expected each in [0, {x.shape[0]}). Check it."
        )
    if not (at_hand(index) or is_symbolic(index)):  # the op raises the error when it runs
        index = never_from_the_end(index, x.shape[0])
    return ops.gather(x, index, axis=0)


def _joined(owner: str, left: Tensor, right: Tensor, how: Any) -> Tensor:
    if how not in _MESSAGES:
        raise InvalidArgumentError(
            f"{owner}: there is no such message. Got message_op={short(how)}, expected 'add', 'sub', 'mul' or 'div'. The default is 'add'."
        )
    for x in (left, right):
        require_rank(x, owner, 1, MAX_RANK)
    # The first axis is that of edges; the others broadcast as usual.
    rank = max(left.ndim, right.ndim)
    both = [reshape(x, [x.shape[0], *[1] * (rank - x.ndim), *x.shape[1:]]) if x.ndim < rank else x for x in (left, right)]
    return _MESSAGES[how](*both)


def _indices(owner: str, index: Any, name: str) -> Tensor:
    index = require_tensor(index, owner, name)
    if index.dtype not in (int32, int64):
        raise InvalidTypeError(f"{owner}: {name} is not an integer tensor. Got dtype {index.dtype.name}, expected int32 or int64. Cast it first.")
    if index.ndim == 2 and index.shape[1] == 1:
        return reshape(index, [-1])
    return require_rank(index, owner, 1, name=name)


# Neighbourhoods. Shapes of the results depend on values, so these compute on the host.


def reindex_graph(
    x: Tensor, neighbors: Tensor, count: Tensor, value_buffer: Tensor | None = None, index_buffer: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Reindex a sampled graph: number its nodes from 0, those of `x` first, then neighbours in the order in which they occur.

    Args:
        x: int32 or int64 `[nodes]`: nodes whose neighbours were sampled.
        neighbors: their neighbours, one node after another, `[edges]`.
        count: int32 `[nodes]`: the number of neighbours of each.
        value_buffer: no effect.
        index_buffer: no effect.

    Returns:
        The new numbers of the sources and of the targets of all edges, and the old numbers of all nodes.

    Shape:
        `[edges]`, `[edges]` and `[all nodes]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `count` does not add up to the number of neighbours.

    Source:
        `paddle.geometric.reindex_graph`.

    Examples:
        >>> x, neighbors = wherry.to_tensor([0, 1, 2]), wherry.to_tensor([8, 9, 0, 4, 7, 6, 7])
        >>> source, target, nodes = wherry.geometric.reindex_graph(x, neighbors, wherry.to_tensor([2, 3, 2], dtype="int32"))
        >>> print(source.tolist(), target.tolist(), nodes.tolist())
        [3, 4, 0, 5, 6, 7, 6] [0, 0, 1, 1, 1, 2, 2] [0, 1, 2, 8, 9, 4, 7, 6]
    """
    return _reindexed("reindex_graph", x, [neighbors], [count])


def reindex_heter_graph(
    x: Tensor, neighbors: Sequence[Tensor], count: Sequence[Tensor], value_buffer: Tensor | None = None, index_buffer: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Reindex a sampled graph with several kinds of edges, as `reindex_graph` does for one kind.

    Args:
        x: int32 or int64 `[nodes]`: nodes whose neighbours were sampled.
        neighbors: for each kind of edge the neighbours of all nodes, one node after another, `[edges]`.
        count: for each kind of edge the number of neighbours of each node, int32 `[nodes]`.
        value_buffer: no effect.
        index_buffer: no effect.

    Returns:
        The new numbers of the sources and of the targets of all edges, and the old numbers of all nodes.

    Shape:
        `[edges]`, `[edges]` and `[all nodes]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `neighbors` and `count` are not lists of the same length, or counts do not add up to the number of neighbours.

    Source:
        `paddle.geometric.reindex_heter_graph`.

    Examples:
        >>> x, one = wherry.to_tensor([0, 1]), wherry.to_tensor([1, 1], dtype="int32")
        >>> found = wherry.geometric.reindex_heter_graph(x, [wherry.to_tensor([5, 0]), wherry.to_tensor([1, 6])], [one, one])
        >>> print([part.tolist() for part in found])
        [[2, 0, 1, 3], [0, 1, 0, 1], [0, 1, 5, 6]]
    """
    if not isinstance(neighbors, (list, tuple)) or not isinstance(count, (list, tuple)) or len(neighbors) != len(count):
        raise InvalidArgumentError(
            f"reindex_heter_graph: neighbors and count are not lists of the same length. Got {short(neighbors)} and {short(count)}, "
            f"expected one of each for a kind of edge. Use reindex_graph for one kind."
        )
    return _reindexed("reindex_heter_graph", x, neighbors, count)


def _reindexed(owner: str, x: Any, neighbors: Sequence[Any], counts: Sequence[Any]) -> tuple[Tensor, Tensor, Tensor]:
    x = _indices(owner, x, "x")
    nodes: list[int] = x.tolist()
    number: dict[int, int] = {}
    for at, node in enumerate(nodes):
        number[node] = at  # for nodes that occur twice the last position counts
    source, target = [], []
    for seen, count in zip(neighbors, counts, strict=True):
        listed, many = _indices(owner, seen, "neighbors").tolist(), _indices(owner, count, "count").tolist()
        if sum(many) != len(listed) or len(many) != x.shape[0]:
            raise InvalidArgumentError(
                f"{owner}: the counts do not add up to the number of neighbours. Got {len(many)} counts whose sum is {sum(many)} for "
                f"{x.shape[0]} nodes with {len(listed)} neighbours, expected one for each node. Check their order."
            )
        for node in listed:
            if node not in number:
                number[node] = len(nodes)
                nodes.append(node)
        source += [number[node] for node in listed]
        target += [number[node] for node, n in zip(nodes, many, strict=False) for _ in range(n)]
    return tuple(to_tensor(values, dtype=x.dtype) for values in (source, target, nodes))  # type: ignore[return-value]


def sample_neighbors(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_size: int = -1, eids: Tensor | None = None, return_eids: bool = False,
    perm_buffer: Tensor | None = None, name: str | None = None,
) -> tuple[Tensor, ...]:
    """Sample neighbours of each node uniformly and without replacement.

    Args:
        row: neighbours of all nodes, one node after another, `[edges]`.
        colptr: `[nodes + 1]`: where those of each node begin.
        input_nodes: the nodes to sample for, `[n]`.
        sample_size: how many for each; -1 takes all.
        eids: ids of the edges, `[edges]`.
        return_eids: whether to return those of the sampled edges, too.
        perm_buffer: no effect.

    Returns:
        The neighbours, how many each node has (int32), and with `return_eids` the ids of their edges.

    Shape:
        `[sampled]`, `[n]` and `[sampled]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `return_eids` without `eids`.
        IndexError: a node is out of range.

    Source:
        `paddle.geometric.sample_neighbors`.

    Examples:
        >>> row, colptr = wherry.to_tensor([1, 2, 0]), wherry.to_tensor([0, 2, 3, 3])
        >>> neighbors, count = wherry.geometric.sample_neighbors(row, colptr, wherry.to_tensor([0, 2]))
        >>> print(neighbors.tolist(), count.tolist())
        [1, 2] [2, 0]
    """
    return _sampled("sample_neighbors", row, colptr, None, input_nodes, sample_size, eids, return_eids)


def weighted_sample_neighbors(
    row: Tensor, colptr: Tensor, edge_weight: Tensor, input_nodes: Tensor, sample_size: int = -1, eids: Tensor | None = None,
    return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:
    """Sample neighbours of each node without replacement, with probabilities proportional to the weights of the edges.

    Args:
        row: neighbours of all nodes, one node after another, `[edges]`.
        colptr: `[nodes + 1]`: where those of each node begin.
        edge_weight: `[edges]`, not negative.
        input_nodes: the nodes to sample for, `[n]`.
        sample_size: how many for each; -1 takes all.
        eids: ids of the edges, `[edges]`.
        return_eids: whether to return those of the sampled edges, too.

    Returns:
        The neighbours, how many each node has (int32), and with `return_eids` the ids of their edges.

    Shape:
        `[sampled]`, `[n]` and `[sampled]`.

    Raises:
        TypeError: an argument is not a Tensor, or not int32 or int64 (also a ValueError).
        ValueError: `return_eids` without `eids`.
        IndexError: a node is out of range.

    Source:
        `paddle.geometric.weighted_sample_neighbors`; Efraimidis & Spirakis (2006), Weighted random sampling with a reservoir.

    Examples:
        >>> row, colptr, weight = wherry.to_tensor([1, 2]), wherry.to_tensor([0, 2, 2, 2]), wherry.to_tensor([0.0, 1.0])
        >>> print(wherry.geometric.weighted_sample_neighbors(row, colptr, weight, wherry.to_tensor([0]), 1)[0].tolist())
        [2]
    """
    return _sampled("weighted_sample_neighbors", row, colptr, require_tensor(edge_weight, "weighted_sample_neighbors", "edge_weight"),
                    input_nodes, sample_size, eids, return_eids)


def _sampled(
    owner: str, row: Any, colptr: Any, weight: Tensor | None, nodes: Any, sample_size: Any, eids: Any, return_eids: bool
) -> tuple[Tensor, ...]:
    row, colptr, nodes = _indices(owner, row, "row"), _indices(owner, colptr, "colptr"), _indices(owner, nodes, "input_nodes")
    if return_eids and eids is None:
        raise InvalidArgumentError(f"{owner}: return_eids needs eids. Got return_eids=True and eids=None, expected the ids of the edges. Pass eids.")
    size, last = integer(sample_size, owner, "sample_size"), colptr.shape[0] - 2
    if nodes.size and not 0 <= int(nodes.min().item()) <= int(nodes.max().item()) <= last:
        raise InvalidIndexError(
            f"{owner}: a node is out of range. Got {int(nodes.min().item())} to {int(nodes.max().item())} in input_nodes, expected nodes in "
            f"[0, {last + 1})."
        )
    at = to_dtype(nodes, int64)
    begins = ops.gather(to_dtype(colptr, int64), at, axis=0).tolist()
    ends = ops.gather(to_dtype(colptr, int64), at + 1, axis=0).tolist()
    places: list[int] = []
    counts: list[int] = []
    wanted = [max(end - begin, 0) for begin, end in zip(begins, ends, strict=True)]
    if size >= 0 and any(n > size for n in wanted):
        # An exponential variable for each edge; the smallest ones are taken.
        keys = -ops.log(1 - ops.uniform(shape=(sum(wanted),), min=0.0, max=1.0, dtype=float64))
        if weight is not None:
            spread = [p for begin, n in zip(begins, wanted, strict=True) for p in range(begin, begin + n)]
            keys = keys / to_dtype(ops.gather(reshape(weight, [-1]), to_tensor(spread, dtype=int64), axis=0), float64)
        drawn, used = keys.tolist(), 0
        for begin, n in zip(begins, wanted, strict=True):
            rings = drawn[used : used + n]
            chosen = range(n) if n <= size else sorted(sorted(range(n), key=rings.__getitem__)[:size])
            places += [begin + i for i in chosen]
            counts.append(min(n, size))
            used += n
    else:
        for begin, n in zip(begins, wanted, strict=True):
            places += range(begin, begin + n)
            counts.append(n)
    taken = to_tensor(places, dtype=int64)
    found = (ops.gather(row, taken, axis=0), to_tensor(counts, dtype=int32))
    return (*found, ops.gather(_indices(owner, eids, "eids"), taken, axis=0)) if return_eids else found


explained(globals())
