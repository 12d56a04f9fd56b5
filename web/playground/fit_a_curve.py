"""Fit a curve with a small network, and watch it."""
import wherry as paddle
from wherry import nn
from wherry_web.playground import plot

paddle.seed(1)
x = paddle.linspace(-1, 1, 200).reshape([200, 1])
y = paddle.sin(5 * x) * x + 0.05 * paddle.randn([200, 1])

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
for step in range(401):
    guess = net(x)
    loss = nn.functional.mse_loss(guess, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    if step % 20 == 0:
        plot(x.flatten(), {"data": y.flatten(), "network": guess.flatten()}, title=f"Step {step}", name="fit")
    if step % 100 == 0:
        print(f"step {step:3d}  loss {float(loss):.5f}")
