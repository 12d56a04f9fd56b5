"""`python -m wherry serve`."""
from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser
from pathlib import Path

from flask import Flask

from wherry_web.app import create_app
from wherry_web.config import Config
from wherry_web.freeze import freeze


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command, for the parser of `python -m wherry`."""
    add_server_arguments(parser)
    parser.add_argument("--threads", type=int, default=8, help="requests that are answered at once (default: 8)")
    parser.add_argument("--open", action="store_true", help="open a browser")
    parser.add_argument("--freeze", type=Path, metavar="DIR", help="write the pages to DIR as plain files, and stop")


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of every command that ends in a server: where it listens and what it serves."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one (default: 8080)")
    parser.add_argument("--models", type=Path, help="the gallery: a folder of saved models")
    parser.add_argument("--pyodide", type=Path, help="the npm package `pyodide`, unpacked")
    parser.add_argument("--wheels", type=Path, help="wheels of Wherry for Pyodide")


def serve(options: argparse.Namespace) -> int:
    """Run the command; returns the exit status."""
    try:
        app = create_app(Config(models=options.models, pyodide=options.pyodide, wheels=options.wheels))
        if options.freeze:
            addresses = freeze(app, options.freeze)
            print(f"{len(addresses)} files written to {options.freeze}. Any file server hosts them:")
            print(f"    python -m http.server --directory {options.freeze}")
            return 0
    except ValueError as error:
        print(f"wherry serve: {error}", file=sys.stderr)
        return 2
    return listen(app, options.host, options.port, options.threads, options.open)


def listen(app: Flask, host: str, port: int, threads: int, open_browser: bool) -> int:
    from waitress.server import create_server

    try:
        server = create_server(app, host=host, port=port, threads=threads, ident="wherry")
    except OSError as error:
        print(
            f"wherry serve: cannot listen on {host}:{port}: {error.strerror or error}. Got a port in use or an address "
            f"of another machine, expected a free one. Give another with --port.",
            file=sys.stderr,
        )
        return 1
    address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{server.effective_port}"
    print(f"Wherry is at {address} (Ctrl-C stops it)", flush=True)
    if open_browser and can_open_browser():
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        server.run()
    except KeyboardInterrupt:
        print()
    finally:
        server.close()
    return 0


def can_open_browser() -> bool:
    """Whether somebody would see it."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
