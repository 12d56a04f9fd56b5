"""Looking at a library that holds the emulator, and setting how it runs kernels."""
from __future__ import annotations

import ctypes
import os
from typing import NamedTuple

__all__ = ["Counts", "Emulator"]

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
        self.library.cuda_emulator_report.restype = ctypes.c_char_p
        self.library.cuda_emulator_set.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int]

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
