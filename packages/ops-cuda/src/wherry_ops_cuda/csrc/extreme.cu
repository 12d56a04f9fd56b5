// Largest and smallest values, whether any or all are true, and where the extremes are.
#include "reduce.h"

namespace wherry {
namespace cuda {
namespace {

// Values as they are combined: in 64 bits, so that a total has no padding that nobody writes.
template <typename T>
using wide_t = std::conditional_t<is_float<T>, double, int64_t>;

// A NaN wins. The total of nothing is not a value; the core refuses reductions of nothing.
template <typename T_, bool Largest>
struct Extreme {
  using T = T_;
  using A = arithmetic_t<T>;
  struct W {
    wide_t<T> value;
    int64_t any;
  };
  using Out = T;
  static WRY_GPU W start() { return {0, 0}; }
  static WRY_GPU W lift(A x, W, int64_t) { return {wide_t<T>(x), 1}; }
  static WRY_GPU W combine(W a, W b) {
    if (!a.any || !b.any) return a.any ? a : b;
    if constexpr (is_float<T>)
      if (a.value != a.value || b.value != b.value) return a.value != a.value ? a : b;
    return (Largest ? a.value < b.value : b.value < a.value) ? b : a;
  }
  static WRY_GPU A finish(W total, double) { return A(total.value); }
};

template <typename T_, bool All>
struct Truth {
  using T = T_;
  using W = uint8_t;
  using Out = uint8_t;
  static WRY_GPU W start() { return All; }
  static WRY_GPU W lift(arithmetic_t<T> x, W, int64_t) { return x != arithmetic_t<T>(0); }
  static WRY_GPU W combine(W a, W b) { return All ? W(a & b) : W(a | b); }
  static WRY_GPU W finish(W total, double) { return total; }
};

// The first place of the extreme; NaN loses against any number, and a row of nothing else gives 0.
template <typename T_, bool Largest>
struct Position {
  using T = T_;
  using A = arithmetic_t<T>;
  struct W {
    wide_t<T> value;
    int64_t at;  // -1: nothing but NaN so far
  };
  using Out = int64_t;
  static WRY_GPU W start() { return {0, -1}; }
  static WRY_GPU W lift(A x, W, int64_t at) { return {wide_t<T>(x), x != x ? int64_t(-1) : at}; }
  static WRY_GPU W combine(W a, W b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (a.value == b.value) return a.at < b.at ? a : b;
    return (Largest ? a.value < b.value : b.value < a.value) ? b : a;
  }
  static WRY_GPU int64_t finish(W total, double) { return total.at < 0 ? 0 : total.at; }
};

template <typename T>
int reduce_max(const wry_call *call) { return reduce_call<Extreme<T, true>>(call, "reduce_max"); }
template <typename T>
int reduce_min(const wry_call *call) { return reduce_call<Extreme<T, false>>(call, "reduce_min"); }
template <typename T>
int reduce_all(const wry_call *call) { return reduce_call<Truth<T, true>>(call, "reduce_all"); }
template <typename T>
int reduce_any(const wry_call *call) { return reduce_call<Truth<T, false>>(call, "reduce_any"); }

template <typename T, bool Largest>
int position(const wry_call *call) {
  const int64_t axis = attr_int(call, 0);
  return reduce<Position<T, Largest>>(call, Largest ? "argmax" : "argmin", input(call, 0), &axis, 1, nullptr, output(call, 0)->data);
}
template <typename T>
int argmax(const wry_call *call) { return position<T, true>(call); }
template <typename T>
int argmin(const wry_call *call) { return position<T, false>(call); }

const wry_kernel_entry table[] = {
    WRY_REAL_ROWS("reduce_max", 0, reduce_max), WRY_BOOL_ROW("reduce_max", 0, reduce_max),
    WRY_REAL_ROWS("reduce_min", 0, reduce_min), WRY_BOOL_ROW("reduce_min", 0, reduce_min),
    WRY_REAL_ROWS("reduce_amax", 0, reduce_max), WRY_BOOL_ROW("reduce_amax", 0, reduce_max),
    WRY_REAL_ROWS("reduce_amin", 0, reduce_min), WRY_BOOL_ROW("reduce_amin", 0, reduce_min),
    WRY_ALL_ROWS("reduce_all", 0, reduce_all),
    WRY_ALL_ROWS("reduce_any", 0, reduce_any),
    WRY_REAL_ROWS("argmax", 0, argmax), WRY_BOOL_ROW("argmax", 0, argmax),
    WRY_REAL_ROWS("argmin", 0, argmin), WRY_BOOL_ROW("argmin", 0, argmin),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(extreme, wherry::cuda::table)
