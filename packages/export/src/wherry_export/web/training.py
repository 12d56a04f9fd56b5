"""Training in the page: what training.js calls in Pyodide. Only bytes and numbers are passed in and out.

    training = Training("/model")                # where the page put the files of the bundle
    training.begin(inputs, targets, options)     # [(bytes, dtype, shape), ...], (bytes, dtype, shape)
    while not training.run(50)["done"]: ...      # some milliseconds of steps
    training.weights()                           # as the engine of the page takes them

There is no NumPy. Predictions are the engine's: after training it gets the weights as the export stored them, after the same passes.
"""
from __future__ import annotations

import hashlib
import io
import json
import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import wherry_tensor as api
from wherry_export.web.engine_files import Kernel
from wherry_export.web.program import Description, for_pages
from wherry_export.web.weights import stored
from wherry_graph.jit import load, save
from wherry_nn import functional as F
from wherry_paddle_files.models import read_info
from wherry_tensor._core import DType, Op, Tensor
from wherry_tensor.errors import short
from wherry_train import optimizer as optimizers
from wherry_train.serialization import save as save_parameters

__all__ = ["LOSSES", "OPTIMIZERS", "Known", "Training", "digest_of"]

FORMATS = {"bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
OPTIMIZERS: dict[str, Callable[..., Any]] = {
    name: getattr(optimizers, name) for name in ("Adam", "AdamW", "Momentum", "SGD", "RMSProp", "Adagrad")
}
LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross_entropy": lambda scores, labels: F.cross_entropy(scores, labels, soft_label=labels.dtype.is_floating),
    "binary_cross_entropy": lambda scores, labels: F.binary_cross_entropy_with_logits(scores, labels),
    "mse": F.mse_loss, "l1": F.l1_loss, "smooth_l1": F.smooth_l1_loss,
}
OPTIONS = {"epochs": 1, "batchSize": 32, "learningRate": 1e-3, "optimizer": "Adam", "loss": "cross_entropy", "shuffle": True, "seed": 0}
Given = tuple[bytes, str, Sequence[int]]


class Known:
    """Stands for the engine in the page, which only has the module of the bundle: the kernels that the export found."""

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        self._rows = {(op, dtype): Kernel(*row) for op, dtype, *row in rows}

    def kernel(self, op: Op, dtype: DType) -> Kernel | None:
        """As `Built.kernel`."""
        return self._rows.get((op.name, dtype.code))


def digest_of(description: Description) -> str:
    """A digest of the steps of a program, independent of its weights."""
    return hashlib.sha256(json.dumps(description.content, separators=(",", ":")).encode()).hexdigest()


