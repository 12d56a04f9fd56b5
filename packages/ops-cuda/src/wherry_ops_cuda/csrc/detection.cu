// Regions of images: cutting them out, and choosing among boxes.
//
// x [images, C, H, W], boxes [R, 4] as (x1, y1, x2, y2), image [R]; all contiguous. Gradients are gathered: a thread adds up what
// all boxes give to its pixel, in the order of the boxes.
#include "common.h"

namespace wherry {
namespace cuda {
namespace {

template <typename T>
WRY_GPU T larger(T a, T b) { return a < b ? b : a; }

// A coordinate as a whole number. What is NaN or far away becomes a place outside of every image.
template <typename T>
WRY_GPU int64_t whole(T x) {
  return x > T(-1e9) ? x < T(1e9) ? int64_t(x) : int64_t(1000000000) : int64_t(-1000000000);
}
WRY_GPU int64_t within(int64_t x, int64_t size) { return x < 0 ? 0 : x > size ? size
                                                                              : x; }

// The images that boxes lie in.
struct Images {
  const int64_t *of;
  int64_t count;
  Report *report;
  int32_t op;
  // That of box r, or -1.
  WRY_GPU int64_t operator[](int64_t r) const {
    const int64_t image = of[r];
    if (uint64_t(image) < uint64_t(count)) return image;
    raise(report, BOX_IN_NO_IMAGE, op, image, count, r);
    return -1;
  }
};
Images images_of(const wry_call *call, const char *op, int64_t count) {
  Images images = {data<int64_t>(input(call, 2)), count, nullptr, 0};
  images.report = arm(call, op, &images.op);
  return images;
}

// ---- roi_align ------------------------------------------------------------------------------------
//
// The samples of a box stand in rows and columns, so their mean over a part is a weighted sum of rows, and of the result's
// columns. Each part of an axis has weights for the pixels from `first` on: out[i, j] = sum_y sum_x row[i][y] * column[j][x] * plane[y, x].

template <typename T>
struct Regions {
  int64_t height, width, ratio, count, channels, rows, columns;
  T scale;
  bool aligned;
  const T *boxes;
  Images images;
  // Of boxes [begin, begin + held): [held, height + width] pixels, and weights [held, height * rows + width * columns].
  int64_t begin, held;
  int64_t *first, *taken;
  T *weights;

