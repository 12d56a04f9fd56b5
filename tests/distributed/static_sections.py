"""A program of static mode in sections, each in processes of its own, against one process, which computes the whole batch."""
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
X, Y = data.standard_normal((24, 8)).astype("float32"), data.integers(0, 3, (24, 1))
rank, size = dist.get_rank(), dist.get_world_size()
guard = paddle.static.device_guard


def model(x, y, stages, divided):
    """What the first section makes, a later one than the second takes as well; labels are read by the last."""
    layers = fleet.meta_parallel
    with guard("gpu:0"):
        first = F.tanh(paddle.static.nn.fc(x, 12))
    h = first
    for i in range(1, stages):
        with guard(f"gpu:{i}"):
            if divided:
                h = layers.ColumnParallelLinear(12, 16, gather_output=False)(h)
                h = layers.RowParallelLinear(16, 12, input_is_parallel=True)(h)
            else:
                h = paddle.static.nn.fc(paddle.static.nn.fc(h, 16), 12)
            h = F.gelu(h) + first
    with guard(f"gpu:{stages - 1}"):
        return F.cross_entropy(paddle.static.nn.fc(h, 3), y)


def tied(x, y, stages, divided):
    """The first section and the last have a weight in common; one between them uses it where no gradient passes."""
    weight = paddle.static.create_parameter([8, 12], "float32", name="tied")
    with guard("gpu:0"):
        h = x.matmul(weight)
    for i in range(1, stages):
        with guard(f"gpu:{i}"):
            h = F.gelu(paddle.static.nn.fc(h, 12))
            h = h + weight.detach().mean() if i == 1 and stages > 2 else h
    with guard(f"gpu:{stages - 1}"):
        return F.cross_entropy(paddle.static.nn.fc(h.matmul(weight, transpose_y=True), 3), y)


def losses(optimizer, rows, stages, divided=False, model=model):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.seed(11)
        x, y = paddle.static.data("x", [None, 8]), paddle.static.data("y", [None, 1], "int64")
        loss = model(x, y, stages, divided)
        optimizer().minimize(loss)
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        return [float(exe.run(main, feed={"x": X[rows], "y": Y[rows]}, fetch_list=[loss])[0]) for _ in range(5)]


def check(kind, stages, parts=1, schedule="1F1B", named=True, model=model, **settings):
    strategy = fleet.DistributedStrategy()
    strategy.pipeline, strategy.pipeline_configs = True, {"accumulate_steps": 4, "micro_batch_size": 2, "schedule_mode": schedule}
    if named:
        strategy.hybrid_configs = {"pp_degree": stages, "mp_degree": parts}
    for name, value in settings.items():
        setattr(strategy, name, value)
    fleet.init(is_collective=True, strategy=strategy)
    samples = size // (stages * parts)
    which = rank // (stages * parts)
    rows = slice(which * 24 // samples, (which + 1) * 24 // samples)
    mean = fleet.util.all_reduce(np.array(losses(lambda: fleet.distributed_optimizer(kind()), rows, stages, parts > 1, model)), "sum") / size
    np.testing.assert_allclose(mean, losses(kind, slice(None), stages, model=model), atol=1e-6, err_msg=f"{stages} {parts} {schedule} {settings}")


def momentum():
    return paddle.optimizer.Momentum(0.1, 0.9)


def clipped():
    return paddle.optimizer.Adam(0.02, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.05))


check(momentum, 2, named=False)
check(clipped, 2, schedule="F-then-B")
check(clipped, 2, model=tied)
if size == 4:
    check(clipped, 4)
    check(momentum, 4, model=tied)
    check(momentum, 2, parts=2)
    check(momentum, 2, gradient_merge=True, gradient_merge_configs={"k_steps": 1})

# what does not fit is told in all processes
strategy = fleet.DistributedStrategy()
strategy.hybrid_configs = {"pp_degree": size}
fleet.init(is_collective=True, strategy=strategy)
for stages, wrong in ((3, "3 sections"), (size, "accumulate_steps=5")):
    strategy.pipeline_configs = {"accumulate_steps": 5}
    try:
        losses(lambda: fleet.distributed_optimizer(momentum(), strategy), slice(None), stages)
    except ValueError as error:
        assert wrong in str(error), error
    except dist.CollectiveError as error:  # of a section without feeds, which waits for one that has some
        assert stages == size > 2 and "has ended its program" in str(error), error
    else:
        raise AssertionError
print(f"all right {rank}", file=sys.stderr)
