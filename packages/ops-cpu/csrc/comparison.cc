// Comparison, logic and choice among values.
#include "pointwise.h"

namespace WRY_NAMESPACE {
namespace {

template <typename T>
WRY_INLINE bool truth(T x) { return x != T(0); }

#define WRY_PREDICATE(Name, value)                               \
  struct Name {                                                  \
    static constexpr Lanes lanes = Lanes::none;                  \
    template <typename T>                                        \
    WRY_INLINE bool operator()(T x, T y) const { return value; } \
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
    static constexpr Lanes lanes = Lanes::none;                          \
    template <typename T>                                                \
    WRY_INLINE T operator()(T x, T y) const { return T(x operation y); } \
  };
WRY_BITWISE(BitwiseAnd, &)
WRY_BITWISE(BitwiseOr, |)
WRY_BITWISE(BitwiseXor, ^)

// Only moves values: T is a word of their size. By a mask, because a branch on data that follows no
// pattern costs ten times as much.
struct Where {
  static constexpr Lanes lanes = Lanes::none;
  WRY_INLINE word16 operator()(bool condition, word16 x, word16 y) const {
    return {(*this)(condition, x.lo, y.lo), (*this)(condition, x.hi, y.hi)};
  }
  template <typename T>
  WRY_INLINE T operator()(bool condition, T x, T y) const {
    const T mask = T(T(0) - T(condition));
    return T((x & mask) | (y & T(~mask)));
  }
};

// NaN stays NaN. Where the bounds cross, the upper one wins.
struct AtLeast {
  static constexpr Lanes lanes = Lanes::all;
  WRY_INLINE f32 operator()(f32 x, f32 low) const { return max(low, x); }
  WRY_INLINE f64 operator()(f64 x, f64 low) const { return max(low, x); }
  template <typename T>
  WRY_INLINE T operator()(T x, T low) const { return x < low ? low : x; }
};
struct AtMost {
  static constexpr Lanes lanes = Lanes::all;
  WRY_INLINE f32 operator()(f32 x, f32 high) const { return min(high, x); }
  WRY_INLINE f64 operator()(f64 x, f64 high) const { return min(high, x); }
  template <typename T>
  WRY_INLINE T operator()(T x, T high) const { return high < x ? high : x; }
};
struct Clip {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x, V low, V high) const { return AtMost()(AtLeast()(x, low), high); }
};
struct Identity {
  static constexpr Lanes lanes = Lanes::none;
  template <typename T>
  WRY_INLINE T operator()(T x) const { return x; }
};

struct Lerp {
  static constexpr Lanes lanes = Lanes::all;
  template <typename V>
  WRY_INLINE V operator()(V x, V y, V weight) const { return fma(weight, y - x, x); }
};

// ---- table --------------------------------------------------------------------------------------

template <typename F>
struct Kernel {
  template <typename T>
  static int predicate(const wry_call *call) { return pointwise2<bool, T, T>(call, F()); }
  template <typename T>
  static int same(const wry_call *call) { return pointwise2<T, T, T>(call, F()); }
};

// One kernel for all dtypes: the first input, which chooses the row of a table, is the condition.
int where(const wry_call *call) {
  int status = WRY_OK;
  dispatch_size(item_size(input(call, 1)), [&](auto tag) {
    using T = decltype(tag);
    status = pointwise3<T, bool, T, T>(call, Where());
  });
  return status;
}

template <typename T>
int clip(const wry_call *call) {
  const wry_tensor *out = output(call, 0), *x = input(call, 0), *low = input(call, 1), *high = input(call, 2);
  if (low && high) return pointwise3<T, T, T, T>(call, Clip());
  if (low) return pointwise2<T, T, T>(call, AtLeast());
  if (high) {
    const AtMost f;
    return walk<3>(call, {out, x, high}, row_for<AtMost, T, T, T>, &f, cheap);
  }
  return pointwise1<T, T>(call, Identity());
}

template <typename T>
int lerp(const wry_call *call) { return pointwise3<T, T, T, T>(call, Lerp()); }

#include <wherry/kernels/rows/comparison.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(comparison, WRY_NAMESPACE::table)
