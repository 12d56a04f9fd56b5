"""Operators that talk to other processes. Programs of several processes are not read; with one, each gives what it was given."""
import os

from wherry_paddle_files.column import reads


@reads(
    "c_allgather", "c_allreduce_max", "c_allreduce_sum", "c_broadcast", "c_concat", "c_identity", "c_reduce_sum", "c_sync_calc_stream",
    "c_sync_comm_stream",
)
def read_alone(o):
    ranks = max(o.integer("nranks", 1), int(os.environ.get("PADDLE_TRAINERS_NUM", "1")))
    if ranks > 1:
        raise o.bad(f"it is for {ranks} processes", "a program of one process: train with paddle.DataParallel")
    return o.x("X")
