"""Puts the npm package together that loads exported bundles: `make npm`.

    python tools/npm.py            build/npm/web, and dist/wherry-web-<version>.tgz where npm is installed

The package is called @wherry/web. Its scripts are those that each bundle has; its version is that of packages/export. The same sources make the
same bytes.
"""
from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from package_table import ROOT, packages  # noqa: E402

EXPORT = ROOT / "packages" / "export"
SCRIPTS = ("wherry.js", "core.js", "worker.js", "digest.js", "pool.js", "thread.js", "training.js", "wherry.d.ts")


def main() -> None:
    folder = layout(ROOT / "build" / "npm" / "web")
    if shutil.which("npm") is None:
        print(f"npm: {folder.relative_to(ROOT)} is the package; npm, which packs it, is not installed")
        return
    (ROOT / "dist").mkdir(exist_ok=True)
    archive = packed(folder, ROOT / "dist")
    print(f"npm: dist/{archive.name}, sha256 {hashlib.sha256(archive.read_bytes()).hexdigest()}")


def packed(folder: Path, target: Path) -> Path:
    """The archive that `npm publish` would upload."""
    done = subprocess.run(["npm", "pack", "--silent", "--pack-destination", target], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return target / done.stdout.strip()


def layout(folder: Path) -> Path:
    """Write the files of the package into a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in SCRIPTS:
        shutil.copy(EXPORT / "src" / "wherry_export" / "web" / "js" / name, folder)
    for name in ("README.md", "example.html"):
        shutil.copy(EXPORT / "npm" / name, folder)
    shutil.copy(EXPORT / "LICENSE", folder)
    facts = json.loads((EXPORT / "npm" / "package.json").read_text())
    (folder / "package.json").write_text(json.dumps({**facts, "version": packages()["export"].version}, indent=2) + "\n")
    for file in folder.iterdir():
        file.chmod(0o644)  # npm keeps some of the modes
    return folder


if __name__ == "__main__":
    main()
