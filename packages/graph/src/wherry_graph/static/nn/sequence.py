"""Functions on sequences of different lengths, whose rows are concatenated (`static.data(lod_level=1)`, LoDTensor).

What they need to know is which sequence a row belongs to; that follows from the offsets, `[0, 2, 5]` for one of two rows and one of three.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_graph.static.lengths import keeps_offsets, known_offsets, offsets_of, with_offsets
from wherry_graph.static.nn.making import Maker, activated
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import MAX_RANK, require_rank, require_tensor, tensors_of
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import Size

__all__ = [
    "sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_expand", "sequence_expand_as", "sequence_first_step",
    "sequence_last_step", "sequence_pad", "sequence_pool", "sequence_reshape", "sequence_reverse", "sequence_scatter", "sequence_slice",
    "sequence_softmax", "sequence_unpad",
]


class _Rows:
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

    def of(self, x: Tensor) -> Tensor:
        """For each row, the entry of `x` for its sequence."""
        return ops.gather(x, self.sequence, axis=0)


def _number(value: int) -> Tensor:
    return ops.full(shape=(), value=value, dtype=int64)


def _rows(x: Tensor, what: str) -> _Rows:
    require_tensor(x, what)
    return _Rows(offsets_of(x, what)[-1], x.shape[0])


def _from_lengths(lengths: Tensor) -> _Rows:
    """The rows that sequences of these lengths have."""
    zero = ops.full(shape=(1,), value=0, dtype=int64)
    ends = ops.cumsum(lengths, axis=0, reverse=False)
    total = ops.reduce_sum(lengths, (0,), False)
    return _Rows(ops.concat(zero, ends, axis=0), Size("value", total))


def _outer(x: Tensor) -> tuple[Tensor, ...]:
    return known_offsets(x)[:-1]


def _column(x: Tensor, like: Tensor) -> Tensor:
    """One number for each row, shaped to be combined with rows."""
    return ops.unsqueeze(x, tuple(range(1, like.ndim))) if like.ndim > 1 else x


def sequence_pad(x: Tensor, pad_value: Tensor, maxlen: int | None = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Pad sequences to equal length.

    Args:
        x: rows of sequences.
        pad_value: one element, or the shape of a row: the values after the end of a sequence.
        maxlen: the length; None is that of the longest sequence.

    Returns:
        The padded sequences, and their lengths (int64).

    Shape:
        `[rows, ...]` to `[sequences, maxlen, ...]` and `[sequences]`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: `x` holds no sequences.

    Source:
        `paddle.static.nn.sequence_pad`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_pad(x, wherry.zeros([1]))[0]
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[[1.0], [2.0]], [[3.0], [0.0]]]
        >>> wherry.disable_static()
    """
    require_tensor(pad_value, "sequence_pad", "pad_value")
    rows = _rows(x, "sequence_pad")
    longest = ops.reduce_max(rows.lengths, (0,), False) if maxlen is None else _number(int(maxlen))
    length: Any = Size("value", longest) if maxlen is None else int(maxlen)
    at = ops.add(ops.multiply(rows.sequence, longest), rows.position)
    if maxlen is not None:
        from wherry_program.program.control import assert_true

        fits = ops.less_equal(ops.reduce_max(rows.lengths, (0,), False), longest)
        assert_true(fits, f"sequence_pad: a sequence is longer than maxlen={maxlen}.")
    value = ops.cast(pad_value, dtype=x.dtype) if pad_value.dtype is not x.dtype else pad_value
    if pad_value.ndim == 1 and pad_value.shape[0] == 1:
        value = ops.reshape(value, shape=())
    base = ops.broadcast_to(value, shape=(rows.n * length, *x.shape[1:]))
    filled = ops.scatter(ops.copy(base), at, x, overwrite=True)
    return ops.reshape(filled, shape=(rows.n, length, *x.shape[1:])), rows.lengths


