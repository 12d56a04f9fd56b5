"""Makes the virtual environment with real Paddle that the parity tests ask, and prints its Python.

    PARITY_PYTHON=$(python tools/paddle_environment.py) python -m pytest tests/parity
    PARITY_PYTHON_3=$(python tools/paddle_environment.py 3.3.1) python -m pytest tests/parity/test_paddle3.py

Paddle 2.6.2 has wheels up to Python 3.12 and needs NumPy 1.
"""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = {
    "2.6.2": ("paddlepaddle==2.6.2", "numpy<2", "setuptools<70"),
    "3.3.1": ("paddlepaddle==3.3.1", "setuptools<70"),
}


def main() -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else "2.6.2"
    folder = ROOT / ".cache" / f"paddle-{version}"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *NEEDED[version]], check=True, stdout=sys.stderr)
        ready.touch()
    print(python)


if __name__ == "__main__":
    main()
