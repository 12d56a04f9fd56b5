"""Metrics that programs compute."""
from __future__ import annotations

from functools import partial
from typing import Any

from wherry_graph.static.builder import lasting_variable
from wherry_nn import functional as F  # noqa: N812
from wherry_nn import unique_name
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float32, float64, int64
from wherry_tensor.arguments import require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.explained import explained

__all__ = ["accuracy", "auc", "ctr_metric_bundle"]


def accuracy(input: Tensor, label: Tensor, k: int = 1, correct: Tensor | None = None, total: Tensor | None = None) -> Tensor:
    """The share of rows whose label is among the `k` largest of the input.

    Args:
        input: floating, `[N, C]`.
        label: integers, `[N, 1]` or `[N]`.
        k: how many classes count.
        correct: a variable that is given the number of such rows.
        total: a variable that is given the number of rows.

    Shape:
        `[N, C]`, `[N, 1]` to `[]`.

    Raises:
        TypeError: an argument is not a Tensor.

    Source:
        `paddle.static.accuracy`.

    Examples:
        >>> scores = wherry.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> float(wherry.static.accuracy(scores, wherry.to_tensor([[1], [1]])))
        0.5
    """
    require_rank(input, "accuracy", 2, name="input", layout="[N, C]")
    require_tensor(label, "accuracy", "label")
    label = ops.reshape(ops.cast(label, dtype=int64), shape=(input.shape[0], 1))
    _, index = input.topk(k)
    hits = ops.reduce_any(ops.equal(index, label), (1,), False)
    for variable, count in (correct, ops.cast(hits, dtype=int64)), (total, ops.full_like(hits, value=1, dtype=int64)):
        if variable is not None:
            value = ops.cast(ops.reduce_sum(count, (0,), False), dtype=variable.dtype)
            ops.copy.into((variable,), ops.reshape(value, shape=tuple(variable.shape)))
    return ops.reduce_mean(ops.cast(hits, dtype=float32), (0,), False)


def _sum_that_lasts(shape: tuple[int, ...], dtype: Any) -> Any:
    return lasting_variable(unique_name.generate("_generated_var"), partial(ops.full, shape=shape, value=0, dtype=dtype))


def auc(
    input: Tensor, label: Tensor, curve: str = "ROC", num_thresholds: int = 2**12 - 1, topk: int = 1, slide_steps: int = 1,
    ins_tag_weight: Tensor | None = None,
) -> tuple[Tensor, Tensor, list[Any]]:
    """The area under the ROC curve of binary predictions, over all runs of a program, and over the last ones.

    Args:
        input: floating, `[N, 2]` (or `[N, 1]`); the last column is the probability of the positive class.
        label: integers, `[N, 1]`: 0 or 1.
        curve: "ROC".
        num_thresholds: the number of thresholds.
        topk: no effect.
        slide_steps: the number of last runs for the second area; 0: all.
        ins_tag_weight: floating, `[N, 1]`: rows with 0 are left out.

    Returns:
        The area over all runs, that over the last ones, both float64 and 0-d, and the four variables that count: yes and no of the last
        runs, yes and no of all, by threshold.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the input has more than two columns.
        NotImplementedError: another curve.

    Source:
        `paddle.static.auc`, whose counts of the last runs are laid out otherwise.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     area, last, counts = wherry.static.auc(wherry.static.data("p", [None, 2]), wherry.static.data("y", [None, 1], "int64"))
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> feed = {"p": np.array([[0.9, 0.1], [0.2, 0.8]], "float32"), "y": np.array([[0], [1]], "int64")}
        >>> float(exe.run(main, feed=feed, fetch_list=[area])[0])
        1.0
        >>> wherry.disable_static()
    """
    for name, value in ("input", input), ("label", label):
        require_tensor(value, "auc", name)
    if curve != "ROC":
        raise UnimplementedError(f"auc: the curve is 'ROC'. Got {short(curve)}, expected 'ROC'.")
    if input.ndim != 2 or input.shape[1] not in (1, 2):
        raise InvalidArgumentError(
            f"auc: Only support binary classification, prediction dims[1] should be 1 or 2. Got input of shape {input.shape}, expected [N, 2]."
        )
    before = _core.set_grad_mode(False)
    try:
        n = num_thresholds + 1
        score = ops.cast(input[:, -1], dtype=float64)
        step = ops.cast(ops.floor(score * float(num_thresholds)), dtype=int64)
        yes = ops.cast(ops.reshape(label, shape=(input.shape[0],)), dtype=int64)
        counted: Any = ops.full_like(yes, value=1, dtype=int64)
        if ins_tag_weight is not None:
            weight = ops.reshape(ins_tag_weight, shape=(input.shape[0],))
            counted = ops.cast(ops.not_equal(weight, ops.full(shape=(), value=0, dtype=weight.dtype)), dtype=int64)
        none = ops.full(shape=(n,), value=0, dtype=int64)
        at = ops.unsqueeze(step, (1,))
        batch = [ops.scatter_nd_add(none, at, part) for part in (yes * counted, (1 - yes) * counted)]
        last = max(1, slide_steps)
        recent = [_sum_that_lasts((last, n), int64) for _ in batch]
        whole = [_sum_that_lasts((1, n), int64) for _ in batch]
        for counts, kept, total in zip(batch, recent, whole):
            row = ops.reshape(counts, shape=(1, n))
            ops.copy.into((total,), ops.add(total, row))
            if slide_steps == 0:
                ops.copy.into((kept,), ops.add(kept, row))
            else:
                ops.copy.into((kept,), row if last == 1 else ops.concat(kept[1:], row, axis=0))
        return _area(*whole), _area(*recent), [*recent, *whole]
    finally:
        _core.set_grad_mode(before)


