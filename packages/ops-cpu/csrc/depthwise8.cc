// Convolutions of quantized images whose channels have windows of their own (wherry_tensor/ops/quantized.py says what they compute).
//
// Compiled without fused multiply-add, as quantized.cc is.
#include "correlation.h"
#include "lanes8.h"
#include "parallel.h"
#include "quantized.h"

namespace WRY_NAMESPACE {
namespace {

// Each channel has its own window. The rows that lines of outputs meet are laid by fours of rows first: [fours, columns, channels, 4]. Then what a step
// adds up are four rows of a channel, and the columns of the window are steps. Four rows serve two lines of 3x3 windows, with the window's rows moved.
struct Channels {
  int64_t count, full;  // and filled up to whole blocks
  int64_t fours, kw;
  int64_t lines;   // of outputs that one laying serves
  int8_t *weight;  // [lines, fours, kw, full, 4]
  int32_t *less;   // what zero adds, [full]
  WRY_INLINE int64_t line_weights() const { return fours * kw * full * 4; }
};

bool channels_of(const wry_call *call, const wry_tensor *weight, const Window &window, int32_t zero, Channels *c) {
  const int64_t kh = window.kh;
  c->kw = window.kw, c->count = weight->shape[2], c->full = ceil_div(c->count, out_block) * out_block, c->fours = ceil_div(kh, 4);
  c->lines = window.dilations[0] == 1 ? (4 * c->fours - kh) / window.strides[0] + 1 : 1;
  int8_t *none = workspace<int8_t>(call, c->full);
  c->weight = workspace<int8_t>(call, c->lines * c->line_weights()), c->less = workspace<int32_t>(call, c->full);
  if (!none || !c->weight || !c->less) return false;
  memset(none, 0, size_t(c->full)), memset(c->less, 0, size_t(c->full) * sizeof(int32_t));
  const int8_t *from = data<int8_t>(weight);
  for (int64_t l = 0; l < c->lines; ++l)
    for (int64_t g = 0; g < c->fours; ++g)
      for (int64_t j = 0; j < c->kw; ++j) {
        const int8_t *rows[4];
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t row = 4 * g + i - l * window.strides[0];
          rows[i] = row >= 0 && row < kh ? from + (row * c->kw + j) * c->count : none;
        }
        int8_t *to = c->weight + l * c->line_weights() + (g * c->kw + j) * c->full * 4;
        int64_t k = 0;
        for (; k + out_block <= c->count; k += out_block) lay_by_fours(rows[0] + k, rows[1] + k, rows[2] + k, rows[3] + k, to + 4 * k);
        for (; k < c->full; ++k)
          for (int64_t i = 0; i < 4; ++i) to[4 * k + i] = k < c->count ? rows[i][k] : int8_t(0);
      }
  if (zero)
    for (int64_t tap = 0; tap < kh * c->kw; ++tap)
      for (int64_t k = 0; k < c->count; ++k) c->less[k] += from[tap * c->count + k] * zero;
  return true;
}

template <typename T>
WRY_INLINE void lay_fours(const T *const *rows, Whole *WRY_RESTRICT to, int64_t n, int add) {
  const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  int64_t i = 0;
  for (; i + out_block <= n; i += out_block) {
    T fours[4 * out_block];
    lay_by_fours(a + i, b + i, c + i, d + i, fours);
    widen_bytes(fours, to + 4 * i, 4 * out_block, add);
  }
  for (; i < n; ++i)
    to[4 * i] = Whole(a[i] + add), to[4 * i + 1] = Whole(b[i] + add), to[4 * i + 2] = Whole(c[i] + add), to[4 * i + 3] = Whole(d[i] + add);
}

// Sums of `Pixels` outputs of a line, `apart` values from one to the next, for 16 channels.
template <int Pixels>
WRY_INLINE void channel_tile(const Channels &c, const Whole *in, int64_t apart, int64_t column, int64_t four, const int8_t *weight, int32_t *to) {
  for (int pass = 0; pass < passes; ++pass) {
    Sums sum[Pixels][parts];
    for (int p = 0; p < Pixels; ++p)
      for (int v = 0; v < parts; ++v) sum[p][v] = no_sums();
    for (int64_t g = 0; g < c.fours; ++g)
      for (int64_t j = 0; j < c.kw; ++j) {
        const Whole *at = in + g * four + j * column;
        const int8_t *w = weight + (g * c.kw + j) * c.full * 4;
#pragma GCC unroll 4
        for (int v = 0; v < parts; ++v) {
          const int place = (pass * parts + v) * vector_bytes;
          const Weights factor = weights_at(w + place);
#pragma GCC unroll 4
          for (int p = 0; p < Pixels; ++p) sum[p][v] = add_products(factor, fours_at(at + p * apart + place), sum[p][v]);
        }
      }
    for (int p = 0; p < Pixels; ++p) store_sums(to + p * out_block + pass * (out_block / passes), sum[p]);
  }
}

// The images of a call, what zero is in them, and rows that lie outside.
template <typename T>
struct Image {
  const T *data, *border;
  Bytes is;
  Window window;
  Shift shift;
  int64_t out_h, out_w;

