"""What NVIDIA's libraries answer where there is no GPU: to calls about descriptors. The fakes of the tests have to answer the same.

    python record_answers.py cublaslt LIBRARY     writes answers/cublaslt.json from the real library
    python record_answers.py headers FOLDER...    compares the numbers of our declarations with NVIDIA's headers

The calls are made through ctypes, with the numbers that NVIDIA documents.
"""
from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = HERE / "answers"
_SOURCES = HERE.parent / "src" / "wherry_ops_cuda" / "csrc"

Answer = tuple[str, object]


def cublaslt(library: ctypes.CDLL) -> Iterator[Answer]:
    """Each call and its status (7: CUBLAS_STATUS_INVALID_VALUE)."""
    desc, layout, preference = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    values = {1: ctypes.c_int8(1), 4: ctypes.c_int32(1), 8: ctypes.c_uint64(256), 16: ctypes.create_string_buffer(16)}

    def sizes(kind: str, function: Callable[..., int], handle: ctypes.c_void_p, attributes: tuple[int, ...]) -> Iterator[Answer]:
        for attribute in attributes:
            for size in values:
                yield f"{kind} attribute {attribute} of {size} bytes", function(handle, attribute, ctypes.byref(values[size]), ctypes.c_size_t(size))
        yield f"{kind} attribute without a value", function(handle, attributes[0], None, ctypes.c_size_t(4))
        yield f"{kind} attribute without a size", function(handle, attributes[0], ctypes.byref(values[4]), ctypes.c_size_t(0))
        yield f"{kind} attribute that does not exist", function(handle, 999, ctypes.byref(values[4]), ctypes.c_size_t(4))

    yield "create without a place", library.cublasLtCreate(None)
    yield "desc", library.cublasLtMatmulDescCreate(ctypes.byref(desc), 68, 0)
    yield from sizes("desc", library.cublasLtMatmulDescSetAttribute, desc, (3, 4, 7, 8, 2))
    for name, shape in {"layout": (4, 5, 4), "layout with a small step": (4, 5, 3), "layout of nothing": (0, 5, 4)}.items():
        rows, columns, step = shape
        yield name, library.cublasLtMatrixLayoutCreate(
            ctypes.byref(layout), 0, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(step)
        )
    yield from sizes("layout", library.cublasLtMatrixLayoutSetAttribute, layout, (0, 1, 2, 3, 4, 5, 6))
    yield "preference", library.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
    yield from sizes("preference", library.cublasLtMatmulPreferenceSetAttribute, preference, (0, 1, 3, 5, 6, 7, 8))
    found, place, one = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_float(1)
    yield "heuristic without a handle", library.cublasLtMatmulAlgoGetHeuristic(
        None, desc, layout, layout, layout, layout, preference, 1, place, ctypes.byref(found)
    )
    yield "product without a handle", library.cublasLtMatmul(
        None, desc, ctypes.byref(one), None, layout, None, layout, ctypes.byref(one), None, layout, None, layout, None, None, ctypes.c_size_t(0), None
    )
    yield "destroy preference", library.cublasLtMatmulPreferenceDestroy(preference)
    yield "destroy layout", library.cublasLtMatrixLayoutDestroy(layout)
    yield "destroy desc", library.cublasLtMatmulDescDestroy(desc)
    yield "destroy no desc", library.cublasLtMatmulDescDestroy(None)


