"""Large files in the encodings that browsers take, compressed as well as can be, once."""
from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import sys
import threading
from pathlib import Path
from typing import Literal

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Encoding = Literal["br", "gzip"]
BEST = 11  # of brotli: a fifth smaller than its usual 5, and a hundred times slower
QUICK = 5
PACKED = ".zst"  # ends addresses of what pages unpack themselves
EFFORT = 19  # of Zstandard: its best, 22, gains a thousandth
_ONE = threading.Lock()


class Encoded:
    """Content that is sent again and again.

    The first request for brotli gets what a moment can do; a thread then compresses with all effort, and keeps the
    result in a folder for the next start.

    Args:
        content: what is sent.
        folder: where the result is kept; None keeps it in memory alone, and so does a folder that cannot be written.
        quality: of brotli, for all effort.
    """

    def __init__(self, content: bytes, folder: Path | None = None, quality: int = BEST) -> None:
        self.content = content
        self.digest = hashlib.sha256(content).hexdigest()[:16]
        self._folder = folder
        self._file = folder / f"{self.digest}.{quality}.br" if folder else None
        self._quality = quality
        self._bodies: dict[Encoding, bytes] = {}
        self._best = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def body(self, encoding: Encoding | None) -> bytes:
        """The content, encoded."""
        if encoding is None:
            return self.content
        with self._lock:
            if encoding == "br" and not self._best and self._thread is None:
                if not self._read():
                    self._bodies["br"] = brotli.compress(self.content, quality=QUICK)
                    self._thread = threading.Thread(target=self._behind, daemon=True, name=f"brotli {self.digest}")
                    self._thread.start()
            elif encoding == "gzip" and "gzip" not in self._bodies:
                self._bodies["gzip"] = gzip.compress(self.content, 9, mtime=0)
            return self._bodies[encoding]

    def _behind(self) -> None:
        """Compress when nothing else does, and where the system can say so of a thread, when nothing else runs: a page is just starting."""
        with contextlib.suppress(AttributeError, OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        with _ONE:
            self.compress()

    def compress(self) -> int:
        """Compress with all effort now, unless that has been done; returns the number of bytes."""
        if not self._best and not self._read():
            body = brotli.compress(self.content, quality=self._quality, lgwin=24)
            self._keep(body)
            self._bodies["br"] = body
            self._best = True
        return len(self._bodies["br"])

    def packed(self) -> bytes:
        """The content as pages unpack it themselves (static/js/packed.js), for servers that compress nothing: a fifth smaller than gzip makes it."""
        place = self._folder / f"{self.digest}{PACKED}" if self._folder else Path(os.devnull)
        with contextlib.suppress(OSError, zstd.ZstdError):
            body = place.read_bytes()
            if zstd.decompress(body) == self.content:
                return body
        body = zstd.compress(self.content, EFFORT)
        if self._folder:
            keep(place, body)
        return body

    def _read(self) -> bool:
        try:
            body = self._file.read_bytes() if self._file else b""
        except OSError:
            return False
        try:
            self._best = bool(body) and brotli.decompress(body) == self.content
        except brotli.error:
            return False  # broken on disk: made again
        if self._best:
            self._bodies["br"] = body
        return self._best

    def _keep(self, body: bytes) -> None:
        if self._file is not None:
            keep(self._file, body)


def keep(file: Path, content: bytes) -> None:
    """Write a file whole or not at all; not at all where the folder is somebody else's: memory has the content."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(file)
