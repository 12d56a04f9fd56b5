"""Modes of tools/fuzz.py that read files which were changed at random: FileFormatError, or what the file holds, and nothing else.

    python tools/fuzz.py files --calls 1000000      pickles of `save`                 load
    python tools/fuzz.py torch                      .pth of PyTorch, both layouts      load
    python tools/fuzz.py numpy                      .npy and .npz                      load
    python tools/fuzz.py safetensors                                                   load
    python tools/fuzz.py models                     .pdmodel
    python tools/fuzz.py params                     .pdiparams
    python tools/fuzz.py json                       .json of Paddle 3
    python tools/fuzz.py onnx                       .onnx; needs the package onnx
    python tools/fuzz.py pt2                        archives of torch.export
    python tools/fuzz.py paddle1                    folders of Paddle 1                jit.load's reader, and load
    python tools/fuzz.py saved                      all files of jit.save together     jit.load's reader
    python tools/fuzz.py checkpoints                folders of distributed checkpoints load_whole
    python tools/fuzz.py training                   files of Checkpoint                restore
    python tools/fuzz.py inspect                    one of each kind                   wherry inspect

Reading may take a small multiple of the file's bytes (`room_for`) and no seconds; it opens nothing but the file and runs no code, which
a hook of Python's audit events watches. A part of the programs that can be read is run with small inputs: a clear error, or an answer.
"""
from __future__ import annotations

import contextlib
import difflib  # noqa: F401  errors import it late, and it makes a class from text
import io
import os
import pickle
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_changes import changed
from fuzz_children import ROOM, SLOW, Findings, TooSlow, bound_memory, set_alarm

import wherry
from wherry_tensor.protobuf import ModelFileError
from wherry_train.pickle_reader import FileFormatError

REPOSITORY = Path(__file__).resolve().parent.parent
FILES_OF_A_CHILD = 500
_SECONDS = 2e-7  # of the processor for a byte: `json` alone takes 1.3e-7 beside busy neighbours
PYTHONS_OWN = (AttributeError, KeyError, IndexError, ZeroDivisionError, OverflowError, RecursionError, AssertionError, SystemError, UnboundLocalError,
               NameError, StopIteration, UnicodeError)


def room_for(size: int) -> int:
    """Bytes that reading a file of this size may take beyond what the process has."""
    return (48 << 20) + 64 * size


