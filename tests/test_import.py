"""What `import wherry` costs and what it leaves alone."""
import subprocess
import sys

import pytest


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_quick_and_small():
    # The best of several: the first one warms the disk cache, and a busy machine slows single ones.
    program = (
        "import time, sys; t = time.perf_counter(); import wherry; t = time.perf_counter() - t; "
        "import resource; print(t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    measured = [tuple(map(float, run(program).split())) for _ in range(7)]
    seconds, megabytes = min(m[0] for m in measured), min(m[1] for m in measured)
    assert seconds <= 0.15, f"import wherry took {seconds:.3f} s"
    assert megabytes <= 60, f"after import wherry the process holds {megabytes:.0f} MB"


@pytest.mark.parametrize("module", ["importlib.metadata", "wherry_tensor.testing", "wherry_nn", "scipy", "pytest"])
def test_import_leaves_alone_what_nobody_asked_for(module):
    assert run(f"import sys, wherry; print({module!r} in sys.modules)") == "False\n"
