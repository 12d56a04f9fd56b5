// Weighted sums of places along one axis: resizing, and sampling of images at any place.
//
//   resample      out[o, i, :] = sum over k of weight[i, k] * x[o, index[i, k], :]
//   resample_vjp  its transpose: adds weight[i, k] * ct[o, i, :] to out[o, index[i, k], :]
//
// x [outer, places, row], index and weight [results, taps]; all contiguous. A weight of 0 leaves its
// place out, so that infinity and NaN there do not reach the result.
//
// The transpose is first sorted by the places of its sums (a counting sort, as in indexing.cc), so
// each is one sum that one thread writes once, in the order of the indices.
#include "copy.h"
#include "rows.h"

#include <wherry/kernels/indices.h>

namespace WRY_NAMESPACE {
namespace {

int check_places(const wry_call *call, const char *op, const int64_t *index, const ResampleSizes &z, int axis) {
  uint64_t farthest = 0;
  for (int64_t i = 0; i < z.results * z.taps; ++i) farthest = max_of(farthest, uint64_t(index[i]));
  for (int64_t i = 0; i < z.results * z.taps && farthest >= uint64_t(z.places); ++i)
    if (WRY_UNLIKELY(uint64_t(index[i]) >= uint64_t(z.places)))
      return fail(call, WRY_OUT_OF_RANGE,
                  "%s: index %lld (element %lld of the indices) is out of range for axis %d. Got %lld, expected each index "
                  "in [0, %lld). Clip the places first.",
                  op, (long long)index[i], (long long)i, axis, (long long)index[i], (long long)z.places);
  return WRY_OK;
}

// to[:] = sum over p < count of weight(p) * from(p)[:], some vectors at a time.
template <typename Where, typename T, typename From, typename Weight>
WRY_INLINE void sum_rows(T *to, int64_t row, int64_t count, From &&from, Weight &&weight, Where) {
  using A = arithmetic_t<T>;
  constexpr int N = lanes<T>;
  int64_t c = 0;
  const auto sum = [&](auto vectors, auto part) {
    constexpr int V = decltype(vectors)::value;
    vec<T> total[V] = {};
    // Not 0 and what is added to it, which would turn -0 into +0.
    const A one = count > 0 ? weight(0) : A(0);
    if (one != 0)
      for (int v = 0; v < V; ++v) total[v] = get(from(0) + c + v * N, part) * one;
    for (int64_t p = 1; p < count; ++p) {
      const A w = weight(p);
      if (w != 0)
        for (int v = 0; v < V; ++v) total[v] += get(from(p) + c + v * N, part) * w;
    }
    for (int v = 0; v < V; ++v) put_to<Where>(to + c + v * N, total[v], part);
    c += V * N;
  };
  while (c + 4 * N <= row) sum(std::integral_constant<int, 4>(), Whole());
  if (c + 2 * N <= row) sum(std::integral_constant<int, 2>(), Whole());
  if (c + N <= row) sum(std::integral_constant<int, 1>(), Whole());
  if (c < row) sum(std::integral_constant<int, 1>(), Part{row - c});
}

// The rows of single elements of [outer, places] that give [outer, results]: result i sums the terms from start(i) to start(i + 1), each an
// element place[p] of the line by weight[p]. A few lines at once, turned so that those of a place lie side by side.
template <typename T, typename Start, typename Weight>
bool sum_lines(const wry_call *call, int64_t outer, int64_t places, int64_t results, int64_t terms, const T *from, T *to, const Start &start, const int64_t *place,
               const Weight *weight) {
  using A = arithmetic_t<T>;
  using Word = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  constexpr int64_t side = 64 / sizeof(T);  // lines, and results that are turned back together
  if (outer < 8 || places > 65536) {
    parallel_for(call, outer, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, terms)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o)
        for (int64_t i = 0; i < results; ++i) {
          A total = 0;
          for (int64_t first = start(i), p = first; p < start(i + 1); ++p) {
            const A w = A(weight[p]), product = w * A(from[o * places + place[p]]);
            total = w == 0 ? total : p == first ? product
                                                : total + product;
          }
          to[o * results + i] = T(total);
        }
    });
    return true;
  }
  const int64_t blocks = (outer + side - 1) / side, held = (places + side) * side;
  T *scratch = workspace<T>(call, held * threads_for(call, blocks));
  if (!scratch) return false;
  parallel_for(call, blocks, max_of<int64_t>(1, 8192 / (side * max_of<int64_t>(1, terms))), [&](int64_t begin, int64_t end) {
    T *turned = scratch + held * thread_index(), *sums = turned + places * side;
    for (int64_t o = begin * side; o < min_of(outer, end * side); o += side) {
      const int64_t n = min_of(side, outer - o);
      if (n < side) memset(turned, 0, size_t(places * side) * sizeof(T));
      transpose_block((Word *)turned, side, (const Word *)(from + o * places), places, places, n);
      for (int64_t i = 0; i < results; i += side) {
        const int64_t count = min_of(side, results - i);
        for (int64_t r = 0; r < count; ++r) {
          const int64_t first = start(i + r);
          sum_rows(sums + r * side, side, start(i + r + 1) - first, [&](int64_t p) { return turned + place[first + p] * side; }, [&](int64_t p) { return A(weight[first + p]); }, Near());
        }
        transpose_block((Word *)(to + o * results + i), results, (const Word *)sums, side, n, count);
      }
    }
  });
  return true;
}