  WRY_BOTH int64_t parts() const { return height + width; }
  WRY_BOTH int64_t spread() const { return height * rows + width * columns; }
  WRY_GPU const T *row(int64_t b, int64_t i) const { return weights + b * spread() + i * rows; }
  WRY_GPU const T *column(int64_t b, int64_t j) const { return weights + b * spread() + height * rows + j * columns; }
};
template <typename T>
Regions<T> regions_of(const wry_call *call, const char *op, const wry_tensor *x) {
  return {attr_int(call, 0), attr_int(call, 1), attr_int(call, 3), input(call, 1)->shape[0], x->shape[1], x->shape[2], x->shape[3], T(attr_float(call, 2)),
          attr_bool(call, 4), data<T>(input(call, 1)), images_of(call, op, x->shape[0]), 0, 0, nullptr, nullptr, nullptr};
}

// One thread for each part of an axis of a box.
template <typename T>
__global__ void __launch_bounds__(block_size) weigh_samples(Regions<T> z) {
  for
    WRY_EACH(at, z.held * z.parts()) {
      const int64_t b = at / z.parts(), part_at = at % z.parts();
      const bool across = part_at >= z.height;
      const int64_t i = across ? part_at - z.height : part_at, parts = across ? z.width : z.height, size = across ? z.columns : z.rows;
      const T *box = z.boxes + (z.begin + b) * 4 + (across ? 0 : 1);
      const T shift = z.aligned ? T(0.5) : T(0), start = box[0] * z.scale - shift;
      T length = box[2] * z.scale - shift - start;
      if (!z.aligned) length = larger(length, T(1));
      const T part = length / T(parts);
      const int64_t samples = z.ratio > 0 ? z.ratio : within(whole(ceil(part)), int64_t(1) << 20);
      T *const to = z.weights + b * z.spread() + (across ? z.height * z.rows : 0) + i * size;
      int64_t low = size, high = -1;
      for (int pass = 0; pass < 2; ++pass) {  // the pixels that take part, then their weights
        for (int64_t k = low; pass && k <= high; ++k) to[k - low] = 0;
        for (int64_t s = 0; s < samples; ++s) {
          T place = start + T(i) * part + (T(s) + T(0.5)) * part / T(samples);
          if (size < 1 || !(place >= T(-1) && place <= T(size))) continue;
          place = place > 0 ? place : 0;
          int64_t below = int64_t(place), above = below + 1;
          if (below >= size - 1) {
            below = above = size - 1;
            place = T(below);
          }
          const T near = place - T(below);
          if (pass == 0) {
            low = below < low ? below : low;
            high = above > high ? above : high;
          } else {
            to[below - low] += (T(1) - near) / T(samples);
            to[above - low] += near / T(samples);
          }
        }
      }
      z.first[at] = low;
      z.taken[at] = high - low + 1 > 0 ? high - low + 1 : 0;
    }
}
// Calls f for as many boxes at a time as some 64 MB of weights describe.
template <typename T, typename F>
int each_regions(const wry_call *call, const char *op, Regions<T> z, F &&f) {
  int64_t most = (int64_t(64) << 20) / (z.spread() * int64_t(sizeof(T)) + 1) + 1;
  if (most > z.count) most = z.count;
  z.weights = workspace<T>(call, most * z.spread() + 1);
  z.first = workspace<int64_t>(call, 2 * most * z.parts());
  if (!z.weights || !z.first) return fail_memory(call, op, most * (z.spread() * int64_t(sizeof(T)) + z.parts() * 16));
  z.taken = z.first + most * z.parts();
  for (; z.begin < z.count; z.begin += most) {
    z.held = z.count - z.begin < most ? z.count - z.begin : most;
    const int64_t n = z.held * z.parts();
    const int threads = threads_for(n);
    WRY_TRY(wry_launch(weigh_samples<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), z));
    if (const int status = f(z)) return status;
  }
  return WRY_OK;
}

template <typename T>
__global__ void __launch_bounds__(block_size) align(Regions<T> z, const T *x, T *out) {
  const int64_t each = z.channels * z.height * z.width;
  for
    WRY_EACH(at, z.held * each) {
      const int64_t b = at / each, c = at / (z.height * z.width) % z.channels, i = at / z.width % z.height, j = at % z.width;
      const int64_t image = z.images[z.begin + b];
      const int64_t row = b * z.parts() + i, column = b * z.parts() + z.height + j;
      const T *down = z.row(b, i), *along = z.column(b, j);
      T total = 0;
      if (image >= 0) {
        const T *from = x + ((image * z.channels + c) * z.rows + z.first[row]) * z.columns + z.first[column];
        for (int64_t k = 0; k < z.taken[column]; ++k) {
          T sum = 0;
          for (int64_t y = 0; y < z.taken[row]; ++y) sum += down[y] * from[y * z.columns + k];
          total += along[k] * sum;
        }
      }
      out[z.begin * each + at] = total;
    }
}
template <typename T>
int roi_align(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  return each_regions(call, "roi_align", regions_of<T>(call, "roi_align", x), [&](const Regions<T> &z) {
    const int64_t n = z.held * z.channels * z.height * z.width;
    const int threads = threads_for(n);
    return check(call, wry_launch(align<T>, blocks_for(n, threads), dim3(threads), 0, stream(call), z, data<T>(x), data<T>(out)));
  });
}

// Of a box: its image, and the pixels it reads.
struct Extent {
  int64_t image, top, bottom, left, right;
};
constexpr int channels_of_thread = 4;
// Block (256 pixels of a plane, image, channels); boxes in order, 32 at a time.
template <typename T>
__global__ void __launch_bounds__(block_size, 1) align_back(Regions<T> z, const T *ct, T *out) {
  WRY_SHARED(Extent, extents, 32);
  const int64_t plane = z.rows * z.columns, groups = (z.channels + channels_of_thread - 1) / channels_of_thread;
  const int64_t chunks = (plane + blockDim.x - 1) / blockDim.x;
  for (int64_t work = blockIdx.x; work < z.images.count * groups * chunks; work += gridDim.x) {
    const int64_t pixel = work % chunks * blockDim.x + threadIdx.x, c = work / chunks % groups * channels_of_thread, image = work / chunks / groups;
    const int64_t y = pixel / z.columns, x = pixel % z.columns;
    T total[channels_of_thread] = {};
    for (int64_t at = 0; at < z.held; at += 32) {
      __syncthreads();
      if (threadIdx.x < 32 && at + threadIdx.x < z.held) {
        const int64_t b = at + threadIdx.x;
        Extent e = {z.images[z.begin + b], z.rows, -1, z.columns, -1};
        for (int64_t k = 0; k < z.parts(); ++k) {
          const int64_t first = z.first[b * z.parts() + k], end = first + z.taken[b * z.parts() + k];
          if (end == first) continue;
          if (k < z.height) e.top = first < e.top ? first : e.top, e.bottom = end > e.bottom ? end : e.bottom;
          else e.left = first < e.left ? first : e.left, e.right = end > e.right ? end : e.right;
        }
        extents[threadIdx.x] = e;
      }
      __syncthreads();
      for (int64_t b = at; pixel < plane && b < at + 32 && b < z.held; ++b) {
        const Extent &e = extents[b - at];
        if (e.image != image || y < e.top || y >= e.bottom || x < e.left || x >= e.right) continue;
        for (int64_t i = 0; i < z.height; ++i) {
          const int64_t row = y - z.first[b * z.parts() + i];
          if (row < 0 || row >= z.taken[b * z.parts() + i]) continue;
          const T down = z.row(b, i)[row];
          for (int64_t j = 0; j < z.width; ++j) {
            const int64_t column = x - z.first[b * z.parts() + z.height + j];
            if (column < 0 || column >= z.taken[b * z.parts() + z.height + j]) continue;
            const T weight = down * z.column(b, j)[column];
            const T *given = ct + (((z.begin + b) * z.channels + c) * z.height + i) * z.width + j;
#pragma unroll
            for (int k = 0; k < channels_of_thread; ++k)
              if (c + k < z.channels) total[k] += weight * given[k * z.height * z.width];
          }
        }
      }
    }
    if (pixel < plane) {
#pragma unroll
      for (int k = 0; k < channels_of_thread; ++k)
        if (c + k < z.channels) out[(image * z.channels + c + k) * plane + pixel] += total[k];
    }
  }
}
template <typename T>
int roi_align_vjp(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const T *ct = data<T>(input(call, 0));
  WRY_TRY(cudaMemsetAsync(out->data, 0, size_t(out->size) * sizeof(T), stream(call)));
  const Regions<T> all = regions_of<T>(call, "roi_align_vjp", out);
  if (all.count == 0) return WRY_OK;
  return each_regions(call, "roi_align_vjp", all, [&](const Regions<T> &z) {
    const int64_t plane = z.rows * z.columns;
    const int threads = threads_for(plane);
    const int64_t blocks = z.images.count * ((z.channels + channels_of_thread - 1) / channels_of_thread) * ((plane + threads - 1) / threads);
    return check(call, wry_launch(align_back<T>, dim3(some_blocks(blocks)), dim3(threads), 0, stream(call), z, ct, data<T>(out)));
  });
}

// ---- roi_pool, psroi_pool -------------------------------------------------------------------------

template <typename T>
struct Parts {
  int64_t height, width, count, planes, rows, columns;  // planes: of an image
  T scale;
  const T *boxes;
  Images images;
};
template <typename T>
Parts<T> parts_of(const wry_call *call, const char *op, const wry_tensor *x) {
  return {attr_int(call, 0), attr_int(call, 1), input(call, 1)->shape[0], x->shape[1], x->shape[2], x->shape[3], T(attr_float(call, 2)), data<T>(input(call, 1)),
          images_of(call, op, x->shape[0])};
}
struct Pixels {
  int64_t top, bottom, left, right;
  WRY_GPU int64_t area() const { return (bottom > top ? bottom - top : 0) * (right > left ? right - left : 0); }
};

template <typename T>
__global__ void __launch_bounds__(block_size) pool_largest(Parts<T> z, const T *x, T *out, int64_t *index) {
  for
    WRY_EACH(at, z.count * z.planes * z.height * z.width) {
      const int64_t j = at % z.width, i = at / z.width % z.height, c = at / (z.width * z.height) % z.planes, r = at / (z.width * z.height * z.planes);
      const T *box = z.boxes + r * 4;
      const T left = round(box[0] * z.scale), top = round(box[1] * z.scale);
      const T wide = larger(round(box[2] * z.scale) - left + T(1), T(1)) / T(z.width);
      const T high = larger(round(box[3] * z.scale) - top + T(1), T(1)) / T(z.height);
      const int64_t image = z.images[r];
      // Parts of whole numbers are moved after rounding.
      const Pixels p = {within(whole(floor(T(i) * high)) + whole(top), z.rows), within(whole(ceil(T(i + 1) * high)) + whole(top), z.rows),
                        within(whole(floor(T(j) * wide)) + whole(left), z.columns), within(whole(ceil(T(j + 1) * wide)) + whole(left), z.columns)};
      int64_t best = -1;
      T most = 0;
      if (image >= 0) {
        const T *plane = x + (image * z.planes + c) * z.rows * z.columns;
        for (int64_t y = p.top; y < p.bottom; ++y)
          for (int64_t k = p.left; k < p.right; ++k) {
            const T value = plane[y * z.columns + k];
            if (best < 0 || value > most) best = y * z.columns + k, most = value;
          }
      }
      out[at] = most;
      index[at] = best;
    }
}
template <typename T>
int roi_pool(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pool_largest<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), parts_of<T>(call, "roi_pool", x), data<T>(x),
                                data<T>(out), data<int64_t>(output(call, 1))));
}

