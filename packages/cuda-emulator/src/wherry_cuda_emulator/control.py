"""Looking at a library that holds the emulator, and setting how it runs kernels."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

__all__ = ["Counts", "Emulator", "Measure", "Traffic", "measures"]

_ORDERS = {"forward": 0, "reverse": 1}


class Counts(NamedTuple):
    """What the emulator has done since its library was loaded.

    Attributes:
        launches: kernels that ran.
        switches: changes from one thread of a block to another.
        accesses: loads and stores that were checked; 0 in the fast build.
        threads: of all blocks of all launches.
    """

    launches: int
    switches: int
    accesses: int
    threads: int


class Traffic(NamedTuple):
    """What warps have asked of device memory.

    Attributes:
        requests: of a warp, at one place of the program.
        sectors: pieces of 32 bytes that the requests touch.
        least: as many as the bytes of each request fill: `least / sectors` is how far the accesses are coalesced.
        bytes: of all lanes together.
    """

    requests: int
    sectors: int
    least: int
    bytes: int


class Measure(NamedTuple):
    """What a kernel has asked of memory, all its launches together.

    Attributes:
        kernel: its name.
        launches, blocks, threads: how many ran.
        block_size: threads of the largest block.
        shared_bytes: shared memory of the block that took most.
        loads, stores, atomics: the requests of device memory.
        block_loads, block_stores: sectors that blocks have touched, each counted once for a block: what is left of the traffic where
            a cache keeps what a block has read.
        launch_loads, launch_stores: the same, each counted once for a launch: a cache that all blocks share.
        shared_requests: of a warp, of shared memory.
        shared_passes: passes that these take; words of one bank that differ take one each.
        shared_least: passes without conflicts of banks.
        products: instructions of tensor cores, each of a warp and of 16 x 8 x 16 products.
    """

    kernel: str
    launches: int
    blocks: int
    threads: int
    block_size: int
    shared_bytes: int
    loads: Traffic
    stores: Traffic
    atomics: Traffic
    block_loads: int
    block_stores: int
    launch_loads: int
    launch_stores: int
    shared_requests: int
    shared_passes: int
    shared_least: int
    products: int


def measures(text: str) -> list[Measure]:
    """What the library has written down, a line for each kernel."""
    found = []
    for line in text.splitlines():
        name, *rest = line.split("\t")
        n = [int(number) for number in rest]
        traffic = {kind: Traffic(*n[at : at + 4]) for kind, at in (("loads", 5), ("stores", 9), ("atomics", 13))}
        numbers = [field for field in Measure._fields[1:] if field not in traffic]
        found.append(Measure(name, **traffic, **dict(zip(numbers, n[:5] + n[17:]))))  # type: ignore[arg-type]  # by name
    return found


class Emulator:
    """The emulator in a library made by `compile`.

    Args:
        path: the library, or one that is loaded already (`ctypes.CDLL`).

    Attributes:
        library: the loaded library; CUDA's runtime functions are among its symbols.
    """

    def __init__(self, path: str | os.PathLike[str] | ctypes.CDLL) -> None:
        # PyDLL: calls keep the GIL, as a fault in host code prints Python's traceback.
        self.library = path if isinstance(path, ctypes.CDLL) else ctypes.PyDLL(os.fspath(path))
        self.library.cuda_emulator_report.restype = self.library.cuda_emulator_measured.restype = ctypes.c_char_p
        self.library.cuda_emulator_set.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int]
        self.library.cuda_emulator_limit_blocks.argtypes = [ctypes.c_int64]
        self.library.cuda_emulator_limit_blocks.restype = ctypes.c_int64

    @property
    def report(self) -> str:
        """The first error since `clear`, or the empty text: which thread of which block, the line, and what was wrong."""
        return str(self.library.cuda_emulator_report().decode())

    @property
    def checked(self) -> bool:
        """Whether this is the checked build."""
        return bool(self.library.cuda_emulator_checked())

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        numbers = (ctypes.c_uint64 * 4)()
        self.library.cuda_emulator_counts(numbers)
        return Counts(*numbers)

    @contextmanager
    def measure(self) -> Iterator[list[Measure]]:
        """Counts, inside of `with`, what kernels ask of memory; at its end the list holds a Measure for each kernel that ran.

        Raises:
            RuntimeError: this is the fast build, which sees no accesses.
        """
        if not self.checked:
            raise RuntimeError("Emulator.measure: the fast build sees no accesses. Got one, expected compile(..., mode='checked').")
        found: list[Measure] = []
        self.library.cuda_emulator_measure(1)
        try:
            yield found
        finally:
            self.library.cuda_emulator_measure(0)
            found += measures(self.library.cuda_emulator_measured().decode())

    @contextmanager
    def few_blocks(self, most: int) -> Iterator[None]:
        """Inside of `with`, grids whose size a program takes from `wry_most_blocks` have at most so many blocks in each direction.

        Small tests then reach what a kernel does when a grid does not cover its data: the next round of `i += gridDim.x * blockDim.x`, and the
        barrier before it. `CUDA_EMULATOR_BLOCKS` is the same for a whole process.

        Raises:
            ValueError: `most` is less than 1.
        """
        if most < 1:
            raise ValueError(f"Emulator.few_blocks: no grid has so few blocks. Got {most}, expected 1 or more.")
        before = self.library.cuda_emulator_limit_blocks(most)
        try:
            yield
        finally:
            self.library.cuda_emulator_limit_blocks(before)

    def clear(self) -> None:
        """Forget the error, and work that waits in streams; the device can be used again."""
        self.library.cuda_emulator_clear()

    def set(self, *, order: str | int = "forward", lazy: bool = True) -> None:
        """Choose the order of blocks, warps and lanes, and when streams run.

        Args:
            order: "forward", "reverse", or a seed of an order at random.
            lazy: work waits until somebody waits for it; otherwise it runs at once.

        Raises:
            ValueError: `order` is neither.
        """
        if not isinstance(order, int) and order not in _ORDERS:
            raise ValueError(f"Emulator.set: unknown order. Got {order!r}, expected 'forward', 'reverse' or an int.")
        number = 2 if isinstance(order, int) else _ORDERS[order]
        self.library.cuda_emulator_set(number, order if isinstance(order, int) else 1, lazy)
