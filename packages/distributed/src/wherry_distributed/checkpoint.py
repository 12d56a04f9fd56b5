"""Checkpoints of several processes, which any other number of processes loads.

A checkpoint is a folder: files with the bytes of pieces of tensors, and `metadata.json`, which says for each tensor, by its name, its whole
shape and which piece of it lies where. A process writes what it has and others have not; what several have, one of them writes. A process
that loads reads the pieces that meet its own part.

A save is decided by one step, the replacement of `metadata.json`: whoever comes after a kill at any moment finds the old state or the new
one, and files that nothing refers to, which the next save removes. Nothing in the files is executed.
"""
from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_distributed.collective import all_gather_object
from wherry_distributed.fleet.optimizers import HybridParallelOptimizer, Wrapped, states_of
from wherry_distributed.memory import host_copy
from wherry_distributed.parallel import DataParallel, beside
from wherry_distributed.sharding import Sharded
from wherry_distributed.world import Group, group_of, raise_everywhere
from wherry_distributed.wrappers import MetaParallelBase
from wherry_nn import Layer
from wherry_tensor import Tensor, ops, to_tensor
from wherry_tensor._core import MAX_RANK
from wherry_tensor.arguments import path_of, require
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import ExternalError, InvalidArgumentError, InvalidTypeError, short
from wherry_train.atomic_files import replace_file
from wherry_train.optimizer import Optimizer
from wherry_train.pickle_reader import FileFormatError

METADATA = "metadata.json"
FORMAT = 1
ALIGNED = 64  # bytes
HELD_AS = {"bfloat16": "uint16"}  # NumPy's dtype of what NumPy has not


@dataclass
class Part:
    """A tensor, or this process's part of one.

    Attributes:
        tensor: what this process has.
        shape: of the whole.
        begin: where the part begins along each axis; None where it is a range of the elements one after the other.
        first: of such a range, the first element.
    """

    tensor: Tensor
    shape: list[int]
    begin: list[int] | None
    first: int = 0

    @classmethod
    def of(cls, x: Any, like: Any = None) -> Part:
        """What a tensor is part of; `like` is the parameter that a state of an optimizer belongs to."""
        if isinstance(x, Part):
            return x
        p = x if like is None or list(like.shape) != list(x.shape) else like
        flat = getattr(p, "flat_piece", None)
        if flat is not None and list(p.shape) != flat[0]:
            return cls(x, flat[0], None, flat[1].rank * x.shape[0])
        axis = getattr(p, "split_axis", None)
        if axis is None or not getattr(p, "is_distributed", False):
            return cls(x, list(x.shape), [0] * x.ndim)
        shape, begin = list(x.shape), [0] * x.ndim
        shape[axis], begin[axis] = shape[axis] * p.split_group.nranks, shape[axis] * p.split_group.rank
        return cls(x, shape, begin)

    def used(self) -> int:
        """Elements that count: after the last piece of a range there is padding."""
        return self.tensor.size if self.begin is not None else max(0, min(self.tensor.size, int(np.prod(self.shape, dtype=np.int64)) - self.first))

    def place(self) -> tuple[Any, ...]:
        """What makes two parts the same."""
        return ("flat", self.first, self.used()) if self.begin is None else ("box", *self.begin, *self.tensor.shape)


def _values(x: Tensor) -> np.ndarray[Any, Any]:
    with no_grad():
        return host_copy(x).numpy()


class SaveTask:
    """A save on its way. `wait()` returns when it is complete, and raises what went wrong."""

    def __init__(self, work: Callable[[], None] | None = None) -> None:
        self.error: BaseException | None = None
        self.thread: threading.Thread | None = None
        if work is not None:
            def run() -> None:
                try:
                    work()
                except BaseException as error:
                    self.error = error

            self.thread = threading.Thread(target=run, name="checkpoint")  # no daemon: a program that ends waits for it
            self.thread.start()

    def is_completed(self) -> bool:
        """Is it complete?"""
        return self.thread is None or not self.thread.is_alive()

    def wait(self) -> None:
        """Wait until it is complete.

        Raises:
            OSError: a process could not write.
        """
        if self.thread is not None:
            self.thread.join()
        if self.error is not None:
            error, self.error = self.error, None
            raise error


