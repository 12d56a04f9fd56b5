// layer_norm, group_norm, batch_norm and dropout, with their gradients.
//
// All inputs are contiguous; outputs overlap no input. Rows, and channels that fit, are read once (rows.h); their statistics are the mean, then the
// squared distances from it. What does not fit is read once for sums of distances from one of its own values: as that value is among them, the
// variance is at least its squared distance from the mean over n, and what the subtraction loses is small. Sums for the
// parameters go through each in a fixed order.
#include "philox.h"
#include "rows.h"

namespace wherry {
namespace cuda {
namespace {

template <typename A>
WRY_GPU A total_of_block(A value) { return block_total<Total<A>>(value); }

// A parameter, whose dtype need not be that of the values; absent: `otherwise`.
struct Parameter {
  const void *data;
  int32_t dtype;
  template <typename A>
  WRY_GPU A at(int64_t i, A otherwise) const {
    if (!data) return otherwise;
    switch (dtype) {
      case WRY_FLOAT16: return A(load(static_cast<const half *>(data) + i));
      case WRY_BFLOAT16: return A(load(static_cast<const bfloat16 *>(data) + i));
      case WRY_FLOAT32: return A(static_cast<const float *>(data)[i]);
      default: return A(static_cast<const double *>(data)[i]);
    }
  }
  // V of them, from a multiple of V on.
  template <int V, typename A>
  WRY_GPU void read(int64_t i, A otherwise, A *to) const {
    if (!data) {
#pragma unroll
      for (int k = 0; k < V; ++k) to[k] = otherwise;
      return;
    }
    switch (dtype) {
      case WRY_FLOAT16: return read_pack<V>(static_cast<const half *>(data) + i, to);
      case WRY_BFLOAT16: return read_pack<V>(static_cast<const bfloat16 *>(data) + i, to);
      case WRY_FLOAT32: return read_pack<V>(static_cast<const float *>(data) + i, to);
      default: return read_pack<V>(static_cast<const double *>(data) + i, to);
    }
  }
  WRY_GPU void set(int64_t i, double value) const {
    void *to = const_cast<void *>(data);
    switch (dtype) {
      case WRY_FLOAT16: static_cast<half *>(to)[i] = __float2half(float(value)); break;
      case WRY_BFLOAT16: static_cast<bfloat16 *>(to)[i] = __float2bfloat16(float(value)); break;
      case WRY_FLOAT32: static_cast<float *>(to)[i] = float(value); break;
      default: static_cast<double *>(to)[i] = value;
    }
  }
};
Parameter parameter_of(const wry_tensor *t) { return t ? Parameter{t->data, t->dtype} : Parameter{nullptr, 0}; }

int64_t size_from(const wry_tensor *t, int64_t axis) {
  int64_t n = 1;
  for (int i = int(axis); i < t->rank; ++i) n *= t->shape[i];
  return n;
}
dim3 rows_grid(int64_t rows) { return dim3(some_blocks(rows)); }

// Mean and reciprocal of the standard deviation of a row that was read into `line`, in every thread.
template <typename S, typename L, typename T, typename A, typename P>
WRY_GPU void moments_of(const L &line, const T *x, int64_t n, const P &at, A epsilon, A *mean_, A *rstd_) {
  A sum = 0, shift = 0, rest = 0, rest_squares = 0;
  int64_t count = 0;
  line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
    for (int k = 0; k < S::V; ++k) sum += v[k];
  });
  line.beyond(x, n, at, [&](int64_t, const A *v) {
    if (count == 0) shift = v[0];
    count += S::V;
#pragma unroll
    for (int k = 0; k < S::V; ++k) rest += v[k] - shift, rest_squares += (v[k] - shift) * (v[k] - shift);
  });
  const A mean = S::template total<Total<A>>(sum + (count ? rest + shift * A(count) : A(0))) / A(n);
  A squares = 0;
  if (count) {  // squared distances from the mean of these, then from that of all
    const A own = rest / A(count), away = shift + own - mean, spread = rest_squares - rest * own;
    squares = (spread < A(0) ? A(0) : spread) + A(count) * away * away;
  }
  line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
    for (int k = 0; k < S::V; ++k) squares += (v[k] - mean) * (v[k] - mean);
  });
  *mean_ = mean, *rstd_ = A(1) / sqrt(S::template total<Total<A>>(squares) / A(n) + epsilon);
}

// ---- layer_norm -----------------------------------------------------------------------------------

// A block takes rows b, b + blocks, ... and keeps its part of the parameters for all of them.
template <typename T, typename A, typename S, int E>
__global__ void __launch_bounds__(block_size, 2) layer_norm_kernel(Rows r, const T *x, Parameter scale, Parameter bias, A epsilon, T *out, A *means, A *rstds) {
  constexpr int V = S::V;
  A scales[E], biases[E];
#pragma unroll
  for (int k = 0; k < E / V; ++k) {
    const int64_t i = (int64_t(k) * S::size() + S::rank()) * V;
    if (i >= r.n) break;
    scale.read<V>(i, A(1), scales + k * V);
    bias.read<V>(i, A(0), biases + k * V);
  }
  const Even steps = S::steps(r);
  for
    WRY_ROWS(S, row, r) {
      const T *from = x + row * r.n;
      T *to = out + row * r.n;
      Line<T, S, E> line;
      A mean, rstd;
      line.read(from, r.n, steps);
      moments_of<S>(line, from, r.n, steps, epsilon, &mean, &rstd);
#pragma unroll
      for (int k = 0; k < E / V; ++k) {
        const int64_t i = (int64_t(k) * S::size() + S::rank()) * V;
        if (i >= r.n) break;
        A result[V];
#pragma unroll
        for (int j = 0; j < V; ++j) result[j] = (line.kept[k * V + j] - mean) * rstd * scales[k * V + j] + biases[k * V + j];
        write_pack<V>(to + i, result);
      }
      line.beyond(from, r.n, steps, [&](int64_t i, const A *v) {
        A result[V], s[V], b[V];
        scale.read<V>(i, A(1), s);
        bias.read<V>(i, A(0), b);
#pragma unroll
        for (int j = 0; j < V; ++j) result[j] = (v[j] - mean) * rstd * s[j] + b[j];
        write_pack<V>(to + i, result);
      });
      if (threadIdx.x == 0) means[row] = mean, rstds[row] = rstd;
    }
}
// As many blocks as GPUs have room for at once, of `threads` each: more would only read parameters again.
dim3 lasting_grid(int64_t rows, unsigned threads, int64_t room) { return dim3(some_blocks(rows, room / threads)); }

