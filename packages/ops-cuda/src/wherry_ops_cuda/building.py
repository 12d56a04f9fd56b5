"""Building the library of kernels: for GPUs with nvcc, or for the emulator with g++.

The package brings the sources. `python -m wherry_ops_cuda build` compiles them once per machine; tests compile them for the
emulator.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import wherry_cuda_emulator
from wherry_ops_cuda._version import __version__
from wherry_tensor import get_include  # type: ignore[attr-defined]  # stubs list what users call

__all__ = [
    "ARCHITECTURES", "Registers", "architectures_for", "build_for_emulator", "build_for_gpus", "check_sources", "default_path", "kernel_names",
    "nvcc", "sources",
]

_CSRC = Path(__file__).parent / "csrc"
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
_OPTIONS = ("-std=c++17", "--expt-relaxed-constexpr")  # of nvcc
_NAMES = {"turing": (75,), "ampere": (80, 86), "ada": (89,), "hopper": (90,), "blackwell": (100, 120), "all": ARCHITECTURES}
Registers = dict[str, int]
# Sines and cosines of CUDA's library keep an array in local memory for huge arguments.
_LOCAL_MEMORY = ("complex", "elementwise", "random")


def sources() -> list[Path]:
    """The files to compile: kernels (`.cu`), and the host's part (`.cc`)."""
    return sorted([*_CSRC.glob("*.cu"), *_CSRC.glob("*.cc")])


def default_path() -> Path:
    """Where `build` puts the library and `set_device('gpu')` finds it: $WHERRY_CUDA_LIBRARY, or a folder of the user's cache."""
    named = os.environ.get("WHERRY_CUDA_LIBRARY")
    if named:
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "wherry" / f"cuda-{__version__}" / "libwherry_cuda.so"


def build_for_emulator(output: str | os.PathLike[str], mode: str = "checked", jobs: int | None = None, few_dtypes: bool = False) -> Path:
    """Compile the kernels for the emulator.

    Args:
        output: the library.
        mode: "fast", or "checked", in which every access is looked at.
        jobs: how many compilers run at once; None is one for each processor.
        few_dtypes: leave out dtypes that are computed as another one is (bfloat16 as float16, int8 to int32 as int64), for quick turns.

    Returns:
        The library's absolute path.

    Raises:
        FileNotFoundError, RuntimeError, ValueError: as `wherry_cuda_emulator.compile`.
    """
    define = {"WHERRY_CUDA_EMULATED": 1, **({"WRY_FEW_DTYPES": 1} if few_dtypes else {})}
    return wherry_cuda_emulator.compile(
        sources(), output, mode=mode, include_dirs=[_CSRC, get_include()], define=define, jobs=jobs
    )


def nvcc() -> str:
    """NVIDIA's compiler: that of $CUDA_HOME, on the path, or of the wheel nvidia-cuda-nvcc.

    Raises:
        FileNotFoundError: there is none of these.
    """
    import importlib.util

    places = [shutil.which("nvcc", path=str(Path(os.environ["CUDA_HOME"]) / "bin"))] if "CUDA_HOME" in os.environ else []
    places.append(shutil.which("nvcc"))
    wheels = importlib.util.find_spec("nvidia")
    for root in (wheels.submodule_search_locations or []) if wheels else []:
        places += [str(found) for found in sorted(Path(root).glob("cu*/bin/nvcc"), reverse=True)]
    for found in places:
        if found:
            return found
    raise FileNotFoundError(
        "wherry_ops_cuda: nvcc was not found. Looked in CUDA_HOME, on PATH and among the installed wheels, expected CUDA 13. "
        "pip install 'nvidia-cuda-nvcc>=13,<14', or install the CUDA toolkit."
    )


def architectures_for(text: str | None = None) -> tuple[int, ...]:
    """The compute capabilities that a text names.

    Args:
        text: numbers such as "80 90", "8.0;9.0" or "90-real"; "turing", "ampere", "ada", "hopper", "blackwell"; "all" of them; "auto" (or
            "native"), those of the GPUs of this machine. None takes the environment's CUDA_ARCH_NAME, else its CMAKE_CUDA_ARCHITECTURES, else all.

    Returns:
        Capabilities as 90 for 9.0, sorted.

    Raises:
        ValueError: a part of the text is none of these.
        FileNotFoundError: "auto", and there is no nvidia-smi to ask, or no GPU.
    """
    if text is None:
        text = os.environ.get("CUDA_ARCH_NAME") or os.environ.get("CMAKE_CUDA_ARCHITECTURES") or "all"
    found: set[int] = set()
    for part in re.split(r"[\s;,]+", text.strip().lower()):
        number = re.fullmatch(r"(?:sm_)?(\d+)\.?(\d)[a-z]?(?:-real|-virtual)?", part)
        if part in _NAMES:
            found.update(_NAMES[part])
        elif part in ("auto", "native"):
            found.update(_of_this_machine())
        elif number:
            found.add(int(number[1] + number[2]))
        else:
            raise ValueError(
                f"wherry_ops_cuda: unknown architecture. Got {part!r} in {text!r}, expected numbers such as 90, {', '.join(_NAMES)}, or auto."
            )
    return tuple(sorted(found))


