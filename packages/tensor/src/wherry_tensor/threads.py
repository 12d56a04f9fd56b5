"""The default number of threads of kernels."""
from __future__ import annotations

import os

__all__: list[str] = []


def default_num_threads(root: str = "/") -> int:
    """All cores that this process may use: those of its affinity, but no more than its control groups grant.

    `OMP_NUM_THREADS` is stronger (of a list for nested levels, as in "4,2", its first number).

    Args:
        root: the folder below which `proc` and `sys` are looked for.
    """
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        return min(int(first), 2**31 - 1)
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not Linux
        cores = os.cpu_count() or 1
    quota = cgroup_cores(root) if cores > 1 else None
    return cores if quota is None else max(1, min(cores, quota))


def cgroup_cores(root: str = "/") -> int | None:
    """How many cores' time the control groups (version 2 or 1) of this process grant, rounded up; None: no limit.

    A group is limited by each group above it too. In a container `/proc/self/cgroup` may name groups that are not
    below its own `/sys/fs/cgroup`; then that folder is the group.
    """
    least = None
    for line in _read(os.path.join(root, "proc/self/cgroup")).splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3:
            continue
        _, controllers, path = parts
        if controllers == "":
            mount = os.path.join(root, "sys/fs/cgroup")
        elif "cpu" in controllers.split(","):
            mount = os.path.join(root, "sys/fs/cgroup", controllers)
        else:
            continue
        names = [name for name in path.split("/") if name and name != ".."]
        for depth in range(len(names), -1, -1):
            group = os.path.join(mount, *names[:depth])
            if controllers == "":
                quota, _, period = _read(os.path.join(group, "cpu.max")).partition(" ")
            else:
                quota = _read(os.path.join(group, "cpu.cfs_quota_us"))
                period = _read(os.path.join(group, "cpu.cfs_period_us"))
            quota, period = quota.strip(), period.strip()
            if quota.isdecimal() and period.isdecimal() and int(period) > 0:  # "max" and -1: no limit
                cores = -(-int(quota) // int(period))
                least = cores if least is None else min(least, cores)
    return least


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4096)
    except OSError:
        return ""


def start() -> None:
    """Set the number for this process, and 1 for the children that it forks: whoever forks divides work himself."""
    from wherry_tensor import _core

    _core.set_num_threads(default_num_threads())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _core.set_num_threads(1))