template <typename T>
int layer_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const int64_t n = size_from(input(call, 0), attr_int(call, 1)), rows = output(call, 1)->size;
  if (rows == 0) return WRY_OK;
  const Rows r = {rows, n, 1, 0};
  return by_lines<pack_size<T>()>(r, are_aligned(call), [&](auto spread, dim3, dim3 block) {
    using S = decltype(spread);
    return check(call, wry_launch(layer_norm_kernel<T, A, S, kept_values<T, S::V>(2)>, lasting_grid(rows, block.x, 1 << 16), block, 0, stream(call), r,
                                  data<T>(input(call, 0)), parameter_of(input(call, 1)), parameter_of(input(call, 2)), A(attr_float(call, 0)),
                                  data<T>(output(call, 0)), data<A>(output(call, 1)), data<A>(output(call, 2))));
  });
}

// sums  [blocks, 2, n]: of the rows of each block, ct times what was normalized, and ct; null where another kernel adds them up
template <typename T, typename A, typename S, int E>
__global__ void __launch_bounds__(block_size, S::V > 4 ? 1 : 2)
    layer_norm_vjp_kernel(Rows r, const T *ct, const T *x, Parameter scale, const A *means, const A *rstds, T *out,
                          A *sums) {
  constexpr int V = S::V;
  A scales[E], along_of[E], plain_of[E];
#pragma unroll
  for (int k = 0; k < E / V; ++k) {
    const int64_t i = (int64_t(k) * S::size() + S::rank()) * V;
#pragma unroll
    for (int j = 0; j < V; ++j) along_of[k * V + j] = plain_of[k * V + j] = A(0);
    if (i < r.n) scale.read<V>(i, A(1), scales + k * V);
  }
  const Even steps = S::steps(r);
  for
    WRY_ROWS(S, row, r) {
      const T *cts = ct + row * r.n, *xs = x + row * r.n;
      T *to = out + row * r.n;
      const A mean = means[row], rstd = rstds[row];
      LinePair<T, S, E> lines;
      lines.read(cts, xs, r.n, steps);
      A plain = 0, along = 0;
#pragma unroll
      for (int k = 0; k < E / V; ++k) {
        if ((int64_t(k) * S::size() + S::rank()) * V >= r.n) break;
#pragma unroll
        for (int j = k * V; j < k * V + V; ++j) {
          const A c = lines.x.kept[j], normal = (lines.y.kept[j] - mean) * rstd;
          plain_of[j] += c, along_of[j] += c * normal;
          plain += c * scales[j], along += c * scales[j] * normal;
        }
      }
      lines.beyond(cts, xs, r.n, steps, [&](int64_t i, const A *c, const A *v) {
        A s[V];
        scale.read<V>(i, A(1), s);
#pragma unroll
        for (int j = 0; j < V; ++j) plain += c[j] * s[j], along += c[j] * s[j] * ((v[j] - mean) * rstd);
      });
      plain = total_of_block(plain) / A(r.n), along = total_of_block(along) / A(r.n);
#pragma unroll
      for (int k = 0; k < E / V; ++k) {
        const int64_t i = (int64_t(k) * S::size() + S::rank()) * V;
        if (i >= r.n) break;
        A result[V];
#pragma unroll
        for (int j = 0; j < V; ++j)
          result[j] = (lines.x.kept[k * V + j] * scales[k * V + j] - plain - (lines.y.kept[k * V + j] - mean) * rstd * along) * rstd;
        write_pack<V>(to + i, result);
      }
      lines.beyond(cts, xs, r.n, steps, [&](int64_t i, const A *c, const A *v) {
        A result[V], s[V];
        scale.read<V>(i, A(1), s);
#pragma unroll
        for (int j = 0; j < V; ++j) result[j] = (c[j] * s[j] - plain - (v[j] - mean) * rstd * along) * rstd;
        write_pack<V>(to + i, result);
      });
    }
  if (!sums) return;
#pragma unroll
  for (int k = 0; k < E / V; ++k) {
    const int64_t i = (int64_t(k) * S::size() + S::rank()) * V;
    if (i >= r.n) break;
    write_pack<V>(sums + 2 * blockIdx.x * r.n + i, along_of + k * V);
    write_pack<V>(sums + (2 * blockIdx.x + 1) * r.n + i, plain_of + k * V);
  }
}
// Thread (j, y) adds up rows y, y + 8, ... of column j; neighbouring threads read neighbouring columns.
template <typename F>
WRY_GPU void add_columns(int64_t rows, int64_t n, Parameter along_to, Parameter plain_to, F f) {
  for (int64_t first = blockIdx.x * int64_t(blockDim.x); first < n; first += int64_t(gridDim.x) * blockDim.x) {
    const int64_t j = first + threadIdx.x;
    double along = 0, plain = 0;
    for (int64_t row = threadIdx.y; j < n && row < rows; row += blockDim.y) f(row, j, &along, &plain);
    along = column_total<Total<double>>(along), plain = column_total<Total<double>>(plain);
    if (j < n && threadIdx.y == 0) along_to.set(j, along), plain_to.set(j, plain);
  }
}
template <typename A>
__global__ void __launch_bounds__(block_size) add_sums(int64_t blocks, int64_t n, const A *sums, Parameter scale_ct, Parameter bias_ct) {
  add_columns(blocks, n, scale_ct, bias_ct, [&](int64_t row, int64_t j, double *along, double *plain) {
    *along += double(sums[2 * row * n + j]), *plain += double(sums[(2 * row + 1) * n + j]);
  });
}
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) layer_norm_parameters(int64_t rows, int64_t n, const T *ct, const T *x, const A *means, const A *rstds,
                                                                    Parameter scale_ct, Parameter bias_ct) {
  add_columns(rows, n, scale_ct, bias_ct, [&](int64_t row, int64_t j, double *along, double *plain) {
    const A c = load(ct + row * n + j);
    *plain += double(c), *along += double(c * ((load(x + row * n + j) - means[row]) * rstds[row]));
  });
}
template <typename T>
int layer_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const int64_t n = size_from(input(call, 1), attr_int(call, 0)), rows = input(call, 3)->size;
  const T *ct = data<T>(input(call, 0)), *x = data<T>(input(call, 1));
  const A *means = data<A>(input(call, 3)), *rstds = data<A>(input(call, 4));
  const Parameter scale_ct = parameter_of(output(call, 1)), bias_ct = parameter_of(output(call, 2));
  if (n == 0) return WRY_OK;
  A *sums = nullptr;
  int64_t blocks = 0;
  if (rows) {
    const Rows r = {rows, n, 1, 0};
    const int status = by_lines<pack_size<T>()>(r, are_aligned(call), [&](auto spread, dim3, dim3 block) {
      using S = decltype(spread);
      constexpr int E = kept_values<T, S::V>(2);
      const bool fits = n <= int64_t(E) * block.x;
      // Few rows: all blocks that there can be. Many: some for each block, or the sums would be as long as what they are of.
      const int64_t some = rows / 8 < 128 ? (rows < 128 ? rows : 128) : rows / 8;
      const dim3 grid = lasting_grid(fits ? some : rows, block.x, 1 << 16);
      blocks = grid.x;
      if (fits && !(sums = workspace<A>(call, 2 * blocks * n))) return fail_memory(call, "layer_norm_vjp", 2 * blocks * n * int64_t(sizeof(A)));
      return check(call, wry_launch(layer_norm_vjp_kernel<T, A, S, E>, grid, block, 0, stream(call), r, ct, x, parameter_of(input(call, 2)), means, rstds,
                                    data<T>(output(call, 0)), sums));
    });
    if (status != WRY_OK) return status;
  }
  const dim3 block(32, 8), grid = blocks_for(n, 32);
  if (sums) return check(call, wry_launch(add_sums<A>, grid, block, 0, stream(call), blocks, n, const_cast<const A *>(sums), scale_ct, bias_ct));
  return check(call, wry_launch(layer_norm_parameters<T, A>, grid, block, 0, stream(call), rows, n, ct, x, means, rstds, scale_ct, bias_ct));
}

