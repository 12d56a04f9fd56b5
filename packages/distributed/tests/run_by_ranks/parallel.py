"""Data parallel training against one process, which computes the whole batch."""
import math
import sys
import warnings

import numpy as np

import wherry_autograd as ag
import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import DataParallel, all_reduce, get_rank, get_world_size, init_parallel_env, new_group
from wherry_nn import functional as F
from wherry_train import Model, amp
from wherry_train.io import Dataset, DistributedBatchSampler
from wherry_train.metric import Accuracy
from wherry_train.optimizer import Adam, Momentum

wherry_ops_cpu.column.register()
init_parallel_env()
rank, size = get_rank(), get_world_size()
data = np.random.default_rng(0)
X, Y = data.standard_normal((24, 8)).astype("float32"), data.integers(0, 3, (24, 1))
k = 24 // size
mine = wt.to_tensor(X[rank * k:rank * k + k]), wt.to_tensor(Y[rank * k:rank * k + k])
whole = wt.to_tensor(X), wt.to_tensor(Y)


def net(seed=7, hidden=16):
    wt.seed(seed)
    return nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, 3))


def train(model, x, y, steps=5, clip=None, scaler=None, kind=Momentum, to_zero=True):
    optimizer = kind(0.1, parameters=model.parameters(), grad_clip=clip)
    losses = []
    for _ in range(steps):
        with amp.auto_cast(enable=scaler is not None, dtype="bfloat16"):
            loss = F.cross_entropy(model(x), y)
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        optimizer.clear_grad(set_to_zero=to_zero)
        mean = loss.detach().astype("float32").clone()
        if x is not whole[0]:
            all_reduce(mean, 4)
        losses.append(mean.item())
    return losses


def check(tolerance=1e-6, hidden=16, wrap=None, **options):
    model = DataParallel(net(rank + 1 if wrap is None else 7, hidden), **(wrap or {}))
    reference = net(1 if wrap is None else 7, hidden)  # parameters begin as those of rank 0
    np.testing.assert_allclose(train(model, *mine, **options), train(reference, *whole, **options), atol=tolerance, rtol=tolerance)
    for a, b in zip(model.parameters(), reference.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=tolerance * 20)


check()
check(to_zero=False)
check(kind=Adam, tolerance=1e-5)
check(clip=nn.ClipGradByGlobalNorm(0.05))
check(hidden=300, wrap={"comm_buffer_size": 0.001, "last_comm_buffer_size": 0.001})
check(hidden=1024, wrap={"find_unused_parameters": True})
check(scaler=amp.GradScaler(init_loss_scaling=128.0), tolerance=2e-2)


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(4, 3)
        self.use = "a"

    def forward(self, x):
        return (self.a if self.use == "a" else self.b)(x)


x = wt.ones([2, 4]) * (rank + 1.0)
mean = 24 * sum(r + 1 for r in range(size)) / size
for unused in (False, True):
    model = DataParallel(Two(), find_unused_parameters=unused)
    for _ in range(2):
        model(x).sum().backward()
        assert abs(model._layers.a.weight.grad.sum().item() - mean) < 1e-4 and model._layers.b.weight.grad is None
        model.clear_gradients()
    model = DataParallel(Two(), find_unused_parameters=unused)
    model._layers.use = "a" if rank == 0 else "b"  # each rank reaches other parameters
    model(x).sum().backward()
    assert abs(model._layers.a.weight.grad.sum().item() - 24 / size) < 1e-4
    assert abs(model._layers.b.weight.grad.sum().item() - (mean - 24 / size)) < 1e-4

model = DataParallel(nn.Linear(4, 3))
weight = model._layers.weight
with model.no_sync():
    model(x).sum().backward()
    assert weight.grad.sum().item() == 24 * (rank + 1)
model(x).sum().backward()
assert abs(weight.grad.sum().item() - 2 * mean) < 1e-4  # what has accumulated is averaged as a whole
model.clear_gradients()
for turn in (1, 2):
    model(x).sum().backward()
    assert abs(weight.grad.sum().item() - turn * mean) < 1e-4
assert model.scale_loss(x) is x and list(model.state_dict()) == ["weight", "bias"]

# a weight that is used twice, one without a gradient, two passes through one output, a gradient by hand
class Shared(nn.Layer):
    def __init__(self):
        super().__init__()
        self.l, self.frozen = nn.Linear(4, 4), nn.Linear(4, 4)
        for p in self.frozen.parameters():
            p.stop_gradient = True

    def forward(self, x):
        return self.l(self.l(self.frozen(x)))


