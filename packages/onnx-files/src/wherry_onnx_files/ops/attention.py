"""Attention and positions by rotation."""
import math

from wherry_onnx_files.column import MICROSOFT, reads
from wherry_onnx_files.elements import dtype_of
from wherry_onnx_files.numbers import is_known
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops


def _heads(x, n):
    """[B, S, n * D] as [B, n, S, D]."""
    if x.ndim == 4:
        return x
    b, s, width = x.shape
    return ops.transpose(ops.reshape(x, shape=(b, s, n, width // n)), perm=(0, 2, 1, 3))


def _joined(x):
    """[B, n, S, D] as [B, S, n * D]."""
    b, n, s, d = x.shape
    return ops.reshape(ops.transpose(x, perm=(0, 2, 1, 3)), shape=(b, s, n * d))


def _repeated(x, times):
    """Heads that several queries share, once for each."""
    if times == 1:
        return x
    b, n, s, d = x.shape
    wide = ops.broadcast_to(ops.unsqueeze(x, axes=(2,)), shape=(b, n, times, s, d))
    return ops.reshape(wide, shape=(b, n * times, s, d))


def _number(n):
    return _core.scalar(n, _core.int64) if is_known(n) else n.tensor(_core.int64)


def _range(n):
    return ops.arange(start=0, step=1, length=n, dtype=_core.int64)


# In one piece: one product, its mask, its softmax and the other product, with what a node may ask of each.
@reads("Attention")
def read_attention(o):
    q, k, v = o.x(0), o.x(1), o.x(2)
    flat = q.ndim == 3
    dtype = q.dtype
    if flat:
        q, k, v = _heads(q, o.integer("q_num_heads")), _heads(k, o.integer("kv_num_heads")), _heads(v, o.integer("kv_num_heads"))
    past = 0
    if o.has(4):
        past = o.x(4).shape[2]
        k, v = ops.concat(o.x(4), k, axis=2), ops.concat(o.x(5), v, axis=2)
    present = k, v
    groups = q.shape[1] // k.shape[1]
    k, v = _repeated(k, groups), _repeated(v, groups)
    scale = o.number("scale") if o.given("scale") else 1 / math.sqrt(q.shape[3])
    root = scalar(q, math.sqrt(scale))
    sums = ops.matmul(ops.multiply(q, root), ops.multiply(k, root), transpose_x=False, transpose_y=True)
    raw, after = sums, o.integer("qk_matmul_output_mode")
    bias = _bias(o, sums, past, _core.float32 if dtype.name in ("float16", "bfloat16") else dtype)
    softcap = o.number("softcap")
    if softcap:
        sums = ops.multiply(ops.tanh(ops.divide(sums, scalar(sums, softcap))), scalar(sums, softcap))
    capped = sums
    if bias is not None:
        sums = ops.add(sums, ops.cast(bias, dtype=sums.dtype))
    masked = sums
    wide = dtype_of(o.integer("softmax_precision"), o.where) if o.given("softmax_precision") else dtype
    weights = ops.softmax(ops.cast(sums, dtype=wide) if wide is not dtype else sums, axis=3)
    if bias is not None:  # a row that sees nothing
        nothing = ops.reduce_all(ops.equal(masked, scalar(masked, float("-inf"))), axes=(3,), keepdim=True)
        weights = ops.where(nothing, scalar(weights, 0), weights)
    weights = ops.cast(weights, dtype=dtype) if wide is not dtype else weights
    out = ops.matmul(weights, v, transpose_x=False, transpose_y=False)
    return (_joined(out) if flat else out), *present, (raw, capped, masked, weights)[after]


def _modified(o, name, x):
    """What a graph of the node makes of scores or weights."""
    if not o.given(name):
        return x
    found = o.reader.inner(o.graph(name), [x])
    if len(found) != 1 or getattr(found[0], "dtype", None) is not x.dtype or len(found[0].shape) != x.ndim:
        raise o.bad(f"its graph {name!r} gives {len(found)} results, or one of another dtype or rank", f"one of {x.dtype.name} and {x.ndim} axes")
    return found[0]


@reads("FlexAttention", domain="ai.onnx.preview")
def read_flex_attention(o):
    q, k, v = o.x(0), o.x(1), o.x(2)
    if not q.ndim == k.ndim == v.ndim == 4 or not is_known(q.shape[1]) or not is_known(k.shape[1]) or k.shape[1] < 1 or q.shape[1] % k.shape[1]:
        raise o.bad(f"its inputs have shapes {q.shape}, {k.shape} and {v.shape}", "4 axes, and a number of heads of Q that is a multiple of K's")
    wide = dtype_of(o.integer("softmax_precision"), o.where) if o.given("softmax_precision") else (
        _core.float64 if q.dtype is _core.float64 else _core.float32
    )
    groups, dtype = q.shape[1] // k.shape[1], q.dtype
    q, k, v = (ops.cast(x, dtype=wide) for x in (q, _repeated(k, groups), _repeated(v, groups)))
    scale = scalar(q, o.number("scale") if o.given("scale") else 1 / math.sqrt(q.shape[3]))
    scores = ops.multiply(ops.matmul(q, k, transpose_x=False, transpose_y=True), scale)
    weights = _modified(o, "prob_mod", ops.softmax(_modified(o, "score_mod", scores), axis=3))
    return ops.cast(ops.matmul(weights, v, transpose_x=False, transpose_y=False), dtype=dtype)


def _bias(o, sums, past, wide):
    """What is added before the softmax: -inf where nothing may be seen; None for nothing."""
    bias = None
    queries, keys = sums.shape[2], sums.shape[3]
    if o.has(3):
        mask = o.x(3)
        if mask.dtype.name == "bool":
            mask = ops.where(mask, _core.scalar(0.0, wide), _core.scalar(float("-inf"), wide))
        n = mask.shape[-1]
        if is_known(n) and is_known(keys) and n < keys:
            pads = [0] * (2 * mask.ndim)
            pads[-1] = keys - n
            mask = ops.pad(ops.cast(mask, dtype=wide), paddings=tuple(pads), value=float("-inf"))
        bias = ops.cast(mask, dtype=wide)
    if o.has(6):
        counts = ops.reshape(ops.cast(o.x(6), dtype=_core.int64), shape=(-1, 1, 1, 1))
        there = ops.less_than(_range(keys), counts)
        mine = ops.where(there, _core.scalar(0.0, wide), _core.scalar(float("-inf"), wide))
        bias = mine if bias is None else ops.add(bias, mine)
    left, right = o.integer("left_window_size", -1), o.integer("right_window_size", -1)
    right = 0 if o.flag("is_causal") else right
    if left >= 0 or right >= 0:
        row, column = ops.unsqueeze(_range(queries), axes=(1,)), ops.unsqueeze(_range(keys), axes=(0,))
        if o.has(6):  # queries stand at the end of what is there
            counts = ops.reshape(ops.cast(o.x(6), dtype=_core.int64), shape=(-1, 1, 1, 1))
            row = ops.add(row, ops.subtract(counts, _number(queries)))
        else:
            row = ops.add(row, _number(past))
        seen = ops.full(shape=(1, 1), value=True, dtype=_core.bool_)
        if right >= 0:
            seen = ops.logical_and(seen, ops.less_equal(column, ops.add(row, _core.scalar(right, _core.int64))))
        if left >= 0:
            seen = ops.logical_and(seen, ops.greater_equal(column, ops.subtract(row, _core.scalar(left, _core.int64))))
        mine = ops.where(seen, _core.scalar(0.0, wide), _core.scalar(float("-inf"), wide))
        bias = mine if bias is None else ops.add(bias, mine)
    return bias


@reads("RotaryEmbedding")
@reads("RotaryEmbedding", domain=MICROSOFT)
def read_rotary_embedding(o):
    contrib = o.node.domain == MICROSOFT
    x = o.x(0)
    if contrib:
        position, cos, sin = o.x(1), o.x(2), o.x(3)
    else:
        cos, sin, position = o.x(1), o.x(2), o.maybe(3)
    heads, flat = o.integer("num_heads"), x.ndim == 3
    dim = o.integer("rotary_embedding_dim")
    if flat:
        b, s, width = x.shape
        if not heads:
            heads = width // (2 * cos.shape[-1])
        x = ops.reshape(x, shape=(b, s, heads, width // heads))
    else:
        x = ops.transpose(x, perm=(0, 2, 1, 3))
    size = x.shape[3]
    turned = dim or size
    head = ops.slice(x, axes=(3,), starts=(0,), ends=(turned,), steps=(1,))
    tail = ops.slice(x, axes=(3,), starts=(turned,), ends=(size,), steps=(1,)) if turned != size else None
    if position is not None:
        if contrib and position.ndim == 1:
            position = ops.unsqueeze(ops.add(position, _range(x.shape[1])), axes=(0,))
        cos, sin = ops.gather(cos, position, axis=0), ops.gather(sin, position, axis=0)
    cos, sin = (ops.unsqueeze(ops.slice(t, axes=(t.ndim - 1,), starts=(0,), ends=(turned // 2,), steps=(1,)), axes=(2,)) for t in (cos, sin))
    if o.flag("interleaved"):
        a, b_ = (ops.slice(head, axes=(3,), starts=(i,), ends=(turned,), steps=(2,)) for i in (0, 1))
    else:
        a, b_ = (ops.slice(head, axes=(3,), starts=(i * (turned // 2),), ends=((i + 1) * (turned // 2),), steps=(1,)) for i in (0, 1))
    real = ops.subtract(ops.multiply(cos, a), ops.multiply(sin, b_))
    imaginary = ops.add(ops.multiply(sin, a), ops.multiply(cos, b_))
    if o.flag("interleaved"):
        pairs = ops.concat(ops.unsqueeze(real, axes=(4,)), ops.unsqueeze(imaginary, axes=(4,)), axis=4)
        out = ops.reshape_like(pairs, head)
    else:
        out = ops.concat(real, imaginary, axis=3)
    if tail is not None:
        out = ops.concat(out, tail, axis=3)
    return ops.reshape(out, shape=(x.shape[0], x.shape[1], heads * size)) if flat else ops.transpose(out, perm=(0, 2, 1, 3))


@reads("MultiHeadAttention", domain=MICROSOFT)
def read_multi_head_attention(o):
    n = o.integer("num_heads")
    if any(o.has(i) for i in (4, 6, 7)) or not o.has(2) or o.x(1).ndim != 3:
        raise o.unsupported("packed keys, masks of padding or values from before", "query, key and value, a bias and a mask that is added")
    q, k, v = o.x(0), o.x(1), o.x(2)
    if o.has(3):
        at = 0
        parts = []
        for x in (q, k, v):
            width = x.shape[2]
            parts.append(ops.add(x, ops.slice(o.x(3), axes=(0,), starts=(at,), ends=(at + width,), steps=(1,))))
            at += width
        q, k, v = parts
    return _joined(_seen(o, _heads(q, n), _heads(k, n), _heads(v, n), o.maybe(5)))


@reads("Attention", domain=MICROSOFT)
def read_contrib_attention(o):
    n = o.integer("num_heads")
    if any(o.has(i) for i in (3, 4)):
        raise o.unsupported("a mask of padding, or values from before", "input, weights, bias and a mask that is added")
    sums = ops.add(ops.matmul(o.x(0), o.x(1), transpose_x=False, transpose_y=False), o.x(2))
    sizes = o.ints_of("qkv_hidden_sizes", [sums.shape[2] // 3] * 3)
    parts, at = [], 0
    for width in sizes:
        parts.append(_heads(ops.slice(sums, axes=(2,), starts=(at,), ends=(at + width,), steps=(1,)), n))
        at += width
    return _joined(_seen(o, *parts, o.maybe(5)))


def _seen(o, q, k, v, bias):
    scale = o.number("scale") if o.number("scale") else 1 / math.sqrt(q.shape[3])
    sums = ops.multiply(ops.matmul(q, k, transpose_x=False, transpose_y=True), scalar(q, scale))
    if bias is not None:
        sums = ops.add(sums, bias)
    if o.flag("unidirectional"):
        row, column = ops.unsqueeze(_range(sums.shape[2]), axes=(1,)), ops.unsqueeze(_range(sums.shape[3]), axes=(0,))
        sums = ops.where(ops.less_equal(column, row), sums, scalar(sums, float("-inf")))
    return ops.matmul(ops.softmax(sums, axis=3), v, transpose_x=False, transpose_y=False)


@reads("LinearAttention")
def read_linear_attention(o):
    """A state of outer products that each step decays, corrects and reads."""
    heads, states, rule = o.integer("q_num_heads"), o.integer("kv_num_heads"), o.text("update_rule", "gated_delta")
    q, k, v = _heads(o.x(0), heads), _heads(o.x(1), states), _heads(o.x(2), states)
    time, dtype = q.shape[2], q.dtype
    if rule not in ("linear", "gated", "delta", "gated_delta") or not is_known(time):
        raise o.bad(f"its update_rule is {rule!r}", "linear, gated, delta or gated_delta") if is_known(time) else o.open_size("the number of steps")
    o.bound(time, 1 << 12, "the number of steps")
    wide = _core.float32 if dtype.name in ("float16", "bfloat16") else dtype
    q, k, v = (ops.cast(x, dtype=wide) for x in (q, k, v))
    scale = o.number("scale") or 1 / math.sqrt(q.shape[3])
    decay = ops.exp(ops.cast(_heads(o.x(4), states), dtype=wide)) if rule.startswith("gated") else None
    beta = None
    if rule.endswith("delta"):
        beta = ops.cast(o.x(5), dtype=wide)
        shared = is_known(beta.shape[2]) and beta.shape[2] == 1
        beta = ops.unsqueeze(beta, axes=(1,)) if shared else _heads(beta, states)
    state = ops.cast(o.x(3), dtype=wide) if o.has(3) else ops.full(shape=(q.shape[0], states, k.shape[3], v.shape[3]), value=0, dtype=wide)
    outs = []
    for t in range(time):
        key, value = (ops.unsqueeze(ops.select(x, axis=2, index=t), axes=(3,)) for x in (k, v))
        if decay is not None:
            state = ops.multiply(state, ops.unsqueeze(ops.select(decay, axis=2, index=t), axes=(3,)))
        if beta is not None:
            value = ops.subtract(value, ops.matmul(state, key, transpose_x=True, transpose_y=False))
            value = ops.multiply(value, ops.unsqueeze(ops.select(beta, axis=2, index=t), axes=(3,)))
        state = ops.add(state, ops.matmul(key, value, transpose_x=False, transpose_y=True))
        query = ops.unsqueeze(ops.select(q, axis=2, index=t), axes=(2,))
        outs.append(ops.matmul(query, _repeated(state, heads // states), transpose_x=False, transpose_y=False))
    out = ops.multiply(ops.concat(*outs, axis=2), scalar(q, scale))
    return ops.cast(_joined(out), dtype=dtype), ops.cast(state, dtype=o.x(3).dtype if o.has(3) else dtype)
