"""Recurrent layers and their cells.

`LSTM`, `GRU` and `SimpleRNN` run each layer and direction as one op over the whole sequence. `RNN` and
`BiRNN` do so too for the cells of this module, and run any other cell step by step.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from wherry_nn.container import LayerList
from wherry_nn.initializer import Constant, Uniform
from wherry_nn.layer import Layer
from wherry_nn.param_attr import ParamAttr
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int32, int64
from wherry_tensor.arguments import (
    MAX_RANK,
    integer,
    one_axis,
    real_number,
    repeats,
    require_rank,
    require_room,
    require_tensor,
)
from wherry_tensor.dtype import get_default_dtype
from wherry_tensor.errors import (
    AssertedArgumentError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    short,
)
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import full
from wherry_tensor.functions.movement import stack
from wherry_tensor.sizes import equals, known
from wherry_tensor.spellings import spelled

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BiRNN",
    "GRUCell",
    "LSTMCell",
    "RNNCellBase",
    "SimpleRNN",
    "SimpleRNNCell",
]


# Cells.


class RNNCellBase(Layer):
    """Base of recurrent cells: one step of a recurrence, `outputs, new_states = cell(inputs, states)`.

    A custom cell derives from it, defines `state_shape`, and runs in `RNN` or `BiRNN`.

    Args:
        name_scope: the beginning of the layer's name; None makes it from the name of the class.
        dtype: kept for subclasses.

    Raises:
        TypeError: `name_scope` is not a str (also a ValueError).

    Source:
        `paddle.nn.RNNCellBase`.

    Examples:
        >>> class Sum(wherry.nn.RNNCellBase):
        ...     @property
        ...     def state_shape(self):
        ...         return (1,)
        ...     def forward(self, inputs, states):
        ...         states = states + inputs
        ...         return states, states
        >>> outputs, last = wherry.nn.RNN(Sum())(wherry.ones([1, 3, 1]))
        >>> print(outputs.numpy().ravel(), last.numpy())
        [1. 2. 3.] [[3.]]
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """Initial states: for each a tensor filled with `init_value`.

        Args:
            batch_ref: a tensor, or tensors in lists, tuples and dicts, of which the first gives the size of the
                batch.
            shape: the shape of a state without the batch, or shapes in lists, tuples and dicts. A first size of
                -1 stands for the batch. None takes `state_shape`.
            dtype: one for all states, or as many as shapes; None takes `state_dtype`, or the default dtype
                where the cell has none.
            init_value: what they hold.
            batch_dim_idx: which axis of `batch_ref` is the batch.

        Returns:
            Tensors in the same lists, tuples and dicts as `shape`.

        Raises:
            TypeError: there is no tensor in `batch_ref`, or `shape` is not a shape (also a ValueError).
            NotImplementedError: `shape` is None and the cell does not define `state_shape`.

        Source:
            `paddle.nn.RNNCellBase.get_initial_states`, which refuses dicts.

        Examples:
            >>> h, c = wherry.nn.LSTMCell(4, 3).get_initial_states(wherry.ones([2, 4]))
            >>> h.shape, c.shape
            ([2, 3], [2, 3])
        """
        first = next(_tensors(batch_ref), None)
        if first is None:
            raise InvalidTypeError(
                f"get_initial_states: batch_ref does not hold a tensor. Got batch_ref of type "
                f"{type(batch_ref).__name__}, expected a Tensor, or tensors in a list, tuple or dict. Pass the inputs."
            )
        require_rank(first, "get_initial_states", 1, MAX_RANK, "batch_ref")
        batch = first.shape[one_axis(batch_dim_idx, first.ndim, "get_initial_states", name="batch_dim_idx")]
        if shape is None:
            shape = self.state_shape
        if dtype is None:
            try:
                dtype = self.state_dtype
            except NotImplementedError:
                dtype = get_default_dtype()
        return _filled(shape, dtype, batch, init_value)

    @property
    def state_shape(self) -> Any:
        """Shapes of the states without the batch; a cell defines it.

        Raises:
            NotImplementedError: it did not.
        """
        raise _undefined(self, "state_shape", "(hidden_size,)")

    @property
    def state_dtype(self) -> Any:
        """Dtypes of the states; a cell may define it.

        Raises:
            NotImplementedError: it did not. The states then have the default dtype.
        """
        raise _undefined(self, "state_dtype", "'float32'")


