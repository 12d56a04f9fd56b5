"""Metrics: accuracy, precision, recall, AUC.

A metric counts over many batches. `compute` looks at tensors and may be skipped by metrics that have
nothing to do there; `update` takes its results as arrays and adds them to the counts; `accumulate`
computes the value from the counts. `Model` calls the three after every batch, and `reset` before an
epoch.
"""
from __future__ import annotations

import abc
import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wherry_tensor import _core, argmax, assign, cast, equal, expand, topk, unsqueeze
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import at_hand, integer, require_tensor
from wherry_tensor.constructor_arguments import as_constructed
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import equals, is_unknown
from wherry_train.state import PlainState

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


class Metric(PlainState, abc.ABC):
    """The base class of metrics: a subclass defines the four abstract methods.

    Source:
        `paddle.metric.Metric`.

    Examples:
        >>> class MeanAbsoluteError(wherry.metric.Metric):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.reset()
        ...     def reset(self):
        ...         self.total = self.count = 0
        ...     def update(self, prediction, target):
        ...         self.total += abs(prediction - target).sum()
        ...         self.count += target.size
        ...     def accumulate(self):
        ...         return self.total / self.count
        ...     def name(self):
        ...         return "mae"
        >>> metric = MeanAbsoluteError()
        >>> metric.update(np.array([1.0, 2.0]), np.array([2.0, 2.0]))
        >>> float(metric.accumulate())
        0.5
    """

    def __repr__(self) -> str:
        return as_constructed(self, "name")

    @abc.abstractmethod
    def reset(self) -> None:
        """Begin to count anew."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Count a batch: what `compute` returned, as arrays. What it returns is the batch's own value."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The value over all batches since the last `reset`."""

    @abc.abstractmethod
    def name(self) -> Any:
        """The metric's name, or a list of names where it has several values."""

    def compute(self, *args: Any) -> Any:
        """Compute from outputs and labels what `update` needs; by default, returns its arguments."""
        return args


_MOST_WAITING = 1 << 20  # elements that a device keeps at most for values that were not read yet


class _Waiting(Metric):
    """A metric that counts the results of a device only when its value is read.

    `_put_aside` takes what `compute` gave, `_settle` counts it, and every count is a `_Count`, which settles first. Counts are
    never changed in place, so that `_at_this_step` can hold on to them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[Any, ...]] = []
        self._batches = 0

    def _put_aside(self, results: list[Any]) -> bool:
        """Keeps tensors of a device for later; False where they are at hand, or `update` is somebody else's."""
        if type(self).update is not self._own_update() or not all(isinstance(r, Tensor) and not at_hand(r) for r in results):
            return False
        self._waiting.append(tuple(r.detach() for r in results))
        self._batches += 1
        if sum(r.size for batch in self._waiting for r in batch) > _MOST_WAITING:
            self._settle()
        return True

    @classmethod
    def _own_update(cls) -> Any:
        return next(base.__dict__["update"] for base in cls.__mro__ if base.__module__ == __name__)

    def _forget(self) -> None:
        self._waiting = []
        self._batches = 0

    def _settle(self) -> None:
        waiting, self._waiting = self._waiting, []
        for results in waiting:
            self.update(*[r.numpy() for r in results])

    def state_dict(self) -> dict[str, Any]:
        return {name: value for name, value in super().state_dict().items() if name not in ("_waiting", "_batches")}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().set_state_dict(state_dict)
        self._forget()

    def _at_this_step(self) -> Callable[[], Any]:
        """The current value of `accumulate`, computed when it is read."""
        batches, kept = self._batches, copy.copy(self)
        kept._waiting = list(self._waiting)
        return lambda: (self if self._batches == batches else kept).accumulate()


