// Extreme values and their positions, and the logical reductions.
//
// Inputs of the reductions may be strided; argmax and argmin want theirs contiguous.
#include "reduce.h"

namespace WRY_NAMESPACE {
namespace {

// ---- values -------------------------------------------------------------------------------------

// NaN wins wherever it stands. (Paddle's CPU kernels keep or lose it depending on its position.)
template <typename T_, bool Largest>
struct FloatExtreme {
  using T = T_;
  using W = arithmetic_t<T>;
  using V = vec<T>;
  static WRY_INLINE W start_total() { return Largest ? -W(INFINITY) : W(INFINITY); }
  static WRY_INLINE V start() { return splat<V>(start_total()); }
  static WRY_INLINE V lift(V x, V) { return x; }
  template <typename X>
  static WRY_INLINE X combine(X a, X b) { return Largest ? maximum(a, b) : minimum(a, b); }
  static WRY_INLINE W fold(W total, W value) { return combine(total, value); }
};

template <typename T_, bool Largest>
struct IntegerExtreme {
  using T = T_;
  using W = T;
  using Out = T;
  static WRY_INLINE W start() {
    constexpr bool is_signed = T(-1) < T(0);
    const uint64_t top = uint64_t(1) << (8 * sizeof(T) - 1);
    if (sizeof(T) == 1 && !is_signed) return Largest ? T(0) : T(255);  // uint8 and bool
    return Largest ? T(top) : T(top - 1);
  }
  static WRY_INLINE W lift(T x) { return x; }
  static WRY_INLINE W combine(W a, W b) { return Largest ? (a < b ? b : a) : (b < a ? b : a); }
  static WRY_INLINE Out finish(W total, double) { return total; }
};

template <typename T, bool Largest>
int extreme(const wry_call *call) {
  // The name in a message about memory; the sizes tell max from min apart well enough.
  if constexpr (is_float<T>) return reduce_call(call, "reduce_max", VectorReducer<FloatExtreme<T, Largest>>::reducer());
  else return reduce_call(call, "reduce_max", PlainReducer<IntegerExtreme<T, Largest>>::reducer());
}

template <typename T>
int reduce_max(const wry_call *call) { return extreme<T, true>(call); }
template <typename T>
int reduce_min(const wry_call *call) { return extreme<T, false>(call); }

// bool has values 0 and 1 in memory.
int reduce_max_bool(const wry_call *call) { return extreme<uint8_t, true>(call); }
int reduce_min_bool(const wry_call *call) { return extreme<uint8_t, false>(call); }

// ---- truth --------------------------------------------------------------------------------------

WRY_INLINE bool is_true(complex64 x) { return x.re != 0 || x.im != 0; }
WRY_INLINE bool is_true(complex128 x) { return x.re != 0 || x.im != 0; }
WRY_INLINE bool is_true(float16 x) { return (x.bits & 0x7fff) != 0; }
WRY_INLINE bool is_true(bfloat16 x) { return (x.bits & 0x7fff) != 0; }
template <typename T>
WRY_INLINE bool is_true(T x) { return x != 0; }

template <typename T_, bool All>
struct Truth {
  using T = T_;
  using W = uint8_t;
  using Out = uint8_t;
  static WRY_INLINE W start() { return All; }
  static WRY_INLINE W lift(T x) { return is_true(x); }
  static WRY_INLINE W combine(W a, W b) { return All ? W(a & b) : W(a | b); }
  static WRY_INLINE Out finish(W total, double) { return total; }
};

template <typename T>
int reduce_all(const wry_call *call) { return reduce_call(call, "reduce_all", PlainReducer<Truth<T, true>>::reducer()); }
template <typename T>
int reduce_any(const wry_call *call) { return reduce_call(call, "reduce_any", PlainReducer<Truth<T, false>>::reducer()); }

// ---- positions ----------------------------------------------------------------------------------

// Position of the first extreme value; NaN loses against any number, and a row of nothing else gives 0.
template <typename T, bool Largest>
int64_t extreme_position(const T *x, int64_t n) {
  using A = arithmetic_t<T>;
  int64_t at = 0;
  if constexpr (is_float<T>) {
    while (at < n && A(x[at]) != A(x[at])) ++at;
    if (at == n) return 0;
  }
  A best = A(x[at]);
  // The extreme of a block, then where in the block it is, if it is a new record: records are rare.
  for (int64_t i = at + 1; i < n; i += 512) {
    const int64_t block = min_of<int64_t>(512, n - i);
    A top = best;
    int64_t k = 0;
    if constexpr (is_float<T>) {
      constexpr int N = lanes<T>;
      if (block >= N) {
        using V = vec<T>;
        V v = splat<V>(best);
        // Of min and max a NaN in the first place loses.
        for (; k + N <= block; k += N) v = Largest ? max(load(x + i + k), v) : min(load(x + i + k), v);
        top = reduce_lanes<N>(v, [](auto p, auto q) { return Largest ? (p > q ? p : q) : (p < q ? p : q); });
      }
    }
    for (; k < block; ++k) {
      const A value = A(x[i + k]);
      top = Largest ? (value > top ? value : top) : (value < top ? value : top);
    }
    if (Largest ? top > best : top < best) {
      best = top;
      at = i;
      while (A(x[at]) != best) ++at;
    }
  }
  return at;
}

template <typename T, bool Largest>
int position(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *t = input(call, 0);
  const T *x = data<T>(t);
  int64_t *out = data<int64_t>(output(call, 0));
  const int axis = int(attr_int(call, 0));
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= t->shape[i];
  for (int i = axis + 1; i < t->rank; ++i) inner *= t->shape[i];
  const int64_t n = t->shape[axis];
  if (outer * inner == 0 || n == 0) return WRY_OK;
  if (inner == 1) {
    parallel_for(call, outer, max_of<int64_t>(1, 65536 / n), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) out[o] = extreme_position<T, Largest>(x + o * n, n);
    });
    return WRY_OK;
  }
  // Strips of columns that are compared together.
  constexpr int64_t strip = 256;
  const int64_t strips = (inner + strip - 1) / strip;
  parallel_for(call, outer * strips, max_of<int64_t>(1, 65536 / (n * min_of(strip, inner))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t first = unit % strips * strip, width = min_of(strip, inner - first);
                   const T *from = x + unit / strips * n * inner + first;
                   int64_t *to = out + unit / strips * inner + first;
                   A best[strip];
                   for (int64_t j = 0; j < width; ++j) best[j] = A(from[j]), to[j] = 0;
                   for (int64_t k = 1; k < n; ++k) {
                     const T *row = from + k * inner;
                     for (int64_t j = 0; j < width; ++j) {
                       const A value = A(row[j]);
                       // A NaN that stands first gives way to the first number.
                       const bool better = (Largest ? value > best[j] : value < best[j]) | ((best[j] != best[j]) & (value == value));
                       best[j] = better ? value : best[j];
                       to[j] = better ? k : to[j];
                     }
                   }
                 }
               });
  return WRY_OK;
}

