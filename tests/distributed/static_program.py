"""Programs of static mode in several processes, against one process, which runs the whole batch."""
import sys
import warnings

import numpy as np

import wherry as paddle
import wherry.distributed as dist
from wherry.distributed import fleet

warnings.simplefilter("ignore")
paddle.enable_static()
data = np.random.default_rng(0)
X, Y = data.standard_normal((24, 8)).astype("float32"), data.integers(0, 3, (24, 1))


def build(optimizer):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        a, b = paddle.static.data("a", [None, 8]), paddle.static.data("b", [None, 1], "int64")
        paddle.seed(7 + dist.get_rank())  # first values differ until the startup program makes them equal
        out = paddle.static.nn.fc(paddle.static.nn.fc(a, 16, activation="relu"), 3)
        loss = paddle.nn.functional.cross_entropy(out, b)
        optimizer().minimize(loss)
    return main, startup, loss


def run(main, startup, loss, rows, values=None, parts=1):
    """First values, losses and last values of parameters."""
    exe, scope, found = paddle.static.Executor(), paddle.static.Scope(), []
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        held = [scope.find_var(p.name).get_tensor() for p in main.all_parameters()]
        first = [np.array(x) for x in held]
        for x, value in zip(held, values or first, strict=True):
            x.set(value)
        size = len(X[rows]) // parts
        for _ in range(5):
            for i in range(parts):
                part = slice(i * size, (i + 1) * size)
                (value,) = exe.run(main, feed={"a": X[rows][part], "b": Y[rows][part]}, fetch_list=[loss])
            found.append(float(value))
        return first, np.array(found), [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]


rank, size = dist.get_rank(), dist.get_world_size()
mine = slice(rank * 24 // size, (rank + 1) * 24 // size)


def check(kind, tolerance=1e-6, parts=1, compared=None, **settings):
    strategy = fleet.DistributedStrategy()
    for name, value in settings.items():
        setattr(strategy, name, value)
    fleet.init(is_collective=True, strategy=strategy)
    first, losses, last = run(*build(lambda: fleet.distributed_optimizer(kind())), mine, parts=parts)
    everywhere = fleet.util.all_gather(first)
    assert all(np.array_equal(a, b) for each in everywhere for a, b in zip(each, first, strict=True))
    losses = fleet.util.all_reduce(losses, "sum") / size
    _, expected, reference = run(*build(compared or kind), slice(None), first)
    if parts == 1:
        np.testing.assert_allclose(losses, expected, atol=tolerance, err_msg=str(settings))
    for a, b in zip(last, reference, strict=True):
        np.testing.assert_allclose(a, b, atol=10 * tolerance, err_msg=str(settings))


def momentum(**options):
    return paddle.optimizer.Momentum(0.1, 0.9, **options)


def adam():
    return paddle.optimizer.Adam(0.05)


def sgd():
    return paddle.optimizer.SGD(0.1)


sharding = {"sharding": True, "sharding_configs": {"sharding_degree": size}}
check(momentum)
check(adam)
check(momentum, 2e-3, fp16_allreduce=True)
check(adam, **sharding)
check(lambda: momentum(grad_clip=paddle.nn.ClipGradByGlobalNorm(0.05)), **sharding)
check(sgd, localsgd=True)
check(momentum, parts=2, gradient_merge=True, gradient_merge_configs={"k_steps": 2})
check(sgd, gradient_scale_configs={"scale_strategy": "sum"}, compared=lambda: paddle.optimizer.SGD(0.1 * size))
check(momentum, dgc=True)  # small tensors are sent whole
check(momentum, 1e-3, amp=True)
check(adam, 2e-6, lamb=True, compared=lambda: paddle.optimizer.Lamb(0.05, epsilon=1e-8))
strategy = fleet.DistributedStrategy()
fleet.init(is_collective=True)
try:
    fleet.distributed_model(None)
except NotImplementedError as error:
    assert "static mode" in str(error)
else:
    raise AssertionError

# files: the first process writes
fleet.init(is_collective=True)
main, startup, loss = build(lambda: fleet.distributed_optimizer(sgd()))
with paddle.static.program_guard(main, startup):
    exe = paddle.static.Executor()
    exe.run(startup)
    fleet.save_persistables(exe, sys.argv[1], main)
    fleet.save(sys.argv[1] + "/served", ["a", "b"], [loss], program=main, executor=exe)
    fleet.barrier_worker()
assert paddle.load(sys.argv[1] + "/model.pdparams")

# with sharding each process has the optimizer's state of some parameters; files have all of it, and training goes on with it
strategy = fleet.DistributedStrategy()
strategy.sharding, strategy.sharding_configs = True, sharding["sharding_configs"]
fleet.init(is_collective=True, strategy=strategy)
main, startup, loss = build(lambda: fleet.distributed_optimizer(adam()))
folder, feed = f"{sys.argv[1]}/sharded", {"a": X[mine], "b": Y[mine]}
with paddle.static.program_guard(main, startup):
    exe.run(startup)
    for _ in range(3):
        exe.run(main, feed=feed, fetch_list=[loss])
    fleet.save_persistables(exe, folder, main)
    fleet.barrier_worker()
    further = [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)]
    paddle.static.load(main, f"{folder}/model")
    assert [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)] == further
moments = [name for name in paddle.static.load_program_state(f"{folder}/model") if "moment" in name]
assert len(moments) == 2 * len(main.all_parameters()), moments
print(f"all right {rank}", file=sys.stderr)
