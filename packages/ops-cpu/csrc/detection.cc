// Regions of images: cutting them out, sampling beside the grid, and choosing among boxes.
//
// x [images, C, H, W], boxes [R, 4] as (x1, y1, x2, y2), image [R]; all contiguous.
#include <math.h>

#include <algorithm>
#include <type_traits>

#include "parallel.h"

namespace WRY_NAMESPACE {
namespace {

int check_images(const wry_call *call, const char *op, const wry_tensor *image, int64_t images) {
  const int64_t *which = data<int64_t>(image);
  for (int64_t r = 0; r < image->size; ++r)
    if (WRY_UNLIKELY(uint64_t(which[r]) >= uint64_t(images)))
      return fail(call, WRY_OUT_OF_RANGE,
                  "%s: box %lld lies in no image. Got image %lld, expected one in [0, %lld). Count images from 0.", op, (long long)r,
                  (long long)which[r], (long long)images);
  return WRY_OK;
}

// A coordinate as a whole number. What is NaN or far away becomes a place outside of every image.
template <typename T>
WRY_INLINE int64_t whole(T x) {
  return x > T(-1e9) ? x < T(1e9) ? int64_t(x) : int64_t(1000000000) : int64_t(-1000000000);
}

WRY_INLINE int64_t within(int64_t x, int64_t size) { return x < 0 ? 0 : x > size ? size
                                                                                 : x; }

// ---- roi_align ----------------------------------------------------------------------------------
//
// The samples of a box stand in rows and columns, so their mean over a part is a weighted sum of rows, and of the result's
// columns. Each part of an axis has weights for the pixels from `first` on: out[i, j] = sum_y sum_x row[i][y] * column[j][x] * plane[y, x].

template <typename T>
struct Axis {
  int64_t parts, size;
  int64_t *first, *count;  // of the pixels of each part
  T *weight;               // [parts, size]

  static int64_t words(int64_t parts, int64_t size) { return parts * (2 + size); }  // of 8 bytes

  Axis(int64_t *memory, int64_t parts, int64_t size)
      : parts(parts), size(size), first(memory), count(memory + parts), weight(reinterpret_cast<T *>(memory + 2 * parts)) {}

  // Samples of a box that begins at `start` and is `length` long.
  void fill(T start, T length, int64_t ratio) {
    const T part = length / T(parts);
    const int64_t samples = ratio > 0 ? ratio : within(whole(ceil(part)), int64_t(1) << 20);
    for (int64_t i = 0; i < parts; ++i) {
      T *to = weight + i * size;
      int64_t low = size, high = -1;
      for (int pass = 0; pass < 2; ++pass) {  // the pixels that take part, then their weights
        if (pass == 1) {
          first[i] = low;
          count[i] = high - low + 1 > 0 ? high - low + 1 : 0;
          for (int64_t k = 0; k < count[i]; ++k) to[k] = 0;
        }
        for (int64_t s = 0; s < samples; ++s) {
          T at = start + T(i) * part + (T(s) + T(0.5)) * part / T(samples);
          if (size < 1 || !(at >= T(-1) && at <= T(size))) continue;
          at = at > 0 ? at : 0;
          int64_t below = int64_t(at), above = below + 1;
          if (below >= size - 1) {
            below = above = size - 1;
            at = T(below);
          }
          const T near = at - T(below);
          if (pass == 0) {
            low = min_of(low, below);
            high = max_of(high, above);
          } else {
            to[below - low] += (T(1) - near) / T(samples);
            to[above - low] += near / T(samples);
          }
        }
      }
    }
  }
};

template <typename T>
struct Regions {
  int64_t height, width, ratio, count, images, channels, rows, columns, words;
  T scale, shift;
  bool aligned;
  const T *boxes;

  Regions(const wry_call *call, const wry_tensor *x)
      : height(attr_int(call, 0)), width(attr_int(call, 1)), ratio(attr_int(call, 3)), count(input(call, 1)->shape[0]), images(x->shape[0]), channels(x->shape[1]), rows(x->shape[2]), columns(x->shape[3]), scale(T(attr_float(call, 2))), aligned(attr_bool(call, 4)), boxes(data<T>(input(call, 1))) {
    shift = aligned ? T(0.5) : T(0);
    words = Axis<T>::words(height, rows) + Axis<T>::words(width, columns);
  }