  // The four rows from row 4 g on of the `used` that lines of outputs from `top` on meet.
  WRY_INLINE void four_rows(const T *from, int64_t top, int64_t g, int64_t used, const T **rows) const {
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t y = top + (4 * g + i) * window.dilations[0];
      rows[i] = 4 * g + i < used && y >= 0 && y < is.h ? from + y * is.line : border;
    }
  }
  WRY_INLINE int64_t columns() const { return is.w + window.paddings[2] + window.paddings[3]; }
};

// Calls for the lines that one laying serves: each(image, its rows' first, their number, first line, its row among all places).
template <typename T, typename F>
void each_turn(const wry_call *call, const Image<T> &image, int64_t images, int64_t lines, F &&each) {
  const int64_t turns = ceil_div(image.out_h, lines);
  parallel_for(call, images * turns, max_of<int64_t>(1, 8192 / max_of<int64_t>(1, image.is.line)), [&](int64_t first, int64_t last) {
    for (int64_t turn = first; turn < last; ++turn) {
      const int64_t line = turn % turns * lines, here = min_of(lines, image.out_h - line);
      const int64_t stride = image.window.strides[0], top = line * stride - image.window.paddings[0];
      each(image.data + turn / turns * image.is.image, top, image.window.kh + (here - 1) * stride, here, (turn / turns * image.out_h + line) * image.out_w);
    }
  });
}

#if defined(WRY_LANES)
// V channels at a time in the order of lanes, bytes from sums that never leave registers. The last V channels may be some of those before as well.
template <int V>
struct Strip {
  int64_t blocks;
  int8_t *weight;       // [blocks, lines, fours, kw, V, 4]
  int32_t *first;       // [blocks, V]: what sums begin with
  float *scale, *bias;  // [blocks, V]
  WRY_INLINE static int64_t channel(int64_t block, int64_t count) { return min_of(block * V, count - V); }
};

