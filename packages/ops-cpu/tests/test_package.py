"""The package around the kernels: how they are found, chosen and built."""
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import wherry_ops_cpu
from wherry_ops_cpu import _kernels, column
from wherry_tensor import _core


def test_installing_the_package_registers_its_kernels():
    names = [point.value for point in entry_points(group="wherry.kernels") if point.name == "cpu"]
    assert names == ["wherry_ops_cpu.column:register"]


def test_the_best_supported_instruction_set_is_chosen(monkeypatch):
    monkeypatch.delenv("WHERRY_CPU_ISA", raising=False)
    assert wherry_ops_cpu.chosen_isa() == wherry_ops_cpu.supported_isas()[0]
    # Relaxed SIMD, in WebAssembly, is compiled into a module of its own.
    assert set(wherry_ops_cpu.supported_isas()) <= {*wherry_ops_cpu.compiled_isas(), "relaxed"}
    assert wherry_ops_cpu.compiled_isas()[-1] == "baseline"


def test_an_unknown_instruction_set_is_refused():
    with pytest.raises(ValueError, match="'sse9'.*expected one of.*baseline.*WHERRY_CPU_ISA"):
        _kernels.register(_core.host, "sse9")


@pytest.mark.parametrize("isa", _kernels.supported_isas())
def test_every_instruction_set_computes_the_same_kind_of_result(isa):
    program = (
        "import numpy as np, wherry_tensor as wt\n"
        "from wherry_tensor import ops\n"
        "x = wt.to_tensor(np.arange(6000, dtype='float32').reshape(60, 100) / 6000)\n"
        "y = ops.exp(ops.copy(ops.transpose(x, perm=(1, 0))))\n"
        "print(float(ops.reduce_sum(y, axes=(0, 1), keepdim=False).numpy()))\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "WHERRY_CPU_ISA": isa},
        capture_output=True, text=True, check=True,
    )
    exact = np.exp(np.arange(6000) / 6000).sum()
    assert float(shown.stdout) == pytest.approx(exact, rel=1e-6)


def test_another_vocabulary_says_what_to_upgrade(monkeypatch):
    monkeypatch.setattr(column, "SERVES_VOCABULARY", _core.VOCABULARY_VERSION + 1)
    with pytest.raises(ImportError, match="pip install --upgrade wherry-tensor"):
        column.register()
    monkeypatch.setattr(column, "SERVES_VOCABULARY", _core.VOCABULARY_VERSION - 1)
    with pytest.raises(ImportError, match="pip install --upgrade wherry-ops-cpu"):
        column.register()


def test_kernels_are_registered_once(monkeypatch):
    column.register()

    def refuse(*arguments):
        raise AssertionError("registered a second time")

    monkeypatch.setattr(_kernels, "register", refuse)
    column.register()


def test_entry_points_of_another_device_are_asked_when_that_device_is(tmp_path):
    (tmp_path / "paint.py").write_text("def register():\n    print('asked')\n")
    facts = tmp_path / "paint-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: paint\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[wherry.kernels]\neasel = paint:register\n")
    program = (
        "import wherry_ops_cpu.column\n"
        "from wherry_tensor import _core, ops\n"
        "ops.conv3d.kernel_dtypes()\n"  # no kernel on the cpu, so its entry points are asked
        "print('cpu done')\n"
        "_core.load_kernels('easel'), _core.load_kernels('easel')\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    shown = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split("\n") == ["cpu done", "asked", ""]


@pytest.mark.skipif(sys.platform != "linux", reason="reads an ELF file")
def test_the_compiled_module_names_no_path_and_no_cxx_runtime():
    binary = Path(_kernels.__file__).read_bytes()
    source = str(Path(__file__).resolve().parents[3]).encode()
    assert source not in binary
    assert b"libstdc++" not in binary
    assert not re.search(rb"GLIBCXX|CXXABI", binary)


def test_one_module_serves_every_python():
    assert Path(_kernels.__file__).name in ("_kernels.abi3.so", "_kernels.pyd")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at versions of glibc's symbols")
def test_the_kernels_need_no_newer_system_than_the_others():
    """`hypot` and `fmod` got new versions in glibc 2.35 and 2.38; our own code takes their place."""
    content = Path(_kernels.__file__).read_bytes()
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+\.\d+)", content)}
    assert max(versions, default=(2, 0)) <= (2, 34), max(versions)
