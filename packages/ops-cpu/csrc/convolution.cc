// Two-dimensional convolution, its transpose and its gradient for the weight.
//
// The forward pass and the transpose are both a Correlation (correlation.h): the transpose reads the
// taps backwards and, with strides, falls apart into one correlation for each remainder of the output
// position. A correlation is computed in the cheapest of these ways:
//
//   few.h         groups of few output channels, above all depthwise
//   winograd.h    3x3 windows with step 1
//   flat.h        small images and few output channels
//   below         everything else, as a matrix product whose left or right factor is never written
//                 out whole: a panel of it is gathered when its turn comes (an implicit im2col)
//
// 16 bit floats are computed in float32. Results do not depend on the number of threads.
#include "correlation.h"
#include "flat.h"
#include "images.h"
#include "winograd.h"

namespace WRY_NAMESPACE {
namespace {

// ---- planes: [n, channels, h, w] ----------------------------------------------------------------

// Outputs of one panel that lie in one row.
struct Segment {
  int64_t lane, n, y, x;
};

// Rows [k0, k0 + steps) of the gathered matrix for outputs [p0, p0 + n): row c * taps + t holds the
// inputs that tap t of channel c meets. out is a packed panel of B.
template <typename T>
void gather_panel(const Correlation<T> &op, const T *image, int64_t p0, int64_t n, int64_t k0, int64_t steps, T *out) {
  constexpr int64_t columns = gemm_columns<T>;
  Segment segments[columns];
  int count = 0;
  for (int64_t lane = 0; lane < n; ++count) {
    const int64_t p = p0 + lane, x = p % op.ow, length = min_of(n - lane, op.ow - x);
    segments[count] = {lane, length, p / op.ow, x};
    lane += length;
  }
  const int64_t plane = op.ih * op.iw, taps = op.taps;
  for (int64_t t = 0; t < taps; ++t) {
    // Cut to what lies inside the input; `n` stays 0 where nothing does.
    Segment inside[columns];
    int64_t from[columns];
    int64_t covered = 0;
    int kept = 0;
    for (int s = 0; s < count; ++s) {
      const Segment &whole = segments[s];
      const int64_t y = whole.y * op.step_y + op.dy[t];
      if (y < 0 || y >= op.ih) continue;
      int64_t first, last;
      valid_range(whole.n, op.step_x, whole.x * op.step_x + op.dx[t], op.iw, &first, &last);
      if (first == last) continue;
      inside[kept] = {whole.lane + first, last - first, 0, 0};
      from[kept++] = y * op.iw + (whole.x + first) * op.step_x + op.dx[t];
      covered += last - first;
    }
    for (int64_t c = ceil_div(max_of<int64_t>(k0 - t, 0), taps); c * taps + t < k0 + steps; ++c) {
      const T *at = image + c * plane;
      T *to = out + (c * taps + t - k0) * columns;
      // The next panel's: a few bytes from each of many planes is nothing that hardware foresees.
      if (kept > 0) {
        __builtin_prefetch(at + from[0] + columns * op.step_x, 0, 2);
        __builtin_prefetch(at + from[0] + (columns + lanes<T>)*op.step_x, 0, 2);
      }
      if (covered == columns && kept == 1 && op.step_x == 1) {
        store(to, load(at + from[0]));
        store(to + lanes<T>, load(at + from[0] + lanes<T>));
        continue;
      }
      if (covered < columns) fill_zero(to, columns);
      for (int s = 0; s < kept; ++s) copy_run(to + inside[s].lane, at + from[s], inside[s].n, op.step_x);
    }
  }
}

template <typename T>
bool correlate_planes(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>;
  const int64_t k = op.cin * op.taps, m = op.cout, outputs = op.oh * op.ow, padded = rounded_up(m, rows);
  T *packed = workspace<T>(call, op.groups * padded * max_of<int64_t>(k, 1));  // [groups, cuts of k, panels]
  if (!packed) return false;
  const int64_t panels = padded / rows;
  parallel_for(call, op.groups * panels, max_of<int64_t>(1, 4096 / (rows * max_of<int64_t>(k, 1))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t at = begin; at < end; ++at) {
                   const int64_t g = at / panels, i = at % panels * rows;
                   for (int64_t k0 = 0; k0 < k; k0 += gemm_depth) {
                     const int64_t steps = min_of(k - k0, gemm_depth);
                     gemm_pack_rows(packed + (g * k + k0) * padded + i * steps, min_of(m - i, rows), steps,
                                    Matrix<T>{op.weight + (g * m + i) * k + k0, k, 1});
                   }
                 }
               });
  // A task is some panels of one image and group: about 50 microseconds, to share the work evenly.
  const int64_t across = ceil_div(outputs, columns);
  const int64_t share = max_of<int64_t>(1, min_of(across, 3000000 / max_of<int64_t>(1, padded * k * columns)));
  const int64_t shares = ceil_div(across, share);
  parallel_tasks(call, op.images * op.groups * shares, [&](int64_t task) {
    alignas(64) T panel[gemm_depth * columns];
    const int64_t g = task / shares % op.groups, n = task / shares / op.groups;
    const T *image = op.in + (n * op.groups + g) * op.cin * op.ih * op.iw;
    T *out = op.out + (n * op.groups + g) * m * outputs;
    Start<T> start;
    start.per_row = op.bias ? op.bias + g * m : nullptr;
    const int64_t end = min_of(outputs, (task % shares + 1) * share * columns);
    for (int64_t p = task % shares * share * columns; p < end; p += columns) {
      const int64_t width = min_of(outputs - p, columns);
      int64_t k0 = 0;
      do {  // at least once: without taps the output is the bias
        const int64_t steps = min_of(k - k0, gemm_depth);
        gather_panel(op, image, p, width, k0, steps, panel);
        gemm_packed(m, width, steps, packed + (g * k + k0) * padded, panel, out + p, outputs,
                    k0 > 0 ? Start<T>{true, nullptr, nullptr} : start);
        k0 += gemm_depth;
      } while (k0 < k);
    }
  });
  return true;
}

// ---- channels last: [n, h, w, channels] ---------------------------------------------------------

template <typename T>
bool correlate_channels_last(const wry_call *call, const Correlation<T> &op) {
  constexpr int64_t columns = gemm_columns<T>;
  constexpr int64_t tall = 4 * gemm_rows;  // outputs gathered at a time
  const int64_t k = op.taps * op.cin, m = op.cout, outputs = op.oh * op.ow, padded = rounded_up(m, columns);
  const int64_t in_channels = op.groups * op.cin, out_channels = op.groups * m, room = max_of<int64_t>(k, 1);
  T *reordered = workspace<T>(call, out_channels * room);     // [groups * m, taps, cin]
  T *packed = workspace<T>(call, op.groups * padded * room);  // [groups, cuts of k, panels]
  if (!reordered || !packed) return false;
  const int64_t panels = padded / columns;
  parallel_for(call, op.groups * panels, max_of<int64_t>(1, 4096 / (columns * room)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t g = at / panels, j = at % panels * columns, count = min_of(m - j, columns);
      for (int64_t o = g * m + j; o < g * m + j + count; ++o)
        for (int64_t t = 0; t < op.taps; ++t)
          for (int64_t c = 0; c < op.cin; ++c)
            reordered[(o * op.taps + t) * op.cin + c] = op.weight[(o * op.cin + c) * op.taps + t];
      for (int64_t k0 = 0; k0 < k; k0 += gemm_depth) {
        const int64_t steps = min_of(k - k0, gemm_depth);
        gemm_pack_columns(packed + (g * k + k0) * padded + j * steps, count, steps,
                          Matrix<T>{reordered + (g * m + j) * k + k0, 1, k});
      }
    }
  });
  const int64_t blocks = ceil_div(outputs, tall);
  parallel_tasks(call, op.images * op.groups * blocks, [&](int64_t task) {
    alignas(64) T gathered[tall * gemm_depth];
    const int64_t p0 = task % blocks * tall, count = min_of(outputs - p0, tall);
    const int64_t g = task / blocks % op.groups, n = task / blocks / op.groups;
    const T *image = op.in + n * op.ih * op.iw * in_channels + g * op.cin;
    T *out = op.out + (n * outputs + p0) * out_channels + g * m;
    Start<T> start;
    start.per_column = op.bias ? op.bias + g * m : nullptr;
    int64_t k0 = 0;
    do {
      const int64_t steps = min_of(k - k0, gemm_depth);
      for (int64_t r = 0; r < count; ++r) {
        const int64_t y = (p0 + r) / op.ow * op.step_y, x = (p0 + r) % op.ow * op.step_x;
        T *to = gathered + r * steps;
        for (int64_t at = k0; at < k0 + steps;) {
          const int64_t t = at / op.cin, c = at % op.cin, length = min_of(op.cin - c, k0 + steps - at);
          const int64_t iy = y + op.dy[t], ix = x + op.dx[t];
          if (iy < 0 || iy >= op.ih || ix < 0 || ix >= op.iw) fill_zero(to, length);
          else copy_run(to, image + (iy * op.iw + ix) * in_channels + c, length, 1);
          to += length, at += length;
        }
      }
      for (int64_t j = 0; j < m; j += columns)
        for (int64_t i = 0; i < count; i += gemm_rows)
          gemm_tile<T, 2>(min_of<int64_t>(count - i, gemm_rows), m - j, steps, gathered + i * steps, steps, 1,
                          packed + (g * k + k0) * padded + j * steps, columns, out + i * out_channels + j, out_channels,
                          k0 > 0 ? Start<T>{true, nullptr, nullptr} : start.at(i, j));
      k0 += gemm_depth;
    } while (k0 < k);
  });
  return true;
}