class Training:
    """A bundle's model in training.

    Args:
        folder: with model.pdmodel, model.pdiparams and facts.json of the bundle.
    """

    def __init__(self, folder: str) -> None:
        self.prefix = f"{folder}/model"
        self.net = load(self.prefix)
        self.facts: dict[str, Any] = json.loads(Path(f"{folder}/facts.json").read_text(encoding="utf-8"))
        self.history: list[dict[str, float]] = []

    def begin(self, inputs: Sequence[Given], targets: Given, options: Mapping[str, Any]) -> dict[str, Any]:
        """Look at the examples and options, and make ready for the first step.

        Args:
            inputs: one for each input of the model, their first axis is the examples.
            targets: what the first output should be: numbers of classes, or numbers as the output has them.
            options: epochs, batchSize, learningRate, optimizer, loss, shuffle, seed; those that are left out have defaults.

        Returns:
            How many examples and steps there are.

        Raises:
            ValueError: they do not fit the model or each other.
        """
        chosen = _checked(options)
        self.inputs, self.targets = [_tensor(*one) for one in inputs], _tensor(*targets)
        self.examples = self.inputs[0].shape[0]
        feeds = self.net.program().feeds
        for name, tensor in [*zip((x.name for x in feeds), self.inputs), ("targets", self.targets)]:
            if tensor.ndim == 0 or tensor.shape[0] != self.examples or not self.examples:
                raise ValueError(
                    f"train: as many targets as examples, at least one. Got shape {list(tensor.shape)} for '{name}' beside {self.examples} "
                    f"examples of '{feeds[0].name}', expected {max(self.examples, 1)} in the first axis."
                )
        self.loss, self.has_classes = LOSSES[chosen["loss"]], chosen["loss"] == "cross_entropy" and not self.targets.dtype.is_floating
        if chosen["loss"] != "cross_entropy" and not self.targets.dtype.is_floating:
            self.targets = self.targets.astype("float32")
        elif self.has_classes:
            self.targets = self.targets.astype("int64")
        self._try_targets()
        parameters = [x for x in self.net.parameters() if not x.stop_gradient]
        self.optimizer = OPTIMIZERS[chosen["optimizer"]](chosen["learningRate"], parameters=parameters)
        self.batch, self.epochs, self.shuffled = min(chosen["batchSize"], self.examples), chosen["epochs"], chosen["shuffle"]
        self.before = [(x, x.detach().clone()) for x in self.net.state_dict().values()]
        api.seed(chosen["seed"])
        self.step, self.epoch, self.at, self.sums = 0, 0, self.examples, [0.0, 0.0]
        self.history = []
        self.net.train()
        return {"examples": self.examples, "steps": self.epochs * math.ceil(self.examples / self.batch)}

    def _try_targets(self) -> None:
        """The loss of one example, so that what does not fit is said before training begins."""
        self.net.eval()
        scores = self._scores([x[:1] for x in self.inputs])
        shape, got = list(scores.shape), [1, *self.targets.shape[1:]]
        if self.has_classes:
            fits = got in (shape[:-1], [*shape[:-1], 1])
            expected = f"[{', '.join(['examples', *map(str, shape[1:-1])])}] whole numbers from 0 to {shape[-1] - 1}, or probabilities"
        else:
            fits, expected = got == shape, f"[{', '.join(['examples', *map(str, shape[1:])])}], as the output has them"
        if not fits:
            raise ValueError(f"train: the targets do not fit the model's first output. Got shape {list(self.targets.shape)}, expected {expected}.")
        if self.has_classes:
            low, high = int(api.min(self.targets)), int(api.max(self.targets))
            if low < 0 or high >= shape[-1]:
                raise ValueError(f"train: the targets are numbers of classes. Got {low} to {high}, expected 0 to {shape[-1] - 1}.")

    def _scores(self, inputs: Sequence[Tensor]) -> Tensor:
        answer = self.net(*inputs)
        return answer[0] if isinstance(answer, (list, tuple)) else answer

    def run(self, milliseconds: float) -> dict[str, Any]:
        """Train for about so long, at least one step.

        Returns:
            "steps": of each its number, epoch, loss, and accuracy where targets are classes; "epochs": the means of those that ended; "done".

        Raises:
            ValueError: the loss is not finite; the model is as it was before `begin`.
        """
        started = time.perf_counter()
        steps: list[dict[str, float]] = []
        ended = len(self.history)
        while not self.done and (not steps or (time.perf_counter() - started) * 1e3 < milliseconds):
            steps.append(self._one_step())
        return {"steps": steps, "epochs": self.history[ended:], "done": self.done}

    @property
    def done(self) -> bool:
        """Whether all epochs are done."""
        return len(self.history) == self.epochs

    def _one_step(self) -> dict[str, float]:
        if self.at >= self.examples:
            order = api.randperm(self.examples) if self.shuffled else api.arange(self.examples)
            self.order, self.at, self.epoch, self.sums = order, 0, self.epoch + 1, [0.0, 0.0]
        chosen = self.order[self.at : self.at + self.batch]
        count = chosen.shape[0]
        targets = api.gather(self.targets, chosen)
        scores = self._scores([api.gather(x, chosen) for x in self.inputs])
        loss = self.loss(scores, targets)
        if not math.isfinite(float(loss)):
            self.undo()
            raise ValueError(
                f"train: the loss is {float(loss)} in step {self.step + 1}. Expected a finite number. Lower learningRate (it is "
                f"{self.optimizer.get_lr():g}) and look at the inputs; the model is as it was before."
            )
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.step += 1
        self.at += count
        found: dict[str, float] = {"step": self.step, "epoch": self.epoch, "loss": float(loss)}
        if self.has_classes:
            right = api.equal(api.argmax(scores, axis=-1), api.reshape(targets, scores.shape[:-1]))
            found["accuracy"] = float(api.mean(api.cast(right, "float32")))
        self.sums = [self.sums[0] + found["loss"] * count, self.sums[1] + found.get("accuracy", 0.0) * count]
        if self.at >= self.examples:
            mean = {"epoch": self.epoch, "loss": self.sums[0] / self.examples}
            self.history.append({**mean, "accuracy": self.sums[1] / self.examples} if self.has_classes else mean)
        return found

    def undo(self) -> None:
        """Restore the values that the model had before `begin`."""
        for x, value in self.before:
            x.set_value(value)

    def weights(self) -> dict[str, Any]:
        """The current weights for the page's engine: "weights", a text of JSON, and "shards", bytes."""
        self.net.eval()
        description = Description(for_pages(self.net.program()), Known(self.facts["kernels"]))  # type: ignore[arg-type]
        assert digest_of(description) == self.facts["digest"], "training changed the steps of the program"
        weights, shards = stored(description.weights, self.facts["precision"])
        return {"weights": json.dumps([one.facts for one in weights]), "shards": shards}

    def saved(self, form: str) -> dict[str, bytes]:
        """Files by name.

        Args:
            form: "pdparams", the parameters under the names that the layers gave them, or "pdmodel", the program with them.

        Raises:
            ValueError: there is no such form.
        """
        if form == "pdparams":
            info = read_info(Path(f"{self.prefix}.pdiparams.info").read_bytes()) if Path(f"{self.prefix}.pdiparams.info").exists() else {}
            lasting = [x for x in self.net.program().bound_variables() if x.persistable or x.is_parameter]
            buffer = io.BytesIO()
            save_parameters({info.get(x.name, {}).get("structured_name", x.name): x.bound for x in lasting}, buffer)
            return {"model.pdparams": buffer.getvalue()}
        if form == "pdmodel":
            with tempfile.TemporaryDirectory() as folder:
                save(self.net, f"{folder}/model")
                return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        raise ValueError(f"save: there is no such form. Got {short(form)}, expected 'pdparams' or 'pdmodel'.")


