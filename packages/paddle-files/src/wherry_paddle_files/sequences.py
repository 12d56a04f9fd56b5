"""Sequences of different lengths in programs: a variable that holds their rows knows the variables that hold their offsets.

Offsets say which sequence a row belongs to, `[0, 2, 5]` for one of two rows and one of three (Paddle's "level of detail", LoD). Offsets may be
nested: those of an outer level count sequences of the next one. What is fed has them as variables that are fed beside it, which `program.feeds` does
not list: an Executor takes them from a LoDTensor, a predictor from `set_lod`, and `feed_offsets` lists them for those who know neither.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from wherry_program.program.best_paths import best_paths
from wherry_program.program.control import array_append, array_stack, assert_true, create_array, while_loop
from wherry_program.program.ir import Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.sizes import Size

__all__ = [
    "FedOffsets", "Rows", "carried", "expanded", "fault_of_offsets", "feed_offsets", "keeps_offsets", "kept", "known_offsets", "number", "offsets_of",
    "padded", "pooled", "reversed_rows", "rows_of", "rows_of_lengths", "size", "unpadded", "windows", "with_new_offsets", "with_offsets",
]

MOST_LEVELS = 16
Function = TypeVar("Function", bound=Callable[..., Any])


# Which variable has which offsets.

def offsets_of(x: Any, what: str) -> tuple[Tensor, ...]:
    """The variables with the offsets of the sequences in `x`, from the outermost level in.

    Raises:
        ValueError: `x` holds no sequences.
    """
    found = known_offsets(x)
    if not found:
        name = getattr(x, "name", None)
        raise InvalidArgumentError(
            f"{what}: the input holds no sequences. Got '{name}' without offsets, expected rows of sequences. Declare "
            f"static.data(..., lod_level=1) and feed static.create_lod_tensor(array, [lengths]). What other functions than those of static.nn "
            f"compute from it loses the offsets: static.nn.sequence_expand_as and sequence_unpad give them back."
        )
    return found


def known_offsets(x: Any) -> tuple[Any, ...]:
    """The same, () where there are none. Element-wise functions of one input hand on what it has."""
    while isinstance(x, Variable):
        found = x.__dict__.get("offsets")
        if found is not None:
            return found  # type: ignore[no-any-return]
        node = x.made_by
        if node is None or not node.inputs or node.op.name not in _ROW_BY_ROW:
            return ()
        x = next((one for one in node.inputs if isinstance(one, Variable) and one.ndim == x.ndim and one.bound is None and not one.persistable), None)
    return ()


_ROW_BY_ROW = frozenset(
    "abs add cast ceil copy cos divide dropout dropout_add elu exp floor gelu leaky_relu linear log multiply negate relu relu6 round rsqrt sigmoid "
    "sign silu sin softplus sqrt square subtract swish tanh maximum minimum softmax".split()
)


def with_offsets(x: Tensor, offsets: Sequence[Tensor]) -> Tensor:
    """`x` as rows of sequences with these offsets."""
    if isinstance(x, Variable) and offsets:
        x.__dict__["offsets"] = tuple(offsets)
        x.lod_level = len(offsets)
        x.block.program.__dict__["holds_sequences"] = True
    return x


def keeps_offsets(function: Function) -> Function:
    """A function whose result has a row for each row of its first argument."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        first = args[0] if args else next(iter(kwargs.values()), None)
        first = first[0] if isinstance(first, (list, tuple)) and first else first
        if isinstance(out, Variable) and isinstance(first, Variable):
            with_offsets(out, known_offsets(first))
        return out

    return called  # type: ignore[return-value]


# Offsets as numbers.

def fault_of_offsets(levels: Sequence[Sequence[int]], rows: int | None) -> str | None:
    """What is wrong with offsets of so many rows (None: any number); None if nothing is."""
    for i, level in enumerate(levels):
        if len(level) < 2 or level[0] != 0 or any(a > b for a, b in zip(level, level[1:])):
            return "levels of offsets that begin with 0 and grow"
        if i + 1 < len(levels) and level[-1] != len(levels[i + 1]) - 1:
            return "levels of which each ends with the number of sequences of the next one"
    if levels and rows is not None and levels[-1][-1] != rows:
        return f"offsets whose last level ends with the number of rows, {rows}"
    return None


