// Kernel primitives: what the threads of a block do together, written once for the host and for CUDA.
//
// A thread holds NY rows of NX values in registers, `register[ny * NX + nx]`. Functions of datamover_primitives.h fill them
// from memory and write them back, those of compute_primitives.h compute on them, with the functors of functor_primitives.h
// or one's own. What differs between the host and CUDA stands in backend.h; on the host a block has one thread.
//
// Template arguments are those of Paddle 2.3: `BlockSize` stands for nothing yet and is 1; `IsBoundary` asks for checks
// against the sizes that are given, for blocks that are not full.
#pragma once

#include "paddle/phi/kernels/primitive/backend.h"
#include "paddle/phi/kernels/primitive/compute_primitives.h"
#include "paddle/phi/kernels/primitive/datamover_primitives.h"
#include "paddle/phi/kernels/primitive/functor_primitives.h"

namespace kps = paddle::operators::kernel_primitives;

namespace phi {
namespace kps = paddle::operators::kernel_primitives;
}  // namespace phi
