"""What `DistributedStrategy` asks for in data parallel training, against one process, which computes the whole batch."""
import sys
import warnings

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import DataParallel, all_gather_object, all_reduce, fleet, get_rank, get_world_size, grid
from wherry_distributed.fleet import compression, metrics
from wherry_nn import functional as F
from wherry_train.optimizer import SGD, Adam, Lamb, Momentum

wherry_ops_cpu.column.register()
warnings.simplefilter("ignore")
size = get_world_size()
rank = get_rank()
data = np.random.default_rng(0)
X, Y = data.standard_normal((24, 8)).astype("float32"), data.integers(0, 3, (24, 1))
k = 24 // size
x, y = wt.to_tensor(X[rank * k:rank * k + k]), wt.to_tensor(Y[rank * k:rank * k + k])


def net():
    wt.seed(7)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


def train(model, optimizer, x, y, steps=6, parts=1, minimize=False):
    found = []
    for _ in range(steps):
        for i in range(parts):
            rows = slice(i * len(x) // parts, (i + 1) * len(x) // parts)
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            if minimize:
                optimizer.minimize(loss)
            else:
                optimizer.step()
            optimizer.clear_grad()
        mean = loss.detach().astype("float32").clone()
        if len(x) != 24:
            all_reduce(mean, 4)
        found.append(mean.item())
    return np.array(found)


def whole(kind=Momentum, rate=0.1, **options):
    model = net()
    return train(model, kind(rate, parameters=model.parameters(), **options), wt.to_tensor(X), wt.to_tensor(Y)), model


def job(kind=Momentum, rate=0.1, model=None, **settings):
    strategy = fleet.DistributedStrategy()
    for name, value in settings.items():
        setattr(strategy, name, value)
    fleet.init(is_collective=True, strategy=strategy)
    model = model or net()
    optimizer = fleet.distributed_optimizer(kind(rate, parameters=model.parameters()))
    return fleet.distributed_model(model), optimizer


def same(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a, b, atol=tolerance)


def spread(model):
    """How far the processes' parameters lie apart."""
    mine = np.concatenate([p.numpy().reshape(-1) for p in model.parameters()])
    found = []
    all_gather_object(found, mine)
    return max(np.abs(each - found[0]).max() for each in found)


expected, reference = whole()
model, optimizer = job()
assert type(model) is DataParallel and type(optimizer) is Momentum
same(train(model, optimizer, x, y), expected)
for settings in ({"fuse_all_reduce_ops": False}, {"find_unused_parameters": True, "fuse_grad_size_in_MB": 1}):
    same(train(*job(**settings), x, y), expected)
same(train(*job(recompute=True, recompute_configs={"checkpoints": ["0", "2"]}), x, y), expected)
same(train(*job(fp16_allreduce=True), x, y), expected, 2e-3)
assert np.abs(train(*job(fp16_allreduce=True), x, y) - expected).max() > 0
same(train(*job(amp=True, amp_configs={"use_pure_bf16": False, "custom_white_list": ["matmul"]}), x, y), expected, 2e-2)
same(train(*job(SGD, gradient_scale_configs={"scale_strategy": "sum"}), x, y), whole(SGD, 0.1 * size)[0])

# gradients of two half batches are one of a whole batch
model, optimizer = job(gradient_merge=True, gradient_merge_configs={"k_steps": 2})
train(model, optimizer, x, y, parts=2)
for p, q in zip(model.parameters(), reference.parameters(), strict=True):
    same(p.numpy(), q.numpy(), 1e-5)

# one step of each process and an average is a step with the average gradient, without momentum
same(train(*job(SGD, localsgd=True), x, y), whole(SGD)[0])
model, optimizer = job(SGD, localsgd=True, localsgd_configs={"k_steps": 3, "begin_step": 2})
for step in range(1, 9):
    train(model, optimizer, x, y, steps=1)
    assert (spread(model) < 1e-7) == (step in (1, 4, 7)), (step, spread(model))
model, optimizer = job(SGD, adaptive_localsgd=True, adaptive_localsgd_configs={"init_k_steps": 2})
losses = train(model, optimizer, x, y, steps=12, minimize=True)
assert losses[-1] < losses[0] and 1 <= optimizer._k <= 16

# the largest gradients: all of them are a mean; what is not sent stays
compression.Compressed.__init__.__defaults__ = (1,)
same(train(*job(dgc=True, dgc_configs={"sparsity": [0.0]}), x, y), whole(SGD)[0], 1e-5)  # momentum stops where a value is sent
same(train(*job(dgc=True, dgc_configs={"rampup_begin_step": 100}), x, y), expected)
model, optimizer = job(dgc=True, dgc_configs={"sparsity": [0.5, 0.75], "rampup_step": 2})
losses = train(model, optimizer, x, y, steps=12)
sent = optimizer.compressed
assert losses[-1] < losses[0] and sent.sent < 0.3 * sent.whole and spread(model) < 1e-6


def dgc_by_hand(gradients, momentum, ratio):
    """Of all ranks: the mean gradients, step by step."""
    u, v = ([np.zeros_like(g[0]) for _ in range(size)] for g in (gradients[0], gradients[0]))
    for step in gradients:
        total = np.zeros_like(step[0])
        for r in range(size):
            u[r] = momentum * u[r] + step[r]
            v[r] = v[r] + u[r]
            chosen = np.argsort(-np.abs(v[r]))[: round(v[r].size * (1 - ratio))]
            total[chosen] += v[r][chosen]
            u[r][chosen] = v[r][chosen] = 0
        yield total / size


rows = np.random.default_rng(3).standard_normal((4, size, 40)).astype("float32")
p = wt.create_parameter([40]) if hasattr(wt, "create_parameter") else nn.Linear(1, 40, bias_attr=False).weight
compressed = compression.Compressed(0.9, [0.8], 0, 1, least=1)
for step, mean in zip(rows, dgc_by_hand(rows, 0.9, 0.8), strict=True):
    p.grad = wt.to_tensor(step[rank].reshape(p.shape))
    compressed.exchange([p], grid.current().get_data_parallel_group())
    same(p.grad.numpy().reshape(-1), mean, 1e-6)

# LARS, against the formula
model, optimizer = job(lars=True, lars_configs={"lars_coeff": 0.01, "exclude_from_weight_decay": ["b_0"]}, rate=1.0)
by_hand = [p.numpy().astype("float64") for p in model.parameters()]
speed = [np.zeros_like(w) for w in by_hand]
for _ in range(3):
    F.cross_entropy(model(x), y).backward()
    for i, q in enumerate(model.parameters()):
        g, decay = q.grad.numpy().astype("float64"), 0.0 if "b_0" in q.name else 0.0005
        length, slope = np.linalg.norm(by_hand[i]), np.linalg.norm(g)
        local = 0.01 * length / (slope + decay * length) if length > 0 and slope > 0 else 1.0
        speed[i] = 0.9 * speed[i] + local * (g + decay * by_hand[i])
        by_hand[i] = by_hand[i] - speed[i]
    optimizer.step()
    optimizer.clear_grad()
for q, w in zip(model.parameters(), by_hand, strict=True):
    same(q.numpy(), w, 1e-5)
same(train(*job(Adam, lamb=True), x, y), whole(Lamb, epsilon=1e-8)[0], 2e-6)
norm = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2))
assert isinstance(job(model=norm, sync_batch_norm=True)[0]._layers[1], nn.SyncBatchNorm)
for call, kind, text in (
    (lambda: job(SGD, dgc=True), TypeError, "dgc is for Momentum"), (lambda: job(SGD, lars=True), TypeError, "lars is for Momentum"),
    (lambda: job(SGD, lamb=True), TypeError, "lamb is for Adam"), (lambda: job(hybrid_configs={"mp_degree": size + 1}), ValueError, "mp_degree="),
    (lambda: job(recompute=True, recompute_configs={"checkpoints": ["9"]}), ValueError, "no layer of the model"),
    (lambda: job(hybrid_configs={"pp_degree": size}), TypeError, "PipelineLayer"),
):
    try:
        call()
    except kind as error:
        assert any(each in str(error) for each in text.split("|")), error
    else:
        raise AssertionError(text)

