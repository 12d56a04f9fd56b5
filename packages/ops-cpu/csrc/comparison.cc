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

#if WRY_VECTOR_BYTES >= 32
template <typename T>
struct half_of;
template <>
struct half_of<uint16_t> {
  using type = uint8_t;
};
template <>
struct half_of<uint32_t> {
  using type = uint16_t;
};
template <>
struct half_of<uint64_t> {
  using type = uint32_t;
};

// N bools as words. By doubling their size: GCC 12 goes from bytes to longer words one by one.
template <typename T, int N>
WRY_INLINE vecn<T, N> load_bools(const bool *p) {
  if constexpr (sizeof(T) == 1) {
    vecn<T, N> bytes;
    __builtin_memcpy(&bytes, p, N);
    return bytes;
  } else {
    return __builtin_convertvector(load_bools<typename half_of<T>::type, N>(p), vecn<T, N>);
  }
}

// `where` by vectors of one choice each: of a plain loop compilers make vectors of the conditions, and many masks of one, which takes
// four times as long.
template <typename T>
void where_row(const void *, char *const *at, const int64_t *step, int64_t n, bool far) {
  constexpr int width = lanes<T>;
  alignas(64) T repeated[2][width];
  const T *values[2];
  bool same[width];
  const bool *conditions = (const bool *)at[1];
  if (step[1] == 0) conditions = (const bool *)memset(same, *conditions, width);
  for (int k = 0; k < 2; ++k) {
    values[k] = (const T *)at[k + 2];
    if (step[k + 2] != 0) continue;
    for (int i = 0; i < width; ++i) repeated[k][i] = *values[k];
    values[k] = repeated[k];
  }
  T *out = (T *)at[0];
  int64_t i = 0;
  const auto one = [&] {
    out[i] = Where()(conditions[i * step[1]], values[0][i * step[2]], values[1][i * step[3]]);
    ++i;
  };
  if (far)
    while (i < n && uintptr_t(out + i) % WRY_VECTOR_BYTES != 0) one();
  for (; i + width <= n; i += width) {
    const vec<T> x = load(values[0] + i * step[2]), y = load(values[1] + i * step[3]);
    const vec<T> chosen = load_bools<T, width>(conditions + i * step[1]) != 0 ? x : y;
    if (far) stream(out + i, chosen);
    else store(out + i, chosen);
  }
  while (i < n) one();
}
template <typename T>
constexpr Row where_rows = {where_row<T>, Steps::repeating};
template <>
constexpr Row where_rows<word16> = row_for<Where, word16, bool, word16, word16>;
#else
template <typename T>
constexpr Row where_rows = row_for<Where, T, bool, T, T>;
#endif

// One kernel for all dtypes: the first input, which chooses the row of a table, is the condition.
int where(const wry_call *call) {
  int status = WRY_OK;
  const Where f;
  dispatch_size(item_size(input(call, 1)), [&](auto tag) {
    status = walk<4>(call, {output(call, 0), input(call, 0), input(call, 1), input(call, 2)}, where_rows<decltype(tag)>, &f, cheap);
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
