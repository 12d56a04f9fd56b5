// Discrete Fourier transforms of any length along any axis, complex to complex, real to complex and back.
//
// A block takes some lines into shared memory and transforms them by self-sorting (Stockham) passes of 7, 5, 4, 3 and 2. A length
// that does not fit is the product of up to some that do: each launch is one Stockham pass over memory whose transforms are what a
// block does. Lengths with other factors become a convolution of a power of two (Bluestein, 1970). Neighbouring threads read and write
// neighbouring memory: lines where these lie side by side, else elements. Real lines are read as they are and written by half.
//
// Roots of unity are computed in double from their place on the circle, which integers say exactly.
#include "common.h"

namespace wherry {
namespace cuda {
namespace {

template <typename R>
WRY_GPU complex<R> conjugate(complex<R> a) { return {a.re, -a.im}; }

// ---- roots of unity -------------------------------------------------------------------------------

// exp(-2 pi i at / n) for at in [0, n); Taylor's series of an angle up to pi / 4 ends below 2^-58.
WRY_GPU complex128 root_of(int64_t at, int64_t n) {
  const int64_t octant = 8 * at / n, rest = 8 * at - octant * n;
  const double x = double(octant % 2 ? n - rest : rest) / double(n) * 0.78539816339744830962, z = x * x;
  double sine = 1, cosine = 1;
#pragma unroll
  for (int k = 9; k > 0; --k) {
    sine = 1 - z / double(2 * k * (2 * k + 1)) * sine;
    cosine = 1 - z / double((2 * k - 1) * 2 * k) * cosine;
  }
  sine *= x;
  const bool crossed = octant == 1 || octant == 2 || octant == 5 || octant == 6;
  const double re = crossed ? sine : cosine, im = crossed ? cosine : sine;
  return {octant >= 2 && octant <= 5 ? -re : re, octant >= 4 ? im : -im};
}
// Roots number k * step of n, k < count; or number k * k.
template <typename R>
__global__ void __launch_bounds__(block_size) fill_roots(int64_t n, int64_t count, int64_t step, bool squares, complex<R> *out) {
  for
    WRY_EACH(k, count) {
      const int64_t at = squares ? k * k % n : k * step % n;
      out[k] = complex<R>(root_of(at, n));
    }
}

// What a chirp of n elements is divided by as a convolution of m: its conjugate, also backwards from the end.
template <typename R>
__global__ void __launch_bounds__(block_size) wrap_chirp(int64_t n, int64_t m, const complex<R> *chirp, complex<R> *out) {
  for
    WRY_EACH(i, m) {
      const int64_t at = i < n ? i : m - i;
      out[i] = at < n ? complex<R>(chirp[at].re / R(m), -chirp[at].im / R(m)) : complex<R>(0);
    }
}

// The roots of a long line are products of a coarse and a fine one.
constexpr int64_t fine_roots = 1024;

// ---- one pass -------------------------------------------------------------------------------------

enum Kind : int32_t { COMPLEX,
                      REAL,       // written: the real part
                      HERMITIAN,  // read: the other half follows from conjugates
};
// Where elements of a line come from or go to: memory [outer, size, inner]. Those from `length` on are 0, or dropped.
template <typename R>
struct Side {
  R *data;
  Kind kind;
  bool conjugates, turns_last;  // before the factors, and after
  int64_t size, length;
  const complex<R> *factors;
  R scale;