# NaN of one rank's gradient names it
model, optimizer = job(fp16_allreduce=False, gradient_scale_configs={"scale_strategy": "sum"})
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    F.cross_entropy(model(x * (float("nan") if rank == 1 else 1.0)), y).backward()
    optimizer.step()
assert any("come from rank 1;" in str(each.message) for each in seen), [str(each.message) for each in seen]

# metrics, files, objects
job()
assert metrics.sum(np.array([1.0, rank])).tolist() == [size, sum(range(size))] and metrics.max(wt.to_tensor([float(rank)])).tolist() == [size - 1]
assert metrics.min([3 + rank])[0] == 3 and metrics.acc(np.array([1.0]), np.array([2.0])) == 0.5 and metrics.mae([2.0], [4.0]) == 0.5
assert metrics.rmse([8.0], [2.0]) == 2.0 and metrics.mse([8.0], [2.0]) == 4.0
scores, truth = np.random.default_rng(5).integers(0, 10, 200), np.random.default_rng(6).integers(0, 2, 200)
mine = slice(rank, None, size)
counts = [np.bincount(scores[mine][truth[mine] == t], minlength=10).astype("float64") for t in (1, 0)]
pairs = [(a > b) + 0.5 * (a == b) for a in scores[truth == 1] for b in scores[truth == 0]]
assert abs(metrics.auc(*counts) - np.mean(pairs)) < 1e-12
files = fleet.util.get_file_shard([str(i) for i in range(2 * size + 1)])
assert len(files) == 2 + (rank == 0) and fleet.util.all_gather(files[0])[rank] == files[0]
assert fleet.util.all_reduce(np.array([1, 2]), "sum").tolist() == [size, 2 * size] and fleet.all_reduce(rank, "max") == size - 1
assert (fleet.worker_num(), fleet.worker_index(), fleet.is_first_worker()) == (size, rank, rank == 0) and len(fleet.worker_endpoints()) == size
print(f"all right {rank}", file=sys.stderr)
