"""One rank does something else than the others."""
import os
import signal
import sys
import time

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import (
    all_reduce,
    barrier,
    broadcast,
    get_group,
    get_rank,
    init_parallel_env,
    new_group,
    recv,
    send,
)
from wherry_distributed.messages import Messages

wherry_ops_cpu.column.register()
init_parallel_env()
rank, kind = get_rank(), sys.argv[1]
x = wt.ones([1000])
all_reduce(x)
begin = time.monotonic()
try:
    if kind == "shape":
        all_reduce(wt.ones([1000 if rank == 0 else 999]))
    elif kind == "dtype":
        all_reduce(x if rank else x.astype("int32"))
    elif kind == "op":
        broadcast(x, 1) if rank == 1 else all_reduce(x)
    elif kind == "root":
        broadcast(x, rank)
        barrier()
    elif kind == "reduction":
        all_reduce(x, 1 if rank else 0)
    elif kind == "async":
        first, second = (x, wt.ones([5])) if rank else (wt.ones([5]), x)
        tasks = [all_reduce(first, sync_op=False), all_reduce(second, sync_op=False)]
        for task in tasks:
            task.wait()
    elif kind == "group":
        new_group([0] if rank else [0, 1])
    elif kind == "message":
        send(x, 1) if rank == 0 else recv(wt.ones([3]), 0) if rank == 1 else None
        barrier()
    elif kind == "late":
        while rank == 1:
            time.sleep(0.05)  # here it is
        all_reduce(x)
    elif kind == "stopped":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        all_reduce(x)
    elif kind == "killed":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        all_reduce(x)
    elif kind == "stage":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        Messages(get_group()).receive(1, 0)
    elif kind == "raises":
        if rank == 1:
            raise ValueError("no such batch")
        all_reduce(x)
    elif kind == "ends":
        if rank == 1:
            sys.exit(0)
        all_reduce(x)
    elif kind == "exits":
        if rank == 1:
            sys.exit(7)
        all_reduce(x)
    elif kind == "waits":
        print("here", flush=True)
        time.sleep(600) if rank == 0 else all_reduce(x)
    raise SystemExit("no error")
finally:
    print(f"after {time.monotonic() - begin:.2f} s", file=sys.stderr, flush=True)