// ---- group_norm -----------------------------------------------------------------------------------

// x [N, channels, run]: the channels of a group lie after one another, as one row, which a block takes. A pack lies in one channel.
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size, S::V > 1 ? 2 : 1)
    group_norm_kernel(Rows r, int64_t groups, int64_t channels, int64_t run, const T *x, Parameter scale,
                      Parameter bias, A epsilon, T *out, A *means, A *rstds) {
  constexpr int V = S::V;
  const Even steps = S::steps(r);
  for
    WRY_ROWS(S, row, r) {
      const T *from = x + row * r.n;
      const int64_t first = row % groups * channels;
      Line<T, S, kept_values<T, V>()> line;
      A mean, rstd;
      line.read(from, r.n, steps);
      moments_of<S>(line, from, r.n, steps, epsilon, &mean, &rstd);
      line.again(from, r.n, steps, [&](int64_t i, const A *v) {
        const int64_t channel = first + i / run;
        const A factor = rstd * scale.at<A>(channel, A(1)), shift = bias.at<A>(channel, A(0));
        A result[V];
#pragma unroll
        for (int k = 0; k < V; ++k) result[k] = (v[k] - mean) * factor + shift;
        write_pack<V>(out + row * r.n + i, result);
      });
      if (threadIdx.x == 0) means[row] = mean, rstds[row] = rstd;
    }
}
template <typename T>
int group_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const int64_t groups = attr_int(call, 1), channels = x->shape[1] / groups, run = size_from(x, 2), rows = output(call, 1)->size;
  if (rows == 0) return WRY_OK;
  const Rows r = {rows, channels * run, 1, 0};
  return by_lines<pack_size<T>()>(r, are_aligned(call) && run % pack_size<T>() == 0, [&](auto spread, dim3 grid, dim3 block) {
    return check(call, wry_launch(group_norm_kernel<T, A, decltype(spread)>, grid, block, 0, stream(call), r, groups, channels, run, data<T>(x),
                                  parameter_of(input(call, 1)), parameter_of(input(call, 2)), A(attr_float(call, 0)), data<T>(output(call, 0)),
                                  data<A>(output(call, 1)), data<A>(output(call, 2))));
  });
}

// The gradient. `sums` [images, 2, all channels] has for each channel of each image the sums of ct times what was normalized, and of ct, which
// add_sums adds up over the images.
struct Groups {
  int64_t rows, groups, channels, run;  // channels of a group
  WRY_GPU int64_t first(int64_t row) const { return row % groups * channels; }
  WRY_GPU double *sums_of(double *sums, int64_t row) const { return sums + 2 * (row / groups) * groups * channels + first(row); }
  WRY_GPU int64_t all() const { return groups * channels; }
};

// What a thread keeps of a row, as it lies in memory: 128 bytes in packs, single values less.
template <typename T, typename S>
constexpr int kept_raw() { return S::V > 1 ? 128 / int(sizeof(T)) : sizeof(arithmetic_t<T>) == 8 ? 8
                                                                                                 : 16; }

