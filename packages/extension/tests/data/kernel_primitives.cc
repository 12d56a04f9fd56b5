// The examples of the manual's chapter on kernel primitives (ElementwiseAdd, Reduce, functors of one's own), and a function for
// every primitive, to be called through ctypes. Differs from the manual where that does not compile: offsets use blockIdx, names
// that are not declared there (block_size, REDUCE_VEC_num, arg) have the ones that are meant, functors their number of types.
// Compiles for the host and, as a .cu file, for CUDA.
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernel_primitives/kernel_primitives.h"

namespace elementwise {

using namespace paddle::operators::kernel_primitives;

template <int VecSize, typename InT, typename OutT, typename OpFunc, bool IsBoundary>
__device__ void ElementwiseAddImpl(const InT *in0, const InT *in1, OutT *out, OpFunc func, int num) {
  InT arg0[VecSize];
  InT arg1[VecSize];
  OutT result[VecSize];

  // init arg0 and arg1
  Init<InT, VecSize>(arg0, static_cast<OutT>(1.0f));
  Init<InT, VecSize>(arg1, static_cast<OutT>(1.0f));

  // read data from global memory
  ReadData<InT, InT, VecSize, 1, 1, IsBoundary>(arg0, in0, num);
  ReadData<InT, InT, VecSize, 1, 1, IsBoundary>(arg1, in1, num);

  // compute result[i] = args[i] + arg1[i]
  ElementwiseBinary<InT, OutT, VecSize, 1, 1, OpFunc>(result, arg0, arg1, func);

  // write data
  WriteData<OutT, VecSize, 1, 1, IsBoundary>(out, result, num);
}

template <int VecSize, typename InT, typename OutT, typename OpFunc>
__global__ void Elementwise(const InT *in0, const InT *in1, OutT *out, int size) {
  // get the data offset of this Block
  int data_offset = VecSize * blockIdx.x * blockDim.x;

  // get the stride offset the block
  int stride = gridDim.x * blockDim.x * VecSize;

  for (int offset = data_offset; offset < size; offset += stride) {
    if (offset + static_cast<int>(blockDim.x) * VecSize < size) {  // set IsBoundary = false
      ElementwiseAddImpl<VecSize, InT, OutT, OpFunc, false>(in0 + offset, in1 + offset, out + offset, OpFunc(), size - offset);
    } else {  // left num is smaller than blockDim.x * VecSize, IsBoundary must be true
      ElementwiseAddImpl<VecSize, InT, OutT, OpFunc, true>(in0 + offset, in1 + offset, out + offset, OpFunc(), size - offset);
    }
  }
}

}  // namespace elementwise

namespace reduction {

template <typename Tx, typename Ty, typename MPType, typename ReduceOp, typename TransformOp, bool IsBoundary = false>
__device__ void HigherDimImpl(const Tx *x, Ty *y, ReduceOp reducer, TransformOp transform, MPType init, int reduce_num,
                              int left_num, int block_num) {
  const int NY = 2;
  int idx = blockIdx.x * blockDim.x;
  int idy = blockIdx.y * block_num;  // block_offset of rows
  Tx reduce_input[NY];
  MPType reduce_compute[NY];
  MPType result = init;

  int block_offset = idy * left_num + idx + blockIdx.z * reduce_num * left_num;  // the offset of this block
  int store_offset = blockIdx.y * left_num + blockIdx.z * gridDim.y * left_num + idx;

  const Tx *input = x + block_offset;

  // how many columns left
  int num = left_num - idx;

  // how many rows have to be reduced
  int loop = reduce_num - idy;
  loop = loop > block_num ? block_num : loop;

  for (int loop_index = 0; loop_index < loop; loop_index += NY) {
    kps::ReadData<Tx, Tx, 1, NY, 1, IsBoundary>(&reduce_input[0], input + loop_index * left_num, num, NY, 1, left_num);
    kps::ElementwiseUnary<Tx, MPType, NY, 1, 1, TransformOp>(&reduce_compute[0], &reduce_input[0], transform);
    kps::Reduce<MPType, NY, 1, 1, ReduceOp, kps::details::ReduceMode::kLocalMode>(&result, &reduce_compute[0], reducer, false);
  }

  Ty temp_data = static_cast<Ty>(result);
  kps::WriteData<Ty, 1, 1, 1, IsBoundary>(y + store_offset, &temp_data, num);
}

template <typename Tx, typename Ty, typename MPType, typename ReduceOp, typename TransformOp>
__global__ void ReduceHigherDimKernel(const Tx *x, Ty *y, ReduceOp reducer, TransformOp transform, MPType init, int reduce_num,
                                      int left_num, int blocking_num) {
  // get the remaining data of this kernel
  int num = left_num - blockIdx.x * blockDim.x;

  if (num >= static_cast<int>(blockDim.x)) {
    // The remaining data is larger than blockdim.x
    HigherDimImpl<Tx, Ty, MPType, ReduceOp, TransformOp, false>(x, y, reducer, transform, init, reduce_num, left_num, blocking_num);
  } else {
    // The remaining data is smaller than blockdim.x, IsBoundary must be true
    HigherDimImpl<Tx, Ty, MPType, ReduceOp, TransformOp, true>(x, y, reducer, transform, init, reduce_num, left_num, blocking_num);
  }
}

}  // namespace reduction

