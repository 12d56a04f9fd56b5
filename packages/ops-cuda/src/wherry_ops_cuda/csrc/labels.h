// Labels of classes as kernels read them.
#ifndef WHERRY_CUDA_LABELS_H
#define WHERRY_CUDA_LABELS_H

#include "common.h"

namespace wherry {
namespace cuda {

struct Labels {  // integers of any type
  const void *data;
  int32_t dtype;
  WRY_GPU int64_t operator[](int64_t i) const {
    switch (dtype) {
      case WRY_INT64: return static_cast<const int64_t *>(data)[i];
      case WRY_INT32: return static_cast<const int32_t *>(data)[i];
      case WRY_INT16: return static_cast<const int16_t *>(data)[i];
      case WRY_INT8: return static_cast<const int8_t *>(data)[i];
      default: return static_cast<const uint8_t *>(data)[i];
    }
  }
};

}  // namespace cuda
}  // namespace wherry

#endif
