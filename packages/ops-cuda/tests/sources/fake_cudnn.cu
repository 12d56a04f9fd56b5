// A cuDNN for tests, on the emulator: answers what the real one answers about descriptors (answers/cudnn.json), checks what it is told, and
// convolves with an emulated kernel, so that the bounds of operands and the order of streams are checked, too.
//
// FAKE_CUDNN in the environment plays a library that is broken: "old", "create", "algorithm", "refuse", "run", "promise".
#include "cudnn.h"

#include <cuda_emulator/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

using namespace wherry::cuda::cudnn;
using wherry::cuda::bfloat16;
using wherry::cuda::load;
using wherry::cuda::narrow;

namespace wherry {
namespace cuda {
namespace cudnn {
struct HandleOfLibrary {
  cudaStream_t stream;
  int device;
};
struct TensorOfLibrary {
  Format format;
  DataType type;
  int n, c, h, w;
};
struct FilterOfLibrary {
  Format format;
  DataType type;
  int k, c, h, w;
};
struct ConvOfLibrary {
  int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, groups;
  DataType compute;
  Math math;
};
}  // namespace cudnn
}  // namespace cuda
}  // namespace wherry

#define API extern "C" __attribute__((visibility("default")))

static bool plays(const char *what) {
  const char *found = getenv("FAKE_CUDNN");
  return found && strcmp(found, what) == 0;
}

// What was asked, for tests: algorithms, convolutions, the last algorithm and math, additions of a bias, and descriptors that live.
struct Seen {
  int64_t questions, convolutions, algorithm, math, biases, live;
};
static Seen seen;
API void fake_cudnn_seen(Seen *out) { *out = seen; }

// ---- kernels --------------------------------------------------------------------------------------

