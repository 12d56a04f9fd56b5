"""Random calls of every op: wrong shapes, strides, dtypes and attributes must raise, never crash.

    python -m wherry_tensor.testing.fuzz --calls 100000 --seed 0
    python -m wherry_tensor.testing.fuzz --calls 100000 --seed 0 --trace   # the last line is the call that crashed

Calls start from the samples and are bent at random. A call may succeed or raise one of the errors
that the operations document; any other exception is reported, and a crash ends the process. Under
AddressSanitizer (`tox -e asan`) reads and writes out of bounds end it too.
"""
from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from wherry_tensor import Tensor, _core, ops
from wherry_tensor.testing import kit
from wherry_tensor.testing.specs import Case, Spec

__all__ = ["fuzz"]

# What an operation may raise for its arguments. NotImplementedError: no kernel for that dtype.
DOCUMENTED = (ValueError, TypeError, IndexError, MemoryError, NotImplementedError, OverflowError)

_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
           "complex64", "complex128")
# Sizes in between would succeed and fill the machine's memory; these are small, or more than any has.
_INTS = (-(2**62), -5, -2, -1, 0, 1, 2, 3, 7, 64, 2**62)
_FLOATS = (0.0, -1.0, 0.5, 2.0, 1e300, -1e-300, float("nan"), float("inf"), float("-inf"))
_STRINGS = ("", "NCHW", "NHWC", "assign", "add", "multiply", "no such word")


def fuzz(calls: int, seed: int, trace: bool = False) -> list[str]:
    """Make so many random calls; returns a text for each kind that raised what it should not."""
    rng = np.random.default_rng(seed)
    specs = sorted(kit.specs.values(), key=lambda spec: spec.op.name)
    strange: dict[str, str] = {}
    for number in range(calls):
        spec = specs[rng.integers(len(specs))]
        inputs, attrs = _bent_call(rng, spec)
        if trace:
            print(_shown(number, spec, inputs, attrs, None), file=sys.stderr, flush=True)
        outputs = _targets(rng, spec, inputs, attrs) if rng.random() < 0.2 else None
        if trace and outputs is not None:
            print(_shown(number, spec, inputs, attrs, outputs), file=sys.stderr, flush=True)
        try:
            if outputs is None:
                spec.op(*inputs, **attrs)
            else:
                spec.op.into(outputs, *inputs, **attrs)
        except DOCUMENTED:
            pass
        except Exception as error:  # this is what the run looks for
            text = f"{_shown(number, spec, inputs, attrs, outputs)}: {type(error).__name__}: {error}"
            strange.setdefault(f"{spec.op.name} {type(error).__name__}", text)
    return list(strange.values())


def _shown(number: int, spec: Spec, inputs: list[Any], attrs: dict[str, Any], outputs: Any) -> str:
    def of(x: Any) -> str:
        return f"{x.dtype.name}{list(x.shape)} strides {list(x.strides)}" if isinstance(x, Tensor) else repr(x)

    arguments = [*map(of, inputs), *(f"{name}={value}" for name, value in attrs.items())]
    into = "" if outputs is None else f" into {[of(x) for x in outputs]}"
    return f"call {number}: {spec.op.name}({', '.join(arguments)}){into}"


def _bent_call(rng: np.random.Generator, spec: Spec) -> tuple[list[Any], dict[str, Any]]:
    every = spec.cases()
    cases = [case for case in every if sum(x.size for x in case.inputs if x is not None) < 5000] or every
    case: Case = cases[rng.integers(len(cases))]
    dtype = spec.dtypes[rng.integers(len(spec.dtypes))] if rng.random() < 0.8 else str(rng.choice(_DTYPES))
    inputs = [None if x is None else _bent_tensor(rng, x, dtype) for x in case.inputs]
    if rng.random() < 0.05:
        inputs = inputs[:-1] if rng.random() < 0.5 else [*inputs, _random_tensor(rng)]
    attrs = {
        name: value if rng.random() < 0.8 else _random_attr(rng, kind)
        for (name, value), kind in zip(case.attrs.items(), _kinds(spec, case))
    }
    return inputs, attrs


