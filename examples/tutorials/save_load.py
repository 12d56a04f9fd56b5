"""Stopping and going on: parameters, the optimizer's state, a whole model, and a program for inference.

    wherry run examples/tutorials/save_load.py
"""
import tempfile

import numpy as np
import paddle
from paddle.io import DataLoader, TensorDataset
from paddle.static import InputSpec


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = paddle.nn.Linear(20, 32)
        self.out = paddle.nn.Linear(32, 4)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 20], "float32", name="x")])
    def forward(self, x):
        return self.out(paddle.tanh(self.hidden(x)))


def train(network, optimizer, rate, loader, epochs, first=0):
    for epoch in range(first, first + epochs):
        for x, label in loader:
            loss = paddle.nn.functional.cross_entropy(network(x), label)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        rate.step()
        print(f"epoch {epoch}  loss {loss.item():.6f}")


def main():
    paddle.seed(4)
    draw = np.random.default_rng(4)
    x = draw.normal(size=(256, 20)).astype("float32")
    label = (x[:, :4] + x[:, 4:8]).argmax(axis=1)
    loader = DataLoader(TensorDataset([paddle.to_tensor(x), paddle.to_tensor(label)]), batch_size=32)
    network = Net()
    rate = paddle.optimizer.lr.StepDecay(0.01, step_size=2, gamma=0.5)
    optimizer = paddle.optimizer.Adam(learning_rate=rate, parameters=network.parameters())
    train(network, optimizer, rate, loader, epochs=3)
    with tempfile.TemporaryDirectory() as folder:
        paddle.save(network.state_dict(), f"{folder}/net.pdparams")
        paddle.save(optimizer.state_dict(), f"{folder}/net.pdopt")
        paddle.save({"epoch": 3, "note": "half way"}, f"{folder}/more.pkl")
        train(network, optimizer, rate, loader, epochs=2, first=3)

        network.set_state_dict(paddle.load(f"{folder}/net.pdparams"))
        optimizer.set_state_dict(paddle.load(f"{folder}/net.pdopt"))
        print("goes back to", paddle.load(f"{folder}/more.pkl"))
        train(network, optimizer, rate, loader, epochs=2, first=3)  # the same numbers once more

        paddle.jit.save(network, f"{folder}/program")
        program = paddle.jit.load(f"{folder}/program")
        network.eval()
        some = paddle.to_tensor(x[:5])
        print("program and network agree:", np.allclose(program(some).numpy(), network(some).numpy(), atol=1e-6))

        model = paddle.Model(Net(), inputs=[InputSpec([None, 20], "float32", "x")], labels=[InputSpec([None], "int64", "label")])
        model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
        model.load(f"{folder}/net", reset_optimizer=True)
        print(f"of the model: loss {float(np.ravel(model.eval_batch([x], [label])[0])[0]):.6f}")


if __name__ == "__main__":
    main()
