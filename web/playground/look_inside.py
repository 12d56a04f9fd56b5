"""What a convolution sees: filters as pictures."""
import wherry as paddle
from wherry.nn import functional as F
from wherry_web.playground import digits, show

images, labels = digits()
seven = images[int(paddle.argmax((labels == 7).astype("int32")))]

kernels = paddle.to_tensor([
    [[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]],
    [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]],
    [[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]],
]).unsqueeze(1)

show(seven, title="A seven")
show(kernels, title="Three filters: horizontal edges, vertical edges, corners")
show(F.conv2d(seven.unsqueeze(0), kernels, padding=1)[0].unsqueeze(1), title="What each of them sees")
