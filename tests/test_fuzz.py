"""Random calls of the whole vocabulary neither crash nor raise what is not documented."""
import subprocess
import sys

import pytest


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls_never_crash(seed):
    # In a process of its own: a crash is then a failed test and not the end of the run.
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "wherry_tensor.testing.fuzz", "--calls", "20000", "--seed", str(seed)],
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