class _Count:
    """An attribute that counts everything put aside before it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, metric: Any, owner: type | None = None) -> Any:
        if metric is None:
            raise AttributeError(self._name)  # of the instances alone
        if metric._waiting:
            metric._settle()
        return metric.__dict__[self._name]

    def __set__(self, metric: Any, value: Any) -> None:
        metric.__dict__[self._name] = value


class Accuracy(_Waiting):
    """The share of samples whose label is among the k classes with the highest scores.

    Args:
        topk: the k's; one value is reported for each.
        name: what the values are called; None calls them "acc". With several k, `_top<k>` is added.

    Raises:
        TypeError: `topk` is not a sequence of integers.
        ValueError: it is empty, or has a k below 1.

    Source:
        `paddle.metric.Accuracy`.

    Examples:
        >>> metric = wherry.metric.Accuracy(topk=(1, 2))
        >>> scores = wherry.to_tensor([[0.1, 0.7, 0.2], [0.3, 0.5, 0.2]])
        >>> correct = metric.compute(scores, wherry.to_tensor([[1], [0]]))
        >>> [float(share) for share in metric.update(correct)]
        [0.5, 1.0]
        >>> metric.name()
        ['acc_top1', 'acc_top2']
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if not isinstance(topk, (list, tuple)):
            raise InvalidTypeError(
                f"Accuracy: topk is not a sequence of ints. Got {short(topk)}, expected a tuple of ints. "
                f"Write topk=({short(topk)},)."
            )
        self.topk = tuple(integer(k, "Accuracy", "topk") for k in topk)
        if not self.topk or min(self.topk) < 1:
            raise InvalidArgumentError(
                f"Accuracy: topk has wrong numbers. Got topk={short(topk)}, expected at least one k, each 1 or more. "
                f"topk=(1,) asks for the best guess alone."
            )
        self.maxk = max(self.topk)
        base = name or "acc"
        self._name = [f"{base}_top{k}" for k in self.topk] if len(self.topk) > 1 else [base]
        self.reset()

    def compute(self, pred: Tensor, label: Tensor, *args: Any) -> Tensor:
        """Which of the best guesses are right.

        Args:
            pred: scores, `[..., C]`, float32 or float64.
            label: the right classes, integers `[...]` or `[..., 1]`; or one-hot rows `[..., C]`.

        Returns:
            float32 `[..., max(topk)]`, 1 where the guess is right; the best guess comes first.

        Raises:
            TypeError: one of them is not a Tensor.
            ValueError: their shapes do not fit, or there are fewer than `max(topk)` classes.
        """
        require_tensor(pred, "Accuracy", "pred")
        require_tensor(label, "Accuracy", "label")
        classes = pred.shape[-1] if pred.shape else 0
        if not is_unknown(classes) and classes < self.maxk:
            raise InvalidArgumentError(
                f"Accuracy: there are fewer classes than guesses. Got pred of shape {pred.shape} and topk={self.topk}, "
                f"expected at least {self.maxk} classes in the last axis. Take smaller k."
            )
        right = _class_indices(pred, label)
        guesses = argmax(pred, axis=-1, keepdim=True) if self.maxk == 1 else topk(pred, self.maxk, axis=-1)[1]
        return cast(equal(guesses, cast(right, guesses.dtype)), "float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Count what `compute` gave, `[..., max(topk)]`.

        Returns:
            The shares of this batch: a float, or a list of them with several k.
        """
        hits = _array(correct, "Accuracy", "correct")
        if not hits.ndim:
            raise InvalidArgumentError("Accuracy: it counts rows of guesses. Got one number, expected [..., k]. Give what compute() gives.")
        samples = math.prod(hits.shape[:-1])
        found = [float(hits[..., :k].sum()) for k in self.topk]
        self.total = [total + more for total, more in zip(self.total, found)]
        self.count = [count + samples for count in self.count]
        shares = [more / samples if samples else 0.0 for more in found]
        return shares if len(shares) > 1 else shares[0]

    total = _Count()
    count = _Count()

    def reset(self) -> None:
        self._forget()
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The shares over all batches: a float, or a list of them with several k. 0 before the first batch."""
        shares = [total / count if count else 0.0 for total, count in zip(self.total, self.count)]
        return shares if len(shares) > 1 else shares[0]

    def name(self) -> list[str]:
        return self._name


class Precision(_Waiting):
    """Precision: the share of predicted positives that are positive.

    Args:
        name: what the value is called.

    Raises:
        ValueError: in `update`, `preds` and `labels` differ in length, or one of them is not an array (also a TypeError).

    Source:
        `paddle.metric.Precision`.

    Examples:
        >>> metric = wherry.metric.Precision()
        >>> metric.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
        >>> round(metric.accumulate(), 4)
        0.6667
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Count a batch.

        Args:
            preds: probabilities in [0, 1], `[N]` or `[N, 1]`, an array or a Tensor; from 0.5 on a sample counts
                as positive.
            labels: 0 or 1, as many.

        Raises:
            ValueError: `preds` or `labels` is not an array (also a TypeError), or they have different lengths.
        """
        probabilities, positive = _binary(preds, labels, "Precision")
        called = probabilities >= 0.5
        self.tp += int((called & positive).sum())
        self.fp += int((called & ~positive).sum())

    tp = _Count()
    fp = _Count()

    def reset(self) -> None:
        self._forget()
        self.tp = 0  # true positives
        self.fp = 0  # false positives

    def accumulate(self) -> float:
        """The precision in [0, 1]; 0 where nothing was called positive."""
        called = self.tp + self.fp
        return self.tp / called if called else 0.0

    def name(self) -> str:
        return self._name


class Recall(_Waiting):
    """Recall: the share of positives that were predicted as positive.

    Args:
        name: what the value is called.

    Raises:
        ValueError: in `update`, `preds` and `labels` differ in length, or one of them is not an array (also a TypeError).

    Source:
        `paddle.metric.Recall`.

    Examples:
        >>> metric = wherry.metric.Recall()
        >>> metric.update(np.array([0.1, 0.8, 0.6, 0.7]), np.array([1, 1, 1, 0]))
        >>> round(metric.accumulate(), 4)
        0.6667
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Count a batch; as `Precision.update`, but 0.5 itself counts as negative, as in Paddle."""
        probabilities, positive = _binary(preds, labels, "Recall")
        called = probabilities > 0.5
        self.tp += int((called & positive).sum())
        self.fn += int((~called & positive).sum())

    tp = _Count()
    fn = _Count()

    def reset(self) -> None:
        self._forget()
        self.tp = 0  # true positives
        self.fn = 0  # false negatives

    def accumulate(self) -> float:
        """The recall in [0, 1]; 0 where nothing is positive."""
        positive = self.tp + self.fn
        return self.tp / positive if positive else 0.0

    def name(self) -> str:
        return self._name


class Auc(_Waiting):
    """The area under the curve of a binary classifier, over all thresholds.

    Args:
        curve: "ROC": the share of positives found against that of negatives called positive; the area is the
            chance that a positive scores above a negative. "PR": precision against recall.
        num_thresholds: the number of thresholds; a histogram with one bin more is kept.
        name: what the value is called.

    Raises:
        ValueError: `curve` is neither, or `num_thresholds` is below 1.

    Source:
        `paddle.metric.Auc`, which takes "PR" for "ROC".

    Examples:
        >>> metric = wherry.metric.Auc()
        >>> positive = np.array([0.1, 0.9, 0.35, 0.8])
        >>> metric.update(np.stack([1 - positive, positive], axis=1), np.array([0, 1, 1, 0]))
        >>> metric.accumulate()
        0.75
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__()
        if curve not in ("ROC", "PR"):
            raise InvalidArgumentError(f"Auc: the curve is unknown. Got curve={short(curve)}, expected 'ROC' or 'PR'. Choose one.")
        thresholds = integer(num_thresholds, "Auc", "num_thresholds")
        if thresholds < 1:
            raise InvalidArgumentError(
                f"Auc: num_thresholds is too small. Got num_thresholds={thresholds}, expected 1 or more. The default is 4095."
            )
        self._curve = curve
        self._num_thresholds = thresholds
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Count a batch.

        Args:
            preds: probabilities of both classes, `[N, 2]`, an array or a Tensor; the column 1 is that of the positive one.
            labels: 0 or 1, `[N]` or `[N, 1]`.

        Raises:
            ValueError: one of them is not an array (also a TypeError), shapes do not fit, or a probability is not in
                [0, 1] (also an AssertionError).
        """
        probabilities = _array(preds, "Auc", "preds")
        positive = _array(labels, "Auc", "labels").reshape(-1) != 0
        if probabilities.ndim != 2 or probabilities.shape[1] != 2 or len(probabilities) != len(positive):
            raise InvalidArgumentError(
                f"Auc: preds does not fit labels. Got preds of shape {list(probabilities.shape)} and "
                f"{len(positive)} labels, expected preds of shape [{len(positive)}, 2]. "
                f"From the probability p of the positive class: np.stack([1 - p, p], axis=1)."
            )
        scores = probabilities[:, 1].astype("float64")
        if not ((scores >= 0) & (scores <= 1)).all():
            worst = scores[~((scores >= 0) & (scores <= 1))][0]
            raise _ProbabilityError(
                f"Auc: a probability is out of range. Got {worst}, expected values in [0, 1]. "
                f"Apply softmax to scores first."
            )
        bins = (scores * self._num_thresholds).astype("int64")
        size = self._num_thresholds + 1
        self._stat_pos = self._stat_pos + np.bincount(bins[positive], minlength=size)
        self._stat_neg = self._stat_neg + np.bincount(bins[~positive], minlength=size)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """The area between the x axis and the line from (x1, y1) to (x2, y2)."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """The area in [0, 1]; 0 where a class has not been seen yet."""
        # From the strictest threshold down: how many of each class have been called positive so far.
        found = np.concatenate([[0.0], np.cumsum(self._stat_pos[::-1])])
        wrong = np.concatenate([[0.0], np.cumsum(self._stat_neg[::-1])])
        if not found[-1] or not wrong[-1]:
            return 0.0
        if self._curve == "ROC":
            area = (np.diff(wrong) * (found[1:] + found[:-1]) / 2).sum()
            return float(area / found[-1] / wrong[-1])
        called = found + wrong
        # Where nothing is called positive, precision is that of the first threshold at which something is.
        first = int(np.argmax(called > 0))
        precision = np.divide(found, called, out=np.full(len(called), found[first] / called[first]), where=called > 0)
        return float((np.diff(found) * (precision[1:] + precision[:-1]) / 2).sum() / found[-1])

    _stat_pos = _Count()
    _stat_neg = _Count()

    def reset(self) -> None:
        self._forget()
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def name(self) -> str:
        return self._name


def accuracy(
    input: Tensor, label: Tensor, k: int = 1, correct: Tensor | None = None, total: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The share of rows whose label is among the k classes with the highest scores.

    Args:
        input: scores, `[N, C]`, float32 or float64.
        label: the right classes, int32 or int64 `[N, 1]`.
        k: how many guesses count, in `[1, C]`.
        correct: gets the number of right rows, if given: an int tensor of one element.
        total: gets N, if given: an int tensor of one element.

    Returns:
        float32, shape `[]`, in [0, 1].

    Raises:
        TypeError: an argument is not a Tensor, or has another dtype (also a ValueError).
        ValueError: shapes do not fit, or `k` is out of range.

    Source:
        `paddle.metric.accuracy`.

    Examples:
        >>> scores = wherry.to_tensor([[0.1, 0.7, 0.2], [0.3, 0.5, 0.2]])
        >>> print(wherry.metric.accuracy(scores, wherry.to_tensor([[1], [0]])).numpy())
        0.5
    """
    require_tensor(input, "accuracy", "input")
    require_tensor(label, "accuracy", "label")
    if input.ndim != 2 or label.shape != [input.shape[0], 1]:
        raise InvalidArgumentError(
            f"accuracy: scores and labels do not fit. Got input of shape {input.shape} and label of shape {label.shape}, "
            f"expected [N, C] and [N, 1]. Give labels their axis with label.unsqueeze(-1)."
        )
    if not label.dtype.is_integer:
        raise InvalidTypeError(
            f"accuracy: labels are not integers. Got label of dtype {label.dtype.name}, expected int32 or int64. "
            f"Cast it with label.astype('int64')."
        )
    if not input.dtype.is_floating:
        raise InvalidTypeError(
            f"accuracy: scores do not have a floating dtype. Got input of dtype {input.dtype.name}, expected float32 or float64. "
            f"Cast it with input.astype('float32')."
        )
    guesses_of_row = integer(k, "accuracy", "k")
    if guesses_of_row < 1 or (not is_unknown(input.shape[1]) and guesses_of_row > input.shape[1]):
        raise InvalidArgumentError(
            f"accuracy: k is larger than the number of classes. Got k={guesses_of_row}, expected one in [1, {input.shape[1]}]. "
            f"k=1 asks for the best guess alone."
        )
    guesses = topk(input, guesses_of_row, axis=1)[1]
    hits = cast(equal(guesses, cast(label, guesses.dtype)), "float32").sum()
    rows = input.shape[0]
    for wanted, value in ((correct, hits), (total, rows)):
        if wanted is not None:
            number = value if isinstance(value, Tensor) else _core.scalar(value, wanted.dtype)
            assign(expand(cast(number, wanted.dtype), wanted.shape), wanted)
    return hits / rows


class _ProbabilityError(InvalidArgumentError, AssertionError):
    """A probability is out of range; also an AssertionError, as in Paddle."""


def _class_indices(pred: Tensor, label: Tensor) -> Tensor:
    """Labels as `[..., 1]`, from any of the three forms that `Accuracy.compute` takes."""
    leading = pred.shape[:-1]
    if label.shape == leading and (label.dtype.is_integer or label.ndim == 1):
        return unsqueeze(label, -1)
    if label.shape and label.shape[:-1] == leading and equals(label.shape[-1], 1):
        return label
    if label.shape == pred.shape:
        return argmax(label, axis=-1, keepdim=True)
    raise InvalidArgumentError(
        f"Accuracy: the labels do not fit. Got pred of shape {pred.shape} and label of shape {label.shape} and dtype "
        f"{label.dtype.name}, expected {leading} or {[*leading, 1]}, or one-hot rows {pred.shape}. Reshape the labels."
    )


def _array(value: Any, op_name: str, name: str) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Tensor):
        return np.asarray(value.numpy())
    raise InvalidTypeError(
        f"{op_name}: The '{name}' must be a numpy ndarray or Tensor. Got {type(value).__name__}. Convert it with np.asarray."
    )


def _binary(preds: Any, labels: Any, op_name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Probabilities `[N]`, and which samples are positive."""
    guesses = _array(preds, op_name, "preds").reshape(-1)
    truth = _array(labels, op_name, "labels").reshape(-1)
    if len(guesses) != len(truth):
        raise InvalidArgumentError(
            f"{op_name}: preds and labels differ in length. Got {len(guesses)} preds and {len(truth)} labels, "
            f"expected as many of both. For probabilities of both classes pass preds[:, 1]."
        )
    return guesses, truth == 1


explained(globals())