  // The weights of a box, in `memory` of `words`.
  void axes_of(int64_t r, int64_t *memory, Axis<T> *row, Axis<T> *column) const {
    const T *box = boxes + r * 4;
    const T left = box[0] * scale - shift, top = box[1] * scale - shift;
    T wide = box[2] * scale - shift - left, high = box[3] * scale - shift - top;
    if (!aligned) {
      wide = max_of(wide, T(1));
      high = max_of(high, T(1));
    }
    *row = Axis<T>(memory, height, rows);
    *column = Axis<T>(memory + Axis<T>::words(height, rows), width, columns);
    row->fill(top, high, ratio);
    column->fill(left, wide, ratio);
  }
};

template <typename T>
int roi_align(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const Regions<T> z(call, x);
  if (const int status = check_images(call, "roi_align", input(call, 2), z.images)) return status;
  const int64_t *image = data<int64_t>(input(call, 2));
  const T *from = data<T>(x);
  T *out = data<T>(output(call, 0));
  if (output(call, 0)->size == 0) return WRY_OK;
  const int threads = threads_for(call, z.count);
  const int64_t scratch = z.words + z.columns;
  int64_t *memory = workspace<int64_t>(call, threads * scratch + 1);
  if (!memory) return fail_memory(call, "roi_align", threads * scratch * 8);
  parallel_tasks(call, z.count, [&](int64_t r) {
    int64_t *mine = memory + thread_index() * scratch;
    Axis<T> row(mine, 0, 0), column(mine, 0, 0);
    z.axes_of(r, mine, &row, &column);
    T *line = reinterpret_cast<T *>(mine + z.words);
    int64_t left = z.columns, right = 0;
    for (int64_t j = 0; j < z.width; ++j)
      if (column.count[j]) {
        left = min_of(left, column.first[j]);
        right = max_of(right, column.first[j] + column.count[j]);
      }
    for (int64_t c = 0; c < z.channels; ++c) {
      const T *plane = from + (image[r] * z.channels + c) * z.rows * z.columns;
      T *to = out + (r * z.channels + c) * z.height * z.width;
      for (int64_t i = 0; i < z.height; ++i, to += z.width) {
        for (int64_t k = left; k < right; ++k) line[k] = 0;
        for (int64_t y = 0; y < row.count[i]; ++y) {
          const T weight = row.weight[i * z.rows + y];
          const T *WRY_RESTRICT values = plane + (row.first[i] + y) * z.columns;
          T *WRY_RESTRICT sums = line;
          for (int64_t k = left; k < right; ++k) sums[k] += weight * values[k];
        }
        for (int64_t j = 0; j < z.width; ++j) {
          const T *weight = column.weight + j * z.columns, *values = line + column.first[j];
          T total = 0;
          for (int64_t k = 0; k < column.count[j]; ++k) total += weight[k] * values[k];
          to[j] = total;
        }
      }
    }
  });
  return WRY_OK;
}

// Each channel is one piece of work, so that the boxes of a plane are added in order.
template <typename T>
int roi_align_vjp(const wry_call *call) {
  const wry_tensor *like = output(call, 0);
  const Regions<T> z(call, like);
  if (const int status = check_images(call, "roi_align_vjp", input(call, 2), z.images)) return status;
  const int64_t *image = data<int64_t>(input(call, 2));
  const T *ct = data<T>(input(call, 0));
  T *out = data<T>(like);
  if (like->size == 0) return WRY_OK;
  memset(out, 0, size_t(like->size) * sizeof(T));
  if (z.count == 0 || z.channels == 0) return WRY_OK;
  const int threads = threads_for(call, z.channels);
  int64_t *memory = workspace<int64_t>(call, z.words + threads * z.columns + 1);
  if (!memory) return fail_memory(call, "roi_align_vjp", (z.words + threads * z.columns) * 8);
  for (int64_t r = 0; r < z.count; ++r) {
    Axis<T> row(memory, 0, 0), column(memory, 0, 0);
    z.axes_of(r, memory, &row, &column);
    parallel_for(call, z.channels, max_of<int64_t>(1, 8192 / (z.height * z.columns)), [&](int64_t begin, int64_t end) {
      T *line = reinterpret_cast<T *>(memory + z.words + thread_index() * z.columns);
      for (int64_t c = begin; c < end; ++c) {
        T *plane = out + (image[r] * z.channels + c) * z.rows * z.columns;
        const T *given = ct + (r * z.channels + c) * z.height * z.width;
        for (int64_t i = 0; i < z.height; ++i, given += z.width) {
          if (!row.count[i]) continue;
          int64_t left = z.columns, right = 0;
          for (int64_t j = 0; j < z.width; ++j)
            if (column.count[j]) {
              left = min_of(left, column.first[j]);
              right = max_of(right, column.first[j] + column.count[j]);
            }
          for (int64_t k = left; k < right; ++k) line[k] = 0;
          for (int64_t j = 0; j < z.width; ++j)
            for (int64_t k = 0; k < column.count[j]; ++k) line[column.first[j] + k] += given[j] * column.weight[j * z.columns + k];
          for (int64_t y = 0; y < row.count[i]; ++y) {
            const T weight = row.weight[i * z.rows + y];
            T *WRY_RESTRICT sums = plane + (row.first[i] + y) * z.columns;
            const T *WRY_RESTRICT values = line;
            for (int64_t k = left; k < right; ++k) sums[k] += weight * values[k];
          }
        }
      }
    });
  }
  return WRY_OK;
}

// ---- roi_pool, psroi_pool -----------------------------------------------------------------------

// The pixels [begin, end) of part i of an axis of `size`.
template <typename T>
WRY_INLINE void part_of(T start, T part, int64_t i, int64_t size, int64_t *begin, int64_t *end) {
  *begin = within(whole(floor(T(i) * part + start)), size);
  *end = within(whole(ceil(T(i + 1) * part + start)), size);
}

template <typename T>
int roi_pool(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const int64_t height = attr_int(call, 0), width = attr_int(call, 1), images = x->shape[0], channels = x->shape[1];
  const int64_t rows = x->shape[2], columns = x->shape[3], count = input(call, 1)->shape[0];
  const T scale = T(attr_float(call, 2)), *boxes = data<T>(input(call, 1)), *from = data<T>(x);
  const int64_t *image = data<int64_t>(input(call, 2));
  if (const int status = check_images(call, "roi_pool", input(call, 2), images)) return status;
  T *out = data<T>(output(call, 0));
  int64_t *index = data<int64_t>(output(call, 1));
  if (output(call, 0)->size == 0) return WRY_OK;
  parallel_tasks(call, count, [&](int64_t r) {
    const T *box = boxes + r * 4;
    const T left = round(box[0] * scale), top = round(box[1] * scale);
    const T wide = max_of(round(box[2] * scale) - left + T(1), T(1)) / T(width);
    const T high = max_of(round(box[3] * scale) - top + T(1), T(1)) / T(height);
    int64_t at = r * channels * height * width;
    for (int64_t c = 0; c < channels; ++c) {
      const T *plane = from + (image[r] * channels + c) * rows * columns;
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j, ++at) {
          int64_t y, y_end, begin, end, best = -1;
          // Parts of whole numbers are moved after rounding.
          y = within(whole(floor(T(i) * high)) + whole(top), rows);
          y_end = within(whole(ceil(T(i + 1) * high)) + whole(top), rows);
          begin = within(whole(floor(T(j) * wide)) + whole(left), columns);
          end = within(whole(ceil(T(j + 1) * wide)) + whole(left), columns);
          T most = 0;
          for (; y < y_end; ++y)
            for (int64_t k = begin; k < end; ++k)
              if (best < 0 || plane[y * columns + k] > most) {
                best = y * columns + k;
                most = plane[best];
              }
          out[at] = most;
          index[at] = best;
        }
    }
  });
  return WRY_OK;
}

template <typename T>
struct Parts {
  int64_t height, width, count, images, planes, channels, rows, columns;
  T scale;
  const T *boxes;

