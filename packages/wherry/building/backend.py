"""Build backend of the facade, and of the root of the repository: hatchling, which knows the sibling packages of a checkout.

`pip install .` in a clone, and `pip install ./packages/wherry`, should install what `import wherry` needs. pip would look for
`wherry-tensor` and the others on an index; so in a checkout the dependencies name wheels that `tools/wheels.py` builds from these very
sources, several at a time. (Of folders pip would build one after the other, each with an environment of its own.) Where the tools for
that cannot be had, the dependencies name the folders. An sdist has no siblings, and neither do the wheels that
`tools/wheels.py` makes (it sets WHERRY_DEPENDENCIES=index): they ask for versions, as pyproject.toml says. A wheel that names
folders cannot be published by mistake, for an index refuses it.
"""
import base64
import contextlib
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from hatchling import build as hatchling

FACADE = Path(__file__).resolve().parent.parent
TOOLS = FACADE.parent.parent / "tools"


def get_requires_for_build_wheel(config_settings=None):
    return in_facade(hatchling.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_editable(config_settings=None):
    return in_facade(hatchling.get_requires_for_build_editable, config_settings)


def get_requires_for_build_sdist(config_settings=None):
    return in_facade(hatchling.get_requires_for_build_sdist, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    return in_facade(hatchling.build_sdist, os.path.abspath(sdist_directory), config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = os.path.abspath(wheel_directory)
    return with_siblings(folder, in_facade(hatchling.build_wheel, folder, config_settings))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    folder = os.path.abspath(wheel_directory)
    return with_siblings(folder, in_facade(hatchling.build_editable, folder, config_settings))


def in_facade(function, *arguments):
    """Call it in the folder of the facade: at the root of the repository there is nothing to build but this."""
    before = os.getcwd()
    os.chdir(FACADE)
    try:
        return function(*arguments)
    finally:
        os.chdir(before)


def with_siblings(folder, name):
    """Let the dependencies of a wheel name the packages of this checkout; returns the name of the wheel."""
    siblings = found_siblings()
    if not siblings:
        return name
    path = Path(folder, name)
    with zipfile.ZipFile(path) as archive:
        content = {entry: archive.read(entry) for entry in archive.infolist()}
    (metadata,) = [entry for entry in content if entry.filename.endswith(".dist-info/METADATA")]
    (record,) = [entry for entry in content if entry.filename.endswith(".dist-info/RECORD")]
    content[metadata] = renamed(content[metadata].decode(), siblings).encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content[metadata]).digest()).rstrip(b"=").decode()
    line = f"{metadata.filename},sha256={digest},{len(content[metadata])}"
    content[record] = re.sub(rf"(?m)^{re.escape(metadata.filename)},.*$", line, content[record].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in content.items():
            archive.writestr(entry, data)
    return name


def renamed(metadata, siblings):
    """METADATA whose `Requires-Dist: wherry-nn>=0.2` are `wherry-nn @ file:///...`; all siblings are listed."""
    head, separator, description = metadata.partition("\n\n")
    kept = [
        line for line in head.split("\n")
        if not (line.startswith("Requires-Dist: ") and re.split(r"[^\w.-]", line[15:], maxsplit=1)[0] in siblings and "extra ==" not in line)
    ]
    return "\n".join([*kept, *(f"Requires-Dist: {project} @ {place}" for project, place in siblings.items())]) + separator + description


def found_siblings():
    """Projects that the facade needs and where they are; empty outside a checkout."""
    if os.environ.get("WHERRY_DEPENDENCIES") == "index" or not (TOOLS / "package_table.py").is_file():
        return {}
    sys.path.insert(0, str(TOOLS))
    import package_table
    import wheels

    names = [name for name in package_table.needed([FACADE.name]) if package_table.packages()[name].folder != FACADE]
    build_together(wheels, names)
    places = {}
    for name in names:
        package = package_table.packages()[name]
        built = wheels.wheel_for(sys.executable, name, wheels.digest_of(name), native=True)  # it stays on this machine
        places[package.project] = (built or package.folder).as_uri()
    return places


def build_together(wheels, names):
    """Build the wheels that are missing; the terminal shows how far it is, although pip keeps what a backend says to itself."""
    # What pip has told this process, its path and its backend, is not for those in which the others are built.
    told = re.compile(r"PYTHONPATH$|PEP517_|_PYPROJECT_HOOKS_")
    environment = {name: value for name, value in os.environ.items() if not told.match(name)}
    command = [sys.executable, wheels.__file__, "here", *names]
    with terminal() as shown:
        done = subprocess.run(command, env=environment, stdout=shown, stderr=subprocess.PIPE, text=True)
    if done.returncode == wheels.NO_TOOLS:
        print(f"{done.stderr}wherry: without these tools pip builds the packages one after the other", file=sys.stderr)
    elif done.returncode:
        sys.exit(done.stderr)


def terminal():
    """Where a person looks; what pip keeps, where nobody does or WHERRY_PROGRESS=off."""
    if os.environ.get("WHERRY_PROGRESS") != "off":
        with contextlib.suppress(OSError):
            return open("/dev/tty", "w")
    return contextlib.nullcontext(sys.stdout)
