"""The example of docs/abi.md: compiled as C11 against the installed header, registered and called.

It runs in a process of its own, because the kernels it registers replace those of the cpu.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wherry_tensor

sys.path.insert(0, str(Path(__file__).parent))
import page_code  # noqa: E402

PAGE = page_code.DOCS / "abi.md"

CALLS = """
import numpy as np
import wherry_ops_cpu.column
from wherry_tensor import ops, to_tensor

x = to_tensor(np.array([[-2.0, 0.0, np.nan], [3.0, -0.5, 1.0]], "float32"))
np.testing.assert_array_equal(ops.relu(x).numpy(), [[0, 0, 0], [3, 0, 1]])
np.testing.assert_array_equal(ops.leaky_relu(x, negative_slope=0.5).numpy(), [[-1, 0, np.nan], [3, -0.25, 1]])
row = to_tensor(np.array([1.0, 2.0, 3.0], "float32"))
np.testing.assert_array_equal(ops.add(x, row).numpy(), x.numpy() + row.numpy())
assert kernel_generation() > before, "plans of the first registration are stale"
columns = ops.transpose(x, perm=(1, 0))
np.testing.assert_array_equal(ops.add(columns, columns).numpy(), 2 * x.numpy().T)
for call, error, text in [
    (lambda: ops.leaky_relu(x, negative_slope=float("nan")), ValueError, "Got negative_slope=nan, expected a finite one"),
]:
    try:
        call()
    except error as raised:
        assert text in str(raised), raised
    else:
        raise SystemExit(f"{error.__name__} was not raised")
print("the kernels of the page ran")
"""

# What the page's last section tells its reader to run, for the ops that the page has kernels for.
KIT = """
from wherry_tensor.testing import kit
for op in ops.relu, ops.leaky_relu, ops.add:
    kit.check_all(kit.specs[op])
print("the kernels of the page passed the kit")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("abi")
    (path / "relu.c").write_text("\n".join(page_code.blocks(PAGE, "c")))
    (path / "register.py").write_text(page_code.blocks(PAGE, "python")[0])
    page_code.compile_c("relu.c", "mine.so", path)
    return path


def test_header_is_plain_c11(tmp_path):
    source = tmp_path / "only.c"
    source.write_text('#include "wherry/abi.h"\nint nothing(void) { return WRY_OK; }\n')
    subprocess.run(
        ["cc", "-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{wherry_tensor.get_include()}", str(source)],
        check=True,
    )


def test_kernels_of_the_page_run(folder):
    program = (folder / "register.py").read_text()
    # The cpu kernels register when they are first needed; ours must come after them to replace them.
    first = (
        "from wherry_tensor import ops, to_tensor\nfrom wherry_tensor._core import kernel_generation\n"
        "ops.relu(to_tensor([1.0]))\nbefore = kernel_generation()\n"
    )
    first += "from wherry_tensor._core import kernel_generation\nbefore = kernel_generation()\n"
    done = subprocess.run(
        [sys.executable, "-c", first + program + CALLS + KIT], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "the kernels of the page ran" in done.stdout
    assert "the kernels of the page passed the kit" in done.stdout


def test_kernels_for_another_abi_are_refused(folder):
    headers = folder / "later" / "wherry"
    headers.mkdir(parents=True)
    text = (Path(wherry_tensor.get_include()) / "wherry" / "abi.h").read_text()
    (headers / "abi.h").write_text(text.replace("#define WRY_ABI_VERSION 2", "#define WRY_ABI_VERSION 99"))
    subprocess.run(
        ["cc", "-std=c11", "-fPIC", "-shared", f"-I{headers.parent}", "relu.c", "-o", "other.so"], cwd=folder, check=True,
    )
    program = (folder / "register.py").read_text().replace("./mine.so", "./other.so")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert "ImportError: mine.so was built for another kernel ABI" in done.stderr


def test_kernels_for_an_op_that_is_not_declared_name_what_to_upgrade(folder):
    source = (folder / "relu.c").read_text().replace('{"relu", ', '{"relu_of_tomorrow", ')
    (folder / "newer.c").write_text(source)
    subprocess.run(
        ["cc", "-std=c11", "-fPIC", "-shared", f"-I{wherry_tensor.get_include()}", "newer.c", "-o", "newer.so"],
        cwd=folder, check=True,
    )
    program = (folder / "register.py").read_text().replace("./mine.so", "./newer.so")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert "ImportError" in done.stderr
    assert "Got one for 'relu_of_tomorrow'" in done.stderr
    assert "pip install --upgrade wherry-tensor" in done.stderr
