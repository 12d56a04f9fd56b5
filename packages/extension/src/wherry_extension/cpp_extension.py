"""`paddle.utils.cpp_extension`: operators in C++, compiled and loaded.

A library is built in a folder of its own: objects, the library, and a module of functions. What was compiled is compiled again when the
content of a file that it includes, the compiler or its flags have changed; the times of files say nothing. A lock lets one process build.
"""
from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import TYPE_CHECKING, Any

import wherry_extension
from wherry_extension.operators import load_op_meta_info_and_register_op, module_text
from wherry_tensor.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    PreconditionNotMetError,
    UnimplementedError,
    short,
)
from wherry_tensor.explained import explained

if TYPE_CHECKING:
    from setuptools import Extension

__all__ = [
    "BuildExtension",  # noqa: F822  made when it is asked for
    "CUDAExtension",
    "CppExtension",
    "get_build_directory",
    "load",
    "load_op_meta_info_and_register_op",
    "setup",
]

_SUFFIX = {"win32": ".pyd", "darwin": ".dylib"}.get(sys.platform, ".so")
_OLDEST_GCC = (7,)  # that supports C++17
_LONGEST_NAME = 200  # bytes: a file name has 255, and "_setup.py" or a digest comes after it
_TAKEN = {"numpy", "paddle", "wherry", "setuptools"}  # beside the standard library


def get_build_directory(verbose: bool = False) -> str:
    """The folder below which `load` builds: that of the environment variable PADDLE_EXTENSION_DIR, or one in the user's cache.

    Args:
        verbose: print it.

    Returns:
        An absolute path; the folder exists.

    Source:
        `paddle.utils.cpp_extension.get_build_directory`.

    Examples:
        >>> import os
        >>> os.path.isdir(wherry.utils.cpp_extension.get_build_directory())
        True
    """
    root = os.environ.get("PADDLE_EXTENSION_DIR") or os.path.join(os.path.expanduser("~"), ".cache", "paddle_extensions")
    root = os.path.abspath(root)
    os.makedirs(root, exist_ok=True)
    if verbose:
        print(f"The build directory is {root}", file=sys.stderr)
    return root


def load(
    name: str,
    sources: Sequence[str],
    extra_cxx_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    extra_library_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Compile operators in C++, load them, and return a module with a function for each.

    Sources that have not changed are not compiled again.

    Args:
        name: of the library and the module; none of the standard library's.
        sources: files in C++ (.cc, .cpp, .cxx, .c) and CUDA (.cu).
        extra_cxx_cflags: more flags for the C++ compiler.
        extra_cuda_cflags: more flags for nvcc.
        extra_ldflags: more flags for the linker.
        extra_include_paths: folders of headers.
        extra_library_paths: folders of libraries.
        build_directory: the folder to build below; None takes that of `get_build_directory`.
        verbose: print what is done.

    Returns:
        The module. Its functions take tensors, then attributes, in the order of the operator's declaration.

    Raises:
        RuntimeError: there is no compiler, or a source does not compile; the text names file and line.
        ValueError: there is no such file, the name is that of a module of Python's, or an operator is not built as it has to be.

    Source:
        `paddle.utils.cpp_extension.load`.

    Examples:
        >>> wherry.utils.cpp_extension.load("operators", ["no_such_file.cc"])
        Traceback (most recent call last):
        wherry_tensor.errors.InvalidArgumentError: (InvalidArgument) load: there is no such file. ...
    """
    _require_processes("load")
    _checked_name(name)
    files = _checked_sources("load", sources)
    root = os.path.abspath(build_directory) if build_directory else get_build_directory(verbose)
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    with _locked(os.path.join(folder, ".lock")):
        with open(os.path.join(root, f"{name}_setup.py"), "w", encoding="utf-8") as out:
            out.write(_setup_text(name, files))
        build = _Build(name, files, folder, extra_cxx_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, extra_library_paths, verbose)
        build.run()
        return _module(name, os.path.join(folder, f"{name}.py"))


def _module(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _setup_text(name: str, files: list[str]) -> str:
    kind = "CUDAExtension" if any(file.endswith(".cu") for file in files) else "CppExtension"
    return (
        f'"""Builds and installs {name}, as load did: python {name}_setup.py install"""\n'
        f"from wherry_extension.cpp_extension import {kind}, setup\n\n"
        f"setup(name={name!r}, ext_modules={kind}(sources={files!r}))\n"
    )


def _require_processes(what: str) -> None:
    if sys.platform in ("emscripten", "wasi"):
        raise UnimplementedError(
            f"{what}: there is no compiler in a browser. Got an operator in C++, expected a machine that runs one. "
            f"Write the operator in Python with paddle.autograd.PyLayer."
        )


def _checked_name(name: Any) -> None:
    """Before a folder of that name is made: the module takes its place in `sys.modules`."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidArgumentError(f"load: the name of a library is the name of a module. Got {short(name)}, expected letters, digits and _.")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        raise InvalidArgumentError(
            f"load: files are called after the library. Got a name of {len(name)} letters, expected {_LONGEST_NAME} bytes or fewer."
        )
    if name.startswith("__") or name in sys.stdlib_module_names or name in _TAKEN:
        raise InvalidArgumentError(
            f"load: a library called {name} would take the place of the module {name} that Python or this library has. Got name={name!r}, "
            f"expected a name of its own. Write load(name={name.strip('_') + '_ops'!r}, ...)."
        )


