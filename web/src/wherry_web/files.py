"""Files that pages load: our own assets, Pyodide, the wheels, models; each under an address that names its content.

What carries a digest in its address never changes there, so browsers keep it for good; the few addresses
without one (pages, the manifest, the service worker) are asked for again each time.
"""
from __future__ import annotations

import functools
import hashlib
import inspect
import io
import json
import logging
import mimetypes
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    send_file,
    send_from_directory,
    url_for,
)
from markupsafe import escape
from werkzeug.security import safe_join

from wherry_export.web import engine_files
from wherry_export.web.wheels import SNAPSHOT, UNUSED, core_files, modules, without_docstrings, zipped
from wherry_web import memory
from wherry_web.config import Config
from wherry_web.encoded import BEST, PACKED, Encoded, Encoding, keep
from wherry_web.gallery import BrokenModel, SavedModel, SavedProgram
from wherry_web.pages import TITLES

log = logging.getLogger(__name__)
files = Blueprint("files", __name__)
STATIC = Path(__file__).parent / "static"
CLIENT = Path(__file__).parent / "client"
FOREVER = 365 * 24 * 3600
# Of ours, what predictions and training on the pages take. The other packages come when something of theirs is imported.
FIRST = frozenset({"wherry", "wherry_tensor", "wherry_autograd", "wherry_ops_cpu", "wherry_nn", "wherry_train", "wherry_vision", "wherry_web"})
# In wheels of others, such as NumPy's.
OF_NO_USE = re.compile(r"(^|/)tests?/|\.(pyi|h|a|pxd|typed)$|\.dist-info/(RECORD|licenses/)|^numpy/f2py/")
# Kept beside the wheels, between starts.
ENCODED = ".encoded"
# Runs a program as the Playground does, and names what was imported. Pages have no server, which `import wherry_web` loads.
PROBE = """
import sys, types
sys.modules["wherry_web"] = types.ModuleType("wherry_web")
sys.modules["wherry_web"].__path__ = [sys.argv[1]]
from wherry_web.playground.cells import Session
Session(lambda message, content: None).run(sys.stdin.read())
print(*(name for name in sys.modules if name.startswith("wherry")))
"""
MODULE, LIBRARY, SCRIPT, LOCK = "pyodide.asm.wasm", "python_stdlib.zip", "pyodide.asm.js", "pyodide-lock.json"  # of Pyodide
# What plain files have packed. The script is there unpacked, too: a policy of the server's may forbid to run what a page unpacked.
LARGE = frozenset({MODULE, LIBRARY, SNAPSHOT, SCRIPT, LOCK})


class Assets:
    """Our own static files, under the digest of all of them: modules import each other by relative addresses."""

    def __init__(self) -> None:
        self.names = sorted(str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.is_file())
        digest = hashlib.sha256()
        for name in self.names:
            digest.update(f"{name}\0".encode() + hashlib.sha256((STATIC / name).read_bytes()).digest())
        self.digest = digest.hexdigest()[:16]
        self.address = f"static/{self.digest}/"


