"""Losses."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.writing import long
from wherry_tensor import ops


@writes(ops.nll_loss)
def write_nll_loss(w, x, label, weight, *, ignore_index, axis):
    if x.ndim != 2 or axis != 1 or ignore_index < 0 and ignore_index != -100:
        return NotImplemented
    given = {"X": x, "Label": w.reshape(w.cast(label, "int64"), (-1,)), "Weight": weight}
    attrs = {"ignore_index": long(ignore_index), "reduction": "none"}
    return w.reshape(w("nll_loss", given, attrs, ("Out", "~Total_weight"), shape=(x.shape[0],)), (-1, 1))


@reads("nll_loss")
def read_nll_loss(o):
    x, label, weight = o.x("X"), o.x("Label"), o.maybe("Weight")
    found = F.nll_loss(x, label, weight, o.integer("ignore_index", -100), o.text("reduction", "mean"))
    total = {}
    if o.reader.uses(o, "Total_weight"):
        total = {"Total_weight": api.sum((label != o.integer("ignore_index", -100)).astype(x.dtype) if weight is None else api.gather(weight, label))}
    return {"Out": found, **total}


@writes(ops.binary_cross_entropy)
def write_binary_cross_entropy(w, x, label):
    return w("bce_loss", {"X": x, "Label": label})


@reads("bce_loss")
def read_bce_loss(o):
    return ops.binary_cross_entropy(o.x("X"), o.x("Label"))


@writes(ops.binary_cross_entropy_logits)
def write_binary_cross_entropy_logits(w, logits, label):
    return w("sigmoid_cross_entropy_with_logits", {"X": logits, "Label": label}, {"normalize": False, "ignore_index": -100})


@reads("sigmoid_cross_entropy_with_logits")
def read_sigmoid_cross_entropy_with_logits(o):
    x, label, ignored, factor = o.x("X"), o.x("Label"), o.integer("ignore_index", -100), o.maybe("pos_weight")
    if factor is None:
        loss = ops.binary_cross_entropy_logits(x, label)
    else:  # of the logarithm alone, as the operator has it
        loss = ops.relu(x) - x * label + api.log1p(api.exp(-api.abs(x))) * factor
    loss = api.where(label == float(ignored), api.zeros_like(loss), loss)
    if not o.flag("normalize"):
        return loss
    return loss / api.maximum(api.sum((label != float(ignored)).astype(x.dtype)), api.ones([], x.dtype))


@writes(ops.smooth_l1_loss)
def write_smooth_l1_loss(w, x, y, *, delta):
    return w("huber_loss", {"X": x, "Y": y}, {"delta": delta}, ("Out", "~Residual"))


@reads("huber_loss")
def read_huber_loss(o):
    x, y = o.x("X"), o.x("Y")
    return {"Out": ops.smooth_l1_loss(x, y, delta=o.number("delta", 1.0)), "Residual": y - x}


@writes(ops.kl_div)
def write_kl_div(w, x, label):
    return w("kldiv_loss", {"X": x, "Target": label}, {"reduction": "none"}, "Loss")


@reads("kldiv_loss", out="Loss")
def read_kldiv_loss(o):
    return F.kl_div(o.x("X"), o.x("Target"), o.text("reduction", "mean"))


@reads("log_loss", out="Loss")
def read_log_loss(o):
    return F.log_loss(o.x("Predicted"), o.x("Labels"), o.number("epsilon", 1e-4))


@reads("square_error_cost")
def read_square_error_cost(o):
    return F.square_error_cost(o.x("X"), o.x("Y"))


@reads("hierarchical_sigmoid")
def read_hierarchical_sigmoid(o):
    given = [o.maybe(name) for name in ("Bias", "PathTable", "PathCode")]
    return F.hsigmoid_loss(o.x("X"), o.x("Label"), o.integer("num_classes", 2), o.x("W"), *given)


@reads("warpctc", out="Loss")
def read_warpctc(o):
    """Reads sequences with lengths; LoD tensors are not supported."""
    logits, lengths, label_lengths = o.x("Logits"), o.maybe("LogitsLength"), o.maybe("LabelLength")
    if lengths is None or label_lengths is None or logits.ndim != 3:
        raise o.bad("its sequences have no lengths", "logits [time, batch, classes], with LogitsLength and LabelLength")
    given = ops.log_softmax(logits, axis=2), o.x("Label"), lengths, label_lengths
    loss, _ = ops.ctc_loss(*given, blank=o.integer("blank"), norm_by_times=o.flag("norm_by_times"))
    return api.unsqueeze(loss, 1)


@reads("warprnnt", out="loss")
def read_warprnnt(o):
    given = o.x("input"), o.x("label"), o.x("input_lengths"), o.x("label_lengths")
    return F.rnnt_loss(*given, o.integer("blank"), o.number("fastemit_lambda"), "none")


@reads("class_center_sample")
def read_class_center_sample(o):
    if o.integer("nranks", 1) != 1:
        raise o.bad(f"it belongs to one of {o.integer('nranks')} processes", "a program of one process")
    # All classes of the labels, and others at random until there are enough; in their order.
    label, classes = o.x("Label"), o.integer("num_classes")
    mine = api.scatter(api.zeros([classes], "float32"), api.reshape(label, [-1]), api.ones_like(api.reshape(label, [-1])).astype("float32"))
    rank = api.argsort(api.argsort(api.uniform([classes], "float32", 0.0, 0.5) - mine))
    enough = api.maximum(api.sum(mine).astype("int64"), api.full([], o.integer("num_samples"), "int64"))
    kept = rank < enough
    places = api.cumsum(kept.astype("int64"), 0) - 1
    return {
        "RemappedLabel": api.gather(places, api.reshape(label, [-1])).astype(label.dtype),
        "SampledLocalClassCenter": api.reshape(api.nonzero(kept), [-1]).astype(label.dtype),
    }


@reads("identity_loss")
def read_identity_loss(o):
    x, reduction = o.x("X"), o.integer("reduction", 1)
    return api.sum(x) if reduction == 0 else api.mean(x) if reduction == 1 else x


@reads("margin_cross_entropy", out="Loss")
def read_margin_cross_entropy(o):
    margins = [o.number("margin1", 1.0), o.number("margin2", 0.5), o.number("margin3")]
    loss, softmax = F.margin_cross_entropy(o.x("Logits"), o.x("Label"), *margins, o.number("scale", 64.0), None, True, None)
    return {"Loss": loss, "Softmax": softmax}