model = DataParallel(Shared())
out = model(x).sum()
out.backward(retain_graph=True)
first = model._layers.l.weight.grad.numpy().copy()
out.backward()
np.testing.assert_allclose(model._layers.l.weight.grad.numpy(), 2 * first, rtol=1e-5)
assert model._layers.frozen.weight.grad is None

# rows of a table, from a sparse gradient
wt.seed(3)
table = DataParallel(nn.Embedding(50, 4, sparse=True))
table(wt.to_tensor([rank, 7])).sum().backward()
assert abs(table._layers.weight.grad.to_dense().sum().item() if hasattr(table._layers.weight.grad, "to_dense") else 0) >= 0
np.testing.assert_allclose(table._layers.weight.grad.numpy()[7], 1.0)
np.testing.assert_allclose(table._layers.weight.grad.numpy()[0], 1.0 / size)

# NaN is named
model = DataParallel(nn.Linear(4, 3))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    model(x * (float("nan") if rank == 1 else 1.0)).sum().backward()
assert any("come from rank 1;" in str(each.message) and model._layers.weight.name in str(each.message) for each in seen), seen
wt.set_flags({"FLAGS_check_nan_inf": False})

# a pass that fails says why, and the others are told which rank it was by the launcher: here all fail alike
model = DataParallel(net())
handle = model._layers[0].weight.register_hook(lambda g: 1 / 0)
for _ in range(2):
    try:
        F.cross_entropy(model(mine[0]), mine[1]).backward()
    except ZeroDivisionError:
        model.clear_gradients()
    else:
        raise AssertionError("no error")
    break

# batch normalization over all ranks
def images(form):
    x = np.random.default_rng(5).standard_normal((12, 6, 4)).astype("float32") * 3 + 50
    return x.transpose(0, 2, 1) if form == "NLC" else x


def normalized(layer, x):
    x = wt.to_tensor(x)
    x.stop_gradient = False
    out = layer(x)
    weights = wt.to_tensor(np.random.default_rng(6).standard_normal(images(layer._data_format).shape).astype("float32"))
    part = weights if len(x) == 12 else weights[rank * (12 // size):(rank + 1) * (12 // size)]
    (out * part).sum().backward()
    return out, x.grad


for form in ("NCL", "NLC"):
    sync, plain = nn.SyncBatchNorm(6, data_format=form), nn.BatchNorm1D(6, data_format=form)
    assert isinstance(nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(plain))[0], nn.SyncBatchNorm)
    part = slice(rank * (12 // size), (rank + 1) * (12 // size))
    (got, got_ct), (expected, expected_ct) = normalized(sync, images(form)[part]), normalized(plain, images(form))
    np.testing.assert_allclose(got.numpy(), expected.numpy()[part], atol=1e-4)
    np.testing.assert_allclose(got_ct.numpy(), expected_ct.numpy()[part], atol=1e-4)
    np.testing.assert_allclose(sync._mean.numpy(), plain._mean.numpy(), rtol=1e-5)
    total = sync.weight.grad.clone()
    all_reduce(total)
    np.testing.assert_allclose(total.numpy(), plain.weight.grad.numpy(), atol=1e-3)
    sync.eval()
    assert sync(wt.to_tensor(images(form)[part])).shape[0] == 12 // size


# Model.fit: the losses of one process with the whole batch, and metrics over all samples
class Rows(Dataset):
    def __len__(self):
        return 23  # some come twice

    def __getitem__(self, i):
        return X[i], Y[i]


assert len(DistributedBatchSampler(Rows(), 4)) == math.ceil(math.ceil(23 / size) / 4) and DistributedBatchSampler(Rows(), 4).local_rank == rank
model = Model(net())
model.prepare(Momentum(0.05, parameters=model.parameters()), nn.CrossEntropyLoss(), Accuracy())
model.fit(Rows(), batch_size=4, epochs=2, verbose=2, shuffle=True)
found = model.evaluate(Rows(), batch_size=4, verbose=0)
predicted = model.network(wt.to_tensor(X[:23])).numpy().argmax(1)
assert abs(found["acc"] - (predicted == Y[:23, 0]).mean()) < 1e-6
same = model.network[0].weight.clone()
all_reduce(same, 4)
np.testing.assert_allclose(same.numpy(), model.network[0].weight.numpy(), atol=1e-6)

pair = new_group([0, 1])
if pair.is_member():
    model = DataParallel(nn.Linear(4, 3), group=pair)
    model(x).sum().backward()
    assert abs(model._layers.weight.grad.sum().item() - 36) < 1e-4
with ag.no_grad():
    DataParallel(net())(mine[0])
print("all right", file=sys.stderr)
