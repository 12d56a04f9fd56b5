"""Classification with convolutions and a linear layer: a program of Paddle 1.8, eager."""
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.dygraph import Conv2D, Linear, to_variable


class Net(fluid.dygraph.Layer):
    def __init__(self):
        super(Net, self).__init__()
        self.conv = Conv2D(num_channels=1, num_filters=4, filter_size=3, padding=1, act="relu")
        self.norm = fluid.dygraph.BatchNorm(4, act="relu")
        self.fc = Linear(4 * 6 * 6, 8, act="tanh")
        self.out = Linear(8, 3)

    def forward(self, x):
        x = self.norm(self.conv(x))
        x = fluid.layers.reshape(x, [-1, 4 * 6 * 6])
        return self.out(self.fc(x))


with fluid.dygraph.guard(fluid.CPUPlace()):
    net = Net()
    # Weights that do not depend on who draws random numbers.
    rng = np.random.RandomState(1)
    for parameter in net.parameters():
        parameter.set_value((rng.rand(*parameter.shape) * 0.4 - 0.2).astype("float32"))
    adam = fluid.optimizer.AdamOptimizer(learning_rate=0.02, parameter_list=net.parameters(), regularization=fluid.regularizer.L2Decay(1e-4))
    images = rng.rand(24, 1, 6, 6).astype("float32")
    labels = (images.sum((1, 2, 3)) * 7 % 3).astype("int64").reshape(-1, 1)
    for step in range(8):
        logits = net(to_variable(images))
        loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(logits, to_variable(labels)))
        loss.backward()
        adam.minimize(loss)
        net.clear_gradients()
        total = fluid.layers.reduce_sum(fluid.layers.elementwise_mul(logits, logits), dim=[0, 1])
        print("loss %.5f" % float(loss.numpy()), "sum %.4f" % float(total.numpy()))
