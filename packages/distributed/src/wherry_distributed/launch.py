"""`python -m wherry.distributed.launch train.py`: start a program in several processes, show what they say, end them together.

Each process writes `LOG_DIR/workerlog.N`; what rank 0 writes is shown as well, and of a process that fails the end of its log. Options and
texts are those of Paddle's launcher.
"""
from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, BinaryIO

from wherry_distributed.job import GRACE, Job, end_all, ended_by, follows
from wherry_distributed.launch_servers import PSERVER_OPTIONS, run_with_servers
from wherry_tensor.errors import EnforceNotMet

LONGEST = 64 << 10  # bytes of a log that are shown of a process that has failed
UNAVAILABLE = ("heter_workers", "heter_worker_num")


def parser(prog: str = "launch") -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(prog=prog, description="Start a training script in several processes.")
    add = made.add_argument
    add("--nproc_per_node", type=int, default=None, help="processes on this host; 1, or as many as --gpus or --devices name")
    add("--nnodes", default="1", help="hosts; LEAST:MOST begins with fewer, and starts again with those that are left")
    add("--master", default=None, help="HOST:PORT where launchers of several hosts meet; the first of them serves there")
    add("--rank", "--node_rank", dest="rank", type=int, default=-1, help="which host this is; in the order of arrival without it")
    add("--gpus", "--devices", "--selected_gpus", "--xpus", dest="gpus", default=None, help="devices, one process each")
    add("--ips", default=None, help="hosts; --master and --nnodes take its place")
    add("--log_dir", default="log", help="folder for workerlog.N and endpoints.log")
    add("--log_level", default="INFO", help="accepted for compatibility")
    add("--job_id", default="default", help="accepted for compatibility")
    add("--run_mode", default=None, help="collective")
    add("--backend", default="auto", help="auto, mpi, gloo or nccl: MPI, and NCCL between GPUs")
    add("--start_timeout", type=float, default=300.0, help="seconds to wait for other hosts")
    add("--elastic", action="store_true", help="start again when a process fails, with as many as are left")
    add("--elastic_level", type=int, default=-1, help="0 or more is --elastic")
    add("--elastic_timeout", type=float, default=30.0, help="seconds to wait for more than LEAST hosts")
    add("--max_restart", type=int, default=3, help="how often --elastic starts again")
    add("--server_num", default=None, help="parameter servers on this host")
    add("--worker_num", default=None, help="workers that train with parameter servers")
    add("--servers", default=None, help="IP:PORT of all parameter servers, with commas between them")
    add("--workers", default=None, help="IP:PORT of all workers, of which this host starts its own")
    for name in ("trainers", "trainer_num", *UNAVAILABLE):
        add(f"--{name}", default=None, help=argparse.SUPPRESS)
    add("-m", dest="module", action="store_true", help="the script is a module")
    add("training_script", help="the script")
    add("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return made


def say(text: str, level: str = "INFO") -> None:
    """A line of the launcher."""
    now = datetime.now()
    print(f"{level} {now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03d} launch.py] {text}", file=sys.stderr, flush=True)


def print_table(rows: dict[str, str]) -> None:
    """Environment variables as Paddle's launcher shows them."""

    def line(name: str, value: str) -> str:
        return f"    |{name:>30}{value[-51:] if len(value) > 51 else value:^55}|"

    print("\n".join([
        f"    +{'=' * 85}+", line("Distributed Envs", "Value"), f"    +{'-' * 85}+",
        *(line(name, value if len(value) <= 51 else f"... {value[-44:]}") for name, value in rows.items()), f"    +{'=' * 85}+",
    ]), flush=True)


def main(arguments: Sequence[str] | None = None, prog: str = "launch") -> int:
    """Run a program; returns its exit status: 0, or that of the process that has failed first."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and (given[0] == "--plan" or given[0].startswith("--plan=")):
        from wherry_distributed import plan_command  # which trains: what starts programs alone needs no model

        return plan_command.main(given, prog)
    options = parser(prog).parse_args(given)
    for name in UNAVAILABLE:
        if getattr(options, name):
            print(f"launch: --{name} belongs to workers of several kinds, which are not there. Leave it out.", file=sys.stderr)
            return 2
    if options.backend not in ("auto", "mpi", "gloo", "nccl"):
        print(f"launch: there is no backend {options.backend}. Got --backend {options.backend}, expected auto, mpi, gloo or nccl.", file=sys.stderr)
        return 2
    try:
        least, most = bounds(str(options.nnodes))
    except ValueError:
        print(f"launch: --nnodes is not a number of hosts. Got {options.nnodes!r}, expected N, or LEAST:MOST. Pass 2, say.", file=sys.stderr)
        return 2
    if options.ips and len(options.ips.split(",")) > 1 and not options.master:
        print("launch: --ips alone does not say where hosts meet. Pass --master HOST:PORT and --nnodes on each of them.", file=sys.stderr)
        return 2
    devices = [each for each in (options.gpus or "").split(",") if each]
    count = options.nproc_per_node or len(devices) or 1
    print("-----------  Configuration Arguments -----------")
    for name, value in sorted(vars(options).items()):
        if name not in UNAVAILABLE or value:
            print(f"{name}: {value}")
    print("------------------------------------------------", flush=True)
    if most > 1 and not options.master:
        print("launch: several hosts need --master HOST:PORT, where they meet.", file=sys.stderr)
        return 2
    if any(getattr(options, name) for name in PSERVER_OPTIONS):
        try:
            return run_with_servers(options, say, print_table)
        except EnforceNotMet as error:
            print(error, file=sys.stderr)
            return 2
    elastic = options.elastic or options.elastic_level >= 0 or least < most
    restarts = 0
    while True:
        try:
            if most > 1:
                job = Job.of_hosts(count, options.master, most, options.rank, options.start_timeout, least, options.elastic_timeout, restarts)
            else:
                job = Job.here(count, restarts=restarts)
        except EnforceNotMet as error:
            print(error, file=sys.stderr)
            return 1
        launcher = Launcher(job, options, devices)
        code = launcher.run()
        if code == 0 or launcher.stopped or not elastic:
            return code
        count -= launcher.lost
        if restarts >= options.max_restart or count < 1:
            say("no process is left here." if count < 1 else f"failed {restarts + 1} times: this is the end (--max_restart).", "ERROR")
            return code
        restarts += 1
        keep_logs(options.log_dir, restarts)
        say(f"start {restarts} of at most {options.max_restart}, with {count} processes here.", "WARNING")


def bounds(text: str) -> tuple[int, int]:
    """The least and the most hosts of `N` or `LEAST:MOST`.

    Raises:
        ValueError: it is neither.
    """
    numbers = [int(each) for each in text.split(":")]
    if len(numbers) > 2 or not 1 <= numbers[0] <= numbers[-1]:
        raise ValueError(text)
    return numbers[0], numbers[-1]


def keep_logs(folder: str, number: int) -> None:
    """Logs of a program that starts again: `workerlog.N` becomes `workerlog.N.before.NUMBER`."""
    for name in os.listdir(folder):
        if name.startswith("workerlog.") and name.count(".") == 1:
            os.replace(os.path.join(folder, name), os.path.join(folder, f"{name}.before.{number}"))


class Launcher:
    """Starts the processes of a job and stays until they have ended."""

    def __init__(self, job: Job, options: Any, devices: Sequence[str]) -> None:
        self.job, self.options, self.devices = job, options, devices
        self.processes: list[subprocess.Popen[bytes]] = []
        self.logs: list[BinaryIO] = []
        self.shown = 0  # bytes of the first log
        self.stopped: list[int] = []  # signals
        self.lost = 0  # processes that were killed: their place may be gone

    def run(self) -> int:
        """Start, watch, end."""
        os.makedirs(self.options.log_dir, exist_ok=True)
        stopped = self.stopped
        before = {each: signal.signal(each, lambda number, frame: stopped.append(number)) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._start()
            while not stopped:
                codes = [process.poll() for process in self.processes]
                self._show()
                failed = next((i for i, code in enumerate(codes) if code), None)
                if failed is not None:
                    return self._failed(failed)
                if all(code == 0 for code in codes):
                    if self.job.line is not None:
                        self.job.line.say("wherry_done")
                    return 0
                news = None if self.job.line is None else self.job.line.news()
                if news is not None:
                    say(f"{news}. All processes end.", "ERROR")
                    return 1
                time.sleep(0.02)
            say(f"{signal.Signals(stopped[0]).name}: all processes end.", "WARNING")
            return 128 + stopped[0]
        finally:
            end_all([process.pid for process in self.processes], lambda: any(process.poll() is None for process in self.processes))
            for process in self.processes:
                process.wait()
            self._show()
            for log in self.logs:
                log.close()
            self.job.close(process.pid for process in self.processes)
            for each, handler in before.items():
                signal.signal(each, handler)

    def _start(self) -> None:
        command = [sys.executable, "-u", *(["-m"] if self.options.module else []), self.options.training_script, *self.options.training_script_args]
        say(f"Local start {self.job.count} processes. First process distributed environment info (Only For Debug): ")
        first = self.job.environment(0)
        print_table({name: first[name] for name in sorted(first) if name.startswith("PADDLE_T") or name == "PADDLE_CURRENT_ENDPOINT"})
        with open(os.path.join(self.options.log_dir, "endpoints.log"), "w") as file:
            file.write("PADDLE_TRAINER_ENDPOINTS: \n" + "\n".join(self.job.endpoints))
        for local in range(self.job.count):
            added = self.job.environment(local)
            if self.devices:
                added["FLAGS_selected_gpus"] = self.devices[local % len(self.devices)]
            log = open(os.path.join(self.options.log_dir, f"workerlog.{local}"), "wb")  # noqa: SIM115  closed by `run`
            self.logs.append(log)
            # In a session of its own: one signal ends it with all that it has started.
            self.processes.append(
                subprocess.Popen(
                    command, env=os.environ | added, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            )
        say(
            f"details about PADDLE_TRAINER_ENDPOINTS can be found in {self.options.log_dir}/endpoints.log, and detail running logs maybe found in "
            f"{self.options.log_dir}/workerlog.0"
        )

    def _show(self) -> None:
        """What the first process has written since."""
        with contextlib.suppress(OSError), open(os.path.join(self.options.log_dir, "workerlog.0"), "rb") as file:
            file.seek(self.shown)
            new = file.read()
            if new:
                self.shown += len(new)
                sys.stdout.write(new.decode(errors="replace"))
                sys.stdout.flush()

    def _failed(self, local: int) -> int:
        """Say which process has failed first, and what it has written last."""
        end = time.monotonic() + GRACE
        while self._follows(local) and time.monotonic() < end:  # it only tells of another one, which is about to end
            time.sleep(0.02)
            local = next((i for i, each in enumerate(self.processes) if each.poll() and not self._follows(i)), local)
        process = self.processes[local]
        rank, code = self.job.first + local, process.returncode
        self.lost = sum(each.poll() == -signal.SIGKILL for each in self.processes)
        if self.job.line is not None:
            self.job.line.say("wherry_end", f"rank {rank} (pid {process.pid} of node {self.job.node}) failed: {ended_by(code)}")
        path = os.path.join(self.options.log_dir, f"workerlog.{local}")
        say(f"rank {rank} (pid {process.pid}) failed: {ended_by(code)}. The other processes are ended. Its log, {path}, ends:", "ERROR")
        if local:  # that of the first one has been shown
            print("\n".join(self._end_of_log(local)), file=sys.stderr, flush=True)
        return 128 - code if code < 0 else code

    def _end_of_log(self, local: int) -> list[str]:
        path = os.path.join(self.options.log_dir, f"workerlog.{local}")
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - LONGEST))
            return file.read().decode(errors="replace").splitlines()[-60:]

    def _follows(self, local: int) -> bool:
        """Has a process failed because of another one?"""
        return follows(self._end_of_log(local))


if __name__ == "__main__":
    sys.exit(main(prog="python -m wherry.distributed.launch"))
