// Kernel primitives that compute on the registers of a thread, NY rows of NX values.
#pragma once

#include "paddle/phi/kernels/primitive/helper_primitives.h"

namespace paddle {
namespace operators {
namespace kernel_primitives {

// out[i] = compute(in[i])
template <typename InT, typename OutT, int NX, int NY, auto BlockSize, class OpFunc>
WHERRY_KPS_FUNCTION void ElementwiseUnary(OutT *out, const InT *in, OpFunc compute) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(std::is_invocable_v<OpFunc &, const InT &>, "kps::ElementwiseUnary: OpFunc takes one InT");
  for (int i = 0; i < NX * NY; ++i) out[i] = static_cast<OutT>(compute(in[i]));
}

// out[i] = compute(in1[i], in2[i])
template <typename InT, typename OutT, int NX, int NY, auto BlockSize, class OpFunc>
WHERRY_KPS_FUNCTION void ElementwiseBinary(OutT *out, const InT *in1, const InT *in2, OpFunc compute) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(std::is_invocable_v<OpFunc &, const InT &, const InT &>, "kps::ElementwiseBinary: OpFunc takes two InT");
  for (int i = 0; i < NX * NY; ++i) out[i] = static_cast<OutT>(compute(in1[i], in2[i]));
}

// out[i] = compute(in1[i], in2[i], in3[i])
template <typename InT, typename OutT, int NX, int NY, auto BlockSize, class OpFunc>
WHERRY_KPS_FUNCTION void ElementwiseTernary(OutT *out, const InT *in1, const InT *in2, const InT *in3, OpFunc compute) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(std::is_invocable_v<OpFunc &, const InT &, const InT &, const InT &>,
                "kps::ElementwiseTernary: OpFunc takes three InT");
  for (int i = 0; i < NX * NY; ++i) out[i] = static_cast<OutT>(compute(in1[i], in2[i], in3[i]));
}

// out[i] = compute({ins[0][i], ins[1][i], ...}); the functor takes a pointer to Arity values.
template <typename InT, typename OutT, int NX, int NY, auto BlockSize, int Arity, class OpFunc>
WHERRY_KPS_FUNCTION void ElementwiseAny(OutT *out, InT (*ins)[NX * NY], OpFunc compute) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(Arity > 0, "kps::ElementwiseAny: Arity, the number of inputs, is at least 1");
  static_assert(std::is_invocable_v<OpFunc &, const InT *>, "kps::ElementwiseAny: OpFunc takes `const InT *`");
  for (int i = 0; i < NX * NY; ++i) {
    InT arguments[Arity];
    for (int k = 0; k < Arity; ++k) arguments[k] = ins[k][i];
    out[i] = static_cast<OutT>(compute(static_cast<const InT *>(arguments)));
  }
}

// out[ny, nx] = compute(in1[nx], in2[ny, nx]): one row goes with each row of the other.
template <typename InT, typename OutT, int NX, int NY, auto BlockSize, class OpFunc>
WHERRY_KPS_FUNCTION void CycleBinary(OutT *out, const InT *in1, const InT *in2, OpFunc compute) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(std::is_invocable_v<OpFunc &, const InT &, const InT &>, "kps::CycleBinary: OpFunc takes two InT");
  for (int ny = 0; ny < NY; ++ny)
    for (int nx = 0; nx < NX; ++nx) out[ny * NX + nx] = static_cast<OutT>(compute(in1[nx], in2[ny * NX + nx]));
}

// kLocalMode: out[ny] = reducer(out[ny], in[ny, nx]) for each nx in turn, so that `out` holds what the reduction begins with.
// kGlobalMode: out[i] is the reduction of in[i] over the threads of the block, along x with reduce_last_dim and along y without;
// `out` and `in` may be the same registers, and every thread of the block takes part.
template <typename T, int NX, int NY, auto BlockSize, class ReduceFunctor, details::ReduceMode Mode>
WHERRY_KPS_FUNCTION void Reduce(T *out, const T *in, ReduceFunctor reducer, bool reduce_last_dim) {
  details::CheckSizes<NX, NY, BlockSize>();
  static_assert(std::is_invocable_v<ReduceFunctor &, const T &, const T &>, "kps::Reduce: ReduceFunctor takes two T");
  if constexpr (Mode == details::kLocalMode) {
    static_cast<void>(reduce_last_dim);
    for (int ny = 0; ny < NY; ++ny)
      for (int nx = 0; nx < NX; ++nx) out[ny] = static_cast<T>(reducer(out[ny], in[ny * NX + nx]));
  } else {
    for (int i = 0; i < NX * NY; ++i) out[i] = details::ReduceThreads(in[i], reducer, reduce_last_dim);
  }
}

}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle
