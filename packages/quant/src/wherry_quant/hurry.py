"""`wherry.quantize`: one call that tries ways of quantizing a model, measures them, and takes one."""
from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_quant.arguments import require_layer
from wherry_quant.calibrating import batches_of, config_of, converted
from wherry_quant.folding import fold_batch_norms
from wherry_quant.observers import (
    AbsMaxChannelWiseWeightObserver,
    AbsmaxObserver,
    HistObserver,
    KLObserver,
    MSEChannelWiseWeightObserver,
    MSEObserver,
)
from wherry_quant.programs import bytes_of, for_inference, program_of, time_of
from wherry_quant.weight_only import quantize_weights
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import among
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_train.atomic_files import replace_file

__all__ = ["Choice", "Trial", "quantize"]

_TARGETS = ("size", "speed", "accuracy")


@dataclass(frozen=True)
class Trial:
    """A way of quantizing, and what was measured of it.

    Attributes:
        name: what was done.
        score: on held-out data; higher is better.
        drop: by which the score is below that of the float model.
        bytes: of parameters and buffers.
        milliseconds: of one batch.
        model: the model.
    """

    name: str
    score: float
    drop: float
    bytes: int
    milliseconds: float
    model: Layer


class Choice:
    """What `quantize` tried and took. As text: a table, and the reason.

    Attributes:
        trials: all of them, the float model first.
        taken: the one that was chosen.
        why: the reason.
    """

    def __init__(self, trials: list[Trial], taken: Trial, why: str, scored_by: str) -> None:
        if not isinstance(trials, list) or not trials or not all(isinstance(trial, Trial) for trial in [*trials, taken]):
            raise InvalidTypeError(f"Choice: it is made of trials. Got {short(trials)} and {short(taken)}, expected what quantize() has tried..")
        self.trials, self.taken, self.why, self.scored_by = trials, taken, why, scored_by

    def __str__(self) -> str:
        width = max(len(trial.name) for trial in self.trials)
        lines = [f"{'':<{width + 2}}{self.scored_by:>12} {'drop':>8} {'kB':>10} {'ms':>8}"]
        for trial in self.trials:
            mark = "* " if trial is self.taken else "  "
            lines.append(f"{mark}{trial.name:<{width}}{trial.score:>12.4f} {trial.drop:>8.4f} {trial.bytes / 1000:>10.1f} {trial.milliseconds:>8.3f}")
        return "\n".join([*lines, self.why])

    __repr__ = __str__

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Write a picture of scores against sizes, with circles as large as times, as SVG."""
        text = _picture(self).encode()
        replace_file(os.path.realpath(os.fspath(path)), lambda file: file.write(text))


def quantize(
    net: Layer, data: Any, target: str = "speed", max_drop: float = 0.005,
    metric: Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], float] | None = None,
) -> Layer:
    """Quantize a trained model: try several ways, measure each on data that was not used to find scales, and take one.

    Args:
        net: it; it stays as it is.
        data: a DataLoader, a Dataset, or batches: `(inputs, labels)`, or inputs alone. One half finds scales, the other half is held out.
        target: "size" takes the smallest, "speed" the fastest, "accuracy" the best one among those whose score drops by no more than `max_drop`.
        max_drop: of the score.
        metric: `metric(outputs, labels)` gives a score, higher is better. By default the share of right classes; without labels the share of
            samples for which the largest output is that of the float model.

    Returns:
        A model for inference. Its attribute `quantization` is a Choice: what was tried, what was taken and why, and `picture(path)`. Where
        nothing holds the score, it is a copy of the float model.

    Raises:
        TypeError: `net` is not a layer.
        ValueError: `target` is not known, or there are fewer than two batches.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 32), wherry.nn.ReLU(), wherry.nn.Linear(32, 4))
        >>> small = wherry.quantize(net, [wherry.randn([32, 16]) for _ in range(4)], target="size", max_drop=0.05)
        >>> small.quantization.taken.bytes < small.quantization.trials[0].bytes
        True
    """
    require_layer(net, "quantize", "Of a paddle.Model take model.network.")
    if not among(target, _TARGETS):
        raise InvalidArgumentError(f"quantize: the target is not known. Got target={short(target)}, expected one of {', '.join(_TARGETS)}.")
    batches = _batches(data)
    seen, held = batches[::2], batches[1::2]
    was_training = net.training
    net.eval()
    try:
        trials, scored_by = _trials(net, seen, held, metric)
    finally:
        if was_training:
            net.train()
    taken, why = _choose(trials, target, max_drop)
    model = taken.model
    object.__setattr__(model, "quantization", Choice(trials, taken, why, scored_by))
    return model


def _trials(net: Layer, seen: list[Any], held: list[Any], metric: Any) -> tuple[list[Trial], str]:
    inputs, labels = zip(*held, strict=True)
    plain = fold_batch_norms(net, *seen[0][0])
    score, scored_by = _scorer(plain, inputs, labels, metric)
    trials: list[Trial] = []
    for name, make in _ways(plain, [x for x, _ in seen]):
        model = make()
        model.eval()
        value = score(model)
        program = for_inference(program_of(model, inputs[0], "quantize"))
        drop = 0.0 if not trials else trials[0].score - value
        trials.append(Trial(name, value, drop, bytes_of(model), time_of(program, inputs[0]) * 1e3, model))
    return trials, scored_by


def _ways(net: Layer, calibration: list[tuple[Any, ...]]) -> Iterable[tuple[str, Callable[[], Layer]]]:
    yield "float", lambda: fold_batch_norms(net, pairs=[])
    kinds = {type(layer) for layer in net.sublayers(include_self=True)}
    if kinds & {Linear, Conv2D}:
        for name, activation, weight in (
            ("int8, largest values", AbsmaxObserver(), AbsMaxChannelWiseWeightObserver()),
            ("int8, 99.99 % of values", HistObserver(percent=0.9999), AbsMaxChannelWiseWeightObserver()),
            ("int8, least squared error", MSEObserver(), MSEChannelWiseWeightObserver()),
            ("int8, relative entropy", KLObserver(), AbsMaxChannelWiseWeightObserver()),
        ):
            yield name, lambda activation=activation, weight=weight: converted(net, calibration, config_of(activation, weight))  # type: ignore[misc]
    if Linear in kinds:
        yield "weights of 8 bits", lambda: quantize_weights(net, 8)
        yield "weights of 4 bits, groups of 32", lambda: quantize_weights(net, 4, 32)


def _batches(data: Any) -> list[tuple[tuple[Tensor, ...], Any]]:
    found = batches_of(data, "quantize")
    if len(found) < 2:
        raise InvalidArgumentError(
            f"quantize: scales are found on one half of the batches and scores on the other. Got {len(found)} batches, expected two or more. "
            f"Make the batches smaller."
        )
    return found


def _scorer(plain: Layer, inputs: Any, labels: Any, metric: Any) -> tuple[Callable[[Layer], float], str]:
    def outputs(model: Layer) -> list[np.ndarray[Any, Any]]:
        with no_grad():
            found = [model(*x) for x in inputs]
        return [(y[0] if isinstance(y, (list, tuple)) else y).astype("float32").numpy() for y in found]

    if any(label is None for label in labels):
        if metric is not None:
            raise InvalidArgumentError("quantize: a metric compares outputs with labels. Got batches of inputs alone, expected (inputs, labels).")
        expected = [y.argmax(-1) for y in outputs(plain)]
        return lambda model: float(np.mean(np.concatenate([(y.argmax(-1) == e).ravel() for y, e in zip(outputs(model), expected)]))), "same class"
    truth = np.concatenate([label.numpy() for label in labels])
    if metric is not None:
        return lambda model: float(metric(np.concatenate(outputs(model)), truth)), getattr(metric, "__name__", "score")
    return lambda model: float(np.mean(np.concatenate(outputs(model)).argmax(-1).ravel() == truth.ravel())), "accuracy"


def _choose(trials: list[Trial], target: str, max_drop: float) -> tuple[Trial, str]:
    good = [trial for trial in trials[1:] if trial.drop <= max_drop]
    if not good:
        least = min(trials[1:], key=lambda trial: trial.drop, default=None)
        said = "there was nothing to quantize" if least is None else f"the least drop was {least.drop:.4f} ({least.name})"
        return trials[0], f"The float model: no way held the score within {max_drop}; {said}."
    if target == "size":
        taken = min(good, key=lambda trial: (trial.bytes, trial.drop))
        return taken, f"The smallest of {len(good)} within {max_drop}: {taken.name}, {trials[0].bytes / taken.bytes:.1f} times smaller."
    if target == "accuracy":
        taken = min(good, key=lambda trial: (trial.drop, trial.bytes))
        return taken, f"The best of {len(good)} within {max_drop}: {taken.name}."
    taken = min([trials[0], *good], key=lambda trial: trial.milliseconds)
    if taken is trials[0]:
        return taken, "The float model: nothing that holds the score is faster on this machine."
    return taken, f"The fastest of {len(good)} within {max_drop}: {taken.name}, {trials[0].milliseconds / taken.milliseconds:.1f} times as fast."


def _picture(choice: Choice) -> str:
    sizes = [trial.bytes / 1000 for trial in choice.trials]
    scores = [trial.score for trial in choice.trials]
    slowest = max(trial.milliseconds for trial in choice.trials)
    low, high = min(scores), max(scores)
    room = (high - low) * 0.15 or 0.01

    def x(size: float) -> float:
        return 80 + 520 * size / (max(sizes) * 1.1)

    def y(score: float) -> float:
        return 340 - 300 * (score - low + room) / (high - low + 2 * room)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{html.escape(choice.scored_by)} against size; circles are as large as times</title>",
        '<path d="M80 40V340H600" fill="none" stroke="#666"/>', '<text x="300" y="380">kB</text>',
        f'<text x="20" y="30">{html.escape(choice.scored_by)}</text>',
    ]
    for share in (0, 0.5, 1):
        size, score = share * max(sizes), low + share * (high - low)
        parts.append(f'<text x="{x(size):.0f}" y="358" text-anchor="middle">{size:.0f}</text>')
        parts.append(f'<text x="74" y="{y(score) + 4:.0f}" text-anchor="end">{score:.4f}</text>')
    for trial in choice.trials:
        at, up, radius = x(trial.bytes / 1000), y(trial.score), 4 + 10 * trial.milliseconds / slowest
        colour = "#0a7" if trial is choice.taken else "#58a"
        parts.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="{radius:.1f}" fill="{colour}" fill-opacity="0.6"/>')
        parts.append(f'<text x="{at + radius + 4:.1f}" y="{up + 4:.1f}">{html.escape(trial.name)}, {trial.milliseconds:.2f} ms</text>')
    return "\n".join([*parts, "</svg>\n"])
