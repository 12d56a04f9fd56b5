"""`wherry docs`: serves the site of the documents on this machine, and opens it.

A browser runs no worker from a file, so the pages, whose examples run in one, are served.
"""
from __future__ import annotations

import argparse
import functools
import http.server
import sys
import webbrowser
from pathlib import Path
from typing import Any

MARK = "objects.inv"  # every site that Sphinx has built has one


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("docs", help="open the documents", description="Serve the site that `make docs` has built, on this machine alone, and open it.")
    parser.add_argument("--site", metavar="DIR", help="the built site (default: build/site of the checkout, or of the current folder)")
    parser.add_argument("--port", type=int, default=0, help="where to listen (default: a free one)")
    parser.add_argument("--no-open", action="store_true", help="print the address, and open no browser")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, with the headers that let a program in a tab be interrupted."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  the name that http.server calls it by
        """Say nothing of each file."""


def places() -> list[Path]:
    """Where a built site is looked for."""
    here = Path(__file__).resolve()
    checkout = [parent / "build" / "site" for parent in here.parents if (parent / "tools" / "site").is_dir()]
    return [*checkout, Path.cwd() / "build" / "site"]


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted; returns the exit status."""
    candidates = [Path(options.site)] if options.site else places()
    site = next((place for place in candidates if (place / MARK).is_file()), None)
    if site is None:
        looked = " or ".join(str(place) for place in candidates)
        print(f"wherry docs: there is no built site. Looked in {looked}, expected a folder with {MARK}. Run `make docs` in a checkout, or name one with --site.",
              file=sys.stderr)
        return 2
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), functools.partial(Handler, directory=str(site)))
    except (OSError, OverflowError) as error:
        print(f"wherry docs: port {options.port} cannot be used: {error}. Leave --port out for a free one.", file=sys.stderr)
        return 2
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"Serving {site} on {address} (Ctrl+C ends)", flush=True)
    if not options.no_open:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0
    finally:
        server.server_close()
    return 0
