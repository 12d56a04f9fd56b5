"""Makes what `pyodide build` calls a cross-build environment from the npm package of Pyodide alone.

    python3.13 tools/wasm/cross_environment.py PYODIDE_FOLDER FOLDER

The official one is a download of its own; all that a build needs of it (the settings of Python's target
build, its headers, the compiler's flags) follows from files of the npm package and from the headers of a Python of
the same version, in which this script must run.
"""
from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

SETTINGS = "_sysconfigdata__emscripten_wasm32-emscripten.py"

MAKEFILE = """\
export PYVERSION ?= {python}
export PYMAJOR = {major}
export PYMINOR = {minor}
export PYMICRO = {micro}
export PYODIDE_VERSION ?= {pyodide}
export PYODIDE_ABI_VERSION ?= {abi}
export PYODIDE_EMSCRIPTEN_VERSION ?= {emscripten}
export PLATFORM_TRIPLET = wasm32-emscripten
export SYSCONFIG_NAME = _sysconfigdata__emscripten_wasm32-emscripten
export CPYTHONROOT = $(PYODIDE_ROOT)/cpython
export CPYTHONINSTALL = $(CPYTHONROOT)/installs/python-{python}
export TARGETINSTALLDIR = $(CPYTHONINSTALL)
export SYSCONFIGDATA_DIR = $(CPYTHONINSTALL)/sysconfigdata
export PYTHONINCLUDE = $(CPYTHONINSTALL)/include/python{major}.{minor}
export CFLAGS_BASE = -fPIC -fwasm-exceptions -sSUPPORT_LONGJMP=wasm
export CXXFLAGS_BASE = $(CFLAGS_BASE)
export LDFLAGS_BASE = -sWASM_BIGINT -fwasm-exceptions -sSUPPORT_LONGJMP=wasm
.output_vars:
\tenv
"""


def make(npm: Path, folder: Path) -> None:
    lock = json.loads((npm / "pyodide-lock.json").read_text())["info"]
    version = json.loads((npm / "package.json").read_text())["version"]
    major, minor, micro = lock["python"].split(".")
    if sys.version_info[:2] != (int(major), int(minor)):
        sys.exit(f"Pyodide {version} holds Python {major}.{minor}: run this script with a Python of that version.")
    shutil.rmtree(folder, ignore_errors=True)
    root = folder / version / "xbuildenv" / "pyodide-root"
    python = root / "cpython" / "installs" / f"python-{lock['python']}"
    for part in (python / "sysconfigdata", python / "lib", root / "dist", root / "emsdk" / "patches",
                 folder / version / "xbuildenv" / "site-packages-extras"):
        part.mkdir(parents=True)
    (folder / version / "xbuildenv" / "requirements.txt").touch()

    settings = zipfile.ZipFile(npm / "python_stdlib.zip").read(SETTINGS).decode()
    # Its paths are those of the machine that built Pyodide.
    settings = re.sub(rf"[^' ]*/cpython/installs/python-{re.escape(lock['python'])}", str(python), settings)
    settings = re.sub(r"[^' ]*/upstream/emscripten/", "", settings)
    (python / "sysconfigdata" / SETTINGS).write_text(settings)

    headers = Path(sysconfig.get_path("platinclude"))
    include = python / "include" / f"python{major}.{minor}"
    shutil.copytree(headers, include)
    variables = runpy.run_path(str(python / "sysconfigdata" / SETTINGS))["build_time_vars"]
    (include / "pyconfig.h").write_text(configuration((headers / "pyconfig.h").read_text(), variables))

    for pattern in ("pyodide.*js", "pyodide.asm.*", "python_stdlib.zip", "*.json"):
        for file in npm.glob(pattern):
            shutil.copy(file, root / "dist")
    (root / "Makefile.envs").write_text(MAKEFILE.format(
        python=lock["python"], major=major, minor=minor, micro=micro, pyodide=version, abi=lock["abi_version"],
        emscripten=lock["platform"].removeprefix("emscripten_").replace("_", ".")))
    (folder / version / ".installed").touch()
    (folder / version / ".build-python-version").write_text(f"{major}.{minor}")
    (folder / "xbuildenv").symlink_to(version)


def configuration(template: str, variables: dict[str, object]) -> str:
    """This machine's pyconfig.h with the values of the target: sysconfig knows them by the same names."""
    lines = []
    for line in template.splitlines():
        found = re.match(r"(?:/\*\s*)?#(define|undef)\s+([A-Za-z_]\w*)", line)
        if not found or found[2] not in variables:
            lines.append(line)
            continue
        word, name = found.groups()
        value = variables[name]
        is_size = name.startswith(("SIZEOF_", "ALIGNOF_"))
        absent = value is None or (value == 0 and (word == "undef" or not is_size))
        lines.append(f"/* #undef {name} */" if absent else f"#define {name} {value}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
