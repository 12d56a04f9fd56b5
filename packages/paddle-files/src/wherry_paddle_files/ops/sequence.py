"""Sequences: of rows with offsets, masks by length, labels that are not aligned."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files import sequences
from wherry_paddle_files.column import paddle, reads, writes
from wherry_paddle_files.numbers import number_of
from wherry_paddle_files.ops.indexing import size_of
from wherry_paddle_files.sequences import known_offsets, offsets_of, with_offsets
from wherry_program.program.best_paths import best_paths
from wherry_tensor import ops


@reads("sequence_mask", out="Y")
def read_sequence_mask(o):
    longest = o.maybe("MaxLenTensor")
    most = o.integer("maxlen", -1) if longest is None else number_of(longest)
    if type(most) is int and most < 0:
        most = number_of(api.max(o.x("X")).astype("int64"))
    return F.sequence_mask(o.x("X"), most, o.dtype("out_dtype", "int64"))


@writes(ops.ctc_loss)
def write_ctc_loss(w, log_probs, labels, input_lengths, label_lengths, *, blank, norm_by_times):
    """Paddle's operator normalizes its input: for inputs that are not log probabilities, the normalization is undone."""
    if w.used(1):
        return NotImplemented  # what the gradient needs has another form there
    given = {
        "Logits": log_probs, "Label": w.cast(labels, "int32"), "LogitsLength": w.cast(input_lengths, "int64"),
        "LabelLength": w.cast(label_lengths, "int64"),
    }
    steps, batch, _ = log_probs.shape
    loss = w("warpctc", given, {"blank": blank, "norm_by_times": norm_by_times}, ("Loss", "~WarpCTCGrad"), shape=(batch, 1))
    sums = w("logsumexp", {"X": log_probs}, {"axis": [2], "keepdim": False, "reduce_all": False}, shape=(steps, batch))
    places = w.reshape(w.count(steps if steps >= 0 else size_of(w, log_probs, 0)), (-1, 1))
    inside = w("less_than", {"X": places, "Y": w.reshape(given["LogitsLength"], (1, -1))}, {"axis": -1}, dtype="bool", shape=(steps, batch))
    sums = w("elementwise_mul", {"X": sums, "Y": w.cast(inside, sums.dtype)}, {"axis": -1})
    total = w("reduce_sum", {"X": sums}, {"dim": [0], "keep_dim": False, "reduce_all": False}, shape=(batch,))
    return w("elementwise_sub", {"X": w.reshape(loss, (batch,)), "Y": total}, {"axis": -1}), None


paddle.exempt(ops.ctc_loss_vjp, "Paddle's operator takes what its own loss kept for the gradient, which has another form")
paddle.exempt(ops.ctc_loss_curvature, "Paddle has no second derivative of this loss")


@writes(ops.gather_tree)
def write_gather_tree(w, ids, parents):
    return w("gather_tree", {"Ids": ids, "Parents": parents})


@reads("gather_tree")
def read_gather_tree(o):
    return F.gather_tree(o.x("Ids"), o.x("Parents"))


@reads("row_conv")
def read_row_conv(o):
    """Each step as the sum of itself and those that follow, each with its weights."""
    x, weights = o.x("X"), o.x("Filter")
    if x.ndim == 2 and known_offsets(x):
        return sum(part * weights[i] for i, part in enumerate(sequences.windows(x, 0, _few(o, weights.shape[0], "rows of its filter"), o.type)))
    if x.ndim != 3:
        raise o.bad(f"its input has {x.ndim} axes", "[batch, time, features], or rows of sequences with offsets")
    steps, ahead = x.shape[1], weights.shape[0]
    longer = F.pad(x, [0, 0, 0, ahead - 1, 0, 0]) if ahead > 1 else x
    return sum(longer[:, i : steps + i] * weights[i] for i in range(ahead))


@reads("viterbi_decode", out="Path")
def read_viterbi_decode(o):
    lengths = o.x("Length").astype("int64")
    scores, paths = best_paths(o.x("Input"), o.x("Transition"), lengths, o.flag("include_bos_eos_tag", True))
    return {"Scores": scores, "Path": paths}


