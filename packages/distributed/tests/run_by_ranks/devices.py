"""Which device the ranks of a test compute on: WHERRY_TEST_DEVICE, "cpu" or "gpu" (the emulator's, one for each rank)."""
import os

import wherry_ops_cpu.column
import wherry_tensor as wt

wherry_ops_cpu.column.register()
ON_GPU = os.environ.get("WHERRY_TEST_DEVICE") == "gpu"
if ON_GPU:
    import wherry_ops_cuda.column

    wherry_ops_cuda.column.register()
    wt.set_device("gpu")