class Zips:
    """Zips that pages load, by name, each under an address that names its content.

    Files are stored in them as they are: brotli over all of them is a third smaller than each deflated alone.

    Args:
        folder: of the wheels, where the best encoding is kept; None keeps it in memory.

    Attributes:
        zips: name -> its files.
        encoded: name -> what is sent.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._ready = False
        self.zips: dict[str, dict[str, bytes]] = {}
        self.encoded: dict[str, Encoded] = {}

    def add(self, name: str, content: dict[str, bytes], quality: int = 9) -> None:
        self.zips[name] = content
        self.encoded[name] = Encoded(zipped(content, zipfile.ZIP_STORED), self._folder / ENCODED if self._folder else None, quality)

    def ready(self) -> None:
        """Make the zips that come of our own wheels, unless that has been done."""
        with self._lock:
            if not self._ready:
                self._divide()
                self._ready = True

    def _divide(self) -> None:
        pass

    def address(self, name: str) -> str:
        return f"bundle/{self.encoded[name].digest}/{name}"


class Bundle(Zips):
    """The wheels and the client: what predictions and training on a page take, and no more, in one zip, the other packages in another.

    The kernels for relaxed SIMD stay in it, also for engines without: beside those of the baseline they cost 10 kB, alone 94.

    Attributes:
        later: package -> address of the zip that a page loads when something of it is imported.
    """

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder)
        self.wheels = sorted(folder.glob("*.whl")) if folder else []
        self._ours = [wheel for wheel in self.wheels if is_ours(wheel)]
        self._kept_in = folder / ENCODED if folder else None
        self.later: dict[str, str] = {}

    @property
    def is_quick(self) -> bool:
        """Whether earlier starts have taken these wheels apart."""
        return not self._ours or (self._kept_in is not None and all(kept_place(wheel, self._kept_in).exists() for wheel in self._ours))

    def _divide(self) -> None:
        client = {f"wherry_web/client/{path.name}": without_docstrings(path.read_bytes()) for path in CLIENT.glob("*.py")}
        files: dict[str, bytes] = {}
        for wheel in self._ours:
            files |= kept_modules(wheel, self._kept_in)
        files |= client
        others = {name: content for name, content in files.items() if name.partition("/")[0] not in FIRST}
        self.add("wherry.zip", {name: content for name, content in files.items() if name not in others}, quality=BEST)
        self.add("later.zip", others, quality=BEST)
        self.later = {module: self.address("later.zip") for module in sorted(top_level([*others]))}

    def manifest(self) -> dict[str, Any] | None:
        """Addresses for the page."""
        if not self.wheels:
            return None
        self.ready()
        return {"url": self.address("wherry.zip"), "later": self.later}


def kept_place(wheel: Path, folder: Path) -> Path:
    """The file that has what `modules` makes of a wheel, whether it is there or not."""
    digest = hashlib.sha256(Path(inspect.getfile(modules)).read_bytes() + sys.version.encode() + wheel.name.encode() + wheel.read_bytes())
    return folder / f"{digest.hexdigest()[:16]}.modules.zip"


def kept_modules(wheel: Path, folder: Path | None) -> dict[str, bytes]:
    """`modules` of a wheel. To take docstrings out of all wheels is seconds of work, so what came of each is kept in a file for the next start."""
    place = kept_place(wheel, folder) if folder else Path(os.devnull)
    try:
        with zipfile.ZipFile(place) as archive:
            return {name: archive.read(name) for name in archive.namelist()}  # whose checksums zipfile compares
    except (OSError, zipfile.BadZipFile):
        found = modules([wheel])
    if folder is not None:
        keep(place, zipped(found, zipfile.ZIP_STORED))
    return found


class Exporter(Zips):
    """What a page adds to the bundle when it exports: the engine of `wherry_export.web`, which the wheels' zip goes without, as a zip.

    Without wheels for the browser, or where the engine is not built, there is none.
    """

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder)
        if folder is not None and engine_files.missing() is None:
            engine = sorted(engine_files.FOLDER.glob("engine.*"))
            self.add("engine.zip", {f"wherry_export/web/engine/{path.name}": path.read_bytes() for path in engine})


class Playground(Zips):
    """What the page Playground loads beyond the bundle.

    In `playground.zip`, in place of the bundle, is what runs programs and what the first example of the menu imports, in `sources.zip` the
    rest of Wherry, which a page loads when a program imports some of it; both have the Python as it was written, for `help` and for the
    lines in tracebacks. Wheels of others in the folder (NumPy, say) become a zip each, which a page loads in the same way.
    """

    def __init__(self, wheels: list[Path], folder: Path | None) -> None:
        super().__init__(folder)
        self._others: set[Path] = set()
        self.modules: dict[str, str] = {}  # module -> name of its zip
        self._ours = [wheel for wheel in wheels if is_ours(wheel)]
        self.take_new()

    def _divide(self) -> None:
        """Our own wheels into what the first program needs, and the rest."""
        if not self._ours:
            return
        first, later = divided(self._ours, imported_first())
        programs = [*(CLIENT.parent / "playground").glob("*.py"), *CLIENT.glob("*.py"), STATIC / "data" / "digits.bin"]
        ours = {path.relative_to(CLIENT.parent.parent).as_posix(): path.read_bytes() for path in sorted(programs)}
        names = sorted(filter(None, (module_of(name) for name in later.keys() - first.keys())))
        self.add("playground.zip", {**first, **ours, "wherry_web/playground/later.json": json.dumps(names).encode()}, quality=BEST)
        self.add("sources.zip", later)

    def take_new(self) -> None:
        """Take wheels of others that have come into the folder since: `make demo` builds NumPy's beside the running server."""
        with self._lock:
            for wheel in sorted(self._folder.glob("*.whl")) if self._folder else []:
                if wheel in self._others or is_ours(wheel):
                    continue
                self._others.add(wheel)
                name = f"{project_of(wheel)}.zip"
                with zipfile.ZipFile(wheel) as archive:
                    names = [file for file in archive.namelist() if not file.endswith("/")]
                    self.add(name, {file: archive.read(file) for file in names if not OF_NO_USE.search(file)})
                self.modules.update((module, name) for module in top_level(names))

    def manifest(self) -> dict[str, Any] | None:
        """Addresses for the page."""
        if not self._ours:
            return None
        self.ready()
        self.take_new()
        addresses = {"url": "playground.zip", "sources": "sources.zip"}
        packages = {module: self.address(name) for module, name in self.modules.items()}
        return {**{part: self.address(name) for part, name in addresses.items()}, "packages": packages}