template <typename T>
WRY_GPU Pixels pixels_of(const Parts<T> &z, int64_t r, int64_t i, int64_t j) {
  const T *box = z.boxes + r * 4;
  const T left = round(box[0]) * z.scale, top = round(box[1]) * z.scale;
  const T wide = larger((round(box[2]) + T(1)) * z.scale - left, T(0.1)) / T(z.width);
  const T high = larger((round(box[3]) + T(1)) * z.scale - top, T(0.1)) / T(z.height);
  return {within(whole(floor(T(i) * high + top)), z.rows), within(whole(ceil(T(i + 1) * high + top)), z.rows),
          within(whole(floor(T(j) * wide + left)), z.columns), within(whole(ceil(T(j + 1) * wide + left)), z.columns)};
}
template <typename T>
__global__ void __launch_bounds__(block_size) pool_means(Parts<T> z, const T *x, T *out) {
  for
    WRY_EACH(at, z.count * z.planes) {
      const int64_t plane = at % z.planes, r = at / z.planes, image = z.images[r];
      const Pixels p = pixels_of(z, r, plane / z.width % z.height, plane % z.width);
      T total = 0;
      if (image >= 0) {
        const T *from = x + (image * z.planes + plane) * z.rows * z.columns;
        for (int64_t y = p.top; y < p.bottom; ++y)
          for (int64_t k = p.left; k < p.right; ++k) total += from[y * z.columns + k];
      }
      const int64_t area = p.area();
      out[at] = area ? total / T(area) : T(0);
    }
}
template <typename T>
int psroi_pool(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const int threads = threads_for(out->size);
  return check(call, wry_launch(pool_means<T>, blocks_for(out->size, threads), dim3(threads), 0, stream(call), parts_of<T>(call, "psroi_pool", x), data<T>(x),
                                data<T>(out)));
}

