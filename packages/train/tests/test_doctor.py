"""doctor: what keeps a training from learning is found, what is well is not complained about, and nothing is changed."""
import re
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import functional as F
from wherry_train import Model, doctor, random_state
from wherry_train import optimizer as opt
from wherry_train.io import DataLoader, TensorDataset

CE = nn.CrossEntropyLoss()
X = wt.to_tensor(np.random.default_rng(0).normal(size=(8, 2)).astype("float32"))
Y = wt.to_tensor(np.arange(8) % 3)


class Net(nn.Layer):
    """Two layers with something between them."""

    def __init__(self, between=lambda x: x, width=3):
        super().__init__()
        self.first, self.between, self.second = nn.Linear(2, 2), between, nn.Linear(2, width)

    def forward(self, x):
        return self.second(self.between(self.first(x)))


class Hidden(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 3)]

    def forward(self, x):
        return self.layers[0](x)


def frozen(net):
    for p in net.parameters():
        p.stop_gradient = True
    return net


def partly_frozen():
    net = Net()
    net.first.weight.stop_gradient = True
    return net


NaN = float("nan")

CASES = {
    "empty": (lambda: nn.ReLU(), F.mse_loss, X, X, "error: the network has no parameters"),
    "list": (lambda: Hidden(), CE, X, Y, "error: 'layers' is a plain list or dict of layers.*LayerList"),
    "frozen": (lambda: frozen(Net()), CE, X, Y, r"error: all 4 parameters are frozen \(stop_gradient is True\)"),
    "partly frozen": (partly_frozen, CE, X, Y, "note: 1 of 4 parameters are frozen: first.weight"),
    "detach": (lambda: Net(lambda x: x.detach()), CE, X, Y, "error: 2 of 4 parameters have no gradient: first.weight, first.bias"),
    "cut": (Net, lambda out, y: CE(out.detach(), y), X, Y, "error: no parameter has a gradient: the loss does not follow"),
    "nan": (lambda: Net(lambda x: wt.log(x * 0 - 1)), CE, X, Y, r"the loss is nan, and .* begins before layer 'second' \(Linear\)"),
    "nan in a layer": (lambda: nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3, epsilon=NaN)), CE, X, Y, r"begins in layer '1' \(LayerNorm\)"),
    "nan in the loss": (Net, lambda out, y: (out * 0 - 1).log().mean(), X, Y, "the loss is nan, and .* begins in the loss itself"),
    "nan inputs": (Net, CE, X * NaN, Y, "error: inputs hold NaN or infinity"),
    "infinite gradient": (lambda: Net(lambda x: wt.sqrt(x * 0)), CE, X, Y, "error: the gradients of first.weight, first.bias are not finite"),
    "softmax": (lambda: nn.Sequential(nn.Linear(2, 3), nn.Softmax()), CE, X, Y, "error: the network ends with Softmax, and CrossEntropy"),
    "sigmoid": (lambda: nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()), nn.BCEWithLogitsLoss(), X, wt.ones([8, 1]), "BCEWithLogitsLoss applies"),
    "nll": (lambda: nn.Linear(2, 3), nn.NLLLoss(), X, Y, "note: the network ends with Linear, and NLLLoss wants logarithms"),
    "relu": (lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU()), CE, X, Y, "note: the network ends with ReLU"),
    "labels from 1": (Net, CE, X, Y + 1, "error: labels go from 1 to 3, .* 3 scores: classes 0 to 2. Labels count from 0: subtract 1"),
    "labels too large": (Net, CE, X, Y + 4, "error: labels go from 4 to 6, .* needs 7 outputs"),
    "negative labels": (Net, CE, X, Y - 1, "error: labels go from -1 to 1"),
    "float labels": (Net, CE, X, Y.astype("float32"), "error: labels have dtype float32"),
    "one class": (lambda: Net(width=1), CE, X, Y * 0, "error: the network gives one score for each label"),
    "binary labels": (lambda: Net(width=1), nn.BCEWithLogitsLoss(), X, wt.full([8, 1], 2.0), "error: labels go from 2 to 2"),
    "no probabilities": (lambda: Net(width=1), nn.BCELoss(), X, wt.ones([8, 1]), "error: outputs go from .* BCELoss wants probabilities"),
    "broadcast": (lambda: Net(width=1), nn.MSELoss(), X, wt.ones([8]), r"error: outputs have shape \[8, 1\] and labels \[8\].*reshape\(\[8, 1\]\)"),
    "no scalar": (lambda: Net(width=1), nn.MSELoss(reduction="none"), X, wt.ones([8, 1]), r"error: the loss has shape \[8, 1\]"),
    "large": (Net, CE, X * 1000 + 5000, Y, "note: inputs are not normalised: mean"),
    "constant": (Net, CE, X * 0 + 2, Y, "note: inputs are all 2"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_what_keeps_a_training_from_learning_is_found(case):
    build, loss, x, y, expected = CASES[case]
    found = str(doctor(build(), loss, x, y))
    assert re.search(expected, found), found


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda net: opt.Adam(parameters=[]), "error: the optimizer has no parameters"),
        (lambda net: opt.Adam(parameters=Net().parameters()), "error: the optimizer has parameters of something else"),
        (lambda net: opt.Adam(parameters=net.second.parameters()), "error: the optimizer lacks 2 of 4 parameters: first.weight"),
        (lambda net: opt.Adam(5.0, parameters=net.parameters()), "note: the learning rate of Adam is 5"),
        (lambda net: opt.SGD(100.0, parameters=net.parameters()), "note: the learning rate of SGD is 100"),
        (lambda net: opt.SGD(0.0, parameters=net.parameters()), "error: the learning rate is 0"),
        (lambda net: opt.SGD(NaN, parameters=net.parameters()), "error: the learning rate is nan"),
        (lambda net: opt.SGD(1e-12, parameters=net.parameters()), "note: the learning rate is 1e-12"),
    ],
)
def test_the_optimizer_is_looked_at(make, expected):
    net = Net()
    found = doctor(net, CE, X, Y, optimizer=make(net))
    assert len(found) == 1 and re.search(expected, str(found)), found


