// Recurrent layers whose weights have 8 bits and are read as they lie (wherry_tensor/ops/weight_only.py says how).
//
// The product with x is one for all steps; that with the state is one of few rows in each step, which reads a quarter of the bytes that floats take.
#include "recurrent.h"
#include "weight_only.h"

namespace WRY_NAMESPACE {
namespace {

// A product with rows of `inside` values: weight [out blocks, inside, 16], scale [1, out].
weight_only::Job job_of(const wry_tensor *weight, const wry_tensor *scale, int64_t inside) {
  weight_only::Job job = {};
  job.inside = job.pitch = inside, job.out = scale->shape[1], job.groups = 1, job.group = max_of<int64_t>(1, inside);
  job.weight = weight->data, job.scale = scale->data;
  return job;
}

// A bias as products read it, in whole blocks and tiles.
const float *filled_bias(const wry_call *call, const float *a, const float *b, int64_t n) {
  const int64_t full = n + 2 * gemm_columns<float>;
  float *out = workspace<float>(call, full);
  if (out)
    for (int64_t i = 0; i < full; ++i) out[i] = i >= n ? 0.0f : b ? a[i] + b[i]
                                                                  : a[i];
  return out;
}

// All rows [T * B, inside] at once.
bool project_all(const wry_call *call, weight_only::Job job, const float *x, const float *bias, int64_t rows, float *to) {
  job.x = x, job.rows = rows, job.bias = bias, job.to = to;
  if (rows == 0) return true;
  if (job.inside > 0) return weight_only::multiply_weight<false>(call, job, WRY_FLOAT32);
  for (int64_t i = 0; i < rows; ++i) copy_row(to + i * job.out, bias, job.out);
  return true;
}

// Rows of states, a few at a time.
void multiply_states(weight_only::Job job, const float *h, int64_t rows, float *to) {
  for (int64_t r = 0; r < rows; r += weight_only::most_rows) {
    job.x = h + r * job.inside, job.to = to + r * job.out, job.rows = min_of<int64_t>(rows - r, weight_only::most_rows);
    weight_only::multiply_blocks<false, float>(job, 0, (job.out + weight_only::block - 1) / weight_only::block);
  }
}

// weight_only_lstm(x, h, c, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length?) -> out, h_last, c_last
int lstm(const wry_call *call) {
  const char *op = "weight_only_lstm";
  Sequence s;
  const int status = sequence_of(call, op, input(call, 0), input(call, 1), input(call, 9), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden, steps = s.time * s.batch;
  const float *bias = filled_bias(call, data<float>(input(call, 7)), data<float>(input(call, 8)), 4 * H);
  float *gates = workspace<float>(call, steps * 4 * H + 1), *cells = workspace<float>(call, steps * H + 1);
  if (!bias || !gates || !cells) return no_memory(call, op, s);
  const weight_only::Job of_inputs = job_of(input(call, 3), input(call, 4), s.width);
  weight_only::Job of_states = job_of(input(call, 5), input(call, 6), H);
  of_states.is_added = true;
  if (!project_all(call, of_inputs, data<float>(input(call, 0)), bias, steps, gates)) return no_memory(call, op, s);
  lstm_steps<float>(call, s, data<float>(input(call, 1)), data<float>(input(call, 2)), data<float>(output(call, 1)), data<float>(output(call, 2)),
                    data<float>(output(call, 0)), gates, cells,
                    [&](const float *h, int64_t rows, int64_t at) { multiply_states(of_states, h, rows, gates + at * 4 * H); });
  return WRY_OK;
}

// weight_only_gru(x, h, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length?) -> out, h_last
int gru(const wry_call *call) {
  const char *op = "weight_only_gru";
  Sequence s;
  const int status = sequence_of(call, op, input(call, 0), input(call, 1), input(call, 8), attr_bool(call, 0), &s);
  if (status != WRY_OK) return status;
  const int64_t H = s.hidden, steps = s.time * s.batch;
  const float *bias_ih = filled_bias(call, data<float>(input(call, 6)), nullptr, 3 * H);
  float *parts = workspace<float>(call, steps * 3 * H + 1), *gates = workspace<float>(call, steps * 4 * H + 1);
  float *of_h = workspace<float>(call, s.batch * 3 * H + 1);
  weight_only::Job of_states = job_of(input(call, 4), input(call, 5), H);
  of_states.bias = filled_bias(call, data<float>(input(call, 7)), nullptr, 3 * H);
  if (!bias_ih || !parts || !gates || !of_h || !of_states.bias ||
      !project_all(call, job_of(input(call, 2), input(call, 3), s.width), data<float>(input(call, 0)), bias_ih, steps, parts))
    return no_memory(call, op, s);
  gru_steps<float>(call, s, data<float>(input(call, 1)), data<float>(output(call, 1)), data<float>(output(call, 0)), gates,
                   [&](const float *h, int64_t rows, int64_t at) {
                     float *room = of_h + at % s.batch * 3 * H;
                     multiply_states(of_states, h, rows, room);
                     for (int64_t r = 0; r < rows; ++r) {
                       const float *x_part = parts + (at + r) * 3 * H, *h_part = room + r * 3 * H;
                       float *g = gates + (at + r) * 4 * H;
                       for (int64_t j = 0; j < 2 * H; ++j) g[j] = x_part[j] + h_part[j];
                       copy_row(g + 2 * H, x_part + 2 * H, H), copy_row(g + 3 * H, h_part + 2 * H, H);
                     }
                   });
  return WRY_OK;
}

const wry_kernel_entry table[] = {
    {"weight_only_lstm", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, lstm, nullptr},
    {"weight_only_gru", WRY_FLOAT32, WRY_WANTS_CONTIGUOUS, gru, nullptr},
};

}  // namespace
WRY_TABLE(recurrent8, table)

}  // namespace WRY_NAMESPACE