// Block (plane of an image); boxes in order, 32 at a time.
template <typename T>
__global__ void __launch_bounds__(block_size) pool_means_back(Parts<T> z, const T *ct, T *out) {
  WRY_SHARED(Pixels, pixels, 32);
  WRY_SHARED(T, shares, 32);
  const int64_t plane = z.rows * z.columns, chunks = (plane + blockDim.x - 1) / blockDim.x;
  for (int64_t work = blockIdx.x; work < z.images.count * z.planes * chunks; work += gridDim.x) {
    const int64_t pixel = work % chunks * blockDim.x + threadIdx.x, p = work / chunks % z.planes, image = work / chunks / z.planes;
    const int64_t y = pixel / z.columns, x = pixel % z.columns;
    T total = 0;
    for (int64_t at = 0; at < z.count; at += 32) {
      __syncthreads();
      if (threadIdx.x < 32 && at + threadIdx.x < z.count) {
        const int64_t r = at + threadIdx.x;
        Pixels mine = pixels_of(z, r, p / z.width % z.height, p % z.width);
        const int64_t area = mine.area();
        if (z.images[r] != image) mine.bottom = mine.top;
        pixels[threadIdx.x] = mine;
        shares[threadIdx.x] = area ? ct[r * z.planes + p] / T(area) : T(0);
      }
      __syncthreads();
      for (int64_t r = at; pixel < plane && r < at + 32 && r < z.count; ++r) {
        const Pixels &e = pixels[r - at];
        if (y >= e.top && y < e.bottom && x >= e.left && x < e.right) total += shares[r - at];
      }
    }
    if (pixel < plane) out[(image * z.planes + p) * plane + pixel] = total;
  }
}
template <typename T>
int psroi_pool_vjp(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const Parts<T> z = parts_of<T>(call, "psroi_pool_vjp", out);
  const int64_t plane = z.rows * z.columns;
  const int threads = threads_for(plane);
  const int64_t blocks = z.images.count * z.planes * ((plane + threads - 1) / threads);
  return check(call, wry_launch(pool_means_back<T>, dim3(some_blocks(blocks)), dim3(threads), 0, stream(call), z,
                                data<T>(input(call, 0)), data<T>(out)));
}