  Parts(const wry_call *call, const wry_tensor *x)
      : height(attr_int(call, 0)), width(attr_int(call, 1)), count(input(call, 1)->shape[0]), images(x->shape[0]), planes(x->shape[1]), channels(x->shape[1] / (height * width)), rows(x->shape[2]), columns(x->shape[3]), scale(T(attr_float(call, 2))), boxes(data<T>(input(call, 1))) {}

  void pixels(int64_t r, int64_t i, int64_t j, int64_t *y, int64_t *y_end, int64_t *begin, int64_t *end) const {
    const T *box = boxes + r * 4;
    const T left = round(box[0]) * scale, top = round(box[1]) * scale;
    const T wide = max_of((round(box[2]) + T(1)) * scale - left, T(0.1)), high = max_of((round(box[3]) + T(1)) * scale - top, T(0.1));
    part_of(top, high / T(height), i, rows, y, y_end);
    part_of(left, wide / T(width), j, columns, begin, end);
  }
};

template <typename T>
int psroi_pool(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  const Parts<T> z(call, x);
  if (const int status = check_images(call, "psroi_pool", input(call, 2), z.images)) return status;
  const int64_t *image = data<int64_t>(input(call, 2));
  const T *from = data<T>(x);
  T *out = data<T>(output(call, 0));
  if (output(call, 0)->size == 0) return WRY_OK;
  parallel_tasks(call, z.count, [&](int64_t r) {
    T *to = out + r * z.channels * z.height * z.width;
    for (int64_t c = 0; c < z.channels; ++c)
      for (int64_t i = 0; i < z.height; ++i)
        for (int64_t j = 0; j < z.width; ++j) {
          const T *plane = from + (image[r] * z.planes + (c * z.height + i) * z.width + j) * z.rows * z.columns;
          int64_t y, y_end, begin, end;
          z.pixels(r, i, j, &y, &y_end, &begin, &end);
          const int64_t area = max_of<int64_t>(0, y_end - y) * max_of<int64_t>(0, end - begin);
          T total = 0;
          for (; y < y_end; ++y)
            for (int64_t k = begin; k < end; ++k) total += plane[y * z.columns + k];
          *to++ = area ? total / T(area) : T(0);
        }
  });
  return WRY_OK;
}

template <typename T>
int psroi_pool_vjp(const wry_call *call) {
  const wry_tensor *like = output(call, 0);
  const Parts<T> z(call, like);
  if (const int status = check_images(call, "psroi_pool_vjp", input(call, 2), z.images)) return status;
  const int64_t *image = data<int64_t>(input(call, 2));
  const T *ct = data<T>(input(call, 0));
  T *out = data<T>(like);
  if (like->size == 0) return WRY_OK;
  memset(out, 0, size_t(like->size) * sizeof(T));
  // A plane belongs to one part, so planes are pieces of work.
  parallel_tasks(call, z.count ? z.planes : 0, [&](int64_t p) {
    const int64_t i = p / z.width % z.height, j = p % z.width;
    for (int64_t r = 0; r < z.count; ++r) {
      T *plane = out + (image[r] * z.planes + p) * z.rows * z.columns;
      int64_t y, y_end, begin, end;
      z.pixels(r, i, j, &y, &y_end, &begin, &end);
      const int64_t area = max_of<int64_t>(0, y_end - y) * max_of<int64_t>(0, end - begin);
      const T share = area ? ct[r * z.planes + p] / T(area) : T(0);
      for (; y < y_end; ++y)
        for (int64_t k = begin; k < end; ++k) plane[y * z.columns + k] += share;
    }
  });
  return WRY_OK;
}

// ---- deform_columns -----------------------------------------------------------------------------

template <typename T>
struct Deformed {
  int64_t images, channels, rows, columns, groups, taps, high, wide, places, inner;  // inner: channels of a group
  int64_t kernel_w, stride[2], padding[2], dilation[2];
  const T *offset, *mask;

