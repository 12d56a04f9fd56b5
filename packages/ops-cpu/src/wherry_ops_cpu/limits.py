"""What this processor can do at most: multiply-adds, memory, threads.

Loops without any other work (csrc/limits.cc) say how fast kernels could be. `measure()` takes a second or two.
"""
from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

from wherry_ops_cpu import column

_DTYPES = ("float32", "float64", "bfloat16", "float16", "int8")


@dataclass(frozen=True)
class Limits:
    """The best that was seen, with all `threads` at work."""

    isa: str
    threads: int
    multiply_adds: dict[str, float]
    """A second, by dtype: in float32 and float64; of bfloat16 in pairs and summed in float32; of float16 summed in float16; of int8 summed in int32.
    What the processor has no instruction for is missing."""
    bandwidth: dict[str, float]
    """Bytes a second through memory that no near cache holds: "read", "write" and "copy" (of both sides together)."""
    waking: float
    """Seconds until all threads have begun and ended an empty loop, after a pause in which they fell asleep."""

    def seconds(self, multiply_adds: float = 0, size: float = 0, dtype: str = "float32") -> float:
        """The least time of so many multiply-adds and so many bytes through memory (in the direction that is fastest), whichever takes longer.

        For 16-bit floats the faster way counts: their own instruction if it sums in float32, or that of float32.
        """
        wide = self.multiply_adds["float32"]
        peak = max(wide, self.multiply_adds.get("bfloat16", 0)) if dtype == "bfloat16" else wide if dtype == "float16" else self.multiply_adds[dtype]
        return max(multiply_adds / peak, size / max(self.bandwidth.values()))


def measure(threads: int, seconds: float = 0.05, size: int = 96 << 20, isa: str | None = None) -> Limits:
    """Measure the limits.

    Args:
        threads: how many work at once.
        seconds: for each of the nine numbers.
        size: bytes of memory that are passed through: more than near caches hold.
        isa: an instruction set of `supported_isas()`; None takes the one whose kernels run.

    Returns:
        The limits.

    Raises:
        ValueError: threads < 1, or an instruction set that cannot run here.
    """
    if threads < 1:
        raise ValueError(f"limits: there is no such number of threads. Got threads={threads}, expected 1 or more. Take os.cpu_count().")
    isa = isa or column.chosen_isa()
    room = ctypes.create_string_buffer(size + 64)
    address = (ctypes.addressof(room) + 63) // 64 * 64  # as streams past the caches want it

    def fastest(what: str, rounds: int) -> float | None:
        """Of what a second, in the best of several runs; each lasts long enough for the clock."""
        best, end = 0.0, time.perf_counter() + seconds
        while not best or time.perf_counter() < end:
            start = time.perf_counter()
            done = column.module_of(isa).limit(isa, what, rounds, threads, address, size)
            if done < 0:
                return None
            best = max(best, done / (time.perf_counter() - start))
        return best

    peaks = {dtype: fastest(dtype, 200_000) for dtype in _DTYPES}
    moved = {what: fastest(what, 1) for what in ("read", "write", "copy")}
    return Limits(isa, threads, {k: v for k, v in peaks.items() if v}, {k: v for k, v in moved.items() if v}, _waking(isa, threads, seconds))


def _waking(isa: str, threads: int, seconds: float) -> float:
    found = []
    for _ in range(max(3, int(seconds / 0.002))):
        time.sleep(0.002)
        start = time.perf_counter()
        column.module_of(isa).limit(isa, "wake", 1, threads, 0, 0)
        found.append(time.perf_counter() - start)
    return sorted(found)[len(found) // 2]
