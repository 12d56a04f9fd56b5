"""Tables of a network: its layers with their shapes and parameters, and its operations.

Both run the network once, in evaluation mode and without gradients, and observe it with hooks.
"""
from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wherry_autograd import no_grad
from wherry_nn import Layer, LayerList, Sequential
from wherry_nn import layers as nn
from wherry_tensor import cast, paddle_random, rand, randn, uniform
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.notebook import table_to_html
from wherry_train.notebook import in_notebook

__all__ = ["flops", "summary"]

_WIDTHS = (15, 20, 20, 15)  # of the columns, where nothing needs more
_TITLES = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
_MEGABYTES_OF_VALUE = 4.0 / 1024**2  # every value counts as a float32


def summary(net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """Print a table of the layers that run, with their shapes and numbers of parameters.

    Args:
        net: the network.
        input_size: the shape of the input, a tuple; one shape in a list for each of several inputs. -1 and None
            stand for 1. Objects with `shape` and `dtype`, as InputSpec has, count as shapes.
        dtypes: the dtype of the inputs, or a list of one for each; float32 if None.
        input: in place of `input_size`: what to call the network with, a tensor or what holds tensors.

    Returns:
        `{"total_params": ..., "trainable_params": ...}`: numbers of values, those of buffers included in the first. In a
        notebook the table is HTML.

    Raises:
        TypeError: `net` is not a Layer, or `input_size` is not a shape (also a ValueError).
        ValueError: there is neither `input_size` nor `input`, or a size is 0 or below -1.

    Source:
        `paddle.summary`. Containers are not listed, unlike the layers in them. Parameters that the network
        itself holds, next to its layers, get a row too; Paddle leaves them out of the count.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 8), wherry.nn.ReLU(), wherry.nn.Linear(8, 2))
        >>> counts = wherry.summary(net, (1, 4))  # doctest: +ELLIPSIS
        ---------------------------------------------------------------------------
         Layer (type)       Input Shape          Output Shape         Param #
        ===========================================================================
        ...
        Total params: 58
        Trainable params: 58
        Non-trainable params: 0
        ...
        >>> counts
        {'total_params': 58, 'trainable_params': 58}
    """
    _require_layer(net, "summary")
    if input is not None:
        if not isinstance(input, (Tensor, list, tuple, dict)):
            raise InvalidArgumentError(
                f"summary: Input is not tensor, list, tuple and dict, unable to determine input_size, please input input_size. "
                f"Got {type(input).__name__}."
            )
        inputs: list[Any] = [input]
    elif input_size is None:
        raise InvalidArgumentError(
            "summary: input_size and input cannot be None at the same time. Got neither, expected one. "
            "Write summary(net, (1, 3, 224, 224))."
        )
    else:
        inputs = _random_inputs(input_size, dtypes, "summary")
    table = _Table(net)
    with _looking_on(net, table.see, containers=True):
        net(*inputs)
    found = Summary(table)
    if in_notebook():
        found.display()
    else:
        print(table.text(_total_size(inputs)))
    return found


class Summary(dict[str, int]):
    """The numbers of `summary`, with the table for notebooks."""

    def __init__(self, table: _Table) -> None:
        super().__init__(total_params=table.total, trainable_params=table.trainable)
        self._rows = [list(row) for row in table.rows.values()]
        self._displayed = False

    def display(self) -> None:
        """Show the table in a notebook; what the cell ends with is then only the numbers."""
        from IPython.display import display

        display({"text/plain": repr(self), "text/html": self._repr_html_()}, raw=True)
        self._displayed = True

    def _repr_html_(self) -> str:
        caption = f"{self['total_params']:,} parameters, {self['trainable_params']:,} trainable"
        return f"<div>{caption}</div>" if self._displayed else table_to_html(list(_TITLES), self._rows, caption)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _Table:
    """The rows of a summary, in the order in which layers end."""

    def __init__(self, net: Layer) -> None:
        self.net = net
        self.rows: dict[int, tuple[str, ...]] = {}
        self.layers: list[Layer] = []  # keeps the ids valid
        self.outputs: dict[int, int] = {}  # how many values each layer gave
        self.total = 0
        self.trainable = 0

    def see(self, layer: Layer, inputs: Any, outputs: Any) -> None:
        own = _own(layer)
        if not own and (isinstance(layer, (Sequential, LayerList)) or (layer is self.net and layer._sub_layers)):
            return  # only holds others
        count = sum(p.size for p in own)
        if id(layer) not in self.rows:
            self.layers.append(layer)
            self.total += count
            self.trainable += sum(p.size for p in layer._parameters.values() if p is not None and not p.stop_gradient)
        number = int(layer.full_name().rpartition("_")[2]) + 1
        self.rows[id(layer)] = (
            f"{type(layer).__name__}-{number}", str(_shapes(list(inputs))), str(_shapes(outputs)), f"{count:,}",
        )
        self.outputs[id(layer)] = _total_size(outputs)

    def text(self, input_values: int) -> str:
        widths = [
            max([least, *(len(row[i]) for row in self.rows.values())]) if i < 3 else least for i, least in enumerate(_WIDTHS)
        ]
        length = sum(widths) + 5
        sizes = [input_values, 2 * sum(self.outputs.values()), self.total]  # values are kept for the way back too
        megabytes = [size * _MEGABYTES_OF_VALUE for size in sizes]

        def line(cells: tuple[str, ...]) -> str:
            return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths))

        return "\n".join([
            "-" * length,
            line(_TITLES),
            "=" * length,
            *(line(row) for row in self.rows.values()),
            "=" * length,
            f"Total params: {self.total:,}",
            f"Trainable params: {self.trainable:,}",
            f"Non-trainable params: {self.total - self.trainable:,}",
            "-" * length,
            f"Input size (MB): {megabytes[0]:.2f}",
            f"Forward/backward pass size (MB): {megabytes[1]:.2f}",
            f"Params size (MB): {megabytes[2]:.2f}",
            f"Estimated Total Size (MB): {sum(megabytes):.2f}",
            "-" * length,
            "",
        ])


