// Convolutions by cuDNN, where it is found.
//
// A problem (sizes, layout, type, device) is asked about once and its answer kept, a refusal too. Of the algorithms that the library
// proposes, the best is taken that gives the same bits each time and keeps to the limit of scratch memory. Images that lie channels last
// want a weight that does, too: ours is [o, c, kh, kw] always, and is turned on the way, which is little beside the images.
#include "cudnn.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdio.h>

#include <unordered_map>

#include "libraries.h"
#include "tables.h"

namespace wherry {
namespace cuda {
namespace {

using namespace cudnn;

struct Functions {
#define WRY_MEMBER(name, result, arguments) result(*name) arguments;
  WRY_CUDNN(WRY_MEMBER)
#undef WRY_MEMBER
} dnn;

// 9.28.1 is 92801, and 8.9.7 was 8907.
int version() {
  const int said = int(dnn.GetVersion());
  return said < 10000 ? said / 1000 * 10000 + said % 1000 : said;
}

#define WRY_ENTRY(name, result, arguments) {"cudnn" #name, reinterpret_cast<void **>(&dnn.name)},
Library library("cuDNN", version, 90000, {WRY_CUDNN(WRY_ENTRY)});
#undef WRY_ENTRY

const char *name_of(Status status) {
  switch (status) {
    case SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case SUBLIBRARY_VERSION_MISMATCH: return "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH";
    case SUBLIBRARY_LOADING_FAILED: return "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED";
    case NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER: return "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER";
    case NOT_SUPPORTED_ARCH_MISMATCH: return "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH";
    case INTERNAL_ERROR_HOST_ALLOCATION_FAILED: return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED: return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case EXECUTION_FAILED_CUDA_DRIVER: return "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER";
    case EXECUTION_FAILED_CUDART: return "CUDNN_STATUS_EXECUTION_FAILED_CUDART";
    default: break;
  }
  switch (status / 1000) {
    case 2: return "CUDNN_STATUS_BAD_PARAM";
    case 3: return "CUDNN_STATUS_NOT_SUPPORTED";
    case 4: return "CUDNN_STATUS_INTERNAL_ERROR";
    case 5: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "a status that is not known";
  }
}

struct Type {
  DataType data, compute;
  Math math;
  int64_t bytes;
};
bool type_of(int32_t dtype, bool rounds, Type *type) {
  switch (dtype) {
    case WRY_FLOAT16: *type = {DATA_HALF, DATA_FLOAT, TENSOR_OP_MATH, 2}; return true;
    case WRY_BFLOAT16: *type = {DATA_BFLOAT16, DATA_FLOAT, TENSOR_OP_MATH, 2}; return true;
    case WRY_FLOAT32: *type = {DATA_FLOAT, DATA_FLOAT, rounds ? DEFAULT_MATH : FMA_MATH, 4}; return true;
    case WRY_FLOAT64: *type = {DATA_DOUBLE, DATA_DOUBLE, DEFAULT_MATH, 8}; return true;
    default: return false;
  }
}

struct Problem {
  int64_t device, direction, channels_last, dtype, math, bias, most_workspace;
  int64_t n, channels, h, w, o, oh, ow, kh, kw, groups;
  int64_t stride_y, stride_x, before_y, before_x, dilation_y, dilation_x;
};

struct Plan {
  Tensor in = nullptr, out = nullptr, bias = nullptr;
  Filter weight = nullptr;
  Conv conv = nullptr;
  int algorithm = 0;
  size_t workspace = 0;
  bool taken = false;
};
void release(Plan &p) {
  for (Tensor tensor : {p.in, p.out, p.bias})
    if (tensor) dnn.DestroyTensorDescriptor(tensor);
  if (p.weight) dnn.DestroyFilterDescriptor(p.weight);
  if (p.conv) dnn.DestroyConvolutionDescriptor(p.conv);
  p = {};
}

constexpr size_t most_plans = 1024;
constexpr int most_choices = 16;
Handle handles[max_devices];
std::unordered_map<Problem, Plan, Words<Problem>, Words<Problem>> plans;
std::mutex mutex;  // of the above, and of a handle from the setting of its stream to the call
std::atomic<int64_t> most_workspace{int64_t(512) << 20};

using Steps = LibrarySteps<Status>;
#define WRY_STEP(function, arguments) (steps.well() && steps("cudnn" #function, dnn.function arguments))

void make_tensor(Steps &steps, Tensor *tensor, const Problem &p, const Type &type, int64_t n, int64_t c, int64_t h, int64_t w) {
  WRY_STEP(CreateTensorDescriptor, (tensor));
  WRY_STEP(SetTensor4dDescriptor, (*tensor, p.channels_last ? TENSOR_NHWC : TENSOR_NCHW, type.data, int(n), int(c), int(h), int(w)));
}

// Asks the library how it would compute this.
void make_plan(Steps &steps, Plan &plan, const Problem &p, const Type &type) {
  make_tensor(steps, &plan.in, p, type, p.n, p.channels, p.h, p.w);
  make_tensor(steps, &plan.out, p, type, p.n, p.o, p.oh, p.ow);
  if (p.bias) make_tensor(steps, &plan.bias, p, type, 1, p.direction == FOR_INPUT ? p.channels : p.o, 1, 1);
  WRY_STEP(CreateFilterDescriptor, (&plan.weight));
  WRY_STEP(SetFilter4dDescriptor, (plan.weight, type.data, p.channels_last ? TENSOR_NHWC : TENSOR_NCHW, int(p.o), int(p.channels / p.groups),
                                   int(p.kh), int(p.kw)));
  WRY_STEP(CreateConvolutionDescriptor, (&plan.conv));
  WRY_STEP(SetConvolution2dDescriptor, (plan.conv, int(p.before_y), int(p.before_x), int(p.stride_y), int(p.stride_x), int(p.dilation_y),
                                        int(p.dilation_x), CROSS_CORRELATION, type.compute));
  WRY_STEP(SetConvolutionGroupCount, (plan.conv, int(p.groups)));
  WRY_STEP(SetConvolutionMathType, (plan.conv, type.math));
  Choice choices[most_choices];
  int found = 0;
  const Handle handle = handles[p.device];
  if (p.direction == FORWARD)
    WRY_STEP(GetConvolutionForwardAlgorithm_v7, (handle, plan.in, plan.weight, plan.conv, plan.out, most_choices, &found, choices));
  else if (p.direction == FOR_INPUT)
    WRY_STEP(GetConvolutionBackwardDataAlgorithm_v7, (handle, plan.weight, plan.out, plan.conv, plan.in, most_choices, &found, choices));
  else
    WRY_STEP(GetConvolutionBackwardFilterAlgorithm_v7, (handle, plan.in, plan.out, plan.conv, plan.weight, most_choices, &found, choices));
  for (int i = 0; i < found && steps.well() && !plan.taken; ++i) {
    if (choices[i].status != SUCCESS || choices[i].determinism != DETERMINISTIC) continue;
    // The same algorithm is proposed with and without tensor cores; what they round is not for float32 unless that is allowed.
    if (type.math == FMA_MATH && choices[i].math != FMA_MATH && choices[i].math != DEFAULT_MATH) continue;
    plan.algorithm = choices[i].algorithm;
    if (type.math != FMA_MATH) WRY_STEP(SetConvolutionMathType, (plan.conv, choices[i].math));
    Status said = SUCCESS;
    if (p.direction == FORWARD)
      said = dnn.GetConvolutionForwardWorkspaceSize(handle, plan.in, plan.weight, plan.conv, plan.out, plan.algorithm, &plan.workspace);
    else if (p.direction == FOR_INPUT)
      said = dnn.GetConvolutionBackwardDataWorkspaceSize(handle, plan.weight, plan.out, plan.conv, plan.in, plan.algorithm, &plan.workspace);
    else
      said = dnn.GetConvolutionBackwardFilterWorkspaceSize(handle, plan.in, plan.out, plan.conv, plan.weight, plan.algorithm, &plan.workspace);
    plan.taken = said == SUCCESS && int64_t(plan.workspace) <= p.most_workspace;
  }
  if (steps.status / 1000 == 2 || steps.status / 1000 == 3) steps.status = SUCCESS, plan.taken = false;  // not this problem
}

Plan *plan_of(Steps &steps, const wry_call *call, const Problem &problem, const Type &type) {
  const auto found = plans.find(problem);
  if (found != plans.end()) return &found->second;
  if (!handles[problem.device] && (is_captured(call) || !WRY_STEP(Create, (&handles[problem.device])))) return nullptr;
  if (plans.size() >= most_plans) {
    for (auto &known : plans) release(known.second);
    plans.clear();
  }
  Plan plan;
  make_plan(steps, plan, problem, type);
  if (steps.well()) return &plans.emplace(problem, plan).first->second;
  release(plan);
  return nullptr;
}

// The weight as [o, c, kh, kw] and as [o, kh, kw, c] in memory: two views of the same shape for a copy.
struct Weight {
  int64_t shape[4], plain[4], turned[4];
  explicit Weight(const LibraryConvolution &p) : shape{p.o, p.channels / p.groups, p.kh, p.kw} {
    const int64_t c = shape[1];
    plain[3] = 1, plain[2] = p.kw, plain[1] = p.kh * p.kw, plain[0] = c * plain[1];
    turned[1] = 1, turned[3] = c, turned[2] = p.kw * c, turned[0] = p.kh * turned[2];
  }
  int64_t size() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  bool same() const { return shape[1] == 1 || shape[2] * shape[3] == 1; }
};
cudaError_t turn(const LibraryConvolution &p, const Weight &w, void *to, const int64_t *to_strides, const void *from, const int64_t *from_strides,
                 cudaStream_t stream) {
  wry_tensor target = {}, source = {};
  target.data = to, target.strides = to_strides, source.data = const_cast<void *>(from), source.strides = from_strides;
  for (wry_tensor *t : {&target, &source}) t->shape = w.shape, t->size = w.size(), t->dtype = p.dtype, t->rank = 4;
  return copy_device(&target, &source, stream);
}

int convolve(Steps &steps, const wry_call *call, const LibraryConvolution &p, const Plan &plan, const Type &type) {
  const Handle handle = handles[WRY_DEVICE_NUMBER(call->context->device)];
  const cudaStream_t stream = static_cast<cudaStream_t>(call->context->stream);
  const Weight shape(p);
  const bool turns = p.channels_last && !shape.same();
  const size_t whole = (plan.workspace + 255) / 256 * 256;  // the library's part, then the weight
  const size_t bytes = whole + (turns ? size_t(shape.size() * type.bytes) : 0);
  char *scratch = nullptr;
  if (bytes && !(scratch = library_workspace(call, "a convolution", "cuDNN", bytes))) return WRY_OUT_OF_MEMORY;
  void *weight = turns ? scratch + whole : const_cast<void *>(p.weight);
  if (turns && p.direction != FOR_WEIGHT && turn(p, shape, weight, shape.turned, p.weight, shape.plain, stream) != cudaSuccess) return not_taken;
  const float one_float = 1, no_float = 0;
  const double one_double = 1, no_double = 0;
  const bool is_double = type.compute == DATA_DOUBLE;
  const void *one = is_double ? static_cast<const void *>(&one_double) : &one_float;
  const void *none = is_double ? static_cast<const void *>(&no_double) : &no_float;
  void *in = const_cast<void *>(p.in), *out = const_cast<void *>(p.out), *workspace = plan.workspace ? scratch : nullptr;
  WRY_STEP(SetStream, (handle, stream));
  if (p.direction == FORWARD)
    WRY_STEP(ConvolutionForward, (handle, one, plan.in, in, plan.weight, weight, plan.conv, plan.algorithm, workspace, plan.workspace, none,
                                  plan.out, out));
  else if (p.direction == FOR_INPUT)
    WRY_STEP(ConvolutionBackwardData, (handle, one, plan.weight, weight, plan.out, out, plan.conv, plan.algorithm, workspace, plan.workspace,
                                       none, plan.in, in));
  else
    WRY_STEP(ConvolutionBackwardFilter, (handle, one, plan.in, in, plan.out, out, plan.conv, plan.algorithm, workspace, plan.workspace, none,
                                         plan.weight, weight));
  // In a step of its own: a result of 16 bits is rounded before and after. The library fuses the two for one algorithm only.
  const bool forward = p.direction == FORWARD;
  if (p.bias) WRY_STEP(AddTensor, (handle, one, plan.bias, p.bias, one, forward ? plan.out : plan.in, forward ? out : in));
  if (!steps.well()) return not_taken;
  if (turns && p.direction == FOR_WEIGHT && turn(p, shape, const_cast<void *>(p.weight), shape.plain, weight, shape.turned, stream) != cudaSuccess)
    return not_taken;
  return WRY_OK;
}

// Does a window that begins `before` cells early and ends as late give this many places? The library knows no other padding.
bool symmetric(int64_t size, int64_t window, int64_t stride, int64_t before, int64_t dilation, int64_t places) {
  const int64_t room = size + 2 * before - ((window - 1) * dilation + 1);
  return room >= 0 && room / stride + 1 == places && before >= 0;
}

}  // namespace

Library &cudnn_library() { return library; }

int library_convolution(const wry_call *call, const LibraryConvolution &p) {
  Type type;
  const int device = WRY_DEVICE_NUMBER(call->context->device);
  if (!library.ready() || !type_of(p.dtype, rounds_operands, &type) || device >= max_devices) return not_taken;
  if (p.bias && p.bias_step != 1 && (p.direction == FOR_INPUT ? p.channels : p.o) > 1) return not_taken;
  if (!symmetric(p.h, p.kh, p.stride_y, p.before_y, p.dilation_y, p.oh) || !symmetric(p.w, p.kw, p.stride_x, p.before_x, p.dilation_x, p.ow))
    return not_taken;
  const int64_t most = INT_MAX;  // elements of a tensor
  const int64_t weights = p.o * (p.channels / p.groups) * p.kh * p.kw, ins = p.n * p.channels * p.h * p.w, outs = p.n * p.o * p.oh * p.ow;
  if (weights > most || ins > most || outs > most || weights * ins * outs == 0) return not_taken;
  const uintptr_t places = uintptr_t(p.in) | uintptr_t(p.out) | uintptr_t(p.weight) | uintptr_t(p.bias);
  if (places % 16) return not_taken;  // what the library asks for is not said for each algorithm
  const Problem problem = {device, p.direction, p.channels_last, p.dtype, type.math, p.bias != nullptr, most_workspace,
                           p.n, p.channels, p.h, p.w, p.o, p.oh, p.ow, p.kh, p.kw, p.groups,
                           p.stride_y, p.stride_x, p.before_y, p.before_x, p.dilation_y, p.dilation_x};
  Steps steps;
  int status = not_taken;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Plan *plan = plan_of(steps, call, problem, type);
    if (plan && plan->taken) {
      status = convolve(steps, call, p, *plan, type);
      if (steps.status / 1000 == 3) plan->taken = false, steps.status = SUCCESS;  // it had promised more than it does
    }
  }
  if (!steps.well()) library.fail(steps.function, name_of(steps.status));  // which may wait for Python's lock
  return status;
}

}  // namespace cuda
}  // namespace wherry

// The scratch memory that one convolution may take, in MiB.
extern "C" __attribute__((visibility("default"))) void wry_cuda_set_workspace_limit(int64_t mebibytes) {
  wherry::cuda::most_workspace = mebibytes << 20;
}
