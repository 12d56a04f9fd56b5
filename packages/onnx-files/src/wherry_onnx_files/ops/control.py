"""If, Loop and Scan. Inner graphs see the names around them."""
import numpy as np

import wherry_program.program.control as flow
from wherry_onnx_files.column import reads
from wherry_onnx_files.elements import dtype_of
from wherry_onnx_files.errors import NeedsValue, OnnxFileError, UnreadableOp, plain
from wherry_onnx_files.numbers import Numbers, is_known
from wherry_program.program.capture import current_capture
from wherry_tensor import _core, ops


def _tensors(values):
    return [x.tensor() if isinstance(x, Numbers) else x for x in values]


@reads("If", folds=False, keeps=False)
def read_if(o):
    then, other = o.graph("then_branch"), o.graph("else_branch")
    chosen = o.x(0)
    if not _core.is_symbolic(chosen):
        return tuple(o.reader.inner(then if bool(chosen.item()) else other, []))

    def branch(graph):
        found = _tensors(o.reader.inner(graph, []))
        if any(not isinstance(x, _core.Tensor) for x in found):
            raise NeedsValue(f"onnx: {o.where} chooses between sequences, which only a run knows. Expected tensors. Run the model node by node.")
        return [x if getattr(x, "is_array", False) else _as_condition(ops.copy(x)) for x in found]

    try:
        return tuple(flow.cond(ops.reshape(chosen, shape=()), lambda: branch(then), lambda: branch(other)))
    except (NeedsValue, UnreadableOp):
        raise
    except OnnxFileError as error:  # that branch may be for other shapes: other libraries look at the branch that is taken alone
        raise NeedsValue(f"onnx: {o.where} has a branch that does not fit here, and which one is taken only a run knows: {plain(error)}") from error
    except ValueError as error:
        if "does not fit" in str(error):
            raise NeedsValue(f"onnx: {o.where} has branches whose results differ in rank or dtype: {error}") from error
        raise


def _as_condition(x):
    """One bool as `[1]`, whatever its rank: branches and rounds differ in the rank of what loops and branches then ask for."""
    return ops.reshape(x, shape=(1,)) if x.dtype is _core.bool_ and tuple(x.shape) == () else x


@reads("Loop", folds=False, keeps=False)
def read_loop(o):
    body = o.graph("body")
    state = [o.value(i) for i in range(2, len(o))]
    limit = o.maybe(0)
    goes_on = o.maybe(1)
    n_state = len(state)
    n_scan = len(body.outputs) - 1 - n_state
    if n_scan < 0:
        raise o.bad(f"its body has {len(body.outputs)} outputs", f"at least {1 + n_state}")
    known = all(x is None or not _core.is_symbolic(x) for x in (limit, goes_on))
    if current_capture() is None or (known and _fixed(o, body, limit)):
        return _loop_now(o, body, state, limit, goes_on, n_scan)
    return _recorded_loop(o, body, _tensors(state), limit, goes_on, n_scan)


def _fixed(o, body, limit):
    """Whether a loop runs a small number of rounds that is known: its body hands the condition on."""
    if limit is None or int(limit.item()) > 32 or not body.outputs or len(body.inputs) < 2:
        return False
    name, condition = body.outputs[0].name, body.inputs[1].name
    while name != condition:
        node = next((n for n in body.nodes if name in n.outputs), None)
        if node is None or node.op_type not in ("Identity", "Cast") or not node.inputs:
            return False
        name = node.inputs[0]
    return True


def _loop_now(o, body, state, limit, goes_on, n_scan):
    rounds = None if limit is None else int(limit.item())
    on = True if goes_on is None else bool(goes_on.item())
    scans = [[] for _ in range(n_scan)]
    i = 0
    n = len(state)
    while on and (rounds is None or i < rounds):
        found = o.reader.inner(body, [Numbers(np.array(i, object)), _core.scalar(True, _core.bool_), *state])
        condition = found[0]
        state = found[1 : 1 + n]
        for scan, x in zip(scans, _tensors(found[1 + n :])):
            scan.append(x)
        i += 1
        if isinstance(condition, _core.Tensor) and not _core.is_symbolic(condition):
            on = bool(condition.item())
        elif goes_on is not None and rounds is None:
            raise NeedsValue(f"onnx: {o.where} runs until a value says so. Expected a number of rounds. Run the model node by node.")
    return (*state, *(_stacked(o, scan, body, n + 1 + k) for k, scan in enumerate(scans)))


