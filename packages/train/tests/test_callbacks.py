"""Callbacks, driven as Model drives them."""
import sys
import types
import warnings
from typing import ClassVar

import numpy as np
import pytest

import wherry_nn as nn
from wherry_nn import unique_name
from wherry_tensor import rand, seed
from wherry_train import Model
from wherry_train.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    ResumeTraining,
    VisualDL,
    WandbCallback,
)
from wherry_train.io import TensorDataset
from wherry_train.metric import Accuracy
from wherry_train.optimizer import SGD, Adam, lr


class Fake:
    """A model that only remembers."""

    def __init__(self, rate=1.0):
        self.stop_training = False
        self.saved = []
        self._optimizer = types.SimpleNamespace(_learning_rate=rate, get_lr=lambda: self._optimizer._learning_rate)
        self._optimizer.set_lr = lambda value: setattr(self._optimizer, "_learning_rate", value)

    def save(self, path):
        self.saved.append(path)


def evaluated(callback, values, name="loss", listed=True):
    """After each value of an evaluation: whether training stops, and the learning rate."""
    model = Fake()
    callback.set_model(model)
    callback.set_params({"epochs": 9, "steps": 1, "verbose": 1, "metrics": [name]})
    callback.on_train_begin()
    seen = []
    for epoch, value in enumerate(values):
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch, {})
        callback.on_eval_begin({"steps": 1, "metrics": [name]})
        callback.on_eval_end({name: [value] if listed else value})
        seen.append((model.stop_training, model._optimizer._learning_rate))
        if model.stop_training:
            break
    return seen, model


@pytest.mark.parametrize("options, values, stops_at", [
    ({}, [3, 2, 1], None),
    ({}, [3, 3, 1], 1),
    ({"patience": 1}, [3, 2, 2], 2),
    ({"patience": 2}, [3, 2, 2, 1, 1, 1], 5),
    ({"patience": 1, "min_delta": 0.5}, [3, 2.7], 1),
    ({"patience": 1, "min_delta": -0.5}, [3, 2.7], 1),
    ({"patience": 2, "baseline": 2.5}, [3, 2.9], 1),
    ({"patience": 1, "mode": "max"}, [1, 2, 2], 2),
    ({"patience": 1, "mode": "min"}, [1, 2], 1),
    ({"patience": 1, "monitor": "acc"}, [1, 2, 2], 2),
    ({"patience": 1, "monitor": "top_acc"}, [1, 2, 2], 2),
    ({"patience": 1, "monitor": "auc"}, [1, 2], 1),
])
def test_early_stopping(options, values, stops_at, capsys):
    seen, _ = evaluated(EarlyStopping(**options), values, options.get("monitor", "loss"))
    assert [stopped for stopped, _ in seen] == [i == stops_at for i in range(len(values) if stops_at is None else stops_at + 1)]
    out = capsys.readouterr().out
    assert out == ("" if stops_at is None else f"Epoch {stops_at + 1}: Early stopping.\n")


def test_early_stopping_saves_the_best_weights(tmp_path, capsys):
    callback = EarlyStopping(patience=1)
    callback.save_dir = str(tmp_path)
    _, model = evaluated(callback, [3, 2, 2])
    assert model.saved == [str(tmp_path / "best_model")] * 2
    assert capsys.readouterr().out.splitlines()[1] == f"Best checkpoint has been saved at {tmp_path / 'best_model'}"


def test_what_is_monitored_has_to_be_there():
    for callback in (EarlyStopping("f1"), ReduceLROnPlateau("f1")):
        with pytest.warns(UserWarning, match=f"Monitor of {type(callback).__name__} should be loss or metric name"):
            evaluated(callback, [1.0])
    with pytest.warns(UserWarning, match="mode best is unknown, fallback to auto"):
        EarlyStopping(mode="best")
    with pytest.warns(UserWarning, match="mode best is unknown, fallback to auto"):
        ReduceLROnPlateau(mode="best")


@pytest.mark.parametrize("options, values, rates", [
    ({"patience": 1}, [3, 2, 2, 2, 1, 1], [1, 1, 0.1, 0.01, 0.01, 0.001]),
    ({"patience": 2, "factor": 0.5, "cooldown": 2}, [3] * 7, [1, 1, 0.5, 0.5, 0.5, 0.25, 0.25]),
    ({"patience": 1, "min_lr": 0.05}, [3] * 4, [1, 0.1, 0.05, 0.05]),
    ({"patience": 0}, [3, 3, 2], [1, 0.1, 0.1]),
    ({"patience": 1, "min_delta": 1}, [3, 2.5, 1], [1, 0.1, 0.1]),
    ({"patience": 1, "mode": "max"}, [1, 1, 2], [1, 0.1, 0.1]),
    ({"patience": 1, "cooldown": 1}, [3] * 4, [1, 0.1, 0.01, 0.001]),
    ({"patience": 1, "monitor": "acc"}, [1, 2, 2], [1, 1, 0.1]),
])
def test_the_learning_rate_falls_on_a_plateau(options, values, rates, capsys):
    seen, _ = evaluated(ReduceLROnPlateau(**options), values, options.get("monitor", "loss"), listed=False)
    np.testing.assert_allclose([rate for _, rate in seen], rates)
    assert capsys.readouterr().out.count("ReduceLROnPlateau reducing learning rate to") == len(set(rates)) - 1