// A group that one block keeps. Each pack of a thread, which lies in one channel, leaves its two sums in shared memory; `team` threads, all of
// one warp, then take a channel. Totals of packs: [2, n / V].
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size, 2) group_norm_vjp_of_rows(Groups g, int team, const T *ct, const T *x, Parameter scale, const A *means,
                                                                        const A *rstds, double *sums, T *out) {
  constexpr int V = S::V, E = kept_raw<T, S>();
  WRY_DYNAMIC_SHARED(A, part);
  const int n = int(g.channels * g.run), packs = n / V, run = int(g.run) / V, threads = int(blockDim.x);
  for (int64_t row = blockIdx.x; row < g.rows; row += gridDim.x) {
    const T *cts = ct + row * n, *xs = x + row * n;
    const int64_t first = g.first(row);
    const A mean = means[row], rstd = rstds[row];
    T gs[E], vs[E];
#pragma unroll
    for (int k = 0; k < E / V; ++k) {
      const int at = k * threads + int(threadIdx.x);
      if (at >= packs) break;
      read_words<V>(cts + at * V, gs + k * V);
      read_words<V>(xs + at * V, vs + k * V);
    }
#pragma unroll
    for (int k = 0; k < E / V; ++k) {
      const int at = k * threads + int(threadIdx.x);
      if (at >= packs) break;
      A along = 0, plain = 0;
#pragma unroll
      for (int j = k * V; j < k * V + V; ++j) plain += load(gs + j), along += load(gs + j) * (load(vs + j) - mean);
      part[at] = along, part[packs + at] = plain;
    }
    __syncthreads();
    double group_along = 0, group_plain = 0;
    double *to = g.sums_of(sums, row);
    const int rank = int(threadIdx.x) % team;
    for (int c0 = 0; c0 < g.channels; c0 += threads / team) {
      const int c = c0 + int(threadIdx.x) / team;
      double along = 0, plain = 0;
      if (c < g.channels)
        for (int i = rank; i < run; i += team) along += double(part[c * run + i]), plain += double(part[packs + c * run + i]);
      for (int step = 1; step < team; step *= 2)
        along += __shfl_xor_sync(0xffffffffu, along, step), plain += __shfl_xor_sync(0xffffffffu, plain, step);
      if (c < g.channels && rank == 0) {
        const double factor = double(scale.at<A>(first + c, A(1)));
        along *= double(rstd);
        to[c] = along, to[g.all() + c] = plain;
        group_along += along * factor, group_plain += plain * factor;
      }
    }
    group_along = total_of_block(group_along), group_plain = total_of_block(group_plain);  // of the next row nothing is written before
    const A slope = A(group_along / double(n)) * rstd, mean_ct = A(group_plain / double(n));
#pragma unroll
    for (int k = 0; k < E / V; ++k) {
      const int at = k * threads + int(threadIdx.x);
      if (at >= packs) break;
      const A factor = scale.at<A>(first + at / run, A(1));
      A result[V];
#pragma unroll
      for (int j = 0; j < V; ++j) result[j] = (load(gs + k * V + j) * factor - mean_ct - (load(vs + k * V + j) - mean) * slope) * rstd;
      write_pack<V>(out + row * n + at * V, result);
    }
  }
}
// Longer groups are read twice: a block for each channel of each image, then one for each group.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) channel_sums(Groups g, const T *ct, const T *x, const A *means, const A *rstds, double *sums) {
  for (int64_t k = blockIdx.x; k < g.rows * g.channels; k += gridDim.x) {
    const int64_t row = k / g.channels;
    const A mean = means[row];
    double along = 0, plain = 0;
    for (int64_t i = threadIdx.x; i < g.run; i += blockDim.x) {
      const A c = load(ct + k * g.run + i);
      plain += double(c);
      along += double(c * (load(x + k * g.run + i) - mean));
    }
    plain = total_of_block(plain), along = total_of_block(along);
    if (threadIdx.x) continue;
    double *to = g.sums_of(sums, row) + k % g.channels;
    to[0] = along * double(rstds[row]), to[g.all()] = plain;
  }
}
// x_ct = (ct * factor - mean(ct * factor) - normal * mean(ct * factor * normal)) * rstd.
template <typename T, typename A>
__global__ void __launch_bounds__(block_size, 1) group_norm_vjp_kernel(Groups g, const T *ct, const T *x, Parameter scale, const A *means, const A *rstds,
                                                                       double *sums, T *out) {
  const int64_t n = g.channels * g.run;
  for (int64_t row = blockIdx.x; row < g.rows; row += gridDim.x) {
    const int64_t first = g.first(row);
    const double *from = g.sums_of(sums, row);
    double along = 0, plain = 0;
    for (int64_t c = threadIdx.x; c < g.channels; c += blockDim.x) {
      const double factor = double(scale.at<A>(first + c, A(1)));
      along += from[c] * factor;
      plain += from[g.all() + c] * factor;
    }
    along = total_of_block(along), plain = total_of_block(plain);
    const A mean = means[row], rstd = rstds[row], slope = A(along / double(n)) * rstd, mean_ct = A(plain / double(n));
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      out[row * n + i] =
          narrow<T>((load(ct + row * n + i) * scale.at<A>(first + i / g.run, A(1)) - mean_ct - (load(x + row * n + i) - mean) * slope) * rstd);
  }
}
// group_norm_vjp(ct, x, scale?, mean, rstd) -> x_ct, scale_ct, bias_ct
template <typename T>
int group_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 1);
  const int64_t groups = attr_int(call, 0), all = x->shape[1], channels = all / groups, run = size_from(x, 2), rows = input(call, 3)->size;
  if (all == 0) return WRY_OK;
  const Groups g = {rows, groups, channels, run};
  double *sums = workspace<double>(call, 2 * rows * channels + 1);
  if (!sums) return fail_memory(call, "group_norm_vjp", 2 * rows * channels * 8);
  const T *ct = data<T>(input(call, 0)), *from = data<T>(x);
  const A *means = data<A>(input(call, 3)), *rstds = data<A>(input(call, 4));
  const Parameter scale = parameter_of(input(call, 2));
  T *out = data<T>(output(call, 0));
  if (rows) {
    bool done = false;
    const Rows r = {rows, channels * run, 1, 0};
    const int status = by_lines<pack_size<T>()>(r, are_aligned(call) && run % pack_size<T>() == 0, [&](auto spread, dim3 grid, dim3 block) {
      using S = decltype(spread);
      done = r.n <= int64_t(kept_raw<T, S>()) * block.x;
      if (!done) return int(WRY_OK);
      const size_t shared = size_t(2 * (r.n / S::V + 1)) * sizeof(A);
      return check(call, wry_launch(group_norm_vjp_of_rows<T, A, S>, grid, block, shared, stream(call), g, threads_across(run / S::V), ct, from, scale, means,
                                    rstds, sums, out));
    });
    if (status != WRY_OK) return status;
    if (!done) {
      WRY_TRY(wry_launch(channel_sums<T, A>, rows_grid(rows * channels), dim3(threads_for((run + 3) / 4)), 0, stream(call), g, ct, from, means, rstds, sums));
      WRY_TRY(wry_launch(group_norm_vjp_kernel<T, A>, rows_grid(rows), dim3(block_size), 0, stream(call), g, ct, from, scale, means, rstds, sums, out));
    }
  }
  return check(call, wry_launch(add_sums<double>, blocks_for(all, 32), dim3(32, 8), 0, stream(call), x->shape[0], all, const_cast<const double *>(sums),
                                parameter_of(output(call, 1)), parameter_of(output(call, 2))));
}

