"""Programs of static mode whose sequences are divided among processes, against one process, which has the whole sequence."""
import sys
import warnings

import numpy as np

import wherry as paddle
import wherry.distributed as dist
from wherry.distributed import fleet
from wherry.nn import functional as F

sp = fleet.utils.sequence_parallel_utils
warnings.simplefilter("ignore")
paddle.enable_static()
rank, size = dist.get_rank(), dist.get_world_size()
LENGTH, BATCH, HEADS, WIDTH = 8, 4, 2, 12
X = np.random.default_rng(0).standard_normal((BATCH, LENGTH, WIDTH)).astype("float32")


def losses(model, optimizer, feed, length):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.seed(11)
        x = paddle.static.data("x", length)
        loss = model(x)
        optimizer().minimize(loss)
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        return [float(exe.run(main, feed={"x": feed}, fetch_list=[loss])[0]) for _ in range(5)]


def check(whole, divided, feed, shape, **degrees):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{name}_degree": n for name, n in degrees.items()}
    fleet.init(is_collective=True, strategy=strategy)
    found = losses(divided, lambda: fleet.distributed_optimizer(momentum()), feed(fleet.get_hybrid_communicate_group()), shape)
    mean = fleet.util.all_reduce(np.array(found), "sum") / size
    np.testing.assert_allclose(mean, losses(whole, momentum, X, [None, LENGTH, WIDTH]), atol=1e-6, err_msg=str(degrees))


def momentum():
    return paddle.optimizer.Momentum(0.5, 0.9, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))


# Attention over a sequence of which each process has a part from the beginning to the end.


def attending(attention):
    def model(x):
        q, k, v = (paddle.nn.Linear(WIDTH, WIDTH)(x).reshape([BATCH, -1, HEADS, WIDTH // HEADS]) for _ in range(3))
        out = attention(q, k, v).reshape([BATCH, -1, WIDTH])
        return (paddle.nn.Linear(WIDTH, 3)(out) ** 2).mean()

    return model


def own_part(hcg):
    part = LENGTH // size
    return np.ascontiguousarray(X[:, hcg.get_sep_parallel_rank() * part :][:, :part])


for causal in (True, False):
    check(
        attending(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),  # noqa: B023
        attending(lambda q, k, v: dist.ring_attention(q, k, v, causal=causal)),  # noqa: B023
        own_part, [BATCH, LENGTH // size, WIDTH], sep=size)

# Divided layers, between which each process has a part of the sequence; it is the first axis there.


def plain(x):
    h = paddle.nn.LayerNorm(WIDTH)(x.transpose([1, 0, 2]))
    h = F.gelu(paddle.nn.Linear(WIDTH, 16)(h))
    h = paddle.nn.Linear(16, WIDTH)(h)
    return (paddle.nn.LayerNorm(WIDTH)(h) * F.gelu(h)).mean()


def in_parts(x):
    h = sp.ScatterOp.apply(x.transpose([1, 0, 2]))
    first, last = paddle.nn.LayerNorm(WIDTH), paddle.nn.LayerNorm(WIDTH)
    for norm in (first, last):
        for p in norm.parameters():
            sp.mark_as_sequence_parallel_parameter(p)
    h = first(h)
    h = sp.ColumnSequenceParallelLinear(WIDTH, 16, gather_output=False, has_bias=True)(h)
    h = sp.RowSequenceParallelLinear(16, WIDTH, input_is_parallel=True)(F.gelu(h))
    h = last(h) * F.gelu(h)
    return sp.GatherOp.apply(h).mean()


check(plain, in_parts, lambda hcg: X, [None, LENGTH, WIDTH], mp=size)
if size == 4:
    check(plain, in_parts, lambda hcg: X[hcg.get_data_parallel_rank() * 2 :][:2], [None, LENGTH, WIDTH], mp=2, dp=2)
print(f"all right {rank}", file=sys.stderr)
