// The walk that all reductions share: which elements meet in which output, in which order, and on
// which threads. What is done with them is a Reducer, a handful of function pointers.
//
// An output is reduced from rows (the innermost axis in memory is reduced: run along it) or many
// outputs are reduced together as columns (the innermost axis is kept: vectors lie along it).
//
// Threads take whole outputs where there are enough of them. Otherwise the longest reduced axis is
// cut into segments, whose partial results are merged in order. Both cuts follow from the shape
// alone, so the result does not depend on the number of threads.
#ifndef WHERRY_OPS_CPU_REDUCE_H
#define WHERRY_OPS_CPU_REDUCE_H

#include "common.h"
#include "copy.h"
#include "parallel.h"
#include "rows.h"

namespace WRY_NAMESPACE {

// Sums of floats have two levels: vectors of the element's own precision over a block of elements,
// and a total in double of the blocks. So a sum of 10^7 ones is exact (a float total would stop
// growing at 2^24) and errors grow with the size of a block, not with that of the tensor.
inline constexpr int64_t reduce_block = WRY_VECTOR_BYTES >= 32 ? 8192 : 4096;  // elements of a row: 128 in each lane of 8 vectors
inline constexpr int64_t reduce_rows = 512;                                    // rows above one column
inline constexpr int64_t reduce_columns = 1024;

struct Reducer {
  int64_t item, accumulator, result;  // bytes of an element of x, of the running value, of the output
  void (*fill)(void *acc, int64_t n);
  // Reduces n elements, `step` apart, into one accumulator. `parameter` belongs to the output.
  void (*row)(const void *x, int64_t step, int64_t n, const void *parameter, void *acc);
  // Reduces `rows` rows of n elements into n accumulators, n <= reduce_columns. Steps in elements.
  void (*columns)(const void *x, int64_t row_step, int64_t rows, int64_t step, int64_t n, const void *parameter,
                  void *acc);
  void (*merge)(void *acc, const void *other, int64_t n);
  void (*finish)(const void *acc, void *out, int64_t out_step, int64_t n, double divisor);
  int64_t parameter;  // bytes of a parameter, 0 without
};

// ---- vectors of floats --------------------------------------------------------------------------

// P gives: T, A = arithmetic_t<T>, W (the total); vectors start(), lift(x, parameter),
// combine(a, b), and for the total W start_total(), fold(total, value).
template <typename P>
struct VectorReducer {
  using T = typename P::T;
  using A = arithmetic_t<T>;
  using W = typename P::W;
  using V = vec<T>;
  static constexpr int N = lanes<T>;

  static WRY_INLINE V partial(const T *x, int64_t n, V parameter) {
    return select<V>(first_lanes<V>(n), P::lift(load_partial(x, n), parameter), P::start());
  }

  static W contiguous(const T *x, int64_t n, V parameter, W total) {
    while (n > 0) {
      const int64_t block = min_of(n, reduce_block);
      V a = P::start();
      int64_t i = 0;
      if (block >= 8 * N) {
        V b = P::start(), c = P::start(), d = P::start();
        for (; i + 8 * N <= block; i += 8 * N) {
          a = P::combine(a, P::combine(P::lift(load(x + i), parameter), P::lift(load(x + i + N), parameter)));
          b = P::combine(b, P::combine(P::lift(load(x + i + 2 * N), parameter), P::lift(load(x + i + 3 * N), parameter)));
          c = P::combine(c, P::combine(P::lift(load(x + i + 4 * N), parameter), P::lift(load(x + i + 5 * N), parameter)));
          d = P::combine(d, P::combine(P::lift(load(x + i + 6 * N), parameter), P::lift(load(x + i + 7 * N), parameter)));
        }
        a = P::combine(P::combine(a, b), P::combine(c, d));
      }
      for (; i + N <= block; i += N) a = P::combine(a, P::lift(load(x + i), parameter));
      if (i < block) a = P::combine(a, partial(x + i, block - i, parameter));
      total = P::fold(total, reduce_lanes<N>(a, [](auto p, auto q) { return P::combine(p, q); }));
      x += block;
      n -= block;
    }
    return total;
  }