// ---- batch_norm -----------------------------------------------------------------------------------

// [batch, channels, run]; channels last: run is 1
struct Channels {
  int64_t batch, channels, run;
  int64_t chunk, chunks;  // of what a channel has: values, or rows where channels are last
};
Channels channels_of(const wry_tensor *x, bool last) {
  Channels c = {1, x->shape[last ? x->rank - 1 : 1], 1, 0, 0};
  if (last) {
    c.batch = x->size / (c.channels ? c.channels : 1);
  } else {
    c.batch = x->shape[0];
    for (int i = 2; i < x->rank; ++i) c.run *= x->shape[i];
  }
  return c;
}
// Where value i of a channel is, whose first is at 0.
struct InChannel {
  int64_t channels, run;
  WRY_GPU int64_t operator()(int64_t i) const { return i / run * channels * run + i % run; }
};

// What a thread goes through of its chunk, V values at a time: of one channel, or of V channels where they are last. C is how many
// channels it has.
template <int V_, bool Last_>
struct Slab {
  static constexpr int V = V_, C = Last_ ? V_ : 1;
  static constexpr bool Last = Last_;
  static WRY_GPU int64_t channel() { return Last ? (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) * V : blockIdx.x; }
  // f(place of the first of V values)
  template <typename F>
  static WRY_GPU void each(const Channels &c, F f) {
    const int64_t k = channel();
    if (k >= c.channels) return;
    const int64_t n = Last ? c.batch : c.batch * c.run, begin = blockIdx.y * c.chunk, end = begin + c.chunk < n ? begin + c.chunk : n;
    if constexpr (Last) {
      for (int64_t i = begin + threadIdx.y; i < end; i += blockDim.y) f(i * c.channels + k);
    } else {
      const InChannel at = {c.channels, c.run};
      for (int64_t i = begin + int64_t(threadIdx.x) * V; i < end; i += int64_t(blockDim.x) * V) f(k * c.run + at(i));
    }
  }
  static WRY_GPU double total(double value) {
    if constexpr (Last) return column_total<Total<double>>(value);
    else return block_total<Total<double>>(value);
  }
  static WRY_GPU bool speaks(const Channels &c) { return channel() < c.channels && (Last ? threadIdx.y : threadIdx.x) == 0; }
};
// Calls launch(Slab, channels with their chunks, grid, block).
template <int V, typename F>
int by_slabs(Channels c, bool last, bool packed, F &&launch) {
  const int64_t n = last ? c.batch : c.batch * c.run, blocks_wanted = 1024;
  if (last) {
    const int pack = packed && c.channels % V == 0 ? V : 1, wide = threads_across((c.channels + pack - 1) / pack), high = block_size / wide;
    const int64_t tiles = (c.channels + wide * pack - 1) / (wide * pack), most = (n + 4 * high - 1) / (4 * high);
    c.chunks = blocks_wanted / tiles < 1 ? 1 : blocks_wanted / tiles < most ? blocks_wanted / tiles
                                                                            : most;
    c.chunk = (n + c.chunks - 1) / c.chunks, c.chunks = (n + c.chunk - 1) / c.chunk;
    const dim3 grid(unsigned(tiles), unsigned(c.chunks)), block(wide, high);
    return pack > 1 ? launch(Slab<V, true>(), c, grid, block) : launch(Slab<1, true>(), c, grid, block);
  }
  const int pack = packed && c.run % V == 0 ? V : 1;
  const int64_t each = int64_t(block_size) * pack, most = (n + 4 * each - 1) / (4 * each);
  c.chunks = blocks_wanted / c.channels < 1 ? 1 : blocks_wanted / c.channels < most ? blocks_wanted / c.channels
                                                                                    : most;
  c.chunk = ((n + c.chunks - 1) / c.chunks + pack - 1) / pack * pack, c.chunks = (n + c.chunk - 1) / c.chunk;
  const dim3 grid(unsigned(c.channels), unsigned(c.chunks)), block(threads_for((c.chunk / pack + 3) / 4));
  return pack > 1 ? launch(Slab<V, false>(), c, grid, block) : launch(Slab<1, false>(), c, grid, block);
}

