// Element-wise kernels: a function of one value each of some inputs, over operands of any strides
// that broadcast together.
//
// A kernel is a *functor* (the arithmetic) and the types of its output and inputs:
//
//   struct Add {
//     static constexpr Lanes lanes = Lanes::all;
//     template <typename V> WRY_INLINE V operator()(V x, V y) const { return x + y; }
//   };
//   template <typename T> int add_kernel(const wry_call *call) { return pointwise<T, T, T>(call, Add()); }
//
// For each combination of types only one loop exists, over contiguous rows (`row_of`). Operands that
// are broadcast or strided come to it through small buffers in the first-level cache, which costs
// less than the many loops that would read every layout in place. The buffers and the walk over rows
// are not templates of the functor: they call the loop through a pointer.
//
// Inputs may be the very memory of the output (WRY_MAY_ALIAS): every value is read before the one
// at its place is written.
#ifndef WHERRY_OPS_CPU_POINTWISE_H
#define WHERRY_OPS_CPU_POINTWISE_H

#include "copy.h"
#include "parallel.h"
#include "simd.h"
#include "strided.h"

namespace WRY_NAMESPACE {

// Which values a functor takes as SIMD vectors: none (it is called with numbers, double where the
// dtype is a float), those that compute in float (f32), or also double (f64).
enum class Lanes { none,
                   floats,
                   all };

// Iterations do not depend on each other, although the operands may be the same memory.
#if defined(__clang__)
#define WRY_INDEPENDENT _Pragma("clang diagnostic ignored \"-Wpass-failed\"") _Pragma("clang loop vectorize(assume_safety)")
#else
#define WRY_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <typename A, typename B>
inline constexpr bool same_type = false;
template <typename A>
inline constexpr bool same_type<A, A> = true;
template <typename T>
inline constexpr bool is_half = same_type<T, float16> || same_type<T, bfloat16>;
template <typename T>
inline constexpr bool is_real_float = is_half<T> || same_type<T, float> || same_type<T, double>;
template <typename T>
inline constexpr bool is_integer = same_type<T, uint8_t> || same_type<T, int8_t> ||
                                   same_type<T, int16_t> || same_type<T, int32_t> || same_type<T, int64_t>;

// Signed overflow wraps around, as in NumPy, so integers compute without their sign.
template <typename T>
struct unsigned_of {
  using type = T;
};
template <>
struct unsigned_of<int8_t> {
  using type = uint8_t;
};
template <>
struct unsigned_of<int16_t> {
  using type = uint32_t;
};
template <>
struct unsigned_of<int32_t> {
  using type = uint32_t;
};
template <>
struct unsigned_of<int64_t> {
  using type = uint64_t;
};
template <typename T>
using unsigned_t = typename unsigned_of<T>::type;

template <typename F, typename T>
inline constexpr bool by_lanes =
    (F::lanes != Lanes::none && (is_half<T> || same_type<T, float>)) || (F::lanes == Lanes::all && same_type<T, double>);

// The number that a functor without lanes computes with.
template <typename T>
WRY_INLINE auto scalar_value(T x) {
  if constexpr (is_half<T> || same_type<T, float>) return double(float(x));
  else return x;
}
// Comparisons and predicates need no wider type than float.
template <typename T>
WRY_INLINE auto plain_value(T x) {
  if constexpr (is_half<T>) return float(x);
  else return x;
}
template <typename T, typename R>
WRY_INLINE T from_value(R r) {
  if constexpr (is_half<T>) return T(float(r));
  else return T(r);
}

template <typename T>
WRY_INLINE vec<T> load_some(const T *p, int64_t n) {
  return WRY_LIKELY(n >= lanes<T>) ? load(p) : load_partial(p, n);
}

// A functor may have a `coarse` way to values that are rounded to 16 bits after it, and then a `rough` one for bfloat16.
template <typename F, typename = void>
inline constexpr bool has_coarse = false;
template <typename F>
inline constexpr bool has_coarse<F, std::void_t<decltype(&F::coarse)>> = true;

// An input of a row by lanes: step 1, or 0 and as many equal values as a vector has lanes.
template <typename T>
struct LaneInput {
  const T *values;
  int64_t step;
  WRY_INLINE vec<T> at(int64_t i, int64_t left) const { return load_some(values + i * step, left); }
};

// `far`: the operands together leave the caches, and the output does not share memory with an input, whose lines would be in the caches.
// Then it goes past them, since a plain store would first read what it overwrites (a quarter of the traffic of x + y).
template <typename F, typename T, typename... Input>
WRY_INLINE void lane_row(const F &f, int64_t n, T *out, bool far, Input... x) {
  if constexpr (is_half<T>) {
    constexpr bool rough = has_coarse<F> && same_type<T, bfloat16>;
    const auto value = [&](int64_t i, int64_t left) {
      if constexpr (rough) return f.rough(x.at(i, left)...);
      else if constexpr (has_coarse<F>) return f.coarse(x.at(i, left)...);
      else return f(x.at(i, left)...);
    };
    int64_t i = 0;
    for (; i + lanes<T> <= n; i += lanes<T>) {
      if constexpr (rough) store_upper_half(out + i, value(i, lanes<T>));
      else store(out + i, value(i, lanes<T>));
    }
    if (i < n) store_partial(out + i, rough ? upper_half_rounded(value(i, n - i)) : value(i, n - i), n - i);
  } else {
    const int64_t before = int64_t(-(uintptr_t(out) / sizeof(T)) % lanes<T>);  // up to where vectors of `out` lie straight
    if constexpr (F::lanes == Lanes::all) {
      int64_t i = 0;
      if (WRY_UNLIKELY(far)) {
        i = min_of(n, before);
        if (i > 0) store_partial(out, f(x.at(0, i)...), i);
        for (; i + lanes<T> <= n; i += lanes<T>) stream(out + i, f(x.at(i, lanes<T>)...));
      }
      for (; i < n; i += lanes<T>) {
        const vec<T> value = f(x.at(i, n - i)...);
        if (WRY_LIKELY(n - i >= lanes<T>)) store(out + i, value);
        else store_partial(out + i, value, n - i);
      }
    } else {  // Long functors stand here once: they take longer to compile than a test takes to run.
      int64_t most = far && before > 0 ? before : lanes<T>;
      for (int64_t i = 0, m; i < n; i += m, most = lanes<T>) {
        m = min_of(n - i, most);
        const vec<T> value = f(x.at(i, m)...);
        if (WRY_UNLIKELY(m < lanes<T>)) store_partial(out + i, value, m);
        else if (far) stream(out + i, value);
        else store(out + i, value);
      }
    }
  }
}

// A row of numbers; every pointer is contiguous.
template <typename F, typename TO, typename... T>
WRY_INLINE void row(const F &f, int64_t n, TO *out, const T *...x) {
  WRY_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (same_type<TO, bool>) out[i] = f(plain_value(x[i])...);
    else out[i] = from_value<TO>(f(scalar_value(x[i])...));
  }
}