@reads("edit_distance")
def read_edit_distance(o):
    """Levenshtein's distance of token sequences, `[N, T]` with their lengths: one row of the table of distances after another."""
    given, wanted = o.x("Hyps"), o.x("Refs")
    n, rows, columns = given.shape[0], given.shape[1], wanted.shape[1]
    lengths = [o.maybe(slot) for slot in ("HypsLength", "RefsLength")]
    counts = [api.full([n], size, "int64") if x is None else api.cast(api.reshape(x, [-1]), "int64") for x, size in zip(lengths, (rows, columns))]
    places = api.arange(columns + 1, dtype="float32")
    table = [api.expand(places, [n, columns + 1])]
    for i in range(rows):
        cost = api.cast(api.not_equal(given[:, i : i + 1], wanted), "float32")
        above = table[-1] + 1.0
        reached = api.concat([above[:, :1], api.minimum(above[:, 1:], table[-1][:, :-1] + cost)], 1)
        table.append(api.cummin(reached - places, 1)[0] + places)  # insertions: the best place to the left, and one for each step from it
    at = api.stack([counts[0], api.arange(n, dtype="int64"), counts[1]], 1)
    distance = api.reshape(api.gather_nd(api.stack(table), at), [n, 1])
    if o.flag("normalized"):
        distance = distance / api.cast(api.reshape(counts[1], [n, 1]), "float32")
    return {"Out": distance, "SequenceNum": api.full([1], n, "int64")}


# Rows of sequences with offsets.

_MOST_WINDOWS = 1024  # rows that are looked at together: each is recorded
_POOLS = {"AVERAGE": "average", "SUM": "sum", "SQRT": "sqrt", "MAX": "max", "LAST": "last", "FIRST": "first"}


def rows_given(o, slot="X"):
    """An input that holds rows of sequences."""
    x = o.x(slot)
    if not known_offsets(x):
        raise o.bad(f"no offsets of sequences come to its input {slot!r}", "what is fed with a lod_level, or what row by row is made of it")
    return x


def _few(o, n, what):
    if type(n) is not int or not 0 < n <= _MOST_WINDOWS:
        raise o.bad(f"it has {n} {what}", f"1 to {_MOST_WINDOWS}")
    return n


@reads("sequence_pool")
def read_sequence_pool(o):
    kind = o.text("pooltype", "AVERAGE")
    if kind not in _POOLS:
        raise o.bad(f"attribute 'pooltype' is {kind!r}", f"one of {', '.join(_POOLS)}")
    return sequences.pooled(rows_given(o), _POOLS[kind], o.number("pad_value"), o.type)


@reads("sequence_softmax")
def read_sequence_softmax(o):
    return sequences.softmax(rows_given(o), o.type)


@reads("sequence_reverse", out="Y")
def read_sequence_reverse(o):
    return sequences.reversed_rows(rows_given(o), o.type)


@reads("sequence_concat")
def read_sequence_concat(o):
    rows_given(o)
    return sequences.joined(o.xs("X"), o.type)


@reads("sequence_expand")
def read_sequence_expand(o):
    return sequences.expanded(o.x("X"), rows_given(o, "Y"), o.integer("ref_level", -1), o.type)


@reads("sequence_expand_as")
def read_sequence_expand_as(o):
    return sequences.expanded_as(o.x("X"), rows_given(o, "Y"), o.type)


@reads("sequence_slice")
def read_sequence_slice(o):
    return sequences.sliced(rows_given(o), o.x("Offset"), o.x("Length"), o.type)


@reads("sequence_reshape")
def read_sequence_reshape(o):
    x, width = rows_given(o), o.integer("new_dim")
    if x.ndim != 2 or width < 1:
        raise o.bad(f"attribute 'new_dim' is {width}, and its input has {x.ndim} axes", "a width, and [rows, width]")
    return sequences.reshaped(x, width, o.type)


