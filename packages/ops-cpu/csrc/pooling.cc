// Pooling: the maximum or the average of windows, and the way back.
//
// Fixed and adaptive windows differ only in where they begin and end, so both become a list of
// ranges for each axis. 16 bit floats are computed in float32.
#include "images.h"
#include "pool_rows.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

// Where the windows lie along one axis.
struct Windows {
  int64_t count;
  int64_t *first, *last;  // the part inside the input, [first, last)
  int64_t *extent;        // how many positions an average counts
  int64_t kernel, step;   // of windows that are alike; 0 for others
};

bool make_room(const wry_call *call, Windows *windows, int64_t count) {
  int64_t *memory = workspace<int64_t>(call, 3 * count + 1);
  *windows = {count, memory, memory + count, memory + 2 * count, 0, 0};
  return memory != nullptr;
}

bool fixed_windows(const wry_call *call, Windows *windows, int64_t count, int64_t size, int64_t kernel, int64_t stride,
                   int64_t padding, bool exclusive) {
  if (!make_room(call, windows, count)) return false;
  windows->kernel = kernel, windows->step = stride;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * stride - padding, end = begin + kernel;
    windows->first[i] = min_of(size, max_of<int64_t>(begin, 0));
    windows->last[i] = max_of(windows->first[i], min_of(end, size));
    // What of a window counts when it is not exclusive: all but its part beyond the padding, where
    // the padding after the input is taken to be that before it. As Paddle has it.
    windows->extent[i] = exclusive ? windows->last[i] - windows->first[i] : min_of(end, size + padding) - begin;
  }
  return true;
}

bool adaptive_windows(const wry_call *call, Windows *windows, int64_t count, int64_t size) {
  if (!make_room(call, windows, count)) return false;
  for (int64_t i = 0; i < count; ++i) {
    windows->first[i] = i * size / count;
    windows->last[i] = ((i + 1) * size + count - 1) / count;
    windows->extent[i] = windows->last[i] - windows->first[i];
  }
  if (count > 0 && size % count == 0) windows->kernel = windows->step = size / count;
  return true;
}

// The windows that lie wholly between the left and the right border, with steps of 1 or 2; none where they are not alike.
void whole_windows(const Windows &xs, int64_t *begin, int64_t *end) {
  if (xs.step != 1 && xs.step != 2) return;
  while (*begin < xs.count && xs.last[*begin] - xs.first[*begin] < xs.kernel) ++*begin;
  for (*end = *begin; *end < xs.count && xs.last[*end] - xs.first[*end] == xs.kernel;) ++*end;
}

int no_memory(const wry_call *call, const char *op) {
  return fail_memory(call, op, input(call, 0)->size * item_size(input(call, 0)));
}

// f(from, to, y) for every row of windows: `from` the image or plane, `to` the position of the row's
// first output. A unit is one channel of a plane, or all channels of a position.
template <typename F>
void for_each_row(const wry_call *call, const Geometry &in, bool last, int64_t rows, int64_t cost, F &&f) {
  const int64_t planes = last ? in.n : in.n * in.channels;
  parallel_for(call, planes * rows, max_of<int64_t>(1, 16384 / max_of<int64_t>(cost, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) f(at / rows, at, at % rows);
  });
}

// Rows of a plane up to this wide are summed, or compared, row by row: first down the window, whole rows at a time, then
// across it. Wider ones window by window.
constexpr int64_t most_wide = 2048;

// ---- maximum ------------------------------------------------------------------------------------