def test_a_scheduler_keeps_its_rate():
    callback = ReduceLROnPlateau(patience=1)
    callback.set_model(Fake(rate=lr.StepDecay(0.1, 2)))
    callback.on_train_begin()
    with pytest.warns(UserWarning, match="Expected learning_rate be float"):
        callback.on_eval_end({"loss": [1.0]})


@pytest.mark.parametrize("call, says", [
    (lambda: ReduceLROnPlateau(factor=1.5), "does not support a factor >= 1.0"),
    (lambda: LRScheduler(True, True), "mutually exclusive"),
    (lambda: ProgBarLogger(0), "log_freq is not a number of steps"),
    (lambda: ModelCheckpoint(0), "save_freq is not a number of epochs"),
    (lambda: ResumeTraining("x", 0), "save_steps is not a number of steps"),
])
def test_numbers_that_make_no_sense_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


DATA = TensorDataset([rand([6, 4]), (rand([6, 1]) * 3).astype("int64")])


def prepared(rate=0.1, kind=SGD):
    model = Model(nn.Linear(4, 3))
    model.prepare(kind(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), Accuracy())
    return model


@pytest.mark.parametrize("callbacks, steps", [
    (None, 6),
    ([LRScheduler(by_step=True)], 6),
    ([LRScheduler(by_step=False, by_epoch=True)], 2),
    ([LRScheduler(by_step=False)], 0),
])
def test_the_scheduler_steps_with_batches_or_epochs(callbacks, steps):
    scheduler = lr.StepDecay(0.1, 3)
    prepared(scheduler).fit(DATA, batch_size=2, epochs=2, verbose=0, callbacks=callbacks)
    assert scheduler.last_epoch == steps


def test_reduce_on_plateau_gets_the_loss():
    scheduler = lr.ReduceOnPlateau(0.1, patience=100)
    prepared(scheduler).fit(DATA, batch_size=6, verbose=0)
    assert scheduler.best is not None


def test_checkpoints_of_epochs(tmp_path, capsys):
    prepared(kind=Adam).fit(DATA, batch_size=2, epochs=3, verbose=0, save_dir=str(tmp_path), save_freq=2)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["0.pdopt", "0.pdparams", "2.pdopt", "2.pdparams", "final.pdopt", "final.pdparams"]
    assert capsys.readouterr().out.splitlines() == [f"save checkpoint at {tmp_path / n}" for n in ("0", "2", "final")]


def test_a_checkpoint_callback_of_ones_own_replaces_fits(tmp_path):
    own = ModelCheckpoint(save_dir=str(tmp_path / "own"))
    prepared().fit(DATA, batch_size=2, verbose=0, save_dir=str(tmp_path / "fit"), callbacks=own)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["0.pdparams", "final.pdparams"]
    assert not (tmp_path / "fit").exists()


class Writer:
    """Stands for visualdl.LogWriter."""

    points: ClassVar = []

    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, tag, step, value):
        self.points.append((tag, step, value))

    def close(self):
        self.points.append("closed")


def test_visualdl_gets_a_point_for_each_step_and_evaluation(monkeypatch):
    monkeypatch.setitem(sys.modules, "visualdl", types.SimpleNamespace(LogWriter=Writer))
    monkeypatch.setattr(Writer, "points", [])
    prepared().fit(DATA, DATA, batch_size=3, epochs=2, verbose=0, callbacks=VisualDL("logs"))
    assert [(tag, step) for tag, step, _ in Writer.points[:-1]] == [
        (f"{mode}/{name}", step)
        for mode, step in (("train", 1), ("train", 2), ("eval", 0), ("train", 3), ("train", 4), ("eval", 1))
        for name in ("loss", "acc")
    ]
    assert all(isinstance(value, float) for _, _, value in Writer.points[:-1])
    assert Writer.points[-1] == "closed"


def test_visualdl_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "visualdl", None)
    with pytest.raises(ModuleNotFoundError, match="pip install visualdl"):
        prepared().fit(DATA, verbose=0, callbacks=VisualDL("logs"))


class Run:
    """What `wandb.init` gives."""

    def __init__(self, said, **arguments):
        self.said = said
        said.append(("init", arguments))

    def define_metric(self, *names, **options):
        self.said.append((*names, options))

    def log(self, values):
        self.said.append({name: value if isinstance(value, int) else type(value) for name, value in values.items()})

    def finish(self):
        self.said.append("finished")


