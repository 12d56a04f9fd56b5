// A cuBLASLt for tests, on the emulator: answers what the real one answers about descriptors (answers/cublaslt.json), checks what it is
// told as NVIDIA documents it, and multiplies with an emulated kernel, so that the bounds of operands and the order of streams are
// checked, too.
//
// FAKE_CUBLASLT in the environment plays a library that is broken: "old", "create", "heuristic", "refuse", "matmul", "promise".
#include "cublaslt.h"

#include <cuda_emulator/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

using namespace wherry::cuda::cublaslt;
using wherry::cuda::bfloat16;
using wherry::cuda::complex128;
using wherry::cuda::complex64;
using wherry::cuda::load;
using wherry::cuda::narrow;

namespace wherry {
namespace cuda {
namespace cublaslt {
struct HandleOfLibrary {
  int device;
};
struct DescOfLibrary {
  int32_t compute, scale, transposed_a, transposed_b, pointer_mode;
  uint32_t epilogue;
  const void *bias;
};
struct LayoutOfLibrary {
  uint32_t type;
  int32_t order;
  uint64_t rows, columns;
  int64_t ld;
  int32_t count;
  int64_t stride;
};
struct PreferenceOfLibrary {
  uint64_t workspace;
  uint32_t search, reductions, align[4];
};
}  // namespace cublaslt
}  // namespace cuda
}  // namespace wherry

#define API extern "C" __attribute__((visibility("default")))

static bool plays(const char *what) {
  const char *found = getenv("FAKE_CUBLASLT");
  return found && strcmp(found, what) == 0;
}

// What was asked, for tests: heuristics, products, the reductions allowed by the last preference, the last algorithm's alignment, and
// the last compute type.
struct Seen {
  int64_t heuristics, products, reductions, wide, compute, live;
};
static Seen seen;
API void fake_cublaslt_seen(Seen *out) { *out = seen; }

struct Product {
  int64_t m, n, k, a_row, a_column, b_row, b_column, ldc, ldd, a_batch, b_batch, c_batch, d_batch;
  double alpha, beta;
};
// A thread for each element of d, column by column; as wide as the arithmetic is.
template <typename T>
__global__ void product(const T *a, const T *b, const T *c, T *d, const T *bias, Product p) {
  using A = wherry::cuda::arithmetic_t<T>;
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x, j = blockIdx.y, batch = blockIdx.z;
  if (i >= p.m) return;
  A sum = A(0);
  a += batch * p.a_batch + i * p.a_row, b += batch * p.b_batch + j * p.b_column;
  for (int64_t l = 0; l < p.k; ++l) sum = sum + load(a + l * p.a_column) * load(b + l * p.b_row);
  if (p.alpha != 1) sum = sum * A(p.alpha);
  if (p.beta != 0) sum = sum + A(p.beta) * load(c + batch * p.c_batch + j * p.ldc + i);
  if (bias) sum = sum + load(bias + i);
  d[batch * p.d_batch + j * p.ldd + i] = narrow<T>(sum);
}
// The last bytes of a workspace and the first: whoever hands over less than was asked for is found.
__global__ void touch(char *workspace, int64_t bytes) { workspace[0] = workspace[bytes - 1] = 1; }

template <typename T>
static Status take(T *to, const void *from, size_t bytes) {
  if (bytes != sizeof(T)) return INVALID_VALUE;
  memcpy(to, from, bytes);
  return SUCCESS;
}

