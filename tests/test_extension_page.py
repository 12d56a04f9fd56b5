"""The operators of docs/extensions.md, built from the text of the page."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import page_code  # noqa: E402

PAGE = page_code.DOCS / "extensions.md"


pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


def run(program, folder):
    (folder / "program.py").write_text(program)
    environment = {**os.environ, "PADDLE_EXTENSION_DIR": str(folder / "built")}
    return subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_operator_of_the_page_builds_and_differentiates(tmp_path):
    (tmp_path / "saxpy.cc").write_text(page_code.blocks(PAGE, "cpp")[0])
    program = page_code.blocks(PAGE, "python")[0]
    done = run(f"{program}\nprint(x.grad.tolist(), custom.saxpy(x, y, a=3).tolist())\n", tmp_path)
    assert done.stdout.strip() == "[2.0, 2.0, 2.0] [4.0, 4.0, 4.0]", done.stdout + done.stderr


def test_the_operator_of_kernel_primitives_computes_full_blocks_and_a_rest(tmp_path):
    (tmp_path / "hypotenuse.cc").write_text(page_code.blocks(PAGE, "cpp")[1])
    done = run(
        """
import numpy as np
import wherry as paddle
from wherry.utils.cpp_extension import load

custom = load("custom_hypotenuse", ["hypotenuse.cc"], extra_cxx_cflags=["-O0"])
x, y = np.random.default_rng(0).standard_normal((2, 3, 7))
np.testing.assert_allclose(custom.hypotenuse(paddle.to_tensor(x), paddle.to_tensor(y)).numpy(), np.hypot(x, y), rtol=1e-15)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