def divided(wheels: list[Path], first: frozenset[str]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of wheels in two: those of packages and modules that are named, and the others with all that the bundle goes without."""
    everything: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".py") or not UNUSED.search(name)]
            everything.update((name, archive.read(name)) for name in names if "/testing/" not in name)

    def comes_first(name: str) -> bool:
        module = module_of(name)
        if module is not None:
            return module in first
        # Kernels and data come with their package: a folder that has only them would be imported as one.
        folders = (folder.as_posix() for folder in Path(name).parents)
        package = next((folder for folder in folders if f"{folder}/__init__.py" in everything), "")
        return package.replace("/", ".") in first

    sooner = {name: content for name, content in everything.items() if comes_first(name)}
    return sooner, {name: content for name, content in everything.items() if name not in sooner or UNUSED.search(name)}


def module_of(name: str) -> str | None:
    """The module that a file of Python is; None for other files."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") if name.endswith(".py") else None


@functools.lru_cache(1)
def imported_first() -> frozenset[str]:
    """The modules of ours that the first example of the Playground's menu imports, found by running it."""
    example = json.loads((STATIC / "data" / "examples.json").read_text())["groups"][0]["examples"][0]["code"]
    done = subprocess.run([sys.executable, "-c", PROBE, str(CLIENT.parent)], input=example, capture_output=True, text=True, check=True)
    return frozenset(done.stdout.splitlines()[-1].split())


def is_ours(wheel: Path) -> bool:
    """Whether a wheel is a part of Wherry; what rewrites programs needs LibCST and is loaded when somebody imports it, as wheels of others are."""
    project = project_of(wheel)
    return project.startswith("wherry") and project != "wherry-migrate"


def top_level(names: list[str]) -> set[str]:
    """The modules that files of a wheel make."""
    tops = {name.partition("/")[0] for name in names}
    return {top.partition(".")[0] for top in tops if not top.endswith((".dist-info", ".data", ".libs")) and top.partition(".")[0].isidentifier()}


def config() -> Config:
    found: Config = current_app.config["WHERRY"]
    return found


class Pyodide:
    """The files of the npm package that pages load, so that little is sent.

    The standard library is stored in its zip, not deflated: brotli over the whole makes it a quarter smaller. The memory of a started
    Pyodide goes without what the module has of it (memory.py).

    Attributes:
        shared: what a page puts back into that memory; None where there is no such memory.
    """

    def __init__(self, folder: Path | None, wheels: Path | None) -> None:
        self.folder = folder
        self.version: str = json.loads((folder / "package.json").read_text())["version"] if folder else ""
        self.names = core_files(folder) if folder else ()
        self.shared = memory.shares(self._read(SNAPSHOT), self._read(MODULE)) if SNAPSHOT in self.names else None
        edition = hashlib.sha256(self._read(SNAPSHOT) if SNAPSHOT in self.names else b"").hexdigest()[:8]
        self.edition = f"{self.version}-{edition}"
        self.address = f"pyodide/{self.edition}/"
        self._kept_in = wheels / ENCODED if wheels else None
        self.encoded = functools.lru_cache(self._encoded)

    def _read(self, name: str) -> bytes:
        assert self.folder is not None
        return (self.folder / name).read_bytes()

    def _encoded(self, name: str) -> Encoded:
        content = self._read(name)
        if name == LIBRARY:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = zipped({file: archive.read(file) for file in archive.namelist()}, zipfile.ZIP_STORED)
        elif name == SNAPSHOT:
            content = memory.without(content, self._read(MODULE), self.shared or [])
        return Encoded(content, self._kept_in)