def _undefined(cell: RNNCellBase, what: str, example: str) -> Exception:
    return UnimplementedError(
        f"{type(cell).__name__}: the cell does not define {what}. Got a class without the property, expected one that "
        f"defines it. Add a property {what} that returns, say, {example}, or pass the states."
    )


def _filled(shape: Any, dtype: Any, batch: int, value: float) -> Any:
    if isinstance(shape, dict):
        dtypes = dtype if isinstance(dtype, dict) else dict.fromkeys(shape, dtype)
        return {key: _filled(one, dtypes[key], batch, value) for key, one in shape.items()}
    if isinstance(shape, (list, tuple)):
        if all(hasattr(size, "__index__") for size in shape):
            sizes = [integer(size, "get_initial_states", "shape") for size in shape]
            return full([batch, *(sizes[1:] if sizes and sizes[0] == -1 else sizes)], value, dtype)
        each = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(shape)
        return type(shape)(_filled(one, two, batch, value) for one, two in zip(shape, each, strict=True))
    if hasattr(shape, "__index__"):
        return full([batch, integer(shape, "get_initial_states", "shape")], value, dtype)
    raise InvalidTypeError(
        f"get_initial_states: shape is not a shape. Got {short(shape)} ({type(shape).__name__}), expected sizes, or shapes in "
        f"lists, tuples and dicts. Write (hidden_size,) for one state."
    )


