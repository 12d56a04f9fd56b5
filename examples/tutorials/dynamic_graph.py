"""Networks are Python: a choice, a loop of random length and a shared weight, each decided while the program runs.

    wherry run examples/tutorials/dynamic_graph.py
"""
import numpy as np
import paddle
import paddle.nn.functional as F

paddle.seed(2)
np.random.seed(2)
a = paddle.randn([4, 2])
b = paddle.arange(1, 3, dtype="float32")
if a.sum() > 0:  # the condition is a tensor
    c = a @ b
else:
    c = a - b
print("c has the shape", list(c.shape))


class ManyTimes(paddle.nn.Layer):
    """The layer in the middle, which has one weight, is applied one to four times; how often is drawn anew in every call."""

    def __init__(self, width, hidden):
        super().__init__()
        self.first = paddle.nn.Linear(width, hidden)
        self.middle = paddle.nn.Linear(hidden, hidden)
        self.last = paddle.nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        for _ in range(np.random.randint(1, 5)):
            x = F.relu(self.middle(x))
        return self.last(x)


x = paddle.rand([64, 8])
y = (x * paddle.arange(8, dtype="float32")).sum(axis=1, keepdim=True) + 3
network = ManyTimes(8, 16)
optimizer = paddle.optimizer.SGD(learning_rate=0.001, parameters=network.parameters())
for step in range(200):
    loss = F.mse_loss(network(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    if step % 20 == 0 or step == 199:
        print(f"step {step:3d}  loss {loss.item():.6f}")