// A loop over n values of each operand, operand 0 being the output. It knows the functor and the types, and only these steps:
// `unit`, 1 everywhere; `repeating`, of an input also 0; `any`.
using RowFunction = void (*)(const void *functor, char *const *at, const int64_t *step, int64_t n, bool far);
enum class Steps { unit,
                   repeating,
                   any };
struct Row {
  RowFunction f;
  Steps steps;
};

template <typename F, typename TO, typename... T, int... I>
WRY_INLINE void call_row(const F &f, char *const *at, const int64_t *step, int64_t n, bool far, detail::sequence<I...>) {
  if constexpr ((by_lanes<F, T> && ...) && (same_type<TO, T> && ...)) {
    alignas(64) TO repeated[sizeof...(T)][lanes<TO>];
    auto operand = [&](int k) {
      const TO *values = (const TO *)at[k + 1];
      if (step[k + 1] == 1) return LaneInput<TO>{values, 1};
      for (int64_t i = 0; i < lanes<TO>; ++i) repeated[k][i] = *values;
      return LaneInput<TO>{repeated[k], 0};
    };
    lane_row<F, TO>(f, n, (TO *)at[0], far, operand(I)...);
  } else {
    row<F, TO, T...>(f, n, (TO *)at[0], (const T *)at[I + 1]...);
  }
}

