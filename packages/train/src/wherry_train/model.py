"""`Model`: training, evaluation and prediction of a network in a few calls."""
from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial, wraps
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np

from wherry_autograd import no_grad
from wherry_nn import Layer
from wherry_tensor import _core, flags, to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import at_hand
from wherry_tensor.errors import (
    AssertedArgumentError,
    AssertedTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    PreconditionNotMetError,
    UnimplementedError,
    short,
)
from wherry_tensor.notebook import table_to_html
from wherry_tensor.static_builder import building
from wherry_tensor.tracebacks import warn
from wherry_train import amp, processes
from wherry_train.arrays import ArrayDataset, is_array, is_arrays
from wherry_train.atomic_files import finish_replacing, replace_files
from wherry_train.by_name import loss_named, metric_named, optimizer_named
from wherry_train.callbacks import CallbackList, EarlyStopping, ResumeTraining
from wherry_train.checkpoint import Checkpoint
from wherry_train.dataframes import array_of_rows
from wherry_train.first_step import examined
from wherry_train.io import DataLoader, Dataset, DistributedBatchSampler, IterableDataset
from wherry_train.logs import Later, Logs
from wherry_train.metric import Metric, _Waiting
from wherry_train.serialization import load, writer_of
from wherry_train.tables import summary

__all__ = ["Model"]

_SCALER_OPTIONS = (
    "init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
)
_CAST_OPTIONS = ("custom_white_list", "custom_black_list", "dtype")


class _LeftOut(int):
    """An int as a default, distinct from the same number passed by the caller."""


_ONE = _LeftOut(1)
_SELDOM = 50  # steps between two looks at a loss that is on another device
_BATCH_OF_ARRAYS = 32


class NotReadyError(PreconditionNotMetError, AssertionError):
    """`Model.prepare` was not called; also an AssertionError, as in Paddle."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _at_once(method: _Method) -> _Method:
    """Decorates methods of Model that handle data: static mode does not record their ops, and an interrupt ends at the caller's line."""

    @wraps(method)
    def call(self: Model, *args: Any, **kwargs: Any) -> Any:
        try:
            if building.builder is None or self._static is None:
                return method(self, *args, **kwargs)
            with building.builder.paused():
                return method(self, *args, **kwargs)
        except KeyboardInterrupt as interrupt:
            if flags.full_tracebacks():
                raise
            # Where the loop was says nothing: 14 lines of it and of queues, down to the reading of a pipe.
            interrupt.__context__ = None
            raise interrupt.with_traceback(None) from None

    return cast(_Method, call)


