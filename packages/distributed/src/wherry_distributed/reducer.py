"""Gradients of all processes, averaged in buckets while backward goes on.

Parameters lie in buckets, those of the last layers first, because their gradients are ready first. Backward writes each gradient into its
place in the bucket; when a bucket is full, a thread adds it up over the processes while backward computes the next one. The end of the
pass waits for all, and treats parameters that it has not reached.

After the gradients of a bucket stands for each parameter in how many ranks it was used.
"""
from __future__ import annotations

import queue
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_autograd import at_end_of_backward, no_grad
from wherry_distributed.averages import CommonSum, MessageSum, fill, windows
from wherry_distributed.world import Group, world
from wherry_tensor import Tensor, get_flags
from wherry_tensor.errors import PreconditionNotMetError

EARLY_LOOKS = 10  # at an exchange while backward computes


class Bucket:
    """Gradients of some parameters in one memory."""

    def __init__(self, number: int, parameters: Sequence[Tensor], group: Group, common: tuple[Any, list[Any]] | None) -> None:
        self.number, self.parameters = number, list(parameters)
        dtype, sizes, count = parameters[0].dtype, sum(p.size for p in parameters), _length(parameters)
        self.sums: CommonSum | MessageSum
        if common is not None:
            self.sums = CommonSum(group, *common, dtype.name, sizes, f"gradients of bucket {number}")
        else:
            self.sums = MessageSum(group, count, dtype, sizes)
        self.bad: list[int] = []  # the places of ranks whose gradients hold NaN
        with no_grad():
            at, self.views = 0, []
            for p in self.parameters:
                self.views.append(self.sums.mine[at : at + p.size].reshape(p.shape))
                at += p.size
            self.used = self.sums.mine[sizes:]
        self.waiting: set[int] = set()
        self.done = threading.Event()


class Reducer:
    """Averages gradients of `parameters` over `group` at the end of each backward pass.

    Args:
        parameters: in the order of the layers.
        bucket_bytes: of a bucket; the first one to be full, of the last layers, may have `first_bytes`.
        find_unused: take part in the exchange also where a pass reaches no parameter at all.
    """

    def __init__(self, parameters: Sequence[Tensor], group: Group, bucket_bytes: int, first_bytes: int, find_unused: bool) -> None:
        self.group, self.find_unused = group, find_unused
        self.enabled = True
        self.buckets: list[Bucket] = []
        self.place: dict[int, tuple[Bucket, int]] = {}
        self.names: dict[int, str] = {}
        divided = _divided(parameters, bucket_bytes, first_bytes)
        for some, common in zip(divided, _common_memory(divided, group), strict=True):
            bucket = Bucket(len(self.buckets), some, group, common)
            self.buckets.append(bucket)
            for i, p in enumerate(some):
                self.place[id(p)] = bucket, i
                p.set_grad_buffer(bucket.views[i])
                p.register_post_accumulate_hook(self._ready)
        self.running = self.forwarded = self.warned = False
        self.ending = False  # does backward wait for the exchange? Else that leaves the core to it
        self.next = 0
        self.error: BaseException | None = None
        self.jobs: queue.SimpleQueue[Bucket | None] = queue.SimpleQueue()
        self.watching = threading.local()
        threading.Thread(target=self._work, daemon=True, name="gradients of all ranks").start()

    def forward(self) -> None:
        """The model is called."""
        self.forwarded = True
        if self.find_unused and not getattr(self.watching, "on", False):
            self.watching.on = True
            at_end_of_backward(lambda error: None if self.running or not self.forwarded or not self.enabled else self._finish(error))

    def _begin(self) -> None:
        self.running, self.ending, self.next, self.error = True, False, 0, None
        for bucket in self.buckets:
            bucket.waiting = set(range(len(bucket.parameters)))
            bucket.done.clear()

    def _ready(self, p: Tensor) -> None:
        """A gradient is complete, in its place."""
        if not self.enabled:
            return
        if not self.running:
            self._begin()
            at_end_of_backward(self._finish)
        bucket, i = self.place[id(p)]
        bucket.waiting.discard(i)
        while self.next < len(self.buckets) and not self.buckets[self.next].waiting:  # all ranks start them in one order
            self._send(self.buckets[self.next], ())

    def _send(self, bucket: Bucket, missing: Any) -> None:
        with no_grad():
            used = np.ones(len(bucket.parameters), np.float32)
            for i in missing:
                used[i] = 0
                if bucket.parameters[i].grad is None:
                    bucket.views[i].zero_()
                else:  # of an earlier pass, which it is added to in other ranks
                    used[i] = 1
            fill(bucket.used, used)
        self.next += 1
        self.jobs.put(bucket)

    def _finish(self, error: BaseException | None) -> None:
        """The pass has ended."""
        if error is not None:
            self.running = self.forwarded = False
            return
        if not self.running:
            self._begin()
        try:
            for bucket in self.buckets[self.next :]:
                self._send(bucket, set(bucket.waiting))
            self.ending = True
            for bucket in self.buckets:
                while not bucket.done.wait(0.5):  # so that Ctrl-C comes through
                    pass
                if self.error is not None:
                    raise self.error
                self._take(bucket)
        finally:
            self.running = self.forwarded = False

    def _take(self, bucket: Bucket) -> None:
        used = bucket.used.astype("float32").numpy()
        for i, p in enumerate(bucket.parameters):
            if p.grad is None and used[i]:
                bucket.views[i].stop_gradient = False
                p.grad = bucket.views[i]
        if bucket.bad:
            self._bad(bucket, [self.group.ranks[i] for i in bucket.bad])

    def _bad(self, bucket: Bucket, ranks: list[int]) -> None:
        bad = [p for p, g in zip(bucket.parameters, bucket.views, strict=True) if np.isnan(g.astype("float32").numpy()).any()]
        self.warned = report_nan(ranks, bad, self.warned)

    def _work(self) -> None:
        while True:
            bucket = self.jobs.get()
            if bucket is None:
                return
            try:
                if self.error is None:
                    with no_grad():
                        bucket.bad = bucket.sums.average(world.eager if self.ending else EARLY_LOOKS)
            except BaseException as error:
                self.error = error
            finally:
                bucket.done.set()