// parts [chunks, 2, channels]: sums of two numbers that f(place, values, number of the value) gives of each value. With Y a second tensor is
// read beside x.
template <typename S, bool Y, typename T, typename F>
WRY_GPU void sum_slab(const Channels &c, const T *x, const T *y, double *parts, F f) {
  double first[S::C] = {}, second[S::C] = {};
  S::each(c, [&](int64_t at) {
    arithmetic_t<T> xs[S::V], ys[S::V] = {};
    read_pack<S::V>(x + at, xs);
    if (Y) read_pack<S::V>(y + at, ys);
#pragma unroll
    for (int k = 0; k < S::V; ++k) f(k, xs[k], ys[k], &first[S::Last ? k : 0], &second[S::Last ? k : 0]);
  });
#pragma unroll
  for (int k = 0; k < S::C; ++k) first[k] = S::total(first[k]), second[k] = S::total(second[k]);
  if (!S::speaks(c)) return;
  double *to = parts + 2 * blockIdx.y * c.channels + S::channel();
  write_pack<S::C>(to, first), write_pack<S::C>(to + c.channels, second);
}
// The first value of each channel of a slab: what distances are from.
template <typename S, typename T, typename A>
WRY_GPU void shifts_of(const Channels &c, const T *x, A *shifts) {
#pragma unroll
  for (int k = 0; k < S::C; ++k) shifts[k] = A(0);
  if (S::channel() < c.channels) read_pack<S::C>(x + S::channel() * (S::Last ? 1 : c.run), shifts);
}
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size) channel_statistics(Channels c, const T *x, double *parts) {
  A shifts[S::C];
  shifts_of<S>(c, x, shifts);
  sum_slab<S, false>(c, x, x, parts, [&](int k, A v, A, double *sum, double *squares) {
    const double d = double(v) - double(shifts[S::Last ? k : 0]);
    *sum += d, *squares += d * d;
  });
}
template <typename T, typename A>
__global__ void __launch_bounds__(block_size) finish_statistics(Channels c, int64_t step, const T *x, const double *parts, A *means, A *variances) {
  const double n = double(c.batch * c.run);
  for
    WRY_EACH(k, c.channels) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < c.chunks; ++i) sum += parts[2 * i * c.channels + k], squares += parts[(2 * i + 1) * c.channels + k];
      const double variance = (squares - sum * (sum / n)) / n;
      means[k] = A(double(load(x + k * step)) + sum / n), variances[k] = A(variance < 0 ? 0 : variance);  // a NaN stays
    }
}
// What all threads of a slab need of the channels: those of the thread.
template <typename S, typename T, typename A>
__global__ void __launch_bounds__(block_size, 1) normalize(Channels c, const T *x, const A *means, const A *variances, Parameter scale, Parameter bias, A epsilon,
                                                           T *out) {
  A mean[S::C], factor[S::C], shift[S::C];
  if (S::channel() >= c.channels) return;
  read_pack<S::C>(means + S::channel(), mean);
  read_pack<S::C>(variances + S::channel(), factor);
  scale.read<S::C>(S::channel(), A(1), shift);
#pragma unroll
  for (int k = 0; k < S::C; ++k) factor[k] = shift[k] / sqrt(factor[k] + epsilon);
  bias.read<S::C>(S::channel(), A(0), shift);
  S::each(c, [&](int64_t at) {
    A v[S::V];
    read_pack<S::V>(x + at, v);
#pragma unroll
    for (int k = 0; k < S::V; ++k) v[k] = (v[k] - mean[S::Last ? k : 0]) * factor[S::Last ? k : 0] + shift[S::Last ? k : 0];
    write_pack<S::V>(out + at, v);
  });
}
template <typename T>
int normalized(const wry_call *call, const Channels &c, bool last, const arithmetic_t<T> *mean, const arithmetic_t<T> *variance, const wry_tensor *scale,
               const wry_tensor *bias) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  return by_slabs<pack_size<T>()>(c, last, are_aligned(call), [&](auto slab, const Channels &parts, dim3 grid, dim3 block) {
    return check(call, wry_launch(normalize<decltype(slab), T, A>, grid, block, 0, stream(call), parts, data<T>(x), mean, variance, parameter_of(scale),
                                  parameter_of(bias), A(attr_float(call, 0)), data<T>(output(call, 0))));
  });
}

// A channel that one block keeps.
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size, 2) batch_norm_of_rows(Channels c, const T *x, Parameter scale, Parameter bias, A epsilon, T *out, A *means,
                                                                    A *variances) {
  const int64_t n = c.batch * c.run;
  const InChannel at = {c.channels, c.run};
  for (int64_t k = blockIdx.x; k < c.channels; k += gridDim.x) {
    const T *from = x + k * c.run;
    T *to = out + k * c.run;
    Line<T, S, kept_values<T, S::V>()> line;
    line.read(from, n, at);
    double sum = 0, squares = 0;
    line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
      for (int j = 0; j < S::V; ++j) sum += double(v[j]);
    });
    const A mean = A(total_of_block(sum) / double(n));
    line.over_kept(n, [&](int64_t, const A *v) {
#pragma unroll
      for (int j = 0; j < S::V; ++j) squares += (double(v[j]) - double(mean)) * (double(v[j]) - double(mean));
    });
    const A variance = A(total_of_block(squares) / double(n)), factor = scale.at<A>(k, A(1)) / sqrt(variance + epsilon), shift = bias.at<A>(k, A(0));
    line.over_kept(n, [&](int64_t i, const A *v) {
      A result[S::V];
#pragma unroll
      for (int j = 0; j < S::V; ++j) result[j] = (v[j] - mean) * factor + shift;
      write_pack<S::V>(to + at(i), result);
    });
    if (threadIdx.x == 0) means[k] = mean, variances[k] = variance;
  }
}
// Whether the rows of a channel, `lines` tensors of them, fit into the registers of the block that `block` has chosen.
template <typename T, typename S>
bool fits(const Channels &c, dim3 block, int lines) { return c.batch * c.run <= int64_t(kept_values<T, S::V>(lines)) * block.x; }
inline Rows rows_of(const Channels &c) { return {c.channels, c.batch * c.run, 1, 0}; }

template <typename T>
int batch_norm(const wry_call *call) {
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0);
  const bool last = attr_equals(call, 1, "NHWC");
  const Channels c = channels_of(x, last);
  A *mean = data<A>(output(call, 1)), *variance = data<A>(output(call, 2));
  if (c.channels == 0) return WRY_OK;
  const int64_t n = c.batch * c.run;
  bool done = false;
  int status = WRY_OK;
  if (!last || c.channels == 1 || n == 0)  // nothing at all is a short channel too
    status = by_lines<pack_size<T>()>(rows_of(c), are_aligned(call) && c.run % pack_size<T>() == 0, [&](auto spread, dim3 grid, dim3 block) {
      using S = decltype(spread);
      done = fits<T, S>(c, block, 1);
      if (!done) return int(WRY_OK);
      return check(call, wry_launch(batch_norm_of_rows<T, A, S>, grid, block, 0, stream(call), c, data<T>(x), parameter_of(input(call, 1)),
                                    parameter_of(input(call, 2)), A(attr_float(call, 0)), data<T>(output(call, 0)), mean, variance));
    });
  if (done) return status;
  status = by_slabs<pack_size<T>()>(c, last, are_aligned(call), [&](auto slab, const Channels &parts, dim3 grid, dim3 block) {
    double *sums = workspace<double>(call, 2 * parts.chunks * c.channels);
    if (!sums) return fail_memory(call, "batch_norm", 2 * parts.chunks * c.channels * 8);
    WRY_TRY(wry_launch(channel_statistics<T, A, decltype(slab)>, grid, block, 0, stream(call), parts, data<T>(x), sums));
    const int threads = threads_for(c.channels);
    return check(call, wry_launch(finish_statistics<T, A>, blocks_for(c.channels, threads), dim3(threads), 0, stream(call), parts, last ? int64_t(1) : c.run,
                                  data<T>(x), const_cast<const double *>(sums), mean, variance));
  });
  return status == WRY_OK ? normalized<T>(call, c, last, mean, variance, input(call, 1), input(call, 2)) : status;
}
// batch_norm_infer(x, mean, variance, scale?, bias?) -> out
template <typename T>
int batch_norm_infer(const wry_call *call) {
  using A = arithmetic_t<T>;
  const bool last = attr_equals(call, 1, "NHWC");
  return normalized<T>(call, channels_of(input(call, 0), last), last, data<A>(input(call, 1)), data<A>(input(call, 2)), input(call, 3), input(call, 4));
}

