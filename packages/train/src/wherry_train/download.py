"""Files from the network, kept in a folder: weights of models, and data sets.

A file appears in the folder when it is complete and has the digest that is expected of it.
"""
from __future__ import annotations

import hashlib
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnavailableError, short

__all__ = ["WEIGHTS_HOME", "fetched", "get_weights_path_from_url", "md5_of"]

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")

_TRIES = 3
_TIMEOUT = 30  # seconds without an answer
_PIECE = 1 << 20


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of a file of weights, which is downloaded if it is missing.

    Args:
        url: its address, http or https.
        md5sum: of the file; None takes any.

    Returns:
        The path, in `~/.cache/paddle/hapi/weights`, where Paddle keeps its own.

    Raises:
        RuntimeError: it cannot be downloaded, or is another file than expected.
        ValueError: `url` is not an http or https address of a file.

    Source:
        `paddle.utils.download.get_weights_path_from_url`.

    Examples:
        >>> wherry.utils.download.get_weights_path_from_url("ftp://example.org/weights.pdparams")
        Traceback (most recent call last):
        wherry_tensor.errors.InvalidArgumentError: (InvalidArgument) download: downloading from 'ftp://example.org/...' is not possible. ...
    """
    return fetched(url, WEIGHTS_HOME, md5sum)


def fetched(url: str, folder: str | os.PathLike[str], md5: str | None = None) -> str:
    """The path of a file in `folder`, which is downloaded if it is missing or has another MD5.

    Args:
        url: its address, http or https.
        folder: where it is kept; made where it is missing.
        md5: of the file, in hexadecimal digits; None takes any.

    Raises:
        RuntimeError: it cannot be downloaded, or is another file than expected.
        TypeError: `url` is not text.
        ValueError: `url` is not an http or https address of a file.
        OSError: the folder cannot be written.
    """
    if not isinstance(url, str):
        raise InvalidTypeError(f"download: the address is not a str. Got {short(url)} ({type(url).__name__}), expected a str. It begins with https://.")
    parts = urllib.parse.urlsplit(url)
    name = os.path.basename(urllib.parse.unquote(parts.path))
    if parts.scheme not in ("http", "https") or name in ("", ".", ".."):
        raise InvalidArgumentError(f"download: downloading from {short(url)} is not possible. Got no address of a file, expected http:// or https://.")
    target = os.path.join(folder, name)
    if os.path.isfile(target) and (md5 is None or md5_of(target) == md5):
        return target
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    problem = ""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(attempt)
        try:
            found = _received(url, temporary)
            if md5 is None or found == md5:
                os.replace(temporary, target)
                return target
            problem = f"a file whose MD5 is {found}, expected {md5}"
        except urllib.error.HTTPError as error:
            problem = f"the answer {error.code} {error.reason}, expected the file"
            if error.code in (401, 403, 404, 410):  # asking again changes nothing
                break
        except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
            problem = f"no answer ({getattr(error, 'reason', None) or error}), expected the file"
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)
    raise UnavailableError(f"download: {url} could not be downloaded. Got {problem}. Check the network, or put the file there yourself: {target}")


def _received(url: str, path: str) -> str:
    """Write what an address answers to a file; its MD5."""
    digest = hashlib.md5(usedforsecurity=False)
    request = urllib.request.Request(url, headers={"User-Agent": "wherry"})  # noqa: S310  its scheme was checked
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer, open(path, "wb") as out:  # noqa: S310
        expected = answer.headers.get("Content-Length")
        count = 0
        while piece := answer.read(_PIECE):
            digest.update(piece)
            count += len(piece)
            out.write(piece)
    if expected is not None and expected.isdigit() and int(expected) != count:
        raise ConnectionError(f"it ended after {count} of {expected} bytes")
    return digest.hexdigest()


def md5_of(path: str | os.PathLike[str]) -> str:
    """The MD5 of a file, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