  Deformed(const wry_call *call, int first) {
    const wry_tensor *x = input(call, first), *given = input(call, first + 1), *m = input(call, first + 2);
    images = x->shape[0], channels = x->shape[1], rows = x->shape[2], columns = x->shape[3];
    high = given->shape[2], wide = given->shape[3], places = high * wide;
    kernel_w = attr_ints(call, 0)[1];
    taps = attr_ints(call, 0)[0] * kernel_w;
    for (int a = 0; a < 2; ++a) stride[a] = attr_ints(call, 1)[a], padding[a] = attr_ints(call, 2)[a], dilation[a] = attr_ints(call, 3)[a];
    groups = attr_int(call, 4);
    inner = channels / groups;
    offset = data<T>(given);
    mask = m ? data<T>(m) : nullptr;
  }

  // Of each place of a tap: the four pixels around (place 0 where there is none), and how far it lies between them.
  // weight: of the pixels, 0 where there is none. up, along: how the weights grow with y and x.
  struct Table {
    int32_t *pixel;          // [4, places]
    T *weight, *up, *along;  // [4, places]
  };
  static int64_t words(int64_t places) { return 4 * places * 4; }
  static Table table_in(int64_t *memory, int64_t places) {
    T *values = reinterpret_cast<T *>(memory + 4 * places);
    return {reinterpret_cast<int32_t *>(memory), values, values + 4 * places, values + 8 * places};
  }

