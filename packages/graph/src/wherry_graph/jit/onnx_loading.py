"""`load` of `wherry.onnx`: ONNX models as layers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from wherry_graph.jit.loading import TranslatedLayer
from wherry_nn import Layer, Parameter
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor

if TYPE_CHECKING:
    from wherry_onnx_files.models import OnnxModel

__all__ = ["OnnxLayer", "load"]


class OnnxLayer(Layer):
    """An ONNX model that runs node by node, since a shape in it follows from values; `load` makes it where no program can be had.

    Args:
        model: that was read.

    Shape:
        As the model has it: `[...]` of each input and output.

    Source:
        Wherry's own; `wherry.jit.TranslatedLayer` is what `load` gives for other models.
    """

    def __init__(self, model: OnnxModel) -> None:
        super().__init__()
        self.__dict__["model"] = model
        for n, value in enumerate(value for _, value in sorted(model.constants.items()) if value.persistable):
            if isinstance(value, Parameter):
                self.add_parameter(f"param_{n}", value)
            else:
                self.register_buffer(f"buffer_{n}", value)
        self.training = False

    def forward(self, *inputs: Any) -> Any:
        """Run the model: one tensor, or a list where it has several outputs.

        Args:
            *inputs: one for each input of the model, in its order: tensors, lists of tensors for sequences, None for an empty optional.
        """
        ports = self.model.inputs
        if len(inputs) != len(ports):
            raise InvalidArgumentError(
                f"OnnxLayer: got {len(inputs)} inputs, expected {len(ports)}, one for each of {[p.name for p in ports]}. Pass them in this order."
            )
        given = {
            port.name: x if x is None or isinstance(x, (Tensor, list)) else to_tensor(x) for port, x in zip(ports, inputs, strict=True)
        }
        found = self.model.run(given, training=self.training)
        return found[0] if len(found) == 1 else found


def load(file: Any, shapes: Mapping[str, Sequence[int | None]] | None = None) -> Layer:
    """Load an ONNX model as a layer that predicts, can be trained further, and is saved in other formats. The package `onnx` is not needed.

    Floating weights are parameters, statistics of batch normalization buffers. `train()` brings dropout back and lets the statistics of
    batch normalization move; the layer comes in `eval()`.

    Args:
        file: a path (weights may lie in other files of its folder, and nowhere else), bytes, or a file object.
        shapes: of inputs by name, where the model leaves sizes open; a size of None stays open.

    Returns:
        A TranslatedLayer, which `jit.save`, `export.web` and `onnx.export` take as they take any layer. Where a shape in the model follows
        from values, or an input is a sequence, an OnnxLayer, which runs the model node by node.

    Raises:
        FileFormatError: the file is damaged, or its nodes do not fit together; the message names the node (also a ValueError).
        NotImplementedError: the model has an operator that is not read, or strings (also a FileFormatError).
        FileNotFoundError: there is no such file.

    Shape:
        As the model has it: `[...]` of each input and output.

    Source:
        Wherry's own; the format is ONNX's, of opsets 7 to 23.

    Examples:
        >>> net = wherry.nn.Linear(3, 2)
        >>> path = wherry.onnx.export(net, "build/linear", input_spec=[wherry.static.InputSpec([None, 3], "float32")], opset_version=13)
        >>> again = wherry.onnx.load(path)
        >>> x = wherry.ones([5, 3])
        >>> bool(wherry.allclose(again(x), net(x)))
        True
        >>> len(again.parameters())
        2
    """
    from wherry_onnx_files.errors import NeedsValue
    from wherry_onnx_files.models import read_model

    model = read_model(file)
    try:
        program = model.program(shapes)
    except NeedsValue:
        return OnnxLayer(model)
    program.__dict__["as_it_trains"] = partial(model.program, shapes, training=True)
    lasting = {x.name: x.bound for x in program.bound_variables() if x.bound is not None and (x.persistable or x.is_parameter)}
    return TranslatedLayer({"forward": program}, lasting)
