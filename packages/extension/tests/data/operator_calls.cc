// Operators of paddle::experimental, each called with numbers of its own. `operator_call` gives, for each result, its dtype, its rank, its sizes
// and its values, one after the other. The same file is compiled with Paddle 2.6.2: tools/extension_values.py keeps what comes of it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "paddle/extension.h"

using namespace paddle::experimental;
using paddle::DataType;
using paddle::Tensor;
using Tensors = std::vector<Tensor>;
using Maybe = paddle::optional<Tensor>;
using Maybes = paddle::optional<std::vector<Tensor>>;
using Ints = std::vector<int>;

static Tensor Wave(const std::vector<int64_t> &shape, float from = 0, DataType dtype = DataType::FLOAT32) {
  Tensor x = paddle::empty(shape, dtype, paddle::CPUPlace());
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double value = std::sin(1.3 * static_cast<double>(i) + from);
    if (dtype == DataType::FLOAT32)
      x.data<float>()[i] = static_cast<float>(value);
    else
      x.data<double>()[i] = value;
  }
  return x;
}
static Tensor Positive(const std::vector<int64_t> &shape, float from = 0) {
  Tensor x = Wave(shape, from);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = 0.55f + 0.4f * x.data<float>()[i];
  return x;
}
template <typename T = int64_t>
static Tensor Whole(const std::vector<int64_t> &shape, const std::vector<T> &values) {
  Tensor x = paddle::empty(shape, phi::CppTypeToDataType<T>::Type(), paddle::CPUPlace());
  for (int64_t i = 0; i < x.numel(); ++i) x.data<T>()[i] = values[static_cast<size_t>(i)];
  return x;
}
static Tensor Bools() { return greater_than(Wave({2, 3}), Wave({2, 3}, 1)); }
static Tensor Number(float value) { return paddle::full({1}, value, DataType::FLOAT32, paddle::CPUPlace()); }
// Symmetric, and positive definite.
static Tensor Square(int64_t n) { return paddle::add(matmul(Wave({n, n}), Wave({n, n}), false, true), eye(n, n, DataType::FLOAT32, paddle::CPUPlace())); }

template <typename... T>
static Tensors All(const T &...each) {
  return Tensors{each...};
}
template <typename... T, size_t... I>
static Tensors Each(const std::tuple<T...> &all, std::index_sequence<I...>) {
  return Tensors{std::get<I>(all)...};
}
template <typename... T>
static Tensors All(const std::tuple<T...> &all) {
  return Each(all, std::index_sequence_for<T...>());
}
static Tensors All(const Tensors &all) { return all; }
template <size_t I, typename Tuple>
static Tensor At(const Tuple &tuple) {
  return std::get<I>(tuple);
}
template <typename F>
static Tensors Into(const Tensor &x, F f) {
  Tensor changed = paddle::add(x, zeros_like(x));
  Tensor &same = f(changed);
  PD_CHECK(&same == &changed);
  return {changed};
}

#define CALL(name, ...) {name, [] { return All(__VA_ARGS__); }}
#define INTO(name, x, ...) {name, [] { return Into(x, [](Tensor &t) -> Tensor & { return __VA_ARGS__; }); }}

