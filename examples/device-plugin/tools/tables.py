"""Writes COMPATIBILITY.md from releases.toml, and SUPPORTED.md from the coverage matrix of the installed host.

    python tools/tables.py                compatibility
    python tools/tables.py --supported    SUPPORTED.md as well; needs the package to be installed
    python tools/tables.py --check        is COMPATIBILITY.md what the data give?
    python tools/tables.py --pair 0.9.0   a first release for another host: adds it to releases.toml and to pyproject.toml
"""
from __future__ import annotations

import argparse
import datetime
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEVICE, NAME = "mydevice", "wherry-mydevice"


def read() -> dict:
    """What releases.toml says. Raises ValueError where it breaks a rule."""
    data = tomllib.loads((ROOT / "releases.toml").read_text())
    seen = set()
    for release in data["release"]:
        version, host = release["version"], release["host"]
        if not re.fullmatch(rf"{re.escape(host)}(\.post\d+|rc\d+)?", version):
            raise ValueError(f"release {version}: the version is the host's, with .postN or rcN perhaps. Got host {host}.")
        if not re.fullmatch(rf"v{re.escape(host)}-\d+", release["branch"]):
            raise ValueError(f"release {version}: a branch is v<host>-<number>. Got {release['branch']!r}, expected 'v{host}-1', say.")
        if version in seen:
            raise ValueError(f"release {version}: it is listed twice.")
        if not release["pythons"] or not release["architectures"]:
            raise ValueError(f"release {version}: it serves no Python or no architecture.")
        seen.add(version)
    dates = [release["released"] for release in data["release"]]
    if dates != sorted(dates, reverse=True):
        raise ValueError("releases.toml: the newest release comes first.")
    return data


def months_later(day: datetime.date, months: int) -> datetime.date:
    year, month = divmod(day.month - 1 + months, 12)
    return datetime.date(day.year + year, month + 1, min(day.day, 28))


def rows(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def wheels(release: dict) -> list[str]:
    tags = [f"cp{python.replace('.', '')}" for python in release["pythons"]]
    return [
        f"`{NAME.replace('-', '_')}-{release['version']}-{tag}-{tag}-linux_{machine}.whl`" for tag in tags for machine in release["architectures"]
    ]


def compatibility(data: dict) -> str:
    releases, life = data["release"], data["life"]
    pairs = rows(
        ["wherry-tensor", NAME, "branch", "toolkit", "Python", "architectures"],
        [[r["host"], r["version"], r["branch"], r["toolkit"], ", ".join(r["pythons"]), ", ".join(r["architectures"])] for r in releases],
    )
    branches = {}
    for release in reversed(releases):
        branches.setdefault(release["branch"], release["released"])  # a branch lives from its first release on
    lives = []
    for branch, released in reversed(branches.items()):
        unmaintained = months_later(released, life["maintained"])
        lives.append([branch, str(released), str(unmaintained), str(months_later(unmaintained, life["unmaintained"]))])
    return f"""# Which releases belong together

Written by `tools/tables.py` from `releases.toml`. A release works with one release of the host, and says so when it is imported with another.

{pairs}

## Wheels of {releases[0]["version"]}

{chr(10).join("- " + wheel for wheel in wheels(releases[0]))}

## Life of the branches

Maintained: all that is solved is merged, and released. Unmaintained: changes are merged, nothing is released. Then a branch takes no more changes.

{rows(["branch", "maintained from", "unmaintained from", "end of life"], lives)}
"""


def supported() -> str:
    import wherry_mydevice

    from wherry_tensor import coverage

    return f"""# What runs on {DEVICE}

Written by `tools/tables.py --supported` with {NAME} {wherry_mydevice.__version__}; `python -m wherry ops --device {DEVICE}` prints the same.
`kernel`: this package computes it, for the dtypes listed. `decomposition`: it is computed as the ops listed. `view`: no memory is
touched. `host`: it is copied to the cpu, computed there and copied back, with one warning.

```
{coverage.of_device(DEVICE)}
```
"""


def pair(host: str) -> None:
    """Add the first release for `host`, which serves what the newest one does."""
    data = read()
    newest = data["release"][0]
    if host in {release["host"] for release in data["release"]}:
        raise ValueError(f"--pair: there is a release for it. Got {host}, expected a host that releases.toml does not list.")
    listed = {name: "[" + ", ".join(f'"{item}"' for item in newest[name]) + "]" for name in ("pythons", "architectures")}
    released = max(datetime.date.today(), newest["released"])
    entry = (
        f'[[release]]\nversion = "{host}"\nhost = "{host}"\nbranch = "v{host}-1"\ntoolkit = "{newest["toolkit"]}"\n'
        f'pythons = {listed["pythons"]}\narchitectures = {listed["architectures"]}\nreleased = {released}\n\n'
    )
    path = ROOT / "releases.toml"
    path.write_text(path.read_text().replace("[[release]]", entry + "[[release]]", 1))
    path = ROOT / "pyproject.toml"
    text = path.read_text().replace(f"wherry-tensor=={newest['host']}", f"wherry-tensor=={host}")
    path.write_text(text.replace(f'version = "{newest["version"]}"', f'version = "{host}"', 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--supported", action="store_true")
    parser.add_argument("--pair", metavar="HOST")
    chosen = parser.parse_args()
    if chosen.pair:
        pair(chosen.pair)
    path, text = ROOT / "COMPATIBILITY.md", compatibility(read())
    if chosen.check:
        if path.read_text() != text:
            sys.exit("COMPATIBILITY.md is not what releases.toml gives. Run python tools/tables.py.")
        return 0
    path.write_text(text)
    if chosen.supported:
        (ROOT / "SUPPORTED.md").write_text(supported())
    return 0


if __name__ == "__main__":
    sys.exit(main())