def test_wandb_gets_steps_and_epochs(monkeypatch):
    said = []
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(run=None, init=lambda **arguments: Run(said, **arguments)))
    callback = WandbCallback(project="p", mode="offline", tags=["t"])
    assert said.pop(0) == ("init", {"project": "p", "name": None, "entity": None, "dir": None, "mode": "offline", "job_type": None, "tags": ["t"]})
    prepared().fit(DATA, DATA, batch_size=3, epochs=2, verbose=0, callbacks=callback)
    axes = [("train/step", {}), ("train/*", {"step_metric": "train/step"}), ("epoch", {}), ("eval/*", {"step_metric": "epoch"})]
    steps = [{"train/step": step, "train/loss": float, "train/acc": float} for step in (1, 2, 3, 4)]
    evaluations = [{"epoch": epoch, "eval/loss": float, "eval/acc": float} for epoch in (0, 1)]
    assert said == [*axes, *steps[:2], evaluations[0], *steps[2:], evaluations[1], "finished"]


def test_wandb_joins_a_run_that_is_open_and_evaluates_without_training(monkeypatch):
    said = []
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(run=Run(said), init=None))
    prepared().evaluate(DATA, batch_size=3, verbose=0, callbacks=WandbCallback())
    assert said == [("init", {}), {"epoch": 0, "eval/loss": float, "eval/acc": float}]


def test_wandb_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match="pip install wandb"):
        WandbCallback()


def test_callbacks_need_not_derive_from_callback():
    class Duck:
        calls = 0

        def set_model(self, model):
            self.model = model

        def set_params(self, params):
            self.params = params

        def on_train_batch_end(self, step, logs):
            Duck.calls += 1

    prepared().fit(DATA, batch_size=3, verbose=0, callbacks=Duck())
    assert Duck.calls == 2
    with pytest.raises(TypeError, match="that is not a callback"):
        prepared().fit(DATA, callbacks=[Callback])
    with pytest.raises(TypeError, match="that is not a callback"):
        prepared().fit(DATA, callbacks=3)


def test_a_finished_training_is_not_done_again(tmp_path):
    class Count(Callback):
        steps = 0

        def on_train_batch_end(self, step, logs=None):
            Count.steps += 1

    weights = []
    for _ in range(2):
        model = prepared()
        model.fit(DATA, batch_size=2, epochs=2, verbose=0, callbacks=[ResumeTraining(tmp_path / "run"), Count()])
        weights.append(model.network.weight.numpy())
    assert Count.steps == 6
    np.testing.assert_array_equal(*weights)


def test_an_early_stop_is_remembered(tmp_path):
    for _ in range(2):
        callbacks = [ResumeTraining(tmp_path / "run"), EarlyStopping("acc", "min", baseline=-1.0, verbose=0)]
        model = prepared()
        model.fit(DATA, DATA, batch_size=6, epochs=5, verbose=0, callbacks=callbacks)
        assert callbacks[0].run.stopped and callbacks[1].stopped_epoch == 1


class Interrupt(Callback):
    """Stands for a kill: after some steps, fit ends with an error."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    def on_train_batch_end(self, step, logs=None):
        self.left -= 1
        if self.left == 0:
            raise InterruptedError


@pytest.mark.parametrize("options", [
    {"epochs": 3}, {"num_iters": 7}, {"epochs": 3, "accumulate_grad_batches": 2}, {"epochs": 3, "eval_data": DATA},
])
@pytest.mark.parametrize("amp", [None, "O1", {"level": "O1", "dtype": "bfloat16"}])
def test_fit_goes_on_after_any_number_of_steps(options, amp, tmp_path):
    def trained(path, steps):
        with unique_name.guard():
            seed(5)
            np.random.seed(5)
            model = Model(nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)))
        model.prepare(Adam(0.1, parameters=model.parameters()), nn.CrossEntropyLoss(), Accuracy(), amp_configs=amp)
        counter = Interrupt(steps)
        stopping = EarlyStopping(patience=9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without evaluation there is nothing to stop for
            try:
                model.fit(DATA, batch_size=2, verbose=0, callbacks=[counter, stopping, ResumeTraining(path, 1)], **options)
            except InterruptedError:
                return trained(path, steps)
        return [*(p.numpy().tolist() for p in model.parameters()), stopping.state_dict(), np.random.rand(), counter.left]

    expected = trained(tmp_path / "whole", 1000)
    for steps in (3, 4):
        found = trained(tmp_path / str(steps), steps)
        assert found[:-1] == expected[:-1]


def test_early_stopping_names_what_there_is_to_watch():
    with pytest.warns(UserWarning, match=r"Monitor of EarlyStopping should be loss or metric name. Got 'val_loss', expected one of: loss, acc."):
        evaluated_once = EarlyStopping("val_loss")
        evaluated_once.on_eval_end({"loss": 1.0, "acc": 0.5, "batch_size": 4})
