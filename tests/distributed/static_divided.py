"""Programs of static mode whose layers are divided among processes, against one process, which has all of them and the whole batch."""
import sys
import warnings

import numpy as np

import wherry as paddle
import wherry.distributed as dist
from wherry.distributed import fleet
from wherry.nn import functional as F

warnings.simplefilter("ignore")
paddle.enable_static()
data = np.random.default_rng(0)
X, Y = data.integers(0, 12, (8, 4)), data.integers(0, 6, (8, 1))
rank, size = dist.get_rank(), dist.get_world_size()


def whole(x, y, drop):
    h = paddle.static.nn.embedding(x, [12, 8]).flatten(1)
    h = F.gelu(paddle.static.nn.fc(h, 16))
    h = paddle.static.nn.fc(h, 8)
    return F.cross_entropy(paddle.static.nn.fc(h, 6, bias_attr=False), y)


def divided(x, y, drop):
    h = dist.split(x, (12, 8), "embedding", num_partitions=drop).flatten(1)
    h = F.gelu(dist.split(h, (32, 16), "linear", axis=1, num_partitions=drop, gather_out=False))
    h = fleet.meta_parallel.RowParallelLinear(16, 8, input_is_parallel=True)(h)
    logits = fleet.meta_parallel.ColumnParallelLinear(8, 6, has_bias=False, gather_output=False)(h)
    return fleet.meta_parallel.ParallelCrossEntropy()(logits, y).mean()


def losses(model, optimizer, rows, parts):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.seed(11)
        x, y = paddle.static.data("x", [None, 4], "int64"), paddle.static.data("y", [None, 1], "int64")
        loss = model(x, y, parts)
        optimizer().minimize(loss)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        found = [float(exe.run(main, feed={"x": X[rows], "y": Y[rows]}, fetch_list=[loss])[0]) for _ in range(5)]
        return found, {p.name: np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()}


def check(parts, kind, **settings):
    strategy = fleet.DistributedStrategy()
    strategy.tensor_parallel, strategy.tensor_parallel_configs = True, {"tensor_parallel_degree": parts}
    for name, value in settings.items():
        setattr(strategy, name, value)
    fleet.init(is_collective=True, strategy=strategy)
    samples, which = size // parts, rank // parts
    found, values = losses(divided, lambda: fleet.distributed_optimizer(kind()), slice(which * 8 // samples, (which + 1) * 8 // samples), parts)
    mean = fleet.util.all_reduce(np.array(found), "sum") / size
    expected, _ = losses(whole, kind, slice(None), 1)
    np.testing.assert_allclose(mean, expected, atol=1e-6, err_msg=f"{parts} {settings}")
    # what is not divided is the same in all processes
    shared = [values[name] for name in values if name.startswith("row_parallel") and ".b" in name]
    assert shared and all(np.array_equal(each, shared[0]) for each in fleet.util.all_gather(shared[0]))


def momentum():
    return paddle.optimizer.Momentum(0.1, 0.9)


check(2, momentum)
check(2, lambda: paddle.optimizer.AdamW(0.05, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.05)))
if size > 2:
    check(2, momentum, sharding=True, sharding_configs={"sharding_degree": size // 2})
print(f"all right {rank}", file=sys.stderr)
