// Comparison, logic and choice among values.
#include "pointwise.h"

namespace wherry {
namespace cuda {
namespace {

template <typename T>
WRY_GPU bool truth(T x) { return x != T(0); }

#define WRY_PREDICATE(Name, value)                               \
  struct Name {                                                  \
    template <typename T>                                        \
    WRY_GPU bool operator()(T x, T y) const { return value; } \
  };
WRY_PREDICATE(Equal, x == y)
WRY_PREDICATE(NotEqual, x != y)
WRY_PREDICATE(Less, x < y)
WRY_PREDICATE(LessEqual, x <= y)
WRY_PREDICATE(Greater, x > y)
WRY_PREDICATE(GreaterEqual, x >= y)
WRY_PREDICATE(LogicalAnd, truth(x) & truth(y))
WRY_PREDICATE(LogicalOr, truth(x) | truth(y))
WRY_PREDICATE(LogicalXor, truth(x) ^ truth(y))

#define WRY_BITWISE(Name, operation)                                     \
  struct Name {                                                          \
    template <typename T>                                                \
    WRY_GPU T operator()(T x, T y) const { return T(x operation y); } \
  };
WRY_BITWISE(BitwiseAnd, &)
WRY_BITWISE(BitwiseOr, |)
WRY_BITWISE(BitwiseXor, ^)

struct Where {
  template <typename T>
  WRY_GPU T operator()(bool condition, T x, T y) const { return condition ? x : y; }
};
// NaN stays NaN. Where the bounds cross, the upper one wins.
struct AtLeast {
  template <typename T>
  WRY_GPU T operator()(T x, T low) const { return x < low ? low : x; }
};
struct AtMost {
  template <typename T>
  WRY_GPU T operator()(T x, T high) const { return high < x ? high : x; }
};
struct Clip {
  template <typename T>
  WRY_GPU T operator()(T x, T low, T high) const { return AtMost()(AtLeast()(x, low), high); }
  // In a chain a bound may be absent.
  template <typename T>
  WRY_GPU T operator()(T x, T low, Absent) const { return AtLeast()(x, low); }
  template <typename T>
  WRY_GPU T operator()(T x, Absent, T high) const { return AtMost()(x, high); }
  template <typename T>
  WRY_GPU T operator()(T x, Absent, Absent) const { return x; }
};
struct Lerp {
  template <typename V>
  WRY_GPU V operator()(V x, V y, V weight) const { return fma(weight, y - x, x); }
};

#ifndef WRY_FUNCTIONS_ONLY  // a chain of several wants them without (chains.py)
// ---- table ----------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int predicate(const wry_call *call) { return pointwise2<bool, T, T>(call, F()); }
  template <typename T>
  static int same(const wry_call *call) { return pointwise2<T, T, T>(call, F()); }
};

// One kernel for all dtypes: the first input, which chooses the row of a table, is the condition.
int where(const wry_call *call) {
  return dispatch_size(item_size(input(call, 1)), [&](auto tag) {
    using T = decltype(tag);
    return pointwise3<T, bool, T, T>(call, Where());
  });
}

template <typename T>
int clip(const wry_call *call) {
  const wry_tensor *out = output(call, 0), *x = input(call, 0), *low = input(call, 1), *high = input(call, 2);
  if (low && high) return pointwise3<T, T, T, T>(call, Clip());
  if (low) return pointwise2<T, T, T>(call, out, x, low, AtLeast());
  if (high) return pointwise2<T, T, T>(call, out, x, high, AtMost());
  return pointwise1<T, T>(call, Identity());
}

template <typename T>
int lerp(const wry_call *call) { return pointwise3<T, T, T, T>(call, Lerp()); }

#include <wherry/kernels/rows/comparison.h>

#endif

}  // namespace
}  // namespace cuda
}  // namespace wherry

#ifndef WRY_FUNCTIONS_ONLY
WRY_TABLE(comparison, wherry::cuda::table)
#endif
