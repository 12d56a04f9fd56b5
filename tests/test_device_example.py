"""The device of docs/devices.md: compiled as C11, found by its entry point, and trained on."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import page_code  # noqa: E402

PAGE = page_code.DOCS / "devices.md"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package as pip would install it."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("pico")
    (path / "pico.c").write_text("\n".join(page_code.blocks(PAGE, "c")))
    package = path / "site" / "pico"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(page_code.blocks(PAGE, "python")[0])
    page_code.compile_c("pico.c", str(package / "pico.so"), path)
    facts = path / "site" / "pico-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: pico\nVersion: 1.0\n")
    group, rest = re.search(r'entry-points\."([\w.]+)"\]\n(.*)', page_code.blocks(PAGE, "toml")[0]).groups()
    name, value = [part.strip().strip('"') for part in rest.split("=")]
    (facts / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    return path / "site"


def run(site, program):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(site)!r})\n" + program], capture_output=True, text=True, check=False
    )


def test_device_of_the_page_trains(site):
    done = run(site, page_code.blocks(PAGE, "python")[1])
    assert done.returncode == 0, done.stderr
    assert f"prints `{done.stdout.strip()}`" in PAGE.read_text()


def test_device_is_asked_only_when_it_is_named(site):
    program = """
import sys
import wherry as paddle
assert paddle.device.get_all_custom_device_type() == ["pico"] and "pico" not in sys.modules
x = paddle.ones([2])
assert "pico" not in sys.modules
y = paddle.to_tensor([1.0, 2.0], place="pico")
assert "pico" in sys.modules and repr(y.place) == "Place(pico:0)" and y.place.is_custom_place()
assert paddle.get_device() == "cpu" and paddle.device.get_available_device() == ["cpu", "pico:0"]
try:
    x + y
except ValueError as error:
    print(error)
try:
    paddle.set_device("pico:1")
except ValueError as error:
    print(error)
try:
    paddle.CustomPlace("nano", 0)
except RuntimeError as error:
    print(error)
"""
    done = run(site, program)
    assert done.returncode == 0, done.stderr
    mixed, number, absent = done.stdout.splitlines()
    assert mixed == (
        "add: the inputs are on different devices. Got 'x' of shape [2] on cpu and 'y' of shape [2] on pico:0, expected one "
        "device. Move one of them: x.to('cpu')."
    )
    assert "Got 'pico:1', expected a number in [0, 1)" in number
    assert "Got 'nano', expected one of cpu, pico" in absent
