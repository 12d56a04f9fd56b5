"""The cases in Wherry; see wherry.mjs."""
import time

import wherry as paddle
import wherry_ops_cpu

F = paddle.nn.functional
state = {}


def prepare(weights, images, labels):
    """Take LeNet's weights and the images from JavaScript."""
    state["images"] = paddle.reshape(paddle.to_tensor(images.to_py()), [32, 1, 28, 28])
    state["labels"] = paddle.cast(paddle.to_tensor(labels.to_py()), "int64")
    values = paddle.to_tensor(weights.to_py())
    for name in "net", "trained":
        net = paddle.vision.models.LeNet()
        at = 0
        for parameter in net.parameters():
            count = parameter.size
            parameter.set_value(paddle.reshape(values[at:at + count], parameter.shape))
            at += count
        state[name] = net
    state["net"].eval()
    state["optimizer"] = paddle.optimizer.Adam(1e-3, parameters=state["trained"].parameters())


def version():
    return paddle.__version__


def isa():
    return wherry_ops_cpu.chosen_isa()


def predict(count):
    with paddle.no_grad():
        return [value for row in state["net"](state["images"][:count]).tolist() for value in row]


def run(name, count):
    """Milliseconds that so many repetitions took."""
    kind, size = name.split()
    return {"matmul": matmul, "infer": infer, "train": train}[kind](int(size), count)


def matmul(size, count):
    x = state.get(size)
    if x is None:
        x = state[size] = paddle.rand([size, size]), paddle.rand([size, size])
    a, b = x
    started = time.perf_counter()
    for _ in range(count):
        paddle.matmul(a, b)
    return (time.perf_counter() - started) * 1e3


def infer(batch, count):
    net, images = state["net"], state["images"][:batch]
    started = time.perf_counter()
    with paddle.no_grad():
        for _ in range(count):
            bytes(memoryview(net(images)))
    return (time.perf_counter() - started) * 1e3


def train(batch, count):
    net, optimizer, images, labels = state["trained"], state["optimizer"], state["images"][:batch], state["labels"][:batch]
    started = time.perf_counter()
    for _ in range(count):
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        loss.item()
    return (time.perf_counter() - started) * 1e3
