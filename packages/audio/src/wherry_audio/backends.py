"""`paddle.audio.backends`: reading and writing wave files, with Python's `wave` module."""
from __future__ import annotations

import os
import wave
from dataclasses import dataclass
from typing import Any, BinaryIO

from wherry_tensor import Tensor, to_tensor
from wherry_tensor.arguments import flag, integer, numpy_module, path_of, require_tensor
from wherry_tensor.errors import (
    AssertedArgumentError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    short,
)
from wherry_tensor.explained import explained

__all__ = ["AudioInfo", "get_current_backend", "info", "list_available_backends", "load", "save", "set_backend"]

_BACKEND = "wave_backend"


def get_current_backend() -> str:
    """The name of what reads and writes files.

    Source:
        `paddle.audio.backends.get_current_backend`.

    Examples:
        >>> wherry.audio.backends.get_current_backend()
        'wave_backend'
    """
    return _BACKEND


def list_available_backends() -> list[str]:
    """The names that `set_backend` takes. Paddle has others when paddleaudio is installed, which is made for Paddle alone.

    Source:
        `paddle.audio.backends.list_available_backends`.

    Examples:
        >>> wherry.audio.backends.list_available_backends()
        ['wave_backend']
    """
    return [_BACKEND]


def set_backend(backend_name: str) -> None:
    """Choose what reads and writes files.

    Args:
        backend_name: one of `list_available_backends()`.

    Raises:
        NotImplementedError: it is none of these.

    Source:
        `paddle.audio.backends.set_backend`.

    Examples:
        >>> wherry.audio.backends.set_backend("wave_backend")
    """
    if backend_name != _BACKEND:
        raise UnimplementedError(
            f"set_backend: there is no such backend. Got {short(backend_name)}, expected one of {list_available_backends()}. Read other formats with "
            f"the package soundfile, and pass arrays to wherry.to_tensor."
        )


@dataclass
class AudioInfo:
    """What the head of a file says of a recording.

    Attributes:
        sample_rate: samples of a channel in a second.
        num_samples: samples of a channel.
        num_channels: 1 is mono, 2 stereo.
        bits_per_sample: 8, 16, 24 or 32.
        encoding: "PCM_S".

    Source:
        `paddle.audio.backends.backend.AudioInfo`.

    Examples:
        >>> wherry.audio.backends.AudioInfo(8000, 4000, 1, 16, "PCM_S").num_samples / 8000  # seconds
        0.5
    """

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def _opened(op_name: str, filepath: Any) -> tuple[wave.Wave_read, BinaryIO | None]:
    """The reader, and the file that has to be closed after it: wave closes neither ours nor the caller's."""
    own = None
    if isinstance(filepath, (str, os.PathLike)):
        own = open(path_of(filepath, op_name, "filepath"), "rb")  # noqa: SIM115  the caller closes it
    elif not hasattr(filepath, "read"):
        raise InvalidTypeError(
            f"{op_name}: this is neither a path nor a file. Got {short(filepath)} ({type(filepath).__name__}), expected the path of a wave file."
        )
    try:
        return wave.open(own or filepath, "rb"), own
    except (wave.Error, EOFError) as error:
        if own:
            own.close()
        raise InvalidArgumentError(
            f"{op_name}: {short(getattr(own, 'name', filepath))} is not a wave file that can be read. Got {str(error) or 'too few bytes'}, expected "
            f"whole numbers (PCM). Convert it, for instance with the package soundfile."
        ) from error


def info(filepath: str | os.PathLike[str] | BinaryIO) -> AudioInfo:
    """What the head of a wave file says.

    Args:
        filepath: its path, or a file that is open for reading bytes.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a wave file.
        TypeError: this is neither a path nor a file (also a ValueError).

    Source:
        `paddle.audio.info`.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> wherry.audio.save(file, wherry.zeros([2, 400]), 8000)
        >>> _ = file.seek(0)
        >>> wherry.audio.info(file)
        AudioInfo(sample_rate=8000, num_samples=400, num_channels=2, bits_per_sample=16, encoding='PCM_S')
    """
    reader, own = _opened("info", filepath)
    try:
        return AudioInfo(reader.getframerate(), reader.getnframes(), reader.getnchannels(), reader.getsampwidth() * 8, "PCM_S")
    finally:
        reader.close()
        if own:
            own.close()


