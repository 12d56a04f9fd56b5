"""Programs that say `import paddle`, run by either framework: each prints `RESULT` and a JSON object."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PYTHON = os.environ.get("PARITY_PYTHON")
UNDER = {"paddle": (PYTHON,), "wherry": (sys.executable, "-m", "wherry", "run")}


def result_of(framework: str, program: Path, *arguments: Any) -> Any:
    """What the program says under `framework`, "paddle" or "wherry"."""
    command = [*UNDER[framework], program, *arguments]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))
