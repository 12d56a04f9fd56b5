"""Builds the engine of web exports: the kernels and what calls them, as one WebAssembly module without Python. `make engine`.

    python tools/wasm/engine.py            into packages/export/src/wherry_export/web/engine/

Two files come out. `engine.wasm` holds all kernels; `engine.json` says which rows they have (op, dtype, flags, place in the table of functions)
and which function and which data needs which other, as the linker saw it. With that `wherry_export.web` leaves out of each bundle what
its program does not need, without a compiler. The compiler is that of the wheels for the browser (see build.py); Node reads the tables.
"""
from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "packages" / "export" / "src" / "wherry_export" / "web")]

import build  # noqa: E402

import wasm  # noqa: E402  of the package, found by its folder: the package itself need not be installed

ROOT = build.ROOT
KERNELS = ROOT / "packages" / "ops-cpu"
SOURCE = ROOT / "packages" / "export" / "engine"
TARGET = ROOT / "packages" / "export" / "src" / "wherry_export" / "web" / "engine"
WORK = ROOT / "build" / "wasm" / "engine"
INCLUDE = ROOT / "packages" / "tensor" / "src" / "wherry_tensor" / "include"

# What a prediction never calls: updates of parameters.
LEFT_OUT = {"optimizer", "runtime"}
COMMON = ["-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-fno-exceptions", "-fno-rtti", "-mbulk-memory",
          f"-ffile-prefix-map={ROOT}=", f"-I{KERNELS / 'csrc'}", f"-I{INCLUDE}"]
KERNEL_OPTIONS = ["-std=gnu++17", "-fno-threadsafe-statics", "-fno-math-errno", "-fno-trapping-math", "-msimd128",
                  "-DWRY_RARE_DTYPES=1", "-w", "-include", str(SOURCE / "pool.h")]
EXPORTS = ("wherry_context", "wherry_error", "wherry_run", "wherry_take", "wherry_give", "wherry_work", "wherry_trapped", "wherry_stack",
           "__wasm_call_ctors")
RELAXED = "-mrelaxed-simd"
OF_RELAXED = "3cpu7relaxed"  # in the name of each function that may hold such an instruction: its namespace
MOST_MEMORY = 1 << 32  # bytes that the module may have; the page may give less
STACK = 1 << 20