template <typename T>
bool correlate(const wry_call *call, const Correlation<T> &given) {
  Correlation<T> op = given;
  if (op.taps == 1 && op.dy[0] == 0 && op.dx[0] == 0 && op.step_y == 1 && op.step_x == 1 && op.iw == op.ow &&
      op.ih == op.oh) {
    // A 1x1 window keeps no neighbours apart: one long row has no ends to look after.
    op.iw = op.ow = op.oh * op.ow, op.ih = op.oh = 1;
  }
  if (op.channels_last && op.cin == 1 && op.cout == 1 && op.groups > 1) return depthwise_channels_last(call, op);
  if (!op.channels_last && op.cout <= 4 && (op.cin == 1 || op.ow >= lanes<T> / 2)) return few_planes(call, op);
  if constexpr (std::is_same<T, float>::value) {
    if (winograd::applies(op)) return winograd::run(call, op);
  }
  if (flat::applies(op, max_of<int64_t>(16, 2 * lanes<T>))) return flat::run(call, op);
  return op.channels_last ? correlate_channels_last(call, op) : correlate_planes(call, op);
}

// ---- the gradient for the weight ----------------------------------------------------------------

// C[gemm_rows, 2 vectors] += products of `height` lines of `length` positions. Row i of the left
// factor starts at rows[i] and steps on by `step`, from line to line by `jump`; the right one is a
// packed panel. C is added last: a chain through all positions of all images would lose digits.
template <typename T>
__attribute__((noinline)) void lines_tile(int64_t height, int64_t length, const T *const *rows, int64_t step,
                                          int64_t jump, const T *b, T *c, int64_t ldc) {
  constexpr int width = lanes<T>;
  vec<T> sum[gemm_rows][2] = {};
  const T *at[gemm_rows];
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i) at[i] = rows[i];
  const int64_t end = length * step;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < end; x += step, b += 2 * width) {
      const vec<T> b0 = load(b), b1 = load(b + width);
#pragma GCC unroll 16
      for (int i = 0; i < gemm_rows; ++i) {
        const T value = at[i][x];
        sum[i][0] += value * b0;
        sum[i][1] += value * b1;
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < gemm_rows; ++i) at[i] += jump;
  }