template <typename F, typename TO, typename... T>
static void row_of(const void *functor, char *const *at, const int64_t *step, int64_t n, bool far) {
  call_row<F, TO, T...>(*static_cast<const F *>(functor), at, step, n, far, typename detail::make_sequence<int(sizeof...(T))>::type());
}

template <typename F, typename TO, typename... T>
inline constexpr Row row_for = {row_of<F, TO, T...>, (by_lanes<F, T> && ...) && (same_type<TO, T> && ...) ? Steps::repeating : Steps::unit};

constexpr int64_t buffer_bytes = 4096;
struct Buffer {
  alignas(64) char bytes[buffer_bytes];
};

// n values, `to_step` and `from_step` apart.
static void copy_values(int64_t bytes, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) {
  dispatch_size(bytes, [&](auto word) {
    using T = decltype(word);
    for (int64_t i = 0; i < n; ++i) ((T *)to)[i * to_step] = ((const T *)from)[i * from_step];
  });
}

// The same from step 0 to step 1: a vector at a time, which n single values would be slow to read as.
static void repeat_value(int64_t bytes, char *to, const char *from, int64_t n) {
  dispatch_size(bytes, [&](auto word) {
    using T = decltype(word);
    const T value = *(const T *)from;
    for (int64_t i = 0; i < n; ++i) ((T *)to)[i] = value;
  });
}

// A row of any steps. What the loop does not take as it is goes through buffers in pieces that fit them; repeated values fill theirs once.
template <int N>
static __attribute__((noinline)) void buffered_row(const Row &row, const void *functor, const wry_tensor *const (&operands)[N],
                                                   char *const *at, const int64_t *step, int64_t n) {
  Buffer buffers[N];
  bool repeats[N];
  int64_t steps[N], bytes[N], length = n;
  for (int k = 0; k < N; ++k) {
    bytes[k] = item_size(operands[k]);
    while (WRY_UNLIKELY(length * bytes[k] > buffer_bytes)) length = min_of(length >> 1, buffer_bytes);
  }
  for (int k = 0; k < N; ++k) {
    repeats[k] = k > 0 && step[k] == 0;
    steps[k] = repeats[k] && row.steps == Steps::repeating ? 0 : 1;
    if (repeats[k] && steps[k] == 1) repeat_value(bytes[k], buffers[k].bytes, at[k], length);
  }
  for (int64_t i = 0; i < n; i += length) {
    const int64_t m = min_of(n - i, length);
    char *piece[N];
    for (int k = 0; k < N; ++k) {
      const bool there = step[k] == steps[k];
      piece[k] = there ? at[k] + i * step[k] * bytes[k] : buffers[k].bytes;
      if (!there && !repeats[k] && k > 0) copy_values(bytes[k], piece[k], 1, at[k] + i * step[k] * bytes[k], step[k], m);
    }
    row.f(functor, piece, steps, m, false);
    if (step[0] != 1) copy_values(bytes[0], at[0] + i * step[0] * bytes[0], step[0], piece[0], 1, m);
  }
}

// Whether the loop takes operands with these steps.
template <int N>
WRY_INLINE bool takes(Steps steps, const int64_t *step) {
  if (steps == Steps::any) return true;
  bool all = step[0] == 1;
  for (int k = 1; k < N; ++k) all &= step[k] == 1 || (step[k] == 0 && steps == Steps::repeating);
  return all;
}