// The first maximum in row-major order wins. NaN is never greater, so it loses against any number;
// a window without any gives the lowest float and position -1. Both are Paddle's ways.
//
// The first maximum of each column of a row of windows, then that of each window: of equal ones, the one whose place comes first.
template <typename A>
void best_down_and_across(const A *plane, int64_t w, int64_t top, int64_t bottom, const Windows &xs, A *out, int32_t *mask) {
  using V = vec<A>;
  using Places = typename vector_traits<V>::mask;
  using Place = typename vector_traits<Places>::scalar;
  struct {
    A value[most_wide + lanes<A>];
    Place place[most_wide + lanes<A>];
  } column;
  Places lane;
  for (int l = 0; l < lanes<A>; ++l) lane[l] = l;
  over<A>(top < bottom ? w : 0, [&](int64_t j, auto part) {
    V best = get(plane + top * w + j, part);
    Places place = lane + Place(top * w + j);
    Places at = place;
    for (int64_t i = top + 1; i < bottom; ++i) {
      at += Place(w);
      const V value = get(plane + i * w + j, part);
      const Places wins = ~(best >= value) & (value == value);  // also where `best` is NaN
      best = wins ? value : best;
      place = wins ? at : place;
    }
    store(column.value + j, best);
    memcpy(column.place + j, &place, sizeof place);
  });
  for (int64_t o = 0; o < xs.count; ++o) {
    A most = A(-FLT_MAX);
    int64_t found = -1;
    for (int64_t j = xs.first[o]; j < (top < bottom ? xs.last[o] : 0); ++j) {
      const A value = column.value[j];
      const int64_t place = column.place[j];
      const bool wins = (value > most) | ((value == most) & (place < found)) | ((found < 0) & (value == value));
      most = wins ? value : most;
      found = wins ? place : found;
    }
    out[o] = most, mask[o] = int32_t(found);
  }
}

template <typename A>
void max_windows_of_planes(const wry_call *call, const A *x, const Geometry &in, const Windows &ys, const Windows &xs, A *out,
                           int32_t *mask) {
  int64_t begin = 0, end = 0;
  if (std::is_same<A, float>::value) whole_windows(xs, &begin, &end);
  // Others, whose windows are wide, go down all columns first.
  if (begin == end && in.w <= most_wide && in.w * 2 <= xs.count * (xs.last[0] - xs.first[0]) * 3) {
    for_each_row(call, in, false, ys.count, in.w * 4, [&](int64_t plane, int64_t at, int64_t y) {
      best_down_and_across(x + plane * in.h * in.w, in.w, ys.first[y], ys.last[y], xs, out + at * xs.count, mask + at * xs.count);
    });
    return;
  }
  for_each_row(call, in, false, ys.count, xs.count * 4, [&](int64_t plane, int64_t at, int64_t y) {
    const A *from = x + plane * in.h * in.w;
    A *best = out + at * xs.count;
    int32_t *where = mask + at * xs.count;
    const auto one = [&](int64_t o) {
      // Two loops, of which the first has no branch.
      A most = A(-INFINITY);
      for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
        for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) most = from[i * in.w + j] > most ? from[i * in.w + j] : most;
      int64_t place = -1;
      for (int64_t i = ys.first[y]; i < ys.last[y] && place < 0; ++i)
        for (int64_t j = xs.first[o]; j < xs.last[o] && place < 0; ++j)
          if (from[i * in.w + j] == most) place = i * in.w + j;
      most = place < 0 ? A(-FLT_MAX) : from[place];
      best[o] = most, where[o] = int32_t(place);
    };
    int64_t done = begin;
    const int64_t rows = ys.last[y] - ys.first[y];
    if constexpr (std::is_same<A, float>::value) {
      if (begin < end && rows > 0) {
        const int64_t place = ys.first[y] * in.w + xs.first[begin];
        const float *limit = x + in.n * in.channels * in.h * in.w;
        const auto along = xs.step == 1 ? best_along<1> : best_along<2>;
        done += along(from + place, limit, in.w, rows, xs.kernel, int32_t(place), end - begin, best + begin, where + begin);
      }
    }
    for (int64_t o = 0; o < begin; ++o) one(o);
    for (int64_t o = done; o < xs.count; ++o) one(o);
  });
}

