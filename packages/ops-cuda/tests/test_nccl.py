"""Collectives of GPUs by NCCL, which a stand-in plays: several processes, each with an emulated GPU.

The stand-in moves everything by kernels of the emulator, in the order of streams, and answers to wrong calls as an installed NCCL did
(answers/nccl.json, by record_nccl.py). The programs are those of wherry-distributed's tests.
"""
import ctypes
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_distributed import nccl

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "distributed" / "tests" / "run_by_ranks"
_spec = importlib.util.spec_from_file_location("record_nccl", HERE / "record_nccl.py")
record_nccl = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_nccl)


@pytest.fixture(scope="session")
def stand_in(emulator):
    kernels = Path(os.environ["WHERRY_CUDA_LIBRARY"])
    return wherry_cuda_emulator.compile(
        [HERE / "sources" / "fake_nccl.cu", HERE / "sources" / "fake_nccl_exchange.cc"],
        kernels.parent / f"libfake_nccl_{kernels.stem}.so", emulator=kernels, include_dirs=[HERE / "sources"],
    )


@pytest.fixture
def launch(stand_in, tmp_path):
    """Runs a program in `count` processes, each with its GPU; returns what the launcher has said, and the logs."""

    def run(program, *args, count=2, streams="lazy", expect=0, **env):
        before = {path.name for path in Path("/dev/shm").glob("wherry_fake_nccl_*")}
        done = subprocess.run(
            [sys.executable, "-m", "wherry_distributed.launch", "--nproc_per_node", str(count), "--log_dir", str(tmp_path), str(PROGRAMS / program),
             *args],
            env=os.environ | {
                "WHERRY_TEST_DEVICE": "gpu", "WHERRY_NCCL": str(stand_in), "CUDA_EMULATOR_DEVICES": str(count), "CUDA_EMULATOR_STREAMS": streams,
            } | env,
            capture_output=True, text=True, timeout=280, cwd=tmp_path, check=False,
        )
        logs = [(tmp_path / f"workerlog.{rank}").read_text() for rank in range(count)]
        assert done.returncode == expect, (done.stdout, done.stderr, logs)
        assert {path.name for path in Path("/dev/shm").glob("wherry_fake_nccl_*")} <= before
        return done, logs

    return run


def test_the_stand_in_answers_to_wrong_calls_as_nccl_did(stand_in):
    assert record_nccl.answers(ctypes.PyDLL(str(stand_in))) == json.loads(record_nccl.ANSWERS.read_text())


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_collective_equals_numpy(launch, count):
    _, logs = launch("collectives.py", count=count, streams="eager")
    assert all(log.endswith("all right\n") for log in logs)
    assert not any("go through the host" in log for log in logs)


@pytest.mark.parametrize("kind", ["streams", "messages", "trains"])
@pytest.mark.parametrize("streams", ["lazy", pytest.param("eager", marks=pytest.mark.slow)])
def test_streams_messages_and_training(launch, kind, streams):
    _, logs = launch("gpus.py", kind, streams=streams)
    assert all(log.endswith("all right\n") for log in logs)


def test_a_late_rank_is_named_while_the_other_waits_inside_of_cuda(launch):
    _, logs = launch("gpus.py", "late", expect=1, WHERRY_DISTRIBUTED_TIMEOUT="2")
    assert "1 of 2 ranks have come; missing: rank 1 (pid" in logs[0] and "gpus.py" in logs[0], logs
    assert "time.sleep(30)" in logs[0]


def test_a_dead_rank_is_named(launch):
    done, _ = launch("gpus.py", "killed", expect=137)
    assert "rank 1 (pid" in done.stderr and "signal SIGKILL" in done.stderr


def test_ranks_that_differ_are_named(launch):
    _, logs = launch("gpus.py", "differs", expect=1)
    assert any("ranks [0] call all_reduce(float32[11], SUM) on gpu at gpus.py" in log for log in logs), logs
    assert any("ranks [1] call all_reduce(float32[10], SUM) on gpu at gpus.py" in log for log in logs), logs
    assert not any("no error" in log for log in logs)


@pytest.mark.parametrize(("plays", "text"), [
    ("init", "ncclCommInitRank: NCCL 2.32.3 says 'unhandled system error"),
    ("launch", "ncclAllReduce: NCCL 2.32.3 says 'unhandled cuda error (run with NCCL_DEBUG=INFO for details)': Cuda failure"),
    ("async", "NCCL says 'remote process exited or there was a network error'"),
])
def test_what_nccl_says_is_raised(launch, plays, text):
    _, logs = launch("gpus.py", "refused", expect=1, FAKE_NCCL=plays)
    assert any(text in log for log in logs), logs
    assert not any("no error" in log for log in logs)


@pytest.mark.parametrize(("env", "why"), [
    ({"WHERRY_NCCL": "0"}, "WHERRY_NCCL=0 turns NCCL off"),
    ({"FAKE_NCCL": "old"}, "is version 2.8.4, and 2.10 or later is needed"),
    ({"WHERRY_NCCL": "/no/such/file"}, "NCCL cannot be opened: /no/such/file"),
    ({"FLAGS_selected_gpus": "0"}, "ranks [0, 1] have the same GPU"),
])
def test_without_nccl_tensors_go_through_the_host(launch, env, why):
    _, logs = launch("gpus.py", "through_host", **env)
    assert why in logs[0] and "go through the host" in logs[0] and "go through the host" not in logs[1]


def test_candidates(monkeypatch):
    monkeypatch.setenv("WHERRY_NCCL", "/some/libnccl.so")
    assert nccl.candidates() == ["/some/libnccl.so"]
    monkeypatch.setenv("WHERRY_NCCL", "0")
    assert nccl.candidates() == []
    monkeypatch.delenv("WHERRY_NCCL")
    assert nccl.candidates()[-1] == "libnccl.so.2"
