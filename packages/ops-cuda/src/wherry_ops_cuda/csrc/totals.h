// The sum and the largest of what the threads of a block hold, in every thread.
#ifndef WHERRY_CUDA_TOTALS_H
#define WHERRY_CUDA_TOTALS_H

#include "reduce.h"

namespace wherry {
namespace cuda {

template <typename A>
struct Largest {
  using W = A;
  static WRY_GPU A combine(A a, A b) { return a < b ? b : a; }
};
template <typename A>
struct Total {
  using W = A;
  static WRY_GPU A combine(A a, A b) { return a + b; }
};
template <typename A>
WRY_GPU A block_largest(A mine) { return block_total<Largest<A>>(mine); }
template <typename A>
WRY_GPU A block_sum(A mine) { return block_total<Total<A>>(mine); }

}  // namespace cuda
}  // namespace wherry

#endif
