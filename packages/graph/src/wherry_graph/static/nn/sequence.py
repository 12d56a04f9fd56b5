"""Functions on sequences of different lengths, whose rows are concatenated (`static.data(lod_level=1)`, LoDTensor).

What they need to know is which sequence a row belongs to; that follows from the offsets, `[0, 2, 5]` for one of two rows and one of three.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_graph.static.nn.making import Maker, activated
from wherry_paddle_files import sequences
from wherry_paddle_files.sequences import keeps_offsets, offsets_of
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, require_rank, require_tensor, tensors_of
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = [
    "sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_expand", "sequence_expand_as", "sequence_first_step",
    "sequence_last_step", "sequence_pad", "sequence_pool", "sequence_reshape", "sequence_reverse", "sequence_scatter", "sequence_slice",
    "sequence_softmax", "sequence_unpad",
]


def _rows(x: Tensor, what: str) -> sequences.Rows:
    return sequences.rows_of(require_tensor(x, what), what)


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
    return sequences.padded(x, rows, pad_value, None if maxlen is None else int(maxlen), "sequence_pad"), rows.lengths


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
    return sequences.unpadded(x, require_tensor(length, "sequence_unpad", "length"))


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
    require_tensor(input, "sequence_pool")
    return sequences.pooled(input, kind, pad_value, "sequence_pool")


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
    return sequences.softmax(require_tensor(input, "sequence_softmax"), "sequence_softmax")


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
    return sequences.reversed_rows(require_tensor(x, "sequence_reverse"), "sequence_reverse")


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
    return sequences.joined(tensors_of(input, "sequence_concat", "input"), "sequence_concat")


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
    return sequences.expanded(x, y, ref_level, "sequence_expand")


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
    require_tensor(y, "sequence_expand_as", "y")
    return sequences.expanded_as(x, y, "sequence_expand_as")


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
    return sequences.sliced(require_tensor(input, "sequence_slice"), offset, length, "sequence_slice")


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
    offsets_of(input, "sequence_reshape")
    if input.ndim != 2:
        raise InvalidArgumentError(f"sequence_reshape: rows have one axis. Got input of shape {input.shape}, expected [rows, width].")
    return sequences.reshaped(input, new_dim, "sequence_reshape")


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
    return sequences.enumerated(require_tensor(input, "sequence_enumerate"), win_size, pad_value, "sequence_enumerate")


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
    return sequences.scattered(input, require_tensor(index, "sequence_scatter"), updates, "sequence_scatter")


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
    offsets_of(require_tensor(input, "sequence_conv"), "sequence_conv")
    make = Maker("sequence_conv", name)
    weight = make.parameter([filter_size * input.shape[1], num_filters], param_attr, input.dtype)
    first = -(filter_size // 2) if padding_start is None else padding_start
    parts = sequences.windows(input, first, filter_size, "sequence_conv")
    out = ops.matmul(ops.concat(*parts, axis=1), weight, False, False)
    bias = make.parameter([num_filters], bias_attr, out.dtype, is_bias=True)
    return activated(out if bias is None else ops.add(out, bias), act, "sequence_conv")


explained(globals())
