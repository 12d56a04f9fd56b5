"""Compiling CUDA C++ for the emulator.

The emulator's own sources are compiled along with the kernels, into one library or program: it defines the functions of CUDA's
runtime there, and in the checked build the hooks that the compiler calls for each load and store. A `.cu` file that includes
cuda_emulator/kernel.h is in the spelling that needs no more; others are CUDA's own and go through `translating`.
"""
from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from wherry_cuda_emulator.translating import translate

__all__ = ["compile", "cuda_include", "include"]

_HERE = Path(__file__).parent
_PLAIN = ("-std=c++17", "-fPIC", "-g1", "-Wall", "-Wno-unknown-pragmas", "-Wno-attributes")
# Contraction would round differently in the two builds. What a GPU contracts differs from both anyway.
_KERNELS = {
    "fast": ("-O2", "-ffp-contract=off"),
    "checked": ("-O1", "-ffp-contract=off", "-fsanitize=thread,alignment", "--param", "tsan-instrument-func-entry-exit=0",
                "-DCUDA_EMULATOR_CHECKED"),
}
_OURS = "cuda_emulator/kernel.h"
_HOST = {"fast": ("-O2",), "checked": ("-O2", "-DCUDA_EMULATOR_CHECKED")}


def include() -> Path:
    """The folder to put on a compiler's path for `#include <cuda_emulator/kernel.h>`, with nvcc as well."""
    return _HERE / "include"


