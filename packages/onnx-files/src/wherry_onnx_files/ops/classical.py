"""Operators of `ai.onnx.ml`: what scikit-learn's estimators become."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.ops.elementwise import scalar
from wherry_onnx_files.ops.indexing import index_of
from wherry_tensor import _core, ops
from wherry_tensor._core import from_buffer

ML = "ai.onnx.ml"
_MOST_NODES = 1 << 22


def _table(values, like):
    """Numbers as a constant in the dtype of `like`."""
    return ops.cast(from_buffer(np.ascontiguousarray(values, np.float64)), dtype=like.dtype)


def _floating(x):
    return x if x.dtype.is_floating else ops.cast(x, dtype=_core.float32)


@reads("Scaler", domain=ML)
def read_scaler(o):
    x = _floating(o.x(0))
    return ops.multiply(ops.subtract(x, _table(o.floats_of("offset") or [0.0], x)), _table(o.floats_of("scale") or [1.0], x))


@reads("Normalizer", domain=ML)
def read_normalizer(o):
    x, norm = _floating(o.x(0)), o.text("norm", "MAX")
    axes = (x.ndim - 1,)
    if norm == "MAX":
        size = ops.reduce_max(x, axes=axes, keepdim=True)
    elif norm == "L1":
        size = ops.reduce_sum(ops.abs(x), axes=axes, keepdim=True)
    elif norm == "L2":
        size = ops.sqrt(ops.reduce_sum(ops.multiply(x, x), axes=axes, keepdim=True))
    else:
        raise o.bad(f"its norm is {norm!r}", "MAX, L1 or L2")
    return ops.divide(x, ops.where(ops.equal(size, scalar(x, 0)), scalar(x, 1), size))


@reads("Imputer", domain=ML)
def read_imputer(o):
    x = o.x(0)
    if x.dtype.is_floating:
        values, missing = o.floats_of("imputed_value_floats"), o.number("replaced_value_float")
    else:
        values, missing = o.ints_of("imputed_value_int64s"), o.integer("replaced_value_int64")
    gone = ops.isnan(x) if missing != missing else ops.equal(x, scalar(x, missing))
    return ops.where(gone, _table(values or [0], x), x)


# Linear models.


def _transformed(o, scores):
    """Scores after `post_transform`."""
    how = o.text("post_transform", "NONE")
    if how == "NONE":
        return scores
    if how == "SOFTMAX":
        return ops.softmax(scores, axis=1)
    if how == "LOGISTIC":
        return ops.sigmoid(scores)
    raise o.unsupported(f"post_transform {how!r}", "NONE, SOFTMAX or LOGISTIC")


def _matrix(o, rows, width):
    flat = np.asarray(o.floats_of("coefficients") or [], np.float64)
    if rows < 1 or flat.size % rows or (width is not None and flat.size != rows * width):
        raise o.bad(f"it has {flat.size} coefficients for {rows} rows", "a whole number for each row")
    return flat.reshape(rows, -1)


def _linear(o, rows):
    x = _floating(o.x(0))
    weight = _table(_matrix(o, rows, None), x)
    out = ops.matmul(x, weight, transpose_x=False, transpose_y=True)
    return ops.add(out, _table(o.floats_of("intercepts") or [0.0], x))


@reads("LinearRegressor", domain=ML)
def read_linear_regressor(o):
    return _transformed(o, _linear(o, o.integer("targets", 1)))


def _labels(o):
    """The classes, which are numbers."""
    found = o.ints_of("classlabels_ints") or o.ints_of("classlabels_int64s")
    if not found:
        raise o.unsupported("classes with names", "classes that are numbers")
    return found


@reads("LinearClassifier", domain=ML)
def read_linear_classifier(o):
    labels = _labels(o)
    rows = len(o.floats_of("intercepts") or labels)
    scores = _linear(o, rows)
    if rows == 1 and len(labels) == 2:
        plain = o.text("post_transform", "NONE") == "NONE"
        both = ops.concat(ops.negative(scores) if plain else ops.subtract(scalar(scores, 0), scores), scores, axis=1)
        return _chosen(both, labels), _transformed(o, both)
    return _chosen(scores, labels), _transformed(o, scores)


def _chosen(scores, labels):
    return ops.gather(index_of(labels), ops.argmax(scores, axis=1, keepdim=False), axis=0)


# Support vectors.


@reads("SVMRegressor", domain=ML)
def read_svm_regressor(o):
    x, kind = _floating(o.x(0)), o.text("kernel_type", "LINEAR")
    count = o.integer("n_supports")
    gamma, coefficient, degree = (o.floats_of("kernel_params") or [0.0, 0.0, 3.0])[:3]
    weights = np.asarray(o.floats_of("coefficients") or [], np.float64)
    if not count:  # a linear one may hold its weights alone
        out = ops.matmul(x, _table(weights.reshape(-1, 1), x), transpose_x=False, transpose_y=False)
    else:
        supports = np.asarray(o.floats_of("support_vectors") or [], np.float64).reshape(count, -1)
        products = ops.matmul(x, _table(supports, x), transpose_x=False, transpose_y=True)
        if kind == "RBF":
            own = ops.reduce_sum(ops.multiply(x, x), axes=(1,), keepdim=True)
            distance = ops.subtract(ops.add(own, _table((supports**2).sum(1), x)), ops.multiply(products, scalar(x, 2)))
            kernel = ops.exp(ops.multiply(distance, scalar(x, -gamma)))
        elif kind in ("POLY", "SIGMOID"):
            inner = ops.add(ops.multiply(products, scalar(x, gamma)), scalar(x, coefficient))
            kernel = ops.tanh(inner) if kind == "SIGMOID" else ops.power(inner, scalar(x, degree))
        elif kind == "LINEAR":
            kernel = products
        else:
            raise o.bad(f"its kernel is {kind!r}", "LINEAR, POLY, RBF or SIGMOID")
        out = ops.matmul(kernel, _table(weights.reshape(-1, 1), x), transpose_x=False, transpose_y=False)
    out = ops.add(out, _table(o.floats_of("rho") or [0.0], x))
    return ops.sign(out) if o.flag("one_class") else out


# Trees. All trees go down at once: a place for each example and tree, which moves as often as the deepest tree is deep.


class _Trees:
    def __init__(self, o, prefix, columns):
        node_ids, tree_ids = o.ints_of("nodes_nodeids", []), o.ints_of("nodes_treeids", [])
        modes = o.texts("nodes_modes")
        self.count = len(node_ids)
        parts = {name: o.ints_of(f"nodes_{name}", []) for name in ("featureids", "truenodeids", "falsenodeids")}
        values = o.floats_of("nodes_values") or []
        if not 0 < self.count <= _MOST_NODES or any(len(p) != self.count for p in (tree_ids, modes, values, *parts.values())):
            raise o.bad(f"its trees have {self.count} nodes with lists of other lengths", "lists of one length")
        where = {(t, n): i for i, (t, n) in enumerate(zip(tree_ids, node_ids))}
        self.leaf = np.array([mode == "LEAF" for mode in modes])
        kinds = {mode for mode in modes if mode != "LEAF"} or {"BRANCH_LEQ"}
        if len(kinds) != 1 or not kinds <= {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"}:
            raise o.unsupported(f"trees with the comparisons {sorted(kinds)}", "one comparison for all nodes")
        self.kind = kinds.pop()
        own = np.arange(self.count)

        def places(name):
            return np.array([i if leaf else where[t, n] for i, leaf, t, n in zip(own, self.leaf, tree_ids, parts[name])], np.int64)

        self.yes, self.no = places("truenodeids"), places("falsenodeids")
        self.feature = np.where(self.leaf, 0, np.asarray(parts["featureids"], np.int64))
        self.value = np.asarray(values, np.float64)
        self.missing = np.asarray(o.ints_of("nodes_missing_value_tracks_true", [0] * self.count) or [0] * self.count, bool)
        children = {*self.yes[~self.leaf].tolist(), *self.no[~self.leaf].tolist()}
        self.roots = np.array([i for i in own if i not in children], np.int64)
        self.weights = np.zeros((self.count, columns))
        ends = [o.ints_of(f"{prefix}_{name}", []) for name in ("treeids", "nodeids", "ids")]
        for t, n, column, w in zip(*ends, o.floats_of(f"{prefix}_weights") or []):
            self.weights[where[t, n], column] += w
        self.depth = self._depth(o)

    def _depth(self, o):
        level, depth = self.roots, 0
        while not self.leaf[level].all():
            level = np.unique(np.concatenate([self.yes[level], self.no[level]]))
            depth += 1
            if depth > min(self.count, 4096):
                raise o.bad("the nodes of a tree lead to each other", "leaves at its ends")
        return depth

    def leaves(self, x):
        """What each tree says of each example, [N, trees, columns]."""
        place = ops.broadcast_to(index_of(self.roots[None]), shape=(x.shape[0], len(self.roots)))
        feature, yes, no = index_of(self.feature), index_of(self.yes), index_of(self.no)
        value, missing = _table(self.value, x), from_buffer(self.missing)
        compare = {
            "BRANCH_LEQ": ops.less_equal, "BRANCH_LT": ops.less_than, "BRANCH_GTE": ops.greater_equal, "BRANCH_GT": ops.greater_than,
            "BRANCH_EQ": ops.equal, "BRANCH_NEQ": ops.not_equal,
        }[self.kind]  # fmt: skip
        for _ in range(self.depth):
            here = ops.take_along_axis(x, ops.gather(feature, place, axis=0), axis=1)
            goes = compare(here, ops.gather(value, place, axis=0))
            if self.missing.any():
                goes = ops.logical_or(goes, ops.logical_and(ops.isnan(here), ops.gather(missing, place, axis=0)))
            place = ops.where(goes, ops.gather(yes, place, axis=0), ops.gather(no, place, axis=0))
        return ops.gather(_table(self.weights, x), place, axis=0)


@reads("TreeEnsembleRegressor", domain=ML)
def read_tree_ensemble_regressor(o):
    x, columns = _floating(o.x(0)), o.integer("n_targets", 1)
    trees = _Trees(o, "target", columns)
    how = o.text("aggregate_function", "SUM")
    if how not in ("SUM", "AVERAGE", "MIN", "MAX"):
        raise o.bad(f"its aggregate_function is {how!r}", "SUM, AVERAGE, MIN or MAX")
    reduce = {"SUM": ops.reduce_sum, "AVERAGE": ops.reduce_mean, "MIN": ops.reduce_min, "MAX": ops.reduce_max}[how]
    out = reduce(trees.leaves(x), axes=(1,), keepdim=False)
    return _transformed(o, ops.add(out, _table(o.floats_of("base_values") or [0.0], x)))


@reads("TreeEnsembleClassifier", domain=ML)
def read_tree_ensemble_classifier(o):
    x, labels = _floating(o.x(0)), _labels(o)
    columns = set(o.ints_of("class_ids", []))
    trees = _Trees(o, "class", len(labels))
    scores = ops.reduce_sum(trees.leaves(x), axes=(1,), keepdim=False)
    base = o.floats_of("base_values")
    if len(labels) == 2 and len(columns) == 1:  # one score, that of the second class
        score = ops.slice(scores, axes=(1,), starts=(min(columns),), ends=(min(columns) + 1,), steps=(1,))
        score = ops.add(score, scalar(score, base[-1])) if base else score
        shares = o.text("post_transform", "NONE") == "NONE" and (trees.weights >= 0).all()
        both = ops.concat(ops.subtract(scalar(score, 1), score) if shares else ops.negative(score), score, axis=1)
        return _chosen(both, labels), _transformed(o, both)
    scores = ops.add(scores, _table(base, x)) if base else scores
    return _chosen(scores, labels), _transformed(o, scores)


# Categories.

_MOST_CATEGORIES = 1 << 16


def _known(o, x, keys):
    """Whether each element is each of some keys: one more axis."""
    if not len(keys) or len(keys) > _MOST_CATEGORIES:
        raise o.bad(f"it has {len(keys)} categories", f"1 to {_MOST_CATEGORIES}")
    # Whole numbers and float32 are exact in float64.
    wide = ops.reshape(ops.cast(x, dtype=_core.float64), shape=(*(-1 if n < 0 else n for n in x.shape), 1))
    return ops.equal(wide, from_buffer(np.asarray(keys, np.float64)))


@reads("OneHotEncoder", domain=ML)
def read_one_hot_encoder(o):
    keys = o.ints_of("cats_int64s")
    if keys is None:
        raise o.unsupported("categories that are strings", "whole numbers: encode the strings before")
    # With zeros=0 other values are errors in ONNX Runtime; a program has none, and gives zeros.
    return ops.cast(_known(o, o.x(0), keys), dtype=_core.float32)


# Of each side of the table: attributes before opset 4 and from then on, with the dtype of what they give.
_SIDES = {"int64s": _core.int64, "floats": _core.float32}


def _side(o, side):
    for kind, dtype in _SIDES.items():
        found = (o.ints_of if kind == "int64s" else o.floats_of)(f"{side}_{kind}")
        if found is not None:
            return kind, dtype, found
    raise o.unsupported(f"{side} that are strings, or a tensor", "whole numbers or floats")


@reads("LabelEncoder", domain=ML)
def read_label_encoder(o):
    _, _, keys = _side(o, "keys")
    kind, dtype, values = _side(o, "values")
    if len(keys) != len(values):
        raise o.bad(f"it has {len(keys)} keys and {len(values)} values", "as many of each")
    default = o.integer("default_int64", -1) if kind == "int64s" else o.number("default_float", -0.0)
    hit = _known(o, o.x(0), keys)
    axis = hit.ndim - 1
    place = ops.argmax(ops.cast(hit, dtype=_core.float32), axis=axis, keepdim=False)
    table = from_buffer(np.asarray(values, np.int64 if kind == "int64s" else np.float32))
    found = ops.gather(table, place, axis=0)
    return ops.where(ops.reduce_any(hit, axes=(axis,), keepdim=False), found, ops.full(shape=(), value=default, dtype=dtype))