def _stacked(o, scan, body, at):
    if scan:
        return ops.concat(*(ops.unsqueeze(x, axes=(0,)) for x in scan), axis=0)
    t = body.outputs[at].type
    if t is None or t.tensor is None or t.tensor.shape is None:
        raise o.unsupported("no rounds, and a result whose shape is not written down", "a shape for it")
    return ops.full(shape=(0, *(d.value or 0 for d in t.tensor.shape.dims)), value=0, dtype=o.dtype(t.tensor.elem_type))


def _recorded_loop(o, body, state, limit, goes_on, n_scan):
    if any(not isinstance(x, _core.Tensor) for x in state):
        raise NeedsValue(f"onnx: {o.where} carries sequences from round to round. Expected tensors. Run the model node by node.")
    state = [*map(_as_condition, state)]
    n = len(state)
    true = _core.scalar(True, _core.bool_)
    first = true if goes_on is None else ops.reshape(goes_on, shape=())
    first = ops.copy(first) if _core.is_symbolic(first) else flow_variable(first)
    last = None if limit is None else ops.reshape(ops.cast(limit, dtype=_core.int64), shape=())
    shapes = {}

    def test(i, on, *_rest):
        return on if last is None else ops.logical_and(on, ops.less_than(i, last))

    def round_(i, on, *values):
        found = _tensors(o.reader.inner(body, [i, on, *values[:n]]))
        arrays = []
        for k, (array, x) in enumerate(zip(values[n:], found[1 + n :])):
            shapes[k] = tuple(m if is_known(m) else -1 for m in x.shape)
            arrays.append(flow.array_append(array, x))
        handed = (_own(_as_condition(x)) for x in found[1 : 1 + n])
        return [ops.add(i, _core.scalar(1, _core.int64)), _own(ops.reshape(found[0], shape=())), *handed, *arrays]

    i = flow_variable(_core.scalar(0, _core.int64))
    if all(x is None or (not _core.is_symbolic(x) and x.item() > 0) for x in (limit, goes_on)):
        state = _started(o, body, state, [i, first, *state])
    dtypes = _dtypes(o, body, 1 + n, [i, first, *state])
    start = [i, first, *(flow_variable(x) for x in state), *(flow.create_array(d) for d in dtypes)]
    try:
        found = flow.while_loop(test, round_, start)
    except ValueError as error:
        if "does not fit" in str(error):
            raise NeedsValue(f"onnx: {o.where} carries values whose rank or dtype changes: {error}") from error
        raise
    return (*found[2 : 2 + n], *(flow.array_stack(a, (-1, *shapes[k])) for k, a in enumerate(found[2 + n :])))


def _dtypes(o, body, start, inputs):
    """The dtypes of what a body gives in each round, from its output `start` on."""
    types = [t.type for t in body.outputs[start:]]
    if all(t is not None and t.tensor is not None and t.tensor.elem_type for t in types):
        return [dtype_of(t.tensor.elem_type, f"a result of {o.where}") for t in types]
    return [x.dtype for x in _looked_at(o, body, inputs)[start:]]


def _looked_at(o, body, inputs):
    """What a body gives, recorded nowhere: only to see what they are."""
    block = current_capture().block
    mark = len(block.nodes)
    found = _tensors(o.reader.inner(body, inputs))
    block.forget(mark)
    return found


def _started(o, body, state, inputs):
    """The values that a loop of one round or more starts with. What its body does not read, but hands on, may have any rank and dtype before."""
    unread = [x.name not in _read_in(o.reader, body) for x in body.inputs[2:]]
    if not any(unread):
        return state
    found = _looked_at(o, body, inputs)[1 : 1 + len(state)]
    started = []
    for x, y, free in zip(state, map(_as_condition, found), unread):
        other = free and (x.ndim, x.dtype) != (y.ndim, y.dtype)
        started.append(ops.full(shape=tuple(m if is_known(m) else 1 for m in y.shape), value=0, dtype=y.dtype) if other else x)
    return started


def _read_in(reader, graph):
    """The names that nodes of a graph read, or graphs in it."""
    names = {name for node in graph.nodes for name in node.inputs}
    for node in graph.nodes:
        for a in node.attributes:
            if a.g is not None:
                inner = reader.graph(a)
                names |= _read_in(reader, inner) | {x.name for x in inner.outputs}
    return names


def _own(x):
    """What a round hands on is computed in it."""
    return ops.copy(x)


