"""What `import wherry` costs and what it leaves alone."""
import subprocess
import sys
from pathlib import Path

import pytest

from wherry_tensor.suggestions import is_ours

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from package_table import packages  # noqa: E402


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_small():
    # Its time is measured by benchmarks/footprint.py: a busy machine would fail a test of it.
    # Not ru_maxrss: a child starts with the peak of the process that forked it.
    peak = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    megabytes = int(run(f"import wherry; {peak}")) / 1024
    assert megabytes <= 60, f"after import wherry the process holds {megabytes:.0f} MB"


@pytest.mark.parametrize("module", ["numpy", "importlib.metadata", "wherry_tensor.testing", "wherry_nn", "scipy", "pytest"])
def test_import_leaves_alone_what_nobody_asked_for(module):
    assert run(f"import sys, wherry; print({module!r} in sys.modules)") == "False\n"


def test_every_package_is_known_as_ours():
    # Hints and shortened tracebacks ask whose a function is.
    folders = {path.parent.name for path in (Path(__file__).parent.parent / "packages").glob("*/src/wherry*/__init__.py")}
    assert len(folders) > 10
    assert [name for name in sorted(folders) if not is_ours(name)] == []


def test_what_pages_load_imports_without_numpy():
    # A page has no NumPy before a program asks for it. tests/wasm says the same of Pyodide, with wheels that not everybody builds.
    modules = [package.module for package in packages().values() if package.in_browser and package.module != "wherry_web"]
    assert len(modules) > 15
    program = "import importlib, sys; sys.modules['numpy'] = None; [importlib.import_module(name) for name in {names!r}]"
    run(program.format(names=modules))