static const std::vector<std::pair<std::string, std::function<Tensors()>>> &Calls() {
  static const std::vector<std::pair<std::string, std::function<Tensors()>>> calls = {
      CALL("add_n", add_n({Wave({2, 3}), Wave({2, 3}, 1), Wave({2, 3}, 2)})),
      CALL("affine_grid", affine_grid(Wave({1, 2, 3}), {1, 1, 2, 3}, false)),
      CALL("all", all(Bools(), {1})),
      CALL("amax", amax(Wave({2, 3}), {1}, true)),
      CALL("amin", amin(Wave({2, 3}), {0})),
      CALL("angle", angle(Wave({2, 3}))),
      CALL("any", any(Bools())),
      CALL("arange", arange(Number(1), Number(7), Number(2), DataType::FLOAT32)),
      CALL("argmax", argmax(Wave({2, 3}), 1)),
      CALL("argmax of all", argmax(Wave({2, 3}), 0, false, true, DataType::INT32)),
      CALL("argmin", argmin(Wave({2, 3}), 0, true)),
      CALL("as_complex", as_complex(Wave({2, 3, 2}))),
      CALL("as_real", as_real(as_complex(Wave({2, 2})))),
      CALL("batch_norm", At<0>(batch_norm(Wave({2, 3, 2, 2}), Wave({3}), Positive({3}), Maybe(Wave({3}, 1)), Maybe(Wave({3}, 2)), true, 0.9f, 1e-5f, "NCHW", false, false))),
      CALL("bce_loss", bce_loss(Positive({2, 3}), Positive({2, 3}, 1))),
      CALL("bicubic_interp", bicubic_interp(Wave({1, 2, 3, 4}), Maybe(), Maybes(), Maybe(), "NCHW", 0, 5, 6, {}, "bicubic", false, 0)),
      CALL("bilinear", bilinear(Wave({2, 3}), Wave({2, 2}, 1), Wave({4, 3, 2}), Maybe(Wave({1, 4})))),
      CALL("bilinear_interp", bilinear_interp(Wave({1, 2, 3, 4}), Maybe(), Maybes(), Maybe(), "NCHW", 0, 5, 6)),
      CALL("bincount", bincount(Whole({4}, {0, 2, 2, 1}), Maybe(), 5)),
      CALL("bmm", bmm(Wave({2, 2, 3}), Wave({2, 3, 2}))),
      CALL("broadcast_tensors", broadcast_tensors({Wave({2, 1}), Wave({3})})),
      CALL("celu", celu(Wave({2, 3}), 0.7f)),
      CALL("channel_shuffle", channel_shuffle(Wave({1, 4, 2, 2}), 2)),
      CALL("clip_by_norm", clip_by_norm(Wave({2, 3}), 0.5f)),
      CALL("complex", complex(Wave({2}), Wave({2}, 1))),
      CALL("conv2d", conv2d(Wave({1, 2, 4, 4}), Wave({3, 2, 3, 3}), {1, 1}, {1, 1})),
      CALL("conv2d of groups", conv2d(Wave({1, 2, 5, 5}), Wave({4, 1, 3, 3}), {2, 2}, {0, 0}, "EXPLICIT", {1, 1}, 2)),
      CALL("conv2d_transpose", conv2d_transpose(Wave({1, 2, 3, 3}), Wave({2, 3, 2, 2}), {2, 2})),
      CALL("conv3d", conv3d(Wave({1, 1, 3, 3, 3}), Wave({2, 1, 2, 2, 2}))),
      CALL("conv3d_transpose", conv3d_transpose(Wave({1, 1, 2, 2, 2}), Wave({1, 2, 2, 2, 2}))),
      CALL("cross_entropy_with_softmax", cross_entropy_with_softmax(Wave({2, 3}), Whole({2, 1}, {2, 0}))),
      CALL("cummax", cummax(Wave({2, 3}), 1)),
      CALL("cummin", cummin(Wave({2, 3}), 0)),
      CALL("cumprod", cumprod(Wave({2, 3}), 1)),
      CALL("depthwise_conv2d", depthwise_conv2d(Wave({1, 2, 4, 4}), Wave({2, 1, 3, 3}), {1, 1}, {0, 0}, "EXPLICIT", 2)),
      CALL("diag_embed", diag_embed(Wave({2, 3}), 1)),
      CALL("dropout", At<0>(dropout(Wave({2, 3}), Maybe(), 0.3f, true, "upscale_in_train", 0, false))),
      CALL("eigvalsh", At<0>(eigvalsh(Square(3)))),
      CALL("einsum", At<0>(einsum({Wave({2, 3}), Wave({3, 2})}, "ij,jk->ki"))),
      CALL("embedding", embedding(Whole({2, 2}, {0, 2, 1, 0}), Wave({3, 2}))),
      CALL("expand_as", expand_as(Wave({1, 3}), Maybe(Wave({2, 3})), {2, 3})),
      CALL("eye", eye(2, 3, DataType::FLOAT32, paddle::CPUPlace())),
      CALL("fft_c2c", fft_c2c(as_complex(Wave({4, 2})), {0}, "backward", true)),
      CALL("fft_r2c", fft_r2c(Wave({2, 4}), {1}, "ortho", true, true)),
      CALL("fft_c2r", fft_c2r(as_complex(Wave({2, 3, 2})), {1}, "backward", false, 4)),
      CALL("fill", fill(Wave({2, 3}), 2.5f)),
      CALL("fold", fold(Wave({1, 4, 4}), {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1})),
      CALL("frame", frame(Wave({8}), 4, 2)),
      CALL("frame without experimental", paddle::frame(Wave({2, 8}), 4, 2, -1)),
      CALL("frobenius_norm", frobenius_norm(Wave({2, 3}), {1}, false, false)),
      CALL("full_batch_size_like", full_batch_size_like(Wave({4, 3}), {1, 2}, DataType::FLOAT32, 1.5f, 0, 0)),
      CALL("gather_tree", gather_tree(Whole({2, 1, 2}, {1, 2, 3, 4}), Whole({2, 1, 2}, {0, 0, 1, 0}))),
      CALL("grid_sample", grid_sample(Wave({1, 2, 3, 3}), Wave({1, 2, 2, 2}, 1))),
      CALL("group_norm", group_norm(Wave({1, 4, 2, 2}), Maybe(), Maybe(), 1e-5f, 2)),
      CALL("hardshrink", hardshrink(Wave({2, 3}))),
      CALL("hardsigmoid", hardsigmoid(Wave({2, 3}))),
      CALL("heaviside", heaviside(Wave({2, 3}), Wave({2, 3}, 1))),
      CALL("histogram", histogram(Wave({2, 3}), 4, -1, 1)),
      CALL("huber_loss", huber_loss(Wave({2, 3}), Wave({2, 3}, 1), 0.5f)),
      CALL("i0", i0(Wave({2, 3}))),
      CALL("i0e", i0e(Wave({2, 3}))),
      CALL("i1", i1(Wave({2, 3}))),
      CALL("i1e", i1e(Wave({2, 3}))),
      CALL("index_add", index_add(Wave({3, 2}), Whole({2}, {0, 2}), Wave({2, 2}, 1), 0)),
      CALL("index_put", index_put(Wave({3, 2}), {Whole({2}, {0, 2})}, Number(5), true)),
      CALL("instance_norm", instance_norm(Wave({1, 2, 2, 3}), Maybe(Wave({2})), Maybe(Wave({2}, 1)))),
      CALL("inverse", inverse(Square(3))),
      CALL("kldiv_loss", kldiv_loss(Wave({2, 3}), Positive({2, 3}), "none")),
      CALL("layer_norm", layer_norm(Wave({2, 3}), Maybe(Wave({3})), Maybe(Wave({3}, 1)))),
      CALL("layer_norm alone", layer_norm(Wave({2, 3}), Maybe(), Maybe())),
      CALL("leaky_relu", leaky_relu(Wave({2, 3}), 0.1f)),
      CALL("linear_interp", linear_interp(Wave({1, 2, 3}), Maybe(), Maybes(), Maybe(), "NCHW", 0, 0, 5, {}, "linear", false, 0)),
      CALL("linspace", linspace(Number(0), Number(1), Whole<int32_t>({1}, {5}), DataType::FLOAT32, paddle::CPUPlace())),
      CALL("log_loss", log_loss(Positive({2, 1}), Positive({2, 1}, 1), 1e-4f)),
      CALL("logcumsumexp", logcumsumexp(Wave({2, 3}), 1)),
      CALL("logical_xor", logical_xor(Bools(), logical_not(Bools()))),
      CALL("logsigmoid", logsigmoid(Wave({2, 3}))),
      CALL("logspace", logspace(Number(0), Number(2), Whole<int32_t>({1}, {3}), Number(10), DataType::FLOAT32)),
      CALL("logsumexp", logsumexp(Wave({2, 3}), {1}, false, false)),
      CALL("max_pool2d_with_index", max_pool2d_with_index(Wave({1, 2, 4, 4}), {2, 2}, {2, 2})),
      CALL("mean_all", mean_all(Wave({2, 3}))),
      CALL("mish", mish(Wave({2, 3}), 20.0f)),
      CALL("multiplex", multiplex({Wave({2, 3}), Wave({2, 3}, 1)}, Whole<int32_t>({2, 1}, {1, 0}))),
      CALL("nanmedian", nanmedian(Wave({2, 3}), {1}, false)),
      CALL("nearest_interp", nearest_interp(Wave({1, 2, 3, 4}), Maybe(), Maybes(), Maybe(), "NCHW", 0, 6, 8, {}, "nearest", false)),
      CALL("nextafter", nextafter(Wave({2}), Wave({2}, 1))),
      CALL("nms", nms(Whole<float>({3, 4}, {0, 0, 2, 2, 0, 0, 2, 1.9f, 3, 3, 4, 4}), 0.5f)),
      CALL("nonzero", nonzero(Bools())),
      CALL("numel", numel(Wave({2, 3}))),
      CALL("overlap_add", overlap_add(Wave({4, 3}), 2)),
      CALL("p_norm", p_norm(Wave({2, 3}), 3, 1)),
      CALL("pad", pad(Wave({2, 3}), {1, 0, 0, 2}, 0.5f)),
      CALL("pad3d", pad3d(Wave({1, 1, 2, 2, 2}), {1, 1, 0, 1, 0, 0}, "reflect")),
      CALL("pixel_unshuffle", pixel_unshuffle(Wave({1, 1, 4, 4}), 2)),
      CALL("polygamma", polygamma(Positive({2, 3}), 1)),
      CALL("pool2d of means", pool2d(Wave({1, 2, 4, 4}), {2, 2}, {2, 2}, {0, 0}, false, true, "NCHW", "avg", false, false, "EXPLICIT")),
      CALL("pool2d of maxima", pool2d(Wave({1, 2, 4, 4}), {3, 3}, {1, 1}, {1, 1}, false, true, "NCHW", "max", false, false, "EXPLICIT")),
      CALL("pool3d", pool3d(Wave({1, 1, 2, 2, 2}), {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, false, true, "NCDHW", "avg", false, false, "EXPLICIT")),
      CALL("prelu", prelu(Wave({1, 2, 2, 2}), Positive({2}), "NCHW", "channel")),
      CALL("prod", prod(Wave({2, 3}), {1}, false, false)),
      CALL("renorm", renorm(Wave({2, 3}), 2, 0, 0.5f)),
      CALL("repeat_interleave", repeat_interleave(Wave({2, 3}), 2, 1)),
      CALL("repeat_interleave_with_tensor_index", repeat_interleave_with_tensor_index(Wave({2, 3}), Whole<int32_t>({2}, {1, 3}), 0)),
      CALL("reverse", reverse(Wave({2, 3}), {0})),
      CALL("roi_align", roi_align(Wave({1, 2, 4, 4}), Whole<float>({1, 4}, {0, 0, 3, 3}), Maybe(Whole<int32_t>({1}, {1})), 2, 2, 1.0f, 2, true)),
      CALL("roi_pool", roi_pool(Wave({1, 2, 4, 4}), Whole<float>({1, 4}, {0, 0, 3, 3}), Maybe(Whole<int32_t>({1}, {1})), 2, 2, 1.0f)),
      CALL("searchsorted", searchsorted(Whole<float>({3}, {0, 1, 2}), Wave({2, 3}), true)),
      CALL("segment_pool", segment_pool(Wave({3, 2}), Whole({3}, {0, 0, 1}), "MEAN")),
      CALL("set_value", set_value(Wave({2, 3}), {0}, {2}, {1}, {1}, {}, {}, {1}, {phi::Scalar(4.0f)})),
      CALL("shard_index", shard_index(Whole({2, 1}, {1, 6}), 8, 2, 0)),
      CALL("sigmoid_cross_entropy_with_logits", sigmoid_cross_entropy_with_logits(Wave({2, 3}), Positive({2, 3}), Maybe())),
      CALL("slogdet", slogdet(Square(3))),
      CALL("softplus", softplus(Wave({2, 3}), 2.0f)),
      CALL("softshrink", softshrink(Wave({2, 3}))),
      CALL("softsign", softsign(Wave({2, 3}))),
      CALL("solve", solve(Square(3), Wave({3, 2}))),
      CALL("split_with_num", split_with_num(Wave({2, 4}), 2, 1)),
      CALL("squared_l2_norm", squared_l2_norm(Wave({2, 3}))),
      CALL("stanh", stanh(Wave({2, 3}))),
      CALL("svd", At<1>(svd(Wave({3, 2})))),
      CALL("take_along_axis", take_along_axis(Wave({2, 3}), Whole({2, 1}, {2, 0}), 1)),
      CALL("tan", tan(Wave({2, 3}))),
      CALL("tanh_shrink", tanh_shrink(Wave({2, 3}))),
      CALL("temporal_shift", temporal_shift(Wave({2, 4, 1, 1}), 2)),
      CALL("topk", topk(Wave({2, 3}), 2)),
      CALL("tril_indices", tril_indices(3, 3, 0, DataType::INT64, paddle::CPUPlace())),
      CALL("triu_indices", triu_indices(3, 3, 1, DataType::INT64, paddle::CPUPlace())),
      CALL("trunc", trunc(scale(Wave({2, 3}), 3.0f))),
      CALL("unfold", unfold(Wave({1, 1, 3, 3}), {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1})),
      CALL("unique_consecutive", At<0>(unique_consecutive(Whole({4}, {1, 1, 2, 1}), true, true, {}, DataType::INT64))),
      CALL("unstack", unstack(Wave({2, 3}), 0, 2)),
      CALL("view_shape", view_shape(Wave({2, 3}), {3, 2})),
      CALL("warpctc", warpctc(Wave({3, 1, 4}), Whole<int32_t>({1, 2}, {1, 2}), Maybe(Whole({1}, {3})), Maybe(Whole({1}, {2})))),
      CALL("yolo_box", yolo_box(Wave({1, 7, 2, 2}), Whole<int32_t>({1, 2}, {64, 64}), {10, 13}, 2)),
      CALL("as_strided", scale(as_strided(Wave({2, 3}), {2, 2}, {1, 2}, 0))),
      CALL("average_accumulates_", [] {
        Tensor sums[] = {Wave({2}), Wave({2}, 1), Wave({2}, 2)}, counts[] = {Whole({1}, {3}), Whole({1}, {2}), Whole({1}, {5})};
        average_accumulates_(Wave({2}, 3), sums[0], sums[1], sums[2], counts[0], counts[1], counts[2], 0.5f, 3, 2);
        return All(sums[0], sums[1], sums[2], counts[0], counts[1], counts[2]);
      }()),
      CALL("adam_", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1), Positive({2, 3}), Number(0.9f), Number(0.99f)};
        Maybe none;
        adam_(state[0], Wave({2, 3}, 2), Number(0.1f), state[1], state[2], state[3], state[4], none, Maybe(), 0.9f, 0.99f, 1e-8f);
        return All(state[0], state[1], state[2], state[3], state[4]);
      }()),
      CALL("adam_ that is skipped", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1), Positive({2, 3}), Number(0.9f), Number(0.99f)};
        Maybe none;
        adam_(state[0], Wave({2, 3}, 2), Number(0.1f), state[1], state[2], state[3], state[4], none, Maybe(Whole<bool>({1}, {true})));
        return All(state[0], state[1], state[2], state[3], state[4]);
      }()),
      CALL("adamax_", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1), Positive({2, 3})};
        Maybe none;
        adamax_(state[0], Wave({2, 3}, 2), Number(0.1f), state[1], state[2], Number(0.9f), none);
        return All(state[0], state[1], state[2]);
      }()),
      CALL("adamw_", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1), Positive({2, 3}), Number(0.9f), Number(0.99f)};
        Maybe none;
        adamw_(state[0], Wave({2, 3}, 2), Number(0.1f), state[1], state[2], state[3], state[4], none, Maybe(), 0.9f, 0.99f, 1e-8f, 1.0f, 0.1f, true);
        return All(state[0], state[1], state[2], state[3], state[4]);
      }()),
      CALL("check_finite_and_unscale_", [] {
        Tensors xs = {Wave({2, 3}), Wave({2}, 1)};
        Tensor found = Whole<bool>({1}, {true});
        auto all = check_finite_and_unscale_(xs, Number(4));
        return All(xs[0], xs[1], std::get<1>(all));
      }()),
      CALL("crop", crop(Wave({2, 3}), {1, 2}, {1, 1})),
      CALL("edit_distance", edit_distance(Whole({2, 3}, {1, 2, 3, 1, 1, 1}), Whole({2, 4}, {1, 3, 3, 4, 2, 1, 5, 5}), Maybe(Whole({2}, {3, 2})), Maybe(Whole({2}, {4, 2})), false)),
      CALL("edit_distance, a share", edit_distance(Whole({1, 3}, {1, 2, 3}), Whole({1, 4}, {1, 3, 3, 4}), Maybe(Whole({1}, {3})), Maybe(Whole({1}, {4})), true)),
      CALL("fill_diagonal", fill_diagonal(Wave({4, 2}), 5.0f, 0, true)),
      CALL("fill_diagonal_tensor", fill_diagonal_tensor(Wave({2, 3}), Wave({2}, 1))),
      CALL("full_int_array", full_int_array({3, 4}, DataType::INT64)),
      CALL("hsigmoid_loss", At<0>(hsigmoid_loss(Wave({2, 3}), Whole({2, 1}, {1, 3}), Wave({3, 3}, 1), Maybe(), Maybe(), Maybe(), 4, false))),
      CALL("index_select_strided", index_select_strided(Wave({2, 3}), 1, 0)),
      CALL("lamb_", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1), Positive({2, 3}), Number(0.9f), Number(0.99f)};
        Maybe none;
        lamb_(state[0], Wave({2, 3}, 2), Number(0.1f), state[1], state[2], state[3], state[4], none, Maybe(), 0.1f, 0.9f, 0.99f, 1e-6f, false, false);
        return All(state[0], state[1], state[2], state[3], state[4]);
      }()),
      CALL("matrix_rank_tol", matrix_rank_tol(Square(3), Number(0.5f))),
      CALL("merged_momentum_", [] {
        Tensors params = {Wave({2, 3}), Wave({2}, 1)}, velocities = {Wave({2, 3}, 2), Wave({2}, 3)};
        Maybes none;
        merged_momentum_(params, {Wave({2, 3}, 4), Wave({2}, 5)}, velocities, {Number(0.1f)}, none, 0.9f, true);
        return All(params[0], params[1], velocities[0], velocities[1]);
      }()),
      CALL("merged_adam_", [] {
        Tensors params = {Wave({2, 3}), Wave({2}, 1)}, first = {Wave({2, 3}, 2), Wave({2}, 3)}, second = {Positive({2, 3}), Positive({2})};
        Tensors powers = {Number(0.9f), Number(0.8f)}, squares = {Number(0.99f), Number(0.98f)};
        Maybes none;
        merged_adam_(params, {Wave({2, 3}, 4), Wave({2}, 5)}, {Number(0.1f), Number(0.2f)}, first, second, powers, squares, none);
        return All(params[0], params[1], first[0], second[1], powers[0], squares[1]);
      }()),
      CALL("momentum_", [] {
        Tensor state[] = {Wave({2, 3}), Wave({2, 3}, 1)};
        Maybe none;
        momentum_(state[0], Wave({2, 3}, 2), state[1], Number(0.1f), none, 0.9f, true, "l2_decay", 0.1f);
        return All(state[0], state[1]);
      }()),
      CALL("rmsprop_", [] {
        Tensor state[] = {Wave({2, 3}), Positive({2, 3}), Wave({2, 3}, 1)};
        Maybe none, mean(Wave({2, 3}, 2));
        rmsprop_(state[0], state[1], Wave({2, 3}, 3), state[2], Number(0.1f), mean, none, 1e-6f, 0.9f, 0.5f);
        return All(state[0], state[1], state[2]);
      }()),
      CALL("send_u_recv", send_u_recv(Wave({3, 2}), Whole({3}, {0, 1, 2}), Whole({3}, {1, 1, 0}), "MEAN")),
      CALL("send_ue_recv", send_ue_recv(Wave({3, 2}), Wave({3, 2}, 1), Whole({3}, {0, 1, 2}), Whole({3}, {1, 1, 0}), "MUL", "SUM", {3})),
      CALL("send_uv", send_uv(Wave({3, 2}), Wave({3, 2}, 1), Whole({2}, {0, 2}), Whole({2}, {1, 1}), "ADD")),
      CALL("set_value_with_tensor", set_value_with_tensor(Wave({2, 3}), Wave({2, 1}, 1), {0}, {2}, {1}, {1}, {}, {})),
      CALL("sgd_", [] {
        Tensor param = Wave({2, 3});
        Maybe none;
        sgd_(param, Number(0.1f), Wave({2, 3}, 1), none, false);
        return All(param);
      }()),
      CALL("tensor_unfold", scale(tensor_unfold(Wave({5}), 0, 3, 2))),
      CALL("trans_layout", scale(trans_layout(Wave({2, 3}), {1, 0}))),
      CALL("update_loss_scaling_", [] {
        Tensors xs = {Wave({2, 3})};
        Tensor scale = Number(8), good = Whole<int32_t>({1}, {3}), bad = Whole<int32_t>({1}, {1});
        update_loss_scaling_(xs, Whole<bool>({1}, {true}), scale, good, bad, 4, 2, 2.0f, 0.5f);
        return All(xs[0], scale, good, bad);
      }()),
      CALL("update_loss_scaling_ upwards", [] {
        Tensors xs = {Wave({2, 3})};
        Tensor scale = Number(8), good = Whole<int32_t>({1}, {3}), bad = Whole<int32_t>({1}, {1});
        update_loss_scaling_(xs, Whole<bool>({1}, {false}), scale, good, bad, 4, 2, 2.0f, 0.5f);
        return All(xs[0], scale, good, bad);
      }()),
      CALL("view_dtype", view_dtype(Wave({2, 4}), DataType::INT32)),
      INTO("abs_", Wave({2, 3}), abs_(t)),
      INTO("add_", Wave({2, 3}), add_(t, Wave({2, 3}, 1))),
      INTO("cast_", Wave({2, 3}), cast_(t, DataType::INT32)),
      INTO("clip_", Wave({2, 3}), clip_(t, -0.5f, 0.5f)),
      INTO("exp_", Wave({2, 3}), exp_(t)),
      INTO("fill_", Wave({2, 3}), fill_(t, 3.0f)),
      INTO("index_add_", Wave({3, 2}), index_add_(t, Whole({2}, {0, 2}), Wave({2, 2}, 1), 0)),
      INTO("leaky_relu_", Wave({2, 3}), leaky_relu_(t, 0.1f)),
      INTO("multiply_", Wave({2, 3}), multiply_(t, Wave({2, 3}, 1))),
      INTO("relu_", Wave({2, 3}), relu_(t)),
      INTO("reshape_", Wave({2, 3}), reshape_(t, {3, 2})),
      INTO("scale_", Wave({2, 3}), scale_(t, 2.0f, 0.5f, true)),
      INTO("sqrt_", Positive({2, 3}), sqrt_(t)),
      INTO("squeeze_", Wave({2, 1, 3}), squeeze_(t, {1})),
      INTO("subtract_", Wave({2, 3}), subtract_(t, Wave({2, 3}, 1))),
      INTO("tanh_", Wave({2, 3}), tanh_(t)),
      INTO("tril_", Wave({3, 3}), tril_(t, 0)),
      INTO("unsqueeze_", Wave({2, 3}), unsqueeze_(t, {0})),
      INTO("assign_out_", Wave({2, 3}), assign_out_(Wave({2, 3}, 1), t)),
      INTO("fill_diagonal_", Wave({3, 3}), fill_diagonal_(t, 2.0f)),
      INTO("where_", Wave({2, 3}), where_(Bools(), t, Wave({2, 3}, 1))),
  };
  return calls;
}

