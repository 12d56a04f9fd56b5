// Sizes of dense matrices, as linalg.cu and eigen.cu see them.
#ifndef WHERRY_CUDA_MATRICES_H
#define WHERRY_CUDA_MATRICES_H

#include "common.h"

namespace wherry {
namespace cuda {

inline int64_t rows_of(const wry_tensor *t) { return t->shape[t->rank - 2]; }
inline int64_t columns_of(const wry_tensor *t) { return t->shape[t->rank - 1]; }
inline dim3 blocks_of(int64_t count) { return dim3(some_blocks(count)); }

}  // namespace cuda
}  // namespace wherry

#endif
