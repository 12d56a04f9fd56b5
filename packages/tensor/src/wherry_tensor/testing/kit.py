"""The checks: each takes a Spec and raises AssertionError with every call that went wrong.

Nothing here knows an op by name or needs pytest, so the kit also runs where pytest does not.

What is compared, with what:

- kernels with the NumPy reference, for each dtype, and for strided, reversed, misaligned and
  broadcast inputs, and for bool inputs whose true is any byte but 0;
- the shape rule with the real result, for sizes known and unknown;
- the decomposition with the kernel, for each dtype, down to the ops that a device must have, and
  recorded with unknown sizes;
- gradients, and gradients of gradients, with central differences in float64;
- results with one thread and with several, bit for bit;
- on another device, results with those of the cpu;
- results written over their own inputs with results written into fresh memory;
- bad calls with the error they must raise.
"""
from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wherry_tensor
from wherry_tensor import Tensor, _core, columns, ops
from wherry_tensor.ops.declare import Meta, decompose, family_of, infer
from wherry_tensor.testing import samples
from wherry_tensor.testing.capture import Program
from wherry_tensor.testing.specs import Case, Spec, specs

__all__ = ["applies", "check_all", "checks", "specs"]

assert samples  # importing it registers the specs

# (relative, absolute). float32 allows for sums over a few hundred values in another order; the half
# types are one rounding of a float32 result, which kernels are held to more closely (`_rounded_once`);
# float64 leaves room for 2 ulp in chains of functions.
_TOLERANCE = {
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "float32": (1e-5, 1e-6),
    "float64": (1e-10, 1e-11),
    "complex64": (2e-5, 2e-6),
    "complex128": (1e-10, 1e-11),
}
_LARGE = 20_000  # elements; beyond it the tests of layout would only repeat themselves slowly
_STEP = 6e-6  # near the cube root of float64's epsilon, where rounding and truncation errors meet
_SENTINEL = 77


class _Failures:
    """Collects what went wrong in a check, so that one run shows all of it."""

    def __init__(self, spec: Spec) -> None:
        self.op = spec.op
        self.places: dict[str, list[str]] = {}  # text to where it was said
        self.checked = 0

    def add(self, where: str, text: str) -> None:
        self.places.setdefault(text, []).append(where)

    def guard(self, where: str, action: Callable[[], None]) -> None:
        """Run an action, counting what it raises among the failures."""
        self.checked += 1
        try:
            action()
        except AssertionError as error:
            self.add(where, str(error))
        except Exception as error:  # a check must report on every case, whatever one of them raises
            self.add(where, f"{type(error).__name__}: {error}")

    def report(self) -> None:
        if self.places:
            count = sum(map(len, self.places.values()))
            shown = [
                f"{where[0]}{f' and {len(where) - 1} other calls' if len(where) > 1 else ''}: {text}"
                for text, where in list(self.places.items())[:6]
            ]
            more = len(self.places) - len(shown)
            tail = [f"... and {more} other messages"] if more else []
            raise AssertionError(f"{self.op.name}: {count} failures\n  " + "\n  ".join(shown + tail))


# ---------------------------------------------------------------------------------------------------
# From NumPy to tensors and back


def dtype_of(name: str) -> Any:
    """The DType of this name."""
    return getattr(_core, "bool_" if name == "bool" else name)


def _numpy_dtype(name: str) -> np.dtype:
    # NumPy has no bfloat16; float32 holds each of its values.
    return np.dtype("float32" if name == "bfloat16" else name)


def tensor_of(array: np.ndarray, dtype: str | None = None) -> Tensor:
    """A contiguous tensor with the values of an array."""
    name = dtype or array.dtype.name
    x = wherry_tensor.to_tensor(np.ascontiguousarray(array, _numpy_dtype(name)).reshape(array.shape))
    return ops.cast(x, dtype=_core.bfloat16) if name == "bfloat16" else x


def array_of(x: Tensor) -> np.ndarray:
    """The values of a tensor; bfloat16 comes back as float32."""
    if x.dtype == _core.bfloat16:
        x = ops.cast(x, dtype=_core.float32)
    return np.asarray(x.numpy())