_pending: dict[int, SaveTask] = {}
_lines: dict[int, Group] = {}


def save_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0, unique_id: int | None = None,
    async_save: bool = False,
) -> SaveTask:
    """Write a state that processes have in parts. All processes of the group call it, with the same path of a folder that all of them see.

    Args:
        state_dict: tensors by name, in dicts of any depth; numbers and text are taken from the first process. Parameters of divided layers,
            and pieces of `group_sharded_parallel`, are known as parts of larger tensors; see `training_state` for whole trainings.
        path: the folder.
        process_group: the processes; None for all.
        coordinator_rank: writes the description.
        unique_id: no effect: a save replaces the one before, when it is complete.
        async_save: copy the values and return; a thread writes them. The next save waits for it.

    Returns:
        A task; `wait()` raises what went wrong.

    Raises:
        OSError: a process could not write: all raise, and what was there before stays.
        TypeError: a value cannot be part of a checkpoint.
        CollectiveError: other processes call something else.

    Source:
        `paddle.distributed.save_state_dict`.
    """
    folder = path_of(path, "save_state_dict")
    members = group_of("save_state_dict", process_group)
    if members is None:
        return SaveTask()
    earlier = _pending.pop(members.id, None)
    if earlier is not None:
        earlier.wait()
    tensors, plain = _flattened(state_dict)
    parts = {key: Part.of(x) for key, x in tensors.items()}
    if not async_save:
        _write(parts, plain, folder, members, coordinator_rank)
        return SaveTask()
    with no_grad():
        copies = {key: Part(host_copy(part.tensor), part.shape, part.begin, part.first) for key, part in parts.items()}
    if members.comm is not None and members.id not in _lines:
        _lines[members.id] = beside(members)  # its messages are in no order with those of the program
    line = _lines.get(members.id, members)
    plain = json.loads(_as_json(plain))
    task = SaveTask(lambda: _write(copies, plain, folder, line, coordinator_rank))
    _pending[members.id] = task
    return task


def _flattened(state: Any, before: tuple[str, ...] = ()) -> tuple[dict[tuple[str, ...], Any], dict[tuple[str, ...], Any]]:
    tensors: dict[tuple[str, ...], Any] = {}
    plain: dict[tuple[str, ...], Any] = {}
    if not isinstance(state, dict):
        raise InvalidTypeError(
            f"save_state_dict: state_dict is not a dict. Got {short(state)} ({type(state).__name__}), expected a dict. Pass a "
            f"state_dict()."
        )
    for name, value in state.items():
        key = (*before, str(name))
        if isinstance(value, (Tensor, Part)):
            tensors[key] = value
        elif isinstance(value, np.ndarray):
            tensors[key] = to_tensor(value)
        elif isinstance(value, dict):
            inner = _flattened(value, key)
            tensors |= inner[0]
            plain |= inner[1]
        else:
            plain[key] = value
    return tensors, plain


def _as_json(plain: Any) -> str:
    try:
        return json.dumps([[list(key), value] for key, value in plain.items()] if isinstance(plain, dict) else plain)
    except TypeError as error:
        raise InvalidTypeError(
            f"save_state_dict: a value cannot be part of a checkpoint ({error}). Got one in {short([list(key) for key in plain])}, expected tensors, "
            f"numbers, text, and lists and dicts of them. Leave it out."
        ) from None


def _all_agree(members: Group, error: BaseException | None, undo: Callable[[], None], what: str) -> None:
    """Raise in all processes where one has failed."""
    said: list[Any] = []
    all_gather_object(said, None if error is None else f"rank {members.ranks[members.rank]}: {type(error).__name__}: {error}", members)
    failed = [each for each in said if each is not None]
    if failed:
        undo()
        all_gather_object(said, None, members)  # who raises first finds that nothing is left of it
        kind = type(error) if isinstance(error, (InvalidArgumentError, OSError)) else ExternalError
        raise kind(f"{what} {'; '.join(failed[:3])}")