def _labels_are_second(fit: _Method) -> _Method:
    """Lets `fit(x, y, eval_data=(x2, y2))` mean what it says: to Python that is `eval_data` twice."""

    @wraps(fit)
    def call(self: Model, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and "eval_data" in kwargs and "labels" not in kwargs:
            kwargs["labels"] = args[1]
            args = (args[0], kwargs.pop("eval_data"), *args[2:])
        return fit(self, *args, **kwargs)

    return cast(_Method, call)


def _check_counts(**counts: Any) -> None:
    for name, value in counts.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise AssertedArgumentError(
                f"Model.fit: {name} counts. Got {name}={short(value)}, expected an int of 1 or more. Leave it out for the default."
            )


class AssertedNotImplementedError(UnimplementedError, AssertionError):
    """Not supported; also an AssertionError, as in Paddle."""


class Model:
    """A network with what is needed to train it: an optimizer, a loss, metrics.

    Args:
        network: the layer to train.
        inputs: descriptions of the network's inputs, objects with `shape`, `dtype` and `name` as
            `paddle.static.InputSpec`: one, or a list. Needed where the number of inputs is not that of the
            arguments of `network.forward`, and by `summary` without a size.
        labels: the same of the labels.

    In static mode (`paddle.enable_static()`) programs are recorded for `inputs` and `labels`, and run; parameters that have no values yet get
    their first ones when a program is recorded.

    Raises:
        TypeError: `network` is not a Layer; static mode is on and there are no `inputs`.

    Source:
        `paddle.Model`.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 16), wherry.nn.ReLU(), wherry.nn.Linear(16, 3))
        >>> model = wherry.Model(net)
        >>> model.prepare(
        ...     wherry.optimizer.Adam(parameters=model.parameters()), wherry.nn.CrossEntropyLoss(),
        ...     wherry.metric.Accuracy(),
        ... )
        >>> data = wherry.io.TensorDataset([wherry.rand([64, 4]), wherry.randint(0, 3, [64, 1])])
        >>> model.fit(data, epochs=2, batch_size=16, verbose=0)
        >>> sorted(model.evaluate(data, batch_size=16, verbose=0))
        ['acc', 'loss']
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, Layer):
            raise InvalidTypeError(
                f"Model: the network must be a Layer. Got {type(network).__name__}, expected a paddle.nn.Layer. "
                f"Pass an instance, as Model(LeNet())."
            )
        self.mode = "train"
        self.network = network
        self._shared: Layer | None = None  # the network in DataParallel, where several processes train it
        self._left: int | None = None      # samples that `evaluate` has not seen so far, in all processes
        self.stop_training = False
        self._inputs = _specs(inputs, "inputs")
        self._labels = _specs(labels, "labels")
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Any] = []
        self._scaler: Any = None
        self._cast: dict[str, Any] | None = None  # arguments of auto_cast
        self._taken: tuple[Any, int | None] | None = None  # `forward` and how many parts of a batch it takes
        self._check = False  # run `doctor` on the next batch
        self._said_not_finite = False  # by this `fit`
        self._seen: list[tuple[list[int], Any]] = []  # shapes and dtypes of the last inputs
        self._static: Any = None  # what records and runs programs, in static mode
        if building.builder is not None:
            self._static = import_module("wherry_graph.static.model").StaticModel(self)  # by name: wherry_graph imports this package

    def __repr__(self) -> str:
        parts = [f"  {name}: {value!r}".replace("\n", "\n  ") for name, value in self._parts().items()]
        return "Model(\n" + "\n".join(parts) + "\n)"

    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"network": self.network}
        if self._optimizer is not None:
            parts["optimizer"] = self._optimizer
        if self._loss is not None:
            parts["loss"] = self._loss
        if self._metrics:
            parts["metrics"] = self._metrics
        return parts

    def _repr_html_(self) -> str:
        rows = []
        for name, layer in self.network.named_sublayers(include_self=not self.network._sub_layers):
            if not layer._sub_layers:
                sizes = ", ".join(str(p.shape) for p in layer.parameters())
                rows.append([name, f"{type(layer).__name__}({layer.extra_repr()})", sizes, f"{sum(p.size for p in layer.parameters()):,}"])
        total = sum(p.size for p in self.network.parameters())
        facts = [[name, repr(value)] for name, value in self._parts().items() if name != "network"]
        caption = f"Model of {type(self.network).__name__}: {total:,} parameters"
        table = table_to_html(["layer", "kind", "parameters", "values"], rows, caption)
        return table + (table_to_html(["prepared", ""], facts) if facts else "")

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Set the optimizer, the loss and the metrics. An argument that is left out becomes None.

        Args:
            optimizer: for training. Or its name, "adam" say, for the usual settings and a learning rate of 0.001.
            loss: a layer or a function of (outputs..., labels...); it returns a scalar, or a list of them, which are
                added up. Or its name, "cross_entropy" say.
            metrics: one Metric or a list. Or names, "accuracy" say.
            amp_configs: mixed precision: "O1", "O2" or "O0", or a dict with "level", the options of
                `amp.GradScaler` (`init_loss_scaling`, ...), `custom_white_list`, `custom_black_list` and "dtype".

        Raises:
            TypeError: `loss` is not callable, `optimizer` is not an optimizer, or a metric is not a Metric (also an AssertionError).
            ValueError: `amp_configs` has an unknown level or option, or a name is unknown.

        Source:
            `paddle.Model.prepare`.
        """
        if isinstance(optimizer, str):
            optimizer = optimizer_named(optimizer, self.parameters())
        if isinstance(loss, str):
            loss = loss_named(loss)
        if loss is not None and not callable(loss):
            raise InvalidTypeError(
                f"Model.prepare: 'loss' must be sub classes of `paddle.nn.Layer` or any callable function. "
                f"Got {type(loss).__name__}. Pass an instance, as nn.CrossEntropyLoss()."
            )
        if optimizer is not None and not (callable(getattr(optimizer, "step", None)) and hasattr(optimizer, "clear_grad")):
            raise InvalidTypeError(
                f"Model.prepare: 'optimizer' must be an optimizer. Got {type(optimizer).__name__}, expected one of "
                f"paddle.optimizer. Write paddle.optimizer.Adam(parameters=model.parameters())."
            )
        found = [metric_named(metric) if isinstance(metric, str) else metric for metric in _listed(metrics)]
        for metric in found:
            if not isinstance(metric, Metric):
                raise AssertedTypeError(
                    f"Model.prepare: {type(metric).__name__} is not sub class of Metric. Got {short(metric)}, expected instances of "
                    f"paddle.metric.Metric. Pass paddle.metric.Accuracy(), with parentheses."
                )
        level, scaling, casting = _amp_options(amp_configs)
        self._optimizer, self._loss, self._metrics = optimizer, loss, found
        self._scaler = self._cast = self._shared = None
        if self._static is not None:
            self._static.prepare(optimizer, level, scaling, casting)
        elif level != "O0":
            self._cast = {"level": level, **casting}
            if level == "O2":
                dtype = casting.get("dtype", "float16")
                if optimizer is None:
                    self.network = amp.decorate(models=self.network, level="O2", dtype=dtype)
                else:
                    self.network, self._optimizer = amp.decorate(
                        models=self.network, optimizers=optimizer, level="O2", dtype=dtype
                    )
            self._scaler = amp.GradScaler(enable=casting.get("dtype", "float16") == "float16", **scaling)
        if self._static is None and optimizer is not None and processes.place()[1] > 1:
            self._shared = processes.shared(self.network)

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network. Source: `paddle.Model.parameters`."""
        return self.network.parameters(*args, **kwargs)

    # One batch.

    @_at_once
    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Train on one batch.

        Args:
            inputs: a tensor or an array, or a list of them.
            labels: the same, or None.
            update: False only adds to the gradients; a later call with True uses them all.

        Returns:
            The losses, a list of arrays; with metrics, (losses, the batch's metrics).

        Raises:
            RuntimeError: there is no optimizer or no loss yet (also an AssertionError).

        Source:
            `paddle.Model.train_batch`.

        Examples:
            >>> model = wherry.Model(wherry.nn.Linear(2, 1))
            >>> model.prepare(wherry.optimizer.SGD(parameters=model.parameters()), wherry.nn.MSELoss())
            >>> losses = model.train_batch([np.ones([8, 2], "float32")], [np.ones([8, 1], "float32")])
            >>> losses[0].shape
            ()
        """
        losses, metrics = self._train(_tensors(inputs), _tensors(labels), update)
        return (_arrays(losses), metrics) if self._metrics else _arrays(losses)

    def _train(
        self, inputs: list[Tensor], labels: list[Tensor], update: bool, wanted: bool = True
    ) -> tuple[list[Tensor], list[Any]]:
        """The losses, and the batch's metrics if they are `wanted`; if not, nothing here waits for the device."""
        self._require_ready()
        self.mode = "train"
        if self._static is not None:
            if not update:
                raise AssertedNotImplementedError(
                    "Model: Does not support `update == False` in static graph mode by now. Got a batch whose gradients are to be kept, expected "
                    "an update with each. Use larger batches, or dynamic mode."
                )
            outputs, losses = self._static.run("train", inputs, labels)
            return losses, self._measure(outputs, labels, wanted)
        self.network.train()
        outputs, losses = self._run(inputs, labels)
        total = losses[0]
        for loss in losses[1:]:
            total = total + loss
        if self._scaler is None:
            total.backward()
            if update:
                self._optimizer.step()
                self._optimizer.clear_grad()
        else:
            self._scaler.scale(total).backward()
            if update:
                self._scaler.step(self._optimizer)
                self._scaler.update()
                self._optimizer.clear_grad()
        return [loss.detach() for loss in losses], self._measure(outputs, labels, wanted)

    def _warn_of(self, inputs: list[Tensor], labels: list[Tensor]) -> None:
        """Warn of what keeps the first step from training anything."""
        found = examined(self.network, self._loss, inputs, labels, self._optimizer)
        if found:
            warnings.warn(str(found), stacklevel=4)

    def _require_ready(self) -> None:
        if self._optimizer is None or self._loss is None:
            missing = "optimizer" if self._optimizer is None else "loss"
            raise NotReadyError(
                f"Model: model not ready, please call `model.prepare()` first. Got no {missing}, expected an optimizer and a "
                f"loss. Write model.prepare(optimizer, loss)."
            )

    def _apply_gradients(self) -> None:
        """The update for gradients that were left over."""
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self._optimizer.clear_grad()

    @_at_once
    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Evaluate one batch.

        Returns:
            The losses, a list of arrays; with metrics, (losses, the batch's metrics). Without a loss, the metrics.

        Source:
            `paddle.Model.eval_batch`.
        """
        losses, metrics = self._evaluate(_tensors(inputs), _tensors(labels))
        if self._loss is None:
            return metrics
        return (_arrays(losses), metrics) if self._metrics else _arrays(losses)

    def _evaluate(self, inputs: list[Tensor], labels: list[Tensor], wanted: bool = True) -> tuple[list[Tensor], list[Any]]:
        self.mode = "eval"
        if self._static is not None:
            outputs, losses = self._static.run("eval", inputs, labels)
            return losses, self._measure(outputs, labels, wanted)
        self.network.eval()
        with no_grad():
            outputs, losses = self._run(inputs, labels)
            if self._shared is not None and self._left is not None:  # in `evaluate`, each process has a part
                count = outputs[0].shape[0] * processes.place()[1]
                outputs, labels, losses = *(processes.gathered(some, self._left) for some in (outputs, labels)), processes.mean(losses)
                self._left = max(self._left - count, 0)
            return losses, self._measure(outputs, labels, wanted)

    @_at_once
    def predict_batch(self, inputs: Any) -> list[Any]:
        """The outputs of the network for one batch, as arrays.

        Source:
            `paddle.Model.predict_batch`.

        Examples:
            >>> model = wherry.Model(wherry.nn.Linear(2, 3))
            >>> [output.shape for output in model.predict_batch(np.ones([8, 2], "float32"))]
            [(8, 3)]
        """
        self.mode = "test"
        if self._static is not None:
            return [output.numpy() for output in self._static.run("test", _tensors(inputs))[0]]
        self.network.eval()
        with no_grad():
            outputs = self._forward(_tensors(inputs))
        return [output.numpy() for output in outputs]

    def _run(self, inputs: list[Tensor], labels: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Outputs and losses; no losses where none is set."""
        if self._cast is None:
            outputs = self._forward(inputs)
            return outputs, self._losses(outputs, labels)
        with amp.auto_cast(**self._cast):
            outputs = self._forward(inputs)
            return outputs, self._losses(outputs, labels)

    def _forward(self, inputs: list[Tensor]) -> list[Tensor]:
        self._seen = [(x.shape, x.dtype) for x in inputs]
        return _listed((self.network if self._shared is None or self.mode != "train" else self._shared)(*inputs))

    def _losses(self, outputs: list[Tensor], labels: list[Tensor]) -> list[Tensor]:
        if self._loss is None:
            return []
        if not labels and not _accepts(self._loss, len(outputs)):
            fields = "1 field" if len(self._seen) == 1 else f"{len(self._seen)} fields"
            raise InvalidArgumentError(
                f"Model: data gives {fields}, all of which the network takes: there are no labels for {_name_of(self._loss)}. Got "
                f"batches of inputs alone, expected (x, y). Return (x, y) from the data set, or write model.fit(x, y). Where the "
                f"network needs fewer inputs than its forward has arguments, describe them: Model(network, inputs=[...])."
            )
        return _listed(self._loss(*outputs, *labels))

    def _measure(self, outputs: list[Tensor], labels: list[Tensor], wanted: bool) -> list[Any]:
        values = []
        for metric in self._metrics:
            results = _listed(metric.compute(*outputs, *labels))
            if not wanted and isinstance(metric, _Waiting) and metric._put_aside(results):
                continue
            values.append(metric.update(*[r.numpy() if isinstance(r, Tensor) else r for r in results]))
        return values

    # Whole data sets.

    @_at_once
    @_labels_are_second
    def fit(
        self, train_data: Any = None, eval_data: Any = None, batch_size: Any = _ONE, epochs: int = 1, eval_freq: int = 1,
        log_freq: int = 10, save_dir: str | None = None, save_freq: int = 1, verbose: int = 2, drop_last: bool = False,
        shuffle: bool = True, num_workers: int = 0, callbacks: Any = None, accumulate_grad_batches: int = 1,
        num_iters: int | None = None, *, labels: Any = None, check: bool = False,
    ) -> None:
        """Train the network.

        Args:
            train_data: a Dataset, or an iterable of batches such as a DataLoader. A batch is a list: inputs, then
                labels. Or arrays or tensors with samples in their first axis, one or a list: `fit(x, y)`.
            eval_data: the same, to evaluate; None does not. Beside arrays it is what `labels` is, or, with `labels` or
                by name, a pair of inputs and labels: `fit(x, y, eval_data=(x2, y2))`.
            batch_size: samples in a batch; a pair for both data sets. Ignored if the data comes in batches. 1 if it is
                left out, 32 with arrays.
            epochs: passes over the data.
            eval_freq: how many epochs lie between evaluations; the first epoch is evaluated.
            log_freq: how many steps lie between two prints.
            save_dir: a folder for the weights after epochs; None saves nothing.
            save_freq: how many epochs lie between two saves.
            verbose: 0 prints nothing, 1 a progress bar, 2 a line now and then.
            drop_last: whether an incomplete last batch is left out.
            shuffle: whether the samples come in a random order, another one in each epoch, the same ones in each run.
            num_workers: processes that read the data; 0 reads in this one.
            callbacks: a Callback or a list.
            accumulate_grad_batches: how many batches add up their gradients for one update.
            num_iters: how many steps to train in all; replaces `epochs`.
            labels: the labels of arrays, as `fit(x, labels=y, eval_data=(x2, y2))`. Float64 of NumPy becomes what the
                network has.
            check: True looks at the first batch as `wherry.doctor` does, and warns of what will not train.

        Raises:
            ValueError: there is no `train_data`, or a number is out of range (also an AssertionError).
            RuntimeError: `prepare` was not called with an optimizer and a loss (also an AssertionError).

        Source:
            `paddle.Model.fit`. The order of the samples is Paddle's. Arrays and `check` are Wherry's own.

        Examples:
            >>> model = wherry.Model(wherry.nn.Linear(2, 3))
            >>> model.prepare("adam", "cross_entropy", "accuracy")
            >>> x, y = np.random.rand(20, 2), np.random.randint(0, 3, 20)
            >>> model.fit(x, y, epochs=2, verbose=0)
            >>> sorted(model.evaluate(x, y, verbose=0))
            ['acc', 'loss']
        """
        if train_data is None:
            raise AssertedArgumentError(
                "Model.fit: train_data must be given! Got None, expected a Dataset or a DataLoader. Pass the training data."
            )
        _check_counts(
            epochs=epochs, eval_freq=eval_freq, log_freq=log_freq, save_freq=save_freq, accumulate_grad_batches=accumulate_grad_batches,
            num_iters=1 if num_iters is None else num_iters,
        )
        self._require_ready()
        train_data, eval_data, batch_size = self._data_sets(train_data, eval_data, labels, batch_size)
        sizes = batch_size if isinstance(batch_size, (list, tuple)) else (batch_size, batch_size)
        train_loader = _loader(train_data, sizes[0], shuffle, drop_last, num_workers, "Model.fit")
        eval_loader = None if eval_data is None else _loader(eval_data, sizes[1], False, False, num_workers, "Model.fit")
        steps = _length(train_loader)
        if num_iters is not None:
            epochs = num_iters if steps is None else -(-num_iters // steps)
            steps = num_iters if steps is None or num_iters < steps else steps
        watchers = CallbackList(
            callbacks, self, epochs=epochs, steps=steps, log_freq=log_freq, verbose=verbose, save_freq=save_freq,
            save_dir=save_dir, metrics=self._names(), training=True,
        )
        if eval_loader is None and any(isinstance(c, EarlyStopping) for c in watchers.callbacks):
            warnings.warn("EarlyStopping needs validation data.", stacklevel=2)
        self.stop_training = False
        self._check = bool(check)
        self._said_not_finite = False
        watchers.call("on_train_begin", None)
        resumer = next((c for c in watchers.callbacks if isinstance(c, ResumeTraining)), None)
        run = Checkpoint() if resumer is None else resumer.begin(watchers.callbacks)
        left = None if num_iters is None else num_iters - run.epoch * (steps or 0) - run.step
        logs: dict[str, Any] = {}
        for epoch in run.epochs(epochs):
            if left is not None and left <= 0:
                break
            done = run.step
            watchers.call("on_epoch_begin", epoch, None)
            logs = self._train_epoch(train_loader, run, watchers, resumer, steps, accumulate_grad_batches, left)
            watchers.call("on_epoch_end", epoch, logs)
            if left is not None:
                left -= run.step - done
            if eval_loader is not None and epoch % eval_freq == 0:
                logs = self._evaluate_all(eval_loader, watchers, None)
            if resumer is not None:
                resumer.after_epoch()
            if self.stop_training:
                break
        watchers.call("on_train_end", logs)

    def _data_sets(self, train_data: Any, eval_data: Any, labels: Any, batch_size: Any) -> tuple[Any, Any, Any]:
        """Arrays and tables as data sets, and then batches of their usual size; everything else as it is."""
        if labels is not None or is_arrays(eval_data) or isinstance(eval_data, (list, tuple)):
            train_data = array_of_rows(train_data)
        if is_arrays(train_data):  # nested lists beside them are numbers, too
            labels = array_of_rows(labels)
            eval_data = eval_data if labels is not None else array_of_rows(eval_data)
        if is_arrays(train_data) and (labels is not None or is_arrays(eval_data) or is_array(train_data)):
            if labels is None and is_arrays(eval_data):
                labels, eval_data = eval_data, None
            train_data = ArrayDataset(train_data, labels, self._floats(), "Model.fit")
            if isinstance(eval_data, (list, tuple)) and len(eval_data) == 2 and all(map(is_arrays, eval_data)):
                eval_data = ArrayDataset(eval_data[0], eval_data[1], self._floats(), "Model.fit(eval_data=...)")
            if batch_size is _ONE:
                batch_size = _BATCH_OF_ARRAYS
        elif labels is not None:
            raise InvalidTypeError(
                f"Model.fit: labels stand beside arrays, and a data set has its own. Got {short(train_data)} with labels, expected an array, a "
                f"tensor, a table or a list of them. Pass fit(train_data, eval_data), or the arrays themselves."
            )
        return train_data, eval_data, batch_size

    def _train_epoch(
        self, loader: Iterable[Any], run: Checkpoint, watchers: CallbackList, resumer: ResumeTraining | None,
        steps: int | None, accumulate: int, left: int | None,
    ) -> dict[str, Any]:
        logs: dict[str, Any] = {}
        if run.step == 0:
            for metric in self._metrics:
                metric.reset()
        first = run.step
        updated = True
        for batch in run.batches(loader):
            step = run.step - 1
            watchers.call("on_train_batch_begin", step, logs)
            inputs, labels = self._split(batch)
            if self._check and self._static is None:
                self._check = False
                self._warn_of(inputs, labels)
            updated = run.step % accumulate == 0 or run.step == steps
            losses, _ = self._train(inputs, labels, updated, False)
            logs = self._logs(losses, step, inputs)
            watchers.call("on_train_batch_end", step, logs)
            if not self._said_not_finite:
                self._look_at_loss(losses, step, run.epoch)
            if resumer is not None and updated:
                resumer.after_step()
            if left is not None and run.step - first >= left:
                break
        if not updated:
            self._apply_gradients()
        return logs

    def _look_at_loss(self, losses: Any, step: int, epoch: int) -> None:
        """Say once that a loss is no longer a number. On another device than the cpu that means waiting for it: seldom."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if not isinstance(loss, Tensor) or loss.size != 1 or not loss.dtype.is_floating or (_core.device_of(loss) and (step + 1) % _SELDOM):
                continue
            value = float(loss)
            if not math.isfinite(value):
                self._said_not_finite = True
                warn(
                    f"Model.fit: the loss is {value} in epoch {epoch}, step {step}, so what follows learns nothing. Look at the batch with "
                    f"wherry.doctor(model, batch), or train with fit(..., check=True). Usual causes are a learning rate that is too large, the "
                    f"logarithm of 0, and NaN in the data."
                )
                return

    def _floats(self) -> str | None:
        """What float64 of NumPy becomes: the dtype of the network, unless that is float64."""
        dtypes = {p.dtype.name for p in self.network.parameters() if p.dtype.is_floating}
        return None if "float64" in dtypes else "float32"

    @_at_once
    def evaluate(
        self, eval_data: Any, batch_size: Any = _ONE, log_freq: int = 10, verbose: int = 2, num_workers: int = 0,
        callbacks: Any = None, num_iters: int | None = None, *, labels: Any = None,
    ) -> dict[str, Any]:
        """The loss and the metrics on a data set.

        Args:
            eval_data: a Dataset, or an iterable of batches such as a DataLoader. Or arrays, followed by the labels:
                `evaluate(x, y)`.
            batch_size: samples in a batch. Ignored if the data comes in batches. 1 if it is left out, 32 with arrays.
            log_freq: how many steps lie between two prints.
            verbose: 0 prints nothing, 1 a progress bar, 2 a line now and then.
            num_workers: processes that read the data; 0 reads in this one.
            callbacks: a Callback or a list.
            labels: the labels of arrays, as `evaluate(x, labels=y, batch_size=64)`.
            num_iters: how many batches to evaluate; None takes all.

        Returns:
            `{"loss": [...], "<metric>": value, ...}`: the loss is that of the last batch, as in Paddle; metrics are those
            of all.

        Raises:
            TypeError: `eval_data` has no batches.

        Source:
            `paddle.Model.evaluate`.
        """
        if labels is None and is_arrays(array_of_rows(batch_size)):
            labels, batch_size = batch_size, _ONE
        if labels is not None:
            eval_data, labels = array_of_rows(eval_data), array_of_rows(labels)
        if is_array(eval_data) or (labels is not None and is_arrays(eval_data)):
            eval_data = ArrayDataset(eval_data, labels, self._floats(), "Model.evaluate")
            batch_size = _BATCH_OF_ARRAYS if batch_size is _ONE else batch_size
        loader = _loader(eval_data, batch_size, False, False, num_workers, "Model.evaluate")
        watchers = CallbackList(
            callbacks, self, steps=_length(loader), log_freq=log_freq, verbose=verbose, metrics=self._names()
        )
        logs = self._evaluate_all(loader, watchers, num_iters)
        return {name: logs[name] for name in self._names() if name in logs}

    def _evaluate_all(self, loader: Iterable[Any], watchers: CallbackList, count: int | None) -> dict[str, Any]:
        steps = _length(loader)
        if count is not None:
            steps = count if steps is None else min(count, steps)
        for metric in self._metrics:
            metric.reset()
        watchers.call("on_eval_begin", {"steps": steps, "metrics": self._names()})
        logs: dict[str, Any] = {}
        sampler = getattr(loader, "batch_sampler", None)
        self._left = len(sampler.dataset) if isinstance(sampler, DistributedBatchSampler) and sampler.nranks > 1 else None
        for step, batch in _first(loader, count):
            watchers.call("on_eval_batch_begin", step, logs)
            inputs, labels = self._split(batch)
            losses, _ = self._evaluate(inputs, labels, False)
            logs = self._logs(losses, step, inputs)
            watchers.call("on_eval_batch_end", step, logs)
        self._left = None
        watchers.call("on_eval_end", logs)
        return logs

    @_at_once
    def predict(
        self, test_data: Any, batch_size: Any = _ONE, num_workers: int = 0, stack_outputs: bool = False, verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """The network's outputs on a data set.

        Args:
            test_data: a Dataset, or an iterable of batches such as a DataLoader. Labels in it are ignored. Or an array of samples; one with
                an axis more than the network's input (as described to the model, or as seen last) is an array of batches.
            batch_size: samples in a batch. Ignored if the data comes in batches. 1 if it is left out, 32 with an array.
            num_workers: processes that read the data; 0 reads in this one.
            stack_outputs: True joins the batches.
            verbose: 0 prints nothing, 1 a progress bar, 2 a line now and then.
            callbacks: a Callback or a list.

        Returns:
            A list with an entry for each output: a tuple of the arrays of all batches, or one array if stacked.

        Raises:
            TypeError: `test_data` has no batches.

        Source:
            `paddle.Model.predict`.
        """
        if is_array(test_data) and self._has_batches(test_data):
            test_data = list(test_data)
        elif is_array(test_data):
            test_data = ArrayDataset(test_data, None, self._floats(), "Model.predict")
            batch_size = _BATCH_OF_ARRAYS if batch_size is _ONE else batch_size
        loader = _loader(test_data, batch_size, False, False, num_workers, "Model.predict")
        steps = _length(loader)
        watchers = CallbackList(callbacks, self, steps=steps, verbose=verbose)
        watchers.call("on_predict_begin", {"steps": steps})
        batches: list[list[Any]] = []
        logs: dict[str, Any] = {}
        for step, batch in _first(loader, None):
            watchers.call("on_predict_batch_begin", step, logs)
            inputs, _ = self._split(batch)
            batches.append(self.predict_batch(inputs))
            logs = {"step": step, "batch_size": inputs[0].shape[0] if inputs and inputs[0].shape else 1}
            watchers.call("on_predict_batch_end", step, logs)
        watchers.call("on_predict_end", logs)
        outputs = list(zip(*batches))
        return [np.concatenate(output) for output in outputs] if stack_outputs else outputs

    def _has_batches(self, x: Any) -> bool:
        """Whether an array has one axis more than the input of the network, so that its items are batches."""
        known = [spec.shape for spec in self._inputs or ()] or [shape for shape, _ in self._seen]
        return len(known) == 1 and len(x.shape) == len(known[0]) + 1

    def _names(self) -> list[str]:
        """Names of the values in logs."""
        names = ["loss"] if self._loss is not None else []
        for metric in self._metrics:
            names += _listed(metric.name())
        return names

    def _logs(self, losses: list[Tensor], step: int, inputs: list[Tensor]) -> dict[str, Any]:
        logs = Logs()
        if losses:
            if all(map(at_hand, losses)):
                logs["loss"] = [float(loss) for loss in losses]
            else:
                logs["loss"] = Later(lambda: [float(loss) for loss in losses])
        for metric in self._metrics:
            names = _listed(metric.name())
            if isinstance(metric, _Waiting) and metric._waiting:
                value = metric._at_this_step()
                logs.update((name, Later(partial(_nth, value, i))) for i, name in enumerate(names))
            else:
                logs.update(zip(names, _listed(metric.accumulate())))
        logs["step"] = step
        logs["batch_size"] = inputs[0].shape[0] if inputs and inputs[0].shape else 1
        return logs

    def _split(self, batch: Any) -> tuple[list[Tensor], list[Tensor]]:
        """The inputs and labels of a batch: as the InputSpecs say, or as many inputs as `forward` takes."""
        plain = type(batch) in (list, tuple) and all([type(x) is Tensor for x in batch])  # noqa: C419  a generator takes longer than the rest
        parts = list(batch) if plain else _tensors(_flat(batch))
        if self._inputs:
            count = len(self._inputs)
        elif self._labels:
            count = len(parts) - len(self._labels)
        else:
            forward = getattr(self.network.forward, "__func__", self.network.forward)
            if self._taken is None or self._taken[0] is not forward:
                self._taken = forward, _arguments(self.network.forward)
            taken = self._taken[1]
            count = max(len(parts) - 1, 1) if taken is None else taken
        return parts[:count], parts[count:]

    # Files and tables.

    @_at_once
    def save(self, path: str, training: bool = True) -> None:
        """Write the weights to `<path>.pdparams` and the optimizer's state to `<path>.pdopt`; or a program for inference.

        Args:
            path: where, without an ending. The folder is made when needed. Both files are replaced together.
            training: False writes what the network computes, as `jit.save` does: `<path>.pdmodel` and `<path>.pdiparams`, for inputs as
                described when the Model was made, or else as they last came, in batches of any size.

        Raises:
            ValueError: `path` has no file name (also an AssertionError).
            RuntimeError: `training` is False, and what the network takes is not known.
            ModuleNotFoundError: `training` is False, and wherry-graph, which captures programs, is not installed.

        Source:
            `paddle.Model.save`. An optimizer without state, as SGD with a fixed rate, has no file.
        """
        if not os.path.basename(path):
            raise AssertedArgumentError(
                f"Model.save: the file has no name. Got path={path!r}, expected a folder with a file name without ending. "
                f"Write 'checkpoints/last'."
            )
        if not training:
            self._save_program(path)
            return
        weights = self.network.state_dict() if self._static is None else self._static.state()
        state = {} if self._optimizer is None else (self._optimizer.state_dict if self._static is None else self._static.optimizer_state)()
        files = [(path + ".pdparams", writer_of(weights))]
        if state:
            files.append((path + ".pdopt", writer_of(state)))
        replace_files(files)

    def _save_program(self, path: str) -> None:
        if self._static is not None:
            self._static.save(path)
            return
        try:
            # By name: wherry_graph imports this package.
            jit, described = import_module("wherry_graph.jit"), import_module("wherry_program.program.input_spec").InputSpec
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "Model.save: wherry-graph, which captures programs, is not installed. Got training=False and no wherry_graph, expected it. "
                "pip install wherry-graph", name=error.name
            ) from error
        specs = [described(list(spec.shape), spec.dtype, getattr(spec, "name", None)) for spec in self._inputs]
        specs = specs or [described([None, *shape[1:]] if shape else [], dtype) for shape, dtype in self._seen]
        if not specs:
            raise PreconditionNotMetError(
                "Model.save: what the network takes is not known. Got a Model without inputs that has not seen data, expected their "
                "description. Model(network, inputs=[paddle.static.InputSpec([None, 3], 'float32')]), or call predict once."
            )
        training = self.network.training
        self.network.eval()
        try:
            jit.save(self.network, path, input_spec=specs)
        finally:
            if training:
                self.network.train()

    @_at_once
    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Read what `save` wrote.

        Args:
            path: as given to `save`; the ending `.pdparams` is allowed.
            skip_mismatch: True warns of weights that are missing or have another shape, and leaves them as they are.
            reset_optimizer: True leaves the optimizer as it is.

        Raises:
            ValueError: there is no such file (also an AssertionError), or weights are missing or have another shape.

        Source:
            `paddle.Model.load`.
        """
        base = path.removesuffix(".pdparams").removesuffix(".pdopt")
        finish_replacing(base + ".pdparams")
        if not os.path.exists(base + ".pdparams"):
            raise AssertedArgumentError(
                f"Model.load: Failed to load parameters, please check path. Got {path!r}, expected a file "
                f"{base + '.pdparams'!r}. Pass what was given to save."
            )
        given = load(base + ".pdparams")
        fitting = {}
        for key, parameter in self.network.state_dict().items():
            wrong = None
            if key not in given:
                wrong = f"{key} is not found in the providing file."
            elif list(given[key].shape) != list(parameter.shape):
                wrong = (
                    f"{key} receives a shape {list(given[key].shape)}, but the expected shape is {list(parameter.shape)}."
                )
            if wrong is None:
                fitting[key] = given[key]
            elif skip_mismatch:
                warnings.warn(f"Skip loading for {key}. {wrong}", stacklevel=2)
            else:
                raise InvalidArgumentError(
                    f"Model.load: {wrong} Got it from {base + '.pdparams'}. "
                    f"Build the network as it was, or pass skip_mismatch=True."
                )
        if self._static is not None:
            self._static.set_state(fitting)
        else:
            self.network.set_state_dict({**self.network.state_dict(), **fitting} if skip_mismatch else fitting)
        if self._optimizer is not None and not reset_optimizer and os.path.exists(base + ".pdopt"):
            (self._optimizer.set_state_dict if self._static is None else self._static.set_optimizer_state)(load(base + ".pdopt"))

    @_at_once
    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Print a table of the network: see `paddle.summary`.

        Args:
            input_size: shapes of the inputs; None takes those of the descriptions given to `Model`, or else those of the
                last batch.
            dtype: dtypes of the inputs.

        Raises:
            ValueError: no shape is known.

        Source:
            `paddle.Model.summary`.
        """
        if input_size is None:
            if self._inputs:
                input_size = list(self._inputs)
            elif self._seen:
                input_size = [tuple(shape) for shape, _ in self._seen]
                dtype = [d for _, d in self._seen] if dtype is None else dtype
            else:
                raise InvalidArgumentError(
                    "Model.summary: 'input_size' must be specified. Got no size, no descriptions of inputs and no batch yet, "
                    "expected one of them. Write model.summary((1, 3, 224, 224))."
                )
        with nullcontext() if self._static is None else self._static.with_values():
            return summary(self.network, input_size, dtype)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _specs(value: Any, name: str) -> list[Any]:
    found = list(value.values()) if isinstance(value, dict) else _listed(value)
    for spec in found:
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise InvalidTypeError(
                f"Model: {name} are not InputSpecs. Got {short(spec)} ({type(spec).__name__}), expected objects as "
                f"paddle.static.InputSpec. Leave it out where forward's arguments are the inputs."
            )
    return found


def _amp_options(given: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The level, the arguments of GradScaler and those of auto_cast."""
    if given is None:
        return "O0", {}, {}
    if isinstance(given, str):
        given = {"level": given}
    if not isinstance(given, dict):
        raise InvalidTypeError(
            f"Model.prepare: amp_configs is neither a level nor a dict. Got {short(given)} ({type(given).__name__}), expected 'O1' or "
            f"{{'level': 'O1', ...}}. Leave it out for full precision."
        )
    level = given.get("level", "O1")
    if level not in ("O0", "O1", "O2"):
        raise InvalidArgumentError(
            f"Model.prepare: The level of amp_configs should be 'O0', 'O1' or 'O2'. Got {short(level)}. "
            f"O1 casts the inputs of some operations, O2 the parameters as well."
        )
    for option in ("use_pure_fp16", "use_fp16_guard"):
        if option in given:
            raise InvalidArgumentError(
                f"Model.prepare: {option!r} is for static graphs. Got it in amp_configs, expected the level 'O1' or 'O2' to "
                f"say it all. Remove it."
            )
    unknown = [name for name in given if name != "level" and name not in _SCALER_OPTIONS + _CAST_OPTIONS]
    if unknown:
        raise InvalidArgumentError(
            f"Model.prepare: Except for 'level', the keys of 'amp_configs' must be accepted by mixed precision APIs, but "
            f"{', '.join(map(repr, unknown))} could not be recognized. Expected any of "
            f"{', '.join(_SCALER_OPTIONS + _CAST_OPTIONS)}. Remove or correct it."
        )
    return (
        level,
        {name: given[name] for name in _SCALER_OPTIONS if name in given},
        {name: given[name] for name in _CAST_OPTIONS if name in given},
    )


def _nth(values: Callable[[], Any], index: int) -> Any:
    return _listed(values())[index]


def _arrays(losses: list[Tensor]) -> list[Any]:
    return [loss.numpy() for loss in losses]


def _tensors(values: Any) -> list[Tensor]:
    return [value if isinstance(value, Tensor) else to_tensor(value) for value in _listed(values)]


def _flat(batch: Any) -> list[Any]:
    """A batch may be a tensor, a list of them, or lists of inputs and of labels."""
    if not isinstance(batch, (list, tuple)):
        return [batch]
    return [part for item in batch for part in _flat(item)]


def _arguments(forward: Callable[..., Any]) -> int | None:
    """How many of the parts of a batch `forward` takes; None for one with *args, which leaves the last part to the loss."""
    kinds = [p.kind for p in inspect.signature(forward).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def _accepts(loss: Any, count: int) -> bool:
    """Whether a loss can be called with this many arguments; True if its signature is unknown."""
    try:
        inspect.signature(loss.forward if isinstance(loss, Layer) else loss).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a function without a signature
        return True
    return True


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _loader(
    data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int, op_name: str
) -> Iterable[Any]:
    """What gives the batches of `data`."""
    if isinstance(data, IterableDataset):
        return DataLoader(data, batch_size=batch_size, drop_last=drop_last, num_workers=num_workers)
    if isinstance(data, Dataset):
        sampler = DistributedBatchSampler(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)
        return DataLoader(data, batch_sampler=sampler, num_workers=num_workers)
    if not isinstance(data, Iterable):
        raise InvalidTypeError(
            f"{op_name}: data is neither a Dataset nor iterable. Got {type(data).__name__}, expected a paddle.io.Dataset, a DataLoader "
            f"or another iterable of batches. Wrap arrays with paddle.io.TensorDataset."
        )
    return data


def _length(loader: Any) -> int | None:
    """The number of batches; None if it is unknown."""
    try:
        return len(loader)
    except (TypeError, RuntimeError, NotImplementedError):  # the last two: loaders of an IterableDataset
        return None


def _first(loader: Iterable[Any], count: int | None) -> Iterator[tuple[int, Any]]:
    """The first `count` batches with their numbers; no further batch is read."""
    if count == 0:
        return
    for step, batch in enumerate(loader):
        yield step, batch
        if count is not None and step + 1 >= count:
            return