def sequence_unpad(x: Tensor, length: Tensor, name: str | None = None) -> Tensor:
    """Remove padding: concatenate the first `length` steps of each row.

    Args:
        x: `[sequences, steps, ...]`.
        length: integers, `[sequences]`.

    Shape:
        `[sequences, steps, ...]` to `[rows, ...]`.

    Raises:
        TypeError: `x` or `length` is not a Tensor (also a ValueError).

    Source:
        `paddle.static.nn.sequence_unpad`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_unpad(*wherry.static.nn.sequence_pad(x, wherry.zeros([1])))
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[1.0], [2.0], [3.0]], [[2, 1]])
        >>> wherry.disable_static()
    """
    require_rank(x, "sequence_unpad", 2, MAX_RANK, layout="[sequences, steps, ...]")
    require_tensor(length, "sequence_unpad", "length")
    rows = _from_lengths(ops.reshape(ops.cast(length, dtype=int64), shape=(x.shape[0],)))
    steps = x.shape[1]
    many = steps.tensor() if isinstance(steps, Size) else _number(steps)
    at = ops.add(ops.multiply(rows.sequence, many), rows.position)
    flat = ops.reshape(x, shape=(x.shape[0] * steps, *x.shape[2:]))
    return with_offsets(ops.gather(flat, at, axis=0), (rows.offsets,))