def _checked_sources(what: str, sources: Any) -> list[str]:
    if not isinstance(sources, (list, tuple)) or not sources or not all(isinstance(file, (str, os.PathLike)) for file in sources):
        raise InvalidTypeError(f"{what}: sources are a list of files. Got {sources!r}, expected one path or more in a list.")
    found = [os.path.abspath(os.fspath(file)) for file in sources]
    for file in found:
        if not os.path.isfile(file):
            raise InvalidArgumentError(f"{what}: there is no such file. Got {file}, expected the path of a source.")
        if os.path.splitext(file)[1] not in (".cc", ".cpp", ".cxx", ".c", ".cu"):
            raise InvalidArgumentError(f"{what}: this is not a source. Got {file}, expected .cc, .cpp, .cxx, .c or .cu.")
    return found


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """A lock: one process at a time, the others wait."""
    with open(path, "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


class _Build:
    """One library in one folder."""

    def __init__(
        self, name: str, files: list[str], folder: str, cxx: Any = None, cuda: Any = None, link: Any = None, includes: Any = None,
        libraries: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.files, self.folder, self.verbose = name, files, folder, verbose
        self.cuda = any(file.endswith(".cu") for file in files)
        self.compiler = _compiler()
        self.nvcc = _nvcc(self.files) if self.cuda else None
        defines = ["-DPADDLE_WITH_CUDA"] if self.cuda else []
        places = [f"-I{path}" for path in (wherry_extension.get_include(), *(includes or ()))]
        if self.nvcc:
            places.append(f"-I{os.path.join(os.path.dirname(os.path.dirname(self.nvcc)), 'include')}")
        lean = ["-fvisibility-inlines-hidden", "-fno-plt"] if sys.platform == "linux" else []  # calls are short: they matter
        # -O3 vectorizes the loops of kernels, and takes 5 % off the time of a small call.
        self.flags = ["-std=c++17", "-O3", "-fPIC", *lean, *defines, *places, *(cxx or ())]
        self.cuda_flags = ["-std=c++17", "-O2", "-Xcompiler", "-fPIC", *defines, *places, *(cuda or ())]
        self.link = ["-shared", *(f"-L{path}" for path in libraries or ()), *(link or ())]
        if self.nvcc:
            self.link += [f"-L{os.path.join(os.path.dirname(os.path.dirname(self.nvcc)), 'lib64')}", "-lcudart"]
        self.library = os.path.join(folder, f"{name}_pd_{_SUFFIX}")

    def say(self, text: str) -> None:
        if self.verbose:
            print(text, file=sys.stderr)

    def object_of(self, file: str) -> str:
        stem, suffix = os.path.splitext(os.path.basename(file))
        same = [other for other in self.files if other != file and os.path.basename(other) == os.path.basename(file)]
        if same:  # of another folder
            stem += "_" + hashlib.sha256(os.path.dirname(file).encode()).hexdigest()[:8]
        return os.path.join(self.folder, stem + (".cu.o" if suffix == ".cu" else ".o"))

    def command(self, file: str) -> list[str]:
        into = self.object_of(file)
        if file.endswith(".cu"):
            assert self.nvcc is not None
            return [self.nvcc, *self.cuda_flags, "-MD", "-MF", into + ".d", "-c", file, "-o", into]
        return [*self.compiler, *self.flags, "-MD", "-MF", into + ".d", "-c", file, "-o", into]

    def run(self) -> None:
        """Build the library and its module if they are out of date."""
        manifest = os.path.join(self.folder, "manifest.json")
        before = _read_manifest(manifest)
        commands = {file: self.command(file) for file in self.files}
        version = _version_of(self.compiler)
        link = [*self.compiler, *(self.object_of(file) for file in self.files), *self.link, "-o", self.library]
        stale = []
        for file in self.files:
            told = before.get("objects", {}).get(file, {})
            fresh = (
                told.get("command") == [version, *commands[file]]
                and os.path.isfile(self.object_of(file))
                and told.get("files")
                and all(_digest(path) == digest for path, digest in told["files"].items())
            )
            if not fresh:
                stale.append(file)
        module = os.path.join(self.folder, f"{self.name}.py")
        if not stale and before.get("link") == link and before.get("library") == _digest(self.library) and os.path.isfile(module):
            self.say(f"{self.name}: nothing has changed, {self.library} is used as it is")
            return
        self.say(f"{self.name}: compiling {', '.join(map(os.path.basename, stale)) or 'nothing'}")
        with contextlib.suppress(FileNotFoundError):
            os.remove(manifest)
        for file in stale:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.object_of(file))
        self._compile({file: commands[file] for file in stale})
        # A loaded library keeps its file: the new one replaces it atomically.
        made = self.library + ".new"
        self._finish([self._do([*link[:-1], made])])
        os.replace(made, self.library)
        objects = {}
        for file in self.files:
            told = _dependencies(self.object_of(file) + ".d") or [file]
            places = (os.path.join(self.folder, path) for path in told)  # ccache makes them relative to where the compiler ran
            objects[file] = {"command": [version, *commands[file]], "files": {path: _digest(path) for path in places}}
        names = load_op_meta_info_and_register_op(self.library)
        if not names:
            raise InvalidArgumentError(
                f"{self.name}: the sources build no operator. Got {', '.join(self.files)}, expected PD_BUILD_OP in one of them."
            )
        with open(module, "w", encoding="utf-8") as out:
            out.write(module_text(self.name, os.path.basename(self.library), names))
        with open(os.path.join(self.folder, "version.txt"), "w", encoding="utf-8") as out:
            out.write(f"wherry-extension {wherry_extension.__version__}\ncompiler {version}\n")
        with open(manifest, "w", encoding="utf-8") as out:
            json.dump({"objects": objects, "link": link, "library": _digest(self.library)}, out)

    def _compile(self, commands: dict[str, list[str]]) -> None:
        if not commands:
            return
        ninja = shutil.which("ninja")
        if ninja is None or len(commands) == 1 or os.name == "nt":  # one file needs no thread
            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                self._finish(list(pool.map(self._do, commands.values())))
            return
        lines = ["ninja_required_version = 1.3", "rule compile", "  command = $line"]
        for file, command in commands.items():
            lines += [f"build {_ninja(self.object_of(file))}: compile {_ninja(file)}", f"  line = {shlex.join(command).replace('$', '$$')}"]
        path = os.path.join(self.folder, "build.ninja")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        self._finish([self._do([ninja, "-k", "0", "-f", path])])

    def _do(self, command: list[str]) -> tuple[list[str], int, str]:
        self.say(shlex.join(command))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, cwd=self.folder)
        return command, done.returncode, done.stdout.decode("utf-8", "replace")

    def _finish(self, results: list[tuple[list[str], int, str]]) -> None:
        output = "\n".join(text for _command, _code, text in results)
        if self.verbose and output:
            self.say(output)
        if all(code == 0 for _command, code, _text in results):
            return
        log = os.path.join(self.folder, "build.log")
        with open(log, "w", encoding="utf-8") as out:
            out.write("\n".join(f"{shlex.join(command)}\n{text}" for command, _code, text in results))
        raise PreconditionNotMetError(f"{self.name}: it does not compile.\n{_errors_of(output, self.files)}\nAll that the compiler said is in {log}")