def main() -> None:
    started = time.monotonic()
    sources = digest_of_sources()
    if made_from() == sources:
        print("engine: nothing has changed")
        return
    environment = build.emscripten()
    ccache = shutil.which("ccache")
    if ccache:  # finds again what another clone has compiled
        environment = {"EM_COMPILER_WRAPPER": ccache, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", **environment}
    WORK.mkdir(parents=True, exist_ok=True)
    linked = link(environment, compiled(environment))
    module, facts = taken_apart(linked)
    facts["sources"] = sources
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, content in ("engine.wasm", module), ("engine.json", json.dumps(facts, separators=(",", ":")).encode()):
        (TARGET / f"{name}.new").write_bytes(content)
        os.replace(TARGET / f"{name}.new", TARGET / name)
    print(f"engine: {len(facts['rows'])} kernels, {len(module) / 1e6:.2f} MB, {time.monotonic() - started:.0f} s")


def digest_of_sources() -> str:
    """Of everything that goes into the engine."""
    digest = hashlib.sha256()
    paths = (
        *KERNELS.glob("csrc/*.cc"), *KERNELS.glob("csrc/*.h"), KERNELS / "CMakeLists.txt", *SOURCE.iterdir(), *INCLUDE.rglob("*.h"),
        HERE / "engine.py", HERE / "toolchain.sh",
    )
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return f"{vocabulary()} {digest.hexdigest()}"


def made_from() -> str | None:
    """The digest of the sources of the engine that is there."""
    try:
        found: str | None = json.loads((TARGET / "engine.json").read_bytes()).get("sources")
    except (OSError, ValueError):
        return None
    return found if (TARGET / "engine.wasm").exists() else None


# Compiling.

def families() -> dict[str, list[str]]:
    """Each source of the kernels with the options that its CMake file gives it."""
    text = (KERNELS / "CMakeLists.txt").read_text()

    def listed(name: str) -> set[str]:
        return set(re.search(rf"^set\({name}\n(.*?)\)", text, re.M | re.S)[1].split())  # type: ignore[index]

    small, bitwise = listed("SMALL_ON_PAGES_FAMILIES"), listed("BITWISE_FAMILIES")
    names = listed("FAMILIES") | listed("BASELINE_ONLY_FAMILIES") | listed("SHARED_SOURCES")
    return {
        name: ["-Os" if name in small else "-O3", f"-ffp-contract={'off' if name in bitwise else 'fast'}"]
        for name in sorted(names - LEFT_OUT)
    }


def compiled(environment: dict[str, str]) -> list[Path]:
    """Object files of the kernels, their tables and the engine."""
    chosen = families()
    tables = [name for name in chosen if "WRY_TABLE(" in (KERNELS / "csrc" / f"{name}.cc").read_text()]
    names = [*(f"wry_cpu_baseline_{name}" for name in tables), "wry_cpu_baseline_int8", "wry_cpu_relaxed_int8"]
    (WORK / "tables.c").write_text("\n".join([
        '#include "tables.h"',
        *(f"const wry_kernel_entry *{name}(size_t *);" for name in names),
        f"static const wry_cpu_family families[] = {{{', '.join(names)}, 0}};",
        "const wry_cpu_family *wherry_tables(void) { return families; }",
    ]))
    work = [(KERNELS / "csrc" / f"{name}.cc", [*KERNEL_OPTIONS, "-DWRY_ISA=baseline", *options]) for name, options in chosen.items()]
    # In whole numbers: nothing may be fused, the sums of both kinds are the same.
    integers = [*KERNEL_OPTIONS, "-O3", "-ffp-contract=off"]
    work += [(SOURCE / "int8.cc", [*integers, "-DWRY_ISA=baseline"]), (SOURCE / "int8.cc", [*integers, "-DWRY_ISA=relaxed", RELAXED])]
    # The pool alone uses atomic instructions; in memory that is not shared they are allowed, and never run.
    work += [(SOURCE / name, ["-std=gnu++17", "-O2", "-Wall", "-Wextra", "-matomics"]) for name in ("engine.cc", "pool.cc")]
    work += [(WORK / "tables.c", ["-O2"])]

    def one(job: tuple[Path, list[str]]) -> Path:
        source, options = job
        out = WORK / f"{source.stem}{'-relaxed' if RELAXED in options else ''}.o"
        headers = (*(KERNELS / "csrc").glob("*.h"), *SOURCE.glob("*.h"), *INCLUDE.rglob("*.h"))
        newest = max(path.stat().st_mtime for path in (source, Path(__file__), *headers))
        if source.parent == WORK or not out.exists() or out.stat().st_mtime < newest:
            build.run(["emcc", "-c", source, "-o", out, *COMMON, *options], env=environment)
        return out

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, work))


def link(environment: dict[str, str], objects: list[Path]) -> bytes:
    """One module with its relocations: they say what needs what."""
    def asked(name: str) -> str:
        return subprocess.run(["em-config", name], env=environment, check=True, capture_output=True, text=True).stdout.strip()

    path = os.pathsep.join((asked("LLVM_ROOT"), environment["PATH"]))
    linker = shutil.which("wasm-ld-19", path=path) or shutil.which("wasm-ld", path=path)
    libraries = Path(asked("CACHE")) / "sysroot" / "lib" / "wasm32-emscripten"
    if linker is None or not (libraries / "libc.a").exists():
        if "EMSDK" in environment or linker is None:
            sys.exit(
                f"engine: the linker (wasm-ld) or Emscripten's C library ({libraries}) is not there. "
                f"Run `embuilder build MINIMAL` of your emsdk."
            )
        import numpy_wheel  # the toolchain was put together without libraries

        numpy_wheel.libraries(build.CACHE / "emscripten")
    out = WORK / "linked.wasm"
    build.run([linker, "--no-entry", "--export-table", "--emit-relocs", "--no-demangle", "--gc-sections", "--stack-first",
               "-z", f"stack-size={STACK}", "--import-memory", f"--max-memory={MOST_MEMORY}",
               *(f"--export={name}" for name in (*EXPORTS, "wherry_tables")), *objects, f"-L{libraries}",
               "-lc++-noexcept", "-lc", "-lemmalloc", "-lcompiler_rt", "-o", out])
    return out.read_bytes()


# Taking apart.

