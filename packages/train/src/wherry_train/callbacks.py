"""Callbacks of `Model.fit`: progress, checkpoints, early stopping, logs.

`Model` calls every callback at the same points; a callback overrides the methods of those it wants.
"""
from __future__ import annotations

import importlib
import os
import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, short
from wherry_train.checkpoint import Checkpoint
from wherry_train.optimizer.lr import LRScheduler as Scheduler
from wherry_train.processes import place
from wherry_train.progress_bar import ProgressBar
from wherry_train.state import PlainState

__all__ = [
    "Callback",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "ResumeTraining",
    "VisualDL",
    "WandbCallback",
]


class Callback:
    """The base class of callbacks: override the methods that you need.

    Attributes:
        model: the `Model` that runs.
        params: a dict of the run: `batch_size`, `epochs`, `steps` (in an epoch; None if unknown), `verbose` and
            `metrics`, the names of the values in logs.

    Logs are dicts of these values: of the last step for `loss`, over the epoch so far for metrics;
    and `step` and `batch_size`, the number of samples.

    Source:
        `paddle.callbacks.Callback`.

    Examples:
        >>> class Losses(wherry.callbacks.Callback):
        ...     def on_train_begin(self, logs=None):
        ...         self.seen = []
        ...     def on_train_batch_end(self, step, logs=None):
        ...         self.seen.append(logs["loss"][0])
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Called once, with the dict above."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called once, with the Model."""
        self.model = model

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """After the last epoch."""

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before evaluation; logs has `steps` and `metrics`."""

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """After evaluation."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before prediction; logs has `steps`."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """After prediction."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch; they count from 0."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """After an epoch, before its evaluation."""

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of training; they count from 0 in each epoch."""

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of training."""

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of evaluation."""

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of evaluation."""

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a step of prediction."""

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a step of prediction."""


class CallbackList:
    """Calls the callbacks of a run, in order; adds those that every run has."""

    def __init__(
        self, callbacks: Any, model: Any, *, epochs: int | None = None, steps: int | None = None, log_freq: int = 2,
        verbose: int = 2, save_freq: int = 1, save_dir: str | None = None, metrics: list[str] | None = None,
        batch_size: Any = None, training: bool = False,
    ) -> None:
        found = [] if callbacks is None else list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
        for callback in found:
            if isinstance(callback, type) or not callable(getattr(callback, "set_model", None)):
                raise AssertedTypeError(
                    f"Model: that is not a callback. Got {short(callback)} ({type(callback).__name__}), expected objects of "
                    f"paddle.callbacks.Callback. Pass an instance, not the class or a number."
                )
        if place()[0]:  # of several processes one prints and saves
            verbose, save_dir = 0, None
        if verbose and not any(isinstance(c, ProgBarLogger) for c in found):
            found.insert(0, ProgBarLogger(log_freq, verbose=verbose))
        if training:
            if not any(isinstance(c, ModelCheckpoint) for c in found):
                found.append(ModelCheckpoint(save_freq, save_dir))
            if not any(isinstance(c, LRScheduler) for c in found):
                found.append(LRScheduler())
            for callback in found:
                if isinstance(callback, EarlyStopping):
                    callback.save_dir = save_dir
        params = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "verbose": verbose, "metrics": metrics or []}
        self.callbacks = found
        self._methods: dict[str, list[Any]] = {}  # the callbacks that override a method, by its name
        for callback in found:
            callback.set_model(model)
            callback.set_params(params)

    def __iter__(self) -> Iterable[Any]:  # type: ignore[override,misc]
        return iter(self.callbacks)

    def call(self, moment: str, *args: Any) -> None:
        """Call the method of this name of every callback."""
        methods = self._methods.get(moment)
        if methods is None:
            found = [getattr(callback, moment, None) for callback in self.callbacks]  # they need not derive from Callback
            nothing = getattr(Callback, moment)
            methods = [m for m in found if m is not None and getattr(m, "__func__", None) is not nothing]
            self._methods[moment] = methods
        for method in methods:
            method(*args)


class ProgBarLogger(Callback):
    """Prints the loss and the metrics while a model runs. `Model` adds one, unless `verbose` is 0.

    Args:
        log_freq: how many steps lie between two prints.
        verbose: 0 prints nothing; 1 rewrites a line with a bar (in a terminal or a notebook; elsewhere it prints
            lines); 2 prints lines; 3 prints how long data and steps took as well.

    Raises:
        ValueError: `log_freq` is below 1.

    Source:
        `paddle.callbacks.ProgBarLogger`.

    Examples:
        >>> model = wherry.Model(wherry.nn.Linear(2, 1))
        >>> model.prepare(wherry.optimizer.SGD(parameters=model.parameters()), wherry.nn.MSELoss())
        >>> lines = wherry.callbacks.ProgBarLogger(log_freq=2, verbose=2)
        >>> model.fit(wherry.ones([8, 2]), labels=wherry.ones([8, 1]), batch_size=2, verbose=2, callbacks=lines)
        The loss value printed in the log is the current step, and the metric is the average value of previous steps.
        Epoch 1/1
        step 2/4 - loss: ... - ...
        step 4/4 - loss: ... - ...
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        if not isinstance(log_freq, int) or log_freq < 1:
            raise InvalidArgumentError(
                f"ProgBarLogger: log_freq is not a number of steps. Got log_freq={short(log_freq)}, expected an int of 1 or more. "
                f"Pass verbose=0 to print nothing."
            )
        self.epochs: int | None = None
        self.steps: int | None = None
        self.progbar: ProgressBar | None = None
        self.verbose = verbose
        self.log_freq = log_freq

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.epochs = self.params["epochs"]
        if self.verbose:
            print(
                "The loss value printed in the log is the current step, "
                "and the metric is the average value of previous steps."
            )

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        self.steps = self.params["steps"]
        if self.verbose:
            print(f"Epoch {(epoch or 0) + 1}/{self.epochs}", flush=True)
        self._begin(self.steps)

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_begin()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_end(step, logs, self.params["metrics"])

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._end(logs, self.params["metrics"])

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        self._eval_metrics = logs.get("metrics", [])
        if self.verbose:
            print("Eval begin...", flush=True)
        self._begin(logs.get("steps"))

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_begin()

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_end(step, logs, self._eval_metrics)

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        self._end(logs, self._eval_metrics)
        if self.verbose:
            print(f"Eval samples: {self._samples}", flush=True)

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self.verbose:
            print("Predict begin...", flush=True)
        self._begin((logs or {}).get("steps"))

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_begin()

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._batch_end(step, logs, [])

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        self._end(logs, [])
        if self.verbose:
            print(f"Predict samples: {self._samples}", flush=True)

    def _begin(self, steps: int | None) -> None:
        self.progbar = ProgressBar(steps, self.verbose)
        self._done = 0  # steps
        self._printed = 0  # the step of the last print
        self._samples = 0
        self._reading = self._running = 0.0  # seconds
        self._clock = time.perf_counter()

    def _batch_begin(self) -> None:
        now = time.perf_counter()
        self._reading += now - self._clock
        self._clock = now

    def _batch_end(self, step: int, logs: dict[str, Any] | None, names: list[str]) -> None:
        now = time.perf_counter()
        self._running += now - self._clock
        self._clock = now
        self._done = step + 1
        self._samples += (logs or {}).get("batch_size", 0)
        assert self.progbar is not None
        if self.verbose and (self._done % self.log_freq == 0 or self._done == self.progbar.steps):
            self._print(logs, names)

    def _end(self, logs: dict[str, Any] | None, names: list[str]) -> None:
        assert self.progbar is not None
        if self.verbose and self._done > self._printed:  # the run ended early, or its length was unknown
            self._print(logs, names)
        if self.verbose:
            self.progbar.finish()

    def _print(self, logs: dict[str, Any] | None, names: list[str]) -> None:
        assert self.progbar is not None
        logs = logs or {}
        values = [(name, logs[name]) for name in names if name in logs]
        if self.verbose == 3:
            seconds = self._reading + self._running
            values += [
                ("avg_reader_cost", f"{self._reading / self._done:.5f} sec"),
                ("avg_batch_cost", f"{self._running / self._done:.5f} sec"),
                ("ips", f"{self._samples / seconds if seconds else 0:.5f} samples/sec"),
            ]
        self.progbar.update(self._done, values)
        self._printed = self._done


