"""The pool of threads behind the kernels."""
import os
import subprocess
import sys

import pytest

PREPARE = """
import os, signal, sys, threading, time
import numpy as np
import wherry_tensor as w, wherry_ops_cpu.column
wherry_ops_cpu.column.register()
from wherry_tensor import ops

x = w.to_tensor(np.random.default_rng(0).standard_normal((512, 512)).astype("float32"))

def product():
    return ops.matmul(x, x, transpose_x=False, transpose_y=False).numpy()

def threads():
    return len(os.listdir("/proc/self/task"))
"""

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


def program(text):
    done = subprocess.run([sys.executable, "-c", PREPARE + text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@on_linux
def test_threads_begin_with_the_first_large_loop():
    assert program(
        "w.set_num_threads(3); started = threads(); small = w.to_tensor([1.0]) + 1; print(threads() - started)\n"
        "product(); print(threads() - started)\n"
        "w.set_num_threads(2); product(); print(threads() - started)"
    ) == ["0", "2", "2"]


@on_linux
def test_a_forked_child_makes_threads_of_its_own():
    assert program(
        "w.set_num_threads(2); expected = product()\n"
        "if os.fork() == 0:\n"
        "    first = threads()\n"  # an emulator has one more
        "    right = np.array_equal(product(), expected); alone = threads() - first\n"
        "    w.set_num_threads(2); right &= np.array_equal(product(), expected)\n"
        "    print(right, alone, threads() - first, flush=True); os._exit(0)\n"
        "os.wait(); print(np.array_equal(product(), expected))"
    ) == ["True", "0", "1", "True"]


@on_linux
def test_forks_while_other_threads_compute():
    assert program(
        "w.set_num_threads(3); expected = product(); stop = False\n"
        "def busy():\n"
        "    while not stop: product()\n"
        "others = [threading.Thread(target=busy) for _ in range(2)]\n"
        "[t.start() for t in others]\n"
        "codes = []\n"
        "for _ in range(10):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        w.set_num_threads(2)\n"
        "        os._exit(0 if np.array_equal(product(), expected) else 1)\n"
        "    codes.append(os.waitpid(child, 0)[1])\n"
        "stop = True; [t.join() for t in others]; print(sum(codes))"
    ) == ["0"]


@on_linux
def test_signals_reach_the_program_and_not_its_workers():
    assert program(
        "before = set(os.listdir('/proc/self/task')); w.set_num_threads(2); product(); caught = []\n"
        "signal.signal(signal.SIGUSR1, lambda *_: caught.append(threading.current_thread() is threading.main_thread()))\n"
        "[os.kill(os.getpid(), signal.SIGUSR1) or product() for _ in range(20)]; print(caught == [True] * 20)\n"
        "blocked = [int(line.split()[1], 16) for task in set(os.listdir('/proc/self/task')) - before\n"
        "           for line in open(f'/proc/self/task/{task}/status') if line.startswith('SigBlk')]\n"
        "print(len(blocked), all(mask & (1 << (signal.SIGUSR1 - 1)) for mask in blocked))"
    ) == ["True", "1", "True"]


@on_linux
@pytest.mark.skipif(not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_two_threads_beside_a_busy_neighbour_give_the_same_result():
    """Another process takes one of two processors: what a thread without one never began, the caller takes back. How long
    that takes is measured in benchmarks/RESULTS.md."""
    same = program(
        "import subprocess\n"
        "mine, taken = sorted(os.sched_getaffinity(0))[:2]\n"
        "os.sched_setaffinity(0, [mine, taken])\n"
        "neighbour = subprocess.Popen([sys.executable, '-c',\n"
        "                              f'import os; os.sched_setaffinity(0, [{taken}])\\nwhile True: pass'])\n"
        "x = w.to_tensor(np.random.default_rng(0).standard_normal((128, 128)).astype('float32'))\n"
        "try:\n"
        "    w.set_num_threads(1); expected = product(); time.sleep(0.3)\n"
        "    w.set_num_threads(2)\n"
        "    print(all(np.array_equal(product(), expected) for _ in range(200)))\n"
        "finally:\n"
        "    neighbour.kill(); neighbour.wait()"
    )
    assert same == ["True"]


def test_the_kernels_need_no_other_runtime():
    from wherry_ops_cpu import _kernels

    with open(_kernels.__file__, "rb") as file:
        content = file.read()
    assert b"libgomp" not in content and b"libstdc++" not in content
    assert not os.path.exists(os.path.join(os.path.dirname(_kernels.__file__), "libgomp.so.1"))
