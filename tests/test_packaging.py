"""The packages as a user gets them: pip's ordinary isolated builds, what the wheels hold, what is missing when."""
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ROOT / "packages"
WHEELHOUSE = ROOT / "wheelhouse"
sys.path.insert(0, str(ROOT / "tools"))
import package_table  # noqa: E402
import release as release_tool  # noqa: E402
import wheels as wheels_tool  # noqa: E402

MEGABYTE = 1e6


def wheels() -> dict[str, Path]:
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = {}
    for path in WHEELHOUSE.glob("*.whl"):
        name, _, python, abi, _ = path.name.split("-")
        if python == tag or abi == "abi3" or python == "py3":
            found[name] = path
    return found


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Makes virtual environments; each call a new and empty one."""

    def make() -> Path:
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder, with_pip=True)
        return folder / "bin" / "python"

    return make


def run(*command, cwd=None) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip_install(python: Path, *what) -> None:
    run(python, "-m", "pip", "install", "-q", *what)


def metadata(wheel: Path) -> Message:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(archive.read(name))


def test_wheels_say_who_made_them_what_they_are_and_carry_their_license():
    for name, path in wheels().items():
        said = metadata(path)
        assert said["Author"] == "The Wherry developers", name
        assert said["Summary"] and said["Keywords"] and said["License-Expression"] == "Apache-2.0", name
        classifiers = said.get_all("Classifier")
        assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(classifiers), name
        assert said.get_all("License-File") == ["LICENSE"], name
        assert [entry for entry in zipfile.ZipFile(path).namelist() if entry.endswith("licenses/LICENSE")], name


def test_descriptions_have_no_links_that_lead_nowhere_on_an_index():
    for name, path in wheels().items():
        links = re.findall(r"\]\(([^)]+)\)", metadata(path).get_payload())
        assert all(link.startswith("https://") for link in links), (name, links)


def test_wheels_ask_for_versions_and_not_for_folders():
    for name, path in wheels().items():
        assert not [r for r in metadata(path).get_all("Requires-Dist", []) if "file:" in r], name


@pytest.mark.skipif(sys.platform != "linux", reason="wheels of other systems have other tags")
def test_compiled_wheels_say_which_linux_they_run_on_and_auditwheel_says_the_same():
    """RHEL 8, Debian 10 and Ubuntu 18.10 have glibc 2.28."""
    tools = wheels_tool.build_environment(sys.executable)
    for path in wheels().values():
        if not path.name.endswith("-none-any.whl"):
            found = re.search(r"manylinux_2_(\d+)_", path.name)
            assert found, f"{path.name} may not be published: its tag is that of this machine alone"
            assert int(found[1]) <= 28, f"{path.name} needs a newer C library than RHEL 8 has"
            assert found[0] in wheels_tool.platform_tag(path, tools), f"auditwheel says otherwise of {path.name}"


def test_functions_of_the_system_are_asked_for_by_version(tmp_path):
    """Without a version (`Base`) the loader would take any; wherry_old_c_library has to name those of libm."""
    ours = re.compile(r"_?_?Py|_ITM_|__gmon_start__")
    for path in wheels().values():
        archive = zipfile.ZipFile(path)
        for name in archive.namelist():
            if name.endswith(".so") and archive.read(name)[:4] == b"\x7fELF":
                rows = run("objdump", "-T", archive.extract(name, tmp_path)).splitlines()
                bare = [row.split()[-1] for row in rows if "*UND*" in row and "GLIBC" not in row and not ours.match(row.split()[-1])]
                assert not bare, (name, bare)


@pytest.mark.parametrize("package", ["tensor", "ops-cpu", "autograd", "program", "extension"])
@pytest.mark.parametrize("variables", [{}, {"CC": "gcc -pthread"}], ids=["", "CC"])  # scikit-build-core sets CC to what built Python
def test_without_a_compiler_the_build_says_what_to_type(package, variables, tmp_path):
    tools = wheels_tool.build_environment(sys.executable) / "bin"
    command = [tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", "-S", PACKAGES / package, "-B", tmp_path / "build"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path), **variables})
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and "no C++ compiler" in said
    assert "apt-get install g++" in said and "pip install --only-binary :all: wherry" in said


def test_wheels_are_small():
    """What `pip install wherry` brings of ours, and all there are."""
    found = {name: path for name, path in wheels().items() if name.startswith("wherry")}
    brought = ["wherry"]
    for name in brought:
        needed = metadata(found[name]).get_all("Requires-Dist", [])
        names = (re.match(r"[\w.-]+", line)[0].replace("-", "_") for line in needed if "extra ==" not in line)
        brought += [other for other in names if other in found and other not in brought]
    sizes = {name: path.stat().st_size / MEGABYTE for name, path in found.items()}
    assert sum(sizes[name] for name in brought) <= 13, sizes
    assert sum(sizes.values()) <= 14.2, sizes


def test_wheels_hold_no_tests_and_one_library_each():
    for path in wheels().values():
        names = zipfile.ZipFile(path).namelist()
        libraries = [name for name in names if name.endswith(".so")]
        assert len(libraries) == len({re.sub(r"\.(cpython|abi3).*", "", name) for name in libraries}), libraries
        assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]


def test_libraries_name_no_build_path_and_need_only_the_system_and_what_comes_along():
    system = re.compile(r"lib(c|m|pthread|dl|gcc_s|rt)\.so|ld-linux|linux-vdso")
    for path in wheels().values():
        archive = zipfile.ZipFile(path)
        beside = {Path(name).name for name in archive.namelist()}
        for name in archive.namelist():
            if name.endswith(".so"):
                content = archive.read(name)
                assert str(ROOT).encode() not in content, f"{name} names the folder it was built in"
                needed = re.findall(rb"lib[\w+-]+\.so(?:\.\d+)*", content[:200_000])
                strange = [n for n in map(bytes.decode, needed) if not system.match(n) and n not in beside]
                assert not strange, f"{name} needs {strange}"


def test_types_are_declared_for_editors():
    for name, path in wheels().items():
        assert f"{name}/py.typed" in zipfile.ZipFile(path).namelist(), name


def test_tensor_alone_imports_and_says_what_is_missing(empty):
    python = empty()
    pip_install(python, wheels()["wherry_tensor"])
    program = (
        "import wherry_tensor as w\n"
        "x = w.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "for act in (lambda: x + x, lambda: x.backward()):\n"
        "    try: act()\n"
        "    except Exception as error: print(error)\n"
    )
    said = run(python, "-c", program).splitlines()
    assert re.search(r"no kernel for 'add' on cpu.*pip install wherry-ops-cpu", said[0])
    assert "pip install wherry-autograd" in said[1]


@pytest.mark.slow
def test_pip_builds_from_the_checkout_in_an_empty_environment(empty):
    python = empty()
    pip_install(python, PACKAGES / "tensor", PACKAGES / "ops-cpu", PACKAGES / "autograd")
    program = (
        "import wherry_tensor as w, wherry_autograd\n"
        "x = w.to_tensor([1.0, 2.0], stop_gradient=False); (x * x).sum().backward(); print(x.grad.tolist())"
    )
    assert run(python, "-c", program) == "[2.0, 4.0]\n"


@pytest.mark.slow
@pytest.mark.parametrize("folder", [ROOT, PACKAGES / "wherry"], ids=["root", "facade"])
def test_pip_installs_everything_from_the_root_and_from_the_facade(empty, folder):
    python = empty()
    pip_install(python, folder)  # wheels that were built from these sources are taken
    # A newcomer's first script and first mistake, and what to ask when something is wrong.
    assert run(python, "-m", "wherry", "--version").startswith("wherry ")
    assert "gives the right loss and gradient" in run(python, "-m", "wherry", "doctor")
    script = python.parent / "first.py"
    script.write_text(
        "import wherry as paddle\n"
        "net = paddle.nn.Linear(2, 1)\n"
        "optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())\n"
        "x, y = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([[1.0], [2.0]])\n"
        "losses = []\n"
        "for _ in range(20):\n"
        "    loss = ((net(x) - y) ** 2).mean()\n"
        "    loss.backward(); optimizer.step(); optimizer.clear_grad()\n"
        "    losses.append(float(loss))\n"
        "print(losses[-1] < losses[0])\n"
        "try: paddle.matmull\n"
        "except AttributeError as error: print(error)\n"
    )
    said = run(python, script).splitlines()
    assert said[0] == "True"
    assert "matmull" in said[1]


@pytest.mark.slow
def test_sdist_of_the_facade_asks_an_index(empty, tmp_path):
    python = empty()
    pip_install(python, "build")
    run(python, "-m", "build", "--outdir", tmp_path, PACKAGES / "wherry")  # the wheel is built from the sdist
    (wheel,) = tmp_path.glob("*.whl")
    assert "wherry-tensor>=" in " ".join(metadata(wheel).get_all("Requires-Dist"))
    assert not [r for r in metadata(wheel).get_all("Requires-Dist") if "file:" in r]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "needs"), [("autograd", "_core.pxd"), ("extension", "include/wherry/device.h"), ("program", "_core.pxd")],
    ids=["autograd", "extension", "program"],
)
def test_sdist_builds_without_its_siblings(package, needs, empty, tmp_path):
    python = empty()
    pip_install(python, "build")
    run(python, "-m", "build", "--sdist", "--outdir", tmp_path / "first", PACKAGES / package)
    (sdist,) = (tmp_path / "first").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith(f"_vendored/wherry_tensor/{needs}") for name in archive.getnames())
        archive.extractall(tmp_path, filter="data")
    # An sdist of the sdist, as distributions make it, and a wheel from that.
    unpacked = tmp_path / sdist.name.removesuffix(".tar.gz")
    run(python, "-m", "build", "--sdist", "--outdir", tmp_path / "second", unpacked)
    (again,) = (tmp_path / "second").glob("*.tar.gz")
    run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, again)
    assert list(tmp_path.glob("*.whl"))


@pytest.mark.slow
def test_sdist_of_ops_cpu_carries_the_header(empty, tmp_path):
    python = empty()
    pip_install(python, "build")
    run(python, "-m", "build", "--sdist", "--outdir", tmp_path, PACKAGES / "ops-cpu")
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert any(name.endswith("_vendored/wherry_tensor/include/wherry/abi.h") for name in names)
    assert any(name.endswith("_vendored/wherry_tensor/include/wherry/WherryModule.cmake") for name in names)
    assert any(name.endswith("cmake/backend.py") for name in names)


@pytest.mark.slow
def test_a_free_threaded_python_builds_wherry_and_trains(tmp_path):
    """With the lock, which Python turns on at the import of modules that do not say that they need none."""
    names = ("python3.14t", "python3.13t")
    python = next((name for name in names if shutil.which(name) and subprocess.run([name, "-c", ""], capture_output=True).returncode == 0), None)
    if python is None:
        pytest.skip(f"no free-threaded Python is installed: looked for {', '.join(names)}")
    run(python, "-m", "venv", tmp_path / "environment")
    inside = tmp_path / "environment" / "bin" / "python"
    binary = "--only-binary", "hypothesis"  # the newest that has a wheel for it, or for any Python: others want Rust
    pip_install(inside, *binary, PACKAGES / "tensor", PACKAGES / "ops-cpu", PACKAGES / "autograd", "pytest", "hypothesis")
    program = (
        "import sys, wherry_autograd, wherry_tensor as w\n"
        "x = w.to_tensor([1.0, 2.0], stop_gradient=False); (x * x).sum().backward(); print(x.grad.tolist(), sys._is_gil_enabled())"
    )
    assert run(inside, "-c", program) == "[2.0, 4.0] True\n"
    run(inside, "-m", "pytest", "-q", "--pyargs", "wherry_tensor.testing", "-k", "softmax or add")


@pytest.mark.skipif(sys.platform != "linux", reason="the network is taken away by Linux's namespaces")
def test_an_sdist_builds_from_a_folder_of_wheels_without_a_network(empty, tmp_path, monkeypatch):
    monkeypatch.setattr(release_tool, "DIST", tmp_path)
    release_tool.build_sdist(package_table.packages()["text"])
    (sdist,) = tmp_path.glob("*.tar.gz")
    run(sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:", "-d", tmp_path / "tools", "hatchling>=1.27")
    alone = ("unshare", "--map-root-user", "--net")
    connect = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    reached = subprocess.run([*alone, sys.executable, "-c", connect], capture_output=True, text=True)
    assert "Network is unreachable" in reached.stderr
    run(*alone, empty(), "-m", "pip", "wheel", "-q", "--no-index", "--find-links", tmp_path / "tools", "--no-deps", "-w", tmp_path / "built", sdist)
    assert list((tmp_path / "built").glob("wherry_text-*.whl"))
