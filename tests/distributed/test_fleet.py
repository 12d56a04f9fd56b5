"""`fleet` with the packages above it: programs of static mode, `to_static`, the example."""
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle
from wherry.distributed import fleet

HERE = Path(__file__).parent
EXAMPLE = HERE.parent.parent / "examples" / "gpt_hybrid.py"


def launch(tmp_path, program, *arguments, count=2):
    pytest.importorskip("mpi4py", reason="several processes need MPI")
    done = subprocess.run(
        [sys.executable, "-m", "wherry.distributed.launch", "--nproc_per_node", str(count), "--log_dir", str(tmp_path / "log"), str(program),
         *arguments],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_programs_of_static_mode_train_as_in_one_process(tmp_path):
    assert "all right 0" in launch(tmp_path, HERE / "static_program.py", str(tmp_path / "saved"))
    assert {"model.pdmodel", "model.pdiparams"} <= set(os.listdir(tmp_path / "saved" / "served"))


@pytest.mark.parametrize("program", ["static_divided.py", "static_sections.py", "static_sequences.py"])
@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_programs_that_are_divided_train_as_in_one_process(tmp_path, program, count):
    assert "all right 0" in launch(tmp_path, HERE / program, str(tmp_path / "saved"), count=count)


def steps(text):
    return {int(step): float(loss) for step, loss in re.findall(r"step (\d+): loss ([\d.]+)", text)}


def test_the_example_has_the_same_losses_in_every_layout_and_goes_on_in_another(tmp_path):
    alone = subprocess.run([sys.executable, str(EXAMPLE), "--steps", "30"], capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path)
    expected = steps(alone.stdout)
    found = steps(launch(tmp_path, EXAMPLE, "--mp", "2", "--steps", "20", "--checkpoint", "saved"))
    again = launch(tmp_path, EXAMPLE, "--pp", "2", "--steps", "30", "--checkpoint", "saved")
    assert "goes on with step 20" in again
    found |= steps(again)
    assert found.keys() == expected.keys() == {10, 20, 30}
    assert all(abs(found[i] - expected[i]) < 3e-5 for i in expected), (found, expected)


@pytest.mark.parametrize("reentrant", [True, False])
def test_recomputation_inside_of_a_captured_function(reentrant):
    paddle.seed(1)
    layer = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.GELU(), paddle.nn.Linear(8, 2))

    def function(x):
        return fleet.utils.recompute(layer, x, use_reentrant=reentrant).square().mean()

    x = paddle.rand([3, 4])
    x.stop_gradient = False
    grads = []
    for call in (function, paddle.jit.to_static(function)):
        loss = call(x)
        loss.backward()
        grads.append([loss.numpy(), x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())])
        x.clear_grad()
        layer.clear_gradients()
    for a, b in zip(*grads, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
