"""`einsum` and `tensordot`. Einstein summation is planned as a sequence of products of two operands.

The equation is read once for each set of ranks. Each operand loses what it alone sums (repeated
letters become diagonals, letters that occur nowhere else are summed), and then the pair whose product
shrinks the data most is contracted, until one operand is left: the greedy order of Smith & Gray,
"opt_einsum" (2018). A pair that sums over something is a (batched) matrix product, one that sums
over nothing an element-wise one.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import one_axis, refused, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.creation import diag_embed
from wherry_tensor.ops.shapes import UNKNOWN
from wherry_tensor.sizes import equals
from wherry_tensor.spellings import spelled

__all__ = ["einsum", "tensordot"]

# A label is a letter, or for the axes that `...` stands for a number: -1 for the last, -2, ...
Label = str | int
Labels = tuple[Label, ...]

_GUESS = 1 << 10  # for the cost of what an unknown size is part of


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Einstein summation: sums of products over named axes.

    Args:
        equation: a letter for each axis of each operand, operands apart by commas, and after `->` the
            letters of the result: "ij,jk->ik" is a matrix product. Letters that the result lacks are
            summed over; a letter twice in one operand takes the diagonal, twice in the result makes one. `...` stands for any further
            axes, which broadcast. Without `->` the result has the letters that occur once, in the order of
            the alphabet, after the axes of `...`.
        operands: tensors of one dtype.

    Shape:
        What the equation says: `[i, j]` and `[j, k]` to `[i, k]` for "ij,jk->ik".

    Raises:
        TypeError: the dtypes differ, or an operand is not a Tensor (also a ValueError, as in Paddle).
        ValueError: the equation does not fit the operands, or a letter has two sizes.

    Source:
        `paddle.einsum`; contraction order after Smith & Gray, "opt_einsum", 2018.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.einsum("ij,jk->ik", x, x).tolist())
        [[7.0, 10.0], [15.0, 22.0]]
        >>> print(wherry.einsum("ii", x).item())
        5.0
    """
    if not isinstance(equation, str):
        raise InvalidTypeError(
            f"einsum: the equation must be text. Got {type(equation).__name__}, expected a str. Write einsum('ij,jk->ik', x, y)."
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    for i, x in enumerate(operands):
        require_tensor(x, "einsum", f"operands[{i}]")
    inputs, output = _parsed(equation, tuple([x.ndim for x in operands]))
    sizes = _sizes(equation, inputs, operands)
    if len({x.dtype for x in operands}) > 1:
        raise refused("einsum", TypeError(), **{f"operands[{i}]": x for i, x in enumerate(operands)})
    terms = [_without_repeats(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    while len(terms) > 1:
        a, b = _next_pair([labels for _, labels in terms], output, sizes)
        (y, of_y), (x, of_x) = terms.pop(b), terms.pop(a)
        kept = set(output).union(*[labels for _, labels in terms])
        terms.append(_contracted(x, of_x, y, of_y, kept, sizes))
    x, labels = _summed(*terms[0], set(output))
    return _put_in_order(x, labels, output)


def _put_in_order(x: Tensor, labels: Labels, output: Labels) -> Tensor:
    for b, label in enumerate(output):
        a = output.index(label)
        if a < b:  # twice in the result: a diagonal there, and zeros beside it
            rest = (*[other for at, other in enumerate(output) if at not in (a, b)], label)
            return diag_embed(_put_in_order(x, labels, rest), 0, a, b)
    perm = tuple([labels.index(label) for label in output])
    return x if perm == tuple(range(len(perm))) else ops.transpose(x, perm)


# Reading the equation.


@lru_cache(maxsize=512)
def _parsed(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand, and of the result."""
    left, *rest = equation.replace(" ", "").split("->")
    if len(rest) > 1:
        raise _bad(equation, "there are several arrows", "at most one `->`", "Write the result once, at the end")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise _bad(
            equation, f"it names {len(terms)} operands", f"as many as there are, {len(ranks)}", "Separate operands by commas"
        )
    hidden = [_hidden_axes(equation, term, rank, i) for i, (term, rank) in enumerate(zip(terms, ranks, strict=True))]
    inputs = tuple([_labels(term, n) for term, n in zip(terms, hidden, strict=True)])
    widest = max(hidden, default=0)
    if rest:
        _check_letters(equation, rest[0], "the result")
        output = _labels(rest[0], widest)
        known = {label for labels in inputs for label in labels}
        for label in output:
            if label not in known:
                raise _bad(
                    equation, f"the result has '{label}', which no operand has", "letters of the operands", "Remove it"
                )
    else:
        letters = left.replace("...", "").replace(",", "")
        output = (*range(-widest, 0), *sorted(c for c in set(letters) if letters.count(c) == 1))
    return inputs, output


def _hidden_axes(equation: str, term: str, rank: int, i: int) -> int:
    """How many axes `...` stands for in an operand."""
    _check_letters(equation, term, f"operand {i}")
    letters = len(term.replace("...", ""))
    if letters > rank or (letters < rank and "..." not in term):
        raise _bad(
            equation, f"operand {i} is '{term}' and has rank {rank}", "a letter for each axis, or `...`", "Name all axes"
        )
    return rank - letters


def _check_letters(equation: str, term: str, whose: str) -> None:
    rest = term.replace("...", "", 1)
    for c in rest:
        if not (c.isascii() and c.isalpha()):
            raise _bad(equation, f"'{c}' in {whose} is not a label", "letters, and `...` at most once", "Use a to z and A to Z")


def _labels(term: str, hidden: int) -> Labels:
    before, dots, after = term.partition("...")
    return (*before, *(range(-hidden, 0) if dots else ()), *after)


def _bad(equation: str, what: str, expected: str, remedy: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"einsum: {what}. Got the equation '{equation}', expected {expected}. {remedy}.")


def _sizes(equation: str, inputs: tuple[Labels, ...], operands: Sequence[Tensor]) -> dict[Label, int]:
    sizes: dict[Label, int] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for label, size in zip(labels, x.shape, strict=True):
            have = sizes.setdefault(label, size)
            if have == UNKNOWN or (equals(have, 1) and isinstance(label, int)):
                sizes[label] = size
            elif size == UNKNOWN or have == size:
                continue  # the known one, which the product asks for when it runs
            elif not (size == 1 and isinstance(label, int)):
                name = f"'{label}'" if isinstance(label, str) else f"axis {label} of `...`"
                raise _bad(
                    equation, f"{name} has the sizes {have} and {size} in shapes {', '.join(str(o.shape) for o in operands)}",
                    "one size for each label", "Give different axes different letters",
                )
    return sizes


# Contracting.


def _without_repeats(x: Tensor, labels: Labels) -> tuple[Tensor, Labels]:
    """Diagonals instead of letters that occur twice."""
    while len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        a = labels.index(twice)
        b = labels.index(twice, a + 1)
        x = ops.diagonal(x, 0, a, b)
        labels = (*[label for at, label in enumerate(labels) if at not in (a, b)], twice)
    return x, labels


def _summed(x: Tensor, labels: Labels, kept: set[Label]) -> tuple[Tensor, Labels]:
    """`x` summed over what nobody else has."""
    axes = tuple([at for at, label in enumerate(labels) if label not in kept])
    if not axes:
        return x, labels
    return ops.reduce_sum(x, axes=axes, keepdim=False), tuple([label for label in labels if label in kept])


def _next_pair(terms: list[Labels], output: Labels, sizes: dict[Label, int]) -> tuple[int, int]:
    """The pair whose product shrinks the data most (or lets it grow least)."""
    if len(terms) == 2:
        return 0, 1

    def amount(labels: set[Label]) -> int:
        total = 1
        for label in labels:
            total *= _GUESS if sizes[label] == UNKNOWN else sizes[label]
        return total

    best: tuple[int, int, int, int] | None = None
    for a in range(len(terms)):
        for b in range(a + 1, len(terms)):
            both = set(terms[a]) | set(terms[b])
            kept = both & set(output).union(*[labels for at, labels in enumerate(terms) if at not in (a, b)])
            growth = amount(kept) - amount(set(terms[a])) - amount(set(terms[b]))
            candidate = (growth, amount(both), a, b)
            best = candidate if best is None or candidate < best else best
    assert best is not None
    return best[2], best[3]


def _contracted(
    x: Tensor, of_x: Labels, y: Tensor, of_y: Labels, kept: set[Label], sizes: dict[Label, int]
) -> tuple[Tensor, Labels]:
    """The product of two operands, summed over what neither the result nor another operand has."""
    x, of_x = _summed(x, of_x, kept | set(of_y))
    y, of_y = _summed(y, of_y, kept | set(of_x))
    batch = [label for label in of_x if label in of_y and label in kept]
    inner = [label for label in of_x if label in of_y and label not in kept]
    rows = [label for label in of_x if label not in of_y]
    columns = [label for label in of_y if label not in of_x]
    for label in inner:  # only axes of `...` may differ, by being 1
        x, y = _spread(x, of_x, label, sizes), _spread(y, of_y, label, sizes)
    if not inner:
        # Nothing to sum: axes that the other lacks have size 1 there.
        left = _arranged(x, of_x, [*batch, *rows], [1] * len(columns))
        right = _arranged(y, of_y, [*batch, *columns], None)
        if rows:
            right = ops.unsqueeze(right, tuple(range(len(batch), len(batch) + len(rows))))
        return ops.multiply(left, right), (*batch, *rows, *columns)
    left = _matrix(x, of_x, batch, rows, inner)
    right = _matrix(y, of_y, batch, inner, columns)
    out = ops.matmul(left, right, False, False)
    shape = out.shape[: len(batch)]
    shape += [_size_in(x, of_x, label) for label in rows] + [_size_in(y, of_y, label) for label in columns]
    if len(rows) != 1 or len(columns) != 1:
        out = ops.reshape(out, tuple(shape))
    return out, (*batch, *rows, *columns)


def _size_in(x: Tensor, labels: Labels, label: Label) -> int:
    return x.shape[labels.index(label)]


def _spread(x: Tensor, labels: Labels, label: Label, sizes: dict[Label, int]) -> Tensor:
    at = labels.index(label)
    shape = x.shape
    if isinstance(label, str) or not equals(shape[at], 1) or equals(sizes[label], 1):
        return x
    shape[at] = sizes[label]
    return ops.broadcast_to(x, tuple(shape))


def _arranged(x: Tensor, labels: Labels, order: list[Label], added: list[int] | None) -> Tensor:
    perm = tuple([labels.index(label) for label in order])
    if perm != tuple(range(len(perm))):
        x = ops.transpose(x, perm)
    return ops.unsqueeze(x, tuple(range(x.ndim, x.ndim + len(added)))) if added else x


def _matrix(x: Tensor, labels: Labels, batch: list[Label], rows: list[Label], columns: list[Label]) -> Tensor:
    """`x` as matrices: batch axes, then `rows` merged into one axis and `columns` into another."""
    x = _arranged(x, labels, [*batch, *rows, *columns], None)
    if len(rows) == 1 and len(columns) == 1:
        return x
    shape = x.shape
    lead, n = len(batch), len(batch) + len(rows)
    return ops.reshape(x, (*shape[:lead], _product(shape[lead:n]), _product(shape[n:])))


def _product(sizes: list[int]) -> int:
    total = 1
    for size in sizes:
        total = UNKNOWN if UNKNOWN in (size, total) else total * size
    return total


def tensordot(x: Tensor, y: Tensor, axes: Any = 2, name: str | None = None) -> Tensor:
    """Tensor contraction: sums of products over pairs of axes.

    Args:
        x: floating (or integer) tensor.
        y: of the dtype of `x`.
        axes: an int n: the last n axes of `x` with the first n of `y`. A list of ints: these axes in both.
            Two lists (or tensors): axes of `x`, and for each its partner in `y`; a shorter list is filled
            up with the other's.

    Returns:
        The axes of `x` that are left, then those of `y`.

    Shape:
        `[a..., c...]` and `[c..., b...]` to `[a..., b...]`: the contracted axes go.

    Raises:
        ValueError: paired axes have different sizes, or are out of range.

    Source:
        `paddle.tensordot`.

    Examples:
        >>> x = wherry.ones([2, 3, 4])
        >>> wherry.tensordot(x, wherry.ones([4, 3, 5]), axes=[[1, 2], [1, 0]]).shape
        [2, 5]
    """
    require_tensor(x, "tensordot")
    require_tensor(y, "tensordot", "y")
    of_x, of_y = _paired_axes(x, y, axes)
    have_x, have_y = x.shape, y.shape
    for a, b in zip(of_x, of_y, strict=True):
        if have_x[a] != have_y[b] and -1 not in (have_x[a], have_y[b]):
            raise InvalidArgumentError(
                f"tensordot: paired axes must have one size. Got size {have_x[a]} for axis {a} of x and {have_y[b]} for axis "
                f"{b} of y, shapes {have_x} and {have_y}, axes={axes}, expected equal sizes. Pair other axes."
            )
    free_x = [a for a in range(x.ndim) if a not in of_x]
    free_y = [b for b in range(y.ndim) if b not in of_y]

    def size_of(shape: list[int], chosen: Sequence[int]) -> int:
        total = 1
        for a in chosen:
            total = UNKNOWN if shape[a] == UNKNOWN or total == UNKNOWN else total * shape[a]
        return total

    inner = size_of(have_x, of_x)
    left = ops.reshape(ops.transpose(x, (*free_x, *of_x)), (size_of(have_x, free_x), inner))
    right = ops.reshape(ops.transpose(y, (*of_y, *free_y)), (inner, size_of(have_y, free_y)))
    try:
        product = ops.matmul(left, right, transpose_x=False, transpose_y=False)
    except TypeError as error:
        raise refused("tensordot", error, x=x, y=y) from None
    return ops.reshape(product, tuple([have_x[a] for a in free_x] + [have_y[b] for b in free_y]))


def _paired_axes(x: Tensor, y: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, int) and not isinstance(axes, bool):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise InvalidArgumentError(
                f"tensordot: axes is out of range. Got axes={axes} for shapes {x.shape} and {y.shape}, expected a count "
                f"in [0, {min(x.ndim, y.ndim)}]. Name the axes in two lists."
            )
        return list(range(x.ndim - axes, x.ndim)), list(range(axes))
    if not isinstance(axes, (list, tuple)):
        raise InvalidTypeError(
            f"tensordot: 'axes' must name axes. Got {type(axes).__name__}, expected an int, a list, or two lists. "
            f"Write axes=1 for a matrix product."
        )
    parts = [part.tolist() if isinstance(part, Tensor) else part for part in axes]
    if not all(isinstance(part, (int, list, tuple)) for part in parts):
        raise InvalidTypeError(
            f"tensordot: 'axes' must name axes. Got {short(axes)}, expected an int, a list of ints, or two lists. Write axes=[0, 1]."
        )
    if all(isinstance(part, int) for part in parts):
        pairs = [parts, parts]
    elif len(parts) == 1:
        pairs = [list(parts[0]), list(parts[0])]
    else:
        pairs = [[part] if isinstance(part, int) else list(part) for part in parts[:2]]
    fewer, more = sorted(pairs, key=len)
    fewer += more[len(fewer) :]
    found = []
    for chosen, tensor, which in ((pairs[0], x, "x"), (pairs[1], y, "y")):
        if chosen and not tensor.ndim:
            raise InvalidArgumentError(
                f"tensordot: {which} has no axes. Got axes={short(axes)} for shape [], expected axes=0. Multiply by it instead."
            )
        found.append([one_axis(a, tensor.ndim, "tensordot", name=f"an axis of {which},") for a in chosen])
        if len(set(found[-1])) != len(found[-1]):
            raise InvalidArgumentError(
                f"tensordot: an axis of {which} is named twice. Got axes={axes} for shape {tensor.shape}, expected each once. "
                f"Remove the repeat."
            )
    return found[0], found[1]


spelled(globals())