def kept(response: Response) -> Response:
    response.headers["Cache-Control"] = f"public, max-age={FOREVER}, immutable"
    return response


def send_encoded(content: Encoded, kind: str) -> Response:
    """Content in the best encoding that the client takes."""
    encoding: Encoding | None = next((e for e in ("br", "gzip") if request.accept_encodings.quality(e) > 0), None)
    response = Response(content.body(encoding), mimetype=kind)
    if encoding:
        response.content_encoding = encoding
    response.vary.add("Accept-Encoding")
    response.set_etag(f"{content.digest}-{encoding or 'plain'}")
    response.make_conditional(request)
    return response


@files.get("/static/<digest>/<path:name>")
def static(digest: str, name: str) -> Response:
    if digest != current_app.extensions["assets"].digest:
        abort(404, "This file belongs to another version of the pages. Load the page again.")
    return kept(send_from_directory(STATIC, name))


@files.get("/bundle/<digest>/<name>")
def bundle(digest: str, name: str) -> Response:
    for part in zips():
        part.ready()
    content = next((found for part in zips() if (found := part.encoded.get(name)) and found.digest == digest), None)
    if content is None:
        abort(404, "This file belongs to another version of the pages. Load the page again.")
    return kept(send_encoded(content, "application/zip"))


def zips() -> list[Zips]:
    """All that has zips for pages."""
    return [current_app.extensions[name] for name in ("bundle", "exporter", "playground")]


@files.get("/pyodide/<edition>/<name>")
def pyodide(edition: str, name: str) -> Response:
    core: Pyodide = current_app.extensions["pyodide"]
    if core.folder is None or edition != core.edition or name not in core.names:
        abort(404, "There is no such file of Pyodide here.")
    if not (core.folder / name).is_file():
        abort(404, f"The folder of Pyodide lacks {name}. Unpack the npm package again.")
    return kept(send_encoded(core.encoded(name), mimetypes.guess_type(name)[0] or "application/octet-stream"))


@files.get("/models/<name>/<digest>/weights.pdparams")
def weights(name: str, digest: str) -> Response:
    from wherry_web.api import broken, found

    model = found(name)
    if not isinstance(model, SavedModel) or model.digest[:16] != digest:
        abort(404, "There is no such model, or it was trained again. Load the page again.")
    try:
        content = model.content()  # browsers keep it for good under this digest
    except BrokenModel as error:
        broken(name, error)
    return kept(send_file(io.BytesIO(content), "application/octet-stream", etag=digest))


@files.get("/models/<name>/<digest>/<any(program, params):part>")
def program(name: str, digest: str, part: str) -> Response:
    """The files of a program, for pages that open it."""
    from wherry_web.api import found

    model = found(name)
    if not isinstance(model, SavedProgram) or model.digest[:16] != digest:
        abort(404, "There is no such program, or it was saved again. Load the page again.")
    if part not in model.parts:
        abort(404, "This program has no parameters.")
    path = model.prefix.with_name(model.prefix.name + model.parts[part])
    return kept(send_file(path, "application/octet-stream", download_name=f"{model.name}{path.suffix}", as_attachment=True))


@files.get("/bundles/<name>/")
@files.get("/bundles/<name>/<path:file>")
def bundle_page(name: str, file: str = "index.html") -> Response:
    """Pages that were exported."""
    try:
        bundle = current_app.extensions["gallery"].bundle(name)
    except BrokenModel as error:
        current_app.logger.error("%s", error)
        bundle = None
    if bundle is None or any(part.startswith(".") for part in file.split("/")):
        abort(404, "There is no such page here.")
    response = send_from_directory(bundle.folder, file)
    return kept(response) if file.startswith(("static/", "data/")) else response


@files.get("/wheels/<name>")
def wheel(name: str) -> Response:
    folder = config().wheels
    if folder is None or not name.endswith(".whl") or safe_join(str(folder), name) is None:
        abort(404, "There is no such wheel here.")
    return send_from_directory(folder, name)


@files.get("/simple/")
def simple_index() -> str:
    """The index of PEP 503: names of the projects."""
    names = sorted({project_of(path) for path in current_app.extensions["bundle"].wheels})
    return index_page("Simple index", [(f"{name}/", name) for name in names])