class _GatedCell(RNNCellBase):
    """A cell with an input product and a hidden product, each of `gates * hidden_size` rows."""

    gates: ClassVar[int]

    input_size: int
    hidden_size: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any,
        weight_hh_attr: Any,
        bias_ih_attr: Any,
        bias_hh_attr: Any,
    ) -> None:
        super().__init__()
        op_name = type(self).__name__
        self.input_size = integer(input_size, op_name, "input_size")
        self.hidden_size = integer(hidden_size, op_name, "hidden_size")
        if self.hidden_size <= 0:
            raise InvalidArgumentError(
                f"hidden_size of {op_name} must be greater than 0, but now equals to {hidden_size}. "
                f"Got hidden_size={hidden_size}, expected a positive int. It is the width of the state."
            )
        rows = self.gates * self.hidden_size
        self.weight_ih = self._new([rows, self.input_size], weight_ih_attr, 1.0)
        self.weight_hh = self._new([rows, self.hidden_size], weight_hh_attr, 1.0)
        self.bias_ih = self._new([rows], bias_ih_attr, 0.0, is_bias=True)
        self.bias_hh = self._new([rows], bias_hh_attr, 0.0, is_bias=True)

    def _new(self, shape: list[int], attr: Any, constant: float, is_bias: bool = False) -> Any:
        if attr is False:  # as in Paddle, the parameter exists and is not trained
            attr = ParamAttr(initializer=Constant(constant), trainable=False)
        bound = 1.0 / math.sqrt(self.hidden_size)
        return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=Uniform(-bound, bound))

    @property
    def state_shape(self) -> Any:
        """`(hidden_size,)`, for each of the states."""
        return (self.hidden_size,)

    def _weights(self) -> tuple[Tensor, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh  # type: ignore[return-value]

    # An op over a sequence, x [T, B, I]; states and results are tuples, one entry for each state.
    def _over_time(
        self, x: Tensor, states: tuple[Tensor, ...], weights: tuple[Tensor, ...], length: Tensor | None, reverse: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        raise NotImplementedError

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, Any]:
        x = _input_of(self, inputs, 2)
        if states is None:
            states = self.get_initial_states(x, self.state_shape, x.dtype)
        known = _as_states(self, states, 2)
        outputs, new = self._over_time(ops.unsqueeze(x, axes=(0,)), known, self._weights(), None, False)
        del outputs  # of one step: the same as the new state
        return new[0], new if len(new) > 1 else new[0]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GatedCell):
    r"""One step of a simple recurrence, `h = activation(weight_ih x + bias_ih + weight_hh h + bias_hh)`.

    Args:
        input_size: width of the inputs.
        hidden_size: width of the state.
        activation: "tanh" or "relu".
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers; the default is uniform in
            `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do not train.

    Shape:
        inputs `[batch, input_size]` and states `[batch, hidden_size]` (None: zeros) to outputs and new
        states, which are the same tensor `[batch, hidden_size]`. Weights are `[hidden_size, input_size]`
        and `[hidden_size, hidden_size]`.

    Raises:
        ValueError: `hidden_size` is not positive, or the activation is another one.
        TypeError: a size is not an int (also a ValueError).

    Source:
        `paddle.nn.SimpleRNNCell`; Elman (1990), Finding structure in time.

    Examples:
        >>> cell = wherry.nn.SimpleRNNCell(16, 32)
        >>> outputs, h = cell(wherry.ones([4, 16]), wherry.zeros([4, 32]))
        >>> outputs.shape, h.shape
        ([4, 32], [4, 32])
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        if activation not in ("tanh", "relu"):
            raise InvalidArgumentError(
                f"activation for SimpleRNNCell should be tanh or relu, but get {short(activation)}. Got {short(activation)}, "
                f"expected 'tanh' or 'relu'. Write a cell of your own for another function."
            )
        self.activation = activation

    def _over_time(
        self, x: Tensor, states: tuple[Tensor, ...], weights: tuple[Tensor, ...], length: Tensor | None, reverse: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, h = ops.simple_rnn(x, *states, *weights, length, relu=self.activation == "relu", reverse=reverse)
        return outputs, (h,)

    def extra_repr(self) -> str:
        shown = super().extra_repr()
        return shown if self.activation == "tanh" else f"{shown}, activation={self.activation}"


class LSTMCell(_GatedCell):
    r"""One step of long short-term memory.

    From the four parts `i, f, g, o` of `weight_ih x + bias_ih + weight_hh h + bias_hh` come
    `c = sigmoid(f) * c + sigmoid(i) * tanh(g)` and `h = sigmoid(o) * tanh(c)`.

    Args:
        input_size: width of the inputs.
        hidden_size: width of both states.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers; the default is uniform in
            `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do not train.

    Shape:
        inputs `[batch, input_size]` and states `(h, c)`, each `[batch, hidden_size]` (None: zeros), to
        outputs, which are the new `h`, and the new `(h, c)`. Weights are `[4 * hidden_size, input_size]` and
        `[4 * hidden_size, hidden_size]`.

    Raises:
        ValueError: `hidden_size` is not positive.
        TypeError: a size is not an int (also a ValueError).

    Source:
        `paddle.nn.LSTMCell`; Hochreiter & Schmidhuber (1997), Long short-term memory, with the forget gate
        of Gers, Schmidhuber & Cummins (2000).

    Examples:
        >>> cell = wherry.nn.LSTMCell(16, 32)
        >>> outputs, (h, c) = cell(wherry.ones([4, 16]))
        >>> outputs.shape, c.shape
        ([4, 32], [4, 32])
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

    @property
    def state_shape(self) -> Any:
        """`((hidden_size,), (hidden_size,))`, of h and c."""
        return (self.hidden_size,), (self.hidden_size,)

    def _over_time(
        self, x: Tensor, states: tuple[Tensor, ...], weights: tuple[Tensor, ...], length: Tensor | None, reverse: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, h, c, _gates, _cells = ops.lstm(x, *states, *weights, length, reverse=reverse)
        return outputs, (h, c)


class GRUCell(_GatedCell):
    r"""One step of a gated recurrent unit.

    From the three parts of `weight_ih x + bias_ih`, with index x, and of `weight_hh h + bias_hh`, with index
    h, come `r = sigmoid(r_x + r_h)`, `z = sigmoid(z_x + z_h)`, `n = tanh(n_x + r * n_h)` and the new state
    `(1 - z) * n + z * h`.

    Args:
        input_size: width of the inputs.
        hidden_size: width of the state.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers; the default is uniform in
            `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do not train.

    Shape:
        inputs `[batch, input_size]` and states `[batch, hidden_size]` (None: zeros) to outputs and new
        states, which are the same tensor `[batch, hidden_size]`. Weights are `[3 * hidden_size, input_size]`
        and `[3 * hidden_size, hidden_size]`.

    Raises:
        ValueError: `hidden_size` is not positive.
        TypeError: a size is not an int (also a ValueError).

    Source:
        `paddle.nn.GRUCell`; Cho et al. (2014), Learning phrase representations using RNN encoder-decoder. As
        in cuDNN, r multiplies the product and not the state.

    Examples:
        >>> cell = wherry.nn.GRUCell(16, 32)
        >>> outputs, h = cell(wherry.ones([4, 16]))
        >>> outputs.shape, h.shape
        ([4, 32], [4, 32])
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

    def _over_time(
        self, x: Tensor, states: tuple[Tensor, ...], weights: tuple[Tensor, ...], length: Tensor | None, reverse: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, h, _gates = ops.gru(x, *states, *weights, length, reverse=reverse)
        return outputs, (h,)


# Layers that run any cell over a sequence.


class RNN(Layer):
    """Recurrence: a cell over a whole sequence.

    Args:
        cell: `outputs, new_states = cell(inputs, states)`, usually an `RNNCellBase`.
        is_reverse: run from the last step to the first.
        time_major: whether inputs and outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.

    Shape:
        inputs `[batch, time, input_size]`, or whatever the cell takes, in lists, tuples and dicts;
        initial_states as the cell takes them (None: what its `get_initial_states` gives); sequence_length, int32
        or int64 `[batch]`, how many steps of each sequence count: then the state stays as it is, and the outputs
        are those of the cell. Returns outputs `[batch, time, ...]` and the last states. Further keyword
        arguments go to the cell.

    Raises:
        TypeError: `cell` is not a Layer, or an input is not a Tensor (also a ValueError).
        ValueError: the sequence has no steps, unless the cell is an LSTMCell, GRUCell or SimpleRNNCell.

    Source:
        `paddle.nn.RNN`.

    Examples:
        >>> layer = wherry.nn.RNN(wherry.nn.LSTMCell(16, 32))
        >>> outputs, (h, c) = layer(wherry.ones([4, 23, 16]))
        >>> outputs.shape, h.shape
        ([4, 23, 32], [4, 32])
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = _require_cell(cell, "RNN", "cell")
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        return _run(self.cell, inputs, initial_states, sequence_length, self.is_reverse, self.time_major, kwargs)


class BiRNN(Layer):
    """Bidirectional recurrence: two cells over a sequence, the second from its end to its beginning.

    Args:
        cell_fw, cell_bw: the cells, of one input size.
        time_major: whether inputs and outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.

    Shape:
        inputs `[batch, time, input_size]`; initial_states, a pair with one for each cell, or None; sequence_length, int32 or int64
        `[batch]`: how many steps of each sequence count. Returns the outputs of both, concatenated along the last axis, and the
        pair of their last states.

    Raises:
        TypeError: a cell is not a Layer (also a ValueError).
        ValueError: the cells differ in `input_size`; initial_states is not a pair (also an AssertionError).

    Source:
        `paddle.nn.BiRNN`, which takes the initial states of both cells from `cell_fw`; here each cell gives its own.

    Examples:
        >>> layer = wherry.nn.BiRNN(wherry.nn.GRUCell(16, 32), wherry.nn.GRUCell(16, 32))
        >>> outputs, (h_fw, h_bw) = layer(wherry.ones([4, 23, 16]))
        >>> outputs.shape, h_bw.shape
        ([4, 23, 64], [4, 32])
    """

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw = _require_cell(cell_fw, "BiRNN", "cell_fw")
        self.cell_bw = _require_cell(cell_bw, "BiRNN", "cell_bw")
        sizes = getattr(cell_fw, "input_size", None), getattr(cell_bw, "input_size", None)
        if None not in sizes and sizes[0] != sizes[1]:
            raise InvalidArgumentError(
                f"BiRNN: input size of forward cell({sizes[0]}) does not equal that of backward cell({sizes[1]}). "
                f"Got {sizes[0]} and {sizes[1]}, expected equal sizes: both read the same inputs. Change one of the cells."
            )
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> tuple[Any, tuple[Any, Any]]:
        first = (None, None) if initial_states is None else initial_states
        if not isinstance(first, (list, tuple)) or len(first) != 2:
            raise AssertedArgumentError(
                f"BiRNN: length of initial_states should be 2 when it is a list/tuple. Got {_shown(first)}, expected a pair: "
                f"the states of the forward cell and those of the backward cell. Write (states_fw, states_bw)."
            )
        forward, forward_states = _run(
            self.cell_fw, inputs, first[0], sequence_length, False, self.time_major, kwargs
        )
        backward, backward_states = _run(
            self.cell_bw, inputs, first[1], sequence_length, True, self.time_major, kwargs
        )
        return _map(_side_by_side, forward, backward), (forward_states, backward_states)


def _require_cell(cell: Any, op_name: str, name: str) -> Any:
    if isinstance(cell, Layer):
        return cell
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be a cell. Got {type(cell).__name__}, expected a Layer such as LSTMCell(...). "
        f"Derive one from RNNCellBase for a recurrence of your own."
    )


def _run(
    cell: Any, inputs: Any, states: Any, length: Tensor | None, reverse: bool, time_major: bool, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Run a cell over a sequence: as one op where possible, else step by step."""
    if states is None:
        if not hasattr(cell, "get_initial_states"):
            raise InvalidTypeError(
                f"RNN: {type(cell).__name__} does not define initial states. Got initial_states=None and a cell without "
                f"get_initial_states, expected either. Pass initial_states, or derive the cell from RNNCellBase."
            )
        ours = isinstance(cell, _GatedCell) and isinstance(inputs, Tensor)
        dtype = {"dtype": inputs.dtype} if ours else {}  # else that of the cell, or the default dtype
        states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 if time_major else 0, **dtype)
    if length is not None:
        length = _length_of("RNN", length)
    whole = type(cell) in (LSTMCell, GRUCell, SimpleRNNCell)
    if whole and length is None and not kwargs and not cell._forward_pre_hooks and not cell._forward_post_hooks:
        x = _time_first(_input_of(cell, inputs, 3), time_major)
        outputs, last = cell._over_time(x, _as_states(cell, states, 2), cell._weights(), None, reverse)
        return _time_first(outputs, time_major), last if len(last) > 1 else last[0]

    axis = 0 if time_major else 1
    first = next(_tensors(inputs), None)
    if first is None or len(first.shape) <= axis or equals(first.shape[axis], 0):
        got = "no tensor" if first is None else f"shape {first.shape}"
        raise InvalidArgumentError(
            f"RNN: the sequence has no steps. Got inputs of {got}, expected a size of at least 1 in axis {axis}, which is "
            f"the time. Check time_major={time_major}."
        )
    count = known(first.shape[axis], "RNN: the number of steps of a custom cell")
    collected = []
    for t in range(count - 1, -1, -1) if reverse else range(count):
        step = _map(lambda x, t=t: ops.select(x, axis=axis, index=t), inputs)
        outputs, new_states = cell(step, states, **kwargs)
        if length is None:
            states = new_states
        else:
            ends = ops.greater_than(length, ops.full_like(length, value=t, dtype=length.dtype))
            states = _map(lambda new, old, ends=ends: _chosen(ends, new, old), new_states, states)
        collected.append(outputs)
    if reverse:
        collected.reverse()
    return _map(lambda *steps: stack(steps, axis), *collected), states


