// What a convolution is, for the two ways to compute one.
#ifndef WHERRY_CUDA_CONVOLUTION_H
#define WHERRY_CUDA_CONVOLUTION_H

#include "images.h"
#include "libraries.h"

namespace wherry {
namespace cuda {

struct Window {
  int64_t kh, kw, sy, sx, py, px, dy, dx;  // size, strides, padding before, dilation
};

// weight [groups * o, c, kh, kw]
struct Convolution {
  Image in, out;  // of the forward direction
  Window window;
  int64_t groups, c, o;
};

// One of the three products on tensor cores (convolution_lines.cu); not_taken where those or memory for copies are missing, and where groups
// are so narrow that they would multiply zeros. `source` is x [in], or the cotangent [out] of the other two; `result` is out, the cotangent of
// x, or that of the weight, whose `weight` is then x.
template <typename T>
int convolve_lines(const wry_call *call, Direction direction, const Convolution &s, const T *source, const T *weight, const wry_tensor *bias, T *result);

}  // namespace cuda
}  // namespace wherry

#endif