  static void row(const void *x_, int64_t step, int64_t n, const void *parameter, void *acc) {
    const T *x = (const T *)x_;
    const V p = splat<V>(parameter ? *(const A *)parameter : A(0));
    W total = *(W *)acc;
    if (step == 1) {
      total = contiguous(x, n, p, total);
    } else {
      T gathered[256];
      for (int64_t i = 0; i < n; i += 256) {
        const int64_t count = min_of<int64_t>(256, n - i);
        for (int64_t k = 0; k < count; ++k) gathered[k] = x[(i + k) * step];
        total = contiguous(gathered, count, p, total);
      }
    }
    *(W *)acc = total;
  }

  static void columns(const void *x_, int64_t row_step, int64_t rows, int64_t step, int64_t n, const void *parameter,
                      void *acc_) {
    const T *x = (const T *)x_;
    const A *p = (const A *)parameter;
    W *acc = (W *)acc_;
    if (step != 1) {
      for (int64_t j = 0; j < n; ++j) row(x + j * step, row_step, rows, p ? p + j : nullptr, acc + j);
      return;
    }
    A level[reduce_columns];
    for (int64_t r0 = 0; r0 < rows; r0 += reduce_rows) {
      const int64_t r1 = min_of(rows, r0 + reduce_rows);
      int64_t r = r0;
      bool first = true;
      for (; r + 8 <= r1; r += 8, first = false) {
        const T *at = x + r * row_step;
        int64_t j = 0;
        for (; j + N <= n; j += N) {
          const V q = p ? load(p + j) : V{};
          V v[8];
          for (int k = 0; k < 8; ++k) v[k] = P::lift(load(at + k * row_step + j), q);
          const V t = P::combine(P::combine(P::combine(v[0], v[1]), P::combine(v[2], v[3])),
                                 P::combine(P::combine(v[4], v[5]), P::combine(v[6], v[7])));
          store<A>(level + j, first ? t : P::combine(load<A>(level + j), t));
        }
        if (j < n) {
          const int64_t rest = n - j;
          const V q = p ? load_partial(p + j, rest) : V{};
          V t = P::lift(load_partial(at + j, rest), q);
          for (int k = 1; k < 8; ++k) t = P::combine(t, P::lift(load_partial(at + k * row_step + j, rest), q));
          store_partial<A>(level + j, first ? t : P::combine(load_partial<A>(level + j, rest), t), rest);
        }
      }
      for (; r < r1; ++r, first = false) {
        const T *at = x + r * row_step;
        int64_t j = 0;
        for (; j + N <= n; j += N) {
          const V t = P::lift(load(at + j), p ? load(p + j) : V{});
          store<A>(level + j, first ? t : P::combine(load<A>(level + j), t));
        }
        if (j < n) {
          const int64_t rest = n - j;
          const V t = P::lift(load_partial(at + j, rest), p ? load_partial(p + j, rest) : V{});
          store_partial<A>(level + j, first ? t : P::combine(load_partial<A>(level + j, rest), t), rest);
        }
      }
      for (int64_t j = 0; j < n; ++j) acc[j] = P::fold(acc[j], level[j]);
    }
  }

  static void fill(void *acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) ((W *)acc)[i] = P::start_total();
  }
  static void merge(void *acc, const void *other, int64_t n) {
    for (int64_t i = 0; i < n; ++i) ((W *)acc)[i] = P::fold(((W *)acc)[i], ((const W *)other)[i]);
  }
  template <typename Out>
  static void finish(const void *acc, void *out, int64_t out_step, int64_t n, double divisor) {
    for (int64_t i = 0; i < n; ++i) {
      const W total = ((const W *)acc)[i];
      ((Out *)out)[i * out_step] = Out(arithmetic_t<Out>(divisor == 1 ? total : W(total / divisor)));
    }
  }