#pragma GCC unroll 16
  for (int i = 0; i < gemm_rows; ++i) {
    store(c + i * ldc, load(c + i * ldc) + sum[i][0]);
    store(c + i * ldc + width, load(c + i * ldc + width) + sum[i][1]);
  }
}

// weight_ct [groups * cout, cin, taps]. op.out is the cotangent of the output; op.weight is unused.
//
// For each image, the taps of a group (rows: which input they meet first) times the cotangents
// (columns: output channels), summed over the outputs. The left factor is read where it lies, in a
// copy of the image with its zero border; the right one is packed.
template <typename T>
bool correlate_weight(const wry_call *call, const Correlation<T> &op, T *weight_ct) {
  if (op.cin == 1 && op.groups > 1 && op.cout == 1)
    return op.channels_last ? depthwise_weight_channels_last(call, op, weight_ct)
                            : depthwise_weight_planes(call, op, weight_ct);
  if constexpr (std::is_same<T, float>::value) {
    if (winograd::applies(op)) return winograd::run_weight(call, op, weight_ct);
  }
  if (flat::applies_to_weight(op)) return flat::run_weight(call, op, weight_ct);
  constexpr int64_t rows = gemm_rows, columns = gemm_columns<T>;
  const int64_t k = op.cin * op.taps, m = op.cout, outputs = op.oh * op.ow, in_channels = op.groups * op.cin;
  const Strips reach = strips_of(op, 1);
  const int64_t height = reach.input_rows(op.oh, op.step_y), width = (op.ow - 1) * op.step_x + reach.span_x + 1;
  const int64_t row_blocks = ceil_div(k, rows), panels = ceil_div(m, columns), padded = panels * columns;
  // Some images at a time: threads wait for each other once for all of them.
  const int64_t image_size = in_channels * height * width, packed_size = op.groups * padded * outputs;
  const int64_t batch = max_of<int64_t>(1, min_of<int64_t>(op.images, (1 << 21) / (image_size + packed_size)));
  T *copies = workspace<T>(call, batch * image_size + 1);
  T *packed = workspace<T>(call, batch * packed_size);                   // [images, groups, panels, outputs, columns]
  T *sums = workspace<T>(call, op.groups * row_blocks * rows * padded);  // [groups, k, padded]
  int64_t *offsets = workspace<int64_t>(call, row_blocks * rows);
  if (!copies || !packed || !sums || !offsets) return false;
  fill_zero(sums, op.groups * row_blocks * rows * padded);

  // Positions in the copied image, whose (0, 0) is input (first_dy, first_dx).
  const int64_t along_x = op.channels_last ? in_channels : 1;
  const int64_t along_y = width * along_x, along_c = op.channels_last ? 1 : height * width;
  for (int64_t i = 0; i < row_blocks * rows; ++i) {
    const int64_t row = min_of(i, k - 1), c = row / op.taps, t = row % op.taps;  // the last repeats; it is not read
    offsets[i] = c * along_c + (op.dy[t] - reach.first_dy) * along_y + (op.dx[t] - reach.first_dx) * along_x;
  }
  int64_t x0, x1;
  valid_range(width, 1, reach.first_dx, op.iw, &x0, &x1);

  const int64_t lines = op.channels_last ? height : in_channels * height;  // of the copied image
  const int64_t line = op.channels_last ? width * in_channels : width;
  const int64_t unit = op.channels_last ? in_channels : 1;
  const int64_t stretch = 256, stretches = ceil_div(outputs, stretch);
  const int64_t cut = max_of<int64_t>(1, gemm_depth / op.ow);  // lines of outputs at a time
  // Tasks of some blocks of rows; the panel of a cut stays in the second-level cache meanwhile.
  const int64_t some = max_of<int64_t>(1, min_of<int64_t>(16, row_blocks * op.groups / 8));
  const int64_t tasks = ceil_div(row_blocks, some);
  for (int64_t n = 0; n < op.images; n += batch) {
    const int64_t images = min_of(batch, op.images - n);
    const T *from = op.in + n * in_channels * op.ih * op.iw, *ct = op.out + n * op.groups * m * outputs;
    parallel_for(call, images * lines, max_of<int64_t>(1, 16384 / line), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t c = at / height, y = at % height + reach.first_dy;  // c: of all images, with channels first
        T *to = copies + at * line;
        if (y < 0 || y >= op.ih) {
          fill_zero(to, line);
          continue;
        }
        fill_zero(to, x0 * unit);
        copy_run(to + x0 * unit, from + ((c * op.ih + y) * op.iw + x0 + reach.first_dx) * unit, (x1 - x0) * unit, 1);
        fill_zero(to + x1 * unit, (width - x1) * unit);
      }
    });
    parallel_for(call, images * op.groups * panels * stretches, 2, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t p = at % stretches * stretch, j = at / stretches % panels * columns, rest = at / stretches / panels;
        const int64_t g = rest % op.groups, image = rest / op.groups, channel = g * m + j;
        const T *cotangents = ct + image * op.groups * m * outputs;
        const Matrix<T> right = op.channels_last ? Matrix<T>{cotangents + p * op.groups * m + channel, op.groups * m, 1}
                                                 : Matrix<T>{cotangents + channel * outputs + p, 1, outputs};
        gemm_pack_columns(packed + image * packed_size + (g * padded + j) * outputs + p * columns, min_of(m - j, columns),
                          min_of(outputs - p, stretch), right);
      }
    });
    parallel_tasks(call, op.groups * tasks, [&](int64_t task) {
      const int64_t g = task / tasks, first = task % tasks * some, last = min_of(row_blocks, first + some);
      for (int64_t image = 0; image < images; ++image)
        for (int64_t y = 0; y < op.oh; y += cut)
          for (int64_t j = 0; j < padded; j += columns)
            for (int64_t block = first; block < last; ++block) {
              const T *at[gemm_rows];
              for (int i = 0; i < gemm_rows; ++i)
                at[i] = copies + image * image_size + g * op.cin * along_c + offsets[block * rows + i] + y * op.step_y * along_y;
              lines_tile(min_of(op.oh - y, cut), op.ow, at, op.step_x * along_x, op.step_y * along_y,
                         packed + image * packed_size + (g * padded + j) * outputs + y * op.ow * columns,
                         sums + (g * row_blocks + block) * rows * padded + j, padded);
            }
    });
  }
  for (int64_t g = 0; g < op.groups; ++g)
    transpose_block(sums + g * row_blocks * rows * padded, padded, weight_ct + g * m * k, k, k, m);
  return true;
}