def _write(parts: dict[tuple[str, ...], Part], plain: Any, path: str, members: Group, coordinator: int) -> None:
    token, mine = secrets.token_hex(6), [(key, part.shape, part.tensor.dtype.name, part.place()) for key, part in parts.items()]
    found: list[Any] = []
    all_gather_object(found, (token, mine), members)
    token = found[0][0]
    described = _described([each for _, each in found])
    name = f"{token}.{members.ranks[members.rank]}.distcp"
    file, error, written = os.path.join(path, name), None, []
    try:
        text = _as_json(plain) if isinstance(plain, dict) else json.dumps(plain)
        os.makedirs(path, exist_ok=True)
        own = [key for (key, place), rank in described.items() if rank == members.rank and key in parts and parts[key].place() == place]
        written = _write_pieces(file, name, parts, own)
    except (OSError, InvalidTypeError) as failure:
        error = failure

    def undo() -> None:
        with contextlib.suppress(OSError):
            os.unlink(file)

    _all_agree(members, error, undo, f"save_state_dict: {path} could not be written; what was there before stays.")
    pieces: list[Any] = []
    all_gather_object(pieces, written, members)
    if members.ranks[members.rank] == coordinator:
        try:
            _commit(path, token, [each for some in pieces for each in some], found, text)
        except OSError as failure:
            error = failure
    _all_agree(members, error, undo, f"save_state_dict: {path} could not be completed; what was there before stays.")


def _described(found: list[list[Any]]) -> dict[tuple[Any, Any], int]:
    """Which process writes each piece: of those that have it, the one with least to write.

    Raises:
        CollectiveError: processes know a tensor in different shapes or dtypes.
    """
    having: dict[tuple[Any, Any], list[int]] = {}
    known: dict[Any, Any] = {}
    for rank, each in enumerate(found):
        for key, shape, dtype, place in each:
            if known.setdefault(key, (shape, dtype)) != (shape, dtype):
                raise_everywhere(
                    f"save_state_dict: {'.'.join(key)} differs between ranks: rank {rank} has {dtype}{shape}, another one "
                    f"{known[key][1]}{known[key][0]}. "
                    f"All ranks have to save the same tensors under a name.")
            having.setdefault((key, place), []).append(rank)
    loads = [0] * len(found)
    chosen = {}
    for (key, place), ranks in having.items():
        rank = min(ranks, key=lambda r: loads[r])
        loads[rank] += int(np.prod(known[key][0], dtype=np.int64)) if place[0] == "box" else place[2]
        chosen[key, place] = rank
    return chosen


def _write_pieces(path: str, name: str, parts: dict[tuple[str, ...], Part], keys: list[tuple[str, ...]]) -> list[Any]:
    written, at = [], 0
    with open(path, "wb") as file:
        for key in keys:
            part = parts[key]
            raw = np.ascontiguousarray(_values(part.tensor).reshape(-1)[: part.used()]).tobytes()
            file.write(b"\0" * (-at % ALIGNED) + raw)
            at += -at % ALIGNED
            piece: dict[str, Any] = {"file": name, "at": at, "crc": zlib.crc32(raw)}
            piece |= {"first": part.first, "count": part.used()} if part.begin is None else {"begin": part.begin, "shape": list(part.tensor.shape)}
            written.append((key, piece))
            at += len(raw)
        file.flush()
        os.fsync(file.fileno())
    return written


def _commit(path: str, token: str, pieces: list[Any], found: list[Any], plain: str) -> None:
    tensors: dict[Any, Any] = {}
    for _, each in found:
        for key, shape, dtype, _ in each:
            tensors.setdefault(key, {"name": list(key), "shape": shape, "dtype": dtype, "pieces": []})
    for key, piece in pieces:
        tensors[key]["pieces"].append(piece)
    read = {"format": FORMAT, "tensors": list(tensors.values()), "plain": json.loads(plain)}
    text = json.dumps(read | {"crc": _checksum(read)})
    replace_file(os.path.join(path, METADATA), lambda file: file.write(text.encode()))
    for entry in os.listdir(path):
        if entry.endswith(".distcp") and not entry.startswith(f"{token}."):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(path, entry))


