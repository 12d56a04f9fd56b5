// Products for other families.
#ifndef WHERRY_CUDA_CONTRACTION_H
#define WHERRY_CUDA_CONTRACTION_H

#include "common.h"

namespace wherry {
namespace cuda {

// out [m, n] = x [m, k] times the rows of weight [n, k], all contiguous. (contraction.cu)
int multiply_rows(const wry_call *call, int64_t m, int64_t n, int64_t k, const float *x, const float *weight, float *out);
int multiply_rows(const wry_call *call, int64_t m, int64_t n, int64_t k, const double *x, const double *weight, double *out);

}  // namespace cuda
}  // namespace wherry

#endif