// ---- arguments ----------------------------------------------------------------------------------

int no_memory(const wry_call *call, const char *op) {
  const int64_t *s = output(call, 0)->shape;
  return fail(call, WRY_OUT_OF_MEMORY,
              "%s: out of scratch memory. Got none for a result of shape [%lld, %lld, %lld, %lld], expected room for the "
              "packed weight and an image. Use a smaller batch or image.",
              op, (long long)s[0], (long long)s[1], (long long)s[2], (long long)s[3]);
}

// ---- kernels: contiguous inputs and output, none of which overlap -------------------------------

// x, weight [out, in / groups, kh, kw], bias [out] or absent.
template <typename T>
int conv2d(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *out = output(call, 0), *weight = input(call, 1);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(out, last);
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  const int64_t groups = attr_int(call, 3), kh = weight->shape[2], kw = weight->shape[3], taps = kh * kw;
  int64_t *dy = workspace<int64_t>(call, 2 * taps + 1), *dx = dy + taps;
  bool failed = !dy;
  A *result = result_for<T>(call, out);
  const A *x = as_arithmetic<T>(call, input(call, 0), &failed), *w = as_arithmetic<T>(call, weight, &failed);
  const A *bias = as_arithmetic<T>(call, input(call, 2), &failed);
  if (failed || !result) return no_memory(call, "conv2d");
  for (int64_t t = 0; t < taps; ++t) {
    dy[t] = t / kw * dilations[0] - paddings[0];
    dx[t] = t % kw * dilations[1] - paddings[2];
  }
  const Correlation<A> op = {in.n, groups, in.channels / groups, to.channels / groups, in.h, in.w, to.h, to.w,
                             strides[0], strides[1], taps, dy, dx, x, w, bias, result, last};
  if (!correlate(call, op)) return no_memory(call, "conv2d");
  deliver<T>(call, result, out);
  return WRY_OK;
}

