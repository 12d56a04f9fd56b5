"""Fragments of tensor cores lie as the PTX ISA's tables say, and copies into shared memory end where they are told to."""
import ctypes
import random
from pathlib import Path

import pytest

import wherry_cuda_emulator
from wherry_cuda_emulator import Emulator

_HERE = Path(__file__).parent
_BUILD = _HERE.parents[2] / "build" / "cuda-emulator"


@pytest.fixture(scope="module", params=["fast", "checked"])
def cores(request):
    source = _HERE / "sources" / "tensor_cores.cu"
    return Emulator(wherry_cuda_emulator.compile([source], _BUILD / f"tensor_cores_{request.param}.so", mode=request.param))


def _floats(values):
    return (ctypes.c_float * len(values))(*values)


@pytest.mark.parametrize("order", ["forward", "reverse", 5])
@pytest.mark.parametrize("how", ["by the tables", "by ldmatrix", "by ldmatrix.trans"])
@pytest.mark.parametrize("is_half", [0, 1])
def test_one_warp_multiplies_as_a_plain_product(cores, is_half, how, order):
    draw = random.Random(1)
    a, b = ([draw.randint(-8, 8) / 4 for _ in range(n)] for n in (256, 128))  # exact in both types
    cores.set(order=order)
    out = (ctypes.c_float * 128)()
    status = cores.library.run_product(_floats(a), _floats(b), out, is_half, ["by the tables", "by ldmatrix", "by ldmatrix.trans"].index(how))
    cores.set()
    assert (status, cores.report) == (0, "")
    assert list(out) == [1 + sum(a[16 * m + k] * b[8 * k + n] for k in range(16)) for m in range(16) for n in range(8)]


@pytest.mark.parametrize(("value", "is_half"), [(2.0**-24, 1), (2.0**-20, 1), (65504.0, 1), (float("inf"), 1), (2.0**-133, 0), (3.0e38, 0)])
def test_values_at_the_ends_of_the_types_keep_their_value(cores, value, is_half):
    rounded = value if is_half or value < 1 else ctypes.c_float.from_buffer_copy((0x7F620000).to_bytes(4, "little")).value
    a, b = [0.0] * 256, [0.0] * 128
    a[0], b[0] = rounded, 1.0
    out = (ctypes.c_float * 128)()
    assert cores.library.run_product(_floats(a), _floats(b), out, is_half, 0) == 0
    assert out[0] == ctypes.c_float(1 + rounded).value
    if rounded != float("inf"):
        assert list(out)[1:] == [1.0] * 127


@pytest.mark.parametrize("valid", [0, 1, 5, 8])
def test_copies_of_fewer_bytes_read_no_more_and_fill_with_zeros(cores, valid):
    out = (ctypes.c_uint16 * 8)()
    assert cores.library.run_copied((ctypes.c_uint16 * 8)(*range(1, 9)), out, valid) == 0, cores.report
    assert list(out) == [*range(1, valid + 1), *[0] * (8 - valid)]


def test_instructions_of_tensor_cores_are_counted():
    source = _HERE / "sources" / "tensor_cores.cu"
    emulator = Emulator(wherry_cuda_emulator.compile([source], _BUILD / "tensor_cores_checked.so", mode="checked"))
    with emulator.measure() as found:
        emulator.library.run_product(_floats([0.0] * 256), _floats([0.0] * 128), (ctypes.c_float * 128)(), 1, 1)
    (one,) = found
    assert one.products == 1
    with emulator.measure() as found:
        emulator.library.run_copied((ctypes.c_uint16 * 8)(), (ctypes.c_uint16 * 8)(), 8)
    assert found[0].products == 0