def _targets(rng: np.random.Generator, spec: Spec, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Tensor, ...]:
    """Tensors to write into: mostly of the right shape, often an input or a view, sometimes anything."""
    try:
        results = kit._results(spec.op(*inputs, **attrs))
    except Exception:  # the call itself will say so again
        results = ()
    # A broadcast view may be larger than any memory.
    huge = any(np.prod([max(1, n) for n in x.shape], dtype=float) > 1e6 for x in results)
    if not results or huge or rng.random() < 0.2:
        return tuple(_random_tensor(rng) for _ in spec.op.outputs)
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    targets = []
    for result in results:
        fitting = [x for x in tensors if tuple(x.shape) == tuple(result.shape) and x.dtype == result.dtype]
        if fitting and rng.random() < 0.5:
            targets.append(fitting[rng.integers(len(fitting))])
        else:
            targets.append(_laid_out(rng, np.ones(tuple(result.shape), kit._numpy_dtype(result.dtype.name))))
    return tuple(targets)


def _kinds(spec: Spec, case: Case) -> list[Any]:
    kinds = dict(zip(spec.op.attr_names, spec.op.attr_types))
    return [kinds[name] for name in case.attrs]


def _bent_tensor(rng: np.random.Generator, x: np.ndarray, dtype: str) -> Any:
    roll = rng.random()
    if roll < 0.03:
        return None
    if roll < 0.15:
        return _random_tensor(rng)
    if x.dtype.kind in "fc" or rng.random() < 0.05:
        x = _converted(x, dtype)
    elif x.dtype.kind == "i" and x.size and rng.random() < 0.1:
        x = x.copy()
        far = int(np.iinfo(x.dtype).max)
        x.reshape(-1)[rng.integers(x.size)] = _choice(rng, (-far, -7, 0, 7, far))  # an index that is nowhere
    if x.dtype.kind == "f" and x.size and rng.random() < 0.1:
        x = x.copy()
        x.reshape(-1)[rng.integers(x.size)] = _choice(rng, (np.nan, np.inf, -np.inf, np.finfo(x.dtype).max))
    return _laid_out(rng, x)


def _random_tensor(rng: np.random.Generator) -> Tensor:
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5, 17], size=rng.integers(0, 5)))
    return _laid_out(rng, _converted(rng.integers(-3, 9, shape), str(rng.choice(_DTYPES))))


def _converted(x: np.ndarray, dtype: str) -> np.ndarray:
    real = x.real if x.dtype.kind == "c" and not dtype.startswith("complex") else x
    with np.errstate(all="ignore"):
        return real.astype(kit._numpy_dtype(dtype))


def _laid_out(rng: np.random.Generator, x: np.ndarray) -> Tensor:
    if x.size and rng.random() < 0.3:
        layout = list(kit._LAYOUTS.values())[rng.integers(len(kit._LAYOUTS))]
        laid = layout(x, x.dtype.name)
        if laid is not None:
            return laid[0]
    return kit.tensor_of(x)


def _random_attr(rng: np.random.Generator, kind: Any) -> Any:
    if rng.random() < 0.1:
        return None
    if kind is int:
        return _choice(rng, _INTS)
    if kind is float:
        return _choice(rng, _FLOATS)
    if kind is bool:
        return bool(rng.integers(2))
    if kind is str:
        return _choice(rng, _STRINGS)
    if kind is tuple:
        return tuple(_choice(rng, _INTS) for _ in range(rng.integers(0, 5)))
    if kind is _core.DType:
        return kit.dtype_of(_choice(rng, _DTYPES))
    return _choice(rng, (*_INTS, *_FLOATS, True, 1 + 2j))


def _choice(rng: np.random.Generator, values: tuple[Any, ...]) -> Any:
    return values[rng.integers(len(values))]


def main() -> int:
    parser = argparse.ArgumentParser(description="Random calls of every op; none may crash.")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trace", action="store_true", help="say each call before it is made")
    arguments = parser.parse_args()
    strange = fuzz(arguments.calls, arguments.seed, arguments.trace)
    for text in strange:
        print(text)
    print(f"{arguments.calls} calls of {len(ops.registry)} ops; {len(strange)} kinds of undocumented errors")
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
