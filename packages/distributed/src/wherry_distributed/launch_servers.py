"""The launcher's mode with parameter servers: `--server_num 1 --worker_num 2`, or `--servers` and `--workers` with addresses.

Servers write `serverlog.N`, workers `workerlog.N`. Workers that have ended are what a job waits for; servers are ended after them.
"""
from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import Any, BinaryIO

from wherry_distributed.job import end_all, ended_by, free_ports, reserved_ports, threads_each
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = ["PSERVER_OPTIONS", "run_with_servers"]

PSERVER_OPTIONS = ("server_num", "worker_num", "trainer_num", "servers", "workers", "trainers")
LINGER = 5.0        # seconds for servers to end by themselves after the last worker
LAST_LINES = 60     # of the log of a process that fails


class _Process:
    """One process that was started, with its log."""

    def __init__(self, kind: str, number: int, command: list[str], environment: dict[str, str], folder: str) -> None:
        self.kind, self.number = kind, number
        self.path = os.path.join(folder, f"{kind}log.{number}")
        self.log: BinaryIO = open(self.path, "wb")  # noqa: SIM115  closed by `run_with_servers`
        self.process = subprocess.Popen(
            command, env=os.environ | environment, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)


def run_with_servers(options: Any, say: Any, table: Any) -> int:
    """Start servers and workers of this host, wait for the workers, end the servers.

    Args:
        options: of the launcher.
        say: writes one of its lines.
        table: writes environment variables as a table.

    Returns:
        0, or the exit status of the process that has failed first.

    Raises:
        ValueError: the options contradict each other.
    """
    with ExitStack() as held:  # until servers listen, which begin late where the machine is busy
        servers = _addresses("server", options.servers, options.server_num, held)
        workers = _addresses("worker", options.workers or options.trainers, options.worker_num or options.trainer_num, held)
        return _run(options, servers, workers, say, table)


def _run(options: Any, servers: list[str], workers: list[str], say: Any, table: Any) -> int:
    given = [name for name in PSERVER_OPTIONS if getattr(options, name)]
    say(f"Run parameter-server mode. pserver arguments:{[f'--{name}' for name in given]}")
    here = _own_addresses()
    with tempfile.TemporaryDirectory(prefix="wherry-gloo-") as folder:
        shared = {
            "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(servers), "PADDLE_TRAINER_ENDPOINTS": ",".join(workers),
            "PADDLE_TRAINERS_NUM": str(len(workers)),
            "PADDLE_HETER_TRAINER_IP_PORT_LIST": "", "PADDLE_WITH_GLOO": "0", "PADDLE_GLOO_RENDEZVOUS": "3", "PADDLE_GLOO_FS_PATH": folder,
            "PADDLE_GLOO_HTTP_ENDPOINT": f"{servers[0].rsplit(':', 1)[0]}:{free_ports(1)[0]}",
            "PADDLE_JOB_SECRET": _secret(servers, here), "PYTHONFAULTHANDLER": "1",
        }
        mine = [each for each in (*servers, *workers) if each.rsplit(":", 1)[0] in here]
        if "OMP_NUM_THREADS" not in os.environ:
            shared["OMP_NUM_THREADS"] = str(threads_each(len(mine)))
        started: list[_Process] = []
        stopped: list[int] = []
        before = {each: signal.signal(each, lambda number, frame: stopped.append(number)) for each in (signal.SIGINT, signal.SIGTERM)}
        command = [sys.executable, "-u", *(["-m"] if options.module else []), options.training_script, *options.training_script_args]
        os.makedirs(options.log_dir, exist_ok=True)
        devices = [each for each in (options.gpus or "").split(",") if each]
        try:
            for kind, addresses in (("server", servers), ("worker", workers)):
                local = [(number, each) for number, each in enumerate(addresses) if each.rsplit(":", 1)[0] in here]
                for at, (number, address) in enumerate(local):
                    own = _environment(kind, number, address, devices[at % len(devices)] if devices else "0")
                    if at == 0:
                        say(f"Local {kind} start {len(local)} processes. First process distributed environment info (Only For Debug): ")
                        shown = sorted(name for name in shared | own if name.startswith(_SHOWN) and name != "PADDLE_JOB_SECRET")
                        table({name: (shared | own)[name] for name in shown})
                    started.append(_Process(kind, number, command, shared | own, options.log_dir))
            say(f"Please check servers and workers logs in {options.log_dir}/workerlog.* and {options.log_dir}/serverlog.*")
            return _watched(started, stopped, say)
        finally:
            processes = [each.process for each in started]
            end_all([process.pid for process in processes], lambda: any(process.poll() is None for process in processes))
            for each in started:
                each.process.wait()
                each.log.close()
            for number, handler in before.items():
                signal.signal(number, handler)


