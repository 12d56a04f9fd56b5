"""Everything that is to be uploaded, in dist/: `make release`.

    python tools/release.py              sdists and wheels for every Python found, changelogs, a bill of materials, checksums; checked
    python tools/release.py --pure       the same without what has to be compiled, in seconds: for a look at the rest
    python tools/release.py index DIR    dist/ as a folder that `pip install --index-url file://DIR` takes
    python tools/release.py record       after the upload: remember what each version was made of (tools/released.json)
    python tools/release.py pin          new versions and digests of the tools, tools/pins/*.txt
    python tools/release.py audit        known faults of those tools, and of what this Python has installed

The same sources give the same bytes: archives have one time (wheels.EPOCH), tools are pinned, and no path of this machine gets in. What each
version was made of is remembered, so a package that has changed must have a new version, and one that has not keeps its own.
docs/release.md says what a maintainer does, in order.
"""
from __future__ import annotations

import argparse
import email.parser
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import uuid
import zipfile
from email.message import Message
from pathlib import Path

from package_table import ROOT, Package, packages
from wheels import CACHE, EPOCH, PINS, available_pythons, build, build_environment, readme, sources_of, tool_environment

DIST = ROOT / "dist"
RELEASED = ROOT / "tools" / "released.json"
CREATED = "2020-02-02T00:00:00Z"  # EPOCH, as the bill of materials writes it
LICENSE = "Apache-2.0"
# Systems in the names of wheels that an index takes: PEP 600, 656 and 783 among them.
TAKEN = re.compile(r"any|(many|musl)linux\w+|macosx_\w+|win_\w+|pyemscripten_\d{4}_\d+_wasm32")
PYTHON_OF_PINS = {"build": "3.11", "release": "3.11", "pyodide": "3.13"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", nargs="?", default="build", choices=("build", "index", "record", "pin", "audit"))
    parser.add_argument("folder", nargs="?", type=Path, help="of the index")
    parser.add_argument("--pure", action="store_true", help="leave out what has to be compiled")
    arguments = parser.parse_args()
    if arguments.action == "pin":
        return pin()
    if arguments.action == "audit":
        return audit()
    if arguments.action == "record":
        RELEASED.write_text(json.dumps(made_of(), indent=2) + "\n")
        return 0
    if arguments.action == "index":
        if arguments.folder is None:
            parser.error("index: which folder? Write  python tools/release.py index DIR")
        write_index(arguments.folder, archives())
        return 0
    faults = unmoved_versions(json.loads(RELEASED.read_text()), made_of())
    if faults:
        sys.exit("\n".join(f"release: {fault}" for fault in faults))
    chosen = [package for package in packages().values() if not (arguments.pure and package.compiled)]
    for old in [*DIST.glob("wherry*"), *DIST.glob("*.md"), DIST / "SHA256SUMS"]:  # an npm package beside them stays
        if old.is_file() and old.suffix != ".tgz":
            old.unlink()
    DIST.mkdir(exist_ok=True)
    for python in available_pythons():
        for wheel in build(python, [package.name for package in chosen]):
            shutil.copy2(wheel, DIST)
    for package in chosen:
        build_sdist(package)
    (DIST / "CHANGELOG.md").write_text(changelogs(chosen))
    (DIST / "README.md").write_text(readme(DIST))
    files = archives()
    (DIST / "wherry.cdx.json").write_text(json.dumps(bill_of_materials(files), indent=2) + "\n")
    faults = [fault for file in files for fault in faults_of(file)]
    if faults:
        sys.exit("\n".join(f"release: {fault}" for fault in faults))
    tools = tool_environment(sys.executable, "release", CACHE / "release")
    subprocess.run([tools / "bin" / "twine", "check", "--strict", *files], check=True, stdout=subprocess.DEVNULL)
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in [*files, DIST / "wherry.cdx.json"])
    (DIST / "SHA256SUMS").write_text(sums)
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"release: {len(files)} files, {size:.1f} MB, in dist/; sha256 of dist/SHA256SUMS {hashlib.sha256(sums.encode()).hexdigest()}")
    return 0


def archives() -> list[Path]:
    return sorted([*DIST.glob("wherry*.whl"), *DIST.glob("wherry*.tar.gz")])