class Watch:
    """What happened in this process that no reader may do."""

    def __init__(self, folder: str) -> None:
        self.seen: list[str] = []
        allowed = (folder, tempfile.gettempdir(), sys.prefix, sys.base_prefix, REPOSITORY, "/dev", "/proc", "/usr/lib", *filter(None, sys.path))
        self.roots = tuple(map(os.path.realpath, allowed))
        self.pid = 0

    def begin(self) -> None:
        """From now on; what is imported late is imported by then."""
        if self.pid != os.getpid():
            self.pid = os.getpid()
            sys.addaudithook(self._event)

    def _event(self, event: str, given: tuple[Any, ...]) -> None:
        if self.pid != os.getpid():
            return
        if event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "pickle.find_class", "ctypes.dlopen"):
            self.seen.append(f"{event}{given!r:.200}")
        elif event == "exec" and not getattr(given[0], "co_filename", "").startswith((*self.roots, "<frozen")) and not _of_namedtuple(given[0]):
            self.seen.append(f"exec of {given[0]!r:.200}")
        elif event == "open" and isinstance(given[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(given[0]))
            if not path.startswith(self.roots):
                self.seen.append(f"open({path!r:.200})")


def _of_namedtuple(code: Any) -> bool:
    """Whether a module that is imported late makes a class of the standard library's from text."""
    return any("_tuple_new" in getattr(part, "co_names", ()) for part in getattr(code, "co_consts", ()))


class Files:
    """File number n, for a reader."""

    what = "files"

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.folder = tempfile.mkdtemp(prefix="wherry-fuzz-")
        self.watch = Watch(self.folder)
        self.path = os.path.join(self.folder, "changed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.sound = self.sound_files()
            for number, data in enumerate(self.sound[:200]):  # what is imported late is imported here, once for all children
                with contextlib.suppress(Exception):
                    self.take(data, number)

    def make(self, number: int) -> bytes:
        rng = random.Random(f"file {self.seed}/{number}")
        return changed(rng, rng.choice(self.sound), self.sound)

    def shown(self, number: int) -> str:
        return f"{self.what}( --only {number} --seed {self.seed} )"

    def sound_files(self) -> list[bytes]:
        """Files that are read."""
        return pickles()

    def take(self, data: bytes, number: int) -> None:
        """Read a file."""
        if number % 4:
            wherry.load(io.BytesIO(data), return_numpy=bool(number & 4))
            return
        with self.written(data) as path:
            wherry.load(path)

    @contextlib.contextmanager
    def written(self, data: bytes, ending: str = "") -> Iterator[str]:
        """A file with this content."""
        path = f"{self.path}-{os.getpid()}{ending}"
        with open(path, "wb") as file:
            file.write(data)
        try:
            yield path
        finally:
            os.unlink(path)

    def one(self, number: int, findings: Findings, loud: bool = False) -> None:
        data = self.make(number)
        if loud:
            print(data, file=sys.stderr, flush=True)
        self.watch.begin()
        set_alarm(SLOW)
        bound_memory(room_for(len(data)))
        begun = time.process_time()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self.take(data, number)
        except TooSlow:
            findings.add(f"slow: {self.what}", f"file {number} takes more than {SLOW} s")
        except (FileFormatError, ModelFileError):
            pass
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            findings.add(f"{type(error).__name__} at {where}", f"file {number}: {type(error).__name__} at {where}: {str(error)[:200]}")
        finally:
            set_alarm(0)
            bound_memory(ROOM)
        if (took := time.process_time() - begun) > max(2, len(data) * _SECONDS):
            findings.add(f"slow: {self.what}", f"file {number} took {took:.1f} s ({len(data)} bytes)")
        for seen in self.watch.seen:
            findings.add(f"did: {seen.split('(')[0]}", f"file {number} {seen}")
        self.watch.seen.clear()


def pickles() -> list[bytes]:
    """What `save` and others' pickles hold."""
    net = wherry.nn.Sequential(wherry.nn.Linear(3, 2), wherry.nn.BatchNorm1D(2))
    optimizer = wherry.optimizer.Adam(learning_rate=wherry.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters())
    net(wherry.ones([4, 3])).sum().backward()
    optimizer.step()
    contents: list[Any] = [
        net.state_dict(), optimizer.state_dict(), {"a": [1, 2.5, None, True, "text", b"bytes", (1, (2,)), {"k": {1, 2}}]},
        [wherry.to_tensor(np.arange(6).reshape(2, 3).T), wherry.ones([2], "bfloat16"), wherry.zeros([0, 3])],
        {"x": np.arange(5.0), "b": np.array([True, False]), "c": np.ones((2, 2), "complex64", order="F"), 3: np.float32(1)},
        wherry.to_tensor(2.0), {"deep": [[[[[1]]]]], "big": 2**100, "e": [1.5] * 300},
    ]
    files = []
    for content in contents:
        for protocol in (2, 4):
            wherry.save(content, file := io.BytesIO(), protocol=protocol)
            files.append(file.getvalue())
    for content in ({"w": np.arange(3.0), "n": "x"}, [np.arange(4).reshape(2, 2)] * 2, {"s": {1, 2}, "f": frozenset([3]), "c": 1 + 2j}):
        for protocol in (0, 2, 3, 4, 5) if isinstance(content, dict) else (2, 4):
            files.append(pickle.dumps(content, protocol))
    return files + of_others("*.pdparams", "*.pdopt", "*.binary")


def of_others(*patterns: str) -> list[bytes]:
    """Files that other frameworks wrote."""
    folder = REPOSITORY / "packages" / "train" / "tests" / "data"
    return [path.read_bytes() for pattern in patterns for path in sorted(folder.glob(pattern))]


class Torch(Files):
    what = "torch"

    def sound_files(self) -> list[bytes]:
        return of_others("*.pth", "*.pt")


class NumPy(Files):
    what = "numpy"

    def sound_files(self) -> list[bytes]:
        files = of_others("*.npy", "*.npz")
        complex_, texts = np.ones((2, 3), "complex64", order="F"), np.array(["a", "bc"])
        for array in (np.arange(12).reshape(3, 4), complex_, texts, np.zeros((0, 3), ">f8"), np.array(True)):
            np.save(file := io.BytesIO(), array)
            np.savez_compressed(packed := io.BytesIO(), array, b=array)
            files += [file.getvalue(), packed.getvalue()]
        return files


class Safetensors(Files):
    what = "safetensors"

    def sound_files(self) -> list[bytes]:
        from fuzz_quantized import safetensors_of

        state = {dtype: np.ones((2, 3), dtype) for dtype in ("float16", "float32", "int32", "int64", "int8")}
        return [*of_others("*.safetensors"), safetensors_of(state), safetensors_of({"s": np.float32(1), "e": np.zeros((0, 2), "int8")})]