def _program_of(net: Any) -> Any:
    """The program that `net` is, or runs; None for a network. Programs stand above this package: without it loaded there are none."""
    ir, loading = sys.modules.get("wherry_program.program.ir"), sys.modules.get("wherry_graph.jit.loading")
    if ir is not None and isinstance(net, ir.Program):
        return net
    if loading is not None and isinstance(net, loading.TranslatedLayer):
        return net.program()
    return None


def flops(
    net: Any, input_size: Any, custom_ops: dict[type[Layer], Callable[..., Any]] | None = None, print_detail: bool = False
) -> int:
    """Count the operations of a network: one for each multiply-add, as Paddle counts them.

    Args:
        net: the network; or a `static.Program`, or a layer that `jit.load` made, which are counted for one sample of the sizes
            that they say.
        input_size: the shape of its input, a list or tuple; or a list of shapes for several inputs. Programs do not need it.
        custom_ops: how to count layers of further classes: functions of (layer, inputs, output) that add to
            `layer.total_ops`. They take precedence.
        print_detail: print a table of the layers that hold no others.

    Returns:
        The number of operations. Classes of layers that it does not know count as 0; their names are printed.

    Raises:
        TypeError: `input_size` is not a shape (also a ValueError).

    Source:
        `paddle.flops`: convolutions and linear layers count products, normalizations two operations for each
        value, pooling one for each value that it reads or writes. A network that is a single layer counts as
        this layer; in Paddle it counts as 0.

    Examples:
        >>> wherry.flops(wherry.nn.Sequential(wherry.nn.Linear(4, 8)), [1, 4])  # doctest: +ELLIPSIS
        <class 'wherry_nn.layers.common.Linear'>'s flops has been counted
        Total Flops: 32     Total Params: 40
        32
    """
    program = _program_of(net)
    if program is not None:
        rows = [list(row) for row in import_module("wherry_program.program.counting").operations(program)]
        if print_detail:
            print(_framed(["OP Type", "Param name", "Flops"], rows))
        return sum(row[2] for row in rows)
    if not isinstance(net, Layer):
        warnings.warn("Your model must be an instance of paddle.nn.Layer or paddle.static.Program.", stacklevel=2)
        return -1
    custom = custom_ops or {}
    counters: dict[type[Layer], Callable[..., Any] | None] = {}
    leaves = [layer for layer in net.sublayers(include_self=True) if not layer._sub_layers]
    for layer in leaves:
        kind = type(layer)
        if kind in counters:
            continue
        if kind in custom:
            counters[kind] = custom[kind]
            print(f"Customize Function has been applied to {kind}")
        elif kind in _COUNTERS:
            counters[kind] = _COUNTERS[kind]
            print(f"{kind}'s flops has been counted")
        else:
            counters[kind] = None
            print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")

    seen: dict[int, list[Any]] = {}  # the layer with its shapes; in the order of the layers, not of the run

    def see(layer: Layer, inputs: Any, output: Any) -> None:
        count = counters[type(layer)]
        if count is not None:
            count(layer, inputs, output)
        seen[id(layer)] = [str(_shapes(inputs[0])) if inputs else "[]", str(_shapes(output))]

    parameters = [sum(p.size for p in _own(layer)) for layer in leaves]
    try:
        for layer in leaves:
            layer.total_ops = 0
        with _looking_on(net, see, containers=False):
            net(*_random_inputs(input_size, None, "flops"))
        rows = [
            [layer.full_name(), *seen[id(layer)], count, int(layer.total_ops)]
            for layer, count in zip(leaves, parameters) if id(layer) in seen
        ]
    finally:
        for layer in leaves:
            if hasattr(layer, "total_ops"):
                del layer.total_ops
    if print_detail:
        print(_framed(["Layer Name", "Input Shape", "Output Shape", "Params", "Flops"], rows))
    operations = sum(row[4] for row in rows)
    print(f"Total Flops: {operations}     Total Params: {sum(row[3] for row in rows)}")
    return operations