@reads("sequence_pad")
def read_sequence_pad(o):
    x, most = rows_given(o), o.integer("padded_length", -1)
    rows = sequences.rows_of(x, o.type)
    return {"Out": sequences.padded(x, rows, o.x("PadValue"), None if most < 0 else most, o.type), "Length": rows.lengths}


@reads("sequence_unpad")
def read_sequence_unpad(o):
    x = o.x("X")
    if x.ndim < 2:
        raise o.bad(f"its input has {x.ndim} axes", "[sequences, steps, ...]")
    return sequences.unpadded(x, o.x("Length"))


@reads("sequence_enumerate")
def read_sequence_enumerate(o):
    return sequences.enumerated(rows_given(o), _few(o, o.integer("win_size"), "rows in a window"), o.integer("pad_value"), o.type)


@reads("sequence_erase")
def read_sequence_erase(o):
    """The rows that are none of the tokens."""
    x, tokens = rows_given(o), o.integers("tokens")
    flat = api.reshape(x, [-1]).astype("int64")
    stays = api.full_like(flat, True, "bool")
    if tokens:
        stays = api.logical_not(api.any(api.equal(api.unsqueeze(flat, 1), api.to_tensor(tokens, dtype="int64")), 1))
    return sequences.kept(x, stays, o.type)


@reads("ctc_align", out="Output")
def read_ctc_align(o):
    """Labels of the best path of CTC: without repetitions, then without blanks."""
    blank, merges, lengths = o.integer("blank"), o.flag("merge_repeated", True), o.maybe("InputLength")
    x = rows_given(o, "Input") if lengths is None else o.x("Input")
    if lengths is not None:  # [batch, time]
        if x.ndim != 2:
            raise o.bad(f"its input has {x.ndim} axes", "[batch, time]")
        width = x.shape[1]
        x = sequences.unpadded(api.unsqueeze(x, 2), lengths)
    rows, flat = sequences.rows_of(x, o.type), api.reshape(x, [-1])
    stays = flat != blank
    if merges:
        same = api.equal(flat, api.gather(flat, api.maximum(rows.row - 1, api.zeros([], "int64"))))
        stays = api.logical_and(stays, api.logical_or(api.logical_not(same), rows.position == 0))
    found = sequences.kept(x, stays, o.type)
    if lengths is None:
        return found
    rows = sequences.rows_of(found, o.type)
    wide = sequences.padded(found, rows, api.full([], o.integer("padding_value"), x.dtype), None, o.type)
    missing = api.full([wide.shape[0], width - wide.shape[1]], o.integer("padding_value"), x.dtype)
    return {"Output": api.concat([api.squeeze(wide, 2), missing], 1), "OutputLength": api.unsqueeze(rows.lengths, 1).astype(lengths.dtype)}


@reads("sequence_scatter")
def read_sequence_scatter(o):
    return sequences.scattered(o.x("X"), rows_given(o, "Ids"), o.x("Updates"), o.type)


@reads("sequence_conv")
def read_sequence_conv(o):
    x, weight = rows_given(o), o.x("Filter")
    size, stride = _few(o, o.integer("contextLength"), "rows in a window"), o.integer("contextStride", 1)
    if stride != 1 or o.flag("paddingTrainable"):
        raise o.bad(f"its stride is {stride}, or what it pads with is trained", "a stride of 1, and zeros")
    out = api.matmul(api.concat(sequences.windows(x, o.integer("contextStart"), size, o.type), 1), weight)
    return with_offsets(out, offsets_of(x, o.type))


@reads("lod_reset")
def read_lod_reset(o):
    """Other offsets: those of `Y`, those that `Y` has as values, or those of the file."""
    x, y = o.x("X"), o.maybe("Y")
    outer = known_offsets(x) if o.flag("append") else ()
    if y is not None and known_offsets(y):
        *more, last = known_offsets(y)
        return sequences.with_new_offsets(x, last, [*outer, *more], o.type)
    if y is not None:
        return sequences.with_new_offsets(x, api.reshape(y, [-1]).astype("int64"), outer, o.type)
    target = o.integers("target_lod")
    if (fault := sequences.fault_of_offsets([target], None)) is not None:
        raise o.bad(f"attribute 'target_lod' is {target}", fault)
    return sequences.with_new_offsets(x, ops.copy(api.to_tensor(target, dtype="int64")), outer, o.type)


