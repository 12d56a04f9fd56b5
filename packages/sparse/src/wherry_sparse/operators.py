"""Operators of sparse tensors: `a @ b` and the arithmetic of elements.

The functions are built on the classes, so the operators are added here, after both are defined.
"""
from __future__ import annotations

from wherry_sparse.functions import add, divide, multiply, subtract
from wherry_sparse.products import matmul
from wherry_sparse.tensors import SparseTensor

__all__: list[str] = []

for _name, _function in {"__matmul__": matmul, "__add__": add, "__sub__": subtract, "__mul__": multiply, "__truediv__": divide}.items():
    setattr(SparseTensor, _name, _function)