def _results(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _run(op: Any, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Tensor, ...]:
    wherry_tensor.seed(7)  # an op that draws gives the same numbers each time it is compared
    return _completed(_results(op(*inputs, **attrs)))


def _completed(result: Any) -> Any:
    """The result, once the device has computed it: its errors belong to this call."""
    wherry_tensor.device.synchronize()
    return result


# ---------------------------------------------------------------------------------------------------
# Casting the inputs of a case


class _Typed:
    """A case whose inputs have been rounded to a dtype."""

    def __init__(self, case: Case, dtype: str, arrays: list[Any], dtypes: list[str | None]) -> None:
        self.case = case
        self.dtype = dtype
        self.arrays = arrays  # in NumPy's dtypes, values representable in the tested one
        self.dtypes = dtypes
        self.expected: tuple[Any, ...] | None = None  # what the op should give, once somebody has asked

    def tensors(self) -> list[Any]:
        return [None if x is None else tensor_of(x, d) for x, d in zip(self.arrays, self.dtypes)]

    def with_arrays(self, arrays: list[Any]) -> _Typed:
        return _Typed(self.case, self.dtype, arrays, self.dtypes)

    def __repr__(self) -> str:
        return f"{self.dtype} {self.case!r}"


def _castable(spec: Spec, case: Case) -> tuple[int, ...]:
    if spec.cast is not None:
        return spec.cast
    for kinds in "fc", "iu", "b":
        found = tuple(i for i, x in enumerate(case.inputs) if x is not None and x.dtype.kind in kinds)
        if found:
            return found
    return ()


def _typed(spec: Spec, case: Case, dtype: str) -> _Typed | None:
    """The case in this dtype; None when its values do not fit."""
    if case.dtypes is not None and dtype not in case.dtypes:
        return None
    target = _numpy_dtype(dtype)
    arrays: list[Any] = list(case.inputs)
    dtypes: list[str | None] = [None if x is None else x.dtype.name for x in arrays]
    positions = _castable(spec, case)
    mixed = any(arrays[i].dtype.kind == "c" for i in positions if i < len(arrays) and arrays[i] is not None)
    for i in positions:
        x = arrays[i] if i < len(arrays) else None
        if x is None:
            continue
        name = dtype
        if x.dtype.kind == "c" and target.kind != "c":
            return None  # a complex case says nothing about real dtypes
        if mixed and x.dtype.kind == "f" and target.kind == "c":
            name = "float32" if dtype == "complex64" else "float64"  # real inputs beside complex ones stay real
        rounded = _round_to(x, name)
        if rounded is None:
            return None
        arrays[i], dtypes[i] = rounded, name
    return _Typed(case, dtype, arrays, dtypes)


def _round_to(x: np.ndarray, name: str) -> np.ndarray | None:
    target = _numpy_dtype(name)
    if target.kind == "b":
        return x.astype(bool)
    if target.kind in "iu" and x.size:
        limits = np.iinfo(target)
        values = x.astype(np.int64) if x.dtype.kind == "b" else x
        if not np.isfinite(values).all() or values.min() < limits.min or values.max() > limits.max:
            return None
        return values.astype(target)
    with np.errstate(all="ignore"):
        y = x.astype(target)
        if target.kind in "fc" and not (np.isfinite(y) == np.isfinite(x)).all():
            return None  # overflows where the sample did not mean to
    if name == "bfloat16":
        y = _round_to_bfloat16(y)
    return y


def _round_to_bfloat16(x: np.ndarray) -> np.ndarray:
    bits = x.astype(np.float32).view(np.uint32)
    # Half to even: adding 0x7fff plus the last kept bit carries exactly when it must.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, rounded.view(np.float32)).astype(np.float32).reshape(x.shape)


def typed_cases(spec: Spec, dtypes: tuple[str, ...] | None = None) -> Iterator[_Typed]:
    """The valid calls of an op, each in each dtype that its values fit (None: all of the spec); for tests of other columns."""
    for dtype in dtypes or spec.dtypes:
        for case in spec.cases():
            typed = _typed(spec, case, dtype)
            if typed is not None:
                yield typed


def _primary(spec: Spec) -> tuple[str, ...]:
    """The dtype with the fastest kernels, which are the ones that layout can break."""
    return ("float32",) if "float32" in spec.dtypes else spec.dtypes[:1]


# ---------------------------------------------------------------------------------------------------
# Comparing


def _expected(spec: Spec, typed: _Typed) -> tuple[Any, ...] | None:
    """What the op should give, in double precision; None when there is nothing to say. Computed once for a call in one dtype."""
    if typed.expected is None:
        typed.expected = _defined(spec, typed)
    return typed.expected


def _defined(spec: Spec, typed: _Typed) -> tuple[Any, ...] | None:
    wide = [None if x is None else _widen(x) for x in typed.arrays]
    if spec.reference is not None:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of the very edges that samples look for
            return _results(spec.reference(*wide, **typed.case.attrs))
    rule = decompose.get(spec.op)
    if rule is None:
        return None
    wherry_tensor.seed(7)
    tensors = [None if x is None else tensor_of(x) for x in wide]
    return tuple(array_of(y) for y in _results(rule(*tensors, **typed.case.attrs)))


def _widen(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return x.astype(np.float64)
    return x.astype(np.complex128) if x.dtype.kind == "c" else x


def _compare(got: Tensor, expected: Any, tolerance: dict[str, tuple[float, float]], dtype: str) -> None:
    expected = np.asarray(expected)
    actual = array_of(got)
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {list(actual.shape)}, expected {list(expected.shape)}")
    name = got.dtype.name
    with np.errstate(all="ignore"):
        expected = expected.astype(actual.dtype)
    if name not in _TOLERANCE:
        bad = actual != expected
        relative = absolute = 0.0
    else:
        # A result that is wider than its inputs (float32 statistics of half values) is compared as
        # an exact one: the reference saw the same rounded inputs.
        relative, absolute = tolerance.get(dtype, tolerance.get(name, _TOLERANCE[name]))
        with np.errstate(all="ignore"):
            bad = ~((np.abs(actual - expected) <= absolute + relative * np.abs(expected)) & np.isfinite(expected))
            if bad.any():  # or is not finite, which takes several times as long to compare
                bad = ~np.isclose(actual, expected, rtol=relative, atol=absolute, equal_nan=True)
                if actual.dtype.kind == "c":  # beside an infinite part the other one would have to be equal
                    bad &= ~(np.isclose(actual.real, expected.real, rtol=relative, atol=absolute, equal_nan=True)
                             & np.isclose(actual.imag, expected.imag, rtol=relative, atol=absolute, equal_nan=True))
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{int(bad.sum())} of {bad.size} values differ; at {list(at)} got {actual[at]!r}, expected "
            f"{expected[at]!r} (relative tolerance {relative:g}, absolute {absolute:g})"
        )


_HALVES = {"float16": (10, -24), "bfloat16": (7, -133)}  # digits after the first one; the exponent of the least number


def _rounded_once(got: Tensor, expected: Any) -> None:
    """A kernel of a half type computes in float32 and rounds what it has computed, once: a sum that is kept in 16 bits shows as a result that
    was rounded the other way, which the tolerance of a whole unit would let through."""
    digits, least = _HALVES[got.dtype.name]
    actual, exact = array_of(got).astype(np.float64), np.asarray(expected, np.float64)
    relative, absolute = (4 * one for one in _TOLERANCE["float32"])  # little beside half a unit
    with np.errstate(all="ignore"):
        unit = np.exp2(np.maximum(np.floor(np.log2(np.abs(exact))) - digits, least))
        far = np.isfinite(exact) & np.isfinite(actual) & (np.abs(actual - exact) > unit / 2 + relative * np.abs(exact) + absolute)
    if far.any():
        at = tuple(int(i) for i in np.argwhere(far)[0])
        raise AssertionError(
            f"{int(far.sum())} of {far.size} values are not the exact ones rounded once to {got.dtype.name}; at {list(at)} got {actual[at]!r}, "
            f"expected {exact[at]!r}. Compute in float32 and round the result, or give the spec a tolerance of its own"
        )


def _compare_all(got: tuple[Tensor, ...], expected: tuple[Any, ...], spec: Spec, dtype: str, by_kernel: bool = False) -> None:
    if len(got) != len(expected):
        raise AssertionError(f"{len(got)} results, expected {len(expected)}")
    for index, (one, wanted) in enumerate(zip(got, expected)):
        try:
            _compare(one, wanted, spec.tolerance, dtype)
            if by_kernel and one.dtype.name in _HALVES and not {one.dtype.name, dtype} & spec.tolerance.keys():
                _rounded_once(one, wanted)
        except AssertionError as error:
            name = spec.op.outputs[index] if len(got) == len(spec.op.outputs) else f"value {index}"
            raise AssertionError(f"{name}: {error}" if len(got) > 1 else str(error)) from None


def _same_bits(got: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> None:
    for one, other in zip(got, expected):
        a, b = array_of(one), array_of(other)
        if a.shape != b.shape or a.tobytes() != b.tobytes():
            differ = "shapes differ" if a.shape != b.shape else f"{int((a != b).sum())} values differ"
            raise AssertionError(f"{differ}; expected the same bits")


# ---------------------------------------------------------------------------------------------------
# Checks


def check_kernel(spec: Spec) -> None:
    """Kernels agree with the reference, for each dtype."""
    failures = _Failures(spec)
    for dtype in spec.dtypes:
        before = failures.checked
        for typed in typed_cases(spec, (dtype,)):
            failures.guard(repr(typed), lambda t=typed: _check_against_reference(spec, t, t.tensors()))
        if failures.checked == before:
            failures.add(dtype, "no sample fits this dtype; add one, or leave the dtype out of the spec")
    for typed in _shape_variants(spec):
        where = f"{typed!r} with inputs {[None if x is None else list(x.shape) for x in typed.arrays]}"
        failures.guard(where, lambda t=typed: _check_against_reference(spec, t, t.tensors()))
    failures.report()


def _check_against_reference(spec: Spec, typed: _Typed, tensors: list[Any]) -> None:
    got = _run(spec.observed, tensors, typed.case.attrs)
    expected = _expected(spec, typed)
    if expected is not None:
        device = wherry_tensor.get_device().partition(":")[0]
        _compare_all(got, expected, spec, typed.dtype, by_kernel=typed.dtype in spec.op.kernel_dtypes(device))


_SHAPELESS = ("elementwise", "activation")  # families whose ops accept any shapes that broadcast


def _shape_variants(spec: Spec) -> Iterator[_Typed]:
    """0-d, zero-size and broadcast inputs, for the families where they can be made from any sample."""
    if family_of(spec.op) not in _SHAPELESS:
        return
    typed = next((t for t in typed_cases(spec, _primary(spec)) if all(x is None or x.size for x in t.arrays)), None)
    if typed is None:
        return
    flat = [None if x is None else x.reshape(-1) for x in typed.arrays]
    yield typed.with_arrays([None if x is None else x[0].reshape(()) for x in flat])
    yield typed.with_arrays([None if x is None else np.resize(x, (2, 0, 3)) for x in flat])
    if sum(x is not None for x in flat) > 1:
        # The last two are more than two blocks of a GPU take in one round: rows of packs, and single elements.
        for first, others in [((3, 1, 5), (4, 1)), ((4, 1), (3, 1, 5)), ((2, 3), ()), ((), (70,)), ((160, 16), (16,)), ((110, 5), (110, 1))]:
            yield typed.with_arrays([
                None if x is None else np.resize(x, others if i else first) for i, x in enumerate(flat)
            ])


def check_layout(spec: Spec) -> None:
    """Strided, reversed, misaligned and broadcast inputs give what contiguous ones give, and so do bools of any byte."""
    failures = _Failures(spec)
    for typed in typed_cases(spec, tuple(dict.fromkeys((*_primary(spec), *(d for d in spec.dtypes if d == "bool"))))):
        if sum(x.size for x in typed.arrays if x is not None) > _LARGE:
            continue
        for name, layout in _LAYOUTS.items():
            tensors, arrays, changed = [], [], False
            for x, dtype in zip(typed.arrays, typed.dtypes):
                laid = None if x is None or not x.size else layout(x, dtype)
                changed |= laid is not None
                tensors.append((None if x is None else tensor_of(x, dtype)) if laid is None else laid[0])
                arrays.append(x if laid is None else laid[1])
            if changed:
                same = all(one is other for one, other in zip(arrays, typed.arrays))  # all but those that repeat a row
                laid_out = typed if same else typed.with_arrays(arrays)
                failures.guard(
                    f"{typed!r} {name}", lambda t=laid_out, x=tensors: _check_against_reference(spec, t, x)
                )
    failures.report()


def _transposed(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    if x.ndim < 2:
        return None
    perm = tuple(reversed(range(x.ndim)))
    return ops.transpose(tensor_of(x.transpose(perm), dtype), perm=perm), x


def _stepped(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    if x.ndim < 1:
        return None
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), _SENTINEL, x.dtype)
    wide[..., ::2] = x
    return _sliced(tensor_of(wide, dtype), x.ndim - 1, 0, wide.shape[-1], 2), x


def _reversed(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    if x.ndim < 1:
        return None
    view = tensor_of(np.flip(x), dtype)
    for axis, n in enumerate(x.shape):
        view = _sliced(view, axis, n - 1, -n - 1, -1)
    return view, x


def _misaligned(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    buffer = np.concatenate([np.full(1, _SENTINEL, x.dtype), x.reshape(-1)])
    view = _sliced(tensor_of(buffer, dtype), 0, 1, buffer.size, 1)
    return ops.reshape(view, shape=x.shape), x


def _broadcast(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    # Only values that are computed with: an index or a mask repeated may be a different question.
    if x.ndim < 1 or x.dtype.kind not in "fc" or x.shape[0] < 2:
        return None
    row = x[:1]
    return ops.broadcast_to(tensor_of(row, dtype), shape=x.shape), np.broadcast_to(row, x.shape)


def _foreign(x: np.ndarray, dtype: str) -> tuple[Tensor, np.ndarray] | None:
    """Bools as other libraries may hand them over: any byte but 0 is true."""
    if dtype != "bool":
        return None
    bytes_ = x.reshape(-1) * np.resize(np.array([255, 2, 1, 128, 3], np.uint8), x.size)
    return _core.reinterpreted(tensor_of(bytes_.reshape(x.shape)), _core.bool_), x


def _sliced(x: Tensor, axis: int, start: int, stop: int, step: int) -> Tensor:
    return ops.slice(x, axes=(axis,), starts=(start,), ends=(stop,), steps=(step,))


_LAYOUTS = {
    "transposed": _transposed,
    "stepped": _stepped,
    "reversed": _reversed,
    "misaligned": _misaligned,
    "broadcast": _broadcast,
    "of foreign bytes": _foreign,
}


def check_infer(spec: Spec) -> None:
    """The shape rule says what really comes out, for known and for unknown sizes."""
    failures = _Failures(spec)
    rule = infer.get(spec.op)
    if rule is None:
        raise AssertionError(f"{spec.op.name}: no shape rule; add infer_{spec.op.name} beside its declaration")
    for typed in typed_cases(spec, (*_primary(spec), *(d for d in spec.dtypes[:1] if d not in _primary(spec)))):
        failures.guard(repr(typed), lambda t=typed: _check_infer(spec, rule, t))
    failures.report()


def _check_infer(spec: Spec, rule: Callable[..., Any], typed: _Typed) -> None:
    tensors = typed.tensors()
    real = _run(spec.op, tensors, typed.case.attrs)
    metas = [None if x is None else Meta(tuple(x.shape), x.dtype) for x in tensors]
    _same_metas(_results(rule(*metas, **typed.case.attrs)), real, "sizes known")
    for unknown in _with_unknown_sizes(metas):
        try:
            inferred = _results(rule(*unknown, **typed.case.attrs))
        except ValueError as error:
            if "known size" in str(error):
                continue  # where the rank of the result depends on a size, the rule may ask for it
            raise
        _same_metas(inferred, real, f"from {unknown}")


def _with_unknown_sizes(metas: list[Meta | None]) -> Iterator[list[Meta | None]]:
    yield [None if m is None else Meta((-1,) * m.rank, m.dtype) for m in metas]
    for i, meta in enumerate(metas):
        for axis in range(meta.rank if meta else 0):
            shape = tuple(-1 if a == axis else n for a, n in enumerate(meta.shape))  # type: ignore[union-attr]
            yield [*metas[:i], Meta(shape, meta.dtype), *metas[i + 1:]]  # type: ignore[union-attr]


def _same_metas(inferred: tuple[Meta, ...], real: tuple[Tensor, ...], where: str) -> None:
    if len(inferred) != len(real):
        raise AssertionError(f"{where}: {len(inferred)} metas for {len(real)} results")
    for meta, x in zip(inferred, real):
        shape = tuple(x.shape)
        fits = len(meta.shape) == len(shape) and all(n in (-1, m) for n, m in zip(meta.shape, shape))
        if not fits or meta.dtype != x.dtype:
            raise AssertionError(f"{where}: inferred {meta}, really {Meta(shape, x.dtype)}")


def check_decomposition(spec: Spec) -> None:
    """The decomposition computes what the op does, for each dtype, out of nothing but ops that have none."""
    failures = _Failures(spec)
    for typed in [*typed_cases(spec), *_shape_variants(spec)]:
        failures.guard(repr(typed), lambda t=typed: _check_decomposition(spec, t))
    failures.report()


def _check_decomposition(spec: Spec, typed: _Typed) -> None:
    tensors = typed.tensors()
    for i, x in enumerate(tensors):
        if x is not None and spec.op.uses_shape_only(i):  # as autograd hands it over: without data
            tensors[i] = _core.symbolic(tuple(x.shape), x.dtype)
    whole = _run(spec.op, tensors, typed.case.attrs)
    _core.push_layer(primitive := _Primitive())
    try:
        parts = _run(spec.op, tensors, typed.case.attrs)
    finally:
        _core.pop_layer(primitive)
    _compare_parts(spec, typed, whole, parts)
    for i, part in enumerate(parts):
        for x in tensors:
            if x is not None and x._is_initialized() and x.size and part._shares_memory_with(x):
                raise AssertionError(f"{spec.op.outputs[i]} of the decomposition is an input handed through; copy it")


class _Primitive:
    """An inner layer that leaves nothing to run but the ops without a decomposition.

    What a device can do that has a kernel for these alone.
    """

    def __call__(self, op: Any, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        rule = decompose.get(op)
        return op.run(inputs, attrs) if rule is None else rule(*inputs, **dict(zip(op.attr_names, attrs)))


def _compare_parts(spec: Spec, typed: _Typed, whole: tuple[Tensor, ...], parts: tuple[Tensor, ...]) -> None:
    for one, other in zip(whole, parts):
        if one.dtype != other.dtype:
            raise AssertionError(f"the decomposition gives {other.dtype.name}, the op {one.dtype.name}")
    _compare_all(parts, tuple(array_of(x) for x in whole), spec, typed.dtype)


def check_captured(spec: Spec) -> None:
    """The decomposition, recorded with sizes that are not known, computes what the op does."""
    failures = _Failures(spec)
    rule = decompose.rules[spec.op]
    for typed in typed_cases(spec, _primary(spec)):
        failures.guard(repr(typed), lambda t=typed: _check_captured(spec, rule, t))
    failures.report()


def _check_captured(spec: Spec, rule: Callable[..., Any], typed: _Typed) -> None:
    tensors = typed.tensors()
    whole = _run(spec.op, tensors, typed.case.attrs)
    metas = [None if x is None else Meta(tuple(x.shape), x.dtype) for x in tensors]
    for unknown in _with_unknown_sizes(metas):
        inputs = [None if m is None else _core.symbolic(m.shape, m.dtype) for m in unknown]
        try:
            with Program() as program:
                outputs = _results(rule(*inputs, **typed.case.attrs))
        except (ValueError, RuntimeError) as error:
            if "known size" in str(error):
                continue
            raise AssertionError(f"from {unknown}: {error}") from None
        wherry_tensor.seed(7)
        feeds = [(name, x) for name, x in zip(inputs, tensors) if name is not None]
        try:
            _compare_parts(spec, typed, whole, tuple(program.replay(feeds, outputs)))
        except Exception as error:
            raise AssertionError(f"replayed from {unknown}: {type(error).__name__}: {error}") from None


def check_against_cpu(spec: Spec) -> None:
    """The device under test gives what the cpu gives: its dtypes, shapes and values, for each dtype.

    Values agree as far as the op is known: to the bit for integers, within the tolerance of the spec for floating numbers.
    """
    failures = _Failures(spec)
    for typed in typed_cases(spec):
        failures.guard(repr(typed), lambda t=typed: _check_against_cpu(spec, t))
    failures.report()


def _check_against_cpu(spec: Spec, typed: _Typed) -> None:
    got, seen = _here(spec, typed)
    here = _core.get_current_device()
    _core.set_current_device(0)
    try:
        wanted, expected = _here(spec, typed)
    finally:
        _core.set_current_device(here)
    for one, other in zip(got, wanted, strict=True):
        if one.dtype is not other.dtype:
            raise AssertionError(f"dtype {one.dtype.name}, on the cpu {other.dtype.name}")
        if spec.op.name != "copy_to" and _core.device_of(one) != here and any(t is not None for t in typed.arrays):
            raise AssertionError(f"the result is on {one.place}, expected {_core.name_of_device(here)}")
    _compare_all(seen, tuple(array_of(one) for one in expected), spec, typed.dtype)


def _here(spec: Spec, typed: _Typed) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The results of the op on the current device, and what of them is compared: devices may choose signs of vectors."""
    results = _run(spec.op, typed.tensors(), typed.case.attrs)
    return results, results if spec.observed is spec.op else _run(spec.observed, typed.tensors(), typed.case.attrs)


def check_threads(spec: Spec) -> None:
    """The number of threads does not change a bit of the result."""
    failures = _Failures(spec)
    for typed in [*typed_cases(spec, _primary(spec)), *_enlarged(spec)]:
        failures.guard(repr(typed), lambda t=typed: _check_threads(spec, t))
    failures.report()


def _check_threads(spec: Spec, typed: _Typed) -> None:
    tensors = typed.tensors()
    before = wherry_tensor.get_num_threads()
    try:
        wherry_tensor.set_num_threads(1)
        alone = _run(spec.op, tensors, typed.case.attrs)
        for threads in 2, 3:
            wherry_tensor.set_num_threads(threads)
            _same_bits(_run(spec.op, tensors, typed.case.attrs), alone)
    finally:
        wherry_tensor.set_num_threads(before)


def _enlarged(spec: Spec) -> Iterator[_Typed]:
    """A sample large enough to be shared among threads, where one can be made of any."""
    if family_of(spec.op) not in _SHAPELESS:
        return
    for typed in typed_cases(spec, _primary(spec)):
        arrays = [x for x in typed.arrays if x is not None]
        if any(x.size for x in arrays):
            rank = max(x.ndim for x in arrays)
            times = max(1, 150_000 // max(x.size for x in arrays))
            yield typed.with_arrays([
                x if x is None or x.ndim < rank else np.ascontiguousarray(np.broadcast_to(x, (times, *x.shape)))
                for x in typed.arrays
            ])
            return


def check_into(spec: Spec) -> None:
    """Writing over an input, or into a strided tensor, gives what fresh memory gives."""
    failures = _Failures(spec)
    for typed in typed_cases(spec, _primary(spec)):
        if sum(x.size for x in typed.arrays if x is not None) <= _LARGE:
            failures.guard(repr(typed), lambda t=typed: _check_into(spec, t))
    failures.report()


def _check_into(spec: Spec, typed: _Typed) -> None:
    attrs = typed.case.attrs
    metas = [None if x is None else Meta(tuple(x.shape), x.dtype) for x in typed.tensors()]
    if any(meta.size < 0 for meta in _results(infer.rules[spec.op](*metas, **attrs))):
        return  # the size depends on the data, so nobody could have prepared memory
    plain = _run(spec.op, typed.tensors(), attrs)
    expected = tuple(array_of(x) for x in plain)

    def into(outputs: list[Tensor], inputs: list[Any], target: int, how: str) -> None:
        version = outputs[target].inplace_version
        wherry_tensor.seed(7)
        spec.op.into(tuple(outputs), *inputs, **attrs)
        try:
            _compare_all(tuple(outputs), expected, spec, typed.dtype)
        except AssertionError as error:
            raise AssertionError(f"{how}: {error}") from None
        assert outputs[target].inplace_version > version, f"{how}: the version of the output did not change"

    for i, out in enumerate(plain):
        for j, x in enumerate(typed.arrays):
            if x is None or tuple(out.shape) != x.shape or out.dtype.name != typed.dtypes[j]:
                continue
            inputs, outputs = typed.tensors(), [_fresh_like(y) for y in plain]
            outputs[i] = inputs[j]
            into(outputs, inputs, i, f"{spec.op.outputs[i]} over input {j}")
            if x.size > 1:
                inputs, outputs = typed.tensors(), [_fresh_like(y) for y in plain]
                whole = inputs[j]
                for axis, n in enumerate(x.shape):
                    whole = _sliced(whole, axis, n - 1, -n - 1, -1)
                outputs[i] = whole  # the same memory, read from the other end
                into(outputs, inputs, i, f"{spec.op.outputs[i]} over input {j} reversed")
        if len(out.shape) and array_of(out).size:
            wide = np.ones((*out.shape[:-1], 2 * out.shape[-1]), _numpy_dtype(out.dtype.name))
            buffer = tensor_of(wide, out.dtype.name)
            outputs = [_fresh_like(y) for y in plain]
            outputs[i] = _sliced(buffer, len(out.shape) - 1, 0, 2 * out.shape[-1], 2)
            into(outputs, typed.tensors(), i, f"{spec.op.outputs[i]} strided")
            gaps = array_of(_sliced(buffer, len(out.shape) - 1, 1, 2 * out.shape[-1], 2))
            assert (gaps == 1).all(), f"{spec.op.outputs[i]} strided: memory between the elements was written"


def _fresh_like(x: Tensor) -> Tensor:
    return tensor_of(np.ones(tuple(x.shape), _numpy_dtype(x.dtype.name)), x.dtype.name)


def check_bad(spec: Spec) -> None:
    """Bad calls raise the error they should, before anything runs."""
    failures = _Failures(spec)
    for case in spec.bad_cases():
        inputs = [tensor_of(x) if isinstance(x, np.ndarray) else x for x in case.inputs]
        failures.guard(repr(case), lambda c=case, i=inputs: _must_raise(spec, i, c.attrs, c.error, c.match))
    typed = next(typed_cases(spec, _primary(spec)), None)
    if typed is not None:
        inputs, attrs = typed.tensors(), typed.case.attrs
        name = re.escape(spec.op.name)
        unknown = {**attrs, "no_such_attribute": 1}
        failures.guard("unknown attribute", lambda: _must_raise(spec, inputs, unknown, TypeError, name))
        for attr in attrs:
            rest = {key: value for key, value in attrs.items() if key != attr}
            failures.guard(f"without {attr}", lambda a=rest: _must_raise(spec, inputs, a, TypeError, name))
        for i, (input_name, optional, variadic) in enumerate(spec.op.inputs):
            if not optional and not variadic:
                holed = [*inputs[:i], None, *inputs[i + 1:]]
                failures.guard(
                    f"None for {input_name}", lambda h=holed: _must_raise(spec, h, attrs, TypeError, name)
                )
    failures.report()


def _must_raise(spec: Spec, inputs: list[Any], attrs: dict[str, Any], error: type[Exception], match: str) -> None:
    try:
        _completed(spec.op(*inputs, **attrs))
    except error as raised:
        if not re.search(match, str(raised)):
            raise AssertionError(f"{error.__name__} says {str(raised)!r}, expected a text matching {match!r}") from None
        return
    except Exception as other:
        raise AssertionError(f"raised {type(other).__name__}: {other}; expected {error.__name__}") from None
    raise AssertionError(f"nothing was raised, expected {error.__name__}")


# ---------------------------------------------------------------------------------------------------
# Gradients


def check_vjp(spec: Spec) -> None:
    """Gradients agree with central differences."""
    _check_gradients(spec, _check_vjp)


def check_vjp_of_vjp(spec: Spec) -> None:
    """Gradients of gradients agree with central differences of gradients."""
    _check_gradients(spec, _check_vjp_of_vjp)


def _check_gradients(spec: Spec, check: Callable[[Spec, _Typed], None]) -> None:
    failures = _Failures(spec)
    for dtype in "float64", "complex128":
        for typed in typed_cases(spec, (dtype,)) if dtype in spec.dtypes else ():
            if typed.case.differentiable and _differentiated(spec, typed):
                failures.guard(repr(typed), lambda t=typed: check(spec, t))
    failures.report()


def _differentiated(spec: Spec, typed: _Typed) -> tuple[int, ...]:
    # A case written in integers or bools was cast to floats; it has ties where a derivative is asked for.
    written = [None if x is None else x.dtype.kind in "fc" for x in typed.case.inputs]
    floating = tuple(i for i, x in enumerate(typed.arrays) if x is not None and written[i] and x.size)
    return floating if spec.grad_of is None else tuple(i for i in spec.grad_of if i in floating)


def _carriers(spec: Spec, outputs: tuple[Tensor, ...]) -> list[Tensor]:
    return [
        y for i, y in enumerate(outputs)
        if (y.dtype.is_floating or y.dtype.is_complex) and (spec.grad_through is None or i in spec.grad_through)
    ]


def _random_like(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    values = rng.uniform(0.5, 1.5, x.shape) * rng.choice([-1.0, 1.0], x.shape)
    return values + 1j * rng.uniform(-1, 1, x.shape) if x.dtype.kind == "c" else values


def _inner(a: Any, b: np.ndarray) -> float:
    """Real inner product: complex numbers count as pairs of reals, as cotangents treat them."""
    return float(np.real(np.sum(np.conj(a) * b)))


def _directions(rng: np.random.Generator, points: list[np.ndarray]) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Every element on its own where they are few, so that a failure names it, and random mixtures."""
    zeros = [np.zeros_like(p) for p in points]
    for i, p in enumerate(points):
        if p.size <= 24:
            for at in np.ndindex(p.shape):
                for unit in (1.0, 1j) if p.dtype.kind == "c" else (1.0,):
                    direction = [z.copy() for z in zeros]
                    direction[i][at] = unit
                    yield f"element {list(at)} of differentiated input {i}", direction
    for _ in range(2):
        yield "a random direction", [_random_like(rng, p) for p in points]


def _compare_slopes(
    function: Callable[[list[np.ndarray]], float], points: list[np.ndarray], gradients: list[Any],
    rng: np.random.Generator, relative: float,
) -> None:
    scale = max([1.0] + [float(np.abs(g).max()) for g in gradients if np.size(g)])
    for name, direction in _directions(rng, points):
        ahead = function([p + _STEP * d for p, d in zip(points, direction)])
        behind = function([p - _STEP * d for p, d in zip(points, direction)])
        slope = (ahead - behind) / (2 * _STEP)
        claimed = sum(_inner(g, d) for g, d in zip(gradients, direction))
        if not abs(slope - claimed) <= relative * max(scale, abs(slope)):
            raise AssertionError(f"along {name} the gradient says {claimed:.10g}, central differences {slope:.10g}")


def _leaves(spec: Spec, typed: _Typed, points: list[np.ndarray], positions: tuple[int, ...]) -> list[Any]:
    inputs = typed.tensors()
    for i, p in zip(positions, points):
        inputs[i] = tensor_of(p)
        inputs[i].stop_gradient = False
    return inputs


def _gradients(outputs: list[Tensor], inputs: list[Tensor], cts: list[Tensor], create_graph: bool = False) -> list[Any]:
    # By name, because this package imports none of those above it.
    autograd = importlib.import_module("wherry_autograd")
    outputs_and_cts = [(y, ct) for y, ct in zip(outputs, cts) if not y.stop_gradient]
    if not outputs_and_cts:
        return [None] * len(inputs)
    return list(autograd.grad(
        [y for y, _ in outputs_and_cts], inputs, [ct for _, ct in outputs_and_cts],
        create_graph=create_graph, allow_unused=True,
    ))


def _or_zeros(gradient: Any, like: np.ndarray) -> np.ndarray:
    if gradient is None:
        return np.zeros_like(like)
    values = array_of(gradient)
    if values.shape != like.shape:
        raise AssertionError(f"a gradient of shape {list(values.shape)} for an input of shape {list(like.shape)}")
    return values


def _check_vjp(spec: Spec, typed: _Typed) -> None:
    rng = np.random.default_rng(1)
    positions = _differentiated(spec, typed)
    points = [typed.arrays[i] for i in positions]
    inputs = _leaves(spec, typed, points, positions)
    outputs = _carriers(spec, _run(spec.observed, inputs, typed.case.attrs))
    cts = [_random_like(rng, array_of(y)) for y in outputs]
    found = _gradients(outputs, [inputs[i] for i in positions], [tensor_of(ct) for ct in cts])
    gradients = [_or_zeros(g, p) for g, p in zip(found, points)]

    def loss(at: list[np.ndarray]) -> float:
        moved = typed.tensors()
        for i, p in zip(positions, at):
            moved[i] = tensor_of(p)
        results = _carriers(spec, _run(spec.observed, moved, typed.case.attrs))
        return sum(_inner(ct, array_of(y)) for ct, y in zip(cts, results))

    _compare_slopes(loss, points, gradients, rng, 2e-6)


def _check_vjp_of_vjp(spec: Spec, typed: _Typed) -> None:
    rng = np.random.default_rng(2)
    positions = _differentiated(spec, typed)
    n = len(positions)
    inputs = typed.tensors()
    outputs = _carriers(spec, _run(spec.observed, inputs, typed.case.attrs))
    # The gradient is a function of the inputs and of the cotangents; both are differentiated.
    points = [typed.arrays[i] for i in positions] + [_random_like(rng, array_of(y)) for y in outputs]
    weights = [_random_like(rng, p) for p in points[:n]]

    def first(at: list[np.ndarray], create_graph: bool) -> tuple[list[Tensor], list[Any]]:
        leaves = _leaves(spec, typed, at[:n], positions)
        cts = [tensor_of(ct) for ct in at[n:]]
        for ct in cts:
            ct.stop_gradient = not create_graph
        results = _carriers(spec, _run(spec.observed, leaves, typed.case.attrs))
        wanted = [leaves[i] for i in positions]
        return wanted + cts, _gradients(results, wanted, cts, create_graph)

    variables, gradients = first(points, create_graph=True)
    reached = [(g, tensor_of(w)) for g, w in zip(gradients, weights) if g is not None]
    second: list[Any] = [None] * len(points)
    if reached:
        second = _gradients([g for g, _ in reached], variables, [w for _, w in reached])
    claimed = [_or_zeros(g, p) for g, p in zip(second, points)]

    def functional(at: list[np.ndarray]) -> float:
        _, found = first(at, create_graph=False)
        return sum(_inner(w, _or_zeros(g, w)) for w, g in zip(weights, found))

    _compare_slopes(functional, points, claimed, rng, 1e-5)


# ---------------------------------------------------------------------------------------------------
# The table


checks: dict[str, Callable[[Spec], None]] = {
    "kernel": check_kernel,
    "layout": check_layout,
    "infer": check_infer,
    "decomposition": check_decomposition,
    "captured": check_captured,
    "threads": check_threads,
    "against_cpu": check_against_cpu,
    "into": check_into,
    "bad": check_bad,
    "vjp": check_vjp,
    "vjp_of_vjp": check_vjp_of_vjp,
}


def applies(check: str, spec: Spec) -> bool:
    """Whether a check has something to say about this op."""
    if check in ("decomposition", "captured"):
        return spec.op in decompose
    if check == "into":
        return not spec.op.view
    if check == "against_cpu":
        return bool(_core.get_current_device() != 0)
    if check in ("vjp", "vjp_of_vjp"):
        vjp = columns.registry.get("vjp")
        if vjp is None or spec.op in vjp.exemptions or not spec.differentiable:
            return False
        return spec.second_order or check == "vjp"
    return True


def check_all(spec: Spec) -> None:
    """Every check that applies to one op; for use where pytest is not."""
    for name, check in checks.items():
        if applies(name, spec):
            check(spec)
