"""How objects of a training look: in a terminal, and in a notebook."""
import sys
import types

import numpy as np
import pytest

import wherry_nn as nn
from wherry_train import Model, amp, io, metric, notebook, summary
from wherry_train import optimizer as opt
from wherry_train.optimizer import lr
from wherry_train.progress_bar import ProgressBar
from wherry_train.regularizer import L1Decay


def network():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: opt.SGD(0.1, network().parameters(), weight_decay=1e-4),
         "SGD(learning_rate=0.1, weight_decay=L2Decay(coeff=0.0001), parameters=4 tensors of 13 values)"),
        (lambda: opt.AdamW(lr.StepDecay(0.1, 2), parameters=network().parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)),
         "AdamW(learning_rate=StepDecay(step_size=2, base_lr=0.1, last_lr=0.1, last_epoch=0), beta1=0.9, beta2=0.999, epsilon=1e-08, "),
        (lambda: opt.Momentum(0.1, parameters=[{"params": network().parameters()}, {"params": network().parameters()}]),
         "Momentum(learning_rate=0.1, momentum=0.9, use_nesterov=False, parameters=8 tensors of 26 values in 2 groups)"),
        (lambda: lr.ExponentialDecay(0.5, gamma=0.9), "ExponentialDecay(gamma=0.9, base_lr=0.5, last_lr=0.5, last_epoch=0)"),
        (lambda: lr.PiecewiseDecay([2], [0.5, 0.1]), "PiecewiseDecay(boundaries=[2], values=[0.5, 0.1], base_lr=0.1, last_lr=0.5"),
        (lambda: io.DataLoader(list(range(9)), batch_size=2, shuffle=True, num_workers=2),
         "DataLoader(list of 9 samples, batch_size=2, shuffle=True, num_workers=2)"),
        (lambda: io.RandomSampler("abc", True, 5), "RandomSampler(data_source='abc', replacement=True, num_samples=5)"),
        (lambda: io.SequenceSampler(range(10**6)), "SequenceSampler(data_source=range(0, 1000000))"),
        (lambda: metric.Accuracy((1, 5)), "Accuracy(topk=(1, 5))"),
        (lambda: amp.GradScaler(), "GradScaler(scale=65536, grows after 2000 steps, incr_count=0, decr_count=0)"),
        (lambda: amp.GradScaler(enable=False), "GradScaler(enable=False)"),
        (lambda: L1Decay(0.5), "L1Decay(coeff=0.5)"),
        (lambda: Model(nn.Linear(2, 1)), "Model(\n  network: Linear(in_features=2, out_features=1, dtype=float32)\n)"),
    ],
)
def test_objects_say_what_they_are(made, text):
    assert repr(made()).startswith(text)


def test_every_optimizer_and_schedule_has_a_text():
    for name in opt.__all__:
        kind = getattr(opt, name)
        if isinstance(kind, type) and kind is not opt.Optimizer and issubclass(kind, opt.Optimizer):
            assert repr(kind(learning_rate=0.5, parameters=network().parameters())).startswith(f"{name}(learning_rate=0.5")


def test_a_model_is_a_table_in_a_notebook():
    model = Model(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 1))))
    page = model._repr_html_()
    assert "13 parameters" in page and "<td>1.1</td><td>Linear(in_features=3" in page and "optimizer" not in page
    model.prepare("adam", "mse", "accuracy")
    assert "<td>optimizer</td><td>Adam(learning_rate=0.001" in model._repr_html_()


def test_a_summary_is_still_a_dict_and_a_table_too(capsys):
    found = summary(network(), (1, 2))
    assert found == {"total_params": 13, "trainable_params": 13} and "Total params: 13" in capsys.readouterr().out
    assert "<td>Linear-" in found._repr_html_()


class Screen:
    """Stands for IPython's display."""

    def __init__(self, monkeypatch):
        self.shown = []
        module = types.ModuleType("IPython")
        module.get_ipython = lambda: type("Shell", (), {"kernel": object()})()
        module.display = types.ModuleType("IPython.display")
        module.display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", module.display)

    def display(self, content, raw=False, display_id=None):
        self.shown.append(content)
        return self if display_id else None

    def update(self, content, raw=False):
        self.shown[-1] = content


def test_a_notebook_has_a_bar_that_fills(monkeypatch, capsys):
    assert not notebook.in_notebook()
    screen = Screen(monkeypatch)
    assert notebook.in_notebook()
    model = Model(nn.Linear(2, 1))
    model.prepare("adam", "mse")
    x = np.ones([64, 2], "float32")
    model.fit(x, x[:, :1], epochs=2, verbose=1)
    assert len(screen.shown) == 2  # one for each epoch
    for content in screen.shown:
        assert 'value="2" max="2"' in content["text/html"] and "step 2/2 - loss" in content["text/plain"]
    assert "step" not in capsys.readouterr().out.replace("current step", "").replace("previous steps", "")
    bar = ProgressBar(None, 1)  # nobody knows when it ends
    bar.update(1)
    bar.update(2, [("loss", float("nan"))])
    bar.finish()
    assert "<progress style" in screen.shown[-1]["text/html"] and "step   2" in screen.shown[-1]["text/plain"]
    found = summary(network(), (1, 2))
    assert "<table>" in screen.shown[-1]["text/html"] and "13 parameters" in found._repr_html_()
    assert "Total params" not in capsys.readouterr().out


def test_text_of_a_notebook_is_escaped():
    page = notebook.bar_html(1, 2, "<script>")
    assert "<script>" not in page and "&lt;script&gt;" in page