def _of_this_machine() -> set[int]:
    tool = shutil.which("nvidia-smi")
    said = subprocess.run([tool, "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True).stdout if tool else ""
    found = {int(major + minor) for major, minor in re.findall(r"^(\d+)\.(\d)\s*$", said, re.MULTILINE)}
    if not found:
        raise FileNotFoundError(
            f"wherry_ops_cuda: no GPU was found, so there is no architecture to take from it. Looked with "
            f"{tool or 'nvidia-smi, which is not on PATH'}, expected one. Name the architectures, as in --architectures 90."
        )
    return found


def build_for_gpus(
    output: str | os.PathLike[str], architectures: Iterable[int] = ARCHITECTURES, jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None, strict: bool = True,
) -> Registers:
    """Compile the kernels for GPUs.

    Args:
        output: the library.
        architectures: compute capabilities as 90 for 9.0; the last of them is put in as PTX too, for later GPUs.
        jobs: how many compilers run at once; None is one for each processor.
        folder: for object files; None is beside the library.
        strict: whether a kernel that spills registers or keeps an array in local memory is an error: each is a bug of speed that nothing else shows.
            (Arrays of CUDA's own functions, in the families that call sines, are let through.) Another nvcc may decide otherwise for a kernel.

    Returns:
        For each kernel, by family and name (`kernel_names`), the registers that a thread takes on the architecture that takes most.

    Raises:
        FileNotFoundError: there is no nvcc.
        RuntimeError: the compiler refused the sources; the text is its own.
    """
    output = Path(output).absolute()
    objects = Path(folder) if folder else output.with_suffix(".objects")
    objects.mkdir(parents=True, exist_ok=True)
    compiler, chosen = nvcc(), sorted(set(architectures))
    codes = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in chosen] + [f"-gencode=arch=compute_{chosen[-1]},code=compute_{chosen[-1]}"]
    shared = [compiler, *_OPTIONS, "-O3", "-Xcompiler", "-fPIC,-fvisibility=hidden", "--compress-mode=size", *codes, *_headers()]

    def one(source: Path) -> tuple[Path, str]:
        made = objects / f"{source.stem}.o"
        warnings = "-v" + (",-warn-spills,-Werror" if strict else "") + (",-warn-lmem-usage" if strict and source.stem not in _LOCAL_MEMORY else "")
        gate = ["-Xptxas", warnings] if source.suffix == ".cu" else []
        return made, _run([*_cache(), *shared, *gate, "-c", str(source), "-o", str(made)])

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        made = list(pool.map(one, sources()))
    fresh = output.with_suffix(".new")
    _run([compiler, "-shared", "-cudart", "static", *(str(path) for path, _ in made), "-o", str(fresh)])
    fresh.replace(output)
    registers: Registers = {}
    for path, said in made:
        kernels = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.DOTALL)
        for name, (_, count) in zip(kernel_names([symbol for symbol, _ in kernels]), kernels):
            registers[f"{path.stem}: {name}"] = max(int(count), registers.get(f"{path.stem}: {name}", 0))
    return dict(sorted(registers.items()))


def check_sources(architecture: int = 90, jobs: int | None = None) -> int:
    """Whether nvcc takes the kernels: objects with their PTX for one architecture, not optimized, which are thrown away. A tenth of the time of
    `build_for_gpus`.

    Args:
        architecture: a compute capability as 90 for 9.0.
        jobs: how many compilers run at once; None is one for each processor.

    Returns:
        How many files were compiled.

    Raises:
        FileNotFoundError, RuntimeError: as `build_for_gpus`.
    """
    code = f"-gencode=arch=compute_{architecture},code=compute_{architecture}"
    command = [*_cache(), nvcc(), *_OPTIONS, "-G", code, *_headers()]  # objects, not PTX alone: those ccache keeps
    kernels = [source for source in sources() if source.suffix == ".cu"]
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return len(list(pool.map(lambda source: _run([*command, "-c", str(source), "-o", f"{folder}/{source.stem}.o"]), kernels)))


def _cache() -> list[str]:
    """ccache, where it is there; it keeps what ptxas says, too."""
    return [found] if (found := shutil.which("ccache")) else []


def _headers() -> list[str]:
    return [f"-I{folder}" for folder in (_CSRC, wherry_cuda_emulator.include(), get_include())]


def kernel_names(symbols: Sequence[str]) -> list[str]:
    """Names of kernels as a program writes them, from the symbols of nvcc or g++: the same for both, and from build to build.

    Raises:
        FileNotFoundError: there is no c++filt, which comes with g++.
    """
    plain = [_unnamed(symbol) for symbol in symbols]
    if shutil.which("c++filt") is None:
        raise FileNotFoundError("wherry_ops_cuda: c++filt was not found. Looked on PATH, expected that of g++ (binutils). Install g++.")
    said = subprocess.run(["c++filt"], input="\n".join(plain), capture_output=True, text=True, check=True).stdout.splitlines()
    return [plain_name(text) for text in said]


def _unnamed(symbol: str) -> str:
    """nvcc calls an unnamed namespace by the file and a number that depends on its path; g++ calls all of them alike. The length stands before."""
    at = 0
    while found := re.compile(r"(\d+)_GLOBAL__N__").search(symbol, at):
        symbol = f"{symbol[: found.start()]}12_GLOBAL__N_1{symbol[found.end(1) + int(found[1]) :]}"
        at = found.start() + len("12_GLOBAL__N_1")
    return symbol


def plain_name(demangled: str) -> str:
    """A demangled name without result, parameters and namespaces of ours."""
    text = re.sub(r"\(anonymous namespace\)::|wherry::cuda::", "", demangled).removeprefix("void ")
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return text[:at]
    return text


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"wherry_ops_cuda: the compiler refused.\n{' '.join(command)}\n{done.stderr}{done.stdout}")
    return done.stderr + done.stdout
