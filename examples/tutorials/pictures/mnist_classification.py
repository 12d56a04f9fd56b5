# Digits of the test that the network of the loop reads wrongly.
from wherry_web.playground import show

pictures, labels = (np.stack(part) for part in zip(*[test[i] for i in range(len(test))]))
network.eval()
read = network(paddle.to_tensor(pictures)).argmax(axis=1).numpy()
wrong = np.flatnonzero(read != labels[:, 0])[:12]
show(pictures[wrong], title="Read wrongly")
print("read as", read[wrong].tolist(), "and written as", labels[wrong, 0].tolist())