namespace own {

namespace kps = paddle::operators::kernel_primitives;

template <typename T>
struct ExampleTernaryFunctor {
  inline HOSTDEVICE T operator()(const T &input1, const T &input2, const T &input3) const {
    return ((input1 + input2) * input3);
  }
};

template <typename T>
struct ExampleAnyFunctor {
  inline HOSTDEVICE T operator()(const T *args) const { return ((args[0] + args[1]) * args[2] + args[3]); }
};

template <int VecSize, typename InT, typename OutT, bool IsBoundary>
__device__ void Impl(const InT *input0, const InT *input1, const InT *input2, const InT *input3, OutT *ternary, OutT *any, int num) {
  const int NX = VecSize;
  const int NY = 1;
  const int BlockSize = 1;
  const int Arity = 4;  // the pointers of inputs

  InT inputs[Arity][NX * NY];
  OutT out[NX * NY];
  for (int i = 0; i < Arity; ++i) kps::Init<InT, NX>(inputs[i], static_cast<InT>(1));

  // each thread reads NX data continuously, and each block reads num data continuously
  kps::ReadData<InT, NX, NY, BlockSize, IsBoundary>(inputs[0], input0, num);
  kps::ReadData<InT, NX, NY, BlockSize, IsBoundary>(inputs[1], input1, num);
  kps::ReadData<InT, NX, NY, BlockSize, IsBoundary>(inputs[2], input2, num);
  kps::ReadData<InT, NX, NY, BlockSize, IsBoundary>(inputs[3], input3, num);
  kps::ElementwiseTernary<InT, OutT, NX, NY, BlockSize, ExampleTernaryFunctor<InT>>(out, inputs[0], inputs[1], inputs[2],
                                                                                    ExampleTernaryFunctor<InT>());
  kps::WriteData<OutT, NX, NY, BlockSize, IsBoundary>(ternary, out, num);
  kps::ElementwiseAny<InT, OutT, NX, NY, BlockSize, Arity, ExampleAnyFunctor<InT>>(out, inputs, ExampleAnyFunctor<InT>());
  kps::WriteData<OutT, NX, NY, BlockSize, IsBoundary>(any, out, num);
}

template <int VecSize, typename InT, typename OutT>
__global__ void Kernel(const InT *input0, const InT *input1, const InT *input2, const InT *input3, OutT *ternary, OutT *any, int size) {
  int data_offset = VecSize * blockIdx.x * blockDim.x;
  int num = size - data_offset;
  const InT *in0 = input0 + data_offset, *in1 = input1 + data_offset, *in2 = input2 + data_offset, *in3 = input3 + data_offset;
  if (num >= VecSize * static_cast<int>(blockDim.x))
    Impl<VecSize, InT, OutT, false>(in0, in1, in2, in3, ternary + data_offset, any + data_offset, num);
  else
    Impl<VecSize, InT, OutT, true>(in0, in1, in2, in3, ternary + data_offset, any + data_offset, num);
}

}  // namespace own

