"""What the compiler, or the operator's registration, refuses."""
from __future__ import annotations

import shutil

import pytest

from operator_sources import FAST, OP, source
from wherry_extension.cpp_extension import load

pytestmark = pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="needs a C++ compiler")


def test_a_compiler_error_names_line_and_file_of_the_user(tmp_path):
    path = source(tmp_path, "broken_op", OP.replace("paddle::add(x, x)", "paddle::add(x, undeclared)"))
    with pytest.raises(RuntimeError, match=r"(?s)broken_library: it does not compile.*broken_op\.cc:4: .*undeclared.*build\.log") as caught:
        load("broken_library", [path], FAST, build_directory=str(tmp_path / "b"))
    assert len(str(caught.value)) < 1500


def test_a_kernel_function_with_a_parameter_of_another_type_does_not_compile(tmp_path):
    path = source(tmp_path, "typed_op", OP.replace("const paddle::Tensor &x", "const paddle::Tensor &x, char c"))
    with pytest.raises(RuntimeError, match=r"(?s)a kernel function takes const paddle::Tensor&.*"):
        load("typed_library", [path], FAST, build_directory=str(tmp_path / "b"))


GRAD = '\nPD_BUILD_GRAD_OP(NAME).Inputs({paddle::Grad("Out")}).Outputs({paddle::Grad("X")}).SetKernelFn(PD_KERNEL(Twice))'
WRONG = {
    "relu": (OP.replace("PD_BUILD_OP(NAME)", "PD_BUILD_OP(relu)"), RuntimeError, "relu: an operator of this name exists: one of the vocabulary"),
    "orphan_op": (OP.split("PD_BUILD")[0] + GRAD + ";", ValueError, "nothing that it is the gradient of"),
    "unknown_op": (OP + GRAD.replace('Grad("Out")}', 'Grad("Sum")}') + ";", ValueError, "takes a tensor that nobody knows"),
    "attr_op": (OP.replace('.SetKernelFn', '.Attrs({"a: char"}).SetKernelFn'), ValueError, 'Got "a: char"|Got \'a: char\''),
    "kernelless_op": (OP.replace(".SetKernelFn(PD_KERNEL(Twice))", ""), ValueError, "has no kernel function"),
    "counted_op": (OP.replace('{"X"}', '{"X", "Y"}'), ValueError, "a function of 1 tensors and 0 attributes, expected 2 and 0"),
    "placeless_op": (OP.replace(".SetKernelFn", '.SetInplaceMap({{"Y", "Out"}}).SetKernelFn'), ValueError, "SetInplaceMap names 'Y' and 'Out'"),
    "unwritten_op": (OP.replace(".SetKernelFn", '.SetInplaceMap({{"X", "Out"}}).SetKernelFn'), ValueError, "writes 0 tensors in place"),
    "empty_op": (OP.split("PD_BUILD")[0], ValueError, "the sources build no operator"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_operator_that_is_built_wrongly_is_refused(tmp_path, case):
    text, kind, message = WRONG[case]
    path = source(tmp_path, case, text)
    with pytest.raises(kind, match=message):
        load(f"wrong_{case}", [path], FAST, build_directory=str(tmp_path / "b"))