template <typename A>
void max_windows(const wry_call *call, const A *x, const Geometry &in, bool last, const Windows &ys, const Windows &xs,
                 A *out, int32_t *mask) {
  if (!last) {
    max_windows_of_planes(call, x, in, ys, xs, out, mask);
    return;
  }
  const int64_t unit = in.channels;
  const int64_t cost = xs.count * unit * 9;
  for_each_row(call, in, last, ys.count, cost, [&](int64_t plane, int64_t at, int64_t y) {
    const A *from = x + plane * in.h * in.w * unit;
    for (int64_t o = 0; o < xs.count; ++o) {
      A *WRY_RESTRICT best = out + (at * xs.count + o) * unit;
      int32_t *WRY_RESTRICT where = mask + (at * xs.count + o) * unit;
      for (int64_t c = 0; c < unit; ++c) best[c] = A(-FLT_MAX), where[c] = -1;
      for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
        for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) {
          const int32_t place = int32_t(i * in.w + j);
          const A *WRY_RESTRICT values = from + place * unit;
          for (int64_t c = 0; c < unit; ++c) {
            const bool wins = (values[c] > best[c]) | ((where[c] < 0) & (values[c] == values[c]));
            best[c] = wins ? values[c] : best[c];
            where[c] = wins ? place : where[c];
          }
        }
    }
  });
}

template <typename T>
int max_pool(const wry_call *call, const char *op, const Geometry &in, bool last, const Windows &ys, const Windows &xs) {
  bool failed = false;
  const arithmetic_t<T> *x = as_arithmetic<T>(call, input(call, 0), &failed);
  arithmetic_t<T> *out = result_for<T>(call, output(call, 0));
  if (failed || !out) return no_memory(call, op);
  max_windows(call, x, in, last, ys, xs, out, data<int32_t>(output(call, 1)));
  deliver<T>(call, out, output(call, 0));
  return WRY_OK;
}

// x -> out, mask (int32).
template <typename T>
int max_pool2d(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(output(call, 0), last);
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  Windows ys, xs;
  if (!fixed_windows(call, &ys, to.h, in.h, kernel[0], strides[0], paddings[0], true) ||
      !fixed_windows(call, &xs, to.w, in.w, kernel[1], strides[1], paddings[2], true))
    return no_memory(call, "max_pool2d");
  return max_pool<T>(call, "max_pool2d", in, last, ys, xs);
}

template <typename T>
int adaptive_max_pool2d(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 1, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(output(call, 0), last);
  Windows ys, xs;
  if (!adaptive_windows(call, &ys, to.h, in.h) || !adaptive_windows(call, &xs, to.w, in.w))
    return no_memory(call, "adaptive_max_pool2d");
  return max_pool<T>(call, "adaptive_max_pool2d", in, last, ys, xs);
}

// ---- positions back into planes -----------------------------------------------------------------

// Positions are data, so they are checked before anything is written: -1 says none.
template <typename Index>
bool positions_fit(const Index *at, int64_t count, int64_t least, int64_t size) {
  using Unsigned = std::make_unsigned_t<Index>;
  Unsigned farthest = 0;  // what lies below `least` wraps around, beyond all others
  for (int64_t i = 0; i < count; ++i) farthest = max_of(farthest, Unsigned(Unsigned(at[i]) - Unsigned(least)));
  return count == 0 || uint64_t(farthest) < uint64_t(size - least);
}

int check_positions(const wry_call *call, const char *op, const wry_tensor *positions, const Geometry &plane,
                    int64_t least) {
  const int64_t size = plane.h * plane.w;
  const bool wide = positions->dtype == WRY_INT64;
  if (wide ? positions_fit(data<int64_t>(positions), positions->size, least, size)
           : positions_fit(data<int32_t>(positions), positions->size, least, size))
    return WRY_OK;
  for (int64_t i = 0; i < positions->size; ++i) {
    const int64_t at = wide ? data<int64_t>(positions)[i] : data<int32_t>(positions)[i];
    if (at < least || at >= size)
      return fail(call, WRY_INVALID,
                  "%s: position %lld lies outside of its plane. Got it at flat place %lld, expected positions in [%lld, %lld) "
                  "for planes of [%lld, %lld]. Give the mask of the pooling that made the input, or a larger output_size.",
                  op, (long long)at, (long long)i, (long long)least, (long long)size, (long long)plane.h,
                  (long long)plane.w);
  }
  return WRY_OK;
}

