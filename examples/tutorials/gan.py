"""Digits that nobody wrote: a generator draws them out of noise, and a discriminator tells them from real ones (DCGAN).

    wherry run examples/tutorials/gan.py
"""
import numpy as np
import paddle
import paddle.nn as nn
from tutorial_data import digits

NOISE = 16


def normal(deviation, mean=0.0):
    return paddle.ParamAttr(initializer=nn.initializer.Normal(mean, deviation))


class Generator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gen = nn.Sequential(
            nn.Conv2DTranspose(NOISE, 32, 4, 1, 0, weight_attr=normal(0.02), bias_attr=False),
            nn.BatchNorm2D(32, weight_attr=normal(0.02, 1.0), bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.0))),
            nn.ReLU(),
            nn.Conv2DTranspose(32, 1, 4, 2, 1, weight_attr=normal(0.02), bias_attr=False),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.gen(x)


class Discriminator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.dis = nn.Sequential(
            nn.Conv2D(1, 24, 4, 2, 1, weight_attr=normal(0.02), bias_attr=False),
            nn.LeakyReLU(0.2),
            nn.Conv2D(24, 1, 4, 1, 0, weight_attr=normal(0.02), bias_attr=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.dis(x)


def main(epochs=3):
    paddle.seed(24)
    np.random.seed(24)
    real = (digits()[0][:1024, None].astype("float32") - 8) / 8
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(real)]), batch_size=64, shuffle=True, drop_last=True)
    generator, discriminator, judge = Generator(), Discriminator(), nn.BCELoss()
    optimizers = [paddle.optimizer.Adam(2e-3, beta1=0.5, beta2=0.999, parameters=one.parameters()) for one in (generator, discriminator)]
    ones, zeros = paddle.ones([64, 1, 1, 1]), paddle.zeros([64, 1, 1, 1])
    for epoch in range(epochs):
        for step, (batch,) in enumerate(loader):
            optimizers[1].clear_grad()
            drawn = generator(paddle.randn([64, NOISE, 1, 1]))
            told = judge(discriminator(batch), ones) + judge(discriminator(drawn.detach()), zeros)
            told.backward()
            optimizers[1].step()
            optimizers[0].clear_grad()
            fooled = judge(discriminator(drawn), ones)
            fooled.backward()
            optimizers[0].step()
            if step % 5 == 0:
                print(f"epoch {epoch}  step {step:2d}  discriminator loss {told.item():.6f}  generator loss {fooled.item():.6f}")
    generator.eval()
    with paddle.no_grad():
        drawn = generator(paddle.randn([1, NOISE, 1, 1]))[0, 0]
    print("\n".join("".join(" .:*#"[min(4, int(value * 2.5))] for value in row) for row in (drawn.numpy() + 1)))


if __name__ == "__main__":
    main()