def _ninja(path: str) -> str:
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _errors_of(output: str, files: list[str]) -> str:
    """The errors among what a compiler says, each with the line of the user's file that led to it."""
    lines = output.splitlines()
    names = {os.path.basename(file) for file in files}
    found: list[str] = []
    for i, line in enumerate(lines):
        matched = re.match(r"(.+?)[:(](\d+)[:,)](?:(\d+):?)? (?:fatal )?error:? ?(.*)", line.replace(": error", " error"))
        if matched is None:
            if "undefined reference" in line or "error:" in line or "cannot find" in line:
                found.append(line.strip())
            continue
        path, number, _column, text = matched.groups()
        if os.path.basename(path) in names:
            shown = lines[i + 1].split("|", 1)[-1].strip() if i + 1 < len(lines) and "|" in lines[i + 1] else ""
            found.append(f"{path}:{number}: {text}" + (f"\n    {shown}" if shown else ""))
            continue
        # In a header: what in the user's file asked for it comes after, or stood before.
        around = [*lines[i + 1 : i + 12], *reversed(lines[max(0, i - 12) : i])]
        hits = (re.match(r"\s*(?:from |In .*from )?(.+?):(\d+)", near) for near in around)
        origin = next((hit for hit in hits if hit and os.path.basename(hit[1]) in names), None)
        where = f"{origin[1]}:{origin[2]}" if origin else path
        found.append(f"{where}: {text}\n    in {path}:{number}")
    return "\n".join(dict.fromkeys(found[:8])) or output[-2000:].strip()