struct Strides {
  int64_t n, c, h, w;
};
struct Problem {
  int n, c, h, w, k, oh, ow, kh, kw, groups;
  ConvOfLibrary conv;
  Strides x, y, f;  // of the filter: k, c, h, w
};
// A thread for each element of what is computed.
template <typename T>
__global__ void forward(const T *x, const T *f, T *y, Problem p, int64_t count) {
  using A = wherry::cuda::arithmetic_t<T>;
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const int64_t ox = i % p.ow, oy = i / p.ow % p.oh, k = i / p.ow / p.oh % p.k, n = i / p.ow / p.oh / p.k;
  const int64_t of_group = p.c / p.groups, group = k / (p.k / p.groups);
  A sum = 0;
  for (int64_t c = 0; c < of_group; ++c)
    for (int64_t a = 0; a < p.kh; ++a)
      for (int64_t b = 0; b < p.kw; ++b) {
        const int64_t h = oy * p.conv.stride_h - p.conv.pad_h + a * p.conv.dilation_h;
        const int64_t w = ox * p.conv.stride_w - p.conv.pad_w + b * p.conv.dilation_w;
        if (h < 0 || w < 0 || h >= p.h || w >= p.w) continue;
        sum += load(x + n * p.x.n + (group * of_group + c) * p.x.c + h * p.x.h + w * p.x.w) * load(f + k * p.f.n + c * p.f.c + a * p.f.h + b * p.f.w);
      }
  y[n * p.y.n + k * p.y.c + oy * p.y.h + ox * p.y.w] = narrow<T>(sum);
}
template <typename T>
__global__ void backward_data(T *x, const T *f, const T *y, Problem p, int64_t count) {
  using A = wherry::cuda::arithmetic_t<T>;
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const int64_t w = i % p.w, h = i / p.w % p.h, c = i / p.w / p.h % p.c, n = i / p.w / p.h / p.c;
  const int64_t of_group = p.c / p.groups, outputs = p.k / p.groups, group = c / of_group;
  A sum = 0;
  for (int64_t k = group * outputs; k < (group + 1) * outputs; ++k)
    for (int64_t a = 0; a < p.kh; ++a)
      for (int64_t b = 0; b < p.kw; ++b) {
        const int64_t at_h = h + p.conv.pad_h - a * p.conv.dilation_h, at_w = w + p.conv.pad_w - b * p.conv.dilation_w;
        if (at_h < 0 || at_w < 0 || at_h % p.conv.stride_h || at_w % p.conv.stride_w) continue;
        const int64_t oy = at_h / p.conv.stride_h, ox = at_w / p.conv.stride_w;
        if (oy >= p.oh || ox >= p.ow) continue;
        sum += load(y + n * p.y.n + k * p.y.c + oy * p.y.h + ox * p.y.w) * load(f + k * p.f.n + c % of_group * p.f.c + a * p.f.h + b * p.f.w);
      }
  x[n * p.x.n + c * p.x.c + h * p.x.h + w * p.x.w] = narrow<T>(sum);
}
template <typename T>
__global__ void backward_filter(const T *x, T *f, const T *y, Problem p, int64_t count) {
  using A = wherry::cuda::arithmetic_t<T>;
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const int64_t of_group = p.c / p.groups, b = i % p.kw, a = i / p.kw % p.kh, c = i / p.kw / p.kh % of_group, k = i / p.kw / p.kh / of_group;
  const int64_t group = k / (p.k / p.groups);
  A sum = 0;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t oy = 0; oy < p.oh; ++oy)
      for (int64_t ox = 0; ox < p.ow; ++ox) {
        const int64_t h = oy * p.conv.stride_h - p.conv.pad_h + a * p.conv.dilation_h;
        const int64_t w = ox * p.conv.stride_w - p.conv.pad_w + b * p.conv.dilation_w;
        if (h < 0 || w < 0 || h >= p.h || w >= p.w) continue;
        sum += load(x + n * p.x.n + (group * of_group + c) * p.x.c + h * p.x.h + w * p.x.w) * load(y + n * p.y.n + k * p.y.c + oy * p.y.h + ox * p.y.w);
      }
  f[k * p.f.n + c * p.f.c + a * p.f.h + b * p.f.w] = narrow<T>(sum);
}
template <typename T>
__global__ void add_channels(const T *a, T *c, int channels, int64_t inside, int64_t count) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count) c[i] = narrow<T>(load(c + i) + load(a + i / inside % channels));
}
// The last byte of a workspace and the first: whoever hands over less than was asked for is found.
__global__ void touch(char *workspace, int64_t bytes) { workspace[0] = workspace[bytes - 1] = 1; }

// ---- descriptors ----------------------------------------------------------------------------------

static bool is_type(DataType type) { return type == DATA_FLOAT || type == DATA_DOUBLE || type == DATA_HALF || type == DATA_BFLOAT16; }
static bool is_format(Format format) { return format == TENSOR_NCHW || format == TENSOR_NHWC; }
template <typename T>
static Status create(T **place) {
  if (!place) return BAD_PARAM;
  *place = new T{};
  ++seen.live;
  return SUCCESS;
}
template <typename T>
static Status destroy(T *object) {
  seen.live -= object != nullptr;
  delete object;
  return SUCCESS;
}