  WRY_GPU complex<R> finish(complex<R> v, int64_t e) const {
    if (conjugates) v = conjugate(v);
    if (factors) v = v * factors[e];
    return turns_last ? conjugate(v) : v;
  }
  WRY_GPU complex<R> read(int64_t outer, int64_t e, int64_t inner, int64_t inners, int64_t n) const {
    if (e >= length) return complex<R>(0);
    const int64_t at = kind == HERMITIAN && e >= size ? n - e : e;
    const int64_t place = (outer * size + at) * inners + inner;
    if (kind == REAL) return finish(complex<R>(data[place]), e);
    complex<R> v = reinterpret_cast<const complex<R> *>(data)[place];
    if (kind == HERMITIAN) {
      if (e == 0 || 2 * e == n) v.im = 0;  // real in a Hermitian line, whatever stands there
      if (at != e) v = conjugate(v);
    }
    return finish(v, e);
  }
  WRY_GPU void write(int64_t outer, int64_t e, int64_t inner, int64_t inners, complex<R> v) const {
    if (e >= length) return;
    v = finish(v, e);
    const int64_t place = (outer * size + e) * inners + inner;
    if (kind == REAL) data[place] = v.re * scale;
    else reinterpret_cast<complex<R> *>(data)[place] = {v.re * scale, v.im * scale};
  }
};

constexpr int most_lines = 16;
struct Plan {  // of the transforms of a block
  int32_t radix, lines, pitch, count;
  uint64_t factors;  // three bits for each
};
// n = radix * m * s; the transform of elements q + s * (p + m * i), i < radix, becomes q + s * (radix * p + k).
template <typename R>
struct Pass {
  int64_t outer, n, inner, m, s, logical;
  Plan plan;
  const complex<R> *roots;          // of the radix
  const complex128 *coarse, *fine;  // of n, where m > 1
  Side<R> from, to;
};

template <typename R>
WRY_GPU complex<R> turned(complex<R> a) { return {a.im, -a.re}; }  // a * -i

// In place: x[k] = sum_j x[j] exp(-2 pi i j k / r).
template <int r, typename R>
WRY_GPU void small_transform(complex<R> (&x)[r]) {
  if constexpr (r == 2) {
    const complex<R> a = x[0], b = x[1];
    x[0] = a + b, x[1] = a - b;
  } else if constexpr (r == 4) {
    const complex<R> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
  } else {
    // Odd: sums and differences of what lies opposite share their products.
    constexpr int half = r / 2;
    constexpr double turns[3][3][2] = {
        {{-0.5, -0.86602540378443864676}},
        {{0.30901699437494742410, -0.95105651629515357212}, {-0.80901699437494742410, -0.58778525229247312917}},
        {{0.62348980185873353053, -0.78183148246802980871}, {-0.22252093395631440429, -0.97492791218182360702}, {-0.90096886790241912624, -0.43388373911755812048}}};
    complex<R> sum[half], difference[half], total = x[0];
#pragma unroll
    for (int j = 0; j < half; ++j) {
      sum[j] = x[j + 1] + x[r - 1 - j], difference[j] = x[j + 1] - x[r - 1 - j];
      total = total + sum[j];
    }
    complex<R> out[r];
#pragma unroll
    for (int k = 1; k <= half; ++k) {
      complex<R> even = x[0], odd = {R(0), R(0)};
#pragma unroll
      for (int j = 0; j < half; ++j) {
        const int at = (j + 1) * k % r, folded = at > half ? r - at : at;
        const R c = R(turns[half - 1][folded - 1][0]), s = R(at > half ? -turns[half - 1][folded - 1][1] : turns[half - 1][folded - 1][1]);
        even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
        odd = {odd.re - difference[j].im * s, odd.im + difference[j].re * s};
      }
      out[k] = even + odd, out[r - k] = even - odd;
    }
    x[0] = total;
#pragma unroll
    for (int k = 1; k < r; ++k) x[k] = out[k];
  }
}
template <int r, typename R>
WRY_GPU void shared_pass(const Plan &plan, int s, const complex<R> *roots, const complex<R> *from, complex<R> *to) {
  const int m = plan.radix / (r * s), all = plan.radix / r * plan.lines;
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const int line = i % plan.lines, b = i / plan.lines, q = b % s, p = b / s;
    complex<R> x[r];
#pragma unroll
    for (int k = 0; k < r; ++k) x[k] = from[(q + s * (p + m * k)) * plan.pitch + line];
    small_transform<r>(x);
    to[(q + s * r * p) * plan.pitch + line] = x[0];
#pragma unroll
    for (int k = 1; k < r; ++k) to[(q + s * (r * p + k)) * plan.pitch + line] = p ? x[k] * roots[p * k * s] : x[k];
  }
}

template <typename R>
__global__ void __launch_bounds__(block_size, 1) transform(Pass<R> a) {
  WRY_DYNAMIC_SHARED(complex<R>, memory);
  WRY_SHARED(int64_t, outer, most_lines);
  WRY_SHARED(int64_t, inner, most_lines);
  WRY_SHARED(int64_t, column, most_lines);
  WRY_SHARED(int64_t, row, most_lines);
  const Plan &plan = a.plan;
  const int radix = plan.radix, lines = plan.lines, pitch = plan.pitch;
  const int64_t all = a.outer * a.m * a.s * a.inner;
  // Where neighbouring lines are not neighbours in memory, elements are.
  const bool reads_lines = a.inner * a.s * a.m > 1, writes_lines = a.inner * a.s > 1;
  for (int64_t first = int64_t(blockIdx.x) * lines; first < all; first += int64_t(gridDim.x) * lines) {
    const int count = int(all - first < lines ? all - first : lines);
    for (int l = threadIdx.x; l < lines; l += blockDim.x) {
      int64_t rest = l < count ? first + l : first;
      inner[l] = rest % a.inner, rest /= a.inner;
      column[l] = rest % a.s, rest /= a.s;
      row[l] = rest % a.m, outer[l] = rest / a.m;
    }
    __syncthreads();
    complex<R> *x = memory, *y = memory + radix * pitch;
    for (int at = threadIdx.x; at < radix * lines; at += blockDim.x) {
      const int l = reads_lines ? at % lines : at / radix, i = reads_lines ? at / lines : at % radix;
      x[i * pitch + l] = l < count ? a.from.read(outer[l], column[l] + a.s * (row[l] + a.m * i), inner[l], a.inner, a.logical) : complex<R>(0);
    }
    int s = 1;
    for (int pass = 0; pass < plan.count; ++pass) {
      __syncthreads();
      const int factor = int(plan.factors >> 3 * pass & 7);
      switch (factor) {
        case 2: shared_pass<2>(plan, s, a.roots, x, y); break;
        case 3: shared_pass<3>(plan, s, a.roots, x, y); break;
        case 4: shared_pass<4>(plan, s, a.roots, x, y); break;
        case 5: shared_pass<5>(plan, s, a.roots, x, y); break;
        default: shared_pass<7>(plan, s, a.roots, x, y); break;
      }
      s *= factor;
      complex<R> *const kept = x;
      x = y, y = kept;
    }
    __syncthreads();
    for (int at = threadIdx.x; at < radix * lines; at += blockDim.x) {
      const int l = writes_lines ? at % lines : at / radix, k = writes_lines ? at / lines : at % radix;
      if (l >= count) continue;
      complex<R> v = x[k * pitch + l];
      if (a.m > 1 && row[l] && k) {
        const int64_t turn = row[l] * k * a.s;
        const complex128 root = a.coarse[turn / fine_roots] * a.fine[turn % fine_roots];
        v = v * complex<R>(root);
      }
      a.to.write(outer[l], column[l] + a.s * (int64_t(radix) * row[l] + k), inner[l], a.inner, v);
    }
    __syncthreads();
  }
}

// ---- plans ----------------------------------------------------------------------------------------

constexpr int64_t shared_bytes = 46 << 10;
constexpr int most_passes = 16;
// What fits into a block, and what is preferred where several passes share a length: then several lines fit.
template <typename R>
constexpr int64_t longest = sizeof(R) == 4 ? 2048 : 1024;
template <typename R>
constexpr int64_t preferred = sizeof(R) == 4 ? 512 : 256;

bool has_factors(int64_t n) {
  for (const int factor : {2, 3, 5, 7})
    while (n % factor == 0) n /= factor;
  return n == 1;
}
// n as `count` factors of at most `most`, as equal as may be.
bool divide(int64_t n, int count, int64_t most, int64_t *factors) {
  if (count == 1) {
    factors[0] = n;
    return n <= most;
  }
  const double wanted = pow(double(n), 1.0 / count);
  for (int64_t distance = 0; distance <= most; ++distance)
    for (const int sign : {1, -1}) {
      const int64_t factor = int64_t(wanted + 0.5) + sign * distance;
      if (factor < 2 || factor > most || n % factor) continue;
      factors[0] = factor;
      if (divide(n / factor, count - 1, most, factors + 1)) return true;
    }
  return false;
}
template <typename R>
int passes_of(int64_t n, int64_t *factors) {
  if (n <= longest<R>) {
    factors[0] = n;
    return 1;
  }
  for (int count = 2; count < most_passes; ++count)
    if (divide(n, count, preferred<R>, factors)) return count;
  return 0;
}
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

template <typename R>
struct Line {  // a transform of n elements by passes
  int64_t n;
  int count;
  int64_t factors[most_passes];
  complex<R> *roots[most_passes];
  complex128 *coarse, *fine;
};
template <typename R>
int fill(const wry_call *call, int64_t n, int64_t count, int64_t step, bool squares, complex<R> *to) {
  const int threads = threads_for(count);
  return check(call, wry_launch(fill_roots<R>, blocks_for(count, threads), dim3(threads), 0, stream(call), n, count, step, squares, to));
}
template <typename R>
int make_line(const wry_call *call, const char *op, int64_t n, Line<R> *line) {
  *line = {};
  line->n = n;
  line->count = passes_of<R>(n, line->factors);
  for (int i = 0; i < line->count; ++i) {
    for (int j = 0; j < i && !line->roots[i]; ++j)
      if (line->factors[j] == line->factors[i]) line->roots[i] = line->roots[j];
    if (line->roots[i]) continue;
    line->roots[i] = workspace<complex<R>>(call, line->factors[i]);
    if (!line->roots[i]) return fail_memory(call, op, line->factors[i] * int64_t(sizeof(complex<R>)));
    if (const int status = fill(call, line->factors[i], line->factors[i], 1, false, line->roots[i])) return status;
  }
  if (line->count == 1) return WRY_OK;
  const int64_t coarse = n / fine_roots + 1;
  line->fine = workspace<complex128>(call, fine_roots + coarse);
  if (!line->fine) return fail_memory(call, op, (fine_roots + coarse) * 16);
  line->coarse = line->fine + fine_roots;
  if (const int status = fill(call, n, fine_roots, 1, false, line->fine)) return status;
  return fill(call, n, coarse, fine_roots, false, line->coarse);
}

template <typename R>
Side<R> plain(R *data, int64_t size) { return {data, COMPLEX, false, false, size, size, nullptr, R(1)}; }

// Runs the passes. `between` are two buffers [outer, n, inner], of which several passes need the first, or both. Of a transform by
// several launches the last goes to `to`, which may be where `from` is.
template <typename R>
int run(const wry_call *call, const Line<R> &line, int64_t outer, int64_t inner, int64_t logical, Side<R> from, const Side<R> &to, R *const (&between)[2]) {
  int64_t s = 1;
  for (int i = 0; i < line.count; ++i) {
    const int64_t radix = line.factors[i], m = line.n / (radix * s), lines = outer * m * s * inner;
    const bool last = i + 1 == line.count;
    Plan plan = {int32_t(radix), 1, 1, 0, 0};
    int64_t rest = radix;
    for (const int factor : {7, 5, 3, 4, 2})
      for (; rest % factor == 0; rest /= factor) plan.factors |= uint64_t(factor) << 3 * plan.count++;
    int64_t wanted = most_lines;  // a power of two, so that lines side by side fill whole sectors
    while (wanted > 1 && (wanted > lines || wanted * radix > 4096)) wanted /= 2;
    for (int64_t many = wanted; many > 1; many /= 2) {
      const int64_t pitch = many | 1;  // odd: no two rows begin at the same bank
      if (2 * radix * pitch * int64_t(sizeof(complex<R>)) > shared_bytes) continue;
      plan.lines = int32_t(many), plan.pitch = int32_t(pitch);
      break;
    }
    Pass<R> pass = {outer, line.n, inner, m, s, logical, plan, line.roots[i], line.coarse, line.fine, from, last ? to : plain(between[i % 2], line.n)};
    const int64_t blocks = (lines + plan.lines - 1) / plan.lines;
    WRY_TRY(wry_launch(transform<R>, dim3(some_blocks(blocks)), dim3(threads_for(radix * plan.lines / 4)),
                       size_t(2 * radix * plan.pitch) * sizeof(complex<R>), stream(call), pass));
    from = plain(between[i % 2], line.n);
    s *= radix;
  }
  return WRY_OK;
}

struct Axis {
  int64_t outer, n, inner;
};
Axis axis_of(const wry_tensor *t, int64_t at) {
  Axis axis = {1, t->shape[at], 1};
  for (int i = 0; i < at; ++i) axis.outer *= t->shape[i];
  for (int i = int(at) + 1; i < t->rank; ++i) axis.inner *= t->shape[i];
  return axis;
}

// Lines of `axis`, read and written by its sides; both may be the same memory.
template <typename R>
int transform_axis(const wry_call *call, const char *op, const Axis &axis, Side<R> from, Side<R> to) {
  const int64_t n = axis.n, batch = axis.outer * axis.inner;
  Line<R> line;
  R *between[2] = {nullptr, nullptr};
  const auto buffers = [&](int64_t length, int count) {
    for (int i = 0; i < count; ++i)
      if (!(between[i] = workspace<R>(call, 2 * batch * length))) return fail_memory(call, op, 2 * batch * length * int64_t(sizeof(R)));
    return int(WRY_OK);
  };
  if (has_factors(n)) {
    if (const int status = make_line(call, op, n, &line)) return status;
    if (const int status = buffers(n, int(least(line.count - 1, 2)))) return status;
    return run(call, line, axis.outer, axis.inner, n, from, to, between);
  }
  // A product of chirps: the transform is a convolution with the conjugate chirp, of a length that has factors.
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  if (const int status = make_line(call, op, m, &line)) return status;
  complex<R> *chirp = workspace<complex<R>>(call, n + 2 * m);
  if (!chirp) return fail_memory(call, op, (n + 2 * m) * int64_t(sizeof(complex<R>)));
  if (const int status = fill(call, 2 * n, n, 1, true, chirp)) return status;
  if (const int status = buffers(m, 2)) return status;
  if (const int status = buffers(m, 2)) return status;
  complex<R> *const response = chirp + n, *const wrapped = response + m;
  const int threads = threads_for(m);
  WRY_TRY(wry_launch(wrap_chirp<R>, blocks_for(m, threads), dim3(threads), 0, stream(call), n, m, chirp, wrapped));
  if (const int status = run(call, line, 1, 1, m, plain(&wrapped->re, m), plain(&response->re, m), between)) return status;
  // The forward passes end in one of the buffers, from which the backward passes begin.
  R *const middle = between[(line.count - 1) % 2], *const turned[2] = {between[line.count % 2], middle};
  from.factors = chirp, from.length = n;
  if (const int status = run(call, line, axis.outer, axis.inner, n, from, plain(middle, m), between)) return status;
  Side<R> back = plain(middle, m);
  back.factors = response, back.turns_last = true;
  to.factors = chirp, to.turns_last = to.conjugates, to.conjugates = true;
  return run(call, line, axis.outer, axis.inner, n, back, to, turned);
}

// ---- kernels --------------------------------------------------------------------------------------

// What "none", "sqrt" and "n" ask for, over all axes.
double scale_of(const wry_call *call, const wry_tensor *t, Ints axes) {
  double size = 1;
  for (const int64_t axis : axes) size *= double(t->shape[axis]);
  if (attr_equals(call, 1, "none")) return 1.0;
  return attr_equals(call, 1, "sqrt") ? 1.0 / sqrt(size) : 1.0 / size;
}

// Axes axes[count - 1] to axes[0] of t [...], the first from `from`; the last of them is scaled.
template <typename R>
int complex_axes(const wry_call *call, const char *op, const wry_tensor *t, Ints axes, int count, bool inverse, double scale, R *from, R *to) {
  for (int i = count - 1; i >= 0; --i) {
    const Axis axis = axis_of(t, axes[i]);
    Side<R> in = plain(from, axis.n), out = plain(to, axis.n);
    in.conjugates = out.conjugates = inverse;
    if (i == 0) out.scale = R(scale);
    if (const int status = transform_axis(call, op, axis, in, out)) return status;
    from = to;
  }
  return WRY_OK;
}
template <typename C>
int fft_c2c(const wry_call *call) {
  using R = typename is_complex<C>::real;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  if (axes.length == 0) return check(call, cudaMemcpyAsync(out->data, x->data, size_t(x->size) * sizeof(C), cudaMemcpyDeviceToDevice, stream(call)));
  return complex_axes(call, "fft_c2c", x, axes, axes.length, !attr_bool(call, 2), scale_of(call, x, axes), data<R>(x), data<R>(out));
}
template <typename R>
int fft_r2c(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  const bool inverse = !attr_bool(call, 2);
  const int last = axes.length - 1;
  const double scale = scale_of(call, x, axes);
  const Axis axis = axis_of(x, axes[last]);
  const int64_t kept = axis.n / 2 + 1;
  const Side<R> from = {data<R>(x), REAL, false, false, axis.n, axis.n, nullptr, R(1)};
  const Side<R> to = {data<R>(out), COMPLEX, inverse, false, kept, kept, nullptr, last == 0 ? R(scale) : R(1)};
  if (const int status = transform_axis(call, "fft_r2c", axis, from, to)) return status;
  return complex_axes(call, "fft_r2c", out, axes, last, inverse, scale, data<R>(out), data<R>(out));
}
template <typename C>
int fft_c2r(const wry_call *call) {
  using R = typename is_complex<C>::real;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Ints axes = attr_ints(call, 0);
  const bool forward = attr_bool(call, 2);
  const int last = axes.length - 1;
  R *from = data<R>(x);
  if (last > 0) {
    R *const between = workspace<R>(call, 2 * x->size);
    if (!between) return fail_memory(call, "fft_c2r", 2 * x->size * int64_t(sizeof(R)));
    if (const int status = complex_axes(call, "fft_c2r", x, axes, last, !forward, 1.0, from, between)) return status;
    from = between;
  }
  const Axis axis = axis_of(out, axes[last]);
  const Side<R> in = {from, HERMITIAN, !forward, false, axis.n / 2 + 1, axis.n, nullptr, R(1)};
  const Side<R> to = {data<R>(out), REAL, false, false, axis.n, axis.n, nullptr, R(scale_of(call, out, axes))};
  return transform_axis(call, "fft_c2r", axis, in, to);
}

#include <wherry/kernels/rows/spectral.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(spectral, wherry::cuda::table)
