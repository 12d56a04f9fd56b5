"""Memory of arrays and images, which come and go with every sample."""
from __future__ import annotations

import numpy as np

__all__ = ["keep_freed_memory"]


def keep_freed_memory() -> None:
    """Let glibc keep what is freed, up to 16 MiB at the end of its heap, in place of giving it back to the system.

    At first it does so with anything above 128 KiB, and each page of a new array or image costs a fault: decoding a JPEG of 375 x 500 with Pillow
    takes 0.9 ms, of which 0.5 are 334 faults. When a larger block is freed, glibc takes its size for what the program needs (mallopt(3),
    M_MMAP_THRESHOLD); so one is made, of which no page is touched. Elsewhere this does nothing.
    """
    np.empty(1 << 23, np.uint8)