@files.get("/simple/<project>/")
def simple_project(project: str) -> str:
    """The wheels of one project, with digests and the Python they need."""
    found = [path for path in current_app.extensions["bundle"].wheels if project_of(path) == project]
    if not found:
        abort(404, "There is no such project in this index.")
    links = [
        (f"{url_for('files.wheel', name=path.name)}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}", path.name)
        for path in found
    ]
    return index_page(f"Links for {project}", links)


def project_of(wheel: Path) -> str:
    """Normalised as PEP 503 says."""
    return re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()


def index_page(title: str, links: list[tuple[str, str]]) -> str:
    rows = "".join(f'<a href="{escape(address)}">{escape(text)}</a><br>\n' for address, text in links)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head><meta name="pypi:repository-version" content="1.0">'
            f"<title>{escape(title)}</title></head>\n<body>\n{rows}</body>\n</html>\n")


def manifest_content() -> dict[str, Any]:
    """Everything a page needs to start; addresses are relative to this file's."""
    from wherry_web.api import card

    gallery, assets, exporter = (current_app.extensions[name] for name in ("gallery", "assets", "exporter"))
    core, content = current_app.extensions["pyodide"], current_app.extensions["bundle"]
    return {
        "wherry": current_app.config["WHERRY_VERSION"],
        "pyodide": {"version": core.version, "url": core.address, "snapshot": core.shared} if core.version else None,
        "bundle": content.manifest(),
        "playground": current_app.extensions["playground"].manifest(),
        "digits": f"{assets.address}data/digits.bin",
        "backbone": f"{assets.address}data/backbone.bin",
        "exporter": exporter.address("engine.zip") if exporter.zips else None,
        "reader": bundles_of({"detector": "read-detector-page", "recogniser": "read-recogniser-page"}),
        "writer": bundles_of({"page": "write-page"}),
        "models": [
            {**card(model), "weights_url": weights_address(model), **page_address(model)}
            for model in gallery.models() if isinstance(model, SavedModel)
        ],
    }


def page_address(model: SavedModel) -> dict[str, str]:
    """Where the exported page of a model is, if it has one."""
    page = model.card.get("page")
    try:
        there = page is not None and current_app.extensions["gallery"].bundle(page) is not None
    except BrokenModel:
        there = False
    return {"page_url": f"bundles/{page}/"} if there else {}


def bundles_of(names: dict[str, str]) -> dict[str, Any] | None:
    """Where exported pages are that one of our pages answers with, and what was measured of the last; None as long as one lacks."""
    gallery = current_app.extensions["gallery"]
    try:
        found = {part: gallery.bundle(name) for part, name in names.items()}
        measured = [gallery.measured(bundle) for bundle in found.values() if bundle is not None]
    except BrokenModel as error:
        log.warning("%s", error)
        return None
    if len(measured) < len(names) or measured[-1] is None:
        return None
    return {**{part: f"bundles/{name}/" for part, name in names.items()}, "measured": measured[-1]}


def weights_address(model: SavedModel) -> str:
    return f"models/{model.name}/{model.card['sha256'][:16]}/weights.pdparams"


@files.get("/manifest.json")
def manifest() -> Response:
    return jsonify(manifest_content())


@files.get("/sw.js")
def service_worker() -> Response:
    """Keeps what the pages need, so that they work without a network after the first visit."""
    return Response(service_worker_of(manifest_content()), mimetype="text/javascript")


def service_worker_of(content: dict[str, Any]) -> str:
    """The service worker of pages that have this manifest."""
    addresses = ["./", *(name for name in TITLES if name != "draw"), "manifest.json", *unchanging(content)]
    version = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    return render_template("sw.js", version=version, addresses=json.dumps(addresses))


def unchanging(content: dict[str, Any]) -> list[str]:
    """The addresses of a manifest's files, and of our own."""
    assets = current_app.extensions["assets"]
    addresses = [assets.address + name for name in assets.names]
    if core := content["pyodide"]:
        names = current_app.extensions["pyodide"].names
        addresses += [f"{core['url']}{name}{PACKED}" if core.get("packed") and name in LARGE else core["url"] + name for name in names]
    if content["bundle"]:
        addresses += [content["bundle"]["url"], *sorted(set(content["bundle"]["later"].values()))]
    if content["exporter"]:
        addresses.append(content["exporter"])
    if content["playground"]:
        addresses += [content["playground"][part] for part in ("url", "sources")]
    return [*addresses, *(model["weights_url"] for model in content["models"])]