def _checksum(read: dict[str, Any]) -> int:
    """Of a description: a bit that turns one number into another is seen."""
    return zlib.crc32(json.dumps([read["tensors"], read["plain"]]).encode())


# Loading.


class _Stored:
    """A checkpoint that is read."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(os.path.join(path, METADATA), encoding="utf-8") as file:
                read = json.load(file)
            if read["format"] != FORMAT:
                raise KeyError("format")
            if read.get("crc", _checksum(read)) != _checksum(read):  # checkpoints before 0.3 have none
                raise ValueError("its checksum is another one")
            for each in read["tensors"]:
                _check(each)
            for key, _ in read["plain"]:
                _check_name(key)
            self.tensors = {tuple(each["name"]): each for each in read["tensors"]}
            self.plain = {tuple(key): value for key, value in read["plain"]}
        except FileNotFoundError:
            raise InvalidArgumentError(
                f"load_state_dict: there is no checkpoint. Got {path!r} without {METADATA}, expected the folder of save_state_dict. Its save may "
                f"not have "
                f"been complete."
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise FileFormatError(
                f"load_state_dict: {path!r} is damaged: {METADATA} cannot be read ({type(error).__name__}: {error}). Got it, expected what "
                f"save_state_dict "
                f"wrote. Load another checkpoint."
            ) from None
        self.read: dict[tuple[str, int], np.ndarray[Any, Any]] = {}
        self.sizes: dict[str, int] = {}  # bytes of its files

    def _size(self, entry: dict[str, Any], piece: dict[str, Any]) -> int:
        """Bytes of the file of a piece, which has all of it."""
        name = piece["file"]
        try:
            size = self.sizes[name] = self.sizes[name] if name in self.sizes else os.path.getsize(os.path.join(self.path, name))
        except OSError as error:
            raise self._incomplete(entry, error) from None
        needed = piece["at"] + _count(piece) * _dtype(entry).itemsize
        if needed > size:
            raise FileFormatError(
                f"load_state_dict: {self.path!r} is damaged. Got {size} bytes in {name}, expected {needed} for {'.'.join(entry['name'])}. "
                f"Load another checkpoint."
            )
        return size

    def _incomplete(self, entry: dict[str, Any], error: OSError) -> FileFormatError:
        return FileFormatError(
            f"load_state_dict: {self.path!r} is not complete ({error}). Got a description of {'.'.join(entry['name'])}, expected its file. "
            f"Load another checkpoint."
        )

    def bytes_of(self, entry: dict[str, Any]) -> int:
        """Bytes that a tensor takes: no more than its files have, which is looked at before memory is asked for."""
        files = {piece["file"]: self._size(entry, piece) for piece in entry["pieces"]}
        needed = math.prod(entry["shape"]) * _dtype(entry).itemsize
        if needed > sum(files.values()):
            raise FileFormatError(
                f"load_state_dict: {self.path!r} is damaged. Got {sum(files.values())} bytes in the files of {'.'.join(entry['name'])}, expected "
                f"{needed} for its shape {short(entry['shape'])}. Load another checkpoint."
            )
        return needed

    def piece(self, entry: dict[str, Any], piece: dict[str, Any]) -> np.ndarray[Any, Any]:
        """The values of a piece, one after the other."""
        known = self.read.get((piece["file"], piece["at"]))
        if known is not None and (known.size, known.dtype) == (_count(piece), _dtype(entry)):
            return known
        dtype, count = _dtype(entry), _count(piece)
        self._size(entry, piece)
        try:
            with open(os.path.join(self.path, piece["file"]), "rb") as file:
                file.seek(piece["at"])
                raw = file.read(count * dtype.itemsize)
        except OSError as error:
            raise self._incomplete(entry, error) from None
        if len(raw) != count * dtype.itemsize or zlib.crc32(raw) != piece["crc"]:
            raise FileFormatError(
                f"load_state_dict: {self.path!r} is damaged. Got {len(raw)} bytes of {'.'.join(entry['name'])} in {piece['file']} whose checksum "
                f"is another, "
                f"expected {count * dtype.itemsize}. Load another checkpoint."
            )
        values = self.read[piece["file"], piece["at"]] = np.frombuffer(raw, dtype)
        return values

    def whole(self, key: tuple[str, ...]) -> np.ndarray[Any, Any]:
        """All of a tensor.

        Raises:
            ValueError: pieces are missing.
        """
        entry = self.tensors[key]
        return self.box(key, [0] * len(entry["shape"]), entry["shape"])

    def box(self, key: tuple[str, ...], begin: list[int], shape: list[int]) -> np.ndarray[Any, Any]:
        """A part of a tensor."""
        entry = self.tensors[key]
        self.bytes_of(entry)
        if any("first" in piece for piece in entry["pieces"]):
            whole = self.range(key, 0, math.prod(entry["shape"])).reshape(entry["shape"])
            return whole[tuple(slice(b, b + n) for b, n in zip(begin, shape, strict=True))]
        out, filled = np.empty(shape, _dtype(entry)), 0
        for piece in entry["pieces"]:
            low = [max(a, b) for a, b in zip(begin, piece["begin"], strict=True)]
            high = [min(a + n, b + m) for a, n, b, m in zip(begin, shape, piece["begin"], piece["shape"], strict=True)]
            if all(a < b for a, b in zip(low, high, strict=True)):
                values = self.piece(entry, piece).reshape(piece["shape"])
                out[tuple(slice(a - b, c - b) for a, b, c in zip(low, begin, high, strict=True))] = values[
                    tuple(slice(a - b, c - b) for a, b, c in zip(low, piece["begin"], high, strict=True))]
                filled += int(np.prod([c - a for a, c in zip(low, high, strict=True)], dtype=np.int64))
        self._complete(entry, filled, out.size)
        return out

    def range(self, key: tuple[str, ...], first: int, count: int) -> np.ndarray[Any, Any]:
        """Elements one after the other."""
        entry = self.tensors[key]
        if not any("first" in piece for piece in entry["pieces"]):
            return self.whole(key).reshape(-1)[first : first + count]
        self.bytes_of(entry)
        out, filled = np.empty(count, _dtype(entry)), 0
        for piece in entry["pieces"]:
            if "first" not in piece:  # a process had it whole
                return self.piece(entry, piece)[first : first + count]
            low, high = max(first, piece["first"]), min(first + count, piece["first"] + piece["count"])
            if low < high:
                out[low - first : high - first] = self.piece(entry, piece)[low - piece["first"] : high - piece["first"]]
                filled += high - low
        self._complete(entry, filled, count)
        return out

    def _complete(self, entry: dict[str, Any], filled: int, size: int) -> None:
        if filled != size:
            raise FileFormatError(
                f"load_state_dict: {self.path!r} has not all of {'.'.join(entry['name'])}. Got {filled} of {size} elements, expected all. Save "
                f"with all "
                f"processes."
            )


def _dtype(entry: dict[str, Any]) -> np.dtype[Any]:
    """NumPy's dtype of the values of a tensor in its files."""
    return np.dtype(HELD_AS.get(entry["dtype"], entry["dtype"]))


