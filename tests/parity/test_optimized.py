"""What real Paddle's passes for inference make of a program, and save, wherry reads: fused operators, folded constants, repeated attributes."""
from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, start  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "optimized_program.py"
FUSED = {
    "fc", "fused_conv2d", "fused_elementwise_add", "fused_elementwise_mul", "fused_elementwise_sub", "fused_fc_elementwise_layernorm",
    "fused_matmul", "fused_softplus", "fusion_repeated_fc_relu", "skip_layernorm",
}  # fmt: skip


def test_programs_that_paddle_optimized_give_the_same(tmp_path):
    start("paddle", PROGRAM, "make", tmp_path)
    start("wherry", "-m", "wherry", "run", PROGRAM, "run", tmp_path)
    made, ran = (pickle.loads((tmp_path / f"{what}.pickle").read_bytes()) for what in ("make", "run"))  # noqa: S301  our own files
    for label, (_, _, expected) in made.items():
        for x, y in zip(ran[label], expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5, err_msg=label)
    seen = {kind for _, kinds, _ in made.values() for kind in kinds}
    assert seen & FUSED == FUSED, "Paddle did not fuse what this test is for"


# What layers of `paddle.incubate.nn` become, and what needs no other kernels than those of GPUs.
OF_GPUS = ("fused_attention", "fused_feedforward", "fused_gemm_epilogue", "fused_multi_transformer")


def test_other_fused_operators_are_not_there_on_a_cpu(tmp_path):
    """Why no rule reads them: no program with them can be made or run here. Once Paddle can, there should be rules."""
    program = tmp_path / "known.py"
    program.write_text(f"""
import zlib, paddle
from paddle.base.framework import OpProtoHolder
for name in {OF_GPUS}:
    try:
        OpProtoHolder.instance().get_op_proto(name)
        print("THERE", name)
    except ValueError:
        pass
""")
    assert "THERE" not in start("paddle", program)
