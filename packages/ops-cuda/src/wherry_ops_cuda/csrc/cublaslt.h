// What is used of cuBLASLt's C interface, as NVIDIA documents it: nothing of its headers is needed to compile.
// tests/record_answers.py compares the numbers with the header of an installed library.
#ifndef WHERRY_CUDA_CUBLASLT_H
#define WHERRY_CUDA_CUBLASLT_H

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

namespace wherry {
namespace cuda {
namespace cublaslt {

enum Status : int {
  SUCCESS = 0,
  NOT_INITIALIZED = 1,
  ALLOC_FAILED = 3,
  INVALID_VALUE = 7,
  ARCH_MISMATCH = 8,
  MAPPING_ERROR = 11,
  EXECUTION_FAILED = 13,
  INTERNAL_ERROR = 14,
  NOT_SUPPORTED = 15,
  LICENSE_ERROR = 16
};
enum Compute : int { COMPUTE_32F = 68,
                     COMPUTE_64F = 70,
                     COMPUTE_32F_FAST_TF32 = 77 };
enum Operation : int32_t { OP_N = 0,
                           OP_T = 1 };
enum Epilogue : uint32_t { EPILOGUE_DEFAULT = 1,
                           EPILOGUE_BIAS = 4 };
enum Reduction : uint32_t { REDUCTION_NONE = 0,
                            REDUCTION_INPLACE = 1,
                            REDUCTION_COMPUTE_TYPE = 2,
                            REDUCTION_OUTPUT_TYPE = 4 };
enum DescAttribute : int { DESC_POINTER_MODE = 2,
                           DESC_TRANSA = 3,
                           DESC_TRANSB = 4,
                           DESC_EPILOGUE = 7,
                           DESC_BIAS_POINTER = 8 };
enum LayoutAttribute : int { LAYOUT_TYPE = 0,
                             LAYOUT_ORDER = 1,
                             LAYOUT_ROWS = 2,
                             LAYOUT_COLS = 3,
                             LAYOUT_LD = 4,
                             LAYOUT_BATCH_COUNT = 5,
                             LAYOUT_STRIDED_BATCH_OFFSET = 6 };
enum PreferenceAttribute : int {
  PREF_SEARCH_MODE = 0,
  PREF_MAX_WORKSPACE_BYTES = 1,
  PREF_REDUCTION_SCHEME_MASK = 3,
  PREF_MIN_ALIGNMENT_A_BYTES = 5,
  PREF_MIN_ALIGNMENT_B_BYTES = 6,
  PREF_MIN_ALIGNMENT_C_BYTES = 7,
  PREF_MIN_ALIGNMENT_D_BYTES = 8
};

// Objects of the library.
using Handle = struct HandleOfLibrary *;
using Desc = struct DescOfLibrary *;
using Layout = struct LayoutOfLibrary *;
using Preference = struct PreferenceOfLibrary *;
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

// each(name in the library, result, arguments)
// clang-format off
#define WRY_CUBLASLT(each) \
  each(GetVersion, size_t, (void)) \
  each(Create, Status, (Handle *)) \
  each(MatmulDescCreate, Status, (Desc *, Compute, cudaDataType_t scale)) \
  each(MatmulDescDestroy, Status, (Desc)) \
  each(MatmulDescSetAttribute, Status, (Desc, DescAttribute, const void *, size_t)) \
  each(MatrixLayoutCreate, Status, (Layout *, cudaDataType_t, uint64_t rows, uint64_t columns, int64_t ld)) \
  each(MatrixLayoutDestroy, Status, (Layout)) \
  each(MatrixLayoutSetAttribute, Status, (Layout, LayoutAttribute, const void *, size_t)) \
  each(MatmulPreferenceCreate, Status, (Preference *)) \
  each(MatmulPreferenceDestroy, Status, (Preference)) \
  each(MatmulPreferenceSetAttribute, Status, (Preference, PreferenceAttribute, const void *, size_t)) \
  each(MatmulAlgoGetHeuristic, Status, \
       (Handle, Desc, Layout a, Layout b, Layout c, Layout d, Preference, int wanted, Heuristic *, int *found)) \
  each(Matmul, Status, \
       (Handle, Desc, const void *alpha, const void *a, Layout, const void *b, Layout, const void *beta, const void *c, \
        Layout, void *d, Layout, const Algorithm *, void *workspace, size_t workspace_bytes, cudaStream_t))
// clang-format on

}  // namespace cublaslt
}  // namespace cuda
}  // namespace wherry

#endif
