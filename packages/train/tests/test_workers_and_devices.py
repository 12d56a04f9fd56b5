"""Workers beside a device whose driver does not bear forks: they are started anew, or refused."""
import subprocess
import sys

import pytest

from wherry_tensor.testing import reference

if reference.compiler() is None:
    pytest.skip("the reference device needs a C compiler", allow_module_level=True)

PROGRAM = """
import sys
import numpy as np
import wherry_tensor as w
from wherry_tensor.testing import reference
from wherry_train import io

IN_THE_PROGRAM = False


class Numbers:
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return np.array([i, IN_THE_PROGRAM], "float32")


def batches(data):
    return np.concatenate([batch.numpy() for batch in io.DataLoader(data, batch_size=2, num_workers=2)])


def main():
    global IN_THE_PROGRAM
    IN_THE_PROGRAM = True
    forked = batches(Numbers())
    assert (forked[:, 0] == range(6)).all()
    if sys.platform.startswith("linux"):
        assert forked[:, 1].all()
    reference.register("easel", forks=False)
    w.set_device("easel")
    anew = batches(Numbers())
    assert (anew[:, 0] == range(6)).all() and not anew[:, 1].any()

    class Inside(Numbers):
        pass

    try:
        batches(Inside())
    except RuntimeError as error:
        assert "a fork would take the driver of 'easel' along" in str(error), error
        assert "Define them at the top of a module, or use num_workers=0" in str(error), error
    else:
        raise SystemExit("a class inside of a function was pickled")
    print("served")


GUARD
"""


def run(tmp_path, guard):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("GUARD", guard))
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=240)


def test_workers_are_started_anew_beside_a_device_that_does_not_bear_forks(tmp_path):
    done = run(tmp_path, "if __name__ == '__main__':\n    main()")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "served\n"


def test_program_without_a_guard_hears_what_it_lacks(tmp_path):
    done = run(tmp_path, "main()")
    assert done.returncode != 0
    assert "Workers beside 'easel' are started anew: a program needs `if __name__" in done.stderr, done.stderr
