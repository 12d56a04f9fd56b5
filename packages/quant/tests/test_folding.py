"""Batch normalizations folded into the layers before them."""
import numpy as np
import pytest

import wherry_ops_cpu.column
from wherry_nn import BatchNorm1D, BatchNorm2D, Conv2D, Layer, Linear, ReLU, Sequential
from wherry_quant.folding import fold_batch_norms
from wherry_tensor import randn, seed

wherry_ops_cpu.column.register()


def trained(model, *shape):
    """A model whose running statistics are not those of the start."""
    seed(0)
    for _ in range(3):
        model(randn(shape) * 2 + 1)
    model.eval()
    return model


class Branches(Layer):
    """The first normalization gets a result that something else reads too."""

    def __init__(self):
        super().__init__()
        self.a, self.bn, self.b, self.bn2 = Conv2D(2, 2, 1), BatchNorm2D(2), Conv2D(2, 2, 1, bias_attr=False), BatchNorm2D(2)
        self.act = ReLU()

    def forward(self, x):
        y = self.a(x)
        return self.bn2(self.b(self.bn(y))) + self.act(y)


def test_folded_models_answer_the_same():
    for model, shape in (
        (Sequential(Conv2D(2, 4, 3), BatchNorm2D(4), ReLU(), Conv2D(4, 2, 1, bias_attr=False), BatchNorm2D(2)), (4, 2, 6, 6)),
        (Sequential(Linear(3, 5), BatchNorm1D(5)), (8, 3)),
        (Branches(), (4, 2, 5, 5)),
    ):
        trained(model, *shape)
        x = randn(shape)
        folded = fold_batch_norms(model, x)
        assert np.allclose(folded(x).numpy(), model(x).numpy(), atol=1e-5)
        kinds = [type(layer).__name__ for layer in folded.sublayers()]
        assert kinds.count("Identity") == (1 if isinstance(model, Branches) else kinds.count("Conv2D") + kinds.count("Linear"))


def test_a_norm_over_another_axis_stays():
    model = trained(Sequential(Linear(3, 5), BatchNorm1D(4)), 8, 4, 3)
    assert type(fold_batch_norms(model, randn((8, 4, 3)))[1]).__name__ == "BatchNorm1D"


def test_pairs_are_named():
    model = trained(Sequential(Linear(3, 5), BatchNorm1D(5)), 8, 3)
    x = randn((8, 3))
    assert np.allclose(fold_batch_norms(model, pairs=[("0", "1")])(x).numpy(), model(x).numpy(), atol=1e-5)
    with pytest.raises(ValueError, match="no layer of this name"):
        fold_batch_norms(model, pairs=[("0", "2")])
    with pytest.raises(TypeError, match="cannot be one"):
        fold_batch_norms(model, pairs=[("1", "0")])
    with pytest.raises(ValueError, match="no inputs and no pairs"):
        fold_batch_norms(model)
