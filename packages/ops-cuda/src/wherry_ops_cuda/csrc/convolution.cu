// Convolution and its gradients as matrix products whose operands are never written down (implicit GEMM).
//
// With groups g, input channels c and output channels o of a group, taps t of the window and places p of the output:
//   forward        out[o, p]    = sum over (c, t)  weight[o, (c, t)] x[(c, t), p]
//   for the input  x[c, q]      = sum over (o, t)  weight[(o, t), c] ct[(o, t), q]     q a place of the input
//   for the weight w[o, (c, t)] = sum over (n, p)  ct[o, (n, p)] x[(n, p), (c, t)]
// A block computes a 32 x 32 tile, each of its 256 threads 2 x 2 elements of that, from strips of 16 in shared memory; a strip is
// gathered from the image, with zeros for what is outside of it. cuDNN is asked first, where it is found, and for floats of 16 bits the tensor
// cores of convolution_lines.cu; those of narrow groups are computed here, in float32.
#include "convolution.h"

namespace wherry {
namespace cuda {
namespace {

// Element (row, k) of the left operand and (k, column) of the right one, for each of the three products. Rows, columns and k are
// numbers of one group.
template <typename T>
struct Forward {
  using A = arithmetic_t<T>;
  Convolution s;
  const T *x, *weight, *bias;
  T *out;
  int64_t bias_step;
  WRY_GPU int64_t rows() const { return s.o; }
  WRY_GPU int64_t columns() const { return s.out.n * s.out.h * s.out.w; }
  WRY_GPU int64_t depth() const { return s.c * s.window.kh * s.window.kw; }
  WRY_GPU A left(int64_t group, int64_t row, int64_t k) const { return load(weight + (group * s.o + row) * depth() + k); }
  WRY_GPU A right(int64_t group, int64_t k, int64_t column) const {
    const Window &w = s.window;
    const int64_t taps = w.kh * w.kw, channel = group * s.c + k / taps, tap = k % taps, place = s.out.h * s.out.w;
    const int64_t n = column / place, y = column % place / s.out.w * w.sy - w.py + tap / w.kw * w.dy;
    const int64_t x_ = column % s.out.w * w.sx - w.px + tap % w.kw * w.dx;
    if (y < 0 || y >= s.in.h || x_ < 0 || x_ >= s.in.w) return A(0);
    return load(x + offset_of(s.in, n, channel, y, x_));
  }
  WRY_GPU void put(int64_t group, int64_t row, int64_t column, A value) const {
    const int64_t place = s.out.h * s.out.w, channel = group * s.o + row;
    if (bias) value += load(bias + channel * bias_step);
    out[offset_of(s.out, column / place, channel, column % place / s.out.w, column % s.out.w)] = narrow<T>(value);
  }
};

template <typename T>
struct ForInput {
  using A = arithmetic_t<T>;
  Convolution s;
  const T *ct, *weight, *bias;
  T *out;
  int64_t bias_step;
  WRY_GPU int64_t rows() const { return s.c; }
  WRY_GPU int64_t columns() const { return s.in.n * s.in.h * s.in.w; }
  WRY_GPU int64_t depth() const { return s.o * s.window.kh * s.window.kw; }
  WRY_GPU A left(int64_t group, int64_t row, int64_t k) const {
    const int64_t taps = s.window.kh * s.window.kw;
    return load(weight + ((group * s.o + k / taps) * s.c + row) * taps + k % taps);
  }
  WRY_GPU A right(int64_t group, int64_t k, int64_t column) const {
    const Window &w = s.window;
    const int64_t taps = w.kh * w.kw, channel = group * s.o + k / taps, tap = k % taps, place = s.in.h * s.in.w;
    // The output whose window has this place under this tap, if a stride leads there.
    const int64_t y = column % place / s.in.w + w.py - tap / w.kw * w.dy, x = column % s.in.w + w.px - tap % w.kw * w.dx;
    if (y < 0 || x < 0 || y % w.sy || x % w.sx || y / w.sy >= s.out.h || x / w.sx >= s.out.w) return A(0);
    return load(ct + offset_of(s.out, column / place, channel, y / w.sy, x / w.sx));
  }
  WRY_GPU void put(int64_t group, int64_t row, int64_t column, A value) const {
    const int64_t place = s.in.h * s.in.w, channel = group * s.c + row;
    if (bias) value += load(bias + channel * bias_step);
    out[offset_of(s.in, column / place, channel, column % place / s.in.w, column % s.in.w)] = narrow<T>(value);
  }
};

template <typename T>
struct ForWeight {
  using A = arithmetic_t<T>;
  Convolution s;
  const T *ct, *x;
  T *out;
  WRY_GPU int64_t rows() const { return s.o; }
  WRY_GPU int64_t columns() const { return s.c * s.window.kh * s.window.kw; }
  WRY_GPU int64_t depth() const { return s.out.n * s.out.h * s.out.w; }
  WRY_GPU A left(int64_t group, int64_t row, int64_t k) const {
    const int64_t place = s.out.h * s.out.w;
    return load(ct + offset_of(s.out, k / place, group * s.o + row, k % place / s.out.w, k % s.out.w));
  }
  WRY_GPU A right(int64_t group, int64_t k, int64_t column) const {
    const Window &w = s.window;
    const int64_t taps = w.kh * w.kw, tap = column % taps, place = s.out.h * s.out.w;
    const int64_t y = k % place / s.out.w * w.sy - w.py + tap / w.kw * w.dy, x_ = k % s.out.w * w.sx - w.px + tap % w.kw * w.dx;
    if (y < 0 || y >= s.in.h || x_ < 0 || x_ >= s.in.w) return A(0);
    return load(x + offset_of(s.in, k / place, group * s.c + column / taps, y, x_));
  }
  WRY_GPU void put(int64_t group, int64_t row, int64_t column, A value) const { out[(group * s.o + row) * columns() + column] = narrow<T>(value); }
};

constexpr int side = 32, strip = 16, own = 2, across = side / own;

template <typename P>
__global__ void __launch_bounds__(across *across) product(P p) {
  using A = typename P::A;
  WRY_SHARED(A, left, strip * (side + 1));
  WRY_SHARED(A, right, strip * (side + 1));
  const int thread = threadIdx.x, tx = thread % across, ty = thread / across;
  const int64_t rows = p.rows(), columns = p.columns(), depth = p.depth(), row0 = blockIdx.y * int64_t(side);
  for (int64_t group = blockIdx.z; group < p.s.groups; group += gridDim.z)
    for (int64_t column0 = blockIdx.x * int64_t(side); column0 < columns; column0 += int64_t(gridDim.x) * side) {
      A total[own][own];
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < own; ++j) total[i][j] = A(0);
      for (int64_t k0 = 0; k0 < depth; k0 += strip) {
        __syncthreads();  // the strip before may still be read
        // Not unrolled: two places at once are more than the registers hold (float64, the gradient for the input).
#pragma unroll 1
        for (int e = thread; e < side * strip; e += across * across) {
          const int r = e / strip, k = e % strip;
          left[k * (side + 1) + r] = row0 + r < rows && k0 + k < depth ? p.left(group, row0 + r, k0 + k) : A(0);
        }
#pragma unroll 1
        for (int e = thread; e < side * strip; e += across * across) {
          const int c = e % side, k = e / side;
          right[k * (side + 1) + c] = column0 + c < columns && k0 + k < depth ? p.right(group, k0 + k, column0 + c) : A(0);
        }
        __syncthreads();
        const int last = depth - k0 < strip ? int(depth - k0) : strip;
        for (int k = 0; k < last; ++k)
#pragma unroll
          for (int i = 0; i < own; ++i)
#pragma unroll
            for (int j = 0; j < own; ++j)
              total[i][j] = fma(left[k * (side + 1) + ty + i * across], right[k * (side + 1) + tx + j * across], total[i][j]);
      }
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < own; ++j) {
          const int64_t r = row0 + ty + i * across, c = column0 + tx + j * across;
          if (r < rows && c < columns) p.put(group, r, c, total[i][j]);
        }
    }
}

template <typename P>
int launch_product(const wry_call *call, const P &p, int64_t rows, int64_t columns) {
  const int64_t tiles = (columns + side - 1) / side;
  const dim3 grid(some_blocks(tiles, 1 << 20), unsigned((rows + side - 1) / side), some_blocks(p.s.groups));
  return check(call, wry_launch(product<P>, grid, dim3(across * across), 0, stream(call), p));
}

Window window_of(const wry_call *call, const wry_tensor *weight) {
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  return {weight->shape[2], weight->shape[3], strides[0], strides[1], paddings[0], paddings[2], dilations[0], dilations[1]};
}

// Of one of the three, by cuDNN where it is found; not_taken otherwise.
int by_library(const wry_call *call, Direction direction, const Convolution &s, bool last, const wry_tensor *in, const wry_tensor *out,
               const wry_tensor *weight, const wry_tensor *bias) {
  const Window &w = s.window;
  return library_convolution(call, {direction, last, in->dtype, s.in.n, s.in.channels, s.in.h, s.in.w, s.out.channels, s.out.h, s.out.w, w.kh, w.kw,
                                    s.groups, w.sy, w.sx, w.py, w.px, w.dy, w.dx, in->data, out->data, weight->data,
                                    bias ? bias->data : nullptr, bias ? bias->strides[0] : 0});
}

template <typename T>
int conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *bias = input(call, 2), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const int64_t groups = attr_int(call, 3);
  const Convolution s = {image_of(x, last), image_of(out, last), window_of(call, weight), groups, weight->shape[1], weight->shape[0] / groups};
  int status = by_library(call, FORWARD, s, last, x, out, weight, bias);
  if constexpr (is_half<T>)
    if (status == not_taken) status = convolve_lines(call, FORWARD, s, data<T>(x), data<T>(weight), bias, data<T>(out));
  if (status != not_taken) return status;
  const Forward<T> p = {s, data<T>(x), data<T>(weight), bias ? data<T>(bias) : nullptr, data<T>(out), bias ? bias->strides[0] : 0};
  return launch_product(call, p, s.o, s.out.n * s.out.h * s.out.w);
}

