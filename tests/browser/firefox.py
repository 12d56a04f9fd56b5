"""Debian's Firefox without a window, by its Marionette protocol: a page is opened and its elements are read.

Playwright drives a Firefox of its own alone, and geckodriver is not in Debian 12; the protocol itself is lines of JSON with their length.
"""
from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE = 120  # seconds
PREFERENCES = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
               "app.update.disabledForTesting": True, "browser.startup.page": 0, "extensions.getAddons.cache.enabled": False}


class Firefox:
    """A Firefox with a profile of its own, as a context manager."""

    def __enter__(self) -> Firefox:
        self.profile = tempfile.TemporaryDirectory()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        Path(self.profile.name, "user.js").write_text("\n".join(lines))
        self.process = subprocess.Popen(
            [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", self.profile.name], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name},
        )
        try:
            self.socket = socket.create_connection(("127.0.0.1", self._port()), timeout=PATIENCE)
            self._received()  # what it is
            self.messages = 0
            self.told: dict[str, Any] = self.do("WebDriver:NewSession", capabilities={"alwaysMatch": {}})["capabilities"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        if hasattr(self, "socket"):
            self.socket.close()
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()

    def _port(self) -> int:
        file, deadline = Path(self.profile.name, "MarionetteActivePort"), time.monotonic() + PATIENCE
        while not (file.exists() and file.read_text().strip()):
            assert self.process.poll() is None, f"Firefox ended with status {self.process.returncode}"
            assert time.monotonic() < deadline, f"Firefox did not open its port in {PATIENCE} s"
            time.sleep(0.05)
        return int(file.read_text())

    def do(self, command: str, **parameters: Any) -> Any:
        """A command and its result."""
        self.messages += 1
        text = json.dumps([0, self.messages, command, parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(text), text))
        _, _, error, result = self._received()
        assert error is None, f"{command}: {error}"
        return result

    def _received(self) -> Any:
        digits = b""
        while not digits.endswith(b":"):
            digits += self._bytes(1)
        return json.loads(self._bytes(int(digits[:-1])))

    def _bytes(self, n: int) -> bytes:
        content = b""
        while len(content) < n:
            more = self.socket.recv(n - len(content))
            assert more, "Firefox closed the connection"
            content += more
        return content

    def text_of(self, address: str, element: str, seconds: float = PATIENCE) -> str:
        """Open a page and wait until an element has a text."""
        self.do("WebDriver:Navigate", url=address)
        return self.soon(element, seconds)

    def soon(self, element: str, seconds: float = PATIENCE) -> str:
        """The text of an element of this page, once it has one."""
        deadline = time.monotonic() + seconds
        while not (text := self.run("return document.querySelector(arguments[0])?.textContent ?? ''", element)):
            assert time.monotonic() < deadline, f"after {seconds:.0f} s '{element}' is still empty in {self.run('return location.href')}"
            time.sleep(0.1)
        return text

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script of this page returns."""
        return self.do("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]