// The taps that reach outputs of remainder r along one axis: input = position + offset.
WRY_INLINE int64_t taps_of_remainder(int64_t size, int64_t stride, int64_t padding, int64_t dilation, int64_t r,
                                     int64_t *index, int64_t *offset) {
  int64_t count = 0;
  for (int64_t i = size - 1; i >= 0; --i) {  // backwards, so that offsets ascend
    const int64_t from = r + padding - i * dilation;
    if (from % stride != 0) continue;
    index[count] = i;
    offset[count++] = from / stride;
  }
  return count;
}

// A call whose scratch memory can be used over and over, for the parts of one kernel that run one
// after another. The first part should be the largest.
struct RepeatedCall {
  wry_context context;  // first: `take` finds the rest from it
  wry_call call;
  wry_context *given;
  void *blocks[16];
  size_t sizes[16];
  int count = 0, used = 0;

  explicit RepeatedCall(const wry_call *original) : context(*original->context), call(*original), given(original->context) {
    context.workspace = take;
    call.context = &context;
  }

  static void *take(wry_context *context, size_t bytes) {
    RepeatedCall *self = reinterpret_cast<RepeatedCall *>(context);
    const int at = self->used++;
    if (at >= 16) return nullptr;
    if (at == self->count || self->sizes[at] < bytes) {
      self->sizes[at] = bytes + bytes / 4 + 4096;  // the parts differ a little in size
      self->blocks[at] = self->given->workspace(self->given, self->sizes[at]);
      if (at == self->count) ++self->count;
    }
    return self->blocks[at];
  }
};