def load(
    filepath: str | os.PathLike[str] | BinaryIO, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """A recording from a wave file of 8, 16, 24 or 32 bits.

    Args:
        filepath: its path, or a file that is open for reading bytes.
        frame_offset: how many samples of each channel are skipped.
        num_frames: how many are read at most; -1 reads all.
        normalize: numbers from -1 up to 1; False leaves the integers of the file.
        channels_first: `[channels, time]`; False gives `[time, channels]`.

    Returns:
        A float32 Tensor, and the number of samples in a second.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a wave file, or a number is negative.
        TypeError: an argument is of another type (also a ValueError).

    Source:
        `paddle.audio.load`. Other than there, `frame_offset` counts without `num_frames` too, and files of 8, 24 and 32 bits are read.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> wherry.audio.save(file, wherry.to_tensor([[0.0, 0.5, -0.5, 0.25]]), 8000)
        >>> _ = file.seek(0)
        >>> waveform, sample_rate = wherry.audio.load(file, frame_offset=1)
        >>> print(waveform.numpy(), sample_rate)
        [[ 0.5  -0.5   0.25]] 8000
    """
    offset, count = integer(frame_offset, "load", "frame_offset"), integer(num_frames, "load", "num_frames")
    if offset < 0 or count < -1:
        raise InvalidArgumentError(
            f"load: there is no such piece. Got frame_offset={offset} and num_frames={count}, expected 0 or more, and -1 for all that follow."
        )
    flag(normalize, "load", "normalize")
    flag(channels_first, "load", "channels_first")
    reader, own = _opened("load", filepath)
    try:
        reader.setpos(min(offset, reader.getnframes()))
        data = reader.readframes(reader.getnframes() - reader.tell() if count < 0 else count)
        width, channels, rate = reader.getsampwidth(), reader.getnchannels(), reader.getframerate()
    finally:
        reader.close()
        if own:
            own.close()
    np = numpy_module()
    data = data[: len(data) // (width * channels) * (width * channels)]  # of a file that ends early, the last sample may be cut
    if width == 3:  # the sign is in the highest of three bytes: as the upper ones of four they are the number times 256
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        numbers = wide.reshape(-1).view("<i4") >> 8
    else:
        numbers = np.frombuffer(data, {1: "u1", 2: "<i2", 4: "<i4"}[width])
        numbers = numbers.astype(np.int32) - 128 if width == 1 else numbers  # bytes have no sign in wave files
    found = numbers.reshape(-1, channels).astype(np.float32)
    if normalize:
        found = found / np.float32(2 ** (8 * width - 1))
    return to_tensor(np.ascontiguousarray(found.T) if channels_first else found), rate


def save(
    filepath: str | os.PathLike[str] | BinaryIO, src: Tensor, sample_rate: int, channels_first: bool = True, encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Write a recording into a wave file of 16 bits.

    Args:
        filepath: the path, or a file that is open for writing bytes.
        src: floating, from -1 up to 1, where what is louder is cut off; or int16. `[channels, time]`.
        sample_rate: samples in a second.
        channels_first: False takes `[time, channels]`.
        encoding: no effect: integers of 16 bits are written.
        bits_per_sample: 16.

    Raises:
        OSError: it cannot be written.
        AssertionError: `src` has not two axes (also a ValueError).
        ValueError: `bits_per_sample` is not 16.
        TypeError: `src` is not a Tensor, or neither floating nor int16 (also a ValueError).

    Source:
        `paddle.audio.save`. Other than there, numbers beyond 1 are cut off and do not wrap around, and float64 is converted.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tone.wav")
        ...     wherry.audio.save(path, wherry.zeros([1, 400]), 8000)
        ...     path.stat().st_size
        844
    """
    require_tensor(src, "save", "src")
    if src.ndim != 2:
        raise AssertedArgumentError(f"save: Expected 2D tensor. Got shape {src.shape}, expected [channels, time]. Add an axis: src.unsqueeze(0).")
    if bits_per_sample not in (16, None):
        raise InvalidArgumentError(f"save: Invalid bits_per_sample, only support 16 bit. Got {short(bits_per_sample)}, expected 16.")
    rate = int(sample_rate) if isinstance(sample_rate, float) else integer(sample_rate, "save", "sample_rate")
    if rate < 1:
        raise InvalidArgumentError(f"save: the rate is not a number of samples in a second. Got sample_rate={sample_rate}, expected 1 or more.")
    np, numbers = numpy_module(), src.astype("float32").numpy() if src.dtype.is_floating else src.numpy()
    if src.dtype.is_floating:
        numbers = np.clip(np.nan_to_num(numbers) * 32768.0, -32768, 32767).astype(np.int16)
    elif numbers.dtype != np.int16:
        raise InvalidTypeError(f"save: src is not sound. Got {src.dtype}, expected floating numbers from -1 to 1, or int16. Use src.astype('int16').")
    frames = numbers.T if flag(channels_first, "save", "channels_first") else numbers
    with wave.open(os.fspath(filepath) if isinstance(filepath, os.PathLike) else filepath, "wb") as writer:
        writer.setnchannels(frames.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(np.ascontiguousarray(frames, "<i2").tobytes())


explained(globals())