namespace {

int BlocksFor(int count, int each, int threads) { return (count + each * threads - 1) / (each * threads); }

// One block of one thread, whatever the back end.
__global__ void BroadcastKernel(const float *x, float *rows, float *line, kps::details::BroadcastConfig<3> config, int offset, int total) {
  float register_rows[4 * 3], register_line[4];
  kps::Init<float, 12>(register_rows, -1.0f);
  kps::Init<float, 4>(register_line, -1.0f);
  kps::ReadDataBc<float, 4, 3, 1, 3, true>(register_rows, x, offset, config, total, 1, 4);
  kps::ReadDataBc<float, 4, 1, 1, 3, true>(register_line, x, offset, config, total);
  kps::WriteData<float, 12, 1, 1>(rows, register_rows, 12);
  kps::WriteData<float, 4, 1, 1>(line, register_line, 4);
}

struct EverySecond {
  HOSTDEVICE inline int operator()(int index) const { return 2 * index; }
};

// [ny, nx] = x[2 * (offset + ny * stride_ny + nx * stride_nx)] squared, within size_nx columns and size_ny rows.
__global__ void ReadReduceKernel(const float *x, double *out, int offset, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  double registers[6];
  kps::Init<double, 6>(registers, -1.0);
  kps::ReadDataReduce<double, float, 2, 3, 1, 1, EverySecond, kps::SquareFunctor<float, double>, true>(
      registers, x, offset, EverySecond(), size_nx, size_ny, stride_nx, stride_ny, kps::SquareFunctor<float, double>(), true);
  kps::WriteData<double, 6, 1, 1>(out, registers, 6);
}

// 3 rows of 2 values: read with strides and a cast, one row times each of them, summed, written with strides and a cast.
__global__ void RowsKernel(const float *x, const double *row, int32_t *cycled, double *sums, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  double values[6], first[2], copied[2], result[6], total[3];
  kps::Init<double, 6>(values, 0.0);
  kps::Init<double, 3>(total, 100.0);
  kps::ReadData<float, double, 2, 3, 1, true>(values, x, size_nx, size_ny, stride_nx, stride_ny);
  kps::ReadData<double, 2, 1, 1>(first, row, 2);
  kps::Init<double, 2>(copied, 1.0);
  kps::Init<double, 2, true>(copied, first, 1);
  kps::CycleBinary<double, double, 2, 3, 1, kps::MulFunctor<double>>(result, copied, values, kps::MulFunctor<double>());
  kps::Reduce<double, 2, 3, 1, kps::AddFunctor<double>, kps::details::kLocalMode>(total, values, kps::AddFunctor<double>(), true);
  kps::Reduce<double, 3, 1, 1, kps::AddFunctor<double>, kps::details::kGlobalMode>(total, total, kps::AddFunctor<double>(), true);
  kps::WriteData<double, int32_t, 2, 3, 1, true>(cycled, result, size_nx, size_ny, stride_nx, stride_ny);
  kps::WriteData<double, 3, 1, 1>(sums, total, 3);
}

template <typename Functor>
float Initial() {
  return static_cast<float>(Functor().initial());
}

}  // namespace

