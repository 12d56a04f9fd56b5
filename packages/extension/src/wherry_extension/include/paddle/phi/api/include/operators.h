// The operators of Paddle 2.6, in `paddle::experimental`: named and ordered as there. Each is looked up by its name when it is called; what
// ends in an underscore writes into what it is given by reference. Where a result lies is where its inputs do.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddle/phi/api/include/api.h"

namespace paddle {
namespace experimental {
namespace detail {

// The results of a call, handed out one after the other.
struct Given {
  std::vector<Tensor> found;
  size_t n_lists;  // of lists whose lengths are not known: they share what is left
  size_t n_single;
  size_t at = 0;

  Tensor next() { return at < found.size() ? found[at++] : Tensor(); }
  std::vector<Tensor> list(size_t n) {
    std::vector<Tensor> out;
    while (n--) out.push_back(next());
    return out;
  }
  void give(Tensor *to) { *to = next(); }
  void give(std::vector<Tensor> *to) { *to = list((found.size() - std::min(n_single, found.size())) / n_lists); }

  static void write(Tensor *to, const Tensor &value) {
    if (!value.initialized()) return;
    if (to->initialized() && to->dtype() == value.dtype() && to->numel() == value.numel() && to->place() == value.place())
      to->copy_(value, value.place(), true);
    else
      *to = value;
  }
  void write(Tensor *to) { write(to, next()); }
  void write(std::vector<Tensor> *to) {
    for (Tensor &one : *to) write(&one);
  }
  template <typename T>
  void write(optional<T> *to) {
    if (*to) write(&to->get());
  }
};

// One element of what a function returns: a new one, or one of `refs`, with its value.
template <typename E, size_t Ref, typename Refs>
E element(Given *given, const Refs &refs) {
  if constexpr (std::is_lvalue_reference<E>::value) {
    E to = std::get<Ref>(refs);
    given->write(&to);
    return to;
  } else {
    E made;
    given->give(&made);
    return made;
  }
}

template <typename R>
struct Returned {
  template <typename Refs>
  static R of(Given given, const Refs &refs) {
    given.n_lists = std::is_same<R, std::vector<Tensor>>::value, given.n_single = 0;
    return element<R, 0>(&given, refs);
  }
};
template <typename... E>
struct Returned<std::tuple<E...>> {
  static constexpr size_t refs_before(size_t n) {
    const bool is_ref[] = {std::is_lvalue_reference<E>::value...};
    size_t count = 0;
    for (size_t i = 0; i < n; ++i) count += is_ref[i];
    return count;
  }
  template <typename Refs, size_t... I>
  static std::tuple<E...> each(Given *given, const Refs &refs, std::index_sequence<I...>) {
    return std::tuple<E...>{element<E, refs_before(I)>(given, refs)...};  // braces: from left to right
  }
  template <typename Refs>
  static std::tuple<E...> of(Given given, const Refs &refs) {
    for (const bool list : {std::is_same<E, std::vector<Tensor>>::value...}) ++(list ? given.n_lists : given.n_single);
    return each(&given, refs, std::index_sequence_for<E...>());
  }
};

template <typename R, typename Refs = std::tuple<>>
R op(const char *name, const std::vector<paddle::detail::Arg> &args, const Refs &refs = {}) {
  return Returned<R>::of(Given{paddle::detail::apply(name, args, 0), 0, 0}, refs);
}

}  // namespace detail

inline Tensor &abs_(Tensor &x) { return detail::op<Tensor &>("op:abs_", {x}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> accuracy(const Tensor &x, const Tensor &indices, const Tensor &label) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:accuracy", {x, indices, label}); }
inline Tensor &acos_(Tensor &x) { return detail::op<Tensor &>("op:acos_", {x}, std::tie(x)); }
inline Tensor &acosh_(Tensor &x) { return detail::op<Tensor &>("op:acosh_", {x}, std::tie(x)); }
inline std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &> adadelta_(Tensor &param, const Tensor &grad, Tensor &avg_squared_grad, Tensor &avg_squared_update, const Tensor &learning_rate, paddle::optional<Tensor> &master_param, float rho, float epsilon, bool multi_precision) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:adadelta_", {param, grad, avg_squared_grad, avg_squared_update, learning_rate, master_param, rho, epsilon, multi_precision}, std::tie(param, avg_squared_grad, avg_squared_update, master_param)); }
inline std::tuple<Tensor &, Tensor &, paddle::optional<Tensor> &> adagrad_(Tensor &param, const Tensor &grad, Tensor &moment, const Tensor &learning_rate, paddle::optional<Tensor> &master_param, float epsilon = 1.0e-6f, bool multi_precision = false) { return detail::op<std::tuple<Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:adagrad_", {param, grad, moment, learning_rate, master_param, epsilon, multi_precision}, std::tie(param, moment, master_param)); }
inline std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &> adam_(Tensor &param, const Tensor &grad, const Tensor &learning_rate, Tensor &moment1, Tensor &moment2, Tensor &beta1_pow, Tensor &beta2_pow, paddle::optional<Tensor> &master_param, const paddle::optional<Tensor> &skip_update, const Scalar &beta1 = 0.9f, const Scalar &beta2 = 0.999f, const Scalar &epsilon = 1.0e-8f, bool lazy_mode = false, int64_t min_row_size_to_use_multithread = 1000, bool multi_precision = false, bool use_global_beta_pow = false) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:adam_", {param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, master_param, skip_update, beta1, beta2, epsilon, lazy_mode, min_row_size_to_use_multithread, multi_precision, use_global_beta_pow}, std::tie(param, moment1, moment2, beta1_pow, beta2_pow, master_param)); }
inline std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &> adamax_(Tensor &param, const Tensor &grad, const Tensor &learning_rate, Tensor &moment, Tensor &inf_norm, const Tensor &beta1_pow, paddle::optional<Tensor> &master_param, float beta1 = 0.9f, float beta2 = 0.999f, float epsilon = 1.0e-8f, bool multi_precision = false) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:adamax_", {param, grad, learning_rate, moment, inf_norm, beta1_pow, master_param, beta1, beta2, epsilon, multi_precision}, std::tie(param, moment, inf_norm, master_param)); }
inline std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &> adamw_(Tensor &param, const Tensor &grad, const Tensor &learning_rate, Tensor &moment1, Tensor &moment2, Tensor &beta1_pow, Tensor &beta2_pow, paddle::optional<Tensor> &master_param, const paddle::optional<Tensor> &skip_update, const Scalar &beta1 = 0.9f, const Scalar &beta2 = 0.999f, const Scalar &epsilon = 1.0e-8f, float lr_ratio = 1.0f, float coeff = 0.01f, bool with_decay = false, bool lazy_mode = false, int64_t min_row_size_to_use_multithread = 1000, bool multi_precision = false, bool use_global_beta_pow = false) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:adamw_", {param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, master_param, skip_update, beta1, beta2, epsilon, lr_ratio, coeff, with_decay, lazy_mode, min_row_size_to_use_multithread, multi_precision, use_global_beta_pow}, std::tie(param, moment1, moment2, beta1_pow, beta2_pow, master_param)); }
inline Tensor &add_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:add_", {x, y}, std::tie(x)); }
inline Tensor add_n(const std::vector<Tensor> &inputs) { return detail::op<Tensor>("op:add_n", {inputs}); }
inline Tensor &addmm_(Tensor &input, const Tensor &x, const Tensor &y, float beta = 1.0, float alpha = 1.0) { return detail::op<Tensor &>("op:addmm_", {input, x, y, beta, alpha}, std::tie(input)); }
inline Tensor affine_grid(const Tensor &input, const IntArray &output_shape = {}, bool align_corners = true) { return detail::op<Tensor>("op:affine_grid", {input, output_shape, align_corners}); }
inline Tensor all(const Tensor &x, const std::vector<int64_t> &axis = {}, bool keepdim = false) { return detail::op<Tensor>("op:all", {x, axis, keepdim}); }
inline Tensor amax(const Tensor &x, const std::vector<int64_t> &axis = {}, bool keepdim = false) { return detail::op<Tensor>("op:amax", {x, axis, keepdim}); }
inline Tensor amin(const Tensor &x, const std::vector<int64_t> &axis = {}, bool keepdim = false) { return detail::op<Tensor>("op:amin", {x, axis, keepdim}); }
inline Tensor angle(const Tensor &x) { return detail::op<Tensor>("op:angle", {x}); }
inline Tensor any(const Tensor &x, const std::vector<int64_t> &axis = {}, bool keepdim = false) { return detail::op<Tensor>("op:any", {x, axis, keepdim}); }
inline Tensor arange(const Tensor &start, const Tensor &end, const Tensor &step, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:arange", {start, end, step, dtype}); }
inline Tensor argmax(const Tensor &x, const Scalar &axis, bool keepdims = false, bool flatten = false, DataType dtype = DataType::INT64) { return detail::op<Tensor>("op:argmax", {x, axis, keepdims, flatten, dtype}); }
inline Tensor argmin(const Tensor &x, const Scalar &axis, bool keepdims = false, bool flatten = false, DataType dtype = DataType::INT64) { return detail::op<Tensor>("op:argmin", {x, axis, keepdims, flatten, dtype}); }
inline Tensor as_complex(const Tensor &x) { return detail::op<Tensor>("op:as_complex", {x}); }
inline Tensor as_real(const Tensor &x) { return detail::op<Tensor>("op:as_real", {x}); }
inline Tensor as_strided(const Tensor &input, const std::vector<int64_t> &dims = {}, const std::vector<int64_t> &stride = {}, int64_t offset = 0) { return detail::op<Tensor>("op:as_strided", {input, dims, stride, offset}); }
inline Tensor &asin_(Tensor &x) { return detail::op<Tensor &>("op:asin_", {x}, std::tie(x)); }
inline Tensor &asinh_(Tensor &x) { return detail::op<Tensor &>("op:asinh_", {x}, std::tie(x)); }
inline Tensor assign(const Tensor &x) { return detail::op<Tensor>("op:assign", {x}); }
inline Tensor &assign_(Tensor &x) { return detail::op<Tensor &>("op:assign_", {x}, std::tie(x)); }
inline Tensor &assign_out_(const Tensor &x, Tensor &output) { return detail::op<Tensor &>("op:assign_out_", {x, output}, std::tie(output)); }
inline Tensor &assign_value_(Tensor &output, const std::vector<int> &shape, DataType dtype, const std::vector<phi::Scalar> &values, const Place & = {}) { return detail::op<Tensor &>("op:assign_value_", {output, shape, dtype, values}, std::tie(output)); }
inline Tensor &atan_(Tensor &x) { return detail::op<Tensor &>("op:atan_", {x}, std::tie(x)); }
inline Tensor &atanh_(Tensor &x) { return detail::op<Tensor &>("op:atanh_", {x}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> auc(const Tensor &x, const Tensor &label, const Tensor &stat_pos, const Tensor &stat_neg, const paddle::optional<Tensor> &ins_tag_weight, const std::string &curve = "ROC", int num_thresholds = (2 << 12) - 1, int slide_steps = 1) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:auc", {x, label, stat_pos, stat_neg, ins_tag_weight, curve, num_thresholds, slide_steps}); }
inline std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, Tensor &> average_accumulates_(const Tensor &param, Tensor &in_sum_1, Tensor &in_sum_2, Tensor &in_sum_3, Tensor &in_num_accumulates, Tensor &in_old_num_accumulates, Tensor &in_num_updates, float average_window = 0, int64_t max_average_window = INT64_MAX, int64_t min_average_window = 10000L) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, Tensor &>>("op:average_accumulates_", {param, in_sum_1, in_sum_2, in_sum_3, in_num_accumulates, in_old_num_accumulates, in_num_updates, average_window, max_average_window, min_average_window}, std::tie(in_sum_1, in_sum_2, in_sum_3, in_num_accumulates, in_old_num_accumulates, in_num_updates)); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> batch_norm(const Tensor &x, const Tensor &mean, const Tensor &variance, const paddle::optional<Tensor> &scale, const paddle::optional<Tensor> &bias, bool is_test, float momentum, float epsilon, const std::string &data_layout, bool use_global_stats, bool trainable_statistics) { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>>("op:batch_norm", {x, mean, variance, scale, bias, is_test, momentum, epsilon, data_layout, use_global_stats, trainable_statistics}); }
inline Tensor bce_loss(const Tensor &input, const Tensor &label) { return detail::op<Tensor>("op:bce_loss", {input, label}); }
inline Tensor &bce_loss_(Tensor &input, const Tensor &label) { return detail::op<Tensor &>("op:bce_loss_", {input, label}, std::tie(input)); }
inline Tensor bicubic_interp(const Tensor &x, const paddle::optional<Tensor> &out_size, const paddle::optional<std::vector<Tensor>> &size_tensor, const paddle::optional<Tensor> &scale_tensor, const std::string &data_layout = "NCHW", int out_d = 0, int out_h = 0, int out_w = 0, const std::vector<float> &scale = {}, const std::string &interp_method = "bilinear", bool align_corners = true, int align_mode = 1) { return detail::op<Tensor>("op:bicubic_interp", {x, out_size, size_tensor, scale_tensor, data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode}); }
inline Tensor bilinear(const Tensor &x, const Tensor &y, const Tensor &weight, const paddle::optional<Tensor> &bias) { return detail::op<Tensor>("op:bilinear", {x, y, weight, bias}); }
inline Tensor bilinear_interp(const Tensor &x, const paddle::optional<Tensor> &out_size, const paddle::optional<std::vector<Tensor>> &size_tensor, const paddle::optional<Tensor> &scale_tensor, const std::string &data_layout = "NCHW", int out_d = 0, int out_h = 0, int out_w = 0, const std::vector<float> &scale = {}, const std::string &interp_method = "bilinear", bool align_corners = true, int align_mode = 1) { return detail::op<Tensor>("op:bilinear_interp", {x, out_size, size_tensor, scale_tensor, data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode}); }
inline Tensor bincount(const Tensor &x, const paddle::optional<Tensor> &weights, const Scalar &minlength = 0) { return detail::op<Tensor>("op:bincount", {x, weights, minlength}); }
inline Tensor bitwise_and(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:bitwise_and", {x, y}); }
inline Tensor &bitwise_and_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:bitwise_and_", {x, y}, std::tie(x)); }
inline Tensor bitwise_not(const Tensor &x) { return detail::op<Tensor>("op:bitwise_not", {x}); }
inline Tensor &bitwise_not_(Tensor &x) { return detail::op<Tensor &>("op:bitwise_not_", {x}, std::tie(x)); }
inline Tensor bitwise_or(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:bitwise_or", {x, y}); }
inline Tensor &bitwise_or_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:bitwise_or_", {x, y}, std::tie(x)); }
inline Tensor bitwise_xor(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:bitwise_xor", {x, y}); }
inline Tensor &bitwise_xor_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:bitwise_xor_", {x, y}, std::tie(x)); }
inline std::tuple<Tensor, Tensor &, Tensor &, Tensor &> block_multihead_attention_(Tensor &qkv, Tensor &key_cache, Tensor &value_cache, const Tensor &seq_lens_encoder, const Tensor &seq_lens_decoder, const Tensor &seq_lens_this_time, const Tensor &padding_offsets, const Tensor &cum_offsets, const Tensor &cu_seqlens_q, const Tensor &cu_seqlens_k, const Tensor &block_tables, const paddle::optional<Tensor> &pre_key_cache, const paddle::optional<Tensor> &pre_value_cache, const paddle::optional<Tensor> &rope_emb, const paddle::optional<Tensor> &mask, const paddle::optional<Tensor> &tgt_mask, const paddle::optional<Tensor> &cache_k_quant_scales, const paddle::optional<Tensor> &cache_v_quant_scales, const paddle::optional<Tensor> &cache_k_dequant_scales, const paddle::optional<Tensor> &cache_v_dequant_scales, const paddle::optional<Tensor> &qkv_out_scale, const paddle::optional<Tensor> &qkv_bias, const paddle::optional<Tensor> &out_shift, const paddle::optional<Tensor> &out_smooth, int max_seq_len, int block_size, bool use_neox_style, bool dynamic_cachekv_quant = false, int quant_round_type = 1, float quant_max_bound = 127.0, float quant_min_bound = -127.0, float out_scale = -1, const std::string &compute_dtype = "default") { return detail::op<std::tuple<Tensor, Tensor &, Tensor &, Tensor &>>("op:block_multihead_attention_", {qkv, key_cache, value_cache, seq_lens_encoder, seq_lens_decoder, seq_lens_this_time, padding_offsets, cum_offsets, cu_seqlens_q, cu_seqlens_k, block_tables, pre_key_cache, pre_value_cache, rope_emb, mask, tgt_mask, cache_k_quant_scales, cache_v_quant_scales, cache_k_dequant_scales, cache_v_dequant_scales, qkv_out_scale, qkv_bias, out_shift, out_smooth, max_seq_len, block_size, use_neox_style, dynamic_cachekv_quant, quant_round_type, quant_max_bound, quant_min_bound, out_scale, compute_dtype}, std::tie(qkv, key_cache, value_cache)); }
inline Tensor bmm(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:bmm", {x, y}); }
inline Tensor box_coder(const Tensor &prior_box, const paddle::optional<Tensor> &prior_box_var, const Tensor &target_box, const std::string &code_type = "encode_center_size", bool box_normalized = true, int axis = 0, const std::vector<float> &variance = {}) { return detail::op<Tensor>("op:box_coder", {prior_box, prior_box_var, target_box, code_type, box_normalized, axis, variance}); }
inline std::vector<Tensor> broadcast_tensors(const std::vector<Tensor> &input) { return detail::op<std::vector<Tensor>>("op:broadcast_tensors", {input}); }
inline Tensor c_allgather(const Tensor &x, int ring_id, int nranks, bool use_calc_stream) { return detail::op<Tensor>("op:c_allgather", {x, ring_id, nranks, use_calc_stream}); }
inline Tensor c_allreduce_max(const Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor>("op:c_allreduce_max", {x, ring_id, use_calc_stream, use_model_parallel}); }
inline Tensor &c_allreduce_max_(Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor &>("op:c_allreduce_max_", {x, ring_id, use_calc_stream, use_model_parallel}, std::tie(x)); }
inline Tensor c_allreduce_sum(const Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor>("op:c_allreduce_sum", {x, ring_id, use_calc_stream, use_model_parallel}); }
inline Tensor &c_allreduce_sum_(Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor &>("op:c_allreduce_sum_", {x, ring_id, use_calc_stream, use_model_parallel}, std::tie(x)); }
inline Tensor c_broadcast(const Tensor &x, int ring_id = 0, int root = 0, bool use_calc_stream = false) { return detail::op<Tensor>("op:c_broadcast", {x, ring_id, root, use_calc_stream}); }
inline Tensor &c_broadcast_(Tensor &x, int ring_id = 0, int root = 0, bool use_calc_stream = false) { return detail::op<Tensor &>("op:c_broadcast_", {x, ring_id, root, use_calc_stream}, std::tie(x)); }
inline Tensor c_concat(const Tensor &x, int rank, int nranks, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor>("op:c_concat", {x, rank, nranks, ring_id, use_calc_stream, use_model_parallel}); }
inline Tensor c_embedding(const Tensor &weight, const Tensor &x, int64_t start_index = 0, int64_t vocab_size = -1) { return detail::op<Tensor>("op:c_embedding", {weight, x, start_index, vocab_size}); }
inline Tensor c_identity(const Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor>("op:c_identity", {x, ring_id, use_calc_stream, use_model_parallel}); }
inline Tensor &c_identity_(Tensor &x, int ring_id, bool use_calc_stream, bool use_model_parallel) { return detail::op<Tensor &>("op:c_identity_", {x, ring_id, use_calc_stream, use_model_parallel}, std::tie(x)); }
inline Tensor c_reduce_sum(const Tensor &x, int ring_id, int root_id, bool use_calc_stream) { return detail::op<Tensor>("op:c_reduce_sum", {x, ring_id, root_id, use_calc_stream}); }
inline Tensor &c_reduce_sum_(Tensor &x, int ring_id, int root_id, bool use_calc_stream) { return detail::op<Tensor &>("op:c_reduce_sum_", {x, ring_id, root_id, use_calc_stream}, std::tie(x)); }
inline Tensor c_sync_calc_stream(const Tensor &x) { return detail::op<Tensor>("op:c_sync_calc_stream", {x}); }
inline Tensor &c_sync_calc_stream_(Tensor &x) { return detail::op<Tensor &>("op:c_sync_calc_stream_", {x}, std::tie(x)); }
inline Tensor c_sync_comm_stream(const Tensor &x, int ring_id) { return detail::op<Tensor>("op:c_sync_comm_stream", {x, ring_id}); }
inline Tensor &c_sync_comm_stream_(Tensor &x, int ring_id) { return detail::op<Tensor &>("op:c_sync_comm_stream_", {x, ring_id}, std::tie(x)); }
inline Tensor &cast_(Tensor &x, DataType dtype) { return detail::op<Tensor &>("op:cast_", {x, dtype}, std::tie(x)); }
inline Tensor &ceil_(Tensor &x) { return detail::op<Tensor &>("op:ceil_", {x}, std::tie(x)); }
inline Tensor celu(const Tensor &x, float alpha = 1.0) { return detail::op<Tensor>("op:celu", {x, alpha}); }
inline Tensor channel_shuffle(const Tensor &x, int groups, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:channel_shuffle", {x, groups, data_format}); }
inline std::tuple<std::vector<Tensor> &, Tensor> check_finite_and_unscale_(std::vector<Tensor> &x, const Tensor &scale) { return detail::op<std::tuple<std::vector<Tensor> &, Tensor>>("op:check_finite_and_unscale_", {x, scale}, std::tie(x)); }
inline std::tuple<Tensor, Tensor> check_numerics(const Tensor &tensor, const std::string &op_type = "", const std::string &var_name = "", int check_nan_inf_level = 0, int stack_height_limit = -1, const std::string &output_dir = "") { return detail::op<std::tuple<Tensor, Tensor>>("op:check_numerics", {tensor, op_type, var_name, check_nan_inf_level, stack_height_limit, output_dir}); }
inline std::tuple<Tensor, Tensor> class_center_sample(const Tensor &label, int num_classes, int num_samples, int ring_id = 0, int rank = 0, int nranks = 1, bool fix_seed = false, int seed = 0) { return detail::op<std::tuple<Tensor, Tensor>>("op:class_center_sample", {label, num_classes, num_samples, ring_id, rank, nranks, fix_seed, seed}); }
inline Tensor &clip_(Tensor &x, const Scalar &min, const Scalar &max) { return detail::op<Tensor &>("op:clip_", {x, min, max}, std::tie(x)); }
inline Tensor clip_by_norm(const Tensor &x, float max_norm) { return detail::op<Tensor>("op:clip_by_norm", {x, max_norm}); }
inline std::tuple<std::vector<Tensor>, Tensor> coalesce_tensor(const std::vector<Tensor> &input, DataType dtype, bool copy_data = false, bool set_constant = false, bool persist_output = false, float constant = 0.0, bool use_align = true, int align_size = -1, int size_of_dtype = -1, const std::vector<int64_t> &concated_shapes = {}, const std::vector<int64_t> &concated_ranks = {}) { return detail::op<std::tuple<std::vector<Tensor>, Tensor>>("op:coalesce_tensor", {input, dtype, copy_data, set_constant, persist_output, constant, use_align, align_size, size_of_dtype, concated_shapes, concated_ranks}); }
inline Tensor complex(const Tensor &real, const Tensor &imag) { return detail::op<Tensor>("op:complex", {real, imag}); }
inline Tensor conv2d(const Tensor &input, const Tensor &filter, const std::vector<int> &strides = {1, 1}, const std::vector<int> &paddings = {0, 0}, const std::string &padding_algorithm = "EXPLICIT", const std::vector<int> &dilations = {1, 1}, int groups = 1, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:conv2d", {input, filter, strides, paddings, padding_algorithm, dilations, groups, data_format}); }
inline Tensor conv2d_transpose(const Tensor &x, const Tensor &filter, const std::vector<int> &strides = {1, 1}, const std::vector<int> &paddings = {0, 0}, const std::vector<int> &output_padding = {}, const IntArray &output_size = {}, const std::string &padding_algorithm = "EXPLICIT", int groups = 1, const std::vector<int> &dilations = {1, 1}, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:conv2d_transpose", {x, filter, strides, paddings, output_padding, output_size, padding_algorithm, groups, dilations, data_format}); }
inline Tensor conv3d(const Tensor &input, const Tensor &filter, const std::vector<int> &strides = {1, 1, 1}, const std::vector<int> &paddings = {0, 0, 0}, const std::string &padding_algorithm = "EXPLICIT", int groups = 1, const std::vector<int> &dilations = {1, 1, 1}, const std::string &data_format = "NCDHW") { return detail::op<Tensor>("op:conv3d", {input, filter, strides, paddings, padding_algorithm, groups, dilations, data_format}); }
inline Tensor conv3d_transpose(const Tensor &x, const Tensor &filter, const std::vector<int> &strides = {1, 1, 1}, const std::vector<int> &paddings = {0, 0, 0}, const std::vector<int> &output_padding = {}, const std::vector<int> &output_size = {}, const std::string &padding_algorithm = "EXPLICIT", int groups = 1, const std::vector<int> &dilations = {1, 1, 1}, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:conv3d_transpose", {x, filter, strides, paddings, output_padding, output_size, padding_algorithm, groups, dilations, data_format}); }
inline Tensor copy_to(const Tensor &x, const Place &, bool blocking) { return detail::op<Tensor>("op:copy_to", {x, blocking}); }
inline Tensor &cos_(Tensor &x) { return detail::op<Tensor &>("op:cos_", {x}, std::tie(x)); }
inline Tensor &cosh_(Tensor &x) { return detail::op<Tensor &>("op:cosh_", {x}, std::tie(x)); }
inline Tensor crop(const Tensor &x, const IntArray &shape = {}, const IntArray &offsets = {}) { return detail::op<Tensor>("op:crop", {x, shape, offsets}); }
inline std::tuple<Tensor, Tensor> cross_entropy_with_softmax(const Tensor &input, const Tensor &label, bool soft_label = false, bool use_softmax = true, bool numeric_stable_mode = true, int ignore_index = -100, int axis = -1) { return detail::op<std::tuple<Tensor, Tensor>>("op:cross_entropy_with_softmax", {input, label, soft_label, use_softmax, numeric_stable_mode, ignore_index, axis}); }
inline std::tuple<Tensor &, Tensor> cross_entropy_with_softmax_(Tensor &input, const Tensor &label, bool soft_label = false, bool use_softmax = true, bool numeric_stable_mode = true, int ignore_index = -100, int axis = -1) { return detail::op<std::tuple<Tensor &, Tensor>>("op:cross_entropy_with_softmax_", {input, label, soft_label, use_softmax, numeric_stable_mode, ignore_index, axis}, std::tie(input)); }
inline std::tuple<Tensor, Tensor> cummax(const Tensor &x, int axis = -1, DataType dtype = DataType::INT64) { return detail::op<std::tuple<Tensor, Tensor>>("op:cummax", {x, axis, dtype}); }
inline std::tuple<Tensor, Tensor> cummin(const Tensor &x, int axis = -1, DataType dtype = DataType::INT64) { return detail::op<std::tuple<Tensor, Tensor>>("op:cummin", {x, axis, dtype}); }
inline Tensor cumprod(const Tensor &x, int dim) { return detail::op<Tensor>("op:cumprod", {x, dim}); }
inline Tensor &cumprod_(Tensor &x, int dim) { return detail::op<Tensor &>("op:cumprod_", {x, dim}, std::tie(x)); }
inline Tensor &cumsum_(Tensor &x, const Scalar &axis = -1, bool flatten = false, bool exclusive = false, bool reverse = false) { return detail::op<Tensor &>("op:cumsum_", {x, axis, flatten, exclusive, reverse}, std::tie(x)); }
inline Tensor data(const std::string &name, const IntArray &shape, DataType dtype, const Place &) { return detail::op<Tensor>("op:data", {name, shape, dtype}); }
inline Tensor decode_jpeg(const Tensor &x, const std::string &mode, const Place &) { return detail::op<Tensor>("op:decode_jpeg", {x, mode}); }
inline Tensor deformable_conv(const Tensor &x, const Tensor &offset, const Tensor &filter, const paddle::optional<Tensor> &mask, const std::vector<int> &strides, const std::vector<int> &paddings, const std::vector<int> &dilations, int deformable_groups, int groups, int im2col_step) { return detail::op<Tensor>("op:deformable_conv", {x, offset, filter, mask, strides, paddings, dilations, deformable_groups, groups, im2col_step}); }
inline Tensor depthwise_conv2d(const Tensor &input, const Tensor &filter, const std::vector<int> &strides = {1, 1}, const std::vector<int> &paddings = {0, 0}, const std::string &padding_algorithm = "EXPLICIT", int groups = 1, const std::vector<int> &dilations = {1, 1}, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:depthwise_conv2d", {input, filter, strides, paddings, padding_algorithm, groups, dilations, data_format}); }
inline Tensor depthwise_conv2d_transpose(const Tensor &x, const Tensor &filter, const std::vector<int> &strides = {1, 1}, const std::vector<int> &paddings = {0, 0}, const std::vector<int> &output_padding = {}, const IntArray &output_size = {}, const std::string &padding_algorithm = "EXPLICIT", int groups = 1, const std::vector<int> &dilations = {1, 1}, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:depthwise_conv2d_transpose", {x, filter, strides, paddings, output_padding, output_size, padding_algorithm, groups, dilations, data_format}); }
inline Tensor diag_embed(const Tensor &input, int offset = 0, int dim1 = -2, int dim2 = -1) { return detail::op<Tensor>("op:diag_embed", {input, offset, dim1, dim2}); }
inline Tensor &digamma_(Tensor &x) { return detail::op<Tensor &>("op:digamma_", {x}, std::tie(x)); }
inline Tensor dirichlet(const Tensor &alpha) { return detail::op<Tensor>("op:dirichlet", {alpha}); }
inline Tensor disable_check_model_nan_inf(const Tensor &x, int flag = 0) { return detail::op<Tensor>("op:disable_check_model_nan_inf", {x, flag}); }
inline std::tuple<std::vector<Tensor>, std::vector<Tensor>, Tensor> distribute_fpn_proposals(const Tensor &fpn_rois, const paddle::optional<Tensor> &rois_num, int min_level, int max_level, int refer_level, int refer_scale, bool pixel_offset) { return detail::op<std::tuple<std::vector<Tensor>, std::vector<Tensor>, Tensor>>("op:distribute_fpn_proposals", {fpn_rois, rois_num, min_level, max_level, refer_level, refer_scale, pixel_offset}); }
inline Tensor &divide_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:divide_", {x, y}, std::tie(x)); }
inline std::tuple<Tensor, Tensor> dropout(const Tensor &x, const paddle::optional<Tensor> &seed_tensor, const Scalar &p, bool is_test, const std::string &mode, int seed, bool fix_seed) { return detail::op<std::tuple<Tensor, Tensor>>("op:dropout", {x, seed_tensor, p, is_test, mode, seed, fix_seed}); }
inline std::tuple<Tensor, Tensor> edit_distance(const Tensor &hyps, const Tensor &refs, const paddle::optional<Tensor> &hypslength, const paddle::optional<Tensor> &refslength, bool normalized = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:edit_distance", {hyps, refs, hypslength, refslength, normalized}); }
inline std::tuple<Tensor, Tensor> eig(const Tensor &x) { return detail::op<std::tuple<Tensor, Tensor>>("op:eig", {x}); }
inline std::tuple<Tensor, Tensor> eigh(const Tensor &x, const std::string &UPLO = "L") { return detail::op<std::tuple<Tensor, Tensor>>("op:eigh", {x, UPLO}); }
inline Tensor eigvals(const Tensor &x) { return detail::op<Tensor>("op:eigvals", {x}); }
inline std::tuple<Tensor, Tensor> eigvalsh(const Tensor &x, const std::string &uplo = "L", bool is_test = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:eigvalsh", {x, uplo, is_test}); }
inline std::tuple<Tensor, std::vector<Tensor>, std::vector<Tensor>> einsum(const std::vector<Tensor> &x, const std::string &equation) { return detail::op<std::tuple<Tensor, std::vector<Tensor>, std::vector<Tensor>>>("op:einsum", {x, equation}); }
inline Tensor elementwise_pow(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:elementwise_pow", {x, y}); }
inline Tensor &elu_(Tensor &x, float alpha = 1.0f) { return detail::op<Tensor &>("op:elu_", {x, alpha}, std::tie(x)); }
inline Tensor embedding(const Tensor &x, const Tensor &weight, int64_t padding_idx = -1, bool sparse = false) { return detail::op<Tensor>("op:embedding", {x, weight, padding_idx, sparse}); }
inline Tensor embedding_grad_dense(const Tensor &x, const Tensor &weight, const Tensor &out_grad, int64_t padding_idx = -1, bool sparse = false) { return detail::op<Tensor>("op:embedding_grad_dense", {x, weight, out_grad, padding_idx, sparse}); }
inline Tensor enable_check_model_nan_inf(const Tensor &x, int flag = 1) { return detail::op<Tensor>("op:enable_check_model_nan_inf", {x, flag}); }
inline Tensor &equal_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:equal_", {x, y}, std::tie(x)); }
inline Tensor &erf_(Tensor &x) { return detail::op<Tensor &>("op:erf_", {x}, std::tie(x)); }
inline Tensor &erfinv_(Tensor &x) { return detail::op<Tensor &>("op:erfinv_", {x}, std::tie(x)); }
inline Tensor &exp_(Tensor &x) { return detail::op<Tensor &>("op:exp_", {x}, std::tie(x)); }
inline Tensor expand_as(const Tensor &x, const paddle::optional<Tensor> &y, const std::vector<int> &target_shape = {}) { return detail::op<Tensor>("op:expand_as", {x, y, target_shape}); }
inline Tensor &expm1_(Tensor &x) { return detail::op<Tensor &>("op:expm1_", {x}, std::tie(x)); }
inline Tensor &exponential_(Tensor &x, float lam) { return detail::op<Tensor &>("op:exponential_", {x, lam}, std::tie(x)); }
inline Tensor eye(const Scalar &num_rows, const Scalar &num_columns, DataType dtype = DataType::FLOAT32, const Place & = {}) { return detail::op<Tensor>("op:eye", {num_rows, num_columns, dtype}); }
inline Tensor fft_c2c(const Tensor &x, const std::vector<int64_t> &axes, const std::string &normalization, bool forward) { return detail::op<Tensor>("op:fft_c2c", {x, axes, normalization, forward}); }
inline Tensor fft_c2r(const Tensor &x, const std::vector<int64_t> &axes, const std::string &normalization, bool forward, int64_t last_dim_size = 0L) { return detail::op<Tensor>("op:fft_c2r", {x, axes, normalization, forward, last_dim_size}); }
inline Tensor fft_r2c(const Tensor &x, const std::vector<int64_t> &axes, const std::string &normalization, bool forward, bool onesided) { return detail::op<Tensor>("op:fft_r2c", {x, axes, normalization, forward, onesided}); }
inline Tensor fill(const Tensor &x, const Scalar &value = 0) { return detail::op<Tensor>("op:fill", {x, value}); }
inline Tensor &fill_(Tensor &x, const Scalar &value = 0) { return detail::op<Tensor &>("op:fill_", {x, value}, std::tie(x)); }
inline Tensor fill_diagonal(const Tensor &x, float value = 0, int offset = 0, bool wrap = false) { return detail::op<Tensor>("op:fill_diagonal", {x, value, offset, wrap}); }
inline Tensor &fill_diagonal_(Tensor &x, float value = 0, int offset = 0, bool wrap = false) { return detail::op<Tensor &>("op:fill_diagonal_", {x, value, offset, wrap}, std::tie(x)); }
inline Tensor fill_diagonal_tensor(const Tensor &x, const Tensor &y, int64_t offset = 0, int dim1 = 0, int dim2 = 1) { return detail::op<Tensor>("op:fill_diagonal_tensor", {x, y, offset, dim1, dim2}); }
inline Tensor &fill_diagonal_tensor_(Tensor &x, const Tensor &y, int64_t offset = 0, int dim1 = 0, int dim2 = 1) { return detail::op<Tensor &>("op:fill_diagonal_tensor_", {x, y, offset, dim1, dim2}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> flash_attn(const Tensor &q, const Tensor &k, const Tensor &v, const paddle::optional<Tensor> &fixed_seed_offset, const paddle::optional<Tensor> &attn_mask, float dropout = 0.0, bool causal = false, bool return_softmax = false, bool is_test = false, const std::string &rng_name = "") { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor>>("op:flash_attn", {q, k, v, fixed_seed_offset, attn_mask, dropout, causal, return_softmax, is_test, rng_name}); }
inline std::tuple<Tensor, Tensor> flash_attn_unpadded(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &cu_seqlens_q, const Tensor &cu_seqlens_k, const paddle::optional<Tensor> &fixed_seed_offset, const paddle::optional<Tensor> &attn_mask, int64_t max_seqlen_q, int64_t max_seqlen_k, float scale, float dropout = 0.0, bool causal = false, bool return_softmax = false, bool is_test = false, const std::string &rng_name = "") { return detail::op<std::tuple<Tensor, Tensor>>("op:flash_attn_unpadded", {q, k, v, cu_seqlens_q, cu_seqlens_k, fixed_seed_offset, attn_mask, max_seqlen_q, max_seqlen_k, scale, dropout, causal, return_softmax, is_test, rng_name}); }
inline Tensor &flatten_(Tensor &x, int start_axis = 1, int stop_axis = 1) { return detail::op<Tensor &>("op:flatten_", {x, start_axis, stop_axis}, std::tie(x)); }
inline Tensor &floor_(Tensor &x) { return detail::op<Tensor &>("op:floor_", {x}, std::tie(x)); }
inline Tensor &floor_divide_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:floor_divide_", {x, y}, std::tie(x)); }
inline Tensor fold(const Tensor &x, const std::vector<int> &output_sizes, const std::vector<int> &kernel_sizes, const std::vector<int> &strides, const std::vector<int> &paddings, const std::vector<int> &dilations) { return detail::op<Tensor>("op:fold", {x, output_sizes, kernel_sizes, strides, paddings, dilations}); }
inline Tensor frame(const Tensor &x, int frame_length, int hop_length, int axis = -1) { return detail::op<Tensor>("op:frame", {x, frame_length, hop_length, axis}); }
inline Tensor frobenius_norm(const Tensor &x, const IntArray &axis, bool keep_dim, bool reduce_all) { return detail::op<Tensor>("op:frobenius_norm", {x, axis, keep_dim, reduce_all}); }
inline Tensor &full_(Tensor &output, const IntArray &shape, const Scalar &value, DataType dtype = DataType::FLOAT32, const Place & = CPUPlace()) { return detail::op<Tensor &>("op:full_", {output, shape, value, dtype}, std::tie(output)); }
inline Tensor full_batch_size_like(const Tensor &input, const std::vector<int> &shape, DataType dtype, const Scalar &value, int input_dim_idx, int output_dim_idx, const Place & = CPUPlace()) { return detail::op<Tensor>("op:full_batch_size_like", {input, shape, dtype, value, input_dim_idx, output_dim_idx}); }
inline Tensor full_int_array(const std::vector<int64_t> &value, DataType dtype = DataType::FLOAT32, const Place & = CPUPlace()) { return detail::op<Tensor>("op:full_int_array", {value, dtype}); }
inline Tensor full_with_tensor(const Tensor &shape, const Tensor &value, DataType dtype = DataType::FLOAT32) { return detail::op<Tensor>("op:full_with_tensor", {shape, value, dtype}); }
inline std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &> fused_adam_(std::vector<Tensor> &params, const std::vector<Tensor> &grads, const Tensor &learning_rate, std::vector<Tensor> &moments1, std::vector<Tensor> &moments2, std::vector<Tensor> &beta1_pows, std::vector<Tensor> &beta2_pows, paddle::optional<std::vector<Tensor>> &master_params, const paddle::optional<Tensor> &skip_update, const Scalar &beta1, const Scalar &beta2, const Scalar &epsilon, int chunk_size, float weight_decay, bool use_adamw, bool multi_precision, bool use_global_beta_pow) { return detail::op<std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &>>("op:fused_adam_", {params, grads, learning_rate, moments1, moments2, beta1_pows, beta2_pows, master_params, skip_update, beta1, beta2, epsilon, chunk_size, weight_decay, use_adamw, multi_precision, use_global_beta_pow}, std::tie(params, moments1, moments2, beta1_pows, beta2_pows, master_params)); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> fused_batch_norm_act(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance, float momentum, float epsilon, const std::string &act_type) { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>>("op:fused_batch_norm_act", {x, scale, bias, mean, variance, momentum, epsilon, act_type}); }
inline Tensor fused_bias_act(const Tensor &x, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &dequant_scales, const paddle::optional<Tensor> &shift, const paddle::optional<Tensor> &smooth, const std::string &act_method = "gelu", const std::string &compute_dtype = "default", float quant_scale = -1, int quant_round_type = 1, float quant_max_bound = 127.0, float quant_min_bound = -127.0) { return detail::op<Tensor>("op:fused_bias_act", {x, bias, dequant_scales, shift, smooth, act_method, compute_dtype, quant_scale, quant_round_type, quant_max_bound, quant_min_bound}); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> fused_bias_residual_layernorm(const Tensor &x, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &residual, const paddle::optional<Tensor> &norm_weight, const paddle::optional<Tensor> &norm_bias, float epsilon, float residual_alpha, int begin_norm_axis, float quant_scale, int quant_round_type, float quant_max_bound, float quant_min_bound) { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor>>("op:fused_bias_residual_layernorm", {x, bias, residual, norm_weight, norm_bias, epsilon, residual_alpha, begin_norm_axis, quant_scale, quant_round_type, quant_max_bound, quant_min_bound}); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> fused_bn_add_activation(const Tensor &x, const Tensor &z, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance, float momentum, float epsilon, const std::string &act_type) { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>>("op:fused_bn_add_activation", {x, z, scale, bias, mean, variance, momentum, epsilon, act_type}); }
inline std::tuple<Tensor, Tensor> fused_dropout_add(const Tensor &x, const Tensor &y, const paddle::optional<Tensor> &seed_tensor, const Scalar &p, bool is_test, const std::string &mode, int seed = 0, bool fix_seed = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:fused_dropout_add", {x, y, seed_tensor, p, is_test, mode, seed, fix_seed}); }
inline std::tuple<Tensor, Tensor> fused_linear_param_grad_add(const Tensor &x, const Tensor &dout, const paddle::optional<Tensor> &dweight, const paddle::optional<Tensor> &dbias, bool multi_precision = true, bool has_bias = true) { return detail::op<std::tuple<Tensor, Tensor>>("op:fused_linear_param_grad_add", {x, dout, dweight, dbias, multi_precision, has_bias}); }
inline std::tuple<Tensor, Tensor, Tensor> fused_rotary_position_embedding(const Tensor &q, const paddle::optional<Tensor> &k, const paddle::optional<Tensor> &v, const paddle::optional<Tensor> &sin, const paddle::optional<Tensor> &cos, const paddle::optional<Tensor> &position_ids, bool use_neox_rotary_style = true) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:fused_rotary_position_embedding", {q, k, v, sin, cos, position_ids, use_neox_rotary_style}); }
inline Tensor fused_softmax_mask_upper_triangle(const Tensor &X) { return detail::op<Tensor>("op:fused_softmax_mask_upper_triangle", {X}); }
inline Tensor gather_tree(const Tensor &ids, const Tensor &parents) { return detail::op<Tensor>("op:gather_tree", {ids, parents}); }
inline Tensor gaussian(const IntArray &shape, float mean, float std, int seed, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:gaussian", {shape, mean, std, seed, dtype}); }
inline Tensor gaussian_inplace(const Tensor &x, float mean = 0, float std = 1.0, int seed = 0) { return detail::op<Tensor>("op:gaussian_inplace", {x, mean, std, seed}); }
inline Tensor &gaussian_inplace_(Tensor &x, float mean = 0, float std = 1.0, int seed = 0) { return detail::op<Tensor &>("op:gaussian_inplace_", {x, mean, std, seed}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> generate_proposals(const Tensor &scores, const Tensor &bbox_deltas, const Tensor &im_shape, const Tensor &anchors, const Tensor &variances, int pre_nms_top_n, int post_nms_top_n, float nms_thresh, float min_size, float eta, bool pixel_offset = true) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:generate_proposals", {scores, bbox_deltas, im_shape, anchors, variances, pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset}); }
inline Tensor &greater_equal_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:greater_equal_", {x, y}, std::tie(x)); }
inline Tensor &greater_than_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:greater_than_", {x, y}, std::tie(x)); }
inline Tensor grid_sample(const Tensor &x, const Tensor &grid, const std::string &mode = "bilinear", const std::string &padding_mode = "zeros", bool align_corners = true) { return detail::op<Tensor>("op:grid_sample", {x, grid, mode, padding_mode, align_corners}); }
inline Tensor group_norm(const Tensor &x, const paddle::optional<Tensor> &scale, const paddle::optional<Tensor> &bias, float epsilon = 1e-5, int groups = -1, const std::string &data_layout = "NCHW") { return detail::op<Tensor>("op:group_norm", {x, scale, bias, epsilon, groups, data_layout}); }
inline Tensor hardshrink(const Tensor &x, float threshold = 0.5) { return detail::op<Tensor>("op:hardshrink", {x, threshold}); }
inline Tensor hardsigmoid(const Tensor &x, float slope = 0.2, float offset = 0.5) { return detail::op<Tensor>("op:hardsigmoid", {x, slope, offset}); }
inline Tensor &hardtanh_(Tensor &x, float t_min = 0, float t_max = 24) { return detail::op<Tensor &>("op:hardtanh_", {x, t_min, t_max}, std::tie(x)); }
inline Tensor heaviside(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:heaviside", {x, y}); }
inline Tensor histogram(const Tensor &input, int64_t bins = 100, int min = 0, int max = 0) { return detail::op<Tensor>("op:histogram", {input, bins, min, max}); }
inline std::tuple<Tensor, Tensor, Tensor> hsigmoid_loss(const Tensor &x, const Tensor &label, const Tensor &w, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &path, const paddle::optional<Tensor> &code, int num_classes, bool is_sparse) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:hsigmoid_loss", {x, label, w, bias, path, code, num_classes, is_sparse}); }
inline Tensor huber_loss(const Tensor &input, const Tensor &label, float delta) { return detail::op<Tensor>("op:huber_loss", {input, label, delta}); }
inline Tensor i0(const Tensor &x) { return detail::op<Tensor>("op:i0", {x}); }
inline Tensor &i0_(Tensor &x) { return detail::op<Tensor &>("op:i0_", {x}, std::tie(x)); }
inline Tensor i0e(const Tensor &x) { return detail::op<Tensor>("op:i0e", {x}); }
inline Tensor i1(const Tensor &x) { return detail::op<Tensor>("op:i1", {x}); }
inline Tensor i1e(const Tensor &x) { return detail::op<Tensor>("op:i1e", {x}); }
inline Tensor &increment_(Tensor &x, float value = 1.0) { return detail::op<Tensor &>("op:increment_", {x, value}, std::tie(x)); }
inline Tensor index_add(const Tensor &x, const Tensor &index, const Tensor &add_value, int axis = 0) { return detail::op<Tensor>("op:index_add", {x, index, add_value, axis}); }
inline Tensor &index_add_(Tensor &x, const Tensor &index, const Tensor &add_value, int axis = 0) { return detail::op<Tensor &>("op:index_add_", {x, index, add_value, axis}, std::tie(x)); }
inline Tensor index_put(const Tensor &x, const std::vector<Tensor> &indices, const Tensor &value, bool accumulate = false) { return detail::op<Tensor>("op:index_put", {x, indices, value, accumulate}); }
inline Tensor &index_put_(Tensor &x, const std::vector<Tensor> &indices, const Tensor &value, bool accumulate = false) { return detail::op<Tensor &>("op:index_put_", {x, indices, value, accumulate}, std::tie(x)); }
inline Tensor index_select_strided(const Tensor &x, int64_t index, int axis = 0) { return detail::op<Tensor>("op:index_select_strided", {x, index, axis}); }
inline Tensor instance_norm(const Tensor &x, const paddle::optional<Tensor> &scale, const paddle::optional<Tensor> &bias, float epsilon = 1e-5) { return detail::op<Tensor>("op:instance_norm", {x, scale, bias, epsilon}); }
inline Tensor inverse(const Tensor &x) { return detail::op<Tensor>("op:inverse", {x}); }
inline Tensor kldiv_loss(const Tensor &x, const Tensor &label, const std::string &reduction = "mean") { return detail::op<Tensor>("op:kldiv_loss", {x, label, reduction}); }
inline std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &> lamb_(Tensor &param, const Tensor &grad, const Tensor &learning_rate, Tensor &moment1, Tensor &moment2, Tensor &beta1_pow, Tensor &beta2_pow, paddle::optional<Tensor> &master_param, const paddle::optional<Tensor> &skip_update, float weight_decay, float beta1 = 0.9, float beta2 = 0.999, float epsilon = 1.0e-6f, bool always_adapt = false, bool multi_precision = false) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:lamb_", {param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, master_param, skip_update, weight_decay, beta1, beta2, epsilon, always_adapt, multi_precision}, std::tie(param, moment1, moment2, beta1_pow, beta2_pow, master_param)); }
inline Tensor layer_norm(const Tensor &x, const paddle::optional<Tensor> &scale, const paddle::optional<Tensor> &bias, float epsilon = 1e-5, int begin_norm_axis = 1) { return detail::op<Tensor>("op:layer_norm", {x, scale, bias, epsilon, begin_norm_axis}); }
inline Tensor leaky_relu(const Tensor &x, float negative_slope = 0.02f) { return detail::op<Tensor>("op:leaky_relu", {x, negative_slope}); }
inline Tensor &leaky_relu_(Tensor &x, float negative_slope = 0.02f) { return detail::op<Tensor &>("op:leaky_relu_", {x, negative_slope}, std::tie(x)); }
inline Tensor &lerp_(Tensor &x, const Tensor &y, const Tensor &weight) { return detail::op<Tensor &>("op:lerp_", {x, y, weight}, std::tie(x)); }
inline Tensor &less_equal_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:less_equal_", {x, y}, std::tie(x)); }
inline Tensor &less_than_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:less_than_", {x, y}, std::tie(x)); }
inline Tensor &lgamma_(Tensor &x) { return detail::op<Tensor &>("op:lgamma_", {x}, std::tie(x)); }
inline Tensor linear_interp(const Tensor &x, const paddle::optional<Tensor> &out_size, const paddle::optional<std::vector<Tensor>> &size_tensor, const paddle::optional<Tensor> &scale_tensor, const std::string &data_layout = "NCHW", int out_d = 0, int out_h = 0, int out_w = 0, const std::vector<float> &scale = {}, const std::string &interp_method = "bilinear", bool align_corners = true, int align_mode = 1) { return detail::op<Tensor>("op:linear_interp", {x, out_size, size_tensor, scale_tensor, data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode}); }
inline Tensor linspace(const Tensor &start, const Tensor &stop, const Tensor &number, DataType dtype, const Place &) { return detail::op<Tensor>("op:linspace", {start, stop, number, dtype}); }
inline Tensor llm_int8_linear(const Tensor &x, const Tensor &weight, const paddle::optional<Tensor> &bias, const Tensor &weight_scale, float threshold = 6.0) { return detail::op<Tensor>("op:llm_int8_linear", {x, weight, bias, weight_scale, threshold}); }
inline Tensor &log10_(Tensor &x) { return detail::op<Tensor &>("op:log10_", {x}, std::tie(x)); }
inline Tensor &log1p_(Tensor &x) { return detail::op<Tensor &>("op:log1p_", {x}, std::tie(x)); }
inline Tensor &log2_(Tensor &x) { return detail::op<Tensor &>("op:log2_", {x}, std::tie(x)); }
inline Tensor &log_(Tensor &x) { return detail::op<Tensor &>("op:log_", {x}, std::tie(x)); }
inline Tensor log_loss(const Tensor &input, const Tensor &label, float epsilon) { return detail::op<Tensor>("op:log_loss", {input, label, epsilon}); }
inline Tensor logcumsumexp(const Tensor &x, int axis = -1, bool flatten = false, bool exclusive = false, bool reverse = false) { return detail::op<Tensor>("op:logcumsumexp", {x, axis, flatten, exclusive, reverse}); }
inline Tensor &logical_and_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:logical_and_", {x, y}, std::tie(x)); }
inline Tensor &logical_not_(Tensor &x) { return detail::op<Tensor &>("op:logical_not_", {x}, std::tie(x)); }
inline Tensor &logical_or_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:logical_or_", {x, y}, std::tie(x)); }
inline Tensor logical_xor(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:logical_xor", {x, y}); }
inline Tensor &logical_xor_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:logical_xor_", {x, y}, std::tie(x)); }
inline Tensor &logit_(Tensor &x, float eps = 1e-6f) { return detail::op<Tensor &>("op:logit_", {x, eps}, std::tie(x)); }
inline Tensor logsigmoid(const Tensor &x) { return detail::op<Tensor>("op:logsigmoid", {x}); }
inline Tensor logspace(const Tensor &start, const Tensor &stop, const Tensor &num, const Tensor &base, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:logspace", {start, stop, num, base, dtype}); }
inline Tensor logsumexp(const Tensor &x, const std::vector<int64_t> &axis, bool keepdim, bool reduce_all) { return detail::op<Tensor>("op:logsumexp", {x, axis, keepdim, reduce_all}); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor &x, const Tensor &y, const Scalar &rcond = 0.0f, const std::string &driver = "gels") { return detail::op<std::tuple<Tensor, Tensor, Tensor, Tensor>>("op:lstsq", {x, y, rcond, driver}); }
inline std::tuple<Tensor, Tensor, Tensor> lu(const Tensor &x, bool pivot = true) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:lu", {x, pivot}); }
inline std::tuple<Tensor &, Tensor, Tensor> lu_(Tensor &x, bool pivot = true) { return detail::op<std::tuple<Tensor &, Tensor, Tensor>>("op:lu_", {x, pivot}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor &x, const Tensor &y, bool unpack_ludata = true, bool unpack_pivots = true) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:lu_unpack", {x, y, unpack_ludata, unpack_pivots}); }
inline std::tuple<Tensor, Tensor> margin_cross_entropy(const Tensor &logits, const Tensor &label, bool return_softmax = false, int ring_id = 0, int rank = 0, int nranks = 1, float margin1 = 1.0f, float margin2 = 0.5f, float margin3 = 0.0f, float scale = 64.0f) { return detail::op<std::tuple<Tensor, Tensor>>("op:margin_cross_entropy", {logits, label, return_softmax, ring_id, rank, nranks, margin1, margin2, margin3, scale}); }
inline std::tuple<Tensor, Tensor &, paddle::optional<Tensor> &> masked_multihead_attention_(const Tensor &x, Tensor &cache_kv, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &src_mask, const paddle::optional<Tensor> &cum_offsets, const paddle::optional<Tensor> &sequence_lengths, const paddle::optional<Tensor> &rotary_tensor, paddle::optional<Tensor> &beam_cache_offset, const paddle::optional<Tensor> &qkv_out_scale, const paddle::optional<Tensor> &out_shift, const paddle::optional<Tensor> &out_smooth, int seq_len, int rotary_emb_dims, bool use_neox_rotary_style = false, const std::string &compute_dtype = "default", float out_scale = -1, int quant_round_type = 1, float quant_max_bound = 127.0, float quant_min_bound = -127.0) { return detail::op<std::tuple<Tensor, Tensor &, paddle::optional<Tensor> &>>("op:masked_multihead_attention_", {x, cache_kv, bias, src_mask, cum_offsets, sequence_lengths, rotary_tensor, beam_cache_offset, qkv_out_scale, out_shift, out_smooth, seq_len, rotary_emb_dims, use_neox_rotary_style, compute_dtype, out_scale, quant_round_type, quant_max_bound, quant_min_bound}, std::tie(cache_kv, beam_cache_offset)); }
inline std::tuple<Tensor, Tensor, Tensor> matrix_nms(const Tensor &bboxes, const Tensor &scores, float score_threshold, int nms_top_k, int keep_top_k, float post_threshold = 0., bool use_gaussian = false, float gaussian_sigma = 2., int background_label = 0, bool normalized = true) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:matrix_nms", {bboxes, scores, score_threshold, nms_top_k, keep_top_k, post_threshold, use_gaussian, gaussian_sigma, background_label, normalized}); }
inline Tensor matrix_rank(const Tensor &x, float tol, bool use_default_tol = true, bool hermitian = false) { return detail::op<Tensor>("op:matrix_rank", {x, tol, use_default_tol, hermitian}); }
inline Tensor matrix_rank_tol(const Tensor &x, const Tensor &atol_tensor, bool use_default_tol = true, bool hermitian = false) { return detail::op<Tensor>("op:matrix_rank_tol", {x, atol_tensor, use_default_tol, hermitian}); }
inline std::tuple<Tensor, Tensor> max_pool2d_with_index(const Tensor &x, const std::vector<int> &kernel_size, const std::vector<int> &strides = {1, 1}, const std::vector<int> &paddings = {0, 0}, bool global_pooling = false, bool adaptive = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:max_pool2d_with_index", {x, kernel_size, strides, paddings, global_pooling, adaptive}); }
inline std::tuple<Tensor, Tensor> max_pool3d_with_index(const Tensor &x, const std::vector<int> &kernel_size, const std::vector<int> &strides = {1, 1, 1}, const std::vector<int> &paddings = {0, 0, 0}, bool global_pooling = false, bool adaptive = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:max_pool3d_with_index", {x, kernel_size, strides, paddings, global_pooling, adaptive}); }
inline Tensor mean_all(const Tensor &x) { return detail::op<Tensor>("op:mean_all", {x}); }
inline Tensor memcpy_d2h(const Tensor &x, int dst_place_type) { return detail::op<Tensor>("op:memcpy_d2h", {x, dst_place_type}); }
inline Tensor memcpy_h2d(const Tensor &x, int dst_place_type) { return detail::op<Tensor>("op:memcpy_h2d", {x, dst_place_type}); }
inline std::tuple<Tensor, Tensor, Tensor> memory_efficient_attention(const Tensor &query, const Tensor &key, const Tensor &value, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &cu_seqlens_q, const paddle::optional<Tensor> &cu_seqlens_k, const paddle::optional<Tensor> &causal_diagonal, const paddle::optional<Tensor> &seqlen_k, const Scalar &max_seqlen_q, const Scalar &max_seqlen_k, bool causal, double dropout_p, float scale, bool is_test) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:memory_efficient_attention", {query, key, value, bias, cu_seqlens_q, cu_seqlens_k, causal_diagonal, seqlen_k, max_seqlen_q, max_seqlen_k, causal, dropout_p, scale, is_test}); }
inline Tensor merge_selected_rows(const Tensor &x) { return detail::op<Tensor>("op:merge_selected_rows", {x}); }
inline std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &> merged_adam_(std::vector<Tensor> &param, const std::vector<Tensor> &grad, const std::vector<Tensor> &learning_rate, std::vector<Tensor> &moment1, std::vector<Tensor> &moment2, std::vector<Tensor> &beta1_pow, std::vector<Tensor> &beta2_pow, paddle::optional<std::vector<Tensor>> &master_param, const Scalar &beta1 = 0.9f, const Scalar &beta2 = 0.999f, const Scalar &epsilon = 1.0e-8f, bool multi_precision = false, bool use_global_beta_pow = false) { return detail::op<std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &>>("op:merged_adam_", {param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, master_param, beta1, beta2, epsilon, multi_precision, use_global_beta_pow}, std::tie(param, moment1, moment2, beta1_pow, beta2_pow, master_param)); }
inline std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &> merged_momentum_(std::vector<Tensor> &param, const std::vector<Tensor> &grad, std::vector<Tensor> &velocity, const std::vector<Tensor> &learning_rate, paddle::optional<std::vector<Tensor>> &master_param, float mu, bool use_nesterov = false, const std::vector<std::string> &regularization_method = {}, const std::vector<float> &regularization_coeff = {}, bool multi_precision = false, float rescale_grad = 1.0f) { return detail::op<std::tuple<std::vector<Tensor> &, std::vector<Tensor> &, paddle::optional<std::vector<Tensor>> &>>("op:merged_momentum_", {param, grad, velocity, learning_rate, master_param, mu, use_nesterov, regularization_method, regularization_coeff, multi_precision, rescale_grad}, std::tie(param, velocity, master_param)); }
inline Tensor mish(const Tensor &x, float lambda) { return detail::op<Tensor>("op:mish", {x, lambda}); }
inline std::tuple<Tensor &, Tensor &, paddle::optional<Tensor> &> momentum_(Tensor &param, const Tensor &grad, Tensor &velocity, const Tensor &learning_rate, paddle::optional<Tensor> &master_param, float mu, bool use_nesterov = false, const std::string &regularization_method = "", float regularization_coeff = 0.0f, bool multi_precision = false, float rescale_grad = 1.0f) { return detail::op<std::tuple<Tensor &, Tensor &, paddle::optional<Tensor> &>>("op:momentum_", {param, grad, velocity, learning_rate, master_param, mu, use_nesterov, regularization_method, regularization_coeff, multi_precision, rescale_grad}, std::tie(param, velocity, master_param)); }
inline std::tuple<Tensor, Tensor, Tensor> multiclass_nms3(const Tensor &bboxes, const Tensor &scores, const paddle::optional<Tensor> &rois_num, float score_threshold, int nms_top_k, int keep_top_k, float nms_threshold = 0.3, bool normalized = true, float nms_eta = 1.0, int background_label = 0) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:multiclass_nms3", {bboxes, scores, rois_num, score_threshold, nms_top_k, keep_top_k, nms_threshold, normalized, nms_eta, background_label}); }
inline Tensor multiplex(const std::vector<Tensor> &inputs, const Tensor &index) { return detail::op<Tensor>("op:multiplex", {inputs, index}); }
inline Tensor &multiply_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:multiply_", {x, y}, std::tie(x)); }
inline Tensor nanmedian(const Tensor &x, const IntArray &axis = {}, bool keepdim = true) { return detail::op<Tensor>("op:nanmedian", {x, axis, keepdim}); }
inline Tensor nearest_interp(const Tensor &x, const paddle::optional<Tensor> &out_size, const paddle::optional<std::vector<Tensor>> &size_tensor, const paddle::optional<Tensor> &scale_tensor, const std::string &data_layout = "NCHW", int out_d = 0, int out_h = 0, int out_w = 0, const std::vector<float> &scale = {}, const std::string &interp_method = "bilinear", bool align_corners = true, int align_mode = 1) { return detail::op<Tensor>("op:nearest_interp", {x, out_size, size_tensor, scale_tensor, data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode}); }
inline Tensor nextafter(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:nextafter", {x, y}); }
inline Tensor nms(const Tensor &x, float threshold = 1.0f) { return detail::op<Tensor>("op:nms", {x, threshold}); }
inline Tensor nonzero(const Tensor &condition) { return detail::op<Tensor>("op:nonzero", {condition}); }
inline std::tuple<Tensor, Tensor> norm(const Tensor &x, int axis, float epsilon, bool is_test) { return detail::op<std::tuple<Tensor, Tensor>>("op:norm", {x, axis, epsilon, is_test}); }
inline Tensor &not_equal_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:not_equal_", {x, y}, std::tie(x)); }
inline Tensor npu_identity(const Tensor &x, int format = -1) { return detail::op<Tensor>("op:npu_identity", {x, format}); }
inline Tensor numel(const Tensor &x) { return detail::op<Tensor>("op:numel", {x}); }
inline Tensor overlap_add(const Tensor &x, int hop_length, int axis = -1) { return detail::op<Tensor>("op:overlap_add", {x, hop_length, axis}); }
inline Tensor p_norm(const Tensor &x, float porder = 2, int axis = -1, float epsilon = 1.0e-12f, bool keepdim = false, bool asvector = false) { return detail::op<Tensor>("op:p_norm", {x, porder, axis, epsilon, keepdim, asvector}); }
inline Tensor pad(const Tensor &x, const std::vector<int> &paddings, const Scalar &pad_value) { return detail::op<Tensor>("op:pad", {x, paddings, pad_value}); }
inline Tensor pad3d(const Tensor &x, const IntArray &paddings, const std::string &mode = "constant", float pad_value = 0.0, const std::string &data_format = "NCDHW") { return detail::op<Tensor>("op:pad3d", {x, paddings, mode, pad_value, data_format}); }
inline Tensor pixel_unshuffle(const Tensor &x, int downscale_factor = 1, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:pixel_unshuffle", {x, downscale_factor, data_format}); }
inline Tensor polygamma(const Tensor &x, int n) { return detail::op<Tensor>("op:polygamma", {x, n}); }
inline Tensor &polygamma_(Tensor &x, int n) { return detail::op<Tensor &>("op:polygamma_", {x, n}, std::tie(x)); }
inline Tensor pool2d(const Tensor &x, const IntArray &kernel_size, const std::vector<int> &strides, const std::vector<int> &paddings, bool ceil_mode, bool exclusive, const std::string &data_format, const std::string &pooling_type, bool global_pooling, bool adaptive, const std::string &padding_algorithm) { return detail::op<Tensor>("op:pool2d", {x, kernel_size, strides, paddings, ceil_mode, exclusive, data_format, pooling_type, global_pooling, adaptive, padding_algorithm}); }
inline Tensor pool3d(const Tensor &x, const std::vector<int> &kernel_size, const std::vector<int> &strides, const std::vector<int> &paddings, bool ceil_mode, bool exclusive, const std::string &data_format, const std::string &pooling_type, bool global_pooling, bool adaptive, const std::string &padding_algorithm) { return detail::op<Tensor>("op:pool3d", {x, kernel_size, strides, paddings, ceil_mode, exclusive, data_format, pooling_type, global_pooling, adaptive, padding_algorithm}); }
inline Tensor &pow_(Tensor &x, const Scalar &y = 1.0f) { return detail::op<Tensor &>("op:pow_", {x, y}, std::tie(x)); }
inline Tensor prelu(const Tensor &x, const Tensor &alpha, const std::string &data_format = "NCHW", const std::string &mode = "all") { return detail::op<Tensor>("op:prelu", {x, alpha, data_format, mode}); }
inline std::tuple<Tensor, Tensor> prior_box(const Tensor &input, const Tensor &image, const std::vector<float> &min_sizes, const std::vector<float> &max_sizes = {}, const std::vector<float> &aspect_ratios = {}, const std::vector<float> &variances = {}, bool flip = true, bool clip = true, float step_w = 0.0, float step_h = 0.0, float offset = 0.5, bool min_max_aspect_ratios_order = false) { return detail::op<std::tuple<Tensor, Tensor>>("op:prior_box", {input, image, min_sizes, max_sizes, aspect_ratios, variances, flip, clip, step_w, step_h, offset, min_max_aspect_ratios_order}); }
inline Tensor prod(const Tensor &x, const IntArray &dims, bool keep_dim, bool reduce_all) { return detail::op<Tensor>("op:prod", {x, dims, keep_dim, reduce_all}); }
inline Tensor psroi_pool(const Tensor &x, const Tensor &boxes, const paddle::optional<Tensor> &boxes_num, int pooled_height = 1, int pooled_width = 1, int output_channels = 1, float spatial_scale = 1.0) { return detail::op<Tensor>("op:psroi_pool", {x, boxes, boxes_num, pooled_height, pooled_width, output_channels, spatial_scale}); }
inline Tensor &put_along_axis_(Tensor &arr, const Tensor &indices, const Tensor &values, int axis, const std::string &reduce = "assign", bool include_self = true) { return detail::op<Tensor &>("op:put_along_axis_", {arr, indices, values, axis, reduce, include_self}, std::tie(arr)); }
inline Tensor randint(int low, int high, const IntArray &shape, DataType dtype = DataType::INT64, const Place & = {}) { return detail::op<Tensor>("op:randint", {low, high, shape, dtype}); }
inline Tensor randperm(int n, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:randperm", {n, dtype}); }
inline Tensor read_file(const std::string &filename = "", DataType dtype = DataType::UINT8, const Place & = CPUPlace()) { return detail::op<Tensor>("op:read_file", {filename, dtype}); }
inline Tensor &reciprocal_(Tensor &x) { return detail::op<Tensor &>("op:reciprocal_", {x}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> reindex_graph(const Tensor &x, const Tensor &neighbors, const Tensor &count, const paddle::optional<Tensor> &hashtable_value, const paddle::optional<Tensor> &hashtable_index) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:reindex_graph", {x, neighbors, count, hashtable_value, hashtable_index}); }
inline Tensor &relu_(Tensor &x) { return detail::op<Tensor &>("op:relu_", {x}, std::tie(x)); }
inline Tensor &remainder_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:remainder_", {x, y}, std::tie(x)); }
inline Tensor renorm(const Tensor &x, float p, int axis, float max_norm) { return detail::op<Tensor>("op:renorm", {x, p, axis, max_norm}); }
inline Tensor &renorm_(Tensor &x, float p, int axis, float max_norm) { return detail::op<Tensor &>("op:renorm_", {x, p, axis, max_norm}, std::tie(x)); }
inline Tensor repeat_interleave(const Tensor &x, int repeats, int axis) { return detail::op<Tensor>("op:repeat_interleave", {x, repeats, axis}); }
inline Tensor repeat_interleave_with_tensor_index(const Tensor &x, const Tensor &repeats, int axis) { return detail::op<Tensor>("op:repeat_interleave_with_tensor_index", {x, repeats, axis}); }
inline Tensor &reshape_(Tensor &x, const IntArray &shape) { return detail::op<Tensor &>("op:reshape_", {x, shape}, std::tie(x)); }
inline Tensor reverse(const Tensor &x, const IntArray &axis) { return detail::op<Tensor>("op:reverse", {x, axis}); }
inline std::tuple<Tensor, Tensor> rms_norm(const Tensor &x, const paddle::optional<Tensor> &bias, const paddle::optional<Tensor> &residual, const Tensor &norm_weight, const paddle::optional<Tensor> &norm_bias, float epsilon, int begin_norm_axis, float quant_scale, int quant_round_type, float quant_max_bound, float quant_min_bound) { return detail::op<std::tuple<Tensor, Tensor>>("op:rms_norm", {x, bias, residual, norm_weight, norm_bias, epsilon, begin_norm_axis, quant_scale, quant_round_type, quant_max_bound, quant_min_bound}); }
inline std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &, paddle::optional<Tensor> &> rmsprop_(Tensor &param, Tensor &mean_square, const Tensor &grad, Tensor &moment, const Tensor &learning_rate, paddle::optional<Tensor> &mean_grad, paddle::optional<Tensor> &master_param, float epsilon = 1.0e-10f, float decay = 0.9f, float momentum = 0.0f, bool centered = false, bool multi_precision = false) { return detail::op<std::tuple<Tensor &, Tensor &, Tensor &, paddle::optional<Tensor> &, paddle::optional<Tensor> &>>("op:rmsprop_", {param, mean_square, grad, moment, learning_rate, mean_grad, master_param, epsilon, decay, momentum, centered, multi_precision}, std::tie(param, moment, mean_square, mean_grad, master_param)); }
inline std::tuple<Tensor, Tensor, std::vector<Tensor>> rnn(const Tensor &x, const std::vector<Tensor> &pre_state, const std::vector<Tensor> &weight_list, const paddle::optional<Tensor> &sequence_length, const Tensor &dropout_state_in, float dropout_prob = 0.0, bool is_bidirec = false, int input_size = 10, int hidden_size = 100, int num_layers = 1, const std::string &mode = "RNN_TANH", int seed = 0, bool is_test = false) { return detail::op<std::tuple<Tensor, Tensor, std::vector<Tensor>>>("op:rnn", {x, pre_state, weight_list, sequence_length, dropout_state_in, dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test}); }
inline Tensor roi_align(const Tensor &x, const Tensor &boxes, const paddle::optional<Tensor> &boxes_num, int pooled_height = 1, int pooled_width = 1, float spatial_scale = 1.0, int sampling_ratio = -1, bool aligned = false) { return detail::op<Tensor>("op:roi_align", {x, boxes, boxes_num, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned}); }
inline Tensor roi_pool(const Tensor &x, const Tensor &boxes, const paddle::optional<Tensor> &boxes_num, int pooled_height = 1, int pooled_width = 1, float spatial_scale = 1.0) { return detail::op<Tensor>("op:roi_pool", {x, boxes, boxes_num, pooled_height, pooled_width, spatial_scale}); }
inline Tensor &round_(Tensor &x) { return detail::op<Tensor &>("op:round_", {x}, std::tie(x)); }
inline Tensor rrelu(const Tensor &x, float lower, float upper, bool is_test) { return detail::op<Tensor>("op:rrelu", {x, lower, upper, is_test}); }
inline Tensor &rsqrt_(Tensor &x) { return detail::op<Tensor &>("op:rsqrt_", {x}, std::tie(x)); }
inline Tensor &scale_(Tensor &x, const Scalar &scale = 1.0, float bias = 0.0, bool bias_after_scale = true) { return detail::op<Tensor &>("op:scale_", {x, scale, bias, bias_after_scale}, std::tie(x)); }
inline Tensor &scatter_(Tensor &x, const Tensor &index, const Tensor &updates, bool overwrite = true) { return detail::op<Tensor &>("op:scatter_", {x, index, updates, overwrite}, std::tie(x)); }
inline Tensor searchsorted(const Tensor &sorted_sequence, const Tensor &values, bool out_int32 = false, bool right = false) { return detail::op<Tensor>("op:searchsorted", {sorted_sequence, values, out_int32, right}); }
inline Tensor segment_pool(const Tensor &x, const Tensor &segment_ids, const std::string &pooltype = "SUM") { return detail::op<Tensor>("op:segment_pool", {x, segment_ids, pooltype}); }
inline Tensor send_u_recv(const Tensor &x, const Tensor &src_index, const Tensor &dst_index, const std::string &reduce_op = "SUM", const IntArray &out_size = {0}) { return detail::op<Tensor>("op:send_u_recv", {x, src_index, dst_index, reduce_op, out_size}); }
inline Tensor send_ue_recv(const Tensor &x, const Tensor &y, const Tensor &src_index, const Tensor &dst_index, const std::string &message_op = "ADD", const std::string &reduce_op = "SUM", const IntArray &out_size = {0}) { return detail::op<Tensor>("op:send_ue_recv", {x, y, src_index, dst_index, message_op, reduce_op, out_size}); }
inline Tensor send_uv(const Tensor &x, const Tensor &y, const Tensor &src_index, const Tensor &dst_index, const std::string &message_op = "ADD") { return detail::op<Tensor>("op:send_uv", {x, y, src_index, dst_index, message_op}); }
inline Tensor set_value(const Tensor &x, const IntArray &starts, const IntArray &ends, const IntArray &steps, const std::vector<int64_t> &axes, const std::vector<int64_t> &decrease_axes, const std::vector<int64_t> &none_axes, const std::vector<int64_t> &shape, const std::vector<phi::Scalar> &values) { return detail::op<Tensor>("op:set_value", {x, starts, ends, steps, axes, decrease_axes, none_axes, shape, values}); }
inline Tensor &set_value_(Tensor &x, const IntArray &starts, const IntArray &ends, const IntArray &steps, const std::vector<int64_t> &axes, const std::vector<int64_t> &decrease_axes, const std::vector<int64_t> &none_axes, const std::vector<int64_t> &shape, const std::vector<phi::Scalar> &values) { return detail::op<Tensor &>("op:set_value_", {x, starts, ends, steps, axes, decrease_axes, none_axes, shape, values}, std::tie(x)); }
inline Tensor set_value_with_tensor(const Tensor &x, const Tensor &values, const IntArray &starts, const IntArray &ends, const IntArray &steps, const std::vector<int64_t> &axes, const std::vector<int64_t> &decrease_axes, const std::vector<int64_t> &none_axes) { return detail::op<Tensor>("op:set_value_with_tensor", {x, values, starts, ends, steps, axes, decrease_axes, none_axes}); }
inline Tensor &set_value_with_tensor_(Tensor &x, const Tensor &values, const IntArray &starts, const IntArray &ends, const IntArray &steps, const std::vector<int64_t> &axes, const std::vector<int64_t> &decrease_axes, const std::vector<int64_t> &none_axes) { return detail::op<Tensor &>("op:set_value_with_tensor_", {x, values, starts, ends, steps, axes, decrease_axes, none_axes}, std::tie(x)); }
inline std::tuple<Tensor &, paddle::optional<Tensor> &> sgd_(Tensor &param, const Tensor &learning_rate, const Tensor &grad, paddle::optional<Tensor> &master_param, bool multi_precision = false) { return detail::op<std::tuple<Tensor &, paddle::optional<Tensor> &>>("op:sgd_", {param, learning_rate, grad, master_param, multi_precision}, std::tie(param, master_param)); }
inline Tensor shape(const Tensor &input) { return detail::op<Tensor>("op:shape", {input}); }
inline Tensor shard_index(const Tensor &input, int index_num, int nshards, int shard_id, int ignore_value = -1) { return detail::op<Tensor>("op:shard_index", {input, index_num, nshards, shard_id, ignore_value}); }
inline Tensor &sigmoid_(Tensor &x) { return detail::op<Tensor &>("op:sigmoid_", {x}, std::tie(x)); }
inline Tensor sigmoid_cross_entropy_with_logits(const Tensor &x, const Tensor &label, const paddle::optional<Tensor> &pos_weight, bool normalize = false, int ignore_index = -100) { return detail::op<Tensor>("op:sigmoid_cross_entropy_with_logits", {x, label, pos_weight, normalize, ignore_index}); }
inline Tensor &sigmoid_cross_entropy_with_logits_(Tensor &x, const Tensor &label, const paddle::optional<Tensor> &pos_weight, bool normalize = false, int ignore_index = -100) { return detail::op<Tensor &>("op:sigmoid_cross_entropy_with_logits_", {x, label, pos_weight, normalize, ignore_index}, std::tie(x)); }
inline Tensor &sin_(Tensor &x) { return detail::op<Tensor &>("op:sin_", {x}, std::tie(x)); }
inline Tensor &sinh_(Tensor &x) { return detail::op<Tensor &>("op:sinh_", {x}, std::tie(x)); }
inline Tensor slogdet(const Tensor &x) { return detail::op<Tensor>("op:slogdet", {x}); }
inline Tensor &softmax_(Tensor &x, int axis) { return detail::op<Tensor &>("op:softmax_", {x, axis}, std::tie(x)); }
inline Tensor softplus(const Tensor &x, float beta = 1.0, float threshold = 20.0f) { return detail::op<Tensor>("op:softplus", {x, beta, threshold}); }
inline Tensor softshrink(const Tensor &x, float threshold = 0.5) { return detail::op<Tensor>("op:softshrink", {x, threshold}); }
inline Tensor softsign(const Tensor &x) { return detail::op<Tensor>("op:softsign", {x}); }
inline Tensor solve(const Tensor &x, const Tensor &y) { return detail::op<Tensor>("op:solve", {x, y}); }
inline Tensor spectral_norm(const Tensor &weight, const Tensor &u, const Tensor &v, int dim = 0, int power_iters = 1, float eps = 1e-12f) { return detail::op<Tensor>("op:spectral_norm", {weight, u, v, dim, power_iters, eps}); }
inline std::vector<Tensor> split_with_num(const Tensor &x, int num, const Scalar &axis) { return detail::op<std::vector<Tensor>>("op:split_with_num", {x, num, axis}); }
inline Tensor &sqrt_(Tensor &x) { return detail::op<Tensor &>("op:sqrt_", {x}, std::tie(x)); }
inline Tensor squared_l2_norm(const Tensor &x) { return detail::op<Tensor>("op:squared_l2_norm", {x}); }
inline Tensor &squeeze_(Tensor &x, const IntArray &axis = {}) { return detail::op<Tensor &>("op:squeeze_", {x, axis}, std::tie(x)); }
inline Tensor stanh(const Tensor &x, float scale_a = 0.67f, float scale_b = 1.7159f) { return detail::op<Tensor>("op:stanh", {x, scale_a, scale_b}); }
inline Tensor &subtract_(Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:subtract_", {x, y}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor &x, bool full_matrices = false) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:svd", {x, full_matrices}); }
inline std::tuple<Tensor, Tensor &, Tensor &, Tensor, Tensor, Tensor> sync_batch_norm_(const Tensor &x, Tensor &mean, Tensor &variance, const Tensor &scale, const Tensor &bias, bool is_test, float momentum, float epsilon, const std::string &data_layout, bool use_global_stats, bool trainable_statistics) { return detail::op<std::tuple<Tensor, Tensor &, Tensor &, Tensor, Tensor, Tensor>>("op:sync_batch_norm_", {x, mean, variance, scale, bias, is_test, momentum, epsilon, data_layout, use_global_stats, trainable_statistics}, std::tie(mean, variance)); }
inline Tensor take_along_axis(const Tensor &arr, const Tensor &indices, int axis) { return detail::op<Tensor>("op:take_along_axis", {arr, indices, axis}); }
inline Tensor tan(const Tensor &x) { return detail::op<Tensor>("op:tan", {x}); }
inline Tensor &tan_(Tensor &x) { return detail::op<Tensor &>("op:tan_", {x}, std::tie(x)); }
inline Tensor &tanh_(Tensor &x) { return detail::op<Tensor &>("op:tanh_", {x}, std::tie(x)); }
inline Tensor tanh_shrink(const Tensor &x) { return detail::op<Tensor>("op:tanh_shrink", {x}); }
inline Tensor temporal_shift(const Tensor &x, int seg_num, float shift_ratio = 0.25f, const std::string &data_format = "NCHW") { return detail::op<Tensor>("op:temporal_shift", {x, seg_num, shift_ratio, data_format}); }
inline Tensor tensor_unfold(const Tensor &input, int64_t axis, int64_t size, int64_t step) { return detail::op<Tensor>("op:tensor_unfold", {input, axis, size, step}); }
inline Tensor &thresholded_relu_(Tensor &x, float threshold = 1.0) { return detail::op<Tensor &>("op:thresholded_relu_", {x, threshold}, std::tie(x)); }
inline std::tuple<Tensor, Tensor> top_p_sampling(const Tensor &x, const Tensor &ps, const paddle::optional<Tensor> &threshold, int seed = -1) { return detail::op<std::tuple<Tensor, Tensor>>("op:top_p_sampling", {x, ps, threshold, seed}); }
inline std::tuple<Tensor, Tensor> topk(const Tensor &x, const Scalar &k = 1, int axis = -1, bool largest = true, bool sorted = true) { return detail::op<std::tuple<Tensor, Tensor>>("op:topk", {x, k, axis, largest, sorted}); }
inline Tensor trans_layout(const Tensor &x, const std::vector<int> &perm) { return detail::op<Tensor>("op:trans_layout", {x, perm}); }
inline Tensor &transpose_(Tensor &x, const std::vector<int> &perm) { return detail::op<Tensor &>("op:transpose_", {x, perm}, std::tie(x)); }
inline Tensor &tril_(Tensor &x, int diagonal) { return detail::op<Tensor &>("op:tril_", {x, diagonal}, std::tie(x)); }
inline Tensor tril_indices(int rows, int cols, int offset, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:tril_indices", {rows, cols, offset, dtype}); }
inline Tensor trilinear_interp(const Tensor &x, const paddle::optional<Tensor> &out_size, const paddle::optional<std::vector<Tensor>> &size_tensor, const paddle::optional<Tensor> &scale_tensor, const std::string &data_layout = "NCHW", int out_d = 0, int out_h = 0, int out_w = 0, const std::vector<float> &scale = {}, const std::string &interp_method = "bilinear", bool align_corners = true, int align_mode = 1) { return detail::op<Tensor>("op:trilinear_interp", {x, out_size, size_tensor, scale_tensor, data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode}); }
inline Tensor &triu_(Tensor &x, int diagonal) { return detail::op<Tensor &>("op:triu_", {x, diagonal}, std::tie(x)); }
inline Tensor triu_indices(int row, int col, int offset, DataType dtype, const Place & = {}) { return detail::op<Tensor>("op:triu_indices", {row, col, offset, dtype}); }
inline Tensor trunc(const Tensor &input) { return detail::op<Tensor>("op:trunc", {input}); }
inline Tensor &trunc_(Tensor &input) { return detail::op<Tensor &>("op:trunc_", {input}, std::tie(input)); }
inline Tensor truncated_gaussian_random(const std::vector<int> &shape, float mean, float std, int seed, DataType dtype = DataType::FLOAT32, const Place & = {}) { return detail::op<Tensor>("op:truncated_gaussian_random", {shape, mean, std, seed, dtype}); }
inline Tensor unfold(const Tensor &x, const std::vector<int> &kernel_sizes, const std::vector<int> &strides, const std::vector<int> &paddings, const std::vector<int> &dilations) { return detail::op<Tensor>("op:unfold", {x, kernel_sizes, strides, paddings, dilations}); }
inline Tensor uniform(const IntArray &shape, DataType dtype, const Scalar &min, const Scalar &max, int seed, const Place & = {}) { return detail::op<Tensor>("op:uniform", {shape, dtype, min, max, seed}); }
inline Tensor uniform_inplace(const Tensor &x, float min = -1.0, float max = 1.0, int seed = 0, int diag_num = 0, int diag_step = 0, float diag_val = 1.0) { return detail::op<Tensor>("op:uniform_inplace", {x, min, max, seed, diag_num, diag_step, diag_val}); }
inline Tensor &uniform_inplace_(Tensor &x, float min = -1.0, float max = 1.0, int seed = 0, int diag_num = 0, int diag_step = 0, float diag_val = 1.0) { return detail::op<Tensor &>("op:uniform_inplace_", {x, min, max, seed, diag_num, diag_step, diag_val}, std::tie(x)); }
inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor &x, bool return_inverse = false, bool return_counts = false, const std::vector<int> &axis = {}, DataType dtype = DataType::FLOAT32) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:unique_consecutive", {x, return_inverse, return_counts, axis, dtype}); }
inline Tensor unpool(const Tensor &x, const Tensor &indices, const std::vector<int> &ksize, const std::vector<int> &strides, const std::vector<int> &padding, const IntArray &output_size, const std::string &data_format) { return detail::op<Tensor>("op:unpool", {x, indices, ksize, strides, padding, output_size, data_format}); }
inline Tensor unpool3d(const Tensor &x, const Tensor &indices, const std::vector<int> &ksize, const std::vector<int> &strides = {1, 1, 1}, const std::vector<int> &paddings = {0, 0, 0}, const std::vector<int> &output_size = {0, 0, 0}, const std::string &data_format = "NCDHW") { return detail::op<Tensor>("op:unpool3d", {x, indices, ksize, strides, paddings, output_size, data_format}); }
inline Tensor &unsqueeze_(Tensor &x, const IntArray &axis = {}) { return detail::op<Tensor &>("op:unsqueeze_", {x, axis}, std::tie(x)); }
inline std::vector<Tensor> unstack(const Tensor &x, int axis = 0, int num = 0) { return detail::op<std::vector<Tensor>>("op:unstack", {x, axis, num}); }
inline std::tuple<std::vector<Tensor> &, Tensor &, Tensor &, Tensor &> update_loss_scaling_(std::vector<Tensor> &x, const Tensor &found_infinite, Tensor &prev_loss_scaling, Tensor &in_good_steps, Tensor &in_bad_steps, int incr_every_n_steps, int decr_every_n_nan_or_inf, float incr_ratio, float decr_ratio, const Scalar &stop_update = false) { return detail::op<std::tuple<std::vector<Tensor> &, Tensor &, Tensor &, Tensor &>>("op:update_loss_scaling_", {x, found_infinite, prev_loss_scaling, in_good_steps, in_bad_steps, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, stop_update}, std::tie(x, prev_loss_scaling, in_good_steps, in_bad_steps)); }
inline Tensor variable_length_memory_efficient_attention(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &seq_lens, const Tensor &kv_seq_lens, const paddle::optional<Tensor> &mask, float scale, bool causal, int pre_cache_length) { return detail::op<Tensor>("op:variable_length_memory_efficient_attention", {query, key, value, seq_lens, kv_seq_lens, mask, scale, causal, pre_cache_length}); }
inline Tensor view_dtype(const Tensor &input, DataType dtype) { return detail::op<Tensor>("op:view_dtype", {input, dtype}); }
inline Tensor view_shape(const Tensor &input, const std::vector<int64_t> &dims = {}) { return detail::op<Tensor>("op:view_shape", {input, dims}); }
inline std::tuple<Tensor, Tensor> viterbi_decode(const Tensor &potentials, const Tensor &transition_params, const Tensor &lengths, bool include_bos_eos_tag = true) { return detail::op<std::tuple<Tensor, Tensor>>("op:viterbi_decode", {potentials, transition_params, lengths, include_bos_eos_tag}); }
inline Tensor warpctc(const Tensor &logits, const Tensor &label, const paddle::optional<Tensor> &logits_length, const paddle::optional<Tensor> &labels_length, int blank = 0, bool norm_by_times = false) { return detail::op<Tensor>("op:warpctc", {logits, label, logits_length, labels_length, blank, norm_by_times}); }
inline Tensor warprnnt(const Tensor &input, const Tensor &label, const Tensor &input_lengths, const Tensor &label_lengths, int blank = 0, float fastemit_lambda = 0.0) { return detail::op<Tensor>("op:warprnnt", {input, label, input_lengths, label_lengths, blank, fastemit_lambda}); }
inline Tensor weight_dequantize(const Tensor &x, const Tensor &scale, const std::string &algo = "weight_only_int8", DataType out_dtype = DataType::FLOAT16) { return detail::op<Tensor>("op:weight_dequantize", {x, scale, algo, out_dtype}); }
inline Tensor weight_only_linear(const Tensor &x, const Tensor &weight, const paddle::optional<Tensor> &bias, const Tensor &weight_scale, const std::string &weight_dtype, int arch = 80) { return detail::op<Tensor>("op:weight_only_linear", {x, weight, bias, weight_scale, weight_dtype, arch}); }
inline std::tuple<Tensor, Tensor> weight_quantize(const Tensor &x, const std::string &algo = "weight_only_int8", int arch = 80) { return detail::op<std::tuple<Tensor, Tensor>>("op:weight_quantize", {x, algo, arch}); }
inline std::tuple<Tensor, Tensor, Tensor> weighted_sample_neighbors(const Tensor &row, const Tensor &colptr, const Tensor &edge_weight, const Tensor &input_nodes, const paddle::optional<Tensor> &eids, int sample_size, bool return_eids) { return detail::op<std::tuple<Tensor, Tensor, Tensor>>("op:weighted_sample_neighbors", {row, colptr, edge_weight, input_nodes, eids, sample_size, return_eids}); }
inline Tensor &where_(const Tensor &condition, Tensor &x, const Tensor &y) { return detail::op<Tensor &>("op:where_", {condition, x, y}, std::tie(x)); }
inline std::tuple<Tensor, Tensor> yolo_box(const Tensor &x, const Tensor &img_size, const std::vector<int> &anchors = {}, int class_num = 1, float conf_thresh = 0.01, int downsample_ratio = 32, bool clip_bbox = true, float scale_x_y = 1.0, bool iou_aware = false, float iou_aware_factor = 0.5) { return detail::op<std::tuple<Tensor, Tensor>>("op:yolo_box", {x, img_size, anchors, class_num, conf_thresh, downsample_ratio, clip_bbox, scale_x_y, iou_aware, iou_aware_factor}); }
inline Tensor yolo_loss(const Tensor &x, const Tensor &gt_box, const Tensor &gt_label, const paddle::optional<Tensor> &gt_score, const std::vector<int> &anchors = {}, const std::vector<int> &anchor_mask = {}, int class_num = 1, float ignore_thresh = 0.7, int downsample_ratio = 32, bool use_label_smooth = true, float scale_x_y = 1.0) { return detail::op<Tensor>("op:yolo_loss", {x, gt_box, gt_label, gt_score, anchors, anchor_mask, class_num, ignore_thresh, downsample_ratio, use_label_smooth, scale_x_y}); }

}  // namespace experimental

// Without `experimental` as well.
using experimental::equal;
using experimental::frame;
using experimental::greater_equal;
using experimental::greater_than;
using experimental::less_equal;
using experimental::less_than;
using experimental::not_equal;
using experimental::npu_identity;
using experimental::overlap_add;
using experimental::send_u_recv;
using experimental::send_ue_recv;
using experimental::send_uv;

}  // namespace paddle