class FedOffsets:
    """The offsets among the inputs and outputs of a program, which stand after all others.

    Attributes:
        fed: for each input the number of its levels.
        needed: for each input whether the program computes with its offsets.
        fetched: for each output where each level is: a position among the inputs' offsets, or after them among those of the outputs.
    """

    __slots__ = ("fed", "fetched", "needed")

    def __init__(self, fed: list[int], needed: list[bool], fetched: list[list[int]]) -> None:
        self.fed, self.needed, self.fetched = fed, needed, fetched


def feed_offsets(program: Program) -> FedOffsets | None:
    """List the offsets of what is fed in `program.feeds`, after all others, and those that it computes in `program.fetches`; None: it has none."""
    if not any(["offsets" in x.__dict__ for x in (*program.feeds, *program.fetches)]):  # noqa: C419  mostly; a generator takes longer
        return None
    per_feed = [x.__dict__.get("offsets", ()) for x in program.feeds]
    per_fetch = [x.__dict__.get("offsets", ()) for x in program.fetches]
    places: dict[int, int] = {}
    for one in (each for levels in per_feed for each in levels):
        places[id(one)] = len(places)
        program.feeds.append(one)
    if not places and not any(per_fetch):
        return None
    for one in (each for levels in per_fetch for each in levels):
        if id(one) not in places:
            places[id(one)] = len(places)
            program.fetches.append(one)
    needed = [x.__dict__.get("needs_offsets", True) for x, _ in zip(program.feeds, per_feed)]
    return FedOffsets([len(levels) for levels in per_feed], needed, [[places[id(one)] for one in levels] for levels in per_fetch])


# Rows and the sequences that they belong to.

class Rows:
    """The layout of the rows of sequences.

    Attributes:
        offsets: int64, one more than there are sequences.
        starts, ends: of each sequence.
        lengths: of each sequence.
        row: the number of each row.
        sequence: the sequence that each row belongs to.
    """

    def __init__(self, offsets: Tensor, n_rows: Any) -> None:
        self.offsets = offsets
        self.starts, self.ends = offsets[:-1], offsets[1:]
        self.lengths = ops.subtract(self.ends, self.starts)
        self.row = ops.arange(start=0, step=1, length=n_rows, dtype=int64)
        self.sequence = ops.searchsorted(self.ends, self.row, right=True)

    @property
    def n(self) -> Any:
        """The number of sequences."""
        return self.lengths.shape[0]

    @property
    def position(self) -> Tensor:
        """The position of each row in its sequence."""
        return ops.subtract(self.row, self.of(self.starts))

    @property
    def longest(self) -> Tensor:
        """The length of the longest sequence."""
        return ops.reduce_max(self.lengths, (0,), False)

    def of(self, x: Tensor) -> Tensor:
        """For each row, the entry of `x` for its sequence."""
        return ops.gather(x, self.sequence, axis=0)


def number(value: int) -> Tensor:
    """An integer of the program."""
    return ops.full(shape=(), value=value, dtype=int64)


def size(x: Tensor, axis: int) -> Tensor:
    """A size of `x` as an integer of the program."""
    n = x.shape[axis]
    return n.tensor() if isinstance(n, Size) else number(n)


def _total(x: Tensor) -> Tensor:
    return size(x, 0)


def _column(x: Tensor, like: Tensor) -> Tensor:
    """One number for each row, shaped to be combined with rows."""
    return ops.unsqueeze(x, tuple(range(1, like.ndim))) if like.ndim > 1 else x


def rows_of(x: Tensor, what: str) -> Rows:
    """The rows of the sequences in `x`.

    Raises:
        ValueError: `x` holds no sequences.
    """
    return Rows(offsets_of(x, what)[-1], x.shape[0])