def cuda_include() -> Path:
    """The folder of NVIDIA's headers: that of $CUDA_HOME, of the wheels that the extra `headers` names, or of the nvcc on the path.

    Raises:
        FileNotFoundError: there is none of these.
    """
    places = [Path(os.environ["CUDA_HOME"]) / "include"] if "CUDA_HOME" in os.environ else []
    wheels = importlib.util.find_spec("nvidia")
    for root in (wheels.submodule_search_locations or []) if wheels else []:
        places += sorted(Path(root).glob("cu*/include"), reverse=True)
    nvcc = shutil.which("nvcc")
    if nvcc:
        said = subprocess.run([nvcc, "--dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True).stderr
        places += [Path(line.split("TOP=")[1].strip()) / "include" for line in said.splitlines() if "TOP=" in line]
    for place in places:
        has_target = any((place / folder / "nv" / "target").is_file() for folder in (".", "cccl"))
        if has_target and (place / "cuda_runtime_api.h").is_file() and (place / "cuda_fp16.h").is_file():
            return place
    raise FileNotFoundError(
        f"wherry_cuda_emulator: CUDA's headers were not found. Looked in {', '.join(map(str, places)) or 'no folder'}, expected cuda_runtime_api.h, "
        f"cuda_fp16.h and nv/target. pip install wherry-cuda-emulator[headers], or set CUDA_HOME."
    )


def compile(
    sources: Iterable[str | os.PathLike[str]], output: str | os.PathLike[str], *, mode: str = "checked",
    include_dirs: Iterable[str | os.PathLike[str]] = (), define: Mapping[str, object] | None = None, jobs: int | None = None,
    emulator: str | os.PathLike[str] | None = None, program: bool = False,
) -> Path:
    """Compile CUDA C++ for the emulator, into a shared library or a program that holds it.

    Args:
        sources: `.cu` files, whose kernels are checked, and `.cc` or `.cpp` files, which are plain host code. A file that did not change
            since the last call, headers included, is not compiled again.
        output: the library. It is left as it is when it was made of the same text by the same command.
        mode: "fast", or "checked", in which every access of a kernel is looked at.
        include_dirs: folders of your headers.
        define: macros. `CUDA_EMULATOR` is defined by `kernel.h`.
        jobs: how many compilers run at once; None is one for each processor.
        emulator: a library that `compile` has made in the same mode: this one brings no emulator and runs on the emulator of that, whose
            memory and streams it then shares. That is how to stand in for a library that a program opens at run time.
        program: make a program of the sources, one of which has a `main`.

    Returns:
        The absolute path of `output`.

    Raises:
        ValueError: `mode` is another one.
        FileNotFoundError: CUDA's headers, or a compiler, were not found.
        RuntimeError: the compiler refused the sources, and the text is its own; or they use what is not emulated, such as textures: the
            text names the line.
    """
    if mode not in _KERNELS:
        raise ValueError(f"wherry_cuda_emulator.compile: unknown mode. Got {mode!r}, expected 'fast' or 'checked'.")
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise FileNotFoundError(
            f"wherry_cuda_emulator.compile: no compiler. Got {os.environ.get('CXX', 'g++')!r}, expected g++ 12 or later. Install it, or set CXX."
        )
    output = Path(output).absolute()
    own = [] if emulator else sorted((_HERE / "csrc").glob("*.cc"))
    host = [str(Path(emulator).absolute())] if emulator else []
    files = [*map(Path, sources), *own]
    folders = [include(), *(Path(folder).absolute() for folder in include_dirs)]
    cuda = cuda_include()
    plain = [*_PLAIN, *(f"-D{name}={value}" for name, value in (define or {}).items())]

    theirs, ours = _View(cuda, folders, [file for file in files if file not in own]), _View(cuda, [include()], own)
    headers = [path for folder in folders for path in sorted(folder.rglob("*.h"))] + sorted((_HERE / "csrc").glob("*.h"))
    beside = {path for source in map(Path, sources) for path in source.parent.iterdir() if path.suffix in (".h", ".cuh", ".hpp", ".inl", ".cu")}
    known_files = [*files, *headers, *sorted(beside), *sorted(_HERE.glob("*.py")), cuda / "cuda_runtime_api.h"]
    digest = _digest(compiler, mode, [*plain, *host, str(program)], known_files)
    output.parent.mkdir(parents=True, exist_ok=True)
    record = output.with_name(output.name + ".digest")
    with open(output.with_name(output.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may need the same library
        if output.exists() and record.exists() and record.read_text() == digest:
            return output
        objects = output.with_name(output.name + ".objects")
        objects.mkdir(exist_ok=True)
        cache = [found] if (found := shutil.which("ccache")) else []

        # For kernels that are compiled at run time: how, and what else their images depend on.
        recipe = shlex.join([*cache, compiler, *plain, *theirs.folders(str), *_KERNELS[mode]])
        baked = [f"-DCUDA_EMULATOR_{name}={json.dumps(text)}" for name, text in (
            ("RECIPE", recipe), ("COMPILER", shlex.quote(compiler)), ("HEADERS", _digest(compiler, mode, plain, headers)))]

        def one(at: int) -> Path:
            source = files[at]
            view = ours if source in own else theirs
            shared = [*plain, *view.folders(), *view.options]
            made = objects / f"{at}-{source.stem}.o"
            options = _KERNELS[mode] if source.suffix == ".cu" else (*_HOST[mode], *(["-fvisibility=hidden"] if source in own else []))
            if source in own and source.stem == "library":
                options = (*options, *baked)
            if source.suffix == ".cu" and _OURS not in source.read_text(errors="replace"):
                instead = ["-w", "-I", view.named(include() / "cuda_emulator" / "instead"), "-include", "cuda_emulator/cuda.h"]
                text = _translated([compiler, *instead, *shared, *options, "-x", "c++", "-E", view.named(source)], view.root)
                source = objects / f"{at}-{source.stem}.ii"
                # Or no call of a function of the file is inlined.
                language, options = "c++-cpp-output", (*options, "-w", "-fno-semantic-interposition")
                source.write_text(text)
            else:
                language = "c++"
            needs, known = made.with_suffix(".d"), made.with_suffix(".digest")

            def state() -> str:
                read = [source, *(Path(view.root) / name for name in _prerequisites(needs))]
                return _digest(compiler, mode, [*shared, *options], read) if all(file.exists() for file in read) else ""

            if made.exists() and known.exists() and known.read_text() == state():
                return made
            # A text that was translated holds its headers: gcc writes no rule for it, without which ccache would keep nothing.
            rule = [] if language == "c++-cpp-output" else ["-MMD", "-MF", str(needs)]
            command = [*cache, compiler, *shared, *options, *rule, "-x", language, "-c", view.named(source), "-o", str(made)]
            _run(command, view.root, CCACHE_NOHASHDIR="1")
            known.write_text(state())
            return made

        with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
            made = list(pool.map(one, range(len(files))))
        fresh = output.with_name(output.name + ".new")
        made = made[len(made) - len(own) :] + made[: len(made) - len(own)]  # variables of the emulator are there before those of the program
        # -Bsymbolic: the CUDA runtime of this library is its own emulator, whatever else the process has loaded.
        kind = ["-rdynamic"] if program else ["-shared", "-Wl,-Bsymbolic"]
        _run([compiler, *kind, *map(str, made), *host, "-ldl", "-o", str(fresh)])
        fresh.replace(output)
        record.write_text(digest)
    return output


class _View:
    """Files and folders as they are seen from the folder that holds them all. Compilers run there: the text that they are given, and what ccache
    keeps of it, is then the same in another checkout."""

    def __init__(self, cuda: Path, include_dirs: list[Path], files: list[Path]) -> None:
        self._searched = [("-isystem", cuda), ("-isystem", cuda / "cccl"), *(("-I", folder) for folder in include_dirs)]
        self.root = os.path.commonpath([cuda, *include_dirs, *(file.absolute() for file in files)])
        self.options = [] if self.root == os.sep else [f"-ffile-prefix-map={self.root}=."]

    def named(self, path: Path) -> str:
        return str(path.absolute()) if self.root == os.sep else os.path.relpath(path, self.root)

    def folders(self, name: Callable[[Path], str] | None = None) -> list[str]:
        """The options that name folders of headers; `name` says each in another way."""
        return [word for option, folder in self._searched for word in (option, (name or self.named)(folder))]


def _prerequisites(rule: Path) -> list[str]:
    """The files that a compiler's `-MMD` has named."""
    if not rule.exists():
        return []
    names = re.findall(r"(?:\\ |[^\s\\])+", rule.read_text().partition(": ")[2])
    return [name.replace("\\ ", " ") for name in names]


@functools.cache
def _version_of(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


def _digest(compiler: str, mode: str, options: list[str], files: list[Path]) -> str:
    """Of text and options, wherever the files lie: several environments of a checkout share one library."""
    state = hashlib.sha256("\0".join([_version_of(compiler), mode, *_KERNELS[mode], *_HOST[mode], *options]).encode())
    for path in files:
        state.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return state.hexdigest()


def _translated(command: list[str], folder: str) -> str:
    try:
        return translate(_run(command, folder))
    except ValueError as error:
        raise RuntimeError(f"wherry_cuda_emulator.compile: {error}") from None


def _run(command: list[str], folder: str | None = None, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(f"wherry_cuda_emulator.compile: the compiler refused.\n{' '.join(command)}\n{done.stderr}")
    return done.stdout