API size_t cudnnGetVersion() { return plays("old") ? 8907 : 92801; }
API Status cudnnCreate(Handle *handle) {
  if (!handle) return BAD_PARAM;
  if (plays("create")) return NOT_INITIALIZED;
  *handle = new HandleOfLibrary{};
  return cudaGetDevice(&(*handle)->device) == cudaSuccess ? SUCCESS : NOT_INITIALIZED;
}
API Status cudnnSetStream(Handle handle, cudaStream_t stream) {
  if (!handle) return BAD_PARAM;
  handle->stream = stream;
  return SUCCESS;
}
API Status cudnnCreateTensorDescriptor(Tensor *place) { return create(place); }
API Status cudnnDestroyTensorDescriptor(Tensor object) { return destroy(object); }
API Status cudnnSetTensor4dDescriptor(Tensor t, Format format, DataType type, int n, int c, int h, int w) {
  if (!t || !is_format(format) || !is_type(type) || n <= 0 || c <= 0 || h <= 0 || w <= 0) return BAD_PARAM;
  *t = {format, type, n, c, h, w};
  return SUCCESS;
}
API Status cudnnCreateFilterDescriptor(Filter *place) { return create(place); }
API Status cudnnDestroyFilterDescriptor(Filter object) { return destroy(object); }
API Status cudnnSetFilter4dDescriptor(Filter f, DataType type, Format format, int k, int c, int h, int w) {
  if (!f || !is_format(format) || !is_type(type) || k <= 0 || c <= 0 || h <= 0 || w <= 0) return BAD_PARAM;
  *f = {format, type, k, c, h, w};
  return SUCCESS;
}
API Status cudnnCreateConvolutionDescriptor(Conv *place) {
  const Status status = create(place);
  if (status == SUCCESS) (*place)->groups = 1;
  return status;
}
API Status cudnnDestroyConvolutionDescriptor(Conv object) { return destroy(object); }
API Status cudnnSetConvolution2dDescriptor(Conv c, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, Mode mode,
                                           DataType compute) {
  if (!c || pad_h < 0 || pad_w < 0 || stride_h <= 0 || stride_w <= 0 || dilation_h <= 0 || dilation_w <= 0) return BAD_PARAM;
  if ((mode != CONVOLUTION && mode != CROSS_CORRELATION) || !is_type(compute)) return BAD_PARAM;
  *c = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, c->groups, compute, c->math};
  return SUCCESS;
}
API Status cudnnSetConvolutionGroupCount(Conv c, int groups) {
  if (groups <= 0) return BAD_PARAM;
  c->groups = groups;
  return SUCCESS;
}
API Status cudnnSetConvolutionMathType(Conv c, Math math) {
  if (math < DEFAULT_MATH || math > FMA_MATH) return BAD_PARAM;
  c->math = math;
  return SUCCESS;
}
API Status cudnnGetConvolution2dForwardOutputDim(const Conv c, const Tensor x, const Filter f, int *n, int *k, int *h, int *w) {
  const int rest_h = x->h + 2 * c->pad_h - ((f->h - 1) * c->dilation_h + 1), rest_w = x->w + 2 * c->pad_w - ((f->w - 1) * c->dilation_w + 1);
  if (x->c != f->c * c->groups || rest_h < 0 || rest_w < 0) return BAD_PARAM;
  *n = x->n, *k = f->k, *h = rest_h / c->stride_h + 1, *w = rest_w / c->stride_w + 1;
  return SUCCESS;
}

// ---- convolutions ---------------------------------------------------------------------------------

static Strides strides_of(Format format, int64_t c, int64_t h, int64_t w) {
  if (format == TENSOR_NHWC) return {c * h * w, 1, w * c, c};
  return {c * h * w, h * w, w, 1};
}
static Status fits(const Tensor x, const Filter f, const Conv c, const Tensor y) {
  int n, k, h, w;
  if (const Status status = cudnnGetConvolution2dForwardOutputDim(c, x, f, &n, &k, &h, &w)) return status;
  if (n != y->n || k != y->c || h != y->h || w != y->w || f->k % c->groups || x->type != f->type || x->type != y->type) return BAD_PARAM;
  if (x->format != f->format || x->format != y->format) return NOT_SUPPORTED;
  if (x->type == DATA_DOUBLE && (c->compute != DATA_DOUBLE || x->format == TENSOR_NHWC)) return NOT_SUPPORTED;
  if (x->type != DATA_DOUBLE && c->compute != DATA_FLOAT) return NOT_SUPPORTED;
  return SUCCESS;
}

