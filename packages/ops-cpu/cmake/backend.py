"""Build backend: scikit-build-core, and a word on how far compiling is.

Kernels compile for minutes, and pip shows nothing of what a backend prints (without -v): so the count of compiled files goes
straight to the terminal, if there is one.
"""
import contextlib
import os
import threading
import time
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_editable as _build_editable
from scikit_build_core.build import build_wheel as _build_wheel

PACKAGE = Path(__file__).resolve().parent.parent


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with progress():
        return _build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with progress():
        return _build_editable(wheel_directory, config_settings, metadata_directory)


@contextlib.contextmanager
def progress(every=15.0):
    """Tell the terminal every so many seconds how many files are compiled; WHERRY_PROGRESS=off keeps it quiet."""
    try:
        terminal = None if os.environ.get("WHERRY_PROGRESS") == "off" else open("/dev/tty", "w")  # noqa: SIM115
    except OSError:  # a service, a container, continuous integration
        terminal = None
    if terminal is None:
        yield
        return
    started, done = time.time(), threading.Event()

    def tell():
        while not done.wait(every):
            terminal.write(f"\r  wherry-ops-cpu: {compiled(started)}, {time.time() - started:.0f} s\n")
            terminal.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        terminal.close()


def compiled(started):
    """`12 of 66 files compiled`, by the object files that are newer than `started`."""
    objects = [path for path in (PACKAGE / "build").rglob("*.o") if path.stat().st_mtime >= started]
    plans = [path.read_text() for path in (PACKAGE / "build").rglob("build.ninja") if path.stat().st_mtime >= started]
    total = max((sum(line.startswith("build ") and ".o:" in line for line in plan.split("\n")) for plan in plans), default=0)
    return f"{len(objects)} of {total} files compiled" if total else f"{len(objects)} files compiled"
