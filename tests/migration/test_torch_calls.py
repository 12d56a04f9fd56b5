"""Single calls of PyTorch, rewritten by from-torch, give here what they give there (TORCH_PYTHON): names and arguments as the table has them."""
from __future__ import annotations

import os
import pickle
import subprocess

import numpy as np
import pytest

import wherry

pytest.importorskip("libcst", reason="wherry-migrate rewrites programs with LibCST, which is not installed")
from wherry_migrate import from_torch  # noqa: E402

TORCH = os.environ.get("TORCH_PYTHON")
pytestmark = pytest.mark.skipif(not TORCH, reason="TORCH_PYTHON names no Python with PyTorch")

CALLS = """
torch.adaptive_avg_pool1d(a3, 2)
torch.argwhere(m > 0)
torch.asarray([1.0, 2.0])
torch.bitwise_left_shift(i, j)
torch.bitwise_right_shift(input=i, other=j)
torch.column_stack((m, m))
torch.concatenate((m, m), dim=1)
torch.conv1d(a3, w3, stride=1)
torch.conv2d(a4, w4, padding=1)
torch.copysign(m, -abs(m))
torch.dstack((m, m))
torch.ger(v, v)
torch.hstack((m, m))
torch.isneginf(m)
torch.isposinf(m)
torch.isreal(m)
torch.less(m, other=m)
torch.linalg.diagonal(m)
torch.linalg.matrix_norm(m)
torch.linalg.matrix_norm(m, ord=1, dim=(0, 1))
torch.linalg.svdvals(m)
torch.linalg.vector_norm(m, ord=2, dim=1)
torch.linalg.vector_norm(m, 3)
torch.linalg.matrix_rank(m, atol=0.1)
torch.msort(m)
torch.narrow(m, 0, 1, 2)
torch.nanquantile(m, 0.3, dim=1, interpolation="lower")
torch.quantile(m, 0.3, dim=1, keepdim=True, interpolation="midpoint")
torch.pdist(m)
torch.positive(m)
torch.ravel(m)
torch.row_stack((m, m))
torch.scatter_add(m, 0, k, m)
torch.scatter_reduce(m, 0, k, m, reduce="amax")
torch.signbit(m)
torch.sinc(m)
torch.softmax(m, dim=1)
torch.softmax(m, 0)
torch.special.gammainc(v, v)
torch.special.gammaincc(v, v)
torch.special.gammaln(v)
torch.special.sinc(v)
torch.special.softmax(m, 1)
torch.swapaxes(m, 0, 1)
torch.swapdims(a3, dim0=1, dim1=2)
torch.view_as_real(torch.view_as_complex(m2))
torch.vstack((m, m))
nn.CircularPad1d(1)(a3)
nn.CircularPad2d((1, 0, 1, 2))(a4)
nn.ConstantPad1d(2, 3.5)(a3)
nn.ConstantPad2d(1, 0.5)(a4)
nn.ReflectionPad1d(1)(a3)
nn.ReflectionPad2d((1, 1, 0, 1))(a4)
nn.ReplicationPad2d(2)(a4)
nn.ZeroPad1d((1, 2))(a3)
nn.LPPool1d(2, 3, stride=2)(a3)
nn.LPPool2d(2, 2)(a4)
F.lp_pool1d(a3, 2, 3)
F.dropout1d(a3, 0.5, training=False)
F.feature_alpha_dropout(a3, 0.5, training=False)
nn.MultiLabelMarginLoss()(m, y)
nn.SiLU(inplace=True)(m + 0)
torch.distributions.Gamma(v, v).mean
torch.distributions.Exponential(v).log_prob(v)
torch.distributions.StudentT(v, v, v).log_prob(v)
torch.distributions.Chi2(v).mean
torch.distributions.Poisson(v).log_prob(torch.floor(v))
torch.distributions.MultivariateNormal(v, covariance_matrix=c).log_prob(v)
torch.rand_like(m).shape[0] + 0 * m
torch.randn_like(m, dtype=torch.float64) * 0
torch.histogramdd(m2, bins=[2, 2])[0]
torch.greater(m, abs(m))
""".strip().splitlines()
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
THERE = """
import pickle, sys
import numpy as np
import torch
calls, values, target = pickle.load(sys.stdin.buffer)
names = {name: torch.tensor(value) for name, value in values.items()} | {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
pickle.dump({call: np.asarray(eval(call, dict(names))) for call in calls}, open(target, "wb"))
"""


def values():
    r = np.random.default_rng(0)

    def normal(*shape):
        return r.standard_normal(shape).astype("float32")

    return {
        "m": normal(4, 4), "m2": normal(5, 2), "a3": normal(2, 3, 7), "a4": normal(1, 2, 6, 6), "w3": normal(4, 3, 2), "w4": normal(3, 2, 3, 3),
        "v": np.abs(normal(4)) + 0.5, "i": np.array([1, 2, 8]), "j": np.array([1, 2, 1]), "k": r.integers(0, 4, (4, 4)),
        "y": np.array([[1, 2, -1, 0]] * 4), "c": np.eye(4, dtype="float32") * 2,
    }


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    target = tmp_path_factory.mktemp("torch") / "results"
    subprocess.run([TORCH, "-c", THERE], input=pickle.dumps((CALLS, values(), str(target))), check=True)
    return pickle.loads(target.read_bytes())


@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_the_same_when_it_is_rewritten(call, there):
    after = from_torch(f"{HEAD}{call}\n").after.splitlines()[-1]
    names = {name: wherry.to_tensor(value) for name, value in values().items()}
    found = np.asarray(eval(after, names | {"paddle": wherry, "nn": wherry.nn, "F": wherry.nn.functional}))
    assert found.shape == there[call].shape
    np.testing.assert_allclose(found, there[call], rtol=1e-4, atol=1e-5)