def test_a_training_that_is_well_has_no_findings():
    warm_up = opt.lr.LinearWarmup(0.01, 10, 0.0, 0.01)
    for net in (Net(), nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))):
        found = doctor(net, CE, X, Y, optimizer=opt.Adam(warm_up, parameters=net.parameters()))
        assert not found and len(found) == 0 and "no findings" in str(found), found
    assert not doctor(Net(), nn.CrossEntropyLoss(ignore_index=-1), X, Y - 1)
    assert not doctor(nn.Linear(2, 1), nn.MSELoss(), X, wt.ones([8, 1]))
    soft = nn.CrossEntropyLoss(soft_label=True)
    assert not doctor(Net(), soft, X, wt.full([8, 3], 1 / 3))


def test_nothing_is_changed():
    net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1D(4), nn.Dropout(), nn.Linear(4, 3))
    net.eval()
    net(X).sum().backward()
    state = {name: value.tolist() for name, value in net.state_dict().items()}
    grads = [p.grad.tolist() if p.grad is not None else None for p in net.parameters()]
    generators = random_state()
    doctor(net, CE, X, Y, optimizer=opt.Adam(parameters=net.parameters()))
    with pytest.raises(ValueError):
        doctor(net, lambda out, y: wt.reshape(out, [7]), X, Y)
    assert {name: value.tolist() for name, value in net.state_dict().items()} == state
    assert [p.grad.tolist() if p.grad is not None else None for p in net.parameters()] == grads
    assert random_state() == generators and not any(layer.training for layer in net.sublayers())
    assert all(not layer._forward_post_hooks for layer in net.sublayers())


def test_a_model_and_its_data_are_taken():
    model = Model(nn.Sequential(nn.Linear(2, 3), nn.Softmax()))
    model.prepare("adam", "cross_entropy")
    data = TensorDataset([X, Y])
    for batches in (data, DataLoader(data, batch_size=4)):
        assert "ends with Softmax" in str(doctor(model, batches))
        assert "ends with Softmax" in str(doctor(model.network, CE, batches))
    assert "ends with Softmax" in str(doctor(model, None, X, Y))
    with pytest.raises(ValueError, match="there is no batch"):
        doctor(model)
    with pytest.raises(TypeError, match="this is not a network. Got str"):
        doctor("net")


def test_fit_checks_the_first_batch_and_trains_as_without():
    def trained(**options):
        wt.seed(0)
        model = Model(nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1D(8), nn.Dropout(), nn.Linear(8, 3)))
        model.prepare("adam", "cross_entropy")
        model.fit(X, Y, epochs=3, batch_size=4, verbose=0, **options)
        return [p.tolist() for p in model.parameters()]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trained(check=True) == trained()
    model = Model(nn.Sequential(nn.Linear(2, 3), nn.Softmax()))
    model.prepare("adam", "cross_entropy")
    with pytest.warns(UserWarning, match="ends with Softmax") as caught:
        model.fit(X, Y, epochs=2, batch_size=4, verbose=0, check=True)
    assert len(caught) == 1
