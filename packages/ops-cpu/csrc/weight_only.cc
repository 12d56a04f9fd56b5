// The op of products of floats with weights of 8 or 4 bits: its inputs as weight_only.h wants them.
#include "weight_only.h"

namespace WRY_NAMESPACE {
namespace {

using namespace weight_only;

// x [..., in]; weight int8 [out blocks, in, 16] or uint8 [out blocks, in eights, 16, 4]; scale [groups, out]; zero_point like it or absent; bias [out] or absent.
template <typename T>
int weight_only_linear(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *weight = input(call, 1), *scale = input(call, 2), *zero = input(call, 3), *bias = input(call, 4);
  const wry_tensor *out = output(call, 0);
  if (out->size == 0) return WRY_OK;
  const bool four = weight->dtype == WRY_UINT8;
  Job job = {};
  job.inside = x->shape[x->rank - 1], job.out = scale->shape[1], job.rows = out->size / job.out;
  job.pitch = (job.inside + 7) / 8 * 8;
  job.groups = scale->shape[0], job.group = attr_int(call, 0) ? attr_int(call, 0) : max_of<int64_t>(1, job.inside);
  job.weight = weight->data, job.scale = scale->data, job.zero = zero ? zero->data : nullptr;
  const auto no_memory = [&] { return fail_memory(call, "weight_only_linear", job.rows * job.pitch * 4); };

  job.x = static_cast<const float *>(x->data);
  if (!std::is_same<T, float>::value || job.pitch != job.inside) {
    float *rows = workspace<float>(call, job.rows * job.pitch + 1);
    if (!rows) return no_memory();
    parallel_for(call, job.rows, max_of<int64_t>(1, 16384 / max_of<int64_t>(1, job.pitch)), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T *from = data<T>(x) + i * job.inside;
        if constexpr (std::is_same<T, float>::value) memcpy(rows + i * job.pitch, from, size_t(job.inside) * sizeof(float));
        else widen(from, rows + i * job.pitch, job.inside);
        for (int64_t k = job.inside; k < job.pitch; ++k) rows[i * job.pitch + k] = 0;
      }
    });
    job.x = rows;
  }

  job.sums = nullptr;
  if (job.rows <= most_rows && (zero || (four && middle != 8))) {
    float *sums = workspace<float>(call, job.rows * job.groups);
    if (!sums) return no_memory();
    for (int64_t i = 0; i < job.rows * job.groups; ++i) {
      const int64_t begin = i % job.groups * job.group, end = min_of(job.inside, begin + job.group);
      float sum = 0;
      for (int64_t k = begin; k < end; ++k) sum += job.x[i / job.groups * job.pitch + k];
      sums[i] = sum;
    }
    job.sums = sums;
  }

  job.bias = nullptr;
  if (bias) {
    float *values = workspace<float>(call, job.out + 2 * gemm_columns<float>);
    if (!values) return no_memory();
    dispatch<float, float16, bfloat16>(bias->dtype, [&](auto tag) {
      for (int64_t i = 0; i < job.out; ++i) values[i] = float(data<decltype(tag)>(bias)[i]);
    });
    for (int64_t i = job.out; i < job.out + 2 * gemm_columns<float>; ++i) values[i] = 0;
    job.bias = values;
  }

  // Scales of another dtype than those that are read as they lie.
  int32_t dtype = scale->dtype;
  if (dtype == WRY_FLOAT64) {
    float *values = workspace<float>(call, scale->size);
    if (!values) return no_memory();
    for (int64_t i = 0; i < scale->size; ++i) values[i] = float(data<double>(scale)[i]);
    job.scale = values, dtype = WRY_FLOAT32;
  }

  float *wide = std::is_same<T, float>::value ? nullptr : workspace<float>(call, out->size);
  if (!std::is_same<T, float>::value && !wide) return no_memory();
  job.to = wide ? wide : static_cast<float *>(out->data);
  if (job.inside == 0)
    for (int64_t i = 0; i < out->size; ++i) job.to[i] = job.bias ? job.bias[i % job.out] : 0.0f;
  else if (!(four ? multiply_weight<true>(call, job, dtype) : multiply_weight<false>(call, job, dtype))) return no_memory();
  if constexpr (!std::is_same<T, float>::value)
    parallel_for(call, out->size, 16384, [&](int64_t first, int64_t last) { narrow(wide + first, data<T>(out) + first, last - first); });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    WRY_ROW("weight_only_linear", float, WRY_WANTS_CONTIGUOUS, weight_only_linear),
    WRY_ROW("weight_only_linear", float16, WRY_WANTS_CONTIGUOUS, weight_only_linear),
    WRY_ROW("weight_only_linear", bfloat16, WRY_WANTS_CONTIGUOUS, weight_only_linear),
};

}  // namespace
WRY_TABLE(weight_only, table)

}  // namespace WRY_NAMESPACE