// Writes (or adds) each value at the position of its own plane.
template <typename T, typename Index>
int place(const wry_call *call, const char *op, const wry_tensor *values, const wry_tensor *positions, bool add,
          bool last, bool allow_none) {
  using A = arithmetic_t<T>;
  const wry_tensor *result = output(call, 0);
  const Geometry in = geometry_of(values, last), to = geometry_of(result, last);
  const int64_t size = to.h * to.w, outputs = in.h * in.w;
  const Index *at = data<Index>(positions);
  const int status = check_positions(call, op, positions, to, allow_none ? -1 : 0);
  if (status != WRY_OK) return status;
  bool failed = false;
  const A *from = as_arithmetic<T>(call, values, &failed);
  A *out = result_for<T>(call, result);
  if (failed || !out) return no_memory(call, op);
  // Planes, or stretches of channels of an image: pieces that share no output.
  const int64_t stretch = last ? 64 : 1, pieces = (in.channels + stretch - 1) / stretch;
  parallel_for(call, in.n * pieces, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, size * stretch)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t piece = begin; piece < end; ++piece) {
                   const int64_t n = piece / pieces, c0 = piece % pieces * stretch;
                   const int64_t c1 = min_of(in.channels, c0 + stretch);
                   if (!last) {
                     A *WRY_RESTRICT plane = out + piece * size;
                     const A *WRY_RESTRICT value = from + piece * outputs;
                     const Index *WRY_RESTRICT where = at + piece * outputs;
                     for (int64_t i = 0; i < size; ++i) plane[i] = A(0);
                     for (int64_t i = 0; i < outputs; ++i) {
                       if (where[i] < 0) continue;
                       plane[where[i]] = value[i] + (add ? plane[where[i]] : A(0));
                     }
                     continue;
                   }
                   const int64_t step = in.channels;
                   for (int64_t c = c0; c < c1; ++c) {
                     A *plane = out + n * size * step + c;
                     for (int64_t i = 0; i < size; ++i) plane[i * step] = A(0);
                   }
                   for (int64_t i = 0; i < outputs; ++i)
                     for (int64_t c = c0; c < c1; ++c) {
                       const int64_t read = (n * outputs + i) * step + c;
                       if (at[read] < 0) continue;
                       A *to_value = out + (n * size + at[read]) * step + c;
                       *to_value = from[read] + (add ? *to_value : A(0));
                     }
                 }
               });
  deliver<T>(call, out, result);
  return WRY_OK;
}

// ct, mask, like (only its shape).
template <typename T>
int max_pool2d_vjp(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const wry_tensor *mask = input(call, 1);
  if (mask->dtype == WRY_INT64) return place<T, int64_t>(call, "max_pool2d_vjp", input(call, 0), mask, true, last, true);
  return place<T, int32_t>(call, "max_pool2d_vjp", input(call, 0), mask, true, last, true);
}

// x, mask: the value at each position of the plane, 0 where there is none.
template <typename T>
int max_pool2d_take(const wry_call *call) {
  const wry_tensor *out = output(call, 0), *mask = input(call, 1);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(out, last);
  const int status = check_positions(call, "max_pool2d_take", mask, in, -1);
  if (status != WRY_OK) return status;
  const T *from = data<T>(input(call, 0));
  T *result = data<T>(out);
  const int64_t size = in.h * in.w, outputs = to.h * to.w;
  parallel_for(call, out->size, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = mask->dtype == WRY_INT64 ? data<int64_t>(mask)[i] : data<int32_t>(mask)[i];
      const int64_t place = last ? (i / (outputs * in.channels) * size + at) * in.channels + i % in.channels
                                 : i / outputs * size + at;
      result[i] = at < 0 ? T(0) : from[place];
    }
  });
  return WRY_OK;
}