def _count(piece: dict[str, Any]) -> int:
    """Elements of a piece."""
    return int(piece["count"]) if "first" in piece else math.prod(piece["shape"])


def _check(entry: Any) -> None:
    """Whether an entry of the description is one: sizes are numbers, and files lie in the folder."""
    shape = entry["shape"]
    _check_name(entry["name"])
    as_dtype(entry["dtype"])
    if len(shape) > MAX_RANK:
        raise ValueError(f"{len(shape)} axes")
    for piece in entry["pieces"]:
        if os.path.basename(piece["file"]) != piece["file"] or not piece["file"].endswith(".distcp") or "\0" in piece["file"]:
            raise ValueError(f"a piece lies in {piece['file']!r}")
        whole = {"first", "count"} <= piece.keys()
        sizes = [piece["at"], piece["crc"], *([piece["first"], piece["count"]] if whole else [*piece["begin"], *piece["shape"]]), *shape]
        if any(type(n) is not int or not 0 <= n < 1 << 62 for n in sizes):
            raise ValueError("a size is not a number")
        if whole and piece["count"] and piece["first"] + piece["count"] > math.prod(shape):  # the last of many may have none
            raise ValueError("a piece lies outside of its tensor")
        if not whole and ("first" in piece or any(b + n > m for b, n, m in zip(piece["begin"], piece["shape"], shape, strict=True))):
            raise ValueError("a piece lies outside of its tensor")
    if any(type(n) is not int or not 0 <= n < 1 << 62 for n in shape):
        raise ValueError("a size is not a number")