  template <typename Out = T>
  static Reducer reducer(bool parameter = false) {
    return {int64_t(sizeof(T)), int64_t(sizeof(W)), int64_t(sizeof(Out)), fill, row, columns, merge, finish<Out>,
            parameter ? int64_t(sizeof(A)) : 0};
  }
};

// ---- everything else ----------------------------------------------------------------------------

// P gives: T, W, Out; W start(), combine(a, b), lift(x), and Out finish(total, divisor). Loops that the
// compiler vectorises where it can.
template <typename P>
struct PlainReducer {
  using T = typename P::T;
  using W = typename P::W;
  using Out = typename P::Out;

  static void fill(void *acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) ((W *)acc)[i] = P::start();
  }
  static void row(const void *x_, int64_t step, int64_t n, const void *, void *acc) {
    const T *x = (const T *)x_;
    W total = *(W *)acc;
    if (step == 1) {
      for (int64_t i = 0; i < n; ++i) total = P::combine(total, P::lift(x[i]));
    } else {
      for (int64_t i = 0; i < n; ++i) total = P::combine(total, P::lift(x[i * step]));
    }
    *(W *)acc = total;
  }
  static void columns(const void *x_, int64_t row_step, int64_t rows, int64_t step, int64_t n, const void *,
                      void *acc_) {
    W *WRY_RESTRICT acc = (W *)acc_;
    for (int64_t r = 0; r < rows; ++r) {
      const T *WRY_RESTRICT x = (const T *)x_ + r * row_step;
      if (step == 1) {
        for (int64_t j = 0; j < n; ++j) acc[j] = P::combine(acc[j], P::lift(x[j]));
      } else {
        for (int64_t j = 0; j < n; ++j) acc[j] = P::combine(acc[j], P::lift(x[j * step]));
      }
    }
  }
  static void merge(void *acc, const void *other, int64_t n) {
    for (int64_t i = 0; i < n; ++i) ((W *)acc)[i] = P::combine(((W *)acc)[i], ((const W *)other)[i]);
  }
  static void finish(const void *acc, void *out, int64_t out_step, int64_t n, double divisor) {
    for (int64_t i = 0; i < n; ++i) ((Out *)out)[i * out_step] = P::finish(((const W *)acc)[i], divisor);
  }
  static Reducer reducer() {
    return {int64_t(sizeof(T)), int64_t(sizeof(W)), int64_t(sizeof(Out)), fill, row, columns, merge, finish, 0};
  }
};

// ---- the walk -----------------------------------------------------------------------------------

// Strides of x in bytes, those of the output in elements.
struct ReducePlan {
  int kept, reduced;  // how many axes beside the inner one
  int64_t kept_shape[WRY_MAX_RANK], kept_x[WRY_MAX_RANK], kept_out[WRY_MAX_RANK];
  int64_t reduced_shape[WRY_MAX_RANK], reduced_x[WRY_MAX_RANK];
  bool by_columns;
  int64_t inner, inner_x, inner_out;
  int64_t outputs;  // all of them
  int64_t depth;    // elements that meet in one output
};