class ModelCheckpoint(Callback):
    """Saves weights and optimizer after epochs, as `<save_dir>/<epoch>` and finally `<save_dir>/final`.

    `Model.fit(save_dir=...)` adds one. `Model.load` reads what it wrote; each file is replaced atomically, the
    optimizer's after the weights'. To go on after a crash with the very same numbers, use `ResumeTraining`.

    Args:
        save_freq: how many epochs lie between two saves.
        save_dir: the folder; None saves nothing.

    Raises:
        ValueError: `save_freq` is below 1.

    Source:
        `paddle.callbacks.ModelCheckpoint`.

    Examples:
        >>> import os, tempfile
        >>> model = wherry.Model(wherry.nn.Linear(2, 1))
        >>> model.prepare(wherry.optimizer.SGD(parameters=model.parameters()), wherry.nn.MSELoss())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saving = wherry.callbacks.ModelCheckpoint(save_freq=2, save_dir=folder)
        ...     model.fit(wherry.ones([4, 2]), labels=wherry.ones([4, 1]), epochs=3, verbose=0, callbacks=saving)
        ...     sorted(os.listdir(folder))
        save checkpoint at ...0
        save checkpoint at ...2
        save checkpoint at ...final
        ['0.pdparams', '2.pdparams', 'final.pdparams']
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        if not isinstance(save_freq, int) or save_freq < 1:
            raise InvalidArgumentError(
                f"ModelCheckpoint: save_freq is not a number of epochs. Got save_freq={short(save_freq)}, expected an int of 1 or more. "
                f"Pass save_dir=None to save nothing."
            )
        self.save_freq = save_freq
        self.save_dir = save_dir

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        self.epoch = epoch

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_dir is not None and epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self.save_dir is not None:
            self._save("final")

    def _save(self, name: str) -> None:
        if place()[0]:
            return
        path = os.path.join(os.fspath(self.save_dir or ""), name)
        print(f"save checkpoint at {os.path.abspath(path)}")
        self.model.save(path)


class LRScheduler(Callback):
    """Steps the optimizer's learning rate scheduler. `Model.fit` adds one that does so after every batch.

    Args:
        by_step: after every batch.
        by_epoch: after every epoch.

    Raises:
        ValueError: both are True.

    Source:
        `paddle.callbacks.LRScheduler`. A ReduceOnPlateau scheduler gets the loss, which it needs.

    Examples:
        >>> callback = wherry.callbacks.LRScheduler(by_step=False, by_epoch=True)
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise InvalidArgumentError(
                "LRScheduler: by_step option is mutually exclusive with by_epoch. Got both, expected one of them. "
                "Pass by_step=False."
            )
        self.by_step = by_step
        self.by_epoch = by_epoch

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.by_epoch:
            self._step(logs)

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        if self.by_step:
            self._step(logs)

    def _step(self, logs: dict[str, Any] | None) -> None:
        scheduler = getattr(self.model._optimizer, "_learning_rate", None)
        if not isinstance(scheduler, Scheduler):
            return
        if type(scheduler).__name__ == "ReduceOnPlateau":
            scheduler.step(_first((logs or {}).get("loss")))  # type: ignore[arg-type]
        else:
            scheduler.step()