template <int V>
bool strip_of(const wry_call *call, const int8_t *weight, const Window &window, const Channels &c, const Epilogue &epilogue, Strip<V> *s) {
  s->blocks = ceil_div(c.count, V);
  const int64_t values = s->blocks * V;
  s->weight = workspace<int8_t>(call, c.lines * c.fours * c.kw * 4 * values), s->first = workspace<int32_t>(call, values);
  s->scale = workspace<float>(call, values), s->bias = workspace<float>(call, values);
  if (!s->weight || !s->first || !s->scale || !s->bias) return false;
  const int8_t none[V] = {};
  int8_t *to = s->weight;
  for (int64_t b = 0; b < s->blocks; ++b) {
    const int64_t k = s->channel(b, c.count);
    int32_t first[V];
    float bias[V] = {};
    for (int64_t i = 0; i < V; ++i) first[i] = int32_t((epilogue.start ? uint32_t(epilogue.start[k + i]) : 0) - uint32_t(c.less[k + i]));
    if (epilogue.bias) memcpy(bias, epilogue.bias + k, sizeof bias);
    order_lanes<V>(first, s->first + b * V), order_lanes<V>(bias, s->bias + b * V), order_lanes<V>(epilogue.scale + k, s->scale + b * V);
    for (int64_t l = 0; l < c.lines; ++l)
      for (int64_t g = 0; g < c.fours; ++g)
        for (int64_t j = 0; j < c.kw; ++j, to += 4 * V) {
          const int8_t *rows[4];
          for (int64_t i = 0; i < 4; ++i) {
            const int64_t row = 4 * g + i - l * window.strides[0];
            rows[i] = row >= 0 && row < window.kh ? weight + (row * c.kw + j) * c.count + k : none;
          }
          lay_lanes<V, false>(rows[0], rows[1], rows[2], rows[3], to);
        }
  }
  return true;
}

// The bytes of `Pixels` places for V channels. `Stride`: of windows of three columns beside each other in four rows, or 0.
template <int V, int Pixels, int Stride, bool Tame, typename Out>
WRY_INLINE void strip_tile(const Channels &c, const uint8_t *in, int64_t apart, int64_t step, int64_t four, const int8_t *weight, const int32_t *first,
                           const float *scale, const float *bias, const End &end, Out *to, int64_t to_apart) {
  using L = Lanes<V>;
  using Ints = typename L::Ints;
  Ints sum[Pixels][4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
#pragma GCC unroll 4
    for (int p = 0; p < Pixels; ++p) sum[p][q] = ints_at<V>(first + q * (V / 4));
  if constexpr (Stride) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j)
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        const Ints factor = ints_at<V>(weight + (4 * j + q) * V);
#pragma GCC unroll 4
        for (int p = 0; p < Pixels; ++p) sum[p][q] = L::add_products(sum[p][q], ints_at<V>(in + (4 * (Stride * p + j) + q) * V), factor);
      }
  } else {
    for (int64_t g = 0; g < c.fours; ++g)
      for (int64_t j = 0; j < c.kw; ++j) {
        const uint8_t *at = in + g * four + j * step;
        const int8_t *w = weight + (g * c.kw + j) * 4 * V;
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          const Ints factor = ints_at<V>(w + q * V);
#pragma GCC unroll 4
          for (int p = 0; p < Pixels; ++p) sum[p][q] = L::add_products(sum[p][q], ints_at<V>(at + p * apart + q * V), factor);
        }
      }
  }
#pragma GCC unroll 4
  for (int p = 0; p < Pixels; ++p) {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      using Reals = typename L::Reals;
      const auto reals_at = [&](const float *from) { return (Reals)ints_at<V>(from + q * (V / 4)); };
      const Reals v = L::reals(sum[p][q]) * reals_at(scale) + reals_at(bias);
      // One that is far too small becomes the least int.
      sum[p][q] = L::nearest(Tame ? v : L::at_most(v * end.inverse, end.high));
    }
    const Ints low = L::add_words(L::words(sum[p][0], sum[p][1]), end.zero), high = L::add_words(L::words(sum[p][2], sum[p][3]), end.zero);
    const Ints bytes = L::at_most(L::at_least(L::bytes(low, high, Out()), Out(end.least)), Out(end.most));
    __builtin_memcpy(to + p * to_apart, &bytes, V);
  }
}