template <int N>
static bool leave_caches(const wry_tensor *const (&operands)[N]) {
  int64_t bytes = 0;
  for (int k = 0; k < N; ++k) {
    bytes += operands[k]->size * item_size(operands[k]);  // of a broadcast one too much, but then it repeats rows
    if (k > 0 && operands[k]->data == operands[0]->data) return false;
  }
  return bytes >= wry_cpu_cached_bytes && uintptr_t(operands[0]->data) % uintptr_t(item_size(operands[0])) == 0;
}

// The axis along which inputs lie that do not lie along the last one, as the output does; -1 where there are none. Marks them.
template <int N>
static int turned_axis(const StridedLoop<N> &loop, bool (&turned)[N]) {
  const int inner = loop.rank - 1;
  int found = -1;
  for (int k = 0; k < N; ++k) {
    const int64_t step = loop.strides[inner][k];
    turned[k] = false;
    if (k == 0 && step != 1) return -1;
    for (int axis = 0; axis < inner && step != 0 && step != 1; ++axis)
      if (loop.strides[axis][k] == 1 && (found < 0 || found == axis)) found = axis, turned[k] = true;
  }
  return found >= 0 && loop.shape[found] >= 8 && loop.shape[inner] >= 8 ? found : -1;
}

// With inputs that lie along another axis than the output: they are turned tile by tile, each of which a cache holds, since a column would be read
// one cache line to a value.
template <int N, typename F>
static __attribute__((noinline)) void turned_walk(const wry_call *call, const StridedLoop<N> &loop, int axis, const bool (&turned)[N], int64_t grain,
                                                  const F &run) {
  constexpr int64_t tile_room = 16384;
  int64_t most = 1, least = 16;
  for (int k = 1; k < N; ++k)
    if (turned[k]) most = max_of(most, loop.item[k]), least = min_of(least, loop.item[k]);
  const int inner = loop.rank - 1;
  const int64_t rows = least == 1 ? 64 : 32, columns = tile_room / (rows * most);
  const int64_t down = (loop.shape[axis] + rows - 1) / rows, across = (loop.shape[inner] + columns - 1) / columns;
  const int64_t outer = loop.size / (loop.shape[axis] * loop.shape[inner]);
  parallel_for(call, outer * down * across, max_of<int64_t>(1, grain / (rows * columns)), [&](int64_t begin, int64_t end) {
    alignas(64) char tiles[N - 1][tile_room];
    for (int64_t piece = begin; piece < end; ++piece) {
      int64_t rest = piece / across, step[N];
      const int64_t j = piece % across * columns, i = rest % down * rows;
      rest /= down;
      const int64_t height = min_of(rows, loop.shape[axis] - i), width = min_of(columns, loop.shape[inner] - j);
      char *at[N];
      int64_t row[N];  // bytes from row to row
      for (int k = 0; k < N; ++k) {
        at[k] = loop.base[k] + (i * loop.strides[axis][k] + j * loop.strides[inner][k]) * loop.item[k];
        row[k] = loop.strides[axis][k] * loop.item[k], step[k] = loop.strides[inner][k];
      }
      for (int a = inner - 1; a >= 0; --a) {
        if (a == axis) continue;
        const int64_t index = rest % loop.shape[a];
        rest /= loop.shape[a];
        for (int k = 0; k < N; ++k) at[k] += index * loop.strides[a][k] * loop.item[k];
      }
      for (int k = 1; k < N; ++k) {
        if (!turned[k]) continue;
        transpose_bytes(loop.item[k], tiles[k - 1], width, at[k], step[k], height, width);
        at[k] = tiles[k - 1], row[k] = width * loop.item[k], step[k] = 1;
      }
      for (int64_t r = 0; r < height; ++r) {
        run(at, step, width, false);
        for (int k = 0; k < N; ++k) at[k] += row[k];
      }
    }
  });
}