def rows_of_lengths(lengths: Tensor) -> Rows:
    """The rows that sequences of these lengths have."""
    zero = ops.full(shape=(1,), value=0, dtype=int64)
    ends = ops.cumsum(lengths, axis=0, reverse=False)
    total = ops.reduce_sum(lengths, (0,), False)
    return Rows(ops.concat(zero, ends, axis=0), Size("value", total))


def with_new_offsets(x: Tensor, offsets: Tensor, outer: Sequence[Tensor], what: str) -> Tensor:
    """A copy of `x` with other offsets, which are looked at when the program runs."""
    fits = ops.equal(offsets[-1], _total(x))
    assert_true(fits, f"{what}: the last offset is not the number of rows.")
    return with_offsets(ops.copy(x), (*outer, offsets))


# What the functions of sequences compute.

def padded(x: Tensor, rows: Rows, pad_value: Tensor, most: int | None, what: str) -> Tensor:
    """`[sequences, longest or most, ...]`: the rows of each sequence, then `pad_value`."""
    longest = rows.longest if most is None else number(most)
    length: Any = Size("value", longest) if most is None else most
    at = ops.add(ops.multiply(rows.sequence, longest), rows.position)
    if most is not None:
        assert_true(ops.less_equal(rows.longest, longest), f"{what}: a sequence is longer than maxlen={most}.")
    value = ops.cast(pad_value, dtype=x.dtype) if pad_value.dtype is not x.dtype else pad_value
    if pad_value.ndim == 1 and pad_value.shape[0] == 1:
        value = ops.reshape(value, shape=())
    base = ops.broadcast_to(value, shape=(rows.n * length, *x.shape[1:]))
    filled = ops.scatter(ops.copy(base), at, x, overwrite=True)
    return ops.reshape(filled, shape=(rows.n, length, *x.shape[1:]))


def unpadded(x: Tensor, lengths: Tensor) -> Tensor:
    """The first `lengths` steps of each row of `[sequences, steps, ...]`, one after the other."""
    rows = rows_of_lengths(ops.reshape(ops.cast(lengths, dtype=int64), shape=(x.shape[0],)))
    at = ops.add(ops.multiply(rows.sequence, size(x, 1)), rows.position)
    flat = ops.reshape(x, shape=(x.shape[0] * x.shape[1], *x.shape[2:]))
    return with_offsets(ops.gather(flat, at, axis=0), (rows.offsets,))


def pooled(x: Tensor, kind: str, pad_value: float, what: str) -> Tensor:
    """One row for each sequence: "sum", "average", "sqrt", "max", "first" or "last" of its rows; `pad_value` where it has none."""
    rows = rows_of(x, what)
    if kind in ("first", "last"):
        at = rows.starts if kind == "first" else ops.subtract(rows.ends, number(1))
        limit = ops.subtract(_total(x), number(1))
        out = ops.gather(x, ops.maximum(ops.minimum(at, limit), number(0)), axis=0)
    elif kind == "max":
        lowest = float("-inf") if x.dtype.is_floating else -(2**31)
        out = ops.reduce_max(padded(x, rows, ops.full(shape=(), value=lowest, dtype=x.dtype), None, what), (1,), False)
    else:
        zeros = ops.full(shape=(rows.n, *x.shape[1:]), value=0, dtype=x.dtype)
        out = ops.scatter_nd_add(zeros, ops.unsqueeze(rows.sequence, (1,)), x)
        if kind != "sum":
            length = ops.cast(ops.maximum(rows.lengths, number(1)), dtype=x.dtype)
            out = ops.divide(out, _column(ops.sqrt(length) if kind == "sqrt" else length, out))
    has_rows = _column(ops.greater_than(rows.lengths, number(0)), out)
    return with_offsets(ops.where(has_rows, out, ops.full(shape=(), value=pad_value, dtype=x.dtype)), known_offsets(x)[:-1])