template <int V, bool Tame, typename T, typename Out>
int strips(const wry_call *call, const Image<T> &image, int64_t images, const Channels &c, const Epilogue &epilogue, const int8_t *weight) {
  Strip<V> s;
  const int64_t column = 4 * V, columns = image.columns(), four = columns * column, room = c.fours * four;
  uint8_t *strips = workspace<uint8_t>(call, room * threads_for(call, INT32_MAX));
  if (!strips || !strip_of<V>(call, weight, image.window, c, epilogue, &s)) return fail_memory(call, "quantized_depthwise_conv2d", room);
  Out *out = static_cast<Out *>(epilogue.out);
  const End end = epilogue.end;
  each_turn(call, image, images, c.lines, [&](const T *from, int64_t top, int64_t used, int64_t lines, int64_t row) {
    uint8_t *strip = strips + room * thread_index();
    const int64_t apart = image.window.strides[1] * column, step = image.window.dilations[1] * column, left = image.window.paddings[2];
    for (int64_t b = 0; b < s.blocks; ++b) {
      const int64_t k = s.channel(b, c.count);
      for (int64_t g = 0; g < c.fours; ++g) {
        const T *rows[4];
        image.four_rows(from, top, g, used, rows);
        uint8_t *to = strip + g * four;
        memset(to, image.shift.zero, size_t(left * column));
        memset(to + (left + image.is.w) * column, image.shift.zero, size_t(image.window.paddings[3] * column));
        to += left * column;
        for (int64_t i = 0, at = k; i < image.is.w; ++i, at += c.count)
          lay_lanes<V, std::is_same<T, int8_t>::value>(rows[0] + at, rows[1] + at, rows[2] + at, rows[3] + at, to + i * column);
      }
      for (int64_t l = 0; l < lines; ++l) {
        const int8_t *w = s.weight + (b * c.lines + l) * c.fours * c.kw * column;
        const int32_t *first = s.first + b * V;
        const float *scale = s.scale + b * V, *bias = s.bias + b * V;
        Out *to = out + (row + l * image.out_w) * c.count + k;
        const auto all = [&](auto stride) {
          const auto some = [&](auto pixels, int64_t at) __attribute__((always_inline)) {
            strip_tile<V, decltype(pixels)::value, decltype(stride)::value, Tame>(c, strip + at * apart, apart, step, four, w, first, scale, bias, end,
                                                                                  to + at * c.count, c.count);
          };
          int64_t at = 0;
          for (; at + lane_pixels <= image.out_w; at += lane_pixels) some(std::integral_constant<int, lane_pixels>(), at);
          for (; at < image.out_w; ++at) some(std::integral_constant<int, 1>(), at);
        };
        const bool three = c.fours == 1 && c.kw == 3 && step == column;
        if (three && apart == column) all(std::integral_constant<int, 1>());
        else if (three && apart == 2 * column) all(std::integral_constant<int, 2>());
        else all(std::integral_constant<int, 0>());
      }
    }
  });
  return WRY_OK;
}
#endif