API size_t cublasLtGetVersion() { return plays("old") ? 110900 : 131000; }
API Status cublasLtCreate(Handle *handle) {
  if (!handle) return INVALID_VALUE;
  if (plays("create")) return NOT_INITIALIZED;
  *handle = new HandleOfLibrary{};
  return cudaGetDevice(&(*handle)->device) == cudaSuccess ? SUCCESS : NOT_INITIALIZED;
}
API Status cublasLtDestroy(Handle handle) {
  delete handle;
  return SUCCESS;
}
API Status cublasLtMatmulDescCreate(Desc *desc, Compute compute, cudaDataType_t scale) {
  *desc = new DescOfLibrary{compute, scale, OP_N, OP_N, 0, EPILOGUE_DEFAULT, nullptr};
  ++seen.live;
  return SUCCESS;
}
API Status cublasLtMatmulDescDestroy(Desc desc) {
  seen.live -= desc != nullptr;
  delete desc;
  return SUCCESS;
}
API Status cublasLtMatmulDescSetAttribute(Desc d, DescAttribute attribute, const void *from, size_t bytes) {
  if (!from) return INVALID_VALUE;
  switch (attribute) {
    case DESC_TRANSA: return take(&d->transposed_a, from, bytes);
    case DESC_TRANSB: return take(&d->transposed_b, from, bytes);
    case DESC_EPILOGUE: return take(&d->epilogue, from, bytes);
    case DESC_BIAS_POINTER: return take(&d->bias, from, bytes);
    case DESC_POINTER_MODE: return take(&d->pointer_mode, from, bytes);
    default: return INVALID_VALUE;  // a test that needs more teaches it more
  }
}
API Status cublasLtMatrixLayoutCreate(Layout *layout, cudaDataType_t type, uint64_t rows, uint64_t columns, int64_t ld) {
  *layout = new LayoutOfLibrary{uint32_t(type), 0, rows, columns, ld, 1, 0};
  ++seen.live;
  return SUCCESS;
}
API Status cublasLtMatrixLayoutDestroy(Layout layout) {
  seen.live -= layout != nullptr;
  delete layout;
  return SUCCESS;
}
API Status cublasLtMatrixLayoutSetAttribute(Layout l, LayoutAttribute attribute, const void *from, size_t bytes) {
  if (!from) return INVALID_VALUE;
  switch (attribute) {
    case LAYOUT_TYPE: return take(&l->type, from, bytes);
    case LAYOUT_ORDER: return take(&l->order, from, bytes);
    case LAYOUT_ROWS: return take(&l->rows, from, bytes);
    case LAYOUT_COLS: return take(&l->columns, from, bytes);
    case LAYOUT_LD: return take(&l->ld, from, bytes);
    case LAYOUT_BATCH_COUNT: return take(&l->count, from, bytes);
    case LAYOUT_STRIDED_BATCH_OFFSET: return take(&l->stride, from, bytes);
    default: return INVALID_VALUE;
  }
}
API Status cublasLtMatmulPreferenceCreate(Preference *preference) {
  *preference = new PreferenceOfLibrary{0, 0, 7, {256, 256, 256, 256}};
  ++seen.live;
  return SUCCESS;
}
API Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  seen.live -= preference != nullptr;
  delete preference;
  return SUCCESS;
}
API Status cublasLtMatmulPreferenceSetAttribute(Preference p, PreferenceAttribute attribute, const void *from, size_t bytes) {
  if (!from) return INVALID_VALUE;
  switch (attribute) {
    case PREF_SEARCH_MODE: return take(&p->search, from, bytes);
    case PREF_MAX_WORKSPACE_BYTES: return take(&p->workspace, from, bytes);
    case PREF_REDUCTION_SCHEME_MASK: return take(&p->reductions, from, bytes);
    case PREF_MIN_ALIGNMENT_A_BYTES: return take(&p->align[0], from, bytes);
    case PREF_MIN_ALIGNMENT_B_BYTES: return take(&p->align[1], from, bytes);
    case PREF_MIN_ALIGNMENT_C_BYTES: return take(&p->align[2], from, bytes);
    case PREF_MIN_ALIGNMENT_D_BYTES: return take(&p->align[3], from, bytes);
    default: return INVALID_VALUE;
  }
}

static Status fits(const DescOfLibrary &o, const LayoutOfLibrary &a, const LayoutOfLibrary &b, const LayoutOfLibrary &c,
                   const LayoutOfLibrary &d) {
  const uint64_t m = o.transposed_a ? a.columns : a.rows, k = o.transposed_a ? a.rows : a.columns;
  const uint64_t k_of_b = o.transposed_b ? b.columns : b.rows, n = o.transposed_b ? b.rows : b.columns;
  if (k != k_of_b || m != d.rows || n != d.columns || c.rows != d.rows || c.columns != d.columns || m * n * k == 0) return INVALID_VALUE;
  for (const LayoutOfLibrary *one : {&a, &b, &c, &d})
    if (one->ld < int64_t(one->rows) || one->count != d.count || one->order) return INVALID_VALUE;
  if (a.type != b.type || c.type != d.type || a.type != d.type || o.pointer_mode) return NOT_SUPPORTED;
  if (o.transposed_a > OP_T || o.transposed_b > OP_T) return NOT_SUPPORTED;
  const bool has_bias = o.epilogue == EPILOGUE_BIAS;
  if (!has_bias && o.epilogue != EPILOGUE_DEFAULT) return NOT_SUPPORTED;
  if (has_bias && !o.bias) return INVALID_VALUE;
  const bool in_float = o.compute == COMPUTE_32F, in_tf32 = o.compute == COMPUTE_32F_FAST_TF32, in_double = o.compute == COMPUTE_64F;
  const auto known = [&](bool computes, int32_t scale, bool bias_too) { return computes && o.scale == scale && (bias_too || !has_bias); };
  switch (a.type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return known(in_float, CUDA_R_32F, true) ? SUCCESS : NOT_SUPPORTED;
    case CUDA_R_32F: return known(in_float || in_tf32, CUDA_R_32F, true) ? SUCCESS : NOT_SUPPORTED;
    case CUDA_C_32F: return known(in_float || in_tf32, CUDA_C_32F, false) ? SUCCESS : NOT_SUPPORTED;
    case CUDA_R_64F: return known(in_double, CUDA_R_64F, false) ? SUCCESS : NOT_SUPPORTED;
    case CUDA_C_64F: return known(in_double, CUDA_C_64F, false) ? SUCCESS : NOT_SUPPORTED;
    default: return NOT_SUPPORTED;
  }
}

