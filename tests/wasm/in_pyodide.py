"""A plugin for pytest inside Pyodide: what cannot be there is skipped and says so; nobody is in a hurry."""
from __future__ import annotations

import socket

import pytest

# How Pyodide says that it has none of them.
ABSENT = {
    "emscripten does not support processes": "processes", "this system has no processes": "processes", "can't start new thread": "threads",
    "no sockets": "sockets",
}


def _bind(self: socket.socket, address: object) -> None:
    raise OSError("no sockets")  # what Emscripten does in Node ends the interpreter


def pytest_configure() -> None:
    from hypothesis import settings

    settings.register_profile("pyodide", deadline=None)
    settings.load_profile("pyodide")
    socket.socket.bind = _bind  # type: ignore[method-assign, assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    return (yield from _skipping())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    return (yield from _skipping())


def _skipping():
    try:
        return (yield)
    except (OSError, RuntimeError, AssertionError) as error:  # the last: of tests that expect another error
        for text, what in ABSENT.items():
            if text in str(error):
                pytest.skip(f"Pyodide has no {what}")
        raise
