"""`spawn`: call a function in several processes."""
from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from wherry_distributed.job import GRACE, Job, end_all, ended_by, follows
from wherry_tensor.errors import ExternalError, InvalidArgumentError, short

_environment = threading.Lock()
RULE = "-" * 46
KNOWN = ("backend", "gpus", "selected_gpus", "ips", "started_port", "start_method", "print_config", "use_paddlecloud", "cluster_node_ips", "node_ip")


def spawn(
    func: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = -1, join: bool = True, daemon: bool = False, **options: Any
) -> Context:
    """Call `func(*args)` in processes of their own, which `init_parallel_env()` in it joins.

    Args:
        func: of a module that children can import; after `if __name__ == "__main__":` in a script.
        args: its arguments, which are pickled.
        nprocs: how many processes; -1 is 1 on a CPU.
        join: wait for their end; False returns at once.
        daemon: they end with this process.
        options: `backend` (auto, mpi, gloo or nccl: MPI, and NCCL between GPUs), `started_port`, `selected_gpus` and others of Paddle.

    Returns:
        An object with `processes` and `join()`.

    Raises:
        ValueError: an option is wrong, or the function or its arguments cannot be pickled.
        OSError: a process has failed; the message holds the traceback of the first one. All others are ended.

    Source:
        `paddle.distributed.spawn`.
    """
    unknown = sorted(set(options) - set(KNOWN))
    if unknown:
        raise InvalidArgumentError(f"spawn: an option is not known. Got {', '.join(unknown)}, expected some of {', '.join(KNOWN)}. Leave it out.")
    if options.get("backend", "auto") not in ("auto", "mpi", "gloo", "nccl"):
        raise InvalidArgumentError(
            f"spawn: there is no such backend. Got {short(options['backend'])}, expected auto, mpi, gloo or nccl. Leave it out."
        )
    if isinstance(nprocs, bool) or not isinstance(nprocs, int) or nprocs == 0 or nprocs < -1:
        raise InvalidArgumentError(f"spawn: nprocs is not a number of processes. Got {short(nprocs)}, expected an int > 0, or -1. Pass nprocs=2.")
    devices = [each for each in str(options.get("selected_gpus") or options.get("gpus") or "").split(",") if each]
    context = Context(func, args, nprocs if nprocs > 0 else len(devices) or 1, daemon, options.get("started_port"))
    if join:
        while not context.join():
            pass
    return context


class Context:
    """Processes that `spawn` has started."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], count: int, daemon: bool, started_port: int | None) -> None:
        self.job = Job.here(count, started_port)
        methods = multiprocessing.get_context("spawn")  # a fork would share threads and MPI's state
        self.processes, self.errors = [], []
        with _environment:  # a child reads its environment when Python starts, before it reads what to call
            before = dict(os.environ)
            try:
                for local in range(count):
                    os.environ.update(self.job.environment(local))
                    receiver, sender = methods.Pipe(False)
                    process = methods.Process(target=_call, args=(func, args, sender), daemon=daemon, name=f"rank {local}")
                    process.start()
                    sender.close()
                    self.processes.append(process)
                    self.errors.append(receiver)
            except BaseException as error:
                self._end()
                if isinstance(error, (pickle.PicklingError, AttributeError, TypeError, RecursionError)):
                    raise InvalidArgumentError(
                        f"spawn: the function or its arguments cannot be handed to a process ({error}). Got {short(func)}, expected a "
                        f"function of a module and arguments that pickle takes. Define it at the top of a module, not in a function or as a lambda."
                    ) from error
                raise
            finally:
                os.environ.clear()
                os.environ.update(before)

    def pids(self) -> list[int | None]:
        """Of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for all processes; True when they have ended.

        Raises:
            OSError: one has failed. The others are ended.
        """
        end = None if timeout is None else time.monotonic() + timeout
        try:
            while True:
                for rank, process in enumerate(self.processes):
                    if process.exitcode not in (0, None):
                        self._failed(rank, process)
                if all(process.exitcode == 0 for process in self.processes):
                    self._end()
                    return True
                if end is not None and time.monotonic() > end:
                    return False
                time.sleep(0.01)
        except BaseException:
            self._end()
            raise

    def _said(self, rank: int) -> str:
        if self.errors[rank].poll(0.2):
            try:
                return str(self.errors[rank].recv())
            except EOFError:  # it was killed
                pass
        return ""

    def _failed(self, rank: int, process: Any) -> None:
        said, end = {rank: self._said(rank)}, time.monotonic() + GRACE
        while follows(said[rank].splitlines()) and time.monotonic() < end:  # the one that it tells of may still be on its way out
            for other, each in enumerate(self.processes):
                if other not in said and each.exitcode not in (0, None):
                    said[other] = self._said(other)
                    if not follows(said[other].splitlines()):
                        rank, process = other, each
            time.sleep(0.01)
        text = said[rank]
        code = process.exitcode
        raise ExternalError(
            f"spawn: rank {rank} (pid {process.pid}) failed: {ended_by(code)}. The other processes are ended."
            + (f"\n\n{RULE}\nProcess {rank} terminated with the following error:\n{RULE}\n\n{text}" if text else "")
        )

    def _end(self) -> None:
        pids = [process.pid for process in self.processes if process.pid]
        if any(process.is_alive() for process in self.processes):
            end_all(pids, lambda: any(process.is_alive() for process in self.processes))
            for process in self.processes:
                if process.is_alive():
                    process.kill()
        for process in self.processes:
            process.join()
        for receiver in self.errors:
            receiver.close()
        self.job.close(pids)


def _call(func: Callable[..., Any], args: tuple[Any, ...], sender: Any) -> None:
    """In the child."""
    if hasattr(os, "setsid"):
        os.setsid()  # one signal ends it with all that it has started
    try:
        func(*args)
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code in (0, None):
            raise
        from wherry_distributed.world import world

        world.broken = world.broken or str(error)
        sender.send(traceback.format_exc())
        print(traceback.format_exc(), file=sys.stderr)
        sys.exit(1)

