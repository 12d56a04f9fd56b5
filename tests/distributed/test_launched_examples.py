"""Examples as the launcher starts them: data parallel, and a run that loses a rank. test_fleet.py has the hybrid one."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def launch(folder, count, program, *arguments):
    pytest.importorskip("mpi4py", reason="several processes need MPI")
    done = subprocess.run(
        [sys.executable, "-m", "wherry.distributed.launch", "--nproc_per_node", str(count), "--log_dir", str(folder / "log"), *arguments[:1],
         str(EXAMPLES / program), *arguments[1:]],
        capture_output=True, text=True, timeout=300, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_two_processes_learn_as_one_does(tmp_path):
    pytest.importorskip("sklearn")
    assert "2 process(es): 9" in launch(tmp_path, 2, "data_parallel.py", "--log_level=INFO")


def test_a_rank_is_lost_and_the_others_end_with_the_same_bits(tmp_path):
    undisturbed = launch(tmp_path, 2, "elastic.py", "--elastic", "--steps", "40", "--checkpoint", "whole")
    text = launch(tmp_path, 4, "elastic.py", "--elastic", "--steps", "40", "--checkpoint", "lost", "--lose", "2", "--at", "25")
    whole, lost = (re.findall(r"parameters: (\w{64})", each) for each in (undisturbed, text))
    assert len(whole) == 1 and whole == lost and "processes go on" not in undisturbed
    assert "rank 2 (pid" in text and "signal SIGKILL" in text and "run 1: 2 of 3 processes go on with step 20" in text