def _check_name(name: Any) -> None:
    if not isinstance(name, list) or not name or not all(isinstance(part, str) for part in name):
        raise ValueError(f"{short(name)} is not the name of a tensor")


def load_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0, unique_id: int | None = None,
    offload: bool = False,
) -> None:
    """Read a checkpoint into the tensors of a state: each process the parts that it has. All processes of the group call it.

    It does not matter how many processes have saved, and how the model was divided there.

    Args:
        state_dict: tensors by name, which are written; numbers and text are replaced in it. As `save_state_dict`'s.
        path: the folder.
        process_group: the processes; None for all.
        coordinator_rank, unique_id, offload: no effect.

    Raises:
        ValueError: there is no checkpoint, it is damaged, or it has not what is asked for: all processes raise.

    Source:
        `paddle.distributed.load_state_dict`.
    """
    folder = path_of(path, "load_state_dict")
    members = group_of("load_state_dict", process_group)
    if members is None:
        return
    earlier = _pending.pop(members.id, None)
    if earlier is not None:
        earlier.wait()
    error: BaseException | None = None
    found: list[tuple[Tensor, np.ndarray[Any, Any]]] = []
    tensors, plain = _flattened(state_dict)
    try:
        stored = _Stored(folder)
        for key, x in tensors.items():
            found.append((x.tensor if isinstance(x, Part) else x, _wanted(stored, key, Part.of(x))))
    except InvalidArgumentError as failure:
        error = failure
    _all_agree(members, error, lambda: None, "load_state_dict: nothing was loaded:")
    with no_grad():
        for x, values in found:
            new = to_tensor(values, place="cpu")
            if x.dtype.name in HELD_AS:
                new = new.view(x.dtype.name)
            ops.copy.into((x.detach(),), new.reshape(x.shape) if new.shape != x.shape else new)
    for key in plain:
        if key in stored.plain:
            at = state_dict
            for name in key[:-1]:
                at = at[name]
            at[key[-1]] = stored.plain[key]


def _wanted(stored: _Stored, key: tuple[str, ...], part: Part) -> np.ndarray[Any, Any]:
    entry = stored.tensors.get(key)
    name = ".".join(key)
    if entry is None:
        near = [".".join(each) for each in stored.tensors][:4]
        raise InvalidArgumentError(
            f"load_state_dict: {stored.path!r} has no {name}. Got a checkpoint of {', '.join(near)} and others, expected this name. Build the "
            f"model as it was "
            f"when it was saved."
        )
    if entry["shape"] != part.shape or entry["dtype"] != part.tensor.dtype.name:
        raise InvalidArgumentError(
            f"load_state_dict: {name} does not fit. Got {entry['dtype']}{entry['shape']}, expected {part.tensor.dtype.name}{part.shape}. Build the "
            f"model as it "
            f"was when it was saved."
        )
    if part.begin is not None:
        return stored.box(key, part.begin, list(part.tensor.shape))
    values = stored.range(key, part.first, part.used())
    return np.concatenate([values, np.zeros(part.tensor.size - len(values), values.dtype)])


