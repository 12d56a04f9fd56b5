"""The conformance kit over every op that has a kernel here, on the emulated device in checked mode.

What has no kernel runs on its decomposition or on the cpu, which other suites test.
"""
import os
import sys
from contextlib import nullcontext

import pytest

import wherry_ops_cpu.column
from wherry_tensor.testing import kit

wherry_ops_cpu.column.register()

# Minutes of emulation wait for `tox -e cuda-slow`: a comparison with the cpu's kernels, where `kernel` compares with NumPy; outputs that are
# given, which kernels get in the same way; and the samples of some ops, whose kernels test_training.py, test_long.py and `solve` run always.
ALL = "WHERRY_CUDA_ALL_DTYPES" in os.environ
# What of the kit asks a kernel. Gradients and captures run the same kernels once more; the suites above them do that.
CHECKS = ("kernel", "layout", "bad", *(["against_cpu", "into"] if ALL else []))
HEAVY = ("conv2d", "conv2d_transpose", "conv2d_input_vjp", "conv2d_weight_vjp", "attention_dropout", "triangular_solve")


def _pairs():
    for op, spec in sorted(kit.specs.items(), key=lambda item: item[0].name):
        if op.kernel_dtypes("gpu") and (ALL or op.name not in HEAVY):
            for check in CHECKS:
                if check == "against_cpu" or kit.applies(check, spec):  # which applies where the current device is another one
                    yield pytest.param(check, spec, id=f"{check}-{op.name}")


@pytest.mark.skipif(
    sys.version_info >= (3, 12) and not ALL,
    reason="kernels do not depend on the Python that calls them: 3.11 runs the kit for all",
)
@pytest.mark.parametrize(("check", "spec"), list(_pairs()))
def test_op(gpu, two_blocks, check, spec):
    with two_blocks() if check == "kernel" else nullcontext():  # the other checks have the grids that a GPU gets
        kit.checks[check](spec)
