"""A device is waited for where somebody reads a value, and nowhere else: counted on the reference device."""
import copy
import json
import pickle

import numpy as np
import pytest

import wherry_nn.functional as F
import wherry_tensor as w
from wherry_autograd import grad
from wherry_nn import CrossEntropyLoss, Linear, ReLU, Sequential
from wherry_tensor import device
from wherry_tensor.testing import reference
from wherry_train import Model, amp, metric, optimizer
from wherry_train.callbacks import Callback
from wherry_train.logs import Later, Logs

if reference.compiler() is None:
    pytest.skip("the reference device needs a C compiler", allow_module_level=True)

X = np.random.default_rng(0).standard_normal((96, 6)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, (96, 1))


@pytest.fixture
def waits():
    """How often somebody has waited for the device, since the test began."""
    library = reference.register()
    before = w.get_device()
    w.set_device("reference")
    device.synchronize()
    start = library.reference_waits()
    yield lambda: library.reference_waits() - start
    w.set_device(before)


def model(metrics=(), amp_configs=None):
    w.seed(7)
    found = Model(Sequential(Linear(6, 8), ReLU(), Linear(8, 3)))
    found.prepare(optimizer.Adam(0.01, parameters=found.parameters()), CrossEntropyLoss(), list(metrics), amp_configs)
    return found


class Reader(Callback):
    """Reads values after some steps, and keeps all logs."""

    def __init__(self, every, *names):
        super().__init__()
        self.every, self.names, self.read, self.logs = every, names, [], []

    def on_train_batch_end(self, step, logs=None):
        self.logs.append(logs)
        if self.every and step % self.every == 0:
            self.read.append([logs[name] for name in self.names])


def fit_waits(waits, steps, reader=None, metrics=()):
    before = waits()
    model(metrics).fit(X, Y, batch_size=8, verbose=0, shuffle=False, num_iters=steps, callbacks=reader)
    return waits() - before


def test_fit_waits_for_nothing_that_nobody_reads(waits):
    fit_waits(waits, 2)
    assert fit_waits(waits, 12, Reader(0), [metric.Accuracy()]) == fit_waits(waits, 3, Reader(0), [metric.Accuracy()]) == 0


def test_fit_waits_once_for_each_value_that_a_callback_reads(waits):
    reader = Reader(4, "loss", "step", "batch_size")
    assert fit_waits(waits, 12, reader) == 3
    assert [step for _, step, _ in reader.read] == [0, 4, 8] and {size for *_, size in reader.read} == {8}


def test_logs_hold_the_values_of_their_step_whenever_they_are_read(waits):
    accuracy = metric.Accuracy(topk=(1, 2))
    seen = []
    for every in 1, 5, 0:
        reader = Reader(every, "loss", "acc_top1", "acc_top2")
        fit_waits(waits, 12, reader, [accuracy])
        seen.append([(logs["loss"], logs["acc_top1"], logs["acc_top2"]) for logs in reader.logs])
    w.set_device("cpu")
    reader = Reader(1, "loss", "acc_top1", "acc_top2")
    model([accuracy]).fit(X, Y, batch_size=8, verbose=0, shuffle=False, num_iters=12, callbacks=reader)
    seen.append([tuple(values) for values in reader.read])
    assert seen[0] == seen[1] == seen[2] == seen[3] and len(seen[0]) == 12


@pytest.mark.parametrize("make", [metric.Accuracy, metric.Precision, metric.Recall, metric.Auc])
def test_metrics_count_what_was_put_aside_when_they_are_asked(make, waits):
    rng = np.random.default_rng(2)
    aside, at_once = make(), make()
    for _ in range(5):
        p = rng.random(16).astype("float32")
        labels = rng.integers(0, 2, 16)
        preds = np.stack([1 - p, p], axis=1) if make in (metric.Auc, metric.Accuracy) else p
        given = (w.to_tensor(preds), w.to_tensor(labels))
        before = waits()
        results = aside.compute(*given)
        assert aside._put_aside(list(results) if isinstance(results, tuple) else [results])
        assert waits() == before
        results = at_once.compute(w.to_tensor(preds, place="cpu"), w.to_tensor(labels, place="cpu"))
        at_once.update(*[r.numpy() for r in (results if isinstance(results, tuple) else [results])])
    state = copy.deepcopy(aside).state_dict()
    assert aside.accumulate() == at_once.accumulate()
    assert waits() > 0 and not aside._waiting
    assert set(state) == set(at_once.state_dict())
    fresh = make()
    fresh.set_state_dict(state)
    assert fresh.accumulate() == at_once.accumulate()
    aside.reset()
    assert aside.accumulate() == make().accumulate()