def flow_variable(x):
    """A variable with the value of a constant."""
    return ops.copy(x) if not _core.is_symbolic(x) else x


@reads("Scan", folds=False, keeps=False)
def read_scan(o):
    body = o.graph("body")
    n_scan = o.integer("num_scan_inputs")
    old = o.version < 9
    if old:
        return _batched_scan(o, body, n_scan)
    n = len(o) - n_scan
    if n_scan < 1 or n < 0:
        raise o.bad(f"it has {len(o)} inputs and scans {n_scan}", "one or more to scan")
    state, xs = [o.x(i) for i in range(n)], [o.x(i) for i in range(n, len(o))]
    return _scanned(o, body, state, xs, o.ints_of("scan_input_directions"), o.ints_of("scan_output_directions"),
                    o.ints_of("scan_input_axes"), o.ints_of("scan_output_axes"))  # fmt: skip


def _batched_scan(o, body, n_scan):
    """Opset 8: a batch in front of everything."""
    if o.has(0):
        raise o.unsupported("lengths of sequences", "none")
    n = len(o) - 1 - n_scan
    batch = o.x(1).shape[0]
    if not is_known(batch):
        raise o.open_size("the batch")
    o.bound(batch, 1 << 12, "the batch")
    found = []
    for b in range(batch):
        values = [ops.select(o.x(i), axis=0, index=b) for i in range(1, len(o))]
        found.append(_scanned(o, body, values[:n], values[n:], o.ints_of("directions"), None, None, None))
    return tuple(ops.concat(*(ops.unsqueeze(f[i], axes=(0,)) for f in found), axis=0) for i in range(len(found[0])))


# In one piece: the loop, and what is scanned before and after it.
def _scanned(o, body, state, xs, directions, out_directions, axes, out_axes):
    n, count = len(state), len(xs)
    axes = [axis % x.ndim for axis, x in zip(axes or [0] * count, xs)]
    directions = directions or [0] * count
    rounds = xs[0].shape[axes[0]]
    n_out = len(body.outputs) - n
    if is_known(rounds) and (current_capture() is None or rounds <= 64):
        scans = [[] for _ in range(n_out)]
        for t in range(rounds):
            parts = [ops.select(x, axis=axis, index=rounds - 1 - t if d else t) for x, axis, d in zip(xs, axes, directions)]
            found = _tensors(o.reader.inner(body, [*state, *parts]))
            state = found[:n]
            for scan, x in zip(scans, found[n:]):
                scan.append(x)
        outs = [_stacked(o, scan, body, n + k) for k, scan in enumerate(scans)]
    else:
        turned = [ops.flip(x, axes=(axis,)) if d else x for x, axis, d in zip(xs, axes, directions)]
        total = rounds.tensor(_core.int64) if not is_known(rounds) else _core.scalar(rounds, _core.int64)
        shapes = {}

        def round_(i, *values):
            parts = [ops.squeeze(ops.gather(x, ops.reshape(i, shape=(1,)), axis=axis), axes=(axis,)) for x, axis in zip(turned, axes)]
            found = _tensors(o.reader.inner(body, [*values[:n], *parts]))
            arrays = []
            for k, (array, x) in enumerate(zip(values[n:], found[n:])):
                shapes[k] = tuple(m if is_known(m) else -1 for m in x.shape)
                arrays.append(flow.array_append(array, x))
            return [ops.add(i, _core.scalar(1, _core.int64)), *map(_own, found[:n]), *arrays]

        dtypes = _dtypes(o, body, n, [*state, *(ops.select(x, axis=axis, index=0) for x, axis in zip(turned, axes))])
        start = [flow_variable(_core.scalar(0, _core.int64)), *map(flow_variable, state), *(flow.create_array(d) for d in dtypes)]
        found = flow.while_loop(lambda i, *_: ops.less_than(i, total), round_, start)
        state = found[1 : 1 + n]
        outs = [flow.array_stack(a, (-1, *shapes[k])) for k, a in enumerate(found[1 + n :])]
    results = []
    for x, d, axis in zip(outs, out_directions or [0] * n_out, out_axes or [0] * n_out):
        x = ops.flip(x, axes=(0,)) if d else x
        if axis % x.ndim:
            order = list(range(1, x.ndim))
            order.insert(axis % x.ndim, 0)
            x = ops.transpose(x, perm=tuple(order))
        results.append(x)
    return (*state, *results)