@reads("im2sequence")
def read_im2sequence(o):
    """Each window of an image as a row: the sequence of an image goes from left to right, then down."""
    x = o.x("X")
    if o.maybe("Y") is not None or x.ndim != 4:
        raise o.bad("it has sizes of images as an input, or its input is no image", "[images, channels, height, width] alone")
    found = F.unfold(x, o.integers("kernels"), o.integers("strides", [1, 1]), o.integers("paddings", [0, 0, 0, 0]))
    rows = api.reshape(api.transpose(found, [0, 2, 1]), [-1, found.shape[1]])
    starts = sequences.rows_of_lengths(api.zeros([found.shape[0]], "int64") + sequences.size(found, 2))
    return with_offsets(rows, [starts.offsets])


@reads("crf_decoding", out="ViterbiPath")
def read_crf_decoding(o):
    """The best tags; with `Label` 1 where it has the same tag, and 0."""
    scores, weight, label, lengths = o.x("Emission"), o.x("Transition"), o.maybe("Label"), o.maybe("Length")
    rows = None
    if lengths is None:
        scores = rows_given(o, "Emission")
        rows = sequences.rows_of(scores, o.type)
        scores, lengths = sequences.padded(scores, rows, api.zeros([], scores.dtype), None, o.type), rows.lengths
    lengths = api.reshape(lengths, [-1]).astype("int64")
    if scores.ndim != 3 or weight.ndim != 2 or weight.shape[0] != weight.shape[1] + 2 or scores.shape[2] != weight.shape[1]:
        raise o.bad(f"its scores are of shape {list(scores.shape)}, its weights {list(weight.shape)}", "[..., tags] and [tags + 2, tags]")
    found = sequences.best_tags(scores, lengths, weight)
    if rows is not None:
        found = with_offsets(sequences.unpadded(api.unsqueeze(found, 2), lengths), offsets_of(o.x("Emission"), o.type))
    if label is None:
        return found
    same = api.equal(found, api.reshape(label.astype("int64"), found.shape)).astype("int64")
    if rows is None:
        return same * (api.unsqueeze(api.arange(same.shape[1], dtype="int64"), 0) < api.unsqueeze(lengths, 1)).astype("int64")
    return with_offsets(same, offsets_of(found, o.type))


@reads("linear_chain_crf", out="LogLikelihood")
def read_linear_chain_crf(o):
    """The negative logarithm of the likelihood of each sequence of tags: of all paths, less the score of the labels."""
    x, weight, label, lengths = o.x("Emission"), o.x("Transition"), o.x("Label").astype("int64"), o.maybe("Length")
    tags = weight.shape[-1]
    if weight.ndim != 2 or list(weight.shape) != [tags + 2, tags] or x.shape[-1] != tags:
        raise o.bad(f"its scores are of shape {list(x.shape)}, its weights {list(weight.shape)}", "[..., tags] and [tags + 2, tags]")
    if lengths is None:
        rows_given(o, "Emission")
    else:
        label = sequences.unpadded(api.reshape(label, [*x.shape[:2], 1]), lengths)
        x = sequences.unpadded(x, lengths)
    rows, label, moves = sequences.rows_of(x, o.type), api.reshape(label, [-1]), weight[2:]
    begins = api.unsqueeze(rows.position == 0, 1)
    scores = x + api.where(begins, weight[0], api.zeros([], x.dtype))

    def onwards(here, before, begun):
        ways = api.logsumexp(api.unsqueeze(before, 2) + moves, 1)
        return [here + ways * begun, api.ones_like(begun)]

    first = [api.zeros([rows.n, tags], x.dtype), api.zeros([rows.n, 1], x.dtype)]
    ahead = with_offsets(sequences.carried(scores, rows, first, onwards)[0], offsets_of(x, o.type))
    total = api.logsumexp(sequences.pooled(ahead, "last", 0.0, o.type) + weight[1], 1, True)
    earlier = api.gather(label, api.maximum(rows.row - 1, api.zeros([], "int64")))
    pairs = api.gather_nd(moves, api.stack([earlier, label], 1))
    ends = api.where(rows.row == rows.of(rows.ends) - 1, api.gather(weight[1], label), api.zeros([], x.dtype))
    steps = api.take_along_axis(scores, api.unsqueeze(label, 1), 1) + api.where(begins, api.zeros([], x.dtype), api.unsqueeze(pairs, 1))
    said = with_offsets(steps + api.unsqueeze(ends, 1), offsets_of(x, o.type))
    return total - sequences.pooled(said, "sum", 0.0, o.type)