def sequence_pool(input: Tensor, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Tensor:
    """Pool each sequence to one row.

    Args:
        input: rows of sequences.
        pool_type: "sum", "average", "sqrt" (the sum divided by the root of the length), "max", "first" or "last".
        is_test: no effect.
        pad_value: for sequences without rows.

    Shape:
        `[rows, ...]` to `[sequences, ...]`.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `pool_type` is unknown, or `input` holds no sequences.

    Source:
        `paddle.static.nn.sequence_pool`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_pool(x, "sum")
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[3.0], [3.0]]
        >>> wherry.disable_static()
    """
    kind = pool_type.lower() if isinstance(pool_type, str) else pool_type
    if kind not in ("sum", "average", "sqrt", "max", "first", "last"):
        raise InvalidArgumentError(
            f"sequence_pool: pool_type must be one of average, sum, sqrt, max, last, first. Got {short(pool_type)}, expected one of these."
        )
    rows = _rows(input, "sequence_pool")
    empty = ops.full(shape=(), value=pad_value, dtype=input.dtype)
    if kind in ("first", "last"):
        at = rows.starts if kind == "first" else ops.subtract(rows.ends, _number(1))
        limit = ops.subtract(_total(input), _number(1))
        out = ops.gather(input, ops.maximum(ops.minimum(at, limit), _number(0)), axis=0)
    elif kind == "max":
        lowest = float("-inf") if input.dtype.is_floating else -(2**31)
        padded, _ = sequence_pad(input, ops.full(shape=(), value=lowest, dtype=input.dtype))
        out = ops.reduce_max(padded, (1,), False)
    else:
        zeros = ops.full(shape=(rows.n, *input.shape[1:]), value=0, dtype=input.dtype)
        out = ops.scatter_nd_add(zeros, ops.unsqueeze(rows.sequence, (1,)), input)
        if kind != "sum":
            length = ops.cast(ops.maximum(rows.lengths, _number(1)), dtype=input.dtype)
            out = ops.divide(out, _column(ops.sqrt(length) if kind == "sqrt" else length, out))
    has_rows = _column(ops.greater_than(rows.lengths, _number(0)), out)
    return with_offsets(ops.where(has_rows, out, empty), _outer(input))


def _total(x: Tensor) -> Tensor:
    n = x.shape[0]
    return n.tensor() if isinstance(n, Size) else _number(n)


def sequence_first_step(input: Tensor) -> Tensor:
    """The first row of each sequence.

    Args:
        input: rows of sequences.

    Shape:
        `[rows, ...]` to `[sequences, ...]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` holds no sequences.

    Source:
        `paddle.static.nn.sequence_first_step`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_first_step(x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[1.0], [3.0]]
        >>> wherry.disable_static()
    """
    return sequence_pool(input, "first")


def sequence_last_step(input: Tensor) -> Tensor:
    """The last row of each sequence.

    Args:
        input: rows of sequences.

    Shape:
        `[rows, ...]` to `[sequences, ...]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` holds no sequences.

    Source:
        `paddle.static.nn.sequence_last_step`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_last_step(x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[2.0], [3.0]]
        >>> wherry.disable_static()
    """
    return sequence_pool(input, "last")


@keeps_offsets
def sequence_softmax(input: Tensor, use_cudnn: bool = False, name: str | None = None) -> Tensor:
    """Softmax over each sequence.

    Args:
        input: rows of sequences, `[rows]` or `[rows, 1]`.
        use_cudnn: no effect.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` holds no sequences.

    Source:
        `paddle.static.nn.sequence_softmax`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[2.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_softmax(x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().round(3).tolist()
        [[0.5], [0.5], [1.0]]
        >>> wherry.disable_static()
    """
    rows = _rows(input, "sequence_softmax")
    fixed = with_offsets(ops.copy(input.detach()), offsets_of(input, "sequence_softmax"))
    e = ops.exp(ops.subtract(input, rows.of(sequence_pool(fixed, "max"))))
    total = sequence_pool(with_offsets(e, offsets_of(input, "sequence_softmax")), "sum")
    return ops.divide(e, rows.of(total))


@keeps_offsets
def sequence_reverse(x: Tensor, name: str | None = None) -> Tensor:
    """Reverse each sequence.

    Args:
        x: rows of sequences.

    Shape:
        `[rows, ...]` to the same shape.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` holds no sequences.

    Source:
        `paddle.static.nn.sequence_reverse`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_reverse(x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[2.0], [1.0], [3.0]], [[2, 1]])
        >>> wherry.disable_static()
    """
    rows = _rows(x, "sequence_reverse")
    at = ops.subtract(ops.add(rows.of(rows.starts), rows.of(rows.ends)), ops.add(rows.row, _number(1)))
    return ops.gather(x, at, axis=0)


def sequence_concat(input: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Concatenate the sequences of all inputs: all first sequences, then all second ones, and so on.

    Args:
        input: a list of variables with equally many sequences.

    Shape:
        `[rows, ...]` of each input to `[sum of rows, ...]`.

    Raises:
        TypeError: `input` is not a list of Tensors.
        ValueError: an input holds no sequences.

    Source:
        `paddle.static.nn.sequence_concat`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_concat([x, x])
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[1.0], [2.0], [1.0], [2.0], [3.0], [3.0]], [[4, 2]])
        >>> wherry.disable_static()
    """
    parts = [_rows(x, "sequence_concat") for x in tensors_of(input, "sequence_concat", "input")]
    lengths = parts[0].lengths
    for part in parts[1:]:
        lengths = ops.add(lengths, part.lengths)
    whole = _from_lengths(lengths)
    before: Any = None
    targets = []
    for part in parts:
        start = whole.starts if before is None else ops.add(whole.starts, before)
        targets.append(ops.add(part.of(start), part.position))
        before = part.lengths if before is None else ops.add(before, part.lengths)
    rows = ops.concat(*input, axis=0)
    out = ops.scatter(ops.full_like(rows, value=0, dtype=rows.dtype), ops.concat(*targets, axis=0), rows, overwrite=True)
    return with_offsets(out, (whole.offsets,))


def sequence_expand(x: Tensor, y: Tensor, ref_level: int = -1, name: str | None = None) -> Tensor:
    """Repeat each row (or sequence) of `x` as often as the sequence of `y` with the same index has entries.

    Args:
        x: rows, or rows of sequences.
        y: rows of sequences, whose lengths are the repetitions.
        ref_level: which level of `y`; -1 is the last one.

    Shape:
        x: `[sequences, ...]` to `[rows, ...]`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: `y` holds no sequences, or has no such level.

    Source:
        `paddle.static.nn.sequence_expand`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows, "a": np.array([[10.0], [20.0]], "float32")}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     a = wherry.static.data("a", [None, 1])
        ...     y = wherry.static.nn.sequence_expand(a, x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[10.0], [10.0], [20.0]]
        >>> wherry.disable_static()
    """
    require_tensor(x, "sequence_expand")
    levels = offsets_of(y, "sequence_expand")
    if not -1 <= ref_level < len(levels):
        raise InvalidArgumentError(f"sequence_expand: ref_level is out of range. Got {ref_level}, expected -1 or a level in [0, {len(levels)}).")
    offsets = levels[ref_level]
    copies = _from_lengths(ops.subtract(offsets[1:], offsets[:-1]))
    own = known_offsets(x)
    if not own:
        return ops.gather(x, copies.sequence, axis=0)
    mine = _Rows(own[-1], x.shape[0])
    rows = _from_lengths(copies.of(mine.lengths))
    at = ops.add(rows.of(copies.of(mine.starts)), rows.position)
    return with_offsets(ops.gather(x, at, axis=0), (rows.offsets,))


def sequence_expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Repeat each row of `x` to the length of the sequence of `y` with the same index; the result has the sequences of `y`.

    Args:
        x: a row for each sequence of `y`.
        y: rows of sequences.

    Shape:
        x: `[sequences, ...]` to `[rows, ...]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: `y` holds no sequences.

    Source:
        `paddle.static.nn.sequence_expand_as`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows, "a": np.array([[10.0], [20.0]], "float32")}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     a = wherry.static.data("a", [None, 1])
        ...     y = wherry.static.nn.sequence_expand_as(a, x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[10.0], [10.0], [20.0]], [[2, 1]])
        >>> wherry.disable_static()
    """
    require_tensor(x, "sequence_expand_as")
    rows = _rows(y, "sequence_expand_as")
    return with_offsets(ops.gather(x, rows.sequence, axis=0), offsets_of(y, "sequence_expand_as"))


