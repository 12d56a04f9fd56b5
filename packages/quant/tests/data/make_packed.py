"""Writes packed.npz: weights as compressed-tensors and AutoAWQ pack them, and what they mean.

    python make_packed.py        needs torch, compressed-tensors and autoawq, which the tests do not
"""
import importlib.util
from pathlib import Path

import numpy as np
import torch
from compressed_tensors.compressors import pack_to_int32

rng = np.random.default_rng(0)
out = {}
for bits in 4, 8:
    half = 1 << (bits - 1)
    codes = rng.integers(-half, half, (24, 40)).astype(np.int8)  # [out, in]
    zeros = rng.integers(-half, half, (24, 5)).astype(np.int8)
    scales = rng.random((24, 5)).astype(np.float16)
    out[f"ct{bits}.weight_packed"] = pack_to_int32(torch.tensor(codes), bits).numpy()
    out[f"ct{bits}.weight_zero_point"] = pack_to_int32(torch.tensor(zeros), bits, packed_dim=0).numpy()
    out[f"ct{bits}.weight_scale"] = scales
    out[f"ct{bits}.weight_shape"] = np.array(codes.shape, np.int64)
    rows = np.arange(40) // 8
    out[f"expected.ct{bits}"] = ((codes.astype(np.float32) - zeros[:, rows]) * scales.astype(np.float32)[:, rows]).T
# The package itself imports what needs a GPU.
place = Path(next(iter(importlib.util.find_spec("awq").submodule_search_locations))) / "utils" / "packing_utils.py"
spec = importlib.util.spec_from_file_location("packing_utils", place)
awq = importlib.util.module_from_spec(spec)
spec.loader.exec_module(awq)
weight = torch.tensor(rng.integers(-(2**31), 2**31, (32, 3)).astype(np.int32))  # [in, out / 8]
zeros = torch.tensor(rng.integers(-(2**31), 2**31, (4, 3)).astype(np.int32)) | 0x11111111  # none is 0, which less one does not fit
scales = torch.tensor(rng.random((4, 24)).astype(np.float16))
out["expected.awq"] = awq.dequantize_gemm(weight, zeros, scales.float(), 4, 8).float().numpy()
rows, packed = awq.unpack_reorder_pack(weight, zeros, 4)
for name, parts in ("awq", (weight, zeros)), ("gptq", (rows, packed)):
    out[f"{name}.qweight"], out[f"{name}.qzeros"], out[f"{name}.scales"] = parts[0].numpy(), parts[1].numpy(), scales.numpy()
out["expected.gptq"] = out["expected.awq"]
np.savez_compressed(Path(__file__).parent / "packed.npz", **out)
