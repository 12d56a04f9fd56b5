"""The template of examples/device-plugin: built from a copy as its users build it, and held to what it promises."""
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from wherry.sysconfig import get_include, get_lib

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "examples" / "device-plugin"

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def run(*command, cwd=None, site=None, check=True):
    paths = [*map(str, site or []), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def installed_as(folder, version):
    """A folder in which wherry-tensor has a version."""
    facts = folder / f"wherry_tensor-{version}.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: wherry-tensor\nVersion: {version}\n")
    return folder


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """(The copy, its wheel, the folders that it runs from.)"""
    copy = tmp_path_factory.mktemp("plugin") / "repository"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__"))
    host = tomllib.loads((ROOT / "packages" / "tensor" / "pyproject.toml").read_text())["project"]["version"]
    if host != tomllib.loads((copy / "releases.toml").read_text())["release"][0]["host"]:
        run(sys.executable, "tools/tables.py", "--pair", host, cwd=copy)  # the template was written for an earlier one
    run("bash", "ci/build.sh", f"--python={sys.executable}", "--no-build-isolation", "--quiet", cwd=copy)
    (wheel,) = (copy / "dist").glob("*.whl")
    site = copy.parent / "site"
    zipfile.ZipFile(wheel).extractall(site)
    folders = [site]
    try:
        importlib.metadata.version("wherry-tensor")
    except importlib.metadata.PackageNotFoundError:  # the packages are run from their sources
        folders.append(installed_as(copy.parent / "facts", host))
    return copy, wheel, folders


def test_template_keeps_its_own_promises(plugin):
    copy, _, site = plugin
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=copy, site=site)


def test_conformance_kit_runs_on_the_device(plugin, tmp_path):
    _, _, site = plugin
    some = "layout-multiply or kernel-add or kernel-matmul or vjp-divide or capture-subtract"
    kit = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "wherry_tensor.testing", "--wherry-device", "mydevice"]
    done = run(*kit, "-k", some, cwd=tmp_path, site=site)
    assert re.search(r"[5-9] passed", done.stdout), done.stdout


def test_wheel_is_for_one_python_and_architecture_as_the_table_says(plugin):
    copy, wheel, _ = plugin
    assert re.match(r"wherry_mydevice-\d+\.\d+\.\d+-cp3\d+-cp3\d+-linux_\w+\.whl", wheel.name)
    assert f"`{wheel.name}`" in (copy / "COMPATIBILITY.md").read_text()


def test_list_of_what_is_supported_is_the_coverage_matrix(plugin):
    copy, _, site = plugin
    run(sys.executable, "tools/tables.py", "--supported", cwd=copy, site=site)
    said = run(sys.executable, "-m", "wherry", "ops", "--device", "mydevice", cwd=copy, site=site).stdout.strip()
    page = (copy / "SUPPORTED.md").read_text()
    assert said in page
    assert re.search(r"^matmul +kernel +float32, float64$", page, flags=re.MULTILINE)


def test_another_host_is_an_error_that_says_what_to_install_and_the_cpu_goes_on(plugin, tmp_path):
    _, _, site = plugin
    program = """
import wherry as paddle
for call in (lambda: paddle.set_device("mydevice"), lambda: paddle.to_tensor([1.0], place="mydevice:0")):
    try:
        call()
    except ValueError as error:
        print("refused:", error)
print(paddle.is_compiled_with_custom_device("mydevice"), paddle.device.get_available_device(), (paddle.ones([1]) + 1).tolist())
try:
    import wherry_mydevice
except ImportError as error:
    print("import:", error)
"""
    lines = run(sys.executable, "-c", program, site=[installed_as(tmp_path, "77.1.0"), *site]).stdout.splitlines()
    reason = r"belongs to wherry-tensor \d+\.\d+\.\d+\. Got wherry-tensor 77\.1\.0, expected"
    assert len(lines) == 4 and all(re.search(reason, lines[i]) for i in (0, 1, 3)), lines
    assert lines[0].startswith("refused:") and lines[2] == "False ['cpu'] [2.0]" and lines[3].startswith("import:")


def test_a_further_host_gets_a_release_of_its_own(plugin, tmp_path):
    copy, _, _ = plugin
    later = tmp_path / "later"
    shutil.copytree(copy, later)
    run(sys.executable, "tools/tables.py", "--pair", "88.0.0", cwd=later)
    run(sys.executable, "tools/tables.py", "--check", cwd=later)
    table = (later / "COMPATIBILITY.md").read_text()
    assert "| 88.0.0 | 88.0.0 | v88.0.0-1 |" in table and "wherry_mydevice-88.0.0-cp311-cp311-linux_aarch64.whl" in table
    assert 'wherry-tensor==88.0.0"' in (later / "pyproject.toml").read_text()
    again = run(sys.executable, "tools/tables.py", "--pair", "88.0.0", cwd=later, check=False)
    assert again.returncode != 0 and "there is a release for it. Got 88.0.0" in again.stderr


