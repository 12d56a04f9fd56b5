"""Readers: functions without arguments that return an iterable of samples. Paddle's interface before data sets."""
from __future__ import annotations

import itertools
import multiprocessing
import queue
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = [
    "ComposeNotAligned", "batch", "buffered", "cache", "chain", "compose", "firstn", "map_readers", "multiprocess_reader", "shuffle",
    "xmap_readers",
]

Reader = Callable[[], Iterable[Any]]


class ComposeNotAligned(ValueError):
    """Readers that are composed give different numbers of samples."""


def _checked(name: str, *readers: Any) -> None:
    for reader in readers:
        if not callable(reader):
            raise InvalidTypeError(
                f"{name}: a reader is not callable. Got {short(reader)} ({type(reader).__name__}), expected a callable. "
                f"Write lambda: samples."
            )


def _count(name: str, what: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgumentError(f"{name}: {what} is out of range. Got {short(value)}, expected an int >= {least}.")
    return value


def batch(reader: Reader, batch_size: int, drop_last: bool = False) -> Reader:
    """A reader of lists of `batch_size` samples each.

    Args:
        reader: of samples.
        batch_size: at least 1.
        drop_last: leave out a last list that is shorter.

    Raises:
        ValueError: `batch_size` is not a positive number.

    Source:
        `paddle.batch`. A DataLoader does more.

    Examples:
        >>> list(wherry.batch(lambda: range(5), batch_size=2)())
        [[0, 1], [2, 3], [4]]
    """
    _checked("batch", reader)
    try:
        size = int(batch_size)
    except (TypeError, ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise InvalidArgumentError(f"batch: batch_size should be a positive integer value. Got batch_size={short(batch_size)}, expected an int >= 1.")

    def batches() -> Iterator[list[Any]]:
        samples = iter(reader())
        while some := list(itertools.islice(samples, size)):
            if len(some) == size or not drop_last:
                yield some

    return batches


def cache(reader: Reader) -> Reader:
    """A reader that keeps the samples of its first run in memory.

    Raises:
        TypeError: `reader` is not callable (also a ValueError).

    Source:
        `paddle.reader.cache`.

    Examples:
        >>> numbers = iter([1, 2, 3])
        >>> reader = wherry.reader.cache(lambda: numbers)
        >>> list(reader()), list(reader())
        ([1, 2, 3], [1, 2, 3])
    """
    _checked("cache", reader)
    kept: list[list[Any]] = []

    def again() -> Iterator[Any]:
        if not kept:
            kept.append(list(reader()))
        return iter(kept[0])

    return again


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """A reader of `func(a, b, ...)` of one sample of each reader; it ends with the shortest.

    Raises:
        TypeError: `func` or a reader is not callable (also a ValueError).

    Source:
        `paddle.reader.map_readers`.

    Examples:
        >>> list(wherry.reader.map_readers(lambda a, b: a + b, lambda: [1, 2], lambda: [10, 20])())
        [11, 22]
    """
    _checked("map_readers", func, *readers)
    return lambda: map(func, *(reader() for reader in readers))


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """A reader of the same samples, shuffled within buffers of `buf_size` samples.

    Raises:
        TypeError: `reader` is not callable (also a ValueError).
        ValueError: `buf_size` is not an int of 1 or more.

    Source:
        `paddle.reader.shuffle`. The order is that of Python's `random`.

    Examples:
        >>> sorted(wherry.reader.shuffle(lambda: range(4), buf_size=4)())
        [0, 1, 2, 3]
    """
    _checked("shuffle", reader)
    size = _count("shuffle", "buf_size", buf_size, 1)

    def shuffled() -> Iterator[Any]:
        samples = iter(reader())
        while some := list(itertools.islice(samples, size)):
            random.shuffle(some)
            yield from some

    return shuffled


def chain(*readers: Reader) -> Reader:
    """A reader of the samples of one reader after the other.

    Raises:
        TypeError: a reader is not callable (also a ValueError).

    Source:
        `paddle.reader.chain`.

    Examples:
        >>> list(wherry.reader.chain(lambda: [1, 2], lambda: [3])())
        [1, 2, 3]
    """
    _checked("chain", *readers)
    return lambda: itertools.chain.from_iterable(reader() for reader in readers)


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """A reader of tuples with the samples of all readers; samples that are tuples are flattened.

    Args:
        readers: of equally many samples.
        check_alignment: raise where they are not; False ends with the shortest.

    Raises:
        ComposeNotAligned: while reading, when one reader ends before another. It is a ValueError.
        TypeError: a reader is not callable (also a ValueError).

    Source:
        `paddle.reader.compose`.

    Examples:
        >>> list(wherry.reader.compose(lambda: [1, 2], lambda: [(3, 4), (5, 6)])())
        [(1, 3, 4), (2, 5, 6)]
    """
    _checked("compose", *readers)
    absent = object()

    def composed() -> Iterator[tuple[Any, ...]]:
        for samples in itertools.zip_longest(*(reader() for reader in readers), fillvalue=absent):
            if any(sample is absent for sample in samples):
                if check_alignment:
                    raise ComposeNotAligned(
                        "compose: outputs of readers are not aligned. Got a reader that ended before the others, expected equally many samples. "
                        "Pass check_alignment=False to end with the shortest."
                    )
                return
            yield tuple(itertools.chain.from_iterable(sample if isinstance(sample, tuple) else (sample,) for sample in samples))

    return composed


def firstn(reader: Reader, n: int) -> Reader:
    """A reader of the first `n` samples.

    Raises:
        TypeError: `reader` is not callable (also a ValueError).
        ValueError: `n` is not an int of 0 or more.

    Source:
        `paddle.reader.firstn`.

    Examples:
        >>> list(wherry.reader.firstn(lambda: range(100), 3)())
        [0, 1, 2]
    """
    _checked("firstn", reader)
    count = _count("firstn", "n", n, 0)
    return lambda: itertools.islice(reader(), count)


class _Failed:
    """An exception on its way to the thread that reads."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


def _in_threads(work: list[Callable[[Callable[[Any], bool]], None]], size: int) -> Iterator[Any]:
    """Run each function of `work` in a thread; yield what they pass to `put(item)`, which returns whether to go on."""
    ready: queue.Queue[Any] = queue.Queue(size)
    stop = threading.Event()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def run(one: Callable[[Callable[[Any], bool]], None]) -> None:
        try:
            one(put)
        except BaseException as error:  # noqa: BLE001  it is raised where samples are read
            put(_Failed(error))
        put(_END)

    for one in work:
        threading.Thread(target=run, args=(one,), daemon=True).start()
    try:
        open_ = len(work)
        while open_:
            item = ready.get()
            if item is _END:
                open_ -= 1
            elif isinstance(item, _Failed):
                raise item.error
            else:
                yield item
    finally:
        stop.set()


def buffered(reader: Reader, size: int) -> Reader:
    """A reader of the same samples, which a thread reads ahead, at most `size` of them.

    Args:
        reader: of samples.
        size: how many samples are read ahead, at least 1.

    Raises:
        TypeError: `reader` is not callable (also a ValueError).
        ValueError: `size` is not an int of 1 or more.

    Source:
        `paddle.reader.buffered`.

    Examples:
        >>> list(wherry.reader.buffered(lambda: range(4), size=2)())
        [0, 1, 2, 3]
    """
    _checked("buffered", reader)
    ahead = _count("buffered", "size", size, 1)

    def read(put: Callable[[Any], bool]) -> None:
        for sample in reader():
            if not put(sample):
                return

    return lambda: _in_threads([read], ahead)


def xmap_readers(mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False) -> Reader:
    """A reader of `mapper(sample)`, computed in `process_num` threads.

    Args:
        mapper: of one sample.
        reader: of samples.
        process_num: how many threads.
        buffer_size: how many samples are kept ready.
        order: keep the order of the samples.

    Raises:
        TypeError: `mapper` or `reader` is not callable (also a ValueError).
        ValueError: `process_num` or `buffer_size` is not an int of 1 or more.

    Source:
        `paddle.reader.xmap_readers`.

    Examples:
        >>> list(wherry.reader.xmap_readers(lambda x: x * x, lambda: range(4), process_num=2, buffer_size=4, order=True)())
        [0, 1, 4, 9]
    """
    _checked("xmap_readers", mapper, reader)
    threads, size = _count("xmap_readers", "process_num", process_num, 1), _count("xmap_readers", "buffer_size", buffer_size, 1)

    def mapped() -> Iterator[Any]:
        samples, lock = iter(enumerate(reader())), threading.Lock()

        def work(put: Callable[[Any], bool]) -> None:
            while True:
                with lock:
                    at, sample = next(samples, (-1, None))
                if at < 0 or not put((at, mapper(sample))):
                    return

        waiting: dict[int, Any] = {}
        due = 0
        for at, value in _in_threads([work] * threads, size):
            if not order:
                yield value
                continue
            waiting[at] = value
            while due in waiting:
                yield waiting.pop(due)
                due += 1

    return mapped


def _send(reader: Reader, results: Any) -> None:
    """The main function of a process of `multiprocess_reader`."""
    try:
        for sample in reader():
            results.put((True, sample))
        results.put((True, _Failed))  # its class, which arrives as itself: the end
    except BaseException as error:  # noqa: BLE001  it is raised where samples are read
        results.put((False, f"{type(error).__name__}: {error}"))


def multiprocess_reader(readers: list[Reader], use_pipe: bool = True, queue_size: int = 1000) -> Reader:
    """A reader of the samples of several readers, each of which runs in a process of its own, in the order of arrival.

    Args:
        readers: at least one.
        use_pipe: accepted for compatibility: samples always go through a queue.
        queue_size: how many samples may wait.

    Raises:
        ValueError: `readers` is not a list, or is empty.
        RuntimeError: while reading, when a process fails.
        TypeError: a reader is not callable (also a ValueError).

    Source:
        `paddle.reader.multiprocess_reader`.

    Examples:
        >>> read = wherry.reader.multiprocess_reader([lambda: [1, 2], lambda: [3]])
        >>> sorted(read())
        [1, 2, 3]
    """
    if not isinstance(readers, (list, tuple)) or not readers:
        raise InvalidArgumentError(f"multiprocess_reader: got {short(readers)}, expected a list of one reader or more.")
    _checked("multiprocess_reader", *readers)
    size = _count("multiprocess_reader", "queue_size", queue_size, 1)

    def read() -> Iterator[Any]:
        try:
            context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
            results = context.Queue(size)
        except ImportError as error:  # of Python's own part, in a browser
            raise RuntimeError("multiprocess_reader: this system has no processes. Use chain() or buffered() for the readers.") from error
        workers = [context.Process(target=_send, args=(reader, results), daemon=True) for reader in readers]  # type: ignore[attr-defined]
        for worker in workers:
            worker.start()
        open_ = len(workers)
        try:
            while open_:
                try:
                    fine, sample = results.get(timeout=1)
                except queue.Empty:
                    if any(worker.exitcode for worker in workers):
                        raise RuntimeError("multiprocess_reader: a process ended before it had sent its samples.") from None
                    continue
                if not fine:
                    raise RuntimeError(f"multiprocess_reader: a reader failed in its process: {sample}")
                if sample is _Failed:
                    open_ -= 1
                else:
                    yield sample
        finally:
            for worker in workers:
                worker.terminate()

    return read
