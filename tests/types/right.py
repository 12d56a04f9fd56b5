"""Programs without a mistake: checkers must find none, and know the types that are asserted."""
from typing import Any, assert_type

import numpy as np

import wherry as paddle
import wherry.nn.functional as F
from wherry import Tensor, nn
from wherry.io import DataLoader, Dataset, TensorDataset

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
assert_type(x, Tensor)
assert_type(paddle.matmul(x, x), Tensor)
assert_type(paddle.concat([x, x], axis=0), Tensor)
assert_type(x.reshape([4]), Tensor)
assert_type(x.sum(axis=0, keepdim=True), Tensor)
assert_type(x + 1, Tensor)
assert_type(2.0 * x - x @ x, Tensor)
assert_type(x[0], Tensor)
assert_type(x > 0, Tensor)
assert_type(-x, Tensor)
assert_type(float(x.mean()), float)
assert_type(x.shape, list[int])
assert_type(x.stop_gradient, bool)
assert_type(x.numpy(), np.ndarray[Any, Any])
assert_type(x.astype(paddle.float64), Tensor)
assert_type(F.softmax(x, axis=-1), Tensor)
assert_type(paddle.mod(x, x), Tensor)
assert_type(len(x), int)

loss = (x * x).sum()
loss.backward()
assert_type(x.grad, Tensor | None)
if x.grad is not None:
    assert_type(x.grad.numpy(), np.ndarray[Any, Any])


class Net(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, width)
        self.last = nn.Linear(width, 3)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return self.last(F.relu(self.first(x))) * scale


net = Net(8)
assert_type(net(x), Tensor)
assert_type(net(x, scale=2.0), Tensor)
assert_type(nn.Linear(2, 3)(x), Tensor)
assert_type(nn.Conv2D(1, 6, 3)(x), Tensor)
assert_type(nn.CrossEntropyLoss()(x, x), Tensor)


@paddle.no_grad()
def predict(net: Net, x: Tensor) -> Tensor:
    return net(x)


@paddle.no_grad
def twice(x: Tensor) -> Tensor:
    return x * 2


assert_type(predict(net, x), Tensor)
assert_type(twice(x), Tensor)
with paddle.no_grad():
    y = net(x)
assert_type(y, Tensor)

optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=net.parameters())
optimizer.step()
optimizer.clear_grad()
model = paddle.Model(net)
model.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())


class Squares(Dataset):
    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, index * index

    def __len__(self) -> int:
        return 10


for batch in DataLoader(Squares(), batch_size=2, shuffle=True):
    print(batch)
TensorDataset([x, x])
paddle.save(net.state_dict(), "net.pdparams")
transform = paddle.vision.transforms.Compose([paddle.vision.transforms.ToTensor()])
paddle.seed(1)
paddle.set_device("cpu")


# The spellings that Paddle 3 shares with PyTorch.
assert_type(paddle.sum(input=x, dim=1, keepdim=True), Tensor)
assert_type(paddle.sum(x, dim=1), Tensor)
assert_type(paddle.concat(tensors=[x, x], dim=0), Tensor)
assert_type(paddle.add(input=x, other=x, alpha=2), Tensor)
assert_type(paddle.pow(x, exponent=2), Tensor)
assert_type(F.softmax(input=x, dim=-1), Tensor)
assert_type(paddle.ones(2, 3), Tensor)
assert_type(paddle.zeros(2, 3, dtype="float32", requires_grad=True, device="cpu"), Tensor)
assert_type(paddle.rand(size=[2, 3], device="cpu"), Tensor)
assert_type(paddle.full([2], 1.0, requires_grad=True), Tensor)
assert_type(paddle.to_tensor([1.0], device="cpu"), Tensor)
assert_type(x.permute(1, 0), Tensor)
assert_type(x.permute(dims=[1, 0]), Tensor)
assert_type(x.view(4), Tensor)
assert_type(x.view(2, -1), Tensor)
assert_type(x.reshape(4, 1), Tensor)
assert_type(x.transpose(0, 1), Tensor)
assert_type(x.sum(dim=0), Tensor)
assert_type(x.expand(2, 2), Tensor)
assert_type(x.requires_grad, bool)
x.requires_grad = True
paddle.sum(x, dim=0, out=x)