# How the operations of a layer are counted.


def _convolution(layer: Any, inputs: Any, output: Tensor) -> None:
    of_value = layer._in_channels // layer._groups * math.prod(layer._kernel_size) + (layer.bias is not None)
    layer.total_ops += output.size * of_value


def _linear(layer: Any, inputs: Any, output: Tensor) -> None:
    layer.total_ops += output.size * layer.weight.shape[0]


def _normalization(layer: Any, inputs: Any, output: Tensor) -> None:
    layer.total_ops += 2 * inputs[0].size


def _each_value(layer: Any, inputs: Any, output: Tensor) -> None:
    layer.total_ops += output.size


def _adaptive_pooling(layer: Any, inputs: Any, output: Tensor) -> None:
    window = math.prod(i // o for i, o in zip(inputs[0].shape[2:], output.shape[2:]))
    layer.total_ops += output.size * (window + 1)


def _nothing(layer: Any, inputs: Any, output: Any) -> None:
    pass


_COUNTERS: dict[type[Layer], Callable[..., None]] = {
    **dict.fromkeys(
        (nn.Conv1D, nn.Conv2D, nn.Conv3D, nn.Conv1DTranspose, nn.Conv2DTranspose, nn.Conv3DTranspose), _convolution
    ),
    nn.Linear: _linear,
    **dict.fromkeys((nn.BatchNorm, nn.BatchNorm2D), _normalization),
    **dict.fromkeys((nn.LeakyReLU, nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), _each_value),
    **dict.fromkeys((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive_pooling),
    **dict.fromkeys((nn.ReLU, nn.ReLU6, nn.Dropout), _nothing),
}


# Shared by both.


def _own(layer: Layer) -> list[Tensor]:
    """The parameters and buffers of a layer, without those of the layers in it."""
    return [p for p in (*layer._parameters.values(), *layer._buffers.values()) if p is not None]


def _require_layer(net: Any, op_name: str) -> None:
    if not isinstance(net, Layer):
        raise AssertedTypeError(
            f"{op_name}: the network must be a Layer. Got {type(net).__name__}, expected a paddle.nn.Layer. "
            f"Pass the layer itself, not its class or a function."
        )


@contextmanager
def _looking_on(net: Layer, see: Callable[[Layer, Any, Any], None], containers: bool) -> Iterator[None]:
    """Inside, `see` is called after every layer of `net`, which evaluates: with or without those that hold others."""
    layers = net.sublayers(include_self=True)
    modes = [layer.training for layer in layers]
    # A layer that is registered at two places is counted once.
    watched = {id(layer): layer for layer in layers if containers or not layer._sub_layers}.values()

    def hook(layer: Layer, inputs: Any, outputs: Any) -> None:
        see(layer, inputs, outputs)

    handles = [layer.register_forward_post_hook(hook) for layer in watched]
    net.eval()
    try:
        with no_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()
        for layer, training in zip(layers, modes):
            layer.training = training


def _random_inputs(input_size: Any, dtypes: Any, op_name: str) -> list[Tensor]:
    """Tensors of these shapes. They leave the global generator as it is, except where Paddle's random numbers are wanted: it draws them."""
    if isinstance(input_size, list) and not (input_size and all(isinstance(n, int) or n is None for n in input_size)):
        shapes = input_size
    else:
        shapes = [input_size]
    if not isinstance(dtypes, (list, tuple)):
        dtypes = [dtypes] * len(shapes)
    inputs = []
    for i, shape in enumerate(shapes):
        dtype = dtypes[i] if i < len(dtypes) and dtypes[i] is not None else getattr(shape, "dtype", None) or "float32"
        sizes = _sizes(getattr(shape, "shape", shape), op_name)
        if paddle_random.enabled():
            value = rand(sizes, "float32") if op_name == "summary" else randn(sizes, "float32")
        else:
            value = uniform(sizes, "float32", 0.0, 1.0, seed=1 + i)
        inputs.append(value if as_dtype(dtype).name == "float32" else cast(value, dtype))
    return inputs


def _sizes(shape: Any, op_name: str) -> list[int]:
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, (list, tuple)) or not all(n is None or isinstance(n, int) for n in shape):
        raise InvalidTypeError(
            f"{op_name}: input_size is not a shape. Got {short(shape)}, expected a tuple of ints such as (1, 3, 224, 224), or a list "
            f"of them for several inputs. Write None for a size that does not matter."
        )
    sizes = [1 if n is None or n == -1 else n for n in shape]
    for n in sizes:
        if n <= 0:
            raise InvalidArgumentError(
                f"{op_name}: Expected element in input size greater than zero, but got {n}. Got input_size={short(shape)}. "
                f"Write None for a size that does not matter."
            )
    return sizes


def _shapes(value: Any) -> Any:
    """The shapes of tensors in lists and tuples; an empty list for anything else that holds some."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, (list, tuple)):
        return [_shapes(v) for v in value]
    return None if value is None else []


def _total_size(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.size
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_total_size(v) for v in value) if isinstance(value, (list, tuple)) else 0


def _framed(titles: list[str], rows: list[list[Any]]) -> str:
    """A table with a frame of +, - and |, its cells centred."""
    cells = [titles, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]

    def centred(cell: str, width: int) -> str:
        # Where it cannot be in the middle: words of odd length to the left, the others to the right, as Paddle has it.
        space = width - len(cell)
        left = (space + (len(cell) % 2 == 0)) // 2
        return " " * left + cell + " " * (space - left)

    edge = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = ["|" + "|".join(f" {centred(cell, width)} " for cell, width in zip(row, widths)) + "|" for row in cells]
    return "\n".join([edge, lines[0], edge, *lines[1:], edge])