def test_metrics_of_others_get_their_arrays_at_once(waits):
    class Mine(metric.Accuracy):
        def update(self, correct, *args):
            assert isinstance(correct, np.ndarray)
            return super().update(correct)

    assert fit_waits(waits, 6, None, [Mine()]) == 6


def test_so_much_is_put_aside_and_no_more(waits, monkeypatch):
    monkeypatch.setattr(metric, "_MOST_WAITING", 20)
    accuracy = metric.Accuracy()
    fit_waits(waits, 12, None, [accuracy])
    assert len(accuracy._waiting) < 3


def test_evaluate_waits_when_it_returns(waits):
    found = model([metric.Accuracy()])
    before = waits()
    logs = found.evaluate(X, labels=Y, batch_size=32, verbose=0)
    assert waits() - before == 1 + 3 and set(logs) == {"loss", "acc"}  # the last loss, and the hits of three batches


def test_scaler_waits_once_for_each_step_where_it_decides(waits):
    net = Linear(6, 3)
    by = optimizer.SGD(0.1, parameters=net.parameters())
    scaler = amp.GradScaler(init_loss_scaling=4.0)
    before = waits()
    for _ in range(5):
        scaler.scale(net(w.to_tensor(X)).mean()).backward()
        at = waits()
        scaler.unscale_(by)
        assert waits() == at
        scaler.step(by)
        assert waits() == at + 1
        scaler.update()
        by.clear_grad()
    assert waits() - before == 5 and scaler._incr_count == 5


def test_scaler_skips_bad_steps_of_a_device(waits):
    net = Linear(6, 3)
    by = optimizer.SGD(0.1, parameters=net.parameters())
    scaler = amp.GradScaler(init_loss_scaling=4.0)
    weight = net.weight.numpy()
    scaler.scale((net(w.to_tensor(X)) * float("inf")).mean()).backward()
    scaler.minimize(by)
    assert (net.weight.numpy() == weight).all() and scaler._scale == 2.0


@pytest.mark.parametrize("loss", [
    lambda x: F.gaussian_nll_loss(x, x * 2, x * x),
    lambda x: F.triplet_margin_with_distance_loss(x, x + 1, x - 1),
    lambda x: F.gather_tree(w.zeros([3, 2, 2], "int64"), w.zeros([3, 2, 2], "int64")),
    lambda x: F.hsigmoid_loss(x, w.to_tensor([1] * 96), 4, w.ones([3, 6])),
    lambda x: F.cross_entropy(x, w.to_tensor([1] * 96)),
    lambda x: F.margin_cross_entropy(x / 8, w.to_tensor([1] * 96)),
])
def test_losses_look_at_no_values_of_a_device(loss, waits):
    x = w.to_tensor(X, stop_gradient=False)
    before = waits()
    out = loss(x)
    if not out.stop_gradient:
        grad(out.sum(), [x])
    assert waits() == before


def test_wrong_labels_on_a_device_come_to_light_when_the_op_runs(waits):
    for label in -1, 4:
        with pytest.raises(IndexError):
            F.hsigmoid_loss(w.ones([1, 6]), w.to_tensor([label]), 4, w.ones([3, 6])).numpy()
        with pytest.raises(IndexError):
            F.gather_tree(w.zeros([3, 1, 4], "int64"), w.full([3, 1, 4], label, "int64")).numpy()


def test_logs_are_dicts_to_those_who_read_them():
    asked = []

    def logs():
        asked.clear()
        found = Logs(step=3)
        found["loss"] = Later(lambda: asked.append("loss") or [1.5])
        return found

    assert logs()["step"] == 3 and logs().get("acc", 7) == 7 and not asked
    assert "loss" in logs() and list(logs()) == ["step", "loss"] == list(logs().keys()) and len(logs()) == 2 and not asked
    expected = {"step": 3, "loss": [1.5]}
    for read in (dict, lambda x: {**x}, lambda x: x.copy(), lambda x: dict(x.items()), lambda x: x | {}, lambda x: {} | x,
                 lambda x: dict(zip(x, x.values())), lambda x: json.loads(json.dumps(x)), copy.copy, copy.deepcopy,
                 lambda x: pickle.loads(pickle.dumps(x)), lambda x: {"step": 3, "loss": x.pop("loss")},
                 lambda x: {"step": 3, "loss": x.setdefault("loss")}, lambda x: dict([("step", 3), x.popitem()])):
        assert read(logs()) == expected and asked == ["loss"]
    assert logs() == expected and (logs() != expected) is False and repr(logs()) == repr(expected)
    twice = logs()
    assert twice["loss"] == twice["loss"] and asked == ["loss"]
