// Sums, products and what is made of them. Extreme values are in extreme.cu.
//
// Inputs may be strided; outputs are contiguous and overlap no input. Totals of floats are doubles, of integers and bool
// int64, of complex numbers complex128.
#include "reduce.h"

namespace wherry {
namespace cuda {
namespace {

template <typename T_, typename Out_ = T_>
struct Sum {
  using T = T_;
  using W = std::conditional_t<is_complex<T>::value, complex128, std::conditional_t<is_float<T>, double, int64_t>>;
  using Out = std::conditional_t<std::is_same<W, int64_t>::value, int64_t, Out_>;
  static WRY_GPU W start() { return W(0); }
  static WRY_GPU W lift(arithmetic_t<T> x, W, int64_t) { return W(x); }
  static WRY_GPU W combine(W a, W b) {
    if constexpr (std::is_same<W, int64_t>::value) return W(uint64_t(a) + uint64_t(b));  // wraps around, as in NumPy
    else return a + b;
  }
  static WRY_GPU W finish(W total, double n) {
    if constexpr (is_complex<W>::value) return n == 1 ? total : W(total.re / n, total.im / n);
    else if constexpr (std::is_same<W, double>::value) return n == 1 ? total : total / n;
    else return total;
  }
};
template <typename T>
struct IntegerMean : Sum<T> {
  using Out = T;
  static WRY_GPU int64_t finish(int64_t total, double n) { return n > 0 ? total / int64_t(n) : 0; }
};
template <typename T>
struct Squares : Sum<T> {
  static WRY_GPU double lift(arithmetic_t<T> x, double, int64_t) { return double(x) * double(x); }
};
template <typename T>
struct SquaredDeviations : Sum<T> {
  static WRY_GPU double lift(arithmetic_t<T> x, double shift, int64_t) { return (double(x) - shift) * (double(x) - shift); }
};
template <typename T>
struct Exponentials : Sum<T, double> {
  static WRY_GPU double lift(arithmetic_t<T> x, double shift, int64_t) { return exp(double(x) - shift); }
};
// The largest, as what is subtracted from the rest: an infinite one must not be subtracted from itself.
template <typename T_>
struct Shift {
  using T = T_;
  using W = double;
  using Out = double;
  static WRY_GPU W start() { return -double(INFINITY); }
  static WRY_GPU W lift(arithmetic_t<T> x, W, int64_t) { return double(x); }
  static WRY_GPU W combine(W a, W b) { return a != a ? a : (a < b || b != b ? b : a); }
  static WRY_GPU W finish(W total, double) { return total - total == 0 ? total : 0; }
};
template <typename T>
struct Product : Sum<T> {  // totals of floats are doubles: no overflow on the way to a product that a float holds
  using W = std::conditional_t<is_integer<T>, T, typename Sum<T>::W>;
  using Out = T;
  static WRY_GPU W start() { return W(1); }
  static WRY_GPU W lift(arithmetic_t<T> x, W, int64_t) { return W(x); }
  static WRY_GPU W combine(W a, W b) {
    if constexpr (is_integer<T>) return W(uint64_t(a) * uint64_t(b));
    else return a * b;
  }
  static WRY_GPU W finish(W total, double) { return total; }
};

template <typename T>
int reduce_sum(const wry_call *call) { return reduce_call<Sum<T>>(call, "reduce_sum"); }

// Undoes broadcasting: sums x over the axes that `like`, whose shape out has, lacks or has with size 1.
template <typename T>
int sum_like(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  int64_t axes[WRY_MAX_RANK];
  int n = 0;
  for (int axis = 0; axis < x->rank; ++axis) {
    const int at = axis - (x->rank - out->rank);
    if (at < 0 || (out->shape[at] == 1 && x->shape[axis] != 1)) axes[n++] = axis;
  }
  return reduce<Sum<T>>(call, "sum_like", x, axes, n, nullptr, out->data);
}

template <typename T>
int reduce_mean(const wry_call *call) {
  const double n = double(reduced_count(input(call, 0), attr_ints(call, 0)));
  if constexpr (is_integer<T>) return reduce_call<IntegerMean<T>>(call, "reduce_mean", n);
  else return reduce_call<Sum<T>>(call, "reduce_mean", n);
}
template <typename T>
int reduce_prod(const wry_call *call) { return reduce_call<Product<T>>(call, "reduce_prod"); }

// The means first, then the squared distances from them: the mean of squares minus the square of the mean would lose every
// digit where the mean is large.
template <typename T>
int variance(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int64_t n = reduced_count(x, axes), correction = attr_int(call, 2), outputs = output(call, 0)->size;
  double *mean = workspace<double>(call, outputs > 0 ? outputs : 1);
  if (!mean) return fail_memory(call, "variance", outputs * int64_t(sizeof(double)));
  const int status = reduce<Sum<T, double>>(call, "variance", x, axes.data, axes.length, nullptr, mean, double(n));
  if (status != WRY_OK) return status;
  return reduce<SquaredDeviations<T>>(call, "variance", x, axes.data, axes.length, mean, output(call, 0)->data, double(n > correction ? n - correction : n));
}

template <typename T>
__global__ void __launch_bounds__(block_size) log_and_shift(int64_t n, const double *total, const double *shift, T *out) {
  for WRY_EACH (i, n) out[i] = narrow<T>(log(total[i]) + shift[i]);
}
template <typename T>
int logsumexp(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int64_t outputs = output(call, 0)->size;
  if (outputs == 0) return WRY_OK;
  double *shift = workspace<double>(call, outputs), *total = workspace<double>(call, outputs);
  if (!shift || !total) return fail_memory(call, "logsumexp", 2 * outputs * int64_t(sizeof(double)));
  int status = reduce<Shift<T>>(call, "logsumexp", x, axes.data, axes.length, nullptr, shift);
  if (status == WRY_OK) status = reduce<Exponentials<T>>(call, "logsumexp", x, axes.data, axes.length, shift, total);
  if (status != WRY_OK) return status;
  const int threads = threads_for(outputs);
  return check(call, wry_launch(log_and_shift<T>, blocks_for(outputs, threads), dim3(threads), 0, stream(call), outputs, total, shift, data<T>(output(call, 0))));
}

template <typename T>
int squared_l2_norm(const wry_call *call) {
  static const int64_t all[WRY_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const wry_tensor *x = input(call, 0);
  return reduce<Squares<T>>(call, "squared_l2_norm", x, all, x->rank, nullptr, output(call, 0)->data);
}

#include <wherry/kernels/rows/reduction.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(reduction, wherry::cuda::table)