static const uint64_t plain = 0x57455252, wide = 0x57455253;  // algorithms; the second wants operands at multiples of 16
API Status cublasLtMatmulAlgoGetHeuristic(Handle handle, Desc o, Layout a, Layout b, Layout c, Layout d, Preference p, int wanted,
                                          Heuristic *results, int *found) {
  *found = 0;
  if (!handle) return NOT_INITIALIZED;
  if (wanted < 1) return INVALID_VALUE;
  ++seen.heuristics, seen.reductions = p->reductions, seen.compute = o->compute;
  if (plays("heuristic")) return INTERNAL_ERROR;
  if (plays("refuse")) return NOT_SUPPORTED;
  const Status status = fits(*o, *a, *b, *c, *d);
  if (status != SUCCESS) return status;
  memset(results, 0, sizeof *results);
  uint64_t align = o->epilogue == EPILOGUE_BIAS ? uintptr_t(o->bias) : 0;
  for (uint32_t one : p->align) align |= one;
  results->algorithm.data[0] = align % 16 ? plain : wide;
  seen.wide = align % 16 == 0;
  results->workspace = p->workspace < 5000 ? p->workspace : 5000;  // it does ask for some
  results->state = SUCCESS;
  *found = 1;
  return SUCCESS;
}

API Status cublasLtMatmul(Handle handle, Desc o, const void *alpha, const void *a, Layout al, const void *b, Layout bl, const void *beta,
                          const void *c, Layout cl, void *d, Layout dl, const Algorithm *algorithm, void *workspace, size_t bytes,
                          cudaStream_t stream) {
  if (!handle) return NOT_INITIALIZED;
  if (const Status status = fits(*o, *al, *bl, *cl, *dl)) return status;
  if (!alpha || !beta || !a || !b || !d || !algorithm || (bytes && (!workspace || uintptr_t(workspace) % 256))) return INVALID_VALUE;
  if (algorithm->data[0] != plain && algorithm->data[0] != wide) return INVALID_VALUE;
  const void *bias = o->epilogue == EPILOGUE_BIAS ? o->bias : nullptr;
  const uintptr_t places = uintptr_t(a) | uintptr_t(b) | uintptr_t(c) | uintptr_t(d) | uintptr_t(bias);
  if (algorithm->data[0] == wide && places % 16) return INVALID_VALUE;
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess || device != handle->device) return INVALID_VALUE;
  if (plays("matmul")) return EXECUTION_FAILED;
  if (plays("promise")) return NOT_SUPPORTED;
  ++seen.products;
  const bool is_double = o->compute == COMPUTE_64F;
  Product p = {};
  p.alpha = is_double ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
  p.beta = is_double ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
  p.m = dl->rows, p.n = dl->columns, p.k = o->transposed_a ? al->rows : al->columns;
  p.a_row = o->transposed_a ? al->ld : 1, p.a_column = o->transposed_a ? 1 : al->ld;
  p.b_row = o->transposed_b ? bl->ld : 1, p.b_column = o->transposed_b ? 1 : bl->ld;
  p.ldc = cl->ld, p.ldd = dl->ld, p.a_batch = al->stride, p.b_batch = bl->stride, p.c_batch = cl->stride, p.d_batch = dl->stride;
  if (bytes && wry_launch(touch, dim3(1), dim3(1), 0, stream, static_cast<char *>(workspace), int64_t(bytes)) != cudaSuccess)
    return EXECUTION_FAILED;
  const auto go = [&](auto type) {
    using T = decltype(type);
    const dim3 grid(unsigned((p.m + 31) / 32), unsigned(p.n), unsigned(dl->count));
    return wry_launch(product<T>, grid, dim3(32), 0, stream, static_cast<const T *>(a), static_cast<const T *>(b),
                      static_cast<const T *>(c), static_cast<T *>(d), static_cast<const T *>(bias), p);
  };
  cudaError_t error = cudaSuccess;
  switch (al->type) {
    case CUDA_R_16F: error = go(__half()); break;
    case CUDA_R_16BF: error = go(bfloat16()); break;
    case CUDA_R_32F: error = go(float()); break;
    case CUDA_R_64F: error = go(double()); break;
    case CUDA_C_32F: error = go(complex64()); break;
    default: error = go(complex128()); break;
  }
  return error == cudaSuccess ? SUCCESS : EXECUTION_FAILED;
}
