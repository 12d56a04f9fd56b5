"""Starting processes, other than by the launcher of one host."""
import os
import socket
import subprocess
import sys
import threading

import pytest

import wherry_distributed as dist
from wherry_distributed import environment, job, launch, pmi
from wherry_distributed.world import import_mpi

NO_SOCKETS = pytest.mark.skipif(sys.platform == "emscripten", reason="there are no sockets in a browser")


@pytest.fixture
def spawned(programs, monkeypatch):
    monkeypatch.syspath_prepend(str(programs))
    import spawned

    return spawned


def test_spawn_calls_a_function_in_every_process(spawned, tmp_path, segments, left_behind):
    before, environ = segments(), dict(os.environ)
    context = dist.spawn(spawned.add, args=(1.5, tmp_path), nprocs=2, backend="gloo")
    assert [(tmp_path / str(rank)).read_text() for rank in range(2)] == ["3.0", "3.0"]
    assert not any(process.is_alive() for process in context.processes) and not left_behind(before) and dict(os.environ) == environ


def test_spawn_raises_what_a_process_has_raised(spawned, segments, left_behind):
    before = segments()
    with pytest.raises(OSError, match=r"rank 1 \(pid \d+\) failed: exit status 1(.|\n)*KeyError: 'no such batch'"):
        dist.spawn(spawned.fails, args=("raises",), nprocs=2)
    context = dist.spawn(spawned.fails, args=("hangs",), nprocs=2, join=False)
    assert not context.join(timeout=0.05)
    context.processes[0].kill()
    with pytest.raises(OSError, match="rank 0 .*SIGKILL"):
        context.join()
    assert not any(process.is_alive() for process in context.processes) and not left_behind(before)


def test_spawn_refuses_what_it_does_not_know(spawned):
    for arguments, text in [({"nprocs": 0}, "nprocs"), ({"nprocs": 2, "backend": "hccl"}, "backend"), ({"speed": 3}, "speed")]:
        with pytest.raises(ValueError, match=text):
            dist.spawn(spawned.add, **arguments)
    for function, arguments in ((lambda: 1, ()), (spawned.add, (lambda: 1,))):
        with pytest.raises(ValueError, match=r"spawn: the function or its arguments cannot be handed to a process .* Define it at the top"):
            dist.spawn(function, args=arguments, nprocs=2)


@pytest.mark.parametrize("counts", [(2, 4), pytest.param((2, 4, 8), marks=pytest.mark.slow)], ids=str)
def test_the_same_bits_for_any_number_of_processes(spawned, tmp_path, counts):
    spawned.train(tmp_path)  # this process alone, with all its threads
    for count in counts:
        dist.spawn(spawned.train, args=(tmp_path,), nprocs=count)
    digests = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert len(digests) == 1 + sum(counts) and len(set(digests.values())) == 1, digests