def _read_manifest(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _dependencies(path: str) -> list[str]:
    """The files that a file of make rules names, without those of the system."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return []
    words = re.findall(r"(?:\\.|[^\s\\])+", text.partition(":")[2].replace("\\\n", " "))
    return [word.replace("\\ ", " ") for word in words if not word.startswith("/usr/")]


def _compiler() -> list[str]:
    """The C++ compiler, with what CXX says after or before it (`g++ -m64`, `ccache g++`), or the system's."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        first, *others = shlex.split(name or "") or [""]
        found = shutil.which(first)
        if found:
            _warn_of_age([found, *others])
            return [found, *others]
    raise PreconditionNotMetError(
        "cpp_extension: there is no C++ compiler. Got none of $CXX, c++, g++ and clang++, expected one on the path. "
        "Install one (apt install g++, xcode-select --install), or set CXX."
    )


def _nvcc(files: list[str]) -> str:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    found = shutil.which(os.path.join(home, "bin", "nvcc")) or shutil.which("nvcc")
    if found is None:
        sources = ", ".join(file for file in files if file.endswith(".cu"))
        raise PreconditionNotMetError(
            f"cpp_extension: sources in CUDA need nvcc, the compiler of the CUDA toolkit. Got {sources} and no nvcc, expected it on the path "
            f"or below CUDA_HOME. Install the toolkit, or build the sources for the cpu alone with CppExtension."
        )
    return os.path.realpath(found)


_versions: dict[tuple[str, ...], str] = {}


def _version_of(compiler: list[str]) -> str:
    key = tuple(compiler)
    if key not in _versions:
        done = subprocess.run([*compiler, "--version"], capture_output=True, check=False)
        _versions[key] = done.stdout.decode("utf-8", "replace").splitlines()[0] if done.stdout else "unknown"
    return _versions[key]


def _warn_of_age(compiler: list[str]) -> None:
    text = _version_of(compiler)
    matched = re.search(r"(\d+)\.\d+", text)
    if matched and "clang" not in text and (int(matched[1]),) < _OLDEST_GCC:
        warnings.warn(
            f"cpp_extension: the compiler is older than what operators were tested with. Got {text}, expected GCC {_OLDEST_GCC[0]} or newer.",
            stacklevel=4,
        )


# With setuptools.


def CppExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:  # noqa: N802  Paddle's name
    """Sources of operators for the cpu, for `setup`.

    Args:
        sources: files in C++.
        args: as of `setuptools.Extension`.
        kwargs: as of `setuptools.Extension`: include_dirs, library_dirs, libraries, extra_compile_args, extra_link_args.

    Returns:
        An extension; it has the name that `setup` is given.

    Raises:
        TypeError: `sources` is not a list.

    Source:
        `paddle.utils.cpp_extension.CppExtension`.

    Examples:
        >>> from wherry.utils.cpp_extension import CppExtension, setup
        >>> extension = CppExtension(["operators.cc"], extra_compile_args=["-O3"])
        >>> extension.sources
        ['operators.cc']
    """
    return _extension("CppExtension", sources, args, kwargs)


def CUDAExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:  # noqa: N802  Paddle's name
    """Sources of operators for the cpu and NVIDIA's GPUs, for `setup`.

    Args:
        sources: files in C++ and CUDA.
        args: as of `setuptools.Extension`.
        kwargs: as of `setuptools.Extension`; `extra_compile_args` may be a dict with the flags of "cxx" and "nvcc".

    Returns:
        An extension; it has the name that `setup` is given.

    Raises:
        TypeError: `sources` is not a list.

    Source:
        `paddle.utils.cpp_extension.CUDAExtension`.

    Examples:
        >>> from wherry.utils.cpp_extension import CUDAExtension
        >>> CUDAExtension(["operators.cc", "operators.cu"]).sources
        ['operators.cc', 'operators.cu']
    """
    return _extension("CUDAExtension", sources, args, kwargs)


def _extension(what: str, sources: Any, args: Any, kwargs: dict[str, Any]) -> Extension:
    _require_processes(what)
    from setuptools import Extension

    files = [os.fspath(file) for file in sources]
    if what == "CppExtension" and any(file.endswith(".cu") for file in files):
        raise InvalidArgumentError(f"CppExtension: sources in CUDA need nvcc. Got {files}, expected files in C++. Use CUDAExtension.")
    flags = kwargs.pop("extra_compile_args", None)
    name = kwargs.pop("name", "wherry_extension_without_a_name")
    made = Extension(name, files, *args, language="c++", **kwargs)
    made.extra_compile_args = flags or []
    return made


def setup(**attr: Any) -> Any:
    """Build and install operators: `setuptools.setup` for one library of operators.

    Args:
        attr: as of `setuptools.setup`; `name` is that of the library and of the module to import, `ext_modules` what CppExtension or
            CUDAExtension gives.

    Returns:
        What `setuptools.setup` gives.

    Raises:
        ValueError: there is no `name`.
        TypeError: `ext_modules` is not what CppExtension or CUDAExtension returns (also a ValueError).

    Source:
        `paddle.utils.cpp_extension.setup`.
    """
    _require_processes("setup")
    import setuptools

    extensions = attr.get("ext_modules")
    extensions = extensions if isinstance(extensions, (list, tuple)) else [extensions]
    name = attr.get("name")
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidArgumentError(f"setup: it needs the name of a module. Got name={name!r}, expected letters, digits and _.")
    if len(extensions) != 1 or not isinstance(extensions[0], setuptools.Extension):
        raise InvalidTypeError(
            f"setup: it builds one library. Got ext_modules={attr.get('ext_modules')!r}, expected what CppExtension or CUDAExtension gives, "
            f"with the sources of all operators."
        )
    extensions[0].name = name
    attr["ext_modules"] = list(extensions)
    attr.setdefault("cmdclass", {}).setdefault("build_ext", __getattr__("BuildExtension"))
    attr.setdefault("py_modules", [])
    attr.setdefault("packages", [])
    attr.setdefault("zip_safe", False)
    return setuptools.setup(**attr)


def __getattr__(name: str) -> Any:
    if name != "BuildExtension":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()["BuildExtension"] = _build_extension()
    return found


def _build_extension() -> Any:
    """The command, made when it is asked for: setuptools is not always installed."""
    _require_processes("BuildExtension")
    from setuptools.command.build_ext import build_ext

    class BuildExtension(build_ext):
        """The command `build_ext` of `setup`: compiles operators and writes the module of their functions.

        Source:
            `paddle.utils.cpp_extension.BuildExtension`.
        """

        @classmethod
        def with_options(cls, **options: Any) -> Any:
            """The command with options that are set beforehand."""

            class Chosen(cls):  # type: ignore[misc, valid-type]
                def __init__(self, *args: Any, **kwargs: Any) -> None:
                    kwargs.update(options)
                    super().__init__(*args, **kwargs)

            return Chosen

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            for option in ("no_python_abi_suffix", "output_dir"):
                kwargs.pop(option, None)
            super().__init__(*args, **kwargs)

        def build_extension(self, ext: Any) -> None:
            print("Compiling user custom op, it will cost a few seconds.....")
            into = os.path.abspath("." if self.inplace else self.build_lib)
            flags = ext.extra_compile_args
            cxx, nvcc = (flags.get("cxx", []), flags.get("nvcc", [])) if isinstance(flags, dict) else (flags, [])
            defines = [f"-D{key}" if value is None else f"-D{key}={value}" for key, value in ext.define_macros]
            link = [*(ext.extra_link_args or ()), *(f"-l{library}" for library in ext.libraries or ())]
            folder = os.path.join(os.path.abspath(self.build_temp), ext.name)
            os.makedirs(folder, exist_ok=True)
            os.makedirs(into, exist_ok=True)
            files = _checked_sources("setup", ext.sources)
            build = _Build(ext.name, files, folder, [*defines, *cxx], [*defines, *nvcc], link, ext.include_dirs, ext.library_dirs)
            build.run()
            for file in (os.path.basename(build.library), f"{ext.name}.py", "version.txt"):
                shutil.copy2(os.path.join(folder, file), os.path.join(into, file))

        def get_ext_filename(self, fullname: str) -> str:
            return f"{fullname.replace('.', os.sep)}_pd_{_SUFFIX}"

        def get_outputs(self) -> list[str]:
            return [
                os.path.join(self.build_lib, file)
                for ext in self.extensions
                for file in (f"{ext.name}_pd_{_SUFFIX}", f"{ext.name}.py", "version.txt")
            ]

        def copy_extensions_to_source(self) -> None:
            """Does nothing: extensions are built in place."""

    return BuildExtension


explained(globals())