// Proposals: one that is not deterministic and one that fails come before the one that is meant, as do tensor cores.
constexpr int meant = 1;
constexpr size_t scratch = 3000;
static Status propose(Status fitting, const Conv c, int wanted, int *found, Choice *choices) {
  ++seen.questions;
  *found = 0;
  if (plays("algorithm")) return INTERNAL_ERROR;
  if (plays("refuse")) return NOT_SUPPORTED;
  if (fitting != SUCCESS) return fitting;
  const Choice all[] = {
      {0, SUCCESS, 1, 0, NON_DETERMINISTIC, DEFAULT_MATH, {}},
      {3, NOT_SUPPORTED, -1, 0, DETERMINISTIC, c->math, {}},
      {meant, SUCCESS, 2, scratch, DETERMINISTIC, TENSOR_OP_MATH, {}},
      {meant, SUCCESS, 3, scratch, DETERMINISTIC, FMA_MATH, {}},
  };
  for (const Choice &one : all)
    if (*found < wanted) choices[(*found)++] = one;
  return SUCCESS;
}
API Status cudnnGetConvolutionForwardAlgorithm_v7(Handle handle, Tensor x, Filter f, Conv c, Tensor y, int wanted, int *found, Choice *choices) {
  return handle ? propose(fits(x, f, c, y), c, wanted, found, choices) : NOT_INITIALIZED;
}
API Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle handle, Filter f, Tensor y, Conv c, Tensor x, int wanted, int *found, Choice *choices) {
  return handle ? propose(fits(x, f, c, y), c, wanted, found, choices) : NOT_INITIALIZED;
}
API Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle handle, Tensor x, Tensor y, Conv c, Filter f, int wanted, int *found, Choice *choices) {
  return handle ? propose(fits(x, f, c, y), c, wanted, found, choices) : NOT_INITIALIZED;
}
static Status size_of(Status fitting, int algorithm, size_t *bytes) {
  *bytes = scratch;
  return algorithm == meant ? fitting : NOT_SUPPORTED;
}
API Status cudnnGetConvolutionForwardWorkspaceSize(Handle, Tensor x, Filter f, Conv c, Tensor y, int algorithm, size_t *bytes) {
  return size_of(fits(x, f, c, y), algorithm, bytes);
}
API Status cudnnGetConvolutionBackwardDataWorkspaceSize(Handle, Filter f, Tensor y, Conv c, Tensor x, int algorithm, size_t *bytes) {
  return size_of(fits(x, f, c, y), algorithm, bytes);
}
API Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle, Tensor x, Tensor y, Conv c, Filter f, int algorithm, size_t *bytes) {
  return size_of(fits(x, f, c, y), algorithm, bytes);
}

static bool is_one(const void *value, DataType type) { return type == DATA_DOUBLE ? *static_cast<const double *>(value) == 1 : *static_cast<const float *>(value) == 1; }
static bool is_none(const void *value, DataType type) { return type == DATA_DOUBLE ? *static_cast<const double *>(value) == 0 : *static_cast<const float *>(value) == 0; }

template <typename F>
static Status run(Handle handle, const void *alpha, const void *beta, Tensor x, Filter f, Conv c, Tensor y, int algorithm, void *workspace, size_t bytes,
                  uintptr_t places, F &&go) {
  if (!handle) return NOT_INITIALIZED;
  if (const Status status = fits(x, f, c, y)) return status;
  if (algorithm != meant || bytes < scratch || !workspace || places % 16 || !is_one(alpha, x->type) || !is_none(beta, x->type)) return BAD_PARAM;
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess || device != handle->device) return BAD_PARAM;
  if (plays("run")) return EXECUTION_FAILED;
  if (plays("promise")) return NOT_SUPPORTED;
  ++seen.convolutions, seen.algorithm = algorithm, seen.math = c->math;
  if (wry_launch(touch, dim3(1), dim3(1), 0, handle->stream, static_cast<char *>(workspace), int64_t(bytes)) != cudaSuccess) return EXECUTION_FAILED;
  const Problem p = {x->n, x->c, x->h, x->w, f->k, y->h, y->w, f->h, f->w, c->groups, *c, strides_of(x->format, x->c, x->h, x->w),
                     strides_of(y->format, y->c, y->h, y->w), strides_of(f->format, f->c, f->h, f->w)};
  cudaError_t error = cudaSuccess;
  switch (x->type) {
    case DATA_HALF: error = go(__half(), p, handle->stream); break;
    case DATA_BFLOAT16: error = go(bfloat16(), p, handle->stream); break;
    case DATA_FLOAT: error = go(float(), p, handle->stream); break;
    default: error = go(double(), p, handle->stream); break;
  }
  return error == cudaSuccess ? SUCCESS : EXECUTION_FAILED;
}
static dim3 blocks(int64_t count) { return dim3(unsigned((count + 63) / 64)); }