def _chosen(rows: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """Examples of `new` where `rows` is true, else those of `old`."""
    return ops.where(ops.unsqueeze(rows, axes=tuple(range(1, len(new.shape)))), new, old)


def _side_by_side(x: Tensor, y: Tensor) -> Tensor:
    return ops.concat(x, y, axis=len(x.shape) - 1)


def _time_first(x: Tensor, time_major: bool) -> Tensor:
    """`x` with time and batch exchanged, unless the time comes first anyway. Its own inverse."""
    return x if time_major else ops.transpose(x, perm=(1, 0, 2))


# Tensors in lists, tuples and dicts.


def _tensors(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for one in tree:
            yield from _tensors(one)
    elif isinstance(tree, dict):
        for one in tree.values():
            yield from _tensors(one)


def _map(function: Callable[..., Any], *trees: Any) -> Any:
    """`function` of the tensors at each place of trees that are built alike."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: _map(function, *(tree[key] for tree in trees)) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(_map(function, *each) for each in zip(*trees, strict=True)))
    if isinstance(first, (list, tuple)):
        return type(first)(_map(function, *each) for each in zip(*trees, strict=True))
    return function(*trees)


# Checks of cells and layers.


def _input_of(layer: Any, inputs: Any, rank: int) -> Tensor:
    x = require_tensor(inputs, type(layer).__name__, "inputs")
    shape = x.shape
    if len(shape) == rank and shape[-1] == layer.input_size:
        return x
    expected = f"[batch, {layer.input_size}]" if rank == 2 else f"[batch, time, {layer.input_size}] (or time first)"
    raise InvalidArgumentError(
        f"{type(layer).__name__}: the inputs do not fit. Got shape {shape}, expected {expected}. "
        f"The last axis is the input_size that the layer was made with."
    )


def _as_states(cell: Any, states: Any, rank: int, leading: int | None = None) -> tuple[Tensor, ...]:
    """States as a tuple: two for an LSTM, else one."""
    count = 2 if isinstance(cell, (LSTM, LSTMCell)) else 1
    if isinstance(states, Tensor) and count == 1:
        known: tuple[Any, ...] = (states,)
    elif isinstance(states, (list, tuple)) and len(states) == count:
        known = tuple(states)
    else:
        raise InvalidTypeError(
            f"{type(cell).__name__}: these are not its states. Got {_shown(states)}, expected "
            f"{'a pair (h, c) of tensors' if count == 2 else 'one tensor'}. Leave them out to begin with zeros."
        )
    for one in known:
        shape = require_tensor(one, type(cell).__name__, "states").shape
        if len(shape) != rank or shape[-1] != cell.hidden_size or (leading is not None and shape[0] != leading):
            before = "" if leading is None else f"{leading}, "
            raise InvalidArgumentError(
                f"{type(cell).__name__}: a state does not fit. Got shape {shape}, expected [{before}batch, "
                f"{cell.hidden_size}]. The last axis is the hidden_size that it was made with."
            )
    return known


def _shown(states: Any) -> str:
    if isinstance(states, Tensor):
        return f"one Tensor of shape {states.shape}"
    return f"a {type(states).__name__} of {len(states)}" if isinstance(states, (list, tuple)) else type(states).__name__


def _length_of(op_name: str, length: Any) -> Tensor:
    require_tensor(length, op_name, "sequence_length")
    if length.dtype not in (int32, int64) or len(length.shape) != 1:
        raise InvalidArgumentError(
            f"{op_name}: sequence_length counts the steps of each sequence. Got shape {length.shape}, dtype "
            f"{length.dtype.name}, expected an int32 or int64 tensor of shape [batch]. Cast it with astype('int64')."
        )
    return length


# Networks of several layers.


class RNNBase(LayerList):
    """Base of LSTM, GRU and SimpleRNN: layers, directions, names of parameters."""

    cell_type: ClassVar[type[_GatedCell]]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        cell_options: dict[str, Any],
    ) -> None:
        super().__init__()
        op_name = type(self).__name__
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise InvalidArgumentError(
                f"{op_name}: direction should be forward or bidirect (or bidirectional), received direction = {short(direction)}. "
                f"Got {short(direction)}, expected one of these three. For one that runs backward alone use "
                f"RNN({self.cell_type.__name__}(...), is_reverse=True)."
            )
        self.mode = self.cell_type.__name__.removesuffix("Cell").upper()
        self.input_size = integer(input_size, op_name, "input_size")
        self.hidden_size = integer(hidden_size, op_name, "hidden_size")
        self.num_layers = repeats(num_layers, op_name, "num_layers", 1, "the parameters of a layer")
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = bool(time_major)
        self.dropout = real_number(dropout, op_name, "dropout")
        self.state_components = 2 if self.cell_type is LSTMCell else 1
        if not 0.0 <= self.dropout <= 1.0:
            raise InvalidArgumentError(
                f"{op_name}: dropout is out of range. Got dropout={dropout}, expected a probability in [0, 1]. "
                f"Check the order of the arguments."
            )
        gates = {"LSTM": 4, "GRU": 3}.get(self.mode, 1)
        numbers = gates * self.num_directions * self.num_layers * self.hidden_size * (self.hidden_size + 2)
        require_room(4 * numbers, op_name, f"{self.num_layers} layers of {self.hidden_size}")
        width = self.input_size
        for _ in range(self.num_layers):
            cells = [self.cell_type(width, self.hidden_size, **cell_options) for _ in range(self.num_directions)]
            self.append(
                RNN(cells[0], time_major=time_major) if len(cells) == 1 else BiRNN(cells[0], cells[1], time_major)
            )
            width = self.hidden_size * self.num_directions
        # Every parameter has a second name, by layer and direction, under which `forward` looks it up.
        self._weight_names: list[tuple[str, ...]] = []
        for index, cell in enumerate(self._cells()):
            layer, backward = divmod(index, self.num_directions)
            suffix = f"_l{layer}" + ("_reverse" if backward else "")
            names = tuple(f"{kind}{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            for name, weight, attr in zip(names, cell._weights(), _ATTRIBUTES, strict=True):
                if not (attr.startswith("bias") and cell_options.get(attr) is False):
                    self.add_parameter(name, weight)  # type: ignore[arg-type]
            self._weight_names.append(names)

    def _cells(self) -> list[_GatedCell]:
        return [cell for layer in self._sub_layers.values() for cell in layer._sub_layers.values()]  # type: ignore[union-attr,misc]

    def flatten_parameters(self) -> None:
        """No effect: Paddle moves the parameters into one block for cuDNN; our kernels do not need one.

        Source:
            `paddle.nn.LSTM.flatten_parameters`.
        """

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """Run all layers and directions; see the class for shapes."""
        x = _time_first(_input_of(self, inputs, 3), self.time_major)
        if sequence_length is not None:
            sequence_length = _length_of(type(self).__name__, sequence_length)
        directions, runs = self.num_directions, len(self._weight_names)
        if initial_states is None:
            zeros = ops.full(shape=(x.shape[1], self.hidden_size), value=0.0, dtype=x.dtype)
            first = [(zeros,) * self.state_components] * runs
        else:
            states = _as_states(self, initial_states, 3, runs)
            first = [tuple(ops.select(state, axis=0, index=i) for state in states) for i in range(runs)]
        attributes = self.__dict__  # weight_norm and spectral_norm put a tensor in the place of the parameter
        last: list[tuple[Tensor, ...]] = []
        for i, cell in enumerate(self._cells()):
            if i % directions == 0:
                if i and self.dropout and self.training:
                    x = ops.dropout(x, p=self.dropout, upscale=True)[0]
                layer_input = x
            weights = tuple(
                attributes.get(name, own)
                for name, own in zip(self._weight_names[i], cell._weights(), strict=True)
            )
            outputs, states = cell._over_time(layer_input, first[i], weights, sequence_length, i % directions == 1)
            x = outputs if i % directions == 0 else ops.concat(x, outputs, axis=2)
            last.append(states)
        if runs == 1:
            final = [ops.unsqueeze(state, axes=(0,)) for state in last[0]]
        else:
            final = [stack(each, 0) for each in zip(*last, strict=True)]
        if not self.time_major:
            x = ops.copy(ops.transpose(x, perm=(1, 0, 2)))
        return x, tuple(final) if self.state_components == 2 else final[0]

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            shown += f", num_layers={self.num_layers}"
        if self.time_major:
            shown += f", time_major={self.time_major}"
        if self.dropout:
            shown += f", dropout={self.dropout}"
        return shown


_ATTRIBUTES = "weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr"


class SimpleRNN(RNNBase):
    """Simple recurrence over sequences, in any number of layers and one or two directions.

    Args:
        input_size: width of the inputs.
        hidden_size: width of the states, of each direction.
        num_layers: layers on top of each other; each reads the outputs of the one below.
        direction: "forward", or "bidirect" ("bidirectional"): a second network runs from the end of each
            sequence to its beginning, and the outputs of both are concatenated.
        time_major: whether inputs and outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.
        dropout: the probability with which, while training, inputs of all layers but the first are dropped.
        activation: "tanh" or "relu".
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers, for every layer; the default is
            uniform in `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do
            not train.

    Shape:
        inputs `[batch, time, input_size]`; initial_states `[num_layers * directions, batch, hidden_size]`, the
        directions of a layer one after the other (None: zeros); sequence_length, int32 or int64 `[batch]`: how many
        steps of each sequence count; beyond them, outputs are 0 and states stay. Returns outputs
        `[batch, time, directions * hidden_size]` and the last states, in the shape of initial_states.
        Parameters are called `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, then `weight_ih_l0_reverse`
        and so on; in `state_dict` they also have the names that the cells inside give them.

    Raises:
        ValueError: a setting or a shape does not fit, or a length exceeds the sequence.
        TypeError: an input is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.SimpleRNN`; Elman (1990), Finding structure in time.

    Examples:
        >>> layer = wherry.nn.SimpleRNN(16, 32, num_layers=2)
        >>> outputs, h = layer(wherry.ones([4, 23, 16]))
        >>> outputs.shape, h.shape
        ([4, 23, 32], [2, 4, 32])
    """

    cell_type = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise InvalidArgumentError(
                f"SimpleRNN: Unknown activation {short(activation)}. Got {short(activation)}, expected 'tanh' or 'relu'. "
                f"Run a cell of your own in RNN for another function."
            )
        attributes = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        options = dict(zip(_ATTRIBUTES, attributes, strict=True), activation=activation)
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, options)
        self.activation = activation
        self.mode = f"RNN_{activation.upper()}"


class LSTM(RNNBase):
    """Long short-term memory over sequences, in any number of layers and one or two directions.

    Args:
        input_size: width of the inputs.
        hidden_size: width of the states, of each direction.
        num_layers: layers on top of each other; each reads the outputs of the one below.
        direction: "forward", or "bidirect" ("bidirectional"): a second network runs from the end of each
            sequence to its beginning, and the outputs of both are concatenated.
        time_major: whether inputs and outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.
        dropout: the probability with which, while training, inputs of all layers but the first are dropped.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers, for every layer; the default is
            uniform in `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do
            not train.

    Shape:
        inputs `[batch, time, input_size]`; initial_states, a pair `(h, c)` of tensors
        `[num_layers * directions, batch, hidden_size]`, the directions of a layer one after the other (None: zeros);
        sequence_length, int32 or int64 `[batch]`: how many steps of each sequence count; beyond them, outputs are 0
        and states stay. Returns outputs `[batch, time, directions * hidden_size]` and the last `(h, c)`, in the
        shapes of the first.
        Parameters are called `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, then `weight_ih_l0_reverse`
        and so on; in `state_dict` they also have the names that the cells inside give them.

    Raises:
        ValueError: a setting or a shape does not fit, or a length exceeds the sequence.
        TypeError: an input is not a Tensor, or the states are not a pair (also a ValueError).

    Source:
        `paddle.nn.LSTM`; Hochreiter & Schmidhuber (1997), Long short-term memory.

    Examples:
        >>> layer = wherry.nn.LSTM(16, 32, num_layers=2, direction="bidirect")
        >>> outputs, (h, c) = layer(wherry.ones([4, 23, 16]))
        >>> outputs.shape, c.shape
        ([4, 23, 64], [4, 4, 32])
        >>> outputs, _ = layer(wherry.ones([2, 3, 16]), sequence_length=wherry.to_tensor([3, 1]))
        >>> print(outputs[1].abs().sum(1).numpy()[1:])
        [0. 0.]
    """

    cell_type = LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attributes = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        options = dict(zip(_ATTRIBUTES, attributes, strict=True))
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, options)


class GRU(RNNBase):
    """Gated recurrent units over sequences, in any number of layers and one or two directions.

    Args:
        input_size: width of the inputs.
        hidden_size: width of the states, of each direction.
        num_layers: layers on top of each other; each reads the outputs of the one below.
        direction: "forward", or "bidirect" ("bidirectional"): a second network runs from the end of each
            sequence to its beginning, and the outputs of both are concatenated.
        time_major: whether inputs and outputs are `[time, batch, ...]` rather than `[batch, time, ...]`.
        dropout: the probability with which, while training, inputs of all layers but the first are dropped.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: ParamAttrs, names or initializers, for every layer; the default is
            uniform in `[-1 / sqrt(hidden_size), 1 / sqrt(hidden_size))`. False gives ones as a weight, and zeros as a bias, that do
            not train.

    Shape:
        inputs `[batch, time, input_size]`; initial_states `[num_layers * directions, batch, hidden_size]`, the
        directions of a layer one after the other (None: zeros); sequence_length, int32 or int64 `[batch]`: how many
        steps of each sequence count; beyond them, outputs are 0 and states stay. Returns outputs
        `[batch, time, directions * hidden_size]` and the last states, in the shape of initial_states.
        Parameters are called `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, then `weight_ih_l0_reverse`
        and so on; in `state_dict` they also have the names that the cells inside give them.

    Raises:
        ValueError: a setting or a shape does not fit, or a length exceeds the sequence.
        TypeError: an input is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.GRU`; Cho et al. (2014), Learning phrase representations using RNN encoder-decoder.

    Examples:
        >>> layer = wherry.nn.GRU(16, 32)
        >>> outputs, h = layer(wherry.ones([4, 23, 16]))
        >>> outputs.shape, h.shape
        ([4, 23, 32], [1, 4, 32])
    """

    cell_type = GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attributes = weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr
        options = dict(zip(_ATTRIBUTES, attributes, strict=True))
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, options)


explained(globals())
spelled(globals())
