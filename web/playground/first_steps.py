"""First steps: tensors, gradients, a picture."""
import wherry as paddle
from wherry_web.playground import plot, show

# Tensors compute; those with stop_gradient=False remember how they came about.
x = paddle.linspace(-3.0, 3.0, 121)
x.stop_gradient = False
y = paddle.sin(x) * paddle.exp(-x * x / 8)
y.sum().backward()
plot(x, {"y": y, "its slope": x.grad}, title="A function and its slope")

# A tensor of two axes is a picture.
rows, columns = paddle.meshgrid(paddle.linspace(-1, 1, 96), paddle.linspace(-1, 1, 96))
show(paddle.sin(12 * (rows * rows + columns * columns)), title="Rings")

# The value of the last line is shown. Change something and press Ctrl+Enter.
paddle.matmul(paddle.ones([2, 3]), paddle.arange(6, dtype="float32").reshape([3, 2]))