def softmax(x: Tensor, what: str) -> Tensor:
    """Softmax over each sequence."""
    rows, offsets = rows_of(x, what), offsets_of(x, what)
    fixed = with_offsets(ops.copy(x.detach()), offsets)
    e = ops.exp(ops.subtract(x, rows.of(pooled(fixed, "max", 0.0, what))))
    total = pooled(with_offsets(e, offsets), "sum", 0.0, what)
    return with_offsets(ops.divide(e, rows.of(total)), offsets)


def reversed_rows(x: Tensor, what: str) -> Tensor:
    """Each sequence from its end."""
    rows = rows_of(x, what)
    at = ops.subtract(ops.add(rows.of(rows.starts), rows.of(rows.ends)), ops.add(rows.row, number(1)))
    return with_offsets(ops.gather(x, at, axis=0), offsets_of(x, what))


def joined(inputs: Sequence[Tensor], what: str) -> Tensor:
    """All first sequences of the inputs, then all second ones, and so on."""
    parts = [rows_of(x, what) for x in inputs]
    lengths = parts[0].lengths
    for part in parts[1:]:
        lengths = ops.add(lengths, part.lengths)
    whole = rows_of_lengths(lengths)
    before: Any = None
    targets = []
    for part in parts:
        start = whole.starts if before is None else ops.add(whole.starts, before)
        targets.append(ops.add(part.of(start), part.position))
        before = part.lengths if before is None else ops.add(before, part.lengths)
    rows = ops.concat(*inputs, axis=0)
    out = ops.scatter(ops.full_like(rows, value=0, dtype=rows.dtype), ops.concat(*targets, axis=0), rows, overwrite=True)
    return with_offsets(out, (whole.offsets,))


def expanded(x: Tensor, y: Tensor, level: int, what: str) -> Tensor:
    """Each row of `x`, or each of its sequences, as often as the sequence of `y` at this level has entries."""
    levels = offsets_of(y, what)
    if not -1 <= level < len(levels):
        raise InvalidArgumentError(f"{what}: ref_level is out of range. Got {level}, expected -1 or a level in [0, {len(levels)}).")
    offsets = levels[level]
    copies = rows_of_lengths(ops.subtract(offsets[1:], offsets[:-1]))
    own = known_offsets(x)
    if not own:
        return ops.gather(x, copies.sequence, axis=0)
    mine = Rows(own[-1], x.shape[0])
    rows = rows_of_lengths(copies.of(mine.lengths))
    at = ops.add(rows.of(copies.of(mine.starts)), rows.position)
    return with_offsets(ops.gather(x, at, axis=0), (rows.offsets,))


def expanded_as(x: Tensor, y: Tensor, what: str) -> Tensor:
    """Each row of `x` as often as the sequence of `y` with the same index has rows; the result has the sequences of `y`."""
    return with_offsets(ops.gather(x, rows_of(y, what).sequence, axis=0), offsets_of(y, what))


def sliced(x: Tensor, offset: Tensor, length: Tensor, what: str) -> Tensor:
    """A slice of each sequence: `length` rows from the row `offset` on."""
    whole = rows_of(x, what)
    begin, many = (ops.reshape(ops.cast(v, dtype=int64), shape=(whole.n,)) for v in (offset, length))
    least = ops.minimum(ops.reduce_min(begin, (0,), False), ops.reduce_min(many, (0,), False))
    room = ops.reduce_min(ops.subtract(whole.lengths, ops.add(begin, many)), (0,), False)
    assert_true(ops.greater_equal(ops.minimum(least, room), number(0)), f"{what}: a slice is not inside of its sequence.")
    rows = rows_of_lengths(many)
    at = ops.add(rows.of(ops.add(whole.starts, begin)), rows.position)
    return with_offsets(ops.gather(x, at, axis=0), (rows.offsets,))


