// Sums, products and what is made of them. Extreme values are in extreme.cc, scans in scan.cc.
//
// Inputs may be strided; outputs are contiguous and overlap no input. Totals of floats are doubles,
// of integers and bool int64 (reduce.h says how); products stay in the dtype of the arithmetic.
#include "lanemath.h"
#include "reduce.h"

namespace WRY_NAMESPACE {
namespace {

// ---- floats -------------------------------------------------------------------------------------

template <typename T>
struct SquaresOf : SumOf<T> {
  static WRY_INLINE vec<T> lift(vec<T> x, vec<T>) { return x * x; }
};

template <typename T>
struct ExponentialsOf : SumOf<T> {
  static WRY_INLINE vec<T> lift(vec<T> x, vec<T> shift) { return lane_exp(x - shift); }
};

template <typename T_>
struct ProductOf {
  using T = T_;
  using W = double;  // no overflow on the way to a product that a float holds
  using V = vec<T>;
  static WRY_INLINE V start() { return splat<V>(1); }
  static WRY_INLINE V lift(V x, V) { return x; }
  template <typename X>
  static WRY_INLINE X combine(X a, X b) { return a * b; }
  static WRY_INLINE W start_total() { return 1; }
  template <typename X>
  static WRY_INLINE W fold(W total, X value) { return total * W(value); }
};

template <typename T_>
struct LargestOf {
  using T = T_;
  using W = arithmetic_t<T>;
  using V = vec<T>;
  static WRY_INLINE V start() { return V{} - W(INFINITY); }
  static WRY_INLINE V lift(V x, V) { return x; }
  template <typename X>
  static WRY_INLINE X combine(X a, X b) { return maximum(a, b); }
  static WRY_INLINE W start_total() { return -W(INFINITY); }
  static WRY_INLINE W fold(W total, W value) { return maximum(total, value); }
};

// ---- integers, bool, complex --------------------------------------------------------------------

template <typename T_>
struct IntegerSum {
  using T = T_;
  using W = int64_t;
  using Out = int64_t;
  static WRY_INLINE W start() { return 0; }
  static WRY_INLINE W lift(T x) { return W(x); }
  // Overflow wraps around, as in NumPy; in signed arithmetic it would be undefined.
  static WRY_INLINE W combine(W a, W b) { return W(uint64_t(a) + uint64_t(b)); }
  static WRY_INLINE Out finish(W total, double) { return total; }
};

template <typename T>
struct IntegerMean : IntegerSum<T> {
  using Out = T;
  static WRY_INLINE Out finish(int64_t total, double n) { return n > 0 ? T(total / int64_t(n)) : T(0); }
};

template <typename T_>
struct IntegerProduct {
  using T = T_;
  using W = T;
  using Out = T;
  static WRY_INLINE W start() { return 1; }
  static WRY_INLINE W lift(T x) { return x; }
  static WRY_INLINE W combine(W a, W b) { return W(uint64_t(a) * uint64_t(b)); }
  static WRY_INLINE Out finish(W total, double) { return total; }
};

template <typename T_>
struct ComplexSum {
  using T = T_;
  using W = complex128;
  using Out = T;
  static WRY_INLINE W start() { return W(0); }
  static WRY_INLINE W lift(T x) { return W(x); }
  static WRY_INLINE W combine(W a, W b) { return a + b; }
  static WRY_INLINE Out finish(W total, double n) { return T(n == 1 ? total : W(total.re / n, total.im / n)); }
};

template <typename T>
struct ComplexProduct : ComplexSum<T> {
  using W = complex128;
  static WRY_INLINE W start() { return W(1); }
  static WRY_INLINE W combine(W a, W b) { return a * b; }
};

// ---- kernels ------------------------------------------------------------------------------------

template <typename T>
Reducer sum_reducer() {
  if constexpr (is_float<T>) return VectorReducer<SumOf<T>>::reducer();
  else if constexpr (is_complex<T>::value) return PlainReducer<ComplexSum<T>>::reducer();
  else return PlainReducer<IntegerSum<T>>::reducer();
}

template <typename T>
int reduce_sum(const wry_call *call) { return reduce_call(call, "reduce_sum", sum_reducer<T>()); }

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
  return reduce(call, "sum_like", x, axes, n, sum_reducer<T>(), nullptr, out->data);
}

template <typename T>
int reduce_mean(const wry_call *call) {
  const double n = double(reduced_count(input(call, 0), attr_ints(call, 0)));
  if constexpr (is_float<T> || is_complex<T>::value) return reduce_call(call, "reduce_mean", sum_reducer<T>(), n);
  else return reduce_call(call, "reduce_mean", PlainReducer<IntegerMean<T>>::reducer(), n);
}

template <typename T>
int reduce_prod(const wry_call *call) {
  if constexpr (is_float<T>) return reduce_call(call, "reduce_prod", VectorReducer<ProductOf<T>>::reducer());
  else if constexpr (is_complex<T>::value) return reduce_call(call, "reduce_prod", PlainReducer<ComplexProduct<T>>::reducer());
  else return reduce_call(call, "reduce_prod", PlainReducer<IntegerProduct<T>>::reducer());
}

// The means first, then the squared distances from them: the mean of squares minus the square of
// the mean would lose every digit where the mean is large.
template <typename T>
int variance(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int64_t n = reduced_count(x, axes), correction = attr_int(call, 2), outputs = output(call, 0)->size;
  A *mean = workspace<A>(call, outputs);
  if (!mean) return fail_memory(call, "variance", outputs * int64_t(sizeof(A)));
  const Reducer sum = VectorReducer<SumOf<T>>::template reducer<A>();
  int status = reduce(call, "variance", x, axes.data, axes.length, sum, nullptr, mean, double(n));
  if (status != WRY_OK) return status;
  return reduce(call, "variance", x, axes.data, axes.length, VectorReducer<SquaredDeviations<T>>::reducer(true), mean,
                output(call, 0)->data, double(n > correction ? n - correction : n));
}

template <typename T>
int logsumexp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const Ints axes = attr_ints(call, 0);
  const int64_t outputs = output(call, 0)->size;
  A *shift = workspace<A>(call, outputs);
  double *total = workspace<double>(call, outputs);
  if (!shift || !total) return fail_memory(call, "logsumexp", outputs * int64_t(sizeof(A) + sizeof(double)));
  int status = reduce(call, "logsumexp", x, axes.data, axes.length, VectorReducer<LargestOf<T>>::template reducer<A>(),
                      nullptr, shift, 1);
  if (status != WRY_OK) return status;
  // An infinite maximum must not be subtracted from itself: the answer is that infinity.
  for (int64_t i = 0; i < outputs; ++i)
    if (!(shift[i] - shift[i] == 0)) shift[i] = 0;
  status = reduce(call, "logsumexp", x, axes.data, axes.length,
                  VectorReducer<ExponentialsOf<T>>::template reducer<double>(true), shift, total, 1);
  if (status != WRY_OK) return status;
  T *out = data<T>(output(call, 0));
  parallel_for(call, outputs, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = T(A(::log(total[i]) + double(shift[i])));
  });
  return WRY_OK;
}

template <typename T>
int squared_l2_norm(const wry_call *call) {
  static const int64_t all[WRY_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const wry_tensor *x = input(call, 0);
  return reduce(call, "squared_l2_norm", x, all, x->rank, VectorReducer<SquaresOf<T>>::reducer(), nullptr,
                output(call, 0)->data);
}

#include <wherry/kernels/rows/reduction.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(reduction, WRY_NAMESPACE::table)