static inline ReducePlan plan_reduction(const wry_tensor *x, const int64_t *axes, int n_axes) {
  ReducePlan p;
  const int64_t item = item_size(x);
  bool is_reduced[WRY_MAX_RANK] = {};
  for (int i = 0; i < n_axes; ++i) is_reduced[axes[i]] = true;
  p.kept = p.reduced = 0;
  p.outputs = p.depth = 1;
  // Right to left, so that the output's stride of each kept axis is known when it is met. Axes
  // come out innermost first; neighbours that lie after one another are merged on the way.
  for (int axis = x->rank - 1; axis >= 0; --axis) {
    const int64_t n = x->shape[axis], step = x->strides[axis] * item;
    if (is_reduced[axis]) {
      p.depth *= n;
      if (n == 1) continue;
      const int last = p.reduced - 1;
      if (last >= 0 && p.reduced_x[last] * p.reduced_shape[last] == step) {
        p.reduced_shape[last] *= n;
      } else {
        p.reduced_shape[p.reduced] = n;
        p.reduced_x[p.reduced++] = step;
      }
    } else {
      const int64_t out = p.outputs;
      p.outputs *= n;
      if (n == 1) continue;
      const int last = p.kept - 1;
      if (last >= 0 && p.kept_x[last] * p.kept_shape[last] == step) {
        p.kept_shape[last] *= n;
      } else {
        p.kept_shape[p.kept] = n;
        p.kept_out[p.kept] = out;
        p.kept_x[p.kept++] = step;
      }
    }
  }
  // Reduced axes by their stride, innermost first: their order means nothing.
  for (int i = 1; i < p.reduced; ++i)
    for (int j = i; j > 0; --j) {
      const int64_t a = p.reduced_x[j - 1], b = p.reduced_x[j];
      if ((a < 0 ? -a : a) <= (b < 0 ? -b : b)) break;
      const int64_t n = p.reduced_shape[j];
      p.reduced_x[j] = a, p.reduced_x[j - 1] = b;
      p.reduced_shape[j] = p.reduced_shape[j - 1], p.reduced_shape[j - 1] = n;
    }
  // The inner axis: the reduced one, unless a kept one lies closer in memory.
  int best = -1;
  int64_t closest = p.reduced == 0 ? INT64_MAX : (p.reduced_x[0] < 0 ? -p.reduced_x[0] : p.reduced_x[0]);
  for (int i = 0; i < p.kept; ++i) {
    const int64_t step = p.kept_x[i] < 0 ? -p.kept_x[i] : p.kept_x[i];
    if (step != 0 && step < closest) best = i, closest = step;
  }
  if (best < 0 && p.reduced == 0 && p.kept > 0) best = 0;
  p.by_columns = best >= 0;
  if (p.by_columns) {
    p.inner = p.kept_shape[best], p.inner_x = p.kept_x[best], p.inner_out = p.kept_out[best];
    --p.kept;
    for (int i = best; i < p.kept; ++i)
      p.kept_shape[i] = p.kept_shape[i + 1], p.kept_x[i] = p.kept_x[i + 1], p.kept_out[i] = p.kept_out[i + 1];
  } else if (p.reduced > 0) {
    p.inner = p.reduced_shape[0], p.inner_x = p.reduced_x[0], p.inner_out = 0;
    --p.reduced;
    for (int i = 0; i < p.reduced; ++i)
      p.reduced_shape[i] = p.reduced_shape[i + 1], p.reduced_x[i] = p.reduced_x[i + 1];
  } else {
    p.inner = 1, p.inner_x = item, p.inner_out = 0;
  }
  return p;
}

