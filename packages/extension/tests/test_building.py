"""Building libraries of operators: what is compiled when, what errors say, and installing with setuptools."""
from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from operator_sources import source
from wherry_extension import cpp_extension
from wherry_extension.cpp_extension import CppExtension, CUDAExtension, get_build_directory, load, setup

DATA = Path(__file__).parent / "data"

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")

def compiled(capfd):
    return [line for line in capfd.readouterr().err.splitlines() if ": compiling" in line]


def test_what_has_not_changed_is_not_compiled_again(tmp_path, capfd):
    path = source(tmp_path, "unchanged_op")

    def build():
        return load("unchanged_library", [path], ["-O0"], build_directory=str(tmp_path / "b"), verbose=True)

    build()
    assert compiled(capfd) == ["unchanged_library: compiling unchanged_op.cc"]
    os.utime(path)  # only the time
    assert callable(build().unchanged_op)
    assert compiled(capfd) == []
    (tmp_path / "helper.h").write_text("// something else\n")
    build()
    assert len(compiled(capfd)) == 1
    assert (tmp_path / "b" / "unchanged_library_setup.py").is_file()
    assert sorted(p.name for p in (tmp_path / "b" / "unchanged_library").glob("*") if p.suffix in (".py", ".so", ".txt", ".o")) == [
        "unchanged_library.py", "unchanged_library_pd_.so", "unchanged_op.o", "version.txt",
    ]  # fmt: skip


def test_the_compiler_of_the_environment_may_be_several_words(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", f"env {shutil.which('c++') or 'g++'}")  # as "ccache g++" is
    built = load("worded_library", [source(tmp_path, "worded_op")], ["-O0"], build_directory=str(tmp_path / "b"))
    assert callable(built.worded_op)


def test_processes_that_build_the_same_library_wait_for_each_other(tmp_path):
    path = source(tmp_path, "shared_op")
    code = (
        f"from wherry_extension.cpp_extension import load\n"
        f"m = load('shared_library', [{str(path)!r}], ['-O0'], build_directory={str(tmp_path / 'b')!r}, verbose=True)\nprint(m.__name__)"
    )
    run = lambda _i: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: E731
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(run, range(2)))
    assert [one.stdout.strip() for one in done] == ["shared_library"] * 2, done
    assert sum(": compiling" in one.stderr for one in done) == 1


def test_setup_installs_a_module_that_can_be_imported(tmp_path):
    shutil.copy(DATA / "relu_cpu_fp32.cc", tmp_path)
    (tmp_path / "setup_cpu.py").write_text(
        "from wherry_extension.cpp_extension import CppExtension, setup\n"
        "setup(name='custom_setup_ops', ext_modules=CppExtension(sources=['relu_cpu_fp32.cc'], extra_compile_args=['-O0']))\n"
    )
    done = subprocess.run(
        [sys.executable, "setup_cpu.py", "bdist_wheel" if importlib.util.find_spec("setuptools.command.bdist_wheel") else "build"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    wheels = list((tmp_path / "dist").glob("custom_setup_ops-0.0.0-*.whl"))
    assert wheels and "any" not in wheels[0].name
    site = tmp_path / "site"
    shutil.unpack_archive(wheels[0], site, "zip")
    assert {"custom_setup_ops.py", "custom_setup_ops_pd_.so", "version.txt"} <= {path.name for path in site.iterdir()}
    code = "import wherry_tensor as t\nfrom custom_setup_ops import custom_relu\nprint(custom_relu(t.to_tensor([-1.0, 2.0])).tolist())"
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[0.0, 2.0]", done.stderr


def test_get_build_directory_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_EXTENSION_DIR", str(tmp_path / "here"))
    assert get_build_directory() == str(tmp_path / "here") and (tmp_path / "here").is_dir()
    monkeypatch.delenv("PADDLE_EXTENSION_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert get_build_directory() == str(tmp_path / ".cache" / "paddle_extensions")


def test_arguments_are_checked_before_anything_is_compiled(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="the name of a module"):
        load("no name", [DATA / "ops.cc"])
    for name in "os", "__init__", "__main__", "numpy":
        with pytest.raises(ValueError, match=rf"would take the place of the module {name} .*Write load\(name='"):
            load(name, [DATA / "ops.cc"], build_directory=str(tmp_path))
    with pytest.raises(ValueError, match="a name of 300 letters, expected 200 bytes"):
        load("a" * 300, [DATA / "ops.cc"], build_directory=str(tmp_path))
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="sources are a list"):
        load("name", "ops.cc", build_directory=str(tmp_path))
    with pytest.raises(ValueError, match="there is no such file"):
        load("name", [tmp_path / "none.cc"], build_directory=str(tmp_path))
    with pytest.raises(ValueError, match="Use CUDAExtension"):
        CppExtension(["a.cu"])
    with pytest.raises(TypeError, match="one library"):
        setup(name="two", ext_modules=[CppExtension(["a.cc"]), CppExtension(["b.cc"])])
    assert CUDAExtension(["a.cc", "a.cu"]).sources == ["a.cc", "a.cu"]


def test_sources_in_cuda_without_nvcc_name_it(tmp_path, monkeypatch):
    (tmp_path / "a.cu").write_text("")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    real = shutil.which
    monkeypatch.setattr(cpp_extension.shutil, "which", lambda name, *more: None if "nvcc" in name else real(name, *more))
    with pytest.raises(RuntimeError, match=r"nvcc.*a\.cu.*CUDA_HOME"):
        load("cuda_library", [tmp_path / "a.cu"], build_directory=str(tmp_path / "b"))


def test_a_file_that_is_no_library_of_operators_is_refused(tmp_path):
    register = cpp_extension.load_op_meta_info_and_register_op
    with pytest.raises(OSError, match="no such file"):
        register(str(tmp_path / "none.so"))
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(OSError, match=r"text\.so is not a library"):
        register(str(tmp_path / "text.so"))
    subprocess.run(["c++", "-shared", "-x", "c++", "/dev/null", "-o", tmp_path / "plain.so"], check=True)
    with pytest.raises(ImportError, match="without the symbol wherry_extension"):
        register(str(tmp_path / "plain.so"))