# How many tags a type of chunk has in a scheme, and those of a chunk's first, middle, last and only word; -1: there is none.
_SCHEMES = {"IOB": (2, 0, 1, -1, -1), "IOE": (2, -1, 0, 1, -1), "IOBES": (4, 0, 1, 2, 3), "plain": (1, -1, -1, -1, -1)}


@reads("chunk_eval", out="Precision")
def read_chunk_eval(o):
    """How many chunks of words are found, and found rightly: with the same first and last word and type as a chunk of the labels."""
    found, label, lengths = o.x("Inference"), o.x("Label").astype("int64"), o.maybe("SeqLength")
    types, scheme, excluded = o.integer("num_chunk_types"), o.text("chunk_scheme", "IOB"), set(o.integers("excluded_chunk_types"))
    if scheme not in _SCHEMES or types < 1 or len(excluded) > _MOST_WINDOWS:
        got = f"it has {types} types of chunks in the scheme {scheme!r}, {len(excluded)} of them excluded"
        raise o.bad(got, f"types in one of {', '.join(_SCHEMES)}, at most {_MOST_WINDOWS} excluded")
    nothing = api.full([], types * _SCHEMES[scheme][0], "int64")
    if lengths is None:
        rows = sequences.rows_of(rows_given(o, "Inference"), o.type)
        row, first, last = rows.row, rows.position == 0, rows.row == rows.of(rows.ends) - 1
        given = [api.reshape(x.astype("int64"), [-1]) for x in (found, label)]
    else:
        place = api.unsqueeze(api.arange(found.shape[1], dtype="int64"), 0) + api.zeros(found.shape[:2], "int64")
        inside = place < api.reshape(lengths.astype("int64"), [-1, 1])
        given = [api.reshape(api.where(inside, api.reshape(x.astype("int64"), place.shape), nothing), [-1]) for x in (found, label)]
        first, last = (api.reshape(place == n, [-1]) for n in (0, sequences.size(place, 1) - 1))
        row = api.arange(first.shape[0], dtype="int64")
    (begins, ends, kind), (true_begins, true_ends, true_kind) = (_chunks(tags, row, first, last, types, scheme) for tags in given)
    for each in sorted(excluded):
        begins, true_begins = begins & (kind != each), true_begins & (true_kind != each)
    right = begins & true_begins & (ends == true_ends) & (kind == true_kind)
    n_right, n_found, n_true = (api.reshape(api.sum(x.astype("int64")), [1]) for x in (right, begins, true_begins))
    precision, recall = (n_right.astype("float32") / api.maximum(n, api.ones([], "int64")).astype("float32") for n in (n_found, n_true))
    both = api.where(n_right > 0, precision + recall, api.ones([], "float32"))
    return {
        "Precision": precision, "Recall": recall, "F1-Score": 2.0 * precision * recall / both, "NumInferChunks": n_found, "NumLabelChunks": n_true,
        "NumCorrectChunks": n_right,
    }


