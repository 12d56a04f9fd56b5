"""`wherry.doctor`: runs one step of a training and reports what will keep it from learning (found by `first_step`)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_train.first_step import Diagnosis, examined
from wherry_train.io import DataLoader, Dataset
from wherry_train.model import Model, _flat, _listed, _loader, _tensors

__all__ = ["doctor"]


def doctor(
    model: Any, loss: Any = None, inputs: Any = None, labels: Any = None, *, optimizer: Any = None,
) -> Diagnosis:
    """Run one step of a training, without changing anything, and say what is wrong with it.

    Looked for are: no trainable parameters, or some that are frozen, not in the optimizer or without a gradient; a
    loss that is not finite, with the layer where that begins; a softmax before CrossEntropyLoss, a sigmoid before
    BCEWithLogitsLoss; labels that are not classes; a learning rate out of all proportion; inputs that are not normalised;
    dead outputs; shapes of labels and outputs that broadcast.

    Args:
        model: a layer; or a `Model` that has been prepared, whose loss and optimizer are taken.
        loss: a function of outputs and labels, such as a layer of `nn`. A DataLoader or Dataset in its place, after a
            `Model`, gives the batch.
        inputs: of one batch: a tensor or array, or a list of them for several inputs; or what gives batches of inputs
            and labels.
        labels: of the same batch.
        optimizer: what will update the parameters; None does not look at it.

    Returns:
        The findings; printing it lists them. Weights, gradients, statistics of normalizations and random numbers are
        afterwards what they were before.

    Raises:
        TypeError: `model` is neither a layer nor a Model.
        ValueError: there is no batch.
        What the network or the loss raise.

    Source:
        Wherry's own.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(2, 3), wherry.nn.Softmax())
        >>> found = wherry.doctor(net, wherry.nn.CrossEntropyLoss(), wherry.rand([4, 2]), wherry.to_tensor([0, 1, 2, 0]))
        >>> print(found)  # doctest: +ELLIPSIS
        wherry.doctor: loss 1.1..., 9 trainable values, 1 finding
          error: the network ends with Softmax, and CrossEntropyLoss applies softmax itself. Take Softmax out, ...
    """
    if isinstance(model, Model):
        if inputs is None and isinstance(loss, (DataLoader, Dataset)):
            loss, inputs = None, loss
        net: Any = model.network
        loss = model._loss if loss is None else loss
        optimizer = model._optimizer if optimizer is None else optimizer
    else:
        net = model
    if not isinstance(net, Layer):
        raise InvalidTypeError(
            f"doctor: this is not a network. Got {type(net).__name__}, expected a Layer or a Model. Write "
            f"wherry.doctor(net, loss, inputs, labels). `python -m wherry doctor` looks at the machine instead."
        )
    xs, ys = _batch(model, inputs, labels)
    return examined(net, loss, xs, ys, optimizer)


def _batch(model: Any, inputs: Any, labels: Any) -> tuple[list[Tensor], list[Tensor]]:
    if inputs is None:
        raise InvalidArgumentError(
            "doctor: there is no batch to look at. Got no inputs, expected a batch. Write wherry.doctor(net, loss, x, y)."
        )
    if labels is None and (isinstance(inputs, Dataset) or not isinstance(inputs, (Tensor, list, tuple)) and not hasattr(inputs, "shape")):
        loader = _loader(inputs, 32, False, False, 0, "doctor")
        batch = next(iter(loader), None)
        if batch is None:
            raise InvalidArgumentError("doctor: the data are empty. Got no batch, expected one. Look at the length of the data set.")
        if isinstance(model, Model):
            return model._split(batch)
        parts = _tensors(_flat(batch))
        return (parts[:-1], parts[-1:]) if len(parts) > 1 else (parts, [])
    return _tensors(inputs), _tensors(_listed(labels))
