"""The package of docs/ops.md: an op in Python, a view, and one in C++, built from the text of the page.

It runs through the kit, autograd, a capture and the op card like ops of the vocabulary. In a
process of its own, because what it registers stays.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_tensor

sys.path.insert(0, str(Path(__file__).parent))
import page_code  # noqa: E402

PAGE = page_code.DOCS / "ops.md"

CAPTURE = """
import pickle
import numpy as np
import sketch
import wherry
from wherry_tensor import coverage, ops
from wherry_tensor._core import float32, symbolic
from wherry_tensor.testing.capture import Program

assert ops.sketch_windows is sketch.windows
assert pickle.loads(pickle.dumps(ops.sketch_blend)) is ops.sketch_blend

def model(x):
    rows = ops.sketch_windows(x, size=4)
    return ops.sketch_blend(rows, wherry.tanh(rows), scale=0.5).sum()

x = symbolic((-1,), float32)
x.stop_gradient = False
with Program() as program:
    loss = model(x)
    (ct,) = wherry.grad(loss, [x])
for n in 8, 12:
    data = wherry.to_tensor(np.linspace(-1, 1, n).astype("float32"))
    with wherry.no_grad():
        got = program.replay([(x, data)], [loss, ct])
    data.stop_gradient = False
    expected = model(data)
    expected_ct = wherry.grad(expected, [data])[0]
    np.testing.assert_allclose(got[0].numpy(), expected.numpy(), rtol=1e-6)
    np.testing.assert_allclose(got[1].numpy(), expected_ct.numpy(), rtol=1e-6)

missing = [(name, column) for name, column in coverage.gaps() if name.startswith("sketch")]
assert not missing, missing
print(coverage.card("sketch_blend"))
print(coverage.card("sketch_windows"))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    if shutil.which("c++") is None:
        pytest.skip("there is no C++ compiler")
    path = tmp_path_factory.mktemp("outside")
    package = path / "sketch"
    package.mkdir()
    windows, blend = page_code.blocks(PAGE, "python")
    (package / "__init__.py").write_text(f"{blend}\n\n{windows}")
    (package / "sketch.cc").write_text(page_code.blocks(PAGE, "cpp")[0])
    subprocess.run(
        ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared",
         f"-I{wherry_tensor.get_include()}", "sketch.cc", "-o", "sketch.so"],
        cwd=package, check=True,
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *filter(None, [os.environ.get("PYTHONPATH")])])}


def run(environment, *arguments):
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_ops_of_another_package_pass_the_kit(environment):
    shown = run(
        environment, "-m", "pytest", "-q", "-p", "sketch", "-p", "no:cacheprovider", "--pyargs", "wherry_tensor.testing",
        "-k", "sketch", "-rA",
    )
    for check in "kernel", "layout", "infer", "into", "bad", "vjp", "vjp_of_vjp":
        assert f"[{check}-sketch_blend]" in shown
    for check in "kernel", "layout", "infer", "bad", "vjp", "vjp_of_vjp":
        assert f"[{check}-sketch_windows]" in shown


def test_ops_of_another_package_are_captured_with_unknown_sizes(environment):
    shown = run(environment, "-c", CAPTURE)
    assert "sketch_blend(x, y, scale: float) -> out" in shown
    assert "float32, float64" in shown  # the dtypes of its kernels
    assert "sketch_windows(x, size: int) -> out   (a view)" in shown