template <typename T>
int argmax(const wry_call *call) { return position<T, true>(call); }
template <typename T>
int argmin(const wry_call *call) { return position<T, false>(call); }
int argmax_bool(const wry_call *call) { return position<uint8_t, true>(call); }
int argmin_bool(const wry_call *call) { return position<uint8_t, false>(call); }

const wry_kernel_entry table[] = {
    WRY_REAL_ROWS("reduce_max", 0, reduce_max),
    WRY_PLAIN_ROW("reduce_max", WRY_BOOL, 0, reduce_max_bool),
    WRY_REAL_ROWS("reduce_min", 0, reduce_min),
    WRY_PLAIN_ROW("reduce_min", WRY_BOOL, 0, reduce_min_bool),
    WRY_REAL_ROWS("reduce_amax", 0, reduce_max),
    WRY_PLAIN_ROW("reduce_amax", WRY_BOOL, 0, reduce_max_bool),
    WRY_REAL_ROWS("reduce_amin", 0, reduce_min),
    WRY_PLAIN_ROW("reduce_amin", WRY_BOOL, 0, reduce_min_bool),
    WRY_ALL_ROWS("reduce_all", 0, reduce_all),
    WRY_ALL_ROWS("reduce_any", 0, reduce_any),
    WRY_REAL_ROWS("argmax", WRY_WANTS_CONTIGUOUS, argmax),
    WRY_PLAIN_ROW("argmax", WRY_BOOL, WRY_WANTS_CONTIGUOUS, argmax_bool),
    WRY_REAL_ROWS("argmin", WRY_WANTS_CONTIGUOUS, argmin),
    WRY_PLAIN_ROW("argmin", WRY_BOOL, WRY_WANTS_CONTIGUOUS, argmin_bool),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(extreme, WRY_NAMESPACE::table)
