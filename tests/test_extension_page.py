"""The operator of docs/extensions.md, built from the text of the page."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import page_code  # noqa: E402

PAGE = page_code.DOCS / "extensions.md"


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_the_operator_of_the_page_builds_and_differentiates(tmp_path):
    (tmp_path / "saxpy.cc").write_text(page_code.blocks(PAGE, "cpp")[0])
    program = page_code.blocks(PAGE, "python")[0]
    (tmp_path / "program.py").write_text(f"{program}\nprint(x.grad.tolist(), custom.saxpy(x, y, a=3).tolist())\n")
    environment = {**os.environ, "PADDLE_EXTENSION_DIR": str(tmp_path / "built")}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[2.0, 2.0, 2.0] [4.0, 4.0, 4.0]", done.stdout + done.stderr