def _chunks(tags, row, first, last, types, scheme):
    """Of each word: whether a chunk begins with it, the row in which that ends, and its type."""
    per_type, begin, inside, end, only = _SCHEMES[scheme]
    kind = tags // per_type
    tag, limit = tags - kind * per_type, sequences.size(row, 0) - 1
    before = api.maximum(row - 1, api.zeros([], "int64"))
    after = api.minimum(row + 1, limit)

    def among(x, *wanted):
        return sum((x == each).astype("int64") for each in wanted) > 0

    alone, outside = kind != types, api.full([], types, "int64")
    new = api.where(first, outside, api.gather(kind, before)) != kind
    over = api.where(last, outside, api.gather(kind, after)) != kind
    begins = alone & (new | among(tag, begin, only) | (among(tag, inside, end) & among(api.gather(tag, before), end, only)))
    stops = alone & (over | among(tag, end, only) | among(api.gather(tag, after), begin, only))
    ends = api.flip(api.cummin(api.flip(api.where(stops, row, limit), [0]), 0)[0], [0])
    return begins, ends, kind


@reads("beam_search", out="selected_ids")
def read_beam_search(o):
    """One step of a search: of each source the best continuations of its hypotheses, which are rows; none of a source whose best ones have ended.

    Offsets of the result say which rows are continued from which row.
    """
    scores, ids = rows_given(o, "scores"), o.maybe("ids")
    level, most, end = o.integer("level"), o.integer("beam_size"), o.integer("end_id")
    levels = offsets_of(scores, o.type)
    if scores.ndim != 2 or not 0 <= level < len(levels) or most < 1:
        got = f"its scores have {scores.ndim} axes and {len(levels)} levels of offsets, attribute 'level' is {level} and 'beam_size' {most}"
        raise o.bad(got, "rows of candidates, a level that there is, and 1 or more")
    offsets = levels[level]
    for inner in levels[level + 1 :]:
        offsets = api.gather(inner, offsets)
    before, worth = (api.reshape(o.x(slot), [-1, 1]) for slot in ("pre_ids", "pre_scores"))
    column = api.unsqueeze(api.arange(scores.shape[1], dtype="int64"), 0)
    ended = before.astype("int64") == end
    total = scores if o.flag("is_accumulated", True) else worth + api.log(scores)
    word = column + api.zeros(scores.shape, "int64") if ids is None else api.reshape(ids.astype("int64"), scores.shape)
    row = api.unsqueeze(api.arange(scores.shape[0], dtype="int64"), 1) + api.zeros(scores.shape, "int64")
    total, word = api.where(ended, worth, total), api.where(ended, api.full([], end, "int64"), word)
    counts, goes_on = api.logical_or(api.logical_not(ended), column == 0), api.logical_not(ended) & (column >= 0)
    # Of one score the last row comes first, and the first column.
    total, word, row, counts, goes_on = (api.reshape(api.flip(x, [0]), [-1]) for x in (total, word, row, counts, goes_on))
    sources = sequences.Rows(offsets, scores.shape[0])
    source = api.gather(sources.sequence, row)
    order = api.argsort(total, descending=True)
    order = api.gather(order, api.argsort(api.gather(counts, order).astype("int64"), descending=True))
    order = api.gather(order, api.argsort(api.gather(source, order)))
    total, word, row, counts, goes_on, source = (api.gather(x, order) for x in (total, word, row, counts, goes_on, source))
    rank = api.arange(source.shape[0], dtype="int64") - api.gather(sources.starts, source) * sequences.size(scores, 1)
    best = counts & (rank < most)
    alive = api.scatter_nd_add(api.zeros([sources.n], "int64"), api.unsqueeze(source, 1), (best & goes_on).astype("int64")) > 0
    found = api.reshape(api.nonzero(best & api.gather(alive, source)), [-1])
    found = api.gather(found, api.argsort(api.gather(row, found)))
    row = api.gather(row, found)
    many = api.scatter_nd_add(api.zeros([scores.shape[0]], "int64"), api.unsqueeze(row, 1), api.ones_like(row))
    ends = api.concat([api.zeros([1], "int64"), api.cumsum(many)])
    made = [with_offsets(api.unsqueeze(api.gather(x, found), 1), [offsets, ends]) for x in (word, total)]
    return {"selected_ids": made[0], "selected_scores": made[1], "parent_idx": row.astype("int32")}
