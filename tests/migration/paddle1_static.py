"""Regression with described layers: a program of Paddle 1.8, static."""
import numpy as np
import paddle.fluid as fluid

x = fluid.layers.data(name="x", shape=[3], dtype="float32")
y = fluid.layers.data(name="y", shape=[1], dtype="float32")
hidden = fluid.layers.fc(input=x, size=4, act="tanh", param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.3)))
predicted = fluid.layers.fc(input=hidden, size=1, param_attr=fluid.ParamAttr(initializer=fluid.initializer.ConstantInitializer(0.2)))
loss = fluid.layers.mean(fluid.layers.square_error_cost(input=predicted, label=y))
fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)

exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
rng = np.random.RandomState(0)
points = rng.rand(20, 3).astype("float32")
targets = points.sum(1, keepdims=True).astype("float32")
for step in range(10):
    (value,) = exe.run(fluid.default_main_program(), feed={"x": points, "y": targets}, fetch_list=[loss])
    print("loss %.5f" % float(np.asarray(value).reshape(-1)[0]))