FUNCTION_INDEX_LEB, TABLE_INDEX_SLEB, TABLE_INDEX_I32, MEMORY_ADDR_LEB, MEMORY_ADDR_SLEB, MEMORY_ADDR_I32 = range(6)
TYPE_INDEX_LEB, GLOBAL_INDEX_LEB, TABLE_NUMBER_LEB = 6, 7, 20
WITH_ADDEND = {MEMORY_ADDR_LEB, MEMORY_ADDR_SLEB, MEMORY_ADDR_I32, 8, 9, 11, 14, 15, 16, 17, 21, 22, 23, 25}
SIGNED = {TABLE_INDEX_SLEB, MEMORY_ADDR_SLEB}
OF_FUNCTIONS = {FUNCTION_INDEX_LEB, TABLE_INDEX_SLEB, TABLE_INDEX_I32}
OF_DATA = {MEMORY_ADDR_LEB, MEMORY_ADDR_SLEB, MEMORY_ADDR_I32}
PADDED = 5  # bytes that the linker leaves for a number


def taken_apart(content: bytes) -> tuple[bytes, dict]:
    """The module in as few bytes as its numbers take, and the facts about it."""
    module = wasm.Module(content)
    if module.memory is None:
        sys.exit("engine: the linker wrote no import of a memory")
    symbols = symbols_of(module)
    n = module.n_imported
    places = sorted({place for kind, place in symbols if kind == "data" and place is not None and place[2]})
    node_of_data = {place: n + len(module.bodies) + i for i, place in enumerate(places)}
    needs: list[set[int]] = [set() for _ in range(n + len(module.bodies) + len(places))]

    def node_of(symbol: int) -> int | None:
        kind, place = symbols[symbol]
        return place if kind == "function" else node_of_data.get(place) if kind == "data" else None  # type: ignore[return-value, arg-type]

    # Code: numbers that the linker may change take five bytes each; now they are final.
    starts, at, reader = [], 0, wasm.Reader(module.section(wasm.CODE))
    for _ in range(reader.number()):
        length = reader.number()
        starts.append(reader.at)
        reader.at += length
    bodies = [bytearray() for _ in module.bodies]
    copied = [0] * len(bodies)
    for kind, offset, symbol in relocations(module, "reloc.CODE"):
        while at + 1 < len(starts) and starts[at + 1] <= offset:
            at += 1
        if kind in OF_FUNCTIONS | OF_DATA:
            needed = node_of(symbol)
            if needed is not None:
                needs[n + at].add(needed)
        elif kind not in (TYPE_INDEX_LEB, GLOBAL_INDEX_LEB, TABLE_NUMBER_LEB):
            sys.exit(f"engine: the linker wrote a relocation of kind {kind}, which this script does not know")
        inside = offset - starts[at]
        number = wasm.Reader(module.bodies[at], inside)
        value = number.signed() if kind in SIGNED else number.number()
        assert number.at - inside == PADDED, (kind, offset)
        bodies[at] += module.bodies[at][copied[at]:inside] + (wasm.sleb(value) if kind in SIGNED else wasm.leb(value))
        copied[at] = number.at
    module.bodies = [bytes(done + old[count:]) for done, old, count in zip(bodies, module.bodies, copied, strict=True)]
    relaxed = {}  # kept apart: a browser without relaxed SIMD refuses the module that holds one such instruction
    for at in relaxed_functions(module):
        relaxed[at], module.bodies[at - n] = base64.b64encode(module.bodies[at - n]).decode(), wasm.NOTHING

    # The one function that the linker wrote itself, without relocations: it calls the constructors.
    roots = exported_functions(module)
    constructors = roots["__wasm_call_ctors"]
    needs[constructors] |= called_constructors(module.bodies[constructors - n])

    # Data that points to functions or other data.
    spans = data_offsets(module)
    for _kind, offset, symbol in relocations(module, "reloc.DATA"):
        segment = max(i for i, (begin, _) in enumerate(spans) if begin <= offset)
        inside = offset - spans[segment][0]
        needed = node_of(symbol)
        if needed is None:
            continue
        for place, node in node_of_data.items():
            if place[0] == segment and place[1] <= inside < place[1] + place[2]:
                needs[node].add(needed)
    written = module.written()
    return written, {
        "format": 3, "vocabulary": vocabulary(), "rows": rows_of(written, module), "imported": n, "functions": len(module.bodies),
        "data": places, "needs": [sorted(x) for x in needs], "roots": [roots[name] for name in EXPORTS], "first_element": module.first_element,
        "addresses": module.addresses(), "relaxed": relaxed,
    }


def called_constructors(body: bytes) -> set[int]:
    """The functions that a row of calls without arguments calls."""
    reader, found = wasm.Reader(body), set()
    assert reader.number() == 0, "no variables"
    while (instruction := reader.byte()) != 0x0B:
        assert instruction == 0x10, "nothing but calls"
        found.add(reader.number())
    return found