// f(offset) for each position of the reduced axes from `first` on, in bytes.
template <typename F>
WRY_INLINE void each_reduced(const ReducePlan &p, int first, F &&f) {
  const int rank = p.reduced - first;
  if (rank <= 0) return f(int64_t(0));
  const int64_t *shape = p.reduced_shape + first, *step = p.reduced_x + first;
  int64_t index[WRY_MAX_RANK] = {};
  int64_t offset = 0;
  for (;;) {
    f(offset);
    int axis = 0;
    for (; axis < rank; ++axis) {
      offset += step[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= step[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis == rank) return;
  }
}

// Reduces the outputs of units [begin, end): a unit is an output, or a strip of columns. Results
// go to `out`, or unfinished to `partial`.
static inline void reduce_units(const ReducePlan &p, const Reducer &r, const char *x, const char *parameter,
                                char *out, char *partial, double divisor, int64_t begin, int64_t end) {
  const int64_t strips = p.by_columns ? (p.inner + reduce_columns - 1) / reduce_columns : 1;
  constexpr int64_t group = 64;
  alignas(64) char local[reduce_columns * 16];
  for (int64_t unit = begin; unit < end;) {
    // Where the unit lies.
    int64_t rest = unit / strips, from = 0, to = 0;
    for (int i = 0; i < p.kept; ++i) {
      const int64_t at = rest % p.kept_shape[i];
      rest /= p.kept_shape[i];
      from += at * p.kept_x[i];
      to += at * p.kept_out[i];
    }
    if (p.by_columns) {
      const int64_t first = unit % strips * reduce_columns, n = min_of(reduce_columns, p.inner - first);
      from += first * p.inner_x;
      to += first * p.inner_out;
      const char *strip_parameter = parameter ? parameter + to * r.parameter : nullptr;
      double gathered[reduce_columns];
      if (parameter && p.inner_out != 1) {
        for (int64_t j = 0; j < n; ++j)
          memcpy((char *)gathered + j * r.parameter, strip_parameter + j * p.inner_out * r.parameter,
                 size_t(r.parameter));
        strip_parameter = (const char *)gathered;
      }
      r.fill(local, n);
      const int64_t rows = p.reduced ? p.reduced_shape[0] : 1;
      const int64_t row_step = p.reduced ? p.reduced_x[0] / r.item : 0;
      each_reduced(p, 1, [&](int64_t offset) {
        r.columns(x + from + offset, row_step, rows, p.inner_x / r.item, n, strip_parameter, local);
      });
      if (partial) {
        for (int64_t j = 0; j < n; ++j)
          memcpy(partial + (to + j * p.inner_out) * r.accumulator, local + j * r.accumulator, size_t(r.accumulator));
      } else {
        r.finish(local, out + to * r.result, p.inner_out, n, divisor);
      }
      ++unit;
    } else {
      // Without columns the units are the outputs in order, so they are finished in groups; within
      // a group the innermost kept axis is stepped along without a division for each output.
      const int64_t run = p.kept ? p.kept_shape[0] - unit % p.kept_shape[0] : 1;
      const int64_t n = min_of(min_of(run, end - unit), group);
      r.fill(local, n);
      for (int64_t k = 0; k < n; ++k) {
        const char *at = x + from + (p.kept ? k * p.kept_x[0] : 0);
        const char *own = parameter ? parameter + (unit + k) * r.parameter : nullptr;
        char *acc = local + k * r.accumulator;
        if (p.reduced == 0) {
          r.row(at, p.inner_x / r.item, p.inner, own, acc);
        } else {
          each_reduced(p, 0, [&](int64_t offset) { r.row(at + offset, p.inner_x / r.item, p.inner, own, acc); });
        }
      }
      if (partial) {
        memcpy(partial + unit * r.accumulator, local, size_t(n * r.accumulator));
      } else {
        r.finish(local, out + unit * r.result, 1, n, divisor);
      }
      unit += n;
    }
  }
}

// A few contiguous elements, reduced along neighbouring axes: making a plan would take longer than
// the work. False where that is not the case. The arithmetic is that of reduce_units.
static inline bool reduce_few(const wry_tensor *x, const int64_t *axes, int n_axes, const Reducer &r,
                              const void *parameter, void *out, double divisor) {
  constexpr int64_t few = 256;
  if (x->size > few || x->size == 0 || n_axes == 0 || axes[n_axes - 1] - axes[0] != n_axes - 1 || !is_contiguous(x))
    return false;
  int64_t outer = 1, n = 1, inner = 1;
  for (int i = 0; i < axes[0]; ++i) outer *= x->shape[i];
  for (int i = int(axes[0]); i <= axes[n_axes - 1]; ++i) n *= x->shape[i];
  for (int i = int(axes[n_axes - 1]) + 1; i < x->rank; ++i) inner *= x->shape[i];
  alignas(64) char acc[few * 16];
  r.fill(acc, outer * inner);
  for (int64_t o = 0; o < outer; ++o) {
    const char *from = data<char>(x) + o * n * inner * r.item;
    const char *own = parameter ? (const char *)parameter + o * inner * r.parameter : nullptr;
    char *to = acc + o * inner * r.accumulator;
    if (inner == 1) r.row(from, 1, n, own, to);
    else r.columns(from, inner, n, 1, inner, own, to);
  }
  r.finish(acc, out, 1, outer * inner, divisor);
  return true;
}

static inline int reduce(const wry_call *call, const char *op, const wry_tensor *x, const int64_t *axes, int n_axes,
                         const Reducer &r, const void *parameter_, void *out_, double divisor = 1);

// Where x is repeated along kept axes (the cotangent of a sum is), so are the outputs: one of them is reduced, then
// repeated. -1 where that is not so.
static inline int reduce_repeated(const wry_call *call, const char *op, const wry_tensor *x, const int64_t *axes, int n_axes,
                                  const Reducer &r, void *out, double divisor) {
  View once(x), target(x);
  bool repeated = false;
  for (int i = 0; i < n_axes; ++i) target.shape[axes[i]] = 1;
  for (int i = 0; i < x->rank; ++i) {
    if (target.shape[i] <= 1 || x->strides[i] != 0) continue;
    once.shape[i] = 1;
    repeated = true;
  }
  if (!repeated || x->size == 0) return -1;
  View result(x);
  int64_t pace = 1, full = 1;
  for (int i = x->rank - 1; i >= 0; --i) {
    result.shape[i] = min_of(target.shape[i], once.shape[i]);
    result.strides[i] = pace, target.strides[i] = full;
    pace *= result.shape[i], full *= target.shape[i];
  }
  View *const views[] = {&once, &result, &target};
  for (View *view : views) view->measure();
  target.tensor.data = out;
  result.tensor.data = workspace<char>(call, pace * r.result);
  if (!result.tensor.data) return fail_memory(call, op, pace * r.result);
  const int status = reduce(call, op, &once.tensor, axes, n_axes, r, nullptr, result.tensor.data, divisor);
  if (status != WRY_OK) return status;
  // Only the size of an element matters to a copy.
  const int32_t word = r.result == 1 ? WRY_UINT8 : r.result == 2 ? WRY_INT16
                                               : r.result == 4   ? WRY_INT32
                                               : r.result == 8   ? WRY_INT64
                                                                 : WRY_COMPLEX128;
  result.tensor.dtype = target.tensor.dtype = word;
  copy_strided(call, &target.tensor, &result.tensor);
  return WRY_OK;
}

// Reduces `axes` of x into the contiguous `out`, dividing by `divisor` at the end (1: not at all).
// `parameter` holds a value for every output where the reducer takes one.
static inline int reduce(const wry_call *call, const char *op, const wry_tensor *x, const int64_t *axes, int n_axes,
                         const Reducer &r, const void *parameter_, void *out_, double divisor) {
  if (reduce_few(x, axes, n_axes, r, parameter_, out_, divisor)) return WRY_OK;
  if (!parameter_) {
    const int status = reduce_repeated(call, op, x, axes, n_axes, r, out_, divisor);
    if (status >= 0) return status;
  }
  ReducePlan p = plan_reduction(x, axes, n_axes);
  const char *from = data<char>(x), *parameter = (const char *)parameter_;
  char *out = (char *)out_;
  if (p.outputs == 0) return WRY_OK;
  if (p.depth == 0) {
    alignas(64) char local[64 * 16];
    for (int64_t i = 0; i < p.outputs; i += 64) {
      const int64_t n = min_of<int64_t>(64, p.outputs - i);
      r.fill(local, n);
      r.finish(local, out + i * r.result, 1, n, divisor);
    }
    return WRY_OK;
  }
  const int64_t total = p.outputs * p.depth;
  const int64_t strips = p.by_columns ? (p.inner + reduce_columns - 1) / reduce_columns : 1;
  const int64_t units = p.by_columns ? p.outputs / p.inner * strips : p.outputs;
  constexpr int64_t piece = 32768;  // elements worth a thread's while
  if (units >= 32 || total < 2 * piece) {
    parallel_for(call, units, max_of<int64_t>(1, piece / max_of<int64_t>(1, total / units)),
                 [&](int64_t begin, int64_t end) {
                   reduce_units(p, r, from, parameter, out, nullptr, divisor, begin, end);
                 });
    return WRY_OK;
  }
  // Few outputs of many elements each: cut the longest reduced axis, but leave rows whole where another is long enough.
  int64_t *length = nullptr, step = 0;
  for (int i = 0; i < p.reduced; ++i)
    if (!length || p.reduced_shape[i] > *length) length = &p.reduced_shape[i], step = p.reduced_x[i];
  if (!p.by_columns && (!length || (*length < 32 && p.inner > *length))) length = &p.inner, step = p.inner_x;
  int64_t segments = min_of<int64_t>(32, total / piece);
  if (length) segments = min_of(segments, *length);
  // The partial results are written and read once more: keep them small beside x, but leave work for some threads.
  segments = min_of(segments, max_of(max_of<int64_t>(1, min_of<int64_t>(4, p.depth / 8)), p.depth / 128));
  char *partial = length && segments > 1 ? workspace<char>(call, segments * p.outputs * r.accumulator) : nullptr;
  if (!length || segments <= 1) {
    reduce_units(p, r, from, parameter, out, nullptr, divisor, 0, units);
    return WRY_OK;
  }
  if (!partial) return fail_memory(call, op, segments * p.outputs * r.accumulator);
  const int64_t all = *length;
  // Whole cache lines to a segment where the axis is long.
  const int64_t quantum = all / segments >= 1024 ? 64 : 1;
  const int64_t share = ((all + segments - 1) / segments + quantum - 1) / quantum * quantum;
  parallel_for(call, segments, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const int64_t first = min_of(all, s * share), count = min_of(share, all - first);
      char *mine = partial + s * p.outputs * r.accumulator;
      if (count == 0) {
        r.fill(mine, p.outputs);
        continue;
      }
      ReducePlan q = p;
      *(int64_t *)((char *)&q + ((char *)length - (char *)&p)) = count;
      reduce_units(q, r, from + first * step, parameter, nullptr, mine, 1, 0, units);
    }
  });
  for (int64_t s = 1; s < segments; ++s)
    r.merge(partial, partial + s * p.outputs * r.accumulator, p.outputs);
  r.finish(partial, out, 1, p.outputs, divisor);
  return WRY_OK;
}

