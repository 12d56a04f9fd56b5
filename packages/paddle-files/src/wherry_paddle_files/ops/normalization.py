"""Normalization, softmax, dropout, cross entropy."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_nn.power_iteration import as_matrix, largest_singular_value, power_iteration
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops


@writes(ops.softmax)
def write_softmax(w, x, *, axis):
    return w("softmax", {"X": x}, {"axis": axis})


@writes(ops.log_softmax)
def write_log_softmax(w, x, *, axis):
    return w("log_softmax", {"X": x}, {"axis": axis})


reads("softmax")(lambda o: F.softmax(o.x("X"), o.integer("axis", -1)))
reads("log_softmax")(lambda o: F.log_softmax(o.x("X"), o.integer("axis", -1)))


@writes(ops.softmax_vjp)
def write_softmax_vjp(w, ct, out, *, axis):
    return w("softmax_grad", {"Out": out, "Out@GRAD": ct}, {"axis": axis}, "X@GRAD")


@writes(ops.log_softmax_vjp)
def write_log_softmax_vjp(w, ct, out, *, axis):
    return w("log_softmax_grad", {"Out": out, "Out@GRAD": ct}, {"axis": axis}, "X@GRAD")


@reads("softmax_grad", "log_softmax_grad", out="X@GRAD")
def read_softmax_grad(o):
    out = o.x("Out")
    op = ops.softmax_vjp if o.type == "softmax_grad" else ops.log_softmax_vjp
    return op(o.x("Out@GRAD"), out, axis=o.integer("axis", -1) % max(out.ndim, 1))


@writes(ops.layer_norm)
def write_layer_norm(w, x, scale, bias, *, epsilon, begin_axis):
    if w.used(2) or w.used(1) or begin_axis < 1:
        return NotImplemented
    scale, bias = (None if v is None else v if v.ndim == 1 else w.reshape(v, (-1,)) for v in (scale, bias))
    given = {"X": x, "Scale": scale, "Bias": bias}
    out = w("layer_norm", given, {"epsilon": epsilon, "begin_norm_axis": begin_axis}, ("Y", "~Mean", "~Variance"))
    return out, None, None


@writes(ops.group_norm)
def write_group_norm(w, x, scale, bias, *, epsilon, groups):
    if w.used(1) or w.used(2) or x.dtype not in ("float32", "float64") or any(v is not None and v.dtype != x.dtype for v in (scale, bias)):
        return NotImplemented
    attrs = {"epsilon": epsilon, "groups": groups, "data_layout": "NCHW"}
    return w("group_norm", {"X": x, "Scale": scale, "Bias": bias}, attrs, ("Y", "~Mean", "~Variance")), None, None


@reads("layer_norm", out="Y")
def read_layer_norm(o):
    x, scale, bias = o.x("X"), o.maybe("Scale"), o.maybe("Bias")
    begin = o.integer("begin_norm_axis", 1)
    columns = x.shape[begin:]
    fitted = [None if v is None else v if list(v.shape) == list(columns) else api.reshape(v, columns) for v in (scale, bias)]
    epsilon = o.number("epsilon", 1e-5)
    out, mean, rstd = ops.layer_norm(x, *fitted, epsilon=epsilon, begin_axis=begin)
    found = {"Y": out}
    if o.reader.uses(o, "Mean", "Variance"):
        found |= {"Mean": api.reshape(mean, [-1]), "Variance": api.reshape(1 / (rstd * rstd) - epsilon, [-1])}
    return found


@writes(ops.batch_norm_infer)
def write_batch_norm_infer(w, x, mean, variance, scale, bias, *, epsilon, data_format):
    if epsilon > 0.001 or 0 in x.shape:
        return NotImplemented  # Paddle's operator refuses these
    channels, kind = mean.shape, mean.dtype
    scale = w.constant(1.0, kind, channels) if scale is None else w.cast(scale, kind)
    bias = w.constant(0.0, kind, channels) if bias is None else w.cast(bias, kind)
    momentum = w.outs[0].__dict__.get("momentum")  # of a layer that trains: its statistics move again where the program is trained
    attrs = {
        "is_test": True, "momentum": 0.9 if momentum is None else momentum, "epsilon": epsilon,
        "data_layout": "NCHW" if data_format.startswith("NC") else "NHWC", "use_global_stats": momentum is None, "trainable_statistics": False,
    }
    given = {"X": x, "Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance}
    outs = ("Y", "~MeanOut", "~VarianceOut", "~SavedMean", "~SavedVariance", "~ReserveSpace")
    return w("batch_norm", given, attrs, outs, into={"MeanOut": mean, "VarianceOut": variance})


@reads("batch_norm", "sync_batch_norm", out="Y")
def read_batch_norm(o):
    found = _batch_norm(o)
    if o.flag("fuse_with_relu"):  # of a program that Paddle optimized
        found["Y"] = ops.relu(found["Y"])
    return found


def _batch_norm(o):
    x, mean, variance = o.x("X"), o.x("Mean"), o.x("Variance")
    scale, bias = o.maybe("Scale"), o.maybe("Bias")
    epsilon, momentum, layout = o.number("epsilon", 1e-5), o.number("momentum", 0.9), o.text("data_layout", "NCHW")
    layout = "NHWC" if layout in ("NHWC", "NDHWC", "NLC") and x.ndim > 2 else "NCHW"
    if (o.flag("is_test") and not o.flag("trainable_statistics")) or o.flag("use_global_stats"):
        return {"Y": ops.batch_norm_infer(x, mean, variance, scale, bias, epsilon=epsilon, data_format=layout)}
    out, batch_mean, batch_variance = ops.batch_norm(x, scale, bias, epsilon=epsilon, data_format=layout)
    return {
        "Y": out, "MeanOut": mean * momentum + batch_mean * (1 - momentum), "VarianceOut": variance * momentum + batch_variance * (1 - momentum),
        "SavedMean": batch_mean, "SavedVariance": ops.rsqrt(batch_variance + epsilon),
    }


@reads("instance_norm", out="Y")
def read_instance_norm(o):
    return F.instance_norm(o.x("X"), weight=o.maybe("Scale"), bias=o.maybe("Bias"), eps=o.number("epsilon", 1e-5))


@reads("group_norm", out="Y")
def read_group_norm(o):
    x = o.x("X")
    layout = o.text("data_layout", "NCHW")
    return F.group_norm(x, o.integer("groups"), o.number("epsilon", 1e-5), o.maybe("Scale"), o.maybe("Bias"), layout)


@reads("norm")
def read_norm(o):
    x, axis, epsilon = o.x("X"), o.integer("axis", -1), o.number("epsilon", 1e-10)
    length = api.sqrt(api.sum(x * x, axis, keepdim=True) + epsilon)
    return {"Out": x / length, "Norm": length}


@reads("lrn")
def read_lrn(o):
    n = o.integer("n", 5)
    alpha, beta, k = o.number("alpha", 1e-4) * n, o.number("beta", 0.75), o.number("k", 2.0)
    return F.local_response_norm(o.x("X"), n, alpha, beta, k, o.text("data_format", "NCHW"))


@writes(ops.dropout)
def write_dropout(w, x, *, p, upscale):
    if w.for_prediction and w.used(1):
        return NotImplemented  # readers of the mask need one in prediction too
    attrs = {
        "dropout_prob": p, "is_test": w.for_prediction, "dropout_implementation": "upscale_in_train" if upscale else "downgrade_in_infer", "seed": 0,
        "fix_seed": False,
    }
    return w("dropout", {"X": x}, attrs, ("Out", "Mask"), dtype=[x.dtype, "uint8"])


@writes(ops.dropout_add)
def write_dropout_add(w, x, y, *, p, upscale):
    written = write_dropout(w, x, p=p, upscale=upscale)
    if written is NotImplemented:
        return NotImplemented
    dropped, mask = written
    return w("elementwise_add", {"X": dropped, "Y": y}, {"axis": -1}), mask


@reads("dropout")
def read_dropout(o):
    x, p = o.x("X"), o.attr("dropout_prob", 0.5)
    if isinstance(p, api.Tensor):
        mode = "upscale_in_train" if o.text("dropout_implementation") == "upscale_in_train" else "downscale_in_infer"
        return {"Out": F.dropout(x, p, training=not o.flag("is_test"), mode=mode)}
    p = o.number("dropout_prob", 0.5)
    upscale = o.text("dropout_implementation", "downgrade_in_infer") == "upscale_in_train"
    if o.flag("is_test"):
        return x if upscale else api.scale(x, 1 - p)
    out, mask = ops.dropout(x, p=p, upscale=upscale)
    return {"Out": out, "Mask": mask}


@writes(ops.cross_entropy)
def write_cross_entropy(w, logits, label, weight, *, soft_label, ignore_index, axis):
    if weight is not None or logits.dtype not in ("float32", "float64"):
        return NotImplemented
    attrs = {"soft_label": soft_label, "use_softmax": True, "numeric_stable_mode": True, "ignore_index": ignore_index, "axis": axis}
    softmax, loss = w("softmax_with_cross_entropy", {"Logits": logits, "Label": label}, attrs, ("Softmax", "Loss"))
    return loss, softmax


@reads("softmax_with_cross_entropy")
def read_softmax_with_cross_entropy(o):
    logits, label = o.x("Logits"), o.x("Label")
    axis = o.integer("axis", -1) % logits.ndim
    soft = o.flag("soft_label")
    if not o.flag("use_softmax", True):
        logits = api.log(logits)
    if not soft and label.ndim == logits.ndim - 1:
        label = api.unsqueeze(label, axis)
    loss, softmax = ops.cross_entropy(logits, label, None, soft_label=soft, ignore_index=o.integer("ignore_index", -100), axis=axis)
    return {"Loss": loss, "Softmax": softmax}


@reads("label_smooth")
def read_label_smooth(o):
    return F.label_smooth(o.x("X"), o.maybe("PriorDist"), o.number("epsilon"))


@reads("spectral_norm")
def read_spectral_norm(o):
    weight = o.x("Weight")
    matrix = as_matrix(weight, o.integer("dim"))
    u, v = power_iteration(matrix, o.x("U"), o.x("V"), o.integer("power_iters", 1), o.number("eps", 1e-12), added=True)
    return weight / largest_singular_value(matrix, u, v)


@reads("data_norm", out="Y")
def read_data_norm(o):
    """Means and scales come from sums gathered in training; they are not updated here."""
    x, size, total, squares = (o.x(name) for name in ("X", "BatchSize", "BatchSum", "BatchSquareSum"))
    means, scales = total / size, api.sqrt(size / squares)
    out = (x - means) * scales
    if o.flag("enable_scale_and_shift"):
        out = out * o.x("scale_w") + o.x("bias")
    return {"Y": out, "Means": means, "Scales": scales}