def reshaped(x: Tensor, width: int, what: str) -> Tensor:
    """The rows `[rows, ...]` of sequences with another width; the number of elements of each sequence stays."""
    elements = ops.multiply(offsets_of(x, what)[-1], number(x.shape[1]))
    new = ops.floor_divide(elements, number(width))
    whole = ops.reduce_all(ops.equal(ops.multiply(new, number(width)), elements), (0,), False)
    assert_true(whole, f"{what}: the elements of a sequence do not make whole rows of {width}.")
    return with_offsets(ops.reshape(x, shape=(-1, width)), (new,))


def enumerated(x: Tensor, wide: int, pad_value: int, what: str) -> Tensor:
    """For each row of integers, the window of `wide` rows that begins there."""
    rows = rows_of(x, what)
    flat = ops.reshape(x, shape=(x.shape[0],))
    end, last = rows.of(rows.ends), ops.subtract(_total(x), number(1))
    pad = ops.full(shape=(), value=pad_value, dtype=x.dtype)
    columns = []
    for i in range(wide):
        at = ops.add(rows.row, number(i))
        there = ops.gather(flat, ops.minimum(at, last), axis=0)
        columns.append(ops.unsqueeze(ops.where(ops.less_than(at, end), there, pad), (1,)))
    return with_offsets(ops.concat(*columns, axis=1), offsets_of(x, what))


def kept(x: Tensor, stays: Tensor, what: str) -> Tensor:
    """The rows for which `stays` is true; how many are left of each sequence, sums say."""
    before = ops.concat(ops.full(shape=(1,), value=0, dtype=int64), ops.cumsum(ops.cast(stays, dtype=int64), axis=0, reverse=False), axis=0)
    found = ops.gather(x, ops.squeeze(ops.nonzero(stays), (1,)), axis=0)
    return with_offsets(found, (*known_offsets(x)[:-1], ops.gather(before, offsets_of(x, what)[-1], axis=0)))


def scattered(x: Tensor, index: Tensor, updates: Tensor, what: str) -> Tensor:
    """`x` with the updates of the sequence with the same index added to each row, at the columns in `index`."""
    rows = rows_of(index, what)
    column = ops.reshape(ops.cast(index, dtype=int64), shape=(index.shape[0], 1))
    at = ops.concat(ops.unsqueeze(rows.sequence, (1,)), column, axis=1)
    return ops.scatter_nd_add(x, at, ops.reshape(updates, shape=(updates.shape[0],)))


def windows(x: Tensor, first: int, wide: int, what: str) -> list[Tensor]:
    """For each row the rows from `first` on beside it, `wide` of them; zeros beyond the ends of its sequence."""
    rows = rows_of(x, what)
    start, end = rows.of(rows.starts), rows.of(rows.ends)
    zero, last = number(0), ops.subtract(_total(x), number(1))
    parts = []
    for i in range(wide):
        at = ops.add(rows.row, number(first + i))
        inside = ops.logical_and(ops.greater_equal(at, start), ops.less_than(at, end))
        there = ops.gather(x, ops.maximum(ops.minimum(at, last), zero), axis=0)
        parts.append(ops.where(_column(inside, x), there, ops.full(shape=(), value=0, dtype=x.dtype)))
    return parts


_TOGETHER = 8  # steps in one round of a loop, which costs as much as several small products