// The forward direction of conv2d_transpose is the gradient of a convolution for its input, whose output is x: its weight
// [groups * o, c, kh, kw] is that convolution's.
template <typename T>
int transposed(const wry_call *call, const wry_tensor *bias, bool last) {
  const wry_tensor *ct = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int64_t groups = attr_int(call, 3);
  const Convolution s = {image_of(out, last), image_of(ct, last), window_of(call, weight), groups, weight->shape[1], weight->shape[0] / groups};
  int status = by_library(call, FOR_INPUT, s, last, out, ct, weight, bias);
  if constexpr (is_half<T>)
    if (status == not_taken) status = convolve_lines(call, FOR_INPUT, s, data<T>(ct), data<T>(weight), bias, data<T>(out));
  if (status != not_taken) return status;
  const ForInput<T> p = {s, data<T>(ct), data<T>(weight), bias ? data<T>(bias) : nullptr, data<T>(out), bias ? bias->strides[0] : 0};
  return launch_product(call, p, s.c, s.in.n * s.in.h * s.in.w);
}
template <typename T>
int conv2d_transpose(const wry_call *call) { return transposed<T>(call, input(call, 2), attr_equals(call, 5, "NHWC")); }
template <typename T>
int conv2d_input_vjp(const wry_call *call) { return transposed<T>(call, nullptr, attr_equals(call, 4, "NHWC")); }

template <typename T>
int conv2d_weight_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0), *x = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const int64_t groups = attr_int(call, 3);
  const Convolution s = {image_of(x, last), image_of(ct, last), window_of(call, out), groups, out->shape[1], out->shape[0] / groups};
  const bool some = ct->size > 0 && x->size > 0;  // of nothing the gradient is zeros, as the sum over no places below is
  int status = some ? by_library(call, FOR_WEIGHT, s, last, x, ct, out, nullptr) : not_taken;
  if constexpr (is_half<T>)
    if (some && status == not_taken) status = convolve_lines(call, FOR_WEIGHT, s, data<T>(ct), data<T>(x), nullptr, data<T>(out));
  if (status != not_taken) return status;
  const ForWeight<T> p = {s, data<T>(ct), data<T>(x), data<T>(out)};
  return launch_product(call, p, s.o, s.c * s.window.kh * s.window.kw);
}

#include <wherry/kernels/rows/convolution.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(convolution, wherry::cuda::table)