API Status cudnnConvolutionForward(Handle handle, const void *alpha, Tensor xd, const void *x, Filter fd, const void *f, Conv c, int algorithm,
                                   void *workspace, size_t bytes, const void *beta, Tensor yd, void *y) {
  const uintptr_t places = uintptr_t(x) | uintptr_t(f) | uintptr_t(y);
  return run(handle, alpha, beta, xd, fd, c, yd, algorithm, workspace, bytes, places, [&](auto type, const Problem &p, cudaStream_t stream) {
    using T = decltype(type);
    const int64_t count = int64_t(p.n) * p.k * p.oh * p.ow;
    return wry_launch(forward<T>, blocks(count), dim3(64), 0, stream, static_cast<const T *>(x), static_cast<const T *>(f), static_cast<T *>(y), p, count);
  });
}
API Status cudnnConvolutionBackwardData(Handle handle, const void *alpha, Filter fd, const void *f, Tensor yd, const void *y, Conv c, int algorithm,
                                        void *workspace, size_t bytes, const void *beta, Tensor xd, void *x) {
  const uintptr_t places = uintptr_t(x) | uintptr_t(f) | uintptr_t(y);
  return run(handle, alpha, beta, xd, fd, c, yd, algorithm, workspace, bytes, places, [&](auto type, const Problem &p, cudaStream_t stream) {
    using T = decltype(type);
    const int64_t count = int64_t(p.n) * p.c * p.h * p.w;
    return wry_launch(backward_data<T>, blocks(count), dim3(64), 0, stream, static_cast<T *>(x), static_cast<const T *>(f), static_cast<const T *>(y), p,
                      count);
  });
}
API Status cudnnConvolutionBackwardFilter(Handle handle, const void *alpha, Tensor xd, const void *x, Tensor yd, const void *y, Conv c, int algorithm,
                                          void *workspace, size_t bytes, const void *beta, Filter fd, void *f) {
  const uintptr_t places = uintptr_t(x) | uintptr_t(f) | uintptr_t(y);
  return run(handle, alpha, beta, xd, fd, c, yd, algorithm, workspace, bytes, places, [&](auto type, const Problem &p, cudaStream_t stream) {
    using T = decltype(type);
    const int64_t count = int64_t(p.k) * (p.c / p.groups) * p.kh * p.kw;
    return wry_launch(backward_filter<T>, blocks(count), dim3(64), 0, stream, static_cast<const T *>(x), static_cast<T *>(f), static_cast<const T *>(y), p,
                      count);
  });
}

API Status cudnnAddTensor(Handle handle, const void *alpha, Tensor ad, const void *a, const void *beta, Tensor cd, void *c) {
  if (!handle) return NOT_INITIALIZED;
  if (ad->n != 1 || ad->h != 1 || ad->w != 1 || ad->c != cd->c || ad->type != cd->type || !is_one(alpha, cd->type) || !is_one(beta, cd->type)) return BAD_PARAM;
  ++seen.biases;
  const int64_t count = int64_t(cd->n) * cd->c * cd->h * cd->w, inside = cd->format == TENSOR_NHWC ? 1 : int64_t(cd->h) * cd->w;
  const auto go = [&](auto type) {
    using T = decltype(type);
    return wry_launch(add_channels<T>, blocks(count), dim3(64), 0, handle->stream, static_cast<const T *>(a), static_cast<T *>(c), cd->c, inside, count);
  };
  cudaError_t error = cudaSuccess;
  switch (cd->type) {
    case DATA_HALF: error = go(__half()); break;
    case DATA_BFLOAT16: error = go(bfloat16()); break;
    case DATA_FLOAT: error = go(float()); break;
    default: error = go(double()); break;
  }
  return error == cudaSuccess ? SUCCESS : EXECUTION_FAILED;
}