def carried(
    x: Tensor, rows: Rows, first: Sequence[Tensor], step: Callable[..., Sequence[Tensor]], backwards: bool = False,
) -> list[Tensor]:
    """States that are carried along each sequence.

    Args:
        x: `[rows, width]`; its sequences go on side by side, one step after the other.
        rows: of `x`.
        first: of each state, `[sequences, width]`.
        step: takes `[sequences, width]`, a row of each sequence, and the states; returns the new ones. After a sequence has ended it is called with
            any row of `x`, and what it says is not used.
        backwards: go from the last row of each sequence to its first one.

    Returns:
        For each state its values after each row, `[rows, width]`.
    """
    one, last, longest = number(1), ops.subtract(_total(x), number(1)), rows.longest
    steps, many = Size("value", longest), rows.n
    at = ops.unsqueeze(ops.arange(start=0, step=1, length=steps, dtype=int64), (1,))
    row = ops.subtract(ops.subtract(rows.ends, one), at) if backwards else ops.add(rows.starts, at)
    row = ops.maximum(ops.minimum(row, last), number(0))
    by_time = ops.reshape(ops.gather(x, ops.reshape(row, shape=(-1,)), axis=0), shape=(steps, many, x.shape[1]))
    begin, states = number(0), list(first)
    parts: list[list[Tensor]] = [[] for _ in first]
    turns = []
    for together in (_TOGETHER, 1):  # what is left goes step by step: of wide states, none is computed in vain
        turns.append(begin)
        begin, states, found = _steps(by_time, begin, longest, states, step, together)
        for part, y in zip(parts, found):
            part.append(y)
    after = ops.subtract(ops.subtract(rows.of(rows.ends), one), rows.row) if backwards else rows.position
    # Each part begins with as many states as one of its rounds gives.
    before = ops.add(ops.cast(ops.greater_equal(after, turns[1]), dtype=int64), number(_TOGETHER))
    place = ops.add(ops.multiply(ops.add(after, before), size(rows.lengths, 0)), rows.sequence)
    return [ops.gather(ops.concat(*part, axis=0), place, axis=0) for part in parts]


def _steps(
    by_time: Tensor, begin: Tensor, end: Tensor, first: list[Tensor], step: Callable[..., Sequence[Tensor]], together: int,
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Steps from `begin` on, so many in each round of a loop; gives where they ended, the states there, and all states as rows, after those of
    a round that are only there because lists are not empty."""
    many = number(together)

    def onwards(at: Tensor, *values: Any) -> list[Any]:
        places = ops.add(ops.arange(start=0, step=1, length=together, dtype=int64), at)
        there = ops.gather(by_time, places, axis=0)
        states: list[Sequence[Tensor]] = [values[: len(first)]]
        for i in range(together):
            states.append(step(ops.select(there, axis=0, index=i), *states[-1]))
        made = [ops.concat(*each, axis=0) for each in zip(*states[1:])]
        return [ops.add(at, many), *states[-1], *(array_append(array, y) for array, y in zip(values[len(first) :], made))]

    lists = [array_append(create_array(state.dtype), ops.concat(*[state] * together, axis=0)) for state in first]
    at, *done = while_loop(lambda at, *_: ops.less_equal(ops.add(at, many), end), onwards, [begin, *first, *lists])
    rows = [ops.reshape(array_stack(array, (-1, -1, x.shape[1])), shape=(-1, x.shape[1])) for x, array in zip(first, done[len(first) :])]
    return at, done[: len(first)], rows


def best_tags(scores: Tensor, lengths: Tensor, weight: Tensor) -> Tensor:
    """Viterbi decoding of a linear-chain conditional random field.

    Args:
        scores: `[batch, time, tags]`.
        lengths: int64, `[batch]`.
        weight: `[tags + 2, tags]`: the scores of tags that begin, of tags that end, and of each tag right after each.

    Returns:
        The tags, `[batch, time]`, 0 after the end of a sequence.
    """
    steps = ops.arange(start=0, step=1, length=scores.shape[1], dtype=int64)
    ends = ops.equal(ops.unsqueeze(steps, (0,)), ops.unsqueeze(ops.subtract(lengths, number(1)), (1,)))
    begins = ops.reshape(ops.equal(steps, number(0)), shape=(1, scores.shape[1], 1))
    none = ops.full(shape=(), value=0, dtype=scores.dtype)
    scores = ops.add(scores, ops.where(begins, weight[0], none))
    scores = ops.add(scores, ops.where(ops.unsqueeze(ends, (2,)), weight[1], none))
    tags = best_paths(scores, weight[2:], lengths, False)[1]
    behind = ops.subtract(size(scores, 1), size(tags, 1))  # steps that no sequence has
    zeros = ops.full(shape=(scores.shape[0], Size("value", behind)), value=0, dtype=int64)
    return ops.reshape(ops.concat(tags, zeros, axis=1), shape=tuple(scores.shape[:2]))