// batch_norm_vjp(ct, x, scale?, mean, variance) -> x_ct, scale_ct, bias_ct
//
// x_ct = (ct - mean(ct) - (x - mean) * slope) * factor
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size, 2) batch_norm_vjp_of_rows(Channels c, const T *ct, const T *x, Parameter scale, const A *means, const A *variances,
                                                                        double epsilon, T *out, Parameter scale_ct, Parameter bias_ct) {
  const int64_t n = c.batch * c.run;
  const InChannel at = {c.channels, c.run};
  for (int64_t k = blockIdx.x; k < c.channels; k += gridDim.x) {
    const T *cts = ct + k * c.run, *xs = x + k * c.run;
    T *to = out + k * c.run;
    const A mean = means[k];
    double along = 0, plain = 0;
    LinePair<T, S, kept_values<T, S::V>(2)> lines;
    lines.read(cts, xs, n, at);
    lines.over_kept(n, [&](int64_t, const A *g, const A *v) {
#pragma unroll
      for (int j = 0; j < S::V; ++j) plain += double(g[j]), along += double(g[j] * (v[j] - mean));
    });
    plain = total_of_block(plain), along = total_of_block(along);
    const double rstd = 1 / sqrt(double(variances[k]) + epsilon);
    const A factor = A(rstd) * scale.at<A>(k, A(1)), mean_ct = A(plain / double(n)), slope = A(along / double(n) * rstd * rstd);
    lines.over_kept(n, [&](int64_t i, const A *g, const A *v) {
      A result[S::V];
#pragma unroll
      for (int j = 0; j < S::V; ++j) result[j] = (g[j] - mean_ct - (v[j] - mean) * slope) * factor;
      write_pack<S::V>(to + at(i), result);
    });
    if (threadIdx.x == 0) scale_ct.set(k, along * rstd), bias_ct.set(k, plain);
  }
}
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size) batch_norm_vjp_sums(Channels c, const T *ct, const T *x, const A *means, double *parts) {
  A mean[S::C] = {};
  if (S::channel() < c.channels) read_pack<S::C>(means + S::channel(), mean);
  sum_slab<S, true>(c, ct, x, parts, [&](int k, A g, A v, double *plain, double *along) {
    *plain += double(g), *along += double(g * (v - mean[S::Last ? k : 0]));
  });
}
// terms [3, channels]: factor, mean of ct, slope
template <typename A>
__global__ void __launch_bounds__(block_size) batch_norm_vjp_terms(Channels c, const double *parts, Parameter scale, const A *variances, double epsilon, A *terms,
                                                                   Parameter scale_ct, Parameter bias_ct) {
  const double n = double(c.batch * c.run);
  for
    WRY_EACH(k, c.channels) {
      double plain = 0, along = 0;
      for (int64_t i = 0; i < c.chunks; ++i) plain += parts[2 * i * c.channels + k], along += parts[(2 * i + 1) * c.channels + k];
      const double rstd = 1 / sqrt(double(variances[k]) + epsilon);
      terms[k] = A(rstd) * scale.at<A>(k, A(1)), terms[c.channels + k] = A(plain / n), terms[2 * c.channels + k] = A(along / n * rstd * rstd);
      scale_ct.set(k, along * rstd), bias_ct.set(k, plain);
    }
}
template <typename T, typename A, typename S>
__global__ void __launch_bounds__(block_size) batch_norm_vjp_apply(Channels c, const T *ct, const T *x, const A *means, const A *terms, T *out) {
  if (S::channel() >= c.channels) return;
  A mean[S::C], factor[S::C], mean_ct[S::C], slope[S::C];
  read_pack<S::C>(means + S::channel(), mean);
  read_pack<S::C>(terms + S::channel(), factor);
  read_pack<S::C>(terms + c.channels + S::channel(), mean_ct);
  read_pack<S::C>(terms + 2 * c.channels + S::channel(), slope);
  S::each(c, [&](int64_t at) {
    A g[S::V], v[S::V];
    read_pack<S::V>(ct + at, g);
    read_pack<S::V>(x + at, v);
#pragma unroll
    for (int j = 0; j < S::V; ++j) {
      const int k = S::Last ? j : 0;
      g[j] = (g[j] - mean_ct[k] - (v[j] - mean[k]) * slope[k]) * factor[k];
    }
    write_pack<S::V>(out + at, g);
  });
}
template <typename T>
int batch_norm_vjp(const wry_call *call) {
  using A = arithmetic_t<T>;
  const T *ct = data<T>(input(call, 0)), *x = data<T>(input(call, 1));
  const bool last = attr_equals(call, 1, "NHWC"), aligned = are_aligned(call);
  const Channels c = channels_of(input(call, 1), last);
  if (c.channels == 0) return WRY_OK;
  const Parameter scale = parameter_of(input(call, 2)), scale_ct = parameter_of(output(call, 1)), bias_ct = parameter_of(output(call, 2));
  const A *mean = data<A>(input(call, 3)), *variance = data<A>(input(call, 4));
  T *out = data<T>(output(call, 0));
  const int64_t n = c.batch * c.run;
  bool done = false;
  int status = WRY_OK;
  if (!last || c.channels == 1 || n == 0)  // nothing at all is a short channel too
    status = by_lines<pack_size<T>()>(rows_of(c), aligned && c.run % pack_size<T>() == 0, [&](auto spread, dim3 grid, dim3 block) {
      using S = decltype(spread);
      done = fits<T, S>(c, block, 2);
      if (!done) return int(WRY_OK);
      return check(call, wry_launch(batch_norm_vjp_of_rows<T, A, S>, grid, block, 0, stream(call), c, ct, x, scale, mean, variance, attr_float(call, 0), out,
                                    scale_ct, bias_ct));
    });
  if (done) return status;
  return by_slabs<pack_size<T>()>(c, last, aligned, [&](auto slab, const Channels &parts, dim3 grid, dim3 block) {
    using S = decltype(slab);
    double *sums = workspace<double>(call, 2 * parts.chunks * c.channels);
    A *terms = workspace<A>(call, 3 * c.channels);
    if (!sums || !terms) return fail_memory(call, "batch_norm_vjp", (2 * parts.chunks + 3) * c.channels * 8);
    WRY_TRY(wry_launch(batch_norm_vjp_sums<T, A, S>, grid, block, 0, stream(call), parts, ct, x, mean, sums));
    const int threads = threads_for(c.channels);
    WRY_TRY(wry_launch(batch_norm_vjp_terms<A>, blocks_for(c.channels, threads), dim3(threads), 0, stream(call), parts, const_cast<const double *>(sums), scale,
                       variance, attr_float(call, 0), terms, scale_ct, bias_ct));
    return check(call, wry_launch(batch_norm_vjp_apply<T, A, S>, grid, block, 0, stream(call), parts, ct, x, mean, const_cast<const A *>(terms), out));
  });
}