class _Monitor(PlainState, Callback):
    """What EarlyStopping and ReduceLROnPlateau share: whether a value has become better."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError(
                f"{name}: argument 'monitor' must be the name of a value. Got {type(monitor).__name__}, expected a str. "
                f"Write monitor='loss', say."
            )
        if mode not in ("auto", "min", "max"):
            title = "EarlyStopping" if name == "EarlyStopping" else "Learning rate reduction"
            warnings.warn(f"{title} mode {mode} is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        self.monitor = monitor
        self.mode = mode
        self.min_delta = abs(min_delta)
        self._larger = mode == "max" or (mode == "auto" and "acc" in monitor)
        self._worst = -np.inf if self._larger else np.inf

    def _better(self, value: float, best: float) -> bool:
        return value > best + self.min_delta if self._larger else value < best - self.min_delta

    def _value(self, logs: dict[str, Any] | None) -> float | None:
        if not logs or self.monitor not in logs:
            there = ", ".join(name for name in logs or () if name not in ("step", "steps", "batch_size"))
            warnings.warn(
                f"Monitor of {type(self).__name__} should be loss or metric name. Got {short(self.monitor)}, expected one of: {there or 'none yet'}.",
                stacklevel=4,
            )
            return None
        return _first(logs[self.monitor])


class EarlyStopping(_Monitor):
    """Stops training when a value of the evaluation has not improved for a while.

    Args:
        monitor: the name of the value: "loss", or a metric's.
        mode: "min" if smaller is better, "max" if larger is; "auto" tells from the name: names with "acc" are maximized.
        patience: how many evaluations without improvement are tolerated.
        verbose: 1 prints when it stops.
        min_delta: the smallest change that counts as an improvement.
        baseline: what has to be beaten at first; None takes the first value.
        save_best_model: whether the best weights are saved as `<save_dir>/best_model`, where `fit` has a save_dir.

    Raises:
        TypeError: `monitor` is not a str.

    Source:
        `paddle.callbacks.EarlyStopping`, which with a patience of 0 stops after the first evaluation, whatever
        its result. Here 0 stops at the first evaluation without improvement, as 1 does.

    Examples:
        >>> callback = wherry.callbacks.EarlyStopping("acc", mode="max", patience=2)
    """

    _kept = ("wait_epoch", "best_value", "stopped_epoch")

    def __init__(
        self, monitor: str = "loss", mode: str = "auto", patience: int = 0, verbose: int = 1, min_delta: float = 0,
        baseline: float | None = None, save_best_model: bool = True,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.wait_epoch = 0
        self.best_weights = None
        self.stopped_epoch = 0
        self.save_best_model = save_best_model
        self.save_dir: str | None = None  # set by `fit`
        self.best_value = self._worst if baseline is None else baseline

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.wait_epoch = 0
        self.stopped_epoch = 0
        self.best_value = self._worst if self.baseline is None else self.baseline

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        value = self._value(logs)
        if value is None:
            return
        if self._better(value, self.best_value):
            self.best_value = value
            self.wait_epoch = 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        self.stopped_epoch += 1
        if self.wait_epoch >= max(self.patience, 1):
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch}: Early stopping.")
                if self.save_best_model and self.save_dir is not None:
                    print(f"Best checkpoint has been saved at {os.path.abspath(os.path.join(self.save_dir, 'best_model'))}")


class ReduceLROnPlateau(_Monitor):
    """Makes the learning rate smaller when a value of the evaluation has not improved for a while.

    Args:
        monitor: the name of the value: "loss", or a metric's.
        factor: what the learning rate is multiplied with, below 1.
        patience: how many evaluations without improvement are tolerated.
        verbose: 1 prints each change.
        mode: "min" if smaller is better, "max" if larger is; "auto" tells from the name.
        min_delta: the smallest change that counts as an improvement.
        cooldown: after a change, how many evaluations pass before patience begins to run out.
        min_lr: the learning rate is not made smaller than this.

    Raises:
        ValueError: `factor` is 1 or more.

    Source:
        `paddle.callbacks.ReduceLROnPlateau`. An optimizer with a scheduler keeps the scheduler's rate: a warning.

    Examples:
        >>> callback = wherry.callbacks.ReduceLROnPlateau(factor=0.5, patience=3)
    """

    _kept = ("cooldown_counter", "wait", "best", "epoch")

    def __init__(
        self, monitor: str = "loss", factor: float = 0.1, patience: int = 10, verbose: int = 1, mode: str = "auto",
        min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0,
    ) -> None:
        if factor >= 1.0:
            raise InvalidArgumentError(
                f"ReduceLROnPlateau: ReduceLROnPlateau does not support a factor >= 1.0. Got factor={factor}, expected one "
                f"in (0, 1). 0.1 divides the learning rate by ten."
            )
        super().__init__(monitor, mode, min_delta)
        self.factor = factor
        self.min_lr = min_lr
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.epoch = 0
        self._reset()

    def _reset(self) -> None:
        self.best = self._worst
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._reset()

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        value = self._value(logs)
        if value is not None:
            self._judge(value)
        self.epoch += 1

    def _judge(self, value: float) -> None:
        optimizer = self.model._optimizer
        rate = getattr(optimizer, "_learning_rate", None)
        if not isinstance(rate, (int, float)):
            warnings.warn(f"Expected learning_rate be float, bug got {type(rate)}.", stacklevel=4)
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value, self.best):
            self.best = value
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                old = float(optimizer.get_lr())
                if old > np.float32(self.min_lr):
                    new = max(old * self.factor, self.min_lr)
                    optimizer.set_lr(new)
                    if self.verbose > 0:
                        print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
                    self.cooldown_counter = self.cooldown
                    self.wait = 0

    def in_cooldown(self) -> bool:
        """Whether fewer than `cooldown` evaluations have passed since the last change."""
        return self.cooldown_counter > 0


class VisualDL(PlainState, Callback):
    """Writes the loss and the metrics to logs that `visualdl --logdir <log_dir>` shows.

    Every step of training and every evaluation adds a point to `train/<name>` or `eval/<name>`.

    Args:
        log_dir: the folder.

    Raises:
        ModuleNotFoundError: when a run begins and the package `visualdl` is not installed.

    Source:
        `paddle.callbacks.VisualDL`.

    Examples:
        >>> writer = wherry.callbacks.VisualDL(log_dir="logs")  # for Model.fit(..., callbacks=writer)
    """

    _kept = ("epoch", "_step", "_evaluation")

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self.epochs: int | None = None
        self.steps: int | None = None
        self.epoch = 0
        self._writer: Any = None
        self._step = 0  # of all epochs
        self._evaluation = 0
        self._training = False

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.epochs = self.params["epochs"]
        self._training = True
        self._step = self._evaluation = 0
        self._open()

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        self.steps = self.params["steps"]
        self.epoch = epoch or 0

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._step += 1
        self._write("train", self.params["metrics"], logs, self._step)

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._eval_metrics = (logs or {}).get("metrics", [])
        self._open()

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        self._write("eval", self._eval_metrics, logs, self._evaluation)
        self._evaluation += 1
        if not self._training:
            self._close()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._training = False
        self._close()

    def _open(self) -> None:
        if self._writer is None:
            visualdl = _installed("visualdl", "VisualDL")
            self._writer = visualdl.LogWriter(self.log_dir)

    def _write(self, mode: str, names: list[str], logs: dict[str, Any] | None, step: int) -> None:
        for name in names:
            value = (logs or {}).get(name)
            if value is not None:
                self._writer.add_scalar(tag=f"{mode}/{name}", step=step, value=_first(value))

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class WandbCallback(PlainState, Callback):
    """Writes the loss and the metrics to a run of Weights & Biases: `train/<name>` by step, `eval/<name>` by epoch.

    Args:
        project: the project of the run.
        entity: the user or team that it belongs to.
        name: of the run; None lets wandb make one.
        dir: where wandb keeps its files.
        mode: "online", "offline" or "disabled".
        job_type: groups runs.
        **kwargs: further arguments of `wandb.init`.

    Raises:
        ModuleNotFoundError: the package `wandb` is not installed.

    Source:
        `paddle.callbacks.WandbCallback`.

    Examples:
        >>> try:
        ...     logger = wherry.callbacks.WandbCallback(project="digits", mode="offline")  # for Model.fit(..., callbacks=logger)
        ... except ModuleNotFoundError:
        ...     pass  # the package wandb is not installed
    """

    _kept = ("epoch", "train_step")

    def __init__(
        self, project: str | None = None, entity: str | None = None, name: str | None = None, dir: str | None = None, mode: str | None = None,
        job_type: str | None = None, **kwargs: Any,
    ) -> None:
        super().__init__()
        self.wandb = _installed("wandb", "WandbCallback")
        self.wandb_args = {"project": project, "name": name, "entity": entity, "dir": dir, "mode": mode, "job_type": job_type, **kwargs}
        self.epoch = 0
        self.train_step = 0  # of all epochs
        self._run: Any = None
        self._eval_metrics: list[str] = []
        _ = self.run

    @property
    def run(self) -> Any:
        """The run: one that is open, or a new one."""
        if self._run is None:
            self._run = self.wandb.run if self.wandb.run is not None else self.wandb.init(**self.wandb_args)
        return self._run

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.train_step = 0
        # The axes of the charts.
        self.run.define_metric("train/step")
        self.run.define_metric("train/*", step_metric="train/step")
        self.run.define_metric("epoch")
        self.run.define_metric("eval/*", step_metric="epoch")

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        self.epoch = epoch or 0

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self.train_step += 1
        self._log("train", self.params["metrics"], logs, {"train/step": self.train_step})

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._eval_metrics = (logs or {}).get("metrics", [])

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        self._log("eval", self._eval_metrics, logs, {"epoch": self.epoch})

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.run.finish()
        self._run = None

    def _log(self, mode: str, names: list[str], logs: dict[str, Any] | None, place: dict[str, int]) -> None:
        values = {name: _first(logs[name]) for name in names if logs and logs.get(name) is not None}
        self.run.log({**place, **{f"{mode}/{name}": value for name, value in values.items()}})


def _installed(name: str, owner: str) -> Any:
    """The package that writes the logs of a callback."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{owner}: the package that writes and shows the logs is not installed. Got no module named '{name}', expected it for "
            f"paddle.callbacks.{owner}. Run `pip install {name}`.", name=name,
        ) from None