def build_sdist(package: Package) -> None:
    """The sources of a package: all that is needed to build it, without the clone."""
    tools = build_environment(sys.executable)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "WHERRY_DEPENDENCIES": "index"}
    command = [tools / "bin" / "python", "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, package.folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nrelease: the sdist of {package.name} failed to build")


# ---- versions ---------------------------------------------------------------------------------------


def made_of() -> dict[str, dict[str, str]]:
    """The version of each package, and a digest of its sources but for what says the version and the changelog."""
    found = {}
    for package in packages().values():
        digest = hashlib.sha256()
        for path in sources_of(package.name):
            if path.name != "CHANGELOG.md":
                digest.update(f"{path.relative_to(ROOT)}\0".encode())
                digest.update(re.sub(rb'(?m)^(__version__|version) = ".*"$', b"", path.read_bytes()))
        found[package.project] = {"version": package.version, "digest": digest.hexdigest()}
    return found


def unmoved_versions(before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    """Where a version and what it is made of do not agree with what has been released."""
    faults = []
    for project, there in now.items():
        was = before.get(project, there)
        changed, moved = was["digest"] != there["digest"], was["version"] != there["version"]
        if changed and not moved:
            faults.append(f"{project} {there['version']} is released, and has changed since. Give it a new version in its pyproject.toml.")
        if moved and not changed:
            faults.append(f"{project} is as it was released as {was['version']}. Got {there['version']}; leave the version as it was.")
    return faults


# ---- what comes along -------------------------------------------------------------------------------


def changelogs(chosen: list[Package]) -> str:
    """The newest section of every changelog, in one file."""
    parts = ["# What is new\n"]
    for package in chosen:
        sections = re.split(r"(?m)^## ", (package.folder / "CHANGELOG.md").read_text())[1:]
        if sections:
            title, _, text = sections[0].partition("\n")
            parts.append(f"## {package.project} {title.strip()}\n\n{text.strip()}\n")
    return "\n".join(parts)


def bill_of_materials(files: list[Path]) -> dict[str, object]:
    """CycloneDX 1.6: each file with its digest and licence, and what of others it asks for."""
    components, dependencies, others = [], [], {}
    for file in files:
        said = metadata(file)
        reference = f"file:{file.name}"
        needs = sorted({re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in said.get_all("Requires-Dist", []) if "extra ==" not in line})
        components.append({
            "type": "library", "bom-ref": reference, "name": said["Name"], "version": said["Version"], "description": said["Summary"],
            "purl": f"pkg:pypi/{said['Name']}@{said['Version']}?file_name={file.name}",
            "licenses": [{"license": {"id": LICENSE}}],
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}],
        })
        ours = {f"file:{other.name}" for other in files for need in needs if other.name.startswith(f"{need.replace('-', '_')}-")}
        theirs = [need for need in needs if not need.startswith("wherry")]
        others |= {need: {"type": "library", "bom-ref": f"pypi:{need}", "name": need, "purl": f"pkg:pypi/{need}"} for need in theirs}
        dependencies.append({"ref": reference, "dependsOn": sorted({*ours, *(f"pypi:{need}" for need in theirs)})})
    tools = re.findall(r"(?m)^([\w.-]+)==([\w.]+)", (PINS / "build.txt").read_text())
    digest = hashlib.sha256(json.dumps(components).encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{uuid.UUID(digest[:32], version=4)}", "version": 1,
        "metadata": {
            "timestamp": CREATED,
            "component": {"type": "framework", "bom-ref": "wherry", "name": "wherry", "version": packages()["wherry"].version},
            "tools": {"components": [{"type": "application", "name": name, "version": version} for name, version in tools]},
        },
        "components": [*components, *(others[name] for name in sorted(others))],
        "dependencies": [*dependencies, *({"ref": f"pypi:{name}"} for name in sorted(others))],
    }


# ---- checks -----------------------------------------------------------------------------------------


