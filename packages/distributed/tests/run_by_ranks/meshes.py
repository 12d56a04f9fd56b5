"""Tensors on meshes, and layers of them, against one process."""
import itertools
import sys

import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import all_reduce, get_rank, get_world_size, init_parallel_env
from wherry_distributed.auto_parallel import dtensor_from_fn, reshard, shard_layer, shard_optimizer, shard_tensor
from wherry_distributed.placement import Partial, ProcessMesh, Replicate, Shard
from wherry_nn import functional as F
from wherry_train.optimizer import AdamW, Momentum

wherry_ops_cpu.column.register()
init_parallel_env()
rank, size = get_rank(), get_world_size()
line = ProcessMesh(list(range(size)), ["x"])
grid = ProcessMesh(np.arange(size).reshape(2, -1), ["x", "y"])
values = np.arange(8.0 * 4 * size, dtype="float32").reshape(8, 4 * size)


def part(mesh, placements):
    """What NumPy says that this rank has."""
    found, at = values, np.argwhere(mesh.mesh == rank)[0]
    for axis, placement in enumerate(placements):
        if placement.is_shard():
            found = np.split(found, mesh.shape[axis], placement.get_dim())[at[axis]]
        elif placement.is_partial() and at[axis]:
            found = np.zeros_like(found)
    return found


kinds = [Shard(0), Shard(1), Replicate(), Partial()]
ways = [(line, [kind]) for kind in kinds] + [(grid, list(two)) for two in itertools.product(kinds, repeat=2)]
for mesh, placements in ways:
    x = shard_tensor(values, mesh, placements, stop_gradient=False)
    np.testing.assert_array_equal(x.numpy(), part(mesh, placements))
    assert x.placements == placements and x.process_mesh == mesh
    for other, wanted in ways:
        y = reshard(x, other, wanted)
        np.testing.assert_array_equal(y.numpy(), part(other, wanted), err_msg=f"{placements} to {wanted}")
        if any(each.is_partial() for each in wanted):
            continue
        weights = shard_tensor(values, other, wanted)  # the gradient of sum(whole * values) is values
        x.clear_gradient()
        (y * weights).sum().backward()
        plain = [Replicate() if each.is_partial() else each for each in placements]
        np.testing.assert_array_equal(x.grad.numpy(), part(mesh, plain), err_msg=f"{placements} from {wanted}")
assert dtensor_from_fn(wt.ones, line, [Shard(0)], [2 * size]).tolist() == [1.0, 1.0]


def net():
    wt.seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


data = np.random.default_rng(0)
X, Y = data.standard_normal((16, 4)).astype("float32"), data.integers(0, 3, (16, 1))


def train(model, optimizer, x, y, together):
    found = []
    for _ in range(4):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        mean = loss.detach().clone()
        if together:
            all_reduce(mean, 4)
        found.append(mean.item())
    return found


def cut(name, layer, mesh):
    if isinstance(layer, nn.Linear):
        if layer.weight.shape[1] % mesh.shape[-1] == 0:  # columns over the last axis of the mesh, rows over the first of two
            both = [Shard(0), Shard(1)] if mesh.ndim == 2 else [Shard(1)]
            layer.weight = shard_tensor(layer.weight, mesh, both)
            layer.bias = shard_tensor(layer.bias, mesh, [Replicate(), Shard(0)] if mesh.ndim == 2 else [Shard(0)])
        else:
            layer.weight = shard_tensor(layer.weight, mesh, [Shard(0)])


clip = nn.ClipGradByGlobalNorm(0.2)
for mesh, shard_fn, kind, clipped in itertools.product((line, grid), (None, cut), (Momentum, AdamW), (None, clip)):
    reference = net()
    expected = train(reference, kind(0.1, parameters=reference.parameters(), grad_clip=clipped), wt.to_tensor(X), wt.to_tensor(Y), False)
    model = shard_layer(net(), mesh, shard_fn)
    optimizer = shard_optimizer(kind(0.1, parameters=model.parameters(), grad_clip=clipped))
    x, y = (shard_tensor(each, mesh, [Shard(0)] * 1) for each in (X, Y))
    np.testing.assert_allclose(train(model, optimizer, x, y, True), expected, atol=1e-6)
    if shard_fn is cut:
        assert model[2].weight.size < 64 and model[2].weight.shape != [8, 8]
    for ours, whole in zip(model.parameters(), reference.parameters(), strict=True):
        np.testing.assert_allclose(reshard(ours, mesh, []).numpy(), whole.numpy(), atol=2e-5)
rows = []
model = shard_layer(
    net(), line, None, lambda inputs, mesh: tuple(shard_tensor(each, mesh, [Shard(0)]) for each in inputs),
    lambda out, mesh: rows.append(out.shape[0]) or out)
model(wt.to_tensor(X))
assert rows == [16 // size]

for call, kind, text in [
    (lambda: shard_tensor(values, line, [Shard(5)]), ValueError, "cannot be cut so"),
    (lambda: shard_tensor(np.ones(size + 1), line, [Shard(0)]), ValueError, "an axis that divides"),
    (lambda: shard_tensor(values, line, [Shard(0), Shard(1)]), ValueError, "placements do not fit"),
    (lambda: shard_tensor(values, [0, 1], [Shard(0)]), TypeError, "mesh is not a ProcessMesh"),
    (lambda: reshard(wt.ones([2]), line, []), TypeError, "does not lie on a mesh"),
    (lambda: shard_tensor(values, ProcessMesh([0, size]), []), ValueError, "not so many processes"),
    (lambda: ProcessMesh([0, 0]), ValueError, "not a grid of ranks"),
    (lambda: ProcessMesh([0, 1], ["a", "b"]), ValueError, "names do not fit"),
    (lambda: reshard(shard_tensor(values, line, []), ProcessMesh([0]), []), NotImplementedError, "processes differ"),
    (lambda: shard_optimizer(Momentum(0.1, parameters=net().parameters()), print), NotImplementedError, "lies as its parameters"),
]:
    try:
        call()
    except kind as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)
print("all right", file=sys.stderr)
