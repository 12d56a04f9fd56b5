// Class labels as kernels read them: integers of any type.
#ifndef WHERRY_KERNELS_LABELS_H
#define WHERRY_KERNELS_LABELS_H

#include <wherry/kernels/call.h>

namespace WRY_NAMESPACE {

// Read one by one.
struct Labels {
  const void *data;
  int32_t dtype;
  WRY_FN int64_t operator[](int64_t i) const {
    switch (dtype) {
      case WRY_INT64: return static_cast<const int64_t *>(data)[i];
      case WRY_INT32: return static_cast<const int32_t *>(data)[i];
      case WRY_INT16: return static_cast<const int16_t *>(data)[i];
      case WRY_INT8: return static_cast<const int8_t *>(data)[i];
      default: return static_cast<const uint8_t *>(data)[i];
    }
  }
};

WRY_HOST_FN Labels labels_of(const wry_tensor *t) { return {t->data, t->dtype}; }

}  // namespace WRY_NAMESPACE

#endif
