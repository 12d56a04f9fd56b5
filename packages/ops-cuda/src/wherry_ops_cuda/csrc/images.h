// Batches of images as kernels see them, in either layout.
#ifndef WHERRY_CUDA_IMAGES_H
#define WHERRY_CUDA_IMAGES_H

#include "common.h"

namespace wherry {
namespace cuda {

// A contiguous tensor, [n, channels, h, w] or [n, h, w, channels], and its strides in elements.
struct Image {
  int64_t n, channels, h, w;
  int64_t at_n, at_channel, at_y, at_x;
};

inline Image image_of(const wry_tensor *t, bool channels_last) {
  const int64_t *s = t->shape;
  if (channels_last) return {s[0], s[3], s[1], s[2], s[1] * s[2] * s[3], 1, s[2] * s[3], s[3]};
  return {s[0], s[1], s[2], s[3], s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
}

// An element's place in the order of memory, so that neighbouring threads write neighbours.
struct Place {
  int64_t n, channel, y, x;
};
WRY_GPU Place place_of(const Image &image, int64_t i) {
  Place p;
  if (image.at_channel == 1) {
    p.channel = i % image.channels, i /= image.channels;
    p.x = i % image.w, i /= image.w;
    p.y = i % image.h, p.n = i / image.h;
  } else {
    p.x = i % image.w, i /= image.w;
    p.y = i % image.h, i /= image.h;
    p.channel = i % image.channels, p.n = i / image.channels;
  }
  return p;
}
WRY_GPU int64_t offset_of(const Image &image, int64_t n, int64_t channel, int64_t y, int64_t x) {
  return n * image.at_n + channel * image.at_channel + y * image.at_y + x * image.at_x;
}

}  // namespace cuda
}  // namespace wherry

#endif
