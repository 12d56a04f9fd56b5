"""A model of which each rank has a part of the columns and rows, against the whole."""
import sys

import numpy as np

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import get_rank, get_world_size, init_parallel_env, new_group
from wherry_distributed.model_parallel import _c_concat, _c_identity, _c_split, _mp_allreduce
from wherry_nn import functional as F

wherry_ops_cpu.column.register()
init_parallel_env()
rank, size = get_rank(), get_world_size()
draw = np.random.default_rng(0)
X, W1, W2 = (draw.standard_normal(shape).astype("float32") for shape in ((6, 8), (8, 12), (12, 4)))


def leaf(values):
    x = wt.to_tensor(values)
    x.stop_gradient = False
    return x


x, w1, w2 = leaf(X), leaf(W1), leaf(W2)
whole = F.softmax(F.relu(x @ w1) @ w2)
(whole * whole).sum().backward()

part = slice(rank * 12 // size, (rank + 1) * 12 // size)
for group in (None, new_group()):
    y, v1, v2 = leaf(X), leaf(W1[:, part]), leaf(W2[part])
    out = F.softmax(_mp_allreduce(F.relu(_c_identity(y, group) @ v1) @ v2, group=group))
    (out * out).sum().backward()
    np.testing.assert_allclose(out.numpy(), whole.numpy(), atol=1e-6)
    for got, expected in ((y.grad, x.grad.numpy()), (v1.grad, w1.grad.numpy()[:, part]), (v2.grad, w2.grad.numpy()[part])):
        np.testing.assert_allclose(got.numpy(), expected, atol=1e-5)

# columns put together, and cut again
y, v1 = leaf(X), leaf(W1[:, part])
hidden = F.relu(_c_concat(_c_identity(y) @ v1))
np.testing.assert_allclose(hidden.numpy(), np.maximum(X @ W1, 0), atol=1e-5)
v2 = leaf(W2[part])
out = F.softmax(_mp_allreduce(_c_split(hidden) @ v2))
(out * out).sum().backward()
np.testing.assert_allclose(v1.grad.numpy(), w1.grad.numpy()[:, part], atol=1e-5)
np.testing.assert_allclose(y.grad.numpy(), x.grad.numpy(), atol=1e-5)
try:
    _c_split(wt.ones([3, size + 1]))
except ValueError as error:
    assert "does not divide" in str(error)
print("all right", file=sys.stderr)
