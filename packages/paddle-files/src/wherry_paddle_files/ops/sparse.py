"""Message passing on graphs, and segment reductions."""
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.ops.indexing import size_of
from wherry_paddle_files.writing import longs
from wherry_tensor import ops
from wherry_tensor.arguments import integer
from wherry_tensor.sizes import Size


def _sent(w, x, source, target, count, how):
    """Aggregate rows of x at the targets of edges."""
    if x.dtype not in ("float32", "float64", "int32", "int64") or x.ndim < 1 or count == 0:
        return NotImplemented
    if source is None:
        source = w.cast(w.count(target.shape[0] if target.shape[0] >= 0 else size_of(w, target, 0)), target.dtype)
    given = {"X": x, "Src_index": w.cast(source, target.dtype), "Dst_index": target}
    if type(count) is Size:
        given["Out_size"] = w.size(count)
    attrs = {"reduce_op": how, "out_size": longs([0 if type(count) is Size else count])}
    return w("graph_send_recv", given, attrs, ("Out", "~Dst_count"), shape=w.outs[0].sizes)


@writes(ops.edge_sum)
def write_edge_sum(w, x, source, target, *, count, mean, sorted):
    return _sent(w, x, source, target, count, "MEAN" if mean else "SUM")


@writes(ops.edge_extreme)
def write_edge_extreme(w, x, source, target, *, count, largest, sorted):
    return _sent(w, x, source, target, count, "MAX" if largest else "MIN")


def _reduced(o, x, source, target, count, how, sorted=False):
    if how in ("SUM", "MEAN"):
        return ops.edge_sum(x, source, target, count=count, mean=how == "MEAN", sorted=sorted)
    if how not in ("MAX", "MIN"):
        raise o.bad(f"it reduces by {how!r}", "SUM, MEAN, MAX or MIN")
    return ops.edge_extreme(x, source, target, count=count, largest=how == "MAX", sorted=sorted)


def _joined(o, left, right):
    """Messages: the first axis is that of edges, of the others the shorter shape is filled up in front."""
    how = o.text("message_op", "ADD")
    if how not in ("ADD", "MUL"):
        raise o.bad(f"its messages are of the kind {how!r}", "ADD or MUL")
    rank = max(left.ndim, right.ndim)
    left, right = (api.reshape(x, [x.shape[0], *[1] * (rank - x.ndim), *x.shape[1:]]) if x.ndim < rank else x for x in (left, right))
    return left + right if how == "ADD" else left * right


def _line(x):
    return api.reshape(x, [-1]) if x.ndim == 2 else x


@reads("graph_send_recv", "graph_send_ue_recv")
def read_graph_send_recv(o):
    x, source, target, y = o.x("X"), _line(o.x("Src_index")), _line(o.x("Dst_index")), o.maybe("Y")
    rows = x.shape[0]
    if y is not None:
        x, source = _joined(o, api.gather(x, source, 0), y), None
    size = o.maybe("Out_size")
    count = o.integers("out_size", [0])[0] if size is None else integer(size, o.type, "Out_size")
    how = o.text("reduce_op", o.text("pool_type", "SUM"))
    return {"Out": _reduced(o, x, source, target, rows if type(count) is int and count <= 0 else count, how)}


@reads("graph_send_uv", out="out")
def read_graph_send_uv(o):
    return _joined(o, api.gather(o.x("x"), _line(o.x("src_index")), 0), api.gather(o.x("y"), _line(o.x("dst_index")), 0))


@reads("segment_pool")
def read_segment_pool(o):
    x, ids = o.x("X"), o.x("SegmentIds")
    count = integer(ops.select(ids, axis=0, index=ids.shape[0] - 1) + 1, o.type, "SegmentIds")
    return _reduced(o, x, None, ids, count, o.text("pooltype", "SUM"), sorted=True)
