"""Samples in text files, read through a command: `InMemoryDataset` and `QueueDataset`.

A line has, for each variable of the program in their order, the number of values and then the values: `1 0 3 7 8 9` for a label and three ids.
Iterating gives feeds for `Executor.train_from_dataset`.
"""
from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from wherry_distributed.collective import all_gather_object
from wherry_distributed.ranks import get_rank, get_world_size
from wherry_tensor.errors import (
    ExternalError,
    InvalidArgumentError,
    InvalidTypeError,
    PreconditionNotMetError,
    UnimplementedError,
    short,
)

__all__ = ["DatasetBase", "InMemoryDataset", "QueueDataset", "Sequences"]

Sample = list[np.ndarray[Any, Any]]
_SETTINGS = {
    "batch_size": 1, "thread_num": 1, "use_var": (), "pipe_command": "cat", "input_type": 0, "fs_name": "", "fs_ugi": "", "download_cmd": "cat",
}
_DISTRIBUTED = (
    "merge_size", "parse_ins_id", "parse_content", "fleet_send_batch_size", "fleet_send_sleep_seconds", "fea_eval", "candidate_size",
)


class Sequences:
    """Sequences of different lengths, one after the other, as a feed for `data(lod_level=1)`.

    Attributes:
        values: of all, `[n, 1]`.
        lengths: of each.
    """

    def __init__(self, values: np.ndarray[Any, Any], lengths: list[int]) -> None:
        self.values, self.lengths = values, lengths


