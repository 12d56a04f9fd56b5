"""What a page does, in Pyodide without NumPy. run.mjs runs this; expected.py wrote the file it compares with."""
import io
import os
import struct
import sys

import pytest

sys.path.append("tools")  # of the repository, which is the current folder
from package_table import packages  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform != "emscripten", reason="runs in Pyodide: node tests/wasm/run.mjs")

EXPECTED = "build/wasm/expected.bin"


@pytest.fixture(autouse=True, scope="module")
def numpy_is_absent():
    assert "numpy" not in sys.modules
    yield
    assert "numpy" not in sys.modules


COMPUTES_WITH_NUMPY = {"wherry_quant"}  # calibration and formats of weights; a program that imports it loads NumPy
PACKAGES = [package.module for package in packages().values() if package.in_browser and package.module not in COMPUTES_WITH_NUMPY]


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports(package):
    __import__(package)


def test_kernels_are_those_of_the_instruction_set_that_was_asked_for():
    import wherry_ops_cpu

    asked = os.environ.get("WHERRY_CPU_ISA")
    assert wherry_ops_cpu.chosen_isa() == asked or (not asked and wherry_ops_cpu.chosen_isa() == wherry_ops_cpu.supported_isas()[0])


def test_ops_give_what_they_give_natively():
    import agree

    with open(EXPECTED, "rb") as file:
        made, wrong = agree.disagreements(file.read())
    assert made > 3000
    assert not wrong, f"{len(wrong)} of {made} calls differ\n" + "\n".join(wrong[:40])


def digits_like(paddle, count):
    """Images whose brightest row is their class, so that a network learns them at once."""
    paddle.seed(3)
    labels = paddle.randint(0, 10, [count])
    rows = paddle.nn.functional.one_hot(labels, 10).reshape([count, 1, 10, 1])
    images = paddle.nn.functional.pad(paddle.expand(rows, [count, 1, 10, 28]), [0, 0, 9, 9])
    return images + 0.1 * paddle.randn(images.shape), labels


def test_lenet_learns_and_its_weights_come_back_from_a_file():
    import wherry as paddle

    images, labels = digits_like(paddle, 64)
    net = paddle.vision.models.LeNet()
    optimizer = paddle.optimizer.Adam(0.002, parameters=net.parameters())
    losses = []
    for _ in range(20):
        loss = paddle.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0], losses

    file = io.BytesIO()
    paddle.save(net.state_dict(), file)
    file.seek(0)
    again = paddle.vision.models.LeNet()
    again.set_state_dict(paddle.load(file))
    net.eval(), again.eval()
    assert again(images[:4]).tolist() == net(images[:4]).tolist()


def test_tensors_exchange_memory_by_the_buffer_protocol():
    import wherry

    x = wherry.to_tensor(memoryview(struct.pack("6f", *range(6))).cast("B").cast("f", [2, 3]))
    assert x.shape == [2, 3]
    assert memoryview(wherry.transpose(x, [1, 0])).tolist() == [[0, 3], [1, 4], [2, 5]]