static std::vector<Tensor> Call(const Tensor &, const Tensor &, const std::string &name) {
  std::vector<double> values;
  for (const auto &call : Calls())
    if (call.first == name)
      for (const Tensor &result : call.second()) {
        values.push_back(static_cast<int>(result.dtype()));
        values.push_back(static_cast<double>(result.shape().size()));
        for (const int64_t size : result.shape()) values.push_back(static_cast<double>(size));
        const bool is_complex = result.dtype() == DataType::COMPLEX64;
        const Tensor x = is_complex ? as_real(result) : result;
        if (x.dtype() == DataType::BOOL)
          values.insert(values.end(), x.data<bool>(), x.data<bool>() + x.numel());
        else
          PD_DISPATCH_FLOATING_AND_INTEGRAL_TYPES(x.dtype(), name, ([&] { values.insert(values.end(), x.data<data_t>(), x.data<data_t>() + x.numel()); }));
      }
  PD_CHECK(!values.empty(), "there is no call of ", name);
  Tensor out = paddle::empty({static_cast<int64_t>(values.size())}, DataType::FLOAT64, paddle::CPUPlace());
  std::copy(values.begin(), values.end(), out.data<double>());
  return {out};
}
PD_BUILD_OP(operator_call).Inputs({"X", "Y"}).Outputs({"Out"}).Attrs({"name: std::string"}).SetKernelFn(PD_KERNEL(Call));