def report_nan(ranks: Sequence[int], parameters: Sequence[Tensor], warned: bool = False) -> bool:
    """Say which ranks have brought NaN into gradients: an error with FLAGS_check_nan_inf, else a warning unless `warned`. Returns True."""
    names = [p.name for p in parameters]
    text = (
        f"DataParallel: gradients hold NaN. They come from rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}; parameters: "
        f"{', '.join(names[:5])}{' and others' if len(names) > 5 else ''}. Look at the batch and the loss of that rank."
    )
    if get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"]:
        raise PreconditionNotMetError(text)
    if not warned:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    return True


def _length(parameters: Sequence[Tensor]) -> int:
    return sum(p.size for p in parameters) + len(parameters)


def _common_memory(divided: list[list[Tensor]], group: Group) -> list[tuple[Any, list[Any]] | None]:
    """Window and blocks for each bucket; None where messages have to carry it."""
    suits = [some[0].dtype.name in ("float32", "float64") and some[0].place.is_cpu_place() for some in divided]
    sizes = [CommonSum.bytes_for(_length(some), some[0].dtype, group) for some, fits in zip(divided, suits, strict=True) if fits]
    found = windows(group, sizes) if sizes else None
    if found is None:
        return [None] * len(divided)
    window, blocks = found[0], iter(found[1])
    return [(window, next(blocks)) if fits else None for fits in suits]


def _divided(parameters: Sequence[Tensor], bucket_bytes: int, first_bytes: int) -> list[list[Tensor]]:
    """From the last to the first, cut where a bucket is full; each has one dtype and one device."""
    found: list[list[Tensor]] = []
    kinds: dict[Any, list[Tensor]] = {}
    for p in reversed(parameters):
        kind = (p.dtype.name, str(p.place))
        some = kinds.setdefault(kind, [])
        some.append(p)
        if sum(each.size * each.dtype.itemsize for each in some) >= (first_bytes if not found else bucket_bytes):
            found.append(kinds.pop(kind))
    return found + [some for some in kinds.values() if some]
