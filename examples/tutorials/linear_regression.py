"""House prices from thirteen numbers: a linear layer, once with a loop and once with `Model.fit`.

    wherry run examples/tutorials/linear_regression.py
"""
import tempfile

import numpy as np
import paddle
from tutorial_data import housing


class Regressor(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(13, 1)

    def forward(self, inputs):
        return self.fc(inputs)


def main():
    paddle.seed(5)
    np.random.seed(5)
    with tempfile.TemporaryDirectory() as folder:
        path = housing(folder)
        train, test = (paddle.text.UCIHousing(data_file=path, mode=mode, download=False) for mode in ("train", "test"))
    print(len(train), "houses to learn from,", len(test), "to test on")
    network = Regressor()
    optimizer = paddle.optimizer.SGD(learning_rate=0.05, parameters=network.parameters())
    for epoch in range(8):
        losses = []
        for features, price in paddle.io.DataLoader(train, batch_size=20, shuffle=True):
            loss = paddle.nn.functional.square_error_cost(network(features), label=price).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        print(f"epoch {epoch}  loss {np.mean(losses):.6f}")

    model = paddle.Model(Regressor())
    model.prepare(paddle.optimizer.SGD(learning_rate=0.05, parameters=model.parameters()), paddle.nn.MSELoss())
    model.fit(train, epochs=8, batch_size=20, verbose=0)
    print(f"of the model: loss {float(model.evaluate(test, batch_size=20, verbose=0)['loss'][0]):.6f}")
    features, price = test[0]
    guess = model.predict_batch([features[None]])[0]
    print(f"the first house costs {float(price[0]):.1f}, the model says {guess.item():.1f}")


if __name__ == "__main__":
    main()
