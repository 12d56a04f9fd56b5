"""The source of an operator, for tests that build it or change it."""
OP = """
#include "helper.h"
#include "paddle/extension.h"
std::vector<paddle::Tensor> Twice(const paddle::Tensor &x) { return {paddle::add(x, x)}; }
PD_BUILD_OP(NAME).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Twice));
"""
FAST = ["-O0"]


def source(folder, name, text=OP, helper="// nothing\n"):
    (folder / "helper.h").write_text(helper)
    path = folder / f"{name}.cc"
    path.write_text(text.replace("NAME", name))
    return path
