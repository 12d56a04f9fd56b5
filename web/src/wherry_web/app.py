"""The application: routes put together, security headers, compression, errors in one form."""
from __future__ import annotations

import mimetypes

from flask import Flask, Response, current_app, jsonify, request
from flask_compress import Compress
from werkzeug.exceptions import HTTPException, InternalServerError

import wherry
from wherry_web.api import api
from wherry_web.config import Config
from wherry_web.files import Assets, Bundle, Exporter, Playground, Pyodide, files
from wherry_web.gallery import Gallery
from wherry_web.isolated import Pool
from wherry_web.pages import pages
from wherry_web.uploads import clear_unfinished, uploads

# What a system's own table may lack or have wrong: a browser runs no module and no WebAssembly of another type.
MIME_TYPES = {
    ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json",
    ".whl": "application/zip", ".zip": "application/zip", ".css": "text/css", ".svg": "image/svg+xml",
    ".bin": "application/octet-stream", ".pdparams": "application/octet-stream", ".py": "text/x-python",
    ".webmanifest": "application/manifest+json",
}

HEADERS = {
    # Pages run nothing but our own files; WebAssembly may be compiled, text may not be evaluated.
    "Content-Security-Policy": "; ".join((
        "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", "style-src 'self'",
        "img-src 'self' data: blob:", "connect-src 'self'", "manifest-src 'self'", "font-src 'self'", "base-uri 'none'",
        "form-action 'none'", "frame-ancestors 'none'",
    )),
    # Alone in its process: precise timers, and no other site's window can reach it.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(self), geolocation=(), microphone=()",
}


def create_app(config: Config | None = None) -> Flask:
    """The Flask application.

    Args:
        config: folders and limits; the default serves the pages without models and without Pyodide.
    """
    for suffix, kind in MIME_TYPES.items():
        mimetypes.add_type(kind, suffix)
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # an address with too many is wrong, not another one's name
    config = config or Config()
    app.config.update(
        WHERRY=config,
        WHERRY_VERSION=wherry.__version__,
        MAX_CONTENT_LENGTH=config.max_request,
        COMPRESS_MIMETYPES=[
            "text/html", "text/css", "text/javascript", "application/json", "application/wasm", "image/svg+xml",
            "application/octet-stream", "text/x-python", "application/manifest+json",
        ],
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_BR_LEVEL=5,
        COMPRESS_MIN_SIZE=500,
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions["gallery"] = Gallery(config.models, config.uploads, Pool(config.upload_limits))
    app.extensions["assets"] = Assets()
    app.extensions["bundle"] = Bundle(config.wheels)
    app.extensions["exporter"] = Exporter(config.wheels)
    app.extensions["playground"] = Playground(app.extensions["bundle"].wheels, config.wheels)
    app.extensions["pyodide"] = Pyodide(config.pyodide, config.wheels)
    if config.uploads is not None:
        clear_unfinished(config.uploads)
    app.register_blueprint(api)
    app.register_blueprint(uploads)
    app.register_blueprint(files)
    app.register_blueprint(pages)
    app.register_error_handler(Exception, report)
    app.after_request(with_headers)
    Compress(app)
    return app


def with_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-cache")
    return response


def report(error: Exception) -> tuple[Response, int]:
    """Every error as JSON: what happened and what to do, without a trace of the inside."""
    if isinstance(error, HTTPException):
        answer = error
    else:
        current_app.logger.exception("%s %s failed", request.method, request.path)
        answer = InternalServerError("The server failed at this request. Its log says where.")
    status = answer.code or 500
    detail = answer.description or ""
    if status == 413 and request.content_length:
        limit = request.max_content_length
        if limit is not None and request.content_length > limit:
            detail = f"Got {request.content_length} bytes, expected at most {limit}. Send less at a time."
    response = jsonify(error={"status": status, "title": answer.name, "detail": detail})
    for name, value in answer.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response, status
