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

# mixed precision: the same casts; a step that overflows in one section is left out in all


def scaled(kind, dtype="bfloat16", factor=256.0):
    lists = paddle.static.amp.AutoMixedPrecisionLists(dtype=dtype)
    return lambda: paddle.static.amp.decorate(kind(), lists, dtype=dtype, init_loss_scaling=factor, use_dynamic_loss_scaling=True)


def check_amp(kind, stages, parts=1, micros=1, tolerance=1e-6, **options):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"pp_degree": stages, "mp_degree": parts}
    strategy.pipeline_configs = {"accumulate_steps": micros}
    fleet.init(is_collective=True, strategy=strategy)
    mine = losses(lambda: fleet.distributed_optimizer(scaled(kind, **options)()), slice(None), stages, parts > 1)
    wide, narrow = losses(kind, slice(None), stages), losses(scaled(kind, **options), slice(None), stages)
    assert np.abs(np.array(wide) - narrow).max() > 1e-6  # 16 bits are there
    np.testing.assert_allclose(mine, narrow, atol=tolerance, err_msg=f"amp {stages} {parts}")
    return mine


check_amp(clipped, size)
check_amp(momentum, size, micros=4, tolerance=2e-3)  # sums of gradients are rounded to 16 bits for each small batch
check_amp(clipped, 2, size // 2, tolerance=2e-3)  # and of parts of layers
skipped = check_amp(momentum, size, dtype="float16", factor=2.0**100)
assert len(set(skipped)) == 1, skipped

strategy = fleet.DistributedStrategy()
strategy.hybrid_configs, strategy.pipeline_configs = {"pp_degree": size}, {"accumulate_steps": 4}
strategy.amp, strategy.amp_configs = True, {"init_loss_scaling": 128.0}
fleet.init(is_collective=True, strategy=strategy)
mixed = losses(lambda: fleet.distributed_optimizer(momentum(), strategy), slice(None), size)
np.testing.assert_allclose(mixed, losses(momentum, slice(None), size), atol=2e-3)

# what else a program computes, in which section it may be


def fetched(optimizer, stages):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.seed(11)
        x, y = paddle.static.data("x", [None, 8]), paddle.static.data("y", [None, 1], "int64")
        with guard("gpu:0"):
            first = paddle.static.nn.fc(x, 12)
        with guard(f"gpu:{stages - 1}"):
            logits = paddle.static.nn.fc(F.relu(first), 3)
            loss = F.cross_entropy(logits, y)
            accuracy = paddle.static.accuracy(F.softmax(logits), y)
            best, largest = logits.argmax(axis=-1), logits.argmax()
        optimizer().minimize(loss)
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        found = [exe.run(main, feed={"x": X, "y": Y}, fetch_list=some) for some in ([loss, accuracy, first], [best, logits.name], [], [loss])]
        if stages > 1:
            try:
                exe.run(main, feed={"x": X, "y": Y}, fetch_list=[largest])
            except ValueError as error:
                assert "once for each small batch" in str(error), error
            else:
                raise AssertionError
        return [value for some in found for value in some]


strategy = fleet.DistributedStrategy()
strategy.hybrid_configs, strategy.pipeline_configs = {"pp_degree": 2}, {"accumulate_steps": 4}
if size == 2:
    fleet.init(is_collective=True, strategy=strategy)
    for got, expected in zip(fetched(lambda: fleet.distributed_optimizer(momentum(), strategy), 2), fetched(momentum, 1), strict=True):
        assert got.dtype == expected.dtype and got.shape == expected.shape, (got, expected)
        np.testing.assert_allclose(got, expected, atol=1e-6)

# what is saved has the values of all sections

if size == 2:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x, y = paddle.static.data("x", [None, 8]), paddle.static.data("y", [None, 1], "int64")
        with guard("gpu:0"):
            h = F.relu(paddle.static.nn.fc(x, 12))
        with guard("gpu:1"):
            out = paddle.static.nn.fc(h, 3)
            loss = F.cross_entropy(out, y)
        serving = main.clone(for_test=True)
        fleet.distributed_optimizer(momentum(), strategy).minimize(loss)
    exe, folder = paddle.static.Executor(), sys.argv[1]
    exe.run(startup)
    for _ in range(3):
        exe.run(main, feed={"x": X, "y": Y}, fetch_list=[loss])
    fleet.save_persistables(exe, f"{folder}/whole", main)
    fleet.save_inference_model(exe, f"{folder}/served", ["x"], [serving.global_block().var(out.name)], serving)
    now, *further = [exe.run(main, feed={"x": X, "y": Y}, fetch_list=[loss])[0] for _ in range(3)]
    loaded, _, targets = paddle.static.load_inference_model(f"{folder}/served/model", exe)
    scores = exe.run(loaded, feed={"x": X}, fetch_list=targets)[0].astype("float64")
    mine = np.log(np.exp(scores).sum(1)) - np.take_along_axis(scores, Y, 1)[:, 0]
    np.testing.assert_allclose(now, mine.mean(), atol=1e-6)
    values = paddle.static.load_program_state(f"{folder}/whole/model")
    assert all(np.abs(values[p.name]).sum() > 0 for p in main.all_parameters()), values

    # and the optimizer's state, with which training goes on
    paddle.static.load(main, f"{folder}/whole/model")
    again = [exe.run(main, feed={"x": X, "y": Y}, fetch_list=[loss])[0] for _ in range(3)]
    velocities = {name for name in values if "velocity" in name}
    assert again == [now, *further] and len(velocities) == len(main.all_parameters()), (again, now, further, velocities)
    assert {x.name for x in main.list_vars() if x.name in velocities} != velocities, "each process has its own alone"

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