template <typename T>
int max_unpool2d(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 1, "NHWC");
  const wry_tensor *index = input(call, 1);
  if (index->dtype == WRY_INT64) return place<T, int64_t>(call, "max_unpool2d", input(call, 0), index, false, last, false);
  return place<T, int32_t>(call, "max_unpool2d", input(call, 0), index, false, last, false);
}

// ---- average ------------------------------------------------------------------------------------

WRY_INLINE double elements_of(const Windows &ys, const Windows &xs, int64_t y, int64_t x, double divisor) {
  // A window that holds nothing gives 0.
  return divisor != 0 ? divisor : double(max_of<int64_t>(1, ys.extent[y] * xs.extent[x]));
}

// The averages of windows that lie `step` apart, of the sums of their columns. What is read behind the last is of no account.
template <int step, typename A>
WRY_INLINE void average_along(const A *sums, int64_t count, int64_t kernel, A size, A *out) {
  over<A>(count, [&](int64_t o, auto part) {
    vec<A> sum = load_apart<lanes<A>, step>(sums + step * o);
    for (int64_t j = 1; j < kernel; ++j) sum += load_apart<lanes<A>, step>(sums + step * o + j);
    put(out + o, sum / size, part);
  });
}

template <typename A>
void average_planes(const wry_call *call, const A *x, const Geometry &in, const Windows &ys, const Windows &xs, double divisor,
                    A *out) {
  int64_t begin = 0, end = 0;
  whole_windows(xs, &begin, &end);
  for_each_row(call, in, false, ys.count, in.w * 4 + xs.count * 4, [&](int64_t plane, int64_t at, int64_t y) {
    alignas(64) A sums[most_wide + 2 * lanes<A>];
    const A *from = x + plane * in.h * in.w;
    const A *down = from + ys.first[y] * in.w;
    const int64_t rows = ys.last[y] - ys.first[y];
    const auto sum_down = [&](int64_t j, auto vectors, auto part) {
      constexpr int V = decltype(vectors)::value;
      vec<A> sum[V] = {};
      for (int64_t i = 0; i < rows; ++i)
        for (int v = 0; v < V; ++v) sum[v] += get(down + i * in.w + j + v * lanes<A>, part);
      for (int v = 0; v < V; ++v) store(sums + j + v * lanes<A>, sum[v]);
    };
    int64_t j = 0;
    for (; j + 4 * lanes<A> <= in.w; j += 4 * lanes<A>) sum_down(j, std::integral_constant<int, 4>(), Whole());
    over<A>(in.w - j, [&](int64_t more, auto part) { sum_down(j + more, std::integral_constant<int, 1>(), part); });
    A *to = out + at * xs.count;
    const auto one = [&](int64_t o) {
      A sum = 0;
      const A *across = sums + xs.first[o];
      const int64_t n = xs.last[o] - xs.first[o];
      if (n >= 2 * lanes<A>) sum = row_reduce<A>(n, A(0), [&](int64_t j, auto part) { return get(across + j, part); }, Plus());
      else
        for (int64_t j = 0; j < n; ++j) sum += across[j];
      to[o] = sum / A(elements_of(ys, xs, y, o, divisor));
    };
    for (int64_t o = 0; o < begin; ++o) one(o);
    for (int64_t o = end; o < xs.count; ++o) one(o);
    if (begin == end) return;
    const A size = A(elements_of(ys, xs, y, begin, divisor));
    if (xs.step == 1) average_along<1>(sums + xs.first[begin], end - begin, xs.kernel, size, to + begin);
    else average_along<2>(sums + xs.first[begin], end - begin, xs.kernel, size, to + begin);
  });
}