def cudnn(library: ctypes.CDLL) -> Iterator[Answer]:
    """Each call and its status (2000: CUDNN_STATUS_BAD_PARAM), and sizes of outputs."""
    tensor, weight, conv = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    yield "create without a place", library.cudnnCreate(None)
    yield "tensor", library.cudnnCreateTensorDescriptor(ctypes.byref(tensor))
    yield "filter", library.cudnnCreateFilterDescriptor(ctypes.byref(weight))
    yield "convolution", library.cudnnCreateConvolutionDescriptor(ctypes.byref(conv))
    yield "tensor without a place", library.cudnnCreateTensorDescriptor(None)
    for layout, dtype, *sizes in (
        (0, 0, 2, 3, 8, 9), (1, 0, 2, 3, 8, 9), (0, 2, 2, 3, 8, 9), (1, 9, 2, 3, 8, 9), (0, 1, 2, 3, 8, 9), (9, 0, 2, 3, 8, 9),
        (0, 99, 2, 3, 8, 9), (0, 0, 0, 3, 8, 9), (0, 0, 2, -1, 8, 9), (0, 0, 2, 3, 0, 9), (0, 0, 1, 1, 1, 1),
    ):  # fmt: skip
        yield f"tensor {layout} {dtype} {sizes}", library.cudnnSetTensor4dDescriptor(tensor, layout, dtype, *sizes)
    yield "no tensor", library.cudnnSetTensor4dDescriptor(None, 0, 0, 2, 3, 8, 9)
    for dtype, layout, *sizes in (
        (0, 0, 6, 3, 3, 3), (0, 1, 6, 3, 3, 3), (2, 1, 6, 3, 1, 1), (0, 9, 6, 3, 3, 3), (99, 0, 6, 3, 3, 3), (0, 0, 0, 3, 3, 3),
        (0, 0, 6, 3, -1, 3),
    ):  # fmt: skip
        yield f"filter {dtype} {layout} {sizes}", library.cudnnSetFilter4dDescriptor(weight, dtype, layout, *sizes)
    yield "no filter", library.cudnnSetFilter4dDescriptor(None, 0, 0, 6, 3, 3, 3)
    for numbers in (
        (0, 0, 1, 1, 1, 1, 1, 0), (1, 2, 2, 3, 1, 1, 1, 0), (1, 1, 1, 1, 2, 3, 1, 1), (-1, 0, 1, 1, 1, 1, 1, 0), (0, 0, 0, 1, 1, 1, 1, 0),
        (0, 0, 1, -1, 1, 1, 1, 0), (0, 0, 1, 1, 0, 1, 1, 0), (0, 0, 1, 1, 1, 1, 7, 0), (0, 0, 1, 1, 1, 1, 1, 99), (0, 0, 1, 1, 1, 1, 0, 0),
    ):  # fmt: skip
        yield f"convolution {numbers}", library.cudnnSetConvolution2dDescriptor(conv, *numbers)
    yield "no convolution", library.cudnnSetConvolution2dDescriptor(None, 0, 0, 1, 1, 1, 1, 1, 0)
    for groups in (1, 3, 0, -1):
        yield f"{groups} groups", library.cudnnSetConvolutionGroupCount(conv, groups)
    for math in (0, 1, 3, 9):
        yield f"math {math}", library.cudnnSetConvolutionMathType(conv, math)
    for layout, image, window, numbers, groups in (
        ((0, 0), (2, 3, 8, 9), (6, 3, 3, 3), (0, 0, 1, 1, 1, 1), 1),
        ((0, 0), (2, 3, 8, 9), (6, 3, 3, 3), (1, 1, 2, 2, 1, 1), 1),
        ((0, 0), (2, 3, 8, 9), (6, 3, 3, 2), (1, 2, 2, 3, 2, 1), 1),
        ((1, 1), (2, 3, 8, 9), (6, 3, 3, 2), (1, 2, 2, 3, 2, 1), 1),
        ((0, 0), (2, 6, 8, 9), (6, 3, 3, 3), (0, 0, 1, 1, 1, 1), 2),
        ((0, 0), (2, 6, 8, 9), (6, 1, 3, 3), (1, 1, 1, 1, 1, 1), 6),
        ((0, 0), (2, 4, 8, 9), (6, 3, 3, 3), (0, 0, 1, 1, 1, 1), 1),  # channels that do not fit
        ((0, 0), (2, 6, 8, 9), (5, 3, 3, 3), (0, 0, 1, 1, 1, 1), 2),  # nor do the outputs
        ((0, 0), (2, 3, 2, 2), (6, 3, 3, 3), (0, 0, 1, 1, 1, 1), 1),  # a window larger than the image
        ((1, 0), (2, 3, 8, 9), (6, 3, 3, 3), (0, 0, 1, 1, 1, 1), 1),  # layouts that differ
    ):
        library.cudnnSetTensor4dDescriptor(tensor, layout[0], 0, *image)
        library.cudnnSetFilter4dDescriptor(weight, 0, layout[1], *window)
        library.cudnnSetConvolution2dDescriptor(conv, *numbers, 1, 0)
        library.cudnnSetConvolutionGroupCount(conv, groups)
        sizes = (ctypes.c_int * 4)()
        places = [ctypes.byref(sizes, 4 * i) for i in range(4)]
        status = library.cudnnGetConvolution2dForwardOutputDim(conv, tensor, weight, *places)
        yield f"output of {image} by {window}, {numbers}, {groups} groups, {layout}", [status, list(sizes) if status == 0 else None]
    yield "stream without a handle", library.cudnnSetStream(None, None)
    yield "destroy tensor", library.cudnnDestroyTensorDescriptor(tensor)
    yield "destroy filter", library.cudnnDestroyFilterDescriptor(weight)
    yield "destroy convolution", library.cudnnDestroyConvolutionDescriptor(conv)
    yield "destroy no tensor", library.cudnnDestroyTensorDescriptor(None)