def load_whole(path: str, return_numpy: bool = False) -> dict[str, Any]:
    """All of a checkpoint in one process: what `paddle.load` gives for its folder."""
    stored = _Stored(path)
    state: dict[str, Any] = {}

    def put(key: tuple[str, ...], value: Any) -> None:
        at = state
        for name in key[:-1]:
            at = at.setdefault(name, {})
            if type(at) is not dict:
                raise FileFormatError(
                    f"load: {path!r} is damaged. Got {'.'.join(key)} beside a value of a part of this name. Load another checkpoint."
                )
        at[key[-1]] = value

    # Each tensor has bytes of its own; tied ones are few.
    total, room = 0, 4 * sum(entry.stat().st_size for entry in os.scandir(path)) + (1 << 16)
    for key, entry in stored.tensors.items():
        total += stored.bytes_of(entry)
        if total > room:
            raise FileFormatError(
                f"load: {path!r} asks for more memory than its files explain. Got tensors that use the same bytes again and again, expected each to "
                f"have its own. Load another checkpoint."
            )
        values = stored.whole(key)
        stored.read.clear()
        if return_numpy:
            put(key, values)
        else:
            x = to_tensor(values)
            put(key, x.view(entry["dtype"]) if entry["dtype"] in HELD_AS else x)
    for key, value in stored.plain.items():
        put(key, value)
    return state


def training_state(model: Layer, optimizer: Any = None, **others: Any) -> dict[str, Any]:
    """All that a training goes on from, under names that do not depend on how many processes there are.

    Pass it to `save_state_dict`; and to `load_state_dict` one that was made of a fresh model and optimizer.

    Args:
        model: also one of `fleet.distributed_model` or `group_sharded_parallel`.
        optimizer: of its parameters, before or after its first step; its scheduler is part of it.
        others: anything else, tensors, numbers, text, and dicts of them.

    Examples:
        >>> import tempfile
        >>> net = wherry.nn.Linear(2, 1)
        >>> optimizer = wherry.optimizer.Adam(parameters=net.parameters())
        >>> folder = tempfile.mkdtemp()
        >>> state = wherry.distributed.training_state(net, optimizer, step=3)
        >>> _ = wherry.distributed.save_state_dict(state, folder)
        >>> sorted(wherry.load(folder))
        ['model', 'optimizer', 'step']
    """
    inner = require(_innermost(model), Layer, "training_state", "model", "Pass the network.")
    own = inner.state_dict()
    state: dict[str, Any] = {"model": {name: Part.of(x) for name, x in own.items()}}
    if optimizer is not None:
        state["optimizer"] = _optimizer_state(optimizer, {id(x): name for name, x in reversed(list(own.items()))})
    return state | others


def _innermost(model: Any) -> Any:
    """The layer in the wrappers of this package."""
    while isinstance(model, (DataParallel, MetaParallelBase, Sharded)):
        model = model._layers
    return model


def _optimizer_state(optimizer: Any, names: dict[int, str]) -> dict[str, Any]:
    owners: dict[int, int] = {}
    mine = 0
    while isinstance(optimizer, Wrapped):
        if isinstance(optimizer, HybridParallelOptimizer):
            owners, mine = optimizer._owners, optimizer._sharding.rank
        optimizer = optimizer._inner_opt
    require(optimizer, Optimizer, "training_state", "optimizer", "Pass that of the network's parameters, or None.")
    state: dict[str, Any] = {}
    for group in optimizer._groups:
        for p in group.params:
            if p.stop_gradient or owners.get(id(p), mine) != mine or id(p) not in names:
                continue
            optimizer._create_accumulators(p, group.options)
            for what, x, each in states_of(optimizer, p):
                state[f"{names[id(p)]}.{what}"] = Part.of(x, p if each else None)
    scheduler = optimizer._learning_rate
    if hasattr(scheduler, "state_dict"):
        state["LR_Scheduler"] = _Scheduled(scheduler)
    return state


class _Scheduled(dict[str, Any]):
    """The state of a scheduler, which is set where a load writes into it."""

    def __init__(self, scheduler: Any) -> None:
        super().__init__(scheduler.state_dict())
        self.scheduler = scheduler

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.scheduler.set_state_dict(dict(self))


__all__ = ["SaveTask", "load_state_dict", "save_state_dict", "training_state"]
