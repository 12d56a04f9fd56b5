"""Examines the first step of a training and says what will keep it from learning.

A training that learns nothing raises no error. The usual reasons can be seen in one
batch: parameters that the optimizer does not have, or that no gradient reaches; numbers that are not finite;
labels that are not classes; probabilities where a loss expects scores.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wherry_autograd import enable_grad, no_grad
from wherry_nn import Layer
from wherry_nn import layers as nn
from wherry_tensor import ops, to_tensor
from wherry_tensor._core import Tensor
from wherry_train.state import random_state, set_random_state

__all__ = ["Diagnosis", "Finding", "examined"]

_LARGE_RATE = {"SGD": 10.0, "Momentum": 10.0}  # above these a learning rate is hardly meant; others take steps of its size
_LARGE_STEP = 0.3
_FAR = 100.0  # inputs whose mean or spread is beyond are not normalised
_NOT_FINITE = "Look for divisions by 0, log(0), sqrt(0) and large numbers there."
_STATISTICS = ("_mean", "_variance", "weight_u", "weight_v")  # parameters that no optimizer changes
_SATURATED = (nn.Sigmoid, nn.Softmax, nn.LogSoftmax)


@dataclass(frozen=True)
class Finding:
    """One thing that keeps a network from learning, or may."""

    severe: bool  # it will; otherwise it may
    what: str  # what was seen
    remedy: str  # what to do

    def __str__(self) -> str:
        return f"{'error' if self.severe else 'note'}: {self.what} {self.remedy}"


class Diagnosis:
    """What `doctor` has found: a list of findings, the severe ones first. False where there are none."""

    def __init__(self, findings: list[Finding], loss: float | None, parameters: int) -> None:
        self.findings = sorted(findings, key=lambda finding: not finding.severe)
        self.loss = loss
        self.parameters = parameters

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        loss = "no loss" if self.loss is None else f"loss {self.loss:.4g}"
        head = f"wherry.doctor: {loss}, {self.parameters:,} trainable values, {len(self.findings) or 'no'} finding"
        return "\n".join([head + "s" * (len(self.findings) != 1), *(f"  {finding}" for finding in self.findings)])


def examined(net: Layer, loss: Any, inputs: list[Tensor], labels: list[Tensor], optimizer: Any) -> Diagnosis:
    """The findings of one batch."""
    findings: list[Finding] = []

    def say(severe: bool, what: str, remedy: str) -> None:
        findings.append(Finding(severe, what, remedy))

    named = {name: p for name, p in net.named_parameters() if name.rpartition(".")[2] not in _STATISTICS}
    trainable = {name: p for name, p in named.items() if not p.stop_gradient}
    _look_at_inputs(inputs, say)
    _look_at_parameters(net, named, trainable, optimizer, say)
    _look_at_rate(optimizer, say)
    with _untouched(net), enable_grad():
        first: list[str] = []
        last: list[tuple[str, Layer]] = []
        with _watched(net, first, last):
            outputs = net(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        value = None
        broken = False
        if loss is not None:
            _look_at_labels(loss, outputs, labels, say)
            _look_at_end(loss, last, say)
            if any(finding.severe and "label" in finding.what for finding in findings):
                return Diagnosis(findings, None, sum(p.size for p in trainable.values()))  # the loss would only say it again
            results = loss(*outputs, *labels)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            total = results[0]
            for other in results[1:]:
                total = total + other
            if total.size != 1:
                say(True, f"the loss has shape {total.shape}, and only a scalar has a gradient.", "Take its mean().")
                total = total.mean()
            value = float(total)
            broken = not math.isfinite(value)
            if broken:
                where = first[0] if first else "in the loss itself"
                source = "" if all(_finite(x) for x in inputs) else ", as the inputs are not finite either"
                say(True, f"the loss is {value}, and what is not finite begins {where}{source}.", _NOT_FINITE)
            if not broken:
                _look_at_gradients(net, total, trainable, say)
        elif first:
            say(True, f"outputs are not finite; that begins {first[0]}.", _NOT_FINITE)
    return Diagnosis(findings, value, sum(p.size for p in trainable.values()))


_Say = Callable[[bool, str, str], None]


def _look_at_inputs(inputs: list[Tensor], say: _Say) -> None:
    for i, x in enumerate(inputs):
        which = "inputs" if len(inputs) == 1 else f"input {i}"
        if not x.dtype.is_floating or not x.size:
            if x.dtype.name == "uint8" and len(x.shape) >= 3:
                say(False, f"{which} are bytes (uint8), as images are read.", "Use transforms.ToTensor(), or x.astype('float32') / 255.")
            continue
        if not _finite(x):
            say(True, f"{which} hold NaN or infinity.", "Clean the data: paddle.isfinite(x) shows where.")
            continue
        wide = ops.cast(x.detach(), dtype=to_tensor(0.0, "float32").dtype)
        mean, spread = float(wide.mean()), float(wide.std()) if wide.size > 1 else 0.0
        if abs(mean) > _FAR or spread > _FAR:
            say(
                False, f"{which} are not normalised: mean {mean:.4g}, standard deviation {spread:.4g}.",
                "Networks learn best from numbers near 1: divide by 255, or subtract the mean and divide by the deviation.",
            )
        elif wide.size > 1 and spread == 0.0:
            say(False, f"{which} are all {mean:.4g}.", "Look at what reads the data.")


def _look_at_parameters(net: Layer, named: dict[str, Any], trainable: dict[str, Any], optimizer: Any, say: _Say) -> None:
    hidden = [name for name, kept in vars(net).items() if _holds_layers(kept)]
    for layer_name, layer in net.named_sublayers():
        hidden += [f"{layer_name}.{name}" for name, kept in vars(layer).items() if _holds_layers(kept)]
    for name in hidden:
        say(True, f"{name!r} is a plain list or dict of layers, whose parameters `parameters()` does not find.", "Use nn.LayerList or nn.LayerDict.")
    if not named:
        say(True, "the network has no parameters.", "Layers must be attributes of it, or in nn.Sequential, LayerList or LayerDict.")
    elif not trainable:
        say(True, f"all {len(named)} parameters are frozen (stop_gradient is True).", "Set p.stop_gradient = False for those to train.")
    elif len(trainable) < len(named):
        frozen = [name for name in named if name not in trainable]
        say(False, f"{len(frozen)} of {len(named)} parameters are frozen: {_few(frozen)}.", "That is fine if it is meant.")
    if optimizer is None or not hasattr(optimizer, "_all_parameters"):
        return
    held = list(optimizer._all_parameters())
    ids = {id(p) for p in held}
    missing = [name for name, p in trainable.items() if id(p) not in ids]
    if not held:
        say(True, "the optimizer has no parameters.", "Write parameters=net.parameters().")
    elif trainable and len(missing) == len(trainable):
        say(True, "the optimizer has parameters of something else, none of this network.", "Make it from net.parameters(), after the network.")
    elif missing:
        say(True, f"the optimizer lacks {len(missing)} of {len(trainable)} parameters: {_few(missing)}.", "Write parameters=net.parameters().")


def _holds_layers(kept: Any) -> bool:
    values = kept.values() if type(kept) is dict else kept if type(kept) in (list, tuple) else ()
    return any(isinstance(value, Layer) and next(iter(value.parameters()), None) is not None for value in values)


def _look_at_rate(optimizer: Any, say: _Say) -> None:
    if optimizer is None or not hasattr(optimizer, "get_lr"):
        return
    rate, kind = float(optimizer.get_lr()), type(optimizer).__name__
    # A schedule may begin with 0 and warm up: a small current rate means little.
    scheduled = not isinstance(getattr(optimizer, "_learning_rate", None), float)
    if not math.isfinite(rate) or rate < 0:
        say(True, f"the learning rate is {rate}.", "Take 0.001 for Adam, 0.01 to 0.1 for SGD.")
    elif rate == 0 and not scheduled:
        say(True, "the learning rate is 0: nothing changes.", "Take 0.001 for Adam, 0.01 to 0.1 for SGD.")
    elif rate > _LARGE_RATE.get(kind, _LARGE_STEP):
        say(False, f"the learning rate of {kind} is {rate:g}, more than is usual.", "Take 0.001 for Adam, 0.01 to 0.1 for SGD.")
    elif rate < 1e-8 and not scheduled:
        say(False, f"the learning rate is {rate:g}: nothing will change visibly.", "Take 0.001 for Adam, 0.01 to 0.1 for SGD.")


def _look_at_labels(loss: Any, outputs: list[Tensor], labels: list[Tensor], say: _Say) -> None:
    if not labels or not outputs:
        return
    scores, label = outputs[0], labels[0]
    if not scores.shape or not label.size:
        return
    if isinstance(loss, (nn.CrossEntropyLoss, nn.NLLLoss)) and not getattr(loss, "soft_label", False):
        axis = getattr(loss, "axis", -1) if isinstance(loss, nn.CrossEntropyLoss) else min(1, len(scores.shape) - 1)
        classes = scores.shape[axis]
        if label.dtype.is_floating:
            what = f"labels have dtype {label.dtype.name}, and {type(loss).__name__} wants numbers of classes."
            say(True, what, "Write label.astype('int64'), or soft_label=True for probabilities.")
            return
        ignored = getattr(loss, "ignore_index", -100)
        kept = label.flatten()[label.flatten() != ignored] if bool((label == ignored).any()) else label
        if kept.size and (int(kept.min()) < 0 or int(kept.max()) >= classes):
            low, high = int(kept.min()), int(kept.max())
            hint = "Labels count from 0: subtract 1." if low >= 1 and high == classes else f"The last layer needs {high + 1} outputs."
            say(True, f"labels go from {low} to {high}, and the network gives {classes} scores: classes 0 to {classes - 1}.", hint)
        elif classes == 1:
            what = "the network gives one score for each label, whose softmax is always 1."
            say(True, what, "Give a score for each class, or use BCEWithLogitsLoss.")
    elif isinstance(loss, (nn.BCELoss, nn.BCEWithLogitsLoss)):
        if float(label.min()) < 0 or float(label.max()) > 1:
            say(True, f"labels go from {float(label.min()):g} to {float(label.max()):g}, and {type(loss).__name__} wants 0 to 1.", "Scale them.")
        if isinstance(loss, nn.BCELoss) and _finite(scores) and (float(scores.min()) < 0 or float(scores.max()) > 1):
            say(True, f"outputs go from {float(scores.min()):.4g} to {float(scores.max()):.4g}, for a label BCELoss wants probabilities.",
                "Use BCEWithLogitsLoss, or end with Sigmoid.")
    elif isinstance(loss, (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss)) and scores.shape != label.shape:
        say(
            isinstance(loss, (nn.MSELoss, nn.L1Loss)) and scores.size != label.size or len(scores.shape) != len(label.shape),
            f"outputs have shape {scores.shape} and labels {label.shape}: every output is compared with every label.",
            f"Write label.reshape({scores.shape}).",
        )


def _look_at_end(loss: Any, last: list[tuple[str, Layer]], say: _Say) -> None:
    if not last:
        return
    _, layer = last[-1]
    kind = type(layer).__name__
    if isinstance(loss, nn.CrossEntropyLoss) and getattr(loss, "use_softmax", True) and isinstance(layer, _SATURATED):
        applied = "softmax" if not isinstance(layer, nn.LogSoftmax) else "log_softmax"
        extra = " applies softmax itself." if applied == "softmax" else " applies log_softmax itself."
        remedy = f"Take {kind} out, and apply it when predicting: the gradients nearly vanish else."
        say(not isinstance(layer, nn.LogSoftmax), f"the network ends with {kind}, and CrossEntropyLoss{extra}", remedy)
    elif isinstance(loss, nn.BCEWithLogitsLoss) and isinstance(layer, (nn.Sigmoid, nn.Softmax)):
        say(True, f"the network ends with {kind}, and BCEWithLogitsLoss applies sigmoid itself.", f"Take {kind} out, or use BCELoss.")
    elif isinstance(loss, nn.NLLLoss) and not isinstance(layer, nn.LogSoftmax):
        say(False, f"the network ends with {kind}, and NLLLoss wants logarithms of probabilities.", "End with LogSoftmax, or use CrossEntropyLoss.")
    elif isinstance(layer, nn.ReLU) and isinstance(loss, (nn.CrossEntropyLoss, nn.BCEWithLogitsLoss, nn.MSELoss, nn.L1Loss)):
        say(False, "the network ends with ReLU, so no output is below 0 and many have no gradient.", "Take it out, unless it is meant.")


def _look_at_gradients(net: Layer, total: Tensor, trainable: dict[str, Any], say: _Say) -> None:
    if total.stop_gradient:
        if trainable:
            say(
                True, "no parameter has a gradient: the loss does not follow from any of them.",
                "Look for no_grad, detach(), numpy() or float() between the network and the loss.",
            )
        return
    total.backward()
    grads = {name: p.grad for name, p in trainable.items()}
    none = [name for name, grad in grads.items() if grad is None]
    if none:
        what = "no parameter has a gradient" if len(none) == len(grads) else f"{len(none)} of {len(grads)} parameters have no gradient: {_few(none)}"
        say(True, f"{what}.", "The layers do not take part in the loss, or detach(), numpy() or no_grad cuts them off.")
    broken = [name for name, grad in grads.items() if grad is not None and not _finite(grad)]
    if broken:
        say(True, f"the gradients of {_few(broken)} are not finite.", "sqrt(0), norms of 0 and log(0) have none: add a small number.")
    zero = [name for name, grad in grads.items() if grad is not None and grad.size and not bool((grad != 0).any())]
    if zero and len(zero) + len(none) == len(grads):
        say(True, "all gradients are 0.", "Dead ReLUs, saturated outputs, or a loss that does not depend on the weights.")
    elif zero:
        say(False, f"the gradients of {_few(zero)} are all 0 in this batch.", "Dead ReLUs, or inputs that were not used here.")


@contextmanager
def _watched(net: Layer, first: list[str], last: list[tuple[str, Layer]]) -> Iterator[None]:
    """Inside, `first` gets the place where numbers stop being finite, and `last` the layers without layers, as they ran."""
    names = {id(layer): name or type(net).__name__ for name, layer in net.named_sublayers(include_self=True)}

    def see(layer: Layer, given: Any, made: Any) -> None:
        if not layer._sub_layers:
            last.append((names[id(layer)], layer))
        if not first and not all(map(_finite, _tensors_in(made))):
            where = f"layer {names[id(layer)]!r} ({type(layer).__name__})"
            # Layers that hold others end after them: what comes here first is the innermost.
            first.append(f"in {where}" if all(map(_finite, _tensors_in(given))) else f"before {where}, in the code that calls it")

    layers = {id(layer): layer for layer in net.sublayers(include_self=True)}.values()
    handles = [layer.register_forward_post_hook(see) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _untouched(net: Layer) -> Iterator[None]:
    """Inside, the network trains; afterwards its gradients, buffers, modes and the random generators are what they were."""
    layers = net.sublayers(include_self=True)
    modes = [layer.training for layer in layers]
    parameters = list(net.parameters())
    grads = [p.grad for p in parameters]
    buffers = [(b, b.detach().clone()) for b in (*net.buffers(), *(p for p in parameters if p.stop_gradient))]
    generators = random_state()
    for p in parameters:
        p.clear_gradient(False)
    net.train()
    try:
        yield
    finally:
        for p, grad in zip(parameters, grads):
            p.clear_gradient(False)
            if grad is not None:
                p.grad = grad
        with no_grad():
            for buffer, value in buffers:
                buffer.set_value(value)
        for layer, training in zip(layers, modes):
            layer.training = training
        set_random_state(generators)


def _tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for item in value for x in _tensors_in(item)] if isinstance(value, (list, tuple)) else []


def _finite(x: Tensor) -> bool:
    with no_grad():
        return not x.dtype.is_floating or not x.size or bool(ops.all_finite(x.detach()))


def _few(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