_SHOWN = ("PADDLE_", "TRAINING_ROLE", "POD_IP", "FLAGS_selected")


def _environment(kind: str, number: int, address: str, device: str) -> dict[str, str]:
    host, port = address.rsplit(":", 1)
    if kind == "server":
        return {"TRAINING_ROLE": "PSERVER", "POD_IP": host, "PADDLE_PORT": port}
    return {
        "TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": str(number), "PADDLE_CURRENT_ENDPOINT": address, "FLAGS_selected_gpus": device,
        "FLAGS_selected_xpus": device,
    }


def _watched(started: list[_Process], stopped: list[int], say: Any) -> int:
    """Wait until the workers of this host have ended; a process that fails ends all."""
    workers = [each for each in started if each.kind == "worker"]
    waited = workers or started  # a host of servers alone waits for them
    shown = 0
    while not stopped:
        failed = next((each for each in started if each.process.poll()), None)
        if workers and workers[0].number == 0:
            shown = _show(workers[0].path, shown)
        if failed is not None:
            code = failed.process.returncode
            what = f"{failed.kind} {failed.number} (pid {failed.process.pid})"
            say(f"{what} failed: {ended_by(code)}. The other processes are ended. Its log, {failed.path}, ends:", "ERROR")
            with open(failed.path, encoding="utf-8", errors="replace") as log:
                print("".join(log.readlines()[-LAST_LINES:]), file=sys.stderr, flush=True)
            return 128 - code if code < 0 else int(code)
        if all(each.process.poll() == 0 for each in waited):
            break
        time.sleep(0.02)
    if stopped:
        say(f"{signal.Signals(stopped[0]).name}: all processes end.", "WARNING")
        return 128 + stopped[0]
    say("all workers exit, going to finish parameter server and heter_worker.")
    end = time.monotonic() + LINGER
    while any(each.process.poll() is None for each in started) and time.monotonic() < end:
        time.sleep(0.02)
    say("all parameter server are killed")
    return 0


def _show(path: str, begin: int) -> int:
    with open(path, "rb") as log:
        log.seek(begin)
        new = log.read()
    sys.stdout.write(new.decode(errors="replace"))
    sys.stdout.flush()
    return begin + len(new)


def _addresses(kind: str, given: str | None, count: str | None, held: ExitStack) -> list[str]:
    """Those that were given, or ports of this host, which nobody else is given until `held` ends."""
    if given:
        found = [each for each in given.split(",") if each]
        for each in found:
            host, _, port = each.rpartition(":")
            if not host or not port.isdigit():
                raise InvalidArgumentError(f"launch: --{kind}s has no such address. Got {short(each)}, expected IP:PORT,IP:PORT,...")
        if count and int(count) != len(found):
            raise InvalidArgumentError(f"launch: --{kind}s and --{kind}_num differ. Got {len(found)} addresses and {count}, expected as many.")
        return found
    if not count or not str(count).isdigit() or int(count) < 1:
        raise InvalidArgumentError(
            f"launch: a job with parameter servers has servers and workers. Got --{kind}_num {count}, expected one or more, such as --server_num 1 "
            f"--worker_num 2."
        )
    return [f"127.0.0.1:{port}" for port in reserved_ports(int(count), held)]


def _own_addresses() -> set[str]:
    found = {"127.0.0.1", "localhost", socket.gethostname()}
    try:
        found |= set(socket.gethostbyname_ex(socket.gethostname())[2])
    except OSError:
        return found
    return found


def _secret(servers: list[str], here: set[str]) -> str:
    """The secret of the job: the user's, or one of its own where all runs on this host."""
    given = os.environ.get("PADDLE_JOB_SECRET", "")
    if not given and any(each.rsplit(":", 1)[0] not in here for each in servers):
        raise InvalidArgumentError(
            "launch: servers on several hosts need a secret of the job. Got no PADDLE_JOB_SECRET, expected the same text in the "
            "environment of every launcher."
        )
    return given or secrets.token_hex(32)
