"""Functions that run in other workers. The argument says what goes wrong, if anything."""
import operator
import os
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

import numpy as np

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import rpc

wherry_ops_cpu.column.register()
rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
try:
    rpc.rpc_sync("worker0", len, ([],))
except RuntimeError as error:
    assert "not joined" in str(error)
rpc.init_rpc(f"worker{rank}")
infos = rpc.get_all_worker_infos()
assert [each.name for each in infos] == [f"worker{i}" for i in range(size)] and rpc.get_current_worker_info() == infos[rank]
assert rpc.get_worker_info("worker1").rank == 1
other = f"worker{(rank + 1) % size}"
if len(sys.argv) > 1:
    if rank == 1:
        os._exit(3)
    time.sleep(0.5)
    rpc.rpc_sync("worker1", time.sleep, (60,))
assert rpc.rpc_sync(other, operator.add, (2, 3)) == 5 and rpc.rpc_sync(other, os.getpid) != os.getpid()
assert rpc.rpc_sync(f"worker{rank}", os.getpid) == os.getpid()
futures = [rpc.rpc_async(other, pow, args=(i, 2)) for i in range(40)]
assert [each.wait() for each in futures] == [i * i for i in range(40)]
big = np.arange(1 << 18)
assert rpc.rpc_sync(other, np.sum, (big,), {"axis": 0}) == big.sum()
assert rpc.rpc_sync(other, operator.mul, (wt.ones([3]), wt.full([3], 2.0))).tolist() == [2.0] * 3
try:
    rpc.rpc_sync(other, operator.truediv, (1, 0))
except ZeroDivisionError as error:
    assert f"raised in worker '{other}'" in error.__notes__[0] and "_serve" in error.__notes__[0]
else:
    raise AssertionError
for call, kind, text in [
    (lambda: rpc.rpc_sync(other, time.sleep, (5,), timeout=0.2), TimeoutError, "has not answered to sleep within 0.2 s"),
    (lambda: rpc.rpc_sync("nobody", len, ([],)), ValueError, "no such worker"),
    (lambda: rpc.get_worker_info("nobody"), ValueError, "no such worker"),
    (lambda: rpc.init_rpc("again"), ValueError, "joined already"),
]:
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
try:
    Client((infos[0].ip, infos[0].port), authkey=b"another secret")
except AuthenticationError:
    refused = True
assert refused
rpc.shutdown()
rpc.shutdown()
print("all right", file=sys.stderr)