def symbols_of(module: wasm.Module) -> list[tuple[str, object]]:
    """The linker's table of symbols: ("function", number), ("data", (segment, offset, bytes) or None), or another kind."""
    section = module.custom("linking")
    reader = wasm.Reader(section)
    assert reader.number() == 2, "version of the section `linking`"
    found: list[tuple[str, object]] = []
    while reader.at < len(section):
        kind, end = reader.byte(), reader.number() + reader.at
        if kind == 8:
            for _ in range(reader.number()):
                what, flags = reader.byte(), reader.number()
                undefined, named = flags & 0x10, flags & 0x40
                if what in (0, 2, 4, 5):
                    index = reader.number()
                    if not undefined or named:
                        reader.name()
                    found.append(("function" if what == 0 else "other", index))
                elif what == 1:
                    reader.name()
                    found.append(("data", None if undefined else (reader.number(), reader.number(), reader.number())))
                else:
                    reader.number()
                    found.append(("section", None))
        reader.at = end
    return found


def relaxed_functions(module: wasm.Module) -> list[int]:
    """Numbers of the functions that were compiled for relaxed SIMD."""
    section, found = module.custom("name"), []
    reader = wasm.Reader(section)
    while reader.at < len(section):
        kind, end = reader.byte(), reader.number() + reader.at
        if kind == 1:
            found = [index for index, name in ((reader.number(), reader.name()) for _ in range(reader.number())) if OF_RELAXED in name]
        reader.at = end
    if not found:
        sys.exit("engine: the linker wrote no names of functions")
    return found


def relocations(module: wasm.Module, name: str) -> list[tuple[int, int, int]]:
    """(kind, offset in the section, symbol) of each, in the order of the offsets."""
    reader = wasm.Reader(module.custom(name))
    reader.number()
    found = []
    for _ in range(reader.number()):
        kind, offset, symbol = reader.byte(), reader.number(), reader.number()
        if kind in WITH_ADDEND:
            reader.signed()
        found.append((kind, offset, symbol))
    return sorted(found, key=lambda one: one[1])


def data_offsets(module: wasm.Module) -> list[tuple[int, int]]:
    """Where the bytes of each piece of data begin in the section, and how many they are."""
    reader, found = wasm.Reader(module.section(wasm.DATA)), []
    reader.number()
    for head, content in module.segments:
        reader.at += len(head)
        reader.number()
        found.append((reader.at, len(content)))
        reader.at += len(content)
    return found


def exported_functions(module: wasm.Module) -> dict[str, int]:
    reader = wasm.Reader(module.section(7))
    found = {}
    for _ in range(reader.number()):
        name, kind, index = reader.name(), reader.byte(), reader.number()
        if kind == 0:
            found[name] = index
    return found


READ_TABLES = """
const module = new WebAssembly.Module(require("fs").readFileSync(process.argv[1]));
const [initial, maximum] = JSON.parse(process.argv[2]);
const memory = new WebAssembly.Memory({ initial, maximum });
const imports = { env: { memory } };
for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
  if (kind !== "memory") throw new Error(`the engine asks for ${from}.${name}`);
}
const { exports } = new WebAssembly.Instance(module, imports);
const words = () => new DataView(memory.buffer);
const text = (at) => { let s = ""; for (let c; (c = words().getUint8(at++)); ) s += String.fromCharCode(c); return s; };
exports.__wasm_call_ctors();
const rows = [], count = exports.wherry_take(16);
for (let at = exports.wherry_tables(), family; (family = words().getUint32(at, true)); at += 4) {
  const table = exports.__indirect_function_table.get(family)(count);
  for (let i = 0; i < words().getUint32(count, true); i++) {
    const [op, dtype, flags, kernel, data] = [0, 4, 8, 12, 16].map((k) => words().getInt32(table + 20 * i + k, true));
    rows.push([text(op), dtype, flags, kernel, data]);
  }
}
console.log(JSON.stringify(rows));
"""


def rows_of(content: bytes, module: wasm.Module) -> list[list]:
    """[op, dtype, flags, place in the table of functions, address of its data] of each kernel."""
    path = WORK / "engine.wasm"
    path.write_bytes(content)
    done = subprocess.run(["node", "-e", READ_TABLES, path, json.dumps(module.memory)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"engine: its tables cannot be read\n{done.stderr}")
    return json.loads(done.stdout)


def vocabulary() -> int:
    text = (ROOT / "packages" / "tensor" / "src" / "wherry_tensor" / "_core.pyx").read_text()
    return int(re.search(r"^VOCABULARY_VERSION\b.*?= (\d+)", text, re.M)[1])  # type: ignore[index]


if __name__ == "__main__":
    main()
