// Sums, products and what is made of them. Extreme values are in extreme.cc, scans in scan.cc.
//
// Inputs may be strided; outputs are contiguous and overlap no input. Totals of floats are doubles,
// of integers and bool int64 (reduce.h says how); products stay in the dtype of the arithmetic.
#include <type_traits>

#include "distance.h"
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

// Of bytes, words and int64 by vectors: what a compiler makes of one total waits for itself, and widens each value to 64 bits.
template <typename T>
int64_t contiguous_sum(const T *x, int64_t n) {
  constexpr int bytes = WRY_VECTOR_BYTES;
  using Sum = u64;  // wraps around
  Sum total{};
  int64_t i = 0;
  uint64_t rest = 0;
  if constexpr (sizeof(T) == 1) {
    using V = vecn<uint16_t, bytes / 2>;
    constexpr bool is_signed = T(-1) < T(0);
    while (i + 4 * bytes <= n) {
      V sum{};  // of 256 bytes in each lane at most
      for (const int64_t end = min_of(n, i + 64 * bytes * 2) - 2 * bytes; i <= end; i += 2 * bytes) {
        V a, b;
        memcpy(&a, x + i, bytes), memcpy(&b, x + i + bytes, bytes);
        if constexpr (is_signed) a ^= uint16_t(0x8080), b ^= uint16_t(0x8080);
        sum += (a & uint16_t(0xff)) + (a >> 8) + (b & uint16_t(0xff)) + (b >> 8);
      }
      for (int k = 0; k < bytes / 2; ++k) rest += sum[k];
    }
    if constexpr (is_signed) rest -= uint64_t(i) * 128;
  } else if constexpr (sizeof(T) == 4) {
    Sum low{}, high{};
    for (; i + lanes<T> <= n; i += lanes<T>) {
      vec<int32_t> v;
      memcpy(&v, x + i, sizeof v);
      const i64 words = (i64)v;
      low += (u64)(words << 32 >> 32), high += (u64)(words >> 32);
    }
    total = low + high;
  } else if constexpr (sizeof(T) == 8) {
    Sum sums[4] = {};
    for (; i + 4 * lanes<T> <= n; i += 4 * lanes<T>)
      for (int k = 0; k < 4; ++k) {
        Sum v;
        memcpy(&v, x + i + k * lanes<T>, sizeof v);
        sums[k] += v;
      }
    total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (int k = 0; k < lanes<int64_t>; ++k) rest += total[k];
  for (; i < n; ++i) rest += uint64_t(int64_t(x[i]));
  return int64_t(rest);
}

template <typename P>
struct IntegerReducer : PlainReducer<P> {
  static void row(const void *x, int64_t step, int64_t n, const void *parameter, void *acc) {
    if (step != 1) return PlainReducer<P>::row(x, step, n, parameter, acc);
    int64_t &total = *(int64_t *)acc;
    total = P::combine(total, contiguous_sum((const typename P::T *)x, n));
  }
  // Four rows at a time; of bytes the sums of 128 rows are words.
  static void columns(const void *x_, int64_t row_step, int64_t rows, int64_t step, int64_t n, const void *parameter, void *acc) {
    using T = std::conditional_t<std::is_same<typename P::T, bool>::value, uint8_t, typename P::T>;
    using Word = std::conditional_t<sizeof(T) == 1, int16_t, uint64_t>;
    const T *x = (const T *)x_;
    if (step != 1 || rows < 4) return PlainReducer<P>::columns(x, row_step, rows, step, n, parameter, acc);
    uint64_t *WRY_RESTRICT sums = (uint64_t *)acc;
    Word words[reduce_columns] = {};
    Word *WRY_RESTRICT to = sizeof(T) == 1 ? words : (Word *)acc;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * row_step) {
      for (int64_t j = 0; j < n; ++j)
        to[j] = Word(to[j] + (Word(x[j]) + Word(x[j + row_step])) + (Word(x[j + 2 * row_step]) + Word(x[j + 3 * row_step])));
      if (sizeof(T) == 1 && (r % 128 == 124 || r + 8 > rows))
        for (int64_t j = 0; j < n; ++j) sums[j] += uint64_t(int64_t(words[j])), words[j] = 0;
    }
    PlainReducer<P>::columns(x, row_step, rows - r, step, n, parameter, acc);
  }
  static Reducer reducer() {
    Reducer r = PlainReducer<P>::reducer();
    r.row = row, r.columns = columns;
    return r;
  }
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
  else return IntegerReducer<IntegerSum<T>>::reducer();
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
  else return reduce_call(call, "reduce_mean", IntegerReducer<IntegerMean<T>>::reducer(), n);
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

template <typename T>
int l2_norm(const wry_call *call) {
  Reducer r = VectorReducer<SquaresOf<T>>::reducer();
  r.finish = [](const void *acc, void *out, int64_t out_step, int64_t n, double) {
    for (int64_t i = 0; i < n; ++i) ((T *)out)[i * out_step] = T(arithmetic_t<T>(::sqrt(((const double *)acc)[i])));
  };
  return reduce_call(call, "l2_norm", r);
}

#define REDUCTION_ROWS                                                                         \
  WRY_FLOAT_ROWS("l2_norm", 0, l2_norm), WRY_FLOAT_ROWS("cdist", WRY_WANTS_CONTIGUOUS, cdist), \
      WRY_FLOAT_ROWS("cdist_vjp", WRY_WANTS_CONTIGUOUS, cdist_vjp),
#include <wherry/kernels/rows/reduction.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(reduction, WRY_NAMESPACE::table)
