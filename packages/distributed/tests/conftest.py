"""Starts programs of `run_by_ranks/` in several processes, and sees that nothing of them stays behind."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wherry_ops_cpu.column
from wherry_distributed.job import _in_use

wherry_ops_cpu.column.register()  # packages found by path have no entry points

PROGRAMS = Path(__file__).parent / "run_by_ranks"


def shared_memory():
    folder = Path("/dev/shm")
    return {each.name for each in folder.iterdir() if each.name.startswith(("mpich_shm_", "wherry_board_"))} if folder.is_dir() else set()


def left(before):
    """Shared memory that has come and that no process has: other jobs may run at the same time."""
    for _ in range(100):
        found = [name for name in shared_memory() - before if not _in_use(f"/dev/shm/{name}", set())]
        if not found:
            return []
        time.sleep(0.05)
    return found


@pytest.fixture
def segments():
    return shared_memory


@pytest.fixture
def left_behind():
    return left


@pytest.fixture
def programs():
    return PROGRAMS


@pytest.fixture
def launch(tmp_path):
    """Runs a program in `count` processes; returns its exit status, what the launcher has said, and the logs."""

    def run(program, *args, count=2, env=None, expect=0, options=()):
        before = shared_memory()
        done = subprocess.run(
            [sys.executable, "-m", "wherry_distributed.launch", "--nproc_per_node", str(count), "--log_dir", str(tmp_path / "log"), *options,
             str(PROGRAMS / program), *map(str, args)],
            env=os.environ | (env or {}), capture_output=True, text=True, timeout=60 + 60 * count, cwd=tmp_path, check=False,
        )
        logs = [(tmp_path / "log" / f"workerlog.{rank}").read_text() for rank in range(count)]
        assert expect is None or done.returncode == expect, (done.stdout, done.stderr, logs)
        assert not left(before)
        return done, logs

    return run
