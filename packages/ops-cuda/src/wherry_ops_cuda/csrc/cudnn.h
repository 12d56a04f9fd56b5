// What is used of cuDNN's C interface, as NVIDIA documents it: convolutions of version 7's kind, which version 9 still has. Nothing of its
// headers is needed to compile. tests/record_answers.py compares the numbers with the header of an installed library.
#ifndef WHERRY_CUDA_CUDNN_H
#define WHERRY_CUDA_CUDNN_H

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace wherry {
namespace cuda {
namespace cudnn {

// Thousands are kinds: 2 a wrong parameter, 3 what is not supported, 5 what has failed while it ran.
enum Status : int {
  SUCCESS = 0,
  NOT_INITIALIZED = 1001,
  SUBLIBRARY_VERSION_MISMATCH = 1002,
  SUBLIBRARY_LOADING_FAILED = 1008,
  BAD_PARAM = 2000,
  BAD_PARAM_NULL_POINTER = 2002,
  NOT_SUPPORTED = 3000,
  NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER = 3005,
  NOT_SUPPORTED_ARCH_MISMATCH = 3007,
  INTERNAL_ERROR = 4000,
  INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003,
  INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004,
  EXECUTION_FAILED = 5000,
  EXECUTION_FAILED_CUDA_DRIVER = 5001,
  EXECUTION_FAILED_CUDART = 5003
};
enum DataType : int { DATA_FLOAT = 0,
                      DATA_DOUBLE = 1,
                      DATA_HALF = 2,
                      DATA_BFLOAT16 = 9 };
enum Format : int { TENSOR_NCHW = 0,
                    TENSOR_NHWC = 1 };
enum Mode : int { CONVOLUTION = 0,
                  CROSS_CORRELATION = 1 };
enum Math : int { DEFAULT_MATH = 0,
                  TENSOR_OP_MATH = 1,
                  FMA_MATH = 3 };
enum Determinism : int { NON_DETERMINISTIC = 0,
                         DETERMINISTIC = 1 };

// Objects of the library.
using Handle = struct HandleOfLibrary *;
using Tensor = struct TensorOfLibrary *;
using Filter = struct FilterOfLibrary *;
using Conv = struct ConvOfLibrary *;
// An algorithm of a direction, as the library judges it.
struct Choice {
  int algorithm;
  Status status;
  float time;
  size_t memory;
  Determinism determinism;
  Math math;
  int reserved[3];
};

// each(name in the library, result, arguments)
// clang-format off
#define WRY_CUDNN(each) \
  each(GetVersion, size_t, (void)) \
  each(Create, Status, (Handle *)) \
  each(SetStream, Status, (Handle, cudaStream_t)) \
  each(CreateTensorDescriptor, Status, (Tensor *)) \
  each(DestroyTensorDescriptor, Status, (Tensor)) \
  each(SetTensor4dDescriptor, Status, (Tensor, Format, DataType, int n, int c, int h, int w)) \
  each(CreateFilterDescriptor, Status, (Filter *)) \
  each(DestroyFilterDescriptor, Status, (Filter)) \
  each(SetFilter4dDescriptor, Status, (Filter, DataType, Format, int k, int c, int h, int w)) \
  each(CreateConvolutionDescriptor, Status, (Conv *)) \
  each(DestroyConvolutionDescriptor, Status, (Conv)) \
  each(SetConvolution2dDescriptor, Status, \
       (Conv, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, Mode, DataType compute)) \
  each(SetConvolutionGroupCount, Status, (Conv, int)) \
  each(SetConvolutionMathType, Status, (Conv, Math)) \
  each(GetConvolutionForwardAlgorithm_v7, Status, (Handle, Tensor x, Filter, Conv, Tensor y, int wanted, int *found, Choice *)) \
  each(GetConvolutionBackwardDataAlgorithm_v7, Status, (Handle, Filter, Tensor dy, Conv, Tensor dx, int wanted, int *found, Choice *)) \
  each(GetConvolutionBackwardFilterAlgorithm_v7, Status, (Handle, Tensor x, Tensor dy, Conv, Filter, int wanted, int *found, Choice *)) \
  each(GetConvolutionForwardWorkspaceSize, Status, (Handle, Tensor x, Filter, Conv, Tensor y, int algorithm, size_t *)) \
  each(GetConvolutionBackwardDataWorkspaceSize, Status, (Handle, Filter, Tensor dy, Conv, Tensor dx, int algorithm, size_t *)) \
  each(GetConvolutionBackwardFilterWorkspaceSize, Status, (Handle, Tensor x, Tensor dy, Conv, Filter, int algorithm, size_t *)) \
  each(ConvolutionForward, Status, \
       (Handle, const void *alpha, Tensor, const void *x, Filter, const void *w, Conv, int algorithm, void *workspace, size_t, \
        const void *beta, Tensor, void *y)) \
  each(ConvolutionBackwardData, Status, \
       (Handle, const void *alpha, Filter, const void *w, Tensor, const void *dy, Conv, int algorithm, void *workspace, size_t, \
        const void *beta, Tensor, void *dx)) \
  each(ConvolutionBackwardFilter, Status, \
       (Handle, const void *alpha, Tensor, const void *x, Tensor, const void *dy, Conv, int algorithm, void *workspace, size_t, \
        const void *beta, Filter, void *dw)) \
  each(AddTensor, Status, (Handle, const void *alpha, Tensor, const void *a, const void *beta, Tensor, void *c))
// clang-format on

}  // namespace cudnn
}  // namespace cuda
}  // namespace wherry

#endif