template <typename T>
int resample(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const int axis = int(attr_int(call, 0));
  const ResampleSizes z = resample_sizes(x, input(call, 1), axis);
  const int64_t *index = data<int64_t>(input(call, 1));
  const T *weight = data<T>(input(call, 2)), *from = data<T>(x);
  T *out = data<T>(output(call, 0));
  if (const int status = check_places(call, "resample", index, z, axis)) return status;
  if (output(call, 0)->size == 0) return WRY_OK;
  if (z.row == 1)
    return sum_lines(call, z.outer, z.places, z.results, z.results * z.taps, from, out, [&](int64_t i) { return i * z.taps; }, index, weight) ? WRY_OK : fail_memory(call, "resample", z.places * 64);
  const auto sums = [&](auto where) {
    parallel_for(call, z.outer * z.results, max_of<int64_t>(1, 8192 / (z.row * max_of<int64_t>(1, z.taps))), [&](int64_t begin, int64_t end) {
      const T *x_of = from + begin / z.results * z.places * z.row;
      for (int64_t at = begin, i = begin % z.results; at < end; ++at, ++i) {
        if (i == z.results) i = 0, x_of += z.places * z.row;
        sum_rows(out + at * z.row, z.row, z.taps, [&](int64_t k) { return x_of + index[i * z.taps + k] * z.row; }, [&](int64_t k) { return A(weight[i * z.taps + k]); }, where);
      }
      if constexpr (decltype(where)::value) stream_fence();
    });
  };
  const int64_t size = output(call, 0)->size;
  if ((x->size + size) * int64_t(sizeof(T)) >= wry_cpu_cached_bytes) to_memory(out, size, z.row, sums);
  else sums(Near());
  return WRY_OK;
}

template <typename T>
int resample_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *like = output(call, 0);
  const int axis = int(attr_int(call, 0));
  const ResampleSizes z = resample_sizes(like, input(call, 1), axis);
  const int64_t *index = data<int64_t>(input(call, 1)), terms = z.results * z.taps;
  const T *ct = data<T>(input(call, 0)), *weight = data<T>(input(call, 2));
  T *out = data<T>(like);
  if (const int status = check_places(call, "resample_vjp", index, z, axis)) return status;
  if (like->size == 0) return WRY_OK;
  // The terms of place r are those from first[r] to first[r + 1]: which result, and its weight.
  int64_t *first = workspace<int64_t>(call, z.places + 1 + terms);
  A *share = workspace<A>(call, terms + 1);
  if (!first || !share) return fail_memory(call, "resample_vjp", (z.places + 1 + 2 * terms) * 8);
  int64_t *result = first + z.places + 1;
  memset(first, 0, size_t(z.places + 1) * 8);
  for (int64_t t = 0; t < terms; ++t) first[index[t] + 1] += A(weight[t]) != 0;
  for (int64_t r = 0; r < z.places; ++r) first[r + 1] += first[r];
  for (int64_t i = 0, t = 0; i < z.results; ++i)
    for (int64_t k = 0; k < z.taps; ++k, ++t)
      if (A(weight[t]) != 0) {
        const int64_t at = first[index[t]]++;
        result[at] = i;
        share[at] = A(weight[t]);
      }
  // Filling moved every start to the next place's.
  for (int64_t r = z.places; r > 0; --r) first[r] = first[r - 1];
  first[0] = 0;
  const int64_t mean = 1 + terms / z.places;
  if (z.row == 1)
    return sum_lines(call, z.outer, z.results, z.places, terms, ct, out, [&](int64_t r) { return first[r]; }, result, share) ? WRY_OK : fail_memory(call, "resample_vjp", z.results * 64);
  parallel_for(call, z.outer * z.places, max_of<int64_t>(1, 8192 / (z.row * mean)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t o = at / z.places, r = at % z.places, start = first[r];
      sum_rows(out + at * z.row, z.row, first[r + 1] - start, [&](int64_t p) { return ct + (o * z.results + result[start + p]) * z.row; }, [&](int64_t p) { return share[start + p]; }, Near());
    }
  });
  return WRY_OK;
}

#include <wherry/kernels/rows/resampling.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(resampling, WRY_NAMESPACE::table)