PROBES: dict[str, Callable[[ctypes.CDLL], Iterator[Answer]]] = {"cublaslt": cublaslt, "cudnn": cudnn}

_ALIKE = r"""
#include <cstddef>
#include <type_traits>
// Every function takes what we say: as many arguments, of the same size and kind.
template <typename A, typename B> constexpr bool alike() {
  return (std::is_pointer<A>::value && std::is_pointer<B>::value) ||
         (sizeof(A) == sizeof(B) && (std::is_enum<A>::value || std::is_integral<A>::value) && (std::is_enum<B>::value || std::is_integral<B>::value));
}
template <typename F, typename G> struct Same : std::false_type {};
template <typename R, typename S, typename... A, typename... B> struct Same<R(A...), S(B...)> {
  template <typename... X> struct List {};
  template <bool equal, typename L, typename M> struct Each : std::false_type {};
  template <typename... X, typename... Y> struct Each<true, List<X...>, List<Y...>> { static constexpr bool value = (alike<X, Y>() && ...); };
  static constexpr bool value = Each<sizeof...(A) == sizeof...(B), List<A...>, List<B...>>::value && alike<R, S>();
};
"""
_CUBLASLT = r"""
#include <cublasLt.h>
#include "%s/cublaslt.h"
using namespace wherry::cuda::cublaslt;
#define SAME(ours, theirs) static_assert(int(ours) == int(theirs), #theirs);
SAME(NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED) SAME(ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED) SAME(INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE)
SAME(ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH) SAME(MAPPING_ERROR, CUBLAS_STATUS_MAPPING_ERROR)
SAME(EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED) SAME(INTERNAL_ERROR, CUBLAS_STATUS_INTERNAL_ERROR)
SAME(NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED) SAME(LICENSE_ERROR, CUBLAS_STATUS_LICENSE_ERROR)
SAME(COMPUTE_32F, CUBLAS_COMPUTE_32F) SAME(COMPUTE_64F, CUBLAS_COMPUTE_64F) SAME(COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32)
SAME(OP_N, CUBLAS_OP_N) SAME(OP_T, CUBLAS_OP_T) SAME(EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT) SAME(EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS)
SAME(REDUCTION_INPLACE, CUBLASLT_REDUCTION_SCHEME_INPLACE) SAME(REDUCTION_COMPUTE_TYPE, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
SAME(REDUCTION_OUTPUT_TYPE, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE)
SAME(DESC_POINTER_MODE, CUBLASLT_MATMUL_DESC_POINTER_MODE) SAME(DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA)
SAME(DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB) SAME(DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE)
SAME(DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_POINTER)
SAME(LAYOUT_TYPE, CUBLASLT_MATRIX_LAYOUT_TYPE) SAME(LAYOUT_ORDER, CUBLASLT_MATRIX_LAYOUT_ORDER) SAME(LAYOUT_ROWS, CUBLASLT_MATRIX_LAYOUT_ROWS)
SAME(LAYOUT_COLS, CUBLASLT_MATRIX_LAYOUT_COLS) SAME(LAYOUT_LD, CUBLASLT_MATRIX_LAYOUT_LD)
SAME(LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) SAME(LAYOUT_STRIDED_BATCH_OFFSET, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
SAME(PREF_SEARCH_MODE, CUBLASLT_MATMUL_PREF_SEARCH_MODE) SAME(PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
SAME(PREF_REDUCTION_SCHEME_MASK, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
SAME(PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)
SAME(PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES)
SAME(PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES)
SAME(PREF_MIN_ALIGNMENT_D_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)
SAME(sizeof(Algorithm), sizeof(cublasLtMatmulAlgo_t)) SAME(sizeof(Heuristic), sizeof(cublasLtMatmulHeuristicResult_t))
SAME(offsetof(Heuristic, workspace), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize))
SAME(offsetof(Heuristic, state), offsetof(cublasLtMatmulHeuristicResult_t, state))
namespace wherry { namespace cuda { namespace cublaslt {
#define FUNCTION(name, result, arguments) static_assert(Same<result arguments, decltype(::cublasLt##name)>::value, #name);
WRY_CUBLASLT(FUNCTION)
} } }
"""
_CUDNN = r"""
#include <cudnn.h>
#include "%s/cudnn.h"
namespace ours = wherry::cuda::cudnn;
#define SAME(theirs) static_assert(int(ours::theirs) == int(CUDNN_##theirs), #theirs);
#define STATUS(theirs) static_assert(int(ours::theirs) == int(CUDNN_STATUS_##theirs), #theirs);
STATUS(NOT_INITIALIZED) STATUS(SUBLIBRARY_VERSION_MISMATCH) STATUS(SUBLIBRARY_LOADING_FAILED) STATUS(BAD_PARAM) STATUS(BAD_PARAM_NULL_POINTER)
STATUS(NOT_SUPPORTED) STATUS(NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER) STATUS(NOT_SUPPORTED_ARCH_MISMATCH) STATUS(INTERNAL_ERROR)
STATUS(INTERNAL_ERROR_HOST_ALLOCATION_FAILED) STATUS(INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) STATUS(EXECUTION_FAILED)
STATUS(EXECUTION_FAILED_CUDA_DRIVER) STATUS(EXECUTION_FAILED_CUDART)
SAME(DATA_FLOAT) SAME(DATA_DOUBLE) SAME(DATA_HALF) SAME(DATA_BFLOAT16) SAME(TENSOR_NCHW) SAME(TENSOR_NHWC) SAME(CONVOLUTION) SAME(CROSS_CORRELATION)
SAME(DEFAULT_MATH) SAME(TENSOR_OP_MATH) SAME(FMA_MATH) SAME(NON_DETERMINISTIC) SAME(DETERMINISTIC)
#define FIELD(ours_, theirs) static_assert(offsetof(ours::Choice, ours_) == offsetof(cudnnConvolutionFwdAlgoPerf_t, theirs), #theirs);
FIELD(algorithm, algo) FIELD(status, status) FIELD(time, time) FIELD(memory, memory) FIELD(determinism, determinism) FIELD(math, mathType)
static_assert(sizeof(ours::Choice) == sizeof(cudnnConvolutionFwdAlgoPerf_t) && sizeof(ours::Choice) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t)
              && sizeof(ours::Choice) == sizeof(cudnnConvolutionBwdFilterAlgoPerf_t), "size");
namespace wherry { namespace cuda { namespace cudnn {
#define FUNCTION(name, result, arguments) static_assert(Same<result arguments, decltype(::cudnn##name)>::value, #name);
WRY_CUDNN(FUNCTION)
} } }
"""
_CHECKS = {"cublasLt.h": _CUBLASLT, "cudnn.h": _CUDNN}


def headers(folders: list[str]) -> None:
    """Compile the comparisons for which the folders have a header.

    Raises:
        RuntimeError: there is no g++, or a number differs; the text is the compiler's.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise RuntimeError("record_answers: g++ was not found on PATH. Install it.")
    for header, text in _CHECKS.items():
        if not any((Path(folder) / header).is_file() for folder in folders):
            print(f"{header}: not in {', '.join(folders)}")
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
            file.write(_ALIKE + text.replace("%s", str(_SOURCES)))
            file.flush()
            command = [compiler, "-std=c++17", "-fsyntax-only", *(f"-I{folder}" for folder in folders), file.name]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        print(f"{header}: the same")


def main(arguments: list[str]) -> None:
    """The command line above."""
    if arguments[0] == "headers":
        headers(arguments[1:])
        return
    found = list(PROBES[arguments[0]](ctypes.CDLL(arguments[1])))
    (ANSWERS / f"{arguments[0]}.json").write_text(json.dumps(found, indent=0) + "\n")
    print(f"{len(found)} answers")


if __name__ == "__main__":
    main(sys.argv[1:])
