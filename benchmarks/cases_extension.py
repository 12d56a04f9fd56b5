"""An element-wise operator in C++, the relu of Paddle's manual, on [2, 3], not recorded: built by `wherry.utils.cpp_extension`, by PyTorch's, and
the op that Wherry has (`built-in`)."""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

PADDLE = """
#include "paddle/extension.h"

std::vector<paddle::Tensor> Forward(const paddle::Tensor &x) {
  auto out = paddle::empty_like(x);
  const float *from = x.data<float>();
  float *to = out.data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] > 0 ? from[i] : 0;
  return {out};
}

PD_BUILD_OP(benchmark_relu).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Forward));
"""
TORCH = """
#include <torch/extension.h>

torch::Tensor relu(const torch::Tensor &x) {
  auto out = torch::empty_like(x);
  const float *from = x.data_ptr<float>();
  float *to = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] > 0 ? from[i] : 0;
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("relu", &relu); }
"""
X = np.array([[-1, 2, -3], [4, -5, 6]], "float32")


def make(framework: str):
    if framework == "torch":
        import torch
        from torch.utils.cpp_extension import load_inline

        custom, x = load_inline("benchmark_relu", TORCH), torch.from_numpy(X)
        return {"relu of the manual": lambda: custom.relu(x)}
    if framework not in ("wherry", "built-in"):
        return {}
    import wherry

    x = wherry.to_tensor(X)
    if framework == "built-in":
        return {"relu of the manual": lambda: wherry.nn.functional.relu(x)}
    from wherry.utils.cpp_extension import load

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "relu.cc")
        source.write_text(PADDLE)
        custom = load(name="benchmark_relu", sources=[str(source)])
    return {"relu of the manual": lambda: custom.benchmark_relu(x)}