def _area(yes: Tensor, no: Tensor) -> Tensor:
    """From counts by threshold, `[runs, thresholds]`: trapezoids between the points that the thresholds make, from the largest down."""
    above = [ops.cast(ops.reduce_sum(x, (0,), False), dtype=float64).flip([0]).cumsum(0) for x in (yes, no)]
    zero = ops.full(shape=(1,), value=0.0, dtype=float64)
    ys, xs = (ops.concat(zero, x, axis=0) for x in above)
    area = ops.reduce_sum((xs[1:] - xs[:-1]) * (ys[1:] + ys[:-1]) * 0.5, (0,), False)
    everything = ys[-1] * xs[-1]
    one = ops.full(shape=(), value=1.0, dtype=float64)
    return ops.where(ops.greater_than(everything, one * 0.0), area / ops.maximum(everything, one), one * 0.0)


def ctr_metric_bundle(input: Tensor, label: Tensor, ins_tag_weight: Tensor | None = None) -> tuple[Any, ...]:
    """Sums over all runs from which metrics of click prediction are made.

    Args:
        input: floating, `[N, 1]`: the probability of a click.
        label: floating or integers, `[N, 1]`: 0 or 1.
        ins_tag_weight: floating, `[N, 1]`: multiplies the rows.

    Returns:
        Variables with the sums of squared errors, absolute errors, probabilities, their sigmoids, clicks, and the number of rows.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes differ.

    Source:
        `paddle.static.ctr_metric_bundle`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     sums = wherry.static.ctr_metric_bundle(wherry.static.data("p", [None, 1]), wherry.static.data("y", [None, 1]))
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> feed = {"p": np.array([[0.5], [1.0]], "float32"), "y": np.array([[0.0], [1.0]], "float32")}
        >>> [x.tolist() for x in exe.run(main, feed=feed, fetch_list=[sums[0], sums[1], sums[4], sums[5]])]
        [[0.25], [0.5], [1.0], [[2.0]]]
        >>> wherry.disable_static()
    """
    for name, value in ("input", input), ("label", label):
        require_tensor(value, "ctr_metric_bundle", name)
    before = _core.set_grad_mode(False)
    try:
        p, y = ops.cast(input, dtype=float32), ops.cast(label, dtype=float32)
        weight = ops.full_like(p, value=1, dtype=float32) if ins_tag_weight is None else ops.cast(ins_tag_weight, dtype=float32)
        error = (p - y) * weight
        parts = (
            ((1,), ops.square(error)), ((1,), ops.abs(error)), ((1,), p * weight), ((1, 1), F.sigmoid(p) * weight), ((1,), y * weight),
            ((1, 1), weight),
        )
        sums = []
        for shape, part in parts:
            total = _sum_that_lasts(shape, float32)
            axes = tuple(range(part.ndim))
            ops.copy.into((total,), ops.add(total, ops.reshape(ops.reduce_sum(part, axes, False), shape=shape)))
            sums.append(total)
        return tuple(sums)
    finally:
        _core.set_grad_mode(before)


explained(globals())