def metadata(file: Path) -> Message:
    """METADATA of a wheel, PKG-INFO of an sdist."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            (name,) = [name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            text = wheel.read(name)
    else:
        with tarfile.open(file) as archive:
            member = archive.extractfile(f"{file.name.removesuffix('.tar.gz')}/PKG-INFO")
            text = member.read() if member else b""
    return email.parser.BytesParser().parsebytes(text)


def names_in(file: Path) -> list[str]:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as archive:
        return archive.getnames()


def faults_of(file: Path) -> list[str]:
    """What an index, a distribution or a reader would object to."""
    said, names = metadata(file), names_in(file)
    found = []
    if not any(name.endswith("/LICENSE") for name in names) or said["License-Expression"] != LICENSE:
        found.append("has no licence")
    if not said.get_all("Project-URL"):
        found.append("has no Project-URL")
    if [line for line in said.get_all("Requires-Dist", []) if "file:" in line]:
        found.append("asks for a folder of this machine")
    systems = file.name.removesuffix(".whl").rpartition("-")[2].split(".") if file.suffix == ".whl" else []
    if not all(TAKEN.fullmatch(system) for system in systems):
        found.append("has a tag that no index takes")
    if file.suffix != ".whl":
        binary = [name for name in names if name.endswith((".so", ".a", ".o", ".dll", ".dylib", ".pyc"))]
        found += [f"holds {', '.join(binary)}, which is compiled"] if binary else []
    return [f"{file.name} {fault}" for fault in found]


# ---- an index, and pins -----------------------------------------------------------------------------


def write_index(folder: Path, archives: list[Path]) -> None:
    """Files as PEP 503 lays them out: a folder for each project, a page with digests."""
    projects: dict[str, list[Path]] = {}
    for file in archives:
        projects.setdefault(re.sub(r"[-_.]+", "-", metadata(file)["Name"]).lower(), []).append(file)
    for project, files in projects.items():
        place = folder / project
        place.mkdir(parents=True, exist_ok=True)
        lines = []
        for file in files:
            shutil.copy2(file, place)
            python = html.escape(metadata(file)["Requires-Python"] or "")
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            lines.append(f'<a href="{file.name}#sha256={digest}" data-requires-python="{python}">{file.name}</a><br>')
        (place / "index.html").write_text("<!DOCTYPE html>\n" + "\n".join(lines) + "\n")
    (folder / "index.html").write_text("<!DOCTYPE html>\n" + "".join(f'<a href="{name}/">{name}</a><br>\n' for name in sorted(projects)))
    print(f"release: {folder} is an index of {len(projects)} packages")


def pin() -> int:
    if shutil.which("uv") is None:
        sys.exit("release: uv, which resolves for all systems at once, is not installed. Type  pip install uv")
    for name, python in PYTHON_OF_PINS.items():
        subprocess.run(["uv", "pip", "compile", "-q", "--universal", "--generate-hashes", "--python-version", python, "--no-header", "--no-annotate",
                        "--upgrade", "-o", f"{name}.txt", f"{name}.in"], cwd=PINS, check=True)
    return 0


def audit() -> int:
    """Ask pip-audit about every tool that is pinned, and about what of others is installed beside Wherry."""
    program = tool_environment(sys.executable, "release", CACHE / "release") / "bin" / "pip-audit"
    pins = [["--require-hashes", "--disable-pip", "-r", str(file)] for file in sorted(PINS.glob("*.txt"))]
    known: dict[str, list[str]] = {}
    unknown = set()
    for what in [*pins, ["--path", sysconfig.get_path("purelib")]]:
        done = subprocess.run([program, "--format", "json", "--progress-spinner", "off", *what], capture_output=True, text=True)
        if not done.stdout:
            reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            sys.exit(f"release: pip-audit could not tell whether there are known faults: {reason}")
        for entry in json.loads(done.stdout)["dependencies"]:
            if entry["name"].startswith("wherry") or (what not in pins and entry["name"] in ("pip", "setuptools")):
                continue  # on no index yet, and what every new environment has
            if "skip_reason" in entry:
                unknown.add(entry["skip_reason"].rpartition(": ")[2])
            else:
                ids = [f"{fault['id']}, mended in {' or '.join(fault['fix_versions']) or 'no version'}" for fault in entry["vulns"]]
                known[f"{entry['name']} ({entry['version']})"] = ids
    for name, faults in sorted(known.items()):
        for fault in faults:
            print(f"release: {name} has a known fault: {fault}")
    if unknown:
        some = ", ".join(sorted(unknown)[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        print(f"release: whether {some} have known faults is not known, as {len(unknown)} of {len(unknown) + len(known)} got no answer. A mirror of "
              "PyPI may have none for a version; ask where https://pypi.org itself can be reached.")
    if not unknown and not any(known.values()):
        print(f"release: no known faults in {len(known)} packages")
    return int(bool(unknown) or any(known.values()))


if __name__ == "__main__":
    sys.exit(main())
