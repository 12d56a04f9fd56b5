"""Requests to parameter servers and their answers: a header in JSON, then the bytes of arrays, one frame each.

ZeroMQ carries them, in its own encryption (CURVE): servers and workers derive their keys from the secret of the job, so a packet of somebody
who has not the secret is dropped before it is read. Nothing that arrives is executed, and no array is larger than the frame it came in.
"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError, UnavailableError, short

__all__ = ["Keys", "import_zmq", "packed", "unpacked"]

DTYPES = ("float32", "float64", "float16", "int64", "int32", "uint8", "bool")
LONGEST_HEADER = 1 << 20  # bytes
HIGHEST_RANK = 12


def import_zmq() -> Any:
    """The module `zmq`.

    Raises:
        RuntimeError: it is not installed.
    """
    try:
        import zmq
    except ImportError:
        raise UnavailableError("parameter servers speak over ZeroMQ, and pyzmq is not installed: pip install 'wherry-distributed[ps]'") from None
    return zmq


class Keys:
    """What servers and workers of one job prove to each other.

    Args:
        secret: the text that only the processes of the job know; None takes it from `PADDLE_JOB_SECRET`.

    Raises:
        RuntimeError: there is no secret.
    """

    def __init__(self, secret: str | None = None) -> None:
        secret = os.environ.get("PADDLE_JOB_SECRET", "") if secret is None else secret
        if not secret:
            raise PreconditionNotMetError(
                "parameter server: the job has no secret, without which anybody could write parameters. Got no PADDLE_JOB_SECRET, expected the same "
                "text in the environment of every process. python -m wherry.distributed.launch sets one; processes started by hand need it too."
            )
        self._secret = secret.encode()

    def pair(self, role: str) -> tuple[bytes, bytes]:
        """The public and the secret key of all processes of a role, in ZeroMQ's text form (Z85)."""
        import zmq.utils.z85

        secret = zmq.utils.z85.encode(hmac.new(self._secret, f"wherry {role}".encode(), hashlib.sha256).digest())
        return import_zmq().curve_public(secret), secret


def packed(header: dict[str, Any], arrays: Sequence[np.ndarray[Any, Any]] = ()) -> list[Any]:
    """The frames of a message."""
    arrays = [np.ascontiguousarray(x) if x.ndim else x for x in arrays]
    for x in arrays:
        if x.dtype.name not in DTYPES:
            raise InvalidArgumentError(
                f"parameter server: there are no tables of this dtype. Got {x.dtype.name}, expected one of {', '.join(DTYPES)}. Cast it."
            )
    shapes = [[x.dtype.name, *x.shape] for x in arrays]
    return [json.dumps({**header, "arrays": shapes}).encode(), *(memoryview(x.data).cast("B") if x.size else b"" for x in arrays)]


def unpacked(frames: Sequence[Any]) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]]]:
    """The header and the arrays of a message, which own their memory no longer than the frames.

    Raises:
        ValueError: it is not a message, or an array does not fit its frame.
    """
    if not frames or len(frames[0]) > LONGEST_HEADER:
        raise InvalidArgumentError("parameter server: a message has no header, or one of more than 1 MiB.")
    try:
        header = json.loads(bytes(frames[0]))
        shapes = header.pop("arrays")
        if not isinstance(header, dict) or not isinstance(shapes, list) or len(shapes) != len(frames) - 1:
            raise ValueError("its arrays are not those that the header names")
        return header, [_array(shape, frame) for shape, frame in zip(shapes, frames[1:], strict=True)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidArgumentError(f"parameter server: this is not a message: {short(str(error))}.") from None


def _array(shape: Any, frame: Any) -> np.ndarray[Any, Any]:
    dtype, *sizes = shape
    if dtype not in DTYPES or len(sizes) > HIGHEST_RANK or not all(type(n) is int and n >= 0 for n in sizes):
        raise ValueError(f"there is no such array: {shape}")
    count, width = 1, np.dtype(dtype).itemsize
    for n in sizes:
        count *= n
    if count * width != len(frame):
        raise ValueError(f"an array of {sizes} {dtype} has {count * width} bytes, not {len(frame)}")
    return np.frombuffer(frame, dtype).reshape(sizes)