// ---- dropout --------------------------------------------------------------------------------------

// What the ops dropout and add give one after the other: never one multiplication with addition.
template <typename T, typename A>
WRY_GPU A sum_after_rounding(A a, A b) {
  const T rounded = narrow<T>(a);
  if constexpr (sizeof(A) == 8) return __dadd_rn(load(&rounded), b);
  else return __fadd_rn(load(&rounded), b);
}

// An element is kept where its uniform number is below 1 - p, in integers: both are multiples of 2^-24. A block of the generator
// serves four elements. With Adds, y is added to what dropout would have written: the product is rounded before the sum.
template <typename T, bool Adds>
__global__ void __launch_bounds__(block_size)
    dropout_kernel(int64_t n, Draw draw, uint32_t limit, double scale_, bool packed, const T *x, const T *y, T *out, uint8_t *mask) {
  using A = arithmetic_t<T>;
  constexpr int V = pack_size<T>() < 4 ? 4 : pack_size<T>();
  const A scale = A(scale_);
  const int64_t packs = packed ? n / V : 0;
  for
    WRY_EACH(at, packs) {
      A v[V];
      uint8_t kept[V];
      read_pack<V>(x + at * V, v);
#pragma unroll
      for (int k = 0; k < V; k += 4) {
        const PhiloxBlock p = philox(draw.seed, draw.offset + uint64_t(at * V + k) / 4);
        kept[k] = p.a >> 8 < limit, kept[k + 1] = p.b >> 8 < limit, kept[k + 2] = p.c >> 8 < limit, kept[k + 3] = p.d >> 8 < limit;
      }
#pragma unroll
      for (int k = 0; k < V; ++k) v[k] = kept[k] ? v[k] * scale : A(0);
      if (Adds) {
        A w[V];
        read_pack<V>(y + at * V, w);
#pragma unroll
        for (int k = 0; k < V; ++k) v[k] = sum_after_rounding<T>(v[k], w[k]);
      }
      write_pack<V>(out + at * V, v);
      write_words<V>(mask + at * V, kept);
    }
  for
    WRY_EACH(rest, n - packs * V) {
      const int64_t i = packs * V + rest;
      const bool kept = word_of(draw, i) >> 8 < limit;
      const A v = kept ? load(x + i) * scale : A(0);
      out[i] = narrow<T>(Adds ? sum_after_rounding<T>(v, load(y + i)) : v);
      mask[i] = kept;
    }
}
template <typename T, bool Adds>
int dropped(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  if (x->size == 0) return WRY_OK;
  const double p = attr_float(call, 0), scale = attr_bool(call, 1) && p < 1 ? 1 / (1 - p) : 1;
  const uint32_t limit = uint32_t(ceil(double(float(1 - p)) * 0x1p24));
  const int threads = threads_for((x->size + 3) / 4);
  return check(call, wry_launch(dropout_kernel<T, Adds>, blocks_for((x->size + 3) / 4, threads), dim3(threads), 0, stream(call), x->size, draw_of(call), limit,
                                scale, are_aligned(call), data<T>(x), Adds ? data<T>(input(call, 1)) : nullptr, data<T>(output(call, 0)),
                                data<uint8_t>(output(call, 1))));
}
template <typename T>
int dropout(const wry_call *call) { return dropped<T, false>(call); }
template <typename T>
int dropout_add(const wry_call *call) { return dropped<T, true>(call); }
template <typename T>
__global__ void __launch_bounds__(block_size) dropout_vjp_kernel(int64_t n, double scale_, bool packed, const T *ct, const uint8_t *mask, T *out) {
  using A = arithmetic_t<T>;
  constexpr int V = pack_size<T>();
  const A scale = A(scale_);
  const int64_t packs = packed ? n / V : 0;
  for
    WRY_EACH(at, packs) {
      A v[V];
      uint8_t kept[V];
      read_pack<V>(ct + at * V, v);
      read_words<V>(mask + at * V, kept);
#pragma unroll
      for (int k = 0; k < V; ++k) v[k] = kept[k] ? v[k] * scale : A(0);
      write_pack<V>(out + at * V, v);
    }
  for
    WRY_EACH(rest, n - packs * V) {
      const int64_t i = packs * V + rest;
      out[i] = narrow<T>(mask[i] ? load(ct + i) * scale : A(0));
    }
}
template <typename T>
int dropout_vjp(const wry_call *call) {
  const wry_tensor *ct = input(call, 0);
  if (ct->size == 0) return WRY_OK;
  const int64_t packs = (ct->size + pack_size<T>() - 1) / pack_size<T>();
  const int threads = threads_for(packs);
  return check(call, wry_launch(dropout_vjp_kernel<T>, blocks_for(packs, threads), dim3(threads), 0, stream(call), ct->size, attr_float(call, 0),
                                are_aligned(call), data<T>(ct), data<uint8_t>(input(call, 1)), data<T>(output(call, 0))));
}

#include <wherry/kernels/rows/normalization.h>

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(normalization, wherry::cuda::table)