class ResumeTraining(Callback):
    """Lets `Model.fit` resume where it was killed, with the same numbers as an uninterrupted run.

    `fit` writes one file after every epoch and, if wanted, between: weights, optimizer and scheduler, loss scaling,
    metrics, the counts of callbacks, the random generators and the place in the data. Start the same program again,
    and `fit` goes on after the last step that the file holds; once the training is done, it does nothing.

    Args:
        path: the file; it is replaced atomically, so killing the process leaves the old or the new one.
        save_steps: after how many steps of an epoch to save as well; None saves at the ends of epochs alone.

    Raises:
        ValueError: `save_steps` is below 1.

    Source:
        Wherry's own, built on `wherry_train.Checkpoint`, which serves loops of one's own.

    Examples:
        >>> callback = wherry.callbacks.ResumeTraining("run.ckpt", save_steps=100)
    """

    def __init__(self, path: str | os.PathLike[str], save_steps: int | None = None) -> None:
        super().__init__()
        if save_steps is not None and (not isinstance(save_steps, int) or save_steps < 1):
            raise InvalidArgumentError(
                f"ResumeTraining: save_steps is not a number of steps. Got save_steps={short(save_steps)}, expected an int of 1 or more, or "
                f"None. None saves after every epoch."
            )
        self.path = path
        self.save_steps = save_steps
        self.run: Checkpoint | None = None

    def begin(self, callbacks: Iterable[Any]) -> Checkpoint:
        """Called by `fit` when all callbacks have begun: the run, restored if there is a file."""
        model = self.model
        objects: dict[str, Any] = {"network": model.network}
        if model._optimizer is not None:
            objects["optimizer"] = model._optimizer
        if model._scaler is not None:
            objects["scaler"] = model._scaler
        for i, metric in enumerate(model._metrics):
            if callable(getattr(metric, "set_state_dict", None)):
                objects[f"metric_{i}"] = metric
        for i, callback in enumerate(callbacks):
            if callable(getattr(callback, "state_dict", None)) and callable(getattr(callback, "set_state_dict", None)):
                objects[f"callback_{i}_{type(callback).__name__}"] = callback
        self.run = Checkpoint(self.path, **objects)
        self.run.restore()
        return self.run

    def after_step(self) -> None:
        """Called by `fit` when every other callback is through with a step."""
        if self.run is not None and self.save_steps is not None and self.run.step % self.save_steps == 0:
            self.run.save()

    def after_epoch(self) -> None:
        """Called by `fit` when an epoch is over, with its evaluation."""
        if self.run is not None:
            self.run.stopped = self.model.stop_training
            self.run.save()


def _first(value: Any) -> Any:
    """A number from one, or the first from a list or an array of them."""
    return float(np.ravel(value)[0]) if isinstance(value, (list, tuple, np.ndarray)) else value