  void fill(const Table &t, int64_t n, int64_t g, int64_t tap, bool slopes) const {
    const T *move = offset + ((n * groups + g) * taps + tap) * 2 * places;
    const int64_t base_y = tap / kernel_w * dilation[0] - padding[0], base_x = tap % kernel_w * dilation[1] - padding[1];
    for (int64_t p = 0; p < places; ++p) {
      const T y = T(p / wide * stride[0] + base_y) + move[p], x = T(p % wide * stride[1] + base_x) + move[places + p];
      const bool inside = y > T(-1) && x > T(-1) && y < T(rows) && x < T(columns);
      const int64_t low_y = inside ? int64_t(floor(y)) : 0, low_x = inside ? int64_t(floor(x)) : 0;
      const T near_y = y - T(low_y), near_x = x - T(low_x);
      for (int corner = 0; corner < 4; ++corner) {
        const int64_t row = low_y + corner / 2, column = low_x + corner % 2, at = corner * places + p;
        const bool here = inside && row >= 0 && row < rows && column >= 0 && column < columns;
        const T part_y = corner / 2 ? near_y : T(1) - near_y, part_x = corner % 2 ? near_x : T(1) - near_x;
        t.pixel[at] = here ? int32_t(row * columns + column) : 0;
        t.weight[at] = here ? part_y * part_x : T(0);
        if (slopes) {
          t.up[at] = here ? corner / 2 ? part_x : -part_x : T(0);
          t.along[at] = here ? corner % 2 ? part_y : -part_y : T(0);
        }
      }
    }
  }
};

template <typename T>
int check_plane(const wry_call *call, const char *op, const Deformed<T> &z) {
  if (z.rows * z.columns <= INT32_MAX) return WRY_OK;
  return fail(call, WRY_INVALID, "%s: the image is too large. Got %lld pixels, expected at most %d. Cut it.", op,
              (long long)(z.rows * z.columns), INT32_MAX);
}

template <typename T>
int deform_columns(const wry_call *call) {
  const Deformed<T> z(call, 0);
  if (const int status = check_plane(call, "deform_columns", z)) return status;
  T *out = data<T>(output(call, 0));
  const int64_t size = output(call, 0)->size, plane = z.rows * z.columns;
  if (size == 0) return WRY_OK;
  if (plane == 0) {
    memset(out, 0, size_t(size) * sizeof(T));
    return WRY_OK;
  }
  const T *x = data<T>(input(call, 0));
  const int64_t tasks = z.images * z.groups * z.taps, words = z.words(z.places);
  const int threads = threads_for(call, tasks);
  int64_t *memory = workspace<int64_t>(call, threads * words + 1);
  if (!memory) return fail_memory(call, "deform_columns", threads * words * 8);
  parallel_tasks(call, tasks, [&](int64_t task) {
    const int64_t n = task / (z.groups * z.taps), g = task / z.taps % z.groups, tap = task % z.taps, places = z.places;
    const auto t = z.table_in(memory + thread_index() * words, places);
    z.fill(t, n, g, tap, false);
    if (z.mask) {
      const T *share = z.mask + task * places;
      for (int corner = 0; corner < 4; ++corner)
        for (int64_t p = 0; p < places; ++p) t.weight[corner * places + p] *= share[p];
    }
    for (int64_t c = g * z.inner; c < (g + 1) * z.inner; ++c) {
      const T *from = x + (n * z.channels + c) * plane;
      T *to = out + ((n * z.channels + c) * z.taps + tap) * places;
      const int32_t *pixel = t.pixel;
      const T *weight = t.weight;
      for (int64_t p = 0; p < places; ++p)
        to[p] = weight[p] * from[pixel[p]] + weight[places + p] * from[pixel[places + p]] +
                (weight[2 * places + p] * from[pixel[2 * places + p]] + weight[3 * places + p] * from[pixel[3 * places + p]]);
    }
  });
  return WRY_OK;
}

template <typename T>
int deform_columns_vjp(const wry_call *call) {
  const Deformed<T> z(call, 1);
  if (const int status = check_plane(call, "deform_columns_vjp", z)) return status;
  T *x_ct = data<T>(output(call, 0)), *offset_ct = data<T>(output(call, 1)), *mask_ct = data<T>(output(call, 2));
  for (int i = 0; i < 3; ++i) memset(output(call, i)->data, 0, size_t(output(call, i)->size) * sizeof(T));
  const int64_t plane = z.rows * z.columns, places = z.places, words = z.words(places), tables = z.groups * z.taps;
  if (plane == 0 || places == 0 || z.images == 0) return WRY_OK;
  const T *ct = data<T>(input(call, 0)), *x = data<T>(input(call, 1));
  // The tables of all taps of one image: first the taps are pieces of work, which read all channels, then the channels.
  int64_t *memory = workspace<int64_t>(call, tables * words + 1);
  if (!memory) return fail_memory(call, "deform_columns_vjp", tables * words * 8);
  for (int64_t n = 0; n < z.images; ++n) {
    parallel_tasks(call, tables, [&](int64_t task) {
      const int64_t g = task / z.taps, tap = task % z.taps;
      const auto t = z.table_in(memory + task * words, places);
      z.fill(t, n, g, tap, true);
      T *up = offset_ct + (n * tables + task) * 2 * places, *along = up + places, *share = mask_ct + (n * tables + task) * places;
      for (int64_t c = g * z.inner; c < (g + 1) * z.inner; ++c) {
        const T *from = x + (n * z.channels + c) * plane, *given = ct + ((n * z.channels + c) * z.taps + tap) * places;
        for (int corner = 0; corner < 4; ++corner)
          for (int64_t p = 0; p < places; ++p) {
            const int64_t at = corner * places + p;
            const T value = given[p] * from[t.pixel[at]];
            up[p] += value * t.up[at];
            along[p] += value * t.along[at];
            share[p] += value * t.weight[at];
          }
      }
      if (!z.mask) return;
      const T *mask = z.mask + (n * tables + task) * places;
      for (int64_t p = 0; p < places; ++p) up[p] *= mask[p], along[p] *= mask[p];
      for (int corner = 0; corner < 4; ++corner)
        for (int64_t p = 0; p < places; ++p) t.weight[corner * places + p] *= mask[p];
    });
    parallel_tasks(call, z.channels, [&](int64_t c) {
      T *to = x_ct + (n * z.channels + c) * plane;
      for (int64_t tap = 0; tap < z.taps; ++tap) {
        const auto t = z.table_in(memory + (c / z.inner * z.taps + tap) * words, places);
        const T *given = ct + ((n * z.channels + c) * z.taps + tap) * places;
        for (int corner = 0; corner < 4; ++corner)
          for (int64_t p = 0; p < places; ++p) to[t.pixel[corner * places + p]] += given[p] * t.weight[corner * places + p];
      }
    });
  }
  return WRY_OK;
}

// ---- suppress -----------------------------------------------------------------------------------
//
// Boxes are decided on in blocks: inside a block one after the other, then those of it that remain strike what lies behind,
// in threads.

// Groups and marks are as wide as the numbers, so that compilers compute several boxes at once.

template <typename T>
struct Sides {
  using Mark = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const T *x1, *y1, *x2, *y2, *area;
  const Mark *group;
  T threshold, offset;

