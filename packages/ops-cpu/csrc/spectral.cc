// Discrete Fourier transforms of any length, complex to complex, real to complex and back.
//
// The heart works on `lanes` independent transforms at once, one in each lane of a vector, so that it needs no shuffles:
// a self-sorting (Stockham) pass for each factor of the length, 8, 4, 2, 3, 5 and small odd numbers, with the data of a
// block in the first-level cache. Along an axis that is not the last, neighbouring positions are the lanes. A long row is
// cut in two factors, n = n1 n2: columns, twiddle factors, a transposition, columns again (Bailey, "FFTs in External or
// Hierarchical Memory", 1990). Short rows go into the lanes side by side. Other lengths become a convolution of a length that
// has factors (Bluestein, 1970). Real rows of even length are complex rows of half of it, and one pass that takes apart.
//
// Roots of unity are computed in double precision, as products of a coarse and a fine one. Rows and blocks of columns go to
// the threads; each is computed alike wherever it runs. There is no cache of roots between calls.
#include <float.h>
#include <utility>

#include "gemm.h"

namespace WRY_NAMESPACE {
namespace {

template <typename T>
struct Pair {
  vec<T> re, im;
};

template <typename T>
WRY_INLINE Pair<T> operator+(Pair<T> a, Pair<T> b) { return {a.re + b.re, a.im + b.im}; }
template <typename T>
WRY_INLINE Pair<T> operator-(Pair<T> a, Pair<T> b) { return {a.re - b.re, a.im - b.im}; }
template <typename T>
WRY_INLINE Pair<T> times(Pair<T> a, T re, T im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <typename T>
WRY_INLINE Pair<T> times(Pair<T> a, Pair<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// a * -i
template <typename T>
WRY_INLINE Pair<T> turned(Pair<T> a) { return {a.im, -a.re}; }

// ---- memory -------------------------------------------------------------------------------------

template <typename V, size_t... I>
WRY_INLINE V picked_even(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <typename V, size_t... I>
WRY_INLINE V picked_odd(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}
template <typename V, size_t... I>
WRY_INLINE V mixed_low(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I / 2 + I % 2 * sizeof...(I))...);
}
template <typename V, size_t... I>
WRY_INLINE V mixed_high(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (sizeof...(I) / 2 + I / 2 + I % 2 * sizeof...(I))...);
}

template <typename V, size_t... I>
WRY_INLINE V backwards(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (sizeof...(I) - 1 - I)...);
}
// The values before and at p, the last one first.
template <typename T>
WRY_INLINE vec<T> load_back(const T *p) { return backwards(load(p - (lanes<T> - 1)), std::make_index_sequence<lanes<T>>()); }

// `count` neighbouring complex numbers; `step` complex numbers apart where it is not 1.
template <typename T>
WRY_INLINE Pair<T> load_pairs(const T *from, int64_t count, int64_t step) {
  constexpr auto all = std::make_index_sequence<lanes<T>>();
  if (WRY_LIKELY(step == 1 && count == lanes<T>)) {
    const vec<T> a = load(from), b = load(from + lanes<T>);
    return {picked_even(a, b, all), picked_odd(a, b, all)};
  }
  T re[lanes<T>], im[lanes<T>];
  for (int l = 0; l < lanes<T>; ++l) {
    const int64_t at = l < count ? 2 * l * step : 0;
    re[l] = from[at], im[l] = from[at + 1];
  }
  return {load(re), load(im)};
}

template <typename T>
WRY_INLINE void store_pairs(T *to, Pair<T> p, int64_t count, int64_t step) {
  constexpr auto all = std::make_index_sequence<lanes<T>>();
  if (WRY_LIKELY(step == 1 && count == lanes<T>)) {
    store(to, mixed_low(p.re, p.im, all));
    store(to + lanes<T>, mixed_high(p.re, p.im, all));
    return;
  }
  T re[lanes<T>], im[lanes<T>];
  store(re, p.re), store(im, p.im);
  for (int l = 0; l < count; ++l) to[2 * l * step] = re[l], to[2 * l * step + 1] = im[l];
}

template <typename T>
WRY_INLINE vec<T> load_reals(const T *from, int64_t count, int64_t step) {
  if (WRY_LIKELY(step == 1)) return count == lanes<T> ? load(from) : load_partial(from, count);
  T values[lanes<T>];
  for (int l = 0; l < lanes<T>; ++l) values[l] = from[l < count ? l * step : 0];
  return load(values);
}

template <typename T>
WRY_INLINE void store_reals(T *to, vec<T> v, int64_t count, int64_t step) {
  if (WRY_LIKELY(step == 1)) {
    if (count == lanes<T>) store(to, v);
    else store_partial(to, v, count);
    return;
  }
  T values[lanes<T>];
  store(values, v);
  for (int l = 0; l < count; ++l) to[l * step] = values[l];
}

// ---- plans --------------------------------------------------------------------------------------

inline constexpr int most_odd = 13;  // a larger prime factor makes Bluestein's detour worth it

// The factors of a length and its roots of unity exp(-2 pi i k / n).
template <typename T>
struct Plan {
  int64_t n = 1;
  int passes = 0;
  int factors[64];
  const T *cosine = nullptr, *sine = nullptr;
};

bool factorize(int64_t n, int *factors, int *passes) {
  int count = 0;
  const int wanted[] = {8, 4, 2, 3, 5, 7, 11, 13};
  for (const int factor : wanted)
    while (n % factor == 0 && n > 1) factors[count++] = factor, n /= factor;
  *passes = count;
  return n == 1;
}

WRY_INLINE bool has_factors(int64_t n) {
  int factors[64], passes;
  return factorize(n, factors, &passes);
}

// cosine[k] + i sine[k] = exp(-2 pi i k / n), k < count, in double and then rounded.
template <typename T>
bool make_roots(const wry_call *call, int64_t n, int64_t count, T *cosine, T *sine) {
  constexpr double turn = 6.283185307179586476925286766559;
  int64_t fine = 1;
  while (fine * fine < count) fine *= 2;
  const int64_t coarse = (count + fine - 1) / fine;
  double *const table = workspace<double>(call, 2 * (fine + coarse));
  if (!table) return false;
  double *const big = table + 2 * fine;
  for (int64_t i = 0; i < fine; ++i) table[2 * i] = ::cos(turn * double(i) / double(n)), table[2 * i + 1] = -::sin(turn * double(i) / double(n));
  for (int64_t i = 0; i < coarse; ++i) {
    // Reduced first: the angle stays exact however long the row is.
    const double at = double(i * fine % n) / double(n);
    big[2 * i] = ::cos(turn * at), big[2 * i + 1] = -::sin(turn * at);
  }
  for (int64_t i = 0, k = 0; i < coarse; ++i)
    for (int64_t j = 0; j < fine && k < count; ++j, ++k) {
      cosine[k] = T(big[2 * i] * table[2 * j] - big[2 * i + 1] * table[2 * j + 1]);
      sine[k] = T(big[2 * i] * table[2 * j + 1] + big[2 * i + 1] * table[2 * j]);
    }
  return true;
}

template <typename T>
bool make_plan(const wry_call *call, int64_t n, Plan<T> *plan) {
  plan->n = n;
  factorize(n, plan->factors, &plan->passes);
  T *const roots = workspace<T>(call, 2 * n);
  if (!roots || !make_roots(call, n, n, roots, roots + n)) return false;
  plan->cosine = roots, plan->sine = roots + n;
  return true;
}

// ---- passes -------------------------------------------------------------------------------------

// In place: x[k] = sum_j x[j] exp(-2 pi i j k / r).
template <typename T, int r>
WRY_INLINE void small_transform(Pair<T> *x, const Plan<T> &plan) {
  if constexpr (r == 2) {
    const Pair<T> a = x[0], b = x[1];
    x[0] = a + b, x[1] = a - b;
  } else if constexpr (r == 4) {
    const Pair<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
  } else if constexpr (r == 8) {
    constexpr T half = T(0.70710678118654752440);
    Pair<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    small_transform<T, 4>(even, plan);
    small_transform<T, 4>(odd, plan);
    const Pair<T> one = {(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half};
    const Pair<T> two = turned(odd[2]);
    const Pair<T> three = {(odd[3].im - odd[3].re) * half, -(odd[3].re + odd[3].im) * half};
    x[0] = even[0] + odd[0], x[4] = even[0] - odd[0];
    x[1] = even[1] + one, x[5] = even[1] - one;
    x[2] = even[2] + two, x[6] = even[2] - two;
    x[3] = even[3] + three, x[7] = even[3] - three;
  } else {
    // Odd: sums and differences of what lies opposite share their products.
    constexpr int half = r / 2;
    const int64_t step = plan.n / r;
    Pair<T> sum[half], difference[half], total = x[0];
    for (int j = 0; j < half; ++j) {
      sum[j] = x[j + 1] + x[r - 1 - j], difference[j] = x[j + 1] - x[r - 1 - j];
      total = total + sum[j];
    }
    Pair<T> out[r];
    for (int k = 1; k <= half; ++k) {
      Pair<T> even = x[0], odd = {vec<T>{}, vec<T>{}};
      for (int j = 0; j < half; ++j) {
        const int64_t at = int64_t((j + 1) * k % r) * step;
        const T c = plan.cosine[at], s = plan.sine[at];
        even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
        odd = {odd.re - difference[j].im * s, odd.im + difference[j].re * s};
      }
      out[k] = even + odd, out[r - k] = even - odd;
    }
    x[0] = total;
    for (int k = 1; k < r; ++k) x[k] = out[k];
  }
}

// One pass over n = r m s values: transforms of r elements that lie m s apart, with their twiddle factors.
template <typename T, int r>
void pass(const Plan<T> &plan, int64_t s, const Pair<T> *WRY_RESTRICT from, Pair<T> *WRY_RESTRICT to) {
  const int64_t m = plan.n / (r * s);
  for (int64_t p = 0; p < m; ++p) {
    T c[r], w[r];
    for (int k = 1; k < r; ++k) c[k] = plan.cosine[p * k * s], w[k] = plan.sine[p * k * s];
    for (int64_t q = 0; q < s; ++q) {
      Pair<T> x[r];
      for (int k = 0; k < r; ++k) x[k] = from[q + s * (p + m * k)];
      small_transform<T, r>(x, plan);
      Pair<T> *const out = to + q + s * r * p;
      out[0] = x[0];
      if (p == 0)
        for (int k = 1; k < r; ++k) out[k * s] = x[k];
      else
        for (int k = 1; k < r; ++k) out[k * s] = times(x[k], c[k], w[k]);
    }
  }
}

// The transforms of all lanes of a [n]; b is scratch of the same size. Returns which of the two holds the result.
template <typename T>
Pair<T> *transform(const Plan<T> &plan, Pair<T> *a, Pair<T> *b) {
  int64_t s = 1;
  for (int i = 0; i < plan.passes; ++i) {
    switch (plan.factors[i]) {
      case 2: pass<T, 2>(plan, s, a, b); break;
      case 3: pass<T, 3>(plan, s, a, b); break;
      case 4: pass<T, 4>(plan, s, a, b); break;
      case 5: pass<T, 5>(plan, s, a, b); break;
      case 7: pass<T, 7>(plan, s, a, b); break;
      case 8: pass<T, 8>(plan, s, a, b); break;
      case 11: pass<T, 11>(plan, s, a, b); break;
      default: pass<T, 13>(plan, s, a, b); break;
    }
    s *= plan.factors[i];
    Pair<T> *const kept = a;
    a = b, b = kept;
  }
  return a;
}

// ---- long rows ----------------------------------------------------------------------------------

// A row of n = n1 n2 complex numbers, or of any n through a convolution of that length.
template <typename T>
struct Row {
  int64_t n = 0, n1 = 0, n2 = 0;
  Plan<T> first, second;
  const T *twiddle_re = nullptr, *twiddle_im = nullptr;  // [n1, n2]
  // Bluestein: a row `inner` of length n >= 2 length - 1, the chirp and the transform of its inverse.
  int64_t length = 0;
  const T *chirp = nullptr, *response = nullptr;
};

// How much scratch of T a thread needs for a row: lanes, the transposed row, and two rows of the convolution.
template <typename T>
int64_t row_scratch(const Row<T> &row) {
  const int64_t longest = max_of(row.n1, row.n2);
  return 4 * longest * lanes<T> + 2 * (row.n + row.n1 * lanes<T>)+(row.length ? 2 * row.n : 0);
}

template <typename T>
bool make_row(const wry_call *call, int64_t n, Row<T> *row) {
  int64_t best = 0, cost = INT64_MAX;
  for (int64_t n1 = 1; n1 * n1 <= n * 4 && n1 <= n; ++n1) {
    if (n % n1 || !has_factors(n1) || !has_factors(n / n1)) continue;
    const int64_t n2 = n / n1;
    // Vectors that both steps work through, with their idle lanes, and a little for lengths that leave the cache.
    const int64_t vectors = (n2 + lanes<T> - 1) / lanes<T> * n1 + (n1 + lanes<T> - 1) / lanes<T> * n2;
    const int64_t here = vectors * 8 + max_of(n1, n2) + (n1 > n2 ? n1 - n2 : n2 - n1);
    if (here < cost) cost = here, best = n1;
  }
  row->n = n, row->n1 = best, row->n2 = n / best;
  if (!make_plan(call, row->n1, &row->first) || !make_plan(call, row->n2, &row->second)) return false;
  T *const twiddles = workspace<T>(call, 2 * n), *const roots = workspace<T>(call, 2 * n);
  if (!twiddles || !roots || !make_roots(call, n, n, roots, roots + n)) return false;
  for (int64_t k = 0; k < row->n1; ++k)
    for (int64_t j = 0; j < row->n2; ++j) {  // k j < n
      twiddles[k * row->n2 + j] = roots[k * j];
      twiddles[n + k * row->n2 + j] = roots[n + k * j];
    }
  row->twiddle_re = twiddles, row->twiddle_im = twiddles + n;
  return true;
}

// load(i, count) gives elements i, i + 1, ... of the row; store(k, values, count) takes them.
template <typename T, typename Load, typename Store>
void transform_row(const Row<T> &row, T *scratch, const Load &load_at, const Store &store_at) {
  constexpr int64_t width = lanes<T>;
  const int64_t n1 = row.n1, n2 = row.n2, longest = max_of(n1, n2);
  Pair<T> *const a = reinterpret_cast<Pair<T> *>(scratch), *const b = a + longest;
  // [n2, stride] each; the stride is whole vectors, so that the second step reads them whole.
  const int64_t stride = n1;
  T *const re = scratch + 4 * longest * width, *const im = re + row.n + n1 * width;
  for (int64_t j = 0; j < n2; j += width) {
    const int64_t count = min_of(width, n2 - j);
    for (int64_t i = 0; i < n1; ++i) a[i] = load_at(i * n2 + j, count);
    Pair<T> *const out = transform(row.first, a, b);
    for (int64_t k = 1; k < n1; ++k) {
      const T *const c = row.twiddle_re + k * n2 + j, *const s = row.twiddle_im + k * n2 + j;
      out[k] = times(out[k], count == width ? Pair<T>{load(c), load(s)} : Pair<T>{load_partial(c, count), load_partial(s, count)});
    }
    const T *const from = reinterpret_cast<const T *>(out);
    int64_t k = 0;
    if (count == width)
      for (; k + 4 <= n1; k += 4)
        for (int64_t l = 0; l < width; l += 4) {
          transpose4(from + k * 2 * width + l, 2 * width, re + (j + l) * stride + k, stride);
          transpose4(from + k * 2 * width + width + l, 2 * width, im + (j + l) * stride + k, stride);
        }
    for (; k < n1; ++k)
      for (int64_t l = 0; l < count; ++l) {
        re[(j + l) * stride + k] = from[k * 2 * width + l];
        im[(j + l) * stride + k] = from[k * 2 * width + width + l];
      }
  }
  for (int64_t k = 0; k < n1; k += width) {
    const int64_t count = min_of(width, n1 - k);
    for (int64_t i = 0; i < n2; ++i) a[i] = {load(re + i * stride + k), load(im + i * stride + k)};
    const Pair<T> *const out = transform(row.second, a, b);
    for (int64_t i = 0; i < n2; ++i) store_at(i * n1 + k, out[i], count);
  }
}

// Complex rows in memory, forward; both ways through the convolution where the length has large factors.
template <typename T>
bool make_any_row(const wry_call *call, int64_t n, int threads, T **scratch, int64_t *each, Row<T> *row) {
  if (has_factors(n)) {
    if (!make_row(call, n, row)) return false;
  } else {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    if (!make_row(call, m, row)) return false;
    row->length = n;
    T *const chirp = workspace<T>(call, 2 * n), *const response = workspace<T>(call, 2 * m);
    T *const roots = workspace<T>(call, 4 * n);
    if (!chirp || !response || !roots || !make_roots(call, 2 * n, 2 * n, roots, roots + 2 * n)) return false;
    for (int64_t i = 0; i < n; ++i) {  // exp(-pi i k k / n)
      const int64_t at = int64_t(__uint128_t(i) * uint64_t(i) % uint64_t(2 * n));
      chirp[2 * i] = roots[at], chirp[2 * i + 1] = roots[2 * n + at];
    }
    T *const line = workspace<T>(call, row_scratch(*row));
    if (!line) return false;
    for (int64_t i = 0; i < 2 * m; ++i) response[i] = T(0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t back = (m - i) % m;
      response[2 * i] = response[2 * back] = chirp[2 * i] / T(m);
      response[2 * i + 1] = response[2 * back + 1] = -chirp[2 * i + 1] / T(m);
    }
    transform_row(
        *row, line, [&](int64_t i, int64_t count) { return load_pairs(response + 2 * i, count, 1); },
        [&](int64_t k, Pair<T> v, int64_t count) { store_pairs(response + 2 * k, v, count, 1); });
    row->chirp = chirp, row->response = response;
  }
  *each = (row_scratch(*row) + 63) / 64 * 64;
  *scratch = workspace<T>(call, threads * *each);
  return *scratch != nullptr;
}

template <typename T, typename Load, typename Store>
void transform_any_row(const Row<T> &row, T *scratch, const Load &load_at, const Store &store_at) {
  if (!row.length) return transform_row(row, scratch, load_at, store_at);
  const int64_t n = row.length, m = row.n;
  T *const line = scratch + row_scratch(row) - 2 * m;
  const auto forward = [&](auto &&take) {
    transform_row(row, scratch, take, [&](int64_t k, Pair<T> v, int64_t count) { store_pairs(line + 2 * k, v, count, 1); });
  };
  forward([&](int64_t i, int64_t count) {
    T values[2 * lanes<T>];
    for (int64_t l = 0; l < 2 * lanes<T>; ++l) values[l] = T(0);
    const int64_t inside = min_of(count, n - i);
    if (inside > 0) {
      const Pair<T> product = times(load_at(i, inside), load_pairs(row.chirp + 2 * i, inside, 1));
      store_pairs(values, product, inside, 1);
    }
    return load_pairs(values, lanes<T>, 1);
  });
  for (int64_t i = 0; i < m; ++i) {  // conjugated, so that the next transform is the inverse one
    const T a = line[2 * i], b = line[2 * i + 1], c = row.response[2 * i], d = row.response[2 * i + 1];
    line[2 * i] = a * c - b * d, line[2 * i + 1] = -(a * d + b * c);
  }
  forward([&](int64_t i, int64_t count) { return load_pairs(line + 2 * i, count, 1); });
  for (int64_t i = 0; i < n; i += lanes<T>) {
    const int64_t count = min_of<int64_t>(lanes<T>, n - i);
    Pair<T> v = load_pairs(line + 2 * i, count, 1);
    v.im = -v.im;
    store_at(i, times(v, load_pairs(row.chirp + 2 * i, count, 1)), count);
  }
}

// ---- axes ---------------------------------------------------------------------------------------

// The axis of one transform: [outer, n, inner] on both sides, where a side may have another n.
struct Axis {
  int64_t outer, n, inner;
};

template <typename T>
WRY_INLINE Pair<T> oriented(Pair<T> v, bool inverse) { return inverse ? Pair<T>{v.im, v.re} : v; }

inline constexpr int64_t some_work = 4096;  // complex numbers that are worth a thread's while

// Elements along the axis are given and taken one vector of lanes at a time. `take(line, i, count, step)` reads element i
// of `count` lines that begin `step` apart; lines are the positions beside the axis. `put` writes likewise.
template <typename T, typename Take, typename Put>
int transform_lines(const wry_call *call, const char *op, Axis axis, bool inverse, const Take &take, const Put &put) {
  constexpr int64_t width = lanes<T>;
  const int64_t n = axis.n, lines = axis.outer * axis.inner;
  if (n == 0 || lines == 0) return WRY_OK;
  // Lanes are neighbouring positions, or rows: blocks do not reach over the end of `inner`.
  const bool rows = axis.inner == 1;
  const int64_t run = rows ? lines : axis.inner, blocks_each = (run + width - 1) / width;
  const int64_t blocks = rows ? blocks_each : axis.outer * blocks_each;
  const int threads = threads_for(call, INT32_MAX);
  if (has_factors(n)) {
    Plan<T> plan;
    T *const scratch = workspace<T>(call, threads * 4 * n * width);
    if (!scratch || !make_plan(call, n, &plan)) return fail_memory(call, op, 4 * n * width * int64_t(sizeof(T)) * threads);
    parallel_for(call, blocks, max_of<int64_t>(1, some_work / (n * width)), [&](int64_t begin, int64_t end) {
      Pair<T> *const a = reinterpret_cast<Pair<T> *>(scratch + thread_index() * 4 * n * width), *const b = a + n;
      for (int64_t block = begin; block < end; ++block) {
        const int64_t at = block % blocks_each * width, count = min_of(width, run - at);
        const int64_t line = block / blocks_each * run + at;
        for (int64_t i = 0; i < n; ++i) a[i] = oriented(take(line, i, count), inverse);
        const Pair<T> *const out = transform(plan, a, b);
        for (int64_t i = 0; i < n; ++i) put(line, i, oriented(out[i], inverse), count);
      }
    });
    return WRY_OK;
  }
  Row<T> row;
  T *scratch;
  int64_t each;
  if (!make_any_row(call, n, threads, &scratch, &each, &row)) return fail_memory(call, op, 8 * n * int64_t(sizeof(T)) * threads);
  T *const copies = workspace<T>(call, threads * 2 * n);
  if (!copies) return fail_memory(call, op, 2 * n * int64_t(sizeof(T)) * threads);
  parallel_for(call, lines, max_of<int64_t>(1, some_work / n), [&](int64_t begin, int64_t end) {
    T *const own = scratch + thread_index() * each, *const copy = copies + thread_index() * 2 * n;
    for (int64_t line = begin; line < end; ++line) {
      for (int64_t i = 0; i < n; ++i) {
        const Pair<T> v = oriented(take(line, i, 1), inverse);
        copy[2 * i] = v.re[0], copy[2 * i + 1] = v.im[0];
      }
      transform_any_row(
          row, own, [&](int64_t i, int64_t count) { return load_pairs(copy + 2 * i, count, 1); },
          [&](int64_t k, Pair<T> v, int64_t count) {
            T values[2 * width];
            store_pairs(values, v, count, 1);
            for (int64_t l = 0; l < count; ++l) put(line, k + l, oriented(load_pairs(values + 2 * l, 1, 1), inverse), 1);
          });
    }
  });
  return WRY_OK;
}

// Whether rows are long enough, or too few for the lanes, to be cut in two.
template <typename T>
WRY_INLINE bool long_rows(Axis axis) {
  return axis.inner == 1 && (axis.n >= 16 * lanes<T> || (axis.n >= 64 && axis.outer < lanes<T>));
}

// to = scale * transform of from along an axis; they may be the same memory.
template <typename T>
int complex_axis(const wry_call *call, const char *op, Axis axis, bool inverse, T scale, const T *from, T *to) {
  const int64_t n = axis.n, inner = axis.inner;
  if (!long_rows<T>(axis)) {
    const int64_t step = inner == 1 ? n : 1;
    // Where line l begins: rows follow each other, positions beside the axis repeat after `inner` of them.
    const auto start = [=](int64_t line) { return inner == 1 ? line * n : line / inner * n * inner + line % inner; };
    return transform_lines<T>(
        call, op, axis, inverse, [=](int64_t line, int64_t i, int64_t count) { return load_pairs(from + 2 * (start(line) + i * inner), count, step); },
        [=](int64_t line, int64_t i, Pair<T> v, int64_t count) {
          store_pairs(to + 2 * (start(line) + i * inner), {v.re * scale, v.im * scale}, count, step);
        });
  }
  const int threads = threads_for(call, INT32_MAX);
  Row<T> row;
  T *scratch;
  int64_t each;
  if (!make_any_row(call, n, threads, &scratch, &each, &row)) return fail_memory(call, op, 8 * n * int64_t(sizeof(T)) * threads);
  parallel_for(call, axis.outer, max_of<int64_t>(1, some_work / n), [&](int64_t begin, int64_t end) {
    T *const own = scratch + thread_index() * each;
    for (int64_t line = begin; line < end; ++line) {
      const T *const in = from + 2 * line * n;
      T *const out = to + 2 * line * n;
      transform_any_row(
          row, own, [&](int64_t i, int64_t count) { return oriented(load_pairs(in + 2 * i, count, 1), inverse); },
          [&](int64_t k, Pair<T> v, int64_t count) {
            v = oriented(v, inverse);
            store_pairs(out + 2 * k, {v.re * scale, v.im * scale}, count, 1);
          });
    }
  });
  return WRY_OK;
}

// from [outer, n, inner] real to [outer, n / 2 + 1, inner] complex; `inverse` conjugates.
template <typename T>
int real_axis(const wry_call *call, const char *op, Axis axis, bool inverse, T scale, const T *from, T *to) {
  const int64_t n = axis.n, inner = axis.inner, kept = n / 2 + 1;
  const T sign = inverse ? -scale : scale;
  if (!long_rows<T>({axis.outer, n / 2, inner}) || n % 2) {
    const auto start = [=](int64_t line, int64_t size) { return inner == 1 ? line * size : line / inner * size * inner + line % inner; };
    return transform_lines<T>(
        call, op, axis, false,
        [=](int64_t line, int64_t i, int64_t count) {
          return Pair<T>{load_reals(from + start(line, n) + i * inner, count, inner == 1 ? n : 1), vec<T>{}};
        },
        [=](int64_t line, int64_t i, Pair<T> v, int64_t count) {
          if (i < kept) store_pairs(to + 2 * (start(line, kept) + i * inner), {v.re * scale, v.im * sign}, count, inner == 1 ? kept : 1);
        });
  }
  const int64_t half = n / 2;
  const int threads = threads_for(call, INT32_MAX);
  Row<T> row;
  T *scratch;
  int64_t each;
  T *const roots = workspace<T>(call, 2 * kept), *const parts = workspace<T>(call, threads * 2 * (kept + 63));
  if (!roots || !parts || !make_roots(call, n, kept, roots, roots + kept) || !make_any_row(call, half, threads, &scratch, &each, &row))
    return fail_memory(call, op, 8 * n * int64_t(sizeof(T)) * threads);
  parallel_for(call, axis.outer, max_of<int64_t>(1, some_work / n), [&](int64_t begin, int64_t end) {
    T *const own = scratch + thread_index() * each;
    T *WRY_RESTRICT const re = parts + thread_index() * 2 * (kept + 63), *WRY_RESTRICT const im = re + kept + 31;
    const T *WRY_RESTRICT const c = roots, *WRY_RESTRICT const s = roots + kept;
    for (int64_t line = begin; line < end; ++line) {
      const T *const in = from + line * n;
      T *WRY_RESTRICT const out = to + 2 * line * kept;
      transform_any_row(
          row, own, [&](int64_t i, int64_t count) { return load_pairs(in + 2 * i, count, 1); },
          [&](int64_t k, Pair<T> v, int64_t count) { store_reals(re + k, v.re, count, 1), store_reals(im + k, v.im, count, 1); });
      re[half] = re[0], im[half] = im[0];
      const T by = scale / 2, turned_by = sign / 2;
      // z[k] and the conjugate of z[half - k] are the transforms of the even and the odd elements, plus and minus.
      for (int64_t k = 0; k < kept; ++k) {
        const T a = re[k], b = im[k], d = re[half - k], e = im[half - k];
        const T odd_re = b + e, odd_im = d - a;
        out[2 * k] = (a + d + c[k] * odd_re - s[k] * odd_im) * by;
        out[2 * k + 1] = (b - e + c[k] * odd_im + s[k] * odd_re) * turned_by;
      }
    }
  });
  return WRY_OK;
}

// from [outer, n / 2 + 1, inner] complex, one half of a Hermitian row, to [outer, n, inner] real. `forward` conjugates.
template <typename T>
int back_to_real_axis(const wry_call *call, const char *op, Axis axis, bool forward, T scale, const T *from, T *to) {
  const int64_t n = axis.n, inner = axis.inner, kept = n / 2 + 1;
  const T sign = forward ? T(-1) : T(1);
  if (!long_rows<T>({axis.outer, n / 2, inner}) || n % 2) {
    const auto start = [=](int64_t line, int64_t size) { return inner == 1 ? line * size : line / inner * size * inner + line % inner; };
    return transform_lines<T>(
        call, op, axis, true,
        [=](int64_t line, int64_t i, int64_t count) {
          const int64_t at = i < kept ? i : n - i;
          Pair<T> v = load_pairs(from + 2 * (start(line, kept) + at * inner), count, inner == 1 ? kept : 1);
          if (i == 0 || 2 * i == n) v.im = vec<T>{};  // real in a Hermitian row, whatever stands there
          const T turn = i < kept ? sign : -sign;
          return Pair<T>{v.re, v.im * turn};
        },
        [=](int64_t line, int64_t i, Pair<T> v, int64_t count) {
          store_reals(to + start(line, n) + i * inner, v.re * scale, count, inner == 1 ? n : 1);
        });
  }
  const int64_t half = n / 2;
  const int threads = threads_for(call, INT32_MAX);
  Row<T> row;
  T *scratch;
  int64_t each;
  const int64_t part = 4 * (kept + 31);
  T *const roots = workspace<T>(call, 2 * kept), *const parts = workspace<T>(call, threads * part);
  if (!roots || !parts || !make_roots(call, n, kept, roots, roots + kept) || !make_any_row(call, half, threads, &scratch, &each, &row))
    return fail_memory(call, op, 8 * n * int64_t(sizeof(T)) * threads);
  parallel_for(call, axis.outer, max_of<int64_t>(1, some_work / n), [&](int64_t begin, int64_t end) {
    T *const own = scratch + thread_index() * each, *const mine = parts + thread_index() * part;
    T *WRY_RESTRICT const re = mine, *WRY_RESTRICT const im = re + kept + 31;
    T *WRY_RESTRICT const x = im + kept + 31, *WRY_RESTRICT const y = x + kept + 31;
    const T *WRY_RESTRICT const c = roots, *WRY_RESTRICT const s = roots + kept;
    for (int64_t line = begin; line < end; ++line) {
      const T *WRY_RESTRICT const in = from + 2 * line * kept;
      T *const out = to + line * n;
      int64_t k = 0;
      for (; k + lanes<T> <= kept; k += lanes<T>) {
        const Pair<T> v = load_pairs(in + 2 * k, lanes<T>, 1);
        store(re + k, v.re), store(im + k, v.im * sign);
      }
      for (; k < kept; ++k) re[k] = in[2 * k], im[k] = in[2 * k + 1] * sign;
      im[0] = im[half] = T(0);
      for (k = 0; k + lanes<T> <= half; k += lanes<T>) {
        const vec<T> a = load(re + k), b = load(im + k), d = load_back(re + half - k), e = load_back(im + half - k);
        const vec<T> odd_re = a - d, odd_im = b + e, cos_k = load(c + k), sin_k = load(s + k);
        store(x + k, a + d - (cos_k * odd_im - sin_k * odd_re)), store(y + k, b - e + (cos_k * odd_re + sin_k * odd_im));
      }
      for (; k < half; ++k) {
        const T a = re[k], b = im[k], d = re[half - k], e = im[half - k];
        const T odd_re = a - d, odd_im = b + e;
        // even + i odd exp(2 pi i k / n)
        const T back_re = c[k] * odd_re + s[k] * odd_im, back_im = c[k] * odd_im - s[k] * odd_re;
        x[k] = a + d - back_im, y[k] = b - e + back_re;
      }
      transform_any_row(
          row, own,
          [&](int64_t i, int64_t count) {
            return Pair<T>{load_reals(y + i, count, 1), load_reals(x + i, count, 1)};  // exchanged: the inverse transform
          },
          [&](int64_t k, Pair<T> v, int64_t count) { store_pairs(out + 2 * k, {v.im * scale, v.re * scale}, count, 1); });
    }
  });
  return WRY_OK;
}

// ---- kernels ------------------------------------------------------------------------------------

WRY_INLINE Axis axis_of(const wry_tensor *t, int64_t at) {
  Axis axis = {1, t->shape[at], 1};
  for (int i = 0; i < at; ++i) axis.outer *= t->shape[i];
  for (int i = int(at) + 1; i < t->rank; ++i) axis.inner *= t->shape[i];
  return axis;
}

// What "none", "sqrt" and "n" ask for, over all axes.
WRY_INLINE double scale_of(const wry_call *call, const wry_tensor *t, Ints axes, int attr) {
  double size = 1;
  for (const int64_t axis : axes) size *= double(t->shape[axis]);
  if (attr_equals(call, attr, "none")) return 1.0;
  return attr_equals(call, attr, "sqrt") ? 1.0 / ::sqrt(size) : 1.0 / size;
}

template <typename C>
int fft_c2c(const wry_call *call) {
  using T = typename is_complex<C>::real;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  const bool inverse = !attr_bool(call, 2);
  const T scale = T(scale_of(call, x, axes, 1));
  T *const to = static_cast<T *>(out->data);
  const T *from = static_cast<const T *>(x->data);
  if (axes.length == 0) memcpy(to, from, size_t(out->size) * sizeof(C));
  for (int i = axes.length - 1; i >= 0; --i) {
    const int status = complex_axis(call, "fft_c2c", axis_of(x, axes[i]), inverse, i == 0 ? scale : T(1), from, to);
    if (status != WRY_OK) return status;
    from = to;
  }
  return WRY_OK;
}

template <typename T>
int fft_r2c(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  const bool inverse = !attr_bool(call, 2);
  const T scale = T(scale_of(call, x, axes, 1));
  T *const to = static_cast<T *>(out->data);
  const int last = axes.length - 1;
  int status = real_axis(call, "fft_r2c", axis_of(x, axes[last]), inverse, last == 0 ? scale : T(1), data<T>(x), to);
  for (int i = last - 1; i >= 0 && status == WRY_OK; --i)
    status = complex_axis<T>(call, "fft_r2c", axis_of(out, axes[i]), inverse, i == 0 ? scale : T(1), to, to);
  return status;
}

template <typename C>
int fft_c2r(const wry_call *call) {
  using T = typename is_complex<C>::real;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  const bool forward = attr_bool(call, 2);
  const T scale = T(scale_of(call, out, axes, 1));
  const int last = axes.length - 1;
  const T *from = static_cast<const T *>(x->data);
  if (last > 0) {
    T *const between = workspace<T>(call, 2 * x->size);
    if (!between) return fail_memory(call, "fft_c2r", 2 * x->size * int64_t(sizeof(T)));
    for (int i = last - 1; i >= 0; --i) {
      const int status = complex_axis<T>(call, "fft_c2r", axis_of(x, axes[i]), !forward, T(1), from, between);
      if (status != WRY_OK) return status;
      from = between;
    }
  }
  return back_to_real_axis(call, "fft_c2r", axis_of(out, axes[last]), forward, scale, from, data<T>(out));
}

#include <wherry/kernels/rows/spectral.h>

}  // namespace
WRY_TABLE(spectral, table)

}  // namespace WRY_NAMESPACE
