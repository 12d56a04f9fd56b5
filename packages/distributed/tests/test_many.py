"""Many ranks on few cores."""
import re
import subprocess
import sys
import time

import pytest


@pytest.mark.parametrize("count", [pytest.param(16, marks=pytest.mark.slow), pytest.param(64, marks=pytest.mark.slow)])
def test_the_smaller_half_of_the_suite(programs, tmp_path, count):
    begin = time.time()
    done = subprocess.run(
        [sys.executable, "-m", "wherry_distributed.launch", "--nproc_per_node", str(count), "--log_dir", str(tmp_path), str(programs / "many.py")],
        capture_output=True, text=True, timeout=550, cwd=tmp_path, check=False)
    logs = [(tmp_path / f"workerlog.{rank}").read_text() for rank in range(count)]
    assert done.returncode == 0, (done.stderr, logs[0])
    assert all(log.endswith("all right\n") for log in logs)
    joined = float(re.search(r"joined ([\d.]+)", done.stdout)[1]) - begin
    assert 0 < joined < 300  # benchmarks/distributed.py has numbers