MAKER = """
import mmap, os, sys
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_EXCL)   # as shm_open
os.ftruncate(handle, 4096)
print("open", flush=True)
sys.stdin.readline()
memory = mmap.mmap(os.dup(handle), 4096)
os.close(handle)
print("mapped", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="shared memory has no names here")
def test_the_end_of_a_job_leaves_the_memory_of_others_that_start(tmp_path):
    path = f"/dev/shm/mpich_shm_{os.getpid():x}_test_0"
    first, second, third = (job.Job.here(1) for _ in range(3))
    maker = subprocess.Popen([sys.executable, "-c", MAKER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        for ended, state in ((first, "open"), (second, "mapped")):
            assert maker.stdout.readline().strip() == state
            ended.close([])
            assert os.path.exists(path), state
            maker.stdin.write("on\n")
        assert maker.wait(10) == 0
        third.close([])
        assert not os.path.exists(path)
    finally:
        maker.kill()
        maker.communicate()
        if os.path.exists(path):
            os.unlink(path)


def test_two_hosts_meet_at_a_master(programs, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    launchers = [
        subprocess.Popen(
            [sys.executable, "-m", "wherry_distributed.launch", "--nnodes", "2", "--master", master, "--rank", str(node),
             "--log_dir", str(tmp_path / str(node)),
             str(programs / "faults.py"), "dtype"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        ) for node in range(2)
    ]
    said = [launcher.communicate(timeout=90)[1] for launcher in launchers]
    logs = [(tmp_path / str(node) / "workerlog.0").read_text() for node in range(2)]
    assert [launcher.returncode for launcher in launchers] != [0, 0] and "no error" not in "".join(logs)
    # the boards of two hosts do not reach each other: the difference comes by message
    assert any("int32[1000], SUM)" in log and "float32[1000], SUM)" in log for log in logs), (said, logs)


@NO_SOCKETS
def test_a_stranger_is_refused_by_the_master():
    server = pmi.Server(None, 1, secret="ours")
    try:
        assert "another secret" in pmi.join(server.host, server.port, {"node": 0, "count": 1, "secret": "theirs", "endpoints": []}, 5)["error"]
        answers = [pmi.join(server.host, server.port, {"node": -1, "count": 2, "secret": "ours", "endpoints": ["a", "b"]}, 5)]
        assert answers[0]["counts"] == [2] and server.size == 2
    finally:
        server.close()


@NO_SOCKETS
def test_ranks_put_and_get_through_the_server():
    server = pmi.Server([2])
    found = []

    def rank(number):
        with socket.create_connection((server.host, server.port)) as connection, connection.makefile("rwb", buffering=0) as file:
            def ask(line):
                file.write(f"{line}\n".encode())
                return file.readline().decode().strip()

            assert ask(f"cmd=initack pmiid={number}") == "cmd=initack rc=0"
            assert [file.readline() for _ in range(3)] == [b"cmd=set size=2\n", f"cmd=set rank={number}\n".encode(), b"cmd=set debug=0\n"]
            ask(f"cmd=put kvsname=x key=k{number} value=of {number}")
            assert ask("cmd=barrier_in") == "cmd=barrier_out rc=0"
            found.append(ask(f"cmd=get kvsname=x key=k{1 - number}"))
            assert "rc=-1" in ask("cmd=get kvsname=x key=none") and "rc=-1" in ask("cmd=nonsense")

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.close()
    assert sorted(line.rsplit("value=", 1)[1] for line in found) == ["of 0", "of 1"]


@pytest.mark.parametrize(("variables", "expected"), [
    ({}, (0, 1, "")),
    ({"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS_NUM": "4", "PMI_SIZE": "8"}, (1, 4, "launch")),
    ({"PMI_RANK": "3", "PMI_SIZE": "8"}, (3, 8, "pmi")),
    ({"SLURM_PROCID": "2", "SLURM_NTASKS": "3", "SLURM_STEP_ID": "0"}, (2, 3, "slurm")),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "3"}, (0, 1, "")),  # sbatch's own script
    ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2, "open mpi")),
])
def test_the_environment_says_which_process_this_is(monkeypatch, variables, expected):
    for names in environment.STARTERS.values():
        for name in (*names, "SLURM_STEP_ID"):
            monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    here = environment.place()
    assert (here.rank, here.size, here.starter) == expected
    assert (dist.get_rank(), dist.get_world_size()) == expected[:2]


def test_collectives_before_the_processes_are_joined_say_so(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(RuntimeError, match="init_parallel_env"):
        dist.barrier()
    monkeypatch.setenv("PADDLE_TRAINER_ID", "first")
    with pytest.raises(ValueError, match="'first'"):
        dist.get_rank()


def test_a_missing_mpi_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(RuntimeError, match="Type: pip install mpi4py mpich") as caught:
        import_mpi()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("arguments", "text"), [
    (["--server_num", "1", "x.py"], "--worker_num None"),
    (["--heter_workers", "1", "x.py"], "--heter_workers belongs to workers of several kinds"),
    (["--backend", "hccl", "x.py"], "there is no backend hccl"),
    (["--nnodes", "2", "x.py"], "--master HOST:PORT"),
    (["--ips", "a,b", "x.py"], "--master HOST:PORT"),
])
def test_options_that_are_not_there_are_refused(capsys, arguments, text):
    assert launch.main(arguments) == 2
    assert text in capsys.readouterr().err


def test_threads_are_cores_by_processes_and_paddles_variables_are_set(launch_job):
    job = launch_job(3)
    first, last = job.environment(0), job.environment(2)
    assert first["PADDLE_TRAINER_ID"] == "0" and last["PADDLE_TRAINER_ID"] == "2" and first["PADDLE_TRAINERS_NUM"] == "3"
    endpoints = first["PADDLE_TRAINER_ENDPOINTS"].split(",")
    assert len(set(endpoints)) == 3 and last["PADDLE_CURRENT_ENDPOINT"] == endpoints[2]
    assert first["OMP_NUM_THREADS"] == str(max(1, len(os.sched_getaffinity(0)) // 3))


@pytest.fixture
def launch_job(monkeypatch):
    from wherry_distributed.job import Job

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    jobs = []

    def make(count):
        jobs.append(Job.here(count))
        return jobs[-1]

    yield make
    for each in jobs:
        each.close([])


@pytest.mark.parametrize("function", [dist.get_rank, dist.get_backend, dist.destroy_process_group])
def test_what_is_no_group_is_named(function):
    with pytest.raises(TypeError, match="argument 'group' is of another kind. Got 3"):
        function(3)
