"""`POST /api/uploads`: programs that people bring, where the operator gave a folder for them (`--uploads`).

A program comes as two files and is kept as they are. Before it appears, a process of its own with bounds of memory and time has read it
(isolated.py); it never replaces another model; it appears in one piece. Only pages of this server can send one, or programs that show the
operator's token: a form of another site can neither send the header that is asked for nor claim this server's origin.
"""
from __future__ import annotations

import hmac
import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, current_app, jsonify, request, url_for
from werkzeug.datastructures import FileStorage, WWWAuthenticate
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, ServiceUnavailable, Unauthorized

from wherry_web import openapi
from wherry_web.api import card, shortened
from wherry_web.config import Config
from wherry_web.gallery import BESIDE, NAME, PROGRAM, SavedProgram, digest_of, name_for
from wherry_web.isolated import Isolated
from wherry_web.programs import MODEL, PARAMS, Refused, files_of


class InsufficientStorage(HTTPException):
    code = 507


uploads = Blueprint("uploads", __name__, url_prefix="/api")
FIELDS = openapi.UPLOAD["properties"]
UNFINISHED = ".new-"
STALE = 3600  # seconds
FORM = 1 << 20  # bytes of an upload beside its files
CHECKS = threading.BoundedSemaphore(2)  # at once
_appearing = threading.Lock()


@uploads.post("/uploads")
def upload() -> tuple[Response, int, dict[str, str]]:
    config: Config = current_app.config["WHERRY"]
    if config.uploads is None:
        abort(404, "Uploads are off. The operator of the server turns them on: wherry serve --uploads DIR.")
    require_own_page(config)
    if request.mimetype != "multipart/form-data":
        abort(415, "Got a body that is not multipart/form-data. Send the files as fields of a form.")
    request.max_content_length = config.max_upload + FORM
    if (request.content_length or 0) > config.max_upload + FORM:
        raise RequestEntityTooLarge
    require_room(config, request.content_length or 0)
    if not CHECKS.acquire(blocking=False):
        raise ServiceUnavailable("Other uploads are being checked. Send it again in some seconds.", retry_after=5)
    try:
        model = received(config)
    finally:
        CHECKS.release()
    current_app.logger.info("upload: %s, %d bytes", model.name, model.card["bytes"])
    return jsonify(card(model)), 201, {"Location": url_for("api.get_model", name=model.name)}


def require_own_page(config: Config) -> None:
    """Stop requests that another site makes a browser send, and those without the token where there is one."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    foreign = (origin is not None and origin != request.host_url.rstrip("/") and not same_behind_proxy(origin)) or (
        site is not None and site not in ("same-origin", "none")
    )
    if foreign or request.headers.get("X-Wherry-Upload") != "1":
        abort(403, "Uploads come from pages of this server, with the header 'X-Wherry-Upload: 1'. Got a request of another site, or none.")
    if config.upload_token is not None:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {config.upload_token}".encode()):
            why = "Uploads need the server's token: 'Authorization: Bearer ...'. Ask its operator."
            raise Unauthorized(why, www_authenticate=WWWAuthenticate("bearer"))


def same_behind_proxy(origin: str) -> bool:
    """Whether only the scheme differs: a proxy in front speaks TLS, and this server hears http."""
    return origin.removeprefix("https://") == request.host


def require_room(config: Config, more: int) -> None:
    assert config.uploads is not None
    used = sum(path.stat().st_size for path in config.uploads.rglob("*") if path.is_file())
    if used + more > config.upload_quota:
        raise InsufficientStorage(
            f"There is no room for it. Got {more} bytes beside {used} that are kept, expected at most {config.upload_quota} in all. "
            f"The operator of the server can remove models, or allow more."
        )


def received(config: Config) -> SavedProgram:
    """The program of the request, checked and in its place."""
    assert config.uploads is not None
    form, sent = fields()
    name = name_of(form.get("name"), sent["model"])
    title = form.get("title", "").strip() or name
    labels = [line.strip() for line in form.get("labels", "").splitlines() if line.strip()]
    most = BESIDE["properties"]["labels"]["maxItems"]
    if len(title) > 200 or len(labels) > most or any(len(label) > 200 for label in labels):
        abort(400, f"title, labels: got {len(title)} letters and {len(labels)} labels, expected at most 200, and {most} of 200 letters.")
    if current_app.extensions["gallery"].find(name) is not None:
        taken(name)
    stage = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=config.uploads))
    try:
        prefix = stage / PROGRAM
        for part, suffix in (("model", MODEL), ("params", PARAMS)):
            if part in sent:
                sent[part].save(prefix.with_name(prefix.name + suffix))
        size = sum(path.stat().st_size for path in files_of(prefix))
        if size > config.max_upload:
            raise RequestEntityTooLarge(f"Got {size} bytes, expected at most {config.max_upload}. Send a smaller model.")
        require_room(config, 0)
        try:
            with Isolated(prefix, config.upload_limits) as program:
                facts = program.facts
        except Refused as error:
            abort(422, f"This is not a model that runs here: {shortened(str(error).replace(str(stage), ''), 500)}")
        if labels and facts["outputs"][0]["shape"][-1:] not in ([len(labels)], [-1]):
            abort(400, f"labels: got {len(labels)}, expected one for each place along the last axis of {facts['outputs'][0]['shape']}.")
        known = {"title": title, **({"labels": labels} if labels else {}), **facts, "sha256": digest_of(prefix), "bytes": size}
        (stage / "model.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        stage.chmod(0o755)
        with _appearing:
            place = config.uploads / name
            if place.exists():
                taken(name)
            try:
                os.rename(stage, place)
            except OSError:  # another process of the server was faster
                taken(name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return SavedProgram(name, place / PROGRAM, known, uploaded=True)


def fields() -> tuple[dict[str, str], dict[str, FileStorage]]:
    """Texts and files of the form."""
    form, sent = request.form, request.files
    unknown = [name for name in (*form, *sent) if name not in FIELDS]
    if unknown:
        abort(400, f"Got the field {shortened(repr(unknown[0]))}, expected {', '.join(FIELDS)}.")
    found = {name: sent[name] for name in ("model", "params") if name in sent and sent[name].filename}
    if "model" not in found:
        abort(400, "model: the field is missing. Got no .pdmodel, expected one as a file, with its .pdiparams as the file `params`.")
    return form.to_dict(), found


def name_of(asked: str | None, file: FileStorage) -> str:
    """A name for addresses: what was asked for, or the file's, with everything else than a-z, 0-9, `-` and `_` taken out."""
    name = name_for(Path((asked or "").strip() or Path((file.filename or "").replace("\\", "/")).name))
    if not NAME.fullmatch(name):
        abort(400, f"name: got {shortened(repr(asked or file.filename))}, expected letters of a to z or digits in it. Choose another.")
    return name


def taken(name: str) -> Any:
    abort(409, f"There is a model {name!r} already, and uploads replace none. Choose another name.")


def clear_unfinished(folder: Path) -> None:
    """Remove what uploads left behind that were cut off."""
    for path in folder.glob(f"{UNFINISHED}*"):
        if path.is_dir() and time.time() - path.stat().st_mtime > STALE:
            shutil.rmtree(path, ignore_errors=True)
