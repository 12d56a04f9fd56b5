"""Reading image files into uint8 tensors."""
from __future__ import annotations

import io
import os
from typing import Any

from wherry_tensor import Tensor
from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["decode_jpeg", "read_file"]

_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str | os.PathLike[str], name: str | None = None) -> Tensor:
    """The bytes of a file.

    Args:
        filename: its path.

    Returns:
        uint8, `[bytes]`.

    Raises:
        TypeError: `filename` is not a str or os.PathLike.
        OSError: the file cannot be read.

    Source:
        `paddle.vision.ops.read_file`.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.jpg")
        ...     _ = path.write_bytes(bytes([255, 216, 255]))
        ...     print(wherry.vision.ops.read_file(path).numpy())
        [255 216 255]
    """
    import numpy as np

    with open(path_of(os.fsdecode(filename) if isinstance(filename, bytes) else filename, "read_file", "filename"), "rb") as file:
        return to_tensor(np.frombuffer(file.read(), np.uint8))


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """Decode a JPEG image.

    Args:
        x: uint8, `[bytes]`, as `read_file` gives them.
        mode: "unchanged" has the channels of the file, "gray" one and "rgb" three.

    Returns:
        uint8, `[channels, height, width]`.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: `mode` is not known; `x` does not hold a whole JPEG file.
        TypeError: `x` is not a uint8 tensor.

    Source:
        `paddle.vision.ops.decode_jpeg`.

    Examples:
        >>> import io
        >>> from PIL import Image
        >>> Image.new("RGB", (5, 4)).save(file := io.BytesIO(), "JPEG")
        >>> wherry.vision.ops.decode_jpeg(wherry.to_tensor(np.frombuffer(file.getvalue(), np.uint8))).shape
        [3, 4, 5]
    """
    import numpy as np

    if not isinstance(mode, str) or mode not in _MODES:
        raise InvalidArgumentError(f"decode_jpeg: mode is not known. Got {short(mode)}, expected one of {', '.join(_MODES)}.")
    if not isinstance(x, Tensor) or x.dtype.name != "uint8" or x.ndim != 1:
        got = f"{x.dtype.name}{x.shape}" if isinstance(x, Tensor) else type(x).__name__
        raise InvalidTypeError(f"decode_jpeg: x is not a vector of bytes. Got {got}, expected a uint8 tensor [bytes]. read_file makes one.")
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ImportError("decode_jpeg: Pillow, which decodes the image, is not installed. Run pip install Pillow.") from error
    try:
        picture: Any = Image.open(io.BytesIO(x.numpy().tobytes()), formats=("JPEG",))
        picture = picture.convert(_MODES[mode]) if _MODES[mode] else picture
        array = np.asarray(picture)
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidArgumentError(
            f"decode_jpeg: the data is not a JPEG image. Got {error}, expected a whole JPEG file. Check what was read."
        ) from error
    return to_tensor(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))