@pytest.fixture(scope="module")
def beside_paddles(plugin, tmp_path_factory):
    """The folders with the template's wheel and that of the manual's CustomCPU, installed side by side."""
    folder = tmp_path_factory.mktemp("custom_cpu")
    source = shutil.copytree(ROOT / "packages" / "extension" / "tests" / "data" / "custom_cpu", folder / "source")
    text = (source / "setup.py").read_text()
    text = re.sub(r"/path/to/site-packages/paddle/include/?", get_include(), text)
    (source / "setup.py").write_text(text.replace("/path/to/site-packages/paddle/fluid/", get_lib()))
    environment = {**os.environ, "CFLAGS": "-O0"}
    done = subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel"], cwd=source, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = folder / "site-packages"
    for wheel in (*(source / "dist").glob("*.whl"), plugin[1]):
        zipfile.ZipFile(wheel).extractall(site)
    assert list((site / "paddle-plugins").glob("libpaddle_custom_cpu*.so"))
    return [site, *plugin[2][1:]]


def test_device_of_paddles_interface_and_one_of_ours_live_in_one_process(beside_paddles):
    program = """
import numpy as np
import wherry as paddle

assert sorted(paddle.device.get_all_custom_device_type()) == ["CustomCPU", "mydevice"], paddle.device.get_all_custom_device_type()
numbers = np.arange(6, dtype="float32").reshape(2, 3)
x = paddle.to_tensor(numbers, place="CustomCPU")
y = paddle.to_tensor(numbers, place="mydevice:1")
assert [repr(t.place) for t in (x, y)] == ["Place(CustomCPU:0)", "Place(mydevice:1)"]
np.testing.assert_array_equal((x + x).numpy(), numbers + numbers)  # a kernel of each
np.testing.assert_array_equal((y + y).numpy(), numbers + numbers)
np.testing.assert_array_equal((x.mydevice(1) + y.customcpu().mydevice(1)).numpy(), numbers + numbers)
try:
    x + y
except ValueError as error:
    print(error)
for name in ("CustomCPU", "mydevice:0", "cpu"):
    paddle.set_device(name)
    w = paddle.ones([3], "float32")
    w.stop_gradient = False
    (paddle.to_tensor(numbers) + w).sum().backward()
    assert w.place == w.grad.place and w.grad.tolist() == [2.0, 2.0, 2.0], (name, w.place, w.grad)
print(paddle.device.get_available_device())
"""
    done = run(sys.executable, "-W", "ignore", "-c", program, site=beside_paddles)
    mixed, there = done.stdout.splitlines()
    assert "the inputs are on different devices" in mixed and "CustomCPU:0" in mixed and "mydevice:1" in mixed
    assert there == "['cpu', 'CustomCPU:0', 'mydevice:0', 'mydevice:1']" and not done.stderr


@pytest.mark.parametrize(("kind", "place"), [("npu", "paddle.NPUPlace(1)"), ("mlu", "paddle.device.MLUPlace(1)"), ("xpu", "paddle.XPUPlace(1)")])
def test_names_of_hardware_resolve_to_libraries_that_bring_it(tmp_path, kind, place):
    source = ROOT / "packages" / "extension" / "tests" / "data" / "test_device.c"
    command = ["cc", "-std=gnu11", "-fPIC", "-shared", f'-DNAME="{kind}"', f"-I{get_include()}", str(source), "-o", str(tmp_path / f"lib{kind}.so")]
    subprocess.run(command, check=True)
    program = f"""
import wherry as paddle
others = {{"npu", "mlu", "xpu", "ipu", "rocm"}} - {{"{kind}"}}
assert paddle.device.is_compiled_with_{kind}() and not any(getattr(paddle.device, f"is_compiled_with_{{name}}")() for name in others)
assert repr(paddle.set_device("{kind}:1")) == repr({place}) == "Place({kind}:1)"
assert repr(paddle.set_device("{kind}")) == "Place({kind}:0)" and len(paddle.static.{kind}_places()) == 2
assert repr(paddle.to_tensor([1.0], place="cpu").{kind}(1).place) == "Place({kind}:1)"
paddle.utils.run_check()
"""
    environment = {**os.environ, "CUSTOM_DEVICE_ROOT": str(tmp_path), f"FLAGS_selected_{kind}s": "0,1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"works well on 1 {kind.upper()}." in done.stdout and f"works well on 2 {kind.upper()}s." in done.stdout
