"""Class sampling and backtracking of beam searches."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional._losses import require_one_process
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import at_hand, integer, require_room, require_tensor, to_dtype
from wherry_tensor.axis_sampling import clip_indices
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError
from wherry_tensor.functions.random import randint
from wherry_tensor.sizes import is_unknown, largest, same_shapes
from wherry_tensor.spellings import spelled

__all__ = ["class_center_sample", "gather_tree"]


def class_center_sample(label: Tensor, num_classes: int, num_samples: int, group: Any = None) -> tuple[Tensor, Tensor]:
    """Sample class centers to train with: all classes in `label`, and others at random.

    Args:
        label: int32 or int64, `[N]`; classes in `[0, num_classes)`.
        num_classes: how many classes there are.
        num_samples: how many to sample, at most `num_classes`. If more occur in `label`, all of these are taken.
        group: None or False. Classes that are spread over processes need the distributed package.

    Returns:
        The labels as positions among the chosen classes, and the chosen classes: those that occur, in order,
        then the others. Both in the dtype of `label`. The choice follows `seed`.

    Shape:
        `[N]`, and `[max(num_samples, classes that occur)]`.

    Raises:
        ValueError: `label` is not 1-D, or `num_samples` is negative or above `num_classes`.
        IndexError: a label is not a class (also a ValueError).
        NotImplementedError: a group of processes.
        TypeError: `label` is not a tensor of integers (also a ValueError).

    Source:
        `paddle.nn.functional.class_center_sample`; An et al., "Partial FC" (2020).

    Examples:
        >>> label, chosen = wherry.nn.functional.class_center_sample(wherry.to_tensor([11, 5, 11]), 20, 6)
        >>> print(label.numpy(), chosen.shape, chosen.numpy()[:2])
        [1 0 1] [6] [ 5 11]
    """
    op_name = "class_center_sample"
    require_tensor(label, op_name, "label")
    require_one_process(op_name, group)
    classes, samples = integer(num_classes, op_name, "num_classes"), integer(num_samples, op_name, "num_samples")
    if not label.dtype.is_integer:
        raise InvalidTypeError(
            f"class_center_sample: labels are the numbers of classes. Got dtype {label.dtype.name}, expected int32 or int64. "
            f"Cast them with label.astype('int64')."
        )
    if label.ndim != 1:
        raise InvalidArgumentError(
            f"class_center_sample: label has the wrong rank. Got shape {label.shape}, expected [N]. Flatten them."
        )
    if not 0 <= samples <= classes:
        raise InvalidArgumentError(
            f"class_center_sample: num_samples is out of range. Got num_samples={samples}, expected a number in "
            f"[0, {classes}], the number of classes. Choose fewer."
        )
    dtype, label = label.dtype, to_dtype(label, int64)
    if at_hand(label) and label.size:
        low, high = (op(label, axes=(0,), keepdim=False).item() for op in (ops.reduce_min, ops.reduce_max))
        if low < 0 or high >= classes:
            raise InvalidIndexError(
                f"class_center_sample: a label is not a class. Got {low if low < 0 else high}, expected labels in "
                f"[0, {classes}). Check num_classes."
            )
    # The memory that this takes grows with the number of labels and samples, not with that of classes.
    present = ops.unique(label, axis=None)[0]
    missing = largest(samples - present.shape[0], 0)
    if not is_unknown(missing):
        require_room(40 * missing, op_name, f"a choice of {samples} classes")
    chosen = ops.concat(present, _others(classes, present, missing), axis=0)
    return to_dtype(ops.searchsorted(present, label, right=False), dtype), to_dtype(chosen, dtype)


def _others(classes: int, present: Tensor, count: int) -> Tensor:
    """`count` classes in random order, all different and none of `present`, which is sorted."""
    if is_unknown(count) or 2 * (count + present.shape[0]) >= classes:
        return _without(ops.randperm(n=classes, dtype=int64), present)[:count]
    found = ops.slice(present, axes=(0,), starts=(0,), ends=(0,), steps=(1,))
    while found.shape[0] < count:  # at least half of the numbers drawn are new, so this ends after a few rounds
        drawn = randint(0, classes, [2 * (count - found.shape[0]) + 16], dtype=int64)
        found = ops.concat(found, _without(drawn, present), axis=0)
        first = ops.unique(found, axis=None)[1]
        found = ops.gather(found, ops.sort(first, axis=0, descending=False)[0], axis=0)  # in the order they were drawn
    return found[:count]


def _without(values: Tensor, present: Tensor) -> Tensor:
    count = present.shape[0]
    if not is_unknown(count) and not count:
        return values
    at = ops.searchsorted(present, values, right=False)
    return ops.masked_select(values, ops.not_equal(ops.gather(present, clip_indices(at, count), axis=0), values))


def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """Sequences from the steps of a beam search: each beam is traced back to its beginning.

    Args:
        ids: integers, `[T, B, beams]`; the token that each beam took at each step.
        parents: the same shape and dtype; the beam from which it came.

    Returns:
        The tokens of the sequence that ends in each beam of the last step, in the shape and dtype of `ids`.

    Shape:
        `[T, B, beams]` twice to the same.

    Raises:
        ValueError: the shapes differ, or are not 3-D.
        IndexError: a parent is not a beam (also a ValueError).
        TypeError: an argument is not a tensor of integers, or the dtypes differ (also a ValueError).

    Source:
        `paddle.nn.functional.gather_tree`.

    Examples:
        >>> ids = wherry.to_tensor([[[1, 2]], [[3, 4]]])
        >>> parents = wherry.to_tensor([[[0, 0]], [[1, 0]]])
        >>> print(wherry.nn.functional.gather_tree(ids, parents).numpy()[:, 0])
        [[2 1]
         [3 4]]
    """
    require_tensor(ids, "gather_tree", "ids")
    require_tensor(parents, "gather_tree", "parents")
    if not ids.dtype.is_integer or parents.dtype is not ids.dtype:
        raise InvalidTypeError(
            f"gather_tree: ids and parents are not integers of one dtype. Got {ids.dtype.name} and {parents.dtype.name}, "
            f"expected int32 or int64 for both. Cast one of them."
        )
    if ids.ndim != 3 or not same_shapes(parents.shape, ids.shape):
        raise InvalidArgumentError(
            f"gather_tree: ids and parents must be 3-D and of the same shape. Got {ids.shape} and {parents.shape}, expected [T, B, beams] for "
            f"both. Add the missing axis with unsqueeze."
        )
    beams = ids.shape[2]
    low, high = 0, 0
    if at_hand(parents) and ids.size:
        low, high = (op(parents, axes=(0, 1, 2), keepdim=False).item() for op in (ops.reduce_min, ops.reduce_max))
    if low < 0 or (high and high >= beams):
        raise InvalidIndexError(
            f"gather_tree: a parent is out of range. Got {low if low < 0 else high}, expected beams in [0, {beams}). "
            f"Count them within their example."
        )
    return ops.gather_tree(ids, parents)


spelled(globals())
