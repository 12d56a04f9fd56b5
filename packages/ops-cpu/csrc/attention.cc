// Scaled dot-product attention and its gradient, a block of queries against a block of keys at a
// time, so that the [Tq, Tk] matrix of scores never exists: Dao et al., "FlashAttention" (2022), with
// the running maximum of Milakov & Gimelshein, "Online normalizer calculation for softmax" (2018).
//
// Inputs are contiguous, [batch, heads, time, width]; the mask has any rank up to 4 and sizes 1 or
// full. Threads share out (batch, head) pairs, in the forward pass also parts of the queries; the
// order of the arithmetic inside an output does not depend on that. 16-bit floats are widened head
// by head. Weights may be dropped; what decided is kept, a byte for each weight. Sequences may have lengths
// of their own: what lies after them is not read, and the work goes by them. Not done here: heads that share
// keys, a window.
#include "gemm.h"
#include "lanemath.h"
#include "parallel.h"
#include "philox.h"
#include "rows.h"

namespace WRY_NAMESPACE {
namespace {

constexpr int64_t query_block = 64, key_block = 128;  // their scores in float are 32 KiB

WRY_INLINE int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

struct Sizes {
  int64_t batch, heads, queries, keys, width, value_width;
};

Sizes sizes_of(const wry_tensor *q, const wry_tensor *v) {
  return {q->shape[0], q->shape[1], q->shape[2], v->shape[2], q->shape[3], v->shape[3]};
}

// What may be looked at: the mask of a call, with stride 0 along its missing axes.
struct Mask {
  const char *data = nullptr;
  int32_t dtype = 0;
  int64_t strides[4] = {};
  bool causal = false;
  int64_t offset = 0;  // Tk - Tq: query i sees keys up to i + offset
};

Mask mask_of(const wry_tensor *t, bool causal, int64_t queries, int64_t keys) {
  Mask m;
  m.causal = causal;
  m.offset = keys - queries;
  if (!t) return m;
  m.data = data<char>(t);
  m.dtype = t->dtype;
  for (int i = 0; i < t->rank; ++i)
    m.strides[4 - t->rank + i] = t->shape[i] == 1 ? 0 : t->strides[i];
  return m;
}

// Lengths of the sequences, and diagonals: query i of sequence b sees keys up to i + diagonal[b].
struct Lengths {
  const wry_tensor *queries = nullptr, *keys = nullptr, *diagonal = nullptr;  // [batch], int32 or int64, or null
};

int64_t number_of(const wry_tensor *t, int64_t b) {
  return t->dtype == WRY_INT64 ? data<int64_t>(t)[b] : int64_t(data<int32_t>(t)[b]);
}

// What of sequence b counts, in place of all: no key is left that no query sees.
void shorten(const Lengths &lengths, int64_t b, Sizes *s, Mask *m) {
  const auto within = [](int64_t n, int64_t least, int64_t most) { return max_of(least, min_of(n, most)); };
  if (!lengths.queries) return;
  s->queries = within(number_of(lengths.queries, b), 0, s->queries);
  s->keys = within(number_of(lengths.keys, b), 0, s->keys);
  if (!lengths.diagonal) return;
  m->causal = true;
  m->offset = within(number_of(lengths.diagonal, b), -s->queries, s->keys);
  s->keys = within(s->queries + m->offset, 0, s->keys);
}

// How many of the keys [first, first + count) query i may look at when attention is causal.
WRY_INLINE int64_t visible(const Mask &m, int64_t i, int64_t first, int64_t count) {
  if (!m.causal) return count;
  return max_of<int64_t>(0, min_of(count, i + m.offset + 1 - first));
}

// scores[j] = scores[j] * scale + mask, for n keys from `first` on.
template <typename T>
void scale_and_mask(arithmetic_t<T> *s, int64_t n, arithmetic_t<T> scale, const Mask &m, int64_t b, int64_t h,
                    int64_t i, int64_t first) {
  using A = arithmetic_t<T>;
  over<A>(n, [&](int64_t j, auto part) { put(s + j, get((const A *)s + j, part) * scale, part); });
  if (!m.data) return;
  const int64_t at = b * m.strides[0] + h * m.strides[1] + i * m.strides[2] + first * m.strides[3];
  const int64_t step = m.strides[3];
  if (m.dtype == WRY_BOOL) {
    const uint8_t *seen = (const uint8_t *)m.data + at;
    for (int64_t j = 0; j < n; ++j) s[j] = seen[j * step] ? s[j] : -A(INFINITY);
  } else {
    const T *added = (const T *)m.data + at;
    for (int64_t j = 0; j < n; ++j) s[j] += A(added[j * step]);
  }
}

// C[m, n] (+)= A B with B packed in panels of gemm_columns, `depth` steps to a panel of which k from
// `from` on are used.
template <typename A>
void multiply(int64_t m, int64_t n, int64_t k, const A *a, int64_t a_row, int64_t a_step, const A *panels,
              int64_t depth, int64_t from, A *c, int64_t ldc, bool accumulate) {
  constexpr int64_t width = gemm_columns<A>;
  Start<A> start;
  start.accumulate = accumulate;
  for (int64_t j = 0; j < n; j += width) {
    const A *panel = panels + (j / width * depth + from) * width;
    for (int64_t i = 0; i < m; i += gemm_rows)
      gemm_tile<A, 2>(min_of(m - i, int64_t(gemm_rows)), n - j, k, a + i * a_row, a_row, a_step, panel, width,
                      c + i * ldc + j, ldc, start);
  }
}

// Packs B[k, n] for multiply.
template <typename A>
void pack(A *panels, int64_t n, int64_t k, Matrix<A> b) {
  constexpr int64_t width = gemm_columns<A>;
  for (int64_t j = 0; j < n; j += width)
    gemm_pack_columns(panels + j * k, min_of(n - j, width), k, b.from(0, j));
}
template <typename A>
WRY_INLINE int64_t packed_size(int64_t n, int64_t k) { return rounded(n, gemm_columns<A>) * k; }

// n values as the type of the arithmetic: where they lie, or converted into `scratch`.
WRY_INLINE const float *wide(const float *x, int64_t, float *) { return x; }
WRY_INLINE const double *wide(const double *x, int64_t, double *) { return x; }
template <typename T>
WRY_INLINE const float *wide(const T *x, int64_t n, float *scratch) {
  widen(x, scratch, n);
  return scratch;
}
template <typename T>
inline constexpr bool is_widened = sizeof(T) == 2;

template <typename T>
void write(const arithmetic_t<T> *from, T *to, int64_t n) {
  using A = arithmetic_t<T>;
  over<T>(n, [&](int64_t i, auto part) { put(to + i, get((const A *)from + i, part), part); });
}

// Scratch memory of one thread, handed out piece by piece. First used with data null, to measure.
template <typename A>
struct Arena {
  A *data;
  int64_t used = 0;
  A *take(int64_t n) {
    A *piece = data ? data + used : nullptr;
    used += rounded(n, 64 / int64_t(sizeof(A)));
    return piece;
  }
};

// ---- dropped weights ----------------------------------------------------------------------------

// Which weights are kept, 1 or 0 in [batch, heads, queries, keys], as the op dropout decides.
struct Dropping {
  uint8_t *keep = nullptr;  // null: nothing is dropped
  double factor = 1;        // of what is kept
  uint32_t limit = 0;
  uint64_t seed = 0, offset = 0;
};

Dropping dropping_of(const wry_call *call, double p, uint8_t *keep) {
  Dropping d;
  d.keep = keep;
  d.factor = p < 1 ? 1 / (1 - p) : 1;
  d.limit = uint32_t(::ceil(double(float(1 - p)) * 0x1p24));
  d.seed = call->context->rng_seed, d.offset = call->context->rng_offset;
  return d;
}

// Decides about the elements [first, first + n).
void draw(const Dropping &d, int64_t first, int64_t n) {
  constexpr int64_t block = 1024;
  uint32_t words[block];
  uint8_t bytes[block];
  for (int64_t at = first; at < first + n;) {
    const int64_t begin = at / 4 * 4, count = min_of(block, first + n - begin);
    random_words(d.seed, d.offset, begin, count, words);
    for (int64_t i = 0; i < count; ++i) bytes[i] = (words[i] >> 8) < d.limit;
    memcpy(d.keep + at, bytes + (at - begin), size_t(begin + count - at));
    at = begin + count;
  }
}

// The factors of n <= key_block weights from element `at` on.
template <typename A>
void factors_of(const Dropping &d, int64_t at, int64_t n, A *factors) {
  uint8_t bytes[key_block];  // a copy, because bytes in memory may alias `factors`
  const A factor = A(d.factor);
  memcpy(bytes, d.keep + at, size_t(n));
  for (int64_t j = 0; j < n; ++j) factors[j] = A(bytes[j]) * factor;
}

// ---- forward ------------------------------------------------------------------------------------

template <typename A>
struct ForwardScratch {
  A *wide_q, *wide_k, *wide_v, *k_panels, *v_panels, *scores, *out, *top, *sum;
  ForwardScratch(Arena<A> &arena, const Sizes &s, bool widened) {
    wide_q = arena.take(widened ? query_block * s.width : 0);
    wide_k = arena.take(widened ? s.keys * s.width : 0);
    wide_v = arena.take(widened ? s.keys * s.value_width : 0);
    k_panels = arena.take(packed_size<A>(s.keys, s.width));
    v_panels = arena.take(packed_size<A>(s.value_width, s.keys));
    scores = arena.take(query_block * key_block);
    out = arena.take(query_block * s.value_width);
    top = arena.take(query_block);
    sum = arena.take(query_block);
  }
};

// One block of queries against all keys.
template <typename T>
void attend(const T *q_, T *out, arithmetic_t<T> *lse, int64_t first_query, int64_t rows, const Sizes &s,
            const Mask &mask, int64_t b, int64_t h, arithmetic_t<T> scale, const Dropping &dropping,
            ForwardScratch<arithmetic_t<T>> &w) {
  using A = arithmetic_t<T>;
  using V = vec<A>;
  const int64_t weights = ((b * s.heads + h) * s.queries + first_query) * s.keys;  // of the first query, in dropping.keep
  if (dropping.keep) draw(dropping, weights, rows * s.keys);
  const A *q = wide(q_, rows * s.width, w.wide_q);
  for (int64_t i = 0; i < rows; ++i) w.top[i] = -A(INFINITY), w.sum[i] = 0;
  for (int64_t i = 0; i < rows * s.value_width; ++i) w.out[i] = 0;
  for (int64_t k0 = 0; k0 < s.keys; k0 += key_block) {
    const int64_t count = min_of(key_block, s.keys - k0);
    if (visible(mask, first_query + rows - 1, k0, count) == 0) break;
    multiply(rows, count, s.width, q, s.width, int64_t(1), w.k_panels + k0 * s.width, s.width, int64_t(0), w.scores,
             key_block, false);
    for (int64_t i = 0; i < rows; ++i) {
      A *row = w.scores + i * key_block;
      const int64_t n = visible(mask, first_query + i, k0, count);
      scale_and_mask<T>(row, n, scale, mask, b, h, first_query + i, k0);
      const A top = max_of(w.top[i], row_reduce<A>(n, -A(INFINITY), [&](int64_t j, auto part) { return keep<V>(get((const A *)row + j, part), splat<V>(-A(INFINITY)), part); }, Larger()));
      const A shift = top == -A(INFINITY) ? A(0) : top;  // nothing seen yet: exp(-inf - 0) = 0
      const A sum = row_reduce<A>(n, A(0), [&](int64_t j, auto part) {
        const V e = lane_exp(get((const A *)row + j, part) - shift);
        put(row + j, e, part);
        return keep<V>(e, V{}, part); }, Plus());
      for (int64_t j = n; j < count; ++j) row[j] = 0;
      if (dropping.keep) {
        A factors[key_block];
        factors_of(dropping, weights + i * s.keys + k0, n, factors);
        over<A>(n, [&](int64_t j, auto part) {
          put(row + j, get((const A *)row + j, part) * get((const A *)factors + j, part), part);
        });
      }
      if (top != w.top[i] && w.top[i] != -A(INFINITY)) {
        const A shrink = scalar_exp(w.top[i] - shift);
        A *o = w.out + i * s.value_width;
        over<A>(s.value_width, [&](int64_t j, auto part) { put(o + j, get((const A *)o + j, part) * shrink, part); });
        w.sum[i] *= shrink;
      }
      w.top[i] = top;
      w.sum[i] += sum;
    }
    multiply(rows, s.value_width, count, (const A *)w.scores, key_block, int64_t(1), w.v_panels, s.keys, k0, w.out,
             s.value_width, true);
  }
  for (int64_t i = 0; i < rows; ++i) {
    // A row that sees nothing gives zeros. NaN is not nothing: it goes through.
    const bool nothing = w.sum[i] == 0;
    const A inverse = nothing ? A(0) : A(1) / w.sum[i];
    const A *o = w.out + i * s.value_width;
    T *to = out + i * s.value_width;
    over<T>(s.value_width, [&](int64_t j, auto part) { put(to + j, get(o + j, part) * inverse, part); });
    lse[i] = nothing ? -A(INFINITY) : w.top[i] + scalar_log(w.sum[i]);
  }
}

// `lengths` are given where sequences have them, `p` and `keep` where weights are dropped.
template <typename T>
int attend_all(const wry_call *call, bool causal, const Lengths &lengths, double p, uint8_t *keep) {
  using A = arithmetic_t<T>;
  const wry_tensor *q = input(call, 0), *k = input(call, 1), *v = input(call, 2);
  const Sizes s = sizes_of(q, v);
  const Mask mask = mask_of(input(call, 3), causal, s.queries, s.keys);
  const A scale = A(attr_float(call, 0));
  T *out = data<T>(output(call, 0));
  A *lse = data<A>(output(call, 1));
  const int64_t heads = s.batch * s.heads, blocks = (s.queries + query_block - 1) / query_block;
  if (heads * s.queries == 0) return WRY_OK;
  const Dropping dropping = dropping_of(call, p, keep);
  // Packing the keys is repeated in every part of a head: cut heads only where they are few.
  const int64_t parts = heads >= 8 ? 1 : min_of(blocks, (8 + heads - 1) / heads);
  const int64_t tasks = heads * parts;
  Arena<A> measure{nullptr};
  ForwardScratch<A> unused(measure, s, is_widened<T>);
  const int64_t threads = threads_for(call, tasks);
  A *scratch = workspace<A>(call, threads * measure.used);
  if (!scratch) return fail_memory(call, "attention", threads * measure.used * int64_t(sizeof(A)));
  parallel_tasks(call, tasks, [&](int64_t task) {
    Arena<A> arena{scratch + thread_index() * measure.used};
    ForwardScratch<A> w(arena, s, is_widened<T>);
    const int64_t head = task / parts, part = task % parts;
    const int64_t begin = blocks * part / parts, end = blocks * (part + 1) / parts;
    Sizes own = s;
    Mask seen = mask;
    shorten(lengths, head / s.heads, &own, &seen);
    if (begin * query_block < own.queries) {
      const A *keys = wide(data<T>(k) + head * s.keys * s.width, own.keys * s.width, w.wide_k);
      const A *values = wide(data<T>(v) + head * s.keys * s.value_width, own.keys * s.value_width, w.wide_v);
      pack(w.k_panels, own.keys, s.width, Matrix<A>{keys, 1, s.width});
      pack(w.v_panels, s.value_width, own.keys, Matrix<A>{values, s.value_width, 1});
    }
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * query_block, all = min_of(query_block, s.queries - first);
      const int64_t rows = max_of<int64_t>(0, min_of(all, own.queries - first)), at = head * s.queries + first;
      if (rows)
        attend<T>(data<T>(q) + at * s.width, out + at * s.value_width, lse + at, first, rows, own, seen, head / s.heads,
                  head % s.heads, scale, dropping, w);
      for (int64_t i = rows; i < all; ++i) lse[at + i] = -A(INFINITY);
      memset(out + (at + rows) * s.value_width, 0, size_t((all - rows) * s.value_width) * sizeof(T));
    }
  });
  return WRY_OK;
}

template <typename T>
int attention(const wry_call *call) { return attend_all<T>(call, attr_bool(call, 1), {}, 0, nullptr); }
template <typename T>
int attention_dropout(const wry_call *call) {
  return attend_all<T>(call, attr_bool(call, 1), {}, attr_float(call, 2), data<uint8_t>(output(call, 2)));
}
// attention_lengths(q, k, v, mask?, q_lengths, k_lengths, diagonal?) -> out, lse
template <typename T>
int attention_lengths(const wry_call *call) {
  return attend_all<T>(call, false, {input(call, 4), input(call, 5), input(call, 6)}, 0, nullptr);
}

// ---- backward -----------------------------------------------------------------------------------

template <typename A>
struct BackwardScratch {
  A *wide_q, *wide_k, *wide_v, *wide_ct;
  A *k_by_key, *v_by_key;                    // panels across keys: for the scores and their cotangents
  A *k_by_width, *q_by_width, *ct_by_width;  // panels across the width: for sums over keys and queries
  A *q_ct, *k_ct, *v_ct, *delta, *mend, *p, *s_ct;
  BackwardScratch(Arena<A> &arena, const Sizes &s, bool widened) {
    wide_q = arena.take(widened ? s.queries * s.width : 0);
    wide_k = arena.take(widened ? s.keys * s.width : 0);
    wide_v = arena.take(widened ? s.keys * s.value_width : 0);
    wide_ct = arena.take(widened ? s.queries * s.value_width : 0);
    k_by_key = arena.take(packed_size<A>(s.keys, s.width));
    v_by_key = arena.take(packed_size<A>(s.keys, s.value_width));
    k_by_width = arena.take(packed_size<A>(s.width, s.keys));
    q_by_width = arena.take(packed_size<A>(s.width, s.queries));
    ct_by_width = arena.take(packed_size<A>(s.value_width, s.queries));
    q_ct = arena.take(s.queries * s.width);
    k_ct = arena.take(s.keys * s.width);
    v_ct = arena.take(s.keys * s.value_width);
    delta = arena.take(s.queries);
    mend = arena.take(s.queries);
    p = arena.take(query_block * key_block);
    s_ct = arena.take(query_block * key_block);
  }
};

// The sum of exp(score - lse) over the keys of query i, which is 1 but for rounding.
template <typename T>
arithmetic_t<T> sum_of_row(const arithmetic_t<T> *q, const arithmetic_t<T> *k_by_key, arithmetic_t<T> lse, const Sizes &s,
                           arithmetic_t<T> scale, const Mask &mask, int64_t b, int64_t h, int64_t i,
                           arithmetic_t<T> *scores) {
  using A = arithmetic_t<T>;
  using V = vec<A>;
  A sum = 0;
  for (int64_t k0 = 0; k0 < s.keys; k0 += key_block) {
    const int64_t count = min_of(key_block, s.keys - k0), n = visible(mask, i, k0, count);
    if (n == 0) break;
    multiply(1, count, s.width, q, s.width, int64_t(1), k_by_key + k0 * s.width, s.width, int64_t(0), scores, key_block,
             false);
    scale_and_mask<T>(scores, n, scale, mask, b, h, i, k0);
    sum += row_reduce<A>(n, A(0), [&](int64_t j, auto part) { return keep<V>(lane_exp(get((const A *)scores + j, part) - lse), V{}, part); }, Plus());
  }
  return sum;
}

// `first` is where out and lse are in the call. In one piece: the five products of a tile share its scratch memory.
template <typename T>
int attend_vjp(const wry_call *call, bool causal, const Lengths &lengths, int first, double p, uint8_t *keep) {
  using A = arithmetic_t<T>;
  using V = vec<A>;
  const wry_tensor *q_ = input(call, 1), *k_ = input(call, 2), *v_ = input(call, 3);
  const Sizes all = sizes_of(q_, v_);
  const Mask given = mask_of(input(call, 4), causal, all.queries, all.keys);
  const A scale = A(attr_float(call, 0));
  const T *ct_ = data<T>(input(call, 0)), *out_ = data<T>(input(call, first));
  const A *lse_ = data<A>(input(call, first + 1));
  const Dropping dropping = dropping_of(call, p, keep);
  const int64_t heads = all.batch * all.heads;
  Arena<A> measure{nullptr};
  BackwardScratch<A> unused(measure, all, is_widened<T>);
  const int64_t threads = threads_for(call, heads);
  A *scratch = workspace<A>(call, threads * measure.used);
  if (!scratch) return fail_memory(call, "attention_vjp", threads * measure.used * int64_t(sizeof(A)));
  parallel_tasks(call, heads, [&](int64_t head) {
    Arena<A> arena{scratch + thread_index() * measure.used};
    BackwardScratch<A> w(arena, all, is_widened<T>);
    const int64_t b = head / all.heads, h = head % all.heads, queries = head * all.queries, keys = head * all.keys;
    Sizes s = all;
    Mask mask = given;
    shorten(lengths, b, &s, &mask);
    const int64_t q_size = s.queries * s.width, k_size = s.keys * s.width, v_size = s.keys * s.value_width;
    const A *q = wide(data<T>(q_) + queries * s.width, q_size, w.wide_q);
    const A *k = wide(data<T>(k_) + keys * s.width, k_size, w.wide_k);
    const A *v = wide(data<T>(v_) + keys * s.value_width, v_size, w.wide_v);
    const A *ct = wide(ct_ + queries * s.value_width, s.queries * s.value_width, w.wide_ct);
    const T *out = out_ + queries * s.value_width;
    const A *lse = lse_ + queries;
    pack(w.k_by_key, s.keys, s.width, Matrix<A>{k, 1, s.width});
    pack(w.v_by_key, s.keys, s.value_width, Matrix<A>{v, 1, s.value_width});
    pack(w.k_by_width, s.width, s.keys, Matrix<A>{k, s.width, 1});
    pack(w.q_by_width, s.width, s.queries, Matrix<A>{q, s.width, 1});
    pack(w.ct_by_width, s.value_width, s.queries, Matrix<A>{ct, s.value_width, 1});
    for (int64_t i = 0; i < q_size; ++i) w.q_ct[i] = 0;
    for (int64_t i = 0; i < k_size; ++i) w.k_ct[i] = 0;
    for (int64_t i = 0; i < v_size; ++i) w.v_ct[i] = 0;
    for (int64_t i = 0; i < s.queries; ++i) {
      const A *c = ct + i * s.value_width;
      const T *o = out + i * s.value_width;
      V sum{};
      over<T>(s.value_width, [&](int64_t j, auto part) { sum = fma(get(c + j, part), get(o + j, part), sum); });
      w.delta[i] = reduce_add(sum);
      w.mend[i] = A(1);
      // Masks of -1e9 where a query sees no key at all: lse has no digits left for the sum behind the maximum.
      if (::fabs(double(lse[i])) > (sizeof(A) == 4 ? 1e3 : 1e6) && lse[i] != -A(INFINITY))
        w.mend[i] = A(1) / sum_of_row<T>(q + i * s.width, w.k_by_key, lse[i], s, scale, mask, b, h, i, w.p);
    }
    for (int64_t k0 = 0; k0 < s.keys; k0 += key_block) {
      const int64_t count = min_of(key_block, s.keys - k0);
      for (int64_t i0 = 0; i0 < s.queries; i0 += query_block) {
        const int64_t rows = min_of(query_block, s.queries - i0);
        if (visible(mask, i0 + rows - 1, k0, count) == 0) continue;
        multiply(rows, count, s.width, q + i0 * s.width, s.width, int64_t(1), w.k_by_key + k0 * s.width, s.width,
                 int64_t(0), w.p, key_block, false);
        multiply(rows, count, s.value_width, ct + i0 * s.value_width, s.value_width, int64_t(1),
                 w.v_by_key + k0 * s.value_width, s.value_width, int64_t(0), w.s_ct, key_block, false);
        for (int64_t i = 0; i < rows; ++i) {
          A *p = w.p + i * key_block, *d = w.s_ct + i * key_block;
          const int64_t n = visible(mask, i0 + i, k0, count);
          scale_and_mask<T>(p, n, scale, mask, b, h, i0 + i, k0);
          const A shift = lse[i0 + i] == -A(INFINITY) ? A(0) : lse[i0 + i];
          const A delta = w.delta[i0 + i], mend = w.mend[i0 + i];
          if (dropping.keep) {
            A factors[key_block];
            factors_of(dropping, (head * s.queries + i0 + i) * s.keys + k0, n, factors);
            over<A>(n, [&](int64_t j, auto part) {
              const V e = lane_exp(get((const A *)p + j, part) - shift) * mend, f = get((const A *)factors + j, part);
              put(p + j, e * f, part);
              put(d + j, e * (get((const A *)d + j, part) * f - delta) * scale, part);
            });
          } else {
            over<A>(n, [&](int64_t j, auto part) {
              const V e = lane_exp(get((const A *)p + j, part) - shift) * mend;
              put(p + j, e, part);
              put(d + j, e * (get((const A *)d + j, part) - delta) * scale, part);
            });
          }
          for (int64_t j = n; j < count; ++j) p[j] = d[j] = 0;
        }
        multiply(count, s.value_width, rows, (const A *)w.p, int64_t(1), key_block, w.ct_by_width, s.queries, i0,
                 w.v_ct + k0 * s.value_width, s.value_width, true);
        multiply(count, s.width, rows, (const A *)w.s_ct, int64_t(1), key_block, w.q_by_width, s.queries, i0,
                 w.k_ct + k0 * s.width, s.width, true);
        multiply(rows, s.width, count, (const A *)w.s_ct, key_block, int64_t(1), w.k_by_width, s.keys, k0,
                 w.q_ct + i0 * s.width, s.width, true);
      }
    }
    const auto write_all = [&](const A *from, int result, int64_t line, int64_t count, int64_t lines, int64_t width) {
      T *to = data<T>(output(call, result)) + line * width;
      write<T>(from, to, count * width);
      memset(to + count * width, 0, size_t((lines - count) * width) * sizeof(T));
    };
    write_all(w.q_ct, 0, queries, s.queries, all.queries, s.width);
    write_all(w.k_ct, 1, keys, s.keys, all.keys, s.width);
    write_all(w.v_ct, 2, keys, s.keys, all.keys, s.value_width);
  });
  return WRY_OK;
}

template <typename T>
int attention_vjp(const wry_call *call) { return attend_vjp<T>(call, attr_bool(call, 1), {}, 5, 0, nullptr); }
// attention_dropout_vjp(ct, q, k, v, mask?, out, lse, keep) -> q_ct, k_ct, v_ct
template <typename T>
int attention_dropout_vjp(const wry_call *call) {
  return attend_vjp<T>(call, attr_bool(call, 1), {}, 5, attr_float(call, 2), data<uint8_t>(input(call, 7)));
}
// attention_lengths_vjp(ct, q, k, v, mask?, q_lengths, k_lengths, diagonal?, out, lse) -> q_ct, k_ct, v_ct
template <typename T>
int attention_lengths_vjp(const wry_call *call) {
  return attend_vjp<T>(call, false, {input(call, 5), input(call, 6), input(call, 7)}, 8, 0, nullptr);
}

#include <wherry/kernels/rows/attention.h>

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(attention, WRY_NAMESPACE::table)
