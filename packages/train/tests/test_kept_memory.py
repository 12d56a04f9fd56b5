"""Memory of samples that come and go is kept: what a page costs is paid once."""
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from wherry_train.io import DataLoader

DataLoader([np.zeros(2)])
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for i in range(20):
    if i == 10:
        before = faults()
    some = [np.ones(1 << 18, np.float32) for _ in range(4)]  # of 256 pages each
    del some
print(faults() - before)
"""


def test_arrays_of_some_megabytes_cost_no_faults_after_the_first():
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("what is kept is up to the C library")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 256
