"""Arguments of Paddle 1.8's functions and layers, in their order there, and what they are called in 2.x.

`X = old > new`, `old` alone keeps its name, `old >` is dropped; behind `=` stand the texts with which dropping it changes nothing.
Every new name is compared with Wherry's signatures by a test.
"""
from __future__ import annotations

# Of one input each: `x`, an optional `name`.
_ELEMENTWISE = ("abs acos asin atan ceil cos exp floor log reciprocal round rsqrt sign sin sqrt square tanh erf log1p").split()
_ACTIVATIONS = "relu sigmoid softsign logsigmoid tanh_shrink".split()
_REDUCE = {f"layers.reduce_{name}": "input > x, dim > axis, keep_dim > keepdim, name" for name in ("sum", "mean", "max", "min", "prod", "all", "any")}
_BINARY = {f"layers.elementwise_{name}": "x, y, axis > = -1, act >, name" for name in ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv")}
_COMPARE = {f"layers.{name}": "x, y, cond > = None" for name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")}
_OPTIMIZER = "parameter_list > parameters, regularization > weight_decay, grad_clip, name"
_CONV = ("num_channels > in_channels, num_filters > out_channels, filter_size > kernel_size, stride, padding, dilation, groups, param_attr > weight_attr, "
         "bias_attr, use_cudnn >, act >, dtype > = 'float32'")

ARGUMENTS: dict[str, str] = {
    **{f"layers.{name}": "x, name" for name in (*_ELEMENTWISE, *_ACTIVATIONS)},
    **_REDUCE, **_BINARY, **_COMPARE,
    "dygraph.to_variable": "value > data, name >, zero_copy >, dtype",
    "dygraph.Linear": "input_dim > in_features, output_dim > out_features, param_attr > weight_attr, bias_attr, act >, dtype > = 'float32'",
    "dygraph.Conv2D": _CONV, "dygraph.Conv3D": _CONV,
    "dygraph.BatchNorm": "num_channels, act, is_test, momentum, epsilon, param_attr, bias_attr, dtype, data_layout, in_place, moving_mean_name, moving_variance_name, "
                         "do_model_average_for_mean_and_var, use_global_stats, trainable_statistics",
    "dygraph.GroupNorm": "channels > num_channels, groups > num_groups, epsilon, param_attr > weight_attr, bias_attr, act >, data_layout > data_format, dtype > = 'float32'",
    "dygraph.BCELoss": "weight, reduction", "dygraph.L1Loss": "reduction", "dygraph.MSELoss": "reduction",
    "dygraph.save_dygraph": "state_dict > obj, model_path > path",
    "layers.argmax": "x, axis", "layers.argmin": "x, axis",
    "layers.cast": "x, dtype", "layers.concat": "input > x, axis, name", "layers.stack": "x, axis", "layers.unstack": "x, axis, num",
    "layers.split": "input > x, num_or_sections, dim > axis, name", "layers.squeeze": "input > x, axes > axis, name",
    "layers.unsqueeze": "input > x, axes > axis, name", "layers.reshape": "x, shape, actual_shape > = None, act >, inplace > = False, name",
    "layers.transpose": "x, perm, name", "layers.matmul": "x, y, transpose_x, transpose_y, alpha > = 1.0 1, name", "layers.bmm": "x, y, name",
    "layers.gather": "input > x, index, overwrite > = True", "layers.gather_nd": "input > x, index, name", "layers.scale": "x, scale, bias, bias_after_scale, act, name",
    "layers.mean": "x, name", "layers.pow": "x, factor > y, name", "layers.clip": "x, min, max, name", "layers.assign": "input > x, output",
    "layers.shape": "input", "layers.topk": "input > x, k", "layers.argsort": "input > x, axis, descending, name",
    "layers.zeros": "shape, dtype, force_cpu > = False", "layers.ones": "shape, dtype, force_cpu > = False",
    "layers.zeros_like": "x, out > = None", "layers.ones_like": "x, out > = None",
    "layers.fill_constant": "shape, dtype, value > fill_value, force_cpu > = False, out > = None, name", "layers.range": "start, end, step, dtype, name",
    "layers.softmax": "input > x, use_cudnn > = False True, name, axis", "layers.log_softmax": "input > x, axis, dtype, name",
    "layers.leaky_relu": "x, alpha > negative_slope, name", "layers.elu": "x, alpha, name", "layers.gelu": "x, approximate", "layers.hard_sigmoid": "x, slope, offset, name",
    "layers.cross_entropy": "input, label, soft_label, ignore_index",
    "layers.softmax_with_cross_entropy": "logits > input, label, soft_label, ignore_index, numeric_stable_mode > = True, return_softmax > = False, axis",
    "layers.square_error_cost": "input, label", "layers.mse_loss": "input, label", "layers.kldiv_loss": "x > input, target > label, reduction, name",
    "layers.log_loss": "input, label, epsilon, name", "layers.label_smooth": "label, prior_dist, epsilon, dtype > = 'float32', name",
    "layers.accuracy": "input, label, k, correct, total", "layers.sums": "input > inputs, out > = None", "layers.cos_sim": "X > x1, Y > x2",
    "layers.fc": "input > x, size, num_flatten_dims, param_attr > weight_attr, bias_attr, act > activation, name",
    "layers.data": "name, shape, append_batch_size >, dtype, lod_level, type > = None, stop_gradient > = True", "data": "name, shape, dtype, lod_level",
    "layers.lrn": "input > x, n > size, k, alpha, beta, name, data_format",
    "initializer.NumpyArrayInitializer": "value", "initializer.ConstantInitializer": "value, force_cpu > = False", "initializer.Constant": "value, force_cpu > = False",
    "initializer.NormalInitializer": "loc > mean, scale > std, seed > = 0", "initializer.Normal": "loc > mean, scale > std, seed > = 0",
    "initializer.UniformInitializer": "low, high, seed > = 0", "initializer.Uniform": "low, high, seed > = 0",
    "regularizer.L2Decay": "regularization_coeff > coeff", "regularizer.L1Decay": "regularization_coeff > coeff",
    "optimizer.SGD": f"learning_rate, {_OPTIMIZER}", "optimizer.Momentum": "learning_rate, momentum, parameter_list > parameters, use_nesterov, "
    "regularization > weight_decay, grad_clip, name", "optimizer.Adam": "learning_rate, beta1, beta2, epsilon, "
    "parameter_list > parameters, regularization > weight_decay, grad_clip, name, lazy_mode",
    "optimizer.Adagrad": "learning_rate, epsilon, parameter_list > parameters, regularization > weight_decay, grad_clip, name, initial_accumulator_value",
    "optimizer.Adadelta": f"learning_rate, epsilon, rho, {_OPTIMIZER}",
    "optimizer.Adamax": f"learning_rate, beta1, beta2, epsilon, {_OPTIMIZER}",
    "optimizer.RMSProp": "learning_rate, rho, epsilon, momentum, centered, parameter_list > parameters, regularization > weight_decay, grad_clip, name",
}
for _long in ("SGD", "Momentum", "Adam", "Adagrad", "Adadelta", "Adamax", "RMSProp"):
    ARGUMENTS[f"optimizer.{_long}Optimizer"] = ARGUMENTS[f"optimizer.{_long}"]
for _long in ("L1Decay", "L2Decay"):
    ARGUMENTS[f"regularizer.{_long}Regularizer"] = ARGUMENTS[f"regularizer.{_long}"]

# What the new function needs besides, so that it computes what the old one did.
ADDED: dict[str, dict[str, str]] = {
    "layers.cross_entropy": {"use_softmax": "False", "reduction": '"none"'},
    "layers.softmax_with_cross_entropy": {"reduction": '"none"'},
    "layers.kldiv_loss": {"reduction": '"mean"'},
    "layers.mse_loss": {},
}

NOTES: dict[str, str] = {
    "dygraph.load_dygraph": "gave two dicts, of parameters and optimizer; paddle.load gives what is in one file, so load .pdparams and .pdopt each",
    "layers.auc": "paddle.metric.Auc is a class: make one, then update and accumulate",
    "layers.topk": "indices are int64, and k may be a tensor no more",
}


def parsed(spec: str) -> tuple[tuple[str, ...], dict[str, str | None], dict[str, tuple[str, ...]]]:
    """(positional names, renames, texts with which a dropped argument does not matter)."""
    positional, rename, silent = [], {}, {}
    for part in spec.split(", "):
        text, _, harmless = part.partition(" = ")
        old, arrow, new = text.partition(" >")
        positional.append(old.strip())
        if arrow:
            rename[old.strip()] = new.strip() or None
        if harmless:
            silent[old.strip()] = tuple(harmless.split())
    return tuple(positional), rename, silent
