"""Where Paddle 2.6 and 3.3 differ: what wherry answers under FLAGS_paddle_version is what Paddle 3.3.1 answers."""
from __future__ import annotations

import numpy as np
from calls import Call, integers, normal

_AS_3 = "paddle.set_flags({'FLAGS_paddle_version': '3.3'}) if hasattr(paddle, 'seed_everything') else None; "
CALLS: list[Call] = []


def call(expression, dtypes=("as given",), grad=False, **inputs):
    CALLS.append(Call(_AS_3 + expression, tuple(dtypes), grad, inputs))


DTYPES = ("bool", "uint8", "int32", "int64", "float32", "float64", "complex64")
for symbol in ("+", "-", "*", "/", "//", "%", "**", "<", "=="):
    for first in DTYPES:
        for second in DTYPES:
            if first != second and not (symbol in ("//", "<", "==", "%", "**") and "complex64" in (first, second)):
                call(f"(x.astype('{first}') {symbol} y.astype('{second}')).dtype == '' or str((x.astype('{first}') {symbol} y.astype('{second}')).dtype).split('.')[-1].lower()",
                     x=np.array([1.0, 2.0], "float32"), y=np.array([1.0, 2.0], "float32"))
call("x + 2", x=np.array([True, False]))
call("2 * x", x=np.array([True, False]))
call("paddle.round(x)", ("float32", "float64"), x=np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4]))
call("paddle.full([2], True)")
call("paddle.shape(x)", x=normal(3, 4))
call("paddle.nonzero(x, as_tuple=True)", x=integers(3, 4))
call("paddle.where(x > 0)", x=integers(3, 4))
call("paddle.quantile(x, 0.3, axis=0)", ("float32",), x=normal(3, 4))
call("paddle.assign(np.ones([2]))")
call("x.shape.numel(), x.shape == [3, 4], x.shape == (3, 4), isinstance(x.shape, list), str(x.shape), str(x.shape[1:]), x.shape + [1]", x=normal(3, 4))
