// Products by cuBLASLt, where it is found.
//
// The library counts columns first: out = x y of ours is out^T = y^T x^T of its own, so that its first operand is our y. A problem
// (sizes, strides, alignment, type, device) is asked about once and its answer kept, a refusal too. Sums split along k are allowed only
// where their parts are added up in a step of its own and in the type of the arithmetic: the same bits each time.
#include "cublaslt.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include <unordered_map>
#include <utility>

#include "libraries.h"

namespace wherry {
namespace cuda {
namespace {

using namespace cublaslt;

struct Functions {
#define WRY_MEMBER(name, result, arguments) result(*name) arguments;
  WRY_CUBLASLT(WRY_MEMBER)
#undef WRY_MEMBER
} lt;

int version() { return int(lt.GetVersion()); }

#define WRY_ENTRY(name, result, arguments) {"cublasLt" #name, reinterpret_cast<void **>(&lt.name)},
Library library("cuBLASLt", version, 120000, {WRY_CUBLASLT(WRY_ENTRY)});
#undef WRY_ENTRY

const char *name_of(Status status) {
  switch (status) {
    case SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "a status that is not known";
}

struct Type {
  cudaDataType_t data, scale;
  Compute compute;
  int64_t bytes;
};
bool type_of(int32_t dtype, bool rounds, Type *type) {
  switch (dtype) {
    case WRY_FLOAT16: *type = {CUDA_R_16F, CUDA_R_32F, COMPUTE_32F, 2}; return true;
    case WRY_BFLOAT16: *type = {CUDA_R_16BF, CUDA_R_32F, COMPUTE_32F, 2}; return true;
    case WRY_FLOAT32: *type = {CUDA_R_32F, CUDA_R_32F, rounds ? COMPUTE_32F_FAST_TF32 : COMPUTE_32F, 4}; return true;
    case WRY_FLOAT64: *type = {CUDA_R_64F, CUDA_R_64F, COMPUTE_64F, 8}; return true;
    case WRY_COMPLEX64: *type = {CUDA_C_32F, CUDA_C_32F, rounds ? COMPUTE_32F_FAST_TF32 : COMPUTE_32F, 8}; return true;
    case WRY_COMPLEX128: *type = {CUDA_C_64F, CUDA_C_64F, COMPUTE_64F, 16}; return true;
    default: return false;  // integers wrap around, which no library does
  }
}

// An operand as the library takes it.
struct Side {
  int64_t transposed, ld, stride;
};
// Ours of rows x columns with these strides is the library's matrix of `columns` rows, or that transposed. A single row or column may be
// either: what lies side by side is then its longer axis.
bool side_of(int64_t rows, int64_t columns, int64_t row, int64_t column, Side *side) {
  const int64_t ld = rows == 1 ? columns : row, ld_transposed = columns == 1 ? rows : column;
  const bool may_be_plain = (columns == 1 || column == 1) && ld >= columns;
  const bool may_be_transposed = (rows == 1 || row == 1) && ld_transposed >= rows;
  side->transposed = !may_be_plain || (may_be_transposed && columns == 1);
  side->ld = side->transposed ? ld_transposed : ld;
  return may_be_plain || may_be_transposed;
}

struct Problem {
  int64_t device, dtype, compute, m, n, k, count, bias, out_stride;
  Side x, y;
  int64_t align_x, align_y, align_out, align_bias;
};

struct Plan {
  Desc desc = nullptr;
  Layout x = nullptr, y = nullptr, out = nullptr;
  Heuristic best = {};
  bool taken = false;
};
void release(Plan &p) {
  if (p.desc) lt.MatmulDescDestroy(p.desc);
  for (Layout layout : {p.x, p.y, p.out})
    if (layout) lt.MatrixLayoutDestroy(layout);
  p = {};
}

constexpr size_t most_plans = 4096;
Handle handles[max_devices];
size_t most_workspace[max_devices];
std::unordered_map<Problem, Plan, Words<Problem>, Words<Problem>> plans;
std::mutex mutex;  // of the above, and of the descriptor of a plan from the setting of its pointer to the call

using Steps = LibrarySteps<Status>;
#define WRY_STEP(function, arguments) (steps.well() && steps("cublasLt" #function, lt.function arguments))

bool begin(Steps &steps, const wry_call *call, int device) {
  if (handles[device]) return true;
  if (is_captured(call) || !WRY_STEP(Create, (&handles[device]))) return false;
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  most_workspace[device] = size_t(major >= 9 ? 32 : 4) << 20;  // as NVIDIA advises
  return true;
}

template <typename V>
Status set(Desc desc, DescAttribute attribute, V value) {
  return lt.MatmulDescSetAttribute(desc, attribute, &value, sizeof value);
}
template <typename V>
Status set(Layout layout, LayoutAttribute attribute, V value) {
  return lt.MatrixLayoutSetAttribute(layout, attribute, &value, sizeof value);
}
template <typename V>
Status set(Preference preference, PreferenceAttribute attribute, V value) {
  return lt.MatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
}

void make_layout(Steps &steps, Layout *layout, const Type &type, int64_t rows, int64_t columns, const Side &side, int64_t count) {
  if (side.transposed) std::swap(rows, columns);
  if (!WRY_STEP(MatrixLayoutCreate, (layout, type.data, uint64_t(rows), uint64_t(columns), side.ld))) return;
  if (count == 1) return;
  steps("cublasLtMatrixLayoutSetAttribute", set(*layout, LAYOUT_BATCH_COUNT, int32_t(count)));
  steps("cublasLtMatrixLayoutSetAttribute", set(*layout, LAYOUT_STRIDED_BATCH_OFFSET, side.stride));
}

// Asks the library how it would compute this.
void make_plan(Steps &steps, Plan &plan, const Problem &p, const Type &type, const void *bias) {
  const auto set_desc = [&](DescAttribute attribute, auto value) { steps("cublasLtMatmulDescSetAttribute", set(plan.desc, attribute, value)); };
  if (!WRY_STEP(MatmulDescCreate, (&plan.desc, type.compute, type.scale))) return;
  set_desc(DESC_TRANSA, int32_t(p.y.transposed ? OP_T : OP_N));
  set_desc(DESC_TRANSB, int32_t(p.x.transposed ? OP_T : OP_N));
  if (bias) {
    set_desc(DESC_EPILOGUE, uint32_t(EPILOGUE_BIAS));
    set_desc(DESC_BIAS_POINTER, bias);  // whose alignment the answer depends on
  }
  make_layout(steps, &plan.y, type, p.n, p.k, p.y, p.count);
  make_layout(steps, &plan.x, type, p.k, p.m, p.x, p.count);
  make_layout(steps, &plan.out, type, p.n, p.m, {0, p.n, p.out_stride}, p.count);
  Preference preference = nullptr;
  WRY_STEP(MatmulPreferenceCreate, (&preference));
  const auto prefer = [&](PreferenceAttribute attribute, auto value) {
    if (preference) steps("cublasLtMatmulPreferenceSetAttribute", set(preference, attribute, value));
  };
  prefer(PREF_MAX_WORKSPACE_BYTES, uint64_t(most_workspace[p.device]));
  prefer(PREF_REDUCTION_SCHEME_MASK, uint32_t(REDUCTION_COMPUTE_TYPE));
  prefer(PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(p.align_y));
  prefer(PREF_MIN_ALIGNMENT_B_BYTES, uint32_t(p.align_x));
  prefer(PREF_MIN_ALIGNMENT_C_BYTES, uint32_t(p.align_out));
  prefer(PREF_MIN_ALIGNMENT_D_BYTES, uint32_t(p.align_out));
  int found = 0;
  if (steps.status == SUCCESS) {
    const Status said = lt.MatmulAlgoGetHeuristic(handles[p.device], plan.desc, plan.y, plan.x, plan.out, plan.out, preference, 1,
                                                  &plan.best, &found);
    if (said != NOT_SUPPORTED) steps("cublasLtMatmulAlgoGetHeuristic", said);
    plan.taken = said == SUCCESS && found > 0 && plan.best.state == SUCCESS;
  }
  if (preference) lt.MatmulPreferenceDestroy(preference);
}

// What the address and all steps from it are multiples of; the library asks for no more than 256.
int64_t alignment(const void *data, int rank, const int64_t *shape, const int64_t *strides, int64_t bytes) {
  uint64_t bits = reinterpret_cast<uintptr_t>(data) | 256;
  for (int axis = 0; axis < rank; ++axis)
    if (shape[axis] > 1) bits |= uint64_t(strides[axis] * bytes);
  return int64_t(bits & (~bits + 1));
}

struct Axis {
  int64_t size, x, y, out;
};
// The axes of the batch, those joined that lie evenly in both operands, the last one first. Returns how many are left.
int batch_of(const LibraryProduct &p, Axis axes[WRY_MAX_RANK]) {
  int n = 0;
  int64_t out = p.m * p.n;
  for (int axis = p.rank - 1; axis >= 0; out *= p.shape[axis--]) {
    if (p.shape[axis] == 1) continue;
    const Axis next = {p.shape[axis], p.x_strides[axis], p.y_strides[axis], out};
    Axis *inner = n ? &axes[n - 1] : nullptr;
    if (inner && next.x == inner->x * inner->size && next.y == inner->y * inner->size) inner->size *= next.size;
    else axes[n++] = next;
  }
  return n;
}

constexpr int64_t most_calls = 64, most_batches = 65535;  // beyond, one launch of our own is the better one

// The plan for a problem, asked for when it is new; null when that fails.
Plan *plan_of(Steps &steps, const Problem &problem, const Type &type, const void *bias) {
  const auto found = plans.find(problem);
  if (found != plans.end()) return &found->second;
  if (plans.size() >= most_plans) {
    for (auto &known : plans) release(known.second);
    plans.clear();
  }
  Plan plan;
  make_plan(steps, plan, problem, type, bias);
  if (steps.status == SUCCESS) return &plans.emplace(problem, plan).first->second;
  release(plan);
  return nullptr;
}

// Puts the products on the stream: one for each place on the axes but `inner`.
int multiply(Steps &steps, const wry_call *call, const LibraryProduct &p, Plan &plan, const Axis *axes, int rank, int inner, int64_t calls,
             const Type &type) {
  char *scratch = nullptr;
  if (plan.best.workspace && !(scratch = library_workspace(call, "a product", "cuBLASLt", plan.best.workspace))) return WRY_OUT_OF_MEMORY;
  if (p.bias) steps("cublasLtMatmulDescSetAttribute", set(plan.desc, DESC_BIAS_POINTER, p.bias));
  static const float one_float[2] = {1, 0}, no_float[2] = {0, 0};  // complex ones, too
  static const double one_double[2] = {1, 0}, no_double[2] = {0, 0};
  const bool is_double = type.compute == COMPUTE_64F;
  const void *one = is_double ? static_cast<const void *>(one_double) : one_float;
  const void *none = is_double ? static_cast<const void *>(no_double) : no_float;
  for (int64_t i = 0; i < calls && steps.status == SUCCESS; ++i) {
    int64_t rest = i, at_x = 0, at_y = 0, at_out = 0;
    for (int axis = 0; axis < rank; ++axis) {
      if (axis == inner) continue;
      const int64_t index = rest % axes[axis].size;
      rest /= axes[axis].size;
      at_x += index * axes[axis].x, at_y += index * axes[axis].y, at_out += index * axes[axis].out;
    }
    const char *x = static_cast<const char *>(p.x) + at_x * type.bytes, *y = static_cast<const char *>(p.y) + at_y * type.bytes;
    char *out = static_cast<char *>(p.out) + at_out * type.bytes;
    WRY_STEP(Matmul, (handles[WRY_DEVICE_NUMBER(call->context->device)], plan.desc, one, y, plan.y, x, plan.x, none, out, plan.out, out,
                      plan.out, &plan.best.algorithm, scratch, plan.best.workspace, static_cast<cudaStream_t>(call->context->stream)));
  }
  return steps.status == SUCCESS ? WRY_OK : not_taken;
}

}  // namespace

Library &cublaslt_library() { return library; }

int library_product(const wry_call *call, const LibraryProduct &asked) {
  LibraryProduct p = asked;
  if (p.n == 1 && p.m > 1 && !p.bias) {  // a column is a row of the transposed product, which the library writes side by side
    std::swap(p.x, p.y), std::swap(p.x_strides, p.y_strides), std::swap(p.m, p.n);
    std::swap(p.x_row, p.y_column), std::swap(p.x_column, p.y_row);
  }
  Type type;
  const int device = WRY_DEVICE_NUMBER(call->context->device);
  if (!library.ready() || !type_of(p.dtype, rounds_operands, &type) || p.k == 0 || device >= max_devices) return not_taken;
  if (p.bias && p.bias_step != 1 && p.n > 1) return not_taken;
  Problem problem = {};
  if (!side_of(p.m, p.k, p.x_row, p.x_column, &problem.x) || !side_of(p.k, p.n, p.y_row, p.y_column, &problem.y)) return not_taken;
  Axis axes[WRY_MAX_RANK];
  const int rank = batch_of(p, axes);
  int inner = 0;  // the longest axis is the library's batch; the others are calls
  int64_t count = 1, calls = 1;
  for (int i = 0; i < rank; ++i) {
    if (axes[i].size > axes[inner].size) inner = i;
    count *= axes[i].size;
  }
  if (rank) calls = count / axes[inner].size, count = axes[inner].size;
  if (calls > most_calls || count > most_batches) return not_taken;
  problem.device = device, problem.dtype = p.dtype, problem.compute = type.compute;
  problem.m = p.m, problem.n = p.n, problem.k = p.k, problem.count = count, problem.bias = p.bias != nullptr;
  if (rank) problem.x.stride = axes[inner].x, problem.y.stride = axes[inner].y, problem.out_stride = axes[inner].out;
  problem.align_x = alignment(p.x, p.rank, p.shape, p.x_strides, type.bytes);
  problem.align_y = alignment(p.y, p.rank, p.shape, p.y_strides, type.bytes);
  const int64_t matrix = p.m * p.n;
  problem.align_out = alignment(p.out, 1, &calls, &matrix, type.bytes);
  problem.align_bias = p.bias ? alignment(p.bias, 0, nullptr, nullptr, type.bytes) : 0;

  Steps steps;
  int status = not_taken;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Plan *plan = begin(steps, call, device) ? plan_of(steps, problem, type, p.bias) : nullptr;
    if (plan && plan->taken) {
      status = multiply(steps, call, p, *plan, axes, rank, inner, calls, type);
      if (steps.status == NOT_SUPPORTED) plan->taken = false, steps.status = SUCCESS;  // it had promised more than it does
    }
  }
  if (steps.status != SUCCESS) library.fail(steps.function, name_of(steps.status));  // which may wait for Python's lock
  return status;
}

}  // namespace cuda
}  // namespace wherry