def sequence_slice(input: Tensor, offset: Tensor, length: Tensor, name: str | None = None) -> Tensor:
    """Slice each sequence.

    Args:
        input: rows of sequences.
        offset: integers, `[sequences, 1]`: where each slice begins.
        length: integers, `[sequences, 1]`: the length of each slice.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: `input` holds no sequences.

    Source:
        `paddle.static.nn.sequence_slice`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     offset = wherry.to_tensor([[1], [0]])
        ...     length = wherry.to_tensor([[1], [1]])
        ...     y = wherry.static.nn.sequence_slice(x, offset, length)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[2.0], [3.0]], [[1, 1]])
        >>> wherry.disable_static()
    """
    whole = _rows(input, "sequence_slice")
    begin, many = (ops.reshape(ops.cast(v, dtype=int64), shape=(whole.n,)) for v in (offset, length))
    rows = _from_lengths(many)
    at = ops.add(rows.of(ops.add(whole.starts, begin)), rows.position)
    return with_offsets(ops.gather(input, at, axis=0), (rows.offsets,))


def sequence_reshape(input: Tensor, new_dim: int) -> Tensor:
    """Reshape the rows of sequences to another width; the number of elements of each sequence stays.

    Args:
        input: rows of sequences, `[rows, width]`.
        new_dim: the new width.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `input` holds no sequences, or has not two axes.

    Source:
        `paddle.static.nn.sequence_reshape`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 2], lod_level=1)
        ...     y = wherry.static.nn.sequence_reshape(x, new_dim=1)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist(), out.recursive_sequence_lengths()
        ([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [[4, 2]])
        >>> wherry.disable_static()
    """
    offsets = offsets_of(input, "sequence_reshape")[-1]
    if input.ndim != 2:
        raise InvalidArgumentError(f"sequence_reshape: rows have one axis. Got input of shape {input.shape}, expected [rows, width].")
    new = ops.floor_divide(ops.multiply(offsets, _number(input.shape[1])), _number(new_dim))
    return with_offsets(ops.reshape(input, shape=(-1, new_dim)), (new,))


@keeps_offsets
def sequence_enumerate(input: Tensor, win_size: int, pad_value: int = 0, name: str | None = None) -> Tensor:
    """For each row of integers, the window of `win_size` rows that begins there.

    Args:
        input: rows of sequences of integers, `[rows]` or `[rows, 1]`.
        win_size: the length of the window.
        pad_value: fills windows beyond the end of a sequence.

    Shape:
        `[rows, 1]` to `[rows, win_size]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` holds no sequences, or `win_size` is 0.

    Source:
        `paddle.static.nn.sequence_enumerate`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1], [2], [3]], "int64"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], "int64", lod_level=1)
        ...     y = wherry.static.nn.sequence_enumerate(x, win_size=2)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[1, 2], [2, 0], [3, 0]]
        >>> wherry.disable_static()
    """
    rows = _rows(input, "sequence_enumerate")
    flat = ops.reshape(input, shape=(input.shape[0],))
    end, last = rows.of(rows.ends), ops.subtract(_total(input), _number(1))
    pad = ops.full(shape=(), value=pad_value, dtype=input.dtype)
    columns = []
    for i in range(win_size):
        at = ops.add(rows.row, _number(i))
        there = ops.gather(flat, ops.minimum(at, last), axis=0)
        columns.append(ops.unsqueeze(ops.where(ops.less_than(at, end), there, pad), (1,)))
    return ops.concat(*columns, axis=1)