def _tensor(content: Any, dtype: str, shape: Sequence[int]) -> Tensor:
    """A tensor of the bytes of a typed array."""
    if dtype not in FORMATS:
        raise ValueError(f"train: inputs of this kind are not trained on. Got {dtype}, expected one of {', '.join(FORMATS)}.")
    view = memoryview(content.to_bytes() if hasattr(content, "to_bytes") else bytes(content)).cast(FORMATS[dtype])  # type: ignore[call-overload]
    return api.reshape(api.to_tensor(view, dtype=dtype), list(shape))


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"train: there is no option {', '.join(unknown)}. Expected {', '.join(OPTIONS)}, signal and onprogress.")
    found = {**OPTIONS, **{name: value for name, value in options.items() if value is not None}}
    for name, known in ("optimizer", OPTIMIZERS), ("loss", LOSSES):
        if found[name] not in known:
            raise ValueError(f"train: there is no such {name}. Got {short(found[name])}, expected one of {', '.join(known)}.")
    for name in "epochs", "batchSize", "seed":
        value, least = found[name], 0 if name == "seed" else 1
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value != int(value) or value < least:
            raise ValueError(f"train: {name} is a whole number. Got {short(value)}, expected at least {least}.")
        found[name] = int(value)
    rate = found["learningRate"]
    if not isinstance(rate, (int, float)) or isinstance(rate, bool) or not 0 < rate < math.inf:
        raise ValueError(f"train: learningRate is a positive number. Got {short(rate)}, expected 0.001, say.")
    if not isinstance(found["shuffle"], bool):
        raise ValueError(f"train: shuffle is true or false. Got {short(found['shuffle'])}.")
    return found
