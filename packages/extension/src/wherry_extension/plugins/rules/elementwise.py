"""Element-wise ops."""
from wherry_extension.plugins.column import serves
from wherry_tensor import ops

# One input, no attributes: our name, and that of the kernel where it is another.
_UNARY = """abs acos acosh asin asinh atan atanh bitwise_not ceil conj cos cosh digamma erf erfinv exp expm1 floor imag
    isfinite isinf isnan lgamma log log10 log1p log2 logical_not real reciprocal round rsqrt sign sin sinh sqrt square tan tanh trunc angle"""

# Two inputs, which broadcast.
_BINARY = """add subtract multiply divide maximum minimum fmax fmin floor_divide remainder atan2 power=elementwise_pow
    logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor heaviside"""

_COMPARISONS = "equal not_equal less_than less_equal greater_than greater_equal"


def _named(text):
    for word in text.split():
        name, _, kernel = word.partition("=")
        yield getattr(ops, name), kernel or name


def _unary(op, kernel):
    @serves(op, kernel)
    def rule(w, out, x):
        w.call(kernel, x, out)


def _binary(op, kernel):
    @serves(op, kernel)
    def rule(w, out, x, y):
        w.call(kernel, w.expanded(x, out.shape), w.expanded(y, out.shape), out)


def _comparison(op, kernel):
    @serves(op, kernel)
    def rule(w, out, x, y):
        x, y = w.expanded(x, out.shape), w.expanded(y, out.shape)
        w.call(kernel, x, y, out, or_args=[(x, y, -1, out)])


for _op, _kernel in _named(_UNARY):
    _unary(_op, _kernel)
for _op, _kernel in _named(_BINARY):
    _binary(_op, _kernel)
for _op, _kernel in _named(_COMPARISONS):
    _comparison(_op, _kernel)


@serves(ops.negative, "scale")
def plugin_negative(w, out, x):
    w.call("scale", x, -1.0, 0.0, True, out)


@serves(ops.cast, "cast")
def plugin_cast(w, out, x, *, dtype):
    w.call("cast", x, dtype, out)


@serves(ops.where, "where", first=False)
def plugin_where(w, out, condition, x, y):
    condition, x, y = (w.expanded(each, out.shape) for each in (condition, x, y))
    w.call("where", condition, x, y, out, dtype=x.dtype)


@serves(ops.lerp, "lerp")
def plugin_lerp(w, out, x, y, weight):
    w.call("lerp", *(w.expanded(each, out.shape) for each in (x, y, weight)), out)