// The remainder that the most taps reach along one axis.
WRY_INLINE int64_t fullest_remainder(int64_t size, int64_t stride, int64_t padding, int64_t dilation, int64_t outputs,
                                     int64_t *index, int64_t *offset) {
  int64_t best = 0, most = -1;
  for (int64_t r = 0; r < min_of(stride, outputs); ++r) {
    const int64_t count = taps_of_remainder(size, stride, padding, dilation, r, index, offset);
    if (count > most) best = r, most = count;
  }
  return best;
}

// The transpose of a convolution: x, weight [in, out / groups, kh, kw], bias [out] or null. Output y
// meets input (y + padding - i * dilation) / stride through tap i, where that is a whole number:
// outputs of one remainder by the stride are a correlation with the taps that fit.
template <typename T>
int transpose_convolution(const wry_call *call, const char *name, const wry_tensor *bias_tensor, bool last) {
  using A = arithmetic_t<T>;
  const wry_tensor *out = output(call, 0), *weight = input(call, 1);
  if (out->size == 0) return WRY_OK;
  const Geometry in = geometry_of(input(call, 0), last), to = geometry_of(out, last);
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  const int64_t groups = attr_int(call, 3), kh = weight->shape[2], kw = weight->shape[3], taps = kh * kw;
  const int64_t cin = in.channels / groups, cout = to.channels / groups, sy = strides[0], sx = strides[1];
  const bool whole = sy == 1 && sx == 1;
  int64_t *dy = workspace<int64_t>(call, 2 * taps + 2 * (kh + kw) + 1), *dx = dy + taps;
  int64_t *iy = dx + taps, *oy = iy + kh, *ix = oy + kh, *ox = ix + kw;
  bool failed = !dy;
  A *result = result_for<T>(call, out);
  const A *x = as_arithmetic<T>(call, input(call, 0), &failed), *w = as_arithmetic<T>(call, weight, &failed);
  const A *bias = as_arithmetic<T>(call, bias_tensor, &failed);
  A *turned = workspace<A>(call, groups * cout * cin * taps + 1);  // [groups * cout, cin, taps]
  A *part = whole ? nullptr : workspace<A>(call, in.n * to.channels * ceil_div(to.h, sy) * ceil_div(to.w, sx));
  if (failed || !result || !turned || (!whole && !part)) return no_memory(call, name);
  RepeatedCall parts(call);
  const int64_t remainders_y = min_of(sy, to.h), remainders_x = min_of(sx, to.w);
  const int64_t first_y = fullest_remainder(kh, sy, paddings[0], dilations[0], to.h, iy, oy);
  const int64_t first_x = fullest_remainder(kw, sx, paddings[2], dilations[1], to.w, ix, ox);
  for (int64_t v = 0; v < remainders_y; ++v)
    for (int64_t u = 0; u < remainders_x; ++u) {
      const int64_t ry = (first_y + v) % remainders_y, rx = (first_x + u) % remainders_x;
      const int64_t ny = taps_of_remainder(kh, sy, paddings[0], dilations[0], ry, iy, oy);
      const int64_t nx = taps_of_remainder(kw, sx, paddings[2], dilations[1], rx, ix, ox);
      for (int64_t t = 0; t < ny * nx; ++t) dy[t] = oy[t / nx], dx[t] = ox[t % nx];
      A *turned_to = turned;
      for (int64_t g = 0; g < groups; ++g)
        for (int64_t m = 0; m < cout; ++m)
          for (int64_t c = 0; c < cin; ++c) {
            const A *window = w + ((g * cin + c) * cout + m) * taps;
            for (int64_t i = 0; i < ny; ++i)
              for (int64_t j = 0; j < nx; ++j) *turned_to++ = window[iy[i] * kw + ix[j]];
          }
      const int64_t ph = ceil_div(to.h - ry, sy), pw = ceil_div(to.w - rx, sx);
      const Correlation<A> op = {in.n, groups, cin, cout, in.h, in.w, ph, pw, 1, 1, ny * nx, dy, dx,
                                 x, turned, bias, whole ? result : part, last};
      parts.used = 0;
      if (!correlate(&parts.call, op)) return no_memory(call, name);
      if (whole) continue;
      const int64_t unit = last ? to.channels : 1, planes = last ? in.n : in.n * to.channels;
      parallel_for(call, planes * ph, max_of<int64_t>(1, 16384 / (pw * unit)), [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          const A *from = part + at * pw * unit;
          A *row = result + ((at / ph * to.h + at % ph * sy + ry) * to.w + rx) * unit;
          if (unit == 1)
            for (int64_t i = 0; i < pw; ++i) row[i * sx] = from[i];
          else
            for (int64_t i = 0; i < pw; ++i) copy_run(row + i * sx * unit, from + i * unit, unit, 1);
        }
      });
    }
  deliver<T>(call, result, out);
  return WRY_OK;
}