// The cotangents of [planes, windows] spread over `to`.
template <typename A>
void spread_planes(const wry_call *call, const A *ct, const Geometry &to, const Windows &ys, const Windows &xs, double divisor,
                   A *out) {
  const int64_t size = to.h * to.w;
  parallel_for(call, to.n * to.channels, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
    alignas(64) A share[most_wide];
    for (int64_t plane = begin; plane < end; ++plane) {
      A *image = out + plane * size;
      for (int64_t i = 0; i < size; ++i) image[i] = A(0);
      for (int64_t y = 0; y < ys.count; ++y) {
        const A *from = ct + (plane * ys.count + y) * xs.count;
        for (int64_t j = 0; j < to.w; ++j) share[j] = A(0);
        for (int64_t o = 0; o < xs.count; ++o) {
          const A value = from[o] / A(elements_of(ys, xs, y, o, divisor));
          for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) share[j] += value;
        }
        for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
          for (int64_t j = 0; j < to.w; ++j) image[i * to.w + j] += share[j];
      }
    }
  });
}

template <typename T>
int average(const wry_call *call, const char *op, const Geometry &in, bool last, const Windows &ys, const Windows &xs,
            double divisor) {
  using A = arithmetic_t<T>;
  bool failed = false;
  const A *x = as_arithmetic<T>(call, input(call, 0), &failed);
  A *out = result_for<T>(call, output(call, 0));
  if (failed || !out) return no_memory(call, op);
  if (!last && in.w <= most_wide) {
    average_planes(call, x, in, ys, xs, divisor, out);
    deliver<T>(call, out, output(call, 0));
    return WRY_OK;
  }
  const int64_t unit = last ? in.channels : 1;
  for_each_row(call, in, last, ys.count, xs.count * unit * 9, [&](int64_t plane, int64_t at, int64_t y) {
    const A *from = x + plane * in.h * in.w * unit;
    for (int64_t o = 0; o < xs.count; ++o) {
      A *WRY_RESTRICT to = out + (at * xs.count + o) * unit;
      const A size = A(elements_of(ys, xs, y, o, divisor));
      if (unit == 1) {
        A sum = 0;
        for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
          for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) sum += from[i * in.w + j];
        *to = sum / size;
        continue;
      }
      for (int64_t c = 0; c < unit; ++c) to[c] = A(0);
      for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
        for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) {
          const A *WRY_RESTRICT values = from + (i * in.w + j) * unit;
          for (int64_t c = 0; c < unit; ++c) to[c] += values[c];
        }
      for (int64_t c = 0; c < unit; ++c) to[c] /= size;
    }
  });
  deliver<T>(call, out, output(call, 0));
  return WRY_OK;
}

// `to` is the geometry of the result, the pooled input; windows are those of the forward pass.
template <typename T>
int average_vjp(const wry_call *call, const char *op, const Geometry &to, bool last, const Windows &ys, const Windows &xs,
                double divisor) {
  using A = arithmetic_t<T>;
  bool failed = false;
  const A *ct = as_arithmetic<T>(call, input(call, 0), &failed);
  A *out = result_for<T>(call, output(call, 0));
  if (failed || !out) return no_memory(call, op);
  if (!last && to.w <= most_wide) {
    spread_planes(call, ct, to, ys, xs, divisor, out);
    deliver<T>(call, out, output(call, 0));
    return WRY_OK;
  }
  const int64_t size = to.h * to.w, outputs = ys.count * xs.count, stretch = last ? 64 : 1;
  const int64_t pieces = (to.channels + stretch - 1) / stretch, unit = last ? to.channels : 1;
  parallel_for(call, to.n * pieces, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, size * stretch)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t piece = begin; piece < end; ++piece) {
                   const int64_t n = piece / pieces, c = piece % pieces * stretch, count = min_of(to.channels - c, stretch);
                   A *image = out + (last ? n * size * unit + c : (n * to.channels + c) * size);
                   const A *from = ct + (last ? n * outputs * unit + c : (n * to.channels + c) * outputs);
                   for (int64_t i = 0; i < size; ++i)
                     for (int64_t u = 0; u < count; ++u) image[i * unit + u] = A(0);
                   for (int64_t y = 0; y < ys.count; ++y)
                     for (int64_t o = 0; o < xs.count; ++o) {
                       const A *WRY_RESTRICT value = from + (y * xs.count + o) * unit;
                       const A share = A(1) / A(elements_of(ys, xs, y, o, divisor));
                       for (int64_t i = ys.first[y]; i < ys.last[y]; ++i)
                         for (int64_t j = xs.first[o]; j < xs.last[o]; ++j) {
                           A *WRY_RESTRICT into = image + (i * to.w + j) * unit;
                           for (int64_t u = 0; u < count; ++u) into[u] += value[u] * share;
                         }
                     }
                 }
               });
  deliver<T>(call, out, output(call, 0));
  return WRY_OK;
}

