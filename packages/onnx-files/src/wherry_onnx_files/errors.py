"""What can be wrong with a file."""
from __future__ import annotations

from wherry_tensor.errors import UnimplementedError
from wherry_tensor.protobuf import ModelFileError
from wherry_train.pickle_reader import FileFormatError

__all__ = ["ExportedFileError", "NeedsValue", "OnnxFileError", "UnreadableAten", "UnreadableOp", "plain"]


def plain(error: Exception) -> str:
    """The text of an error that becomes a part of another one's, without its kind in front."""
    return str(error).removeprefix("(InvalidArgument) ")


class OnnxFileError(FileFormatError, ModelFileError):
    """An ONNX file is damaged, or says what does not fit together. A ValueError."""


class UnreadableOp(UnimplementedError, OnnxFileError):
    """No rule reads an operator, or not in this form. A ValueError and a NotImplementedError."""


class NeedsValue(OnnxFileError):
    """What a program is made of depends on a value that only a run knows: the model runs node by node then."""


class ExportedFileError(FileFormatError, ModelFileError):
    """A file of torch.export is damaged, or says what does not fit together. A ValueError."""


class UnreadableAten(UnimplementedError, ExportedFileError):
    """No rule reads an operator of ATen. A ValueError and a NotImplementedError."""
