"""Structured losses: regions (dice), trees of classes (hierarchical sigmoid), sequences without alignment (CTC)."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional._losses import reduced, require_floating, unknown_reduction
from wherry_nn.functional.common import embedding
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.arguments import at_hand, flag, integer, never_from_the_end, number, require_tensor, to_dtype
from wherry_tensor.errors import (
    AssertedArgumentError,
    AssertedTypeError,
    InvalidArgumentError,
    InvalidIndexError,
    InvalidTypeError,
)
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.functions.reduction import mean
from wherry_tensor.sizes import same_shapes
from wherry_tensor.spellings import spelled

__all__ = ["ctc_loss", "dice_loss", "hsigmoid_loss"]


def dice_loss(input: Tensor, label: Tensor, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """Dice loss: one minus the overlap of predicted and true regions, `2 |A and B| / (|A| + |B|)`, averaged over
    examples.

    Args:
        input: floating, `[N, ..., classes]`; probabilities of the classes.
        label: integers, `[N, ..., 1]`.
        epsilon: added to the denominator.

    Returns:
        The dtype of `input`, 0-d.

    Shape:
        `input` `[N, ..., classes]`, `label` `[N, ..., 1]`, to `[]`.

    Raises:
        ValueError: shapes that do not fit (also an AssertionError).
        IndexError: a label is not a class.
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.dice_loss`; Milletari et al., "V-Net" (2016).

    Examples:
        >>> loss = wherry.nn.functional.dice_loss(wherry.to_tensor([[[0.0, 1.0]]]), wherry.to_tensor([[[1]]]))
        >>> print(loss.numpy().round(4))
        0.0
    """
    require_floating("dice_loss", input)
    require_tensor(label, "dice_loss", "label")
    if not label.dtype.is_integer:
        raise AssertedTypeError(
            f"dice_loss: labels are the numbers of classes. Got dtype {label.dtype.name}, expected int32 or int64. "
            f"Cast them with label.astype('int64')."
        )
    if input.ndim < 2 or not same_shapes(label.shape, [*input.shape[:-1], 1]):
        raise AssertedArgumentError(
            f"dice_loss: the label does not fit the input. Got label of shape {label.shape} and input of shape "
            f"{input.shape}, expected {[*input.shape[:-1], 1] if input.ndim > 1 else '[N, ..., 1] and [N, ..., classes]'}. "
            f"Put the classes into the last axis of the input."
        )
    if not input.size:
        raise AssertedArgumentError(
            f"dice_loss: the input is empty. Got input of shape {input.shape}, expected at least one element. "
            f"Check that the data is not empty first."
        )
    hot = to_dtype(ops.one_hot(ops.squeeze(label, axes=(label.ndim - 1,)), num_classes=input.shape[-1]), input.dtype)
    axes = tuple(range(1, input.ndim))
    overlap = ops.reduce_sum(input * hot, axes=axes, keepdim=False)
    total = ops.reduce_sum(input, axes=axes, keepdim=False) + ops.reduce_sum(hot, axes=axes, keepdim=False)
    return mean(1.0 - overlap * 2.0 / (total + number(epsilon, "dice_loss", "epsilon")))


def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Hierarchical sigmoid loss: binary cross entropy at each node on the path to the label, in a binary tree of
    classes.

    It needs about log2(classes) products for each example instead of one for each class. The default tree
    is complete; `path_table` and `path_code` describe another.

    Args:
        input: floating, `[N, D]`.
        label: integers, `[N]` or `[N, 1]`.
        num_classes: at least 2 for the default tree.
        weight: `[num_classes - 1, D]`, one row for each inner node of the default tree; as many as the
            table names otherwise.
        bias: `[nodes, 1]` or `[nodes]`.
        path_table: integers, `[N, L]`; the nodes from the root to the label, then -1.
        path_code: integers, `[N, L]`; for each node 1 or 0, the branch that is taken.
        is_sparse: the gradient of `weight`, where that is a leaf, is a `SelectedRows`: the rows of the nodes on the paths. That of
            `bias` is dense, and in a program that is captured both are.

    Returns:
        `[N, 1]` in the dtype of `input`, in nats. As in Paddle, products count as at most 40 in size, and each
        level that a path lacks beside the longest adds log 2, so that values compare with Paddle's.

    Shape:
        `input` `[N, D]`, `label` `[N, 1]`, to `[N, 1]`.

    Raises:
        ValueError: too few classes, shapes that do not fit, or only one of table and code.
        IndexError: a label is not a class, or the table names a node that does not exist (also a ValueError).
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.hsigmoid_loss`; Morin & Bengio, "Hierarchical probabilistic neural network
        language model" (2005).

    Examples:
        >>> loss = wherry.nn.functional.hsigmoid_loss(
        ...     wherry.zeros([2, 3]), wherry.to_tensor([0, 1]), 2, wherry.zeros([1, 3]))
        >>> print(loss.numpy().round(4))
        [[0.6931]
         [0.6931]]
    """
    op_name = "hsigmoid_loss"
    require_floating(op_name, input)
    require_tensor(label, op_name, "label")
    require_tensor(weight, op_name, "weight")
    if not label.dtype.is_integer:
        raise InvalidTypeError(
            f"hsigmoid_loss: labels are the numbers of classes. Got dtype {label.dtype.name}, expected int64. "
            f"Cast them with label.astype('int64')."
        )
    if input.ndim != 2 or label.shape not in ([input.shape[0]], [input.shape[0], 1]):
        raise InvalidArgumentError(
            f"hsigmoid_loss: input and label do not fit. Got shapes {input.shape} and {label.shape}, expected [N, D] and "
            f"[N, 1]. Flatten each example first."
        )
    if (path_table is None) != (path_code is None):
        raise InvalidArgumentError(
            "hsigmoid_loss: a custom tree needs its nodes and its branches. Got only one of path_table and path_code, "
            "expected both or none. Leave both out for the default tree."
        )
    if path_table is None:
        node, code = _default_path(label, integer(num_classes, op_name, "num_classes"))
        nodes = num_classes - 1
    else:
        node, code = _given_path(input, path_table, path_code)
        nodes = weight.shape[0] if weight.ndim else 0
    if weight.shape != [nodes, input.shape[1]]:
        raise InvalidArgumentError(
            f"hsigmoid_loss: the weight needs one row for each inner node. Got shape {weight.shape}, expected "
            f"{[nodes, input.shape[1]]}. With num_classes={num_classes} the default tree has {num_classes - 1} nodes."
        )
    if bias is not None and require_tensor(bias, op_name, "bias").shape not in ([nodes], [nodes, 1]):
        raise InvalidArgumentError(
            f"hsigmoid_loss: the bias needs one number for each inner node. Got shape {bias.shape}, expected {[nodes, 1]}. "
            f"Reshape it."
        )
    on_path = node >= 0
    sparse = flag(is_sparse, op_name, "is_sparse")
    # Entries after the end of a path need a valid row: row 0, or for a sparse gradient a row of the path itself.
    other = ops.slice(node, axes=(1,), starts=(0,), ends=(1,), steps=(1,)) if sparse else node
    safe = ops.where(on_path, node, ops.maximum(other, ops.full(shape=(), value=0, dtype=node.dtype)))
    try:
        rows = embedding(safe, weight, sparse=True) if sparse else ops.gather(weight, safe, axis=0)
    except IndexError as error:
        raise InvalidIndexError(
            f"hsigmoid_loss: path_table names a node without a row in the weight. Got {error}, expected nodes in [0, {nodes}). "
            f"Count nodes from 0; -1 ends a path."
        ) from None
    product = ops.matmul(rows, ops.unsqueeze(input, axes=(2,)), transpose_x=False, transpose_y=False)
    product = ops.squeeze(product, axes=(2,))
    if bias is not None:
        product = product + ops.gather(ops.reshape(bias, shape=(nodes,)), safe, axis=0)
    zero = ops.full_like(product, value=0, dtype=product.dtype)
    product = ops.where(on_path, product, zero)
    # As in Paddle, the bound changes the value and lets the gradient through.
    limit = ops.full(shape=(), value=40.0, dtype=product.dtype)
    product = product + (ops.clip(product, -limit, limit) - product).detach()
    taken = ops.where(on_path, to_dtype(code, product.dtype), zero)
    loss = ops.binary_cross_entropy_logits(product, taken)
    return ops.reduce_sum(loss, axes=(1,), keepdim=True)


def _default_path(label: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """Nodes and branches in a complete tree: leaf c has number c + classes, and i has the parent i // 2; the root is 1."""
    if num_classes < 2:
        raise InvalidArgumentError(
            f"hsigmoid_loss: a tree needs two classes. Got num_classes={num_classes}, expected at least 2. "
            f"One class has no loss."
        )
    leaf = ops.reshape(ops.cast(label, dtype=int64), shape=(label.shape[0], 1))
    if leaf.size and at_hand(leaf):
        low, high = (op(leaf, axes=(0, 1), keepdim=False).item() for op in (ops.reduce_min, ops.reduce_max))
        if low < 0 or high >= num_classes:
            raise InvalidIndexError(
                f"hsigmoid_loss: a label is not a class. Got {low if low < 0 else high}, expected labels in [0, {num_classes}). "
                f"Check num_classes."
            )
    elif not is_symbolic(leaf):
        leaf = never_from_the_end(leaf, num_classes)
    leaf = leaf + num_classes
    levels = (num_classes - 1).bit_length()
    power = to_tensor([2**level for level in range(levels + 1)], dtype="int64")
    above = ops.floor_divide(leaf, power)  # the leaf, its parent, and so on
    first, last = ({"axes": (1,), "starts": (start,), "ends": (start + levels,), "steps": (1,)} for start in (0, 1))
    # Node n has row n - 1 of the weight; numbers above the root are 0, so their row is -1.
    return ops.slice(above, **last) - 1, ops.remainder(ops.slice(above, **first), ops.full(shape=(), value=2, dtype=int64))