// The windows of avg_pool2d, whose attributes begin at 0 in both directions.
bool average_windows(const wry_call *call, const Geometry &in, const Geometry &to, Windows *ys, Windows *xs) {
  const Ints kernel = attr_ints(call, 0), strides = attr_ints(call, 1), paddings = attr_ints(call, 2);
  const bool exclusive = attr_bool(call, 4);
  return fixed_windows(call, ys, to.h, in.h, kernel[0], strides[0], paddings[0], exclusive) &&
         fixed_windows(call, xs, to.w, in.w, kernel[1], strides[1], paddings[2], exclusive);
}

template <typename T>
int avg_pool2d(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 6, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(output(call, 0), last);
  Windows ys, xs;
  if (!average_windows(call, in, to, &ys, &xs)) return no_memory(call, "avg_pool2d");
  return average<T>(call, "avg_pool2d", in, last, ys, xs, attr_is_none(call, 5) ? 0 : attr_float(call, 5));
}

// ct, like (only its shape).
template <typename T>
int avg_pool2d_vjp(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 6, "NHWC");
  const Geometry in = geometry_of(output(call, 0), last), to = geometry_of(input(call, 0), last);
  Windows ys, xs;
  if (!average_windows(call, in, to, &ys, &xs)) return no_memory(call, "avg_pool2d_vjp");
  return average_vjp<T>(call, "avg_pool2d_vjp", in, last, ys, xs, attr_is_none(call, 5) ? 0 : attr_float(call, 5));
}

template <typename T>
int adaptive_avg_pool2d(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 1, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(output(call, 0), last);
  Windows ys, xs;
  if (!adaptive_windows(call, &ys, to.h, in.h) || !adaptive_windows(call, &xs, to.w, in.w))
    return no_memory(call, "adaptive_avg_pool2d");
  return average<T>(call, "adaptive_avg_pool2d", in, last, ys, xs, 0);
}

template <typename T>
int adaptive_avg_pool2d_vjp(const wry_call *call) {
  if (output(call, 0)->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 0, "NHWC");
  const Geometry in = geometry_of(output(call, 0), last), to = geometry_of(input(call, 0), last);
  Windows ys, xs;
  if (!adaptive_windows(call, &ys, to.h, in.h) || !adaptive_windows(call, &xs, to.w, in.w))
    return no_memory(call, "adaptive_avg_pool2d_vjp");
  return average_vjp<T>(call, "adaptive_avg_pool2d_vjp", in, last, ys, xs, 0);
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("max_pool2d", WRY_WANTS_CONTIGUOUS, max_pool2d),
    WRY_FLOAT_ROWS("max_pool2d_vjp", WRY_WANTS_CONTIGUOUS, max_pool2d_vjp),
    WRY_FLOAT_ROWS("max_pool2d_take", WRY_WANTS_CONTIGUOUS, max_pool2d_take),
    WRY_FLOAT_ROWS("max_unpool2d", WRY_WANTS_CONTIGUOUS, max_unpool2d),
    WRY_FLOAT_ROWS("avg_pool2d", WRY_WANTS_CONTIGUOUS, avg_pool2d),
    WRY_FLOAT_ROWS("avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, avg_pool2d_vjp),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d),
    WRY_FLOAT_ROWS("adaptive_avg_pool2d_vjp", WRY_WANTS_CONTIGUOUS, adaptive_avg_pool2d_vjp),
    WRY_FLOAT_ROWS("adaptive_max_pool2d", WRY_WANTS_CONTIGUOUS, adaptive_max_pool2d),
};

}  // namespace
WRY_TABLE(pooling, table)

}  // namespace WRY_NAMESPACE