template <typename T>
int conv2d_transpose(const wry_call *call) {
  return transpose_convolution<T>(call, "conv2d_transpose", input(call, 2), attr_equals(call, 5, "NHWC"));
}

// ct (of the output), weight, like (only its shape, which is that of the result).
template <typename T>
int conv2d_input_vjp(const wry_call *call) {
  return transpose_convolution<T>(call, "conv2d_input_vjp", nullptr, attr_equals(call, 4, "NHWC"));
}

// ct (of the output), x, weight (only its shape).
template <typename T>
int conv2d_weight_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *ct = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool last = attr_equals(call, 4, "NHWC");
  const Geometry in = geometry_of(input(call, 1), last), to = geometry_of(ct, last);
  const Ints strides = attr_ints(call, 0), paddings = attr_ints(call, 1), dilations = attr_ints(call, 2);
  const int64_t groups = attr_int(call, 3), kh = out->shape[2], kw = out->shape[3], taps = kh * kw;
  int64_t *dy = workspace<int64_t>(call, 2 * taps + 1), *dx = dy + taps;
  bool failed = !dy;
  A *result = result_for<T>(call, out);
  const A *g = as_arithmetic<T>(call, ct, &failed), *x = as_arithmetic<T>(call, input(call, 1), &failed);
  if (failed || !result) return no_memory(call, "conv2d_weight_vjp");
  if (ct->size == 0 || input(call, 1)->size == 0) {
    fill_zero(result, out->size);
    deliver<T>(call, result, out);
    return WRY_OK;
  }
  for (int64_t t = 0; t < taps; ++t) {
    dy[t] = t / kw * dilations[0] - paddings[0];
    dx[t] = t % kw * dilations[1] - paddings[2];
  }
  const Correlation<A> op = {in.n, groups, in.channels / groups, to.channels / groups, in.h, in.w, to.h, to.w,
                             strides[0], strides[1], taps, dy, dx, x, nullptr, nullptr, const_cast<A *>(g), last};
  if (!correlate_weight(call, op, result)) return no_memory(call, "conv2d_weight_vjp");
  deliver<T>(call, result, out);
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    WRY_FLOAT_ROWS("conv2d", WRY_WANTS_CONTIGUOUS, conv2d),
    WRY_FLOAT_ROWS("conv2d_transpose", WRY_WANTS_CONTIGUOUS, conv2d_transpose),
    WRY_FLOAT_ROWS("conv2d_input_vjp", WRY_WANTS_CONTIGUOUS, conv2d_input_vjp),
    WRY_FLOAT_ROWS("conv2d_weight_vjp", WRY_WANTS_CONTIGUOUS, conv2d_weight_vjp),
};

}  // namespace
WRY_TABLE(convolution, table)

}  // namespace WRY_NAMESPACE