extern "C" {

int kps_add(const float *x, const float *y, float *out, int size) {
  const int threads = kps::ThreadsPerBlock(128), blocks = BlocksFor(size, 4, threads);
  kps::Launch(blocks, threads, nullptr, elementwise::Elementwise<4, float, float, kps::AddFunctor<float>>, x, y, out, size);
  return blocks;
}

void kps_divide(const int64_t *x, const int64_t *y, int64_t *out, int size) {
  kps::Launch(2, kps::ThreadsPerBlock(32), nullptr, elementwise::Elementwise<3, int64_t, int64_t, kps::DivFunctor<int64_t>>, x, y, out, size);
}

void kps_sum(const float *x, double *out, int batch, int reduce_num, int left_num) {
  const int threads = kps::ThreadsPerBlock(32);
  kps::Launch(kps::Dim3(BlocksFor(left_num, 1, threads), 1, batch), threads, nullptr,
              reduction::ReduceHigherDimKernel<float, double, double, kps::AddFunctor<double>, kps::IdentityFunctor<float, double>>, x,
              out, kps::AddFunctor<double>(), kps::IdentityFunctor<float, double>(), 0.0, reduce_num, left_num, reduce_num);
}

void kps_own(const float *a, const float *b, const float *c, const float *d, float *ternary, float *any, int size) {
  const int threads = kps::ThreadsPerBlock(64);
  kps::Launch(BlocksFor(size, 4, threads), threads, nullptr, own::Kernel<4, float, float>, a, b, c, d, ternary, any, size);
}

// What goes wrong is left in `message`.
void kps_broadcast(const float *x, float *rows, float *line, const int64_t *out_dims, const int64_t *in_dims, int rank, int offset,
                   int total, char *message) {
  try {
    const kps::details::BroadcastConfig<3> config(std::vector<int64_t>(out_dims, out_dims + rank),
                                                  std::vector<int64_t>(in_dims, in_dims + rank), rank);
    kps::Launch(1, 1, nullptr, BroadcastKernel, x, rows, line, config, offset, total);
  } catch (const std::invalid_argument &error) { std::strcpy(message, error.what()); }
}

void kps_read_reduce(const float *x, double *out, int offset, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  kps::Launch(1, 1, nullptr, ReadReduceKernel, x, out, offset, size_nx, size_ny, stride_nx, stride_ny);
}

void kps_rows(const float *x, const double *row, int32_t *cycled, double *sums, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  kps::Launch(1, 1, nullptr, RowsKernel, x, row, cycled, sums, size_nx, size_ny, stride_nx, stride_ny);
}

void kps_functors(const float *x, float *unary, float *binary, float *initial) {
  unary[0] = kps::ExpFunctor<float>()(x[0]);
  unary[1] = static_cast<float>(kps::IdentityFunctor<float, int>()(x[0]));
  unary[2] = kps::DivideFunctor<float>(10)(x[0]);
  unary[3] = kps::SquareFunctor<float>()(x[0]);
  unary[4] = kps::DivideFunctor<int, float>(10)(3);
  const float a = x[0], b = x[1];
  binary[0] = kps::MinFunctor<float>()(a, b), initial[0] = Initial<kps::MinFunctor<float>>();
  binary[1] = kps::MaxFunctor<float>()(a, b), initial[1] = Initial<kps::MaxFunctor<float>>();
  binary[2] = kps::AddFunctor<float>()(a, b), initial[2] = Initial<kps::AddFunctor<float>>();
  binary[3] = kps::MulFunctor<float>()(a, b), initial[3] = Initial<kps::MulFunctor<float>>();
  binary[4] = kps::LogicalOrFunctor<bool>()(a != 0, b != 0), initial[4] = Initial<kps::LogicalOrFunctor<bool>>();
  binary[5] = kps::LogicalAndFunctor<bool>()(a != 0, b != 0), initial[5] = Initial<kps::LogicalAndFunctor<bool>>();
  binary[6] = kps::SubFunctor<float>()(a, b), initial[6] = Initial<kps::SubFunctor<float>>();
  binary[7] = kps::DivFunctor<float>()(a, b), initial[7] = Initial<kps::DivFunctor<float>>();
  binary[8] = kps::FloorDivFunctor<float>()(a, b), initial[8] = Initial<kps::FloorDivFunctor<float>>();
  binary[9] = static_cast<float>(kps::FloorDivFunctor<int>()(3, 2));
}

#ifndef WHERRY_KPS_CUDA

// Blocks of four threads one after the other, as CUDA numbers them: thread t of a line takes elements 2 t and 2 t + 1.
void kps_threads(const float *x, float *out, int size) {
  blockDim.x = 4;
  for (unsigned int block = 0; static_cast<int>(block) * 8 < size; ++block)
    for (unsigned int thread = 0; thread < 4; ++thread) {
      float values[2];
      blockIdx.x = block, threadIdx.x = thread;
      const int offset = 8 * block;
      kps::ReadData<float, 2, 1, 1, true>(values, x + offset, size - offset);
      kps::WriteData<float, 2, 1, 1, true>(out + offset, values, size - offset);
    }
  blockDim.x = 1, blockIdx.x = 0, threadIdx.x = 0;
}

void kps_wrong_block(char *message) {
  try {
    kps::Launch(1, 128, nullptr, ReadReduceKernel, nullptr, nullptr, 0, 0, 0, 0, 0);
  } catch (const std::invalid_argument &error) { std::strcpy(message, error.what()); }
}

void kps_divide_by_zero(int64_t a, int64_t b, char *message) {
  try {
    std::strcpy(message, std::to_string(kps::DivFunctor<int64_t>()(a, b)).c_str());
  } catch (const std::domain_error &error) { std::strcpy(message, error.what()); }
}

#endif
}
