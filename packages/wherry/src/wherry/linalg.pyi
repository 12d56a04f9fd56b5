"""Stub of wherry.linalg, written by tools/stubs.py: where each public name comes from."""
from wherry_tensor.functions.linalg import addmm as addmm
from wherry_tensor.functions.linalg import addmm_ as addmm_
from wherry_tensor.functions.linalg import bmm as bmm
from wherry_tensor.functions.linalg import cdist as cdist
from wherry_tensor.functions.linalg import cross as cross
from wherry_tensor.functions.linalg import dist as dist
from wherry_tensor.functions.linalg import dot as dot
from wherry_tensor.functions.linalg import inner as inner
from wherry_tensor.functions.linalg import kron as kron
from wherry_tensor.functions.linalg import matmul as matmul
from wherry_tensor.functions.linalg import mm as mm
from wherry_tensor.functions.linalg import multi_dot as multi_dot
from wherry_tensor.functions.linalg import mv as mv
from wherry_tensor.functions.linalg import norm as norm
from wherry_tensor.functions.linalg import outer as outer
from wherry_tensor.functions.linalg import trace as trace
__all__: list[str]