// ---- suppress -------------------------------------------------------------------------------------
//
// Which boxes each would strike, as bits, is computed by all threads, for some thousand boxes at a time; then one block goes through
// these: inside of 64 boxes one after the other, then those of them that remain strike what lies behind.

constexpr int64_t strip = 4096;  // boxes whose bits are kept at a time

template <typename T>
__global__ void __launch_bounds__(block_size) find_overlaps(int64_t n, int64_t begin, int64_t end, const T *boxes, const int64_t *group, T threshold, T offset,
                                                            uint64_t *bits) {
  const int64_t words = (n + 63) / 64, first = begin / 64;
  for
    WRY_EACH(at, (end - begin) * (words - first)) {
      const int64_t i = begin + at / (words - first), w = first + at % (words - first);
      const T *a = boxes + 4 * i;
      const T left = a[0], top = a[1], right = a[2], bottom = a[3], mine = (right - left + offset) * (bottom - top + offset);
      uint64_t struck = 0;
      for (int64_t j = w * 64 > i ? w * 64 : i + 1; j < n && j < (w + 1) * 64; ++j) {
        const T *b = boxes + 4 * j;
        const T area = (b[2] - b[0] + offset) * (b[3] - b[1] + offset);
        const T l = left > b[0] ? left : b[0], t = top > b[1] ? top : b[1], r = right < b[2] ? right : b[2], d = bottom < b[3] ? bottom : b[3];
        const T common = (r >= l ? r - l + offset : T(0)) * (d >= t ? d - t + offset : T(0));
        if (common / (mine + area - common) > threshold && group[i] == group[j]) struck |= uint64_t(1) << (j - w * 64);
      }
      bits[(i - begin) * words + w] = struck;
    }
}
__global__ void __launch_bounds__(block_size) strike(int64_t n, int64_t begin, int64_t end, const uint64_t *bits, uint64_t *struck) {
  WRY_SHARED(uint64_t, kept, 1);
  const int64_t words = (n + 63) / 64;
  for (int64_t w = begin / 64; w * 64 < end; ++w) {
    const uint64_t *rows = bits + (w * 64 - begin) * words;
    const int64_t count = end - w * 64 < 64 ? end - w * 64 : 64;
    __syncthreads();
    if (threadIdx.x == 0) {
      uint64_t gone = struck[w], left = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (gone >> i & 1) continue;
        left |= uint64_t(1) << i;
        gone |= rows[i * words + w];
      }
      struck[w] = gone;
      kept[0] = left;
    }
    __syncthreads();
    const uint64_t remaining = kept[0];
    for (int64_t behind = w + 1 + threadIdx.x; behind < words; behind += blockDim.x) {
      uint64_t gone = struck[behind];
      for (int64_t i = 0; i < count; ++i)
        if (remaining >> i & 1) gone |= rows[i * words + behind];
      struck[behind] = gone;
    }
  }
}
__global__ void __launch_bounds__(block_size) keep(int64_t n, const uint64_t *struck, bool *out) {
  for
    WRY_EACH(i, n)
  out[i] = !(struck[i / 64] >> i % 64 & 1);
}
template <typename T>
int suppress(const wry_call *call) {
  const int64_t n = input(call, 0)->shape[0], words = (n + 63) / 64, held = n < strip ? n : strip;
  if (n == 0) return WRY_OK;
  uint64_t *bits = workspace<uint64_t>(call, (held + 1) * words);
  if (!bits) return fail_memory(call, "suppress", (held + 1) * words * 8);
  uint64_t *struck = bits + held * words;
  WRY_TRY(cudaMemsetAsync(struck, 0, size_t(words) * 8, stream(call)));
  for (int64_t begin = 0; begin < n; begin += strip) {
    const int64_t end = n - begin < strip ? n : begin + strip, work = (end - begin) * (words - begin / 64);
    const int threads = threads_for(work);
    WRY_TRY(wry_launch(find_overlaps<T>, blocks_for(work, threads), dim3(threads), 0, stream(call), n, begin, end, data<T>(input(call, 0)),
                       data<int64_t>(input(call, 1)), T(attr_float(call, 0)), T(attr_float(call, 1)), bits));
    WRY_TRY(wry_launch(strike, dim3(1), dim3(threads_for(words)), 0, stream(call), n, begin, end, bits, struck));
  }
  const int threads = threads_for(n);
  return check(call, wry_launch(keep, blocks_for(n, threads), dim3(threads), 0, stream(call), n, struck, data<bool>(output(call, 0))));
}

#define WRY_TWO_ROWS(op, kernel) WRY_ROW(op, float, WRY_WANTS_CONTIGUOUS, kernel), WRY_ROW(op, double, WRY_WANTS_CONTIGUOUS, kernel)

const wry_kernel_entry table[] = {
    WRY_TWO_ROWS("roi_align", roi_align),
    WRY_TWO_ROWS("roi_align_vjp", roi_align_vjp),
    WRY_TWO_ROWS("roi_pool", roi_pool),
    WRY_TWO_ROWS("psroi_pool", psroi_pool),
    WRY_TWO_ROWS("psroi_pool_vjp", psroi_pool_vjp),
    WRY_TWO_ROWS("suppress", suppress),
};

}  // namespace
}  // namespace cuda
}  // namespace wherry

WRY_TABLE(detection, wherry::cuda::table)