template <typename T>
int whole_blocks(const wry_call *call, const Image<T> &image, int64_t images, const Channels &c, const Epilogue &epilogue) {
  const int64_t column = c.full * 4, columns = image.columns(), four = columns * column, room = c.fours * four, left = image.window.paddings[2];
  Whole *strips = workspace<Whole>(call, room * threads_for(call, INT32_MAX));
  if (!strips) return fail_memory(call, "quantized_depthwise_conv2d", room);
  each_turn(call, image, images, c.lines, [&](const T *from, int64_t top, int64_t used, int64_t lines, int64_t row) {
    Whole *strip = strips + room * thread_index();
    for (int64_t g = 0; g < c.fours; ++g) {
      const T *rows[4];
      image.four_rows(from, top, g, used, rows);
      Whole *to = strip + g * four;
      const auto fill = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * column; i < end * column; ++i) to[i] = Whole(image.shift.zero);
      };
      fill(0, left), fill(left + image.is.w, columns);
      to += left * column;
      if (c.full == c.count) {
        lay_fours<T>(rows, to, image.is.line, image.shift.add);
        continue;
      }
      for (int64_t i = 0; i < image.is.w; ++i) {
        lay_fours<T>(rows, to + i * column, c.count, image.shift.add);
        for (auto &at : rows) at += c.count;
      }
    }
    const int64_t apart = image.window.strides[1] * column, step = image.window.dilations[1] * column;
    alignas(64) int32_t sums[4 * out_block];
    for (int64_t l = 0; l < lines; ++l)
      for (int64_t k = 0; k < c.full; k += out_block) {
        const auto some = [&](auto pixels, int64_t at) {
          constexpr int n = decltype(pixels)::value;
          channel_tile<n>(c, strip + at * apart + k * 4, apart, step, four, c.weight + l * c.line_weights() + k * 4, sums);
          epilogue.finish_rows(sums, out_block, image.shift.zero ? c.less + k : nullptr, k, row + l * image.out_w + at, n);
        };
        int64_t at = 0;
        for (; at + 4 <= image.out_w; at += 4) some(std::integral_constant<int, 4>(), at);
        for (; at < image.out_w; ++at) some(std::integral_constant<int, 1>(), at);
      }
  });
  return WRY_OK;
}

// x [n, h, w, c], weight [kh, kw, c], and as of quantized_linear.
template <typename T>
int quantized_depthwise_conv2d(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  Epilogue epilogue;
  const int status = epilogue_of(call, "quantized_depthwise_conv2d", 4, &epilogue);
  if (status != WRY_OK) return status;
  const int64_t zero_point = attr_int(call, 3), images = out->shape[0];
  Shift shift = shift_of<T>(int32_t(zero_point));
#if defined(WRY_LANES)
  const bool by_lanes = epilogue.bytes() && !epilogue.residual.data && epilogue.end.activation == Activation::none && weight->shape[2] >= 16;
  if (by_lanes) shift = shift_of_lanes<T>(int32_t(zero_point));
#endif
  const Bytes is = bytes_of(x);
  T *border = workspace<T>(call, is.line);
  const Image<T> image = {data<T>(x), border, is, window_of(call, weight->shape[0], weight->shape[1]), shift, out->shape[1], out->shape[2]};
  Channels c;
  if (!border || !channels_of(call, weight, image.window, shift.zero, &c)) return fail_memory(call, "quantized_depthwise_conv2d", is.line);
  memset(border, int(zero_point), size_t(is.line));
#if defined(WRY_LANES)
  if (by_lanes) {
    const auto by = [&](auto out_type) {
      using Out = decltype(out_type);
      const int8_t *from = data<int8_t>(weight);
      const auto of = [&](auto v) {
        constexpr int V = decltype(v)::value;
        return rounds_all_ints && epilogue.tame ? strips<V, true, T, Out>(call, image, images, c, epilogue, from)
                                                : strips<V, false, T, Out>(call, image, images, c, epilogue, from);
      };
#if WRY_VECTOR_BYTES == 64
      if (c.count >= 64) return of(std::integral_constant<int, 64>());
#endif
#if WRY_VECTOR_BYTES >= 32
      if (c.count >= 32) return of(std::integral_constant<int, 32>());
#endif
      return of(std::integral_constant<int, 16>());
    };
    return epilogue.end.dtype == WRY_INT8 ? by(int8_t()) : by(uint8_t());
  }
#endif
  return whole_blocks<T>(call, image, images, c, epilogue);
}

const wry_kernel_entry table[] = {
    {"quantized_depthwise_conv2d", WRY_UINT8, WRY_WANTS_CONTIGUOUS, quantized_depthwise_conv2d<uint8_t>, nullptr},
    {"quantized_depthwise_conv2d", WRY_INT8, WRY_WANTS_CONTIGUOUS, quantized_depthwise_conv2d<int8_t>, nullptr},
};

}  // namespace
WRY_TABLE(depthwise8, table)

}  // namespace WRY_NAMESPACE