// operands[0] is the output. `grain`: how many elements are worth a thread.
template <int N>
static __attribute__((noinline)) int walk(const wry_call *call, const wry_tensor *const (&operands)[N],
                                          const Row &row, const void *functor, int64_t grain) {
  const wry_tensor *out = operands[0];
  if (out->size == 0) return WRY_OK;
  auto run = [&](char *const *at, const int64_t *step, int64_t n, bool far) {
    if (WRY_LIKELY(takes<N>(row.steps, step))) row.f(functor, at, step, n, far);
    else buffered_row<N>(row, functor, operands, at, step, n);
  };
  // Nearly every call: contiguous inputs of the output's shape, or of one element.
  int64_t step[N];
  bool simple = is_contiguous(out);
  step[0] = 1;
  for (int k = 1; k < N && simple; ++k) {
    const wry_tensor *t = operands[k];
    bool alike = t->rank == out->rank;
    for (int i = 0; i < out->rank && alike; ++i) alike = t->shape[i] == out->shape[i] && t->strides[i] == out->strides[i];
    step[k] = alike;
    simple = alike || t->size == 1 || (same_shape(t, out) && is_contiguous(t));
    if (simple && t->size != 1) step[k] = 1;
  }
  if (simple) {
    char *base[N];
    int64_t bytes[N];
    for (int k = 0; k < N; ++k) base[k] = data<char>(operands[k]);
    if (out->size <= grain) {
      run(base, step, out->size, false);
      return WRY_OK;
    }
    for (int k = 0; k < N; ++k) bytes[k] = step[k] * item_size(operands[k]);
    const bool far = leave_caches(operands);
    parallel_for(call, out->size, grain, [&](int64_t begin, int64_t end) {
      char *at[N];
      for (int k = 0; k < N; ++k) at[k] = base[k] + begin * bytes[k];
      run(at, step, end - begin, far);
      if (far) stream_fence();
    });
    return WRY_OK;
  }
  const StridedLoop<N> loop = make_loop<N>(out, operands);
  bool turned[N];
  const int axis = turned_axis(loop, turned);
  if (axis >= 0) {
    turned_walk(call, loop, axis, turned, grain, run);
    return WRY_OK;
  }
  const bool far = leave_caches(operands);
  parallel_for(call, loop.size, grain, [&](int64_t begin, int64_t end) {
    strided_range(loop, begin, end,
                  [&](char *const *at, const int64_t *steps, int64_t n) { run(at, steps, n, far); });
    if (far) stream_fence();
  });
  return WRY_OK;
}

// Elements that take some 10 microseconds, by the cost of one.
constexpr int64_t cheap = 32768, moderate = 16384, slow = 1024;

template <typename TO, typename T, typename F>
WRY_INLINE int pointwise1(const wry_call *call, const F &f, int64_t grain = cheap) {
  return walk<2>(call, {output(call, 0), input(call, 0)}, row_for<F, TO, T>, &f, grain);
}
template <typename TO, typename T, typename U, typename F>
WRY_INLINE int pointwise2(const wry_call *call, const F &f, int64_t grain = cheap) {
  return walk<3>(call, {output(call, 0), input(call, 0), input(call, 1)}, row_for<F, TO, T, U>, &f, grain);
}
template <typename TO, typename T, typename U, typename W, typename F>
WRY_INLINE int pointwise3(const wry_call *call, const F &f, int64_t grain = cheap) {
  return walk<4>(call, {output(call, 0), input(call, 0), input(call, 1), input(call, 2)},
                 row_for<F, TO, T, U, W>, &f, grain);
}

constexpr uint32_t in_place = WRY_MAY_ALIAS | WRY_STRIDED_OUTPUT;

}  // namespace WRY_NAMESPACE

#endif
