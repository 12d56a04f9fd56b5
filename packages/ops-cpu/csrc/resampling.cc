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
#include "rows.h"

#include <wherry/kernels/indices.h>

namespace WRY_NAMESPACE {
namespace {

int check_places(const wry_call *call, const char *op, const int64_t *index, const ResampleSizes &z, int axis) {
  for (int64_t i = 0; i < z.results * z.taps; ++i)
    if (WRY_UNLIKELY(uint64_t(index[i]) >= uint64_t(z.places)))
      return fail(call, WRY_OUT_OF_RANGE,
                  "%s: index %lld (element %lld of the indices) is out of range for axis %d. Got %lld, expected each index "
                  "in [0, %lld). Clip the places first.",
                  op, (long long)index[i], (long long)i, axis, (long long)index[i], (long long)z.places);
  return WRY_OK;
}

// to[:] = sum over p < count of weight(p) * from(p)[:]
template <typename T, typename From, typename Weight>
WRY_INLINE void sum_rows(T *to, int64_t row, int64_t count, From &&from, Weight &&weight) {
  using A = arithmetic_t<T>;
  over<T>(row, [&](int64_t c, auto part) {
    vec<T> total = {};
    for (int64_t p = 0; p < count; ++p) {
      const A w = weight(p);
      if (w != 0) total += get(from(p) + c, part) * w;
    }
    put(to + c, total, part);
  });
}

// One element for each result: K taps, or any number where K is 0.
template <typename T, int K>
void sum_elements(T *to, const T *from, const ResampleSizes &z, const int64_t *index, const T *weight) {
  using A = arithmetic_t<T>;
  const int64_t taps = K ? K : z.taps;
  for (int64_t i = 0; i < z.results; ++i) {
    A total = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const A w = A(weight[i * taps + k]), product = w * A(from[index[i * taps + k]]);
      total += w == 0 ? A(0) : product;
    }
    to[i] = T(total);
  }
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
  if (z.row == 1) {
    parallel_for(call, z.outer, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, z.results * z.taps)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        T *to = out + o * z.results;
        const T *line = from + o * z.places;
        switch (z.taps) {
          case 2: sum_elements<T, 2>(to, line, z, index, weight); break;
          case 4: sum_elements<T, 4>(to, line, z, index, weight); break;
          default: sum_elements<T, 0>(to, line, z, index, weight);
        }
      }
    });
    return WRY_OK;
  }
  parallel_for(call, z.outer * z.results, max_of<int64_t>(1, 8192 / (z.row * max_of<int64_t>(1, z.taps))), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t o = at / z.results, i = at % z.results;
      sum_rows(out + at * z.row, z.row, z.taps, [&](int64_t k) { return from + (o * z.places + index[i * z.taps + k]) * z.row; }, [&](int64_t k) { return A(weight[i * z.taps + k]); });
    }
  });
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
  if (z.row == 1) {
    parallel_for(call, z.outer, max_of<int64_t>(1, 8192 / (z.places * mean)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T *from = ct + o * z.results;
        T *to = out + o * z.places;
        for (int64_t r = 0; r < z.places; ++r) {
          A total = 0;
          for (int64_t p = first[r]; p < first[r + 1]; ++p) total += share[p] * A(from[result[p]]);
          to[r] = T(total);
        }
      }
    });
    return WRY_OK;
  }
  parallel_for(call, z.outer * z.places, max_of<int64_t>(1, 8192 / (z.row * mean)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t o = at / z.places, r = at % z.places, start = first[r];
      sum_rows(out + at * z.row, z.row, first[r + 1] - start, [&](int64_t p) { return ct + (o * z.results + result[start + p]) * z.row; }, [&](int64_t p) { return share[start + p]; });
    }
  });
  return WRY_OK;
}

#include <wherry/kernels/rows/resampling.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(resampling, WRY_NAMESPACE::table)