class DatasetBase:
    """What both data sets share: files, the command that reads them, batches.

    Source:
        `paddle.distributed.fleet.DatasetBase`.
    """

    def __init__(self) -> None:
        self.filelist: list[str] = []
        self._settings: dict[str, Any] = dict(_SETTINGS)

    def init(self, **kwargs: Any) -> None:
        """Say how samples are read.

        Args:
            batch_size: samples in a batch; the last one of a pass is smaller.
            thread_num: no effect; batches come in one order.
            use_var: variables of `static.data`, one for each field of a line.
            pipe_command: a command line of the shell, which gets a file on its standard input and writes samples.
            input_type: 0: a line is a sample.
            fs_name, fs_ugi, download_cmd: no effect; files lie where `set_filelist` says.

        Raises:
            ValueError: there is no such setting, or a value is not one.
        """
        self._settings = dict(_SETTINGS)
        self._update("init", kwargs)

    def _update(self, what: str, given: dict[str, Any]) -> None:
        for name, value in given.items():
            if name in _DISTRIBUTED:
                continue  # they tune an exchange of samples that is made in one piece here
            if name not in _SETTINGS:
                raise InvalidArgumentError(
                    f"{type(self).__name__}.{what}: there is no setting {name}. Got {short(value)}, expected {', '.join(_SETTINGS)}."
                )
            if name in ("batch_size", "thread_num") and (not isinstance(value, int) or value < 1):
                raise InvalidArgumentError(f"{type(self).__name__}.{what}: {name} is not a positive int. Got {short(value)}.")
            if name == "input_type" and value != 0:
                raise UnimplementedError(
                    f"{type(self).__name__}.{what}: samples of several lines are not there. Got input_type={short(value)}, expected 0."
                )
            self._settings[name] = value

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """Which files to read.

        Raises:
            TypeError: it is not a list of paths.
        """
        if isinstance(filelist, str):
            raise InvalidArgumentError(f"set_filelist: the files are a list. Got {short(filelist)}, expected [{short(filelist)}].")
        self.filelist = [os.fspath(path) for path in filelist]

    def _lines(self, path: str) -> Iterator[str]:
        """What the command makes of a file."""
        command = self._settings["pipe_command"]
        try:
            source = open(path, "rb")  # noqa: SIM115  closed below
        except OSError as error:
            raise InvalidArgumentError(
                f"{type(self).__name__}: a file cannot be read ({error}). Got {path!r}, expected a path of set_filelist."
            ) from None
        with source, subprocess.Popen(command, shell=True, stdin=source, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield from process.stdout
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode:
            raise ExternalError(
                f"{type(self).__name__}: the pipe command failed. Got exit status {process.returncode} of {command!r} for {path}, expected "
                "0. Run it by hand: "
                f"{command} < {path}"
            )

    def _samples(self, path: str) -> Iterator[Sample]:
        kinds = [(x.name, np.dtype(x.dtype.name), x.lod_level, _width(x)) for x in self._settings["use_var"]]
        if not kinds:
            raise PreconditionNotMetError(
                f"{type(self).__name__}: it does not know the fields of a line. Got no use_var, expected init(use_var=[...])."
            )
        for number, line in enumerate(self._lines(path), 1):
            words = line.split()
            if not words:
                continue
            sample, at = [], 0
            for name, dtype, lod_level, width in kinds:
                count = int(words[at]) if at < len(words) and words[at].isdigit() else 0
                values = words[at + 1 : at + 1 + count]
                at += 1 + count
                try:
                    array = np.array(values, np.float64 if dtype.kind == "f" else np.int64).astype(dtype)
                except (ValueError, OverflowError):
                    array = None
                if not count or len(values) != count or array is None or (not lod_level and count != width):
                    expected = "one or more values" if lod_level else f"{width} values"
                    raise InvalidArgumentError(
                        f"{type(self).__name__}: a line does not hold '{name}'. Got {short(' '.join([str(count), *values]))} in {path}, "
                        f"line {number} of the "
                        f"pipe command's output, expected {expected} of {dtype.name} after their number."
                    )
                sample.append(array)
            if at != len(words):
                raise InvalidArgumentError(
                    f"{type(self).__name__}: a line has more fields than use_var. Got {len(words)} words in {path}, line {number} of the "
                    "pipe command's output, "
                    f"expected {at} for {[name for name, *_ in kinds]}."
                )
            yield sample

    def _all_samples(self) -> Iterable[Sample]:
        """Those of a pass."""
        raise NotImplementedError

    def batches(self, drop_last: bool = False) -> Iterator[dict[str, Any]]:
        """Feeds: for each variable its values in a batch."""
        batch: list[Sample] = []
        for sample in self._all_samples():
            batch.append(sample)
            if len(batch) == self._settings["batch_size"]:
                yield self._feed(batch)
                batch = []
        if batch and not drop_last:
            yield self._feed(batch)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.batches()

    def _feed(self, batch: list[Sample]) -> dict[str, Any]:
        feed: dict[str, Any] = {}
        for i, x in enumerate(self._settings["use_var"]):
            column = [sample[i] for sample in batch]
            if x.lod_level:
                feed[x.name] = Sequences(np.concatenate(column)[:, None], [len(one) for one in column])
            else:
                feed[x.name] = np.stack(column).reshape([len(batch), *(n for n in x.shape[1:])])
        return feed


def _width(x: Any) -> int:
    if x.lod_level:
        return 0
    sizes = list(x.shape)[1:]
    if -1 in sizes:
        raise InvalidArgumentError(
            f"data set: '{x.name}' has an open size after its batch. Got shape {list(x.shape)}, expected one such as [None, 13]."
        )
    return int(np.prod(sizes)) if sizes else 1


class QueueDataset(DatasetBase):
    """Samples that are read while the program runs, file by file.

    Source:
        `paddle.distributed.QueueDataset`.

    Examples:
        >>> dataset = wherry.distributed.QueueDataset()
        >>> dataset.init(batch_size=32, pipe_command="cat")
    """

    def _all_samples(self) -> Iterable[Sample]:
        return (sample for path in self.filelist for sample in self._samples(path))


class InMemoryDataset(DatasetBase):
    """Samples that are read into memory and shuffled there.

    Source:
        `paddle.distributed.InMemoryDataset`.

    Examples:
        >>> dataset = wherry.distributed.InMemoryDataset()
        >>> dataset.init(batch_size=32, pipe_command="cat")
        >>> dataset.get_memory_data_size()
        0
    """

    def __init__(self) -> None:
        super().__init__()
        self._memory: list[Sample] = []
        self._shuffled = 0
        self._loading: threading.Thread | None = None
        self._failed: Exception | None = None

    def _init_distributed_settings(self, **kwargs: Any) -> None:
        self._update("_init_distributed_settings", kwargs)

    def update_settings(self, **kwargs: Any) -> None:
        """Change settings of `init`."""
        self._update("update_settings", kwargs)

    def set_date(self, date: str) -> None:
        """Which day the files are of: a note for those who read them.

        Raises:
            ValueError: it is not eight digits.
        """
        if len(str(date)) != 8 or not str(date).isdigit():
            raise InvalidArgumentError(f"set_date: the day is not written as YYYYMMDD. Got {short(date)}, expected a text such as '20211111'.")
        self._date = str(date)

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read all files.

        Raises:
            ValueError: a line does not hold the fields of `use_var`; what was in memory stays.
            OSError: the pipe command failed.
        """
        self._memory = [sample for path in self.filelist for sample in self._samples(path)]
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begin to read all files, beside what the program does."""

        def load() -> None:
            try:
                self.load_into_memory()
            except Exception as error:  # told by wait_preload_done
                self._failed = error

        self._failed = None
        self._loading = threading.Thread(target=load, daemon=True)
        self._loading.start()

    def wait_preload_done(self) -> None:
        """Wait until `preload_into_memory` has ended; its error is raised here.

        Raises:
            RuntimeError: it was not called.
        """
        if self._loading is None:
            raise PreconditionNotMetError("wait_preload_done: nothing is being loaded. Got no preload_into_memory(), expected it before.")
        self._loading.join()
        self._loading = None
        if self._failed is not None:
            raise self._failed

    def local_shuffle(self) -> None:
        """Shuffle the samples of this process, by Python's `random`."""
        random.shuffle(self._memory)

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Shuffle the samples of all workers: each sample goes to a worker at random.

        Args:
            fleet: the job; None is this process alone.
            thread_num: no effect.
        """
        _require_fleet(fleet, "global_shuffle")
        if fleet is not None:
            rank, size = fleet.worker_index(), fleet.worker_num()
            if size > 1:
                servers = getattr(fleet, "_servers", None)
                parts: list[list[Sample]] = [[] for _ in range(size)]
                for sample in self._memory:
                    parts[random.randrange(size)].append(sample)
                self._memory = servers.exchange(parts) if servers is not None else _exchanged(parts, rank)
        self.local_shuffle()
        self._shuffled = len(self._memory)

    def release_memory(self) -> None:
        """Forget the samples."""
        self._memory = []

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many samples are in memory: of this process, or of all workers of `fleet`."""
        return self._total(len(self._memory), fleet)

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """How many samples there were after `global_shuffle`: of this process, or of all workers of `fleet`."""
        return self._total(self._shuffled, fleet)

    def slots_shuffle(self, slots: Iterable[str]) -> None:
        """Shuffle the values of some fields among the samples, to see what they are worth.

        Raises:
            ValueError: `use_var` has no variable of such a name.
        """
        names = [x.name for x in self._settings["use_var"]]
        for slot in slots:
            if slot not in names:
                raise InvalidArgumentError(f"slots_shuffle: there is no such field. Got {short(slot)}, expected one of {names}.")
            at = names.index(slot)
            order = random.sample(range(len(self._memory)), len(self._memory))
            column = [sample[at] for sample in self._memory]
            for sample, other in zip(self._memory, order, strict=True):
                sample[at] = column[other]

    def tdm_sample(self, *args: Any, **kwargs: Any) -> None:
        """Sample negatives from a tree: not available.

        Raises:
            NotImplementedError: always.
        """
        raise UnimplementedError(
            "InMemoryDataset.tdm_sample: trees of deep matching are not there. Got a tree, expected none. Sample in the pipe command."
        )

    def _all_samples(self) -> Iterable[Sample]:
        return self._memory

    def _total(self, mine: int, fleet: Any) -> int:
        _require_fleet(fleet, "the number of samples")
        return mine if fleet is None else int(fleet.util.all_reduce(mine, "sum"))


def _require_fleet(fleet: Any, what: str) -> None:
    if fleet is not None and not hasattr(fleet, "worker_index"):
        raise InvalidTypeError(f"InMemoryDataset: {what} asks the job. Got {short(fleet)}, expected fleet, or None for this process.")


def _exchanged(parts: list[list[Sample]], rank: int) -> list[Sample]:
    """What all processes of the MPI world have for this one."""
    if get_world_size() == 1:
        return [sample for part in parts for sample in part]
    found: list[Any] = []
    all_gather_object(found, parts)
    return [sample for of in found for sample in of[get_rank()]]
