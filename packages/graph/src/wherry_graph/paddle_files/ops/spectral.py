"""Fourier transforms: not translated yet."""
from wherry_graph.paddle_files.column import paddle
from wherry_tensor import ops

for _op in (ops.fft_c2c, ops.fft_r2c, ops.fft_c2r):
    paddle.exempt(_op, "Fourier transforms are not translated yet")