  // Strikes the boxes in [begin, end) that box i overlaps.
  void strike(int64_t i, int64_t begin, int64_t end, Mark *WRY_RESTRICT struck) const {
    const T left = x1[i], top = y1[i], right = x2[i], bottom = y2[i], mine = area[i];
    const Mark own = group[i];
    for (int64_t j = begin; j < end; ++j) {
      const T l = left > x1[j] ? left : x1[j], t = top > y1[j] ? top : y1[j];
      const T r = right < x2[j] ? right : x2[j], b = bottom < y2[j] ? bottom : y2[j];
      const T width = r - l + offset, height = b - t + offset;  // computed for all, so that none is jumped over
      const T wide = r >= l ? width : T(0), high = b >= t ? height : T(0);
      const T common = wide * high;
      struck[j] |= Mark(common / (mine + area[j] - common) > threshold) & Mark(group[j] == own);
    }
  }
};

template <typename T>
int suppress(const wry_call *call) {
  constexpr int64_t block = 64;
  const int64_t n = input(call, 0)->shape[0];
  const T *boxes = data<T>(input(call, 0));
  T *sides = workspace<T>(call, 5 * n + 1);
  using Mark = typename Sides<T>::Mark;
  Mark *struck = workspace<Mark>(call, n + 1), *group = workspace<Mark>(call, n + 1);
  int64_t *known = workspace<int64_t>(call, n + 1);
  if (!sides || !struck || !group || !known) return fail_memory(call, "suppress", n * 56);
  // Groups by their rank: numbers of 64 bits that differ stay different in 32.
  const int64_t *named = data<int64_t>(input(call, 1));
  std::copy(named, named + n, known);
  std::sort(known, known + n);
  for (int64_t i = 0; i < n; ++i) group[i] = Mark(std::lower_bound(known, known + n, named[i]) - known);
  Sides<T> z = {sides, sides + n, sides + 2 * n, sides + 3 * n, sides + 4 * n, group, T(attr_float(call, 0)), T(attr_float(call, 1))};
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) sides[k * n + i] = boxes[4 * i + k];
    sides[4 * n + i] = (boxes[4 * i + 2] - boxes[4 * i] + z.offset) * (boxes[4 * i + 3] - boxes[4 * i + 1] + z.offset);
    struck[i] = 0;
  }
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t end = min_of(n, begin + block);
    for (int64_t i = begin; i < end; ++i)
      if (!struck[i]) z.strike(i, i + 1, end, struck);
    parallel_for(call, n - end, 512, [&](int64_t from, int64_t to) {
      for (int64_t i = begin; i < end; ++i)
        if (!struck[i]) z.strike(i, end + from, end + to, struck);
    });
  }
  bool *out = data<bool>(output(call, 0));
  for (int64_t i = 0; i < n; ++i) out[i] = !struck[i];
  return WRY_OK;
}

#define WRY_TWO_ROWS(op, kernel) WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel)

const wry_kernel_entry table[] = {
    WRY_TWO_ROWS("roi_align", roi_align),
    WRY_TWO_ROWS("roi_align_vjp", roi_align_vjp),
    WRY_TWO_ROWS("roi_pool", roi_pool),
    WRY_TWO_ROWS("psroi_pool", psroi_pool),
    WRY_TWO_ROWS("psroi_pool_vjp", psroi_pool_vjp),
    WRY_TWO_ROWS("deform_columns", deform_columns),
    WRY_TWO_ROWS("deform_columns_vjp", deform_columns_vjp),
    WRY_TWO_ROWS("suppress", suppress),
};

}  // namespace
}  // namespace WRY_NAMESPACE

WRY_TABLE(detection, WRY_NAMESPACE::table)
