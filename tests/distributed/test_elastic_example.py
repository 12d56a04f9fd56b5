"""examples/elastic.py: a rank is killed, and the others end with the bits of a run in which none was."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "elastic.py"


def test_the_others_go_on_from_the_checkpoint_to_the_same_bits(tmp_path):
    pytest.importorskip("mpi4py", reason="several processes need MPI")
    texts = []
    for folder, count, options in (("whole", 2, ()), ("lost", 4, ("--lose", "2", "--at", "25"))):
        done = subprocess.run(
            [sys.executable, "-m", "wherry.distributed.launch", "--nproc_per_node", str(count), "--elastic", "--log_dir", str(tmp_path / "log"),
             str(EXAMPLE), "--steps", "40", "--checkpoint", str(tmp_path / folder), *options],
            capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        texts.append(done.stdout + done.stderr)
    whole, lost = (re.findall(r"parameters: (\w{64})", text) for text in texts)
    assert len(whole) == 1 and whole == lost
    assert "rank 2 (pid" in texts[1] and "signal SIGKILL" in texts[1] and "run 1: 2 of 3 processes go on with step 20" in texts[1]
    assert "processes go on" not in texts[0]
