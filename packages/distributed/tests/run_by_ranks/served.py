"""A parameter server with tables of a test: served.py PORT SECRET WORKERS, and `filled` for one whose parameter has a value."""
import sys

import numpy as np

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed.ps.messages import Keys
from wherry_distributed.ps.server import Server
from wherry_distributed.ps.tables import DenseTable, SparseTable
from wherry_nn.initializer import Constant
from wherry_train.optimizer import SGD

wherry_ops_cpu.column.register()  # packages found by path have no entry points
port, secret, workers, *filled = sys.argv[1:]
optimizer = SGD(0.5, parameters=[wt.zeros([1])])
tables = [SparseTable("rows", 3, "float32", Constant(1.0), optimizer), DenseTable("w", (3,), "float32", optimizer)]
if filled:
    tables[1].set(np.full(3, 10.0, "float32"))
Server(f"127.0.0.1:{port}", 0, 1, int(workers), tables, Keys(secret)).run()