// The axes of a call whose first attribute is `axes`.
WRY_INLINE int reduce_call(const wry_call *call, const char *op, const Reducer &r, double divisor = 1) {
  const Ints axes = attr_ints(call, 0);
  return reduce(call, op, input(call, 0), axes.data, axes.length, r, nullptr, output(call, 0)->data, divisor);
}

WRY_INLINE int64_t reduced_count(const wry_tensor *x, Ints axes) {
  int64_t n = 1;
  for (int64_t axis : axes) n *= x->shape[axis];
  return n;
}

// ---- the sums that several families need --------------------------------------------------------

template <typename T_>
struct SumOf {
  using T = T_;
  using W = double;
  using V = vec<T>;
  static WRY_INLINE V start() { return V{}; }
  static WRY_INLINE V lift(V x, V) { return x; }
  template <typename X>
  static WRY_INLINE X combine(X a, X b) { return a + b; }
  static WRY_INLINE W start_total() { return 0; }
  template <typename X>
  static WRY_INLINE W fold(W total, X value) { return total + W(value); }
};

template <typename T>
struct SquaredDeviations : SumOf<T> {
  static WRY_INLINE vec<T> lift(vec<T> x, vec<T> mean) { return (x - mean) * (x - mean); }
};

}  // namespace WRY_NAMESPACE

#endif
