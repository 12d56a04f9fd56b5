"""tools/wheels.py: which wheels are taken, and what they are built for."""
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from wheel.wheelfile import WheelFile

import wherry_ops_cpu

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import wheels  # noqa: E402


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An empty wheelhouse, and a function that puts a wheel of ops-cpu there."""
    monkeypatch.setattr(wheels, "WHEELHOUSE", tmp_path)

    def put(native=False, **record) -> Path:
        name = "wherry_ops_cpu-0.4.0-cp311-abi3-manylinux_2_27_x86_64.whl"
        folder = wheels.shelf(native)
        folder.mkdir(exist_ok=True)
        (folder / name).touch()
        (folder / f"{name}.json").write_text(json.dumps({"package": "ops-cpu", "wheel": name, "digest": "d", **record}))
        return folder / name

    return put


def taken(native: bool) -> Path | None:
    return wheels.wheel_for(sys.executable, "ops-cpu", "d", native)


@pytest.mark.parametrize(("tags", "served"), [
    ("cp313-cp313-manylinux_2_27_x86_64", ["cp313"]), ("cp313-cp313t-linux_x86_64", ["cp313t"]),
    ("cp311-abi3-manylinux_2_27_x86_64", ["cp311", "cp313"]), ("py3-none-any", ["cp311", "cp313", "cp313t"]),
])
def test_which_pythons_a_wheel_serves(tags, served):
    assert [tag for tag in ("cp311", "cp313", "cp313t") if wheels.serves(f"wherry_tensor-0.1.0-{tags}.whl", tag)] == served


def test_the_tag_of_a_python_says_whether_it_has_the_lock(tmp_path):
    assert wheels.tag_of(sys.executable) == f"cp{sys.version_info.major}{sys.version_info.minor}"
    free = tmp_path / "python"
    free.write_text("#!/bin/sh\nexec " + sys.executable + """ -c 'import sysconfig; sysconfig.get_config_var = lambda name: 1\n'"$2" \n""")
    free.chmod(0o755)
    assert wheels.tag_of(str(free)) == f"cp{sys.version_info.major}{sys.version_info.minor}t"


@pytest.mark.parametrize("record", [{"processor": ""}, {}])
def test_a_wheel_for_all_processors_serves_always(shelf, record):
    wheel = shelf(**record)
    assert taken(native=True) == taken(native=False) == wheel


def test_a_wheel_for_this_processor_serves_only_where_that_is_enough(shelf):
    wheel = shelf(native=True, processor=wheels.processor())
    assert taken(native=True) == wheel
    assert taken(native=False) is None


def test_a_wheel_for_another_processor_serves_nobody(shelf):
    shelf(native=True, processor="fpu vme de pse")
    assert taken(native=True) is taken(native=False) is None


def test_native_wheels_that_an_older_clone_has_among_the_others_serve_nobody(shelf):
    shelf(processor=wheels.processor())
    assert taken(native=True) is taken(native=False) is None


@pytest.fixture
def told(shelf, tmp_path, monkeypatch):
    """Compiles nothing, which would take minutes; a list of what pip was told."""
    commands = []

    def run_pip(command, *_):
        folder = Path(command[command.index("--wheel-dir") + 1])
        commands.append(" ".join(map(str, command)))
        folder.mkdir(parents=True)
        info = "wherry_ops_cpu-0.7.0.dist-info"
        with WheelFile(folder / "wherry_ops_cpu-0.7.0-cp311-abi3-linux_x86_64.whl", "w") as wheel:
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-abi3-linux_x86_64\n")

    tools = wheels.build_environment(sys.executable)
    monkeypatch.setattr(wheels, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(wheels, "build_environment", lambda _: tools)
    monkeypatch.setattr(wheels, "platform_tag", lambda *_: "manylinux_2_27_x86_64")
    monkeypatch.setattr(wheels, "run_pip", run_pip)
    return commands


@pytest.mark.parametrize("order", [(True, False), (False, True)], ids=["demo first", "test first"])
def test_the_two_commands_of_the_readme_work_in_either_order(order, told, tmp_path):
    """`make demo` builds for this processor, `make test` for all: neither takes away or gets what the other has built."""
    built = {native: wheels.build_one(sys.executable, "ops-cpu", "d", native) for native in order}
    assert taken(native=False) == built[False] == tmp_path / "wherry_ops_cpu-0.7.0-cp311-abi3-manylinux_2_27_x86_64.whl"
    assert built[True] == tmp_path / "native" / "wherry_ops_cpu-0.7.0-1native-cp311-abi3-linux_x86_64.whl"
    assert built[True].exists() and built[False].exists()
    built[False].unlink()
    assert taken(native=True) == built[True]
    # CMake remembers what it was told: the two must not share a folder, and each is told.
    for_this, for_all = told if order[0] else reversed(told)
    assert "cmake.define.WHERRY_ISAS=native" in for_this and "build-dir=build/native-{wheel_tag}" in for_this
    assert "cmake.define.WHERRY_ISAS=all" in for_all and "build-dir" not in for_all


def test_pip_install_of_a_clone_gets_the_baseline_too_and_makes_no_wheel_for_others(told, monkeypatch):
    monkeypatch.setattr(wheels, "needed", lambda names: names)
    monkeypatch.setattr(wheels, "digest_of", lambda _: "d")
    monkeypatch.setattr(sys, "argv", ["wheels.py", "here", "ops-cpu"])
    wheels.main()
    wheels.main()  # which finds it
    (command,) = told
    assert "cmake.define.WHERRY_ISAS=here" in command and "build-dir=build/here-{wheel_tag}" in command
    assert taken(native=False) is None and "1native" in taken(native=True).name


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("-- Configuring\nCMake Error at A.cmake:5 (message):\n  Wherry: there is no C++ compiler.\n  Type  apt-get\n  Call Stack (most recent):\n",
         "Wherry: there is no C++ compiler. Type apt-get"),
        ("error: expected ;", "error: expected ;\n\nwheels: ops-cpu for cp311 failed to build"),
    ],
)
def test_a_build_that_fails_for_a_reason_of_ours_says_nothing_else(said, shown):
    with pytest.raises(SystemExit) as failed:
        wheels.run_pip([sys.executable, "-c", f"print({said!r}); exit(1)"], {**os.environ}, "ops-cpu", "cp311")
    assert str(failed.value) == shown


def test_what_tools_leave_in_a_package_does_not_change_its_digest():
    left = ("build/cp311/a.o", ".pyodide_build/env/a.c", "src/wherry_tensor/__pycache__/a.pyc", "src/wherry_tensor/_core.so")
    assert not any(wheels.is_source(Path(name)) for name in left)
    assert wheels.is_source(Path("src/wherry_tensor/_core.pyx"))


def test_builds_of_several_processes_wait_for_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "CACHE", tmp_path)
    inside, most = [], []

    def build(*_) -> list[Path]:
        inside.append(1)
        most.append(len(inside))
        threading.Event().wait(0.05)
        inside.pop()
        return []

    monkeypatch.setattr(wheels, "build_missing", build)
    threads = [threading.Thread(target=wheels.build, args=(sys.executable, [])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def configured(folder: Path, *choice: str, **variables: str) -> subprocess.CompletedProcess:
    tools = wheels.build_environment(sys.executable) / "bin"
    command = [tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-DPython_EXECUTABLE={tools / 'python'}",
               *(f"-DWHERRY_ISAS={name}" for name in choice), "-S", ROOT / "packages" / "ops-cpu", "-B", folder]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})


def test_kernels_for_this_processor_alone_are_those_that_it_would_choose(tmp_path):
    done = configured(tmp_path, "native")
    assert done.returncode == 0, done.stdout + done.stderr
    compiled = re.findall(r'\{"(\w+)", supports_', (tmp_path / "tables.c").read_text())
    # After one that compiles only some families anew stands the set that it extends: avx512bf16, avx512vnni, avx512.
    assert compiled[0] == wherry_ops_cpu.supported_isas()[0] and "baseline" not in compiled and len(compiled) <= 3


def test_from_source_the_baseline_and_what_this_processor_would_choose_are_compiled(tmp_path):
    done = configured(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    compiled = re.findall(r'\{"(\w+)", supports_', (tmp_path / "tables.c").read_text())
    assert compiled[0] == wherry_ops_cpu.supported_isas()[0] and compiled[-1] == "baseline" and len(compiled) <= 4


def test_an_unknown_choice_of_instruction_sets_is_refused(tmp_path):
    done = configured(tmp_path, "fastest")
    assert done.returncode != 0
    assert "Got 'fastest', expected here, native, all or one of" in " ".join(done.stderr.split())


def test_a_free_threaded_python_gets_kernels_of_its_own(tmp_path):
    """It has no stable ABI, and its header refuses to be asked for it. Here a Python that has a lock says that it has none."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import re, sysconfig\n"
        "truth = sysconfig.get_config_var\n"
        "def get_config_var(name):\n"
        "    value = truth(name)\n"
        "    return re.sub(r'(cpython-\\d+)', r'\\1t', value) if value and name in ('SOABI', 'EXT_SUFFIX') else value\n"
        "sysconfig.get_config_var = get_config_var\n"
    )
    for folder, variables, module, limited in (("ordinary", {}, r"_kernels\.abi3\.so", True),
                                               ("free", {"PYTHONPATH": str(site)}, r"_kernels\.cpython-\d+t-[\w-]+\.so", False)):
        done = configured(tmp_path / folder, "native", **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        plan = (tmp_path / folder / "build.ninja").read_text()
        assert re.search(module, plan) and ("Py_LIMITED_API" in plan) == limited


def test_a_wheel_for_another_system_has_its_libraries_and_nothing_else_that_is_new(tmp_path, monkeypatch):
    import cross

    monkeypatch.setattr(cross, "WHEELHOUSE", tmp_path / "wheelhouse")
    monkeypatch.setattr(cross, "build_environment", lambda _: Path(sys.prefix))
    monkeypatch.setattr(cross, "platform_tag", lambda wheel, tools: "musllinux_1_2_x86_64")
    monkeypatch.setattr(cross.System, "compile", lambda self, name, tools, isas: None)

    def stripped(self, name, module):
        (tmp_path / module).write_text(f"{module} for {self.name}")
        return tmp_path / module

    monkeypatch.setattr(cross.System, "stripped", stripped)
    facts = "wherry_tensor-1.0.dist-info"
    files = {
        "wherry_tensor/_core.cpython-311-x86_64-linux-gnu.so": "glibc", "wherry_tensor/_kernels.abi3.so": "glibc", "wherry_tensor/a.py": "a = 1\n",
        f"{facts}/METADATA": "Metadata-Version: 2.1\nName: wherry-tensor\nVersion: 1.0\n",
        f"{facts}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_17_x86_64\n",
    }
    original = tmp_path / "wherry_tensor-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
    with WheelFile(original, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    system = cross.System("musl", (), "x86_64-linux-musl", "linux_x86_64", (), ())
    wheel = system.wheel_of("tensor", original, "all")
    assert wheel.name == "wherry_tensor-1.0-cp311-cp311-musllinux_1_2_x86_64.whl" and [path.name for path in wheel.parent.iterdir()] == [wheel.name]
    with WheelFile(wheel) as archive:  # which compares digests
        assert {name: archive.read(name).decode() for name in archive.namelist() if facts not in name} == {
            "wherry_tensor/_core.cpython-311-x86_64-linux-musl.so": "_core for musl", "wherry_tensor/_kernels.abi3.so": "_kernels for musl",
            "wherry_tensor/a.py": "a = 1\n"}
        assert "Tag: cp311-cp311-musllinux_1_2_x86_64\n" in archive.read(f"{facts}/WHEEL").decode()