def _given_path(input: Tensor, path_table: Any, path_code: Any) -> tuple[Tensor, Tensor]:
    for name, path in ("path_table", path_table), ("path_code", path_code):
        require_tensor(path, "hsigmoid_loss", name)
        if not path.dtype.is_integer or path.ndim != 2 or not (
            same_shapes(path.shape[:1], input.shape[:1]) and same_shapes(path.shape, path_table.shape)
        ):
            raise InvalidArgumentError(
                f"hsigmoid_loss: {name} does not describe a path for each example. Got shape {path.shape}, dtype "
                f"{path.dtype.name}, expected integers of shape [{input.shape[0]}, L], the same L for table and code. "
                f"Fill short paths with -1."
            )
    return ops.cast(path_table, dtype=int64), path_code


def ctc_loss(
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
) -> Tensor:
    """CTC loss (connectionist temporal classification), for labels that are not aligned with the steps of the input.

    The loss is the negative log probability of all ways to spread the label over the steps, with blanks
    between symbols and symbols repeated.

    Args:
        log_probs: floating, `[T, B, classes]`, the blank among the classes. Despite the name these are logits:
            softmax is applied here. (Doing it before changes nothing.)
        labels: integers, `[B, L]`; what lies beyond the label lengths is ignored.
        input_lengths: integers, `[B]`; how many steps of each example are used.
        label_lengths: integers, `[B]`; how many symbols each label has.
        blank: the index of the blank among the classes.
        reduction: "mean", "sum" or "none". The mean is that of the losses divided by their label lengths.
        norm_by_times: divide the gradient (not the loss) of each example by its input length.

    Returns:
        The dtype of `log_probs`, in nats. Where no path is long enough for the label, both the loss and its
        gradient are 0.

    Shape:
        The result is 0-d, or `[B]` with "none".

    Raises:
        ValueError: an unknown reduction, shapes that do not fit, a length that is too large, or a symbol that is
            the blank or not a class.
        TypeError: an argument is not a tensor, or has a dtype that does not fit (also a ValueError).

    Source:
        `paddle.nn.functional.ctc_loss`; Graves et al., "Connectionist temporal classification" (2006).

    Examples:
        >>> logits = wherry.zeros([2, 1, 3])  # two steps, each class equally likely
        >>> one = wherry.to_tensor([1])
        >>> loss = wherry.nn.functional.ctc_loss(logits, wherry.to_tensor([[1]]), one * 2, one)
        >>> print(loss.numpy().round(4))  # of nine paths, three give the label: 1 1, 1 blank, blank 1
        1.0986
    """
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction("ctc_loss", reduction)
    tensors = {"log_probs": log_probs, "labels": labels, "input_lengths": input_lengths, "label_lengths": label_lengths}
    for name, tensor in tensors.items():
        require_tensor(tensor, "ctc_loss", name)
        wanted = "floating" if name == "log_probs" else "integer"
        if not (tensor.dtype.is_floating if name == "log_probs" else tensor.dtype.is_integer):
            raise InvalidTypeError(
                f"ctc_loss: {name} has the wrong dtype. Got {tensor.dtype.name}, expected a {wanted} one. "
                f"Cast it with {name}.astype('{'float32' if wanted == 'floating' else 'int64'}')."
            )
    if log_probs.ndim != 3:
        raise InvalidArgumentError(
            f"ctc_loss: log_probs has three axes. Got shape {log_probs.shape}, expected [T, B, classes]. "
            f"For one example add the axis of the batch with unsqueeze(1)."
        )
    loss, _ = ops.ctc_loss(
        ops.log_softmax(log_probs, axis=2), labels, input_lengths, label_lengths,
        blank=integer(blank, "ctc_loss", "blank"), norm_by_times=bool(norm_by_times),
    )
    if reduction == "mean":
        one = ops.full(shape=(), value=1, dtype=label_lengths.dtype)
        return mean(loss / ops.cast(ops.maximum(label_lengths, one), dtype=loss.dtype))
    return reduced(loss, reduction)


spelled(globals())
