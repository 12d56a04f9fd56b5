"""A plugin for pytest inside Pyodide: what cannot be there is skipped and says so; nobody is in a hurry."""
from __future__ import annotations

import pytest

# How Pyodide says that it has none of them.
ABSENT = {
    "emscripten does not support processes": "processes", "this system has no processes": "processes", "can't start new thread": "threads",
}


def pytest_configure() -> None:
    from hypothesis import settings

    settings.register_profile("pyodide", deadline=None)
    settings.load_profile("pyodide")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    try:
        return (yield)
    except (OSError, RuntimeError) as error:
        for text, what in ABSENT.items():
            if text in str(error):
                pytest.skip(f"Pyodide has no {what}")
        raise
