"""Builds the site of the documents into build/site: `make docs`.

    python tools/site/build.py               # --tutorials; --output DIR; --pyodide DIR, --wheels DIR

Needs Sphinx, myst-parser and furo (tox's environment `site` has them) and Wherry; uses no network. The pages run their examples in
the reader's tab where Pyodide and the wheels for the browser are there (`make wasm`); without them their buttons say what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import cards  # noqa: E402
import policy  # noqa: E402
import shorter  # noqa: E402
import tables  # noqa: E402
import trained  # noqa: E402
from reference import Reference  # noqa: E402
from stage import Stage, by_area, tutorials  # noqa: E402

import wherry  # noqa: E402
from sources import ROOT, Sources  # noqa: E402
from wherry.__main__ import load_columns  # noqa: E402
from wherry_tensor.ops import registry  # noqa: E402

TRY = "try"  # the folder of the pages with Python in the tab
BESIDE = tuple(f"examples/tutorials/{name}.py" for name in ("tutorial_data", "environments", "image_search"))  # what tutorials import


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="default: build/site")
    parser.add_argument("--tutorials", action="store_true", help="train the tutorials too, and show what they print: minutes, once")
    parser.add_argument("--pyodide", type=Path, default=ROOT / ".cache" / "wasm" / "pyodide")
    parser.add_argument("--wheels", type=Path, default=ROOT / "wheelhouse" / "wasm")
    options = parser.parse_args()
    started = time.monotonic()

    def done(what: str) -> None:
        print(f"site: {time.monotonic() - started:4.0f} s  {what}", flush=True)

    load_columns()
    sources = Sources()
    stage = Stage(ROOT / "build" / "site-source", sources)
    reference = Reference(sources, registry)
    stage.copy_documents({"docs/compatibility.md": by_area(reference), **tables.filled(reference)})
    for document, text in {**reference.pages(), **cards.pages(reference, registry)}.items():
        stage.write(document, text)
    results = trained.results() if options.tutorials else {}
    for document, text in tutorials(stage, results).items():
        stage.write(document, text)
    stage.write("index", stage.linked((HERE / "index.md").read_text(), "index.md"))
    stage.finish()
    done(f"{len(reference.names)} names, {len(registry)} ops, {len(results)} tutorials trained")

    output = options.output.resolve()
    if output.exists() and any(output.iterdir()) and not (output / "objects.inv").exists():
        parser.error(f"{output} holds other files. Got a folder in use, expected a new or empty one, or a site. Choose another.")
    written = ROOT / "build" / "site-html"
    sphinx(stage.folder, written)
    done("pages written")
    fresh = output.with_name(output.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(written, fresh, ignore=shutil.ignore_patterns("_sources", ".buildinfo*"))
    count = sources.write(fresh)
    (fresh / "_static" / "beside.json").write_text(json.dumps({place: (ROOT / place).read_text() for place in BESIDE}))
    playground(fresh / TRY, options.pyodide, options.wheels)
    pages = policy.apply(fresh, TRY)
    shorter.apply(fresh, TRY)
    shutil.rmtree(output, ignore_errors=True)
    os.replace(fresh, output)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file() and "pyodide" not in file.parts)
    done(f"{output}: {pages} pages, {count} of them source, {size / 1e6:.1f} MB without Pyodide")
    return 0


def sphinx(source: Path, output: Path) -> None:
    """Run Sphinx; a warning is an error."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-c",
        str(HERE),
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-d",
        str(output.with_name("site-doctrees")),
        str(source),
        str(output),
    ]
    environment = {**os.environ, "WHERRY_SITE_VERSION": wherry.__version__, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    if subprocess.run(command, env=environment).returncode:
        sys.exit("site: Sphinx has warnings, above. Mend them: a link that leads nowhere is an error.")


def playground(folder: Path, pyodide: Path, wheels: Path) -> None:
    """The pages with Python in the tab, as plain files; without Pyodide and wheels they say what is missing."""
    from wherry_web import Config, create_app
    from wherry_web.freeze import freeze

    there = (pyodide / "pyodide.mjs").exists() and any(wheels.glob("wherry_tensor-*wasm32.whl"))
    app = create_app(Config(pyodide=pyodide, wheels=wheels) if there else Config())
    freeze(app, folder)
    # Where the runner of the other pages finds the modules of these.
    (folder / "assets.json").write_text(f'{{"static": "{app.extensions["assets"].address}"}}\n')
    print(
        "site: "
        + ("examples run in the tab" if there else f"no Pyodide in {pyodide} or no wheels in {wheels}: examples do not run in the tab (make wasm)")
    )


if __name__ == "__main__":
    sys.exit(main())
