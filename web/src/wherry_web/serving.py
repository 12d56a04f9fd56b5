"""`python -m wherry serve`."""
from __future__ import annotations

import argparse
import json
import os
import select
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Any

from flask import Flask

from wherry_web.app import HEADERS, create_app
from wherry_web.config import MEBIBYTE, Config
from wherry_web.freeze import freeze
from wherry_web.uploads import FORM

CONNECTIONS = 1000  # at once; a browser opens six
IDLE = 20  # seconds
TOKEN = "WHERRY_UPLOAD_TOKEN"
REFUSALS = {
    413: "The request is larger than this server takes. Send less at a time.",
    431: "The request's headers are larger than this server takes. Send fewer or shorter ones.",
    500: "The server failed at this request. Its log says where.",
    501: "The request uses a transfer encoding that this server does not know. Send it plain or chunked.",
}


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
    parser.add_argument(
        "--uploads", type=Path, metavar="DIR",
        help=f"let people upload .pdmodel files, into this folder (default: nobody can); with {TOKEN} in the environment only those who know it",
    )
    parser.add_argument("--upload-limit", type=int, metavar="MB", default=64, help="the largest upload (default: 64)")
    parser.add_argument("--upload-quota", type=int, metavar="MB", default=1024, help="all of them (default: 1024)")


def config_of(options: argparse.Namespace, **others: Any) -> Config:
    """What the options say.

    Raises:
        ValueError: a folder does not exist or lacks what belongs in it.
    """
    given = {"models": options.models, "pyodide": options.pyodide, "wheels": options.wheels, **others}
    return Config(
        **given, uploads=options.uploads, upload_token=os.environ.get(TOKEN) or None, max_upload=options.upload_limit * MEBIBYTE,
        upload_quota=options.upload_quota * MEBIBYTE,
    )


def serve(options: argparse.Namespace) -> int:
    """Run the command; returns the exit status."""
    try:
        app = create_app(config_of(options))
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
    try:
        server = make_server(app, host, port, threads)
    except OSError as error:
        print(
            f"wherry serve: cannot listen on {host}:{port}: {error.strerror or error}. Got a port in use or an address "
            f"of another machine, expected a free one. Give another with --port.",
            file=sys.stderr,
        )
        return 1
    if app.config["WHERRY"].uploads is not None and app.config["WHERRY"].upload_token is None and host not in ("127.0.0.1", "localhost", "::1"):
        print(f"wherry serve: everybody who reaches {host}:{port} can upload models. {TOKEN} in the environment asks for a token.", file=sys.stderr)
    make_ready(app)
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


def make_ready(app: Flask) -> None:
    """Divide the wheels, which the first page's manifest is of: its visitor does not wait for that."""
    if not app.extensions["bundle"].is_quick:
        print("Making the wheels ready for pages: some seconds, and only the first time ...", file=sys.stderr, flush=True)
    for name in ("bundle", "playground"):
        app.extensions[name].ready()


def make_server(app: Flask, host: str, port: int, threads: int = 8, idle: int = IDLE) -> Any:
    """A waitress server that somebody on the network cannot keep busy with nothing.

    Args:
        app: what answers.
        host: address to listen on.
        port: 0 takes a free one.
        threads: requests that are answered at once.
        idle: seconds after which a connection without a request in work is closed.
    """
    import waitress.channel
    import waitress.parser
    import waitress.task
    from waitress.server import create_server

    server = create_server(
        app, host=host, port=port, threads=threads, ident="wherry",
        max_request_body_size=largest_body(app.config["WHERRY"]),  # more is not even stored
        connection_limit=CONNECTIONS, channel_timeout=idle, cleanup_interval=max(1, idle // 3),
        asyncore_use_poll=hasattr(select, "poll"),  # select has no room for that many
    )

    class Refusal(waitress.task.ErrorTask):  # type: ignore[misc]
        """What the server answers by itself, in the form of the application's errors."""

        def __init__(self, channel: Any, request: Any) -> None:
            super().__init__(channel, request)
            request.error = _Refused(request.error)

    class Parser(waitress.parser.HTTPRequestParser):  # type: ignore[misc]
        """Takes no request that says twice where it ends: a proxy may believe the other one (RFC 9112, 6.3)."""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            if self.chunked and "CONTENT_LENGTH" in self.headers:
                raise waitress.parser.ParsingError("Content-Length beside Transfer-Encoding")

    class Channel(waitress.channel.HTTPChannel):  # type: ignore[misc]
        error_task_class = Refusal
        parser_class = Parser

    sockets = [part for part in getattr(server, "map", {}).values() if hasattr(part, "channel_class")]
    for part in sockets or [server]:
        part.channel_class = Channel
    return server


def largest_body(config: Config) -> int:
    return config.max_request if config.uploads is None else max(config.max_request, config.max_upload + FORM)


class _Refused:
    """An error of the server before the application is asked: too large, too slow, no HTTP."""

    def __init__(self, error: Any) -> None:
        self.code, self.reason = error.code, error.reason

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        detail = REFUSALS.get(self.code, "The request is not HTTP that this server reads.")
        body = json.dumps({"error": {"status": self.code, "title": self.reason, "detail": detail}}).encode()
        headers = {**HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store"}
        return f"{self.code} {self.reason}", list(headers.items()), body


def can_open_browser() -> bool:
    """Whether somebody would see it."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
