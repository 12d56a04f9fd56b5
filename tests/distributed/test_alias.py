"""Launchers as scripts write them, `python -m paddle.distributed.launch`, where `paddle` stands for Wherry."""
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")
TRAINED = """
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
x = paddle.full([2], dist.get_rank() + 1.0)
dist.all_reduce(x)
print("rank", dist.get_rank(), x.tolist(), paddle.__name__, flush=True)
"""
SPAWNED = """
import paddle.distributed as dist

def train(count):
    import paddle

    dist.init_parallel_env()
    x = paddle.full([count], dist.get_rank() + 1.0)
    dist.all_reduce(x)
    print("rank", dist.get_rank(), x.tolist(), paddle.__name__, flush=True)

if __name__ == "__main__":
    dist.spawn(train, args=(2,), nprocs=2)
"""
SHELL = "import subprocess; subprocess.run(['sh', 'train.sh'], check=True)"
OPTIONS = ["--nproc_per_node", "2", "--log_dir", "log", "train.py"]


@pytest.mark.parametrize("command", [
    ["run", "-m", "paddle.distributed.launch", *OPTIONS], ["run", "-m", "paddle.distributed.fleet.launch", *OPTIONS], ["run", "-c", SHELL],
    ["run", "spawned.py"], ["launch", *OPTIONS],
], ids=["module", "fleet", "shell", "spawn", "command"])
def test_ranks_know_paddle(tmp_path, command):
    (tmp_path / "train.py").write_text(TRAINED)
    (tmp_path / "spawned.py").write_text(SPAWNED)
    (tmp_path / "train.sh").write_text(f"set -e\n{sys.executable} -m paddle.distributed.launch {' '.join(OPTIONS)}\n")
    done = subprocess.run([sys.executable, "-m", "wherry", *command], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    said = done.stdout + "".join(path.read_text() for path in (tmp_path / "log").glob("workerlog.*"))
    assert {"rank 0 [3.0, 3.0] wherry", "rank 1 [3.0, 3.0] wherry"} <= set(said.splitlines()), said