def sequence_scatter(input: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """Add to each row of `input` the updates of the sequence with the same index, at the columns in `index`.

    Args:
        input: `[sequences, columns]`.
        index: integers, rows of sequences, `[rows, 1]`.
        updates: rows of sequences of the same lengths, `[rows, 1]`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: `index` holds no sequences.

    Source:
        `paddle.static.nn.sequence_scatter`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows, "index": wherry.static.create_lod_tensor(np.array([[0], [2], [1]], "int64"), [[2, 1]])}
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program()):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     index = wherry.static.data("index", [None, 1], "int64", lod_level=1)
        ...     y = wherry.static.nn.sequence_scatter(wherry.zeros([2, 4]), index, x)
        >>> [out] = wherry.static.Executor().run(y.program, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 0.0]]
        >>> wherry.disable_static()
    """
    require_tensor(input, "sequence_scatter", "input")
    require_tensor(updates, "sequence_scatter", "updates")
    rows = _rows(index, "sequence_scatter")
    column = ops.reshape(ops.cast(index, dtype=int64), shape=(index.shape[0], 1))
    at = ops.concat(ops.unsqueeze(rows.sequence, (1,)), column, axis=1)
    return ops.scatter_nd_add(input, at, ops.reshape(updates, shape=(updates.shape[0],)))


@keeps_offsets
def sequence_conv(
    input: Tensor, num_filters: int, filter_size: int = 3, filter_stride: int = 1, padding: bool = True, padding_start: int | None = None,
    bias_attr: Any = None, param_attr: Any = None, act: str | None = None, name: str | None = None,
) -> Tensor:
    """Convolution along sequences: each row is computed from `filter_size` rows around it, zeros beyond the ends.

    Args:
        input: rows of sequences, `[rows, width]`.
        num_filters: the width of the result.
        filter_size: how many rows.
        filter_stride: must be 1.
        padding: no effect; the result has as many rows as the input.
        padding_start: where the first of these rows is, counted from the row; None is `-(filter_size // 2)`.
        bias_attr: of the bias `[num_filters]`; False leaves it out.
        param_attr: of the weight `[filter_size * width, num_filters]`.
        act: the name of a function of `paddle.nn.functional`.
        name: begins the names of the parameters.

    Raises:
        TypeError: `input` is not a Tensor.
        ValueError: `input` holds no sequences, or the stride is not 1.

    Source:
        `paddle.static.nn.sequence_conv`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 1], lod_level=1)
        ...     y = wherry.static.nn.sequence_conv(x, num_filters=4, filter_size=3)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.shape(), out.recursive_sequence_lengths()
        ([3, 4], [[2, 1]])
        >>> wherry.disable_static()
    """
    if filter_stride != 1:
        raise InvalidArgumentError(f"sequence_conv: the stride is 1. Got filter_stride={short(filter_stride)}, expected 1.")
    rows = _rows(input, "sequence_conv")
    make = Maker("sequence_conv", name)
    weight = make.parameter([filter_size * input.shape[1], num_filters], param_attr, input.dtype)
    start, end = rows.of(rows.starts), rows.of(rows.ends)
    zero, last = _number(0), ops.subtract(_total(input), _number(1))
    first = -(filter_size // 2) if padding_start is None else padding_start
    parts = []
    for i in range(filter_size):
        at = ops.add(rows.row, _number(first + i))
        inside = ops.logical_and(ops.greater_equal(at, start), ops.less_than(at, end))
        there = ops.gather(input, ops.maximum(ops.minimum(at, last), zero), axis=0)
        parts.append(ops.where(ops.unsqueeze(inside, (1,)), there, ops.full(shape=(), value=0, dtype=input.dtype)))
    out = ops.matmul(ops.concat(*parts, axis=1), weight, False, False)
    bias = make.parameter([num_filters], bias_attr, out.dtype, is_bias=True)
    return activated(out if bias is None else ops.add(out, bias), act, "sequence_conv")


explained(globals())
